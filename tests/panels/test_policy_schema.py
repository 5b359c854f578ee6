"""The JSON schema of a panel's policy says what exports are, and no more."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.export import reader
from shortlist.panels.policy import Final, Question
from shortlist.panels.saved_panels import panel_of
from tests.export.test_damaged_policies import mutated
from tests.panels.made import KINDS, behind_a_router, log_of, panel_of_kind

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
    for question in (asked, Question(("recall", "specificity", "price"), positive="yes")):
        plain = json.loads(json.dumps(replace(panel, question=question).plain()))
        assert fits(plain, SCHEMA)
        reader.check(plain)
        assert panel_of(plain).question == question
    assert panel_of(json.loads(json.dumps(panel.plain()))).question is None
    open_policy = {name: value for name, value in plain.items() if name != "digest"}
    for change in ({"objectives": "price"}, {"error_costs": [[0, 1, 2]]}, {"positive": 3}):
        with pytest.raises(reader.ReaderError, match="the policy is damaged: "):
            reader.check(open_policy | {"question": open_policy["question"] | change})
