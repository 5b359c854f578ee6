"""scikit-learn's checks of estimators, each at most once for the code that it is about."""

from collections.abc import Iterator
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

OF_TABLES = {
    "check_array_api_input",
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_classifiers_one_label_sample_weights",
    "check_classifiers_regression_target",
    "check_classifier_data_not_an_array",
    "check_complex_data",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimators_dtypes",
    "check_estimators_empty_data_messages",
    "check_f_contiguous_array_estimator",
    "check_fit1d",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_score_takes_y",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_requires_y_none",
    "check_supervised_y_2d",
    "check_supervised_y_no_nan",
}
"""Checks of what rows and labels may look like; so are those that are made again for other memory."""


def keeps_contract(*estimators: Any, tables: bool = True) -> pytest.MarkDecorator:
    """Give a test `estimator` and `check` for every check of each estimator.

    Without `tables` those of rows and labels are left out: for estimators that read both by the same code as
    another one that takes all checks.
    """
    return pytest.mark.parametrize(("estimator", "check"), [*_checks(estimators, tables=tables)])


def _checks(estimators: tuple[Any, ...], *, tables: bool) -> Iterator[Any]:
    for place, estimator in enumerate(estimators):
        for given, check in estimator_checks_generator(estimator):
            name, other_memory = check.func.__name__, check.keywords
            if tables or not (other_memory or name in OF_TABLES):
                words = "".join(f"-{word}={value}" for word, value in other_memory.items())
                yield pytest.param(given, check, id=f"{type(estimator).__name__}-{place}-{name}{words}")
