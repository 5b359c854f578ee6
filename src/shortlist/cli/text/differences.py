"""Texts on two points side by side, and on a front before and after a change."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from shortlist._words import all_of, counted, number_text
from shortlist.cli.text.front_text import front_facts, is_staged, knee_of
from shortlist.cli.text.output import LINES, WIDTH, cut, listed, print_lines
from shortlist.report.page import Table
from shortlist.results.front import Front
from shortlist.results.front_differences import Fate, PointFate, choice_changes, point_changes
from shortlist.results.objective import Objective
from shortlist.results.proof import ProofKind
from shortlist.tables.spreadsheets import Cell

MOST_SHOWN = 20
"""Largest number of points of each fate that are printed with details."""

MOST_VALUES, MOST_CHOICES = 9, 8
"""Largest numbers of lines on objectives and on choices when two points are compared."""

PROMISED = "promised"
"""Name, in the extras of a front and as a column, of the mark of points with a promise."""

MOST_SPACED = 3
"""Largest number of headings with a blank line before each; more headings are printed without, to fit on the
screen.
"""

MEANINGS = {
    Fate.CHANGED: "the same choice, with other values",
    Fate.REPLACED: "the same values, by another choice",
    Fate.DOMINATED: "the choice is not listed now; the point named is better than it was",
    Fate.GONE: "neither the choice nor anything as good as it was is listed",
    Fate.NEW: "neither the choice nor the values were listed",
}
"""Meaning of each fate of a point; an unchanged point needs no words."""


def side_by_side(front: Front, first: int, second: int) -> dict[str, Any]:
    """Return the facts on the differences between two points, and on the price of a change."""
    return {
        "points": [first, second],
        PROMISED: [_promised(front, point) for point in (first, second)],
        "changes": point_changes(front, first, second),
        "choices": {name: list(ends) for name, ends in choice_changes(front, first, second).items()},
    }


def side_by_side_lines(front: Front, first: int, second: int, *, details: bool = False) -> list[str]:
    """Return lines on the differences between two points: first each objective, then the choice."""
    changes = point_changes(front, first, second)
    rows = [
        (f"{goal.sense} {goal.name}", *(number_text(front.values[point, place]) for point in (first, second)),
         _change(goal, changes[goal.name]))
        for place, goal in enumerate(front.objectives)
    ]  # fmt: skip
    if PROMISED in front.extras:
        rows.append((PROMISED, _yes(front, first), _yes(front, second), ""))
    table = Table("", ("", f"point {first}", f"point {second}", "change"), tuple(rows)).lines()
    choices = list(_choice_lines(front, first, second, details=details))
    if not details:
        table = cut(table, MOST_VALUES, "--details has all")
        choices = cut(choices, MOST_CHOICES, "--details has all")
    return [f"From point {first} to point {second}:", *(f"  {line}" for line in table), "", *choices]


def _choice_lines(front: Front, first: int, second: int, *, details: bool) -> Iterator[str]:
    found = choice_changes(front, first, second)
    if not found:
        yield "What is chosen is the same."
    staged = is_staged(front)
    names = list(found)
    for point, pair in ((first, (1, 0)), (second, (0, 1))):
        only = [name for name in names if found[name] == pair and name in front.candidates]
        if only and not staged:
            yield listed(f"Only at point {point} ({len(only)}): ", only, details=details)
    for name, (here, there) in found.items():
        if staged:
            yield f"{name}: {_stage(here)} at point {first}, {_stage(there)} at point {second}"
        elif name not in front.candidates or {here, there} != {0, 1}:
            yield f"{name}: {number_text(here)} at point {first}, {number_text(there)} at point {second}"


def _stage(stage: int) -> str:
    return "never bought" if stage < 0 else f"stage {stage + 1}"


def _change(goal: Objective, by: float) -> str:
    """Return the change of a value in words, such as ``-22 (better)``."""
    if not by:
        return "the same"
    return f"{'+' if by > 0 else ''}{number_text(by, 6)} ({'better' if by * goal.sign < 0 else 'worse'})"


def difference_facts(before: Front, now: Front, fates: Sequence[PointFate]) -> dict[str, Any]:
    """Return the facts for JSON on the difference of two fronts."""
    return {
        "before": front_facts(before),
        "now": front_facts(now),
        "counts": counts_of(fates),
        "points": [
            {
                "fate": str(one.fate),
                "before": one.before,
                "now": one.now,
                "values_before": None if one.before is None else before.values[one.before].tolist(),
                "values_now": None if one.now is None else _now(before, now, one.now),
                "promised_before": _promised(before, one.before),
                "promised_now": _promised(now, one.now),
                "changes": one.changes,
            }
            for one in fates
        ],
    }


def _promised(front: Front, point: int | None) -> bool | None:
    """Return whether a point keeps a promise; None if no promise was requested."""
    promised = front.extras.get(PROMISED)
    return None if promised is None or point is None else bool(promised[point])


def _yes(front: Front, point: int | None) -> str:
    """Return whether a point keeps a promise, in a word; empty if no promise was requested."""
    return {None: "", True: "yes", False: "no"}[_promised(front, point)]


def counts_of(fates: Sequence[PointFate]) -> dict[str, int]:
    """Return the number of points of each fate."""
    counts = Counter(one.fate for one in fates)
    return {str(fate): counts[fate] for fate in Fate}


def difference_notes(before: Front, now: Front) -> list[str]:
    """Return notes on the limits of a comparison of fronts, if a front may lack points."""
    cut = [
        word
        for word, front in (("of before", before), ("of now", now))
        if front.proof.kind is not ProofKind.COMPLETE
    ]
    if not cut:
        return []
    fronts = all_of(cut)
    return [f"The front {fronts} is not complete: points that are not listed may be in it, but not found."]


def _tied_lines(fates: Sequence[PointFate]) -> list[str]:
    """Return lines on choices with equal values, of which a front holds one only."""
    if not any(one.fate in {Fate.DOMINATED, Fate.GONE, Fate.NEW} for one in fates):
        return []
    return [
        "A front lists one choice of several with equal values; one that is not listed may be among them."
    ]


def print_differences(
    before: Front, now: Front, fates: Sequence[PointFate], *, details: bool = False
) -> None:
    """Print the fate of the point to take, the number of points of each fate, and the changed points."""
    told = [f"{count:,} {fate}" for fate, count in counts_of(fates).items() if count]
    lines = [
        *_taken_lines(before, now, fates),
        f"{counted(len(before), 'point')} before, {len(now):,} now: {all_of(told) or 'nothing to compare'}.",
        *_tied_lines(fates),
    ]
    print_lines(lines)
    groups = {
        f"{fate[0].upper()}{fate[1:]}: {meaning}.": [one for one in fates if one.fate is fate]
        for fate, meaning in MEANINGS.items()
    }
    groups["The same, with another promise."] = [
        one
        for one in fates
        if one.fate is Fate.SAME and _promised(before, one.before) != _promised(now, one.now)
    ]
    groups = {heading: own for heading, own in groups.items() if own}
    tight = len(groups) > MOST_SPACED and not details
    most = MOST_SHOWN if details else max(1, (LINES - 6) // max(1, len(groups)) - 4)
    for heading, own in groups.items():
        rows = tuple(tuple(_cells(before, now, one)) for one in own[:most])
        header = ["before", "now", *(f"{goal.sense} {goal.name}" for goal in before.objectives)]
        if _are_promises(before, now):
            header.append(PROMISED)
        table = Table("", tuple(header), rows).lines()
        if not details:  # what does not fit on the screen is in the file
            table = [line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..." for line in table]
        if len(own) > len(rows) and not tight:
            table.append(f"... and {len(own) - len(rows):,} more; all with --out or --json.")
        print("\n".join([heading if tight else f"\n{heading}", *table]))
    if tight and max(map(len, groups.values())) > most:
        print("One point of each is shown; all with --out or --json.")


def _taken_lines(before: Front, now: Front, fates: Sequence[PointFate]) -> list[str]:
    """Return advice on whether the earlier point to take is still a point to take."""
    old, new = knee_of(before), knee_of(now)
    if old is None or new is None:
        return []
    (fate,) = [one for one in fates if one.before == old.index]
    role = "the knee" if new.rule == "knee" else f"the pick by {new.rule}"
    was = f"{role} before, point {old.index},"
    if fate.fate is Fate.GONE:
        return [f"Take point {new.index}, {role} now: {was} is not listed now."]
    if fate.fate is Fate.DOMINATED:
        better = "it" if fate.now == new.index else f"point {fate.now}"
        return [f"Take point {new.index}, {role} now: {better} is better than {was[:-1]}."]
    what = {
        Fate.SAME: "unchanged",
        Fate.CHANGED: "the same choice with other values",
        Fate.REPLACED: "another choice with the same values",
    }[fate.fate]
    if fate.now == new.index:
        return [f"Nothing to change: {was} is point {fate.now} now ({what}), and still {role}."]
    compare = f"shortlist front show NOW.parquet --pick {fate.now},{new.index}"
    moved = f"{was} is point {fate.now} now ({what})"
    return [f"Take point {new.index}, {role} now: {moved}. Compare the two: {compare}"]


def difference_rows(
    before: Front, now: Front, fates: Sequence[PointFate]
) -> tuple[list[str], list[list[Cell]]]:
    """Return the headings and the rows of a difference as a table, a row for each point."""
    goals = [f"{goal.sense} {goal.name}" for goal in before.objectives]
    header = ["fate", "point before", "point now"]
    header += [f"{when}: {goal}" for goal in goals for when in ("before", "now")]
    rows: list[list[Cell]] = []
    for one in fates:
        old = [None] * len(goals) if one.before is None else before.values[one.before].tolist()
        new = [None] * len(goals) if one.now is None else _now(before, now, one.now)
        values = [value for pair in zip(old, new, strict=True) for value in pair]
        rows.append([str(one.fate), one.before, one.now, *values])
    if _are_promises(before, now):
        header += [f"{when}: {PROMISED}" for when in ("before", "now")]
        ends = ((_yes(before, one.before), _yes(now, one.now)) for one in fates)
        rows = [[*row, *promises] for row, promises in zip(rows, ends, strict=True)]
    return header, rows


def _are_promises(before: Front, now: Front) -> bool:
    return PROMISED in before.extras or PROMISED in now.extras


def _now(before: Front, now: Front, point: int) -> list[float]:
    """Return the values of a point of the present front, in the order of the earlier front's objectives."""
    values: list[float] = now.values[point, [now.names.index(name) for name in before.names]].tolist()
    return values


def _cells(before: Front, now: Front, one: PointFate) -> list[str]:
    numbers = ["" if number is None else str(number) for number in (one.before, one.now)]
    old = None if one.before is None else before.values[one.before].tolist()
    new = None if one.now is None else _now(before, now, one.now)
    cells = []
    for place, goal in enumerate(before.objectives):
        if old is None or new is None:
            (value,) = [own[place] for own in (old, new) if own is not None]
            cells.append(number_text(value, 6))
        else:
            by = one.changes[goal.name]
            after = number_text(new[place], 6)
            cells.append(f"{after}, {_change(goal, by)}" if by else after)
    if _are_promises(before, now):
        was, is_now = _yes(before, one.before), _yes(now, one.now)
        both = [word for word in (is_now, was) if word]
        cells.append(", was ".join(dict.fromkeys(both)))
    return [*numbers, *cells]
