"""One table: all rows fit, select and measure by repeated choice; others are held out or come in a file."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from shortlist.ensembles import evolved_table, pruned_table, rule_figures
from shortlist.ensembles.committees import chosen
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.front_pruner import FrontPruner
from shortlist.ensembles.estimators.rows import split_rows
from shortlist.ensembles.estimators.rule_pruners import BaselinePruner, GreedyMeansPruner
from shortlist.ensembles.evolved_table import evolve_table
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.measured import time_of_answers
from shortlist.ensembles.pools.answers import class_shares
from shortlist.ensembles.pools.encoder import TableEncoder
from shortlist.ensembles.pools.pool import Pool, out_of_fold
from shortlist.ensembles.pools.racing import RaceSettings
from shortlist.ensembles.pruned_table import prune_table
from shortlist.ensembles.pruning.mean_problem import mean_goal
from shortlist.ensembles.pruning.mean_pruning import prune_means
from shortlist.ensembles.verification.refitting import FitCheck, check_fits
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.results.measuring import PAPER, Measuring, TableRows
from shortlist.results.repeated_choice import deal_parts
from shortlist.runs import Cancellation, Progress, Work
from shortlist.tables.fingerprints import Fingerprint, table_fingerprint
from shortlist.tables.splits import TEST_SHARE
from shortlist_papers import OrderedPruner
from tests.ensembles.pools.test_judges import made

X, Y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=1)
LABELS = np.array(["a", "b", "c"])[Y]


def test_each_row_is_decided_by_members_chosen_without_its_part() -> None:
    """The slow twin: members of each part by the exact search, their means added up by hand."""
    found = prune_table(X, LABELS, ExactPruner(min_size=2, max_size=2, objective="log-loss", random_state=0,
                                               probabilities="mean"), n_classifiers=6, seed=3)  # fmt: skip
    pool: Any = found.pruner.pool
    shares, partitions = out_of_fold(pool, X, class_shares), deal_parts(LABELS, 3, n_candidates=6)
    assert partitions.shape == (10, 200)
    right, alone = np.zeros((2, *partitions.shape), dtype=bool)
    for one, parts in enumerate(partitions):
        for part in range(2):
            others, own = parts != part, parts == part
            votes = SoftVotes(shares[others], Y[others].astype(np.uint8))
            limits = selection_limits(6, min_size=2, max_size=2)
            mask = prune_means(votes, mean_goal("log-loss", votes), limits).mask
            right[one, own] = shares[own][:, mask].astype(int).sum(axis=1).argmax(axis=1) == Y[own]
            best = (shares[others].argmax(axis=2) == Y[others][:, None]).sum(axis=0).argmax()
            alone[one, own] = shares[own][:, best].argmax(axis=1) == Y[own]
    assert found.test["pruned"].right.tolist() == right.ravel().tolist()
    assert found.test["best_single"].right.tolist() == alone.ravel().tolist()
    assert found.n_rows == {
        "train": 200,
        "validation": 200,
        "folds": 5,
        "parts": 2,
        "partitions": 10,
        "test": 200,
    }
    assert found.advice is not None
    gains = right.astype(int) - alone
    error = 1.96 * np.sqrt(gains.var(axis=1, ddof=1).mean() / 200)
    low, high = found.advice.difference.interval
    assert low == pytest.approx(gains.mean() - error, abs=2e-4)
    assert high == pytest.approx(gains.mean() + error, abs=2e-4)


@pytest.mark.parametrize(("n_candidates", "n_deals"), [(100, 10), (1500, 6), (10**6, 5)])
def test_many_rows_and_candidates_are_dealt_five_times_at_least(n_candidates: int, n_deals: int) -> None:
    assert len(deal_parts(LABELS, 0, n_candidates=n_candidates)) == n_deals
    assert len(deal_parts(LABELS, 0, n_candidates=n_candidates, most=1)) == 1


def test_the_same_classifier_on_the_same_rows_has_one_figure() -> None:
    """The next command prints the figure that this one printed."""
    votes = ExactPruner(node_limit=100, random_state=0)
    exact = prune_table(X, LABELS, votes, n_classifiers=8, seed=1)
    single = prune_table(
        X, LABELS, BaselinePruner(rule="best-single", random_state=0), n_classifiers=8, seed=1
    )
    assert single.best_single == exact.best_single
    assert single.test["pruned"].right.tolist() == exact.test["best_single"].right.tolist()
    assert single.test["best_single"].right.tolist() == exact.test["best_single"].right.tolist()
    again = prune_table(X, LABELS, votes, n_classifiers=8, seed=1, measuring=Measuring(take="best_single"))
    assert again.test["best_single"].right.tolist() == exact.test["best_single"].right.tolist()


def test_the_model_saved_is_the_one_that_is_named() -> None:
    wanted = prune_table(
        X,
        LABELS,
        ExactPruner(random_state=0),
        n_classifiers=8,
        seed=1,
        measuring=Measuring(take="best_single"),
    )
    assert wanted.saved is not None
    assert wanted.saved.names == (wanted.best_single,)
    assert wanted.saved.refitted
    advised = prune_table(X, LABELS, ExactPruner(random_state=0), n_classifiers=8, seed=1)
    assert advised.advice is not None
    assert advised.saved is not None
    size = advised.test[advised.advice.take].size
    assert len(advised.saved.committee.names) == size


@pytest.mark.parametrize("pruner", [
    ExactPruner(objective="accuracy", voting="hard", node_limit=200, random_state=0),
    ExactPruner(objective="balanced-accuracy", voting="averaged", node_limit=200, random_state=0),
    ExactPruner(objective="balanced-accuracy+auto", voting="soft", node_limit=200, random_state=0),
    GreedyMeansPruner(n_bags=2, n_steps=3, random_state=0),
    FrontPruner(objectives="max accuracy, min size", pick="smallest", random_state=0),
])  # fmt: skip
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_pruner_is_measured_on_every_row(pruner: Any, n_classes: int) -> None:
    y = np.minimum(Y, n_classes - 1)
    found = prune_table(X, y, clone(pruner), n_classifiers=4, seed=2)
    assert all(one.n_rows == len(y) for one in found.test.values())
    assert found.chosen is not None
    assert found.chosen.refitted
    assert 0.5 < found.test["pruned"].accuracy < 0.99
    for rule in ("pruned", "best_single"):
        saved = prune_table(
            X, y, clone(pruner), n_classifiers=4, seed=2, measuring=Measuring(take=rule)
        ).saved
        assert saved is not None
        assert saved.predict(X).shape == (200,)


def test_answers_that_know_nothing_are_told_at_the_base_rate() -> None:
    """Answers drawn without regard to the truth: no rule is told better than chance allows."""
    rng, gains = np.random.default_rng(0), []
    for _ in range(6):
        truth = np.array(["no", "yes"])[(rng.random(120) < 0.5).astype(int)]
        answers = pd.DataFrame({f"j{place}": rng.choice(["no", "yes"], 120) for place in range(8)})
        pool = Pool.from_answers(answers, truth)
        pruner = ExactPruner(pool, objective="accuracy", node_limit=20, random_state=0)
        found = prune_table(answers, truth, pruner)
        gains.append([found.test[rule].accuracy - 0.5 for rule in ("pruned", "best_single", "backfitting")])
    mean = np.array(gains).mean(axis=0)
    assert (np.abs(mean) < 3 * 0.5 / np.sqrt(6 * 120)).all()  # chosen on the same rows it is .1 too large


def test_a_class_with_one_row_fits_and_is_not_measured() -> None:
    lonely = np.append(LABELS[:-1], "d")
    found = prune_table(X, lonely, ExactPruner(random_state=0), n_classifiers=4)
    assert found.n_rows["test"] == 199
    assert found.chosen is not None
    assert found.chosen.classes_.tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_a_positive_class_is_counted_on_rows_held_out(positive: str) -> None:
    y = np.where(Y > 0, "yes", "no")
    pruner = ExactPruner(positive=positive, random_state=0)
    found = prune_table(X, y, pruner, n_classifiers=4, seed=2, measuring=Measuring(PAPER))
    rows = split_rows(np.arange(len(y)), y, TEST_SHARE, 2)[1]
    assert isinstance(found.pruner, ExactPruner)
    predicted = found.pruner.predict(X[rows])
    counts = found.test["pruned"].confusion
    assert counts is not None
    assert counts.true_positive == ((predicted == positive) & (y[rows] == positive)).sum()
    assert counts.false_positive == ((predicted == positive) & (y[rows] != positive)).sum()
    assert counts.accuracy == found.test["pruned"].accuracy
    assert found.n_rows == {"train": 126, "validation": 54, "test": 20}
    assert found.chosen is not None
    assert not found.chosen.refitted


def test_rows_of_a_file_measure_the_members_fitted_on_all_rows() -> None:
    tested = TableRows(X[150:], LABELS[150:])
    found = prune_table(
        X[:150], LABELS[:150], ExactPruner(random_state=0), n_classifiers=6, measuring=Measuring(test=tested)
    )
    assert (found.n_rows["validation"], found.n_rows["test"]) == (150, 50)
    assert found.chosen is not None
    right = found.chosen.predict(X[150:]) == LABELS[150:]
    assert found.test["pruned"].right.tolist() == right.tolist()
    alone = prune_table(
        X[:150],
        LABELS[:150],
        ExactPruner(random_state=0),
        n_classifiers=6,
        measuring=Measuring(test=tested, take="best_single"),
    ).saved
    assert alone is not None
    single = alone.predict(X[150:]) == LABELS[150:]
    assert found.test["best_single"].right.tolist() == single.tolist()


def test_after_an_interruption_answers_are_timed_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    cancellation = Cancellation()
    asked: list[int] = []

    def counted(ask: Any, *arguments: Any, **options: Any) -> float:
        def noted(rows: Any) -> Any:
            asked.append(len(rows))
            return ask(rows)

        return time_of_answers(noted, *arguments, **options)

    monkeypatch.setattr(rule_figures, "time_of_answers", counted)

    def stop(event: Progress) -> None:
        if event.stage == "fitting fold 5 of 5" and event.done == event.total:  # the last one was fitted
            cancellation.cancel()

    work = Work(report=stop, cancellation=cancellation)
    found = prune_table(X, LABELS, ExactPruner(time_limit_s=None), n_classifiers=5, work=work)
    assert cancellation.cancelled
    assert asked == [1000] * len(found.test)  # and not three times each
    assert all(measured.ms_per_1000_rows > 0 for measured in found.test.values())


JUDGES: list[tuple[Any, str]] = [
    (ExactPruner(voting="hard", objective="accuracy", min_size=3, node_limit=50, random_state=0), "a"),
    (ExactPruner(voting="soft", objective="log-loss", min_size=3, node_limit=50, random_state=0), "shares"),
    (OrderedPruner(rule="full"), "a"),
]


@pytest.mark.parametrize(("pruner", "said"), JUDGES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_that_chose_are_counted_and_the_best_single_judge_has_a_name(
    pruner: Any, said: str, n_classes: int
) -> None:
    answers, truth = made(80, 5, n_classes, absent=0, seed=4)
    table = answers
    if said == "shares":
        table = pd.concat(
            {f"{name}:{label}": (column == label) * 0.6 + 0.4 / n_classes
             for name, column in answers.items() for label in sorted(set(truth))}, axis=1,
        )  # fmt: skip
    prices = {name: 1.0 + place for place, name in enumerate(answers)}
    pool = Pool.from_answers(table, truth, costs=prices)
    pruned = prune_table(table, np.asarray(truth), clone(pruner).set_params(pool=pool), seed=1)

    right = answers.to_numpy() == np.asarray(truth)[:, None]
    assert pruned.best_single in answers.columns
    assert pruned.right_where_chosen["best_single"] == right.sum(axis=0).max()
    predicted = pruned.pruner.predict(table)
    assert pruned.right_where_chosen["pruned"] == (predicted == np.asarray(truth)).sum()
    assert pruned.early is not None
    assert len(pruned.early.calls) == len(truth)
    parts, calls = deal_parts(np.asarray(truth), 1)[0], np.zeros(len(truth))
    for part in range(2):
        kept, held = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
        again = clone(pruned.pruner)
        again.is_repeated = True
        again.fit(table.iloc[kept], np.asarray(truth)[kept])
        calls[held] = again.predict_early(table.iloc[held]).calls
    assert pruned.early.calls.tolist() == calls.tolist()


def test_of_rows_out_of_fold_the_shares_are_of_answers_out_of_fold() -> None:
    pruned = prune_table(X, LABELS, ExactPruner(node_limit=20, random_state=0), n_classifiers=6, seed=3)
    assert pruned.n_rows["folds"] == 5
    record = pruned.pruner.validation_
    assert record.shares is not None
    mean = record.shares.astype(int).sum(axis=1)
    assert pruned.right_where_chosen["full"] == (mean.argmax(axis=1) == record.labels).sum()
    chosen: Any = pruned.chosen
    own = np.repeat(record.shares.astype(int), chosen.copies, axis=1)
    own = own.sum(axis=1) * chosen.committee.ballot.gains
    assert pruned.right_where_chosen["pruned"] == (own.argmax(axis=1) == record.labels).sum()


@pytest.mark.parametrize("of", ["exact", "front", "rule", "evolved"])
def test_the_fingerprint_of_a_table_is_taken_once(of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, truth = made(80, 5, 2, absent=0, seed=1)
    taken = []

    def counting(X: Any, y: Any) -> Fingerprint:
        taken.append(len(y))
        return table_fingerprint(X, y)

    for module in (evolved_table, pruned_table, chosen):
        monkeypatch.setattr(module, "table_fingerprint", counting)
    if of == "evolved":
        table = pd.DataFrame({"a": np.arange(80.0)})
        evolved = EvolutionaryEnsembleClassifier(population_size=10, n_generations=2, random_state=0)
        record = evolve_table(table, truth, evolved).classifier.training_
    else:
        judges = Pool.from_answers(table, truth)
        pruner: Any = {
            "exact": ExactPruner(judges, random_state=0),
            "front": FrontPruner(judges, pick="smallest", random_state=0),
            "rule": OrderedPruner(judges, random_state=0),
        }[of]
        found = prune_table(table, truth, pruner, measuring=Measuring(take="best_single"))
        assert found.saved is not None
        assert found.saved.record.table == found.pruner.validation_.table
        record = found.pruner.validation_

    assert taken == [80]
    assert record.table == table_fingerprint(table, truth)
    assert len(record.rows) == len(record.labels)
    _, places = np.unique(truth, return_inverse=True)
    assert (places[record.rows] == record.labels).all()


def test_classifiers_race_to_be_in_the_pool_of_a_large_table_and_their_fits_are_verified() -> None:
    race = RaceSettings(least_rows=200, n_fitted=60, n_asked=60, n_kept=2, n_boosting=1)
    found = prune_table(X, LABELS, ExactPruner(random_state=0), n_classifiers=25, seed=2, race=race)
    assert found.n_rows["raced"] == 25
    assert found.n_rows["folds"] == 3
    assert len(found.pool) == 4 + 1 + 2
    assert found.chosen is not None
    assert found.chosen.refitted
    assert found.chosen.fitted is not None
    assert check_fits(found.chosen, X, LABELS) == FitCheck(is_same=True)
    record = found.chosen.record
    assert record.rows.tolist() == list(range(200))


def test_no_race_is_held_for_members_that_stay_as_they_are_nor_for_the_papers() -> None:
    race = RaceSettings(least_rows=100)
    stays = ExactPruner(refit=False, random_state=0)
    kept = prune_table(X, LABELS, stays, n_classifiers=6, seed=2, race=race)
    assert "raced" not in kept.n_rows
    assert len(kept.pool) == 6
    paper = prune_table(
        X, LABELS, ExactPruner(random_state=0), n_classifiers=6, seed=2, race=race,
        measuring=Measuring(protocol=PAPER),
    )  # fmt: skip
    assert len(paper.pool) == 6


@pytest.mark.parametrize("least_rows", [100, 10_000])
def test_a_table_is_encoded_once_and_its_rows_are_not_saved(
    least_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded = []
    transform = TableEncoder.transform

    def counted(encoder: TableEncoder, rows: Any) -> Any:
        encoded.append(len(rows))
        return transform(encoder, rows)

    monkeypatch.setattr(TableEncoder, "transform", counted)
    race = RaceSettings(least_rows=least_rows, n_fitted=60, n_asked=60, n_kept=1, n_boosting=1)
    found = prune_table(
        X, LABELS, ExactPruner(random_state=0), n_classifiers=6, race=race,
        measuring=Measuring(take="best_single"),
    )  # fmt: skip
    small = "raced" not in found.n_rows
    assert [n for n in encoded if n != 1000] == [200] * (1 + small)  # a pool is fitted before its folds
    assert found.chosen is not None
    saved = pickle.loads(pickle.dumps(found.chosen.as_chosen))
    assert saved.encoded is None
    monkeypatch.undo()
    assert np.array_equal(
        out_of_fold(saved, X, class_shares), out_of_fold(found.chosen.as_chosen, X, class_shares)
    )
