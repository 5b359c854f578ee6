"""Kernels are compiled when they are first called, with what they call."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

from shortlist import _bits, arrays
from shortlist._bits import WordBlock
from shortlist._jit import COMPILING, NOTHING_KEPT, CompilingClock, Deferred, _field_type, kernel
from shortlist.arrays import FloatTable, Longs
from tests.compile_kernels import FOLDERS


@kernel("int64(int64)")
def doubled(number: int | np.int64) -> int | np.int64:
    return 2 * number


@kernel("int64(int64[::1])")
def doubled_sum(numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> np.int64:
    total = np.int64(0)
    for number in numbers:
        total += doubled(number)
    return total


class Pair(NamedTuple):
    """Fields of one type."""

    first: Longs
    second: Longs


class Nested(NamedTuple):
    """Fields of every kind."""

    pair: Pair
    table: FloatTable
    words: WordBlock
    number: int
    share: float
    flag: bool


@kernel("float64(Nested, int64[:, ::1], Pair)")
def everything(nested: Nested, table: Longs, pair: Pair) -> float:
    """Sum all that is given."""
    total = nested.pair.first.sum() + pair.second.sum() + table.sum() + nested.table.sum()
    total += nested.words.sum() + nested.number + nested.share
    return float(total) if nested.flag else -1.0


def test_named_tuples_are_known_by_the_annotations_of_their_fields() -> None:
    pair = Pair(np.array([1, 2]), np.array([3]))
    words = np.full((1, 1, 1), 4, dtype=np.uint64)
    nested = Nested(pair, np.full((2, 1), 0.5), words, 10, 0.25, flag=True)

    assert everything(nested, np.array([[100]]), pair) == 1 + 2 + 3 + 100 + 1 + 4 + 10 + 0.25
    with pytest.raises(TypeError, match="No matching definition"):
        everything(nested, np.array([100]), pair)


@pytest.mark.parametrize("module", [arrays, _bits])
def test_the_numba_type_beside_an_array_is_of_its_numbers(module: ModuleType) -> None:
    noted = [one for one in vars(module).values() if hasattr(one, "__metadata__")]
    for alias in noted:
        numbers = _field_type(alias).dtype.name.replace("boolean", "bool")
        assert f"numpy.{numbers}]" in repr(alias).partition(", '")[0], alias
    assert len(noted) > 3


def test_a_kernel_is_compiled_at_its_first_call_together_with_those_that_it_calls() -> None:
    later = doubled_sum
    assert isinstance(later, Deferred)
    assert later(np.array([1, 2, 3])) == 12
    assert not isinstance(doubled, Deferred)  # the name now means the compiled kernel
    assert later.made() is later.made()


@pytest.mark.slow
def test_the_public_names_load_no_compiler_and_no_solver() -> None:
    program = (
        "import sys, shortlist\n"
        "for name in shortlist.__all__: getattr(shortlist, name)\n"
        "print({'numba', 'highspy', 'ortools', 'sklearn.ensemble', 'matplotlib'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stdout == "set()\n", run.stderr


def test_a_kernel_that_is_made_counts_as_compiling() -> None:
    seen = []

    def make() -> Callable[[], None]:
        seen.append(COMPILING.seconds)
        while COMPILING.seconds == seen[0]:
            pass  # ends only if the time that passes here is counted
        return lambda: None

    Deferred(make)()
    assert COMPILING.seconds > seen[0]


RENAMED = """
from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Longs


class {name}(NamedTuple):
    numbers: Longs


@kernel("int64({name})")
def first(pair):
    return pair.numbers[0]


print(first({name}(np.array([7]))))
"""


def test_a_kernel_on_disk_that_names_a_tuple_of_another_version_is_compiled_again(tmp_path: Path) -> None:
    script = tmp_path / "kernels.py"
    beside = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    for name in ("Before", "After"):
        script.write_text(RENAMED.format(name=name))
        ran = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, check=False, env=beside
        )
        assert (ran.stdout, ran.returncode) == ("7\n", 0), ran.stderr
        assert list((tmp_path / "__pycache__").glob("*.nbi"))


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_kernel_on_disk_that_was_cut_off_is_compiled_again(tmp_path: Path, kind: str) -> None:
    script = tmp_path / "kernels.py"
    script.write_text(RENAMED.format(name="Same"))
    beside = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, check=False, env=beside
        )
        assert (ran.stdout, ran.stderr, ran.returncode) == ("7\n", "", 0)
        for on_disk in (tmp_path / "__pycache__").glob(f"*.{kind}"):
            on_disk.write_bytes(on_disk.read_bytes()[:100])


UNKEPT = """
from numba.core import caching

from shortlist._jit import kernel


@kernel("int64(int64)")
def doubled(number):
    return 2 * number


@kernel("int64(int64)")
def quadrupled(number):
    return doubled(number) + doubled(number)


def refuse(*_):
    raise OSError(28, "No space left on device")


if {full}:
    caching.IndexDataCacheFile.save = refuse
print(quadrupled(4), doubled(4))
"""


@pytest.mark.parametrize("full", [False, True], ids=["no folder", "a full disk"])
def test_kernels_that_cannot_be_kept_are_compiled_and_one_note_says_so(tmp_path: Path, *, full: bool) -> None:
    script = tmp_path / "kernels.py"
    script.write_text(UNKEPT.format(full=full))
    (tmp_path / "__pycache__").touch()  # a file in its place stops an administrator too
    nowhere = str(tmp_path / "__pycache__" / "below")
    folders = dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"), nowhere)
    if full:
        folders["NUMBA_CACHE_DIR"] = str(tmp_path / "kept")
    ran = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, env=os.environ | folders
    )
    assert (ran.stdout, ran.returncode) == ("16 8\n", 0), ran.stderr
    assert ran.stderr.count(NOTHING_KEPT) == 1


def test_time_that_goes_into_compiling_is_counted_once_while_and_after_it() -> None:
    now = [10.0]
    compiling = CompilingClock(lambda: now[0])
    assert compiling.seconds == 0
    with compiling:
        now[0] = 13.0
        assert compiling.seconds == 3
        with compiling:
            now[0] = 14.0
        now[0] = 15.0
    now[0] = 100.0
    assert compiling.seconds == 5


def test_every_kernel_is_compiled_before_the_workers_of_the_tests_start() -> None:
    sources = [path.read_text(encoding="utf-8") for folder in FOLDERS for path in folder.rglob("*.py")]
    script = "from tests.compile_kernels import kernels; print(len(set(map(id, kernels()))))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(ran.stdout) >= sum(source.count("\n@kernel(") for source in sources) > 100
