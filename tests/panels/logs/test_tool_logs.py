"""Which tool wrote a file is told by its content."""

import shutil
from pathlib import Path

import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.logs.reading import read_log

SAMPLES = Path(__file__).parent / "samples"
EVALS = [SAMPLES / "mini.eval", SAMPLES / "large.eval"]


def test_a_form_that_is_asked_for_must_be_the_files() -> None:
    assert read_log(EVALS[0], form="inspect-ai").judges == ("mockllm/mini",)
    with pytest.raises(BadFileError, match="must be a log of the form promptfoo, got inspect-ai"):
        read_log(EVALS[0], form="promptfoo")


def test_one_log_given_twice_is_refused_and_no_repeat(tmp_path: Path) -> None:
    copy = tmp_path / "copy.eval"
    shutil.copy(EVALS[0], copy)
    with pytest.raises(BadInputError, match="must differ from the other logs, got a copy of"):
        read_log([EVALS[0], copy])
