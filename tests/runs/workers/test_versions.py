"""Versions of workers."""

from shortlist import __version__
from shortlist.runs.workers.versions import COMPARED, refusal, versions


def test_versions_are_of_this_process() -> None:
    found = versions()
    assert found["Shortlist"] == __version__
    assert set(found) == {"Shortlist", "Python", *COMPARED}


def test_every_difference_is_named() -> None:
    ours = versions()
    assert refusal("w", ours, ours) == ""
    told = refusal("worker a", ours | {"numpy": "1.0", "Python": "2.7.1"}, ours)
    assert told.startswith(f"worker a has Python 2.7.1, this is {ours['Python']}, numpy 1.0, this is")
    assert "scipy none, this is" in refusal("w", {n: v for n, v in ours.items() if n != "scipy"}, ours)
