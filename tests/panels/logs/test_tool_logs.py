"""Logs that the tools' own packages wrote; samples/README.md says which version wrote which file."""

import gzip
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import SILENT, UNASKED
from shortlist.panels.logs import archives
from shortlist.panels.logs.log_columns import LogColumns
from shortlist.panels.logs.reading import read_log

SAMPLES = Path(__file__).parent / "samples"
HARNESS = [SAMPLES / "lm-eval" / judge for judge in ("small", "large")]
EVALS = [SAMPLES / "mini.eval", SAMPLES / "large.eval"]


def _samples_of(judge: str, task: str) -> Path:
    return next((SAMPLES / "lm-eval" / judge).glob(f"samples_{task}_2*"))


def test_an_archive_of_inspect_ai_says_what_its_own_scorer_counted() -> None:
    log = read_log(EVALS, columns=LogColumns(features=("topic", "length")))

    assert log.judges == ("mockllm/mini", "mockllm/large")
    assert log.classes == ("no", "yes")
    assert log.answers.shape == (10, 2)
    document = json.loads(gzip.decompress((SAMPLES / "large.json.gz").read_bytes()))
    right = {
        (sample["id"], sample["epoch"]): sample["scores"]["match"]["value"] == "C"
        for sample in document["samples"]
    }
    first = [right[case, epoch] for epoch in (1, 2) for case in ("s0", "s1", "s2", "s3", "s4")]
    assert (log.answers[:, 1] == log.truth).tolist() == first
    assert log.cases.tolist() == ["s0", "s1", "s2", "s3", "s4"] * 2
    assert log.groups is not None
    assert log.groups.tolist() == [0, 1, 2, 3, 4] * 2
    assert log.features["topic"].tolist() == ["a", "b", "a", "b", "a"] * 2
    assert log.features["length"].tolist() == [10, 11, 12, 13, 14] * 2
    assert dict(log.unknown_words) == {"I cannot say": 2}
    assert log.latency is not None
    assert (log.latency > 0).all()
    assert any("5 rows of the log repeat a case" in note for note in log.notes)


def test_the_json_of_inspect_ai_says_the_same_as_its_archive() -> None:
    archive, document = read_log(SAMPLES / "large.eval"), read_log(SAMPLES / "large.json.gz")

    assert archive.answers.tolist() == document.answers.tolist()
    assert archive.truth.tolist() == document.truth.tolist()
    assert archive.cases.tolist() == document.cases.tolist()


def _prices_per_token(tmp_path: Path, prices: dict[str, Any]) -> Path:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"sample_spec": {"input_cost_per_token": "a number"}, **prices}))
    return file


def test_tokens_are_priced_by_the_model_with_or_without_its_provider(tmp_path: Path) -> None:
    prices = _prices_per_token(
        tmp_path,
        {
            "mockllm/mini": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5},
            "large": {"input_cost_per_token": 3e-6, "output_cost_per_token": 2e-5, "mode": "chat"},
            "painter": {"input_cost_per_image": 0.1},
        },
    )
    log = read_log(EVALS, token_prices=prices)

    assert log.prices == pytest.approx(np.tile([100e-6 + 10e-5, 300e-6 + 20e-5], (10, 1)))


def test_models_without_a_price_per_token_are_named(tmp_path: Path) -> None:
    prices = _prices_per_token(
        tmp_path, {"mini": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5}}
    )
    with pytest.raises(
        BadInputError, match="prices must be known for every judge, or for none, got none for"
    ):
        read_log(EVALS, token_prices=prices)

    log = read_log(EVALS, token_prices=prices, costs={"mockllm/large": 0.5})
    assert log.prices[0].tolist() == pytest.approx([2e-4, 0.5])
    assert any("has no prices per token of 'mockllm/large'" in note for note in log.notes)


def _changed(tmp_path: Path, name: str, change: Any) -> Path:
    """Write a log of inspect-ai in JSON whose samples were changed."""
    document = json.loads(gzip.decompress((SAMPLES / "large.json.gz").read_bytes()))
    for sample in document["samples"]:
        change(sample)
    file = tmp_path / name
    file.write_text(json.dumps(document))
    return file


def test_a_sample_that_failed_is_silent_and_its_cost_is_the_one_that_was_told(tmp_path: Path) -> None:
    def change(sample: dict[str, Any]) -> None:
        sample["model_usage"]["mockllm/large"]["total_cost"] = 0.25
        sample["model_usage"]["grader"] = {"input_tokens": 1, "output_tokens": 1, "total_cost": 9.0}
        if sample["id"] == "s1":
            sample["error"] = {"message": "gone", "traceback": "", "traceback_ansi": ""}

    log = read_log(_changed(tmp_path, "failed.json", change))

    assert log.answers[:, 0].tolist().count(SILENT) == 2
    assert (log.prices == 0.25).all()
    assert any("2 samples ended in an error" in note for note in log.notes)
    assert any("what 'grader' cost besides the judge is not counted" in note for note in log.notes)


def test_of_several_right_answers_each_counts_as_the_first(tmp_path: Path) -> None:
    def change(sample: dict[str, Any]) -> None:
        sample["target"] = ["yes", "no"] if sample["id"] == "s0" else sample["target"]
        sample["scores"]["match"]["answer"] = "no"

    log = read_log(_changed(tmp_path, "several.json", change))

    names = [log.classes[code] for code in log.answers[:, 0]]
    assert names == ["yes" if case == "s0" else "no" for case in log.cases]


def test_without_a_scorers_answer_the_whole_output_is_the_answer(tmp_path: Path) -> None:
    log = read_log(_changed(tmp_path, "outputs.json", lambda sample: sample["scores"].clear()))

    assert log.answers.tolist() == read_log(SAMPLES / "large.json.gz").answers.tolist()
    assert any("no scorer tells the answer of 10 samples" in note for note in log.notes)


def test_judges_of_one_model_are_told_apart_by_a_setting_of_the_evaluation(tmp_path: Path) -> None:
    paths = []
    for prompt in ("plain", "steps"):
        document = json.loads(gzip.decompress((SAMPLES / "large.json.gz").read_bytes()))
        document["eval"]["task_args"] = {"prompt": prompt}
        paths.append(tmp_path / f"{prompt}.json")
        paths[-1].write_text(json.dumps(document))

    assert read_log(paths, columns=LogColumns(judge="prompt")).judges == (
        "mockllm/large plain",
        "mockllm/large steps",
    )
    repeats = read_log(paths)
    assert repeats.answers.shape == (20, 1)
    assert repeats.groups is not None
    assert len(set(repeats.groups.tolist())) == 5
    assert any("Several logs hold answers of 'mockllm/large'" in note for note in repeats.notes)


def test_an_evaluation_that_had_not_ended_is_read_as_far_as_it_came(tmp_path: Path) -> None:
    """Until its end, an archive has `_journal/start.json` in place of `header.json`."""
    document = json.loads(gzip.decompress((SAMPLES / "large.json.gz").read_bytes()))
    file = tmp_path / "begun.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": document["eval"]}))
        for sample in document["samples"][:3]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    log = read_log(file)

    assert log.cases.tolist() == [sample["id"] for sample in document["samples"][:3]]
    assert any("had not ended" in note for note in log.notes)


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


def test_a_form_that_is_asked_for_must_be_the_files() -> None:
    assert read_log(EVALS[0], form="inspect-ai").judges == ("mockllm/mini",)
    with pytest.raises(BadFileError, match="must be a log of the form promptfoo, got inspect-ai"):
        read_log(EVALS[0], form="promptfoo")


def test_one_log_given_twice_is_refused_and_no_repeat(tmp_path: Path) -> None:
    copy = tmp_path / "copy.eval"
    shutil.copy(EVALS[0], copy)
    with pytest.raises(BadInputError, match="must differ from the other logs, got a copy of"):
        read_log([EVALS[0], copy])


def test_a_truncated_archive_is_refused_whole(tmp_path: Path) -> None:
    content = EVALS[0].read_bytes()
    for end in (10, 1000, len(content) - 10):
        file = tmp_path / "cut.eval"
        file.write_bytes(content[:end])
        with pytest.raises(BadFileError):
            read_log(file)


def test_an_archive_with_damaged_bytes_is_refused_in_a_sentence(tmp_path: Path) -> None:
    content = bytearray(EVALS[0].read_bytes())
    content[1500:1600] = bytes(100)
    file = tmp_path / "damaged.eval"
    file.write_bytes(bytes(content))
    with pytest.raises(BadFileError, match="is a damaged archive"):
        read_log(file)


def _archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "m", "task": "t"}}))
        for name, content in members.items():
            archive.writestr(f"samples/{name}.json", content)
    return file.getvalue()


@pytest.mark.parametrize("packed", [EVALS[0].read_bytes(), _archive(s=b" " * 5001)], ids=["zstd", "deflate"])
@pytest.mark.parametrize("limit", ["MOST_OF_MEMBER", "MOST_OF_ALL"])
def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bytes, limit: str
) -> None:
    monkeypatch.setattr(archives, limit, 5000)
    file = tmp_path / "bomb.eval"
    file.write_bytes(packed)
    with pytest.raises(BadFileError, match=r"unpacks to more than [0-9,]+ bytes"):
        read_log(file)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        pytest.param(b"[1, 2]", "must be an object, got a list", id="list"),
        pytest.param(b"null", "must be an object, got null", id="null"),
        pytest.param(b'{"id": {}, "epoch": 1}', "must have a name or number as 'id'", id="id is an object"),
        pytest.param(b'{"id": 1, "epoch": 1, "scores": [1]}', "must have an object as 'scores'", id="scores"),
        pytest.param(
            b'{"id": 1, "epoch": 1, "total_time": "soon"}',
            "finite numbers of at least 0 as latency",
            id="time",
        ),
        pytest.param(
            b'{"id": 1, "epoch": 1, "model_usage": {"m": {"total_cost": NaN}}}',
            "must hold at least one label",
            id="a cost that is not a number is not told",
        ),
        pytest.param(
            b'{"id": 1, "epoch": 1, "model_usage": {"m": {"total_cost": -1}}}',
            "at least 0 as price",
            id="negative",
        ),
        pytest.param(
            b'{"id": 1, "epoch": 1, "model_usage": {"m": {"total_cost": 1e999}}}', "as price", id="infinite"
        ),
        pytest.param(b'{"id": ' + b"9" * 10**6 + b"}", "a number of thousands of digits", id="digits"),
        pytest.param(b"[" * 10**6, "nested too deeply", id="nested"),
        pytest.param(b'{"id": 1, "epoch"', "reading it failed: Expecting ':'", id="cut"),
        pytest.param(b"\xff\xfe\xff", "not UTF-16-LE|zero bytes|UTF-8", id="bytes"),
    ],
)
def test_samples_of_wrong_kinds_are_refused_in_a_sentence(
    tmp_path: Path, sample: bytes, message: str
) -> None:
    file = tmp_path / "hostile.eval"
    file.write_bytes(_archive(s=sample))
    with pytest.raises(BadInputError, match=message):
        read_log(file)


HOSTILE = {
    "lm-eval": {"doc_id": 1, "filtered_resps": [], "doc": {}, "filter": "none", "target": "a"},
    "promptfoo": {"provider": {"id": "p"}, "vars": {"a": 1}, "response": {"output": "x"}},
    "alpaca": {"annotator": "a", "preference": 1, "output_1": "x", "output_2": "y"},
}


@pytest.mark.parametrize(
    ("tool", "change", "message"),
    [
        pytest.param("lm-eval", {"filtered_resps": "x"}, "must have a list as 'filtered_resps'", id="text"),
        pytest.param(
            "lm-eval", {"filtered_resps": [["a", 1], ["b", 1]]}, "log likelihoods", id="likelihoods"
        ),
        pytest.param("lm-eval", {"doc_id": None}, "must have a text as 'doc_hash'", id="no case"),
        pytest.param("promptfoo", {"provider": {}}, "must name its provider", id="no provider"),
        pytest.param(
            "promptfoo", {"vars": {}}, "variables or a number as 'testIdx'", id="no case of promptfoo"
        ),
        pytest.param("promptfoo", {"response": [1]}, "must have an object as 'response'", id="response"),
        pytest.param("promptfoo", {"cost": "free"}, "finite numbers of at least 0 as price", id="cost"),
        pytest.param("alpaca", {"preference": 3}, "must have a preference from 1 to 2", id="preference"),
        pytest.param("alpaca", {"annotator": None}, "must have a name as 'annotator'", id="annotator"),
        pytest.param("alpaca", {"price_per_example": -1}, "at least 0 as price", id="negative price"),
    ],
)
def test_records_of_wrong_kinds_are_refused_in_a_sentence(
    tmp_path: Path, tool: str, change: dict[str, Any], message: str
) -> None:
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps([HOSTILE[tool] | change]))
    with pytest.raises(BadInputError, match=message):
        read_log(file)


def test_features_that_no_sample_has_are_refused_by_name() -> None:
    with pytest.raises(BadInputError, match="must tell the feature 'topik' in the metadata of samples"):
        read_log(EVALS[0], columns=LogColumns(features=("topik",)))
