"""What a panel does on cases that chose nothing, and whether it is worth more than the best single judge."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest

from shortlist.arrays import Floats, Mask
from shortlist.guarantees.intervals import Interval, mean_interval, wilson_interval
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.choice import PanelChoice
from shortlist.panels.policy import Outcome, Panel
from shortlist.panels.recipes import Recipe

CHANCE = 0.05
"""A difference whose p-value is above this may be chance."""
Z = 1.959964


@dataclass(frozen=True)
class Figures:
    """What a panel does on some cases.

    Attributes
    ----------
    n_cases, n_right, n_unanswered, n_handed_over : int
        A case that a person answers is right.
    accuracy, accuracy_interval : float, (float, float)
        Share of right cases, and Wilson's interval at 95 %.
    price, price_interval : float, (float, float)
        Mean price as paid, and its normal interval at 95 %.
    latency : float or None
        Mean seconds.
    ended : tuple of float
        The share of the cases that each stage ends.
    recall : tuple of float or None
        The share of each class that is answered rightly; None where no case is of it.
    """

    n_cases: int
    n_right: int
    n_unanswered: int
    n_handed_over: int
    accuracy: float
    accuracy_interval: Interval
    price: float
    price_interval: Interval
    latency: float | None
    ended: tuple[float, ...]
    recall: tuple[float | None, ...]


def figures(panel: Panel, log: AnswerLog) -> Figures:
    """Measure a panel on cases of known truth; see :class:`Figures`."""
    outcome = panel.run(log)
    right = outcome.right(log.truth)
    n = len(right)
    latency = float(outcome.latency.mean())
    return Figures(
        n_cases=n,
        n_right=int(right.sum()),
        n_unanswered=int(((outcome.codes < 0) & ~outcome.handed_over).sum()),
        n_handed_over=int(outcome.handed_over.sum()),
        accuracy=float(right.mean()),
        accuracy_interval=wilson_interval(int(right.sum()), n),
        price=float(outcome.price.mean()),
        price_interval=mean_interval(outcome.price),
        latency=None if math.isnan(latency) else latency,
        ended=tuple(np.bincount(outcome.stage, minlength=len(panel.stages)) / n),
        recall=_recalls(right, log),
    )


def _recalls(right: Mask, log: AnswerLog) -> tuple[float | None, ...]:
    of_class = [log.truth == code for code in range(len(log.classes))]
    return tuple(float(right[mask].mean()) if mask.any() else None for mask in of_class)


@dataclass(frozen=True)
class Verdict:
    """A panel beside the best single judge, on cases that chose neither.

    Attributes
    ----------
    single : str
        The judge that is right most often on the cases that choose; the cheapest of equals.
    single_figures, panel_figures : Figures
    difference, difference_interval : float, (float, float)
        Panel minus judge, in shares of right cases, and the paired interval at 95 %.
    p_value : float
        McNemar's, exact and two-sided.
    recommended : bool
        Whether the panel is better beyond chance, or is cheaper and its accuracy differs by no more than
        chance.
    n_more_cases : int or None
        About so many more labelled cases would tell the two apart, if the difference stays; None where it is
        told already, or there is none.
    correlation : float or None
        The mean correlation of the errors of the judges in the panel.
    n_independent : float or None
        How many independent votes they amount to, m / (1 + (m - 1) correlation) (Kish 1965).
    """

    single: str
    single_figures: Figures
    panel_figures: Figures
    difference: float
    difference_interval: Interval
    p_value: float
    recommended: bool
    n_more_cases: int | None
    correlation: float | None
    n_independent: float | None

    @property
    def within_chance(self) -> bool:
        """Whether the difference in accuracy may be chance."""
        return self.p_value > CHANCE

    @property
    def undecided(self) -> bool:
        """Whether the panel costs more and did better, but too few cases tell whether that is chance."""
        return not self.recommended and self.within_chance and self.difference > 0

    def sentence(self) -> str:
        """Say for people whether the panel is worth it."""
        one, all_of_them = self.single_figures, self.panel_figures
        points = 100 * self.difference
        low, high = (100 * end for end in self.difference_interval)
        what = f"{points:+.1f} points of accuracy ({low:+.1f} to {high:+.1f}) against {self.single!r} alone"
        cost = f"{all_of_them.price:.4g} in place of {one.price:.4g} a case"
        if not self.within_chance:
            better = "Better than" if points > 0 else "Worse than"
            return f"{better} the best single judge: {what}, for {cost}."
        if self.recommended and all_of_them.price >= one.price:  # it is the judge itself
            return f"The best is a single judge: {self.single!r} alone, for {one.price:.4g} a case."
        if self.recommended:
            return f"As accurate as the best single judge within chance, and cheaper: {what}, for {cost}."
        if self.undecided:
            return (
                f"Too few cases to tell whether it is better than the best single judge: {what}, for {cost}. "
                f"Until more do, ask {self.single!r} alone."
            )
        return f"No better than the best single judge: {what}, for {cost}. Ask {self.single!r} alone."


def best_single(choice: PanelChoice) -> int:
    """Return the judge that loses least as it answers, on the cases that choose; the cheapest of equals."""
    cases = choice.cases
    price = cases.prices.mean(axis=0)
    words = np.where(cases.answers.words == cases.answers.n_classes, -1, cases.answers.words)
    losses = [int(cases.losses_of(column).sum()) for column in words.T]
    return min(range(cases.n_judges), key=lambda judge: (losses[judge], price[judge], judge))


def single_panel(choice: PanelChoice, judge: int) -> Panel:
    """Return the panel that asks one judge and answers what it says."""
    return choice.of_recipe(Recipe(((judge,),), ((),), "votes"))


def verdict(choice: PanelChoice, panel: Panel, log: AnswerLog | None = None) -> Verdict:
    """Compare a panel with the best single judge on the cases that measure, or on another log."""
    log = choice.test if log is None else log
    judge = best_single(choice)
    alone = single_panel(choice, judge)
    return compared(choice.chosen.judges[judge], alone, panel, log)


def compared(name: str, alone: Panel, panel: Panel, log: AnswerLog) -> Verdict:
    """Compare a panel with a single judge on the same cases."""
    one, two = alone.run(log).right(log.truth), panel.run(log).right(log.truth)
    gained, lost = int((two & ~one).sum()), int((one & ~two).sum())
    n = len(one)
    p = 1.0 if gained + lost == 0 else float(binomtest(gained, gained + lost).pvalue)
    difference = (gained - lost) / n
    spread = math.sqrt(max(0.0, (gained + lost) / n - difference**2) / n)
    own, other = figures(panel, log), figures(alone, log)
    cheaper = own.price < other.price
    better = p <= CHANCE and gained > lost
    correlation = _error_correlation(panel, log)
    m = len(panel.judges)
    return Verdict(
        single=name,
        single_figures=other,
        panel_figures=own,
        difference=difference,
        difference_interval=(difference - Z * spread, difference + Z * spread),
        p_value=p,
        recommended=better or (cheaper and (p > CHANCE or gained >= lost)) or panel.judges == alone.judges,
        n_more_cases=_more_cases(gained, lost, n, p),
        correlation=correlation,
        n_independent=None if correlation is None else m / max(1e-9, 1 + (m - 1) * max(correlation, 0.0)),
    )


def _more_cases(gained: int, lost: int, n: int, p: float) -> int | None:
    """Return how many more cases make such a difference larger than 1.96 of its standard errors."""
    difference = (gained - lost) / n
    if p <= CHANCE or difference == 0:
        return None
    variance = (gained + lost) / n - difference**2
    return max(1, math.ceil(Z**2 * variance / difference**2) - n)


def _error_correlation(panel: Panel, log: AnswerLog) -> float | None:
    """Return the mean correlation of errors over the pairs of judges, on cases that both answered."""
    places = [log.judges.index(name) for name in panel.judges]
    found = []
    for here, one in enumerate(places):
        for other in places[:here]:
            both = (log.answers[:, one] >= 0) & (log.answers[:, other] >= 0)
            wrong = log.answers[both][:, [one, other]] != log.truth[both, None]
            if both.sum() > 1 and wrong.std(axis=0).all():
                found.append(float(np.corrcoef(wrong.T)[0, 1]))
    return float(np.mean(found)) if found else None


def calls_of(panel: Panel, outcome: Outcome, judges: tuple[str, ...]) -> Floats:
    """Return the share of the cases about which each judge of a log is asked, ``(n_judges,)``."""
    shares = np.zeros(len(judges))
    for way, stages in enumerate(panel.ways):
        for number, stage in enumerate(stages):
            share = float(((outcome.way == way) & (outcome.stage >= number)).mean())
            for judge in stage.asks:
                shares[judges.index(panel.judges[judge])] += share
    return shares


def break_even_prices(choice: PanelChoice, point: int) -> dict[str, dict[str, Any]]:
    """Return at which price of each judge another point of the front would take the place of a point.

    Parameters
    ----------
    choice : PanelChoice
    point : int
        The number of the point.

    Returns
    -------
    prices : dict by name of the judge
        ``now`` and ``up_to``: the price now, and the one from which on another point that loses no more is
        cheaper; None where none ever is. Of a judge that is not asked: ``below``, the price under which such
        a point that asks it is cheaper.
    """
    judges = choice.chosen.judges
    now = choice.chosen.prices.mean(axis=0)
    calls, own = _calls_by_point(choice), choice.found[point]
    rivals = [
        place
        for place, one in enumerate(choice.found)
        if place != point
        and all(a <= b for a, b in zip(one.errors or (one.loss,), own.errors or (own.loss,), strict=True))
    ]
    told: dict[str, dict[str, Any]] = {}
    for judge, name in enumerate(judges):
        here = calls[point, judge]
        prices = []
        for rival in rivals:
            less = here - calls[rival, judge]
            gap = float((calls[rival] - calls[point]) @ now)
            if (less > 1e-12 and here > 0) or (here == 0 and less < -1e-12):
                prices.append(float(now[judge] + gap / less))
        if here > 0:
            dearer = [price for price in prices if price >= now[judge]]
            told[name] = {"now": float(now[judge]), "up_to": min(dearer) if dearer else None}
        elif prices and max(prices) > 0:
            told[name] = {"now": float(now[judge]), "below": max(prices)}
    return told


def _calls_by_point(choice: PanelChoice) -> Floats:
    rows = []
    for point in range(len(choice.found)):
        panel = choice.panel(point)
        rows.append(calls_of(panel, panel.run(choice.chosen), choice.chosen.judges))
    return np.array(rows).reshape(-1, len(choice.chosen.judges))
