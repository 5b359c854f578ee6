"""Leaves of saved files: their paths, other values for them, and those that `verify` may pass over."""

import types
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PLAIN = (bool, int, float, str, bytes, np.generic, type(None), Enum)
"""Types of leaves."""

CODE = (type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, np.dtype)
"""Types of what a file names and does not hold."""


class Step(NamedTuple):
    """A step from an object to a part: a field, a key, a place, an array's entry, or one of its columns."""

    kind: str
    key: Any


Path = tuple[Step, ...]
"""Steps from a saved object to a leaf."""

RUN = "a run reports it of itself, and nothing repeats the run"
TRUE_TOO = "the claim is weaker, and true: it is found again from the rows"
ASKED = "only the user knows what was asked for"

PASSED_OVER: Mapping[str, str] = {
    r"header\.(seconds|method)|front_?\.(seconds|method)|result\.seconds": RUN,
    r"extras\.(why|solver|n_handed_over|n_searched|engine|n_candidates)|proof\.(limit|n_unresolved)": RUN,
    r"result\.(found_by|why|measured|proved_by)|evidence\.bound_by": RUN,
    r"result\.history\.\d+\.\d+": RUN + "; its end is compared",
    r"\.method": "the class of a rule: " + RUN,
    r"\.order_right(\.\d+)?": "votes of classifiers that a rule left out are not kept; the page says that",
    r"front_\.decisions\.\d+": "another assignment with the same values is a true point, too",
    r"\.promise\.(accuracy|confidence_level)": TRUE_TOO,
    r"classifiers\.0\.may_abstain": ASKED + "; several judges are compared with each other",
    r"estimator\.answer_rejected": ASKED,
    r"estimator\.pick": "the page says it where the rule takes the point that predicts",
    r"record\.(packed_votes|codes)(\.\d+)*": "votes of left-out classifiers without a certificate, as verify says",
}
"""Leaves whose change may go through, by their paths, with the reason for each."""


def leaves(thing: Any, most: int, rng: np.random.Generator) -> Iterator[tuple[Path, Any]]:
    """Yield the leaves of an object with their paths; of arrays and lists at most `most` entries each.

    What is in an object twice comes once, as in its pickle.
    """
    yield from _below(thing, (), most, rng, {})


def _below(
    thing: Any, path: Path, most: int, rng: np.random.Generator, seen: dict[int, Any]
) -> Iterator[tuple[Path, Any]]:
    if isinstance(thing, PLAIN):
        yield path, thing
    elif id(thing) not in seen and not isinstance(thing, CODE):
        seen[id(thing)] = thing
        for step in _steps(thing, most, rng):
            yield from _below(_part(thing, step), (*path, step), most, rng, seen)


def _steps(thing: Any, most: int, rng: np.random.Generator) -> list[Step]:
    if isinstance(thing, Mapping):
        return [Step("key", key) for key in thing]
    if isinstance(thing, np.ndarray):
        places = _some(thing.size, most, rng)
        if thing.dtype.names:
            return [Step("column", (name, place)) for name in thing.dtype.names for place in places]
        return [Step("entry", place) for place in places]
    if isinstance(thing, list | tuple):
        return [Step("place", place) for place in _some(len(thing), most, rng)]
    return [] if isinstance(thing, set | frozenset) else [Step("field", name) for name in _state(thing)]


def _some(n: int, most: int, rng: np.random.Generator) -> list[int]:
    if n <= most:
        return list(range(n))
    return sorted({0, n - 1, *rng.choice(n, most - 2, replace=False).tolist()})


def _state(thing: Any) -> dict[str, Any]:
    """Return what an object is pickled as, by name."""
    if hasattr(thing, "__dict__"):
        return dict(vars(thing))
    state = thing.__reduce__()[2:3]
    return state[0] if state and isinstance(state[0], dict) else {}


def _part(thing: Any, step: Step) -> Any:
    if step.kind == "field":
        return _state(thing)[step.key]
    if step.kind == "entry":
        return thing.reshape(-1)[step.key]
    if step.kind == "column":
        name, place = step.key
        return thing[name].reshape(-1)[place]
    return thing[step.key]


def changed(thing: Any, path: Path, value: Any) -> Any:
    """Return an object with another leaf; its parts are changed in place where they can be."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    part = changed(_part(thing, step), rest, value)
    if isinstance(thing, np.ndarray):
        return _with_entry(thing, step, part)
    if step.kind == "field" and hasattr(thing, "__dict__"):
        object.__setattr__(thing, step.key, part)
    elif step.kind == "field":
        thing.__setstate__(_state(thing) | {step.key: part})
    elif isinstance(thing, tuple):
        parts = [*thing[: step.key], part, *thing[step.key + 1 :]]
        return type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
    elif isinstance(thing, types.MappingProxyType):
        return types.MappingProxyType({**thing, step.key: part})
    else:
        thing[step.key] = part
    return thing


def _with_entry(array: NDArray[Any], step: Step, part: Any) -> NDArray[Any]:
    own = array if array.flags.writeable and array.flags.c_contiguous else np.array(array)
    if step.kind == "column":
        name, place = step.key
        own[name].reshape(-1)[place] = part
        return own
    if own.dtype.kind == "U":
        own = own.astype(f"U{max(len(part), own.dtype.itemsize // 4)}")
    own.reshape(-1)[step.key] = part
    return own


def other_values(value: Any) -> list[Any]:
    """Return what a leaf is changed into."""
    if isinstance(value, Enum):
        return [one for one in type(value) if one is not value][:2]
    if isinstance(value, str):
        return [f"{value}x", *([""] if value else [])]
    if isinstance(value, bool | np.bool_):
        return [not value]
    if isinstance(value, int | float | np.number):
        return _other_numbers(value)
    return [1] if value is None else [value + b"x"] if isinstance(value, bytes) else []


def _other_numbers(value: Any) -> list[Any]:
    if isinstance(value, int | np.integer):
        known = np.iinfo(value.dtype) if isinstance(value, np.integer) else None
        both = (int(value) + 1, int(value) - 1)
        return [type(value)(one) for one in both if known is None or known.min <= one <= known.max]
    reals = (1.5 * value + 0.25, value - 0.375) if np.isfinite(value) else (0.5,)
    return [type(value)(one) for one in reals]


def spelled(path: Path) -> str:
    """Return a path as people read it."""
    return ".".join(str(step.key) for step in path)


SHAPE = {"left_child", "right_child", "left", "right", "feature", "feature_idx", "node_count", "max_depth",
         "n_outputs", "n_classes", "max_n_classes", "is_leaf"}  # fmt: skip
"""Leaves of trees that compiled code reads without a check: another value may end the process."""


def is_shape(path: Path) -> bool:
    """Whether a leaf is of the shape of a compiled tree."""
    names = [step.key[0] if step.kind == "column" else step.key for step in path]
    return (
        names[-1] in SHAPE and {"tree_", "nodes"} & {name for name in names if isinstance(name, str)} != set()
    )
