"""`shortlist stage use`: another point of a saved model's front, without fitting anything again."""

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.options.shared import (
    POINT,
    Details,
    Json,
    LimitTexts,
    SavedModelFile,
    Trust,
    output,
)
from shortlist.cli.text.output import print_json, print_notes, run_facts, save


def use(
    context: typer.Context,
    model: SavedModelFile,
    *,
    pick: Annotated[
        str,
        typer.Option(
            help=f"{POINT}, by the rule one-se, norm, ideal, knee, weights or lexicographic, or by its "
            "number; it predicts."
        ),
    ] = "one-se",
    limit: LimitTexts = None,
    out: Annotated[
        Path | None, output("the model, ending in .joblib; without it the point is shown.")
    ] = None,
    trust: Trust = False,
    details: Details = False,
    json: Json = False,
) -> None:
    """Take another point of a saved model's front.

    Nothing is fitted; the new model predicts with that point. The first figures are those on the hold-out
    set. Where nothing is promised about any point, each may be taken. Type ./use for a table that is called
    use.
    """
    from shortlist.cli.files import MODEL_FILE, check_files

    check_files(inputs={"MODEL": model}, outputs={"--out": out}, endings={"--out": MODEL_FILE})
    from dataclasses import replace

    from shortlist.cli.options.points import read_limits
    from shortlist.cli.options.stage_options import point_or_rule
    from shortlist.cli.text.front_text import no_point
    from shortlist.cli.text.stage_report import picked_facts, print_used
    from shortlist.errors import BadInputError
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.multistage.holdout import reported_figures
    from shortlist.multistage.predict.point_choice import choose_point
    from shortlist.results.front import without_promises
    from shortlist.saved_models import load_model, made_by, save_model

    wanted = point_or_rule(pick)
    saved = load_model(model, trust=trust)
    classifier = saved.estimator
    if not isinstance(classifier, MultiStageClassifier):
        has_stages = hasattr(classifier, "decision_report")
        maker = type(classifier).__name__ if has_stages else made_by(classifier)
        raise BadInputError(f"stage use needs a model of shortlist stage, got one of {maker}.")
    front = classifier.front_
    if not any(front.extras.get("promised", [True])):
        front = without_promises(front)
    limits = read_limits(limit or (), front.names)
    reason = no_point(front, limits)
    about = {
        "command": "stage use",
        "method": front.method,
        "seconds": front.seconds,
        "n_points": len(front),
        "reason": reason,
    }
    if reason:
        if json:
            print_json(
                about
                | {"status": "infeasible", "chosen": None, "notes": [], "out": None}
                | run_facts(context)
            )
        else:
            print(f"Status infeasible: {reason}")
        return
    classifier.use(choose_point(front, wanted, limits))
    if out is not None:
        used = replace(saved, estimator=classifier, reported=reported_figures(classifier))
        out = save(out, lambda path: save_model(used, path))
    print_notes(classifier.notes_)
    if json:
        print_json(
            about
            | {
                "status": "feasible",
                "chosen": picked_facts(classifier, pick),
                "notes": list(classifier.notes_),
                "out": None if out is None else str(out),
            }
            | run_facts(context)
        )
        return
    print_used(classifier, pick, details=details)
    if out is not None:
        print(f"Written: {out}. Next: shortlist predict {out} NEW.csv --explain")
