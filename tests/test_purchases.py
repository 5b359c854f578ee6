"""Feature models over columns: panels, alternatives, what comes after what, and prices."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from shortlist import BadInputError, FeatureModel, read_model
from shortlist.multistage.subclassifiers.foreign_subclassifiers import (
    asked_by_price,
    counts_members,
    most_asked,
    seeded,
    takes_gaps,
)
from shortlist.purchases import STAGE_KINDS, model_costs, purchase_rules, stage_classifier

TESTS = """features
    tests
        mandatory
            age {cost 0}
        optional
            blood {cost 10, abstract}
                mandatory
                    sugar {cost 1}
                    fat
            scan {abstract}
                alternative
                    xray {cost 5}
                    mri {cost 30.5}
constraints
    mri => sugar
"""
COLUMNS = ["age", "mri", "fat", "sugar", "xray"]


def model(text: str, folder: Path) -> FeatureModel:
    (folder / "m.uvl").write_text(text)
    return read_model(folder / "m.uvl")


def test_panels_alternatives_and_requirements_are_those_of_the_model(tmp_path: Path) -> None:
    sets = purchase_rules(model(TESTS, tmp_path), COLUMNS).valid_sets(100)
    assert sets is not None
    bought = {
        frozenset(name for name, taken in zip(COLUMNS, one, strict=True) if taken) for one in sets.tolist()
    }
    assert bought == {
        frozenset({"age"}),
        frozenset({"age", "xray"}),
        frozenset({"age", "sugar", "fat"}),
        frozenset({"age", "sugar", "fat", "xray"}),
        frozenset({"age", "sugar", "fat", "mri"}),
    }


def test_a_price_above_columns_is_paid_once_and_those_on_columns_each(tmp_path: Path) -> None:
    costs = model_costs(model(TESTS, tmp_path), COLUMNS)
    assert costs is not None
    prices = {
        bought: float(costs.price(np.array([name in bought for name in COLUMNS]))) / costs.scale
        for bought in (("age",), ("fat",), ("sugar",), ("fat", "sugar"), ("mri", "xray"))
    }
    assert prices == {
        ("age",): 0, ("fat",): 10, ("sugar",): 11, ("fat", "sugar"): 11, ("mri", "xray"): 35.5,
    }  # fmt: skip
    assert model_costs(model(TESTS.replace("cost", "weight"), tmp_path), COLUMNS) is None


@pytest.mark.parametrize(
    ("old", "new", "columns", "message"),
    [
        ("", "", [*COLUMNS, "agee"], "got no feature 'agee'. Did you mean 'age'"),
        ("xray {cost 5}", "xrays {cost 5}", COLUMNS, "got no feature 'xray'"),
        ("", "", COLUMNS[:-1], "every feature without children must be a column, or abstract, got 'xray'"),
        ("mri => sugar", "!age", COLUMNS, "must have a product, but its rules contradict each other"),
        ("mandatory\n            age {cost 0}\n        ", "", COLUMNS, "got no feature 'age'"),
    ],
)
def test_models_that_do_not_fit_the_columns_are_refused(
    old: str, new: str, columns: list[str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInputError, match=message):
        purchase_rules(model(TESTS.replace(old, new) if old else TESTS, tmp_path), columns)


def test_a_model_that_no_stage_can_keep_is_refused(tmp_path: Path) -> None:
    text = "features\n    tests\n        optional\n            a\n            b\nconstraints\n    !a & !b\n"
    with pytest.raises(BadInputError, match="must let some column be bought, but no product has one"):
        purchase_rules(model(text, tmp_path), ["a", "b"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("xray {cost 5}", "xray", "must price every column, got no cost for 'xray'"),
        ("tests\n", "tests {cost 3}\n", "got those of blood and tests above 'fat'"),
        ("cost 5}", "cost -5}", "must be a number of at least 0, got -5. Mend"),
        ("cost 5}", "cost 'much'}", "cost"),
    ],
)
def test_prices_that_cannot_be_meant_are_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=message):
        model_costs(model(TESTS.replace(old, new), tmp_path), COLUMNS)


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
