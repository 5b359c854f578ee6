"""EMSCO against its opponents on new rows: Figures 8 to 13 of :cite:t:`Hamilton2022`."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shortlist.multistage.presets import SYNTHETIC30, preset
from shortlist.multistage.search.emsco import RULES, EmscoOptions, emsco
from shortlist.runs import Budget, Unit
from shortlist_papers.comparison import margin, with_margin
from shortlist_papers.landscapes import SPLITS, measured_on_test, paper_problem, paper_table
from shortlist_papers.paper import PaperLine, PaperPicture, ResultTable, Rows
from shortlist_papers.stage_comparison import fit_on_split, measures_of, stage_methods

if TYPE_CHECKING:
    import pandas as pd

OPPONENTS = {
    "greedy-miser": "GM*", "cstc": "CSTC*", "co-t": "CO-T", "cact-lasso": "CaCT LASSO",
    "single": "Single-Stage",
}  # fmt: skip
"""Opponents of the paper, with the paper's names."""


@dataclass(frozen=True)
class Tuning:
    """Rule that chooses an opponent's settings, and the other rule, which is measured too."""

    rule: str
    """Name of the rule, one of :data:`shortlist_papers.opponents.budgeted_classifier.RULES_OF_TUNING`."""
    reason: str
    """Reason for the rule, from the paper's text."""
    other: str | None = None
    """Name of the other rule; None if the paper leaves no doubt."""


_AS_THEIR_AUTHORS = (
    'Tuned "as done in" its authors\' paper, by grid search on validation rows, and '
    '"not optimized with respect '
    'to coverage": its authors ask for accuracy, and price is in what they train.'
)
TUNING = {
    "greedy-miser": Tuning("accuracy", _AS_THEIR_AUTHORS, "sum"),
    "cstc": Tuning("accuracy", _AS_THEIR_AUTHORS, "sum"),
    "cact-lasso": Tuning("sum", "Section 4.3 states it: g1 + g2 + (1 - g3* / ΣC) on the validation set."),
}
"""Rule of tuning of each opponent with settings; the rules are listed here only (see docs/decisions/0154)."""

BY_OTHER = "{}, by the {}"
"""Format of the name of an opponent whose settings the other rule has chosen."""

OVERLAP = 1 / 3
"""Number of test rows over the number of other rows in a split 50 : 25 : 25; see
:func:`shortlist_papers.comparison.margin`.
"""

SECONDS = {
    "greedy-miser": 0.5, "cstc": 0.4, "co-t": 0.1, "cact-lasso": 0.5, "single": 0.1,
    "pima": 0.1, "heart": 0.2, "credit": 0.3, SYNTHETIC30: 56.0,
}  # fmt: skip
"""Approximate seconds of an opponent, and of evolution with the paper's size on a set."""

EVOLVED = {"paper": "EMSCO", "distinct": "EMSCO, distinct rules"}
"""Names of evolution, by its rules."""

GENERATIONS_WITHOUT_CHANGE = 20
"""Number of generations without change, the g of Sec. 4.3.1."""

FIGURES = {"pima": 8, "credit": 9, "heart": 10, SYNTHETIC30: 11}
"""Number of the figure of each set."""

PAPER_ACCURACIES = {
    ("pima", "EMSCO"): 70.1, ("credit", "EMSCO"): 82.0, ("heart", "EMSCO"): 85.1, (SYNTHETIC30, "GM*"): 44.2,
}  # fmt: skip
PAPER_COVERAGES = {(SYNTHETIC30, "CaCT LASSO"): 65.0}
PAPER_COSTS = {
    ("pima", "EMSCO"): 20.0, ("credit", "EMSCO"): 21.0, ("heart", "GM*"): 19.0, ("heart", "CSTC*"): 54.0,
    (SYNTHETIC30, "EMSCO"): 38.0,
}  # fmt: skip
"""Costs in the text of Sec. 4.3.2, in per cent of the price of all features.

The cost of CSTC* on Heart is computed from that of GM*, which is 65 % less.
"""

PAPER_MEAN_COVERAGES = {"EMSCO": 93.4, "GM*": 54.8, "CSTC*": 63.6}
PAPER_LOSS_OF_ACCURACY = {"EMSCO": -2.72}
"""Means in the text over the four sets; accuracy is compared with Single-Stage."""


NOT_THEIRS = (
    "The splits, and for Synthetic30 the table, are not the paper's; the opponents "
    "are our own. GM* and CSTC* "
    "choose their settings by validation accuracy, and in their second lines by the sum of Figure 12."
)


@dataclass(frozen=True)
class OpponentsSize:
    """Extent of the comparison."""

    sets: tuple[str, ...]
    """Names of the sets."""
    splits: int
    """Number of splits of every set."""
    trials: int
    """Number of runs of evolution on each split."""
    population: int = 300
    generations: int = 150
    """Population, and number of generations of evolution."""
    rules: tuple[str, ...] = tuple(reversed(RULES))
    """Rules of evolution that are run."""


def paper_stages(n_features: int) -> int:
    """Return the largest number of stages k for a number of features.

    The text prints max(⌈n/2⌉, 10), which exceeds Pima's number of features; Figure 13 shows the minimum in
    place of the maximum.
    """
    return min(math.ceil(n_features / 2), 10)


def opponent_units(folder: Path | None, sets: Sequence[str], size: OpponentsSize) -> list[Unit]:
    """Return a unit for every opponent on every split, and for every run of evolution."""
    units = []
    for name in sets:
        searches = {
            rules: dataclasses.replace(
                paper_table(folder, name).options, population=size.population, rules=rules,
                generations=size.generations, patience=GENERATIONS_WITHOUT_CHANGE,
            )
            for rules in size.rules
        }  # fmt: skip
        for split in range(size.splits):
            key = f"opponents/{name}/{split}"
            units += [
                Unit(
                    f"{key}/{method}",
                    measure_opponent,
                    (folder, name, method, split),
                    kind=f"opponents/{name}/{method}",
                    size=SECONDS[method],
                )
                for method in OPPONENTS
            ]
            units += [
                Unit(
                    f"{key}/emsco-{rules}/{trial}",
                    measure_evolved,
                    (folder, name, split, options, trial),
                    kind=f"opponents/{name}/emsco-{rules}",
                    size=SECONDS[name]
                    * (size.population * size.generations / 45_000)
                    * (1.7 if rules == "distinct" else 1.0),
                )
                for trial in range(size.trials)
                for rules, options in searches.items()
            ]
    return units


def measure_opponent(folder: Path | None, name: str, method: str, split: int, *, budget: Budget) -> Rows:
    """Fit an opponent on the split of one seed, and measure it by each rule that may choose its settings.

    A row also has the purchases and answers on the validation rows, which chose the settings.
    """
    table = paper_table(folder, name)
    made = stage_methods((method,), feature_costs=table.costs, confidence=table.confidence)[method]
    fitted, test = fit_on_split(table.X, table.y, made, split, budget=budget)
    facts = {
        "kind": "opponents", "set": name, "split": split, "total": table.total, "test_rows": len(test)
    }  # fmt: skip
    tuning, title = TUNING.get(method), OPPONENTS[method]
    if tuning is None:
        return [{**facts, "method": title, **measures_of(fitted, table.X, table.y, test)}]
    rows: Rows = []
    for rule in filter(None, (tuning.rule, tuning.other)):
        chosen = fitted.tuned_by(rule)
        validated = next(one for one in fitted.tuning_ if one.items() >= chosen.settings_.items())
        rows.append(
            {
                **facts,
                "method": title if rule == tuning.rule else BY_OTHER.format(title, rule),
                **measures_of(chosen, table.X, table.y, test),
                "validated_coverage": validated["coverage"], "validated_cost": validated["cost"],
                "settings": ", ".join(f"{key} {value:g}" for key, value in chosen.settings_.items()),
            }
        )  # fmt: skip
    return rows


def measure_evolved(
    folder: Path | None, name: str, split: int, options: EmscoOptions, trial: int, *, budget: Budget
) -> Rows:
    """Evolve on the validation rows of one split, and measure the fittest chromosome on the test rows.

    With the rules as printed there is also a row for every feature, with the stage, from 1, that buys it.
    """
    table, k = paper_table(folder, name), paper_stages(paper_table(folder, name).X.shape[1])
    split_problem = paper_problem(folder, name, max_stages=k, split=split - SPLITS[name])
    found = emsco(split_problem.problem, options, budget=dataclasses.replace(budget, seed=trial))
    fittest = found.assignments[0]
    facts = {"set": name, "split": split, "trial": trial, "method": EVOLVED[options.rules]}
    rows: Rows = [
        {
            "kind": "opponents",
            **facts,
            "total": table.total,
            "test_rows": len(split_problem.labels),
            "population": options.population,
            "generations": options.generations,
            **measured_on_test(split_problem, fittest),
        }
    ]
    if options.rules == "paper":
        classes = preset(name).cost_classes
        rows += [
            {"kind": "feature", **facts, "feature": feature, "class": classes[feature], "stage": stage}
            for feature, stage in zip(table.X.columns, (fittest + 1).tolist(), strict=True)
        ]
    return rows


def by_split(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return accuracy, coverage and cost in per cent and the sum of one method on one set, by split.

    Runs of evolution on one split share its rows, so they count as one value, their mean. Accuracy is missing
    on a split without answers, and counts as 0 in the sum.
    """
    shares = _in_per_cent(rows)
    shares = shares.assign(accuracy=shares["accuracy"].where(shares["coverage"] > 0))
    measures = [name for name in (*MEASURES, "validated_coverage") if name in shares]
    return shares.groupby("split")[measures].mean()


MEASURES = ("accuracy", "coverage", "cost", "aggregate")
"""Measures on the test rows of a split."""


def _in_per_cent(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return rows with accuracy, coverage and cost in per cent."""
    return rows.assign(
        accuracy=100 * rows["accuracy"].astype(float),
        coverage=100 * rows["coverage"].astype(float),
        cost=100 * rows["cost"].astype(float) / rows["total"],
    )


def new_row_figures(rows: "pd.DataFrame") -> list[ResultTable]:
    """Return accuracy, coverage and cost of every method on the test rows, one figure per set."""
    found = []
    for name, number in FIGURES.items():
        of_set = rows[rows["set"] == name]
        if len(of_set):
            found.append(_figure_of_set(name, number, of_set))
    return found


def _figure_of_set(name: str, number: int, rows: "pd.DataFrame") -> ResultTable:
    measured: Rows = []
    lines = []
    for method, part in _by_method(rows):
        values = by_split(part)
        right = values["accuracy"].dropna()
        measured.append(
            {
                "method": method, "splits": len(values), "answers nothing on": len(values) - len(right),
                "runs": len(part),
                "accuracy %": with_margin(right, 1, OVERLAP) if len(right) else None,
                "paper's accuracy": PAPER_ACCURACIES.get((name, method)),
                "coverage %": with_margin(values["coverage"], 1, OVERLAP),
                "paper's coverage": PAPER_COVERAGES.get((name, method)),
                "cost, % of all": with_margin(values["cost"], 1, OVERLAP),
                "paper's cost": PAPER_COSTS.get((name, method)),
            }
        )  # fmt: skip
        if not len(right):
            continue
        accuracy, half = float(right.mean()), margin(right, OVERLAP)
        lines.append(
            PaperLine(
                method, ((round(float(values["cost"].mean()), 2), round(accuracy, 2)),),
                ((accuracy - half, accuracy + half),) if len(right) > 1 else (), joined=False,
            )
        )  # fmt: skip
    return ResultTable(
        f"figure-{number}",
        f"Figure {number}: EMSCO and its opponents on new rows, {name}",
        measured,
        "Means over plain splits, with margins at 95 % that count the chance of the test rows; accuracy is "
        "conclusive accuracy, over the splits on which a method answers anything. "
        f"The paper's figures are those of its text. {evolution_length(rows)}",
        NOT_THEIRS,
        PaperPicture(
            f"What each method costs on new rows of {name}, and how many of its answers are right.",
            "cost, % of all features", "conclusive accuracy, %", tuple(lines),
        ),
    )  # fmt: skip


def evolution_length(rows: "pd.DataFrame") -> str:
    """Return a sentence on the length of evolution on new rows, which differs between scales."""
    evolved = rows[rows["method"].isin(EVOLVED.values())] if len(rows) else rows
    if not len(evolved):
        return ""
    first = evolved.iloc[0]
    return (
        f"Evolution had {int(first['population'])} individuals and at most {int(first['generations'])} "
        "generations."
    )


def names_in_order() -> tuple[str, ...]:
    """Return the names of all methods, EMSCO first and then in the paper's order."""
    names = list(EVOLVED.values())
    for method, title in OPPONENTS.items():
        names.append(title)
        other = TUNING[method].other if method in TUNING else None
        if other is not None:
            names.append(BY_OTHER.format(title, other))
    return tuple(names)


def _by_method(rows: "pd.DataFrame") -> list[tuple[str, "pd.DataFrame"]]:
    """Return the rows of each method that was measured."""
    present = set(rows["method"])
    return [(method, rows[rows["method"] == method]) for method in names_in_order() if method in present]


def sums_of_measures(rows: "pd.DataFrame") -> ResultTable:
    """Return the sum of the measures of every method on every set (Figure 12), and the text's means."""
    found: Rows = []
    lines: list[PaperLine] = []
    sets = [str(name) for name in rows["set"].unique()]
    values = {
        method: {str(name): by_split(of_set) for name, of_set in part.groupby("set", sort=False)}
        for method, part in _by_method(rows)
    }
    single = values.get(OPPONENTS["single"], {})
    for number, (method, by_set) in enumerate(values.items()):
        beside = 0.08 * (number - (len(values) - 1) / 2)
        means = {name: float(one["aggregate"].mean()) for name, one in by_set.items()}
        halves = {name: margin(one["aggregate"], OVERLAP) for name, one in by_set.items()}
        lines.append(
            PaperLine(
                method,
                tuple((sets.index(name) + beside, mean) for name, mean in means.items()),
                tuple((mean - halves[name], mean + halves[name]) for name, mean in means.items())
                if not any(map(math.isnan, halves.values()))
                else (),
                joined=False,
                names=tuple(sets),
            )
        )
        loss = [
            float((one["accuracy"] - single[name]["accuracy"]).mean())
            for name, one in by_set.items()
            if name in single
        ]
        coverage = [float(one["coverage"].mean()) for one in by_set.values()]
        found.append(
            {
                "method": method,
                **{
                    name: with_margin(by_set[name]["aggregate"], 3, OVERLAP) if name in by_set else None
                    for name in sets
                },
                "mean coverage %": round(float(np.mean(coverage)), 1),
                "paper's %": PAPER_MEAN_COVERAGES.get(method),
                "accuracy against Single-Stage": round(float(np.mean(loss)), 2) if loss else None,
                "paper's accuracy": PAPER_LOSS_OF_ACCURACY.get(method),
            }
        )  # fmt: skip
    return ResultTable(
        "figure-12",
        "Figure 12: accuracy + coverage + 1 - cost / price of all features",
        found,
        "Means over plain splits, with margins at 95 % that count the chance of the "
        "test rows; where nothing is answered, accuracy counts as 0 in the sum. Means over the sets take all "
        "splits of each set, those of the claims the splits that all sets have. The text's mean "
        "speed increase of 475 % is left out: its costs on four sets allow 341 % at most.",
        NOT_THEIRS,
        PaperPicture(
            "The sum of every method on each set.",
            "set",
            "accuracy + coverage + 1 - cost / price",
            tuple(lines),
        ),
    )  # fmt: skip


def stage_means(rows: "pd.DataFrame") -> ResultTable:
    """Return the stages at which the fittest chromosomes buy the features of each cost class (Figure 13)."""
    found: Rows = []
    lines = []
    for name, part in rows.groupby("set", sort=False):
        points = []
        for cost_class, features in part.groupby("class"):
            means = features.groupby("feature")["stage"].mean()
            points += [(float(cost_class), round(float(mean), 2)) for mean in means]
            found.append(
                {
                    "set": name, "cost class": int(cost_class), "features": len(means),
                    "runs": len(features[["split", "trial"]].drop_duplicates()),
                    "mean stage": round(float(means.mean()), 2), "least": round(float(means.min()), 2),
                    "most": round(float(means.max()), 2),
                }
            )  # fmt: skip
        lines.append(PaperLine(str(name), tuple(points), joined=False))
    return ResultTable(
        "figure-13",
        "Figure 13: when EMSCO buys the features of each cost class",
        found,
        "Least and most are means of one feature over the runs; stages count from 1.",
        "The paper prints no figures beside its picture, and its splits are not public.",
        PaperPicture(
            "The mean stage of every feature, by its cost class.",
            "cost class", "mean stage", tuple(lines),
        ),
    )  # fmt: skip
