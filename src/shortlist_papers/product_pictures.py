"""Pictures of :cite:t:`Xue2018` from the rows of its tables."""

import numpy as np

from shortlist_papers.front_quality import as_set
from shortlist_papers.paper import PaperLine, PaperPicture, Rows, dots
from shortlist_papers.product_rows import OURS, PAPER, ProductRows, label
from shortlist_papers.product_runs import CWMOIP, EPSILON


def covered_shares(rows: ProductRows, found: Rows) -> PaperPicture | None:
    """Return the picture of Table 4.

    The picture has the share of a complete front that one run of IBED finds, and the share that thirty runs
    find together.
    """
    ours = [row for row in found if row["whose"] == OURS and row["share %"] is not None]
    theirs = {row["system"]: row["share %"] for row in found if row["whose"] == PAPER and "share %" in row}
    names = [str(row["system"]) for row in ours]
    shares = [
        100 * np.array([len(as_set(run) & rows.front(system)) for run in rows.side(system).runs])
        / len(rows.front(system))
        for system in rows.evolved()
        if label(system) in names
    ]  # fmt: skip
    one = PaperLine(
        "one run, here (median, 5 to 95 % of runs)",
        tuple((place - 0.15, float(np.median(own))) for place, own in enumerate(shares)),
        tuple((float(np.quantile(own, 0.05)), float(np.quantile(own, 0.95))) for own in shares),
        joined=False,
    )
    lines = (
        one,
        dots("all runs, here", range(len(ours)), [row["share %"] for row in ours]),
        dots(
            "thirty runs, the paper",
            [place + 0.15 for place, name in enumerate(names) if name in theirs],
            [theirs[name] for name in names if name in theirs],
        ),
    )
    text = "Share of the complete front that IBED finds, by system, beside the paper's."
    y = "% of the complete front"
    return (
        PaperPicture(text, "", y, tuple(line for line in lines if line.points), tuple(names))
        if ours
        else None
    )


def volumes(rows: ProductRows) -> PaperPicture | None:
    """Return the picture of Table 5: hypervolumes of SolRep and of the mean run of IBED."""
    pairs = {system: row for system, row in rows.pairs().items() if None not in {row["A HV"], row["B HV"]}}
    margins = [row["B HV ±"] or 0.0 for row in pairs.values()]
    lines = (
        dots("SolRep", [place - 0.1 for place in range(len(pairs))], [row["A HV"] for row in pairs.values()]),
        PaperLine(
            "IBED, mean run and its 95 % interval",
            tuple((place + 0.1, row["B HV"]) for place, row in enumerate(pairs.values())),
            tuple(
                (row["B HV"] - half, row["B HV"] + half)
                for row, half in zip(pairs.values(), margins, strict=True)
            ),
            joined=False,
        ),
    )
    text = "Hypervolume of SolRep and of a run of IBED, by system, scaled by their joint front."
    names = tuple(label(system) for system in pairs)
    return PaperPicture(text, "", "hypervolume", lines, names) if pairs else None


def optimal_shares(found: Rows) -> PaperPicture | None:
    """Return a picture of the share of each set's points that are on the complete front, by system."""
    names = list(dict.fromkeys(str(row["system"]) for row in found))
    sets = {"solrep": "SolRep, here", "the authors' set": "SolRep, the authors' set", "ibed": "IBED, here"}
    lines = []
    for shift, (name, told) in enumerate(sets.items(), -1):
        own = {row["system"]: row["% of them"] for row in found if row["set"] == name}
        places = [place for place, system in enumerate(names) if own.get(system) is not None]
        lines.append(dots(told, [x + 0.15 * shift for x in places], [own[names[x]] for x in places]))
    text = "Share of the points of each set that are on the complete front, by system."
    return (
        PaperPicture(text, "", "% of the set", tuple(line for line in lines if line.points), tuple(names))
        if names
        else None
    )


def seconds_of_fronts(found: Rows) -> PaperPicture | None:
    """Return the picture of the second question: our seconds of complete fronts, and the paper's."""
    own = [
        row
        for row in found
        if row["objectives"] == 4 and row["ended"] == "yes" and row["method"] in {EPSILON, CWMOIP}
    ]
    names = sorted({f"{row['system']}, {row['method']}" for row in own})
    by_kind: dict[str, list[tuple[float, float]]] = {}
    for row in own:
        place = float(names.index(f"{row['system']}, {row['method']}"))
        told = "our methods" if row["whose"] == OURS else f"as printed, {row['order'] or 'bounds by 1'}"
        by_kind.setdefault(told, []).append((place, float(row["seconds"])))
        if row["paper's seconds"] is not None:
            by_kind.setdefault("the paper", []).append((place, float(row["paper's seconds"])))
    lines = tuple(
        PaperLine(name, tuple(dict.fromkeys(points)), joined=False)
        for name, points in sorted(by_kind.items())
    )
    text = "Seconds of complete fronts by system and method, beside the paper's."
    return PaperPicture(text, "", "seconds", lines, tuple(names), by_powers=True) if lines else None
