"""Messages of the library in the words of the command, and how a command ends that cannot answer."""

import ast
import contextlib
import errno
import functools
import inspect
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import shortlist as library
from shortlist.cli import main
from shortlist.cli.main import ended, in_options
from shortlist.cli.options import settings
from shortlist.cli.result_pages import result_page
from shortlist.cli.signals import handled, interrupting
from shortlist.cli.text.output import as_typed, speaking
from shortlist.datasets.registry import public_set
from shortlist.datasets.store import fetch
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.front_pruner import FrontPruner
from shortlist.ensembles.estimators.rule_pruners import BaselinePruner, pruning_methods
from shortlist.ensembles.evolved_table import evolve_table
from shortlist.ensembles.pools.fitting import load_pool, make_pool
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.pruned_table import prune_table
from shortlist.ensembles.verification.recheck_model import verify
from shortlist.errors import BadInputError
from shortlist.guarantees.selective_classifier import SelectiveClassifier
from shortlist.methods.program_methods import method_options
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.holdout import stage_table
from shortlist.multistage.presets import preset
from shortlist.multistage.problem.cost_files import read_costs
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.recall import recall
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.panels import load_panel
from shortlist.panels.choice import choose_panels
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from shortlist.panels.panel_options import PanelOptions
from shortlist.products.analysis import analyse, diverse_products, uniform_sample
from shortlist.products.attribute_files import save_attributes
from shortlist.products.attributes import chosen_attributes
from shortlist.products.configuration.feasibility import summarise
from shortlist.products.configuration.product_front import configure
from shortlist.products.configuration.question import search_options
from shortlist.products.configuration.recheck import recheck_products
from shortlist.products.configuration.requirements import make_requirements
from shortlist.products.conversion import convert_model, difference
from shortlist.products.decision_files import staged_decisions
from shortlist.products.decisions import start
from shortlist.products.formats import read_model
from shortlist.products.product_tables import check_products, read_products
from shortlist.products.slicing import slice_model
from shortlist.programs.mps_format import read_program
from shortlist.programs.named_program import chosen_objectives
from shortlist.programs.recheck import recheck_front
from shortlist.programs.solve import solve_program
from shortlist.results.front import Front
from shortlist.results.front_differences import front_differences
from shortlist.results.picture import save_figure
from shortlist.runs import study_file
from shortlist.saved_models import load_model
from shortlist.tables.learning import read_table, split_target
from shortlist_papers.paper import reproduce as run_again
from shortlist_papers.product_comparison import check_methods, compare_products
from shortlist_papers.pruning_comparison import compare_methods
from shortlist_papers.stage_comparison import compare_stage_methods
from tests.cli.command_lines import called, commands, files
from tests.cli.made import ADDING, CONFIGURE, PRINTING, WRITING
from tests.cli.running import Ran, done, shortlist

COMMANDS = commands()

PASSED: dict[str, list[Callable[..., Any]]] = {
    "prune": [read_table, split_target, SelectiveClassifier, ExactPruner, FrontPruner, BaselinePruner, make_pool, load_pool, prune_table,
              pruning_methods, Pool.from_answers],
    "evolve": [read_table, split_target, EvolutionaryEnsembleClassifier, evolve_table],
    "predict": [load_model, read_table],
    "measure": [load_model, read_table, load_panel, read_log, LogColumns, PanelOptions, choose_panels],
    "export": [load_model, read_table],
    "verify": [load_model, load_pool, read_table, verify, Front.load, read_program, recheck_front, recheck_products],
    "solve": [read_program, chosen_objectives, method_options, solve_program],
    "configure": [read_model, configure, search_options, make_requirements, chosen_attributes, start, staged_decisions],
    "compare": [read_model, compare_products, check_methods, make_requirements, chosen_attributes, staged_decisions,
                read_table, split_target, compare_methods, compare_stage_methods],
    "stage": [read_table, split_target, MultiStageClassifier, EmscoOptions, feature_costs, read_costs, preset, recall,
              stage_table],
    "panel": [read_log, LogColumns, PanelOptions, choose_panels],
    "front show": [Front.load, Front.pick],
    "front diff": [Front.load, front_differences],
    "report": [result_page, read_model],
    "front plot": [Front.load, save_figure, result_page],
    "front pick": [Front.load, Front.pick, read_model],
    "model info": [read_model, summarise],
    "model analyse": [read_model, analyse],
    "model diff": [read_model, difference],
    "model convert": [read_model, convert_model, save_attributes],
    "model check": [read_model, make_requirements, chosen_attributes, read_products, check_products],
    "model slice": [read_model, slice_model, convert_model],
    "model sample": [read_model, uniform_sample, diverse_products, Front.load],
    "example": [],
    "datasets fetch": [fetch],
    "datasets show": [public_set],
    "datasets list": [],
    "reproduce": [run_again],
    "study show": [],
    "study resume": [],
}  # fmt: skip
"""Functions and classes that each command passes options on to. A new call of the library belongs here."""

NOT_TYPED = {
    "self", "cls", "X", "y", "table", "model", "path", "source", "classifier", "pruner", "estimator", "front",
    "report", "cancellation", "work", "literals", "attributes", "kwargs", "options", "costs_given", "tables", "methods",
    "fields", "n_rows", "sense", "problem", "truth", "unsupported", "warnings", "notes",
    "given", "reject_label", "requirements", "name", "names", "dropped", "data_set", "tell", "paper", "plan",
    "features", "kind", "budget", "cases", "n_explained", "products", "rng", "first", "second", "words", "before", "now",
    "wanted", "marker", "decimals", "renames", "named", "question",
    "classes", "columns", "content", "demand", "emsco_options", "test", "take", "plain", "measuring", "like", "log", "rules", "n_folds", "paths",
}  # fmt: skip
"""Arguments that a command fills with what it has read: no message may ask the user to change them by that name."""


ON_THEIR_OWN = {
    "prune": {"calibration_share", "criterion", "node_limit", "probabilities", "pruning_rows", "race", "slice_s"},
    "evolve": {"long_s", "most_answers"},
    "measure": {"workers"},
    "configure": {"units"},
    "compare": {"slice_s", "units"},
    "model check": {"units"},
    "stage": {"C", "answer_rejected", "beta", "calibration_share", "epsilon", "mutation", "patience", "recombination", "scale",
              "elitism", "validation_share"},
    "front show": {"order", "weights"},
    "front plot": {"trust"},
    "datasets fetch": {"silence_s"},
    "verify": {"solver"},
}  # fmt: skip
"""Arguments that the command leaves as they are by default, so that no message is about them."""


def arguments(command: str) -> list[str]:
    """Return the arguments that a command's options fill."""
    found = {name for call in PASSED[command] for name in inspect.signature(call).parameters}
    return sorted(found - NOT_TYPED - ON_THEIR_OWN.get(command, set()))


def options_of(command: str) -> dict[str, str]:
    """Return what the command's own parameters are called."""
    return settings.options_of(COMMANDS[command])


CASES = [(command, name) for command in PASSED for name in arguments(command)]


@pytest.mark.parametrize(("command", "name"), CASES)
def test_no_message_of_a_command_has_a_name_of_python(command: str, name: str) -> None:
    options = options_of(command)
    known = {*options.values(), "TABLE"}
    for said in (BadInputError(name, "must be at least 1", 0), f"`{name}` names no feature."):
        told = in_options(said, options)
        assert any(told.startswith(f"{option} ") for option in known), told
    if in_options(f"`{name}`", options).startswith("--"):
        typed = in_options(f"Use `{name}='x'`, or `{name}=3`.", options)
        value = r"(--[\w-]+ {0}|--(set|columns) [\w-]+={0}|--limit '[\w-]+<={0}')"
        assert re.fullmatch(rf"Use {value.format('x')}, or {value.format('3')}\.", typed)


def test_a_word_that_is_not_marked_is_no_argument() -> None:
    options = options_of("prune")
    for sentence in (
        "no selection meets the limits, and no method finds one. Choose another objective or target.",
        "column 'max_size' must hold numbers or text. It is called 'n_jobs' or \"seed\".",
    ):
        assert in_options(sentence, options) == sentence


@functools.cache
def _nodes(path: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def test_arguments_within_sentences_are_marked() -> None:
    arguments = {
        name for calls in PASSED.values() for call in calls for name in inspect.signature(call).parameters
    }
    word = "|".join(name for name in arguments if "_" in name)
    unmarked = re.compile(rf"(?<![\w`'\"./-])(?:{word})(?!\w|\(|/|\.\w)")
    root = Path(library.__file__).parent
    found = [
        f"{path.relative_to(root)}: {sentence}"
        for path in root.rglob("*.py")
        if "cli" not in path.relative_to(root).parts
        for raised in _nodes(path)
        if isinstance(raised, ast.Raise)
        for text in ast.walk(raised)
        if isinstance(text, ast.Constant) and isinstance(text.value, str) and " " in text.value
        for sentence in [re.sub("`[^`]*`", "", text.value)]
        if unmarked.search(re.sub(r"shape \(.*\)", "", sentence))
    ]
    assert found == []


def test_no_sentence_of_the_library_has_an_option_of_the_command() -> None:
    flags = {flag for command in COMMANDS.values() for one in command.params for flag in one.opts}
    named = re.compile("|".join(rf"{flag}(?![\w-])" for flag in flags if flag.startswith("--")))
    root = Path(library.__file__).parent
    found = [
        f"{path.relative_to(root)}: {text.value}"
        for path in root.rglob("*.py")
        if "cli" not in path.relative_to(root).parts and path.name != "reader.py"  # a command of its own
        for text in _nodes(path)
        if isinstance(text, ast.Constant) and isinstance(text.value, str) and named.search(text.value)
    ]
    assert found == []


def test_a_value_that_has_a_space_is_quoted_as_one_types_it() -> None:
    told = in_options("Leave it out with `drop='the id'` or `drop='x'`.", {"drop": "--drop"})
    assert told == "Leave it out with --drop 'the id' or --drop x."


def test_notes_speak_as_the_command_that_runs() -> None:
    assert as_typed("Pass `trust=True`.") == "Pass `trust=True`."
    with speaking(lambda sentence: in_options(sentence, {"trust": "--trust"})):
        assert as_typed("Pass `trust=True`.") == "Pass --trust."


def test_every_command_has_its_calls_listed() -> None:
    assert set(PASSED) == set(COMMANDS) - {"stage use", "front export"}  # which pass on what others do


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of the command."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def full(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A disk that is full when a finished file is to be moved into the folder."""
    move = Path.replace

    def replace(path: Path, target: Path) -> Path:
        if target.parent == made:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return move(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    before = sorted(made.iterdir())
    yield
    assert sorted(made.iterdir()) == before


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("option", WRITING)
def test_a_result_that_does_not_fit_where_it_should_is_put_elsewhere_whole(
    option: str, made: Path, elsewhere: Path
) -> None:
    words = WRITING[option]
    run = shortlist(*words, cwd=made)
    [place] = elsewhere.glob("shortlist-*/w.*")
    assert place.suffix == Path(words[-1]).suffix
    assert place.stat().st_size > 20
    assert run.returncode == 74
    told = f"shortlist: {words[-1]} cannot be written: No space left on device. It is in {place} instead."
    assert run.stderr.splitlines()[-1] == told
    assert str(place) in run.stdout or "of a page" in option or option.startswith("verify")


def test_every_option_that_names_an_output_is_tried() -> None:
    known = {(words, called(one)) for words, command in commands().items() for one in files(command)[1]}
    known -= {("reproduce", "--study")}  # minutes of work; tested with made papers
    plain = [option.partition(" of ")[0] for option in [*WRITING, *ADDING]]
    assert {(" ".join(option.split()[:-1]), option.split()[-1]) for option in plain} == known


@pytest.mark.parametrize("option", ADDING)
def test_a_study_that_cannot_go_on_says_that_what_was_finished_is_in_it(
    option: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected, prepared = study_file._connected, study_file._prepare

    def small(path: Path) -> sqlite3.Connection:
        connection = connected(path)
        connection.execute("PRAGMA page_size = 512")
        return connection

    def full(path: Path, connection: sqlite3.Connection) -> None:
        """Let SQLite take no page more, as on a full disk."""
        prepared(path, connection)
        (n_pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {n_pages + 4}")

    monkeypatch.setattr(study_file, "_connected", small)
    monkeypatch.setattr(study_file, "_prepare", full)
    place = tmp_path / "w.db"
    words = [*ADDING[option][:-1], str(place)]
    run = shortlist(*words, cwd=made)
    assert run.returncode == 74, run.stderr
    assert run.stderr.splitlines()[-1].startswith(f"shortlist: {place} cannot be written: No space left")
    monkeypatch.undo()
    done(*words, cwd=made)


def _run_into(stream: io.TextIOBase, words: list[str], folder: Path) -> Ran:
    """Run a command whose stdout is `stream`."""
    stderr = io.StringIO()
    with (
        contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(stderr),
        handled(interrupting()),
    ):  # fmt: skip
        patch.setattr(sys, "argv", ["shortlist", *words])
        patch.setattr(sys, "stdout", stream)
        code = 0
        try:
            main.run_command()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Ran(code, "", stderr.getvalue())


@pytest.mark.parametrize("words", PRINTING.values(), ids=PRINTING)
def test_what_a_full_stdout_does_not_take_is_kept_in_a_file(
    words: list[str], made: Path, elsewhere: Path
) -> None:
    shown = shortlist(*words, cwd=made).stdout
    with Path("/dev/full").open("w", encoding="utf-8") as stream:
        run = _run_into(stream, words, made)
    [place] = elsewhere.iterdir()
    assert run.returncode == 74
    assert run.stderr.splitlines()[-1] == (
        f"shortlist: stdout cannot be written: No space left on device. What was to be printed is in {place} instead."
    )
    kept = place.read_text(encoding="utf-8")
    assert kept.count("\n") == shown.count("\n")
    if words[-1] != "--json":
        assert kept.splitlines()[-1] == shown.splitlines()[-1]
    else:
        assert json.loads(kept)["n_points"] == json.loads(shown)["n_points"]


@pytest.mark.parametrize("words", PRINTING.values(), ids=PRINTING)
def test_a_closed_pipe_ends_quietly(words: list[str], made: Path, elsewhere: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        run = _run_into(stream, words, made)
    assert run.returncode == 0
    assert "cannot be written" not in run.stderr
    assert list(elsewhere.iterdir()) == []


UNEXPECTED = [
    (KeyError(220), "something went wrong that should not (KeyError: 220). Run it again", 70),
    (MemoryError(), "there is not enough memory for this.", 70),
    (RecursionError("deep"), "the input is nested more deeply than can be followed.", 70),
    (OSError(errno.EIO, "Input/output error", "m.uvl"), "m.uvl cannot be read or written: Input/output error.", 74),
    (KeyboardInterrupt(), "interrupted; nothing was written.", 130),
]  # fmt: skip


@pytest.mark.parametrize(("error", "sentence", "code"), UNEXPECTED, ids=lambda one: type(one).__name__)
def test_whatever_happens_is_one_sentence_and_the_traceback_only_comes_when_asked_for(
    error: BaseException, sentence: str, code: int, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("shortlist.products.formats.read_model", fail)
    run = shortlist("model", "info", "m.uvl", cwd=made)
    assert (run.returncode, run.stdout) == (code, "")
    assert run.stderr.startswith(f"shortlist: {sentence}")
    assert run.stderr.count("\n") == 1
    for words in (["--debug", "model", "info", "m.uvl"], ["model", "info", "m.uvl", "--debug"]):
        run = shortlist(*words, cwd=made)
        assert run.returncode == code
        assert "Traceback" in run.stderr or code == 130
        assert f"shortlist: {sentence}" in run.stderr.splitlines()[-1]


def test_a_warning_of_the_library_is_a_note(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(*_: Any, **__: Any) -> None:
        warnings.warn("few rows.", stacklevel=1)
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.products.formats.read_model", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        run = shortlist("model", "info", "m.uvl", cwd=made)
    assert run.stderr.splitlines()[0] == "shortlist: note: few rows."


def test_a_result_for_which_there_is_no_place_at_all_is_said_so(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    run = shortlist(*CONFIGURE, "--out", "w.parquet", cwd=made)
    assert run.returncode == 74
    assert "the temporary folder cannot be written either: No space" in run.stderr.splitlines()[-1]


def test_what_is_wrong_with_the_input_is_not_taken_for_a_full_disk(made: Path, elsewhere: Path) -> None:
    (made / "other.uvl").write_text("features\n\tOther\n", encoding="utf-8")
    for model in ("other.uvl", "table.csv"):
        run = shortlist("front", "pick", "front.parquet", "--model", model, "--out", "w.uvl", cwd=made)
        assert run.returncode == 2
        assert model in run.stderr
    assert list(elsewhere.iterdir()) == []
    (made / "other.uvl").unlink()


def test_what_fails_on_the_way_out_of_an_interruption_is_one() -> None:
    late, other = RuntimeError("generator did not stop"), RuntimeError("something else")
    late.__context__ = KeyboardInterrupt()

    assert [ended(error, str)[1] for error in (late, other)] == [130, 70]


def test_the_completion_of_a_shell_is_printed_and_ends_well(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "shortlist", "--show-completion", "bash"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "SHELL": "/bin/bash", "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "something went wrong" not in run.stderr
