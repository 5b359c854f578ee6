"""Comparison of methods on product lines as tables for people, and as facts for programs."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist._words import counted
from shortlist.cli.text.output import print_fitted

if TYPE_CHECKING:
    from shortlist.cli.options.product_questions import AskedQuestion
    from shortlist.report.page import Table
    from shortlist_papers.front_quality import Quality
    from shortlist_papers.product_comparison import Comparison, MethodRow


COUNTS = (
    "points: of all runs together, without those that others of the method dominate; valid: mean share of "
    "products in the final population; joint: points on the joint front; unique: those that no other method "
    "has; seconds: all runs."
)
INDICATORS = (
    "HV and SP: hypervolume (more is better) and spread (less is better) in the common box; IGD+ and "
    "epsilon: distance to the joint front (less is better, 0 covers it)."
)
PAIRS = (
    "N: the non-dominated points of A and B together; N_U: those that only one of them has; dominated: "
    "points that the other one dominates."
)


def summary_lines(model: Path, comparison: "Comparison", asked: "AskedQuestion") -> list[str]:
    """Return sentences on the comparison, the joint front and the box of the indicators."""
    from shortlist.cli.text.front_text import front_status
    from shortlist.results.proof import proof_text

    tables = comparison.tables
    head = f"{model.name}: {asked.line.n_features:,} features; {asked.objectives}."
    if tables is None:
        return [head, "Status infeasible: the constraints contradict each other.", *comparison.conflict]
    lines = [head]
    if len(comparison.runs) < comparison.n_wanted:
        lines.append(f"Stopped after {len(comparison.runs)} of {comparison.n_wanted} runs.")
    joint = tables.joint
    if not len(joint):
        return [*lines, f"Status {front_status(joint)}: no method found a product."]
    proved = joint.extras["n_proved"]
    text = proof_text(joint)
    if 0 < proved < len(joint):
        text = f"{proved:,} of them proved non-dominated, of the others nothing proved"
    ranges = "; ".join(
        f"{name} {best:g} to {worst:g}" for name, (best, worst) in box_ranges(comparison).items()
    )
    return [
        *lines,
        f"Joint front: {counted(len(joint), 'point')}, {text}.",
        f"Common box of the indicators, the joint front's range from best to worst: {ranges}.",
    ]


def comparison_tables(comparison: "Comparison") -> "list[Table]":
    """Return tables of methods, of median runs if a method has several, and of pairs."""
    from shortlist.report.page import Table

    tables = comparison.tables
    assert tables is not None, "a comparison without runs has no tables"
    complete = tables.shares is not None
    columns = ("method", "runs", "points", "valid", "joint", "unique", "dominated",
        *(["complete"] if complete else []),
               "HV", "SP", "IGD+", "epsilon", "seconds")  # fmt: skip
    rows = tuple(
        (
            row.method, str(row.n_runs), f"{row.union.n_points:,}", _share(row.valid_share),
            f"{row.union.n_joint:,}", f"{row.unique:,}", f"{row.union.n_dominated:,}",
            *([_share(row.share or 0.0)] if complete else []),
            *_indicators(row.union), f"{row.seconds:.2f}",
        )
        for row in comparison.rows
    )  # fmt: skip
    notes = [COUNTS, INDICATORS]
    if complete:
        notes.append("complete: share of the complete front.")
    found = [Table("Methods, all runs together", columns, rows, tuple(notes))]
    middle = tuple(
        (
            row.method, str(row.n_runs), f"{row.middle.n_points:,}", _share(row.middle_valid_share),
            f"{row.middle.n_joint:,}", *_indicators(row.middle), f"{row.middle_seconds:.2f}",
            _mean_volume(row),
        )
        for row in comparison.rows
        if row.n_runs > 1
    )  # fmt: skip
    if middle:
        columns = ("method", "runs", "points", "valid", "joint", *columns[-5:], "mean HV")
        notes = [
            "Each column is the median over the runs by itself.",
            "Mean HV: hypervolume of a run, with the 95 % margin of its mean over the seeds.",
        ]
        found.append(Table("The median run", columns, middle, tuple(notes)))
    pairs = tuple(
        (f"{pair.first}, {pair.second}", *(f"{n:,}" for n in dataclasses.astuple(pair)[2:]))
        for pair in tables.pairs
    )
    if pairs:
        counts = ("|A|", "|B|", "|A∩B|", "|N_A∪N_B|", "N_U(A)", "N_U(B)", "A dominated", "B dominated")
        found.append(Table("Pairs", ("A, B", *counts), pairs, (PAIRS,)))
    return found


def product_comparison_facts(comparison: "Comparison", asked: "AskedQuestion") -> dict[str, Any]:
    """Return the facts of the comparison for JSON."""
    from shortlist.cli.text.front_text import front_facts, front_status

    tables = comparison.tables
    interrupted = not comparison.conflict and len(comparison.runs) < comparison.n_wanted
    facts: dict[str, Any] = {
        "status": "infeasible" if tables is None else front_status(tables.joint),
        **asked.facts,
        "conflict": list(comparison.conflict),
        "n_runs": len(comparison.runs),
        "n_runs_wanted": comparison.n_wanted,
        "interrupted": interrupted,
    }
    if tables is None:
        return facts | {"n_points": 0, "proof": "complete"}
    return facts | {
        **front_facts(tables.joint),
        "n_proved": tables.joint.extras["n_proved"],
        "box": {name: list(ends) for name, ends in box_ranges(comparison).items()},
        "methods": [dataclasses.asdict(row) for row in comparison.rows],
        "pairs": [dataclasses.asdict(pair) for pair in tables.pairs],
        "runs": list(comparison.measured),
    }


def box_ranges(comparison: "Comparison") -> dict[str, tuple[float, float]]:
    """Return the best and the worst value of each objective over the joint front, in the user's signs."""
    if comparison.tables is None or comparison.tables.box is None:
        return {}
    box, joint = comparison.tables.box, comparison.tables.joint
    ends = zip(joint.objectives, box.low, box.high, strict=True)
    return {
        o.name: (low * o.sign / (o.scale or 1) + 0.0, high * o.sign / (o.scale or 1) + 0.0)
        for o, low, high in ends
    }


def _indicators(quality: "Quality") -> Sequence[str]:
    """Return hypervolume, spread, IGD+ and epsilon as text; a dash without points."""
    if not quality.n_points:
        return "0.0000", "-", "-", "-"
    return tuple(
        "-" if value is None else f"{value:.4f}"
        for value in (quality.hypervolume, quality.spread, quality.igd_plus, quality.epsilon)
    )


def _mean_volume(row: "MethodRow") -> str:
    margin = "" if row.hypervolume_margin is None else f" ± {row.hypervolume_margin:.4f}"
    return f"{row.mean_hypervolume:.4f}{margin}"


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"


def write_report(path: Path, model: Path, comparison: "Comparison", asked: "AskedQuestion") -> None:
    """Write the page of a comparison, with tables and charts."""
    from shortlist.report.page import Heading, Text, page, write_page
    from shortlist_papers.comparison_pages import product_comparison_parts

    parts = [
        Heading("What to do"),
        Text(answer_text(comparison)),
        *(Text(line) for line in (*asked.notes, *summary_lines(model, comparison, asked))),
        Heading("Methods"),
        *comparison_tables(comparison),
        *product_comparison_parts(comparison),
    ]
    write_page(path, page(f"Methods on {model.name}", parts))


MOST_METHODS = 12
"""Largest number of methods on the first screen."""


def print_product_comparison(
    model: Path,
    comparison: "Comparison",
    asked: "AskedQuestion",
    paths: dict[str, Path | None],
    *,
    details: bool = False,
) -> None:
    """Print the best method, all methods best first, and the files; with details every table."""
    from shortlist.cli.text.front_text import look_at

    below = []
    if paths["study"] is not None and len(comparison.runs) < comparison.n_wanted:
        below.append(
            f"The runs that have ended are in {paths['study']}; the same command goes on from there."
        )
    if paths["report"] is not None:
        below.append(f"Charts in {paths['report']}.")
    if paths["out"] is not None:
        below.append(f"Joint front in {paths['out']}{look_at(paths['out'])}")
    lines = summary_lines(model, comparison, asked)
    tables = comparison.tables
    if comparison.conflict or tables is None or not len(tables.joint):
        print_fitted([], lines, below, details=details)
        return
    ordered = best_first(comparison)
    lines = [answer_text(comparison), "", *lines]
    if details:
        every = [("", one.title, *one.lines(), *one.notes) for one in comparison_tables(comparison)]
        print_fitted(lines, [line for table in every for line in table], ["", *below], details=True)
        return
    head, *methods = _first_table(ordered).lines()
    if paths["out"] is None:
        below.append("Next: --out FRONT.parquet keeps the joint front; --details has medians and pairs.")
    else:
        below.append("Next: --details has the median runs, the pairs, and what all columns mean.")
    meaning = "HV: hypervolume, more is better; IGD+: distance to the joint front."
    print_fitted([*lines, "", head], methods, [meaning, *below], most=MOST_METHODS + 1)


def best_first(comparison: "Comparison") -> "list[MethodRow]":
    """Return the methods by hypervolume, the largest first; of equal methods the faster one first."""
    return sorted(comparison.rows, key=lambda row: (-row.union.hypervolume, row.seconds))


def answer_text(comparison: "Comparison") -> str:
    """Return a sentence on the method with the largest hypervolume.

    The sentence has the times of this method and of the second one.
    """
    best, *others = best_first(comparison)
    n_joint = 0 if comparison.tables is None else len(comparison.tables.joint)

    def told(row: "MethodRow") -> str:
        found = f"{row.union.n_joint:,} of {counted(n_joint, 'point')} of the joint front"
        return f"{row.method}, {found}, hypervolume {row.union.hypervolume:.4f}, {row.seconds:.2f} s"

    if not others:
        return f"One method was run: {told(best)}."
    tie = round(best.union.hypervolume, 4) == round(others[0].union.hypervolume, 4)
    head = "First by hypervolume, and the faster of equals" if tie else "First by hypervolume"
    return f"{head}: {told(best)}. Next: {told(others[0])}."


def _first_table(ordered: "Sequence[MethodRow]") -> "Table":
    """Return the table of methods with the columns of the first screen."""
    from shortlist.report.page import Table

    complete = any(row.share is not None for row in ordered)
    more = ["complete"] if complete else []
    columns = ("method", "runs", "points", "joint", "unique", *more, "HV", "IGD+", "seconds")
    rows = []
    for row in ordered:
        volume, _, distance, _ = _indicators(row.union)
        share = [_share(row.share or 0.0)] if complete else []
        rows.append(
            (
                row.method, str(row.n_runs), f"{row.union.n_points:,}", f"{row.union.n_joint:,}",
                f"{row.unique:,}", *share, volume, distance, f"{row.seconds:.2f}",
            )
        )  # fmt: skip
    return Table("", columns, tuple(rows))
