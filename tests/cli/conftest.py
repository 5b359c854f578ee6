"""Fixtures for the tests of the command."""

from pathlib import Path

import pytest

from tests.cli.made import fill


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one of everything that commands read; tests leave it as it is."""
    folder = tmp_path_factory.mktemp("made")
    fill(folder)
    return folder
