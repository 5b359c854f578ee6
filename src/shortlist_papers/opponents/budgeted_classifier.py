"""Base of every opponent: prices, terminal reject, choice of settings on validation rows, costs per row."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from shortlist.arrays import Labels, Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.guarantees.cells import labels_of, reject_label_for
from shortlist.multistage.holdout import aggregate
from shortlist.multistage.predict.prediction import (
    Decisions,
    StagedModel,
    decide_known,
    fitted_stages,
    stage_probabilities,
)
from shortlist.multistage.problem.costs import FeatureCosts, feature_costs
from shortlist.multistage.problem.reject_rules import RejectRule, confident_answers, reject_rule
from shortlist.multistage.question import rows_to_fit_and_validate
from shortlist.multistage.subclassifiers.logistic_fits import LogisticSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import STOPPED, StageRows
from shortlist.pickles import saved_from
from shortlist.policies import UNDECIDED
from shortlist.runs import Cancellation, Progress, Report, silent
from shortlist.tables.fit_inputs import TableClassifier, checked_rows

if TYPE_CHECKING:
    import pandas as pd


class BudgetedModel(Protocol):
    """Fitted classifier that knows the features it reads for each row."""

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities of encoded rows, ``(n_rows, n_classes)``."""

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the mask of the features that each encoded row needs, ``(n_rows, n_features)``."""


@saved_from("shortlist_papers")
@dataclass(frozen=True, eq=False)
class OneSubset:
    """Classifier that reads the same features for every row."""

    subset: Mask
    """Features that every row buys, ``(n_features,)``."""
    model: Any
    """Fitted model that predicts from these features."""

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities, ``(n_rows, n_classes)``."""
        return np.asarray(self.model.probabilities(rows))

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the mask of the features, repeated for each row, ``(n_rows, n_features)``."""
        return np.broadcast_to(self.subset, (len(rows), len(self.subset)))


@saved_from("shortlist_papers")
@dataclass(frozen=True, eq=False)
class FixedStages:
    """Stages in a fixed order; a row pays for the stages that it reaches."""

    staged: StagedModel

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities at the stage that each row reached, ``(n_rows, n_classes)``."""
        return stage_probabilities(self.staged, rows, decide_known(self.staged, rows).stages)

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the mask of the features up to the stage that each row reached, ``(n_rows, n_features)``."""
        known = np.array([stage.subset for stage in self.staged.stages])
        return np.asarray(known[decide_known(self.staged, rows).stages - 1])


def indicator_probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return class probabilities from least-squares estimates of class indicators, ``(n_rows, n_classes)``.

    The mean of a 0/1 indicator is a probability, so its estimate is cut to [0, 1]. The estimates of several
    classes are divided by their sum; if all are 0 or less, all classes get the same probability.

    `scores`, ``(n_rows, n_outputs)``: a single output is the estimate for the second of two classes;
    otherwise there is one output per class.

    >>> indicator_probabilities(np.array([[0.25], [1.5]])).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    >>> indicator_probabilities(np.array([[0.5, 0.5, -1.0], [-1.0, -1.0, -1.0]])).round(2).tolist()
    [[0.5, 0.5, 0.0], [0.33, 0.33, 0.33]]
    """
    if scores.shape[1] == 1:
        second = np.clip(scores[:, 0], 0.0, 1.0)
        return np.column_stack([1.0 - second, second])
    positive = np.clip(scores, 0.0, None)
    sums = positive.sum(axis=1, keepdims=True)
    return np.asarray(np.where(sums > 0, positive / np.where(sums > 0, sums, 1.0), 1.0 / scores.shape[1]))


RULES_OF_TUNING = {"sum": "aggregate", "accuracy": "right"}
"""Rules that choose settings, with the column of ``tuning_`` that each maximises.

The column is the sum of coverage, conclusive accuracy and 1 - cost / price of all features, or the share of
validation rows whose most probable class is right.
"""

Candidates: TypeAlias = Iterator[tuple[dict[str, Any], BudgetedModel]]
"""Pairs of settings and the model fitted with them."""


@dataclass(frozen=True, eq=False)
class AskedOpponent:
    """Task of an opponent: rows that fit and validate, prices, the reject rule, and a seed."""

    rows: StageRows
    costs: FeatureCosts
    rule: RejectRule
    seed: int


def _answers_every_row(estimator: "BudgetedClassifier") -> bool:
    """Return True if every row gets an answer, else raise AttributeError.

    ``predict_proba`` exists only if every row gets an answer.
    """
    if not estimator.answer_rejected and estimator.REJECTS:
        raise AttributeError(
            "predict_proba needs `answer_rejected=True`, since the answer about a rejected row is no class. "
            "probabilities has them either way."
        )
    return True


@dataclass(eq=False, repr=False, kw_only=True)
class BudgetedClassifier(TableClassifier):
    """Classifier that pays for the features it reads, and rejects rows that it is not confident about.

    Every opponent is fitted for each of its settings, and keeps the setting with the largest
    :func:`aggregate` on the validation rows, the first of equal settings. A row is rejected if its largest
    class probability is below the confidence threshold after all purchases: the terminal reject of Section
    4.3 of :cite:t:`Hamilton2022`.

    Opponents are dataclasses: the constructor of each names these parameters and its own, from which
    scikit-learn reads the parameters.

    `feature_costs`: price per feature, at least 0, in any unit; None: 1 each. `confidence`: p̂, in (0, 1].
    `validation_share`: share of the rows that choose settings, unless :meth:`fit` gets validation rows.
    `reject_label`: answer for rejected rows; None: -1 for numeric classes, ``"REJECT"`` otherwise.
    `answer_rejected`: whether rejected rows get their most probable class; then :meth:`predict_proba` exists.
    `classes_`: classes, sorted, ``(n_classes,)``. `costs_`: prices, in whole units. `settings_`: the chosen
    settings. `tuning_`: every setting, with ``coverage``, ``accuracy``, ``cost``, ``aggregate`` and ``right``
    (see :data:`RULES_OF_TUNING`) on the validation rows. `by_rule_`: settings and model chosen by each rule;
    :meth:`tuned_by` takes the choice of another rule. `model_`: model that predicts from encoded rows.
    `reject_label_`: answer for rejected rows.
    """

    REJECTS: ClassVar[bool] = True
    """Whether the method rejects rows."""

    feature_costs: Mapping[str, float] | Sequence[float] | FeatureCosts | None = None
    confidence: float | Mapping[Any, float] = 0.75
    validation_share: float = 1 / 3
    reject_label: Any = None
    answer_rejected: bool = False
    random_state: Any = None

    @abstractmethod
    def _candidates(self, asked: AskedOpponent) -> Candidates:
        """Yield settings with the model fitted with them, cheaper models first."""

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        costs: Mapping[str, float] | Sequence[float] | FeatureCosts | None = None,
        validation: tuple[Any, Any] | None = None,
        report: Report = silent,
        cancellation: Cancellation | None = None,
        **unsupported: Any,
    ) -> Self:
        """Fit every setting, and keep the best one on the validation rows.

        Raises BadInputError if the input or a parameter cannot be used; the message says how to fix it.
        Raises FitsStoppedError if the fit was stopped before the first setting was fitted.

        `X`: rows, ``(n_samples, n_features)``; missing values and text columns are encoded, tied to their
        feature. `y`: classes of the rows, two or more, ``(n_samples,)``. `costs`: prices, which replace
        `feature_costs`. `validation`: rows that choose settings; otherwise `validation_share` of the rows,
        stratified. `unsupported`: always refused, such as weights of rows (``sample_weight``).
        """
        X, y, seed = self._begin_fit(X, y, unsupported)
        names = [str(name) for name in getattr(self, "feature_names_in_", range(self.n_features_in_))]
        self.costs_ = feature_costs(self.feature_costs if costs is None else costs, names)
        self.reject_label_ = reject_label_for(self.reject_label, self.classes_)
        self._rule = self._reject_rule()
        rows = rows_to_fit_and_validate(
            self, X, y, names, validation=validation, share=self.validation_share, seed=seed
        )
        self._encoding = rows.encoding
        self.tuning_: list[dict[str, Any]] = []
        self.by_rule_: dict[str, tuple[dict[str, Any], BudgetedModel]] = {}
        best = dict.fromkeys(RULES_OF_TUNING, -np.inf)
        report(Progress("fitting", 0, 0))
        for settings, model in self._candidates(AskedOpponent(rows, self.costs_, self._rule, seed)):
            measured = self._validated(model, rows)
            self.tuning_.append(settings | measured)
            for rule, column in RULES_OF_TUNING.items():
                if measured[column] > best[rule]:
                    best[rule], self.by_rule_[rule] = measured[column], (settings, model)
            report(Progress("fitting", len(self.tuning_), 0))
            if cancellation is not None and cancellation.cancelled:
                break
        if not self.tuning_:
            raise FitsStoppedError(STOPPED)
        self.settings_, self.model_ = self.by_rule_["sum"]
        return self

    def tuned_by(self, rule: str) -> Self:
        """Return the same fit with the settings chosen by another rule of :data:`RULES_OF_TUNING`."""
        check_is_fitted(self, "by_rule_")
        other = copy(self)
        other.settings_, other.model_ = self.by_rule_[rule]
        return other

    def _reject_rule(self) -> RejectRule:
        """Return the reject rule; a method without a reject is always confident."""
        rule = reject_rule(self.confidence, self.classes_)
        return rule if self.REJECTS else RejectRule((0.0,) * len(self.classes_))

    def _validated(self, model: BudgetedModel, rows: StageRows) -> dict[str, float]:
        labels, confident = confident_answers(model.probabilities(rows.validation_rows), self._rule)
        right = confident & (labels == rows.validation_labels)
        coverage = float(confident.mean())
        accuracy = float(right.sum() / max(1, confident.sum()))
        paid = float(self.costs_.price(model.bought(rows.validation_rows)).mean())
        share = paid / self.costs_.total if self.costs_.total else 0.0
        return {
            "coverage": coverage,
            "accuracy": accuracy,
            "cost": paid / self.costs_.scale,
            "aggregate": aggregate(coverage, accuracy, share),
            "right": float((labels == rows.validation_labels).mean()),
        }

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``; for a rejected row ``reject_label_``."""
        return labels_of(self.decisions(X).guesses, self.classes_, self.reject_label_)

    @available_if(_answers_every_row)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return :meth:`probabilities`; the method exists only if every row gets a class."""
        return self.probabilities(X)

    def probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of every row, ``(n_samples, n_classes)``."""
        rows = self._encoded(X)
        return self.model_.probabilities(rows)

    def predict_cost(self, X: Any) -> NDArray[np.float64]:
        """Return the price of every row, ``(n_samples,)``, in the unit of the prices."""
        return np.asarray(self.costs_.price(self.features_bought(X)) / self.costs_.scale)

    def features_bought(self, X: Any) -> Mask:
        """Return the mask of the features that every row buys, ``(n_samples, n_features)``."""
        rows = self._encoded(X)
        return self.model_.bought(rows)

    def decisions(self, X: Any) -> Decisions:
        """Return the decision about every row, and its price."""
        rows = self._encoded(X)
        found, confident = confident_answers(self.model_.probabilities(rows), self._rule)
        labels = np.where(confident, found, UNDECIDED)
        costs = self.costs_.price(self.model_.bought(rows)) / self.costs_.scale
        n = len(rows)
        return Decisions(
            labels,
            np.ones(n, dtype=np.int64),
            np.asarray(costs, dtype=np.float64),
            (0.0, self.costs_.total / self.costs_.scale),
            np.ones(n, dtype=bool),
            found if self.answer_rejected else labels,
        )

    def decision_report(self, X: Any) -> "pd.DataFrame":
        """Return label, rejected, confidence, features bought and cost of every row."""
        import pandas as pd

        rows = self._encoded(X)
        decisions = self.decisions(X)
        sets, place = np.unique(self.model_.bought(rows), axis=0, return_inverse=True)
        names = self.costs_.names
        bought = np.array(
            [", ".join(names[feature] for feature in np.flatnonzero(one)) for one in sets], dtype=object
        )
        return pd.DataFrame(
            {
                "label": labels_of(decisions.guesses, self.classes_, self.reject_label_),
                "rejected": decisions.labels == UNDECIDED,
                "confidence": self.model_.probabilities(rows).max(axis=1),
                "features": bought[place.ravel()],
                "cost": decisions.costs,
            },
            index=getattr(X, "index", None) if hasattr(X, "iloc") else None,
        )

    def _encoded(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "model_")
        X = checked_rows(self, X)
        return self._encoding.encode(range(self.n_features_in_), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # a rejected row counts as wrong in `score`, and cheap features are preferred on purpose
        tags.classifier_tags.poor_score = True
        return tags


def tried(values: Any, argument: str, check: Any) -> tuple[Any, ...]:
    """Return one value or several as a tuple of checked values; several values are candidates of tuning.

    Raises BadInputError if there is no value, or `check` refuses one.

    >>> from shortlist._validation import as_not_negative
    >>> tried(0.5, "trade_off", as_not_negative), tried([1, 2], "trade_off", as_not_negative)
    ((0.5,), (1.0, 2.0))
    """
    several = list(values) if isinstance(values, Sequence | np.ndarray) else [values]
    if not several:
        raise BadInputError(argument, "must be a number, or several to choose from", "none")
    return tuple(check(value, argument) for value in several)


def price_stages(costs: FeatureCosts) -> Mask:
    """Return the known features after each stage, ``(n_stages, n_features)``: one stage per price, ascending.

    The price of a feature is the price of buying the feature alone.

    >>> from shortlist.multistage.problem.costs import feature_costs
    >>> price_stages(feature_costs([5, 1, 5, 2], "abcd")).astype(int).tolist()
    [[0, 1, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1]]
    """
    alone = costs.price(np.eye(len(costs.names), dtype=bool))
    return np.asarray(alone <= np.unique(alone)[:, None])


@saved_from("shortlist_papers")
class CostOrderedStages(BudgetedClassifier):
    """CO-T: a stage per distinct price, in increasing price, with a terminal reject.

    The cost-ordered heuristic of Section 4.3 of :cite:t:`Hamilton2022`: ℓ2 logistic regression at each stage,
    and a row stops at the first confident stage. The method has no settings, so the validation rows only
    measure it.

    `feature_costs`, `confidence`, `validation_share`, `reject_label`, `answer_rejected`, `random_state`: as
    in every opponent, see :class:`BudgetedClassifier`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ordered = CostOrderedStages(feature_costs=[1, 1, 5, 5], random_state=0).fit(X, y)
    >>> sorted(set(ordered.predict_cost(X).tolist()))
    [2.0, 12.0]
    """

    def _candidates(self, asked: AskedOpponent) -> Candidates:
        rows, costs = asked.rows, asked.costs
        fitted = LogisticSubclassifiers(rows)
        stages = fitted_stages(price_stages(costs), lambda subset: (fitted.model(subset), 0.0), costs)
        yield {}, FixedStages(StagedModel(rows.encoding, stages, asked.rule, costs))


@saved_from("shortlist_papers")
class SingleStage(BudgetedClassifier):
    """Logistic regression that buys every feature and answers every row.

    The traditional classifier of Section 4.3 of :cite:t:`Hamilton2022`, without a reject: `confidence` is
    checked and not used.

    `feature_costs`, `confidence`, `validation_share`, `reject_label`, `answer_rejected`, `random_state`: as
    in every opponent, see :class:`BudgetedClassifier`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> single = SingleStage(feature_costs=[1, 1, 5, 5], random_state=0).fit(X, y)
    >>> set(single.predict_cost(X).tolist())
    {12.0}
    """

    REJECTS: ClassVar[bool] = False

    def _candidates(self, asked: AskedOpponent) -> Candidates:
        rows = asked.rows
        everything = np.ones(rows.n_features, dtype=bool)
        yield {}, OneSubset(everything, LogisticSubclassifiers(rows).model(everything))
