"""Told lead of a committee over the best single classifier beside the true one, on draws of rows from large tables.

python -m benchmarks verdicts --data FOLDER [--seeds 40]

A pool of 40 classifiers is fitted on the drawn rows and cross-fitted there; committee and best single classifier are
chosen out of fold, fitted again on all drawn rows, and measured on up to 15,000 other rows of the table: that is the
true lead. Every rule tells the lead from the answers out of fold alone. Draws are kept in `verdict-draws.csv`, and those
that are there are not fitted again. With SHORTLIST_ANSWERS=FOLDER the answers of each draw are kept there, so that another
rule takes seconds.
"""

import csv
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit
from sklearn.model_selection import train_test_split

from benchmarks.data.uci import read_uci
from benchmarks.rows import RESULTS
from shortlist.ensembles.pools.answers import class_shares
from shortlist.ensembles.pools.fitting import cross_fit, make_pool, refit_members
from shortlist.ensembles.pools.pool import out_of_fold
from shortlist.ensembles.votes.soft_votes import WHOLE
from shortlist.results.intervals import MARGIN, Difference, Z
from shortlist.results.repeated_choice import choose_again
from shortlist.results.verdicts import Word, decide
from shortlist.tables.splits import deal_folds

N_CLASSIFIERS = 40
MOST_TRUE_ROWS = 15_000
SIZES = (1000, 300, 3000)
"""Rows of a draw."""

N_DRAWS = 40
NOTHING, NOTHING_ROWS, NOTHING_DRAWS = "nothing to tell", 200, 200
"""Name, rows and draws of the answers that know nothing."""
N_BOOTSTRAPS = 200
SINGLES = ("accuracy", "log-loss")
"""Criteria for the best single classifier."""
ONCE, BOOTSTRAP = "selection rows", f"bootstrap x {N_BOOTSTRAPS}"
PARTITIONS = {
    "2 parts x 5": (2, 5), "2 parts x 10": (2, 10), "3 parts x 5": (3, 5), "5 parts": (5, 1), "5 parts x 10": (5, 10),
    "10 parts": (10, 1), "10 parts x 10": (10, 10),
}  # fmt: skip
"""Rules that repeat the choice on the rows outside each part: how many parts, and how often they are dealt."""
INTERVALS = ("paired", "rows", "parts", "percentile")
DRAWS = "verdict-draws.csv"
"""Every draw, so that a study that was stopped goes on."""
COLUMNS = (
    "table", "n_rows", "draw", "single", "rule", "told", *INTERVALS[:3], "low", "high", "true", "true_error",
    "committee", "alone",
)  # fmt: skip

SMALL = "seven small tables"
SMALL_ROWS, SMALL_SEEDS, SMALL_DRAWS = 300, 6, "verdict-draws-small.csv"
"""Rows, draws and file of tables that no rule was chosen on."""

Floats = NDArray[np.float64]
Answers = dict[str, NDArray[Any]]
Table = tuple[pd.DataFrame, NDArray[np.intp]]


def words_and_gaps(n: int = 30_000) -> Table:
    """Return a made table of words, numbers and gaps, with one row in eight of the other class."""
    rng = np.random.default_rng(7)
    town = rng.choice([f"town {k:02}" for k in range(24)], n, p=np.arange(24, 0, -1) / 300)
    trade = rng.choice(["none", "baker", "clerk", "driver", "nurse", "smith"], n)
    worth = dict(zip(sorted(set(town)), rng.normal(0, 0.9, 24), strict=True))
    gain = {"none": -1.0, "baker": 0.2, "clerk": 0.5, "driver": -0.3, "nurse": 0.9, "smith": 0.0}
    X = pd.DataFrame({"town": town.astype(object), "trade": trade.astype(object)})
    numbers = rng.normal(size=(n, 10))
    for k in range(10):
        X[f"number {k}"] = numbers[:, k]
    score = X["town"].map(worth) + X["trade"].map(gain) + numbers[:, 0] + np.abs(numbers[:, 1])
    score += (
        np.where(X["trade"] == "nurse", numbers[:, 2], 0.5 * numbers[:, 3])
        - 0.7 * numbers[:, 4] * numbers[:, 5]
    )
    y = (score > np.median(score)).to_numpy().astype(np.intp)
    y = np.where(rng.random(n) < 0.125, 1 - y, y)
    for k, share in ((0, 0.1), (3, 0.2), (6, 0.3)):
        X.loc[rng.random(n) < share, f"number {k}"] = np.nan
    X.loc[rng.random(n) < 0.1, "trade"] = None
    return X, y


def noisy_classes(n: int = 30_000) -> Table:
    """Return a made table of three classes in clusters, with labels drawn at random in one row of ten."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n, n_features=20, n_informative=8, n_redundant=4, n_classes=3, n_clusters_per_class=3, flip_y=0.1, class_sep=0.8,
        random_state=5,
    )  # fmt: skip
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(20)]), y.astype(np.intp)


def _uci(name: str) -> Callable[[Path], Table]:
    def read(folder: Path) -> Table:
        X, y = read_uci(folder, name)
        return X.reset_index(drop=True), np.asarray(y).astype(np.intp)

    return read


def scania(folder: Path) -> Table:
    """Return the part of the table of truck failures that there is: 339 columns with their gaps, 2 % failures."""
    frame = pd.read_csv(folder / "aps_scania_train_PART9000.csv.gz")
    return frame.drop(columns="target"), frame["target"].to_numpy().astype(np.intp)


TABLES: dict[str, Callable[[Path], Table]] = {
    "default": _uci("default_credit_card_clients"),
    "bank": _uci("bank_additional_full"),
    "words": lambda _folder: words_and_gaps(),
    "spambase": _uci("spambase"),
    "classes": lambda _folder: noisy_classes(),
    "scania": scania,
}


SMALL_TABLES: dict[str, Callable[[Path], Table]] = {
    name: _uci(name)
    for name in (
        "australian_credit", "pima_diabetes", "qsar_biodegradation", "diabetic_retinopathy_debrecen", "wdbc",
        "breast_cancer_wisconsin_original", "contraceptive_method_choice",
    )
}  # fmt: skip


def answers_of(table: Table, name: str, n_rows: int, draw: int) -> Answers:
    """Return the answers of a pool fitted on a draw out of fold, and fitted again on up to 15,000 other rows."""
    kept = os.environ.get("SHORTLIST_ANSWERS")
    file = Path(kept) / f"{name}-{n_rows}-{draw}.npz" if kept else None
    if file is not None and file.exists():
        return dict(np.load(file))
    X, y = table
    rest, drawn = train_test_split(np.arange(len(y)), test_size=n_rows, stratify=y, random_state=draw)
    X_drawn, y_drawn = X.iloc[drawn].reset_index(drop=True), y[drawn]
    others = rest[:MOST_TRUE_ROWS]
    pool = make_pool(X_drawn, y_drawn, n_classifiers=N_CLASSIFIERS, random_state=draw)
    crossed = cross_fit(pool, X_drawn, y_drawn, random_state=draw)
    again = refit_members(pool, X_drawn, y_drawn, seed=draw)
    answers = {
        "known": out_of_fold(crossed, X_drawn, class_shares),
        "asked": class_shares(again, X.iloc[others]),
        "y": y_drawn,
        "y_asked": y[others],
        "fold": crossed.fold_of,
    }
    if file is not None:
        part = file.with_name(f".{file.name}")
        with part.open("wb") as stream:
            np.savez_compressed(stream, **answers)
        part.rename(file)
    return answers


class Choice(NamedTuple):
    """A committee, and single classifiers by :data:`SINGLES`, as indices in the pool."""

    committee: tuple[int, ...]
    singles: tuple[int, ...]


class Draw:
    """Right answers of a draw, and the choices by them.

    `answers`: of :func:`answers_of`. `n_members`: size of the committee.
    """

    def __init__(self, answers: Answers, n_members: int = 5) -> None:
        self.known, self.y = answers["known"] / WHOLE, answers["y"].astype(np.intp)
        self.asked, self.y_asked = answers["asked"] / WHOLE, answers["y_asked"].astype(np.intp)
        self.n_members = n_members
        self.right = self.known.argmax(axis=2) == self.y[:, None]
        self.truly = self.known[np.arange(len(self.y)), :, self.y]
        self._right_of: dict[tuple[int, ...], NDArray[np.bool_]] = {}

    @cached_property
    def logs(self) -> Floats:
        """Logarithm of the probability that each classifier gives to the class of each row, bounded."""
        return np.log(np.maximum(self.truly, 1 / WHOLE))

    def choose(self, weights: Floats) -> Choice:
        """Return the choice on rows that count as often as their weights say."""
        singles = (int((weights @ self.right).argmax()), int((weights @ self.logs).argmax()))
        return Choice(best_mean(self.truly, weights, self.n_members), singles)

    def leads(self, choice: Choice) -> Floats:
        """Return for each row the right answers of the committee less those of each single, ``(n_rows, n_singles)``."""
        members = choice.committee
        if members not in self._right_of:
            self._right_of[members] = self.known[:, list(members)].mean(axis=1).argmax(axis=1) == self.y
        return np.asarray(
            self._right_of[members][:, None].astype(float) - self.right[:, list(choice.singles)]
        )

    def true_rights(self, choice: Choice) -> NDArray[np.bool_]:
        """Return right answers on the other rows, of the committee and of each single, ``(n_asked, 1 + n_singles)``."""
        committee = self.asked[:, list(choice.committee)].mean(axis=1).argmax(axis=1)
        singles = self.asked[:, list(choice.singles)].argmax(axis=2)
        return np.asarray(np.column_stack([committee, singles]) == self.y_asked[:, None])


def best_mean(truly: Floats, weights: Floats, size: int) -> tuple[int, ...]:
    """Return the members whose mean has the least log loss: greedily, then by exchanges until none helps.

    `truly`: the share that each classifier gives the class of each row. `weights`: how often each row counts.
    """
    counted = weights > 0
    truly, weights = truly[counted], weights[counted]

    def losses(of_others: Floats, taken: list[int]) -> Floats:
        found = -(weights @ np.log(np.maximum(of_others[:, None] + truly, 1 / WHOLE)))
        found[taken] = math.inf
        return np.asarray(found)

    members: list[int] = []
    total = np.zeros(len(truly))
    for _ in range(size):
        members.append(int(losses(total, members).argmin()))
        total = total + truly[:, members[-1]]
    least, helped = math.inf, True
    while helped:
        helped = False
        for place, member in enumerate(members):
            others = total - truly[:, member]
            found = losses(others, [one for one in members if one != member])
            best = int(found.argmin())
            if found[best] < least - 1e-9 * abs(found[best]):
                helped = helped or best != member
                least, members[place], total = float(found[best]), best, others + truly[:, best]
    return tuple(sorted(members))


def told_by_parts(draw: Draw, n_parts: int, n_times: int) -> dict[str, Floats]:
    """Repeat the choice outside each part, and answer the part; the parts are dealt several times.

    The told lead is the mean over all rows and deals. ``paired``: the standard error of one deal, rows taken as
    independent. ``rows``: that of the means of the rows over the deals. ``parts``: half an interval, in units of a
    normal one, by the variance of the parts and the factor of :cite:t:`Nadeau2003`.
    """

    def lead(kept: NDArray[np.intp], held: NDArray[np.intp]) -> dict[str, Floats]:
        weights = np.bincount(kept, minlength=len(draw.y)).astype(float)
        return {"lead": draw.leads(draw.choose(weights))[held]}

    n = len(draw.y)
    parts = np.stack([deal_folds(draw.y, n_parts, 1000 + deal) for deal in range(n_times)])
    each = choose_again(parts, lead)["lead"].reshape(n_times, n, len(SINGLES))
    means = [
        [found[part_of == part].mean(axis=0) for part in range(n_parts)]
        for found, part_of in zip(each, parts, strict=True)
    ]
    spread = np.var(means, axis=1, ddof=1).mean(axis=0)
    factor = stdtrit(n_parts - 1, 0.975) / Z
    return {
        "told": each.mean(axis=(0, 1)),
        "paired": np.sqrt(each.var(axis=1, ddof=1).mean(axis=0) / n),
        "rows": np.sqrt(each.mean(axis=0).var(axis=0, ddof=1) / n),
        "parts": factor * np.sqrt(spread * (1 / n_parts + 1 / (n_parts - 1))),
    }


def told_by_bootstrap(draw: Draw, seed: int) -> dict[str, Floats]:
    """Repeat the choice in samples with replacement, and answer the rows left out.

    The told lead is the mean over rows, and ``low`` and ``high`` are percentiles over samples, as
    :cite:t:`Tsamardinos2018` has it.
    """
    n, rng = len(draw.y), np.random.default_rng(seed)
    sums, n_out, means = np.zeros((n, len(SINGLES))), np.zeros(n), []
    for _ in range(N_BOOTSTRAPS):
        weights = np.bincount(rng.integers(0, n, n), minlength=n).astype(float)
        out = weights == 0
        found = draw.leads(draw.choose(weights))
        sums[out] += found[out]
        n_out[out] += 1
        means.append(found[out].mean(axis=0))
    of_rows = sums / np.maximum(n_out, 1)[:, None]
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return {
        "told": of_rows.mean(axis=0), "rows": of_rows.std(axis=0, ddof=1) / math.sqrt(n), "low": low, "high": high
    }  # fmt: skip


def nothing_to_tell(seed: int, n_rows: int = NOTHING_ROWS) -> Answers:
    """Return answers of classifiers that know nothing of two classes: no committee leads any of them truly."""
    rng = np.random.default_rng(seed)
    n = n_rows + MOST_TRUE_ROWS
    y = rng.permutation(np.arange(n) % 2)
    second = (WHOLE / (1 + np.exp(-rng.normal(size=(n, N_CLASSIFIERS))))).round().astype(np.int16)
    shares = np.stack([WHOLE - second, second], axis=2)
    return {"known": shares[:n_rows], "asked": shares[n_rows:], "y": y[:n_rows], "y_asked": y[n_rows:]}


def rows_of(answers: Answers, draw: int) -> Iterator[dict[str, Any]]:
    """Yield the estimate of every rule on a draw, beside the truth."""
    own = Draw(answers)
    n = len(own.y)
    chosen = own.choose(np.ones(n))
    apparent = own.leads(chosen)
    rights = own.true_rights(chosen).astype(float)
    lead = rights[:, :1] - rights[:, 1:]
    paired = apparent.std(axis=0, ddof=1) / math.sqrt(n)
    told: dict[str, dict[str, Floats]] = {ONCE: {"told": apparent.mean(axis=0), "paired": paired}}
    told |= {rule: told_by_parts(own, *how) for rule, how in PARTITIONS.items()}
    told[BOOTSTRAP] = told_by_bootstrap(own, draw)
    for rule, found in told.items():
        for place, single in enumerate(SINGLES):
            yield {
                "single": single, "rule": rule, **{name: round(float(one[place]), 6) for name, one in found.items()},
                "true": round(float(lead[:, place].mean()), 6),
                "true_error": round(float(lead[:, place].std() / math.sqrt(len(lead))), 6),
                "committee": round(float(rights[:, 0].mean()), 6), "alone": round(float(rights[:, 1 + place].mean()), 6),
            }  # fmt: skip


def verdicts(folder: Path, *, seeds: int = N_DRAWS) -> Iterator[dict[str, Any]]:
    """Yield for each size, rule and interval what its draws tell, after making those that are not kept.

    Besides the large tables there are small ones, and draws of answers that know nothing.
    """
    make_draws(folder, TABLES, SIZES, seeds, DRAWS)
    make_draws(folder, SMALL_TABLES, (SMALL_ROWS,), min(seeds, SMALL_SEEDS), SMALL_DRAWS)
    yield from summaries(pd.read_csv(RESULTS / DRAWS))
    yield from summaries(pd.read_csv(RESULTS / SMALL_DRAWS), tables=SMALL)
    yield from summaries(pd.DataFrame(drawn_from_nothing()), tables=NOTHING)


def make_draws(
    folder: Path,
    tables: Mapping[str, Callable[[Path], Table]],
    sizes: Iterable[int],
    seeds: int,
    file: str,
) -> None:
    """Make the draws that a file lacks, and keep them there."""
    path = RESULTS / file
    known = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=list(COLUMNS))
    done = set(zip(known["table"], known["n_rows"], known["draw"], strict=True))
    for name, read in tables.items():
        wanted = [
            (n_rows, draw) for draw in range(seeds) for n_rows in sizes if (name, n_rows, draw) not in done
        ]
        table = read(folder) if wanted else None
        for n_rows, draw in wanted:
            assert table is not None
            found = rows_of(answers_of(table, name, n_rows, draw), draw)
            keep_draws(({"table": name, "n_rows": n_rows, "draw": draw, **row} for row in found), file)


def drawn_from_nothing() -> Iterator[dict[str, Any]]:
    """Yield the estimate of every rule on answers that know nothing."""
    for draw in range(NOTHING_DRAWS):
        for row in rows_of(nothing_to_tell(draw), draw):
            yield {"table": NOTHING, "n_rows": NOTHING_ROWS, "draw": draw, **row}


def keep_draws(rows: Iterable[Mapping[str, Any]], file: str, columns: Sequence[str] = COLUMNS) -> None:
    """Add rows to a file of draws, which is made where there is none."""
    path = RESULTS / file
    is_new = not path.exists()
    with path.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        if is_new:
            writer.writeheader()
        writer.writerows(rows)


def summaries(draws: pd.DataFrame, *, tables: str = "six tables") -> Iterator[dict[str, Any]]:
    """Yield the worth of each rule with each interval, by the rows of a draw; leads in points of accuracy."""
    for (n_rows, single, rule), rows in draws.groupby(["n_rows", "single", "rule"], sort=False):
        error = 100 * (rows["told"] - rows["true"])
        for interval in INTERVALS:
            if interval == "percentile":
                low, high = rows["low"], rows["high"]
            else:
                low, high = (rows["told"] + sign * Z * rows[interval] for sign in (-1, 1))
            if low.isna().any():
                continue
            yield {
                "tables": tables, "n_rows": n_rows, "single": single, "rule": rule,
                "interval": interval, "n_draws": len(rows),
                "bias": error.mean(), "bias_error": error.std() / math.sqrt(len(rows)),
                "least_bias": error.groupby(rows["table"]).mean().min(),
                "most_bias": error.groupby(rows["table"]).mean().max(),
                "rmse": math.sqrt((error**2).mean()),
                "covered": ((low <= rows["true"]) & (rows["true"] <= high)).mean(), "half": 50 * (high - low).mean(),
                **worth_of_words(rows["told"], low, high, rows["true"]),
            }  # fmt: skip


def worth_of_words(told: Floats, low: Floats, high: Floats, true: Floats) -> dict[str, float]:
    """Return the rate of each word, the rate of its errors beyond the margin, and its loss.

    The words are those of :func:`shortlist.results.verdicts.decide`, of a committee and a smaller single classifier without
    prices; *better* of the single counts as ``worse``. ``lost``: points of accuracy of what the first line names less
    those of the better one; ``lost_by_estimate``: where an undecided verdict names what the estimate favours;
    ``lost_always``: of the committee, whatever is told.
    """
    words, firsts, by_estimate = [], [], []
    for lead, *ends in zip(told, low, high, strict=True):
        beyond = ends[0] > 0 or ends[1] < 0
        difference = Difference(lead, (ends[0], ends[1]), 0.0 if beyond else 1.0)
        verdict = decide(difference, spent=(2.0, 1.0), priced=False, margin=MARGIN, leans=True)
        words.append(verdict.word)
        firsts.append(verdict.takes_first)
        by_estimate.append(decide(difference, spent=(2.0, 1.0), priced=False, margin=MARGIN).takes_first)
    said, first = np.array(words), np.array(firsts)
    beside = np.where(first, true, -np.asarray(true))  # of what is named, beside the other
    better, as_good = said == Word.BETTER, said == Word.AS_GOOD
    return {
        "better": (better & first).mean(), "worse": (better & ~first).mean(), "as_good": as_good.mean(),
        "undecided": (said == Word.UNDECIDED).mean(), "wrong": ((better | as_good) & (beside < -MARGIN)).mean(),
        "lost": 100 * np.minimum(0, beside).mean(),
        "lost_by_estimate": 100 * np.minimum(0, np.where(by_estimate, true, -np.asarray(true))).mean(),
        "lost_always": 100 * np.minimum(0, true).mean(),
    }  # fmt: skip
