"""`shortlist solve`: the front of an integer program, with proof."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers, written_page
from shortlist.cli.files import FRONT_FILE, PAGE_FILE, STUDY_FILE, check_files, files_by_kind
from shortlist.cli.options.settings import grouped, having, note_settings, read_numbers
from shortlist.cli.options.shared import (
    SECONDS_HELP,
    WHAT_MATTERS,
    Details,
    FrontAndPageOut,
    MethodSeed,
    MethodWorkers,
    ProgramFile,
    StudyOptions,
    check_shared,
)
from shortlist.cli.text.output import print_notes, save, save_page

if TYPE_CHECKING:
    from shortlist.programs.named_program import NamedProgram
    from shortlist.results.front import Front

DEFAULT_SECONDS = 60.0
"""Time limit in seconds of methods that look for a complete front; ``solrep`` has a number of points instead.
"""


@dataclass(frozen=True)
class ProgramQuestion:
    """The program."""

    objectives: Annotated[
        str | None,
        typer.Option(
            help=f"{WHAT_MATTERS}, such as 'min cost, max value'; by default every objective and every row "
            "without limits."
        ),
    ] = None
    tolerance: Annotated[
        str | None,
        "Step of which the values of an objective with continuous columns are multiples, such as cost=0.5.",
    ] = None


@dataclass(frozen=True)
class SolveRun(StudyOptions):
    """Options of the search for a front, and the files that it is written to."""

    method: Annotated[
        str, typer.Option(help="Method: auto, exact, cwmoip, epsilon-constraint; or solrep.")
    ] = "auto"
    seed: MethodSeed = None
    workers: MethodWorkers = None
    out: FrontAndPageOut = None


def _settings() -> dict[str, type]:
    from shortlist.methods.program_methods import METHODS

    return dict(METHODS)


@having(_settings)
@grouped
@answers
def solve(
    context: typer.Context,
    program: ProgramFile,
    *,
    question: ProgramQuestion,
    settings: dict[str, Any],
    time_limit: Annotated[
        float | None, typer.Option(help=f"{SECONDS_HELP}; by default 60, and none for solrep.")
    ] = None,
    kept: SolveRun,
    details: Details = False,
) -> CommandAnswer:
    """Find every non-dominated point of an integer program.

    By the method, the front is proved to be complete, or holds a part of the points. An option that the
    method does not have is refused. Every method takes --study: auto, exact, cwmoip, epsilon-constraint and
    solrep. Ctrl-C stops the search and keeps what was found.
    """
    study = kept.study
    check_files(
        inputs={"PROGRAM": program},
        outputs={"--out": kept.out, "--study": study},
        endings={"--out": FRONT_FILE + PAGE_FILE, "--study": STUDY_FILE},
    )
    out, report = files_by_kind(kept.out, front=FRONT_FILE, page=PAGE_FILE)
    from shortlist.cli.work import check_found, last_resort, long_work
    from shortlist.methods.program_methods import method_options
    from shortlist.programs.mps_format import read_program
    from shortlist.programs.named_program import chosen_objectives
    from shortlist.programs.solve import notes_on, solve_program
    from shortlist.report.fronts import program_parts
    from shortlist.results.proof import ProofKind

    check_shared(context.params)
    given = settings | {"seed": kept.seed, "workers": kept.workers}
    checked = method_options(kept.method, **given)
    note_settings(context, checked)
    tolerance = read_numbers(question.tolerance, "set tolerance") if question.tolerance else {}
    named = chosen_objectives(read_program(program), question.objectives)
    print_notes(named.notes)  # now, while there is time to stop
    time_limit = DEFAULT_SECONDS if time_limit is None and kept.method != "solrep" else time_limit
    with (
        kept.opened(context) as opened,
        long_work(study) as (cancellation, tell),
        last_resort(time_limit),
    ):
        given["study"] = opened
        front = solve_program(
            named, method=kept.method, tolerance=tolerance, time_limit_s=time_limit,
            report=tell, cancellation=cancellation, **given,
        )  # fmt: skip
        check_found(len(front) > 0 or front.proof.kind is ProofKind.COMPLETE, cancellation)
        out = save(out if len(front) else None, front.save)
        report = save_page(report, f"Front of {program.name}", lambda: program_parts(front))
    facts = _facts(named, front) | {"out": out, "study": study, "report": report, "seed": checked.seed}
    return CommandAnswer(
        facts,
        partial(_print, front, out, study, report, details=details),
        notes_on(named, front),
        written_page(report),
    )


def _facts(named: "NamedProgram", front: "Front") -> dict[str, Any]:
    """Return the facts that every command has, and the facts of programs."""
    from shortlist.cli.text.configured import plain
    from shortlist.cli.text.front_text import front_facts, front_status

    return {
        "method": front.method,
        "status": front_status(front),
        "seconds": front.seconds,
        **front_facts(front),
        "n_columns": named.program.n_columns,
        "n_rows": named.program.n_rows,
        "work": plain(dict(front.extras)),
    }


def _print(
    front: "Front", saved: Path | None, study: Path | None, page: Path | None, *, details: bool
) -> None:
    from shortlist.cli.text.configured import print_found
    from shortlist.cli.text.front_text import front_status

    limit = front.proof.limit
    reason = f"no point was found within {limit}" if limit else "nothing satisfies the program"
    none = [f"Status {front_status(front)}: {reason}."]
    print_found(front, none, [], saved, study, why=front.extras["why"], page=page, details=details)
