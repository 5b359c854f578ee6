"""What the columns or fields of a log are called."""

from collections.abc import Sequence
from dataclasses import dataclass

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

    Attributes
    ----------
    case : Names the case.
    judge : Names the judge, in a long table. Of inspect-ai a setting of the evaluation or an argument of the
        task that tells judges of one model apart.
    answer : Holds the answer, in a long table; the scorer (inspect-ai), the filter (lm-evaluation-harness),
        or a field of the output (promptfoo) that does.
    target : Holds the truth; of a tool's log a field of the case, of its metadata or of its variables.
    confidence, price, latency, epoch : Of a long table. A latency whose name ends in ``ms`` is in
        milliseconds, any other in seconds.
    input_tokens, output_tokens : Of a long table: numbers of tokens, for prices per token.
    content : What the judges were shown: cases with equal entries are the same one.
    features : Columns of the case that cost nothing.
    drop : Columns or judges that are left out.
    label_suffix, confidence_suffix, price_suffix, latency_suffix : Of a wide table with several columns for a
        judge: what follows the judge's name.
    fold_case : Whether labels that differ only in capital letters are the same.
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
