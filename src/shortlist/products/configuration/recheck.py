"""Fronts of products, checked again against the model as read.

A proof in a standard form that a front of products is complete, for any checker of such proofs.

The formula says that there is a product which no point of the front dominates or equals: the clauses of the
model and the limits, an auxiliary variable for each comparison of an objective with a value of a point, and
for each point a clause that the product is better in some objective. A solver that writes its steps (DRUP, a
part of DRAT) refutes it. What is left to trust is that the formula says this.
"""

import dataclasses
import importlib
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import number_text
from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.files import write_text
from shortlist.logic.clauses import Clauses
from shortlist.methods.front_check import FrontCheck, check_claims, finder_of, other_objectives
from shortlist.products.clauses import linear_literal, to_clauses
from shortlist.products.cnf import ClauseLimits, Definitions
from shortlist.products.configuration.front_search import program_of, two_linears
from shortlist.products.configuration.question import ProductQuestion
from shortlist.products.formulas import Linear
from shortlist.products.model import with_constraints
from shortlist.products.rules import are_valid
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget

if TYPE_CHECKING:
    from numpy.typing import NDArray


def recheck_products(question: ProductQuestion, front: Front, *, budget: Budget | None = None) -> FrontCheck:
    """Check every product of a front, and ask again what it claims of the others.

    Products are checked by the rules of the model as read, with the limits and requirements, and their
    objectives are added up again in integers. Whether there is a product that no point dominates is asked of
    integer programs made from the rules: of sums of integers first, then of a solver that did not find the
    front. Raises BadInputError if the front is of another model, or of other objectives.
    """
    budget = budget or Budget()
    goals = [goal.objective for goal in question.objectives]
    if question.model.labels != front.candidates:
        raise BadInputError(
            "the front must be of this model, and its features differ. Name the model it was made from."
        )
    if [(one.name, one.sense) for one in goals] != [(one.name, one.sense) for one in front.objectives]:
        raise BadInputError("the question must have the objectives of the front, in its order.")
    failures = other_objectives(front, goals) or _wrong_products(question, front)
    if failures:
        return FrontCheck(failures, len(front), front.proof.kind, None, finder_of(front), budget.elapsed)
    program = program_of(question, two_linears(question))
    return check_claims(program, _of_two(front, len(program.objectives)), budget=budget)


def _of_two(front: Front, n: int) -> Front:
    """Return a front of one objective with a second that is always 0, as methods need two."""
    if len(front.objectives) == n:
        return front
    proof = front.proof
    if proof.missing is not None:
        proof = dataclasses.replace(proof, missing=(*proof.missing, 0.0))
    ideal = front.extras.get("ideal")
    return dataclasses.replace(
        front,
        objectives=(*front.objectives, Objective("nothing")),
        values=np.column_stack([front.values, np.zeros(len(front))]),
        proof=proof,
        extras={**front.extras, "ideal": [*ideal, None]} if ideal else front.extras,
    )


def _wrong_products(question: ProductQuestion, front: Front) -> tuple[str, ...]:
    """Say which products break a rule, and which points are not the sums of their products."""
    selections: NDArray[np.uint8] = front.decisions.astype(np.uint8)
    if not len(front):
        return ()
    model = with_constraints(question.model, question.limits)
    strange = ~np.isin(front.decisions, (0, 1)).all(axis=1)
    broken = strange | ~are_valid(model, selections) | ~question.meets_requirements(selections)
    said = [
        f"the product of point {number} breaks a rule of the model, a limit or a requirement"
        for number in np.flatnonzero(broken).tolist()
    ]
    factors = np.array([one.objective.sign * (one.objective.scale or 1) for one in question.objectives])
    values = question.points(selections) / factors
    for number in np.flatnonzero((values != front.values).any(axis=1) & ~broken).tolist():
        told = ", ".join(
            f"{name} {number_text(value)}"
            for name, value in zip(front.names, values[number].tolist(), strict=True)
        )
        said.append(f"point {number} has other values than its product: {told}")
    return tuple(said)


MOST_CLAUSES = 2_000_000
"""A formula with more is not made."""

MOST_CHECKED = 5_000
"""A proof with more steps is not checked here, as the checker in Python would take hours."""

DIAGRAM_NODES = 200_000


@dataclass(frozen=True, eq=False)
class CompletenessProof:
    """A refutation of the formula that the front lacks a product."""

    formula: Clauses
    """Unsatisfiable if and only if the front is complete."""
    steps: tuple[str, ...]
    """The steps of the proof, in the text form of DRAT."""
    checked: bool
    """Whether a checker that is not ours has followed every step."""

    def save(self, path: Path) -> None:
        """Write the steps to a file that ends in .drat, and the formula beside it as .cnf in DIMACS."""
        write_text(path.with_suffix(".cnf"), dimacs_text(self.formula))
        write_text(path, "\n".join(self.steps) + "\n")


def completeness_formula(question: ProductQuestion, front: Front) -> Clauses:
    """Return clauses that a product satisfies if and only if no point of the front dominates or equals it.

    Raises BadInputError if a comparison or the whole needs too many clauses.
    """
    model = to_clauses(with_constraints(question.model, question.limits))
    base = list(model.with_units(question.requirements.literals))
    definitions = Definitions(model.n_variables, ClauseLimits(diagram_nodes=DIAGRAM_NODES))
    known: dict[tuple[int, int], int | bool] = {}
    better: list[tuple[int, ...]] = []
    for point in front.points.tolist():
        clause = [
            known.get((number, value))
            if (number, value) in known
            else known.setdefault((number, value), _below(question, number, value, definitions))
            for number, value in enumerate(point)
        ]
        if not any(literal is True for literal in clause):
            better.append(tuple(int(literal) for literal in clause if literal not in {None, False, True}))
        if len(definitions.clauses) > MOST_CLAUSES:
            raise BadInputError(
                f"a proof by clauses needs at most {MOST_CLAUSES:,} of them, and this front more. It "
                "can be rechecked by sums of integers and by another solver."
            )
    return Clauses.from_clauses(definitions.n_variables, [*base, *definitions.clauses, *better])


def _below(question: ProductQuestion, number: int, value: int, definitions: Definitions) -> int | bool:
    """Return a literal that is true where an objective is better than a value."""
    goal = question.objectives[number]
    used = np.flatnonzero(goal.minimised)
    most = value - 1 - goal.offset * goal.objective.sign
    factors, variables = goal.minimised[used].tolist(), (used + 1).tolist()
    return linear_literal(Linear(tuple(factors), tuple(variables), most), definitions)


def prove_completeness(question: ProductQuestion, front: Front, *, budget: Budget) -> CompletenessProof:
    """Return a proof that a front is complete, by Glucose, checked by dratify if installed.

    Raises BadInputError if the front does not claim to be complete, is not, needs too many clauses, or the
    time is over. Raises MissingDependencyError if python-sat is not installed.
    """
    if front.proof.kind is not ProofKind.COMPLETE or any(front.proof.tolerances):
        raise BadInputError("a certificate of completeness needs a front that claims to be complete.")
    solvers = _optional("pysat.solvers", "python-sat")
    formula = completeness_formula(question, front)
    with solvers.Glucose4(bootstrap_with=[list(one) for one in formula], with_proof=True) as solver:
        over = threading.Timer(min(budget.left, threading.TIMEOUT_MAX), solver.interrupt)
        over.daemon = True
        over.start()
        try:
            answer = solver.solve_limited(expect_interrupt=True)
        finally:
            over.cancel()
        steps = tuple(solver.get_proof() or ())
    if answer is None:
        raise BadInputError(
            f"the time limit of {budget.time_text} must be enough for a proof by clauses, and is not. "
            "Raise it."
        )
    if answer:
        raise BadInputError("the front is not complete, by a product that no point of it dominates.")
    return CompletenessProof(formula, steps, _is_checked(formula, steps))


def _is_checked(formula: Clauses, steps: tuple[str, ...]) -> bool:
    """Whether dratify follows every step; False where it is not installed, or the proof is too long."""
    if len(steps) > MOST_CHECKED or importlib.util.find_spec("dratify") is None:
        return False
    return check_steps(formula, steps)


def check_steps(formula: Clauses, steps: tuple[str, ...]) -> bool:
    """Let dratify, which shares nothing with the solver or with Shortlist, follow a proof."""
    dratify = _optional("dratify", "dratify")
    return bool(dratify.check_proof(dratify.parse_dimacs(dimacs_text(formula)), "\n".join(steps) + "\n").ok)


def _optional(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingDependencyError(
            f"a certificate of completeness needs the {package} package. Install it: "
            "pip install 'shortlist[certificates]'."
        ) from None


def dimacs_text(formula: Clauses) -> str:
    """Return clauses as DIMACS has them.

    >>> print(dimacs_text(Clauses.from_clauses(2, [(1, -2), (2,)])), end="")
    p cnf 2 2
    1 -2 0
    2 0
    """
    lines = (" ".join(map(str, (*clause, 0))) for clause in formula)
    return "\n".join([f"p cnf {formula.n_variables} {formula.n_clauses}", *lines, ""])
