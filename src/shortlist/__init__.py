"""Choose well when several things matter at once, with proof.

Names are loaded when first used, so that importing :mod:`shortlist` takes hardly any time.
"""

from shortlist._lazy import lazy_package

__version__ = "0.4.0"
__getattr__, __dir__, __all__ = lazy_package(__name__)
