"""The commands front show and front pick, as a user runs them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist import __version__ as shortlist_version
from shortlist.products import read_model
from shortlist.products.configuration.requirements import make_requirements
from shortlist.products.rules import evaluate
from shortlist.results.front import Front
from shortlist.results.objective import OPERATORS, Objective, Sense
from shortlist.results.proof import Proof, ProofKind
from tests.cli.refusals import refusals
from tests.cli.running import done, facts_of, shortlist
from tests.stored import Stored

MODELS = Path(__file__).parents[2] / "products" / "models"
GOALS = ["--objectives", "max selected, min cost", "--set", "default=cost=0"]
PHONE = ["configure", "phone.uvl", *GOALS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the front of a phone: few deselected features, low cost."""
    folder = tmp_path_factory.mktemp("phone")
    for path in MODELS.iterdir():
        shutil.copy(path, folder)
    done(*PHONE, "--out", "front.parquet", cwd=folder)
    (folder / "wishes.csv").write_text("Kunde;GPS;most cost\nAnn;ja;20\nBob;nein;1\nEve;;\n")
    half = Front.from_points(
        [Objective("time")], np.array([[3]]), np.array([[2, 1]]), ["a", "b"], Proof(ProofKind.COMPLETE)
    )
    half.save(folder / "stages.parquet")
    bought = Front.from_points(
        [Objective("cost")], np.array([[3]]), np.array([[1, -1, 0]]), ["age", "scan", "=blood"],
        Proof(ProofKind.NONDOMINATED), method="emsco",
    )  # fmt: skip
    bought.save(folder / "bought.parquet")
    return folder


@pytest.fixture(scope="module")
def front(folder: Path) -> Front:
    return Front.load(folder / "front.parquet")


def test_show_as_json_holds_the_points_and_the_picked_product(folder: Path, front: Front) -> None:
    facts = facts_of("front", "show", "front.parquet", "--pick", "ideal", "--rows", "0", cwd=folder)
    assert facts["points"] == front.values.tolist()
    assert (facts["command"], facts["status"], facts["n_points"]) == ("front show", "optimal", len(front))
    picked = facts["pick"]
    chosen = [name in picked["selection"] for name in front.candidates]
    assert chosen == front.decisions[picked["index"]].astype(bool).tolist()


def test_limits_keep_a_part_of_the_points(folder: Path, front: Front) -> None:
    limits = ["--limit", "cost<=20", "--limit", "selected>=5"]
    facts = facts_of("front", "show", "front.parquet", *limits, cwd=folder)
    inside = front.values[(front.values[:, 1] <= 20) & (front.values[:, 0] >= 5)]
    assert facts["points"] == inside.tolist()
    assert facts["n_within_limits"] == len(inside) < facts["n_points"]


@pytest.mark.parametrize(
    ("pick", "rule", "name"),
    [("lexicographic:selected", "lexicographic", "selected"), ("weights:cost=1", "weights", "cost")],
)
def test_the_best_of_an_objective_is_the_greatest_where_it_is_maximised(
    folder: Path, front: Front, pick: str, rule: str, name: str
) -> None:
    facts = facts_of("front", "pick", "front.parquet", "--pick", pick, cwd=folder)
    best = {"selected": front.values[:, 0].max(), "cost": front.values[:, 1].min()}
    assert (facts["rule"], facts["values"][name]) == (rule, best[name])


def test_pick_takes_the_best_within_a_limit_and_writes_the_product(folder: Path, front: Front) -> None:
    facts = facts_of(
        "front", "pick", "front.parquet", "--limit", "selected>=6", "--pick", "lexicographic:cost", "--out", "product.csv",
        cwd=folder,
    )  # fmt: skip
    values = front.values
    assert facts["values"]["cost"] == values[values[:, 0] >= 6, 1].min()
    assert (facts["rule"], facts["proof"]) == ("lexicographic", "complete")
    model = read_model(folder / "phone.uvl")
    wishes = make_requirements(model, fixed=[folder / "product.csv"])
    selected = np.zeros(model.n_features, dtype=bool)
    selected[list(wishes.select)] = True
    assert evaluate(model, selected) == []
    assert [model.labels[i] for i in wishes.select] == facts["selection"]


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_keeps_the_points_that_it_says(operator: str, folder: Path, front: Front) -> None:
    bound = float(front.values[len(front) // 2, 1])
    limit = ["--limit", f"Cost {operator} {bound}"]
    facts = facts_of("front", "show", "front.parquet", *limit, "--rows", "0", cwd=folder)

    compare = {"<=": np.less_equal, "<": np.less, ">=": np.greater_equal, ">": np.greater, "==": np.equal}
    assert facts["points"] == front.values[compare[operator](front.values[:, 1], bound)].tolist()
    assert 0 < facts["n_within_limits"] < len(front)


@pytest.mark.parametrize("limits", [["cost<=0"], ["cost>900"], ["cost==1.23"], ["cost<=12", "selected>=7"]])
def test_limits_that_no_point_meets_are_an_answer_and_write_nothing(limits: list[str], folder: Path) -> None:
    command = ["front", "pick", "front.parquet", *(word for limit in limits for word in ("--limit", limit))]
    facts = facts_of(*command, "--out", "none.csv", cwd=folder)
    assert done(*command, "--out", "none.csv", cwd=folder).stdout.startswith("Status infeasible: No point ")
    assert (facts["status"], facts["index"], facts["selection"]) == ("infeasible", None, [])
    assert facts["out"] is None
    assert facts["reason"].startswith("No point ")
    assert facts["options"]["limit"] == limits
    assert not (folder / "none.csv").exists()
    shown = done("front", "show", *command[2:], "--pick", "knee", cwd=folder)
    assert shown.stderr.startswith("shortlist: note: No point ")


def test_show_takes_the_number_of_a_point(folder: Path, front: Front) -> None:
    command = ["front", "show", "front.parquet", "--pick", "1"]
    facts = facts_of(*command, cwd=folder)
    assert facts["pick"]["index"] == 1
    assert list(facts["pick"]["values"].values()) == front.values[1].tolist()
    assert shortlist(*command, cwd=folder).stdout.startswith(f"Point 1 of {len(front)}:\n")


def test_a_point_keeps_its_number_within_limits_in_the_table_and_in_the_product(
    folder: Path, front: Front
) -> None:
    command = ["front", "show", "front.parquet", "--limit", "cost<=20", "--rows", "2"]
    facts = facts_of(*command, cwd=folder)
    assert facts["numbers"] == np.flatnonzero(front.values[:, 1] <= 20)[:2].tolist() != [0, 1]
    assert facts["points"] == front.values[facts["numbers"]].tolist()
    number = facts["numbers"][0]
    rows = shortlist(*command, cwd=folder).stdout.splitlines()
    assert any(row.split()[:1] == [str(number)] for row in rows)

    picked = facts_of("front", "pick", "front.parquet", "--pick", str(number), "--out", "own.csv", cwd=folder)
    assert (picked["index"], picked["rule"]) == (number, "number")
    assert list(picked["values"].values()) == front.values[number].tolist()
    shortlist("front", "export", "front.parquet", "--out", "numbers.xlsx", cwd=folder)
    table = pd.read_excel(folder / "numbers.xlsx", engine="calamine").set_index("point")
    chosen = [name for name in front.candidates if table.loc[number, f"feature: {name}"]]
    assert chosen == picked["selection"]


def test_the_table_of_a_front_is_read_as_products_whatever_its_numbers(folder: Path, front: Front) -> None:
    shortlist("front", "export", "front.parquet", "--out", "checked.csv", cwd=folder)
    facts = facts_of("model", "check", "phone.uvl", "checked.csv", "--set", "default=cost=0", cwd=folder)
    assert facts["n_products"] == facts["n_rows"] == len(front)


def test_a_front_that_is_not_complete_may_miss_what_a_limit_asks_for(folder: Path) -> None:
    run = shortlist("front", "pick", "bought.parquet", "--limit", "cost<1", cwd=folder)

    assert run.stdout.endswith("The front is not complete, so there may be points that it does not list.\n")


def test_two_points_are_shown_side_by_side_with_what_differs_and_what_it_costs(
    folder: Path, front: Front, stored: Stored
) -> None:
    command = ["front", "show", "front.parquet", "--pick", "1,3"]
    facts = facts_of(*command, cwd=folder)["compared"]
    assert facts["points"] == [1, 3]
    assert facts["changes"] == dict(
        zip(front.names, (front.values[3] - front.values[1]).tolist(), strict=True)
    )
    one, other = (
        {name for name, bit in zip(front.candidates, front.decisions[point], strict=True) if bit}
        for point in (1, 3)
    )
    assert {name for name, ends in facts["choices"].items() if ends == [1, 0]} == one - other != set()
    assert {name for name, ends in facts["choices"].items() if ends == [0, 1]} == other - one

    stored(shortlist(*command, cwd=folder))
    swapped = facts_of(*command[:-1], "3,1", cwd=folder)["compared"]["changes"]
    assert swapped == {name: -by for name, by in facts["changes"].items()}


def test_the_stages_of_two_points_are_compared_by_name(folder: Path, stored: Stored) -> None:
    goals = [Objective("cost"), Objective("coverage", Sense.MAX, scale=10)]
    front = Front.from_points(
        goals, np.array([[1, -5], [4, -9]]), np.array([[0, -1, 0], [1, 0, 0]]), ["age", "scan", "blood"],
        Proof(ProofKind.COMPLETE), method="enumerate",
    )  # fmt: skip
    front.save(folder / "two.parquet")
    stored(shortlist("front", "show", "two.parquet", "--pick", "0,1", cwd=folder))


def test_new_prices_are_told_by_what_became_of_every_point(folder: Path, stored: Stored) -> None:
    prices = (folder / "phone.uvl").read_text(encoding="utf-8")
    dearer = prices.replace("cost 9", "cost 12", 1)
    assert dearer != prices
    (folder / "dearer.uvl").write_text(dearer, encoding="utf-8")
    done("configure", "dearer.uvl", *GOALS, "--out", "dearer.parquet", cwd=folder)
    command = ["front", "diff", "front.parquet", "dearer.parquet"]
    facts = facts_of(*command, "--out", "fates.csv", cwd=folder)

    before, now = (Front.load(folder / name) for name in command[2:])
    assert sum(facts["counts"].values()) == len(facts["points"])
    assert facts["counts"]["the same"] > 0
    assert facts["counts"]["changed"] > 0
    for point in facts["points"]:
        if point["fate"] in {"the same", "changed"}:
            chosen = [before.decisions[point["before"]].tolist(), now.decisions[point["now"]].tolist()]
            assert chosen[0] == chosen[1]
            assert (point["values_before"] == point["values_now"]) == (point["fate"] == "the same")
    table = pd.read_csv(folder / "fates.csv")
    assert list(table.columns) == [
        "fate", "point before", "point now", "before: max selected", "now: max selected", "before: min cost",
        "now: min cost",
    ]  # fmt: skip
    assert table["fate"].tolist() == [point["fate"] for point in facts["points"]]
    stored(shortlist(*command, cwd=folder))


def test_a_front_that_may_lack_points_is_said_to_when_it_is_compared(folder: Path, stored: Stored) -> None:
    run = shortlist("front", "diff", "bought.parquet", "bought.parquet", cwd=folder)
    stored(run)


def test_a_front_is_exported_with_every_feature_by_name(folder: Path, front: Front) -> None:
    facts = facts_of("front", "export", "front.parquet", "--out", "front.csv", cwd=folder)
    table = pd.read_csv(folder / "front.csv")

    assert (facts["command"], facts["n_points"], facts["out"]) == ("front export", len(front), "front.csv")
    assert list(table.columns) == ["point", "objective: max selected", "objective: min cost"] + [
        f"feature: {name}" for name in front.candidates
    ]
    assert table["point"].tolist() == list(range(len(front)))
    np.testing.assert_array_equal(table.to_numpy()[:, 1:], np.hstack([front.values, front.decisions]))


def test_the_stages_of_a_point_are_written_by_name(folder: Path) -> None:
    done("front", "pick", "bought.parquet", "--out", "stages.csv", cwd=folder)

    assert (folder / "stages.csv").read_text() == "feature,stage\nage,2\nscan,\n'=blood,1\n"


def test_the_json_of_a_pick_says_what_was_asked_and_what_to_know(folder: Path) -> None:
    command = ["front", "pick", "front.parquet", "--pick", "knee", "--out", "knee.uvl"]
    facts = facts_of(*command, cwd=folder)

    assert facts["options"]["pick"] == "knee"
    assert facts["version"] == shortlist_version
    assert facts["notes"] == ["The product is not checked and has no tree: pass --model FILE for both."]
    assert shortlist(*command, cwd=folder).stderr == f"shortlist: note: {facts['notes'][0]}\n"


@pytest.mark.parametrize("with_model", [False, True])
def test_a_product_is_written_as_a_model_of_one_product(with_model: bool, folder: Path, front: Front) -> None:
    options = ["--model", "phone.uvl"] if with_model else []
    done("front", "pick", "front.parquet", "--pick", "knee", *options, "--out", "product.uvl", cwd=folder)
    product = read_model(folder / "product.uvl")
    picked = front.pick("knee")
    chosen = {name for name, value in zip(front.candidates, picked.decision, strict=True) if value}
    assert set(product.names) - chosen == (set() if with_model else {product.names[product.root or 0]})
    info = facts_of("model", "info", "product.uvl", cwd=folder)
    assert info["n_products"] == "1"


def test_a_few_points_are_told_written_and_the_same_in_json(folder: Path, front: Front) -> None:
    command = ["front", "pick", "front.parquet", "--few", "3"]
    facts = facts_of(*command, "--out", "few.csv", cwd=folder)
    found = facts["few"]
    points = [one["index"] for one in found["points"]]
    assert 1 < len(points) <= 3
    assert 0 <= found["bound"] <= found["regret"] < 1
    assert [one["points"] for one in found["curve"]] == [1, 2, 3]
    assert found["curve"][-1]["regret"] == found["regret"]
    for one in found["points"]:
        assert list(one["values"].values()) == front.values[one["index"]].tolist()
        assert sum(one["best_for"].values()) == pytest.approx(1)
    done("front", "export", "front.parquet", "--out", "whole.csv", cwd=folder)
    few, whole = (pd.read_csv(folder / name) for name in ("few.csv", "whole.csv"))
    weights = [f"best for weight of {name}" for name in front.names]
    assert few.drop(columns=weights).equals(whole.loc[points].reset_index(drop=True))
    assert few[weights].to_numpy().tolist() == [list(one["best_for"].values()) for one in found["points"]]
    within = facts_of(*command, "--limit", "cost<=20", cwd=folder)["few"]["points"]
    assert all(one["values"]["cost"] <= 20 for one in within)
    none = facts_of(*command, "--limit", "cost<=0", cwd=folder)
    assert none["status"] == "infeasible"


def test_customers_are_served_told_and_written(folder: Path, front: Front) -> None:
    command = ["front", "pick", "front.parquet", "--customers", "wishes.csv"]
    facts = facts_of(*command, "--out", "served.csv", "--out", "served.html", cwd=folder)
    served = facts["service"]["customers"]
    assert [one["name"] for one in served] == ["Ann", "Bob", "Eve"]
    for one in served:
        point = front.values[one["index"]].tolist()
        assert dict(zip(front.names, point, strict=True))["cost"] <= 20 or "cost" in str(one["gives_up"])
    table = pd.read_csv(folder / "served.csv")
    assert table["customer"].tolist() == ["Ann", "Bob", "Eve"]
    assert table["product"].tolist() == [one["index"] for one in served]
    assert table["given up"].tolist() == [len(one["gives_up"]) for one in served]
    page = (folder / "served.html").read_text()
    assert "Who gets what" in page
    assert "<td>Ann" in page or ">Ann</th>" in page
    few = facts_of(*command, "--few", "1", cwd=folder)["service"]
    assert len({one["index"] for one in few["customers"]}) == 1
    assert few["total"] == few["bound"]
    by_cost = facts_of(*command, "--pick", "weights:cost=1", cwd=folder)["service"]["customers"]
    assert by_cost[2]["index"] == int(front.values[:, front.names.index("cost")].argmin())


def test_one_point_and_a_few_are_drawn_on_a_page(folder: Path) -> None:
    done("front", "pick", "front.parquet", "--few", "3", "--out", "few.html", cwd=folder)
    page = (folder / "few.html").read_text()
    assert "Regret by number of points" in page
    told = done("front", "pick", "front.parquet", "--pick", "1", "--out", "one.html", cwd=folder).stdout
    assert "Report in one.html." in told
    assert "Take point 1 of" in (folder / "one.html").read_text()


@refusals("front")
def test_bad_input_is_one_sentence_and_exit_2(folder: Path, refused: Callable[[Path], None]) -> None:
    (folder / "other.uvl").write_text("features\n\tOther\n", encoding="utf-8")
    refused(folder)


def test_the_knee_of_web_portal_is_no_end_of_any_objective(data_folder: Path, tmp_path: Path) -> None:
    data = data_folder / "feature-models"
    done(
        "configure", data / "splot" / "web-portal.sxfm.xml", "--attributes",
        data / "paper-instances" / "attributes" / "WebPortal_RAND1.csv", "--objectives",
        "min deselected, min not_used_before, min defects, min cost", "--out", "front.parquet", cwd=tmp_path,
    )  # fmt: skip

    front = Front.load(tmp_path / "front.parquet")
    shares = (front.values - front.values.min(axis=0)) / np.ptp(front.values, axis=0)
    knee = shares[front.pick("knee").index]
    assert ((knee > 0.2) & (knee < 0.8)).all()  # it was (1, 0, 0, 0), the mandatory features alone
