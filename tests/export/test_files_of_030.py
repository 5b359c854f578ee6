"""Policies that version 0.3.0 exported answer as they did, and its panels are refused."""

import json
from pathlib import Path

import pytest

from shortlist.export import reader

FILES = Path(__file__).parent / "of_030"


@pytest.mark.parametrize("name", ["evolve", "enum", "emsco"])
def test_an_exported_policy_answers_every_row_as_it_did(name: str) -> None:
    told = json.loads((FILES / "answers.json").read_text(encoding="utf-8"))
    policy = reader.load(str(FILES / f"{name}.json"))
    found = [reader.answer(policy, row) for row in told["rows"]]
    said = [each["label"] if each["answered"] else "REJECT" for each in found]
    assert said == told[name]


def test_a_saved_panel_is_refused_with_how_to_make_it_anew() -> None:
    with pytest.raises(reader.ReaderError, match="of another version of Shortlist: make it anew by"):
        reader.load(str(FILES / "panel.json"))
