"""Judges of the claims of :cite:t:`Hamilton2022`: what rows of EMSCO and its opponents say about it."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shortlist._words import all_of, counted
from shortlist.multistage.presets import preset
from shortlist.results.intervals import wilson_interval
from shortlist_papers.claims import (
    ClaimFinding,
    PaperRows,
    Part,
    above,
    below,
    facts,
    figure,
    needed,
    once,
    share_figure,
    shown_mean,
    trend,
)
from shortlist_papers.stage_opponents import FIGURES

if TYPE_CHECKING:
    import pandas as pd

EMSCO_NAME, SINGLE = "EMSCO", "Single-Stage"
BUDGETED = ("GM*", "CSTC*", "CO-T", "CaCT LASSO")
"""The opponents that pay for what they use, all with a terminal reject option."""
METHODS = (EMSCO_NAME, *BUDGETED, SINGLE)
ALL = tuple(FIGURES)
OBJECTIVES = ("accuracy", "coverage", "cost")

SPACES = {("heart", 4): 15_199_275, ("credit", 4): 254_152_083}
"""Stage assignments, k! · S(n, k) summed over k."""

TEST_ROWS = {"pima": 192, "credit": 173, "heart": 75, "synthetic30": 250}
"""A quarter of each set, by class."""
CLASSES = {"synthetic30": 3}
"""Number of classes of sets with more than two."""

Check: TypeAlias = tuple[str, str, str, str | tuple[str, ...] | float]
"""A measure, a method, ``<``, ``>`` or ``=``, and another method, the best of several, or per cent. Or a
measure that is empty, a method, ``dominates``, and another method.
"""

Measured: TypeAlias = "Mapping[str, Mapping[str, pd.DataFrame]]"
"""Runs by set and method: accuracy, coverage and cost in per cent, and the sum."""


class EmscoRows(PaperRows):
    """Rows by kind, and the runs on new rows by set and method; each is made once."""

    @once
    def measured(self) -> Measured:
        """Return the runs on new rows, of the sets where all methods of the paper were measured."""
        part = self.of_kind("opponents")
        if part.empty:
            return {}
        part = part.assign(
            accuracy=100 * part["accuracy"],
            coverage=100 * part["coverage"],
            cost=100 * part["cost"] / part["total"],
        )
        found = {name: dict(list(part[part["set"] == name].groupby("method"))) for name in ALL}
        return {name: methods for name, methods in found.items() if set(METHODS) <= set(methods)}

    @once
    def stages(self) -> "dict[str, pd.DataFrame]":
        """Return, for each set, the mean stage and the cost class of every feature."""
        part = self.of_kind("feature")
        return {
            str(name): of_set.groupby(["class", "feature"])["stage"].mean().reset_index()
            for name, of_set in (part.groupby("set", sort=False) if len(part) else ())
        }


def evidence_of(found: Measured) -> str:
    """Say the numbers of sets, splits and runs of EMSCO behind a finding."""
    runs = [len(methods[EMSCO_NAME]) for methods in found.values()]
    n_splits = max(methods[EMSCO_NAME]["split"].nunique() for methods in found.values())
    shown = f"{min(runs)} to {max(runs)} runs" if min(runs) < max(runs) else counted(max(runs), "run")
    return f"{counted(len(found), 'set')}, {counted(int(n_splits), 'split')} of each, {shown}"


def mean(methods: "Mapping[str, pd.DataFrame]", method: str, measure: str) -> float:
    """Return the mean of a measure, rounded so that equal means are equal."""
    return round(float(methods[method][measure].mean()), 9)


def less(methods: "Mapping[str, pd.DataFrame]", one: str, other: str, measure: str) -> "pd.Series[float]":
    """Return the excess of a method over another one: for each run of the one with more, on its split."""
    first, second = methods[one], methods[other]
    if len(first) < len(second):
        return -less(methods, other, one, measure)
    return (first[measure] - first["split"].map(second.groupby("split")[measure].mean())).dropna()


def checked(methods: "Mapping[str, pd.DataFrame]", name: str, check: Check) -> Part:
    """Judge one comparison on one set. Printed shares of rows have Wilson's interval over the test rows."""
    measure, one, sign, other = check
    if sign == "dominates":
        own = {name: below if name == "cost" else above for name in OBJECTIVES}
        parts = [judge(less(methods, one, str(other), name)) for name, judge in own.items()]
        lacking = [part for part in parts if not part.sure]
        return Part(
            all(part.same for part in parts),
            not lacking,
            bool(lacking) and all(part.chance for part in lacking),
        )
    if isinstance(other, tuple):
        other = _rival(methods, check)
    if isinstance(other, str):
        return (above if sign == ">" else below)(less(methods, one, other, measure))
    if sign != "=":
        return (above if sign == ">" else below)(methods[one][measure], other)
    if measure == "cost":
        return figure(methods[one]["cost"], other, 100.0)
    answered = TEST_ROWS[name] * mean(methods, one, "coverage") / 100
    n, nothing = (TEST_ROWS[name], 1.0) if measure == "coverage" else (answered, 1 / CLASSES.get(name, 2))
    if not n:
        return Part(same=False)
    return share_figure(n * mean(methods, one, measure) / 100, n, other / 100, nothing)


def _rival(methods: "Mapping[str, pd.DataFrame]", check: Check) -> Any:
    """Return the rival of a method: of several methods the best."""
    measure, _, sign, other = check
    if not isinstance(other, tuple):
        return other
    return (max if sign == ">" else min)(other, key=lambda rival: mean(methods, rival, measure))


def on_set(rows: "EmscoRows | pd.DataFrame", name: str, checks: Sequence[Check]) -> ClaimFinding:
    """Judge the paper's claims on one set, a part for each comparison."""
    methods = needed(EmscoRows.of(rows).measured().get(name))
    shown: dict[str, dict[str, None]] = {}
    for measure, one, _, other in checks:
        others = [other] if isinstance(other, str) else other if isinstance(other, tuple) else []
        for objective in (measure,) if measure else OBJECTIVES:
            shown.setdefault(objective, {}).update(dict.fromkeys([one, *others]))
    told = [
        f"{measure} {', '.join(f'{one} {mean(methods, one, measure):.1f}' for one in ones)}"
        for measure, ones in shown.items()
    ]
    parts = tuple(checked(methods, name, check) for check in checks)
    kept = sum(part.same for part in parts)
    several = f"; {kept} of {len(parts)} comparisons the same way" if len(parts) > 1 else ""
    failing = {
        one
        for part, check in zip(parts, checks, strict=True)
        if not part.same
        for one in (check[1], _rival(methods, check))
    }
    return ClaimFinding(
        f"{'; '.join(told)} %", parts, evidence_of({name: methods}) + several, _free(methods, failing)
    )


def _free(methods: "Mapping[str, pd.DataFrame]", named: Collection[Any]) -> str:
    free = [one for one in BUDGETED if one in named and _buys_nothing(methods, one)]
    if free:
        verb, whose = ("buy", "they choose their") if len(free) > 1 else ("buys", "it chooses its")
        return (
            f"{all_of(free)} {verb} nothing: the larger class alone is confident, and the sum by which "
            f"{whose} settings values that."
        )
    return " ".join(_few_answers(methods[one], one) for one in BUDGETED if one in named).strip()


def _buys_nothing(methods: "Mapping[str, pd.DataFrame]", method: str) -> bool:
    """Whether a method answers every row without any feature."""
    return mean(methods, method, "cost") == 0 and mean(methods, method, "coverage") == 100


def _few_answers(part: "pd.DataFrame", method: str) -> str:
    """Say that settings were chosen with few rows answered; empty from a tenth of the validation rows on."""
    if "conclusive" not in part or not part["conclusive"].notna().all():
        return ""
    n, total = int(part["conclusive"].sum()), int(part["validation_rows"].sum())
    return (
        f"{method} chose its settings with {n} of {total} validation rows conclusive."
        if n < total / 10
        else ""
    )


def dominating(methods: "Mapping[str, pd.DataFrame]", method: str) -> list[str]:
    """Return the methods that are at least as good in all three means, and better in one."""

    def ahead(other: str) -> list[float]:
        more = [mean(methods, other, one) - mean(methods, method, one) for one in OBJECTIVES]
        return [*more[:2], -more[2]]

    others = [name for name in METHODS if name in methods and name != method]
    return [name for name in others if min(ahead(name)) >= 0 and max(ahead(name)) > 0]


def _figures(methods: "Mapping[str, pd.DataFrame]", method: str) -> str:
    return "/".join(f"{mean(methods, method, one):.1f}" for one in OBJECTIVES)


def nondominated(rows: EmscoRows) -> ClaimFinding:
    """Judge whether no method of the paper dominates EMSCO, which is surely better in one objective."""
    found = needed(rows.measured())
    parts, told = [], []
    for name, methods in found.items():
        by = dominating(methods, EMSCO_NAME)
        beaten = [
            any(
                (below if one == "cost" else above)(less(methods, EMSCO_NAME, other, one)).sure
                for one in OBJECTIVES
            )
            for other in METHODS
            if other != EMSCO_NAME
        ]
        parts.append(Part(not by, all(beaten), not by and not all(beaten)))
        told += [
            f"{other} on {name}: {_figures(methods, other)} % against {_figures(methods, EMSCO_NAME)} %"
            for other in by
        ]
    return ClaimFinding(
        f"dominated by {all_of(told)}" if told else f"non-dominated on {all_of(list(found))}", tuple(parts),
        f"{evidence_of(found)}; accuracy/coverage/share of the price",
        _why_heart(found) if any("GM* on heart" in one for one in told) else "",
    )  # fmt: skip


def _why_heart(found: Measured) -> str:
    """Say the features that GM* buys on Heart; empty unless it costs less than the three cheapest."""
    costs = preset("heart").costs()
    cheapest = 100 * sum(sorted(costs.values())[:3]) / sum(costs.values())
    cost = mean(found["heart"], "GM*", "cost")
    if not cost < cheapest:
        return ""
    return (
        f"GM* pays {cost:.1f} % of the price, less than three of the cheapest features cost, for all rows; "
        "EMSCO has to place every feature, so that rows that its first stages reject buy them all."
    )


def first_in(rows: EmscoRows, measure: str, among: Sequence[str], wanted: Sequence[str]) -> ClaimFinding:
    """Judge whether EMSCO has the best mean of a measure among methods, on the sets that the paper names."""
    found = needed({name: methods for name, methods in rows.measured().items() if name in wanted})
    parts, told, free = [], [], []
    for name, methods in found.items():
        sign = -1 if measure == "cost" else 1
        best = max(
            (one for one in among if one != EMSCO_NAME), key=lambda one: sign * mean(methods, one, measure)
        )
        parts.append(above(sign * less(methods, EMSCO_NAME, best, measure)))
        told.append(
            f"{name}: {mean(methods, EMSCO_NAME, measure):.1f}, {best} {mean(methods, best, measure):.1f}"
        )
        if not parts[-1].same and _buys_nothing(methods, best):
            free.append(name)
    why = (
        f"On {all_of(free)} the larger class alone is confident, so that opponents answer every row and buy "
        "nothing; EMSCO has to buy a feature." if free else ""
    )  # fmt: skip
    n_first = sum(part.same for part in parts)
    return ClaimFinding(
        f"on {n_first} of {len(found)} ({'; '.join(told)} %)", tuple(parts), evidence_of(found), why
    )


MEANS = {
    "coverage": lambda methods, one: mean(methods, one, "coverage"),
    "lost": lambda methods, one: 100 - mean(methods, one, "coverage"),
    "accuracy": lambda methods, one: mean(methods, SINGLE, "accuracy") - mean(methods, one, "accuracy"),
    "speed": lambda methods, one: (
        100 * mean(methods, SINGLE, "cost") / max(mean(methods, one, "cost"), 1e-9) - 100
    ),
}  # fmt: skip
"""Means in the text, in per cent: rows answered, rows lost, accuracy lost beside Single-Stage, and speed
gained.
"""


def mean_of_sets(rows: EmscoRows, what: str, printed: float, method: str = EMSCO_NAME) -> ClaimFinding:
    """Judge a printed mean over all four sets; nothing is 0 lost or gained, or half of the rows answered."""
    found = rows.measured()
    needed(len(found) == len(ALL))
    values = np.array([MEANS[what](methods, method) for methods in found.values()])
    nothing = 50.0 if what == "coverage" else 0.0
    unit = {"accuracy": "points", "speed": "% more"}.get(what, "%")
    return ClaimFinding(
        shown_mean(values, unit), (figure(values, printed, nothing),),
        f"{evidence_of(found)}; {values.min():.1f} to {values.max():.1f} by set",
    )  # fmt: skip


def threshold(rows: EmscoRows) -> ClaimFinding:
    """Judge whether EMSCO's answers are right more often than the threshold asks, by answered test rows."""
    found = needed(rows.measured())
    asked = {name: 100 * preset(name).confidence for name in found}
    return ClaimFinding(
        ", ".join(
            f"{name} {mean(found[name], EMSCO_NAME, 'accuracy'):.1f} for {asked[name]:g} %" for name in found
        ),
        tuple(_reaches(found[name], name, asked[name]) for name in found),
        f"{evidence_of(found)}; 95 % intervals over the test rows that are answered",
    )


def _reaches(methods: "Mapping[str, pd.DataFrame]", name: str, asked: float) -> Part:
    n = max(1.0, TEST_ROWS[name] * mean(methods, EMSCO_NAME, "coverage") / 100)
    accuracy = mean(methods, EMSCO_NAME, "accuracy")
    low, high = wilson_interval(n * accuracy / 100, n)
    return Part(accuracy > asked, 100 * low > asked, low <= asked / 100 <= high)


def comparable(rows: EmscoRows, most: float) -> ClaimFinding:
    """Judge whether EMSCO loses no more accuracy beside one stage with all features than the paper's mean."""
    found = needed(rows.measured())
    lost = {name: less(methods, SINGLE, EMSCO_NAME, "accuracy") for name, methods in found.items()}
    return ClaimFinding(
        ", ".join(f"{name} {values.mean():.1f} points less" for name, values in lost.items()),
        tuple(below(values, most) for values in lost.values()),
        f"{evidence_of(found)}; comparable: at most the paper's mean loss, {most:g} points",
    )


def excused(rows: EmscoRows) -> ClaimFinding:
    """Judge whether whoever is cheaper than EMSCO covers less or is less accurate than p̂."""
    found = needed(rows.measured())
    parts = {}
    for name, methods in found.items():
        for one in BUDGETED:
            if mean(methods, one, "cost") < mean(methods, EMSCO_NAME, "cost"):
                covers = below(less(methods, one, EMSCO_NAME, "coverage"))
                wrong = mean(methods, one, "accuracy") < 100 * preset(name).confidence
                parts[f"{one} on {name}"] = Part(True) if wrong else covers
    others = [name for name, part in parts.items() if not part.same]
    free = [
        name
        for name in found
        if _free(found[name], [one for one in BUDGETED if f"{one} on {name}" in others])
    ]
    return ClaimFinding(
        f"{counted(len(parts), 'cheaper method')}; without such a fault: "
        f"{all_of(others) if others else 'none'}",
        tuple(parts.values()) or facts([True]),
        evidence_of(found),
        f"On {all_of(free)} opponents buy nothing: the larger class alone is confident." if free else "",
    )


def strong_sums(rows: EmscoRows) -> ClaimFinding:
    """Judge whether EMSCO's sum is above the median of its opponents', set by set."""
    found = needed(rows.measured())
    parts, told, free = [], [], []
    for name, methods in found.items():
        others = [mean(methods, one, "aggregate") for one in METHODS if one != EMSCO_NAME]
        own = methods[EMSCO_NAME]["aggregate"]
        parts.append(above(own, float(np.median(others))))
        told.append(
            f"{name}: place {1 + sum(one > mean(methods, EMSCO_NAME, 'aggregate') for one in others)}"
        )
        if not parts[-1].same and any(_buys_nothing(methods, one) for one in BUDGETED):
            free.append(name)
    why = f"On {all_of(free)} opponents reach a larger sum by buying nothing." if free else ""
    return ClaimFinding(
        ", ".join(told), tuple(parts), f"{evidence_of(found)}; strong: above the median of the opponents", why
    )  # fmt: skip


def association(rows: EmscoRows) -> ClaimFinding:
    """Judge whether cost classes and stages are poorly correlated, set by set; large is .5 (Cohen, 1988)."""
    from scipy.stats import spearmanr

    found, parts = {}, []
    for name, means in rows.stages().items():
        varies = means["class"].nunique() > 1 and means["stage"].nunique() > 1
        value = float(spearmanr(means["class"], means["stage"]).statistic) if varies else 0.0
        half = 1.96 / np.sqrt(len(means) - 3)
        ends = np.tanh(np.arctanh(np.clip(value, -0.999, 0.999)) + np.array([-half, half]))
        found[name] = value
        poor, inside = abs(value) < 0.5, bool((np.abs(ends) < 0.5).all())
        parts.append(Part(poor, poor and inside, not inside and bool(ends[0] < 0.5 and ends[1] > -0.5)))
    needed(found)
    return ClaimFinding(
        ", ".join(f"{name} {value:.2f}" for name, value in found.items()), tuple(parts),
        "Spearman's correlation of class and mean stage over the features, 95 % intervals; poor: below .5",
    )  # fmt: skip


def early(rows: EmscoRows) -> ClaimFinding:
    """Judge whether a feature of the greatest cost class is bought before the mean stage of all others."""
    told, parts = [], []
    for name, means in rows.stages().items():
        greatest = means[means["class"] == means["class"].max()]["stage"]
        others = means[means["class"] < means["class"].max()]["stage"]
        told.append(f"{name} {greatest.min():.1f} against {others.mean():.1f}")
        parts.append(above(others, float(greatest.min())))
    needed(told)
    return ClaimFinding(
        ", ".join(told), tuple(parts), "earliest mean stage of the greatest class, mean stage of the others"
    )


def together(rows: EmscoRows, name: str) -> ClaimFinding:
    """Judge whether the mean stages of the two cheapest classes of a set overlap."""
    means = needed(rows.stages().get(name))
    needed(means["class"].nunique() > 1)
    spans = means.groupby("class")["stage"].agg(["min", "max"]).iloc[:2]
    return ClaimFinding(
        " and ".join(
            f"class {int(one)} {row['min']:.1f} to {row['max']:.1f}" for one, row in spans.iterrows()
        ),
        facts([spans["min"].max() <= spans["max"].min()]),
        f"mean stages of {counted(len(means), 'feature')} over the runs; together: the ranges overlap",
    )


def thresholds(rows: EmscoRows) -> ClaimFinding:
    """Judge whether a higher threshold means more accuracy, less coverage and more cost."""
    part = needed(rows.of_kind("thresholds")).sort_values("level")
    needed(len(part) > 2)
    told = [
        f"{name} {part[name].iloc[0]:.2f} to {part[name].iloc[-1]:.2f}" for name in ("accuracy", "coverage")
    ]
    return ClaimFinding(
        f"{', '.join(told)}, cost {part['cost'].iloc[0]:.0f} to {part['cost'].iloc[-1]:.0f}",
        tuple(trend(part["level"], part[name].astype(float), sign)
              for name, sign in (("accuracy", 1), ("coverage", -1), ("cost", 1))),
        f"{counted(len(part), 'threshold')}; Spearman's correlations",
    )  # fmt: skip


def volatile(rows: EmscoRows) -> ClaimFinding:
    """Judge whether one step in a chromosome changes an objective by a tenth of its range."""
    part = rows.of_kind("neighbours")
    needed(len(part) > 1)
    best = part[part["place"] == 0].iloc[0]
    moved = part[part["place"] != 0]
    far = {
        name: float((moved[name].astype(float) - float(best[name])).abs().max())
        for name in ("coverage", "accuracy", "inverse")
    }
    return ClaimFinding(
        ", ".join(f"{name} up to {100 * value:.0f} points" for name, value in far.items()),
        facts([max(far.values()) > 0.1]),
        f"{counted(len(moved), 'neighbour')} of one assignment; significant: a tenth of the range",
    )
