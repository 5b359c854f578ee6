"""Contents of a study: settings, digests, states as bytes, and objects that its user has signed."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from shortlist.runs.records import (
    MARK,
    KeptState,
    as_settings,
    digest_of_arrays,
    opened,
    opened_state,
    random_facts,
    signed,
)

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


@dataclass
class Prices:
    values: np.ndarray
    scale: int = 10


class Foreign:
    def __repr__(self) -> str:
        return "Foreign()"


def test_parameters_of_any_type_become_what_json_holds() -> None:
    given = {
        "costs": Prices(np.array([1, 2])), "weights": {np.int64(0): 1.5, "b": None}, "limits": (1, [True]),
        "model": Foreign(), "seed": np.int64(3),
    }  # fmt: skip
    found = as_settings(given)
    assert found == {
        "costs": [["values", [1, 2]], ["scale", 10]], "weights": [[0, 1.5], ["b", None]],
        "limits": [1, [True]], "model": "Foreign()", "seed": 3,
    }  # fmt: skip
    assert json.loads(json.dumps(found)) == found


def test_digests_tell_values_shapes_and_types_apart_and_not_the_layout() -> None:
    rows = np.arange(6).reshape(2, 3)
    same = digest_of_arrays([rows])
    assert digest_of_arrays([np.asfortranarray(rows)]) == same
    others = [rows.T, rows.reshape(3, 2), rows.astype(float), rows + 1]
    assert len({same, *(digest_of_arrays([other]) for other in others)}) == 5


@pytest.mark.parametrize("content", [b"", b"words", b"\x80\x04" * 1000])
def test_own_bytes_are_known_again(content: bytes) -> None:
    assert opened(signed(content)) == content


def test_changed_and_foreign_bytes_are_not(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    whole = signed(b"words")
    for place in (0, len(MARK), len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 1
        assert opened(bytes(changed)) is None
    for cut in (b"", MARK, whole[:-1], b"words"):
        assert opened(cut) is None
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # another user
    assert opened(whole) is None
