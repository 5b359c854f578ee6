"""`shortlist panel`: judges to ask, their order, when to stop, and the price."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers, written, written_page
from shortlist.cli.files import FRONT_FILE, PAGE_FILE, PANEL_FILE, check_files, files_by_kind
from shortlist.cli.options.panel_options import (
    LogFiles,
    LogOptions,
    PolicyOptions,
    front_of_log,
    limits_asked,
    picked,
    rule_asked,
)
from shortlist.cli.options.settings import grouped, refuse_unused
from shortlist.cli.options.shared import (
    SECONDS_HELP,
    Details,
    PromiseOptions,
    Seed,
    WorkersOrAddress,
    check_shared,
    output,
)
from shortlist.cli.text.output import print_notes, save, save_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shortlist.panels.answer_log import AnswerLog
    from shortlist.panels.panel_choice import PanelChoice
    from shortlist.panels.policy import Final
    from shortlist.results.objective import Limit

SINGLE = "single"
"""Name of the rule that writes the best single judge in place of a panel."""


@grouped
@answers
def panel(
    context: typer.Context,
    logs: LogFiles,
    *,
    log: LogOptions,
    policy: PolicyOptions,
    promised: PromiseOptions,
    test: Annotated[
        Path | None,
        typer.Option(
            help="Log of cases that LOGS do not hold, with their truth: they measure, and all of LOGS select."
        ),
    ] = None,
    seed: Seed = 0,
    workers: WorkersOrAddress = 1,
    time_limit: Annotated[float | None, typer.Option(help=f"{SECONDS_HELP}; none by default.")] = None,
    out: Annotated[
        list[Path] | None,
        output(
            "the panel, as .json, its front, as .parquet, .csv or .xlsx, or a page with pictures, as .html; "
            "may be repeated."
        ),
    ] = None,
    details: Details = False,
) -> CommandAnswer:
    """Choose which judges to ask, in which order, until when.

    The panel is chosen from a log of their answers, by out-of-fold answers where something is learned. With
    up to 20,000 cases all choose, and repeated choice measures: the panel is chosen again without each of
    five parts. Of more cases, and with a promise, a quarter is held out; with --test FILE all choose, and
    those of the file measure. With fewer than 500 cases the rule
    one-se takes the best single judge, unless a panel is shown to be better, or as good and cheaper. Points
    of the front are reported without the optimism of having been picked.
    Single judges, committees and cascades are points of one front. The panel that --out writes as JSON says
    whom to ask next about a new case, and what the answer is. shortlist measure measures it again.
    """
    check_files(
        inputs={"LOGS": logs, "--costs": log.costs, "--test": test},
        outputs={"--out": out},
        endings={"--out": PANEL_FILE + FRONT_FILE + PAGE_FILE},
    )
    panel_file, front_file, report = files_by_kind(out, panel=PANEL_FILE, front=FRONT_FILE, page=PAGE_FILE)
    from shortlist.cli.text.front_text import contract
    from shortlist.cli.text.panels import print_panel
    from shortlist.cli.work import long_work
    from shortlist.panels.answer_log import n_different
    from shortlist.panels.choice import told_notes
    from shortlist.panels.facts import panel_report
    from shortlist.panels.panel_options import NOISY_CASES
    from shortlist.panels.words import stages_in_words
    from shortlist.runs import Budget

    check_shared(context.params)
    refuse_unused(context)
    options = policy.made(promised, seed)
    is_single = policy.pick == SINGLE
    if is_single:
        _check_single(panel_file, promised)
        policy = replace(policy, pick=None)
    asked = limits_asked(policy)
    rule_asked(policy)  # which is refused before any work
    read, unseen = _read_logs(log, logs, test, policy)
    _check_priced(read, asked, options.final)
    limits: dict[str, Any] = {} if time_limit is None else {"seconds": time_limit}
    with long_work() as (cancellation, tell):
        budget = Budget(seed=seed, report=tell, cancellation=cancellation, **limits)
        choice = front_of_log(read, options, policy, budget, test=unseen, workers=workers)
    notes = told_notes(read, choice)
    print_notes(notes)
    if not promised.anyway:
        _check_promised(choice)
    point = picked(choice, policy, anyway=promised.anyway)
    told = panel_report(choice, point, notes, asked, margin=policy.margin)
    is_better, name = told.verdict.recommended, told.verdict.single
    is_noisy = bool(choice.parts or choice.is_tested) and n_different(choice.chosen) < NOISY_CASES
    if is_single or (is_noisy and rule_asked(policy) == "one-se" and not is_better):
        instead = (
            f"The rule would take the panel {stages_in_words(told.panel)}. "
            f"{told.verdict.sentence('that panel', with_evidence=not is_single)}"
        )
        told = panel_report(choice, None, notes, asked, instead=instead)
        is_single = True
    out_file, front_file = save(panel_file, told.panel.save), save(front_file, choice.front.save)
    report = save_page(report, f"Panel: {', '.join(Path(log).name for log in logs)}", lambda: _parts(told))
    facts = contract(choice.front) | {"limit": choice.front.proof.limit} | told.facts
    facts |= {"out": out_file, "front_file": front_file, "report": report}
    is_plain = told.verdict.rule.takes_first or promised.answer_accuracy is not None
    other = "" if is_plain else f", not {name} alone, which --pick {SINGLE} would write"
    what = f"{name} alone" if is_single else f"the panel above{other}"
    lines = [*written(front_file, "all panels of the front"), *written_page(report), *written(out_file, what)]
    if out_file is not None:
        lines.append(f"Next: measure it on new answers with shortlist measure {out_file} NEW-ANSWERS.")
    return CommandAnswer(facts, partial(print_panel, facts, lines, details=details))


def _read_logs(
    log: LogOptions, logs: "Sequence[str]", test: Path | None, policy: PolicyOptions
) -> "tuple[AnswerLog, AnswerLog | None]":
    """Return the log that selects, and the log that measures; the second is None if there is none."""
    from shortlist.errors import BadInputError

    if test is not None and policy.test_share is not None:
        raise BadInputError(
            "--test FILE measures already, so that no cases are held out. Leave out test-share."
        )
    read = log.read(logs, policy.router)
    return read, None if test is None else log.read_test(read, test, policy.router)


def _check_single(panel_file: Path | None, promised: PromiseOptions) -> None:
    """Refuse to write a single judge without a file, or with a promise.

    Promises are tested for panels only.
    """
    from shortlist.errors import BadInputError

    if panel_file is None:
        raise BadInputError(f"--pick {SINGLE} writes the best single judge: name the file, --out JUDGE.json.")
    if promised.answer_accuracy is not None:
        raise BadInputError(
            f"--pick {SINGLE} writes a judge without a promise. Leave out --pick or --answer-accuracy."
        )


def _check_priced(log: "AnswerLog", limits: "Sequence[Limit]", final: "Final") -> None:
    """Refuse a limit on the price if no answer has a price: every panel would keep it."""
    from shortlist.errors import BadInputError

    limit = next((one for one in limits if one.name == "price"), None)
    if limit is not None and not log.prices.any() and not final.price:
        raise BadInputError(
            f"--limit {limit} needs prices, got a log in which every answer costs nothing. Give them by "
            "--costs or --set token-prices, or name their column by --columns price=NAME."
        )


def _check_promised(choice: "PanelChoice") -> None:
    from shortlist.errors import UnmetChoiceError
    from shortlist.results.picking import why_none

    if choice.guarantees and not any(one.promised for one in choice.guarantees):
        raise UnmetChoiceError(
            f"{why_none(choice.front, None, 'cases')} Ask for less, or add cases; nothing was written."
        )


def _parts(told: Any) -> Any:
    from shortlist.report.panels import panel_parts

    return panel_parts(told)
