"""Deciding while asking: whatever an API does, a case ends as `predict` has it, with silence for what failed."""

import asyncio
import http.client
import importlib.util
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from shortlist.ensembles.estimators.rule_pruners import BaselinePruner
from shortlist.errors import BadInputError
from shortlist.export import reader
from shortlist.export.policies import asked_columns, policy_of
from shortlist.export.service import ApiJudge, Reply, decide, label_of, post
from shortlist.panels.answer_log import Measures, make_log
from shortlist.panels.decisions import JudgeVotes
from shortlist.panels.policy import Final, Panel, Stage
from shortlist.saved_models import SavedModel
from tests.export.stub_api import FAILURES, Stub, stub_api
from tests.export.test_early_exit import own_models
from tests.export.test_judge_numbers import of_case
from tests.export.test_pipelines import records
from tests.export.test_pipelines import table as table_of_rows
from tests.panels.made import CLASSES, KINDS, behind_a_router, log_of, panel_of_kind

SILENT = (*FAILURES, "times out", "", "  ", None)
NAMES = ("j0", "j1", "j2", "j3")
EXAMPLE = Path(__file__).parents[2] / "examples" / "serve.py"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def run(awaited: Any) -> Any:
    """Its result, by a loop of another thread, since tests of pages leave one in this thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, awaited).result()


async def at_once(_seconds: float) -> None:
    """Wait no longer."""


def asking(case: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": case}]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "final", [Final(), Final("hand-over", 7.0), Final("reject")], ids=lambda one: one.kind
)
def test_a_panel_decides_as_predict_has_it_whatever_its_judges_do(kind: str, final: Final) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    panel = panel_of_kind(rng, log_of(rng, 4), kind, 3, final)
    n_cases = 25
    says = [*CLASSES, " yes ", "No idea", '{"label": "no", "confidence": 0.9}', '{"label":', "{}"]
    told = np.array([*says, *SILENT], dtype=object)
    happens = told[rng.integers(0, len(told), (n_cases, 4))]
    confidence = np.full(happens.shape, np.nan)
    confidence[happens == says[5]] = 0.9
    said = np.array([[None if cell in SILENT else cell for cell in row] for row in happens], dtype=object)
    said[happens == says[5]] = "no"
    log = make_log(
        panel.judges, np.arange(n_cases), said, classes=CLASSES,
        measures=Measures(confidence=confidence, prices=list(panel.prices)),
    )  # fmt: skip
    wanted = panel.run(log)

    def send(url: str, body: bytes, headers: Mapping[str, str], limit: float) -> Reply:
        asked = json.loads(body)
        if happens[int(asked["messages"][-1]["content"]), NAMES.index(asked["model"])] == "times out":
            raise TimeoutError
        return post(url, body, headers, limit)

    with stub_api(lambda model, case, _: happens[int(case), NAMES.index(model)]) as stub:
        judges = {name: ApiJudge(stub.url, name, tries=2) for name in NAMES}
        for case in range(n_cases):
            sources = {
                name: partial(judge.ask, asking(str(case)), send=send, pause=at_once)
                for name, judge in judges.items()
            }
            step = run(decide(panel.plain(), {}, sources))
            decision = step["decision"]
            code = wanted.codes[case]
            assert decision["label"] == (panel.classes[code] if code >= 0 else None)
            assert decision["handed_over"] == wanted.handed_over[case]
            assert decision["stage"] == wanted.stage[case] + 1
            assert decision["cost"] == pytest.approx(wanted.price[case])
            assert decision["confidence"] == pytest.approx(wanted.sure[case])
            failed = {
                name
                for name in decision["asked"]
                if happens[case, NAMES.index(name)] in {*FAILURES, "times out"}
            }
            assert set(decision["failed"]) == failed
            for name in failed:
                timed_out = happens[case, NAMES.index(name)] == "times out"
                assert (decision["failed"][name] == "timed out") == timed_out
    refused = [key for key in stub.tries if happens[int(key[1]), NAMES.index(key[0])] == "status 401"]
    assert all(stub.tries[key] == (1 if key in refused else stub.tries[key]) for key in stub.tries)
    assert max(stub.tries.values()) == 2


@pytest.mark.parametrize("case", ["abstentions", "plurality"])
def test_a_committee_of_judges_stops_early_and_decides_as_its_model(case: str) -> None:
    model, table = of_case(case)
    rows = table[list(asked_columns(model))]
    policy = json.loads(json.dumps(policy_of(model)))
    early = model.estimator.predict_early(rows)
    given = rows.astype(object).where(rows.notna(), "hangs up").to_dict("records")
    n_rows = 20
    with stub_api(lambda name, row, _: str(given[int(row)][name])) as stub:
        for row in range(n_rows):
            sources = {
                name: partial(ApiJudge(stub.url, name, tries=1).ask, asking(str(row))) for name in rows
            }
            decision = run(decide(policy, {}, sources))["decision"]
            assert str(decision["label"]) == str(model.estimator.predict(rows.iloc[[row]])[0])
            assert len(decision["asked"]) == early.calls[row]
    assert sum(stub.tries.values()) == early.calls[:n_rows].sum() < n_rows * rows.shape[1]


def test_a_judge_with_a_column_for_each_class_returns_a_dict_of_them() -> None:
    model, table = of_case("mean")
    rows = table[list(asked_columns(model))]
    policy, row = policy_of(model), rows.iloc[0].to_dict()

    async def probabilities(columns: list[str]) -> dict[str, Any]:
        return {column: row[column] for column in columns}

    sources = {judge["name"]: partial(probabilities, judge["columns"]) for judge in policy["judges"]}
    step = run(decide(policy, {}, sources))
    assert step["decision"] == reader.answer(policy, row) | {"asked": step["decision"]["asked"]}


def two_stages() -> Panel:
    """One judge, and where it is silent two others at once."""
    log = log_of(np.random.default_rng(0), 4)
    one, both = JudgeVotes((0,), (1,)), JudgeVotes((1, 2), (1, 1))
    panel = panel_of_kind(np.random.default_rng(0), log, KINDS[1], 1, Final())
    return replace(panel, stages=(Stage((0,), one, 0.5), Stage((1, 2), both, 0.5)))


async def says(answer: Any) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return answer


def test_what_has_no_source_is_left_to_the_caller_and_what_was_found_out_is_kept() -> None:
    policy = two_stages().plain()
    known: dict[str, Any] = {}
    step = run(decide(policy, known, {"j1": partial(says, "yes")}))
    assert (step["ask"], step["decision"], step["known"], known) == (["j0"], None, {}, {})
    step = run(decide(policy, {"j0": None}, {"j1": partial(says, "yes")}))
    assert (step["ask"], step["decision"], step["known"]) == (["j2"], None, {"j0": None, "j1": "yes"})
    step = run(decide(policy, step["known"] | {"j2": "yes"}, {}, step["failed"]))
    assert step["decision"]["label"] == "yes"
    assert step["decision"]["asked"] == ["j0", "j1", "j2"]


@pytest.mark.parametrize(
    "said", [["yes"], {"label": ["yes"]}, {}, b"yes", object(), ValueError("odd"), ValueError()]
)
def test_a_source_that_returns_no_answer_has_failed_and_the_others_decide(said: Any) -> None:
    sources = {"j0": partial(says, said), "j1": partial(says, "yes"), "j2": partial(says, "yes")}
    step = run(decide(two_stages().plain(), {}, sources))
    assert step["decision"]["label"] == "yes"
    assert step["decision"]["failed"]["j0"].startswith("failed: ")


def test_judges_of_a_stage_are_asked_at_the_same_time() -> None:
    async def all_of_it() -> dict[str, Any]:
        meeting = asyncio.Barrier(2)

        async def meet() -> str:
            await meeting.wait()
            return "no"

        return await decide(two_stages().plain(), {"j0": ""}, {"j1": meet, "j2": meet})

    assert run(all_of_it())["decision"]["label"] == "no"


def test_a_feature_without_a_value_that_a_stage_needs_has_failed_and_is_asked_once() -> None:
    asked = []
    policy = {
        "format": "shortlist-policy", "version": 1, "kind": "stages", "classes": ["a", "b"], "reject_label": None,
        "guarantee": None, "thresholds": [0.5, 0.5],
        "features": [{"name": "x", "kind": "number", "may_be_missing": False, "known": None}],
        "columns": [{"feature": 0, "kind": "number", "fill": 0.0, "clip": None, "scaling": []}],
        "stages": [{"number": 1, "buys": [0], "known": [0], "cost": 1.0, "columns": [0], "least": None,
                    "model": {"kind": "linear", "weights": [[1.0]], "intercepts": [0.0]}}],
    }  # fmt: skip
    reader.check(policy)

    async def nothing() -> None:
        asked.append("x")

    step = run(decide(policy, {}, {"x": nothing}))
    decision = step["decision"]
    assert (asked, decision["answered"], decision["failed"]) == (["x"], False, {"x": "failed: no value"})


@pytest.mark.parametrize(
    ("content", "more", "label"),
    [
        (" spam\n", {}, "spam"),
        ("", {}, None),
        (None, {}, None),
        ('{"label": "spam", "confidence": 0.7, "why": "x"}', {}, {"label": "spam", "confidence": 0.7}),
        ('{"label": "spam"}', {}, {"label": "spam", "confidence": None}),
        ('{"label": "spam', {}, '{"label": "spam'),
        ("[" * 20_000, {}, "[" * 20_000),
        ("12", {}, "12"),
        ("spam", {"logprobs": {"content": [{"logprob": np.log(0.5)}, {"logprob": np.log(0.8)}]}}, {"label": "spam", "confidence": 0.4}),
        ("spam", {"logprobs": None}, "spam"),
    ],
)  # fmt: skip
def test_an_answer_is_found_in_a_completion(content: Any, more: dict[str, Any], label: Any) -> None:
    found = label_of({"choices": [{"message": {"content": content}} | more]})
    if isinstance(label, dict):
        label["confidence"] = None if label["confidence"] is None else pytest.approx(label["confidence"])
    assert found == label


@pytest.mark.parametrize(
    "reply",
    [None, [], {}, "spam", {"choices": []}, {"choices": [{}]}, {"choices": [{"message": {"content": 12}}]},
     {"choices": [{"message": {"content": "a"}, "logprobs": {"content": [{"logprob": "x"}]}}]}],
)  # fmt: skip
def test_what_is_no_completion_is_refused(reply: Any) -> None:
    with pytest.raises(ValueError, match="the reply is no chat completion"):
        label_of(reply)


def test_a_busy_api_is_asked_again_after_the_time_that_it_names_and_others_after_longer_and_longer_ones() -> (
    None
):
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    happens = {
        "busy": ["status 429", "status 429", "ham"],
        "broken": ["no JSON", "status 500", "hangs up", "ham"],
    }
    with stub_api(lambda _, case, number: happens[case][number - 1]) as stub:
        judge = ApiJudge(stub.url, "small", tries=4)
        assert run(judge.ask(asking("busy"), pause=pause)) == "ham"
        assert run(judge.ask(asking("broken"), pause=pause)) == "ham"
    assert pauses == [7, 7, 0.5, 7, 2.0]


def test_a_request_has_the_prompt_the_key_and_further_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    with stub_api(lambda *_: "ham") as stub:
        judge = ApiJudge(stub.url + "/", "small", "Spam or ham?", "MADE_KEY", body={"temperature": 0})
        monkeypatch.delenv("MADE_KEY", raising=False)
        with pytest.raises(ConnectionError, match="the environment has no MADE_KEY"):
            run(judge.ask(asking("a")))
        monkeypatch.setenv("MADE_KEY", "s3cret")
        assert run(judge.ask(asking("a"))) == "ham"
    assert stub.keys == ["Bearer s3cret"]
    prompted = [{"role": "system", "content": "Spam or ham?"}, *asking("a")]
    assert stub.requests == [{"model": "small", "messages": prompted, "temperature": 0}]


@pytest.mark.parametrize(
    "endless", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"], ids=["silence", "trickle"]
)
def test_a_reply_that_does_not_end_times_out(endless: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def trickle() -> None:
            caller, _ = server.accept()
            with caller:
                caller.sendall(endless)
                while endless and not over.wait(0.01):
                    caller.sendall(b" ")
                over.wait()

        over = threading.Event()
        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            with pytest.raises(TimeoutError):
                post(f"http://127.0.0.1:{server.getsockname()[1]}/v1", b"{}", {}, 0.2)
        finally:
            over.set()
            thread.join()


def test_nobody_at_an_address_is_a_failure_with_its_reason() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ConnectionError, match="refused"):
        run(ApiJudge(f"http://127.0.0.1:{port}/v1", "small", tries=1).ask(asking("a")))


@pytest.mark.parametrize(
    ("field", "value"), [("url", "file:///etc/passwd"), ("url", "localhost:80"), ("tries", 0)]
)
def test_a_judge_that_cannot_be_asked_is_refused(field: str, value: Any) -> None:
    with pytest.raises(BadInputError, match=f"^{field} must "):
        ApiJudge(**{"url": "http://localhost", "model": "m", field: value})


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """The example."""
    made = importlib.util.spec_from_file_location("serve_example", EXAMPLE)
    assert made is not None
    assert made.loader is not None
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


@contextmanager
def served(program: ModuleType, policy: dict[str, Any], judges: dict[str, ApiJudge]) -> Iterator[Any]:
    with program.server(policy, judges, 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield partial(sent, server.server_port)
        finally:
            server.shutdown()
            thread.join()


def sent(port: int, path: str, body: Any = None) -> tuple[int, Any]:
    """Status and content of a reply; without a body it is a GET."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    connection.request("GET" if body is None else "POST", path, content)
    reply = connection.getresponse()
    told = reply.status, json.loads(reply.read())
    connection.close()
    return told


def asks_all(stub: Stub) -> dict[str, ApiJudge]:
    return {name: ApiJudge(stub.url, name, tries=2, first_pause=0.0) for name in NAMES}


def test_the_example_answers_like_an_api_and_counts(program: ModuleType) -> None:
    happens: dict[str, dict[str, Any]] = {
        "easy": {"j0": "yes"},
        "hard": {"j0": "", "j1": "no", "j2": "no"},
        "none": {"j0": "no JSON", "j1": "hm", "j2": None},
    }
    with (
        stub_api(lambda model, case, _: happens[case][model]) as stub,
        served(program, two_stages().plain(), asks_all(stub)) as send,
    ):
        told = [
            send("/v1/chat/completions", {"model": "panel", "messages": asking(case)}) for case in happens
        ]
        counts = send("/counts")
    assert [status for status, _ in told] == [200, 200, 200]
    assert [one["choices"][0]["message"]["content"] for _, one in told] == ["yes", "no", ""]
    assert {one["object"] for _, one in told} == {"chat.completion"}
    assert told[2][1]["decision"]["failed"] == {"j0": "failed: Expecting value: line 1 column 1 (char 0)"}
    assert counts == (
        200,
        {
            "answered": 2, "j0 was silent": 1, "not answered": 1, "j2 was silent": 1, "j1 gave an unknown word": 1,
            "j0 failed: Expecting value: line 1 column 1 (char 0)": 1,
        },
    )  # fmt: skip


def test_the_example_asks_its_caller_for_what_it_cannot_ask_itself(program: ModuleType) -> None:
    model, table = of_case("plurality")
    rows = table[list(asked_columns(model))]
    policy = json.loads(json.dumps(policy_of(model)))
    early = model.estimator.predict_early(rows)
    row = rows.astype(object).where(rows.notna(), None).iloc[0].to_dict()
    with served(program, policy, {}) as send:
        step: dict[str, Any] = {"ask": [], "known": {}, "failed": {}, "decision": None}
        while True:
            status, step = send("/decide", {"known": step["known"], "failed": step["failed"]})
            assert status == 200
            if step["decision"] is not None:
                break
            step["known"] |= {name: row[name] for name in step["ask"]}
        assert len(step["known"]) == early.calls[0] < len(row)
        assert step["decision"] == reader.answer(policy, step["known"])
        assert step["decision"]["label"] == reader.answer(policy, row)["label"]
        status, told = send("/v1/chat/completions", {"messages": asking("a")})
    assert status == 400
    assert "known must hold" in told["error"]["message"]


def test_the_example_gives_a_router_the_columns_that_the_caller_knows(program: ModuleType) -> None:
    panel = behind_a_router(two_stages())
    with stub_api(lambda *_: "no") as stub, served(program, panel.plain(), asks_all(stub)) as send:
        _, poem = send("/decide", {"known": {"topic": "poem"}, "messages": asking("a")})
        _, other = send("/v1/chat/completions", {"messages": asking("a")})
    assert (poem["decision"]["branch"], poem["decision"]["asked"]) == (1, [])
    assert other["decision"]["unrouted"] == {"topic": None}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/decide", b"no JSON", 400),
        ("/decide", b"\xff", 400),
        ("/decide", b"[" * 20_000, 400),
        ("/decide", [], 400),
        ("/decide", {"known": ["j0"]}, 400),
        ("/decide", {"known": {"j0": ["yes"]}}, 400),
        ("/decide", {"known": {"j0": {"confidence": 1}}}, 400),
        ("/v1/chat/completions", {}, 400),
        ("/v1/embeddings", {}, 404),
        ("/", None, 404),
    ],
)
def test_the_example_refuses_what_it_cannot_use_and_goes_on(
    program: ModuleType, path: str, body: Any, status: int
) -> None:
    with served(program, two_stages().plain(), {}) as send:
        told = send(path, body)
        assert told[0] == status
        assert told[1]["error"]["message"]
        assert send("/decide", {"known": {"j0": "yes"}})[1]["decision"]["label"] == "yes"


def test_a_body_that_is_too_long_or_has_no_length_is_refused(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "MOST_BYTES", 10)
    with served(program, two_stages().plain(), {}) as send:
        assert send("/decide", b"{" + b" " * 20 + b"}")[0] == 400
        assert send("/decide", b"{       }")[0] == 200


@pytest.mark.filterwarnings("ignore")
def test_a_committee_of_classifiers_asks_for_the_features_of_one_member_at_a_time(
    program: ModuleType,
) -> None:
    rows, y = table_of_rows(2)
    own = own_models(rows[:100], y[:100])
    pruner = BaselinePruner({name: own[name] for name in ("age", "income", "rich")}).fit(rows[100:], y[100:])
    model = SavedModel(pruner, tuple(rows.columns), "class")
    policy = json.loads(json.dumps(policy_of(model)))
    early, wanted = pruner.predict_early(rows[:30]), pruner.predict(rows[:30])
    n_asked = 0
    with served(program, policy, {}) as send:
        for place, row in enumerate(records(rows[:30])):
            asked: list[str] = []

            async def measured(name: str, row: dict[str, Any] = row, asked: list[str] = asked) -> Any:
                asked.append(name)
                return row[name]

            sources = {name: partial(measured, name) for name in row}
            decision = run(decide(policy, {}, sources))["decision"]
            assert decision["label"] == wanted[place]
            assert len(decision["members"]) == early.calls[place]
            n_asked += len(asked)
            known: dict[str, Any] = {}
            while (step := send("/decide", {"known": known})[1])["decision"] is None:
                known |= {name: row[name] for name in step["ask"]}
            assert step["decision"] == decision
            assert sorted(known) == sorted(asked)
        assert 0 < n_asked < 30 * rows.shape[1]
        failed = dict.fromkeys(rows, "timed out")
        step = send("/decide", {"failed": failed})[1]
    assert not step["decision"]["answered"]
