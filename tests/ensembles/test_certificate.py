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
from hypothesis import given, settings

from shortlist.ensembles import certificate_check, line_check
from shortlist.ensembles.certificate import (
    Certificate,
    make_certificate,
    read_certificate,
    write_certificate,
)
from shortlist.ensembles.certificate_check import check_certificate
from shortlist.ensembles.conflicts import find_conflicts
from shortlist.ensembles.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.diversity import diversity_limits
from shortlist.ensembles.limits import selection_limits
from shortlist.ensembles.right_rows import RightRows, fix_members, normalise
from shortlist.ensembles.votes import Votes, merge_rows
from shortlist.ensembles.weights import Weights, named_weights
from shortlist.errors import BadFileError, BadInputError
from tests.ensembles import bound_oracles
from tests.ensembles.test_bounds import problems


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
    conflicts = find_conflicts(rows)
    bound = tighten_by_cuts(rows, conflicts, min_cut_bound(rows, conflicts), max_rounds=5)
    mask = np.arange(12) < 11
    assert limits.satisfied_by(mask)
    return make_certificate(votes, weights, rows, bound, mask)


def test_what_is_written_is_read_and_valid(tmp_path: Path) -> None:
    made = _made()
    assert any(len(cut["rows"]) > 2 for cut in made["cuts"])

    write_certificate(made, tmp_path / "c.json")
    verdict = check_certificate(read_certificate(tmp_path / "c.json"), *_data())

    assert verdict.failures == ()
    assert verdict.valid
    assert verdict.value == made["value"]
    assert verdict.bound == made["bound"]


@settings(max_examples=40)
@given(problem=problems(max_classifiers=5))
def test_every_certificate_is_valid_for_its_own_rows(problem: tuple[Votes, Weights, RightRows]) -> None:
    votes, weights, rows = problem
    mask = next(bound_oracles.completions(rows), None)
    if mask is None:
        return
    conflicts = find_conflicts(rows)
    bound = tighten_by_cuts(rows, conflicts, min_cut_bound(rows, conflicts), max_rounds=2)
    matrix, labels = (np.repeat(part, votes.counts, axis=0) for part in (votes.votes, votes.labels))

    made = json.loads(json.dumps(make_certificate(votes, weights, rows, bound, mask)))

    assert check_certificate(made, matrix[::-1], labels[::-1]).failures == ()


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
    assert_refused(_made(), tamper, _data(), says)


def assert_refused(made: Certificate, tamper: Callable[[Certificate], Any], data: Any, says: str) -> None:
    """Tamper with a copy of a certificate, and see that the check finds it."""
    certificate = copy.deepcopy(made)
    tamper(certificate)

    verdict = check_certificate(certificate, *data)

    assert not verdict.valid
    assert any(says in failure for failure in verdict.failures)


def test_a_false_cut_is_refused_even_if_the_bound_is_adapted() -> None:
    certificate = _made()
    matrix, labels = _data()
    right = check_certificate(certificate, matrix, labels)
    certificate["cuts"].append({"rows": [1], "multipliers": [1], "weight": certificate["denominator"]})

    verdict = check_certificate(certificate, matrix, labels)

    assert not verdict.valid
    assert verdict.bound == right.bound


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


def test_the_check_imports_nothing_of_the_library_but_its_other_half() -> None:
    for module, allowed in ((certificate_check, ["shortlist.ensembles.line_check"]), (line_check, [])):
        source = Path(str(module.__file__)).read_text()
        imported = [
            node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        assert imported
        own = [node.module for node in imported if isinstance(node, ast.ImportFrom)]
        assert [name for name in own if name is not None and name.startswith("shortlist")] == allowed
        assert not any("shortlist" in ast.unparse(node) for node in imported if isinstance(node, ast.Import))


def test_a_bound_for_fixed_members_is_no_certificate() -> None:
    votes = merge_rows(*_data())
    weights = named_weights("accuracy", votes)
    rows = normalise(votes, weights, selection_limits(12))
    fixed = fix_members(rows, included=np.arange(12) < 1, excluded=np.zeros(12, dtype=bool))
    bound = min_cut_bound(fixed, find_conflicts(fixed))
    with pytest.raises(BadInputError, match="no fixed members"):
        make_certificate(votes, weights, fixed, bound, np.ones(12, dtype=bool))


@pytest.mark.parametrize("content", ["{", "[]", '{"format": "other"}'])
def test_a_file_that_is_no_certificate_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(BadFileError, match="must be a certificate"):
        read_certificate(tmp_path / "c.json")
