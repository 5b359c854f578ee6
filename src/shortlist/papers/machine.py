"""On which machine, and with which versions, something was measured."""

import platform
from pathlib import Path

from shortlist.runs.studies.question import versions


def processor() -> str:
    """Name the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def listed_versions() -> str:
    """List the versions of what the figures depend on, in a line."""
    return "; ".join(f"{name} {version}" for name, version in versions().items())
