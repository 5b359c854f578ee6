"""Judges of the claims of :cite:t:`Hamilton2022`: what rows of EMSCO and its opponents say about it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from shortlist._words import all_of, counted
from shortlist.multistage.presets import preset
from shortlist_papers.claims import Finding
from shortlist_papers.comparison import margin
from shortlist_papers.stage_opponents import FIGURES

if TYPE_CHECKING:
    import pandas as pd

EMSCO_NAME, SINGLE = "EMSCO", "Single-Stage"
BUDGETED = ("GM*", "CSTC*", "CO-T", "CaCT LASSO")
"""The opponents that pay for what they use, all with a terminal reject option."""
METHODS = (EMSCO_NAME, *BUDGETED, SINGLE)

SPACES = {("heart", 4): 15_199_275, ("credit", 4): 254_152_083}
"""Stage assignments, k! · S(n, k) summed over k."""

Means = Mapping[str, "pd.DataFrame"]


def _kind(rows: "pd.DataFrame", kind: str) -> "pd.DataFrame":
    return rows[rows["kind"] == kind] if "kind" in rows else rows.iloc[:0]


def means_of_sets(rows: "pd.DataFrame") -> Means:
    """Return, for each set, the means of every method: accuracy, coverage and cost in per cent, and the sum.

    Only sets where all methods of the paper were measured.
    """
    part = _kind(rows, "opponents")
    if part.empty:
        return {}
    part = part.assign(
        accuracy=100 * part["accuracy"],
        coverage=100 * part["coverage"],
        cost=100 * part["cost"] / part["total"],
    )
    means = part.groupby(["set", "method"], sort=False)[["accuracy", "coverage", "cost", "aggregate"]].mean()
    found = {str(name): means.loc[name].round(9) for name in means.index.unique("set")}
    return {name: found[name] for name in FIGURES if name in found and set(METHODS) <= set(found[name].index)}


def evidence_of(rows: "pd.DataFrame", names: Sequence[str]) -> str:
    """Say how many sets, splits and runs of EMSCO stand behind a finding."""
    part = _kind(rows, "opponents")
    part = part[part["set"].isin(names)]
    runs = part[part["method"] == EMSCO_NAME].groupby("set").size()
    n_splits = int(part["split"].nunique())
    shown = (
        f"{runs.min()} to {runs.max()} runs" if runs.min() < runs.max() else counted(int(runs.max()), "run")
    )
    return f"{counted(len(names), 'set')}, {counted(n_splits, 'split')} of each, {shown}"


def dominating(means: "pd.DataFrame", method: str) -> list[str]:
    """Return the methods that are at least as good in all three objectives, and better in one."""
    values = means.assign(cost=-means["cost"])[["accuracy", "coverage", "cost"]]
    own = values.loc[method]
    return [
        str(name)
        for name, other in values.iterrows()
        if name in METHODS and name != method and (other >= own).all() and (other > own).any()
    ]


def three_figures(means: "pd.DataFrame", method: str) -> str:
    """Show accuracy, coverage and cost of a method, in per cent."""
    row = means.loc[method]
    return f"{row['accuracy']:.1f}/{row['coverage']:.1f}/{row['cost']:.1f}"


def nondominated(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether no method of the paper dominates EMSCO, set by set."""
    found = means_of_sets(rows)
    if not found:
        return None
    by = {name: dominating(means, EMSCO_NAME) for name, means in found.items()}
    told = [
        f"{other} on {name}: {three_figures(found[name], other)} % against "
        f"{three_figures(found[name], EMSCO_NAME)} %"
        for name, others in by.items()
        for other in others
    ]
    return Finding(
        f"dominated by {all_of(told)}" if told else f"non-dominated on {all_of(list(found))}",
        tuple(not others for others in by.values()),
        f"{evidence_of(rows, list(found))}; accuracy/coverage/share of the price",
        _why_heart(found) if "GM*" in by.get("heart", ()) else "",
    )


def _why_heart(found: Means) -> str:
    """Say what GM* buys on Heart; empty unless it costs less than three of the cheapest features."""
    costs = preset("heart").costs()
    cheapest = 100 * sum(sorted(costs.values())[:3]) / sum(costs.values())
    cost = float(found["heart"].loc["GM*", "cost"])
    if not cost < cheapest:
        return ""
    return (
        f"GM* pays {cost:.1f} % of the price, less than three of the cheapest features cost, for all rows; "
        "EMSCO has to place every feature, so that rows that its first stages reject buy them all."
    )


def first_in(
    rows: "pd.DataFrame", measure: str, among: Sequence[str], *, sign: int, wanted: Sequence[str]
) -> Finding | None:
    """Judge whether EMSCO has the best mean of a measure among methods, on the sets that the paper names."""
    found = {name: means for name, means in means_of_sets(rows).items() if name in wanted}
    if not found:
        return None
    firsts = {}
    for name, means in found.items():
        best = (sign * means.loc[list(among), measure]).idxmax()
        firsts[name] = (
            str(best) if sign * means.loc[best, measure] > sign * means.loc[EMSCO_NAME, measure] else ""
        )
    told = [
        f"{name}: {found[name].loc[EMSCO_NAME, measure]:.1f}"
        + (f", {other} {found[name].loc[other, measure]:.1f}" if other else "")
        for name, other in firsts.items()
    ]
    n_first = sum(not other for other in firsts.values())
    free = [
        name for name, other in firsts.items()
        if other and measure in {"cost", "coverage"} and found[name].loc[other, "cost"] == 0
    ]  # fmt: skip
    why = (
        f"On {all_of(free)} the larger class alone is confident, so that opponents answer every row and buy "
        "nothing; EMSCO has to buy a feature." if free else ""
    )  # fmt: skip
    return Finding(
        f"on {n_first} of {len(found)} ({'; '.join(told)} %)",
        tuple(not other for other in firsts.values()), evidence_of(rows, list(found)), why,
    )  # fmt: skip


def is_near(value: float, printed: float, spread: float) -> bool:
    """Whether a value is as near to a printed one as it must be."""
    return abs(value - printed) <= spread


def mean_of_sets(
    rows: "pd.DataFrame", value: Callable[["pd.DataFrame"], float], printed: float, spread: float, unit: str
) -> Finding | None:
    """Judge a mean over all four sets."""
    found = means_of_sets(rows)
    if len(found) < len(FIGURES):
        return None
    values = [value(means) for means in found.values()]
    mean = float(np.mean(values))
    return Finding(
        f"{mean:.1f} {unit}", (is_near(mean, printed, spread),),
        f"{evidence_of(rows, list(found))}; {min(values):.1f} to {max(values):.1f}; within {spread:g} holds",
    )  # fmt: skip


def threshold(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether EMSCO's answers are right more often than the threshold asks."""
    found = means_of_sets(rows)
    if not found:
        return None
    over = {
        name: float(means.loc[EMSCO_NAME, "accuracy"]) - 100 * preset(name).confidence
        for name, means in found.items()
    }
    return Finding(
        ", ".join(f"{name} {100 * preset(name).confidence + more:.1f} %" for name, more in over.items()),
        tuple(more > 0 for more in over.values()),
        evidence_of(rows, list(found)),
    )


def excused(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether whoever is cheaper than EMSCO covers markedly less or is less accurate than p̂."""
    found = means_of_sets(rows)
    if not found:
        return None
    cheaper = {
        (name, one): bool(
            means.loc[one, "coverage"] < means.loc[EMSCO_NAME, "coverage"] - 5
            or means.loc[one, "accuracy"] < 100 * preset(name).confidence
        )
        for name, means in found.items()
        for one in BUDGETED
        if means.loc[one, "cost"] < means.loc[EMSCO_NAME, "cost"]
    }
    others = all_of([f"{one} on {name}" for (name, one), excused in cheaper.items() if not excused])
    return Finding(
        f"{counted(len(cheaper), 'cheaper method')}; without such a fault: {others}",
        tuple(cheaper.values()) or (True,),
        f"{evidence_of(rows, list(found))}; markedly: 5 points",
    )


def strong_sums(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether EMSCO has one of the two largest sums, set by set."""
    found = means_of_sets(rows)
    if not found:
        return None
    ranked = {
        name: int((means.loc[list(METHODS), "aggregate"] > means.loc[EMSCO_NAME, "aggregate"]).sum()) + 1
        for name, means in found.items()
    }
    free = [name for name, means in found.items() if any(means.loc[one, "cost"] == 0 for one in BUDGETED)]
    why = f"On {all_of(free)} opponents reach a larger sum by buying nothing." if free else ""
    return Finding(
        ", ".join(f"{name}: place {place}" for name, place in ranked.items()),
        tuple(place <= 2 for place in ranked.values()),
        f"{evidence_of(rows, list(found))}; strong: first or second of six",
        why,
    )


def association(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether cost classes and stages are correlated, set by set."""
    from scipy.stats import spearmanr

    part = _kind(rows, "feature")
    if part.empty:
        return None
    found = {}
    for name, of_set in part.groupby("set", sort=False):
        means = of_set.groupby(["class", "feature"])["stage"].mean().reset_index()
        varies = means["class"].nunique() > 1 and means["stage"].nunique() > 1
        found[str(name)] = float(spearmanr(means["class"], means["stage"]).statistic) if varies else 0.0
    return Finding(
        ", ".join(f"{name} {value:.2f}" for name, value in found.items()),
        tuple(abs(value) < 0.5 for value in found.values()),
        "Spearman's correlation of class and mean stage over the features; poor below .5",
    )


def keeps(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether runs by the printed rules never lose a chromosome of the complete front."""
    part = _recalls(rows)
    if part is None:
        return None
    falls = int(part["falls"].astype(bool).sum())
    return Finding(
        f"{falls} of {counted(len(part), 'run')} lose a chromosome", (falls == 0,), "rules as printed"
    )


def _recalls(rows: "pd.DataFrame") -> "pd.DataFrame | None":
    part = _kind(rows, "recall")
    part = part[part["rules"] == "paper"] if len(part) else part
    return part if len(part) else None


def _last(part: "pd.DataFrame") -> "pd.Series[float]":
    """Return the share of the front's chromosomes that each run holds in the end, in per cent."""
    held = part[[name for name in part if str(name)[:1] == "c" and str(name)[1:].isdecimal()]]
    columns = sorted(held.columns[held.notna().any()], key=lambda name: int(str(name)[1:]))
    return 100 * part[columns[-1]].astype(float) / part["assignments"].astype(float)


def share(rows: "pd.DataFrame", name: str, least: float) -> Finding | None:
    """Judge the share of a complete front that is found, on plain splits where there are some."""
    plain = _kind(rows, "split")
    plain = plain[plain["set"] == name] if len(plain) else plain
    chosen = _recalls(rows)
    chosen = None if chosen is None else chosen[(chosen["set"] == name) & (chosen["stages"] == 4)]
    if not len(plain) and (chosen is None or not len(chosen)):
        return None
    told, parts, sure = [], [], []
    if len(plain):
        shares = _last(plain)
        told.append(
            f"plain splits {shares.min():.0f} to {shares.max():.0f} %, median {shares.median():.0f} %"
        )
        parts.append(bool(shares.median() > least))
        sure.append(f"{counted(len(plain), 'plain split')}, a run of each")
        filled = int(plain["filled"].astype(bool).sum())
        full = plain["filled"].astype(bool)
        if filled and filled < len(plain) and shares[full].mean() < shares[~full].mean():
            sure.append(
                f"on {filled} of these chromosomes that tie fill the elite and end the run, which holds "
                f"{shares[full].mean():.0f} % there and {shares[~full].mean():.0f} % on the others"
            )
    if chosen is not None and len(chosen):
        shares = _last(chosen)
        told.append(f"the chosen split {shares.mean():.0f} %")
        parts.append(bool(shares.mean() > least))
        spread = margin(shares) if len(shares) > 1 else float("nan")
        sure.append(f"{counted(len(chosen), 'run')} of the chosen split, ± {spread:.1f}")
    return Finding("; ".join(told), tuple(parts), "; ".join(sure))


def several_optima(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether evolution holds globally optimal chromosomes in every panel of Figure 7."""
    part = _recalls(rows)
    if part is None:
        return None
    shares = _last(part).groupby([part["set"], part["stages"]], sort=False).mean()
    return Finding(
        f"{shares.min():.0f} to {shares.max():.0f} % of the fronts",
        tuple(bool(value > 0) for value in shares),
        f"{counted(len(shares), 'panel')}, {counted(len(part), 'run')}, chosen splits",
    )


def sizes(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether the printed sizes lie within those of our splits."""
    from shortlist_papers.emsco_tables import PAPER_FRONTS

    part = _kind(rows, "front")
    if part.empty:
        return None
    inside = {}
    for (name, stages), sizes in part.groupby(["set", "stages"], sort=False)["assignments"]:
        printed = PAPER_FRONTS[str(name), int(stages)]
        inside[f"{name} {int(stages)}"] = bool(sizes.min() <= printed <= sizes.max())
    n_splits = int(part["split"].nunique())
    return Finding(
        f"{sum(inside.values())} of {len(inside)} within our range", tuple(inside.values()),
        f"{counted(n_splits, 'split')} of each set, the first one chosen for these sizes; "
        f"{part['assignments'].min():,.0f} to {part['assignments'].max():,.0f} chromosomes",
        "" if all(inside.values()) else "The paper's splits are not public, and a front is that of a split.",
    )  # fmt: skip


def sparse(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether fronts are small beside all stage assignments."""
    part = _kind(rows, "front")
    part = part[(part["stages"] == 4) & (part["split"] == 0)] if len(part) else part
    found = {
        str(row["set"]): int(row["assignments"])
        for row in part.to_dict("records")
        if (row["set"], 4) in SPACES
    }  # fmt: skip
    if not found:
        return None
    return Finding(
        ", ".join(f"{name} {size:,} of {SPACES[name, 4]:,}" for name, size in found.items()),
        tuple(size / SPACES[name, 4] < 1e-4 for name, size in found.items()),
        "the chosen split; small below one in ten thousand",
    )


def volatile(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether one step in a chromosome changes an objective by 10 points."""
    part = _kind(rows, "neighbours")
    if len(part) < 2:
        return None
    best = part[part["place"] == 0].iloc[0]
    moved = part[part["place"] != 0]
    far = {
        name: float((moved[name].astype(float) - float(best[name])).abs().max())
        for name in ("coverage", "accuracy", "inverse")
    }
    return Finding(
        ", ".join(f"{name} up to {100 * value:.0f} points" for name, value in far.items()),
        (max(far.values()) > 0.1,),
        f"{counted(len(moved), 'neighbour')} of one assignment; significant: 10 points",
    )


def comparable(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether EMSCO is about as accurate as one stage with all features, set by set."""
    found = means_of_sets(rows)
    if not found:
        return None
    less = {
        name: float(means.loc[SINGLE, "accuracy"] - means.loc[EMSCO_NAME, "accuracy"])
        for name, means in found.items()
    }
    return Finding(
        ", ".join(f"{name} {value:.1f} points less" for name, value in less.items()),
        tuple(value <= 5 for value in less.values()),
        f"{evidence_of(rows, list(found))}; comparable: within 5 points",
    )


ALL = tuple(FIGURES)


def speed(means: "pd.DataFrame") -> float:
    """Return by how many per cent the speed of one stage with all features is increased."""
    cost = float(means.loc[EMSCO_NAME, "cost"])
    return 100 * float(means.loc[SINGLE, "cost"]) / cost - 100 if cost else float("inf")
