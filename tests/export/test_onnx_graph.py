"""ONNX graphs answer as the models that they are made of, which onnxruntime says."""

from typing import Any

import numpy as np
import pytest

from shortlist import BadInputError, ExactPruner, MultiStageClassifier, SelectiveClassifier
from shortlist.ensembles import Pool, make_pool
from shortlist.export.onnx_graph import OUTPUTS, check_onnx, onnx_of
from shortlist.export.policies import policy_of
from shortlist.saved_models import SavedModel
from shortlist_papers import OrderedPruner
from tests.export.test_policies import SUMS, TABLE, TARGETS, TIED, neighbours_of, saved


@pytest.fixture(scope="module", params=TARGETS)
def half(request: pytest.FixtureRequest) -> tuple[Pool, Any]:
    """A pool with one classifier of each family, fitted on half of the rows, and the classes."""
    y = TARGETS[request.param]
    return make_pool(TABLE[:150], y[:150], n_classifiers=10, random_state=0), y


def checked(model: SavedModel, rows: Any) -> int:
    policy = policy_of(model)
    return check_onnx(onnx_of(policy), model, rows, policy)


@pytest.mark.parametrize("place", range(10))
def test_every_family_answers_as_the_model_does(half: tuple[Pool, Any], place: int) -> None:
    pool, y = half
    pruner = OrderedPruner(pool.subset([place]), voting="averaged").fit(TABLE[150:], y[150:])
    assert checked(saved(pruner), TABLE) == len(TABLE)


def test_equally_near_rows_are_settled_by_the_graph_as_by_the_model() -> None:
    pool = neighbours_of(TIED[:120], SUMS[:120], 3)
    model = saved(OrderedPruner(pool, voting="averaged").fit(TIED[120:], SUMS[120:]))
    assert checked(model, TIED) == len(TIED)


@pytest.mark.parametrize(
    "options",
    [
        {"voting": "hard", "objective": "accuracy", "min_size": 5, "node_limit": 10},
        {"voting": "soft", "objective": "balanced-accuracy+auto", "min_size": 5, "node_limit": 10},
        {"voting": "soft", "objective": "brier", "probabilities": "shares", "node_limit": 10},
    ],
    ids=["votes", "gains", "shares"],
)
def test_a_committee_answers_as_the_model_does(half: tuple[Pool, Any], options: dict[str, Any]) -> None:
    pool, y = half
    assert checked(saved(ExactPruner(pool, **options).fit(TABLE[150:], y[150:])), TABLE) == len(TABLE)


@pytest.mark.parametrize("accuracy", [0.6, 0.999])
def test_a_promise_goes_along(half: tuple[Pool, Any], accuracy: float) -> None:
    pool, y = half
    pruner = OrderedPruner(pool, voting="averaged").fit(TABLE[150:200], y[150:200])
    selective = SelectiveClassifier(pruner, answer_accuracy=accuracy).calibrate(TABLE[200:], y[200:])
    assert checked(saved(selective), TABLE[:80]) == 80


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize("options", [{"confidence": 0.6}, {"confidence": 0.55, "answer_accuracy": 0.6}])
def test_stages_answer_as_the_model_does(target: str, options: dict[str, Any]) -> None:
    rows = TABLE[["a", "c", "ward"]]
    stages = MultiStageClassifier(max_stages=2, random_state=0, **options).fit(rows, TARGETS[target])
    assert checked(saved(stages), rows) == len(rows)


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
def test_outputs_come_in_the_order_of_the_guide(half: tuple[Pool, Any]) -> None:
    import onnxruntime

    pool, y = half
    committee = saved(OrderedPruner(pool, voting="averaged").fit(TABLE[150:], y[150:]))
    rows = TABLE[["a", "c", "ward"]]
    stages = saved(MultiStageClassifier(max_stages=2, confidence=0.6, random_state=0).fit(rows, y))
    for model, n_outputs in ((committee, 3), (stages, 5)):
        session = onnxruntime.InferenceSession(onnx_of(policy_of(model)), providers=["CPUExecutionProvider"])
        assert tuple(one.name for one in session.get_outputs()) == OUTPUTS[:n_outputs]


def test_a_graph_that_answers_otherwise_and_one_without_rows_are_refused(half: tuple[Pool, Any]) -> None:
    pool, y = half
    model = saved(OrderedPruner(pool, voting="averaged").fit(TABLE[150:], y[150:]))
    policy = policy_of(model)
    with pytest.raises(BadInputError, match="an ONNX file is checked on rows, got none"):
        check_onnx(onnx_of(policy), model, TABLE[:0], policy)
    policy["classes"] = policy["classes"][::-1]
    with pytest.raises(
        BadInputError, match="row 1 of the table must be answered by the ONNX file as by the model"
    ):
        check_onnx(onnx_of(policy), model, TABLE, policy)


def test_values_that_are_neither_numbers_nor_words_are_refused() -> None:
    rows = TABLE[["a"]].assign(flag=np.arange(len(TABLE)) % 2 == 0)
    stages = MultiStageClassifier(max_stages=1, confidence=0.5, random_state=0).fit(
        rows, TARGETS["two classes"]
    )
    with pytest.raises(BadInputError, match="made of numbers and words, got feature 'flag' of other values"):
        onnx_of(policy_of(saved(stages)))
