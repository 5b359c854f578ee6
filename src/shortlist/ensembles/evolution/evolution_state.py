"""Where evolution is after a generation, as a study keeps it."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.ensembles.evolution.evolution_settings import EvolutionSettings
from shortlist.ensembles.evolution.reference_rows import GrownEnsemble, ReferenceRows
from shortlist.ensembles.evolution.spaces import Population
from shortlist.ensembles.votes.class_votes import ClassCodes
from shortlist.errors import BadInputError
from shortlist.runs import Study
from shortlist.runs.studies.checkpoints import Checkpoint, KeptState, random_facts
from shortlist.runs.studies.settings import digest_of_arrays

DIGEST_BYTES = 16
"""Size of the digests by which members with the same votes are known."""


def evolution_checkpoint(
    study: Study, rows: ReferenceRows, settings: EvolutionSettings, rng: np.random.Generator
) -> Checkpoint:
    """Bind a study to what decides the ensemble, and return where the state is kept.

    Raises
    ------
    BadInputError
        If the study belongs to something else.
    """
    if study.keeps:
        space = rows.space
        study.bind(
            {
                "the rows": digest_of_arrays([np.asarray(rows.X), rows.labels]),
                "n_classes": rows.n_classes,
                "space": repr(space) if dataclasses.is_dataclass(space) else type(space).__qualname__,
                **dataclasses.asdict(settings),
                "the random state": random_facts(rng),
            }
        )
    return Checkpoint("evolution", study)


def evolution_state(
    population: Population,
    codes: ClassCodes,
    ensemble: GrownEnsemble,
    history: Sequence[Sequence[float]],
    rng: np.random.Generator,
) -> KeptState:
    """Return the state after the last generation of the history.

    What the individuals answer is kept, because to ask them in another grouping may round otherwise.

    Raises
    ------
    BadInputError
        If individuals are Python objects, which only a pickle could hold.
    """
    if population.dtype.hasobject:
        raise BadInputError(
            "a study keeps individuals of numbers, truth values or text, got Python objects from the space. "
            "Leave the study out."
        )
    known = np.frombuffer(b"".join(sorted(ensemble.known)), dtype=np.uint8)
    arrays = {
        "population": population,
        "codes": codes,
        "members": ensemble.genomes,
        "tally": ensemble.tally,
        "known": known,
    }
    return KeptState(arrays, {"history": history, "random": random_facts(rng)})


def opened_evolution(
    state: KeptState, rng: np.random.Generator
) -> tuple[Population, ClassCodes, GrownEnsemble, list[list[Any]]]:
    """Undo :func:`evolution_state`: return its first four arguments, and set the generator."""
    arrays = state.arrays
    known = arrays["known"].tobytes()
    digests = [known[place : place + DIGEST_BYTES] for place in range(0, len(known), DIGEST_BYTES)]
    ensemble = GrownEnsemble(arrays["members"], arrays["tally"], frozenset(digests))
    rng.bit_generator.state = state.facts["random"]
    return arrays["population"], arrays["codes"], ensemble, state.facts["history"]
