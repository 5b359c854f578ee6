"""Sums of sigmoids of several classes, against every selection, and attacks on their certificates."""

import copy
import itertools
import math
from typing import Any

import numpy as np
import pytest

from shortlist.ensembles.audit.class_cut_check import check_class_certificate
from shortlist.ensembles.goals.class_weights import class_weights
from shortlist.ensembles.goals.diversity import class_diversity_limits
from shortlist.ensembles.goals.margin_worth import MarginUtility, class_utility_total, utility_scale
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.pruning.pruning import prune_for
from shortlist.ensembles.votes.class_votes import ClassVotes
from shortlist.results.proof import Status
from tests.ensembles.plurality_oracles import made_votes


def worth(votes: ClassVotes, objective: str, slope: float, mask: np.ndarray) -> float:
    """Return the share of the worth of all rows, row by row by the words of the definition."""
    sizes = {c: int(votes.counts[votes.labels == c].sum()) for c in set(votes.labels.tolist())}
    size, total = int(mask.sum()), 0.0
    for codes, label, count in zip(
        votes.codes[:, mask].tolist(), votes.labels.tolist(), votes.counts, strict=True
    ):
        leads = [
            codes.count(label) - codes.count(d) - (d < label) for d in range(votes.n_classes) if d != label
        ]
        margin = (min(leads) + 0.5) / (2 * max(1, size))
        weight = 1 / sizes[label] / len(sizes) if objective == "balanced-accuracy" else 1 / votes.n_samples
        total += int(count) * weight / (1 + math.exp(-slope * margin))
    return total


def made_limits(votes: ClassVotes, rng: np.random.Generator, kind: str) -> SelectionLimits:
    k = votes.n_classifiers
    limits: dict[str, Any] = {"min_size": int(rng.integers(0, 3)), "max_size": int(rng.integers(2, k + 1))}
    if kind == "cost":
        limits |= {"member_costs": rng.integers(0, 5, k).tolist(), "max_cost": 6}
    if kind == "diversity":
        limits["diversity"] = class_diversity_limits("average", votes)
    return selection_limits(k, **limits)


def plain(votes: ClassVotes) -> tuple[list[list[int]], list[int], int]:
    return (
        np.repeat(votes.codes, votes.counts, axis=0).tolist(),
        np.repeat(votes.labels, votes.counts).tolist(),
        votes.n_classes,
    )


@pytest.mark.parametrize("kind", ["size", "cost", "diversity"])
@pytest.mark.parametrize("seed", range(3))
def test_slopes_of_several_classes_equal_brute_force(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = made_votes(int(rng.integers(5, 14)), int(rng.integers(3, 7)), 3 + seed, seed, skill=0.4)
    objective, slope = ["accuracy", "balanced-accuracy"][seed % 2], [2.0, 8.0, 30.0][seed]
    limits = made_limits(votes, rng, kind)
    masks = [np.array(mask) for mask in itertools.product([False, True], repeat=votes.n_classifiers)]
    allowed = [mask for mask in masks if limits.satisfied_by(mask)]

    result, _ = prune_for(votes, f"{objective}+slope-{slope:g}", limits)

    if not allowed:
        assert result.status is Status.INFEASIBLE
        return
    weights, utility = class_weights(objective, votes), MarginUtility("sigmoid", slope, leads=True)
    unit = utility_scale(votes, weights) * int(weights.row_gains(votes).sum())
    best = max(class_utility_total(votes, weights, utility, mask) for mask in allowed)
    assert result.status is Status.OPTIMAL
    assert limits.satisfied_by(result.mask)
    assert result.value == result.bound == best / unit
    assert result.value == pytest.approx(
        max(worth(votes, objective, slope, mask) for mask in allowed), abs=1e-7
    )
    verdict = check_class_certificate(result.certificate, *plain(votes))
    assert verdict.valid, verdict.failures
    assert result.certified_bound >= result.value


def test_solvers_prove_the_same_slopes_of_several_classes() -> None:
    votes = made_votes(10, 4, 3, 1, skill=0.4)
    ours, _ = prune_for(votes, "accuracy+slope-4", selection_limits(4))
    theirs, _ = prune_for(votes, "accuracy+slope-4", selection_limits(4), solver="cpsat")

    assert theirs.status is Status.OPTIMAL
    assert theirs.value == pytest.approx(ours.value, abs=1e-8)
    assert theirs.certificate is None
    assert theirs.proved_by == "CP-SAT"


def _changed(made: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    other = copy.deepcopy(made)
    place = other
    for step in path[:-1]:
        place = place[step]
    old = place[path[-1]]
    place[path[-1]] = value(old) if callable(value) else value
    return other


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(("value",), lambda n: n + 1, id="value"),
        pytest.param(("bound",), lambda n: n - 1, id="a lower bound"),
        pytest.param(("bound",), lambda n: n + 1, id="a higher bound"),
        pytest.param(("data",), lambda text: text[::-1], id="hash"),
        pytest.param(("utility", "slope"), 9.0, id="slope"),
        pytest.param(("utility", "scale"), lambda n: n // 2, id="scale"),
        pytest.param(("members",), lambda ks: ks[1:], id="members"),
        pytest.param(("lines",), lambda lines: lines[1:], id="a size left out"),
        pytest.param(("lines", 0, "tilts"), lambda tilts: tilts[1:], id="too few tilts"),
        pytest.param(("lines", 0, "tilts", 0), -1, id="a negative tilt"),
        pytest.param(("lines", 0, "tilts", 0), 0.5, id="a tilt with a fraction"),
        pytest.param(("lines", 0, "size"), 99, id="a size beyond the pool"),
        pytest.param(("forms", 0, 0), 10_000, id="a row that is not there"),
        pytest.param(("forms", 0, 1), 77, id="a rival that is not there"),
        pytest.param(("gains", 0), lambda n: n + 1, id="gains"),
        pytest.param(("limits", "max_size"), 6, id="limits beyond the lines"),
    ],
)
def test_a_changed_certificate_of_a_slope_is_refused(path: tuple[Any, ...], value: Any) -> None:
    votes = made_votes(12, 6, 3, 0, skill=0.4)
    result, _ = prune_for(votes, "accuracy+slope-8", selection_limits(6, max_size=5))
    made = result.certificate

    assert check_class_certificate(made, *plain(votes)).valid
    assert not check_class_certificate(_changed(made, path, value), *plain(votes)).valid


def test_a_rival_of_its_own_class_proves_nothing() -> None:
    votes = made_votes(12, 6, 3, 0, skill=0.4)
    made = prune_for(votes, "accuracy+slope-8", selection_limits(6))[0].certificate
    row = made["forms"][0][0]

    verdict = check_class_certificate(_changed(made, ("forms", 0, 1), int(votes.labels[row])), *plain(votes))

    assert "its own class" in verdict.failures[-1]


def test_margins_of_several_classes_decide_among_equals() -> None:
    votes = made_votes(40, 8, 3, 2, skill=0.5)
    weights, utility = class_weights("accuracy", votes), MarginUtility("concave", 4.0)
    alone, _ = prune_for(votes, "accuracy", selection_limits(8))
    result, _ = prune_for(votes, "accuracy+margin", selection_limits(8))

    assert result.objective.name == "accuracy+margin"
    assert result.value == result.bound == alone.value
    assert result.status is Status.OPTIMAL
    assert check_class_certificate(result.certificate, *plain(votes)).valid
    masks = [np.array(mask) for mask in itertools.product([False, True], repeat=8) if any(mask)]
    equals = [mask for mask in masks if weights.value(weights.total(votes, mask)) == alone.value]
    best = max(class_utility_total(votes, weights, utility, mask) for mask in equals)
    assert class_utility_total(votes, weights, utility, result.mask) == best
    assert best > class_utility_total(votes, weights, utility, alone.mask) or len(equals) == 1


def test_auto_chooses_for_several_classes() -> None:
    votes = made_votes(60, 6, 3, 3, skill=0.5)
    result, choice = prune_for(votes, "balanced-accuracy+auto", selection_limits(6))

    assert choice is not None
    assert {one.setting.second for one in choice.tried} == {
        "",
        "+margin",
        "+slope-4",
        "+slope-8",
        "+slope-16",
    }
    assert result.objective.name == f"balanced-accuracy{choice.setting.second}"
    assert result.status is Status.OPTIMAL
    assert check_class_certificate(result.certificate, *plain(votes)).valid
