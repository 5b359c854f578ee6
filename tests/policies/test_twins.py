"""Policies drawn at random: the loop answers cases as the reader, which shares no code with it, does one by one.

One thousand instances: 340 panels and committees, and 320 sets of stages, with a few cases each.
"""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.ensembles import Pool
from shortlist.ensembles.committees.ballots import Ballot, Mean, Plurality, Threshold
from shortlist.ensembles.committees.committee import MEAN, SHARES, Committee
from shortlist.ensembles.pools.judges import Judge
from shortlist.ensembles.votes.soft_votes import Calibration
from shortlist.export import reader
from shortlist.export.policies import _committee, policy_of
from shortlist.guarantees.cells import NOT_ASKED
from shortlist.guarantees.guarantee import Guarantee
from shortlist.multistage import MultiStageClassifier, feature_costs
from shortlist.multistage.predict.prediction import StagedModel, fitted_stages
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.subclassifiers.encoding import Encoding, FeatureCode
from shortlist.multistage.subclassifiers.logistic_fits import LogisticModel
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.decisions import (
    ConfidenceScale,
    Curve,
    JudgesDecision,
    JudgeVotes,
    LatestAnswer,
    ScoreTable,
)
from shortlist.panels.policy import NEVER, Final, Outcome, Panel, Stage
from shortlist.panels.router import Alone, Fork
from shortlist.panels.saved_panels import panel_of
from shortlist.saved_models import SavedModel
from tests.panels.test_saved_panels import SCHEMA, fits

N_CASES = 6
CHUNKS, PANELS, COMMITTEES, STAGES = range(20), 17, 17, 16


def of_chunk(chunk: int, n: int, kind: int) -> list[np.random.Generator]:
    return [np.random.default_rng([kind, chunk, place]) for place in range(n)]


def drawn_decision(rng: np.random.Generator, asked: list[int], n_classes: int) -> JudgesDecision:
    """Votes with ties of every kind, confidence, or, where there are classes, scores, perhaps in halves."""
    knows = tuple(int(one) for one in rng.permutation(asked)[: rng.integers(1, len(asked) + 1)])
    if rng.random() < 0.2:
        return LatestAnswer(knows)
    if n_classes and rng.random() < 0.4:
        n = len(knows)
        size, in_halves = n_classes + n * n_classes * (2 * n_classes + 1), rng.random() < 0.5
        weights = rng.integers(-4, 5, size) / 2 if in_halves else rng.normal(0, 1.5, size)
        return ScoreTable(knows, weights, n_classes)
    kinds = (["plurality", "majority"], ["ignored", "counted"], ["unanswered", "latest", "first"])
    rule, missing, ties = (str(rng.choice(one[:2] if not n_classes else one)) for one in kinds)
    return JudgeVotes(knows, tuple(rng.integers(0, 3, len(knows)).tolist()), rule, missing, ties)


def drawn_stages(rng: np.random.Generator, n_judges: int, n_classes: int) -> tuple[Stage, ...]:
    order, asked, stages = rng.permutation(n_judges).tolist(), list[int](), list[Stage]()
    if n_classes and rng.random() < 0.2:
        shares = (np.arange(n_classes) + 1) / (n_classes * (n_classes + 1) / 2)
        stages.append(Stage((), Alone(int(rng.integers(-1, n_classes)), tuple(shares)), 0.5))
    while order and (not stages or rng.random() < 0.7):
        size = int(rng.integers(1, len(order) + 1))
        asks, order = order[:size], order[size:]
        asked += asks
        least = float(rng.choice([0.0, 0.4, 0.5, 0.75, 1.0, NEVER]))
        stages.append(Stage(tuple(asks), drawn_decision(rng, asked, n_classes), least))
    return tuple(stages)


def drawn_panel(rng: np.random.Generator) -> tuple[Panel, AnswerLog]:
    n_judges, n_classes = int(rng.integers(1, 5)), int(rng.choice([0, 2, 3]))
    words = tuple("xyzw"[: n_classes or 4])
    shape = N_CASES, n_judges
    features = pd.DataFrame({
        "topic": rng.choice(np.array(["art", "law", "new", None], dtype=object), N_CASES), "size": rng.choice([1.0, 2.0, np.nan], N_CASES),
    })  # fmt: skip
    log = AnswerLog(
        tuple("abcd"[:n_judges]),
        np.arange(N_CASES),
        rng.integers(-1, len(words), shape),
        words,
        rng.integers(0, len(words), N_CASES),
        np.tile(rng.integers(0, 4, n_judges).astype(float), (N_CASES, 1)),
        features,
        confidence=rng.choice([0.0, 0.25, 0.5, 0.9, np.nan], shape),
        latency=rng.integers(1, 5, shape).astype(float),
        is_open=not n_classes,
    )
    curve = Curve(np.array([0.25, 0.5, 0.75]), np.array([-1.0, 0.5, 1.0]), 0.25)
    router = Fork("size", 1.0, (), (), 1, Fork("topic", None, ("art",), ("art", "law"), 2, 1))
    routed = rng.random() < 0.4
    return Panel(
        log.judges,
        words if n_classes else (),
        drawn_stages(rng, n_judges, n_classes),
        tuple(log.prices[0].tolist()),
        ConfidenceScale(tuple(curve if rng.random() < 0.7 else None for _ in range(n_judges))),
        (1.0,) * n_judges,
        [Final(), Final("reject"), Final("hand-over", 7.0)][rng.integers(3)],
        router=router if routed else None,
        branches=tuple(drawn_stages(rng, n_judges, n_classes) for _ in range(2 * routed)),
    ), log


SILENT = (None, "", "  ")


def row_of(log: AnswerLog, case: int, rng: np.random.Generator) -> dict[str, Any]:
    """Message on a case to a service, in the forms that it may use; a word that is no class is silence too."""
    row: dict[str, Any] = {name: log.features[name][case] for name in log.features}
    silent = SILENT if log.is_open else (*SILENT, "Error 429")
    for name, code, sure in zip(log.judges, log.answers[case], log.confidence[case], strict=True):  # type: ignore[index]
        word = log.classes[code] if code >= 0 else silent[rng.integers(len(silent))]
        form = rng.integers(3)
        if form == 0:
            row[name] = {"label": word, "confidence": float(sure)}
        else:
            told = None if np.isnan(sure) else str(sure)
            row |= {name if form == 1 else f"{name}.label": word, f"{name}.confidence": told}
    return row


def same_as_told(panel: Panel, log: AnswerLog, outcome: Outcome, case: int, told: dict[str, Any]) -> None:
    code = int(outcome.codes[case])
    assert told["label"] == (log.classes[code] if code >= 0 else None)
    assert told["cost"] == outcome.price[case]
    assert told["answered"] == (code >= 0)
    assert told["confidence"] == outcome.sure[case]  # to the last bit
    assert (told["stage"] - 1, told["handed_over"]) == (outcome.stage[case], outcome.handed_over[case])
    assert told.get("branch", 0) == outcome.way[case]
    assert bool(told.get("unrouted")) == (panel.router is not None and outcome.way[case] == 0)
    stages = panel.ways[outcome.way[case]][: outcome.stage[case] + 1]
    assert told["asked"] == [panel.judges[place] for stage in stages for place in stage.asks]


@pytest.mark.parametrize("chunk", CHUNKS)
def test_panels_are_followed_as_the_reader_follows_them(chunk: int) -> None:
    """A whole row, a row heard stage by stage, and one in which silent judges have failed."""
    for rng in of_chunk(chunk, PANELS, 0):
        panel, log = drawn_panel(rng)
        policy, outcome = json.loads(json.dumps(panel.plain(), allow_nan=False)), panel.run(log)
        reader.check(policy)
        assert fits(policy, SCHEMA)
        again = panel_of(policy)
        assert again.plain() == panel.plain()
        for one, other in zip(again.run(log), outcome, strict=True):
            assert np.array_equal(one, other, equal_nan=True)
        for case in range(N_CASES):
            row = row_of(log, case, rng)
            whole = reader.answer(policy, row)
            same_as_told(panel, log, outcome, case, whole)
            assert panel.next(row)["decision"] == whole
            hushed = {name: "timed out" for name, code in zip(log.judges, log.answers[case], strict=True)
                      if code < 0 and rng.random() < 0.5}  # fmt: skip
            known, asked = {name: row[name] for name in log.features}, list[str]()
            while asks := reader.next_step(policy, known, hushed)["ask"]:
                known |= {name: row[name] for name in row if name.split(".")[0] in asks}
                assert not {*asks} & ({*hushed} | {*asked})
                asked += asks
            told = reader.answer(policy, known, hushed)
            same_as_told(panel, log, outcome, case, told)
            assert told["failed"] == {name: why for name, why in hushed.items() if name in told["asked"]}
            assert reader.answer(policy, row, hushed)["failed"] == told["failed"]  # whatever came too late
            silent = {name for name in told["asked"] if name not in hushed and name not in whole["unknown"]}
            said = {name for name, code in zip(log.judges, log.answers[case], strict=True) if code >= 0}
            assert {*told["silent"]} == silent - said


def drawn_ballot(rng: np.random.Generator, n_classes: int, n_votes: int, *, shares: bool) -> Ballot:
    kind = rng.integers(3)
    if kind == 0 and n_classes == 2:
        return Threshold(int(rng.integers(0, n_votes)), n_votes, int(rng.integers(2)))
    if kind == 1 and shares:
        gains = rng.integers(0, 4, n_classes)
        return Mean(np.where(gains.any(), gains, 1))
    return Plurality(n_classes)


def drawn_committee(rng: np.random.Generator) -> tuple[Committee, pd.DataFrame]:
    n, n_classes = int(rng.integers(1, 6)), int(rng.choice([2, 3]))
    classes, weights = np.array(["a", "b", "c"][:n_classes]), rng.integers(1, 3, n)
    gives_shares = rng.random() < 0.5
    judges, table = list[Judge](), pd.DataFrame(index=range(N_CASES))
    for name in "pqrst"[:n]:
        columns = tuple(f"{name}:{label}" for label in classes) if gives_shares else (name,)
        judges.append(Judge(name, columns, classes))
        cells = np.empty((N_CASES, len(columns)), dtype=object)
        for row in range(N_CASES):
            if gives_shares:
                cells[row] = rng.multinomial(4, np.ones(n_classes) / n_classes) / 4
            else:
                cells[row] = rng.choice([*classes, "?"], p=[*[0.9 / n_classes] * n_classes, 0.1])
            if (draw := rng.random()) < 0.3:
                cells[row] = None if draw < 0.15 else NOT_ASKED
        table[list(columns)] = cells
    copies = np.repeat(np.arange(n), weights)
    names = tuple(f"{judges[place].name}{copy or ''}" for place, n in enumerate(weights) for copy in range(n))
    members = tuple(judges[place] for place in copies)
    pool = Pool(members, classes, names, ("Judge",) * len(names), costs=np.ones(len(names)))
    factors = (1.0, *rng.choice([0.5, 1.0], n_classes - 1).tolist())
    fitted = [None, Calibration(1.0, factors), Calibration(float(rng.choice([0.4, 2.0])), (1.0,) * n_classes)]
    least = float(rng.choice([0.41, 0.52, 0.63, 0.74, np.inf]))
    return Committee(
        pool,
        weights,
        drawn_ballot(rng, n_classes, len(names), shares=gives_shares),
        probabilities=MEAN if gives_shares and rng.random() < 0.5 else SHARES,
        calibration=fitted[rng.integers(3)],
        prices=rng.integers(0, 4, n).astype(float),
        promise=Guarantee(0.9, 0.9, least, 50, 40, 40) if rng.random() < 0.5 else None,
    ), table


@pytest.mark.parametrize("chunk", CHUNKS)
def test_committees_are_asked_as_the_reader_asks_them(chunk: int) -> None:
    for rng in of_chunk(chunk, COMMITTEES, 1):
        committee, table = drawn_committee(rng)
        policy = {"reject_label": "REJECT"} | _committee(committee, tuple(table.columns))
        if committee.least is not None:
            policy["answer_from"] = min(2.0, committee.least)
        early = committee.predict_early(table)
        assert early.costs is not None
        for case, row in enumerate(table.to_dict("records")):
            told = reader.answer(policy, {name: one for name, one in row.items() if one is not NOT_ASKED})
            assert (told["label"], told["answered"]) == (early.labels[case], early.answered[case])
            assert told["asked"] == list(early.order[: early.calls[case]])
            assert told["cost"] == early.costs[case]
            assert told["needs"] == [early.needs[case]] * bool(early.needs[case])
            known, asked = (
                dict[str, Any](),
                list[str](),
            )  # one after the other, without those who are not asked
            while (asks := reader.next_step(policy, known)["ask"]) and asks != told["needs"]:
                asked += asks
                (columns,) = {tuple(one["columns"]) for one in policy["judges"] if [one["name"]] == asks}
                known |= {column: row[column] for column in columns}
            partly = reader.answer(policy, known)
            same = ("label", "answered", "asked", "cost", "needs", "unknown")
            assert [partly[name] for name in same] == [told[name] for name in same]
            assert partly["asked"] == asked[: len(partly["asked"])]


def drawn_staged(rng: np.random.Generator) -> tuple[MultiStageClassifier, pd.DataFrame]:
    n, n_classes = int(rng.integers(1, 5)), int(rng.choice([2, 3]))
    names, codes, table = tuple("abcd"[:n]), list[FeatureCode](), pd.DataFrame(index=range(N_CASES))
    for name in names:
        allows, is_word = rng.random() < 0.4, rng.random() < 0.4
        categories = ("u", "v") if is_word else None
        codes.append(FeatureCode(name, 0.5, categories, bool(allows), ("u", "v", "w") if is_word else None))
        values = ["u", "v", "w", "odd"] if is_word else [-1.0, 0.0, 0.5, 2.0]
        cells = np.array([values[place] for place in rng.integers(0, 4, N_CASES)], dtype=object)
        cells[rng.random(N_CASES) < 0.1], cells[rng.random(N_CASES) < 0.1] = None, NOT_ASKED
        table[name] = cells
    encoding = Encoding(tuple(codes))
    stage_of = rng.integers(0, 3, n)
    subsets = [stage_of <= stage for stage in np.unique(stage_of)]

    def fit(subset: Any) -> tuple[LogisticModel, float]:
        columns = np.flatnonzero(encoding.columns(subset)).astype(np.int64)
        weights = np.zeros((1 if n_classes == 2 else 3, int(encoding.starts[-1]) + 1))
        weights[:, [*columns, -1]] = rng.integers(-4, 5, (len(weights), len(columns) + 1)) / 2
        return LogisticModel(weights, columns), float(rng.choice([0.0, 0.71, np.inf]))

    costs = feature_costs(dict(zip(names, rng.integers(0, 5, n).tolist(), strict=True)), names)
    found = MultiStageClassifier()
    rule = RejectRule(tuple(rng.choice([0.3, 0.55, 0.62, 0.81], n_classes).tolist()))
    found.model_ = StagedModel(encoding, fitted_stages(subsets, fit, costs), rule, costs)
    found.classes_, found.reject_label_ = np.arange(n_classes), -1
    found.front_, found.costs_, found.guarantee_ = None, costs, None  # type: ignore[assignment]
    found.n_features_in_, found.feature_names_in_ = n, np.array(names, dtype=object)
    return found, table


@pytest.mark.filterwarnings("ignore:.*word")
@pytest.mark.parametrize("chunk", CHUNKS)
def test_stages_are_followed_as_the_reader_follows_them(chunk: int) -> None:
    for rng in of_chunk(chunk, STAGES, 2):
        stages, table = drawn_staged(rng)
        policy = policy_of(SavedModel(stages, tuple(table.columns), "y"))
        reader.check(policy)
        report = stages.decision_report(table)
        for case, row in enumerate(table.to_dict("records")):
            told = reader.answer(policy, {name: one for name, one in row.items() if one is not NOT_ASKED})
            one = report.iloc[case]
            assert (told["label"], told["stage"], told["cost"]) == (one["label"], one["stage"], one["cost"])
            assert ", ".join(told["needs"]) == one["needs"]
            assert bool(told["unknown"]) == bool(one["unknown"])
            waits = bool(told["needs"] or told["unknown"])
            assert told["answered"] == (not one["rejected"] and not waits)
            assert told["confidence"] == (None if one["stage"] == 0 else pytest.approx(one["confidence"]))
