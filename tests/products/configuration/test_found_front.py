"""How auto shares a time limit between diagrams and integer programs."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadInputError, SolverError
from shortlist.logic.clauses import Clauses
from shortlist.logic.compilation import compile_diagram
from shortlist.logic.sat import SatSolver, SearchStoppedError, backbone
from shortlist.milp.engine import CheckedSession
from shortlist.milp.solution import Solution
from shortlist.products import FeatureModel
from shortlist.products.attributes.attribute import Attribute
from shortlist.products.configuration import found_front, product_front
from shortlist.products.configuration.found_front import DIAGRAM_SHARE
from shortlist.products.configuration.front_search import diagram_of, front_by_diagram, front_by_program
from shortlist.products.configuration.product_front import configure, make_question, parse_question
from shortlist.products.feature_models.model import make_group, make_model
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs.budget import Budget

LIMIT_S = 1000.0


class Looks:
    """A clock that jumps past every limit after it was looked at a number of times."""

    def __init__(self, looks: int) -> None:
        self.left = looks

    def __call__(self) -> float:
        self.left -= 1
        return 0.0 if self.left >= 0 else 10 * LIMIT_S

    def budget(self) -> Budget:
        """Return a budget that ends with it."""
        return Budget(LIMIT_S, clock=self, start=0.0)


def on_clock(monkeypatch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    """Let the budget of :func:`configure` run on `clock`, but not that of the last look for a product."""

    def budget(seconds: float, **facts: Any) -> Budget:
        return Budget(seconds, clock=clock, start=0.0, **facts) if facts else Budget(seconds)

    monkeypatch.setattr(product_front, "Budget", budget)


def shop() -> tuple[FeatureModel, dict[str, Attribute]]:
    """Return twelve options, with costs of nine digits."""
    model = make_model(
        [f"f{i}" for i in range(13)], root=0, groups=[make_group(0, [i], "optional") for i in range(1, 13)]
    )
    costs = np.random.default_rng(1).integers(10**8, 10**9, 13)
    return model, {"cost": Attribute("cost", costs, 1)}


def pigeons(holes: int) -> Clauses:
    """Return that one pigeon more than there are holes find one each: no model, and hard to refute."""
    numbers = np.arange(1, holes * (holes + 1) + 1).reshape(holes + 1, holes)
    clauses = [tuple(row) for row in numbers.tolist()]
    clauses += [
        (-int(numbers[a, hole]), -int(numbers[b, hole]))
        for hole in range(holes) for a in range(holes + 1) for b in range(a)
    ]  # fmt: skip
    return Clauses.from_clauses(numbers.size, clauses)


def test_auto_gives_the_diagram_a_share_of_the_time_and_integer_programs_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    given: list[Budget] = []
    real_diagram = diagram_of

    def slow(question: Any, *, budget: Budget, **options: Any) -> Any:
        given.append(budget)
        now[0] = DIAGRAM_SHARE * LIMIT_S + 1  # over before a diagram can be made
        return real_diagram(question, budget=budget, **options)

    on_clock(monkeypatch, lambda: now[0])
    monkeypatch.setattr(found_front, "diagram_of", slow)
    model, attributes = shop()
    answer = configure(model, "max selected, min cost", attributes=attributes, time_limit_s=LIMIT_S)

    assert given[0].deadline == DIAGRAM_SHARE * LIMIT_S
    assert (answer.front.method, answer.front.proof.kind) == ("exact", ProofKind.COMPLETE)
    assert answer.reason == "the time for making a diagram was over"
    assert answer.front.seconds == now[0]


def test_a_limit_of_a_share_is_told_as_the_users() -> None:
    model, attributes = shop()
    question, _ = make_question(model, *parse_question(model, "max selected, min cost", (), attributes))
    whole = Looks(10**9).budget()
    diagram, _ = diagram_of(question, max_nodes=500_000, rng=np.random.default_rng(0), budget=whole)
    assert diagram is not None
    ended = Budget(LIMIT_S, clock=lambda: 2 * LIMIT_S, start=0.0).until(DIAGRAM_SHARE)
    front = front_by_diagram(question, diagram, tolerance=None, max_bytes=10**9, budget=ended)
    assert front.proof.limit in {"", "1000 s"}


def limited_pass(question: Any, diagram: Any, *, budget: Budget, **options: Any) -> Front:
    """Return every second point of the true front, as if the time had been over."""
    front = real_pass(question, diagram, budget=Budget(), **options)
    proof = Proof(ProofKind.APPROXIMATE, missing=(13.0, 1e11), limit=budget.time_text)
    assert budget.part < 1
    return dataclasses.replace(front, values=front.values[::2], decisions=front.decisions[::2], proof=proof)


real_pass = front_by_diagram


def test_where_the_sets_of_a_diagram_take_too_long_integer_programs_complete_the_front(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, attributes = shop()
    whole = configure(model, "max selected, min cost", attributes=attributes)
    monkeypatch.setattr(found_front, "front_by_diagram", limited_pass)
    answer = configure(model, "max selected, min cost", attributes=attributes, time_limit_s=LIMIT_S)

    np.testing.assert_array_equal(answer.front.points, whole.front.points)
    assert (answer.front.method, answer.front.proof.kind) == ("exact", ProofKind.COMPLETE)


def test_where_integer_programs_do_not_end_either_the_points_of_both_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, attributes = shop()
    whole = configure(model, "max selected, min cost", attributes=attributes).front
    real_programs = front_by_program

    def some(*arguments: Any, **options: Any) -> Front:
        front = real_programs(*arguments, **options)
        cut = {name: getattr(front, name)[1:3] for name in ("values", "decisions")}
        return dataclasses.replace(front, proof=Proof(ProofKind.NONDOMINATED, limit="1000 s"), **cut)

    monkeypatch.setattr(found_front, "front_by_diagram", limited_pass)
    monkeypatch.setattr(found_front, "front_by_program", some)
    front = configure(model, "max selected, min cost", attributes=attributes, time_limit_s=LIMIT_S).front

    expected = {tuple(point) for point in [*whole.points[::2], *whole.points[1:3]]}
    assert {tuple(point) for point in front.points} == expected
    assert (front.proof.kind, front.proof.limit) == (ProofKind.APPROXIMATE, "1000 s")


@pytest.mark.parametrize("looks", [0, 5, 40])
def test_a_diagram_that_is_not_done_in_time_is_left_and_a_product_returned(
    monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    on_clock(monkeypatch, Looks(looks))
    model, attributes = shop()
    limits = ["cost>=3000000000"]
    answer = configure(
        model,
        "max selected, min cost",
        attributes=attributes,
        limits=limits,
        method="diagram",
        time_limit_s=LIMIT_S,
    )

    assert answer.front.proof.kind is ProofKind.APPROXIMATE
    assert len(answer.front) <= 1
    assert answer.reason.startswith("no point of the front was found within 1000 s")


def test_without_a_limit_a_diagram_that_does_not_fit_is_refused() -> None:
    model, attributes = shop()
    with pytest.raises(BadInputError, match="no variable order gave a diagram"):
        configure(
            model,
            "min cost",
            attributes=attributes,
            limits=["cost>=3000000000"],
            method="diagram",
            max_nodes=16,
        )


def test_the_search_for_a_model_stops_between_conflicts_and_goes_on_to_the_same_answer() -> None:
    hard = pigeons(7)
    looks = Looks(10**9)
    assert not SatSolver(hard, looks.budget()).solve().satisfiable
    n_looks = 10**9 - looks.left
    assert n_looks > 2  # it came back in between
    with pytest.raises(SearchStoppedError):
        SatSolver(hard, Looks(n_looks - 1).budget()).solve()
    with pytest.raises(SearchStoppedError):
        backbone(hard, Looks(1).budget())


def test_compiling_stops_between_clauses() -> None:
    clauses = Clauses.from_clauses(60, [(i, i + 1, i + 2) for i in range(1, 59)])
    assert compile_diagram(clauses, budget=Looks(10**9).budget()) is not None
    assert compile_diagram(clauses, budget=Looks(20).budget()) is None


def test_products_of_a_point_do_not_end_before_a_solver_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    model, attributes = shop()
    answer = configure(model, "max selected, min cost", attributes=attributes, method="exact")
    assert len(list(answer.configurations(0))) == 1
    real_solve = CheckedSession.solve

    def undecided(session: CheckedSession, *arguments: Any, **options: Any) -> Solution:
        solution = real_solve(session, *arguments, **options)
        if solution.status is not Status.INFEASIBLE:
            return solution
        return dataclasses.replace(solution, status=Status.UNKNOWN, limit="size")

    monkeypatch.setattr(CheckedSession, "solve", undecided)
    products = answer.configurations(0)
    next(products)
    with pytest.raises(SolverError, match=r"did not decide whether there are more products \(size\)"):
        next(products)
