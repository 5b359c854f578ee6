"""A committee is the one thing that answers: loading one, adding a ballot, the order in which it is asked."""

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shortlist.arrays import Labels
from shortlist.ensembles import ExactPruner
from shortlist.ensembles.committees.asking import Asking, ask_in_order, ask_record
from shortlist.ensembles.committees.ballots import Ballot, Plurality
from shortlist.ensembles.committees.committee import Committee, MemberAnswers
from shortlist.ensembles.committees.facts import exit_report
from shortlist.ensembles.committees.orders import cheapest_order
from shortlist.ensembles.pools.members import as_pool
from shortlist.saved_models import SavedModel, save_model

PREDICT = """
import json, sys
import numpy as np
from shortlist.saved_models import load_model
rows = np.load("rows.npy")
labels = load_model("model.joblib").estimator.predict(rows).tolist()
ours = [module for name, module in sys.modules.items() if name.startswith("shortlist")]
files = [module.__file__ for module in ours if module.__file__]
lines = sum(len(open(file, encoding="utf-8").readlines()) for file in files)
print(json.dumps({"labels": labels, "modules": len(ours), "lines": lines}))
"""


@pytest.fixture(scope="module")
def fitted() -> ExactPruner:
    X, y = load_breast_cancer(return_X_y=True)
    members = [
        *(DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[:200], y[:200]) for depth in (1, 2, 3)),
        *(GaussianNB(var_smoothing=smooth).fit(X[:200], y[:200]) for smooth in (1e-9, 1e-3)),
    ]  # fmt: skip
    pruner = ExactPruner(members, objective="accuracy", min_size=5, node_limit=20, random_state=0)
    return pruner.fit(X[200:400], y[200:400])


def test_a_saved_committee_answers_without_what_chose_it(fitted: ExactPruner, tmp_path: Path) -> None:
    X, _ = load_breast_cancer(return_X_y=True)
    save_model(SavedModel(fitted, tuple(map(str, range(30))), "y"), tmp_path / "model.joblib")
    np.save(tmp_path / "rows.npy", X[400:450])
    run = subprocess.run(
        [sys.executable, "-c", PREDICT], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    told = json.loads(run.stdout)
    assert told["labels"] == fitted.predict(X[400:450]).tolist()
    assert told["modules"] < 40
    assert told["lines"] < 6_400  # words as categories and rows without an answer have come in


class OfAll(Ballot):
    """A toy: the second class wins where every member votes for it."""

    name = "all"

    def __init__(self, n_members: int) -> None:
        self.start = np.array([n_members - 1, 0])
        self.most = np.array([0, 1])

    def decided(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        return np.asarray((answers == 1).all(axis=1), dtype=np.int64)

    def plain(self) -> dict[str, Any]:
        return {"rule": self.name}

    def in_words(self, classes: Labels) -> str:
        return f"{classes[1]} where all say so"


def test_a_new_ballot_is_one_class(fitted: ExactPruner) -> None:
    X, _ = load_breast_cancer(return_X_y=True)
    members, rows = as_pool(fitted.committee_.members), X[400:]
    ballot = OfAll(len(members))
    record = MemberAnswers(codes=ballot.codes_of(members, X[200:400]))
    committee = Committee(members, np.ones(len(members), dtype=np.int64), ballot, record=record)

    all_of_them = (ballot.codes_of(members, rows) == 1).all(axis=1).astype(int)
    assert committee.predict(rows).tolist() == all_of_them.tolist()
    early, report = committee.predict_early(rows), exit_report(committee)
    assert early.labels.tolist() == all_of_them.tolist()
    assert early.calls[all_of_them == 1].tolist() == [len(members)] * all_of_them.sum()
    assert early.calls[all_of_them == 0].max() <= len(members)
    assert report is not None
    assert report.mean_calls < len(members)
    assert committee.predict_proba(rows).shape == (len(rows), 2)


def test_a_committee_of_other_fits_answers_as_those_do(fitted: ExactPruner) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    stump = DecisionTreeClassifier(max_depth=1, random_state=1).fit(X[:100], y[:100])
    members = as_pool([stump] * len(fitted.committee_.weights))
    other = fitted.committee_.with_members(members)
    assert other.predict(X[400:]).tolist() == stump.predict(X[400:]).tolist()
    assert other.ballot is fitted.committee_.ballot


def calls_of(added: NDArray[np.int64], order: list[int], copies: list[int] | None = None) -> list[int]:
    """Number of members that each row asks, in an order, until votes settle it."""
    counts = np.ones(added.shape[1], dtype=np.int64) if copies is None else np.array(copies)
    asking = Asking(Plurality(added.shape[2]), np.array(order), counts)
    return [int(n) for n in ask_in_order(asking, len(added), ask_record(added)).calls]


def spent(codes: list[list[int]], order: list[int], costs: list[int], n_classes: int) -> int:
    """Price of an order over all rows, row after row."""
    calls = calls_of(Plurality(n_classes).added(np.array(codes, dtype=np.uint8)), order)
    return sum(sum(costs[k] for k in order[:n]) for n in calls)


@given(
    codes=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=1, max_size=8)
    ),
    costs=st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
def test_of_few_members_the_order_is_the_best_of_all(codes: list[list[int]], costs: list[int]) -> None:
    ballot, n = Plurality(3), len(codes[0])
    found = cheapest_order(
        ballot, ballot.added(np.array(codes, dtype=np.uint8)), np.array(costs[:n], dtype=float)
    )
    every = [spent(codes, list(order), costs, 3) for order in itertools.permutations(range(n))]
    assert found.is_best
    assert sorted(found.members.tolist()) == list(range(n))
    assert spent(codes, found.members.tolist(), costs, 3) == min(every)


@pytest.mark.parametrize("few_members", [12, 2])
@pytest.mark.parametrize("seed", range(3))
def test_with_copies_an_order_costs_what_asking_copy_after_copy_does(seed: int, few_members: int) -> None:
    rng = np.random.default_rng(seed)
    codes, costs = rng.integers(0, 2, (30, 4)).astype(np.uint8), rng.integers(1, 9, 4)
    copies, ballot = np.array([1, 4, 2, 1]), Plurality(2)
    added = ballot.added(codes) * copies[:, None]
    found = cheapest_order(ballot, added, costs.astype(float), copies=copies, few_members=few_members)

    spent_by = {}
    for order in itertools.permutations(range(4)):
        places = np.repeat(order, copies[list(order)])
        one_by_one = calls_of(ballot.added(codes[:, places]), list(range(len(places))))
        asked = [list(dict.fromkeys(places[:n].tolist())) for n in one_by_one]
        assert calls_of(added, list(order), copies.tolist()) == [len(names) for names in asked]
        spent_by[order] = sum(int(costs[names].sum()) for names in asked)
    assert found.is_best == (few_members == 12)
    least, plain = min(spent_by.values()), spent_by[0, 1, 2, 3]
    assert spent_by[tuple(found.members.tolist())] <= (least if found.is_best else max(least, plain))


@pytest.mark.parametrize("seed", range(3))
def test_of_more_members_the_order_is_near_the_best_and_never_worse_than_greed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 200)
    skill = rng.uniform(0.5, 0.95, 9)
    codes = np.where(rng.random((200, 9)) < skill, truth[:, None], 1 - truth[:, None]).astype(np.uint8)
    costs = rng.integers(1, 9, 9)
    ballot = Plurality(2)
    added = ballot.added(codes)
    best = cheapest_order(ballot, added, costs.astype(float))
    near = cheapest_order(ballot, added, costs.astype(float), few_members=3)

    least, found, plain = (
        spent(codes.tolist(), order, costs.tolist(), 2)
        for order in (best.members.tolist(), near.members.tolist(), list(range(9)))
    )
    assert not near.is_best
    assert sorted(near.members.tolist()) == list(range(9))
    assert least <= found <= 1.1 * least
    assert found < plain
