"""Experiments of the papers run again, opponents of the papers' methods, and comparisons of methods.

The library does not use this package.
"""

from shortlist._lazy import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
