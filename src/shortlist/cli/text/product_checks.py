"""What `shortlist model check` says and writes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist._words import all_of, counted
from shortlist.tables.spreadsheets import save_rows

if TYPE_CHECKING:
    from shortlist.cli.options.product_questions import AskedQuestion
    from shortlist.products.product_tables import ProductCheck

_MOST_ROWS = 10
_MOST_RULES = 3


def check_facts(checks: "Sequence[ProductCheck]", asked: "AskedQuestion") -> dict[str, Any]:
    """Return what the JSON says of every row."""
    n_wrong = sum(not check.is_right for check in checks)
    return {
        "status": "invalid" if n_wrong else "valid",
        "n_rows": len(checks),
        "n_products": sum(not check.broken for check in checks),
        "n_wrong": n_wrong,
        "attributes": asked.sources,
        "rows": [
            {
                "row": check.line,
                "valid": not check.broken,
                "broken": list(check.broken),
                "values": {name: float(value) for name, value in check.values.items()},
                "wrong": {name: float(value) for name, value in check.wrong.items()},
            }
            for check in checks
        ],
    }


def print_checks(facts: dict[str, Any]) -> None:
    """Print how many rows are as they should be, and what is wrong with the first of the others."""
    print(f"{counted(facts['n_rows'], 'row')}, {facts['n_products']:,} of them products.")
    wrong = [row for row in facts["rows"] if row["broken"] or row["wrong"]]
    for row in wrong[:_MOST_ROWS]:
        if row["broken"]:
            print(f"row {row['row']} breaks {all_of(map(repr, row['broken']), most=_MOST_RULES)}")
        for name, value in row["wrong"].items():
            print(f"row {row['row']} says {value:g} for {name}, which is {row['values'][name]:g}")
    if len(wrong) > _MOST_ROWS:
        print(f"and {counted(len(wrong) - _MOST_ROWS, 'row')} more; --json and --out have all")
    if facts["out"] is not None:
        print(f"Saved to {facts['out']}.")


def save_checks(path: str | Path, checks: "Sequence[ProductCheck]") -> None:
    """Write a row for every row: where it is, whether it is a product, what it breaks, and its objectives."""
    names = list(checks[0].values)
    header = ["row", "valid", "broken rules", *(f"objective: {name}" for name in names), "wrong values"]
    save_rows(
        path,
        header,
        (
            [
                check.line,
                not check.broken,
                "; ".join(check.broken),
                *(check.values[name] for name in names),
                ", ".join(check.wrong),
            ]
            for check in checks
        ),
    )
