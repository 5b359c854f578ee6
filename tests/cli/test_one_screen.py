"""Every command answers on one screen, 24 lines of 100 columns, which is stored in ``tests/screens``.

``make screens`` writes the screens anew; the difference is then read before it is committed. Run times are ``#``.
Elsewhere tests hold values and what a sentence depends on, and not its words.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shortlist.datasets.examples import write_example
from shortlist.datasets.registry import public_set
from shortlist_papers.papers import PAPERS
from tests.cli.command_lines import commands
from tests.cli.made import ADDING, ANSWERED, CONFIGURE, FRONT, PRINTING, PRUNE, WRITING, fill
from tests.cli.running import Ran, done, shortlist, without_seconds
from tests.datasets.originals import original_of, table_rows
from tests.shortlist_papers.small_emsco import SMALL_EMSCO
from tests.stored import SCREENS

DEFAULTS = [word for name in ("cost", "grams", "hours", "appeal") for word in ("--set", f"default={name}=0")]

VOLATILE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|(?<=Folder:  )\S+|(?<= s of work, on ).*(?=\.)|[\d.]+ MB")
"""Begin, folder and size of a study, and the name of the processor."""

CUSTOMERS = """Kunde;Camera;Stylus;SolarBack;most cost;hours at least
Maier;ja;nein;;110;
Huber;x;ja;;95,50;19
Lang;;;ja;;15
"""

LINES, WIDTH = 24, 100
"""Lines and columns of a terminal by default."""

FETCHED = {"datasets fetch"}
"""Commands that need an original file of a public set."""

ROWS = {"predict", "model sample"}
"""Commands that print a table of the user's rows for other programs."""

MORE = {
    "prune with a promise": [*PRUNE, "--answer-accuracy", "0.7", "--set", "confidence-level=0.6"],
    "prune with a promise that nothing keeps": [*PRUNE, "--answer-accuracy", "0.999"],
    "prune of means": [*PRUNE[:4], "--workers", "1"],
    "prune by recall": [*PRUNE[:4], "--workers", "1", "--objective", "recall"],
    "prune within limits that nothing keeps": [
        *PRUNE[:4], "--workers", "1", "--objective", "accuracy", "--set", "diversity=mean=0.999", "--set", "min-size=3",
    ],
    "prune --pick smallest": [*PRUNE[:4], "--workers", "1", "--pick", "smallest"],
    "prune --answers": ["prune", *ANSWERED, "--answers"],
    "prune --answers --costs": ["prune", *ANSWERED, "--answers", "--costs", "prices.csv", "--set", "max-cost=3"],
    "prune --answers --objectives": [
        "prune", *ANSWERED, "--answers", "--costs", "prices.csv", "--objectives", "max accuracy, min cost",
        "--out", "paid.parquet", "--out", "paid.joblib", "--out", "paid.html",
    ],
    "prune of long names": ["prune", "named.csv", "--target", "truth", "--answers", "--method", "full"],
    "verify": ["verify", "exact.joblib", "table.csv"],
    "verify of a rule": ["verify", "model.joblib", "table.csv"],
    "verify of products": ["verify", "front.parquet", "m.uvl"],
    "verify of stages": ["verify", "stages.joblib", "table.csv"],
    "verify of committees": ["verify", "committees.parquet", "table.csv", "--pruned", "committee.joblib"],
    "verify of another table": ["verify", "exact.joblib", "turned.csv"],
    "export as ONNX": ["export", "exact.joblib", "table.csv", "--out", "exact.onnx"],
    "export as a protocol": ["export", "stages.joblib", "--out", "protocol.md"],
    "measure": ["measure", "exact.joblib", "table.csv"],
    "predict --early-exit": ["predict", "exact.joblib", "table.csv", "--early-exit", "--out", "early.csv"],
    "report": ["report", "front.parquet", "--out", "again.html"],
    "front pick": ["front", "pick", "front.parquet"],
    "front pick --few": ["front", "pick", "front.parquet", "--few", "30"],
    "reproduce": ["reproduce", "emsco"],
    "reproduce --check": ["reproduce", "emsco", "--check", "made/emsco-rows.csv"],
    "example": ["example", "clinic"],
    "datasets list": ["datasets", "list"],
    "datasets show": ["datasets", "show", "bank-additional-full"],
    "study show": ["study", "show", "asked.db"],
    "study resume": ["study", "resume", "asked.db"],
    "front show of committees": ["front", "show", "committees.parquet", "--pick", "0"],
}  # fmt: skip
"""Command lines beside those that write, add and print."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("screen")
    fill(folder)
    (folder / "prices.csv").write_text("name,cost\none,1\ntwo,2.5\nthree,3\n")
    rows = (folder / "answers.csv").read_text().splitlines()
    names = [f"answers of the judge with a very long name indeed, number {n}" for n in range(60)]
    told = [f"{','.join([row.split(',')[n % 3] for n in range(60)])},{row.split(',')[3]}" for row in rows[1:]]
    header = ",".join([*(f'"{name}"' for name in names), "truth"])
    (folder / "named.csv").write_text("\n".join([header, *told]) + "\n")
    table = (folder / "table.csv").read_text()
    turned = table.replace(",no", ",maybe").replace(",yes", ",no").replace(",maybe", ",yes")
    (folder / "turned.csv").write_text(turned)
    for words in (
        [*FRONT, "--out", "committees.parquet", "--out", "committee.joblib"],
        [*CONFIGURE, "--method", "solrep", "--set", "points=3", "--study", "asked.db"],
    ):
        done(*words, cwd=folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(PAPERS, "emsco", SMALL_EMSCO)
        done("reproduce", "emsco", "--out", "made", cwd=folder)
        yield folder


def _command(words: list[str]) -> str:
    return next(name for n in (2, 1) if (name := " ".join(words[:n])) in commands())


TRIED = {
    what: [word.replace("w.db", f"{number}.db") for word in words]
    for number, (what, words) in enumerate((WRITING | ADDING | PRINTING | MORE).items())
    if {"--json", "--help"}.isdisjoint(words) and what not in ROWS
}


ASKED = {
    "wine": {
        "prune of wine": ["prune", "example:wine", "--classifiers", "12", "--workers", "1", "--out", "wine.joblib"],
        "verify of wine": ["verify", "wine.joblib", "example:wine"],
        "measure of wine": ["measure", "wine.joblib", "example:wine"],
        "evolve of wine": [
            "evolve", "example:wine", "--workers", "1", "--set", "generations=20", "--set", "population=20",
        ],
        "stage of wine": ["stage", "example:wine", "--confidence", "0.9", "--set", "max-stages=2", "--method", "enumerate", "--workers", "1"],
    },
    "clinic": {
        "prune where errors cost": [
            "prune", "patients.csv", "--target", "outcome", "--set", "keep=patient", "--classifiers", "12",
            "--workers", "1", "--error-costs", "ill=10", "--out", "costs.joblib",
        ],
        "stage where errors cost": [
            "stage", "patients.csv", "--target", "outcome", "--costs", "costs.csv", "--confidence", "0.8",
            "--error-costs", "ill=10", "--set", "max-stages=2", "--method", "enumerate", "--workers", "1", "--out", "stages.joblib",
        ],
        "stage of four stages where errors cost": [
            "stage", "patients.csv", "--target", "outcome", "--costs", "costs.csv", "--confidence", "0.8",
            "--error-costs", "ill=10", "--set", "max-stages=4", "--method", "windows", "--workers", "1",
            "--out", "four.joblib", "--out", "four.html", "--out", "four.parquet",
        ],
        "measure of stages": ["measure", "stages.joblib", "later.csv", "--target", "outcome"],
        "verify of stages of the clinic": ["verify", "stages.joblib", "patients.csv"],
    },
    "spam": {
        "panel of spam": ["panel", "answers.csv", "--costs", "prices.csv", "--set", "max-stages=2", "--out", "panel.json"],
        "panel of spam, details": [
            "panel", "answers.csv", "--costs", "prices.csv", "--set", "max-stages=2", "--details",
        ],
        "panel of spam with a promise": [
            "panel", "answers.csv", "--costs", "prices.csv", "--set", "max-stages=2", "--answer-accuracy", "0.9",
        ],
        "measure of a panel": ["measure", "panel.json", "answers.csv"],
    },
    "phone": {
        "configure phone": [
            "configure", "phone.uvl", *DEFAULTS, "--objectives", "min cost, min grams, max hours, max appeal",
            "--out", "phones.parquet",
        ],
        "configure within limits that contradict": [
            "configure", "phone.uvl", *DEFAULTS, "--objectives", "min cost, max appeal",
            "--limit", "cost<=100", "--limit", "appeal>=8",
        ],
        "front show of phones": ["front", "show", "phones.parquet"],
        "front pick of phones": ["front", "pick", "phones.parquet", "--limit", "cost<=150", "--pick", "lexicographic:hours"],
        "front pick --few of phones": ["front", "pick", "phones.parquet", "--few", "5"],
        "front pick --customers of phones": ["front", "pick", "phones.parquet", "--customers", "customers.csv"],
        "front pick --customers --few of phones": [
            "front", "pick", "phones.parquet", "--customers", "customers.csv", "--few", "2",
        ],
        "verify of phones": ["verify", "phones.parquet", "phone.uvl"],
        "model analyse of phone": ["model", "analyse", "phone.uvl"],
    },
    "machines": {
        "solve machines": ["solve", "machines.lp", "--out", "machines.parquet"],
        "verify of machines": ["verify", "machines.parquet", "machines.lp"],
    },
}  # fmt: skip
"""Questions of guides by example, in the order in which they are asked."""


@pytest.mark.slow
@pytest.mark.parametrize("what", TRIED)
def test_an_answer_is_the_stored_screen(folder: Path, what: str, bless: bool) -> None:
    run = shortlist(*TRIED[what], cwd=folder)
    _fits(run)
    _is_stored(what, TRIED[what], run, bless=bless)


@pytest.mark.slow
@pytest.mark.parametrize("example", ASKED)
def test_answers_about_an_example_are_the_stored_screens(tmp_path: Path, example: str, bless: bool) -> None:
    write_example(example, tmp_path)
    (tmp_path / "customers.csv").write_text(CUSTOMERS, encoding="utf-8")
    for what, words in ASKED[example].items():
        run = shortlist(*words, cwd=tmp_path)
        if "--details" not in words:
            _fits(run)
        _is_stored(what, words, run, bless=bless)


def test_every_stored_screen_has_its_command() -> None:
    known = {_screen(what) for what in [*TRIED, *(what for asked in ASKED.values() for what in asked)]}
    assert known == {*SCREENS.glob("*.txt")}


def _screen(what: str) -> Path:
    return SCREENS / f"{re.sub('[^a-z0-9]+', '-', what.lower()).strip('-')}.txt"


def _is_stored(what: str, words: list[str], run: Ran, *, bless: bool) -> None:
    """Assert that a command prints the stored screen, or store it."""
    said = VOLATILE.sub("#", without_seconds(run.stdout))
    code = f"\nexit {run.returncode}" if run.returncode else ""
    screen = f"$ shortlist {shlex.join(words)}\n{said}{code}\n"
    if bless:
        _screen(what).write_text(screen, encoding="utf-8")
    else:
        assert screen == _screen(what).read_text(encoding="utf-8")


def _fits(run: Any) -> None:
    """Assert that an answer fits; an address or a path alone in its line may be longer."""
    lines = run.stdout.splitlines()
    assert run.returncode in {0, 1, 3}, run.stderr
    assert lines
    assert len(lines) <= LINES, run.stdout
    assert [line for line in lines if len(line) > WIDTH and " " in line.strip()] == []


def test_a_fetched_set_is_told_on_one_screen(
    data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    data_set = public_set("heart-failure-clinical-records")
    assert data_set.source is not None
    (tmp_path / data_set.source.file).write_bytes(original_of(data_set, table_rows(data_set, data_folder)))
    _fits(shortlist("datasets", "fetch", data_set.name, "--data", ".", cwd=tmp_path))
    _fits(shortlist("datasets", "show", data_set.name, cwd=tmp_path))


def test_every_command_is_tried_here() -> None:
    tried = {_command(words) for words in TRIED.values()}
    assert tried | FETCHED | ROWS == {*commands()}
