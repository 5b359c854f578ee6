"""Stages whose errors cost differently: every stage assignment is counted by hand, from plain probabilities."""

import itertools
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError, MultiStageClassifier
from shortlist.export.policies import check_policy, policy_of
from shortlist.multistage import recheck
from shortlist.multistage.holdout import stage_table
from shortlist.multistage.search.replayed import decided
from shortlist.results.class_shares import cost_of_errors
from shortlist.results.measuring import PAPER, Measuring
from shortlist.saved_models import SavedModel
from tests.cli.refusals import refusals
from tests.cli.running import done, facts_of

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")

COSTS = [5, 1, 2]
X, CODES = make_classification(
    260, 3, n_informative=3, n_redundant=0, n_clusters_per_class=1, weights=[0.8], flip_y=0.1, random_state=2
)
Y = np.array(["healthy", "ill"])[CODES]
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


def stages(**options: Any) -> MultiStageClassifier:
    given: dict[str, Any] = {"feature_costs": COSTS, "max_stages": 2, "random_state": 0, "confidence": 0.9}
    return MultiStageClassifier(**given | {"error_costs": {"ill": 7}} | options)


def answer(shares: NDArray[Any], *, is_last: bool, hand_over: float | None, confidence: float) -> int:
    """Return the answer of a stage to one row by the probabilities of both classes, -1 for none."""
    expected = {0: 7 * shares[1], 1: shares[0]}
    said = min(expected, key=lambda code: expected[code])
    risk, other = expected[said], expected[1 - said]
    allowed = hand_over is None or risk <= hand_over
    sure = is_last or other / (risk + other) >= confidence
    return said if allowed and sure else -1


def told(
    plain: dict[bytes, NDArray[Any]], assignment: tuple[int, ...], hand_over: float | None
) -> tuple[list[int], list[int]]:
    """Return of each row the answer and the price."""
    last, said, paid = max(assignment), [], []
    for row in range(len(next(iter(plain.values())))):
        for stage in range(last + 1):
            known = np.array([0 <= one <= stage for one in assignment])
            shares = plain[known.tobytes()][row]
            code = answer(shares, is_last=stage == last, hand_over=hand_over, confidence=0.9)
            if code >= 0 or stage == last:
                said.append(code)
                paid.append(int(np.array(COSTS)[known].sum()))
                break
    return said, paid


def probabilities(classifier: MultiStageClassifier) -> dict[bytes, NDArray[Any]]:
    own = classifier.problem_.decisions.subclassifiers
    sets = [np.array(one) for one in itertools.product([False, True], repeat=3) if any(one)]
    return {one.tobytes(): own.validation_probabilities(one) for one in sets}


def cost(said: list[int], truth: NDArray[Any], hand_over: float | None) -> Fraction:
    wrong = {0: Fraction(1), 1: Fraction(7)}
    person = Fraction(str(hand_over)) if hand_over is not None else Fraction(7)
    losses = [
        person if code < 0 else Fraction(0) if code == true else wrong[true]
        for code, true in zip(said, truth.tolist(), strict=True)
    ]
    return sum(losses, Fraction(0)) / len(losses)


@pytest.mark.parametrize("hand_over", [None, 0.4, 3.0])
@pytest.mark.parametrize(
    "options", [{}, {"removal": False}, {"method": "windows"}, {"subclassifier": TREE}], ids=str
)
def test_the_front_is_that_of_every_assignment_counted_by_hand(
    hand_over: float | None, options: dict[str, Any]
) -> None:
    plain = stages(error_costs=None, confidence=0.75, **options).fit(X, Y)
    priced = stages(hand_over=hand_over, **options).fit(X, Y)
    shares, truth = probabilities(plain), priced.problem_.labels
    least = -1 if options.get("removal", True) else 0
    points = set()
    for assignment in itertools.product(range(least, 2), repeat=3):
        if max(assignment) >= 0 and set(assignment) - {-1} == set(range(max(assignment) + 1)):
            said, paid = told(shares, assignment, hand_over)
            own = decided(priced.problem_, np.array(assignment, dtype=np.int8))
            assert (own[0].tolist(), own[1].tolist()) == (said, paid)
            points.add((cost(said, truth, hand_over), Fraction(sum(paid), len(paid))))
    best = [one for one in points if not any(b != one and b[0] <= one[0] and b[1] <= one[1] for b in points)]
    assert [*priced.front_.names] == ["error_cost", "acquisition_cost"]
    np.testing.assert_allclose(
        sorted(priced.front_.values.tolist()), [[float(a), float(b)] for a, b in sorted(best)], atol=1e-12
    )
    for values, assignment in zip(priced.front_.values, priced.front_.decisions.astype(np.int8), strict=True):
        assert float(recheck.error_cost(priced.problem_, assignment)) == pytest.approx(values[0], abs=1e-12)
    rows = [told(shares, tuple(one), hand_over)[0] for one in priced.front_.decisions.tolist()]
    np.testing.assert_allclose(priced.coverage_, [np.mean(np.array(said) >= 0) for said in rows])


@pytest.mark.parametrize("hand_over", [None, 0.4])
def test_new_rows_are_answered_by_the_least_expected_cost(hand_over: float | None) -> None:
    new, truth = X[180:], Y[180:]
    frame = pd.DataFrame(X, columns=list("abc"))
    plain = stages(error_costs=None, confidence=0.75).fit(frame[:180], Y[:180])
    priced = stages(hand_over=hand_over).fit(frame[:180], Y[:180])
    own = plain.problem_.decisions.subclassifiers
    rows = plain._encoding.encode_known(frame[180:])[0]
    sets = [np.array(one) for one in itertools.product([False, True], repeat=3) if any(one)]
    shares = {one.tobytes(): own.model(one).probabilities(rows) for one in sets}
    measured = priced.measure_points(frame[180:], truth)
    for point, assignment in enumerate(priced.front_.decisions.tolist()):
        said, paid = told(shares, tuple(assignment), hand_over)
        found = priced.use(point).decisions(frame[180:])
        assert (found.labels.tolist(), found.costs.tolist()) == (said, paid)
        assert priced.predict(frame[180:]).tolist() == [["healthy", "ill", "REJECT"][code] for code in said]
        expected = float(cost(said, CODES[180:], hand_over))
        errors = priced.errors_
        assert errors is not None
        assert cost_of_errors(measured[point].confusion, errors.table)[0] == pytest.approx(expected)
        assert errors.of_rows(found.labels, CODES[180:]).mean() == pytest.approx(expected)
    policy = policy_of(SavedModel(priced, tuple("abc"), "status"))
    assert check_policy(policy, SavedModel(priced, tuple("abc"), "status"), frame[180:]) == len(new)


@pytest.mark.parametrize("protocol", ["auto", PAPER])
def test_a_table_is_measured_by_the_cost_of_errors_and_rechecked(protocol: str) -> None:
    priced = stages(hand_over=0.4)
    measuring = Measuring(protocol=protocol)
    told_ = stage_table(X, Y, priced, seed=0, measuring=measuring)
    errors = priced.errors_
    assert errors is not None
    pair = [cost_of_errors(one.confusion, errors.table)[0] for one in (told_.single_stage, told_.test)]
    assert told_.difference.gain == pytest.approx(pair[0] - pair[1])
    checked = recheck.recheck_stages(priced, X, Y, n_sampled=20)
    assert (checked.failures, checked.uncounted) == ((), ())
    assert checked.n_sampled == 20


def test_all_errors_cost_the_same_unless_one_is_said_to_cost_more() -> None:
    even, same = stages(error_costs={}).fit(X, Y), stages(error_costs={"ill": 1, "healthy": 1}).fit(X, Y)
    assert even.front_.values.tolist() == same.front_.values.tolist()
    by_pair = stages(error_costs={("healthy", "ill"): 7, ("ill", "healthy"): 1}).fit(X, Y)
    assert by_pair.front_.values.tolist() == stages().fit(X, Y).front_.values.tolist()


def test_of_three_classes_the_last_stage_answers_by_weighed_probabilities() -> None:
    three, codes = make_classification(200, 4, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    own = stages(feature_costs=[1, 2, 3, 4], error_costs={2: 5}, random_state=1).fit(three, codes)
    plain = stages(feature_costs=[1, 2, 3, 4], error_costs=None, random_state=1).fit(three, codes)
    known = np.ones(4, dtype=bool)
    weighed = plain.problem_.decisions.subclassifiers.validation_probabilities(known) * [1, 1, 5]
    weighed /= weighed.sum(axis=1, keepdims=True)
    found = own.problem_.decisions.subclassifiers.validation_probabilities(known)
    np.testing.assert_allclose(found, weighed)
    said, _ = decided(own.problem_, np.zeros(4, dtype=np.int8))
    assert said.tolist() == weighed.argmax(axis=1).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"error_costs": {"sick": 2}}, "error_costs must name classes, healthy, ill, got 'sick'"),
        ({"error_costs": {"ill": 0}}, "error_costs must be at least 1 for every error"),
        ({"error_costs": {"ill": 1.5}}, "error_costs must be whole numbers from 0 to 1,000,000, got 1.5"),
        ({"error_costs": {("ill", "ill"): 1}}, "error_costs must leave right answers free"),
        ({"error_costs": {("", "ill"): 1}}, "error_costs must be of answers here"),
        ({"hand_over": -1}, "hand_over must be a price of at least 0"),
        ({"answer_accuracy": 0.9}, "answer_accuracy must be left out where errors have costs"),
        ({"penalties": {"ill": 0.5}}, "penalties must be left out where errors have costs"),
        ({"objectives": ("coverage", "error_cost")}, "objectives must be error_cost in place of"),
        ({"confidence": {"ill": 0.8, "healthy": 0.9}}, "confidence must be one number"),
        ({"error_costs": None, "objectives": ("error_cost",)}, "objectives must be others than error_cost"),
    ],
)
def test_what_has_no_meaning_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(message)):
        stages(**options).fit(X, Y)


WORDS = ["stage", "ill.csv", "--target", "status", "--workers", "1", "--set", "max-stages=2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("errors")
    pd.DataFrame(X.round(3), columns=list("abc")).assign(status=Y).to_csv(folder / "ill.csv", index=False)
    pairs = "said,truth,cost\nhealthy,ill,7\nill,healthy,1\n"
    (folder / "pairs.csv").write_text(pairs)
    return folder


def test_the_command_chooses_and_measures_by_the_cost_of_errors(folder: Path) -> None:
    counted = facts_of(*WORDS, cwd=folder)["test"]["classes"][1]
    found = facts_of(*WORDS, "--error-costs", "ill=7", cwd=folder)
    assert found["test"]["classes"][1]["wrong"] < counted["wrong"]
    assert found["chosen"]["values"].keys() == {"error_cost", "acquisition_cost"}
    assert facts_of(*WORDS, "--error-costs", "pairs.csv", cwd=folder)["points"] == found["points"]
    handed = facts_of(*WORDS, "--error-costs", "ill=7", "--final", "hand-over=0.3", cwd=folder)
    told_ = handed["test"]["multi_stage"]
    assert told_["error_cost"] < found["test"]["multi_stage"]["error_cost"]
    assert told_["coverage"] < found["test"]["multi_stage"]["coverage"] == 1

    outs = [word for out in ("e.joblib", "e.html") for word in ("--out", out)]
    screen = done(*WORDS, "--error-costs", "ill=7", "--final", "hand-over=0.3", *outs, cwd=folder).stdout
    assert "in the cost of errors a row" in screen
    assert re.search(r"answered +cost of errors +mean cost\n", screen)
    assert len(screen.splitlines()) <= 24
    assert done("verify", "e.joblib", "ill.csv", cwd=folder).returncode == 0
    for words in (["--out", "again.html"], ["--protocol", "--out", "e.md"]):
        done("report", "e.joblib", *words, cwd=folder)
    assert "cost of errors" in (folder / "again.html").read_text(encoding="utf-8")
    measured = done("measure", "e.joblib", "ill.csv", cwd=folder).stdout
    assert re.search(r"cost of errors a row +\d.*\(.*\) +\d.*\(.*\)", measured)
    assert done("stage", "use", "e.joblib", "--pick", "0", cwd=folder).returncode == 0


@refusals("stage-error-costs")
def test_a_command_line_that_says_two_things_is_refused(
    folder: Path, refused: Callable[[Path], None]
) -> None:
    refused(folder)
