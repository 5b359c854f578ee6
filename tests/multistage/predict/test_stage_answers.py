"""What stages would answer: counts and outcomes against plain loops, and against predictions."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist import MultiStageClassifier
from shortlist.guarantees.thresholds import possible_thresholds
from shortlist.multistage.holdout import measure_on
from shortlist.multistage.predict.figures import Figures
from shortlist.multistage.predict.stage_answers import NOT_CONFIDENT, StageAnswers, count_staged, outcomes

X, Y = make_classification(500, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=1)


@drawn(data=st.data())
def test_counts_and_outcomes_equal_asking_one_stage_after_another(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(1, 12))
    score = st.sampled_from([NOT_CONFIDENT, 0.6, 0.7, 0.8, 0.9])
    stages = [
        StageAnswers(
            np.array(data.draw(st.lists(score, min_size=n_rows, max_size=n_rows))),
            np.array(data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))),
            np.ones(n_rows, dtype=bool),
        )
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    best = np.max([stage.scores for stage in stages], axis=0)
    thresholds = possible_thresholds(best[best >= 0])
    counts = count_staged(stages, thresholds)
    for place, threshold in enumerate(thresholds.tolist()):
        answered = right = 0
        for row in range(n_rows):
            for stage in stages:
                if stage.scores[row] >= threshold:
                    answered += 1
                    right += int(stage.right[row])
                    break
        assert (counts.answered[place], counts.right[place]) == (answered, right)
        found = outcomes(stages, threshold)
        assert (found.answered.sum(), found.right.sum()) == (answered, right)
        for row, reached in enumerate(found.reached):
            before = [stage.scores[row] >= threshold for stage in stages[: reached - 1]]
            assert not any(before)
            assert found.answered[row] == (stages[reached - 1].scores[row] >= threshold)
            assert found.answered[row] or reached == len(stages)


@pytest.mark.parametrize("kind", ["logistic", "tree", "gaps", "waits"])
@pytest.mark.parametrize("accuracy", [None, 0.75])
def test_every_point_is_measured_as_if_it_were_used(kind: str, accuracy: float | None) -> None:
    table = pd.DataFrame(X, columns=list("abcd"))
    new = table.iloc[350:].copy()
    rng = np.random.default_rng(0)
    if kind == "gaps":
        table = table.mask(rng.random(table.shape) < 0.1)
        new = table.iloc[350:].copy()
    if kind == "waits":
        new = new.mask(rng.random(new.shape) < 0.2)
    stages = MultiStageClassifier(
        feature_costs=[1, 2, 3, 5], confidence=0.7, max_stages=2, answer_accuracy=accuracy, random_state=0,
        subclassifier=DecisionTreeClassifier(max_depth=2, random_state=0) if kind == "tree" else None,
    )  # fmt: skip
    held: dict[str, Any] = {} if accuracy is None else {"calibration": (table.iloc[200:350], Y[200:350])}
    stages.fit(table.iloc[:120], Y[:120], validation=(table.iloc[120:200], Y[120:200]), **held)
    measured = stages.measure_points(new, Y[350:])
    assert len(measured) == len(stages.front_)
    compared = 0
    for point, found in enumerate(measured):
        stages.use(point)
        if stages.guarantee_ is None or stages.guarantee_.promised:
            slow = measure_on(stages, new, Y[350:])
            assert found == Figures(*(getattr(slow, name) for name in Figures.__dataclass_fields__))
            compared += 1
    assert compared
