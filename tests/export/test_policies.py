"""Policies, and ONNX graphs of them, answer as the models that they are made of; nothing else is written."""

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError, ExactPruner, MultiStageClassifier, SelectiveClassifier
from shortlist.ensembles import Pool, make_pool
from shortlist.export import reader
from shortlist.export.onnx_graph import OUTPUTS, check_onnx, onnx_of
from shortlist.export.policies import (
    check_policy,
    keeps_rows,
    policy_of,
    what_differs,
    write_policy,
    write_reader,
)
from shortlist.multistage import feature_costs, next_step
from shortlist.saved_models import SavedModel
from shortlist_papers import OrderedPruner
from tests.examples import examples

X, CODES = make_classification(300, 5, n_informative=4, n_redundant=1, flip_y=0.1, random_state=0)
TABLE = pd.DataFrame(X.copy(), columns=list("abcde"))
TABLE.loc[::9, "c"] = np.nan
TABLE["ward"] = np.where(X[:, 1] > 0, "north", "south")
TABLE.loc[::11, "ward"] = None
TABLE["town"] = np.random.default_rng(0).choice([f"town {i}" for i in range(40)], len(TABLE))
KINDS = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.7]))]
TARGETS = {"two classes": CODES, "three classes": KINDS}


@functools.cache
def stages() -> MultiStageClassifier:
    classifier = MultiStageClassifier(max_stages=3, confidence=0.55, random_state=0)
    return classifier.fit(TABLE[["a", "c", "ward"]], CODES)


@pytest.fixture(scope="module", params=TARGETS)
def half(request: pytest.FixtureRequest) -> tuple[Pool, Any]:
    """A pool with one classifier of each family, fitted on half of the rows, and the classes."""
    y = TARGETS[request.param]
    return make_pool(TABLE[:150], y[:150], n_classifiers=10, random_state=0), y


def saved(estimator: Any) -> SavedModel:
    return SavedModel(estimator, tuple(getattr(estimator, "feature_names_in_", TABLE.columns)), "class")


def alike(model: SavedModel, rows: pd.DataFrame) -> dict[str, Any]:
    """The policy, which answers some rows as the model does; its graph answers all of them so."""
    policy = policy_of(model)
    assert check_policy(policy, model, rows[-80:]) == len(rows[-80:])
    assert check_onnx(onnx_of(policy), model, rows, policy) == len(rows)
    return policy


COMMITTEES: dict[str, Callable[[Pool], Any]] = {
    "votes": lambda pool: OrderedPruner(pool, rule="random"),
    "mean": lambda pool: OrderedPruner(pool, voting="averaged"),
    "everybody": lambda pool: ExactPruner(
        pool, voting="hard", objective="accuracy", min_size=10, node_limit=1
    ),
    "threshold": lambda pool: ExactPruner(pool, voting="hard", objective="accuracy", node_limit=100),
    "soft": lambda pool: ExactPruner(pool, voting="soft", objective="balanced-accuracy+auto", node_limit=10),
    "shares": lambda pool: ExactPruner(
        pool, voting="soft", objective="brier", probabilities="shares", node_limit=10
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", COMMITTEES)
def test_a_committee_answers_as_the_model_does(half: tuple[Pool, Any], kind: str) -> None:
    pool, y = half
    model = saved(COMMITTEES[kind](pool).fit(TABLE[150:], y[150:]))
    alike(model, TABLE)


@pytest.mark.parametrize("place", range(10))
def test_every_family_is_written(half: tuple[Pool, Any], place: int) -> None:
    pool, y = half
    model = saved(OrderedPruner(pool.subset([place]), voting="averaged").fit(TABLE[150:], y[150:]))
    policy = alike(model, TABLE)
    assert bool(keeps_rows(policy)) == (pool.families[place] in {"nearest-neighbours", "kernel-machine"})


LEVELS = np.random.default_rng(3).integers(0, 4, (240, 4))
TIED = pd.DataFrame(LEVELS, columns=list("abcd"))
SUMS = (LEVELS.sum(axis=1) + np.random.default_rng(4).integers(-2, 3, 240) > 6).astype(int)
"""Whole numbers: on most rows several others are equally near."""


def neighbours_of(rows: Any, y: Any, n: int) -> Pool:
    """A pool of nearest neighbours."""
    pool = make_pool(rows, y, n_classifiers=10 * n, random_state=1)
    return pool.subset([place for place, one in enumerate(pool.families) if one == "nearest-neighbours"])


def test_equally_near_rows_are_settled_as_by_the_model() -> None:
    pool = neighbours_of(TIED[:120], SUMS[:120], 3)
    model = saved(OrderedPruner(pool, voting="averaged").fit(TIED[120:], SUMS[120:]))
    alike(model, TIED)
    assert check_policy(policy_of(model), model, TIED[:-80]) == 160


def test_a_neighbour_of_scikit_learn_is_named_where_it_answers_otherwise() -> None:
    members = [KNeighborsClassifier(n, algorithm="brute").fit(TIED[:120], SUMS[:120]) for n in (2, 4, 6)]
    model = saved(OrderedPruner(members).fit(TIED[120:], SUMS[120:]))
    policy = policy_of(model)
    policy["members"][0]["model"]["labels"].reverse()  # as if ties fell otherwise
    with pytest.raises(BadInputError, match="which of several equally near rows count; members that ask it"):
        check_policy(policy, model, TIED)


@pytest.mark.parametrize("accuracy", [0.6, 0.999])
def test_a_promise_goes_along(half: tuple[Pool, Any], accuracy: float) -> None:
    pool, y = half
    pruner = OrderedPruner(pool, voting="averaged").fit(TABLE[150:200], y[150:200])
    selective = SelectiveClassifier(pruner, answer_accuracy=accuracy).calibrate(TABLE[200:], y[200:])
    policy = alike(saved(selective), TABLE[:80])
    assert policy["guarantee"]["promised"] == selective.guarantee_.promised == (accuracy < 0.9)


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "options",
    [
        {"confidence": 0.7, "removal": False},
        {"confidence": 0.55, "answer_accuracy": 0.5, "confidence_level": 0.8},
        {"confidence": 0.6, "subclassifier": DecisionTreeClassifier(max_depth=3, random_state=0)},
    ],
    ids=["plain", "promised", "trees"],
)
def test_stages_answer_as_the_model_does(target: str, options: dict[str, Any]) -> None:
    rows = TABLE[["a", "c", "ward"]]
    stages = MultiStageClassifier(max_stages=2, random_state=0, **options).fit(rows, TARGETS[target])
    policy = alike(saved(stages), rows)
    report = stages.decision_report(rows)
    for place, row in enumerate(rows[:20].astype(object).where(rows[:20].notna(), None).to_dict("records")):
        told = reader.answer(policy, row)
        assert (told["stage"], told["cost"]) == (report["stage"][place], report["cost"][place])
        assert told["confidence"] == pytest.approx(report["confidence"][place])
        assert told["answered"] != report["rejected"][place]


def test_a_policy_says_what_a_row_has_taken_by_then() -> None:
    rows = TABLE[["a", "c", "ward"]]
    hours = {"a": 1.5, "c": 24, "ward": 4}
    costs = feature_costs([1, 2, 3], list(rows), attributes={"hours": hours})
    stages = MultiStageClassifier(
        feature_costs=costs,
        max_stages=3,
        confidence=0.55,
        pick=0,
        objectives=("coverage", "hours"),
        random_state=0,
    ).fit(rows, CODES)
    policy = policy_of(saved(stages))

    assert check_policy(policy, saved(stages), rows) == len(rows)
    known: set[str] = set()
    total = 0.0
    for stage in policy["stages"]:
        names = {policy["features"][place]["name"] for place in stage["known"]}
        total += max(hours[name] for name in names - known)
        known = names
        assert stage["taken"] == {"hours": total}
    assert reader.answer(policy, {})["taken"] == {"hours": 0.0}
    report = stages.decision_report(rows)
    by_stage = [0.0, *(stage["taken"]["hours"] for stage in policy["stages"])]
    assert report["hours"].tolist() == [by_stage[stage] for stage in report["stage"]]
    told = reader.answer(policy, rows.iloc[0].to_dict())
    assert told["taken"] == policy["stages"][told["stage"] - 1]["taken"]
    policy["stages"][0]["taken"] = {"hours": "long"}
    with pytest.raises(reader.ReaderError, match="taken of a stage"):
        reader.check(policy)


def test_the_reader_runs_alone_on_a_table(half: tuple[Pool, Any], tmp_path: Path) -> None:
    pool, y = half
    pruner = OrderedPruner(pool, voting="averaged").fit(TABLE[150:], y[150:])
    write_policy(policy_of(saved(pruner)), tmp_path / "policy.json")
    write_reader(tmp_path / "reader.py")
    TABLE[:5].to_csv(tmp_path / "rows.csv", index=False)
    run = subprocess.run(
        [sys.executable, "-I", "-S", "reader.py", "policy.json", "rows.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    labels = [json.loads(line)["label"] for line in run.stdout.splitlines()]
    assert labels == pruner.predict(TABLE[:5]).tolist()


def test_the_reader_imports_nothing_that_must_be_installed() -> None:
    tree = ast.parse(Path(reader.__file__).read_text())
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    from_ = {str(node.module).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported | from_ <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "other", "version": 1}', "must be a policy of Shortlist, version 1"),
        ('{"format": "shortlist-policy", "version": 2}', "must be a policy of Shortlist, version 1"),
        ("[]", "must be a policy of Shortlist, version 1"),
        ('{"format": "shortlist-policy", "version": 1, "x": NaN}', "must hold finite numbers, got NaN"),
    ],
)
def test_the_reader_refuses_what_is_no_policy(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        reader.load(str(tmp_path / "policy.json"))


@examples(15)
@given(row=st.integers(0, 99), lost=st.sets(st.sampled_from(["a", "c", "ward"])))
def test_what_is_asked_next_and_what_failed_is_as_in_the_model(row: int, lost: set[str]) -> None:
    policy, known, failed = policy_of(saved(stages())), dict[str, Any](), list[str]()
    while True:
        told, step = reader.answer(policy, known, failed), next_step(stages(), known, failed)
        assert (told["needs"], told["stage"], told["cost"]) == (list(step.features), step.stage, step.paid)
        if step.what != "ask":
            break
        failed += [name for name in step.features if name in lost]
        known |= {
            name: None if pd.isna(TABLE[name][row]) else TABLE[name][row]
            for name in step.features
            if name not in lost
        }
    assert told["label"] == step.label
    assert told["answered"] == (step.what == "answer")
    assert told["confidence"] == pytest.approx(step.confidence)


def test_the_program_of_the_page_serves_a_row_through_late_and_failed_results(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "serve-alone.md").read_text(encoding="utf-8")
    (program,) = [
        block
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        if "def main(policy_file" in block
    ]
    (tmp_path / "serve.py").write_text(program, encoding="utf-8")
    write_policy(policy_of(saved(stages())), tmp_path / "policy.json")
    write_reader(tmp_path / "reader.py")

    def told(*results: str) -> str:
        call = [sys.executable, "-S", "serve.py", "policy.json", "7.json", *results]
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    whole = TABLE[["a", "c", "ward"]].dropna()
    row = whole.loc[stages().decision_report(whole)["stage"].idxmax()]
    known, failed = dict[str, Any](), list[str]()
    said = told()
    while (step := next_step(stages(), known, failed)).what == "ask":
        assert said == f"measure {', '.join(step.features)}\n"
        name = step.features[-1]  # one result comes, and the others are late
        if known and not failed:
            failed.append(name)
            said = told(f"{name}=")
        else:
            known[name] = row[name]
            said = told(f"{name}={row[name]}")
    assert len(failed) == 1
    assert said.startswith(f"{step.what} ")
    assert said.endswith(f"paid {step.paid}\n")
    assert told("height=1").startswith("height is no feature of policy.json.")
    assert told() == said


def test_an_empty_text_is_a_gap_for_the_model_as_for_the_policy() -> None:
    policy = policy_of(saved(stages()))
    for name in ("a", "c", "ward"):
        known = {other: "" if other == name else TABLE[other][1] for other in ("a", "c", "ward")}
        told, step = reader.answer(policy, known), next_step(stages(), known)
        assert (told["needs"], told["stage"]) == (list(step.features), step.stage)


@pytest.mark.parametrize("text", ["inf", "-Infinity", "NAN", "+nan", "1e999"])
def test_a_value_that_cannot_be_used_is_refused(text: str) -> None:
    stages = MultiStageClassifier(max_stages=1, confidence=0.5, random_state=0).fit(TABLE[["a", "b"]], CODES)
    with pytest.raises(ValueError, match="feature 'a' must be finite"):
        reader.answer(policy_of(saved(stages)), {"a": text, "b": 1})


def test_a_policy_that_answers_otherwise_is_refused(half: tuple[Pool, Any]) -> None:
    pool, y = half
    model = saved(OrderedPruner(pool, voting="averaged").fit(TABLE[150:], y[150:]))
    policy = policy_of(model)
    policy["classes"] = policy["classes"][::-1]
    with pytest.raises(BadInputError, match="row 1 of the table must be answered by the policy as by the"):
        check_policy(policy, model, TABLE)
    with pytest.raises(BadInputError, match="a policy is checked on rows, got none"):
        check_policy(policy, model, TABLE[:0])


def test_members_that_cannot_be_written_are_named() -> None:
    rows = TABLE[["a", "b"]].to_numpy()
    own = [GaussianProcessClassifier().fit(rows[:150], CODES[:150])]
    pruner = OrderedPruner(own).fit(rows[150:], CODES[150:])
    with pytest.raises(BadInputError, match=r"got GaussianProcessClassifier \(GaussianProcessClassifier\)\."):
        policy_of(SavedModel(pruner, ("a", "b"), "class"))


def test_models_and_pools_of_another_kind_are_refused() -> None:
    with pytest.raises(BadInputError, match="a policy is made of a model of prune, evolve or stage, got one"):
        policy_of(SavedModel(DecisionTreeClassifier(), ("a",), "class"))
    rows = TABLE[["a", "b"]].to_numpy()
    tree = DecisionTreeClassifier().fit(rows, CODES)
    twice = FunctionTransformer(lambda x: 2 * x)
    pool = Pool((tree,), np.array([0, 1]), ("tree",), ("tree",), preprocessor=twice)
    with pytest.raises(BadInputError, match=r"its FunctionTransformer of <lambda>, not of np\.log1p"):
        policy_of(SavedModel(OrderedPruner(pool).fit(rows, CODES), ("a", "b"), "class"))


def test_what_differs_is_said_plainly() -> None:
    assert what_differs(0, np.int64(0), 0.0141) == "probabilities 0.014 apart"
    assert what_differs(np.int64(1), np.int64(0), 0.5) == "1 in place of 0, with probabilities 0.5 apart"
    assert what_differs("ill", "REJECT", 0.0) == "'ill' in place of 'REJECT', with probabilities 0 apart"


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
    with pytest.raises(BadInputError, match="row 1 of the table must be answered by the ONNX file as by the"):
        check_onnx(onnx_of(policy), model, TABLE, policy)


def test_values_that_are_neither_numbers_nor_words_are_refused() -> None:
    rows = TABLE[["a"]].assign(flag=np.arange(len(TABLE)) % 2 == 0)
    stages = MultiStageClassifier(max_stages=1, confidence=0.5, random_state=0).fit(
        rows, TARGETS["two classes"]
    )
    with pytest.raises(BadInputError, match="made of numbers and words, got feature 'flag' of other values"):
        onnx_of(policy_of(saved(stages)))
