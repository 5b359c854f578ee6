"""Columns beside the answers of a wide table's judges: prices, confidences, and scores of right and wrong.

Columns of scores without answers are distinguished from answers by words, names and prices. Where these leave
both readings open, reading ends with an error.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist._words import all_of
from shortlist.errors import BadFileError
from shortlist.panels.logs.long_roles import labels_in, words_of
from shortlist.panels.logs.records import as_score

if TYPE_CHECKING:
    import pandas as pd

PARTS = {
    "confidence": ("confidence", "conf"),
    "price": ("price", "cost", "total_cost", "usd", "cost_usd", "price_usd"),
    "latency": ("latency", "latency_s", "latency_ms", "seconds", "ms"),
    "score": ("score", "correct", "is_correct"),
}
"""Suffixes, by part, of a judge's name in the columns beside its answers."""

ANSWER_PARTS = ("label", "answer", "prediction", "pred", "response", "output")
"""Suffixes of a judge's name in the column of its answers."""

MARKS = ".|_"
"""Signs between the name of a judge and the name of a part."""

RIGHT_WORDS = frozenset({"True", "False", "correct", "incorrect", "right", "wrong"})
"""Labels that say whether an answer is right, and are rarely answers themselves."""

MODEL_WORDS = frozenset(
    [
        "alpaca",
        "bert",
        "claude",
        "command",
        "dbrx",
        "deepseek",
        "dolly",
        "falcon",
        "flan",
        "gemini",
        "gemma",
        "glm",
        "gpt",
        "granite",
        "grok",
        "haiku",
        "kimi",
        "koala",
        "llama",
        "mistral",
        "mixtral",
        "nemotron",
        "nova",
        "olmo",
        "opus",
        "palm",
        "phi",
        "qwen",
        "solar",
        "sonnet",
        "vicuna",
        "wizardlm",
        "yi",
        "zephyr",
    ]
)
TRUTH_WORDS = frozenset(
    [
        "truth",
        "true",
        "gold",
        "label",
        "labels",
        "human",
        "target",
        "class",
        "expected",
        "actual",
        "annotation",
        "annotated",
        "reference",
        "answer",
    ]
)
"""Words in names of models, and in names of truths, for tables with true and false alone."""

LIKE_RIGHT = 0.9
"""Least share of answers that truth and score both call right, or both call wrong, for a column with words of
the truth to hold scores.
"""

FEWEST_BEYOND = 5
"""Least number of cases with a truth that no judge gives, for columns to be scores of right and wrong."""


class TableHints(NamedTuple):
    """Hints on reading tables, and facts on the judges from elsewhere.

    `form`: required form of the table; None: it is found. `truth_elsewhere`: whether the truth comes from
    another file, so that no column has to hold it. `priced`: judges with a price by name. `file`: name of the
    file, which is the judge's name in a table of one judge.
    """

    form: str | None = None
    truth_elsewhere: bool = False
    priced: Collection[str] = ()
    file: str = ""


USUAL_HINTS = TableHints()


def parts_of(
    source: str,
    table: "pd.DataFrame",
    names: Sequence[str],
    labels: Mapping[str, str],
    target: str | None,
    *,
    marks: str = MARKS,
) -> dict[str, dict[str, str]]:
    """Return the columns of confidences, prices, latencies and scores of judges, by part and judge."""
    found: dict[str, dict[str, str]] = {}
    for judge, column in labels.items():
        begins = [judge, *stems(judge, ANSWER_PARTS)]
        for part, words in PARTS.items():
            wanted = [f"{stem}{mark}{word}" for stem in begins for word in words for mark in marks]
            there = [name for name in wanted if name in names and name not in labels.values()]
            for name in there:
                is_numeric = table[name].dtype.kind in "iuf" or name == f"{judge}.{part}"
                if is_score_of(source, table, name, column, target) if part == "score" else is_numeric:
                    found.setdefault(part, {})[judge] = name
                    break
    return found


def is_score_of(source: str, table: "pd.DataFrame", name: str, answer: str, target: str | None) -> bool:
    """Return whether a column has the scores of another column's answers.

    Raises BadFileError if the column has words of the answers, and calls other answers right than the truth
    does.
    """
    scores = {as_score(one) for one in table[name].dropna().unique().tolist()}
    if not scores <= {0.0, 1.0}:
        return False
    words = words_of(table[name])
    if not words & words_of(table[answer]):
        return True
    if target is not None:
        rows = zip(labels_in(table, answer), labels_in(table, target), labels_in(table, name), strict=True)
        told = [
            (said == true) == bool(as_score(right)) for said, true, right in rows if said and true and right
        ]
        if told and sum(told) >= LIKE_RIGHT * len(told):
            return True
    raise BadFileError(
        source,
        f"must tell what {name!r} holds",
        f"a column that may say whether {answer!r} is right, or may be answers",
        f"Leave it out by `drop={name!r}`, or pass `form='wide'` if it is a judge.",
    )


def stems(name: str, words: Sequence[str]) -> list[str]:
    """Return the part of a name before a mark and a suffix, for each suffix of `words` that fits."""
    ends = [f"{mark}{word}" for word in words for mark in MARKS]
    return [name.removesuffix(end) for end in ends if name.endswith(end) and name != end]


def scores_of(
    source: str, table: "pd.DataFrame", names: Sequence[str], target: str | None, hints: TableHints
) -> dict[str, str]:
    """Return the column of scores of each judge; empty if columns hold answers.

    Raises BadFileError if both readings fit.
    """
    found = {next(iter(stems(name, PARTS["score"])), name): name for name in names if is_right(table[name])}
    if hints.form == "scores":
        return found
    if not found or hints.form is not None or hints.truth_elsewhere:
        return {}
    others = [name for name in names if name not in found.values()]
    if target is not None:
        return _scores_beside_truth(source, table, found, others, target)
    priced = {*hints.priced, *prices_of(table, [*map(str, table.columns)], found)}
    is_sure = {*found} <= priced or all(name != judge for judge, name in found.items())
    words = set[str]().union(*(words_of(table[name]) for name in found.values()))
    are_told = words <= RIGHT_WORDS and all(_is_model(name) for name in found)
    texts = [name for name in others if not any(name.startswith(f"{judge}|") for judge in found)]
    of_texts = [words_of(table[name]) for name in texts if table[name].dtype.kind not in "iuf"]
    are_apart = not any(one & other for one, other in combinations(of_texts, 2))
    are_apart &= not any(_is_mostly(table, name, words) for name in texts)
    return found if len(found) > 1 and are_apart and (is_sure or are_told) else {}


def _is_model(name: str) -> bool:
    """Return whether a column is named like a model, perhaps with its provider, and not like a truth.

    >>> [_is_model(name) for name in ("gpt-4o", "openai/o1", "is_spam", "gpt_label")]
    [True, True, False, False]
    """
    words = {*re.findall(r"[a-z]+", name.casefold())}
    return not TRUTH_WORDS & words and ("/" in name or bool(MODEL_WORDS & words))


def _scores_beside_truth(
    source: str, table: "pd.DataFrame", found: dict[str, str], others: Sequence[str], target: str
) -> dict[str, str]:
    """Return the columns of judges with scores of right and wrong, if no column has the words of the truth.

    Raises BadFileError if the columns may be answers: as codes of two classes, or as two out of several
    classes.
    """
    truths = words_of(table[target])
    words = set[str]().union(*(words_of(table[name]) for name in found.values()))
    are_texts = not any(
        truths & words_of(table[name]) or table[name].dtype.kind in "iuf" or _is_mostly(table, name, words)
        for name in others
    )
    are_whole = words <= {"0", "1", *RIGHT_WORDS}
    if not are_texts or not (are_whole or truths <= {"0", "1"}):
        return {}
    n_beyond = sum(label not in {*words, ""} for label in labels_in(table, target))
    if are_whole and words & truths and (n_beyond < FEWEST_BEYOND or truths <= words):
        return {}
    if words & truths or len(truths) <= 2:
        raise BadFileError(
            source,
            "must tell what the columns of judges hold",
            f"{all_of(sorted(words))} beside a truth, {target!r}, with other words",
            "If they say whether judges are right, pass `form='scores'`; if they are answers, pass "
            "`form='wide'`.",
        )
    return found


def _is_mostly(table: "pd.DataFrame", name: str, words: Collection[str]) -> bool:
    """Return whether more than half of the cells of a column have one of some words."""
    told = [label for label in labels_in(table, name) if label]
    return 2 * sum(label in words for label in told) > len(told)


def is_right(column: "pd.Series[Any]") -> bool:
    """Return whether a column may hold scores: words for right and wrong, or numbers from 0 to 1."""
    words = words_of(column)
    if column.dtype.kind in "iuf":
        return bool(words) and bool(column.dropna().between(0, 1).all())
    return bool(words) and words <= {"0", "1", *RIGHT_WORDS}


def prices_of(table: "pd.DataFrame", names: Sequence[str], judges: Iterable[str]) -> dict[str, str]:
    """Return the price column of each judge that has a price column."""
    wanted = {
        judge: [f"{judge}{mark}{word}" for word in PARTS["price"] for mark in MARKS] for judge in judges
    }
    numeric = {name for name in names if table[name].dtype.kind in "iuf"}
    found = {
        judge: next((name for name in several if name in numeric), "") for judge, several in wanted.items()
    }
    return {judge: name for judge, name in found.items() if name}
