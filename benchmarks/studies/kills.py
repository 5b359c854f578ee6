"""Kill -9 at random moments: does every resumed study end in the answer of an undisturbed run?

python -m benchmarks kills
"""

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODEL = """features
    Phone
        mandatory
            Screen {cost 3}
        optional
            GPS {cost 4}
            Camera {cost 2}
            Radio {cost 5}
"""
ASKED = ["m.uvl", "--objectives", "min cost, max selected", "--default", "cost=0"]
COMMANDS = {
    "configure": ["configure", *ASKED, "--method", "solrep", "--points", "300"],
    "compare": ["compare", *ASKED, "--methods", "solrep,ibea", "--points", "50", "--seeds", "20",
                "--evaluations", "2000"],
    "configure satibea": ["configure", *ASKED, "--method", "satibea", "--evaluations", "200000"],
    "configure ibed": ["configure", *ASKED, "--method", "ibed", "--evaluations", "200000"],
    "evolve": ["evolve", "example:breast-cancer", "--generations", "200", "--population", "100"],
    "evolve online": ["evolve", "example:breast-cancer", "--generations", "100", "--population", "100",
                      "--mode", "online", "--space", "rules", "--max-members", "100"],
    "prune": ["prune", "example:breast-cancer", "--methods", "uwa,full,margin", "--folds", "10",
              "--classifiers", "10"],
}  # fmt: skip
"""Commands whose study has some dozens of units, or states that are kept for some seconds."""


def kills(n_kills: int = 200, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Kill each command in turn at a moment drawn from its length, resume it, and compare the answers."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "m.uvl").write_text(MODEL, encoding="utf-8")
        whole, lengths = {}, {}
        for name, words in COMMANDS.items():
            _run(folder, *words, "--no-study", "--json")  # kernels are compiled
            start = time.perf_counter()
            whole[name] = _answer(_run(folder, *words, "--no-study", "--json"))
            lengths[name] = time.perf_counter() - start
        for number in range(n_kills):
            name = list(COMMANDS)[number % len(COMMANDS)]
            study = folder / f"{number}.db"
            command = [sys.executable, "-m", "shortlist", *COMMANDS[name], "--json", "--study", str(study)]
            with subprocess.Popen(
                command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as process:
                time.sleep(draw.uniform(0.0, lengths[name]))
                process.kill()
            resumed = _run(folder, *COMMANDS[name], "--json", "--study", str(study))
            yield {
                "command": name,
                "kill": number,
                "killed": process.returncode == -signal.SIGKILL,
                "same": _answer(resumed) == whole[name],
            }


def _run(folder: Path, *words: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "shortlist", *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return run.stdout


def _answer(printed: str) -> Any:
    """Return an answer without seconds, and without where its study is."""
    return _timeless(json.loads(printed))


def _timeless(facts: Any) -> Any:
    if isinstance(facts, dict):
        return {
            name: _timeless(value)
            for name, value in facts.items()
            if "seconds" not in name and name not in {"study", "options", "ms_per_1000_predictions"}
        }
    return [_timeless(one) for one in facts] if isinstance(facts, list) else facts
