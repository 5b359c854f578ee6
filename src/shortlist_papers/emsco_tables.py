"""Tables and figures of :cite:t:`Hamilton2022` from measured rows, beside the paper's figures."""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shortlist._words import counted
from shortlist.multistage.holdout import aggregate
from shortlist.multistage.presets import SYNTHETIC30, preset
from shortlist_papers.comparison import margin, with_margin
from shortlist_papers.landscapes import CREDIT_WAS_CHOSEN, PAPER_EXAMPLE, landscape_tables
from shortlist_papers.paper import PaperLine, PaperPicture, ResultTable, Rows
from shortlist_papers.stage_opponents import (
    evolution_length,
    new_row_figures,
    stage_means,
    sums_of_measures,
)
from shortlist_papers.stored import of_older_versions

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

PAPER_FRONTS = {
    ("heart", 2): 24, ("heart", 3): 28, ("heart", 4): 33,
    ("credit", 2): 47, ("credit", 3): 141, ("credit", 4): 171,
    ("pima", 2): 18, ("pima", 3): 42, ("pima", 4): 65,
}  # fmt: skip
"""Table 6: number of solutions on the complete fronts, by set and largest number of stages."""

PAPER_SHARES = {("heart", 4): "80", ("credit", 4): "over 20"}
"""Share of the front that evolution finds in 500 generations, in per cent, from the text of Sec. 4.2."""

STAGES = (2, 3, 4)
"""Numbers of stages, the k of Sec. 4.2."""

GENERATIONS = (0, 10, 20, 30, 40, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500)
"""Generations drawn in Figure 7."""

SHOWN = (50, 100, 200, 500)
"""Generations whose mean share is in the rows of Figure 7."""


PARAMETERS = ("mutation", "recombination", "elitism", "population", "beta", "confidence")

PRINTED: dict[str, tuple[int, tuple[int, ...] | None, tuple[float, ...]]] = {
    "heart": (2, (1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 1, 1), (0.075, 0.75, 0.2, 300, 2, 0.75)),
    "pima": (3, (1, 3, 2, 2, 3, 2, 2, 1), (0.075, 0.8, 0.2, 300, 2, 0.65)),
    SYNTHETIC30: (4, None, (0.05, 0.8, 0.2, 300, 2.5, 0.65)),
    "credit": (5, (2, 2, 2, 1, 2, 1, 2, 3, 1, 2, 1, 1, 1, 2), (0.075, 0.8, 0.2, 300, 2.5, 0.75)),
}
"""Contents of Tables 2 to 5 by set: number of its table, cost classes in the order of the features,
parameters.
"""


def emsco_tables(rows: "pd.DataFrame") -> list[ResultTable]:
    """Return the paper's tables and figures from the rows, and the authors' example."""
    kinds = dict(list(rows.groupby("kind", sort=False)))
    makers: tuple[tuple[str, Any], ...] = (
        ("front", lambda part: [_fronts(part)]),
        ("split", lambda part: [_plain_splits(part)]),
        ("recall", lambda part: [_recall(part)]),
        ("opponents", lambda part: [*new_row_figures(part), sums_of_measures(part)]),
        ("feature", lambda part: [stage_means(part)]),
        ("example", lambda part: [_example(part)]),
    )
    return (
        [_settings(name, rows) for name in PRINTED]
        + landscape_tables(kinds)
        + [table for kind, make in makers if kind in kinds for table in make(kinds[kind])]
    )


def _settings(name: str, rows: "pd.DataFrame") -> ResultTable:
    """Return the table of parameters and cost classes.

    The population is that of the runs on new rows, if there are such runs.
    """
    number, classes, printed = PRINTED[name]
    ours = preset(name)
    own = {one: getattr(ours.options, one, ours.confidence) for one in PARAMETERS}
    evolved = rows[(rows["set"] == name) & rows["population"].notna()] if "population" in rows else rows[:0]
    if len(evolved):
        own["population"] = int(evolved["population"].iloc[0])
    found: Rows = [
        {"what": parameter, "here": own[parameter], "paper": value}
        for parameter, value in zip(PARAMETERS, printed, strict=True)
    ]
    found += [
        {"what": f"cost class of {feature}", "here": cost_class, "paper": theirs}
        for (feature, cost_class), theirs in zip(
            ours.cost_classes.items(), classes or (None,) * len(ours.cost_classes), strict=True
        )
    ]
    return ResultTable(
        f"table-{number}", f"Table {number}: parameters and cost classes, {name}", found,
        " ".join(filter(None, (f"Costs are read as {ours.scaling}.", evolution_length(evolved))))
        + ("" if classes else " The paper gives the rule of the classes, and not the classes."),
    )  # fmt: skip


def _fronts(rows: "pd.DataFrame") -> ResultTable:
    found: Rows = []
    for name, part in rows.groupby("set", sort=False):
        n_splits = part["split"].nunique()
        lines = [
            ("here, chromosomes", "assignments", part[part["split"] == 0]),
            ("here, objective vectors", "points", part[part["split"] == 0]),
        ]
        if n_splits > 1:
            lines.append((f"here, vectors on {n_splits} splits", "points", part))
        for whose, column, ours in lines:
            sizes = {f"k = {int(k)}": _range(of_k[column]) for k, of_k in ours.groupby("stages")}
            found.append({"set": name, "whose": whose, **sizes})
        theirs = {f"k = {k}": f"{PAPER_FRONTS[str(name), k]}" for k in STAGES}
        found.append({"set": name, "whose": "paper", **theirs})
    return ResultTable(
        "table-6", "Table 6: sizes of the complete fronts", found,
        f"Several chromosomes may have one objective vector. {CREDIT_WAS_CHOSEN}",
        "The paper's splits are not public, and a front is that of a split.",
    )  # fmt: skip


def _plain_splits(rows: "pd.DataFrame") -> ResultTable:
    found: Rows = []
    held = {
        what: rows[[name for name in rows if name[0] == what and name[1:].isdecimal()]].max(axis=1)
        for what in "cp"
    }
    for place, row in rows.to_dict("index").items():
        found.append(
            {
                "set": row["set"], "split": int(row["split"]), "vectors": int(row["points"]),
                "chromosomes": int(row["assignments"]),
                "vectors held %": round(100 * held["p"][place] / row["points"], 1),
                "chromosomes held %": round(100 * held["c"][place] / row["assignments"], 1),
                "elites fill the population": "yes" if row["filled"] else "no",
            }
        )  # fmt: skip
    return ResultTable(
        "plain-splits", "What one run holds of the complete front on plain splits, k = 4", found,
        "Splits with the seeds 0, 1, ..., none of them selected; rules as printed.",
    )  # fmt: skip


def _recall(rows: "pd.DataFrame") -> ResultTable:
    found: Rows = []
    lines = []
    for (name, stages, rules), part in rows.groupby(["set", "stages", "rules"], sort=False):
        n_found = {g: part[f"c{g}"].to_numpy(float) for g in GENERATIONS if part.get(f"c{g}") is not None}
        n_found = {g: counts for g, counts in n_found.items() if counts.size and counts[0] == counts[0]}
        last = max(n_found)
        size = int(part["assignments"].iloc[0])
        vectors = float(part[f"p{last}"].mean()) / int(part["points"].iloc[0])
        found.append(
            {
                "set": name, "k": int(stages), "rules": rules, "runs": len(part), "on the front": size,
                **{f"after {g}": with_margin(n_found[g]) for g in SHOWN if g in n_found},
                "at the end %": round(100 * float(n_found[last].mean()) / size, 1),
                "paper's %": PAPER_SHARES.get((str(name), int(stages))),
                "vectors %": round(100 * vectors, 1), "runs that fall": int(part["falls"].sum()),
            }
        )  # fmt: skip
        curve = dataclasses.replace(
            _curve(str(rules), n_found, size), panel=f"{str(name).capitalize()}, k = {int(stages)}"
        )
        lines.append(curve if rules == "paper" else dataclasses.replace(curve, band=()))
    return ResultTable(
        "figure-7", "Figure 7: chromosomes of the complete front that evolution holds, by generation",
        found,
        "Means over runs, with margins of the 95 % confidence intervals. The rules paper are those as "
        "printed; distinct are the better ones, which keep one chromosome for each objective vector. "
        f"{counted(len(rows), 'run')}{of_older_versions('emsco', rows)}. "
        f"{CREDIT_WAS_CHOSEN}",
        "The paper's splits are not public, and it prints no figures but two shares, after 500 generations.",
        PaperPicture(
            "What share of the complete front the population holds, with 95 % intervals of the mean; each "
            "panel has a scale of its own.",
            "generation", "chromosomes of the front, %", tuple(lines),
        ),
    )  # fmt: skip


def _curve(name: str, n_found: "Mapping[int, NDArray[np.float64]]", size: int) -> PaperLine:
    """Return the mean share of the front by generation, in per cent, with its interval."""
    points, band = [], []
    for generation, counts in n_found.items():
        mean, spread = float(counts.mean()), margin(counts)
        low, high = (mean, mean) if len(counts) < 2 else (mean - spread, mean + spread)
        points.append((float(generation), 100 * mean / size))
        band.append((100 * low / size, 100 * high / size))
    return PaperLine(name, tuple(points), tuple(band))


def _example(rows: "pd.DataFrame") -> ResultTable:
    found: Rows = []
    for level, part in rows.groupby("level"):
        accuracy, coverage, cost = PAPER_EXAMPLE[float(level)]
        theirs = {"accuracy": accuracy, "coverage": coverage, "cost": cost}
        theirs["aggregate"] = round(aggregate(coverage, accuracy, cost / float(part["total"].iloc[0])), 4)
        ours = {name: round(float(part[name].mean()), 4) for name in theirs}
        found.append({"confidence": float(level), "whose": "here", "runs": len(part), **ours})
        found.append({"confidence": float(level), "whose": "authors", "runs": 10, **theirs})
    return ResultTable(
        "example", "The authors' example, on its test rows", found,
        "It is not in the paper. The aggregate is accuracy + coverage + 1 - cost / sum of all costs.",
        "The authors' program draws mutations uniformly and rounds inverse costs, and the paper does not.",
    )  # fmt: skip


def _range(values: "pd.Series[int]") -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
