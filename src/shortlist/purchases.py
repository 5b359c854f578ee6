"""A feature model over the columns of a table: what may be bought together, and for how much."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist._validation import as_choice, as_count
from shortlist._words import all_of, did_you_mean
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.multistage.problem.costs import FeatureCosts, feature_costs
from shortlist.multistage.problem.stages import PurchaseRules
from shortlist.products.attributes import as_number, model_attributes, place_of
from shortlist.products.clauses import to_clauses
from shortlist.products.model import FeatureModel

POOL_PER_MEMBER = 2
"""Classifiers in the pool for each member of a pruned ensemble."""

STEPS_OF_A_PROOF = 100_000
"""Steps of the proof that chooses members: the answer is the same on every machine."""


class StageKind(NamedTuple):
    """A kind of classifier that every feature subset gets one of."""

    make: Callable[[int], Any]
    """Takes the size, and returns an unfitted classifier without a seed."""
    size: int
    """The usual size: members of an ensemble at most, trees of a forest, or rounds of boosting."""


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
"""Classifiers that may answer at stages: logistic regression, which stages fit themselves and which has no
size; an ensemble whose members are chosen with proof, for the log loss of their mean; one that is evolved; a
random forest; histogram gradient boosting.
"""


def stage_classifier(kind: str, ensemble_size: int | None = None) -> Any:
    """Return a classifier for every stage, as ``MultiStageClassifier(subclassifier=...)`` takes it.

    Raises BadInputError if there is no kind of that name, or the size is no whole number of at least 1, or
    the kind has none.

    `kind`: a name in :data:`STAGE_KINDS`. `ensemble_size`: members of an ensemble, trees or rounds; the usual
    number where it is not given. It is unfitted, and
    without a seed, which then follows from that of the stages; None for ``"logistic"``.

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


COST = "cost"
"""The attribute that is a price, in any case of its letters."""


def purchase_rules(model: FeatureModel, columns: Sequence[str]) -> PurchaseRules:
    """Return the rules of a feature model on columns bought together.

    Features that are called as columns are these columns; the others stand for panels and the like. What has
    been bought after a stage, any stage, must be the columns of some product: a panel with mandatory children
    is bought whole, of alternatives one is bought, and what another requires comes before it or with it.
    Raises BadInputError if a column is no feature, or a feature without children that is not abstract is no
    column, or the model has no product, or none with a column.

    >>> from shortlist.products.model import make_group, make_model
    >>> model = make_model(["tests", "x", "y"], root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> rules = purchase_rules(model, ["x", "y"])
    >>> rules.valid_sets(10).tolist()
    [[True, False], [False, True]]
    """
    places = _places(model, columns)
    clauses = to_clauses(model)
    new = np.zeros(clauses.n_variables + 1, dtype=np.int64)
    others = [place for place in range(clauses.n_variables) if place not in set(places)]
    for number, place in enumerate([*places, *others], start=1):
        new[place + 1] = number
    renamed = tuple(
        tuple(int(new[abs(literal)]) * (1 if literal > 0 else -1) for literal in clause) for clause in clauses
    )
    rules = PurchaseRules(tuple(columns), clauses.n_variables, renamed)
    _check_products(model, rules, clauses)
    return rules


def model_costs(model: FeatureModel, columns: Sequence[str]) -> FeatureCosts | None:
    """Return the prices in the attribute ``cost`` of a feature model; None if it has no such attribute.

    A price on a column is the price of that column. A price on a feature above columns, such as a panel, is
    paid once, with the first column below it that is bought; columns below it without a price are free then.
    Raises BadInputError if a price is no number of at least 0, a column has a price neither on it nor above
    it, or two prices are above it.
    """
    table = model_attributes(model)
    names = [name for name in table.columns if name.casefold() == COST]
    if not names:
        return None
    prices = {
        feature: as_number(value, place_of(table, names[0], feature, model))
        for feature, value in table.columns[names[0]].items()
    }
    own: dict[str, Any] = {}
    groups: dict[str, str] = {}
    first: dict[str, Any] = {}
    for column, place in zip(columns, _places(model, columns), strict=True):
        above = [feature for feature in _ancestors(model, place) if prices.get(feature)]
        if place not in prices and not above:
            raise BadInputError(
                f"the feature model must price every column, got no cost for {column!r}. Add it, or pass "
                "prices "
                "of your own."
            )
        if len(above) > 1:
            raise BadInputError(
                f"one price at most may be above a column, got those of "
                f"{all_of(model.labels[i] for i in above)} "
                f"above {column!r}. Join them."
            )
        own[column] = prices.get(place, 0)
        if above:
            groups[column] = model.labels[above[0]]
            first[groups[column]] = prices[above[0]]
    return feature_costs(own, list(columns), groups=groups, first_prices=first)


def _places(model: FeatureModel, columns: Sequence[str]) -> list[int]:
    """Return the feature of each column; refuse columns without one, and features that should be columns."""
    known = {label: place for place, label in enumerate(model.labels)}
    missing = [column for column in columns if column not in known]
    if missing:
        raise BadInputError(
            f"every column must be a feature of the feature model, got no feature {missing[0]!r}."
            f"{did_you_mean(missing[0], list(known))} Add a feature of that name to the model, or leave the "
            "column out of the table."
        )
    parents = {group.parent for group in model.groups}
    inner = parents | model.abstract | model.generated | {model.root}
    strange = [
        label for place, label in enumerate(model.labels) if place not in inner and label not in columns
    ]
    if strange:
        raise BadInputError(
            f"every feature without children must be a column, or abstract, got {strange[0]!r}, which is no "
            f"column.{did_you_mean(strange[0], list(columns))} Rename it, or declare it abstract."
        )
    return [known[column] for column in columns]


def _ancestors(model: FeatureModel, place: int) -> list[int]:
    found = []
    while (place := model.parents[place]) >= 0:
        found.append(place)
    return found


def _check_products(model: FeatureModel, rules: PurchaseRules, clauses: Clauses) -> None:
    """Refuse a model without products, and one whose products have no column."""
    from shortlist.logic.sat import SatSolver

    name = f"the feature model {model.name!r}" if model.name else "the feature model"
    if not SatSolver(clauses).solve().satisfiable:
        raise BadInputError(f"{name} must have a product, but its rules contradict each other. Mend them.")
    some = (*rules.clauses, tuple(range(1, len(rules.columns) + 1)))
    if not SatSolver(Clauses.from_clauses(rules.n_variables, some)).solve().satisfiable:
        raise BadInputError(
            f"{name} must let some column be bought, but no product has one. No stage can keep it; mend it."
        )
