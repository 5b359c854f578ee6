"""Compile every kernel once, before the workers of the tests start: ``python -m tests.compile_kernels``.

Each worker would compile for itself what it calls first; what is compiled is kept beside the sources.
"""

import importlib
from pathlib import Path

import shortlist
import shortlist_papers
from shortlist._jit import Deferred

FOLDERS = [Path(str(package.__file__)).parent for package in (shortlist, shortlist_papers)]


def kernels() -> list[Deferred[..., object]]:
    """Return every kernel of both packages, compiled when it is called or made."""
    modules = [
        ".".join((folder.name, *path.relative_to(folder).with_suffix("").parts))
        for folder in FOLDERS
        for path in sorted(folder.rglob("*.py"))
        if "@kernel" in path.read_text(encoding="utf-8")
    ]
    found = [one for name in modules for one in vars(importlib.import_module(name)).values()]
    return [one for one in found if isinstance(one, Deferred)]


if __name__ == "__main__":
    for one in kernels():
        one.made()
