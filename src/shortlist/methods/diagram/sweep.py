"""Bottom-up pass over a diagram with sets of non-dominated vectors, and its trace back down."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Points
from shortlist.methods.diagram._kernels import (
    BLOCK,
    Keys,
    Packing,
    find_rows,
    join_packed,
    join_rows,
    trim_packed,
    trim_rows,
)
from shortlist.methods.diagram.plan import PACKED_BITS, Coding, SweepPlan
from shortlist.runs import Progress
from shortlist.runs.budget import Budget

STAGES = 8
"""Number of stages in which the tolerance is used up: rare but larger trimming leaves fewer vectors."""


@dataclass(frozen=True)
class SweepSettings:
    """Limits on the memory and work of a pass.

    `max_bytes`: memory for sets of vectors. `packed_bits`: vectors with ranges of at most this many bits
    are packed into one integer. `worth_trimming`: joins of at most this many vectors are never trimmed for
    a tolerance. `few`: vectors per set after a limit, enough for a quick and rough front.
    """

    max_bytes: int = 4_000_000_000
    packed_bits: int = PACKED_BITS
    worth_trimming: int = 64
    few: int = 256


SWEEP_SETTINGS = SweepSettings()


class Pass:
    """Sets of vectors for every join of a plan, computed bottom-up within limits of memory and time.

    `errors`: bound on the loss by trimming, per place and objective: the most by which a dropped vector is
    better than the nearest kept vector. `limits`: names of the limits that were reached. `n_vectors`,
    `largest`: number of vectors in all sets together, and in the largest. `plan`: joins in their order.
    `coding`: encoding of vectors. `tolerance`: largest total error of trimming on any path through the plan,
    ``(n_objectives,)``. `keep`: whether :meth:`trace` will be called. Sets that no join needs any more are
    then kept while memory lasts. `settings`: limits on memory and work. `box`: least and largest vector worth
    keeping at each place, ``(n_places, n_objectives)``.
    """

    def __init__(
        self,
        plan: SweepPlan,
        coding: Coding,
        *,
        tolerance: NDArray[np.int64],
        keep: bool,
        settings: SweepSettings,
        budget: Budget,
        box: tuple[Points, Points] | None = None,
    ) -> None:
        self._plan, self._coding, self._tolerance = plan, coding, tolerance
        self._keep, self._settings, self._budget, self._box = keep, settings, budget, box
        self._sets: dict[int, Keys] = {0: np.zeros((1, coding.n_words), np.int64)}
        self._bytes = self._spare = 0  # in all sets, and in those that can be deleted and recomputed
        self._boundaries = [0]  # positions in plan.joins up to which finished sets were deleted
        self._allowed: dict[int, NDArray[np.int64]] = {}
        self._coarseness = 24
        self._hurried = False  # whether only a few vectors per set are kept from now on
        self._room = np.zeros((0, coding.n_words), np.int64)
        self._floors = np.zeros((0, coding.n_words), np.int64)
        self._stairs = np.zeros(coding.widths(0) if coding.packed else (1, 1), np.int32)
        self._exact = np.zeros(len(coding.order), np.int64)
        self.errors: dict[int, NDArray[np.int64]] = {}
        self.limits: dict[str, None] = {}
        self.n_vectors = self.largest = 0

    def run(self) -> None:
        """Compute the set of every join."""
        plan, budget = self._plan, self._budget
        sources = plan.sources
        uses = Counter(sources[plan.low[plan.joins]].tolist())
        uses.update(sources[plan.high[plan.joins]].tolist())
        uses[int(sources[plan.root])] += 1
        n_joins = len(plan.joins)
        every = max(1, n_joins // 500)
        for position, place in enumerate(plan.joins.tolist()):
            if position % every == 0:
                budget.report(Progress("joining sets of vectors", position, n_joins))
            if not self._hurried and budget.stopped:
                self._hurried = True
                self.limits[budget.limit_text] = None
            keys = self._made(place, self._tolerance * ((position + 1) * STAGES // n_joins) // STAGES)
            self._sets[place] = keys
            self._bytes += keys.nbytes
            self.n_vectors += len(keys)
            self.largest = max(self.largest, len(keys))
            for child in (int(sources[plan.low[place]]), int(sources[plan.high[place]])):
                uses[child] -= 1
                if not uses[child]:
                    self._release(child)
            if self._bytes > self._settings.max_bytes and self._spare and position + 1 < n_joins:
                self._throw_away(plan.joins[self._boundaries[-1] : position].tolist(), uses)
                self._boundaries.append(position + 1)
        budget.report(Progress("joining sets of vectors", n_joins, n_joins))

    def _release(self, place: int) -> None:
        if not self._keep:
            self._bytes -= self._sets.pop(place).nbytes
        elif place >= int(self._plan.joins[self._boundaries[-1]]):
            self._spare += self._sets[place].nbytes

    def _throw_away(self, places: list[int], uses: "Counter[int]") -> None:
        """Delete the sets of `places` that no join needs any more; :meth:`trace` recomputes them."""
        for place in places:
            if not uses[place]:
                del self._sets[place]
        self._bytes -= self._spare
        self._spare = 0

    @property
    def keys(self) -> Keys:
        """Keys of all vectors that the whole diagram can add up to."""
        root = self._plan.root
        keys: Keys = self._sets[int(self._plan.sources[root])] + self._plan.offsets[root]
        return keys

    @property
    def error(self) -> NDArray[np.int64]:
        """Bound on the loss of the whole front by trimming, per objective."""
        return self.errors.get(int(self._plan.sources[self._plan.root]), self._exact)

    def contains(self, place: int, keys: Keys) -> Mask:
        """Mark the `keys` that are in the set of `place`."""
        found = np.zeros(len(keys), dtype=bool)
        sought = np.ascontiguousarray(keys - self._plan.offsets[place])
        find_rows(self._sets[int(self._plan.sources[place])], sought, found)
        return found

    def trace(self, keys: Keys) -> Mask:
        """Return one path through the diagram for each of `keys`, all from the root's set.

        The mask, ``(n_keys, n_levels)``, is true on high sides.

        Deleted sets are recomputed with the same result, part by part from the top.
        """
        plan = self._plan
        bits = np.zeros((len(keys), len(plan.low_shifts)), dtype=bool)
        rests = keys.copy()
        waiting: dict[int, list[NDArray[np.int64]]] = {plan.root: [np.arange(len(keys))]}
        bounds = [*self._boundaries, len(plan.joins)]
        first_places = [
            int(plan.joins[bound]) if bound < len(plan.joins) else plan.root + 1 for bound in bounds
        ]
        part = len(bounds) - 1
        for place in range(plan.root, 0, -1):
            while part > 1 and place < first_places[part - 1]:
                part -= 1
                self._remake(bounds[part - 1], bounds[part])
            here = waiting.pop(place, None)
            if here is None:
                continue
            if place % 256 == 0:
                self._budget.report(Progress("finding configurations", plan.root - place, plan.root))
            rows = np.concatenate(here)
            low, high, level = int(plan.low[place]), int(plan.high[place]), int(plan.levels[place])
            if plan.sources[place] == place:
                is_low = self.contains(low, rests[rows] - plan.low_shifts[level])
            else:
                is_low = np.full(len(rows), low >= 0)
            for child, chosen, shift in (
                (low, rows[is_low], plan.low_shifts[level]),
                (high, rows[~is_low], plan.high_shifts[level]),
            ):
                if len(chosen):
                    rests[chosen] -= shift
                    waiting.setdefault(child, []).append(chosen)
            bits[rows[~is_low], level] = True
        self._budget.report(Progress("finding configurations", plan.root, plan.root))
        return bits

    def _remake(self, first: int, stop: int) -> None:
        """Recompute the sets of joins `first` to `stop` - 1, and delete the sets from `stop` on."""
        for place in self._plan.joins[stop:].tolist():
            self._sets.pop(place, None)
        for place in self._plan.joins[first:stop].tolist():
            if place not in self._sets:
                self._sets[place] = self._joined(place, self._allowed.get(place, self._exact))

    def _made(self, place: int, most_error: NDArray[np.int64]) -> Keys:
        plan = self._plan
        inherited = np.maximum(
            self.errors.get(int(plan.sources[plan.low[place]]), self._exact),
            self.errors.get(int(plan.sources[plan.high[place]]), self._exact),
        )
        n_joined = sum(
            len(self._sets[int(plan.sources[child])]) for child in (plan.low[place], plan.high[place])
        )
        allowed = (
            np.maximum(most_error - inherited, 0) if n_joined > self._settings.worth_trimming else self._exact
        )
        keys = self._joined(place, allowed)
        most = self._most()
        if len(keys) > most:
            if not self._hurried:
                self.limits[f"{self._settings.max_bytes / 1e9:g} GB for sets of vectors"] = None
            ranges = self._coding.ranges[int(plan.levels[place])]
            self._coarseness = min(self._coarseness + 2, 62)
            while len(keys) > most and self._coarseness >= 0:
                allowed = np.maximum(allowed, ranges >> self._coarseness)
                keys = self._joined(place, allowed)
                self._coarseness -= 1
        if allowed.any():
            self._allowed[place] = allowed
        if allowed.any() or inherited.any():
            self.errors[place] = inherited + allowed
        return keys

    def _most(self) -> int:
        """Largest number of vectors for the next set."""
        if self._hurried:
            return self._settings.few
        free = self._settings.max_bytes - (self._bytes - self._spare)
        return max(free // (8 * self._coding.n_words), self._settings.few)

    def _joined(self, place: int, allowed: NDArray[np.int64]) -> Keys:
        """Return the non-dominated union of the two sets below `place`, in the box, trimmed by `allowed`."""
        plan, coding = self._plan, self._coding
        low, high, level = int(plan.low[place]), int(plan.high[place]), int(plan.levels[place])
        left, right = self._sets[int(plan.sources[low])], self._sets[int(plan.sources[high])]
        left_shift = plan.offsets[low] + plan.low_shifts[level]
        right_shift = plan.offsets[high] + plan.high_shifts[level]
        most = len(left) + len(right)
        if most > len(self._room):
            self._room = np.zeros((most + most // 2, coding.n_words), np.int64)
            if not coding.packed:
                self._floors = np.zeros((len(self._room) // BLOCK + 1, coding.n_words), np.int64)
        slack = coding.slack(allowed)
        if coding.packed:
            room = self._room.ravel()
            packing = Packing(self._stairs, *coding.widths(level), coding.places, coding.masks)
            n = join_packed(
                left.ravel(), int(left_shift[0]), right.ravel(), int(right_shift[0]), room, packing
            )
            if allowed.any():
                n = trim_packed(room, n, packing, slack)
        else:
            n = join_rows(left, left_shift, right, right_shift, self._room, self._floors, self._exact)
            if allowed.any():
                n = trim_rows(self._room, n, self._floors, slack)
        keys = self._room[:n]
        if self._box is not None:
            vectors = coding.decode(keys)
            inside = (vectors >= self._box[0][place]) & (vectors <= self._box[1][place])
            keys = keys[inside.all(axis=1)]
        return keys.copy()
