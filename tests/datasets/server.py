"""A server on this machine that answers as a script says, and misbehaves where it says so."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Answer: TypeAlias = Callable[["Handler"], None]


@dataclass
class Server:
    """Answers the requests in order, the last one for ever; `n_requests` counts them."""

    answers: list[Answer]
    url: str = ""
    n_requests: int = 0
    over: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    """Gives the next answer of the script."""

    script: Server

    def do_GET(self) -> None:
        self.script.n_requests += 1
        answers = self.script.answers
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        with contextlib.suppress(ConnectionError):  # the client may have gone
            answer(self)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def begin(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()


@contextlib.contextmanager
def served(*answers: Answer) -> Iterator[Server]:
    """Run a server on a free port of this machine."""
    script = Server(list(answers))
    handler = type("Scripted", (Handler,), {"script": script})
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    script.url = f"http://127.0.0.1:{httpd.server_port}/file.data"
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield script
    finally:
        script.over.set()
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def whole(content: bytes) -> Answer:
    """Send everything."""

    def answer(request: Handler) -> None:
        request.begin(200, Content_Length=len(content))
        request.wfile.write(content)

    return answer


def cut(content: bytes, n_bytes: int) -> Answer:
    """Promise everything, and hang up after so many bytes of it."""

    def answer(request: Handler) -> None:
        request.begin(200, Content_Length=len(content))
        request.wfile.write(content[:n_bytes])

    return answer


def stalled(content: bytes, n_bytes: int) -> Answer:
    """Promise everything, send so many bytes, and then nothing until the test is over."""

    def answer(request: Handler) -> None:
        request.begin(200, Content_Length=len(content))
        request.wfile.write(content[:n_bytes])
        request.wfile.flush()
        request.script.over.wait()

    return answer


def endless(block: bytes) -> Answer:
    """Send for ever, without a length."""

    def answer(request: Handler) -> None:
        request.begin(200)
        while not request.script.over.is_set():
            request.wfile.write(block)

    return answer


def refused(status: int, **headers: object) -> Answer:
    """Answer with a status and no content."""

    def answer(request: Handler) -> None:
        request.begin(status, Content_Length=0, **headers)

    return answer
