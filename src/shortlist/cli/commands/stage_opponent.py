"""`shortlist stage --method NAME` of an opponent."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.cli.text.output import print_json, save
from shortlist.cli.text.stage_methods_text import (
    opponent_facts,
    print_opponent,
)

if TYPE_CHECKING:
    from shortlist.papers.opponents.budgeted_classifier import BudgetedClassifier
    from shortlist.tables.learning import LearningTable


class ModelFile(NamedTuple):
    """What a model file holds besides the model, and where it is written; nowhere if None."""

    learning: "LearningTable"
    target: str
    out: Path | None


def fit_opponent(
    labels: Any,
    name: str,
    opponent: "BudgetedClassifier",
    *,
    kept: ModelFile,
    about: dict[str, Any],
    json: bool,
) -> None:
    """Fit one opponent on the paper's split, measure it on the test rows, and write its model."""
    from shortlist.cli.work import long_work
    from shortlist.multistage.holdout import measure_on, split_three
    from shortlist.runs.clock import seconds_now
    from shortlist.saved_models import SavedModel, save_model
    from shortlist.tables.fit_inputs import take_rows

    opponent.check_options(labels)
    X = kept.learning.X
    fit, judge, test = split_three(labels, seed=int(opponent.random_state), cases=kept.learning.cases)
    start = seconds_now()
    with long_work() as (cancellation, report):
        opponent.fit(
            take_rows(X, fit), labels[fit], validation=(take_rows(X, judge), labels[judge]),
            report=report, cancellation=cancellation,
        )  # fmt: skip
        seconds = seconds_now() - start
        measured = measure_on(opponent, take_rows(X, test), labels[test])
        out = kept.out
        if out is not None:
            fitted = SavedModel(opponent, kept.learning.features, kept.target, ids=kept.learning.ids)
            out = save(out, lambda path: save_model(fitted, path))
    counts = {"train": len(fit), "validation": len(judge), "test": len(test)}
    facts = opponent_facts(name, opponent, measured, counts, seconds) | {"model": out and str(out)}
    if json:
        print_json(facts | about)
    else:
        print_opponent(facts, out)
