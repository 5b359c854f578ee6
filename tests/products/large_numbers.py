"""Questions with numbers of one to thirteen digits in attributes, objectives and limits, and their fronts by brute force.

``python -m tests.products.large_numbers 20000`` asks as many random questions and prints every false answer.
"""

import argparse
import collections
import itertools
import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import ShortlistError
from shortlist.products import FeatureModel
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.product_front import Configured, configure
from shortlist.products.configuration.question import FeatureObjective, parse_question
from shortlist.products.model import Constraint, make_group, make_model, with_constraints
from shortlist.products.rules import are_valid
from shortlist.results.proof import ProofKind, Status

EVERYTHING = tuple(
    [("diagram", None)]
    + [
        (method, solver)
        for method in ("exact", "cwmoip", "epsilon-constraint", "solrep")
        for solver in ("highs", "cpsat", "scip")
    ]
)
"""Every method that proves something, with every solver that it takes."""


@dataclass(frozen=True, eq=False)
class LargeQuestion:
    """A question with few features, all of whose configurations can be listed."""

    model: FeatureModel
    attributes: dict[str, Attribute]
    objectives: str
    limits: tuple[str, ...]

    def parsed(self) -> tuple[tuple[FeatureObjective, ...], tuple[Constraint, ...]]:
        """Return objectives and limits."""
        return parse_question(self.model, self.objectives, list(self.limits), self.attributes)

    def answer(self, method: str, solver: str | None) -> Configured:
        """Return what `configure` answers with."""
        options: dict[str, Any] = {} if solver is None else {"solver": solver}
        if method == "solrep":
            options["n_points"] = 4
        return configure(
            self.model,
            self.objectives,
            attributes=self.attributes,
            limits=list(self.limits),
            method=method,
            **options,
        )


def random_question(seed: int) -> LargeQuestion:
    """Return a question whose numbers look as those that solvers mistake: long, nearly equal, or off by one."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 10))
    model = _model(n, rng)
    attributes = {name: _attribute(name, n, rng) for name in ("w", "c", "d")}
    names = [str(name) for name in rng.permutation(["selected", "c", "d", "w"])]
    goals = names[: int(rng.integers(1, 4))]
    objectives = ", ".join(f"{rng.choice(['min', 'max'])} {name}" for name in goals)
    limits = tuple(_limit("w", attributes["w"], n, rng) for _ in range(int(rng.integers(1, 3))))
    if rng.random() < 0.3:
        limits += (_limit("c", attributes["c"], n, rng),)
    return LargeQuestion(model, attributes, objectives, limits)


def true_points(question: LargeQuestion) -> set[tuple[int, ...]]:
    """Return the scaled points of the front, in Python's integers."""
    goals, limits = question.parsed()
    n = question.model.n_features
    everything = np.array(list(itertools.product((0, 1), repeat=n)), dtype=np.uint8)
    valid = everything[are_valid(with_constraints(question.model, limits), everything)]
    points = {tuple(row) for row in np.column_stack([goal.points(valid) for goal in goals]).tolist()}
    return {
        p
        for p in points
        if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)
    }


def falsehood(answer: Configured, truth: set[tuple[int, ...]]) -> str:
    """Return what is false about an answer; "" if nothing is."""
    found = {tuple(row) for row in answer.front.points.tolist()}
    if answer.status is Status.INFEASIBLE:
        return "called infeasible" if truth else ""
    kind = answer.front.proof.kind
    if kind is ProofKind.COMPLETE and found != truth:
        return f"called complete with {sorted(found)}, not {sorted(truth)}"
    if kind is ProofKind.NONDOMINATED and not found <= truth:
        return f"called nondominated: {sorted(found - truth)}, not in {sorted(truth)}"
    return ""


def _model(n: int, rng: np.random.Generator) -> FeatureModel:
    """Return a root with optional children and, often, a group of alternatives."""
    grouped = int(rng.choice([0, 2, 3]))
    groups = [make_group(0, [child], "optional") for child in range(1, n - grouped)]
    if grouped:
        groups.append(make_group(0, list(range(n - grouped, n)), str(rng.choice(["or", "alternative"]))))
    return make_model([f"f{number}" for number in range(n)], root=0, groups=groups)


def _attribute(name: str, n: int, rng: np.random.Generator) -> Attribute:
    """Return values of up to thirteen digits: any, all close to one another, or multiples of one number but for units."""
    digits = int(rng.integers(1, 14))
    style, most = rng.integers(4), 10**digits
    units: NDArray[np.int64] = rng.integers(0, 4, n)
    if style == 0:
        values = rng.integers(0, most, n)
    elif style == 1:
        values = most // int(rng.integers(1, 10)) + units
    elif style == 2:
        values = most // 10 * rng.integers(0, 10, n) + units
    else:
        values = 10 ** rng.integers(0, digits, n) + units
    scale = int(rng.choice([1, 1, 100, 10**9]))
    return Attribute(name, np.asarray(values, dtype=np.int64), scale)


def _limit(name: str, attribute: Attribute, n: int, rng: np.random.Generator) -> str:
    """Return a limit at, or a unit beside, the value of some configuration."""
    chosen = rng.random(n) < rng.choice([0.3, 0.5, 0.8])
    value = int(attribute.values[chosen].sum()) + int(rng.choice([-1, 0, 0, 0, 1]))
    number = format(Decimal(value) / attribute.scale, "f")
    return f"{name}{rng.choice(['<=', '<=', '<', '>=', '>', '=='])}{number}"


def asked(seed: int, n: int) -> list[tuple[str, str | None]]:
    """Return `n` methods with their solvers, others for the next seed."""
    return [EVERYTHING[(seed * n + i) % len(EVERYTHING)] for i in range(n)]


def main() -> None:
    """Ask random questions of every method and solver."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of a method's and solver's name")
    parser.add_argument("--each", type=int, default=len(EVERYTHING), help="methods and solvers per question")
    given = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(given.seed, given.seed + given.count):
        question = random_question(seed)
        truth = true_points(question)
        for method, solver in asked(seed, given.each):
            label = f"{method} {solver or ''}".strip()
            if given.only not in label:
                continue
            try:
                answer = question.answer(method, solver)
            except ShortlistError as error:
                counts[f"{label}: error"] += 1
                print(seed, label, question.objectives, question.limits, "ERROR", error, flush=True)
                continue
            counts[f"{label}: {answer.front.proof.kind if len(answer.front) else answer.status}"] += 1
            wrong = falsehood(answer, truth)
            if wrong:
                counts[f"{label}: FALSE"] += 1
                print(seed, label, question.objectives, question.limits, wrong, flush=True)
    for label, number in sorted(counts.items()):
        print(f"{number:8d} {label}")
    sys.exit(any("FALSE" in label for label in counts))


if __name__ == "__main__":
    main()
