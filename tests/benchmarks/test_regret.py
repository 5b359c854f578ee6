import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.regret import anytime, run
from benchmarks.regret.engines import DEFAULT, NONE, Answer, Instance, Kind, processor_time
from shortlist.errors import BadInputError
from shortlist.runs.budget import Budget, processor_seconds, seconds_now

N_QUESTIONS = 3


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", run.KINDS, ids=lambda kind: kind.name)
def test_engines_that_claim_to_be_complete_agree(kind: Kind) -> None:
    for seed in range(N_QUESTIONS):
        question = kind.tiny(np.random.default_rng(seed))
        answers = {}
        for name, engine in kind.engines.items():
            if name != "emsco":  # it goes on until its time is over
                answers[name], _, note = run.measured(engine, question, math.inf)
                assert note == "" or name in {"gurobi", "cplex"}
        complete = {name: answer.facts for name, answer in answers.items() if answer.complete}
        assert all(facts == complete[DEFAULT] for facts in complete.values()), (kind.name, seed, complete)
        most = max(answer.value for answer in answers.values() if not math.isnan(answer.value))
        if complete:
            assert answers[DEFAULT].value == pytest.approx(most)


def test_budgets_count_processor_seconds_while_they_are_asked_to() -> None:
    with processor_time():
        assert Budget().clock is processor_seconds
    assert Budget().clock is seconds_now


def refuse(_question: Any, _budget: Budget) -> Answer:
    raise BadInputError("columns", "must be at most 2,000 for this licence", 5000)


def kind_of(calls: list[str], **answers: Answer) -> Kind:
    """Return a kind of one instance, whose engines note that they were called."""

    def engine(name: str) -> Any:
        def answer(question: str, _budget: Budget) -> Answer:
            if question == "real":
                calls.append(name)
            return answers[name]

        return answer

    instance = Instance("one", lambda _folder: "real")
    return Kind("made", (instance,), {name: engine(name) for name in answers} | {"refused": refuse}, str)


def test_what_was_measured_for_the_same_sources_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[str] = []
    small = kind_of(calls, default=Answer(2.0, complete=False))
    monkeypatch.setattr(run, "sources_version", lambda: "first")
    run.regret(tmp_path, kinds=[small], file=tmp_path / "regret.csv")
    new = kind_of(calls, default=Answer(2.0, complete=False), other=Answer(3.0, complete=False))
    run.regret(tmp_path, kinds=[new], file=tmp_path / "regret.csv")

    assert calls == ["default", "other"]
    rows = {row["engine"]: row for row in run.read_rows(tmp_path / "regret.csv")}
    assert rows.keys() == {"default", "refused", "other"}
    assert "licence" in rows["refused"]["note"]
    assert "1.50  value: other" in capsys.readouterr().out

    monkeypatch.setattr(run, "sources_version", lambda: "second")
    run.regret(tmp_path, kinds=[new], file=tmp_path / "regret.csv")
    assert calls == ["default", "other", "default", "other"]
    assert {row["version"] for row in run.read_rows(tmp_path / "regret.csv")} == {"second"}


def row(
    engine: str, seconds: float, value: float, *, complete: bool, bound: float = math.nan, facts: str = ""
) -> run.Row:
    return {
        "kind": "k", "instance": "i", "engine": engine, "seconds": seconds, "value": value, "complete": complete,
        "bound": bound, "facts": facts,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            [row(DEFAULT, 3.0, 1, complete=True), row("b", 2.0, 1, complete=True)], (1.5, "seconds", "b"), id="both end"
        ),
        pytest.param(
            [row(DEFAULT, 0.05, 1, complete=True), row("b", 0.001, 1, complete=True)],
            (1.0, "seconds", "the default is best"), id="nobody feels it",
        ),
        pytest.param(
            [row(DEFAULT, 9.0, 1, complete=False), row("b", 2.0, 1, complete=True)], (math.inf, "did not end", "b"),
            id="the default does not end",
        ),
        pytest.param(
            [row(DEFAULT, 9.0, 10, complete=False, bound=12.0), row("b", 9.0, 9, complete=False, bound=9.9)],
            ((0.2 + 0.001) / (0.1 + 0.001), "gap", "b"), id="gaps",
        ),
        pytest.param(
            [row(DEFAULT, 9.0, -3, complete=False), row("b", 9.0, -2, complete=False)], (1.5, "value", "b"), id="losses"
        ),
        pytest.param(
            [row(DEFAULT, 9.0, math.nan, complete=False), row("b", 9.0, 2, complete=False)], (math.inf, "value", "b"),
            id="the default has no answer",
        ),
    ],
)  # fmt: skip
def test_regret_compares_seconds_then_gaps_then_values(
    rows: list[run.Row], expected: tuple[float, str, str]
) -> None:
    (told,) = run.regrets(rows)

    assert (told["regret"], told["how"], told["why"]) == (pytest.approx(expected[0]), *expected[1:])


def test_complete_answers_that_differ_end_the_run() -> None:
    rows = [row(DEFAULT, 1, 1, complete=True, facts="a"), row("b", 1, 1, complete=True, facts="b")]

    with pytest.raises(AssertionError, match="k, i: default and b claim other complete answers"):
        list(run.regrets(rows))
    assert NONE.complete is False
    assert dataclasses.is_dataclass(NONE)


@pytest.mark.parametrize(
    ("value", "before", "simple", "expected"),
    [
        (0.9, 0.9, 0.8, ""),
        (0.9, 0.8, 0.9, ""),
        (0.8, 0.9, 0.7, "worse than 0.9 with less time"),
        (0.8, 0.7, 0.9, "worse than 0.9 of what takes less than a second"),
        (math.nan, -math.inf, 0.9, "no answer"),
        (math.nan, -math.inf, -math.inf, ""),
    ],
)
def test_an_answer_that_is_worse_is_a_fault(
    value: float, before: float, simple: float, expected: str
) -> None:
    told = anytime.fault(Answer(value, complete=False), before, simple)

    assert expected in told
    assert bool(told) == bool(expected)


def test_every_instance_that_is_watched_is_one_of_its_kind() -> None:
    for watched in anytime.WATCHED:
        assert watched.instance in [one.name for one in watched.kind.instances]


@pytest.mark.parametrize("watched", anytime.WATCHED, ids=lambda watched: watched.instance)
def test_on_tiny_questions_no_answer_is_worse_than_a_simple_one(watched: anytime.Watched) -> None:
    question = watched.kind.tiny(np.random.default_rng(7))
    answer, _, _ = run.measured(watched.engine, question, math.inf)
    simple = (
        -math.inf if watched.simple is None else run.measured(watched.simple, question, math.inf)[0].value
    )

    assert anytime.fault(answer, -math.inf, simple) == ""


def test_values_over_time_are_kept_and_what_is_worse_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    kind = kind_of(calls, default=Answer(2.0, complete=False), simple=Answer(3.0, complete=False))
    watched = anytime.Watched(kind, "one", kind.engines["default"], kind.engines["simple"])
    monkeypatch.setattr(anytime, "sources_version", lambda: "first")
    for _ in range(2):
        with pytest.raises(AssertionError, match="one, 3 s: 2 is worse than 3 of what takes less than a"):
            anytime.anytime(tmp_path, limit_s=3.0, watched=[watched], file=tmp_path / "anytime.csv")

    assert calls == ["simple", "default", "default"]
