"""Models that no search decides: every command ends at its limit, with what is known."""

from pathlib import Path

import pytest

from shortlist.products.analysis import analyse
from shortlist.products.configuration.feasibility import NOT_TOLD_APART, check_feasibility, summarise
from shortlist.products.model import make_model
from shortlist.runs.budget import Budget
from tests.cli.running import facts_of, shortlist
from tests.logic.test_sat import pigeons

LIMIT = ["--time-limit", "0.05"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    clauses = list(pigeons(14, 13))
    lines = [f"p cnf {14 * 13} {len(clauses)}", *(" ".join(map(str, [*clause, 0])) for clause in clauses)]
    (tmp_path / "hard.dimacs").write_text("\n".join(lines) + "\n", encoding="ascii")
    (tmp_path / "other.dimacs").write_text(
        "\n".join([lines[0], *lines[1:-1], "1 2 0"]) + "\n", encoding="ascii"
    )
    return tmp_path


def test_what_is_in_a_model_is_unknown_at_the_limit(folder: Path) -> None:
    facts = facts_of("model", "info", "hard.dimacs", *LIMIT, cwd=folder)
    assert (facts["status"], facts["limit"], facts["n_products"]) == ("unknown", "0.05 s", None)
    told = shortlist("model", "info", "hard.dimacs", *LIMIT, cwd=folder).stdout
    assert "products      not counted: ended before that was known: 0.05 s" in told
    assert "core" not in told


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["model", "analyse", "hard.dimacs"], 0),
        (["model", "diff", "hard.dimacs", "other.dimacs"], 0),
        (["model", "sample", "hard.dimacs"], 2),
        (["model", "slice", "hard.dimacs", "--out", "s.dimacs", "--keep", "1,2"], 2),
        (["configure", "hard.dimacs", "--objectives", "max selected"], 0),
        (["configure", "hard.dimacs", "--objectives", "max selected", "--method", "solrep"], 0),
    ],
)  # fmt: skip
def test_a_search_without_end_ends_at_its_limit(words: list[str], status: int, folder: Path) -> None:
    ran = shortlist(*words, *LIMIT, cwd=folder)
    assert ran.returncode == status
    assert "0.05 s" in ran.stdout + ran.stderr or "time limit" in ran.stdout + ran.stderr


def test_steps_decide_when_a_search_ends_and_what_it_says() -> None:
    looks = iter(range(10**6))
    budget = Budget(20, clock=lambda: float(next(looks)))
    hard = make_model([f"F{i}" for i in range(14 * 13)], clauses=pigeons(14, 13))
    assert summarise(hard, budget=budget).satisfiable is None
    assert not analyse(hard, budget=Budget(20, clock=lambda: float(next(looks)))).complete
    assert not check_feasibility(hard, budget=Budget(20, clock=lambda: float(next(looks)))).checked


def test_a_contradiction_that_cannot_be_told_apart_in_time_is_still_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from shortlist.products.configuration import feasibility

    hard = make_model([f"F{i}" for i in range(14 * 13)], clauses=pigeons(14, 13))
    monkeypatch.setattr(feasibility, "backbone", lambda *_: None)
    looks = iter(range(10**6))
    found = check_feasibility(hard, budget=Budget(20, clock=lambda: float(next(looks))))
    assert (found.checked, found.conflict) == (True, (NOT_TOLD_APART,))
