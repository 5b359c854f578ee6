"""A page that is served to this machine only, read-only, and follows its file."""

import contextlib
import secrets
import socket
import sys
import threading
from collections.abc import Callable
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from shortlist.errors import ShortlistError

HOST = "127.0.0.1"

PATIENCE_S = 10.0
"""Seconds that a client may keep a thread waiting."""


def state_of(path: Path) -> str:
    """Return a text that changes when a file changes, or the journal next to it as SQLite has one."""
    parts = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        try:
            facts = file.stat()
        except OSError:
            parts.append("none")
        else:
            parts.append(f"{facts.st_mtime_ns}-{facts.st_size}")
    return ".".join(parts)


class PageServer(ThreadingHTTPServer):
    """Serves one page at an address that cannot be guessed, to this machine only.

    There is no route that writes. A request needs the token in its path, and a ``Host`` of this machine.
    Other pages in the same browser can know neither, also where a name of theirs leads to 127.0.0.1.

    `path`: the file that the page shows. `make`: returns the page for a state of the file. `port`: where to
    listen on 127.0.0.1; 0 takes a free one. `patience_s`: seconds that a client may take for its whole
    request, and for taking the answer.
    """

    daemon_threads = True

    def __init__(
        self, path: Path, make: Callable[[str], str], port: int = 0, *, patience_s: float = PATIENCE_S
    ) -> None:
        super().__init__((HOST, port), _Answer)
        self.path = path
        self.make = make
        self.patience_s = patience_s
        self.token = secrets.token_urlsafe(24)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that hangs up before it has its answer."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """What to type into a browser."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser of this machine may call this server."""
        return f"{HOST}:{self.server_port}", f"localhost:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: PageServer
    server_version = "shortlist"
    sys_version = ""

    def setup(self) -> None:
        """Give a client some seconds for its whole request, and as many to take the answer."""
        self.request.settimeout(self.server.patience_s)
        super().setup()
        self._impatience = threading.Timer(self.server.patience_s, self._hang_up)
        self._impatience.daemon = True
        self._impatience.start()

    def finish(self) -> None:
        self._impatience.cancel()
        super().finish()

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):  # the client has gone
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self) -> None:  # the name that http.server asks for
        self._impatience.cancel()
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0] not in self.server.hosts:
            self._send(HTTPStatus.FORBIDDEN, "This server answers its own machine only.")
            return
        token, *rest = self.path.removeprefix("/").split("/")
        if not compare_digest(token.encode(), self.server.token.encode()) or rest not in ([""], ["state"]):
            self._send(HTTPStatus.NOT_FOUND, "There is no such page.")
            return
        state = state_of(self.server.path)
        if rest == ["state"]:
            self._send(HTTPStatus.OK, state)
            return
        try:
            self._send(HTTPStatus.OK, self.server.make(state), "text/html")
        except ShortlistError as error:
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, str(error))

    def _send(self, status: HTTPStatus, text: str, kind: str = "text/plain") -> None:
        """Send a text that no other page may read, keep or put into a frame."""
        content = text.encode()
        self.send_response(status)
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(content))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing: a log would hold the token."""
