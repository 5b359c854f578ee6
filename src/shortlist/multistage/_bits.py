"""Counting bits in kernels."""

from typing import Any

from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # numba sets it while loading

    def popcount(word: Any) -> int:
        """Return the number of ones in a 64-bit word."""
        return int(word).bit_count()

else:

    @intrinsic
    def popcount(typing_context: Any, word: Any) -> Any:  # noqa: ARG001  # numba calls it so
        """Return the number of ones in a 64-bit word, in one instruction."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001  # numba's form
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate
