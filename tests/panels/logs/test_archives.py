"""Archives with members of every compression, and damaged ones."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from shortlist.errors import BadFileError
from shortlist.panels.logs.inspect_logs import member_names, members
from shortlist.panels.logs.reading import read_log

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
