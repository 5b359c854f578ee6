"""The house: layers, style, types, and what importing costs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


def _run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["lint-imports", "--no-cache"], id="imports point down only"),
        pytest.param(["ruff", "check", "--no-cache"], id="the linter is content"),
        pytest.param(["ruff", "format", "--check", "--no-cache"], id="files are formatted"),
        pytest.param(["mypy"], id="types are consistent"),
    ],
)
def test_the_house_is_in_order(command: list[str]) -> None:
    run = _run(BIN / command[0], *command[1:])
    assert run.returncode == 0, run.stdout + run.stderr


def test_only_a_backend_imports_its_solver() -> None:
    offenders = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*.py")
        for solver in ("highspy", "ortools", "pyscipopt")
        if f"import {solver}" in path.read_text() or f"from {solver}" in path.read_text()
        if path.parent.name != "backends"
    ]
    assert offenders == []


def test_lock_files_hold_no_addresses() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        assert "--hash=sha256:" in text


def test_every_cited_paper_is_in_the_bibliography_once() -> None:
    cited = {
        key.strip()
        for path in (ROOT / "src").rglob("*.py")
        for keys in re.findall(r":cite:\w+:`([^`]+)`", path.read_text())
        for key in keys.split(",")
    }
    known = re.findall(r"^@\w+\{(\S+),", (ROOT / "docs" / "references.bib").read_text(), flags=re.MULTILINE)
    assert cited
    assert cited - set(known) == set()
    assert sorted(known) == sorted(set(known))


def test_every_public_name_exists() -> None:
    import shortlist
    import shortlist.ensembles
    import shortlist.multistage
    import shortlist.products

    for package in (shortlist, shortlist.ensembles, shortlist.multistage, shortlist.products):
        for name in package.__all__:
            assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = shortlist.nothing


@pytest.mark.slow
def test_make_touches_no_environment_but_its_own(tmp_path: Path) -> None:
    """The Makefile's steps run in a copy, with VIRTUAL_ENV and CONDA_PREFIX set to somebody else's environment."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    foreign = tmp_path / "foreign"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", foreign], check=True)
    before = sorted(foreign.rglob("*"))
    plan = _run(
        make, "--dry-run", "--always-make", "run", VIRTUAL_ENV=str(foreign), CONDA_PREFIX=str(foreign)
    )
    assert plan.returncode == 0, plan.stderr
    steps = [line for line in plan.stdout.splitlines() if "uv pip" in line]
    assert len(steps) >= 2
    assert all("--python .venv/bin/python" in line for line in steps)

    # the same command as in the Makefile, against an environment that must stay empty
    own = tmp_path / "own"
    subprocess.run([sys.executable, "-m", "venv", own], check=True)
    wheel = tmp_path / "nothing.lock"
    wheel.write_text("")
    synced = _run(
        BIN / "uv", "pip", "--quiet", "sync", "--python", own / "bin" / "python", "--allow-empty-requirements", wheel,
        VIRTUAL_ENV=str(foreign), CONDA_PREFIX=str(foreign),
    )  # fmt: skip
    assert synced.returncode == 0, synced.stderr
    assert sorted(foreign.rglob("*")) == before
