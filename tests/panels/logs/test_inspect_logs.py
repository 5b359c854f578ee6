"""Logs that inspect-ai wrote; samples/README.md says which version wrote which file."""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.log_checks import SILENT
from shortlist.panels.logs.inspect_logs import member_names, members
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from tests.stored import Stored

SAMPLES = Path(__file__).parent / "samples"
EVALS = [SAMPLES / "mini.eval", SAMPLES / "large.eval"]


def test_an_archive_of_inspect_ai_says_what_its_own_scorer_counted(stored: Stored) -> None:
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
    stored(*log.notes)


def test_the_json_of_inspect_ai_says_the_same_as_its_archive() -> None:
    archive, document = read_log(SAMPLES / "large.eval"), read_log(SAMPLES / "large.json.gz")

    assert archive.answers.tolist() == document.answers.tolist()
    assert archive.truth.tolist() == document.truth.tolist()
    assert archive.cases.tolist() == document.cases.tolist()


def _changed(tmp_path: Path, name: str, change: Any) -> Path:
    """Write a log of inspect-ai in JSON whose samples were changed."""
    document = json.loads(gzip.decompress((SAMPLES / "large.json.gz").read_bytes()))
    for sample in document["samples"]:
        change(sample)
    file = tmp_path / name
    file.write_text(json.dumps(document))
    return file


def test_a_sample_that_failed_is_silent_and_its_cost_is_the_one_that_was_told(
    tmp_path: Path, stored: Stored
) -> None:
    def change(sample: dict[str, Any]) -> None:
        sample["model_usage"]["mockllm/large"]["total_cost"] = 0.25
        sample["model_usage"]["grader"] = {"input_tokens": 1, "output_tokens": 1, "total_cost": 9.0}
        if sample["id"] == "s1":
            sample["error"] = {"message": "gone", "traceback": "", "traceback_ansi": ""}

    log = read_log(_changed(tmp_path, "failed.json", change))

    assert log.answers[:, 0].tolist().count(SILENT) == 2
    assert (log.prices == 0.25).all()
    stored(*log.notes)


def test_of_several_right_answers_each_counts_as_the_first(tmp_path: Path) -> None:
    def change(sample: dict[str, Any]) -> None:
        sample["target"] = ["yes", "no"] if sample["id"] == "s0" else sample["target"]
        sample["scores"]["match"]["answer"] = "no"

    log = read_log(_changed(tmp_path, "several.json", change))

    names = [log.classes[code] for code in log.answers[:, 0]]
    assert names == ["yes" if case == "s0" else "no" for case in log.cases]


def test_without_a_scorers_answer_the_whole_output_is_the_answer(tmp_path: Path, stored: Stored) -> None:
    log = read_log(_changed(tmp_path, "outputs.json", lambda sample: sample["scores"].clear()))

    assert log.answers.tolist() == read_log(SAMPLES / "large.json.gz").answers.tolist()
    stored(*log.notes)


def test_judges_of_one_model_are_told_apart_by_a_setting_of_the_evaluation(
    tmp_path: Path, stored: Stored
) -> None:
    paths = []
    for prompt in ("plain", "steps"):
        document = json.loads(gzip.decompress((SAMPLES / "large.json.gz").read_bytes()))
        document["eval"]["task_args"] = {"prompt": prompt}
        paths.append(tmp_path / f"{prompt}.json")
        paths[-1].write_text(json.dumps(document))

    prompts = read_log(paths, columns=LogColumns(judge="prompt")).judges
    assert prompts == ("mockllm/large plain", "mockllm/large steps")
    repeats = read_log(paths)
    assert repeats.answers.shape == (20, 1)
    assert repeats.groups is not None
    assert len(set(repeats.groups.tolist())) == 5
    stored(*repeats.notes)


def test_an_evaluation_that_had_not_ended_is_read_as_far_as_it_came(tmp_path: Path, stored: Stored) -> None:
    """Until its end, an archive has `_journal/start.json` in place of `header.json`."""
    document = json.loads(gzip.decompress((SAMPLES / "large.json.gz").read_bytes()))
    file = tmp_path / "begun.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": document["eval"]}))
        for sample in document["samples"][:3]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    log = read_log(file)

    assert log.cases.tolist() == [sample["id"] for sample in document["samples"][:3]]
    stored(*log.notes)


def _archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "m", "task": "t"}}))
        for name, content in members.items():
            archive.writestr(f"samples/{name}.json", content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        pytest.param(b"[1, 2]", "must be an object, got a list", id="list"),
        pytest.param(b"null", "must be an object, got null", id="null"),
        pytest.param(b'{"id": {}, "epoch": 1}', "must have a name or number as 'id'", id="id is an object"),
        pytest.param(b'{"id": 1, "epoch": 1, "scores": [1]}', "must have an object as 'scores'", id="scores"),
        pytest.param(b'{"id": 1, "epoch": 1, "total_time": "soon"}', "finite numbers of at least 0 as latency", id="time"),
        pytest.param(
            b'{"id": 1, "epoch": 1, "model_usage": {"m": {"total_cost": NaN}}}',
            "must hold at least one label",
            id="a cost that is not a number is not told",
        ),
        pytest.param(b'{"id": 1, "epoch": 1, "model_usage": {"m": {"total_cost": -1}}}', "at least 0 as price", id="negative"),
        pytest.param(b'{"id": 1, "epoch": 1, "model_usage": {"m": {"total_cost": 1e999}}}', "as price", id="infinite"),
        pytest.param(b'{"id": ' + b"9" * 10**6 + b"}", "a name or number as 'epoch'", id="digits"),
        pytest.param(b"[" * 10**6, "nested too deeply", id="nested"),
        pytest.param(b'{"id": 1, "epoch"', "reading it failed: Expecting ':'", id="cut"),
        pytest.param(b"\xff\xfe\xff", "not UTF-16-LE|zero bytes|UTF-8", id="bytes"),
    ],
)  # fmt: skip
def test_samples_of_wrong_kinds_are_refused_in_a_sentence(
    tmp_path: Path, sample: bytes, message: str
) -> None:
    file = tmp_path / "hostile.eval"
    file.write_bytes(_archive(s=sample))
    with pytest.raises(BadInputError, match=message):
        read_log(file)


def test_features_that_no_sample_has_are_refused_by_name() -> None:
    with pytest.raises(BadInputError, match="must have the feature 'topik' in the metadata of samples"):
        read_log(EVALS[0], columns=LogColumns(features=("topik",)))


SAMPLES = Path(__file__).parent / "samples"
EVALS = [SAMPLES / "mini.eval", SAMPLES / "large.eval"]


def test_a_truncated_archive_is_refused_whole(tmp_path: Path) -> None:
    content = EVALS[0].read_bytes()
    for end in (10, 1000, len(content) - 10):
        file = tmp_path / "cut.eval"
        file.write_bytes(content[:end])
        with pytest.raises(BadFileError, match="is a damaged archive: its end is missing"):
            read_log(file)


def test_an_archive_with_damaged_bytes_is_refused_in_a_sentence(tmp_path: Path) -> None:
    content = bytearray(EVALS[0].read_bytes())
    content[1500:1600] = bytes(100)
    file = tmp_path / "damaged.eval"
    file.write_bytes(bytes(content))
    with pytest.raises(BadFileError, match="is a damaged archive"):
        read_log(file)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
def test_members_are_read_whatever_compressed_them(method: int) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("a", b"first")
        archive.writestr("b", b"second")

    assert member_names(file.getvalue()) == ["a", "b"]
    assert list(members("f.eval", file.getvalue(), ["b", "a"])) == [b"second", b"first"]


def test_members_of_zstandard_are_what_the_tool_packed() -> None:
    """The same samples stand in the JSON, whose texts the tool made from the same values."""
    content = EVALS[0].read_bytes()
    names = [name for name in member_names(content) if name.startswith("samples/")]
    samples = [json.loads(text) for text in members("f.eval", content, names)]

    assert [f"samples/{one['id']}_epoch_{one['epoch']}.json" for one in samples] == names


@pytest.mark.parametrize("limits", [{"most": 5000}, {"most_of_member": 5000}], ids=["all", "a member"])
def test_an_archive_that_unpacks_to_too_much_is_refused(limits: dict[str, int]) -> None:
    content = EVALS[0].read_bytes()
    deflated = io.BytesIO()
    with zipfile.ZipFile(deflated, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b" " * 5001)
    for packed, wanted in ((content, member_names(content)), (deflated.getvalue(), ["a"])):
        with pytest.raises(BadFileError, match=r"unpacks to more than [0-9,]+ bytes"):
            list(members("f.eval", packed, wanted, **limits))


def test_a_member_that_is_not_there_is_a_damaged_archive() -> None:
    with pytest.raises(BadFileError, match="is a damaged archive"):
        list(members("f.eval", EVALS[0].read_bytes(), ["nothing"]))


def test_a_wrong_check_sum_is_a_damaged_archive() -> None:
    """The check sum of a member stands at byte 16 of its entry in the directory."""
    content = bytearray(EVALS[0].read_bytes())
    content[content.index(b"PK\x01\x02") + 16] ^= 1
    with pytest.raises(BadFileError, match="its check sum is wrong"):
        list(members("f.eval", bytes(content), ["_journal/start.json"]))
