"""Feature-model formats: readers that recognise a file by its content, and writers."""

import dataclasses
import re
from enum import StrEnum
from pathlib import Path

from shortlist._validation import as_choice
from shortlist.errors import BadInputError
from shortlist.exact import as_decimal
from shortlist.files import write_text
from shortlist.products.feature_models.model import FeatureModel
from shortlist.products.feature_models.source import Source, read_source


class Format(StrEnum):
    """The formats that can be recognised."""

    SXFM = "sxfm"
    UVL = "uvl"
    FEATUREIDE = "featureide"
    DIMACS = "dimacs"
    PROGRAM = "program"


def read_model(path: str | Path, *, side_files: str | Path | None = None) -> FeatureModel:
    """Read a feature model of any format; gzip is undone.

    The content decides the format, not the ending. A DIMACS model takes its attributes from the file
    ``PATH.augment`` and its claims from ``PATH.dead`` and ``PATH.mandatory`` where they exist.

    Parameters
    ----------
    path : str or Path
        The model.
    side_files : str or Path, optional
        Look for files with these endings beside this path instead (``2.6.28.6-icse11.dimacs``).

    Raises
    ------
    BadFileError
        If the file cannot be read, is of no known format, or breaks the rules of its format; names line and
        column.
    """
    source = read_source(path)
    kind = recognise(source)
    if kind is Format.SXFM:
        from shortlist.products.formats.sxfm import read_sxfm

        return read_sxfm(source)
    if kind is Format.FEATUREIDE:
        from shortlist.products.formats.featureide import read_featureide

        return read_featureide(source)
    if kind is Format.UVL:
        from shortlist.products.formats.uvl import read_uvl

        return read_uvl(source)
    if kind is Format.PROGRAM:
        raise source.error(
            "the file holds an integer program, not a feature model. In Python, read_program reads it."
        )
    from shortlist.products.formats.dimacs import read_dimacs

    return _with_side_files(read_dimacs(source), path if side_files is None else side_files)


def recognise(source: Source) -> Format:
    r"""Return the format that a text is written in.

    Raises
    ------
    BadFileError
        If it is none of :class:`Format`.

    Examples
    --------
    >>> recognise(Source("model", "c 1 A\np cnf 1 1\n1 0\n")).value
    'dimacs'
    """
    start = source.text.lstrip()
    if start.startswith("<"):
        root = _root_tag(start)
        names = {"feature_model": Format.SXFM, "featureModel": Format.FEATUREIDE}
        names["extendedFeatureModel"] = Format.FEATUREIDE
        if root in names:
            return names[root]
        tag = f"<{root[:40]}>" if root else "no element"
        raise source.error(f"an XML model must be a <feature_model> or a <featureModel>, got {tag}.")
    if re.match(r"(?:c(?:[ \t].*+)?+\n|[ \t\f\v]*+\n)*+p[ \t]", start):
        return Format.DIMACS
    if re.match(r"objectives\s*+==", start):
        return Format.PROGRAM
    code = re.sub(r"\A(?:\s|//[^\n]*+|/\*.*?\*/)*+", "", start, flags=re.DOTALL)
    if re.match(r"(features|namespace|imports|include|constraints)\b", code):
        return Format.UVL
    first = start.split("\n", 1)[0][:40]
    raise source.error(
        f"the model must be SXFM, UVL, FeatureIDE XML or DIMACS, but starts with {first!r}. Convert it to "
        "one of them.",
        line=1,
    )


def _root_tag(text: str) -> str:
    """Return the name of the first element behind declarations, instructions and comments, or nothing."""
    place = 0
    while (place := text.find("<", place)) >= 0:
        for opening, closing in (("<!--", "-->"), ("<?", "?>"), ("<!", ">")):
            if text.startswith(opening, place):
                place = text.find(closing, place + len(opening))
                break
        else:
            found = re.compile(r"<\s*+([A-Za-z_][\w.-]*+)").match(text, place)
            return found[1] if found else ""
        if place < 0:
            break
    return ""


def model_text(model: FeatureModel, kind: str) -> str:
    """Return a model as ``uvl`` or ``dimacs`` text; reading it back gives the same products."""
    as_choice(kind, "kind", (Format.UVL.value, Format.DIMACS.value))
    if kind == Format.UVL:
        from shortlist.products.formats.uvl_writer import uvl_text

        return uvl_text(model)
    from shortlist.products.formats.dimacs import dimacs_text

    return dimacs_text(model)


def write_model(path: str | Path, model: FeatureModel) -> None:
    """Write a model as UVL or DIMACS, by the ending ``.uvl``, ``.dimacs`` or ``.cnf``.

    Whole or not at all.

    Parameters
    ----------
    path : str or Path
        File to write.
    model : FeatureModel
        What to write.

    Raises
    ------
    BadInputError
        If the ending is another one, or the file cannot be written there.
    """
    kinds = {".uvl": "uvl", ".dimacs": "dimacs", ".cnf": "dimacs"}
    ending = Path(path).suffix.lower()
    if ending not in kinds:
        raise BadInputError(
            f"a model must be written to a file ending in {', '.join(kinds)}, got {str(path)!r}."
        )
    write_text(path, model_text(model, kinds[ending]))


def _with_side_files(model: FeatureModel, path: str | Path) -> FeatureModel:
    """Add what the files beside a DIMACS model say."""
    from shortlist.products.attributes.attribute_files import read_attributes
    from shortlist.products.formats.dimacs import read_variable_list, side_files

    files = side_files(path)
    attributes = dict(model.attributes)
    if "augment" in files:
        for name, column in read_attributes(files["augment"], model).columns.items():
            numbers = {i: as_decimal(str(value)) for i, value in column.items()}
            attributes[name] = {i: column[i] if n is None else n for i, n in numbers.items()}
    claims = list(read_variable_list(files["mandatory"], model.n_features)) if "mandatory" in files else []
    if "dead" in files:
        claims += [-v for v in read_variable_list(files["dead"], model.n_features)]
    return dataclasses.replace(model, attributes=attributes, claims=tuple(claims))
