"""Files: written whole or not at all, unpickled only if trusted, and read as text of a model."""

import contextlib
import hashlib
import io
import os
import re
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shortlist
from shortlist.errors import BadFileError, BadInputError, UntrustedFileError, UnwritableFileError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


STDIN = "-"
"""Name of standard input."""

EXAMPLE_PREFIX = "example:"
"""Prefix of the name of a data set, in place of a file."""

PICKLE_BEGINNINGS = (b"\x80", b"x", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"]\x00", b"\x04\x22\x4d\x18")
"""First bytes of joblib's files: a pickle, or one packed by zlib, gzip, bz2, xz, lzma or lz4."""

OWN_MODULE = re.compile(r"'shortlist[.']")
"""Pattern of the error about a module of Shortlist, or a name in one, that was not found."""

_LACKING = re.compile(
    r"Can't get attribute '([^']+)' on <module '([^']+)'|module '([^']+)' has no attribute '([^']+)'"
)
"""Pattern of the unpickler's message about a class that its module lacks."""

VERSION_IN_PICKLE = re.compile(rb"\x8c\x07version\x94?\x8c.([0-9][0-9A-Za-z.+]*)", re.DOTALL)
"""Pattern of the field ``version`` of a saved model, a text in a pickle."""


def check_writable(path: str | Path, name: str = "out") -> None:
    """Raise an error now if :func:`whole_file` would raise it after hours of work.

    `name`: the user's name for the file.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise UnwritableFileError(f"{name} must be a file, got the folder {target}. Add a file name.")
    if target.exists() and not target.is_file():
        raise UnwritableFileError(
            f"{name} must be an ordinary file, got the device or pipe {target}. Name a file."
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise UnwritableFileError(f"{target} cannot be written: it is protected. Name another file.")
    if not os.access(target.parent, os.W_OK):
        reason = "Permission denied" if target.parent.is_dir() else "its folder does not exist"
        raise UnwritableFileError(f"{target} cannot be written: {reason}. Choose a folder that exists.")


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`, renamed to `path` if the block ends without an error.

    Raises UnwritableFileError if the folder of `path` does not exist or cannot be written, or `path` is a
    folder.
    """
    check_writable(path)
    target = Path(path).resolve()  # a link stays a link
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise UnwritableFileError(
            f"{target} cannot be written: {error.strerror}. Choose a folder that exists."
        ) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_bytes(path: str | Path) -> bytes:
    """Read a file; a missing or unreadable file raises :class:`BadFileError`."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise BadFileError(f"{path} cannot be read: {error.strerror}. Check the path.") from None


def read_parquet(path: str | Path) -> "pa.Table":
    """Read a Parquet file without starting a thread.

    ``pyarrow.parquet.read_table`` and ``pandas.read_parquet`` leave threads behind that may still run when
    Python ends; then the process aborts ("terminate called without an active exception", exit code 134)
    although all went well. Turn the table into a frame with ``to_pandas(use_threads=False)``, which starts no
    thread either. Raises BadFileError if the file cannot be read, or is damaged.
    """
    return parquet_table(str(path), read_bytes(path))


def parquet_table(name: str, content: bytes) -> "pa.Table":
    """Return the table in the bytes of a Parquet file; see :func:`read_parquet`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with (
        undamaged_parquet(name),
        pq.ParquetFile(pa.BufferReader(content), pre_buffer=False, page_checksum_verification=True) as file,
    ):
        return file.read(use_threads=False)


def parquet_frame(name: str, table: "pa.Table") -> "pd.DataFrame":
    """Return the table of :func:`read_parquet` as a frame, with the index that the file states."""
    with undamaged_parquet(name):
        return table.to_pandas(use_threads=False)


@contextlib.contextmanager
def undamaged_parquet(name: str) -> Iterator[None]:
    """Raise BadFileError, with the file's name, for any error that a damaged Parquet file causes."""
    try:
        yield
    except Exception as error:  # pyarrow and pandas raise nearly any error here
        first_line = next(iter(str(error).splitlines()), "").rstrip(". ") or type(error).__name__
        raise BadFileError(
            f"{name} must be a Parquet file, but reading it failed: {first_line}. Write it anew."
        ) from error


def write_parquet(table: "pa.Table", path: str | Path) -> None:
    """Write a table as Parquet, whole or not at all; see :func:`read_parquet`."""
    import pyarrow.parquet as pq

    with whole_file(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def dump_object(value: object, path: str | Path) -> None:
    """Pickle `value` to `path` with joblib; add the file's SHA-256 to the list of this user's files."""
    import joblib

    with whole_file(path) as temporary:
        joblib.dump(value, temporary, compress=3)
        digest = hashlib.sha256(temporary.read_bytes()).hexdigest()
    _note_own(digest)


def load_object(path: str | Path, *, trust: bool = False) -> Any:
    """Unpickle a file of :func:`dump_object` or joblib.

    Unpickling runs code from the file, so it happens only for a file whose bytes this user's own Shortlist
    wrote on this machine (its SHA-256 is on the user's list), or with ``trust=True``. Raises
    UntrustedFileError if the file is not one of the user's own and `trust` is False. Raises BadFileError if
    the file cannot be read or is not a joblib file.
    """
    content = read_bytes(path)
    if content.startswith(b"{") and b'"shortlist-policy"' in content[:100]:
        raise BadFileError(
            f"{path} is an exported policy, and no model. Answer by it with its reader: "
            f"python reader.py {path} TABLE.csv."
        )
    if not content.startswith(PICKLE_BEGINNINGS):
        raise BadFileError(
            f"{path} must be a file written by joblib, got another kind of file. Check the path."
        )
    if not trust and hashlib.sha256(content).hexdigest() not in _own_digests():
        raise UntrustedFileError(
            f"{path} is not one of the files that Shortlist wrote for you on this machine, and loading it "
            "runs the code inside it. Pass `trust=True` if you trust whoever made it, or "
            "made it yourself."
        )
    import joblib

    try:
        return joblib.load(io.BytesIO(content))
    except Exception as error:  # a damaged pickle may raise any error
        if isinstance(error, ImportError | AttributeError) and OWN_MODULE.search(str(error)):
            raise BadFileError(
                f"{path} was written by {_writer(content)}, and this one, {shortlist.__version__}, cannot "
                "read it. Make it again, with the command that made it."
            ) from None
        if needed := module_needed(error):
            raise BadFileError(f"{path} {needed}") from None
        reason = ": ".join(filter(None, [type(error).__name__, str(error)]))
        raise BadFileError(
            f"{path} must be a file written by joblib, but reading it failed ({reason}). "
            "Write it again with joblib.dump and the versions installed here."
        ) from error


def module_needed(error: Exception) -> str:
    """Return a sentence about a user's module that a pickle needs, or an empty text."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return (
            f"needs the module {error.name!r}, which is not importable here. Install it, or set PYTHONPATH "
            f"to the folder of {error.name.partition('.')[0]}.py."
        )
    found = _LACKING.search(str(error)) if isinstance(error, AttributeError) else None
    if found is None:
        return ""
    name, module = found[1] or found[4], found[2] or found[3]
    place = "in the script that wrote it" if module == "__main__" else f"in module {module!r}"
    return (
        f"needs {name!r}, which was defined {place} and is not there now. Define it in a module of "
        "its own, write the file again, and set PYTHONPATH to the folder of that module."
    )


def _writer(content: bytes) -> str:
    """Return the version of Shortlist that wrote a file, if it is known and not this version."""
    with contextlib.suppress(zlib.error):
        content = zlib.decompress(content)
    found = VERSION_IN_PICKLE.search(content)
    version = found[1].decode("ascii") if found else shortlist.__version__
    return "another version of Shortlist" + (f", {version}" if version != shortlist.__version__ else "")


def own_files_list() -> Path:
    """Return the path of the list of this user's pickles by SHA-256, in ``$XDG_DATA_HOME`` or home."""
    return _user_folder("XDG_DATA_HOME", ".local/share") / "own-files.sha256"


def cache_folder(part: str) -> Path:
    """Return the user's cache folder of a part, such as ``datasets``; its content can be made again.

    It is ``shortlist/PART`` in ``$XDG_CACHE_HOME``, or in ``~/.cache`` without that variable. It may not
    exist yet. Raises BadFileError if the user has no home, and the variable holds no absolute path.
    """
    try:
        return _user_folder("XDG_CACHE_HOME", ".cache") / part
    except RuntimeError:
        raise BadFileError(
            "there is no folder for the cache, since this user has no home. Set XDG_CACHE_HOME to a folder."
        ) from None


def _user_folder(variable: str, below_home: str) -> Path:
    """Return Shortlist's folder in the folder of an XDG variable, or in the home folder.

    Relative paths are ignored, as the specification requires: they would depend on the current folder.
    Raises RuntimeError if the user has no home.
    """
    named = Path(os.environ.get(variable, ""))
    if not named.is_absolute():
        named = Path.home() / below_home
        if not named.is_absolute():
            raise RuntimeError("the home of this user is a relative path")
    return named / "shortlist"


def _own_digests() -> set[str]:
    try:
        return set(own_files_list().read_text(encoding="ascii").split())
    except (OSError, RuntimeError, UnicodeDecodeError):  # RuntimeError: a user without a home
        return set()


def _note_own(digest: str) -> None:
    """Add `digest` to the user's list; without a home folder the file will need `trust`."""
    with contextlib.suppress(OSError, RuntimeError):
        own_files_list().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with own_files_list().open("a", encoding="ascii") as own:
            own.write(f"{digest}\n")


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


MAX_BYTES = 2**29
"""Most bytes of an unpacked file; larger files are refused."""

MOST_DIGITS = 18
"""Most digits of an integer in a model."""


@dataclass(frozen=True)
class Source:
    """Name and text of a file; lines end in a line feed."""

    path: str
    text: str

    def error(self, sentence: str, *, line: int | None = None, column: int | None = None) -> BadFileError:
        """Return the error to raise: file, line and column from 1 if known, then the sentence."""
        place = "".join(f":{number}" for number in (line, column) if number is not None)
        return BadFileError(f"{self.path}{place}: {sentence}")

    def lines(self) -> Iterator[tuple[int, str]]:
        r"""Yield number and text of the lines that are not blank.

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
        """Return an integer of up to 18 digits; the error about any other text begins with `what`."""
        if not text.isdecimal() or len(text) > MOST_DIGITS:
            raise self.error(
                f"{what} must be a whole number of at most {MOST_DIGITS} digits, got {text[:40]!r}.",
                line=line,
            )
        return int(text)

    def located(self, error: BadInputError) -> BadFileError:
        """Return an error with the name of this file; an error that has a location is not changed."""
        return error if isinstance(error, BadFileError) else self.error(str(error))


def read_source(path: str | Path) -> Source:
    """Read a text file; gzip is unpacked.

    Raises BadFileError if the file cannot be read, is empty or no text, or its compression is damaged.
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
        text.encode()  # some encodings yield half a character, which no file can hold
    except (UnicodeError, LookupError):
        raise BadFileError(f"{path} must be text in {encoding}, but is not. Save it as UTF-8.") from None
    return Source(str(path), text.replace("\r\n", "\n").replace("\r", "\n"))


def unpacked(content: bytes, path: str | Path) -> bytes:
    """Unpack gzip, up to a limit of bytes."""
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
