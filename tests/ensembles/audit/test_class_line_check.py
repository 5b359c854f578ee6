"""Lines of several classes: what the auditor counts against brute force, and what it refuses."""

import copy
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.ensembles.audit.class_line_check import (
    ClassTable,
    bound_of_class_lines,
    worth_of_class_margins,
)
from shortlist.ensembles.goals.class_weights import class_weights
from shortlist.ensembles.goals.margin_worth import MarginUtility
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.proofs.certificate import Certificate
from shortlist.ensembles.pruning.problems import PluralityProblem
from shortlist.ensembles.pruning.slope_problem import SlopeProblem
from tests.ensembles.class_pools import Pool, as_votes, class_pools
from tests.ensembles.plurality_oracles import made_votes, subsets
from tests.ensembles.slope_oracles import proved

SLOPE = 8.0


def _certified(votes: Any, limits: Any) -> tuple[Certificate, ClassTable]:
    utility = MarginUtility("sigmoid", SLOPE, leads=True)
    problem = SlopeProblem(PluralityProblem(votes, class_weights("accuracy", votes), limits), utility)
    best, grown = proved(problem)
    assert best.mask is not None
    made = json.loads(json.dumps(problem.certificate(grown.cover, best.mask, best.threshold, best.total)))
    rows = zip(votes.labels.tolist(), map(tuple, votes.codes.tolist()), votes.counts.tolist(), strict=True)
    return made, list(rows)


def _share(distance: int, size: int) -> float:
    """The definition: a sigmoid of the margin, whose step from row to row is half a vote in 2 · S."""
    return 1 / (1 + math.exp(-SLOPE * (distance - 0.5) / (2 * size)))


@settings(max_examples=25)
@given(pool=class_pools(max_classifiers=5), least=st.integers(1, 2))
def test_the_worth_is_that_of_the_definition_and_no_selection_exceeds_the_bound(
    pool: Pool, least: int
) -> None:
    votes = as_votes(pool, merged=True)
    n_classifiers, n_classes = pool[1], pool[2]
    least = min(least, n_classifiers)
    made, table = _certified(votes, selection_limits(n_classifiers, min_size=least))
    gains, failures = [1] * n_classes, list[str]()

    bound = bound_of_class_lines(made, table, gains, n_classes, failures)

    assert failures == []
    for members in subsets(pool, least, n_classifiers):
        worth = worth_of_class_margins(made, table, gains, list(members), n_classes)
        assert worth <= bound
        expected = 0.0
        for label, heard, count in table:
            counts = [sum(heard[k] == c for k in members) for c in range(n_classes)]
            lead = min(counts[label] - counts[c] - (c < label) for c in range(n_classes) if c != label)
            expected += count * _share(lead + 1, len(members))
        scale = made["utility"]["scale"]
        assert worth == pytest.approx(scale * expected, abs=int(votes.counts.sum()))


def _made() -> tuple[Certificate, ClassTable]:
    return _certified(made_votes(40, 7, 3, seed=2), selection_limits(7, min_size=2))


def test_smaller_tilts_prove_another_bound_and_a_missing_size_is_noted() -> None:
    made, table = _made()
    failures = list[str]()
    bound = bound_of_class_lines(made, table, [1, 1, 1], 3, failures)
    flat = copy.deepcopy(made)
    for part in flat["lines"]:
        part["tilts"] = [0] * len(part["tilts"])

    assert bound_of_class_lines(flat, table, [1, 1, 1], 3, failures) > bound
    assert failures == []
    last = flat["lines"].pop()["size"]
    flat["lines"] = [part for part in flat["lines"] if part["size"] != last]
    bound_of_class_lines(flat, table, [1, 1, 1], 3, failures)
    assert failures == [f"1 sizes have no lines, the first {last}"]


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        pytest.param(("lines", 0, "tilts", 0), -1, "tilt must be a whole number", id="a tilt below 0"),
        pytest.param(("lines", 0, "tilts", 0), 0.5, "tilt must be a whole number", id="half a tilt"),
        pytest.param(("lines", 0, "tilts"), [0], "lines must have", id="too few tilts"),
        pytest.param(("lines", 0, "size"), 99, "size must be a whole number", id="a size that there is not"),
        pytest.param(("forms", 0, 0), 10**6, "row must be a whole number", id="a row that there is not"),
        pytest.param(("forms", 0, 1), 3, "rival must be a whole number", id="a class that there is not"),
    ],
)
def test_numbers_that_cannot_be_are_refused(path: tuple[Any, ...], value: Any, match: str) -> None:
    made, table = _made()
    place: Any = made
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    with pytest.raises(ValueError, match=match):
        bound_of_class_lines(made, table, [1, 1, 1], 3, [])


def test_a_row_is_no_rival_of_its_own_class() -> None:
    made, table = _made()
    row = made["forms"][0][0]
    made["forms"][0][1] = table[row][0]

    with pytest.raises(ValueError, match=f"the rival of row {row} is its own class"):
        bound_of_class_lines(made, table, [1, 1, 1], 3, [])
