"""Multi-stage classifiers: stages acquire features, and a search assigns the features to the stages."""

from shortlist._lazy import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
