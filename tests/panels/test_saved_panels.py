"""Panels in service: the exported policy asks and decides row by row as the panel itself, whatever it is told."""

import functools
import json
import math
import operator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.export import reader
from shortlist.panels import Panel, load_panel
from shortlist.panels.answer_log import label_of, make_log
from shortlist.panels.decisions import JudgeVotes, ScoreTable
from shortlist.panels.policy import Final, Stage
from shortlist.panels.saved_panels import panel_of
from tests.panels.made import KINDS, given_of, log_of, panel_of_kind

FINALS = [Final(), Final("hand-over", 7.0), Final("reject")]


def one_by_one(
    panel: Panel, known: dict[str, Any], failed: Any = ()
) -> tuple[list[list[str]], dict[str, Any]]:
    """Ask stage after stage; return who was asked, and the decision."""
    asked, answers = [], dict[str, Any]()
    while (step := panel.next(answers, failed))["decision"] is None:
        assert step["ask"]
        assert not {*step["ask"]} & {*answers}
        asked.append(step["ask"])
        for name in step["ask"]:
            parts = {column: known[column] for column in known if column.split(".")[0] == name}
            answers |= parts
    assert step["ask"] == []
    return asked, step["decision"]


@pytest.mark.parametrize("final", FINALS, ids=lambda final: final.kind)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_stages", [1, 2, 3])
def test_the_reader_decides_every_case_as_the_panel_does(kind: str, n_stages: int, final: Final) -> None:
    rng = np.random.default_rng([KINDS.index(kind), n_stages, FINALS.index(final)])
    ended, undecided = set(), 0
    for draw in range(4):
        log = log_of(rng, n_judges=n_stages + 2, n_cases=100, wide=draw == 1)
        panel = panel_of_kind(rng, log, kind, n_stages, final)
        if draw == 2:  # one threshold for all stages, as under a promise
            panel = replace(panel, stages=tuple(replace(one, answer_from=0.9) for one in panel.stages))
        policy = json.loads(json.dumps(panel.plain(), allow_nan=False))
        reader.check(policy)
        outcome = panel.run(log)
        for case in range(len(log.cases)):
            told = reader.answer(policy, given_of(log, case, rng))
            code = outcome.codes[case]
            assert told["label"] == (log.classes[code] if code >= 0 else None)
            assert told["answered"] == (code >= 0)
            assert told["confidence"] == outcome.sure[case]  # to the last bit
            assert told["stage"] == outcome.stage[case] + 1
            assert told["cost"] == outcome.price[case]  # powers of two: exact in any order
            assert told["handed_over"] == bool(outcome.handed_over[case])
            ended.add(told["stage"])
            undecided += not told["answered"]
    assert undecided
    assert len(ended) > 1 or n_stages == 1


@pytest.mark.parametrize("kind", KINDS)
def test_asked_stage_by_stage_a_case_ends_as_if_all_had_answered_and_nobody_else_is_asked(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    log = log_of(rng, n_judges=5, n_cases=40)
    panel = panel_of_kind(rng, log, kind, 3, Final("hand-over", 7.0))
    for case in range(40):
        known = given_of(log, case, rng)
        asked, decision = one_by_one(panel, known)
        whole = panel.next(known)["decision"]
        assert decision == whole
        assert len(asked) == decision["stage"]
        assert asked == [
            [panel.judges[place] for place in stage.asks] for stage in panel.stages[: decision["stage"]]
        ]
        assert decision["asked"] == functools.reduce(operator.iadd, asked, [])
        paid = sum(panel.prices[panel.judges.index(name)] for name in decision["asked"])
        assert decision["cost"] == paid + 7.0 * decision["handed_over"]


@pytest.mark.parametrize("kind", KINDS)
def test_who_fails_is_silent_for_the_decision_and_named_with_the_reason(kind: str) -> None:
    rng = np.random.default_rng([7, KINDS.index(kind)])
    log = log_of(rng, n_judges=4, n_cases=30)
    panel = panel_of_kind(rng, log, kind, 2, Final("reject"))
    for case in range(30):
        known = given_of(log, case, rng)
        why = {name: "timed out" for name in log.judges if rng.random() < 0.4}
        _, decision = one_by_one(panel, {c: v for c, v in known.items() if c.split(".")[0] not in why}, why)
        hushed = {c: v for c, v in known.items() if c.split(".")[0] not in why} | dict.fromkeys(why)
        _, silent = one_by_one(panel, hushed)
        told = ("label", "stage", "confidence", "cost", "handed_over", "asked")
        assert [decision[name] for name in told] == [silent[name] for name in told]
        assert decision["failed"] == {name: "timed out" for name in decision["asked"] if name in why}
        assert {*decision["silent"]} | {*decision["failed"]} == {*silent["silent"]}
        assert panel.next(known, why)["decision"]["failed"] == decision["failed"]  # whatever came too late


HOSTILE: list[Any] = [
    None, "", "  ", math.nan, math.inf, -math.inf, True, False, "TRUE", "true ", 1, 1.0, "1.0", "1.", " 1", "01",
    "1e0", -0.0, "-0.0", 0, "0", 10**30, "٣", "٣.0", "x" * 100_000, "<script>", "None", "nan", "NaN", "no\x00", "²",
]  # fmt: skip


@pytest.mark.parametrize("classes", [("0", "1"), ("False", "True"), ("3", "no")])
def test_hostile_answers_are_classes_silence_or_unknown_words_exactly_as_in_a_log(
    classes: tuple[str, str],
) -> None:
    log = make_log(["a"], np.arange(len(HOSTILE)), [[value] for value in HOSTILE], classes=classes)
    panel = panel_of(one_judge(classes))
    for case, value in enumerate(HOSTILE):
        told = panel.next({"a": value})["decision"]
        code = log.answers[case, 0]
        assert told["label"] == (classes[code] if code >= 0 else None)
        word = label_of(value)
        assert told["unknown"] == ({"a": word} if code < 0 and word else {})
        assert told["silent"] == ([] if word else ["a"])


def one_judge(classes: tuple[str, ...]) -> dict[str, Any]:
    """The policy of one judge, who tells how sure it is."""
    return {
        "format": "shortlist-policy", "version": 2, "kind": "panel", "classes": list(classes), "reject_label": None,
        "judges": [{"name": "a", "price": 1.0, "latency": None, "confidence": {"knots": [0.0, 1.0], "values": [0.0, 1.0], "usual": 0.0}}],
        "stages": [{
            "asks": [0], "knows": [0], "answer_from": None,
            "decision": {"rule": "logistic", "bias": [0.0] * len(classes),
                         "labels": [[*map(list, np.eye(len(classes)).tolist()), [0.0] * len(classes)]],
                         "slopes": [np.eye(len(classes)).tolist()]},
        }],
        "final": {"kind": "answer", "price": 0.0}, "promise": "",
    }  # fmt: skip


@pytest.mark.parametrize("value", [[1], (1,), {1}, b"1", 1j, object(), 10**400, {"label": ["no"]}])
def test_what_is_no_label_is_refused_in_one_sentence(value: Any) -> None:
    panel = panel_of(one_judge(("no", "yes")))
    with pytest.raises(reader.ReaderError, match=r"^'a(\.label)?' must (hold|be)[^\n]*$"):
        panel.next({"a": value})


@pytest.mark.parametrize("value", [math.inf, "high", "1e400", [0.5], {}, b"1"])
def test_a_confidence_that_is_no_number_is_refused_in_one_sentence(value: Any) -> None:
    panel = panel_of(one_judge(("no", "yes")))
    with pytest.raises(reader.ReaderError, match=r"^'a\.confidence' must [^\n]*$"):
        panel.next({"a": {"label": "no", "confidence": value}})


def test_the_confidence_of_who_says_nothing_does_not_matter() -> None:
    told = panel_of(one_judge(("no", "yes"))).next({"a": {"label": "", "confidence": "high"}})["decision"]
    assert (told["silent"], told["answered"]) == (["a"], False)


def test_a_case_where_nobody_answered_is_never_sure() -> None:
    rng = np.random.default_rng(0)
    for kind in KINDS:
        log = log_of(rng, n_judges=4)
        panel = panel_of_kind(rng, log, kind, 2, Final())
        for row in (dict.fromkeys(log.judges), dict.fromkeys(log.judges, "Error 429")):
            told = panel.next(row)["decision"]
            assert (told["answered"], told["confidence"], told["label"]) == (False, 0.0, None)
        assert told["unknown"] == dict.fromkeys(told["asked"], "Error 429")


def test_equal_classes_are_not_decided() -> None:
    votes = JudgeVotes((0, 1), (1, 1))
    panel = panel_of(one_judge(("no", "yes")))
    two = Panel(
        ("a", "b"), panel.classes, (Stage((0, 1), votes, 0.5),), (1.0, 1.0),
        log_scale(2), (math.nan, math.nan),
    )  # fmt: skip
    assert two.next({"a": "no", "b": "yes"})["decision"]["label"] is None
    assert two.next({"a": "no", "b": "no"})["decision"]["label"] == "no"


def log_scale(n_judges: int) -> Any:
    from shortlist.panels.decisions import ConfidenceScale

    return ConfidenceScale((None,) * n_judges)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_panel_comes_back_as_it_was(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng([3, KINDS.index(kind)])
    log = log_of(rng, n_judges=4)
    for _ in range(3):
        panel = panel_of_kind(rng, log, kind, 2, Final("hand-over", 1.5))
        panel.save(tmp_path / "panel.json")
        again = load_panel(tmp_path / "panel.json")
        assert again.plain() == panel.plain()
        before, after = panel.run(log), again.run(log)
        for one, other in zip(before, after, strict=True):
            assert np.array_equal(one, other, equal_nan=True)


def test_a_panel_file_that_is_damaged_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    log = log_of(rng, n_judges=3)
    panel_of_kind(rng, log, "scores", 2, Final()).save(tmp_path / "panel.json")
    whole = (tmp_path / "panel.json").read_text(encoding="utf-8")
    (tmp_path / "changed.json").write_text(whole.replace('"j0"', '"j9"'), encoding="utf-8")
    with pytest.raises(BadFileError, match="a digest that is not that of its content"):
        load_panel(tmp_path / "changed.json")
    (tmp_path / "half.json").write_text(whole[: len(whole) // 2], encoding="utf-8")
    with pytest.raises(BadFileError, match="must be a policy of Shortlist"):
        load_panel(tmp_path / "half.json")
    with pytest.raises(BadInputError, match="cannot be read"):
        load_panel(tmp_path / "none.json")


def test_rows_of_a_table_answer_as_the_log_does(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    log = log_of(rng, n_judges=3)
    panel = panel_of_kind(rng, log, "scores", 2, Final("reject"))
    lines = ["j0.label,j0.confidence,j1,j1.confidence,j2"]
    for codes, sure in zip(log.answers, np.asarray(log.confidence), strict=True):
        words = [log.classes[code] if code >= 0 else "" for code in codes]
        numbers = ["" if math.isnan(one) else str(one) for one in sure]
        lines.append(f"{words[0]},{numbers[0]},{words[1]},{numbers[1]},{words[2]}")
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    panel.save(tmp_path / "panel.json")
    policy = reader.load(str(tmp_path / "panel.json"))
    told = [
        reader.answer(policy, row)
        for row in reader.table_rows(policy, str(tmp_path / "rows.csv"), "not asked")
    ]
    outcome = panel.run(log)
    assert [one["label"] for one in told] == [
        log.classes[code] if code >= 0 else None for code in outcome.codes
    ]
    assert [one["stage"] for one in told] == (outcome.stage + 1).tolist()


def test_what_the_score_of_a_panel_is_worth_is_the_plain_softmax() -> None:
    rng = np.random.default_rng(2)
    table = ScoreTable((0,), np.round(rng.normal(0, 1, 3 * (1 + 7)), 2), 3)
    panel = Panel(
        ("a",), ("no", "perhaps", "yes"), (Stage((0,), table, 0.0),), (1.0,), log_scale(1), (math.nan,)
    )
    plain = table.plain()
    scores = np.array(plain["bias"]) + plain["labels"][0][2]
    wanted = np.exp(scores) / np.exp(scores).sum()
    assert panel.next({"a": "yes"})["decision"]["probabilities"] == pytest.approx(wanted)
