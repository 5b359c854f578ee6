"""Exceptions that Shortlist raises on purpose.

The command line prints any of these exceptions as one sentence, with its options in place of the arguments of
Python, and exits with 2. Within a sentence, an argument is between backticks, alone or with its value.
"""

from collections.abc import Mapping
from typing import Any


class ShortlistError(Exception):
    """Base of every error raised on purpose.

    Parameters
    ----------
    argument : object
        Argument or file that cannot be used; or, alone, the whole sentence.
    expected : str, optional
        Requirement, as the sentence continues: ``must be at least 2``.
    got : object, optional
        Value that came instead, shown by its `str`.
    advice : str, optional
        Advice, in further sentences.

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
        """Return the sentence, with the name of the argument replaced if `names` has another one."""
        if not self.expected:
            return str(self.argument)
        subject = names.get(str(self.argument), self.argument)
        return f"{subject} {self.expected}, got {self.got}. {self.advice}".rstrip()


class BadInputError(ShortlistError, ValueError):
    """An argument cannot be used; the message has the requirement, the value and advice."""


class BadFileError(BadInputError):
    """A file has unexpected content; the message names the file and, if known, the location."""


class UnwritableFileError(BadFileError):
    """A file cannot be written; the message gives the reason."""


class UnmetChoiceError(BadInputError):
    """A front was found and is kept, but no point of it meets the request."""


class OutOfReachError(BadInputError):
    """No answer within a limit was found; the message names the limit to relax or raise."""


class ContradictionError(BadInputError):
    """A decision is impossible, or a model has no product; `contradiction` has the parts, or None.

    `sentences`: one for each of the parts.
    """

    def __init__(self, message: str, contradiction: Any = None, sentences: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.contradiction = contradiction
        self.sentences = sentences


class MissingDependencyError(ShortlistError, ImportError):
    """An optional package is missing; the message says how to install it."""


class UntrustedFileError(ShortlistError, PermissionError):
    """Loading the file would run code in it, and it is not trusted."""


class NotWrittenError(ShortlistError, OSError):
    """A result or a finished part could not be written; the message says which parts are left and where."""


class FetchError(ShortlistError, OSError):
    """A file cannot be fetched from another machine; the message gives the reason and advice."""


class SolverError(ShortlistError, RuntimeError):
    """A solver failed, or its answer contradicts the data."""


class RefusedProgramError(SolverError):
    """A solver refuses a program, for instance because its numbers are too large."""


class WorkerError(ShortlistError, RuntimeError):
    """Workers cannot be reached or used, or were lost; finished work is kept."""


class AcquisitionError(ShortlistError, RuntimeError):
    """Acquiring features failed; `partial` holds the decisions and payments before that."""

    def __init__(self, message: str, partial: Any) -> None:
        super().__init__(message)
        self.partial = partial


class FitsStoppedError(ShortlistError):
    """Fitting was cancelled before all requested classifiers were fitted."""


class RoughSearchWarning(UserWarning):
    """A search of stage assignments was shorter than requested, or used only some of the rows."""


class UnknownWordWarning(UserWarning):
    """A cell holds a word that was in no fitted row, and counts as missing."""


class LowCoverageWarning(UserWarning):
    """A chosen stage assignment rejects more rows than it answers."""
