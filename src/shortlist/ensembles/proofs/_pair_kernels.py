"""Kernels of pair inequalities: which pairs of forms a fractional selection violates most."""

from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Floats, Longs, ShortTable

SignTable: TypeAlias = Annotated[NDArray[np.int8], 2]
"""−1, 0 or 1 for every form and classifier."""


class PairForms(NamedTuple):
    """Forms whose pairs are looked at, and the fractional point."""

    signs: SignTable
    """Of the classifiers that are partly members, ``(n_forms, n_used)``."""
    least: Longs
    """What the sum of signs and threshold must reach, ``(n_forms,)``."""
    row_of: Longs
    """The row of each form, ``(n_forms,)``."""
    right: Floats
    """How right the row of each form is, from 0 to 1, ``(n_forms,)``."""
    used: Floats
    """How much the classifiers are members, above 0, ``(n_used,)``."""


@kernel("float64(PairForms, int64, int64)")
def pair_violation(forms: PairForms, p: np.int64, q: np.int64) -> float:
    """Return by how much the most violated inequality of forms p and q is violated; 0 or less if none is.

    With τ = t_p + t_q − 1 and w the sum of the two forms, that is τ · least − Σ_{w>0} w min(x, τ) +
    Σ_{w<0} |w| max(0, x − 1 + τ).
    """
    together = forms.right[p] + forms.right[q] - 1.0
    if together <= 0.0:
        return 0.0
    violation = together * (forms.least[p] + forms.least[q])
    for k in range(forms.used.shape[0]):
        w = np.int64(forms.signs[p, k]) + np.int64(forms.signs[q, k])
        if w > 0:
            violation -= w * min(forms.used[k], together)
        elif w < 0:
            violation -= w * max(0.0, forms.used[k] - 1.0 + together)
    return float(violation)


@kernel("int64(PairForms, int64[::1], int64[::1], boolean, float64, int32[:, ::1], float64[::1])")
def list_violated(
    forms: PairForms,
    firsts: Longs,
    seconds: Longs,
    each_once: bool,
    least: float,
    pairs: ShortTable,
    violations: Floats,
) -> int:
    """Keep the pairs of `firsts` and `seconds` that are violated most, by more than `least`, as a heap.

    `each_once`: whether both are the same forms, so that only later seconds are looked at, of other rows.
    Return how many are kept, at most as many as there is room for; the least violated is at the top.
    """
    n, room = 0, len(violations)
    for i in range(len(firsts)):
        p = firsts[i]
        for j in range(i + 1 if each_once else 0, len(seconds)):
            q = seconds[j]
            if forms.row_of[p] == forms.row_of[q]:
                continue
            violation = pair_violation(forms, p, q)
            if violation <= least or (n == room and violation <= violations[0]):
                continue
            if n < room:
                place = n
                n += 1
                while place and violations[(place - 1) // 2] > violation:
                    above = (place - 1) // 2
                    violations[place] = violations[above]
                    pairs[place, 0], pairs[place, 1] = pairs[above, 0], pairs[above, 1]
                    place = above
            else:
                place = 0
                while True:
                    below = 2 * place + 1
                    if below >= room:
                        break
                    if below + 1 < room and violations[below + 1] < violations[below]:
                        below += 1
                    if violations[below] >= violation:
                        break
                    violations[place] = violations[below]
                    pairs[place, 0], pairs[place, 1] = pairs[below, 0], pairs[below, 1]
                    place = below
            violations[place] = violation
            pairs[place, 0] = p
            pairs[place, 1] = q
    return n
