"""Serve a policy over HTTP: python serve.py policy.json judges.json PORT.

A policy of a panel, a committee or stages, as `shortlist panel` or `export` writes it. The judges are JSON, by
name: {"small": {"url": "https://api.openai.com/v1", "model": "gpt-4o-mini", "key": "OPENAI_API_KEY",
"prompt": "Is this spam or ham? Answer with one word."}}; {} for features, which the caller knows.

    POST /v1/chat/completions   a chat completion, as of an OpenAI-compatible API, whose text is the label
    POST /decide                {"known": {...}, "failed": {...}, "messages": [...]}, all of them optional: the
                                decision, or in `ask` what the caller has to find out and add to `known`
    GET /counts                 how often cases were answered, and judges failed or were silent
"""

import asyncio
import json
import sys
import time
import uuid
from collections import Counter
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from shortlist.export import reader
from shortlist.export.service import ApiJudge, decide

MOST_BYTES = 2**24


class Handler(BaseHTTPRequestHandler):
    policy: ClassVar[dict[str, Any]]
    judges: ClassVar[dict[str, ApiJudge]]
    counts: ClassVar[Counter[str]]
    timeout = 60  # seconds until a caller that sends nothing is left alone
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/counts":
            self.reply(200, self.counts)
        else:
            self.reply(404, error(f"there is no {self.path}"))

    def do_POST(self) -> None:
        routes = {"/v1/chat/completions": self.completion, "/decide": self.decision}
        try:
            body = self.body()
            if self.path in routes:
                self.reply(200, routes[self.path](body))
            else:
                self.reply(404, error(f"there is no {self.path}"))
        except (ValueError, RecursionError) as problem:  # no JSON, or a value that the policy cannot use
            self.counts["refused"] += 1
            self.reply(400, error(str(problem) or type(problem).__name__))

    def body(self) -> dict[str, Any]:
        size = int(self.headers.get("Content-Length", -1))
        if not 0 <= size <= MOST_BYTES:
            self.close_connection = True
            raise ValueError(f"Content-Length must be from 0 to {MOST_BYTES:,} bytes")
        return named(json.loads(self.rfile.read(size)), "the body")

    def decision(self, body: dict[str, Any]) -> dict[str, Any]:
        known, failed = (named(body.get(name) or {}, name) for name in ("known", "failed"))
        messages = body.get("messages")
        asks = self.judges if isinstance(messages, list) else {}
        sources = {name: partial(judge.ask, messages) for name, judge in asks.items()}
        free = dict.fromkeys(reader.routed_by(self.policy)) if sources else {}
        step = asyncio.run(decide(self.policy, free | known, sources, failed))
        if step["decision"] is not None:
            count(self.counts, step["decision"])
        return step

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        step = self.decision(body)
        if step["decision"] is None:
            raise ValueError(f"messages must be a list, and known must hold {', '.join(step['ask'])}")
        decided = step["decision"]
        text = str(decided["label"]) if decided["answered"] else ""
        message = {"role": "assistant", "content": text}
        return {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.get("model"),
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "decision": decided,
        }

    def reply(self, status: int, content: Any) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Print nothing: the counts tell what happened."""


def named(value: Any, name: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise ValueError(f"{name} must be a JSON object")


def error(sentence: str) -> dict[str, Any]:
    return {"error": {"message": sentence, "type": "invalid_request_error"}}


def count(counts: Counter[str], decision: dict[str, Any]) -> None:
    end = "handed over" if decision["handed_over"] else "not answered"
    counts["answered" if decision["answered"] else end] += 1
    counts.update(f"{name} was silent" for name in decision["silent"])
    counts.update(f"{name} {reason}" for name, reason in decision["failed"].items())
    counts.update(f"{name} gave an unknown word" for name in decision["unknown"])


def server(policy: dict[str, Any], judges: dict[str, ApiJudge], port: int) -> ThreadingHTTPServer:
    """Return a server for programs on this machine; others need a proxy that checks who asks."""
    own = {"policy": policy, "judges": judges, "counts": Counter()}
    return ThreadingHTTPServer(("127.0.0.1", port), type("OwnHandler", (Handler,), own))


def main(policy_file: str, judges_file: str, port: str) -> None:
    judges = json.loads(Path(judges_file).read_text(encoding="utf-8"))
    judges = {name: ApiJudge(**options) for name, options in judges.items()}
    with server(reader.load(policy_file), judges, int(port)) as serving:
        print(f"Serving {policy_file} at http://127.0.0.1:{serving.server_port}", flush=True)
        serving.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) == 4:
        main(*sys.argv[1:])
    else:
        print(__doc__)
