"""A row that no member answers is wrong: what is claimed of it, proved, verified and predicted is one."""

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist import ExactPruner
from shortlist.ensembles import BackfittingPruner, Pool, make_pool
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.estimators.front_pruner import FrontPruner
from shortlist.ensembles.estimators.rows import split_rows
from shortlist.ensembles.evolved_table import evolve_table
from shortlist.ensembles.pruned_table import prune_table
from shortlist.ensembles.verification.recheck_model import recheck_committees, verify
from shortlist.ensembles.verification.recheck_vote_certificate import check_certificate
from shortlist.errors import BadInputError, UnknownWordWarning
from shortlist.results.measuring import PAPER, Measuring
from shortlist.results.proof import Status
from shortlist.tables.splits import TEST_SHARE
from shortlist_papers.rules.rule_pruners import pruning_methods
from tests.ensembles import plurality_oracles, rule_oracles
from tests.ensembles.plurality_oracles import Pool as Samples
from tests.ensembles.plurality_oracles import as_votes, class_pools
from tests.examples import examples

CLASSES = np.array(["a", "b", "c", "d"])

silent_pools = class_pools(max_classifiers=6, max_rows=20).filter(
    lambda pool: any(vote == pool[2] for votes, _ in pool[0] for vote in votes)
)
"""Pools in which somebody abstains."""


def _table(pool: Samples) -> tuple[Pool, pd.DataFrame, NDArray[Any]]:
    """Return judges, their answers, and the true classes; all classes occur, and no judge is a constant."""
    samples, k, n_classes = pool
    assume({label for _, label in samples} == set(range(n_classes)))
    words = [*CLASSES[:n_classes].tolist(), None]
    answers = pd.DataFrame(
        {f"j{place}": [words[votes[place]] for votes, _ in samples] for place in range(k)}, dtype=object
    )
    truth = CLASSES[[label for _, label in samples]]
    assume(all(answers[name].nunique(dropna=False) > 1 for name in answers))
    return Pool.from_answers(answers, truth), answers, truth


def _value(right: NDArray[np.bool_], truth: NDArray[Any], objective: Any) -> Fraction:
    if isinstance(objective, dict):
        return sum((Fraction(objective[c]) * int(right[truth == c].sum()) for c in objective), Fraction(0))
    if objective == "accuracy":
        return Fraction(int(right.sum()), len(right))
    shares = [Fraction(int(right[truth == c].sum()), int((truth == c).sum())) for c in np.unique(truth)]
    return sum(shares, Fraction(0)) / len(shares)


def _members(mask: NDArray[np.bool_]) -> list[int]:
    return [int(k) for k in np.flatnonzero(mask)]


@examples(40)
@given(pool=silent_pools, data=st.data())
def test_value_bound_certificate_and_verify_are_of_what_is_predicted(
    pool: Samples, data: st.DataObject
) -> None:
    judges, answers, truth = _table(pool)
    samples, k, n_classes = pool
    worth = {c: data.draw(st.integers(1, 5)) for c in CLASSES[:n_classes].tolist()}
    objective = data.draw(st.sampled_from(["accuracy", "balanced-accuracy", worth]))
    least = data.draw(st.integers(1, k))
    most = data.draw(st.integers(least, k))
    fitted = ExactPruner(
        judges, objective=objective, voting="hard", min_size=least, max_size=most, random_state=0
    ).fit(answers, truth)

    said = fitted.predict(answers)
    assert fitted.objective_value_ == pytest.approx(float(_value(said == truth, truth, objective)))
    decided = rule_oracles.decisions(samples, _members(fitted.selection_), n_classes)
    assert said.tolist() == ["REJECT" if code < 0 else CLASSES[code] for code in decided]
    best = max(
        _value(np.array(rule_oracles.right(samples, list(members), n_classes)), truth, objective)
        for size in range(least, most + 1)
        for members in itertools.combinations(range(k), size)
    )
    assert fitted.status_ == Status.OPTIMAL
    assert fitted.bound_ == fitted.objective_value_ == pytest.approx(float(best))
    assert verify(fitted, answers, truth, pool=judges).valid
    assert fitted.result_.decisions.sum() == (said != "REJECT").sum()


@examples(15)
@given(pool=silent_pools, objectives=st.sampled_from(["accuracy", "recall:a"]), paid=st.booleans())
def test_fronts_count_and_check_such_rows_as_they_are_answered(
    pool: Samples, objectives: str, paid: bool
) -> None:
    judges, answers, truth = _table(pool)
    samples, k, n_classes = pool
    name = "specificity" if objectives == "recall:a" and n_classes == 2 else objectives
    fitted = FrontPruner(
        judges, objectives=[f"max {objectives}", "min cost" if paid else "min size"],
        member_costs=list(range(1, k + 1)) if paid else None, random_state=0,
    ).fit(answers, truth)  # fmt: skip

    counted = slice(None) if name == "accuracy" else truth == "a"
    shares = {}
    for size in range(1, k + 1):
        for members in itertools.combinations(range(k), size):
            right = np.array(rule_oracles.right(samples, list(members), n_classes))
            shares[members] = float(right[counted].mean())
    found = fitted.front_
    for values, chosen in zip(found.values.tolist(), found.decisions.astype(bool), strict=True):
        assert values[0] == pytest.approx(shares[tuple(_members(chosen))])
    assert max(found.values[:, 0]) == pytest.approx(max(shares.values()))
    if paid:
        early = fitted.predict_early(answers)
        assert early.costs is not None
        assert early.costs.mean() == pytest.approx(found.extras["price_paid"][fitted.point_])
    for most in (2**17, 0):  # counted, and asked
        assert not recheck_committees(fitted.chosen_, found, answers, truth, most=most).failures


@examples(20)
@given(
    pool=silent_pools, rule=st.sampled_from(["reduced-error", "uwa", "drep", "margin", "backfitting", "full"])
)
def test_rules_are_as_accurate_as_they_say(pool: Samples, rule: str) -> None:
    judges, answers, truth = _table(pool)
    samples, _, n_classes = pool
    fitted = pruning_methods([rule])[rule].set_params(pool=judges, random_state=0).fit(answers, truth)

    right = rule_oracles.right(samples, fitted.members_.tolist(), n_classes)
    assert fitted.accuracy_ == pytest.approx(np.mean(right))
    assert fitted.score(answers, truth) == pytest.approx(fitted.accuracy_)
    assert verify(fitted, answers, truth).valid
    if rule != "backfitting":
        order = fitted.ordering_.order.tolist()
        assert fitted.ordering_.right.tolist() == [
            rule_oracles.n_right(samples, order[: size + 1], n_classes) for size in range(len(order))
        ]


@given(pool=silent_pools, sizes=plurality_oracles.sizes)
def test_no_vote_at_all_is_a_rival_of_the_first_class_alone(pool: Samples, sizes: tuple[int, int]) -> None:
    votes = as_votes(pool, merged=True)
    least, most = min(sizes), min(max(sizes), pool[1])
    rows = plurality_oracles.rows_of(votes, min_size=min(least, most), max_size=most)
    no_vote = rows.rivals == pool[2]
    assert (votes.labels[rows.places[rows.row_of[no_vote]]] == 0).all()
    assert (rows.signs[no_vote] >= 0).all()
    assert (rows.least[no_vote] == 1).all()


def test_the_form_of_no_vote_proves_nothing_where_all_classifiers_vote() -> None:
    """Right on the first class: an empty selection, where no classifier abstains."""
    answers, labels = [[0, 1], [1, 0]], [0, 1]
    claim = {
        "gains": [1, 1], "limits": {"min_size": 0, "max_size": 2}, "members": [], "value": 1, "bound": 1,
        "denominator": 1, "data": "", "cuts": [{"rows": [0], "rivals": [2], "multipliers": [9], "weight": 1}],
    }  # fmt: skip
    assert any("cut 0" in one for one in check_certificate(claim, answers, labels, 2).failures)


def test_an_empty_selection_is_refused_where_judges_abstain() -> None:
    answers = pd.DataFrame({"a": ["no", None, "yes"], "b": ["no", "yes", "no"]})
    truth = np.array(["no", "yes", "yes"])
    with pytest.raises(BadInputError, match="min_size must be at least 1 where judges abstain, got 0"):
        ExactPruner(Pool.from_answers(answers, truth), voting="hard", min_size=0).fit(answers, truth)


def test_filters_that_say_nothing_to_half_of_the_mail_are_not_right_on_it() -> None:
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(400) < 0.5, "ham", "spam")
    answers = pd.DataFrame(
        {f"filter{k}": ["spam" if label == "spam" else None for label in truth] for k in range(3)}
    )
    answers["reader"] = np.where(rng.random(400) < 0.9, truth, np.roll(truth, 1))
    pruned = prune_table(
        answers, truth, ExactPruner(Pool.from_answers(answers, truth), objective="accuracy", random_state=0)
    )

    assert "reader" in pruned.pruner.pool_.names
    assert pruned.right_where_chosen["pruned"] / pruned.n_rows["validation"] == pytest.approx(
        pruned.pruner.objective_value_
    )
    assert pruned.test["pruned"].accuracy > 0.85


def _blank_rows() -> tuple[pd.DataFrame, NDArray[Any], NDArray[np.bool_]]:
    """A table of features, its classes, and which rows have no value at all."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"a": rng.normal(size=160), "b": rng.normal(size=160), "c": rng.choice(["x", "y"], 160)}
    )
    truth = np.where(table["a"] + (table["c"] == "x") > 0.5, "yes", "no")
    blank = np.arange(160) % 8 == 0
    table.loc[blank, ["a", "b"]] = np.nan
    table.loc[blank, "c"] = [None, "z"] * 10  # a word that the pool has never seen is no value
    return table, truth, blank


@pytest.mark.parametrize("voting", ["hard", "soft", "rule"])
def test_rows_of_features_without_a_value_choose_nothing(voting: str) -> None:
    table, truth, blank = _blank_rows()
    pool = make_pool(table[~blank][:60], truth[~blank][:60], n_classifiers=6, random_state=0)
    pruner: Any = BackfittingPruner(pool)
    if voting != "rule":
        pruner = ExactPruner(pool, voting=voting, random_state=0)
    fitted = pruner.fit(table, truth)

    rows = fitted.validation_.rows
    assert rows.tolist() == np.flatnonzero(~blank).tolist()
    with pytest.warns(UnknownWordWarning):
        said = fitted.predict(table)
    assert (said[blank] == "REJECT").all()
    told = {"hard": lambda: fitted.objective_value_, "rule": lambda: fitted.accuracy_}
    if voting in told:
        assert told[voting]() == pytest.approx((said == truth)[rows].mean())
    else:
        assert fitted.result_.decisions.sum() == len(rows)
    assert verify(fitted, table, truth).valid


@pytest.mark.parametrize("protocol", ["auto", "paper"])
def test_rows_of_features_without_a_value_are_wrong_where_rules_are_measured(protocol: str) -> None:
    table, truth, blank = _blank_rows()
    table.loc[blank, "c"] = None
    found = prune_table(
        table, truth, ExactPruner(random_state=0), n_classifiers=6, measuring=Measuring(protocol)
    )

    assert found.n_rows["validation"] == len(found.pruner.validation_.rows)
    assert not blank[found.pruner.validation_.rows].any()
    assert found.right_where_chosen["pruned"] <= found.n_rows["validation"]
    if protocol == "auto":
        assert found.n_rows["empty"] == blank.sum()
        assert found.n_rows["test"] == len(truth)
        for measured in found.test.values():
            assert len(measured.right) % len(truth) == 0
            by_partition = measured.right.reshape(-1, len(truth))
            assert not by_partition[:, -blank.sum() :].any()
            assert measured.accuracy == pytest.approx(measured.right.mean())


def test_evolution_learns_nothing_from_rows_without_a_value() -> None:
    table, truth, blank = _blank_rows()
    table.loc[blank, "c"] = None
    evolved = EvolutionaryEnsembleClassifier(population_size=20, n_generations=3, random_state=0)
    evolved.fit(table, truth)

    rows = evolved.training_.rows
    assert rows.tolist() == np.flatnonzero(~blank).tolist()
    assert 1 - evolved.result_.error == pytest.approx((evolved.predict(table) == truth)[rows].mean())
    assert verify(evolved, table, truth).valid
    found = evolve_table(table, truth, evolved, measuring=Measuring(PAPER))
    assert not found.test["evolved"].right[blank[split_rows(np.arange(160), truth, TEST_SHARE, 0)[1]]].any()


def test_a_class_without_a_value_anywhere_is_refused() -> None:
    table, truth, blank = _blank_rows()
    truth[blank], truth[~blank] = "no", "yes"
    table["c"] = None
    with pytest.raises(BadInputError, match="every class needs a row with a value"):
        EvolutionaryEnsembleClassifier(population_size=10, n_generations=2).fit(table, truth)


def test_the_shared_filters_need_their_reader(data_folder: Path) -> None:
    table = pd.read_csv(data_folder / "judges" / "cases" / "silent-filters.csv")
    truth = table.pop("target").to_numpy(dtype=object).astype(str)
    fitted = ExactPruner(Pool.from_answers(table, truth), objective="accuracy", random_state=0)
    fitted.fit(table, truth)

    assert fitted.pool_.names == ("filter1", "filter2", "filter3", "reader")
    assert fitted.objective_value_ == pytest.approx(np.mean(fitted.predict(table) == truth))
    assert fitted.objective_value_ == pytest.approx(0.96)


def test_the_busiest_workers_of_a_crowd_are_worth_what_they_answer(data_folder: Path) -> None:
    told = pd.read_csv(data_folder / "judges" / "crowd-product.long.csv.gz")
    truth = pd.read_csv(data_folder / "judges" / "crowd-product.truth.csv").set_index("task").iloc[:, 0]
    busiest = told["worker"].value_counts().index[:15]
    answers = told[told["worker"].isin(busiest)].pivot(index="task", columns="worker", values="label")
    answers.columns = [f"w{worker}" for worker in answers.columns]
    labels = truth.loc[answers.index].to_numpy()
    fitted = ExactPruner(Pool.from_answers(answers, labels), objective="accuracy", random_state=0)
    fitted.fit(answers, labels)

    assert fitted.objective_value_ == pytest.approx(np.mean(fitted.predict(answers) == labels))
    assert fitted.selection_.sum() > 10
    assert verify(fitted, answers, labels).valid
