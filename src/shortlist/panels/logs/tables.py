"""Tables of answers: wide, with columns for each judge, and long, with a row for each answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shortlist._words import all_of, counted, did_you_mean
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.logs.assembly import Wide
from shortlist.panels.logs.long_roles import LONG_ROLES
from shortlist.panels.logs.number_labels import with_number_labels
from shortlist.panels.logs.records import KNOWN_COLUMNS, LogColumns, Records, records_of, seconds_of
from shortlist.panels.logs.table_forms import (
    TableForm,
    may_be_truth,
    told_form,
    told_roles,
    with_case,
    with_chosen,
    with_price,
    without_rejected,
)
from shortlist.panels.logs.wide_parts import USUAL_HINTS, TableHints
from shortlist.panels.logs.wide_tables import note_unused, tell_first, wide_records

if TYPE_CHECKING:
    import pandas as pd


def table_records(
    source: str,
    table: "pd.DataFrame",
    columns: LogColumns,
    notes: list[str],
    hints: TableHints = USUAL_HINTS,
) -> Records | Wide:
    """Return the records of a table, or a :class:`Wide`; the structure of the table decides its form.

    `source`: name of the file in messages. `notes`: gets a sentence on the form of the table, before all
    other notes.

    Raises BadFileError if several forms fit.
    """
    table = with_chosen(table)
    names = tuple(map(str, table.columns))
    named = list(columns.features)
    told = (columns.content, *(getattr(columns, role) for role in LONG_ROLES))
    named += [one for one in told if one is not None]
    _check_named(source, table, named)
    if twice := [name for name in columns.features if name in columns.drop]:
        raise BadInputError(
            f"column {twice[0]!r} cannot be dropped and read by the router. Leave it out of one of them."
        )
    table = _without_empty_rows(source, table, notes)
    table = table.drop(columns=[name for name in columns.drop if name in names])
    table = with_case(without_rejected(source, table, notes))
    found = told_form(source, table, columns, hints.form, notes, truth_elsewhere=hints.truth_elsewhere)
    if found.is_long:
        return replace(_long_records(source, table, columns, notes, found), columns=names)
    wide = wide_records(source, table, columns, notes, hints)
    return replace(wide, columns=names)  # also of columns that are left out


def _without_empty_rows(source: str, table: "pd.DataFrame", notes: list[str]) -> "pd.DataFrame":
    """Return a table without its empty rows, which Toloka writes between pages of tasks."""
    kept = table.dropna(how="all")
    if 0 < len(kept) < len(table):
        notes.append(f"{source}: {counted(len(table) - len(kept), 'empty row')} left out.")
        return kept.reset_index(drop=True).infer_objects()
    return table


def _check_named(source: str, table: "pd.DataFrame", names: Sequence[str]) -> None:
    names_of_table = list(map(str, table.columns))
    for name in names:
        if name not in names_of_table:
            advice = (
                did_you_mean(name, names_of_table)
                or f" It has {all_of((one[:60] for one in names_of_table), most=8)}."
            )
            raise BadInputError(source, f"must have the column {name!r}", "none of that name", advice)


def _long_records(
    source: str, table: "pd.DataFrame", columns: LogColumns, notes: list[str], found: TableForm
) -> Records:
    roles = found.roles
    _check_named(source, table, list(roles.values()))
    missing = [role for role in ("case", "judge", "answer") if role not in roles]
    if (missing and missing != ["answer"]) or (missing and "score" not in roles):
        names = ", ".join(KNOWN_COLUMNS[missing[0]][:4])
        raise BadFileError(
            source,
            f"must have a column of the {missing[0]} of each answer, such as {names}",
            f"{all_of(table.columns, most=8)}",
            f"Name it by `{missing[0]}='NAME'`.",
        )
    roles, unsure = with_price(table, columns, roles)
    table = with_number_labels(
        source, table, [roles[one] for one in ("answer", "target") if one in roles], notes
    )
    of_tool = f", as a table of {found.tool}" if found.tool else ""
    tell_first(notes, f"{source}: read as one row an answer{of_tool}: {told_roles(roles)}.")
    used = {*roles.values(), *columns.features, columns.content}
    rest = [str(name) for name in table.columns if str(name) not in {*used, *unsure, *found.passed_over}]
    truths = may_be_truth(table, roles, rest)
    note_unused(source, [name for name in rest if name not in truths], notes)
    if unsure:
        notes.append(
            f"{source}: {all_of(map(repr, unsure))} not used. If one is the price, name it by `price`."
        )
    if truths:
        notes.append(
            f"{source}: column {truths[0]!r} is not used, but has the words of the answers. If it "
            f"is the truth, pass `target={truths[0]!r}`."
        )
    given: dict[str, Any] = {role: table[name] for role, name in roles.items() if role != "target"}
    given["truth"] = table[roles["target"]] if "target" in roles else None
    given["content"] = table[columns.content] if columns.content else None
    if "latency" in roles:
        given["latency"] = seconds_of(source, roles["latency"], given["latency"])
    features = table[list(columns.features)]
    return records_of(source, given, features, len(table), repeats=columns.repeats)
