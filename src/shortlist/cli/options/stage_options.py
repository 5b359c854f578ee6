"""What `shortlist stage` is asked: its options, which of them are used, and what they hold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.pairs import ALL, read_names, read_numbers, read_pairs
from shortlist.cli.options.shared import (
    NEEDS_PROMISE,
    POINT,
    SECONDS_HELP,
    WHAT_MATTERS,
    LimitTexts,
    Positive,
    check_shared,
)
from shortlist.cli.options.unused import Use

if TYPE_CHECKING:
    from shortlist.multistage.presets import Preset
    from shortlist.multistage.problem.costs import FeatureCosts
    from shortlist.multistage.search.emsco import EmscoOptions

USUAL_CONFIDENCE = 0.75
LOGISTIC = "logistic"
"""What answers at every stage unless another classifier is named."""
FRONT_METHODS = ("auto", "emsco", "enumerate", "windows")
"""What ``--method`` may be where there is a front; the others are opponents."""


@dataclass(frozen=True)
class PriceOptions:
    """What features cost."""

    costs: Annotated[
        Path | None,
        typer.Option(
            help="CSV with columns feature,cost; with discount_cost,group as well, the first feature of a "
            "group costs its full price; needs names other lines that are bought with it, once; further "
            "columns of numbers, such as hours, may be objectives. Default: 1 each."
        ),
    ] = None
    costs_dataset: Annotated[
        str | None, "Use only the rows of --costs whose column dataset has this value."
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            help="heart, pima, credit or synthetic30: EMSCO's paper's costs, confidence and parameters of "
            "evolution for that table; explicit options come first."
        ),
    ] = None
    scaling: Annotated[
        str | None, "Cost of class T in a preset: 10T, 10^T or 100T; default the preset's."
    ] = None

    def paper(self) -> "Preset | None":
        """Return the preset that was asked for."""
        from shortlist.multistage.presets import preset

        return preset(self.preset) if self.preset else None


@dataclass(frozen=True)
class GoalOptions:
    """What matters, and which point of the front predicts."""

    objectives: Annotated[
        str,
        typer.Option(
            help=f"{WHAT_MATTERS}: coverage, conclusive_accuracy, acquisition_cost, false_positive_rate, "
            "stages, worst_case_cost, evaluation_cost, or a column of --costs such as hours."
        ),
    ] = "coverage,conclusive_accuracy,acquisition_cost"
    pick: Annotated[
        str,
        typer.Option(
            help=f"{POINT}, which predicts: one-se (the cheapest of those with about the most right "
            "answers), norm (the paper's), ideal, knee, weights, lexicographic; or its number."
        ),
    ] = "one-se"
    limit: LimitTexts = None
    positive: Positive = None
    penalty: Annotated[
        str | None, "What an error about a row of a class takes from the accuracy, such as ill=0.5,well=0.1."
    ] = None
    call_cost: Annotated[
        float, "Cost of one call of a classifier, or of each member that it asks, for evaluation_cost."
    ] = 1.0
    call_cost_per_feature: Annotated[float, "What such a call costs more for each feature that it reads."] = (
        0.0
    )

    def arguments(self, labels: Any) -> dict[str, Any]:
        """Return the options by the names that the library has for them."""
        return {
            "objectives": stage_objective_names(self.objectives),
            "pick": point_or_rule(self.pick),
            "positive": None if self.positive is None else as_label(self.positive, labels),
            "penalties": read_penalties((self.penalty or "").split(",") if self.penalty else (), labels),
            "call_cost": self.call_cost,
            "call_cost_per_feature": self.call_cost_per_feature,
        }


@dataclass(frozen=True)
class StageClassifierOptions:
    """What answers at every stage."""

    subclassifier: Annotated[
        str,
        typer.Option(
            help="What answers at every stage: logistic (regression), pruned (an ensemble whose members are "
            "chosen with proof), evolved (an ensemble), forest or boosting; each set of features gets one."
        ),
    ] = LOGISTIC
    ensemble_size: Annotated[
        int | None,
        "Most members of an ensemble, trees of a forest or rounds of boosting; default 5, 25, 50 and 50.",
    ] = None
    share_fits: Annotated[bool, "Whether one classifier serves all sets of features during the search."] = (
        False
    )

    def arguments(self) -> dict[str, Any]:
        """Return the options by the names that the library has for them."""
        from shortlist.purchases.stage_classifiers import stage_classifier

        made = stage_classifier(self.subclassifier, self.ensemble_size)
        return {"subclassifier": made, "share_fits": self.share_fits}


@dataclass(frozen=True)
class StageSearchOptions:
    """Which stage assignments there are, and how the front is found."""

    confidence: Annotated[
        str | None,
        typer.Option(
            help="Least probability of an answer, in (0, 1], or per class: ill=0.9,well=0.7. Default: 0.75."
        ),
    ] = None
    max_stages: Annotated[int | None, typer.Option(help="Most stages; default: 4, or fewer features.")] = None
    removal: Annotated[bool, "Whether features may be in no stage."] = False
    feature_model: Annotated[
        Path | None,
        typer.Option(
            help="Feature model over the columns: what was bought after a stage must be one of its products. "
            "Its attribute cost has the prices, unless --costs or --preset has."
        ),
    ] = None
    accuracy_risk: Annotated[
        float | None,
        "Risk, shared among the stages, at which an exact binomial tail supports each threshold.",
    ] = None
    method: Annotated[
        str,
        typer.Option(
            help="Method: enumerate (complete front, proved), windows (wide tables, exact within windows of "
            "features), emsco (evolution), auto by its budget; or an opponent: greedy-miser, cstc, astc, "
            "co-t, cact-lasso, single, lightgbm, l1-path."
        ),
    ] = "auto"
    methods: Annotated[
        str | None,
        typer.Option(help="Methods to compare: all, or names such as emsco,cstc,single; on several splits."),
    ] = None
    seeds: Annotated[int, typer.Option(help="Of --methods: splits, one per seed, from --seed on.")] = 10
    budget: Annotated[int, "Most stage assignments that auto enumerates."] = 300_000_000
    population: Annotated[int | None, "Individuals of a generation of emsco."] = None
    generations: Annotated[int | None, "Most generations of emsco."] = None
    rules: Annotated[str | None, "How emsco breeds: distinct (the default), or paper, as printed."] = None
    recall: Annotated[
        int | None,
        "Enumerate, and report which share of the front emsco finds with so many seeds.",
    ] = None
    time_limit: Annotated[float | None, typer.Option(help=f"{SECONDS_HELP}; default: none.")] = None
    sample_rows: Annotated[int | None, "Search with at most so many rows; default all."] = None

    def evolution(self, paper: "Preset | None") -> "EmscoOptions":
        """Return the preset's parameters of the evolution, with those that were given."""
        from dataclasses import replace

        from shortlist.multistage.search.emsco import EmscoOptions

        given: dict[str, Any] = {
            "population": self.population,
            "generations": self.generations,
            "rules": self.rules,
        }
        start = EmscoOptions() if paper is None else paper.options
        return replace(start, **{name: value for name, value in given.items() if value is not None})

    def chosen(self, options: Mapping[str, Any], searched: Mapping[str, Any]) -> dict[str, Any]:
        """Return the unfitted methods of a comparison by name, or the opponent of ``--method``.

        `options` are those of every method, and `searched` those of the methods with a front alone.
        """
        from shortlist.papers.stage_comparison import SEARCHES, stage_methods

        names = [self.method] if self.methods is None else compared_names(self.methods)
        found = stage_methods(names, **options)
        for name in set(found) & set(SEARCHES):
            found[name].set_params(**{**searched, "method": name})
        return found

    def arguments(self, paper: "Preset | None", labels: Any) -> dict[str, Any]:
        """Return the options by the names that the library has for them."""
        return {
            "confidence": read_confidence(self.confidence, paper, labels),
            "max_stages": self.max_stages,
            "removal": self.removal,
            "accuracy_risk": self.accuracy_risk,
            "method": stage_method(self.method, self.recall, self.rules),
            "enumeration_budget": self.budget,
            "emsco_options": self.evolution(paper),
            "time_limit_s": self.time_limit,
            "sample_rows": self.sample_rows,
        }


def compared_names(methods: str | None) -> list[str]:
    """Return the names of the methods in ``--methods``; none where it was not given."""
    from shortlist.papers.stage_comparison import stage_methods

    return [] if methods is None else list(stage_methods()) if methods == ALL else read_names(methods)


def is_opponent(given: Mapping[str, Any]) -> bool:
    """Whether one opponent is fitted, which has no front."""
    return given["methods"] is None and given["method"] not in FRONT_METHODS


def _has_front(given: Mapping[str, Any]) -> bool:
    """Whether stage assignments are searched, alone or in a comparison."""
    if given["methods"] is None:
        return given["method"] in FRONT_METHODS
    return bool(set(FRONT_METHODS) & set(compared_names(given["methods"])))


def _evolves(given: Mapping[str, Any]) -> bool:
    """Whether evolution runs: by the method, beside the enumeration, or in a comparison."""
    if given["methods"] is not None:
        return "emsco" in compared_names(given["methods"])
    found = stage_method(given["method"], None, given["rules"])
    return found == "emsco" or given["recall"] is not None


def _measures(objective: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda given: objective in stage_objective_names(given["objectives"])


STAGE_USES = (
    Use(
        ("seeds",),
        lambda given: given["methods"] is not None,
        "--methods",
        "add --methods all",
    ),
    Use(
        ("study",),
        lambda given: not is_opponent(given),
        "methods with a front: auto, enumerate, windows, emsco, or --methods",
    ),
    Use(("method",), lambda given: given["methods"] is None, "one method", "leave out --methods"),
    Use(
        (
            "objectives",
            "pick",
            "limit",
            "max_stages",
            "removal",
            "accuracy_risk",
            "positive",
            "penalty",
            "call_cost",
            "call_cost_per_feature",
            "time_limit",
            "sample_rows",
            "subclassifier",
            "ensemble_size",
            "share_fits",
        ),
        _has_front,
        "methods with a front: auto, enumerate, windows, emsco",
    ),
    Use(
        ("ensemble_size", "share_fits"),
        lambda given: given["subclassifier"] != LOGISTIC,
        "a --subclassifier other than logistic",
        "name one, such as --subclassifier pruned",
    ),
    Use(
        ("rows", "recall", "report", "answer_accuracy"),
        lambda given: given["methods"] is None and given["method"] in FRONT_METHODS,
        "methods with a front: auto, enumerate, windows, emsco, one of them alone",
    ),
    NEEDS_PROMISE,
    Use(
        ("feature_model",),
        lambda given: given["methods"] is None and given["method"] in FRONT_METHODS,
        "methods with a front: auto, enumerate, windows, emsco, one of them alone",
    ),
    Use(("recall",), lambda given: given["feature_model"] is None, "a run without --feature-model"),
    Use(("sample_rows", "share_fits"), lambda given: given["recall"] is None, "a run without --set recall"),
    Use(("costs_dataset",), lambda given: given["costs"] is not None, "--costs", "add --costs FILE"),
    Use(("scaling",), lambda given: given["preset"] is not None, "--preset", "add --preset NAME"),
    Use(("scaling",), lambda given: given["costs"] is None, "the costs of a preset", "leave out --costs"),
    Use(
        ("preset",),
        lambda given: given["costs"] is None or given["confidence"] is None or _evolves(given),
        "a run that takes costs, confidence or evolution from it",
        "leave out --costs or --confidence",
    ),
    Use(
        ("budget",),
        lambda given: (
            stage_method(given["method"], None, given["rules"]) == "auto"
            and given["recall"] is None
            and given["methods"] is None
        ),
        "--method auto without recall or rules",
    ),
    Use(
        ("population", "generations", "rules"),
        _evolves,
        "the method emsco",
        "add --method emsco",
    ),
    Use(
        ("call_cost", "call_cost_per_feature"),
        _measures("evaluation_cost"),
        "the objective evaluation_cost",
        "name it in --objectives",
    ),
    Use(
        ("penalty",),
        _measures("conclusive_accuracy"),
        "the objective conclusive_accuracy",
        "name it in --objectives",
    ),
    Use(
        ("positive",),
        _measures("false_positive_rate"),
        "the objective false_positive_rate",
        "name it in --objectives",
    ),
    Use(("rows",), lambda given: not given["json"], "the table for people", "leave out --json"),
)
"""When each option of stage is used. The others are used in every run: whatever is chosen, the report
measures its cost.
"""


def check_stage_numbers(given: Mapping[str, Any]) -> None:
    """Refuse what is out of range whatever the table holds, and names that there are not."""
    from shortlist._validation import as_choice, as_count
    from shortlist.multistage.search.stage_objectives import check_objectives
    from shortlist.purchases.stage_classifiers import STAGE_KINDS

    check_shared(given)
    as_count(given["budget"], "--set budget", at_least=0)
    as_choice(given["subclassifier"], "--subclassifier", list(STAGE_KINDS))
    if given["ensemble_size"] is not None:
        as_count(given["ensemble_size"], "--set ensemble-size")
    if given["max_stages"] is not None:
        as_count(given["max_stages"], "--max-stages")
    as_count(given["seeds"], "--seeds")
    if given["recall"] is not None:
        as_count(given["recall"], "--set recall")
    point_or_rule(given["pick"])
    objectives = stage_objective_names(given["objectives"])
    check_objectives(objectives, () if given["costs"] is None else objectives)


def check_stage_methods(given: Mapping[str, Any]) -> None:
    """Refuse names of methods that there are not."""
    from shortlist._validation import as_choice
    from shortlist.errors import BadInputError
    from shortlist.papers.stage_comparison import OPPONENTS, SEARCHES

    if given["methods"] is None:
        as_choice(given["method"], "--method", (*FRONT_METHODS, *OPPONENTS))
        return
    names = read_names(given["methods"])
    if ALL in names and names != [ALL]:
        raise BadInputError("--methods must be all, or names of methods, got both. Leave out one of them.")
    for name in names:
        as_choice(name, "--methods", (ALL, *SEARCHES, *OPPONENTS))
    if len(set(names)) < len(names):
        raise BadInputError("--methods must name each method once, got one twice. Leave one out.")


def point_or_rule(pick: str) -> int | str:
    """Return the point that predicts, by its number or a rule."""
    from shortlist.cli.options.points import read_pick
    from shortlist.multistage.predict.point_choice import PICKS

    return read_pick(pick, PICKS)


def stage_objective_names(text: str) -> list[str]:
    """Return the names in ``--objectives``; those of attributes as the file of prices has them."""
    from shortlist.multistage.search.stage_objectives import OBJECTIVES

    plain = [(name, name.replace("-", "_")) for name in read_names(text)]
    return [known if known in OBJECTIVES else name for name, known in plain]


def stage_method(method: str, recall: int | None, rules: str | None = None) -> str:
    """Return the method that finds the front; recall needs the complete one, and rules are evolution's."""
    from shortlist.errors import BadInputError

    if recall is None:
        return "emsco" if method == "auto" and rules is not None else method
    if method in {"emsco", "windows"}:
        raise BadInputError(f"--set recall compares with the complete front. Leave out --method {method}.")
    return "enumerate"


def read_prices(
    given: PriceOptions, names: Sequence[str], *, objectives: Sequence[str], dropped: Sequence[str],
    notes: list[str],
) -> "FeatureCosts":  # fmt: skip
    """Return prices from the file, else from the preset, else 1 each.

    Those of dropped columns are passed over. Of `objectives` those that are unknown must be in the file.
    """
    from shortlist._words import all_of
    from shortlist.errors import BadInputError
    from shortlist.multistage.problem.costs import feature_costs, read_costs
    from shortlist.multistage.search.stage_objectives import OBJECTIVES

    paper = given.paper()
    if given.costs is not None:
        wanted = [name for name in objectives if name not in OBJECTIVES]
        return read_costs(
            given.costs, names, dataset=given.costs_dataset, dropped=dropped, notes=notes, wanted=wanted
        )
    if paper is None:
        return feature_costs(None, names)
    costs = paper.costs(given.scaling)
    unknown = [name for name in costs if name not in names and name not in dropped]
    unpriced = [name for name in names if name not in costs]
    if unknown:
        raise BadInputError(
            f"--preset prices the columns of another table: there is no column {unknown[0]!r} here. Pass "
            "--costs instead."
        )
    if unpriced:
        raise BadInputError(
            f"--preset has no price for column {unpriced[0]!r}. Leave it out with --drop, or pass --costs."
        )
    passed_over = [name for name in costs if name in dropped]
    if passed_over:
        notes.append(
            f"the preset also prices {all_of(passed_over)}, which {'are' if len(passed_over) > 1 else 'is'} "
            "dropped: passed over."
        )
    return feature_costs({name: cost for name, cost in costs.items() if name not in dropped}, names)


def read_confidence(text: str | None, paper: "Preset | None", labels: Any) -> float | dict[Any, float]:
    """Read p̂, one number or one per class."""
    from shortlist.errors import BadInputError

    if text is None:
        return USUAL_CONFIDENCE if paper is None else paper.confidence
    if "=" in text:
        return {as_label(name, labels): value for name, value in read_numbers(text, "confidence").items()}
    try:
        return float(text)
    except ValueError:
        raise BadInputError(
            f"--confidence must be a number in (0, 1], or CLASS=NUMBER,..., got {text!r}."
        ) from None


def as_label(text: str, labels: Any) -> Any:
    """Return the class that is written so.

    An unknown one stays text and is refused later, with the classes.
    """
    import numpy as np

    return {str(label): label for label in np.unique(labels).tolist()}.get(text, text)


def read_penalties(texts: Sequence[str], labels: Any) -> dict[Any, float] | None:
    """Read what errors take from the accuracy, per class."""
    from shortlist.errors import BadInputError

    numbers: dict[Any, float] = {}
    for name, value in read_pairs(texts, "set penalty"):
        label = as_label(name, labels)
        if label in numbers:
            raise BadInputError(
                f"--set penalty must name each class once, got {name!r} twice. Leave one out."
            )
        numbers[label] = read_numbers(f"{name}={value}", "set penalty")[name]
    return numbers or None
