"""A server on this machine that answers like an OpenAI-compatible API, well or badly, as it is told."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[str, str, int], Any]
"""Response of the server by model, by the text of the case, and by the number of the try, from 1."""

FAILURES = ("status 500", "status 429", "status 401", "no JSON", "no completion", "hangs up")
"""Failures that a script may return; anything else is an answer."""


class Stub:
    """Requests to the server: `requests` in order, `url` of the API."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.tries: Counter[tuple[str, str]] = Counter()


@contextmanager
def stub_api(script: Script) -> Iterator[Stub]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model, text = body["model"], body["messages"][-1]["content"]
            stub.requests.append(body)
            stub.keys.append(self.headers["Authorization"])
            stub.tries[model, text] += 1
            told = script(model, text, stub.tries[model, text])
            if told == "hangs up":
                self.close_connection = True
                return
            if str(told).startswith("status"):
                self.send(int(told.split()[1]), b"busy", {"Retry-After": "7"})
                return
            message = {"role": "assistant", "content": told}
            reply: Any = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            if told == "no completion":
                reply = {"choices": []}
            self.send(200, b"<html>" if told == "no JSON" else json.dumps(reply).encode(), {})

        def send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(content))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        stub = Stub(f"http://127.0.0.1:{server.server_port}/v1")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield stub
        finally:
            server.shutdown()
            thread.join()
