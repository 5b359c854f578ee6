"""What `shortlist evolve` breeds, and how."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli.options.unused import Use

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier

EVOLVE_USES = (
    Use(
        ("gamma", "criterion", "max_members", "selection"),
        lambda given: given["mode"] != "single",
        "--mode offline and --mode online",
        "choose one of these",
    ),
    Use(
        ("exact_every",),
        lambda given: given["selection"] == "exact" and given["mode"] == "online",
        "--selection exact with --mode online",
    ),
    Use(("exact_time_limit",), lambda given: given["selection"] == "exact", "--selection exact"),
    Use(("elites",), lambda given: given["survivors"] != "best", "--survivors children"),
    Use(
        ("tournament", "crossover", "survivors", "elites", "patience", "gamma"),
        lambda given: given["generations"] != 1,
        "evolution of more than one generation",
        "raise --generations",
    ),
)
"""When each option of evolve is used."""


@dataclass(frozen=True)
class BreedingOptions:
    """What evolves, and which ensemble is chosen from it."""

    mode: Annotated[
        str,
        typer.Option(
            help="offline (choose from the last generation), online (grow in every generation), "
            "or single (a plain genetic algorithm)."
        ),
    ] = "offline"
    space: Annotated[str, typer.Option(help="What evolves: linear, networks, rules or genetic-programs.")] = (
        "linear"
    )
    generations: Annotated[int, typer.Option(help="Generations at most; the first is random.")] = 200
    population: Annotated[int, typer.Option(help="Individuals of a generation.")] = 500
    gamma: Annotated[float, typer.Option(help="Exponent of the rows' hardness; 0 makes them equal.")] = 1.0
    tournament: Annotated[int, typer.Option(help="Individuals that compete for being a parent.")] = 2
    crossover: Annotated[float, typer.Option(help="Share of the children with two parents.")] = 0.9
    survivors: Annotated[
        str, typer.Option(help="children (replace all but the elites), or best (of parents and children).")
    ] = "children"
    elites: Annotated[int, typer.Option(help="Of --survivors children: fittest parents that stay.")] = 1
    patience: Annotated[
        int | None,
        typer.Option(help="Stop after this many generations in which the ensemble's error did not fall."),
    ] = None
    criterion: Annotated[
        str, typer.Option(help="histogram (Figure 1 of the paper), or minimum (the least margin alone).")
    ] = "histogram"
    max_members: Annotated[
        int | None,
        typer.Option(
            help="Most members; online shares the room out over the generations. Default: no limit."
        ),
    ] = None

    selection: Annotated[
        str,
        typer.Option(
            help="How members are chosen: margins (greedy, as in the paper), or exact (by exact pruning, "
            "with a bound)."
        ),
    ] = "margins"
    exact_every: Annotated[
        int, typer.Option(help="Of --selection exact with --mode online: generations between exact steps.")
    ] = 10
    exact_time_limit: Annotated[
        float, typer.Option(help="Of --selection exact: seconds for each exact step.")
    ] = 10.0

    def classifier(self, seed: int) -> "EvolutionaryEnsembleClassifier":
        """Return the unfitted classifier."""
        from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier

        return EvolutionaryEnsembleClassifier(
            self.mode,
            space=self.space,
            population_size=self.population,
            n_generations=self.generations,
            gamma=self.gamma,
            tournament=self.tournament,
            crossover_rate=self.crossover,
            survivors=self.survivors,
            n_elites=self.elites,
            patience=self.patience,
            criterion=self.criterion,
            max_members=self.max_members,
            selection=self.selection,
            exact_every=self.exact_every,
            exact_time_limit_s=self.exact_time_limit,
            random_state=seed,
        )
