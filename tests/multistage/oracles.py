"""Plain twins of the paper's definitions, on fractions and sets, one row at a time."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._bits import pack
from shortlist.multistage.problem.costs import CostAttribute, FeatureCosts
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.subclassifiers.encoding import Encoding, FeatureCode
from shortlist.multistage.subclassifiers.subclassifiers import StageRows, Subclassifiers, SubsetPlaces
from shortlist.runs import Budget


@dataclass(frozen=True)
class Facts:
    """Confident and right answers, per feature set and row, and prices of features."""

    n_features: int
    labels: tuple[int, ...]
    answers: Mapping[frozenset[int], tuple[tuple[bool, bool], ...]]  # (confident, right) per row
    prices: tuple[int, ...]
    groups: tuple[int, ...] = ()  # of each feature, -1 for none; empty where there are no groups
    first_prices: tuple[int, ...] = ()
    asked: Mapping[frozenset[int], tuple[int, ...]] = field(default_factory=dict)  # members, one where empty
    member_costs: tuple[float, ...] = ()  # of each member of the largest ensemble; empty: all cost alike
    hours: tuple[int, ...] = ()  # of each feature; empty where nobody asks
    first_hours: tuple[int, ...] = ()  # of each group

    def call(
        self, features: frozenset[int], call_cost: Fraction, call_cost_per_feature: Fraction
    ) -> Fraction:
        """Return what a call of the classifier of these features costs, member by member."""
        own = [Fraction(str(cost)) for cost in self.member_costs]
        return sum(
            (
                (own[member] if own else call_cost) + call_cost_per_feature * len(features)
                for member in self.asked.get(features, (0,))
            ),
            Fraction(0),
        )

    def chain(self, assignment: Sequence[int]) -> list[frozenset[int]]:
        """Return the features known at each stage."""
        last = max(assignment)
        return [
            frozenset(i for i, stage in enumerate(assignment) if 0 <= stage <= s) for s in range(last + 1)
        ]

    def price(self, features: frozenset[int]) -> int:
        opened = {self.groups[i] for i in features if self.groups} - {-1}
        return sum(self.prices[i] for i in features) + sum(self.first_prices[group] for group in opened)

    def taken(self, assignment: Sequence[int], n_stages: int) -> int:
        """Return the hours of the first stages: of each the longest of what it buys and of the groups that it opens."""
        known: frozenset[int] = frozenset()
        hours = 0
        for after in self.chain(assignment)[:n_stages]:
            before = {self.groups[i] for i in known} if self.groups else set()
            opened = {self.groups[i] for i in after if self.groups} - before - {-1}
            hours += max(
                [self.hours[i] for i in after - known] + [self.first_hours[group] for group in opened]
            )
            known = after
        return hours

    def row(self, assignment: Sequence[int], row: int) -> tuple[bool, bool, int, int]:
        """Return whether a row is conclusive, right, what it paid, and how many stages it saw."""
        for number, known in enumerate(self.chain(assignment), start=1):
            confident, right = self.answers[known][row]
            if confident:
                return True, right, self.price(known), number
        return False, False, self.price(known), number

    def outcome(self, assignment: Sequence[int]) -> tuple[Fraction, Fraction, Fraction]:
        """Return g1, g2 and g3* (Eqs. 3 to 5)."""
        rows = [self.row(assignment, r) for r in range(len(self.labels))]
        n_conclusive = sum(conclusive for conclusive, *_ in rows)
        n_right = sum(right for _, right, *_ in rows)
        return (
            Fraction(n_conclusive, len(rows)),
            Fraction(n_right, n_conclusive) if n_conclusive else Fraction(0),
            Fraction(sum(paid for *_, paid, _ in rows), len(rows)),
        )

    def every_objective(
        self,
        assignment: Sequence[int],
        *,
        penalties: Mapping[int, Fraction],
        call_cost: Fraction,
        call_cost_per_feature: Fraction,
    ) -> dict[str, Fraction]:
        """Return every objective, all to be minimised, row by row from its definition; class 1 is the positive one."""
        n = len(self.labels)
        chain = self.chain(assignment)
        conclusive = credit = false_positives = Fraction(0)
        paid, calls, hours = [], Fraction(0), 0
        for number, label in enumerate(self.labels):
            answered, right, price, reached = self.row(assignment, number)
            paid.append(price)
            calls += sum(self.call(known, call_cost, call_cost_per_feature) for known in chain[:reached])
            hours += self.taken(assignment, reached) if self.hours else 0
            conclusive += answered
            credit += answered and (1 if right else 1 - penalties.get(label, Fraction(1)))
            false_positives += answered and not right and label == 0
        return {
            "coverage": -conclusive / n,
            "conclusive_accuracy": -credit / conclusive if conclusive else Fraction(0),
            "acquisition_cost": Fraction(sum(paid), n),
            "false_positive_rate": false_positives / max(1, self.labels.count(0)),
            "stages": Fraction(len(chain)),
            "worst_case_cost": Fraction(max(paid)),
            "evaluation_cost": calls / n,
            "hours": Fraction(hours, n),
        }

    def front(
        self, max_stages: int, objectives: Sequence[str], *, removal: bool, **options: Any
    ) -> Counter[tuple[Fraction, ...]]:
        """Return the non-dominated vectors of all assignments, minimised, with how many assignments share each."""
        counts: Counter[tuple[Fraction, ...]] = Counter()
        for assignment in itertools.product(range(-1 if removal else 0, max_stages), repeat=self.n_features):
            if max(assignment) >= 0 and set(assignment) - {-1} == set(range(max(assignment) + 1)):
                values = self.every_objective(assignment, **options)
                counts[tuple(values[name] for name in objectives)] += 1
        return Counter(
            {
                a: count
                for a, count in counts.items()
                if not any(b != a and all(x <= y for x, y in zip(b, a, strict=True)) for b in counts)
            }
        )


def dominates(a: Sequence[Fraction], b: Sequence[Fraction]) -> bool:
    """Tell whether (g1, g2, g3*) `a` dominates `b`."""
    better = (a[0] >= b[0], a[1] >= b[1], a[2] <= b[2])
    return all(better) and tuple(a) != tuple(b)


def all_assignments(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """Return S(n, k) by trying every list of stage numbers."""
    for stages in itertools.product(range(k), repeat=n):
        if set(stages) == set(range(max(stages) + 1)):
            yield stages


def levels(outcomes: Sequence[Sequence[Fraction]]) -> list[int]:
    """Return the paper's rank, the number of fronts left when a row is removed, by removing fronts."""
    left = set(range(len(outcomes)))
    removed: list[set[int]] = []
    while left:
        front = {a for a in left if not any(dominates(outcomes[b], outcomes[a]) for b in left)}
        removed.append(front)
        left -= front
    ranks = [0] * len(outcomes)
    for t, front in enumerate(removed):
        for a in front:
            ranks[a] = len(removed) - 1 - t
    return ranks


def fitness(outcomes: Sequence[Sequence[Fraction]], epsilon: float) -> list[float]:
    """Return Eq. 9 for a generation; where something costs nothing, with the share of the dearest saved."""
    costs = [g3 for *_, g3 in outcomes]
    least, most = min(costs), max(costs)
    saved = [Fraction(1) if most == 0 else 1 - cost / most if least == 0 else least / cost for cost in costs]
    norms = [
        math.sqrt(float(g1) ** 2 + float(g2) ** 2 + float(merit) ** 2)
        for (g1, g2, _), merit in zip(outcomes, saved, strict=True)
    ]
    gamma = max(norms) / min(norms) + epsilon
    return [gamma**rank * norm for rank, norm in zip(levels(outcomes), norms, strict=True)]


def facts_of(problem: StageProblem) -> Facts:
    """Ask the classifier of every feature set who is confident and right, probability by probability."""
    decisions, costs = problem.decisions, problem.costs
    ours, rule, n = decisions.subclassifiers, decisions.rule, problem.n_features
    answers = {}
    for size in range(1, n + 1):
        for features in itertools.combinations(range(n), size):
            model = ours.model(np.isin(np.arange(n), features))
            told = []
            for p, truth in zip(model.probabilities(ours.rows.validation_rows), problem.labels, strict=True):
                label = int(p.argmax())
                confident = bool(p[label] >= rule.thresholds[label])
                told.append((confident, confident and label == truth))
            answers[frozenset(features)] = tuple(told)
    hours = [one.values.tolist() for one in costs.attributes][:1] or [[]]
    return Facts(
        n, tuple(problem.labels.tolist()), answers, tuple(costs.prices.tolist()), tuple(costs.groups.tolist()),
        tuple(costs.first_prices.tolist()), hours=tuple(hours[0][:n]), first_hours=tuple(hours[0][n:]),
    )  # fmt: skip


class Told(Subclassifiers):
    """Subclassifiers whose decisions are told instead of fitted."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        n = facts.n_features
        labels = np.array(facts.labels, dtype=np.int64)
        codes = tuple(FeatureCode(str(i), 0.0, None, allows_missing=False) for i in range(n))
        rows = np.zeros((len(labels), n))
        self.rows = StageRows(Encoding(codes), rows, labels, rows, labels, 2)
        self.places = SubsetPlaces(n, 1 << n)
        self.n_fits = 0
        self.budget = Budget()
        self.most_asked = max(map(len, facts.asked.values()), default=1)
        self.member_costs: Sequence[float] | None = facts.member_costs or None

    def asked(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        n_prices = len(self.facts.member_costs or (0,))
        found = np.zeros((len(slots), n_prices), dtype=np.int64)
        for place, slot in enumerate(slots.tolist()):
            known = frozenset(i for i in range(self.facts.n_features) if slot >> i & 1)
            for member in self.facts.asked.get(known, (0,)):
                found[place, member if self.facts.member_costs else 0] += 1
        return found

    def slots(self, subsets: NDArray[np.bool_]) -> NDArray[np.int64]:
        return (subsets @ (1 << np.arange(self.facts.n_features))).astype(np.int64)

    def write_bits(self, slots: NDArray[np.int64], _rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        for slot in slots.tolist():
            known = frozenset(i for i in range(self.facts.n_features) if slot >> i & 1)
            answers = np.array(self.facts.answers[known], dtype=bool).reshape(-1, 2)
            bits[slot, 0] = pack(answers[:, 0], self.rows.n_words)
            bits[slot, 1] = pack(answers[:, 1], self.rows.n_words)


def whole_costs(
    prices: Sequence[int],
    groups: Sequence[int] = (),
    first_prices: Sequence[int] = (),
    hours: Sequence[int] = (),
) -> FeatureCosts:
    """Return prices in whole units, and the hours of features and groups, if there are any."""
    n = len(prices)
    return FeatureCosts(
        tuple(map(str, range(n))), np.array(prices, dtype=np.int64),
        np.array(groups or [-1] * n, dtype=np.int64), np.array(first_prices, dtype=np.int64), 1,
        attributes=(CostAttribute("hours", np.array(hours, dtype=np.int64), 1),) if hours else (),
    )  # fmt: skip
