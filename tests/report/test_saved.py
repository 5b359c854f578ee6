"""From a file to its page: every kind is known, and others are refused in a sentence."""

from pathlib import Path

import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.report.saved import estimator_parts, result_page
from tests.report.made import sphere


def test_a_front_becomes_a_page_and_other_files_do_not(tmp_path: Path) -> None:
    sphere(20).save(tmp_path / "f.parquet")
    text = result_page(tmp_path / "f.parquet")
    assert "<h1>Products: f.parquet</h1>" in text
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(BadFileError, match=r"must be a model"):
        result_page(tmp_path / "x.txt")
    (tmp_path / "y.parquet").write_text("x")
    with pytest.raises(BadFileError):
        result_page(tmp_path / "y.parquet")


def test_an_estimator_without_a_result_is_refused() -> None:
    with pytest.raises(BadInputError, match="needs a fitted estimator of Shortlist, got a dict"):
        estimator_parts({})
