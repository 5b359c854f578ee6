"""What a panel does on hold-out cases, and whether it is worth more than the best single judge."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

import numpy as np

from shortlist.arrays import Floats, Mask
from shortlist.guarantees.intervals import Interval, Z, wilson_interval
from shortlist.panels.answer_log import AnswerLog, n_different
from shortlist.panels.choice import PanelChoice
from shortlist.panels.losses import (
    Scoring,
    accuracy_scoring,
    by_case,
    interval_of_mean,
    scoring_of,
    sign_flip_p,
)
from shortlist.panels.panel_options import ACCURACY, ERROR_COST, RECALL
from shortlist.panels.policy import Outcome, Panel
from shortlist.panels.recipes import Found, Recipe
from shortlist.panels.two_errors import with_errors
from shortlist.results.objective import Limit

CHANCE = 0.05
"""A difference whose p-value is above this may be chance."""


@dataclass(frozen=True)
class Figures:
    """What a panel does on some cases; several rows of one case count as one sample in all intervals.

    `n_cases`, `n_right`, `n_unanswered`, `n_handed_over`: a case that a person answers is right. `objective`:
    ``accuracy``, ``error-cost`` or ``balanced-accuracy``. `value`, `value_interval`: the objective, and its
    interval at 95 %: that of the accuracy, or as that of the price. `accuracy`, `accuracy_interval`: share of
    right cases, and Wilson's interval at 95 %. `price`, `price_interval`: mean price as paid, and its
    interval at 95 %: the normal one, or by an exact tail where all cases cost the same; see
    :func:`shortlist.panels.losses.interval_of_mean`. `latency`: mean seconds. `ended`: the share of the cases
    that each stage ends. `recall`: the share of each class that is answered rightly; None where no case is of
    it. Of open answers none.
    """

    n_cases: int
    n_right: int
    n_unanswered: int
    n_handed_over: int
    objective: str
    value: float
    value_interval: Interval
    accuracy: float
    accuracy_interval: Interval
    price: float
    price_interval: Interval
    latency: float | None
    ended: tuple[float, ...]
    recall: tuple[float | None, ...]


def figures(panel: Panel, log: AnswerLog, scoring: Scoring | None = None) -> Figures:
    """Measure a panel on cases of known truth, by default by accuracy; see :class:`Figures`."""
    scoring = scoring or accuracy_scoring(log)
    outcome = panel.run(log)
    right = outcome.right(log)
    n, n_cases = len(right), n_different(log)
    latency, price = float(outcome.latency.mean()), float(outcome.price.mean())
    accuracy, losses = float(right.mean()), scoring.of(outcome, log)
    value = accuracy if scoring.objective == ACCURACY else scoring.value(float(losses.mean()))
    wilson = wilson_interval(int(right.sum()) if n == n_cases else accuracy * n_cases, n_cases)
    return Figures(
        n_cases=n,
        n_right=int(right.sum()),
        n_unanswered=int(((outcome.codes < 0) & ~outcome.handed_over).sum()),
        n_handed_over=int(outcome.handed_over.sum()),
        objective=scoring.objective,
        value=value,
        value_interval=wilson if scoring.objective == ACCURACY else scoring.interval(losses, log),
        accuracy=accuracy,
        accuracy_interval=wilson,
        price=price,
        price_interval=interval_of_mean(outcome.price, log, *_possible_prices(panel, log)),
        latency=None if math.isnan(latency) else latency,
        ended=tuple(np.bincount(outcome.stage, minlength=len(panel.stages)) / n),
        recall=_recalls(right, log),
    )


def _possible_prices(panel: Panel, log: AnswerLog) -> tuple[Floats, Floats]:
    """Return what a case may cost at least, its first stage, and at most, all stages and a person."""
    if isinstance(panel, Rechosen):
        return panel.possible_prices
    paid = log.paid[:, [log.judges.index(name) for name in panel.judges]]
    low, high = paid.min(axis=0), paid.max(axis=0)
    least = min(low[list(stages[0].asks)].sum() for stages in panel.ways)
    most = max(high[[judge for stage in stages for judge in stage.asks]].sum() for stages in panel.ways)
    return np.array([least]), np.array([most + panel.final.price])


def _recalls(right: Mask, log: AnswerLog) -> tuple[float | None, ...]:
    of_class = [log.truth == code for code in range(0 if log.is_open else len(log.classes))]
    return tuple(float(right[mask].mean()) if mask.any() else None for mask in of_class)


@dataclass(frozen=True)
class Verdict:
    """A panel beside the best single judge, on hold-out cases, by the first objective of the front.

    `single`: the judge that loses least on the training cases, of those that keep the limits of the panel;
    the cheapest of equals. `single_figures`, `panel_figures`: the judge is measured itself, also where the
    same cases chose it. `difference`, `difference_interval`: panel minus judge, in the objective, and the
    paired interval at 95 %; a cost that is below zero is saved. `p_value`: of the paired differences,
    two-sided, if their signs were chance: McNemar's exact one where every mistake counts alike. `is_judge`:
    whether the panel asks the judge alone. `n_more_cases`: about so many more labelled cases would tell the
    two apart, if the difference stays; None where it is told already, or there is none. `correlation`: the
    mean correlation of the errors of the judges in the panel. `n_independent`: how many independent votes
    they amount to, m / (1 + (m - 1) correlation) (Kish 1965). `within_limits`: whether the judge keeps the
    limits of the panel. `is_best`: whether no judge loses less, whatever the limits. `rechosen_figures`: of
    single judges chosen in the same way without each part of the cases, if others were: the difference is
    then to them, since the judge looks better than it is on the cases that chose it. `constant`: (str,
    float), optional The class that loses least as the answer to every training case, with its value of the
    objective, where neither the panel nor the judge is better than that beyond chance.
    """

    single: str
    single_figures: Figures
    panel_figures: Figures
    difference: float
    difference_interval: Interval
    p_value: float
    is_judge: bool
    n_more_cases: int | None
    correlation: float | None
    n_independent: float | None
    within_limits: bool = True
    is_best: bool = True
    rechosen_figures: Figures | None = None
    constant: tuple[str, float] | None = None

    @property
    def recommended(self) -> bool:
        """Whether the panel is better beyond chance, or is cheaper and differs by no more than chance.

        It is as well where it is the judge, or where no single judge keeps the limits.
        """
        if self.is_judge or not self.within_limits:
            return True
        is_cheaper = self.panel_figures.price < self.single_figures.price
        return self.gain > 0 if not self.within_chance else is_cheaper

    @property
    def title(self) -> str:
        """What the judge is."""
        if not self.within_limits:
            return "best of all judges"
        return "best single judge" if self.is_best else "best single judge within the limits"

    @property
    def against(self) -> str:
        """What the difference is to."""
        if self.rechosen_figures is None:
            return f"{self.single!r} alone"
        return "single judges chosen in the same way"

    @property
    def within_chance(self) -> bool:
        """Whether the difference may be chance."""
        return self.p_value > CHANCE

    @property
    def gain(self) -> float:
        """By how much the panel is better, in the objective."""
        return -self.difference if self.panel_figures.objective == ERROR_COST else self.difference

    @property
    def undecided(self) -> bool:
        """Whether the panel costs more and did better, but too few cases tell whether that is chance."""
        return not self.recommended and self.within_chance and self.gain > 0

    def sentence(self) -> str:
        """Say for people whether the panel is worth it."""
        one, all_of_them = self.single_figures, self.panel_figures
        what = f"{difference_in_words(self)} against {self.against}"
        if all_of_them.price or one.price:
            whose = "" if self.rechosen_figures is None else f", the price of {self.single!r}"
            what += f", for {all_of_them.price:.4g} in place of {one.price:.4g} a case{whose}"
        if not self.within_limits:
            return f"No single judge keeps the limits. Beside the best of all judges: {what}."
        if not self.within_chance:
            return f"{'Better' if self.gain > 0 else 'Worse'} than the {self.title}: {what}."
        if self.is_judge:
            price = f", for {one.price:.4g} a case" if one.price else ""
            limits = "" if self.is_best else " within the limits"
            return f"The best{limits} is a single judge: {self.single!r} alone{price}."
        if self.recommended:
            return f"As good as the {self.title} within chance, and cheaper: {what}."
        if self.undecided:
            return (
                f"Too few cases to tell whether it is better than the {self.title}: {what}. "
                f"Until more cases tell, ask {self.single!r} alone."
            )
        return f"No better than the {self.title}: {what}. Ask {self.single!r} alone."


CHEAPER = 0.01
"""Relative; a new panel that saves less is not worth the change."""


class Standing(StrEnum):
    """How a saved panel stands beside a new one."""

    BEATEN = "beaten"
    AS_GOOD = "as-good"
    BETTER = "better"


def standing(told: Verdict) -> Standing:
    """Say how a saved panel stands, the single one of the verdict, beside a new panel."""
    if not told.within_chance:
        return Standing.BEATEN if told.gain > 0 else Standing.BETTER
    is_cheaper = told.panel_figures.price < (1 - CHEAPER) * told.single_figures.price
    return Standing.BEATEN if is_cheaper else Standing.AS_GOOD


def difference_in_words(told: Verdict) -> str:
    """Say a difference with its interval, such as ``+1.2 points of accuracy (-0.3 to +2.7)``.

    The p-value is told where the interval alone would say otherwise, as the two are computed in other ways.
    """
    low, high = told.difference_interval
    p = f", p = {told.p_value:.2g}" if (low > 0 or high < 0) == told.within_chance else ""
    objective = told.panel_figures.objective
    numbers = (told.difference, *told.difference_interval)
    if objective == ERROR_COST:
        own, least, most = (f"{number:+.3g}" for number in numbers)
        return f"{own} of error cost a case ({least} to {most}{p})"
    own, least, most = (f"{100 * number:+.1f}" for number in numbers)
    return f"{own} points of {objective.replace('-', ' ')} ({least} to {most}{p})"


def single_found(choice: PanelChoice, judge: int) -> Found:
    """Return the policy that answers what one judge says, with what it costs on the training cases."""
    cases = choice.cases
    words = cases.answers.words[:, judge]
    codes = np.where(words == cases.answers.n_classes, -1, words)
    recipe = Recipe(((judge,),), (0.0,), "votes")
    seconds = float(cases.latency[:, judge].mean())
    found = Found(int(cases.losses_of(codes).sum()), int(cases.prices[:, judge].sum()), seconds, recipe)
    return with_errors(cases, found) if RECALL in choice.front.names else found


def keeps(choice: PanelChoice, found: Found, limits: Sequence[Limit]) -> bool:
    """Whether a policy keeps limits on the objectives, on the training cases."""
    values = choice.values_of(found)
    return all(limit.met_by(np.array([values[limit.name]]), None).all() for limit in limits)


def best_single(choice: PanelChoice, limits: Sequence[Limit] = ()) -> int:
    """Return the judge that loses least as it answers, on the training cases; the cheapest of equals.

    Judges that keep the limits come before all others.
    """
    found = [single_found(choice, judge) for judge in range(choice.cases.n_judges)]
    price = choice.cases.prices.mean(axis=0)
    sizes = np.bincount(choice.cases.truth == choice.cases.positive, minlength=2)[::-1]

    def loss(one: Found) -> float:
        return float((np.array(one.errors) / np.maximum(1, sizes)).sum()) if one.errors else one.loss

    def order(judge: int) -> tuple[Any, ...]:
        return not keeps(choice, found[judge], limits), loss(found[judge]), price[judge], judge

    return min(range(len(found)), key=order)


def single_panel(choice: PanelChoice, judge: int) -> Panel:
    """Return the panel that asks one judge and answers what it says."""
    return choice.of_recipe(Recipe(((judge,),), (0.0,), "votes"))


@dataclass(frozen=True, eq=False)
class Rechosen(Panel):
    """A panel that all cases chose, with what panels chosen without each part of the cases do about it.

    `outcome`: of all cases that chose, in the order of the choice. `possible_prices`: (ndarray of float,
    ndarray of float), shape (1,) What a case may cost at least and at most, by any of the other panels.
    """

    outcome: Outcome | None = None
    possible_prices: tuple[Floats, Floats] = (np.zeros(1), np.full(1, np.inf))

    def run(self, log: AnswerLog) -> Outcome:
        """Return what the other panels do; `log` has the cases that chose."""
        assert self.outcome is not None
        assert len(self.outcome.codes) == len(log.truth)
        return self.outcome


def rechosen(choice: PanelChoice, panel: Panel, again: Callable[[PanelChoice], Panel]) -> Panel:
    """Return a panel as it is to be measured on the cases of a choice that measure.

    Where all cases choose, it is `again` that chooses one in the same way without each part of them.
    """
    if not choice.parts:
        return panel
    others = [(again(part), part.test) for part in choice.parts]
    outcomes = [other.run(log) for other, log in others]
    whole = Outcome(*(np.concatenate(column) for column in zip(*outcomes, strict=True)))
    least, most = zip(*(_possible_prices(other, log) for other, log in others), strict=True)
    known = {one.name: getattr(panel, one.name) for one in fields(panel)}
    return Rechosen(**known, outcome=whole, possible_prices=(np.min(least, axis=0), np.max(most, axis=0)))


def measured_panel(choice: PanelChoice, point: int) -> Panel:
    """Return the panel of a point as it is to be measured.

    Without each part of the cases, the panel that loses least for at most the mean price of the point is
    chosen again, or the cheapest one.
    """

    def again(part: PanelChoice) -> Panel:
        most = price_in(choice, point, part)
        within = [place for place, one in enumerate(part.found) if one.price <= most]
        if within:
            return part.panel(min(within, key=lambda place: part.found[place].loss))
        return part.panel(min(range(len(part.found)), key=lambda place: part.found[place].price))

    return rechosen(choice, choice.panel(point), again)


def price_in(choice: PanelChoice, point: int, part: PanelChoice) -> int:
    """Return the mean price of a point, as the sum over the training cases of another choice in its steps."""
    mean = choice.found[point].price / (len(choice.chosen.truth) * choice.steps)
    return int(mean * len(part.chosen.truth) * part.steps * (1 + 1e-9))


def verdict(
    choice: PanelChoice, panel: Panel, log: AnswerLog | None = None, limits: Sequence[Limit] = ()
) -> Verdict:
    """Compare a panel with the best single judge on the hold-out cases, or on another log.

    `panel`: as :func:`measured_panel` returns it, where the cases of the choice measure. `log`: of hold-out
    cases alone. `limits`: what the panel was picked by, which the judge has to keep too if any judge does.
    """
    measured = choice.test if log is None else log
    scoring = scoring_of(choice, measured)
    judge = best_single(choice, limits)
    name, itself = choice.chosen.judges[judge], single_panel(choice, judge)
    alone, others = itself, set[int]()
    if log is None and choice.parts:
        others = {best_single(part, limits) for part in choice.parts} - {judge}
        alone = rechosen(choice, itself, lambda part: single_panel(part, best_single(part, limits)))
    told = compared(name, alone, panel, measured, scoring)
    if others:
        told = replace(
            told,
            single_figures=figures(itself, measured, scoring),
            rechosen_figures=told.single_figures,
        )
    more = None if told.is_judge else told.n_more_cases
    if log is None and more is not None and not choice.parts:  # of labelled cases only some are held out
        parts = (choice.chosen, choice.test, choice.calibration)
        n_labelled = sum(n_different(part) for part in parts if part is not None)
        more = math.ceil(more * n_labelled / n_different(choice.test))
    return replace(
        told,
        within_limits=keeps(choice, single_found(choice, judge), limits),
        is_best=judge == best_single(choice),
        n_more_cases=more,
        constant=_constant(choice, (panel, alone), measured, scoring),
    )


def _constant(
    choice: PanelChoice, panels: Sequence[Panel], log: AnswerLog, scoring: Scoring
) -> tuple[str, float] | None:
    """Return the best answer to every case, with its value, where no panel is better beyond chance."""
    if choice.cases.is_open:
        return None
    losses = scoring_of(choice, choice.chosen).losses[:-1, choice.chosen.truth].mean(axis=1)
    code = int(losses.argmin())
    lost = scoring.losses[code, log.truth]
    for panel in panels:
        gains = lost - scoring.of(panel.run(log), log)
        if gains.mean() > 0 and sign_flip_p(by_case(gains, log.groups)) <= CHANCE:
            return None
    return choice.chosen.classes[code], scoring.value(float(lost.mean()))


def compared(
    name: str, alone: Panel, panel: Panel, log: AnswerLog, scoring: Scoring | None = None
) -> Verdict:
    """Compare a panel with a single judge, or another panel, on the same cases, by default by accuracy."""
    scoring = scoring or accuracy_scoring(log)
    gains = scoring.of(alone.run(log), log) - scoring.of(panel.run(log), log)
    p = sign_flip_p(by_case(gains, log.groups))
    gain, error = float(gains.mean()), scoring.error(gains, log)
    is_same = _decide_alike(panel, alone) and not gains.any()
    interval = (0.0, 0.0) if is_same else scoring.interval_of_gain(gains, log)
    own, other = figures(panel, log, scoring), figures(alone, log, scoring)
    correlation = _error_correlation(panel, log)
    m = len(panel.judges)
    return Verdict(
        single=name,
        single_figures=other,
        panel_figures=own,
        difference=scoring.sign * gain,
        difference_interval=interval,
        p_value=p,
        is_judge=panel.judges == alone.judges,
        n_more_cases=_more_cases(gain, error, n_different(log), p),
        correlation=correlation,
        n_independent=None if correlation is None else m / max(1e-9, 1 + (m - 1) * max(correlation, 0.0)),
    )


def _decide_alike(one: Panel, other: Panel) -> bool:
    """Whether two panels are the same policy, whatever else is known of them."""
    parts = ("judges", "stages", "router", "branches", "final", "least")
    return all(one.plain().get(part) == other.plain().get(part) for part in parts)


def _more_cases(gain: float, error: float, n: int, p: float) -> int | None:
    """Return how many more cases make such a difference larger than 1.96 of its standard errors."""
    if p <= CHANCE or gain == 0:
        return None
    return max(1, math.ceil(n * (Z * error / gain) ** 2) - n)


def _error_correlation(panel: Panel, log: AnswerLog) -> float | None:
    """Return the mean correlation of errors over the pairs of judges, on cases that both answered."""
    places = [log.judges.index(name) for name in panel.judges]
    is_right, found = log.is_right, []
    for here, one in enumerate(places):
        for other in places[:here]:
            both = (log.answers[:, one] >= 0) & (log.answers[:, other] >= 0)
            wrong: Any = ~is_right[both][:, [one, other]]
            if both.sum() > 1 and wrong.std(axis=0).all():
                found.append(float(np.corrcoef(wrong.T)[0, 1]))
    return float(np.mean(found)) if found else None
