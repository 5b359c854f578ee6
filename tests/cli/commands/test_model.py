"""The command model info, as a user runs it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.refusals import refusals, refuse
from tests.cli.running import done, facts_of, shortlist
from tests.stored import Stored

MODELS = Path(__file__).parents[2] / "products" / "models"


@pytest.mark.parametrize("name", ["phone.uvl", "phone.sxfm.xml", "phone.featureide.xml", "phone.dimacs"])
def test_every_format_of_a_model_says_the_same(name: str) -> None:
    facts = facts_of("model", "info", name, cwd=MODELS)
    assert (facts["command"], facts["method"], facts["status"]) == ("model info", "diagram", "feasible")
    assert facts["core"] == ["Phone", "Calls", "Screen"]
    assert (facts["dead"], facts["n_features"], facts["n_products"]) == ([], 10, "14")


def test_a_contradiction_is_shown_with_its_rules(tmp_path: Path, stored: Stored) -> None:
    text = "features\n\tShop\n\t\tmandatory\n\t\t\tCard\nconstraints\n\t!Card\n"
    (tmp_path / "void.uvl").write_text(text, encoding="utf-8")
    facts = facts_of("model", "info", "void.uvl", cwd=tmp_path)
    assert (facts["status"], facts["n_products"], len(facts["conflict"])) == ("infeasible", "0", 3)
    stored(*(done("model", verb, "void.uvl", cwd=tmp_path) for verb in ("info", "analyse")))


def test_what_is_not_counted_is_said_and_large_counts_are_powers_of_ten(
    tmp_path: Path, stored: Stored
) -> None:
    names = "".join(f"\t\t\tF{i}\n" for i in range(200))
    (tmp_path / "wide.uvl").write_text(f"features\n\tRoot\n\t\toptional\n{names}", encoding="utf-8")
    uncounted = shortlist("model", "info", "phone.uvl", "--max-nodes", "0", cwd=MODELS)
    stored(uncounted, shortlist("model", "info", "wide.uvl", cwd=tmp_path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("p cnf 2 2\n1 2 0\n", "the header says 2 clauses, the file has 1", id="truncated DIMACS"),
        pytest.param("features\n\tA\n\t\toptional\n\t\t\tB\n\t\t\tC\n\t\t\tB\n", "'B'", id="defined twice"),
        pytest.param("features\n\tA\nconstraints\n\tBB\n", "'BB'", id="unknown reference"),
        pytest.param("hello", "must be SXFM, UVL, FeatureIDE XML or DIMACS", id="no model"),
        pytest.param("", "is empty", id="empty"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_exit_2(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "void.model").write_text(text, encoding="utf-8")
    refuse("model", "info", "void.model", message=message, cwd=tmp_path)


@pytest.mark.slow
def test_no_solver_of_integer_programs_is_loaded() -> None:
    code = (
        "import sys; from shortlist.cli import main; sys.argv = ['shortlist', 'model', 'info', 'phone.uvl']\n"
        "try: main.run_command()\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('highspy', 'ortools', 'gurobipy', 'cplex') or 'milp' in m])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=MODELS, capture_output=True, text=True, check=True)
    assert run.stdout.strip().splitlines()[-1] == "[]"


FLAWED = """features
\tShop
\t\tmandatory
\t\t\tPayment
\t\t\t\talternative
\t\t\t\t\tCard
\t\t\t\t\tCash
\t\toptional
\t\t\tDelivery
\t\t\t\toptional
\t\t\t\t\tTracking
\t\t\tPickup
\t\t\tGift
constraints
\tDelivery => Card & Tracking
\tTracking => Card
\tPickup => !Shop
"""


def test_an_analysis_explains_what_follows(tmp_path: Path, stored: Stored) -> None:
    (tmp_path / "shop.uvl").write_text(FLAWED, encoding="utf-8")
    stored(shortlist("model", "analyse", "shop.uvl", cwd=tmp_path))
    facts = facts_of("model", "analyse", "shop.uvl", cwd=tmp_path)
    assert (facts["status"], facts["complete"], facts["products_with"]["Gift"]) == ("optimal", True, "3")
    assert facts["dead"][0]["why"] == {
        "rules": ["every product has Shop", "Pickup => !Shop (line 17)"],
        "smallest": True,
    }


@pytest.mark.slow
def test_numbers_of_products_with_thousands_of_digits_are_shown(tmp_path: Path) -> None:
    names = "".join(f"\t\t\tF{i}\n" for i in range(14_300))
    (tmp_path / "wide.uvl").write_text(f"features\n\tRoot\n\t\toptional\n{names}", encoding="utf-8")
    info = shortlist("model", "info", "wide.uvl", "--max-nodes", "100000", cwd=tmp_path)
    assert (info.returncode, info.stderr) == (0, "")
    assert info.stdout.endswith("products      5.357e4304\n")  # more digits than Python shows by itself


def test_an_edit_is_named_with_a_product(tmp_path: Path, stored: Stored) -> None:
    (tmp_path / "before.uvl").write_text(FLAWED, encoding="utf-8")
    after = FLAWED.replace("\tPickup => !Shop\n", "").replace("Gift", "Wrapping")
    (tmp_path / "after.uvl").write_text(after, encoding="utf-8")
    stored(shortlist("model", "diff", "before.uvl", "after.uvl", cwd=tmp_path))
    same = facts_of("model", "diff", "before.uvl", "before.uvl", cwd=tmp_path)
    assert (same["edit"], same["lost"], same["gained"]) == ("refactoring", None, None)


@refusals("model")
def test_bad_options_are_one_sentence(tmp_path: Path, refused: Callable[[Path], None]) -> None:
    (tmp_path / "shop.uvl").write_text(FLAWED, encoding="utf-8")
    refused(tmp_path)


def test_an_edit_has_a_name_a_witness_and_a_time_limit(tmp_path: Path, stored: Stored) -> None:
    (tmp_path / "a.uvl").write_text("features\n\tShop\n\t\tor\n\t\t\tCard\n\t\t\tCash\n", encoding="utf-8")
    text = "features\n\tShop\n\t\talternative\n\t\t\tCard\n\t\t\tCash\n"
    (tmp_path / "b.uvl").write_text(text, encoding="utf-8")
    stored(shortlist("model", "diff", "a.uvl", "b.uvl", "--time-limit", "30", cwd=tmp_path))
    facts = facts_of("model", "diff", "b.uvl", "a.uvl", cwd=tmp_path)
    assert (facts["status"], facts["edit"]) == ("optimal", "generalisation")
    assert (facts["unsure"], facts["limit"]) == ([], "")
