"""Logs that promptfoo wrote; samples/README.md says which version wrote which file."""

import json
from pathlib import Path
from typing import Any

import pytest

from shortlist.errors import BadInputError
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from shortlist.panels.scores import SILENT, UNASKED

SAMPLES = Path(__file__).parent / "samples"


def test_results_of_promptfoo_have_a_price_each_and_agree_with_its_own_verdicts() -> None:
    columns = LogColumns(features=("topic",))
    log = read_log(SAMPLES / "promptfoo.json", columns=columns)

    assert log.judges == ("mini", "large")
    results = json.loads((SAMPLES / "promptfoo.json").read_text())["results"]["results"]
    assert len(results) == log.answers.size
    for result in results:
        column = log.judges.index(result["provider"]["label"])
        row = result["testIdx"]
        assert (log.answers[row, column] == log.truth[row]) == result["success"]
        assert log.prices[row, column] == result["cost"]
        assert log.features["topic"][row] == result["vars"]["topic"]
    assert log.answers[4].tolist() == [SILENT, SILENT]
    assert dict(log.unknown_words) == {"I cannot say": 1}
    assert any("1 result ended in an error" in note for note in log.notes)
    named = read_log(SAMPLES / "promptfoo.json", columns=LogColumns(target="truth"))
    assert named.truth.tolist() == log.truth.tolist()


def test_results_of_promptfoo_may_stand_one_in_a_line() -> None:
    log = read_log(SAMPLES / "promptfoo.jsonl")

    assert log.answers.size - int((log.answers == UNASKED).sum()) == 3


def test_answers_from_a_cache_have_no_price_of_their_own(tmp_path: Path) -> None:
    document = json.loads((SAMPLES / "promptfoo.json").read_text())
    cached = document["results"]["results"][0]
    cached["response"]["cached"], cached["cost"] = True, 0
    file = tmp_path / "cached.json"
    file.write_text(json.dumps(document))
    log = read_log(file)

    assert log.prices[0, 0] == pytest.approx(0.001)
    assert any("1 result came from a cache" in note for note in log.notes)
    assert any("1 call without a price" in note for note in log.notes)


RECORD: dict[str, Any] = {"provider": {"id": "p"}, "vars": {"a": 1}, "response": {"output": "x"}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"provider": {}}, "must name its provider", id="no provider"),
        pytest.param({"vars": {}}, "variables or a number as 'testIdx'", id="no case of promptfoo"),
        pytest.param({"response": [1]}, "must have an object as 'response'", id="response"),
        pytest.param({"cost": "free"}, "finite numbers of at least 0 as price", id="cost"),
    ],
)
def test_records_of_wrong_kinds_are_refused_in_a_sentence(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps([RECORD | change]))
    with pytest.raises(BadInputError, match=message):
        read_log(file)
