"""Pools for large tables: drawn classifiers race on few rows, and the winners are fitted on all rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.pools.families import FAMILIES
from shortlist.ensembles.pools.fitting import (
    EncodedRows,
    bind_rows,
    calm_fits,
    cross_fit_encoded,
    drawn_pool,
    encode_rows,
    refit_member,
)
from shortlist.ensembles.pools.members import Member
from shortlist.ensembles.pools.plain import OF_TABLES, PLAIN, USUAL, with_plain
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool, numbered
from shortlist.ensembles.votes.soft_votes import WHOLE
from shortlist.errors import ShortlistError
from shortlist.runs import Unit, Work, run_units
from shortlist.tables.splits import Cases, deal_folds


@dataclass(frozen=True)
class RaceSettings:
    """Settings of the race of classifiers on large tables (decision 148)."""

    least_rows: int = 5_000
    """Least number of rows for a race of classifiers; with fewer rows a race costs more time than it saves.
    """
    n_fitted: int = 2_000
    n_asked: int = 2_000
    """Number of rows that fit the classifiers in the race, and number of rows that compare the classifiers.
    """
    n_kept: int = 5
    """Number of drawn classifiers that win the race and join the pool."""
    n_boosting: int = 8
    """Number of classifiers of :data:`shortlist.ensembles.pools.plain.OF_TABLES`. They need many rows, and
    all join the pool without a race.
    """
    n_folds: int = 3
    """Number of folds. With many rows, a fit on two thirds of the rows is nearly as good as a fit on four
    fifths.
    """


USUAL_RACE = RaceSettings()


def raced_pool(
    X: Any,
    y: NDArray[Any],
    *,
    n_classifiers: int,
    seed: int,
    work: Work,
    cases: Cases | None = None,
    settings: RaceSettings = USUAL_RACE,
) -> CrossFittedPool:
    """Return a cross-fitted pool of the classifiers that win a race; the table is encoded once.

    Drawn candidates race. Plain candidates, and candidates of :data:`OF_TABLES`, are in the pool without a
    race.

    In place of classifiers fitted on all rows, the result has the classifiers fitted without the first fold,
    as the members are later fitted again on all rows.

    `n_classifiers`: number of candidates in all. `cases`: case of each row; the rows of a case are in one
    fold. Raises ShortlistError if the work is stopped before every classifier was fitted.
    """
    rows = encode_rows(X, y)
    fold_of = deal_folds(rows.indices, settings.n_folds, seed, cases)
    candidates = drawn_pool(rows, candidate_names(n_classifiers, settings.n_boosting), seed=seed)
    kept = promising(candidates, rows, fold_of, seed=seed, work=work, settings=settings)
    folds = replace(work, study=work.study.part("folds"))
    crossed = cross_fit_encoded(candidates.subset(kept), rows, fold_of, seed=seed, work=folds)
    return replace(crossed, pool=crossed.without_fold[0])


def candidate_names(n: int, n_boosting: int) -> list[str]:
    """Return the names of `n` candidates; up to `n_boosting` of them are table boosting.

    >>> candidate_names(30, 2)[24:26]
    ['table-boosting-1', 'logistic-regression-3']
    """
    (of_tables,) = OF_TABLES
    whole = [*USUAL, *(f"{of_tables}-{k}" for k in range(1, n_boosting + 1))]
    families = with_plain(list(FAMILIES), whole, n)
    drawn = numbered([family for family in families if family not in whole])
    left = iter(drawn)
    return [family if family in whole else next(left) for family in families]


def promising(
    candidates: Pool,
    rows: EncodedRows,
    fold_of: NDArray[np.int8],
    *,
    seed: int,
    work: Work,
    settings: RaceSettings = USUAL_RACE,
) -> list[int]:
    """Return the indices of the candidates that do not race and of the winners, in increasing order.

    Every candidate is fitted on some rows outside the first fold, and answers some rows of this fold. The
    next winner is always the candidate with which the mean of all chosen candidates has the least log loss.
    """
    rng = np.random.default_rng(seed)
    fits = drawn_rows(rows.indices, np.flatnonzero(fold_of != 0), settings.n_fitted, rng)
    asks = drawn_rows(rows.indices, np.flatnonzero(fold_of == 0), settings.n_asked, rng)
    fitted, asked = rows.some(fits), rows.some(asks)
    part = work.study.part("race")
    bind_rows(part, fitted, {"random_state": seed})
    units = [
        Unit(
            name,
            race_member,
            (member, family, fitted.encoded, fitted.indices, asked.encoded, asked.indices, seed),
        )
        for name, family, member in zip(
            candidates.names, candidates.families, candidates.classifiers, strict=True
        )
    ]
    with calm_fits():
        told = dict(run_units(units, replace(work, study=part), stage="racing classifiers"))
    if len(told) < len(units):
        raise ShortlistError(
            f"the race was stopped after {len(told)} of {len(units)} classifiers. Run it again, or with a "
            "smaller `n_classifiers`."
        )
    truly = np.stack([np.frombuffer(told[name], dtype=np.float64) for name in candidates.names], axis=1)
    first = [place for place, family in enumerate(candidates.families) if family in {**PLAIN, **OF_TABLES}]
    return sorted(first + winners(truly, first, settings.n_kept))


def winners(truly: NDArray[np.float64], first: Sequence[int], n: int) -> list[int]:
    """Return the indices of the `n` candidates that join the candidates `first`, in the order of joining.

    The next to join is always the candidate with which the mean of all chosen candidates has the least log
    loss. `truly`: probability that each candidate gives the true class of each row, ``(n_rows,
    n_candidates)``.

    >>> winners(np.array([[0.9, 0.5, 0.2, 0.8], [0.1, 0.5, 0.9, 0.2]]), [0], 2)
    [2, 1]
    """
    logs = np.maximum(truly, 1 / WHOLE)
    total = logs[:, list(first)].sum(axis=1)
    found: list[int] = []
    while len(found) < min(n, truly.shape[1] - len(first)):
        worth = np.log(total[:, None] + logs).sum(axis=0)
        worth[[*first, *found]] = -np.inf
        found.append(int(worth.argmax()))
        total = total + logs[:, found[-1]]
    return found


def race_member(  # noqa: PLR0917  # units pass arguments by place
    member: Member,
    family: str,
    X: NDArray[np.float64],
    indices: NDArray[np.intp],
    asked: NDArray[np.float64],
    truth: NDArray[np.intp],
    seed: int,
) -> bytes:
    """Fit a classifier on some rows, and ask it about other rows.

    Return its probability of the true class of each row that it was asked about, as bytes of doubles.
    """
    fitted = refit_member(member, family, X, indices, seed)
    found = fitted.predict_proba(asked)[np.arange(len(asked)), truth]
    return np.ascontiguousarray(found, dtype=np.float64).tobytes()


def drawn_rows(
    indices: NDArray[np.intp], places: NDArray[np.intp], n: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return sorted indices of about `n` drawn rows, with at least two rows of each class that has two.

    `indices`: class of each row of the table. `places`: indices of the rows to draw from.
    """
    share, drawn = min(1.0, n / max(1, len(places))), []
    for index in np.unique(indices[places]):
        of_class = places[indices[places] == index]
        size = min(len(of_class), max(2, round(share * len(of_class))))
        drawn.append(rng.choice(of_class, size=size, replace=False))
    return np.sort(np.concatenate(drawn))
