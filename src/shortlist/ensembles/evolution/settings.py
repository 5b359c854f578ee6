"""Options of evolution: one list for the estimator, :func:`evolve` and the command."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from shortlist._options import Needs, Of, at_least_0, check_fields, count, one_of, share
from shortlist._validation import as_choice, as_count

MODES = {
    "offline": "Off-EEL: the population is the reference, the ensemble is chosen at the end",
    "online": "On-EEL: the ensemble is the reference, and grows every generation",
    "single": "a plain genetic algorithm: accuracy is the fitness, the best classifier is the answer",
}
"""The algorithms by name."""

CRITERIA = ("histogram", "minimum")
"""Comparisons of selection by name."""

BRED = Needs("evolution of more than one generation", lambda given: given["n_generations"] != 1)

CHILDREN = Needs("`survivors='children'`", lambda given: given["survivors"] != "best")

ENSEMBLE = Of("offline", "online")


def as_space(value: Any, argument: str) -> Any:
    """Return the name of a search space if there is one; a factory is tried when it is opened."""
    from shortlist.ensembles.evolution.spaces import SPACES  # late, as help of the command needs no spaces

    return as_choice(value, argument, list(SPACES)) if isinstance(value, str) else value


@dataclass(kw_only=True, eq=False)
class EvolutionSettings:
    """Settings of :func:`shortlist.ensembles.evolution.evolution.evolve`, and fields of the estimator.

    A field has its help, the name to type, its use and its check beside its type.
    """

    mode: Annotated[str, one_of(*MODES)] = field(default="offline", kw_only=False)
    """See :data:`MODES`."""
    space: Annotated[
        str | Callable[[int, int], Any],
        "Search space: linear, networks, rules or genetic-programs.",
        as_space,
    ] = "linear"
    """Name or factory, which the estimator opens; see
    :func:`shortlist.ensembles.evolution.spaces.open_space`.
    """
    n_generations: Annotated[int, "Most generations, of which the first is random.", count()] = 200
    population_size: Annotated[int, "Individuals of a generation.", "population", count()] = 500
    tournament: Annotated[int, "Individuals that compete to be a parent.", BRED, count(at_most=1000)] = 2
    crossover_rate: Annotated[float, "Share of the children with two parents.", "crossover", BRED, share] = (
        0.9
    )
    survivors: Annotated[
        str,
        "Who stays: children and elites, or the best of parents and children (best).",
        BRED,
        one_of("children", "best"),
    ] = "children"
    """The best of parents and children are weighed by the same reference set, which in ``offline`` is then
    all of them.
    """
    n_elites: Annotated[int, "Number of fittest parents kept with survivors=children.", CHILDREN, BRED] = 1
    patience: Annotated[
        int | None, "Stop after this many generations without a lower error.", BRED, count()
    ] = None
    gamma: Annotated[
        float,
        "Exponent of the hardness of rows. With 0 all rows count the same.",
        ENSEMBLE,
        BRED,
        at_least_0,
    ] = 1.0
    criterion: Annotated[
        str,
        "What selection compares: margin histograms (histogram), or least margins (minimum).",
        ENSEMBLE,
        one_of(*CRITERIA),
    ] = "histogram"
    """See :func:`shortlist.ensembles.evolution.training_rows.grow_by_margins`."""
    max_members: Annotated[
        int | None, "Most members of the ensemble; by default there is no limit.", ENSEMBLE, count()
    ] = None
    """Among the prefixes of the selection's order that are short enough, the best is taken. ``online`` shares
    the room out over the generations (:func:`shortlist.ensembles.evolution.evolution.room_for_members`), so
    that the last ones, which are bred best, still have some.
    """
    smoothing: Annotated[
        int,
        "Added to the number of members that are wrong on a row. With 0, as in the paper, an ensemble often "
        "keeps a single member.",
        Of("online"),
        BRED,
        count(at_least=0, at_most=1000),
    ] = 1
    """With 0 only the rows that an ensemble of one member gets wrong count, so that the population may lose
    whatever could join it, and the reference set never changes again.
    """

    error_costs: Mapping[Any, int] | tuple[int, ...] | None = None
    """Cost of a wrong answer, of the estimator by label, of :func:`evolve` by class, ``(n_classes,)``: a row
    counts as often as that. Errors of generations and of the ensemble are then mean costs of a row. None:
    errors are counted.
    """

    def with_costs(self, error_costs: tuple[int, ...] | None) -> "EvolutionSettings":
        """Return the settings alone, without what a subclass adds, with these costs by class."""
        own = {one.name: getattr(self, one.name) for one in fields(EvolutionSettings)}
        return EvolutionSettings(**own | {"error_costs": error_costs})

    def check(self) -> None:
        """Refuse bad values.

        Raises BadInputError for the first.
        """
        check_fields(self)
        as_count(self.n_elites, "n_elites", at_least=0, at_most=self.population_size)
