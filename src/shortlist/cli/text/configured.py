"""Answer of `shortlist configure` as JSON and for people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import counted
from shortlist.cli.text.output import cut, finite, listed, print_lines

if TYPE_CHECKING:
    from shortlist.cli.options.product_questions import AskedQuestion
    from shortlist.products.configuration.product_front import Configured
    from shortlist.products.configuration.relaxations import Relaxations
    from shortlist.results.front import Front


MOST_LINES = 20
"""Largest number of lines on a contradiction on the first screen, and of points printed with details."""

MOST_CHANGES = 6
"""Largest number of alternative changes on the first screen."""


def configured_facts(answer: "Configured", asked: "AskedQuestion") -> dict[str, Any]:
    """Return the facts that every command has, and the facts of product lines."""
    from shortlist.cli.text.front_text import empty_notes, front_facts

    front, labels = answer.front, asked.line.labels
    return {
        "method": front.method,
        "status": str(answer.status),
        "seconds": front.seconds,
        **front_facts(front),
        "reason": answer.reason,
        "conflict": list(answer.conflict),
        **_changes(answer.relaxations),
        **asked.facts,
        "notes": [*asked.notes, *empty_notes(front)],
        "implied": {
            "selected": [labels[i] for i in answer.implied.select],
            "deselected": [labels[i] for i in answer.implied.deselect],
        },
        "work": plain(dict(front.extras)),
    }


def _changes(found: "Relaxations | None") -> dict[str, Any]:
    """Return the sets of changes that each lead to a product, and changes that do not suffice alone."""
    if found is None:
        return {"enough": [], "not_enough": []}
    return {
        "enough": [[change.text for change in changes] for changes in found.enough],
        "not_enough": [change.text for change in found.useless],
    }


def advice_lines(found: "Relaxations | None", *, details: bool) -> list[str]:
    """Return lines on changes of the question that lead to a product; only changes that were tried."""
    if found is None:
        return []
    if found.empty:
        return ["Next: correct the model: it has no product at all."]
    if not found.enough:
        return ["What to change was not found in time."]
    if len(found.enough[0]) > 1:
        lines = [f"  {change.text}" for change in found.enough[0]]
        n = len(lines)
        what = (
            f"these {n} changes together, and no fewer are enough"
            if found.fewest
            else "these changes together"
        )
        return [f"Next: {what}:", *(lines if details else cut(lines, MOST_LINES, "--details has all"))]
    lines = [f"  {change.text}" for (change,) in found.enough]
    said = ["Next: any one of these changes is enough:" if len(lines) > 1 else "Next: this change is enough:"]
    said += lines if details else cut(lines, MOST_CHANGES, "--details has all")
    if found.useless:
        alone = [change.text for change in found.useless]
        said.append(listed("Not enough alone: ", alone, most_lines=2, details=details))
    return said


def plain(value: Any) -> Any:
    """Return a value in a form for JSON: None for infinity and NaN."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return finite(value) if isinstance(value, float) else value


def print_configured(
    answer: "Configured",
    asked: "AskedQuestion",
    saved: Path | None,
    study: Path | None,
    *,
    page: Path | None = None,
    details: bool,
) -> None:
    """Print the answer of configure for people."""
    implied = answer.implied
    more = [
        listed(f"Required features imply {len(numbers)} more {what}: ", names, most_lines=1, details=details)
        for numbers, what in ((implied.select, "in"), (implied.deselect, "out"))
        if (names := [asked.line.labels[i] for i in numbers])
    ]
    conflict = [f"  {sentence}" for sentence in answer.conflict]
    none = [
        f"Status {answer.status}: {answer.reason}.",
        *(conflict if details else cut(conflict, MOST_LINES, "--details has all")),
        *advice_lines(answer.relaxations, details=details),
    ]
    print_found(answer.front, none, more, saved, study, why=answer.reason, page=page, details=details)


def print_found(
    front: "Front",
    none: Sequence[str],
    more: Sequence[str],
    saved: Path | None,
    study: Path | None,
    *,
    why: str = "",
    page: Path | None = None,
    details: bool = False,
) -> None:
    """Print the point to take, the proof, the written files, and the next step.

    `none`: lines for a front without points. `more`: lines on further consequences of the question. `page`:
    path of the written page, if any.
    """
    from shortlist.cli.text.front_text import (
        empty_notes,
        headline,
        knee_of,
        print_pick,
        print_points,
        range_lines,
    )

    more = [*more, *empty_notes(front)]
    picked = knee_of(front)
    if picked is not None:
        print_pick(front, picked, advised=True, details=details)
    elif len(front):
        print_lines(range_lines(front, details=details))
    lines = (
        [headline(front, why=why, details=details), *more, *next_lines(front)]
        if len(front)
        else [*more, *none]
    )
    if details:
        lines += work_lines(front)
    if study is not None and front.proof.limit:
        lines.append(f"What has been finished is in {study}; the same command goes on from there.")
    if saved is not None:
        whole = (
            "all points and what each of them chooses" if len(front) > 1 else "the point and what it chooses"
        )
        lines.append(f"Written: {saved}, {whole}.")
    if len(front):
        where = saved if saved is not None and saved.suffix == ".parquet" else None
        lines.append(_next(front, where, page, 0 if picked is None else picked.index))
    print_lines(lines)
    if details and len(front):
        print_points(front, np.ones(len(front), dtype=bool), MOST_LINES)


def _next(front: "Front", saved: Path | None, page: Path | None, point: int) -> str:
    """Return advice on how to look at other points, or how to keep the only point."""
    alone = len(front) == 1
    if saved is None:
        ways = [f"--out FRONT.parquet keeps {'the point and its proof' if alone else 'all points'}"]
        ways += [f"--out PAGE.html {'shows it' if alone else 'draws them'}"] * (page is None)
        ways += ["--details prints some"] * (not alone)
        return f"Next: {', '.join(ways)}."
    if alone:
        return f"Next: shortlist front pick {saved} --out FILE writes what it chooses."
    other = point + 1 if point + 1 < len(front) else point - 1
    compare = f"shortlist front show {saved} --pick {point},{other}"
    return f"Next: compare points with {compare}; take one with shortlist front pick {saved}."


NARROW = ", or narrow the question with --limit, --select and --deselect"
"""Advice for product lines if no program was solved within the time limit."""

SPREAD_POINTS = 60
"""Number of reference points to advise if a complete front takes too long."""


def next_lines(front: "Front") -> list[str]:
    """Return advice on the next step after a limit ended a complete method, with the step's expected time."""
    from shortlist.results.front import PROGRAM

    n_programs = front.extras.get("n_programs")
    if not front.proof.limit or "n_reference_points" in front.extras:
        return []
    if not n_programs:
        narrow = "" if PROGRAM in front.extras else NARROW
        return [f"The front is not complete, and its best values are not proved. Raise --time-limit{narrow}."]
    # a program for each point and one that checks it
    seconds = 2 * SPREAD_POINTS * front.seconds / n_programs
    advice = (
        "The front is not complete. For points spread over all of it, each proved: --method solrep "
        f"--set points={SPREAD_POINTS}, about {max(1, round(seconds)):,} s at the pace of these programs."
    )
    return [advice]


def work_lines(front: "Front") -> list[str]:
    """Return lines on the work of a method that finds a part of the front."""
    from shortlist.results.front import PROGRAM

    extras, lines = front.extras, []
    if "n_reference_points" in extras:
        thing = "solution" if PROGRAM in extras else "product"
        lines.append(_reference_points(front, thing))
    if n := extras.get("n_checked"):
        were = "answer was checked," if n == 1 else "answers were checked, each"
        lines.append(f"{n:,} {were} in whole numbers or by a second program that found nothing better.")
    return lines


def _reference_points(front: "Front", thing: str) -> str:
    """Return a sentence on SolRep's number of reference points, and their outcomes.

    `thing`: noun for a point that SolRep finds.
    """
    extras = front.extras
    n, repeated, unproved = (
        extras[name] for name in ("n_reference_points", "n_without_program", "n_unproved")
    )
    short = ((front.proof.n_unresolved, "answer"), (extras["n_infeasible"], thing))
    told = [f"{_have(count)} no {what}" for count, what in short if count]
    if told and sum(count for count, _ in short) < n:
        told.append(f"the others have a {thing}")
    elif not told and n:
        told.append(f"{'all have' if n > 1 else 'it has'} a {thing}")
    if repeated and extras["n_infeasible"]:  # it may be known from an earlier one that there is none
        told.append(f"{repeated:,} answered by an earlier program")
    elif repeated:
        told.append(f"{repeated:,} of them a {thing} already found")
    proved = (
        f"{_have(unproved, 'point is', 'points are')} not proved" if unproved else "every point is proved"
    )
    known = f": {', '.join(told)}" if told else ""
    return f"Searched from {counted(n, 'reference point')}{known}; {proved}."


def _have(count: int, one: str = "has", more: str = "have") -> str:
    return f"{count:,} {one if count == 1 else more}"
