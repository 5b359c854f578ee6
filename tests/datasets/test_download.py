"""Downloads from a server on this machine that cuts, stalls, lies and corrupts."""

import hashlib
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from shortlist.datasets.download import _check_address, download
from shortlist.errors import BadFileError, BadInputError, FetchError
from tests.datasets.server import Answer, Handler, cut, endless, ranged, refused, served, stalled, whole

CONTENT = bytes(range(256)) * 1000
SILENCE_S = 0.3
"""Short, since a server that is silent here stays so until the test ends."""


def _accept(content: bytes) -> None:
    if hashlib.sha256(content).digest() != hashlib.sha256(CONTENT).digest():
        raise BadFileError("the file was damaged.")


def _fetch(url: str, target: Path, most_bytes: int = len(CONTENT), silence_s: float = 30.0) -> None:
    download(url, target, accept=_accept, most_bytes=most_bytes, silence_s=silence_s)


def _left(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.iterdir() if path.suffix != ".lock"}


def test_a_file_arrives_whole_and_its_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with served(whole(CONTENT)) as server:
        download(
            server.url, tmp_path / "made" / "it", accept=_accept, most_bytes=len(CONTENT),
            tell=lambda done, total: told.append((done, total)),
        )  # fmt: skip
    assert (tmp_path / "made" / "it").read_bytes() == CONTENT
    assert _left(tmp_path / "made") == {"it": len(CONTENT)}
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert server.seen == [None]


def test_a_cut_connection_is_taken_up_where_it_ended(tmp_path: Path) -> None:
    with served(cut(CONTENT, 100_000), cut(CONTENT, 50_000), ranged(CONTENT)) as server:
        _fetch(server.url, tmp_path / "it")
    assert (tmp_path / "it").read_bytes() == CONTENT
    assert server.seen == [None, "bytes=100000-", "bytes=150000-"]


def test_what_came_before_a_failure_is_kept_for_the_next_run(tmp_path: Path) -> None:
    with served(cut(CONTENT, 1000), cut(CONTENT, 0)) as server:
        with pytest.raises(FetchError, match=r"1,000 of 256,000 bytes came. 1,000 bytes are kept"):
            _fetch(server.url, tmp_path / "it")
        assert _left(tmp_path) == {"it.part": 1000}
        server.answers[:] = [ranged(CONTENT)]
        _fetch(server.url, tmp_path / "it")
    assert server.seen[-1] == "bytes=1000-"
    assert _left(tmp_path) == {"it": len(CONTENT)}


def test_a_server_that_falls_silent_is_given_up_and_what_it_sent_is_kept(tmp_path: Path) -> None:
    with served(stalled(CONTENT, 5000), stalled(CONTENT, 0)) as server:
        with pytest.raises(FetchError, match=r"the server is silent"):
            _fetch(server.url, tmp_path / "it", silence_s=SILENCE_S)
        assert not (tmp_path / "it").exists()
        server.answers[:] = [ranged(CONTENT)]
        _fetch(server.url, tmp_path / "it")
    assert (tmp_path / "it").read_bytes() == CONTENT


def test_a_server_that_does_not_even_answer_is_given_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and never reads them
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        with pytest.raises(FetchError, match=r"cannot be fetched: the server is silent"):
            _fetch(url, tmp_path / "it", silence_s=SILENCE_S)


def test_a_server_without_ranges_starts_anew(tmp_path: Path) -> None:
    (tmp_path / "it.part").write_bytes(CONTENT[:1000])
    with served(whole(CONTENT)) as server:
        _fetch(server.url, tmp_path / "it")
    assert server.seen == ["bytes=1000-"]
    assert (tmp_path / "it").read_bytes() == CONTENT


def _another_part(request: Handler) -> None:
    request.begin(206, Content_Length=10, Content_Range="bytes 0-9/256000")
    request.wfile.write(CONTENT[:10])


@pytest.mark.parametrize(
    ("kept", "answers"),
    [
        pytest.param(CONTENT[:1000], (_another_part, ranged(CONTENT)), id="another part than asked for"),
        pytest.param(CONTENT + b"more", (ranged(CONTENT),), id="more was kept than there is"),
        pytest.param(CONTENT, (ranged(CONTENT),), id="all of it was kept"),
        pytest.param(b"x" * 1000, (ranged(CONTENT),), id="what was kept is of another file"),
    ],
)
def test_what_was_kept_never_spoils_the_file(
    tmp_path: Path, kept: bytes, answers: tuple[Answer, ...]
) -> None:
    (tmp_path / "it.part").write_bytes(kept)
    with served(*answers) as server:
        _fetch(server.url, tmp_path / "it", most_bytes=2 * len(CONTENT))
    assert (tmp_path / "it").read_bytes() == CONTENT
    assert _left(tmp_path) == {"it": len(CONTENT)}


def _too_long_as_promised(request: Handler) -> None:
    request.begin(200, Content_Length=10**12)
    request.wfile.write(CONTENT)


@pytest.mark.parametrize(
    "answer",
    [endless(CONTENT), whole(CONTENT + b"!"), _too_long_as_promised],
    ids=["without end", "one byte", "promised"],
)
def test_nothing_longer_than_expected_is_kept(tmp_path: Path, answer: Answer) -> None:
    with served(answer) as server, pytest.raises(FetchError, match=r"at most 256,000 bytes"):
        _fetch(server.url, tmp_path / "it")
    assert _left(tmp_path) == {}


def _shorter_than_it_says_it_is(request: Handler) -> None:
    request.begin(200, Content_Length=500)
    request.wfile.write(CONTENT[:500])


@pytest.mark.parametrize(
    "answer",
    [whole(CONTENT[:-1] + b"!"), _shorter_than_it_says_it_is, whole(b"")],
    ids=["one byte", "short", "empty"],
)
def test_a_file_that_is_not_right_is_not_kept(tmp_path: Path, answer: Answer) -> None:
    (tmp_path / "it").write_bytes(b"what was there")
    with served(answer) as server, pytest.raises(BadFileError, match=r"damaged"):
        _fetch(server.url, tmp_path / "it")
    assert _left(tmp_path) == {"it": 14}


def test_a_file_that_stays_wrong_is_not_asked_for_without_end(tmp_path: Path) -> None:
    wrong = bytes(len(CONTENT))
    (tmp_path / "it.part").write_bytes(wrong[:1000])
    with served(ranged(wrong)) as server, pytest.raises(BadFileError, match=r"damaged"):
        _fetch(server.url, tmp_path / "it")
    assert server.seen == ["bytes=1000-", None]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(refused(404), "the server answers 404 Not Found. It may have moved", id="404"),
        pytest.param(refused(500), "the server answers 500", id="500"),
        pytest.param(refused(200, Content_Encoding="gzip"), "packs it unasked", id="packed"),
    ],
)
def test_a_refusal_is_told(tmp_path: Path, answer: Answer, said: str) -> None:
    with served(answer) as server, pytest.raises(FetchError, match=said):
        _fetch(server.url, tmp_path / "it")
    assert _left(tmp_path) == {}


def test_a_machine_that_cannot_be_reached_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(FetchError, match=r"Connection refused. Is this machine online"):
        _fetch(f"http://127.0.0.1:{port}/file", tmp_path / "it")


def test_a_redirect_on_this_machine_is_followed_with_its_range(tmp_path: Path) -> None:
    (tmp_path / "it.part").write_bytes(CONTENT[:1000])
    with served(ranged(CONTENT)) as goal, served(refused(302, Location=goal.url)) as server:
        _fetch(server.url, tmp_path / "it")
    assert goal.seen == ["bytes=1000-"]
    assert (tmp_path / "it").read_bytes() == CONTENT


@pytest.mark.parametrize("goal", ["http://example.org/file", "file:///etc/passwd", "ftp://127.0.0.1/file"])
def test_a_redirect_elsewhere_is_refused(tmp_path: Path, goal: str) -> None:
    refusals = (BadInputError, FetchError)  # urllib refuses files before it is asked
    with (
        served(refused(302, Location=goal)) as server,
        pytest.raises(refusals, match=r"must begin with https|is not allowed"),
    ):
        _fetch(server.url, tmp_path / "it")
    assert _left(tmp_path) == {}


def test_redirects_in_a_circle_end(tmp_path: Path) -> None:
    with served(whole(CONTENT)) as server:
        server.answers[:] = [refused(302, Location=server.url)]
        with pytest.raises(FetchError, match=r"302"):
            _fetch(server.url, tmp_path / "it")


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


HOLDER = """
import fcntl, sys
with open(sys.argv[1], "wb") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_processes_do_not_fetch_one_file_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "it.lock")]
    with (
        served(whole(CONTENT)) as server,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other,
    ):
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BadInputError, match=r"another process fetches it"):
            _fetch(server.url, tmp_path / "it")
        other.kill()
        other.wait()
        _fetch(server.url, tmp_path / "it")  # the lock went with the process
    assert _left(tmp_path) == {"it": len(CONTENT)}
