"""Logs that alpaca_eval wrote; samples/README.md says which version wrote which file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.panels.logs.reading import read_log
from shortlist.panels.scores import SILENT

SAMPLES = Path(__file__).parent / "samples"


def test_annotations_of_alpaca_eval_have_their_prices_and_a_truth_from_another_file(tmp_path: Path) -> None:
    people = json.loads((SAMPLES / "alpaca-small.json").read_text())
    said = [dict(one, annotator=person) for person in ("p", "q", "r") for one in people]
    said[0]["preference"] = 2.0  # two of three prefer the first
    truth = tmp_path / "people.json"
    truth.write_text(json.dumps(said))
    log = read_log([SAMPLES / "alpaca-small.json", SAMPLES / "alpaca-large.json"], truth=truth)

    assert log.judges == ("small", "large")
    assert log.classes == ("1", "2")
    assert log.answers.T.tolist() == [[0, 0, 1, 1, 0], [0, 1, 0, 1, SILENT]]
    assert log.truth.tolist() == [0, 0, 1, 1, 0]
    assert log.prices.tolist() == [[0.001, 0.03]] * 5
    assert log.latency is not None
    assert log.latency[0].tolist() == [0.5, 0.5]


def test_preferences_between_two_outputs_tell_probabilities(tmp_path: Path) -> None:
    """As the weighted annotators write them, and with the names of prices before version 0.6."""
    said = [
        {"instruction": str(k), "output_1": "a", "output_2": "b", "annotator": "w", "preference": preference,
         "price_per_example": 0.5, "time_per_example": 2.0}
        for k, preference in enumerate([1.25, 1.5, 1.9, 1.0, None])
    ]  # fmt: skip
    file = tmp_path / "annotations.json"
    file.write_text(json.dumps(said))
    log = read_log(file)

    assert log.answers[:, 0].tolist() == [0, SILENT, 1, 0, SILENT]
    assert log.probabilities is not None
    assert log.probabilities[:3, 0] == pytest.approx(np.array([[0.75, 0.25], [0.5, 0.5], [0.1, 0.9]]))
    assert np.isnan(log.probabilities[3:]).all()
    assert (log.prices == 0.5).all()
    assert any("1 draw count as no answer" in note for note in log.notes)


RECORD: dict[str, Any] = {"annotator": "a", "preference": 1, "output_1": "x", "output_2": "y"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"preference": 3}, "must have a preference from 1 to 2", id="preference"),
        pytest.param({"annotator": None}, "must have a name as 'annotator'", id="annotator"),
        pytest.param({"price_per_example": -1}, "at least 0 as price", id="negative price"),
    ],
)
def test_records_of_wrong_kinds_are_refused_in_a_sentence(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps([RECORD | change]))
    with pytest.raises(BadInputError, match=message):
        read_log(file)
