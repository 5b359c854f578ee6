"""Decisions learned from cases of known truth, and out-of-fold decisions about these cases."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._threads import limited_threads
from shortlist.arrays import Floats
from shortlist.panels._kernels import logistic_loss
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.decisions import (
    BY_CONFIDENCE,
    COUNTED,
    LATEST,
    PLURALITY,
    Decided,
    Fitted,
    Heard,
    JudgesDecision,
    JudgeVotes,
    LatestAnswer,
    ScoreTable,
    decided_by_folds,
)

PENALTY = 0.3
"""Penalty of the squared weights, relative to the sum of the log loss."""
GRADIENT = 3e-4
"""Bound on the entries of the gradient of the mean loss; a fit ends below the bound."""
MOST_STEPS = 200
MOST_ROWS = 8000
"""Largest number of cases of a fit, taken evenly from all; more cases would change the weights by less than
chance.
"""
PSEUDO_COUNT = 0.5
"""Number added to each count of an answer to cases of a class."""
EM_ROUNDS = 30

VOTES_A_UNIT, MOST_VOTES = 4, 20
"""Votes per unit of log-odds, as whole numbers, and largest number of votes of a judge."""

LOGISTIC, DAWID_SKENE, VOTES, WEIGHTED = "logistic", "dawid-skene", "votes", "weighted-votes"
AGREEMENT = "agreement"
LEARNERS = (LOGISTIC, DAWID_SKENE, VOTES, WEIGHTED, AGREEMENT)
VOTING = (VOTES, WEIGHTED)
"""Decisions by votes: one vote per judge, or more votes for judges that are right more often."""

PRUNED = "pruned-votes"
"""Name of the decision with one vote for each judge of a committee that exact pruning chose.

Out-of-fold decisions are by the committee that was chosen again without the fold.
"""

POOLED = (*VOTING, DAWID_SKENE)
"""Learners whose weights for a judge do not depend on the other judges, so that any number of judges decides.
"""

UNSCORED = (*VOTING, PRUNED, AGREEMENT)
"""Decisions without learned scores of answers."""

COUNTING = JudgeVotes((), ())
"""Template of the rules of counting votes, without judges."""

Learner = Callable[[tuple[int, ...], Heard, NDArray[np.int64], JudgeVotes], Fitted]
"""Function from judges, their answers, the truth, and rules of counting to their decision."""


def fit_logistic(
    judges: tuple[int, ...],
    answers: Heard,
    truth: NDArray[np.int64],
    _counting: JudgeVotes = COUNTING,
    *,
    check: Callable[[], None] = lambda: None,
) -> ScoreTable:
    """Return logistic regression over labels and confidences, with penalised weights.

    `judges`: indices of the judges. `answers`: with a column for each judge. `truth`: class indices,
    ``(n_cases,)``; cases of unknown truth, -1, are left out. `check`: called in every step; its exception
    ends the fit.
    """
    from scipy.optimize import minimize

    known = np.flatnonzero(truth >= 0)
    if len(known) > MOST_ROWS:
        known = known[np.linspace(0, len(known) - 1, MOST_ROWS).astype(np.intp)]
    words, confidence, right = answers.words[known], answers.confidence[known], truth[known]
    n_classes, n_judges = answers.n_classes, len(judges)
    size = n_classes * (1 + n_judges * (2 * n_classes + 1))
    scores, gradient = np.empty((len(known), n_classes)), np.empty(size)

    def mean_loss(weights: Floats) -> tuple[float, Floats]:
        check()
        loss = logistic_loss(words, confidence, right, weights, PENALTY, scores, gradient)
        return loss / len(known), gradient / len(known)

    with limited_threads(1):  # of a few hundred weights; more threads only wait for each other
        found = minimize(
            mean_loss, np.zeros(size), jac=True, method="L-BFGS-B",
            options={"maxiter": MOST_STEPS, "gtol": GRADIENT, "ftol": 1e-9},
        )  # fmt: skip
    return ScoreTable(judges, np.ascontiguousarray(found.x), n_classes)


def fit_dawid_skene(
    judges: tuple[int, ...], answers: Heard, truth: NDArray[np.int64], _counting: JudgeVotes = COUNTING
) -> ScoreTable:
    """Return the model of Dawid and Skene (1979): rates of each answer of a judge to cases of each class.

    Cases of unknown truth count for every class by its probability (expectation maximisation, from shares of
    votes). Silence has no effect.
    """
    n_classes, n_judges = answers.n_classes, len(judges)
    known = truth >= 0
    if known.all():
        counts = [_counts_of(answers.words[:, j], truth, n_classes) for j in range(n_judges)]
        return _table_of(judges, counts, np.bincount(truth, minlength=n_classes).astype(np.float64))
    shares = np.zeros((len(truth), n_classes))
    shares[known, truth[known]] = 1.0
    shares[~known] = _vote_shares(answers.at(~known))
    said = [(answers.words[:, j] == np.arange(n_classes)[:, None]).astype(float) for j in range(n_judges)]
    table = _table_of(judges, [one @ shares for one in said], shares.sum(axis=0))
    for _ in range(EM_ROUNDS):
        shares[~known] = table.probabilities(answers.at(~known))
        table = _table_of(judges, [one @ shares for one in said], shares.sum(axis=0))
    return table


def _counts_of(words: NDArray[np.int64], truth: NDArray[np.int64], n_classes: int) -> Floats:
    """Return the number of times that each answer was given to cases of each class; silence is no answer."""
    pairs = np.bincount(words * n_classes + truth, minlength=(n_classes + 1) * n_classes)
    return pairs.reshape(n_classes + 1, n_classes)[:-1].astype(np.float64)


def fit_votes(
    judges: tuple[int, ...], _answers: Heard, _truth: NDArray[np.int64], counting: JudgeVotes = COUNTING
) -> JudgeVotes:
    """Return one vote for each judge, with the rules of `counting`; nothing is learned."""
    return replace(counting, judges=judges, votes=(1,) * len(judges))


def fit_agreement(
    judges: tuple[int, ...], _answers: Heard, _truth: NDArray[np.int64], _counting: JudgeVotes = COUNTING
) -> JudgeVotes:
    """Return votes that count silence and take the latest of equal answers; nothing is learned."""
    return JudgeVotes(judges, (1,) * len(judges), PLURALITY, COUNTED, LATEST)


def fit_weighted_votes(
    judges: tuple[int, ...], answers: Heard, truth: NDArray[np.int64], counting: JudgeVotes = COUNTING
) -> JudgeVotes:
    """Return votes of each judge by its share of right answers, with the rules of `counting`.

    With k classes, a judge that is right with probability p has log((k - 1) p / (1 - p)) votes, counted in
    quarters and rounded. These weights are optimal if judges err independently, and give all wrong classes
    equally often (:cite:t:`NitzanParoush1982` for two classes). A judge has no vote if it is right no more
    often than by chance, or is always silent.

    >>> answers = Heard(np.array([[0, 1]] * 8 + [[0, 0]] * 2), np.zeros((10, 2)), 2)
    >>> fit_weighted_votes((0, 1), answers, np.zeros(10, dtype=np.int64)).votes
    (10, 0)
    """
    known = truth >= 0
    words, n_classes = answers.words[known], answers.n_classes
    right = (words == truth[known, None]).sum(axis=0)
    wrong = (words < n_classes).sum(axis=0) - right
    units = np.log((right + 1) * (n_classes - 1) / (wrong + n_classes - 1))
    votes = np.clip(np.rint(VOTES_A_UNIT * units), 0, MOST_VOTES).astype(np.int64)
    return replace(counting, judges=judges, votes=tuple(votes.tolist()))


def learned_by(names: Iterable[str]) -> list[str]:
    """Return the learners whose scores decide the chains of stages that are searched.

    If logistic regression is among `names`, the model of Dawid and Skene decides committees only, not chains.

    >>> learned_by(("agreement", "votes", "dawid-skene")), learned_by(("votes", "dawid-skene", "logistic"))
    (['dawid-skene'], ['logistic'])
    """
    scores = [name for name in names if name not in UNSCORED]
    return [name for name in scores if name != DAWID_SKENE or LOGISTIC not in scores]


FITS: dict[str, Learner] = {
    LOGISTIC: fit_logistic, DAWID_SKENE: fit_dawid_skene, VOTES: fit_votes, WEIGHTED: fit_weighted_votes,
    AGREEMENT: fit_agreement,
}  # fmt: skip


def _vote_shares(answers: Heard) -> Floats:
    tally = (answers.words[:, :, None] == np.arange(answers.n_classes)).sum(axis=1) + 1e-6
    return np.asarray(tally / tally.sum(axis=1, keepdims=True))


def _table_of(judges: tuple[int, ...], said: list[Floats], of_class: Floats) -> ScoreTable:
    """Return the scores of judges by the rate of each answer to cases of each class.

    `said`: counts of each judge, ``(n_classes, n_classes)``. `of_class`: number of cases of each class.
    """
    prior, n_classes = of_class + PSEUDO_COUNT, len(of_class)
    labels = np.zeros((len(judges), n_classes + 1, n_classes))
    for place, one in enumerate(said):
        counts = one + PSEUDO_COUNT * _diagonal(n_classes)
        labels[place, :-1] = np.log(counts / counts.sum(axis=0))
    slopes = np.zeros(len(judges) * n_classes * n_classes)
    weights = np.concatenate([np.log(prior / prior.sum()), labels.ravel(), slopes])
    return ScoreTable(judges, weights, n_classes, DAWID_SKENE)


def _diagonal(n_classes: int) -> Floats:
    """Return the numbers added to counts, ``(n_classes, n_classes)``; twice as large for the right answer."""
    return np.ones((n_classes, n_classes)) + np.eye(n_classes)


def folds_of(log: AnswerLog, n_folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each case, ``(n_cases,)``.

    Classes are spread evenly, and cases of one group stay together.
    """
    groups = np.arange(len(log.truth)) if log.groups is None else log.groups
    _, first, of_group = np.unique(groups, return_index=True, return_inverse=True)
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(first))
    by_class = shuffled[np.argsort(log.truth[first][shuffled], kind="stable")]
    folds = np.empty(len(first), dtype=np.int64)
    folds[by_class] = np.arange(len(first)) % n_folds
    return folds[of_group]


class LimitPassedError(Exception):
    """Error that stops the learning of a decision when a limit ends the search; earlier results stay."""


class Judged(NamedTuple):
    """Decision of some judges, fitted on all cases, and the out-of-fold decisions about each case.

    `decided`: out-of-fold decisions. `written`: decisions of the fit on all cases; they determine the price
    of a panel on the cases. `ordering`: decisions whose confidences are compared with thresholds. If judges
    report confidences, `ordering` equals `decided`. Otherwise `ordering` equals `written`: without
    confidences equal answers are equally sure only within a fold, so a threshold across folds would mean
    nothing.
    """

    decision: JudgesDecision
    decided: Decided
    ordering: Decided
    written: Decided


class OutOfFold:
    """Decisions of sets of judges on cases of known truth; the decision of a set is fitted once and kept.

    `answers`: with a column for each judge. `truth`, ``(n_cases,)``. `folds`, ``(n_cases,)``. `learner`: one
    of ``"logistic", "dawid-skene", "votes", "weighted-votes", "pruned-votes", "agreement", "confidence"``.
    Pruned votes of a committee are plain votes until :meth:`chosen_again` is called for the committee.
    `without`: the answers to all cases once for each fold, with the confidence scale learned without this
    fold. `counting`: rules of counting votes.
    """

    def __init__(
        self,
        answers: Heard,
        truth: NDArray[np.int64],
        folds: NDArray[np.int64],
        learner: str,
        without: Sequence[Heard] | None = None,
        *,
        counting: JudgeVotes = COUNTING,
    ) -> None:
        self.answers, self.truth, self.learner, self._counting = answers, truth, learner, counting
        kinds, self._fold = np.unique(folds, return_inverse=True)
        self._without = [answers] * len(kinds) if without is None else without
        own = np.array([every.confidence for every in self._without])
        self._own = answers._replace(confidence=own[self._fold, np.arange(len(truth))])
        self._known: dict[tuple[int, ...], Judged] = {}
        self._of_all: list[Fitted] = []
        self._stopped: Callable[[], bool] | None = None

    @contextmanager
    def until(self, stopped: Callable[[], bool]) -> Iterator[None]:
        """Stop learning within the block once `stopped` returns true: learning raises LimitPassedError."""
        self._stopped = stopped
        try:
            yield
        finally:
            self._stopped = None

    def check_limit(self) -> None:
        """Raise LimitPassedError if the block of :meth:`until` has to end."""
        if self._stopped is not None and self._stopped():
            raise LimitPassedError

    def keep(self, sets: Collection[tuple[int, ...]]) -> None:
        """Forget the decisions of all sets of judges except `sets`; few are then sent to another process."""
        self._known = {chosen: one for chosen, one in self._known.items() if chosen in sets}

    def of(self, judges: Iterable[int]) -> Judged:
        """Return the decision of a set of judges, fitted if it is new."""
        in_order = self.learner in {AGREEMENT, BY_CONFIDENCE}  # the order in which judges are asked
        chosen = tuple(judges) if in_order else tuple(sorted(judges))
        if chosen not in self._known:
            self.check_limit()
            self._known[chosen] = self._judged(chosen)
        return self._known[chosen]

    def _judged(self, chosen: tuple[int, ...]) -> Judged:
        answers = self.answers.of(chosen)
        if self.learner == BY_CONFIDENCE:
            latest = LatestAnswer(chosen)
            told = latest.decide(answers)
            return Judged(latest, told, told, told)
        if self.learner in {VOTES, PRUNED, AGREEMENT}:
            whole = FITS[VOTES if self.learner == PRUNED else self.learner](
                chosen, answers, self.truth, self._counting
            )
            plain = whole.decide(answers)
            return Judged(whole, plain, plain, plain)
        whole, *parts = self._fitted(chosen)
        decided = decided_by_folds(parts, self._own.of(chosen), self._fold)
        finely = self.learner != WEIGHTED and answers.confidence.any()
        written = whole.decide(answers)
        return Judged(whole, decided, decided if finely else written, written)

    @property
    def parts(self) -> list[NDArray[np.intp]]:
        """Indices of the cases of each fold."""
        return [np.flatnonzero(self._fold == fold) for fold in range(len(self._without))]

    def chosen_again(self, chosen: tuple[int, ...], without: Sequence[tuple[int, ...]]) -> None:
        """Let pruned votes decide the cases of each fold by the committee chosen without this fold.

        The call has no effect if the committee is known already. `chosen`: committee chosen on all cases.
        `without`: committees chosen without each fold, in the order of the folds.
        """
        assert self.learner == PRUNED
        if chosen in self._known:
            return
        n_judges = self.answers.words.shape[1]
        votes = [np.isin(np.arange(n_judges), judges).astype(np.int64).tolist() for judges in without]
        parts = [replace(self._counting, judges=tuple(range(n_judges)), votes=tuple(one)) for one in votes]
        own = self._judged(chosen)
        self._known[chosen] = own._replace(decided=decided_by_folds(parts, self.answers, self._fold))

    def _fitted(self, chosen: tuple[int, ...]) -> list[Fitted]:
        """Return the fit on all cases, then the fits without each fold.

        The votes of a judge, and its scores by Dawid and Skene, do not depend on the other judges. So these
        decisions are fitted once for all judges.
        """
        if self.learner == LOGISTIC:
            return self._fits(chosen)
        if not self._of_all:
            self._of_all = self._fits(tuple(range(self.answers.words.shape[1])))
        return [one.of(chosen) for one in self._of_all]

    def _fits(self, chosen: tuple[int, ...]) -> list[Fitted]:
        fit, found = FITS[self.learner], list[Fitted]()
        for fold, seen in enumerate([self.answers, *self._without], start=-1):
            self.check_limit()
            rows, own = np.flatnonzero(self._fold != fold), seen.of(chosen)
            if self.learner == LOGISTIC:
                found.append(fit_logistic(chosen, own.at(rows), self.truth[rows], check=self.check_limit))
            else:
                found.append(fit(chosen, own.at(rows), self.truth[rows], self._counting))
        return found
