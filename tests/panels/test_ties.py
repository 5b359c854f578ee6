"""The first of equal classes, where it is asked for: Python, the reader and plain loops agree."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shortlist.export import reader
from shortlist.export.protocol_text import markdown
from shortlist.panels.decisions import FIRST, TIES, Heard, Votes
from shortlist.panels.policy import Final, Panel, Stage, settled
from shortlist.panels.protocol import panel_protocol
from shortlist.panels.recipes import stages_of
from shortlist.panels.saved_panels import panel_of
from tests.panels.made import log_of
from tests.panels.oracles import out_of_fold, settled_by_trying, voted
from tests.panels.test_saved_panels import log_scale
from tests.panels.test_search import NOBODY, cases_of, searched


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("missing", ["ignored", "counted"])
@pytest.mark.parametrize("rule", ["plurality", "majority"])
def test_votes_and_what_settles_them_are_those_of_trying_everything(
    rule: str, missing: str, ties: str
) -> None:
    rng = np.random.default_rng([len(rule), len(missing), len(ties)])
    decided = ended = 0
    for _ in range(30):
        own = tuple(rng.integers(0, 3, 4).tolist())
        n_asked = int(rng.integers(1, 5))
        words = rng.integers(0, 4, (12, n_asked))
        answers = Heard(words, np.zeros(words.shape), 3)
        votes = Votes(tuple(range(n_asked)), own, rule, missing, ties)
        whole = Votes(tuple(range(n_asked)), own[:n_asked], rule, missing, ties)
        said, ends = whole.decide(answers), settled(votes, answers)
        for case, row in enumerate(words.tolist()):
            assert (said.codes[case], said.sure[case]) == voted(whole, row, 3)
            assert bool(ends[case]) == settled_by_trying(votes, row, 3)
        decided += int((said.codes >= 0).sum())
        ended += int(ends.sum())
    assert decided
    assert ended


@pytest.mark.parametrize("is_settled", [False, True])
def test_the_reader_takes_the_first_of_equals_where_the_panel_does(*, is_settled: bool) -> None:
    rng = np.random.default_rng(4)
    log = log_of(rng, n_judges=4, n_cases=120)
    sets = [(0, 1, 2), (0, 1, 2, 3)] if is_settled else [(0, 1), (0, 1, 2, 3)]
    stages = tuple(
        Stage(
            asks,
            Votes(knows, (1,) * (4 if is_settled else len(knows)), ties=FIRST),
            (0.6,) * 3,
            settled=is_settled,
        )
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
    assert tied.any() or is_settled
    assert "more votes than any class before it in the list" in markdown(panel_protocol(panel))


@pytest.mark.parametrize("seed", range(3))
def test_committees_that_break_ties_are_counted_as_they_decide(seed: int) -> None:
    cases = cases_of(seed, 4, Final(), learner="votes", votes=replace(NOBODY, ties=FIRST))
    found = [one for job in searched(cases, 1).jobs for one in job(cases)]
    for one in found:
        assert (one.loss, one.price) == out_of_fold(cases, one)[:2]
    committees = [one for one in found if len(one.recipe.judges) > 1]
    assert committees
    for one in committees:
        assert stages_of(one.recipe, cases.decisions, 3)[-1].decision.plain()["ties"] == FIRST
