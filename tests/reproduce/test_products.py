"""The paper on product lines, at its smallest."""

from pathlib import Path

import pandas as pd
import pytest

from shortlist.reproduce.paper import reproduce
from shortlist.reproduce.products import PRODUCTS, ProductsSize, plan_products, product_tables

SMALLEST = ProductsSize(
    ((("jcs", 1), ("diagram", "cwmoip")), (("web-portal", 0), ("diagram",))), ((("jcs", 1), 5, None),), 2, 400
)


@pytest.mark.slow
def test_the_smallest_reproduction_finds_the_published_front(data_folder: Path) -> None:
    size = ProductsSize(SMALLEST.complete[:1], SMALLEST.solrep, SMALLEST.n_seeds, SMALLEST.n_evaluations)
    plan = plan_products(data_folder, size)
    assert [unit.key for unit in plan.units] == [
        "jcs 2/diagram", "jcs 2/cwmoip", "jcs 2/solrep 5", "jcs 2/ibed 0", "jcs 2/ibed 1",
    ]  # fmt: skip
    assert plan.missing == ()
    complete, share, beside, seconds = reproduce(PRODUCTS, plan).tables
    assert [(row["points"], row["paper's points"], row["as enumerated"]) for row in complete.rows] == [
        (9, 9, "yes"), (9, 9, "yes"),
    ]  # fmt: skip
    assert share.rows[0]["complete"] == 9
    assert 0 < share.rows[0]["found"] <= 9
    assert [row["set"] for row in beside.rows] == ["solrep", "ibed, 2 runs"]
    assert seconds.rows[0]["reference points"] == 5


def test_without_models_it_is_said_where_they_go(tmp_path: Path) -> None:
    plan = plan_products(tmp_path, SMALLEST)
    assert plan.units == ()
    assert "jcs 2 is missing" in plan.missing[0]
    assert "as feature-models/" in plan.missing[0]


def _row(kind: str, method: str, points: list[list[int]], **more: object) -> dict[str, object]:
    return {
        "kind": kind,
        "system": "jcs",
        "number": 0,
        "method": method,
        "seconds": 2.0,
        "points": points,
    } | more


def test_fronts_are_counted_against_each_other() -> None:
    rows = pd.DataFrame(
        [
            _row("complete", "diagram", [[0, 3, 0, 0], [1, 2, 0, 0], [3, 0, 0, 0]], same=True),
            _row("ibed", "ibed", [[0, 3, 0, 0], [4, 4, 0, 0]], seed=0, correctness=1.0, stored=None),
            _row("ibed", "ibed", [[1, 2, 0, 0]], seed=1, correctness=0.5, stored=None),
            _row(
                "solrep", "solrep", [[3, 0, 0, 0], [0, 3, 0, 0]], reference_points=50, programs=7, unproved=1
            ),
        ]
    )
    complete, share, beside, seconds = product_tables(rows)
    assert complete.rows[0]["points"] == 3
    assert complete.rows[0]["as enumerated"] == "yes"
    assert (share.rows[0]["found"], share.rows[0]["share %"], share.rows[0]["correct %"]) == (2, 66.7, 75.0)
    assert [(row["points"], row["in the joint front"], row["only here"]) for row in beside.rows] == [
        (2, 2, 1), (2, 2, 1),
    ]  # fmt: skip
    assert seconds.rows[0]["programs"] == 7
    assert seconds.rows[0]["paper's seconds"] is None
