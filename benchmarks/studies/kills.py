"""Kill -9 at random moments: does every resumed study end in the answer of an undisturbed run?

python -m benchmarks kills
"""

import contextlib
import dataclasses
import importlib
import itertools
import json
import os
import pkgutil
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import shortlist
from shortlist.runs.study_file import summary

MODEL = """features
    Phone
        mandatory
            Screen {cost 3}
        optional
            GPS {cost 4}
            Camera {cost 2}
            Radio {cost 5}
"""
ASKED = ["m.uvl", "--objectives", "min cost, max selected", "--set", "default=cost=0"]
IRIS, CANCER = "example:iris", "example:breast-cancer"
VOTES, MEANS = "max accuracy, min size", "min log-loss, max accuracy, min size"
COMMANDS = {
    "prune": ["prune", IRIS, "--classifiers", "10", "--objective", "auto", "--workers", "1"],
    "compare of pruning": ["compare", IRIS, "--methods", "uwa,full", "--set", "folds=6", "--set", "classifiers=5"],
    "prune, front of votes": ["prune", CANCER, "--classifiers", "30", "--objectives", VOTES],
    "prune, front of means": ["prune", CANCER, "--classifiers", "16", "--objectives", MEANS],
    "stage, evolution": ["stage", CANCER, "--method", "emsco", "--set", "population=40", "--set", "generations=30"],
    "stage, enumeration": ["stage", "example:wine", "--method", "enumerate", "--set", "max-stages=3"],
    "compare of stages": ["compare", IRIS, "--methods", "emsco,single", "--set", "seeds=10"],
    "evolve": ["evolve", CANCER, "--set", "generations=60", "--set", "population=60"],
    "evolve online": ["evolve", CANCER, "--set", "generations=40", "--set", "population=60", "--method", "online"],
    "configure solrep": ["configure", *ASKED, "--method", "solrep", "--set", "points=150"],
    "compare of evolution": ["compare", *ASKED, "--methods", "ibed,satibea", "--set", "evaluations=20000", "--set", "seeds=1"],
    "compare": ["compare", *ASKED, "--methods", "solrep,ibea", "--set", "points=30", "--set", "seeds=6",
                "--set", "evaluations=3000"],
    "reproduce": ["reproduce", "emsco"],
}  # fmt: skip
"""Commands with some seconds of work, of every kind that has a study; reproduce takes a small paper."""


def kills(
    n_kills: int = 200, seed: int = 0, names: Sequence[str] = tuple(COMMANDS)
) -> Iterator[dict[str, Any]]:
    """Kill each command in turn at a moment drawn from its length, go on, and compare the answers.

    Every third study is killed once more while it goes on. Commands run in copies of this process, which has
    imported everything, so that most moments are in the work and not in its beginning.
    """
    _import_everything()
    draw, left = random.Random(seed), n_kills
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        Path("m.uvl").write_text(MODEL, encoding="utf-8")
        whole, lengths = {}, {}
        for name in names:
            _ended(_begun(name))  # kernels are compiled
            start = time.perf_counter()
            whole[name] = _ended(_begun(name))
            lengths[name] = time.perf_counter() - start
        for number, name in enumerate(itertools.cycle(names)):
            study = Path(f"{number}.db")
            killed = 0
            for _ in range(2 if number % 3 == 2 else 1):
                process = _begun(name, "--study", str(study))
                time.sleep(draw.uniform(0.0, lengths[name]))
                killed += _killed(process)
            found = summary(study) if study.is_file() else None
            answer = _ended(_begun(name, "--study", str(study)))
            yield {
                "command": name, "kills": killed,
                "units kept": found["n_done"] if found else 0,
                "states kept": len(found["checkpoints"]) if found else 0,
                "same": answer == whole[name],
            }  # fmt: skip
            left -= killed
            if left <= 0:
                return


def _import_everything() -> None:
    """Import all modules that commands may, and make the paper small that is run again."""
    for module in pkgutil.walk_packages(shortlist.__path__, "shortlist."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)
    from shortlist_papers.paper import PaperPlan
    from shortlist_papers.papers import PAPERS
    from shortlist_papers.stage_opponents import OpponentsSize, opponent_units

    size = OpponentsSize(("synthetic30",), 3, 0)
    plan = PaperPlan(tuple(opponent_units(None, size.sets, size)), {})
    PAPERS["emsco"] = dataclasses.replace(PAPERS["emsco"], plan=lambda _folder, _extent: plan)


def _begun(name: str, *more: str) -> int:
    """Begin a command in a copy of this process, with its answer in a file; return its number."""
    process = os.fork()
    if process:
        return process
    try:
        os.setpgid(0, 0)
        for number, file in ((1, "answer"), (2, "said")):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        sys.argv[1:] = [*COMMANDS[name], "--json", *more]
        from shortlist.cli.main import run_command

        run_command()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:  # noqa: BLE001  # a copy must not go on where this process was
        traceback.print_exc()
        code = 70
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _killed(process: int) -> bool:
    """Kill a command; return whether it had not ended."""
    os.kill(process, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(process, 0)[1])


def _ended(process: int) -> Any:
    """Wait for a command and return its answer, without what differs from run to run."""
    status = os.waitpid(process, 0)[1]
    if status:
        raise RuntimeError(Path("said").read_text(encoding="utf-8"))
    return timeless(json.loads(Path("answer").read_text(encoding="utf-8")))


SET_ASIDE = {"study", "options", "history", "ms_per_1000_predictions", "n_fits"}
"""Keys in which a resumed run differs, although its answer is the same: where, when, and how often."""


def timeless(facts: Any) -> Any:
    """Return an answer without what differs from run to run."""
    if isinstance(facts, dict):
        return {
            name: timeless(value)
            for name, value in facts.items()
            if "seconds" not in name and name not in SET_ASIDE
        }
    return [timeless(one) for one in facts] if isinstance(facts, list) else facts
