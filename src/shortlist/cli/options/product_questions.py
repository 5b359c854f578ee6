"""Question about a product line, made from the options of a command."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.files import Named
from shortlist.cli.options.settings import Fills, read_pair_list
from shortlist.cli.options.shared import WHAT_MATTERS, LimitTexts

if TYPE_CHECKING:
    from shortlist.products.attributes import Attribute, AttributeTable
    from shortlist.products.configuration.requirements import Requirements
    from shortlist.products.decisions import Decision
    from shortlist.products.model import FeatureModel
    from shortlist.results.customers import Customer
    from shortlist.results.front import Front

USUAL_ORDER = ("not_used_before", "defects", "cost")
"""Default order of attributes after `deselected`, by which the study of Xue and Li (2018) sorts points."""


ROUNDED = 2
"""Number of decimals to which attributes are rounded if they have too many to be exact."""

ASKED = "asked"
"""Name of the fact in a saved front that holds the question."""

DRAWN = r"random(:\d+)?"
"""Pattern of the word for attributes drawn at random."""


@dataclass(frozen=True, eq=False)
class AskedQuestion:
    """Question about a product line, read from the options of a command."""

    line: "FeatureModel"
    """Feature model as read from its file."""
    objectives: str
    """Objectives as the user typed them, or the default ones."""
    limits: tuple[str, ...]
    """Limits as the user typed them."""
    attributes: "dict[str, Attribute]"
    """Attributes that objectives and limits name."""
    sources: dict[str, str]
    """Source of each attribute."""
    requirements: "Requirements"
    """Features that must be selected or deselected, including the features of the stages."""
    left_out: dict[str, str]
    """Columns of the attributes that are no default objective, with the reason."""
    notes: tuple[str, ...]
    """Notes on choices made for the user, one sentence each."""
    stages: "tuple[Decision, ...]" = ()
    """Decisions in stages from files, in the order of the files."""
    customers: "tuple[Customer, ...]" = ()
    """Customers of the named table; empty without a table."""

    @property
    def facts(self) -> dict[str, Any]:
        """Facts about the question for the JSON of a command."""
        from shortlist.products.decision_files import decision_facts

        return {
            "n_features": self.line.n_features,
            "asked_objectives": self.objectives,
            "attributes": self.sources,
            "left_out": self.left_out,
            "decisions": decision_facts(self.line, self.stages),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class QuestionOptions:
    """The product line."""

    objectives: Annotated[
        str | None,
        typer.Option(
            help=f"{WHAT_MATTERS}, such as 'min cost, max quality'; by default min deselected and every "
            "attribute."
        ),
    ] = None
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            help="Table with a column feature, - for standard input, or an .augment file; random or "
            "random:SEED draws cost, defects and not_used_before; may be repeated. By default MODEL.augment."
        ),
    ] = None
    default: Annotated[
        str, "Value of an attribute where a feature has none, such as cost=0,defects=1.", Fills("defaults")
    ] = ""
    ignore_unknown: Annotated[bool, "Skip rows of features that the model does not have."] = False
    limit: LimitTexts = None
    select: Annotated[list[str] | None, typer.Option(help="Feature that every product must have.")] = None
    deselect: Annotated[list[str] | None, typer.Option(help="Feature that no product may have.")] = None
    decisions: Annotated[
        list[Path] | None,
        typer.Option(
            help="File with a partial configuration, or with decisions in stages; may be repeated, in the "
            "order of the stages."
        ),
        Fills("fixed"),
    ] = None

    @property
    def files(self) -> list[Path]:
        """Files of attributes."""
        return [Path(each) for each in self.attributes or () if not re.fullmatch(DRAWN, each)]

    @property
    def draws(self) -> int | None:
        """Seed of attributes drawn at random; None if no attribute is drawn."""
        from shortlist._validation import as_seed
        from shortlist.errors import BadInputError

        drawn = [each for each in self.attributes or () if re.fullmatch(DRAWN, each)]
        if len(drawn) > 1:
            raise BadInputError(f"--attributes must draw attributes once, got {' and '.join(drawn)}.")
        return (
            as_seed(int(drawn[0].partition(":")[2] or 0), "the seed of --attributes random")
            if drawn
            else None
        )

    def inputs(self, model: Path) -> dict[str, Named]:
        """Return the files of a question, by the name of their argument or option."""
        files: dict[str, Named] = {"MODEL": model, "--attributes": self.files, "--decisions": self.decisions}
        if self.attributes or not model.is_file():  # it is told before anything heavy is loaded
            return files
        from shortlist.products.attribute_files import attributes_beside

        return files | {"the file with its attributes": attributes_beside(model)}


def asked_record(asked: AskedQuestion, given: QuestionOptions) -> dict[str, Any]:
    """Return the record of a front's question for its file; :func:`question_again` reads the record."""
    labels, wanted = asked.line.labels, asked.requirements
    return {
        "limit": list(asked.limits),
        "select": [labels[i] for i in wanted.select],
        "deselect": [labels[i] for i in wanted.deselect],
        "attributes": given.attributes,
        "default": given.default,
        "ignore_unknown": given.ignore_unknown,
    }


def question_again(front: "Front", attributes: list[str] | None) -> QuestionOptions:
    """Return the options that asked for a front, from the record in its file.

    `attributes`: files of attributes in place of the recorded ones, if given. Raises BadInputError if the
    file has no record.
    """
    from shortlist.errors import BadInputError

    record = front.extras.get(ASKED)
    if not isinstance(record, dict):
        raise BadInputError(
            "the front must say within which limits it was found, and does not: it is older, or was not "
            "written by shortlist configure. Write it anew."
        )
    known = {one: record.get(one) for one in ("limit", "select", "deselect", "attributes")}
    objectives = ", ".join(f"{objective.sense} {objective.name}" for objective in front.objectives)
    return QuestionOptions(
        objectives=objectives,
        default=str(record.get("default", "")),
        ignore_unknown=bool(record.get("ignore_unknown")),
        **(known | ({"attributes": attributes} if attributes else {})),
    )


def read_question(
    model: Path, given: QuestionOptions, *, otherwise: str = "", customers: Path | None = None
) -> AskedQuestion:
    """Read model, attributes and requirements, and choose objectives if none are named.

    `customers`: table of customers; attributes in their limits are read too. `otherwise`: objectives if there
    are no attributes to choose from; empty: the user has to name objectives.
    """
    from shortlist._words import all_of
    from shortlist.cli.options.points import read_limits
    from shortlist.errors import BadInputError
    from shortlist.files import read_source
    from shortlist.products.attribute_files import attributes_beside, read_attributes
    from shortlist.products.attributes import BUILT_IN, chosen_attributes, model_attributes, needs_rounding
    from shortlist.products.configuration.requirements import Requirements
    from shortlist.products.formats import parse_model, read_model
    from shortlist.results.objective import objective_names

    line = parse_model(read_source(model)) if given.attributes else read_model(model)
    is_asked = given.select or given.deselect or given.decisions
    wanted, stages = _wanted(line, given) if is_asked else (Requirements(), ())
    objectives, seed, files = given.objectives, given.draws, given.files
    found_beside = attributes_beside(model) if not given.attributes else None
    if found_beside:
        files = [found_beside]
    notes = list(line.notes)
    if given.ignore_unknown and not given.files:
        raise BadInputError(
            "--set ignore-unknown skips rows of --attributes, and there is no such file. Leave it out."
        )
    tables = [
        read_attributes(path, line, ignore_unknown=given.ignore_unknown, notes=notes) for path in files
    ] + [model_attributes(line, str(model))]
    drawn = {} if seed is None else _drawn(line, seed, tables)
    asked, left_out = (
        (objectives, {})
        if objectives is not None
        else _default_objectives(model, line, tables, list(drawn), otherwise)
    )
    goals = [name for _, name in objective_names(asked)]
    columns = [name for table in tables for name in table.columns]
    known = list(dict.fromkeys([*goals, *BUILT_IN, *columns, *drawn]))
    limits = read_limits(given.limit, known) if given.limit else ()
    served = () if customers is None else _customers(customers, line, known, notes)
    names = [*goals, *(one.name for one in limits), *(one.name for each in served for one in each.limits)]
    _refuse_unknown(names, [*BUILT_IN, *columns, *drawn], tables, seed)
    others = [name for name in names if name not in drawn]
    rounds = any(needs_rounding(table, name) for table in tables for name in others)
    found = chosen_attributes(
        others,
        tables,
        line,
        defaults=_defaults(given.default, names, drawn, tables, notes) if given.default else {},
        decimals=ROUNDED if rounds else None,
        notes=notes,
    )
    sources = {name: f"drawn at random, seed {seed}" for name in drawn if name in names}
    if seed is not None and not sources:
        has = all_of(table.source for table in tables if table.columns)
        raise BadInputError(
            "--attributes random draws cost, defects and not_used_before, but none of these is requested"
            + (f" beyond what {has} gives" if has else "")
            + ". Leave it out."
        )
    for name in found:
        sources[name] = next(t.source for t in tables if name.casefold() in map(str.casefold, t.columns))
    if given.files:
        _refuse_unused_files(tables[: len(given.files)], sources, names)
    if str(found_beside) in sources.values():
        notes.append(f"Attributes from {found_beside}, which is in the folder of the model.")
    if objectives is None:
        notes.append(f"Objectives by default: {asked}. {_how_to_turn(asked)}")
        reasons = ", ".join(f"{name} ({reason})" for name, reason in left_out.items())
        notes += [f"Left out of them: {reasons}."] if reasons else []
    if rounds:
        notes.append(f"Attributes rounded to {ROUNDED} decimals, to be exact.")
    texts = tuple(map(str, limits))
    return AskedQuestion(
        line, asked, texts, drawn | found, sources, wanted, left_out, tuple(notes), stages, served
    )


def _customers(
    path: Path, line: "FeatureModel", known: Sequence[str], notes: list[str]
) -> "tuple[Customer, ...]":
    from shortlist.results.customer_tables import read_customers

    return read_customers(path, line.labels, known, notes)


def _how_to_turn(asked: str) -> str:
    """Return a sentence on how to maximise the last of some default objectives."""
    *others, last = asked.split(", ")
    if not last.startswith("min "):
        return "For others pass --objectives."
    turned = ", ".join([*others[-1:], f"max {last.removeprefix('min ')}"])
    is_one = not others
    return (
        f"{'It is' if is_one else 'All are'} minimised; otherwise pass for instance --objectives '{turned}'."
    )


def _wanted(line: "FeatureModel", given: QuestionOptions) -> "tuple[Requirements, tuple[Decision, ...]]":
    """Return all requirements, including decisions in stages, and these decisions once more alone."""
    from shortlist.products.configuration.requirements import from_literals, make_requirements
    from shortlist.products.decision_files import has_decisions, staged_decisions

    staged = [path for path in given.decisions or () if has_decisions(path)]
    fixed = [path for path in given.decisions or () if path not in staged]
    wanted = make_requirements(line, select=given.select or (), deselect=given.deselect or (), fixed=fixed)
    stages = staged_decisions(line, staged)
    return from_literals(line, [*wanted.literals, *(decision.literal for decision in stages)]), stages


def _refuse_unknown(
    names: Sequence[str], known: Sequence[str], tables: "Sequence[AttributeTable]", seed: int | None
) -> None:
    """Raise BadInputError for an objective that is no attribute; drawn attributes count."""
    from shortlist._words import all_of
    from shortlist.errors import BadInputError
    from shortlist.products.model import suggestion

    for name in names:
        if name.casefold() not in map(str.casefold, known):
            sources = [table.source for table in tables] + (
                ["--attributes random"] if seed is not None else []
            )
            has = "has" if len(sources) == 1 else "have"
            hint = suggestion(name, known, f"Known are {all_of(dict.fromkeys(known))}.")
            raise BadInputError(f"{all_of(sources)} {has} no attribute {name!r}. {hint}")


def _defaults(
    text: str,
    names: Sequence[str],
    drawn: Container[str],
    tables: "Sequence[AttributeTable]",
    notes: list[str],
) -> dict[str, str]:
    """Read ``--set default``: numbers for attributes; `notes` receives defaults that have no use."""
    from shortlist._words import all_of, did_you_mean
    from shortlist.errors import BadInputError
    from shortlist.exact import as_decimal
    from shortlist.products.attributes import BUILT_IN

    columns = {column.casefold() for table in tables for column in table.columns}
    spelled = {name.casefold(): name for name in names}
    defaults: dict[str, str] = {}
    for typed, value in read_pair_list(text, "set default"):
        name = spelled.get(typed.casefold(), typed)
        if as_decimal(value) is None:
            raise BadInputError(
                f"--set default of {name!r} must be a number below 10^19, written like 12.50, got {value!r}."
            )
        if name in drawn:
            raise BadInputError(
                f"--set default names {name!r}, which --attributes random draws for every feature. "
                "Leave it out."
            )
        if name in BUILT_IN:
            raise BadInputError(f"--set default names {name!r}, which counts features. Leave it out.")
        if name.casefold() not in columns:
            known = list(dict.fromkeys(column for table in tables for column in table.columns))
            have = f"{all_of(t.source for t in tables)} {'has' if len(tables) == 1 else 'have'}"
            raise BadInputError(
                f"--set default must name an attribute, got {name!r}: {have} {all_of(known) or 'none'}."
                + (did_you_mean(name, known) or " Leave it out, or name its table by --attributes.")
            )
        if name not in names:
            notes.append(f"--set default={name}={value} is not used: {name} is no objective and no limit.")
        defaults[name] = value
    return defaults


def _refuse_unused_files(
    tables: "Sequence[AttributeTable]", sources: dict[str, str], names: Sequence[str]
) -> None:
    from shortlist._words import all_of
    from shortlist.errors import BadInputError

    for table in tables:
        if table.source not in sources.values():
            raise BadInputError(
                f"--attributes {table.source} adds no requested attribute: it has {all_of(table.columns)}, "
                f"and requested are {all_of(dict.fromkeys(names))}. Leave it out."
            )


def _drawn(line: "FeatureModel", seed: int, tables: "Sequence[AttributeTable]") -> "dict[str, Attribute]":
    import numpy as np

    from shortlist.products.attributes import random_attributes

    rng = np.random.default_rng(seed)
    given = {name.casefold() for table in tables for name in table.columns}
    drawn = random_attributes(line, rng=rng)
    return {name: values for name, values in drawn.items() if name.casefold() not in given}


def _default_objectives(
    model: Path, line: "FeatureModel", tables: "Sequence[AttributeTable]", drawn: list[str], otherwise: str
) -> tuple[str, dict[str, str]]:
    """Return the default objectives, and the reason why each other column is no objective."""
    from shortlist.errors import BadInputError
    from shortlist.products.attributes import numeric_attributes

    found: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for table in tables:
        numeric, others = numeric_attributes(table, line)
        for name in numeric:
            found.setdefault(name.casefold(), name)
        left_out |= others
    for name in drawn:
        found.setdefault(name.casefold(), name)
    if not found and otherwise:
        return otherwise, left_out
    if not found:
        raise BadInputError(
            f"--objectives must be given, as {model} has no attributes. "
            "Pass --attributes FILE, --attributes random, or --objectives."
        )
    usual = [found.pop(name) for name in USUAL_ORDER if name in found]
    return ", ".join(f"min {name}" for name in ("deselected", *usual, *found.values())), left_out
