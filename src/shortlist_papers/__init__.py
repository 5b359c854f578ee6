"""Experiments of the papers run again, their opponents, and comparisons of methods.

The library needs none of them.
"""

from shortlist._lazy import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
