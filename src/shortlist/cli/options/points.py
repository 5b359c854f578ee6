"""Options for points of a front and its file, equal in every command."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shortlist.results.front import Front
    from shortlist.results.objective import Limit
    from shortlist.results.picking import Pick

SHOWN_RULES = ("ideal", "knee", "as-good", "one-se", "norm")
"""Rules that need no other option; ``front pick`` also has the options of all other rules."""

STAGED_RULES = ("one-se", "norm")
"""Rules that only fronts of stages have."""


def read_pick(text: str, rules: Sequence[str]) -> int | str:
    """Return the number of a point, or one of the `rules`.

    Raises BadInputError if the text is neither a number nor a rule.

    >>> read_pick("12", ["ideal", "knee"]), read_pick("knee", ["ideal", "knee"])
    (12, 'knee')
    """
    from shortlist._words import any_of, did_you_mean
    from shortlist.errors import BadInputError

    if re.fullmatch("[0-9]{1,18}", text):
        return int(text)
    if text in rules:
        return text
    raise BadInputError(
        f"--pick must be the number of a point, from 0, or a rule, {any_of(rules)}, got "
        f"{text!r}.{did_you_mean(text, rules)}"
    )


def read_picks(text: str, rules: Sequence[str]) -> tuple[int | str, ...]:
    """Read one point, or two with a comma between them; see :func:`read_pick`.

    Raises BadInputError for more than two points, two equal ones, or a part that is neither a number nor a
    rule.

    >>> read_picks("12,knee", ["ideal", "knee"])
    (12, 'knee')
    """
    from shortlist.errors import BadInputError

    picks = tuple(read_pick(each.strip(), rules) for each in text.split(","))
    if len(picks) > 2 or len(set(picks)) < len(picks):
        raise BadInputError(
            f"--pick must name one point, or two different ones to compare, such as 12,40, got {text!r}."
        )
    return picks


def usual_rule(front: "Front") -> str:
    """Return the rule that picks a point by default, which is the same in every command."""
    from shortlist.results.front import STAGED_METHODS

    return "one-se" if front.method in STAGED_METHODS else "knee"


def taken_point(
    front: "Front",
    wanted: int | str,
    limits: "Sequence[Limit]",
    *,
    weights: "Mapping[str, float] | None" = None,
    order: Sequence[str] | None = None,
) -> "Pick":
    """Return the point of a front that a rule or a number names, among the points within the limits.

    Raises BadInputError if there is no such point, or the rule is for fronts of stages only and the front is
    not of stages.
    """
    from shortlist.errors import BadInputError
    from shortlist.results.picking import mark_within, numbered_point

    if isinstance(wanted, int):
        return front.point(numbered_point(front, wanted, mark_within(front, limits)))
    if wanted not in STAGED_RULES:
        return front.pick(wanted, weights=weights, order=order, limits=limits)
    if usual_rule(front) not in STAGED_RULES:
        raise BadInputError(
            f"--pick {wanted} needs a front of shortlist stage, and this one is of other choices. Take ideal "
            "or knee, or the number of a point."
        )
    from shortlist.multistage.predict.point_choice import choose_point

    return front.point(choose_point(front, wanted, limits), wanted)


def read_limit_among(text: str, names: Sequence[str]) -> "Limit":
    """Read one ``--limit`` on one of the `names`.

    A name is looked up in four steps: as written; without case, spaces and signs; as the beginning of exactly
    one name; as a word of exactly one name. So ``cost<=120`` limits ``acquisition_cost``. Raises
    BadInputError if the text has another form than ``cost<=120``, or the name is not found.

    >>> read_limit_among("conclusive-accuracy >= 0.9", ["coverage", "conclusive_accuracy"])
    Limit(name='conclusive_accuracy', operator='>=', value=Decimal('0.9'))
    >>> read_limit_among("cost<=120", ["coverage", "acquisition_cost"]).name
    'acquisition_cost'
    """
    from dataclasses import replace

    from shortlist._words import any_of, did_you_mean
    from shortlist.errors import BadInputError
    from shortlist.results.objective import read_limit as read

    limit = read(text)
    if limit.name in names:
        return limit
    wanted = _plain(limit.name)
    whole, beginning, word = (
        [name for name in names if _plain(name) == wanted],
        [name for name in names if _plain(name).startswith(wanted)],
        [name for name in names if wanted in map(_plain, re.split(r"[\s_-]+", name))],
    )
    for alike in (whole, beginning, word):
        if len(alike) == 1:
            return replace(limit, name=alike[0])
    hint = did_you_mean(limit.name, names)
    raise BadInputError("--limit", f"must name {any_of(names)}", repr(limit.name), hint)


def read_limits(texts: Sequence[str], names: Sequence[str]) -> "tuple[Limit, ...]":
    """Read every ``--limit`` of a command; see :func:`read_limit_among`."""
    return tuple(read_limit_among(text, names) for text in texts)


def _plain(name: str) -> str:
    """Return a name without case, spaces and signs."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())
