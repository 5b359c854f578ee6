"""`shortlist panel` and `shortlist measure` of panels: what they print, write and refuse."""

import io
import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.cli.text.front_text import contract
from shortlist.cli.text.panels import _measured_lines, print_compared, print_panel
from shortlist.panels import load_panel
from shortlist.panels.choice import choose_panels
from shortlist.panels.facts import panel_report
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.words import COMBINED
from tests.cli.refusals import refusals
from tests.cli.running import done, facts_of, shortlist
from tests.panels.made import priced_log
from tests.panels.test_routing import routed_log

PRICED = ["answers.csv", "--target", "truth", "--costs", "prices.csv"]
LONG = [
    "long.csv", "--columns", "case=id,judge=model,answer=label,price=usd,latency=ms",
    "--target", "truth",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of three judges, the dearer the better, prices, costs of mistakes, and a panel."""
    folder = tmp_path_factory.mktemp("panels")
    rng = np.random.default_rng(0)
    truth = rng.choice(["no", "yes"], 240)
    is_right = rng.random((240, 3)) < [0.7, 0.8, 0.88]
    said = np.where(is_right, truth[:, None], np.where(truth == "no", "yes", "no")[:, None])
    table = pd.DataFrame(said, columns=["small", "mid", "large"]).assign(truth=truth)
    table.to_csv(folder / "answers.csv", index=False)
    table.replace("yes", "oui").to_csv(folder / "french.csv", index=False)
    table[["small", "truth"]].to_csv(folder / "small.csv", index=False)
    long = table.assign(id=range(240)).melt(["id", "truth"], var_name="model", value_name="label")
    seconds = long["model"].map({"small": 100, "mid": 300, "large": 900})
    price = long["model"].map({"small": 1, "mid": 3, "large": 9})
    long.assign(usd=price, ms=seconds, sure=0.75, dollars="1 coin").to_csv(folder / "long.csv", index=False)
    (folder / "prices.csv").write_text("name,cost\nsmall,1\nmid,3\nlarge,9\n")
    (folder / "dear.csv").write_text("name,cost\nsmall,1\nmid,300\nlarge,9\n")
    (folder / "costs.csv").write_text("said,truth,cost\nno,yes,9\nyes,no,1\n")
    (folder / "unsure.csv").write_text("said,truth,cost\nno,yes,9\nyes,no,9\n,no,1\n,yes,1\n")
    (folder / "parts.csv").write_text("said,truth,cost\nno,yes,2.5\n")
    (folder / "maybe.csv").write_text("said,truth,cost\nno,maybe,2\n")
    done("panel", *PRICED, "--limit", "price<=8", "--out", "panel.json", cwd=folder)
    saved = (folder / "panel.json").read_text()
    (folder / "cut.json").write_text(saved[:200])
    (folder / "other.json").write_text(saved.replace('"mid"', '"mad"'))
    return folder


def facts(folder: Path, *words: str | Path) -> Any:
    return facts_of("panel", *words, cwd=folder)


def test_the_contract_of_the_json(folder: Path, tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("p.json", "front.csv", "page.html")]
    told = facts(folder, *PRICED, "--out", files[0], "--out", files[1], "--out", files[2])
    assert [told["out"], told["front_file"], told["report"]] == files
    assert all(Path(file).stat().st_size for file in files)
    assert told["command"] == "panel"
    assert (told["n_chosen"], told["n_test"], told["n_calibration"], told["n_parts"]) == (240, 0, 0, 5)
    assert told["proof"] == "approximate"
    assert 0 < told["bound"] <= 1
    assert {
        "point", "objective", "classes", "stages", "final", "held_out", "single", "difference",
        "difference_interval", "p_value", "within_chance", "recommended", "n_more_cases", "correlation",
        "n_independent", "guarantee", "front", "judges", "budgets", "break_even", "verdict", "in_words",
        "notes", "claims", "seconds", "method", "status",
    } <= told.keys()  # fmt: skip
    front = pd.read_csv(files[1])
    assert len(front) == len(told["front"])
    assert load_panel(files[0]).classes == ("no", "yes")


def test_people_read_what_was_searched_in_lines_of_100_columns(folder: Path) -> None:
    run = done("panel", *PRICED, "--pick", "best", "--details", cwd=folder)
    assert "all 12 chains of sets of judges, with every threshold." in unwrapped(run.stdout)
    assert run.stdout.partition("The best panel found")[0].split().count("large") == 1
    assert max(map(len, run.stdout.splitlines())) <= 100
    run = shortlist("panel", *PRICED, "--set", "test-share=0.25", cwd=folder)
    assert "On 60 hold-out cases: accuracy" in run.stdout
    assert "180 training cases, 60 hold-out cases." in run.stderr


def unwrapped(text: str) -> str:
    """A text as it is without the ends of its lines."""
    return " ".join(text.split())


@pytest.mark.parametrize(
    "words", ["", "--pick best", "--answer-accuracy 0.7", "--final hand-over=1", "--pick single"]
)
def test_the_answer_is_a_screen_of_24_lines_and_100_columns(folder: Path, tmp_path: Path, words: str) -> None:
    run = done("panel", *PRICED, *words.split(), "--out", str(tmp_path / "p.json"), cwd=folder)
    lines = run.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100 + len(str(tmp_path))  # a path is not broken
    assert lines[-1].startswith("Next: ")
    compared = done("measure", str(tmp_path / "p.json"), *PRICED, cwd=folder)
    assert len(compared.stdout.splitlines()) <= 24
    assert max(map(len, compared.stdout.splitlines())) <= 100


def test_answers_that_are_no_class_are_told_on_the_screen(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "answers.csv")
    table.loc[:11, "small"] = "maybe"
    table.to_csv(tmp_path / "odd.csv", index=False)
    run = shortlist("panel", "odd.csv", "--target", "truth", "--set", "decide=votes", cwd=tmp_path)
    assert "'maybe' (12 times)." in unwrapped(run.stdout)


@pytest.mark.parametrize("n_sentences", [8, 40])
def test_the_judges_to_ask_fill_the_screen(n_sentences: int, capsys: pytest.CaptureFixture[str]) -> None:
    choice = choose_panels(priced_log(), PanelOptions(decide="votes"))
    told = contract(choice.front) | {"limit": None} | panel_report(choice, 0).facts
    print_panel(told | {"in_words": [f"Ask {n}." for n in range(n_sentences)]}, ["Written: p.json, it."])
    lines = capsys.readouterr().out.splitlines()
    n_shown = sum(line.startswith("  Ask ") for line in lines)
    assert lines[-1] == "Written: p.json, it."
    if n_sentences == 8:
        assert (n_shown, "--details has all" in "".join(lines)) == (8, False)
    else:
        assert len(lines) == 24
        assert f"... and {40 - n_shown} more; --details has all" in lines


def test_without_prices_no_price_is_told(folder: Path) -> None:
    run = done("panel", "answers.csv", "--target", "truth", "--set", "decide=votes", "--details", cwd=folder)
    assert " a case" not in run.stdout


def test_a_bound_is_told_where_it_says_something(folder: Path) -> None:
    told = facts(folder, *PRICED, "--pick", "best", "--limit", "price<=2")
    assert 0.6 < told["bound"] < 1
    (claim,) = [claim for claim in told["claims"] if claim.startswith(f"For {told['price']:.4g} a case, ")]
    assert claim.endswith(f"gets at most {100 * told['bound']:.1f} % of the training cases right.")
    people = done("panel", *PRICED, "--limit", "price<=2", "--details", cwd=folder)
    assert "gets at most" in unwrapped(people.stdout)


@pytest.mark.parametrize(
    ("words", "price"),
    [("--limit price<=2", 2), ("--limit price<=6", 6), ("--limit price<=8 --pick best", 8)],
)
def test_limits_of_price_are_kept(folder: Path, words: str, price: float) -> None:
    told = facts(folder, *PRICED, *words.split())
    front = {row["number"]: row for row in told["front"]}
    point = told["point"]  # none where a single judge is as good, by so few cases
    assert (told["single"] if point is None else front[point])["price"] <= price


def test_the_best_knee_ideal_and_a_number_are_points_of_the_front(folder: Path) -> None:
    told = {rule: facts(folder, *PRICED, "--pick", rule) for rule in ("best", "knee", "ideal", "3")}
    rows = told["best"]["front"]
    most = max(row["accuracy"] for row in rows)
    assert rows[told["best"]["point"]]["accuracy"] == most
    assert told["3"]["point"] == 3
    values = np.array([[-row["accuracy"], row["price"]] for row in rows])
    scaled = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    ideal, knee = (told[rule]["point"] for rule in ("ideal", "knee"))
    assert np.hypot(*scaled[ideal]) == pytest.approx(np.hypot(*scaled.T).min())
    assert scaled[knee].sum() < 1  # below the line between the two ends of the front


@pytest.mark.parametrize("kind", ["reject", "hand-over=1", "answer"])
def test_what_happens_to_unsure_cases_is_told(folder: Path, kind: str) -> None:
    costs = ["--objectives", "min error-cost, min price", "--error-costs", "unsure.csv"]
    told = facts(folder, *PRICED, "--final", kind, "--pick", "best", *costs)
    held_out = told["held_out"]
    assert told["final"]["kind"] == kind.split("=", maxsplit=1)[0]
    assert (held_out["n_handed_over"] > 0) == kind.startswith("hand-over")
    if kind.startswith("hand-over"):
        assert held_out["n_unanswered"] == 0
    if kind == "reject":
        assert held_out["n_unanswered"] > 0


@pytest.mark.parametrize("decide", ["logistic", "dawid-skene", "votes", "weighted-votes"])
def test_answers_are_combined_as_said(folder: Path, decide: str) -> None:
    told = facts(
        folder, *PRICED, "--set", f"decide={decide}", "--set", "max-stages=3", "--set", "test-share=0.5"
    )
    assert (told["n_chosen"], told["n_test"]) == (120, 120)
    learned = [claim for claim in told["claims"] if claim.startswith("One stage, ")]
    rules = ["votes", decide][decide == "votes" :] if "votes" in decide else [COMBINED.get(decide, decide)]
    assert [claim.split(":")[0] for claim in learned] == [
        f"One stage, answers combined by {rule}" for rule in rules
    ]


def test_the_columns_of_a_long_log_are_named(folder: Path) -> None:
    told = facts(
        folder, *LONG, "--columns", "confidence=sure", "--objectives", "max accuracy, min price, min latency"
    )
    judges = {row["name"]: row["price"] for row in told["judges"]}
    assert judges == {"small": 1, "mid": 3, "large": 9}
    held_out = told["held_out"]
    assert 0.1 <= held_out["latency"] <= 1.3
    fewer = facts(folder, *PRICED, "--set", "drop=large")
    assert [row["name"] for row in fewer["judges"]] == ["small", "mid"]


def test_costs_of_mistakes_are_an_objective(folder: Path) -> None:
    told = facts(
        folder, *PRICED, "--objectives", "min error-cost, min price", "--error-costs", "costs.csv", "--pick", "best"
    )  # fmt: skip
    assert told["objective"] == "error-cost"
    held_out = told["held_out"]
    truth = pd.read_csv(folder / "answers.csv")["truth"]
    no, yes = held_out["recall"]
    assert yes > 0.9 > no  # a missed yes costs nine times as much
    assert 240 * held_out["value"] == pytest.approx(round(240 * held_out["value"]))
    assert held_out["value"] < 9 * (truth == "yes").mean()  # of answering no to all
    assert "of error cost a case" in told["verdict"][0] or "single judge" in told["verdict"][0]


def test_recall_and_specificity_are_objectives_of_two_classes(folder: Path) -> None:
    told = facts(
        folder, *PRICED, "--objectives", "max recall, max specificity, min price", "--set", "positive=no",
        "--limit", "recall>=0.85",
    )  # fmt: skip
    assert told["errors"]["positive"] == "no"
    front = {row["number"]: row for row in told["front"]}
    assert front[told["point"]]["recall"] >= 0.85
    assert "against a false alarm" in str(told["claims"])


def test_a_router_is_named_by_its_columns(folder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    table = pd.read_csv(folder / "answers.csv")
    topic = rng.choice(["code", "poem"], len(table))
    is_poem = topic == "poem"
    table.loc[is_poem, "truth"] = "yes"  # a free column tells the truth of half of the cases
    table.assign(topic=topic).to_csv(tmp_path / "a.csv", index=False)
    priced: list[str | Path] = ["--target", "truth", "--costs", folder / "prices.csv", "--limit", "price<=3"]
    words = [tmp_path / "a.csv", *priced]
    out, page = tmp_path / "panel.json", tmp_path / "p.html"
    run = done("panel", *words, "--router", "topic", "--out", out, "--out", page, cwd=folder)
    assert "where topic is code." in run.stdout
    assert len(run.stdout.splitlines()) <= 24
    assert "where topic is poem" in page.read_text(encoding="utf-8")
    assert load_panel(out).next({"topic": "poem"})["decision"]["label"] == "yes"
    protocol = tmp_path / "protocol.md"
    done("report", out, "--protocol", "--out", protocol, cwd=folder)
    assert "- Where topic is poem: begin with step " in protocol.read_text(encoding="utf-8")
    run = done("measure", out, *words, cwd=folder)  # knows its columns
    assert "Saved panel (by topic: " in run.stdout


def test_a_router_that_was_refused_is_on_the_first_screen_with_the_reason(tmp_path: Path) -> None:
    log = routed_log(0, 400, matters=False)
    table = pd.DataFrame(np.array(log.classes)[log.answers], columns=log.judges)
    table["truth"], table["topic"] = np.array(log.classes)[log.truth], log.features["topic"]
    table.assign(one="same").to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "prices.csv").write_text("name,cost\nsmall,1\nlarge,8\n", encoding="utf-8")
    given = ["a.csv", "--target", "truth", "--costs", "prices.csv", "--set", "max-stages=1"]
    text = unwrapped(done("panel", *given, "--router", "topic", cwd=tmp_path).stdout)
    assert "No router by topic: learned on a part of the cases, " in text
    text = unwrapped(done("panel", *given, "--router", "one", cwd=tmp_path).stdout)
    assert "No router by one: these columns form no groups." in text


def test_a_promise_is_given_or_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    told = facts(folder, *PRICED, "--answer-accuracy", "0.7", "--set", "confidence-level=0.9")
    assert told["n_calibration"] == told["n_test"] == 120
    assert told["guarantee"] is not None
    out = tmp_path / "p.json"
    run = shortlist("panel", *PRICED, "--answer-accuracy", "0.999", "--out", out, cwd=folder)
    assert run.returncode != 0
    assert re.search(r" \d+ % can be promised, for answers to \d+ of \d+ calibration", unwrapped(run.stderr))
    assert not out.exists()
    done("panel", *PRICED, "--answer-accuracy", "0.999", "--set", "anyway=yes", "--out", out, cwd=folder)
    panel = load_panel(out)
    assert panel.promise.startswith("Nothing can be promised")
    assert all(stage.answer_from == np.inf for stage in panel.stages)
    told = facts_of("measure", out, *PRICED, cwd=folder)
    assert told["promise"]["kept"] == "kept"
    assert told["standing"] == "as-good"
    text = shortlist("measure", out, *PRICED, cwd=folder).stdout
    assert text.startswith("No new panel can make the promise")
    assert "of these right" not in text.split("Best single judge")[0]
    assert "New minus saved" not in text


def _sure_log(path: Path, share_easy: float, easy: float, hard: float) -> None:
    """Write answers of one judge that is surer of easy cases, of which it gets more right."""
    rng = np.random.default_rng(5)
    is_easy = rng.random(800) < share_easy
    truth = rng.choice(["a", "b"], 800)
    right = rng.random(800) < np.where(is_easy, easy, hard)
    said = np.where(right, truth, np.where(truth == "a", "b", "a"))
    sure = np.round(np.where(is_easy, 0.9, 0.6) + rng.normal(0, 0.02, 800), 3)
    table = {"case": range(800), "judge": "m", "answer": said, "target": truth, "price": 1}
    pd.DataFrame(table).assign(confidence=sure).to_csv(path, index=False)


def test_under_a_promise_a_panel_that_answers_fewer_cases_for_the_same_price_takes_no_place(
    tmp_path: Path,
) -> None:
    _sure_log(tmp_path / "old.csv", 0.9, 0.99, 0.95)
    _sure_log(tmp_path / "new.csv", 0.55, 0.99, 0.91)
    run = done("panel", "old.csv", "--answer-accuracy", "0.94", "--out", "p.json", "--json", cwd=tmp_path)
    assert json.loads(run.stdout)["held_out"]["answered"] == 1
    told = facts_of("measure", "p.json", "new.csv", cwd=tmp_path)
    assert told["new"]["promised"]
    assert told["new"]["accuracy"] > told["saved"]["accuracy"]
    assert told["new"]["answered"] < 0.8
    assert told["promise"]["kept"] == "kept"
    assert (told["standing"], told["still_best"], told["difference_of"]) == ("better", True, "answered")
    assert told["difference"] == pytest.approx(told["new"]["answered"] - told["saved"]["answered"])
    text = shortlist("measure", "p.json", "new.csv", cwd=tmp_path).stdout
    assert "Keep the saved panel: it answers more cases" in unwrapped(text)
    assert text.count("p = ") == 1


def test_the_same_seed_gives_the_same_panel_and_another_one_other_cases(folder: Path) -> None:
    one, two, other = (facts(folder, *PRICED, "--pick", "best", "--seed", seed) for seed in ("1", "1", "2"))
    assert one["front"] == two["front"]
    assert one["held_out"] != other["held_out"]


def test_a_saved_panel_is_compared_with_a_new_search(folder: Path) -> None:
    told = facts_of("measure", "panel.json", *PRICED, "--limit", "price<=8", cwd=folder)
    assert told["command"] == "measure"
    assert {"saved", "new", "single", "difference", "p_value", "still_best", "notes"} <= told.keys()
    assert told["still_best"]
    dear = [*PRICED[:-1], "dear.csv"]
    told = facts_of("measure", "panel.json", *dear, cwd=folder)
    assert told["saved"]["price"] > told["new"]["price"]
    assert told["standing"] in {"beaten", "open"}
    text = unwrapped(done("measure", "panel.json", *dear, cwd=folder).stdout)
    assert text.startswith(FIRST_WORDS[told["verdict"]])
    former = done("panel", "compare", "panel.json", *dear, cwd=folder)
    assert unwrapped(former.stdout) == text


FIRST_WORDS = {"better": "Better: ", "as-good": "As good: ", "undecided": "Undecided: keep the saved panel, "}


@pytest.mark.parametrize("seed", range(4))
def test_the_command_that_measure_prints_ends_in_the_same_verdict(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.choice(["no", "yes"], 900)
    for name, shares in (("old", [0.7, 0.8, 0.93]), ("new", [0.7, 0.925, 0.93])):
        right = rng.random((900, 3)) < shares
        said = np.where(right, truth[:, None], np.where(truth == "no", "yes", "no")[:, None])
        pd.DataFrame(said, columns=["a", "b", "c"]).assign(truth=truth).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    (tmp_path / "prices.csv").write_text("name,cost\na,1\nb,2\nc,4\n")
    given = ["--target", "truth", "--costs", "prices.csv"]
    done("panel", "old.csv", *given, "--pick", "best", "--out", "p.json", cwd=tmp_path)
    told = facts_of("measure", "p.json", "new.csv", *given, cwd=tmp_path)
    limit = ["--limit", f"price<={told['at_most']!r}", *shlex.split(str(told["new_options"]))]
    again = facts_of("panel", "new.csv", *given, *limit, cwd=tmp_path)
    assert told["against"] == ("new" if again["take"] == "panel" else "single")
    assert again["single"]["name"] == told["single"]["name"]
    assert told["new_beside_single"] == str(again["sentence"]).replace("this panel", "the new panel")
    assert told["take"] in {"saved", told["against"]}
    text = unwrapped(done("measure", "p.json", "new.csv", *given, cwd=tmp_path).stdout)
    if told["take"] == "single":
        assert f"take {told['single']['name']} alone" in text
        assert "--pick single --out NEW.json." in text
        words = shlex.split(text.rpartition("shortlist ")[2].rstrip("."))
        line = [one for word in words for one in (["new.csv", *given] if word == "LOGS" else [word])]
        done(*line, cwd=tmp_path)
        assert load_panel(tmp_path / "NEW.json").judges == (told["single"]["name"],)


@pytest.mark.parametrize("kind", ["answer", "hand-over=1.5"])
def test_on_the_log_that_chose_it_a_saved_panel_is_still_the_best_for_its_price(
    folder: Path, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "cheap.json"
    done("panel", *PRICED, "--limit", "price<=2", "--final", kind, "--out", out, cwd=folder)
    told = facts_of("measure", out, *PRICED, cwd=folder)
    assert told["standing"] == "as-good"
    assert told["still_best"]
    assert told["new"]["price"] == told["saved"]["price"]
    assert told["at_most"] <= 2.0001
    text = shortlist("measure", out, *PRICED, cwd=folder).stdout
    assert told["same"] or told["alike"]  # learned from fewer cases
    assert text.startswith("Keep the saved panel: the new ")
    assert "New panel (" not in text
    assert "p = " not in text


def test_a_saved_panel_is_compared_by_the_question_that_it_remembers(folder: Path, tmp_path: Path) -> None:
    costs, out = tmp_path / "costs.csv", tmp_path / "panel.json"
    costs.write_text("said,truth,cost\nno,yes,7\nyes,no,2\n,yes,9\n", encoding="utf-8")
    dear = ["--objectives", "min error-cost, min price", "--error-costs", str(costs)]
    done("panel", *PRICED, *dear, "--limit", "price<=4", "--out", out, cwd=folder)
    costs_of = {
        "objectives": ["error-cost", "price"],
        "error_costs": [[0, 7], [2, 0], [2, 9]],
        "positive": None,
    }
    assert json.loads(out.read_text(encoding="utf-8"))["question"] == costs_of
    again = ["--set", "objectives=min error-cost, min price", *dear[2:]]
    told, same = (facts_of("measure", out, *PRICED, *more, cwd=folder) for more in ([], again))
    assert told["saved"]["objective"] == "error-cost"
    log, panel = read_log(folder / "answers.csv", columns=LogColumns(target="truth")), load_panel(out)
    cost = np.array([[0, 7], [2, 0], [2, 9]])[panel.run(log).codes, log.truth].mean()
    assert told["saved_on_all"]["value"] == pytest.approx(cost)
    names = ("saved", "new", "single", "p_value", "standing")
    assert [told[name] for name in names] == [same[name] for name in names]
    assert not any("As the options say" in note for note in [*told["notes"], *same["notes"]])
    costs.write_text("said,truth,cost\nno,yes,3\n", encoding="utf-8")
    run = shortlist("measure", out, *PRICED, *again, cwd=folder)
    assert f"As the options say, mistakes cost what {costs} says" in run.stderr
    run = shortlist("measure", out, *PRICED, "--set", "objectives=max accuracy, min price", cwd=folder)
    assert "chosen by min error-cost, min price, and is compared by max accuracy" in run.stderr
    old = json.loads(out.read_text(encoding="utf-8"))
    del old["question"], old["digest"]
    (tmp_path / "old.json").write_text(json.dumps(old), encoding="utf-8")
    told = facts_of("measure", str(tmp_path / "old.json"), *PRICED, cwd=folder)
    assert told["saved"]["objective"] == "accuracy"


def test_the_command_that_writes_the_new_panel_makes_the_same_promise(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, new = tmp_path / "saved.json", tmp_path / "new.json"
    promise = ["--answer-accuracy", "0.7", "--set", "confidence-level=0.9", "--final", "hand-over=1.5"]
    done("panel", *PRICED, *promise, "--pick", "best", "--out", out, cwd=folder)
    dear = [*PRICED[:-1], "dear.csv"]
    told = facts_of("measure", out, *dear, cwd=folder)
    assert told["new_options"] == " ".join(promise)
    print_compared(told | {"standing": "open"})
    text = capsys.readouterr().out
    most, options = re.search(r"panel\s+LOGS\s+--limit '(price<=\S+)'\s([\s\S]*?)--out", text).groups()  # type: ignore[union-attr]
    assert float(most.partition("<=")[2]) >= told["at_most"]
    done("panel", *dear, "--limit", most, *shlex.split(options), "--out", new, cwd=folder)
    assert load_panel(new).question.promise == (0.7, 0.9)  # type: ignore[union-attr]
    assert load_panel(new).final == load_panel(out).final


def test_a_panel_that_is_not_recommended_names_the_judge_to_ask_once(folder: Path) -> None:
    told = []
    for pick in ("best", "knee", "one-se"):
        run = done("panel", *PRICED, "--set", "test-share=0.4", "--pick", pick, cwd=folder)
        told.append(len(re.findall(r"[Aa]sk '?(?:small|mid|large)'?\s+alone", run.stdout)))
    assert max(told) == 1, told


def test_two_accuracies_of_one_judge_say_why_they_differ() -> None:
    choice = choose_panels(priced_log(0, 100), PanelOptions(test_share=None, decide="votes"))
    told = panel_report(choice, 0).facts
    assert told["kind"] == "alone"
    assert told["held_out"]["value"] != told["single"]["value"]
    assert "chosen anew without each part" in _measured_lines(told)[1]


def test_a_saved_panel_is_compared_with_one_that_is_no_slower(folder: Path, tmp_path: Path) -> None:
    out, new = tmp_path / "saved.json", tmp_path / "new.json"
    log = [*LONG, "--objectives", "max accuracy, min price, min latency"]
    table = pd.read_csv(folder / "long.csv")
    table["usd"] = table["model"].map({"small": 9, "mid": 2, "large": 1})  # the best one is the cheapest
    table.to_csv(tmp_path / "long.csv", index=False)
    done("panel", *log, "--limit", "latency<=0.25", "--pick", "best", "--out", out, cwd=tmp_path)
    told = facts_of("measure", out, *LONG, cwd=tmp_path)
    saved, options = load_panel(out), str(told["new_options"])
    limit = re.search(r"--limit 'latency<=(\S+)'", options)
    assert limit is not None, options
    read = LogColumns(case="id", judge="model", answer="label", price="usd", latency="ms", target="truth")
    mean = saved.run(read_log(tmp_path / "long.csv", columns=read)).latency.mean()
    assert float(limit[1]) == pytest.approx(mean, rel=0.2)
    assert told["new"]["latency"] <= 0.3
    text = shortlist("measure", out, *LONG, cwd=tmp_path).stdout
    assert f"a case, with latency<={limit[1]}." in unwrapped(text)
    done("panel", *log, "--limit", "price<=99", *shlex.split(options), "--out", new, cwd=tmp_path)
    free = facts_of("measure", out, *LONG, "--limit", "price<=99", cwd=tmp_path)
    assert free["limits"] == []
    assert free["new"]["latency"] > 0.3


def test_a_single_judge_that_is_named_keeps_the_limits(folder: Path) -> None:
    run = shortlist("panel", *PRICED, "--limit", "price<=3", cwd=folder)
    assert run.stdout.startswith("Ask mid alone, a single judge of 3, ")
    assert "large alone" not in run.stdout


def test_what_was_written_is_told_and_the_best_single_judge_can_be(folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "one.json")
    run = shortlist("panel", *PRICED, "--limit", "price<=8", "--out", out, cwd=folder)
    assert f"Written: {out}, the panel above" in run.stdout
    assert ("not large alone, which --pick single would write" in run.stdout) == ("Ask large" in run.stdout)
    run = shortlist("panel", *PRICED, "--limit", "price<=3", "--pick", "single", "--out", out, cwd=folder)
    assert f"Written: {out}, mid alone." in run.stdout
    panel = load_panel(out)
    assert (panel.judges, len(panel.stages)) == (("mid",), 1)
    assert panel.next({"mid": "yes"})["decision"]["label"] == "yes"


@refusals("panel")
def test_what_cannot_be_used_is_one_sentence(folder: Path, refused: Callable[[Path], None]) -> None:
    refused(folder)


@pytest.mark.parametrize("words", ["--limit size<=2", "--pick x"])
def test_options_of_the_point_are_refused_before_any_work(folder: Path, words: str) -> None:
    run = shortlist("panel", *PRICED, *words.split(), cwd=folder)
    assert len(run.stderr.splitlines()) == 1


def test_a_saved_panel_is_compared_as_it_compares_labels(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pd.read_csv(folder / "answers.csv")
    loud = table.assign(small=table["small"].str.upper())
    loud.to_csv(tmp_path / "loud.csv", index=False)
    costs = ("--target", "truth", "--costs", str(folder / "prices.csv"))
    done(
        "panel", "loud.csv", *costs, "--set", "fold=case", "--limit", "price<=1", "--out", "small.json",
        cwd=tmp_path,
    )  # fmt: skip
    told = facts_of("measure", "small.json", "loud.csv", *costs, cwd=tmp_path)
    assert told["saved"]["accuracy"] > 0.5
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "loud.csv").read_bytes())))
    piped = done("measure", "small.json", "-", *costs, "--json", cwd=tmp_path)
    assert json.loads(piped.stdout)["saved"] == told["saved"]


def test_cases_of_another_log_measure_as_measure_and_predict_do(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "answers.csv")
    table.head(160).to_csv(tmp_path / "known.csv", index=False)
    later = table.tail(80)[["truth", "large", "small", "mid"]]
    later.to_csv(tmp_path / "later.csv", index=False)
    (tmp_path / "prices.csv").write_text((folder / "prices.csv").read_text())
    log = ["known.csv", "--target", "truth", "--costs", "prices.csv", "--test", "later.csv"]
    out = ["--pick", "0", "--out", "p.json", "--out", "page.html"]
    told = facts_of("panel", *log, *out, cwd=tmp_path)
    assert (told["n_chosen"], told["n_test"], told["n_parts"], told["is_tested"]) == (160, 80, 0, True)
    panel = load_panel(tmp_path / "p.json")
    rows = later.drop(columns="truth").to_dict("records")
    said = [panel.next(row)["decision"] for row in rows]
    right = [one["label"] == truth for one, truth in zip(said, later["truth"], strict=True)]
    assert told["held_out"]["n_right"] == sum(right)
    assert told["held_out"]["price"] == pytest.approx(np.mean([one["cost"] for one in said]))
    words = ["p.json", "later.csv", "--target", "truth", "--costs", "prices.csv"]
    again = facts_of("measure", *words, cwd=tmp_path)["saved_on_all"]
    names = ("n_right", "accuracy", "accuracy_interval", "price", "recall")
    assert {name: again[name] for name in names} == {name: told["held_out"][name] for name in names}
    assert "80 test cases" in (tmp_path / "page.html").read_text()
    for pick in ("as-good", "single"):
        own = facts_of("panel", *log, "--pick", pick, "--out", "q.json", cwd=tmp_path)
        assert (own["n_test"], own["held_out"]["n_cases"]) == (80, 80)
