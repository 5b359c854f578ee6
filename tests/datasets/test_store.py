"""Where the files of public sets are, and how they come there."""

import dataclasses
import hashlib
from pathlib import Path

import pytest

from shortlist.datasets.registry import DataSet, SetSource
from shortlist.datasets.store import cached_file, fetch, is_cached, table_bytes, table_file
from shortlist.errors import BadFileError, BadInputError, FetchError
from tests.datasets.server import refused, served, whole

ROWS = b"1,a\n2,b\n"
TABLE = b"size,target\n1,a\n2,b\n"


def _set(url: str = "http://127.0.0.1:9/file.data") -> DataSet:
    source = SetSource(url, hashlib.sha256(ROWS).hexdigest(), len(ROWS))
    return DataSet(
        "two-rows", "Two rows", "https://example.org/two", "free", 2, ("size", "target"), source=source
    )


LOCAL = dataclasses.replace(_set(), source=None)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "shortlist" / "datasets"


def test_a_set_is_fetched_once(cache: Path) -> None:
    with served(whole(ROWS)) as server:
        data_set = _set(server.url)
        assert not is_cached(data_set)
        assert fetch(data_set) == cached_file(data_set) == cache / "two-rows-file.data"
        assert is_cached(data_set)
        fetch(data_set)
        assert server.n_requests == 1
    assert table_bytes(data_set) == (str(cache / "two-rows-file.data"), TABLE)


def test_a_damaged_file_of_the_cache_is_told_and_fetched_again() -> None:
    with served(whole(ROWS)) as server:
        data_set = _set(server.url)
        path = fetch(data_set)
        path.write_bytes(b"1,a\n2,c\n")
        with pytest.raises(BadFileError, match=r"changed, or damaged"):
            table_bytes(data_set)
        fetch(data_set)
    assert table_bytes(data_set) == (str(path), TABLE)


def test_a_wrong_file_is_not_put_into_the_cache(cache: Path) -> None:
    with served(whole(b"1,a\n2,c\n")) as server, pytest.raises(BadFileError, match=r"must hold 8 bytes"):
        fetch(_set(server.url))
    assert not is_cached(_set(server.url))
    assert not cache.exists()


def test_a_longer_file_is_not_read_to_its_end() -> None:
    with served(whole(ROWS * 2)) as server, pytest.raises(FetchError, match=r"at most 8 bytes"):
        fetch(_set(server.url))


def test_without_a_network_the_way_out_is_said() -> None:
    with served(refused(503)) as server, pytest.raises(FetchError, match=r"put file.data into a folder"):
        fetch(_set(server.url))


@pytest.mark.parametrize("part", ["", "uci"])
def test_a_folder_takes_the_place_of_a_download(tmp_path: Path, part: str) -> None:
    (tmp_path / part).mkdir(exist_ok=True)
    (tmp_path / part / "file.data").write_bytes(ROWS)
    assert fetch(_set(), tmp_path).read_bytes() == ROWS


def test_a_folder_without_the_file_or_with_another_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match=r"must hold the file file.data"):
        fetch(_set(), tmp_path)
    (tmp_path / "file.data").write_bytes(b"1,a\n")
    with pytest.raises(BadFileError, match=r"must hold 8 bytes with the SHA-256"):
        fetch(_set(), tmp_path)
    assert not is_cached(_set())


def test_a_set_without_a_known_hash_is_never_fetched() -> None:
    assert not is_cached(LOCAL)
    with pytest.raises(BadInputError, match=r"write it as two_rows.csv"):
        fetch(LOCAL)


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with served(whole(ROWS)) as server, pytest.raises(BadFileError, match=r"Set XDG_CACHE_HOME"):
        fetch(_set(server.url))


@pytest.mark.parametrize("data_set", [_set(), LOCAL], ids=["with a source", "without"])
def test_a_table_of_a_folder_is_taken_as_it_is(tmp_path: Path, data_set: DataSet) -> None:
    assert table_file(data_set, tmp_path) is None
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "two_rows.csv.gz").write_bytes(b"packed")
    assert table_bytes(data_set, tmp_path) == (str(tmp_path / "uci" / "two_rows.csv.gz"), b"packed")
    (tmp_path / "two_rows.csv").write_bytes(TABLE)
    assert table_bytes(data_set, tmp_path) == (str(tmp_path / "two_rows.csv"), TABLE)


def test_an_original_in_a_folder_is_checked_and_comes_before_the_cache(tmp_path: Path) -> None:
    fetch(_set(), _folder_with(tmp_path / "other"))
    (tmp_path / "file.data").write_bytes(ROWS)
    assert table_bytes(_set(), tmp_path) == (str(tmp_path / "file.data"), TABLE)
    (tmp_path / "file.data").write_bytes(b"1,b\n2,b\n")
    with pytest.raises(BadFileError, match=r"must hold 8 bytes"):
        table_bytes(_set(), tmp_path)


def _folder_with(folder: Path) -> Path:
    folder.mkdir()
    (folder / "file.data").write_bytes(ROWS)
    return folder


def test_an_original_that_is_called_as_its_set_is_no_table() -> None:
    data_set = dataclasses.replace(_set(), name="file")
    assert data_set.source is not None
    path = cached_file(data_set)
    assert path is not None
    path.parent.mkdir(parents=True)
    (path.parent / "file.data").write_bytes(ROWS)
    assert table_bytes(data_set, path.parent) == (str(path.parent / "file.data"), TABLE)
