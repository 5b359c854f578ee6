"""Panels in service: the exported policy asks and decides row by row as the panel itself, whatever it is told."""

import math
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
from tests.panels.made import KINDS, log_of, panel_of_kind

FINALS = [Final(), Final("hand-over", 7.0), Final("reject")]


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


def test_a_panel_file_that_is_damaged_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    log = log_of(rng, n_judges=3)
    panel = panel_of_kind(rng, log, "scores", 2, Final())
    panel.save(tmp_path / "panel.json")
    assert load_panel(tmp_path / "panel.json").plain() == panel.plain()
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
