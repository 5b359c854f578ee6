"""What `shortlist prune` makes of its options before it works: which of them are used, and what they hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.options.unused import Use

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.rule_estimators import PluralityPruner

EXACT = "exact"
ALL = "all"


def _methods(given: Mapping[str, Any]) -> set[str]:
    """Return the names of the methods that were asked for; ``all`` stays one of them."""
    methods: str | None = given["methods"]
    return {given["method"]} if methods is None else set(method_names(methods))


USES = (
    Use(("method", "pool"), lambda given: given["methods"] is None, "a run without --methods"),
    Use(
        ("folds", "repeats", "store"),
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
            "member_costs",
            "max_cost",
            "time_limit",
            "solver",
        ),
        lambda given: bool(_methods(given) & {EXACT, ALL}),
        "the method exact",
        "name exact as the method",
    ),
    Use(
        ("stop",),
        lambda given: bool(_methods(given) - {EXACT, "margin", "backfitting"}),
        "rules that put the classifiers in order",
        "name such a rule as the method",
    ),
    Use(
        ("trust", "member_costs", "max_cost"),
        lambda given: given["pool"] is not None,
        "--pool",
        "add --pool FILE",
    ),
    Use(
        ("member_costs",),
        lambda given: given["max_cost"] is not None,
        "--max-cost",
        "add --max-cost NUMBER",
    ),
    Use(("classifiers",), lambda given: given["pool"] is None, "a pool that is fitted here"),
)
"""When each option of prune is used. ``--jobs`` always says what may be taken at most."""


def check_numbers(given: Mapping[str, Any]) -> None:
    """Refuse numbers that are out of range whatever the table holds, and methods that there are not."""
    from shortlist._validation import as_choice, as_count, as_seed
    from shortlist.ensembles.studies.method_comparison import pruning_methods
    from shortlist.errors import BadInputError

    as_seed(given["seed"], "--seed")
    as_count(given["classifiers"], "--classifiers")
    as_count(given["folds"], "--folds", at_least=2)
    as_count(given["repeats"], "--repeats")
    as_count(given["min_size"], "--min-size", at_least=0)
    if given["max_size"] is not None:
        as_count(given["max_size"], "--max-size")
    if given["jobs"] == 0:
        raise BadInputError("--jobs must be a number of workers, or -1 for every core, got 0.")
    known = list(pruning_methods())
    if given["methods"] is None:
        as_choice(given["method"], "--method", known)
    elif given["methods"] != ALL:
        for name in method_names(given["methods"]):
            as_choice(name, "--methods", [ALL, *known])
        if ALL in method_names(given["methods"]):
            raise BadInputError(
                "--methods must be all, or names of methods, got both. Leave out one of them."
            )


def method_names(methods: str) -> list[str]:
    """Return the names in ``--methods``, each once."""
    return list(dict.fromkeys(part.strip() for part in methods.split(",")))


def rule_pruner(method: str, stop: str, pool: Any, seed: int, jobs: int) -> "PluralityPruner":
    """Return the unfitted pruner of a rule."""
    from shortlist.ensembles.estimators.rule_estimators import OrderedPruner
    from shortlist.ensembles.studies.method_comparison import pruning_methods

    pruner: PluralityPruner = pruning_methods([method])[method]
    if isinstance(pruner, OrderedPruner):
        pruner.set_params(stop=stop)
    pruner.set_params(pool=pool, random_state=seed, n_jobs=jobs)
    return pruner


def numbers_or_name(text: str, option: str) -> Any:
    """Read ``a=1,b=2`` as a dict of numbers; anything else is a name."""
    from shortlist.errors import BadInputError

    if "=" not in text:
        return text
    numbers: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name.strip() in numbers:
            raise BadInputError(f"{option} must name each number once, got {name.strip()!r} twice.")
        try:
            numbers[name.strip()] = float(number)
        except ValueError:
            raise BadInputError(
                f"{option} must be a name or name=number,..., got {part.strip()!r}."
            ) from None
    return numbers


def read_member_costs(path: Path, names: tuple[str, ...]) -> tuple[list[float], list[str]]:
    """Read the cost of every classifier of a given pool, and the names in the file that are not in the pool.

    Raises
    ------
    BadInputError
        If a column or a classifier is missing, a classifier comes twice, or a cost is no number of at least
        0; the sentence names the file, and where it can the line.
    """
    import math

    from shortlist._words import all_of
    from shortlist.errors import BadFileError
    from shortlist.tables.learning import read_table

    table = read_table(path)
    absent = [column for column in ("name", "cost") if column not in table.columns]
    if absent:
        raise BadFileError(
            f"{path} must have the columns name and cost, got {all_of(table.columns)}. Add {all_of(absent)}."
        )
    costs: dict[str, float] = {}
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
    missing = [name for name in names if name not in costs]
    if missing:
        raise BadFileError(
            f"{path} must price every classifier of the pool, got no cost for {all_of(missing, most=8)}. "
            "Add a line for each."
        )
    return [costs[name] for name in names], [name for name in costs if name not in names]
