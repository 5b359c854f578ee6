"""Answer of `shortlist stage` as JSON and for people."""

import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.text.output import listed, print_fitted, print_lines

if TYPE_CHECKING:
    from shortlist.cli.text.measured_table import Classes
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.multistage.holdout import StagedMeasure, StagedTable
    from shortlist.multistage.recall import Recall
    from shortlist.results.class_shares import Confusion
    from shortlist.results.front import Front


MOST_NAMED = 2
"""Largest number of lines for the features of a stage, as wide tables have hundreds."""


def unreachable(sentence: str, method: str, seconds: float) -> dict[str, Any]:
    """Return the facts for JSON if a limit is out of reach, so that nothing was fitted."""
    return {
        "method": method,
        "status": "infeasible",
        "seconds": seconds,
        "n_points": 0,
        "points": [],
        "reason": sentence[:1].upper() + sentence[1:],
        "chosen": None,
        "test": None,
        "advice": None,
        "out": None,
        "model": None,
    }


def front_part(classifier: "MultiStageClassifier", seconds: float) -> dict[str, Any]:
    """Return the facts that every command has, and the facts that need no chosen point."""
    import numpy as np

    from shortlist.cli.text.front_text import front_facts
    from shortlist.results.proof import ProofKind, Status

    front = classifier.front_
    complete = front.proof.kind is ProofKind.COMPLETE
    costs = classifier.costs_
    prices = costs.price(np.eye(len(costs.names), dtype=bool)) / costs.scale
    labels, thresholds = classifier.classes_.tolist(), classifier.problem_.decisions.rule.thresholds
    ties = front.extras.get("n_tied")
    return {
        "method": front.method,
        "why": front.extras.get("why", ""),
        "status": str(Status.OPTIMAL if complete else Status.FEASIBLE),
        "seconds": seconds,
        "test": None,
        "advice": None,
        "chosen": None,
        **front_facts(front),
        "points": front.values.tolist(),
        "confidence": {str(label): p for label, p in zip(labels, thresholds, strict=True)},
        "max_stages": classifier.problem_.max_stages,
        "n_fits": classifier.problem_.decisions.subclassifiers.n_fits,
        "n_assignments": None if ties is None else sum(ties),
        "evolution": _evolution_facts(front),
        "windows": _window_facts(front),
        "costs": dict(zip(costs.names, prices.tolist(), strict=True)),
        "total_cost": costs.total / costs.scale,
        "rows": None,
    }  # fmt: skip


def picked_facts(classifier: "MultiStageClassifier", rule: str) -> dict[str, Any]:
    """Return the facts on the point that predicts."""
    from shortlist.cli.text.front_text import held_out_facts
    from shortlist.report.stages import step_facts, units_of_rows

    front, point, steps = classifier.front_, classifier.point_, step_facts(classifier)
    ties = front.extras.get("n_tied")
    return {
        "index": point,
        "rule": rule,
        "held_out": held_out_facts(front, point),
        "values": dict(zip(front.names, front.values[point].tolist(), strict=True)),
        "assignment": dict(zip(classifier.costs_.names, classifier.assignment_.tolist(), strict=True)),
        "stages": [step["bought"] for step in steps],
        "asked": [step["asked"] for step in steps],
        "attributes": [step["amounts"] for step in steps],
        "most": {name: most for name, (_, most) in units_of_rows(classifier, None).items()},
        "n_tied": None if ties is None else ties[point],
        "guarantee": None if classifier.guarantee_ is None else classifier.guarantee_.as_dict(),
    }


def stage_facts(staged: "StagedTable", seconds: float, found: "Recall | None") -> dict[str, Any]:
    """Return all facts on a fitted classifier."""
    from shortlist.results.class_shares import class_shares
    from shortlist.results.verdicts import verdict_facts

    difference, labels = staged.difference, staged.classifier.classes_.tolist()
    facts = front_part(staged.classifier, seconds) | {
        "test": {
            "multi_stage": staged.test.as_dict() | _error_facts(staged, staged.test),
            "single_stage": staged.single_stage.as_dict() | _error_facts(staged, staged.single_stage),
            "classes": [one.as_dict() for one in class_shares(staged.test.confusion, labels)],
            "reached": staged.reached,
        },
        "advice": {
            "sentence": staged.sentence,
            **verdict_facts(staged.verdict),
            "difference": difference.gain,
            "difference_interval": list(difference.interval),
            "p_value": difference.p_value,
            "n_more_rows": difference.n_more,
        },
        "chosen": picked_facts(staged.classifier, str(staged.classifier.pick)),
        "rows": staged.n_rows,
    }
    if found is not None:
        facts["recall"] = _recall_facts(found)
    return facts


def _error_facts(staged: "StagedTable", measured: "StagedMeasure") -> dict[str, Any]:
    """Return facts on the cost of errors per row; empty if errors are only counted."""
    from shortlist.results.class_shares import cost_of_errors

    if staged.classifier.errors_ is None:
        return {}
    cost, *interval = cost_of_errors(measured.confusion, staged.classifier.errors_.table)
    return {"error_cost": cost, "error_cost_interval": interval}


def _evolution_facts(front: "Front") -> dict[str, Any] | None:
    """Return the facts on the evolution; None if evolution did not run."""
    if "n_generations" not in front.extras:
        return None
    return {
        name: front.extras[name] for name in ("n_generations", "n_evaluations", "n_chromosomes", "stopped")
    }


def _window_facts(front: "Front") -> dict[str, Any] | None:
    """Return the facts on the search in windows; None if it did not run."""
    if "n_windows" not in front.extras:
        return None
    return {name: front.extras[name] for name in ("n_windows", "n_rounds")}


def _recall_facts(found: "Recall") -> dict[str, Any]:
    return {
        "n_seeds": len(found.points),
        "points": found.points.mean(axis=0).tolist() if len(found.points) else [],
        "assignments": found.assignments.mean(axis=0).tolist() if len(found.points) else [],
    }


SHOWN_POINTS = 20
"""Largest number of points printed with details; shortlist front show prints all points."""


def _searched_lines(classifier: "MultiStageClassifier", seconds: float) -> list[str]:
    """Return lines on the number of points, their proof, and the method that found the points."""
    from shortlist.cli.text.front_text import headline
    from shortlist.multistage.search.emsco import ELITE_FILLS
    from shortlist.results.proof import ProofKind

    front = classifier.front_
    ties = front.extras.get("n_tied")
    least = "" if front.proof.kind is ProofKind.COMPLETE else "at least "
    behind = f"{least}{sum(ties):,} stage assignments" if ties else ""
    lines = [headline(front, seconds=seconds, behind=behind)]
    if front.proof.limit.endswith(" s"):
        lines.append("--time-limit 600 searches longer, and --time-limit inf to the end.")
    if front.extras.get("stopped") == ELITE_FILLS:
        lines.append(
            "The elites fill the population, so that nothing new can be bred. Use --set rules=distinct, or a "
            "larger --set population."
        )
    return lines


def _print_front(classifier: "MultiStageClassifier") -> None:
    """Print the search of the front, and its first points."""
    from shortlist._words import counted
    from shortlist.cli.text.front_text import print_frame, range_lines

    front = classifier.front_
    if front.method == "emsco":
        print(
            f"{front.extras['n_generations']} generations, {front.extras['n_evaluations']:,} assignments "
            f"measured, ended by: {front.extras['stopped']}."
        )
    if "n_windows" in front.extras and front.method != "enumerate":
        looked = counted(front.extras["n_windows"], "window")
        rounds = counted(front.extras["n_rounds"], "round")
        print(f"{looked} of features searched, {rounds} finished.")
    print("On the selection rows, which is optimistic:")
    picked = front.point(classifier.point_) if hasattr(classifier, "point_") else None
    print("\n".join(range_lines(front, picked)))
    print()
    frame = front.to_frame().round(4)
    if ties := front.extras.get("n_tied"):
        frame["tied"] = ties
    print_frame(frame, SHOWN_POINTS)


def print_used(classifier: "MultiStageClassifier", rule: str, *, details: bool = False) -> None:
    """Print the newly chosen point of a model, with its figures on held-out rows and the other points."""
    from shortlist.cli.text.front_text import held_out_facts, range_lines
    from shortlist.cli.text.measured_table import print_after_looking, print_held_out

    front, point = classifier.front_, classifier.point_
    print_lines(chosen_lines(classifier, rule, details=details))
    print()
    if (held := held_out_facts(front, point)) is not None:
        print_held_out(
            {f"point {point}": held},
            classes=_classes(classifier, held.get("confusion", ())),
            errors=None if classifier.errors_ is None else classifier.errors_.table,
        )
        print_after_looking(held["n_rows"])
    if classifier.guarantee_ is None or classifier.guarantee_.promised:
        print("\n".join(range_lines(front, front.point(point), details=details)))


def chosen_lines(
    classifier: "MultiStageClassifier",
    rule: str,
    reached: "list[float] | None" = None,
    *,
    details: bool = False,
) -> list[str]:
    """Return lines on the features that the predicting point buys at each stage or never, and the promise.

    `reached`: share of the rows that buy each stage, if it is known.
    """
    from shortlist.cli.text.front_text import MEANINGS
    from shortlist.report.stages import ALL, NEVER, step_facts, units_in_words, units_of_rows

    point, n = classifier.point_, len(classifier.front_)
    by = "" if rule.isdecimal() else f", {MEANINGS.get(rule, f'by {rule}')}"
    lines = [f"Buy in this order, point {point} of {n:,}{by}:"]
    steps = step_facts(classifier)
    priced = classifier.errors_ is not None
    same = {step["answers_from"] for step in (steps[:-1] if priced else steps)}
    each = same.pop() if len(same) == 1 and classifier.guarantee_ is None and same != {NEVER} else ""
    for number, step in enumerate(steps, start=1):
        paid = f"cost {step['more']:g}" if step["more"] > 0 else "free"
        paid += "".join(f", {name} {amount:g}" for name, amount in step["amounts"].items())
        paid += f", asks {step['asked']} members" if step["asked"] > 1 else ""
        if reached is not None and number > 1:
            paid += f", for {100 * reached[number - 1]:.3g} % of the rows"
        least = step["answers_from"]
        answers = (
            "only buys, and never answers" if least == NEVER else f"answers at probability {least} or more"
        )
        answers = f"answers {ALL}" if least == ALL else answers
        head = f"  stage {number}, {paid}: " if each else f"  stage {number}, {paid}, {answers}: "
        lines.append(listed(head, step["bought"], most_lines=MOST_NAMED, details=details))
    bought = {name for step in steps for name in step["bought"]}
    never = [name for name in classifier.costs_.names if name not in bought]
    if never:
        head = f"  never bought, {len(never)} of {len(classifier.costs_.names)}: "
        lines.append(listed(head, never, most_lines=MOST_NAMED, details=details))
    if classifier.costs_.attributes:
        lines.append(units_in_words(units_of_rows(classifier, reached)))
    last = steps[-1]["answers_from"] if priced else ""
    return [*lines, promise_text(classifier, each, last)]


def _classes(classifier: "MultiStageClassifier", confusion: "Confusion") -> "Classes | None":
    """Return the two classes whose recall and specificity are printed; None if accuracy is enough."""
    from shortlist.cli.text.measured_table import Classes
    from shortlist.multistage.holdout import shown_class

    positive = shown_class(classifier, confusion)
    return None if positive is None else Classes(classifier.classes_.tolist(), positive)


def promise_text(classifier: "MultiStageClassifier", answers_from: str = "", last: str = "") -> str:
    """Return a sentence on the promise about the predicting point's answers, or that there is none.

    `answers_from`: least probability of an answer, equal for all stages; empty if stages differ. `last`:
    words for the rows that the last stage answers, if errors have costs.
    """
    from shortlist.guarantees.guarantee import assumption
    from shortlist.report.stages import ALL

    found = classifier.guarantee_
    if found is None:
        each = "The confidence that an answer needs is"
        if last:
            own = last if last == ALL else f"from {last} on, and a person decides the others"
            rest = (
                f". Each stage answers at {answers_from} or more, the last one {own}" if answers_from else ""
            )
            return f"Probabilities are weighted by the costs of errors{rest}: thresholds, and no guarantee."
        if answers_from:
            each = f"Each answers at probability {answers_from} or more:"
        return f"{each} a threshold, and no guarantee about new rows."
    if not found.promised:
        return found.sentence()
    kept = sum(classifier.front_.extras["promised"])
    others = f" The confidence holds for all {kept:,} promised points together." if kept > 1 else ""
    return f"{found.sentence()}{others} {assumption()}"


def _print_stage(staged: "StagedTable", seconds: float, *, details: bool, follow: int) -> None:
    from shortlist._words import counted
    from shortlist.cli.text.measured_table import print_held_out

    classifier, counts, all_at_once = staged.classifier, staged.n_rows, staged.single_stage
    with contextlib.redirect_stdout(io.StringIO()) as measured:
        print_held_out(
            {"these stages": staged.test.as_dict(), "all at once": all_at_once.as_dict()},
            repeated="parts" in counts,
            classes=_classes(classifier, staged.test.confusion),
            errors=None if classifier.errors_ is None else classifier.errors_.table,
        )
    print_fitted(
        [staged.sentence, ""],
        chosen_lines(classifier, str(classifier.pick), staged.reached, details=details),
        ["", *measured.getvalue().splitlines(), "", *_searched_lines(classifier, seconds)],
        follow=follow,
        details=details,
    )
    if not details:
        return
    apart = f"{counts['calibration']} to calibrate, " if "calibration" in counts else ""
    judge = f"{counts['train']} rows to fit, {counts['validation']} to choose"
    if "folds" in counts:
        judge = f"{counts['validation']} rows in {counts['folds']} folds to fit and to choose"
    tested = f"{apart}{counts['test']} to test" if "parts" not in counts else "and to measure"
    print(
        f"{judge}, {tested}; "
        f"{len(classifier.classes_)} classes, {len(classifier.front_.candidates)} features."
    )
    if classifier.subclassifier is not None:
        n_fits = classifier.problem_.decisions.subclassifiers.n_fits
        print(f"{counted(n_fits, 'classifier')} of type {type(classifier.subclassifier).__name__} fitted.")
    _print_front(classifier)


def _print_recall(found: "Recall") -> None:
    if not len(found.points):
        print("Recall: stopped before a run of emsco ended.")
        return
    print()
    print(f"Share of the front in emsco's population, mean of {len(found.points)} seeds")
    print(f"{'generation':<12}{'points':>9}{'assignments':>13}")
    last = found.points.shape[1] - 1
    for generation in sorted({0, last // 10, last // 4, last // 2, last}):
        points, assignments = found.points[:, generation].mean(), found.assignments[:, generation].mean()
        print(f"{generation:<12}{points:>9.3f}{assignments:>13.3g}")


def print_staged(
    classifier: "MultiStageClassifier",
    staged: "StagedTable | None",
    seconds: float,
    found: "Recall | None",
    *,
    details: bool = False,
    follow: int = 0,
) -> None:
    """Print the answer of stage for people; `follow`: number of lines that are printed afterwards."""
    if staged is None:
        print_lines(_searched_lines(classifier, seconds))
        _print_front(classifier)
        return
    _print_stage(staged, seconds, details=details, follow=follow)
    if found is not None:
        _print_recall(found)


def stage_notes(classifier: "MultiStageClassifier", staged: "StagedTable | None") -> list[str]:
    """Return the notes on the answer."""
    from shortlist.cli.text.measured_table import one_answer_notes

    if staged is None:
        return []
    return list(classifier.notes_) + one_answer_notes(
        staged.judged.only_answer, staged.test.only_answer, who="the chosen point", rows="validation"
    )


def kept_text(front_file: Path | None, model_file: Path | None, *, picked: bool) -> str:
    """Return a sentence on the files written before the last step failed."""
    kept = ""
    if front_file is not None:
        kept += f" The front is in {front_file}."
    if model_file is not None:
        kept += f" The model is in {model_file}"
        kept += (
            "."
            if picked
            else f"; take a point: shortlist stage use {model_file} --pick NUMBER --out NEW.joblib."
        )
    return kept


def saved_lines(front_file: Path | None, model_file: Path | None, *, details: bool = False) -> list[str]:
    """Return lines on the written files and their use."""
    lines = []
    if front_file is not None:
        lines.append(f"Written: {front_file}, all points. Next: shortlist front show {front_file}")
    if model_file is not None:
        lines.append(f"Written: {model_file}. Next: shortlist predict {model_file} NEW.csv --explain")
    others = "--out FRONT.parquet all points" if details else "--details has the other points"
    return lines or [f"Next: --out STAGES.joblib writes the classifier; {others}."]
