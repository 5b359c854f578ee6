"""Assignment of products to customers: for each customer the best product within her wishes.

A customer takes at most three integer programs. The first has all wishes as bounds and rows, and minimises
her loss: the weighted mean of the distances of the objectives from their best values, as shares of their
ranges. If the first program is infeasible, any wish may be given up. The second program minimises the number
of wishes given up. The third program keeps this number, and minimises the loss plus the amounts by which
limits are missed, as shares of the ranges.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist._words import all_of
from shortlist.arrays import Floats, Mask
from shortlist.errors import BadInputError
from shortlist.milp.backends import open_solver
from shortlist.milp.program import LinearObjective, Program
from shortlist.milp.solution import Limits, Solution
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.feasibility import NO_REQUIREMENTS
from shortlist.products.configuration.question import FeatureObjective, parse_limit, parse_question
from shortlist.products.configuration.requirements import Requirements
from shortlist.products.formulas import And, Linear
from shortlist.products.inequalities import to_program, within_reach
from shortlist.products.model import Constraint, FeatureModel, with_constraints
from shortlist.products.rules import are_valid
from shortlist.results.customers import Customer, Served, Service, wish_text
from shortlist.results.objective import Limit, Objective
from shortlist.results.proof import Status
from shortlist.runs import Cancellation, Progress, Report, silent
from shortlist.runs.budget import Budget

SECONDS_PER_PROGRAM = 10.0
"""Most seconds for one program."""


@dataclass(frozen=True, eq=False)
class _Found:
    """Product for a customer, or None with the limit that ended the search; see :class:`Solution`."""

    product: Mask | None
    fewest: int
    proved: bool
    limit: str = ""


def serve_products(
    model: FeatureModel,
    objectives: str | Sequence[FeatureObjective],
    customers: Sequence[Customer],
    *,
    attributes: Mapping[str, Attribute] | None = None,
    limits: Sequence[str | Constraint] = (),
    requirements: Requirements = NO_REQUIREMENTS,
    time_limit_s: float | None = None,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> Service:
    """Return the best product of a model for each customer, and the fewest wishes that she has to give up.

    The optimum of an objective minimises this objective first, then every other objective in order. The range
    of an objective goes from its best to its worst value at the optima of all objectives. With two objectives
    this is the range on the front. If the range is a single value, it is extended to the worst value of all
    products. Every product is checked against the rules of the model; its values and misses are computed in
    integers. Numbers of wishes are proved exactly, losses up to a millionth of the range.

    Raises BadInputError if a limit or weight names nothing, or the model has no product.

    `objectives`, `attributes`, `limits`, `requirements`, `time_limit_s`: as of
    :func:`~shortlist.products.configuration.product_front.configure`. `customers`: for instance from
    :func:`~shortlist.results.customer_tables.read_customers`. Customers beyond the time limit get no
    product.

    >>> from shortlist.products.model import make_group, make_model
    >>> phone = make_model(["Phone", "GPS", "MP3"], root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> cost = {"cost": Attribute("cost", np.array([10, 6, 3]))}
    >>> both = [Customer("Ann", (2,)), Customer("Bob", (2, 3))]
    >>> found = serve_products(phone, "min cost", both, attributes=cost)
    >>> [(one.customer.name, one.given_up, found.values[one.product].tolist()) for one in found.served]
    [('Ann', (), [16.0]), ('Bob', ('GPS',), [13.0])]
    """
    if not customers:
        raise BadInputError("customers", "must be at least one", "none")
    goals, bounds = parse_question(model, objectives, limits, attributes)
    budget = Budget(
        math.inf if time_limit_s is None else time_limit_s,
        report=report,
        cancellation=cancellation or Cancellation(),
    )
    line = _ProductLine(with_constraints(model, bounds), goals, attributes or {}, requirements, budget)
    known: dict[object, _Found] = {}
    found = []
    for number, customer in enumerate(customers):
        key = (customer.wishes, tuple(sorted(customer.weights.items())))
        if key not in known:
            known[key] = line.best(customer)
        found.append(known[key])
        report(Progress("serving customers", number + 1, len(customers)))
    return line.service(customers, found)


class _ProductLine:
    """A product line, its program and the ranges of its objectives."""

    def __init__(
        self,
        model: FeatureModel,
        goals: Sequence[FeatureObjective],
        attributes: Mapping[str, Attribute],
        requirements: Requirements,
        budget: Budget,
    ) -> None:
        self.model, self.goals, self.attributes, self.budget = model, goals, attributes, budget
        self.n = model.n_features
        self.program = to_program(model, objectives=[goals[0].linear()], fixed=requirements.literals)
        self.required = np.array(requirements.literals, dtype=np.int64)
        self.ranges = self._ranges()

    def _ranges(self) -> list[tuple[int, int]]:
        """Return the best value of each objective, scaled and to minimise, and the width of its range."""
        ends = np.array([self._payoffs(place) for place in range(len(self.goals))])
        ranges = []
        for place, goal in enumerate(self.goals):
            low, high = int(ends[place, place]), int(ends[:, place].max())
            if low == high:
                high = -self._least(self.program, -goal.minimised)[0] + goal.offset * goal.objective.sign
            ranges.append((low, high - low))
        return ranges

    def _payoffs(self, first: int) -> list[int]:
        """Return the values of all objectives.

        Objective `first` is minimised first, then every other objective in order.
        """
        program, values = self.program, [0] * len(self.goals)
        for place in [first, *(one for one in range(len(self.goals)) if one != first)]:
            goal = self.goals[place]
            least, _ = self._least(program, goal.minimised)
            values[place] = least + goal.offset * goal.objective.sign
            program = program.with_rows(self._row(program, goal.minimised), -np.inf, float(least))
        return values

    def _least(self, program: Program, costs: NDArray[np.int64]) -> tuple[int, Mask]:
        answer = self._solve(program, self._row(program, costs)[0])
        if answer.status is Status.INFEASIBLE:
            raise BadInputError("no product meets what is asked of all customers. Relax a limit.")
        if answer.values is None:
            raise BadInputError("the ranges of the objectives were not found in time. Allow more time.")
        product = answer.values[: self.n] > 0.5
        return int(costs[product].sum()), product

    def _row(self, program: Program, coefficients: NDArray[np.int64]) -> Floats:
        row = np.zeros((1, program.n_columns))
        row[0, : len(coefficients)] = coefficients
        return row

    def _solve(self, program: Program, costs: Floats) -> Solution:
        goal = LinearObjective(Objective("loss"), costs)
        program = dataclasses.replace(program, objectives=(goal,))
        limits = Limits(SECONDS_PER_PROGRAM).within(self.budget)
        return open_solver().open(program).solve(limits, cancellation=self.budget.cancellation)

    def best(self, customer: Customer) -> _Found:
        """Return the best product for a customer."""
        costs = self._loss(customer)
        parts = [[within_reach(part) for part in self._parts(limit)] for limit in customer.limits]
        if self.budget.stopped:
            return _Found(None, 0, proved=False, limit="seconds")
        if not any(-literal in customer.features for literal in customer.features):
            answer = self._solve(self._strict(customer, parts), costs)
            if answer.values is not None:
                return self._checked(answer, customer, 0, proved=answer.status is Status.OPTIMAL)
            if answer.status is not Status.INFEASIBLE:
                return _Found(None, 0, proved=False, limit=answer.limit)
        soft, broken, beyond = self._soft(customer, parts)
        fewest = self._solve(soft, broken)
        if fewest.values is None:
            return _Found(None, 1, proved=False, limit=fewest.limit)
        n_broken = round(float(broken @ fewest.values)) + sum(literal > 0 for literal in customer.features)
        offset = sum(literal > 0 for literal in customer.features)
        bound = (
            n_broken if fewest.status is Status.OPTIMAL else max(1, math.ceil(fewest.bound - 1e-6) + offset)
        )
        at_most = soft.with_rows(broken[None, :], -np.inf, float(n_broken - offset))
        padded = np.zeros(soft.n_columns)
        padded[: len(costs)] = costs
        answer = self._solve(at_most, padded + beyond)
        proved = fewest.status is Status.OPTIMAL and answer.status is Status.OPTIMAL
        return self._checked(answer if answer.values is not None else fewest, customer, bound, proved=proved)

    def _loss(self, customer: Customer) -> Floats:
        """Return the costs of the columns.

        A cost is the weighted mean of the changes of the objectives, as shares of their ranges.
        """
        names = [goal.objective.name for goal in self.goals]
        for name in customer.weights:
            if name not in names:
                raise BadInputError("weights", f"must name {all_of(names)}", repr(name))
        weights = customer.weights or dict.fromkeys(names, Decimal(1))
        total = float(sum(weights.values()))
        costs = np.zeros(self.program.n_columns)
        for goal, (_, width) in zip(self.goals, self.ranges, strict=True):
            weight = float(weights.get(goal.objective.name, 0)) / total
            costs[: self.n] += weight * goal.minimised / (width or 1)
        return costs

    def _parts(self, limit: Limit) -> list[Linear]:
        formula = parse_limit(str(limit), self.model, self.attributes).formula
        parts = formula.parts if isinstance(formula, And) else (formula,)
        return [part for part in parts if isinstance(part, Linear)]

    def _strict(self, customer: Customer, parts: Sequence[Sequence[Linear]]) -> Program:
        """Return the program in which all wishes are requirements."""
        program = self.program.to_change()
        for literal in customer.features:
            column = abs(literal) - 1
            if literal > 0:
                program.column_lower[column] = 1
            else:
                program.column_upper[column] = 0
        rows = [part for own in parts for part in own]
        if (program.column_lower > program.column_upper).any():  # a wish contradicts the common requirements
            nothing = np.zeros((1, program.n_columns))
            return self.program.with_rows(nothing, 1.0, 1.0)
        if not rows:
            return program
        matrix = sparse.vstack([_sparse_row(part, program.n_columns) for part in rows])
        return program.with_rows(matrix, -np.inf, [float(part.upper) for part in rows])

    def _soft(self, customer: Customer, parts: Sequence[Sequence[Linear]]) -> tuple[Program, Floats, Floats]:
        """Return the program in which wishes may be given up, the costs of wishes, and the costs of misses.

        The costs of wishes leave out a constant, the number of wanted features. Each limit has a column that
        is 1 if the limit is given up. Each side of a limit has a column with the amount that is missed.
        """
        n_limits, n_sides = len(parts), sum(map(len, parts))
        n, width = self.program.n_columns, self.program.n_columns + n_limits + n_sides
        broken, beyond = np.zeros(width), np.zeros(width)
        for literal in customer.features:
            broken[abs(literal) - 1] += -1 if literal > 0 else 1
        broken[n : n + n_limits] = 1
        rows, upper, most = [], [], [1.0] * n_limits
        side = n + n_limits
        for place, (limit, own) in enumerate(zip(customer.limits, parts, strict=True)):
            for part in own:
                reach = float(max(0, sum(factor for factor in part.coefficients if factor > 0) - part.upper))
                missed = sparse.lil_array(_sparse_row(part, width))
                missed[0, side] = -1
                switch = sparse.lil_array((1, width))
                switch[0, side], switch[0, n + place] = 1, -reach
                rows += [missed, switch]
                upper += [float(part.upper), 0.0]
                most.append(reach)
                beyond[side] = 1 / (self._range_of(limit.name) or math.inf)
                side += 1
        grown = _widened(self.program, most)
        if rows:
            grown = grown.with_rows(sparse.vstack(rows), -np.inf, upper)
        return grown, broken, beyond

    def _missed(self, limit: Limit, product: Mask) -> float:
        """Return the amount by which a product misses a limit, as a share of the range."""
        width = self._range_of(limit.name)
        steps = sum(max(0, _sum(part, product) - part.upper) for part in self._parts(limit))
        return steps / width if width else 0.0

    def _range_of(self, name: str) -> int:
        """Return the width of an objective's range; for other attributes the sum of the absolute values."""
        for goal, (_, width) in zip(self.goals, self.ranges, strict=True):
            if goal.objective.name == name:
                return width
        quantity = parse_limit(f"{name}<=0", self.model, self.attributes).quantity
        return 0 if quantity is None else int(np.abs(quantity.coefficients).sum())

    def _checked(self, answer: Solution, customer: Customer, fewest: int, *, proved: bool) -> _Found:
        """Check the product of an answer against the rules, and count its broken wishes.

        The found product is None if it breaks a rule.
        """
        assert answer.values is not None
        product = answer.values[: self.n] > 0.5
        required = self.required
        valid = bool(are_valid(self.model, product[None, :].astype(np.uint8))[0])
        if not valid or (product[np.abs(required) - 1] != (required > 0)).any():
            return _Found(None, fewest, proved=False, limit="precision")
        n_broken = len(self.given_up(customer, product))
        return _Found(product, min(fewest, n_broken), proved=proved and n_broken == fewest)

    def given_up(self, customer: Customer, product: Mask) -> list[str]:
        """Return the wishes that a product does not meet, checked in integers."""
        told = [
            wish_text(literal, self.model.labels)
            for literal in customer.features
            if product[abs(literal) - 1] != (literal > 0)
        ]
        for limit in customer.limits:
            quantity = parse_limit(str(limit), self.model, self.attributes).quantity
            if quantity is not None and any(_sum(part, product) > part.upper for part in self._parts(limit)):
                value = int(quantity.points(product[None, :])[0])
                told.append(f"{limit} (has {quantity.value_text(value)})")
        return told

    def service(self, customers: Sequence[Customer], found: Sequence[_Found]) -> Service:
        """Return the found products, numbered from 1, and the result for each customer."""
        products = [one.product for one in found if one.product is not None]
        every = np.array(products, dtype=np.uint8).reshape(-1, self.n)
        rows, back = np.unique(every, axis=0, return_inverse=True)
        places = iter(back.ravel().tolist())
        steps = np.column_stack([goal.points(rows) for goal in self.goals])
        signs = np.array([goal.objective.sign for goal in self.goals])
        scales = np.array([goal.objective.scale or 1 for goal in self.goals])
        served = []
        for customer, one in zip(customers, found, strict=True):
            if one.product is None:
                served.append(Served(customer, -1, (), one.fewest, 0.0, 0.0, proved=False, limit=one.limit))
                continue
            loss = float(self._loss(customer)[: self.n] @ one.product) - self._least_loss(customer)
            loss += sum(self._missed(limit, one.product) for limit in customer.limits)
            given_up = tuple(self.given_up(customer, one.product))
            served.append(Served(customer, next(places), given_up, one.fewest, loss, 0.0, proved=one.proved))
        return Service(
            tuple(goal.objective for goal in self.goals),
            self.model.labels,
            tuple(range(1, len(rows) + 1)),
            steps * signs / scales + 0.0,
            rows,
            tuple(served),
        )

    def _least_loss(self, customer: Customer) -> float:
        """Return the constant of the loss: with it the loss is 0 if every objective has its best value."""
        names = [goal.objective.name for goal in self.goals]
        weights = customer.weights or dict.fromkeys(names, Decimal(1))
        total = float(sum(weights.values()))
        return sum(
            float(weights.get(goal.objective.name, 0)) / total
            * (low - goal.offset * goal.objective.sign) / (width or 1)
            for goal, (low, width) in zip(self.goals, self.ranges, strict=True)
        )  # fmt: skip


def _sum(part: Linear, product: Mask) -> int:
    factors = np.array(part.coefficients, dtype=np.int64)
    return int(factors[product[np.array(part.variables, dtype=np.int64) - 1]].sum())


def _sparse_row(part: Linear, width: int) -> sparse.csr_array:
    columns = np.array(part.variables, dtype=np.int64) - 1
    values = np.array(part.coefficients, dtype=np.float64)
    return sparse.csr_array((values, (np.zeros(len(columns), dtype=np.int64), columns)), shape=(1, width))


def _widened(program: Program, most: Sequence[float]) -> Program:
    """Return a program with further integer columns, from 0 up to the given bounds."""
    n = len(most)
    rows = sparse.csr_array(sparse.hstack([program.rows, sparse.csr_array((program.n_rows, n))]))
    return dataclasses.replace(
        program,
        rows=rows,
        column_lower=np.concatenate([program.column_lower, np.zeros(n)]),
        column_upper=np.concatenate([program.column_upper, most]),
        integer=np.concatenate([program.integer, np.ones(n, dtype=bool)]),
        objectives=(),
    )
