"""What is said of tables whose judges answer what they cannot answer."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.ensembles import ExactPruner
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.verification.recheck import verify
from shortlist.ensembles.verification.row_check import unusable_answers
from shortlist.tables.fingerprints import table_fingerprint
from shortlist_papers import OrderedPruner

Y = np.random.default_rng(0).permutation(np.resize(["no", "yes"], 60))
OTHERS = np.where(Y == "no", "yes", "no")
ANSWERS = pd.DataFrame({f"j{k}": np.where(np.arange(60) % (k + 3), Y, OTHERS) for k in range(3)})
PART = np.random.default_rng(1).permutation(60)[:50]
"""The rows that prune, in another order than that of the table."""


def pruned(kind: str) -> Any:
    pool = Pool.from_answers(ANSWERS, Y)
    unfitted: dict[str, Any] = {
        "exact": ExactPruner(pool, objective="accuracy", min_size=3, time_limit_s=None, random_state=0),
        "rule": OrderedPruner(pool, rule="reduced-error"),
    }
    model = unfitted[kind].fit(ANSWERS.iloc[PART], Y[PART])
    table = table_fingerprint(ANSWERS, Y)
    model.validation_ = dataclasses.replace(model.validation_, rows=PART, table=table)
    return model


def changed(row: int, judge: str = "j1") -> pd.DataFrame:
    answers = ANSWERS.copy()
    answers.loc[row, judge] = "maybe"
    return answers


@pytest.mark.parametrize("kind", ["exact", "rule"])
def test_the_rows_that_differ_come_first_and_the_answer_has_its_row_of_the_table(kind: str) -> None:
    model, row = pruned(kind), int(PART[7])

    judge = model.pool_.names[0]

    found = verify(model, changed(row, judge), Y)

    assert row != 7
    rows, answer = found.failures
    assert rows.startswith("these are not the rows that the model was made from: 1 of the 50 selection rows")
    assert f"(row {row + 1}, counted from 1)" in rows
    assert answer == f"judge {judge!r} must answer no or yes, got 'maybe' in row {row + 1}"


@pytest.mark.parametrize("kind", ["exact", "rule"])
def test_rows_that_took_no_part_may_hold_any_answer(kind: str) -> None:
    row = int(np.setdiff1d(np.arange(60), PART)[0])

    model = pruned(kind)

    found = verify(model, changed(row, model.pool_.names[0]), Y)

    assert found.failures == ()
    assert f"1 row has other values in this table (row {row + 1}, counted from 1)" in found.notes[0]


def test_what_is_no_judge_or_lacks_columns_is_passed_over() -> None:
    judges = Pool.from_answers(ANSWERS, Y).classifiers

    assert unusable_answers(judges, changed(4)) == ["judge 'j1' must answer no or yes, got 'maybe' in row 5"]
    assert unusable_answers(judges, ANSWERS) == []
    assert unusable_answers((*judges, object()), changed(4)) == []
    assert unusable_answers(judges, changed(4).drop(columns="j2")) == []
    assert unusable_answers(judges, changed(4).to_numpy()) == []
