"""Pruning on one table: fit a pool on all rows, choose out of fold, and measure by repeated choice."""

import dataclasses
import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shortlist._validation import AUTO, as_choice, as_count
from shortlist.arrays import Floats, Labels
from shortlist.ensembles.committees.asking import EarlyAnswers
from shortlist.ensembles.committees.chosen import Chosen, FittedRows
from shortlist.ensembles.committees.committee import MEAN, Committee
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.front_pruner import FrontPruner
from shortlist.ensembles.estimators.rows import (
    PruningRows,
    own_pool,
    pruning_rows_of,
    split_rows,
)
from shortlist.ensembles.measured import (
    TEST_SHARE,
    Advice,
    Measured,
    advise,
    measured_of,
    only_answer,
    reached_facts,
    time_of_answers,
)
from shortlist.ensembles.pools.answers import gives_probabilities
from shortlist.ensembles.pools.fitting import refit_members
from shortlist.ensembles.pools.members import whole_pool
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool
from shortlist.ensembles.repeated_pruning import (
    NO_CLASS,
    PoolAnswers,
    backfitted,
    ballot_of,
    best_alone,
    decided_by,
    objective_of,
    pool_answers,
    repeat_pruning,
)
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import labels_of
from shortlist.guarantees.selective_classifier import SelectiveClassifier
from shortlist.results.measuring import PAPER, PROTOCOLS, Measuring, TableRows
from shortlist.results.repeated_choice import N_PARTS, deal_parts, measured_rows
from shortlist.runs import Work
from shortlist.runs.budget import seconds_now
from shortlist.runs.records import versions
from shortlist.tables.fingerprints import RowsOfTable, table_fingerprint
from shortlist.tables.splits import (
    N_FOLDS,
    Cases,
    RowNumbers,
    cases_of_rows,
    deal_folds,
    keep_rows_apart,
    one_row_a_case,
    split_cases,
)

if TYPE_CHECKING:  # its kernels take seconds to load, which exact pruning need not wait for
    from shortlist.ensembles.estimators.rule_pruners import RulePruner

PRUNING_SHARE = 0.27
"""Share of all rows that selects members (Section 5.1 of the paper); the remaining 63 % fit classifiers."""

MOST_ROWS_REPEATED = 20_000
"""Rows up to which all fit, select and measure by repeated choice (decision 134)."""

COMMITTEE, BEST_SINGLE, BACKFITTING = "pruned", "best_single", "backfitting"
RULES = (COMMITTEE, "full", BEST_SINGLE, BACKFITTING)
"""Rules that are measured side by side."""


class RowPlan(NamedTuple):
    """Which rows fit and select, calibrate a promise, and measure."""

    rest: RowNumbers
    """Rows that fit and select."""
    calibration: RowNumbers
    tested: TableRows | None
    """Rows held out, or of a file of their own; None: the rows that select measure by repeated choice."""
    fits_apart: bool
    """Whether other rows fit than select."""


@dataclass(frozen=True)
class PrunedTable:
    """A fitted pruner, and how well it, the full ensemble and the best single classifier do."""

    pruner: "ExactPruner | RulePruner"
    pool: Pool
    n_rows: dict[str, int]
    seconds: float
    test: dict[str, Measured] = field(default_factory=dict)
    reached: dict[str, Any] = field(default_factory=lambda: {"cost": None, "diversity": None})
    only_answer: str | None = None  # class that the selection gives every selection row, if it is one only
    selective: SelectiveClassifier | None = None  # where something is promised: the pruner with its threshold
    answered: tuple[int, int] | None = None  # then, of the test rows, those answered, and rightly
    right_where_chosen: dict[str, int] = field(default_factory=dict)  # selection rows that each gets right
    best_single: str = ""  # its name
    chosen: Chosen | None = None  # the committee; None where no selection keeps the limits
    early: EarlyAnswers | None = None  # of the measured rows, where there are several members
    advice: Advice | None = None  # rule to use by the measured rows
    saved: Chosen | None = None  # model of the rule that the advice names
    rule_saved: str = "pruned"  # its rule


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
) -> PrunedTable:
    """Fit a pool, prune it, and measure committee, best single classifier and whole pool in the same way.

    Up to :data:`MOST_ROWS_REPEATED` rows all fit the pool, and select members by their answers out of fold;
    figures come from repeated choice (:mod:`shortlist.results.repeated_choice`). With a pool of the
    pruner's own nothing is fitted. Of more rows, with the paper's protocol, and where something is promised a
    tenth is held out and measures; `measuring.test` takes the place of both. With a promise the classifier's
    calibration share of the other rows is drawn before, without regard to classes. Members and the best
    single classifier are fitted again on all rows that fit or select, unless the paper's protocol or the
    pruner's `refit` says otherwise. Raises BadInputError if an option cannot be used, no class has two rows,
    or limits contradict each other.

    `y`: two classes, or more where the pruner goes by plurality, ``(n_samples,)``. `pruner`: unfitted, with
    all options but the pool. `n_classifiers`, `seed`: of the pool and the parts. `cases`: case of each row,
    ``(n_samples,)``. All rows of a case are in one part and in one fold, and one row of each case calibrates,
    since a promise counts on rows that know nothing of each other. `work`: workers that fit the pool;
    progress; a way to stop the proof with the best selection found; and the study that keeps the pool, and
    the state of exact pruning, to go on from there. `measuring`: rows that measure, and the model to save.
    """
    selective = pruner if isinstance(pruner, SelectiveClassifier) else None
    if isinstance(pruner, SelectiveClassifier):
        pruner.check_options(y)
        pruner = pruner.classifier
    check_pruner(pruner, y, n_classifiers)
    work, table, how = work or Work(), TableRows(X, y), measuring or Measuring()
    as_choice(how.protocol, "protocol", PROTOCOLS)
    plan = _plan(table, selective, how, seed=seed, cases=cases)
    rest, own = table.some(plan.rest), cases_of_rows(cases, plan.rest)
    fits, selecting = pruner.pool is None, np.arange(len(rest.y))
    fitted = selecting
    if fits:
        pool, fitted, selecting = _fitted_pool(rest, own, n_classifiers, seed, work, apart=plan.fits_apart)
        pruner = pruner.set_params(pool=pool)
    if isinstance(pruner, FrontPruner):
        pruner.cases = cases_of_rows(own, selecting)
    start = seconds_now()
    run: dict[str, Any] = {"report": work.report, "cancellation": work.cancellation}
    if isinstance(pruner, ExactPruner):
        run["study"] = work.study.part("proof")
    selected = rest.some(selecting)
    run["within"] = RowsOfTable(table_fingerprint(X, y), plan.rest[selecting])
    pruner.fit(*selected, **run)
    rows = pruning_rows_of(pruner.pool, *selected)
    n_rows = _counts(plan, pruner.pool, len(rest.y), len(selected.y), fits=fits)
    if rows.empty is not None:
        n_rows |= {"validation": len(rows.y), "empty": len(rows.empty)}
    if isinstance(pruner, ExactPruner) and pruner.result_.reason:
        return PrunedTable(pruner, rows.pool, n_rows | {"test": 0}, seconds_now() - start)
    is_kept = not isinstance(pruner, FrontPruner) and not getattr(pruner, "refit", True)
    refits = fits and how.protocol != PAPER and not is_kept
    if refits and pruner.committee_.members is pruner.chosen_pool_:
        pruner.fit_again(*rest, seed=seed, report=work.report)
    if selective is not None:
        selective.set_params(classifier=pruner)
        selective.calibrate(*table.some(plan.calibration), chose=(rows.X, rows.y))
    question = _Question(
        pruner, selective, rows, pool_answers(pruner.chosen_, rows), work, seed,
        refit_on=rest if refits else None,
    )  # fmt: skip
    figures = (
        _repeated(question, cases_of_rows(own, selecting if rows.places is None else selecting[rows.places]))
        if plan.tested is None
        else _tested(question, plan.tested)
    )
    seconds = seconds_now() - start
    advice, chosen = _advice(question, figures, how.margin), question.chosen
    facts: dict[str, Any] = {"calibrated_on": None if selective is None else plan.calibration}
    if fits:
        again = plan.rest if refits or chosen.refitted else None
        facts["fitted"] = FittedRows(plan.rest[fitted], again, seed, versions())
    chosen = dataclasses.replace(chosen, **facts)
    take = advice.take if how.take == AUTO else how.take
    written = COMMITTEE if selective is not None else take
    return PrunedTable(
        pruner, rows.pool, n_rows | figures.counts, seconds, test=figures.measured,
        reached=_reached(question), selective=selective, answered=figures.answered,
        only_answer=only_answer(chosen.committee.decided(rows.X), pruner.classes_),
        right_where_chosen=_right_where_chosen(question, figures.measured),
        best_single=rows.pool.names[question.alone], chosen=chosen, early=figures.early, advice=advice,
        rule_saved=written,
        saved=chosen if written == COMMITTEE or question.is_alone else dataclasses.replace(
            _model_of(question, written, selected), **facts
        ),
    )  # fmt: skip


def _plan(
    table: TableRows,
    selective: SelectiveClassifier | None,
    how: "Measuring",
    *,
    seed: int,
    cases: Cases | None,
) -> RowPlan:
    """Say which rows fit and select, calibrate and measure."""
    everything = np.arange(len(table.y))
    is_large = len(everything) > MOST_ROWS_REPEATED
    rest, tested = everything, how.test
    if tested is None and (is_large or how.protocol == PAPER or selective is not None):
        rest, held = split_rows(everything, table.y, TEST_SHARE, seed, cases)
        tested = table.some(held)
    calibration = rest[:0]
    if selective is not None:
        kept, drawn = split_cases(
            table.y[rest], cases_of_rows(cases, rest),
            lambda labels: keep_rows_apart(len(labels), selective.calibration_share, seed),
        )  # fmt: skip
        rest, calibration = rest[kept], one_row_a_case(rest[drawn], cases, seed)
    return RowPlan(rest, calibration, tested, how.protocol == PAPER or len(rest) > MOST_ROWS_REPEATED)


def _fitted_pool(
    rows: TableRows, cases: Cases | None, n_classifiers: int, seed: int, work: Work, *, apart: bool
) -> tuple[Pool | CrossFittedPool, RowNumbers, RowNumbers]:
    """Fit a pool on all rows, and again without each fold; `apart`: on seven tenths, so that the rest select.

    Return it, the rows that fitted it, and those that select.
    """
    everything = np.arange(len(rows.y))
    fitted, selecting = None, everything
    if apart:
        share = PRUNING_SHARE / (1 - TEST_SHARE)
        fitted, selecting = split_rows(selecting, rows.y, share, seed, cases)
    pool = own_pool(
        *rows, fitted, n_classifiers=n_classifiers, seed=seed, work=work,
        folds=N_FOLDS if cases is None else deal_folds(rows.y, N_FOLDS, seed, cases),
    )  # fmt: skip
    return pool, everything if fitted is None else fitted, selecting


def _counts(plan: RowPlan, pool: Any, n_rest: int, n_selected: int, *, fits: bool) -> dict[str, int]:
    """Return how many rows fit, select, calibrate and measure."""
    crossed = isinstance(pool, CrossFittedPool)
    counts = {"train": (n_rest if crossed else n_rest - n_selected) if fits else 0, "validation": n_selected}
    if len(plan.calibration):
        counts["calibration"] = len(plan.calibration)
    if crossed and fits:
        counts["folds"] = N_FOLDS
    return counts


@dataclass(frozen=True)
class _Question:
    """A fitted pruner with the answers that it chose by."""

    pruner: Any
    selective: SelectiveClassifier | None
    rows: PruningRows
    answers: PoolAnswers
    work: Work
    seed: int
    refit_on: TableRows | None
    """Rows on which members are fitted again; None where they stay as they are."""

    @property
    def chosen(self) -> Chosen:
        """The committee, with its promise where there is one."""
        found: Chosen = (self.selective or self.pruner).chosen_
        return found

    @property
    def costs(self) -> Floats | None:
        """Price of each classifier; None where they have none."""
        own = getattr(self.pruner, "member_costs", None)
        costs = self.rows.pool.costs if own is None else own
        return None if costs is None else np.asarray(costs, dtype=np.float64)

    @functools.cached_property
    def alone(self) -> int:
        """Index of the best single classifier on the selection rows.

        A committee of one that exact pruning chose, or that is the best one, is compared with nothing else.
        """
        chosen = self.chosen
        best = best_alone(chosen, self.answers, self.costs)
        lone = int(chosen.copies.argmax()) if np.count_nonzero(chosen.copies) == 1 else None
        is_exact = chosen.result is not None and chosen.front is None
        return lone if lone is not None and (lone == best or is_exact) else best

    @property
    def is_alone(self) -> bool:
        """Whether the committee is the best single classifier."""
        return bool(self.members_of(COMMITTEE).tolist() == [self.alone])

    def members_of(self, rule: str) -> NDArray[np.intp]:
        """Return the indices of the members of a rule, each as often as it counts."""
        everybody = np.arange(len(self.rows.pool))
        if rule == COMMITTEE:
            return np.repeat(everybody, self.chosen.copies)
        if rule == BACKFITTING:
            return self.backfitted
        return everybody[[self.alone]] if rule == BEST_SINGLE else everybody

    @functools.cached_property
    def backfitted(self) -> NDArray[np.intp]:
        """Members that backfitting chooses on all selection rows."""
        found = backfitted(self.answers, len(self.rows.pool.classes))
        assert found is not None, "it is measured where it is quick"
        return found

    def committee_of(self, rule: str) -> Committee:
        """Return the members of a rule as they answer new rows."""
        if rule == COMMITTEE or (rule == BEST_SINGLE and self.is_alone):
            return self.chosen.committee
        members = self.rows.pool.subset(self.members_of(rule))
        if rule == BEST_SINGLE and self.refit_on is not None:
            members = refit_members(members, *self.refit_on, seed=self.seed)
        n = len(members)
        return Committee(members, np.ones(n, dtype=np.int64), ballot_of(self.chosen, n))

    def measured(
        self, rule: str, decided: NDArray[np.int64], truth: NDArray[Any], ms: float, times: int = 1
    ) -> Measured:
        """Return the figures of a rule from its decisions, ``(n_measured,)``, `times` of each row."""
        members, positive = np.unique(self.members_of(rule)), self.chosen.positive_place
        return measured_of(
            decided, truth, size=len(members), classes=self.pruner.classes_,
            positive=1 if positive is None else positive,  # of several nothing asks for it
            ms=ms, price=None if self.costs is None else math.fsum(self.costs[members]), times=times,
        )  # fmt: skip


@dataclass(frozen=True)
class _Figures:
    """Figures of each rule on the measured rows."""

    measured: dict[str, Measured]
    truth: NDArray[np.integer[Any]]
    early: EarlyAnswers | None = None
    answered: tuple[int, int] | None = None
    """With a promise, rows answered and answered rightly."""
    n_partitions: int = 0
    """Partitions of repeated choice, in each of which every row is measured; 0 on test rows."""

    @property
    def counts(self) -> dict[str, int]:
        """How many rows measure, and in how many parts and partitions."""
        found = {"test": len(self.truth)}
        return found | ({"parts": N_PARTS, "partitions": self.n_partitions} if self.n_partitions else {})


def _repeated(question: _Question, cases: Cases | None) -> _Figures:
    """Measure by repeated choice: each row by choices that it took no part in."""
    rows, costs, chosen = question.rows, question.costs, question.chosen
    parts = deal_parts(rows.y, question.seed, cases, n_candidates=len(rows.pool))
    found = repeat_pruning(question.pruner, rows, question.answers, parts, costs=costs)
    truth = question.answers.truth[measured_rows(parts)]
    if rows.empty is not None:  # rows that are not answered are wrong, and cost nothing
        truth = np.concatenate([truth, np.searchsorted(rows.pool.classes, rows.empty)])
        found = {name: _with_empty(name, one, len(rows.empty), len(parts)) for name, one in found.items()}
    if question.is_alone:
        found[BEST_SINGLE] = found[COMMITTEE]
    measured = {
        name: question.measured(
            name, found[name], np.tile(truth, len(parts)), _time(question, name), len(parts)
        )
        for name in RULES
        if name in found
    }
    early = None
    if chosen.selection.sum() > 1:  # of the first partition, which is like the others
        once = slice(len(truth))
        early = EarlyAnswers(
            labels_of(found[COMMITTEE][once], chosen.classes_, chosen.reject_label_),
            found["calls"][once].astype(np.int64), None if costs is None else found["spent"][once],
            chosen.committee.names, found[COMMITTEE][once] >= 0, (),
        )  # fmt: skip
    return _Figures(measured, truth, early, n_partitions=len(parts))


def _with_empty(name: str, told: NDArray[Any], n_empty: int, n_partitions: int) -> NDArray[Any]:
    """Return what is told of the measured rows with those without a single value, partition by partition."""
    nothing = np.full((n_partitions, n_empty), NO_CLASS if name in RULES else 0)
    return np.hstack([told.reshape(n_partitions, -1), nothing]).ravel()


def _time(question: _Question, rule: str) -> float:
    members = question.members_of(rule)
    if not len(members):
        return 0.0
    committee = question.committee_of(rule)
    return time_of_answers(committee.decided, question.rows.X, cancellation=question.work.cancellation)


def _tested(question: _Question, tested: TableRows) -> _Figures:
    """Measure on test rows, by the members that answer new rows."""
    pruner, selective = question.pruner, question.selective
    truth = np.searchsorted(pruner.classes_, tested.y)
    measured = {}
    for name in (COMMITTEE, BEST_SINGLE, "full"):
        ask = question.committee_of(name).decided if name != COMMITTEE else pruner.chosen_.committee.decided
        start = seconds_now()
        decided = np.asarray(ask(tested.X), dtype=np.int64)
        once = (seconds_now() - start) / len(tested.y)
        ms = time_of_answers(ask, tested.X, once_s=once, cancellation=question.work.cancellation)
        measured[name] = question.measured(name, decided, truth, ms)
    least = None if selective is None else selective.guarantee_.threshold
    several = pruner.selection_.sum() > 1 and least != math.inf
    answered = None
    if selective is not None:
        decided, found = selective.predict(tested.X), selective.answers(tested.X)
        answered = int(found.sum()), int((found & (decided == tested.y)).sum())
    early = pruner.predict_early(tested.X, least=least) if several else None
    return _Figures(measured, truth, early, answered)


def _advice(question: _Question, figures: _Figures, margin: float) -> Advice:
    chosen, n = question.chosen, len(question.rows.pool)
    objective, worth = objective_of(chosen, np.tile(figures.truth, max(1, figures.n_partitions)))
    costs = None if figures.early is None else figures.early.costs
    names = {
        COMMITTEE: _called(chosen.committee.names),
        "full": f"all {n}",
        BEST_SINGLE: f"{question.rows.pool.names[question.alone]} alone",
        BACKFITTING: f"backfitting's {len(question.backfitted)}" if BACKFITTING in figures.measured else "",
    }
    return advise(
        figures.measured,
        {name: called for name, called in names.items() if called},
        objective=objective,
        worth=worth,
        spent=None if costs is None else float(costs.mean()),
        most=chosen.terms.max_cost,
        margin=margin,
        verb="Ask" if chosen.committee.judged_columns else "Use",
    )


def _called(members: tuple[str, ...]) -> str:
    if not members:
        return "no classifier"
    return f"{members[0]} alone" if len(members) == 1 else f"the committee of {len(members)}"


def _model_of(question: _Question, rule: str, selected: TableRows) -> Chosen:
    """Return another rule than the committee with the record of its choice, as a model to save."""
    from shortlist.ensembles.estimators.rule_pruners import BaselinePruner

    pool = question.rows.pool if question.rows.crossed is None else question.rows.crossed
    members = question.members_of(rule)
    if isinstance(pool, CrossFittedPool):
        pool = question.pruner.pool.of_members(lambda one: one.subset(members))
    else:
        pool = pool.subset(members)
    chosen = question.chosen
    even = len(set(chosen.gains.tolist())) == 1
    source = MEAN if gives_probabilities(whole_pool(pool)) else AUTO
    lone: Any = BaselinePruner(pool, probabilities=source, random_state=question.seed)  # all of these members
    if not even:
        lone = clone(question.pruner).set_params(pool=pool, min_size=len(members), max_size=len(members))
    record = question.pruner.validation_
    lone.fit(*selected, within=RowsOfTable(record.table, np.arange(len(selected.y))))
    if question.refit_on is not None:
        lone.fit_again(*question.refit_on, seed=question.seed)
    lone.validation_ = dataclasses.replace(lone.validation_, rows=record.rows)
    found: Chosen = lone.chosen_
    return found


def _reached(question: _Question) -> dict[str, Any]:
    """Return the cost and the diversity of the members beside what was asked of them."""
    chosen = question.chosen
    return reached_facts(
        question.answers.right, chosen.selection,
        [name for name, n in zip(chosen.names, chosen.copies, strict=True) if n],
        costs=question.costs, max_cost=chosen.terms.max_cost, diversity=chosen.terms.diversity,
    )  # fmt: skip


def _right_where_chosen(question: _Question, rules: Iterable[str]) -> dict[str, int]:
    """Return how many selection rows each rule gets right, by the answers that chose."""
    answers, ballot = question.answers, question.chosen.committee.ballot
    found = {}
    for name in rules:
        members = question.members_of(name)
        own = ballot if name == COMMITTEE else ballot_of(question.chosen, len(members))
        decided = decided_by(own, answers, members)
        found[name] = int((decided == answers.truth).sum())  # a missing answer is wrong
    return found


def check_pruner(pruner: "ExactPruner | RulePruner", y: Labels, n_classifiers: int) -> None:
    """Refuse what can be known to be of no use before a pool is fitted, or a given one is asked.

    Raises BadInputError if an option or the classes cannot be used, the pool tells other classes apart, or no
    selection keeps the limits on size and cost.

    `y`, ``(n_samples,)``: the classes of all rows. `n_classifiers`: size of the pool that is to be fitted
    where the pruner has none.
    """
    pruner.check_options(y)
    if not isinstance(pruner, ExactPruner):
        return
    pool = None if pruner.pool is None else whole_pool(pruner.pool)
    n = as_count(n_classifiers, "n_classifiers") if pool is None else len(pool)
    if conflict := pruner.limits_of(pool, n).conflict():
        raise BadInputError(f"no selection can keep the limits: {conflict}. Relax them.")
