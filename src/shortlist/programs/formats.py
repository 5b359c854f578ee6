"""Program files: the reader that the content of a file asks for."""

import re
from pathlib import Path

from shortlist.programs.lp_format import read_lp
from shortlist.programs.mps_format import read_mps
from shortlist.programs.named_program import NamedProgram
from shortlist.source import Source, read_source


def read_program(path: str | Path) -> NamedProgram:
    """Read an integer program in LP or MPS format; gzip is undone.

    The content decides the format, not the ending.

    Raises BadFileError if the file cannot be read, is neither, or breaks the rules of its format; names the
    line.
    """
    source = read_source(path)
    return read_mps(source) if is_mps(source) else read_lp(source)


def is_mps(source: Source) -> bool:
    r"""Tell whether a text begins as MPS does, with NAME, OBJSENSE or ROWS.

    >>> is_mps(Source("a", "* a comment\nNAME lamp\nROWS\n")), is_mps(Source("b", "Minimize\n x\n"))
    (True, False)
    """
    return re.match(r"(?:\*[^\n]*+\n|\s++)*+(?:NAME|ROWS|OBJSENSE)\b", source.text, re.IGNORECASE) is not None
