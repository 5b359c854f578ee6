"""The papers' experiments run again, their opponents, and comparisons of methods; nothing else needs them."""

from shortlist._lazy import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
