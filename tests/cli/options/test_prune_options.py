"""Options of `shortlist prune`."""

from pathlib import Path

import pytest

from shortlist.cli.options.prune_options import AnswerOptions, ExactMethodOptions, read_judge_costs
from shortlist.errors import BadFileError


def test_an_objective_is_a_name_or_weights() -> None:
    named = ExactMethodOptions().exact_pruner(None, None, 3, 2)
    assert (named.objective, named.random_state, named.n_jobs, named.member_costs) == ("auto", 3, 2, None)
    weighed = ExactMethodOptions(objective="tp=1, fp=-5", diversity="each=0.2").exact_pruner(None, None, 0, 1)
    assert (weighed.objective, weighed.diversity) == ({"tp": 1.0, "fp": -5.0}, {"each": 0.2})
    for text, read in (
        ("double-fault:mean=0.1", {"measure": "double-fault", "mean": 0.1}),
        ("q:each=-0.5,mean=0", {"measure": "q", "each": -0.5, "mean": 0.0}),
        ("q-average", "q-average"),
        ("q:average", "q:average"),
    ):
        assert (
            ExactMethodOptions(objective="accuracy", diversity=text).exact_pruner(None, None, 0, 1).diversity
            == read
        )


def test_members_that_a_rule_chose_vote_by_default() -> None:
    assert AnswerOptions().rule_pruner("backfitting", None, 0, 1).voting == "hard"
    assert ExactMethodOptions().exact_pruner(None, None, 0, 1).refit is True
    assert ExactMethodOptions(refit=False).exact_pruner(None, None, 0, 1).refit is False


@pytest.mark.parametrize("voting", ["auto", "hard", "averaged", "soft"])
def test_the_greedy_rule_answers_by_the_mean_whatever_the_others_do(voting: str) -> None:
    pruner = AnswerOptions(voting=voting).rule_pruner("greedy-means", None, 3, 1)
    assert (pruner.voting, pruner.get_params()["random_state"]) == ("soft", 3)


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
    assert read_judge_costs(file) == {"a": 1.0, "NA": 2.0}
    file.write_text("name,cost\na,1\n,2\n")
    with pytest.raises(BadFileError, match="line 3: a price must have a name, got a gap"):
        read_judge_costs(file)
