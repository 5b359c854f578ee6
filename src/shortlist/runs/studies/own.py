"""What this user's Shortlist wrote on this machine is known again by a signature with the user's key."""

import contextlib
import hashlib
import hmac
import os
import pickle
import secrets
from pathlib import Path
from typing import Any

from shortlist.files import own_files_list

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
