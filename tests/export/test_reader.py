"""One loop for policies of every kind: whom to ask next, or what is decided."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from shortlist.export import reader
from shortlist.panels.decisions import ConfidenceScale, JudgeVotes
from shortlist.panels.policy import Panel, Stage
from shortlist.panels.router import Fork
from tests.export.test_damaged_policies import SOURCES, example


def loop(policy: dict[str, Any], row: dict[str, Any], failed: Any = ()) -> tuple[list[str], dict[str, Any]]:
    """Ask for what a policy asks for until it decides; return who was asked, in order, and the decision."""
    known = [column for column in reader.routed_by(policy) if column in row]
    answers, asked = {column: row[column] for column in known}, list[str]()
    while (step := reader.next_step(policy, answers, failed))["ask"]:
        assert step["decision"] is None
        assert not {*step["ask"]} & ({*asked} | {*failed})
        asked += step["ask"]
        columns = reader._columns_of(policy)
        for name in step["ask"]:
            wanted = [*columns[name], f"{name}.confidence"]
            answers |= {column: row[column] for column in wanted if column in row}
            assert any(column in row for column in wanted)
    return asked, step["decision"]


@pytest.mark.parametrize("source", SOURCES)
def test_the_loop_ends_in_the_answer_to_the_whole_row(source: str) -> None:
    policy, rows = example(source)
    for row in rows[1:]:
        try:
            whole = reader.answer(policy, row)
        except reader.ReaderError as error:  # a gap where there may be none
            with pytest.raises(reader.ReaderError, match=re.escape(str(error))):
                loop(policy, row)
            continue
        asked, decision = loop(policy, row)
        same = ("label", "answered", "unknown", "handed_over", "silent", "failed")
        assert {name: decision[name] for name in same} == {name: whole[name] for name in same}
        assert decision.get("cost") == whole.get("cost")
        assert decision["needs"] == []
        if "asked" in decision and not decision["unknown"]:
            assert decision["asked"] == asked
        for name in decision["silent"]:
            assert all(row.get(column) is None for column in reader._columns_of(policy)[name])


@pytest.mark.parametrize("source", SOURCES)
def test_where_everything_fails_a_policy_ends_without_an_answer_and_says_who_failed(source: str) -> None:
    policy, rows = example(source)
    why = dict.fromkeys(reader._columns_of(policy), "timed out")
    for row in rows:
        asked, decision = loop(policy, row, why)
        assert asked == []
        if row.get("topic") == "poem":  # a router answers it alone
            assert (decision["label"], decision["failed"]) == (policy["classes"][-1], {})
            continue
        assert not decision["answered"]
        assert decision["label"] == policy["reject_label"]
        assert decision["failed"]
        assert set(decision["failed"].values()) == {"timed out"}
        assert set(decision["failed"]) == set(decision.get("asked", why))
        assert decision["handed_over"] == (policy.get("final", {}).get("kind") == "hand-over")
        assert decision["silent"] == []
        assert reader.next_step(policy, row, [*why])["decision"] == decision | {
            "failed": dict.fromkeys(decision["failed"], "failed")
        }


@pytest.mark.parametrize("source", SOURCES)
def test_one_who_fails_counts_as_silent(source: str) -> None:
    policy, rows = example(source)
    for judge in policy.get("judges", ()):
        judge["may_abstain"] = True
    for feature in policy.get("features", ()):
        feature["may_be_missing"] = True
    for name, columns in reader._columns_of(policy).items():
        for row in rows[1:]:
            silent = reader.answer(policy, row | dict.fromkeys(columns))
            failed = reader.answer(policy, row, [name])
            same = ("label", "probabilities", "confidence", "needs", "unknown", "handed_over")
            assert {one: failed[one] for one in same} == {one: silent[one] for one in same}
            assert failed.get("cost") == silent.get("cost")


def test_a_table_row_without_answers_of_a_stage_is_asked_about_on_its_own_way() -> None:
    def voting(places: tuple[int, ...]) -> JudgeVotes:
        return JudgeVotes(places, (1,) * len(places))

    stages = (Stage((0, 1), voting((0, 1)), 0.9), Stage((2,), voting((0, 1, 2)), 0.0))
    unknown = (Stage((1,), voting((1,)), 0.0),)
    plain = Panel(
        ("x", "y", "z"), ("a", "b"), stages, (1.0, 2.0, 4.0), ConfidenceScale((None,) * 3), (math.nan,) * 3
    )
    router = Fork("length", 5.0, (), (), 1, 2)
    routed = replace(plain, stages=unknown, router=router, branches=(stages, unknown))
    for text in ("length,x,y,z\n3,a,b,\n", "length,x,y,z\n3,a,,\n"):
        told = []
        for policy in (plain.plain(), routed.plain()):
            (row,) = reader.text_rows(policy, "table", text)
            told.append(reader.answer(policy, reader._without_empty_stages(policy, row)))
        same = ("label", "needs", "cost", "silent")
        assert [told[1][name] for name in same] == [told[0][name] for name in same]
