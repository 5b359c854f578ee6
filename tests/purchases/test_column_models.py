"""Feature models over columns: panels, alternatives, what comes after what, and prices."""

from pathlib import Path

import numpy as np
import pytest

from shortlist import BadInputError, FeatureModel, read_model
from shortlist.purchases.column_models import model_costs, purchase_rules

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
