"""Figures of the committee and of the rules that it is compared with, by repeated choice or on test rows."""

import dataclasses
import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shortlist._validation import AUTO
from shortlist.arrays import Floats
from shortlist.ensembles.committees.asking import EarlyAnswers
from shortlist.ensembles.committees.chosen import Chosen
from shortlist.ensembles.committees.committee import MEAN, Committee
from shortlist.ensembles.committees.evidence import cost_evidence
from shortlist.ensembles.estimators.rows import PruningRows
from shortlist.ensembles.measured import (
    Advice,
    Measured,
    advise,
    measured_of,
    reached_facts,
    time_of_answers,
    with_costs,
)
from shortlist.ensembles.pools.answers import gives_probabilities
from shortlist.ensembles.pools.fitting import refit_members
from shortlist.ensembles.pools.members import whole_pool
from shortlist.ensembles.pools.pool import CrossFittedPool
from shortlist.ensembles.repeated_pruning import (
    NO_CLASS,
    PoolAnswers,
    backfitted,
    ballot_of,
    best_alone,
    decided_by,
    objective_of,
    repeat_pruning,
)
from shortlist.guarantees.cells import labels_of
from shortlist.guarantees.selective_classifier import SelectiveClassifier
from shortlist.results.measuring import TableRows
from shortlist.results.repeated_choice import N_PARTS, deal_parts, measured_rows
from shortlist.runs import Work
from shortlist.runs.budget import seconds_now
from shortlist.tables.fingerprints import RowsOfTable
from shortlist.tables.splits import Cases

COMMITTEE, BEST_SINGLE, BACKFITTING = "pruned", "best_single", "backfitting"
RULES = (COMMITTEE, "full", BEST_SINGLE, BACKFITTING)
"""Names of the rules that are measured."""


@dataclass(frozen=True)
class PruningQuestion:
    """Fitted pruner, with the answers of the pool on its selection rows."""

    pruner: Any
    selective: SelectiveClassifier | None
    rows: PruningRows
    answers: PoolAnswers
    work: Work
    seed: int
    refit_on: TableRows | None
    """Rows on which members are fitted again; None if members are not fitted again."""
    encoded: NDArray[np.float64] | None = None
    """Rows of `refit_on` after the preprocessing of the pool, if known."""

    @property
    def chosen(self) -> Chosen:
        """Committee with the record of its choice, and with its promise if one was requested."""
        found: Chosen = (self.selective or self.pruner).chosen_
        return found

    @property
    def costs(self) -> Floats | None:
        """Price of each classifier, ``(n_classifiers,)``; None without prices."""
        own = getattr(self.pruner, "member_costs", None)
        costs = self.rows.pool.costs if own is None else own
        return None if costs is None else np.asarray(costs, dtype=np.float64)

    @functools.cached_property
    def alone(self) -> int:
        """Index of the best single classifier on the selection rows.

        If exact pruning chose a single classifier as the committee, it is this classifier.
        """
        chosen = self.chosen
        best = best_alone(chosen, self.answers, self.costs)
        lone = int(chosen.copies.argmax()) if np.count_nonzero(chosen.copies) == 1 else None
        is_exact = chosen.result is not None and chosen.front is None
        return lone if lone is not None and (lone == best or is_exact) else best

    @property
    def is_alone(self) -> bool:
        """Whether the committee consists of the best single classifier alone."""
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
        """Indices of the members that backfitting chooses on all selection rows."""
        found = backfitted(self.answers, len(self.rows.pool.classes))
        assert found is not None, "it is measured where it is quick"
        return found

    def committee_of(self, rule: str) -> Committee:
        """Return the committee of a rule's members, as it answers new rows."""
        if rule == COMMITTEE or (rule == BEST_SINGLE and self.is_alone):
            return self.chosen.committee
        members = self.rows.pool.subset(self.members_of(rule))
        if rule == BEST_SINGLE and self.refit_on is not None:
            members = refit_members(members, *self.refit_on, seed=self.seed, encoded=self.encoded)
        n = len(members)
        return Committee(members, np.ones(n, dtype=np.int64), ballot_of(self.chosen, n))

    def measured(
        self, rule: str, decided: NDArray[np.int64], truth: NDArray[Any], ms: float, times: int = 1
    ) -> Measured:
        """Return the figures of a rule from its decisions, ``(n_measured,)``.

        `times`: number of decisions for each row.
        """
        members, positive = np.unique(self.members_of(rule)), self.chosen.positive_place
        return measured_of(
            decided, truth, size=len(members), classes=self.pruner.classes_,
            positive=1 if positive is None else positive,  # of several nothing asks for it
            ms=ms, price=None if self.costs is None else math.fsum(self.costs[members]), times=times,
        )  # fmt: skip


@dataclass(frozen=True)
class RuleFigures:
    """Figures of each rule on the measured rows."""

    measured: dict[str, Measured]
    truth: NDArray[np.integer[Any]]
    early: EarlyAnswers | None = None
    answered: tuple[int, int] | None = None
    """Under a promise, number of rows with an answer, and number of rows with a right answer; None without a
    promise.
    """
    n_partitions: int = 0
    """Number of partitions of repeated choice, in each of which every row is measured; 0 on test rows."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of measured rows, of parts and of partitions, by name."""
        found = {"test": len(self.truth)}
        return found | ({"parts": N_PARTS, "partitions": self.n_partitions} if self.n_partitions else {})


def figures_of(question: PruningQuestion, tested: TableRows | None, cases: Cases | None) -> RuleFigures:
    """Return the figures of every rule on test rows; without test rows by repeated choice.

    `cases`: case of each selection row, which repeated choice measures.
    """
    found = _repeated(question, cases) if tested is None else _tested(question, tested)
    return dataclasses.replace(found, measured=with_costs(found.measured, question.chosen.error_costs_))


def _repeated(question: PruningQuestion, cases: Cases | None) -> RuleFigures:
    """Return the figures by repeated choice, which measures each row by choices that did not use it."""
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
    return RuleFigures(measured, truth, early, n_partitions=len(parts))


def _with_empty(name: str, told: NDArray[Any], n_empty: int, n_partitions: int) -> NDArray[Any]:
    """Return figures with entries inserted for the rows without a single value, in each partition."""
    nothing = np.full((n_partitions, n_empty), NO_CLASS if name in RULES else 0)
    return np.hstack([told.reshape(n_partitions, -1), nothing]).ravel()


def _time(question: PruningQuestion, rule: str) -> float:
    members = question.members_of(rule)
    if not len(members):
        return 0.0
    committee = question.committee_of(rule)
    return time_of_answers(committee.decided, question.rows.X, cancellation=question.work.cancellation)


def _tested(question: PruningQuestion, tested: TableRows) -> RuleFigures:
    """Return the figures on test rows, by the members that answer new rows."""
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
    return RuleFigures(measured, truth, early, answered)


def advice_on(question: PruningQuestion, figures: RuleFigures, margin: float) -> Advice:
    """Return the advice on which rule to use, from the figures of the rules.

    `margin`: loss up to which a rule counts as equally good.
    """
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
        leans=True,
    )


def _called(members: tuple[str, ...]) -> str:
    if not members:
        return "no classifier"
    return f"{members[0]} alone" if len(members) == 1 else f"the committee of {len(members)}"


def model_of(question: PruningQuestion, rule: str, selected: TableRows) -> Chosen:
    """Return the model of a rule that is not the committee, to be saved, with the record of its choice."""
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
        lone.fit_again(*question.refit_on, seed=question.seed, encoded=question.encoded)
    lone.validation_ = dataclasses.replace(lone.validation_, rows=record.rows)
    found: Chosen = lone.chosen_
    if chosen.error_costs_ is None or found.result is not None:
        return found
    return _with_costs(found, chosen.error_costs_, selected)


def _with_costs(found: Chosen, costs: tuple[float, ...], selected: TableRows) -> Chosen:
    """Return a rule's model that records the costs of errors, and their mean on the selection rows."""
    place = found.positive_place
    goal: dict[Any, float] = dict(enumerate(costs))
    if place is not None:
        goal = {"tp": costs[place], "tn": costs[1 - place]}
    wrong = found.predict_as_chosen(selected.X)[0] != selected.y
    mean = float(np.where(wrong, np.array(costs)[np.searchsorted(found.classes_, selected.y)], 0).mean())
    evidence = cost_evidence(mean, found.evidence.rows, counted_from=found.evidence.counted_from)
    return dataclasses.replace(found, terms=dataclasses.replace(found.terms, goal=goal), evidence=evidence)


def reached_by(question: PruningQuestion) -> dict[str, Any]:
    """Return the cost and the diversity of the members beside their limits, as a dict."""
    chosen = question.chosen
    return reached_facts(
        question.answers.right, chosen.selection,
        [name for name, n in zip(chosen.names, chosen.copies, strict=True) if n],
        costs=question.costs, max_cost=chosen.terms.max_cost, diversity=chosen.terms.diversity,
    )  # fmt: skip


def decided_where_chosen(question: PruningQuestion) -> NDArray[np.int64]:
    """Return the indices of the classes that the committee decides on the selection rows, ``(n_rows,)``.

    If members were fitted again on all rows, their recorded answers out of fold decide.
    """
    chosen, members = question.chosen, question.members_of(COMMITTEE)
    if question.refit_on is None or question.selective is not None or not len(members):
        return chosen.committee.decided(question.rows.X)
    return decided_by(chosen.committee.ballot, question.answers, members)


def right_where_chosen(question: PruningQuestion, rules: Iterable[str]) -> dict[str, int]:
    """Return the number of selection rows that each rule decides right, by the recorded answers."""
    answers, ballot = question.answers, question.chosen.committee.ballot
    found = {}
    for name in rules:
        members = question.members_of(name)
        own = ballot if name == COMMITTEE else ballot_of(question.chosen, len(members))
        decided = decided_by(own, answers, members)
        found[name] = int((decided == answers.truth).sum())  # a missing answer is wrong
    return found
