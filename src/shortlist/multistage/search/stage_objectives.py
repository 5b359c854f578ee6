"""Measures of a stage assignment, in whole numbers, and the objectives computed from them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._bits import pack
from shortlist._words import all_of, any_of, did_you_mean
from shortlist.arrays import Mask, Values, products_in_order
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.exact import LARGEST_INTEGER, as_fraction, as_integers
from shortlist.multistage.problem.costs import CostAttribute, FeatureCosts
from shortlist.multistage.problem.error_prices import ErrorPrices
from shortlist.multistage.problem.stages import acquired, check_max_stages, stage_counts
from shortlist.multistage.search._evaluation import (
    CONCLUSIVE,
    COST,
    CREDIT,
    ERRORS,
    EVALUATION,
    FALSE_POSITIVES,
    N_MEASURES,
    PATH,
    STAGES,
    WORST,
    StageScoring,
    Taken,
    measure,
    nondominated_rows,
)
from shortlist.multistage.search.replayed import ERROR_APART, errors_apart
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits
from shortlist.pickles import saved_from
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof


class StageObjective(NamedTuple):
    """Definition of an objective, an entry of :data:`OBJECTIVES`.

    The objective's measure is computed in :func:`shortlist.multistage.search._evaluation.add_stage`.
    """

    column: int
    """Column of the measures that the objective is computed from."""
    sense: Sense
    scale: Callable[["StageProblem"], int | None]
    """Number of units of the measure in one of the user's units; None: the ratio of credit to conclusive
    rows.
    """
    most: Callable[["StageProblem"], float] | None = None
    """Largest possible value in the user's units; None for shares, which end at 1."""
    least: Callable[["StageProblem"], float] | None = None
    """Least possible value in the user's units; None: 0."""


def _n_rows(problem: "StageProblem") -> int:
    return problem.n_rows


def _all_features(problem: "StageProblem") -> float:
    return problem.costs.total / problem.costs.scale


def _cheapest_feature(problem: "StageProblem") -> float:
    """Return the least price that every row pays, in the user's money: that of the cheapest feature.

    The first stage buys at least one feature.
    """
    return int(problem.costs.price(np.eye(problem.n_features, dtype=bool)).min()) / problem.costs.scale


ERROR_COST = "error_cost"
OF_PATHS = "max "
"""Prefix of the names of objectives about a row that goes through all stages; such a value bounds every row.
"""

OBJECTIVES = {
    "coverage": StageObjective(CONCLUSIVE, Sense.MAX, _n_rows),
    "conclusive_accuracy": StageObjective(CREDIT, Sense.MAX, lambda _: None),
    "acquisition_cost": StageObjective(
        COST, Sense.MIN, lambda problem: problem.n_rows * problem.costs.scale, _all_features,
        _cheapest_feature
    ),
    "false_positive_rate": StageObjective(
        FALSE_POSITIVES, Sense.MIN, lambda problem: max(1, int((problem.labels != problem.positive).sum()))
    ),
    "stages": StageObjective(STAGES, Sense.MIN, lambda _: 1, lambda problem: problem.max_stages, lambda _: 1),
    "worst_case_cost": StageObjective(
        WORST, Sense.MIN, lambda problem: problem.costs.scale, _all_features, _cheapest_feature
    ),
    "evaluation_cost": StageObjective(
        EVALUATION, Sense.MIN, lambda problem: problem.n_rows * problem.call_scale,
        lambda problem: problem.max_stages * problem.most_call_price / problem.call_scale,
    ),
    f"{OF_PATHS}acquisition_cost": StageObjective(
        PATH, Sense.MIN, lambda problem: problem.costs.scale, _all_features, _cheapest_feature
    ),
    ERROR_COST: StageObjective(
        ERRORS, Sense.MIN, lambda problem: problem.n_rows * (problem.errors.scale if problem.errors else 1),
        lambda problem: float(problem.errors.table.max()) if problem.errors else 0.0,
    ),
}  # fmt: skip
"""Objectives by name. The first three, the default, are g1, g2 and g3* of the paper (Eqs. 3 to 5).

``false_positive_rate`` is the share of rows called positive among the validation rows outside the positive
class; rejected rows are in the denominator. ``stages`` is the number of stages, including stages that no
validation row reaches. ``worst_case_cost`` is the price of the dearest validation row, which a new row may
exceed. ``evaluation_cost`` is the price per row of calls of the stages' classifiers; an ensemble counts all
its members. ``error_cost`` is the cost per row of errors, and of rows left to a person, where errors have
costs. Attributes of the prices may be objectives too: the mean amount per row. In each stage that a row goes
through, it takes the largest number among the new items. With the prefix ``max `` an attribute, or
``acquisition_cost``, is the amount of a row that goes through all stages; no row exceeds this amount.
"""
DEFAULT_OBJECTIVES = ("coverage", "conclusive_accuracy", "acquisition_cost")
PRICED_OBJECTIVES = (ERROR_COST, "acquisition_cost")
"""Default objectives where errors have costs."""
OF_ANSWERED = ("coverage", "conclusive_accuracy", "false_positive_rate")
"""Objectives about confident answers; with costs of errors the last stage also answers rows without
confidence.
"""


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class StageProblem:
    """Problem of stage assignments: features, decision bits, prices, and objectives.

    Build it with :func:`~shortlist.multistage.search.stage_objectives.stage_problem`.
    """

    decisions: DecisionBits
    """Decision bits per feature subset: masks of the validation rows with a confident answer, and with a
    confident and right answer.
    """
    costs: FeatureCosts
    """Prices of the features."""
    max_stages: int
    """Largest number of stages, k."""
    names: tuple[str, ...]
    """Names of the objectives: keys of :data:`OBJECTIVES`, attributes of the prices, or a name with the
    prefix ``max ``.
    """
    unit: int
    """Credit of a right answer."""
    penalties: NDArray[np.int64]
    """Credit lost by a wrong answer about a row of each class, at most `unit`, ``(n_classes,)``."""
    positive: int
    """Index of the positive class, for false positives."""
    member_prices: NDArray[np.int64]
    """Price of a call of a classifier, in units of 1 / `call_scale`, ``(n_prices,)``. An ensemble with prices
    has one entry for each member.
    """
    call_price_per_feature: int
    """Further price of a call for each feature that the classifier reads, in units of 1 / `call_scale`."""
    call_scale: int
    """Number of units of the call prices in one unit of the user's money."""
    removal: bool
    """Whether features may be left out of every stage."""
    errors: ErrorPrices | None = None
    """Costs of errors; None: errors are only counted."""
    counted: Mask | None = None
    """Mask of the validation rows that count, ``(n_validation_rows,)``; None: all."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class index of each validation row that counts."""
        labels = self.decisions.subclassifiers.rows.validation_labels
        return labels if self.counted is None else labels[self.counted]

    @property
    def n_rows(self) -> int:
        """Number of validation rows that count, the paper's N."""
        return len(self.labels)

    def counting(self, rows: NDArray[np.intp]) -> "StageProblem":
        """Return the problem on some of the validation rows, with the same decision bits; nothing is fitted.

        `rows`: indices of the validation rows that count.
        """
        counted = np.zeros(len(self.decisions.subclassifiers.rows.validation_labels), dtype=bool)
        counted[rows] = True
        return replace(self, counted=counted)

    @property
    def n_features(self) -> int:
        """Number of features, the paper's n."""
        return len(self.costs.names)

    @property
    def everyone(self) -> NDArray[np.uint64]:
        """Bit mask of the validation rows that count."""
        n = len(self.decisions.subclassifiers.rows.validation_labels)
        return self._bits(np.ones(n, dtype=bool) if self.counted is None else self.counted)

    @property
    def attributes(self) -> tuple[CostAttribute, ...]:
        """Attributes of the prices that are objectives.

        The attributes that are means over rows come first, then the attributes of a row that goes through all
        stages.
        """
        means = [one for one in self.costs.attributes if one.name in self.names]
        paths = [one for one in self.costs.attributes if f"{OF_PATHS}{one.name}" in self.names]
        return (*means, *paths)

    @property
    def of_paths(self) -> Mask:
        """Mask of the attributes that count once, for a row that goes through all stages."""
        n_means = sum(one.name in self.names for one in self.costs.attributes)
        return np.arange(len(self.attributes)) >= n_means

    @property
    def n_measures(self) -> int:
        """Number of measures."""
        return N_MEASURES + len(self.attributes)

    @property
    def table(self) -> dict[str, StageObjective]:
        """Possible objectives by name: :data:`OBJECTIVES`, and the attributes of the prices."""
        return OBJECTIVES | {
            f"{OF_PATHS}{one.name}" if of_path else one.name: StageObjective(
                N_MEASURES + place,
                Sense.MIN,
                partial(_scale_of, one) if of_path else partial(_units_taken, one),
                partial(_most_taken, one),
                partial(_least_taken, one),
            )
            for place, (one, of_path) in enumerate(zip(self.attributes, self.of_paths.tolist(), strict=True))
        }

    @property
    def places(self) -> dict[str, int]:
        """Column of the measures from which each objective is computed, by name."""
        return {name: one.column for name, one in self.table.items()}

    @property
    def scoring(self) -> StageScoring:
        """Values of right and wrong decisions on the validation rows, for kernels."""
        rows = self.decisions.subclassifiers.rows
        labels = rows.validation_labels
        classes = np.stack([self._bits(labels == label) for label in range(rows.n_classes)])
        negatives, priced = self._bits(labels != self.positive), self.errors
        losses = np.array(() if priced is None else priced.losses, dtype=np.int64)
        unanswered = 0 if priced is None else priced.unanswered
        return StageScoring(classes, self.penalties, self.unit, negatives, losses, unanswered)

    def _bits(self, flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
        return pack(flags, self.decisions.subclassifiers.rows.n_words)

    def measures(self, assignments: NDArray[np.int8]) -> NDArray[np.int64]:
        """Measure assignments without gaps, ``(n_assignments, n_features)``.

        `measures`, which it returns, ``(n_assignments, n_measures)``: exact whole numbers. The columns are
        listed in :mod:`shortlist.multistage.search._evaluation`; the amount of each attribute follows.
        """
        counts = stage_counts(assignments)
        k = int(counts.max(initial=1))
        masks = acquired(assignments, k)
        present = np.arange(k) < counts[:, None]
        slots = np.full(present.shape, -1, dtype=np.int64)
        slots[present] = self.decisions.slots(masks[present])
        calls = np.zeros(present.shape, dtype=np.int64)
        calls[present] = self.call_prices(masks[present], slots[present])
        taken = Taken(self.costs.taken(masks, self.attributes), self.of_paths)
        result = np.empty((len(assignments), self.n_measures), dtype=np.int64)
        measure(
            slots, self.costs.price(masks), calls, taken, self.decisions.bits, self.everyone, self.scoring,
            result,
        )  # fmt: skip
        return result

    def call_prices(self, sets: Mask, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the price for a row of a call of the classifier of each feature set, ``(n_sets,)``.

        An ensemble of Shortlist calls each member once, and each member reads all features of the set. The
        members are known after the ensemble is fitted. `slots`: slot of each set.
        """
        asked = self.decisions.subclassifiers.asked(slots)
        read = asked.sum(axis=1) * sets.sum(axis=1)
        return np.asarray(asked @ self.member_prices + self.call_price_per_feature * read)

    @property
    def most_call_price(self) -> int:
        """Return the largest price of any call for a row."""
        most = self.decisions.subclassifiers.most_asked
        dearest = np.sort(self.member_prices)[::-1][:most]
        members = sum(dearest.tolist()) if len(self.member_prices) > 1 else most * int(dearest[0])
        return members + most * self.call_price_per_feature * self.n_features

    def fitted(self, assignments: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the assignments whose classifiers are all fitted already."""
        return np.array([row for row in assignments if self._is_fitted(row)], dtype=np.int8).reshape(
            -1, self.n_features
        )

    def _is_fitted(self, assignment: NDArray[np.int8]) -> bool:
        try:
            self.measures(assignment[None, :])
        except FitsStoppedError:
            return False
        return True

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """Objectives as a front shows them."""
        table = self.table
        return tuple(Objective(name, table[name].sense, table[name].scale(self)) for name in self.names)

    def values(self, measures: NDArray[np.int64]) -> Values:
        """Return objective values in the user's signs and units, ``(n_assignments, n_objectives)``.

        Conclusive accuracy (Eq. 4) is 0 where nothing is conclusive.
        """
        columns, places = [], self.places
        for objective in self.objectives:
            whole = measures[:, places[objective.name]]
            if objective.scale is None:
                columns.append(whole / (self.unit * np.maximum(1, measures[:, CONCLUSIVE])))
            else:
                columns.append(whole / objective.scale)
        return np.column_stack(columns)

    def comparable(
        self, measures: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers that decide dominance.

        The result has three parts: whole numbers to minimise, ``(n_assignments, n)``, the credit, and the
        conclusive rows. Credit over conclusive rows is the ratio of Eq. 4.
        """
        table = self.table
        plain = [table[name] for name in self.names if name != "conclusive_accuracy"]
        points = measures[:, [one.column for one in plain]]
        points = points * np.array([-1 if one.sense is Sense.MAX else 1 for one in plain], dtype=np.int64)
        if "conclusive_accuracy" in self.names:
            return np.ascontiguousarray(points), *self._ratio(measures)
        none = np.zeros(len(measures), dtype=np.int64)
        return np.ascontiguousarray(points), none, none

    def vectors(self, measures: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return whole numbers that are equal exactly where objective vectors are equal.

        The ratio of Eq. 4 is in lowest terms.
        """
        points, credits_, conclusive = self.comparable(measures)
        divisor = np.maximum(1, np.gcd(credits_, conclusive))
        lowest = np.where(credits_ == 0, 0, conclusive // divisor)
        return np.column_stack([points, credits_ // divisor, lowest])

    def best(self, measures: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ascending indices of the non-dominated assignments.

        Of assignments with equal objective vectors the first is returned.
        """
        _, first = np.unique(self.vectors(measures), axis=0, return_index=True)
        first.sort()
        return np.asarray(first[nondominated_rows(*self.comparable(measures[first]))])

    @staticmethod
    def _ratio(measures: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.ascontiguousarray(measures[:, CREDIT]), np.ascontiguousarray(measures[:, CONCLUSIVE])

    def merits(self, measures: NDArray[np.int64]) -> Values:
        """Return the :func:`merits` of measured assignments."""
        return merits(self.names, self.values(measures))

    def front(
        self, assignments: NDArray[np.int8], measures: NDArray[np.int64], proof: Proof, **facts: Any
    ) -> Front:
        """Return a front of mutually non-dominated assignments.

        Where errors have costs, the front's extras hold a standard error for each point: that of the
        difference between its cost of errors and the least cost.
        """
        if self.errors is not None and ERROR_COST in self.names and len(assignments):
            apart = errors_apart(self, assignments, measures[:, ERRORS])
            facts["extras"] = {**facts.get("extras", {}), ERROR_APART: apart}
        return Front.from_values(
            self.objectives, self.values(measures), assignments, self.costs.names, proof, **facts
        )


def check_objectives(names: Sequence[str], attributes: Sequence[str] = ()) -> None:
    """Raise BadInputError unless the names are different objectives or attributes, at least one.

    The error gives the name.
    """
    known = [*(name for name in OBJECTIVES if not name.startswith(OF_PATHS)), *attributes]
    of_paths = [f"{OF_PATHS}{one}" for one in ("acquisition_cost", *attributes)]
    if not names:
        raise BadInputError("objectives", f"must name at least one, {any_of(known)}", "none")
    for place, name in enumerate(names):
        if name not in known and name not in of_paths:
            raise BadInputError(
                "objectives", f"must be names out of {all_of(known)}", repr(name), did_you_mean(name, known)
            )
        if name in names[:place]:
            raise BadInputError("objectives", "must differ", f"{name!r} twice", "Leave one out.")


def merits(names: Sequence[str], values: Values) -> Values:
    """Return each objective as a number in [0, 1] to maximise, relative to the points given.

    A cost, or a number of stages, becomes inverse: the least value of the given points divided by the point's
    own value (Eq. 5). With a least value of 0, which free features can give, every other point would have
    inverse cost 0. Then the number is the share of the dearest point's cost that a point saves. A rate r to
    avoid becomes 1 - r.

    `names`: names in :data:`OBJECTIVES`, or attributes, which are costs. `values`, ``(n_points,
    n_objectives)``: in the user's signs and units.
    """
    columns = []
    for name, value in zip(names, values.T, strict=True):
        known = OBJECTIVES.get(name)
        if known is not None and known.most is None:
            columns.append(value if known.sense is Sense.MAX else 1.0 - value)
        else:
            least, most = value.min(initial=math.inf), value.max(initial=0.0)
            if least > 0 or most == 0:
                columns.append(np.where(value == least, 1.0, least / np.where(value == 0, 1.0, value)))
            else:
                columns.append(1.0 - value / most)
    return np.column_stack(columns)


def fixed_merits(problem: StageProblem, measures: NDArray[np.int64]) -> Values:
    """Return each objective as a number in [0, 1] to maximise, independent of the other assignments.

    Coverage and accuracy stay as they are, a rate r becomes 1 - r, and a cost c becomes 1 - c / (largest
    possible cost). For the default objectives the sum over a row is the paper's sum.
    """
    columns, table = [], problem.table
    for name, value in zip(problem.names, problem.values(measures).T, strict=True):
        one = table[name]
        most = 1.0 if one.most is None else one.most(problem) or 1.0
        columns.append(value if one.sense is Sense.MAX else 1.0 - value / most)
    return np.column_stack(columns)


def worths(problem: StageProblem, measures: NDArray[np.int64], weights: Values) -> Values:
    """Return the weighted sum of each assignment's :func:`fixed_merits`, ``(n_assignments,)``."""
    return products_in_order(fixed_merits(problem, measures), weights)


def _units_taken(attribute: CostAttribute, problem: StageProblem) -> int:
    return problem.n_rows * attribute.scale


def _scale_of(attribute: CostAttribute, _: StageProblem) -> int:
    return attribute.scale


def _most_taken(attribute: CostAttribute, problem: StageProblem) -> float:
    """Return the largest possible amount of an attribute in any stage assignment, in the user's units."""
    return int(np.sort(attribute.values)[::-1][: problem.max_stages].sum()) / attribute.scale


def _least_taken(attribute: CostAttribute, problem: StageProblem) -> float:
    """Return the least amount of an attribute for any row, in the user's units.

    The least amount is above 0 only if every feature has an amount above 0, as the first stage buys at least
    one feature.
    """
    alone = np.eye(problem.n_features, dtype=bool)[:, None]
    return int(problem.costs.taken(alone, [attribute]).min()) / attribute.scale


def stage_problem(
    decisions: DecisionBits,
    costs: FeatureCosts,
    *,
    max_stages: int,
    objectives: Sequence[str] = DEFAULT_OBJECTIVES,
    penalties: Mapping[int, float] | None = None,
    positive: int = 1,
    call_cost: float = 1.0,
    call_cost_per_feature: float = 0.0,
    removal: bool = False,
) -> StageProblem:
    """Return the problem of Eq. 6 of :cite:t:`Hamilton2022`.

    Raises BadInputError if a parameter is out of its range or a name is unknown.

    `max_stages`: k, at most the number of features. `objectives`: names in :data:`OBJECTIVES`, or attributes
    of `costs`. `penalties`: credit in g2 that a wrong answer about a row of a class loses, by class index
    (Sec. 2.2.2); by default 1 as in the paper's g2. With two classes these are the penalties of false
    negatives and of false positives. `positive`: index of the class of false positives. `call_cost`,
    `call_cost_per_feature`: price of a call of a classifier, and its further price per feature that it reads,
    for the objective ``evaluation_cost``. Without that objective both prices have no effect, but must be
    numbers. In an ensemble of Shortlist every member is called, and its ``member_costs`` replace `call_cost`;
    an ExactPruner takes ``member_costs`` only together with ``max_cost``. `removal`: whether features may be
    left out of every stage (Sec. 5.1).
    """
    rows = decisions.subclassifiers.rows
    k = check_max_stages(max_stages, len(costs.names))
    names = tuple(objectives)
    attributes = [one.name for one in costs.attributes]
    check_objectives(names, attributes)
    like_objectives = [name for name in attributes if name in OBJECTIVES]
    if like_objectives:
        raise BadInputError(
            f"an attribute of the prices must not be called like an objective, got {like_objectives[0]!r}. "
            "Rename it."
        )
    if "false_positive_rate" in names and rows.n_classes != 2:
        raise BadInputError(
            f"false_positive_rate needs two classes, got {rows.n_classes}. Leave it out or join classes."
        )
    losses, unit = as_integers(
        [_part("penalties", (penalties or {}).get(label, 1.0), 1.0) for label in range(rows.n_classes)]
    )
    own = decisions.subclassifiers.member_costs
    priced = [("call_cost", call_cost)] if own is None else [("member_costs", cost) for cost in own]
    priced.append(("call_cost_per_feature", call_cost_per_feature))
    _part("call_cost", call_cost, math.inf)
    calls, call_scale = as_integers([_part(argument, value, math.inf) for argument, value in priced])
    if "evaluation_cost" not in names:  # the cost of calls is no objective, so that its digits do not matter
        calls, call_scale = [0] * len(calls), 1
    dearest, (argument, value) = max(zip(calls, priced, strict=True), key=lambda one: one[0])
    unexact = (
        f"{argument} must have fewer digits to stay exact, got {value}. Round it, or choose a larger unit."
    )
    if dearest >= LARGEST_INTEGER:
        raise BadInputError(unexact)
    if unit * len(rows.validation_labels) >= 2**31:
        raise BadInputError("`penalties` must have fewer digits to stay exact. Round them.")
    problem = StageProblem(
        decisions=decisions,
        costs=costs,
        max_stages=k,
        names=names,
        unit=unit,
        penalties=np.array(losses, dtype=np.int64),
        positive=positive,
        member_prices=np.array(calls[:-1], dtype=np.int64),
        call_price_per_feature=calls[-1],
        call_scale=call_scale,
        removal=removal,
    )
    if problem.most_call_price * k * problem.n_rows >= LARGEST_INTEGER:
        raise BadInputError(unexact)
    return problem


def with_errors(problem: StageProblem, errors: ErrorPrices | None) -> StageProblem:
    """Return the problem with costs of errors, if given.

    Raises BadInputError for objectives that cannot be used with costs of errors. `errors`: given only if the
    decisions of the problem have a rule of the last stage.
    """
    if errors is None:
        if ERROR_COST in problem.names:
            raise BadInputError(
                "objectives", "must be others than error_cost", "no costs of errors", "Pass `error_costs`."
            )
        return problem
    unused = [name for name in problem.names if name in OF_ANSWERED]
    if unused:
        what = "must be error_cost in place of shares of answers where errors have costs"
        raise BadInputError("objectives", what, repr(unused[0]))
    return replace(problem, errors=errors)


def _part(argument: str, value: Any, most: float) -> Fraction:
    """Return a number from 0 to `most` as an exact fraction of at most six digits."""
    exact = as_fraction(value)
    if exact is None or not 0 <= exact <= most:
        upper = "" if math.isinf(most) else f" and at most {most:g}"
        raise BadInputError(argument, f"must be at least 0{upper}", repr(value))
    return exact.limit_denominator(10**6)


@dataclass(frozen=True, eq=False)
class StageResult:
    """Non-dominated stage assignments that a search found, in the order of the front's points."""

    problem: StageProblem = field(repr=False)
    assignments: NDArray[np.int8]
    """Stage assignments, ``(n_points, n_features)``; no assignment dominates another assignment."""
    measures: NDArray[np.int64]
    """Measures of the assignments, ``(n_points, n_measures)``."""
    method: str
    """``"enumerate"``, ``"windows"`` or ``"emsco"``."""
    proof: Proof
    """Proof of the front."""
    seconds: float
    """Wall-clock time in seconds; for an enumeration, the time without fits."""
    facts: Mapping[str, Any]
    """Facts of the method, such as ``n_tied``, ``n_windows`` or ``n_generations``; a front has the facts in
    its ``extras``.
    """

    @property
    def n_tied(self) -> NDArray[np.int64]:
        """Number of assignments with each point's objectives, counted by an enumeration, ``(n_points,)``."""
        return np.array(self.facts["n_tied"], dtype=np.int64)

    @property
    def n_looked(self) -> int:
        """Number of chains that an enumeration visited; bounds account for all other chains."""
        return int(self.facts["n_looked"])

    def front(self) -> Front:
        """Return the result as a front."""
        return self.problem.front(
            self.assignments, self.measures, self.proof, method=self.method, seconds=self.seconds,
            extras=dict(self.facts),
        )  # fmt: skip
