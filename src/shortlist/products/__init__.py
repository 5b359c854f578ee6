"""Product lines: feature models and their formats, as clauses and as integer programs.

Names are loaded when first used, so that reading a model imports no solver and no matrices.
"""

from shortlist._lazy import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__name__)
