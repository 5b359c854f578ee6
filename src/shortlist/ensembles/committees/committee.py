"""Committee that answers rows: members, their weights and ballot, and a promise."""

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import AUTO
from shortlist.arrays import Floats, Labels, Mask
from shortlist.ensembles.committees.asking import (
    Added,
    AnswerScores,
    Asking,
    AskingOrder,
    EarlyAnswers,
    ask_in_order,
)
from shortlist.ensembles.committees.ballots import Ballot, Plurality
from shortlist.ensembles.pools.answers import class_probabilities
from shortlist.ensembles.pools.judges import columns_asked, hear, who_may_abstain
from shortlist.ensembles.pools.pool import Pool, matched_columns, rows_without_values, unknown_words
from shortlist.ensembles.votes.hard_votes import ClassCodes, smoothed_shares
from shortlist.ensembles.votes.soft_votes import WHOLE, Calibration, Shares, whole_shares
from shortlist.guarantees.cells import (
    ANSWERED,
    UNASKED,
    labels_of,
    reject_label_for,
    states_of,
    warn_of_unknown_words,
)
from shortlist.pickles import saved_from
from shortlist.policies import Places, paid
from shortlist.tables.fit_inputs import take_rows

if TYPE_CHECKING:
    from shortlist.guarantees.guarantee import Guarantee

MEAN, CALIBRATED_MEAN = "mean", "calibrated-mean"
"""Sources of probabilities: the mean of the members' own probabilities; the same times a factor per class."""

SHARES, CALIBRATED_SHARES = "shares", "calibrated-shares"
"""Sources of probabilities: shares of votes, with one vote more for each class; a power of these shares."""

PROBABILITY_SOURCES = (AUTO, MEAN, SHARES)
"""Sources of probabilities that the estimators take; ``auto`` calibrates the scores that the ballot uses."""

MEANS = (MEAN, CALIBRATED_MEAN)
"""Sources that need probabilities of every member."""

NO_ANSWER = -1.0
"""Score of a row without an answer; it is less than any threshold."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class MemberAnswers:
    """Recorded answers of each member on the selection rows; None where not recorded."""

    codes: ClassCodes | None = None
    """Index of the class that each member voted for, ``(n_rows, n_members)``."""
    shares: Shares | None = None
    """Probability of every class by each member, in parts of 2^15 - 1, ``(n_rows, n_members, n_classes)``."""
    silent: Mask | None = None
    """Mask of the members that abstained, given together with `shares`, ``(n_rows, n_members)``; None: none
    abstained.
    """

    def decided(self, ballot: Ballot) -> NDArray[np.int64]:
        """Return the index of the class that all members decide on every row, ``(n_rows,)``.

        -1 where no member answered.
        """
        given: Any = self.shares if ballot.by_mean else self.codes
        decided = ballot.decided(given)
        silent = self.silent if ballot.by_mean else None
        return decided if silent is None else np.where(silent.all(axis=1), -1, decided)


class PreparedRows(NamedTuple):
    """Rows prepared for asking the members."""

    members: Pool
    """Members of the committee; as judges they may abstain from rows that they were not asked about."""
    rows: Any
    """The rows; cells that hold no answer are empty."""
    states: NDArray[np.int8] | None
    """State of each judge's answer, coded as in :mod:`shortlist.guarantees.cells`, ``(n_rows, n_members)``;
    None for classifiers.
    """


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Committee:
    """Committee of members that answer together; every pruner chooses one.

    It is a policy: from the known answers about a row, it decides, or names the member to ask next
    (:meth:`predict_early`).

    Attributes
    ----------
    members : Pool
        The members; a member that counts several times has that number of adjacent copies in the pool.
    weights : ndarray of int64, shape (n_members,)
        Number of times that the answer of each member counts; each member is listed once here.
    ballot : Ballot
        Rule by which the answers decide.
    probabilities : str
        Source of ``predict_proba``, see :mod:`shortlist.ensembles.committees.probabilities`.
    calibration : Calibration or None
        Turns the members' mean, or their shares of votes, into probabilities.
    prices : ndarray of float, shape (n_members,), or None
        The price of asking each member, each listed once.
    record : MemberAnswers
        Answers of each member on the selection rows, without copies.
    promise : Guarantee or None
        Promise about answers: rows below its threshold are not answered.
    reject_label : label or None
        The label of a row without an answer; None means -1, or ``"REJECT"`` if classes are words.
    """

    members: Pool
    weights: NDArray[np.int64]
    ballot: Ballot
    probabilities: str = SHARES
    calibration: Calibration | None = None
    prices: Floats | None = None
    record: MemberAnswers = MemberAnswers()
    promise: "Guarantee | None" = None
    reject_label: Any = None

    @property
    def classes(self) -> Labels:
        """The classes, sorted, ``(n_classes,)``."""
        return self.members.classes

    @property
    def reject_label_(self) -> Any:
        """The label of a row without an answer."""
        return reject_label_for(self.reject_label, self.classes)

    @property
    def places(self) -> NDArray[np.int64]:
        """Index of the first copy of each member in the pool, ``(n_members,)``."""
        return np.asarray(np.cumsum(self.weights) - self.weights)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members, each once."""
        return tuple(self.members.names[place] for place in self.places)

    @property
    def judged_columns(self) -> tuple[str, ...]:
        """Names of the judges' columns, the only ones read of a table; empty for classifiers."""
        return columns_asked(self.members.classifiers)

    @property
    def gives_means(self) -> bool:
        """Whether probabilities come from the members' mean probability, and not from shares of votes."""
        return self.probabilities in MEANS

    @property
    def least(self) -> float | None:
        """The least probability of an answer; None if nothing is promised."""
        return None if self.promise is None else float(self.promise.threshold)

    def with_members(self, members: Pool) -> "Committee":
        """Return the same committee with these members, as fitted on other rows."""
        return replace(self, members=members)

    def heard(self, X: Any) -> PreparedRows:
        """Return rows in the form that members take.

        Judges need their own columns alone; a judge whose column is absent was not asked yet.
        """
        if self.judged_columns:
            rows, states = hear(self.members.classifiers, X)
            return PreparedRows(who_may_abstain(self.members), rows, states)
        return PreparedRows(self.members, X if hasattr(X, "columns") else np.asarray(X), None)

    def _cannot_answer(self, heard: PreparedRows) -> Mask:
        """Return the mask of the rows of features without a single value, ``(n_rows,)``.

        A word that is in no fitted row counts as no value.
        """
        return rows_without_values(self.members, heard.rows)

    def unknown_words(self, rows: Any) -> Mask:
        """Return the mask of the cells with a word that is in no fitted row, ``(n_rows, n_features)``."""
        return unknown_words(self.members, rows)

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``.

        A row gets the reject label for one of these reasons: no member has answered, or too few for a
        threshold; a judge whose answer matters was not asked yet, or gave a word that is no class; the row
        has no value at all; its class is less probable than a promise allows. A word that is in no fitted row
        counts as no value, with a warning.
        """
        self._warn(X)
        return labels_of(self.decided(X), self.classes, self.reject_label_)

    def decided(self, X: Any) -> NDArray[np.int64]:
        """Return the index of the class of every row, ``(n_samples,)``; -1 where there is no answer."""
        heard = self.heard(X)
        cannot = self._cannot_answer(heard)
        found = np.where(cannot, -1, self.ballot.decided(self.ballot.answers_of(heard.members, heard.rows)))
        if self.least is not None:
            found[self.scores_of(found, self._probabilities(X)) < self.least] = -1
        if heard.states is None:
            return found
        found[~(heard.states == ANSWERED).any(axis=1)] = -1
        waiting = np.flatnonzero((heard.states >= UNASKED).any(axis=1))
        if len(waiting):  # a row that is settled does not wait for a missing answer
            found[waiting] = self._asked_in_order(take_rows(X, waiting), self.least)[0]
        return found

    def scores_of(self, codes: NDArray[np.int64], probabilities: Floats) -> Floats:
        """Return the probability of the given class of every row, ``(n_rows,)``.

        A row without a class has the score :data:`NO_ANSWER`.
        """
        return np.where(codes < 0, NO_ANSWER, probabilities[np.arange(len(codes)), codes])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class, ``(n_samples, n_classes)``.

        It is the mean of the members' probabilities, or :func:`smoothed_shares` of their votes, calibrated
        according to `probabilities`. The most probable class may differ from the class that :meth:`predict`
        answers, if probabilities come from votes while means decide, or the other way round.
        """
        self._warn(X)
        return self._probabilities(X)

    def _warn(self, X: Any) -> None:
        if not self.judged_columns:
            rows = self.heard(X).rows
            warn_of_unknown_words(rows, self.unknown_words(rows))

    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        scores = self.scores(X, MEAN if self.gives_means else SHARES)
        return scores if self.calibration is None else self.calibration.of(scores)

    def scores(self, X: Any, source: str) -> NDArray[np.float64]:
        """Return means, or shares of votes, before calibration, ``(n_samples, n_classes)``."""
        heard = self.heard(X)
        if source == MEAN:
            return np.asarray(class_probabilities(heard.members, heard.rows).mean(axis=1))
        codes = self.ballot.codes_of(heard.members, heard.rows)
        return smoothed_shares(self.ballot.vote_shares(codes), self.ballot.n_votes(codes))

    def predict_early(self, X: Any, *, least: float | None = None) -> EarlyAnswers:
        """Return the classes that :meth:`predict` gives, asking one member after the other.

        Asking ends for a row as soon as no missing answer could change its class. The order of asking has the
        least cost on the selection rows, by the prices of the members or their number. For up to 12 members
        it is the best of all orders, beyond that a good one.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_features)
            A member sees only the rows that are not settled when its turn comes.
        least : float, optional
            Answer only rows to whose class :meth:`predict_proba` gives at least this probability; by default
            that of the promise. Asking about a row then ends in one of two cases: its class and the decision
            to answer it are certain, or no missing answer can make its class probable enough. The order of
            asking is the same as without `least`.

        Notes
        -----
        Finding the order takes O(2^n_members · n_rows · n_classes) time for few members, on at
        most 2,000 of the rows. If the last digit of a classifier's numbers depends on how many rows it sees
        at a time, the classifier may round differently than in a full vote.
        """
        self._warn(X)
        codes, calls, waits_for = self._asked_in_order(X, self.least if least is None else least)
        order, names = self.order.members, self.names
        return EarlyAnswers(
            labels_of(codes, self.classes, self.reject_label_),
            calls,
            None if self.prices is None else paid(self.prices[order], calls),
            tuple(names[place] for place in order),
            codes >= 0,
            tuple("" if place < 0 else names[place] for place in waits_for.tolist()),
        )

    @functools.cached_property
    def order(self) -> AskingOrder:
        """Order in which the members are asked, the cheapest on average on the selection rows.

        Without a record of answers, the cheapest members are first.
        """
        from shortlist.ensembles.committees.orders import order_by_record  # its kernels take time to load

        added = self.added_on_record()
        costs = np.ones(len(self.weights)) if self.prices is None else self.prices
        if added is None:
            return AskingOrder(np.argsort(costs, kind="stable"), is_best=False)
        found = order_by_record(self.ballot, added, costs, copies=self.weights)
        return replace(found, is_best=found.is_best and not self._settles_unheard())

    def _settles_unheard(self) -> bool:
        """Whether equal shares of abstaining members might settle a row that no member has answered.

        Orders are compared as if such rows were settled.
        """
        if self.states_on_record() is None:
            return False
        n_silent, n = np.arange(1, int(self.weights.sum())), len(self.classes)
        each = self.ballot.added(whole_shares(np.full((1, n), 1 / n)))
        totals = self.ballot.start + n_silent[:, None] * each
        left = len(n_silent) + 1 - n_silent
        return any(self.ballot.settled(totals[[k]], int(left[k])).any() for k in range(len(left)))

    def asking(self, least: float | None) -> Asking:
        """Return the order and the rule by which the members are asked one after the other.

        `least`: least probability of an answer; None: any.
        """
        scores = None
        if least is not None:
            scores = AnswerScores(len(self.members), self.gives_means, self.ballot, self.calibration)
        return Asking(self.ballot, self.order.members, self.weights, scores, least or 0.0)

    def added_on_record(self) -> NDArray[np.int64] | None:
        """Return the recorded increments by each member on the selection rows; None if not recorded.

        The array has the shape ``(n_rows, n_members, n_classes)``; the copies of a member are added up.
        """
        answers = self.record.shares if self.ballot.by_mean else self.record.codes
        return None if answers is None else self.weights[:, None] * self.ballot.added(answers)

    def states_on_record(self) -> NDArray[np.int8] | None:
        """Return the state of each member's answer on the selection rows, ``(n_rows, n_members)``.

        None if votes decide, since an abstention adds no vote, and None if no member abstained.
        """
        silent = self.record.silent if self.ballot.by_mean or self.gives_means else None
        return None if silent is None else states_of(silent)

    def scored_on_record(self) -> NDArray[Any] | None:
        """Return the scores of each member's answers on the selection rows, without copies.

        None if not recorded.
        """
        if self.gives_means:
            return None if self.record.shares is None else self.record.shares / WHOLE
        return None if self.record.codes is None else _one_hot(self.record.codes, len(self.classes))

    def _asked_in_order(self, X: Any, least: float | None) -> tuple[Any, Any, Any]:
        heard, asking, places = self.heard(X), self.asking(least), self.places
        pool = heard.members
        rows = matched_columns(pool, heard.rows)
        rows = rows if pool.preprocessor is None else pool.preprocessor.transform(rows)
        members = replace(pool, preprocessor=None, n_features_in=None, feature_names_in=None)
        cannot = self._cannot_answer(heard)
        about = np.flatnonzero(~cannot)

        def ask(member: int, among: Places) -> Added:
            one = members.subset([int(places[member])])
            added = self._added(one, take_rows(rows, about[among]), asking.scores)
            return added._replace(decisions=self.weights[member] * added.decisions)

        states = None if heard.states is None else heard.states[np.ix_(about, places)]
        found = ask_in_order(asking, len(about), ask, states)
        codes, waits_for = np.full((2, len(cannot)), -1)
        calls = np.zeros(len(cannot), dtype=np.int64)
        codes[about], calls[about], waits_for[about] = found
        return codes, calls, waits_for

    def _added(self, member: Pool, rows: Any, scores: AnswerScores | None) -> Added:
        by_mean = self.ballot.by_mean
        scored_by_mean = scores is not None and scores.by_mean
        probabilities = codes = None
        if by_mean or scored_by_mean:
            probabilities = class_probabilities(member, rows)[:, 0]
        if not by_mean or (scores is not None and not scored_by_mean):
            codes = self.ballot.codes_of(member, rows)[:, 0]
        answers = whole_shares(probabilities) if by_mean and probabilities is not None else codes
        assert answers is not None, "what is not averaged is voted on"
        if scores is None:
            return Added(self.ballot.added(answers))
        scored = probabilities if codes is None or scored_by_mean else _one_hot(codes, len(self.classes))
        return Added(self.ballot.added(answers), scored)


def _one_hot(codes: ClassCodes, n_classes: int) -> NDArray[np.int64]:
    return Plurality(n_classes).added(codes)
