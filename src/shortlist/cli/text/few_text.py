"""Facts about a few points for `shortlist front pick --few`, on the screen, in JSON and in a table."""

from typing import TYPE_CHECKING, Any

from shortlist.cli.text.output import LINES, WIDTH, cut, print_lines
from shortlist.report.few_points import few_sentences, few_table, share_text
from shortlist.results.front import front_header, front_rows
from shortlist.tables.spreadsheets import Cell

if TYPE_CHECKING:
    from shortlist.methods.few_points import FewPoints
    from shortlist.results.front import Front


def few_facts(front: "Front", found: "FewPoints") -> dict[str, Any]:
    """Return the facts for JSON on a few points."""
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
    """Return headings and rows of the points as in an exported front, with the weights each suits best."""
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
    """Print the points, the weights that each suits, and the regret that fewer points leave."""
    print_lines(few_sentences(front, found, asked))
    table = few_table(front, found).lines()
    if not details:
        table = cut(table, LINES - 11, "--details has all")
        table = [line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..." for line in table]
    curve = ", ".join(f"{number}: {share_text(regret)}" for number, regret, _ in found.curve)
    print("\n".join(["", *table, ""]))
    print_lines([f"Regret by number of points: {curve}."])
