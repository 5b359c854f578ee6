"""What members of a pool cost to ask and to keep: measured time, and bytes."""

import dataclasses
import pickle
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.pools.answers import class_answers
from shortlist.ensembles.pools.pool import Pool
from shortlist.errors import BadInputError
from shortlist.runs.budget import seconds_now

REPEATS = 5
"""The median of so many measurements is taken."""

DECIMALS = 3
"""Of milliseconds per 1,000 rows."""


def member_times(pool: Pool, X: Any, *, clock: Callable[[], float] = seconds_now) -> NDArray[np.float64]:
    """Measure how long each member takes, in milliseconds per 1,000 rows, ``(n_classifiers,)``.

    The rows are transformed once before, which all members share, and that is not counted. The measurement
    depends on the machine and on what else it does.

    `pool`: whose members are asked, one after the other and each several times. `X`, ``(n_samples,
    n_features)``: at least one row. `clock`: tells the time in seconds.
    """
    rows = X if pool.preprocessor is None else pool.preprocessor.transform(X)
    times = []
    for k in range(len(pool)):
        alone = pool.subset([k])
        if pool.preprocessor is not None:
            alone = dataclasses.replace(alone, preprocessor=None, n_features_in=None, feature_names_in=None)
        seconds = []
        for _ in range(REPEATS):
            start = clock()
            class_answers(alone, rows)
            seconds.append(clock() - start)
        times.append(statistics.median(seconds) * 1e6 / len(X))
    return np.asarray(np.round(times, DECIMALS))


def member_bytes(pool: Pool) -> NDArray[np.float64]:
    """Return how many bytes each member takes as a pickle, ``(n_classifiers,)``.

    Raises BadInputError if a member cannot be pickled; the sentence names it.
    """
    sizes = []
    for name, member in zip(pool.names, pool.classifiers, strict=True):
        try:
            sizes.append(len(pickle.dumps(member)))
        except (pickle.PicklingError, AttributeError, TypeError, RuntimeError, ValueError) as error:
            raise BadInputError(
                f"classifier {name} cannot be saved ({type(error).__name__}), so its bytes are not known. "
                "Leave it out of the pool, or leave out min bytes."
            ) from None
    return np.array(sizes, dtype=np.float64)
