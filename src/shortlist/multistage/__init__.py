"""Which features are acquired at which stage: multi-stage classifiers, searched and enumerated."""

from shortlist._lazy import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
