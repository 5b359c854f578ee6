"""Front: non-dominated points of a method, a choice for each, and the proof."""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted, html_table, number_text
from shortlist.arrays import Points, Values
from shortlist.errors import BadFileError, BadInputError
from shortlist.files import read_parquet, write_parquet
from shortlist.pickles import saved_from
from shortlist.results.objective import Objective
from shortlist.results.picking import Pick
from shortlist.results.proof import Proof
from shortlist.tables.spreadsheets import SPREADSHEET_ENDINGS, save_rows

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.results.picking import LimitsAsked
    from shortlist.tables.spreadsheets import Cell


LARGEST_POINT = 2**51
"""Largest scaled integer that survives the division by its scale and back."""


@saved_from("shortlist")
@dataclass(frozen=True, eq=False)
class Front:
    """Front: non-dominated points, a choice for each, and the proof about them.

    Build it with :meth:`from_points` or :meth:`from_values`, which sort the points and merge duplicates.

    Attributes
    ----------
    objectives : tuple of Objective
        Objectives, in order.
    values : ndarray of float, shape (n_points, n_objectives)
        Objective values in the user's signs and units, sorted from best to worst by the first objective, then
        the second, and so on; no two rows are equal.
    decisions : ndarray of int, shape (n_points, n_candidates)
        Choice of each point (the witness): 0/1 per candidate, or the stage per feature.
    candidates : tuple of str
        Names of the candidates.
    proof : Proof
        Proof about the points.
    method : str
        Name of the method that found the front.
    seconds : float
        Wall-clock time of the method.
    extras : mapping
        Further facts that serialise to JSON, for instance the number of programs solved.
    columns : tuple of str
        Names of all columns of a program, in its order; empty for other fronts.
    continuous : ndarray of float, shape (n_points, n_continuous_columns), or None
        Values of a program's columns that are no candidates, in the program's order; NaN if unknown.
    """

    objectives: tuple[Objective, ...]
    values: Values
    decisions: NDArray[np.integer[Any]]
    candidates: tuple[str, ...]
    proof: Proof
    method: str = ""
    seconds: float = 0.0
    extras: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    continuous: Values | None = None

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
            If shapes disagree, a value exceeds 2^51 (beyond which a quotient by the scale could round to its
            neighbour's), or an objective has no integer scale.
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

        Of rows with equal values only the first row stays, with its decision. The caller ensures that points
        are mutually non-dominated; this is not checked.
        """
        values = np.asarray(values, dtype=np.float64).reshape(-1, len(objectives)) + 0.0  # no negative zeros
        decisions = np.asarray(decisions).reshape(len(values), len(candidates))
        names = [objective.name for objective in objectives]
        if len(set(names)) < len(names):
            raise BadInputError("objective", "names must differ", all_of(names), "Rename one.")
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
        wanted = ", ".join(f"{objective.sense} {objective.name}" for objective in self.objectives)
        limit = f", limit {self.proof.limit}" if self.proof.limit else ""
        return f"{counted(len(self), 'point')}; {wanted}; {self.proof.kind}{limit}"

    @property
    def points(self) -> Points:
        """Values as scaled integers to minimise; every objective must have an integer scale."""
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
        """Return one row per point: the objectives, and with `decisions` one more column per candidate.

        If points have promises, the column ``promised`` follows the objectives.
        """
        import pandas as pd

        frame = pd.DataFrame(self.values, columns=self.names)
        for column, objective in zip(self.names, self.objectives, strict=True):
            if objective.scale == 1:
                frame[column] = frame[column].astype(np.int64)
        if "promised" in self.extras:
            frame["promised"] = self.extras["promised"]
        return pd.concat([frame, self.solutions], axis=1) if decisions else frame

    @property
    def solutions(self) -> "pd.DataFrame":
        """Return the choices of each point, a row per point and a column per candidate or program column.

        >>> from shortlist import solve_front
        >>> front = solve_front(
        ...     [[0, 2], [0, -1]], [[1, 0.5]], (0, 1.25),
        ...     bounds=(0, [9, 1]), integrality=[0, 1], names=["y", "x"]
        ... )
        >>> front.solutions.to_dict("list")
        {'y': [0.0, 0.0], 'x': [0, 1]}
        """
        import pandas as pd

        chosen = pd.DataFrame(self.decisions, columns=list(self.candidates))
        if self.continuous is None:
            return chosen
        others = [name for name in self.columns if name not in set(self.candidates)]
        both = pd.concat([chosen, pd.DataFrame(self.continuous, columns=others)], axis=1)
        return both[list(self.columns)]

    def pick(
        self,
        rule: int | str = "ideal",
        *,
        weights: Mapping[str, float] | None = None,
        order: Sequence[str] | None = None,
        limits: "LimitsAsked" = None,
    ) -> Pick:
        """Return one point, by its index or by a rule of :func:`shortlist.results.picking.pick_index`.

        Rules and indices may be written as on the command line: ``"12"``, ``"lexicographic:cost,defects"``
        or ``"weights:cost=2,defects=1"``.
        """
        from shortlist.results.picking import mark_within, numbered_point, pick_index, read_rule

        asked = read_rule(rule)
        if isinstance(asked.rule, int):
            return self.point(numbered_point(self, asked.rule, mark_within(self, limits)))
        weights = asked.weights if weights is None else weights
        order = asked.order if order is None else order
        index = pick_index(self, asked.rule, weights=weights, order=order, limits=limits)
        return self.point(index, asked.rule)

    def point(self, index: int, rule: str = "number") -> Pick:
        """Return the point of an index, counted from 0; `rule`: name of the rule that chose the index."""
        values = dict(zip(self.names, self.values[index].tolist(), strict=True))
        return Pick(index=index, values=values, decision=self.decisions[index], rule=rule)

    def plot(self) -> Any:
        """Return a matplotlib figure of the points; see :func:`shortlist.results.picture.front_figure`."""
        from shortlist.results.picture import front_figure

        return front_figure(self)

    def save(self, path: str | Path) -> None:
        """Write the front as Parquet: a column per objective, `decision` as a list, the rest as metadata.

        A path that ends in ``.csv`` or ``.xlsx`` gets a table for people and spreadsheets instead, see
        :func:`shortlist.results.front.front_header`. Such a table has no proof and cannot be loaded again.
        """
        if Path(path).suffix.casefold() in SPREADSHEET_ENDINGS:
            save_rows(path, front_header(self), front_rows(self))
            return
        import pyarrow as pa

        columns = {name: self.values[:, i] for i, name in enumerate(self.names)}
        table = pa.table({f"objective: {name}": column for name, column in columns.items()})
        width = len(self.candidates)
        largest = int(np.abs(self.decisions.astype(np.int64)).max(initial=0))
        kind = np.int16 if largest < 2**15 else np.int64
        flat = pa.array(np.ascontiguousarray(self.decisions, dtype=kind).ravel())
        offsets = pa.array(np.arange(len(self) + 1, dtype=np.int64) * width)
        table = table.append_column("decision", pa.LargeListArray.from_arrays(offsets, flat))
        if self.continuous is not None:
            others = pa.array(np.ascontiguousarray(self.continuous, dtype=np.float64).ravel())
            offsets = pa.array(np.arange(len(self) + 1, dtype=np.int64) * self.continuous.shape[1])
            table = table.append_column("continuous", pa.LargeListArray.from_arrays(offsets, others))
        header = {
            "shortlist_front": 1,
            "objectives": [dataclasses.asdict(objective) for objective in self.objectives],
            "candidates": list(self.candidates),
            "proof": dataclasses.asdict(self.proof),
            "method": self.method,
            "seconds": self.seconds,
            "extras": dict(self.extras),
        } | ({"columns": list(self.columns)} if self.columns else {})
        table = table.replace_schema_metadata({"shortlist": json.dumps(header)})
        write_parquet(table, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a front that :meth:`save` wrote; raise :class:`BadFileError` for any other file."""
        table = read_parquet(path)
        try:
            header = json.loads((table.schema.metadata or {})[b"shortlist"])
            return cls._from_table(table, header)
        except Exception as error:  # damage may raise any error
            raise BadFileError(
                f"{path} must be a front saved by Shortlist as .parquet, got another kind of file or "
                "version. Write one anew."
            ) from error

    @classmethod
    def _from_table(cls, table: Any, header: Mapping[str, Any]) -> Self:
        objectives = tuple(Objective(**objective) for objective in header["objectives"])
        columns = [table.column(f"objective: {objective.name}").to_numpy() for objective in objectives]
        decisions = table.column("decision").combine_chunks().flatten().to_numpy(zero_copy_only=False)
        continuous = None
        if "continuous" in table.column_names:
            values = table.column("continuous").combine_chunks().flatten().to_numpy(zero_copy_only=False)
            n_others = len(header["columns"]) - len(header["candidates"])
            continuous = values.reshape(table.num_rows, n_others).astype(np.float64)
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
            columns=tuple(header.get("columns", ())),
            continuous=continuous,
        )


POINT = "point"
"""Heading of the column of point numbers."""

COMMITTEES = "committees"
"""Method of fronts whose decisions are committees."""

PROGRAM = "program"
"""Name of a front's fact: whether its candidates are the columns of a program."""

STAGED_METHODS = ("emsco", "enumerate", "windows")
"""Methods whose decisions are the stage of each feature, from 0; -1 for a feature that is never bought."""

HELD_OUT = ("coverage", "accuracy", "cost", "n_rows")
"""Columns of a table for the figures of stages on held-out rows."""


def without_promises(front: Front) -> Front:
    """Return a front without its promises, so that any point may be picked."""
    extras = {name: fact for name, fact in front.extras.items() if name != "promised"}
    return dataclasses.replace(front, extras=extras)


def front_header(front: "Front") -> list[str]:
    """Return the headings of a front's table: the point's number, each objective, and each candidate.

    A point's number is its index in the saved front, from 0, so that a point has the same number everywhere.
    An objective has a heading such as ``objective: min cost``. A feature of products has a heading such as
    ``feature: GPS``, with 1 for selected and 0 for deselected. A feature of stages has a heading such as
    ``stage of: age``, with the stage from 1, and an empty cell if the feature is never bought. With promises,
    ``promised`` is 1 for points that keep the promise and 0 for other points. Figures on held-out rows have
    columns such as ``held out: coverage``. As every heading begins with a fixed word and all other cells are
    numbers, no name can become a formula in a spreadsheet.

    >>> import numpy as np
    >>> from shortlist.results.front import Front
    >>> from shortlist.results.objective import Objective
    >>> from shortlist.results.proof import Proof, ProofKind
    >>> front = Front.from_points(
    ...     [Objective("cost", scale=10)], np.array([[25]]), np.array([[1, 0]]), ["GPS", "=1+1"],
    ...     Proof(ProofKind.COMPLETE)
    ... )
    >>> front_header(front), list(front_rows(front))
    (['point', 'objective: min cost', 'feature: GPS', 'feature: =1+1'], [[0, 2.5, 1, 0]])
    """
    what = "column" if PROGRAM in front.extras else "feature"
    what = "stage of" if front.method in STAGED_METHODS else what
    header = [POINT, *(f"objective: {objective.sense} {objective.name}" for objective in front.objectives)]
    header += ["promised"] if "promised" in front.extras else []
    header += [f"held out: {name}" for name in HELD_OUT] if "held_out" in front.extras else []
    return header + [f"{what}: {name}" for name in _names(front)]


def _names(front: "Front") -> Sequence[str]:
    return front.candidates if front.continuous is None else front.columns


def values_at(front: "Front", point: int) -> dict[str, int | float]:
    """Return the value of each candidate at a point; for a program, of all its columns."""
    chosen: dict[str, int | float] = dict(zip(front.candidates, front.decisions[point].tolist(), strict=True))
    if front.continuous is None:
        return chosen
    others = iter(front.continuous[point].tolist())
    return {name: chosen[name] if name in chosen else next(others) for name in front.columns}


def chosen_at(front: "Front", point: int) -> list[str]:
    """Return the chosen names at the point of an index; a value other than 1 is added to the name.

    >>> import numpy as np
    >>> from shortlist.results.objective import Objective
    >>> from shortlist.results.proof import Proof, ProofKind
    >>> front = Front.from_points(
    ...     [Objective("cost")], np.array([[7]]), np.array([[1, 0, 3]]), ["x", "y", "z"],
    ...     Proof(ProofKind.COMPLETE)
    ... )
    >>> chosen_at(front, 0)
    ['x', 'z = 3']
    """
    return [
        name if value == 1 else f"{name} = {value if isinstance(value, int) else number_text(value)}"
        for name, value in values_at(front, point).items()
        if value
    ]


def front_rows(front: "Front") -> "Iterator[list[Cell]]":
    """Yield a row per point; reading a written value gives the same number."""
    staged = front.method in STAGED_METHODS
    whole = [objective.scale == 1 for objective in front.objectives]
    for point, (values, decision) in enumerate(
        zip(front.values.tolist(), front.decisions.tolist(), strict=True)
    ):
        numbers = [int(value) if is_whole else value for value, is_whole in zip(values, whole, strict=True)]
        if "promised" in front.extras:
            numbers.append(int(front.extras["promised"][point]))
        if "held_out" in front.extras:
            numbers += [front.extras["held_out"][point][name] for name in HELD_OUT]
        if staged:
            yield [point, *numbers, *((None if stage < 0 else stage + 1) for stage in decision)]
        else:
            yield [point, *numbers, *values_at(front, point).values()]
