"""Compile every kernel once, before the workers of the tests start: ``python -m tests.compile_kernels``.

Each worker would compile for itself what it calls first; what is compiled is kept beside the sources.
"""

import importlib
from pathlib import Path

import shortlist
from shortlist._jit import Deferred

ROOT = Path(shortlist.__file__).parent


def kernels() -> list[Deferred[..., object]]:
    """Return every kernel of the library, compiled when it is called or made."""
    modules = [
        ".".join(("shortlist", *path.relative_to(ROOT).with_suffix("").parts))
        for path in sorted(ROOT.rglob("*.py"))
        if "@kernel" in path.read_text(encoding="utf-8")
    ]
    found = [one for name in modules for one in vars(importlib.import_module(name)).values()]
    return [one for one in found if isinstance(one, Deferred)]


if __name__ == "__main__":
    for one in kernels():
        one.made()
