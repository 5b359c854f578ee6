"""Which features are acquired at which stage: multi-stage classifiers, searched and enumerated."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.errors import AcquisitionError
    from shortlist.multistage.costs import FeatureCosts, feature_costs, read_costs
    from shortlist.multistage.decision_bits import DecisionBits
    from shortlist.multistage.emsco import EmscoOptions, EmscoResult
    from shortlist.multistage.enumeration import (
        EnumerationResult,
        TiedBlock,
        enumerate_front,
        tied_assignments,
        tied_blocks,
    )
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.multistage.holdout import StagedMeasure, StagedTable, stage_table
    from shortlist.multistage.objectives import OBJECTIVES, StageProblem, stage_problem
    from shortlist.multistage.prediction import OnDemand
    from shortlist.multistage.presets import PRESETS, Preset, preset, synthetic30
    from shortlist.multistage.reject_rules import RejectRule
    from shortlist.multistage.stages import compress, has_gaps, n_ordered_partitions, space_size
    from shortlist.multistage.subclassifiers import LogisticSubclassifiers

_MODULES = {
    "costs": ["FeatureCosts", "feature_costs", "read_costs"],
    "decision_bits": ["DecisionBits"],
    "emsco": ["EmscoOptions", "EmscoResult"],
    "enumeration": ["EnumerationResult", "TiedBlock", "enumerate_front", "tied_assignments", "tied_blocks"],
    "estimators": ["MultiStageClassifier"],
    "holdout": ["StagedMeasure", "StagedTable", "stage_table"],
    "objectives": ["OBJECTIVES", "StageProblem", "stage_problem"],
    "prediction": ["OnDemand"],
    "presets": ["PRESETS", "Preset", "preset", "synthetic30"],
    "reject_rules": ["RejectRule"],
    "stages": ["compress", "has_gaps", "n_ordered_partitions", "space_size"],
    "subclassifiers": ["LogisticSubclassifiers"],
}

__all__ = [
    "OBJECTIVES",
    "PRESETS",
    "AcquisitionError",
    "DecisionBits",
    "EmscoOptions",
    "EmscoResult",
    "EnumerationResult",
    "FeatureCosts",
    "LogisticSubclassifiers",
    "MultiStageClassifier",
    "OnDemand",
    "Preset",
    "RejectRule",
    "StageProblem",
    "StagedMeasure",
    "StagedTable",
    "TiedBlock",
    "compress",
    "enumerate_front",
    "feature_costs",
    "has_gaps",
    "n_ordered_partitions",
    "preset",
    "read_costs",
    "space_size",
    "stage_problem",
    "stage_table",
    "synthetic30",
    "tied_assignments",
    "tied_blocks",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name == "AcquisitionError":
        return importlib.import_module("shortlist.errors").AcquisitionError
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"shortlist.multistage.{module}"), name)
    raise AttributeError(f"module 'shortlist.multistage' has no attribute {name!r}")
