"""Panels and logs of answers, made at random."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.decisions import (
    ConfidenceScale,
    JudgesDecision,
    JudgeVotes,
    ScoreTable,
    confidence_scale,
)
from shortlist.panels.policy import Final, Panel, Stage
from shortlist.panels.router import Alone, Fork

CLASSES = ("no", "perhaps", "yes")
WORDS: tuple[Any, ...] = ("no", "perhaps", "yes", " yes ", "No idea", "Error 429", "", None, float("nan"))
CONFIDENCES = (0.5, 0.9, 0.99, 1.0, 0.0, float("nan"), 0.25)


def log_of(rng: np.random.Generator, n_judges: int, n_cases: int = 60, *, wide: bool = False) -> AnswerLog:
    """Answers, half of them right, with silence, unknown words, and confidence of all judges but the last."""
    truth = rng.choice(CLASSES, n_cases)
    said = np.array(WORDS, dtype=object)[rng.integers(0, len(WORDS), (n_cases, n_judges))]
    right = rng.random(said.shape) < 0.5
    said = np.where(right, truth[:, None].astype(object), said)
    confidence = rng.choice(CONFIDENCES, said.shape) * (100 if wide else 1)
    confidence[:, -1] = np.nan
    return make_log(
        [f"j{place}" for place in range(n_judges)], np.arange(n_cases), said, truth, classes=CLASSES,
        measures=Measures(confidence=confidence, prices=[2.0**place for place in range(n_judges)]),
        features=pd.DataFrame(index=range(n_cases)),
    )  # fmt: skip


def decision_of(
    rng: np.random.Generator, kind: str, judges: tuple[int, ...], n_votes: int, n_classes: int
) -> JudgesDecision:
    """A decision of a kind, with votes of `n_votes` judges where it votes."""
    if kind == "scores":
        size = n_classes * (1 + len(judges) * (2 * n_classes + 1))
        return ScoreTable(judges, np.round(rng.normal(0, 1.5, size), int(rng.integers(0, 4))), n_classes)
    rule, missing, weights = kind.split()
    votes = rng.integers(0, 4, n_votes) if weights == "weighted" else np.ones(n_votes, dtype=int)
    return JudgeVotes(judges, tuple(votes.tolist()), rule, missing)


KINDS = (
    "scores", "plurality ignored equal", "plurality counted weighted", "majority ignored weighted",
    "majority counted equal",
)  # fmt: skip
"""Decision rules of stages."""


def panel_of_kind(rng: np.random.Generator, log: AnswerLog, kind: str, n_stages: int, final: Final) -> Panel:
    """A panel over all judges of a log."""
    n_judges, n_classes = len(log.judges), len(log.classes)
    order = rng.permutation(n_judges).tolist()
    parts = [part.tolist() for part in np.array_split(order, n_stages)]
    stages, asked = [], tuple[int, ...]()
    for part in parts:
        asked += tuple(part)
        answer_from = float(rng.choice([0.4, 0.5, 2 / 3, 0.75, 0.9, 1.0, np.inf]))
        decision = decision_of(rng, kind, tuple(rng.permutation(asked).tolist()), len(asked), n_classes)
        stages.append(Stage(tuple(part), decision, answer_from))
    scale: ConfidenceScale = confidence_scale(log)
    prices = tuple(log.prices[0].tolist())
    latencies = tuple(np.where(np.arange(n_judges) % 2, 0.5, np.nan).tolist())
    return Panel(log.judges, log.classes, tuple(stages), prices, scale, latencies, final)


def behind_a_router(panel: Panel) -> Panel:
    """A panel that answers cases of one topic alone, and asks one judge about short ones of another."""
    n_classes = len(panel.classes)
    alone = Stage((), Alone(n_classes - 1, (*(0.0,) * (n_classes - 1), 1.0)), 0.0)
    one = Stage((0,), JudgeVotes((0,), (1,)), 0.0)
    short = Fork("length", 20.5, (), (), 2, 3)
    router = Fork("topic", None, ("poem",), ("code", "poem"), 1, short)
    return replace(panel, router=router, branches=((alone,), (one,), panel.stages))


JUDGES = ("small", "<other> & co", "large")


def priced_log(seed: int = 0, n_cases: int = 240, *, latency: bool = True) -> AnswerLog:
    """Three judges, the dearer the better, who know when they are right."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["ham", "spam", "<b>"], n_cases)
    is_right = rng.random((n_cases, 3)) < [0.6, 0.75, 0.85]
    said = np.where(is_right, truth[:, None], rng.choice(["ham", "spam", "<b>"], (n_cases, 3)))
    confidence = np.where(said == truth[:, None], 0.95, 0.6) * rng.uniform(0.8, 1, said.shape)
    seconds = np.broadcast_to([0.5, 1.0, 2.0], said.shape) if latency else None
    measures = Measures(confidence=confidence, prices=[0.25, 1.0, 8.0], latency=seconds)
    return make_log(JUDGES, np.arange(n_cases), said, truth, measures=measures)
