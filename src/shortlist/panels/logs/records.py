"""Records: one row for each call of a judge, whatever the log looked like."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import all_of, counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import label_of
from shortlist.tables.numbers import told_numbers

if TYPE_CHECKING:
    import pandas as pd


KNOWN_COLUMNS = {
    "case": (
        "case",
        "task",
        "item",
        "question",
        "case_id",
        "id",
        "sample_id",
        "task_id",
        "item_id",
        "doc_id",
    ),
    "judge": ("judge", "worker", "annotator", "rater", "model", "provider"),
    "answer": ("answer", "label", "prediction", "response", "vote", "verdict"),
    "target": ("target", "truth", "gold", "expected"),
    "confidence": ("confidence",),
    "price": ("price", "cost", "price_usd", "cost_usd", "usd"),
    "latency": ("latency", "latency_s", "seconds", "latency_ms", "ms", "latencyms"),
    "epoch": ("epoch", "repeat"),
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
}
"""Columns of a long table that are found without being named, in small letters."""


@dataclass(frozen=True)
class LogColumns:
    """What the columns of a table, or the fields of a tool's log, are called; None where they are found.

    `case`: names the case. `judge`: names the judge, in a long table. Of inspect-ai a setting of the
    evaluation or an argument of the task that tells judges of one model apart. `answer`: holds the answer, in
    a long table; the scorer (inspect-ai), the filter (lm-evaluation-harness), or a field of the output
    (promptfoo) that does. `target`: holds the truth; of a tool's log a field of the case, of its metadata or
    of its variables. `confidence`, `price`, `latency`, `epoch`: of a long table. A latency whose name ends in
    ``ms`` is in milliseconds, any other in seconds. `input_tokens`, `output_tokens`: of a long table: numbers
    of tokens, for prices per token. `content`: what the judges were shown: cases with equal entries are the
    same one. `features`: columns of the case that cost nothing. `drop`: columns or judges that are left out.
    `label_suffix`, `confidence_suffix`, `price_suffix`, `latency_suffix`: of a wide table with several
    columns for a judge: what follows the judge's name. `fold_case`: whether labels that differ only in
    capital letters are the same.
    """

    case: str | None = None
    judge: str | None = None
    answer: str | None = None
    target: str | None = None
    confidence: str | None = None
    price: str | None = None
    latency: str | None = None
    epoch: str | None = None
    input_tokens: str | None = None
    output_tokens: str | None = None
    content: str | None = None
    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    label_suffix: str = ".label"
    confidence_suffix: str = ".confidence"
    price_suffix: str = ".price"
    latency_suffix: str = ".latency"
    fold_case: bool = False


NUMBERS = (
    "confidence",
    "price",
    "latency",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "written_tokens",
)
"""Columns of records that hold numbers, NaN where not told."""

COLUMNS = ("case", "epoch", "task", "judge", "answer", "truth", "content", "probabilities", "model", *NUMBERS)
"""Columns of records; further ones are features of the case."""


@dataclass(frozen=True, eq=False)
class Records:
    """Calls of judges.

    `frame`: a row for each call, with the columns :data:`COLUMNS` and those in `features`. Each of the former
    is None or NaN where the log does not tell it. `probabilities` are mappings from label to share, `model`
    is what prices per token are found by, and `content` stands for what the judge was shown. `features`:
    columns that tell of the case. `source`: what messages call the file. `numbered`: whether cases are called
    by the numbers of their rows, which mean nothing in another file. `columns`: those of the file, if it is a
    table.
    """

    frame: "pd.DataFrame"
    features: tuple[str, ...] = ()
    source: str = ""
    numbered: bool = False
    columns: tuple[str, ...] = ()


def features_of(
    source: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str], where: str
) -> "pd.DataFrame":
    """Return the features of cases from what a log tells of each of them; lists and objects are left out.

    Raises BadInputError if no row has one of them; `where` says where they were looked for.
    """
    import pandas as pd

    plain = (str, int, float, bool)
    columns = {
        name: [row.get(name) if isinstance(row.get(name), plain) else None for row in rows] for name in names
    }
    for name, values in columns.items():
        if all(value is None for value in values):
            known = dict.fromkeys(
                key for row in rows for key, value in row.items() if isinstance(value, plain)
            )
            raise BadInputError(
                source, f"must tell the feature {name!r} in {where}", f"{all_of(map(repr, known), most=8)}"
            )
    return pd.DataFrame(columns, index=range(len(rows)))


def records_of(
    source: str, columns: Mapping[str, Any], features: "pd.DataFrame | None" = None, n_rows: int | None = None
) -> Records:
    """Return records with the columns that are given; the others are empty.

    Raises BadFileError if numbers are no numbers or negative, or a judge answers a case twice.
    """
    import pandas as pd

    n_rows = len(columns["judge"]) if n_rows is None else n_rows
    given: dict[str, Any] = {}
    for name in COLUMNS:
        values = columns.get(name)
        if name in NUMBERS:
            given[name] = np.full(n_rows, np.nan) if values is None else numbers_of(source, name, values)
        else:
            given[name] = pd.Series([None] * n_rows if values is None else values, dtype=object).to_numpy()
    frame = pd.DataFrame(given)
    for name in ("case", "epoch", "judge"):
        frame[name] = as_text(frame[name])
    _refuse_nameless(source, frame)
    names: tuple[str, ...] = ()
    if features is not None and features.shape[1]:
        names = tuple(f"feature:{name}" for name in features.columns)
        frame[list(names)] = features.to_numpy(dtype=object)
    records = Records(frame, names, source)
    _refuse_repeats(records)
    return records


def as_text(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return names as text, as labels are compared; None where there is none.

    Raises TypeError if one is a list or a mapping.
    """
    import pandas as pd

    codes, uniques = pd.factorize(column)
    texts = [label_of(value) or None for value in uniques.tolist()]
    return pd.Series(np.array([*texts, None], dtype=object)[codes], index=column.index, dtype=object)


def _refuse_nameless(source: str, frame: "pd.DataFrame") -> None:
    for name in ("case", "judge"):
        if frame[name].isna().any():
            row = int(np.flatnonzero(frame[name].isna())[0])
            raise BadFileError(
                source, f"must name the {name} of every record", f"none in record {row + 1:,}", "Fill it in."
            )


def numbers_of(source: str, name: str, values: Any) -> Any:
    """Return a column of numbers as floats; empty cells are NaN.

    Raises BadFileError if a cell holds something else, infinity or, unless it is a confidence, less than 0.
    """
    import pandas as pd

    column = pd.Series(values)
    if column.dtype.kind == "b":
        column = column.astype(object).map(str)
    column = _without_signs(source, name, column)
    try:
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    except (OverflowError, TypeError):  # integers beyond every float, lists, mappings
        numbers = np.array([_number(value) for value in column.tolist()])
    wrong = np.isinf(numbers) | (np.isnan(numbers) & column.notna().to_numpy())
    if name != "confidence":
        wrong |= numbers < 0
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        least = "" if name == "confidence" else " of at least 0"
        raise BadFileError(
            source,
            f"must have finite numbers{least} as {name.replace('_', ' ')}",
            f"{_short(column.iloc[row])} in record {row + 1:,}",
            "Write the number alone, such as 0.01, or empty the cell."
            if isinstance(column.iloc[row], str)
            else "Mend or empty it.",
        )
    return numbers


def _without_signs(source: str, name: str, column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column in which numbers that are written in text are plain, and words for gaps are none.

    Raises BadFileError if they may be read in two ways.
    """
    if column.dtype.kind not in "OTU":
        return column
    texts = [*dict.fromkeys(value for value in column.tolist() if isinstance(value, str))]
    found = told_numbers(source, {name: texts}, [], separator=" ") if texts else {}
    if not found:
        return column
    plain: dict[str, str | None] = {text: one or None for text, one in found[name].items()}
    return column.map(lambda value: plain[value] if isinstance(value, str) else value)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _short(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and abs(value) >= 10**20:
        return "an integer of more than 20 digits"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _refuse_repeats(records: Records) -> None:
    """Refuse two answers of one judge on one case, unless they are of different epochs."""
    frame = records.frame
    twice = frame.duplicated(["case", "epoch", "task", "judge"], keep="first")
    if not twice.any():
        return
    first = frame[twice].iloc[0]
    raise BadFileError(
        records.source,
        "must have one answer of each judge on each case",
        f"{counted(int(twice.sum()), 'more answer')}, first of judge {_short(first['judge'])} on case "
        f"{_short(first['case'])}",
        "Name the column that tells repeats apart as the epoch, or drop them.",
    )


def joined(parts: Sequence[Records]) -> Records:
    """Put the records of several files together.

    Where they are of several tasks, a case is named by its task too.
    """
    import pandas as pd

    features = tuple(dict.fromkeys(name for part in parts for name in part.features))
    filled = [part.frame.dropna(axis="columns", how="all") for part in parts]
    frame = pd.concat(filled, ignore_index=True).reindex(columns=[*COLUMNS, *features])
    for name in set(frame.columns) - set(NUMBERS):
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    frame = frame.astype(dict.fromkeys(NUMBERS, np.float64))
    if frame["task"].nunique() > 1:
        frame["case"] = frame["task"].astype(str) + "/" + frame["case"].astype(str)
    sources = ", ".join(dict.fromkeys(part.source for part in parts))
    names = tuple(dict.fromkeys(name for part in parts for name in part.columns))
    return Records(frame, features, sources, columns=names)
