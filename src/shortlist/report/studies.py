"""Studies as parts of a page: what is done, what is running, and what failed."""

from pathlib import Path
from typing import Any

from shortlist.report.parts import Chart, Facts, Heading, Parts, Table
from shortlist.runs.studies.summary import summary


def study_parts(path: Path) -> Parts:
    """Return the parts of a page that show how far a study is.

    Raises BadFileError if the file is not a study, or is damaged.
    """
    found = summary(path)
    facts = [
        ("command", str(found.asked.get("command", "unknown"))),
        ("state", f"in work, by {found.driver}" if found.driver else "not in work"),
        ("units done", f"{found.n_done:,} in {found.seconds:,.1f} s"),
        ("units failed", f"{found.n_failed:,}"),
        ("size", f"{found.size / 1e6:.2f} MB"),
    ]
    parts: list[Any] = [Heading("The study"), Facts(tuple(facts))]
    if not found.stages:
        return parts
    names = [" ".join(filter(None, (one.part, one.name))) for one in found.stages]
    left = [one.left_s for one in found.stages]
    series = [
        {"name": "done", "values": [one.done for one in found.stages]},
        {"name": "to do", "values": [max(0, one.total - one.done) for one in found.stages]},
    ]
    rows = tuple(
        (
            name, f"{one.done:,} of {one.total:,}", f"{one.running:,}", f"{one.seconds:.1f}",
            "unknown" if seconds is None else f"{seconds:.1f}", one.best or "none",
        )
        for name, one, seconds in zip(names, found.stages, left, strict=True)
    )  # fmt: skip
    parts += [
        Chart(
            "How far the study is",
            f"{sum(one.done for one in found.stages):,} of {sum(one.total for one in found.stages):,} units "
            "are done.",
            {"kind": "bar", "names": names, "series": series, "x": {"label": "units"}},
        ),
        Table("Parts", ("part", "done", "running", "seconds", "seconds left", "best so far"), rows),
    ]
    if found.failures:
        failed = tuple((str(i), text) for i, text in enumerate(found.failures, start=1))
        parts.append(Table("Why the latest units failed", ("number", "reason"), failed))
    return parts
