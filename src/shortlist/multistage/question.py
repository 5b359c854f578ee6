"""What the parameters of a classifier of stages ask: the problem, what fits, and what binds a study."""

from typing import Any

from shortlist._validation import as_count
from shortlist._words import any_of, did_you_mean
from shortlist.errors import BadInputError
from shortlist.guarantees.guarantee import Demand, as_demand
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.search.stage_objectives import StageProblem, stage_problem, within_rules
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits
from shortlist.multistage.subclassifiers.foreign_subclassifiers import (
    ForeignSubclassifiers,
    SharedSubclassifiers,
    counts_members,
)
from shortlist.multistage.subclassifiers.subclassifiers import LogisticSubclassifiers, StageRows
from shortlist.runs import Budget
from shortlist.runs.studies.study import as_settings, digest_of_arrays

USUAL_STAGES = 4

CHOICES = {
    "pick", "limits", "reject_label", "answer_rejected", "time_limit_s", "n_jobs", "answer_accuracy",
    "confidence_level", "calibration_share",
}  # fmt: skip
"""Parameters that a study is not bound to: they choose from what is found, or say how long to look. Which
rows calibrate shows in those that are left."""


def state_problem(asked: Any, rows: StageRows, budget: Budget) -> StageProblem:
    """State the problem; nothing is fitted yet."""
    n = rows.n_features
    k = min(USUAL_STAGES, n) if asked.max_stages is None else as_count(asked.max_stages, "max_stages")
    subclassifiers = fits_of(asked, rows, budget)
    if asked.share_fits:
        if asked.subclassifier is None:
            raise BadInputError("share_fits", "needs a subclassifier", "none", "Pass one, or leave it out.")
        subclassifiers = SharedSubclassifiers(subclassifiers, seed=budget.seed)
    labels = asked.classes_.tolist()
    for argument, given in (("penalties", list(asked.penalties or {})), ("positive", [asked.positive])):
        unknown = [label for label in given if label is not None and label not in labels]
        if unknown:
            raise BadInputError(
                argument,
                f"must name a class, {any_of(labels)}",
                repr(unknown[0]),
                did_you_mean(unknown[0], labels),
            )
    problem = stage_problem(
        DecisionBits(
            subclassifiers,
            reject_rule(asked.confidence, asked.classes_, risk=asked.accuracy_risk, max_stages=k),
        ),
        asked.costs_,
        max_stages=k,
        objectives=asked.objectives,
        penalties={labels.index(label): value for label, value in (asked.penalties or {}).items()},
        positive=len(labels) - 1 if asked.positive is None else labels.index(asked.positive),
        call_cost=asked.call_cost,
        call_cost_per_feature=asked.call_cost_per_feature,
        removal=asked.removal,
    )
    if asked.purchase_rules is None:
        return problem
    return within_rules(problem, asked.purchase_rules.of_columns(asked.costs_.names))


def fits_of(asked: Any, rows: StageRows, budget: Budget, **places: Any) -> Any:
    """Return what fits and validates the classifier of any set of features."""
    common: dict[str, Any] = {"n_jobs": asked.n_jobs or 1, "budget": budget} | places
    if asked.subclassifier is None:
        return LogisticSubclassifiers(rows, C=asked.C, scale=asked.scale, **common)
    return ForeignSubclassifiers(rows, asked.subclassifier, **common)


def question_of(asked: Any, rows: StageRows, seed: int) -> dict[str, Any]:
    """Return what decides what a search finds: the rows, the seed, and all parameters but a few."""
    arrays = (rows.fit_rows, rows.fit_labels, rows.validation_rows, rows.validation_labels)
    folds = () if rows.fold_of is None else (rows.fold_of,)
    given = {name: value for name, value in asked.get_params(deep=False).items() if name not in CHOICES}
    settings = given | {"random_state": seed, "feature_costs": asked.costs_.as_settings()}
    if "evaluation_cost" in asked.objectives and counts_members(asked.subclassifier):
        settings["objectives"] = [
            "evaluation_cost of members" if name == "evaluation_cost" else name for name in asked.objectives
        ]
    return as_settings(settings) | {"the rows": digest_of_arrays((*arrays, *folds))}


def demand_of(asked: Any, calibration: Any) -> Demand | None:
    """Return what is to be promised, if anything is."""
    if asked.answer_accuracy is None:
        if calibration is not None:
            raise BadInputError(
                "calibration", "needs `answer_accuracy`", "none", "Pass it, or leave these rows out."
            )
        return None
    if asked.answer_rejected:
        raise BadInputError(
            "answer_rejected",
            "must be False with `answer_accuracy`",
            "True",
            "A promise is about the rows that are answered with confidence.",
        )
    return as_demand(asked.answer_accuracy, asked.confidence_level)
