"""What `shortlist prune` is asked."""

from pathlib import Path

import pytest

from shortlist.cli.options.prune_options import MethodOptions, SelectionOptions, read_judge_costs
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.errors import BadFileError


def test_methods_are_named_once_and_get_their_options() -> None:
    exact = ExactPruner(n_jobs=4)
    chosen = MethodOptions(methods="uwa, exact,uwa").chosen(exact)
    assert list(chosen) == ["uwa", "exact"]
    assert chosen["exact"] is exact
    assert exact.n_jobs is None  # the folds are the units of parallel work
    assert set(MethodOptions(methods="all").chosen(exact)) > {"full", "drep", "exact"}


def test_an_objective_is_a_name_or_weights() -> None:
    named = SelectionOptions().exact_pruner(None, None, 3, 2, [])
    assert (named.objective, named.random_state, named.n_jobs, named.member_costs) == ("auto", 3, 2, None)
    weighed = SelectionOptions(objective="tp=1, fp=-5", diversity="each=0.2").exact_pruner(
        None, None, 0, 1, []
    )
    assert (weighed.objective, weighed.diversity) == ({"tp": 1.0, "fp": -5.0}, {"each": 0.2})
    for text, read in (
        ("double-fault:mean=0.1", {"measure": "double-fault", "mean": 0.1}),
        ("q:each=-0.5,mean=0", {"measure": "q", "each": -0.5, "mean": 0.0}),
        ("q-average", "q-average"),
        ("q:average", "q:average"),
    ):
        assert (
            SelectionOptions(objective="accuracy", diversity=text)
            .exact_pruner(None, None, 0, 1, [])
            .diversity
            == read
        )


def test_members_that_a_rule_chose_vote_by_default() -> None:
    assert MethodOptions(methods="uwa,exact").chosen(ExactPruner())["uwa"].voting == "hard"
    assert MethodOptions(method="uwa").rule_pruner(None, 0, 1).voting == "hard"
    assert SelectionOptions().exact_pruner(None, None, 0, 1, []).refit is True
    assert SelectionOptions(refit=False).exact_pruner(None, None, 0, 1, []).refit is False
    folded = SelectionOptions(pruning_rows="out-of-fold").exact_pruner(None, None, 0, 1, [])
    assert (folded.pruning_rows, SelectionOptions().exact_pruner(None, None, 0, 1, []).pruning_rows) == (
        "out-of-fold",
        "auto",
    )


def test_rules_beside_soft_votes_are_averaged_and_that_is_said() -> None:
    options = MethodOptions(methods="uwa,exact", voting="soft")
    chosen = options.chosen(ExactPruner())

    assert {name: method.voting for name, method in chosen.items()} == {"uwa": "averaged", "exact": "soft"}
    assert options.voting_notes() == [
        "--set voting=soft is of exact and greedy-means. Rules choose by votes, and answer by the mean."
    ]
    assert MethodOptions(methods="uwa,exact").voting_notes() == []


@pytest.mark.parametrize("voting", ["auto", "hard", "averaged", "soft"])
def test_the_greedy_method_answers_by_the_mean_whatever_the_others_do(voting: str) -> None:
    options = MethodOptions(methods="greedy-means", method="greedy-means", voting=voting)
    assert options.chosen(ExactPruner())["greedy-means"].voting == "soft"
    assert options.rule_pruner(None, 3, 1).get_params()["random_state"] == 3


def test_prices_of_judges_with_needs_are_refused_and_an_empty_column_is_none(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("name,cost,needs\na,1,text\ntext,3,\n")
    with pytest.raises(BadFileError, match=r"got a column needs\. Take shortlist stage"):
        read_judge_costs(file)
    file.write_text("name,cost,needs\na,1,\n")
    assert read_judge_costs(file) == {"a": 1.0}


def test_names_in_files_of_prices_are_words_and_never_gaps(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("name,cost\n007,1\n1e3,2\n")
    assert read_judge_costs(file) == {"007": 1.0, "1e3": 2.0}
    file.write_text("Name,Cost (EUR)\n007,1\n")
    assert read_judge_costs(file) == {"007": 1.0}
    file.write_text("name,cost\na,1\nNA,2\n")
    with pytest.raises(BadFileError, match="line 3: a price must have a name, got a gap"):
        read_judge_costs(file)
