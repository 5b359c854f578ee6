"""Recheck of a front as a command: input and report."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.answers import CommandAnswer
from shortlist.cli.text.output import cut, finite

if TYPE_CHECKING:
    from shortlist.cli.options.verify_options import FrontRecheck
    from shortlist.methods.front_check import FrontCheck
    from shortlist.results.front import Front
    from shortlist.runs.budget import Budget
    from shortlist.saved_models import SavedModel


MOST_SENTENCES = 6
"""Largest number of sentences on failed claims on the screen."""


EXIT_CODES = {"invalid": 1, "counted": 3}
"""Exit codes by status, if some claim failed or was not rechecked."""


def failure_lines(failures: Sequence[str]) -> list[str]:
    """Return lines on failed claims, as many as fit on the screen."""
    return cut([f"NOT AS CLAIMED: {sentence}." for sentence in failures], MOST_SENTENCES, "--json has all")


def verify_front(path: Path, against: str, given: "FrontRecheck") -> CommandAnswer:
    """Recheck a front against a program, a feature model or a table."""
    from shortlist._validation import as_positive_seconds
    from shortlist.cli.text.front_text import is_staged
    from shortlist.cli.work import last_resort, long_work
    from shortlist.errors import BadInputError
    from shortlist.results.front import COMMITTEES, PROGRAM, Front
    from shortlist.runs.budget import Budget

    front = Front.load(path)
    if is_staged(front):
        raise BadInputError(
            "verify needs a front of shortlist solve, configure or prune, got one of stages. Name the model "
            "of shortlist stage."
        )
    kind = (
        "committees" if front.method == COMMITTEES else "programs" if PROGRAM in front.extras else "products"
    )
    _refuse_of_others(given, kind)
    notes: list[str] = []
    with long_work() as (cancellation, tell), last_resort(given.time_limit):
        budget = Budget(
            as_positive_seconds(given.time_limit, "--time-limit"), report=tell, cancellation=cancellation
        )
        if kind == "committees":
            found = _of_committees(front, against, given, budget, notes)
        elif kind == "programs":
            found = _of_program(front, Path(against), budget, notes)
        else:
            found = _of_products(front, Path(against), given.attributes, budget, notes)
    code = EXIT_CODES.get(found.status, 0)
    return CommandAnswer(check_facts(found), _lines(found, Path(against)), notes, exit_code=code)


def _refuse_of_others(given: "FrontRecheck", kind: str) -> None:
    from shortlist.errors import BadInputError

    owners = {
        "attributes": "products",
        "pruned": "committees",
        "pool": "committees",
        "trust": "committees",
    }
    for name, owner in owners.items():
        if getattr(given, name) and owner != kind:
            raise BadInputError(f"--{name} belongs to fronts of {owner}. Leave it out.")


def _of_committees(
    front: "Front", table: str, given: "FrontRecheck", budget: "Budget", notes: list[str]
) -> "FrontCheck":
    from shortlist.ensembles.committees.chosen import Chosen
    from shortlist.ensembles.pools.fitting import load_pool
    from shortlist.ensembles.pools.pool import Pool
    from shortlist.ensembles.verification.recheck_model import recheck_committees
    from shortlist.errors import BadInputError
    from shortlist.saved_models import load_model, made_by
    from shortlist.tables.learning import read_table, select_columns

    if {*Path(table.casefold()).suffixes} & {".lp", ".mps", ".uvl", ".xml", ".cnf", ".dimacs"}:
        raise BadInputError(
            "TABLE", "must be the table that the committees of the front were chosen on", Path(table).name,
            "Programs and feature models go with fronts of shortlist solve and configure.",
        )  # fmt: skip
    if given.pruned is None:
        raise BadInputError(
            "verify needs the pruning rows and what every candidate answered on them, which a front of "
            "committees does not hold. Name the model that was written with it: --pruned MODEL.joblib; "
            "shortlist prune writes both with --out FRONT.parquet --out MODEL.joblib."
        )
    saved = load_model(given.pruned, trust=given.trust)
    chosen = getattr(saved.estimator, "chosen_", None)
    if not isinstance(chosen, Chosen):
        raise BadInputError(
            f"--pruned must be a model of shortlist prune, got one of {made_by(saved.estimator)}."
        )
    rows = select_columns(read_table(table, notes), [*saved.features, saved.target])
    X, y = rows[list(saved.features)], rows[saved.target].to_numpy()
    pool = None if given.pool is None else load_pool(given.pool, trust=given.trust)
    if pool is None and chosen.committee.judged_columns:
        pool = Pool.of_judges_again(X, chosen.classes_, chosen.names)  # whose answers the table holds
    if pool is None:
        notes.append(
            "the votes of candidates that are not in the model's committee are taken from the model; --pool "
            "recomputes them"
        )
    return recheck_committees(chosen, front, X, y, pool=pool, budget=budget)


def _of_program(front: "Front", against: Path, budget: "Budget", notes: list[str]) -> "FrontCheck":
    from shortlist.programs.mps_format import read_program
    from shortlist.programs.recheck import recheck_front

    named = read_program(against)
    notes += named.notes
    return recheck_front(named, front, budget=budget)


def _of_products(
    front: "Front", against: Path, attributes: list[str] | None, budget: "Budget", notes: list[str]
) -> "FrontCheck":
    from shortlist.cli.options.product_questions import question_again, read_question
    from shortlist.products.configuration.question import make_question, parse_question
    from shortlist.products.configuration.recheck import recheck_products

    asked = read_question(against, question_again(front, attributes))
    notes += asked.notes
    goals, bounds = parse_question(asked.line, asked.objectives, asked.limits, asked.attributes)
    question, _ = make_question(asked.line, goals, bounds, asked.requirements, budget=budget)
    return recheck_products(question, front, budget=budget)


def verify_stages(saved: "SavedModel", table: str) -> CommandAnswer:
    """Fit, search and count the front of a saved multi-stage classifier again."""
    import warnings

    from shortlist.cli.work import long_work
    from shortlist.errors import LowCoverageWarning, RoughSearchWarning
    from shortlist.multistage.recheck import recheck_stages
    from shortlist.runs.budget import Budget
    from shortlist.tables.learning import read_table, select_columns, split_target

    notes: list[str] = []
    group = saved.group or None
    columns = [*saved.features, saved.target, *([group] if group else [])]
    rows = select_columns(read_table(table, notes), columns)
    learning = split_target(rows, saved.target, keep=saved.features, group=group)
    with long_work() as (cancellation, tell), warnings.catch_warnings():
        for among_the_doubts in (LowCoverageWarning, RoughSearchWarning):
            warnings.simplefilter("ignore", among_the_doubts)
        found = recheck_stages(
            saved.estimator,
            learning.X,
            learning.y.to_numpy(),
            cases=learning.cases,
            budget=Budget(report=tell, cancellation=cancellation),
        )
    facts = {"status": found.status, "method": "count", **dataclasses.asdict(found)}
    facts |= {"claim": str(found.claim), "seconds": finite(found.seconds)}
    lines = [*failure_lines(found.failures), *found.sentences()]
    if found.status == "rechecked":
        lines.append(f"Rechecked: as claimed ({found.seconds:.2f} s).")
    elif not found.failures:
        lines.append("Some claims of the front were not counted again (exit code 3).")
    return CommandAnswer(facts, lines, notes, exit_code=EXIT_CODES.get(found.status, 0))


def check_facts(found: "FrontCheck") -> dict[str, Any]:
    """Return the facts for JSON on a recheck of a front."""
    search = found.search
    return {
        "status": found.status,
        "method": "row states" if found.n_states else "count" if search is None else search.solver,
        "seconds": finite(found.seconds),
        "failures": list(found.failures),
        "n_points": found.n_points,
        "claim": str(found.claim),
        "found_by": found.found_by,
        "completed_by_highs": found.n_completed,
        "rounded": found.rounded or None,
        "committees_counted": found.n_tried,
        "states": found.n_states or None,
        "boxes": None
        if search is None
        else {
            "all": search.n_boxes,
            "empty_by_sums": search.n_by_sums,
            "empty_by_solver": search.n_by_solver,
            "open": search.n_open,
            "limit": search.limit,
        },
    }


def _lines(found: "FrontCheck", against: Path) -> list[str]:
    from shortlist._words import counted
    from shortlist.results.proof import ProofKind

    if found.failures:
        return failure_lines(found.failures)
    points = counted(found.n_points, "point")
    lines = [
        (
            f"As claimed: {points}, each counted again from {against.name}, and none dominates another "
            f"({found.seconds:.2f} s)."
        ),
        *found.sentences(),
    ]
    if found.status == "counted" and found.search is None and not found.unasked:
        lines.append("The front claims nothing about other points (exit code 3).")
    elif found.status == "counted":
        lines.append("Some claims of the front were not checked again (exit code 3).")
    else:
        told = {
            ProofKind.COMPLETE: "The front is complete",
            ProofKind.NONDOMINATED: "Every point is non-dominated",
            ProofKind.APPROXIMATE: "No missing point is better by more than the front says",
        }[found.claim]
        on_trust = f", if {found.rests_on} is right about its boxes" if found.rests_on else ""
        lines.append(f"Rechecked: {told[0].lower()}{told[1:]}{on_trust}.")
    return lines
