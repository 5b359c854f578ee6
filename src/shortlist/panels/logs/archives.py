"""Archives of evaluation logs: ZIP files whose members may be compressed with Zstandard.

Python's own reader knows this compression, number 93 of the ZIP format, from 3.14 on; here its bytes are
found by the directory of the archive and unpacked by pyarrow.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

from shortlist.errors import BadFileError
from shortlist.tables.files import read_up_to
from shortlist.tables.workbooks import DAMAGED

ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<4s5H3L2H")
MOST_OF_MEMBER, MOST_OF_ALL = 2**27, 2**33
"""Bytes that one member, and all that are read one after the other, may unpack to."""


def member_names(content: bytes) -> list[str]:
    """Return the names of an archive's members; none where it is no archive, or a damaged one."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.namelist()
    except DAMAGED:
        return []


def members(
    name: str,
    content: bytes,
    wanted: list[str],
    *,
    most_of_member: int = MOST_OF_MEMBER,
    most: int = MOST_OF_ALL,
) -> Iterator[bytes]:
    """Yield the bytes of members of an archive, one after the other.

    Raises BadFileError if the archive is damaged or encrypted, or unpacks to more.

    Parameters
    ----------
    name : What messages call the file.
    content : Of the archive.
    wanted : The members' names.
    most_of_member, most : Bytes that each of them, and all together, may unpack to.
    """
    left = most
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for one in wanted:
                unpacked = _member(name, content, archive, archive.getinfo(one), min(left, most_of_member))
                left -= len(unpacked)
                yield unpacked
    except BadFileError:
        raise
    except (KeyError, *DAMAGED) as error:
        raise BadFileError(
            f"{name} is a damaged archive: {str(error).splitlines()[0] if str(error) else 'it ends early'}. "
            "Write the log again."
        ) from None


def _member(name: str, content: bytes, archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    if member.compress_type != ZSTANDARD:
        with archive.open(member) as stream:
            return read_up_to(name, stream, most)
    if member.flag_bits & 0x1:
        raise BadFileError(f"{name} is encrypted. Write the log without a password.")
    header = LOCAL_HEADER.unpack_from(content, member.header_offset)
    start = member.header_offset + LOCAL_HEADER.size + header[9] + header[10]
    packed = content[start : start + member.compress_size]
    if header[0] != b"PK\x03\x04" or len(packed) != member.compress_size:
        raise BadFileError(f"{name} is a damaged archive: it ends early. Write the log again.")
    unpacked = _of_zstandard(name, packed, most)
    if zlib.crc32(unpacked) != member.CRC:
        raise BadFileError(f"{name} is a damaged archive: its check sum is wrong. Write the log again.")
    return unpacked


def _of_zstandard(name: str, packed: bytes, most: int) -> bytes:
    import pyarrow as pa

    # pyarrow's errors are OSErrors, which `members` turns into a sentence
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        return read_up_to(name, stream, most)
