"""Programs from arrays, and from models of other packages."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

import shortlist
from shortlist.errors import BadInputError
from shortlist.programs.arrays import from_linopy, load_solution, model_kind, solve_front
from shortlist.programs.solve import solve_program
from shortlist.results.front import values_at
from tests.programs.made_programs import front_by_trying, random_program

C = [[3, 5, 4], [1, 4, 2]]
EXPECTED = [[0, 0], [3, 1], [4, 2], [5, 4]]


@pytest.mark.parametrize(
    ("costs", "rows", "limits", "bounds"),
    [
        (C, [[1, 1, 1]], (0, 1), (0, 1)),
        (np.array(C), np.ones((1, 3)), ([0], [1]), Bounds(0, 1)),
        (sparse.csr_array(C), sparse.coo_array(np.ones((1, 3))), (-np.inf, 1), Bounds([0] * 3, [1] * 3)),
        (C, LinearConstraint(np.ones((1, 3)), -np.inf, 1), None, (0, 1)),
        (C, [LinearConstraint([[1, 1, 1]], ub=1), LinearConstraint(np.eye(3), 0, 1)], None, None),
    ],
    ids=["lists", "arrays", "sparse", "a constraint", "several constraints"],
)
def test_every_way_to_say_a_program_gives_its_front(
    costs: object, rows: object, limits: object, bounds: object
) -> None:
    front = solve_front(
        costs, rows, limits, bounds=bounds, integrality=1, objectives="min price, max quality"  # type: ignore[arg-type]
    )  # fmt: skip
    assert front.values.tolist() == EXPECTED
    assert front.candidates == ("x0", "x1", "x2")


def test_random_programs_as_arrays_have_the_fronts_of_trying_everything() -> None:
    rng = np.random.default_rng(12)
    for _ in range(10):
        program = (named := random_program(rng)).program
        front = solve_front(
            np.array([linear.costs for linear in program.objectives]), program.rows,
            (program.row_lower, program.row_upper), integrality=np.ones(program.n_columns),
            bounds=(program.column_lower, program.column_upper),
            objectives=[f"{linear.objective.sense} {linear.objective.name}" for linear in program.objectives],
        )  # fmt: skip
        offsets = np.array([linear.offset for linear in program.objectives])
        expected = front_by_trying(named)
        assert len(front) == len(expected)
        if len(front):
            np.testing.assert_allclose(front.values + offsets, expected)


def test_it_is_public_and_names_survive() -> None:
    front = shortlist.solve_front(C, bounds=(0, 1), integrality=1, names=["tin", "oak", "ash"])
    assert front.names == ["objective 1", "objective 2"]
    assert front.candidates == ("tin", "oak", "ash")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"C": [1, 2]}, "C must have shape"),
        ({"A": [[1, 1]], "limits": (0, 1)}, "A must have 3 columns"),
        ({"A": [[1, 1, 1]]}, "limits must be"),
        ({"limits": (0, 1)}, "belongs to `A`"),
        ({"A": LinearConstraint([[1, 1, 1]], 0, 1), "limits": (0, 1)}, "these constraints hold limits"),
        ({"integrality": 3}, "integrality must be 0 or 1"),
        ({"integrality": None}, "must have integer columns"),
        ({"bounds": (0, 1, 2)}, "bounds must be"),
        ({"names": ["a", "a", "b"]}, "names must be 3 different names"),
        ({"objectives": "min cost"}, "objectives must name one for each of the 2 rows of C"),
        ({"method": "simplex"}, "method must be"),
        ({"points": 3}, "is no option of"),
        ({"C": [[0.12345678912345678, 1, 1], [1, 1, 1]], "bounds": (0, np.inf)}, "costs of too many digits"),
        ({"C": [[np.nan, 1, 1], [1, 1, 1]]}, "of 'x0' must be a finite number, got NaN"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(given: dict[str, object], said: str) -> None:
    usual: dict[str, object] = {"C": C, "bounds": (0, 1), "integrality": 1}
    with pytest.raises(BadInputError, match=said):
        solve_front(**(usual | given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"C": "ab"}, "C must hold numbers"),
        ({"C": [[1, 2, 3], [1]]}, "C must hold numbers, in rows of one length"),
        ({"A": [[1, 1, 1], [1]]}, "A must hold numbers, in rows of one length"),
        ({"limits": 5}, r"limits must be \(lower, upper\)"),
        ({"limits": None}, r"limits must be \(lower, upper\)"),
        ({"limits": ([1, 2, 3], [1])}, "limits must be one number or 1 on each side, got 3 and 1"),
        ({"bounds": 5}, r"bounds must be \(lower, upper\) or scipy.optimize.Bounds, got 5"),
        ({"bounds": ("a", 1)}, "bounds must hold numbers"),
        ({"objectives": 5}, "objectives must read like"),
        ({"objectives": ["min a", 3]}, "objectives must read like"),
        ({"tolerance": 3}, "tolerance must be a mapping"),
        ({"names": 3}, "names must be 3 different names"),
    ],
)
def test_what_is_no_program_is_one_sentence(changed: dict[str, object], said: str) -> None:
    given = {"C": C, "A": [[1, 1, 1]], "limits": (0, 1), "bounds": (0, 1), "integrality": 1} | changed
    with pytest.raises(BadInputError, match=said):
        solve_front(**given)  # type: ignore[arg-type]  # what is wrong is the point


OF_MODELS = [[2, 0], [5, 1], [8, 2], [11, 3]]


def test_a_linopy_model_is_solved_with_the_names_of_its_variables() -> None:
    linopy = pytest.importorskip("linopy")
    model = linopy.Model()
    x = model.add_variables(lower=0, upper=3, coords=[pd.Index(["a", "b"], name="k")], name="x", integer=True)
    y = model.add_variables(binary=True, name="y")
    model.add_constraints(x.sum() + 2 * y <= 3, name="cap")
    model.add_constraints(x.sel(k="a") - y >= 0, name="need")
    front = solve_front(model, objectives={"min cost": 3 * x.sum() + y + 2, "max many": 1 * x.sum()})
    assert front.values.tolist() == OF_MODELS
    assert front.candidates == ("x[a]", "x[b]", "y")
    load_solution(model, front, 3)
    assert sum(x.solution.values.tolist()) + y.solution.item() == 3
    assert {"x[a]": x.solution.values[0], "x[b]": x.solution.values[1], "y": y.solution.item()} == {
        name: float(value) for name, value in values_at(front, 3).items()
    }


def test_a_pyomo_model_is_solved_with_all_its_objectives() -> None:
    pyomo = pytest.importorskip("pyomo.environ")
    model: Any = pyomo.ConcreteModel()
    model.x = pyomo.Var(["a", "b"], domain=pyomo.NonNegativeIntegers, bounds=(0, 3))
    model.y = pyomo.Var(domain=pyomo.Binary)
    model.cap = pyomo.Constraint(expr=model.x["a"] + model.x["b"] + 2 * model.y <= 3)
    model.need = pyomo.Constraint(expr=model.x["a"] >= model.y)
    model.cost = pyomo.Objective(expr=3 * (model.x["a"] + model.x["b"]) + model.y + 2)
    model.many = pyomo.Objective(expr=model.x["a"] + model.x["b"], sense=pyomo.maximize)
    assert solve_front(model).values.tolist() == OF_MODELS
    front = solve_front(model, objectives="max many, min cost")
    assert front.names == ["many", "cost"]
    assert front.candidates == ("x[a]", "x[b]", "y")
    model.flow = pyomo.Var(bounds=(0, 2.5))
    model.fed = pyomo.Constraint(expr=model.flow + model.x["a"] >= 1.75)
    front = solve_front(model)
    for point in range(len(front)):
        load_solution(model, front, point)
        assert model.flow.value + model.x["a"].value >= 1.75
        assert [pyomo.value(model.cost), pyomo.value(model.many)] == front.values[point].tolist()
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


class _Linopy:
    """A model as linopy has it, by the little that is read and set."""

    __module__ = "linopy.model"

    def __init__(self, said: Any) -> None:
        self.matrices, self.status = said.matrices, "warning"
        labels = {"x": np.array([0, 1]), "y": np.array(2)}
        self.variables = _Variables(
            {name: SimpleNamespace(labels=_Labels(own)) for name, own in labels.items()}
        )
        self.variables.get_label_position = said.variables.get_label_position


class _Variables(dict[str, Any]):
    get_label_position: Any


class _Labels:
    def __init__(self, values: Any) -> None:
        self.values, self.shape = values, values.shape

    def copy(self, *, data: Any) -> Any:
        return data


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
    front = solve_program(named)
    model = _Linopy(_as_linopy_says_it())
    load_solution(model, front, 3)
    chosen = dict(zip(("x[a]", "x[b]", "y"), front.decisions[3].tolist(), strict=True))
    assert model.variables["x"].solution.tolist() == [chosen["x[a]"], chosen["x[b]"]]
    assert model.variables["y"].solution.tolist() == chosen["y"]
    assert model.status == "ok"
    for given, said in (
        (([1], front, 0), "model must be of Pyomo or linopy"),
        ((model, front, 9), "point must be"),
    ):
        with pytest.raises(BadInputError, match=said):
            load_solution(*given)
    with pytest.raises(BadInputError, match="whose 3 variables differ from the 1 columns"):
        load_solution(
            model, dataclasses.replace(front, decisions=front.decisions[:, :1], candidates=("x",)), 0
        )
    quadratic = _as_linopy_says_it()
    quadratic.matrices.Q = np.eye(3)
    with pytest.raises(BadInputError, match="must be linear"):
        from_linopy(quadratic, goals)


def test_matrices_are_no_models() -> None:
    assert model_kind([[1, 2]]) is None
    with pytest.raises(BadInputError, match="objectives must be a text"):
        solve_front([[1, 2], [2, 1]], integrality=1, bounds=(0, 1), objectives={"min a": 1})
