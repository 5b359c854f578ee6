"""Studies that nobody named: in the user's cache, found again by question, and cleared by age and size."""

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shortlist.errors import BadFileError
from shortlist.files import cache_folder
from shortlist.runs.studies.question import versions
from shortlist.runs.studies.study_file import is_held, remove_study

MOST_DAYS = 30
"""Days after which a study that nobody went on with is removed."""

MOST_CACHED_BYTES = 2 * 10**9
"""Bytes that all studies of the cache may have together; the oldest go first."""

AFTER_S = 1.0
"""Seconds of work before a study of the cache gets a file: a command that ends sooner leaves none."""


def study_in_cache(command: str, options: Mapping[str, Any], data: str) -> Path | None:
    """Return where the study of a question is, which need not be there; None without a cache to write to."""
    asked = json.dumps([command, sorted(options.items()), data, versions()], default=str).encode()
    name = f"{command.replace(' ', '-')}-{hashlib.sha256(asked).hexdigest()[:16]}.db"
    try:
        folder = cache_folder("studies")
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, BadFileError):
        return None
    return folder / name


def studies_in_cache() -> list[Path]:
    """Return the studies of the cache, the latest first."""
    with contextlib.suppress(OSError, BadFileError):
        return sorted(cache_folder("studies").glob("*.db"), key=_age_s)
    return []


def clear_cache(*, most_days: float = MOST_DAYS, most_bytes: int = MOST_CACHED_BYTES) -> list[Path]:
    """Remove the studies that are too old, and the oldest while all are too large; return those removed.

    Studies that a process works on stay.
    """
    removed, size = [], 0
    for path in studies_in_cache():
        with contextlib.suppress(OSError):
            size += path.stat().st_size
            if (_age_s(path) > most_days * 86400 or size > most_bytes) and not is_held(path):
                remove_study(path)
                removed.append(path)
    return removed


def _age_s(path: Path) -> float:
    """Return the seconds since a study was last written to."""
    try:
        return time.time() - max(
            file.stat().st_mtime for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()
        )
    except (OSError, ValueError):
        return 0.0
