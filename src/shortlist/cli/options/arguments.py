"""What the library's arguments are called on the command line.

Errors of the library carry the argument they are about, and sentences put others between backticks, as Python
has them; the command gives both the names of its options. An argument that has the name of an option needs no
entry: ``max_size`` is ``--max-size`` where the command has that option.
"""

import functools
import re
import shlex
from collections.abc import Mapping

from shortlist.errors import ShortlistError

PAIR = r"\{('[^']*'|\"[^\"]*\"): ([\w.+-]+)\}"
MARKED = re.compile(r"`(\w+)(?:=([^`]*))?`")
"""An argument in a sentence of the library, alone or with a value."""


def in_options(said: str | BaseException, names: Mapping[str, str]) -> str:
    """Call arguments by the names of the command's options, and leave out values that cannot be typed.

    `said`: a sentence of the library, or an error. `names`: what the command calls each argument, such as
    ``max_size``: ``--max-size``.

    Examples
    --------
    >>> from shortlist.errors import BadInputError
    >>> names = {"n_folds": "--set folds", "method": "--method", "defaults": "--set default"}
    >>> in_options(BadInputError("n_folds", "must be at least 2", 1), names)
    '--set folds must be at least 2, got 1.'
    >>> in_options("Use `method='windows'`, or a lower `max_size`.", names)
    'Use --method windows, or a lower max_size.'
    >>> in_options("Pass `defaults={'Cost (EUR)': 0}`.", names)
    "Pass --set 'default=Cost (EUR)=0'."
    """
    sentence = said.sentence(names) if isinstance(said, ShortlistError) else str(said)
    return MARKED.sub(functools.partial(_typed, names), sentence).replace(" or None,", ",")


def _typed(names: Mapping[str, str], found: re.Match[str]) -> str:
    argument, value = found[1], found[2]
    option = names.get(argument, argument)
    if value is None:
        return option
    if not option.startswith("--"):
        return f"{option}={value}"
    pair = re.fullmatch(PAIR, value)
    plain = f"{pair[1][1:-1]}={pair[2]}" if pair else value.strip("'\"")
    flag, _, setting = option.partition(" ")
    if setting:
        plain = f"{setting}={ {'True': 'yes', 'False': 'no'}.get(plain, plain) }"
    return flag if plain in {"True", "None"} else f"{flag} {shlex.quote(plain)}"
