"""What rules do on rows that they were not made on: shares, intervals, differences, and which to take."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays import Floats, Labels, Mask
from shortlist.ensembles.goals.selection_limits import (
    CREDIT_UNITS,
    MEASURES,
    PFC,
    Setting,
    diversity_limits,
    failure_credit,
    pair_credit,
    pairwise_failure_crediting,
)
from shortlist.ensembles.votes.hard_votes import Confusion, Votes
from shortlist.exact import seen
from shortlist.results.intervals import (
    Difference,
    Interval,
    Kind,
    difference_of,
    mean_share_interval,
    wilson_interval,
)
from shortlist.runs import Cancellation
from shortlist.runs.budget import seconds_now
from shortlist.tables.fit_inputs import take_rows


def reached_facts(
    right: Mask,
    selection: Mask,
    names: Sequence[str],
    *,
    costs: ArrayLike | None = None,
    max_cost: float | None = None,
    diversity: Setting = "none",
) -> dict[str, Any]:
    """Return the cost and the diversity of a selection beside what was asked of them, for JSON.

    `right`: where each classifier of the pool is right, ``(n_rows, n_classifiers)``; failure credit asks for
    nothing else, whatever the classes. `selection`: the members, ``(n_classifiers,)``; `names`: of these.
    `costs`: cost of each classifier, ``(n_classifiers,)``. `diversity`: as of
    :func:`shortlist.ensembles.goals.selection_limits.diversity_limits`; pairwise failure credit (PFC) is told
    in any case, and the measure of the limits where it is another one.

    >>> right = np.array([[True, False, True], [False, True, True], [True, True, False]])
    >>> told = reached_facts(right, np.array([True, True, False]), ("a", "b"), costs=[0.1, 0.2, 5])
    >>> told["cost"]["total"], told["diversity"]["mean_pfc"]
    (0.3, 1.0)
    """
    n_rows = len(right)
    votes = Votes(right.astype(np.uint8), np.ones(n_rows, dtype=np.uint8), np.ones(n_rows, dtype=np.int64))
    limits = diversity_limits(diversity, votes)
    members = Votes(votes.votes[:, selection], votes.labels, votes.counts)
    cost = None
    if costs is not None:  # as decimals, as the limits are, so that 0.1 and 0.2 are 0.3
        cost = {"total": float(sum(map(seen, np.asarray(costs)[selection]))), "max": max_cost}
    pfc = pairwise_failure_crediting(failure_credit(members))
    if len(pfc) < 2:  # a single one has no pair
        return {"cost": cost, "diversity": None}
    told: dict[str, Any] = {
        "mean_pfc": float(pfc.mean()),
        "least_pfc": float(pfc.min()),
        "wanted_mean": None,
        "wanted_each": None,
        "pfc": dict(zip(names, pfc.tolist(), strict=True)),
    }
    if limits is None:
        return {"cost": cost, "diversity": told}
    wanted = {"wanted_mean": limits.mean / CREDIT_UNITS, "wanted_each": limits.each / CREDIT_UNITS}
    if limits.measure == PFC:
        return {"cost": cost, "diversity": told | wanted}
    measure = MEASURES[limits.measure]
    shares = pairwise_failure_crediting(pair_credit(members, limits.measure))
    each = [measure.of_credit(float(share)) for share in shares]
    told[limits.measure] = {
        "mean": float(np.mean(each)),
        **{name: measure.of_credit(limit) for name, limit in wanted.items()},
        "members": dict(zip(names, each, strict=True)),
    }
    return {"cost": cost, "diversity": told}


Ask = Callable[[Any], NDArray[Any]]
"""Gets the index of the class that a rule decides for every row, or :data:`NO_CLASS`."""

NO_CLASS = -1
"""Stands for the class of a row without an answer."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What a rule does on the test rows."""

    decisions: NDArray[np.int64]
    """Rows of each true class (first axis) by the class decided, ``(n_classes, n_classes)``."""
    classes: Labels
    """The classes, sorted, ``(n_classes,)``."""
    positive: int
    """Index of the positive class; means something with two classes only."""
    size: int
    """Number of members."""
    ms_per_1000_rows: float
    """Wall-clock time of 1,000 answers."""
    right: Mask
    """Which rows are right, so that rules can be compared row by row, ``(n_rows,)``."""
    price: float | None = None
    """What asking all members costs for a row; None where they have no prices."""

    @property
    def accuracy(self) -> float:
        """Share of the rows that are right."""
        return float(np.trace(self.decisions) / self.decisions.sum())

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's interval of the accuracy, at 95 %."""
        return wilson_interval(int(np.trace(self.decisions)), int(self.decisions.sum()))

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the classes of the share of their rows that are right."""
        rows = self.decisions.sum(axis=1)
        return float(np.mean(np.diag(self.decisions)[rows > 0] / rows[rows > 0]))

    @property
    def balanced_accuracy_interval(self) -> Interval:
        """Interval of the balanced accuracy, at 95 %; see :func:`mean_share_interval`."""
        rows = self.decisions.sum(axis=1)
        there = rows > 0
        return mean_share_interval(np.diag(self.decisions)[there].tolist(), rows[there].tolist())

    @property
    def confusion(self) -> Confusion | None:
        """The four kinds of decision; None with more than two classes."""
        if len(self.classes) > 2:
            return None
        one, other = self.positive, 1 - self.positive
        cases = ((one, one), (one, other), (other, other), (other, one))
        return Confusion(*(int(self.decisions[case]) for case in cases))

    @property
    def only_answer(self) -> str | None:
        """The class that every row is given; None where there are several."""
        return only_answer(np.flatnonzero(self.decisions.sum(axis=0)), self.classes)

    def against(self, other: "Measured") -> Difference:
        """Return how this rule and another one differ on the same rows."""
        return difference_of(self.right, other.right)

    def as_dict(self) -> dict[str, Any]:
        """Return the metrics for JSON; with more than two classes the decisions by true and decided class."""
        counts = self.confusion
        names = [str(label) for label in self.classes]
        by_case: dict[str, Any] = {
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, self.decisions.tolist(), strict=True)
        }
        if counts is not None:
            by_case = {
                "true_positive": counts.true_positive,
                "false_negative": counts.false_negative,
                "true_negative": counts.true_negative,
                "false_positive": counts.false_positive,
            }
        return {
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            "balanced_accuracy": self.balanced_accuracy,
            "balanced_accuracy_interval": list(self.balanced_accuracy_interval),
            "confusion": by_case,
            "size": self.size,
            "ms_per_1000_predictions": self.ms_per_1000_rows,
            "price": self.price,
        }


def measured_facts(test: Mapping[str, Measured]) -> dict[str, Any]:
    """Return the metrics of every rule, and how it differs from the first one on the same rows."""
    facts: dict[str, Any] = {}
    first = next(iter(test), "")
    for name, measured in test.items():
        facts[name] = measured.as_dict()
        if name != first:
            difference = test[first].against(measured)
            facts[name][f"against_{first}"] = {
                f"only_{first}_right": difference.only_first,
                f"only_{name}_right": difference.only_second,
                "p_value": difference.p_value,
                "within_chance": difference.within_chance,
            }
    return facts


def only_answer(decided: NDArray[Any], classes: Labels) -> str | None:
    """Return the one class that rows are decided for, by place, None where there are several or no rows.

    >>> healthy = only_answer(np.array([1, 1, NO_CLASS]), np.array(["ill", "well"]))
    >>> healthy, only_answer(np.array([1, 0]), np.array([0, 1]))
    ('well', None)
    """
    chosen = np.unique(decided[decided != NO_CLASS])
    return str(classes[chosen[0]]) if len(chosen) == 1 else None


ENOUGH_S = 1.0
"""Seconds of asking from which on it is timed no further."""


def measure(
    ask: Ask,
    size: int,
    X: Any,
    y: Labels,
    *,
    classes: Labels,
    positive: int,
    cancellation: Cancellation | None,
) -> Measured:
    """Count the decisions on the test rows; a row without an answer is wrong.

    Time them on at least 1,000 rows unless somebody waits for the end, three times or for a second.
    """
    start = seconds_now()
    truth = np.searchsorted(classes, y)
    decided = np.asarray(ask(X), dtype=np.int64)
    decided = np.where(decided == NO_CLASS, (truth + 1) % len(classes), decided)
    times = [(seconds_now() - start) / len(y)]
    decisions = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(decisions, (truth, decided), 1)
    if cancellation is None or not cancellation.cancelled:
        many = take_rows(X, np.arange(max(1000, len(y))) % len(y))
        times = []
        while len(times) < 3 and sum(times) * len(many) < ENOUGH_S:
            start = seconds_now()
            ask(many)
            times.append((seconds_now() - start) / len(many))
    return Measured(decisions, classes, positive, size, statistics.median(times) * 1e6, truth == decided)


TEST_SHARE = 0.10
"""Share of all rows that is held out for the test (Section 5.1 of the paper)."""


@dataclass(frozen=True)
class Advice:
    """Which rule to take by the test rows: the cheapest that no dearer one beats beyond chance.

    `take`: its name among the rules. `kind`, `difference`: of the first rule beside the best single one, in
    the `objective`. `sentence`: what to do, and why. `names`: what the rules are called.
    """

    take: str
    kind: Kind
    difference: Difference
    objective: str
    sentence: str
    names: Mapping[str, str]

    def compared(self) -> str:
        """Say the difference with its interval, and how many more rows would tell; nothing of one member."""
        if self.kind is Kind.JUDGE:
            return ""
        what = self.objective.replace("-", " ")
        told = (
            self.difference.in_points(what)
            if what != "weighted"
            else self.difference.in_words("of the objective")
        )
        first = next(iter(self.names))
        said = f"{_capital(self.names[first])} minus {self.names['best_single']}: {told}."
        low, high = self.difference.interval
        if (low > 0 or high < 0) == self.difference.within_chance:
            test = "McNemar's exact test" if self.objective == "accuracy" else "A permutation test"
            return f"{said} {test} decides, not the interval."
        if self.difference.n_more is None:
            return said
        rows = f"{round(self.difference.n_more / TEST_SHARE, -1):,.0f}"
        part = "a tenth of them for the test"
        return f"{said} About {rows} more rows, {part}, would decide, if the difference stays."

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "take": self.take,
            "sentence": self.sentence,
            "compared": self.compared(),
            "names": dict(self.names),
            "kind": self.kind.value,
            "objective": self.objective,
            "difference": self.difference.gain,
            "difference_interval": list(self.difference.interval),
            "p_value": self.difference.p_value,
            "n_more_rows": self.difference.n_more,
        }


def advise(
    test: Mapping[str, Measured],
    names: Mapping[str, str],
    *,
    objective: str = "accuracy",
    worth: Floats | None = None,
    spent: float | None = None,
    most: float | None = None,
    verb: str = "Use",
) -> Advice:
    """Return which rule to take: the first, the best single one, or all members.

    `test`: what each does on the test rows: the first rule, ``best_single``, and perhaps ``full``. `names`:
    what they are called in a sentence. `objective`, `worth`: what is compared, as
    :func:`shortlist.ensembles.goals.weights.worth_of_right` returns it. `spent`: what a row costs by the
    first rule with early exit, where that is known. `most`: what members may cost together.
    """
    first = next(iter(test))
    one, single = test[first], test["best_single"]
    told, alone = names[first], names["best_single"]
    difference = difference_of(one.right, single.right, worth)
    cost, price = (one.price if spent is None else spent), single.price
    cheaper = one.size < single.size if cost is None or price is None else cost < price
    is_same = one.size == 1 and not difference.only_first and not difference.only_second
    kind = Kind.JUDGE if is_same else difference.kind(cheaper=cheaper)
    if not _keeps(single, most):
        kind = Kind.UNRIVALLED
    is_cheaper = kind is Kind.CHEAPER and difference.gain >= 0
    take, beside = (first, told) if kind.recommended or is_cheaper else ("best_single", alone)
    sentence = {
        Kind.UNRIVALLED: f"{verb} {told}: no single one keeps the limit on cost.",
        Kind.JUDGE: f"{verb} {told}: no other member was chosen.",
        Kind.BETTER: f"{verb} {told}: it is better than {alone}, beyond chance.",
        Kind.WORSE: f"{verb} {alone}: {told} is worse, beyond chance.",
        Kind.AS_GOOD: f"{verb} {told}: it is as good as {alone} within a point, and cheaper.",
        Kind.CHEAPER: f"{verb} {alone} where accuracy counts most: {told} is cheaper, and may be worse.",
        Kind.UNDECIDED: f"{verb} {alone}: {told} is not better beyond chance.",
        Kind.NO_BETTER: f"{verb} {alone}: {told} is not better.",
    }[kind]
    if not one.size and take == first:
        sentence = f"{verb} {told}: {alone} is not better than the same answer to every row."
    elif is_cheaper:
        sentence = f"{verb} {told}: it is cheaper than {alone}, and not worse on the test rows."
    if "full" in test and test["full"].size > test[take].size and _keeps(test["full"], most):
        more = difference_of(test["full"].right, test[take].right, worth)
        if more.kind(cheaper=False) is Kind.BETTER:
            take, sentence = "full", f"{verb} {names['full']}: better than {beside}, beyond chance."
    return Advice(take, kind, difference, objective, sentence, names)


def _keeps(rule: Measured, most: float | None) -> bool:
    return most is None or rule.price is None or rule.price <= most


def _capital(text: str) -> str:
    return f"T{text[1:]}" if text.startswith("the ") else text
