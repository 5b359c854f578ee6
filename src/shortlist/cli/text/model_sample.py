"""What `shortlist model sample` says and writes."""

from pathlib import Path
from typing import Any

from shortlist._words import counted
from shortlist.arrays import Mask
from shortlist.products.feature_models.model import FeatureModel
from shortlist.tables.spreadsheets import save_rows

_MOST_PRODUCTS = 10
_MOST_WIDTH = 100


def save_products(path: str | Path, model: FeatureModel, products: Mask) -> None:
    """Write products as .csv or .xlsx: one a row, one column a feature, 1 where it is selected."""
    save_rows(path, model.labels, products.astype(int).tolist())


def print_sample(facts: dict[str, Any], model: FeatureModel, products: Mask) -> None:
    """Print how many products there are, what is known of them, and the first ones."""
    print(f"{counted(len(products), 'product')}, {facts['method']}.")
    if "distance" in facts:
        print(f"Every two of them differ in {counted(facts['distance'], 'feature')} or more.")
    for number, row in enumerate(products[:_MOST_PRODUCTS], start=1):
        chosen = ", ".join(label for label, has in zip(model.labels, row.tolist(), strict=True) if has)
        print(f"{number:>4}  {chosen if len(chosen) <= _MOST_WIDTH else chosen[: _MOST_WIDTH - 3] + '...'}")
    if len(products) > _MOST_PRODUCTS:
        print(f"      and {len(products) - _MOST_PRODUCTS:,} more")
    if facts["out"] is not None:
        print(f"Saved to {facts['out']}.")
