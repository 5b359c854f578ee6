"""Form of a table of answers, and the roles of its columns: found by its structure, or an error.

A long table has a row for each answer: a key of cases repeats, and a column names judges. A wide table has a
row for each case, and columns with the same words. Tables of crowd platforms are long.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from shortlist._words import all_of, any_of, counted
from shortlist.errors import BadFileError
from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.long_roles import LONG_ROLES, candidates, key_of, may_hold_words, settled, words_of
from shortlist.panels.logs.records import MAYBE_TRUTHS, LogColumns, spelled

if TYPE_CHECKING:
    import pandas as pd

IDENTIFIER = re.compile(r"id|id_.*|.*_id", re.IGNORECASE)
"""Pattern of further names of columns that identify the case in a wide table, and are no judges."""

JUDGE_WORDS = frozenset(
    {"judge", "model", "llm", "rater", "annotator", "labeler", "labeller", "classifier", "reviewer", "coder"}
    | {"expert", "worker", "provider", "user", "participant", "grader", "system", "agent"}
)
CASE_WORDS = frozenset(
    {
        "case",
        "task",
        "item",
        "question",
        "sample",
        "doc",
        "document",
        "ticket",
        "example",
        "instance",
        "prompt",
    }
    | {"problem", "hit", "id", "query", "conversation", "image", "pair"}
)
"""Words in names of columns of judges, and words in names of columns of cases."""

PRICE_WORDS = frozenset({"price", "cost", "usd", "eur"})
"""Words in names of columns of prices."""

MOST_REPEATS = 0.05
"""Largest share of rows that may repeat a pair of case and judge if names alone do not identify both columns.
"""

FEWEST_ROWS = 20
"""Least number of rows at which the structure of a table counts as evidence."""


class TableForm(NamedTuple):
    """Form of a table: whether a row is an answer, the roles of its columns, and the tool that wrote it.

    `passed_over`: unused columns whose names fit a role.
    """

    is_long: bool
    roles: Mapping[str, str] = {}  # nothing writes into it
    tool: str = ""
    passed_over: Sequence[str] = ()


def told_form(
    source: str,
    table: "pd.DataFrame",
    columns: LogColumns,
    form: str | None,
    notes: list[str],
    *,
    truth_elsewhere: bool = False,
) -> TableForm:
    """Return the form of a table.

    `notes`: gets sentences on unused columns whose names fit a role.

    Raises BadFileError if the table fits both forms (wide and long), or is long with several columns for one
    role.
    """
    tool, of_tool = crowd_roles(source, table, columns)
    found = candidates(table, columns, of_tool)
    key = key_of(table, found)
    if key is not None:
        found |= {"case": [key[0]], "judge": [key[1]]}

    def long_form(roles: Mapping[str, Sequence[str]]) -> TableForm:
        settle = settled(source, table, roles, columns, notes, truth_elsewhere=truth_elsewhere)
        return TableForm(True, settle.roles, tool, settle.passed_over)

    if form is not None or tool:
        is_long = form == "long" or (bool(tool) and form is None)
        return long_form(found) if is_long else TableForm(False)
    if key is not None and _is_long(source, table, found, columns):
        return long_form(found)
    roles = _roles_by_structure(source, table, found, columns)
    if roles is not None:
        return long_form(roles)
    _refuse_nameless_cases(source, table, found)
    return TableForm(False)


def _roles_by_structure(
    source: str, table: "pd.DataFrame", found: Mapping[str, Sequence[str]], columns: LogColumns
) -> dict[str, list[str]] | None:
    """Return the columns by role of a table that is long by its structure, under any names; otherwise None.

    Raises BadFileError if several columns may hold the answers.
    """
    if len(table) < FEWEST_ROWS or any(str(name).endswith(".label") for name in table.columns):
        return None
    named = {role: [name] for role in LONG_ROLES if (name := getattr(columns, role)) is not None}
    for case, judge in _pairs(table, columns):
        told = {role: [*there] for role, there in found.items()} | named | {"case": [case], "judge": [judge]}
        told["answer"] = [name for name in told.get("answer", ()) if name not in {case, judge}]
        taken = {*(name for there in told.values() for name in there), *columns.features, columns.content}
        others = [name for name in map(str, table.columns) if name not in taken]
        if not told["answer"] and "score" not in told:
            target = next(iter(told.get("target", ())), None)
            others = [name for name in others if _may_answer(table, name, case, target)]
            if len(others) == 1:
                told["answer"] = others
        if told["answer"] or "score" in told:
            return {role: there for role, there in told.items() if there}
        places = any_of(map(repr, others)) if others else "no column that is known"
        raise BadFileError(
            source,
            "must tell its form",
            f"a table that may have a row for each answer (case = {case!r}, judge = {judge!r}), whose "
            f"answers are in {places}, or a row for each case",
            "Name the column of answers by `answer`, or pass `form='wide'`.",
        )
    return None


def _is_long(
    source: str, table: "pd.DataFrame", found: Mapping[str, Sequence[str]], columns: LogColumns
) -> bool:
    """Return whether a table with columns named like a case and a judge has a row for each answer.

    A table has, if cases repeat. If no case repeats, the column named like a judge may hold answers, or the
    source of the truth.

    Raises BadFileError if the table may have a row for each answer, and other columns share words with the
    answers.
    """
    (case,), (judge,) = found["case"], found["judge"]
    has_answers = bool({"answer", "score"} & {*found})
    if table[case].duplicated().any() or len(table) == 1:
        return has_answers or len(table) < FEWEST_ROWS
    told = [name for role in ("answer", "target") for name in found.get(role, ()) if name in table]
    words = words_of(table[judge])
    if not has_answers or any(len(words & words_of(table[name])) > 1 for name in told):
        return False
    taken = {name for there in found.values() for name in there}
    words = set[str]().union(*(words_of(table[name]) for name in told))
    alike = [
        name
        for name in map(str, table.columns)
        if name not in taken and may_hold_words(table[name]) and words & words_of(table[name])
    ]
    is_named = columns.judge is not None or columns.answer is not None
    is_of_one = len(words_of(table[judge])) < 2 and {*map(spelled, found.get("answer", ()))} - {*MAYBE_TRUTHS}
    if not alike or is_named or is_of_one:
        return True
    raise BadFileError(
        source,
        "must tell its form",
        f"a table that may have a row for each answer, of the judge in {judge!r}, or a row for each case, "
        f"with answers in {all_of(map(repr, alike), most=8)}",
        "Pass `form='long'` or `form='wide'`.",
    )


def is_key(table: "pd.DataFrame", case: str, judge: str) -> bool:
    """Return whether rows may be answers of few judges: most pairs of case and judge occur, rarely twice."""
    told = table[[case, judge]].dropna()
    n_cases, n_judges = told[case].nunique(), told[judge].nunique()
    if not 2 <= n_judges <= n_cases <= len(told) / 1.5:
        return False
    n_repeats = int(told.duplicated().sum())
    return 2 * len(told) >= n_cases * n_judges and n_repeats <= max(1, MOST_REPEATS * len(told))


def _refuse_nameless_cases(source: str, table: "pd.DataFrame", found: Mapping[str, Sequence[str]]) -> None:
    """Raise BadFileError for answers of named judges without a column named like a case."""
    told = [name for role in ("answer", "target", "score") for name in found.get(role, ()) if name in table]
    for judge in found.get("judge", ()) if "case" not in found else ():
        words, n_judges = words_of(table[judge]), table[judge].nunique()
        if not told or not 2 <= n_judges <= len(table) // 2:
            continue
        if any(words & words_of(table[name]) for name in told):
            continue
        others = [name for name in map(str, table.columns) if name != judge and name not in told]
        keys = [name for name in others if is_key(table, name, judge)]
        if keys:
            raise BadFileError(
                source,
                "must have a column that names the case of each answer, such as case or id",
                f"rows that may be answers of the judge in {judge!r} to the cases in "
                f"{any_of(map(repr, keys), most=8)}",
                f"Pass `case={keys[0]!r}`, or `form='wide'` if each row is a case."
                if len(keys) == 1
                else "Name it by `case`, or pass `form='wide'` if each row is a case.",
            )


def _pairs(table: "pd.DataFrame", columns: LogColumns) -> Iterator[tuple[str, str]]:
    """Yield pairs of a column of cases, which repeat, and a column of judges, which are few."""
    names = [str(name) for name in table.columns if str(name) not in {*columns.features, columns.content}]
    judges = [columns.judge] if columns.judge else [one for one in names if _has_word(one, JUDGE_WORDS)]
    cases = [columns.case] if columns.case else [one for one in names if _has_word(one, CASE_WORDS)]
    for judge in judges:
        n_judges = table[judge].nunique()
        if not 2 <= n_judges <= len(table) // 2 or table[judge].dtype.kind == "f":
            continue
        words = words_of(table[judge])
        for case in cases:
            is_key = case != judge and 2 <= table[case].nunique() <= len(table) / 1.5
            if not is_key or table.duplicated([case, judge]).mean() > MOST_REPEATS:
                continue
            others = (name for name in names if name not in {case, judge} and may_hold_words(table[name]))
            if not any(_has_words_of(table, name, judge, words) for name in others):
                yield case, judge


def _has_words_of(table: "pd.DataFrame", name: str, judge: str, words: set[str]) -> bool:
    """Return whether a column shares words with a possible column of judges; numbers do not count."""
    shared = {word for word in words & words_of(table[name]) if not word.lstrip("-").isdecimal()}
    return bool(shared) and int(table.groupby(judge, sort=False)[name].nunique().max()) > 1


def _may_answer(table: "pd.DataFrame", name: str, case: str, target: str | None) -> bool:
    """Return whether a column may hold answers.

    The column must differ within a case, and share words with the truth if the truth is known.
    """
    if not may_hold_words(table[name]) or not _differs(table, name, case):
        return False
    return target is None or bool(words_of(table[name]) & words_of(table[target]))


def with_price(
    table: "pd.DataFrame", columns: LogColumns, roles: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Return the roles of columns, with a price found by a word of its name, and other columns of prices.

    A price of answers differs within a case. A column that is constant within each case may be a feature of
    the case.
    """
    taken = {*roles.values(), *columns.features, columns.content}
    found = [
        name
        for name in map(str, table.columns)
        if "price" not in roles and name not in taken and _has_word(name, PRICE_WORDS)
    ]
    varied = [
        name for name in found if table[name].dtype.kind in "iuf" and _differs(table, name, roles["case"])
    ]
    return ({**roles, "price": varied[0]}, []) if len(varied) == len(found) == 1 else ({**roles}, found)


def may_be_truth(table: "pd.DataFrame", roles: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """Return the columns with one word per case that share words with the answers.

    Empty if a truth is known.
    """
    if "target" in roles or "answer" not in roles:
        return []
    words = words_of(table[roles["answer"]])
    return [
        name
        for name in names
        if len(words & words_of(table[name])) > 1 and not _differs(table, name, roles["case"])
    ]


def long_columns(
    table: "pd.DataFrame", keys: Sequence[str], names: Sequence[str], target: str
) -> dict[str, str]:
    """Return the columns of case, judge and answer of a table that may have a row for each answer.

    One of `keys` repeats like a key of cases; another column has few values, none twice in a case.
    """
    words = words_of(table[target])
    for case in keys:
        n_cases = table[case].nunique()
        if not 2 <= n_cases <= len(table) / 1.5 or _differs(table, target, case):
            continue
        for judge in names:
            is_judge = 2 <= table[judge].nunique() <= n_cases and not words & words_of(table[judge])
            if judge == case or not is_judge or table.duplicated([case, judge]).any():
                continue
            answers = [one for one in names if one not in {case, judge} and words & words_of(table[one])]
            if len(answers) == 1:
                return {"case": case, "judge": judge, "answer": answers[0]}
    return {}


def _differs(table: "pd.DataFrame", name: str, case: str) -> bool:
    return int(table.groupby(case, sort=False)[name].nunique().max()) > 1


def _has_word(name: str, words: frozenset[str]) -> bool:
    return not words.isdisjoint(spelled(name).split("_"))


class _Crowd(NamedTuple):
    """Crowd platform: the columns of its tables, their roles, and candidates for answers."""

    needs: frozenset[str]
    roles: Mapping[str, str]
    may_answer: Callable[["pd.DataFrame", str], bool]


TOLOKA_CASE = "ASSIGNMENT:task_id"

LABEL_STUDIO = {"annotation_id", "annotator", "created_at", "id", "lead_time", "updated_at"}

CROWDS = {
    "Label Studio": _Crowd(
        frozenset({"annotation_id", "annotator", "lead_time", "id"}),
        {"case": "id", "judge": "annotator", "latency": "lead_time"},
        lambda table, name: name not in LABEL_STUDIO and _may_answer(table, name, "id", None),
    ),
    "Toloka": _Crowd(
        frozenset({"ASSIGNMENT:worker_id"}),
        {"case": TOLOKA_CASE, "judge": "ASSIGNMENT:worker_id"},
        lambda _, name: name.startswith("OUTPUT:"),
    ),
    "Mechanical Turk": _Crowd(
        frozenset({"HITId", "WorkerId"}),
        {"case": "HITId", "judge": "WorkerId", "price": "Reward"},
        lambda _, name: name.startswith("Answer."),
    ),
}  # fmt: skip
"""Crowd platforms by name; for Label Studio, its exports in CSV and JSON-MIN."""


def crowd_roles(source: str, table: "pd.DataFrame", columns: LogColumns) -> tuple[str, dict[str, str]]:
    """Return the name of the crowd platform that wrote a table, "" for others, and the roles of its columns.

    Raises BadFileError if several columns may hold the answers, and no column is named.
    """
    names = [*map(str, table.columns)]
    tool = next((tool for tool, crowd in CROWDS.items() if crowd.needs <= set(names)), "")
    if not tool:
        if columns.judge is None and any(name.startswith(("INPUT:", "GOLDEN:")) for name in names):
            raise BadFileError(
                source,
                "must name who answered, in the column 'ASSIGNMENT:worker_id'",
                "a table of Toloka without it",
                "Download the responses of the pool again, not its tasks or aggregated answers.",
            )
        return "", {}
    crowd = CROWDS[tool]
    roles = {role: name for role, name in crowd.roles.items() if name in names}
    answers = (
        [columns.answer] if columns.answer else [name for name in names if crowd.may_answer(table, name)]
    )
    answers = [name for name in answers if name != columns.target]
    if len(answers) != 1:
        own = {*roles.values(), *LABEL_STUDIO}
        others = all_of((repr(name) for name in names if name not in own), most=8)
        raise BadFileError(
            source,
            f"must have one column of answers, as a table of {tool}",
            all_of(map(repr, answers), most=8)
            if answers
            else f"none in which answers to a task differ; its other columns are {others}",
            "Pass one of them: `answer=NAME`.",
        )
    roles["answer"] = answers[0]
    golden = answers[0].replace("OUTPUT:", "GOLDEN:", 1)
    return tool, roles | ({"target": golden} if golden != answers[0] and golden in names else {})


def names_workers(table: "pd.DataFrame", columns: LogColumns) -> bool:
    """Return whether a table names the judge of each answer, and has no truth.

    True for tables of a crowd platform, and for tables in which cases repeat.
    """
    if any(crowd.needs <= {*map(str, table.columns)} for crowd in CROWDS.values()):
        return True
    found = candidates(table, columns)
    key = key_of(table, found)
    return (
        key is not None and "answer" in found and "target" not in found and table[key[0]].duplicated().any()
    )


STATES = ("AssignmentStatus", "ASSIGNMENT:status")
"""Columns of Mechanical Turk and Toloka with the state of an answer, such as accepted or rejected."""


def without_rejected(source: str, table: "pd.DataFrame", notes: list[str]) -> "pd.DataFrame":
    """Return a table of a crowd platform without rejected answers, and without the column of their state.

    Raises BadFileError if all answers were rejected.
    """
    for name in STATES:
        if name in table:
            rejected = table[name].map(lambda cell: label_of(cell).casefold() == "rejected")
            if rejected.all():
                raise BadFileError(
                    source, "must hold answers that were accepted", f"none by {name!r}",
                    f"Pass `drop={name!r}` to read rejected ones too.",
                )  # fmt: skip
            if rejected.any():
                notes.append(
                    f"{source}: {counted(int(rejected.sum()), 'rejected answer')} left out, by {name!r}. "
                    f"Pass `drop={name!r}` to read them too."
                )
            table = table[~rejected].drop(columns=name).reset_index(drop=True)
    return table


def with_chosen(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table of Mechanical Turk with one column for each group of radio buttons.

    A group `size` has the columns ``Answer.size.big`` and ``Answer.size.small`` of true and false; they
    become ``Answer.size``, whose cells are ``big``, ``small`` or empty.
    """
    groups: dict[str, list[str]] = {}
    for name in map(str, table.columns):
        group, _, choice = name.removeprefix("Answer.").rpartition(".")
        if name.startswith("Answer.") and group and choice and words_of(table[name]) <= {"True", "False"}:
            groups.setdefault(f"Answer.{group}", []).append(name)
    if not {"HITId", "WorkerId"} <= set(table.columns):
        return table
    for group, names in groups.items():
        is_on = table[names].map(lambda cell: label_of(cell) == "True")
        if len(names) > 1 and group not in table and (is_on.sum(axis=1) <= 1).all():
            chosen = is_on.idxmax(axis=1).map(lambda name: str(name).rpartition(".")[2])
            table = table.drop(columns=names).assign(**{group: chosen.where(is_on.any(axis=1))})
    return table


def with_case(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table of Toloka with a number for each task, if only the workers' input identifies tasks."""
    shown = [name for name in map(str, table.columns) if name.startswith("INPUT:")]
    if "ASSIGNMENT:worker_id" not in table or TOLOKA_CASE in table or not shown:
        return table
    return table.assign(**{TOLOKA_CASE: table.groupby(shown, sort=False, dropna=False).ngroup() + 1})


def told_roles(roles: Mapping[str, str], judges: Sequence[str] = ()) -> str:
    """Return the column of each role in words, in the order of :data:`LONG_ROLES`."""
    called = {"target": "truth"}
    told = [f"{called.get(role, role)} = {roles[role]!r}" for role in LONG_ROLES if role in roles]
    if judges:
        told.insert(0, f"judges {all_of(map(repr, judges), most=6)}")
    return ", ".join(told)
