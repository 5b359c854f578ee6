"""`shortlist datasets`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from shortlist.datasets.registry import SHIPPED, public_set, public_sets
from shortlist.tables.learning import read_table
from tests.cli.refusals import refusals
from tests.cli.running import done, facts_of, shortlist
from tests.datasets.originals import original_of, table_rows
from tests.stored import Stored


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_every_set_is_listed_with_where_it_is(tmp_path: Path) -> None:
    run = done("datasets", "list", cwd=tmp_path)
    lines = {line.split()[0]: line for line in run.stdout.splitlines()}
    assert list(lines) == [*SHIPPED, *public_sets(), "Next:"]
    facts = facts_of("datasets", "list", cwd=tmp_path)
    assert [fact["name"] for fact in facts["public"]] == list(public_sets())


def test_a_set_is_shown_with_its_licence_and_its_hash(tmp_path: Path, stored: Stored) -> None:
    run = done("datasets", "show", "heart_failure_clinical_records", cwd=tmp_path)
    stored(run, shortlist("datasets", "show", "musk-v1", cwd=tmp_path))


@pytest.mark.parametrize("verb", ["show", "fetch"])
def test_a_shipped_set_is_known_to_need_no_fetching(verb: str, tmp_path: Path, stored: Stored) -> None:
    stored(done("datasets", verb, "iris", cwd=tmp_path))
    assert facts_of("datasets", verb, "iris", cwd=tmp_path)["command"] == f"datasets {verb}"


@refusals("datasets")
def test_what_cannot_be_is_one_sentence(tmp_path: Path, refused: Callable[[Path], None]) -> None:
    refused(tmp_path)


def test_a_machine_without_a_network_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: Stored
) -> None:
    def offline(*_: object, **__: object) -> None:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr("socket.create_connection", offline)
    stored(shortlist("datasets", "fetch", "spambase", cwd=tmp_path))


def test_a_fetched_set_is_an_example(data_folder: Path, tmp_path: Path) -> None:
    data_set = public_set("heart-failure-clinical-records")
    assert data_set.source is not None
    (tmp_path / data_set.source.file).write_bytes(original_of(data_set, table_rows(data_set, data_folder)))
    facts = facts_of("datasets", "fetch", data_set.name, "--data", ".", cwd=tmp_path)
    assert facts["fetched"]
    assert Path(facts["file"]).is_file()
    assert read_table("example:heart-failure-clinical-records").shape == (299, 13)
