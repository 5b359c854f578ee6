"""Records, one for each call of a judge, from any form of log."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import all_of, counted, did_you_mean
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import label_of
from shortlist.panels.log_checks import RIGHT_ABOVE
from shortlist.tables.numbers import is_plain_number, misfit, told_numbers

if TYPE_CHECKING:
    import pandas as pd


KNOWN_COLUMNS = {
    "case": (
        "case", "task", "item", "question", "case_id", "id", "sample_id", "task_id", "item_id", "doc_id",
        "question_id", "ticket", "ticket_id", "prompt_id", "example_id", "instance_id", "problem_id", "hitid",
    ),
    "judge": (
        "judge", "worker", "annotator", "rater", "model", "provider", "model_name", "model_id", "worker_id",
        "annotator_id", "rater_id", "workerid",
    ),
    "answer": (
        "answer", "label", "prediction", "response", "vote", "verdict", "annotation", "reply", "output",
        "pred", "predicted", "predicted_label", "predicted_class", "predicted_answer", "y_pred",
        "model_answer", "model_output", "model_response", "extracted_answer", "generated_answer",
        "completion",
    ),
    "target": (
        "target", "truth", "gold", "expected", "gold_label", "ground_truth", "reference", "golden", "y_true",
        "gold_answer", "golden_label", "golden_answer", "gold_standard", "ground_truth_label",
        "ground_truth_answer", "groundtruth", "gt", "gt_label", "true_label", "label_true", "true_class",
        "true_answer", "truth_label", "target_label", "human_label", "correct_answer", "correct_label",
        "right_answer", "expected_answer", "expected_label", "expected_output", "reference_answer",
        "reference_label", "answer_key", "actual_label",
    ),
    "confidence": ("confidence",),
    "price": (
        "price", "cost", "price_usd", "cost_usd", "usd", "cost_in_usd", "total_cost", "response_cost",
        "totalcost", "calculated_total_cost", "calculatedtotalcost", "spend",
    ),
    "latency": ("latency", "latency_s", "seconds", "latency_ms", "ms", "latencyms"),
    "epoch": ("epoch", "repeat"),
    "input_tokens": (
        "input_tokens", "prompt_tokens", "tokens_in", "tokens_input", "tokens_prompt", "in_tokens",
        "input_token_count", "prompt_token_count", "n_input_tokens", "n_prompt_tokens", "num_input_tokens",
        "num_prompt_tokens", "inputtokens", "prompttokens", "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens", "llm.token_count.prompt",
        "usage.input_tokens", "usage.prompt_tokens", "usage.input", "usagedetails.input",
        "usage_details.input", "usage_input_tokens", "usage_prompt_tokens", "n_context_tokens_total",
        "token_usage.prompt", "token_usage.input",
    ),
    "output_tokens": (
        "output_tokens", "completion_tokens", "tokens_out", "tokens_output", "tokens_completion",
        "out_tokens", "output_token_count", "completion_token_count", "n_output_tokens",
        "n_completion_tokens", "num_output_tokens", "num_completion_tokens", "outputtokens",
        "completiontokens", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens",
        "llm.usage.completion_tokens", "llm.token_count.completion", "usage.output_tokens",
        "usage.completion_tokens", "usage.output", "usagedetails.output", "usage_details.output",
        "usage_output_tokens", "usage_completion_tokens", "candidates_token_count",
        "n_generated_tokens_total", "token_usage.completion", "token_usage.output",
    ),
    "score": ("score", "correct", "is_correct", "success", "passed"),
}  # fmt: skip
"""Usual names of columns by role, spelled as by :func:`spelled`."""

MAYBE_TRUTHS = ("label", "human", "answer", "class", "correct")
"""Names of columns that hold the truth, unless a column has a surer name, or the named column holds answers.
"""


def spelled(name: str) -> str:
    """Return the words of a name in small letters, joined by underscores.

    >>> spelled(" Ground Truth"), spelled("tokensIn"), spelled("HITId"), spelled("|")
    ('ground_truth', 'tokens_in', 'hitid', '|')
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.strip())
    return "_".join(re.findall(r"[^\W_]+", parted.casefold())) or name.strip()


def called(names: Iterable[str], known: Sequence[str], *, nested: bool = False) -> list[str]:
    """Return the columns with one of the known names, in the order of the known names.

    `nested`: whether fields of objects are found too, by the last part of the field's name; fields come after
    all other columns.

    >>> called(["Gold", "Truth ", "size"], KNOWN_COLUMNS["target"])
    ['Truth ', 'Gold']
    """
    there = list(names)
    places = {spelled(name): at for at, name in reversed([*enumerate(known)])}
    found = [(places[word], name) for name in there if (word := spelled(name)) in places]
    found.sort(key=lambda one: one[0])
    if nested:
        last = [(spelled(name.rpartition(".")[2]), name) for name in there if "." in name]
        inner = sorted((places[word], name) for word, name in last if word in places)
        found += [one for one in inner if one not in found]
    return [name for _, name in found]


@dataclass(frozen=True)
class LogColumns:
    """Names of the columns of a table, or of the fields of a tool's log; None for a column to be found.

    `case`: column of the case. `judge`: column of the judge in a long table. For inspect-ai, a setting of the
    evaluation or an argument of the task that distinguishes judges of one model. `answer`: column of the
    answer in a long table. In a tool's log, the scorer (inspect-ai), the filter (lm-evaluation-harness) or
    the field of the output (promptfoo) with the answer. `target`: column of the truth; in a tool's log a
    field of the case, of its metadata or of its variables. `confidence`, `price`, `latency`, `epoch`: columns
    of a long table. A latency whose name ends in ``ms`` is in milliseconds, any other in seconds.
    `input_tokens`, `output_tokens`: columns of a long table with numbers of tokens, for prices per token.
    `content`: column of the text that the judges saw: cases with equal entries are the same case. `features`:
    free columns of the case. `drop`: columns or judges to leave out. `score`: column of a long table that
    says whether each answer is right. `right_above`: score above which an answer is right. `repeats`: rule
    for several answers of one judge to a case, out of :data:`REPEATS`; None: they are an error. `fold`:
    differences between labels to ignore, out of :data:`shortlist.panels.log_checks.FOLDS`.
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
    fold: Sequence[str] = ()
    score: str | None = None
    right_above: float = RIGHT_ABOVE
    repeats: str | None = None


NUMBERS = (
    "confidence",
    "price",
    "latency",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "written_tokens",
    "score",
)
"""Columns of records that hold numbers; a missing number is NaN."""

COLUMNS = ("case", "epoch", "task", "judge", "answer", "truth", "content", "probabilities", "model", *NUMBERS)
"""Columns of records; further columns are features of the case."""


@dataclass(frozen=True, eq=False)
class Records:
    """Records of the calls of judges.

    `frame`: a row for each call, with the columns :data:`COLUMNS` and `features`. A missing value is None or
    NaN. `probabilities` are mappings from label to share, `model` is the name for prices per token, and
    `content` identifies the text that the judge saw. `features`: columns of the case. `source`: name of the
    file in messages. `numbered`: whether cases are named by the numbers of their rows, which mean nothing in
    another file. `columns`: columns of the file, if it is a table. `n_repeats`: number of answers that were
    merged into another answer of the same judge and case.
    """

    frame: "pd.DataFrame"
    features: tuple[str, ...] = ()
    source: str = ""
    numbered: bool = False
    columns: tuple[str, ...] = ()
    n_repeats: int = 0


def records_of(
    source: str,
    columns: Mapping[str, Any],
    features: "pd.DataFrame | None" = None,
    n_rows: int | None = None,
    *,
    repeats: str | None = None,
) -> Records:
    """Return records with the given columns, all others empty; `repeats`: as in :class:`LogColumns`.

    Raises BadFileError if a number is text or negative, or a judge answers a case twice.
    """
    import pandas as pd

    n_rows = len(columns["judge"]) if n_rows is None else n_rows
    given: dict[str, Any] = {}
    for name in COLUMNS:
        values = columns.get(name)
        if name == "score" and values is not None:
            given[name] = scores_of(source, values)
        elif name in NUMBERS:
            given[name] = np.full(n_rows, np.nan) if values is None else numbers_of(source, name, values)
        else:
            given[name] = pd.Series([None] * n_rows if values is None else values, dtype=object).to_numpy()
    frame = pd.DataFrame(given)
    for name in ("case", "epoch", "judge"):
        frame[name] = as_text(frame[name])
    refuse_nameless(source, frame)
    names: tuple[str, ...] = ()
    if features is not None and features.shape[1]:
        names = tuple(f"feature:{name}" for name in features.columns)
        frame[list(names)] = features.to_numpy(dtype=object)
    records = Records(frame, names, source)
    return _with_one_each(records, repeats)


def check_dropped(judges: set[str], columns: Sequence[str], names: Sequence[str]) -> None:
    """Raise BadInputError if a name to drop is neither judge nor column, or if no judge would be left."""
    wrong = [name for name in names if name not in judges and name not in columns]
    if wrong:
        known = list(dict.fromkeys([*sorted(judges), *columns]))
        advice = did_you_mean(wrong[0], known) or f"It has {all_of(map(repr, known), most=8)}."
        raise BadInputError("drop", "must name columns or judges of the log", repr(wrong[0]), advice)
    if judges <= set(names):
        raise BadInputError("drop", "must leave a judge", "all of them", "Drop fewer.")


def as_text(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return names as text, in the form in which labels are compared; None for a missing name.

    Raises TypeError if a name is a list or a mapping.
    """
    import pandas as pd

    codes, labels = label_codes(column)
    texts = [label or None for label in labels]
    return pd.Series(np.array([*texts, None], dtype=object)[codes], index=column.index, dtype=object)


def label_codes(column: "pd.Series[Any]") -> tuple[Any, list[str]]:
    """Return a code for each cell, -1 for a gap, and the label of each code, in the form for comparisons.

    Labels of several codes may be the same, or empty.
    """
    import pandas as pd

    if column.dtype.kind == "O":  # True and 1 would be one value
        column = column.map(lambda cell: str(cell) if isinstance(cell, bool | np.bool_) else cell)
    codes, uniques = pd.factorize(column)
    return codes, [label_of(value) for value in uniques.tolist()]


def refuse_nameless(source: str, frame: "pd.DataFrame") -> None:
    """Raise BadFileError if a record lacks the name of its case or of its judge."""
    for name in ("case", "judge"):
        if name in frame and frame[name].isna().any():
            row = int(np.flatnonzero(frame[name].isna())[0])
            raise BadFileError(
                source, f"must name the {name} of every record", f"none in record {row + 1:,}", "Fill it in."
            )


def numbers_of(source: str, name: str, values: Any) -> Any:
    """Return a column of numbers as floats; empty cells are NaN.

    Raises BadFileError if a cell holds no number, or infinity, or a negative number that is no confidence.
    """
    import pandas as pd

    column = pd.Series(values)
    if column.dtype.kind in "bO":  # a truth value is no number
        column = column.astype(object).map(lambda one: str(one) if isinstance(one, bool | np.bool_) else one)
    column = _without_signs(source, name, column)
    try:
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    except (OverflowError, TypeError):  # integers beyond every float, lists, mappings
        numbers = np.array([_number(value) for value in column.tolist()])
    wrong = np.isinf(numbers) | (np.isnan(numbers) & column.notna().to_numpy())
    if name != "confidence":
        wrong |= numbers < 0
    if wrong.any():
        cells = column.tolist()
        row = int(np.flatnonzero(wrong)[0])
        unlike = misfit([one for one in cells if isinstance(one, str)])
        if unlike is not None:
            row = cells.index(unlike[0])
        beside = ""
        if unlike is not None and not is_plain_number(unlike[1]):
            beside = f", where others are written like {_short(unlike[1])}"
        least = "" if name == "confidence" else " of at least 0"
        raise BadFileError(
            source,
            f"must have finite numbers{least} as {name.replace('_', ' ')}",
            f"{_short(column.iloc[row])} in record {row + 1:,}{beside}",
            "Write all in one way, or empty the cell."
            if beside
            else "Write the number alone, such as 0.01, or empty the cell."
            if isinstance(column.iloc[row], str)
            else "Mend or empty it.",
        )
    return numbers


MILLISECONDS = re.compile(r"(.*[^A-Za-z])?ms|.*Ms", re.DOTALL)
"""Pattern of names of columns in milliseconds."""


def seconds_of(source: str, name: str, values: Any) -> Any:
    """Return a column of latencies in seconds; the name of the column says if its unit is milliseconds."""
    numbers = numbers_of(source, "latency", values)
    return numbers / 1000 if MILLISECONDS.fullmatch(name) else numbers


def _without_signs(source: str, name: str, column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column with plain numbers for numbers written in text, and None for words that mean gaps.

    Raises BadFileError if a number has two readings.
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


SCORE_WORDS = dict.fromkeys(
    ("c", "correct", "right", "true", "yes", "pass", "passed", "success"), 1.0
) | dict.fromkeys(
    ("i", "n", "incorrect", "wrong", "false", "no", "fail", "failed", "failure"), 0.0
) | {"p": 0.5, "partial": 0.5}  # fmt: skip
"""Scores, 0 or 1, of words in small letters."""


def as_score(value: Any) -> float | None:
    """Return a score from 0 to 1; None for a value that is no score.

    >>> as_score("C"), as_score(True), as_score("0.5"), as_score(7), as_score({"a": 1})
    (1.0, 1.0, 0.5, None, None)
    """
    if isinstance(value, str):
        word = value.strip().casefold()
        value = SCORE_WORDS[word] if word in SCORE_WORDS else _number(word)
    if not isinstance(value, bool | int | float | np.number | np.bool_):
        return None
    score = _number(value)
    return score if 0 <= score <= 1 else None


def scores_of(source: str, values: Any) -> Any:
    """Return a column of scores as floats; empty cells are NaN.

    Raises BadFileError if a cell is no score.
    """
    import pandas as pd

    codes, uniques = pd.factorize(pd.Series(values))
    scores = [as_score(one) for one in uniques.tolist()]
    if None in scores:
        wrong = scores.index(None)
        raise BadFileError(
            source,
            "must have scores from 0 to 1, or right and wrong",
            f"{_short(uniques.tolist()[wrong])} in record {int(np.flatnonzero(codes == wrong)[0]) + 1:,}",
            "Name another column by `score='NAME'`, or mend the cell.",
        )
    return np.array([*scores, np.nan], dtype=np.float64)[codes]


REPEATS = ("first", "majority", "mean")
"""Rules for several answers of one judge to a case.

The first answer; the most frequent answer, or no answer for a tie; or the mean of numbers, if no scores
decide which answers are right. By the first rule, prices and other numbers are those of the first answer. By
the other rules they are means; with the most frequent answer, confidences and scores are averaged only over
the calls that gave it.
"""


def _with_one_each(records: Records, repeats: str | None) -> Records:
    """Return records with one answer of a judge to a case in each epoch.

    Raises BadFileError if a judge has several answers to a case and no rule is given.
    """
    frame = records.frame
    key = ["case", "epoch", "task", "judge"]
    twice = frame.duplicated(key, keep="first")
    if not twice.any():
        return records
    if repeats is not None:
        frame = frame.drop_duplicates(key).reset_index(drop=True)
        if repeats != "first":
            groups = records.frame.groupby(key, sort=False, dropna=False)
            frame[list(NUMBERS)] = groups[list(NUMBERS)].mean().to_numpy()
            one = _most_frequent if repeats == "majority" else _mean_answer
            frame["answer"] = [one(records.source, told.tolist()) for _, told in groups["answer"]]
            numbers, labels = groups.ngroup().to_numpy(), records.frame["answer"].map(label_of).to_numpy()
            is_taken = labels == frame["answer"].map(label_of).to_numpy()[numbers]
            if repeats == "majority":
                own = records.frame[["confidence", "score"]].where(np.column_stack([is_taken] * 2))
                frame[["confidence", "score"]] = own.groupby(numbers).mean().to_numpy()
            elif records.frame["score"].notna().any() and not is_taken.all():
                raise BadFileError(
                    records.source,
                    "must have no scores where the mean of different answers counts",
                    "scores of single answers, of which none is that of their mean",
                    "Pass `repeats='majority'`.",
                )
        return replace(records, frame=frame, n_repeats=int(twice.sum()))
    first = frame[twice].iloc[0]
    raise BadFileError(
        records.source,
        "must have one answer of each judge on each case",
        f"{counted(int(twice.sum()), 'more answer')}, first of judge {_short(first['judge'])} on case "
        f"{_short(first['case'])}",
        "Pass `repeats='first'`, `repeats='majority'` or `repeats='mean'`, or name the column that tells "
        "repeats apart by `epoch='NAME'`.",
    )


def _most_frequent(_source: str, answers: list[Any]) -> Any:
    """Return the most frequent answer; None for a tie."""
    labels = {label_of(answer): answer for answer in reversed(answers) if label_of(answer)}
    times = Counter(label_of(answer) for answer in answers if label_of(answer)).most_common(2)
    return labels[times[0][0]] if times and (len(times) == 1 or times[0][1] > times[1][1]) else None


def _mean_answer(source: str, answers: list[Any]) -> Any:
    """Return the mean of answers that are numbers.

    Raises BadFileError if an answer is no number.
    """
    numbers = [_number(answer) for answer in answers if label_of(answer)]
    if not all(map(math.isfinite, numbers)):
        raise BadFileError(
            source,
            "must hold numbers where repeated answers are averaged",
            "words",
            "Pass `repeats='majority'`.",
        )
    return math.fsum(numbers) / len(numbers) if numbers else None


def joined(parts: Sequence[Records], repeats: str | None = None) -> Records:
    """Join the records of several files; `repeats`: as in :class:`LogColumns`.

    If the files are of several tasks, the name of a case includes its task.
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
    every = Records(frame, features, sources, columns=names)
    every = every if repeats is None else _with_one_each(every, repeats)
    return replace(every, n_repeats=every.n_repeats + sum(part.n_repeats for part in parts))
