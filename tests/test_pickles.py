"""Saved objects name themselves by public packages, and stay readable wherever their modules go."""

import copy
import importlib
import inspect
import io
import pickle
from collections.abc import Iterator
from enum import Enum
from typing import IO, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import shortlist
import shortlist_papers
from shortlist import Front, Objective, Proof, Status
from shortlist.ensembles import Pool, make_pool
from shortlist.ensembles.evolution.spaces import SPACES
from shortlist.ensembles.pools.encoder import TableEncoder
from shortlist.errors import ShortlistError
from shortlist.multistage.problem.costs import CostAttribute
from shortlist.pickles import restore, saved_class, saved_path
from shortlist.results.proof import ProofKind
from shortlist.saved_models import SavedModel
from shortlist.tables.fingerprints import Fingerprint

PACKAGES = ("shortlist", "shortlist.ensembles", "shortlist.multistage", "shortlist.products")


def public_classes() -> Iterator[tuple[str, type]]:
    """Every class that a package exports, with its path there; errors and protocols are no part of saved models."""
    for package in PACKAGES:
        for name in importlib.import_module(package).__all__:
            value = getattr(importlib.import_module(package), name)
            is_class = inspect.isclass(value) and not issubclass(value, ShortlistError)
            if is_class and not getattr(value, "_is_protocol", False):
                yield f"{package}.{name}", value


def one_of(kind: Any) -> Any:
    """Return an instance, as empty as it can be."""
    if issubclass(kind, Enum):
        return next(iter(kind))
    thing = kind.__new__(kind, *range(len(getattr(kind, "_fields", ()))))
    for slot in getattr(kind, "__slots__", ()):
        object.__setattr__(thing, slot, ())
    return thing


class Reader(pickle.Unpickler):
    """An unpickler that notes which modules of ours a pickle names."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        self.modules |= {module} if module.startswith("shortlist") else set()
        return super().find_class(module, name)


def assert_public(thing: Any) -> None:
    reader = Reader(io.BytesIO(pickle.dumps(thing)))
    reader.load()
    assert reader.modules <= {"shortlist.pickles"}


@pytest.mark.parametrize(("path", "kind"), [pytest.param(*each, id=each[0]) for each in public_classes()])
def test_every_public_class_is_pickled_under_a_public_path(path: str, kind: type) -> None:
    thing = one_of(kind)
    saved = saved_path(kind)
    package, _, name = saved.rpartition(".")
    assert package in PACKAGES
    assert name == path.rpartition(".")[2]
    assert saved.encode() in pickle.dumps(thing)
    assert_public(thing)
    assert type(pickle.loads(pickle.dumps(thing))) is kind


def test_the_source_of_a_public_class_is_where_it_was_written() -> None:
    assert Pool.__module__ == "shortlist.ensembles.pools.pool"
    assert "class Pool" in inspect.getsource(Pool)


def test_names_that_only_saved_models_need_are_no_public_names() -> None:
    assert "TableEncoder" not in importlib.import_module("shortlist.ensembles").__all__
    assert saved_class("shortlist.ensembles.TableEncoder") is TableEncoder


def test_opponents_saved_before_they_moved_are_read_where_they_are_now() -> None:
    from shortlist_papers.opponents.greedy_miser import GreedyMiser, MiserTrees

    assert saved_class("shortlist.papers.GreedyMiser") is GreedyMiser
    assert saved_class("shortlist.papers.MiserTrees") is MiserTrees  # no public name, and in every such model
    assert saved_path(GreedyMiser) == "shortlist_papers.GreedyMiser"
    assert saved_class("shortlist.OrderedPruner") is shortlist_papers.OrderedPruner
    with pytest.raises(ImportError, match=r"shortlist.OrderedPruner is shortlist_papers.OrderedPruner now"):
        from shortlist import OrderedPruner as _  # type: ignore[attr-defined]  # not there
    with pytest.raises(ImportError, match=r"shortlist.papers.GreedyMiser is shortlist_papers.GreedyMiser"):
        from shortlist.papers import GreedyMiser as _  # type: ignore[no-redef]  # noqa: F401


def test_a_saved_pruner_that_is_gone_says_what_takes_its_place() -> None:
    for path in ("shortlist.MarginPruner", "shortlist.ensembles.MarginPruner"):
        with pytest.raises(ImportError, match=r'is shortlist_papers.OrderedPruner\(rule="margin"\) now'):
            saved_class(path)


def test_a_renamed_class_keeps_the_name_that_saved_models_have_for_it() -> None:
    assert saved_path(CostAttribute) == "shortlist.multistage.Attribute"
    assert saved_class("shortlist.multistage.Attribute") is CostAttribute
    assert type(pickle.loads(pickle.dumps(one_of(CostAttribute)))) is CostAttribute


def test_results_are_the_same_after_a_pickle() -> None:
    names = ("a", "b")
    objectives = tuple(Objective(name) for name in names)
    front = Front(
        objectives, np.array([[1.0, 2], [2, 1]]), np.eye(2, dtype=int), names, Proof(ProofKind.COMPLETE)
    )
    back = pickle.loads(pickle.dumps(front))
    assert back.proof == front.proof
    assert back.objectives == front.objectives
    assert np.array_equal(back.values, front.values)
    assert pickle.loads(pickle.dumps(Status.OPTIMAL)) is Status.OPTIMAL
    assert copy.deepcopy(front.objectives[0]) == front.objectives[0]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert (
            pickle.loads(pickle.dumps(Fingerprint("0", np.arange(2, dtype=np.uint64)), protocol)).digest
            == "0"
        )


def test_a_subclass_made_elsewhere_is_pickled_as_any_other_class() -> None:
    assert b"test_pickles" in pickle.dumps(one_of(OwnPool))
    assert type(pickle.loads(pickle.dumps(one_of(OwnPool)))) is OwnPool
    assert saved_path(OwnPool) == f"{__name__}.OwnPool"


class OwnPool(Pool):
    """A pool of a user's."""


def test_what_a_pickle_calls_keeps_its_name() -> None:
    assert (restore.__module__, restore.__name__) == ("shortlist.pickles", "restore")


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:150, :3].assign(word=["u", "v", "w"] * 50)
    return X, y[:150]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ExactPruner", {"n_classifiers": 6, "objective": "auto", "node_limit": 50}),
        ("FrontPruner", {"n_classifiers": 6}),
        ("BackfittingPruner", {"n_classifiers": 6}),
        ("GreedyMeansPruner", {"n_classifiers": 6, "n_bags": 2}),
        *(("EvolutionaryEnsembleClassifier", {"space": space, "population_size": 10, "n_generations": 2}) for space in SPACES),
        ("MultiStageClassifier", {}),
        ("MultiStageClassifier", {"subclassifier": GaussianNB()}),
    ],
)  # fmt: skip
def test_a_fitted_estimator_holds_no_private_module(
    rows: tuple[pd.DataFrame, Any], name: str, options: dict[str, Any]
) -> None:
    X, y = rows
    fitted = getattr(shortlist, name)(**options, random_state=0).fit(X, y)
    saved = SavedModel(fitted, tuple(X), "class")
    assert_public(saved)
    back = pickle.loads(pickle.dumps(saved)).estimator
    assert np.array_equal(back.predict(X), fitted.predict(X))


def test_a_pool_of_every_family_holds_no_private_module(rows: tuple[pd.DataFrame, Any]) -> None:
    assert_public(make_pool(*rows, n_classifiers=40, random_state=0))


def test_several_classes_hold_no_private_module(rows: tuple[pd.DataFrame, Any]) -> None:
    X, _ = rows
    assert_public(shortlist.ExactPruner(n_classifiers=6, random_state=0).fit(X, np.arange(150) % 3))


def test_a_model_keeps_an_estimator_that_calls_something_else_chosen() -> None:
    fitted = DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    fitted.chosen_ = {"sum": 1}
    assert SavedModel(fitted, ("a",), "y").estimator is fitted
