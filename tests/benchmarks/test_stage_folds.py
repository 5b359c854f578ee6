import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from benchmarks.studies.stage_folds import MEASURES, paired
from shortlist.multistage import MultiStageClassifier, feature_costs
from shortlist.multistage.holdout import stage_table
from shortlist.results.measuring import PAPER, Measuring


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_both_ways_are_measured_on_the_same_test_rows() -> None:
    X, y = make_classification(160, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=3)
    frame = pd.DataFrame(X, columns=list("abcd"))
    found = paired(frame, y, feature_costs([1, 2, 3, 4], list("abcd")), seed=2)

    for way, share in (("held-out", 0.3), ("out-of-fold", "out-of-fold")):
        classifier = MultiStageClassifier(
            feature_costs=[1, 2, 3, 4], validation_share=share, removal=False, random_state=2
        )
        test = stage_table(frame, y, classifier, seed=2, measuring=Measuring(PAPER)).test
        right = test.coverage * test.accuracy
        expected = [test.coverage, test.accuracy, right, test.cost / 10]
        assert [found[f"{measure}, {way}"] for measure in MEASURES] == pytest.approx(expected)
    for measure in MEASURES:
        gain = found[f"{measure}, out-of-fold"] - found[f"{measure}, held-out"]
        assert found[f"{measure}, gain"] == pytest.approx(gain)
    assert np.isfinite(found["right, gain at the same cost"])
