"""Pages of a few points, and of customers with their products."""

from decimal import Decimal

import numpy as np
import pytest

from shortlist.methods.customers import serve
from shortlist.methods.few_points import few_points
from shortlist.report.customers import customer_table, product_table, service_parts, service_sentences
from shortlist.report.few_points import few_parts, few_sentences
from shortlist.report.page import Chart, Parts, Table, page
from shortlist.results.customers import Customer
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense, read_limit
from shortlist.results.proof import Proof, ProofKind
from tests.report.browsing import Open
from tests.report.test_narrow_pages import WIDER

NAMES = ["Phone", "GPS", "SolarBackWithAnExceedinglyLongNameOfItsOwn", "Camera"]


def phones() -> Front:
    goals = [Objective("cost"), Objective("hours", Sense.MAX), Objective("grams", scale=10)]
    points = np.array([[60, -10, 900], [90, -19, 1200], [100, -14, 1000], [140, -22, 1155]])
    has = np.array([[1, 0, 0, 0], [1, 1, 0, 1], [1, 0, 1, 1], [1, 1, 1, 1]])
    return Front.from_points(goals, points, has, NAMES, Proof(ProofKind.COMPLETE), method="diagram")


def both() -> dict[str, Parts]:
    front = phones()
    customers = [Customer(f"Customer {n}", (2, -4), (read_limit("cost<=70"),)) for n in range(5)]
    customers.append(Customer("Ann", (4,), weights={"hours": Decimal(1)}))
    return {
        "few": few_parts(front, few_points(front, 3), 3),
        "customers": service_parts(serve(front, customers), front),
        "shared": service_parts(serve(front, customers, 2), front),
    }


@pytest.mark.parametrize("what", ["few", "customers", "shared"])
@pytest.mark.parametrize("width", [420, 1300])
def test_nothing_is_cut_off_and_two_tables_stand_side_by_side(open_page: Open, what: str, width: int) -> None:
    opened = open_page(page("Result", both()[what]), width=width, height=900)
    assert opened.page.evaluate(WIDER, width) == []
    assert opened.complaints == []
    first, second = (opened.page.locator(".block.table").nth(n).bounding_box() for n in range(2))
    picture = opened.page.locator(".block.picture").first.bounding_box()
    if width == 420:
        assert second["y"] >= first["y"] + first["height"] - 1
    else:
        assert what == "few" or second["x"] >= first["x"] + first["width"] - 1  # its names are long
        assert max(second["x"] + second["width"], picture["x"] + picture["width"]) > 2 / 3 * width


def test_the_page_of_a_few_holds_the_curve_and_what_the_points_differ_in() -> None:
    front = phones()
    found = few_points(front, 3)
    parts = few_parts(front, found, 3)
    points, differences = [part for part in parts if isinstance(part, Table)][:2]
    assert [row[0] for row in points.rows] == [str(point) for point in found.points]
    assert {row[0] for row in differences.rows} <= set(NAMES[1:])
    curve = next(part for part in parts if isinstance(part, Chart))
    drawn = [y for _, y in curve.data["series"][0]["points"]]
    assert drawn == [round(100 * regret, 4) for _, regret, _ in found.curve]
    assert few_sentences(front, found, 3)[0].startswith(f"Take {len(found.points)} points of 4")


def test_tables_of_customers_count_them_and_name_what_they_give_up() -> None:
    customers = [Customer("Ann", (2,)), Customer("Bob", (2, -4)), Customer("Eve")]
    service = serve(phones(), customers)
    products = product_table(service)
    assert sum(int(row[1]) for row in products.rows) == 3
    assert sum(int(row[2]) for row in products.rows) == 2
    rows = customer_table(service).rows
    assert [row[0] for row in rows] == ["Ann", "Bob", "Eve"]
    assert rows[0][-1] == "nothing"
    assert rows[1][-1] in {"GPS", "no Camera"}
    assert "gives up 1 wish," in service_sentences(service, phones())[1]
