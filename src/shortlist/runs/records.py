"""Contents of a study as JSON or bytes: settings, digests, states of a unit, and signed objects."""

import contextlib
import dataclasses
import hashlib
import hmac
import io
import json
import os
import pickle
import platform
import secrets
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import shortlist
from shortlist.files import own_files_list


def as_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as settings of a study, converted from any types.

    >>> as_settings({"weights": {0: 1.5}, "prices": np.array([1, 2])})
    {'weights': [[0, 1.5]], 'prices': [1, 2]}
    """
    return {name: _plain(value) for name, value in parameters.items()}


def _plain(value: Any) -> Any:
    """Return the JSON form of a value; its text if the value has no JSON form."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    is_estimator = hasattr(value, "get_params")  # whose text has its class and what is not usual
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not is_estimator:
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return [[_plain(name), _plain(each)] for name, each in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | None) else repr(value)


def digest_of_arrays(arrays: Iterable[NDArray[Any]]) -> str:
    """Return a digest of arrays of numbers, with their shapes and types."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


PACKAGES_THAT_SHOW = ("numpy", "scipy", "scikit-learn", "numba", "highspy", "ortools", "joblib")
"""Packages whose versions may affect results."""


def versions() -> dict[str, str]:
    """Return the versions of Shortlist, Python, and the packages that may affect results."""
    from importlib import metadata

    found = {"shortlist": shortlist.__version__, "python": platform.python_version()}
    for name in PACKAGES_THAT_SHOW:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


FACTS = "facts"
"""Name of the array that holds the facts, as JSON."""


@dataclass(frozen=True, eq=False)
class KeptState:
    """State of a unit: arrays and facts, which are stored without pickles."""

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Arrays of numbers, truth values, text or records, of any shape; no Python objects."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Facts that JSON represents exactly."""

    def packed(self) -> bytes:
        """Return the state as bytes, each array with its type and shape.

        >>> state = opened_state(KeptState({"a": np.arange(3)}, {"b": 2}).packed())
        >>> state.arrays["a"].tolist(), state.facts
        ([0, 1, 2], {'b': 2})
        """
        facts = np.frombuffer(json.dumps(self.facts).encode(), dtype=np.uint8)
        packed = io.BytesIO()
        np.savez(packed, allow_pickle=False, **{**self.arrays, FACTS: facts})
        return packed.getvalue()


def opened_state(content: bytes) -> KeptState:
    """Undo :meth:`KeptState.packed`; raise ValueError for other bytes."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as opened:
            arrays = {name: opened[name] for name in opened.files}
        return KeptState(arrays, json.loads(arrays.pop(FACTS).tobytes()))
    except (zipfile.BadZipFile, AttributeError, EOFError, KeyError, OSError, TypeError) as error:
        raise ValueError(str(error)) from None


def random_facts(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator as a JSON object, for ``rng.bit_generator.state``.

    >>> rng = np.random.default_rng(0)
    >>> facts, draw = random_facts(rng), rng.random()
    >>> rng.bit_generator.state = facts
    >>> rng.random() == draw
    True
    """
    plain: dict[str, Any] = json.loads(json.dumps(dict(rng.bit_generator.state), default=np.ndarray.tolist))
    return plain


MARK = b"shortlist-own-1\n"
"""Prefix of signed bytes."""

PICKLE = b"pickle\n"
"""Prefix of signed pickles, so that no other signed bytes are loaded as a pickle."""


def signed(content: bytes) -> bytes:
    """Return bytes after the user's signature; without a signature if there is no home folder for a key."""
    key = _key()
    return content if key is None else MARK + hmac.digest(key, content, "sha256") + content


def opened(content: bytes) -> bytes | None:
    """Return the bytes given to :func:`signed`; None if they were not signed by this user on this machine."""
    key = _key()
    length = len(MARK) + hashlib.sha256().digest_size
    body = content[length:]
    if key is None or not content.startswith(MARK):
        return None
    own = hmac.compare_digest(content[len(MARK) : length], hmac.digest(key, body, "sha256"))
    return body if own else None


def _key() -> bytes | None:
    """Return the user's key, made at first use; None if there is no home folder for the key."""
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: a user without a home
        path = own_files_list().with_name("studies.key")
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            place = path.with_name(f"{path.name}.{os.getpid()}")
            with open(place, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(secrets.token_bytes(32))
            with contextlib.suppress(FileExistsError):  # another process was faster
                os.link(place, path)
            place.unlink()
        key = path.read_bytes()
        return key if len(key) == 32 else None
    return None


def packed_object(value: Any) -> bytes:
    """Return the signed pickle of a value, for a study."""
    return signed(PICKLE + pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))


def unpacked_object(content: Any) -> Any:
    """Return the value of :func:`packed_object`; None if it was not signed by this user on this machine."""
    body = opened(content) if isinstance(content, bytes) else None
    if body is None or not body.startswith(PICKLE):
        return None
    return pickle.loads(body[len(PICKLE) :])  # noqa: S301  # signed by this user's own Shortlist


def signed_words(words: Sequence[str], folder: str) -> str:
    """Return the user's signature of a command line and its folder, as text."""
    return signed(json.dumps([list(words), folder]).encode()).hex()


def own_words(asked: Mapping[str, Any]) -> list[str] | None:
    """Return the noted command line; None if it was not signed by this user on this machine.

    A command line in another person's study is never run: it may load pickles and overwrite files.
    """
    words, folder = list(asked.get("words", [])), str(asked.get("folder", ""))
    with contextlib.suppress(TypeError, ValueError):  # the signature is no text or no number
        if opened(bytes.fromhex(asked.get("signature", ""))) == json.dumps([words, folder]).encode():
            return words
    return None
