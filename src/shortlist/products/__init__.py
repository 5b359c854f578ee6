"""Product lines: feature models, their formats, attributes and requirements, as clauses and as integer programs.

Names are loaded when first used, so that reading a model imports no solver and no matrices.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.products.attribute_draws import random_attributes
    from shortlist.products.attribute_files import read_attributes
    from shortlist.products.attributes import (
        Attribute,
        AttributeTable,
        chosen_attributes,
        exact_attribute,
        model_attributes,
    )
    from shortlist.products.clauses import TracedClauses, to_clauses, traced_clauses
    from shortlist.products.evaluation import are_valid, broken_rules, evaluate, n_violations
    from shortlist.products.formats import read_model, write_model
    from shortlist.products.formats.configurations import write_configuration
    from shortlist.products.formats.program_files import ProgramFile, read_program
    from shortlist.products.inequalities import to_program
    from shortlist.products.model import (
        Constraint,
        FeatureModel,
        Group,
        make_group,
        make_model,
        rule_text,
        with_constraints,
    )
    from shortlist.products.names import feature_names
    from shortlist.products.objectives import (
        FeatureObjective,
        limit_name,
        objective_names,
        parse_limit,
        parse_objectives,
    )
    from shortlist.products.product_front import Configured, configure
    from shortlist.products.requirements import Requirements, make_requirements, read_requirements

_MODULES = {
    "attribute_files": ("read_attributes",),
    "attributes": (
        "Attribute",
        "AttributeTable",
        "chosen_attributes",
        "exact_attribute",
        "model_attributes",
    ),
    "clauses": ("TracedClauses", "to_clauses", "traced_clauses"),
    "evaluation": ("are_valid", "broken_rules", "evaluate", "n_violations"),
    "formats": ("read_model", "write_model"),
    "formats.configurations": ("write_configuration",),
    "formats.program_files": ("ProgramFile", "read_program"),
    "inequalities": ("to_program",),
    "model": (
        "Constraint",
        "FeatureModel",
        "Group",
        "make_group",
        "make_model",
        "rule_text",
        "with_constraints",
    ),
    "names": ("feature_names",),
    "objectives": ("FeatureObjective", "limit_name", "objective_names", "parse_limit", "parse_objectives"),
    "attribute_draws": ("random_attributes",),
    "product_front": ("Configured", "configure"),
    "requirements": ("Requirements", "make_requirements", "read_requirements"),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Attribute",
    "AttributeTable",
    "Configured",
    "Constraint",
    "FeatureModel",
    "FeatureObjective",
    "Group",
    "ProgramFile",
    "Requirements",
    "TracedClauses",
    "are_valid",
    "broken_rules",
    "chosen_attributes",
    "configure",
    "evaluate",
    "exact_attribute",
    "feature_names",
    "limit_name",
    "make_group",
    "make_model",
    "make_requirements",
    "model_attributes",
    "n_violations",
    "objective_names",
    "parse_limit",
    "parse_objectives",
    "random_attributes",
    "read_attributes",
    "read_model",
    "read_program",
    "read_requirements",
    "rule_text",
    "to_clauses",
    "to_program",
    "traced_clauses",
    "with_constraints",
    "write_configuration",
    "write_model",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name in _PLACES:
        return getattr(importlib.import_module(f"shortlist.products.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'shortlist.products' has no attribute {name!r}")
