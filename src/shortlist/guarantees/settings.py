"""Options of promises about answers: one list for estimators and commands."""

from dataclasses import dataclass
from typing import Annotated, Any

from shortlist._options import FLAG


@dataclass(kw_only=True, eq=False)
class PromiseSettings:
    """Promises about answers to new rows."""

    answer_accuracy: Annotated[
        float | None,
        "Promised share of correct answers on new rows, such as 0.9. A calibration set fixes the threshold "
        "of confidence; rows below it get no answer.",
        FLAG,
    ] = None
    confidence_level: Annotated[float, "Confidence in the promise about answers."] = 0.95
    calibration_share: float = 0.25
    """Share of the rows in the calibration set, drawn without regard to classes."""
    reject_label: Any = None
    """Label of a row without an answer; see :func:`shortlist.guarantees.cells.reject_label_for`."""
