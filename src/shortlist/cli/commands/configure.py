"""`shortlist configure`: the front of a product line, with proof."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.pairs import read_numbers
from shortlist.cli.text.output import finite, print_json, print_notes, run_facts

if TYPE_CHECKING:
    from shortlist.cli.options.product_questions import AskedQuestion
    from shortlist.products.configuration.product_front import Configured
    from shortlist.results.front import Front

DEFAULT_SECONDS = 60.0
"""Time limit of methods that look for a complete front; the work of the others is limited by points or
evaluations.
"""


def configure(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="Feature model: SXFM, UVL, FeatureIDE XML or DIMACS.")],
    *,
    objectives: Annotated[
        str | None,
        typer.Option(help="Such as 'min cost, max quality'; default: min deselected and every attribute."),
    ] = None,
    attributes: Annotated[
        list[Path] | None,
        typer.Option(
            help="CSV with a column feature, or .augment file; may be repeated. Default: MODEL.augment."
        ),
    ] = None,
    random_attributes: Annotated[
        int | None, typer.Option(help="Seed: draw cost, defects and not_used_before at random.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(help="OLD=NEW: a name in the attributes, and in the model.")
    ] = None,
    default: Annotated[
        list[str] | None, typer.Option(help="ATTRIBUTE=VALUE for features without a value.")
    ] = None,
    decimals: Annotated[int | None, typer.Option(help="Round attributes to so many decimals.")] = None,
    limit: Annotated[
        list[str] | None, typer.Option(help="Such as 'cost<=120', also <, >=, > and ==; may be repeated.")
    ] = None,
    select: Annotated[list[str] | None, typer.Option(help="Feature that must be in.")] = None,
    deselect: Annotated[list[str] | None, typer.Option(help="Feature that must be out.")] = None,
    fixed: Annotated[
        list[Path] | None, typer.Option(help="File with a partial configuration; may be repeated.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="auto, diagram, exact, cwmoip, epsilon-constraint; solrep; ibea, satibea, ibed or nsga2."
        ),
    ] = "auto",
    points: Annotated[
        int | None, typer.Option(help="solrep: reference points; default 1000; 0 for the ends only.")
    ] = None,
    rule: Annotated[
        str | None, typer.Option(help="solrep: hit-and-run (default) or adaptive reference points.")
    ] = None,
    solve_limit: Annotated[
        float | None, typer.Option(help="solrep: seconds for each program; default none, each is proved.")
    ] = None,
    study: Annotated[
        Path | None, typer.Option(help="solrep: file that a stopped or killed run goes on from.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="solrep: programs at a time; -1 for every core; default 1.")
    ] = None,
    evaluations: Annotated[
        int | None, typer.Option(help="Evolution: configurations to try; default 25000.")
    ] = None,
    starts: Annotated[
        int | None, typer.Option(help="Evolution: products found by satisfiability to start with; default 0.")
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(help="Diagram: such as cost=5,defects=1, what a missing point may be better by."),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds for all; default 60, and none for solrep and evolution."),
    ] = None,
    max_nodes: Annotated[
        int | None, typer.Option(help="Budget of the diagram, in nodes; default 500000.")
    ] = None,
    max_memory: Annotated[
        float | None, typer.Option(help="Gigabytes for the diagram's sets of points; default 2.")
    ] = None,
    solver: Annotated[
        str | None, typer.Option(help="Integer programs: highs (default), cpsat or scip.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness; default 0.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write the front to: .parquet, or .csv as a table.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Find every non-dominated product of a feature model, with proof, or a good part of them.

    Ctrl-C stops the search and keeps what was found.
    """
    from shortlist.cli.files import FRONT_FILE, JOURNAL_FILE, check_files
    from shortlist.products.attributes.attribute_files import attributes_beside

    check_files(
        inputs={
            "MODEL": model,
            "--attributes": attributes,
            "--fixed": fixed,
            "the file with its attributes": attributes_beside(model),
        },
        outputs={"--out": out, "--study": study},
        endings={"--out": FRONT_FILE, "--study": JOURNAL_FILE},
    )
    from joblib import parallel_config

    from shortlist._validation import as_positive_seconds, as_seed
    from shortlist.cli.options.product_questions import read_question
    from shortlist.cli.text.delivery import save
    from shortlist.cli.work import check_found, long_work
    from shortlist.errors import BadInputError
    from shortlist.products.configuration.product_front import configure as find_front
    from shortlist.products.configuration.search_options import EVOLUTIONARY_METHODS, search_options

    if max_memory is not None and not 0 < max_memory < float("inf"):
        raise BadInputError(f"--max-memory must be gigabytes above 0, got {max_memory}.")
    if seed is not None:
        as_seed(seed, "--seed")
    options = {
        "n_points": points,
        "rule": rule,
        "solve_limit_s": solve_limit,
        "study": study,
        "n_jobs": jobs,
        "n_evaluations": evaluations,
        "n_starts": starts,
        "tolerance": read_numbers(tolerance, "tolerance") if tolerance else None,
        "max_nodes": max_nodes,
        "max_bytes": None if max_memory is None else round(max_memory * 1e9),
        "solver": solver,
        "seed": seed,
    }
    checked = search_options(method, **options)  # before files are read
    as_positive_seconds(time_limit, "--time-limit")
    asked = read_question(
        model, objectives=objectives, attributes=attributes or (), random_attributes=random_attributes,
        rename=rename or (), default=default or (), decimals=decimals, limit=limit or (), select=select or (),
        deselect=deselect or (), fixed=fixed or (),
    )  # fmt: skip
    print_notes(asked.notes)  # now, while there is time to stop
    if time_limit is None and method not in {"solrep", *EVOLUTIONARY_METHODS}:
        time_limit = DEFAULT_SECONDS
    # threads: Ctrl-C in a terminal would kill worker processes; solvers run outside Python's lock
    threads = parallel_config(backend="threading")
    with threads, long_work(study) as (cancellation, report):
        answer = find_front(
            asked.line, asked.objectives, attributes=asked.attributes, limits=asked.limits,
            requirements=asked.requirements, method=method, time_limit_s=time_limit,
            report=report, cancellation=cancellation, **options,
        )  # fmt: skip
        check_found(len(answer.front) > 0, cancellation)
        saved = save(out, answer.front.save) if out is not None and len(answer.front) else None
    if json:
        print_json(_facts(answer, asked, saved, study) | run_facts(context) | {"seed": checked.seed})
    else:
        _print(answer, asked, saved, study)


def _facts(
    answer: "Configured", asked: "AskedQuestion", saved: Path | None, study: Path | None
) -> dict[str, Any]:
    """Return the contract of every command, and what only product lines have."""
    from shortlist.cli.text.front_text import front_facts

    front, labels = answer.front, asked.line.labels
    return {
        "command": "configure",
        "method": front.method,
        "status": str(answer.status),
        "seconds": front.seconds,
        **front_facts(front),
        "reason": answer.reason,
        "conflict": list(answer.conflict),
        **asked.facts,
        "implied": {
            "selected": [labels[i] for i in answer.implied.select],
            "deselected": [labels[i] for i in answer.implied.deselect],
        },
        "work": _plain(dict(front.extras)),
        "out": None if saved is None else str(saved),
        "study": None if study is None else str(study),
    }


def _plain(value: Any) -> Any:
    """Return what JSON can say: None for infinity and NaN."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return finite(value) if isinstance(value, float) else value


def _print(answer: "Configured", asked: "AskedQuestion", saved: Path | None, study: Path | None) -> None:
    """Print the answer for people."""
    from shortlist.cli.text.front_text import look_at, proof_text, range_lines, some

    front, implied = answer.front, answer.implied
    for features, what in ((implied.select, "in"), (implied.deselect, "out")):
        if features:
            print(
                f"Required features imply {len(features)} more {what}: {some(asked.line.labels, features)}."
            )
    if not len(front):
        print(f"Status {answer.status}: {answer.reason}.")
        for sentence in answer.conflict:
            print(f"  {sentence}")
    else:
        points = "point" if len(front) == 1 else "points"
        print(
            f"{len(front):,} {points}, {proof_text(front)} ({front.method}: {answer.reason}; "
            f"{front.seconds:.2f} s)."
        )
        for line in (*work_lines(front), *range_lines(front)):
            print(line)
    if study is not None and front.proof.limit:
        print(f"The programs that have ended are in {study}; the same command goes on from there.")
    if saved is not None:
        print(f"Saved to {saved}{look_at(saved)}")


def work_lines(front: "Front") -> list[str]:
    """Say what the methods did that find a part of the front."""
    extras, lines = front.extras, []
    if "n_reference_points" in extras:
        left = front.proof.n_unresolved
        lines.append(
            f"{extras['n_reference_points']:,} reference points: "
            + (f"{left:,} without an answer, " if left else "")
            + f"{extras['n_infeasible']:,} without any product, "
            f"{extras['n_without_program']:,} answered by another one; {extras['n_unproved']:,} points not "
            "proved."
        )
    if "correctness" in extras:
        lines.append(
            f"{extras['n_evaluations']:,} configurations tried; {100 * extras['correctness']:.1f} % of the "
            "last population are products."
        )
    return lines
