"""Customers and the products that they get, as sentences, tables and parts of a page."""

import dataclasses
from collections import Counter
from collections.abc import Sequence

from shortlist._words import counted, number_text
from shortlist.report.few_points import share_text
from shortlist.report.page import Chart, Heading, Parts, Table, Text
from shortlist.results.customers import Served, Service

MOST_BARS = 40
"""Largest number of products with a bar of their customers."""


def service_sentences(service: Service, n_products: int | None = None) -> list[str]:
    """Say how many customers find all their wishes, who does not, and what is proved.

    `n_products`: how many products were looked at; None: every product of a model.
    """
    served = service.served
    n_met = sum(one.is_met for one in served)
    among = "" if n_products is None else f" of {n_products:,}"
    customers = counted(len(served), "customer")
    if service.asked is not None:
        return _few_sentences(service, among)
    products = counted(len(service.numbers), "product")
    sentences = [f"{n_met:,} of {customers} find all their wishes, with {products}{among}."]
    if others := [one for one in served if one.given_up]:
        n_wishes = sum(len(one.given_up) for one in others)
        proved = ", proved to be the fewest" if all(one.proved for one in served) else ""
        gives = "gives" if len(others) == 1 else "give"
        sentences.append(f"{counted(len(others), 'customer')} {gives} up {_wishes(n_wishes)}{proved}.")
    if unknown := sum(one.product < 0 for one in served):
        sentences.append(f"For {counted(unknown, 'customer')} no product was found in time.")
    return sentences


def _few_sentences(service: Service, among: str) -> list[str]:
    served = service.served
    n_met, n_could = sum(one.is_met for one in served), sum(one.fewest == 0 for one in served)
    more = sum(len(one.given_up) - one.fewest for one in served)
    regret = sum(max(one.regret, 0.0) for one in served) / len(served)
    customers = counted(len(served), "customer")
    offered = f"Offer {counted(len(service.numbers), 'product')}{among}"
    lost = (
        f"They give up {_wishes(more)} beyond those that they must, and regret {share_text(regret)} of the "
        "objectives' ranges on average"
    )
    proof = "This sum is proved to be the least, with a wish counted as a whole range."
    if service.total - service.bound > 1e-9:
        proof = (
            f"With a wish counted as a whole range the sum is {service.total:,.6g}; no {service.asked} "
            f"products have less than {service.bound:,.6g}."
        )
    return [
        f"{offered}: {n_met:,} of {customers} find all their wishes, {n_could:,} could.",
        f"{lost}. {proof}",
    ]


def _wishes(number: int) -> str:
    return f"{number:,} {'wish' if number == 1 else 'wishes'}"


def product_table(service: Service) -> Table:
    """Return the products, their values, and how many customers each gets, those with most first."""
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
    """Return a row for each customer: the product, its values, and what is given up."""
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


def service_parts(service: Service, n_products: int | None = None) -> Parts:
    """Return the parts of a page that shows customers and their products."""
    first, *more = service_sentences(service, n_products)
    products = product_table(service)
    return [
        Heading("Customers"),
        Text(first),
        *map(Text, more),
        _brief(service, products),
        _brief(service, customer_table(service)),
        _bars(products),
    ]


def _brief(service: Service, table: Table) -> Table:
    """Return a table whose objectives are named without their senses, so that two stand side by side."""
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
