"""What a method finds for a question, within its time, every product checked."""

import dataclasses
import time
from dataclasses import dataclass

import numpy as np

from shortlist.errors import BadInputError
from shortlist.logic.diagram import Diagram
from shortlist.pareto.dominance import nondominated_unique
from shortlist.products.configuration.checked_front import checked_front, products_front
from shortlist.products.configuration.evolved_front import front_by_evolution
from shortlist.products.configuration.front_search import (
    Question,
    diagram_of,
    front_by_diagram,
    front_by_program,
)
from shortlist.products.configuration.search_options import EVOLUTIONARY_METHODS, SearchOptions
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Cancellation, Report, silent
from shortlist.runs.cancellation import Until

DIAGRAM_SHARE = 0.3
"""Part of a time limit that ``auto`` spends on making the diagram, and of the rest on its front. A diagram
that is of use is mostly there within seconds; what is left must do for integer programs.
"""


@dataclass(frozen=True, eq=False)
class Found:
    """A checked front, and the diagram it came from, if any."""

    front: Front
    diagram: Diagram | None = None


def find_front(
    question: Question,
    method: str,
    options: SearchOptions,
    *,
    time_limit_s: float | None = None,
    started: float | None = None,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> Found:
    """Return what a method finds for a question whose requirements contradict nothing, every product checked.

    `started` is when the clock of the limit began, by ``time.perf_counter``; default: now.
    ``front.extras["why"]`` says why this method was taken. See
    :func:`shortlist.products.configuration.product_front.configure` for the rest.
    """
    begin = time.perf_counter() if started is None else started
    search = _Search(question, options, begin, time_limit_s, report, cancellation)
    diagram = None
    if method == "auto":
        front, diagram, why = search.automatic()
    elif method == "diagram":
        front, diagram, why = search.by_diagram_alone()
    else:
        front, why = search.by_method(method), f"asked for {method}"
    seconds = time.perf_counter() - begin
    return Found(dataclasses.replace(front, seconds=seconds, extras={**front.extras, "why": why}), diagram)


@dataclass(frozen=True, eq=False)
class _Search:
    """A question, and the time and the options for it."""

    question: Question
    options: SearchOptions
    begin: float
    time_limit_s: float | None
    report: Report
    cancellation: Cancellation | None

    def automatic(self) -> tuple[Front, Diagram | None, str]:
        """Take the diagram, and integer programs where it does not end within its share of the time."""
        diagram, why, _ = self._diagram(DIAGRAM_SHARE)
        if diagram is None:
            return self.by_method("exact"), None, why
        front = self._by_diagram(diagram, DIAGRAM_SHARE)
        if not self._ran_out_of_time(front):
            return front, diagram, why
        exact = self.by_method("exact")
        why += ", but its front did not come to an end within its share of the time"
        return _better(self.question, front, exact), diagram, why

    def by_diagram_alone(self) -> tuple[Front, Diagram | None, str]:
        """Take the diagram, and nothing else where there is none in time."""
        diagram, why, until = self._diagram(1.0)
        if diagram is not None:
            return self._by_diagram(diagram, 1.0), diagram, "asked for diagram"
        if until.cancelled:
            limit = f"{self.time_limit_s:g} s" if until.passed else "interrupted"
            return _nothing(self.question, limit), None, why
        raise BadInputError(f"method 'diagram' needs a diagram, but {why}. Take 'auto' or 'exact'.")

    def by_method(self, name: str) -> Front:
        """Return what integer programs or evolution find."""
        search = front_by_evolution if name in EVOLUTIONARY_METHODS else front_by_program
        seconds = self._left(1.0)
        front = search(
            self.question,
            method=name,
            options=self.options,
            time_limit_s=seconds,
            report=self.report,
            cancellation=self.cancellation,
        )
        return self._checked(front, name, seconds)

    def _diagram(self, share: float) -> tuple[Diagram | None, str, Until]:
        """Return the diagram if it can be made, why or why not, and what ended it."""
        until = Until(self._left(share), self.cancellation)
        rng = np.random.default_rng(self.options.seed)
        nodes = self.options.max_nodes
        return *diagram_of(self.question, max_nodes=nodes, rng=rng, cancellation=until), until

    def _by_diagram(self, diagram: Diagram, share: float) -> Front:
        """Return the front of a diagram."""
        tolerance = self.options.tolerance
        names = [goal.objective.name for goal in self.question.objectives]
        seconds = self._left(share)
        front = front_by_diagram(
            self.question,
            diagram,
            tolerance=[float(tolerance.get(name, 0.0)) for name in names] if tolerance else None,
            max_bytes=self.options.max_bytes,
            time_limit_s=seconds,
            report=self.report,
            cancellation=self.cancellation,
        )
        return self._checked(front, "diagram", seconds)

    def _left(self, share: float) -> float | None:
        """Return a share of the time that is left."""
        if self.time_limit_s is None:
            return None
        return max(1e-3, share * (self.time_limit_s - (time.perf_counter() - self.begin)))

    def _checked(self, front: Front, name: str, seconds: float | None) -> Front:
        """Check every product, and name the user's time limit in the proof instead of the method's."""
        front = checked_front(self.question, front, name)
        if seconds is None or not front.proof.limit:
            return front
        whole = f"{self.time_limit_s:g} s"
        limit = front.proof.limit.replace(f"{seconds:g} s", whole).replace("time limit", whole)
        return dataclasses.replace(front, proof=dataclasses.replace(front.proof, limit=limit))

    def _ran_out_of_time(self, front: Front) -> bool:
        """Whether the time is why a front is not complete, and the user has not stopped it."""
        stopped = self.cancellation is not None and self.cancellation.cancelled
        limited = self.time_limit_s is not None and f"{self.time_limit_s:g} s" in front.proof.limit
        return limited and not stopped


def _better(question: Question, rough: Front, exact: Front) -> Front:
    """Return the exact front if it is complete.

    Otherwise the points of both, with what is proved of the rough one.
    """
    if exact.proof.kind is ProofKind.COMPLETE or not len(rough):
        return exact
    points = np.vstack([rough.points, exact.points])
    selections = np.vstack([rough.decisions, exact.decisions]).astype(np.uint8)
    kept = nondominated_unique(points)
    return products_front(
        question,
        points[kept],
        selections[kept],
        rough.proof,
        method=rough.method,
        extras={**rough.extras, **exact.extras},
    )


def _nothing(question: Question, limit: str) -> Front:
    """Return a front without points, because a limit came before the first."""
    n = len(question.objectives)
    return products_front(
        question,
        np.empty((0, n), np.int64),
        np.empty((0, question.model.n_features), np.uint8),
        Proof(ProofKind.NONDOMINATED, limit=limit),
        method="diagram",
    )
