"""Live progress on stderr."""

import contextlib
import math
from collections.abc import Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import (
    Progress as Bars,
)

from shortlist.front import relative_gap
from shortlist.runs import Progress, Report


@contextlib.contextmanager
def live_progress() -> Iterator[Report]:
    """Yield a report that draws one bar per stage on stderr; where stderr is no terminal, one line per stage."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[state]}"),
               TimeElapsedColumn())  # fmt: skip
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def report(event: Progress) -> None:
            if event.stage not in tasks:
                tasks[event.stage] = bars.add_task(event.stage, total=event.total, state="")
                if not console.is_terminal:
                    console.print(f"{event.stage} ...", highlight=False)
            done = event.done if event.total is None else min(event.done, event.total)
            bars.update(tasks[event.stage], completed=round(done), total=event.total, state=_state(event))

        yield report


def _state(event: Progress) -> str:
    """Show value, bound and gap where the method has them."""
    if event.value is None:
        return ""
    if event.bound is None:
        return f"value {event.value:.5g}"
    gap = relative_gap(event.value, event.bound)
    shown = f"  gap {100 * gap:.2f} %" if math.isfinite(gap) else ""
    return f"value {event.value:.5g}  bound {event.bound:.5g}{shown}"
