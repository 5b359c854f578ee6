"""Points of a front with the optimism of having been picked taken off."""

import numpy as np
import pytest

from shortlist.panels.choice import choose_panels
from shortlist.panels.facts import panel_report
from shortlist.panels.optimism import corrected
from shortlist.panels.panel_options import PanelOptions
from tests.panels.made import priced_log


def test_no_point_is_better_than_reported_before_or_worse_than_a_cheaper_one() -> None:
    rng = np.random.default_rng(0)
    for sign in (1, -1):
        told = np.sort(rng.random(30)) if sign > 0 else -np.sort(rng.random(30))
        values = corrected(told, rng.normal(0.02, 0.05, 30), np.arange(30.0), sign)
        assert (sign * np.diff(values) >= 0).all()
        assert (sign * values <= sign * told + 1e-12).all()


def test_optimism_of_the_same_size_everywhere_is_taken_off_everywhere() -> None:
    told = np.linspace(0.7, 0.9, 12)
    assert corrected(told, np.full(12, 0.03), np.arange(12.0), 1) == pytest.approx(told - 0.03)


@pytest.mark.parametrize("share", [None, 0.25])
def test_the_front_has_corrected_values_and_keeps_those_of_the_training_cases(share: float | None) -> None:
    choice = choose_panels(priced_log(n_cases=300), PanelOptions(test_share=share))
    assert len(choice.parts) == (5 if share is None else 0)
    told = [choice.values_of(one)["accuracy"] for one in choice.found]
    assert choice.front.extras["on_training_cases"] == told
    assert (choice.front.values[:, 0] <= np.array(told) + 1e-12).all()
    assert (choice.front.values[:, 0] < np.array(told)).any()


@pytest.mark.parametrize("share", [None, 0.25])
def test_cascades_of_two_judges_are_reported_without_optimism_too(share: float | None) -> None:
    choice = choose_panels(priced_log(1, n_cases=300), PanelOptions(test_share=share))
    told = np.array([choice.values_of(one)["accuracy"] for one in choice.of_two])
    values = np.array(choice.of_two_values)
    assert (values <= told + 1e-12).all()
    assert (values < told).any() or share is not None
    rows = panel_report(choice, 0).facts["cascades_of_two"]
    assert [row["accuracy"] for row in rows] == values.tolist()
