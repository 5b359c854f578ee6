"""Few products in which every possible interaction of t features occurs, and how few there can be."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.presolve import Presolved, presolve
from shortlist.logic.sat import SatSolver, SearchStoppedError
from shortlist.pickles import saved_from
from shortlist.products.encodings.clauses import to_clauses
from shortlist.products.feature_models.model import FeatureModel
from shortlist.products.sampling.exclusive_interactions import exclusive_interactions
from shortlist.products.sampling.greedy_products import GreedyProducts
from shortlist.runs.budget import Budget
from shortlist.runs.progress import Progress

MOST_INTERACTIONS = 100_000_000
"""Interactions that are kept track of, in one byte each."""

N_CANDIDATES, N_CANDIDATES_OF_MANY = 6, 2
"""Products that are tried for each one that is taken, and where there are many rows of interactions."""

MANY_INTERACTION_ROWS = 100_000
"""So many rows are many."""

N_TRIES_OF_FEW, FEW_ROWS = 5, 2_000
"""How often all is tried anew where there are fewer rows than so, as the smallest sample counts."""

MOST_COMPARED = 50_000
"""Interactions that are looked at for the lower bound, those of fewest products first."""

_STAGE = "covering interactions"


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class CoveringSample:
    """Products that cover the interactions of t features.

    Attributes
    ----------
    products : ndarray of bool, shape (n_products, n_features)
        The sample, in the order in which the products were taken.
    lower_bound : int
        No sample that covers all interactions has fewer products.
    n_covered, n_impossible : int
        Interactions that occur in the sample, and those proved to occur in no product. An interaction says of
        t features that are open, and not equivalent to each other, which of them are selected.
    n_undecided : int
        Interactions that a limit left open; 0 means that the sample covers all.
    """

    products: Mask
    lower_bound: int
    n_covered: int
    n_impossible: int
    n_undecided: int


def covering_sample(
    model: FeatureModel, t: int = 2, *, rng: np.random.Generator | None = None, budget: Budget | None = None
) -> CoveringSample:
    """Return a small sample of products in which every possible interaction of `t` features occurs.

    Products are taken one by one, each for an interaction that is not covered yet, and built value by value
    so that many others are covered too (as the greedy methods for covering arrays do, see
    :cite:t:`Johansen2012`). Products whose interactions all occur elsewhere are dropped at the end. The lower
    bound counts interactions of which no two occur in one product: first those made of features that exclude
    each other, then others, each proved by a satisfiability solver.

    Parameters
    ----------
    model : FeatureModel
        What the products are of.
    t : int, default=2
        How many features interact; all of them where fewer are open.
    rng : numpy.random.Generator, optional
        Source of the solver's preferences; default: a fixed one.
    budget : Budget, optional
        When it ends, the sample so far is returned with what is undecided.

    Raises
    ------
    BadInputError
        If the model has no product, there are more than a hundred million interactions, or a linear
        constraint needs too many clauses.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash", "Gift"], root=0, groups=[make_group(0, [1, 2, 3], "or")])
    >>> found = covering_sample(shop, 2)
    >>> len(found.products), found.lower_bound, found.n_covered, found.n_impossible
    (4, 4, 12, 0)
    """
    t = as_count(t, "t")
    budget = budget or Budget()
    rng = np.random.default_rng(0) if rng is None else rng
    smaller = presolve(to_clauses(model))
    if smaller.clauses.n_clauses and not len(smaller.clauses.literals):
        raise BadInputError("the model must have a product to draw samples from. Remove a contradiction.")
    chosen = _own_variables(smaller, model.n_features)
    if math.comb(len(chosen), min(t, len(chosen))) << min(t, len(chosen)) > MOST_INTERACTIONS:
        raise BadInputError(
            f"t must be small enough for {MOST_INTERACTIONS:,} interactions, got {t} with {len(chosen):,} "
            "open features. Take a smaller t."
        )
    combinations = list(itertools.combinations(chosen, min(t, len(chosen)))) if chosen else []
    places = np.array(combinations, dtype=np.int32).reshape(len(combinations), min(t, len(chosen)))
    tries = []
    for _ in range(N_TRIES_OF_FEW if len(places) < FEW_ROWS else 1):
        search = _Search(smaller, places, rng, budget)
        search.run()
        tries.append((search.n_open, search.without_superfluous(), search))
        if budget.stopped:
            break
    _, taken, search = min(tries, key=lambda one: (one[0], len(one[1])))
    return CoveringSample(
        smaller.restore(taken)[:, : model.n_features],
        search.lower_bound(taken),
        n_covered=int(search.state.astype(bool).sum()) - int((search.state == IMPOSSIBLE).sum()),
        n_impossible=int((search.state == IMPOSSIBLE).sum()),
        n_undecided=search.n_open,
    )


OPEN, COVERED, IMPOSSIBLE = 0, 1, 2


class _Search:
    """The state of every interaction, and the products that were taken so far.

    Interaction ``(row, code)`` says of the variables ``places[row]`` that number k is true where bit k of the
    code is set.
    """

    def __init__(
        self, smaller: Presolved, places: NDArray[np.int32], rng: np.random.Generator, budget: Budget
    ) -> None:
        self._clauses, self._places, self._rng, self._budget = smaller.clauses, places, rng, budget
        self._bits = 1 << np.arange(places.shape[1])
        self._rows = np.arange(len(places))
        self.state = np.zeros((len(places), 1 << places.shape[1]), dtype=np.uint8)
        self._solver = SatSolver(smaller.clauses, budget)
        self._builder = GreedyProducts(places, smaller.clauses.n_variables, self._solver)
        self.taken: list[Mask] = []

    @property
    def n_open(self) -> int:
        """How many interactions are undecided."""
        return int((self.state == OPEN).sum())

    def run(self) -> None:
        """Take products until every interaction is covered or impossible, or the budget ends."""
        try:
            self._take_first()
            row = 0
            while (target := self._next_open(row)) is not None:
                row = target[0]
                self._decide(*target)
                done = np.count_nonzero(self.state)
                self._budget.report(Progress(_STAGE, int(done), self.state.size, unit="interactions"))
        except SearchStoppedError:
            pass

    def _take_first(self) -> None:
        model = self._solver.solve().model
        assert model is not None, "presolving has found a model"
        self._take(model)

    def _next_open(self, row: int) -> tuple[int, int] | None:
        """Return the first interaction that is open, from a row on."""
        for first in range(row, len(self.state), 4096):
            found = np.argwhere(self.state[first : first + 4096] == OPEN)
            if len(found):
                return first + int(found[0, 0]), int(found[0, 1])
        return None

    def _decide(self, row: int, code: int) -> None:
        """Cover an interaction by the best of some products that have it, or find that none has."""
        literals = self._literals(row, code)
        model = self._solver.solve(literals).model
        if model is None:
            self.state[row, code] = IMPOSSIBLE
            return
        worth = self._worth()
        worth /= 2 * worth.max(initial=1.0)
        best, most = model, -1
        for _ in range(N_CANDIDATES if len(self._rows) < MANY_INTERACTION_ROWS else N_CANDIDATES_OF_MANY):
            noise = self._rng.random(len(worth)) / 4
            model = self._builder.product(literals, self.state, worth + noise, model)
            gained = int((self.state[self._rows, self._codes(model)] == OPEN).sum())
            if gained > most:
                best, most = model, gained
        self._take(best)

    def _worth(self) -> NDArray[np.float64]:
        """Return how many open interactions each value of each variable is in: true, then false."""
        worth = np.zeros(2 * self._clauses.n_variables)
        open_ = self.state == OPEN
        for k in range(self._places.shape[1]):
            on = (np.arange(self.state.shape[1]) >> k & 1).astype(bool)
            for side, columns in enumerate((on, ~on)):
                counts = open_[:, columns].sum(axis=1)
                worth += np.bincount(2 * self._places[:, k] + side, counts, minlength=len(worth))
        return worth

    def _literals(self, row: int, code: int) -> list[int]:
        return [(int(place) + 1) * (1 if code >> k & 1 else -1) for k, place in enumerate(self._places[row])]

    def _codes(self, model: Mask) -> NDArray[np.int64]:
        """Return the code of every row in a product."""
        codes: NDArray[np.int64] = model[self._places] @ self._bits
        return codes

    def _take(self, model: Mask) -> None:
        self.taken.append(model)
        self.state[self._rows, self._codes(model)] = COVERED

    def without_superfluous(self) -> Mask:
        """Return the products that are needed, going from the last to the first."""
        times = np.zeros(self.state.shape, dtype=np.int32)
        codes = [self._codes(model) for model in self.taken]
        for each in codes:
            times[self._rows, each] += 1
        kept = []
        for model, each in zip(reversed(self.taken), reversed(codes), strict=True):
            if (times[self._rows, each] > 1).all() and len(self._rows):
                times[self._rows, each] -= 1
            else:
                kept.append(model)
        left = kept[::-1] or self.taken[:1]
        return np.array(left, dtype=bool).reshape(len(left), self._clauses.n_variables)

    def lower_bound(self, products: Mask) -> int:
        """Return how many interactions were found of which no two occur in one product."""
        times = np.zeros(self.state.shape, dtype=np.int64)
        for model in products:
            times[self._rows, self._codes(model)] += 1
        rows, columns = np.nonzero(self.state == COVERED)
        order = np.argsort(times[rows, columns], kind="stable")
        alone: list[list[int]] = []
        possible = np.ones(len(products), dtype=bool)  # products with none of those that were chosen
        if not self.n_open:
            for row, code in exclusive_interactions(
                self._places, self.state == COVERED, self._clauses.n_variables
            ):
                alone.append(self._literals(row, code))
                possible &= (products[:, self._places[row]] @ self._bits) != code
        try:
            for place in order[:MOST_COMPARED].tolist():
                row, code = int(rows[place]), int(columns[place])
                literals = self._literals(row, code)
                having = (products[:, self._places[row]] @ self._bits) == code
                if (having & ~possible).any():
                    continue
                if any(self._solver.solve([*literals, *other]).satisfiable for other in alone):
                    continue
                alone.append(literals)
                possible &= ~having
                if not possible.any():
                    break
        except SearchStoppedError:
            pass
        return max(1, len(alone))


def _own_variables(smaller: Presolved, n_features: int) -> list[int]:
    """Return the variables of the smaller clauses that stand for open features, each once."""
    places = smaller.places[:n_features]
    return sorted(set(places[places >= 0].tolist()))
