"""`shortlist stage use`: another point of a saved model's front, without fitting anything again."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import MODEL_FILE, check_files
from shortlist.cli.options.shared import POINT, Details, LimitTexts, SavedModelFile, Trust, output
from shortlist.cli.text.output import save


@answers
def use(
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
) -> CommandAnswer:
    """Take another point of a saved model's front.

    Nothing is fitted; the new model predicts with that point. The first figures are those on the hold-out
    set. Where nothing is promised about any point, each may be taken. Type ./use for a table that is called
    use.
    """
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
    about: dict[str, Any] = {
        "method": front.method,
        "seconds": front.seconds,
        "n_points": len(front),
        "reason": reason,
    }
    if reason:
        about |= {"status": "infeasible", "chosen": None, "out": None}
        return CommandAnswer(about, last=[f"Status infeasible: {reason}"])
    classifier.use(choose_point(front, wanted, limits))
    used = replace(saved, estimator=classifier, reported=reported_figures(classifier))
    out = save(out, lambda path: save_model(used, path))
    return CommandAnswer(
        about | {"status": "feasible", "chosen": picked_facts(classifier, pick), "out": out},
        partial(print_used, classifier, pick, details=details),
        classifier.notes_,
        [] if out is None else [f"Written: {out}. Next: shortlist predict {out} NEW.csv --explain"],
    )
