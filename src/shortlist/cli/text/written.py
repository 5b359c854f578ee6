"""What commands say that write a feature model."""

from pathlib import Path
from typing import Any

from shortlist._words import counted
from shortlist.products.conversion import Conversion
from shortlist.products.feature_models.model import FeatureModel


def written_facts(made: Conversion, model: FeatureModel, saved: Path) -> dict[str, Any]:
    """Return what the JSON says of a model that was written."""
    return {
        "method": "satisfiability",
        "status": "optimal" if made.proved else "feasible",
        "format": made.kind,
        "n_features": model.n_features,
        "proved": made.proved,
        "changes": list(made.notes),
        "notes": list(model.notes),
        "out": str(saved),
    }


def print_written(facts: dict[str, Any], whose: str = "the same") -> None:
    """Print where a model was written, what changed, and what is proved of its products."""
    print(f"{counted(facts['n_features'], 'feature')} written to {facts['out']} as {facts['format']}.")
    for change in facts["changes"]:
        print(f"  {change}")
    if facts["proved"]:
        print(f"Proved: the file has {whose} products.")
    else:
        print(f"Not proved ({facts['limit']}): whether the file has {whose} products.")
    if facts.get("attributes_out"):
        print(f"Attributes saved to {facts['attributes_out']}.")
