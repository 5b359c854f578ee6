"""`shortlist example`."""

from pathlib import Path

from tests.cli.running import done, facts_of, shortlist


def test_the_files_of_an_example_are_written_and_named(tmp_path: Path) -> None:
    said = done("example", "phone", cwd=tmp_path).stdout
    assert said == "A feature model of a phone with attributes\nWrote phone.uvl\n"
    assert facts_of("example", "wine", cwd=tmp_path)["files"] == ["wine.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["phone.uvl", "wine.csv"]
    (tmp_path / "phone.uvl").write_text("mine")
    refused = shortlist("example", "phone", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "Run this in an empty folder." in refused.stderr
