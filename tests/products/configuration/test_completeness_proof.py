"""Proofs by clauses that fronts of products are complete."""

import dataclasses
import importlib.util
from pathlib import Path

import pytest

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.logic.sat import SatSolver
from shortlist.products.configuration.completeness_proof import (
    check_steps,
    completeness_formula,
    prove_completeness,
)
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget
from tests.products.configuration.test_recheck import _asked

QUESTIONS = [
    ("min cost, min risk, min deselected", ()),
    ("min cost, max selected", ("risk<=4",)),
    ("max cost, min risk", ("cost<=50", "risk>=1")),
]
needs_pysat = pytest.mark.skipif(
    importlib.util.find_spec("pysat") is None, reason="python-sat is not installed"
)


@pytest.mark.parametrize(("objectives", "limits"), QUESTIONS)
def test_the_formula_is_unsatisfiable_if_and_only_if_no_point_is_missing(
    objectives: str, limits: tuple[str, ...]
) -> None:
    question, front = _asked(objectives, limits)
    assert not SatSolver(completeness_formula(question, front)).solve().satisfiable
    for number in range(len(front)):
        kept = [i for i in range(len(front)) if i != number]
        less = dataclasses.replace(front, values=front.values[kept], decisions=front.decisions[kept])
        model = SatSolver(completeness_formula(question, less)).solve().model
        assert model is not None
        found = question.points(model[None, : question.model.n_features])
        assert not (less.points <= found).all(axis=1).any()


@needs_pysat
@pytest.mark.parametrize(("objectives", "limits"), QUESTIONS)
def test_a_proof_is_written_and_a_checker_that_is_not_ours_follows_it(
    objectives: str, limits: tuple[str, ...], tmp_path: Path
) -> None:
    question, front = _asked(objectives, limits)
    proof = prove_completeness(question, front, budget=Budget())
    proof.save(tmp_path / "p.drat")
    assert (tmp_path / "p.cnf").read_text().startswith("p cnf ")
    assert (tmp_path / "p.drat").read_text().splitlines() == list(proof.steps)
    if importlib.util.find_spec("dratify") is not None:
        assert proof.checked
        weaker = completeness_formula(question, dataclasses.replace(front, values=front.values[1:]))
        assert not check_steps(weaker, proof.steps)


@needs_pysat
def test_what_is_not_complete_has_no_proof() -> None:
    question, front = _asked("min cost, min risk")
    less = dataclasses.replace(front, values=front.values[1:], decisions=front.decisions[1:])
    with pytest.raises(BadInputError, match="the front is not complete"):
        prove_completeness(question, less, budget=Budget())


def test_only_what_claims_to_be_complete_is_asked_for_a_proof() -> None:
    question, front = _asked("min cost, min risk")
    modest = dataclasses.replace(front, proof=Proof(ProofKind.NONDOMINATED))
    with pytest.raises(BadInputError, match="claims to be complete"):
        prove_completeness(question, modest, budget=Budget())


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    question, front = _asked("min cost, min risk")
    monkeypatch.setitem(__import__("sys").modules, "pysat.solvers", None)
    with pytest.raises(MissingDependencyError, match="needs the python-sat package"):
        prove_completeness(question, front, budget=Budget())
