"""The command report with --protocol, as a user runs it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from shortlist.export.protocol_text import in_form
from shortlist.panels import load_panel
from shortlist.panels.protocol import panel_protocol
from tests.cli.refusals import refusals
from tests.cli.running import done, facts_of
from tests.panels.test_service_of_the_guide import panel


@pytest.fixture(scope="module")
def folder(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(made, tmp_path_factory.mktemp("report"), dirs_exist_ok=True)
    panel().save(folder / "panel.json")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".html", ".md", ".svg"])
def test_a_panel_and_stages_are_written_as_protocols(folder: Path, ending: str) -> None:
    for file, asks in (("panel.json", "small, other"), ("stages.joblib", "Step 1")):
        facts = facts_of("report", file, "--protocol", "--out", f"p{ending}", cwd=folder)
        assert (facts["command"], facts["method"], facts["out"]) == ("report", "protocol", f"p{ending}")
        text = (folder / f"p{ending}").read_text(encoding="utf-8")
        assert asks in text
        assert facts["bytes"] == len(text.encode())
    done("report", "panel.json", "--protocol", "-o", "p.md", cwd=folder)
    wanted = in_form(panel_protocol(load_panel(folder / "panel.json")), ".md")
    assert (folder / "p.md").read_text(encoding="utf-8") == wanted


@pytest.mark.slow
@refusals("report")
def test_what_has_no_protocol_is_refused_in_a_sentence_and_nothing_is_written(
    folder: Path, refused: Callable[[Path], None]
) -> None:
    (folder / "damaged.json").write_text("{", encoding="utf-8")
    refused(folder)
