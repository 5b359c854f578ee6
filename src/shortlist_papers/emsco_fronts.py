"""Judges of the claims of :cite:t:`Hamilton2022` on complete fronts, and on evolution's share of them."""

from typing import TYPE_CHECKING

from shortlist._words import counted
from shortlist.multistage.presets import preset
from shortlist.multistage.problem.stages import space_size
from shortlist.results.intervals import CHANCE
from shortlist_papers.claims import ClaimFinding, Part, above, facts, needed, shown_mean
from shortlist_papers.emsco_judges import SPACES
from shortlist_papers.emsco_rows import ONE_SPLIT, EmscoRows, over, printed_figure
from shortlist_papers.emsco_tables import PAPER_FRONTS
from shortlist_papers.stage_opponents import OVERLAP
from shortlist_papers.stored import of_older_versions

if TYPE_CHECKING:
    import pandas as pd


def keeps(rows: EmscoRows) -> ClaimFinding:
    """Judge whether runs by the printed rules never lose a chromosome of the complete front."""
    part = needed(rows.of_kind("recall", rules="paper"))
    falls = int(part["falls"].astype(bool).sum())
    return ClaimFinding(
        f"{falls} of {counted(len(part), 'run')} lose a chromosome",
        facts([falls == 0]),
        f"rules as printed{of_older_versions('emsco', part)}",
    )


def held_shares(part: "pd.DataFrame") -> "pd.Series[float]":
    """Return the share of the front's chromosomes in the last generation of each run, in per cent."""
    held = part[[name for name in part if str(name)[:1] == "c" and str(name)[1:].isdecimal()]]
    columns = sorted(held.columns[held.notna().any()], key=lambda name: int(str(name)[1:]))
    return 100 * part[columns[-1]].astype(float) / part["assignments"].astype(float)


def share(rows: EmscoRows, name: str, printed: float, *, at_least: bool = False) -> ClaimFinding:
    """Judge the share of a complete front that runs find on plain splits; the paper has one split.

    `at_least`: whether the paper says "over".
    """
    plain = needed(rows.of_kind("split", set=name))
    shares = held_shares(plain)
    chosen = rows.of_kind("recall", rules="paper", set=name, stages=4)
    told = f"plain splits {shown_mean(shares, '%', 0, OVERLAP if at_least else ONE_SPLIT)}"
    if len(chosen):
        told += f"; the chosen split {shown_mean(held_shares(chosen), '%', 0)}"
    return ClaimFinding(
        told,
        (over(shares, printed) if at_least else printed_figure(shares, printed, 0.0),),
        f"{counted(len(shares), 'plain split')}, {shares.min():.0f} to {shares.max():.0f} %"
        + ("" if at_least else "; ± for one split")
        + (
            f"; chosen split: {counted(len(chosen), 'run')}{of_older_versions('emsco', chosen)}"
            if len(chosen)
            else ""
        ),
        _filled(plain) if at_least else "",
    )


def _filled(plain: "pd.DataFrame") -> str:
    """Return a sentence that full elites end runs early.

    The sentence is empty if runs do not end early, or chance may explain the early ends.
    """
    from scipy.stats import mannwhitneyu

    full, shares = plain["filled"].astype(bool), held_shares(plain)
    if full.all() or not full.any() or not shares[full].mean() < shares[~full].mean():
        return ""
    p = float(mannwhitneyu(shares[full], shares[~full]).pvalue)
    if p >= CHANCE:
        return ""
    return (
        f"On {int(full.sum())} of the plain splits chromosomes that tie fill the elite and end the "
        "run, which holds "
        f"{shares[full].mean():.0f} % there and {shares[~full].mean():.0f} % on the others (p {p:.2g})."
    )


def several_optima(rows: EmscoRows) -> ClaimFinding:
    """Judge whether a run holds globally optimal chromosomes on every plain split, one part per split.

    The panels of Figure 7 are of chosen splits: these splits are reported, and do not count.
    """
    plain = needed(rows.of_kind("split"))
    told, why = [], []
    for name, own in plain.groupby("set"):
        held = held_shares(own) > 0
        told.append(f"{held.sum()} of {len(own)} of {name}")
        reason = "" if held.all() else _filled(own)
        if reason:
            why.append(f"{str(name).capitalize()}: {reason[0].lower()}{reason[1:]}")
    here, sure = (
        f"on {', '.join(told)}",
        f"{counted(len(plain), 'plain split')}, k = {int(plain['stages'].max())}, one run on each",
    )
    chosen = rows.of_kind("recall", rules="paper")
    if len(chosen):
        means = held_shares(chosen).groupby([chosen["set"], chosen["stages"]]).mean()
        here += f"; chosen splits {means.min():.0f} to {means.max():.0f} % of the fronts"
        sure += f"; chosen splits: {counted(len(chosen), 'run')}{of_older_versions('emsco', chosen)}"
    return ClaimFinding(here, facts(held_shares(plain) > 0), sure, " ".join(why))


def sizes(rows: EmscoRows) -> ClaimFinding:
    """Judge whether the printed sizes equal those of the chosen split, or are in the range of our splits."""
    part = needed(rows.of_kind("front"))
    parts = []
    for (name, stages), own in part.groupby(["set", "stages"], sort=False):
        printed, found = PAPER_FRONTS[str(name), int(stages)], own["assignments"]
        parts.append(
            Part(
                bool(found.min() <= printed <= found.max()), bool((found[own["split"] == 0] == printed).all())
            )
        )
    return ClaimFinding(
        f"{sum(one.same for one in parts)} of {len(parts)} within our range, "
        f"{sum(one.sure for one in parts)} the same",
        tuple(parts),
        f"{counted(int(part['split'].nunique()), 'split')} of each set, the first one chosen for "
        "these sizes; "
        f"{part['assignments'].min():,.0f} to {part['assignments'].max():,.0f} chromosomes",
        _by_split(part),
    )


def _by_split(part: "pd.DataFrame") -> str:
    """Return a sentence on the differences of front sizes between splits.

    Empty with one split of each set.
    """
    sizes = part.groupby(["set", "stages"])["assignments"]
    if not sizes.size().gt(1).all():
        return ""
    ratio = float((sizes.max() / sizes.min()).median())
    return (
        f"Between our splits of a set and k, the largest front has {ratio:.1f} times "
        "the size of the smallest, in "
        "the median, and the paper's splits are not public."
    )


def sparse(rows: EmscoRows) -> ClaimFinding:
    """Judge whether fronts are small compared with all stage assignments, on every split."""
    part = rows.of_kind("front", stages=4)
    found = {
        name: own["assignments"].astype(int)
        for name, own in (part.groupby("set", sort=False) if len(part) else ())
        if (name, 4) in SPACES
    }
    needed(found)
    return ClaimFinding(
        ", ".join(
            f"{name} {one.min():,} to {one.max():,} of {SPACES[name, 4]:,}" for name, one in found.items()
        ),
        facts((one / SPACES[name, 4] < 1e-4).all() for name, one in found.items()),
        f"{counted(int(part['split'].nunique()), 'split')}; small: below one in ten thousand",
        _shared(part),
    )


def _shared(part: "pd.DataFrame") -> str:
    """Return a sentence on the few objective vectors of the largest front.

    Empty unless it has a thousand times more points.
    """
    largest = part.loc[part["assignments"].astype(float).idxmax()]
    if largest["assignments"] < 1000 * largest["points"]:
        return ""
    return (
        f"The {largest['assignments']:,.0f} chromosomes of one split of {largest['set']} share "
        f"{largest['points']:,.0f} objective vectors."
    )


def minutes(rows: EmscoRows, kind: str, low: float, high: float) -> ClaimFinding:
    """Judge the processor minutes of runs by the printed rules, or of fronts of one split each."""
    part = rows.of_kind(kind, **({"split": 0} if kind == "front" else {"rules": "paper"}))
    part = needed(part[part["processor_s"].notna()] if "processor_s" in part else part.iloc[:0])
    values = part["processor_s"].astype(float) / 60
    total = float(values.sum() if kind == "front" else values.median())
    return ClaimFinding(
        f"{60 * total:.2g} s" if total < 1 else f"{total:.0f} min", facts([low <= total <= high]),
        f"{counted(len(part), 'front')} of the first splits, processor time with all fits"
        if kind == "front" else
        f"median of {counted(len(part), 'run')} by the rules as printed ({_by_set(part)}), "
        f"{60 * values.min():.2g} to {60 * values.max():.2g} s of processor time with all fits",
        _looked(part) if kind == "front" else "",
    )  # fmt: skip


def _by_set(part: "pd.DataFrame") -> str:
    """Return the number of rows of each set, in words."""
    return ", ".join(f"{name} {n}" for name, n in part["set"].value_counts().items())


def _looked(part: "pd.DataFrame") -> str:
    """Return in words the numbers of measured and of all assignments, and of measured ones per second."""
    looked, seconds = float(part["looked"].sum()), float(part["processor_s"].sum())
    spaces = sum(
        space_size(len(preset(str(name)).cost_classes), int(stages))
        for name, stages in zip(part["set"], part["stages"], strict=True)
    )
    return (
        f"{looked:,.0f} of {spaces:,} assignments were measured, {looked / seconds:,.0f} a second; "
        "bounds exclude the others."
    )


def landscape(rows: EmscoRows) -> ClaimFinding:
    """Judge whether random assignments high in accuracy only cost less than those high in coverage only.

    A measure is high above its mean over all assignments.
    """
    part = rows.of_kind("landscape")
    needed(len(part) > 2)
    accuracy, coverage, n = (part[name].astype(float) for name in ("accuracy", "coverage", "n"))
    means = {
        name: float((one * n).sum() / n.sum())
        for name, one in (("accuracy", accuracy), ("coverage", coverage))
    }
    right, answered = accuracy > means["accuracy"], coverage > means["coverage"]
    corners = [part[right & ~answered], part[~right & answered]]
    needed(all(len(corner) for corner in corners))
    first, second = (float((one["inverse"] * one["n"]).sum() / one["n"].sum()) for one in corners)
    return ClaimFinding(
        f"inverse cost {first:.3f} and {second:.3f}",
        (above([first - second]),),
        f"{int(n.sum()):,} random assignments of one split in {counted(len(part), 'cell')}; "
        "corners: beyond the means",
    )
