"""What matters: a name, a sense, and the scale that makes it whole."""

from dataclasses import dataclass
from enum import StrEnum

from shortlist.errors import BadInputError
from shortlist.pickles import saved_from


@saved_from("shortlist")
class Sense(StrEnum):
    """Whether less or more of an objective is better."""

    MIN = "min"
    MAX = "max"


@saved_from("shortlist")
@dataclass(frozen=True)
class Objective:
    """One thing that matters.

    Parameters
    ----------
    name : str
        What the user calls it; unique within a front.
    sense : Sense, default=Sense.MIN
        Whether less or more is better.
    scale : int or None, default=1
        Every value times `scale` is an integer below 2^53, so comparisons are exact; None for a real
        value, which is compared as a double.
    unit : str, default=""
        Unit of the values, for people.
    """

    name: str
    sense: Sense = Sense.MIN
    scale: int | None = 1
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sense", Sense(self.sense))
        if self.scale is not None and self.scale < 1:
            raise BadInputError(
                f"scale of objective {self.name!r} must be at least 1 or None, got {self.scale}."
            )

    @property
    def sign(self) -> int:
        """Factor that turns the user's value into one to minimise."""
        return 1 if self.sense is Sense.MIN else -1


_SENSES = {"min": Sense.MIN, "minimise": Sense.MIN, "minimize": Sense.MIN} | {
    "max": Sense.MAX,
    "maximise": Sense.MAX,
    "maximize": Sense.MAX,
}


def objective_names(text: str) -> list[tuple[Sense, str]]:
    """Split ``"min cost, max selected"`` into senses and names.

    Raises
    ------
    BadInputError
        If there is none, a part lacks its sense or name, or a name comes twice.

    Examples
    --------
    >>> [(sense.value, name) for sense, name in objective_names("min cost, maximise selected")]
    [('min', 'cost'), ('max', 'selected')]
    """
    parts = []
    for part in text.split(","):
        sense, _, name = part.strip().partition(" ")
        if sense.lower() not in _SENSES or not name.strip():
            raise BadInputError(
                "objectives", "must read like 'min cost, max selected'", f"{part.strip()!r} in {text!r}"
            )
        parts.append((_SENSES[sense.lower()], name.strip()))
    names = [name for _, name in parts]
    for name in names:
        if names.count(name) > 1:
            raise BadInputError("objectives", "must differ", f"{name!r} twice", "Drop one.")
    return parts
