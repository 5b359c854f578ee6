"""IBED: two populations."""

from pathlib import Path

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.methods.evolution.ibed import ibed
from shortlist.methods.evolution.variation import Evolution
from shortlist.products import read_attributes, read_model
from shortlist.products.attributes.attribute import exact_attribute
from shortlist.products.configuration.product_objectives import parse_objectives
from shortlist.products.encodings.clauses import to_clauses
from shortlist.results.objective import Objective
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget

PAPER = "feature-models/paper-instances"
SHOP = Clauses.from_clauses(6, [(1,), (-2, 3), (-4, -5), (2, 4, 6)])
COSTS = [[-1, -1, -1, -1, -1, -1], [3, 1, 4, 1, 5, 9]]
GOALS = [Objective("left out"), Objective("price")]


def test_the_same_seed_gives_the_same_products() -> None:
    few = Evolution(n_evaluations=410, population_size=20)
    runs = [ibed(SHOP, COSTS, GOALS, "abcdef", settings=few, budget=Budget(seed=7)) for _ in range(2)]

    assert np.array_equal(runs[0].decisions, runs[1].decisions)
    assert runs[0].proof.kind is ProofKind.APPROXIMATE
    assert runs[0].extras["n_evaluations"] == 410
    assert SHOP.satisfied(runs[0].decisions.astype(bool)).all()
    assert len(runs[0]) > 0


def test_points_are_the_costs_of_the_products() -> None:
    few = Evolution(n_evaluations=600, population_size=20)
    front = ibed(SHOP, COSTS, GOALS, "abcdef", offsets=[6, 0], settings=few)

    assert np.array_equal(front.points, front.decisions.astype(int) @ np.array(COSTS).T + [6, 0])


def test_wrong_rates_are_named() -> None:
    with pytest.raises(BadInputError, match="differential_weight must be a probability"):
        Evolution(differential_weight=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model_name", "attributes", "least_share"),
    [("jcs", "ChatSystem_PREDEFINE_ONE", 0.7), ("web-portal", "WebPortal_RAND1", 0.04)],
)
def test_real_product_lines_are_evolved_to_products_and_much_of_the_front(
    data_folder: Path, model_name: str, attributes: str, least_share: float
) -> None:
    model = read_model(data_folder / "feature-models" / "splot" / f"{model_name}.sxfm.xml")
    table = read_attributes(
        data_folder / PAPER / "attributes" / f"{attributes}.csv", model, renames={"Enrcyption": "Encryption"}
    )
    exact = {name: exact_attribute(table, name, model) for name in ("cost", "defects", "not_used_before")}
    goals = parse_objectives("min deselected, min not_used_before, min defects, min cost", model, exact)
    path = data_folder / PAPER / "reference-fronts" / f"{attributes}.csv"
    rows = np.genfromtxt(path, delimiter=",", names=True)
    columns = ("deselected_features", "not_used_before", "defects", "cost")
    scales = [goal.objective.scale or 1 for goal in goals]
    complete = {
        tuple(np.rint(np.array([row[name] for name in columns]) * scales).astype(int).tolist())
        for row in rows
    }
    front = ibed(
        to_clauses(model),
        np.array([goal.minimised for goal in goals]),
        [goal.objective for goal in goals],
        model.labels,
        offsets=[goal.offset * goal.objective.sign for goal in goals],
        settings=Evolution(n_evaluations=25_000),
        budget=Budget(seed=1),
    )

    assert front.extras["correctness"] >= 0.98
    assert len(complete & set(map(tuple, front.points.tolist()))) >= least_share * len(complete)
