"""Slow and plain: every pruning rule written from its formula, on lists.

Samples are (votes, true class); nothing is merged. Ties of a vote go to the lowest class.
"""

import itertools
from collections.abc import Mapping
from fractions import Fraction

Sample = tuple[tuple[int, ...], int]
Samples = list[Sample]


def decisions(samples: Samples, members: list[int], n_classes: int) -> list[int]:
    """The class with most votes, the lowest of equals; -1 where none of the members votes.

    No members at all decide for the first class where no classifier abstains.
    """
    all_vote = all(vote < n_classes for votes, _ in samples for vote in votes)
    decided = []
    for votes, _ in samples:
        heard = [votes[k] for k in members if votes[k] < n_classes]
        first = max(range(n_classes), key=lambda c: (heard.count(c), -c))
        decided.append(first if heard or all_vote else -1)
    return decided


def right(samples: Samples, members: list[int], n_classes: int) -> list[bool]:
    decided = decisions(samples, members, n_classes)
    return [said == label for said, (_, label) in zip(decided, samples, strict=True)]


def n_right(samples: Samples, members: list[int], n_classes: int) -> int:
    return sum(right(samples, members, n_classes))


def first_best(scores: Mapping[int, Fraction | int]) -> int:
    """The first key with the largest score."""
    return max(sorted(scores), key=lambda k: scores[k])


def best_candidate(scores: Mapping[int, Fraction | int], samples: Samples) -> int:
    """The largest score; of equals the one that is right most often alone; of these the first."""
    alone = right_alone(samples, len(samples[0][0]))
    return max(sorted(scores), key=lambda h: (scores[h], alone[h]))


def right_alone(samples: Samples, k: int) -> dict[int, int]:
    """Number of rows for which each answers the true class; who abstains does not."""
    return {h: sum(votes[h] == label for votes, label in samples) for h in range(k)}


def score(rule: str, samples: Samples, members: list[int], h: int, n_classes: int) -> Fraction:
    """The fitness of adding h to the members, by the formulas of the 2022 paper's sources."""
    if rule == "reduced-error":
        return Fraction(n_right(samples, [*members, h], n_classes), len(samples))
    total = Fraction(0)
    for (votes, label), s_right in zip(samples, right(samples, members, n_classes), strict=True):
        h_right = votes[h] == label
        e_tf, e_ft = h_right and not s_right, s_right and not h_right
        e_tt, e_ff = h_right and s_right, not h_right and not s_right
        nt = Fraction(sum(votes[k] == label for k in members), len(members))
        nf = 1 - nt
        if rule == "complementariness":
            total += e_tf
        elif rule == "concurrency":
            total += 2 * e_tf + e_tt - 2 * e_ff
        else:
            total += nt * e_tf - nf * e_ft + nf * e_tt - nt * e_ff
    return total


def hill_climb(rule: str, samples: Samples, k: int, n_classes: int) -> tuple[list[int], list[Fraction]]:
    """The order, and the fitness of each step after the first."""
    alone = {h: n_right(samples, [h], n_classes) for h in range(k)}
    order = [
        best_candidate(alone, samples) if rule == "reduced-error" else first_best(right_alone(samples, k))
    ]
    fitness: list[Fraction] = []
    while len(order) < k:
        scores = {h: score(rule, samples, order, h, n_classes) for h in range(k) if h not in order}
        best = best_candidate(scores, samples)
        fitness.append(scores[best])
        order.append(best)
    return order, fitness


def signature(samples: Samples, h: int) -> list[int]:
    return [1 if votes[h] == label else -1 for votes, label in samples]


def orientation(samples: Samples, k: int) -> tuple[list[int], int]:
    """Order by the product with the diagonal's projection, and the number of acute angles."""
    signatures = [signature(samples, h) for h in range(k)]
    mean = [Fraction(sum(column), k) for column in zip(*signatures, strict=True)]
    square = sum((m * m for m in mean), Fraction(0))
    scale = sum(mean, Fraction(0)) / square if square else Fraction(0)
    reference = [1 - scale * m for m in mean]
    products = [sum(r * s for r, s in zip(reference, each, strict=True)) for each in signatures]
    return sorted(range(k), key=lambda h: (-products[h], h)), sum(product > 0 for product in products)


def margin_distance(samples: Samples, k: int, p: Fraction) -> tuple[list[int], list[Fraction]]:
    """The order, and the squared distance of every prefix."""
    signatures = [signature(samples, h) for h in range(k)]
    order: list[int] = []
    distances = []
    while len(order) < k:
        scores = {}
        for h in range(k):
            if h not in order:
                sums = [
                    Fraction(sum(column), k)
                    for column in zip(*(signatures[m] for m in [*order, h]), strict=True)
                ]
                scores[h] = -sum(((p - s) ** 2 for s in sums), Fraction(0))
        order.append(best_candidate(scores, samples))
        distances.append(-scores[order[-1]])
    return order, distances


def drep(samples: Samples, k: int, rho: Fraction, n_classes: int) -> list[int]:
    """Members; for two classes `diff` is the mean product of answers in {-1, 1}, as in the paper."""
    members = [first_best(right_alone(samples, k))]
    while len(members) < k:
        left = [h for h in range(k) if h not in members]
        diff = {
            h: sum((1 if votes[h] == votes[m] else -1) for votes, _ in samples for m in members) for h in left
        }
        size = -(-rho.numerator * len(left) // rho.denominator)
        diverse = sorted(left, key=lambda h: (diff[h], h))[:size]
        best = best_candidate({h: n_right(samples, [*members, h], n_classes) for h in diverse}, samples)
        if n_right(samples, [*members, best], n_classes) <= n_right(samples, members, n_classes):
            break
        members.append(best)
    return members


def kappa(samples: Samples, h: int, g: int, n_classes: int) -> Fraction:
    """κ from the table of counts C."""
    m = len(samples)
    n_classes += 1  # to abstain is an answer too
    table = [[0] * n_classes for _ in range(n_classes)]
    for votes, _ in samples:
        table[votes[h]][votes[g]] += 1
    theta1 = Fraction(sum(table[u][u] for u in range(n_classes)), m)
    theta2 = sum(
        (Fraction(sum(table[u]), m) * Fraction(sum(row[u] for row in table), m) for u in range(n_classes)),
        Fraction(0),
    )
    return Fraction(1) if theta2 == 1 else (theta1 - theta2) / (1 - theta2)


def kappa_greedy(samples: Samples, k: int, n_classes: int) -> list[int]:
    order = [first_best(right_alone(samples, k))]
    while len(order) < k:
        order.append(
            first_best(
                {h: -sum(kappa(samples, h, m, n_classes) for m in order) for h in range(k) if h not in order}
            )
        )
    return order


def kappa_pairs(samples: Samples, k: int, n_classes: int) -> list[int]:
    alone = right_alone(samples, k)
    order: list[int] = []
    pairs = sorted(
        itertools.combinations(range(k), 2),
        key=lambda pair: (kappa(samples, pair[0], pair[1], n_classes), pair),
    )
    for pair in pairs:
        for h in sorted(pair, key=lambda h: (-alone[h], h)):
            if h not in order:
                order.append(h)
    return order or [0]


def backfitting(samples: Samples, k: int, most: int, n_classes: int) -> list[list[int]]:
    """The members after every size up to `most`."""

    def value(members: list[int]) -> int:
        return n_right(samples, members, n_classes)

    members: list[int] = []
    by_size = []
    while len(members) < most:
        members.append(
            best_candidate({h: value([*members, h]) for h in range(k) if h not in members}, samples)
        )
        place = 0
        while place < len(members):
            replaced = {
                h: value([*members[:place], h, *members[place + 1 :]]) for h in range(k) if h not in members
            }
            if replaced and max(replaced.values()) > value(members):
                members[place] = best_candidate(replaced, samples)
                place = 0
            else:
                place += 1
        by_size.append(list(members))
    return by_size


def margins(samples: Samples, members: list[int], n_classes: int) -> list[int]:
    """Eqs. 3 and 4."""
    result = []
    for votes, label in samples:
        heard = [votes[k] for k in members]
        rival = max(heard.count(c) for c in range(n_classes) if c != label)
        result.append(heard.count(label) - rival)
    return result


def histogram_better(first: list[int], second: list[int]) -> bool:
    """Eq. 5: whether `first` is the better ensemble's margins."""
    for m in range(min(first + second), max(first + second) + 1):
        if first.count(m) != second.count(m):
            return first.count(m) < second.count(m)
    return False


def margin_order(
    samples: Samples, candidates: list[int], start: list[int], n_classes: int, *, by_histogram: bool = True
) -> list[int]:
    """Figure 1, step 2."""
    order: list[int] = []
    while len(order) < len(candidates):
        best, best_margins = -1, [0]
        for h in candidates:
            if h in order:
                continue
            now = margins(samples, [*start, *order, h], n_classes)
            better = histogram_better(now, best_margins) if by_histogram else min(now) > min(best_margins)
            if best < 0 or better:
                best, best_margins = h, now
        order.append(best)
    return order
