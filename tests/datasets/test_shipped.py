"""Tables that scikit-learn ships."""

import pytest

from shortlist.datasets.shipped import SHIPPED, shipped_table
from shortlist.errors import BadInputError


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_table_has_its_class_last(name: str) -> None:
    table = shipped_table(name)
    assert table.columns[-1] == "target"
    assert table["target"].nunique() >= 2
    assert len(table) >= 100


def test_another_name_is_refused() -> None:
    with pytest.raises(BadInputError, match="Did you mean 'wine'"):
        shipped_table("wines")
