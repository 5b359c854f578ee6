"""Options of `shortlist prune`, their checks, and the reading of their values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

import typer

from shortlist._options import Needs
from shortlist.cli.options.error_costs import ErrorCostsText, costs_of_labels
from shortlist.cli.options.settings import Fills, excludes, needs, read_numbers
from shortlist.cli.options.shared import (
    POINT,
    POOL,
    PROTOCOL,
    WHAT_MATTERS,
    MeasureOptions,
    Trust,
)
from shortlist.ensembles.committees.options import AnswerSettings, ExactSettings, SizeSettings, TimeSettings

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.ensembles.estimators.exact_pruner import ExactPruner
    from shortlist.ensembles.estimators.front_pruner import FrontPruner
    from shortlist.ensembles.estimators.rule_pruners import RulePruner
    from shortlist.ensembles.pools.pool import Pool

EXACT = "exact"

GREEDY = "greedy-means"
"""Name of the rule that chooses members by the mean of probabilities, and answers by this mean."""

OPPONENTS = (
    "random", "margin", "kappa", "kappa-pairs", "reduced-error", "complementariness", "concurrency", "uwa",
    "orientation", "margin-distance", "drep",
)  # fmt: skip
"""Names of the rules that only ``shortlist compare`` has."""


def _fits(given: Mapping[str, Any]) -> bool:
    """Return whether this command fits classifiers."""
    return given["pool"] is None and not given["answers"]


def _prices_matter(given: Mapping[str, Any]) -> bool:
    """Return whether prices have an effect: each judge has one, or they are limited or an objective."""
    return given["answers"] or given["objectives"] is not None or given["max_cost"] is not None


FITS = Needs("a pool that is fitted here", _fits)


class AnswerOptions(AnswerSettings):
    """Answers of the committee."""

    def rule_pruner(self, method: str, pool: "Pool | None", seed: int, jobs: int) -> "RulePruner":
        """Return the unfitted pruner of a rule."""
        from shortlist.ensembles.estimators.rule_pruners import pruning_methods

        pruner: RulePruner = pruning_methods()[method]
        if method != GREEDY:
            pruner.set_params(voting=rules_voting(self.voting))
        pruner.set_params(pool=pool, random_state=seed, n_jobs=jobs, probabilities=self.probabilities)
        return pruner


def rules_voting(voting: str) -> str:
    """Return the way in which members chosen by a rule answer.

    `voting`: the value of the option.
    """
    return {"auto": "hard", "soft": "averaged"}.get(voting, voting)


@dataclass(frozen=True)
class PoolOptions:
    """The pool."""

    pool: Annotated[
        Path | None,
        typer.Option(
            help=f"{POOL}; by default a pool is fitted. TABLE must have no rows that the models were fitted "
            "on. With two classes a model votes for the one whose predict_proba is above 0.5, which may "
            "differ from predict, as for SVC."
        ),
        excludes("answers"),
    ] = None
    trust: Annotated[Trust, needs("pool", "FILE")] = False
    exportable: Annotated[
        bool,
        "Whether to take only those classifiers of --pool that shortlist export can write.",
        needs("pool", "FILE"),
    ] = False
    classifiers: Annotated[int, typer.Option(help="Size of the pool to fit."), FITS] = 100
    answers: Annotated[
        bool,
        typer.Option(
            "--answers",
            help="TABLE holds answers of judges in place of features: a column of classes for each judge, "
            "or columns judge:class of probabilities. An empty cell is an abstention.",
        ),
    ] = False
    costs: Annotated[
        Path | None,
        typer.Option(
            help="CSV file with columns name,cost: prices of the classifiers of --pool, or of judges."
        ),
        Needs("`pool` or `answers`", lambda given: not _fits(given), "add `pool='FILE'` or `answers=True`"),
        Needs("`max_cost`", _prices_matter, "add `max_cost='NUMBER'`"),
        Fills("member_costs"),
    ] = None
    may_abstain: Annotated[
        bool, "Whether empty cells of --answers are abstentions.", "abstentions", needs("answers")
    ] = True

    def costs_of(self, pool: "Pool | None", notes: list[str]) -> list[float] | None:
        """Return the prices of the classifiers of a pool; names in the file outside the pool are noted.

        The prices of judges are read together with the judges' answers.
        """
        from shortlist._words import all_of

        if self.answers or self.costs is None or pool is None:
            return None
        costs, unknown = read_member_costs(self.costs, pool.names)
        if unknown:
            names = all_of(unknown, most=8)
            notes.append(f"{self.costs} also prices {names}, not in the pool: passed over.")
        return costs

    def given(
        self, X: "pd.DataFrame", y: "pd.Series[Any]", dropped: Sequence[str], notes: list[str]
    ) -> "Pool | None":
        """Return the pool of the file, or the judges of the table; None if classifiers are fitted.

        Prices of judges whose columns are dropped are ignored, and noted.
        """
        from shortlist.ensembles.pools.fitting import load_pool
        from shortlist.ensembles.pools.pool import Pool

        if self.answers:
            _refuse_long_log(X, y)
            costs = None if self.costs is None else self._judge_costs(X, dropped, notes)
            return Pool.from_answers(X, y.to_numpy(), costs=costs, may_abstain=self.may_abstain)
        return None if self.pool is None else self._leaving(load_pool(self.pool, trust=self.trust), notes)

    def _leaving(self, pool: "Pool", notes: list[str]) -> "Pool":
        """Note the classifiers that `shortlist export` cannot write, or return a pool without them."""
        from shortlist._words import all_of
        from shortlist.errors import BadInputError
        from shortlist.export.policies import not_exportable

        found = not_exportable(pool)
        if not found:
            return pool
        names = all_of(list(found.values()), most=8)
        kept = [place for place in range(len(pool)) if place not in found]
        if not self.exportable:
            way = "--set exportable=yes leaves them out" if kept else "Use the model file: shortlist predict"
            notes.append(f"shortlist export cannot write {names}. {way}.")
            return pool
        if not kept:
            raise BadInputError(
                f"no classifier of the pool can be exported: {names}. Leave out --set exportable=yes, and "
                "answer by the model file: shortlist predict."
            )
        notes.append(f"left out, as shortlist export cannot write them: {names}.")
        return pool.subset(kept)

    def _judge_costs(self, X: "pd.DataFrame", dropped: Sequence[str], notes: list[str]) -> dict[str, float]:
        from shortlist._words import all_of

        costs = read_judge_costs(cast("Path", self.costs))
        gone = {name for column in dropped for name in (column, column.rpartition(":")[0])}
        gone -= {name for column in X.columns for name in (column, column.rpartition(":")[0])}
        passed_over = [name for name in costs if name in gone]
        if passed_over:
            names = all_of(passed_over, most=8)
            notes.append(f"{self.costs} also prices {names}, which are dropped: passed over.")
        return {name: cost for name, cost in costs.items() if name not in gone}


PRICED = Needs(
    "members that have prices",
    lambda given: given["costs"] is not None or given["pool"] is not None,
    "add `costs='FILE'` with `answers=True`, or a pool with prices",
)


class ExactMethodOptions(ExactSettings, AnswerOptions):
    """Exact pruning."""

    MARKS: ClassVar = {"max_cost": (PRICED,), "refit": (FITS,)}

    def exact_pruner(
        self, pool: "Pool | None", costs: list[float] | None, seed: int, jobs: int | None
    ) -> "ExactPruner":
        """Return the unfitted pruner of the exact method."""
        from shortlist.ensembles.estimators.exact_pruner import ExactPruner

        read = {
            "objective": _numbers_or_name(str(self.objective), "objective"),
            "diversity": _read_diversity(str(self.diversity)),
            "member_costs": costs,
        }
        return ExactPruner(pool, n_jobs=jobs, random_state=seed, **vars(self) | read)


@dataclass(frozen=True)
class ErrorCostOptions:
    """Costs of errors, which take the place of an objective."""

    error_costs: Annotated[
        ErrorCostsText,
        Needs(
            "`objective='auto'`", lambda given: given["objective"] == "auto", "leave out the other objective"
        ),
        Fills("objective"),
    ] = None

    def by_class(self, y: Any) -> dict[Any, int]:
        """Return the cost of a wrong answer about each class, by label; empty if errors are only counted."""
        return costs_of_labels(self.error_costs, y)


OWN_OBJECTIVES = ("smallest", "as-good")
"""Rules of ``--pick`` that determine the objectives if none are given."""

RULES_SAVED = {"committee": "pruned", "best-single": "best_single"}
"""Names of ``--pick`` for the rule whose model is written, where there is no front."""


@dataclass(frozen=True)
class PickOptions(MeasureOptions):
    """Measurement and output of a selection."""

    protocol: Annotated[
        str,
        f"{PROTOCOL}: auto (all, by answers out of fold and repeated choice) or paper (63 : 27 : 10).",
    ] = "auto"
    pick: Annotated[
        str | None,
        typer.Option(
            help=f"{POINT}, with --objectives: its number, or ideal, knee, lexicographic, as-good or "
            "smallest. as-good takes the cheapest committee, or the smallest without prices, that is no "
            "worse than the best single classifier by more than --margin; smallest the fewest members that "
            "are as good as the best committee within chance. Both work without --objectives. For a single "
            "committee: the model to write, committee or best-single.",
            show_default="the one that the first line names; ideal with --objectives",
        ),
    ] = None

    def rule_to_save(self, objectives: str | None) -> str:
        """Return the rule whose model is written; refuse an unknown name."""
        from shortlist._validation import as_choice

        if objectives is not None:  # the point's: the front is rechecked with what it knows of the pool
            return RULES_SAVED["committee"]
        if self.pick is None:
            return "auto"
        return RULES_SAVED[as_choice(self.pick, "--pick", [*RULES_SAVED, *OWN_OBJECTIVES])]


@dataclass(kw_only=True)
class FrontOptions(TimeSettings, SizeSettings):
    """A front of several objectives."""

    objectives: Annotated[
        str | None,
        typer.Option(
            help=f"{WHAT_MATTERS}, such as 'max accuracy, min cost, min size'; every non-dominated committee "
            "is found. There are max accuracy, balanced-accuracy, true-positives, true-negatives, recall, "
            "specificity and recall:CLASS; min cost and size; and for mean probabilities, on at most 47,662 "
            "pruning rows, min log-loss and brier."
        ),
    ] = None

    def asked(self, pick: str | None, *, priced: bool) -> "FrontOptions":
        """Return these options; for a rule that determines the objectives, with its objectives.

        `priced`: whether members have prices, on which ``as-good`` saves.
        """
        if self.objectives is None and pick in OWN_OBJECTIVES:
            what = "cost" if priced and pick == "as-good" else "size"
            return replace(self, objectives=f"max accuracy, min {what}")
        return self

    def front_pruner(
        self, pick: str | None, pool: "Pool | None", costs: list[float] | None, seed: int, jobs: int
    ) -> "FrontPruner":
        """Return the unfitted pruner that looks for the front."""
        from shortlist.cli.options.points import read_pick
        from shortlist.ensembles.estimators.front_pruner import COMMITTEE_PICKS, FrontPruner

        return FrontPruner(
            pool,
            objectives=[text.strip() for text in str(self.objectives).split(",")],
            pick=read_pick(pick or "ideal", COMMITTEE_PICKS),
            positive=self.positive,
            min_size=self.min_size,
            max_size=self.max_size,
            member_costs=costs,
            time_limit_s=self.time_limit_s,
            n_jobs=jobs,
            random_state=seed,
        )


def check_method(method: str, answers: AnswerOptions) -> None:
    """Refuse an unknown method, and a way of voting that the method lacks."""
    from shortlist._validation import as_choice
    from shortlist.ensembles.committees.committee import PROBABILITY_SOURCES
    from shortlist.ensembles.estimators.rule_pruners import pruning_methods
    from shortlist.errors import BadInputError
    from shortlist.papers import refuse_opponent

    voting = answers.voting
    refuse_opponent(method, "--method", OPPONENTS)
    as_choice(method, "--method", list(pruning_methods()))
    as_choice(answers.probabilities, "--set probabilities", PROBABILITY_SOURCES)
    as_choice(voting, "--set voting", ["auto", "hard", "averaged", "soft"])
    if voting == "soft" and method not in {EXACT, GREEDY}:
        raise BadInputError(
            f"--set voting=soft needs the method exact or {GREEDY}, got {method}. Pass --set voting=averaged."
        )
    if method == GREEDY and voting not in {"auto", "soft"}:
        raise BadInputError(
            f"--set voting must be auto or soft with the method {GREEDY}, got {voting}. Its members "
            "were chosen by their mean probability, and answer by it."
        )


def _numbers_or_name(text: str, option: str) -> Any:
    """Read ``a=1,b=2`` as a dict of numbers; return any other text as a name."""
    return read_numbers(text, option) if "=" in text else text


def _read_diversity(text: str) -> Any:
    """Read ``MEASURE:each=1,mean=2``, the same without a measure, or a name."""
    measure, colon, limits = text.rpartition(":")
    read = _numbers_or_name(limits, "set diversity")
    return (
        {"measure": measure.strip(), **read}
        if colon and isinstance(read, dict)
        else read
        if not colon
        else text
    )


def read_member_costs(path: Path, names: tuple[str, ...]) -> tuple[list[float], list[str]]:
    """Read the cost of every classifier of a given pool, and the names in the file that are not in the pool.

    Raises BadInputError if a column or a classifier is missing, a classifier comes twice, or a cost is no
    number of at least 0. The message names the file and, where possible, the line.
    """
    from shortlist._words import all_of
    from shortlist.errors import BadFileError

    costs = read_judge_costs(path)
    missing = [name for name in names if name not in costs]
    if missing:
        raise BadFileError(
            f"{path} must price every classifier of the pool, got no cost for {all_of(missing, most=8)}. "
            "Add a line for each."
        )
    return [costs[name] for name in names], [name for name in costs if name not in names]


def _refuse_long_log(X: "pd.DataFrame", y: "pd.Series[Any]") -> None:
    """Refuse a table with a row for each answer, with advice on how to make a table of cases."""
    import pandas as pd

    from shortlist.errors import BadInputError
    from shortlist.tables.learning import long_log

    table = pd.concat([X, y.rename(str(y.name))], axis=1)  # many columns read one by one are fragmented
    table.attrs = X.attrs
    if found := long_log(table, str(y.name)):
        raise BadInputError(found)


def read_judge_costs(path: Path) -> dict[str, float]:
    """Read the cost of every name of a table with the columns ``name`` and ``cost``.

    Raises BadInputError if a column is missing, a name comes twice, or a cost is no number of at least 0. The
    message names the file and, where possible, the line.
    """
    import math

    from shortlist._words import all_of
    from shortlist.errors import BadFileError
    from shortlist.multistage.problem.cost_files import PRICED_WORDS, known_names
    from shortlist.tables.learning import read_table

    table = known_names(read_table(path, words=PRICED_WORDS))
    if "needs" in table.columns and table["needs"].dropna().astype(str).str.strip().any():
        raise BadFileError(
            f"{path} must hold prices alone, since committees add them up, got a column needs. Take "
            "shortlist stage, which pays for shared needs once, or add the needs to the prices."
        )
    absent = [column for column in ("name", "cost") if column not in table.columns]
    if absent:
        raise BadFileError(
            f"{path} must have the columns name and cost, got {all_of(table.columns)}. Add {all_of(absent)}."
        )
    costs: dict[str, float] = {}
    nameless = table["name"].isna().to_numpy()
    if nameless.any():
        raise BadFileError(
            f"{path}, line {int(nameless.argmax()) + 2}: a price must have a name, got a gap (as "
            "cells such as NA are read). Choose another name, here and in the table."
        )
    for line, (name, text) in enumerate(zip(table["name"].astype(str), table["cost"], strict=True), start=2):
        if name in costs:
            raise BadFileError(f"{path}, line {line}: {name!r} has a cost already. Leave out one of the two.")
        try:
            costs[name] = float(text)
        except (TypeError, ValueError):
            costs[name] = math.nan
        if not (math.isfinite(costs[name]) and costs[name] >= 0):
            got = "an empty cell" if text != text else repr(text)  # noqa: PLR0124  # NaN alone is not itself
            raise BadFileError(
                f"{path}, line {line}, column cost: a cost must be a number of at least 0, got {got}."
            )
    return costs
