"""Findings of `verify` on rows that moved or changed, and on models without a certificate."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, make_classification

from shortlist.ensembles import EvolutionaryEnsembleClassifier, ExactPruner, make_pool
from shortlist.ensembles.committees.evidence import Evidence
from shortlist.ensembles.goals.diversity import MEASURES
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.verification.recheck_model import verify
from shortlist_papers import OrderedPruner

N = 120


def table(n_classes: int) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = make_classification(N, 6, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=1)
    return pd.DataFrame(X, columns=list("abcdef")), np.array(["no", "yes", "perhaps"])[y]


def pool_of(n_classes: int) -> Pool:
    X, y = make_classification(N, 6, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=1)
    return make_pool(pd.DataFrame(X, columns=list("abcdef")), np.array(["no", "yes", "perhaps"])[y], n_classifiers=10,
                     random_state=0, plain=())  # fmt: skip


@pytest.fixture(scope="module")
def pools() -> dict[int, Pool]:
    return {2: pool_of(2), 3: pool_of(3)}


@pytest.fixture(scope="module")
def models(pools: dict[int, Pool]) -> dict[str, Any]:
    """A model of every kind, fitted on its table."""
    unfitted: dict[str, tuple[int, Any]] = {
        "exact": (2, ExactPruner(pools[2], objective="accuracy", node_limit=50, time_limit_s=None, random_state=0)),
        "solver": (2, ExactPruner(pools[2], objective="accuracy", solver="highs", time_limit_s=None)),
        "classes": (3, ExactPruner(pools[3], objective="balanced-accuracy", node_limit=50, time_limit_s=None, random_state=0)),
        "classes by a solver": (3, ExactPruner(pools[3], objective="accuracy", solver="highs", min_size=2, max_size=2, time_limit_s=None)),
        "rule": (3, OrderedPruner(pools[3], rule="reduced-error")),
        "evolved": (3, EvolutionaryEnsembleClassifier(population_size=20, n_generations=2, random_state=0)),
    }  # fmt: skip
    return {name: (n, model.fit(*table(n))) for name, (n, model) in unfitted.items()}


KINDS = ("exact", "solver", "classes", "classes by a solver", "rule", "evolved")

CERTIFIED = ("exact", "classes")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_has_its_value_counted_again(models: dict[str, Any], kind: str) -> None:
    n, model = models[kind]

    found = verify(model, *table(n))

    claimed = model.objective_value_ if isinstance(model, ExactPruner) else model.score(*table(n))
    assert (found.failures, found.notes, found.value) == ((), (), claimed)
    assert found.status == ("counted" if "solver" in kind else "valid")
    assert (found.bound is not None) == (kind in CERTIFIED)
    assert found.evidence is not None
    assert ("because" in found.evidence.claim()) == (kind not in CERTIFIED)


@pytest.mark.parametrize("kind", ["exact", "solver", "classes", "classes by a solver"])
def test_pruning_and_verifying_say_the_same_sentence(models: dict[str, Any], kind: str) -> None:
    n, model = models[kind]

    found = verify(model, *table(n))

    assert found.evidence == model.chosen_.evidence


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_another_order_are_found_by_their_values(models: dict[str, Any], kind: str) -> None:
    n, model = models[kind]
    X, y = table(n)
    order = np.random.default_rng(0).permutation(N)

    found = verify(model, X.iloc[order], y[order])

    assert found.failures == ()
    assert found.value == verify(model, X, y).value
    assert len(found.notes) == 1
    assert found.notes[0].startswith("the rows of the table are in another order; all 120")


@pytest.mark.parametrize("kind", KINDS)
def test_missing_rows_are_said_first_and_nothing_else_is(models: dict[str, Any], kind: str) -> None:
    n, model = models[kind]
    X, y = table(n)
    kept = np.setdiff1d(np.arange(N), [2, 6])

    found = verify(model, X.iloc[kept], y[kept])

    assert len(found.failures) == 1
    assert found.failures[0].startswith(
        "these are not the rows that the model was made from: the table has 118 rows in place of 120, and 2 of the 120"
    )
    assert "rows 3 and 7" in found.failures[0]


def test_rows_that_took_no_part_may_be_missing_or_new(models: dict[str, Any], pools: dict[int, Pool]) -> None:
    X, y = table(2)
    model = ExactPruner(pools[2], objective="accuracy", node_limit=50, time_limit_s=None, random_state=0).fit(
        X.iloc[20:], y[20:]
    )
    part = np.arange(20, N)
    whole = dataclasses.replace(models["exact"][1].validation_, rows=part)
    model.validation_ = dataclasses.replace(model.validation_, rows=part, table=whole.table)

    fewer = verify(model, X.iloc[1:], y[1:])
    more = verify(model, pd.concat([X, X.iloc[:1] + 1]), np.append(y, y[:1]))
    other = verify(model, X.assign(a=np.where(np.arange(N) == 4, 99.0, X["a"])), y)

    assert [found.failures for found in (fewer, more, other)] == [(), (), ()]
    assert "1 row is missing (row 1 of the old table)" in fewer.notes[0]
    assert "1 row is new (row 121 of this one)" in more.notes[0]
    assert "1 row has other values in this table (row 5, counted from 1)" in other.notes[0]


def test_changed_values_that_change_no_vote_are_a_note(models: dict[str, Any]) -> None:
    n, model = models["exact"]
    X, y = table(n)
    nudged = X.copy()
    nudged.iloc[[7, 30], 0] = np.nextafter(nudged.iloc[[7, 30], 0], 9)

    found = verify(model, nudged, y)

    assert found.failures == ()
    assert "2 of the 120 selection rows have other values in this table (rows 8 and 31" in found.notes[0]


@pytest.mark.parametrize("kind", ["exact", "classes", "rule"])
def test_other_classes_or_votes_come_after_what_is_wrong_with_the_rows(
    models: dict[str, Any], kind: str
) -> None:
    n, model = models[kind]
    X, y = table(n)
    turned = y.copy()
    turned[[4, 9]] = np.where(y[[4, 9]] == "no", "yes", "no")

    found = verify(model, X, turned)

    assert found.value is None
    assert "2 of the 120 selection rows have other values in this table (rows 5 and 10" in found.failures[0]
    assert found.failures[1:] == ("2 of 120 selection rows have another class in this table",)
    if kind == "exact":
        failures = verify(model, -X, y).failures
        assert "120 of the 120 selection rows have other values" in failures[0]
        assert "the classifiers vote otherwise" in failures[1]
        assert len(failures) == 2


@pytest.mark.parametrize("kind", ["solver", "classes by a solver", "rule", "evolved"])
def test_a_false_value_fails_without_a_certificate_too(models: dict[str, Any], kind: str) -> None:
    n, model = models[kind]
    if isinstance(model, ExactPruner):
        before = model.result_
        model.result_ = dataclasses.replace(before, value=before.value + 0.01, bound=before.bound + 0.01)
        failures = verify(model, *table(n)).failures
        model.result_ = before
    elif kind == "rule":
        before = model.accuracy_
        model.accuracy_ = before + 0.01
        failures = verify(model, *table(n)).failures
        model.accuracy_ = before
    else:
        before = model.result_
        model.result_ = dataclasses.replace(before, error=before.error - 0.01)
        failures = verify(model, *table(n)).failures
        model.result_ = before

    assert any("the model claims the value" in sentence for sentence in failures)


@pytest.mark.parametrize("kind", ["solver", "classes by a solver"])
def test_limits_that_the_members_break_fail_without_a_certificate_too(
    models: dict[str, Any], kind: str
) -> None:
    n, model = models[kind]
    size = int(model.selection_.sum())
    chosen = model.chosen_
    larger = dataclasses.replace(chosen, terms=dataclasses.replace(chosen.terms, min_size=size + 1))
    failures = verify(larger, *table(n)).failures

    assert any("limits" in sentence for sentence in failures)


def test_diversity_of_several_classes_is_checked_from_the_answers_on_record(models: dict[str, Any]) -> None:
    n, model = models["classes by a solver"]
    model.set_params(diversity={"measure": "disagreement", "each": 1.0})
    try:
        found = verify(model, *table(n))
    finally:
        model.set_params(diversity="none")

    assert model.selection_.sum() == 2
    assert "the members break the diversity limits" in found.failures


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("measure", ["disagreement", "double-fault", "q"])
def test_limits_on_every_measure_of_diversity_are_rechecked(
    pools: dict[int, Pool], measure: str, n: int
) -> None:
    model = ExactPruner(
        pools[n], objective="accuracy", diversity=f"{measure}-average", min_size=2, node_limit=50, time_limit_s=None,
        random_state=0,
    ).fit(*table(n))  # fmt: skip
    found = verify(model, *table(n))
    assert found.failures == ()
    assert found.certificate is not None
    assert found.certificate["limits"]["measure"] == measure
    nothing_keeps_it = {"measure": measure, "mean": MEASURES[measure].at_full}
    failures = verify(model.set_params(diversity=nothing_keeps_it), *table(n)).failures
    assert any("limits" in sentence for sentence in failures)


@pytest.mark.parametrize(
    ("certified", "bound", "sentence"),
    [
        (0.9, 0.9, "best of all selections (proved by its certificate)"),
        (0.95, 0.95, "at most 0.05 (5.26 %) below the best of all selections (proved by its certificate)"),
        (0.95, 0.92, "at most 0.02 (2.17 %) below the best of all selections (CP-SAT); the certificate alone proves it within 5.26 %"),
        (None, 0.9, "best of all selections (CP-SAT); no certificate, because of this"),
        (None, None, "nothing is proved, because of this"),
    ],
)  # fmt: skip
def test_the_line_of_proof_has_one_order(certified: float | None, bound: float | None, sentence: str) -> None:
    known = Evidence(
        objective="accuracy", value=0.9, certified_bound=certified, certified_by="" if certified is None else "cuts",
        no_certificate="of this", bound=bound, bound_by="cuts" if bound == certified else "CP-SAT",
    )  # fmt: skip

    text = known.sentence()

    assert text == f"accuracy 0.9 on the selection rows, counted from the votes: {known.claim()}"
    assert text.endswith(sentence)
    assert known.as_dict()["sentence"] == text


@pytest.mark.parametrize("name", ["selection_", "copies_", "objective_value_", "bound_", "gap_", "status_"])
def test_what_an_estimator_says_cannot_differ_from_what_is_verified(name: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pruned = ExactPruner(n_classifiers=5, random_state=0).fit(X[:300], y[:300])
    with pytest.raises(AttributeError):
        setattr(pruned, name, 1)
    told = getattr(pruned, name)
    if isinstance(told, np.ndarray):
        with pytest.raises(ValueError, match="read-only"):
            told[0] = not told[0]
        assert (told > 0).tolist() == pruned.result_.mask.tolist()
    else:
        assert told == getattr(pruned.result_, {"objective_value_": "value"}.get(name, name.rstrip("_")))


X, Y = make_classification(160, 5, flip_y=0.2, random_state=1)


@pytest.mark.parametrize(
    "pruner",
    [
        ExactPruner(objective="accuracy", node_limit=20, random_state=0),
        ExactPruner(objective="log-loss", voting="soft", node_limit=20, random_state=0),
        ExactPruner(n_classifiers=6, node_limit=20, random_state=0),
        OrderedPruner(rule="margin", random_state=0),
    ],
    ids=["votes", "mean", "out-of-fold", "rule"],
)
def test_a_calibration_that_was_changed_is_told(pruner: Any) -> None:
    if pruner.n_classifiers != 6:
        pruner.set_params(pool=make_pool(X[:80], Y[:80], n_classifiers=8, random_state=0))
    fitted = pruner.fit(X[80:], Y[80:])
    assert verify(fitted, X[80:], Y[80:]).failures == ()
    kept = fitted.calibration_
    own = fitted.committee_
    other = dataclasses.replace(kept, factors=tuple(np.array(kept.factors) * [1, 0.9]))
    fitted.committee_ = dataclasses.replace(own, calibration=other)
    assert "calibrate the probabilities otherwise" in verify(fitted, X[80:], Y[80:]).failures[0]
    fitted.committee_ = dataclasses.replace(own, calibration=None)
    assert "calibrate the probabilities otherwise" in verify(fitted, X[80:], Y[80:]).failures[0]
    source = "shares" if own.probabilities.endswith("mean") else "mean"
    fitted.committee_ = dataclasses.replace(own, calibration=None, probabilities=source)
    assert f"probabilities come from {source}, and should" in verify(fitted, X[80:], Y[80:]).failures[0]
