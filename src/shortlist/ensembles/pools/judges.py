"""Judges: members of a pool whose answers are recorded in a table, in place of classifiers that are asked."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from shortlist._words import all_of, any_of, counted, did_you_mean
from shortlist.arrays import Labels, Mask
from shortlist.ensembles.votes.hard_votes import MOST_JUDGED_CLASSES
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import SILENT, label_text, states_of, without_unasked
from shortlist.pickles import saved_from

if TYPE_CHECKING:
    import pandas as pd

SUM_TOLERANCE = 0.02
"""Distance by which the sum of an answer's probabilities may differ from 1, as they may be rounded to two
digits.
"""

FIRST_ROWS = 100
"""Number of rows that are compared first to see whether a judge's answers differ."""


def _gives_probabilities(judge: "Judge") -> bool:
    return len(judge.columns) > 1


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Judge:
    """Judge whose answers are columns of a table: a classifier, a prompt, a person or a test.

    A cell without an answer is an abstention. If votes are counted, an abstention is no vote. If
    probabilities are averaged, an abstention counts as equal shares of all classes, which favour no class.
    """

    name: str
    """Name of the judge."""
    columns: tuple[str, ...]
    """Name of the column with the classes, or names of the columns with the probability of each class."""
    classes_: Labels
    """The classes, sorted, ``(n_classes,)``."""
    may_abstain: bool = True
    """Whether cells of the columns may be empty."""

    def class_codes(self, X: Any) -> NDArray[np.uint8]:
        """Return the index of the class answered on every row, ``(n_rows,)``.

        The index of an abstention is ``n_classes``.

        If the judge gives probabilities, the most probable class is answered, the first of equals. Raises
        BadInputError if a column is missing, or an answer cannot be used; the sentence names the judge and
        the row.
        """
        if not _gives_probabilities(self):
            return self._codes(_column(X, self, self.columns[0]))
        shares = self.probabilities(X)
        absent = np.isnan(shares[:, 0])
        codes = np.where(absent, 0.0, shares.T).argmax(axis=0).astype(np.uint8)
        codes[absent] = len(self.classes_)
        return np.asarray(codes)

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``; None for an abstention."""
        labels = np.array([*self.classes_.tolist(), None], dtype=object)
        return np.asarray(labels[self.class_codes(X)])

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities, ``(n_samples, n_classes)``; equal shares for an abstention."""
        shares = self.probabilities(X)
        shares[np.isnan(shares[:, 0])] = 1 / len(self.classes_)
        return shares

    def abstains(self, X: Any) -> Mask:
        """Return the mask of the rows without an answer, ``(n_rows,)``."""
        return np.asarray(_column(X, self, self.columns[0]).isna())

    def no_class(self, X: Any) -> Mask:
        """Return the mask of the rows whose answer is a word that is no class, ``(n_rows,)``."""
        if _gives_probabilities(self):
            return np.zeros(len(X), dtype=bool)
        places, _, codes = self._codes_of_answers(_column(X, self, self.columns[0]))
        return np.asarray(np.isin(places, [place for place, code in enumerate(codes) if code is None]))

    def _codes_of_answers(self, column: "pd.Series[Any]") -> tuple[NDArray[np.intp], Any, list[int | None]]:
        """Return each row's index among the distinct answers, the distinct answers, and their class indices.

        The row's index is -1 for an empty cell; the class index is None for a word that is no class.
        """
        import pandas as pd

        places, answers = pd.factorize(column)
        by_label = {label: code for code, label in enumerate(self.classes_.tolist())}
        by_text = {label_text(label): code for label, code in by_label.items()}
        return places, answers, [by_label.get(one, by_text.get(label_text(one))) for one in answers]

    def _codes(self, column: "pd.Series[Any]") -> NDArray[np.uint8]:
        places, answers, known = self._codes_of_answers(column)
        codes = np.full(len(answers) + 1, len(self.classes_), dtype=np.uint8)  # the last one: no answer
        for place, (answer, code) in enumerate(zip(answers, known, strict=True)):
            if code is None:
                raise BadInputError(
                    f"judge {self.name!r} must answer {any_of(self.classes_)}, got {str(answer)!r} in row "
                    f"{int(np.flatnonzero(places == place)[0]) + 1}. Correct it, leave the cell empty, or "
                    "leave the judge out."
                )
            codes[place] = code
        found = codes[places]
        self.refuse_abstentions(places < 0)
        return np.asarray(found)

    def probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return checked probabilities, ``(n_samples, n_classes)``; NaN in rows without an answer."""
        shares = np.empty((len(self.columns), len(X))).T  # column by column, as all that follows reads it
        sums = np.zeros((len(X), 1))
        for place, name in enumerate(self.columns):
            shares[:, place] = self._numbers(_column(X, self, name))
            sums[:, 0] += shares[:, place]
        if not np.isnan(sums).any() and (np.abs(sums - 1) <= SUM_TOLERANCE).all():
            return np.asarray(shares / sums)
        absent = np.isnan(shares)
        partly = absent.any(axis=1) & ~absent.all(axis=1)
        if partly.any():
            raise BadInputError(
                f"judge {self.name!r} must give the probability of every class or of none, got some in row "
                f"{int(partly.argmax()) + 1}. Fill in the others, or empty all."
            )
        self.refuse_abstentions(absent[:, 0])
        off = np.abs(np.where(np.isnan(sums), 1.0, sums) - 1)[:, 0]
        if off.size and off.max() > SUM_TOLERANCE:
            row = int(off.argmax())
            raise BadInputError(
                f"the probabilities of judge {self.name!r} must add up to 1, within {SUM_TOLERANCE}, got "
                f"{sums[row, 0]:g} in row {row + 1}. Correct them, or leave the judge out."
            )
        return np.asarray(shares / sums)

    def _numbers(self, column: "pd.Series[Any]") -> NDArray[np.float64]:
        import pandas as pd

        if column.dtype.kind == "f" and column.min() >= 0 and column.max() <= 1:
            return np.asarray(column.to_numpy(dtype=np.float64))
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        wrong = np.isnan(numbers) & column.notna().to_numpy()
        wrong |= ~((numbers >= 0) & (numbers <= 1)) & ~np.isnan(numbers)
        if wrong.any():
            row = int(wrong.argmax())
            raise BadInputError(
                f"column {column.name!r} of judge {self.name!r} must hold probabilities from 0 to 1, got "
                f"{str(column.iloc[row])!r} in row {row + 1}. Correct it, or leave the judge out."
            )
        return np.asarray(numbers)

    def refuse_abstentions(self, absent: Mask) -> None:
        """Raise BadInputError for an empty cell, if the judge must answer every row."""
        if not self.may_abstain and absent.any():
            raise BadInputError(
                f"judge {self.name!r} must answer every row where abstentions are not allowed, got "
                f"{counted(int(absent.sum()), 'empty cell')}, the first in row {int(absent.argmax()) + 1}. "
                "Fill them in, or allow abstentions."
            )


def judges_of(table: Any, classes: Labels, *, may_abstain: bool) -> list[Judge]:
    """Return the judges of a table, by the names of its columns, in the order of their first columns.

    Raises BadInputError if there is no judge, or if a judge is listed twice, lacks the probability of a
    class, or has the probability of an unknown class.

    `table`, ``(n_rows, n_columns)``: the column ``judge:class`` is the probability that a judge gives a
    class; a column with any other name holds the classes that the judge of this name answers. `classes`,
    ``(n_classes,)``: sorted. `may_abstain`: whether cells may be empty.
    """
    names = list(getattr(table, "columns", ()))
    if not names or not all(isinstance(name, str) for name in names):
        got = f"{names!r}"[:80] if names else "none" if hasattr(table, "columns") else _kind(table)
        raise BadInputError("answers", "must be a table with a column for every judge, each with a name", got)
    if len(classes) > MOST_JUDGED_CLASSES:
        raise BadInputError(
            f"judges may tell at most {MOST_JUDGED_CLASSES} classes apart, got {len(classes)}."
        )
    by_text = {label_text(label): place for place, label in enumerate(classes.tolist())}
    found: dict[str, dict[int, str]] = {}
    for name in names:
        judge, _, label = name.rpartition(":")
        place = by_text.get(label) if judge else None
        if place is None:
            judge, place = name, -1
        columns = found.setdefault(judge, {})
        if place in columns or (columns and -1 in {place, *columns}):
            raise BadInputError(
                f"every judge must come once, got {judge!r} again in column {name!r}. Rename it, or leave it "
                "out."
            )
        columns[place] = name
    _refuse_other_classes(found, classes)
    judges = []
    for judge, columns in found.items():
        absent = [label for place, label in enumerate(classes.tolist()) if place not in columns]
        if -1 not in columns and absent:
            raise BadInputError(
                f"judge {judge!r} must have a probability for every class, got none for {all_of(absent)}. "
                f"Add the column {f'{judge}:{absent[0]}'!r}, or leave the judge out."
            )
        judges.append(Judge(judge, tuple(columns[place] for place in sorted(columns)), classes, may_abstain))
    return judges


def _refuse_other_classes(found: Mapping[str, Mapping[int, str]], classes: Labels) -> None:
    for name, columns in found.items():
        judge, _, label = name.rpartition(":")
        if judge in found and -1 in columns and -1 not in found[judge]:
            raise BadInputError(
                f"column {name!r} must be of one of the classes {any_of(classes)}, got {label!r}. "
                "Leave it out."
            )


def check_answers(judges: Sequence[Judge], table: Any) -> None:
    """Raise BadInputError if a judge gives one answer on every row, no answer, or an impossible answer."""
    for judge in judges:
        by_class = not _gives_probabilities(judge)
        answers = judge.class_codes(table)[:, None] if by_class else judge.probabilities(table)
        if _differ(answers[:FIRST_ROWS]) or _differ(answers):
            continue
        said = "no answer"
        if by_class and answers[0, 0] < len(judge.classes_):
            said = f"the answer {str(judge.classes_[answers[0, 0]])!r}"
        elif not by_class and not np.isnan(answers[0, 0]):
            said = f"the probabilities {all_of(f'{share:g}' for share in answers[0])}"
        raise BadInputError(
            f"judge {judge.name!r} must tell rows apart, got {said} in all {counted(len(answers), 'row')}. "
            "Leave the judge out."
        )


def _differ(answers: NDArray[Any]) -> bool:
    first = answers[:1]
    same = (answers == first) | (np.isnan(answers) & np.isnan(first))
    return not bool(same.all())


def _is_nan(price: Any) -> bool:
    return isinstance(price, float) and math.isnan(price)


def prices_of(names: Sequence[str], costs: Mapping[str, float] | None) -> NDArray[np.float64] | None:
    """Return the price of asking each judge, ``(n_judges,)``; None without prices.

    Raises BadInputError if a judge has no price, if a price is no number of at least 0, or if a price is
    named after no judge.
    """
    from shortlist.exact import as_fraction

    if costs is None:
        return None
    prices = dict(costs.items()) if hasattr(costs, "items") else {}
    if not hasattr(costs, "items") or len(prices) < len(costs):
        got = "a name twice" if hasattr(costs, "items") else _kind(costs)
        raise BadInputError("costs", "must map the name of every judge to its price", got)
    missing = [name for name in names if name not in prices]
    if missing:
        raise BadInputError(
            "costs",
            "must price every judge",
            f"none for {all_of(map(repr, missing), most=8)}",
            "Add a price for each.",
        )
    others = [name for name in prices if name not in names]
    if others:
        raise BadInputError(
            "costs",
            "must name judges of the table only",
            f"{all_of(map(repr, others), most=8)}, which is no column",
            did_you_mean(others[0], names) or " Leave the price out, or add the column.",
        )
    for name in names:
        price = as_fraction(prices[name])
        if price is None or price < 0:
            raise BadInputError(
                "costs",
                "must be numbers of at least 0",
                f"{'NaN' if _is_nan(prices[name]) else repr(str(prices[name]))} for {name!r}",
                "Mend that price.",
            )
    return np.array([float(prices[name]) for name in names])


def pass_costs(pool: Any) -> str:
    """Return the advice on how to pass prices, for a pool without prices; it differs for judges."""
    return (
        "Price the judges: pass `costs=PRICES` with their answers."
        if asks_elsewhere(pool)
        else "Pass `member_costs` too."
    )


def asks_elsewhere(pool: Any) -> bool:
    """Return whether a pool, or an object given as a pool, consists of judges alone."""
    return bool(columns_asked(getattr(pool, "classifiers", ())))


def abstain_somewhere(classifiers: Sequence[Any], X: Any) -> bool:
    """Return whether any of the classifiers is a judge who has not answered every row."""
    return any(isinstance(one, Judge) and one.abstains(X).any() for one in classifiers)


def silences(classifiers: Sequence[Any], X: Any) -> Mask:
    """Return the mask of the judges who have not answered a row, ``(n_rows, n_classifiers)``."""
    silent = np.zeros((len(X), len(classifiers)), dtype=bool)
    for place, one in enumerate(classifiers):
        if isinstance(one, Judge):
            silent[:, place] = one.abstains(X)
    return silent


def abstentions(classifiers: Sequence[Any], X: Any) -> NDArray[np.int64]:
    """Return the number of judges who have not answered each row, ``(n_rows,)``."""
    return np.asarray(silences(classifiers, X).sum(axis=1, dtype=np.int64))


def hear(judges: Sequence[Judge], X: Any) -> tuple[Any, NDArray[np.int8]]:
    """Return the judges' columns with unusable cells emptied, and the state of each judge's answer.

    Raises BadInputError if `X` is no table, has no column of any judge, or lacks an answer that a judge must
    give.

    `judges`: copies of a judge share one state. `X`: a judge whose columns are absent was not asked about any
    row, and a judge with :data:`~shortlist.guarantees.cells.NOT_ASKED` in the cells of a row was not asked
    about that row. In the returned columns, cells that were not asked yet and cells with a word that is no
    class are empty. The states are coded as in :mod:`shortlist.guarantees.cells`, ``(n_rows, n_judges)``.
    """
    columns = list(columns_asked(judges))
    there = [name for name in columns if name in getattr(X, "columns", ())]
    if not there:
        _column(X, judges[0], columns[0])  # which says so
    rows, unasked = without_unasked(X[there])
    rows = rows if len(there) == len(columns) else rows.reindex(columns=columns)
    states = np.empty((len(rows), len(judges)), dtype=np.int8)
    known: dict[int, NDArray[np.int8]] = {}
    emptied: dict[str, Any] = {}
    for place, judge in enumerate(judges):
        if id(judge) not in known:
            first = judge.columns[0]
            not_yet = np.full(len(rows), first not in there)
            if unasked is not None and first in there:
                not_yet |= unasked[:, there.index(first)]
            unknown = judge.no_class(rows)
            silent = judge.abstains(rows)
            known[id(judge)] = states_of(silent, not_yet, unknown)
            judge.refuse_abstentions(known[id(judge)] == SILENT)
            if unknown.any():
                emptied[first] = rows[first].mask(unknown)
        states[:, place] = known[id(judge)]
    return rows.assign(**emptied) if emptied else rows, states


def who_may_abstain(pool: Any) -> Any:
    """Return the pool with judges that may all abstain, since cells that were not asked yet are empty.

    Copies of one judge are still copies of one judge.
    """
    if all(judge.may_abstain for judge in pool.classifiers):
        return pool
    free = {id(judge): replace(judge, may_abstain=True) for judge in pool.classifiers}
    return replace(pool, classifiers=tuple(free[id(judge)] for judge in pool.classifiers))


def votes_may_be_missing(classifiers: Sequence[Any]) -> bool:
    """Return whether any of the classifiers is a judge who may leave rows unanswered."""
    return any(isinstance(one, Judge) and one.may_abstain for one in classifiers)


def columns_asked(classifiers: Sequence[Any]) -> tuple[str, ...]:
    """Return the names of the judges' columns, each once; empty unless all classifiers are judges."""
    judges = [one for one in classifiers if isinstance(one, Judge)]
    if len(judges) < len(classifiers):
        return ()
    return tuple(dict.fromkeys(column for judge in judges for column in judge.columns))


def _column(X: Any, judge: Judge, name: str) -> "pd.Series[Any]":
    if not hasattr(X, "columns"):
        raise BadInputError(
            "answers", "must be a DataFrame with a column for every judge", _kind(X), "Name the columns."
        )
    if name not in X.columns:
        raise BadInputError(
            f"the table must have the column {name!r} with the answers of judge {judge.name!r}, got "
            f"{all_of([str(one) for one in X.columns], most=8)}. Ask the judge, and leave a cell empty for "
            "no answer."
        )
    return X[name]


def _kind(given: Any) -> str:
    return f"a {type(given).__name__}"
