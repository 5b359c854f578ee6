"""Feature-model formats: readers that recognise a file by its content, and writers."""

import dataclasses
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist._validation import as_choice
from shortlist.errors import BadInputError
from shortlist.exact import as_decimal
from shortlist.files import Source, read_source, write_text
from shortlist.products.model import FeatureModel

if TYPE_CHECKING:
    from shortlist.products.formats.shared import WrittenModel


class Format(StrEnum):
    """File format that can be recognised."""

    SXFM = "sxfm"
    UVL = "uvl"
    FEATUREIDE = "featureide"
    DIMACS = "dimacs"
    PROGRAM = "program"


def read_model(path: str | Path) -> FeatureModel:
    """Read a feature model of any format; gzip is unpacked.

    The content decides the format, not the ending. A DIMACS model takes its attributes from the file
    ``PATH.augment`` if there is one.

    Parameters
    ----------
    path : str or Path
        File with the model.

    Raises
    ------
    BadFileError
        If the file cannot be read, is of no known format, or breaks the rules of its format; names line and
        column.
    """
    from shortlist.products.attribute_files import attributes_beside, read_attributes

    source = read_source(path)
    kind = recognise(source)
    model = _parsed(source, kind)
    beside = attributes_beside(path) if kind is Format.DIMACS else None
    if beside is None:
        return model
    attributes = dict(model.attributes)
    for name, column in read_attributes(beside, model).columns.items():
        numbers = {i: as_decimal(str(value)) for i, value in column.items()}
        attributes[name] = {i: column[i] if n is None else n for i, n in numbers.items()}
    return dataclasses.replace(model, attributes=attributes)


def parse_model(source: Source) -> FeatureModel:
    """Read a model from a text of any format, without attribute files beside it.

    Raises BadFileError as :func:`read_model` does.
    """
    return _parsed(source, recognise(source))


def _parsed(source: Source, kind: Format) -> FeatureModel:
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
            "the file must hold a feature model, got an integer program. Read the model that it was "
            "made from."
        )
    from shortlist.products.formats.dimacs import read_dimacs

    return read_dimacs(source)


def recognise(source: Source) -> Format:
    r"""Return the format of a text.

    Raises BadFileError if the text has no format of :class:`Format`.

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
    """Return the name of the first element after declarations, instructions and comments; "" without one."""
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


WRITABLE = (Format.UVL, Format.FEATUREIDE, Format.SXFM, Format.DIMACS)
"""Formats that can be written."""

MODEL_ENDINGS = {
    ".uvl": Format.UVL,
    ".xml": Format.FEATUREIDE,
    ".sxfm": Format.SXFM,
    ".splx": Format.SXFM,
    ".dimacs": Format.DIMACS,
    ".cnf": Format.DIMACS,
}
"""The default format of each file ending."""


def format_of(path: str | Path, kind: str | None = None) -> Format:
    """Return the format to write: format `kind` if it is given, else the format of the file's ending.

    Raises BadInputError if there is no such format, or the ending belongs to none.

    >>> format_of("shop.uvl").value, format_of("shop.xml").value, format_of("shop.xml", "sxfm").value
    ('uvl', 'featureide', 'sxfm')
    """
    if kind is not None:
        return Format(as_choice(kind, "kind", [str(one) for one in WRITABLE]))
    ending = Path(path).suffix.lower()
    if ending not in MODEL_ENDINGS:
        raise BadInputError(
            f"a model must be written to a file ending in {', '.join(MODEL_ENDINGS)}, got {str(path)!r}."
        )
    return MODEL_ENDINGS[ending]


def written_model(model: FeatureModel, kind: str) -> "WrittenModel":
    """Return a model as text of a format, with the model's variable for each feature of the text."""
    chosen = format_of("", kind)
    if chosen is Format.UVL:
        from shortlist.products.formats.uvl_writer import uvl_model

        return uvl_model(model)
    if chosen is Format.FEATUREIDE:
        from shortlist.products.formats.featureide import featureide_model

        return featureide_model(model)
    if chosen is Format.SXFM:
        from shortlist.products.formats.sxfm import sxfm_model

        return sxfm_model(model)
    from shortlist.products.formats.dimacs import dimacs_model

    return dimacs_model(model)


def write_model(path: str | Path, model: FeatureModel, *, kind: str | None = None) -> None:
    """Write a model as UVL, FeatureIDE's XML, SXFM or DIMACS, whole or not at all.

    Reading the file gives the same products, cut to the features. :func:`shortlist.products.convert_model`
    proves this, and lists parts that a format cannot hold.

    Parameters
    ----------
    path : str or Path
        File to write.
    model : FeatureModel
        Model to write.
    kind : {"uvl", "featureide", "sxfm", "dimacs"}, optional
        The format. Default: by the ending, ``.uvl``, ``.xml`` (FeatureIDE), ``.sxfm`` or ``.splx``, and
        ``.dimacs`` or ``.cnf``.

    Raises
    ------
    BadInputError
        If the ending is another one, the format cannot hold the names, or the file cannot be written there.
    """
    write_text(path, written_model(model, format_of(path, kind)).text)
