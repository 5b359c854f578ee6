"""States of units that go on inside."""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from shortlist.errors import BadFileError
from shortlist.runs import Finished, open_study
from shortlist.runs.studies.checkpoints import Checkpoint, KeptState, opened_state, random_facts
from shortlist.runs.studies.study import KeepSettings

DTYPES: Any = st.sampled_from(
    [np.uint8, np.float32, np.float64, np.bool_, "U3", [("a", np.int32, (2,)), ("b", "f8")]]
)


@given(
    array=arrays.arrays(
        DTYPES,
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0),
    )
)
def test_arrays_come_back_byte_by_byte(array: np.ndarray) -> None:
    found = opened_state(KeptState({"a": array}, {"n": 0.1}).packed())
    assert (found.arrays["a"].dtype, found.arrays["a"].shape) == (array.dtype, array.shape)
    assert found.arrays["a"].tobytes() == array.tobytes()
    assert found.facts == {"n": 0.1}


def test_python_objects_are_refused() -> None:
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        KeptState({"a": np.array([{}], dtype=object)}).packed()


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_a_generator_goes_on_where_it_was(kind: type[np.random.BitGenerator]) -> None:
    rng = np.random.Generator(kind(3))
    rng.integers(5, dtype=np.uint32)  # half of a word is left
    facts = json.loads(json.dumps(random_facts(rng)))
    drawn = rng.integers(9, size=20, dtype=np.uint32)
    other = np.random.Generator(kind(4))
    other.bit_generator.state = facts
    assert (other.integers(9, size=20, dtype=np.uint32) == drawn).all()


def test_the_last_state_is_that_of_the_end_once_the_unit_is_finished(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db") as study:
        checkpoint = Checkpoint("run", study)
        assert checkpoint.last() is None
        for number in (1, 2):
            checkpoint.keep(functools.partial(KeptState, facts={"n": number}), now=True)
            last = checkpoint.last()
            assert last is not None
            assert last.facts == {"n": number}
        checkpoint.finish(lambda: KeptState(facts={"n": 3}), 0.5)
        last = checkpoint.last()
        assert last is not None
        assert (last.facts, study.kept("run"), study.n_finished) == ({"n": 3}, None, 1)
    Checkpoint("run").finish(lambda: pytest.fail("nobody asked for a state"), 0.5)


def test_states_that_are_too_large_are_not_kept(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db", keeping=KeepSettings(most_bytes=10_000)) as study:
        checkpoint = Checkpoint("run", study)
        checkpoint.keep(lambda: KeptState({"a": np.zeros(20_000, np.uint8)}))
        checkpoint.keep(lambda: pytest.fail("the first one was too large"), now=True)
        assert checkpoint.last() is None


@pytest.mark.parametrize("content", [b"", b"PK nothing", KeptState().packed()[:40], "text", {"a": 1}])
def test_a_state_that_cannot_be_read_is_one_sentence(content: object, tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db") as study:
        study.record(Finished("run", content))
        with pytest.raises(BadFileError, match="holds a state of run that cannot be read"):
            Checkpoint("run", study).last()
