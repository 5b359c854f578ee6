"""The search for a promise: what candidates do, which are tested, and in which order."""

from dataclasses import replace

import numpy as np
import pytest

from shortlist.guarantees.guarantee import Demand, tail
from shortlist.guarantees.promise import chances, passing
from shortlist.panels.choice import choose_panels
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.policy import HAND_OVER, Final
from shortlist.panels.promises import (
    LIVES,
    N_COVERAGES,
    PRIOR_ANSWERS,
    candidates_of,
    chains_of,
    chances_of,
    promised,
    recipe_of,
    ways_to_ask,
)
from shortlist.panels.recipes import Recipe, followed, measured_cases
from shortlist.runs.budget import Budget
from tests.panels.made import priced_log
from tests.panels.test_choice import label_log

DEMAND = Demand(0.85, 0.9)


@pytest.mark.parametrize("final", [Final(), Final(HAND_OVER, 3.0)], ids=lambda final: final.kind)
@pytest.mark.parametrize("log", [priced_log(n_cases=300), label_log(1, 300)], ids=["confidence", "labels"])
def test_candidates_are_counted_as_their_panels_answer(log: object, final: Final) -> None:
    choice = choose_panels(log, PanelOptions(final=final, demand=DEMAND))  # type: ignore[arg-type]
    assert choice.calibration is not None
    own = Recipe(((0,), (0, 1), (0, 1, 2)), (0.8, 0.6, 0.0), "votes")  # as on a front without a promise
    found = candidates_of(choice, [own, *ways_to_ask(choice.cases, 2)], Budget(), n_points=1)
    assert len(found.ways) > 50
    assert (found.ways == 0).sum() == 1
    for place in range(len(found.ways)):
        recipe = recipe_of(found, place, is_promised=True)
        told = followed(measured_cases(choice.cases), recipe)
        assert found.chosen.answered[place] == (told.codes >= 0).sum()
        assert found.chosen.right[place] == (told.codes == choice.chosen.truth).sum()
        assert found.chosen.price[place] == told.price.sum()
        outcome = choice.of_recipe(recipe).run(choice.calibration)
        assert found.calibration.answered[place] == (outcome.codes >= 0).sum()
        assert found.calibration.right[place] == (outcome.codes == choice.calibration.truth).sum()
        assert found.calibration.price[place] == pytest.approx(outcome.price.sum() * choice.steps)


def test_what_is_tested_and_in_which_order_the_training_cases_say_alone() -> None:
    choice = choose_panels(priced_log(n_cases=400), PanelOptions(demand=DEMAND))
    found = candidates_of(choice, list(ways_to_ask(choice.cases, 2)), Budget())
    chains = chains_of(found, DEMAND)
    other = found.calibration._replace(right=np.zeros_like(found.calibration.right))
    assert chains_of(replace(found, calibration=other), DEMAND) == chains
    assert promised(replace(found, calibration=other), DEMAND) == []
    own = Demand(DEMAND.accuracy, 1 - DEMAND.error / len(chains) / LIVES)
    per_cent = np.rint(100 * chances_of(found, own))
    for one in (place for chain in chains for place in chain):
        no_worse = (per_cent >= per_cent[one]) & (found.chosen.right >= found.chosen.right[one])
        no_worse &= found.chosen.price <= found.chosen.price[one]
        better = (per_cent > per_cent[one]) | (found.chosen.right > found.chosen.right[one])
        assert not (no_worse & (better | (found.chosen.price < found.chosen.price[one]))).any()
    wrong = found.calibration.answered - found.calibration.right
    p_values = tail(found.calibration.answered, wrong, DEMAND)
    passed = passing(p_values, chains, DEMAND.error, lives=LIVES)
    assert passed
    assert [place for place, _ in promised(found, DEMAND)] == passed


def test_a_panel_under_a_promise_asks_the_next_stage_wherever_it_could_still_answer() -> None:
    choice = choose_panels(priced_log(n_cases=600), PanelOptions(demand=DEMAND))
    for found in choice.found:
        least = found.recipe.thresholds
        if len({*least}) > 1:  # a point of the front without a promise, as it is
            assert least[-1] == 0
            continue
        panel = choice.of_recipe(found.recipe)
        outcome = panel.run(choice.test)
        assert (outcome.sure[outcome.codes >= 0] >= least[0]).all()
        assert (outcome.stage[outcome.codes < 0] == len(panel.stages) - 1).all()


def test_candidates_that_do_alike_are_the_prior_of_each_other() -> None:
    choice = choose_panels(priced_log(n_cases=200), PanelOptions(demand=DEMAND))
    found = candidates_of(choice, list(ways_to_ask(choice.cases, 2)), Budget())
    wrong = found.chosen.answered - found.chosen.right
    kinds = [
        (found.recipes[way].learner, int(N_COVERAGES * answered // found.chosen.n_rows))
        for way, answered in zip(found.ways, found.chosen.answered, strict=True)
    ]
    told = chances_of(found, DEMAND)
    for place in range(0, len(kinds), 7):
        alike = [other for other, kind in enumerate(kinds) if kind == kinds[place]]
        usual = (wrong[alike].sum() + 1) / (found.chosen.answered[alike].sum() + 2)
        slow = chances(
            found.chosen.answered[[place]], wrong[[place]], found.calibration.n_rows / found.chosen.n_rows, DEMAND,
            usual=np.array([usual]), weight=PRIOR_ANSWERS,
        )  # fmt: skip
        assert told[place] == pytest.approx(slow[0], abs=1e-12)
