"""Rows of one case are on one side of every split."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.pruned_table import prune_table
from shortlist.errors import BadInputError
from shortlist.guarantees.selective_classifier import SelectiveClassifier
from shortlist.multistage.holdout import split_three
from shortlist.multistage.question import calibration_rows
from shortlist.results.measuring import PAPER, Measuring
from shortlist.tables.splits import (
    cases_of_rows,
    deal_folds,
    hold_out,
    keep_rows_apart,
    one_row_a_case,
    shuffled_folds,
    split_cases,
)
from shortlist_papers import OrderedPruner
from shortlist_papers.pruning_comparison import compare_methods, stratified_folds

RNG = np.random.default_rng(0)
CASES = RNG.permutation(np.repeat(np.arange(60), RNG.integers(1, 12, 60)))
CASES = np.unique(CASES, return_inverse=True)[1]
Y = np.where(CASES % 3 == 0, "ill", "well")
MIXED = np.where(RNG.random(len(CASES)) < 0.1, "ill", "well")
X = np.column_stack([CASES + 0.1 * RNG.random(len(CASES)), RNG.random(len(CASES))])
"""The first column knows the case, so that a neighbour of the same case gives the class away."""


def _apart(*parts: np.ndarray) -> bool:
    """Whether the parts are all rows, and share none of their cases."""
    all_rows = np.sort(np.concatenate(parts)).tolist() == list(range(len(CASES)))
    n_cases = sum(len(set(CASES[part].tolist())) for part in parts)
    return bool(all_rows and n_cases == CASES.max() + 1)


@pytest.mark.parametrize("y", [Y, MIXED], ids=["one class a case", "mixed"])
@pytest.mark.parametrize("seed", range(5))
def test_no_split_shares_a_case(y: np.ndarray, seed: int) -> None:
    assert _apart(*split_cases(y, CASES, lambda labels: hold_out(labels, 0.2, seed)))
    assert _apart(*split_cases(y, CASES, lambda labels: keep_rows_apart(len(labels), 0.2, seed)))
    assert _apart(*split_three(y, seed=seed, cases=CASES))
    folds = [test for _, test in shuffled_folds(y, 4, seed, CASES)]
    assert all(_apart(train, test) for train, test in shuffled_folds(y, 4, seed, CASES))
    assert _apart(*folds)
    fold_of = deal_folds(y, 4, seed, CASES)
    assert _apart(*[np.flatnonzero(fold_of == fold) for fold in range(4)])
    rest, held = calibration_rows(y, 0.25, seed, CASES)
    assert not set(CASES[rest]) & set(CASES[held])
    assert len(set(CASES[held].tolist())) == len(held) == 15  # one row of each case
    assert sorted(set(CASES[rest]) | set(CASES[held])) == list(range(CASES.max() + 1))


@pytest.mark.parametrize("seed", range(3))
def test_cases_of_one_row_are_split_as_rows_are(seed: int) -> None:
    alone = np.arange(len(Y))
    for cases in (None, alone):
        parts = split_cases(Y, cases, lambda labels: hold_out(labels, 0.2, seed))
        assert [sorted(part.tolist()) for part in parts] == [
            sorted(part.tolist()) for part in hold_out(Y, 0.2, seed)
        ]
        assert one_row_a_case(alone[::2], cases, seed).tolist() == alone[::2].tolist()
    assert [part.tolist() for part in split_three(Y, seed=seed, cases=alone)] == [
        part.tolist() for part in split_three(Y, seed=seed)
    ]
    assert deal_folds(Y, 4, seed, alone).tolist() == deal_folds(Y, 4, seed).tolist()


def test_each_part_has_its_share_of_the_cases_of_each_class() -> None:
    fit, judge, test = split_three(Y, seed=1, cases=CASES)
    for part, share in ((fit, 0.5), (judge, 0.25), (test, 0.25)):
        for label in ("ill", "well"):
            n_cases = len(set(CASES[label == Y].tolist()))
            assert len(set(CASES[part][label == Y[part]].tolist())) == pytest.approx(share * n_cases, abs=1)


def test_the_folds_of_a_comparison_fit_and_prune_on_other_cases() -> None:
    for fold in stratified_folds("t", X, Y, n_folds=3, n_repeats=2, n_classifiers=3, seed=0, cases=CASES):
        assert _apart(fold.train, fold.test)
    nearest = {"nearest": KNeighborsClassifier(1)}
    rows = compare_methods({"t": (X, Y)}, nearest, n_folds=3)["accuracy"].mean()
    cases = compare_methods({"t": (X, Y, CASES)}, nearest, n_folds=3)["accuracy"].mean()
    assert rows > 0.95  # a neighbour of the same case was fitted
    assert cases < 0.8


@pytest.mark.parametrize("pruning_rows", ["held-out", "out-of-fold"])
def test_a_committee_is_fitted_chosen_promised_and_measured_on_other_cases(pruning_rows: str) -> None:
    table = pd.DataFrame(X, columns=["a", "b"])
    exact = ExactPruner(pruning_rows=pruning_rows, random_state=0)
    asked = SelectiveClassifier(exact, answer_accuracy=0.6, random_state=0)
    found = prune_table(table, Y, asked, n_classifiers=4, seed=3, cases=CASES)
    chose = found.pruner.validation_.rows
    held = split_cases(Y, CASES, lambda labels: hold_out(labels, 0.1, 3))[1]
    assert not set(CASES[chose]) & set(CASES[held])
    assert found.n_rows["test"] == len(held)
    assert found.n_rows["calibration"] == round(0.25 * (CASES.max() + 1 - len(set(CASES[held].tolist()))))


def test_too_few_cases_of_a_class_are_refused_in_one_sentence() -> None:
    y = np.where(CASES == 0, "ill", "well")
    found = prune_table(X, y, OrderedPruner(), n_classifiers=2, cases=CASES)
    assert found.n_rows["test"] == (y == "well").sum()  # whose only case is ill is fitted and not measured
    with pytest.raises(BadInputError, match=r"every class needs cases in each part of the.*got 1 of 'ill'"):
        prune_table(X, y, OrderedPruner(), n_classifiers=2, cases=CASES, measuring=Measuring(PAPER))
    with pytest.raises(BadInputError, match="so 4 cases of each, got 1 of 'ill'"):
        split_three(y, cases=CASES)
    with pytest.raises(BadInputError, match="at least 3 cases each, one per fold, got 1 of 'ill'"):
        compare_methods({"t": (X, y, CASES)}, ["full"], n_folds=3)
    three, cases = np.array(["a", "b", "c", "c", "b", "b"]), np.array([0, 0, 1, 1, 2, 3])
    with pytest.raises(BadInputError, match=r"the cases that fit must have rows of every.*got none of 'a'"):
        split_cases(three, cases, lambda _: (np.array([1, 2, 3]), np.array([0])))


def test_cases_of_some_rows_are_numbered_without_gaps() -> None:
    assert cases_of_rows(None, np.array([0, 1, 2])) is None
    some = cases_of_rows(np.array([4, 2, 4, 0]), np.array([0, 1, 2]))
    assert some is not None
    assert some.tolist() == [1, 0, 1]
