"""Thresholds from which promises hold, and tests that pass together, against plain loops."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mapie.risk_control import BinaryClassificationController
from mapie.risk_control.fwer_control import control_fwer
from scipy.stats import betabinom, binom

from benchmarks.studies.front_promises import broken_promises, made_points, staged_points
from shortlist.guarantees.guarantee import Demand, most_wrong, tail
from shortlist.guarantees.promise import (
    MOST_THRESHOLDS,
    AnswerCounts,
    Trial,
    chances,
    chances_to_pass,
    count_answers,
    first_to_try,
    most_that_holds,
    passing,
    possible_thresholds,
    promise,
    promise_each,
)
from tests.examples import examples
from tests.guarantees import oracles

N_DRAWS = 1000


@given(scores=st.lists(st.integers(0, 12), min_size=1, max_size=40), seed=st.integers(0, 99))
def test_counts_equal_a_plain_loop(scores: list[int], seed: int) -> None:
    values = np.array(scores) / 12
    right = np.random.default_rng(seed).random(len(values)) < 0.7
    thresholds = possible_thresholds(values)
    counts = count_answers([values], [right], thresholds)
    assert thresholds[-1] == 0
    assert (np.diff(thresholds) < 0).all()
    assert len(thresholds) <= MOST_THRESHOLDS + 1
    for place, threshold in enumerate(thresholds.tolist()):
        reached = [i for i, value in enumerate(values.tolist()) if value >= threshold]
        assert counts.answered[place] == len(reached)
        assert counts.right[place] == sum(bool(right[i]) for i in reached)


@given(data=st.data())
def test_the_last_threshold_that_passes_equals_a_plain_loop(data: st.DataObject) -> None:
    def counts() -> AnswerCounts:
        steps = data.draw(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), min_size=6, max_size=6))
        right, wrong = np.cumsum(steps, axis=0).T
        return AnswerCounts(int(right[-1] + wrong[-1]), right + wrong, right)

    chosen, calibration = counts(), counts()
    demand = Demand(0.8, 0.9)
    thresholds = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.0])
    expected = oracles.last_passed(
        calibration.answered.tolist(),
        calibration.right.tolist(),
        first=first_to_try(chosen, calibration.n_rows, demand),
        accuracy=Fraction("0.8"),
        error=Fraction("0.1"),
    )
    found = promise(thresholds, chosen, calibration, demand)
    assert found.promised == (expected is not None)
    if expected is not None:
        assert found.threshold == thresholds[expected]
        assert (found.n_answered, found.n_right) == (
            calibration.answered[expected],
            calibration.right[expected],
        )


def _monotone(scores: np.ndarray) -> np.ndarray:
    """The surer the answer, the more often it is right."""
    return np.minimum(0.99, 0.6 + 0.6 * scores)


def _treacherous(scores: np.ndarray) -> np.ndarray:
    """The surest answers are the worst ones, which no order of thresholds may rely on."""
    return np.where(scores > 0.9, 0.85, 0.93)


def _hopeless(scores: np.ndarray) -> np.ndarray:
    """Just too many answers are wrong from every threshold on."""
    return np.full(len(scores), 0.8999)


@pytest.mark.slow
@pytest.mark.parametrize("right_share", [_monotone, _treacherous, _hopeless], ids=lambda kind: kind.__name__)
def test_the_promise_holds_as_often_as_it_says(right_share: object) -> None:
    """1,000 draws at 95 %: so few may fail as a true error of 5 % would let fail in all but one of 1,000 runs."""
    assert callable(right_share)
    demand = Demand(0.9, 0.95)
    rng = np.random.default_rng(20261122)
    population = rng.random(200_000)
    truth = right_share(population)
    order = np.argsort(-population)
    ahead = np.cumsum(truth[order]) / np.arange(1, len(order) + 1)
    broken = promised = 0
    for _ in range(N_DRAWS):
        chose, new = rng.random((2, 150))
        thresholds = possible_thresholds(chose)
        found = promise(
            thresholds,
            count_answers([chose], [rng.random(150) < right_share(chose)], thresholds),
            count_answers([new], [rng.random(150) < right_share(new)], thresholds),
            demand,
        )
        if found.promised:
            promised += 1
            n_answered = int(np.count_nonzero(population >= found.threshold))
            broken += bool(ahead[n_answered - 1] < demand.accuracy)
    assert broken <= binom.ppf(0.999, N_DRAWS, demand.error)
    if right_share is _monotone:
        assert promised > N_DRAWS / 2  # a rule that never answers would pass the rest


def test_the_first_threshold_has_enough_answers_to_pass() -> None:
    chosen = AnswerCounts(1000, np.array([20, 100, 400, 1000]), np.array([20, 100, 400, 600]))
    assert first_to_try(chosen, 100, Demand(0.9, 0.95)) == 2
    assert first_to_try(chosen, 1000, Demand(0.9, 0.95)) == 1


def test_too_few_rows_promise_nothing_and_say_how_many_it_takes() -> None:
    all_right = AnswerCounts(28, np.array([28]), np.array([28]))
    found = promise(np.array([0.0]), all_right, all_right, Demand(0.9, 0.95))
    assert not found.promised
    assert "that takes at least 29 answered calibration rows, and there are 28" in found.sentence()


@pytest.mark.filterwarnings("ignore:All provided:UserWarning", "ignore:No predict param:UserWarning")
@pytest.mark.filterwarnings("ignore:Fixed sequence testing requires:UserWarning")
@pytest.mark.parametrize("seed", range(8))
def test_p_values_and_the_threshold_are_those_of_mapie_on_the_same_thresholds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    demand = Demand(0.85, 0.9)
    chose, scores = rng.uniform(0.05, 1, (2, 200))
    right = rng.random((2, 200)) < 0.7 + 0.3 * np.stack([chose, scores])
    thresholds = possible_thresholds(chose)
    planned = count_answers([chose], [right[0]], thresholds)
    counts = count_answers([scores], [right[1]], thresholds)
    tested = thresholds[first_to_try(planned, len(scores), demand) :]

    # whether an answer is right is the class, how sure it is its probability: precision is accuracy on answers
    theirs = BinaryClassificationController(
        lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]),
        "precision",
        demand.accuracy,
        demand.confidence_level,
        list_predict_params=tested[::-1],
        fwer_method="fixed_sequence",
    ).calibrate(scores[:, None], right[1].astype(int))

    place = len(thresholds) - len(tested)
    answered, right_ones = counts.answered[place:], counts.right[place:]
    wrong = answered - right_ones
    ours, given = tail(answered, wrong, demand), np.asarray(theirs.p_values).ravel()[::-1]
    # they make shares of the counts and round up what was whole: then one more answer counts as wrong
    rounded = np.ceil(answered * (1 - right_ones / answered)) > wrong
    assert np.allclose(given[~rounded], ours[~rounded], rtol=1e-9)
    assert (given[rounded] > ours[rounded]).all()
    assert (~rounded).any()
    passed = control_fwer(ours, demand.error, "fixed_sequence")
    found = promise(thresholds, planned, counts, demand)
    assert found.threshold == (tested[passed[-1]] if len(passed) else np.inf)
    assert found.threshold <= np.min(theirs.valid_predict_params, initial=np.inf)


def test_no_threshold_lies_between_scores_that_differ_in_their_last_bits() -> None:
    scores = np.array([0.25, 0.5, np.nextafter(0.5, 1), 0.5 + 1e-12, 0.75])
    found = possible_thresholds(np.repeat(scores, 10))
    assert found.tolist() == pytest.approx([0.625, 0.375, 0.0])


FAMILY_N_DRAWS = 150
MOST_BROKEN = 17
"""Of 150 draws, each broken with 5 %, so many or fewer are with a probability of 0.999."""


def _trials(data: st.DataObject) -> list[Trial]:
    def counts() -> AnswerCounts:
        steps = data.draw(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), min_size=4, max_size=4))
        right, wrong = np.cumsum(steps, axis=0).T
        return AnswerCounts(150, right + wrong, right)

    thresholds = np.array([0.9, 0.8, 0.7, 0.0])
    return [Trial(thresholds, counts(), counts()) for _ in range(data.draw(st.integers(1, 4)))]


@given(data=st.data())
def test_what_is_promised_equals_a_plain_loop(data: st.DataObject) -> None:
    trials = _trials(data)
    demand = Demand(0.8, 0.9)
    pairs = []
    for point, trial in enumerate(trials):
        chances = chances_to_pass(trial.chosen, 150, demand)
        pairs += [(-chances[place] * trial.chosen.right[place] / 150, point, place) for place in range(4)]
    expected: dict[int, int] = {}
    for _, point, place in sorted(pairs):
        n, right = (int(counts[place]) for counts in trials[point].calibration[1:3])
        if not n or oracles.tail_by_counting(n, n - right, Fraction("0.2")) > Fraction("0.1"):
            break
        expected[point] = max(place, expected.get(point, -1))
    guarantees, thresholds = promise_each(trials, demand)
    for point, (trial, found) in enumerate(zip(trials, guarantees, strict=True)):
        assert found.promised == (point in expected)
        if found.promised:
            place = expected[point]
            assert found.threshold == thresholds[point] == trial.thresholds[place]
            assert (found.n_answered, found.n_right) == tuple(c[place] for c in trial.calibration[1:3])
            assert found.n_rows == 150
        else:
            best = min(pair for pair in pairs if pair[1] == point)
            assert thresholds[point] == trial.thresholds[best[2]]


@examples(25)
@given(data=st.data())
def test_what_could_be_promised_instead_is_the_most_that_some_point_keeps(data: st.DataObject) -> None:
    trials = _trials(data)
    found = most_that_holds(lambda one: promise_each(trials, one)[0], Demand(0.9, 0.9))
    kept = [
        per_cent
        for per_cent in range(50, 90)
        if any(one.promised for one in promise_each(trials, Demand(per_cent / 100, 0.9))[0])
    ]
    assert (found is None) == (not kept)
    if found is not None:
        assert round(100 * found.accuracy) == max(kept)
        best = promise_each(trials, Demand(max(kept) / 100, 0.9))[0]
        assert found.n_right == max(one.n_right for one in best if one.promised)


@pytest.mark.parametrize("name", ["just too bad", "a front of stages"])
def test_all_promises_hold_together_as_often_as_is_said_whatever_is_picked(name: str) -> None:
    """Rows that choose and rows that calibrate are drawn, and the truth is counted on all that there are.

    Of points that are each tested alone one passes by luck, and that is the one which looks best.
    """
    population = staged_points() if name == "a front of stages" else made_points(name)
    found = broken_promises(population, Demand(0.9, 0.95), range(FAMILY_N_DRAWS))
    broken = found.groupby("order")[["any", "one-se", "best looking"]].sum()
    together, alone = broken.loc["all thresholds, most expected first"], broken.loc["each point alone"]
    assert (together <= MOST_BROKEN).all()
    if name == "just too bad":
        assert alone["best looking"] > MOST_BROKEN


def passing_plainly(
    p_values: list[float],
    chains: list[list[int]],
    shares: list[float],
    *,
    lives: int,
    left: float = 0.0,
) -> list[int]:
    """The same, chain by chain and test by test, by calling itself."""
    if not chains:
        return []
    own = left + shares[0]
    results = [p_values[place] <= own / lives for place in chains[0]]
    failures = [number for number, passes in enumerate(results) if not passes]
    tested = results if len(failures) < lives else results[: failures[lives - 1]]
    passed = [place for place, passes in zip(chains[0], tested, strict=False) if passes]
    rest = own * max(0, lives - len(failures)) / lives
    return passed + passing_plainly(p_values, chains[1:], shares[1:], lives=lives, left=rest)


@given(data=st.data())
def test_what_passes_equals_a_plain_recursion(data: st.DataObject) -> None:
    p_values = data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=12))
    places = data.draw(st.permutations(range(len(p_values))))
    ends = sorted(data.draw(st.lists(st.integers(0, len(p_values)), max_size=3)))
    bounds = [0, *ends, len(p_values)]
    chains = [list(places[low:high]) for low, high in itertools.pairwise(bounds)]
    lives = data.draw(st.integers(1, 3))
    found = passing(np.array(p_values) / 8, chains, 1.0, lives=lives)
    assert found == passing_plainly(
        [p / 8 for p in p_values], chains, [1 / len(chains)] * len(chains), lives=lives
    )


@pytest.mark.parametrize("lives", [1, 2, 3])
@pytest.mark.parametrize("n_chains", [1, 3])
@pytest.mark.parametrize("shared", [0.0, 0.8], ids=["independent", "correlated"])
def test_a_wrong_hypothesis_passes_no_more_often_than_is_said(
    lives: int, n_chains: int, shared: float
) -> None:
    """Four in ten hypotheses are just true, the hardest case; all others are far from it."""
    rng = np.random.default_rng([lives, n_chains, int(10 * shared)])
    broken = n_passed = 0
    for _ in range(2000):
        order = rng.permutation(20)
        true = rng.random(20) < 0.4
        draws = np.where(rng.random(20) < shared, rng.random(), rng.random(20))
        p_values = np.where(true, draws, draws**8)  # a true one has an even p-value
        passed = passing(p_values, np.array_split(order, n_chains), 0.1, lives=lives)  # type: ignore[arg-type]
        broken += bool(true[passed].any())
        n_passed += len(passed)
    assert n_passed > 1000
    assert broken <= 240  # of 2,000 at 10 %: more have a chance of 0.2 %


@given(
    answered=st.lists(st.integers(0, 60), min_size=1, max_size=5),
    wrong=st.integers(0, 8),
    share=st.sampled_from([0.5, 1.0, 1.7]),
    weight=st.sampled_from([0, 50]),
)
def test_chances_are_those_of_the_beta_binomial_distribution(
    answered: list[int], wrong: int, share: float, weight: int
) -> None:
    demand = Demand(0.8, 0.9)
    n_wrong = [min(wrong, n) for n in answered]
    usual = np.full(len(answered), 0.1)
    found = chances(np.array(answered), np.array(n_wrong), share, demand, usual=usual, weight=weight)
    for n, k, chance in zip(answered, n_wrong, found.tolist(), strict=True):
        expected = round(n * share)  # both round halves to the even number
        most = int(most_wrong(expected, demand))
        assert chance == pytest.approx(
            betabinom.cdf(most, expected, 1 + k + 0.1 * weight, 1 + n - k + 0.9 * weight)
            if most >= 0
            else 0.0,
            abs=1e-9,
        )


@pytest.mark.parametrize("seed", range(40))
def test_counts_at_thresholds_equal_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_stages, n_cases = int(rng.integers(1, 4)), int(rng.integers(1, 12))
    scores, right = rng.integers(-1, 5, (n_stages, n_cases)) / 4, rng.random((n_stages, n_cases)) < 0.6
    scores = np.where(scores < 0, -1.0, scores)
    prices = rng.integers(0, 9, (n_stages, n_cases))
    thresholds = np.array([1.0, 0.75, 0.6, 0.25, 0.0])[rng.integers(0, 4) :]
    counts = count_answers([*scores], [*right], thresholds, [*prices])
    assert counts.n_rows == n_cases
    for place, threshold in enumerate(thresholds):
        answered = rightly = paid = 0
        for case in range(n_cases):
            for stage in range(n_stages):
                paid += prices[stage, case]
                if scores[stage, case] >= threshold:
                    answered, rightly = answered + 1, rightly + right[stage, case]
                    break
        assert tuple(count[place] for count in counts[1:]) == (answered, rightly, paid)
    free = count_answers([*scores], [*right], thresholds)
    assert not free.price.any()
    assert (free.answered == counts.answered).all()
