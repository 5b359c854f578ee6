"""Attributes as tables, read back."""

from decimal import Decimal
from pathlib import Path

import pytest

from shortlist.products.attributes.attribute_export import save_attributes
from shortlist.products.attributes.attribute_files import read_attributes
from shortlist.products.feature_models.model import make_model, with_details


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_attributes_are_read_back_as_they_were_written(ending: str, tmp_path: Path) -> None:
    plain = make_model(["A", "A", "=1+1", "-x", "B, C"], ids=list("12345"))
    texts = {0: "=cmd", 2: "-", 4: "two words"}
    numbers = {0: Decimal("1.50"), 1: Decimal(-3), 3: Decimal("12345678901234567.5")}
    model = with_details(plain, attributes={"@note": texts, "cost": numbers, "ok": {1: True, 2: False}})
    path = tmp_path / f"a{ending}"

    save_attributes(path, model)
    columns = read_attributes(path, model).columns

    assert columns["@note"] == texts
    assert {i: Decimal(str(text)) for i, text in columns["cost"].items()} == numbers
    assert columns["ok"] == {1: "true", 2: "false"}
