"""Independent units of work: run by one or many workers, recorded as they come back, yielded in order."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from shortlist.runs.progress import Progress
from shortlist.runs.studies.study import Finished, StageNote
from shortlist.runs.work import Work
from shortlist.runs.workers import Completed, open_workers


@dataclass(frozen=True)
class Unit:
    """One call that depends on no other unit; `key` names it in studies and messages."""

    key: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


FinishedParts: TypeAlias = Callable[[str, Any], Iterable[Finished]]
"""Takes the result of a unit, by its key, apart into what is recorded of it."""


def run_units(
    units: Sequence[Unit],
    work: Work | None = None,
    *,
    stage: str = "",
    parts: FinishedParts | None = None,
    known: Mapping[str, Any] | None = None,
) -> Iterator[tuple[str, Any]]:
    """Yield ``(key, result)`` for every unit, in the order of `units`, whatever the number of workers.

    With a study, results are what JSON holds or bytes; those that are recorded are not run again, and each
    of the others is recorded as soon as it has come back, before those that come earlier in order. A result
    that is None says that the unit was stopped; it is not recorded. A unit that fails is noted.

    Parameters
    ----------
    units : sequence of Unit
        What to run. Calls and arguments must pickle where workers are processes.
    work : Work, optional
        Who works, and so on. A cancellation is looked at before every unit; once set, nothing more is
        started and the iteration ends early. The report gets one event at the start and one after every unit.
    stage : str
        What the progress events say is being done.
    parts : callable, optional
        For units whose results are recorded in parts, under keys of their own.
    known : mapping of str to object, optional
        Results of the units that are not run; default those that the study has. With `parts` it is the caller
        who knows, and by default all are run.

    Raises
    ------
    Exception
        Whatever a unit raises, when its turn comes.
    NotWrittenError
        If the study cannot be written.
    """
    work = Work() if work is None else work
    if known is None:
        known = work.study.results() if work.study.keeps and parts is None else {}
    return _Run(list(units), work, stage, parts, known).results()


class _Run:
    """One pass over units: which are known, which have come back, and what is told of it."""

    def __init__(
        self, units: list[Unit], work: Work, stage: str, parts: FinishedParts | None, known: Mapping[str, Any]
    ) -> None:
        self.units, self.work, self.stage, self.parts = units, work, stage, parts
        self.ended = {
            place: Completed(place, known[unit.key], 0.0, "")
            for place, unit in enumerate(units)
            if unit.key in known
        }
        self.pending = [place for place, unit in enumerate(units) if unit.key not in known]
        self.n_done = len(self.ended)
        self.n_workers = 1

    def results(self) -> Iterator[tuple[str, Any]]:
        """Yield what is known and what comes back, in order."""
        self._report()
        turn = 0
        for _ in self._completed():
            while turn in self.ended:
                yield self._opened(turn)
                turn += 1
        for place in sorted(self.ended):  # a cancellation left out some before them
            yield self._opened(place)

    def _completed(self) -> Iterator[None]:
        """Run the units that are not known, and record each when it has come back."""
        yield
        if not self.pending:
            return
        with open_workers(self.work.workers) as workers:
            self.n_workers = workers.n_workers
            self.work.study.tell(self._note())
            units = [self.units[place] for place in self.pending]
            for completed in workers.completed(units, self.work.cancellation):
                place = self.pending[completed.index]
                self.ended[place] = self._recorded(self.units[place].key, completed)
                self._report()
                yield

    def _recorded(self, key: str, completed: Completed) -> Completed:
        """Record what a unit came to, and return it with the result that a study gives back."""
        study, result = self.work.study, completed.result
        if completed.error is not None:
            study.fail(key, completed.error, seconds=completed.seconds)
            return completed
        self.n_done += result is not None
        if self.parts is not None:
            found = list(self.parts(key, result))
            share = completed.seconds / max(1, len(found))  # of a part that does not say how long it took
            measured = [
                dataclasses.replace(one, machine=completed.machine, seconds=one.seconds or share)
                for one in found
            ]
            study.record(*measured, stage=self._note())
        elif result is not None:
            finished = Finished(key, result, completed.seconds, completed.machine)
            return dataclasses.replace(completed, result=study.record(finished, stage=self._note()))
        return completed

    def _opened(self, place: int) -> tuple[str, Any]:
        """Return key and result, or raise the unit's error with its key."""
        key, completed = self.units[place].key, self.ended.pop(place)
        if completed.error is not None:
            completed.error.add_note(f"in unit {key}")
            raise completed.error
        return key, completed.result

    def _note(self) -> StageNote:
        running = min(len(self.units) - self.n_done, self.n_workers)
        return StageNote(self.stage, len(self.units), self.n_done, running)

    def _report(self) -> None:
        self.work.report(Progress(self.stage, self.n_done, len(self.units), outer=True))
