"""States of a unit that goes on inside, such as a generation: arrays and facts as bytes, without pickles."""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadFileError
from shortlist.runs.studies.study import NO_STUDY, Finished, StageNote, Study

FACTS = "facts"
"""The array that holds the facts, as JSON."""


@dataclass(frozen=True, eq=False)
class KeptState:
    """Where a unit is."""

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Numbers, truth values or text, of any shape; records are fine, Python objects are not."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What JSON holds exactly."""

    def packed(self) -> bytes:
        """Return the state as bytes, each array with its type and shape.

        >>> state = opened_state(KeptState({"a": np.arange(3)}, {"b": 2}).packed())
        >>> state.arrays["a"].tolist(), state.facts
        ([0, 1, 2], {'b': 2})
        """
        facts = np.frombuffer(json.dumps(self.facts).encode(), dtype=np.uint8)
        packed = io.BytesIO()
        np.savez(packed, allow_pickle=False, **{**self.arrays, FACTS: facts})
        return packed.getvalue()


def opened_state(content: bytes) -> KeptState:
    """Undo :meth:`KeptState.packed`; raises ValueError if the bytes are something else."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as opened:
            arrays = {name: opened[name] for name in opened.files}
        return KeptState(arrays, json.loads(arrays.pop(FACTS).tobytes()))
    except (zipfile.BadZipFile, AttributeError, EOFError, KeyError, OSError, TypeError) as error:
        raise ValueError(str(error)) from None


@dataclass(frozen=True)
class Checkpoint:
    """The state of one unit of a study."""

    key: str
    """The unit."""
    study: Study = NO_STUDY
    """Where it is kept; without a file nothing is."""

    def last(self) -> KeptState | None:
        """Return the last state that was kept, that of its end if the unit is finished; None without one.

        Raises BadFileError if it cannot be read.
        """
        content = self.study.results().get(self.key) if self.study.keeps else None
        content = self.study.kept(self.key) if content is None else content
        if content is None:
            return None
        try:
            return opened_state(content)
        except ValueError:
            raise BadFileError(
                f"the study {self.study.path} holds a state of {self.key} that cannot be read. Name another "
                "file, or delete it."
            ) from None

    def keep(
        self,
        state: Callable[[], KeptState],
        *,
        now: bool = False,
        stage: Callable[[], StageNote] | None = None,
    ) -> None:
        """Keep a state if it is time to, or `now`: see :meth:`shortlist.runs.studies.study.Study.keep`."""
        self.study.keep(self.key, lambda: state().packed(), now=now, stage=stage)

    def finish(
        self, state: Callable[[], KeptState], seconds: float, *, stage: StageNote | None = None
    ) -> None:
        """Record the unit as finished, with the state of its end."""
        if self.study.keeps:
            self.study.record(Finished(self.key, state().packed(), seconds), stage=stage)


def random_facts(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator as JSON holds it, for ``rng.bit_generator.state``.

    >>> rng = np.random.default_rng(0)
    >>> facts, draw = random_facts(rng), rng.random()
    >>> rng.bit_generator.state = facts
    >>> rng.random() == draw
    True
    """
    plain: dict[str, Any] = json.loads(json.dumps(dict(rng.bit_generator.state), default=np.ndarray.tolist))
    return plain
