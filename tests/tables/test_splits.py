"""Rows split by class: nothing is lost, and every part gets its share of each class."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold, train_test_split

from shortlist.arrays import Labels
from shortlist.tables.splits import cut_classes, deal_classes, hold_out, shuffled_folds

labels = st.lists(st.integers(0, 3), min_size=1, max_size=40).map(np.array)
seeds = st.integers(0, 99)


@given(labels.filter(lambda y: np.bincount(y).max() >= 2), st.sampled_from([0.1, 0.27, 0.5]), seeds)
def test_the_share_is_held_out_and_single_rows_of_a_class_are_kept(
    y: Labels, share: float, seed: int
) -> None:
    kept, held = hold_out(y, share, seed)
    assert sorted([*kept, *held]) == list(range(len(y)))
    several = np.bincount(y) >= 2
    assert len(held) == max(several.sum(), round(share * several[y].sum()))
    assert several[y[held]].all()


def test_rows_are_held_out_as_scikit_learn_does() -> None:
    y = np.array([0, 1, 1] * 11)
    kept, held = hold_out(y, 0.3, 7, rounded=math.ceil)
    first, second = train_test_split(np.arange(33), test_size=10, stratify=y, random_state=7)
    assert kept.tolist() == first.tolist()
    assert held.tolist() == second.tolist()


def test_folds_are_shuffled_as_scikit_learn_does() -> None:
    y = np.array([0, 1, 1] * 11)
    expected = StratifiedKFold(4, shuffle=True, random_state=7).split(y, y)
    for (train, test), (kept, held) in zip(expected, shuffled_folds(y, 4, 7), strict=True):
        assert kept.tolist() == train.tolist()
        assert held.tolist() == test.tolist()


@given(labels, seeds)
def test_parts_of_classes_have_the_sizes_that_were_asked_for(y: Labels, seed: int) -> None:
    parts = cut_classes(y, lambda n: [n // 2, n // 2 + n // 4], np.random.default_rng(seed))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(y)))
    for label, n in enumerate(np.bincount(y).tolist()):
        sizes = [int((y[part] == label).sum()) for part in parts]
        assert sizes == [n // 2, n // 4, n - n // 2 - n // 4]
    assert all((np.diff(part) > 0).all() for part in parts)


@pytest.mark.parametrize("n_folds", [2, 3, 7])
@given(y=labels, seed=seeds)
def test_folds_that_are_dealt_out_differ_by_a_row_of_each_class_at_most(
    n_folds: int, y: Labels, seed: int
) -> None:
    fold_of = deal_classes(y, n_folds, np.random.default_rng(seed))
    for chosen in (np.ones(len(y), dtype=bool), *(y == label for label in range(4))):
        sizes = np.bincount(fold_of[chosen], minlength=n_folds)
        assert sizes.max() - sizes.min() <= 1


def test_the_rows_that_a_seed_leads_to_stay_what_they_were() -> None:
    y = np.array([0, 1, 0, 1, 1, 0, 0, 1, 0, 0])
    rng = np.random.default_rng
    assert [part.tolist() for part in cut_classes(y, lambda n: [n // 2], rng(3))] == [
        [3, 4, 5, 8, 9],
        [0, 1, 2, 6, 7],
    ]
    assert deal_classes(y, 3, rng(3)).tolist() == [2, 2, 0, 1, 0, 0, 1, 0, 2, 1]
    assert hold_out(y, 0.3, 3)[1].tolist() == [0, 1, 5]
