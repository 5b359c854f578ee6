"""Agreement cascades: sums of matrices, plain rules, panels and the reader agree on every case."""

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shortlist.export import reader
from shortlist.export.protocol_text import markdown
from shortlist.panels.agreement import agreement_cascades, cascade
from shortlist.panels.answer_log import AnswerLog, Measures, by_agreement, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.decisions import LATEST, Heard, JudgeVotes, confidence_scale
from shortlist.panels.facts import panel_report
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.panel_options import cases_of as cases_of_log
from shortlist.panels.policy import Final
from shortlist.panels.protocol import panel_protocol
from shortlist.panels.recipes import Cases, followed
from shortlist.panels.saved_panels import panel_of
from shortlist.panels.search import find_policies
from shortlist.runs.budget import Budget
from tests.panels.oracles import out_of_fold
from tests.panels.test_saved_panels import SCHEMA, fits
from tests.panels.test_search import FINALS, cases_of


def rule(
    said: list[str], prices: list[float], seconds: list[float], *, answers: bool = True
) -> tuple[str, float, float]:
    """The answer, price and seconds by the rule in words; an empty text is silence, and no answer.

    If two of the first agree it is their answer; otherwise one judge after the other is asked until one agrees
    with an earlier one. Where none does the latest answer counts if the panel `answers` in any case.
    """
    asked = 2
    while True:
        new = said[asked - 1]
        if new and new in said[: asked - 1]:
            end = new
            break
        if asked == len(said):
            spoken = [one for one in said if one]
            end = spoken[-1] if answers and spoken else ""
            break
        asked += 1
    return end, sum(prices[:asked]), max(seconds[:2]) + sum(seconds[2:asked])


@pytest.mark.parametrize("final", FINALS, ids=lambda final: final.kind)
@pytest.mark.parametrize("size", [2, 3, 4])
def test_all_cascades_cost_what_the_rule_costs_case_by_case(final: Final, size: int) -> None:
    for seed in range(6):
        cases = cases_of(seed, 5, final, n_cases=20 + seed)
        judges = tuple(range(5))
        found = [one for first in judges for one in agreement_cascades(cases, first, judges, size)]
        n_orders = 10 * (1, 3, 6)[size - 2]
        assert len(found) == n_orders * ((size > 2) + (final.kind != "answer"))
        assert len({one.recipe for one in found}) == len(found)
        for one in found[:: 1 + len(found) // 40]:
            lost, paid, took = 0, 0.0, 0.0
            answers = one.recipe.thresholds[-1] == 0
            asked = list(one.recipe.sets[-1])
            for case in range(len(cases.truth)):
                words = ["" if code == 3 else str(code) for code in cases.answers.words[case, asked].tolist()]
                end, price, seconds = rule(
                    words,
                    cases.prices[case, asked].tolist(),
                    cases.latency[case, asked].tolist(),
                    answers=answers,
                )
                lost += end != str(cases.truth[case]) and bool(end or final.kind != "hand-over")
                paid += price + (0 if end else cases.final_price)
                took += seconds
            assert (one.loss, one.price) == (lost, paid)
            assert one.seconds == pytest.approx(took / len(cases.truth))
            assert (one.loss, one.price) == out_of_fold(cases, one)[:2]


def test_scores_of_the_log_decide_what_is_right_in_a_cascade_too() -> None:
    rng = np.random.default_rng(0)
    cases = cases_of(1, 4, Final(), n_cases=50)
    cases = replace(cases, right=rng.random((50, 4)) < 0.6)
    for one in agreement_cascades(cases, 0, (0, 1, 2, 3), 4):
        told = followed(cases, one.recipe)
        assert (one.loss, one.price) == (cases.loss_of(told).sum(), told.price.sum())


def words_log(seed: int, *, is_open: bool) -> AnswerLog:
    """Five judges, some silent, with prices and seconds of each call."""
    rng = np.random.default_rng(seed)
    n = 120
    truth = np.array([f"city {case}" for case in range(n)]) if is_open else rng.choice(["x", "y", "z"], n)
    wrong = np.array([f"town {case} {k}" for case in range(n) for k in range(3)]).reshape(n, 3)
    if not is_open:
        wrong = np.column_stack([np.roll(truth, k) for k in (1, 2, 3)])
    said = np.where(
        rng.random((n, 5)) < 0.6, truth[:, None], wrong[np.arange(n)[:, None], rng.integers(0, 3, (n, 5))]
    )
    said = np.where(rng.random((n, 5)) < 0.1, "", said).astype(object)
    measures = Measures(prices=rng.integers(1, 9, (n, 5)) / 4, latency=rng.integers(1, 9, (n, 5)) / 4)
    return make_log(list("abcde"), np.arange(n), said, truth, measures=measures)


@pytest.mark.parametrize("is_open", [False, True], ids=["classes", "free text"])
@pytest.mark.parametrize("final", FINALS, ids=lambda final: final.kind)
def test_panel_reader_and_rule_agree_on_answer_price_and_seconds(final: Final, *, is_open: bool) -> None:
    log = words_log(3, is_open=is_open)
    assert log.is_open == is_open
    choice = choose_panels(log, PanelOptions(final=final, max_stages=3))
    rng = np.random.default_rng(1)
    for answers in (True, False) if final.kind != "answer" else (True,):
        for _ in range(6):
            asked = tuple(rng.permutation(5)[: rng.integers(3, 5)].tolist())
            panel = choice.of_recipe(cascade(asked, answers=answers))
            policy = json.loads(json.dumps(panel.plain(), allow_nan=False))
            reader.check(policy)
            assert fits(policy, SCHEMA)
            assert panel_of(policy).plain() == panel.plain()
            outcome = panel.run(log)
            for case in range(0, 120, 3):
                words = [
                    log.classes[code] if code >= 0 else "" for code in log.answers[case, list(asked)].tolist()
                ]
                assert log.latency is not None
                end, price, seconds = rule(
                    words,
                    log.paid[case, list(asked)].tolist(),
                    log.latency[case, list(asked)].tolist(),
                    answers=answers,
                )
                code = outcome.codes[case]
                assert (log.classes[code] if code >= 0 else "") == end
                assert outcome.price[case] == pytest.approx(price + (0 if end else final.price))
                assert outcome.latency[case] == pytest.approx(seconds)
                told = reader.answer(
                    policy, dict(zip([log.judges[one] for one in asked], words, strict=True))
                )
                assert (told["label"] or "") == end
                assert told["stage"] == outcome.stage[case] + 1
                assert told["confidence"] == outcome.sure[case]


def test_the_latest_of_equal_answers_is_that_of_the_last_judge_who_gave_one_of_them() -> None:
    words = np.array([[0, 1, 2], [0, 1, 3], [0, 3, 3], [3, 3, 3], [1, 0, 0], [2, 1, 2]])
    votes = JudgeVotes((0, 1, 2), (1, 1, 1), "plurality", "counted", LATEST)
    decided = votes.decide(Heard(words, np.zeros(words.shape), 3))
    assert decided.codes.tolist() == [2, 1, 0, -1, 0, 2]
    assert decided.sure == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 2 / 3, 2 / 3])


def agreeing_log(seed: int = 0) -> AnswerLog:
    """Two cheap judges who err apart from each other, and a dear one."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["w", "x", "y", "z"], 600)
    wrong = rng.choice(["w", "x", "y", "z"], (600, 3))
    said = np.where(rng.random((600, 3)) < [0.7, 0.7, 0.9], truth[:, None], wrong)
    return make_log(
        ["a", "b", "dear"], np.arange(600), said, truth, measures=Measures(prices=[1.0, 1.0, 20.0])
    )


def test_a_cascade_is_told_in_words_and_as_a_protocol() -> None:
    choice = choose_panels(agreeing_log(), PanelOptions(decide="agreement"))
    point = next(n for n, one in enumerate(choice.found) if one.recipe.learner == "agreement")
    facts = panel_report(choice, point).facts
    assert any("the answer that two judges share" in sentence for sentence in facts["in_words"])
    text = markdown(panel_protocol(choice.panel(point)))
    assert "both a and b say so" in text
    assert any("agreement cascades of 3 judges" in claim for claim in choice.claims)


def best_of_rules(cases: Cases) -> set[tuple[int, int]]:
    points = set()
    for asked in itertools.chain(*(itertools.permutations(range(cases.n_judges), size) for size in (3, 4))):
        if asked[0] < asked[1]:
            told = followed(cases, cascade(asked))
            points.add((int(cases.loss_of(told).sum()), int(told.price.sum())))
    return points


@pytest.mark.parametrize("seed", range(4))
def test_no_cascade_of_three_or_four_is_better_than_the_front(seed: int) -> None:
    cases = cases_of(seed, 6, Final(), n_cases=40)
    options: dict[str, Any] = {
        "families": ("single judges", "agreement cascades of three", "agreement cascades of four")
    }
    front = find_policies(cases, max_stages=3, budget=Budget(), **options).found
    for loss, price in best_of_rules(cases):
        assert any(one.loss <= loss and one.price <= price for one in front)


def test_free_text_is_compared_within_a_case() -> None:
    log = by_agreement(words_log(5, is_open=True))
    cases, _ = cases_of_log(log, confidence_scale(log), PanelOptions())
    found = agreement_cascades(cases, 0, tuple(range(5)), 3)
    assert min(one.loss for one in found) < min((cases.answers.words != cases.truth[:, None]).sum(axis=0))
