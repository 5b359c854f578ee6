"""A served page: read-only, for this machine, for those who know its address."""

import http.client
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from shortlist.cli.result_pages import result_page
from shortlist.report.server import PageServer, state_of
from tests.report.made import sphere


@pytest.fixture
def served(tmp_path: Path) -> Iterator[PageServer]:
    file = tmp_path / "f.parquet"
    sphere(20).save(file)
    with PageServer(file, lambda state: result_page(file, following=state)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    server: PageServer, path: str, *, method: str = "GET", host: str | None = None
) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{server.server_port}"})
    answer = connection.getresponse()
    return answer.status, answer.read().decode(), dict(answer.getheaders())


def test_who_knows_the_address_gets_the_page_and_its_state(served: PageServer) -> None:
    status, text, headers = ask(served, f"/{served.token}/")
    assert status == 200
    assert "<h1>Products: f.parquet</h1>" in text
    assert f'data-state="{state_of(served.path)}"' in text
    assert headers["Cache-Control"] == "no-store"
    assert ask(served, f"/{served.token}/state")[:2] == (200, state_of(served.path))


def test_a_client_that_hangs_up_leaves_no_traceback(
    served: PageServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    handled = threading.Event()
    errors: list[str] = []

    def handle_error(*facts: object) -> None:
        errors.append(type(sys.exception()).__name__)
        PageServer.handle_error(served, *facts)
        handled.set()

    monkeypatch.setattr(served, "handle_error", handle_error)
    monkeypatch.setattr(served, "make", lambda _: "x" * 50_000_000)  # more than a socket takes at once
    with socket.create_connection(("127.0.0.1", served.server_port)) as client:
        host = f"127.0.0.1:{served.server_port}"
        client.sendall(f"GET /{served.token}/ HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        client.recv(1)
    assert handled.wait(60)
    assert errors[0] in {"BrokenPipeError", "ConnectionResetError"}
    assert capsys.readouterr().err == ""


def test_others_get_nothing(served: PageServer) -> None:
    for path in (
        "/",
        "/x/",
        f"/{served.token}",
        f"/{served.token}/../f.parquet",
        f"/{served.token}x/",
        "nothing",
    ):
        assert ask(served, path)[0] in {400, 404}, path
    for host in ("evil.example", f"evil.example:{served.server_port}", "127.0.0.1"):
        assert ask(served, f"/{served.token}/", host=host)[0] == 403
    assert served.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_written(served: PageServer, method: str) -> None:
    assert ask(served, f"/{served.token}/", method=method)[0] == 501


def test_the_state_changes_with_the_file_and_two_servers_have_two_addresses(served: PageServer) -> None:
    before = state_of(served.path)
    sphere(30).save(served.path)
    assert ask(served, f"/{served.token}/state")[1] != before
    with PageServer(served.path, str) as other:
        assert other.token != served.token


def test_a_file_that_became_unreadable_is_a_sentence(served: PageServer) -> None:
    served.path.write_text("broken")
    status, text, _ = ask(served, f"/{served.token}/")
    assert status == 503
    assert "must be" in text


def test_a_second_host_is_refused(served: PageServer) -> None:
    own = f"127.0.0.1:{served.server_port}"
    for hosts in ((own, "evil.example"), (own, own), ()):
        lines = [f"GET /{served.token}/ HTTP/1.0", *(f"Host: {host}" for host in hosts), "", ""]
        with socket.create_connection(("127.0.0.1", served.server_port), timeout=60) as client:
            client.sendall("\r\n".join(lines).encode())
            assert b" 403 " in client.recv(100)


def test_a_client_that_never_ends_its_request_is_dropped(tmp_path: Path) -> None:
    with PageServer(tmp_path / "f.parquet", str, patience_s=0.05) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as client:
            client.sendall(b"GET / HT")
            assert client.recv(100) == b""
        server.shutdown()
        thread.join()
