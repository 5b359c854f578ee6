"""Panels in service: the exported policy asks and decides row by row as the panel itself, whatever it is told."""

import json
import math
import random
import re
from collections.abc import Callable
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
from shortlist.panels.policy import Final, Question, Stage
from shortlist.panels.saved_panels import panel_of
from tests.export.test_damaged_policies import mutated
from tests.panels.made import KINDS, behind_a_router, log_of, panel_of_kind

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


SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "reference" / "panel-policy.schema.json").read_text(
        encoding="utf-8"
    )
)
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "null": (type(None),),
    "integer": (int,), "number": (int, float),
}  # fmt: skip


def is_of(value: Any, names: Any) -> bool:
    kinds = [names] if isinstance(names, str) else names
    return any(
        isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
        for kind in kinds
    )


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is as the part of JSON Schema says that the file uses."""
    rules: dict[str, Callable[[Any], bool]] = {
        "$schema": lambda _: True, "title": lambda _: True, "description": lambda _: True, "$defs": lambda _: True,
        "$ref": lambda name: fits(value, SCHEMA["$defs"][name.rpartition("/")[2]]),
        "type": lambda names: is_of(value, names),
        "const": lambda wanted: value == wanted,
        "enum": lambda allowed: value in allowed,
        "anyOf": lambda parts: any(fits(value, part) for part in parts),
        "pattern": lambda text: re.search(text, value) is not None,
        "minimum": lambda least: value is None or value >= least,
        "minItems": lambda least: len(value) >= least,
        "maxItems": lambda most: len(value) <= most,
        "uniqueItems": lambda _: len({json.dumps(one) for one in value}) == len(value),
        "items": lambda part: all(fits(one, part) for one in value),
        "required": lambda names: value is None or {*names} <= {*value},
        "properties": lambda parts: value is None
        or all(fits(value[name], part) for name, part in parts.items() if name in value),
        "additionalProperties": lambda _: value is None or {*value} <= {*schema["properties"]},
    }  # fmt: skip
    ordered = sorted(schema, key=lambda name: name != "type")  # other rules look at values of that type
    return all(rules[name](schema[name]) for name in ordered)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "final", [Final(), Final("hand-over", 2.5), Final("reject")], ids=lambda one: one.kind
)
def test_exported_panels_are_as_the_schema_says(kind: str, final: Final) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    log = log_of(rng, n_judges=4)
    for n_stages in (1, 2, 3):
        plain = panel_of_kind(rng, log, kind, n_stages, final).plain()
        assert fits(json.loads(json.dumps(plain, allow_nan=False)), SCHEMA)


def test_a_router_is_as_the_schema_says() -> None:
    rng = np.random.default_rng(3)
    panel = behind_a_router(panel_of_kind(rng, log_of(rng, n_judges=4), "scores", 2, Final()))
    plain = json.loads(json.dumps(panel.plain(), allow_nan=False))
    assert fits(plain, SCHEMA)
    for router in ({"branch": 1}, {"column": "topic"}, plain["router"] | {"yes": {"branch": 0}}, 7):
        assert not fits(plain | {"router": router}, SCHEMA)
    assert not fits(plain | {"branches": []}, SCHEMA)


@pytest.mark.parametrize("kind", ["scores", "majority counted equal"])
def test_what_is_left_out_or_of_another_kind_does_not_fit_the_schema(kind: str) -> None:
    rng = np.random.default_rng(1)
    plain = json.loads(json.dumps(panel_of_kind(rng, log_of(rng, n_judges=3), kind, 2, Final()).plain()))
    for name in SCHEMA["required"]:
        assert not fits({one: value for one, value in plain.items() if one != name}, SCHEMA)
    for name in ("judges", "stages", "classes", "final", "kind"):
        assert not fits(plain | {name: 7}, SCHEMA)
    draws = random.Random(kind)
    changed = [mutated(plain, draws) for _ in range(200)]
    assert sum(not fits(one, SCHEMA) for one in changed) > 60


def test_a_panel_remembers_what_it_was_chosen_for_and_another_form_of_that_is_refused() -> None:
    rng = np.random.default_rng(5)
    panel = panel_of_kind(rng, log_of(rng, n_judges=3), "scores", 2, Final())
    asked = Question(("error-cost", "price"), ((0, 9, 1), (2, 0, 5), (4, 1, 0), (3, 3, 3)))
    promised = Question(("accuracy", "price"), promise=(0.9, 0.95))
    for question in (asked, promised, Question(("recall", "specificity", "price"), positive="yes")):
        plain = json.loads(json.dumps(replace(panel, question=question).plain()))
        assert fits(plain, SCHEMA)
        reader.check(plain)
        assert panel_of(plain).question == question
    assert panel_of(json.loads(json.dumps(panel.plain()))).question is None
    open_policy = {name: value for name, value in plain.items() if name != "digest"}
    for change in ({"objectives": "price"}, {"error_costs": [[0, 1, 2]]}, {"positive": 3}):
        with pytest.raises(reader.ReaderError, match="the policy is damaged: "):
            reader.check(open_policy | {"question": open_policy["question"] | change})
