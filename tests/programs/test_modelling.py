"""Models of linopy and Pyomo, where these are installed."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from shortlist import solve_front
from shortlist.errors import BadInputError
from shortlist.programs.arrays import from_linopy, model_kind

EXPECTED = [[2, 0], [5, 1], [8, 2], [11, 3]]


def test_a_linopy_model_is_solved_with_the_names_of_its_variables() -> None:
    linopy = pytest.importorskip("linopy")
    model = linopy.Model()
    x = model.add_variables(lower=0, upper=3, coords=[pd.Index(["a", "b"], name="k")], name="x", integer=True)
    y = model.add_variables(binary=True, name="y")
    model.add_constraints(x.sum() + 2 * y <= 3, name="cap")
    model.add_constraints(x.sel(k="a") - y >= 0, name="need")
    front = solve_front(model, objectives={"min cost": 3 * x.sum() + y + 2, "max many": 1 * x.sum()})
    assert front.values.tolist() == EXPECTED
    assert front.candidates == ("x[a]", "x[b]", "y")


def test_a_pyomo_model_is_solved_with_all_its_objectives() -> None:
    pyomo = pytest.importorskip("pyomo.environ")
    model: Any = pyomo.ConcreteModel()
    model.x = pyomo.Var(["a", "b"], domain=pyomo.NonNegativeIntegers, bounds=(0, 3))
    model.y = pyomo.Var(domain=pyomo.Binary)
    model.cap = pyomo.Constraint(expr=model.x["a"] + model.x["b"] + 2 * model.y <= 3)
    model.need = pyomo.Constraint(expr=model.x["a"] >= model.y)
    model.cost = pyomo.Objective(expr=3 * (model.x["a"] + model.x["b"]) + model.y + 2)
    model.many = pyomo.Objective(expr=model.x["a"] + model.x["b"], sense=pyomo.maximize)
    assert solve_front(model).values.tolist() == EXPECTED
    front = solve_front(model, objectives="max many, min cost")
    assert front.names == ["many", "cost"]
    assert front.candidates == ("x[a]", "x[b]", "y")
    model.bad = pyomo.Constraint(expr=model.y * model.x["a"] <= 3)
    with pytest.raises(BadInputError, match="'bad' of the Pyomo model must be linear"):
        solve_front(model)


def _as_linopy_says_it() -> Any:
    """Return what linopy 0.10 says of the model above, for where it is not installed."""
    matrices = SimpleNamespace(
        vlabels=np.array([0, 1, 2]), vtypes=np.array(["I", "I", "B"]), Q=None,
        lb=np.zeros(3), ub=np.array([3.0, 3, 1]), A=sparse.csr_array(np.array([[1.0, 1, 2], [1, 0, -1]])),
        b=np.array([3.0, 0]), sense=np.array(["<", ">"]),
    )  # fmt: skip
    places = [("x", {"k": "a"}), ("x", {"k": "b"}), ("y", {})]
    return SimpleNamespace(
        matrices=matrices,
        variables=SimpleNamespace(get_label_position=lambda labels: [places[i] for i in labels]),
    )


def _expression(terms: dict[int, float], constant: float) -> Any:
    flat = pd.DataFrame({"vars": list(terms), "coeffs": list(terms.values())})
    return SimpleNamespace(flat=flat, const=SimpleNamespace(values=np.array(constant)))


def test_matrices_of_linopy_become_rows_bounds_and_objectives() -> None:
    goals = {"min cost": _expression({0: 3, 1: 3, 2: 1}, 2), "max many": _expression({0: 1, 1: 1}, 0)}
    named = from_linopy(_as_linopy_says_it(), goals)
    assert named.columns == ("x[a]", "x[b]", "y")
    assert named.program.row_lower.tolist() == [-np.inf, 0]
    assert named.program.row_upper.tolist() == [3, np.inf]
    assert [o.costs.tolist() for o in named.program.objectives] == [[3, 3, 1], [1, 1, 0]]
    quadratic = _as_linopy_says_it()
    quadratic.matrices.Q = np.eye(3)
    with pytest.raises(BadInputError, match="must be linear"):
        from_linopy(quadratic, goals)


def test_matrices_are_no_models() -> None:
    assert model_kind([[1, 2]]) is None
    with pytest.raises(BadInputError, match="objectives must be a text"):
        solve_front([[1, 2], [2, 1]], integrality=1, bounds=(0, 1), objectives={"min a": 1})
