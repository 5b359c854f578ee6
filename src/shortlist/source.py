"""The text of a file that is to be read as a model, and errors that name the place."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shortlist.errors import BadFileError, BadInputError
from shortlist.files import read_bytes

MAX_BYTES = 2**29
"""A compressed file that holds more than this is refused."""

MOST_DIGITS = 18
"""A whole number in a model has at most as many digits."""


@dataclass(frozen=True)
class Source:
    """A file's name and text; lines end in a line feed."""

    path: str
    text: str

    def error(self, sentence: str, *, line: int | None = None, column: int | None = None) -> BadFileError:
        """Return the error to raise: file, line and column from 1 where known, then the sentence."""
        place = "".join(f":{number}" for number in (line, column) if number is not None)
        return BadFileError(f"{self.path}{place}: {sentence}")

    def lines(self) -> Iterator[tuple[int, str]]:
        r"""Yield number and text of the lines that say something, one after the other.

        >>> list(Source("a", "x\n\n y\n").lines())
        [(1, 'x'), (3, ' y')]
        """
        line, end = 1, 0
        for found in re.finditer(r"[^\n]+", self.text):
            line += self.text.count("\n", end, found.start())
            end = found.start()
            if not found[0].isspace():
                yield line, found[0]

    def whole_number(self, text: str, what: str, line: int | None) -> int:
        """Return the number that up to 18 digits spell; `what` begins the sentence if they do not."""
        if not text.isdecimal() or len(text) > MOST_DIGITS:
            raise self.error(
                f"{what} must be a whole number of at most {MOST_DIGITS} digits, got {text[:40]!r}.",
                line=line,
            )
        return int(text)

    def located(self, error: BadInputError) -> BadFileError:
        """Return an error with its file; one that has its place already stays as it is."""
        return error if isinstance(error, BadFileError) else self.error(str(error))


def read_source(path: str | Path) -> Source:
    """Read a text file, undoing gzip.

    Raises BadFileError if the file cannot be read, is empty or no text, or its compression is broken.
    """
    content = read_bytes(path)
    if content[:2] == b"\x1f\x8b":
        content = unpacked(content, path)
    if not content.strip():
        raise BadFileError(f"{path} is empty. Is it the right file?")
    if b"\0" in content[:4096]:
        raise BadFileError(f"{path} must be a text file, got binary data. Is it the right file?")
    encoding = _declared_encoding(content)
    try:
        text = content.decode(encoding)
        text.encode()  # some encodings spell half of a character, which no file can hold
    except (UnicodeError, LookupError):
        raise BadFileError(f"{path} must be text in {encoding}, but is not. Save it as UTF-8.") from None
    return Source(str(path), text.replace("\r\n", "\n").replace("\r", "\n"))


def unpacked(content: bytes, path: str | Path) -> bytes:
    """Undo gzip, up to a size."""
    parts, size = [], 0
    while content:
        stream = zlib.decompressobj(wbits=31)
        try:
            parts.append(stream.decompress(content, MAX_BYTES - size + 1))
        except zlib.error:
            raise BadFileError(
                f"{path} must be a whole gzip file, but it is damaged. Get it again."
            ) from None
        size += len(parts[-1])
        if size > MAX_BYTES:
            raise BadFileError(
                f"{path} unpacks to more than {MAX_BYTES:,} bytes. Unpack it first if you trust it."
            )
        if not stream.eof:
            raise BadFileError(f"{path} must be a whole gzip file, but it ends early. Get it again.")
        content = stream.unused_data.lstrip(b"\0")
    return b"".join(parts)


def _declared_encoding(content: bytes) -> str:
    """Return the encoding that an XML declaration names, or UTF-8."""
    found = re.match(rb"\s*<\?xml[^>]*encoding=[\"']([A-Za-z0-9._-]+)[\"']", content[:200])
    name = found[1].decode("ascii").lower() if found else "utf-8"
    return "utf-8-sig" if name in {"utf-8", "utf8"} else name
