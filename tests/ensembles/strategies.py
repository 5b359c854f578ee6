"""Small pools with ties and duplicates, as votes and as rows to be right on, and large ones that are hard to prove."""

import json
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import (
    CLASS_OBJECTIVES,
    PRUNING_OBJECTIVES,
    ClassWeights,
    Weights,
    class_weights,
    named_weights,
)
from shortlist.ensembles.proofs.certificate import CutBound
from shortlist.ensembles.proofs.conflicts import find_conflicts
from shortlist.ensembles.proofs.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.proofs.row_forms import RightRows, class_rows, normalise
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, merge_rows
from shortlist.runs.budget import Budget
from tests.ensembles import oracles
from tests.ensembles.oracles import Rows
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools


@st.composite
def labelled_votes(draw: st.DrawFn, max_classifiers: int = 6, max_rows: int = 10) -> Rows:
    """Rows of both classes, many of them equal."""
    n_classifiers = draw(st.integers(1, max_classifiers))
    row = st.tuples(*[st.integers(0, 1)] * n_classifiers)
    rows = draw(st.lists(st.tuples(row, st.integers(0, 1)), min_size=0, max_size=max_rows))
    return [*rows, (draw(row), 0), (draw(row), 1)]


weight_sets = st.tuples(*[st.integers(-3, 3)] * 4)
"""Weights of both signs in the order tp, fn, tn, fp."""


def explicit_weights(numbers: tuple[int, int, int, int], votes: Votes) -> Weights:
    return named_weights(dict(zip(("tp", "fn", "tn", "fp"), numbers, strict=True)), votes)


def breast_cancer_votes() -> Votes:
    """Votes whose best value with diversity is known: 153 of 154 rows."""
    golden = json.loads((Path(__file__).parents[1] / "golden" / "breast_cancer_votes.json").read_text())
    return Votes(
        np.array([[int(c) for c in row] for row in golden["votes"]], dtype=np.uint8),
        np.array(golden["labels"], dtype=np.uint8),
        np.array(golden["counts"], dtype=np.int64),
    )


def hard_votes(n_rows: int = 160, n_classifiers: int = 40, seed: int = 1) -> Votes:
    """Weak classifiers whose best vote takes long to prove."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n_rows)
    votes = rng.random((n_rows, n_classifiers)) < np.where(labels == 1, 0.6, 0.4)[:, None]
    return merge_rows(votes.astype(np.uint8), labels)


@st.composite
def problems(draw: st.DrawFn, max_classifiers: int = 6) -> tuple[Votes, Weights, RightRows]:
    """Small pools with every kind of weight, size, budget and diversity limit."""
    rows = draw(labelled_votes(max_classifiers=max_classifiers, max_rows=14))
    votes = merge_rows(*oracles.as_arrays(rows))
    k = votes.n_classifiers
    named = st.sampled_from(sorted(PRUNING_OBJECTIVES))
    explicit = weight_sets.map(lambda w: dict(zip(("tp", "fn", "tn", "fp"), w, strict=True)))
    weights = named_weights(draw(named | explicit), votes)
    least = draw(st.integers(0, k))
    most = draw(st.integers(least, k))
    dear = draw(st.booleans())
    diverse = draw(
        st.sampled_from(["none", "average", "each", "disagreement-each", "double-fault-average", "q-each"])
    )
    limits = selection_limits(
        k, min_size=least, max_size=most,
        member_costs=draw(st.lists(st.integers(0, 4), min_size=k, max_size=k)) if dear else None,
        max_cost=draw(st.integers(0, 3 * k)) if dear else None,
        diversity=diversity_limits(diverse, votes),
    )  # fmt: skip
    return votes, weights, normalise(votes, weights, limits)


@st.composite
def class_questions(
    draw: st.DrawFn, max_classifiers: int = 5
) -> tuple[Pool, ClassVotes, ClassWeights, SelectionLimits]:
    """Small pools for several classes with every kind of weight, size, budget and diversity limit."""
    pool = draw(class_pools(max_classifiers=max_classifiers))
    votes, k = as_votes(pool, merged=True), pool[1]
    worths = st.lists(st.integers(0, 12), min_size=pool[2], max_size=pool[2]).filter(any)
    explicit = worths.map(lambda each: {c: worth / 4 for c, worth in enumerate(each)})
    weights = class_weights(draw(st.sampled_from(sorted(CLASS_OBJECTIVES)) | explicit), votes)
    dear = draw(st.booleans())
    diverse = draw(st.sampled_from(["none", "average", "each", "disagreement-each", "double-fault-average"]))
    limits = selection_limits(
        k, min_size=draw(st.integers(0, 3)), max_size=draw(st.integers(0, k)),
        member_costs=draw(st.lists(st.integers(0, 4), min_size=k, max_size=k)) if dear else None,
        max_cost=draw(st.integers(0, 3 * k)) if dear else None,
        diversity=diversity_limits(diverse, votes),
    )  # fmt: skip
    return pool, votes, weights, limits


@st.composite
def class_problems(draw: st.DrawFn, max_classifiers: int = 6) -> RightRows:
    """The same for several classes, without diversity."""
    votes = as_votes(draw(class_pools(max_classifiers=max_classifiers)), merged=True)
    k = votes.n_classifiers
    least = draw(st.integers(0, k))
    dear = draw(st.booleans())
    limits = selection_limits(
        k, min_size=least, max_size=draw(st.integers(least, k)),
        member_costs=draw(st.lists(st.integers(0, 4), min_size=k, max_size=k)) if dear else None,
        max_cost=draw(st.integers(0, 3 * k)) if dear else None,
    )  # fmt: skip
    return class_rows(votes, class_weights(draw(st.sampled_from(sorted(CLASS_OBJECTIVES))), votes), limits)


two_classes = problems().map(lambda problem: problem[2])
right_rows = two_classes | class_problems()
"""Rows of two or of several classes."""


def tightened(rows: RightRows, rounds: int = 4) -> CutBound:
    conflicts = find_conflicts(rows, Budget())
    return tighten_by_cuts(rows, conflicts, min_cut_bound(rows, conflicts), Budget(), max_rounds=rounds)


def noisy_rows(n_rows: int = 150, n_classifiers: int = 15) -> RightRows:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, n_rows)
    matrix = (rng.random((n_rows, n_classifiers)) < np.where(labels == 1, 0.6, 0.4)[:, None]).astype(np.uint8)
    votes = merge_rows(matrix, labels)
    return normalise(votes, named_weights("accuracy", votes), selection_limits(n_classifiers))


def gain_of(rows: RightRows, mask: NDArray[np.bool_], threshold: int = 0) -> int:
    """Return the gain of a selection and threshold, in units of the rows' step."""
    return int(rows.gains[rows.right(mask, threshold)].sum())
