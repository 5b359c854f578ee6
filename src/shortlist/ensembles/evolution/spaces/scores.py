"""From scores to classes, the same in every space that computes scores."""

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.votes.class_votes import ClassCodes


def n_scores(n_classes: int) -> int:
    """Return how many scores a classifier computes: one for two classes, otherwise one per class."""
    return 1 if n_classes == 2 else n_classes


def highest_class(scores: NDArray[np.float32]) -> ClassCodes:
    """Return the class of the largest score on the last axis.

    A single score stands for class 1 where above 0.
    """
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0).astype(np.uint8)
    return np.asarray(scores.argmax(axis=-1), dtype=np.uint8)
