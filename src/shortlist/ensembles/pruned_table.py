"""Pruning on one table: a pool fitted on all rows, choice by out-of-fold answers, and repeated choice."""

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shortlist._validation import AUTO, as_choice, as_count
from shortlist.arrays import Labels
from shortlist.ensembles.committees.asking import EarlyAnswers
from shortlist.ensembles.committees.chosen import Chosen, FittedRows
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rows import PruningRows, pruning_rows_of
from shortlist.ensembles.measured import MeasuredTable, only_answer
from shortlist.ensembles.pools.members import whole_pool
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.pools.racing import USUAL_RACE, RaceSettings
from shortlist.ensembles.pruned_rows import PoolRows, RowPlan, fit_rows, plan_rows
from shortlist.ensembles.repeated_pruning import is_front, pool_answers
from shortlist.ensembles.rule_figures import (
    COMMITTEE,
    PruningQuestion,
    RuleFigures,
    advice_on,
    decided_where_chosen,
    figures_of,
    model_of,
    reached_by,
    right_where_chosen,
)
from shortlist.errors import BadInputError
from shortlist.guarantees.selective_classifier import SelectiveClassifier
from shortlist.results.measuring import PAPER, PROTOCOLS, Measuring, TableRows
from shortlist.runs import Work
from shortlist.runs.budget import seconds_now
from shortlist.runs.records import versions
from shortlist.tables.fingerprints import RowsOfTable, table_fingerprint
from shortlist.tables.splits import Cases, cases_of_rows

if TYPE_CHECKING:  # its kernels take seconds to load, which exact pruning need not wait for
    from shortlist.ensembles.estimators.rule_pruners import RulePruner


@dataclass(frozen=True)
class PrunedTable(MeasuredTable):
    """Fitted pruner, with the figures of its committee, the full ensemble and the best single classifier."""

    pruner: "ExactPruner | RulePruner"
    pool: Pool
    reached: dict[str, Any] = field(default_factory=lambda: {"cost": None, "diversity": None})
    selective: SelectiveClassifier | None = None  # where something is promised: the pruner with its threshold
    answered: tuple[int, int] | None = None  # then, of the test rows, those answered, and rightly
    right_where_chosen: dict[str, int] = field(default_factory=dict)  # selection rows that each gets right
    best_single: str = ""  # its name
    chosen: Chosen | None = None  # the committee; None where no selection keeps the limits
    early: EarlyAnswers | None = None  # of the measured rows, where there are several members
    saved: Chosen | None = None  # model of the rule that the advice names
    rule_saved: str = field(default="pruned", kw_only=True)  # its rule


def prune_table(
    X: Any,
    y: Labels,
    pruner: "ExactPruner | RulePruner | SelectiveClassifier",
    *,
    n_classifiers: int = 100,
    seed: int = 0,
    cases: Cases | None = None,
    work: Work | None = None,
    measuring: "Measuring | None" = None,
    race: RaceSettings = USUAL_RACE,
) -> PrunedTable:
    """Fit a pool, prune it, and measure committee, best single classifier and whole pool in the same way.

    All rows fit the pool, and select members by answers out of fold; figures come from repeated choice
    (:mod:`shortlist.results.repeated_choice`). On large tables the classifiers race to be in the pool
    (:mod:`shortlist.ensembles.pools.racing`). If the pruner has its own pool, no pool is fitted. A tenth of
    the rows is held out for measurement in three cases: more than
    :data:`shortlist.ensembles.pruned_rows.MOST_ROWS_REPEATED` rows, the paper's protocol, or a promise. If
    `measuring.test` has rows, these measure in place of repeated choice and held-out rows. For a promise,
    calibration rows are drawn from the other rows at random, without regard to class. Members and the best
    single classifier are fitted again on all rows that fit or select, unless the paper's protocol is used or
    `refit` of the pruner is False. Raises BadInputError if an option cannot be used, if no class has two
    rows, or if limits contradict each other.

    `y`: two classes, or more if the pruner decides by plurality, ``(n_samples,)``. `pruner`: unfitted, with
    all options but the pool. `n_classifiers`: size of the pool. `seed`: seed of the pool and the parts.
    `cases`: case of each row, ``(n_samples,)``. All rows of a case are in one part and in one fold, and one
    row of each case is used for calibration, since a promise requires independent rows. `work`: workers that
    fit the pool, progress, cancellation, and the study that keeps the pool and the state of exact pruning. A
    cancelled proof ends with the best selection found. `measuring`: test rows, and the model to save. `race`:
    settings of the race.
    """
    selective = pruner if isinstance(pruner, SelectiveClassifier) else None
    if isinstance(pruner, SelectiveClassifier):
        pruner.check_options(y)
        pruner = pruner.classifier
    check_pruner(pruner, y, n_classifiers)
    work, table, how = work or Work(), TableRows(X, y), measuring or Measuring()
    as_choice(how.protocol, "protocol", PROTOCOLS)
    plan = plan_rows(table, selective, how, seed=seed, cases=cases)
    stays = pruner.pool is not None or how.protocol == PAPER or _keeps_members(pruner)
    pool = fit_rows(
        pruner.pool, table.some(plan.rest), cases_of_rows(cases, plan.rest), n_classifiers=n_classifiers,
        seed=seed, work=work, apart=plan.fits_apart, race=None if stays else race,
    )  # fmt: skip
    start = seconds_now()
    pruner = pruner.set_params(pool=pool.pool)
    rows = _choose(pruner, pool, RowsOfTable(table_fingerprint(X, y), plan.rest[pool.selecting]), work)
    n_rows = pool.counts(plan)
    if rows.empty is not None:
        n_rows |= {"validation": len(rows.y), "empty": len(rows.empty)}
    if isinstance(pruner, ExactPruner) and pruner.result_.reason:
        return PrunedTable(pruner, rows.pool, n_rows=n_rows | {"test": 0}, seconds=seconds_now() - start)
    if not stays and pruner.committee_.members is pruner.chosen_pool_:
        pruner.fit_again(*pool.rest, seed=seed, report=work.report, encoded=pool.encoded)
    if selective is not None:
        selective.set_params(classifier=pruner)
        selective.calibrate(*table.some(plan.calibration), chose=(rows.X, rows.y))
    question = PruningQuestion(
        pruner, selective, rows, pool_answers(pruner.chosen_, rows), work, seed,
        refit_on=None if stays else pool.rest, encoded=pool.encoded,
    )  # fmt: skip
    selecting = pool.selecting if rows.places is None else pool.selecting[rows.places]
    figures = figures_of(question, plan.tested, cases_of_rows(pool.cases, selecting))
    found = PrunedTable(pruner, rows.pool, n_rows=n_rows | figures.counts, seconds=seconds_now() - start)
    return _with_models(found, question, figures, plan, pool, how)


def _keeps_members(pruner: "ExactPruner | RulePruner") -> bool:
    """Return whether the chosen members answer without being fitted again."""
    return not is_front(pruner) and not getattr(pruner, "refit", True)


def _choose(
    pruner: "ExactPruner | RulePruner", pool: PoolRows, within: RowsOfTable, work: Work
) -> PruningRows:
    """Choose the members by the pruner; return the selection rows."""
    if is_front(pruner):
        pruner.cases = cases_of_rows(pool.cases, pool.selecting)
    run: dict[str, Any] = {"report": work.report, "cancellation": work.cancellation, "within": within}
    if isinstance(pruner, ExactPruner):
        run["study"] = work.study.part("proof")
    selected = pool.rest.some(pool.selecting)
    pruner.fit(*selected, **run)
    return pruning_rows_of(pruner.pool, *selected)


def _with_models(  # noqa: PLR0917  # one call
    found: PrunedTable,
    question: PruningQuestion,
    figures: RuleFigures,
    plan: RowPlan,
    pool: PoolRows,
    how: Measuring,
) -> PrunedTable:
    """Return the result with the advice, and with the model of the recommended rule."""
    chosen, rows, selective = question.chosen, question.rows, question.selective
    advice = advice_on(question, figures, how.margin)
    facts: dict[str, Any] = {"calibrated_on": None if selective is None else plan.calibration}
    if pool.fits:
        again = plan.rest if question.refit_on is not None or chosen.refitted else None
        facts["fitted"] = FittedRows(plan.rest[pool.fitted], again, question.seed, versions())
    chosen = dataclasses.replace(chosen, **facts)
    take = advice.take if how.take == AUTO else how.take
    written = COMMITTEE if selective is not None else take
    saved = chosen
    if written != COMMITTEE and not question.is_alone:
        saved = dataclasses.replace(model_of(question, written, pool.rest.some(pool.selecting)), **facts)
    return dataclasses.replace(
        found, test=figures.measured, reached=reached_by(question), selective=selective,
        answered=figures.answered,
        only_answer=only_answer(decided_where_chosen(question), question.pruner.classes_),
        right_where_chosen=right_where_chosen(question, figures.measured),
        best_single=rows.pool.names[question.alone], chosen=chosen, early=figures.early, advice=advice,
        rule_saved=written, saved=saved,
    )  # fmt: skip


def check_pruner(pruner: "ExactPruner | RulePruner", y: Labels, n_classifiers: int) -> None:
    """Raise BadInputError for options that are known to be useless, before a pool is fitted or asked.

    Refused are options or classes that cannot be used, a pool of other classes, and limits on size and cost
    that no selection keeps.

    `y`, ``(n_samples,)``: the classes of all rows. `n_classifiers`: size of the pool to be fitted, if the
    pruner has none.
    """
    pruner.check_options(y)
    if not isinstance(pruner, ExactPruner):
        return
    pool = None if pruner.pool is None else whole_pool(pruner.pool)
    n = as_count(n_classifiers, "n_classifiers") if pool is None else len(pool)
    if conflict := pruner.limits_of(pool, n).conflict():
        raise BadInputError(f"no selection can keep the limits: {conflict}. Relax them.")
