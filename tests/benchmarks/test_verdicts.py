"""Rules that tell the lead of a committee, beside plain loops, and where there is nothing to lead by."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.studies.verdicts import (
    INTERVALS,
    Answers,
    Draw,
    best_mean,
    rows_of,
    summaries,
    told_by_parts,
    words_and_gaps,
    worth_of_words,
)
from shortlist.ensembles.votes.soft_votes import WHOLE
from shortlist.results.intervals import Z
from shortlist.tables.splits import deal_folds
from tests.examples import examples


def made_answers(
    seed: int, *, skill: float = 0.0, n: int = 120, n_classifiers: int = 8, n_asked: int = 400
) -> Answers:
    """Return answers of classifiers; without skill they know nothing of the classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n + n_asked) % 2)
    scores = skill * (2 * y[:, None] - 1) + rng.normal(size=(n + n_asked, n_classifiers))
    second = (WHOLE / (1 + np.exp(-scores))).round().astype(np.int16)
    shares = np.stack([WHOLE - second, second], axis=2)
    return {"known": shares[:n], "asked": shares[n:], "y": y[:n], "y_asked": y[n:]}


@examples(25)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 4))
def test_no_exchange_of_one_member_has_less_loss_on_the_rows_that_count(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    truly, weights = rng.random((30, 7)), rng.integers(0, 3, 30).astype(float)
    weights[0] = 1
    found = best_mean(truly, weights, size)

    def loss(members: tuple[int, ...]) -> float:
        rows = np.repeat(np.arange(30), weights.astype(int))
        return float(-np.log(np.maximum(truly[rows][:, members].mean(axis=1), 1e-9)).mean())

    assert len(set(found)) == size
    others = [one for one in range(7) if one not in found]
    for member, other in itertools.product(found, others):
        exchanged = tuple(other if one == member else one for one in found)
        assert loss(exchanged) >= loss(found) - 1e-9


@pytest.mark.parametrize("n_times", [1, 3])
def test_the_told_lead_is_the_mean_over_rows_and_deals_of_what_other_parts_choose(n_times: int) -> None:
    answers = made_answers(3, skill=0.4)
    draw = Draw(answers, n_members=3)
    told = told_by_parts(draw, 4, n_times)

    known, y = answers["known"] / WHOLE, answers["y"]
    for place in range(2):
        leads = np.empty((n_times, len(y)))
        for deal in range(n_times):
            part_of = deal_folds(y, 4, 1000 + deal)
            for row in range(len(y)):
                others = np.flatnonzero(part_of != part_of[row])
                shares = [known[others, k, y[others]] for k in range(8)]
                committee = best_mean(np.column_stack(shares), np.ones(len(others)), 3)
                logs = [np.log(np.maximum(one, 1 / WHOLE)).mean() for one in shares]
                right = [(known[others, k].argmax(axis=1) == y[others]).mean() for k in range(8)]
                single = int(np.argmax(right if place == 0 else logs))
                answer = known[row, list(committee)].mean(axis=0).argmax()
                leads[deal, row] = float(answer == y[row]) - float(known[row, single].argmax() == y[row])
        assert told["told"][place] == pytest.approx(leads.mean())
        assert told["paired"][place] == pytest.approx(np.sqrt(leads.var(axis=1, ddof=1).mean() / len(y)))
        assert told["rows"][place] == pytest.approx(leads.mean(axis=0).std(ddof=1) / np.sqrt(len(y)))


def test_where_nobody_knows_anything_no_lead_is_told_beyond_chance() -> None:
    told = [told_by_parts(Draw(made_answers(seed), n_members=3), 5, 10) for seed in range(100)]
    above = np.mean([one["told"] > Z * one["paired"] for one in told], axis=0)

    assert (above <= 0.08).all()
    assert np.mean([one["told"] for one in told], axis=0) == pytest.approx(0, abs=0.02)


def test_every_rule_is_told_beside_the_truth_and_summed_up_with_each_of_its_intervals() -> None:
    rows = [
        {"table": "made", "n_rows": 120, "draw": seed, **row}
        for seed in range(2)
        for row in rows_of(made_answers(seed, skill=0.5), seed)
    ]
    draws = pd.DataFrame(rows)
    found = pd.DataFrame(summaries(draws))

    for row in rows:
        assert row["true"] == pytest.approx(row["committee"] - row["alone"], abs=2e-6)
    assert (found["n_draws"] == 2).all()
    assert set(found["interval"]) == set(INTERVALS)
    each = found[found["interval"] == "paired"]
    of_rule = draws[(draws["rule"] == "5 parts") & (draws["single"] == "accuracy")]
    one = each[(each["rule"] == "5 parts") & (each["single"] == "accuracy")].iloc[0]
    assert one["bias"] == pytest.approx(100 * (of_rule["told"] - of_rule["true"]).mean())


def test_words_and_what_the_first_line_loses() -> None:
    told = pd.Series([0.02, 0.02, -0.02, 0.0, -0.03, 0.001])
    half = pd.Series([0.01, 0.03, 0.04, 0.005, 0.01, 0.05])
    true = pd.Series([0.01, 0.01, 0.02, -0.02, 0.015, -0.002])
    found = worth_of_words(told, told - half, told + half, true)

    # better; as good and favoured; undecided, and the single would lose .02; as good and smaller; worse, which is
    # wrong; undecided, and the committee loses .002
    assert found["better"] == found["worse"] == pytest.approx(1 / 6)
    assert found["as_good"] == found["undecided"] == pytest.approx(1 / 3)
    assert found["wrong"] == pytest.approx(1 / 6)
    assert found["lost"] == pytest.approx(-100 * (0.015 + 0.002) / 6)
    assert found["lost_by_estimate"] == pytest.approx(-100 * (0.02 + 0.015 + 0.002) / 6)


def test_the_made_table_has_words_gaps_and_two_classes_of_one_size() -> None:
    X, y = words_and_gaps(2000)

    assert X["trade"].isna().mean() == pytest.approx(0.1, abs=0.03)
    assert X["town"].nunique() == 24
    assert y.mean() == pytest.approx(0.5, abs=0.02)
