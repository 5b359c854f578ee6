"""Measurement of rules on rows that were not used to choose them: shares, intervals, differences, advice."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays import Floats, Labels, Mask
from shortlist.ensembles.goals.diversity import (
    CREDIT_UNITS,
    MEASURES,
    PFC,
    Setting,
    diversity_limits,
    failure_credit,
    pair_credit,
    pairwise_failure_crediting,
)
from shortlist.ensembles.goals.weights import WEIGHTED
from shortlist.ensembles.votes.hard_votes import Confusion, Votes
from shortlist.exact import seen
from shortlist.results.class_shares import (
    ClassShare,
    class_shares,
    cost_of_errors,
    shown_positive,
    whole_rows,
)
from shortlist.results.intervals import (
    MARGIN,
    Difference,
    Interval,
    difference_of,
    mean_share_interval,
    variance_of_fits,
    widened,
    wilson_interval,
)
from shortlist.results.measured_again import ACCURACY, Figure
from shortlist.results.measured_again import ERROR_COST as COST_OF_ROW
from shortlist.results.verdicts import RuleVerdict, Word, decide, other_cost, sentence, verdict_facts
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
    """Return the cost and the diversity of a selection beside their limits, as a dict for JSON.

    `right`: mask of the right answers of the pool, ``(n_rows, n_classifiers)``. `selection`: mask of the
    members, ``(n_classifiers,)``; `names`: names of the classifiers. `costs`: cost of each classifier,
    ``(n_classifiers,)``. `diversity`: limits as in
    :func:`shortlist.ensembles.goals.diversity.diversity_limits`. Pairwise failure credit (PFC) is always
    returned, and also the measure of the limits if it is another measure.

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
"""Function from rows to the index of the class that a rule gives each row; :data:`NO_CLASS` for no answer."""

NO_ANSWER = "no answer"
"""Heading of the rows without an answer."""

NO_CLASS = -1
"""Index that stands for the class of a row without an answer."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Decisions of a rule on the test rows."""

    decisions: NDArray[np.int64]
    """Number of decisions by true class and decided class, ``(n_classes, n_classes + 1)``; the last column
    counts rows without an answer. A row counts once for each measurement.
    """
    classes: Labels
    """The classes, sorted, ``(n_classes,)``."""
    positive: int
    """Index of the positive class; used only with two classes."""
    size: int
    """Number of members."""
    ms_per_1000_rows: float
    """Wall-clock time of 1,000 answers, in ms."""
    right: Mask
    """Mask of the right answers, so that rules can be compared row by row, ``(times * n_rows,)``."""
    price: float | None = None
    """Price of asking all members about a row; None without prices."""
    times: int = 1
    """Number of measurements of each row; with repeated choice there is one for every partition."""
    parts: NDArray[np.int8] | None = None
    """Part of each measurement, ``(times * n_rows,)``, -1 for no part; None unless the rule was fitted again
    for every part.
    """
    costs: Floats | None = None
    """Cost of each answer by true class, ``(n_classes + 1, n_classes)``, the last row for no answer; None:
    errors are counted.
    """

    @property
    def n_rows(self) -> int:
        """Number of different rows that were measured."""
        return len(self.right) // self.times

    @property
    def accuracy(self) -> float:
        """Share of right answers, from 0 to 1."""
        return float(np.trace(self.decisions) / self.decisions.sum())

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's interval of the accuracy, at 95 %, widened for differences between repeated fits."""
        right, n_rows = int(np.trace(self.decisions)), int(self.decisions.sum())
        interval = wilson_interval(right / self.times, n_rows / self.times)
        if self.parts is None:
            return interval
        of_fits = variance_of_fits(self.right.astype(np.float64), self.parts, self.times)
        return widened(self.accuracy, interval, of_fits, (0.0, 1.0))

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the classes of the share of their rows with a right answer, from 0 to 1."""
        rows = self.decisions.sum(axis=1)
        return float(np.mean(np.diag(self.decisions)[rows > 0] / rows[rows > 0]))

    @property
    def balanced_accuracy_interval(self) -> Interval:
        """Interval of the balanced accuracy, at 95 %; see :func:`mean_share_interval`."""
        rows = self.decisions.sum(axis=1)
        there = rows > 0
        right, n_rows = np.diag(self.decisions)[there], rows[there]
        return mean_share_interval((right / self.times).tolist(), (n_rows / self.times).tolist())

    @property
    def confusions(self) -> NDArray[np.int64]:
        """Number of rows by true class and decided class, ``(n_classes, n_classes + 1)``.

        The numbers are means over the partitions.

        The last column counts rows without an answer.
        """
        return whole_rows(self.decisions / self.times)

    @property
    def unanswered(self) -> int:
        """Number of rows without an answer, as a mean over the partitions."""
        return int(self.confusions[:, -1].sum())

    @property
    def confusion(self) -> Confusion | None:
        """Numbers of the four kinds of decision, of answered rows; None with more than two classes."""
        if len(self.classes) > 2:
            return None
        one, other = self.positive, 1 - self.positive
        cases = ((one, one), (one, other), (other, other), (other, one))
        whole = self.confusions
        return Confusion(*(int(whole[case]) for case in cases))

    @property
    def shares(self) -> list[ClassShare]:
        """Shares of the rows of each class with a right, a wrong and no answer, with intervals."""
        return class_shares((self.decisions / self.times).tolist(), self.classes.tolist())

    def shown_class(self, named: Any = None) -> str | None:
        """Return the class whose recall is shown with two classes: `named`, else the rarer class.

        None with more than two classes, or without a name if the classes have equal sizes.
        """
        place = None if named is None else self.classes.tolist().index(named)
        shown = shown_positive(self.decisions.tolist(), place)
        return None if shown is None else str(self.classes[shown])

    @property
    def error_cost(self) -> tuple[float, float, float] | None:
        """Mean cost of errors per row with its interval at 95 %; None where errors are only counted."""
        return (
            None if self.costs is None else cost_of_errors((self.decisions / self.times).tolist(), self.costs)
        )

    @property
    def only_answer(self) -> str | None:
        """Class that the rule gives every row; None if the rule gives several classes."""
        return only_answer(np.flatnonzero(self.decisions[:, :-1].sum(axis=0)), self.classes)

    def against(self, other: "Measured") -> Difference:
        """Return the difference between this rule and another one on the same rows."""
        return difference_of(self.right, other.right, times=self.times, parts=self.parts)

    def as_dict(self) -> dict[str, Any]:
        """Return the metrics as a dict for JSON.

        With more than two classes the dict also has the number of decisions by true and decided class.
        """
        counts = self.confusion
        names = [str(label) for label in self.classes]
        left = self.unanswered
        by_case: dict[str, Any] = {
            name: dict(zip([*names, NO_ANSWER][: len(names) + bool(left)], row, strict=False))
            for name, row in zip(names, self.confusions.tolist(), strict=True)
        }
        if counts is not None:
            by_case = {
                "true_positive": counts.true_positive,
                "false_negative": counts.false_negative,
                "true_negative": counts.true_negative,
                "false_positive": counts.false_positive,
            } | ({"unanswered": left} if left else {})
        return {
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            "balanced_accuracy": self.balanced_accuracy,
            "balanced_accuracy_interval": list(self.balanced_accuracy_interval),
            "confusion": by_case,
            "by_class": [one.as_dict() for one in self.shares],
            "size": self.size,
            "ms_per_1000_predictions": self.ms_per_1000_rows,
            "price": self.price,
        } | (
            {}
            if (cost := self.error_cost) is None
            else {"error_cost": cost[0], "error_cost_interval": cost[1:]}
        )


def measured_facts(test: Mapping[str, Measured]) -> dict[str, Any]:
    """Return the metrics of every rule; for further rules also the difference from the first rule."""
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


ERROR_COST = "error_cost"
"""Name of the objective that compares rules by the cost of their errors."""


def with_costs(test: Mapping[str, Measured], by_class: Sequence[float] | None) -> dict[str, Measured]:
    """Return the measured rules with the costs of their errors.

    `by_class`: cost of a wrong answer about each class; None leaves the rules unchanged.
    """
    if by_class is None:
        return dict(test)
    losses = np.array(by_class, dtype=np.float64)
    costs = np.vstack([(1 - np.eye(len(losses))) * losses, losses[None, :]])
    return {name: replace(one, costs=costs) for name, one in test.items()}


def reported_figures(measured: Measured) -> dict[str, Figure]:
    """Return the figures of a rule by name, as a model file stores them.

    Later measurements on new rows are stored in the same form.
    """
    cost = {} if measured.error_cost is None else {COST_OF_ROW: measured.error_cost}
    recalls = {f"recall of {one.label}": one.right for one in measured.shares}
    return {ACCURACY: (measured.accuracy, *measured.accuracy_interval)} | cost | recalls


def only_answer(decided: NDArray[Any], classes: Labels) -> str | None:
    """Return the class decided for all answered rows, as text; None for several classes or no rows.

    >>> healthy = only_answer(np.array([1, 1, NO_CLASS]), np.array(["ill", "well"]))
    >>> healthy, only_answer(np.array([1, 0]), np.array([0, 1]))
    ('well', None)
    """
    chosen = np.unique(decided[decided != NO_CLASS])
    return str(classes[chosen[0]]) if len(chosen) == 1 else None


ENOUGH_S = 1.0
"""Seconds of answering after which the time is measured no further."""


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
    """Return the decisions of a rule on test rows, and its time; a row without an answer counts as wrong."""
    start = seconds_now()
    decided = np.asarray(ask(X), dtype=np.int64)
    once = (seconds_now() - start) / len(y)
    ms = time_of_answers(ask, X, once_s=once, cancellation=cancellation)
    return measured_of(
        decided, np.searchsorted(classes, y), size=size, classes=classes, positive=positive, ms=ms
    )


def measured_of(
    decided: NDArray[np.int64],
    truth: NDArray[np.integer],
    *,
    size: int,
    classes: Labels,
    positive: int,
    ms: float,
    price: float | None = None,
    times: int = 1,
    parts: NDArray[np.int8] | None = None,
) -> Measured:
    """Return the figures of given decisions; a row without an answer counts as wrong.

    `decided`, `truth`, ``(times * n_rows,)``: indices of decided and true classes; :data:`NO_CLASS` for a row
    without an answer. `ms`: wall-clock time of 1,000 answers, in ms. `parts`: as in :class:`Measured`.
    """
    decisions = np.zeros((len(classes), len(classes) + 1), dtype=np.int64)
    np.add.at(decisions, (truth, np.where(decided == NO_CLASS, len(classes), decided)), 1)
    return Measured(decisions, classes, positive, size, ms, truth == decided, price, times, parts)


def time_of_answers(
    ask: Ask, X: Any, *, once_s: float | None = None, cancellation: Cancellation | None = None
) -> float:
    """Return the wall-clock time of 1,000 answers in ms, measured three times or for a second.

    `once_s`: known seconds per row; they are used if the work was cancelled before a measurement.
    """
    if cancellation is not None and cancellation.cancelled and once_s is not None:
        return once_s * 1e6
    many = take_rows(X, np.arange(1000) % len(X))
    times: list[float] = []
    while len(times) < 3 and sum(times) * len(many) < ENOUGH_S:
        start = seconds_now()
        ask(many)
        times.append((seconds_now() - start) / len(many))
        if cancellation is not None and cancellation.cancelled:
            break
    return statistics.median(times) * 1e6


@dataclass(frozen=True)
class Advice:
    """Recommendation of a rule by its measured rows, with the certainty of the recommendation.

    `take`: name of the recommended rule. `verdict`, `difference`: comparison of the first rule with the best
    single one, in the `objective`. `sentence`: recommendation with its reason. `names`: names of the rules
    for sentences.
    """

    take: str
    verdict: RuleVerdict
    difference: Difference
    objective: str
    sentence: str
    names: Mapping[str, str]

    @property
    def is_alone(self) -> bool:
        """Whether the first rule and the best single classifier are the same."""
        return self.names[next(iter(self.names))] == self.names["best_single"] or (
            self.verdict.word is Word.ALONE
        )

    def compared(self) -> str:
        """Return a sentence on the first rule minus the best single classifier, with the rows still needed.

        The sentence has the interval of the difference. Empty if the first rule is the best single
        classifier.
        """
        if self.is_alone:
            return ""
        first = next(iter(self.names))
        told = f"{_capital(self.names[first])} minus {self.names['best_single']}: {self.told()}."
        if self.verdict.word is Word.UNDECIDED and self.difference.n_more is not None:
            return f"{told} About {_rounded(self.difference.n_more)} more rows would decide, if it stays."
        return told

    def told(self) -> str:
        """Return the difference of the first rule and the best single one, with its interval, as text."""
        return difference_in_words(self.difference, self.objective)

    def as_dict(self) -> dict[str, Any]:
        """Return the advice as a dict for JSON."""
        return {
            "take": self.take,
            "sentence": self.sentence,
            "compared": self.compared(),
            "names": dict(self.names),
            **verdict_facts(self.verdict),
            "objective": self.objective,
            "difference": self.difference.gain,
            "difference_interval": list(self.difference.interval),
            "p_value": self.difference.p_value,
            "n_more_rows": self.difference.n_more,
        }


@dataclass(frozen=True, kw_only=True)
class MeasuredTable:
    """Result of a method on a table: the measured figures of its rules, and the advice."""

    n_rows: dict[str, int]
    """Number of rows by use, such as fitting or test."""
    seconds: float
    """Wall-clock time in seconds."""
    only_answer: str | None = None
    """Class that all rows used for the choice get; None if these rows get several classes."""
    test: dict[str, Measured] = field(default_factory=dict)
    """Figures by rule; empty if the work was stopped before figures were known."""
    advice: Advice | None = None
    """Advice on the rule to use, from the measured rows."""


def held_out_in_words(difference: Difference, n_rows: int) -> str:
    """Return a sentence on the least difference of accuracy that held-out rows can show.

    >>> held_out_in_words(Difference(0.01, (-0.04, 0.06), 0.7), 100)
    'The 100 held-out rows tell differences from 5 points on, of this model alone.'
    """
    low, high = difference.interval
    points = 50 * (high - low)
    return f"The {n_rows:,} held-out rows tell differences from {points:.2g} points on, of this model alone."


def difference_in_words(difference: Difference, objective: str) -> str:
    """Return a difference with its interval as text, in points of the objective.

    >>> difference_in_words(Difference(0.012, (-0.003, 0.027), 0.1), "balanced-accuracy")
    '+1.2 points of balanced accuracy (-0.3 to +2.7)'
    >>> difference_in_words(Difference(0.25, (0.125, 0.5), 0.01), "error_cost")
    '-0.25 in the cost of errors a row (-0.5 to -0.125)'
    """
    if objective == WEIGHTED:
        return difference.in_words("a row in the weights given")
    if objective == ERROR_COST:  # of which less is better
        return difference.turned().in_words("in the cost of errors a row")
    return difference.in_points(objective.replace("-", " "))


def advise(
    test: Mapping[str, Measured],
    names: Mapping[str, str],
    *,
    objective: str = "accuracy",
    worth: Floats | None = None,
    spent: float | None = None,
    most: float | None = None,
    margin: float = MARGIN,
    verb: str = "Use",
    leans: bool = False,
) -> Advice:
    """Return the advice to use the first rule, the best single classifier, or all classifiers.

    `test`: figures of each rule on the measured rows: the first rule, ``best_single``, and perhaps ``full``.
    `names`: names of the rules for sentences. `objective`, `worth`: objective and worth of right rows, as
    returned by :func:`shortlist.ensembles.goals.weights.worth_of_right`. `spent`: price of a row by the first
    rule with early exit, if known. `most`: largest sum of the members' costs. `margin`: loss up to which a
    rule counts as equally good. `leans`: whether to recommend the first rule for an undecided verdict, if
    neither members nor errors have a price.
    """
    first = next(iter(test))
    one, single = test[first], test["best_single"]
    difference = difference_of(one.right, single.right, worth, times=one.times, parts=one.parts)
    cost, price = (one.price if spent is None else spent), single.price
    priced = cost is not None and price is not None
    paid = (float(cost), float(price)) if cost is not None and price is not None else (one.size, single.size)
    if one.size == 1 and not difference.only_first and not difference.only_second:
        verdict = RuleVerdict(Word.ALONE, takes_first=True)
    elif not _keeps(single, most):
        verdict = RuleVerdict(Word.UNRIVALLED, takes_first=True)
    else:
        leans = leans and one.size > 1 and objective not in {WEIGHTED, ERROR_COST}
        verdict = decide(difference, spent=paid, priced=priced, margin=margin, leans=leans)
    take = first if verdict.takes_first else "best_single"
    shown = difference if verdict.takes_first else difference.turned()
    in_words = "a point" if margin == MARGIN else f"{margin:g}"
    in_words = f"{margin:g} a row" if objective == WEIGHTED else in_words
    in_words = f"{margin:g} in the cost of errors" if objective == ERROR_COST else in_words
    told = sentence(
        verdict, (names[first], names["best_single"]), difference_in_words(shown, objective), verb=verb,
        margin=in_words, costs=other_cost(paid, verdict, priced=priced),
    )  # fmt: skip
    if not one.size and take == first:
        told = f"{verb} {names[first]}: {names['best_single']} is not better than one answer to every row."
    if "full" in test and test["full"].size > test[take].size and _keeps(test["full"], most):
        more = difference_of(test["full"].right, test[take].right, worth, times=one.times)
        if not more.within_chance and more.interval[0] > 0:
            beside = f"{difference_in_words(more, objective)} beside {names[take]}"
            price_of_all, used = test["full"].price, paid[not verdict.takes_first]
            verdict = RuleVerdict(Word.BETTER, takes_first=True)
            cheaper = "" if price_of_all is None else other_cost((price_of_all, used), verdict, priced=priced)
            told, take = f"Better: {verb.lower()} {names['full']}, {beside}{cheaper}.", "full"
    return Advice(take, verdict, difference, objective, told, names)


def _rounded(n_rows: int) -> str:
    return f"{n_rows:,}" if n_rows < 100 else f"{round(n_rows, -len(str(n_rows)) + 2):,}"


def _keeps(rule: Measured, most: float | None) -> bool:
    return most is None or rule.price is None or rule.price <= most


def _capital(text: str) -> str:
    return f"T{text[1:]}" if text.startswith("the ") else text
