"""Counting bits in kernels."""

from collections.abc import Callable
from typing import Any, cast

from shortlist._jit import Deferred


def _make_popcount() -> Callable[[Any], int]:
    """Return the instruction of the processor, or plain Python where numba is told not to compile."""
    from numba import config, types
    from numba.extending import intrinsic

    if config.DISABLE_JIT:  # type: ignore[attr-defined]  # numba sets it while loading
        return lambda word: int(word).bit_count()

    @intrinsic
    def count_ones(typing_context: Any, word: Any) -> Any:  # noqa: ARG001  # numba calls it so
        # numba's form
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate

    made: Any = count_ones  # only kernels call it, with the word alone
    return cast("Callable[[Any], int]", made)


popcount = Deferred(_make_popcount)
"""The number of ones in a 64-bit word, in one instruction."""
