"""On what figures were measured."""

import platform

import shortlist
from shortlist.papers.machine import listed_versions, processor


def test_processor_and_versions_are_named() -> None:
    assert processor()
    assert listed_versions().startswith(
        f"shortlist {shortlist.__version__}; python {platform.python_version()}; "
    )
    assert "numpy" in listed_versions()
