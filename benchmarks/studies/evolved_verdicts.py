"""Told lead of an evolved ensemble over its best individual beside the true one, on draws of rows from large tables.

python -m benchmarks evolved-verdicts --data FOLDER [--seeds 20]

An ensemble is evolved on the drawn rows, and answers up to 15,000 other rows of the table, as the best individual of
its last generation does: that is the true lead. Every rule tells the lead from the draw alone: a tenth of it that is
held out, or its parts, each answered by what the other parts evolve. The interval is the paired one of the rows, and with
``parts`` it allows for how far evolutions outside other parts are apart. Draws are kept in `evolved-verdict-draws.csv`, and
those that are there are not evolved again.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.rows import RESULTS
from benchmarks.studies.verdicts import MOST_TRUE_ROWS, TABLES, Table, keep_draws, summaries
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.errors import UnknownWordWarning
from shortlist.results.intervals import variance_of_fits
from shortlist.results.repeated_choice import choose_again
from shortlist.tables.splits import deal_folds, hold_out

DRAWS = "evolved-verdict-draws.csv"
BRED: dict[str, Any] = {"population_size": 100, "n_generations": 50}
MODES = ("offline", "online")
OWN_TABLES = ("default", "bank", "words", "spambase", "classes")
SIZES = (300, 1000)
N_DRAWS = 20
A_TENTH = "a tenth held out"
PARTITIONS = {"2 parts x 5": (2, 5), "5 parts": (5, 1), "5 parts x 2": (5, 2)}
"""Rules that evolve again outside each part: how many parts, and how often they are dealt."""
COLUMNS = (
    "table", "n_rows", "draw", "mode", "rule", "told", "paired", "parts", "true", "true_error", "ensemble", "alone",
    "size",
)  # fmt: skip

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class EvolvedDraw:
    """Drawn rows, and evolutions on some of them.

    `table`: drawn rows with their classes. `mode`, `seed`: of evolution.
    """

    def __init__(self, table: Table, mode: str, seed: int) -> None:
        self.X, self.y = table
        self.classifier = EvolutionaryEnsembleClassifier(mode, random_state=seed, **BRED)

    def rights(self, kept: Rows, X: pd.DataFrame, y: NDArray[np.intp]) -> Floats:
        """Return where ensemble and best individual that evolved on some rows are right, ``(n_asked, 2)``."""
        one, X_kept, y_kept = self.classifier, self.X.iloc[kept], self.y[kept]
        one.fit(X_kept, y_kept)
        population, asked = one.result_.population, one.encoder_.transform(X)
        own = one.space_.predict(population, one.encoder_.transform(X_kept))
        best = (one.classes_[own] == y_kept[:, None]).sum(axis=0).argmax()
        alone = one.classes_[one.space_.predict(population[[best]], asked)[:, 0]]
        return np.column_stack([one.predict(X) == y, alone == y]).astype(np.float64)

    def leads(self, kept: Rows, held: Rows) -> Floats:
        """Return the right answers of the ensemble less those of the individual, by held row."""
        rights = self.rights(kept, self.X.iloc[held], self.y[held])
        return np.asarray(rights[:, 0] - rights[:, 1])

    def told(self) -> dict[str, tuple[float, float, float]]:
        """Return the lead by each rule, with its standard error: of rows alone, and of rows and evolutions."""
        n, found = len(self.y), {}
        lead = self.leads(*hold_out(self.y, 0.1, 0))
        error = lead.std(ddof=1) / len(lead) ** 0.5
        found[A_TENTH] = (lead.mean(), error, error)
        dealt: dict[int, Floats] = {}
        part_of: dict[int, NDArray[np.int8]] = {}
        for n_parts in {parts for parts, _ in PARTITIONS.values()}:
            times = max(often for parts, often in PARTITIONS.values() if parts == n_parts)
            parts = np.stack([deal_folds(self.y, n_parts, 1000 + deal) for deal in range(times)])
            again = choose_again(parts, lambda kept, held: {"lead": self.leads(kept, held)})
            dealt[n_parts], part_of[n_parts] = again["lead"].reshape(times, n), parts
        for rule, (n_parts, times) in PARTITIONS.items():
            each, part = dealt[n_parts][:times], part_of[n_parts][:times]
            of_rows = each.var(axis=1, ddof=1).mean() / n
            of_fits = variance_of_fits(each.ravel(), part.ravel(), times)
            found[rule] = (each.mean(), np.sqrt(of_rows), np.sqrt(of_rows + of_fits))
        return found


def rows_of(table: Table, n_rows: int, mode: str, draw: int) -> Iterator[dict[str, Any]]:
    """Yield the told lead of a draw by every rule, beside the truth."""
    X, y = table
    rest, drawn = train_test_split(np.arange(len(y)), test_size=n_rows, stratify=y, random_state=draw)
    one = EvolvedDraw((X.iloc[drawn].reset_index(drop=True), y[drawn]), mode, draw)
    others = rest[:MOST_TRUE_ROWS]
    rights = one.rights(np.arange(n_rows), X.iloc[others].reset_index(drop=True), y[others])
    size, lead = len(one.classifier.members_), rights[:, 0] - rights[:, 1]
    for rule, (told, paired, parts) in one.told().items():
        yield {
            "n_rows": n_rows, "draw": draw, "mode": mode, "rule": rule, "told": round(float(told), 6),
            "paired": round(float(paired), 6), "parts": round(float(parts), 6), "true": round(float(lead.mean()), 6),
            "true_error": round(float(lead.std() / np.sqrt(len(lead))), 6), "size": size,
            "ensemble": round(float(rights[:, 0].mean()), 6), "alone": round(float(rights[:, 1].mean()), 6),
        }  # fmt: skip


def evolved_verdicts(folder: Path, *, seeds: int = N_DRAWS) -> Iterator[dict[str, Any]]:
    """Yield the worth of each rule, after making the draws that are not kept."""
    file = RESULTS / DRAWS
    known = pd.read_csv(file) if file.exists() else pd.DataFrame(columns=list(COLUMNS))
    names = ["table", "n_rows", "mode", "draw"]
    done = set(known[names].itertuples(index=False, name=None))
    warnings.simplefilter("ignore", UnknownWordWarning)
    tables = {name: TABLES[name](folder) for name in OWN_TABLES}
    for draw in range(seeds):
        for mode in MODES:
            for n_rows in SIZES:
                for name, table in tables.items():
                    if (name, n_rows, mode, draw) not in done:
                        found = rows_of(table, n_rows, mode, draw)
                        keep_draws(({"table": name, **row} for row in found), DRAWS, COLUMNS)
    yield from told_of_draws(pd.read_csv(file))


def told_of_draws(draws: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the worth of each rule, with either interval, by mode and number of rows."""
    names = [*COLUMNS, "single", "rows", "low", "high"]
    whole = draws.assign(single="best individual").reindex(columns=names)
    for mode, rows in whole.groupby("mode", sort=False):
        tables = f"{rows['table'].nunique()} tables"
        yield from (
            {"mode": mode, **row} for row in summaries(rows, tables=tables) if row["interval"] != "rows"
        )
