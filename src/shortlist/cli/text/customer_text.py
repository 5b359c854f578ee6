"""Customers and their products as output of commands: on the screen, in JSON and in a table."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist._words import counted
from shortlist.cli.answers import CommandAnswer, written, written_page
from shortlist.cli.text.output import LINES, WIDTH, cut, print_lines, save, save_page
from shortlist.report.customers import (
    customer_table,
    product_table,
    service_parts,
    service_sentences,
)

if TYPE_CHECKING:
    from shortlist.report.page import Parts
    from shortlist.results.customers import Service
    from shortlist.results.front import Front
    from shortlist.tables.spreadsheets import Cell

FEW_CUSTOMERS = 12
"""Largest number of customers that the first screen lists one by one."""


def service_facts(service: "Service") -> dict[str, Any]:
    """Return the facts for JSON on customers and their products."""
    names = [goal.name for goal in service.objectives]
    found = {
        "products": [
            {
                "index": number,
                "values": dict(zip(names, values, strict=True)),
                "n_customers": sum(one.product == place for one in service.served),
            }
            for place, (number, values) in enumerate(
                zip(service.numbers, service.values.tolist(), strict=True)
            )
        ],
        "customers": [
            {
                "name": one.customer.name,
                "index": service.numbers[one.product] if one.product >= 0 else None,
                "n_wishes": len(one.customer.wishes),
                "gives_up": list(one.given_up),
                "fewest": one.fewest,
                "loss": one.loss if one.product >= 0 else None,
                "regret": one.regret if one.product >= 0 else None,
                "proved": one.proved,
            }
            for one in service.served
        ],
        "n_met": sum(one.is_met for one in service.served),
    }
    return found | ({} if service.asked is None else {"total": service.total, "bound": service.bound})


def service_rows(service: "Service") -> "tuple[list[str], list[list[Cell]]]":
    """Return headings, and a row for each customer: product, values, wishes given up, and choices."""
    goals = [f"objective: {goal.sense} {goal.name}" for goal in service.objectives]
    features = [f"feature: {name}" for name in service.candidates]
    header = ["customer", "product", *goals, "wishes", "given up", "gives up", "regret", *features]
    rows: list[list[Cell]] = []
    for one in service.served:
        n = len(one.customer.wishes)
        if one.product < 0:
            rows.append([one.customer.name, None, *[None] * len(goals), n, *[None] * (3 + len(features))])
            continue
        values = [
            int(value) if goal.scale == 1 else value
            for value, goal in zip(service.values[one.product].tolist(), service.objectives, strict=True)
        ]
        told: list[Cell] = [n, len(one.given_up), ", ".join(one.given_up) or None, one.regret]
        chosen = service.decisions[one.product].tolist()
        rows.append([one.customer.name, service.numbers[one.product], *values, *told, *chosen])
    return header, rows


def service_answer(
    service: "Service",
    files: "Sequence[Path | None]",
    facts: dict[str, Any],
    *,
    front: "Front | None" = None,
    more: "Callable[[], Parts]" = list,
    details: bool = False,
) -> CommandAnswer:
    """Write customers and their products, and return the answer.

    `files`: paths of a table and of a page, each possibly None. `facts`: facts on the question, for JSON.
    `front`: front of the products, if any. `more`: parts of the page after the parts about the customers.
    """
    from shortlist.tables.spreadsheets import save_rows

    out, page = files
    out = save(out, lambda path: save_rows(path, *service_rows(service)))
    page = save_page(page, "Customers and their products", lambda: [*service_parts(service, front), *more()])
    return CommandAnswer(
        facts | {"service": service_facts(service), "out": out, "report": page},
        partial(print_service, service, front, details=details),
        last=[*written(out, "a row for each customer"), *written_page(page)],
    )


def print_service(service: "Service", front: "Front | None" = None, *, details: bool = False) -> None:
    """Print the number of customers whose wishes are all met, their products, and the wishes given up."""
    sentences = service_sentences(service, front)
    print_lines(sentences)
    print()
    short = [one for one in service.served if one.given_up]
    is_few = len(service.served) <= FEW_CUSTOMERS
    if details or not is_few:
        _print_table(product_table(service).lines(), 9 if short else 15, details=details)
    if details or is_few:
        _print_table(_lines(customer_table(service)), LINES - 7, details=details)
    elif short:
        print_lines(["", f"{counted(len(short), 'customer')} without all wishes:"])
        _print_table(_lines(customer_table(service, short)), 7, details=False)


def _lines(table: Any) -> list[str]:
    n = len(table.columns)
    lines: list[str] = table.lines([place in {0, n - 1} for place in range(n)])
    return lines


def _print_table(lines: Sequence[str], most: int, *, details: bool) -> None:
    if not details:
        lines = cut(lines, most, "--details has all")
        lines = [line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..." for line in lines]
    print("\n".join(lines))
