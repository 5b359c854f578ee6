"""The same in plain loops of whole numbers."""

from fractions import Fraction
from math import comb


def tail_by_counting(n: int, wrong: int, share: Fraction) -> Fraction:
    """Probability that at most `wrong` of `n` answers are wrong, where each is so with probability `share`."""
    return sum((comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(wrong + 1)), Fraction(0))


def last_passed(
    answered: list[int], right: list[int], *, first: int, accuracy: Fraction, error: Fraction
) -> int | None:
    """The index of the last threshold before the first that does not pass."""
    passed = None
    for place in range(first, len(answered)):
        wrong = answered[place] - right[place]
        if not answered[place] or tail_by_counting(answered[place], wrong, 1 - accuracy) > error:
            return passed
        passed = place
    return passed
