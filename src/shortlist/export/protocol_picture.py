"""A protocol as a flow chart of its steps, in SVG that needs no script and no font of its own."""

import unicodedata
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from shortlist.export.protocols import Protocol, Route, Rule, Step

SIZE, LEADING, PADDING = 13, 18, 10
"""Of text in pixels: how high it is, from line to line, and from the edge of its box."""
WIDTH, GAP = 372, 40
"""Of the picture in pixels, which fits a telephone, and from a step down to the next one."""
BOX_WIDTH = WIDTH - 4
MOST_LINES = 8
"""Lines of what a step orders, at most."""

NARROW, BROAD = frozenset("ijltfrI.,:;|!'()[] "), frozenset("mwMW@%—…≥")


class _Box(NamedTuple):
    left: float
    top: float
    width: float
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        return LEADING * len(self.lines) + 2 * PADDING


def picture(protocol: Protocol) -> str:
    """Return the flow chart: what each step orders, what it answers, and who decides at the end."""
    shapes: list[str] = []
    shortened = False
    top = 2.0
    for route in protocol.routes or (Route("", 1, len(protocol.steps), 1.0),):
        if route.when:
            top, cut = _heading(route, top, shapes)
            shortened |= cut
        left = 1.0 if route.share is None else route.share
        for step in protocol.steps[route.first - 1 : route.last]:
            left -= step.share or 0.0
            top, cut = _drawn_step(step, protocol.wording.order, left, top, shapes)
            shortened |= cut
        last, cut = _wrapped([protocol.wording.last], BOX_WIDTH)
        shortened |= cut
        end = _Box(2, top, BOX_WIDTH, tuple(last))
        shapes.append(_drawn(end, bold=1))
        top += end.height + (GAP if route.last < len(protocol.steps) else 0)
    if shortened:
        for line in _wrapped(["Names with … are shortened or left out: .html and .md have all."], WIDTH)[0]:
            top += LEADING
            shapes.append(_text(2, top, line))
        top += PADDING
    title = escape(f"Protocol for {protocol.target}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + 4:g}" width="{WIDTH}" '
        f'height="{top + 4:g}" role="img" font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif" '
        f'font-size="{SIZE}">\n<title>{title}</title>\n<rect width="100%" height="100%" fill="#fff"/>\n'
        + "\n".join(shapes)
        + "\n</svg>\n"
    )


def _heading(route: Route, top: float, shapes: list[str]) -> tuple[float, bool]:
    """Draw which cases go a way; return where its first step begins, and whether something was left out."""
    share = "" if route.share is None else f" ({_percent(route.share)})"
    lines, cut = _wrapped([f"Where {route.when}{share}:"], WIDTH)
    for line in lines:
        top += LEADING
        shapes.append(_text(2, top, line, is_bold=True))
    return top + PADDING, cut


def _drawn_step(step: Step, order: str, left: float, top: float, shapes: list[str]) -> tuple[float, bool]:
    """Draw a step with its answers and arrow; return where the next box begins, and whether it was cut."""
    lines, cut = _step_lines(step, order)
    answers = [line for rule in step.rules for line in _wrapped([_short(rule)], BOX_WIDTH)[0]]
    share = "" if step.share is None else f" ({_percent(step.share)} of all cases)"
    box = _Box(2, top, BOX_WIDTH, (*lines, f"Then answer{share}:", *answers))
    middle, low, centre = top + PADDING + LEADING * len(lines) + 1, top + box.height, BOX_WIDTH / 4
    ruler = f'<path d="M2 {middle:g}h{BOX_WIDTH}" stroke="#bbb" fill="none"/>'
    word = "otherwise" if step.share is None else f"otherwise: {_percent(left)} of all cases"
    shapes += [_drawn(box, bold=1), ruler, _arrow(centre, low, low + GAP, word)]
    return low + GAP, cut


def _percent(share: float) -> str:
    return f"{100 * abs(round(share, 9)):.3g} %"


def _step_lines(step: Step, order: str) -> tuple[tuple[str, ...], bool]:
    """Return what stands in the box of a step, and whether something was left out."""
    names, cut = _wrapped([f"{name}," for name in step.orders[:-1]] + list(step.orders[-1:]), BOX_WIDTH)
    if len(names) > MOST_LINES:
        names, cut = [*names[: MOST_LINES - 1], "… and more"], True
    amounts, _ = _wrapped([f"{one.name} {one.here}," for one in step.amounts], BOX_WIDTH)
    amounts[-1] = amounts[-1].removesuffix(",")
    return (f"Step {step.number}: {order}", *names, *amounts), cut


def _short(rule: Rule) -> str:
    if not rule.condition:
        return f"{rule.answer}: never"
    if rule.condition.startswith("the score is "):
        return f"{rule.answer}: {rule.condition.removeprefix('the ').replace(' is ', ' ')}"
    if not rule.probability:
        return f"{rule.answer}: {rule.condition}"
    return f"{rule.answer}: probability at least {rule.probability}"


def _wrapped(words: Sequence[str], width: float) -> tuple[list[str], bool]:
    """Break words into lines that fit a box, and tell whether one that does not fit alone was shortened."""
    room = (width - 2 * PADDING) / SIZE
    lines: list[str] = []
    cut = False
    for word in (part for one in words for part in one.split(" ")):
        fitting = word
        while _ems(fitting) > room:
            fitting = f"{fitting.rstrip(',…')[:-1]}…"
            cut = True
        if lines and _ems(f"{lines[-1]} {fitting}") <= room:
            lines[-1] += f" {fitting}"
        else:
            lines.append(fitting)
    return lines, cut


def _ems(text: str) -> float:
    """Return how wide a text is at most, in heights of a letter, in any of the fonts that are asked for."""
    return sum(map(_em, text))


def _em(letter: str) -> float:
    if letter in NARROW:
        return 0.42
    if letter in BROAD:
        return 1.0
    if letter.isascii():
        return 0.8 if letter.isupper() or letter in "#&+<=>~_" else 0.65
    return 1.3 if unicodedata.east_asian_width(letter) in "WF" else 1.0


def _drawn(box: _Box, *, bold: int = 0) -> str:
    frame = (
        f'<rect x="{box.left:g}" y="{box.top:g}" width="{box.width:g}" height="{box.height:g}" rx="4" '
        'fill="#fff" stroke="#333"/>'
    )
    texts = [
        _text(box.left + PADDING, box.top + PADDING + LEADING * (place + 0.75), line, is_bold=place < bold)
        for place, line in enumerate(box.lines)
    ]
    return "\n".join([frame, *texts])


def _text(left: float, base: float, text: str, *, is_bold: bool = False) -> str:
    weight = ' font-weight="bold"' if is_bold else ""
    return f'<text x="{left:g}" y="{base:g}"{weight}>{escape(text)}</text>'


def _arrow(x: float, y: float, to_y: float, word: str) -> str:
    return (
        f'<path d="M{x:g} {y:g}L{x:g} {to_y:g}" stroke="#333" fill="none"/>\n'
        f'<path d="M{x:g} {to_y:g}l-4 -8h8z" fill="#333"/>\n{_text(x + 8, to_y - GAP / 2 + 5, word)}'
    )
