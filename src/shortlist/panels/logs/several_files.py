"""Several files of one log: their names, and whether they can be read together."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from shortlist._words import all_of
from shortlist.errors import BadFileError
from shortlist.panels.logs.evaluation_logs import TASK_IN_NAME
from shortlist.panels.logs.records import KNOWN_COLUMNS, Records, called

ENDINGS = (
    ".gz", ".bz2", ".xz", ".zip", ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx",
)  # fmt: skip
"""Endings that are removed from the names of files."""


def file_names(paths: Sequence[str | Path]) -> list[str]:
    """Return names of files without their endings, or names of their folders where file names are equal.

    >>> file_names(["runs/small.csv.gz", "runs/gpt-4.1.csv"]), file_names(["a/log.csv", "b/log.csv"])
    (['small', 'gpt-4.1'], ['a', 'b'])
    """
    files = [PurePath(path) for path in paths]
    stems, folders = [_stem(path.name) for path in files], [path.parent.name for path in files]
    both = [f"{folder}/{stem}" if folder else stem for folder, stem in zip(folders, stems, strict=True)]
    for names in (stems, folders, both):
        if all(names) and len({*names}) == len(names):
            return names
    return [str(path) for path in paths]


def _stem(name: str) -> str:
    while ending := next((one for one in ENDINGS if name.endswith(one) and name != one), ""):
        name = name.removesuffix(ending)
    return name


def check_together(parts: Sequence[Records], form: str | None, repeats: str | None) -> None:
    """Raise BadFileError for files that cannot be read together, as judges or cases of answers are unknown.

    `form`, `repeats`: as requested; see :func:`shortlist.panels.logs.reading.read_log`.
    """
    _refuse_nameless_judges(parts, repeats)
    _refuse_other_cases(parts)
    if form is None:
        _refuse_one_answer_each(parts)


FOLDER_OF_EACH = "Put the samples of each model into a folder that is called after it"
COLUMN_OF_EACH = (
    "Call the column of each file after its judge, or leave columns that are no answers out by `drop`"
)


def _refuse_nameless_judges(parts: Sequence[Records], repeats: str | None) -> None:
    """Raise BadFileError for files whose answers to the same cases have no known judge.

    The judge is unknown if columns in several files have the same name, which names no judge. The judge is
    also unknown for samples of lm-evaluation-harness in one folder. Such files are accepted if repeats of one
    judge are expected. Any other judge in several files counts as asked again.
    """
    if repeats is not None:
        return
    for at, part in enumerate(parts):
        is_harness = TASK_IN_NAME.fullmatch(PurePath(part.source).name) is not None and not part.columns
        for other in (*parts[:at], *parts[at + 1 :]):
            own, theirs = _answered(part), _answered(other)
            same = {(judge, task) for judge, task, _ in own & theirs} if is_harness else set()
            cases = {case for _, _, case in theirs}
            if part.columns:
                same |= {
                    (judge, task) for judge, task, case in own
                    if case in cases and called([judge], KNOWN_COLUMNS["answer"])
                }  # fmt: skip
            if same:
                raise BadFileError(
                    part.source,
                    "must name the judge of its answers",
                    f"answers of {min(same)[0]!r} to cases that {other.source} has, too",
                    f"{FOLDER_OF_EACH if is_harness else COLUMN_OF_EACH}; if all are of one judge, pass "
                    "`repeats='first'` or `repeats='majority'`.",
                )


def _answered(part: Records) -> set[tuple[str, str, str]]:
    """Return judge, task and case of all answers."""
    return {
        (str(judge), str(task), str(case))
        for judge, task, case in part.frame[["judge", "task", "case"]].itertuples(index=False)
    }


def _refuse_other_cases(parts: Sequence[Records]) -> None:
    """Raise BadFileError for a table that shares neither a case nor a judge with any other file."""
    for part in parts:
        others = [other.frame for other in parts if other is not part]
        own = {name: {*part.frame[name]} for name in ("case", "judge")}
        if part.columns and not any(own[name] & {*frame[name]} for frame in others for name in own):
            raise BadFileError(
                part.source,
                "must have cases of the other logs",
                f"{part.frame['case'].iloc[0]!r} where others have {others[0]['case'].iloc[0]!r}",
                "Name the column of cases by `case`.",
            )


def _refuse_one_answer_each(parts: Sequence[Records]) -> None:
    """Raise BadFileError for a file with one answer per case that shares cases with another file.

    The refused file has a column of few names. The names may be judges, or a property of one judge's answers.
    """
    for part in parts:
        cases = part.frame["case"]
        others = {case for other in parts if other is not part for case in other.frame["case"]}
        judges = part.frame["judge"].unique()
        if part.columns and not cases.duplicated().any() and len(judges) > 1 and others & {*cases}:
            raise BadFileError(
                part.source,
                "must name the judge of its answers",
                f"one answer to each case, of judges {all_of(map(repr, judges), most=4)}",
                "If one judge, who has the name of the file, gave them all, leave the column of judges out "
                "by `drop`; otherwise pass `form='long'`.",
            )
