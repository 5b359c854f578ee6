"""Shares of a time limit that auto gives to diagrams and integer programs."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.errors import BadInputError, SolverError
from shortlist.logic.clauses import Clauses
from shortlist.logic.compilation import compile_diagram
from shortlist.logic.sat import SatSolver, SearchStoppedError, backbone
from shortlist.milp.engine import CheckedSession
from shortlist.milp.solution import Solution
from shortlist.products import FeatureModel
from shortlist.products.attributes import Attribute
from shortlist.products.configuration import front_search, product_front
from shortlist.products.configuration.feasibility import some_products
from shortlist.products.configuration.front_search import (
    DIAGRAM_SHARE,
    diagram_of,
    front_by_diagram,
    front_by_program,
)
from shortlist.products.configuration.product_front import configure
from shortlist.products.configuration.question import (
    DiagramOptions,
    make_question,
    parse_limit,
    parse_question,
)
from shortlist.products.configuration.requirements import Requirements
from shortlist.products.model import make_group, make_model, with_constraints
from shortlist.products.rules import are_valid
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs import Cancellation, Progress, open_study
from shortlist.runs.budget import Budget
from tests.products import oracles
from tests.products.configuration.test_product_front import as_tuples, front_by_hand, questions
from tests.products.strategies import models

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
    monkeypatch.setattr(front_search, "diagram_of", slow)
    model, attributes = shop()
    answer = configure(model, "max selected, min cost", attributes=attributes, time_limit_s=LIMIT_S)

    assert given[0].deadline == DIAGRAM_SHARE * LIMIT_S
    assert (answer.front.method, answer.front.proof.kind) == ("exact", ProofKind.COMPLETE)
    assert answer.reason == (
        "the time for making a diagram was over; two phases, as there are two objectives"
    )
    assert answer.front.seconds == now[0]


def test_a_limit_of_a_share_is_told_as_the_users() -> None:
    model, attributes = shop()
    question, _ = make_question(model, *parse_question(model, "max selected, min cost", (), attributes))
    whole = Looks(10**9).budget()
    diagram, _ = diagram_of(question, max_nodes=500_000, budget=whole)
    assert diagram is not None
    ended = Budget(LIMIT_S, clock=lambda: 2 * LIMIT_S, start=0.0).until(DIAGRAM_SHARE)
    front = front_by_diagram(question, diagram, DiagramOptions(), ended)
    assert front.proof.limit in {"", "1000 s"}


def limited_pass(question: Any, diagram: Any, options: DiagramOptions, budget: Budget) -> Front:
    """Return every second point of the true front, as if the time had been over."""
    front = real_pass(question, diagram, options, Budget())
    proof = Proof(ProofKind.APPROXIMATE, missing=(13.0, 1e11), limit=budget.time_text)
    assert budget.part < 1
    return dataclasses.replace(front, values=front.values[::2], decisions=front.decisions[::2], proof=proof)


real_pass = front_by_diagram


def test_where_the_sets_of_a_diagram_take_too_long_integer_programs_complete_the_front(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, attributes = shop()
    whole = configure(model, "max selected, min cost", attributes=attributes)
    monkeypatch.setattr(front_search, "front_by_diagram", limited_pass)
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

    monkeypatch.setattr(front_search, "front_by_diagram", limited_pass)
    monkeypatch.setattr(front_search, "front_by_program", some)
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


LINE = make_model(
    [f"F{i}" for i in range(12)],
    root=0,
    groups=[make_group(0, [1, 2, 3], "or"), *(make_group(1, [i], "optional") for i in range(4, 12))],
)
COSTS = {"cost": Attribute("cost", np.arange(12) ** 2 % 17)}
GOALS = "min deselected, min cost"


@pytest.mark.slow
@given(question=questions(), data=st.data())
@settings(max_examples=12)
def test_every_product_is_valid_and_what_is_proved_is_on_the_front(
    question: tuple[FeatureModel, dict[str, Attribute], str], data: st.DataObject
) -> None:
    model, attributes, text = question
    wanted = data.draw(st.sampled_from([Requirements(), Requirements((0,)), Requirements((), (0,))]))
    answer = configure(model, text, attributes=attributes, requirements=wanted, method="solrep", n_points=5)
    expected = front_by_hand(model, attributes, text, wanted)

    assert (answer.status is Status.INFEASIBLE) == (not expected)
    assert are_valid(model, answer.front.decisions).all()
    assert answer.front.decisions[:, list(wanted.select)].all()
    assert not answer.front.decisions[:, list(wanted.deselect)].any()
    if not expected:
        return
    assert len(answer.front) > 0
    assert answer.front.method == "solrep"
    assert set(as_tuples(answer)) <= set(expected)
    if answer.front.proof.kind is ProofKind.COMPLETE:
        assert as_tuples(answer) == expected


def test_limits_hold_of_reference_points() -> None:
    limits = ["cost<=60", "selected>=4"]
    answer = configure(LINE, GOALS, attributes=COSTS, limits=limits, method="solrep", n_points=9)
    bounded = with_constraints(LINE, [parse_limit(limit, LINE, COSTS) for limit in limits])
    assert len(answer.front) > 1
    assert are_valid(bounded, answer.front.decisions).all()


def test_the_seed_decides() -> None:
    first, second = (
        configure(LINE, GOALS, attributes=COSTS, method="solrep", seed=3, n_points=3) for _ in range(2)
    )
    assert np.array_equal(first.front.decisions, second.front.decisions)


def test_a_study_is_gone_on_from(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"attributes": COSTS, "method": "solrep", "n_points": 8}
    stop = Cancellation()

    def report(event: Progress) -> None:
        if event.stage == "reference points" and event.done >= 3:
            stop.cancel()

    with open_study(tmp_path / "s.db") as study:
        part = configure(LINE, GOALS, **asked, study=study, report=report, cancellation=stop)
        assert part.front.proof.limit == "interrupted"
        before = study.results()
        rest = configure(LINE, GOALS, **asked, study=study)
        assert before.items() < study.results().items()
        with pytest.raises(BadInputError, match="n_points was 8 there and is 9 now"):
            configure(LINE, GOALS, **{**asked, "n_points": 9}, study=study)
    fresh = configure(LINE, GOALS, **asked)
    assert np.array_equal(rest.front.points, fresh.front.points)
    assert np.array_equal(rest.front.decisions, fresh.front.decisions)


@given(model=models(max_features=6), seed=st.integers(0, 3))
@settings(max_examples=30)
def test_some_products_are_different_products(model: FeatureModel, seed: int) -> None:
    found = some_products(model, n_products=4, seed=seed)
    every = oracles.products(model)
    assert {tuple(map(bool, product)) for product in found} <= set(every)
    assert bool(len(found)) == bool(every)
    assert len(found) == len({product.tobytes() for product in found})


def test_a_limit_that_stops_everything_leaves_the_product_that_there_is() -> None:
    model = make_model(
        [f"F{i}" for i in range(200)], root=0, groups=[make_group(0, [i], "optional") for i in range(1, 200)]
    )
    costs = {"cost": Attribute("cost", np.arange(200) * 7919 % 1000), "risk": Attribute("risk", np.arange(200) * 104729 % 997)}  # fmt: skip
    answer = configure(
        model, "max selected, min cost, min risk", attributes=costs, method="exact", time_limit_s=1e-3
    )
    assert (answer.status, answer.front.proof.kind) == (Status.FEASIBLE, ProofKind.APPROXIMATE)
    assert (len(answer.front), answer.front.method) == (1, "exact")
    assert answer.front.proof.limit == "0.001 s"
    assert are_valid(model, answer.front.decisions).all()
    beyond = configure(
        model, "max selected, min cost, min risk", attributes=costs, limits=["selected==77"], method="exact",
        time_limit_s=1e-3,
    )  # fmt: skip
    assert (beyond.status, len(beyond.front)) == (Status.UNKNOWN, 0)


def test_programs_need_no_clauses() -> None:
    wide = make_model([f"F{i}" for i in range(40)], constraints=[], root=None)
    costs = {"cost": Attribute("cost", np.arange(40) ** 2 * 37 + 1)}
    chain = with_constraints(wide, [parse_limit("cost >= 200000", wide, costs)])
    answer = configure(chain, "min cost, min selected", attributes=costs, method="solrep", time_limit_s=0.5)
    assert answer.front.proof.limit == "0.5 s"
