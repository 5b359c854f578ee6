"""Options of `shortlist panel`: names of the log's columns, and limits on panels."""

import math
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import typer

from shortlist.cli.options.error_costs import FINAL, ErrorCostsText, read_error_costs
from shortlist.cli.options.settings import Fills, read_names, read_pairs
from shortlist.cli.options.shared import (
    MARGIN_HELP,
    Decimals,
    Gaps,
    LimitTexts,
    PromiseOptions,
    cell_rules,
)
from shortlist.panels.settings import PanelSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shortlist.arrays import Floats
    from shortlist.panels.answer_log import AnswerLog
    from shortlist.panels.panel_choice import PanelChoice
    from shortlist.panels.panel_options import PanelOptions
    from shortlist.panels.policy import Final, Panel, Question
    from shortlist.results.error_costs import ErrorCosts
    from shortlist.results.objective import Limit
    from shortlist.runs import Budget

LogFiles = Annotated[
    list[str],
    typer.Argument(help="Logs of answers: wide or long tables, or logs of evaluation or annotation tools."),
]


ROLES = (
    "case", "judge", "answer", "price", "latency", "confidence", "score", "input_tokens", "output_tokens",
    "epoch",
)  # fmt: skip
"""Roles, except the truth, that a column of a log, or a field, may have."""


@dataclass(frozen=True)
class LogOptions:
    """Reading of the log."""

    target: Annotated[
        str | None, typer.Option("--target", "--target-field", help="Column or field that holds the truth.")
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME,...",
            help="What columns hold, as in case=id,judge=model: case, judge, answer (also a field or "
            "scorer), price, latency (in seconds, or in milliseconds if the name ends in ms), confidence, "
            "score (whether the answer is right: yes or no, or from 0 to 1), input_tokens, output_tokens, or "
            "epoch (which tells repeated answers apart). A field of an object is named like result.score. "
            "May be repeated.",
        ),
        Fills(**{role: role for role in ROLES}),
    ] = None
    costs: Annotated[
        Path | None, typer.Option(help="CSV file with columns name,cost: the price of a call of each judge.")
    ] = None
    token_prices: Annotated[str | None, "File with prices per token by model, such as LiteLLM's JSON."] = None
    truth: Annotated[str | None, "File with the truth of each case, if the log has none."] = None
    form: Annotated[str | None, "Form of the log, if it is not recognised by its content."] = None
    drop: Annotated[str | None, "Judges or columns to leave out, such as id,model-3."] = None
    fold: Annotated[str | None, "Differences between labels to ignore: case, punctuation, or both."] = None
    right_above: Annotated[float, "An answer is right if its score, from 0 to 1, is above this."] = 0.5
    repeats: Annotated[
        str | None, "Which of several answers of one judge to a case counts: first, majority or mean."
    ] = None
    gaps: Gaps = None
    decimal: Decimals = None

    def read(
        self, logs: "Sequence[str]", router: str | None, like: "Sequence[str] | None" = None
    ) -> "AnswerLog":
        """Read the log from all its files; `like` as for :func:`shortlist.panels.logs.reading.read_log`.

        `router`: names of columns that cost nothing.
        """
        from shortlist.panels.logs.reading import read_log
        from shortlist.panels.logs.records import LogColumns

        columns = LogColumns(
            **read_roles(self.columns or ()), target=self.target,
            fold=() if self.fold is None else tuple(read_names(self.fold)),
            right_above=self.right_above, repeats=self.repeats,
            drop=() if self.drop is None else read_names(self.drop), features=free_columns(router),
        )  # fmt: skip
        return read_log(
            list(logs), form=self.form, columns=columns, costs=self.costs,
            token_prices=self.token_prices, truth=self.truth, like=like,
            rules=cell_rules(self.gaps, self.decimal),
        )  # fmt: skip

    def read_test(self, log: "AnswerLog", test: Path, router: str | None) -> "AnswerLog":
        """Read the cases that measure a choice made on another log.

        Labels are compared with the classes of the other log, or as free text.
        """
        return self.read([str(test)], router, () if log.is_open else log.classes)

    def read_for(self, saved: "Panel", logs: "Sequence[str]", router: str | None) -> "AnswerLog":
        """Read the log, with labels compared as in a saved panel.

        Labels are compared with the panel's classes, or as free text, with the panel's rule for capitals. A
        log with a truth that is no class of the panel has its own classes, and the panel refuses the log.
        """
        from shortlist.panels.log_checks import CASE, PUNCTUATION

        folds = {CASE: saved.folds_case, PUNCTUATION: saved.folds_punctuation}
        theirs = ",".join(way for way, is_on in folds.items() if is_on) or None
        return replace(self, fold=self.fold or theirs).read(logs, router, saved.classes)


@dataclass(frozen=True, kw_only=True)
class PolicyOptions(PanelSettings):
    """Panels."""

    objectives: Annotated[
        str | None,
        typer.Option(
            help="Objectives: max accuracy, min error-cost, or max recall and max specificity, followed "
            'by min price and perhaps min latency; by default "max accuracy, min price", or the '
            "objectives of the saved panel."
        ),
    ] = None
    limit: LimitTexts = None
    pick: Annotated[
        str | None,
        typer.Option(
            help="Point of the front, by the rule one-se (the cheapest within one standard error of the "
            "best; the default without a limit on the price), best (the default with one), as-good (the "
            "cheapest no worse than the best judge by more than --margin), ideal or knee, or by its number; "
            "single writes the best single judge in place of a panel."
        ),
    ] = None
    margin: Annotated[
        float,
        typer.Option(
            help=f"{MARGIN_HELP}: 0.01 is one point of accuracy. The comparison is with the best single "
            "judge, or a saved panel."
        ),
    ] = 0.01
    final: Annotated[
        str | None,
        typer.Option(help=f"{FINAL}: answer (the default), reject, or hand-over=PRICE to a person."),
    ] = None
    router: Annotated[
        str | None,
        typer.Option(
            help="Columns of the case that cost nothing, such as length,topic, and may decide whom to ask, "
            "or answer without asking.",
        ),
    ] = None
    error_costs: ErrorCostsText = None

    def made(self, promised: PromiseOptions, seed: int) -> "PanelOptions":
        """Return the options of the search."""
        from shortlist.errors import BadInputError
        from shortlist.guarantees.guarantee import as_demand
        from shortlist.panels.panel_options import PanelOptions

        self.check()
        if not 0 <= self.margin < math.inf:
            raise BadInputError("margin", "must be a finite number of at least 0", f"{self.margin!r}")
        options = PanelOptions(
            **{one.name: getattr(self, one.name) for one in fields(PanelSettings)},
            final=read_final(self.final or "answer"), seed=seed,
            error_costs=read_error_costs(self.error_costs), router=free_columns(self.router),
        )  # fmt: skip
        if promised.answer_accuracy is None:
            return options
        return replace(options, demand=as_demand(promised.answer_accuracy, promised.confidence_level))

    def like(self, saved: "Panel", seed: int) -> "PanelOptions":
        """Return the options of a search for a panel that may replace a saved panel.

        The option `final` is taken from the saved panel.
        """
        from shortlist.guarantees.guarantee import Demand

        options = self.made(PromiseOptions(), seed)
        if saved.question is not None and saved.question.promise is not None:
            options = replace(options, demand=Demand(*saved.question.promise))
        return options if self.final is not None else replace(options, final=saved.final)

    def with_question(self, saved: "Panel") -> "tuple[Self, ErrorCosts, str]":
        """Return options with the question of a saved panel, the costs of mistakes, and a note.

        A given option replaces the saved question; the note is empty if nothing differs.
        """
        question = saved.question
        if question is None:
            return self, read_error_costs(self.error_costs), ""
        theirs = in_senses(question.objectives)
        asked = self if self.objectives is not None else replace(self, objectives=theirs)
        same = asked.objective_names() == question.objectives
        told = [] if same else [f"the panel was chosen by {theirs}, and is compared by {asked.objectives}"]
        if same and self.positive is None:
            asked = replace(asked, positive=question.positive)
        elif same and self.positive != question.positive:
            told.append(f"the positive class is {self.positive!r} in place of {question.positive!r}")
        costs = _costs_of(question, saved.classes) if same else {}
        given = read_error_costs(self.error_costs)
        if costs and any(costs.get(pair) != cost for pair, cost in given.items()):
            told.append(
                f"mistakes cost what {self.error_costs} says, not what they cost when the panel was chosen"
            )
        return asked, given or costs, f"As the options say, {' and '.join(told)}." if told else ""

    def objective_names(self) -> tuple[str, ...]:
        """Return the names of the objectives.

        Each objective must be requested in its own sense.
        """
        from shortlist._words import any_of
        from shortlist.errors import BadInputError
        from shortlist.panels.objectives import OBJECTIVES

        known = [f"{one.sense} {name}" for name, one in OBJECTIVES.items()]
        names = []
        usual = "max accuracy, min price" if self.error_costs is None else "min error-cost, min price"
        for text in (self.objectives or usual).split(","):
            wanted = " ".join(text.split())
            if wanted not in known:
                raise BadInputError("--objectives", f"must be {any_of(known)}", repr(wanted))
            names.append(wanted.split()[1])
        return tuple(names)


class ComparedPolicy(PolicyOptions):
    """The search for a panel to compare with."""

    AS_SETTINGS: ClassVar = {
        "objectives": "Objectives, such as max accuracy, min price; by default those of the saved panel.",
        "pick": "Point of the front, as for panel; by default the best for at most the saved panel's price.",
        "final": "What happens to unsure cases, as for panel; by default as in the saved panel.",
        "router": "Columns that cost nothing, such as length,topic; by default the saved panel's.",
    }


def in_senses(objectives: "Sequence[str]") -> str:
    """Return objectives with their senses, as a user types them.

    >>> in_senses(["accuracy", "price"])
    'max accuracy, min price'
    """
    from shortlist.panels.objectives import OBJECTIVES

    senses = [OBJECTIVES[name].sense if name in OBJECTIVES else "unknown" for name in objectives]
    return ", ".join(f"{sense} {name}" for sense, name in zip(senses, objectives, strict=True))


def _costs_of(question: "Question", classes: "Sequence[str]") -> dict[tuple[str | None, str], int]:
    """Return the cost of each mistake, by the answered and the true label."""
    return {
        (said, true): cost
        for said, row in zip((*classes, ""), question.error_costs, strict=False)
        for true, cost in zip(classes, row, strict=True)
    }


def read_roles(texts: "Sequence[str]") -> dict[str, str]:
    """Read the roles of columns; a comma within a name belongs to it.

    >>> read_roles(["case=id,judge=model", "answer=label, cleaned"])
    {'case': 'id', 'judge': 'model', 'answer': 'label, cleaned'}
    """
    from shortlist._words import any_of, did_you_mean
    from shortlist.errors import BadInputError

    parts = [part for text in texts for part in re.split(r",(?=[^,=]*=)", text)]
    roles: dict[str, str] = {}
    for role, name in read_pairs(parts, "columns"):
        if role not in ROLES:
            hint = did_you_mean(role, ROLES)
            raise BadInputError(
                "--columns", f"must say which column is the {any_of(ROLES)}", repr(role), hint
            )
        if roles.setdefault(role, name) != name:
            raise BadInputError("--columns", f"must name one {role}", f"{roles[role]!r} and {name!r}")
    return roles


def free_columns(text: str | None) -> tuple[str, ...]:
    """Read the columns that a router may use at no cost."""
    return () if text is None else tuple(read_names(text))


def read_final(text: str) -> "Final":
    """Read the action for a case about which the last stage is not sure.

    >>> read_final("hand-over=2.5"), read_final("answer").kind
    (Final(kind='hand-over', price=2.5), 'answer')
    """
    from shortlist.errors import BadInputError
    from shortlist.exact import as_decimal
    from shortlist.panels.policy import Final

    kind, sign, price = text.partition("=")
    number = as_decimal(price)
    if (kind == "hand-over") != (number is not None) or (sign and number is None):
        raise BadInputError("--final", "must be answer, reject or hand-over=PRICE", repr(text))
    return Final(kind, float(number or 0))


ROUNDING = 1e-9
"""Relative amount by which rounding may raise a price."""
PRICE = "price"
RULES = ("one-se", "best", "ideal", "knee", "as-good")


def limits_asked(asked: PolicyOptions) -> "list[Limit]":
    """Return the limits that a point, and the single judge compared with it, have to keep."""
    from shortlist.cli.options.points import read_limits

    return list(read_limits(asked.limit or (), asked.objective_names()))


def price_limit(limits: "Sequence[Limit]") -> float | None:
    """Return the limit on the mean price of a case; None if the price is not limited."""
    return min((float(one.value) for one in limits if one.name == PRICE and one.sign > 0), default=None)


def front_of_log(
    log: "AnswerLog",
    options: "PanelOptions",
    asked: PolicyOptions,
    budget: "Budget | None" = None,
    *,
    test: "AnswerLog | None" = None,
    workers: int | str = 1,
) -> "PanelChoice":
    """Return the front of a log; if ``as-good`` picks from it, measured beside the best single judge.

    `test`: cases that measure. These cases do not pick, so ``as-good`` picks by the cases of the log.
    """
    from shortlist.panels.choice import choose_panels, measured_on_unseen
    from shortlist.panels.unseen_cases import unseen_cases
    from shortlist.panels.verdict import beside_single
    from shortlist.results.picking import AS_GOOD

    names, is_as_good = asked.objective_names(), asked.pick == AS_GOOD
    if test is not None:
        unseen_cases(test, log)  # which refuses it before any work
    choice = choose_panels(
        log, options, objectives=names, budget=budget, test=None if is_as_good else test, workers=workers
    )
    choice = beside_single(choice, asked.margin) if is_as_good else choice
    return measured_on_unseen(choice, log, test) if is_as_good and test is not None else choice


def rule_asked(asked: PolicyOptions) -> int | str:
    """Return the rule that takes a point, or the number of a point; see :func:`picked`."""
    from shortlist.cli.options.points import read_pick

    if asked.pick:
        return read_pick(asked.pick, RULES)
    return "one-se" if price_limit(limits_asked(asked)) is None else "best"


def picked(choice: "PanelChoice", asked: PolicyOptions, *, anyway: bool = False) -> int:
    """Return the number of the requested point.

    Without a rule, a limit on the price takes the best point. Without a rule and such a limit, the cheapest
    point whose first objective is within one standard error of the best is taken. `anyway`: whether a point
    without a promise is taken if no point has a promise.

    Raises BadInputError or UnmetChoiceError if no point is within the limits, or no point has the requested
    number.
    """
    import numpy as np

    from shortlist.results.front import without_promises
    from shortlist.results.picking import cheapest_near_best, mark_within, numbered_point, within_limits

    front, limits, rule = choice.front, limits_asked(asked), rule_asked(asked)
    if anyway and not any(one.promised for one in choice.guarantees):
        front = without_promises(front)
    if isinstance(rule, int):
        return numbered_point(front, rule, mark_within(front, limits))
    if rule in {"ideal", "knee", "as-good"}:
        return front.pick(rule, limits=limits).index
    allowed = np.flatnonzero(within_limits(front, limits))
    losses, error = mean_losses(choice, allowed)
    prices = front.values[allowed, front.names.index("price")]
    return int(allowed[cheapest_near_best(losses, prices, error if rule == "one-se" else 0)])


def picked_beside(
    choice: "PanelChoice", asked: PolicyOptions, saved: "Panel"
) -> "tuple[int, float | None, list[Limit]]":
    """Return the point to compare a saved panel with, the price limit of its search, and other limits.

    Unless a point or a limit is requested, the point is the best one within the mean price of the saved panel
    on the training cases and, if latency is an objective, within its mean latency. If no point is within this
    price, the limit is the price of the cheapest point. If no such point is within this latency, the limit is
    the least latency of the points within this price.
    """
    if asked.pick is None and not asked.limit:
        asked = _within_saved(choice, asked, saved)
    limits = limits_asked(asked)
    others = [one for one in limits if one.name != PRICE or one.sign <= 0]
    return picked(choice, asked, anyway=True), price_limit(limits), others


def in_four_digits(value: float, sign: int = 1) -> float:
    """Return a limit rounded to four digits, in the direction that makes the limit less strict.

    `sign`: 1 for an upper limit, -1 for a lower limit.

    >>> in_four_digits(1.23449), in_four_digits(1.2344), in_four_digits(1.23449, -1)
    (1.235, 1.235, 1.234)
    """
    short = float(f"{value:.4g}")
    return short if sign * short >= sign * value else float(f"{value * ROUNDED_UP**sign:.4g}")


ROUNDED_UP = 1 + 5e-4
"""Factor that makes a number in four digits at least as large as the number before rounding."""


def _within_saved(choice: "PanelChoice", asked: PolicyOptions, saved: "Panel") -> PolicyOptions:
    """Return options with a saved panel's mean price as a limit.

    If latency is an objective, the saved panel's mean latency is a limit too. A limit is at least the least
    value that a point of the front has.
    """
    from shortlist.panels.objectives import LATENCY

    names, rows, told = choice.front.names, choice.front.values, saved.run(choice.chosen)
    price = rows[:, names.index(PRICE)]
    most = in_four_digits(max(float(price.min()), float(told.price.mean()) * (1 + ROUNDING)))
    asked = replace(asked, limit=[f"{PRICE}<={most!r}"])
    if LATENCY not in names:
        return asked
    fastest = float(rows[price <= most, names.index(LATENCY)].min())
    slowest = in_four_digits(max(fastest, float(told.latency.mean()) * (1 + ROUNDING)))
    return replace(asked, limit=[f"{PRICE}<={most!r}", f"{LATENCY}<={slowest!r}"])


def mean_losses(choice: "PanelChoice", points: object) -> tuple["Floats", float]:
    """Return the mean loss of some points, and the standard error of the least mean loss.

    If recall and specificity are objectives, the loss is the mean of the error rates of the two classes.
    """
    import numpy as np

    from shortlist.panels.recipes import followed

    found, cases, log = [choice.found[point] for point in np.asarray(points)], choice.cases, choice.chosen
    n = len(cases.truth)
    losses = np.array([one.loss for one in found]) / n
    if found[0].errors:
        n_positive = int((cases.truth == cases.positive).sum())
        losses = (np.array([one.errors for one in found]) / [n_positive, n - n_positive]).mean(axis=1)
    recipe, scoring = found[losses.argmin()].recipe, choice.scoring(log)
    if recipe.router is None:
        told = followed(cases, recipe)
        lost = np.where(told.handed_over, 0.0, scoring.losses[cases.scored(told.codes), cases.truth])
    else:
        lost = scoring.of(choice.of_recipe(recipe).run(log), log)
    return losses, max(1 / n, scoring.error(lost, log))
