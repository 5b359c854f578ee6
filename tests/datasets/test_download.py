"""Downloads from a server on this machine that cuts, stalls and lies."""

import socket

import pytest

from shortlist.datasets.download import _check_address, download
from shortlist.errors import BadInputError, FetchError
from tests.datasets.server import Answer, Handler, cut, endless, refused, served, stalled, whole

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


def test_a_file_that_was_cut_off_is_refused() -> None:
    with (
        served(cut(CONTENT, 1000)) as server,
        pytest.raises(FetchError, match=r"1,000 of 256,000 bytes came. Try"),
    ):
        _fetch(server.url)


def test_a_server_that_falls_silent_is_given_up() -> None:
    with (
        served(stalled(CONTENT, 5000)) as server,
        pytest.raises(FetchError, match=r"the server is silent"),
    ):
        _fetch(server.url, silence_s=SILENCE_S)


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
    ],
)
def test_a_refusal_is_told(answer: Answer, said: str) -> None:
    with served(answer) as server, pytest.raises(FetchError, match=said):
        _fetch(server.url)


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
