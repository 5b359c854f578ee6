"""Comparisons of methods."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier

from shortlist import BadInputError
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rows import rows_to_fit_and_prune
from shortlist.ensembles.estimators.rule_pruners import GreedyMeansPruner
from shortlist.ensembles.pools.answers import class_probabilities
from shortlist.ensembles.pools.fitting import make_pool, refit_members
from shortlist.ensembles.pools.members import with_copies
from shortlist.ensembles.pools.pool import Pool
from shortlist.runs import Cancellation, Progress, Work, open_study
from shortlist_papers import OrderedPruner
from shortlist_papers import pruning_comparison as comparison
from shortlist_papers.comparison import write_results
from shortlist_papers.pruning_comparison import (
    COMPARISON_COLUMNS,
    best_singles,
    best_singles_text,
    compare_methods,
)
from shortlist_papers.rules.rule_pruners import pruning_methods
from tests.ensembles.pools.test_judges import made

TABLES: dict[str, Any] = {
    "made": make_classification(90, 4, random_state=0),
    "iris": load_iris(return_X_y=True),
}
METHODS: dict[str, Any] = {
    "best-single": OrderedPruner(rule="best-single"),
    "uwa": OrderedPruner(rule="uwa"),
    "evolved": EvolutionaryEnsembleClassifier(population_size=20, n_generations=4),
    "guess": DummyClassifier(),
}
OPTIONS: dict[str, Any] = {"n_folds": 2, "n_repeats": 2, "n_classifiers": 4, "random_state": 3}


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    return compare_methods(TABLES, METHODS, **OPTIONS)


def _values(results: pd.DataFrame) -> pd.DataFrame:
    return results.drop(columns="seconds")


def test_every_method_is_measured_once_per_fold(results: pd.DataFrame) -> None:
    assert list(results.columns) == [*COMPARISON_COLUMNS, "only_member"]
    assert len(results) == 2 * 2 * 2 * 4
    assert not results.duplicated(["dataset", "repeat", "fold", "method"]).any()
    assert results["dataset"].tolist() == ["made"] * 16 + ["iris"] * 16
    assert results["method"].tolist()[:4] == list(METHODS)
    assert results["accuracy"].between(0, 1).all()
    assert (results["seconds"] >= 0).all()


def test_sizes_are_those_of_the_ensembles(results: pd.DataFrame) -> None:
    sizes = results.set_index("method")["size"]
    assert (sizes["best-single"] == 1).all()
    assert sizes["uwa"].between(1, 4).all()
    assert sizes["guess"].isna().all()


def test_a_guess_scores_the_share_of_the_largest_class(results: pd.DataFrame) -> None:
    guesses = results[(results["method"] == "guess") & (results["dataset"] == "iris")]
    assert guesses["balanced_accuracy"].tolist() == pytest.approx([1 / 3] * 4)


def test_the_same_seed_gives_the_same_table_whatever_the_workers() -> None:
    few = {name: METHODS[name] for name in ("evolved", "guess")}
    alone = compare_methods(TABLES, few, **OPTIONS)
    with parallel_config(backend="threading"):  # starting processes would take longer than all other tests
        together = compare_methods(TABLES, few, **OPTIONS, work=Work(2))
    pd.testing.assert_frame_equal(_values(together), _values(alone))


def test_the_same_seed_gives_the_same_pools(results: pd.DataFrame) -> None:
    few = {name: METHODS[name] for name in ("uwa", "best-single")}
    again = compare_methods({"iris": TABLES["iris"]}, few, **OPTIONS).set_index(["repeat", "fold", "method"])
    of_iris = results[results["dataset"] == "iris"].set_index(["repeat", "fold", "method"])
    assert (again["accuracy"] == of_iris.loc[again.index, "accuracy"]).all()


class _Stopping(DummyClassifier):
    """A method during whose second fit the user presses Ctrl-C, and which returns what it has."""

    n_fits = 0

    def fit(self, X: Any, y: Any, *, cancellation: Cancellation) -> Any:
        _Stopping.n_fits += 1
        if _Stopping.n_fits == 2:
            cancellation.cancel()
        return super().fit(X, y)


def test_a_method_that_was_stopped_is_not_measured_but_what_was_is_kept(tmp_path: Path) -> None:
    methods: dict[str, BaseEstimator] = {"guess": DummyClassifier(), "slow": _Stopping()}
    _Stopping.n_fits = 0
    with open_study(tmp_path / "folds.db") as study:
        found = compare_methods(TABLES, methods, **OPTIONS, work=Work(study=study))
        assert found["method"].value_counts().to_dict() == {"guess": 1, "slow": 1}
        assert sum(key.endswith("/slow") for key in study.results()) == 1
        _Stopping.n_fits = 2
        whole = compare_methods(TABLES, methods, **OPTIONS, work=Work(study=study))
    assert len(whole) == 2 * 2 * 2 * 2


def test_a_killed_comparison_goes_on_where_it_was(
    tmp_path: Path, results: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancellation = Cancellation()
    done: list[Progress] = []

    def stop_after_three(event: Progress) -> None:
        if event.done == 3:
            cancellation.cancel()

    with open_study(tmp_path / "folds.db") as study:
        work = Work(study=study, report=stop_after_three, cancellation=cancellation)
        partial = compare_methods(TABLES, METHODS, **OPTIONS, work=work)
        assert len(partial) == len(study.results()) == 3 * 4
    with open_study(tmp_path / "folds.db") as study:
        work = Work(study=study, report=done.append)
        whole = compare_methods(TABLES, METHODS, **OPTIONS, work=work)
        assert [(event.done, event.total) for event in done] == [(n, 8) for n in range(3, 9)]
        pd.testing.assert_frame_equal(_values(whole), _values(results))
        monkeypatch.setattr(comparison, "measure_fold", None)
        again = compare_methods(TABLES, METHODS, **OPTIONS, work=work)
    pd.testing.assert_frame_equal(again, whole)


def test_a_fold_that_is_cut_into_slices_has_the_same_results(tmp_path: Path, results: pd.DataFrame) -> None:
    recorded: list[int] = []
    with open_study(tmp_path / "folds.db") as study:
        work = Work(study=study, report=lambda _: recorded.append(len(study.results())))
        sliced = compare_methods(TABLES, METHODS, **OPTIONS, work=work, slice_s=-1.0)
    pd.testing.assert_frame_equal(_values(sliced), _values(results))
    assert {1, 2, 3, 4} <= set(recorded)


def test_a_method_that_comes_later_is_added_to_the_study(tmp_path: Path, results: pd.DataFrame) -> None:
    few = {name: METHODS[name] for name in ("guess", "uwa")}
    with open_study(tmp_path / "folds.db") as study:
        compare_methods(TABLES, few, **OPTIONS, work=Work(study=study))
        before = study.results()
        whole = compare_methods(TABLES, METHODS, **OPTIONS, work=Work(study=study))
        assert {key: study.results()[key] for key in before if "guess" not in key} == {
            key: row for key, row in before.items() if "guess" not in key
        }
    pd.testing.assert_frame_equal(_values(whole), _values(results))


def test_members_fitted_again_answer_as_they_would_without_the_comparison() -> None:
    X, y = TABLES["made"]
    methods: dict[str, Any] = {
        "greedy-means": GreedyMeansPruner(n_bags=2, n_steps=4),
        "exact": ExactPruner(objective="accuracy", max_size=2, node_limit=10),
        "guess": DummyClassifier(),
    }
    fold = comparison.stratified_folds("made", X, y, n_folds=2, n_repeats=1, n_classifiers=4, seed=3)[0]
    pool, validation = comparison.fold_pool(fold)
    fitted, _ = rows_to_fit_and_prune(y[fold.train], fold.seed)
    rows = fold.train[fitted]
    first = make_pool(X[rows], y[rows], n_classifiers=4, random_state=fold.seed)
    again = refit_members(first, X[fold.train], y[fold.train], seed=fold.seed)
    answers = class_probabilities(again, X[fold.test])
    again = comparison.remembered_pool(again, answers, fold.test, len(y))

    measured = {row["method"]: row for row in comparison.measure_fold(fold, methods, refit=True)}

    for name in ("greedy-means", "exact"):
        chosen = comparison.fit_method(fold, methods[name], pool, validation).estimator
        chosen.committee_ = chosen.committee_.with_members(with_copies(again, chosen.copies_))
        right = chosen.predict(fold.test[:, None]) == y[fold.test]
        assert measured[name]["accuracy"] == right.mean()
        assert measured[name]["size"] == np.count_nonzero(chosen.copies_)
    as_chosen = {row["method"]: row for row in comparison.measure_fold(fold, methods)}
    assert measured["guess"]["accuracy"] == as_chosen["guess"]["accuracy"]


def test_a_study_of_members_as_they_were_chosen_is_not_one_of_members_fitted_again(tmp_path: Path) -> None:
    one: Any = {"n_folds": 2, "n_classifiers": 2}
    tables, uwa = {"made": TABLES["made"]}, {"uwa": METHODS["uwa"]}
    with open_study(tmp_path / "folds.db") as study:
        compare_methods(tables, uwa, **one, work=Work(study=study))
        with pytest.raises(BadInputError, match="fitted again, OrderedPruner"):
            compare_methods(tables, uwa, **one, refit=True, work=Work(study=study))


def test_a_study_of_other_settings_is_refused(tmp_path: Path) -> None:
    guess = {"guess": DummyClassifier()}
    with open_study(tmp_path / "folds.db") as study:
        work = Work(study=study)
        compare_methods(TABLES, guess, n_folds=2, work=work)
        with pytest.raises(BadInputError, match="random_state was 0 there and is 1 now"):
            compare_methods(TABLES, guess, n_folds=2, random_state=1, work=work)
        with pytest.raises(BadInputError, match="the method guess was DummyClassifier"):
            compare_methods(TABLES, {"guess": DummyClassifier(strategy="uniform")}, n_folds=2, work=work)
        with pytest.raises(BadInputError, match="the table made was"):
            compare_methods({"made": TABLES["iris"]}, guess, n_folds=2, work=work)


@pytest.mark.slow
def test_every_pruning_method_runs_by_name() -> None:
    results = compare_methods(
        {"made": TABLES["made"]}, list(pruning_methods()), n_folds=2, n_classifiers=5, random_state=1
    )
    assert results["method"].nunique() == len(pruning_methods()) == 16
    means = results.groupby("method")["size"].mean()
    assert means["full"] == 5
    assert means["best-single"] == 1


def test_who_the_best_single_classifier_was_is_told_by_name() -> None:
    answers, truth = made(40, 4, 2, absent=0, seed=1)
    pool = Pool.from_answers(answers, truth)
    results = compare_methods(
        {"made": (answers, truth)}, {"best-single": OrderedPruner(pool, rule="best-single")}, n_folds=4
    )
    told = best_singles(results)
    assert sum(told.values()) == 4
    assert set(told) <= set(answers.columns)
    first, n = next(iter(told.items()))
    assert n == max(told.values())
    assert best_singles_text(results).startswith(f"best-single: {first} in {n} fold")
    assert best_singles_text(results.drop(columns="only_member")) == ""


def test_results_survive_parquet(tmp_path: Path, results: pd.DataFrame) -> None:
    write_results(results, tmp_path / "results.parquet")
    read = pd.read_parquet(tmp_path / "results.parquet")
    pd.testing.assert_frame_equal(read.replace({None: np.nan}), results.replace({None: np.nan}))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: compare_methods(TABLES, ["best"]), "method must be one of", id="unknown"),
        pytest.param(lambda: compare_methods(TABLES, ["uwa"], n_folds=60), "Use fewer folds", id="folds"),
        pytest.param(lambda: compare_methods(TABLES, ["uwa"], n_folds=1), "n_folds must be at least 2", id="one"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(call: Any, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        call()


def test_folds_that_leave_too_few_rows_to_prune_are_refused_before_a_pool_is_fitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparison, "make_pool", None)
    X, y = TABLES["made"]
    rare = np.where(np.arange(90) < 3, "rare", np.where(y == 1, "a", "b"))
    two = np.where(np.arange(90) < 3, "rare", "often")
    for method, labels in (("uwa", two), ("exact", rare)):
        with pytest.raises(BadInputError, match=r"leave 2 rows of a class to fit and to.*got 1 of 'rare'"):
            compare_methods({"t": (X, labels)}, [method], n_folds=2)


def test_exact_pruning_without_a_selection_says_so_with_its_fold() -> None:
    methods = {"exact": ExactPruner(diversity={"each": 1.0}, min_size=3)}
    with pytest.raises(BadInputError, match="exact pruning found no selection in fold 1 of repeat 1:"):
        compare_methods({"made": TABLES["made"]}, methods, n_folds=2, n_classifiers=3)


def test_a_table_of_lists_is_refused_by_its_column() -> None:
    frame = pd.DataFrame({"a": range(90), "l": [[1, 2]] * 90})
    with pytest.raises(BadInputError, match="column 'l' of X must hold numbers or text, got a list in row 1"):
        compare_methods({"t": (frame, TABLES["made"][1])}, ["full"], n_folds=2)
