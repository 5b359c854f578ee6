"""The answer that is none: which label it has, and where it stands among the classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import any_of
from shortlist.arrays import Labels
from shortlist.errors import BadInputError


def reject_label_for(label: Any, classes: Labels) -> Any:
    """Return the label of rejected rows, which must not be a class; None chooses one."""
    if label is not None:
        if label in classes.tolist():
            raise BadInputError(
                "reject_label", f"must not be one of the classes, {any_of(classes)}", repr(label)
            )
        return label
    if classes.dtype.kind in "iuf":
        return -1 if -1 not in classes.tolist() else classes.min().item() - 1
    return "REJECT" if "REJECT" not in classes.tolist() else "REJECTED"


def places_of(labels: Labels, classes: Labels) -> NDArray[np.int64]:
    """Return the place of each label among sorted classes; -1 for whatever is none, as the reject label.

    Examples
    --------
    >>> places_of(np.array(["b", "REJECT"]), np.array(["a", "b"])).tolist()
    [1, -1]
    """
    known = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([known.get(label, -1) for label in np.asarray(labels).tolist()], dtype=np.int64)


def labels_of(numbers: NDArray[np.int64], classes: Labels, reject_label: Any) -> Labels:
    """Turn class numbers into labels; a number below 0 becomes the reject label."""
    rejected = numbers < 0
    if not rejected.any():
        return np.asarray(classes[numbers])
    reject = np.array([reject_label])
    dtype = np.result_type(classes, reject) if reject.dtype.kind == classes.dtype.kind else object
    labels = classes[np.where(rejected, 0, numbers)].astype(dtype)
    labels[rejected] = reject_label
    return np.asarray(labels)
