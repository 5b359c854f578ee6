"""Evolution and reference points on product lines: every product is one of the model as read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError, SolverError
from shortlist.products import FeatureModel, configure
from shortlist.products.attributes.attribute import Attribute
from shortlist.products.configuration import found_front as front_module
from shortlist.products.configuration.feasibility import some_products
from shortlist.products.configuration.product_objectives import parse_limit
from shortlist.products.configuration.requirements import Requirements
from shortlist.products.configuration.search_options import EVOLUTIONARY_METHODS
from shortlist.products.feature_models.evaluation import are_valid
from shortlist.products.feature_models.model import make_group, make_model, with_constraints
from shortlist.results.front import Front
from shortlist.results.proof import ProofKind, Status
from shortlist.runs import Cancellation, Progress, open_study
from tests.examples import examples
from tests.products import oracles
from tests.products.configuration.test_product_front import as_tuples, front_by_hand, questions
from tests.products.strategies import models

LINE = make_model(
    [f"F{i}" for i in range(12)],
    root=0,
    groups=[make_group(0, [1, 2, 3], "or"), *(make_group(1, [i], "optional") for i in range(4, 12))],
)
COSTS = {"cost": Attribute("cost", np.arange(12) ** 2 % 17)}
GOALS = "min deselected, min cost"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["solrep", "ibea", "satibea", "smtibea", "ibed", "nsga2"])
@given(question=questions(), data=st.data())
@examples(12)
def test_every_product_is_valid_and_what_is_proved_is_on_the_front(
    method: str, question: tuple[FeatureModel, dict[str, Attribute], str], data: st.DataObject
) -> None:
    model, attributes, text = question
    wanted = data.draw(st.sampled_from([Requirements(), Requirements((0,)), Requirements((), (0,))]))
    options: dict[str, Any] = {"n_points": 5} if method == "solrep" else {"n_evaluations": 200}
    answer = configure(model, text, attributes=attributes, requirements=wanted, method=method, **options)
    expected = front_by_hand(model, attributes, text, wanted)

    assert (answer.status is Status.INFEASIBLE) == (not expected)
    assert are_valid(model, answer.front.decisions).all()
    assert answer.front.decisions[:, list(wanted.select)].all()
    assert not answer.front.decisions[:, list(wanted.deselect)].any()
    if not expected:
        return
    assert len(answer.front) > 0
    assert answer.front.method == method
    if method == "solrep":
        assert set(as_tuples(answer)) <= set(expected)
        if answer.front.proof.kind is ProofKind.COMPLETE:
            assert as_tuples(answer) == expected
    else:
        assert answer.front.proof.kind is ProofKind.APPROXIMATE
        assert answer.front.proof.missing is None
        assert 0 <= answer.front.extras["correctness"] <= 1


@pytest.mark.parametrize("method", ["solrep", *EVOLUTIONARY_METHODS])
def test_limits_hold_whatever_the_method(method: str) -> None:
    limits = ["cost<=60", "selected>=4"]
    options: dict[str, Any] = {"n_points": 9} if method == "solrep" else {"n_evaluations": 2_000}
    answer = configure(LINE, GOALS, attributes=COSTS, limits=limits, method=method, **options)
    bounded = with_constraints(LINE, [parse_limit(limit, LINE, COSTS) for limit in limits])
    assert len(answer.front) > 1
    assert are_valid(bounded, answer.front.decisions).all()


@pytest.mark.parametrize("method", ["solrep", "ibed"])
def test_the_seed_decides(method: str) -> None:
    options: dict[str, Any] = {"n_points": 3} if method == "solrep" else {"n_evaluations": 150}
    first, second = (
        configure(LINE, GOALS, attributes=COSTS, method=method, seed=3, **options) for _ in range(2)
    )
    assert np.array_equal(first.front.decisions, second.front.decisions)
    if method == "ibed":
        other = configure(LINE, GOALS, attributes=COSTS, method=method, seed=4, **options)
        assert not np.array_equal(first.front.decisions, other.front.decisions)


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


@pytest.mark.parametrize("method", ["ibea", "nsga2"])
def test_a_time_limit_ends_evolution_and_is_named(method: str) -> None:
    answer = configure(LINE, GOALS, attributes=COSTS, method=method, n_evaluations=10**8, time_limit_s=0.3)
    assert answer.front.proof.limit == "0.3 s"
    assert answer.status is Status.FEASIBLE


def test_starts_are_products_that_evolution_begins_with() -> None:
    n = 30
    one_of = [make_group(0, range(1, n), "alternative")]
    hard = make_model([f"F{i}" for i in range(n)], root=0, groups=one_of)
    without = configure(hard, "min selected", method="nsga2", n_evaluations=100)
    assert without.front.extras["correctness"] == 0
    assert "shows that there is one" in without.reason
    assert len(without.front) == 1
    given_some = configure(hard, "min selected", method="nsga2", n_evaluations=100, n_starts=5)
    assert given_some.front.extras["correctness"] > 0
    assert given_some.reason == "asked for nsga2"


@given(model=models(max_features=6), seed=st.integers(0, 3))
@examples(30)
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


def test_clauses_that_are_too_many_are_named() -> None:
    wide = make_model([f"F{i}" for i in range(40)], constraints=[], root=None)
    costs = {"cost": Attribute("cost", np.arange(40) ** 2 * 37 + 1)}
    with pytest.raises(
        BadInputError, match=r"method 'ibea' needs clauses, but limit 'cost >= 200000' needs too many"
    ):
        configure(wide, "min selected", attributes=costs, limits=["cost >= 200000"], method="ibea")
    chain = with_constraints(wide, [parse_limit("cost >= 200000", wide, costs)])
    with pytest.raises(BadInputError, match="but a linear constraint needs too many"):
        configure(chain, "min selected", method="ibed")
    answer = configure(chain, "min cost, min selected", attributes=costs, method="solrep", time_limit_s=0.5)
    assert answer.front.proof.limit == "0.5 s"  # programs need no clauses


def test_a_wrong_product_of_evolution_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object, **__: object) -> Front:
        good = configure(LINE, GOALS, attributes=COSTS, method="diagram").front
        return Front.from_points(
            good.objectives, good.points, 1 - good.decisions, good.candidates, good.proof
        )

    monkeypatch.setattr(front_module, "front_by_evolution", wrong)
    with pytest.raises(SolverError, match="'ibea' found a configuration that breaks a rule"):
        configure(LINE, GOALS, attributes=COSTS, method="ibea")
