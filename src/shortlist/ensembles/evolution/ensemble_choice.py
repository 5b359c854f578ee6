"""Which individuals become members, after a generation and at the end: by margins, or by exact pruning."""

from dataclasses import dataclass

from shortlist.ensembles.evolution.evolution_settings import EvolutionSettings
from shortlist.ensembles.evolution.reference_rows import ExactStep, GrownEnsemble, ReferenceRows
from shortlist.ensembles.evolution.spaces import Population
from shortlist.ensembles.votes.class_votes import ClassCodes
from shortlist.runs.budget import Budget


def room_for_members(max_members: int | None, number: int, n_generations: int) -> int | None:
    """Return how many members an online ensemble may have after a generation, None for any number.

    The room grows in step with the generations, from 1 to `max_members` in the last one. Room that the
    selection does not take stays for later generations.

    Examples
    --------
    >>> [room_for_members(10, number, 4) for number in (1, 2, 3, 4)], room_for_members(None, 2, 4)
    ([2, 5, 7, 10], None)
    """
    return None if max_members is None else max(1, max_members * number // n_generations)


@dataclass(frozen=True, eq=False)
class EnsembleChoice:
    """How the ensemble of an evolution is chosen.

    Attributes
    ----------
    rows : ReferenceRows
        The training rows.
    settings : EvolutionSettings
        The mode, the selection, and the most members.
    budget : Budget
        Of the evolution; an exact step has its own time limit, and ends when the evolution is cancelled.
    """

    rows: ReferenceRows
    settings: EvolutionSettings
    budget: Budget

    def after(
        self, number: int, ensemble: GrownEnsemble, population: Population, codes: ClassCodes
    ) -> GrownEnsemble:
        """Return the ensemble after a generation, from 2 on."""
        settings = self.settings
        if settings.mode != "online":
            return self.rows.single_best(population, codes)
        room = room_for_members(settings.max_members, number, settings.n_generations)
        if settings.selection == "exact" and number % settings.exact_every == 0:
            return self._better(ensemble, population, codes, room)[0]
        return self.rows.grown(ensemble, population, codes, room)

    def at_end(
        self, ensemble: GrownEnsemble, population: Population, codes: ClassCodes
    ) -> tuple[GrownEnsemble, ExactStep | None]:
        """Return the ensemble when evolution has ended, and with exact selection what that step proved."""
        settings = self.settings
        if settings.mode == "single":
            return ensemble, None
        if settings.selection == "exact" and not self.budget.cancellation.cancelled:
            return self._better(ensemble, population, codes, settings.max_members)
        if settings.mode == "offline":
            ensemble = self.rows.grown(ensemble, population, codes, settings.max_members)
        return ensemble, None

    def _better(
        self, ensemble: GrownEnsemble, population: Population, codes: ClassCodes, most: int | None
    ) -> tuple[GrownEnsemble, ExactStep]:
        """Return the better of what exact pruning and margins choose, of equals the smaller, and the proof.

        A limit may end exact pruning before it has found what the margins find.
        """
        settings, rows = self.settings, self.rows
        limit = Budget(
            settings.exact_time_limit_s, seed=self.budget.seed, cancellation=self.budget.cancellation
        )
        started = None if settings.mode == "offline" else ensemble  # offline it is one of the population
        exact, step = rows.chosen(started, population, codes, most, limit)
        both = (exact, rows.grown(ensemble, population, codes, most))
        return min(both, key=lambda one: (rows.error(one), len(one))), step
