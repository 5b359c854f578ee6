"""What a study was asked: the command with its options, where, when, and by which versions."""

import contextlib
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import shortlist
from shortlist.runs.studies.own import opened, signed
from shortlist.runs.studies.study import Study

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
    """Return the folder that relative paths are meant from."""
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return os.sep
