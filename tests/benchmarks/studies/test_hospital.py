"""The study of the hospital counts what it says, on few patients."""

import pytest

from benchmarks.studies.hospital import SHARE_ILL, TESTS, hospital, patients


def test_patients_are_generated_with_their_tests() -> None:
    table = patients(5000, 0)
    assert list(table) == [*TESTS, "status"]
    assert (table["status"] == "ill").mean() == pytest.approx(SHARE_ILL, abs=0.02)
    means = table.groupby("status")["scan"].mean()
    assert means["ill"] - means["healthy"] == pytest.approx(TESTS["scan"][2], abs=0.2)


@pytest.mark.slow
def test_a_miss_that_costs_ten_happens_less_often() -> None:
    rows = {row["method"]: row for row in hospital(seeds=1, n_rows=300, n_new=2000)}
    assert rows["stages, a miss costs ten"]["missed"] < rows["stages, errors counted"]["missed"]
    assert rows["stages, a person for 0.5"]["error_cost"] < rows["stages, a miss costs ten"]["error_cost"]
    assert rows["stages, a miss costs ten"]["price"] < rows["logistic regression on all tests"]["price"]
