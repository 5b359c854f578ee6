"""Selection of classifiers that vote: pools, exact pruning, rules, evolution, and their estimators."""

from shortlist._lazy import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
