"""Tables by column: the same log as from a record for each answer, in a fraction of the memory."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.assembly import Wide, assembled, wide_log
from shortlist.panels.logs.reading import _without, read_log
from shortlist.panels.logs.records import LogColumns
from shortlist.panels.logs.tables import table_records

WORDS: list[Any] = ["x", "y", "X", "x.", None, "", "other", 1, 1.0, True, "true", float("nan")]


def made(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n_rows, n_judges = int(rng.integers(2, 30)), int(rng.integers(1, 5))
    words = np.array(WORDS, dtype=object)
    table: dict[str, Any] = {"case": rng.integers(0, n_rows, n_rows) if seed % 3 == 0 else np.arange(n_rows)}
    truth = words[[0, 1, 7, 9][: seed % 3 + 2]]
    for judge in range(n_judges):
        table[f"j{judge}"] = rng.choice(words, n_rows)
        if rng.random() < 0.5:
            table[f"j{judge}.price"] = np.where(rng.random(n_rows) < 0.8, rng.integers(0, 9, n_rows), np.nan)
        if rng.random() < 0.5:
            table[f"j{judge}.latency"] = rng.random(n_rows)
        if rng.random() < 0.5:
            table[f"j{judge}.confidence"] = rng.random(n_rows)
    table["topic"] = rng.choice(["a", "b"], n_rows)
    table["shown"] = rng.choice(["s", "t", "u", "v"], n_rows)
    of_case = rng.choice(truth, n_rows)
    table["target"] = of_case[table["case"]]
    return pd.DataFrame(table)


def both(table: pd.DataFrame, columns: LogColumns, costs: dict[str, float] | None) -> list[AnswerLog | str]:
    told: list[AnswerLog | str] = []
    for by_column in (True, False):
        notes: list[str] = []
        try:
            wide = table_records("t", table, columns, notes)
            assert isinstance(wide, Wide)
            if by_column:
                told.append(wide_log(wide, notes, columns, costs=costs))
            else:
                records = _without(wide.records(), columns.drop)
                told.append(assembled(records, notes, columns, costs=costs))
        except BadInputError as error:
            told.append(str(error))
    return told


@pytest.mark.parametrize("seed", range(60))
def test_a_table_by_column_is_the_same_log_as_by_record(seed: int) -> None:
    table = made(seed)
    costs = {f"j{judge}": 2.0 + judge for judge in range(5)} if seed % 2 else None
    columns = LogColumns(
        features=("topic",), content="shown", drop=("j0",) if seed % 5 == 1 else (),
        fold=[(), ("case",), ("case", "punctuation")][seed % 3],
    )  # fmt: skip
    one, other = both(table, columns, costs)
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    for name in ("judges", "classes", "notes", "unknown_words", "is_open", "folds_case", "folds_punctuation"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("cases", "answers", "truth", "prices"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
    for name in ("confidence", "latency", "groups"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert one.features["topic"].tolist() == other.features["topic"].tolist()


def test_a_large_table_takes_little_more_than_its_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n_rows, n_judges = 20_000, 20
    words = np.array(["no", "perhaps", "yes"])
    frame = pd.DataFrame({f"j{judge}": words[rng.integers(0, 3, n_rows)] for judge in range(n_judges)})
    path = tmp_path / "large.csv"
    frame.assign(target=words[rng.integers(0, 3, n_rows)]).to_csv(path, index=False)
    del frame
    tracemalloc.start()
    try:
        log = read_log(path, costs={f"j{judge}": 1.0 for judge in range(n_judges)})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    numbers = log.answers.nbytes + log.prices.nbytes
    assert peak <= 4 * numbers, f"{peak / numbers:.1f} times the {numbers:,} bytes of answers and prices"
