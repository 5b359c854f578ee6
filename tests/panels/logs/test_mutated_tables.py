"""Damaged tables are refused, or say what a slow reader says, or a note tells what they say instead."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import ShortlistError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.reading import read_log
from tests.panels.logs.mutated_tables import Maker, rights_by_score, rights_by_text

READERS = ("long", "truth_apart", "wide", "rights", "files", "toloka", "turk", "studio")


def outcome(kind: str, seed: int, folder: Path) -> str:
    """Return what becomes of a damaged table; any error that is no refusal is raised."""
    maker = Maker(f"{kind} {seed}")
    sheets = {name: maker.mutated(sheet) for name, sheet in getattr(maker, kind)().items()}
    paths = {}
    for name, sheet in sheets.items():
        paths[name] = folder / f"{name}.csv"
        maker.write(sheet, paths[name])
    is_damaged = maker.rng.random() < 0.2
    if is_damaged:
        maker.damage(maker.rng.choice([*paths.values()]))
    truth = paths.pop("truth", None)
    try:
        log = read_log([*paths.values()], truth=truth)
    except ShortlistError:
        return "refused"
    if is_damaged:
        return "damaged"
    by_text = rights_by_text(sheets)
    got = dict(zip(log.judges, log.is_right.sum(axis=0).tolist(), strict=True))
    for expected in ({}, by_text) if by_text is not None else ({},):
        if got in (expected, rights_by_score(sheets, expected)):
            return "right"
    return "noted" if is_noted(log, got, by_text or {}) else f"misread: {got} for {by_text}, {log.notes}"


def is_noted(log: AnswerLog, got: dict[str, int], by_text: dict[str, int]) -> bool:
    """Whether notes tell all that a log says otherwise than a slow reader: whose truth, which judges."""
    notes = " ".join(log.notes)
    if (log.truth < 0).all():
        return "is not known" in notes
    if "own scores decide" in notes or "in another file" in notes:
        return True
    if len(log.judges) == 1 and "as the file is called" in notes:  # and who answered is not used
        return " not used" in notes
    others = {judge for judge in got if judge not in by_text}
    differ = {judge for judge in got if judge in by_text and got[judge] != by_text[judge]}
    missing = {judge for judge in by_text if judge not in got}
    is_told = all(repr(judge if judge.strip() else "Unnamed")[1:-1] in notes for judge in others | missing)
    return not differ and is_told


@pytest.mark.slow
@pytest.mark.parametrize("kind", READERS)
@given(seed=st.integers(0, 10**9))
def test_a_damaged_table_is_refused_or_read_rightly_or_a_note_tells(
    kind: str, folder: Path, seed: int
) -> None:
    for old in folder.iterdir():
        old.unlink()
    assert not outcome(kind, seed, folder).startswith("misread")


@pytest.mark.slow
@pytest.mark.parametrize("kind", READERS)
def test_most_tables_that_are_not_damaged_much_are_read(kind: str, tmp_path: Path) -> None:
    times = Counter(outcome(kind, seed, tmp_path) for seed in range(30))
    assert times["right"] >= 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")
