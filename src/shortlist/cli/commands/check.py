"""`shortlist model check`: whether the rows of a spreadsheet are products of a feature model."""

import dataclasses
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import SPREADSHEET_FILE, check_files
from shortlist.cli.options.product_questions import QuestionOptions, read_question
from shortlist.cli.options.settings import grouped
from shortlist.cli.options.shared import WHAT_MATTERS, Details, Drop, FeatureModelFile, output
from shortlist.cli.text.output import first_screen, print_notes, save

if TYPE_CHECKING:
    from shortlist.cli.options.product_questions import AskedQuestion
    from shortlist.products.model import FeatureModel

NOT_AS_CLAIMED = 1


@dataclass(frozen=True)
class CheckedQuestion(QuestionOptions):
    """The products."""

    objectives: Annotated[
        str | None,
        typer.Option(
            help=f"{WHAT_MATTERS}, such as 'min cost, max quality', in addition to those of the table."
        ),
    ] = None


@grouped
@answers
def check(
    model: FeatureModelFile,
    products: Annotated[
        str, typer.Argument(help="Table with a row per product, as configure and model sample write it.")
    ],
    *,
    drop: Drop = None,
    question: CheckedQuestion,
    out: Annotated[Path | None, output("the verdict on every row, as .csv or .xlsx.")] = None,
    details: Details = False,
) -> CommandAnswer:
    """Check the products of a table against a feature model.

    For every row that is no product the broken rules are named. Columns of objectives are recomputed. A
    column is a feature, or is called 'objective: min cost'. The exit code is 1 if any row is wrong.
    """
    check_files(
        inputs={"PRODUCTS": products, **question.inputs(model)},
        outputs={"--out": out},
        endings={"--out": SPREADSHEET_FILE},
    )
    from shortlist.cli.text.model_analysis import check_facts, print_checks, save_checks
    from shortlist.products.configuration.question import parse_objectives
    from shortlist.products.formats import read_model
    from shortlist.products.product_tables import check_products, read_products
    from shortlist.runs.budget import seconds_now

    started = seconds_now()
    notes: list[str] = []
    table = read_products(products, read_model(model), drop=drop or (), notes=notes)
    asked = read_question(model, dataclasses.replace(question, objectives=_wanted(question, [*table.values])))
    print_notes([*notes, *asked.notes])
    goals = parse_objectives(asked.objectives, asked.line, asked.attributes)
    checks = check_products(table, _with_requirements(asked), goals)
    out = save(out, lambda path: save_checks(path, checks))
    facts: dict[str, Any] = {
        "method": "evaluation",
        **check_facts(checks, asked),
        "seconds": seconds_now() - started,
        "out": out,
    }
    return CommandAnswer(
        facts,
        first_screen(details=details)(partial(print_checks, facts)),
        exit_code=NOT_AS_CLAIMED if facts["n_wrong"] else 0,
    )


def _wanted(question: QuestionOptions, headings: list[str]) -> str:
    asked = [part.strip() for part in (question.objectives or "").split(",") if part.strip()]
    known = {heading.split(" ", 1)[-1] for heading in headings}
    return ", ".join([*headings, *(p for p in asked if p.split(" ", 1)[-1] not in known)]) or "max selected"


def _with_requirements(asked: "AskedQuestion") -> "FeatureModel":
    from shortlist.products.configuration.question import parse_limit
    from shortlist.products.formulas import Literal
    from shortlist.products.model import Constraint, with_constraints

    limits = [parse_limit(text, asked.line, asked.attributes) for text in asked.limits]
    required = [Constraint(Literal(value), "required") for value in asked.requirements.literals]
    return with_constraints(asked.line, [*limits, *required])
