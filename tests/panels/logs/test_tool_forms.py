"""Tool that wrote a file, found by its content."""

import copy
import gzip
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.logs.reading import read_log
from tests.panels.logs.mutated import KINDS, run

SAMPLES = Path(__file__).parent / "samples"
EVALS = [SAMPLES / "mini.eval", SAMPLES / "large.eval"]


def test_a_form_that_is_asked_for_must_be_the_files() -> None:
    assert read_log(EVALS[0], form="inspect-ai").judges == ("mockllm/mini",)
    with pytest.raises(BadFileError, match="must be a log of the form promptfoo, got inspect-ai"):
        read_log(EVALS[0], form="promptfoo")


def test_one_log_given_twice_is_refused_and_no_repeat(tmp_path: Path) -> None:
    copy = tmp_path / "copy.eval"
    shutil.copy(EVALS[0], copy)
    with pytest.raises(BadInputError, match="must differ from the other logs, got a copy of"):
        read_log([EVALS[0], copy])


LARGE = json.loads(gzip.decompress((SAMPLES / "large.json.gz").read_bytes()))
HARNESS = next((SAMPLES / "lm-eval" / "small").glob("samples_harmful_2*"))
DOCUMENTS = {
    "inspect-ai": {**LARGE, "eval": {"model": "m", "task": "t"}, "samples": LARGE["samples"][:4]},
    "promptfoo": json.loads((SAMPLES / "promptfoo.json").read_text())["results"]["results"][:4],
    "alpaca_eval": json.loads((SAMPLES / "alpaca-small.json").read_text()),
    "lm-evaluation-harness": [json.loads(line) for line in HARNESS.read_text().splitlines()],
    "a long table": [
        {"case": place // 2, "judge": "ab"[place % 2], "answer": "xy"[place % 3 == 0], "price": place / 3,
         "latency_ms": place, "confidence": 0.5, "target": "xy"[place // 2 % 2]}
        for place in range(12)
    ],
    "a wide table": [
        {"id": place, "a": "xy"[place % 2], "c:x": 0.5, "c:y": 0.5, "target": "xy"[place % 2]}
        for place in range(9)
    ],
    "Label Studio": [
        {"id": place, "data": {"text": "t"}, "annotations": [
            {"completed_by": who, "lead_time": 1.5, "ground_truth": False, "was_cancelled": False, "result": [
                {"from_name": "q", "type": "choices", "value": {"choices": ["xy"[(place + who) % 2]]}}
            ]} for who in (1, 2)
        ]} for place in range(4)
    ],
    "Argilla": [
        {"id": place, "fields": {"text": "t"}, "metadata": {}, "responses": [
            {"user_id": "u", "status": "submitted", "values": {"q": {"value": "xy"[place % 2]}}}
        ], "suggestions": {"q": {"agent": "m", "value": "x", "score": 0.5}}} for place in range(4)
    ],
    "OpenAI evals": [{"spec": {"completion_fns": ["m"], "eval_name": "e"}}] + [
        {"sample_id": f"s{place}", "type": "match",
         "data": {"correct": place % 2 == 0, "expected": "x", "picked": "x", "sampled": "x."}}
        for place in range(4)
    ],
}  # fmt: skip
VALUES = (
    "null", "[]", "{}", '""', "0", "-1", "1e308", "NaN", "Infinity", "1" + "0" * 400, "true", '"x"', "[1]",
    "[[1, 2], [3]]", '{"a": {"b": [1]}}', '"\\u0000"', "1.5", '"nan"', "-1000000000000000000000",
)  # fmt: skip


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the values of a document stand that are read, and not only kept."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        if key not in {
            "events",
            "messages",
            "events_data",
            "config",
            "prompts",
            "plan",
            "gradingResult",
            "namedScores",
        }:
            yield (*place, key)
            yield from _places(one, (*place, key))


@pytest.mark.slow
@pytest.mark.parametrize("tool", DOCUMENTS)
def test_a_log_with_any_value_in_place_of_another_is_read_or_refused(tmp_path: Path, tool: str) -> None:
    rng, sentences, n_read = random.Random(7), list[str](), 0
    for _ in range(30):
        document = copy.deepcopy(DOCUMENTS[tool])
        *owners, last = rng.choice(list(_places(document)))
        owner: Any = document
        for key in owners:
            owner = owner[key]
        owner[last] = json.loads(rng.choice(VALUES))
        (tmp_path / "log.json").write_text(json.dumps(document))
        try:
            log = read_log(tmp_path / "log.json")
        except BadInputError as error:
            sentences.append(str(error))
        else:
            assert log.answers.max() < len(log.classes)
            assert (log.prices >= 0).all()
            n_read += 1
    assert n_read > 0
    assert sentences
    assert max(map(len, sentences)) < 700


@pytest.mark.parametrize("name", KINDS)
def test_a_log_with_one_thing_wrong_is_refused_or_what_differs_is_noted(tmp_path: Path, name: str) -> None:
    ends, odd = run(name, 12, 7, tmp_path)
    assert odd == []
    assert ends["refused"] > 0
