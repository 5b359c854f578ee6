"""Roles of the columns of a wide table: cases, the truth, and the facts on each judge's answers.

The truth is the named column, or one with a usual name; its position does not matter. Columns with two
readings are an error, which names the options that decide.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shortlist._words import all_of, any_of
from shortlist.errors import BadFileError
from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.long_roles import has_fractions, labels_in, may_hold_words, same_labels, words_of
from shortlist.panels.logs.records import KNOWN_COLUMNS, MAYBE_TRUTHS, LogColumns, as_score, called, spelled
from shortlist.panels.logs.table_forms import FEWEST_ROWS, IDENTIFIER, MOST_REPEATS, is_key
from shortlist.panels.logs.wide_parts import (
    ANSWER_PARTS,
    PARTS,
    TableHints,
    is_right,
    is_score_of,
    parts_of,
    prices_of,
    scores_of,
    stems,
)

if TYPE_CHECKING:
    import pandas as pd

LABEL = ".label"
"""Suffix of a judge's name in the column of its answers, if other columns have its bare name."""

OF_ONE = ("confidence", "price", "latency", "input_tokens", "output_tokens", "score")
"""Usual columns beside the answers in a table of one judge."""


@dataclass(frozen=True)
class Layout:
    """Roles of the columns of a wide table.

    `ids`: columns of the case. `target`: column of the truth, or None. `labels`: column of answers of each
    judge. `parts`: for confidence, price and the like, the column of each judge that has one. `shares`:
    column of each class, for judges with probabilities. `unused`: columns that are not read. `copies`:
    columns named like the truth that are not taken for judges. `is_of_one`: whether the table has one judge,
    named after the file.
    """

    ids: Sequence[str] = ()
    target: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    shares: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unused: Sequence[str] = ()
    copies: Sequence[str] = ()
    is_of_one: bool = False

    @property
    def scored(self) -> Mapping[str, str]:
        """Column of scores of each judge, where judges have scores and no answers; otherwise empty."""
        return {} if self.labels or self.shares else self.parts.get("score", {})

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of all judges."""
        return (*self.labels, *self.shares, *self.scored)


def layout_of(source: str, table: "pd.DataFrame", columns: LogColumns, hints: TableHints) -> Layout:
    """Return the roles of the columns of a wide table.

    Raises BadFileError if no column surely holds the truth, or a column fits several roles.
    """
    names = [str(name) for name in table.columns]
    ids = [columns.case] if columns.case else [name for name in names if names_case(name)]
    free = [name for name in names if name not in {columns.content, *columns.features, *ids}]
    target = columns.target or _known_target(source, table, free, columns, hints)
    ids = [name for name in ids if name != target]
    copies = [name for name in free if name != target and _is_copy(table, name, target, columns, hints)]
    rest = [name for name in free if name != target and name not in copies]
    told = _who_told(source, table, rest, target, hints)
    rest = [name for name in rest if name not in told]
    found = Layout(ids, target, copies=copies)
    if hints.form is None:
        unpriced = [name for name in (*rest, *told) if name not in hints.priced]
        _refuse_rows_of_answers(source, table, ids, unpriced, target)
    if answer := _answer_of_one(source, table, rest, columns, hints=hints, layout=found):
        parts = {
            part: {hints.file: name}
            for part, name in _told_of_one(source, table, rest, columns, target=target, answer=answer)
        }
        used = {answer, *(name for part in parts.values() for name in part.values())}
        unused = [name for name in rest if name not in used]
        found = replace(found, labels={hints.file: answer}, parts=parts, unused=unused, is_of_one=True)
    elif suffixed := {
        name.removesuffix(LABEL): name for name in rest if name.endswith(LABEL) and name != LABEL
    }:
        parts = parts_of(source, table, rest, suffixed, target, marks=".")
        used = {*suffixed.values(), *(name for part in parts.values() for name in part.values())}
        unused = [name for name in rest if name not in used]
        found = replace(found, labels=suffixed, parts=parts, unused=unused)
    else:
        found = _with_bare_names(source, table, rest, found, hints)
    found = replace(found, unused=(*found.unused, *told))
    has_scores = {*found.judges} <= {*found.parts.get("score", {})}
    if found.judges and target is None and not (hints.truth_elsewhere or has_scores):
        raise _without_truth(source, table, rest, hints)
    return found


def _who_told(
    source: str, table: "pd.DataFrame", names: Sequence[str], target: str | None, hints: TableHints
) -> list[str]:
    """Return columns named like a judge with words of no other column, such as the people behind the truths.

    Raises BadFileError if fewer than two columns hold answers, as a row may then be an answer of the person
    that it names.
    """
    if hints.form is not None:
        return []
    words = {name: words_of(table[name]) for name in (*names, *([target] if target else []))}
    alike = [
        name for name in names
        if may_hold_words(table[name]) and any(words[name] & words[other] for other in words if other != name)
    ]  # fmt: skip
    found = [
        name
        for name in called(names, KNOWN_COLUMNS["judge"])
        if name not in hints.priced and name not in alike and len(words[name]) > 1
    ]
    if found and len(alike) < 2:
        raise BadFileError(
            source,
            "must have a column that names the case of each answer, such as case or id",
            f"none beside {found[0]!r}, which may name the judge of each row",
            f"Name it by `case`, or leave the judges out by `drop={found[0]!r}` if each row is a case.",
        )
    return found


def names_case(name: str) -> bool:
    """Return whether a column's name is usual for the case."""
    return bool(IDENTIFIER.fullmatch(spelled(name))) or spelled(name) in KNOWN_COLUMNS["case"]


def _known_target(
    source: str, table: "pd.DataFrame", names: Sequence[str], columns: LogColumns, hints: TableHints
) -> str | None:
    """Return the column with a usual name of the truth.

    Columns with a price, and columns with another role, are left out.

    Raises BadFileError if several columns have such a name and their cells differ.
    """
    if hints.truth_elsewhere or (hints.form == "scores"):
        return None
    taken = {*hints.priced, columns.answer, columns.score}
    free = [name for name in names if name not in taken]
    found = called(free, KNOWN_COLUMNS["target"])
    if not found:
        others = [name for name in names if name not in taken or name == columns.answer]
        found = [name for name in called(free, MAYBE_TRUTHS) if _may_be_known(source, table, name, others)]
    if not _are_same(table, found):
        raise BadFileError(
            source,
            "must have one column of the truth",
            f"{all_of(map(repr, found), most=8)}, which differ",
            "Pass one of them: `target=NAME`.",
        )
    return next(iter(found), None)


def _may_be_known(source: str, table: "pd.DataFrame", name: str, names: Sequence[str]) -> bool:
    """Return whether a column with a possible name of the truth may be the truth.

    A column with the answers of one judge, or with scores of these answers, is not the truth.
    """
    others = [one for one in names if one != name]
    if spelled(name) != "correct":
        return bool(others)
    words = words_of(table[name])
    alike = [one for one in others if words & words_of(table[one])]
    if None in {as_score(one) for one in table[name].dropna().unique().tolist()}:
        return True
    if len(alike) == 1:
        raise BadFileError(
            source,
            f"must tell what {name!r} holds",
            "a column that may say whether each answer is right, or which answer is right",
            f"Pass `score={name!r}` or `target={name!r}`.",
        )
    return bool(alike)


def _is_copy(
    table: "pd.DataFrame", name: str, target: str | None, columns: LogColumns, hints: TableHints
) -> bool:
    """Return whether a column is named like the truth, but holds neither the truth nor answers."""
    if name in {*hints.priced, columns.answer, columns.score}:
        return False
    is_same = target is not None and same_labels(table, name, target)
    if called([name], KNOWN_COLUMNS["target"]):
        return is_same or hints.form != "wide"
    if spelled(name) not in MAYBE_TRUTHS:
        return False
    others = [one for one in map(str, table.columns) if one not in {name, target}]
    is_alone = not any(words_of(table[name]) & words_of(table[one]) for one in others)
    return not is_alone and (is_same or (hints.truth_elsewhere and hints.form != "wide"))


def _answer_of_one(
    source: str,
    table: "pd.DataFrame",
    names: Sequence[str],
    columns: LogColumns,
    *,
    hints: TableHints,
    layout: Layout,
) -> str | None:
    """Return the column of answers in a table of one judge; None if columns have names of judges.

    Raises BadFileError if several columns may hold the answers, or rows may be answers of several judges.
    """
    if hints.form is not None or columns.judge is not None:
        return None
    found = [name for name in called(names, KNOWN_COLUMNS["answer"]) if name not in hints.priced]
    if columns.answer is not None:
        found = [name for name in names if name == columns.answer]
    truths = set() if layout.target is None else words_of(table[layout.target])
    words = truths.union(*(words_of(table[name]) for name in found))
    others = [name for name in names if name not in found and not _is_told_of_one(name)]
    is_named = columns.answer is not None
    if not found or (not is_named and any(words & words_of(table[name]) for name in others)):
        return None
    if not _are_same(table, found):
        found = [name for name in found if words_of(table[name]) & truths] or found
    if not _are_same(table, found):
        raise BadFileError(
            source,
            "must tell which column holds the answers",
            any_of(map(repr, found), most=8),
            "Pass one of them: `answer=NAME`. If each is a judge, pass `form='wide'`.",
        )
    if layout.ids and table.duplicated(list(layout.ids)).mean() > MOST_REPEATS:
        raise BadFileError(
            source,
            "must have one answer to each case",
            f"several in {found[0]!r}, and no column with a usual name for judges or epochs",
            "Name the judge of each answer by `judge`. If all are of one judge, pass `form='wide'`.",
        )
    is_wrong = layout.target is not None and not may_be_truth(table, layout.target, found)
    return None if is_wrong and not is_named and len(table) >= FEWEST_ROWS else found[0]


def _are_same(table: "pd.DataFrame", names: Sequence[str]) -> bool:
    return all(same_labels(table, names[0], other) for other in names[1:])


def _refuse_rows_of_answers(
    source: str, table: "pd.DataFrame", ids: Sequence[str], names: Sequence[str], target: str | None
) -> None:
    """Raise BadFileError for a table whose rows may be answers: cases repeat, each with different judges."""
    truths = set() if target is None else words_of(table[target])
    keys = [name for name in names if not (truths & words_of(table[name]) or has_fractions(table[name]))]
    for case in ids or keys:
        for judge in keys:
            if judge != case and is_key(table, case, judge):
                answers = [
                    name for name in names if name not in {case, judge} and truths & words_of(table[name])
                ]
                found = {"case": case, "judge": judge} | ({"answer": answers[0]} if len(answers) == 1 else {})
                told = all_of(f"`{role}={name!r}`" for role, name in found.items())
                raise BadFileError(
                    source,
                    "must tell its form",
                    f"a table that may have a row for each answer, of the judge in {judge!r}",
                    f"If so, name {told}{'' if 'answer' in found else ' and the `answer`'}. Otherwise pass "
                    "`form='wide'`.",
                )


def _is_told_of_one(name: str) -> bool:
    return any(called([name], KNOWN_COLUMNS[part]) for part in OF_ONE)


def _told_of_one(
    source: str,
    table: "pd.DataFrame",
    names: Sequence[str],
    columns: LogColumns,
    *,
    target: str | None,
    answer: str,
) -> Iterable[tuple[str, str]]:
    """Yield the columns beside the answers of one judge, as pairs of part and column."""
    for part in OF_ONE:
        named = getattr(columns, part)
        if named is not None:
            yield part, named
            continue
        for name in called(names, KNOWN_COLUMNS[part]):
            is_call = spelled(name) == "success"  # which may say that the call worked
            if name != answer and (
                part != "score" or (not is_call and is_score_of(source, table, name, answer, target))
            ):
                yield part, name
                break


def _with_bare_names(
    source: str, table: "pd.DataFrame", names: Sequence[str], found: Layout, hints: TableHints
) -> Layout:
    """Return a layout in which the names of judges have no suffix of answers or scores."""
    begins = {*names, *(stem for name in names for stem in stems(name, ANSWER_PARTS))}
    words = [word for part, several in PARTS.items() for word in several]
    ends = [".confidence", ".price", ".latency", ".score"] if hints.form == "wide" else None
    measured = []
    for name in names:
        before = stems(name, words)
        if ends is not None:
            before = [name.removesuffix(end) for end in ends if name.endswith(end)]
        is_scored = any(stem in begins for stem in stems(name, PARTS["score"]))
        is_answer = not is_scored and _is_answer(table, name, found.target)
        if any(stem in begins and stem != name for stem in before) and not is_answer:
            measured.append(name)
    bare = [name for name in names if name not in measured]
    labels, shares = _judges_of(table, bare, found.target)
    scored = {} if shares else scores_of(source, table, bare, found.target, hints)
    if scored:
        price = prices_of(table, names, scored)
        used = {*scored.values(), *price.values()}
        unused = [name for name in names if name not in used]
        return replace(found, parts={"score": scored, "price": price}, unused=unused)
    parts = parts_of(source, table, measured, labels, found.target)
    used = {name for part in parts.values() for name in part.values()}
    unused = [name for name in measured if name not in used]
    return replace(found, labels=labels, shares=shares, parts=parts, unused=unused)


def _is_answer(table: "pd.DataFrame", name: str, target: str | None) -> bool:
    """Return whether a column has words, some of them of the truth, as answers have."""
    if target is None or table[name].dtype.kind in "iufb":
        return False
    return bool(words_of(table[name]) & words_of(table[target]))


def _judges_of(
    table: "pd.DataFrame", names: Sequence[str], target: str | None
) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return judges with a column of labels, and judges with a column of probabilities for each class.

    Columns of probabilities are called ``judge:class``, and each judge has at least two.
    """
    classes = words_of(table[target]) if target else set()
    shares: dict[str, dict[str, str]] = {}
    for name in names:
        judge, _, label = name.rpartition(":")
        if judge and label_of(label) in classes and table[name].dtype.kind in "iuf":
            shares.setdefault(judge, {})[label_of(label)] = name
    shares = {judge: found for judge, found in shares.items() if set(found) == classes and len(found) > 1}
    taken = {name for found in shares.values() for name in found.values()}
    return {name: name for name in names if name not in taken}, shares


def _without_truth(
    source: str, table: "pd.DataFrame", names: Sequence[str], hints: TableHints
) -> BadFileError:
    """Return the error for a table in which no column surely holds the truth."""
    free = [name for name in names if name not in hints.priced]
    maybe = [name for name in free if may_be_truth(table, name, [one for one in names if one != name])]
    advice = "Pass the right one: `target=NAME`" if maybe else "Name it by `target`"
    rights = {name for name in names if is_right(table[name])}
    if len(rights) > 1 and {*maybe} <= rights:
        advice += ", or if they say whether judges are right, `form='scores'`"
    if not maybe:
        advice += (
            ", give it in a file of its own by `truth`, or name the columns of an answer in each row by "
            "`case`, `judge` and `answer`"
        )
    return BadFileError(
        source,
        "must have a column of the truth, with a usual name such as target or named by you",
        f"{all_of(map(repr, maybe or names), most=8)}, "
        + ("which may be it" if maybe else "none of which ever agrees with another"),
        f"{advice}.",
    )


def may_be_truth(table: "pd.DataFrame", name: str, others: Sequence[str]) -> bool:
    """Return whether a column may be the truth for the answers in some of the other columns.

    At least one answer must be right by it. Columns with fractions are neither truth nor answers.
    """
    if has_fractions(table[name]):
        return False
    others = [other for other in others if not has_fractions(table[other])]
    truths = labels_in(table, name)
    return len({*truths} - {""}) > 1 and any(
        true and said == true
        for other in others
        for said, true in zip(labels_in(table, other), truths, strict=True)
    )
