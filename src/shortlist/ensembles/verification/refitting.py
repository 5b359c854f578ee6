"""Recheck of fits: members are fitted again on their rows, and compared with the members of a saved model."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import clone

from shortlist._differences import differences
from shortlist._words import all_of
from shortlist.arrays import Labels
from shortlist.ensembles.committees.chosen import Chosen, FittedRows
from shortlist.ensembles.pools.answers import class_answers, class_shares, gives_probabilities
from shortlist.ensembles.pools.fitting import (
    cross_fit,
    drawn_pool,
    encode_rows,
    members_called,
    refit_members,
)
from shortlist.ensembles.pools.members import AGAIN
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool
from shortlist.ensembles.verification.recorded_rows import MOST_DIFFERENCE, find_recorded_rows
from shortlist.runs.records import versions
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import IN_NO_FOLD

if TYPE_CHECKING:  # its kernels take seconds to load
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier

CLOSE = 1e-6
"""Relative tolerance on fitted numbers, due to rounding."""

Rows: TypeAlias = tuple[Any, Labels]
"""Table of features, and the classes of its rows."""


@dataclasses.dataclass(frozen=True)
class FitCheck:
    """Result of the comparison of a model's members with new fits of the same members, as sentences."""

    failures: tuple[str, ...] = ()
    """Sentences on members with different answers, although the same versions of packages fitted them."""
    doubts: tuple[str, ...] = ()
    """Sentences on members with different numbers, or with different answers by other versions of packages.
    """
    notes: tuple[str, ...] = ()
    """Reasons why members were not fitted again."""
    is_same: bool = False
    """Whether all members were fitted again and equal the members of the model."""


def check_fits(chosen: Chosen, X: Any, y: Any) -> FitCheck:
    """Fit the members again, both for the choice and for new rows, and compare them with the model.

    Members of a pool that the user fitted are not fitted again.

    `X`, `y`: the table that the model was made from. If the numbers of a new fit differ, answers on all rows
    are compared.
    """
    fitted = chosen.fitted
    if fitted is None or not len(chosen.committee.members):
        return FitCheck()
    rows, lost = [], ""
    for numbers in (fitted.pool, fitted.pool if fitted.again is None else fitted.again):
        found = find_recorded_rows(dataclasses.replace(chosen.record, rows=numbers), X, y, called="rows")
        lost = found.difference if found.places is None or found.n_changed else lost
        places = found.places
        rows.append(None if places is None or lost else (take_rows(X, places), np.asarray(y)[places]))
    if rows[0] is None or rows[1] is None:
        return FitCheck(notes=(f"the members were not fitted again: of the rows that fitted them {lost}",))
    return _compared([*_pairs(chosen, fitted, rows[0], rows[1])], X, fitted)


def check_evolution(model: "EvolutionaryEnsembleClassifier", rows: Any, classes: Labels) -> FitCheck:
    """Evolve an ensemble again on the same rows, and compare the result with the model.

    On another machine rounding may differ, and so the evolved ensemble.

    `rows`, `classes`: the rows that the ensemble was evolved on, and their classes.
    """
    from shortlist.ensembles.estimators.evolved_ensemble import best_alone  # its kernels take seconds to load
    from shortlist.ensembles.evolution.evolution import PATIENCE

    result = model.result_
    if not isinstance(model.random_state, int | np.integer):
        return FitCheck(notes=("the ensemble was not evolved again, since its seed is not kept",))
    if result.stopped not in {"", PATIENCE}:
        return FitCheck(doubts=(f"Its evolution was stopped ({result.stopped}), so it was not repeated",))
    again = clone(model).fit(rows, classes)
    if model.is_alone_:
        again = best_alone(again, rows, classes)
    for name in ("classes_", "encoder_", "space_"):
        if [*differences(getattr(model, name), getattr(again, name), within=CLOSE)]:
            return FitCheck(failures=(f"`{name}` is not what the rows that it was evolved on give",))
    if [*differences(model.members_, result.members)]:
        return FitCheck(failures=("the members are not those that were evolved",))
    others = list(differences(model.result_, again.result_, "result_", within=CLOSE))
    if not others:
        return FitCheck()
    why = "another machine or version evolved it, or somebody has changed it"
    return FitCheck(doubts=(f"Evolved again, {all_of(others)} differ: {why}",))


def _pairs(chosen: Chosen, fitted: FittedRows, own: Rows, more: Rows) -> Iterator[tuple[Pool, Pool]]:
    """Yield pools of members of the model, each with the pool of the same members fitted again.

    `own`: rows on which the pool was fitted. `more`: rows on which the chosen members were fitted again.
    """
    names, crossed, seed = chosen.committee.names, chosen.as_chosen, fitted.seed
    is_crossed = isinstance(crossed, CrossFittedPool)
    pool = (
        drawn_pool(encode_rows(*own), names, seed=seed)
        if is_crossed and chosen.refitted
        else members_called(*own, names, seed=seed)
    )
    if isinstance(crossed, CrossFittedPool):
        places = {row: place for place, row in enumerate(fitted.pool.tolist())}
        fold_of = np.full(len(places), IN_NO_FOLD, dtype=np.int8)
        fold_of[[places[row] for row in chosen.record.rows.tolist()]] = crossed.fold_of
        again = cross_fit(pool, *own, folds=fold_of, random_state=seed)
        for kept, made in zip(crossed.without_fold, again.without_fold, strict=True):
            yield _each_once(kept, names), made
        seed = chosen.seed or 0
    else:
        yield _each_once(crossed, names), pool
    if chosen.refitted:
        pool = refit_members(pool, *more, seed=seed)
    yield _each_once(chosen.committee.members, names), pool


def _each_once(pool: Pool, names: Sequence[str]) -> Pool:
    """Return the pool of the members with these names, without copies."""
    once = pool.subset([place for place, name in enumerate(pool.names) if AGAIN not in name])
    return once.subset([once.names.index(name) for name in names])


def _compared(pairs: Sequence[tuple[Pool, Pool]], X: Any, fitted: FittedRows) -> FitCheck:
    others = {name: now for name, now in versions().items() if fitted.versions.get(name) != now}
    wrong: dict[str, int] = {}
    prepared = True
    for kept, again in pairs:
        alike = not [*differences(kept.preprocessor, again.preprocessor, within=CLOSE)]
        prepared &= alike
        for place, name in enumerate(kept.names):
            one, other = kept.classifiers[place], again.classifiers[place]
            if not alike or [*differences(one, other, within=CLOSE)]:
                n_rows = _n_otherwise(kept.subset([place]), again.subset([place]), X)
                wrong[name] = max(wrong.get(name, 0), n_rows)
    said = [
        f"fitted again, {name} answers {n:,} of {len(X):,} rows otherwise" for name, n in wrong.items() if n
    ]
    said += (
        [] if prepared else ["the columns are prepared otherwise than the rows that fitted the members say"]
    )
    if said and not others:
        return FitCheck(failures=tuple(said))
    if said:
        by = all_of(f"{name} {fitted.versions.get(name)}, here {now}" for name, now in others.items())
        said.append(f"The members were fitted by other versions: {by}")
    elif wrong:
        said.append(f"Fitted again, {all_of(wrong)} hold other numbers, but answer every row alike")
    return FitCheck(doubts=tuple(said), is_same=not said)


def _n_otherwise(one: Pool, other: Pool, X: Any) -> int:
    """Return the number of rows on which the answers of two members differ by more than rounding."""
    if gives_probabilities(one) and gives_probabilities(other):
        first, second = (class_shares(pool, X).astype(np.int64) for pool in (one, other))
        return int((np.abs(first - second) > MOST_DIFFERENCE).any(axis=(1, 2)).sum())
    return int((class_answers(one, X) != class_answers(other, X)).any(axis=1).sum())
