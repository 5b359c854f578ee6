"""Other classifiers at the stages, ensembles among them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.tree import DecisionTreeClassifier

from shortlist import EvolutionaryEnsembleClassifier
from shortlist.ensembles import ExactPruner, OrderedPruner
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.export.policies import policy_of
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.subclassifiers import foreign_subclassifiers
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.foreign_subclassifiers import ForeignSubclassifiers, seeded
from shortlist.multistage.subclassifiers.subclassifiers import StageRows
from shortlist.runs import Budget, Cancellation, Progress, Unit, Work, open_study, run_units
from shortlist.runs.studies.study import KeepSettings
from shortlist.saved_models import SavedModel, load_model, save_model

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")

X, Y = load_iris(return_X_y=True, as_frame=True)
X = X.iloc[:, [0, 2, 3]]
ENSEMBLES = {
    "pruned with proof": ExactPruner(
        objective="accuracy", n_classifiers=3, max_size=2, pruning_rows="held-out", refit=False
    ),
    "pruned by a rule": OrderedPruner(n_classifiers=3, voting="averaged"),
    "evolved": EvolutionaryEnsembleClassifier(population_size=20, n_generations=3),
}


def staged(ensemble: Any, **options: Any) -> MultiStageClassifier:
    return MultiStageClassifier(
        subclassifier=ensemble,
        feature_costs=[1, 3, 3],
        confidence=0.7,
        max_stages=2,
        random_state=0,
        **options,
    )


@pytest.mark.parametrize("kind", ENSEMBLES)
def test_an_ensemble_answers_at_every_stage_and_is_saved_with_it(kind: str, tmp_path: Path) -> None:
    clf = staged(ENSEMBLES[kind]).fit(X, Y)
    assert clf.front_.proof.kind.value == "complete"
    found = clf.decision_report(X)
    for number, stage in enumerate(clf.model_.stages, start=1):
        here = (found["stage"] == number).to_numpy()
        member = stage.model.estimator
        assert type(member) is type(ENSEMBLES[kind])
        if here.any():
            asked = member.predict_proba(X.to_numpy()[here][:, stage.subset])
            answered = ~found["rejected"].to_numpy()[here]
            assert found["confidence"].to_numpy()[here] == pytest.approx(asked.max(axis=1))
            assert (found["label"].to_numpy()[here] == asked.argmax(axis=1))[answered].all()
    save_model(SavedModel(clf, tuple(X.columns), "kind"), tmp_path / "model.joblib")
    again = load_model(tmp_path / "model.joblib").estimator
    assert (again.predict(X) == clf.predict(X)).all()
    assert (staged(ENSEMBLES[kind]).fit(X, Y).predict(X) == clf.predict(X)).all()  # without a seed of its own
    with pytest.raises(BadInputError, match=f"got a {type(member).__name__} at stage 1. Fit the stages with"):
        policy_of(SavedModel(clf, tuple(X.columns), "kind"))


def test_a_search_with_ensembles_that_was_stopped_goes_on_to_the_same_front(tmp_path: Path) -> None:
    def search(**run: Any) -> MultiStageClassifier:
        options = EmscoOptions(population=4, generations=4, patience=None)
        return staged(ENSEMBLES["evolved"], method="emsco", emsco_options=options).fit(X, Y, **run)

    stop = Cancellation()

    def after_two(progress: Progress) -> None:
        if progress.stage == "generations" and progress.done == 2:
            stop.cancel()

    with open_study(tmp_path / "s.db", keeping=KeepSettings(every_s=0.0, share=np.inf)) as study:
        stopped = search(study=study, cancellation=stop, report=after_two)
        again = search(study=study)
    whole = search()
    assert stopped.result_.n_generations < whole.result_.n_generations == again.result_.n_generations
    assert np.array_equal(again.front_.values, whole.front_.values)
    assert (again.predict(X) == whole.predict(X)).all()


def test_open_seeds_are_set_wherever_they_are_and_others_kept() -> None:
    inner = seeded(CalibratedClassifierCV(ExtraTreesClassifier()), 7)
    assert inner.estimator.random_state == 7
    assert seeded(ExtraTreesClassifier(random_state=3), 7).random_state == 3
    assert ENSEMBLES["evolved"].random_state is None  # those of the user stay as they are


def every_subset() -> np.ndarray:
    return np.array([[bool(number >> place & 1) for place in range(3)] for number in range(1, 8)])


@pytest.mark.parametrize(
    ("after_s", "asked"),
    [(np.inf, [(1, 6), (1, 1)]), (0.0, [(2, 6), (1, 1)]), (1e-9, [(1, 6), (2, 5), (1, 1)])],
    ids=["never", "at once", "after the first"],
)
def test_workers_fit_only_after_seconds_of_fits_here_and_fit_the_same(
    monkeypatch: pytest.MonkeyPatch, after_s: float, asked: list[tuple[int, int]]
) -> None:
    rows = StageRows(
        learn_encoding(X.to_numpy(), list("abc")), X[::2].to_numpy(), Y[::2].to_numpy(), X[1::2].to_numpy(),
        Y[1::2].to_numpy(), 3,
    )  # fmt: skip
    seen, told = [], []

    def here(units: list[Unit], work: Work, **how: Any) -> Any:
        seen.append((work.workers, len(units)))
        return run_units(units, Work(1, report=work.report, cancellation=work.cancellation), **how)

    def bits(n_jobs: int, **options: Any) -> Any:
        fits = ForeignSubclassifiers(rows, DecisionTreeClassifier(max_depth=2), n_jobs=n_jobs, **options)
        slots = np.r_[fits.slots(every_subset()[:-1]), fits.slots(every_subset()[-1:])]
        found = np.zeros((fits.places.capacity, 2, rows.n_words), dtype=np.uint64)
        fits.write_bits(slots, RejectRule((0.9, 0.9, 0.9)), found)
        return found[slots]

    plain = bits(1, capacity=8)
    monkeypatch.setattr(foreign_subclassifiers, "run_units", here)
    budget = Budget(report=lambda progress: told.append((progress.done, progress.total)))
    other = bits(2, capacity=8, workers_after_s=after_s, budget=budget)
    assert np.array_equal(plain, other)
    assert plain.any()
    assert seen == asked
    of_six, of_one = told[:-2], told[-2:]
    assert {total for _, total in of_six} == {6}
    assert [done for done, _ in of_six] == sorted(done for done, _ in of_six)
    assert (of_six[-1], of_one) == ((6, 6), [(0, 1), (1, 1)])


def test_a_cancelled_fit_here_does_not_go_on_with_workers() -> None:
    stop = Cancellation()
    rows = StageRows(
        learn_encoding(X.to_numpy(), list("abc")), X.to_numpy(), Y.to_numpy(), X.to_numpy(), Y.to_numpy(), 3
    )

    def after_two(progress: Progress) -> None:
        if progress.done == 2:
            stop.cancel()

    fits = ForeignSubclassifiers(
        rows, DecisionTreeClassifier(max_depth=2), n_jobs=2, workers_after_s=np.inf,
        budget=Budget(report=after_two, cancellation=stop),
    )  # fmt: skip
    with pytest.raises(FitsStoppedError):
        fits.slots(every_subset())
    assert fits.n_fits == 2
