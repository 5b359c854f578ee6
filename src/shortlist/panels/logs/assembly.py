"""Assembly of logs from tables and records of calls: a row for each case, a column for each judge.

A wide table is read by column, as codes of labels. A table of 100,000 cases and 100 judges has ten million
answers; an answer takes eight bytes as a code, and two hundred bytes as a record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.errors import BadInputError
from shortlist.panels.answer_log import AnswerLog, Coded, Measures, label_of, make_log, sorted_labels
from shortlist.panels.log_checks import CASE, PUNCTUATION, SILENT, UNASKED, checked_probabilities, folded
from shortlist.panels.logs.prices import prices_by_name, read_prices
from shortlist.panels.logs.records import (
    LogColumns,
    Records,
    check_dropped,
    label_codes,
    records_of,
    refuse_nameless,
)
from shortlist.panels.panel_options import FEWEST_CASES

if TYPE_CHECKING:
    import pandas as pd

USUAL_COLUMNS = LogColumns()


@dataclass(frozen=True, eq=False)
class Wide:
    """Wide table, with a row for each case and a column for each judge.

    `cases`, ``(n_rows,)``. `said`: answers of all judges, ``(n_rows, n_judges)``. `truth`, `content`: truth
    and content of each row, or None. `measures`: confidences, prices and latencies by name, ``(n_rows,
    n_judges)``. `numbered`, `columns`: as in :class:`shortlist.panels.logs.records.Records`.
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
        """Return a record for each row and judge, in the form that joins with other files.

        `shares`: for each judge the probabilities of all labels in each row, or None.
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
    """Return the cells of some columns as indices of labels; -1 for an empty cell."""
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
    """Return the log of a wide table, equal to :func:`assembled` of the table's records."""
    import pandas as pd

    told = list(notes)
    check_dropped(set(wide.judges), wide.columns, columns.drop)
    kept = [place for place, judge in enumerate(wide.judges) if judge not in columns.drop]
    judges = [wide.judges[place] for place in kept]
    measures = {name: numbers[:, kept] for name, numbers in wide.measures.items()}
    said = wide.said if len(kept) == len(wide.judges) else wide.said._replace(codes=wide.said.codes[:, kept])
    names = [label_of(case) or None for case in wide.cases.tolist()]
    refuse_nameless(wide.source, pd.DataFrame({"case": names}))
    rows = {"row": np.arange(len(names)), "case": wide.cases, "truth": wide.truth, "content": wide.content}
    cells = pd.DataFrame(rows)
    cells = cells.astype(object).where(cells.notna(), None)
    _note_repeats(len(cells), cells["case"], told)
    if costs is not None:
        measures["price"] = prices_by_name(judges, measures.get("price"), read_prices(costs, told), told)
    features = wide.features.reset_index(drop=True)
    return _log_of(
        cells, judges, said, measures, told, columns=columns, features=features, classes=classes, like=like
    )


def assembled(
    records: Records,
    notes: Sequence[str],
    columns: LogColumns = USUAL_COLUMNS,
    *,
    costs: str | Path | Mapping[str, float] | None = None,
    classes: Sequence[Any] | None = None,
    like: Sequence[str] | None = None,
) -> AnswerLog:
    """Return a log of records, with prices by `costs`, or otherwise the prices in the records.

    A call without a price, or one that was not made, gets the mean price of its judge's other calls. If
    several files have records of the same case and judge, the records are repeats: each has a row of its own,
    in the group of the case.

    Raises BadInputError if records of a case have different truths or contents, or :func:`make_log` refuses
    the answers.
    """
    told = list(notes)
    frame = _numbered(records.frame, told)
    if records.n_repeats:
        n = f"{records.n_repeats:,}"
        told.append(f"Repeated answers of a judge to a case ({n}) count by {columns.repeats}.")
    why = _why_scores_alone(frame, knows_classes=bool(classes or like))
    if why:
        cascades = ", cascades by their confidence" if frame["confidence"].notna().any() else ""
        told.append(
            f"{why}, so judges cannot vote or agree: single judges are searched{cascades}, "
            "and by columns of the case a router between them (`router`)."
        )
        own = (frame["judge"] + "'s answer").where(frame["score"].notna(), None)
        frame, classes = frame.assign(answer=own, truth=None), ()
    judges = frame.drop_duplicates("column").sort_values("column")["judge"].tolist()
    shape, place = (int(frame["row"].max()) + 1, len(judges)), (frame["row"], frame["column"])
    answers = coded(frame, ["answer"])
    said = Coded(np.full(shape, UNASKED), answers.labels)
    said.codes[place] = answers.codes[:, 0]
    measures = {}
    for name in ("confidence", "latency", "price", "score"):
        if frame[name].notna().any():
            measures[name] = np.full(shape, np.nan)
            measures[name][place] = frame[name].to_numpy(dtype=np.float64)
    if costs is not None:
        measures["price"] = prices_by_name(judges, measures.get("price"), read_prices(costs, told), told)
    features = frame.drop_duplicates("row").sort_values("row")[list(records.features)].infer_objects()
    features.columns = [name.removeprefix("feature:") for name in records.features]
    log = _log_of(
        frame, judges, said, measures, told, columns=columns, features=features, classes=classes, like=like
    )
    return _with_probabilities(log, frame, columns.fold)


def _log_of(
    cells: "pd.DataFrame",
    judges: Sequence[str],
    said: Coded,
    measures: Mapping[str, NDArray[np.float64]],
    told: list[str],
    *,
    columns: LogColumns,
    features: "pd.DataFrame",
    classes: Sequence[Any] | None,
    like: Sequence[str] | None,
) -> AnswerLog:
    """Return a log with normalised labels; `cells` gives the case, the truth and the content of each row."""
    ways, (codes, labels) = columns.fold, said
    if ways:
        places: dict[str, int] = {}
        moved = [places.setdefault(folded(label, ways), len(places)) for label in labels]
        codes, labels = np.array([*moved, UNASKED, SILENT], dtype=np.int64)[codes], list(places)
        classes = None if classes is None else [folded(label_of(label), ways) for label in classes]
    truth = _one_of_each_case(cells, "truth", "truth", ways)
    _one_of_each_case(cells, "content", "input")
    if like is not None and (not like or {*truth} <= {None, *like}):
        classes = like
    prices = measures.get("price")
    if prices is not None and prices.ndim == 2:
        prices = _filled_prices(prices, judges, codes, told)
    firsts = cells.drop_duplicates("row").sort_values("row")
    log = make_log(
        judges, firsts["case"].to_numpy(dtype=str), Coded(codes, labels), truth,
        measures=Measures(
            confidence=measures.get("confidence"), latency=measures.get("latency"), prices=prices,
            scores=measures.get("score"), right_above=columns.right_above,
        ),
        features=features, groups=_groups_of(firsts), classes=classes, notes=told,
    )  # fmt: skip
    return replace(log, folds_case=CASE in ways, folds_punctuation=PUNCTUATION in ways)


def _why_scores_alone(frame: "pd.DataFrame", *, knows_classes: bool) -> str:
    """Return the reason if only scores decide which answers are right.

    Empty if the truth decides, or if there is no score.
    """
    if not frame["score"].notna().any():
        return ""
    if frame["answer"].isna().all():
        return "The log has scores and no answers that can be compared"
    if knows_classes or frame["case"].nunique() < FEWEST_CASES:
        return ""
    truths = {label_of(one) for one in frame["truth"].unique().tolist()}
    if len(truths) == 1 and "" not in truths:
        return f"The truth is {truths.pop()!r} in every case, and answers are right by their scores"
    return ""


def _numbered(frame: "pd.DataFrame", notes: list[str]) -> "pd.DataFrame":
    """Add the row and column number of each record, in the order in which cases and judges first appear."""
    import pandas as pd

    keys = frame[["case", "epoch", "judge"]].fillna({"epoch": ""})
    keys["again"] = keys.groupby(["case", "epoch", "judge"], sort=False).cumcount()
    row = keys.groupby(["case", "epoch", "again"], sort=False).ngroup()
    column, _ = pd.factorize(frame["judge"])
    _note_repeats(int(row.max()) + 1, frame["case"], notes)
    twice = frame["judge"][keys["again"] > 0].unique().tolist()
    if twice:
        notes.append(
            f"Several logs hold answers of {all_of(map(repr, twice), most=8)} on the same cases, which count "
            "as repeats."
        )
    return frame.assign(row=row, column=column)


def _note_repeats(n_rows: int, cases: "pd.Series[Any]", notes: list[str]) -> None:
    if repeated := n_rows - cases.nunique():
        rows = counted(repeated, "row")
        notes.append(f"{rows} of the log repeat a case, as another epoch or run; no split separates them.")


def _one_of_each_case(
    cells: "pd.DataFrame", name: str, what: str, ways: Sequence[str] = ()
) -> list[str | None]:
    """Return the value of a column for each row's case, as normalised text; None for a case without a value.

    Raises BadInputError if a case has several values.
    """
    import pandas as pd

    known = cells[cells[name].notna()]
    codes, labels = label_codes(known[name])
    texts = pd.Series(np.array([folded(one, ways) for one in labels] or [""], dtype=object)[codes])
    cases = known["case"].reset_index(drop=True)
    firsts = texts.groupby(cases).first()
    differs = (texts != cases.map(firsts)).to_numpy()
    if differs.any():
        other = known[differs].iloc[0]
        raise BadInputError(
            f"case {other['case']!r}",
            f"must have one {what} in all records",
            f"{firsts[other['case']][:40]!r} and {str(other[name])[:40]!r}",
            "Read logs of one set of cases together, or name the cases apart.",
        )
    of_case = firsts.to_dict()
    rows = cells.drop_duplicates("row").sort_values("row")["case"]
    return [of_case.get(case) or None for case in rows.tolist()]


def _groups_of(firsts: "pd.DataFrame") -> NDArray[np.int64]:
    """Return the group of each row, ``(n_rows,)``.

    Rows are in one group if they have the same case, or cases with the same content.
    """
    import pandas as pd
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    cases, _ = pd.factorize(firsts["case"])
    contents, different = pd.factorize(firsts["content"])
    n_cases, known = int(cases.max()) + 1, contents >= 0
    size = n_cases + len(different)
    links = coo_array((np.ones(known.sum()), (cases[known], n_cases + contents[known])), shape=(size, size))
    _, found = connected_components(links, directed=False)
    return np.asarray(found[cases], dtype=np.int64)


def _filled_prices(
    prices: NDArray[np.float64], judges: Sequence[str], codes: NDArray[np.int64], notes: list[str]
) -> NDArray[np.float64]:
    unknown = np.isnan(prices)
    without = [judge for judge, column in zip(judges, unknown.T, strict=True) if column.all()]
    if without:
        raise BadInputError(
            "prices",
            "must be known for every judge, or for none",
            f"none for {without[0]!r}" + (f" and {len(without) - 1} more" if len(without) > 1 else ""),
            "Give prices in a table of the columns name and cost (`costs`), or leave it out (`drop`).",
        )
    means = np.nanmean(prices, axis=0)
    n_filled = int((unknown & (codes != UNASKED)).sum())
    if n_filled:
        notes.append(f"{counted(n_filled, 'call')} without a price got the mean price of their judge.")
    return np.where(unknown, means, prices)


def _with_probabilities(log: AnswerLog, frame: "pd.DataFrame", ways: Sequence[str]) -> AnswerLog:
    known = frame[frame["probabilities"].notna()]
    if known.empty:
        return log
    shares = np.full((*log.answers.shape, len(log.classes)), np.nan)
    place, others, n_left_out = {label: number for number, label in enumerate(log.classes)}, set[str](), 0
    for row, column, given in zip(known["row"], known["column"], known["probabilities"], strict=True):
        told = {folded(label_of(label), ways): share for label, share in given.items()}
        others |= set(told) - set(place)
        if set(told) <= set(place):
            shares[row, column] = 0.0
            shares[row, column, [place[label] for label in told]] = list(told.values())
        else:
            n_left_out += 1
    notes = log.notes
    if n_left_out:
        calls, word = counted(n_left_out, "call"), sorted_labels(sorted(others))[0][:40]
        notes += (f"Probabilities of {calls} are left out, as some are of no class, such as {word!r}.",)
    return replace(log, probabilities=checked_probabilities(shares, shares.shape), notes=notes)
