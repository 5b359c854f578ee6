"""The first of equal classes, where it is asked for: Python, the reader and plain loops agree."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shortlist.export import reader
from shortlist.export.protocol_text import markdown
from shortlist.panels.decisions import FIRST, JudgeVotes
from shortlist.panels.policy import Final, Panel, Stage
from shortlist.panels.protocol import panel_protocol
from shortlist.panels.recipes import stages_of
from shortlist.panels.saved_panels import panel_of
from tests.panels.made import log_of
from tests.panels.oracles import out_of_fold
from tests.panels.test_saved_panels import log_scale
from tests.panels.test_search import NOBODY, cases_of, tried_in


def test_the_reader_takes_the_first_of_equals_where_the_panel_does() -> None:
    rng = np.random.default_rng(4)
    log = log_of(rng, n_judges=4, n_cases=120)
    sets = [(0, 1), (0, 1, 2, 3)]
    stages = tuple(
        Stage(asks, JudgeVotes(knows, (1,) * len(knows), ties=FIRST), 0.6)
        for asks, knows in zip([sets[0], tuple(sorted({*sets[1]} - {*sets[0]}))], sets, strict=True)
    )
    panel = Panel(log.judges, log.classes, stages, (1.0,) * 4, log_scale(4), (0.5,) * 4, Final())
    policy: dict[str, Any] = json.loads(json.dumps(panel.plain()))
    reader.check(policy)
    assert panel_of(policy).plain() == panel.plain()
    outcome = panel.run(log)
    for case, codes in enumerate(log.answers):
        row = {
            name: log.classes[code] if code >= 0 else None
            for name, code in zip(log.judges, codes, strict=True)
        }
        told = reader.answer(policy, row)
        code = outcome.codes[case]
        assert told["label"] == (log.classes[code] if code >= 0 else None)
        assert told["stage"] == outcome.stage[case] + 1
    tied = (outcome.codes >= 0) & (outcome.sure == 0.5)
    assert tied.any()
    assert "more votes than any class before it in the list" in markdown(panel_protocol(panel))


@pytest.mark.parametrize("seed", range(3))
def test_committees_that_break_ties_are_counted_as_they_decide(seed: int) -> None:
    cases = cases_of(seed, 4, Final(), learner="votes", votes=replace(NOBODY, ties=FIRST))
    found = tried_in(cases, 1)
    for one in found:
        assert (one.loss, one.price) == out_of_fold(cases, one)[:2]
    committees = [one for one in found if len(one.recipe.judges) > 1]
    assert committees
    for one in committees:
        assert stages_of(one.recipe, cases.decisions)[-1].decision.plain()["ties"] == FIRST
