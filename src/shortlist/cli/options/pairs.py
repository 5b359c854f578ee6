"""Options that read several names, or NAME=VALUE."""

from collections.abc import Sequence

from shortlist.errors import BadInputError

ALL = "all"
"""What stands for every name there is."""


def read_names(text: str) -> list[str]:
    """Read ``NAME,NAME``.

    Examples
    --------
    >>> read_names("uwa, drep")
    ['uwa', 'drep']
    """
    return [part.strip() for part in text.split(",")]


def read_pairs(texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Read ``NAME=VALUE`` of a repeatable option."""
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise BadInputError(f"--{option} must read NAME=VALUE, got {text!r}.")
        pairs.append((name.strip(), value.strip()))
    return pairs


def read_numbers(text: str, option: str) -> dict[str, float]:
    """Read ``NAME=NUMBER,NAME=NUMBER``."""
    numbers: dict[str, float] = {}
    for name, value in read_pairs(text.split(","), option):
        if name in numbers:
            raise BadInputError(f"--{option} must name each number once, got {name!r} twice.")
        try:
            numbers[name] = float(value)
        except ValueError:
            raise BadInputError(f"--{option} must read NAME=NUMBER, got {value!r} for {name!r}.") from None
    return numbers
