"""How often a promise about any panel of a front is broken: calibration cases drawn again and again.

python -m benchmarks panel-promises
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from shortlist.guarantees.guarantee import Demand
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import PanelChoice, choose_panels, with_promises
from shortlist.panels.panel_options import PanelOptions

N_DRAWS, N_CHOOSE, N_CALIBRATE, N_CASES = 2000, 300, 150, 20_000
ACCURACIES = {
    "just too bad": (0.89, 0.89, 0.89),
    "the dearer the better": (0.75, 0.85, 0.92),
    "one is good": (0.7, 0.95, 0.7),
}
DECIDES = ("votes", "logistic")


def made_log(accuracies: tuple[float, ...], seed: int) -> AnswerLog:
    """Return answers of judges who fail together now and then, and are as often right as said."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, N_CASES)
    common, own = rng.random((N_CASES, 1)), rng.random((N_CASES, len(accuracies)))
    draws = np.where(rng.random(own.shape) < 0.3, common, own)
    said = np.where(draws < accuracies, truth[:, None], 1 - truth[:, None])
    measures = Measures(prices=[float(4**judge) for judge in range(len(accuracies))])
    names = [f"j{judge}" for judge in range(len(accuracies))]
    return make_log(names, np.arange(N_CASES), said, truth, measures=measures)


def panel_promises(*, n_draws: int = N_DRAWS) -> Iterator[dict[str, Any]]:
    """Count draws in which any point that is promised is right too seldom on 20,000 cases."""
    demand = Demand(0.9, 0.95)
    for (name, accuracies), decide in ((one, decide) for one in ACCURACIES.items() for decide in DECIDES):
        population = made_log(accuracies, 0)
        choice = choose_panels(population.at(slice(0, N_CHOOSE)), PanelOptions(decide=decide))
        rest = population.at(slice(N_CHOOSE, N_CASES))
        with_promises, broken, points = broken_promises(choice, rest, demand, n_draws)
        yield {
            "judges": name, "decide": decide, "n_points": len(choice.found), "n_draws": n_draws,
            "n_with_promises": with_promises, "mean_promised": points / n_draws, "n_broken": broken,
            "allowed": n_draws * demand.error,
        }  # fmt: skip


def broken_promises(
    choice: PanelChoice, population: AnswerLog, demand: Demand, n_draws: int
) -> tuple[int, int, int]:
    """Return how many draws have promises, how many have a broken one, and how many promises there are."""
    outcomes = {one.recipe: choice.of_recipe(one.recipe).run(population) for one in choice.found}
    right = {recipe: outcome.codes == population.truth for recipe, outcome in outcomes.items()}
    rng = np.random.default_rng(0)
    n_given = n_broken = n_points = 0
    for _ in range(n_draws):
        drawn = population.at(rng.integers(0, len(population.truth), N_CALIBRATE))
        kept = with_promises(replace(choice, calibration=drawn), demand)
        told, failed = kept.guarantees, False
        for found, promise in zip(kept.found, told, strict=True):
            if promise.promised:
                recipe = replace(found.recipe, least=0.0)
                answered = (outcomes[recipe].codes >= 0) & (outcomes[recipe].sure >= promise.threshold)
                failed |= bool(right[recipe][answered].mean() < demand.accuracy)
        n_promised = sum(one.promised for one in told)
        n_given, n_points, n_broken = n_given + (n_promised > 0), n_points + n_promised, n_broken + failed
    return n_given, n_broken, n_points
