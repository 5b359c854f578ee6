"""Limits that hold for every row: no path through the stages takes more, against every stage assignment."""

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from shortlist.multistage import MultiStageClassifier, feature_costs
from shortlist.multistage.holdout import stage_table
from shortlist.multistage.recheck import recheck_stages
from shortlist.results.front import Front
from shortlist.results.objective import read_limit
from tests.cli.running import done, facts_of

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")

X, Y = make_classification(
    160, 3, n_informative=3, n_redundant=0, n_clusters_per_class=1, flip_y=0.1, random_state=1
)
NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=NAMES)
HOURS = {"a": 4, "b": 6, "c": 0.5, "lab": 5}
COSTS = feature_costs(
    [1, 2, 4], NAMES, groups={"b": "lab", "c": "lab"}, first_prices={"lab": 3}, attributes={"hours": HOURS}
)


def by_hand(assignment: tuple[int, ...]) -> tuple[float, float]:
    """Return the price and the hours of a row that goes through all stages."""
    price, hours, is_open = 0.0, 0.0, False
    for stage in range(max(assignment) + 1):
        new = [name for name, own in zip(NAMES, assignment, strict=True) if own == stage]
        longest = [HOURS[name] for name in new]
        price += sum({"a": 1, "b": 2, "c": 4}[name] for name in new)
        if not is_open and {"b", "c"} & set(new):
            is_open = True
            price += 3
            longest.append(HOURS["lab"])
        hours += max(longest)
    return price, hours


@pytest.mark.parametrize("method", ["enumerate", "windows"])
@pytest.mark.parametrize("limit", ["max hours<=9", "max hours<6", "max acquisition_cost<=6"])
def test_the_best_points_within_a_limit_are_those_of_every_assignment(method: str, limit: str) -> None:
    wanted = read_limit(limit)
    stages = MultiStageClassifier(
        feature_costs=COSTS, confidence=0.8, max_stages=3, method=method, limits=(wanted,), random_state=0
    ).fit(FRAME, Y)
    front, problem = stages.front_, stages.problem_
    place = front.names.index(wanted.name)
    assert place == 3
    for values, assignment in zip(front.values, front.decisions.tolist(), strict=True):
        assert values[place] == by_hand(tuple(assignment))[wanted.name == "max hours"]
    assert wanted.met_by(front.values[[stages.point_], place], None).all()
    points = set()
    for assignment in itertools.product(range(-1, 3), repeat=3):
        if max(assignment) >= 0 and set(assignment) - {-1} == set(range(max(assignment) + 1)):
            values = problem.values(problem.measures(np.array([assignment], dtype=np.int8)))[0]
            values[place] = by_hand(assignment)[wanted.name == "max hours"]
            points.add(tuple((values * [-1, -1, 1, 1]).round(12).tolist()))
    kept = {one for one in points if wanted.met_by(np.array([one[place]]), None).all()}
    best = {
        one for one in kept
        if not any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in kept)
    }  # fmt: skip
    within = {tuple((row * [-1, -1, 1, 1]).round(12).tolist()) for row in front.values}
    assert {one for one in within if wanted.met_by(np.array([one[place]]), None).all()} == best


def test_a_front_with_limits_for_every_row_is_rechecked_by_hand() -> None:
    stages = MultiStageClassifier(
        feature_costs=COSTS,
        confidence=0.8,
        max_stages=2,
        limits=(read_limit("max hours<=9"),),
        random_state=0,
    )
    told = stage_table(FRAME, Y, stages)
    assert told.sentence != "Use these stages: all features at once do not keep the limit on max hours."
    found = recheck_stages(stages, FRAME, Y, n_sampled=30)
    assert (found.failures, found.uncounted, found.n_sampled) == ((), (), 30)
    wrong = np.array(stages.front_.values)
    wrong[0, 3] -= 1
    stages.front_ = Front.from_values(
        stages.front_.objectives, wrong, stages.front_.decisions.astype(np.int8), stages.front_.candidates,
        stages.front_.proof, extras=stages.front_.extras,
    )  # fmt: skip
    assert any("max hours" in failure for failure in recheck_stages(stages, FRAME, Y, n_sampled=5).failures)


def test_the_command_says_what_no_row_exceeds(tmp_path: Path) -> None:
    pd.DataFrame(X, columns=NAMES).assign(ill=np.where(Y, "yes", "no")).to_csv(
        tmp_path / "t.csv", index=False
    )
    (tmp_path / "c.csv").write_text("feature,cost,hours\na,1,4\nb,2,6\nc,4,0.5\n")
    words = [
        "stage", "t.csv", "--target", "ill", "--costs", "c.csv", "--workers", "1", "--set", "max-stages=2",
    ]  # fmt: skip
    free = done(*words, cwd=tmp_path).stdout
    assert re.search(r"No row takes more than cost [\d.]+, hours [\d.]+ \([\d.]+ on average\)\.", free)
    limited: dict[str, Any] = facts_of(*words, "--limit", "max hours<=4.5", cwd=tmp_path)
    assert limited["chosen"]["most"]["hours"] <= 4.5
    assert limited["chosen"]["values"]["max hours"] == limited["chosen"]["most"]["hours"]
    assert limited["advice"]["verdict"] == "unrivalled"
    sentence = "Use these stages: all features at once do not keep the limit on max hours."
    assert limited["advice"]["sentence"] == sentence
    done(*words, "--limit", "max hours<=4.5", "--out", "s.joblib", "--out", "f.parquet", cwd=tmp_path)
    assert done("verify", "s.joblib", "t.csv", cwd=tmp_path).returncode == 0
    used = done("stage", "use", "s.joblib", "--limit", "max hours<=4", cwd=tmp_path).stdout
    assert "No row takes more than" in used
