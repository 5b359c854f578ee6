"""The log's own scores decide what is right, in logs of tools and in tables; and what repeats count as."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.candidates import FALLBACKS, SINGLE, shape_of
from shortlist.panels.choice import choose_panels, told_notes
from shortlist.panels.figures import figures
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns, as_score
from shortlist.panels.panel_options import PanelOptions
from tests.stored import Stored


def accuracies(log: AnswerLog) -> list[float]:
    return [round(float(share), 4) for share in log.is_right.mean(axis=0)]


def test_inspect_scores_of_the_shared_cases_decide(data_folder: Path, stored: Stored) -> None:
    folder = data_folder / "judges" / "cases" / "inspect-scored"
    log = read_log([folder / "small.json", folder / "large.json"])
    assert accuracies(log) == [0.575, 0.85]
    assert set(log.classes) == {"No", "No.", "Yes", "Yes."}
    stored(*log.notes)


def test_metrics_of_the_harness_in_the_shared_cases_decide(data_folder: Path) -> None:
    folder = data_folder / "judges" / "cases" / "lm-eval-rationale"
    log = read_log(sorted(folder.glob("*/*.jsonl")), costs=folder / "prices.csv")
    found = dict(zip(log.judges, accuracies(log), strict=True))
    assert found == {"small": 0.55, "large": 0.75}
    assert log.is_open


def test_a_template_of_promptfoo_is_the_variable_that_it_names(data_folder: Path, stored: Stored) -> None:
    log = read_log(data_folder / "judges" / "cases" / "promptfoo-template.json")
    assert log.classes == ("Oslo", "Rome")
    stored(*log.notes)


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("C", 1),
        ("I", 0),
        ("P", 0.5),
        ("N", 0),
        (True, 1),
        (1, 1),
        ("0.25", 0.25),
        (7, None),
        ("maybe", None),
        (None, None),
    ],
)
def test_scores_are_read_as_tools_write_them(value: Any, score: float | None) -> None:
    assert as_score(value) == score


def test_where_scores_and_texts_agree_nothing_changes() -> None:
    said, truth = [["x", "y"], ["y", "y"]] * 12, ["x", "y"] * 12
    plain = make_log(["a", "b"], range(24), said, truth)
    scored = make_log(
        ["a", "b"], range(24), said, truth, measures=Measures(scores=np.array([[1, 0], [1, 1]] * 12))
    )
    assert scored.right is None
    assert scored.notes == plain.notes


def test_equal_answers_with_different_scores_are_right_where_most_scores_are(stored: Stored) -> None:
    said = [["x", "x", "x"], ["x", "x", "y"], ["x", "y", "y"]]
    scores = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0.4]])
    log = make_log(["a", "b", "c"], range(3), said, ["x", "x", "y"], measures=Measures(scores=scores))
    assert log.right is not None
    assert log.right.tolist() == [[True] * 3, [False] * 3, [False] * 3]
    stored(*log.notes)
    half = Measures(scores=scores, right_above=0.3)
    other = make_log(["a", "b", "c"], range(3), said, ["x", "x", "y"], measures=half)
    assert other.right is not None
    assert other.right[2].tolist() == [False, True, True]


def test_scores_without_a_target_are_enough() -> None:
    said = [["x", "y"], ["y", "y"], ["x", "x"]]
    log = make_log(["a", "b"], range(3), said, measures=Measures(scores=[[1, 0], [0, 0], [1, 1]]))
    assert log.is_right.tolist() == [[True, False], [False, False], [True, True]]
    assert [log.classes[code] for code in log.truth] == ["x", "another answer", "x"]


def test_an_answer_without_a_score_is_right_if_it_is_the_target() -> None:
    nan = float("nan")
    log = make_log(
        ["a", "b"],
        range(2),
        [["x", "x!"], ["y", "x!"]],
        ["x", "x"],
        measures=Measures(scores=[[nan, 1], [nan, 1]]),
    )
    assert log.is_right.tolist() == [[True, True], [False, True]]


SCORED = "case,judge,score,price,topic\n" + "".join(
    f"c{case},{judge},{'right' if (case * 7 + ord(judge)) % 5 < good else 'wrong'},{price},{'ab'[case % 2]}\n"
    for case in range(60)
    for judge, good, price in (("s", 3, 1), ("t", 4, 5))
)


def test_a_scored_log_without_answers_is_read_and_searched(tmp_path: Path, stored: Stored) -> None:
    path = tmp_path / "scored.csv"
    path.write_text(SCORED)
    log = read_log(path, columns=LogColumns(features=["topic"]))
    assert log.is_open
    assert log.judges == ("s", "t")
    stored(*log.notes)
    choice = choose_panels(log)
    assert {judge for one in choice.found for judge in one.recipe.judges} == {0, 1}
    best = max(accuracies(log))
    assert choice.front.values[:, 0].max() >= best - 1e-9


def test_gaps_among_scores_alone_are_missing_answers_and_nothing_is_voted_on(
    tmp_path: Path, stored: Stored
) -> None:
    rows = SCORED.splitlines()
    rows[5] = rows[5].replace("right", "").replace("wrong", "")
    path = tmp_path / "scored.csv"
    path.write_text("\n".join(rows[:9] + rows[10:]))  # one call is not scored, and one is missing
    log = read_log(path)
    assert (log.answers < 0).sum() == 2
    stored(*log.notes)
    for some in (log, log.at(np.arange(24))):
        choice = choose_panels(some, PanelOptions(test_share=0.05))
        assert shape_of(choice.cases).families == (SINGLE, FALLBACKS)
        assert not any("agreement" in claim or "votes" in claim for claim in choice.claims)


def test_a_router_sends_cases_to_the_judge_that_the_scores_favour(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    shares = {"s": (0.95, 0.3), "m": (0.4, 0.9)}
    rows = [
        f"c{case},{judge},{int(rng.random() < shares[judge][case % 2])},1,{'ab'[case % 2]}"
        for case in range(600)
        for judge in "sm"
    ]
    path = tmp_path / "scored.csv"
    path.write_text("\n".join(["case,judge,score,price,topic", *rows]))
    log = read_log(path, columns=LogColumns(features=["topic"]))
    choice = choose_panels(log, PanelOptions(router=("topic",)))
    best = choice.panel(int(choice.front.values[:, 0].argmax()))
    assert best.router is not None
    assert figures(best, choice.test).accuracy > choice.test.is_right.mean(axis=0).max() + 0.1
    assert not any("free text" in note for note in told_notes(log, choice))


def test_scores_beyond_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "scored.csv"
    path.write_text("case,judge,score\nc1,a,7\nc1,b,3\n")
    with pytest.raises(BadFileError, match=r"must have scores from 0 to 1, or right and.*got 7 in record 1"):
        read_log(path)
    with pytest.raises(BadInputError, match="scores must be from 0 to 1"):
        make_log(["a"], [1], [["x"]], ["x"], measures=Measures(scores=[[2.0]]))


REPEATED = "task,worker,label\nt1,a,x\nt1,a,y\nt1,a,y\nt1,b,x\nt2,a,x\nt2,b,x\nt2,b,y\n"


@pytest.mark.parametrize(
    ("repeats", "said"), [("first", [["x", "x"], ["x", "x"]]), ("majority", [["y", "x"], ["x", ""]])]
)
def test_a_repeated_answer_counts_as_one_says(
    repeats: str, said: list[list[str]], tmp_path: Path, stored: Stored
) -> None:
    path = tmp_path / "crowd.csv"
    path.write_text(REPEATED)
    with pytest.raises(BadFileError, match=r"3 more answers.*Pass `repeats='first'`"):
        read_log(path)
    log = read_log(path, columns=LogColumns(repeats=repeats))
    assert [[log.classes[code] if code >= 0 else "" for code in row] for row in log.answers] == said
    stored(*log.notes)


def test_the_mean_of_repeated_numbers_is_their_answer(tmp_path: Path) -> None:
    path = tmp_path / "crowd.jsonl"
    rows = [("t1", "a", 2), ("t1", "a", 4), ("t1", "b", 3), ("t2", "a", 1), ("t2", "b", 1)]
    path.write_text(
        "\n".join(json.dumps(dict(zip(("task", "worker", "label"), row, strict=True))) for row in rows)
    )
    log = read_log(path, columns=LogColumns(repeats="mean"))
    assert log.answers.tolist() == [[1, 1], [0, 0]]
    path.write_text(path.read_text().replace("4", '"x"'))
    with pytest.raises(BadFileError, match="must hold numbers where repeated answers are averaged"):
        read_log(path, columns=LogColumns(repeats="mean"))


def test_a_truth_that_is_the_same_in_every_case_leaves_the_scores_to_decide(
    tmp_path: Path, stored: Stored
) -> None:
    rng = np.random.default_rng(3)
    scores = (rng.random((60, 2)) < [0.6, 0.9]).astype(int)
    table = pd.DataFrame(
        {"task": np.repeat(np.arange(60), 2), "model": ["a", "b"] * 60, "score": scores.ravel(),
         "label": [f"text {n}" for n in range(120)], "truth": "solved"}
    )  # fmt: skip
    table.to_csv(tmp_path / "log.csv", index=False)
    columns = LogColumns(score="score", target="truth")
    log = read_log(tmp_path / "log.csv", columns=columns)
    assert log.is_right.tolist() == (scores == 1).tolist()
    stored(*log.notes)
    found = choose_panels(log, PanelOptions(test_share=None)).front.values[:, 0]
    assert found.max() == pytest.approx(scores[:, 1].mean())
