"""Packages whose public names are loaded at first use.

Such a package lists its names once, in a stub ``__init__.pyi`` next to its ``__init__.py``, as imports of
the form ``from shortlist.results.front import Front as Front``. Type checkers and editors read the stub as
any other; :func:`lazy_package` reads the same lines at run time.

A line without ``as`` exports nothing, as in any stub. It gives the module of a class that saved models name
by the package (see :mod:`shortlist.pickles`).
"""

import ast
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any


def lazy_package(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, from its stub.

    Raises ImportError if the package was installed without its stub.
    """
    try:
        stub = pkgutil.get_data(package, "__init__.pyi")
    except FileNotFoundError:
        stub = None
    if stub is None:
        raise ImportError(f"{package} was installed without its file __init__.pyi. Install it again.")
    homes = {
        alias.asname or alias.name: (line.module, alias.name)
        for line in ast.parse(stub).body
        if isinstance(line, ast.ImportFrom) and line.module
        for alias in line.names
    }
    public = sorted(
        alias.name
        for line in ast.parse(stub).body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
        if alias.asname == alias.name
    )

    def load_name(name: str) -> Any:
        if name not in homes:
            from shortlist.papers import absent

            raise absent(package, name)
        module, own = homes[name]
        return getattr(importlib.import_module(module), own)

    return load_name, lambda: sorted({*public, *vars(importlib.import_module(package))}), public
