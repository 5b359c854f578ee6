"""From records of calls to a log of answers: one row for each case and repeat, one column for each judge."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import NOT_ASKED
from shortlist.panels.answer_log import (
    AnswerLog,
    Measures,
    label_of,
    make_log,
    sorted_labels,
)
from shortlist.panels.log_checks import checked_probabilities
from shortlist.panels.logs.records import LogColumns, Records, label_codes
from shortlist.panels.panel_options import FEWEST_CASES
from shortlist.panels.spelling import CASE, PUNCTUATION, folded

if TYPE_CHECKING:
    import pandas as pd


USUAL_COLUMNS = LogColumns()


def assembled(
    records: Records,
    notes: Sequence[str],
    *,
    classes: Sequence[Any] | None = None,
    like: Sequence[str] | None = None,
    columns: LogColumns = USUAL_COLUMNS,
) -> AnswerLog:
    """Make a log of records whose prices are known, or NaN where they are not.

    A call without a price gets the mean price of its judge's other calls, and so does a call that was not
    made. Records of the same case and judge, from several files, are repeats: rows of their own, and one
    group with the case.

    Raises BadInputError if records of a case have different truths or contents, or :func:`make_log` refuses
    what they say.
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
    ways = columns.fold
    if ways:
        shares = [_folded_keys(told, ways) for told in frame["probabilities"].tolist()]
        frame = frame.assign(
            answer=_folded(frame["answer"], ways), truth=_folded(frame["truth"], ways), probabilities=shares
        )
        classes = None if classes is None else [folded(label_of(label), ways) for label in classes]
    firsts = frame.drop_duplicates("row").sort_values("row")
    judges = frame.drop_duplicates("column").sort_values("column")["judge"].tolist()
    shape = (len(firsts), len(judges))
    said = np.full(shape, NOT_ASKED, dtype=object)
    said[frame["row"], frame["column"]] = frame["answer"].where(frame["answer"].notna(), None)
    truth = one_of_each_case(frame, "truth", "truth")
    one_of_each_case(frame, "content", "input")
    if like is not None and (not like or {label_of(one) for one in truth} <= {"", *like}):
        classes = like
    features = firsts[list(records.features)].infer_objects()
    features.columns = [name.removeprefix("feature:") for name in records.features]
    log = make_log(
        judges, firsts["case"].to_numpy(dtype=str), said, truth,
        measures=Measures(
            confidence=_cells(frame, "confidence", shape), latency=_cells(frame, "latency", shape),
            prices=filled_prices(_cells(frame, "price", shape), judges, said != NOT_ASKED, told),
            scores=_cells(frame, "score", shape), right_above=columns.right_above,
        ),
        features=features, groups=groups_of(firsts), classes=classes, notes=told,
    )  # fmt: skip
    log = _with_probabilities(log, frame)
    return replace(log, folds_case=CASE in ways, folds_punctuation=PUNCTUATION in ways)


def _why_scores_alone(frame: "pd.DataFrame", *, knows_classes: bool) -> str:
    """Say why scores alone tell which answers are right; empty where the truth does, or there are none."""
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
    """Add the number of each record's row and column, in the order in which cases and judges first appear."""
    import pandas as pd

    keys = frame[["case", "epoch", "judge"]].fillna({"epoch": ""})
    keys["again"] = keys.groupby(["case", "epoch", "judge"], sort=False).cumcount()
    row = keys.groupby(["case", "epoch", "again"], sort=False).ngroup()
    column, _ = pd.factorize(frame["judge"])
    repeated = int(row.max()) + 1 - frame["case"].nunique()
    notes += repeated_note(repeated)
    twice = frame["judge"][keys["again"] > 0].unique().tolist()
    if twice:
        notes.append(
            f"Several logs hold answers of {all_of(map(repr, twice), most=8)} on the same cases, which count "
            "as repeats."
        )
    return frame.assign(row=row, column=column)


def repeated_note(n_rows: int) -> list[str]:
    """Return a sentence on rows that repeat a case, where there are any."""
    told = f"{counted(n_rows, 'row')} of the log repeat a case, as another epoch or run; no split parts them."
    return [told] if n_rows else []


def _folded(column: "pd.Series[Any]", ways: Sequence[str]) -> "pd.Series[Any]":
    import pandas as pd

    codes, found = label_codes(column)
    labels = [folded(label, ways) or None for label in found]
    return pd.Series(np.array([*labels, None], dtype=object)[codes], index=column.index, dtype=object)


def _folded_keys(told: Any, ways: Sequence[str]) -> Any:
    return (
        {folded(label_of(label), ways): share for label, share in told.items()} if told is not None else None
    )


def _cells(frame: "pd.DataFrame", name: str, shape: tuple[int, int]) -> NDArray[np.float64] | None:
    """Return a number of each case and judge; None where no record has it."""
    if frame[name].isna().all():
        return None
    cells = np.full(shape, np.nan)
    cells[frame["row"], frame["column"]] = frame[name].to_numpy(dtype=np.float64)
    return cells


def one_of_each_case(frame: "pd.DataFrame", name: str, what: str) -> list[Any]:
    """Return what the records say of each row's case, None where none does; they must agree.

    Raises BadInputError if they do not.
    """
    known = frame[frame[name].notna()]
    texts = _compared(known[name])
    firsts = texts.groupby(known["case"]).first()
    differs = texts.to_numpy() != known["case"].map(firsts).to_numpy()
    if differs.any():
        other = known[differs].iloc[0]
        raise BadInputError(
            f"case {other['case']!r}",
            f"must have one {what} in all records",
            f"{str(firsts[other['case']])[:40]!r} and {str(other[name])[:40]!r}",
            "Read logs of one set of cases together, or name the cases apart.",
        )
    of_case = firsts.to_dict()
    cases = frame.drop_duplicates("row").sort_values("row")["case"]
    return [of_case.get(case) for case in cases.tolist()]


def _compared(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return labels as text, once for each different one; no label is left out."""
    import pandas as pd

    codes, labels = label_codes(column)
    texts = np.array(labels, dtype=object)
    return pd.Series(texts[codes] if len(texts) else [], index=column.index, dtype=object)


def groups_of(firsts: "pd.DataFrame") -> NDArray[np.int64]:
    """Return the group of each row: those of one case, and of cases with the same content, are together."""
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


def filled_prices(
    prices: NDArray[np.float64] | None, judges: Sequence[str], is_asked: Any, notes: list[str]
) -> NDArray[np.float64] | None:
    """Fill gaps with the judge's mean; a judge without any price is an error, and calls filled are noted."""
    if prices is None:
        return None
    unknown = np.isnan(prices)
    without = [judge for judge, column in zip(judges, unknown.T, strict=True) if column.all()]
    if without:
        raise BadInputError(
            "prices",
            "must be known for every judge, or for none",
            f"none for {without[0]!r}" + (f" and {len(without) - 1} more" if len(without) > 1 else ""),
            "Give a table of prices with the columns name and cost, or leave the judge out.",
        )
    means = np.nanmean(prices, axis=0)
    n_filled = int((unknown & is_asked).sum())
    if n_filled:
        notes.append(f"{counted(n_filled, 'call')} without a price got the mean price of their judge.")
    return np.where(unknown, means, prices)


def _with_probabilities(log: AnswerLog, frame: "pd.DataFrame") -> AnswerLog:
    """Return the log with the probabilities that its records have, if those are of its classes."""
    from dataclasses import replace

    known = frame[frame["probabilities"].notna()]
    if known.empty:
        return log
    shares = np.full((*log.answers.shape, len(log.classes)), np.nan)
    place = {label: number for number, label in enumerate(log.classes)}
    n_left_out = 0
    for row, column, told in zip(known["row"], known["column"], known["probabilities"], strict=True):
        if set(told) <= set(place):
            shares[row, column] = 0.0
            shares[row, column, [place[label] for label in told]] = list(told.values())
        else:
            n_left_out += 1
    notes = log.notes
    if n_left_out:
        words = sorted_labels(
            sorted({label for told in known["probabilities"] for label in told} - set(place))
        )
        calls, word = counted(n_left_out, "call"), words[0][:40]
        notes += (f"Probabilities of {calls} are left out, as some are of no class, such as {word!r}.",)
    return replace(log, probabilities=checked_probabilities(shares, shares.shape), notes=notes)
