"""What `shortlist evolve` breeds, and how: the options of each method are the fields of its dataclass."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from shortlist._validation import as_choice, as_options
from shortlist.errors import BadInputError

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier


@dataclass(frozen=True)
class SingleEvolution:
    """A plain genetic algorithm; None leaves an option as the estimator has it."""

    space: Annotated[str, "What evolves: linear, networks, rules or genetic-programs."] = "linear"
    n_generations: Annotated[int, "Most generations, of which the first is random."] = 200
    population_size: Annotated[int, "Individuals of a generation.", "population"] = 500
    tournament: Annotated[int | None, "Individuals that compete for being a parent; default 2."] = None
    crossover_rate: Annotated[
        float | None, "Share of the children with two parents; default 0.9.", "crossover"
    ] = None
    survivors: Annotated[str | None, "children (the default) replace all but the elites; or best."] = None
    n_elites: Annotated[int | None, "Fittest parents that stay with survivors=children; default 1."] = None
    patience: Annotated[int | None, "Stop after this many generations without a lower error."] = None

    def __post_init__(self) -> None:
        _refuse(self, ("n_elites",), self.survivors != "best", "`survivors='children'`")
        _refuse(
            self,
            ("tournament", "crossover_rate", "survivors", "n_elites", "patience", "gamma"),
            self.n_generations != 1,
            "evolution of more than one generation",
        )

    def classifier(self, mode: str, seed: int) -> "EvolutionaryEnsembleClassifier":
        """Return the unfitted classifier."""
        from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier

        given = {one.name: getattr(self, one.name) for one in fields(self)}
        given = {name: value for name, value in given.items() if value is not None}
        return EvolutionaryEnsembleClassifier(mode, random_state=seed, **given)


@dataclass(frozen=True)
class OfflineEvolution(SingleEvolution):
    """The ensemble is chosen from the last generation."""

    gamma: Annotated[float | None, "Exponent of the rows' hardness, 0 for equal rows; default 1."] = None
    criterion: Annotated[str, "What the selection compares: histogram or minimum."] = "histogram"
    max_members: Annotated[int | None, "Most members of the ensemble; default no limit."] = None
    selection: Annotated[str, "How members are chosen: margins, or exact, with a bound."] = "margins"
    exact_time_limit_s: Annotated[float | None, "Seconds for each step of selection=exact; default 10."] = (
        None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        exact = self.selection == "exact"
        _refuse(self, ("exact_time_limit_s", "exact_every"), exact, "`selection='exact'`")


@dataclass(frozen=True)
class OnlineEvolution(OfflineEvolution):
    """The ensemble grows in every generation, and says which rows are hard."""

    exact_every: Annotated[int | None, "Generations between steps of selection=exact; default 10."] = None


MODES: dict[str, type[SingleEvolution]] = {
    "offline": OfflineEvolution,
    "online": OnlineEvolution,
    "single": SingleEvolution,
}
"""The options of each method."""


def evolution(mode: str, given: dict[str, Any]) -> SingleEvolution:
    """Return the options of a method.

    Raises
    ------
    BadInputError
        If there is no such method, or it has no such option.
    """
    as_choice(mode, "mode", list(MODES))
    return as_options(MODES[mode], given, f"`mode={mode!r}`")


def _refuse(options: SingleEvolution, names: tuple[str, ...], used: bool, belongs_to: str) -> None:
    """Refuse what was given although nothing uses it."""
    for name in () if used else names:
        if getattr(options, name, None) is not None:
            raise BadInputError(f"`{name}` belongs to {belongs_to}. Leave it out.")
