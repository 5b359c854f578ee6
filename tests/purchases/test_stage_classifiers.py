"""The classifiers of stages by their names."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from shortlist.errors import BadInputError
from shortlist.multistage.subclassifiers.foreign_subclassifiers import seeded
from shortlist.multistage.subclassifiers.shared_subclassifiers import takes_gaps
from shortlist.multistage.subclassifiers.stage_calls import asked_by_price, counts_members, most_asked
from shortlist.purchases.stage_classifiers import STAGE_KINDS, stage_classifier

X, Y = load_iris(return_X_y=True)
SMALL = {"pruned": 2, "evolved": 3, "forest": 4, "boosting": 2}


@pytest.mark.parametrize("kind", SMALL)
def test_a_kind_is_an_unfitted_classifier_of_that_size_whose_seed_is_that_of_the_stages(kind: str) -> None:
    made = stage_classifier(kind, SMALL[kind])

    fitted = seeded(made, 7).fit(X, Y)
    again = seeded(made, 7).fit(X, Y)
    assert (fitted.predict_proba(X) == again.predict_proba(X)).all()
    assert made.random_state is None
    assert takes_gaps(made)
    assert fitted.score(X, Y) > 0.8
    asked = int(asked_by_price(fitted, 1)[0])
    assert 1 <= asked <= most_asked(made) == (SMALL[kind] if counts_members(made) else 1)


def test_trees_and_rounds_are_counted_by_their_size() -> None:
    assert len(stage_classifier("forest", 4).set_params(random_state=0).fit(X, Y).estimators_) == 4
    assert stage_classifier("boosting", 3).set_params(random_state=0).fit(X, Y).n_iter_ == 3


def test_members_of_a_pruned_ensemble_are_proved_whatever_the_clock_says() -> None:
    made = stage_classifier("pruned", 2).set_params(random_state=0).fit(X[:, :2], Y)

    assert (made.time_limit_s, str(made.status_), made.gap_) == (None, "optimal", 0.0)
    assert len(made.selection_) == 4
    assert np.count_nonzero(made.selection_) <= 2


def test_logistic_regression_is_what_stages_fit_themselves() -> None:
    assert stage_classifier("logistic") is None
    assert set(STAGE_KINDS) == {"logistic", *SMALL}


@pytest.mark.parametrize(
    ("kind", "size", "sentence"),
    [
        ("prune", None, "subclassifier must be one of .*, got 'prune'"),
        ("forest", 0, "ensemble_size must be at least 1, got 0"),
        ("logistic", 3, "ensemble_size belongs to an ensemble, got 3 for logistic"),
    ],
)
def test_bad_kinds_and_sizes_are_refused(kind: str, size: int | None, sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        stage_classifier(kind, size)
