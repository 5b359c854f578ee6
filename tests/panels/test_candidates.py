"""Candidates that every log has: one answer to every case, and a judge with another one where it is silent."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from shortlist.export import reader
from shortlist.export.protocol_text import picture
from shortlist.guarantees.cells import NOT_ASKED
from shortlist.panels import load_panel
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.candidates import COMMITTEES, FALLBACKS, promising_judges, told_apart
from shortlist.panels.choice import choose_panels
from shortlist.panels.decisions import confidence_scale
from shortlist.panels.facts import panel_report
from shortlist.panels.learning import DAWID_SKENE, POOLED, VOTES
from shortlist.panels.log_checks import UNASKED
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.panel_options import PanelOptions, cases_of
from shortlist.panels.policy import Final
from shortlist.panels.protocol import panel_protocol
from shortlist.panels.recipes import Candidate, candidate_of
from shortlist.panels.search import FAMILIES, find_policies
from shortlist.panels.selection_bias import selection_bias
from shortlist.runs.budget import Budget
from tests.panels.oracles import out_of_fold


def silent_log(n_cases: int = 300) -> AnswerLog:
    """A good judge that is silent in a tenth of the cases, a poor one, and a dear one."""
    rng = np.random.default_rng(4)
    truth = rng.choice(["ham", "spam"], n_cases, p=[0.6, 0.4])
    other = np.where(truth == "ham", "spam", "ham")
    said = np.where(rng.random((n_cases, 3)) < [0.95, 0.7, 0.9], truth[:, None], other[:, None]).astype(
        object
    )
    said[rng.random(n_cases) < 0.1, 0] = ""
    measures = Measures(prices=[1.0, 0.2, 9.0])
    return make_log(["good", "poor", "dear"], np.arange(n_cases), said, truth, measures=measures)


def skewed_log(n_cases: int = 400) -> AnswerLog:
    """Two judges that are right less often than the answer ham to every case."""
    rng = np.random.default_rng(1)
    truth = rng.choice(["ham", "spam"], n_cases, p=[0.92, 0.08])
    other = np.where(truth == "ham", "spam", "ham")
    said = np.where(rng.random((n_cases, 2)) < [0.7, 0.8], truth[:, None], other[:, None])
    return make_log(["a", "b"], np.arange(n_cases), said, truth, measures=Measures(prices=[1.0, 2.0]))


def of_constant(choice: PanelChoice) -> int:
    return next(place for place, one in enumerate(choice.found) if one.recipe.alone is not None)


def test_one_answer_to_every_case_is_the_cheapest_point_and_right_as_often_as_its_class() -> None:
    log = skewed_log()
    choice = choose_panels(log, PanelOptions(test_share=None))
    one = choice.found[of_constant(choice)]
    assert one.price == min(found.price for found in choice.found) == 0
    assert one.loss == int((log.truth != log.classes.index("ham")).sum())
    again = candidate_of(choice.cases, one.recipe, choice.front.names)
    assert again[:3] == one[:3] or np.isnan(one.seconds)


def test_where_nothing_is_better_than_one_answer_the_first_line_names_it() -> None:
    choice = choose_panels(skewed_log(), PanelOptions(test_share=None))
    told = panel_report(choice, None).facts
    assert told["advice"].startswith("Answer 'ham' to every case, without asking: accuracy 0.9")
    constant = panel_report(choice, of_constant(choice)).facts
    assert not (constant["advice"] or "").startswith("Answer")
    assert constant["in_words"] == [
        "Answer 'ham' to every case, without any call: that answers 100 % of the cases."
    ]
    assert constant["front"][of_constant(choice)]["stages"] == "'ham' to every case, no judge"


def test_one_answer_to_every_case_is_saved_answered_and_drawn(tmp_path: Path) -> None:
    log = skewed_log()
    choice = choose_panels(log, PanelOptions(test_share=None))
    panel = choice.panel(of_constant(choice))
    panel.save(tmp_path / "panel.json")
    policy = json.loads((tmp_path / "panel.json").read_text())
    reader.check(policy)
    loaded = load_panel(tmp_path / "panel.json")
    assert loaded.plain() == panel.plain()
    assert loaded.run(log).codes.tolist() == [log.classes.index("ham")] * len(log.truth)
    assert reader.next_step(policy, {})["decision"]["label"] == "ham"
    assert "ham" in picture(panel_protocol(panel))


def test_a_class_that_costs_least_is_the_one_answer() -> None:
    options = PanelOptions(test_share=None, error_costs={("ham", "spam"): 50, ("spam", "ham"): 1})
    choice = choose_panels(skewed_log(), options, objectives=("error-cost", "price"))
    one = choice.found[of_constant(choice)].recipe
    assert one.alone is not None
    assert choice.chosen.classes[one.alone.code] == "spam"


def fallback_of(choice: PanelChoice) -> Candidate:
    return next(
        one for one in choice.found if one.recipe.sets == ((0,), (0, 1)) and one.recipe.thresholds == (0, 0)
    )


@pytest.mark.parametrize("is_open", [False, True], ids=["classes", "free text"])
def test_a_judge_with_another_one_where_it_is_silent_is_a_candidate_and_told_by_name(is_open: bool) -> None:
    log = silent_log()
    if is_open:
        texts = np.array(
            [f"{place % 60} {log.classes[one]}" for place, one in enumerate(log.truth)], dtype=object
        )
        said = np.array(
            [
                [f"{place % 60} {log.classes[one]}" if one >= 0 else "" for one in row]
                for place, row in enumerate(log.answers)
            ],
            dtype=object,
        )
        log = make_log(
            log.judges,
            np.arange(len(texts)),
            said,
            texts,
            measures=Measures(prices=[1.0, 0.2, 9.0]),
            classes=(),
        )
    choice = choose_panels(log, PanelOptions(decide="votes", test_share=None, max_stages=2))
    found = fallback_of(choice)
    first = log.answers[:, 0] >= 0
    right = np.where(first, log.is_right[:, 0], log.is_right[:, 1])
    assert found.loss == int((~right).sum())
    assert found.price == choice.steps * len(log.truth) + round(0.2 * choice.steps) * int((~first).sum())
    told = panel_report(choice, choice.found.index(found)).facts["in_words"]
    assert told[0].startswith("Ask good (1 a case)")
    assert told[1].startswith("Where good gives no answer, ask poor (0.2 a case)")


@pytest.mark.parametrize(
    "final", [Final(), Final("hand-over", 3.0), Final("reject")], ids=lambda one: one.kind
)
def test_a_fallback_costs_what_following_every_case_costs(final: Final) -> None:
    log = silent_log(120)
    log = replace(log, answers=np.where(np.arange(120)[:, None] % [7, 5, 120] == 1, -1, log.answers))
    cases, _ = cases_of(log, confidence_scale(log), PanelOptions(final=final))
    jobs = [job for work in FAMILIES[FALLBACKS](cases, 2, [], []) for job in work.jobs]
    assert len(jobs) >= 4
    for one in (found for job in jobs for found in job(cases)):
        assert (one.loss, one.price) == out_of_fold(cases, one)[:2]


def test_no_fallback_is_tried_in_one_stage() -> None:
    options = PanelOptions(decide="votes", test_share=None)
    log = silent_log()
    fallback_of(choose_panels(log, options))
    with pytest.raises(StopIteration):
        fallback_of(choose_panels(log, replace(options, max_stages=1)))


def many_log(n_cases: int = 300, n_judges: int = 9, share: float = 0.62) -> AnswerLog:
    """Independent judges of three classes, each right about as often."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, n_cases)
    wrong = (truth[:, None] + rng.integers(1, 3, (n_cases, n_judges))) % 3
    said = np.where(rng.random((n_cases, n_judges)) < share, truth[:, None], wrong)
    names = [f"j{place}" for place in range(n_judges)]
    return make_log(names, np.arange(n_cases), said, truth, measures=Measures(prices=[1.0] * n_judges))


@pytest.mark.parametrize("n_judges", [3, 9])
@pytest.mark.parametrize("learner", POOLED)
def test_all_who_answered_are_a_committee_that_costs_what_a_plain_count_says(
    n_judges: int, learner: str
) -> None:
    log = many_log(90, n_judges)
    cases, _ = cases_of(log, confidence_scale(log), PanelOptions())
    everybody = tuple(range(n_judges))
    jobs = [job for work in FAMILIES[COMMITTEES](cases, 1, [], []) for job in work.jobs]
    found = {(one.recipe.learner, one.recipe.sets): one for job in jobs for one in job(cases)}
    own = found[learner, (everybody,)]
    assert (own.loss, own.price) == out_of_fold(cases, own)[:2]
    if learner == VOTES:
        tally = np.array([np.bincount(row, minlength=3) for row in log.answers])
        alone = (tally == tally.max(axis=1, keepdims=True)).sum(axis=1) == 1
        assert own.loss == int((~alone | (tally.argmax(axis=1) != log.truth)).sum())
    if learner == DAWID_SKENE:
        lost = 0
        assert cases.folds is not None
        for fold in np.unique(cases.folds):
            rows = cases.folds != fold
            known = np.where(rows, log.truth, -1)
            told = dawid_skene_of_known(cases.answers.words, known, 3)
            lost += int((told[~rows].argmax(axis=1) != log.truth[~rows]).sum())
        assert own.loss == lost


def dawid_skene_of_known(
    words: NDArray[np.int64], truth: NDArray[np.int64], n_classes: int
) -> NDArray[np.float64]:
    """Return how probable each class is by counts on the cases of known truth, in plain loops."""
    known = truth >= 0
    prior = [0.5 + int((truth == true).sum()) for true in range(n_classes)]
    told = np.zeros((len(words), n_classes))
    for true in range(n_classes):
        for case, row in enumerate(words):
            product = prior[true] / sum(prior)
            for judge, word in enumerate(row):
                of_class = [
                    (1.0 if said == true else 0.5)
                    + int(((words[:, judge] == said) & (truth == true))[known].sum())
                    for said in range(n_classes)
                ]
                product *= of_class[word] / sum(of_class)
            told[case, true] = product
    return np.asarray(told / told.sum(axis=1, keepdims=True))


def test_more_than_five_judges_are_all_asked_where_that_is_best() -> None:
    log = many_log(600, 15, 0.6)
    choice = choose_panels(log, PanelOptions(test_share=None))
    assert len(choice.found[0].recipe.judges) > 9
    plain = np.array([np.bincount(row, minlength=3).argmax() for row in log.answers])
    told = panel_report(choice, 0).facts["held_out"]
    assert told["accuracy"] >= (plain == log.truth).mean() - 0.02


def test_a_case_that_the_first_judges_did_not_see_gets_whoever_did() -> None:
    log = many_log(300, 12, 0.75)
    unseen = np.random.default_rng(0).random(log.answers.shape) < 0.7
    unseen[unseen.all(axis=1), 0] = False
    log = replace(log, answers=np.where(unseen, UNASKED, log.answers))
    choice = choose_panels(log, PanelOptions(test_share=None))
    told = panel_report(choice, 0).facts["held_out"]
    assert told["n_unanswered"] <= 0.05 * len(log.truth)  # where votes are tied
    weighted = np.array([np.bincount(row[row >= 0], minlength=3).argmax() for row in log.answers])
    assert told["accuracy"] >= (weighted == log.truth).mean() - 0.04


def test_the_selection_bias_of_a_family_is_what_choosing_without_each_fold_loses() -> None:
    rng = np.random.default_rng(0)
    loss, price = rng.integers(0, 2, (40, 12)).astype(float), np.ones((40, 12))
    folds = np.arange(40) % 4
    chosen = [int(loss[folds != fold].sum(axis=0).argmin()) for fold in range(4)]
    paid = sum(loss[folds == fold, one].sum() for fold, one in enumerate(chosen))
    assert selection_bias(loss, price, folds) == paid - loss.sum(axis=0).min() > 0
    assert selection_bias(loss[:, :1], price[:, :1], folds) == 0


def test_policies_that_were_chosen_among_many_lose_to_all_judges_that_were_not() -> None:
    log = many_log(400, 15, 0.6)
    cases, _ = cases_of(log, confidence_scale(log), PanelOptions())
    found = find_policies(cases, max_stages=3, budget=Budget())
    everybody = tuple(range(15))
    own = next(one for one in found.found if one.recipe.sets == (everybody,))
    assert own.loss == out_of_fold(cases, own)[0]
    chosen = [one for one in found.found if len(one.recipe.sets) > 1]
    assert all(one.loss >= candidate_of(cases, one.recipe, ("accuracy", "price")).loss for one in chosen)
    assert any("bias of having been chosen" in claim for claim in found.claims)


def test_few_cases_choose_among_few_judges() -> None:
    log = many_log(60, 20)
    cases, _ = cases_of(log, confidence_scale(log), PanelOptions())
    assert told_apart(cases) == 12
    assert len(promising_judges(cases, 30)) == 12
    assert told_apart(cases.at(np.arange(10))) == 5


def crowd_log(folder: Path, name: str) -> AnswerLog:
    long = pd.read_csv(folder / "judges" / f"crowd-{name}.long.csv.gz", dtype=str)
    truth = pd.read_csv(folder / "judges" / f"crowd-{name}.truth.csv", dtype=str).set_index("task")["truth"]
    long = long[long["task"].isin(truth.index)].drop_duplicates(["task", "worker"])
    said = long.pivot(index="task", columns="worker", values="label").reindex(truth.index)
    said = said.astype(object).where(said.notna(), NOT_ASKED)
    measures = Measures(prices=[1.0] * said.shape[1])
    return make_log(
        list(said.columns), list(said.index), said.to_numpy(object), truth.to_numpy(), measures=measures
    )


@pytest.mark.parametrize(("name", "least"), [("bluebird", 0.87), ("rte", 0.915), ("fifteen", 0.936)])
def test_panels_of_real_crowds_are_as_good_as_all_who_answered(
    data_folder: Path, name: str, least: float
) -> None:
    if name == "fifteen":
        table = pd.read_csv(data_folder / "judges" / "cases" / "fifteen.csv")
        judges = [f"s{place}" for place in range(15)]
        said, prices = table[judges].to_numpy(object), Measures(prices=[1.0] * 15)
        log = make_log(judges, np.arange(len(table)), said, table["target"].to_numpy(), measures=prices)
    else:
        log = crowd_log(data_folder, name)
    told = panel_report(choose_panels(log, PanelOptions(test_share=None)), 0).facts["held_out"]
    assert told["accuracy"] >= least
    assert told["n_unanswered"] == 0
