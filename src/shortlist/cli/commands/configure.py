"""`shortlist configure`: the front of a product line, with proof."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers, written_page
from shortlist.cli.files import (
    FRONT_FILE,
    PAGE_FILE,
    SPREADSHEET_FILE,
    STUDY_FILE,
    check_files,
    files_by_kind,
)
from shortlist.cli.options.product_questions import ASKED, QuestionOptions, asked_record, read_question
from shortlist.cli.options.settings import excludes, grouped, having, note_settings, refuse_unused
from shortlist.cli.options.shared import (
    SECONDS_HELP,
    Details,
    FeatureModelFile,
    FrontAndPageOut,
    Json,
    MethodSeed,
    MethodWorkers,
    StudyOptions,
    check_shared,
)
from shortlist.cli.text.output import print_notes, save, save_page

if TYPE_CHECKING:
    from shortlist.cli.options.product_questions import AskedQuestion
    from shortlist.products.configuration.product_front import Configured
    from shortlist.report.page import Parts

DEFAULT_SECONDS = 60.0
"""Time limit in seconds of methods that look for a complete front.

Other methods have a limit on points or evaluations.
"""


@dataclass(frozen=True)
class SearchRun(StudyOptions):
    """Options of the search for a front, and the files that it is written to."""

    method: Annotated[
        str,
        typer.Option(help="Method: auto, diagram, exact, cwmoip, epsilon-constraint or solrep."),
    ] = "auto"
    seed: MethodSeed = None
    workers: MethodWorkers = None


@dataclass(frozen=True)
class ResultFiles:
    """Files that are written."""

    out: FrontAndPageOut = None


KINDS: dict[str, tuple[type, ...]] = {
    "the search for a front": (SearchRun, ResultFiles),
    "--interactive": (),
    "--customers": (ResultFiles,),
}
"""Kinds of run of configure, with the dataclasses whose options each kind uses."""


def _settings() -> dict[str, type]:
    from shortlist.products.configuration.question import OPTIONS

    return dict(OPTIONS)


@having(_settings)
@grouped
@answers
def configure(
    context: typer.Context,
    model: FeatureModelFile,
    *,
    question: QuestionOptions,
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive",
            help="Decide features one by one, in typed or piped lines, and see what follows, "
            "why, and what it costs.",
        ),
    ] = False,
    customers: Annotated[
        Path | None,
        typer.Option(
            help="Table with a row for each customer: wanted and unwanted features (yes, no), and limits "
            "such as 'most cost'. Each gets the best of all products within her wishes; no front is searched."
        ),
        excludes("interactive"),
    ] = None,
    settings: dict[str, Any],
    time_limit: Annotated[
        float | None,
        typer.Option(help=f"{SECONDS_HELP}; by default 60, none for solrep, and 10 for each line typed."),
    ] = None,
    kept: SearchRun,
    written: ResultFiles,
    details: Details = False,
    json: Json = False,
) -> CommandAnswer:
    """Find every non-dominated product of a feature model.

    By the method, the front is proved to be complete, or holds a part of the points. With --interactive
    nothing is searched: lines such as select GPS, why MP3, cost Camera, undo and finish by min cost are
    answered, and help lists them.

    An option that the method does not have is refused. A --study goes with every method but diagram. Ctrl-C
    stops the search and keeps what was found.
    """
    study, method, seed, workers = kept.study, kept.method, kept.seed, kept.workers
    check_files(
        inputs=question.inputs(model) | {"--customers": customers},
        outputs={"--out": written.out, "--study": study},
        endings={
            "--out": (FRONT_FILE if customers is None else SPREADSHEET_FILE) + PAGE_FILE,
            "--study": STUDY_FILE,
        },
    )
    out, report = files_by_kind(written.out, front=FRONT_FILE, page=PAGE_FILE)

    from shortlist.cli.text.configured import configured_facts, print_configured
    from shortlist.cli.work import check_found, last_resort, long_work
    from shortlist.errors import BadInputError
    from shortlist.products.configuration.product_front import configure as find_front
    from shortlist.products.configuration.question import search_options
    from shortlist.runs import NO_STUDY

    check_shared(context.params)
    kind = "--interactive" if interactive else "--customers" if customers is not None else ""
    refuse_unused(context, KINDS, kind or "the search for a front")
    for name in settings.keys() - ({"max_nodes"} if interactive else set()) if kind else ():
        raise BadInputError(
            f"`{name}` belongs to the search for a front, and {kind} searches none. Leave it out."
        )
    if customers is not None:
        files = out, report
        return _serve(model, question, customers, files=files, time_limit=time_limit, details=details)
    if interactive:
        return _decide_in_lines(
            model, question, max_nodes=settings.get("max_nodes"), time_limit=time_limit, json=json
        )
    options = settings | {"workers": workers, "seed": seed}
    if study is not None:
        options["study"] = NO_STUDY  # whether the method takes one is told before files are read
    checked = search_options(method, **options)
    note_settings(context, checked)
    asked = read_question(model, question)
    print_notes(asked.notes)  # now, while there is time to stop
    if time_limit is None and method != "solrep":
        time_limit = DEFAULT_SECONDS
    with (
        kept.opened(context) as opened,
        long_work(study) as (cancellation, tell),
        last_resort(time_limit),
    ):
        if hasattr(checked, "study"):
            options["study"] = opened
        answer = find_front(
            asked.line, asked.objectives, attributes=asked.attributes, limits=asked.limits,
            requirements=asked.requirements, method=method, time_limit_s=time_limit,
            report=tell, cancellation=cancellation, **options,
        )  # fmt: skip
        check_found(len(answer.front) > 0, cancellation)
        kept_front = replace(
            answer.front, extras={**answer.front.extras, ASKED: asked_record(asked, question)}
        )
        saved = save(out if len(answer.front) else None, kept_front.save)
        report = save_page(report, f"Products of {model.name}", lambda: _parts(answer, asked))
    about = {"out": saved, "study": study, "report": report, "seed": checked.seed}
    return CommandAnswer(
        lambda: configured_facts(answer, asked) | about,
        partial(print_configured, answer, asked, saved, study, page=report, details=details),
        last=written_page(report),
    )


def _serve(
    model: Path,
    question: QuestionOptions,
    customers: Path,
    *,
    files: "tuple[Path | None, Path | None]",
    time_limit: float | None,
    details: bool,
) -> CommandAnswer:
    """Answer with the best of all products for each customer of a table."""
    from shortlist.cli.text.customer_text import service_answer
    from shortlist.cli.work import long_work
    from shortlist.products.configuration.customers import serve_products
    from shortlist.runs.budget import seconds_now

    started = seconds_now()
    asked = read_question(model, question, customers=customers)
    print_notes(asked.notes)
    with long_work(None) as (cancellation, tell):
        found = serve_products(
            asked.line, asked.objectives, asked.customers, attributes=asked.attributes, limits=asked.limits,
            requirements=asked.requirements, time_limit_s=time_limit, report=tell, cancellation=cancellation,
        )  # fmt: skip
    status = "optimal" if all(one.proved for one in found.served) else "feasible"
    facts: dict[str, Any] = {
        "method": "customers",
        "status": status,
        "seconds": seconds_now() - started,
        **asked.facts,
    }
    return service_answer(found, files, facts, details=details)


def _decide_in_lines(
    model: Path,
    question: QuestionOptions,
    *,
    max_nodes: int | None,
    time_limit: float | None,
    json: bool,
) -> CommandAnswer:
    from shortlist._validation import as_count, as_positive_seconds
    from shortlist.cli.dialogue import decide_in_lines
    from shortlist.runs.budget import seconds_now

    if max_nodes:
        as_count(max_nodes, "max_nodes", at_least=16)
    as_positive_seconds(time_limit, "--time-limit")
    started = seconds_now()
    asked = read_question(model, question, otherwise="min selected")
    print_notes(asked.notes)
    facts = decide_in_lines(model, question, asked, max_nodes=max_nodes, time_limit_s=time_limit, json=json)
    return CommandAnswer(facts | {"seconds": seconds_now() - started})


def _parts(answer: "Configured", asked: "AskedQuestion") -> "Parts":
    from shortlist.cli.text.configured import advice_lines
    from shortlist.report.page import Text
    from shortlist.report.products import product_parts

    if not len(answer.front):
        advice = advice_lines(answer.relaxations, details=True)
        return [
            Text(f"Status {answer.status}: {answer.reason}."),
            *map(Text, answer.conflict),
            *map(Text, advice),
        ]
    return product_parts(answer.front, asked.line, asked.attributes)
