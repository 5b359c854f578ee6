"""Which points of a front, and where it is written: options that are the same in every command."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shortlist.results.limits import Limit


def read_pick(text: str, rules: Sequence[str]) -> int | str:
    """Return the number of a point, or one of the `rules`.

    Raises
    ------
    BadInputError
        If it is neither.

    Examples
    --------
    >>> read_pick("12", ["ideal", "knee"]), read_pick("knee", ["ideal", "knee"])
    (12, 'knee')
    """
    from shortlist._words import any_of, did_you_mean
    from shortlist.errors import BadInputError

    if text.isascii() and text.isdecimal():
        return int(text)
    if text in rules:
        return text
    raise BadInputError(
        f"--pick must be the number of a point, from 0, or a rule, {any_of(rules)}, got "
        f"{text!r}.{did_you_mean(text, rules)}"
    )


def read_limit_among(text: str, names: Sequence[str]) -> "Limit":
    """Read one ``--limit`` on one of the `names`.

    A name is found as written first, then without case, spaces and signs, then as the beginning of one name
    only, then as a word of one name only, so that ``cost<=120`` limits ``acquisition_cost``.

    Raises
    ------
    BadInputError
        If the text does not read like ``cost<=120``, or the name is none of `names`.

    Examples
    --------
    >>> read_limit_among("conclusive-accuracy >= 0.9", ["coverage", "conclusive_accuracy"])
    Limit(name='conclusive_accuracy', operator='>=', value=Decimal('0.9'))
    >>> read_limit_among("cost<=120", ["coverage", "acquisition_cost"]).name
    'acquisition_cost'
    """
    from dataclasses import replace

    from shortlist._words import any_of, did_you_mean
    from shortlist.errors import BadInputError
    from shortlist.results.limits import read_limit as read

    try:
        limit = read(text)
    except BadInputError as error:
        raise BadInputError(str(error).replace("a limit must", "--limit must", 1)) from None
    if limit.name in names:
        return limit
    wanted = _plain(limit.name)
    whole, beginning, word = (
        [name for name in names if _plain(name) == wanted],
        [name for name in names if _plain(name).startswith(wanted)],
        [name for name in names if wanted in map(_plain, re.split(r"[\s_-]+", name))],
    )
    for alike in (whole, beginning, word):
        if len(alike) == 1:
            return replace(limit, name=alike[0])
    hint = did_you_mean(limit.name, names) or f" It must be {any_of(names)}."
    raise BadInputError(f"--limit names {limit.name!r}, which is not there to be limited.{hint}")


def read_limits(texts: Sequence[str], names: Sequence[str]) -> "tuple[Limit, ...]":
    """Read every ``--limit`` of a command; see :func:`read_limit_among`."""
    return tuple(read_limit_among(text, names) for text in texts)


def output_files(out: Path | None, model_out: Path | None) -> tuple[Path | None, Path | None]:
    """Return the files for the front and for the model."""
    from shortlist.cli.files import FRONT_FILE
    from shortlist.errors import BadInputError

    front_file = model_file = None
    if out is not None:
        front_file, model_file = (out, None) if out.suffix.casefold() in FRONT_FILE else (None, out)
    if model_out is not None:
        if model_file is not None:
            raise BadInputError("--out and --model-out both name a model file. Let --out end in .parquet.")
        model_file = model_out
    return front_file, model_file


def _plain(name: str) -> str:
    """Return a name without case, spaces and signs."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())
