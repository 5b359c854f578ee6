"""Pruning rules that order classifiers and keep the best prefix."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from shortlist._validation import as_choice, as_seed
from shortlist._words import all_of
from shortlist.ensembles import _rule_kernels as _kernels
from shortlist.ensembles.evolution.training_rows import distinct_classifiers, grow_by_margins
from shortlist.ensembles.rules import (
    Ordering,
    best_prefix,
    empty_order,
    everyone,
    keep_all,
    keep_best,
    reduced_error,
    single_right,
)
from shortlist.ensembles.votes.hard_votes import ClassVotes, class_tally, n_right, no_votes
from shortlist.errors import BadInputError
from shortlist.exact import as_fraction
from shortlist_papers.rules import _kernels as kernels
from shortlist_papers.rules.kappa_orders import (
    common_counts,
    kappa_order,
    pairs_order,
    similarity_to_member,
)

STOPS = ("accuracy", "fitness")


def order_classifiers(
    votes: ClassVotes,
    rule: str,
    *,
    stop: str = "accuracy",
    p: float = 0.075,
    rho: float = 0.25,
    seed: int = 0,
) -> Ordering:
    """Order classifiers by a rule, and keep the best prefix.

    Of equal scores the more accurate classifier wins (uwa's second choice is always such a tie), then the
    lowest index. Of equal prefixes the smallest is kept. A plurality's ties go to the lowest class, so with
    two classes a tie is negative. Raises BadInputError if a name is unknown, the rule has no fitness to stop
    by, or a number is out of range.

    Hill climbing takes O(n_rows · n_classifiers) time for the first step, and later only for rows whose
    weight changed; kappa, margin-distance and orientation take O(n_rows · n_classifiers²) as matrix products.

    `votes`: rows that the classifiers were not fitted on. `rule`: a name in :data:`RULES`. `stop`: measure of
    the best prefix: ``"accuracy"``, right decisions of its vote, or ``"fitness"``, the rule's own, for rules
    that have one (:data:`RULES_WITH_FITNESS`). Complementariness, concurrency and uwa have no fitness for a
    single classifier. `p`: for ``margin-distance``: position of the objective point on the diagonal, in (0,
    1]. `rho`: for ``drep``: share of the remaining classifiers, the most diverse ones, that compete by
    accuracy, in (0, 1]. `seed`: for ``random``.

    >>> from shortlist.ensembles.votes.hard_votes import class_votes
    >>> votes = class_votes([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> order_classifiers(votes, "reduced-error").members.tolist()
    [1, 2, 0]
    """
    check_rule(rule, stop, p=p, rho=rho)
    if rule == "margin-distance":
        return _margin_distance(votes, stop, _share(p, "p"))
    if rule == "drep":
        return _drep(votes, _share(rho, "rho"))
    if rule == "random":
        rng = np.random.default_rng(as_seed(seed))
        return best_prefix(votes, rng.permutation(votes.n_classifiers))
    return RULES[rule](votes, stop)


def check_rule(rule: str, stop: str, *, p: float = 0.075, rho: float = 0.25) -> None:
    """Raise BadInputError for unknown names, rules without a fitness to stop by, and numbers out of range.

    The arguments are those of :func:`order_classifiers`.
    """
    as_choice(rule, "rule", list(RULES))
    as_choice(stop, "stop", STOPS)
    if stop == "fitness" and rule not in RULES_WITH_FITNESS:
        raise BadInputError(
            "stop",
            f"must be 'accuracy' with rule {rule!r}, which has no fitness of a prefix",
            "'fitness'",
            f"Of the rules, {all_of(RULES_WITH_FITNESS)} have one.",
        )
    _share(p, "p")
    _share(rho, "rho")


def _weighted(rule: int) -> Callable[[ClassVotes, str], Ordering]:
    """Return a rule that weighs rows by the members' decisions on them."""

    def climb(votes: ClassVotes, stop: str) -> Ordering:
        order, right = empty_order(votes)
        scaled = right.copy()
        alone = single_right(votes)
        order[0] = alone.argmax()
        kernels.climb_by_weights(
            rule,
            _kernels.coded_rows(votes),
            _kernels.Climb(alone, no_votes(votes), np.zeros(len(order), dtype=np.int64), everyone(votes)),
            np.zeros(len(votes.labels), dtype=np.int64),
            np.zeros(len(order), dtype=np.int16),
            order,
            scaled,
            right,
        )
        fitness = scaled.astype(np.float64)
        if rule == kernels.UNCERTAINTY:
            fitness /= np.maximum(np.arange(len(order)), 1)  # shares of the members, not their number
        fitness[0] = np.nan
        by_fitness = stop == "fitness" and len(order) > 1
        size = int(fitness[1:].argmax()) + 2 if by_fitness else int(right.argmax()) + 1
        return Ordering(order, right, fitness, size)

    return climb


def _orientation(votes: ClassVotes, stop: str) -> Ordering:
    """Order by the angle to the diagonal's projection off the mean signature (Martínez-Muñoz & Suárez 2006).

    With signatures c_h in {−1, 1}^N and s their sum, the projection is a multiple of |s|²·1 − (1·s) s. The
    fitness of a prefix is its smallest product with the projection over |s|²; the rule's own size is the
    number of angles below 90°, at least 1.
    """
    signs = 2 * single_right(votes) - votes.n_samples
    along = np.zeros(votes.n_classifiers, dtype=np.int64)
    squares = total = 0
    for rows in _blocks(votes):
        right = votes.codes[rows] == votes.labels[rows, None]
        sums = 2 * np.count_nonzero(right, axis=1).astype(np.int64) - votes.n_classifiers
        weighted = sums * votes.counts[rows]
        squares += int(weighted @ sums)
        total += int(weighted.sum())
        along += 2 * (weighted @ right) - weighted.sum()
    squares = squares or 1  # no direction to project off: the diagonal itself
    # Python's integers: these products may pass 2^63
    products = [squares * int(sign) - total * int(a) for sign, a in zip(signs, along, strict=True)]
    ranked = sorted(range(len(products)), key=lambda k: (-products[k], k))
    fitness = np.array([products[k] / squares for k in ranked])
    ordering = best_prefix(votes, np.array(ranked, dtype=np.int64))
    own_size = max(1, sum(product > 0 for product in products))
    size = own_size if stop == "fitness" else ordering.size
    return Ordering(ordering.order, ordering.right, fitness, size)


def _margin_distance(votes: ClassVotes, stop: str, p: Fraction) -> Ordering:
    """Add the classifier that brings the sum of signatures over K nearest to p·1.

    See Martínez-Muñoz & Suárez (2004).

    The squared distance after adding h falls with Σ_i (pK − z_i) c_hi, where z is the sum of the members'
    signatures; fitness is minus the squared distance per sample.
    """
    n, n_classifiers = votes.n_samples, votes.n_classifiers
    products = common_counts([lambda rows: votes.codes[rows] == votes.labels[rows, None]], votes)
    right = np.diag(products).astype(np.int64)
    signs = 2 * right - n
    products *= 4  # c·c' = N − 2·(right + right' − 2·both), whole numbers far below 2^53
    products += n
    products -= 2 * right[:, None]
    products -= 2 * right[None, :]
    wanted, scale = p.numerator * n_classifiers, p.denominator
    scores = wanted * signs
    order = np.empty(n_classifiers, dtype=np.int64)
    left = everyone(votes)
    squares = along = 0
    distances = []
    for step in range(n_classifiers):
        pick = _kernels.best_left(scores, left, right)
        order[step] = pick
        squares += 2 * int(products[order[:step], pick].sum()) + n
        along += int(signs[pick])
        distances.append(n * wanted**2 - 2 * wanted * scale * along + scale**2 * squares)
        scores = scores - scale * products[pick].astype(np.int64)
        left[pick] = False
    ordering = best_prefix(votes, order)
    fitness = np.array([-distance / (n * (scale * n_classifiers) ** 2) for distance in distances])
    size = distances.index(min(distances)) + 1 if stop == "fitness" else ordering.size
    return Ordering(order, ordering.right, fitness, size)


def _drep(votes: ClassVotes, rho: Fraction) -> Ordering:
    """Add the most accurate of the ⌈ρ·|left|⌉ classifiers least like the members (Li et al. 2012).

    Members are added while errors decrease.

    The paper's diff of two classes is the mean product of a classifier's answers and the members' mean
    answer. It grows with the share of members that agree, which is defined for any number of classes and
    compared here.
    """
    alone = single_right(votes)
    order = [int(alone.argmax())]
    right = [n_right(votes, order)]
    left = everyone(votes)
    left[order[0]] = False
    similarity = np.zeros(votes.n_classifiers, dtype=np.int64)
    tally = no_votes(votes)
    rows = np.arange(len(votes.labels))
    gains = np.empty(votes.n_classifiers, dtype=np.int64)
    while left.any():
        similarity += similarity_to_member(votes, order[-1])
        _kernels.add_votes(votes.columns, rows, len(rows), order[-1], 1, tally)
        candidates = np.flatnonzero(left)
        n_diverse = -int(-rho * len(candidates) // 1)
        diverse = np.zeros_like(left)
        diverse[candidates[np.argsort(similarity[candidates], kind="stable")[:n_diverse]]] = True
        sure = _kernels.score_additions(_kernels.coded_rows(votes), tally, rows, len(rows), gains)
        pick = _kernels.best_left(gains, diverse, alone)
        if sure + gains[pick] <= right[-1]:
            break
        order.append(pick)
        right.append(int(sure + gains[pick]))
        left[pick] = False
    return Ordering(np.array(order), np.array(right), None, len(order))


def _kappa(votes: ClassVotes, _stop: str) -> Ordering:
    return best_prefix(votes, kappa_order(votes, int(single_right(votes).argmax())), vary_size=True)


def _kappa_pairs(votes: ClassVotes, _stop: str) -> Ordering:
    return best_prefix(votes, pairs_order(votes, single_right(votes)), vary_size=True)


def select_by_margins(votes: ClassVotes, *, criterion: str = "histogram") -> Ordering:
    """Order a pool by margins from its most accurate classifier on, and keep the prefix with fewest errors.

    Figure 1 of :cite:t:`Gagne2007` with L0 the classifier with fewest errors (Section 3.3). Of classifiers
    with the same votes only the first stays, so the order holds distinct classifiers. Of equal prefixes the
    smallest wins.

    >>> from shortlist.ensembles.votes.hard_votes import class_votes
    >>> votes = class_votes([[1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1]], [1, 1, 1, 0])
    >>> select_by_margins(votes).order.tolist()
    [1, 2, 0]
    """
    first = int(single_right(votes).argmax())
    distinct = distinct_classifiers(votes.codes)
    start = class_tally(votes.codes[:, [first]], votes.n_classes)
    order, right = grow_by_margins(votes, distinct[distinct != first], start, criterion=criterion)
    return Ordering(np.concatenate([[first], order]), right, None, int(right.argmax()) + 1)


RULES: dict[str, Callable[[ClassVotes, str], Ordering]] = {
    "full": lambda votes, _stop: keep_all(votes),
    "best-single": lambda votes, _stop: keep_best(votes),
    "random": lambda votes, _stop: order_classifiers(votes, "random"),
    "reduced-error": lambda votes, _stop: reduced_error(votes),
    "complementariness": _weighted(kernels.COMPLEMENTARINESS),
    "concurrency": _weighted(kernels.CONCURRENCY),
    "uwa": _weighted(kernels.UNCERTAINTY),
    "orientation": _orientation,
    "margin-distance": lambda votes, stop: order_classifiers(votes, "margin-distance", stop=stop),
    "drep": lambda votes, _stop: order_classifiers(votes, "drep"),
    "kappa": _kappa,
    "margin": lambda votes, _stop: select_by_margins(votes),
    "kappa-pairs": _kappa_pairs,
}
"""Rules by name.

``full`` and ``best-single`` order by accuracy. ``random`` is a seeded order. ``reduced-error``,
``complementariness`` (:cite:t:`MartinezMunoz2004`), ``concurrency`` (:cite:t:`Banfield2005`) and ``uwa``
(:cite:t:`Partalas2010`) are the hill climbers of Section 5.2 of :cite:t:`Bastos2022`. ``orientation`` is
:cite:t:`MartinezMunoz2006`, ``margin-distance`` :cite:t:`MartinezMunoz2004`, ``drep`` is :cite:t:`Li2012`,
``kappa-pairs`` :cite:t:`Margineantu1997`, ``margin`` :cite:t:`Gagne2007`; ``kappa`` adds the
classifier with the least mean κ to the members.
"""

RULES_WITH_FITNESS = (
    "reduced-error",
    "complementariness",
    "concurrency",
    "uwa",
    "orientation",
    "margin-distance",
)


def _blocks(votes: ClassVotes) -> list[slice]:
    """Return blocks of rows, small enough that intermediate arrays stay small beside the votes."""
    return [slice(start, start + 512) for start in range(0, len(votes.labels), 512)]


def _share(value: float, name: str) -> Fraction:
    share = as_fraction(value, only_numbers=True)
    if share is None or not 0 < share <= 1:
        raise BadInputError(name, "must be a number above 0 and at most 1", repr(value))
    return share.limit_denominator(10**6) or Fraction(1, 10**6)
