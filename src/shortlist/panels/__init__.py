"""Panels: which judges to ask, in which order, when to stop, and at what price."""

from shortlist._lazy import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
