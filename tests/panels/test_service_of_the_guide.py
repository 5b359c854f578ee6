"""The service in the guide on panels runs as it is printed, whatever its judges do."""

import asyncio
import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from shortlist.export.policies import write_reader
from shortlist.panels import load_panel
from shortlist.panels.decisions import ConfidenceScale, JudgeVotes
from shortlist.panels.policy import Final, Panel, Stage
from shortlist.panels.router import Alone, Fork

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "serve-alone.md"
NAMES = ("small", "other", "large")


def panel() -> Panel:
    """Two judges at once, who have to agree, and then a third; a person decides where there is no majority."""
    return Panel(
        NAMES, ("ham", "spam"),
        (
            Stage((0, 1), JudgeVotes((0, 1), (1, 1), "majority", "counted"), 0.9),
            Stage((2,), JudgeVotes((0, 1, 2), (1, 1, 1), "majority", "counted"), 0.6),
        ),
        (1.0, 2.0, 4.0), ConfidenceScale((None,) * 3), (0.1, 0.1, 0.5),
        Final("hand-over", 50.0),
    )  # fmt: skip


def routed_panel() -> Panel:
    """Poems are answered without asking, code by the third judge alone, and anything else as without a router."""
    alone = Stage((), Alone(1, (0.1, 0.9)), 0.0)
    third = Stage((2,), JudgeVotes((2,), (1,)), 0.0)
    router = Fork("topic", None, ("poem",), ("code", "poem"), 1, 2)
    return replace(panel(), router=router, branches=((alone,), (third,)))


@pytest.fixture
def made_panel() -> Panel:
    """The panel that the service asks."""
    return panel()


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_panel: Panel) -> Iterator[ModuleType]:
    """The program of the guide, with judges who do what a case says of them."""
    code = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (program,) = [block for block in code if "start_server" in block]
    (tmp_path / "serve.py").write_text(program, encoding="utf-8")
    write_reader(tmp_path / "reader.py")
    made_panel.save(tmp_path / "panel.json")
    judges = ModuleType("judges")
    meeting = asyncio.Barrier(2)
    judges.JUDGES = {name: judge(name, meeting) for name in NAMES}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "judges", judges)
    monkeypatch.delitem(sys.modules, "reader", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    made = importlib.util.spec_from_file_location("serve", tmp_path / "serve.py")
    assert made is not None
    assert made.loader is not None
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    module.TIME_LIMIT = 0.5  # type: ignore[attr-defined]
    yield module
    sys.modules.pop("reader", None)


def judge(name: str, meeting: asyncio.Barrier) -> Any:
    async def asked(case: dict[str, Any]) -> Any:
        if name in case.get("meet", ()):
            await meeting.wait()  # ends only if the others are asked side by side
        if case[name] == "never":
            await asyncio.Event().wait()
        if case[name] == "crash":
            raise ConnectionError("no route")
        return case[name]

    return asked


def decided(service: ModuleType, *cases: dict[str, Any]) -> list[dict[str, Any]]:
    """Answers of the service to cases on a connection."""
    return answered(service, *(json.dumps(case).encode() for case in cases))


def answered(service: ModuleType, *sent: bytes) -> list[dict[str, Any]]:
    """Answers of the service to lines on a connection."""

    async def talk() -> list[dict[str, Any]]:
        server = await service.start(0)
        async with server:
            lines, out = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
            told = []
            for line in sent:
                out.write(line + b"\n")
                told.append(json.loads(await lines.readline()))
            out.close()
            await out.wait_closed()
        return told

    with ThreadPoolExecutor(1) as pool:  # tests of pages may have left a loop in this thread
        return pool.submit(asyncio.run, talk()).result()


def test_two_who_agree_end_a_case_and_are_asked_side_by_side(service: ModuleType) -> None:
    (told,) = decided(
        service, {"small": "ham", "other": " ham", "large": "crash", "meet": ["small", "other"]}
    )
    assert (told["label"], told["stage"], told["cost"]) == ("ham", 1, 3.0)
    assert told["asked"] == ["small", "other"]
    assert service.TOLD == {"answered": 1}


@pytest.mark.parametrize("made_panel", [routed_panel()], ids=["router"])
def test_a_router_sends_a_case_before_anybody_is_asked_and_says_what_it_does_not_know(
    service: ModuleType,
) -> None:
    nobody = dict.fromkeys(NAMES, "crash")
    told = decided(
        service,
        {"topic": "poem", **nobody},
        {"topic": "code", **nobody, "large": "ham"},
        {"topic": "prose", "small": "ham", "other": "ham", "large": "crash"},
        {"small": "spam", "other": "spam", "large": "crash"},
    )
    assert [one["label"] for one in told] == ["spam", "ham", "ham", "spam"]
    assert [one["asked"] for one in told] == [[], ["large"], ["small", "other"], ["small", "other"]]
    assert [one["branch"] for one in told] == [1, 2, 0, 0]
    assert [one["unrouted"] for one in told] == [{}, {}, {"topic": "prose"}, {"topic": None}]
    assert service.TOLD == {"answered": 4, "topic did not tell the way": 2}


def test_silence_unknown_words_failures_and_timeouts_are_said_and_counted(service: ModuleType) -> None:
    told = decided(
        service,
        {"small": "spam", "other": "never", "large": {"label": "spam", "confidence": 0.9}},
        {"small": "I am not sure", "other": "", "large": "spam"},
        {"small": "crash", "other": ["spam"], "large": "ham"},
        {"small": "I am not sure", "other": "ham", "large": "spam"},
    )
    assert [one["label"] for one in told] == ["spam", None, None, None]
    assert [one["handed_over"] for one in told] == [False, True, True, True]
    assert [one["cost"] for one in told] == [7.0, 57.0, 57.0, 57.0]
    assert told[0]["failed"] == {"other": "timed out"}
    assert (told[1]["unknown"], told[1]["silent"]) == ({"small": "I am not sure"}, ["other"])
    assert told[2]["failed"]["small"] == "failed: ConnectionError('no route')"
    assert "must hold a number, text or nothing, got a list" in told[2]["failed"]["other"]
    counts = {name: times for name, times in service.TOLD.items() if "ReaderError" not in name}
    assert counts == {
        "answered": 1, "handed over": 3, "other timed out": 1, "other was silent": 1,
        "small said the unknown word 'I am not sure'": 2, "small failed: ConnectionError('no route')": 1,
    }  # fmt: skip
    assert service.TOLD.total() == 10


def test_a_line_that_is_no_case_gets_an_error_and_the_next_one_is_answered(service: ModuleType) -> None:
    lines = (b"no JSON", b"[1, 2]", b"", b"\xff", b"[" * 20_000, b'{"topic": NaN}')
    good = json.dumps({"small": "ham", "other": "ham", "large": "crash"}).encode()
    told = answered(service, *(one for line in lines for one in (line, good)))
    assert all("error" in one for one in told[:-2:2])
    assert told[0]["error"].startswith("JSONDecodeError: ")
    assert told[2]["error"] == "ValueError: a line must be a case, such as {}"
    assert [one["label"] for one in told[1::2]] == ["ham"] * len(lines)
    assert (
        service.TOLD["refused"] == len(lines) - 1
    )  # the last one has no judge that answers, and a person decides
    assert told[-2]["handed_over"]


@pytest.mark.parametrize("most", [2**12, 2**24])
@pytest.mark.parametrize("more", [0, 1, 70_000])
def test_a_long_line_is_answered_and_one_that_is_too_long_gets_an_error(
    service: ModuleType, monkeypatch: pytest.MonkeyPatch, most: int, more: int
) -> None:
    monkeypatch.setattr(service, "MOST_BYTES", most)
    case = {"small": "ham", "other": "ham", "large": "crash", "text": ""}
    good = json.dumps(case).encode()
    longest = json.dumps({**case, "text": "x" * (most - len(good))}).encode()
    told = answered(service, longest + b" " * more, good)
    if more:
        assert told[0] == {"error": f"ValueError: a line must have at most {most:,} bytes"}
    else:
        assert told[0]["label"] == "ham"
    assert told[1]["label"] == "ham"


@pytest.mark.parametrize("said", [["ham"], ("ham",), {"label": ["ham"]}, {}, b"ham", {"ham"}, object()])
def test_a_judge_that_returns_what_is_no_answer_has_failed(service: ModuleType, said: Any) -> None:
    async def judge(_case: dict[str, Any]) -> Any:
        return said

    service.JUDGES["small"] = judge
    (told,) = decided(service, {"other": "ham", "large": "ham"})
    assert told["label"] == "ham"
    assert told["failed"]["small"].startswith("failed: ReaderError")


def test_the_examples_of_the_guide_are_what_a_panel_says(tmp_path: Path) -> None:
    one = Panel(
        NAMES[:1], ("ham", "spam"), (Stage((0,), JudgeVotes((0,), (1,)), 0.5),), (1.0,),
        panel().scale, (0.1,),
    )  # fmt: skip
    one.save(tmp_path / "panel.json")
    again = load_panel(tmp_path / "panel.json")
    assert again.next({}) == {"ask": ["small"], "decision": None}
    assert again.next({"small": {"label": "spam", "confidence": 0.97}})["decision"]["label"] == "spam"
