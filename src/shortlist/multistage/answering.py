"""Answers of a fitted multi-stage classifier, for many rows at once or for one row step by step.

For one row in service no object lives between a question and its result. The known values are a mapping of
features to values, and the failed features a list of names. Both are JSON, and may lie in a file or a
database for days.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from shortlist._validation import as_count
from shortlist._words import all_of, did_you_mean
from shortlist.arrays import Labels, Mask
from shortlist.errors import AcquisitionError, BadInputError, UnmetChoiceError
from shortlist.guarantees.cells import (
    FAILED,
    NOT_ASKED,
    UNASKED,
    UNKNOWN,
    labels_of,
    warn_of_unknown_words,
    without_unasked,
    words_in,
)
from shortlist.guarantees.guarantee import Guarantee, guarantees_of
from shortlist.multistage.predict.point_choice import low_coverage
from shortlist.multistage.predict.prediction import (
    Acquire,
    Decisions,
    OnDemand,
    StagedModel,
    decide_known,
    decide_on_demand,
    fitted_stages,
    stage_amounts,
    stage_probabilities,
)
from shortlist.multistage.predict.stage_answers import Figures, answers_of_model, measured_points
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.problem.error_prices import ErrorPrices
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.question import encoded_rows
from shortlist.multistage.subclassifiers.encoding import Encoding
from shortlist.pickles import saved_from
from shortlist.policies import UNDECIDED
from shortlist.tables.fit_inputs import TableClassifier, checked_rows

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.results.front import Front


def _answers_every_row(estimator: "StagedAnswers") -> bool:
    """Return true, or raise AttributeError where ``predict_proba`` does not exist.

    ``predict_proba`` needs `answer_rejected`: a rejected row's answer is no class, so it cannot be the most
    probable class.
    """
    if not estimator.answer_rejected:
        raise AttributeError(
            "predict_proba needs `answer_rejected=True`, since the answer about a rejected row is no class. "
            "stage_probabilities has the probabilities either way."
        )
    return True


class StagedAnswers(TableClassifier):
    """Front of stage assignments with the models behind each point; the chosen point answers rows."""

    answer_rejected: bool
    front_: "Front"
    costs_: FeatureCosts
    coverage_: NDArray[np.float64]
    reject_label_: Any
    guarantee_: Guarantee | None = None
    notes_: tuple[str, ...]
    _encoding: Encoding
    _rule: RejectRule
    _models: dict[bytes, Any]
    errors_: ErrorPrices | None = None
    _early: float = 0.0
    """Least probability of an answer before the last stage, in addition to the reject rule."""

    def use(self, point: int) -> Self:
        """Predict with another point of ``front_`` from now on; nothing is fitted again.

        A promise holds for all points together, whichever point is chosen. If a promise was requested, a
        point that does not keep it answers no row.
        """
        check_is_fitted(self, "front_")
        self.point_ = as_count(point, "point", at_least=0, at_most=len(self.front_) - 1)
        self.assignment_ = self.front_.decisions[self.point_].astype(np.int8)
        subsets = acquired(self.assignment_[None, :], int(self.assignment_.max()) + 1)[0]
        guarantees = guarantees_of(self.front_)
        self.guarantee_ = guarantees[self.point_] if guarantees else None
        promised = 0.0 if self.guarantee_ is None else self.guarantee_.threshold

        def fit(subset: Mask) -> tuple[Any, float]:
            return self._models[subset.tobytes()], promised

        stages = fitted_stages(subsets, fit, self.costs_)
        early = [replace(stage, least=max(stage.least, self._early)) for stage in stages[:-1]]
        stages = (*early, *stages[-1:])
        self.model_ = StagedModel(self._encoding, stages, self._rule, self.costs_)
        is_promised = self.guarantee_ is not None and self.guarantee_.promised
        share = float(self.coverage_[self.point_])
        doubt = "" if self.answer_rejected else low_coverage(share, promised=is_promised)
        if self.guarantee_ is not None and not is_promised:
            doubt = self.guarantee_.sentence()
        self.notes_ = (*getattr(self, "_doubts", ()), *([doubt] if doubt else []))
        return self

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``, or ``reject_label_`` where no stage answers it.

        A feature that was not bought may be missing from a row. There are three forms: a column that is not
        in the frame, a cell with :data:`shortlist.guarantees.cells.NOT_ASKED`, or a gap in a column that had
        no gap when fitting. A word that was in no fitted row counts as such a gap. Any other gap is a value,
        as it was when fitting.

        A row that needs a missing feature gets ``reject_label_`` as well, and :meth:`decision_report` names
        the feature. With `answer_rejected` the row gets a class from the last stage that it reached, if there
        is one. A row with nothing but gaps is answered by no stage.
        """
        rows, states = self._known(X)
        return self._labels(decide_known(self.model_, rows, states, guess=self.answer_rejected))

    @available_if(_answers_every_row)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return :meth:`stage_probabilities`.

        The method exists with ``answer_rejected=True`` only, and then agrees with :meth:`predict`. Raises
        BadInputError if a row lacks a feature of the first stage.
        """
        probabilities = self.stage_probabilities(X)
        nothing = np.flatnonzero(np.isnan(probabilities).any(axis=1))
        if len(nothing):
            needed = all_of([self.costs_.names[i] for i in self.model_.stages[0].bought], most=8)
            raise BadInputError(
                f"every row must have the features of the first stage, {needed}, got a gap in row "
                f"{nothing[0]}. Fill it, or use predict, which leaves such a row without an answer."
            )
        return probabilities

    def decisions(self, X: Any) -> Decisions:
        """Return the stage that decides each row, its answer, and the price of the row.

        Rejected rows stay rejected.
        """
        return decide_known(self.model_, *self.model_.encoding.encode_known(X))

    def stage_probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of every row at the stage it reached, ``(n_samples, n_classes)``.

        NaN for rows that lack a feature of the first stage.
        """
        rows, states = self._known(X)
        return stage_probabilities(self.model_, rows, decide_known(self.model_, rows, states).stages)

    def predict_on_demand(self, acquire: Acquire, n_rows: int) -> OnDemand:
        """Predict rows whose features are bought only when a stage needs them.

        Raises AcquisitionError if `acquire` raises, or returns the wrong shape or unusable values. The
        error's ``partial`` holds the rows decided before the error, with the price that each row has paid.

        `acquire`: ``acquire(rows, features)`` gets row numbers and a tuple of features (names, or column
        numbers when fitted without names), and returns their values, ``(len(rows), len(features))``.
        `acquire` is called at most once per stage, with undecided rows and needed features only.
        """
        self._check_chosen()
        names = getattr(self, "feature_names_in_", None)
        features = list(range(self.n_features_in_)) if names is None else list(names)
        decisions, failure, cause = decide_on_demand(
            self.model_, acquire, n_rows, features, guess=self.answer_rejected
        )
        answer = OnDemand(self._labels(decisions), decisions)
        if failure:
            raise AcquisitionError(failure, answer) from cause
        return answer

    def decision_report(self, X: Any) -> "pd.DataFrame":
        """Return label, rejected, stage from 1, confidence, features acquired, cost and needs of every row.

        Attributes of the prices, such as hours, have a column each after the cost: the amount that the row's
        stages took. ``needs`` names the unknown features that the row's next stage needs: the row waits for
        these features, and is neither answered nor rejected. Stage 0: the row waits for features of the first
        stage. ``unknown`` names the words in these features that the classifier does not know; such a row
        waits for a correction.
        """
        import pandas as pd

        rows, states = self._known(X)
        decisions = decide_known(self.model_, rows, states, guess=self.answer_rejected)
        names = self.costs_.names
        bought = np.empty(len(self.model_.stages) + 1, dtype=object)
        bought[0] = ""
        for place, stage in enumerate(self.model_.stages, start=1):
            bought[place] = ", ".join(names[feature] for feature in np.flatnonzero(stage.subset))
        needs, unknown = np.full((2, len(rows)), "", dtype=object)
        for row in np.flatnonzero(~decisions.finished):
            assert states is not None, "a row waits for a feature"
            wanted = self.model_.stages[decisions.stages[row]].bought
            lacking = wanted[self.model_.encoding.lacking(states[[row]], wanted)[0]]
            odd = [feature for feature in lacking if states[row, feature] == UNKNOWN]
            needs[row] = ", ".join(names[feature] for feature in lacking if feature not in odd)
            unknown[row] = words_in(
                [names[one] for one in odd], [_cell(X, row, names[one], one) for one in odd]
            )
        # columns are arrays, in the order of the rows: a series would be laid beside the index of X by its
        # own
        return pd.DataFrame(
            {
                "label": self._labels(decisions),
                "rejected": (decisions.labels == UNDECIDED) & decisions.finished,
                "stage": decisions.stages,
                "confidence": stage_probabilities(self.model_, rows, decisions.stages).max(axis=1),
                "features": bought[decisions.stages],
                "cost": decisions.costs,
                **self._amounts(decisions.stages),
                "needs": needs,
                "unknown": unknown,
            },
            index=getattr(X, "index", None) if hasattr(X, "iloc") else None,
        )

    def _amounts(self, stages: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """Return the amount of every attribute for each row, ``(n_rows,)``.

        `stages`: the last stage that each row bought.
        """
        taken = stage_amounts(self.model_)
        return {name: np.cumsum([0.0, *(amounts[name] for amounts in taken)])[stages] for name in taken[0]}

    def measure_points(self, X: Any, y: Any) -> tuple[Figures, ...]:
        """Return the figures of each point of ``front_`` on the given rows, in the order of the points.

        If a promise was requested, a point that does not keep it has its figures without a promise.

        `y`: classes of the rows, ``(n_samples,)``; an answer about a class that was not fitted on is always
        wrong.
        """
        check_is_fitted(self, "front_")
        given = encoded_rows(self, self._encoding, X, y)
        return measured_points(
            self.front_,
            lambda subset, is_last: answers_of_model(
                self._behind(subset, is_last=is_last), self._rule, self._encoding, given, subset
            ),
            self.costs_,
            given.labels,
            len(self.classes_),
        )

    def _behind(self, subset: Mask, *, is_last: bool) -> tuple[Any, float]:
        return self._models[subset.tobytes()], 0.0 if is_last else self._early

    def _check_chosen(self) -> None:
        check_is_fitted(self, "front_")
        if not hasattr(self, "model_"):
            raise UnmetChoiceError(
                f"no point of the front predicts yet. Take one with use(0) to use({len(self.front_) - 1}), "
                "or with the command shortlist stage use."
            )

    def _known(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.int8] | None]:
        """Return encoded rows, and the state of each feature of each row.

        The states are None where every feature has a value.
        """
        self._check_chosen()
        names = list(getattr(self, "feature_names_in_", []))
        absent: list[int] = []
        if hasattr(X, "columns") and set(X.columns) < set(names):
            absent = [place for place, name in enumerate(names) if name not in X.columns]
            X = X.reindex(columns=names)
        X, unasked = without_unasked(X)
        rows, states = self.model_.encoding.encode_known(checked_rows(self, X))
        if states is not None:
            warn_of_unknown_words(X, states == UNKNOWN)
        if absent or unasked is not None:
            states = np.zeros((len(rows), len(names)), dtype=np.int8) if states is None else states
            states[:, absent] = UNASKED
            if unasked is not None:
                states[unasked] = UNASKED
        return rows, states

    def _labels(self, decisions: Decisions) -> Labels:
        return labels_of(decisions.guesses, self.classes_, self.reject_label_)


def _cell(X: Any, row: Any, name: str, place: Any) -> Any:
    return X[name].iloc[row] if hasattr(X, "columns") else np.asarray(X)[row, place]


ASK, ANSWER, REJECT = "ask", "answer", "reject"


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class NextStep:
    """Next step for one row."""

    what: str
    """``"ask"``: measure `features`. ``"answer"``: `label` is the class. ``"reject"``: even the last stage is
    not confident, and `label` is the reject label.
    """
    features: tuple[str, ...]
    """Unknown features that the next stage needs, to be measured in any order, together or one by one."""
    price: float
    """Price of the next stage in the user's money, beyond the stages before it. Features of the stage that
    are already known count too.
    """
    label: Any
    """Class or reject label; None while a feature is still to be measured."""
    confidence: float | None
    """Largest class probability at the last stage that was reached; None before the first."""
    stage: int
    """Number of the last stage that was reached, from 1; 0 before the first."""
    paid: float
    """Price of all stages up to the last one that was reached, in the user's money."""
    failed: tuple[str, ...]
    """Features that failed and are missing in the answer: the median, or no category, stands for each. The
    confidence on validation rows does not hold for such a row.
    """

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as a dictionary for JSON."""
        label = self.label.item() if isinstance(self.label, np.generic) else self.label
        return asdict(self) | {
            "label": label, "features": list(self.features), "failed": list(self.failed),
        }  # fmt: skip


def without_empty_stages(classifier: StagedAnswers, table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table of a file in which stages without any value in a row count as not bought.

    An empty cell of a file means that a feature was requested and gave no value, where gaps are values. Where
    all features of a stage are empty, nothing shows that they were requested.
    """
    import pandas as pd

    if not hasattr(classifier, "model_"):  # no point was chosen, which whoever asks for answers is told
        return table
    found, names = table.copy(), classifier.costs_.names
    for stage in classifier.model_.stages:
        bought = [names[place] for place in stage.bought if names[place] in table.columns]
        nothing = table[bought].isna().all(axis=1).to_numpy()
        for name in bought if nothing.any() else ():
            cells = table[name].astype(object).to_numpy(copy=True)
            cells[nothing] = NOT_ASKED
            found[name] = pd.Series(cells, index=table.index, dtype=object)
    return found


def next_step(classifier: StagedAnswers, known: Mapping[str, Any], failed: Collection[str] = ()) -> NextStep:
    """Return the next step for a row with some known features.

    Parameters
    ----------
    classifier : MultiStageClassifier
        Fitted, with a point that predicts.
    known : mapping of str to value
        Features that were measured, by name; without names they are called ``x0``, ``x1`` and so on as in the
        costs. None, NaN or an empty text is a gap, as in policy files. A gap is a value where the classifier
        learned from gaps; else the feature counts as not known.
    failed : collection of str
        Features that could not be measured; they are not asked for again.

    Raises
    ------
    BadInputError
        If a name is no feature, a feature is both known and failed, or a value cannot be used, such as an
        unknown word.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from shortlist.multistage import MultiStageClassifier
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> clf = MultiStageClassifier(max_stages=2, confidence=0.9, random_state=0).fit(X, y)
    >>> known = {}
    >>> while (step := next_step(clf, known)).what == "ask":
    ...     known |= {name: X[name][0] for name in step.features}
    >>> step.what, int(step.label), len(known) < 4
    ('answer', 0, True)
    """
    import pandas as pd

    check_is_fitted(classifier, "model_")
    model, names = classifier.model_, classifier.costs_.names
    for name in (*known, *failed):
        if name not in names:
            raise BadInputError(
                f"every feature must be one of the model's, got {name!r}.{did_you_mean(name, names)}"
            )
        if name in known and name in failed:
            raise BadInputError(f"a feature is known or failed, got both of {name!r}. Leave it out of one.")
    given = [known.get(name, np.nan) for name in names]
    values = [np.nan if isinstance(value, str) and not value else value for value in given]
    row = pd.DataFrame([values], columns=list(names), dtype=object)
    model.encoding.refuse_unknown(row, range(len(names)))
    rows, found = model.encoding.encode_known(row)
    states = np.zeros((1, len(names)), dtype=np.int8) if found is None else found
    for place, name in enumerate(names):
        states[0, place] = FAILED if name in failed else states[0, place] if name in known else UNASKED
    decisions = decide_known(model, rows, states, guess=classifier.answer_rejected)
    stage = int(decisions.stages[0])
    prices = [0.0, *(one.price / model.costs.scale for one in model.stages)]
    certain = stage_probabilities(model, rows, decisions.stages).max()
    facts: dict[str, Any] = {
        "confidence": None if np.isnan(certain) else float(certain),
        "stage": stage,
        "paid": prices[stage],
        "failed": tuple(
            names[i] for i in np.flatnonzero(model.stages[stage - 1].subset) if names[i] in failed
        )
        if stage
        else (),
    }
    if not decisions.finished[0]:
        bought = model.stages[stage].bought
        wanted = tuple(names[i] for i in bought[model.encoding.lacking(states, bought)[0]])
        return NextStep(ASK, wanted, prices[stage + 1] - prices[stage], None, **facts)
    label = labels_of(decisions.guesses, classifier.classes_, classifier.reject_label_)[0]
    what = REJECT if decisions.labels[0] == UNDECIDED and not classifier.answer_rejected else ANSWER
    return NextStep(what, (), 0.0, label, **facts)
