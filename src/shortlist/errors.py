"""Every exception that Shortlist raises on purpose.

The command line prints any of them as one sentence, with its options in place of the arguments of Python, and
exits with 2. Within a sentence, an argument stands between backticks, alone or with its value.
"""

from collections.abc import Mapping
from typing import Any


class ShortlistError(Exception):
    """Base of every error raised on purpose.

    Parameters
    ----------
    argument : object
        The argument or the file that cannot be used; or, alone, the whole sentence.
    expected : str, optional
        What it must be, as the sentence goes on: ``must be at least 2``.
    got : object, optional
        What came instead, shown by its `str`.
    advice : str, optional
        What to do, in sentences of their own.

    Examples
    --------
    >>> print(BadInputError("n_folds", "must be at least 2", 1, "Leave it out for five."))
    n_folds must be at least 2, got 1. Leave it out for five.
    """

    def __init__(self, argument: object = "", expected: str = "", got: object = "", advice: str = "") -> None:
        super().__init__(*([argument, expected, got, advice] if expected else [argument]))
        self.argument = argument
        self.expected = expected
        self.got = got
        self.advice = advice.strip()

    def __str__(self) -> str:
        return self.sentence({})

    def sentence(self, names: Mapping[str, str]) -> str:
        """Return the sentence, with the argument called by another name where `names` has one."""
        if not self.expected:
            return str(self.argument)
        subject = names.get(str(self.argument), self.argument)
        return f"{subject} {self.expected}, got {self.got}. {self.advice}".rstrip()


class BadInputError(ShortlistError, ValueError):
    """An argument cannot be used; the message says what was expected, what came instead and what to do."""


class BadFileError(BadInputError):
    """A file does not hold what was expected; the message names the file and, if known, the place in it."""


class UnwritableFileError(BadFileError):
    """A file cannot be written where it should be; the message says why."""


class UnmetChoiceError(BadInputError):
    """A front was found and is kept, but it has no point that meets the request."""


class OutOfReachError(BadInputError):
    """Nothing that could be found is within a limit; the message says what is possible."""


class ContradictionError(BadInputError):
    """A decision cannot be made, or a model has no product; `contradiction` says what is in the way, or None.

    `sentences` has one for each of its parts.
    """

    def __init__(self, message: str, contradiction: Any = None, sentences: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.contradiction = contradiction
        self.sentences = sentences


class MissingDependencyError(ShortlistError, ImportError):
    """An optional package is needed; the message says how to install it."""


class UntrustedFileError(ShortlistError, PermissionError):
    """Loading the file would run code in it, and it is not trusted."""


class NotWrittenError(ShortlistError, OSError):
    """A result or a finished part could not be written; the message says what is left, and where."""


class FetchError(ShortlistError, OSError):
    """A file cannot be fetched from another machine; the message says why, and what is left to do."""


class SolverError(ShortlistError, RuntimeError):
    """A solver failed, or its answer contradicts the data it was given."""


class RefusedProgramError(SolverError):
    """A solver does not take a program, such as one with numbers that are too large for it."""


class WorkerError(ShortlistError, RuntimeError):
    """Workers cannot be reached or used, or were lost; what was finished before is kept."""


class AcquisitionError(ShortlistError, RuntimeError):
    """Acquiring features failed; `partial` holds what was decided and paid before."""

    def __init__(self, message: str, partial: Any) -> None:
        super().__init__(message)
        self.partial = partial


class FitsStoppedError(ShortlistError):
    """Fitting was cancelled before every classifier that a method asked for was fitted."""


class RoughSearchWarning(UserWarning):
    """A search of stage assignments did less than it was asked for, or saw only some of the rows."""


class UnknownWordWarning(UserWarning):
    """A cell holds a word that no fitted row had, and counts as missing."""


class LowCoverageWarning(UserWarning):
    """A chosen stage assignment rejects more rows than it answers."""
