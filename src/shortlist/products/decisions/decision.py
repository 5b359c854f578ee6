"""One decision about one feature."""

import unicodedata
from dataclasses import dataclass

from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.products.feature_models.model import FeatureModel


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Decision:
    """A feature that somebody selected or deselected.

    Attributes
    ----------
    feature : int
        Which, from 0.
    selected : bool
        True: it is in. False: it is out.
    stage : str
        The stage of the configuration to which the decision belongs; empty if nobody named it.
    by : str
        Who or what decided; empty if nobody said.

    Raises
    ------
    BadInputError
        If `stage` or `by` is not one line of text: see :func:`refuse_other_than_a_line`.
    """

    feature: int
    selected: bool
    stage: str = ""
    by: str = ""

    def __post_init__(self) -> None:
        refuse_other_than_a_line("stage", self.stage)
        refuse_other_than_a_line("by", self.by)

    @property
    def literal(self) -> int:
        """The decision as a literal: i + 1 for feature i selected, -(i + 1) for deselected."""
        return self.feature + 1 if self.selected else -self.feature - 1


def decision_text(model: FeatureModel, decision: Decision) -> str:
    """Say what was decided, at which stage, and by whom.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_model
    >>> decision_text(make_model(["Shop", "Card"]), Decision(1, False, "design", "Anna"))
    'Card is deselected (stage design, by Anna)'
    """
    parts = [f"stage {decision.stage}"] * bool(decision.stage) + [f"by {decision.by}"] * bool(decision.by)
    behind = f" ({', '.join(parts)})" if parts else ""
    return f"{model.labels[decision.feature]} is {side_word(selected=decision.selected)}{behind}"


def refuse_other_than_a_line(name: str, text: str) -> None:
    """Raise where a text has line breaks, control characters or halves of characters.

    Printed they would look like lines that nobody wrote, or could not be printed at all.
    """
    if any(unicodedata.category(one) in {"Cc", "Cs", "Zl", "Zp"} for one in text):
        raise BadInputError(
            name, "must be one line of text without control characters", repr(text[:40]), "Write it anew."
        )


def side_word(*, selected: bool) -> str:
    """Return what files and messages call a side of a decision."""
    return "selected" if selected else "deselected"
