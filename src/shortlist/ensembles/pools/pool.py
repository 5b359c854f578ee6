"""Pools of classifiers to choose from, fitted by Shortlist or by the user."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._words import all_of, counted
from shortlist.arrays import Labels, Mask
from shortlist.ensembles.pools.encoder import TableEncoder, as_classes
from shortlist.ensembles.pools.judges import check_answers, columns_asked, judges_of, prices_of
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import empty_rows
from shortlist.pickles import saved_from
from shortlist.tables.fit_inputs import take_rows


@saved_from("shortlist")
@dataclass(frozen=True, eq=False)
class Pool:
    """Fitted classifiers for the same classes.

    Parameters
    ----------
    classifiers : tuple
        Fitted classifiers, scikit-learn style.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    names : tuple of str
        Name of each classifier; all names differ.
    families : tuple of str
        Kind of each classifier: a name in :data:`shortlist.ensembles.pools.families.FAMILIES`, or its class.
    preprocessor : transformer or None
        Transformer that is applied once to the rows before classifiers are asked; None: rows are passed
        unchanged.
    costs : ndarray of float, shape (n_classifiers,), or None
        Price of asking each classifier.
    n_features_in : int or None
        Number of columns that the pool was fitted on, if known.
    feature_names_in : tuple of str or None
        Names of the columns that the pool was fitted on, if known.

    Raises
    ------
    BadInputError
        If a classifier does not have exactly one name, family and cost, names repeat, or a cost is no number
        of at least 0.
    """

    classifiers: tuple[Any, ...]
    classes: Labels
    names: tuple[str, ...]
    families: tuple[str, ...]
    preprocessor: Any | None = None
    costs: NDArray[np.float64] | None = None
    n_features_in: int | None = None
    feature_names_in: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        n = len(self.classifiers)
        for what, given in (("names", self.names), ("families", self.families), ("costs", self.costs)):
            if given is not None and len(given) != n:
                raise BadInputError(what, f"must have one entry per classifier, {n}", len(given))
        if len(set(self.names)) != n:
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise BadInputError(
                f"the names of a pool's classifiers must all differ, got {twice!r} more than once."
            )
        costs = np.asarray([] if self.costs is None else self.costs)
        if len(wrong := np.flatnonzero(~(np.isfinite(costs) & (costs >= 0)))):
            shown = "NaN" if np.isnan(costs[wrong[0]]) else costs[wrong[0]]
            raise BadInputError(
                "costs", "must be numbers of at least 0", f"{shown} for {self.names[wrong[0]]!r}"
            )

    def __len__(self) -> int:
        """Return the number of classifiers."""
        return len(self.classifiers)

    def __sklearn_clone__(self) -> Self:
        """Return the pool itself, whose classifiers stay fitted."""
        return self

    def __repr__(self) -> str:
        kinds = counted(len(set(self.families)), "kind")
        return f"Pool({counted(len(self), 'classifier')} of {kinds}; classes {all_of(self.classes, most=5)})"

    def _repr_html_(self) -> str:
        from shortlist._words import html_table

        counts = Counter(self.families).most_common()
        return html_table(repr(self), ["family", "classifiers"], counts, n_rows=len(counts))

    @classmethod
    def from_answers(
        cls, answers: Any, y: ArrayLike, *, costs: Mapping[str, float] | None = None, may_abstain: bool = True
    ) -> Self:
        """Return a pool of judges from a table of their answers.

        A pruner of this pool is fitted on tables of answers, and predicts from tables of answers; to predict,
        it reads the columns of its members alone. A cell without an answer is an abstention. If votes are
        counted, an abstention is no vote, and two classes are then decided by plurality. If probabilities are
        averaged, an abstention counts as equal shares of all classes, which favour no class.

        Parameters
        ----------
        answers : DataFrame of shape (n_rows, n_columns)
            One row per case. Either a column with the judge's name holds the classes that the judge answers,
            or columns ``judge:class``, one for every class, hold probabilities. The probabilities of a row
            must add up to 1 within 0.02, and are scaled to add up to 1.
        y : array-like of shape (n_rows,)
            The true classes.
        costs : mapping of str to float, optional
            Price of asking each judge, by name, in any unit.
        may_abstain : bool, default=True
            Whether cells may be empty, in this table and in later tables.

        Raises
        ------
        BadInputError
            If there is no row or no judge; if a judge is listed twice, gives the same answer on every row,
            answers no class of `y`, or has impossible probabilities; if prices are given and a judge has no
            price, or a price is named after no judge.

        Examples
        --------
        >>> import pandas as pd
        >>> answers = pd.DataFrame({"ann": ["no", "yes", "yes"], "bob": ["yes", None, "no"]})
        >>> Pool.from_answers(answers, ["no", "yes", "yes"], costs={"ann": 2, "bob": 1})
        Pool(2 classifiers of 1 kind; classes no and yes)
        """
        classes, indices = as_classes(y)
        judges = judges_of(answers, classes, may_abstain=may_abstain)
        if len(answers) != len(indices):
            raise BadInputError(
                f"answers and y must have one entry per row, got {len(answers)} and {len(indices)} rows."
            )
        check_answers(judges, answers)
        names = tuple(judge.name for judge in judges)
        return cls(tuple(judges), classes, names, ("judge",) * len(judges), costs=prices_of(names, costs))

    @classmethod
    def of_judges_again(cls, answers: Any, classes: Labels, wanted: Sequence[str] | None = None) -> "Pool":
        """Return the judges of a further table, without checks of their answers.

        The judges are for a comparison with the judges of a known table.

        Parameters
        ----------
        answers : DataFrame of shape (n_rows, n_columns)
            As for :meth:`from_answers`.
        classes : ndarray of shape (n_classes,)
            Classes of the known table, sorted.
        wanted : sequence of str, optional
            Names of the judges to return, in this order; if the table lacks one, all judges are returned.

        Raises
        ------
        BadInputError
            If there is no judge, or a judge is listed twice or has probabilities of other classes.
        """
        judges = judges_of(answers, classes, may_abstain=True)
        names = tuple(judge.name for judge in judges)
        pool = cls(tuple(judges), classes, names, ("judge",) * len(judges))
        if wanted is None or not set(wanted) <= set(names):
            return pool
        return pool.subset([names.index(name) for name in wanted])

    def subset(self, chosen: ArrayLike) -> "Pool":
        """Return the pool of some of the classifiers.

        Parameters
        ----------
        chosen : array-like of bool, shape (n_classifiers,), or of int
            Mask of the classifiers, or their indices in the requested order.

        Raises
        ------
        BadInputError
            If a mask has another length, or an index is outside the pool.
        """
        indices = np.asarray(chosen)
        if indices.dtype == np.bool_:
            if indices.shape != (len(self),):
                raise BadInputError("chosen", f"must have shape ({len(self)},)", indices.shape)
            indices = np.flatnonzero(indices)
        elif indices.size == 0:
            indices = indices.astype(np.intp)
        elif indices.dtype.kind not in "iu" or indices.min() < 0 or indices.max() >= len(self):
            raise BadInputError(
                "chosen", f"must be a mask or indices from 0 to {len(self) - 1}", all_of(indices.ravel())
            )
        return replace(
            self,
            classifiers=tuple(self.classifiers[index] for index in indices),
            names=tuple(self.names[index] for index in indices),
            families=tuple(self.families[index] for index in indices),
            costs=None if self.costs is None else np.asarray(self.costs)[indices],
        )


def numbered(families: Sequence[str]) -> tuple[str, ...]:
    """Return a name for each classifier: its family, and a number from 1 within the family."""
    seen: dict[str, int] = {}
    names = []
    for family in families:
        seen[family] = seen.get(family, 0) + 1
        names.append(f"{family}-{seen[family]}")
    return tuple(names)


def asking_cost(pool: Pool) -> float | None:
    """Return the price of asking every classifier once; None without prices."""
    return None if pool.costs is None else math.fsum(pool.costs)


def named_columns(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a frame if all are text, otherwise None."""
    names = tuple(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def matched_columns(pool: Pool, X: Any) -> Any:
    """Return `X` with its columns in the pool's order; raise BadInputError if columns do not match."""
    names = named_columns(X)
    if pool.feature_names_in is not None and names is not None and names != pool.feature_names_in:
        absent = [name for name in pool.feature_names_in if name not in names]
        unknown = [name for name in names if name not in pool.feature_names_in]
        if absent or unknown or len(set(names)) != len(names):
            # scikit-learn's first sentence, which its users know
            raise BadInputError(
                "The feature names should match those that were passed during fit. "
                f"Missing: {all_of(absent)}; not seen at fit: {all_of(unknown)}."
            )
        return X.loc[:, list(pool.feature_names_in)]
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if pool.n_features_in is not None and len(shape) == 2 and shape[1] != pool.n_features_in:
        raise BadInputError(
            f"X has {shape[1]} features, but the pool is expecting {pool.n_features_in} features as input."
        )
    return X


def unknown_words(pool: Pool, X: Any) -> Mask:
    """Return the mask of the cells with a word that is in no fitted row, ``(n_rows, n_features)``."""
    if not isinstance(pool.preprocessor, TableEncoder):
        return np.zeros((len(X), 1), dtype=bool)
    return pool.preprocessor.unknown_words(matched_columns(pool, X))


def rows_without_values(pool: Pool, X: Any) -> Mask:
    """Return the mask of the rows of features without a single value, ``(n_rows,)``.

    A word that is in no fitted row counts as no value. No committee of classifiers answers a row without a
    value. For a pool of judges no row is marked, as its columns are answers.
    """
    nothing = np.zeros(len(X), dtype=bool)
    if columns_asked(pool.classifiers):
        return nothing
    rows = X if hasattr(X, "columns") else np.asarray(X)
    if not isinstance(pool.preprocessor, TableEncoder):
        return empty_rows(rows)
    has_words = np.array([known is not None for known in pool.preprocessor.known_words])
    rows = matched_columns(pool, rows)
    maybe = np.flatnonzero(empty_rows(rows, has_words))  # if all of its words are unknown
    if len(maybe):
        some = take_rows(rows, maybe)
        nothing[maybe] = empty_rows(some, pool.preprocessor.unknown_words(some))
    return nothing


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class CrossFittedPool:
    """Pool with the same classifiers also fitted without the rows of each fold."""

    pool: Pool
    """The classifiers, fitted on all rows."""
    without_fold: tuple[Pool, ...]
    """Pool for every fold: the same classifiers, fitted on the rows of the other folds."""
    fold_of: NDArray[np.int8]
    """Fold of every row, ``(n_samples,)``; -1 for a row that is in no fold, and is used in every fit."""
    encoded: NDArray[np.float64] | None = None
    """Rows after the preprocessing of `pool`, ``(n_samples, n_columns)``, kept in memory to save time; left
    out of files.
    """

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"encoded": None}

    def __len__(self) -> int:
        """Return the number of classifiers."""
        return len(self.pool)

    def __sklearn_clone__(self) -> Self:
        """Return the pool itself, whose classifiers stay fitted."""
        return self

    def of_members(self, taken: Callable[[Pool], Pool]) -> "CrossFittedPool":
        """Return a cross-fitted pool with `taken` applied to the inner pool and to the pool of each fold."""
        return replace(
            self, pool=taken(self.pool), without_fold=tuple(taken(one) for one in self.without_fold)
        )

    def of_rows(self, rows: NDArray[np.intp]) -> "CrossFittedPool":
        """Return the cross-fitted pool for the rows with these indices."""
        encoded = None if self.encoded is None else self.encoded[rows]
        return replace(self, fold_of=self.fold_of[rows], encoded=encoded)

    def prepared(self, X: Any) -> tuple["CrossFittedPool", Any]:
        """Return the pool and the rows to ask it about; if encoded rows are known, a pool that takes these.

        The pool for encoded rows has no preprocessing. `X`: the rows that the pool was fitted on.
        """
        if self.encoded is None:
            return self, X

        def plainly(pool: Pool) -> Pool:
            return replace(pool, preprocessor=None, n_features_in=None, feature_names_in=None)

        return self.of_members(plainly), self.encoded


def out_of_fold(
    source: Pool | CrossFittedPool, X: Any, ask: Callable[[Pool, Any], NDArray[Any]]
) -> NDArray[Any]:
    """Return the answers on every row by classifiers that were not fitted on this row.

    `source`: of a cross-fitted pool, the classifiers fitted without the fold of a row answer it; any other
    pool must have been fitted on other rows. `X`, ``(n_samples, n_features)``: for a cross-fitted pool the
    rows that it was fitted on, in the same order, each in a fold. `ask`: function from a pool and rows to an
    array with an entry for each row.
    """
    if isinstance(source, Pool):
        return ask(source, X)
    in_fold = [np.flatnonzero(source.fold_of == fold) for fold in range(len(source.without_fold))]
    found = [ask(pool, take_rows(X, rows)) for pool, rows in zip(source.without_fold, in_fold, strict=True)]
    return np.asarray(np.concatenate(found)[np.argsort(np.concatenate(in_fold))])
