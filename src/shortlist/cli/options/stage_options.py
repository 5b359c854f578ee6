"""Options of `shortlist stage`, their checks, and the reading of their values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from shortlist._options import Needs
from shortlist.cli.options.error_costs import FINAL, ErrorCostsText, read_error_costs
from shortlist.cli.options.settings import Fills, excludes, needs, read_names, read_numbers, read_pairs
from shortlist.cli.options.shared import WHAT_MATTERS, LimitTexts, check_shared
from shortlist.multistage.settings import GoalSettings, SearchSettings

if TYPE_CHECKING:
    from shortlist.multistage.presets import Preset
    from shortlist.multistage.problem.costs import FeatureCosts
    from shortlist.multistage.search.emsco import EmscoOptions

METHODS = ("auto", "emsco", "enumerate", "windows")
OPPONENTS = ("greedy-miser", "cstc", "astc", "co-t", "cact-lasso", "single", "lightgbm", "l1-path")
"""Names of methods that only ``shortlist compare`` has."""
USUAL_OBJECTIVES = "coverage,conclusive_accuracy,acquisition_cost"
USUAL_CONFIDENCE = 0.75
AUTO_SECONDS = 60.0
"""Time limit in seconds of the method ``auto`` if none is given; other methods end by themselves."""
LOGISTIC = "logistic"
"""Default classifier of every stage."""


@dataclass(frozen=True)
class PriceOptions:
    """Prices and confidence."""

    costs: Annotated[
        Path | None,
        typer.Option(
            help="CSV file with columns feature,cost; without it every feature costs 1. With the columns "
            "group and discount_cost only the first feature of a group costs its full price; the column "
            "needs names lines that are bought once, together with a feature; other columns of numbers, "
            "such as hours, may be objectives."
        ),
        Fills("feature_costs", "first_prices", "groups", "needs"),
    ] = None
    costs_dataset: Annotated[
        str | None,
        "Use only the rows of --costs whose column dataset has this value.",
        needs("costs", "FILE"),
        Fills("dataset"),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            help="Settings of EMSCO's paper for its table heart, pima, credit or synthetic30: costs, "
            "confidence, evolution, and columns that are not standardised; other options take precedence."
        ),
    ] = None
    scaling: Annotated[
        str | None,
        "Cost of a feature of cost class T: 10T, 10^T or 100T; by default as in the preset.",
        needs("preset", "NAME"),
        excludes("costs"),
    ] = None
    confidence: Annotated[
        str | None,
        typer.Option(
            help="Least probability of an answer, in (0, 1], or per class, as in ill=0.9,well=0.7; by "
            "default 0.75, or 0.99 before the last stage with --error-costs."
        ),
    ] = None

    def paper(self) -> "Preset | None":
        """Return the preset that was requested."""
        from shortlist.multistage.presets import preset

        return preset(self.preset) if self.preset else None


def measured(objective: str) -> Needs:
    """Return the mark of an option that only one objective uses."""
    return Needs(
        f"the objective {objective}",
        lambda given: objective in stage_objective_names(given["objectives"] or USUAL_OBJECTIVES),
        "name it in `objectives`",
    )


EVALUATED = measured("evaluation_cost")


@dataclass(kw_only=True)
class GoalOptions(GoalSettings):
    """Objectives, and the point that predicts."""

    MARKS: ClassVar = {"call_cost": (EVALUATED,), "call_cost_per_feature": (EVALUATED,)}

    objectives: Annotated[
        str,
        typer.Option(
            help=f"{WHAT_MATTERS}: coverage, conclusive_accuracy, acquisition_cost, false_positive_rate, "
            "stages, worst_case_cost, evaluation_cost, or a column of --costs such as hours; with "
            "--error-costs by default error_cost,acquisition_cost."
        ),
    ] = USUAL_OBJECTIVES
    limit: LimitTexts = None
    penalty: Annotated[
        str | None,
        "Loss of accuracy for a wrong answer, by true class, such as ill=0.5,well=0.1.",
        measured("conclusive_accuracy"),
        excludes("error_costs"),
        Fills("penalties"),
    ] = None
    error_costs: ErrorCostsText = None
    final: Annotated[
        str | None,
        typer.Option(
            help=f"{FINAL}: reject (the default), answer (the default with --error-costs), or "
            "hand-over=PRICE to a person, in the unit of --error-costs."
        ),
        Fills("hand_over"),
    ] = None

    def arguments(self, labels: Any) -> dict[str, Any]:
        """Return the options by the names of the library's arguments."""
        return {
            "objectives": stage_objective_names(self.objectives),
            "pick": point_or_rule(str(self.pick)),
            "positive": None if self.positive is None else as_label(self.positive, labels),
            "penalties": read_penalties((self.penalty or "").split(",") if self.penalty else (), labels),
            "call_cost": self.call_cost,
            "call_cost_per_feature": self.call_cost_per_feature,
            **self.prices_of_errors(),
        }

    def prices_of_errors(self) -> dict[str, Any]:
        """Return the prices of errors and of a person; empty if neither is given.

        Without these prices stages reject unsure rows.
        """
        from shortlist.cli.options.panel_options import read_final
        from shortlist.errors import BadInputError

        final = None if self.final is None else read_final(self.final)
        kind = "" if final is None else final.kind
        costs = read_error_costs(self.error_costs)
        if kind == "reject" and costs:
            raise BadInputError(
                "--final", "must be answer or hand-over=PRICE where errors have costs", "'reject'",
                "Give the price of a rejected row, such as --final hand-over=0.5.",
            )  # fmt: skip
        if not costs and kind in {"", "reject"}:
            return {}
        return {"error_costs": costs, "hand_over": None if final is None or kind == "answer" else final.price}


OF_ENSEMBLES = Needs(
    "a `subclassifier` other than logistic",
    lambda given: given["subclassifier"] != LOGISTIC,
    "name one, such as `subclassifier='forest'`",
)


@dataclass(frozen=True)
class StageClassifierOptions:
    """Classifiers of the stages."""

    subclassifier: Annotated[
        str,
        typer.Option(help="Classifier of every set of features: logistic (regression), forest or boosting."),
    ] = LOGISTIC
    ensemble_size: Annotated[
        int | None,
        "Trees of a forest, or rounds of boosting; by default 50.",
        OF_ENSEMBLES,
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the options by the names of the library's arguments."""
        from shortlist.multistage.subclassifiers.foreign_subclassifiers import stage_classifier

        return {"subclassifier": stage_classifier(self.subclassifier, self.ensemble_size)}


EVOLVES = Needs(
    "the method emsco",
    lambda given: (
        stage_method(given["method"], None, given["rules"]) == "emsco" or given["recall"] is not None
    ),
    "add --method emsco",
)


ENUMERATES = Needs(
    "--method auto without recall or rules",
    lambda given: (given["method"], given["rules"], given["recall"]) == ("auto", None, None),
)


@dataclass(kw_only=True)
class StageSearchOptions(SearchSettings):
    """Search for stage assignments."""

    MARKS: ClassVar = {
        "enumeration_budget": (ENUMERATES,),
        "sample_rows": (excludes("recall"),),
        "share_fits": (OF_ENSEMBLES, excludes("recall")),
    }

    population: Annotated[int | None, "Individuals of a generation of emsco.", EVOLVES] = None
    generations: Annotated[int | None, "Most generations of emsco.", EVOLVES] = None
    rules: Annotated[
        str | None, "Breeding rules of emsco: distinct (the default), or paper, as published.", EVOLVES
    ] = None
    recall: Annotated[
        int | None,
        "Number of seeds with which emsco runs beside an enumeration, to report what share of the front it "
        "finds.",
        Fills("seeds", "n_seeds"),
    ] = None

    def evolution(self, paper: "Preset | None") -> "EmscoOptions":
        """Return the parameters of the evolution: given values, else the preset's."""
        from dataclasses import replace

        from shortlist.multistage.search.emsco import EmscoOptions

        given: dict[str, Any] = {
            "population": self.population,
            "generations": self.generations,
            "rules": self.rules,
        }
        start = EmscoOptions() if paper is None else paper.options
        return replace(start, **{name: value for name, value in given.items() if value is not None})

    def arguments(self, method: str, paper: "Preset | None") -> dict[str, Any]:
        """Return the options by the names of the library's arguments."""
        method = stage_method(method, self.recall, self.rules)
        own = {one.name: getattr(self, one.name) for one in fields(SearchSettings)}
        if self.time_limit_s is None and method == "auto":
            own["time_limit_s"] = AUTO_SECONDS
        return own | {
            "scale": paper is None or paper.standardised,
            "method": method,
            "emsco_options": self.evolution(paper),
        }


def check_stage_method(method: str) -> None:
    """Refuse an unknown method, and methods of ``shortlist compare``, which have no front."""
    from shortlist._validation import as_choice
    from shortlist.papers import refuse_opponent

    refuse_opponent(method, "--method", OPPONENTS)
    as_choice(method, "--method", METHODS)


def check_stage(given: Mapping[str, Any]) -> None:
    """Refuse options that are wrong for every table."""
    from shortlist._validation import as_choice, as_count
    from shortlist.multistage.search.stage_objectives import check_objectives
    from shortlist.multistage.subclassifiers.foreign_subclassifiers import STAGE_KINDS

    check_shared(given)
    as_choice(given["subclassifier"], "--subclassifier", list(STAGE_KINDS))
    for name in ("ensemble_size", "max_stages", "recall", "enumeration_budget"):
        if given[name] is not None:
            as_count(given[name], name, at_least=int(name != "enumeration_budget"))
    point_or_rule(given["pick"])
    objectives = stage_objective_names(given["objectives"])
    check_objectives(objectives, () if given["costs"] is None else objectives)


def point_or_rule(pick: str) -> int | str:
    """Return the point that predicts, as a number or as the name of a rule."""
    from shortlist.cli.options.points import read_pick
    from shortlist.multistage.predict.point_choice import PICKS

    return read_pick(pick, PICKS)


def stage_objective_names(text: str) -> list[str]:
    """Return the names in ``--objectives``; an attribute is named as in the file of prices."""
    from shortlist.multistage.search.stage_objectives import OBJECTIVES

    plain = [(name, name.replace("-", "_")) for name in read_names(text)]
    return [known if known in OBJECTIVES else name for name, known in plain]


def with_limited(objectives: Sequence[str], limits: Sequence[str]) -> list[str]:
    """Return the objectives, then the quantities limited for every row, such as ``max hours``.

    >>> with_limited(["coverage"], ["max hours<=8"])
    ['coverage', 'max hours']
    """
    from shortlist.multistage.search.stage_objectives import OF_PATHS
    from shortlist.results.objective import read_limit

    found = list(objectives)
    for text in limits:
        if text.strip().startswith(OF_PATHS):
            name = stage_objective_names(read_limit(text).name)[0]
            found += [] if name in found else [name]
    return found


def stage_method(method: str, recall: int | None, rules: str | None = None) -> str:
    """Return the method that finds the front.

    `recall` needs ``enumerate``; with ``auto``, `rules` need ``emsco``.
    """
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

    Prices of dropped columns are ignored. Unknown names among `objectives` must be columns of the file.
    """
    from shortlist._words import all_of
    from shortlist.errors import BadInputError
    from shortlist.multistage.problem.cost_files import read_costs
    from shortlist.multistage.problem.costs import feature_costs
    from shortlist.multistage.search.stage_objectives import OBJECTIVES, OF_PATHS

    paper = given.paper()
    if given.costs is not None:
        wanted = [name.removeprefix(OF_PATHS) for name in objectives if name not in OBJECTIVES]
        try:
            return read_costs(
                given.costs, names, dataset=given.costs_dataset, dropped=dropped, notes=notes, wanted=wanted
            )
        except BadInputError as error:
            said = str(error)
            raise type(error)(f"--costs {said}") if said.startswith(str(given.costs)) else error from None
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
    """Read the threshold p̂: one number, or one number per class."""
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
    """Return the class of a text.

    An unknown text stays text; a later check refuses it and lists the classes.
    """
    import numpy as np

    return {str(label): label for label in np.unique(labels).tolist()}.get(text, text)


def read_penalties(texts: Sequence[str], labels: Any) -> dict[Any, float] | None:
    """Read the penalties on errors about each class, for the objective of accuracy."""
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
