"""Panel: judges asked stage by stage, until the answers so far decide a case with enough confidence."""

import functools
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.arrays import Floats, Mask
from shortlist.errors import BadInputError
from shortlist.export import reader
from shortlist.files import write_text
from shortlist.panels.answer_log import AnswerLog, by_agreement
from shortlist.panels.decisions import ConfidenceScale, Heard, JudgesDecision, heard
from shortlist.panels.log_checks import UNASKED
from shortlist.panels.router import Fork
from shortlist.policies import UNDECIDED, Places, Said, follow

ANSWER, HAND_OVER, REJECT = "answer", "hand-over", "reject"
FINALS = (ANSWER, HAND_OVER, REJECT)
"""Actions of the last stage without enough confidence: answer all the same, ask a person, or give no
answer.
"""

NEVER = math.inf
"""Threshold that no confidence reaches."""


@dataclass(frozen=True)
class Final:
    """Action for a case without enough confidence in the last stage.

    `kind`: one of ``"answer", "hand-over", "reject"``. `price`: price of a person, who is always right; 0 if
    no person decides.
    """

    kind: str = ANSWER
    price: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in FINALS:
            raise BadInputError("final", "must be answer, hand-over=PRICE or reject", repr(self.kind))
        if not math.isfinite(self.price) or self.price < 0:
            raise BadInputError("final", "must hand over at a price of at least 0", repr(self.price))


@dataclass(frozen=True)
class Question:
    """Question for which a panel was chosen: objectives, costs of errors and promise.

    `error_costs`: cost of each decision (rows; the last row is no decision) in each true class (columns);
    empty if the cost of errors is no objective. `positive`: the positive class, if recall and specificity are
    objectives. `promise`: requested share of right answers, and confidence level.
    """

    objectives: tuple[str, ...]
    error_costs: tuple[tuple[int, ...], ...] = ()
    positive: str | None = None
    promise: tuple[float, float] | None = None

    def plain(self) -> dict[str, Any]:
        """Return the question as plain data."""
        costs = [list(row) for row in self.error_costs]
        told = {"objectives": list(self.objectives), "error_costs": costs, "positive": self.positive}
        return told if self.promise is None else told | {"promise": list(self.promise)}


@dataclass(frozen=True, eq=False)
class Stage:
    """Judges asked side by side, and the decision by all answers so far.

    `asks`: indices of the judges asked now. `decision`: decision by judges asked so far. `answer_from`: least
    confidence of the decision that ends the case; infinite: never.
    """

    asks: tuple[int, ...]
    decision: JudgesDecision
    answer_from: float


class Outcome(NamedTuple):
    """Outcomes of cases.

    `codes`: class indices, ``(n_cases,)``; -1 where the panel gives no answer, or a person decides. `sure`:
    confidence, ``(n_cases,)``. `stage`: stage that ended the case, from 0, ``(n_cases,)``. `price`: price
    paid for judges, and for a person, ``(n_cases,)``. `latency`: seconds until the answer, ``(n_cases,)``,
    with stages one after the other and judges of a stage side by side; NaN where unknown. `handed_over`: mask
    of cases that a person decides, ``(n_cases,)``. `way`: branch that a router chose, ``(n_cases,)``; 0
    without a router, or for a case that the router could not assign.
    """

    codes: NDArray[np.int64]
    sure: Floats
    stage: NDArray[np.int64]
    price: Floats
    latency: Floats
    handed_over: Mask
    way: NDArray[np.int64]

    def right(self, log: AnswerLog) -> Mask:
        """Return the mask of cases with the right outcome; a person is always right."""
        return np.asarray((log.scored(self.codes) == log.truth) | self.handed_over)


@dataclass(frozen=True, eq=False)
class Panel:
    """Policy over judges: by the answers so far, the panel names the judges to ask next, or decides.

    Attributes
    ----------
    judges : tuple of str
        Names of all judges that any stage asks, in the order of the log from which the panel was chosen.
    classes : tuple of str
        Empty where answers are open: votes then count equal answers.
    stages : tuple of Stage
    prices : tuple of float
        The mean price of a call of each judge.
    scale : ConfidenceScale
        Scale of the confidences of these judges.
    latencies : tuple of float
        The mean seconds of each judge; NaN where not known.
    final : Final
    promise : str, default=""
        Promise about answers to new cases, in a sentence; empty if none was requested.
    router : Fork, optional
        Tree of questions about columns of a case; it assigns the case to a branch before any judge is asked.
    branches : tuple of tuple of Stage
        The stages of each branch of the router; `stages` are then for cases that the router cannot assign.
    question : Question, optional
        Question for which the panel was chosen; None where unknown.
    folds_case, folds_punctuation : bool, default=False
        Whether labels that differ only in capital letters, or in punctuation, are the same.
    """

    judges: tuple[str, ...]
    classes: tuple[str, ...]
    stages: tuple[Stage, ...]
    prices: tuple[float, ...]
    scale: ConfidenceScale
    latencies: tuple[float, ...]
    final: Final = Final()
    promise: str = ""
    router: Fork | None = None
    branches: tuple[tuple[Stage, ...], ...] = ()
    question: Question | None = None
    folds_case: bool = False
    folds_punctuation: bool = False

    @property
    def ways(self) -> tuple[tuple[Stage, ...], ...]:
        """Stages of a case without a branch, followed by the stages of each branch."""
        return (self.stages, *self.branches)

    def run(self, log: AnswerLog) -> Outcome:
        """Return the outcomes of the cases of a log, asked stage after stage, with their prices.

        Raises
        ------
        BadInputError
            If the log lacks a judge of the panel or a column of its router, or has other classes.
        """
        if self.classes:
            return self._run(log)
        if log.unknown_words:
            raise BadInputError(
                "log",
                "must be of free text, as the panel knows no classes",
                "one with classes, whose answers include words that are no class",
                "Read it with `classes=()`.",
            )
        told = self._run(by_agreement(log))
        return told._replace(codes=_said_first(log, told.codes))

    def _run(self, log: AnswerLog) -> Outcome:
        places = self._places(log)
        answers = heard(_of_judges(log, places), self.scale)
        prices = np.where(log.answers[:, places] == UNASKED, 0.0, log.prices[:, places])
        latency = np.full(prices.shape, np.nan) if log.latency is None else log.latency[:, places]
        if self.router is None:
            return run_stages(self.stages, answers, prices, latency, self.final)

        def run(number: int, rows: Places) -> Outcome:
            return run_stages(self.ways[number], answers.at(rows), prices[rows], latency[rows], self.final)

        return by_ways(self.router.branches(log.features), len(self.ways), run)

    def next(self, answers: Mapping[str, Any], failed: Collection[str] = ()) -> dict[str, Any]:
        """Return the next judges to ask about a case, or the decision, like the exported reader.

        Parameters
        ----------
        answers : mapping of str to label or dict
            By judge: a label, or ``{"label": ..., "confidence": ...}``. None or an empty text means that the
            judge gave no answer. A judge without an entry was not asked yet.
        failed : collection of str, or mapping of str to str
            Judges that failed or timed out, perhaps with the reason; such judges count as silent, and the
            decision lists them.

        Returns
        -------
        dict
            ``ask``, the names of judges to be asked at the same time, and ``decision``, which is None while
            there are judges to ask, and is otherwise described at :func:`shortlist.export.reader.answer`.

        Raises
        ------
        shortlist.export.reader.ReaderError
            If an answer is no label, or a confidence no number.
        """
        return reader.next_step(self._policy, dict(answers), failed)

    @functools.cached_property
    def _policy(self) -> dict[str, Any]:
        return self.plain()

    def save(self, path: str | Path) -> None:
        """Write the panel as a policy in JSON with its digest."""
        write_text(path, json.dumps(self._policy, allow_nan=False) + "\n")

    def _places(self, log: AnswerLog) -> list[int]:
        missing = [name for name in self.judges if name not in log.judges]
        if missing:
            raise BadInputError(
                f"the log must have the answers of every judge of the panel; missing: {', '.join(missing)}."
            )
        if self.classes and log.classes != self.classes:
            own, others = (all_of(map(repr, names), most=5) for names in (self.classes, log.classes))
            got = "free text" if log.is_open else others
            raise BadInputError("classes", f"must be those of the panel, {own}", got)
        return [log.judges.index(name) for name in self.judges]

    def plain(self) -> dict[str, Any]:
        """Return the panel as plain data, which is an exported policy with its digest."""
        judges = [
            {
                "name": name,
                "price": price,
                "latency": None if math.isnan(latency) else latency,
                "confidence": _plain_scale(self.scale, place),
            }
            for place, (name, price, latency) in enumerate(
                zip(self.judges, self.prices, self.latencies, strict=True)
            )
        ]
        policy = {
            "format": "shortlist-policy",
            "version": reader.PANEL_VERSION,
            "kind": "panel",
            "classes": list(self.classes),
            "reject_label": None,
            "judges": judges,
            "stages": [_plain_stage(stage) for stage in self.stages],
            "final": {"kind": self.final.kind, "price": self.final.price},
            "promise": self.promise,
        }
        if self.router is not None:
            branches = [[_plain_stage(stage) for stage in stages] for stages in self.branches]
            policy |= {"router": self.router.plain(), "branches": branches}
        if self.question is not None:
            policy["question"] = self.question.plain()
        if self.folds_case:
            policy["fold_case"] = True
        if self.folds_punctuation:
            policy["fold_punctuation"] = True
        return policy | {"digest": reader.digest(policy)}


def run_stages(
    stages: tuple[Stage, ...], answers: Heard, prices: Floats, latency: Floats, final: Final
) -> Outcome:
    """Return the outcomes of cases by stages, with prices and latencies."""

    def says(number: int, cases: Places) -> Said:
        stage = stages[number]
        codes, sure = stage.decision.decide(answers.at(cases).of(stage.decision.judges))
        return Said(codes, (codes >= 0) & (sure >= stage.answer_from), sure)

    asks = [list(stage.asks) for stage in stages]
    return ask_judges(asks, says, prices, latency, (final.kind, final.price))


def ask_judges(
    asks: Sequence[list[int]],
    says: Callable[[int, Places], Said],
    prices: NDArray[Any],
    latency: Floats,
    final: tuple[str, float],
) -> Outcome:
    """Return the outcomes of cases about which sets of judges are asked, one set after another.

    If the final action is to answer, the last stage ends every case for which it has a decision.

    `asks`: indices of the judges that each stage asks. `says`: decision of a stage about cases. `prices`,
    `latency`, ``(n_cases, n_judges)``. `final`: action for cases that no stage ends, and the price of a
    person.
    """
    kind, final_price = final
    price, seconds = np.zeros(len(prices), dtype=prices.dtype), np.zeros(len(prices))

    def decide(number: int, cases: Places) -> Said:
        price[cases] += prices[cases][:, asks[number]].sum(axis=1)
        seconds[cases] += latency[cases][:, asks[number]].max(axis=1, initial=0.0)
        said = says(number, cases)
        always = number == len(asks) - 1 and kind == ANSWER
        return Said(said.codes, said.codes >= 0, said.sure) if always else said

    found = follow(len(prices), len(asks), decide)
    price[found.left] += final_price
    handed, way = np.zeros(len(prices), dtype=bool), np.zeros(len(prices), dtype=np.int64)
    handed[found.left] = kind == HAND_OVER
    return Outcome(found.codes, found.sure, found.reached - 1, price, seconds, handed, way)


def by_ways(way: NDArray[np.int64], n_ways: int, run: Callable[[int, Places], Outcome]) -> Outcome:
    """Return the outcomes of cases by their ways.

    `run` gets the index of a way and the indices of its cases.
    """
    rows = [np.flatnonzero(way == number) for number in range(n_ways)]
    parts = zip(*(run(number, cases) for number, cases in enumerate(rows)), strict=True)
    back = np.argsort(np.concatenate(rows))
    return Outcome(*(np.concatenate(column)[back] for column in parts))._replace(way=way)


def _said_first(log: AnswerLog, judges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the class that a judge gave to each case, ``(n_cases,)``; -1 for a case without a judge (-1)."""
    return np.where(judges >= 0, log.answers[np.arange(len(judges)), judges], UNDECIDED)


def _of_judges(log: AnswerLog, places: list[int]) -> AnswerLog:
    return replace(
        log,
        judges=tuple(log.judges[place] for place in places),
        answers=log.answers[:, places],
        prices=log.prices[:, places],
        confidence=None if log.confidence is None else log.confidence[:, places],
        latency=None if log.latency is None else log.latency[:, places],
        probabilities=None,
    )


def _plain_scale(scale: ConfidenceScale, place: int) -> dict[str, Any] | None:
    curve = scale.curves[place]
    if curve is None:
        return None
    return {"knots": curve.knots.tolist(), "values": curve.values.tolist(), "usual": curve.usual}


def _plain_stage(stage: Stage) -> dict[str, Any]:
    return {
        "asks": list(stage.asks),
        "knows": list(stage.decision.judges),
        "decision": stage.decision.plain(),
        "answer_from": None if stage.answer_from == NEVER else stage.answer_from,
    }
