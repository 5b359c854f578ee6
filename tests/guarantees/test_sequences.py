"""Which promises hold together: chains of tests, their order, and how often a wrong one passes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from shortlist.guarantees.guarantee import Demand, most_wrong
from shortlist.guarantees.sequences import chances, passing


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
