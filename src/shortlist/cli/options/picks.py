"""The option ``--pick``, the same in every command: a point by its number, or by a rule."""

from collections.abc import Sequence


def read_pick(text: str, rules: Sequence[str]) -> int | str:
    """Return the number of a point, or one of the `rules`.

    Raises
    ------
    BadInputError
        If it is neither.

    Examples
    --------
    >>> read_pick("12", ["ideal", "knee"]), read_pick("knee", ["ideal", "knee"])
    (12, 'knee')
    """
    from shortlist._words import any_of, did_you_mean
    from shortlist.errors import BadInputError

    if text.isascii() and text.isdecimal():
        return int(text)
    if text in rules:
        return text
    raise BadInputError(
        f"--pick must be the number of a point, from 0, or a rule, {any_of(rules)}, got "
        f"{text!r}.{did_you_mean(text, rules)}"
    )
