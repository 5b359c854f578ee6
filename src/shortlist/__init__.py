"""Choose well when several things matter at once, with proof.

Names are loaded when first used, so that importing :mod:`shortlist` costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.errors import (
        AcquisitionError,
        BadFileError,
        BadInputError,
        FitsStoppedError,
        MissingDependencyError,
        ShortlistError,
        SolverError,
        UntrustedFileError,
    )
    from shortlist.front import Front, Objective, Pick, Proof, ProofKind, Selection, Sense, Status

__all__ = [
    "AcquisitionError",
    "BadFileError",
    "BadInputError",
    "FitsStoppedError",
    "Front",
    "MissingDependencyError",
    "Objective",
    "Pick",
    "Proof",
    "ProofKind",
    "Selection",
    "Sense",
    "ShortlistError",
    "SolverError",
    "Status",
    "UntrustedFileError",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name in __all__:
        module = "errors" if name.endswith("Error") else "front"
        return getattr(importlib.import_module(f"shortlist.{module}"), name)
    raise AttributeError(f"module 'shortlist' has no attribute {name!r}")
