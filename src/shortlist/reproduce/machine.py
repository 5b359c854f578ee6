"""On which machine, and with which versions, something was measured."""

import importlib.metadata
import platform
from pathlib import Path

PACKAGES = ("highspy", "moocore", "numba", "numpy", "ortools", "oxidd", "pyscipopt", "scikit-learn")
"""What figures depend on; one that is not installed is left out."""


def processor() -> str:
    """Name the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def versions() -> str:
    """List the versions of Python and of what the figures depend on."""
    installed = {one.metadata["Name"]: one.version for one in importlib.metadata.distributions()}
    packages = [f"{name} {installed[name]}" for name in PACKAGES if name in installed]
    return "; ".join([f"Python {platform.python_version()}", *packages])
