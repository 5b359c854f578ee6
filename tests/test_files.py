"""Files that are whole or not there, and files that may be unpickled."""

import hashlib
import importlib
import pickle
import re
import subprocess
import sys
import types
from decimal import Decimal
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shortlist
from shortlist.errors import BadFileError, UntrustedFileError
from shortlist.files import (
    cache_folder,
    check_writable,
    dump_object,
    load_object,
    module_needed,
    read_parquet,
    whole_file,
    write_parquet,
    write_text,
)
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind
from shortlist.saved_models import SavedModel, load_model, save_model


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
    with pytest.raises(UntrustedFileError, match="Pass `trust=True`"):
        load_object(tmp_path / "strange.joblib")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("compress", [0, 3, "gzip", "bz2", "xz", "lzma"])
def test_every_way_in_which_joblib_writes_is_known(tmp_path: Path, compress: int | str) -> None:
    joblib.dump(["never written by Shortlist"], tmp_path / "mine.joblib", compress=compress)
    with pytest.raises(UntrustedFileError, match="or made it yourself"):
        load_object(tmp_path / "mine.joblib")
    assert load_object(tmp_path / "mine.joblib", trust=True) == ["never written by Shortlist"]


def test_a_changed_file_is_a_strangers(tmp_path: Path) -> None:
    dump_object([1, 2, 3], tmp_path / "own.joblib")
    (tmp_path / "own.joblib").write_bytes(pickle.dumps([1, 2, 4]))
    with pytest.raises(UntrustedFileError):
        load_object(tmp_path / "own.joblib")
    assert load_object(tmp_path / "own.joblib", trust=True) == [1, 2, 4]


def test_a_policy_in_place_of_a_model_is_named(tmp_path: Path) -> None:
    file = tmp_path / "panel.json"
    file.write_text('{"format": "shortlist-policy", "version": 1}')
    with pytest.raises(BadFileError, match=r"is an exported policy, and no model\. Answer by it with its"):
        load_object(file, trust=True)


def test_a_trusted_file_that_is_no_pickle_is_a_sentence(tmp_path: Path) -> None:
    for content in (b"hello", b"\xdcabc", b"a,b\n1,2\n", b"{}", b"PAR1", b""):
        (tmp_path / "text.joblib").write_bytes(content)
        for trust in (True, False):
            with pytest.raises(BadFileError, match="by joblib, got another kind of file"):
                load_object(tmp_path / "text.joblib", trust=trust)
    for content in (b"\x80\x05\xdc", b"x\x9cabc"):
        (tmp_path / "text.joblib").write_bytes(content)
        with pytest.raises(BadFileError, match="must be a file written by joblib, but reading it failed"):
            load_object(tmp_path / "text.joblib", trust=True)
    with pytest.raises(BadFileError, match="cannot be read"):
        load_object(tmp_path / "missing.joblib", trust=True)


THREADS = """
import os, sys
from decimal import Decimal
from pathlib import Path
import pandas as pd, pyarrow as pa
from shortlist.tables.learning import read_table
from shortlist.files import write_parquet
from shortlist.results.front import Front

before = len(os.listdir("/proc/self/task"))
print(Front.load(sys.argv[1]).to_frame().to_string())
write_parquet(pa.Table.from_pandas(read_table(sys.argv[2]), nthreads=1), sys.argv[2])
print("started", len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted where Linux lists them")
def test_parquet_is_read_and_written_without_a_thread_that_could_abort_the_process_at_its_end(
    tmp_path: Path,
) -> None:
    front = Front.from_points(
        [Objective("cost")], np.array([[3]]), np.array([[1]]), ["phone"], Proof(ProofKind.COMPLETE)
    )
    front.save(tmp_path / "front.parquet")
    pd.DataFrame({"word": ["a", None] * 500, "number": range(1000)}).to_parquet(tmp_path / "table.parquet")

    files = [str(tmp_path / "front.parquet"), str(tmp_path / "table.parquet")]
    run = subprocess.run([sys.executable, "-c", THREADS, *files], capture_output=True, text=True, check=True)

    assert run.stdout.endswith("started 0\n")


def test_a_flipped_bit_in_the_values_of_a_table_of_ours_is_found(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    values = np.random.default_rng(0).integers(0, 2**60, 500)
    write_parquet(pa.table({"value": values}), path)
    whole = path.read_bytes()
    at = len(whole) // 3
    for place in range(at, at + 200, 20):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(BadFileError, match=r"table\.parquet must be a Parquet file"):
            read_parquet(path)


def test_no_other_module_reads_or_writes_parquet_by_itself() -> None:
    package = Path(shortlist.__file__).parent
    calls = re.compile(r"parquet as pq|pd\.read_parquet|\.to_parquet\(|pyarrow\.dataset")

    found = [path.name for path in package.rglob("*.py") if calls.search(path.read_text(encoding="utf-8"))]

    assert found == ["files.py"]


@pytest.mark.parametrize(
    ("module", "version", "writer"),
    [
        ("shortlist.gone", "0.0.7", "another version of Shortlist, 0.0.7, and this one, "),
        ("shortlist.gone", shortlist.__version__, "another version of Shortlist, and this one, "),
        ("shortlist.saved_models", "0.0.7", "another version of Shortlist, 0.0.7, and this one, "),
    ],
)
def test_a_file_of_another_version_is_said_to_be_one(
    module: str, version: str, writer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = importlib.import_module(module) if module != "shortlist.gone" else types.ModuleType(module)
    with monkeypatch.context() as patch:
        moved = type("Moved", (), {"__module__": module})
        patch.setitem(sys.modules, module, home)
        patch.setattr(home, "Moved", moved, raising=False)
        model = SavedModel(moved(), ("a", "b"), "target", version=version)
        save_model(model, tmp_path / "m.joblib")
    with pytest.raises(BadFileError) as caught:
        load_model(tmp_path / "m.joblib")
    assert str(caught.value) == (
        f"{tmp_path / 'm.joblib'} was written by {writer}{shortlist.__version__}, cannot read it. "
        "Make it again, with the command that made it."
    )


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("kl", "needs the module 'kl', which is not importable here. Install it, or set PYTHONPATH to the folder of kl.py."),
        ("tempfile", "needs 'Kl', which was defined in module 'tempfile' and is not there now."),
    ],
)  # fmt: skip
def test_a_class_that_is_not_importable_is_named(tmp_path: Path, module: str, said: str) -> None:
    content = pickle.dumps(Decimal, protocol=0).replace(b"cdecimal\nDecimal", f"c{module}\nKl".encode())
    newest = pickle.dumps(Decimal).replace(b"\x8c\x07decimal", bytes([0x8C, len(module)]) + module.encode())
    newest = newest[:2] + newest[11:].replace(b"\x8c\x07Decimal", b"\x8c\x02Kl")  # without its frame
    for written in (b"\x80\x02" + content, newest):
        (tmp_path / "pool.joblib").write_bytes(written)
        with pytest.raises(BadFileError) as error:
            load_object(tmp_path / "pool.joblib", trust=True)
        assert said in str(error.value)


def test_a_class_of_a_script_is_named() -> None:
    error = AttributeError("Can't get attribute 'Kl' on <module '__main__' from 'run.py'>")
    assert module_needed(error).startswith("needs 'Kl', which was defined in the script that wrote it")


def test_the_cache_is_where_the_variable_says_or_in_the_users_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder("datasets") == Path("/somewhere/shortlist/datasets")
    monkeypatch.setenv("HOME", "/home/ann")
    for unset in ("", "relative/folder"):  # the specification of the variable says to ignore the latter
        monkeypatch.setenv("XDG_CACHE_HOME", unset)
        assert cache_folder("studies") == Path("/home/ann/.cache/shortlist/studies")


@pytest.mark.parametrize(("variable", "other"), [("XDG_DATA_HOME", "/home/ann"), ("HOME", None)])
def test_a_relative_folder_vouches_for_no_pickle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, other: str | None
) -> None:
    own = "shortlist" if other else ".local/share/shortlist"
    (tmp_path / "data" / own).mkdir(parents=True)
    content = pickle.dumps([1])
    digest = hashlib.sha256(content).hexdigest()
    (tmp_path / "data" / own / "own-files.sha256").write_text(f"{digest}\n")
    (tmp_path / "m.joblib").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", other or "")
    monkeypatch.setenv(variable, "data")
    with pytest.raises(UntrustedFileError):
        load_object(tmp_path / "m.joblib")


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(BadFileError, match="has no home"):
        cache_folder("datasets")
