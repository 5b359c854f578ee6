"""Which of many promises hold together: tests in chains, each in an order that is fixed beforehand."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shortlist.guarantees.guarantee import Demand, most_wrong_up_to


def passing(
    p_values: NDArray[np.float64], chains: Sequence[Sequence[int]], error: float, *, lives: int = 1
) -> list[int]:
    """Return the places of the hypotheses that are rejected, any of them wrongly with `error` at most.

    The chains are tested one after another. Each has an equal share of the error, and what the chain before
    it has left. A chain tests its hypotheses in order, each at its error divided by `lives`, and ends at
    failure number `lives`. What it has left is its error times the share of its lives.

    `p_values`, ``(n_hypotheses,)``: each valid by itself, however they depend on each other. `chains`: places
    of hypotheses, each in at most one chain; all orders are fixed without the p-values.

    Notes
    -----
    With one chain and one life this is the fixed sequence, with one hypothesis a chain the fallback procedure
    (Wiens 2003), and with more lives a sequence that goes on after failures (Qiu, Guo and Lynch 2015).

    Proof. Call a hypothesis null if it is true, let chain c have n(c) nulls, k be `lives`, and a(c) the share
    of the error of chain c. As long as no null has been rejected, every null that was tested has taken a
    life. So a chain that ends alive, and thus has tested all its nulls, leaves at most 1 - n(c) / k of its
    error, and one that is dead leaves nothing. Hence the error of chain c is at most D(c), where D(1) = a(1)
    and D(c + 1) = a(c + 1) + D(c) (1 - min(1, n(c) / k)). The first null that is rejected in chain c is one
    of its first k nulls, as those before it took lives, and its p-value is at most D(c) / k. So a null is
    rejected with probability at most the sum of D(c) min(1, n(c) / k) over all chains. Each term is
    D(c) - D(c + 1) + a(c + 1), so the sum is at most that of all a(c), the error.

    Examples
    --------
    >>> passing(np.array([0.01, 0.2, 0.02, 0.01]), [[0, 1, 2, 3]], 0.05)
    [0]
    >>> passing(np.array([0.01, 0.2, 0.02, 0.01]), [[0, 1, 2, 3]], 0.05, lives=2)
    [0, 2, 3]
    >>> passing(np.array([0.02, 0.04]), [[0], [1]], 0.05)
    [0, 1]
    """
    passed, left = list[int](), 0.0
    for chain in chains:
        own = left + error / len(chains)
        n_left = lives
        for place in chain:
            if p_values[place] <= own / lives:
                passed.append(place)
            else:
                n_left -= 1
                if not n_left:
                    break
        left = own * n_left / lives
    return passed


def chances(
    answered: NDArray[np.int64],
    wrong: NDArray[np.int64],
    share: float,
    demand: Demand,
    *,
    usual: NDArray[np.float64] | None = None,
    weight: float = 0.0,
) -> NDArray[np.float64]:
    """Return how likely each test of a promise is to pass, by rows that have no part in the tests.

    How often answers are wrong has the beta distribution with the parameters 1 + wrong and 1 + right, from an
    even prior. The number of wrong answers among as many calibration rows as are to be expected is then
    beta-binomial.

    `answered`, `wrong`, ``(n_tests,)``: rows that choose. `share`: how many calibration rows there are for
    each of them. `demand`: with the error of one test. `usual`, ``(n_tests,)``: how often tests of the same
    kind are wrong; `weight`: how many further answers, so often wrong, the prior has.

    >>> chances(np.array([100, 100, 10]), np.array([0, 5, 0]), 1.0, Demand(0.9, 0.95)).round(2).tolist()
    [0.97, 0.38, 0.0]
    """
    expected = np.rint(answered * share).astype(np.int64)
    most = most_wrong_up_to(int(expected.max(initial=0)), demand)[expected]
    found = np.zeros(len(answered))
    more_wrong = 1.0 + weight * (np.zeros(len(answered)) if usual is None else usual)
    more_right = 2.0 + weight - more_wrong
    for n_wrong in range(int(most.max(initial=-1)) + 1):
        here = np.flatnonzero(most >= n_wrong)
        n, k = expected[here], float(n_wrong)
        a, b = more_wrong[here] + wrong[here], more_right[here] + answered[here] - wrong[here]
        ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        with_wrong = gammaln(k + a) + gammaln(n - k + b) - gammaln(n + a + b)
        found[here] += np.exp(ways + with_wrong + gammaln(a + b) - gammaln(a) - gammaln(b))
    return np.minimum(found, 1.0)
