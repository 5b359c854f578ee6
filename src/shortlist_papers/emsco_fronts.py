"""Judges of what :cite:t:`Hamilton2022` claim about complete fronts, and of what evolution finds of them."""

from typing import TYPE_CHECKING

from shortlist._words import counted
from shortlist_papers.claims import ClaimFinding, Part, above, facts, figure, shown_mean
from shortlist_papers.emsco_judges import SPACES, of_kind
from shortlist_papers.emsco_tables import PAPER_FRONTS

if TYPE_CHECKING:
    import pandas as pd


def keeps(rows: "pd.DataFrame") -> ClaimFinding | None:
    """Judge whether runs by the printed rules never lose a chromosome of the complete front."""
    part = _recalls(rows)
    if part is None:
        return None
    falls = int(part["falls"].astype(bool).sum())
    return ClaimFinding(
        f"{falls} of {counted(len(part), 'run')} lose a chromosome", facts([falls == 0]), "rules as printed"
    )


def _recalls(rows: "pd.DataFrame") -> "pd.DataFrame | None":
    part = of_kind(rows, "recall")
    part = part[part["rules"] == "paper"] if len(part) else part
    return part if len(part) else None


def _last(part: "pd.DataFrame") -> "pd.Series[float]":
    """Return the share of the front's chromosomes that each run holds in the end, in per cent."""
    held = part[[name for name in part if str(name)[:1] == "c" and str(name)[1:].isdecimal()]]
    columns = sorted(held.columns[held.notna().any()], key=lambda name: int(str(name)[1:]))
    return 100 * part[columns[-1]].astype(float) / part["assignments"].astype(float)


def share(rows: "pd.DataFrame", name: str, printed: float, *, at_least: bool = False) -> ClaimFinding | None:
    """Judge the share of a complete front that is found, on plain splits and on the chosen one.

    Splits are the sample, not runs: the paper's is one of them. `at_least`: the paper says "over".
    """
    plain, chosen = of_kind(rows, "split"), _recalls(rows)
    plain = plain[plain["set"] == name] if len(plain) else plain
    if chosen is not None:
        chosen = chosen[(chosen["set"] == name) & (chosen["stages"] == 4)]
    told, parts, sure = [], [], []
    for shares, what, where in (
        (_last(plain), "plain splits", "plain split") if len(plain) else (None, "", ""),
        (_last(chosen), "the chosen split", "run") if chosen is not None and len(chosen) else (None, "", ""),
    ):
        if shares is None:
            continue
        told.append(f"{what} {shown_mean(shares, '%', 0)}")
        parts.append(above(shares, printed) if at_least else figure(shares, printed, 0.0))
        sure.append(f"{counted(len(shares), where)}, {shares.min():.0f} to {shares.max():.0f} %")
    if not told:
        return None
    return ClaimFinding(
        "; ".join(told), tuple(parts), "; ".join(sure), _filled(plain) if at_least and len(plain) else ""
    )


def _filled(plain: "pd.DataFrame") -> str:
    """Say that elites that fill the population end runs early; empty where they do not, or hold as much."""
    full, shares = plain["filled"].astype(bool), _last(plain)
    if full.all() or not full.any() or not shares[full].mean() < shares[~full].mean():
        return ""
    return (
        f"On {int(full.sum())} of the plain splits chromosomes that tie fill the elite and end the "
        "run, which holds "
        f"{shares[full].mean():.0f} % there and {shares[~full].mean():.0f} % on the others."
    )


def several_optima(rows: "pd.DataFrame") -> ClaimFinding | None:
    """Judge whether evolution holds globally optimal chromosomes in every panel of Figure 7."""
    part = _recalls(rows)
    if part is None:
        return None
    shares = _last(part).groupby([part["set"], part["stages"]], sort=False)
    means = shares.mean()
    return ClaimFinding(
        f"{means.min():.0f} to {means.max():.0f} % of the fronts",
        tuple(above(values) for _, values in shares),
        f"{counted(len(means), 'panel')}, {counted(len(part), 'run')}, chosen splits",
    )


def sizes(rows: "pd.DataFrame") -> ClaimFinding | None:
    """Judge whether the printed sizes are those of the chosen split, or lie within those of our splits."""
    part = of_kind(rows, "front")
    if part.empty:
        return None
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
        "The paper's splits are not public, and a front is that of a split.",
    )


def sparse(rows: "pd.DataFrame") -> ClaimFinding | None:
    """Judge whether fronts are small beside all stage assignments, on every split."""
    part = of_kind(rows, "front")
    part = part[part["stages"] == 4] if len(part) else part
    found = {
        name: own["assignments"].astype(int)
        for name, own in (part.groupby("set", sort=False) if len(part) else ())
        if (name, 4) in SPACES
    }
    if not found:
        return None
    return ClaimFinding(
        ", ".join(
            f"{name} {one.min():,} to {one.max():,} of {SPACES[name, 4]:,}" for name, one in found.items()
        ),
        facts((one / SPACES[name, 4] < 1e-4).all() for name, one in found.items()),
        f"{counted(int(part['split'].nunique()), 'split')}; small: below one in ten thousand",
        "On some split many chromosomes share one objective vector."
        if any(one.max() > 10_000 for one in found.values())
        else "",
    )


def minutes(rows: "pd.DataFrame", kind: str, low: float, high: float) -> ClaimFinding | None:
    """Judge the minutes of a processor that a run takes, or the fronts of one split of each set together."""
    part = of_kind(rows, kind)
    part = part[part["processor_s"].notna()] if "processor_s" in part else part.iloc[:0]
    if part.empty:
        return None
    if kind == "front":
        part = part[part["split"] == 0]
    values = part["processor_s"].astype(float) / 60
    total = values.sum() if kind == "front" else values.mean()
    return ClaimFinding(
        f"{60 * total:.1f} s" if total < 1 else f"{total:.0f} min", facts([low <= total <= high]),
        f"{counted(len(part), 'front')} of the first splits, processor time"
        if kind == "front" else f"{counted(len(part), 'run')}, processor time",
        "Compiled code fits each subset of features once and counts rows as bits." if total < low else "",
    )  # fmt: skip


def landscape(rows: "pd.DataFrame") -> ClaimFinding | None:
    """Judge whether random assignments are cheaper in the corner of accuracy than in that of coverage."""
    part = of_kind(rows, "landscape")
    if len(part) < 3:
        return None
    accuracy, coverage, n = (part[name].astype(float) for name in ("accuracy", "coverage", "n"))
    means = {
        name: float((one * n).sum() / n.sum())
        for name, one in (("accuracy", accuracy), ("coverage", coverage))
    }
    right, answered = accuracy > means["accuracy"], coverage > means["coverage"]
    corners = [part[right & ~answered], part[~right & answered]]
    if any(corner.empty for corner in corners):
        return None
    first, second = (float((one["inverse"] * one["n"]).sum() / one["n"].sum()) for one in corners)
    return ClaimFinding(
        f"inverse cost {first:.3f} and {second:.3f}",
        facts([first > second]),
        f"{int(n.sum()):,} random assignments in {counted(len(part), 'cell')}, each counted; "
        "corners: beyond the means",
    )
