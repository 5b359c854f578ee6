"""The methods that solve programs and their options, loaded before a file is looked for."""

from collections.abc import Mapping
from typing import Any

from shortlist._validation import as_choice, as_options
from shortlist.methods.program_methods import EXACT_METHODS, ProgramOptions, SolRepOptions

METHODS: Mapping[str, type[ProgramOptions]] = {
    "auto": ProgramOptions,
    **dict.fromkeys(EXACT_METHODS, ProgramOptions),
    "solrep": SolRepOptions,
}
"""The methods and the options of each; ``auto`` is ``exact``."""


def method_options(method: str, **given: Any) -> ProgramOptions:
    """Return the options of a method; what is None or not given has its default.

    Raises BadInputError if the method is unknown or has no such option, or a value is out of range.
    """
    as_choice(method, "method", list(METHODS))
    return as_options(METHODS[method], given, f"`method={method!r}`")
