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
"""Description of each algorithm, by its name."""

CRITERIA = ("histogram", "minimum")
"""Names of the comparisons that selection may use."""

BRED = Needs("evolution of more than one generation", lambda given: given["n_generations"] != 1)

CHILDREN = Needs("`survivors='children'`", lambda given: given["survivors"] != "best")

ENSEMBLE = Of("offline", "online")


def as_space(value: Any, argument: str) -> Any:
    """Return the name of a search space, checked.

    A factory is returned unchanged; :func:`~shortlist.ensembles.evolution.spaces.open_space` checks it.
    """
    from shortlist.ensembles.evolution.spaces import SPACES  # late, as help of the command needs no spaces

    return as_choice(value, argument, list(SPACES)) if isinstance(value, str) else value


@dataclass(kw_only=True, eq=False)
class EvolutionSettings:
    """Settings of :func:`shortlist.ensembles.evolution.evolution.evolve`, and fields of the estimator.

    The annotation of a field has its type, help text, typed name, condition of use and check.
    """

    mode: Annotated[str, one_of(*MODES)] = field(default="offline", kw_only=False)
    """Name of the algorithm, a key of :data:`MODES`."""
    space: Annotated[
        str | Callable[[int, int], Any],
        "Search space: linear, networks, rules or genetic-programs.",
        as_space,
    ] = "linear"
    """Name of a space, or a factory of a space, opened by
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
    """Rule of survival: children and elites, or the best of parents and children. The best are compared by
    weights against the same reference set, which in ``offline`` consists of all parents and children.
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
    """Name in :data:`CRITERIA`, see :func:`shortlist.ensembles.evolution.training_rows.grow_by_margins`."""
    max_members: Annotated[
        int | None, "Most members of the ensemble; by default there is no limit.", ENSEMBLE, count()
    ] = None
    """Largest number of members. Of the order of selection, the best prefix up to this length is taken.
    ``online`` divides the number among the generations
    (:func:`shortlist.ensembles.evolution.evolution.room_for_members`), so that the last generations may still
    add members.
    """
    smoothing: Annotated[
        int,
        "Added to the number of members that are wrong on a row. With 0, as in the paper, an ensemble often "
        "keeps a single member.",
        Of("online"),
        BRED,
        count(at_least=0, at_most=1000),
    ] = 1
    """Number added to the count of members that are wrong on a row. With 0 only the rows that an ensemble of
    one member gets wrong have a weight. The population may then lose all individuals that could join, so that
    the ensemble stays one member.
    """

    error_costs: Mapping[Any, int] | tuple[int, ...] | None = None
    """Cost of a wrong answer: by label in the estimator, by class in :func:`evolve`, ``(n_classes,)``. The
    cost is the weight of a row, and the errors of generations and of the ensemble are mean costs per row.
    None: errors are counted.
    """

    def with_costs(self, error_costs: tuple[int, ...] | None) -> "EvolutionSettings":
        """Return plain settings with these costs by class, without the fields of a subclass."""
        own = {one.name: getattr(self, one.name) for one in fields(EvolutionSettings)}
        return EvolutionSettings(**own | {"error_costs": error_costs})

    def check(self) -> None:
        """Raise BadInputError for the first bad value."""
        check_fields(self)
        as_count(self.n_elites, "n_elites", at_least=0, at_most=self.population_size)
