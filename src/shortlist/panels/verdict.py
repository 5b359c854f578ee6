"""Figures of a panel on hold-out cases, and the verdict against the best single judge."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from shortlist._words import counted
from shortlist.arrays import Floats
from shortlist.panels.answer_log import AnswerLog, n_different
from shortlist.panels.figures import (
    PanelFigures,
    Rechosen,
    figures,
    possible_prices,
)
from shortlist.panels.objectives import (
    ACCURACY,
    BALANCED,
    LATENCY,
    OBJECTIVES,
    PRICE,
    Scoring,
    accuracy_scoring,
    in_text,
    led_by,
    sign_of,
)
from shortlist.panels.panel_choice import (
    PanelChoice,
    best_single,
    keeps,
    single_found,
    single_panel,
    surest,
)
from shortlist.panels.policy import Outcome, Panel
from shortlist.panels.recipes import Recipe, followed, measured_cases, written_cases
from shortlist.results.intervals import (
    CHANCE,
    MARGIN,
    Difference,
    Interval,
    Z,
    by_case,
    clustered_error,
    more_rows,
    sign_flip_p,
)
from shortlist.results.objective import Limit
from shortlist.results.picking import facts_beside_single
from shortlist.results.verdicts import (
    RuleVerdict,
    Word,
    decide,
    margin_in_words,
    other_cost,
    sentence,
)

NESTED = "a single judge chosen in the same way"
"""Name, for sentences, of single judges chosen anew without each part of the cases, as panels are."""


@dataclass(frozen=True)
class Verdict:
    """Panel against the best single judge, on hold-out cases, by the first objective of the front.

    `single`: judge with the least loss on the training cases, among those within the limits of the panel; the
    cheapest of equals. `single_figures`, `panel_figures`: figures of the judge and of the panel. The judge's
    figures are its own, even if the same cases chose the judge. `difference`, `difference_interval`: panel
    minus judge, in the objective, and the paired interval at 95 %; a negative difference of a cost is a
    saving. `p_value`: two-sided, of the paired differences under random signs; McNemar's exact one if every
    mistake costs the same. `is_judge`: whether the panel asks this judge alone and gives the judge's answers.
    `n_more_cases`: number of further labelled cases that would decide, if the difference stays; None if the
    difference is beyond chance, or 0. `correlation`: mean correlation of the errors of the judges in the
    panel. `n_independent`: number of independent votes that these judges amount to, m / (1 + (m - 1)
    correlation) (Kish 1965). `within_limits`: whether the judge keeps the limits of the panel. `is_best`:
    whether no judge loses less, even outside the limits. `rechosen_figures`: figures of single judges by
    nested cross-validation, if other judges were chosen there. The difference is then panel minus these
    figures, since `single` looks too good on its training cases. `constant`: (str, float), optional. The
    class with the least loss as the answer to every training case, and its objective, if neither the panel
    nor the judge is better beyond chance. `margin`: largest difference in the objective at which a panel that
    is worse than the judge counts as equally good. `tells_confidence`: whether the judge gives its surest
    answers, if it is measured under a promise on as many answers as the panel gives. `single_answers`: share
    of the cases that the judge itself answers; None without a promise. `n_judges`: number of judges of the
    panel.
    """

    single: str
    single_figures: PanelFigures
    panel_figures: PanelFigures
    difference: float
    difference_interval: Interval
    p_value: float
    is_judge: bool
    n_more_cases: int | None
    correlation: float | None
    n_independent: float | None
    within_limits: bool = True
    is_best: bool = True
    rechosen_figures: PanelFigures | None = None
    constant: tuple[str, float] | None = None
    margin: float = MARGIN
    tells_confidence: bool = False
    single_answers: float | None = None
    n_judges: int = 1

    @property
    def rule(self) -> RuleVerdict:
        """Verdict between the panel and the judge, and the certainty of the verdict."""
        if not self.within_limits:
            return RuleVerdict(Word.UNRIVALLED, takes_first=True)
        if self.is_judge:  # by itself, also where others chosen on parts of the cases are worse
            return RuleVerdict(Word.ALONE, takes_first=True)
        spent, priced = self._spent
        return decide(self.gained, spent=spent, priced=priced, margin=self.margin)

    @property
    def recommended(self) -> bool:
        """Whether the panel is recommended beyond doubt.

        The panel is recommended if it is better, is as good, is the judge itself, or is alone within the
        limits.
        """
        return self.rule.takes_first and self.rule.word is not Word.UNDECIDED

    @property
    def gained(self) -> Difference:
        """Gain of the panel in the objective, with its interval."""
        low, high = self.difference_interval
        most = high if sign_of(self.panel_figures.objective) > 0 else -low
        return Difference(self.gain, (self.least_gain, most), self.p_value)

    @property
    def _spent(self) -> tuple[tuple[float, float], bool]:
        """Return the prices of a case by panel and judge; without any price, the numbers of judges."""
        prices = self.panel_figures.price, self.single_figures.price
        return (prices, True) if any(prices) else ((self.n_judges, 1), False)

    @property
    def title(self) -> str:
        """Title of the judge, for tables and sentences."""
        if not self.within_limits:
            return "best of all judges"
        return "best single judge" if self.is_best else "best single judge within the limits"

    @property
    def against(self) -> str:
        """Name of the opponent in the difference, for sentences."""
        if self.rechosen_figures is None:
            return f"{self.single!r} alone"
        return NESTED

    @property
    def within_chance(self) -> bool:
        """Whether the difference may be chance."""
        return self.p_value > CHANCE

    @property
    def gain(self) -> float:
        """Gain of the panel in the objective; negative if it is worse."""
        return sign_of(self.panel_figures.objective) * self.difference

    @property
    def least_gain(self) -> float:
        """Lower end of the interval of the gain; negative if the panel may be worse."""
        low, high = self.difference_interval
        return low if sign_of(self.panel_figures.objective) > 0 else -high

    def sentence(self, panel: str = "this panel", *, with_evidence: bool = False) -> str:
        """Return a sentence that recommends the panel or the judge.

        `with_evidence`: whether the panel is to be used only if it is recommended.
        """
        one, all_of_them, rule = self.single_figures, self.panel_figures, self.rule
        what = f"{difference_in_words(self)} against {self.against}"
        if all_of_them.price or one.price:
            whose = "" if self.rechosen_figures is None else f" (the price of {self.single!r})"
            what += f", for {all_of_them.price:.4g} in place of {one.price:.4g} a case{whose}"
        if all_of_them.of_answers and not (all_of_them.answered and one.answered):
            whom = "The panel" if not all_of_them.answered else repr(self.single)
            return f"{whom} answers no case, so there is nothing to compare."
        if rule.word is Word.ALONE:
            price = f", for {one.price:.4g} a case" if one.price else ""
            limits = "" if self.is_best else " within the limits"
            share = f", with {self._surest()}" if self._leaves_answers else ""
            return f"The best{limits} is a single judge: {self.single!r} alone{price}{share}."
        if all_of_them.of_answers:
            return self._on_coverage(what)
        if rule.word is Word.UNRIVALLED:
            return f"No single judge keeps the limits. Beside the best of all judges: {what}."
        if with_evidence and rule.word is Word.UNDECIDED:
            rule = RuleVerdict(Word.UNDECIDED, takes_first=False)
        spent, priced = self._spent
        beside, costs = f"{self.single} alone", other_cost(spent, rule, priced=priced)
        if self.rechosen_figures is not None and rule.takes_first:
            costs = costs.replace(", which", f"; {beside}")
            beside = NESTED
        n_more = self.n_more_cases
        more = "" if n_more is None else f"; about {_rounded(n_more, 'more case')} would decide"
        return sentence(
            rule,
            (panel, beside),
            difference_in_words(self, turned=not rule.takes_first),
            verb="Use" if rule.takes_first else "Ask",
            margin=margin_in_words(self.margin, of_shares=is_share(all_of_them.objective)),
            costs=costs,
            more=more,
        )

    @property
    def _leaves_answers(self) -> bool:
        """Return whether the judge is measured on a part of its answers."""
        return self.single_answers is not None and self.single_figures.answered < self.single_answers

    def _surest(self) -> str:
        share = self.single_figures.answered / (self.single_answers or 1.0)
        return f"the surest {100 * share:.3g} % of its answers"

    def _on_coverage(self, what: str) -> str:
        """Return the difference in words, with the share of cases that the judge answers."""
        own, wanted = self.single_figures.answered, self.panel_figures.answered
        if own < wanted:
            share = f"{100 * wanted:.3g} % of the cases, {self.single!r} {100 * own:.3g} %"
            return f"Where they answer: {what}. The panel answers {share}."
        if not self.tells_confidence:
            begin = "At the same coverage" if own == wanted else "Where they answer"
            return f"{begin}: {what}. {self.single!r} tells no confidence, so all its answers are compared."
        which = self._surest() if self._leaves_answers else "all its answers"
        return f"At the same coverage: {what}. {self.single!r} is compared on {which}."


def difference_in_words(told: Verdict, *, turned: bool = False) -> str:
    """Return the difference and its interval, such as ``+1.2 points of accuracy (-0.3 to +2.7)``.

    `turned`: whether the difference is judge minus panel.
    """
    difference = Difference(told.difference, told.difference_interval, told.p_value)
    difference = difference.turned() if turned else difference
    objective = told.panel_figures.objective
    if not is_share(objective):
        return difference.in_words(f"of {in_text(objective)} a case")
    return difference.in_points(in_text(objective))


def _rounded(number: int, what: str) -> str:
    """Return a number, rounded to two digits, with the word that it counts.

    >>> _rounded(1, "more case"), _rounded(1297, "more case")
    ('1 more case', '1,300 more cases')
    """
    return counted(int(float(f"{number:.2g}")), what)


def is_share(objective: str) -> bool:
    """Return whether an objective is a share, such as recall, whose differences are in points."""
    return objective not in OBJECTIVES or OBJECTIVES[objective].is_share


def rechosen(
    choice: PanelChoice, panel: Panel, again: Callable[[PanelChoice], Panel], recipe: Recipe | None = None
) -> Panel:
    """Return the panel for measuring a choice on its own hold-out cases.

    If all cases choose, `again` chooses a panel in the same way without each part of the cases. `recipe`:
    recipe of the panel; the panel's own price is then reported. None: the price of the panels chosen again is
    reported.
    """
    if not choice.parts:
        return panel
    others = [(again(part), part.test) for part in choice.parts]
    outcomes = [other.run(log) for other, log in others]
    whole = Outcome(*(np.concatenate(column) for column in zip(*outcomes, strict=True)))
    least, most = zip(*(possible_prices(other, log) for other, log in others), strict=True)
    prices = np.min(least, axis=0), np.max(most, axis=0)
    own = None
    if recipe is not None:
        own, prices = out_of_fold(choice, recipe), possible_prices(panel, choice.test)
    known = {one.name: getattr(panel, one.name) for one in fields(panel)}
    folds = choice.cases.folds
    return Rechosen(**known, outcome=whole, own=own, folds=folds, possible_prices=prices)


def out_of_fold(choice: PanelChoice, recipe: Recipe) -> Outcome:
    """Return the outcome of a recipe on the training cases, learned without the fold of each case.

    Price and latency are those of the final panel.
    """
    features = choice.chosen.features
    told = followed(measured_cases(choice.cases), recipe, features)
    paid = followed(written_cases(choice.cases), recipe, features)
    return told._replace(price=paid.price / choice.steps, latency=paid.latency)


def measured_panel(choice: PanelChoice, point: int) -> Panel:
    """Return the panel of a point for measuring.

    If all cases choose, the panel is chosen again without each part of the cases; see :func:`chosen_alike`.
    """
    return rechosen(
        choice,
        choice.panel(point),
        lambda part: part.panel(chosen_alike(choice, point, part)),
        choice.found[point].recipe,
    )


def chosen_alike(choice: PanelChoice, point: int, part: PanelChoice) -> int:
    """Return the index of the point of another choice that corresponds to a point of this choice.

    Points are admitted with at most the same mean price and, if latency is an objective, at most the same
    mean latency. Of the admitted points the point with the least loss corresponds. For recall and
    specificity, the point with the smallest shortfall in both objectives corresponds, and of equals the
    cheapest. If no point is admitted, the cheapest point of all corresponds.
    """
    own, most = choice.found[point], price_in(choice, point, part)
    slowest = own.seconds * (1 + 1e-9) if LATENCY in choice.front.names else math.inf
    within = [
        place for place, one in enumerate(part.found) if one.price <= most and not one.seconds > slowest
    ]
    if not within:
        return min(range(len(part.found)), key=lambda place: part.found[place].price)
    if not own.errors:
        return min(within, key=lambda place: part.found[place].loss)
    wanted = choice.values_of(own)

    def missed(place: int) -> tuple[float, int]:
        told = part.values_of(part.found[place])
        return sum(max(0.0, wanted[name] - told[name]) for name in led_by(BALANCED)), part.found[place].price

    return min(within, key=missed)


def price_in(choice: PanelChoice, point: int, part: PanelChoice) -> int:
    """Return a point's mean price times the number of cases of another choice, in steps of that choice."""
    mean = choice.found[point].price / (len(choice.chosen.truth) * choice.steps)
    return int(mean * len(part.chosen.truth) * part.steps * (1 + 1e-9))


def verdict(
    choice: PanelChoice,
    panel: Panel,
    log: AnswerLog | None = None,
    limits: Sequence[Limit] = (),
    *,
    margin: float = MARGIN,
) -> Verdict:
    """Return the verdict between a panel and the best single judge, on the hold-out cases or another log.

    Under a promise, accuracy is a share of answers, and the judge gives as many answers as the panel; a judge
    with confidences gives its surest answers. `panel`: result of :func:`measured_panel`, if the cases of the
    choice measure. `log`: hold-out cases alone. `limits`: limits of the panel, which the judge must keep too
    if any judge keeps them. `margin`: largest difference in the objective at which a panel that is worse
    counts as equally good.
    """
    measured = choice.test if log is None else log
    scoring = choice.scoring(measured)
    judge = best_single(choice, limits)
    name, itself = choice.chosen.judges[judge], single_panel(choice, judge)
    alone, others = itself, set[int]()
    if log is None and choice.parts:
        others = {best_single(part, limits) for part in choice.parts} - {judge}
        alone = rechosen(choice, itself, lambda part: single_panel(part, best_single(part, limits)))
    promised = promised_share(choice, panel) if scoring.objective == ACCURACY else None
    answers = None
    if promised is not None:
        answers = float((itself.run(measured).codes >= 0).mean())
        alone = surest(choice, judge, measured, int((panel.run(measured).codes >= 0).sum()))
    told = compared(name, alone, panel, measured, scoring, promised=promised)
    if others:
        told = replace(
            told,
            single_figures=figures(itself, measured, scoring),
            rechosen_figures=told.single_figures,
        )
    more = None if told.is_judge or promised is not None else told.n_more_cases
    if (
        log is None and more is not None and not (choice.parts or choice.is_tested)
    ):  # of labelled cases only some are held out
        n_labelled = n_different(choice.chosen) + n_different(choice.test)
        more = math.ceil(more * n_labelled / n_different(choice.test))
    return replace(
        told,
        within_limits=keeps(choice, single_found(choice, judge), limits),
        is_best=judge == best_single(choice),
        n_more_cases=more,
        constant=None if promised is not None else _constant(choice, (panel, alone), measured, scoring),
        margin=margin,
        tells_confidence=bool(choice.scale.told[judge]),
        single_answers=answers,
    )


def beside_single(choice: PanelChoice, margin: float = MARGIN) -> PanelChoice:
    """Return a choice whose front has each point's difference to the best single judge, without optimism.

    The pick ``as-good`` uses these differences. Takes as long as measuring every point of the front.
    """
    told, name = list[tuple[float, Interval]](), ""
    for point in range(len(choice.found)):
        found = verdict(choice, measured_panel(choice, point))
        sign = sign_of(found.panel_figures.objective)
        low, high = sorted(sign * end for end in found.difference_interval)
        is_single = decide_alike(choice.panel(point), single_panel(choice, best_single(choice)))
        told.append((0.0, (0.0, 0.0)) if is_single else (found.gain, (low, high)))
        name = found.single
    more = facts_beside_single(name, PRICE, told, margin)
    return replace(choice, front=replace(choice.front, extras={**choice.front.extras, **more}))


def promised_share(choice: PanelChoice, panel: Panel) -> float | None:
    """Return the promised share of right answers if the measuring cases tested the promise, otherwise 0.

    None if no promise is requested.
    """
    if not choice.guarantees:
        return None
    guarantee = choice.guarantees[0]
    is_set_here = panel.promise and guarantee.promised and not choice.is_tested
    return guarantee.accuracy if is_set_here else 0.0


def _constant(
    choice: PanelChoice, panels: Sequence[Panel], log: AnswerLog, scoring: Scoring
) -> tuple[str, float] | None:
    """Return the best constant answer, with its value, if no panel is better beyond chance.

    Otherwise None.
    """
    if choice.cases.is_open:
        return None
    label, lost = one_answer(choice, log, scoring)
    for panel in panels:
        gains = lost - scoring.of(panel.run(log), log)
        if gains.mean() > 0 and sign_flip_p(by_case(gains, log.groups)) <= CHANCE:
            return None
    return label, scoring.value(float(lost.mean()))


def one_answer(choice: PanelChoice, log: AnswerLog, scoring: Scoring) -> tuple[str, Floats]:
    """Return the best constant answer to all training cases, and the losses of this answer on a log."""
    losses = choice.scoring(choice.chosen).losses[:-1, choice.chosen.truth].mean(axis=1)
    code = int(losses.argmin())
    return choice.chosen.classes[code], np.asarray(scoring.losses[code, log.truth])


def compared(
    name: str,
    alone: Panel,
    panel: Panel,
    log: AnswerLog,
    scoring: Scoring | None = None,
    *,
    promised: float | None = None,
) -> Verdict:
    """Return the verdict between two panels on the same cases, by default by accuracy.

    `alone` may be a single judge.

    `promised`: as in :func:`shortlist.panels.figures.figures`; None if a missing answer is a mistake.
    """
    scoring = scoring or accuracy_scoring(log)
    own = figures(panel, log, scoring, promised=promised)
    other = figures(alone, log, scoring, promised=None if promised is None else 0.0)
    is_same = decide_alike(panel, alone)
    if promised is None:
        gains = scoring.of(alone.run(log), log) - scoring.of(panel.run(log), log)
        gain, error = float(gains.mean()), scoring.error(gains, log)
        p, interval = sign_flip_p(by_case(gains, log.groups)), scoring.interval_of_gain(gains, log)
        is_same &= not gains.any()
    else:
        gain, error = _gain_of_answers(panel.run(log), alone.run(log), log)
        p = 1.0 if error == 0 else float(2 * ndtr(-abs(gain) / error))
        interval = (gain - Z * error, gain + Z * error)
    correlation = _error_correlation(panel, log)
    m = len(panel.judges)
    return Verdict(
        single=name,
        single_figures=other,
        panel_figures=own,
        difference=scoring.sign * gain,
        difference_interval=(0.0, 0.0) if is_same else interval,
        p_value=p,
        n_judges=m,
        is_judge=_answers_as(panel, alone, log, by_answers=promised is not None),
        n_more_cases=None if p <= CHANCE or gain == 0 else more_rows(gain, error, n_different(log), p),
        correlation=correlation,
        n_independent=None if correlation is None else m / max(1e-9, 1 + (m - 1) * max(correlation, 0.0)),
    )


def _gain_of_answers(one: Outcome, other: Outcome, log: AnswerLog) -> tuple[float, float]:
    """Return the difference in shares of right answers, first minus second, and its standard error.

    The error is linearised.
    """
    shares, residuals = list[float](), np.zeros(len(log.truth))
    for outcome, sign in ((one, 1), (other, -1)):
        answered = outcome.codes >= 0
        right = answered & (log.scored(outcome.codes) == log.truth)
        shares.append(float(right.sum()) / max(1, int(answered.sum())))
        residuals += sign * (right - shares[-1] * answered) / max(1e-9, float(answered.mean()))
    return shares[0] - shares[1], clustered_error(residuals, log.groups)


def _answers_as(panel: Panel, alone: Panel, log: AnswerLog, *, by_answers: bool) -> bool:
    """Return whether a panel asks the judge alone and gives its answers, by the stages or `by_answers`."""
    if panel.judges != alone.judges:
        return False
    runs = [one.run(log) if by_answers else Panel.run(one, log) for one in (panel, alone)]
    return np.array_equal(runs[0].codes, runs[1].codes)


def decide_alike(one: Panel, other: Panel) -> bool:
    """Return whether two panels are the same policy; prices, latencies and promises may differ."""
    parts = ("judges", "stages", "router", "branches", "final", "least")
    return all(one.plain().get(part) == other.plain().get(part) for part in parts)


def _error_correlation(panel: Panel, log: AnswerLog) -> float | None:
    """Return the mean correlation of errors over all pairs of judges, on the cases that a pair answered."""
    places = [log.judges.index(name) for name in panel.judges]
    is_right, found = log.is_right, []
    for here, one in enumerate(places):
        for other in places[:here]:
            both = (log.answers[:, one] >= 0) & (log.answers[:, other] >= 0)
            wrong: Any = ~is_right[both][:, [one, other]]
            if both.sum() > 1 and wrong.std(axis=0).all():
                found.append(float(np.corrcoef(wrong.T)[0, 1]))
    return float(np.mean(found)) if found else None
