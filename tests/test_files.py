"""Files that are whole or not there, and files that may be unpickled."""

import pickle
from pathlib import Path

import pytest

from shortlist.errors import BadFileError, UntrustedFileError
from shortlist.files import check_writable, dump_object, load_object, whole_file, write_text


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_text(tmp_path / "answer.txt", "old")

    def fail_halfway() -> None:
        with whole_file(tmp_path / "answer.txt") as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert [path.name for path in tmp_path.iterdir()] == ["answer.txt"]
    assert (tmp_path / "answer.txt").read_text() == "old"


def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    write_text(tmp_path / "new.txt", "x")
    (tmp_path / "plain.txt").write_text("x")
    assert (tmp_path / "new.txt").stat().st_mode == (tmp_path / "plain.txt").stat().st_mode


def test_a_folder_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    for target, message in [(tmp_path / "no" / "x", "folder does not exist"), (tmp_path, "got the folder")]:
        with pytest.raises(BadFileError, match=message):
            check_writable(target)
        with pytest.raises(BadFileError, match=message), whole_file(target):
            pass


def test_what_one_wrote_oneself_loads_without_trust(tmp_path: Path) -> None:
    dump_object({"a": 1}, tmp_path / "own.joblib")
    assert load_object(tmp_path / "own.joblib") == {"a": 1}


class _Trap:
    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return (open, ("sprung", "w"))


def test_a_strangers_pickle_runs_nothing_without_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strange.joblib").write_bytes(pickle.dumps(_Trap()))
    with pytest.raises(UntrustedFileError, match="--trust"):
        load_object(tmp_path / "strange.joblib")
    assert not (tmp_path / "sprung").exists()


def test_a_changed_file_is_a_strangers(tmp_path: Path) -> None:
    dump_object([1, 2, 3], tmp_path / "own.joblib")
    (tmp_path / "own.joblib").write_bytes(pickle.dumps([1, 2, 4]))
    with pytest.raises(UntrustedFileError):
        load_object(tmp_path / "own.joblib")
    assert load_object(tmp_path / "own.joblib", trust=True) == [1, 2, 4]


def test_a_trusted_file_that_is_no_pickle_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.joblib").write_text("hello")
    with pytest.raises(BadFileError, match="must be a file written by joblib"):
        load_object(tmp_path / "text.joblib", trust=True)
    with pytest.raises(BadFileError, match="cannot be read"):
        load_object(tmp_path / "missing.joblib", trust=True)
