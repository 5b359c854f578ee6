"""The reference: one page per public package, from the same lists that the packages export.

A docstring may also name something inside the house, as ``:func:`shortlist.exact.as_exact```. It becomes a
link where the name is public under another path, and plain code where it is not public; a name that does not
exist stays a warning.
"""

import importlib
import inspect
from pathlib import Path
from typing import Any

from docutils import nodes

PACKAGES = {
    "shortlist.ensembles": "Pruned and evolved ensembles",
    "shortlist.multistage": "Multi-stage classifiers",
    "shortlist.products": "Product lines",
    "shortlist.panels": "Panels of judges",
    "shortlist.milp": "Integer programs and solvers",
    "shortlist.runs": "Budgets, progress and units of work",
    "shortlist": "The front door",
}
"""Public packages and what a reader finds there. A name is described in the first one that has it."""

KINDS = ("Classes", "Functions", "Values")


def public_names(package: str) -> dict[str, list[str]]:
    """Return the public names of a package by kind, sorted, each with the path where it is described."""
    module = importlib.import_module(package)
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name in sorted(module.__all__):
        value = getattr(module, name)
        kind = "Classes" if inspect.isclass(value) else "Functions" if inspect.isroutine(value) else "Values"
        found[kind].append(f"{_home(name)}.{name}")
    return found


def described_path(value: Any) -> str | None:
    """Return the path under which something is described, None if it is not public."""
    name = getattr(value, "__name__", None)
    if name is None:
        return None
    home = _home(name)
    return f"{home}.{name}" if home and getattr(importlib.import_module(home), name) is value else None


def named(path: str, context: dict[str, Any]) -> tuple[bool, Any]:
    """Return whether a name exists, as a path or within the module or class of a docstring; and its value."""
    places = [path]
    if context.get("py:module"):
        places.append(f"{context['py:module']}.{path}")
        if context.get("py:class"):
            places.append(f"{context['py:module']}.{context['py:class']}.{path}")
    for place in places:
        if place.startswith("shortlist"):
            found, value = _loaded(place)
            if found:
                return True, value
    return False, None


def resolve(_app: Any, env: Any, node: Any, content: Any) -> Any:
    """Turn the name of something in the house into a link, or into plain code if it is not public."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    found, value = named(target, node)
    if not found:
        found, value = _in_own_module(target, node)
    if not found:
        return None
    path = described_path(value)
    domain = env.get_domain("py")
    if path and path in domain.objects:
        entry = domain.objects[path]
        reference = nodes.reference("", "", internal=True)
        reference["refuri"] = _app.builder.get_relative_uri(env.docname, entry.docname) + "#" + entry.node_id
        reference.append(content)
        return reference
    return nodes.literal("", content.astext(), classes=["py"])


def write_pages(app: Any, _config: Any) -> None:
    """Write the page of every package, before Sphinx looks which pages there are."""
    folder = Path(app.srcdir) / "reference" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    for package, title in PACKAGES.items():
        text = _page(package, title)
        page = folder / f"{package}.rst"
        if not page.exists() or page.read_text() != text:
            page.write_text(text)
    paths = {path for package in PACKAGES for kind in public_names(package).values() for path in kind}
    for page in (folder / "names").glob("*.rst"):
        if page.stem not in paths:  # of a name that is public no longer
            page.unlink()


def setup(app: Any) -> dict[str, bool]:
    """Register the hooks."""
    app.connect("config-inited", write_pages)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _home(name: str) -> str:
    """Return the first package that exports a name."""
    return next((each for each in PACKAGES if name in importlib.import_module(each).__all__), "")


def _loaded(path: str) -> tuple[bool, Any]:
    """Follow a dotted path through modules and attributes."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if hasattr(value, part):
                value = getattr(value, part)
            elif part in getattr(value, "__annotations__", {}):
                return True, None
            else:
                return False, None
        return True, value
    return False, None


def _in_own_module(name: str, context: dict[str, Any]) -> tuple[bool, Any]:
    """Look a short name up where the class that is being described was written, or among the public ones."""
    found, owner = _loaded(f"{context.get('py:module')}.{context.get('py:class') or ''}".rstrip("."))
    module = inspect.getmodule(owner) if found else None
    home = module.__name__ if module else _home(name)
    return _loaded(f"{home}.{name}") if home else (False, None)


def _page(package: str, title: str) -> str:
    """Return the page of a package: a table of its names for each kind."""
    heading = f"{title}: ``{package}``"
    lines = [heading, "=" * len(heading), ""]
    for kind, paths in public_names(package).items():
        own = [path for path in paths if path.rpartition(".")[0] == package]
        others = [path for path in paths if path not in own]
        lines += [kind, "-" * len(kind), ""] if paths else []
        for group, options in ((own, ["   :toctree: names"]), (others, [])):
            if group:
                names = [f"   ~{path}" for path in group]
                lines += [".. autosummary::", *options, "   :nosignatures:", "", *names, ""]
    return "\n".join(lines)
