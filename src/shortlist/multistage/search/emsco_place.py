"""Where EMSCO is after a generation, as a study keeps it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.runs.studies.checkpoints import KeptState, random_facts


@dataclass(frozen=True, eq=False)
class EmscoPlace:
    """All that the next generation follows from, but for the random numbers.

    Attributes
    ----------
    number : int
        Of the generation.
    assignments : ndarray of int8, shape (population, n_features)
        Its assignments.
    seen : set of bytes
        The assignments that were measured so far, as rows of bytes; empty where repeats are allowed.
    evaluations : int
        How many were measured.
    unchanged : int
        For how many generations the fittest has been the same.
    """

    number: int
    assignments: NDArray[np.int8]
    seen: set[bytes]
    evaluations: int
    unchanged: int = 0


def kept_place(place: EmscoPlace, rng: np.random.Generator) -> KeptState:
    """Return what a study keeps."""
    seen = np.frombuffer(b"".join(sorted(place.seen)), dtype=np.int8)
    facts = {"number": place.number, "evaluations": place.evaluations, "unchanged": place.unchanged}
    arrays = {"assignments": place.assignments, "seen": seen}
    return KeptState(arrays, {**facts, "random": random_facts(rng)})


def opened_place(state: KeptState, rng: np.random.Generator) -> EmscoPlace:
    """Undo :func:`kept_place`, and set the generator."""
    facts, assignments = state.facts, state.arrays["assignments"]
    rows = state.arrays["seen"].reshape(-1, assignments.shape[1])
    rng.bit_generator.state = facts["random"]
    return EmscoPlace(
        facts["number"],
        assignments,
        {row.tobytes() for row in rows},
        facts["evaluations"],
        facts["unchanged"],
    )
