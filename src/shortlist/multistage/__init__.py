"""Multi-stage classifiers: features acquired stage by stage, by assignments searched and enumerated."""

from shortlist._lazy import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
