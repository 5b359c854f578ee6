"""Reading of logs of answers, from one file or several.

A new form of a tool's log is a row of ``FORMS_OF_LISTS`` in tool_forms.py; a table of a crowd platform is a
row of ``CROWDS`` in table_forms.py.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist._validation import as_choice
from shortlist._words import all_of, counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.files import EXAMPLE_PREFIX
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.log_checks import FOLDS
from shortlist.panels.logs.assembly import Wide, assembled, wide_log
from shortlist.panels.logs.evaluation_logs import TASK_IN_NAME
from shortlist.panels.logs.json_content import listed, refusing_depth, with_fields
from shortlist.panels.logs.long_roles import LONG_ROLES
from shortlist.panels.logs.number_labels import (
    BESIDE_NUMBERS,
    holds_numbers,
    refuse_ratings,
    with_number_labels,
    with_plain_cells,
)
from shortlist.panels.logs.prices import priced_by_tokens, read_prices
from shortlist.panels.logs.records import (
    KNOWN_COLUMNS,
    MAYBE_TRUTHS,
    REPEATS,
    LogColumns,
    Records,
    as_text,
    called,
    check_dropped,
    joined,
    spelled,
)
from shortlist.panels.logs.several_files import check_together, file_names
from shortlist.panels.logs.table_forms import IDENTIFIER, names_workers
from shortlist.panels.logs.tables import table_records
from shortlist.panels.logs.tool_forms import (
    LONG,
    LOOKED_FOR,
    TOOL_FORMS,
    Content,
    content_of,
    refuse_others,
    tool_records,
)
from shortlist.panels.logs.wide_parts import TableHints
from shortlist.tables.files import read_content, table_of_bytes, without_gaps
from shortlist.tables.learning import read_table
from shortlist.tables.numbers import AGREED, USUAL, CellRules

if TYPE_CHECKING:
    import pandas as pd

FORMS = ("wide", "long", "scores", *TOOL_FORMS)
"""Names of the forms of logs."""


def read_log(
    paths: str | Path | Sequence[str | Path],
    *,
    form: str | None = None,
    columns: LogColumns | None = None,
    costs: str | Path | Mapping[str, float] | None = None,
    token_prices: str | Path | None = None,
    truth: str | Path | None = None,
    classes: Sequence[Any] | None = None,
    like: Sequence[str] | None = None,
    rules: CellRules = USUAL,
) -> AnswerLog:
    """Read the answers of judges from files, and return their log.

    The content of a file decides its form. Tables are wide, with columns for each judge, or long, with a row
    for each answer; their files are CSV, TSV, Parquet, a workbook, or JSON (a list of objects, or an object
    in each line). Logs are those of inspect-ai (``.eval`` and ``.json``), promptfoo (``results.json``),
    alpaca_eval (``annotations.json``) and lm-evaluation-harness (``samples_*.jsonl``).

    Raises BadFileError if a file cannot be read, is damaged, or is of no known form. Raises BadInputError if
    a column is missing, or files contradict each other.

    `paths`: the files; ``-`` is standard input. Records with the same case belong together, also from several
    files. `form`: required form of all files: ``"wide"``, ``"long"``, ``"inspect-ai"``, ``"lm-eval"``,
    ``"promptfoo"``, ``"alpaca-eval"``, ``"openai-evals"``, ``"label-studio"`` or ``"argilla"``. `columns`:
    names of columns or fields. `costs`: price of a call by judge, as a mapping or a table with the columns
    name and cost; it replaces prices in the log. `token_prices`: prices per token by model: LiteLLM's JSON,
    or a table with the columns model, input_cost_per_token and output_cost_per_token. `truth`: the truth of
    each case: a table with a column of cases, or a log, whose strict plurality is the truth. `classes`: the
    possible answers; see :func:`shortlist.panels.answer_log.make_log`. `like`: classes of a saved panel,
    which are used if every truth is among these classes. `rules`: words for gaps in tables, and the decimal
    sign.
    """
    notes: list[str] = []
    named = columns or LogColumns()
    costs = None if costs is None else read_prices(costs, notes)
    if form is not None:
        as_choice(form, "form", FORMS)
    if named.repeats is not None:
        as_choice(named.repeats, "repeats", REPEATS)
    for way in named.fold:
        as_choice(way, "fold", FOLDS)
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    if not files:
        raise BadInputError("paths", "must name at least one log", "none", "Name one.")
    asked = Asked(form, named, rules, priced=tuple(costs or ()))
    told = None if truth is None else _truth_of(truth, asked, notes)
    if told is not None:
        elsewhere = named.case if named.case == told.case else None
        asked = asked._replace(truth_elsewhere=True, case_there=elsewhere, beside_numbers=told.has_numbers())
    records = _records_of_files(files, asked, notes)
    source = records.source
    if isinstance(records, Wide):
        if token_prices is None and truth is None:
            log = wide_log(records, notes, named, costs=costs, classes=classes, like=like)
            refuse_ratings(source, log)
            return log
        records = records.records()
    if told is not None:
        records = _with_truth(records, told, notes)
    records = _without(records, named.drop)
    if token_prices is not None:
        records = priced_by_tokens(records, token_prices, notes, has_costs=costs is not None)
    log = assembled(records, notes, named, costs=costs, classes=classes, like=like)
    refuse_ratings(source, log)
    return log


class Asked(NamedTuple):
    """Settings for reading files.

    `form`, `columns`, `rules`: form, names of columns, and rules for cells. `truth_elsewhere`: whether the
    truth is in another file. `case_there`: named column of cases, if the file of the truth has it; the log
    may name its cases otherwise. `beside_numbers`: whether the truth in another file is numbers. `priced`:
    judges with a price by name.
    """

    form: str | None
    columns: LogColumns
    rules: CellRules
    truth_elsewhere: bool = False
    case_there: str | None = None
    beside_numbers: bool = False
    priced: tuple[str, ...] = ()


def _records_of_files(files: Sequence[str | Path], asked: Asked, notes: list[str]) -> Records | Wide:
    found: dict[tuple[str, ...], str] = {}
    parts = []
    for path, judge in zip(files, file_names(files), strict=True):
        name, content = ("", b"") if _is_example(path) else read_content(path)
        name = name or str(path)
        with refusing_depth(name):
            read = _file_records(name, content, asked, notes, judge)
        if len(files) == 1 and isinstance(read, Wide):
            return read
        part = read.records() if isinstance(read, Wide) else read
        digest = hashlib.sha256(content or name.encode()).hexdigest()
        same = found.setdefault((digest, *part.frame["judge"].unique()), name)
        if same is not name:
            raise BadInputError(name, "must differ from the other logs", f"a copy of {same}", "Name it once.")
        if len(files) > 1 and part.numbered:
            raise BadInputError(
                name,
                "must have a column that names the case, to be read together with other logs",
                "none",
                "Name it, or read the log alone.",
            )
        parts.append(part)
    if len(parts) == 1:
        return parts[0]
    check_together(parts, asked.form, asked.columns.repeats)
    return joined(parts, asked.columns.repeats)


def _without(records: Records, names: Sequence[str]) -> Records:
    check_dropped(set(records.frame["judge"]), records.columns, names)
    kept = records.frame[~records.frame["judge"].isin(list(names))]
    return replace(records, frame=kept.reset_index(drop=True))


def _is_example(path: str | Path) -> bool:
    return str(path).startswith(EXAMPLE_PREFIX)


def _file_records(name: str, content: bytes, asked: Asked, notes: list[str], judge: str) -> Records | Wide:
    form, columns = asked.form, asked.columns
    if _is_example(name):
        table = read_table(name, notes)
    else:
        found = content_of(name, content, notes)
        without_truth = replace(columns, target=None) if asked.truth_elsewhere else columns
        records = tool_records(name, found, without_truth, notes)
        kind = found.form.removesuffix(" archive").removesuffix(" table")
        if form is not None and form != kind and (records is not None or form in TOOL_FORMS):
            got = kind if records is not None else "another form"
            raise BadFileError(name, f"must be a log of the form {form}", got, "Leave the form out.")
        if records is not None:
            by_file = kind == "lm-eval" and TASK_IN_NAME.fullmatch(PurePath(name).name) is None
            return replace(records, frame=records.frame.assign(judge=judge)) if by_file else records
        if isinstance(found.value, dict):
            refuse_others(name, found.value)
        table = _table_of(name, found, asked.rules, notes)
        if form is None and not (columns.case or columns.judge or columns.answer):
            refuse_others(name, {part for one in table.columns for part in (one, one.partition(".")[0])})
    if asked.truth_elsewhere and columns.target not in table:
        columns = replace(columns, target=None)
    if asked.case_there is not None and asked.case_there not in table:
        columns = replace(columns, case=None)
    table.attrs[BESIDE_NUMBERS] = asked.beside_numbers
    hints = TableHints(form, asked.truth_elsewhere, asked.priced, judge)
    return table_records(name, table, columns, notes, hints)


def _table_of(name: str, found: Content, rules: CellRules, notes: list[str]) -> "pd.DataFrame":
    import pandas as pd

    if found.form != "rows":
        _check_width(name, found.value)
        table = table_of_bytes(name, found.value, notes, rules=rules)
        return table if AGREED in table.attrs else with_plain_cells(name, with_fields(table), notes, rules)
    rows = found.value
    if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
        kind = "an object" if isinstance(rows, dict) else "an empty list" if rows == [] else "other values"
        fields = f" with the fields {listed(rows, most=6)}" if isinstance(rows, dict) and rows else ""
        raise BadFileError(name, f"must be {LOOKED_FOR}", f"JSON that is {kind}{fields}", LONG)
    table = with_fields(pd.DataFrame([{str(key): value for key, value in row.items()} for row in rows]))
    return with_plain_cells(name, without_gaps(table, rules), notes, rules)


MOST_COLUMNS = 4_000
"""Largest number of columns of a text table; reading a column takes about 5 ms."""


def _check_width(name: str, content: bytes) -> None:
    """Raise BadFileError for a text table with too many columns, before minutes of reading."""
    first = content[:1_000_000].partition(b"\n")[0]
    n_columns = 1 + max(map(first.count, (b",", b";", b"\t")))
    if b"\0" not in first and n_columns > MOST_COLUMNS:
        raise BadFileError(
            name, f"must have at most {MOST_COLUMNS:,} columns",
            f"{n_columns:,}" + ("" if len(first) < 1_000_000 else " and more"),
            "Leave judges out, or write one row an answer, with the columns case, judge and answer.",
        )  # fmt: skip


class Truth(NamedTuple):
    """Truth in a file of its own.

    The truth is in the columns `case` and `target` of a table, or, from a log, in the mapping `of_case`.
    """

    name: str
    table: "pd.DataFrame | None"
    case: str = ""
    target: str = ""
    of_case: Mapping[str, Any] = {}  # nothing writes into it

    def has_numbers(self) -> bool:
        """Return whether the truth is numbers."""
        return self.table is not None and holds_numbers(self.table, [self.target])


def _truth_of(truth: str | Path, asked: Asked, notes: list[str]) -> Truth:
    """Return the truth from a table, or the strict plurality of a log of a tool or a crowd platform."""
    name, content = read_content(truth)
    columns = replace(asked.columns, target=None)
    with refusing_depth(name):
        found = content_of(name, content, notes)
        told = tool_records(name, found, columns, notes)
    if told is None:
        table = _table_of(name, found, asked.rules, notes)
        named = {role: getattr(columns, role) for role in LONG_ROLES}
        there: dict[str, Any] = {role: one if one in table else None for role, one in named.items()}
        columns = replace(columns, **there, content=None, features=())
        if asked.columns.target is not None or not names_workers(table, columns):
            case, target = _truth_columns(name, list(map(str, table.columns)), asked.columns)
            notes.append(f"{name}: read as the truth {target!r} of each case by {case!r}.")
            return Truth(name, table, case, target)
        read = table_records(name, table, columns, notes, TableHints("long"))
        assert isinstance(read, Records)  # which long tables always are
        told = read
    return Truth(name, None, of_case=_plurality(told))


def _truth_columns(name: str, names: list[str], columns: LogColumns) -> tuple[str, str]:
    """Return the columns of cases and of truths.

    A column is the named one, or else a column with a usual name. If only one of the roles is found in a
    table of two columns, the other column has the other role.

    If only the truth is found in a wider table, the cases are in the first column.
    """
    case = columns.case if columns.case in names else None
    case = case or next(iter(called(names, KNOWN_COLUMNS["case"])), None)
    case = case or next((one for one in names if IDENTIFIER.fullmatch(spelled(one))), None)
    if columns.target is not None:
        target = columns.target if columns.target in names else None
    else:
        known = (*KNOWN_COLUMNS["target"], *MAYBE_TRUTHS, *KNOWN_COLUMNS["answer"])
        target = next((one for one in called(names, known) if one != case), None)
    if len(names) == 2 and (case is None) != (target is None):
        other = next(one for one in names if one not in {case, target})
        case, target = case or other, target or other
    if case is None and target not in {None, names[0]}:
        case = names[0]
    if case is None or target is None or case == target:
        raise BadFileError(
            name,
            "must have a column of cases and one of truths, such as task and truth",
            all_of(names, most=8),
            "Name them by `case='NAME'` and `target='NAME'`.",
        )
    return case, target


def _with_truth(records: Records, told: Truth, notes: list[str]) -> Records:
    of_case = told.of_case
    if told.table is not None:
        answers = records.frame["answer"].unique()
        told.table.attrs[BESIDE_NUMBERS] = any(isinstance(one, int | float) for one in answers)
        table = with_number_labels(told.name, told.table, [told.target], notes)
        of_case = _truth_of_cases(told._replace(table=table))
    cases = records.frame["case"]
    others = len(set(of_case) - set(cases))
    if others:
        notes.append(f"{told.name}: {counted(others, 'case')} of the truth are not in the log.")
    if len(of_case) == others:
        advice = (
            f"Call them as the log does, such as {cases.iloc[0]!r}, or name their column by `case='NAME'`."
        )
        got = f"{next(iter(of_case), None)!r} and others"
        raise BadInputError(told.name, "must name cases of the log", got, advice)
    return replace(records, frame=records.frame.assign(truth=cases.map(of_case)))


def _truth_of_cases(told: Truth) -> dict[str, Any]:
    assert told.table is not None
    cases = as_text(told.table[told.case])
    if cases.duplicated().any():
        twice = cases[cases.duplicated()].iloc[0]
        raise BadFileError(told.name, "must name each case once", f"{twice!r} twice", "Drop one row.")
    truths = told.table[told.target].astype(object)
    return dict(zip(cases, truths.where(truths.notna(), None), strict=True))


def _plurality(records: Records) -> dict[str, Any]:
    """Return the most frequent answer of each case; None for a tie."""
    from collections import Counter

    votes: dict[str, Counter[Any]] = {}
    for case, answer in zip(records.frame["case"], records.frame["answer"], strict=True):
        if answer is not None:
            votes.setdefault(case, Counter())[answer] += 1
    best = {case: count.most_common(2) for case, count in votes.items()}
    return {
        case: None if len(top) > 1 and top[0][1] == top[1][1] else top[0][0] for case, top in best.items()
    }
