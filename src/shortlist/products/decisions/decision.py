"""One decision about one feature."""

from dataclasses import dataclass

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
    """

    feature: int
    selected: bool
    stage: str = ""
    by: str = ""

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


def side_word(*, selected: bool) -> str:
    """Return what files and messages call a side of a decision."""
    return "selected" if selected else "deselected"
