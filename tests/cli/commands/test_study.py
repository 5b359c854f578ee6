"""`shortlist study`, and commands that are killed and gone on with."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.studies.kills import timeless
from shortlist.runs import open_study
from tests.cli.killed import kill_after
from tests.cli.made import COMPARE, CONFIGURE, EVOLVE, FOLDS, SOLVE
from tests.cli.refusals import refuse
from tests.cli.running import done, shortlist

SOLREP = [*CONFIGURE, "--method", "solrep", "--set", "points=6"]
RUNS = [
    "compare", *COMPARE[1:-4], "--methods", "solrep,ibea", "--set", "points=4", "--set", "seeds=3", "--set", "evaluations=300",
]  # fmt: skip
PROOF = ["prune", "table.csv", "--classifiers", "6", "--objective", "accuracy", "--workers", "1"]
WALK = ["stage", "example:iris", "--method", "enumerate", "--workers", "1"]
EVOLVED = ["stage", "example:iris", "--method", "emsco", "--set", "population=20", "--set", "generations=12"]
RECALL = [*WALK, "--set", "recall=3", "--set", "population=10", "--set", "generations=5"]
ONLINE = ["--set", "generations=8", "--set", "population=10", "--method", "online", "--set", "patience=6"]
KILLED = {
    "configure solrep": (SOLREP, [1, 5]),
    "configure solrep adaptive": ([*SOLREP, "--set", "rule=adaptive"], [4]),
    "configure exact": ([*CONFIGURE, "--method", "exact"], [1, 3]),
    "solve": (SOLVE, [1, 2]),
    "compare": (RUNS, [3, 12]),
    "compare of pruning": (FOLDS, [1]),
    "compare of evolution": (
        [*RUNS[:-7], "ibed,satibea", "--set", "evaluations=900", "--set", "seeds=1"],
        [1, 6],
    ),
    "evolve": (
        [*EVOLVE[:2], "--set", "generations=8", "--set", "population=10", "--set", "space=networks"],
        [1, 5],
    ),
    "evolve online": ([*EVOLVE[:2], *ONLINE], [4]),
    "prune": (PROOF, [3, 6]),
    "stage, enumeration": (WALK, [5, 20]),
    "stage, evolution": (EVOLVED, [2, 9]),
    "stage --recall": (RECALL, [49]),
}
"""Commands, and after how many records each is killed."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_records"), [(name, n) for name, (_, numbers) in KILLED.items() for n in numbers]
)
def test_a_killed_command_is_resumed_to_the_answer_of_an_undisturbed_run(
    name: str, n_records: int, made: Path, tmp_path: Path
) -> None:
    words = [*KILLED[name][0], "--json"]
    study = tmp_path / "s.db"
    assert kill_after(n_records, *words, "--study", str(study), cwd=made), "it ended before it was killed"
    with open_study(study) as opened:
        kept = opened.results()
    resumed = done("study", "resume", study, cwd=tmp_path)
    with open_study(study) as opened:
        assert kept.items() <= opened.results().items()
    fresh = shortlist(*words, cwd=made)
    assert timeless(json.loads(resumed.stdout)) == timeless(json.loads(fresh.stdout))


@pytest.fixture
def study(made: Path, tmp_path: Path) -> Path:
    path = tmp_path / "s.db"
    done(*SOLREP, "--study", path, cwd=made)
    return path


def test_a_study_is_shown_with_its_command_and_counts(study: Path, tmp_path: Path) -> None:
    facts = json.loads(shortlist("study", "show", study, "--json", cwd=tmp_path).stdout)
    assert facts["n_done"] == 10
    assert facts["asked"]["command"] == "configure"
    assert {"shortlist", "python", "numpy"} <= set(facts["asked"]["versions"])


def test_a_damaged_study_is_told(study: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(study.read_bytes()[:4096] + b"\xa5" * 40_000)
    refuse("study", "show", damaged, message="is damaged", cwd=tmp_path)


def test_a_time_limit_begins_anew_and_says_so(made: Path, tmp_path: Path) -> None:
    words = [*SOLREP, "--study", str(tmp_path / "s.db"), "--time-limit", "1000"]
    first, again = (shortlist(*words, cwd=made) for _ in range(2))
    assert "starts again" not in first.stderr
    assert "the time limit starts again" in again.stderr


def test_a_command_of_a_stranger_is_told_and_not_run(study: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(study)) as file:
        file.execute("UPDATE rows SET value = ? WHERE key = 'words'", (json.dumps(["prune", "evil.csv"]),))
        file.commit()
    refuse("study", "resume", study, message="type it: shortlist prune evil.csv", cwd=tmp_path)


def test_what_cannot_be_resumed_is_one_sentence(tmp_path: Path) -> None:
    refuse("study", "show", "no.db", message="no.db cannot be read", cwd=tmp_path)
    with open_study(tmp_path / "bare.db"):
        pass
    refuse("study", "resume", "bare.db", message="holds no command", cwd=tmp_path)
