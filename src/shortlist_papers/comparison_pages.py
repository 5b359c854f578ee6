"""Comparisons of methods as parts of a page: runs as boxes, quality against time, ranks."""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import counted
from shortlist.errors import BadInputError
from shortlist.report.fronts import RULES, front_parts
from shortlist.report.page import Chart, Heading, Parts, Table, Text
from shortlist.results.front import Front
from shortlist.results.picking import Pick

if TYPE_CHECKING:
    import pandas as pd

    from shortlist_papers.comparison import RankTest
    from shortlist_papers.product_comparison import Comparison

QUALITIES = {
    "hypervolume": "Hypervolume in the common box; more is better",
    "igd_plus": "IGD+ to the joint front; less is better",
    "seconds": "Seconds; less is better",
}
"""Measures drawn for each run, with titles on how to read them."""

MEASURES = {
    "accuracy": "Accuracy on the test rows of a fold; more is better",
    "balanced_accuracy": "Balanced accuracy on the test rows of a fold; more is better",
    "size": "Members; fewer are cheaper",
    "seconds": "Seconds of choosing",
}
"""Measures drawn for each fold, with titles on how to read them."""

CAUTION = "± is the deviation over the folds, which share rows: the order of close methods may be chance."

RANK = "Rank: mean rank over the folds, 1 is best, ties share ranks; - above the limit on cost."


def product_comparison_parts(comparison: "Comparison") -> Parts:
    """Return the fronts of all methods, the quality of every run, and hypervolume against time."""
    import pandas as pd

    tables = comparison.tables
    picks = [] if tables is None else joint_picks(comparison.fronts, tables.joint)
    parts: list[Any] = list(front_parts(comparison.fronts, picks=picks))
    if tables is None or tables.box is None or not comparison.runs:
        return parts
    methods = list(dict.fromkeys(run.method for run in comparison.runs))
    dots: dict[str, list[list[Any]]] = {m: [] for m in methods}
    for run in comparison.measured:
        words = f"{run['method']}, seed {run['seed']}: {run['seconds']:.3g} s, {run['hypervolume']:.4f}"
        dots[run["method"]].append([max(run["seconds"], 1e-3), run["hypervolume"], words])
    parts += [Heading("Every run"), *_boxes(pd.DataFrame(comparison.measured), QUALITIES, noun="run")]
    parts.append(
        Chart(
            "Hypervolume against time",
            f"A dot per run at its end, {counted(len(comparison.runs), 'run')} in all; "
            "higher and further left is better.",
            {
                "kind": "line",
                "x": {"label": "seconds, in powers of ten", "log": True},
                "y": {"label": "hypervolume in the common box"},
                "series": [{"name": m, "points": points, "line": False} for m, points in dots.items()],
            },
            notes=("What a run had found before its end is not kept.",),
        )
    )  # fmt: skip
    return parts


def joint_picks(fronts: Mapping[str, Front], joint: Front) -> list[tuple[str, Pick, str]]:
    """Return the points that the default rules pick from the joint front.

    Each point comes with the first front that has the point.
    """
    if not len(joint):
        return []
    found = []
    for rule, why in RULES.items():
        wanted = joint.values[joint.pick(rule).index]
        for name, front in fronts.items():
            here = np.flatnonzero((front.values == wanted).all(axis=1))
            if len(here):
                found.append((name, front.point(int(here[0]), rule), f"Of the joint front. {why}"))
                break
    return found


def _boxes(results: "pd.DataFrame", measures: Mapping[str, str], *, noun: str) -> list[Chart]:
    """Return charts of the measures: a box per method with quartiles and median, a dot per unit."""
    methods = dict.fromkeys(results["method"])
    each = {
        title: {
            str(name): [float(value) for value in results.loc[results["method"] == name, measure].dropna()]
            for name in methods
        }
        for measure, title in measures.items()
    }
    return [_box_chart(title, values, noun) for title, values in each.items() if any(values.values())]


def _box_chart(title: str, values: dict[str, list[float]], noun: str) -> Chart:
    medians = {name: median(each) for name, each in values.items() if each}
    words = ", ".join(f"{name} {value:.4g}" for name, value in medians.items())
    rows = tuple(
        (name, f"{len(each):,}", *(f"{number:.4g}" for number in (min(each), median(each), max(each))))
        for name, each in values.items()
        if each
    )
    return Chart(
        title,
        f"Medians: {words}.",
        {"kind": "box", "names": list(values), "values": list(values.values()), "x": {"label": title}},
        Table(title, ("method", f"{noun}s", "least", "median", "largest"), rows),
        (f"A box goes from quartile to quartile, with the median; a dot is a {noun}.",),
    )


def pruning_comparison_parts(results: "pd.DataFrame") -> Parts:
    """Return the parts of a page on pruning methods: results in every fold, and ranks.

    Raises BadInputError if columns are missing.

    `results`: a row per table, fold and method, from
    :func:`shortlist_papers.pruning_comparison.compare_methods`.
    """
    from shortlist_papers.comparison import rank_folds, rank_methods
    from shortlist_papers.pruning_comparison import best_singles_text

    needed = {"dataset", "method", *MEASURES}
    if missing := sorted(needed - set(results.columns)):
        raise BadInputError(
            f"results of a comparison must have the columns {sorted(needed)}, got none of {missing}."
        )
    tables = list(dict.fromkeys(results["dataset"]))
    methods = list(dict.fromkeys(results["method"]))
    ranked = rank_folds(results)
    rows = tuple(
        (
            str(row.method), "-" if math.isnan(row.rank) else f"{row.rank:.2f}", _accuracy(row),
            f"{row.balanced_accuracy:.4f}", f"{row.size:.1f}", f"{row.seconds:.3f}",
        )
        for row in ranked.fillna({"accuracy_deviation": 0.0, "size": 0.0}).itertuples()
    )  # fmt: skip
    title = f"{counted(len(methods), 'method')} on {counted(len(tables), 'table')}"
    best, *others = ranked.fillna({"accuracy_deviation": 0.0}).itertuples()
    after = f" Next is {others[0].method}: {others[0].rank:.2f}, {_accuracy(others[0])}." if others else ""
    parts: list[Any] = [
        Heading("What to do"),
        Text(f"Take {best.method}: mean rank {best.rank:.2f}, accuracy {_accuracy(best)}.{after}"),
        Text(CAUTION, note=True),
        Heading(title),
        Table(
            "Means over the folds",
            ("method", "rank", "accuracy", "balanced accuracy", "size", "seconds"),
            rows,
            tuple(filter(None, (RANK, best_singles_text(results)))),
        ),
        Heading("Ranks"),
    ]
    mean_ranks = {str(row.method): float(row.rank) for row in ranked.dropna(subset="rank").itertuples()}
    if len(tables) > 1 and len(methods) > 1:
        try:
            parts.append(rank_chart(rank_methods(results)))
        except BadInputError as error:
            parts.append(Text(str(error), note=True))
    else:
        parts += [
            _ranks("Mean ranks over the folds", mean_ranks, None, []),
            Text(
                "Folds of one table share rows, so that they show no significant difference: a critical "
                "difference takes several tables.",
                note=True,
            ),
        ]
    return [*parts, Heading("Every fold"), *_boxes(results, MEASURES, noun="fold")]


def _accuracy(row: Any) -> str:
    return f"{row.accuracy:.4f} ± {row.accuracy_deviation:.4f}"


def rank_chart(test: "RankTest") -> Chart:
    """Return a chart of mean ranks over tables with the critical difference (:cite:t:`Demsar2006`)."""
    return _ranks(
        "Mean ranks over tables",
        test.mean_ranks,
        test.critical_difference,
        alike(sorted(test.mean_ranks.values()), test.critical_difference),
        (
            f"{counted(test.n_tables, 'table')}; Friedman's test: p {test.f_p:.3g}.",
            f"Critical difference {test.critical_difference:.3f} at {test.alpha:g} (Nemenyi).",
        ),
    )


def alike(ranks: Sequence[float], difference: float) -> list[tuple[float, float]]:
    """Return the longest runs of sorted ranks whose ends are closer than a difference, two or more each.

    >>> alike([1.0, 1.5, 2.2, 4.0], 1.0)
    [(1.0, 1.5), (1.5, 2.2)]
    """
    found: list[tuple[float, float]] = []
    for i, low in enumerate(ranks):
        inside = [rank for rank in ranks[i:] if rank - low < difference]
        if len(inside) > 1 and (not found or inside[-1] > found[-1][1]):
            found.append((low, inside[-1]))
    return found


def _ranks(
    title: str,
    ranks: dict[str, float],
    critical: float | None,
    groups: list[tuple[float, float]],
    notes: tuple[str, ...] = (),
) -> Chart:
    order = sorted(ranks.items(), key=lambda one: one[1])
    bars = " A bar joins methods that the test does not tell apart." if critical else ""
    return Chart(
        title,
        f"Best is {order[0][0]} with {order[0][1]:.2f}, last {order[-1][0]} with {order[-1][1]:.2f}.{bars}",
        {
            "kind": "ranks",
            "names": list(ranks),
            "ranks": list(ranks.values()),
            "critical": critical,
            "groups": groups,
        },
        Table(title, ("method", "mean rank"), tuple((name, f"{rank:.3f}") for name, rank in order)),
        notes,
    )
