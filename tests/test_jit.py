"""Kernels are compiled when they are first called, with what they call."""

import subprocess
import sys

import numpy as np
import pytest

from shortlist._jit import Deferred, kernel


@kernel("int64(int64)")
def doubled(number: int | np.int64) -> int | np.int64:
    return 2 * number


@kernel("int64(int64[::1])")
def doubled_sum(numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> np.int64:
    total = np.int64(0)
    for number in numbers:
        total += doubled(number)
    return total


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
