"""Panels as parts of a page: judges to ask, figures, and the panel for each budget."""

from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import Any

from shortlist._words import all_of
from shortlist.export.protocol_text import picture
from shortlist.panels.answer_log import cases_in_words
from shortlist.panels.facts import PanelReport
from shortlist.panels.objectives import ACCURACY, OBJECTIVES, PRICE, in_text, led_by
from shortlist.panels.protocol import panel_protocol
from shortlist.panels.verdict import NESTED
from shortlist.panels.words import NO_JUDGE, budget_table, measured, title_of
from shortlist.report.page import Chart, Heading, Part, Parts, Picture, Table, Text, guarantee_parts
from shortlist.results.verdicts import Word

NEVER = "never"
MOST_WAYS = 2
"""Largest number of a router's branches that a cell of a table names."""
MOST_LETTERS = 60
"""Largest number of letters of a branch's condition in a cell."""


def panel_parts(report: PanelReport) -> Parts:
    """Return the parts of a page about a panel."""
    return list(_parts(report, report.facts))


def _parts(report: PanelReport, told: Mapping[str, Any]) -> Iterator[Part]:
    own = told["held_out"]
    of_cases = f"the {cases_in_words(own['n_cases'], own['n_different'], f'{_kind_of_cases(told)} ')}"
    yield Heading("What to do")
    first = told["advice"] or told["sentence"]
    if own["answered"] > 0 and told["kind"] != Word.ALONE and not told["advice"]:
        yield Text("Use this panel.")
    yield Text(first)
    if told["advice"] and (told["take"] == "single" or told["advice"] != told["sentence"]):
        yield Text("The panel of this page, which is not the one to use:")
    for sentence in told["in_words"]:
        yield Text(sentence)
    drawn = picture(panel_protocol(report.panel, ways=report.ways))
    shares = f"Shares are of {of_cases}."
    n_ways = 0 if told["router"] is None else len(told["router"]["branches"])
    folded = f"The way of a case, drawn: {n_ways:,} branches" if n_ways > MOST_WAYS else ""
    seen = f"The steps above, and what each answers. {shares}"
    seen += " A score is a sum, which the printed protocol gives in full." * ("score" in drawn)
    yield Picture("The way of a case", seen, drawn, folded)
    yield _stage_table(told, f"{shares} A stage answers where it is at least as sure as its threshold.")
    yield Heading("What it is worth")
    promise = "" if report.guarantee is None else report.guarantee.sentence("cases")  # which has a section
    for sentence in told["verdict"]:
        if sentence not in (first, promise):
            yield Text(sentence)
    yield _held_out(told)
    if report.guarantee is not None:
        yield from guarantee_parts(report.guarantee, "cases")
    yield Heading("What you get for how much")
    yield _chart(told)
    if told["budgets"]:
        yield _budgets(told)
    yield Heading("All panels that no other beats")
    yield _front(told)
    yield Heading("What was searched and read")
    for note in told["notes"]:
        yield Text(note, note=True)


def _kind_of_cases(told: Mapping[str, Any]) -> str:
    if told["is_tested"]:
        return "test"
    if told["guarantee"] is not None:
        return "calibration"
    return "training" if told["n_parts"] else "hold-out"


def _stage_table(told: Mapping[str, Any], note: str) -> Table:
    seconds = ["seconds"] * (told["held_out"]["latency"] is not None)
    columns = ["stage", "price", *seconds, "reached by", "answers", "threshold"]
    router = told["router"]
    ways = [("", told["stages"])]
    if router is not None:
        columns = ["where", *columns]
        ways = [(_shortened(branch["when"]), branch["stages"]) for branch in router["branches"]]
        ways.append(("a value is missing or unknown", told["stages"]))
    rows = [
        (
            *([where] if router is not None else []),
            f"{stage['number']}. {all_of(stage['asks'] or [NO_JUDGE])}",
            f"{stage['price']:.3g}",
            *("unknown" if stage["seconds"] is None else f"{stage['seconds']:.3g}" for _ in seconds),
            f"{100 * stage['reached']:.3g} %",
            f"{100 * stage['answered']:.3g} %",
            _least(stage),
        )
        for where, stages in ways
        for stage in stages
        if stage["reached"] > 0
    ]
    in_full = " The printed protocol has the conditions in full." * (" ..." in str(ways))
    return Table("Stage after stage", tuple(columns), tuple(rows), (note + in_full,))


def _shortened(when: str) -> str:
    return shorten(when, MOST_LETTERS, placeholder=" ...")


def _least(stage: Mapping[str, Any]) -> str:
    if stage["always"]:
        return "always"
    least = stage["answer_from"]
    return {None: NEVER, 0: "any decision"}.get(least) or f"{least:.4g}"


def _held_out(told: Mapping[str, Any]) -> Table:
    single, own = told["single"], told["held_out"]
    told_of = {
        "this panel": (measured(own), own["latency"]),
        f"{single['name']} alone": (measured(single), single["latency"]),
    }
    rechosen = told["single_rechosen"]
    if rechosen is not None:
        told_of[f"{single['name']} alone, on its training cases"] = told_of.pop(f"{single['name']} alone")
        told_of[NESTED] = measured(rechosen), rechosen["latency"]
    is_timed = own["latency"] is not None
    rows = [(who, *texts.values(), _number(seconds)) for who, (texts, seconds) in told_of.items()]
    columns = ("who answers", *told_of["this panel"][0], "seconds")
    cells = [row if is_timed else row[:-1] for row in (columns, *rows)]
    return Table(f"On {told['measured_on']}", cells[0], tuple(cells[1:]), (_intervals(told),))


def _intervals(told: Mapping[str, Any]) -> str:
    names = dict.fromkeys((*led_by(told["objective"]), ACCURACY, PRICE))
    ways = dict.fromkeys(OBJECTIVES[name].interval for name in names)
    of = {way: all_of(in_text(name) for name in names if OBJECTIVES[name].interval == way) for way in ways}
    return f"In brackets intervals at 95 %: {'; '.join(f'of {names} {way}' for way, names in of.items())}."


def _chart(told: Mapping[str, Any]) -> Chart:
    """Return a picture of accuracy against price for all panels and judges, and for this panel as measured.

    With a third objective the points are not joined by steps.
    """
    name = told["objective"]
    title = title_of(told)(name)
    panels = [
        [
            row["price"],
            row[name],
            f"panel {row['number']}: {row['stages']}, {row[name]:.4g} for {row['price']:.4g}",
        ]
        for row in sorted(told["front"], key=lambda row: row["price"])
    ]
    alone = told["judges"] if told["guarantee"] is None else []  # of a judge nothing is promised
    judges = [
        [row["price"], row[name], f"{row['name']}: {row[name]:.4g} for {row['price']:.4g}"] for row in alone
    ]
    corrected = ", less the optimism of having been picked" if told["is_corrected"] else ""
    two = [
        [row["price"], row[name], f"{row['stages']}: {row[name]:.4g} for {row['price']:.4g}"]
        for row in sorted(told["cascades_of_two"], key=lambda row: row["price"])
    ]
    drawn = {"step": True} if len(told["objectives"]) == 2 else {"line": False}
    figures = told["held_out"]
    value = figures["value"]
    if told["guarantee"] is not None and name == ACCURACY:  # where no answer is not right
        value = figures["n_right"] / figures["n_cases"]
    own = [[figures["price"], value, f"this panel, as measured: {value:.4g} for {figures['price']:.4g}"]]
    series = [
        {"name": "panels", "points": panels, **drawn},
        *([{"name": "at most two judges", "points": two, **drawn}] if two else []),
        *([{"name": "judges alone", "points": judges, "line": False}] if judges else []),
        {"name": "this panel, as measured", "points": own, "line": False},
    ]
    who = ["this panel, as measured", *(f"panel {row['number']}" for row in told["front"])]
    who += [*(row["stages"] for row in told["cascades_of_two"]), *(row["name"] for row in alone)]
    rows = [{"price": own[0][0], name: value}, *told["front"], *told["cascades_of_two"], *alone]
    numbers = [(one, f"{row['price']:.4g}", f"{row[name]:.4g}") for one, row in zip(who, rows, strict=True)]
    return Chart(
        f"Price against {title}",
        f"{len(panels):,} panels that no other beats"
        f"{', the best cascades of at most two judges' if two else ''}"
        f"{f' and all {len(judges):,} judges alone' if judges else ''}, "
        f"on the training cases{corrected}; this panel on {told['measured_on']}.",
        {"kind": "line", "x": {"label": "mean price of a case"}, "y": {"label": title}, "series": series},
        Table(f"Price against {title}", ("who", "price", title), tuple(numbers)),
    )


def _budgets(told: Mapping[str, Any]) -> Table:
    title, rows = budget_table(told)
    notes = ("Figures are of the training cases, out of fold where something is learned.",)
    return Table(title, rows[0], tuple((*row[:-1], _first_ways(row[-1])) for row in rows[1:]), notes)


def _front(told: Mapping[str, Any]) -> Table:
    names = dict.fromkeys((told["objective"], *led_by(told["objective"])))
    seconds = ["seconds"] * (told["held_out"]["latency"] is not None)
    columns = ("panel", *map(title_of(told), names), "price", *seconds, "asks")
    rows = [
        (
            str(row["number"]),
            *(f"{row[one]:.4g}" for one in names),
            f"{row['price']:.4g}",
            *(_number(row["latency"]) for _ in seconds),
            _first_ways(row["stages"]),
        )
        for row in told["front"]
    ]
    return Table("On the training cases", columns, tuple(rows))


def _first_ways(stages: str) -> str:
    ways = stages.split(" | ")
    more = [f"{len(ways) - MOST_WAYS:,} more"] if len(ways) > MOST_WAYS else []
    return " | ".join([*ways[:MOST_WAYS], *more])


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
