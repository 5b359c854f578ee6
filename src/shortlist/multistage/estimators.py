"""Scikit-learn classifier that buys features stage by stage: a thin shell around functions."""

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from shortlist._options import one_of, plain_signature
from shortlist._validation import as_positive, as_positive_seconds
from shortlist.arrays import Labels
from shortlist.errors import BadInputError, LowCoverageWarning, RoughSearchWarning
from shortlist.guarantees.cells import reject_label_for
from shortlist.guarantees.settings import PromiseSettings
from shortlist.multistage.answering import StagedAnswers
from shortlist.multistage.engines import STAGE_METHODS, search_stages
from shortlist.multistage.predict.point_choice import check_choice, choose_point
from shortlist.multistage.predict.stage_answers import models_behind, promised_front
from shortlist.multistage.problem.costs import FeatureCosts, feature_costs
from shortlist.multistage.question import (
    calibration_rows,
    confidence_asked,
    demand_of,
    encoded_rows,
    errors_asked,
    fits_of,
    folded_rows,
    n_subsets,
    numbered_cases,
    objectives_asked,
    question_of,
    refined_front,
    rows_to_fit_and_validate,
    sampled_rows,
    state_problem,
)
from shortlist.multistage.search._evaluation import CONCLUSIVE
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.search.replayed import answered_shares
from shortlist.multistage.search.stage_objectives import DEFAULT_OBJECTIVES
from shortlist.multistage.settings import GoalSettings, SearchSettings
from shortlist.multistage.subclassifiers.subclassifiers import StageRows
from shortlist.pickles import saved_from
from shortlist.results.picking import LimitsAsked
from shortlist.runs import NO_STUDY, Budget, Cancellation, Report, Study, silent
from shortlist.runs.workers import Where, as_where
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import MOST_ROWS_IN_FOLDS, STAGE_SHARE, Cases, cases_of_rows

if TYPE_CHECKING:
    pass

AUTO, OUT_OF_FOLD = "auto", "out-of-fold"
"""Choices of validation rows without a held-out share: ``"out-of-fold"``, where a classifier fitted without
the fold of a row answers it, and ``"auto"``, which decides by the number of rows.
"""


def _as_share(value: Any, argument: str) -> None:
    """Raise BadInputError unless a value is a share between 0 and 1 or names a choice of validation rows."""
    is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1
    if not is_share and not (isinstance(value, str) and value in {AUTO, OUT_OF_FOLD}):
        raise BadInputError(argument, f"must be in (0, 1), {AUTO!r} or {OUT_OF_FOLD!r}", repr(value))


@saved_from("shortlist")
@plain_signature
@dataclass(kw_only=True, eq=False, repr=False)
class MultiStageClassifier(StagedAnswers, GoalSettings, SearchSettings, PromiseSettings):
    """Classifier that acquires features in stages and stops as soon as an answer is confident.

    Section 2 of :cite:t:`Hamilton2022`: every row starts with the first stage's features. Where the largest
    class probability reaches the confidence threshold, that class is the answer and no more features are
    bought. Where even the last stage is not confident, the row is rejected. :meth:`fit` finds the trade-offs
    between coverage, accuracy on the answered rows, and cost, on validation rows, and chooses one of them.

    Parameters
    ----------
    feature_costs : mapping, sequence, FeatureCosts or None, default=None
        Price of each feature; :func:`shortlist.multistage.feature_costs` adds groups with a shared first
        price. None: 1 each.
    confidence : float or mapping from class to float or None, default=None
        Confidence threshold p̂, in (0, 1]; None: 0.75, or 0.99 where errors have costs.
    max_stages : int or None, default=None
        Largest number of stages k; None: 4, or the number of features if less.
    method : {"auto", "emsco", "enumerate", "windows"}, default="auto"
        ``"enumerate"`` gives the complete front. ``"windows"`` is a local search that is exact within windows
        of features (:func:`shortlist.multistage.search.window_search.search_windows`). ``"emsco"`` is
        evolution. ``"auto"`` combines the three according to :data:`shortlist.multistage.engines.PLANS`. Up
        to 18 features are enumerated; a search by windows comes first where the enumeration takes more than
        some seconds. With more than `enumeration_budget` stage assignments, evolution continues from the
        result of windows. With more features, or where the decisions of all subsets do not fit into memory,
        windows are searched. With a `subclassifier` that is fitted for each subset, up to 8 features are
        enumerated; with more features there are smaller and fewer windows. ``front_.extras["why"]`` has the
        method and the reason.
    objectives : sequence of str
        Names in :data:`shortlist.multistage.search.stage_objectives.OBJECTIVES`, or of attributes of
        `feature_costs`.
    pick : str or int, default="one-se"
        Rule for the point of the front that predicts. ``"one-se"`` is the cheapest point with about as many
        right answers as the best point; ``"norm"`` is the paper's fitness. Other values are a rule of
        ``Front.pick``, or the number of a point. See
        :func:`shortlist.multistage.predict.point_choice.choose_point`.
    limits : mapping from objective to number, sequence of Limit, or None, default=None
        Limits on the points to pick from.
    subclassifier : estimator or None, default=None
        A scikit-learn classifier with ``predict_proba``, such as a pruned or an evolved ensemble; None: ℓ2
        logistic regression. Every feature subset gets a clone; missing seeds are derived from `random_state`.
    share_fits : bool, default=False
        Whether one clone of `subclassifier` is used for all feature subsets during the search; it must take
        missing values. After the search a clone is fitted for every subset of the front, and the front is
        measured anew with these clones, so nothing is proved. See
        :class:`shortlist.multistage.subclassifiers.foreign_subclassifiers.SharedSubclassifiers`.
    sample_rows : int or None, default=None
        Largest number of fitting rows, and of validation rows, in the search; they are drawn by class. The
        points found are then fitted and measured on all rows, with notes on changes in ``notes_``; nothing is
        proved. None: all rows.
    C : float, default=1.0
        Inverse penalty of the logistic regression.
    scale : bool, default=True
        Whether coefficients of standardised columns are penalised.
    validation_share : "auto", "out-of-fold" or float, default="auto"
        Rows that validate stage assignments, unless :meth:`fit` gets validation rows. A number is the share
        of rows held out; 1/3 is the paper's 25 of 75. ``"out-of-fold"`` uses all rows: the classifier of
        every feature subset is fitted again without each of five folds, which takes about five times as long.
        A classifier fitted without the fold of a row then answers it, and the classifiers that predict are
        fitted on all rows. ``"auto"`` is out of fold for up to 2,000 rows; with more rows, or where evolution
        follows the printed rules, it is a third.
    reject_label : label or None, default=None
        Answer for rejected rows; None: -1 for numeric classes (one less than the smallest where -1 is a
        class), ``"REJECT"`` otherwise.
    answer_rejected : bool, default=False
        Whether a rejected row is answered with its most probable class at the last stage, in place of
        `reject_label`. Then :meth:`predict_proba` exists; :meth:`decision_report` still marks the rejected
        rows.
    penalties : mapping from class to number in [0, 1] or None, default=None
        Amount by which a wrong answer about a row of the class lowers its credit in conclusive accuracy.
    error_costs : mapping from class, or from pair of answer and class, to whole number, or None, default=None
        Cost of a wrong answer about a row of the class; unnamed errors cost 1. The default of `objectives` is
        then ``error_cost`` and ``acquisition_cost``. Probabilities are multiplied by the costs, so that the
        answer has the least expected cost. The last stage answers every row, or hands it over.
    hand_over : float or None, default=None
        Price of a person's decision on a row, in the unit of `error_costs`. The last stage leaves a row to
        the person if an answer would cost more. Two classes only.
    call_cost, call_cost_per_feature : float, default=1.0 and 0.0
        Price of a call of a classifier, and of each feature that it reads, for the objective
        ``"evaluation_cost"``. In an ensemble of Shortlist every member is called once, and its
        ``member_costs`` replace `call_cost`; an ExactPruner takes them only together with ``max_cost``.
    positive : label or None, default=None
        Positive class for false positives; None: the last of two classes.
    removal : bool, default=True
        Whether features may be left out of every stage; otherwise the last stage buys all remaining ones.
    answer_accuracy : float or None, default=None
        Promised share of right answers to new rows. Each point of the front gets a threshold besides
        `confidence`, found on calibration rows, and only points that keep the promise are picked. With None
        nothing is promised, and `confidence` is only a threshold. See
        :func:`shortlist.multistage.predict.stage_answers.promised_front`.
    confidence_level : float, default=0.95
        Least probability that the promises about all points hold together, in (0, 1).
    calibration_share : float, default=0.25
        Share of the rows in the calibration set of a promise, unless :meth:`fit` gets calibration rows; it is
        drawn without regard to classes.
    enumeration_budget : int, default=10_000_000_000
        See `method`.
    emsco_options : EmscoOptions or None, default=None
        Parameters of ``method="emsco"``.
    time_limit_s : float or None, default=None
        Wall-clock limit of the search in seconds, fits included. If an enumeration does not end in its share
        of the time, evolution continues from the result of the search before it.
    n_jobs : int, str or None, default=None
        Number of threads for fits and enumeration, or the address of a Dask scheduler with such workers; None
        is one thread. Fits of a `subclassifier` begin in this process, and use others after some seconds.
    random_state : int, RandomState or None, default=None
        Seed of the split and of the search.

    Attributes
    ----------
    front_ : Front
        The trade-offs on the selection rows; the decision is the stage of each feature. With a promise the
        values include the effect of its thresholds, and ``front_.extras["promised"]`` marks the points that
        keep it.
    point_ : int
        Index of the point of the front that predicts.
    coverage_ : ndarray of float, shape (n_points,)
        Share of the selection rows that each point answers, also if coverage is no objective.
    notes_ : tuple of str
        Sentences about the point that predicts, such as that it answers less than half of the rows.
    guarantee_ : Guarantee or None
        Promise about the point that predicts; None without a promise.
    assignment_ : ndarray of int8, shape (n_features,)
        Stage of each feature, from 0; -1 if removed.
    result_ : StageResult
        The whole result of the method.
    problem_ : StageProblem
        The problem that was searched, with the decision bits of the validation rows.
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted.
    reject_label_ : label
        Answer for rejected rows.
    costs_ : FeatureCosts
        Prices of the features.
    errors_ : ErrorPrices or None
        Costs of errors; None if errors are only counted.
    objectives_ : tuple of str
        Names of the objectives.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = MultiStageClassifier(feature_costs=[1, 1, 5, 5], confidence=0.8, random_state=0).fit(X, y)
    >>> str(clf.front_.proof.kind)
    'complete'
    >>> bool((clf.decision_report(X)["cost"] <= 12).all())
    True
    """

    feature_costs: Mapping[str, float] | Sequence[float] | FeatureCosts | None = None
    confidence: float | Mapping[Any, float] | None = None
    method: Annotated[str, one_of(*STAGE_METHODS)] = "auto"
    objectives: Sequence[str] = DEFAULT_OBJECTIVES
    limits: LimitsAsked = None
    subclassifier: Any = None
    C: Annotated[float, as_positive] = 1.0
    scale: bool = True
    validation_share: Annotated[float | str, _as_share] = AUTO
    answer_rejected: bool = False
    penalties: Mapping[Any, float] | None = None
    error_costs: Mapping[Any, int] | None = None
    hand_over: float | None = None
    emsco_options: EmscoOptions | None = None
    n_jobs: Annotated[Where, as_where] = None

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        validation: tuple[Any, Any] | None = None,
        calibration: tuple[Any, Any] | None = None,
        cases: Any = None,
        report: Report = silent,
        cancellation: Cancellation | None = None,
        study: Study = NO_STUDY,
        **unsupported: Any,
    ) -> Self:
        """Fit the classifiers of the stages, search stage assignments, and choose one.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows; missing values and text columns are encoded, tied to their feature.
        y : array-like of shape (n_samples,)
            Classes of the rows, two or more.
        validation : tuple of X and y, optional
            Validation rows; by default `validation_share` chooses validation rows from `X`.
        calibration : tuple of X and y, optional
            With `answer_accuracy`, the calibration set; otherwise it is drawn as `calibration_share` of the
            rows.
        cases : array-like of shape (n_samples,), optional
            The case of each row: a number or a name. All rows of a case are in one fold, or in one part.
        report, cancellation : optional
            Progress events, and cancellation, which stops with the front found so far.
        study : Study, optional
            Keeps the state of the search, from which the same fit continues; the time limit then starts
            again.
        **unsupported
            Refused, since weights of rows (``sample_weight``) are not supported.

        Raises
        ------
        BadInputError
            If the input or a parameter cannot be used, or the study belongs to another question; the message
            says how to fix it.
        UnmetChoiceError
            If no point of the front meets `pick` and `limits`, or no point keeps the promise. The attribute
            ``front_`` exists then, and :meth:`use` takes another point.

        Warns
        -----
        LowCoverageWarning
            If the point answers less than half of the selection rows, and rejected rows get no class.
        RoughSearchWarning
            If the search saw only some of the rows, or if time was too short to enumerate.
        """
        for chosen in ("point_", "assignment_", "model_", "guarantee_"):  # those of an earlier fit
            if chosen in vars(self):
                delattr(self, chosen)
        X, y, seed = self._begin_fit(X, y, unsupported)
        names = [str(name) for name in getattr(self, "feature_names_in_", range(self.n_features_in_))]
        cases = numbered_cases(cases, len(y))
        demand = demand_of(self, calibration)
        if demand is not None and calibration is None:
            rest, held = calibration_rows(y, self.calibration_share, seed, cases)
            calibration = (take_rows(X, held), y[held])
            X, y, cases = take_rows(X, rest), y[rest], cases_of_rows(cases, rest)
        rows = self._rows(X, y, names, validation=validation, cases=cases, seed=seed)
        self.errors_ = errors_asked(self, len(rows.validation_labels))
        self.objectives_ = objectives_asked(self)
        if self.errors_ is not None:
            rows = dataclasses.replace(rows, class_weights=self.errors_.weights)
        self.costs_ = feature_costs(self.feature_costs, names)
        limit = as_positive_seconds(self.time_limit_s, "time_limit_s")
        stop = cancellation or Cancellation()
        budget = Budget(limit, seed=seed, report=report, cancellation=stop, study=study)
        self.problem_ = state_problem(self, sampled_rows(rows, self.sample_rows, seed), budget)
        self.reject_label_ = reject_label_for(self.reject_label, self.classes_)
        check_choice(self.problem_, self.pick, self.limits)
        if study.keeps:
            study.bind(question_of(self, rows, seed))
        self._search(budget, rows)
        if demand is not None and calibration is not None:
            tested = encoded_rows(self, rows.encoding, *calibration)
            self.front_, coverage = promised_front(self.front_, self.problem_, self._models, tested, demand)
            self.keep_models()
            self.coverage_ = coverage
        self.use(choose_point(self.front_, self.pick, self.limits))
        for note in self.notes_:
            kind = RoughSearchWarning if note in self._doubts else LowCoverageWarning
            warnings.warn(note, kind, stacklevel=2)
        return self

    def validates_out_of_fold(self, n_rows: int) -> bool:
        """Return whether all `n_rows` fitted rows also validate, by out-of-fold answers."""
        if self.validation_share != AUTO:
            return self.validation_share == OUT_OF_FOLD
        as_printed = self.emsco_options is not None and self.emsco_options.rules == "paper"
        return n_rows <= MOST_ROWS_IN_FOLDS and not as_printed

    def _rows(
        self, X: Any, y: Labels, names: list[str], *, validation: Any, cases: Cases | None, seed: int
    ) -> StageRows:
        if validation is None and self.validates_out_of_fold(len(y)):
            return folded_rows(self, X, y, names, cases=cases, seed=seed)
        share: Any = STAGE_SHARE if self.validation_share == AUTO else self.validation_share
        return rows_to_fit_and_validate(
            self, X, y, names, validation=validation, share=share, seed=seed, cases=cases
        )

    def _search(self, budget: Budget, rows: StageRows) -> None:
        problem = self.problem_
        subclassifiers = problem.decisions.subclassifiers
        searched = subclassifiers.rows
        self.result_, self._doubts = search_stages(
            problem, self.method, emsco_options=self.emsco_options,
            enumeration_budget=self.enumeration_budget, workers=self.n_jobs, budget=budget,
        )  # fmt: skip
        # what was found has to be fitted, whatever the time, and after an interruption too
        subclassifiers.budget = Budget()
        self.front_ = self.result_.front()
        if (self.share_fits or searched is not rows) and len(self.front_):
            whole = Budget(seed=budget.seed, report=budget.report)
            most = n_subsets(self.front_.decisions.astype(np.int8))
            own = fits_of(self, rows, whole, capacity=most, dense=False)
            problem, self.front_, changed = refined_front(problem, own, self.front_)
            own.n_fits += subclassifiers.n_fits
            self.problem_ = problem
            if searched is not rows:
                counts = f"{len(searched.fit_labels):,} of {len(rows.fit_labels):,} rows that fit"
                self._doubts += (
                    f"the search saw {counts}; measured on all rows, its points changed {changed}.",
                )
        if not len(self.front_):
            raise BadInputError("fitting was stopped before a stage assignment was found. Allow more time.")
        self.keep_models()

    def keep_models(self) -> None:
        """Keep the models behind the front after a search, fitted on all rows that fit.

        Where separate rows validate, these models are the ones that made the decision bits, with the same
        coefficients.
        """
        decisions = self.problem_.decisions
        self._encoding, self._rule = decisions.subclassifiers.rows.encoding, decisions.rule
        if decisions.last_rule is not None:  # of stages before the last one the confidence is asked for, too
            self._rule, self._early = decisions.last_rule, float(confidence_asked(self))
        self._models = models_behind(self.problem_, self.front_)
        assignments = self.front_.decisions.astype(np.int8)
        if self.errors_ is None:
            measures = self.problem_.measures(assignments)
            self.coverage_ = measures[:, CONCLUSIVE] / self.problem_.n_rows
        else:
            self.coverage_ = answered_shares(self.problem_, assignments)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # a rejected row counts as wrong in `score`, and cheap features are preferred on purpose
        tags.classifier_tags.poor_score = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the searched problem.

        The problem's bits of all subsets take much memory, and no prediction needs them.
        """
        state: dict[str, Any] = dict(super().__getstate__())
        for heavy in ("problem_", "result_"):
            state.pop(heavy, None)
        return state
