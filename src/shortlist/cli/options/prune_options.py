"""What `shortlist prune` is asked: its options, which of them are used, and what they hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from shortlist.cli.options.pairs import ALL, read_names, read_numbers
from shortlist.cli.options.shared import (
    NEEDS_PROMISE,
    POINT,
    POOL,
    SECONDS_HELP,
    WHAT_MATTERS,
    Positive,
    Trust,
    check_shared,
)
from shortlist.cli.options.unused import Use

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.ensembles.estimators.exact_pruner import ExactPruner
    from shortlist.ensembles.estimators.front_pruner import FrontPruner
    from shortlist.ensembles.estimators.rule_pruners import RulePruner
    from shortlist.ensembles.pools.pool import Pool

EXACT = "exact"

GREEDY = "greedy-means"
"""The rule that chooses by the mean of probabilities, and answers by it."""


@dataclass(frozen=True)
class MethodOptions:
    """What chooses the members: one method, or several side by side."""

    method: Annotated[
        str,
        typer.Option(
            help="Method: exact, or a rule: full, best-single, random, margin, kappa, kappa-pairs, "
            "backfitting, greedy-means, "
            "reduced-error, complementariness, concurrency, uwa, orientation, margin-distance, drep."
        ),
    ] = EXACT
    methods: Annotated[
        str | None,
        typer.Option(help="Methods to compare: all, or names such as exact,margin,uwa; by cross-validation."),
    ] = None
    voting: Annotated[
        str,
        "How members answer: auto; hard, by votes; averaged, by the mean probability; or soft, selected by "
        "it too (exact and greedy-means only).",
    ] = "auto"
    probabilities: Annotated[
        str,
        "Scores of predict: auto, mean, shares, calibrated-mean, calibrated-shares or cross-validated.",
    ] = "auto"
    folds: Annotated[int, "Number of cross-validation folds of --methods."] = 10
    repeats: Annotated[int, "Repeats of the cross-validation of --methods, each with other folds."] = 1

    def leaves_greedy_out(self, pool: "Pool | None") -> bool:
        """Whether all methods are asked for, of a pool that gives no probabilities for one of them."""
        from shortlist.ensembles.pools.answers import gives_probabilities

        return self.methods == ALL and pool is not None and not gives_probabilities(pool)

    def voting_notes(self, pool: "Pool | None" = None) -> list[str]:
        """Return what to say where methods that choose by votes are compared with those that do not."""
        if self.leaves_greedy_out(pool):
            return [
                f"{GREEDY} is left out: it needs probabilities of every judge, and some give classes alone."
            ]
        if self.methods is None or self.voting != "soft":
            return []
        return [
            "--set voting=soft is of exact and greedy-means. Rules choose by votes, and answer by the mean."
        ]

    def rules_voting(self) -> str:
        """Return how members answer that a rule chose, by their votes."""
        return {"auto": "hard", "soft": "averaged"}.get(self.voting, self.voting)

    def rule_pruner(self, pool: "Pool | None", seed: int, jobs: int) -> "RulePruner":
        """Return the unfitted pruner of a rule."""
        from shortlist.ensembles.estimators.methods import pruning_methods

        pruner: RulePruner = pruning_methods([self.method])[self.method]
        if self.method != GREEDY:
            pruner.set_params(voting=self.rules_voting())
        pruner.set_params(pool=pool, random_state=seed, n_jobs=jobs, probabilities=self.probabilities)
        return pruner

    def chosen(self, exact: "ExactPruner") -> dict[str, Any]:
        """Return the unfitted methods of a comparison by name."""
        from shortlist.ensembles.estimators.methods import pruning_methods

        names = None if self.methods in {None, ALL} else read_names(str(self.methods))
        chosen = pruning_methods(names)
        if self.leaves_greedy_out(exact.pool):
            del chosen[GREEDY]
        if "exact" in chosen:
            # folds are the units of parallel work, so each proof has one thread
            chosen["exact"] = exact.set_params(n_jobs=None)
        for name, method in chosen.items():
            method.set_params(pool=_affordable(exact) if name == "best-single" else _priced(exact))
            if name != GREEDY:
                method.set_params(voting=self.voting if name == EXACT else self.rules_voting())
        return chosen


@dataclass(frozen=True)
class PoolOptions:
    """Which classifiers there are."""

    pool: Annotated[Path | None, typer.Option(help=f"{POOL}; default: fit a pool.")] = None
    trust: Trust = False
    classifiers: Annotated[int, typer.Option(help="Size of the pool to fit.")] = 100
    answers: Annotated[
        bool,
        typer.Option(
            "--answers",
            help="TABLE holds answers of judges in place of features: a column of classes for each, or "
            "columns judge:class of probabilities; an empty cell is an abstention.",
        ),
    ] = False
    costs: Annotated[
        Path | None,
        typer.Option(help="CSV with columns name,cost: what each classifier of --pool, or judge, costs."),
    ] = None
    may_abstain: Annotated[bool, "Whether empty cells of --answers are abstentions.", "abstentions"] = True

    @property
    def member_costs(self) -> Path | None:
        """The prices of classifiers; those of judges go with their answers."""
        return None if self.answers else self.costs

    def given(
        self, X: "pd.DataFrame", y: "pd.Series[Any]", dropped: Sequence[str], notes: list[str]
    ) -> "Pool | None":
        """Return the pool of the file, or the judges of the table; None where classifiers are fitted.

        Prices of judges whose columns are dropped are passed over, and noted.
        """
        from shortlist.ensembles.pools.fitting import load_pool
        from shortlist.ensembles.pools.pool import Pool

        if self.answers:
            _refuse_long_log(X, y)
            costs = None if self.costs is None else self._judge_costs(X, dropped, notes)
            return Pool.from_answers(X, y.to_numpy(), costs=costs, may_abstain=self.may_abstain)
        return None if self.pool is None else load_pool(self.pool, trust=self.trust)

    def _judge_costs(self, X: "pd.DataFrame", dropped: Sequence[str], notes: list[str]) -> dict[str, float]:
        """Return the prices of judges, without those of dropped columns."""
        from shortlist._words import all_of

        costs = read_judge_costs(cast("Path", self.costs))
        gone = {name for column in dropped for name in (column, column.rpartition(":")[0])}
        gone -= {name for column in X.columns for name in (column, column.rpartition(":")[0])}
        passed_over = [name for name in costs if name in gone]
        if passed_over:
            names = all_of(passed_over, most=8)
            notes.append(f"{self.costs} also prices {names}, which are dropped: passed over.")
        return {name: cost for name, cost in costs.items() if name not in gone}


@dataclass(frozen=True)
class SelectionOptions:
    """What exact pruning maximises, and which selections it may choose."""

    objective: Annotated[
        str,
        typer.Option(
            help="auto, accuracy, balanced-accuracy, theta-weighted, recall, specificity, or weights such as "
            "tp=1,tn=1,fp=-5,fn=0, or by class; with soft votes also log-loss, brier, or accuracy+slope-8."
        ),
    ] = "auto"
    positive: Positive = None
    diversity: Annotated[
        str,
        "Limits on diversity: none, average, each, or such as each=0.2,mean=0.4 or double-fault:mean=0.1.",
    ] = "none"
    min_size: Annotated[int, "Fewest members."] = 1
    max_size: Annotated[int | None, typer.Option(help="Most members.")] = None
    max_copies: Annotated[
        int, "Largest weight of a classifier in the mean; each copy counts towards the sizes."
    ] = 1
    max_cost: Annotated[float | None, typer.Option(help="Most that the members may cost together.")] = None
    pruning_rows: Annotated[
        str, "Which rows select members: auto, held-out (three of ten) or out-of-fold (all)."
    ] = "auto"
    refit: Annotated[
        bool | None,
        "Whether the selected members are fitted again on all training rows; default yes for exact.",
    ] = None
    time_limit: Annotated[float, typer.Option(help=f"{SECONDS_HELP}, which is that for a proof.")] = 60.0
    solver: Annotated[str, "What proves: auto, or highs, cpsat or scip alone on the integer program."] = (
        "auto"
    )

    def exact_pruner(
        self, pool: "Pool | None", prices: Path | None, seed: int, jobs: int, notes: list[str]
    ) -> "ExactPruner":
        """Return the unfitted pruner that proves; what the cost file has beyond the pool is noted."""
        from shortlist.ensembles.estimators.exact_pruner import ExactPruner

        return ExactPruner(
            pool,
            objective=_numbers_or_name(self.objective, "objective"),
            positive=self.positive,
            diversity=_read_diversity(self.diversity),
            min_size=self.min_size,
            max_size=self.max_size,
            max_copies=self.max_copies,
            member_costs=self.costs_of(pool, prices, notes),
            max_cost=self.max_cost,
            time_limit_s=self.time_limit,
            solver=self.solver,
            pruning_rows=self.pruning_rows,
            refit=self.refit is not False,
            n_jobs=jobs,
            random_state=seed,
        )

    def costs_of(self, pool: "Pool | None", prices: Path | None, notes: list[str]) -> list[float] | None:
        """Return the prices of the cost file, if there is one; what it has beyond the pool is noted."""
        from shortlist._words import all_of

        if prices is None or pool is None:
            return None
        costs, unknown = read_member_costs(prices, pool.names)
        if unknown:
            names = all_of(unknown, most=8)
            notes.append(f"{prices} also prices {names}, not in the pool: passed over.")
        return costs


@dataclass(frozen=True)
class FrontOptions:
    """Several things that matter at once, and which committee of their front predicts."""

    objectives: Annotated[
        str | None,
        typer.Option(
            help=f"{WHAT_MATTERS}, such as 'max accuracy, min cost, min size': max accuracy, "
            "balanced-accuracy, true-positives, true-negatives, recall, specificity or recall:CLASS; "
            "min cost, price-paid (as early exit pays), size, time, bytes, or, of mean probabilities "
            "on up to 47,662 rows that prune, log-loss or brier. Finds every "
            "committee that no other beats in all of them."
        ),
    ] = None
    pick: Annotated[
        str,
        typer.Option(
            help=f"{POINT}, which predicts: ideal, knee, lexicographic; or its number. Of --objectives."
        ),
    ] = "ideal"

    def front_pruner(
        self, wanted: SelectionOptions, pool: "Pool | None", prices: Path | None, seed: int, jobs: int
    ) -> "FrontPruner":
        """Return the unfitted pruner that looks for the front."""
        from shortlist.cli.options.points import read_pick
        from shortlist.ensembles.estimators.front_pruner import COMMITTEE_PICKS, FrontPruner

        return FrontPruner(
            pool,
            objectives=[text.strip() for text in str(self.objectives).split(",")],
            positive=wanted.positive,
            pick=read_pick(self.pick, COMMITTEE_PICKS),
            min_size=wanted.min_size,
            max_size=wanted.max_size,
            member_costs=wanted.costs_of(pool, prices, []),
            time_limit_s=wanted.time_limit,
            n_jobs=jobs,
            random_state=seed,
        )


def _methods(given: Mapping[str, Any]) -> set[str]:
    """Return the names of the methods that were asked for; ``all`` stays one of them."""
    methods: str | None = given["methods"]
    return {given["method"]} if methods is None else set(read_names(methods))


def _fits(given: Mapping[str, Any]) -> bool:
    """Whether classifiers are fitted here."""
    return given["pool"] is None and not given["answers"]


PRUNE_USES = (
    Use(
        ("pick",),
        lambda given: given["objectives"] is not None,
        "--objectives",
        "add --objectives 'max accuracy, min size'",
    ),
    Use(
        (
            "method",
            "methods",
            "voting",
            "probabilities",
            "objective",
            "diversity",
            "max_copies",
            "max_cost",
            "solver",
            "pruning_rows",
            "refit",
            "answer_accuracy",
        ),
        lambda given: given["objectives"] is None,
        "a run without --objectives",
    ),
    Use(
        ("method", "pool", "answer_accuracy", "probabilities"),
        lambda given: given["methods"] is None,
        "a run without --methods",
    ),
    NEEDS_PROMISE,
    Use(
        ("folds", "repeats"),
        lambda given: given["methods"] is not None,
        "--methods",
        "add --methods all",
    ),
    Use(
        (
            "objective",
            "positive",
            "diversity",
            "min_size",
            "max_size",
            "max_copies",
            "max_cost",
            "time_limit",
            "solver",
        ),
        lambda given: bool(_methods(given) & {EXACT, ALL}),
        "the method exact",
        "name exact as the method",
    ),
    Use(
        ("trust",),
        lambda given: given["pool"] is not None,
        "--pool",
        "add --pool FILE",
    ),
    Use(
        ("costs",),
        lambda given: given["answers"] or given["pool"] is not None,
        "--pool or --answers",
        "add --pool FILE or --answers",
    ),
    Use(
        ("costs",),
        lambda given: given["answers"] or bool(_methods(given) & {EXACT, ALL}),
        "the method exact",
        "name exact as the method",
    ),
    Use(
        ("max_cost",),
        lambda given: not given["answers"] or given["costs"] is not None,
        "a table of answers whose judges have prices",
        "add --costs FILE",
    ),
    Use(
        ("max_cost",),
        lambda given: given["pool"] is not None or given["costs"] is not None,
        "--pool or --costs",
        "add --pool FILE, or --answers with --costs FILE",
    ),
    Use(("may_abstain",), lambda given: given["answers"], "--answers", "add --answers"),
    Use(("pool",), lambda given: not given["answers"], "a run without --answers"),
    Use(
        ("costs",),
        lambda given: given["answers"] or given["max_cost"] is not None or given["objectives"] is not None,
        "--max-cost",
        "add --max-cost NUMBER",
    ),
    Use(
        ("classifiers",),
        _fits,
        "a pool that is fitted here",
    ),
    Use(
        ("pruning_rows",),
        lambda given: _fits(given) and given["methods"] is None and given["method"] == EXACT,
        "the method exact, with a pool that is fitted here",
    ),
    Use(
        ("refit",),
        lambda given: _fits(given) and (given["methods"] is not None or given["method"] == EXACT),
        "the method exact and --methods, with a pool that is fitted here",
    ),
)
"""When each option of prune is used. ``--workers`` always says what may be taken at most."""


def check_prune_numbers(given: Mapping[str, Any]) -> None:
    """Refuse numbers that are out of range whatever the table holds, and methods that there are not."""
    from shortlist._validation import as_choice, as_count
    from shortlist.ensembles.committees.committee import PROBABILITY_SOURCES
    from shortlist.ensembles.estimators.methods import pruning_methods
    from shortlist.errors import BadInputError

    check_shared(given)
    as_count(given["classifiers"], "--classifiers")
    as_choice(given["voting"], "--set voting", ["auto", "hard", "averaged", "soft"])
    as_choice(given["probabilities"], "--set probabilities", PROBABILITY_SOURCES)
    if given["voting"] == "soft" and given["methods"] is None and given["method"] not in {EXACT, GREEDY}:
        raise BadInputError(
            f"--set voting=soft is of the methods exact and {GREEDY}, got {given['method']}. Pass --set "
            "voting=averaged."
        )
    if given["methods"] is None and given["method"] == GREEDY and given["voting"] not in {"auto", "soft"}:
        raise BadInputError(
            f"--set voting must be auto or soft with the method {GREEDY}, got {given['voting']}. Its members "
            "answer by the mean that chose them."
        )
    as_choice(given["pruning_rows"], "--set pruning-rows", ["auto", "out-of-fold", "held-out"])
    as_count(given["folds"], "--set folds", at_least=2)
    as_count(given["repeats"], "--set repeats")
    as_count(given["min_size"], "--set min-size", at_least=0)
    if given["max_size"] is not None:
        as_count(given["max_size"], "--max-size")
    as_count(given["max_copies"], "--set max-copies")
    known = list(pruning_methods())
    if given["methods"] is None:
        as_choice(given["method"], "--method", known)
    elif given["methods"] != ALL:
        for name in read_names(given["methods"]):
            as_choice(name, "--methods", [ALL, *known])
        if ALL in read_names(given["methods"]):
            raise BadInputError(
                "--methods must be all, or names of methods, got both. Leave out one of them."
            )


def _numbers_or_name(text: str, option: str) -> Any:
    """Read ``a=1,b=2`` as a dict of numbers; anything else is a name."""
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

    Raises
    ------
    BadInputError
        If a column or a classifier is missing, a classifier comes twice, or a cost is no number of at least
        0; the sentence names the file, and where it can the line.
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
    """Refuse a table that has a row for each answer, and say how to make one of cases of it."""
    from shortlist.errors import BadInputError
    from shortlist.tables.learning import long_log

    table = X.assign(**{str(y.name): y})
    table.attrs = X.attrs
    if found := long_log(table, str(y.name)):
        raise BadInputError(found)


def _priced(exact: "ExactPruner") -> Any:
    """Return the pool of a comparison with the prices that the limit on cost goes by."""
    from dataclasses import replace

    import numpy as np

    if exact.member_costs is None:
        return exact.pool
    return replace(exact.pool, costs=np.array(exact.member_costs, dtype=np.float64))


def _affordable(exact: "ExactPruner") -> Any:
    """Return whoever of the pool is within the limit on cost alone; all of it where nobody is."""
    pool = _priced(exact)
    if exact.max_cost is None or pool.costs is None:
        return pool
    within = pool.costs.round(9) <= exact.max_cost
    return pool.subset(within) if within.any() else pool


def read_judge_costs(path: Path) -> dict[str, float]:
    """Read the cost of every name of a table with the columns ``name`` and ``cost``.

    Raises
    ------
    BadInputError
        If a column is missing, a name comes twice, or a cost is no number of at least 0; the sentence names
        the file, and where it can the line.
    """
    import math

    from shortlist._words import all_of
    from shortlist.errors import BadFileError
    from shortlist.multistage.problem.costs import PRICED_WORDS, known_names
    from shortlist.tables.learning import read_table

    table = known_names(read_table(path, words=PRICED_WORDS))
    if "needs" in table.columns and table["needs"].dropna().astype(str).str.strip().any():
        raise BadFileError(
            f"{path} must price judges that need nothing else, as committees add prices up, "
            "got a column needs. Take shortlist stage, which pays for shared needs once, or add them to the "
            "prices."
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
            f"{path}, line {int(nameless.argmax()) + 2}: a price must have a name, got a gap, as cells such "
            "as NA are. Name it otherwise, here and in the table."
        )
    for line, (name, text) in enumerate(zip(table["name"].astype(str), table["cost"], strict=True), start=2):
        if name in costs:
            raise BadFileError(f"{path}, line {line}: {name!r} has a cost already. Leave out one of the two.")
        try:
            costs[name] = float(text)
        except (TypeError, ValueError):
            costs[name] = math.nan
        if not (math.isfinite(costs[name]) and costs[name] >= 0):
            raise BadFileError(
                f"{path}, line {line}, column cost: a cost must be a number of at least 0, got {text!r}."
            )
    return costs
