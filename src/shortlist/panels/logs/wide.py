"""Wide tables by column: what judges said as numbers of labels, without a record for each answer.

A table of 100,000 cases and 100 judges has ten million answers; each takes eight bytes here, and two hundred
as a record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.panels.answer_log import AnswerLog, Coded, Measures, label_of, make_log
from shortlist.panels.logs.assembly import filled_prices, groups_of, one_of_each_case, repeated_note
from shortlist.panels.logs.prices import prices_by_name, read_prices
from shortlist.panels.logs.records import (
    LogColumns,
    Records,
    check_dropped,
    label_codes,
    records_of,
    refuse_nameless,
)
from shortlist.panels.spelling import CASE, PUNCTUATION, folded

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Wide:
    """A table with a row for each case and a column for each judge.

    `cases`, ``(n_rows,)``. `said`: of all judges, ``(n_rows, n_judges)``. `truth`, `content`: of the cases,
    or None. `measures`: confidences, prices and latencies by name, ``(n_rows, n_judges)``. `numbered`,
    `columns`: as of :class:`shortlist.panels.logs.records.Records`.
    """

    source: str
    cases: NDArray[Any]
    judges: tuple[str, ...]
    said: Coded
    truth: NDArray[Any] | None
    content: NDArray[Any] | None
    measures: Mapping[str, NDArray[np.float64]]
    features: "pd.DataFrame"
    numbered: bool
    columns: tuple[str, ...]

    def records(self, shares: Sequence[NDArray[Any] | None] = ()) -> Records:
        """Return a record for each row and judge, to be put together with other files.

        `shares`: of each judge the probabilities of all labels in each row, or None.
        """
        import pandas as pd

        n_judges = len(self.judges)
        again = pd.Series(self.cases).groupby(self.cases).cumcount().to_numpy()
        labels = np.array([*self.said.labels, None], dtype=object)
        given: dict[str, Any] = {
            "judge": np.repeat(np.array(self.judges, dtype=object), len(self.cases)),
            "case": np.tile(self.cases, n_judges),
            "epoch": np.tile(again, n_judges) if again.any() else None,
            "answer": labels[self.said.codes.T.ravel()],
            "truth": None if self.truth is None else np.tile(self.truth, n_judges),
            "content": None if self.content is None else np.tile(self.content, n_judges),
        }
        given |= {name: numbers.T.ravel() for name, numbers in self.measures.items()}
        if shares:
            none = np.full(len(self.cases), None, dtype=object)
            given["probabilities"] = np.concatenate([none if one is None else one for one in shares])
        features = pd.concat([self.features] * n_judges, ignore_index=True)
        made = records_of(self.source, given, features, len(given["judge"]))
        return replace(made, numbered=self.numbered, columns=self.columns)


def coded(table: "pd.DataFrame", names: Sequence[str]) -> Coded:
    """Return the cells of some columns as numbers of labels; -1 where a cell is empty."""
    places: dict[str, int] = {}
    codes = np.empty((len(table), len(names)), dtype=np.int64)
    for column, name in enumerate(names):
        own, labels = label_codes(table[name])
        of_own = [places.setdefault(label, len(places)) if label else -1 for label in labels]
        codes[:, column] = np.array([*of_own, -1], dtype=np.int64)[own]
    return Coded(codes, list(places))


def wide_log(
    wide: Wide,
    notes: Sequence[str],
    columns: LogColumns,
    *,
    costs: str | Path | Mapping[str, float] | None = None,
    classes: Sequence[Any] | None = None,
    like: Sequence[str] | None = None,
) -> AnswerLog:
    """Make a log of a table, as :func:`shortlist.panels.logs.assembly.assembled` does of its records."""
    import pandas as pd

    told = list(notes)
    check_dropped(set(wide.judges), wide.columns, columns.drop)
    kept = [place for place, judge in enumerate(wide.judges) if judge not in columns.drop]
    judges = [wide.judges[place] for place in kept]
    measures = {name: numbers[:, kept] for name, numbers in wide.measures.items()}
    codes, labels = (
        wide.said.codes[:, kept] if len(kept) < len(wide.judges) else wide.said.codes,
        wide.said.labels,
    )
    prices = measures.get("price")
    if costs is not None:
        prices = prices_by_name(judges, prices, read_prices(costs, told), told)
    refuse_nameless(
        wide.source, pd.DataFrame({"case": [label_of(case) or None for case in wide.cases.tolist()]})
    )
    firsts = pd.DataFrame(
        {"row": np.arange(len(wide.cases)), "case": wide.cases, "truth": wide.truth, "content": wide.content}
    )
    firsts = firsts.astype(object).where(firsts.notna(), None)
    told += repeated_note(len(firsts) - firsts["case"].nunique())
    if columns.fold:
        places: dict[str, int] = {}
        moved = [places.setdefault(label_of(folded(label, columns.fold)), len(places)) for label in labels]
        codes, labels = np.array([*moved, -1], dtype=np.int64)[codes], list(places)
        firsts["truth"] = [folded(label_of(one), columns.fold) or None for one in firsts["truth"].tolist()]
        classes = None if classes is None else [folded(label_of(label), columns.fold) for label in classes]
    truth = one_of_each_case(firsts, "truth", "truth")
    one_of_each_case(firsts, "content", "input")
    if like is not None and (not like or {label_of(one) for one in truth} <= {"", *like}):
        classes = like
    if prices is not None and prices.ndim == 2:
        prices = filled_prices(prices, judges, np.True_, told)
    log = make_log(
        judges, firsts["case"].to_numpy(dtype=str), Coded(codes, labels), truth,
        measures=Measures(
            confidence=measures.get("confidence"), latency=measures.get("latency"), prices=prices
        ),
        features=wide.features.reset_index(drop=True), groups=groups_of(firsts), classes=classes, notes=told,
    )  # fmt: skip
    return replace(log, folds_case=CASE in columns.fold, folds_punctuation=PUNCTUATION in columns.fold)
