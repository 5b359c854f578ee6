"""Programs as ``scipy.optimize.milp`` takes them, with a row of costs per objective."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from shortlist._validation import as_count
from shortlist.errors import BadInputError
from shortlist.milp.program import LinearObjective, make_program
from shortlist.programs.named_program import NamedProgram, chosen_objectives
from shortlist.programs.solve import named_objectives, solve_program
from shortlist.results.front import Front, values_at
from shortlist.results.objective import Objective, Sense, objective_names


def model_kind(given: Any) -> str | None:
    """Return ``linopy`` or ``pyomo`` for their models; None for anything else."""
    home = type(given).__module__.partition(".")[0]
    return home if home in {"linopy", "pyomo"} else None


def model_program(model: Any, kind: str, objectives: Any, unused: Mapping[str, Any]) -> NamedProgram:
    """Return the program of a model, with the requested objectives.

    Raises BadInputError if an argument repeats a part of the model, or objectives do not fit the model.
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


def load_solution(model: Any, front: Front, point: int) -> None:
    """Set the variables of a Pyomo or linopy model to the values at a point of its front.

    Raises BadInputError if the front has no such point, or is of another model.

    `model`: model given to :func:`solve_front`; its variables get the values, ``variable.value`` in Pyomo
    and ``variable.solution`` in linopy. `front`: the returned or saved front. `point`: index of the point,
    such as ``front.pick("knee").index``.
    """
    kind = model_kind(model)
    if kind is None:
        raise BadInputError("model", "must be of Pyomo or linopy", type(model).__name__)
    as_count(point, "point", at_least=0, at_most=len(front) - 1)
    values = values_at(front, point)
    variables = _pyomo_variables(model) if kind == "pyomo" else []
    labels = np.asarray([] if kind == "pyomo" else model.matrices.vlabels)
    names = [one.name for one in variables] if kind == "pyomo" else _linopy_names(model, labels)
    if list(values) != names:
        raise BadInputError(
            f"the front must be of this model, whose {len(names):,} variables differ from the "
            f"{len(values):,} columns of the front. Pass the model it was made from."
        )
    if kind == "pyomo":
        for one, value in zip(variables, values.values(), strict=True):
            one.set_value(value, skip_validation=True)
        return
    by_label = dict(zip(labels.tolist(), values.values(), strict=True))
    model.status = "ok"  # otherwise linopy hides its solutions
    for name in model.variables:
        one = model.variables[name]
        found = [by_label.get(label, math.nan) for label in one.labels.values.ravel().tolist()]
        one.solution = one.labels.copy(data=np.array(found, dtype=np.float64).reshape(one.labels.shape))


def _pyomo_variables(model: Any) -> list[Any]:
    from pyomo.core import Var

    return list(model.component_data_objects(Var, descend_into=True))


def from_linopy(model: Any, objectives: Mapping[str, Any]) -> NamedProgram:
    """Return the program of a linopy model.

    Raises BadInputError if the model or an objective is not linear.

    `model`: model with its variables and constraints; its own objective does not count. `objectives`:
    expressions by sense and name, such as ``{"min cost": 3 * x + y, "max value": 2 * x}``.
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
    """Return names such as ``x[a,1]`` for the variable x at these coordinates."""
    return [
        name + (f"[{','.join(map(str, at.values()))}]" if at else "")
        for name, at in model.variables.get_label_position(labels)
    ]


def from_pyomo(model: Any) -> NamedProgram:
    """Return the program of a Pyomo model, with every active objective.

    Raises BadInputError if a constraint or an objective is not linear.
    """
    from pyomo.core import Constraint, minimize, value
    from pyomo.core import Objective as PyomoObjective

    variables = _pyomo_variables(model)
    columns = {id(one): place for place, one in enumerate(variables)}
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
    from pyomo.repn import generate_standard_repn

    found = generate_standard_repn(expression, compute_values=True)
    if not found.is_linear():
        raise BadInputError(f"{name!r} of the Pyomo model must be linear. Write it as rows.")
    terms = np.zeros(len(columns))
    for variable, factor in zip(found.linear_vars, found.linear_coefs, strict=True):
        terms[columns[id(variable)]] += float(factor)
    return terms, float(found.constant)


def solve_front(
    C: ArrayLike | sparse.sparray,
    A: Any = None,
    limits: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    bounds: Any = None,
    integrality: ArrayLike | None = None,
    objectives: str | Sequence[str] | Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    method: str = "auto",
    **options: Any,
) -> Front:
    """Find the non-dominated points of an integer program with two to six linear objectives.

    Parameters
    ----------
    C : array-like or sparse, shape (n_objectives, n_columns), or a model
        Value of a unit of each column in each objective, as decimals: 0.1 means a tenth. Or a model of Pyomo,
        all of whose active objectives count, or a model of linopy; see
        :func:`shortlist.programs.arrays.from_linopy`. The variables of a model are set to a point by
        :func:`shortlist.programs.arrays.load_solution`.
    A : array-like or sparse, shape (n_rows, n_columns), or LinearConstraint, or several of them, optional
        Rows; without any, only the bounds limit the columns.
    limits : (lower, upper), optional
        Limits of the rows of `A`: one number for all rows, or one for each row; infinite for no limit. Left
        out if `A` is a ``scipy.optimize.LinearConstraint``, which has limits of its own.
    bounds : scipy.optimize.Bounds or (lower, upper), optional
        Bounds of the columns; 0 to infinity by default.
    integrality : array-like of 0 and 1, shape (n_columns,) or one for all
        1 for an integer column, 0 for a continuous one, which is the default.
    objectives : str or sequence of str, optional
        Sense and name of each row of `C`, such as ``"min cost, max value"``. By default all are minimised.
        For a linopy model, a mapping from sense and name to expression.
    names : sequence of str, optional
        Names of the columns; ``x0``, ``x1``, ... by default.
    method : str, default="auto"
        ``exact`` (search zones), ``cwmoip``, ``epsilon-constraint`` or ``solrep``; ``auto`` is ``exact``.
    **options
        ``time_limit_s``, ``tolerance``, ``report``, ``cancellation``, ``solver``, ``seed`` and the other
        options of :func:`shortlist.programs.solve.solve_program`.

    Returns
    -------
    front : Front
        Front with its proof: complete, each point proved, or ended by a limit. An infeasible program
        has a complete front without points. ``front.solutions`` has the values of all columns at each point.

    Raises
    ------
    BadInputError
        If shapes disagree, no column is an integer, an objective is unbounded, or an objective has a cost at
        a continuous column and no tolerance.

    Examples
    --------
    >>> front = solve_front(
    ...     [[3, 5, 4], [1, 4, 2]], [[1, 1, 1]], (0, 1), bounds=(0, 1), integrality=1,
    ...     objectives="min price, max quality", names=["tin", "oak", "ash"],
    ... )
    >>> front.values.tolist(), str(front.proof.kind)
    ([[0.0, 0.0], [3.0, 1.0], [4.0, 2.0], [5.0, 4.0]], 'complete')
    """
    if (kind := model_kind(C)) is not None:
        own = {"A": A, "limits": limits, "bounds": bounds, "integrality": integrality, "names": names}
        return solve_program(model_program(C, kind, objectives, own), method=method, **options)
    costs = _dense(C)
    n_columns = costs.shape[1]
    whole = _integrality(integrality, n_columns)
    matrix, lower, upper = _rows(A, limits, n_columns)
    low, high = _bounds(bounds)
    if isinstance(objectives, Mapping):
        raise BadInputError("objectives", "must be a text, as C is a matrix", "a mapping")
    kinds = named_objectives(objectives, len(costs))
    columns = _column_names(names, n_columns)
    for row, (_, name) in zip(costs, kinds, strict=True):
        if len(wrong := np.flatnonzero(~np.isfinite(row))):
            shown = "NaN" if np.isnan(row[wrong[0]]) else row[wrong[0]]
            raise BadInputError(f"the {name} of {columns[wrong[0]]!r}", "must be a finite number", shown)
    program = make_program(
        matrix,
        row_lower=lower,
        row_upper=upper,
        column_lower=low,
        column_upper=high,
        integer=whole,
        objectives=[
            LinearObjective(Objective(name, Sense(sense), scale=None), row)
            for (sense, name), row in zip(kinds, costs, strict=True)
        ],
    )
    rows = tuple(f"row {i}" for i in range(program.n_rows))
    return solve_program(NamedProgram(program, columns, rows), method=method, **options)


def _column_names(names: Sequence[str] | None, n_columns: int) -> tuple[str, ...]:
    if names is not None and not isinstance(names, Sequence | np.ndarray):
        raise BadInputError("names", f"must be {n_columns} different names", repr(names)[:60])
    columns = tuple(f"x{i}" for i in range(n_columns)) if names is None else tuple(map(str, names))
    if len(columns) != n_columns or len(set(columns)) < n_columns:
        raise BadInputError("names", f"must be {n_columns} different names", f"{len(set(columns))}")
    return columns


def _dense(C: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    costs = _numbers("C", C.toarray() if sparse.issparse(C) else C)
    if costs.ndim != 2:
        raise BadInputError(
            "C", "must have shape (n_objectives, n_columns)", costs.shape, "Stack a row for each objective."
        )
    return costs


def _numbers(name: str, given: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInputError(name, "must hold numbers, in rows of one length", repr(given)[:60]) from None


def _pair(name: str, given: Any, wanted: str, advice: str = "") -> tuple[Any, Any]:
    if not isinstance(given, tuple | list | np.ndarray) or len(given) != 2:
        raise BadInputError(name, f"must be {wanted}", repr(given)[:60], advice)
    return _numbers(name, given[0]), _numbers(name, given[1])


def _integrality(integrality: ArrayLike | None, n_columns: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    given = np.asarray(0 if integrality is None else integrality)
    if given.shape not in {(), (n_columns,)} or not np.isin(given, (0, 1)).all():
        shown = np.unique(given)[:5].tolist() if given.size else "nothing"
        raise BadInputError(
            "integrality",
            f"must be 0 or 1, for all columns or for each of {n_columns}",
            shown,
            "Semi-continuous columns are not supported.",
        )
    return np.array(np.broadcast_to(given.astype(bool), n_columns))


def _rows(A: Any, limits: Any, n_columns: int) -> tuple[Any, ArrayLike, ArrayLike]:
    if A is None:
        if limits is not None:
            raise BadInputError("`limits` belongs to `A`, which was not given. Pass both.")
        return sparse.csr_array((0, n_columns)), np.empty(0), np.empty(0)
    parts = list(A) if isinstance(A, list | tuple) and A and _is_constraint(A[0]) else [A]
    if _is_constraint(parts[0]):
        if limits is not None:
            raise BadInputError(
                "`limits` belongs to `A` as a matrix; these constraints hold limits. Leave `limits` out."
            )
        taken = [_rows(one.A, (one.lb, one.ub), n_columns) for one in parts]
        blocks, lowers, uppers = zip(*taken, strict=True)
        return sparse.vstack(blocks), np.concatenate(lowers), np.concatenate(uppers)
    both = _pair("limits", limits, "(lower, upper)", "Pass infinity where a row has no limit.")
    matrix = sparse.csr_array(A if sparse.issparse(A) else np.atleast_2d(_numbers("A", A)))
    if matrix.shape[1] != n_columns:
        raise BadInputError("A", f"must have {n_columns} columns, as C has", matrix.shape)
    n_rows = matrix.shape[0]
    if any(one.shape not in {(), (1,), (n_rows,)} for one in both):
        raise BadInputError(
            "limits", f"must be one number or {n_rows} on each side", f"{both[0].size} and {both[1].size}"
        )
    lower, upper = (np.broadcast_to(one, n_rows) for one in both)
    return matrix, lower, upper


def _is_constraint(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("A", "lb", "ub"))


def _bounds(bounds: Any) -> tuple[ArrayLike, ArrayLike]:
    if bounds is None:
        return 0.0, np.inf
    if hasattr(bounds, "lb"):  # SciPy stores one number as an array of one
        lower, upper = (np.asarray(one, np.float64) for one in (bounds.lb, bounds.ub))
        return lower[0] if lower.shape == (1,) else lower, upper[0] if upper.shape == (1,) else upper
    return _pair("bounds", bounds, "(lower, upper) or scipy.optimize.Bounds")
