"""The front of a pool's committees as an estimator."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.tree import DecisionTreeClassifier

from shortlist.ensembles.estimators.front_pruner import FrontPruner
from shortlist.ensembles.fronts.front_claims import paid_columns
from shortlist.ensembles.pools.members import as_pool
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.verification.recheck_model import verify
from shortlist.errors import BadInputError, UnmetChoiceError
from shortlist.results.intervals import difference_of
from shortlist.results.proof import Status, shortfall
from shortlist.results.repeated_choice import deal_parts
from shortlist.runs import open_study
from tests.ensembles.pools.test_judges import made

X, Y = make_classification(180, 6, n_informative=4, flip_y=0.2, random_state=3)
NAMES = np.where(Y == 1, "ill", "well")


def trees(y: NDArray[Any] = NAMES) -> Pool:
    return as_pool(
        [
            DecisionTreeClassifier(max_depth=1 + seed % 3, max_features=2, random_state=seed).fit(
                X[:90], y[:90]
            )
            for seed in range(7)
        ]
    )


def test_the_point_that_is_picked_predicts_with_its_threshold() -> None:
    objectives = ["max true-positives", "max true-negatives", "min size"]
    pool = trees()
    for point in range(3):
        fitted = FrontPruner(pool, objectives=objectives, positive="ill", pick=point).fit(X[90:], NAMES[90:])
        found = dict(zip(fitted.front_.names, fitted.front_.values[point], strict=True))
        ill = NAMES[90:] == "ill"
        said = fitted.predict(X[90:]) == "ill"
        assert ((ill & said).sum(), (~ill & ~said).sum(), len(fitted.pool_)) == tuple(found.values())
        assert fitted.point_ == point


def test_the_best_of_a_complete_front_is_optimal_and_verified() -> None:
    fitted = FrontPruner(trees(), pick=0).fit(X[90:], NAMES[90:])

    assert fitted.status_ is Status.OPTIMAL
    assert fitted.objective_value_ == fitted.bound_ == fitted.front_.values[0, 0]
    assert fitted.score(X[90:], NAMES[90:]) == pytest.approx(fitted.objective_value_)
    checked = verify(fitted, X[90:], NAMES[90:])
    assert checked.failures == ()
    assert checked.value == pytest.approx(fitted.objective_value_)


def test_a_smaller_committee_of_a_complete_front_is_proved_to_be_the_best_of_its_size() -> None:
    fitted = FrontPruner(trees(), pick=1).fit(X[90:], NAMES[90:])

    assert fitted.status_ is Status.OPTIMAL
    assert fitted.bound_ == fitted.objective_value_ < fitted.front_.values[0, 0]
    checked = verify(fitted, X[90:], NAMES[90:])
    assert checked.failures == ()
    assert checked.evidence is not None
    assert "best of all selections within its own size (" in checked.evidence.claim()


def test_a_committee_that_another_one_of_its_size_beats_says_how_far_it_is_from_that_one() -> None:
    objectives = ["max recall", "max specificity", "min size"]
    seen = set()
    front = FrontPruner(trees(), objectives=objectives, positive="ill", pick=0).fit(X[90:], NAMES[90:]).front_
    for pick in range(len(front)):
        fitted = FrontPruner(trees(), objectives=objectives, positive="ill", pick=pick)
        fitted.fit(X[90:], NAMES[90:])
        recall, _, size = front.values[pick]
        best = front.values[front.values[:, 2] <= size, 0].max()
        seen.add(str(fitted.status_))
        assert (fitted.status_ is Status.OPTIMAL) == (recall == best)
        assert fitted.bound_ == pytest.approx(best)
        evidence = verify(fitted, X[90:], NAMES[90:]).evidence
        assert evidence is not None
        if recall < best < front.values[0, 0]:
            assert evidence.claim().startswith(
                shortfall(recall, best, "the best of all selections within its own size")
            )
            seen.add("below the best of its size, which is not the best of all sizes")
    assert len(seen) == 3


@pytest.mark.parametrize("objectives", [("max accuracy", "min size"), ("min log-loss", "min size")])
def test_the_smallest_within_chance_of_the_best_is_taken(objectives: tuple[str, ...]) -> None:
    X_rows, y_rows = X[90:], NAMES[90:]
    fitted = FrontPruner(trees(), objectives=objectives, pick="smallest", random_state=0).fit(X_rows, y_rows)
    front, sizes = fitted.front_, fitted.front_.decisions.sum(axis=1)

    def right(point: int) -> np.ndarray:
        one = FrontPruner(trees(), objectives=objectives, pick=point, random_state=0).fit(X_rows, y_rows)
        return np.asarray(one.predict(X_rows) == y_rows)

    best = int(np.argmin(front.points[:, 0]))
    near = [
        p for p in range(len(front)) if difference_of(right(p), right(best)).kind(cheaper=False) != "worse"
    ]
    assert sizes[fitted.point_] == min(sizes[near])
    assert fitted.chosen_.pick is not None
    assert str(fitted.chosen_.pick.rule) == "smallest"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_as_good_takes_the_cheapest_that_repeated_choice_finds_as_good(n_classes: int) -> None:
    answers, truth = made(160, 6, n_classes, absent=0.0, seed=4)
    prices = {f"j{k}": 1.0 + k for k in range(6)}
    pool = Pool.from_answers(answers, truth, costs=prices)
    asked = "max accuracy, min cost"
    fitted = FrontPruner(pool, objectives=asked, pick="as-good", margin=0.02, random_state=3)
    fitted.fit(answers, truth)
    front, told = fitted.front_, fitted.front_.extras["beside_single"]
    right = answers.to_numpy() == truth[:, None]
    parts = deal_parts(truth, 3, n_candidates=6)
    gains = np.zeros((len(front), *parts.shape))
    for deal, part in enumerate(parts):
        for half in range(2):
            kept, held = np.flatnonzero(part != half), np.flatnonzero(part == half)
            single = right[kept].mean(axis=0).argmax()
            again = FrontPruner(pool, objectives=asked, pick=0, random_state=3)
            again.fit(answers.iloc[kept], truth[kept])
            values, found = again.front_.values, {}
            for point, most in enumerate(front.values[:, 1]):
                own = np.flatnonzero(values[:, 1] <= most)
                taken = int(own[values[own, 0].argmax()]) if len(own) else len(values) - 1
                if taken not in found:
                    one = FrontPruner(pool, objectives=asked, pick=taken, random_state=3)
                    one.fit(answers.iloc[kept], truth[kept])
                    found[taken] = one.predict(answers.iloc[held]) == truth[held]
                gains[point, deal, held] = found[taken] - 1.0 * right[held, single]
    best = int(right.mean(axis=0).argmax())
    itself = [point for point, mask in enumerate(front.decisions) if mask.sum() == mask[best] == 1]
    gains[itself] = 0.0  # no worse than itself
    assert told["single"] == f"j{best}"
    assert [one[0] for one in told["differences"]] == pytest.approx(gains.mean(axis=(1, 2)).tolist())
    lows = np.array([one[1] for one in told["differences"]])
    errors = 1.96 * np.sqrt(gains.var(axis=2, ddof=1).mean(axis=1) / 160)
    assert lows == pytest.approx(gains.mean(axis=(1, 2)) - errors, abs=2e-3)
    good = np.flatnonzero(lows >= -0.02)
    expected = good[front.values[good, 1].argmin()] if len(good) else lows.argmax()
    assert fitted.point_ == expected == front.pick("as-good").index


def test_as_good_is_refused_where_there_is_nothing_to_save_on() -> None:
    asked = FrontPruner(trees(), objectives="max recall, max specificity", pick="as-good")
    with pytest.raises(BadInputError, match="one of members, such as min size"):
        asked.fit(X[90:], NAMES[90:])


def test_objectives_may_be_one_text_with_commas() -> None:
    listed = FrontPruner(trees(), objectives=["max recall", "min size"]).fit(X[90:], NAMES[90:])
    text = FrontPruner(trees(), objectives="max recall, min size").fit(X[90:], NAMES[90:])

    assert text.front_.values.tolist() == listed.front_.values.tolist()


def test_judges_who_abstain_vote_by_plurality() -> None:
    answers = pd.DataFrame(
        {
            "a": NAMES,
            "b": np.roll(NAMES, 1),
            "c": [name if x > 0 else None for name, x in zip(NAMES, X[:, 0], strict=True)],
        }
    )
    judges = Pool.from_answers(answers, NAMES, costs={"a": 5, "b": 1, "c": 2.5})
    fitted = FrontPruner(judges, objectives=["max recall", "min cost"], pick=0).fit(answers, NAMES)

    assert fitted.threshold_ is None
    assert fitted.front_.values[0].tolist() == [1, 5]
    assert fitted.objective_value_ == (NAMES == "well").sum()


def test_several_classes_vote_by_plurality() -> None:
    y = np.digitize(X[:, 0] + X[:, 1], [-1, 1])
    fitted = FrontPruner(
        trees(y), objectives=["max recall:0", "max recall:2", "min size"], pick="lexicographic"
    ).fit(X[90:], y[90:])

    truth, said = y[90:], fitted.predict(X[90:])
    assert fitted.threshold_ is None
    assert (said[truth == 0] == 0).mean() == pytest.approx(fitted.front_.values[fitted.point_, 0])


def test_prices_are_those_given_or_the_pools_own() -> None:
    pool = trees()
    priced = Pool(pool.classifiers, pool.classes, pool.names, pool.families, costs=np.arange(7) / 2)
    own = FrontPruner(priced, objectives=["max accuracy", "min cost"]).fit(X[90:], NAMES[90:])
    given = FrontPruner(pool, objectives=["max accuracy", "min cost"], member_costs=[1] * 7).fit(
        X[90:], NAMES[90:]
    )

    assert own.prices_["cost"].tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    assert set(given.prices_) == {"cost"}
    assert given.front_.candidates == pool.names


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"objectives": ["max accuracy", "min cost"]}, "min cost needs the cost of every member"),
        ({"member_costs": [1] * 7}, "`member_costs` belong to the objective min cost"),
        ({"objectives": ["max accuracy", "min cost"], "member_costs": [-1] * 7}, "at least 0, got -1"),
        (
            {"objectives": ["max accuracy", "min cost"], "member_costs": [1]},
            "one entry per classifier, 7, got 1",
        ),
        ({"pick": "nearest"}, "pick must be one of"),
        ({"pick": -1}, "pick must be at least 0"),
        ({"min_size": 0}, "min_size must be at least 1"),
        ({"positive": "sick"}, "positive must be one of"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        FrontPruner(trees(), **options).fit(X[90:], NAMES[90:])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"pick": 99}, "pick is point 99"), ({"min_size": 9}, "no committee has 9 members")],
)
def test_a_point_that_is_not_there_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UnmetChoiceError, match=sentence):
        FrontPruner(trees(), **options).fit(X[90:], NAMES[90:])


def test_it_fits_a_pool_of_its_own_on_a_table() -> None:
    table = pd.DataFrame(X, columns=list("abcdef"))
    fitted = FrontPruner(n_classifiers=5, random_state=0).fit(table, NAMES)

    assert list(fitted.front_.names) == ["accuracy", "size"]
    assert fitted.predict_proba(table).shape == (180, 2)


def test_a_loss_among_the_objectives_makes_the_mean_decide() -> None:
    objectives = ["min log-loss", "min brier", "min size"]
    best = FrontPruner(trees(), objectives=objectives, pick=0, random_state=0).fit(X[90:], NAMES[90:])
    last = FrontPruner(trees(), objectives=objectives, pick=len(best.front_) - 1, random_state=0)
    last.fit(X[90:], NAMES[90:])

    for fitted in (best, last):
        loss, brier, size = fitted.front_.values[fitted.point_]
        assert log_loss(NAMES[90:], fitted.predict_proba(X[90:])) == pytest.approx(loss, abs=1e-3)
        assert brier_score_loss(NAMES[90:] == "well", fitted.predict_proba(X[90:])[:, 1]) == pytest.approx(
            brier, abs=1e-4
        )
        assert len(fitted.pool_) == size
        assert fitted.objective_value_ == pytest.approx(loss)
        assert verify(fitted, X[90:], NAMES[90:]).failures == ()
    assert best.status_ is Status.OPTIMAL
    values = last.front_.values
    assert last.status_ is Status.FEASIBLE, "another one of its size has a smaller loss"
    assert last.bound_ == pytest.approx(values[values[:, 2] <= values[-1, 2], 0].min())


def test_a_study_belongs_to_its_prices(tmp_path: Path) -> None:
    pruner = FrontPruner(trees(), objectives=["max accuracy", "min cost"], random_state=0)
    priced, other = (dataclasses.replace(trees(), costs=np.arange(7.0) * factor) for factor in (1, 7))
    with open_study(tmp_path / "s.db") as study:
        pruner.set_params(pool=priced).fit(X[90:], NAMES[90:], study=study)
        pruner.set_params(pool=other)
        with pytest.raises(BadInputError, match="another question: the cost of members was"):
            pruner.fit(X[90:], NAMES[90:], study=study)


@pytest.mark.parametrize(
    ("first", "by"),
    [
        ("max accuracy", "(exact pruning before the full search)"),
        ("min log-loss", "(exact pruning within each limit)"),
    ],
)
def test_of_a_front_that_was_stopped_verify_says_whose_the_bound_is(first: str, by: str) -> None:
    X, y = make_classification(120, 6, n_informative=4, flip_y=0.2, random_state=1)
    objectives = [first, "min size"]
    pool = [DecisionTreeClassifier(max_depth=2, random_state=seed, max_features=1) for seed in range(20)]
    fitted = FrontPruner(
        [tree.fit(X[:60], y[:60]) for tree in pool], objectives=objectives, time_limit_s=1e-9, random_state=0
    ).fit(X[60:], y[60:])

    found = verify(fitted, X[60:], y[60:])

    assert fitted.status_ is Status.FEASIBLE
    assert found.failures == ()
    assert found.evidence is not None
    assert by in found.evidence.sentence()


def test_a_study_of_losses_belongs_to_its_question(tmp_path: Path) -> None:
    pruner = FrontPruner(trees(), objectives=["min log-loss", "min brier", "min size"], random_state=0)
    with open_study(tmp_path / "s.db") as study:
        first = pruner.fit(X[90:], NAMES[90:], study=study).front_.points.tolist()
        again = pruner.fit(X[90:], NAMES[90:], study=study).front_.points.tolist()
        with pytest.raises(BadInputError, match="another question"):
            pruner.set_params(objectives=["min brier", "min size"]).fit(X[90:], NAMES[90:], study=study)
    assert first == again


def shares_of_judges() -> pd.DataFrame:
    """Probabilities of two judges, one of whom abstains on some rows."""
    ill = np.random.default_rng(0).uniform(0.1, 0.9, (2, len(Y)))
    ill[1, ::9] = np.nan
    columns = {
        f"j{k}:{name}": ill[k] if name == "ill" else 1 - ill[k] for k in (0, 1) for name in ("ill", "well")
    }
    return pd.DataFrame(columns)


def test_a_positive_class_goes_with_means_of_judges_who_abstain() -> None:
    answers = shares_of_judges()
    judges = Pool.from_answers(answers, NAMES)
    objectives = ["min log-loss", "min brier", "min size"]

    fitted = FrontPruner(judges, objectives=objectives, positive="ill", random_state=0).fit(answers, NAMES)

    assert fitted.voting_ == "soft"
    assert fitted.positive_ == "ill"
    assert verify(fitted, answers, NAMES).failures == ()
    with pytest.raises(BadInputError, match="positive must be left out where judges abstain"):
        FrontPruner(judges, positive="ill", random_state=0).fit(answers, NAMES)


def test_losses_of_judges_who_give_classes_alone_are_refused_before_any_is_asked() -> None:
    answers = pd.DataFrame({"a": NAMES, "b": np.roll(NAMES, 1)})
    pruner = FrontPruner(
        Pool.from_answers(answers, NAMES), objectives=["min brier", "min log-loss", "min size"]
    )

    with pytest.raises(BadInputError, match=r"a and b.*, or leave brier and log-loss out of the objectives"):
        pruner.check_options(NAMES)


@pytest.mark.parametrize("has_pool", [True, False])
def test_more_rows_than_losses_are_compared_on_are_refused_before_any_is_asked(has_pool: bool) -> None:
    pruner = FrontPruner(trees() if has_pool else None, objectives=["min log-loss", "min brier", "min size"])
    most = 47_662 if has_pool else 158_873  # of which three tenths prune

    pruner.check_options(np.resize(NAMES, most))
    with pytest.raises(BadInputError, match=r"at most 47,662 pruning rows, .* got 47,663"):
        pruner.check_options(np.resize(NAMES, most + 1))


@pytest.mark.parametrize("absent", [0.0, 0.2])
@pytest.mark.parametrize("value", ["max accuracy", "min log-loss"])
def test_what_a_front_says_is_paid_is_what_early_exit_pays(value: str, absent: float) -> None:
    answers, truth = made(70, 5, 2, absent=absent, seed=5)
    table = answers
    if value == "min log-loss":
        shares = answers.apply(lambda column: column.map({"a": 0.2, "b": 0.7}))
        table = pd.concat([shares.add_suffix(":b"), (1 - shares).add_suffix(":a")], axis=1)
    pool = Pool.from_answers(table, truth, costs={name: 5.0 - place for place, name in enumerate(answers)})
    front = FrontPruner(pool, objectives=[value, "min cost"]).fit(table, truth).front_

    assert len(front) > 1
    for point in range(len(front)):
        fitted = FrontPruner(pool, objectives=[value, "min cost"], pick=point).fit(table, truth)
        early = fitted.predict_early(table)
        heard = table.notna().to_numpy().any(axis=1)
        assert early.costs is not None
        assert heard.all() or absent
        assert early.costs.mean() == pytest.approx(front.extras["price_paid"][point])
        assert early.calls.mean() == pytest.approx(front.extras["calls"][point])


def test_fronts_by_other_objectives_tell_what_is_paid() -> None:
    answers, truth = made(60, 5, 2, absent=0, seed=6)
    pool = Pool.from_answers(answers, truth, costs={name: 1.0 + place for place, name in enumerate(answers)})
    front = FrontPruner(pool, objectives=["max accuracy", "min cost"]).fit(answers, truth).front_
    costs = front.values[:, 1]

    assert paid_columns(front).keys() == {"calls", "price-paid"}
    for point, (calls, paid) in enumerate(zip(*paid_columns(front).values(), strict=True)):
        size = int(front.decisions[point].sum())
        assert 1 <= calls <= size
        assert 0 < paid <= costs[point]
        assert (paid == costs[point]) == (calls == size)
    with pytest.raises(BadInputError, match="min cost needs the cost of every member, got none"):
        FrontPruner(Pool.from_answers(answers, truth), objectives="max accuracy, min cost").fit(
            answers, truth
        )


def test_a_committee_that_answers_one_class_only_asks_one_member() -> None:
    fitted = FrontPruner(trees(), objectives=["max specificity", "min size"], positive="ill").fit(
        X[90:], NAMES[90:]
    )
    assert fitted.threshold_ == len(fitted.pool_) == 1
    assert (fitted.predict(X[90:]) == "well").all()
    assert (fitted.predict_early(X[90:]).calls == 1).all()
    assert fitted.front_.extras["calls"][fitted.point_] == 1
    assert fitted.front_.extras["price_paid"] is None
