"""Splits of rows by class: every part has the same shares of the classes as all rows.

The rows drawn for a seed are part of the answers: :func:`hold_out` and :func:`shuffled_folds` draw as
scikit-learn does, other functions draw class by class from a generator of numpy. If cases have several rows,
:func:`split_cases` makes any of these functions split whole cases.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Labels
from shortlist.errors import BadInputError

RowNumbers = NDArray[np.intp]
"""Row numbers."""

Cases = NDArray[np.intp]
"""Case of each row, numbered from 0 without gaps."""

TEST_SHARE = 0.10
"""Share of all rows in the test set of ensembles (Section 5.1 of the pruning paper)."""

PRUNING_SHARE = 0.27
"""Share of all rows that selects members (Section 5.1 of the pruning paper); the remaining 63 % fit
classifiers.
"""

SELECTION_SHARE = 0.3
"""Share of the rows outside the test set that selects members, the paper's 27 : 63 rounded."""

STAGE_SHARE = 1 / 3
"""Share of rows held out for stages that are not validated out of fold."""

PAPER_STAGE_SHARES = (0.5, 0.25, 0.25)
"""Shares of the rows that fit subclassifiers, that choose stage assignments, and that measure (Sec. 4.3.1 of
EMSCO).
"""

CASE_SHARE = 0.25
"""Share of the cases of a log that is held out, unless all cases choose."""

THRESHOLD_SHARE = 0.25
"""Share of the calibration rows that chooses the thresholds to test, if no other rows can choose them."""

N_FOLDS = 5
"""Default number of folds for out-of-fold answers."""

MOST_ROWS_IN_FOLDS = 2_000
"""Largest number of rows for which out-of-fold answers are the default."""

IN_NO_FOLD = -1
"""Fold of the rows that always fit: the rows of a class with only one row."""


def split_cases(
    y: Labels, cases: Cases | None, split: Callable[[Labels], Sequence[RowNumbers]]
) -> list[RowNumbers]:
    """Split rows as `split` does, but keep all rows of a case in one part.

    A case counts as one row of the rarest class among its rows, so shares are shares of cases. Raises
    BadInputError if no row of a class is in the first part.

    `y`, ``(n_samples,)``: classes. `cases`, ``(n_samples,)``: case of each row; None: every row is a case.
    `split`: function of classes that returns the row numbers of each part; the first part fits.

    >>> y, cases = np.array(["a", "a", "a", "b", "b", "a"]), np.array([0, 0, 1, 2, 2, 2])
    >>> [part.tolist() for part in split_cases(y, cases, lambda y: [np.array([0, 2]), np.array([1])])]
    [[0, 1, 3, 4, 5], [2]]
    """
    if cases is None:
        return list(split(y))
    parts = [np.flatnonzero(np.isin(cases, part)) for part in split(classes_of_cases(y, cases))]
    lost = set(y.tolist()) - set(y[parts[0]].tolist())
    if lost:
        raise BadInputError(
            f"the cases that fit must have rows of every class, got none of {min(lost, key=str)!r}, which "
            "too few cases have. Add cases, or split by rows."
        )
    return parts


def classes_of_cases(y: Labels, cases: Cases | None) -> Labels:
    """Return the rarest class among the rows of every case; without cases, the class of every row.

    >>> classes_of_cases(np.array(["a", "a", "b", "a"]), np.array([0, 1, 1, 1])).tolist()
    ['a', 'b']
    """
    if cases is None:
        return y
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    by_rarity = np.argsort(counts, kind="stable")
    rank = np.empty_like(by_rarity)
    rank[by_rarity] = np.arange(len(classes))
    rarest = np.full(int(cases.max()) + 1, len(classes))
    np.minimum.at(rarest, cases, rank[codes])
    found: Labels = classes[by_rarity[rarest]]
    return found


def cases_of_rows(cases: Cases | None, rows: RowNumbers) -> Cases | None:
    """Return the cases of some rows, renumbered; None without cases.

    >>> cases_of_rows(np.array([0, 0, 1, 2]), np.array([0, 3])).tolist()
    [0, 1]
    """
    return None if cases is None else np.unique(cases[rows], return_inverse=True)[1]


def one_row_a_case(rows: RowNumbers, cases: Cases | None, seed: int) -> RowNumbers:
    """Return one drawn row of every case, in ascending order; without cases return all rows.

    >>> one_row_a_case(np.array([0, 1, 4]), np.array([0, 0, 1, 1, 2]), 0).tolist()
    [0, 4]
    """
    if cases is None:
        return rows
    order = np.random.default_rng(seed).permutation(rows)
    return np.sort(order[np.unique(cases[order], return_index=True)[1]])


def hold_out(
    y: Labels, share: float, seed: int, *, rounded: Callable[[float], int] = round
) -> tuple[RowNumbers, RowNumbers]:
    """Hold out a share of the rows, at least one row of each class with two rows or more.

    `y`: classes, ``(n_samples,)``; at least one class must have two rows. `share`: at most one half. `seed`:
    seed of scikit-learn's ``train_test_split``. `rounded`: rounds the number of rows. `kept`, `held`, which
    it returns: in random order. Classes with only one row are kept, and come first.

    >>> y = np.array(["a", "a", "b", "a", "c", "b", "a"])
    >>> kept, held = hold_out(y, 0.3, 0)
    >>> y[kept].tolist(), y[held].tolist()
    (['c', 'a', 'a', 'a', 'b'], ['a', 'b'])
    """
    from sklearn.model_selection import train_test_split

    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    lonely = counts[codes] < 2
    rest = np.flatnonzero(~lonely)
    size = max(int((counts >= 2).sum()), rounded(share * len(rest)))
    kept, held = train_test_split(rest, test_size=size, stratify=codes[rest], random_state=seed)
    return np.concatenate([np.flatnonzero(lonely), kept]), held


def keep_rows_apart(n_rows: int, share: float, seed: int) -> tuple[RowNumbers, RowNumbers]:
    """Draw a share of the rows regardless of class; return the other rows, then the drawn rows.

    >>> [part.tolist() for part in keep_rows_apart(5, 0.4, 0)]
    [[0, 1, 3], [2, 4]]
    """
    order = np.random.default_rng(seed).permutation(n_rows)
    n_drawn = round(share * n_rows)
    return np.sort(order[n_drawn:]), np.sort(order[:n_drawn])


def shuffled_folds(
    y: Labels, n_folds: int, seed: int, cases: Cases | None = None
) -> Iterator[tuple[RowNumbers, RowNumbers]]:
    """Yield the training and the held-out rows of each fold of a shuffled ``StratifiedKFold``.

    With `cases`, all rows of a case are in the same fold.
    """
    from sklearn.model_selection import StratifiedKFold

    labels = classes_of_cases(y, cases)
    for split in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(labels, labels):
        kept, held = split_cases(y, cases, lambda _, split=split: split)  # type: ignore[misc]
        yield kept, held


def cut_classes(
    y: Labels, cuts: Callable[[int], Sequence[int]], rng: np.random.Generator
) -> list[RowNumbers]:
    """Cut the shuffled rows of each class into parts; return the rows of each part in ascending order.

    >>> y = np.array([0, 0, 1, 1, 1, 1])
    >>> small, large = cut_classes(y, lambda n: [n // 2], np.random.default_rng(0))
    >>> y[small].tolist(), y[large].tolist()
    ([0, 1, 1], [0, 1, 1])
    """
    pieces = [np.split(rows, cuts(len(rows))) for rows in _shuffled_classes(y, rng)]
    return [np.sort(np.concatenate(part)) for part in zip(*pieces, strict=True)]


def deal_classes(y: Labels, n_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Deal the rows to folds, class after class; return the fold of every row.

    Folds differ by at most one row, both in total and in each class.

    >>> fold_of = deal_classes(np.array([0, 1, 0, 1, 1]), 2, np.random.default_rng(0))
    >>> np.bincount(fold_of).tolist()
    [3, 2]
    """
    fold_of = np.empty(len(y), dtype=np.int64)
    dealt = 0
    for rows in _shuffled_classes(y, rng):
        fold_of[rows] = (dealt + np.arange(len(rows))) % n_folds
        dealt += len(rows)
    return fold_of


def deal_folds(y: Labels, n_folds: int, seed: int, cases: Cases | None = None) -> NDArray[np.int8]:
    """Return the fold of every row, dealt class by class; -1 for a class with one row.

    With `cases`, the case of each row, whole cases are dealt. Raises BadInputError if no class has two
    rows.

    >>> deal_folds(np.array(["a", "a", "b", "a", "a"]), 2, 0).tolist()
    [1, 0, -1, 0, 1]
    """
    _, codes, counts = np.unique(classes_of_cases(y, cases), return_inverse=True, return_counts=True)
    dealt = np.flatnonzero(counts[codes] > 1)
    if not len(dealt):
        raise BadInputError("a class needs at least 2 rows to fit and to choose by, got 1 of each. Add rows.")
    fold_of = np.full(len(codes), IN_NO_FOLD, dtype=np.int8)
    fold_of[dealt] = deal_classes(codes[dealt], min(n_folds, len(dealt)), np.random.default_rng(seed))
    if cases is None:
        return fold_of
    fold_of = fold_of[cases]
    alone = [
        label
        for label in np.unique(y)
        if len(found := set(fold_of[y == label].tolist())) == 1 and -1 not in found
    ]
    if alone:
        raise BadInputError(
            f"every class needs cases in 2 folds, got one fold with all rows of {str(alone[0])!r}. Add cases."
        )
    return fold_of


def _shuffled_classes(y: Labels, rng: np.random.Generator) -> Iterator[NDArray[Any]]:
    for label in np.unique(y):
        yield rng.permutation(np.flatnonzero(y == label))
