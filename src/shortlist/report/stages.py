"""Multi-stage classifiers as parts of a page: the path of rows, costs, confidence, and purchases."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import counted
from shortlist.errors import UnmetChoiceError
from shortlist.multistage.holdout import (
    REACHED,
    fact_of_point,
    point_figures,
    shown_class,
    validation_decisions,
)
from shortlist.multistage.predict.point_choice import choose_point
from shortlist.multistage.predict.prediction import stage_amounts
from shortlist.multistage.subclassifiers.foreign_subclassifiers import asked_by_price
from shortlist.report.fronts import front_parts
from shortlist.report.held_out import confusion_chart
from shortlist.report.page import Chart, Facts, Heading, Parts, Table, Text, guarantee_parts
from shortlist.results.class_shares import class_shares, cost_of_errors, whole_rows
from shortlist.results.front import Front
from shortlist.results.intervals import Interval, with_interval
from shortlist.results.picking import why_none

if TYPE_CHECKING:
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.multistage.holdout import StagedTable
    from shortlist.multistage.predict.prediction import FittedStage
    from shortlist.multistage.problem.error_prices import ErrorPrices

CONFIDENCES = tuple(round(0.5 + 0.025 * step, 3) for step in range(21))
"""Confidence thresholds in the picture, from one half to one."""

PATHS = {"enter": "c6", "right": "right", "wrong": "wrong", "go on, or rejected at the last stage": "c3"}
"""Paths of rows at a stage, with their colours."""

NEVER = "never"
"""Word for the least probability of a stage that never answers, and only buys for the next one."""

ALL = "all that is left"
"""Words for the least probability of the last stage if it answers all remaining rows."""

MOST_FEATURES = 40
"""Largest number of features in the picture of purchases by stage."""


def staged_parts(classifier: "MultiStageClassifier", staged: "StagedTable | None" = None) -> Parts:
    """Return the parts of a page about a multi-stage classifier.

    `classifier`: fitted; no point of its front may meet the request. `staged`: figures of the classifier on
    the rows that measure.
    """
    front = classifier.front_
    parts: list[Any] = []
    picks = []
    if hasattr(classifier, "point_"):
        rule = _taken_by(classifier)
        pick = front.point(classifier.point_, rule)
        picks = [("front", pick, f"The classifier predicts with this point, taken by {rule}.")]
        parts += [*_steps(classifier, staged), *_tested(classifier, staged)]
        if classifier.guarantee_ is not None:
            parts += guarantee_parts(classifier.guarantee_)
        parts += _chosen(classifier)
        if hasattr(classifier, "problem_"):
            parts += [*_path(classifier), *(_confidence(classifier) if classifier.errors_ is None else ())]
    else:
        parts += [Heading("What to do"), Text(_without_point(classifier))]
    parts += front_parts({"front": front}, picks=picks, heading="The front, on the selection rows")
    chart = bought_when(front)
    return [*parts, *([chart] if chart else [])]


def _taken_by(classifier: "MultiStageClassifier") -> str:
    """Return the name of the rule that takes the predicting point; ``number`` if the user names the point."""
    try:
        taken = choose_point(classifier.front_, classifier.pick, classifier.limits)
    except UnmetChoiceError:
        return "number"
    return str(classifier.pick) if taken == classifier.point_ else "number"


def _without_point(classifier: "MultiStageClassifier") -> str:
    """Return a sentence on the reason that no point predicts, with advice."""
    front = classifier.front_
    advice = "Widen a limit, or take one of the points below with the command shortlist stage use."
    if not any(front.extras.get("promised", [True])):
        advice = "Ask for less, by a smaller accuracy of the answers, or bring more rows."
    return f"{why_none(front, classifier.limits)} So nothing predicts yet. {advice}"


def step_facts(classifier: "MultiStageClassifier") -> list[dict[str, Any]]:
    """Return the facts about each stage: features, prices, judges, and the rule for answers."""
    model, paid, found = classifier.model_, 0.0, []
    for stage, amounts in zip(model.stages, stage_amounts(model), strict=True):
        price = stage.price / classifier.costs_.scale
        found.append(
            {
                "bought": [classifier.costs_.names[i] for i in stage.bought], "price": price,
                "more": price - paid, "amounts": amounts,
                "asked": int(asked_by_price(getattr(stage.model, "estimator", None), 1).sum()),
                "answers_from": answers_from(classifier, stage),
            }
        )  # fmt: skip
        paid = price
    return found


def units_of_rows(
    classifier: "MultiStageClassifier", reached: Sequence[float] | None
) -> dict[str, tuple[float | None, float]]:
    """Return the mean and the largest amount of every attribute per row, and the largest price.

    `reached`: share of the rows that buy each stage; None: the means are None.
    """
    steps = step_facts(classifier)
    found: dict[str, tuple[float | None, float]] = {"cost": (None, steps[-1]["price"])}
    for name in steps[0]["amounts"]:
        each = [step["amounts"][name] for step in steps]
        shares = None if reached is None else zip(each, reached, strict=True)
        found[name] = None if shares is None else sum(one * part for one, part in shares), sum(each)
    return found


def units_in_words(units: Mapping[str, tuple[float | None, float]]) -> str:
    """Return a sentence on the mean and largest amounts that rows take.

    >>> units_in_words({"cost": (None, 179.0), "hours": (4.1, 32.0)})
    'No row takes more than cost 179, hours 32 (4.1 on average).'
    """
    told = [
        f"{name} {most:g}" + ("" if mean is None else f" ({mean:.4g} on average)")
        for name, (mean, most) in units.items()
    ]
    return f"No row takes more than {', '.join(told)}."


def _steps(classifier: "MultiStageClassifier", staged: "StagedTable | None") -> Parts:
    steps = step_facts(classifier)
    taken = steps[0]["amounts"]
    rows = [
        (
            f"{number}. Buy {', '.join(step['bought']) or 'nothing'}",
            f"{step['more']:g}", f"{step['price']:g}",
            *(f"{amount:g}" for amount in step["amounts"].values()), step["answers_from"],
        )
        for number, step in enumerate(steps, start=1)
    ]  # fmt: skip
    last = "Take the most probable class" if classifier.answer_rejected else "Ask a person"
    if steps[-1]["answers_from"] != ALL:
        rows.append((f"{len(rows) + 1}. {last}", "", "", *("" for _ in taken), "what is left"))
    columns = ("step", "price", "paid by then", *taken, "answers from a probability of")
    told = [] if staged is None else [Text(staged.sentence)]
    reached = (fact_of_point(classifier, REACHED) or {"shares": None})["shares"]
    units = Text(units_in_words(units_of_rows(classifier, reached)), note=True)
    table = Table("Step after step, until one answers", columns, tuple(rows))
    return [Heading("What to do"), *told, table, units]


def answers_from(classifier: "MultiStageClassifier", stage: "FittedStage") -> str:
    """Return the least probability of an answer for each class, in words; one number if all are equal."""
    least = [max(one, stage.least) for one in classifier.model_.rule.thresholds]
    if classifier.errors_ is not None and classifier.errors_.hand_over is None and stage.least == 0:
        return ALL
    texts = [f"{one:.4g}" if one <= 1 else NEVER for one in least]
    if len(set(texts)) == 1:
        return texts[0]
    return ", ".join(f"{label} {text}" for label, text in zip(classifier.classes_, texts, strict=True))


def _chosen(classifier: "MultiStageClassifier") -> Parts:
    point, guarantee = classifier.point_, classifier.guarantee_
    answers = guarantee is None or guarantee.promised
    values = zip(classifier.front_.names, classifier.front_.values[point], strict=True) if answers else ()
    return [
        Heading("The point"),
        Facts(
            (
                ("point", f"{point} of the front, taken by {_taken_by(classifier)}"),
                *((f"{name}, on the selection rows", f"{value:.4g}") for name, value in values),
            )
        ),
    ]


def _path(classifier: "MultiStageClassifier") -> Parts:
    decisions = validation_decisions(classifier)
    truth = classifier.problem_.labels
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
            f"{counted(len(truth), 'row')} for selection enter stage 1; {rejected:,} are rejected after the "
            "last.",
            {"kind": "bar", "names": labels, "series": series, "x": {"label": "rows"}},
            Table(
                "The path of the selection rows",
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
                    {"name": "price paid by a row that ends here", "values": prices},
                    {"name": "share of the mean cost, of rows that end here", "values": spent},
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


def _tested(classifier: "MultiStageClassifier", staged: "StagedTable | None") -> Parts:
    point = classifier.point_
    if staged is not None:
        measured = {"these stages": staged.test.as_dict(), "all at once": staged.single_stage.as_dict()}
    elif (told := point_figures(classifier)) is not None:
        measured = {f"point {point}": told}
    elif "held_out" in classifier.front_.extras:
        return []
    else:
        return [
            Text(
                "No rows were held out: all figures of points are out of fold, on the selection rows.",
                note=True,
            )
        ]
    names, errors = ("coverage", "accuracy", "cost"), classifier.errors_
    rows = tuple(
        (name, *(_with_interval(one[each], one[f"{each}_interval"]) for each in names), *_errors(errors, one))
        for name, one in measured.items()
    )
    n_rows = next(iter(measured.values()))["n_rows"]
    repeated = "held_out" not in classifier.front_.extras
    confusion_and_shares = _by_class(classifier, next(iter(measured.values())), repeated=repeated)
    return [
        Table(
            f"Repeated choice: {counted(n_rows, 'row')}, each measured by choices made without it"
            if repeated
            else f"Held out: {counted(n_rows, 'test row')}, on which nothing was fitted and nothing chosen",
            (
                "classifier",
                "answered",
                "right of these",
                "mean cost",
                *(["cost of errors"] if errors else []),
            ),
            rows,
        ),
        *confusion_and_shares[:1],
        Text(
            "In brackets intervals at 95 %: Wilson's for shares, normal for the mean cost. If several points "
            "are looked at, the figures of the best of them on these rows are optimistic.",
            note=True,
        ),
        *confusion_and_shares[1:],
    ]


def _errors(errors: "ErrorPrices | None", told: Mapping[str, Any]) -> list[str]:
    if errors is None:
        return []
    cost, *interval = cost_of_errors(told["confusion"], errors.table)
    return [with_interval(cost, (interval[0], interval[1]))]


def _by_class(classifier: "MultiStageClassifier", told: Mapping[str, Any], *, repeated: bool) -> Parts:
    """Return the confusion, and the shares of each class with right, wrong and no answers."""
    if "confusion" not in told:  # of an earlier version
        return []
    shown = shown_class(classifier, told["confusion"])
    labels = classifier.classes_.tolist()
    names = {} if shown is None else {str(labels[shown]): ", recall", str(labels[1 - shown]): ", specificity"}
    rows = tuple(
        (
            f"{one.label}{names.get(one.label, '')}", f"{one.n_rows:,.4g}",
            *(with_interval(each[0], each[1:]) for each in (one.right, one.wrong, one.unanswered)),
        )
        for one in class_shares(told["confusion"], labels)
    )  # fmt: skip
    columns = ("true class", "rows", "answered rightly", "answered otherwise", "not answered")
    where = "by repeated choice" if repeated else "on the test rows"
    return [
        confusion_chart(f"Confusion {where}", whole_rows(np.array(told["confusion"])), classifier.classes_),
        Table(f"Rows of each class, {where}", columns, rows),
    ]


def _with_interval(value: float, interval: Interval | None) -> str:
    return "none" if interval is None else with_interval(value, interval)


def _confidence(classifier: "MultiStageClassifier") -> Parts:
    truth = classifier.problem_.labels
    model = classifier.model_
    found = []
    for threshold in CONFIDENCES:
        rule = dataclasses.replace(model.rule, thresholds=(threshold,) * len(model.rule.thresholds))
        decisions = validation_decisions(classifier, rule)
        answered = decisions.labels >= 0
        accuracy = float((decisions.labels == truth)[answered].mean()) if answered.any() else None
        found.append((threshold, float(answered.mean()), accuracy, float(decisions.costs.mean())))
    own, promise = sorted(set(model.rule.thresholds)), classifier.guarantee_
    marks = [{"at": one, "text": f"asked for: {one:g}"} for one in own[:1]] if len(own) == 1 else []
    if promise is not None and promise.promised and promise.threshold >= max(own[0], CONFIDENCES[0]):
        marks = [{"at": promise.threshold, "text": f"promised from {promise.threshold:.3g}"}]
    also = "" if classifier.guarantee_ is None else " The threshold of the promise is required as well."
    return [
        Chart(
            "Coverage and accuracy against the confidence",
            "The same stages with another threshold for all classes, on the selection rows. From "
            f"{CONFIDENCES[0]:g} to {CONFIDENCES[-1]:g} coverage goes from {found[0][1]:.3f} to "
            f"{found[-1][1]:.3f}.{also}",
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
    """Return a picture of the stage at which each feature is bought, over the points; None without points."""
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
