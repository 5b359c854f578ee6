"""Which classifier answers at every stage, by its name, with sizes that suit many small fits."""

from collections.abc import Callable
from typing import Any, NamedTuple

from shortlist._validation import as_choice, as_count
from shortlist.errors import BadInputError

POOL_PER_MEMBER = 2
"""A pruned ensemble is chosen from a pool of so many classifiers per member."""

STEPS_OF_A_PROOF = 100_000
"""Steps of the proof that chooses members: the answer is the same on every machine."""


class StageKind(NamedTuple):
    """A kind of classifier that every feature subset gets one of.

    Attributes
    ----------
    make : callable
        Takes the size, and returns an unfitted classifier without a seed.
    size : int
        The usual size: members of an ensemble at most, trees of a forest, or rounds of boosting.
    """

    make: Callable[[int], Any]
    size: int


def _pruned(size: int) -> Any:
    from shortlist.ensembles.estimators.exact_pruner import ExactPruner

    return ExactPruner(
        objective="log-loss", max_size=size, n_classifiers=POOL_PER_MEMBER * size, pruning_rows="held-out",
        time_limit_s=None, node_limit=STEPS_OF_A_PROOF,
    )  # fmt: skip


def _evolved(size: int) -> Any:
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier

    return EvolutionaryEnsembleClassifier(population_size=100, n_generations=30, max_members=size)


def _forest(size: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=size)


def _boosting(size: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=size)


STAGE_KINDS = {
    "logistic": None,
    "pruned": StageKind(_pruned, 5),
    "evolved": StageKind(_evolved, 25),
    "forest": StageKind(_forest, 50),
    "boosting": StageKind(_boosting, 50),
}
"""What may answer at stages: logistic regression, which stages fit themselves and which has no size; an
ensemble whose members are chosen with proof, for the log loss of their mean; one that is evolved; a random
forest; histogram gradient boosting.
"""


def stage_classifier(kind: str, ensemble_size: int | None = None) -> Any:
    """Return a classifier for every stage, as ``MultiStageClassifier(subclassifier=...)`` takes it.

    Parameters
    ----------
    kind : str
        A name in :data:`STAGE_KINDS`.
    ensemble_size : int, optional
        Members of an ensemble, trees or rounds; the usual number where it is not given.

    Returns
    -------
    classifier : estimator or None
        Unfitted, and without a seed, which then follows from that of the stages. None for ``"logistic"``.

    Raises
    ------
    BadInputError
        If there is no kind of that name, or the size is no whole number of at least 1, or the kind has none.

    Examples
    --------
    >>> stage_classifier("forest", 10)
    RandomForestClassifier(n_estimators=10)
    """
    found = STAGE_KINDS[as_choice(kind, "subclassifier", list(STAGE_KINDS))]
    if found is not None:
        return found.make(found.size if ensemble_size is None else as_count(ensemble_size, "ensemble_size"))
    if ensemble_size is not None:
        raise BadInputError(
            "ensemble_size", "belongs to an ensemble", f"{ensemble_size} for {kind}", "Leave it out."
        )
    return None
