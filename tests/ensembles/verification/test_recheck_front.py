"""Fronts of committees that are as they claim, and fronts that somebody has changed."""

import dataclasses
import itertools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist import FrontPruner
from shortlist.ensembles.committees.chosen import Chosen
from shortlist.ensembles.verification.recheck_model import recheck_committees
from shortlist.errors import BadInputError
from shortlist.methods.front_check import FrontCheck
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind

pytestmark = pytest.mark.filterwarnings("ignore:.*cost.* rounded to 9 decimals")
"""One price is no decimal."""

N_FORGED = int(os.environ.get("SHORTLIST_FORGED", "60"))
"""Changed fronts that are checked; 500 with SHORTLIST_FORGED=500."""

PRICES = [0.1, 0.25, 1.0, 2.5, 2 / 3, 0.3]
N_COMMITTEES = 2 ** len(PRICES) - 1


@dataclasses.dataclass(frozen=True, eq=False)
class Saved:
    """A front, the model that was written with it, and their table."""

    chosen: Chosen
    front: Front
    X: NDArray[np.float64]
    y: NDArray[Any]

    def check(self, front: Front | None = None, **how: Any) -> FrontCheck:
        return recheck_committees(self.chosen, front or self.front, self.X, self.y, **how)


def _saved(seed: int, objectives: str, n_classes: int = 2) -> Saved:
    """Return what was saved of the first seed that has a front of three points or more."""
    return next(
        saved
        for own in itertools.count(seed)
        if len((saved := _pruned(own, objectives, n_classes)).front) > 2
    )


def _pruned(seed: int, objectives: str, n_classes: int) -> Saved:
    X, y = make_classification(
        60, 5, n_informative=4, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.3,
        random_state=seed,
    )  # fmt: skip
    labels = np.array(["a", "b", "c"])[y]
    pool = [
        DecisionTreeClassifier(max_depth=n_classes - 1, max_features=1, random_state=seed + k).fit(X, labels)
        for k in range(len(PRICES))
    ]
    priced = "cost" in objectives
    pruner = FrontPruner(pool, objectives=objectives, member_costs=PRICES if priced else None).fit(X, labels)
    return Saved(pruner.chosen_, pruner.front_, X, labels)


VOTES = {
    "two classes": ("max accuracy, min size", 2),
    "recall and cost": ("max recall, min cost, max specificity", 2),
    "balanced": ("min cost, max balanced-accuracy, min size", 2),
    "several classes": ("max accuracy, min cost", 3),
    "one of several": ("max recall:b, max balanced-accuracy, min size", 3),
}
SLOW = {
    "log loss": ("min log-loss, min size", 2),
    "means": ("min log-loss, min brier, min cost", 3),
}


@pytest.mark.parametrize(("objectives", "n_classes"), VOTES.values(), ids=VOTES.keys())
def test_fronts_as_they_were_found_stand_the_check(objectives: str, n_classes: int) -> None:
    saved = _saved(3, objectives, n_classes)
    tried = saved.check()
    assert (tried.status, tried.failures, tried.n_tried) == ("rechecked", (), N_COMMITTEES)
    asked = saved.check(most=0)
    assert (asked.status, asked.failures, asked.n_tried) == ("counted", (), 0)
    assert [str(N_COMMITTEES) in sentence for one in (tried, asked) for sentence in one.sentences()] == [
        True
    ] * 2


@pytest.mark.parametrize(("objectives", "n_classes"), SLOW.values(), ids=SLOW.keys())
def test_fronts_of_means_are_counted_where_there_are_few_committees(objectives: str, n_classes: int) -> None:
    saved = _saved(4, objectives, n_classes)
    tried = saved.check()
    assert (tried.status, tried.failures, tried.n_tried) == ("rechecked", (), N_COMMITTEES)
    lacking = saved.check(_without(saved.front, 0))
    assert "which no point dominates" in lacking.failures[0]
    asked = saved.check(most=0)
    assert (asked.status, asked.failures) == ("counted", ())
    assert "63 committees, too many to count them all" in asked.sentences()[0]


def _with(front: Front, rows: list[int]) -> Front:
    """Return a front of some of the points, which does not say up to which size all was looked at."""
    kept = {name: front.extras[name] for name in ("thresholds", "proved", "calls", "price_paid")}
    more = {name: None if told is None else [told[i] for i in rows] for name, told in kept.items()}
    return dataclasses.replace(
        front,
        values=front.values[rows],
        decisions=front.decisions[rows],
        extras={**front.extras, **more, "final_to": {}},
    )


def _without(front: Front, number: int) -> Front:
    return _with(front, [i for i in range(len(front)) if i != number])


def _changed(front: Front, number: int, rng: np.random.Generator) -> Front:
    """Return the front with one value of a point off by one unit."""
    values = front.values.copy()
    objective = int(rng.integers(values.shape[1]))
    scale = front.objectives[objective].scale or 1
    values[number, objective] = (round(values[number, objective] * scale) + rng.choice([-1, 1])) / scale
    return dataclasses.replace(front, values=values)


def _other_members(front: Front, number: int, rng: np.random.Generator) -> Front:
    """Return the front with one member more or less in a point: size or cost differ."""
    decisions = front.decisions.copy()
    decisions[number, rng.integers(decisions.shape[1])] ^= 1
    return dataclasses.replace(front, decisions=decisions)


def _with_dominated(saved: Saved, number: int) -> Front:
    """Return the front with a point that is its committee with everybody else, as the search counts it."""
    front = saved.front
    forged = _with(front, [*range(len(front)), number])
    forged = dataclasses.replace(forged, extras={**forged.extras, "calls": None})
    decisions, values = forged.decisions.copy(), forged.values.copy()
    decisions[-1] = 1
    alone = saved.check(dataclasses.replace(forged, decisions=decisions)).failures
    assert any(sentence.startswith(f"point {len(front)} has another ") for sentence in alone) or (
        front.decisions[number].all()
    )
    place = front.names.index("size") if "size" in front.names else front.names.index("cost")
    values[-1, place] = len(PRICES) if "size" in front.names else round(sum(PRICES), 9)
    return dataclasses.replace(forged, decisions=decisions, values=values)


def test_every_changed_front_is_found_out() -> None:
    rng = np.random.default_rng(6)
    n_forged = seed = 0
    while n_forged < N_FORGED // 2:
        saved = _saved(seed := seed + 1, *list(VOTES.values())[seed % len(VOTES)])
        number = int(rng.integers(len(saved.front)))
        for forged in (
            _without(saved.front, number),
            _changed(saved.front, number, rng),
            _other_members(saved.front, number, rng),
            _with(saved.front, [*range(len(saved.front)), number]),
            _with_dominated(saved, number),
        ):
            found = saved.check(forged)
            assert found.status == "invalid", forged.to_frame(decisions=True)
            assert found.failures
            of_many = saved.check(forged, most=0)  # a point that is missing alone is found by counting all
            assert of_many.status == ("counted" if len(forged) < len(saved.front) else "invalid")
            n_forged += 1


def test_a_committee_that_the_front_lacks_is_named() -> None:
    saved = _saved(3, "max accuracy, min size")
    failures = saved.check(_without(saved.front, 0)).failures
    assert failures[0].startswith("the committee of ")
    assert failures[0].endswith("which no point dominates")


def _proved(kind: ProofKind, **more: Any) -> Callable[[Front], Front]:
    return lambda front: dataclasses.replace(front, proof=Proof(kind, **more))


def test_other_claims_are_counted_as_what_they_say() -> None:
    saved = _saved(3, "max accuracy, min size")
    front = saved.front
    some = _without(front, 0)
    assert saved.check(_proved(ProofKind.NONDOMINATED)(some)).status == "rechecked"
    gap = float(front.values[0, 0] - front.values[1, 0])
    near = _proved(ProofKind.APPROXIMATE, missing=(gap, 0.0))(some)
    assert saved.check(near).status == "rechecked"
    false = _proved(ProofKind.APPROXIMATE, missing=(gap / 2, 0.0))(some)
    assert saved.check(false).status == "invalid"
    nothing = saved.check(_proved(ProofKind.APPROXIMATE)(some))
    assert (nothing.status, len(nothing.sentences())) == ("counted", 1)


def test_a_dominated_point_that_is_called_nondominated_is_found_with_what_dominates_it() -> None:
    saved = _saved(3, "max accuracy, min size")
    alone = _with(_with_dominated(saved, 0), [len(saved.front)])
    counted = saved.check(alone).failures[0]
    if "has another accuracy" in counted:  # everybody is right on other rows than the point's committee
        accuracy = float(np.mean(_voted(saved) == saved.y))
        alone = dataclasses.replace(alone, values=np.array([[accuracy, len(PRICES)]]))
    claimed = _proved(ProofKind.NONDOMINATED)(alone)
    assert "which dominates point 0" in saved.check(claimed).failures[0]


def _voted(saved: Saved) -> NDArray[Any]:
    record = saved.chosen.record
    assert record.packed_votes is not None
    votes = np.unpackbits(record.packed_votes, axis=1, count=len(PRICES)).sum(axis=1)
    return np.where(votes > saved.front.extras["thresholds"][0], "b", "a")


def test_another_table_pool_or_front_is_told() -> None:
    saved = _saved(3, "max accuracy, min cost")
    other = _saved(50, "max accuracy, min cost")
    failures = recheck_committees(saved.chosen, saved.front, other.X, other.y).failures
    assert "not the rows that the model was made from" in failures[0]
    strange = dataclasses.replace(saved.front, candidates=tuple("abcdef"))
    with pytest.raises(BadInputError, match="must be of this model's candidates"):
        saved.check(strange)
    bare = dataclasses.replace(saved.front, extras={**saved.front.extras, "prices": {}})
    with pytest.raises(BadInputError, match="must hold what each candidate adds to cost"):
        saved.check(bare)
    short = dataclasses.replace(saved.front, extras={**saved.front.extras, "thresholds": [0]})
    assert saved.check(short).failures == ("the front does not have a threshold for each committee",)
