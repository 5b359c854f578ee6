"""What a study was asked, by which versions, and signatures of what this user wrote."""

import contextlib
import hashlib
import hmac
import importlib.metadata
import json
import os
import pickle
import platform
import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import shortlist
from shortlist.files import own_files_list
from shortlist.runs.studies.study import Study

MARK = b"shortlist-own-1\n"
"""What signed bytes begin with."""

PICKLE = b"pickle\n"
"""What a pickle begins with that was signed as one, so that nothing else that was signed is loaded as one."""


def signed(content: bytes) -> bytes:
    """Return bytes with the user's signature before them; without a home to keep a key in, as they are."""
    key = _key()
    return content if key is None else MARK + hmac.digest(key, content, "sha256") + content


def opened(content: bytes) -> bytes | None:
    """Return the bytes that :func:`signed` was given; None unless this user signed them on this machine."""
    key = _key()
    length = len(MARK) + hashlib.sha256().digest_size
    body = content[length:]
    if key is None or not content.startswith(MARK):
        return None
    own = hmac.compare_digest(content[len(MARK) : length], hmac.digest(key, body, "sha256"))
    return body if own else None


def packed_object(value: Any) -> bytes:
    """Return the signed pickle of a value, for a study."""
    return signed(PICKLE + pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))


def unpacked_object(content: Any) -> Any:
    """Return the value of :func:`packed_object`; None for anything that this user did not sign here."""
    body = opened(content) if isinstance(content, bytes) else None
    if body is None or not body.startswith(PICKLE):
        return None
    return pickle.loads(body[len(PICKLE) :])  # noqa: S301  # signed by this user's own Shortlist


def _key() -> bytes | None:
    """Return the user's key, made at its first use; None where there is no home to keep it in."""
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: a user without a home
        path = own_files_list().with_name("studies.key")
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write_once(path)
        key = path.read_bytes()
        return key if len(key) == 32 else None
    return None


def _write_once(path: Path) -> None:
    """Write a new key, whole, unless another process has done so meanwhile."""
    place = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(secrets.token_bytes(32))
    with contextlib.suppress(FileExistsError):
        os.link(place, path)
    place.unlink()


PACKAGES_THAT_SHOW = ("numpy", "scipy", "scikit-learn", "numba", "highspy", "ortools", "joblib")
"""Packages whose versions may show in results."""


def ask(study: Study, command: str, words: Sequence[str]) -> None:
    """Note in a study what is asked of it now; the first command decides which studies it goes with.

    Raises BadInputError if the study belongs to another command.
    """
    study.bind({"the command": command})
    begun = study.noted("begun")
    folder = _folder()
    study.note(
        {
            "command": command,
            "words": list(words),
            "folder": folder,
            "signature": signed(_said(words, folder)).hex(),
            "versions": versions(),
            "begun": time.time() if begun is None else begun,
        }
    )


def own_words(asked: Mapping[str, Any]) -> list[str] | None:
    """Return the command line that was noted, or None unless this user's Shortlist noted it on this machine.

    What a stranger's study says is never run: a command may load pickles and overwrite files.
    """
    words, folder = list(asked.get("words", [])), str(asked.get("folder", ""))
    try:
        said = opened(bytes.fromhex(asked.get("signature", "")))
    except (TypeError, ValueError):
        return None
    return words if said == _said(words, folder) else None


def _said(words: Sequence[str], folder: str) -> bytes:
    return json.dumps([list(words), folder]).encode()


def versions() -> dict[str, str]:
    """Return the versions of Shortlist, Python, and the packages that may show in results."""
    found = {"shortlist": shortlist.__version__, "python": platform.python_version()}
    for name in PACKAGES_THAT_SHOW:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return os.sep
