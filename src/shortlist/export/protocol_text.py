"""Protocol as Markdown, as an HTML page for paper, and as a flow chart in SVG without script or font."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import NamedTuple

from shortlist._words import counted
from shortlist.export.protocols import Protocol, Route, Rule, Step, Wording

SIZE, LEADING, PADDING = 13, 18, 10
"""Pixels of text: size of letters, distance of lines, and distance from the edge of its box."""
WIDTH, GAP = 372, 40
"""Width of the picture, which fits a telephone, and distance from a step to the next step, in pixels."""
BOX_WIDTH = WIDTH - 4
ROOM = 8
"""Pixels above and below the ruler between a step's orders and its answers."""
MOST_LINES = 8
"""Largest number of lines of a step's orders."""

NARROW, BROAD = frozenset("ijltfrI.,:;|!'()[] "), frozenset("mwMW@%—…≥")


class _Box(NamedTuple):
    left: float
    top: float
    width: float
    lines: tuple[str, ...]
    ruled: int = 0
    """Number of lines above a ruler, which takes room of its own; 0 without a ruler."""

    @property
    def height(self) -> float:
        return LEADING * len(self.lines) + 2 * PADDING + ROOM * bool(self.ruled)

    def base(self, place: int) -> float:
        """Return the vertical position of a line of the text, in pixels."""
        room = ROOM if 0 < self.ruled <= place else 0
        return self.top + PADDING + LEADING * (place + 0.75) + room


def picture(protocol: Protocol, *, alone: bool = True) -> str:
    """Return the flow chart: the orders and answers of each step, and the decision at the end.

    `alone`: whether the picture stands alone. It then has the shares of cases that steps ask, answer and
    miss, which a page shows beside the picture.
    """
    shapes: list[str] = []
    shortened = False
    top = 2.0
    routes = protocol.routes or (Route("", 1, len(protocol.steps), 1.0),)
    for route in (one for one in routes if one.share != 0):
        if route.when:
            top, cut = _heading(route, top, shapes)
            shortened |= cut
        left = 1.0 if route.share is None else route.share
        for title, step in _seen(protocol.steps[route.first - 1 : route.last]):
            left -= step.share or 0.0
            top, cut = _drawn_step(step, f"{title}: {protocol.wording.order}", left, top, shapes)
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
    for told in protocol.measured if alone else ():
        for line in _wrapped([told], WIDTH)[0]:
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


def _seen(steps: Sequence[Step]) -> Iterator[tuple[str, Step]]:
    """Yield the steps of a way that answer a case on record, each with its title and all orders before it.

    All steps are yielded if there are no shares, or if no step answers.
    """
    waiting: list[Step] = []
    answers = [step.number for step in steps if step.share != 0] or [step.number for step in steps]
    for step in steps[: answers[-1] - steps[0].number + 1]:
        waiting.append(step)
        if step.number not in answers:
            continue
        title, amounts = f"Step {step.number}", step.amounts
        if len(waiting) > 1:
            title = f"Steps {waiting[0].number} to {step.number}"
            amounts = tuple(one._replace(here=f"{one.by_then} by then") for one in amounts)
        orders = tuple(name for one in waiting for name in one.orders)
        yield title, replace(step, orders=orders, amounts=amounts)
        waiting = []


def _heading(route: Route, top: float, shapes: list[str]) -> tuple[float, bool]:
    """Draw the condition of a way; return the position of its first step, and whether words were left out."""
    share = "" if route.share is None else f" ({_percent(route.share)})"
    lines, cut = _wrapped([f"Where {route.when}{share}:"], WIDTH)
    for line in lines:
        top += LEADING
        shapes.append(_text(2, top, line, is_bold=True))
    return top + PADDING, cut


def _drawn_step(step: Step, title: str, left: float, top: float, shapes: list[str]) -> tuple[float, bool]:
    """Draw a step with its answers and arrow; return the position of the next box, and whether it was cut."""
    lines, cut = _step_lines(step, title)
    answers = [line for told in _shared(step.rules) for line in _wrapped([told], BOX_WIDTH)[0]]
    share = "" if step.share is None else f" ({_percent(step.share)} of all cases)"
    box = _Box(2, top, BOX_WIDTH, (*lines, f"Then answer{share}:", *answers), len(lines))
    middle, low, centre = top + PADDING + LEADING * len(lines) + ROOM / 2, top + box.height, BOX_WIDTH / 4
    ruler = f'<path d="M2 {middle:g}h{BOX_WIDTH}" stroke="#bbb" fill="none"/>'
    word = "otherwise" if step.share is None else f"otherwise: {_percent(left)} of all cases"
    shapes += [_drawn(box, bold=1), ruler, _arrow(centre, low, low + GAP, word)]
    return low + GAP, cut


def _percent(share: float) -> str:
    return f"{100 * abs(round(share, 9)):.3g} %"


def _step_lines(step: Step, title: str) -> tuple[tuple[str, ...], bool]:
    """Return the lines in the box of a step, and whether words were left out."""
    names, cut = _wrapped([f"{name}," for name in step.orders[:-1]] + list(step.orders[-1:]), BOX_WIDTH)
    if len(names) > MOST_LINES:
        names, cut = [*names[: MOST_LINES - 1], "… and more"], True
    amounts, _ = _wrapped([f"{one.name} {one.here}," for one in step.amounts], BOX_WIDTH)
    amounts[-1] = amounts[-1].removesuffix(",")
    return (title, *names, *amounts), cut


def _shared(rules: Sequence[Rule]) -> list[str]:
    """Return the rules of a step in short; rules with the same condition are joined."""
    together: dict[str, list[str]] = {}
    for rule in rules:
        together.setdefault(_short(rule), []).append(rule.answer)
    every = "a class" if len(rules) > 1 else ""
    return [
        f"{every if every and len(answers) == len(rules) else ', '.join(answers)}: {condition}"
        for condition, answers in together.items()
    ]


def _short(rule: Rule) -> str:
    if not rule.condition:
        return "never"
    if rule.condition.startswith("the score is "):
        return rule.condition.removeprefix("the ").replace(" is ", " ")
    if not rule.probability:
        return rule.condition
    return f"probability at least {rule.probability}"


def _wrapped(words: Sequence[str], width: float) -> tuple[list[str], bool]:
    """Return words in lines that fit a box, and whether a word was shortened to fit."""
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
    """Return the largest width of a text, in heights of a letter, in any of the fonts."""
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
        _text(box.left + PADDING, box.base(place), line, is_bold=place < bold)
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


MOST_SUMS = 4
"""Largest number of columns of numbers in a table, as paper has no room for more."""

STYLE = """
@page { size: A4; margin: 15mm }
body { font: 11pt/1.4 Helvetica, Arial, 'DejaVu Sans', sans-serif; color: #000; background: #fff;
  max-width: 180mm; margin: 1em auto; padding: 0 1em; overflow-wrap: anywhere }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-bottom: .3em; break-after: avoid }
.wide { overflow-x: auto } table { border-collapse: collapse; margin: .5em 0 }
th, td { border: 1px solid #999; padding: .15em .5em; text-align: left }
th { min-width: 4em } th:nth-child(2) { min-width: 7em } td:nth-child(n+3) { white-space: nowrap }
td:nth-child(n+3), th:nth-child(n+3) { text-align: right }
thead { display: table-header-group } tr { break-inside: avoid }
@media (max-width: 34em) { table { font-size: .68em } th, td { padding: .15em .2em }
  th, th:nth-child(2) { min-width: 0 } th:first-child { min-width: 4em }
  td:nth-child(n+3) { white-space: normal } }
ul { break-inside: avoid; break-before: avoid } svg { max-width: 100%; height: auto; break-inside: avoid }
@media print { body { margin: 0; padding: 0; max-width: none } .wide { overflow: visible } }
"""

CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Rights of the page in a browser: use its style, load nothing, run nothing."""

Part = tuple[str, object]
"""Kind and content of a part.

The content of ``title``, ``heading`` and ``text`` is a sentence. The content of ``list`` is sentences, and
the content of ``table`` is rows, of which the first row is the header. A ``picture`` has no content.
"""


def markdown(protocol: Protocol) -> str:
    """Return a protocol as Markdown."""
    marks: dict[str, Callable[..., str]] = {
        "title": lambda text: f"# {_marked(text)}",
        "heading": lambda text: f"## {_marked(text)}",
        "text": _marked,
        "list": lambda items: "\n".join(f"- {_marked(item)}" for item in items),
        "table": _marked_table,
        "picture": lambda _: "",
    }
    blocks = (marks[kind](held) for kind, held in _parts(protocol))
    return "\n\n".join(block for block in blocks if block) + "\n"


def page(protocol: Protocol) -> str:
    """Return a protocol as HTML: one file that loads nothing, runs nothing, and prints on A4."""
    tags: dict[str, Callable[..., str]] = {
        "title": lambda text: f"<h1>{escape(text)}</h1>",
        "heading": lambda text: f"<h2>{escape(text)}</h2>",
        "text": lambda text: f"<p>{escape(text)}</p>",
        "list": lambda items: f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>",
        "table": _tagged_table,
        "picture": lambda _: picture(protocol, alone=False),
    }
    body = "\n".join(tags[kind](held) for kind, held in _parts(protocol))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(_title(protocol))}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def in_form(protocol: Protocol, ending: str) -> str:
    """Return a protocol as a file by its ending.

    Markdown for .md, the flow chart for .svg, otherwise a page.
    """
    return {".md": markdown, ".svg": picture}.get(ending, page)(protocol)


def _title(protocol: Protocol) -> str:
    return f"Protocol for {protocol.target} in {counted(len(protocol.steps), 'step')}"


def _parts(protocol: Protocol) -> Iterator[Part]:
    names, wording = [amount.name for amount in protocol.steps[0].amounts], protocol.wording
    head = ["step", wording.order, *(word for name in names for word in (name, f"{name} by then"))]
    rows = [
        [str(step.number), ", ".join(step.orders), *(text for one in step.amounts for text in one[1:])]
        for step in protocol.steps
    ]
    yield "title", _title(protocol)
    yield "text", wording.beginning
    if protocol.routes:
        yield "list", [f"Where {route.when}: begin with step {route.first}." for route in protocol.routes]
    yield "picture", None
    yield "table", [head, *rows]
    for step in protocol.steps:
        yield from _step(step, wording, is_last=step.number in protocol.lasts)
    yield "heading", "At the end"
    yield "text", wording.end
    yield "text", wording.gaps
    yield "heading", "What is promised"
    yield "text", protocol.promise
    if protocol.measured:
        yield "heading", "How often it asks, answers and misses"
        yield "list", list(protocol.measured)
    yield "heading", "The numbers"
    yield "text", protocol.checked


def _step(step: Step, wording: Wording, *, is_last: bool) -> Iterator[Part]:
    amounts = ", ".join(f"{one.name} {one.here}" for one in step.amounts)
    yield "heading", f"Step {step.number}"
    yield "text", f"{wording.order.capitalize()}: {', '.join(step.orders)} ({amounts})."
    if step.sums:
        many = len(step.sums) > 1
        yield "text", "Add up every column:" if many else f"Score for {step.rules[1].answer}, add up:"
        for first in range(0, len(step.sums), MOST_SUMS):
            side = slice(first, first + MOST_SUMS)
            lines = ([line.feature, line.value, *line.adds[side]] for line in step.lines)
            yield "table", [["feature", "value", *step.sums[side]], *lines]
        if many:
            yield "text", "The total is the sum over all columns of e^(sum - largest sum)."
    elif step.classifier:
        no_sum = f"The score of this step cannot be added up: ask the {wording.file}, which has"
        yield "text", f"{no_sum} a {step.classifier} here."
    rules = [rule_text(rule) for rule in step.rules]
    if not any(rule.condition for rule in step.rules):
        rules = [
            "This step never answers."
            if is_last
            else f"This step never answers: it {wording.order}s for the next."
        ]
    end = f"{wording.last[0].lower()}{wording.last[1:]}" if is_last else f"go to step {step.number + 1}"
    last = f"Otherwise {end}."
    yield "list", [*rules, last]


def rule_text(rule: Rule) -> str:
    """Return a rule as a sentence."""
    if not rule.condition:
        return f"This step never answers {rule.answer}."
    is_told = "most probable" in rule.condition or not rule.probability
    probability = "" if is_told else f" (probability {rule.probability})"
    return f"Answer {rule.answer} if {rule.condition}{probability}."


def _marked(text: str) -> str:
    return re.sub(r"[\\`*|<>\[\]&]|(?<![^\W_])_|_(?![^\W_])", lambda found: f"\\{found[0]}", text)


def _marked_table(rows: list[list[str]]) -> str:
    head, *others = (f"| {' | '.join(map(_marked, row))} |" for row in rows)
    ruler = " | ".join(["---", "---", *["---:"] * (len(rows[0]) - 2)])
    return "\n".join([head, f"| {ruler} |", *others])


def _tagged_table(rows: list[list[str]]) -> str:
    head, *others = rows
    cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    filled = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in others)
    body = "\n".join(f"<tr>{row}</tr>" for row in filled)
    table = f"<table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    return f'<div class="wide">{table}</div>'
