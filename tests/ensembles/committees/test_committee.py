"""A committee is the one thing that answers: what it takes to load one, and to add a ballot."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shortlist.arrays import Labels
from shortlist.ensembles import ExactPruner
from shortlist.ensembles.committees.ballots import Ballot
from shortlist.ensembles.committees.committee import Committee, MemberAnswers
from shortlist.ensembles.committees.facts import exit_report
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
        *(
            DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[:200], y[:200])
            for depth in (1, 2, 3)
        ),
        *(GaussianNB(var_smoothing=smooth).fit(X[:200], y[:200]) for smooth in (1e-9, 1e-3)),
    ]
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
    assert told["lines"] < 6_000


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
