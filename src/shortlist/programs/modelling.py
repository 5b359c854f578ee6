"""Models of linopy and of Pyomo as programs: nothing is written to a file, and names survive."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from shortlist.errors import BadInputError
from shortlist.milp.program import LinearObjective, make_program
from shortlist.programs.named_program import NamedProgram, chosen_objectives
from shortlist.results.objective import Objective, Sense, objective_names


def model_kind(given: Any) -> str | None:
    """Return ``linopy`` or ``pyomo`` for their models, None for anything else."""
    home = type(given).__module__.partition(".")[0]
    return home if home in {"linopy", "pyomo"} else None


def model_program(model: Any, kind: str, objectives: Any, unused: Mapping[str, Any]) -> NamedProgram:
    """Return the program of a model, with the objectives that were asked for.

    Raises BadInputError if something is given that a model says itself, or objectives do not fit the model.
    """
    for name, value in unused.items():
        if value is not None:
            raise BadInputError(
                f"`{name}` belongs to matrices, and a {kind} model has its own. Leave it out."
            )
    if kind == "linopy":
        if not isinstance(objectives, Mapping):
            raise BadInputError(
                "`objectives` must map senses and names to expressions, such as {'min cost': 3 * x}, as a "
                "linopy model has one objective."
            )
        return from_linopy(model, objectives)
    if isinstance(objectives, Mapping):
        raise BadInputError("`objectives` must be a text such as 'min cost, max value' for a Pyomo model.")
    chosen = objectives if objectives is None or isinstance(objectives, str) else ", ".join(objectives)
    return chosen_objectives(from_pyomo(model), chosen)


def from_linopy(model: Any, objectives: Mapping[str, Any]) -> NamedProgram:
    """Return the program of a linopy model.

    Raises BadInputError if the model or an objective is not linear.

    Parameters
    ----------
    model : With its variables and constraints; its own objective does not count.
    objectives : Such as ``{"min cost": 3 * x + y, "max value": 2 * x}``.
    """
    matrices = model.matrices
    labels = np.asarray(matrices.vlabels)
    places = {int(label): place for place, label in enumerate(labels.tolist())}
    kinds = np.asarray(matrices.vtypes)
    if matrices.Q is not None or not np.isin(kinds, ["C", "B", "I"]).all():
        raise BadInputError("the linopy model must be linear, with integer and continuous variables.")
    sense, right = np.asarray(matrices.sense), np.asarray(matrices.b, dtype=np.float64)
    goals = []
    for text, expression in objectives.items():
        ((wanted, name),) = objective_names(text)
        costs = np.zeros(len(labels))
        terms = expression.flat
        for label, factor in zip(terms["vars"].tolist(), terms["coeffs"].tolist(), strict=True):
            costs[places[int(label)]] += factor
        goals.append(
            LinearObjective(
                Objective(name, wanted, scale=None), costs, float(np.sum(expression.const.values))
            )
        )
    program = make_program(
        matrices.A,
        row_lower=np.where(np.isin(sense, ["=", ">"]), right, -math.inf),
        row_upper=np.where(np.isin(sense, ["=", "<"]), right, math.inf),
        column_lower=matrices.lb,
        column_upper=matrices.ub,
        integer=kinds != "C",
        objectives=goals,
    )
    return NamedProgram(
        program, tuple(_linopy_names(model, labels)), tuple(f"row {i}" for i in range(len(right)))
    )


def _linopy_names(model: Any, labels: "np.ndarray[Any, Any]") -> list[str]:
    """Return ``x[a,1]`` for the variable x at these coordinates."""
    return [
        name + (f"[{','.join(map(str, at.values()))}]" if at else "")
        for name, at in model.variables.get_label_position(labels)
    ]


def from_pyomo(model: Any) -> NamedProgram:
    """Return the program of a Pyomo model, with every active objective.

    Raises BadInputError if a constraint or an objective is not linear.
    """
    from pyomo.core import Constraint, Var, minimize, value
    from pyomo.core import Objective as PyomoObjective

    columns: dict[int, int] = {}
    variables: list[Any] = []
    for one in model.component_data_objects(Var, descend_into=True):
        columns[id(one)] = len(variables)
        variables.append(one)
    goals = []
    for one in model.component_data_objects(PyomoObjective, active=True, descend_into=True):
        terms, offset = _pyomo_terms(one.expr, one.name, columns)
        sense = Sense.MIN if one.sense == minimize else Sense.MAX
        goals.append(LinearObjective(Objective(one.name, sense, scale=None), terms, offset))
    rows, lower, upper, names = [], [], [], []
    for one in model.component_data_objects(Constraint, active=True, descend_into=True):
        terms, offset = _pyomo_terms(one.body, one.name, columns)
        rows.append(sparse.csr_array(terms[None, :]))
        lower.append(-math.inf if one.lower is None else value(one.lower) - offset)
        upper.append(math.inf if one.upper is None else value(one.upper) - offset)
        names.append(one.name)
    bounds = [(one.lb, one.ub) if not one.fixed else (value(one), value(one)) for one in variables]
    program = make_program(
        sparse.vstack(rows) if rows else sparse.csr_array((0, len(variables))),
        row_lower=np.array(lower),
        row_upper=np.array(upper),
        column_lower=np.array([-math.inf if low is None else low for low, _ in bounds]),
        column_upper=np.array([math.inf if high is None else high for _, high in bounds]),
        integer=np.array([not one.is_continuous() for one in variables], dtype=bool),
        objectives=goals,
    )
    return NamedProgram(program, tuple(one.name for one in variables), tuple(names))


def _pyomo_terms(
    expression: Any, name: str, columns: Mapping[int, int]
) -> "tuple[np.ndarray[Any, np.dtype[np.float64]], float]":
    """Return the coefficients of a linear expression and its constant."""
    from pyomo.repn import generate_standard_repn

    found = generate_standard_repn(expression, compute_values=True)
    if not found.is_linear():
        raise BadInputError(f"{name!r} of the Pyomo model must be linear. Write it as rows.")
    terms = np.zeros(len(columns))
    for variable, factor in zip(found.linear_vars, found.linear_coefs, strict=True):
        terms[columns[id(variable)]] += float(factor)
    return terms, float(found.constant)
