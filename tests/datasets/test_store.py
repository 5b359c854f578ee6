"""Files of public sets, and their download."""

import csv
import dataclasses
import hashlib
import io
import socket
from pathlib import Path

import pytest

from shortlist.datasets.registry import DataSet, SetSource, public_sets
from shortlist.datasets.store import (
    _check_address,
    as_table_text,
    cached_file,
    checked_original,
    download,
    fetch,
    is_cached,
    table_bytes,
    table_file,
)
from shortlist.errors import BadFileError, BadInputError, FetchError
from tests.datasets.originals import original_of, table_rows, zipped
from tests.datasets.server import Answer, Handler, cut, endless, refused, served, stalled, whole

ORIGINAL_ROWS = b"1;a;?\n?;b;2.50\n"


def _source(content: bytes = ORIGINAL_ROWS, **more: object) -> SetSource:
    digest = hashlib.sha256(content).hexdigest()
    return SetSource("https://example.org/it.data", digest, len(content), **more)  # type: ignore[arg-type]  # fields of any type


@pytest.mark.parametrize(
    "name", [name for name, data_set in public_sets().items() if data_set.source is not None]
)
def test_a_table_of_another_copy_in_the_layout_of_the_original_has_the_hash_that_is_known(
    data_folder: Path, name: str
) -> None:
    data_set = public_sets()[name]
    rows = table_rows(data_set, data_folder)
    assert data_set.source is not None
    original = checked_original(data_set.source, original_of(data_set, rows), name)
    assert len(original) == data_set.source.size
    assert list(csv.reader(io.StringIO(as_table_text(data_set, original)))) == rows


def test_rows_are_written_as_the_set_has_them() -> None:
    source = _source(separator=";", missing="?", order=("size", "target"), classes={"a": "0"})
    data_set = DataSet("it", "It", "page", "free", 2, ("size", "weight", "target"), source=source)
    assert as_table_text(data_set, ORIGINAL_ROWS) == "size,weight,target\n1,,0\n,2.50,b\n"


def test_a_row_with_too_few_cells_is_named() -> None:
    data_set = DataSet(
        "it", "It", "page", "free", 1, ("size", "weight", "target"), source=_source(separator=";")
    )
    with pytest.raises(BadFileError, match=r"line 2 of it.data must have 3 cells, got 1. Fetch it again"):
        as_table_text(data_set, b"1;2;3\n4\n")


@pytest.mark.parametrize(
    "content", [b"", ORIGINAL_ROWS[:-1], ORIGINAL_ROWS.replace(b"a", b"A"), ORIGINAL_ROWS + b"\n"]
)
def test_another_file_is_refused(content: bytes) -> None:
    with pytest.raises(BadFileError, match=f"must hold 15 bytes with the SHA-256 .*, got {len(content)}"):
        checked_original(_source(), content, "it.data")


def test_a_file_is_found_in_archives_in_archives() -> None:
    source = _source(members=("inner.zip", "a/it.data"), most_bytes=10_000)
    packed = zipped({"other": b"x", "inner.zip": zipped({"a/it.data": ORIGINAL_ROWS})})
    assert checked_original(source, packed, "it.zip") == ORIGINAL_ROWS


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(zipped({"it.data": bytes(10**8)}), "at most 15 bytes, got more", id="a bomb"),
        pytest.param(zipped({"it.data": ORIGINAL_ROWS + b"\n"}), "at most 15 bytes, got more", id="one byte more"),
        pytest.param(zipped({"other": ORIGINAL_ROWS}), "with a file it.data, got another one", id="another member"),
        pytest.param(b"PK no archive", "must be a zip archive", id="no archive"),
        pytest.param(zipped({"it.data": ORIGINAL_ROWS})[:40], "must be a zip archive", id="cut off"),
        pytest.param(zipped({"it.data": bytes(15)}), "must hold in its member it.data 15 bytes", id="another content"),
    ],
)  # fmt: skip
def test_another_archive_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(BadFileError, match=said):
        checked_original(_source(members=("it.data",), most_bytes=100), content, "it.zip")


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


CONTENT = bytes(range(256)) * 1000
SILENCE_S = 0.3
"""Short, since a server that is silent here stays so until the test ends."""


def _fetch(url: str, silence_s: float = 30.0) -> bytes:
    return download(url, most_bytes=len(CONTENT), silence_s=silence_s)


def test_a_file_arrives_whole_and_its_progress_is_told() -> None:
    told: list[tuple[int, int | None]] = []
    with served(whole(CONTENT)) as server:
        found = download(
            server.url, most_bytes=len(CONTENT), tell=lambda done, total: told.append((done, total))
        )
    assert found == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT))


def test_a_server_that_does_not_even_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and never reads them
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        with pytest.raises(FetchError, match=r"cannot be fetched: the server is silent"):
            _fetch(url, silence_s=SILENCE_S)


def _too_long_as_promised(request: Handler) -> None:
    request.begin(200, Content_Length=10**12)
    request.wfile.write(CONTENT)


@pytest.mark.parametrize(
    "answer",
    [endless(CONTENT), whole(CONTENT + b"!"), _too_long_as_promised],
    ids=["without end", "one byte", "promised"],
)
def test_nothing_longer_than_expected_is_taken(answer: Answer) -> None:
    with served(answer) as server, pytest.raises(FetchError, match=r"at most 256,000 bytes"):
        _fetch(server.url)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(refused(404), "the server answers 404 Not Found. It may have moved", id="404"),
        pytest.param(refused(500), "the server answers 500", id="500"),
        pytest.param(refused(200, Content_Encoding="gzip"), "compresses it unasked", id="compressed"),
        pytest.param(cut(CONTENT, 1000), "1,000 of 256,000 bytes came", id="cut off"),
        pytest.param(stalled(CONTENT, 5000), "the server is silent", id="silent"),
    ],
)
def test_a_refusal_is_told(answer: Answer, said: str) -> None:
    with served(answer) as server, pytest.raises(FetchError, match=said):
        _fetch(server.url, silence_s=SILENCE_S)


def test_a_machine_that_cannot_be_reached_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(FetchError, match=r"Connection refused. Is this machine online"):
        _fetch(f"http://127.0.0.1:{port}/file")


def test_a_redirect_on_this_machine_is_followed() -> None:
    with served(whole(CONTENT)) as goal, served(refused(302, Location=goal.url)) as server:
        assert _fetch(server.url) == CONTENT


@pytest.mark.parametrize("goal", ["http://example.org/file", "file:///etc/passwd", "ftp://127.0.0.1/file"])
def test_a_redirect_elsewhere_is_refused(goal: str) -> None:
    refusals = (BadInputError, FetchError)  # urllib refuses files before it is asked
    with (
        served(refused(302, Location=goal)) as server,
        pytest.raises(refusals, match=r"must begin with https|is not allowed"),
    ):
        _fetch(server.url)


def test_redirects_in_a_circle_end() -> None:
    with served(whole(CONTENT)) as server:
        server.answers[:] = [refused(302, Location=server.url)]
        with pytest.raises(FetchError, match=r"302"):
            _fetch(server.url)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://example.org/file", "http://example.org/file"),
        ("http://127.0.0.1/file", "https://example.org/file"),
        ("http://localhost.example.org/file", "http://localhost/file"),
        ("https:///file", "https:///file"),
        ("file:///etc/passwd", "file:///etc/passwd"),
    ],
)
def test_what_is_neither_https_nor_of_this_machine_is_refused(url: str, origin: str) -> None:
    with pytest.raises(BadInputError, match=r"must begin with https"):
        _check_address(url, origin)


def test_https_may_lead_to_https_and_this_machine_to_both() -> None:
    _check_address("https://elsewhere.org/file", "https://example.org/file")
    _check_address("https://elsewhere.org/file", "http://localhost:80/file")
