"""Facts about a few points for `shortlist front pick --few`: on the screen, in JSON and in a table."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shortlist._words import counted, number_text
from shortlist.cli.text.output import LINES, WIDTH, cut, print_lines
from shortlist.report.page import Table
from shortlist.results.front import front_header, front_rows
from shortlist.tables.spreadsheets import Cell

if TYPE_CHECKING:
    from shortlist.methods.few_points import FewPoints
    from shortlist.results.front import Front


def few_facts(front: "Front", found: "FewPoints") -> dict[str, Any]:
    """Return the JSON on a few points."""
    return {
        "points": [
            {
                "index": point,
                "values": dict(zip(front.names, front.values[point].tolist(), strict=True)),
                "best_for": weights,
            }
            for point, weights in zip(found.points, found.weights, strict=True)
        ],
        "regret": found.regret,
        "bound": found.bound,
        "curve": [
            {"points": number, "regret": regret, "bound": bound} for number, regret, bound in found.curve
        ],
    }


def few_rows(front: "Front", found: "FewPoints") -> tuple[list[str], list[list[Cell]]]:
    """Return the rows of the points as of an exported front, each with the weights that it is best for."""
    header = front_header(front)
    n = 1 + len(front.objectives)
    chosen = dict(zip(found.points, found.weights, strict=True))
    rows = [
        [*row[:n], *(chosen[point].get(name, 0.0) for name in front.names), *row[n:]]
        for point, row in enumerate(front_rows(front))
        if point in chosen
    ]
    return [*header[:n], *(f"best for weight of {name}" for name in front.names), *header[n:]], rows


def print_few(front: "Front", found: "FewPoints", asked: int, *, details: bool = False) -> None:
    """Print the points, whom each suits, and how much regret fewer points leave."""
    n = len(found.points)
    known = "which is proved to be the least"
    if found.regret - found.bound > 1e-9:
        known = f"and no {asked} points leave less than {_share(found.bound)}; both are proved"
    taken = f"Take {counted(n, 'point')} of {len(front):,}: a customer regrets {_share(found.regret)} at most"
    meaning = (
        "He weighs the objectives, each from 0 for the worst value on the front to 1 for the best, and "
        "regrets the share that the best of these points is worth less to him than the best of all."
    )
    more = [f"More than {counted(n, 'point')} change nothing."] * (n < asked)
    print_lines([f"{taken}, {known}.", meaning, *more])
    header = (
        "point",
        *(f"{goal.sense} {goal.name}" for goal in front.objectives),
        "best for weights of about",
    )
    rows = [
        (str(point), *(number_text(value) for value in front.values[point].tolist()), _heaviest(weights))
        for point, weights in zip(found.points, found.weights, strict=True)
    ]
    table = Table("", header, tuple(rows)).lines()
    if not details:
        table = cut(table, LINES - 10, "--details has all")
        table = [line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..." for line in table]
    curve = ", ".join(f"{number}: {_share(regret)}" for number, regret, _ in found.curve)
    print("\n".join(["", *table, ""]))
    print_lines([f"Regret by number of points: {curve}."])


def _heaviest(weights: Mapping[str, float]) -> str:
    """Name the objectives that weigh most.

    >>> _heaviest({"cost": 0.2, "defects": 0.5, "weight": 0.3})
    'defects 50 %, weight 30 %'
    """
    ordered = sorted(weights.items(), key=lambda one: -one[1])[:2]
    return ", ".join(f"{name} {100 * weight:.0f} %" for name, weight in ordered)


def _share(share: float) -> str:
    """Return a share in percent with two digits that count.

    >>> _share(0.483), _share(0.0116), _share(0.0)
    ('48 %', '1.2 %', '0 %')
    """
    return f"{float(f'{100 * share:.2g}'):g} %"
