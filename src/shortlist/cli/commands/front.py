"""`shortlist front`: look at a saved front, take a point of it, compare it, and write it as a table."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from shortlist.cli.answers import CommandAnswer, answers, written, written_page
from shortlist.cli.files import (
    PAGE_FILE,
    PICTURE_FILE,
    PRODUCT_FILE,
    SPREADSHEET_FILE,
    check_files,
    files_by_kind,
)
from shortlist.cli.options.settings import Fills, excludes, needs, read_names, read_numbers, refuse_unused
from shortlist.cli.options.shared import POINT, Details, FrontFile, LimitTexts, check_shared, output
from shortlist.cli.text.output import print_notes, save, save_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shortlist.results.front import Front
    from shortlist.results.objective import Limit
    from shortlist.results.picking import Pick


def write_picked(front: "Front", picked: "Pick", model: Path | None, out: Path) -> None:
    """Write the product of a point; check it first if a feature model is given."""
    from shortlist.cli.text.front_text import is_staged
    from shortlist.errors import BadInputError
    from shortlist.products.formats import read_model
    from shortlist.products.formats.uvl_writer import write_configuration
    from shortlist.products.model import make_model
    from shortlist.products.rules import evaluate
    from shortlist.results.front import PROGRAM

    if is_staged(front) or PROGRAM in front.extras:
        _write_decided(front, picked, model, out, staged=is_staged(front))
        return
    if not set(picked.decision.tolist()) <= {0, 1} or not front.candidates:
        raise BadInputError("a product can be written from a front of products, got another kind of front.")
    if model is None:
        write_configuration(out, make_model(front.candidates), picked.decision)
        return
    line = read_model(model)
    if line.labels != front.candidates:
        raise BadInputError(f"{model} must be the model that the front was made from: its features differ.")
    broken = evaluate(line, picked.decision)
    if broken:
        raise BadInputError(
            f"the point's product breaks a rule of {model}: {broken[0]}. Is it the right model?"
        )
    write_configuration(out, line, picked.decision)


def _write_decided(front: "Front", picked: "Pick", model: Path | None, out: Path, *, staged: bool) -> None:
    from shortlist.errors import BadInputError
    from shortlist.results.front import values_at
    from shortlist.tables.spreadsheets import save_rows

    what, header = ("stages", ["feature", "stage"]) if staged else ("columns", ["column", "value"])
    if model is not None or out.suffix.casefold() != ".csv":
        raise BadInputError(
            f"{what} are written to a file ending in .csv, without --model. Name such a file."
        )
    decided: dict[str, Any] = dict(values_at(front, picked.index))
    if staged:
        decided = {name: None if stage < 0 else stage + 1 for name, stage in decided.items()}
    save_rows(out, header, map(list, decided.items()))


JSON_POINTS = 20
"""Number of points in the JSON, unless --rows gives another number."""


@answers
def show(
    context: typer.Context,
    front: FrontFile,
    *,
    pick: Annotated[
        str | None,
        typer.Option(
            help=f"{POINT}: its number, or the rule ideal, knee, as-good, one-se or norm. Two points with a "
            "comma between them, such as 12,40, are compared."
        ),
        Fills("rule"),
    ] = None,
    limit: LimitTexts = None,
    rows: Annotated[
        int | None,
        typer.Option(help="Points to print, by default as many as fit on a screen; 0 prints all."),
    ] = None,
    details: Details = False,
) -> CommandAnswer:
    """Print the point of a front to take, and the proof."""
    check_files(inputs={"FRONT": front}, outputs={})
    from shortlist.cli.options.points import SHOWN_RULES, read_limits, read_picks, taken_point
    from shortlist.cli.text.differences import side_by_side
    from shortlist.cli.text.front_text import contract, empty_notes, front_facts, pick_facts
    from shortlist.results.front import Front
    from shortlist.results.picking import mark_within, why_none
    from shortlist.results.proof import rounding

    check_shared(context.params)
    wanted = () if pick is None else read_picks(pick, SHOWN_RULES)
    loaded = Front.load(front)
    limits = read_limits(limit or (), loaded.names)
    kept = mark_within(loaded, limits)
    picked = [taken_point(loaded, one, limits) for one in wanted if kept.any()]
    both = [one.index for one in picked]
    most = JSON_POINTS if rows is None else rows or None
    notes = [] if kept.any() else [why_none(loaded, limits)]
    notes += filter(None, [rounding(loaded)])
    facts = {
        "points": loaded.values[kept][:most].tolist(),
        "numbers": kept.nonzero()[0][:most].tolist(),
        "n_within_limits": int(kept.sum()),
        "pick": pick_facts(loaded, picked[0]) if picked else None,
        "compared": side_by_side(loaded, *both) if len(both) > 1 else None,
        "notes": [*notes, *empty_notes(loaded)],
    }
    return CommandAnswer(
        contract(loaded) | front_facts(loaded) | facts,
        partial(_print_shown, loaded, kept, picked, rows, limits=limits, details=details),
        notes,
    )


def _print_shown(
    front: "Front",
    kept: "NDArray[Any]",
    picked: "Sequence[Pick]",
    rows: int | None,
    *,
    limits: "Sequence[Limit]" = (),
    details: bool = False,
) -> None:
    """Print the requested points, or the point to take, then the proof and the first points of the front.

    `kept`: mask of the points within the limits. `rows`: number of points to print; None: as many as fit on
    the screen.
    """
    from shortlist.cli.text.differences import side_by_side_lines
    from shortlist.cli.text.front_text import (
        MOST_OBJECTIVES,
        empty_notes,
        headline,
        is_staged,
        knee_of,
        print_pick,
        print_points,
        range_lines,
    )
    from shortlist.cli.text.output import LINES, print_lines

    used = 0
    if len(picked) > 1:
        lines = side_by_side_lines(front, picked[0].index, picked[1].index, details=details)
        print_lines([*lines, "", headline(front, details=details)])
        used = LINES  # what was asked for is all of the screen
    elif (one := picked[0] if picked else knee_of(front, limits)) is not None:
        print_pick(front, one, advised=not picked, details=details)
        print_lines([headline(front, details=details), *empty_notes(front)])
        used = 10 + min(len(front.objectives), MOST_OBJECTIVES) + 8 * is_staged(front)
    else:
        print_lines([headline(front), *empty_notes(front), *(range_lines(front) if len(front) else [])])
        used = 6 + len(front.objectives)
    if rows is None:
        rows = 20 if details else max(0, LINES - used)
        if not rows:
            return
    print_points(front, kept, rows)


@answers
def pick(
    context: typer.Context,
    front: FrontFile,
    *,
    pick: Annotated[
        str | None,
        typer.Option(
            help=f"{POINT}: its number, or the rule ideal, knee, weights:cost=2,defects=1 or "
            "lexicographic:cost,defects (best in the first, ties by the next); as-good where prune or panel "
            "picked by it (the cheapest no worse than the best single one by more than the margin); for "
            "stages also one-se or norm. By default knee, for stages one-se."
        ),
        Fills("rule", "order", "weights"),
    ] = None,
    few: Annotated[
        int | None,
        typer.Option(
            help="Number of points in place of one: those that leave the least regret to any customer who "
            "weighs the objectives, or to those of --customers."
        ),
        Fills("n_points"),
        excludes("model"),
    ] = None,
    customers: Annotated[
        Path | None,
        typer.Option(
            help="Table with a row for each customer: wanted and unwanted features (yes, no), and limits "
            "such as 'most cost'. Each gets the best point within her wishes; with --few these "
            "customers share a few."
        ),
        excludes("model"),
    ] = None,
    limit: LimitTexts = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Feature model; the product is checked by it, and written as its tree."),
        needs("out", "FILE"),
    ] = None,
    out: Annotated[
        list[Path] | None,
        output(
            "the product, as .uvl, .csv or .config; stages or columns of a program as .csv; with --few the "
            "points, as .csv or .xlsx; or a page with pictures, as .html; may be repeated."
        ),
    ] = None,
    details: Details = False,
) -> CommandAnswer:
    """Take one point of a front, or a few.

    One is taken by a rule or its number; the few are those that suit every customer best. What to choose
    there can be written to a file.
    """
    table_endings = PRODUCT_FILE if few is None and customers is None else SPREADSHEET_FILE
    check_files(
        inputs={"FRONT": front, "--model": model, "--customers": customers},
        outputs={"--out": out},
        endings={"--out": table_endings + PAGE_FILE},
    )
    from shortlist.cli.options.points import read_limits
    from shortlist.cli.text.front_text import contract, no_point
    from shortlist.results.front import Front

    wanted, how = _read_rule(pick, few=few, customers=customers)
    refuse_unused(context)
    factors = read_numbers(how, "pick") if how and wanted != "lexicographic" else None
    loaded = Front.load(front)
    order = _order(loaded, read_names(how) if how and wanted == "lexicographic" else ())
    limits = read_limits(limit or (), loaded.names)
    if reason := no_point(loaded, limits):
        nothing: dict[str, Any] = {"rule": None, "index": None, "values": {}, "selection": [], "out": None}
        return CommandAnswer(
            contract(loaded) | {"status": "infeasible", "reason": reason} | nothing,
            last=[f"Status infeasible: {reason}"],
        )
    files = files_by_kind(out, table=table_endings, page=PAGE_FILE)
    if customers is not None:
        return _serve(loaded, customers, few, weights=factors, limits=limits, files=files, details=details)
    if few is not None:
        return _take_few(loaded, few, limits, files, details=details)
    return _take_one(loaded, _Rule(wanted, factors, order), limits, files=files, model=model, details=details)


class _Rule(NamedTuple):
    """Rule of ``--pick``, with weights or an order; None stands for the default rule."""

    wanted: int | str | None
    weights: "dict[str, float] | None"
    order: "Sequence[str]"


def _read_rule(text: str | None, *, few: int | None, customers: Path | None) -> tuple[int | str | None, str]:
    """Return the number or rule of ``--pick``, and the text after its colon."""
    from shortlist.cli.options.stage_options import point_or_rule
    from shortlist.errors import BadInputError
    from shortlist.results.picking import AS_GOOD

    rule, _, how = (text or "").partition(":")
    wanted = None if text is None else rule if rule == AS_GOOD else point_or_rule(rule)
    if how and wanted not in {"weights", "ideal", "lexicographic"}:
        raise BadInputError("--pick", "takes objectives with weights, ideal or lexicographic", repr(text))
    if wanted == "weights" and not how:
        raise BadInputError("--pick", "must say the weights, such as weights:cost=2,defects=1", repr(text))
    if wanted is not None and few is not None and customers is None:
        raise BadInputError("--few cannot be used with --pick. Leave one of them out.")
    if wanted not in {None, "weights"} and customers is not None:
        raise BadInputError("--pick", "must be weights:cost=2,defects=1 beside --customers", repr(text))
    return wanted, how


def _take_one(
    front: "Front",
    rule: _Rule,
    limits: "Sequence[Limit]",
    *,
    files: "Sequence[Path | None]",
    model: Path | None,
    details: bool,
) -> CommandAnswer:
    """Take a point by a rule, and write it."""
    from shortlist.cli.options.points import taken_point, usual_rule
    from shortlist.cli.text.front_text import contract, pick_facts, print_pick

    wanted = usual_rule(front) if rule.wanted is None else rule.wanted
    picked = taken_point(front, wanted, limits, weights=rule.weights, order=rule.order)
    out, page = files
    out = save(out, lambda path: write_picked(front, picked, model, path))
    if page is not None:
        from shortlist.cli.result_pages import picked_parts

        page = save_page(page, f"Point {picked.index}", lambda: picked_parts(front, picked, model))
    is_bare = out is not None and out.suffix == ".uvl" and model is None
    return CommandAnswer(
        contract(front) | {"reason": "", **pick_facts(front, picked), "out": out, "report": page},
        partial(print_pick, front, picked, details=details),
        ["The product is not checked and has no tree: pass --model FILE for both."] * is_bare,
        [*written(out, f"the choice of point {picked.index}"), *written_page(page)],
    )


def _take_few(
    front: "Front", few: int, limits: "Sequence[Limit]", files: "Sequence[Path | None]", *, details: bool
) -> CommandAnswer:
    """Choose a few points, and write them."""
    from shortlist._validation import as_count
    from shortlist.cli.text.few_text import few_facts, few_rows, print_few
    from shortlist.cli.text.front_text import contract
    from shortlist.methods.few_points import few_points
    from shortlist.report.few_points import few_parts
    from shortlist.tables.spreadsheets import save_rows

    found = few_points(front, as_count(few, "--few", at_least=1), limits)
    out, page = files
    out = save(out, lambda path: save_rows(path, *few_rows(front, found)))
    page = save_page(page, "A few points for all customers", lambda: few_parts(front, found, few))
    return CommandAnswer(
        contract(front) | {"reason": "", "few": few_facts(front, found), "out": out, "report": page},
        partial(print_few, front, found, few, details=details),
        last=[*written(out, "the points, whom they suit, and what is chosen at each"), *written_page(page)],
    )


def _serve(
    front: "Front",
    customers: Path,
    few: int | None,
    *,
    weights: "dict[str, float] | None",
    limits: "Sequence[Limit]",
    files: "Sequence[Path | None]",
    details: bool,
) -> CommandAnswer:
    """Choose a point of the front for each customer of a table, write the table, and return the answer."""
    from shortlist._validation import as_count
    from shortlist.cli.text.customer_text import service_answer
    from shortlist.cli.text.front_text import contract
    from shortlist.cli.work import long_work
    from shortlist.methods.customers import serve
    from shortlist.report.fronts import front_parts
    from shortlist.results.customer_tables import read_customers

    if few is not None:
        as_count(few, "--few", at_least=1)
    notes: list[str] = []
    read = read_customers(customers, front.candidates, front.names, notes)
    print_notes(notes)
    with long_work(None) as (cancellation, _):
        found = serve(front, read, few, weights=weights, limits=limits, cancellation=cancellation)
    name = front.method or "front"
    picks = [
        (name, front.point(point, f"customers, point {point}"), "") for point in found.numbers[:MOST_PICKS]
    ]
    return service_answer(
        found, files, contract(front) | {"reason": ""}, front=front,
        more=lambda: front_parts({name: front}, picks=picks), details=details,
    )  # fmt: skip


MOST_PICKS = 12
"""Largest number of customers' products for which a page has buttons."""


@answers
def export(
    front: FrontFile,
    *,
    out: Annotated[Path, output("a row per point and a column per feature, as .csv or .xlsx.")],
) -> CommandAnswer:
    """Write a front for spreadsheets.

    The table has a row per point, with its objectives and every feature.
    """
    check_files(inputs={"FRONT": front}, outputs={"--out": out}, endings={"--out": SPREADSHEET_FILE})
    from shortlist.cli.text.front_text import contract
    from shortlist.results.front import PROGRAM, Front

    loaded = Front.load(front)
    out = save(out, loaded.save)
    size = f"{len(loaded):,} points with {len(loaded.objectives)} objectives and {len(loaded.candidates):,}"
    columns = "columns" if PROGRAM in loaded.extras else "features"
    return CommandAnswer(contract(loaded) | {"out": out}, last=[f"{size} {columns} in {out}."])


@answers
def diff(
    first: Annotated[Path, typer.Argument(help="Earlier front, a .parquet file.")],
    second: Annotated[Path, typer.Argument(help="Later front, a .parquet file.")],
    *,
    out: Annotated[Path | None, output("every point and what became of it, as .csv or .xlsx.")] = None,
    details: Details = False,
) -> CommandAnswer:
    """Show what became of the points of an earlier front.

    Prices or the model may have changed since. Points are matched by their choices, then by their values,
    which are compared exactly.
    """
    check_files(
        inputs={"FIRST": first, "SECOND": second}, outputs={"--out": out}, endings={"--out": SPREADSHEET_FILE}
    )
    from shortlist.cli.text.differences import (
        difference_facts,
        difference_notes,
        difference_rows,
        print_differences,
    )
    from shortlist.cli.text.front_text import contract
    from shortlist.results.front import Front
    from shortlist.results.front_differences import front_differences
    from shortlist.tables.spreadsheets import save_rows

    old, new = Front.load(first), Front.load(second)
    fates = front_differences(old, new)
    out = save(out, lambda path: save_rows(path, *difference_rows(old, new, fates)))
    return CommandAnswer(
        contract(new) | difference_facts(old, new, fates) | {"out": out},
        partial(print_differences, old, new, fates, details=details),
        difference_notes(old, new),
        written(out, "every point and what became of it"),
    )


@answers
def plot(
    front: FrontFile,
    *,
    out: Annotated[Path, output("a picture, as .svg, .png or .pdf; or a page, as .html.")],
) -> CommandAnswer:
    """Draw every pair of objectives of a front.

    The points of the rules ideal and knee are marked.
    """
    check_files(inputs={"FRONT": front}, outputs={"--out": out}, endings={"--out": PICTURE_FILE})
    from shortlist.cli.text.front_text import contract
    from shortlist.results.front import Front
    from shortlist.results.picture import save_figure

    loaded = Front.load(front)
    if out.name.casefold().endswith(PAGE_FILE):
        from shortlist.cli.result_pages import result_page
        from shortlist.report.page import write_page

        text = result_page(front)
        out = save(out, lambda path: write_page(path, text))
    else:
        out = save(out, lambda path: save_figure(loaded, path))
    return CommandAnswer(contract(loaded) | {"out": out}, last=[f"{len(loaded):,} points drawn in {out}."])


def _order(front: "Front", names: "Sequence[str]") -> list[str]:
    from shortlist._words import all_of, did_you_mean
    from shortlist.errors import BadInputError

    for name in names:
        if name not in front.names:
            hint = did_you_mean(name, front.names)
            raise BadInputError(f"--pick names {name!r}, but the front has {all_of(front.names)}.{hint}")
    return list(names)
