"""Whether a worker has the same packages as this process, so that it gives the same answers."""

import functools
import platform
from collections.abc import Mapping
from importlib import metadata

COMPARED = ("numpy", "scipy", "pandas", "scikit-learn", "numba", "joblib", "highspy", "ortools")
"""Packages that decide what a unit answers, or whether what it sends can be read."""


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of Shortlist, of Python, and of the packages that decide answers."""
    import shortlist

    found = {"Shortlist": shortlist.__version__, "Python": platform.python_version()}
    for name in COMPARED:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found


def refusal(worker: str, theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Return why a worker cannot be used, in one sentence; nothing if it can.

    Examples
    --------
    >>> refusal("worker tcp://h:1", {"Shortlist": "0.1.0"}, {"Shortlist": "0.2.0"})
    'worker tcp://h:1 has Shortlist 0.1.0, this is 0.2.0. Install the same version on both.'
    >>> refusal("worker tcp://h:1", {"Shortlist": "0.2.0"}, {"Shortlist": "0.2.0"})
    ''
    """
    different = [name for name in ours if theirs.get(name) != ours[name]]
    if not different:
        return ""
    listed = ", ".join(f"{name} {theirs.get(name, 'none')}, this is {ours[name]}" for name in different)
    return f"{worker} has {listed}. Install the same version{'s' * (len(different) > 1)} on both."
