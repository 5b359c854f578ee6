"""A folder with one of everything that commands read, and command lines that work there."""

from pathlib import Path

import numpy as np
import pandas as pd

from tests.cli.running import shortlist

MODEL = """features
    Phone
        mandatory
            Screen {cost 3}
        optional
            GPS {cost 4}
            Camera {cost 2}
"""

PROGRAM = """Minimize multi-objectives
 cost:
  3 x + 2 y
 value:
  Weight=-1 5 x + y
Subject To
 room: x + y >= 1
Bounds
 y <= 3
Binary
 x
General
 y
End
"""

PRUNE = ["prune", "table.csv", "--classifiers", "5", "--method", "backfitting", "--workers", "1"]
FOLDS = [
    "compare", "table.csv", "--set", "classifiers=5", "--methods", "uwa,full", "--set", "folds=2", "--workers", "1",
]  # fmt: skip
SPLITS = ["--methods", "single,l1-path", "--set", "seeds=6"]
FRONT = [*PRUNE[:4], "--objectives", "max accuracy, min size", "--workers", "1"]
STAGE = ["stage", "table.csv", "--set", "max-stages=2", "--method", "enumerate", "--workers", "1"]
EVOLVE = ["evolve", "table.csv", "--set", "generations=2", "--set", "population=10", "--workers", "1"]
CONFIGURE = ["configure", "m.uvl", "--objectives", "min cost, max selected", "--set", "default=cost=0"]
COMPARE = ["compare", "m.uvl", *CONFIGURE[2:], "--methods", "solrep", "--set", "points=3"]
SOLVE = ["solve", "p.lp", "--objectives", "min cost, max value"]
ANSWERED = ["answers.csv", "--target", "truth"]
WRITING = {
    "panel --out": ["panel", *ANSWERED, "--out", "w.json"],
    "panel --out of a front": ["panel", *ANSWERED, "--out", "w.parquet"],
    "panel --out of a page": ["panel", *ANSWERED, "--out", "w.html"],
    "prune --out": [*PRUNE, "--out", "w.joblib"],
    "prune --out of a front": [*FRONT, "--out", "w.joblib"],
    "compare --out of pruning": [*FOLDS, "--out", "w.parquet"],
    "evolve --out": [*EVOLVE, "--out", "w.joblib"],
    "predict --out": ["predict", "model.joblib", "table.csv", "--out", "w.csv"],
    "verify --certificate": ["verify", "exact.joblib", "table.csv", "--certificate", "w.json"],
    "configure --out": [*CONFIGURE, "--out", "w.parquet"],
    "compare --out": [*COMPARE, "--out", "w.parquet"],
    "compare --out of a page": [*COMPARE, "--out", "w.html"],
    "solve --out": [*SOLVE, "--out", "w.parquet"],
    "solve --out of a page": [*SOLVE, "--out", "w.html"],
    "stage --out": [*STAGE, "--out", "w.parquet"],
    "stage --out of a model": [*STAGE, "--out", "w.joblib"],
    "stage use --out": ["stage", "use", "stages.joblib", "--pick", "norm", "--out", "w.joblib"],
    "prune --out of a page": [*PRUNE, "--out", "w.html"],
    "compare --out of a page of pruning": [*FOLDS, "--out", "w.html"],
    "evolve --out of a page": [*EVOLVE, "--out", "w.html"],
    "stage --out of a page": [*STAGE, "--out", "w.html"],
    "configure --out of a page": [*CONFIGURE, "--out", "w.html"],
    "export --out": ["export", "exact.joblib", "table.csv", "--out", "w.json"],
    "export --out of a reader": ["export", "exact.joblib", "table.csv", "--out", "p.json", "--out", "w.py"],
    "report --out": ["report", "model.joblib", "--out", "w.html"],
    "front plot --out": ["front", "plot", "front.parquet", "--out", "w.svg"],
    "front diff --out": ["front", "diff", "front.parquet", "front.parquet", "--out", "w.csv"],
    "front export --out": ["front", "export", "front.parquet", "--out", "w.csv"],
    "model sample --out": ["model", "sample", "m.uvl", "--out", "w.csv"],
    "model convert --out": ["model", "convert", "m.uvl", "--out", "w.xml"],
    "model check --out": ["model", "check", "m.uvl", "products.csv", "--out", "w.csv"],
    "model slice --out": ["model", "slice", "m.uvl", "--keep", "Phone,GPS", "--out", "w.cnf"],
    "model convert --out of attributes": ["model", "convert", "m.uvl", "--out", "c.xml", "--out", "w.xlsx"],
    "front pick --out": ["front", "pick", "front.parquet", "--out", "w.uvl"],
    "front pick --out of a few": ["front", "pick", "front.parquet", "--few", "2", "--out", "w.csv"],
    "front pick --out of a page": ["front", "pick", "front.parquet", "--few", "2", "--out", "w.html"],
}
"""Commands that write a file, by the option that names it; every such option of every command."""

ADDING = {
    "configure --study": [*CONFIGURE, "--method", "solrep", "--set", "points=3", "--study", "w.db"],
    "solve --study": [*SOLVE, "--method", "solrep", "--set", "points=3", "--study", "w.db"],
    "evolve --study": [*EVOLVE, "--study", "w.db"],
    "compare --study of stages": ["compare", "table.csv", *SPLITS, "--study", "w.db"],
    "compare --study": [*COMPARE, "--study", "w.db"],
    "compare --study of pruning": [*FOLDS, "--study", "w.db"],
    "prune --study": [*PRUNE, "--study", "w.db"],
    "stage --study": [*STAGE, "--study", "w.db"],
}
"""Commands that add to a file while they work."""

PRINTING = {
    "measure": ["measure", "panel.json", *ANSWERED],
    "predict": ["predict", "model.joblib", "table.csv"],
    "configure": [*CONFIGURE, "--json"],
    "solve": [*SOLVE, "--json"],
    "front show": ["front", "show", "front.parquet"],
    "front diff": ["front", "diff", "front.parquet", "front.parquet"],
    "model info": ["model", "info", "m.uvl"],
    "model analyse": ["model", "analyse", "m.uvl"],
    "model diff": ["model", "diff", "m.uvl", "m.uvl"],
    "model check": ["model", "check", "m.uvl", "products.csv"],
    "model sample": ["model", "sample", "m.uvl"],
    "help": ["prune", "--help"],
}


def fill(folder: Path) -> None:
    """Put a table, models of every kind and a front into a folder."""
    rows = pd.DataFrame({"a": [i / 2 for i in range(60)], "b": [i * 7 % 11 for i in range(60)]})
    rows.assign(target=["no"] * 30 + ["yes"] * 30).to_csv(folder / "table.csv", index=False)
    said = [["no", "yes", "yes"][(i + j) % 3] for i in range(60) for j in range(4)]
    answers = pd.DataFrame(np.reshape(said, (60, 4)), columns=["one", "two", "three", "truth"])
    answers.to_csv(folder / "answers.csv", index=False)
    (folder / "m.uvl").write_text(MODEL, encoding="utf-8")
    (folder / "p.lp").write_text(PROGRAM, encoding="utf-8")
    (folder / "products.csv").write_text("Phone,Screen,GPS,Camera\n1,1,0,1\n", encoding="utf-8")
    exact = [
        "prune", "table.csv", "--classifiers", "3", "--workers", "1", "--pick", "committee", "--out", "exact.joblib",
    ]  # fmt: skip
    stages = [*STAGE, "--out", "stages.joblib"]
    panel = ["panel", *ANSWERED, "--out", "panel.json"]
    for words in (
        panel,
        [*PRUNE, "--out", "model.joblib"],
        exact,
        stages,
        [*CONFIGURE, "--out", "front.parquet"],
    ):
        run = shortlist(*words, cwd=folder)
        assert run.returncode == 0, run.stderr
