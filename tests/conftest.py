"""Settings and fixtures for all tests."""

import itertools
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.stored import SCREENS, Stored, check_text

if TYPE_CHECKING:
    from tests.cli.running import Ran

QUIET = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("shortlist", QUIET, derandomize=True, max_examples=30)
settings.register_profile("fuzz", QUIET, derandomize=False, max_examples=300, print_blob=True)
settings.load_profile("shortlist")  # `make fuzz` loads the other one after this
# Hypothesis draws from the constants of all modules that are loaded, which differ with the tests that a worker ran
# before: without them a test has the same examples on every machine.
providers.is_local_module_file = lambda _: False  # type: ignore[assignment, attr-defined, unused-ignore]

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NO_BROWSER = "no Chromium is installed for the tests of pages: make browser"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let golden answers be written anew."""
    parser.addoption("--bless", action="store_true", help="write golden answers anew, to be read in the diff")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Repeat at the end why tests were skipped that a tool of this machine would have run."""
    skipped = terminalreporter.getreports("skipped")
    reasons = {report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)}
    for reason in sorted(reason for reason in reasons if "Chromium" in reason):
        terminalreporter.write_line(f"NOT TESTED: {reason.removeprefix('Skipped: ')}", yellow=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that store texts for people, which `make screens` runs."""
    for item in items:
        if "bless" in getattr(item, "fixturenames", ()):
            item.add_marker("screen")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Fix what classifiers without a random_state draw, such as which of equal splits a tree takes."""
    np.random.seed(0)  # noqa: NPY002  # they draw from NumPy's old generator


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Say whether texts for people are stored anew."""
    return bool(request.config.getoption("--bless"))


@pytest.fixture
def refused(request: pytest.FixtureRequest, bless: bool) -> Callable[[Path], None]:
    """Check in a folder that a command line of a table is refused with its stored sentence."""
    from tests.cli.refusals import is_stored  # loads the command

    return partial(is_stored, request.param, bless=bless)


@pytest.fixture
def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, bless: bool) -> Stored:
    """Compare texts for people, or what commands print, with the stored text of this test, in ``tests/screens``."""
    from tests.cli.running import printed  # loads the command

    folder = Path(__file__).parent
    path = SCREENS / request.path.relative_to(folder).with_suffix(".txt")
    numbers, made = itertools.count(1), re.escape(str(tmp_path_factory.getbasetemp()))
    folders = [one for one in (os.environ.get("SHORTLIST_DATA"), str(folder)) if one]

    def check(*texts: "str | Ran") -> None:
        number = next(numbers)
        name = request.node.name if number == 1 else f"{request.node.name} ({number})"
        joined = "\n".join(text if isinstance(text, str) else printed(text) for text in texts)
        joined = re.sub(rf"{made}/[^/\s]+/", "", joined)
        for one in folders:
            joined = joined.replace(f"{one.rstrip('/')}/", "")
        check_text(path, name, joined, bless=bless)

    return check


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of real data that the project cannot ship."""
    folder = os.environ.get("SHORTLIST_DATA")
    if not folder:
        pytest.skip("real data is not shipped: run `make test DATA=folder` to include this test")
    return Path(folder)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start Chromium once for all tests."""
    if BROWSER is None:
        pytest.skip(NO_BROWSER)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests away from the user's own list of trusted files, and from what the user has cached."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_is_felt() -> None:
    """Undo what a shell does to a command in the background: it starts it with SIGINT ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
