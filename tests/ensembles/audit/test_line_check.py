"""Certificates of tilts: lines above the worth of margins, rechecked by code that shares nothing with what made them."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.ensembles.audit.cut_check import check_certificate
from shortlist.ensembles.goals.margin_worth import MarginUtility, most_gain, utility_scale
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import Weights, named_weights
from shortlist.ensembles.proofs.certificate import Certificate
from shortlist.ensembles.pruning.pruning import prune_for
from shortlist.ensembles.votes.binary_votes import Votes, merge_rows
from shortlist.results.objective import Objective, Sense
from tests.ensembles import oracles, strategies
from tests.ensembles.proofs.test_certificate import assert_refused
from tests.ensembles.slope_oracles import proved, slope_problem


def _data(n_classifiers: int = 9) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    labels = np.arange(60) % 2
    matrix = (rng.random((60, n_classifiers)) < np.where(labels == 1, 0.6, 0.4)[:, None]).astype(np.uint8)
    return matrix, labels


def _certified(votes: Votes, weights: Weights, slope: float, **limited: Any) -> Certificate | None:
    utility = MarginUtility("sigmoid", slope, leads=True)
    limits = selection_limits(votes.n_classifiers, **limited)
    problem = slope_problem(votes, weights, utility, limits)
    best, grown = proved(problem)
    if best.mask is None:
        return None
    return problem.certificate(grown.cover, best.mask, best.threshold, best.total)


def _made() -> Certificate:
    votes = merge_rows(*_data())
    made = _certified(
        votes, named_weights("balanced-accuracy", votes), 8.0, min_size=2, member_costs=[1.0] * 8 + [99.0], max_cost=11
    )  # fmt: skip
    assert made is not None
    return made


@settings(max_examples=40)
@given(
    rows=strategies.labelled_votes(max_classifiers=5),
    numbers=strategies.weight_sets,
    slope=st.sampled_from([0.5, 8.0, 60.0]),
    least=st.integers(0, 2),
)
def test_every_certificate_is_valid_for_its_own_rows(
    rows: oracles.Rows, numbers: tuple[int, int, int, int], slope: float, least: int
) -> None:
    matrix, labels = oracles.as_arrays(rows)
    weights = Weights(Objective("weighted", Sense.MAX, scale=None), *numbers, denominator=1)
    made = _certified(merge_rows(matrix, labels), weights, slope, min_size=min(least, matrix.shape[1]))
    assert made is not None

    verdict = check_certificate(json.loads(json.dumps(made)), matrix[::-1], labels[::-1])

    assert verdict.failures == ()
    assert (verdict.value, verdict.bound) == (made["value"], made["bound"])
    assert made["value"] <= made["bound"]


def test_what_pruning_certifies_is_valid() -> None:
    matrix, labels = _data()
    votes = merge_rows(matrix, labels)
    result, _ = prune_for(votes, "accuracy+slope-8", selection_limits(9))
    assert result.certificate is not None
    assert result.certified_bound is not None

    verdict = check_certificate(result.certificate, matrix, labels)

    weights = named_weights("accuracy", votes)
    unit = utility_scale(votes, weights) * most_gain(votes, weights)
    assert verdict.valid
    assert verdict.value is not None
    assert verdict.bound is not None
    assert verdict.value / unit == result.value
    assert verdict.bound / unit == result.certified_bound >= result.bound


def test_solvers_leave_none() -> None:
    votes = merge_rows(*_data(4))
    result, _ = prune_for(votes, "accuracy+slope-8", selection_limits(4), solver="highs")
    assert result.certificate is None
    assert result.bound == result.value


def _with_lines(certificate: Certificate, place: int, **changes: Any) -> None:
    certificate["lines"][place] |= changes


def _steeper(certificate: Certificate) -> None:
    """Let every line be steep, which holds and proves less."""
    for part in certificate["lines"]:
        part["tilts"] = [2**29] * len(part["tilts"])


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        pytest.param(lambda c: c.update(value=c["value"] + 1), "is worth", id="value"),
        pytest.param(lambda c: c.update(bound=c["bound"] - 1), "prove the bound", id="lower bound"),
        pytest.param(lambda c: c.update(bound=c["bound"] + 1), "prove the bound", id="higher bound"),
        pytest.param(lambda c: c.update(data="0" * 64), "the data is not", id="hash"),
        pytest.param(lambda c: c["utility"].update(slope=9.0), "is worth", id="slope"),
        pytest.param(lambda c: c["utility"].update(scale=2**20), "is worth", id="scale"),
        pytest.param(lambda c: c.pop("utility"), "not readable", id="no utility"),
        pytest.param(lambda c: c.update(threshold=c["threshold"] + 1), "is worth", id="threshold"),
        pytest.param(lambda c: c.update(members=[8, 0]), "not readable", id="members out of order"),
        pytest.param(lambda c: c.update(members=[0, 8]), "more than the budget", id="too dear"),
        pytest.param(lambda c: c["lines"].pop(), "have no lines", id="a part left out"),
        pytest.param(lambda c: c.update(lines=[]), "have no lines", id="no lines"),
        pytest.param(lambda c: _with_lines(c, 0, first=1, last=0), "not readable", id="no thresholds"),
        pytest.param(lambda c: _with_lines(c, 0, tilts=[1]), "not readable", id="too few tilts"),
        pytest.param(lambda c: _with_lines(c, 0, last=10**8), "not readable", id="thresholds above the size"),
        pytest.param(lambda c: _with_lines(c, 0, size=2.9), "not readable", id="a size that is not whole"),
        pytest.param(lambda c: _with_lines(c, 0, tilts=["1"]), "not readable", id="tilts as text"),
        pytest.param(lambda c: c.update(threshold=True), "not readable", id="a threshold that is no number"),
        pytest.param(
            lambda c: c.update(threshold=c["threshold"] + 0.5), "not readable", id="half a threshold"
        ),
        pytest.param(lambda c: c["utility"].update(shape="concave"), "not readable", id="shape"),
        pytest.param(lambda c: c["utility"].pop("shape"), "not readable", id="no shape"),
        pytest.param(lambda c: c["utility"].update(slope=-1000), "not readable", id="negative slope"),
        pytest.param(lambda c: c["utility"].update(slope=math.nan), "not readable", id="no slope"),
        pytest.param(lambda c: c["utility"].update(scale=math.inf), "not readable", id="endless scale"),
        pytest.param(lambda c: c["utility"].update(scale=0), "not readable", id="scale of 0"),
        pytest.param(_steeper, "prove the bound", id="other lines"),
        pytest.param(lambda c: c["limits"].update(min_size=1), "have no lines", id="other sizes"),
    ],
)
def test_a_tampered_certificate_is_refused(tamper: Callable[[Certificate], Any], says: str) -> None:
    assert_refused(_made(), tamper, _data(), says)
