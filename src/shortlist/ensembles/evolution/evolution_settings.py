"""What evolution does, one sentence for each setting."""

from dataclasses import dataclass

import numpy as np

from shortlist._validation import as_choice, as_count, as_positive_seconds
from shortlist.ensembles.rules.margin_selection import CRITERIA
from shortlist.errors import BadInputError

MODES = {
    "offline": "Off-EEL: the population is the reference, the ensemble is chosen at the end",
    "online": "On-EEL: the ensemble is the reference, and grows every generation",
    "single": "a plain genetic algorithm: accuracy is the fitness, the best classifier is the answer",
}
"""The algorithms by name."""

SURVIVORS = ("children", "best")

SELECTIONS = ("margins", "exact")
"""How the ensemble is chosen: by margin histograms, as the paper does, or by exact pruning."""


@dataclass(frozen=True, kw_only=True)
class EvolutionSettings:
    """What :func:`shortlist.ensembles.evolution.evolution.evolve` does.

    Raises BadInputError if one is out of range; the sentence names the first.
    """

    mode: str = "offline"
    """See :data:`MODES`. One of ``"offline"``, ``"online"``, ``"single"``."""
    population_size: int = 500
    """Individuals of a generation."""
    n_generations: int = 200
    """Generations in all; the first one is random."""
    gamma: float = 1.0
    """γ of the fitness, at least 0."""
    tournament: int = 2
    """Individuals that compete for being a parent, from 1 to 1,000."""
    crossover_rate: float = 0.9
    """Share of the children with two parents."""
    survivors: str = "children"
    """Children replace all but the `n_elites` fittest parents; or the fittest of parents and children
    together survive, weighed by the same reference set, which in ``offline`` is then all of them. One of
    ``"children"``, ``"best"``.
    """
    n_elites: int = 1
    """Parents that live on with ``survivors="children"``, from 0 to `population_size`."""
    patience: int | None = None
    """Stop after this many generations in which ``ensemble_error`` did not fall; default never."""
    criterion: str = "histogram"
    """Of the selection; see :func:`shortlist.ensembles.rules.margin_selection.grow_by_margins`. One of
    ``"histogram"``, ``"minimum"``.
    """
    max_members: int | None = None
    """Most members of the ensemble, at least 1; default as many as the selection takes, in ``online`` often
    thousands. Among the prefixes of the selection's order that are short enough, the best is taken.
    ``online`` shares the room out over the generations
    (:func:`shortlist.ensembles.evolution.evolution.room_for_members`), so that the last ones, which are bred
    best, still have some. ``online`` with ``selection="exact"`` needs it.
    """
    selection: str = "margins"
    """``margins`` is the paper's greedy order. ``exact`` chooses the members whose plurality is right on most
    training rows, by exact pruning with a bound: in ``offline`` from the last population; in ``online`` from
    the members so far and the population, every `exact_every` generations and at the end, by margins in
    between. Members may leave then. What margins choose is taken where it is better, as a limit may end exact
    pruning before it has found that. One of ``"margins"``, ``"exact"``.
    """
    exact_every: int = 10
    """Generations from one exact step to the next in ``online``."""
    exact_time_limit_s: float = 10.0
    """Wall-clock limit of an exact step; where it ends one, the answer depends on the machine."""

    def __post_init__(self) -> None:
        as_choice(self.mode, "mode", list(MODES))
        as_choice(self.survivors, "survivors", SURVIVORS)
        as_choice(self.criterion, "criterion", CRITERIA)
        size = as_count(self.population_size, "population_size")
        as_count(self.n_generations, "n_generations")
        as_count(self.tournament, "tournament", at_most=1000)
        as_count(self.n_elites, "n_elites", at_least=0, at_most=size)
        as_choice(self.selection, "selection", SELECTIONS)
        as_count(self.exact_every, "exact_every")
        as_positive_seconds(self.exact_time_limit_s, "exact_time_limit_s")
        if self.selection == "exact" and self.mode == "online" and self.max_members is None:
            raise BadInputError(
                "`max_members` must be given where an online ensemble is chosen exactly: every exact "
                "step chooses among all members so far. Pass `max_members=100`, or "
                "`selection='margins'`."
            )
        if self.patience is not None:
            as_count(self.patience, "patience")
        if self.max_members is not None:
            as_count(self.max_members, "max_members")
        if not (_is_number(self.gamma) and 0 <= self.gamma < np.inf):
            raise BadInputError("gamma", "must be a number of at least 0", repr(self.gamma))
        if not (_is_number(self.crossover_rate) and 0 <= self.crossover_rate <= 1):
            raise BadInputError("crossover_rate", "must be between 0 and 1", repr(self.crossover_rate))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
