"""The study of assortments counts what it says, on few points."""

from benchmarks.studies.assortments import assortments


def test_every_question_has_a_bound_that_its_value_does_not_pass() -> None:
    rows = list(assortments(n_points=60))
    assert len(rows) == 10
    assert {row["objectives"] for row in rows} == {2, 3}
    for row in rows:
        assert 0 <= row["bound"] <= row["value"] + 1e-12
        assert row["processor_s"] >= 0
