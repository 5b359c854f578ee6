"""What every method answers with: a front, or one selection, and what is proved about it."""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.arrays import Mask, Points, Values
from shortlist.errors import BadFileError, BadInputError
from shortlist.files import read_parquet, write_parquet, write_text
from shortlist.results.front_csv import csv_text
from shortlist.results.notebook import html_table

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.results.picking import Limits


LARGEST_POINT = 2**51
"""Scaled integers up to here survive the division by their scale and back."""


class Sense(StrEnum):
    """Whether less or more of an objective is better."""

    MIN = "min"
    MAX = "max"


class Status(StrEnum):
    """What is known of a single answer."""

    OPTIMAL = "optimal"  # the answer is proved best
    FEASIBLE = "feasible"  # an answer, with a bound on how much better another could be
    INFEASIBLE = "infeasible"  # proved: nothing satisfies the limits
    UNBOUNDED = "unbounded"  # the objective has no best value
    UNKNOWN = "unknown"  # stopped before an answer was found


class ProofKind(StrEnum):
    """How much of a front is proved, strongest first."""

    COMPLETE = "complete"  # every non-dominated point is here
    NONDOMINATED = "nondominated"  # each point is proved non-dominated, some may be missing
    APPROXIMATE = "approximate"  # found, nothing proved


@dataclass(frozen=True)
class Objective:
    """One thing that matters.

    Parameters
    ----------
    name : str
        What the user calls it; unique within a front.
    sense : Sense, default=Sense.MIN
        Whether less or more is better.
    scale : int or None, default=1
        Every value times `scale` is an integer below 2^53, so comparisons are exact; None for a real
        value, which is compared as a double.
    unit : str, default=""
        Unit of the values, for people.
    """

    name: str
    sense: Sense = Sense.MIN
    scale: int | None = 1
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sense", Sense(self.sense))
        if self.scale is not None and self.scale < 1:
            raise BadInputError(
                f"scale of objective {self.name!r} must be at least 1 or None, got {self.scale}."
            )

    @property
    def sign(self) -> int:
        """Factor that turns the user's value into one to minimise."""
        return 1 if self.sense is Sense.MIN else -1


@dataclass(frozen=True)
class Proof:
    """What is proved about a front or a selection, and what is not.

    Parameters
    ----------
    kind : ProofKind
        The claim.
    tolerances : tuple of float, default=()
        Per objective, in its unit: values that differ by no more count as equal in the claim. Empty: exact.
    missing : tuple of float or None, default=None
        Bound on what may be missing: to every feasible point there is a point here that is worse by at most
        this much in each objective. None: not known. Zero in all when complete.
    n_unresolved : int, default=0
        Subproblems whose answer is not known; must be 0 for a complete front.
    limit : str, default=""
        The limit that was hit, for people (``"60 s"``, ``"1000 solves"``, ``"interrupted"``); empty if none.
    """

    kind: ProofKind
    tolerances: tuple[float, ...] = ()
    missing: tuple[float, ...] | None = None
    n_unresolved: int = 0
    limit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", ProofKind(self.kind))
        if self.kind is ProofKind.COMPLETE and self.n_unresolved:
            raise BadInputError(
                f"a complete front has no unresolved subproblems, got {self.n_unresolved}. Claim less."
            )

    def weakest(self, other: Self) -> "Proof":
        """Join two proofs into the one that both support."""
        kinds = list(ProofKind)
        return Proof(
            kind=kinds[max(kinds.index(self.kind), kinds.index(other.kind))],
            tolerances=_largest(self.tolerances, other.tolerances) or (),
            missing=None
            if self.missing is None or other.missing is None
            else _largest(self.missing, other.missing),
            n_unresolved=self.n_unresolved + other.n_unresolved,
            limit="; ".join(dict.fromkeys(filter(None, (self.limit, other.limit)))),
        )


def relative_gap(value: float, bound: float) -> float:
    """Distance from `value` to `bound` relative to `value`: 0 when equal, infinite when only `value` is 0."""
    if value == bound:
        return 0.0
    return abs(bound - value) / abs(value) if value else math.inf


def shortfall(value: float, bound: float) -> str:
    """Say how far a value may be from the best there is, where no value can beat the bound.

    The share is that of the best value, which is largest when the best is the bound; where value and bound have different
    signs there is no such share, and only the difference is told. What is maximised is below the best, what is minimised above.

    Parameters
    ----------
    value, bound : float
        In the user's sign; they differ.

    Examples
    --------
    >>> print(shortfall(0.594, 0.752))
    at most 0.158 (21.0 %) below the best there is
    >>> print(shortfall(120, 100), "|", shortfall(-3, 1), "|", shortfall(-8, -5))
    at most 20 (20.0 %) above the best there is | at most 4 below the best there is | at most 3 (60.0 %) below the best there is
    """
    side = "below" if value < bound else "above"
    difference = abs(bound - value)
    if not math.isfinite(difference):
        return f"an unknown amount {side} the best there is"
    one_sign = value * bound >= 0 and bound != 0
    share = f" ({_three_digits(100 * difference / abs(bound))} %)" if one_sign else ""
    amount = f"{difference:.3g}" if difference < 1000 else f"{difference:,.0f}"
    return f"at most {amount}{share} {side} the best there is"


def _three_digits(number: float) -> str:
    """Show three digits, zeros at the end included, and all that are before the point."""
    return f"{number:#.3g}".rstrip(".") if number < 999.5 else f"{number:,.0f}"


@dataclass(frozen=True, eq=False)
class Selection:
    """One answer to a problem with one objective.

    Parameters
    ----------
    mask : ndarray of bool, shape (n_candidates,)
        What is chosen; all False when there is no answer.
    objective : Objective
        What was optimised.
    value, bound : float
        Objective value of the choice, and the value that no choice can beat, in the user's sign; NaN when unknown.
    status : Status
        What is known of it.
    proof : Proof
        The claim, its tolerance, and the limit that was hit.
    seconds : float
        Wall-clock time spent.
    """

    mask: Mask
    objective: Objective
    value: float
    bound: float
    status: Status
    proof: Proof
    seconds: float

    def __repr__(self) -> str:
        size = f"{int(np.sum(self.mask)):,} of {len(self.mask):,} candidates"
        value = f"{self.objective.name} {self.value:.6g}, bound {self.bound:.6g}"
        return f"{type(self).__name__}({size}; {value}; {self.status})"

    def _repr_html_(self) -> str:
        limit = [("stopped by", self.proof.limit)] if self.proof.limit else []
        facts = [
            ("status", self.status),
            (self.objective.name, float(self.value)),
            ("bound", float(self.bound)),
            *limit,
            ("chosen", f"{int(np.sum(self.mask)):,} of {len(self.mask):,} candidates"),
            ("seconds", float(self.seconds)),
        ]
        return html_table(type(self).__name__, [], facts, n_rows=len(facts))

    @property
    def gap(self) -> float:
        """Relative distance of the value to the bound; 0 when proved, NaN without an answer."""
        return 0.0 if self.status is Status.OPTIMAL else relative_gap(self.value, self.bound)


@dataclass(frozen=True, eq=False)
class Pick:
    """One point of a front, chosen by a rule."""

    index: int
    values: dict[str, float]
    decision: NDArray[np.integer[Any]]
    rule: str


@dataclass(frozen=True, eq=False)
class Front:
    """Non-dominated points, what to choose for each, and what is proved about them.

    Build one with :meth:`from_points` or :meth:`from_values`, which sort the points and merge duplicates.

    Attributes
    ----------
    objectives : tuple of Objective
        What matters, in order.
    values : ndarray of float, shape (n_points, n_objectives)
        Objective values in the user's signs and units, sorted from best to worst by the first objective, then the
        second, and so on; no two rows are equal.
    decisions : ndarray of int, shape (n_points, n_candidates)
        What to choose for each point (the witness): 0/1 per candidate, or the stage per feature.
    candidates : tuple of str
        Names of what may be chosen.
    proof : Proof
        What is proved.
    method : str
        The method that found it.
    seconds : float
        Wall-clock time spent.
    extras : mapping
        Further facts that serialise to JSON, for instance the number of programs solved.
    """

    objectives: tuple[Objective, ...]
    values: Values
    decisions: NDArray[np.integer[Any]]
    candidates: tuple[str, ...]
    proof: Proof
    method: str = ""
    seconds: float = 0.0
    extras: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_points(
        cls,
        objectives: Sequence[Objective],
        points: Points,
        decisions: NDArray[np.integer[Any]],
        candidates: Sequence[str],
        proof: Proof,
        **facts: Any,
    ) -> Self:
        """Make a front from scaled integers, minimised, ``(n_points, n_objectives)``.

        Raises
        ------
        BadInputError
            If shapes disagree, a value passes 2^51 (then a quotient by the scale could round to its neighbour's), or an
        objective has no integer scale.
        """
        points = np.asarray(points)
        if len(points) and np.abs(points).max() > LARGEST_POINT:
            raise BadInputError("objective values must stay within 2^51 to be exact. Use a coarser scale.")
        if any(objective.scale is None for objective in objectives):
            raise BadInputError(
                "points need objectives with an integer scale. Use Front.from_values instead."
            )
        signs = np.array([objective.sign for objective in objectives])
        scales = np.array([objective.scale or 1 for objective in objectives])
        return cls.from_values(objectives, points * signs / scales, decisions, candidates, proof, **facts)

    @classmethod
    def from_values(
        cls,
        objectives: Sequence[Objective],
        values: Values,
        decisions: NDArray[np.integer[Any]],
        candidates: Sequence[str],
        proof: Proof,
        **facts: Any,
    ) -> Self:
        """Make a front from values in the user's signs and units, ``(n_points, n_objectives)``.

        Rows with equal values become one point; the first one's decision stays. Whether the points are
        mutually non-dominated is the method's business and is not checked here.
        """
        values = np.asarray(values, dtype=np.float64).reshape(-1, len(objectives)) + 0.0  # no negative zeros
        decisions = np.asarray(decisions).reshape(len(values), len(candidates))
        names = [objective.name for objective in objectives]
        if len(set(names)) < len(names):
            raise BadInputError(f"objective names must differ, got {all_of(names)}. Rename one.")
        if np.isnan(values).any():
            raise BadInputError("objective values must be numbers, got NaN. Drop those points.")
        signs = np.array([objective.sign for objective in objectives])
        order = np.lexsort((values * signs).T[::-1])
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = (values[order][1:] != values[order][:-1]).any(axis=1)
        order = order[fresh]
        return cls(tuple(objectives), values[order], decisions[order], tuple(candidates), proof, **facts)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Front({self._summary()})"

    def _repr_html_(self) -> str:
        header = [f"{objective.name} ({objective.sense})" for objective in self.objectives]
        return html_table(f"Front: {self._summary()}", header, self.values.tolist(), n_rows=len(self))

    def _summary(self) -> str:
        """Say in one line how many points there are, of what, and what is proved."""
        wanted = ", ".join(f"{objective.sense} {objective.name}" for objective in self.objectives)
        limit = f", limit {self.proof.limit}" if self.proof.limit else ""
        return f"{counted(len(self), 'point')}; {wanted}; {self.proof.kind}{limit}"

    @property
    def points(self) -> Points:
        """Values as scaled integers, minimised; every objective must have an integer scale."""
        if any(objective.scale is None for objective in self.objectives):
            raise BadInputError(
                "this front has real-valued objectives, so it has no integer points. Use values."
            )
        factors = np.array([o.sign * (o.scale or 1) for o in self.objectives])
        return np.asarray(np.rint(self.values * factors), dtype=np.int64)

    @property
    def names(self) -> list[str]:
        """Names of the objectives, in order."""
        return [objective.name for objective in self.objectives]

    def to_frame(self, *, decisions: bool = False) -> "pd.DataFrame":
        """Return one row per point: the objectives, and with `decisions` one more column per candidate."""
        import pandas as pd

        frame = pd.DataFrame(self.values, columns=self.names)
        for column, objective in zip(self.names, self.objectives, strict=True):
            if objective.scale == 1:
                frame[column] = frame[column].astype(np.int64)
        if not decisions:
            return frame
        return pd.concat([frame, pd.DataFrame(self.decisions, columns=list(self.candidates))], axis=1)

    def pick(
        self,
        rule: str = "ideal",
        *,
        weights: Mapping[str, float] | None = None,
        order: Sequence[str] | None = None,
        limits: "Limits" = None,
    ) -> Pick:
        """Name one point by a rule; see :func:`shortlist.results.picking.pick_index` for the rules."""
        from shortlist.results.picking import pick_index

        index = pick_index(self, rule, weights=weights, order=order, limits=limits)
        values = dict(zip(self.names, self.values[index].tolist(), strict=True))
        return Pick(index=index, values=values, decision=self.decisions[index], rule=rule)

    def save(self, path: str | Path) -> None:
        """Write the front as Parquet: a column per objective, `decision` as a list, the rest as metadata.

        A path that ends in ``.csv`` gets a table for people and spreadsheets instead, see
        :func:`shortlist.results.front_csv.csv_text`. It has no proof and cannot be loaded again.
        """
        if Path(path).suffix.casefold() == ".csv":
            write_text(path, csv_text(self))
            return
        import pyarrow as pa

        columns = {name: self.values[:, i] for i, name in enumerate(self.names)}
        table = pa.table({f"objective: {name}": column for name, column in columns.items()})
        width = len(self.candidates)
        flat = pa.array(np.ascontiguousarray(self.decisions, dtype=np.int16).ravel())
        offsets = pa.array(np.arange(len(self) + 1, dtype=np.int64) * width)
        table = table.append_column("decision", pa.LargeListArray.from_arrays(offsets, flat))
        header = {
            "shortlist_front": 1,
            "objectives": [dataclasses.asdict(objective) for objective in self.objectives],
            "candidates": list(self.candidates),
            "proof": dataclasses.asdict(self.proof),
            "method": self.method,
            "seconds": self.seconds,
            "extras": dict(self.extras),
        }
        table = table.replace_schema_metadata({"shortlist": json.dumps(header)})
        write_parquet(table, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote; anything else is a :class:`BadFileError`."""
        import pyarrow as pa

        try:
            table = read_parquet(path)
            header = json.loads((table.schema.metadata or {})[b"shortlist"])
            return cls._from_table(table, header)
        except BadFileError:
            raise
        except (pa.ArrowException, KeyError, TypeError, ValueError):
            raise BadFileError(
                f"{path} must be a front saved by Shortlist as .parquet, got another kind of file or version. "
                "Write one with --out."
            ) from None

    @classmethod
    def _from_table(cls, table: Any, header: Mapping[str, Any]) -> Self:
        """Read the parts of a saved front."""
        objectives = tuple(Objective(**objective) for objective in header["objectives"])
        columns = [table.column(f"objective: {objective.name}").to_numpy() for objective in objectives]
        decisions = table.column("decision").combine_chunks().flatten().to_numpy(zero_copy_only=False)
        missing = header["proof"]["missing"]
        proof = header["proof"] | {
            "tolerances": tuple(header["proof"]["tolerances"]),
            "missing": None if missing is None else tuple(missing),
        }
        return cls(
            objectives,
            np.column_stack(columns).astype(np.float64),
            decisions.reshape(table.num_rows, len(header["candidates"])),
            tuple(header["candidates"]),
            Proof(**proof),
            method=header["method"],
            seconds=header["seconds"],
            extras=header["extras"],
        )


def _largest(first: tuple[float, ...], second: tuple[float, ...]) -> tuple[float, ...]:
    """Take the larger entry per objective; an empty tuple means zero everywhere."""
    if not first or not second:
        return first or second
    return tuple(map(max, first, second))
