"""Scikit-learn estimator of evolved ensembles; a thin shell around functions."""

import copy
import dataclasses
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist._options import plain_signature
from shortlist.arrays import Labels, Mask
from shortlist.ensembles.committees.chosen import RecordedRows, record_rows
from shortlist.ensembles.committees.evidence import cost_evidence, evidence_of_rule
from shortlist.ensembles.estimators.base import EnsembleClassifier
from shortlist.ensembles.estimators.rows import rows_with_values
from shortlist.ensembles.evolution.evolution import Evolved, evolve
from shortlist.ensembles.evolution.settings import EvolutionSettings
from shortlist.ensembles.evolution.spaces import open_space
from shortlist.ensembles.evolution.training_rows import errors_of
from shortlist.ensembles.pools.encoder import fit_table
from shortlist.ensembles.votes.hard_votes import vote_shares
from shortlist.guarantees.cells import empty_rows, label_text, labels_of, warn_of_unknown_words
from shortlist.pickles import saved_from
from shortlist.results.error_costs import costs_as_text, costs_by_class
from shortlist.runs import NO_STUDY, Cancellation, Report, Study, silent
from shortlist.runs.budget import Budget
from shortlist.tables.fingerprints import RowsOfTable
from shortlist.tables.fit_inputs import checked_rows, take_rows


def costs_of(error_costs: Any, classes: Labels) -> tuple[int, ...] | None:
    """Return the cost of a wrong answer about each class, ``(n_classes,)``; None where errors are counted.

    `error_costs`: mapping as in the parameter `error_costs` of the estimator.
    """
    if error_costs is None:
        return None
    labels = [label_text(label) for label in classes.tolist()]
    return costs_by_class(costs_as_text(error_costs, label_text), labels)


@saved_from("shortlist")
@plain_signature
@dataclass(kw_only=True, eq=False, repr=False)
class EvolutionaryEnsembleClassifier(EnsembleClassifier, EvolutionSettings):
    """An ensemble of evolved classifiers (Off-EEL and On-EEL of :cite:t:`Gagne2007`).

    Columns may have text and missing values: they are encoded and standardised by
    :func:`shortlist.ensembles.pools.encoder.fit_table`. Every member has one vote; ties go to the lowest
    class.

    Parameters
    ----------
    mode : {"offline", "online", "single"}, default="offline"
        Off-EEL, On-EEL, or a plain genetic algorithm, whose fittest classifier answers alone.
    space : str or callable, default="linear"
        A name in :data:`shortlist.ensembles.evolution.spaces.SPACES`, or a function from the number of
        columns and the number of classes to a :class:`shortlist.ensembles.evolution.spaces.SearchSpace`; a
        class will do.
    population_size, n_generations : int, default=500 and 200
        Number of individuals in a generation, and number of generations, the first included.
    gamma : float, default=1.0
        Exponent of the rows' hardness.
    smoothing, tournament, crossover_rate, survivors, n_elites, patience, criterion, max_members
        See :class:`shortlist.ensembles.evolution.settings.EvolutionSettings`.
    error_costs : mapping to whole numbers, or None, default=None
        Cost of a wrong answer by class, or by pair of answer and class; 1 for a class that is not named. The
        cost is the weight of a row in the fitness of individuals and in the choice of the ensemble, so the
        cost of errors is minimised and not their number. All pairs with the same class must have the same
        cost.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    result_ : Evolved
        Members, last population and history.
    members_ : ndarray
        Genomes of the members, in the order in which they joined.
    space_ : SearchSpace
        Search space whose ``predict`` gives the answers of the members.
    encoder_ : TableEncoder
        The encoder of the rows.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    training_ : RecordedRows
        Fingerprint of the training rows and their classes, for ``shortlist verify``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> evolved = EvolutionaryEnsembleClassifier(population_size=50, n_generations=20, random_state=0)
    >>> evolved = evolved.fit(X, y)
    >>> evolved.score(X, y) > 0.9
    True
    """

    is_alone_ = False
    """Whether the best individual of the last generation answers alone, in place of the ensemble."""

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work."""
        super().check_options(y)
        self.check()
        costs_of(self.error_costs, np.unique(y))

    @property
    def error_costs_(self) -> tuple[int, ...] | None:
        """Cost of a wrong answer about each class; None where errors are counted."""
        return costs_of(self.error_costs, self.classes_)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        callback: Any = None,
        report: Report = silent,
        cancellation: Cancellation | None = None,
        study: Study = NO_STUDY,
        within: RowsOfTable | None = None,
        **unsupported: Any,
    ) -> Self:
        """Evolve on these rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows; missing values and text columns are encoded.
        y : array-like of shape (n_samples,)
            Classes of the rows: two or more, of any type.
        callback : callable, optional
            Receives a :class:`shortlist.ensembles.evolution.evolution.Generation` after each generation.
        report, cancellation : optional
            Progress events, and a way to stop with the ensemble of the generations so far.
        study : Study, optional
            Keeps the state after a generation, from which the same fit continues; `random_state` must then be
            a number.
        within : RowsOfTable, optional
            Table that the rows are a part of, for the record; by default the rows are the whole table.
        **unsupported
            Refused, since weights of rows (``sample_weight``) are not supported.

        Returns
        -------
        self

        Raises
        ------
        BadInputError
            If the input or a parameter cannot be used; the message says how to fix it.
        """
        X, y, seed = self._begin_fit(X, y, unsupported)
        codes = np.searchsorted(self.classes_, y)
        kept = rows_with_values(empty_rows(X), y)
        self.encoder_ = fit_table(take_rows(X, kept))
        encoded = self.encoder_.transform(X)
        self.space_ = open_space(self.space, encoded.shape[1], len(self.classes_))
        self.result_: Evolved = evolve(
            self.space_,
            encoded[kept],
            codes[kept],
            self.with_costs(self.error_costs_),
            n_classes=len(self.classes_),
            rng=np.random.default_rng(seed),
            callback=callback,
            budget=Budget(report=report, cancellation=cancellation or Cancellation()),
            study=study,
        )
        self.members_, self.is_alone_ = self.result_.members, False
        self.training_: RecordedRows = record_rows(X, y, kept, codes[kept], within=within)
        return self

    @property
    def asked_(self) -> NDArray[np.intp]:
        """Indices of the members that an answer asks: all members."""
        check_is_fitted(self, "members_")
        return np.arange(len(self.members_))

    @property
    def most_asked(self) -> int:
        """Upper bound on the members asked per row; with ``online`` the individuals of all generations."""
        self.check()
        if self.mode == "single":
            return 1
        bred = self.population_size * (self.n_generations if self.mode == "online" else 1)
        return bred if self.max_members is None else min(bred, self.max_members)

    def predict(self, X: Any) -> Labels:
        """Return the most probable class of every row, the first of equals, ``(n_samples,)``.

        A row without a single value gets ``reject_label_``. A word that no fitted row had counts as missing,
        with a warning.
        """
        codes = self.predict_proba(X).argmax(axis=1)
        unknown = self.unknown_words(checked_rows(self, X))
        warn_of_unknown_words(X, unknown)
        cannot = empty_rows(X, unknown)
        return labels_of(np.where(cannot, -1, codes), self.classes_, self.reject_label_)

    def unknown_words(self, rows: Any) -> Mask:
        """Return the mask of cells with a word that is new to the encoder, ``(n_rows, n_features)``."""
        return self.encoder_.unknown_words(rows)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of members that vote for each class, ``(n_samples, n_classes)``."""
        check_is_fitted(self, "members_")
        encoded = self.encoder_.transform(checked_rows(self, X))
        shares = np.empty((len(encoded), len(self.classes_)))
        for start in range(0, len(encoded), 1024):  # by blocks: an ensemble may have thousands of members
            codes = self.space_.predict(self.members_, encoded[start : start + 1024])
            shares[start : start + 1024] = vote_shares(codes, len(self.classes_))
        return shares


def best_alone(
    classifier: EvolutionaryEnsembleClassifier, X: Any, y: Labels
) -> EvolutionaryEnsembleClassifier:
    """Return a copy in which one individual answers: the one of the last generation with the least error.

    Of individuals with equal errors the first is taken. Rows without a single value are left out.

    `classifier`: fitted on these rows. `X`, ``(n_samples, n_features)``: the rows. `y`, ``(n_samples,)``:
    their classes.
    """
    kept = np.flatnonzero(~empty_rows(X))
    encoded, truth = classifier.encoder_.transform(take_rows(X, kept)), np.asarray(y)[kept]
    codes = classifier.space_.predict(classifier.result_.population, encoded)
    labels, by_class = np.searchsorted(classifier.classes_, truth), classifier.error_costs_
    errors = errors_of(codes, labels, None if by_class is None else np.array(by_class)[labels])
    place = int(errors.argmin())
    members = classifier.result_.population[[place]]
    alone = copy.copy(classifier)
    alone.is_alone_, alone.members_ = True, members
    alone.result_ = dataclasses.replace(
        classifier.result_,
        members=members,
        error=float(errors[place]),
    )
    return alone


def evolution_facts(classifier: EvolutionaryEnsembleClassifier) -> dict[str, Any]:
    """Return the facts about an evolved ensemble that need no test rows, as a dict."""
    result, costs = classifier.result_, classifier.error_costs_
    value = 1 - result.error if costs is None else result.error
    on_rows = "rows that it was evolved on"
    known = evidence_of_rule(value, on_rows) if costs is None else cost_evidence(value, on_rows)
    return {
        "method": classifier.mode,
        "status": "feasible",
        "objective": "accuracy" if costs is None else "error_cost",
        "value": value,
        "bound": None,
        "gap": None,
        "certified_bound": None,
        "proof": known.as_dict(),
        "limit": result.stopped,
        "space": classifier.space,
        "classes": [str(label) for label in classifier.classes_],
        "error_costs": None if costs is None else list(costs),
        "size": len(result.members),
        "generations": len(result.history),
        "max_members": classifier.max_members,
        "history": [
            {
                "generation": generation.number,
                "best_error": generation.best_error,
                "mean_error": generation.mean_error,
                "ensemble_error": generation.ensemble_error,
                "ensemble_size": generation.ensemble_size,
            }
            for generation in result.history
        ],
    }
