"""Policies behind a router: the front of all assignments, counted anew, and offered only where it gains."""

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.candidates import SINGLE, near_front, trade_offs
from shortlist.panels.choice import choose_panels
from shortlist.panels.decisions import confidence_scale
from shortlist.panels.facts import panel_report, ways_of
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.panel_options import cases_of as cases_of_log
from shortlist.panels.policy import Final
from shortlist.panels.recipes import Candidate, Cases, candidate_of, followed
from shortlist.panels.router import Fork
from shortlist.panels.routing import (
    MOST_CANDIDATES,
    PRICE_PRIOR,
    _chosen,
    _out_of_fold,
    _prices,
    _tables,
    alone_class,
    groupings,
    routed_policies,
)
from shortlist.panels.search import find_policies
from shortlist.runs.budget import Budget
from tests.panels.oracles import out_of_fold
from tests.panels.test_search import FINALS, cases_of, found_in

JUDGES = ("small", "large")


def routed_log(seed: int, n_cases: int = 600, *, matters: bool = True) -> AnswerLog:
    """The cheap judge is good at code, poems are nearly all of one class, and the length says nothing."""
    rng = np.random.default_rng(seed)
    topic = rng.choice(["code", "law", "poem"], n_cases)
    truth = rng.choice(["no", "yes"], n_cases)
    if matters:
        truth = np.where((topic == "poem") & (rng.random(n_cases) < 0.95), "yes", truth)
    share = np.where((topic == "code")[:, None] & matters, [0.97, 0.8], [0.65, 0.9])
    is_right = rng.random((n_cases, 2)) < share
    other = np.where(truth == "no", "yes", "no")
    said = np.where(is_right, truth[:, None], other[:, None])
    features = pd.DataFrame({"topic": topic, "length": np.round(rng.gamma(2, 100, n_cases), 1)})
    return make_log(
        JUDGES, np.arange(n_cases), said, truth, measures=Measures(prices=[1.0, 8.0]), features=features
    )


def routed(seed: int = 1, **options: Any) -> PanelChoice:
    return choose_panels(routed_log(seed), PanelOptions(router=("topic", "length"), **options))


@pytest.mark.parametrize("final", FINALS, ids=lambda final: final.kind)
def test_a_recipe_is_followed_as_case_by_case(final: Final) -> None:
    cases = cases_of(2, 4, final, sure=True)
    for one in found_in(cases, 3):
        told = candidate_of(cases, one.recipe, ("accuracy", "price"))
        assert (told.loss, told.price) == out_of_fold(cases, one)[:2]


def test_a_part_of_the_cases_is_decided_as_among_all() -> None:
    cases = cases_of(4, 3, Final(), sure=True)
    rows = np.flatnonzero(np.random.default_rng(0).random(60) < 0.5)
    for one in found_in(cases, 2):
        whole, part = followed(cases, one.recipe), followed(cases.at(rows), one.recipe)
        assert np.array_equal(cases.loss_of(whole)[rows], cases.at(rows).loss_of(part))
        assert np.array_equal(whole.price[rows], part.price)


@pytest.mark.parametrize("seed", range(6))
def test_who_answers_without_asking_is_measured_without_the_case_itself(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cases = cases_of(seed, 2, Final(), n_cases=int(rng.integers(3, 12)))
    cases = replace(
        cases, losses=np.vstack([rng.integers(1, 5, (3, 3)) * (1 - np.eye(3, dtype=int)), [5] * 3])
    )
    loss = 0
    for case, true in enumerate(cases.truth):
        others = np.delete(cases.truth, case)
        lost = [int(cases.losses[code, others].sum()) for code in range(3)]
        code = int(np.argmin(lost)) if lost.count(min(lost)) == 1 else -1
        loss += int(cases.losses[code, true])
    lost = [int(cases.losses[code, cases.truth].sum()) for code in range(3)]
    code, told = alone_class(cases, np.bincount(cases.truth, minlength=3))
    assert code == (int(np.argmin(lost)) if lost.count(min(lost)) == 1 else -1)
    assert told == loss


@pytest.mark.parametrize("seed", range(5))
def test_at_each_trade_off_two_corners_of_a_front_are_equally_good(seed: int) -> None:
    rng = np.random.default_rng(seed)
    losses, prices = (np.sort(rng.choice(100, 9, replace=False)) for _ in range(2))
    points = np.column_stack([losses, prices[::-1]]).astype(float)
    told = trade_offs(points, 8)
    assert told == sorted(told)
    for price in told:
        costs = sorted((points[:, 0] + price * points[:, 1]).tolist())
        assert costs[0] == pytest.approx(costs[1])


@pytest.mark.parametrize("seed", range(3))
def test_a_router_that_gains_is_on_the_front(seed: int) -> None:
    choice = routed(seed)
    with_router = [one for one in choice.found if one.recipe.router is not None]
    assert with_router
    assert "A router by topic" in choice.claims[-1]
    assert any(way.alone is not None for one in with_router for way in one.recipe.branches)


def test_columns_of_noise_seldom_make_a_router() -> None:
    told = []
    for seed in range(8):
        log = routed_log(seed, matters=False)
        choice = choose_panels(log, PanelOptions(router=("topic", "length"), max_stages=1))
        told.append(choice.claims[-1].startswith("No router by topic and length: "))
        assert told[-1] or any(one.recipe.router for one in choice.found)
    assert sum(told) >= 5


def test_a_branch_that_asks_nobody_answers_at_once() -> None:
    choice = routed()
    panels = [choice.panel(point) for point in range(len(choice.found))]
    alone = [one for one in panels if any(stages[0].asks == () for stages in one.branches)]
    assert alone
    told = alone[0].next({"topic": "poem", "length": 5})
    assert told["ask"] == []
    assert told["decision"]["label"] == "yes"
    assert told["decision"]["cost"] == 0
    assert told["decision"]["asked"] == []
    unknown = alone[0].next({"topic": "prose", "length": 5})
    assert unknown["ask"]


def test_facts_have_each_branch_with_its_share_and_its_stages() -> None:
    choice = routed()
    point = next(n for n, one in enumerate(choice.found) if one.recipe.router is not None)
    report = panel_report(choice, point)
    told = report.facts
    json.dumps(told, allow_nan=False)
    router = told["router"]
    shares = [router["unrouted"], *(branch["share"] for branch in router["branches"])]
    assert sum(shares) == pytest.approx(1)
    answered = sum(stage["answered"] for branch in router["branches"] for stage in branch["stages"])
    outcome = report.panel.run(choice.test)
    assert answered + sum(one["answered"] for one in told["stages"]) == pytest.approx(
        (outcome.codes >= 0).mean()
    )
    assert [way.share for way in ways_of(report.panel, choice.test)] == pytest.approx(shares)
    for branch in router["branches"]:
        assert any(branch["when"] in sentence for sentence in told["in_words"])


def test_branches_that_are_answered_alike_are_one_and_no_question_is_idle() -> None:
    for one in routed().found:
        router = one.recipe.router
        if router is None:
            continue
        assert len(set(one.recipe.branches)) == len(one.recipe.branches)
        assert sorted(router.conditions()) == list(range(1, len(one.recipe.branches) + 1))
        ends = [fork for fork in forks_of(router) if isinstance(fork.yes, int) and isinstance(fork.no, int)]
        assert all(fork.yes != fork.no for fork in ends)


def test_a_limit_ends_the_search_for_a_router_with_what_there_is_without_one() -> None:
    log, options = routed_log(1), PanelOptions(router=("topic", "length"))
    plain = choose_panels(log, PanelOptions())
    ends = set()
    for limit in (*range(4, 160, 3), 10_000):
        choice = choose_panels(log, options, budget=ticking_budget(limit))
        behind = [one for one in choice.found if one.recipe.router is not None]
        ends.add(choice.claims[-1].split(" by ")[0])
        if not behind and len(choice.claims) > len(plain.claims):
            assert [one[:2] for one in choice.found] == [one[:2] for one in plain.found]
    assert "Not finished, as a limit came first: a router" in ends
    assert "A router" in ends


def ticking_budget(limit: float) -> Budget:
    """A limit on how often the clock is read."""
    ticks = itertools.count()
    return Budget(limit, clock=lambda: float(next(ticks)))


def forks_of(router: Any) -> list[Any]:
    """All questions of a router."""
    if isinstance(router, int):
        return []
    return [router, *forks_of(router.yes), *forks_of(router.no)]


def test_a_case_that_is_there_three_times_is_one_sample_of_what_a_router_gains() -> None:
    log = routed_log(4, 1000)
    told = []
    for times in (1, 3):
        rows = np.repeat(np.arange(1000), times)
        some = replace(log.at(rows), groups=rows)
        cases, _ = cases_of_log(some, confidence_scale(some), PanelOptions())
        searched = find_policies(cases, max_stages=2, budget=Budget())
        folds = rows % 5
        _, claims = routed_policies(
            searched, cases, some.features, folds, groups=some.groups, budget=Budget()
        )
        told.append(claims[-1].split("(standard error ")[1])
    assert told[0] == told[1]


def table_by_hand(
    cases: Cases, topics: list[str], found: list[Candidate], folds: NDArray[np.int64], *, price: float
) -> tuple[float, float]:
    """Loss and price of a router by topic at one trade-off, out of fold, in plain loops."""
    each = [followed(cases, one.recipe) for one in found]
    lost = paid = 0.0
    prior = 30
    for fold in set(folds.tolist()):
        rest = [case for case in range(len(folds)) if folds[case] != fold]
        for case in np.flatnonzero(folds == fold).tolist():
            here = [one for one in rest if topics[one] == topics[case]]
            costs = []
            for told in each:
                values = cases.loss_of(told) + price * told.price
                costs.append((values[here].sum() + prior * values[rest].mean()) / (len(here) + prior))
            of_class = [
                [int((cases.truth[rows] == code).sum()) for code in range(2)] for rows in (here, rest)
            ]
            alone = [left_out(counts) for counts in of_class]
            costs.append((alone[0] + prior * alone[1] / len(rest)) / (len(here) + prior))
            best = int(np.argmin(costs))
            if best < len(each):
                lost, paid = lost + cases.loss_of(each[best])[case], paid + each[best].price[case]
            else:
                lost += int(np.argmax(of_class[0]) != cases.truth[case])
    return lost, paid


def left_out(counts: list[int]) -> int:
    """Number of wrong cases of two classes if each gets the class that is more frequent among the others."""
    wrong = 0
    for code, number in enumerate(counts):
        others = [n - (code == one) for one, n in enumerate(counts)]
        wrong += number * int(others[code] <= others[1 - code])
    return wrong


def test_points_behind_a_router_cost_what_tables_made_without_each_fold_cost() -> None:
    log = routed_log(3, 240)
    cases, _ = cases_of_log(log, confidence_scale(log), PanelOptions(decide="votes"))
    searched = find_policies(cases, max_stages=1, budget=Budget())
    folds = np.arange(240) % 3
    tables = _tables(cases, near_front(searched.tried, MOST_CANDIDATES), folds)
    (grouping,) = groupings(log.features[["topic"]])
    told, topics = _out_of_fold(tables, grouping, 30), log.features["topic"].tolist()
    for place in range(0, len(tables.trade_offs), 9):
        slow = table_by_hand(cases, topics, tables.found, folds, price=tables.trade_offs[place])
        assert (told.loss[:, place].sum(), told.price[:, place].sum()) == pytest.approx(slow)


def test_groups_by_numbers_and_words_are_those_that_the_questions_tell_apart() -> None:
    rng = np.random.default_rng(1)
    features = pd.DataFrame({
        "n": np.where(rng.random(900) < 0.1, np.nan, rng.integers(0, 30, 900)),
        "word": rng.choice(np.array(["a", "b", "c", "", None], dtype=object), 900),
    })  # fmt: skip
    made = groupings(features)
    assert [one.columns for one in made] == [("n",), ("word",), ("n", "word")]
    for one in made:
        ways = list(range(1, one.n_groups + 1))
        router = one.fork(ways)
        assert isinstance(router, Fork)
        assert np.array_equal(router.branches(features), one.codes + 1)
        alike = one.fork([1 + way % 3 // 2 for way in ways])
        assert isinstance(alike, Fork)
        told = one.codes >= 0
        assert np.array_equal(alike.branches(features)[told], 1 + (one.codes[told] + 1) % 3 // 2)
        assert one.fork([7] * one.n_groups) == 7


def test_columns_that_tell_nothing_make_no_router_and_columns_of_names_are_refused() -> None:
    assert groupings(pd.DataFrame({"topic": ["a"] * 60, "length": [1.0] * 60})) == []
    names = pd.DataFrame({"id": [f"case {n}" for n in range(300)]})
    with pytest.raises(BadInputError, match="at most 100 different words, got 'id' with 300 words"):
        groupings(names)


def luckily_priced(seed: int, n_cases: int) -> AnswerLog:
    """Three judges, each good in its own third of sixty small groups, with prices that scatter from call to call."""
    rng = np.random.default_rng(seed)
    truth, group = rng.choice(["no", "yes"], n_cases), rng.integers(0, 60, n_cases)
    skill = np.array([0.72, 0.78, 0.84]) + 0.05 * (group[:, None] % 3 == np.arange(3))
    said = np.where(
        rng.random((n_cases, 3)) < skill, truth[:, None], np.where(truth == "no", "yes", "no")[:, None]
    )
    prices = rng.lognormal(0, 1.0, (n_cases, 3)) * [1.0, 1.2, 1.4]
    features = pd.DataFrame({"topic": [f"t{one}" for one in group]})
    names, measures = ["a", "b", "c"], Measures(prices=prices)
    return make_log(names, np.arange(n_cases), said, truth, measures=measures, features=features)


def test_a_router_of_many_small_groups_costs_on_new_cases_what_is_reported() -> None:
    told = truly = 0.0
    for seed in range(4):
        log = luckily_priced(seed, 1000)
        cases, steps = cases_of_log(log, confidence_scale(log), PanelOptions(decide="votes"))
        singles = find_policies(cases, max_stages=1, budget=Budget(), families=[SINGLE]).tried
        tables, rows = _tables(cases, singles, np.arange(1000) % 5), np.arange(1000)
        (grouping,) = groupings(log.features)
        usual = np.exp(0.5) * np.array([1.0, 1.2, 1.4])[[one.recipe.judges[0] for one in singles]]
        for places in _chosen(tables, grouping, rows, 30).places:
            way = places[grouping.of_group]
            asked = rows[way < len(singles)]
            told += float(tables.price[asked, way[asked]].sum()) / steps
            truly += float(usual[way[asked]].sum())
    assert truly / told == pytest.approx(1, abs=0.03)


def test_prices_of_groups_are_drawn_to_those_of_all_policies_there() -> None:
    rng = np.random.default_rng(0)
    values, groups = rng.integers(0, 9, (40, 3)).astype(float), rng.integers(0, 3, 40)
    values[:, 2] = 0.0
    sizes = np.array([*np.bincount(groups, minlength=3), 0])[:, None]
    found = _prices(values, groups, sizes, 30)
    whole = values.mean(axis=0)
    for group in range(3):
        rows = [case for case in range(40) if groups[case] == group]
        each = [
            np.mean([values[case, one] / whole[one] if whole[one] else 1.0 for one in range(3)])
            for case in rows
        ]
        dearer = (sum(each) + 30 * 1.0) / (len(rows) + 30)
        others = [_dearer_by_hand(values, groups, one) for one in range(3)]
        for one in range(3):
            away = [values[case, one] - others[groups[case]] * whole[one] for case in range(40)]
            own = sum(away[case] for case in rows) + PRICE_PRIOR * np.mean(away)
            assert found[group, one] == pytest.approx(dearer * whole[one] + own / (len(rows) + PRICE_PRIOR))
    assert found[-1] == pytest.approx(whole)


def _dearer_by_hand(values: NDArray[np.float64], groups: NDArray[np.int64], group: int) -> float:
    rows, whole = np.flatnonzero(groups == group), values.mean(axis=0)
    ratios = [1.0 if not whole[one] else values[case, one] / whole[one] for case in rows for one in range(3)]
    return (sum(ratios) / 3 + 30) / (len(rows) + 30)
