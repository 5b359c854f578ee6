"""Judges of the claims of :cite:t:`Hamilton2022` by rows of EMSCO and its opponents."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from shortlist._words import all_of, counted
from shortlist.multistage.presets import preset
from shortlist.results.intervals import wilson_interval
from shortlist_papers.claims import ClaimFinding, Part, above, facts, needed, shown_mean, trend
from shortlist_papers.emsco_rows import (
    ALL,
    BUDGETED,
    EMSCO_NAME,
    METHODS,
    OBJECTIVES,
    ONE_SPLIT,
    SINGLE,
    EmscoRows,
    Measured,
    evidence_of,
    less,
    mean,
    over,
    printed_figure,
    silent_splits,
    under,
)

if TYPE_CHECKING:
    import pandas as pd

SPACES = {("heart", 4): 15_199_275, ("credit", 4): 254_152_083}
"""Number of stage assignments, k! · S(n, k) summed over k."""

CLASSES = {"synthetic30": 3}
"""Number of classes of sets with more than two."""

Check: TypeAlias = tuple[str, str, str, str | tuple[str, ...] | float]
"""Comparison: measure, method, ``<``, ``>`` or ``=``, and its rival: a method, the best of several, or per
cent.

For dominance: an empty measure, a method, ``dominates``, and another method.
"""


def checked(methods: "Mapping[str, pd.DataFrame]", name: str, check: Check) -> Part:
    """Judge one comparison of methods on one set, by the set's splits."""
    measure, one, sign, other = check
    if sign == "dominates":
        own = {objective: under if objective == "cost" else over for objective in OBJECTIVES}
        parts = [judge(less(methods, one, str(other), objective)) for objective, judge in own.items()]
        lacking = [part for part in parts if not part.sure]
        return Part(
            all(part.same for part in parts),
            not lacking,
            bool(lacking) and all(part.chance for part in lacking),
        )
    if isinstance(other, float | int):
        if sign == "=":
            nothing = 100 / CLASSES.get(name, 2) if measure == "accuracy" else 100.0
            return printed_figure(methods[one][measure], other, nothing)
        return (over if sign == ">" else under)(methods[one][measure], other)
    return (over if sign == ">" else under)(less(methods, one, str(_rival(methods, check)), measure))


def _rival(methods: "Mapping[str, pd.DataFrame]", check: Check) -> str | float:
    """Return the rival in a comparison; of several methods the best one."""
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
    told = [f"{measure} {_means(methods, measure, ones)}" for measure, ones in shown.items()]
    parts = tuple(checked(methods, name, check) for check in checks)
    kept = sum(part.same for part in parts)
    several = f"; {kept} of {len(parts)} comparisons the same way" if len(parts) > 1 else ""
    several += _silent(methods, shown.get("accuracy", ()), shown.get("coverage", ()))
    failing = {
        one
        for part, check in zip(parts, checks, strict=True)
        if not part.same
        for one in (check[1], _rival(methods, check))
    }
    return ClaimFinding(
        "; ".join(told), parts, evidence_of({name: methods}) + several, idle(methods, failing)
    )


def _means(methods: "Mapping[str, pd.DataFrame]", measure: str, ones: Collection[str]) -> str:
    digits, unit = (3, "") if measure == "aggregate" else (1, " %")
    return ", ".join(f"{one} {mean(methods, one, measure):.{digits}f}" for one in ones) + unit


def _silent(
    methods: "Mapping[str, pd.DataFrame]", accurate: Collection[str], covering: Collection[str]
) -> str:
    """Return words on the splits without answers of the methods whose accuracy or coverage is reported."""
    return "".join(
        f"; {one} answers nothing on {n} of them"
        + (", which its accuracy leaves out" if one in accurate else "")
        for one in dict.fromkeys([*accurate, *covering])
        if (n := silent_splits(methods[one]))
    )


def idle(methods: "Mapping[str, pd.DataFrame]", named: Collection[object]) -> str:
    """Return words on the splits on which named methods buy nothing, or answer nothing.

    Empty unless that is so on more than half of the splits beyond chance: Wilson's interval of the share must
    begin above one half.
    """
    told = []
    for one in BUDGETED:
        if one not in named:
            continue
        values, n = methods[one], len(methods[one])
        free = int(((values["cost"] == 0) & (values["coverage"] == 100)).sum())
        silent = silent_splits(values)
        for count, what in (
            (free, "buys nothing, as the larger class alone is confident"),
            (silent, "is confident of no row"),
        ):
            if wilson_interval(count, n)[0] > 0.5:
                told.append(f"{one} {what}, on {count} of {counted(n, 'split')}.")
    return " ".join(told)


def dominating(methods: "Mapping[str, pd.DataFrame]", method: str) -> list[str]:
    """Return the methods that are at least as good in all three means, and better in one."""

    def ahead(other: str) -> list[float]:
        more = [mean(methods, other, one) - mean(methods, method, one) for one in OBJECTIVES]
        return [*more[:2], -more[2]]

    others = [name for name in METHODS if name in methods and name != method]
    return [name for name in others if min(ahead(name)) >= 0 and max(ahead(name)) > 0]


def _figures(methods: "Mapping[str, pd.DataFrame]", method: str) -> str:
    return "/".join(f"{mean(methods, method, one):.1f}" for one in OBJECTIVES)


def _better(methods: "Mapping[str, pd.DataFrame]", one: str, other: str) -> list[Part]:
    """Return a part for each objective: whether a method is better than another one."""
    return [
        (under if objective == "cost" else over)(less(methods, one, other, objective))
        for objective in OBJECTIVES
    ]


def nondominated(rows: EmscoRows) -> ClaimFinding:
    """Judge whether no method of the paper dominates EMSCO.

    EMSCO must also be surely better than each method in one objective.
    """
    found = needed(rows.measured())
    parts, told = [], []
    for name, methods in found.items():
        by = dominating(methods, EMSCO_NAME)
        beaten = [
            any(part.sure for part in _better(methods, EMSCO_NAME, other))
            for other in METHODS
            if other != EMSCO_NAME
        ]
        doubt = any(part.chance for other in by for part in _better(methods, EMSCO_NAME, other))
        parts.append(Part(not by, not by and all(beaten), doubt if by else not all(beaten)))
        told += [
            f"{other} on {name}: {_figures(methods, other)} % against {_figures(methods, EMSCO_NAME)} %"
            for other in by
        ]
    return ClaimFinding(
        f"dominated by {all_of(told)}" if told else f"non-dominated on {all_of(list(found))}", tuple(parts),
        f"{evidence_of(found)}; accuracy/coverage/share of the price",
    )  # fmt: skip


def first_in(rows: EmscoRows, measure: str, among: Sequence[str], wanted: Sequence[str]) -> ClaimFinding:
    """Judge whether EMSCO has the best mean of a measure among methods, on the sets that the paper names."""
    found = needed({name: methods for name, methods in rows.measured().items() if name in wanted})
    needed(len(found) == len(wanted))
    parts, told, why = [], [], []
    for name, methods in found.items():
        sign = -1 if measure == "cost" else 1
        best = max(
            (one for one in among if one != EMSCO_NAME), key=lambda one: sign * mean(methods, one, measure)
        )
        parts.append(over(sign * less(methods, EMSCO_NAME, best, measure)))
        told.append(
            f"{name}: {mean(methods, EMSCO_NAME, measure):.1f}, {best} {mean(methods, best, measure):.1f}"
        )
        reason = "" if parts[-1].same else idle(methods, [best])
        if reason:
            why.append(f"{name.capitalize()}: {reason}")
    n_first = sum(part.same for part in parts)
    return ClaimFinding(
        f"on {n_first} of {len(found)} ({'; '.join(told)} %)", tuple(parts), evidence_of(found), " ".join(why)
    )


MEANS = {
    "coverage": lambda methods, one: methods[one]["coverage"],
    "lost": lambda methods, one: 100 - methods[one]["coverage"],
    "accuracy": lambda methods, one: methods[SINGLE]["accuracy"] - methods[one]["accuracy"],
    "speed": lambda methods, one: 100 * methods[SINGLE]["cost"] / methods[one]["cost"].clip(lower=1e-9) - 100,
}  # fmt: skip
"""Functions that return a mean of the text for each split, in per cent.

The quantities are answered rows, lost rows, accuracy lost against Single-Stage, and gained speed.
"""


def mean_over_sets(found: Measured, what: str, method: str = EMSCO_NAME) -> "pd.Series[float]":
    """Return a mean over all four sets, for each split that all sets have.

    The paper prints one such value, from one split of each set.
    """
    import pandas as pd

    needed(len(found) == len(ALL))
    values = pd.DataFrame({name: MEANS[what](methods, method) for name, methods in found.items()})
    return values.dropna().mean(axis=1)


def mean_of_sets(rows: EmscoRows, what: str, printed: float, method: str = EMSCO_NAME) -> ClaimFinding:
    """Judge a printed mean over all four sets.

    The value without effect is 0 for losses and gains, and half of the rows for answered rows.
    """
    found = rows.measured()
    values = mean_over_sets(found, what, method)
    by_set = [float(MEANS[what](methods, method).mean()) for methods in found.values()]
    unit = {"accuracy": "points", "speed": "% more"}.get(what, "%")
    return ClaimFinding(
        shown_mean(values, unit, overlap=ONE_SPLIT),
        (printed_figure(values, printed, 50.0 if what == "coverage" else 0.0),),
        f"{counted(len(values), 'split')} of all four sets, ± for one split; "
        f"{min(by_set):.1f} to {max(by_set):.1f} by set" + _answering(found, values, method, unit),
    )  # fmt: skip


def _answering(found: Measured, values: "pd.Series[float]", method: str, unit: str) -> str:
    """Return the mean over splits on which a method answers rows of every set, in words.

    The words are empty if these are all splits.
    """
    silent = {
        name: methods[method].index[methods[method]["coverage"] == 0].intersection(values.index)
        for name, methods in found.items()
    }
    told = [f"{len(splits)} of {name}" for name, splits in silent.items() if len(splits)]
    left = values.drop(set().union(*silent.values()))
    if not told or left.empty:
        return ""
    return f"; {method} answers nothing on {', '.join(told)}, and without them it is {left.mean():.1f} {unit}"


def threshold(rows: EmscoRows) -> ClaimFinding:
    """Judge whether EMSCO's share of right answers exceeds the threshold."""
    found = needed(rows.measured())
    needed(len(found) == len(ALL))
    asked = {name: 100 * preset(name).confidence for name in found}
    return ClaimFinding(
        ", ".join(
            f"{name} {mean(found[name], EMSCO_NAME, 'accuracy'):.1f} for {asked[name]:g} %" for name in found
        ),
        tuple(over(found[name][EMSCO_NAME]["accuracy"], asked[name]) for name in found),
        evidence_of(found),
    )


def comparable(rows: EmscoRows, most: float) -> ClaimFinding:
    """Judge EMSCO's loss of accuracy against one stage with all features.

    The loss must be no more than the paper's mean loss.
    """
    found = needed(rows.measured())
    lost = {name: less(methods, SINGLE, EMSCO_NAME, "accuracy") for name, methods in found.items()}
    return ClaimFinding(
        ", ".join(f"{name} {values.mean():.1f} points less" for name, values in lost.items()),
        tuple(under(values, most) for values in lost.values()),
        f"{evidence_of(found)}; comparable: at most the paper's mean loss, {most:g} points",
    )


def excused(rows: EmscoRows) -> ClaimFinding:
    """Judge whether methods cheaper than EMSCO cover less, or answer with less accuracy than p̂."""
    found = needed(rows.measured())
    parts, why = {}, []
    for name, methods in found.items():
        for one in BUDGETED:
            if mean(methods, one, "cost") < mean(methods, EMSCO_NAME, "cost"):
                faults = (
                    under(less(methods, one, EMSCO_NAME, "coverage")),
                    under(methods[one]["accuracy"], 100 * preset(name).confidence),
                )
                sure = any(fault.sure for fault in faults)
                same = any(fault.same for fault in faults)
                parts[f"{one} on {name}"] = Part(same, sure, not sure and any(one.chance for one in faults))
                reason = "" if same else idle(methods, [one])
                if reason:
                    why.append(f"{name.capitalize()}: {reason}")
    others = [name for name, part in parts.items() if not part.same]
    return ClaimFinding(
        f"{counted(len(parts), 'cheaper method')}; without such a fault: "
        f"{all_of(others) if others else 'none'}",
        tuple(parts.values()) or facts([True]),
        evidence_of(found),
        " ".join(why),
    )


def strong_sums(rows: EmscoRows) -> ClaimFinding:
    """Judge whether EMSCO's sum is above the median of its opponents' sums, set by set and split by split."""
    found = needed(rows.measured())
    parts, told, why = [], [], []
    for name, methods in found.items():
        others = [one for one in METHODS if one != EMSCO_NAME]
        sums = np.array([methods[one]["aggregate"] for one in others])
        parts.append(over(methods[EMSCO_NAME]["aggregate"] - np.median(sums, axis=0)))
        own = mean(methods, EMSCO_NAME, "aggregate")
        ahead = [one for one in others if mean(methods, one, "aggregate") > own]
        told.append(f"{name}: place {1 + len(ahead)}")
        reason = "" if parts[-1].same else idle(methods, ahead)
        if reason:
            why.append(f"{name.capitalize()}: {reason}")
    return ClaimFinding(
        ", ".join(told), tuple(parts), f"{evidence_of(found)}; strong: above the median of the opponents",
        " ".join(why),
    )  # fmt: skip


def association(rows: EmscoRows) -> ClaimFinding:
    """Judge whether cost classes and stages are poorly correlated on the splits of a set.

    A large correlation is .5, the limit of Cohen (1988).
    """
    from scipy.stats import spearmanr

    found, parts, n = {}, [], 0
    for name, stages in rows.stages().items():
        values = stages.groupby("split")[["class", "stage"]].apply(
            lambda one: (
                float(spearmanr(one["class"], one["stage"]).statistic)
                if one["class"].nunique() > 1 and one["stage"].nunique() > 1
                else 0.0
            )
        )
        n = max(n, len(values))
        found[name] = float(values.mean())
        below, beyond = under(values, 0.5), over(values, -0.5)
        parts.append(
            Part(below.same and beyond.same, below.sure and beyond.sure, below.chance or beyond.chance)
        )
    needed(found)
    return ClaimFinding(
        ", ".join(f"{name} {value:.2f}" for name, value in found.items()), tuple(parts),
        "Spearman's correlation of class and stage over the features, its mean over up to "
        f"{counted(n, 'split')}; poor: below .5",
    )  # fmt: skip


def early(rows: EmscoRows) -> ClaimFinding:
    """Judge whether a feature of the highest cost class is bought before the other features' mean stage."""
    told, parts, n = [], [], 0
    for name, stages in rows.stages().items():
        greatest = stages["class"] == stages["class"].max()
        first = stages[greatest].groupby("split")["stage"].min()
        others = stages[~greatest].groupby("split")["stage"].mean()
        n = max(n, len(first))
        told.append(f"{name} {first.mean():.1f} against {others.mean():.1f}")
        parts.append(over(others - first))
    needed(told)
    return ClaimFinding(
        ", ".join(told), tuple(parts),
        "earliest stage of the greatest class, mean stage of the others, over up to "
        f"{counted(n, 'split')}",
    )  # fmt: skip


def together(rows: EmscoRows, name: str) -> ClaimFinding:
    """Judge whether the mean stages of the two cheapest classes of a set overlap."""
    stages = needed(rows.stages().get(name))
    means = stages.groupby(["class", "feature"])["stage"].mean().reset_index()
    needed(means["class"].nunique() > 1)
    spans = means.groupby("class")["stage"].agg(["min", "max"]).iloc[:2]
    return ClaimFinding(
        " and ".join(
            f"class {int(one)} {row['min']:.1f} to {row['max']:.1f}" for one, row in spans.iterrows()
        ),
        facts([spans["min"].max() <= spans["max"].min()]),
        f"mean stages of {counted(len(means), 'feature')} over "
        f"{counted(stages['split'].nunique(), 'split')}; "
        "together: the ranges overlap",
    )


def thresholds(rows: EmscoRows) -> ClaimFinding:
    """Judge whether a higher threshold means more accuracy, less coverage and more cost.

    All thresholds share the rows of one split, so the three correlations have no interval.
    """
    part = needed(rows.of_kind("thresholds")).sort_values("level")
    needed(len(part) > 2)
    told = [
        f"{name} {part[name].iloc[0]:.2f} to {part[name].iloc[-1]:.2f}" for name in ("accuracy", "coverage")
    ]
    signs = {"accuracy": 1, "coverage": -1, "cost": 1}
    found = [trend(part["level"], part[name].astype(float), sign) for name, sign in signs.items()]
    return ClaimFinding(
        f"{', '.join(told)}, cost {part['cost'].iloc[0]:.0f} to {part['cost'].iloc[-1]:.0f}",
        tuple(Part(one.same, sure=False, chance=True) for one in found),
        f"{counted(len(part), 'threshold')} of one split; Spearman's correlations",
    )


def confident_answers(rows: EmscoRows) -> ClaimFinding:
    """Judge whether the share of right answers among the answered rows reaches the threshold."""
    part = rows.of_kind("thresholds").sort_values("level") if len(rows.of_kind("thresholds")) else None
    part = needed(part)
    needed("rows" in part)
    parts, short = [], []
    for row in part.to_dict("records"):
        n = row["rows"] * row["coverage"]
        low, high = wilson_interval(n * row["accuracy"], n) if n else (0.0, 1.0)
        same = row["accuracy"] >= row["level"]
        parts.append(Part(same, same and low >= row["level"], low <= row["level"] <= high))
        if not same:
            short.append(f"{100 * row['accuracy']:.1f} % of {n:.0f} answers at {row['level']:g}")
    return ClaimFinding(
        f"at {sum(one.same for one in parts)} of {len(parts)} thresholds"
        + (f"; not: {all_of(short)}" if short else ""),
        tuple(parts),
        "one table, 95 % intervals over the rows answered",
    )


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
        (above([max(far.values()) - 0.1]),),
        f"{counted(len(moved), 'neighbour')} of one assignment on one split; "
        "significant: a tenth of the range",
    )
