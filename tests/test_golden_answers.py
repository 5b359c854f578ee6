"""Answers that stay as they are: seeds, limits in nodes, and nothing that depends on a clock.

Rewritten by ``pytest tests/test_golden_answers.py --bless``; the difference is then read before it is committed.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.pruning.pruning import prune_exactly, prune_for
from shortlist.ensembles.votes.hard_votes import Votes, class_votes, from_binary, merge_class_rows, merge_rows
from shortlist.runs.budget import Budget
from shortlist_papers.rules.orderings import order_classifiers
from tests.cli.running import shortlist

GOLDEN = Path(__file__).parent / "golden" / "answers.json"
PHONE = Path(__file__).parent / "products" / "models" / "phone.uvl"

VOLATILE = {
    "seconds",
    "version",
    "versions",
    "history",
    "fingerprint",
    "options",
    "solver_versions",
    "attributes",
    "settings",
}
"""Fields of a command's JSON that differ from run to run or from release to release."""


def _votes(n_rows: int, n_classifiers: int) -> Votes:
    rng = np.random.default_rng(11)
    labels = rng.integers(0, 2, n_rows)
    votes = rng.random((n_rows, n_classifiers)) < np.where(labels == 1, 0.58, 0.42)[:, None]
    return merge_rows(votes.astype(np.uint8), labels)


def _pruned(result: Any) -> dict[str, Any]:
    certificate = json.dumps(result.certificate, sort_keys=True)
    return {
        "members": np.flatnonzero(result.mask).tolist(),
        "threshold": getattr(result, "threshold", None),
        "value": result.value,
        "bound": result.bound,
        "certified_bound": result.certified_bound,
        "status": str(result.status),
        "certificate_sha256": hashlib.sha256(certificate.encode()).hexdigest(),
    }


def _two_classes() -> Any:
    votes = _votes(120, 40)
    return _pruned(
        prune_exactly(votes, named_weights("accuracy", votes), selection_limits(40), Budget(nodes=5))
    )


def _several_classes() -> Any:
    rng = np.random.default_rng(12)
    labels = rng.integers(0, 3, 60)
    codes = np.where(rng.random((60, 18)) < 0.3, labels[:, None], rng.integers(0, 3, (60, 18)))
    votes = merge_class_rows(class_votes(codes, labels, n_classes=3))
    return _pruned(prune_for(votes, "balanced-accuracy", selection_limits(18), Budget(nodes=5)))


def _rules() -> Any:
    votes = from_binary(_votes(120, 20))
    rules = ("uwa", "margin-distance", "kappa", "drep")
    return {rule: order_classifiers(votes, rule).members.tolist() for rule in rules}


def _configured(tmp_path: Path, *options: str) -> Any:
    ran = shortlist(
        "configure",
        PHONE,
        "--objectives",
        "min cost, max selected",
        "--set",
        "default=cost=0",
        *options,
        "--json",
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    return {name: fact for name, fact in json.loads(ran.stdout).items() if name not in VOLATILE}


ANSWERS: dict[str, Callable[[Path], Any]] = {
    "two classes": lambda _: _two_classes(),
    "several classes": lambda _: _several_classes(),
    "rules": lambda _: _rules(),
    "configure, diagram": lambda path: _configured(path, "--method", "diagram"),
    "configure, exact": lambda path: _configured(path, "--method", "exact"),
    "configure, solrep": lambda path: _configured(path, "--method", "solrep", "--set", "points=5"),
}


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_the_answer_is_what_it_was(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    answer = json.loads(json.dumps(ANSWERS[name](tmp_path)))
    known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if request.config.getoption("--bless"):
        GOLDEN.write_text(json.dumps(known | {name: answer}, indent=1, sort_keys=True) + "\n")
        return
    assert answer == known[name]
