"""A policy as a model of LiteLLM; with the package itself where it is installed, else with what it stands for."""

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.export.litellm_provider import litellm_provider
from tests.export.stub_api import stub_api
from tests.export.test_service import asking, run, two_stages
from tests.panels.made import behind_a_router

MODELS = {name: {"model": name} for name in ("j0", "j1", "j2", "j3")}


class Timeout(Exception):  # noqa: N818  # the name that LiteLLM gives it
    """LiteLLM's own, which is no TimeoutError."""


def plain_object(**fields: Any) -> Any:
    """Fields as attributes, all the way down."""
    told = SimpleNamespace(**fields)
    if "choices" in fields:
        for choice in fields["choices"]:
            choice["message"] = SimpleNamespace(**choice["message"])
        told.choices = [SimpleNamespace(**choice) for choice in fields["choices"]]
    return told


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module with the three names of LiteLLM that a provider uses."""
    module = ModuleType("litellm")
    vars(module).update(CustomLLM=object, ModelResponse=plain_object, Usage=SimpleNamespace)
    monkeypatch.setitem(sys.modules, "litellm", module)
    return module


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The policy of a panel."""
    two_stages().save(tmp_path / "panel.json")
    return tmp_path / "panel.json"


def answering(happens: dict[str, Any], asked: list[dict[str, Any]]) -> Callable[..., Any]:
    """A function that stands for ``acompletion``."""

    async def complete(**options: Any) -> dict[str, Any]:
        asked.append(options)
        told = happens[options["model"]]
        if isinstance(told, Exception):
            raise told
        used = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        return {"choices": [{"message": {"content": told}}], "usage": used}

    return complete


@pytest.mark.usefixtures("stand_in")
def test_a_completion_is_what_the_panel_decides_and_failures_are_silence(file: Path) -> None:
    asked: list[dict[str, Any]] = []
    models = MODELS | {"j1": {"model": "j1", "prompt": "Yes or no?", "timeout": 3}}
    happens = {"j0": Timeout("slow"), "j1": "yes", "j2": "yes"}
    handler = litellm_provider(file, models, complete=answering(happens, asked))
    told = run(handler.acompletion(model="panel", messages=asking("a"), api_base="", timeout=1))
    message = told.choices[0].message
    assert (message.content, told.model) == ("yes", "panel")
    assert message.provider_specific_fields["decision"]["failed"] == {"j0": "timed out"}
    assert vars(told.usage) == {"prompt_tokens": 20, "completion_tokens": 4, "total_tokens": 24}
    assert asked == [
        {"model": "j0", "messages": asking("a")},
        {
            "model": "j1",
            "messages": [{"role": "system", "content": "Yes or no?"}, *asking("a")],
            "timeout": 3,
        },
        {"model": "j2", "messages": asking("a")},
    ]


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("reply", ["", None, "no such class", RuntimeError("HTTP 500")])
def test_without_an_answer_the_text_is_empty_and_the_decision_says_why(file: Path, reply: Any) -> None:
    handler = litellm_provider(file, MODELS, complete=answering(dict.fromkeys(MODELS, reply), []))
    message = run(handler.acompletion(model="panel", messages=asking("a"))).choices[0].message
    decision = message.provider_specific_fields["decision"]
    assert (message.content, decision["answered"]) == ("", False)
    if isinstance(reply, Exception):
        assert decision["failed"] == dict.fromkeys(("j0", "j1", "j2"), "failed: HTTP 500")


@pytest.mark.usefixtures("stand_in")
def test_all_four_ways_of_asking_say_the_same_also_where_a_loop_runs(file: Path) -> None:
    handler = litellm_provider(file, MODELS, complete=answering({"j0": "no"}, []))
    case = {"model": "panel", "messages": asking("a")}

    async def all_of_them() -> list[Any]:
        parts = [part async for part in handler.astreaming(**case)] + list(handler.streaming(**case))
        told = [await handler.acompletion(**case), handler.completion(**case)]
        assert all(part["is_finished"] and part["finish_reason"] == "stop" for part in parts)
        return [part["text"] for part in parts] + [one.choices[0].message.content for one in told]

    assert run(all_of_them()) == ["no"] * 4


@pytest.mark.usefixtures("stand_in")
def test_a_router_gets_the_columns_that_a_function_finds_in_the_messages(tmp_path: Path) -> None:
    behind_a_router(two_stages()).save(tmp_path / "panel.json")
    ask = answering({"j0": "no"}, [])
    handler = litellm_provider(
        tmp_path / "panel.json",
        MODELS,
        columns=lambda messages: {"topic": messages[-1]["content"], "length": 3},
        complete=ask,
    )
    told = run(handler.acompletion(model="panel", messages=asking("poem"))).choices[0].message
    assert told.provider_specific_fields["decision"]["branch"] == 1
    without = litellm_provider(tmp_path / "panel.json", MODELS, complete=ask)
    told = run(without.acompletion(model="panel", messages=asking("poem"))).choices[0].message
    assert told.provider_specific_fields["decision"]["unrouted"] == {"topic": None}


@pytest.mark.usefixtures("stand_in")
def test_a_judge_without_a_model_is_refused(file: Path) -> None:
    with pytest.raises(BadInputError, match="models must have a model for the judge 'j1'"):
        litellm_provider(file, {"j0": {"model": "a"}, "j1": {"prompt": "b"}})


def test_without_litellm_an_error_says_how_to_install_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(MissingDependencyError, match="pip install litellm"):
        litellm_provider(file, MODELS)


def test_litellm_itself_asks_a_panel_over_http(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm", reason="litellm is not installed")
    check_litellm(litellm, file)


def check_litellm(litellm: Any, file: Path) -> None:
    """Ask a panel as users of LiteLLM do, with judges behind an API that fails now and then."""
    happens: dict[str, dict[str, Any]] = {
        "a": {"j0": "yes"},
        "b": {"j0": "status 500", "j1": "no", "j2": "no"},
        "c": {"j0": "no JSON", "j1": "", "j2": None},
    }
    with stub_api(lambda model, case, _: happens[case][model]) as stub:
        own = {"api_base": stub.url, "api_key": "none", "timeout": 5, "num_retries": 0}
        models = {name: {"model": f"openai/{name}"} | own for name in MODELS}
        litellm.custom_provider_map = [
            {"provider": "shortlist", "custom_handler": litellm_provider(file, models)}
        ]
        told = [litellm.completion(model="shortlist/panel", messages=asking(case)) for case in happens]
        assert [one.choices[0].message.content for one in told] == ["yes", "no", ""]
        decisions = [one.choices[0].message.provider_specific_fields["decision"] for one in told]
        assert [sorted(one["failed"]) for one in decisions] == [[], ["j0"], ["j0"]]

        async def others() -> list[str]:
            one = await litellm.acompletion(model="shortlist/panel", messages=asking("b"))
            stream = await litellm.acompletion(model="shortlist/panel", messages=asking("a"), stream=True)
            parts = [part.choices[0].delta.content or "" async for part in stream]
            return [one.choices[0].message.content, "".join(parts)]

        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(asyncio.run, others()).result() == ["no", "yes"]
        stream = litellm.completion(model="shortlist/panel", messages=asking("a"), stream=True)
        assert "".join(part.choices[0].delta.content or "" for part in stream) == "yes"
