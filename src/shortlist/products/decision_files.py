"""Files of decisions in named stages, as JSON and CSV."""

import csv
import io
import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shortlist._words import any_of
from shortlist.errors import BadFileError, BadInputError, ContradictionError
from shortlist.files import Source, read_source, write_text
from shortlist.products.decisions import Decision, decide_all, side_word, start
from shortlist.products.model import FeatureModel, FeatureNames, feature_names
from shortlist.tables.files import cells_of
from shortlist.tables.spreadsheets import guarded, unguarded

DECISION_ENDINGS = (".json", ".csv")
"""Endings of the files that :func:`write_decisions` can write."""

DECISION_COLUMNS = ("feature", "decision", "stage", "by")

DECISIONS_FORMAT = "shortlist decisions"

DECISIONS_VERSION = 1

CHECK_SECONDS = 60.0
"""Seconds for the check that the decisions of a file can be made."""

_SIDES = {side_word(selected=side): side for side in (True, False)}


def write_decisions(path: str | Path, model: FeatureModel, decisions: Sequence[Decision]) -> None:
    """Write decisions in their order; the ending of `path` decides between JSON and CSV.

    JSON has a list of stages, each with its name and decisions; a stage that continues after another stage is
    listed again. CSV has a row ``feature,decision,stage,by`` for each decision. Names that a spreadsheet
    would take for a formula begin with ``'``.

    Raises
    ------
    BadInputError
        If the ending is another one.
    """
    ending = Path(path).suffix.casefold()
    if ending not in DECISION_ENDINGS:
        raise BadInputError(
            "decisions", f"must be written to a file ending in {any_of(DECISION_ENDINGS)}", repr(str(path))
        )
    write_text(path, _as_json(model, decisions) if ending == ".json" else _as_csv(model, decisions))


def read_decisions(path: str | Path, model: FeatureModel) -> tuple[Decision, ...]:
    """Read decisions in their order, from JSON or a table; the content of the file tells which of the two.

    The stage of a decision without one is named after the file, without its ending. A table needs the
    columns ``feature`` and ``decision``, and may have ``stage`` and ``by``.

    Raises
    ------
    BadFileError
        If the file cannot be read, is neither JSON nor a table, or names a feature that the model lacks. Also
        if a stage or a person is not one line of text. The message names the location.

    Examples
    --------
    >>> import tempfile
    >>> from shortlist.products.model import make_model
    >>> shop = make_model(["Shop", "Card", "Cash"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_decisions(f"{folder}/first.csv", shop, [Decision(1, True, "design"), Decision(2, False)])
    ...     read_decisions(f"{folder}/first.csv", shop)[1]
    Decision(feature=2, selected=False, stage='first', by='')
    """
    source = read_source(path)
    names = feature_names(model)
    read = _json_entries if source.text.lstrip().startswith(("{", "[")) else _table_entries
    usual = Path(path).stem
    return tuple(_decision(source, names, entry, usual) for entry in read(source))


def has_decisions(path: str | Path) -> bool:
    """Whether a file holds decisions, and not a plain configuration, by its content.

    Decisions are JSON, or a table with a column ``decision``.
    """
    try:
        text = read_source(path).text.lstrip()
    except BadFileError:
        return False
    heading = text.partition("\n")[0].replace(";", ",").replace("\t", ",").split(",")
    return text.startswith(("{", "[")) or "decision" in [cell.strip(' "').casefold() for cell in heading]


def staged_decisions(model: FeatureModel, decisions: Iterable[str | Path]) -> tuple[Decision, ...]:
    """Read files of decisions in their order; raise an error at the first contradiction.

    Each file is a stage of a staged configuration :cite:p:`Czarnecki2005`, or holds several stages.

    Parameters
    ----------
    model : FeatureModel
        Model of the features. If it has no product at all, its rules refuse no decision.
    decisions : iterable of str or Path
        The files, in the order of the stages.

    Raises
    ------
    ContradictionError
        If a decision contradicts earlier decisions; names the file of the decision, and the fewest decisions
        and rules that exclude it.
    BadFileError
        If a file cannot be read.
    """
    files = [(path, read_decisions(path, model)) for path in decisions]
    try:
        state = start(model, max_nodes=0, time_limit_s=CHECK_SECONDS) if files else None
    except ContradictionError:
        state = None
    if state is None:
        return tuple(itertools.chain.from_iterable(made for _, made in files))
    for path, made in files:
        try:
            state = decide_all(state, made)
        except ContradictionError as error:
            raise ContradictionError(f"{path}: {error}", error.contradiction, error.sentences) from None
    return state.decisions


def decision_facts(model: FeatureModel, decisions: Iterable[Decision]) -> list[dict[str, str]]:
    """Return the decisions as JSON objects, with the keys :data:`DECISION_COLUMNS`."""
    return [
        dict(
            zip(
                DECISION_COLUMNS,
                (model.labels[one.feature], side_word(selected=one.selected), one.stage, one.by),
                strict=True,
            )
        )
        for one in decisions
    ]


def _as_json(model: FeatureModel, decisions: Sequence[Decision]) -> str:
    stages = [
        {
            "name": stage,
            "decisions": [
                {name: value for name, value in fact.items() if name != "stage" and value} for fact in facts
            ],
        }
        for stage, facts in itertools.groupby(decision_facts(model, decisions), lambda fact: fact["stage"])
    ]
    whole = {"format": DECISIONS_FORMAT, "version": DECISIONS_VERSION, "stages": stages}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _as_csv(model: FeatureModel, decisions: Sequence[Decision]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(DECISION_COLUMNS)
    for fact in decision_facts(model, decisions):
        writer.writerow([guarded(fact[column]) for column in DECISION_COLUMNS])
    return text.getvalue()


@dataclass(frozen=True)
class _Entry:
    """Unchecked decision of a file, the name of its location in messages, and its line."""

    given: dict[str, Any]
    place: str
    line: int | None = None


def _table_entries(source: Source) -> list[_Entry]:
    notes: list[str] = []
    rows = cells_of(source.path, source.text.encode(), notes)
    header = [cell.strip().casefold() for cell in rows[0][1]] if rows else []
    unknown = [cell for cell in header if cell not in DECISION_COLUMNS]
    if unknown or not {"feature", "decision"} <= {*header} or len({*header}) < len(header):
        raise source.error(
            f"decisions must be JSON, or a table with the columns feature and decision, and perhaps stage "
            f"and by; got the columns {any_of(header)}.", line=1,
        )  # fmt: skip
    entries: list[_Entry] = []
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            raise source.error(f"the row must have {len(header)} columns, got {len(cells)}.", line=line)
        given = dict(zip(header, (unguarded(cell.strip()) for cell in cells), strict=True))
        entries.append(_Entry(given, "the row", line))
    return entries


def _json_entries(source: Source) -> list[_Entry]:
    """Return the unchecked decisions of all stages of a JSON file, each with its stage."""
    try:
        whole = json.loads(source.text)
    except RecursionError:
        raise source.error(
            "the JSON is nested more deeply than decisions are. Is it the right file?"
        ) from None
    except json.JSONDecodeError as error:
        raise source.error(f"the JSON breaks off or is damaged ({error.msg}).", line=error.lineno) from None
    except ValueError:
        raise source.error("the JSON has a number of too many digits. Is it the right file?") from None
    if not isinstance(whole, dict) or whole.get("format") != DECISIONS_FORMAT:
        raise source.error(
            f'the JSON must be an object with "format": "{DECISIONS_FORMAT}". Is it the right file?'
        )
    if whole.get("version") != DECISIONS_VERSION:
        raise source.error(
            f"the version of the format must be {DECISIONS_VERSION}, got {whole.get('version')!r:.40}. Use a "
            "newer Shortlist."
        )
    entries: list[_Entry] = []
    for number, stage in enumerate(_listed(source, whole, "stages", "the file"), start=1):
        place = f"stage {number}"
        name = stage.get("name", "")
        for count, given in enumerate(_listed(source, stage, "decisions", place), start=1):
            entries.append(_Entry({"stage": name, **given}, f"decision {count} of {place}"))
    return entries


def _listed(source: Source, owner: dict[str, Any], name: str, place: str) -> list[dict[str, Any]]:
    found = owner.get(name)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise source.error(f"{place} must have a list of objects called {name!r}, got {str(found)[:40]!r}.")
    return found


def _decision(source: Source, names: FeatureNames, entry: _Entry, usual: str) -> Decision:
    given, place, line = entry.given, entry.place, entry.line
    for name, value in given.items():
        if name not in DECISION_COLUMNS or not isinstance(value, str):
            raise source.error(
                f"{place} must have texts called feature, decision, stage and by, got {name[:40]!r}: "
                f"{str(value)[:40]!r}.", line=line,
            )  # fmt: skip
    side = _SIDES.get(given.get("decision", "").casefold())
    if side is None:
        raise source.error(
            f"the decision of {place} must be selected or deselected, got "
            f"{given.get('decision', '')[:40]!r}.",
            line=line,
        )
    asked = given.get("feature", "")
    try:
        feature = names.find(asked)
    except BadInputError as error:
        raise source.error(str(error), line=line) from None
    if feature is None:
        hint = names.close_to(asked)
        raise source.error(f"{place} names no feature of the model: {asked[:80]!r}. {hint}", line=line)
    try:
        return Decision(feature, side, given.get("stage", "") or usual, given.get("by", ""))
    except BadInputError as error:
        raise source.error(f"{place}: {error}", line=line) from None
