"""Panels from policy files in plain JSON, which the exported reader also reads."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.errors import BadFileError
from shortlist.export import reader
from shortlist.panels.decisions import (
    BY_CONFIDENCE,
    UNANSWERED,
    VOTE_RULES,
    ConfidenceScale,
    Curve,
    JudgesDecision,
    JudgeVotes,
    LatestAnswer,
    ScoreTable,
)
from shortlist.panels.policy import NEVER, Final, Panel, Question, Stage
from shortlist.panels.router import ALONE, Alone, router_of


def load_panel(path: str | Path) -> Panel:
    """Read a panel from a policy file.

    Raises
    ------
    BadFileError
        If the file cannot be read, is damaged, or holds a policy of another kind.
    """
    try:
        policy = reader.load(str(path))
    except OSError as error:
        raise BadFileError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    except reader.ReaderError as error:
        raise BadFileError(str(error)) from None
    if policy["kind"] != "panel":
        raise BadFileError(
            path, "must be the policy of a panel", f"one of kind {policy['kind']!r}", "Check the path."
        )
    return panel_of(policy)


def panel_of(policy: dict[str, Any]) -> Panel:
    """Return the panel of a policy that :func:`shortlist.export.reader.check` accepts."""
    judges = policy["judges"]
    final = policy["final"]
    return Panel(
        judges=tuple(judge["name"] for judge in judges),
        classes=tuple(policy["classes"]),
        stages=_stages(policy, policy["stages"]),
        prices=tuple(judge["price"] for judge in judges),
        scale=ConfidenceScale(tuple(_curve(judge["confidence"]) for judge in judges)),
        latencies=tuple(math.nan if judge["latency"] is None else judge["latency"] for judge in judges),
        final=Final(final["kind"], final["price"]),
        promise=policy["promise"],
        router=router_of(policy["router"]) if "router" in policy else None,
        branches=tuple(_stages(policy, stages) for stages in policy.get("branches", ())),
        question=_question(policy["question"]) if "question" in policy else None,
        folds_case=policy.get("fold_case", False),
        folds_punctuation=policy.get("fold_punctuation", False),
    )


def _question(plain: dict[str, Any]) -> Question:
    costs = tuple(tuple(map(int, row)) for row in plain["error_costs"])
    demand = plain.get("promise")
    promise = None if demand is None else (float(demand[0]), float(demand[1]))
    return Question(tuple(plain["objectives"]), costs, plain["positive"], promise)


def _curve(plain: dict[str, Any] | None) -> Curve | None:
    if plain is None:
        return None
    knots, values = (np.array(plain[name], dtype=np.float64) for name in ("knots", "values"))
    return Curve(knots, values, float(plain["usual"]))


def _stages(policy: dict[str, Any], stages: list[dict[str, Any]]) -> tuple[Stage, ...]:
    return tuple(_stage(stage, len(policy["classes"])) for stage in stages)


def _stage(stage: dict[str, Any], n_classes: int) -> Stage:
    least = NEVER if stage["answer_from"] is None else stage["answer_from"]
    return Stage(tuple(stage["asks"]), _decision(stage, n_classes), least)


def _decision(stage: dict[str, Any], n_classes: int) -> JudgesDecision:
    plain, judges = stage["decision"], tuple(stage["knows"])
    if plain["rule"] == ALONE:
        return Alone(plain["label"], tuple(plain["shares"]))
    if plain["rule"] == BY_CONFIDENCE:
        return LatestAnswer(judges)
    if plain["rule"] in VOTE_RULES:
        return JudgeVotes(
            judges, tuple(plain["votes"]), plain["rule"], plain["missing"], plain.get("ties", UNANSWERED)
        )
    parts = (np.array(plain[name], dtype=np.float64).ravel() for name in ("bias", "labels", "slopes"))
    return ScoreTable(judges, np.concatenate(list(parts)), n_classes, plain["rule"])
