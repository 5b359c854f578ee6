"""The house: layers, style, types, and what importing costs."""

import ast
import functools
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis.internal.conjecture import providers

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


def _run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_only_a_backend_imports_its_solver() -> None:
    offenders = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*.py")
        for solver in ("highspy", "ortools", "gurobipy", "cplex")
        if f"import {solver}" in path.read_text() or f"from {solver}" in path.read_text()
        if path.parent.name != "backends"
    ]
    assert offenders == []


def test_lock_files_hold_no_addresses() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        assert "--hash=sha256:" in text


def test_every_python_that_is_named_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert project["requires-python"] == f">={named[0]}"
    assert f"Python {named[0]} or later" in (ROOT / "README.md").read_text()
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    assert f"python: {json.dumps(named)}" in workflow
    assert workflow.count(f'"{named[0]}"') == 3  # the lowest versions and the wheel have the oldest too


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


SOURCES = sorted((ROOT / "src").rglob("*.py"))


def _mirrored(path: Path) -> Path:
    """Return where the tests of a module lie; those of the library have no folder above them."""
    place = path.relative_to(ROOT / "src")
    return Path(*place.parts[1:]) if place.parts[0] == "shortlist" else place


MOST_WORDS = 40
MODULES = {
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCES
}


@functools.cache
def _nodes(path: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(path.read_text()))]


def _imported(name: str) -> set[str]:
    """Return the modules that a module imports, wherever it does, for types alone included."""
    found = set()
    for node in _nodes(MODULES[name]):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = [(f"{node.module}.{one.name}", node.module) for one in node.names]
            found |= {part if part in MODULES else whole for part, whole in full}
    return (found & MODULES.keys()) - {name}


def test_no_module_imports_one_that_imports_it() -> None:
    """Modules that nothing left needs, or that need nothing left, are taken away until circles alone are left."""
    needs = {name: _imported(name) for name in MODULES}
    while free := {name for name, those in needs.items() if not those} | (
        needs.keys() - set().union(*needs.values())
    ):
        needs = {name: those - free for name, those in needs.items() if name not in free}
    assert {name: sorted(those) for name, those in needs.items()} == {}


def test_no_class_is_called_as_another_one() -> None:
    homes = defaultdict(list)
    for name, path in MODULES.items():
        for node in _nodes(path):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(name)
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def _sentences(docstring: str) -> list[str]:
    """Split prose at full stops, colons, semicolons, list items and blank lines; examples are no prose."""
    prose = re.sub(r"^\s*(>>>|\.\.\.) .*(\n.*\S.*)*", "", docstring, flags=re.MULTILINE)
    parts = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s|\n\s*-{3,}", prose)
    return [sentence for part in parts for sentence in re.split(r"(?<=[.!?:;])\s+", part)]


def _docstrings(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def test_docstrings_are_written_in_sentences_that_one_can_follow() -> None:
    long, vague = [], []
    for path in SOURCES:
        for docstring in _docstrings(_nodes(path)):
            vague += [str(path)] * ("As everywhere" in docstring)
            long += [(path.name, one) for one in _sentences(docstring) if len(one.split()) > MOST_WORDS]
    assert vague == []
    assert long == []


RIDDLE = re.compile(r'^ *r?"""[^\w\n]*(How|Those|What|When|Where|Which|Who|Whom|Whose|Why)\b.*', re.MULTILINE)


def test_docstrings_begin_with_the_thing_that_they_are_about() -> None:
    """Documented are modules, classes, functions and, by the string below them, names."""
    riddles = [
        f"{path.relative_to(ROOT)}: {found[0].strip()}"
        for folder in ("src", "tests", "benchmarks")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for found in RIDDLE.finditer(path.read_text())
    ]
    assert riddles == [], "Begin with a verb or a technical noun, as docs/glossary.md has them."


def test_no_line_is_longer_than_a_reader_sees() -> None:
    longest = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > 110
    ]
    assert longest == []


def test_no_kernel_takes_more_arguments_than_a_reader_can_hold() -> None:
    counts = {}
    for path in SOURCES:
        for function in filter(_is_kernel, _functions(path)):
            given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            counts[f"{path.stem}.{function.name}"] = len(given)

    assert len(counts) > 50
    assert {name: count for name, count in counts.items() if count > 8} == {}


CLOCKS = re.compile(r"^\s*(import time\b|from time import)|\bdatetime\.(now|today)\(", flags=re.MULTILINE)


def test_only_runs_and_the_compiler_of_kernels_read_a_clock() -> None:
    outside = [path for path in SOURCES if "runs" not in path.parts and path.name != "_jit.py"]
    assert [str(path.relative_to(ROOT)) for path in outside if CLOCKS.search(path.read_text())] == []


def test_most_tests_lie_where_the_module_lies_that_they_test() -> None:
    modules = {_mirrored(path) for path in SOURCES}
    modules |= {path.relative_to(ROOT) for path in (ROOT / "benchmarks").rglob("*.py")}
    modules |= {Path("benchmarks", path.name) for path in (ROOT / "benchmarks" / "data").glob("*.py")}
    tests = [path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")]
    names = [(path.parent, path.name.removeprefix("test_")) for path in tests]
    elsewhere = [path / name for path, name in names if not {path / name, path / f"_{name}"} & modules]
    assert len(elsewhere) <= 0.2 * len(tests), elsewhere


LEAST_MIRRORED = 0.58
"""Least share of the modules with a test file of their name; 0.8 is wanted."""


def test_modules_have_test_files_that_are_called_as_they_are() -> None:
    """Modules without one are tested too, by the tests of what calls them; here it is counted how many."""
    tests = {path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    modules = [
        _mirrored(path)
        for path in SOURCES
        if not path.stem.startswith("__") and any(True for _ in _functions(path))
    ]
    alone = [
        str(path)
        for path in modules
        if not {path.parent / f"test_{name}.py" for name in (path.stem, path.stem.lstrip("_"))} & tests
    ]
    assert len(alone) <= (1 - LEAST_MIRRORED) * len(modules), alone


def _functions(path: Path) -> Iterator[ast.FunctionDef]:
    return (node for node in _nodes(path) if isinstance(node, ast.FunctionDef))


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any("kernel" in ast.unparse(decorator) for decorator in function.decorator_list)


ESTIMATORS = (
    "estimators", "exact_options", "rule_pruners", "evolved_ensemble", "base", "tree_classifiers",
    "front_pruner", "lightgbm_trees", "greedy_miser",
)  # fmt: skip
"""Modules whose classes take their parameters one by one, as scikit-learn wants it."""


def test_no_function_has_ten_parameters_but_kernels_commands_and_estimators() -> None:
    wide = {
        function.name: f"{path.relative_to(ROOT)}:{function.lineno}"
        for path in SOURCES
        if path.parent.name != "commands" and path.parts[-3:-1] != ("shortlist_papers", "cli")
        for function in _functions(path)
        if not _is_kernel(function) and not (function.name == "__init__" and path.stem in ESTIMATORS)
        if len({*function.args.args, *function.args.kwonlyargs}) >= 10
    }
    assert wide == {}


REPLACED = {
    "MOST_CHOICE_BYTES": "the page is written anew",
    "DENSE_FEATURES": "every subclassifier looks at it, and the estimator, which has no room for a parameter",
    "MOST_BYTES": "likewise",
}
"""Tuning constants that tests still replace, and why."""


def test_tests_pass_settings_and_replace_no_constants() -> None:
    texts = {path: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    replaced = {
        name: str(path.relative_to(ROOT))
        for path, text in texts.items()
        for name in re.findall(r"""setattr\([^)]*?["'.]([A-Z][A-Z_]+)["'],""", text)
    }
    assert {name: place for name, place in replaced.items() if name not in REPLACED} == {}


LAZY = [
    ".".join(stub.parent.relative_to(ROOT / "src").parts) for stub in (ROOT / "src").rglob("__init__.pyi")
]


@pytest.mark.parametrize("name", LAZY)
def test_every_public_name_of_a_lazy_package_is_listed_and_can_be_loaded(name: str) -> None:
    package = importlib.import_module(name)
    assert len(package.__all__) > 1
    assert set(package.__all__) <= set(dir(package))
    for public in package.__all__:
        assert getattr(package, public) is not None
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        _ = package.nothing


def test_the_main_names_come_from_the_front_door() -> None:
    from shortlist import (
        EvolutionaryEnsembleClassifier,
        ExactPruner,
        MultiStageClassifier,
        configure,
        ensembles,
    )

    assert ExactPruner is ensembles.ExactPruner
    assert EvolutionaryEnsembleClassifier().mode == "offline"
    assert MultiStageClassifier().pick
    assert callable(configure)


HEAVY = {
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "numba",
    "pyarrow",
    "ortools",
    "highspy",
    "matplotlib",
    "rich",
}


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("import shortlist; dir(shortlist)", id="import shortlist"),
        pytest.param("from shortlist import ensembles, multistage, products", id="import the packages"),
        pytest.param(["--version"], id="shortlist --version"),
        pytest.param(["--help"], id="shortlist --help"),
        pytest.param(["prune", "--help"], id="shortlist prune --help"),
    ],
)
def test_asking_for_nothing_loads_nothing_heavy(program: str | list[str]) -> None:
    if isinstance(program, list):
        program = f"import sys; sys.argv = {['shortlist', *program]!r}; from shortlist.cli.main import run_command; run_command()"
    listed = f"import sys\ntry:\n    {program}\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    run = _run(sys.executable, "-W", "error", "-c", listed)
    assert run.returncode == 0, run.stderr
    assert HEAVY & set(run.stderr.split()) == set()


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
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", own], check=True)
    wheel = tmp_path / "nothing.lock"
    wheel.write_text("")
    synced = _run(
        BIN / "uv", "pip", "--quiet", "sync", "--python", own / "bin" / "python", "--allow-empty-requirements", wheel,
        VIRTUAL_ENV=str(foreign), CONDA_PREFIX=str(foreign),
    )  # fmt: skip
    assert synced.returncode == 0, synced.stderr
    assert sorted(foreign.rglob("*")) == before


def test_few_names_are_public() -> None:
    """Sixty; those of the papers are four at most."""
    own = [package for package in LAZY if package.partition(".")[0] == "shortlist"]
    names = {name for package in own for name in importlib.import_module(package).__all__}
    assert len(names) <= 60
    assert len(importlib.import_module("shortlist_papers").__all__) <= 4


def test_random_examples_do_not_depend_on_the_modules_that_are_loaded() -> None:
    """tests/conftest.py leaves out constants of modules, which differ with the tests that ran before."""
    importlib.import_module("shortlist.results.intervals")  # which has numbers and texts
    found = providers.HypothesisProvider(None)._local_constants
    assert not any(found.set_for_type(kind) for kind in ("integer", "float", "string", "bytes"))
