"""Logs that lm-evaluation-harness wrote; samples/README.md says which version wrote which file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.panels.logs.reading import read_log
from shortlist.panels.scores import SILENT

SAMPLES = Path(__file__).parent / "samples"


def _samples_of(judge: str, task: str) -> Path:
    return next((SAMPLES / "lm-eval" / judge).glob(f"samples_{task}_2*"))


def test_choices_of_the_harness_have_the_probabilities_of_their_likelihoods() -> None:
    paths = [_samples_of("small", "harmful"), _samples_of("large", "harmful")]
    log = read_log(paths)

    assert log.judges == ("small", "large")
    assert log.classes == ("no", "yes")
    assert log.probabilities is not None
    for column, path in enumerate(paths):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        by_case = {case: row for row, case in enumerate(log.cases)}
        for line in lines:
            row = by_case[line["doc_hash"][:16]]
            likelihoods = np.exp([float(response[0]) for response in line["filtered_resps"]])
            assert log.probabilities[row, column] == pytest.approx(likelihoods / likelihoods.sum())
            assert (log.answers[row, column] == log.truth[row]) == (line["acc"] == 1.0)
            assert log.classes[log.truth[row]] == ("yes" if line["doc"]["truth"] else "no")


def test_texts_of_the_harness_that_are_no_class_are_unknown_words() -> None:
    log = read_log([_samples_of("small", "harmful_text"), _samples_of("large", "harmful_text")])

    assert log.judges == ("small", "large")
    assert dict(log.unknown_words) == {"lol": 8}
    assert (log.answers == SILENT).all()


def test_tasks_of_one_judge_are_other_cases_that_share_what_was_shown() -> None:
    log = read_log([_samples_of("small", "harmful"), _samples_of("small", "harmful_text")])

    assert log.answers.shape == (8, 1)
    assert log.cases[0].startswith("harmful/")
    assert log.groups is not None
    assert log.groups.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


RECORD: dict[str, Any] = {"doc_id": 1, "filtered_resps": [], "doc": {}, "filter": "none", "target": "a"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"filtered_resps": "x"}, "must have a list as 'filtered_resps'", id="text"),
        pytest.param({"filtered_resps": [["a", 1], ["b", 1]]}, "log likelihoods", id="likelihoods"),
        pytest.param({"doc_id": None}, "must have a text as 'doc_hash'", id="no case"),
    ],
)
def test_records_of_wrong_kinds_are_refused_in_a_sentence(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps([RECORD | change]))
    with pytest.raises(BadInputError, match=message):
        read_log(file)
