"""A protocol as Markdown, and as a page of HTML for paper."""

import re
from collections.abc import Callable, Iterator
from html import escape

from shortlist._words import counted
from shortlist.export.protocol_picture import picture
from shortlist.export.protocol_points import points_parts
from shortlist.export.protocols import Protocol, Rule, Step, Wording

MOST_SUMS = 4
"""Most columns of numbers side by side in a table: paper has room for no more."""

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
"""What a browser may do for the page: use its style, load nothing, run nothing."""

Part = tuple[str, object]
"""A kind, and what it holds: ``title``, ``heading`` or ``text`` a sentence, ``list`` sentences, ``table`` its
rows, the first one its head, and ``picture`` nothing.
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
        "picture": lambda _: picture(protocol),
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
    """Return a protocol as a file of some ending: text for .md, the flow chart for .svg, or a page."""
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
    for step in protocol.steps:
        if step.points is not None:
            yield from points_parts(step.points, [rule.answer for rule in step.rules], step.number)
    yield "heading", "At the end"
    yield "text", wording.end
    yield "text", wording.gaps
    yield "heading", "What is promised"
    yield "text", protocol.promise
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
        if step.points is not None:
            yield "text", f"Points for step {step.number}, which are easier to add up, are further below."
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
