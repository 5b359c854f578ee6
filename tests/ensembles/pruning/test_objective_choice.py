"""The choice of an objective by cross-validation."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.pruning import objective_choice
from shortlist.ensembles.pruning.objective_choice import Setting, choose_objective, usual_settings
from shortlist.ensembles.search.tabu_search import search_selection
from shortlist.ensembles.votes.binary_votes import Votes, confusion, merge_rows
from shortlist.errors import BadInputError
from shortlist.runs import Progress, open_study
from shortlist.runs.budget import Budget
from tests.ensembles import oracles, strategies


def _noisy_votes(n_rows: int = 90, n_classifiers: int = 12) -> Votes:
    rng = np.random.default_rng(7)
    labels = (rng.random(n_rows) < 0.3).astype(np.uint8)
    matrix = (rng.random((n_rows, n_classifiers)) < np.where(labels == 1, 0.6, 0.4)[:, None]).astype(np.uint8)
    return merge_rows(matrix, labels)


@given(
    rows=strategies.labelled_votes(max_rows=20), n_folds=st.integers(2, 5), n_repeats=st.integers(1, 2),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_every_sample_is_held_out_once_per_repeat_and_classes_are_even(
    rows: oracles.Rows, n_folds: int, n_repeats: int, seed: int
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))

    folds = list(objective_choice._folds(votes, n_folds, n_repeats, np.random.default_rng(seed)))

    def samples(part: Votes) -> list[tuple[int, ...]]:
        table = np.repeat(np.column_stack([part.labels, part.votes]), part.counts, axis=0)
        return sorted(map(tuple, table.tolist()))

    assert len(folds) == n_folds * n_repeats
    for kept, held in folds:
        assert sorted(samples(kept) + samples(held)) == samples(votes)
        for size, whole in ((held.n_positive, votes.n_positive), (held.n_negative, votes.n_negative)):
            assert whole // n_folds <= size <= -(-whole // n_folds)
    for repeat in range(n_repeats):
        held_out = [samples(held) for _, held in folds[repeat * n_folds : (repeat + 1) * n_folds]]
        assert sorted(itertools.chain.from_iterable(held_out)) == samples(votes)


@pytest.mark.parametrize("metric", ["accuracy", "balanced-accuracy"])
def test_scores_are_the_metric_on_rows_held_out(metric: str) -> None:
    votes, limits = _noisy_votes(), selection_limits(12)
    setting = Setting("+margin", 1, 5)

    choice = choose_objective(
        votes, metric, limits, Budget(seed=4), settings=[setting], n_folds=3, n_repeats=1, max_steps=50
    )

    totals = 0.0
    weights = named_weights(metric, votes)
    narrower = selection_limits(12, max_size=5)
    for number, (kept, held) in enumerate(
        objective_choice._folds(votes, 3, 1, np.random.default_rng(4)), start=1
    ):
        found = search_selection(
            kept,
            named_weights(metric, kept),
            narrower,
            Budget(seed=4 + number),
            utility=setting.utility,
            max_steps=50,
        )
        assert found is not None
        totals += weights.total(confusion(held, found.mask, found.threshold)) / held.n_samples
    assert choice.tried[0].score == pytest.approx(weights.value(1) * totals * votes.n_samples / 3)
    assert choice.tried[0].error > 0


def test_the_first_within_an_error_of_the_best_is_chosen_and_all_are_shown() -> None:
    votes, limits = _noisy_votes(), selection_limits(12)
    events: list[Progress] = []

    choice = choose_objective(
        votes, "accuracy", limits, Budget(report=events.append), n_folds=3, n_repeats=1, max_steps=50
    )

    assert {tried.setting for tried in choice.tried} == set(usual_settings(limits))
    scores = [tried.score for tried in choice.tried]
    least = choice.tried[0].score - choice.tried[0].error
    near = {tried.setting for tried in choice.tried if tried.score >= least}
    assert choice.setting == next(setting for setting in usual_settings(limits) if setting in near)
    assert scores == sorted(scores, reverse=True)
    assert not choice.reason
    assert [event.done for event in events] == [0, 1, 2, 3]


def test_the_same_seed_chooses_the_same() -> None:
    votes, limits = _noisy_votes(), selection_limits(12)
    one, same, other = (
        choose_objective(votes, "accuracy", limits, Budget(seed=seed), n_folds=3, n_repeats=1, max_steps=40)
        for seed in (1, 1, 2)
    )
    assert one == same
    assert [tried.score for tried in one.tried] != [tried.score for tried in other.tried]


def test_folds_that_a_study_has_are_not_measured_again(tmp_path: Path) -> None:
    votes, limits = _noisy_votes(), selection_limits(12)
    how: Any = {"n_folds": 3, "n_repeats": 1, "max_steps": 40}
    whole = choose_objective(votes, "accuracy", limits, Budget(seed=1), **how)
    with open_study(tmp_path / "s.db") as study:
        choose_objective(votes, "accuracy", limits, Budget(seed=1, study=study), **how)
        folds = study.part("folds of the choice")
        assert list(folds.results()) == ["1", "2", "3"]
        assert choose_objective(votes, "accuracy", limits, Budget(0, seed=1, study=study), **how) == whole


def test_what_cannot_be_compared_falls_back_with_a_reason() -> None:
    single = merge_rows([[1, 0], [0, 1], [0, 0]], [1, 0, 0])
    votes, limits = _noisy_votes(), selection_limits(12)
    too_diverse = selection_limits(12, min_size=2, diversity=diversity_limits({"each": 1.0}, votes))

    few = choose_objective(single, "accuracy", selection_limits(2))
    late = choose_objective(votes, "accuracy", limits, Budget(0))
    nothing = choose_objective(votes, "accuracy", too_diverse, max_steps=20, n_folds=2, n_repeats=1)

    for choice, reason in ((few, "single row"), (late, "in time"), (nothing, "keeps the limits")):
        assert reason in choice.reason
        assert choice.tried == ()
    assert [few.setting.second, late.setting.second] == ["+slope-8"] * 2
    assert nothing.setting.second == ""  # of which it can be proved that nothing keeps them


def test_a_class_of_two_rows_gives_two_folds() -> None:
    votes = merge_rows([[1, 0], [1, 1], [0, 1], [0, 0], [0, 0]], [1, 1, 0, 0, 0])
    events: list[Progress] = []
    choose_objective(
        votes,
        "balanced-accuracy",
        selection_limits(2),
        Budget(report=events.append),
        n_repeats=1,
        max_steps=10,
    )
    assert events[-1].total == 2


def test_no_setting_is_refused() -> None:
    with pytest.raises(BadInputError, match="settings must hold at least one"):
        choose_objective(_noisy_votes(), "accuracy", selection_limits(12), settings=[])


def test_a_setting_that_is_worse_than_the_error_is_not_chosen_though_it_comes_first() -> None:
    worse, better, best = (Setting(second, 1, 5) for second in ("+margin", "", "+slope-4"))
    scores = np.array([[0.5, 0.79, 0.8], [0.6, 0.89, 0.9]])  # errors 0.05

    choice = objective_choice.best_setting([worse, better, best], scores)

    assert choice.setting == better
    assert [tried.setting for tried in choice.tried] == [best, better, worse]
    assert choice.tried[0].error == pytest.approx(0.05)
