"""Logs of inspect-ai: an archive ``.eval`` with a member for each sample, or one JSON file.

The log's `eval` names the task and the model, which is the judge. A sample has `id`, `epoch`, `input`,
`target`, `scores` by scorer with `value` and `answer`, `model_usage` by model with `input_tokens`,
`output_tokens` and `total_cost`, and `total_time` (inspect-ai 0.3, log version 2).

Archives of evaluation logs: ZIP files whose members may be compressed with Zstandard.

Python's own reader knows this compression, number 93 of the ZIP format, from 3.14 on. Here the bytes are
found by the directory of the archive and unpacked by pyarrow.
"""

import io
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from shortlist._words import counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.json_content import (
    Row,
    field,
    fingerprint,
    listed,
    number,
    numbers_at,
    objects,
    oddity_notes,
    parsed_json,
    plain,
    records_of_rows,
    truth_of,
)
from shortlist.panels.logs.records import LogColumns, Records, as_score
from shortlist.tables.files import read_up_to
from shortlist.tables.spreadsheets import DAMAGED

ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<4s5H3L2H")
MOST_OF_MEMBER, MOST_OF_ALL = 2**27, 2**33
"""Largest number of unpacked bytes of one member, and of all members that are read."""


def member_names(content: bytes) -> list[str]:
    """Return the names of an archive's members; empty if the content is damaged or no archive."""
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

    Raises BadFileError if the archive is damaged or encrypted, or unpacks to more bytes than allowed.

    `name`: name of the file in messages. `content`: bytes of the archive. `wanted`: names of the members.
    `most_of_member`, `most`: largest number of unpacked bytes of each member, and of all together.
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


HEADER, START = "header.json", "_journal/start.json"
"""Members with the settings of the evaluation; the header exists once the evaluation has ended."""


def is_inspect_archive(content: bytes) -> bool:
    """Return whether a file is an archive of inspect-ai."""
    return content.startswith(b"PK") and bool({HEADER, START} & set(member_names(content)))


def archive_records(source: str, content: bytes, columns: LogColumns, notes: list[str]) -> Records:
    """Return the records of an archive.

    Raises BadFileError if the archive is damaged or has no sample, or if a needed field is missing or of
    another kind.
    """
    names = member_names(content)
    about = HEADER if HEADER in names else START
    odd = Counter[str]()
    header = parsed_json(f"{source}, {about}", next(members(source, content, [about])), odd)
    if about == START:
        notes.append(f"{source}: the evaluation had not ended; the samples that were finished are read.")
    # a name that is there twice was written again, and its last member counts
    wanted = [name for name in dict.fromkeys(names) if name.startswith("samples/") and name.endswith(".json")]
    samples = (
        parsed_json(f"{source}, {name}", text, odd)
        for name, text in zip(wanted, members(source, content, wanted), strict=True)
    )
    records = _records(source, header, samples, columns, notes)
    notes += oddity_notes(source, odd)
    return records


def inspect_records(source: str, document: Any, columns: LogColumns, notes: list[str]) -> Records:
    """Return the records of a log in JSON; errors are those of :func:`archive_records`."""
    samples = field(source, document, "samples", list) or []
    return _records(source, document, samples, columns, notes)


def _records(
    source: str, header: Any, samples: Iterable[Any], columns: LogColumns, notes: list[str]
) -> Records:
    if not isinstance(header, dict):
        raise BadFileError(source, "must begin with an object", type(header).__name__, "Write it again.")
    about = field(source, header, "eval", dict, needed=True)
    model = field(source, about, "model", str, needed=True)
    judge = model if columns.judge is None else f"{model} {_setting(source, about, columns.judge)}"
    task = field(source, about, "task", str)
    rows = [
        _sample(place, sample, columns, model) | {"judge": judge, "task": task}
        for place, sample in objects(source, samples)
    ]
    _note(source, rows, columns, notes)
    failed = ("failed", "sample", "with an error, taken for no answer.")
    where = "the metadata of samples"
    return records_of_rows(source, rows, columns, notes, where=where, counts=[failed])


def _setting(source: str, about: dict[str, Any], name: str) -> str:
    """Return a setting of the evaluation that distinguishes judges with the same model."""
    parts = [about, *(field(source, about, part, dict) or {} for part in ("task_args", "metadata"))]
    found = next((part[name] for part in parts if part.get(name) is not None), None)
    if found is None:
        known = dict.fromkeys(
            key for part in parts for key, one in part.items() if isinstance(one, str | int)
        )
        got = f"{listed(known, most=8)} in the evaluation and its arguments"
        raise BadInputError(source, f"must have the setting {name!r}", got, "Pass one of them: `judge=NAME`.")
    return label_of(plain(found))


def _sample(place: str, sample: Row, columns: LogColumns, model: str) -> Row:
    """Return the record of a sample, with the `scorer` that its answer comes from; "" for none."""
    for key in ("id", "epoch"):
        if not isinstance(sample.get(key), int | str) or isinstance(sample.get(key), bool):
            got, advice = repr(sample.get(key))[:40], "Write the log again with inspect-ai."
            raise BadFileError(place, f"must have a name or number as {key!r}", got, advice)
    metadata, failed = field(place, sample, "metadata", dict) or {}, sample.get("error") is not None
    scorer, answer, score = (None, None, None) if failed else _answer(place, sample, columns.answer)
    usual = sample.get("target", metadata.get("target"))
    truth = truth_of(place, metadata | sample, columns, usual, "the sample or its metadata")
    right = [plain(one) for one in truth] if isinstance(truth, list) else [plain(truth)]
    if label_of(answer) in map(label_of, right):  # several answers are right: they count as the first of them
        answer = right[0]
    return {
        "case": sample["id"], "epoch": sample["epoch"], "content": fingerprint(sample.get("input")),
        "answer": answer, "truth": right[0] if right else None, "score": score, "scorer": scorer,
        "latency": number(sample.get("total_time")), "failed": failed, "model": model, "features": metadata,
    } | _usage(place, sample, model)  # fmt: skip


def _answer(place: str, sample: Row, scorer: str | None) -> tuple[str, Any, float | None]:
    """Return the source of the answer, the answer, and its score.

    The source is a scorer, or otherwise the completion.
    """
    scores = field(place, sample, "scores", dict) or {}
    if scorer is not None and scorer not in scores:
        got = f"scores of {listed(scores)}"
        raise BadInputError(
            place, f"must have a score of {scorer!r}", got, "Pass one of them: `answer=NAME`."
        )
    names = [scorer] if scorer is not None else list(scores)
    told = [(name, field(place, scores, name, dict) or {}) for name in names]
    for name, score in told:
        if score.get("answer") is not None:
            return name, plain(score["answer"]), as_score(score.get("value"))
    output = field(place, sample, "output", dict) or {}
    values = (as_score(score.get("value")) for _, score in told)
    return "", plain(output.get("completion")), next((one for one in values if one is not None), None)


USAGE = {
    "price": "total_cost", "input_tokens": "input_tokens", "output_tokens": "output_tokens",
    "cached_tokens": "input_tokens_cache_read", "written_tokens": "input_tokens_cache_write",
}  # fmt: skip
"""Keys of numbers in the usage of a model, by column of the records."""


def _usage(place: str, sample: Row, model: str) -> Row:
    """Return tokens and cost of the judge's model; models that only grade are left out.

    If the usage lists only other models, the judge consists of these models, and their costs are added.
    """
    used = field(place, sample, "model_usage", dict) or {}
    parts = {name: field(place, used, name, dict, needed=True) for name in used}
    if model in parts:
        graders = tuple(name for name in parts if name != model)
        return {**numbers_at(place, parts[model], USAGE), "graders": graders}
    costs = [number(part.get("total_cost")) for part in parts.values()]
    wrong = next((cost for cost in costs if not isinstance(cost, float | None)), None)
    return {"price": wrong if wrong is not None or not costs or None in costs else sum(costs)}


def _note(source: str, rows: list[Row], columns: LogColumns, notes: list[str]) -> None:
    graders = dict.fromkeys(name for row in rows for name in row.get("graders", ()))
    if graders:
        notes.append(f"{source}: the cost of {listed(graders)}, beside that of the judge, is not counted.")
    if untold := sum(row["scorer"] == "" for row in rows):
        notes.append(
            f"{source}: no scorer extracts the answer of {counted(untold, 'sample')}, so the whole "
            "output counts as the answer."
        )
    named = [name for name in dict.fromkeys(row["scorer"] for row in rows) if name]
    if columns.answer is None and len(named) > 1:
        notes.append(f"{source}: the answers are those of the scorers {listed(named)}. Name one.")
