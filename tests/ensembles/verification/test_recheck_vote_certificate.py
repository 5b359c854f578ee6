"""Certificates are checked by code that shares nothing with what made them."""

import ast
import copy
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import (
    ClassWeights,
    Weights,
    best_threshold,
    class_weights,
    named_weights,
)
from shortlist.ensembles.proofs.certificate import (
    Certificate,
    CutBound,
    write_certificate,
)
from shortlist.ensembles.proofs.conflicts import find_conflicts
from shortlist.ensembles.proofs.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.proofs.pair_cuts import bound_by_pairs
from shortlist.ensembles.proofs.row_forms import RightRows, class_rows, normalise
from shortlist.ensembles.proofs.subset_walk import count_selections
from shortlist.ensembles.verification import (
    recheck_mean_certificate,
    recheck_selections,
    recheck_vote_certificate,
)
from shortlist.ensembles.verification.recheck_vote_certificate import check_certificate
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, class_votes, merge_class_rows, merge_rows
from shortlist.runs.budget import Budget
from tests.ensembles import bound_oracles
from tests.ensembles.bound_oracles import class_certificate, threshold_certificate
from tests.ensembles.plurality_oracles import Pool
from tests.ensembles.strategies import class_questions, problems
from tests.examples import examples


def _data(seed: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 120)
    matrix = (rng.random((120, 12)) < np.where(labels == 1, 0.6, 0.4)[:, None]).astype(np.uint8)
    return matrix, labels


def _made() -> Certificate:
    matrix, labels = _data()
    votes = merge_rows(matrix, labels)
    weights = named_weights("balanced-accuracy", votes)
    limits = selection_limits(
        12, min_size=2, member_costs=[1.0] * 11 + [99.0], max_cost=11,
        diversity=diversity_limits("average", votes),
    )  # fmt: skip
    rows = normalise(votes, weights, limits)
    conflicts = find_conflicts(rows, Budget())
    bound = tighten_by_cuts(rows, conflicts, min_cut_bound(rows, conflicts), Budget(), max_rounds=5)
    mask = np.arange(12) < 11
    assert limits.satisfied_by(mask)
    threshold = best_threshold(votes, weights, mask)[0]
    return threshold_certificate(votes, weights, rows, bound, mask=mask, threshold=threshold)


def test_what_is_written_is_read_and_valid(tmp_path: Path) -> None:
    made = _made()
    assert any(len(cut["rows"]) > 2 for cut in made["cuts"])

    write_certificate(made, tmp_path / "c.json")
    verdict = check_certificate(json.loads((tmp_path / "c.json").read_text()), *_data())

    assert verdict.failures == ()
    assert verdict.valid
    assert verdict.value == made["value"]
    assert verdict.bound == made["bound"]


def _proofs(rows: RightRows) -> tuple[CutBound | int, CutBound | int, int]:
    """Evidence for a certificate: cuts of every kind, those of pairs, a look at every selection."""
    conflicts = find_conflicts(rows, Budget())
    cuts = tighten_by_cuts(rows, conflicts, min_cut_bound(rows, conflicts), Budget(), max_rounds=2)
    return cuts, bound_by_pairs(rows, Budget()), count_selections(rows)


@examples(40)
@given(problem=problems(max_classifiers=5))
def test_every_certificate_is_valid_for_its_own_rows(problem: tuple[Votes, Weights, RightRows]) -> None:
    votes, weights, rows = problem
    rated = [(best_threshold(votes, weights, mask), mask) for mask in bound_oracles.selections(rows)]
    if not rated:
        return
    (threshold, best), mask = max(rated, key=lambda one: one[0][1])
    matrix, labels = (np.repeat(part, votes.counts, axis=0)[::-1] for part in (votes.votes, votes.labels))
    made, bounds = {}, []
    for proof in _proofs(rows):
        made = json.loads(
            json.dumps(threshold_certificate(votes, weights, rows, proof, mask=mask, threshold=threshold))
        )
        verdict = check_certificate(made, matrix, labels)
        bounds.append(verdict.bound)

        assert verdict.failures == ()
        assert verdict.value == best
        assert verdict.bound is not None
        assert verdict.bound >= best
    assert bounds[-1] == best
    for forged in (made | {"bound": made["bound"] + 1}, made | {"selections": made["selections"] + 1}):
        assert not check_certificate(forged, matrix, labels).valid


@examples(40)
@given(question=class_questions())
def test_every_certificate_of_several_classes_is_valid_for_its_own_rows(
    question: tuple[Pool, ClassVotes, ClassWeights, SelectionLimits],
) -> None:
    (samples, _, n_classes), votes, weights, limits = question
    rows = class_rows(votes, weights, limits)
    allowed = list(bound_oracles.selections(rows))
    if not allowed:
        return
    mask = max(allowed, key=lambda one: weights.total(votes, one))
    codes, labels, bounds = [list(one) for one, _ in samples], [label for _, label in samples], []
    for proof in _proofs(rows):
        made = json.loads(json.dumps(class_certificate(votes, weights, rows, proof, mask)))
        verdict = check_certificate(made, codes, labels, n_classes)
        bounds.append(verdict.bound)

        assert verdict.failures == ()
        assert verdict.bound is not None
        assert verdict.value == weights.total(votes, mask) <= verdict.bound
    assert bounds[-1] == weights.total(votes, mask)


def _with_cut(certificate: Certificate, **changes: Any) -> None:
    certificate["cuts"][0] |= changes


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        pytest.param(lambda c: c.update(value=c["value"] + 1), "is worth", id="value"),
        pytest.param(lambda c: c.update(bound=c["bound"] - 1), "prove the bound", id="lower bound"),
        pytest.param(lambda c: c.update(bound=c["bound"] + 1), "prove the bound", id="higher bound"),
        pytest.param(lambda c: c.update(data="0" * 64), "the data is not", id="hash"),
        pytest.param(lambda c: c["weights"].update(tp=c["weights"]["tp"] + 1), "is worth", id="weights"),
        pytest.param(lambda c: c.update(threshold=-1), "threshold -1", id="threshold"),
        pytest.param(lambda c: c.update(members=[0]), "break the size limits", id="too few members"),
        pytest.param(lambda c: c.update(members=list(range(12))), "more than the budget", id="too dear"),
        pytest.param(lambda c: c.update(members=[0, 0]), "not readable", id="twice the same member"),
        pytest.param(lambda c: c["limits"].update(mean=10**9), "diversity", id="diversity"),
        pytest.param(lambda c: c.update(denominator=0), "not readable", id="denominator"),
        pytest.param(lambda c: c.pop("cuts"), "not readable", id="no cuts"),
        pytest.param(lambda c: c.update(denominator=math.inf), "not readable", id="endless denominator"),
        pytest.param(lambda c: c["weights"].update(tp=1.5), "not readable", id="a weight that is not whole"),
        pytest.param(
            lambda c: c["limits"].update(max_size=10**9), "not readable", id="more than all classifiers"
        ),
        pytest.param(lambda c: c["limits"]["costs"].pop(), "not readable", id="a cost left out"),
        pytest.param(lambda c: _with_cut(c, weight=True), "not readable", id="a weight that is no number"),
        pytest.param(lambda c: _with_cut(c, rows=[0, 10**9]), "not readable", id="a row that is not there"),
        pytest.param(lambda c: _with_cut(c, weight=-1), "cut 0", id="negative weight"),
        pytest.param(lambda c: _with_cut(c, rows=c["cuts"][0]["rows"][:1]), "cut 0", id="a row left out"),
        pytest.param(lambda c: _with_cut(c, multipliers=[0, 1]), "cut 0", id="multiplier of 0"),
    ],
)
def test_a_tampered_certificate_is_refused(tamper: Callable[[Certificate], Any], says: str) -> None:
    assert_refused(tamper, says, _made(), *_data())


def assert_refused(tamper: Callable[[Certificate], Any], says: str, made: Certificate, *data: Any) -> None:
    """Tamper with a copy of a valid certificate, and see that the check finds it."""
    certificate = copy.deepcopy(made)
    assert check_certificate(certificate, *data).valid
    tamper(certificate)

    verdict = check_certificate(certificate, *data)

    assert not verdict.valid
    assert any(says in failure for failure in verdict.failures), verdict.failures


def test_a_false_cut_is_refused_even_if_the_bound_is_adapted() -> None:
    certificate = _made()
    matrix, labels = _data()
    right = check_certificate(certificate, matrix, labels)
    certificate["cuts"].append({"rows": [1], "multipliers": [1], "weight": certificate["denominator"]})

    verdict = check_certificate(certificate, matrix, labels)

    assert not verdict.valid
    assert verdict.bound == right.bound


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        pytest.param(lambda kept: kept[1:], "prove the bound", id="one less"),
        pytest.param(lambda kept: [*kept, 99], "not readable", id="one that is not there"),
        pytest.param(lambda kept: [*kept, 0.5], "not readable", id="no whole number"),
        pytest.param(lambda _: [], "", id="none: it says nothing, or that the rows cannot both be right"),
    ],
)
def test_other_kept_classifiers_prove_another_bound(
    kept: Callable[[list[int]], list[float]], says: str
) -> None:
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 80)
    matrix = (rng.random((80, 12)) < np.where(labels == 1, 0.7, 0.3)[:, None]).astype(np.uint8)
    votes = merge_rows(matrix, labels)
    weights = named_weights("accuracy", votes)
    rows = normalise(votes, weights, selection_limits(12))
    bound, mask = bound_by_pairs(rows, Budget()), np.arange(12) < 5
    made = threshold_certificate(
        votes, weights, rows, bound, mask=mask, threshold=best_threshold(votes, weights, mask)[0]
    )
    right = check_certificate(made, matrix, labels)
    assert right.valid
    assert any(cut["kept"] for cut in made["cuts"])

    for cut in made["cuts"]:
        cut["kept"] = kept(cut["kept"])
    verdict = check_certificate(made, matrix, labels)

    assert not verdict.valid
    assert any(says in failure for failure in verdict.failures)
    assert verdict.bound is None or right.bound is None or verdict.bound > right.bound


@pytest.mark.parametrize("change", ["vote", "label", "a row less"])
def test_other_data_is_refused(change: str) -> None:
    matrix, labels = _data()
    if change == "vote":
        matrix[0, 0] ^= 1
    elif change == "label":
        labels[0] ^= 1
    else:
        matrix, labels = matrix[1:], labels[1:]

    verdict = check_certificate(_made(), matrix, labels)

    assert "the data is not what the certificate was made for" in verdict.failures


def test_the_checks_import_nothing_of_the_library_but_each_other() -> None:
    room = "shortlist.ensembles.verification"
    cuts, selections = f"{room}.recheck_vote_certificate", f"{room}.recheck_selections"
    for module, allowed in (
        (recheck_vote_certificate, [selections]),
        (recheck_mean_certificate, [selections, cuts]),
        (recheck_selections, []),
    ):
        source = Path(str(module.__file__)).read_text()
        imported = [
            node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        assert imported
        own = [node.module for node in imported if isinstance(node, ast.ImportFrom)]
        assert [name for name in own if name is not None and name.startswith("shortlist")] == allowed
        assert not any("shortlist" in ast.unparse(node) for node in imported if isinstance(node, ast.Import))


def _made_for_classes() -> tuple[Certificate, Any, Any]:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 60)
    codes = np.where(rng.random((60, 8)) < 0.4, labels[:, None], rng.integers(0, 3, (60, 8)))
    votes = merge_class_rows(class_votes(codes, labels, n_classes=3))
    weights = class_weights("accuracy", votes)
    rows = class_rows(votes, weights, selection_limits(8, min_size=2))
    conflicts = find_conflicts(rows, Budget())
    bound = tighten_by_cuts(rows, conflicts, min_cut_bound(rows, conflicts), Budget(), max_rounds=5)
    made = class_certificate(votes, weights, rows, bound, np.arange(8) < 5)
    return json.loads(json.dumps(made)), codes, labels


def _first(made: Certificate, field: str, place: int, change: int) -> None:
    made["cuts"][0][field][place] += change


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        pytest.param(lambda made: made.update(value=made["value"] + 1), "worth", id="value"),
        pytest.param(lambda made: made.update(bound=made["bound"] - 1), "prove the bound", id="bound"),
        pytest.param(lambda made: made.update(members=[0]), "size limits", id="too few members"),
        pytest.param(lambda made: made.update(members=[0, 0, 1]), "not readable", id="a member twice"),
        pytest.param(lambda made: made.update(gains=[2, 1, 1]), "worth", id="other gains"),
        pytest.param(lambda made: made.update(data="0" * 64), "not what the certificate", id="other data"),
        pytest.param(lambda made: made["limits"].update(max_size=9), "not readable", id="more than there are"),
        pytest.param(lambda made: made["cuts"][0].update(multipliers=[0] * 2), "not", id="multipliers of 0"),
        pytest.param(lambda made: made["cuts"][0].update(weight=-1), "not readable", id="a negative weight"),
        pytest.param(lambda made: made["cuts"][0].update(weight=1.0), "not readable", id="a weight that is no integer"),
        pytest.param(lambda made: made["cuts"][0].update(rows=[0, 10**6]), "not readable", id="a row that is not there"),
        pytest.param(lambda made: made.update(denominator=0), "not readable", id="denominator"),
        pytest.param(lambda made: made.pop("cuts"), "not readable", id="no cuts"),
    ],
)  # fmt: skip
def test_a_changed_certificate_of_several_classes_is_caught(
    forge: Callable[[Certificate], object], sentence: str
) -> None:
    made, codes, labels = _made_for_classes()
    assert made["cuts"]
    assert_refused(forge, sentence, made, codes.tolist(), labels.tolist(), 3)


def test_too_many_selections_to_look_at_are_no_proof() -> None:
    votes = merge_rows(np.eye(20, dtype=np.uint8), np.arange(20) % 2)
    weights = named_weights("accuracy", votes)
    rows = normalise(votes, weights, selection_limits(20))
    made = threshold_certificate(
        votes, weights, rows, count_selections(rows), mask=np.ones(20, dtype=bool), threshold=0
    )

    verdict = check_certificate(made, np.eye(20, dtype=int).tolist(), (np.arange(20) % 2).tolist())

    assert any("at most 131,072 selections" in failure for failure in verdict.failures)
