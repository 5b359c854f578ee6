"""`shortlist predict`: answers for new rows from a saved model."""

import math
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from shortlist._words import all_of, counted
from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import TABLE_FILE, check_files
from shortlist.cli.options.shared import Json, SavedModelFile, TableFile, Trust, output
from shortlist.cli.text.output import print_notes, save

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.ensembles.committees.committee import Committee
    from shortlist.saved_models import SavedModel

PREDICTION = "prediction"
"""Name of the column of answers; it differs from the target's name, so that answers can be joined with true
classes.
"""

MANY_ROWS = 10
"""Number of rows from which a note says that all answers are equal."""


@answers
def predict(
    model: SavedModelFile,
    table: TableFile,
    *,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Write the stage of each row too, the features bought and their cost. For models of "
            "shortlist stage.",
        ),
    ] = False,
    early_exit: Annotated[
        bool,
        typer.Option(
            "--early-exit",
            help="Ask members one after the other, and stop as soon as the answer is certain; the answers "
            "stay the same. For models of shortlist prune.",
        ),
    ] = False,
    not_asked: Annotated[
        str | None,
        typer.Option(
            "--not-asked",
            help="Marker of cells that were not asked or bought yet; '' stands for empty cells. Without it "
            "an empty cell counts as asked, unless all cells of its stage are empty. For models of judges "
            "and of stages.",
            metavar="MARKER",
        ),
    ] = None,
    out: Annotated[Path | None, output("CSV with the answers; by default standard output.")] = None,
    trust: Trust = False,
    json: Json = False,
) -> CommandAnswer:
    """Answer new rows with a saved model.

    The answers have one line per row, in the order of the table.
    """
    check_files(
        inputs={"MODEL": model, "TABLE": table}, outputs={"--out": out}, endings={"--out": TABLE_FILE}
    )
    import pandas as pd

    from shortlist.cli.work import working
    from shortlist.ensembles.committees.chosen import Chosen
    from shortlist.errors import BadInputError, UnknownWordWarning
    from shortlist.files import write_text
    from shortlist.runs.budget import seconds_now
    from shortlist.saved_models import load_model, made_by
    from shortlist.tables.learning import read_table
    from shortlist.tables.spreadsheets import guarded_csv

    if json and out is None:
        raise BadInputError("--json prints facts on stdout, so the answers need a file. Pass --out.")
    start = seconds_now()
    saved = load_model(model, trust=trust)
    notes: list[str] = []
    estimator = saved.estimator
    committee = estimator.committee if isinstance(estimator, Chosen) else None
    facts = _asked(committee)
    columns = facts["ask"]["columns"] if facts else saved.features
    buys_features = hasattr(estimator, "decision_report")
    read = read_table(table, notes, marker=not_asked)
    rows = _asked_rows(read, saved, columns, not_asked, notes, judges=bool(facts))
    ids = [name for name in saved.ids if name in read.columns]
    if explain and not buys_features:
        raise BadInputError(
            f"--explain needs a model of shortlist stage, got one of {made_by(estimator)}. Leave it out."
        )
    if early_exit and committee is None:
        raise BadInputError(
            f"--early-exit needs a model of shortlist prune, got one of {made_by(estimator)}. Leave it out."
        )
    print_notes(notes)  # before anything can fail because of what they say
    with working("answering"), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UnknownWordWarning)
        if buys_features:
            answers, facts, found = _bought(saved, rows, explain=explain, marked=not_asked is not None)
        else:
            early = early_exit and committee is not None
            answers, others, found = _early(committee, rows) if early else _voted(estimator, committee, rows)
            facts |= others
    reject_label = getattr(committee or estimator, "reject_label_", None)
    found += [
        *dict.fromkeys(str(one.message) for one in warned),
        *_notes_on(answers[PREDICTION], facts, reject_label),
    ]
    answers = pd.concat([read[ids].drop(columns=answers.columns, errors="ignore"), answers], axis=1)
    text = guarded_csv(answers)
    if out is None:
        return CommandAnswer({}, partial(print, text, end=""), found)
    out = save(out, lambda path: write_text(path, text))
    about = {
        "method": estimator.method if isinstance(estimator, Chosen) else type(estimator).__name__,
        "status": "feasible",
        "seconds": seconds_now() - start,
        "n_rows": len(answers),
        **facts,
        "out": out,
    }
    n_answered = _n_answered(answers[PREDICTION], reject_label)
    return CommandAnswer(about, notes=found, last=[f"Answered {n_answered} rows in {out}."])


def _n_answered(answers: "pd.Series[Any]", reject_label: object) -> str:
    """Return the number of answered rows in words; if rows have no answer, also the number of all rows."""
    n_left = int((answers.isna() | (answers == reject_label)).sum())
    return f"{len(answers) - n_left:,} of {len(answers):,}" if n_left else f"{len(answers):,}"


def _asked_rows(
    table: "pd.DataFrame",
    saved: "SavedModel",
    columns: Sequence[str],
    marker: str | None,
    notes: list[str],
    *,
    judges: bool,
) -> "pd.DataFrame":
    """Return the columns that a model reads; a column not asked for yet may be absent, or marked."""
    from shortlist.tables.learning import select_columns

    one_by_one = judges or hasattr(saved.estimator, "predict_on_demand")
    if one_by_one:
        where = "" if judges else ", and --explain says for what"
        columns, absent = _asked_columns(table, columns, _ever_asked(saved, columns, judges=judges), where)
        notes += absent
    rows = select_columns(table, columns)
    if marker is not None:
        return _marked(rows, marker, one_by_one=one_by_one)
    if judges or not one_by_one:
        return rows
    from shortlist.multistage.answering import without_empty_stages

    return without_empty_stages(saved.estimator, rows)


def _marked(rows: "pd.DataFrame", marker: str, *, one_by_one: bool) -> "pd.DataFrame":
    """Return rows in which each cell with a marker counts as not asked yet."""
    from shortlist.errors import BadInputError
    from shortlist.export.reader import GAPS
    from shortlist.guarantees.cells import with_unasked

    if not one_by_one:
        raise BadInputError(
            "--not-asked needs a model of shortlist stage, or of shortlist prune --answers, got another one, "
            "which needs all features of a row. Leave it out."
        )
    if marker in GAPS:
        raise BadInputError(
            f"--not-asked must be a marker that means nothing else, got {marker!r}, which is read as an "
            "empty cell. Take another one, or '' for all empty cells."
        )
    return with_unasked(rows, marker)


def _ever_asked(saved: "SavedModel", columns: Sequence[str], *, judges: bool) -> Sequence[str]:
    """Return the columns whose values a row may have to wait for.

    For stages with a chosen point, these are the columns that some stage buys.
    """
    if judges or not hasattr(saved.estimator, "model_"):
        return columns
    return [columns[feature] for stage in saved.estimator.model_.stages for feature in stage.bought]


def _asked_columns(
    table: "pd.DataFrame", columns: Sequence[str], needed: Sequence[str], where: str
) -> tuple[list[str], list[str]]:
    """Return the known columns of a table, and a note on missing ones; all columns if none is known."""
    there = [name for name in columns if name in table.columns]
    absent = [name for name in needed if name not in table.columns]
    if not there:
        return list(columns), []
    if not absent:
        return there, []
    names = all_of(absent, most=8)
    return there, [f"the table has no {names}: rows that need them wait{where}."]


def _notes_on(answers: "pd.Series[Any]", facts: dict[str, Any], reject_label: object) -> list[str]:
    """Return notes on waiting rows, the promise, the members asked, and equal answers to all rows."""
    count, notes = f"{len(answers):,} rows", []
    if facts.get("n_waiting"):
        lacking = "they lack what their next stage needs, as --explain shows."
        notes.append(f"{facts['n_waiting']:,} of {count} have no answer yet: {lacking}")
    if "guarantee" in facts:
        some = f"{facts['n_rejected']:,} of {count} are not answered. " if facts["n_rejected"] else ""
        notes.append(some + facts["guarantee"]["sentence"])
    if (early := facts.get("early_exit")) is not None:
        cost = ""
        if early["mean_cost"] is not None:
            cost = f", for {early['mean_cost']:.4g} a row; all of them cost {early['cost_of_all']:.4g}"
        notes.append(
            f"{early['mean_calls']:.2f} of {len(early['order'])} members were asked on average{cost}."
        )
    if len(answers) >= MANY_ROWS and answers.nunique(dropna=False) <= 1:  # or the model tells nothing apart
        same = str(answers.iloc[0])
        none = answers.iloc[0] == reject_label
        notes.append(f"none of the {count} is answered." if none else f"all {count} are answered {same!r}.")
    return notes


Answered: TypeAlias = "tuple[pd.DataFrame, dict[str, Any], list[str]]"
"""Table with a line for each row, facts about all rows, and notes on rows without an answer."""


def _early(committee: Any, rows: "pd.DataFrame") -> Answered:
    """Return the answers of members that are asked one after the other, and the number asked for each row."""
    import pandas as pd

    from shortlist.ensembles.committees.facts import unanswered_rows

    found, prices = committee.predict_early(rows), committee.prices
    answers = pd.DataFrame({PREDICTION: found.labels, "calls": found.calls})
    if any(found.needs):
        answers["needs"] = list(found.needs)
    facts = {
        "order": list(found.order),
        "mean_calls": float(found.calls.mean()),
        "mean_cost": None if found.costs is None else float(found.costs.mean()),
        "cost_of_all": None if prices is None else float(prices.sum()),
    }
    rejected = _rejected(committee, int((~found.answered).sum()))
    return answers, {"early_exit": facts} | rejected, unanswered_rows(committee, rows).sentences()


def _asked(committee: "Committee | None") -> dict[str, Any]:
    """Return facts on the judges that a committee asks; no facts for other models."""
    if committee is None or not committee.judged_columns:
        return {}
    cost = None if committee.prices is None else math.fsum(committee.prices)
    return {"ask": {"columns": list(committee.judged_columns), "cost": cost}}


def _voted(estimator: Any, committee: "Committee | None", rows: "pd.DataFrame") -> Answered:
    """Return the answers of a vote, and a score per class.

    The score is the mean probability or the vote share, as the model was asked; by default, the number that
    decides. A vote share counts one more vote for each class, and is stretched so that one half decides. With
    a promise, the facts hold the promise. A row that cannot be answered has no scores.
    """
    import pandas as pd

    from shortlist.ensembles.committees.facts import empty_cells, unanswered_rows

    if committee is None:  # an evolved ensemble
        open_, classes = empty_cells(rows, estimator.unknown_words(rows)), estimator.classes_
        reject_label = estimator.reject_label_
    else:
        open_, classes = unanswered_rows(committee, rows), committee.classes
        reject_label = committee.reject_label_
    probabilities = estimator.predict_proba(rows)
    answers = pd.DataFrame({PREDICTION: estimator.predict(rows)})
    for column, label in enumerate(classes):
        answers[f"score_{label}"] = probabilities[:, column].round(6)
        answers.loc[open_.rows, f"score_{label}"] = float("nan")
    if any(open_.needs):
        answers["needs"] = list(open_.needs)
    n_rejected = int((answers[PREDICTION] == reject_label).sum())
    return answers, _rejected(committee, n_rejected), open_.sentences()


def _rejected(committee: "Committee | None", n_rejected: int) -> dict[str, Any]:
    promised = None if committee is None else committee.promise
    told = {} if promised is None else {"guarantee": promised.as_dict()}
    return {"n_rejected": n_rejected} | told


def _bought(saved: "SavedModel", rows: "pd.DataFrame", *, explain: bool, marked: bool) -> Answered:
    """Return the answers of a multi-stage classifier, with the purchases of each row if requested."""
    decisions = saved.estimator.decision_report(rows).reset_index(drop=True)
    facts: dict[str, Any] = {
        "n_rejected": int(decisions["rejected"].sum()),
        "total_cost": float(decisions["cost"].sum()),
        "mean_cost": float(decisions["cost"].mean()),
    }
    found: list[str] = []
    if hasattr(saved.estimator, "predict_on_demand"):
        facts["n_waiting"] = int((decisions["needs"] != "").sum())
        facts["n_unknown"] = int((decisions["unknown"] != "").sum())
        if facts["n_unknown"]:
            words = all_of(dict.fromkeys(word for word in decisions["unknown"] if word), most=5)
            found.append(
                f"{counted(facts['n_unknown'], 'row')} of {len(rows):,} cannot be answered: words that the "
                f"model does not know, {words}."
            )
        if not marked and (n_silent := _rows_with_paid_gaps(decisions, rows)):
            found.append(
                f"{counted(n_silent, 'row')} of {len(rows):,} paid for a feature with an empty cell, as "
                "a missing answer. Pass --not-asked '' if empty cells were not queried."
            )
    guarantee = getattr(saved.estimator, "guarantee_", None)
    if guarantee is not None:
        facts["guarantee"] = guarantee.as_dict()
    answers = decisions.drop(columns="rejected").rename(columns={"label": PREDICTION})
    answers["confidence"] = answers["confidence"].round(6)
    return answers if explain else answers[[PREDICTION]], facts, found


def _rows_with_paid_gaps(decisions: "pd.DataFrame", rows: "pd.DataFrame") -> int:
    """Return the number of rows with an empty cell that was paid for."""
    empty, count = rows.isna(), 0
    for features, here in decisions.groupby("features", sort=False):
        names = [name for name in str(features).split(", ") if name in empty.columns]
        count += int(empty.loc[empty.index[here.index], names].any(axis=1).sum()) if names else 0
    return count
