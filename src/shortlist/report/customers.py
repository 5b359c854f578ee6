"""Customers and their products, as sentences, tables and parts of a page."""

import dataclasses
from collections import Counter
from collections.abc import Sequence

from shortlist._words import counted, number_text
from shortlist.report.few_points import share_text
from shortlist.report.page import Chart, Heading, Parts, Table, Text
from shortlist.results.customers import Served, Service
from shortlist.results.front import COMMITTEES, PROGRAM, STAGED_METHODS, Front
from shortlist.results.proof import ProofKind

OUT_OF_TIME = frozenset({"", "seconds", "nodes", "interrupted"})
"""Words for a search that a limit or the user ended."""

MOST_BARS = 40
"""Largest number of products with a bar of their customers."""


def service_sentences(service: Service, front: Front | None = None) -> list[str]:
    """Return sentences on the customers whose wishes are all met, on the other customers, and on the proof.

    `front`: front of the products; None: all products of a model are considered.
    """
    served = service.served
    if service.asked is not None:
        return [*_few_sentences(service), *_off_the_front(service, front)]
    products = counted(len(service.numbers), "product")
    sentences = [f"{_find_all(service)}, with {products}{_among(service)}."]
    if others := [one for one in served if one.given_up]:
        n_wishes = sum(len(one.given_up) for one in others)
        proved = ", proved to be the fewest" if all(one.proved for one in served) else ""
        if proved and service.looked_at is not None:
            proved += f" of {_these(service.looked_at)}"
        gives = "gives" if len(others) == 1 else "give"
        sentences.append(f"{counted(len(others), 'customer')} {gives} up {_wishes(n_wishes)}{proved}.")
    missing = Counter(one.limit in OUT_OF_TIME for one in served if one.product < 0)
    for in_time, n in sorted(missing.items()):
        why = " in time" if in_time else ", as the solver gave up"
        sentences.append(f"For {counted(n, 'customer')} no product was found{why}.")
    return [*sentences, *_off_the_front(service, front)]


def _few_sentences(service: Service) -> list[str]:
    served, looked_at = service.served, service.looked_at or 0
    n_could = sum(one.fewest == 0 for one in served)
    more = sum(len(one.given_up) - one.fewest for one in served)
    regret = sum(max(one.regret, 0.0) for one in served) / len(served)
    offered = f"Offer {counted(len(service.numbers), 'product')}{_among(service)}"
    lost = (
        f"They give up {_wishes(more)} beyond those that they must, and regret {share_text(regret)} of the "
        "objectives' ranges on average"
    )
    proof = (
        f"This sum is proved to be the least of any {service.asked} of {_these(looked_at)}, with a wish "
        "counted as a whole range."
    )
    if service.total - service.bound > 1e-9:
        proof = (
            f"With a wish counted as a whole range the sum is {service.total:,.6g}; no {service.asked} "
            f"of {_these(looked_at)} have less than {service.bound:,.6g}."
        )
    return [f"{offered}: {_find_all(service)}, {n_could:,} could.", f"{lost}. {proof}"]


def _off_the_front(service: Service, front: Front | None) -> list[str]:
    """Return a sentence on products off the front that may meet more wishes; empty if all wishes are met."""
    if front is None or all(one.fewest == 0 for one in service.served):
        return []
    lack = "A product that is not on the front"
    if front.proof.kind is not ProofKind.COMPLETE:
        lack = "The front is not complete, and a product that it lacks"
    is_of_model = front.method not in {*STAGED_METHODS, COMMITTEES} and PROGRAM not in front.extras
    where = ": `configure` with these customers looks at all" if is_of_model else ""
    return [f"{lack} may meet more{where}."]


def _find_all(service: Service) -> str:
    n_met, n = sum(one.is_met for one in service.served), len(service.served)
    verb = "finds" if 1 in {n_met, n} else "find"
    return f"{n_met:,} of {counted(n, 'customer')} {verb} all their wishes"


def _among(service: Service) -> str:
    return "" if service.looked_at is None else f" of {service.looked_at:,}"


def _these(number: int) -> str:
    return f"these {counted(number, 'product')}" if number > 1 else "this one product"


def _wishes(number: int) -> str:
    return f"{number:,} {'wish' if number == 1 else 'wishes'}"


def product_table(service: Service) -> Table:
    """Return the products with values and numbers of customers; the product of most customers is first."""
    every = Counter(one.product for one in service.served if one.product >= 0)
    met = Counter(one.product for one in service.served if one.is_met)
    header = (
        "product",
        "customers",
        "satisfied",
        *(f"{goal.sense} {goal.name}" for goal in service.objectives),
    )
    order = sorted(range(len(service.numbers)), key=lambda place: (-every[place], place))
    rows = tuple(
        (
            str(service.numbers[place]),
            f"{every[place]:,}",
            f"{met[place]:,}",
            *(number_text(value) for value in service.values[place].tolist()),
        )
        for place in order
    )
    return Table("The products", header, rows)


def customer_table(service: Service, served: Sequence[Served] | None = None) -> Table:
    """Return a row for each customer: the product, its values, and the wishes given up."""
    header = (
        "customer",
        "product",
        *(f"{goal.sense} {goal.name}" for goal in service.objectives),
        "gives up",
    )
    rows = tuple(
        (
            one.customer.name,
            str(service.numbers[one.product]) if one.product >= 0 else "none",
            *(
                (number_text(value) for value in service.values[one.product].tolist())
                if one.product >= 0
                else [""] * len(service.objectives)
            ),
            ", ".join(one.given_up) or "nothing" if one.product >= 0 else "",
        )
        for one in (service.served if served is None else served)
    )
    return Table("Who gets what", header, rows)


def service_parts(service: Service, front: Front | None = None) -> Parts:
    """Return the parts of a page that shows customers and their products; see `service_sentences`."""
    first, *more = service_sentences(service, front)
    products = product_table(service)
    return [
        Heading("Customers"),
        Text(first),
        *([Text(" ".join(more))] if more else []),
        _brief(service, products),
        _brief(service, customer_table(service)),
        _bars(products),
    ]


def _brief(service: Service, table: Table) -> Table:
    """Return a table with objectives named without senses, narrow enough for two tables side by side."""
    names = {f"{goal.sense} {goal.name}": goal.name for goal in service.objectives}
    return dataclasses.replace(table, columns=tuple(names.get(head, head) for head in table.columns))


def _bars(products: Table) -> Chart:
    shown = products.rows[:MOST_BARS]
    most = f"product {shown[0][0]}, {shown[0][1]}" if shown else "none"
    left_out = f" The {MOST_BARS} with most customers are drawn." * (len(products.rows) > MOST_BARS)
    return Chart(
        "Customers by product",
        f"Number of customers by product; most get {most}.{left_out}",
        {
            "kind": "bar",
            "names": [f"product {row[0]}" for row in shown],
            "series": [{"name": "customers", "values": [int(row[1].replace(",", "")) for row in shown]}],
            "x": {"label": "customers"},
        },
    )
