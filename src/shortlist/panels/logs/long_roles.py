"""Columns of a long table by role: the case, the judge, the answer, the truth and the score.

Names propose candidates, and the cells decide. Within a case the truth is the same in all rows, while answers
and scores differ. Where both readings fit, an error asks for the names of the columns.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist._words import all_of, any_of
from shortlist.errors import BadFileError
from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.records import (
    KNOWN_COLUMNS,
    MAYBE_TRUTHS,
    LogColumns,
    as_score,
    called,
    label_codes,
    spelled,
)

if TYPE_CHECKING:
    import pandas as pd

LONG_ROLES = (
    "case", "judge", "answer", "target", "confidence", "price", "latency", "epoch", "input_tokens",
    "output_tokens", "score",
)  # fmt: skip

CALL_STATES = frozenset({"error", "errors", "exception", "status", "state", "result", "finish"})
"""Words in names of columns beside which ``success`` means that the call worked."""

FEWEST_CASES = 10
"""Least number of cases with different answers for this rule: a column is no score if it is constant in all
these cases.
"""

FEW_SCORES = 0.1
"""Least share of cases with different scores, among cases with different answers, for a column of scores."""


def candidates(
    table: "pd.DataFrame", columns: LogColumns, usual: Mapping[str, str] | None = None
) -> dict[str, list[str]]:
    """Return the candidates for each role, by preference.

    The candidates are the column named for the role, or else all columns with a usual name of the role.
    """
    named = {role: getattr(columns, role) or (usual or {}).get(role) for role in LONG_ROLES}
    taken = {*named.values(), *columns.features, columns.content}
    names = [name for name in map(str, table.columns) if name not in taken]
    found: dict[str, list[str]] = {}
    for role in LONG_ROLES:
        if named[role] is not None:
            found[role] = [str(named[role])]
        else:
            found[role] = called(names, KNOWN_COLUMNS[role], nested=role not in {"case", "judge"})
    return {role: there for role, there in found.items() if there}


def key_of(table: "pd.DataFrame", found: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    """Return the columns of case and judge that together identify rows, or else the first candidates.

    None if a role has no candidate.

    A column of cases with repeated values is preferred, since a number of each row is no case of several
    judges.
    """
    pairs = [
        (case, judge)
        for judge, case in product(found.get("judge", ()), found.get("case", ()))
        if case != judge and {case, judge} <= {*map(str, table.columns)}
    ]
    epochs = [*found.get("epoch", ())][:1]
    for case, judge in pairs:
        if table[case].duplicated().any() and not table.duplicated([case, judge, *epochs]).any():
            return case, judge
    return pairs[0] if pairs else None


class Settled(NamedTuple):
    """Role of each column of a long table, and unused columns whose names fit a role."""

    roles: Mapping[str, str]
    passed_over: Sequence[str] = ()


def settled(
    source: str,
    table: "pd.DataFrame",
    found: Mapping[str, Sequence[str]],
    columns: LogColumns,
    notes: list[str],
    *,
    truth_elsewhere: bool = False,
) -> Settled:
    """Return the column of each role, chosen among its candidates.

    `found`: result of :func:`candidates`, with one case and one judge. `notes`: gets sentences on unused
    columns whose names fit a role. `truth_elsewhere`: whether the truth is in another file.

    Raises BadFileError if cells cannot decide between several columns.
    """
    roles = {role: there[0] for role, there in found.items() if role not in {"answer", "target", "score"}}
    taken = {*roles.values()}
    given: dict[str, list[str]] = {
        role: [name for name in found.get(role, ()) if name not in taken or name == getattr(columns, role)]
        for role in ("answer", "target", "score")
    }
    case = roles.get("case", "")
    if case not in table:
        return Settled(roles | {role: there[0] for role, there in given.items() if there})
    target = _target(source, table, given, columns)
    answer = _answer(source, table, given["answer"], columns, case=case, target=target)
    used = {*taken, *(name for there in given.values() for name in there), columns.content, *columns.features}
    free = [name for name in map(str, table.columns) if name not in used]
    has_truth = target is not None or truth_elsewhere
    if columns.answer is None and (
        answer is None or (not has_truth and _is_maybe_truth(table, answer, case))
    ):
        maybe = [name for name in called(free, MAYBE_TRUTHS) if _is_maybe_truth(table, name, case)]
        like = target or answer or (maybe[0] if maybe and not truth_elsewhere else None)
        if (found_answer := _unnamed_answer(source, table, free, case=case, like=like)) is not None:
            notes.append(
                f"{source}: {found_answer!r} is read as the answers, as it alone differs within cases and "
                f"has words of {like!r}."
            )
            target, answer = like, found_answer
    if answer is not None:
        roles["answer"] = answer
    if target is None and answer is not None and not truth_elsewhere:
        maybe = [*given["answer"], *(name for name in called(free, MAYBE_TRUTHS))]
        target = _leftover_truth(source, table, maybe, case=case, answer=answer)
    scores = [name for name in given["score"] if name not in {answer, target}]
    has_truth = target is not None or truth_elsewhere
    score, is_truth, passed_over = _score(
        source, table, scores, columns, notes, case=case, answer=answer, has_truth=has_truth
    )
    if is_truth:
        target, score = score, None
        notes.append(
            f"{source}: {target!r} is the same for all answers to a case, so it is read as the truth and not "
            f"as a score. If it says whether answers are right, pass `score={target!r}`."
        )
    roles |= {} if target is None else {"target": target}
    roles |= {} if score is None else {"score": score}
    return Settled(roles, passed_over)


def _is_maybe_truth(table: "pd.DataFrame", name: str, case: str) -> bool:
    return spelled(name) in MAYBE_TRUTHS and not differing(table, name, case)


def _unnamed_answer(
    source: str, table: "pd.DataFrame", names: Sequence[str], *, case: str, like: str | None
) -> str | None:
    """Return the column that differs within cases and shares words with `like`, as answers do with a truth.

    Raises BadFileError if there are several such columns.
    """
    if like is None:
        return None
    words = words_of(table[like])
    found = [
        name
        for name in names
        if may_hold_words(table[name]) and words & words_of(table[name]) and differing(table, name, case)
    ]
    if len(found) > 1:
        raise BadFileError(
            source,
            "must tell which column holds the answers",
            any_of(map(repr, found), most=8),
            "Pass one of them: `answer=NAME`.",
        )
    return next(iter(found), None)


def differing(table: "pd.DataFrame", name: str, case: str) -> int:
    """Return the number of cases in which a column has different labels; gaps do not count."""
    return len(_differing_cases(table, name, case))


def words_of(column: "pd.Series[Any]") -> set[str]:
    """Return the labels of a column, without lists and objects."""
    return {
        label_of(one) for one in column.dropna().unique().tolist() if not isinstance(one, list | dict)
    } - {""}


def has_fractions(column: "pd.Series[Any]") -> bool:
    """Return whether a column has numbers that are not whole."""
    return column.dtype.kind == "f" and bool((column.dropna() % 1 != 0).any())


def may_hold_words(column: "pd.Series[Any]") -> bool:
    """Return whether a column may hold answers; times and fractions are no answers."""
    return column.dtype.kind not in "mM" and not has_fractions(column)


def same_labels(table: "pd.DataFrame", one: str, other: str) -> bool:
    """Return whether two columns have the same label in every row."""
    return labels_in(table, one) == labels_in(table, other)


def labels_in(table: "pd.DataFrame", name: str) -> list[str]:
    """Return the label of each row of a column; "" for a gap."""
    codes, labels = label_codes(table[name])
    return [labels[code] if code >= 0 else "" for code in codes.tolist()]


def _differing_cases(table: "pd.DataFrame", name: str, case: str) -> set[object]:
    import pandas as pd

    told = pd.DataFrame({"case": table[case].to_numpy(), "said": labels_in(table, name)})
    told = told[(told["said"] != "") & told["case"].notna()]
    times = told.groupby("case", sort=False)["said"].nunique()
    return set(times.index[times > 1])


def _target(
    source: str, table: "pd.DataFrame", given: Mapping[str, Sequence[str]], columns: LogColumns
) -> str | None:
    """Return the column of the truth among sure names.

    Of several columns, the column that shares words with the answers is taken.
    """
    found = [name for name in given["target"] if name in table]
    if columns.target is not None or len(found) < 2:
        return columns.target or next(iter(found), None)
    if all(same_labels(table, found[0], other) for other in found[1:]):
        return found[0]
    answers = {word for name in given["answer"] if name in table for word in words_of(table[name])}
    fits = [name for name in found if words_of(table[name]) & answers]
    if len(fits) == 1:
        return fits[0]
    raise BadFileError(
        source,
        "must have one column of the truth",
        f"{all_of(map(repr, found), most=8)}, which differ",
        "Pass one of them: `target=NAME`.",
    )


def _answer(
    source: str,
    table: "pd.DataFrame",
    found: Sequence[str],
    columns: LogColumns,
    *,
    case: str,
    target: str | None,
) -> str | None:
    """Return the column of answers.

    Of several columns, the column that differs within cases and shares words with the truth is taken.

    Raises BadFileError if several columns do both.
    """
    found = [name for name in found if name != target and name in table]
    if columns.answer is not None or len(found) < 2:
        return columns.answer or next(iter(found), None)
    if all(same_labels(table, found[0], other) for other in found[1:]):
        return found[0]
    varied = [name for name in found if differing(table, name, case)]
    if not varied:  # names that hold truths elsewhere come last
        varied = [name for name in found if spelled(name) not in MAYBE_TRUTHS] or found
    if len(varied) > 1 and target in table:
        words = words_of(table[target])
        varied = [name for name in varied if words_of(table[name]) & words] or varied
    if len(varied) > 1 and not all(same_labels(table, varied[0], other) for other in varied[1:]):
        raise BadFileError(
            source,
            "must tell which column holds the answers",
            f"{any_of(map(repr, varied), most=8)}",
            "Pass one of them: `answer=NAME`.",
        )
    return varied[0]


def _leftover_truth(
    source: str, table: "pd.DataFrame", found: Sequence[str], *, case: str, answer: str
) -> str | None:
    """Return a column with a name of answers that holds the truth; otherwise None.

    The column is constant within each case, and shares words with the answers.

    Raises BadFileError if several columns fit and their labels differ.
    """
    others = [name for name in found if name != answer and name in table]
    words = words_of(table[answer])
    fits = [
        name
        for name in others
        if spelled(name) in MAYBE_TRUTHS
        and not differing(table, name, case)
        and words & words_of(table[name])
        and not same_labels(table, name, answer)
    ]
    if len(fits) > 1 and not all(same_labels(table, fits[0], other) for other in fits[1:]):
        raise BadFileError(
            source,
            "must tell which column holds the truth",
            f"{any_of(map(repr, fits), most=8)}",
            "Pass one of them: `target=NAME`.",
        )
    return next(iter(fits), None)


def _score(
    source: str,
    table: "pd.DataFrame",
    found: Sequence[str],
    columns: LogColumns,
    notes: list[str],
    *,
    case: str,
    answer: str | None,
    has_truth: bool,
) -> tuple[str | None, bool, list[str]]:
    """Return the column of scores or of marks for right answers, whether it has marks, and unused columns.

    `notes`: gets sentences on the unused columns.
    """
    if columns.score is not None:
        return columns.score, False, []
    passed_over: list[str] = []
    for name in found:
        if name not in table:
            continue
        others = [one for one in found if one != name and one in table and spelled(one) != "success"]
        if spelled(name) == "success" and (others or has_truth or _has_call_states(table)):
            notes.append(
                f"{source}: {name!r} is not used, as it may say that the call worked. If it says whether the "
                f"answer is right, pass `score={name!r}`."
            )
            passed_over.append(name)
            continue
        if answer is None:
            _refuse_truth_alone(source, table, name, case)
            return name, False, passed_over
        kind = _kind_of_score(source, table, name, case=case, answer=answer, has_truth=has_truth)
        if kind == "target" and has_truth:
            notes.append(
                f"{source}: {name!r} is not used, as it is the same for all answers to a case. If it says "
                f"whether answers are right, pass `score={name!r}`."
            )
            passed_over.append(name)
        elif kind:
            return name, kind == "target", passed_over
    return None, False, passed_over


def _refuse_truth_alone(source: str, table: "pd.DataFrame", name: str, case: str) -> None:
    """Raise BadFileError if a column of scores looks like a truth and no column has answers.

    A truth is the same for all judges of a case.
    """
    if None in {as_score(one) for one in table[name].dropna().unique().tolist()}:
        return  # they are refused as what they are
    told = table[[bool(label) for label in labels_in(table, name)]]
    n_several = int((told.groupby(case, sort=False).size() > 1).sum())
    if len(words_of(table[name])) > 1 and n_several >= FEWEST_CASES and not differing(told, name, case):
        raise BadFileError(
            source,
            f"must tell what {name!r} holds",
            "scores that are the same for all judges of each case, as the right answers would be",
            f"Pass `score={name!r}`, or name the answers and the truth by `answer` and `target={name!r}`.",
        )


def _has_call_states(table: "pd.DataFrame") -> bool:
    return any(not CALL_STATES.isdisjoint(spelled(str(name)).split("_")) for name in table.columns)


def _kind_of_score(
    source: str, table: "pd.DataFrame", name: str, *, case: str, answer: str, has_truth: bool
) -> str:
    """Return the role of a column with a name of scores: ``score``, ``target`` for the truth, or "".

    Within a case scores differ between right and wrong answers, and truths are all equal. Beside answers a
    number between 0 and 1 may be a confidence, so such a column is no score. `has_truth`: whether another
    column or file has the truth; then a column that fits both roles is a score.

    Raises BadFileError if both roles fit, or neither.
    """
    scores = {as_score(one) for one in table[name].dropna().unique().tolist()}
    answers, words = words_of(table[answer]), words_of(table[name])
    cells = zip(labels_in(table, answer), labels_in(table, name), strict=True)
    told = table[[bool(said and right) for said, right in cells]]
    apart, others = _differing_cases(told, answer, case), _differing_cases(told, name, case)
    if not scores <= {0.0, 1.0}:
        is_truth = answers & words and not others and spelled(name) in MAYBE_TRUTHS
        return "target" if is_truth else ""
    if not answers & words:
        is_odd = not others and len(scores) > 1 and len(apart) >= FEWEST_CASES
        fits = (not is_odd, is_odd and has_truth)
    elif len(answers) <= 2:  # of two answers to a case exactly one is right
        fits = (apart == others, not others)
    else:
        is_rare = len(others) < FEW_SCORES * len(apart)
        fits = ((bool(others) and not is_rare) or not apart, not others)
    if has_truth or fits[0] != fits[1]:
        return "target" if fits == (False, True) else "score"
    raise BadFileError(
        source,
        f"must tell what {name!r} holds",
        "a column that may say whether each answer is right, or which answer is right",
        f"Pass `score={name!r}` or `target={name!r}`."
        if answers & words
        else f"Pass `score={name!r}`; a truth has to be written in the words of the answers.",
    )
