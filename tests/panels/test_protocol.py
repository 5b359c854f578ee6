"""Protocols of panels: who follows the printed words and numbers decides as the panel does."""

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.export.protocol_text import markdown, page, picture
from shortlist.export.protocols import Protocol, Rule, Step
from shortlist.panels.answer_log import make_log
from shortlist.panels.decisions import FIRST, ConfidenceScale, JudgeVotes
from shortlist.panels.facts import ways_of
from shortlist.panels.policy import Final, Panel, Stage
from shortlist.panels.protocol import NO_ANSWER, panel_protocol
from tests.panels.made import CLASSES, KINDS, behind_a_router, log_of, panel_of_kind


def followed(protocol: Protocol, panel: Panel, said: dict[str, str | None]) -> tuple[str | None, int]:
    """Follow the steps with what each judge says; return the answer and the step, 0 at the end."""
    heard: dict[str, str | None] = {}
    for step, stage in zip(protocol.steps, panel.stages, strict=True):
        heard |= {name: said[name] for name in step.orders}
        knows = [panel.judges[place] for place in stage.decision.judges]
        for rule in step.rules:
            names = panel.classes if rule.answer == "a class" else (rule.answer,)
            for name in names:
                if rule.condition and holds(step, rule, name, panel, {one: heard[one] for one in knows}):
                    return name, step.number
    return None, 0


def holds(step: Step, rule: Rule, name: str, panel: Panel, heard: dict[str, str | None]) -> bool:
    """Whether a printed condition holds for a class, by what is printed alone."""
    if step.sums:
        return score_holds(step, rule, name, panel, heard)
    if "says so" in rule.condition:
        return heard[rule.condition.removesuffix(" says so")] == name
    weights = dict.fromkeys(heard, 1)
    told = re.search(r"\((.*)\)$", rule.condition)
    if told:
        weights = {one: int(n) for one, n in re.findall(r"(\w+) has (\d+)", told[1])}
    votes = {one: sum(weights[j] for j, word in heard.items() if word == one) for one in panel.classes}
    cast = sum(votes.values())
    every = re.search(r"of all (\d+) votes", rule.condition)
    whole = int(every[1]) if every else cast
    most = re.search(r"at least ([\d.]+)( %)?", rule.condition)
    needed = 0.0 if most is None else float(most[1]) * (whole / 100 if most[2] else 1)
    is_first = votes[name] > max(n for one, n in votes.items() if one != name)
    return (
        is_first
        and votes[name] >= needed
        and ("more than half" not in rule.condition or 2 * votes[name] > whole)
    )


def score_holds(step: Step, rule: Rule, name: str, panel: Panel, heard: dict[str, str | None]) -> bool:
    sums = np.zeros(len(step.sums))
    for line in step.lines:
        if line.feature not in heard or (heard[line.feature] or NO_ANSWER) == line.value:
            sums += [float(text) for text in line.adds]
    if not any(heard.values()):
        return False
    limit = re.search(r"at (?:least|most) (-?[\d.e-]+)", rule.condition)
    if len(sums) == 1:
        turned = sums[0] if name == panel.classes[1] else -sums[0]
        return bool(turned >= abs(float(limit[1])) if limit else turned > 0)
    total = np.exp(sums - sums.max()).sum()
    is_first = panel.classes[int(sums.argmax())] == name and np.sum(sums == sums.max()) == 1
    return bool(is_first and (limit is None or total <= float(limit[1])))


def of_kind(rng: np.random.Generator, kind: str, final: Final, classes: tuple[str, ...]) -> tuple[Panel, Any]:
    log = log_of(rng, n_judges=4, n_cases=80)
    said = np.array([*CLASSES, ""], dtype=object)[log.answers]
    said = np.where(np.isin(said, classes), said, "")
    plain = make_log(log.judges, np.arange(80), said, classes=classes)  # without confidence
    return panel_of_kind(rng, plain, kind, 2, final), plain


@pytest.mark.parametrize("classes", [("no", "yes"), CLASSES], ids=["two classes", "three"])
@pytest.mark.parametrize("final", [Final(), Final("reject")], ids=lambda final: final.kind)
@pytest.mark.parametrize("kind", KINDS)
def test_who_follows_the_protocol_decides_as_the_panel(
    kind: str, final: Final, classes: tuple[str, ...]
) -> None:
    rng = np.random.default_rng([KINDS.index(kind), len(classes), final.kind == "answer"])
    answered = 0
    for _ in range(4):
        panel, log = of_kind(rng, kind, final, classes)
        protocol = panel_protocol(panel)
        outcome = panel.run(log)
        for case, codes in enumerate(log.answers):
            said = {
                name: classes[code] if code >= 0 else None
                for name, code in zip(log.judges, codes, strict=True)
            }
            code, stage = int(outcome.codes[case]), int(outcome.stage[case])
            if kind == "scores" and near_a_limit(panel, said):
                continue
            wanted = (classes[code], stage + 1) if code >= 0 else (None, 0)
            assert followed(protocol, panel, said) == wanted
            answered += code >= 0
    assert answered > 40


def near_a_limit(panel: Panel, said: dict[str, str | None]) -> bool:
    """Whether six digits may turn a case: a probability of some stage is within 10^-4 of a threshold, or a tie."""
    told = panel.next(said)["decision"]
    second, most = sorted(told["probabilities"])[-2:]
    return most - second < 1e-4 or any(
        abs(share - one) < 1e-4
        for share in told["probabilities"]
        for stage in panel.stages
        for one in (
            stage.answer_from,
            max(told["probabilities"]) if share < told["confidence"] else math.inf,
        )
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "final", [Final(), Final("hand-over", 50.0), Final("reject")], ids=lambda one: one.kind
)
def test_text_page_and_picture_have_every_step_judge_and_price(kind: str, final: Final) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    log = log_of(rng, n_judges=4)
    panel = panel_of_kind(rng, log, kind, 2, final)
    outcome = panel.run(log)
    shares = [float(((outcome.stage == n) & (outcome.codes >= 0)).mean()) for n in range(len(panel.stages))]
    protocol = panel_protocol(panel, ways=ways_of(panel, log), target="mail & <more>")
    text, html, drawn = markdown(protocol), page(protocol), picture(protocol)
    for number, stage in enumerate(panel.stages, start=1):
        price = sum(panel.prices[judge] for judge in stage.asks)
        names = ", ".join(panel.judges[judge] for judge in stage.asks)
        assert f"Ask: {names} (price {price:g}" in text
        assert f"Ask: {names} (price {price:g}" in html
        if shares[number - 1] == 0 and any(shares):  # a step that answers no case is drawn with the next
            assert f"Step {number}: ask" not in drawn
            continue
        idle = number > 1 and shares[number - 2] == 0
        assert f"Step{f's {number - 1} to' if idle else ''} {number}: ask" in drawn
        assert f"Then answer ({100 * shares[number - 1]:.3g} % of all cases):" in drawn
    last = {
        "answer": "No answer is given",
        "hand-over": "A person decides, for 50",
        "reject": "No answer is given",
    }
    assert last[final.kind] in text
    assert last[final.kind] in drawn
    assert "<more>" not in html
    assert "mail &amp; &lt;more&gt;" in drawn
    assert f"otherwise: {abs(100 * (1 - sum(shares))):.3g} %" in drawn


def test_the_protocol_of_a_router_says_where_each_case_begins_and_where_it_ends() -> None:
    rng = np.random.default_rng(6)
    log = log_of(rng, n_judges=3)
    panel = behind_a_router(panel_of_kind(rng, log, "scores", 2, Final("hand-over", 5.0)))
    features = pd.DataFrame({"topic": ["poem", "code", "prose"] * 20, "length": np.arange(60.0)})
    log = replace(log, features=features)
    ways = ways_of(panel, log)
    protocol = panel_protocol(panel, ways=ways)
    text, html, drawn = markdown(protocol), page(protocol), picture(protocol)
    assert [step.number for step in protocol.steps] == [1, 2, 3, 4, 5, 6]
    assert protocol.lasts == {1, 2, 4, 6}
    for when, first in (
        ("topic is poem", 1), ("topic is code and length is at most 20.5", 2),
        ("topic is code and length is above 20.5", 3), ("a value is missing or unknown", 5),
    ):  # fmt: skip
        assert f"- Where {when}: begin with step {first}." in text
        assert f"<li>Where {when}: begin with step {first}.</li>" in html
    assert [(route.first, route.last) for route in protocol.routes] == [(1, 1), (2, 2), (3, 4), (5, 6)]
    assert sum(route.share or 0 for route in protocol.routes) == pytest.approx(1)
    assert drawn.count("A person decides, for 5<") == 4
    assert "Where topic is poem (33.3 %):" in drawn
    assert "Answer yes if the case goes this way." in text
    assert text.count("Otherwise go to step") == 2


def test_a_promise_is_told_and_its_threshold_stands_in_every_step() -> None:
    rng = np.random.default_rng(0)
    panel = panel_of_kind(rng, log_of(rng, n_judges=3), "scores", 2, Final("reject"))
    sure = replace(panel, stages=tuple(replace(stage, answer_from=0.9) for stage in panel.stages))
    text = markdown(panel_protocol(replace(sure, promise="At least 90 % are right.")))
    assert "At least 90 % are right." in text
    for step in text.split("## Step ")[1:]:
        assert "0.9 at least" in step.split("## ")[0]
    never = replace(panel, stages=tuple(replace(stage, answer_from=math.inf) for stage in panel.stages))
    assert "This step never answers" in markdown(panel_protocol(never))


def test_rules_that_are_the_same_for_all_classes_are_told_once_and_confidence_needs_the_file() -> None:
    rng = np.random.default_rng(0)
    log = log_of(rng, n_judges=2)
    votes = Stage((0, 1), JudgeVotes((0, 1), (1, 1), "majority"), 0.0)
    panel = panel_of_kind(rng, log, "scores", 1, Final())
    same = Panel(panel.judges, panel.classes, (votes,), panel.prices, panel.scale, panel.latencies)
    (step,) = panel_protocol(same).steps
    assert [rule.answer for rule in step.rules] == ["a class"]
    (step,) = panel_protocol(panel).steps
    assert step.classifier == "logistic model"
    assert "ask the policy file" in markdown(panel_protocol(panel))


def test_the_first_of_equal_classes_goes_by_the_list_of_classes() -> None:
    stage = Stage((0, 1), JudgeVotes((0, 1), (1, 1), ties=FIRST), 0.0)
    scale = ConfidenceScale((None, None))
    panel = Panel(("a", "b"), ("no", "yes"), (stage,), (1.0, 1.0), scale, (math.nan, math.nan))
    text = markdown(panel_protocol(panel))
    assert "more votes than any class before it in the list, and no fewer than any other" in text
    assert "The list of classes is no and yes." in text
