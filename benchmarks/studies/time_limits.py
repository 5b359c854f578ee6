"""How long commands take that are given three seconds on hard instances, beside what they take without a search.

python -m benchmarks time-limits
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

N_FEATURES, N_CLAUSES = 400, 1680
QUESTION = ("--objectives", "min cost, min defects, max selected", "--attributes", "attributes.csv")
JUDGES = ("--answers", "--target", "truth", "--costs", "prices.csv")
METHODS = (
    "auto", "exact", "diagram", "solrep", "cwmoip", "epsilon-constraint", "ibea", "satibea", "ibed", "nsga2",
)  # fmt: skip

COMMANDS = (
    ("model", "info", "hard.dimacs"),
    ("model", "analyse", "hard.dimacs"),
    ("model", "diff", "hard.dimacs", "other.dimacs"),
    ("model", "sample", "hard.dimacs", "--kind", "uniform", "--n", "5"),
    ("model", "sample", "hard.dimacs", "--kind", "diverse", "--n", "5"),
    ("model", "slice", "hard.dimacs", "--keep", "f1", "--keep", "f2", "--out", "slice.uvl"),
    ("model", "convert", "hard.dimacs", "--out", "converted.uvl"),
    *(("configure", "hard.dimacs", *QUESTION, "--method", method) for method in METHODS),
    ("compare", "hard.dimacs", *QUESTION, "--methods", "exact,satibea", "--set", "seeds=1"),
    ("prune", "table.csv", "--classifiers", "60"),
    ("prune", "table.csv", "--classifiers", "60", "--set", "voting=hard", "--objective", "accuracy"),
    ("prune", "table.csv", "--classifiers", "60", "--objectives", "max accuracy, min size"),
    ("prune", "answers.csv", *JUDGES),
    ("prune", "answers.csv", *JUDGES, "--objectives", "max accuracy, min price-paid"),
    ("stage", "table.csv", "--set", "max-stages=3", "--method", "windows"),
    ("stage", "table.csv", "--set", "max-stages=3", "--method", "emsco"),
)  # fmt: skip


def make_instances(folder: Path) -> None:
    """Write satisfiable 3-clauses, a table that nobody separates, and answers of 25 judges on 5,000 rows."""
    rng = np.random.default_rng(0)
    planted = rng.integers(0, 2, N_FEATURES + 1).astype(bool)
    clauses: list[list[int]] = []
    while len(clauses) < N_CLAUSES:
        signs = rng.choice((-1, 1), 3)
        clause = (signs * (rng.choice(N_FEATURES, 3, replace=False) + 1)).tolist()
        if any((literal > 0) == planted[abs(literal)] for literal in clause):
            clauses.append(clause)
    head = [f"c {i} f{i}" for i in range(1, N_FEATURES + 1)] + [f"p cnf {N_FEATURES} {N_CLAUSES}"]
    for name, last in (("hard", clauses[-1]), ("other", [-literal for literal in clauses[-1]])):
        rows = [" ".join(map(str, [*clause, 0])) for clause in [*clauses[:-1], last]]
        (folder / f"{name}.dimacs").write_text("\n".join([*head, *rows]) + "\n")
    features = [f"f{i}" for i in range(1, N_FEATURES + 1)]
    numbers = {"cost": rng.integers(1, 999, N_FEATURES), "defects": rng.integers(0, 50, N_FEATURES)}
    pd.DataFrame({"feature": features} | numbers).to_csv(folder / "attributes.csv", index=False)
    X, y = make_classification(2000, 30, n_informative=12, flip_y=0.2, random_state=0)
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(30)]).assign(target=np.where(y, "a", "b"))
    table.to_csv(folder / "table.csv", index=False)
    truth = rng.integers(0, 3, 5000)
    right = rng.random((5000, 25)) < np.linspace(0.5, 0.8, 25)
    said = np.where(right, truth[:, None], rng.integers(0, 3, (5000, 25)))
    judges = [f"j{i}" for i in range(25)]
    answers = pd.DataFrame(np.array(list("xyz"))[said], columns=judges)
    answers.assign(truth=np.array(list("xyz"))[truth]).to_csv(folder / "answers.csv", index=False)
    prices = pd.DataFrame({"name": judges, "cost": rng.integers(1, 99, 25)})
    prices.to_csv(folder / "prices.csv", index=False)


def kept(*, limit_s: float = 3.0, almost_none_s: float = 0.01) -> Iterator[dict[str, Any]]:
    """Yield a row for each command: seconds of the clock and of processors, with the limit and with hardly any.

    What a command reads and fits is no part of its limit, so it is measured by the second run.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_instances(folder)
        for command in COMMANDS:
            wall_without, cpu_without, _ = _run(command, almost_none_s, folder)
            wall, cpu, code = _run(command, limit_s, folder)
            yield {
                "case": "time-limits", "command": " ".join(command), "limit_s": limit_s, "exit_code": code,
                "wall_s": wall, "cpu_s": cpu, "wall_without_s": wall_without, "cpu_without_s": cpu_without,
                "beyond_s": round(cpu - cpu_without - limit_s, 2),
            }  # fmt: skip


def _run(command: tuple[str, ...], limit_s: float, folder: Path) -> tuple[float, float, int]:
    """Return seconds of the clock and of processors, and the exit code."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    told = [sys.executable, "-m", "shortlist", *command, "--time-limit", str(limit_s)]
    code = subprocess.run(told, cwd=folder, capture_output=True, check=False).returncode  # ours
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(time.perf_counter() - start, 2), round(cpu, 2), code
