"""Multi-stage classifiers as parts of a page: the path of rows, costs, confidence, and what is bought."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import counted
from shortlist.multistage.predict.prediction import decide_known
from shortlist.report.fronts import front_parts
from shortlist.report.parts import Chart, Facts, Heading, Parts, Table, Text
from shortlist.report.promises import guarantee_parts
from shortlist.results.front import Front

if TYPE_CHECKING:
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.multistage.holdout import StagedTable

CONFIDENCES = tuple(round(0.5 + 0.025 * step, 3) for step in range(21))
"""The confidence thresholds that are tried for the picture, from one half to one."""

PATHS = {"enter": "c6", "right": "right", "wrong": "wrong", "go on, or rejected at the last stage": "c3"}
"""What rows do at a stage, and its colour."""

MOST_FEATURES = 40
"""So many features at most are in the picture of what is bought when."""


def staged_parts(classifier: "MultiStageClassifier", staged: "StagedTable | None" = None) -> Parts:
    """Return the parts of a page that show a multi-stage classifier.

    Parameters
    ----------
    classifier : MultiStageClassifier
        Fitted; it may have a front only, where no point is as it was asked for.
    staged : StagedTable, optional
        What it does on rows that were held out.
    """
    front = classifier.front_
    parts: list[Any] = []
    picks = []
    if hasattr(classifier, "point_"):
        rule = str(classifier.pick)
        pick = front.point(classifier.point_, rule)
        picks = [("front", pick, f"The classifier predicts with this point, taken by {rule}.")]
        parts += [*_steps(classifier), *_tested(staged)]
        if classifier.guarantee_ is not None:
            parts += guarantee_parts(classifier.guarantee_)
        parts += _chosen(classifier)
        if hasattr(classifier, "problem_"):
            parts += [*_path(classifier), *_confidence(classifier)]
    parts += front_parts({"front": front}, picks=picks, heading="The front, on the rows that judged")
    chart = bought_when(front)
    return [*parts, *([chart] if chart else [])]


def _steps(classifier: "MultiStageClassifier") -> Parts:
    """Return what to buy step after step, at which price, and from which probability on a step answers."""
    names, scale = classifier.costs_.names, classifier.costs_.scale
    model = classifier.model_
    rows, paid = [], 0.0
    for number, stage in enumerate(model.stages, start=1):
        price = stage.price / scale
        bought = ", ".join(names[i] for i in stage.bought) or "nothing"
        least = [max(one, stage.least) for one in model.rule.thresholds]
        rows.append((f"{number}. Buy {bought}", f"{price - paid:g}", f"{price:g}", _least(classifier, least)))
        paid = price
    last = "Take the most probable class" if classifier.answer_rejected else "Ask a person"
    rows.append((f"{len(rows) + 1}. {last}", "", "", "what is left"))
    columns = ("step", "price", "paid by then", "answers from a probability of")
    return [Heading("What to do"), Table("Step after step, until one answers", columns, tuple(rows))]


def _least(classifier: "MultiStageClassifier", least: Sequence[float]) -> str:
    """Say from which probability on each class is answered, once where it is the same for all."""
    texts = [f"{one:.4g}" if one <= 1 else "never" for one in least]
    if len(set(texts)) == 1:
        return texts[0]
    return ", ".join(f"{label} {text}" for label, text in zip(classifier.classes_, texts, strict=True))


def _chosen(classifier: "MultiStageClassifier") -> Parts:
    """Return the point that predicts."""
    point = classifier.point_
    values = zip(classifier.front_.names, classifier.front_.values[point], strict=True)
    return [
        Heading("The point"),
        Facts(
            (
                ("point", f"{point} of the front, taken by {classifier.pick}"),
                *((name, f"{value:.4g} on the rows that judged") for name, value in values),
            )
        ),
    ]


def _path(classifier: "MultiStageClassifier") -> Parts:
    """Return the path of the rows that judged through the stages, and what they cost there."""
    rows = classifier.problem_.decisions.subclassifiers.rows
    decisions = decide_known(classifier.model_, rows.validation_rows)
    truth = rows.validation_labels
    prices = [stage.price / classifier.costs_.scale for stage in classifier.model_.stages]
    labels = [f"stage {number}" for number in range(1, len(prices) + 1)]
    counts, spent = [], []
    for number, price in enumerate(prices, start=1):
        here = decisions.stages == number
        right = int((here & (decisions.labels == truth)).sum())
        answered = int((here & (decisions.labels >= 0)).sum())
        entered = int((decisions.stages >= number).sum())
        counts.append((entered, right, answered - right, entered - answered))
        spent.append(float(here.sum()) * price / len(truth))
    rejected = int((decisions.labels < 0).sum())
    series = [
        {"name": name, "ink": ink, "values": [each[place] for each in counts]}
        for place, (name, ink) in enumerate(PATHS.items())
    ]
    return [
        Chart(
            "The path of rows through the stages",
            f"{counted(len(truth), 'row')} that judged enter stage 1; {rejected:,} are rejected after "
            "the last.",
            {"kind": "bar", "names": labels, "series": series, "x": {"label": "rows"}},
            Table(
                "The path of the rows that judged",
                ("stage", "rows enter", "right", "wrong", "go on"),
                tuple((label, *(f"{n:,}" for n in each)) for label, each in zip(labels, counts, strict=True)),
            ),
        ),
        Chart(
            "Cost per stage",
            f"A row that needs every stage pays {prices[-1]:g}; the mean is {decisions.costs.mean():.4g}.",
            {
                "kind": "bar",
                "names": labels,
                "series": [
                    {"name": "what a row has paid that ends here", "values": prices},
                    {"name": "share of the mean that rows make which end here", "values": spent},
                ],
                "x": {"label": "cost"},
            },
            Table(
                "Cost per stage",
                ("stage", "a row has paid", "share of the mean"),
                tuple(
                    (label, f"{price:g}", f"{part:.4g}")
                    for label, price, part in zip(labels, prices, spent, strict=True)
                ),
            ),
        ),
    ]


def _tested(staged: "StagedTable | None") -> Parts:
    """Return what is measured on rows that were held out."""
    if staged is None:
        return [
            Text(
                "Rows that judged and rows that were held out are not in a model file: the page that the "
                "command writes when it makes the model shows them, their path through the stages, and other "
                "confidences.",
                note=True,
            )
        ]
    measured = (("multi-stage", staged.test), ("single stage", staged.single_stage))
    rows = tuple((name, f"{m.coverage:.4f}", f"{m.accuracy:.4f}", f"{m.cost:.4g}") for name, m in measured)
    title = f"On {counted(staged.n_rows['test'], 'row')} that nothing was fitted on"
    return [Table(title, ("classifier", "coverage", "accuracy", "cost"), rows)]


def _confidence(classifier: "MultiStageClassifier") -> Parts:
    """Return coverage and accuracy of the same stages under other confidence thresholds."""
    rows = classifier.problem_.decisions.subclassifiers.rows
    truth = rows.validation_labels
    model = classifier.model_
    found = []
    for threshold in CONFIDENCES:
        rule = dataclasses.replace(model.rule, thresholds=(threshold,) * len(model.rule.thresholds))
        decisions = decide_known(dataclasses.replace(model, rule=rule), rows.validation_rows)
        answered = decisions.labels >= 0
        accuracy = float((decisions.labels == truth)[answered].mean()) if answered.any() else None
        found.append((threshold, float(answered.mean()), accuracy, float(decisions.costs.mean())))
    own = sorted(set(model.rule.thresholds))
    marks = [{"at": one, "text": f"here {one:g}"} for one in own[:1]] if len(own) == 1 else []
    risk = " Thresholds that a careful rule raised stay raised." if model.rule.risk is not None else ""
    return [
        Chart(
            "Coverage and accuracy against the confidence",
            "The same stages with another threshold for all classes, on the rows that judged. From "
            f"{CONFIDENCES[0]:g} to {CONFIDENCES[-1]:g} coverage goes from {found[0][1]:.3f} to "
            f"{found[-1][1]:.3f}.{risk}",
            {
                "kind": "line",
                "x": {"label": "confidence asked for"},
                "y": {"label": "share of the rows", "range": [0, 1]},
                "series": [
                    {"name": "coverage", "points": [[one[0], one[1]] for one in found]},
                    {"name": "accuracy on what is covered", "points": [[one[0], one[2]] for one in found]},
                ],
                "marks": marks,
            },
            Table(
                "Coverage and accuracy against the confidence",
                ("confidence", "coverage", "accuracy", "mean cost"),
                tuple(
                    (f"{p:g}", f"{share:.4f}", "none" if right is None else f"{right:.4f}", f"{cost:.4g}")
                    for p, share, right, cost in found
                ),
            ),
        )
    ]


def bought_when(front: Front) -> Chart | None:
    """Return at which stage each feature is bought, over the points of a front; None without points."""
    if not len(front) or not front.candidates:
        return None
    last = int(front.decisions.max())
    columns = [*(f"stage {number + 1}" for number in range(last + 1)), "never"]
    shares = np.stack([(front.decisions == stage).mean(axis=0) for stage in (*range(last + 1), -1)], axis=1)
    early = shares @ np.arange(len(columns))
    order = np.argsort(early, kind="stable")
    shown = order[:MOST_FEATURES]
    more = (
        f" The earliest {len(shown)} of {len(order):,} features are drawn." if len(order) > len(shown) else ""
    )
    percent = (100 * shares).round(1)
    names = front.candidates
    return Chart(
        "Which feature is bought when",
        f"Share of the {counted(len(front), 'point')} of the front that buy a feature at a stage; earliest "
        f"{names[order[0]]}.{more}",
        {
            "kind": "counts",
            "rows": [names[i] for i in shown],
            "columns": columns,
            "values": percent[shown].tolist(),
            "most": 100,
            "x": {"label": "% of the points"},
        },
        Table(
            "Share of the points, in %",
            ("feature", *columns),
            tuple((names[i], *map(str, percent[i].tolist())) for i in order),
        ),
    )
