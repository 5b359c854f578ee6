"""Verdict on a panel beside the best single judge, against formulas and against new prices."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from shortlist.cli.options.panel_options import mean_losses
from shortlist.guarantees.guarantee import Demand
from shortlist.panels.answer_log import Measures, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.decisions import ScoreTable, heard
from shortlist.panels.facts import break_even_prices, calls_of
from shortlist.panels.figures import figures
from shortlist.panels.objectives import accuracy_scoring
from shortlist.panels.panel_choice import best_single, single_found, single_panel, surest
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.policy import Final, Stage
from shortlist.panels.recipes import Recipe
from shortlist.panels.standing import Kept, Standing, kept_promise, promised_standing, standing
from shortlist.panels.verdict import beside_single, compared, measured_panel, verdict
from shortlist.panels.words import in_words, stages_in_words
from shortlist.results.intervals import Difference, Z, difference_of, more_rows, sign_flip_p
from shortlist.results.objective import read_limit
from shortlist.results.verdicts import RuleVerdict, Word
from tests.panels.made import priced_log
from tests.panels.test_choice import label_log
from tests.stored import Stored

LOG = label_log(0, 400)
CHOICE = choose_panels(LOG, PanelOptions(decide="dawid-skene"))


def test_figures_are_counted_over_the_cases() -> None:
    choice = choose_panels(priced_log(), PanelOptions(final=Final("hand-over", 3.0)))
    for point in range(0, len(choice.found), 5):
        panel = choice.panel(point)
        told, outcome = figures(panel, choice.test), panel.run(choice.test)
        n = len(choice.test.truth)
        right = sum(
            bool(handed) or code == true
            for code, true, handed in zip(outcome.codes, choice.test.truth, outcome.handed_over, strict=True)
        )
        assert (told.n_cases, told.n_right, told.n_handed_over) == (n, right, outcome.handed_over.sum())
        assert told.accuracy == right / n
        assert sum(told.ended) == pytest.approx(1)
        share, z = right / n, Z
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        assert told.accuracy_interval == pytest.approx((middle - half, middle + half), abs=1e-6)
        error = outcome.price.std(ddof=1) / math.sqrt(n)
        if error:  # otherwise the exact tail tells
            least = sum(panel.prices[judge] for judge in panel.stages[0].asks)
            mean = outcome.price.mean()
            normal = max(least, mean - Z * error), mean + Z * error
            assert told.price_interval == pytest.approx(normal, rel=1e-3, abs=1e-6)


def test_the_difference_is_paired_and_its_p_value_is_the_exact_one_of_mcnemar() -> None:
    panel = CHOICE.of_recipe(Recipe(((0, 1, 2),), (0.0,), "votes"))
    alone = single_panel(CHOICE, 0)
    told = compared("j0", alone, panel, LOG)
    one, two = alone.run(LOG).right(LOG), panel.run(LOG).right(LOG)
    gained, lost = int((two & ~one).sum()), int((one & ~two).sum())
    assert gained > 0 < lost
    fewer, both = min(gained, lost), gained + lost
    tail = sum(math.comb(both, count) for count in range(fewer + 1)) / 2**both
    assert told.p_value == pytest.approx(min(1.0, 2 * tail))
    assert told.difference == pytest.approx((gained - lost) / 400)
    pairs = two.astype(float) - one
    error = pairs.std(ddof=1) / 20
    assert told.difference_interval == pytest.approx((pairs.mean() - Z * error, pairs.mean() + Z * error))


def test_independent_votes_are_those_of_kish() -> None:
    panel = CHOICE.of_recipe(Recipe(((0, 1, 2),), (0.0,), "votes"))
    told = compared("j0", single_panel(CHOICE, 0), panel, LOG)
    wrong = (LOG.answers != LOG.truth[:, None]).astype(float)
    mean = np.corrcoef(wrong.T)[np.triu_indices(3, 1)].mean()
    assert told.correlation == pytest.approx(mean)
    assert told.n_independent == pytest.approx(3 / (1 + 2 * max(mean, 0)))


@pytest.mark.parametrize(("gained", "lost", "n"), [(9, 5, 100), (3, 2, 40), (30, 25, 500), (2, 5, 60)])
def test_so_many_more_cases_tell_two_apart(gained: int, lost: int, n: int) -> None:
    difference = (gained - lost) / n
    spread = math.sqrt((gained + lost) / n - difference**2)
    more = more_rows(difference, spread / math.sqrt(n), n, 0.5)
    assert abs(difference) >= Z * spread / math.sqrt(n + more)
    assert more == 1 or abs(difference) < Z * spread / math.sqrt(n + more - 1)


def test_more_rows_are_those_of_the_exact_test_where_the_error_alone_decides() -> None:
    first = np.arange(60) < 5  # five rows against none: p = .0625, and the interval is above zero
    told = difference_of(first, np.zeros(60, dtype=bool))
    assert told.interval[0] > 0
    assert told.within_chance
    assert told.n_more == 7
    one = difference_of(np.ones(1, dtype=bool), np.zeros(1, dtype=bool))
    assert (one.p_value, one.n_more) == (1.0, 243)


def test_more_cases_are_labelled_ones_of_which_a_quarter_is_held_out() -> None:
    panel = CHOICE.of_recipe(Recipe(((0, 1, 2),), (0.0,), "votes"))
    choice = replace(CHOICE, test=CHOICE.test.at(slice(0, 60)))
    told = verdict(choice, panel)
    n_test, n_labelled = 60, 60 + len(choice.chosen.truth)
    held_out = verdict(choice, panel, choice.test).n_more_cases
    assert held_out is not None
    assert told.n_more_cases == math.ceil(held_out * n_labelled / n_test) > 3 * held_out


def test_costs_of_mistakes_decide_and_not_accuracy() -> None:
    """A judge that is right more often but misses what costs most is not recommended."""
    rng = np.random.default_rng(3)
    truth = np.where(rng.random(800) < 0.3, "ill", "well")
    missing, alarming = (
        np.where(rng.random(800) < np.where(truth == "ill", miss, alarm), "x", truth)
        for miss, alarm in ((0.25, 0.02), (0.01, 0.25))
    )
    other = np.where(truth == "ill", "well", "ill")
    said = np.array([np.where(one == "x", other, one) for one in (missing, alarming)]).T
    log = make_log(["missing", "alarming"], np.arange(800), said, truth, measures=Measures(prices=[1.0, 2.0]))
    costs: dict[tuple[str | None, str], int] = {("well", "ill"): 50, ("ill", "well"): 1}
    choice = choose_panels(
        log, PanelOptions(error_costs=costs, decide="votes"), objectives=("error-cost", "price")
    )
    best = best_single(choice)
    assert choice.chosen.judges[best] == "alarming"
    scoring, test = choice.scoring(choice.test), choice.test
    one, two = single_panel(choice, 0), single_panel(choice, 1)
    told = compared("missing", one, two, test, scoring)
    lost = [
        np.array([0 if code == true else [50, 1][true] for code, true in zip(codes, test.truth, strict=True)])
        for codes in (panel.run(test).codes for panel in (one, two))
    ]
    pairs = lost[1] - lost[0]
    assert told.panel_figures.value == pytest.approx(lost[1].mean())
    assert told.difference == pytest.approx(pairs.mean())
    error = pairs.std(ddof=1) / math.sqrt(len(pairs))
    assert told.difference_interval == pytest.approx((pairs.mean() - Z * error, pairs.mean() + Z * error))
    assert told.recommended
    assert told.gain > 0
    assert told.panel_figures.accuracy < told.single_figures.accuracy
    assert told.sentence().startswith(f"Better: use this panel, {pairs.mean():+.3g} of error cost a case")


def test_signs_that_are_chance_have_the_p_value_of_all_sign_changes() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        sums = rng.choice([-7.0, -1.0, 0.0, 1.0, 2.0], 10)
        signs = np.array(list(itertools.product((-1, 1), repeat=10)))
        exact = (np.abs(signs @ np.abs(sums)) >= abs(sums.sum()) - 1e-9).mean()
        assert sign_flip_p(sums) == pytest.approx(exact, abs=0.02)


def test_repeated_cases_do_not_narrow_intervals_or_lower_p_values() -> None:
    n, rows = 80, np.repeat(np.arange(80), 5)
    once = LOG.at(np.arange(n))
    repeated = replace(once.at(rows), groups=rows)
    panel, alone = CHOICE.of_recipe(Recipe(((0, 1, 2),), (0.0,), "votes")), single_panel(CHOICE, 0)
    one, many = (compared("j0", alone, panel, log) for log in (once, repeated))
    assert many.p_value == one.p_value
    assert many.difference == pytest.approx(one.difference)
    assert many.difference_interval == pytest.approx(one.difference_interval)
    assert many.panel_figures.accuracy_interval == pytest.approx(one.panel_figures.accuracy_interval)
    assert many.panel_figures.price_interval == pytest.approx(one.panel_figures.price_interval)
    assert many.n_more_cases == one.n_more_cases
    scoring = replace(accuracy_scoring(once), positive=1)
    errors = [figures(panel, log, scoring).errors for log in (once, repeated)]
    assert errors[0] is not None
    assert errors[1] is not None
    assert errors[0]["recall_interval"] == pytest.approx(errors[1]["recall_interval"])


def test_the_best_single_judge_keeps_the_limits_where_any_does() -> None:
    limits = [read_limit("price<=2")]
    assert CHOICE.chosen.judges[best_single(CHOICE, limits)] == "j1"
    cheap = CHOICE.of_recipe(Recipe(((0,),), (0.0,), "votes"))
    told = verdict(CHOICE, cheap, limits=limits)
    assert (told.single, told.within_limits) == ("j1", True)
    nobody = verdict(CHOICE, cheap, limits=[read_limit("price<=0.5")])
    assert nobody.recommended
    assert nobody.sentence().startswith("No single judge keeps the limits.")


@pytest.mark.parametrize("gained", [1, 3, 5])
def test_where_too_few_cases_tell_the_estimate_says_what_to_ask_and_evidence_is_missing(gained: int) -> None:
    best = best_single(CHOICE)
    assert best == int(np.argmax((CHOICE.chosen.answers == CHOICE.chosen.truth[:, None]).mean(axis=0)))
    alone, dear = single_panel(CHOICE, best), CHOICE.of_recipe(Recipe(((0, 1, 2),), (0.0,), "votes"))
    ahead, behind = (
        np.flatnonzero(dear.run(LOG).right(LOG) & ~alone.run(LOG).right(LOG)),
        np.flatnonzero(~dear.run(LOG).right(LOG) & alone.run(LOG).right(LOG)),
    )
    told = compared("j2", alone, dear, LOG.at(np.concatenate([ahead[:gained], behind[:3]])))
    assert told.difference == pytest.approx((gained - 3) / (gained + 3))
    assert told.within_chance
    assert not told.recommended
    assert told.rule.word is Word.UNDECIDED
    assert told.rule.takes_first == (gained > 3)
    begin = "Undecided: use this panel, which" if gained > 3 else "Undecided: ask j2 alone, which"
    assert told.sentence().startswith(begin)
    assert told.sentence(with_evidence=True).startswith("Undecided: ask j2 alone, ")


def test_the_best_single_judge_is_recommended_as_a_panel_of_its_own() -> None:
    best = best_single(CHOICE)
    own = verdict(CHOICE, single_panel(CHOICE, best))
    assert own.recommended
    assert own.sentence().startswith("The best is a single judge: 'j2' alone, for 5 a case.")
    assert own.p_value == 1.0


def test_prices_beyond_break_even_let_another_policy_be_cheaper_and_nearer_ones_do_not() -> None:
    now = CHOICE.chosen.prices.mean(axis=0)
    judges = CHOICE.chosen.judges
    found = [*CHOICE.found, *CHOICE.of_two, *(single_found(CHOICE, judge) for judge in range(3))]
    panels = [CHOICE.of_recipe(one.recipe) for one in found]
    calls = np.array([calls_of(panel, panel.run(CHOICE.chosen), judges) for panel in panels])
    losses = np.array([one.loss for one in found])
    tested = 0
    for point in range(len(CHOICE.found)):
        rivals = (losses <= losses[point]) & [one.recipe != found[point].recipe for one in found]
        for name, told in break_even_prices(CHOICE, CHOICE.found[point]).items():
            judge, is_asked = judges.index(name), "up_to" in told
            price = told["up_to"] if is_asked else told["below"]
            if price is None:
                continue
            beyond = 1 if is_asked else -1
            for factor, flips in ((1 + 1e-6 * beyond, True), (1 - 1e-6 * beyond, False)):
                changed = now.copy()
                changed[judge] = price * factor
                paid = calls @ changed
                assert (paid[rivals] < paid[point]).any() == flips
                tested += 1
    assert tested > 4


@pytest.mark.parametrize("limited", [False, True])
def test_a_dearer_twin_takes_the_place_of_a_judge_whose_price_rises_unless_it_is_too_slow(
    *, limited: bool
) -> None:
    said = LOG.answers[:, [2, 2]]
    labels = np.array(LOG.classes)
    seconds = np.broadcast_to([1.0, 2.0], said.shape)
    measures = Measures(prices=[1.0, 1.01], latency=seconds)
    log = make_log(["A", "B"], LOG.cases, labels[said], labels[LOG.truth], measures=measures)
    objectives = ("accuracy", "price", *["latency"] * limited)
    choice = choose_panels(log, PanelOptions(decide="votes"), objectives=objectives)
    point = next(place for place, one in enumerate(choice.found) if choice.panel(place).judges == ("A",))
    told = break_even_prices(choice, choice.found[point])
    assert told["A"]["up_to"] == (None if limited else pytest.approx(1.01))
    assert told.get("B", {}).get("below") == (None if limited else pytest.approx(1.0))


def test_one_standard_error_of_costs_is_that_of_the_losses() -> None:
    costs: dict[tuple[str | None, str], int] = {("yes", "no"): 1, ("no", "yes"): 40}
    options = PanelOptions(error_costs=costs, decide="votes")
    choice = choose_panels(LOG, options, objectives=("error-cost", "price"))
    points = range(len(choice.found))
    losses, error = mean_losses(choice, points)
    assert losses.tolist() == pytest.approx(choice.front.extras["on_training_cases"])
    truth = choice.chosen.truth
    codes = choice.panel(int(losses.argmin())).run(choice.chosen).codes
    pairs = zip(codes.tolist(), truth.tolist(), strict=True)
    lost = [0 if code == true else 1 if code < 0 else [1, 40][true] for code, true in pairs]
    assert np.mean(lost) == pytest.approx(losses.min())
    assert error == pytest.approx(np.std(lost, ddof=1) / math.sqrt(len(lost)))


@pytest.mark.parametrize("objective", ["accuracy", "error-cost"])
def test_a_cheaper_panel_is_as_good_only_where_the_interval_stays_within_the_margin(objective: str) -> None:
    best = best_single(CHOICE)
    alone, cheap = single_panel(CHOICE, best), single_panel(CHOICE, 0)
    told = compared("j2", alone, cheap, LOG)
    sign = -1 if objective == "error-cost" else 1
    figures_of = replace(told.panel_figures, objective=objective)
    for low, word in ((-0.009, Word.AS_GOOD), (-0.011, Word.UNDECIDED)):
        interval = (low, 0.02) if sign > 0 else (-0.02, -low)
        one = replace(
            told, p_value=0.3, difference=0.0, difference_interval=interval, panel_figures=figures_of
        )
        assert one.rule.word is word
        assert one.recommended == (word is Word.AS_GOOD)
        assert standing(one) is (Standing.BEATEN if word is Word.AS_GOOD else Standing.OPEN)
        assert replace(one, margin=0.02).rule == RuleVerdict(
            Word.AS_GOOD, takes_first=True, because="cheaper"
        )
    ends = (-0.2, -0.01) if sign > 0 else (0.01, 0.2)
    worse = replace(
        told, p_value=0.01, difference=-0.1 * sign, difference_interval=ends, panel_figures=figures_of
    )
    assert worse.rule == RuleVerdict(Word.BETTER, takes_first=False)


def test_under_a_promise_a_judge_is_compared_by_as_many_of_its_surest_answers() -> None:
    log = priced_log(n_cases=600)
    choice = choose_panels(log, PanelOptions(demand=Demand(0.8, 0.8)))
    assert choice.guarantees[0].promised
    panel = choice.panel(0)
    told = verdict(choice, panel)
    own = panel.run(choice.test)
    answered = own.codes >= 0
    right = (own.codes == choice.test.truth)[answered].mean()
    assert told.panel_figures.accuracy == pytest.approx(right)
    assert told.panel_figures.accuracy_interval[0] <= 0.8  # what is promised, at most
    assert told.panel_figures.answered == answered.mean()
    judge = choice.test.judges.index(told.single)
    assert choice.test.confidence is not None
    sure = heard(choice.test, choice.scale).confidence[:, judge]
    first = np.argsort(-sure, kind="stable")[: answered.sum()]
    alone = (choice.test.answers[:, judge] == choice.test.truth)[first].mean()
    assert told.single_figures.accuracy == pytest.approx(alone)
    assert told.difference == pytest.approx(right - alone)
    assert told.sentence().startswith("At the same coverage: ")
    assert told.tells_confidence


@pytest.mark.parametrize(
    ("kept", "is_promised", "gain", "p", "price", "found"),
    [
        (Kept.BROKEN, True, -0.4, 0.001, 2, Standing.BEATEN),
        (Kept.BROKEN, False, -1.0, 0.001, 1, Standing.OPEN),
        (Kept.KEPT, False, -1.0, 0.001, 1, Standing.AS_GOOD),
        (Kept.KEPT, True, -0.4, 0.001, 2, Standing.BETTER),
        (Kept.MISSED, True, -0.4, 0.001, 1, Standing.OPEN),
        (Kept.KEPT, True, -0.01, 0.4, 1, Standing.BEATEN),
        (Kept.KEPT, True, -0.01, 0.4, 2, Standing.AS_GOOD),
        (Kept.KEPT, True, 0.1, 0.001, 1, Standing.BEATEN),
        (Kept.KEPT, True, 0.1, 0.001, 2, Standing.OPEN),
    ],
)
def test_under_a_promise_the_cases_answered_and_the_price_decide(
    *, kept: Kept, is_promised: bool, gain: float, p: float, price: float, found: Standing
) -> None:
    told = compared("old", single_panel(CHOICE, 0), single_panel(CHOICE, 1), LOG, promised=0.0)
    told = replace(
        told, p_value=1e-9, difference=0.1, panel_figures=replace(told.panel_figures, price=price),
        single_figures=replace(told.single_figures, price=2),
    )  # fmt: skip
    coverage = Difference(gain, (gain, gain), p)
    assert promised_standing(told, coverage, kept, is_promised=is_promised) is found


def test_a_promise_is_kept_missed_or_broken_beyond_chance() -> None:
    own = figures(single_panel(CHOICE, 0), LOG, promised=0.0)
    high = own.accuracy_interval[1]
    assert kept_promise(own, own.accuracy) is Kept.KEPT
    assert kept_promise(own, (own.accuracy + high) / 2) is Kept.MISSED
    assert kept_promise(own, high + 0.01) is Kept.BROKEN
    assert kept_promise(replace(own, answered=0.0, accuracy=0.0), 0.9) is Kept.KEPT


def test_at_the_same_coverage_is_said_only_where_it_is_the_same(stored: Stored) -> None:
    told = compared("m", single_panel(CHOICE, 0), single_panel(CHOICE, 1), LOG, promised=0.0)
    own, other = (replace(one, answered=0.6) for one in (told.panel_figures, told.single_figures))
    told = replace(told, panel_figures=own, single_figures=other, tells_confidence=True, single_answers=0.8)
    all_of_them = replace(told, single_answers=0.6)
    fewer = replace(told, single_figures=replace(other, answered=0.5), single_answers=0.5)
    more = replace(told, single_figures=replace(other, answered=0.9), tells_confidence=False)
    nothing = replace(told, panel_figures=replace(own, answered=0.0), single_figures=other)
    same = replace(told, is_judge=True, p_value=1.0)
    stored(*(one.sentence() for one in (told, all_of_them, fewer, more, nothing, same)))
    by_parts = replace(told, is_judge=True, p_value=0.01)  # worse panels were chosen on parts of the cases
    assert by_parts.rule.word is Word.ALONE
    assert by_parts.recommended


def test_a_person_is_paid_for_the_cases_that_a_judge_leaves_at_the_same_coverage() -> None:
    log = priced_log(n_cases=600)
    choice = choose_panels(log, PanelOptions(demand=Demand(0.8, 0.8), final=Final("hand-over", 50.0)))
    judge = best_single(choice)
    alone, few = single_panel(choice, judge).run(choice.test), surest(choice, judge, choice.test, 20)
    told = few.run(choice.test)
    assert (told.codes >= 0).sum() == 20
    assert (told.handed_over == (told.codes < 0)).all()
    assert told.price == pytest.approx(alone.price + 50.0 * (told.handed_over & ~alone.handed_over))


@pytest.mark.parametrize("swaps", [False, True])
def test_learned_answers_of_one_judge_are_the_judge_only_where_they_are_its_own(swaps: bool) -> None:
    alone = single_panel(CHOICE, 0)
    k = len(LOG.classes)
    labels = np.vstack([np.roll(np.eye(k), int(swaps), axis=1), np.zeros(k)])
    weights = np.concatenate([np.zeros(k), labels.ravel(), np.zeros(k * k)])
    learned = replace(alone, stages=(Stage((0,), ScoreTable((0,), weights, k), 0.0),))
    told = compared(alone.judges[0], alone, learned, LOG)
    assert told.is_judge is not swaps
    assert ("re-weighed by learned scores" in stages_in_words(learned)) is swaps
    assert stages_in_words(alone) == alone.judges[0]
    assert ("learned scores re-weigh its answers" in " ".join(in_words([], None, learned, 0.0))) is swaps


@pytest.mark.parametrize("share", [None, 0.25])
def test_as_good_takes_the_cheapest_panel_no_worse_than_the_best_judge(
    share: float | None,
) -> None:
    choice = beside_single(choose_panels(priced_log(n_cases=300), PanelOptions(test_share=share)), 0.02)
    told = [verdict(choice, measured_panel(choice, point)) for point in range(len(choice.found))]
    price = choice.front.values[:, 1]
    single = single_panel(choice, best_single(choice))
    alone = [choice.panel(point).plain()["stages"] == single.plain()["stages"] for point in range(len(told))]
    good = [point for point, one in enumerate(told) if one.least_gain >= -0.02 or alone[point]]
    point = choice.front.pick("as-good").index

    assert choice.front.extras["beside_single"]["single"] == told[0].single
    assert (
        price[point] == min(price[good])
        if good
        else told[point].least_gain == max(one.least_gain for one in told)
    )
