"""On what figures were measured."""

import platform

from shortlist.reproduce.machine import processor, versions


def test_processor_and_versions_are_named() -> None:
    assert processor()
    assert versions().startswith(f"Python {platform.python_version()}; highspy 1.")
    assert "numpy" in versions()
