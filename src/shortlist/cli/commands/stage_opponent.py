"""`shortlist stage --method NAME` of an opponent."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.cli.text.output import print_json, save

if TYPE_CHECKING:
    from shortlist.multistage.holdout import StagedMeasure
    from shortlist.papers.opponents.budgeted_classifier import BudgetedClassifier
    from shortlist.tables.learning import LearningTable


SUM = "coverage + accuracy + 1 - cost / price of all features, as in Figure 12 of the paper"


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
    from shortlist.runs.budget import seconds_now
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


def opponent_facts(
    name: str, opponent: "BudgetedClassifier", test: "StagedMeasure", counts: dict[str, int], seconds: float
) -> dict[str, Any]:
    """Return the contract of every command, and what is known of one opponent."""
    import numpy as np

    costs = opponent.costs_
    alone = costs.price(np.eye(len(costs.names), dtype=bool)) / costs.scale
    judged = max(opponent.tuning_, key=lambda each: each["aggregate"])
    return {
        "command": "stage",
        "method": name,
        "status": "feasible",
        "seconds": seconds,
        "settings": opponent.settings_,
        "n_settings": len(opponent.tuning_),
        "validation": {measure: judged[measure] for measure in ("coverage", "accuracy", "cost", "aggregate")},
        "costs": dict(zip(costs.names, alone.tolist(), strict=True)),
        "total_cost": costs.total / costs.scale,
        "rows": counts,
        "test": {name: test.as_dict()},
        "out": None,
    }


def print_opponent(facts: dict[str, Any], out: Path | None) -> None:
    """Print the answer for people."""
    name, counts = facts["method"], facts["rows"]
    print(
        f"{counts['train']} rows to fit, {counts['validation']} to choose settings, {counts['test']} to test."
    )
    settings = ", ".join(f"{key} {value:g}" for key, value in facts["settings"].items())
    print(f"{name}: {facts['n_settings']} settings tried" + (f", kept: {settings}." if settings else "."))
    print()
    print(f"{'on the rows of':<18}{'coverage':>10}{'accuracy':>10}{'cost':>12}{'sum':>8}")
    for rows, measured in (("validation", facts["validation"]), ("test", facts["test"][name])):
        print(
            f"{rows:<18}{measured['coverage']:>10.4f}{measured['accuracy']:>10.4f}"
            f"{measured['cost']:>12.4g}{measured['aggregate']:>8.3f}"
        )
    print(f"\nSum: {SUM}. Price of all features: {facts['total_cost']:g}.")
    if out is not None:
        print(f"Model saved to {out}; use it with: shortlist predict {out} NEW.csv --explain")
