"""Results of rules on the test rows, for people and for programs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from shortlist.cli.text.measured_table import one_answer_notes, print_measured
from shortlist.ensembles.measured import Measured, measured_facts
from shortlist.report.held_out import measured_parts
from tests.cli.running import done, shortlist
from tests.stored import Stored


def _measured(right: list[bool], classes: list[str] | None = None) -> Measured:
    decisions = np.array([[right.count(True), right.count(False), 0], [0, 3, 0]], dtype=np.int64)
    return Measured(
        decisions, np.array(classes or ["ill", "well"]), 1, 3, 0.5, np.array([*right, True, True, True])
    )


def test_the_table_says_which_differences_are_within_chance(
    capsys: pytest.CaptureFixture[str], stored: Stored
) -> None:
    all_right = [True] * 30
    test = {
        "pruned": _measured(all_right),
        "full": _measured([False] * 3 + [True] * 27),
        "best_single": _measured([False] * 20 + [True] * 10),
    }
    print_measured(test)
    stored(capsys.readouterr().out)
    facts = measured_facts(test)
    assert "against_pruned" not in facts["pruned"]
    assert facts["full"]["against_pruned"] == {
        "only_pruned_right": 3,
        "only_full_right": 0,
        "p_value": pytest.approx(0.25),
        "within_chance": True,
    }
    json.dumps(facts, allow_nan=False)


def test_what_has_prices_is_told_with_them_in_place_of_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    prices = {"pruned": 2.5, "full": 40.0, "best_single": 1.25}
    test = {name: replace(_measured([True] * 9), price=price) for name, price in prices.items()}
    print_measured(test)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[-1] == "price"
    assert [line.split()[-1] for line in lines[:3]] == ["2.5", "40", "1.25"]
    assert {name: facts["price"] for name, facts in measured_facts(test).items()} == prices
    assert all(f"'{price:g}')" in str(measured_parts(test)) for price in prices.values())


def test_one_class_only_is_said_of_the_rows_where_it_is_so(stored: Stored) -> None:
    def notes(fitted: str | None, test: str | None) -> list[str]:
        return one_answer_notes(fitted, test, who="the selection", rows="selection")

    assert notes(None, None) == []
    stored(*notes("well", "well"), *notes(None, "ill"), *notes("well", "ill"))


@pytest.mark.parametrize(
    ("arguments", "who", "fitted"),
    [
        (
            ["prune", "--objective", "specificity", "--set", "min-size=0", "--classifiers", "2"],
            "selection",
            "validation",
        ),
        (
            ["evolve", "--method", "single", "--set", "generations=2", "--set", "population=4"],
            "ensemble",
            "train",
        ),
    ],
)
def test_prune_and_evolve_say_that_they_answer_one_class_only(
    tmp_path: Path, arguments: list[str], who: str, fitted: str
) -> None:
    table = pd.DataFrame({"a": np.ones(80), "target": np.where(np.arange(80) < 60, "a little", "much")})
    table.to_csv(tmp_path / "flat.csv", index=False)
    run = done(
        arguments[0], "flat.csv", *arguments[1:], "--workers", "1", "--json", "--out", "m.joblib",
        cwd=tmp_path,
    )  # fmt: skip
    facts = json.loads(run.stdout)
    assert facts["only_answer"] == {fitted: "a little", "test": "a little"}
    assert len(facts["notes"]) == 1
    assert f"the {who} gives no other answer than 'a little'" in facts["notes"][0]
    assert f"shortlist: note: {facts['notes'][0]}" in run.stderr

    predicted = shortlist("predict", "m.joblib", "flat.csv", "--out", "a.csv", "--json", cwd=tmp_path)
    assert json.loads(predicted.stdout)["notes"] == ["all 80 rows are answered 'a little'."]
    assert "shortlist: note: all 80 rows are answered 'a little'." in predicted.stderr


def test_an_online_ensemble_is_said_to_grow_and_stays_within_its_most_members(tmp_path: Path) -> None:
    X, y = make_classification(
        300, 5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.2, random_state=0
    )
    table = pd.DataFrame(X, columns=list("abcde")).assign(target=y)
    table.to_csv(tmp_path / "rows.csv", index=False)
    online = [
        "evolve", "rows.csv", "--method", "online", "--set", "generations=30", "--set", "population=40", "--workers",
        "1", "--json",
    ]  # fmt: skip
    free = json.loads(shortlist(*online, cwd=tmp_path).stdout)
    assert "may have thousands of members" in free["notes"][0]
    bounded = json.loads(shortlist(*online, "--set", "max-members=5", cwd=tmp_path).stdout)
    assert bounded["notes"] == []
    assert bounded["size"] <= 5 < free["size"]
    assert bounded["max_members"] == bounded["options"]["max-members"] == 5
