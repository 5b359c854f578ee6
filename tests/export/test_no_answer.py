"""Rows that nobody has answered, in every reader: model, command, policy, its reader and ONNX."""

import copy
import functools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist import ExactPruner, MultiStageClassifier, SelectiveClassifier
from shortlist.ensembles import Pool, make_pool
from shortlist.ensembles.committees.facts import unanswered_rows
from shortlist.errors import UnknownWordWarning
from shortlist.export import reader
from shortlist.export.policies import check_policy, policy_of, write_policy
from shortlist.guarantees.cells import NOT_ASKED
from shortlist.saved_models import SavedModel, save_model
from tests.cli.running import shortlist

JUDGES = [f"j{place}" for place in range(5)]
N_ROWS = 60
WHOLE = {"node_limit": 50, "min_size": 5, "max_size": 5, "random_state": 0}
BALLOTS: dict[str, dict[str, Any]] = {
    "threshold": {"voting": "hard", "objective": "accuracy"},
    "plurality": {"voting": "hard", "objective": "accuracy"},
    "shares": {"voting": "hard", "objective": "accuracy", "probabilities": "shares"},
    "mean": {"voting": "soft", "objective": "log-loss"},
    "calibrated mean": {"voting": "soft", "objective": "brier", "probabilities": "auto"},
    "shares of a mean": {"voting": "soft", "objective": "log-loss", "probabilities": "shares"},
}
"""Ballots of five members; all have to be members. `plurality` and `shares` have seen abstentions."""

SAID: dict[str, dict[str, Any]] = {
    "all": dict.fromkeys(JUDGES, "harmful"),
    "silent": dict.fromkeys(JUDGES),
    "one": dict.fromkeys(JUDGES) | {"j2": "harmful"},
    "not asked": {},
    "only one asked": {"j2": "harmful"},
    "settled": dict.fromkeys(JUDGES[:4], "harmful"),
    "unknown": dict.fromkeys(JUDGES, "Error 429"),
}
"""Answers of the judges to a row; who is not there was not asked."""
NOBODY = {"silent", "not asked", "only one asked", "unknown"}
"""Rows that nobody has answered, or too few whatever the ballot."""


@functools.cache
def of_judges(ballot: str, promised: bool) -> SavedModel:
    rng = np.random.default_rng(3)
    truth = np.where(rng.random(N_ROWS) < 0.5, "fine", "harmful")
    table = pd.DataFrame(index=range(N_ROWS))
    gaps = ballot in {"plurality", "shares"}
    for name in JUDGES:
        right = rng.random(N_ROWS) < 0.75
        said = np.where(right, truth, np.where(truth == "fine", "harmful", "fine"))
        silent = gaps & (rng.random(N_ROWS) < 0.2)
        if by_class(ballot):
            table[name] = pd.Series(said).where(~silent, None)
        else:
            table[f"{name}:fine"] = np.where(said == "fine", 0.9, 0.1)
            table[f"{name}:harmful"] = 1 - table[f"{name}:fine"]
    pool = Pool.from_answers(table, truth, costs=dict.fromkeys(JUDGES, 1.0))
    committee: Any = ExactPruner(pool, **(WHOLE | BALLOTS[ballot])).fit(table, truth)
    assert len(committee.pool_) == len(JUDGES)
    assert (getattr(committee, "threshold_", None) is not None) == (ballot == "threshold")
    if promised:
        committee = SelectiveClassifier(committee, answer_accuracy=0.6, confidence_level=0.5)
        committee.calibrate(table, truth, chose=(table, truth))
        committee.guarantee_ = replace(committee.guarantee_, threshold=0.7)
    return SavedModel(committee, tuple(table.columns), "truth")


def by_class(ballot: str) -> bool:
    return ballot in {"threshold", "plurality", "shares"}


def row_of(kind: str, ballot: str) -> dict[str, Any]:
    """A row as the reader takes it."""
    if by_class(ballot):
        return dict(SAID[kind])
    row: dict[str, Any] = {}
    for name, said in SAID[kind].items():
        for label in ("fine", "harmful"):
            row[f"{name}:{label}"] = None if said is None else 0.95 if said == label else 0.05
    return row


@pytest.mark.parametrize("promised", [False, True])
@pytest.mark.parametrize("ballot", BALLOTS)
def test_every_reader_says_the_same_of_rows_that_not_all_judges_have_answered(
    ballot: str, promised: bool, tmp_path: Path
) -> None:
    saved = of_judges(ballot, promised)
    kinds = [kind for kind in SAID if kind != "unknown" or by_class(ballot)]  # no word is a probability
    policy, rows = policy_of(saved), [row_of(kind, ballot) for kind in kinds]
    frame = pd.DataFrame(
        [{name: row.get(name, NOT_ASKED) for name in saved.features} for row in rows], dtype=object
    )
    told = [reader.answer(policy, row) for row in rows]
    for kind, one in zip(kinds, told, strict=True):
        unsure = promised and (one["confidence"] is None or one["confidence"] < 0.7)
        answered = not (kind in NOBODY or (kind == "one" and (ballot == "threshold" or unsure)))
        assert one["answered"] == answered
        assert one["label"] == ("harmful" if answered else "REJECT")
        assert bool(one["needs"]) == (kind in {"not asked", "only one asked"})
        assert bool(one["unknown"]) == (kind == "unknown")
    labels = [one["label"] for one in told]

    estimator = saved.estimator
    early = estimator.predict_early(frame)
    assert estimator.predict(frame).tolist() == early.labels.tolist() == labels
    assert early.answered.tolist() == [one["answered"] for one in told]
    assert early.calls.tolist() == [len(one["asked"]) for one in told]
    assert [[name] if name else [] for name in early.needs] == [one["needs"] for one in told]
    for found, one in zip(estimator.predict_proba(frame), told, strict=True):
        assert found == pytest.approx(one["probabilities"], abs=1e-9)
    unanswered = unanswered_rows(estimator.committee, frame)
    too_few = NOBODY | ({"one"} if ballot == "threshold" else set())
    assert unanswered.rows.tolist() == [kind in too_few for kind in kinds]
    assert unanswered.silent.tolist() == [kind == "silent" for kind in kinds]
    assert unanswered.unknown.tolist() == [kind == "unknown" for kind in kinds]
    assert [bool(needs) for needs in unanswered.needs] == [bool(one["needs"]) for one in told]

    save_model(saved, tmp_path / "m.joblib")
    write_policy(policy, tmp_path / "p.json")
    frame.map(lambda cell: "?" if cell is NOT_ASKED else cell).to_csv(tmp_path / "rows.csv", index=False)
    for options in ([], ["--early-exit"]):
        ran = shortlist(
            "predict", "m.joblib", "rows.csv", "--not-asked", "?", *options, "--out", "a.csv", cwd=tmp_path
        )
        assert ran.returncode == 0, ran.stderr
        out = pd.read_csv(tmp_path / "a.csv", keep_default_na=False)
        assert out["prediction"].tolist() == labels
        assert f"{unanswered.rows.sum()} rows of {len(kinds)} cannot be answered" in ran.stderr
        if not options:
            assert (out["score_fine"] == "").tolist() == unanswered.rows.tolist()
        assert ("'Error 429' of 'j" in ran.stderr) == ("unknown" in kinds)
    given = list(reader.table_rows(reader.load(str(tmp_path / "p.json")), str(tmp_path / "rows.csv"), "?"))
    assert [reader.answer(policy, row) for row in given] == told


@pytest.mark.parametrize(("least", "needs"), [(0.8, "j4"), (0.99, "")])
def test_a_settled_class_waits_while_it_is_open_whether_a_promise_lets_it_be_answered(
    least: float, needs: str, tmp_path: Path
) -> None:
    saved = copy.deepcopy(of_judges("shares", True))
    committee = saved.estimator.committee
    promise = replace(committee.promise, threshold=least)
    chosen = replace(saved.estimator, committee=replace(committee, promise=promise))
    saved = replace(saved, estimator=chosen)
    told = reader.answer(policy_of(saved), SAID["settled"])
    assert told["needs"] == ([needs] if needs else []), "else this row tests nothing"

    save_model(saved, tmp_path / "m.joblib")
    rows = pd.DataFrame([dict.fromkeys(JUDGES, "?") | SAID["settled"]] * 2)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    for options in ([], ["--early-exit"]):
        ran = shortlist(
            "predict", "m.joblib", "rows.csv", "--not-asked", "?", *options, "--out", "a.csv", cwd=tmp_path
        )
        out = pd.read_csv(tmp_path / "a.csv", keep_default_na=False)
        assert out["prediction"].tolist() == ["REJECT"] * 2
        assert out.get("needs", pd.Series(["", ""])).tolist() == [needs] * 2, options
        assert ("2 waiting for j4" in ran.stderr) == bool(needs)


@pytest.mark.parametrize("ballot", BALLOTS)
def test_the_fewer_answer_the_less_sure_is_the_answer(ballot: str) -> None:
    policy = policy_of(of_judges(ballot, promised=False))
    sure = []
    for n in (1, 3, 5):
        said = dict.fromkeys(JUDGES) | dict.fromkeys(JUDGES[:n], "harmful")
        row = said if by_class(ballot) else {
            f"{name}:{label}": None if one is None else float(one == label)
            for name, one in said.items() for label in ("fine", "harmful")
        }  # fmt: skip
        sure.append(reader.answer(policy, row)["probabilities"][1])
    assert sure == sorted(sure)
    assert sure[0] < sure[-1]


def test_a_column_of_a_judge_who_was_not_asked_need_not_be_there() -> None:
    saved = of_judges("plurality", promised=False)
    rows = pd.DataFrame([{"j0": "fine", "j1": "fine"}, {"j0": "fine", "j1": "harmful"}])
    early = saved.estimator.predict_early(rows)
    assert saved.estimator.predict(rows).tolist() == ["REJECT", "REJECT"]
    assert all(early.needs)


@functools.cache
def of_classifiers(ballot: str) -> tuple[SavedModel, pd.DataFrame]:
    rng = np.random.default_rng(1)
    n_classes = 2 if ballot == "threshold" else 3
    y = rng.integers(0, n_classes, 120)
    X = pd.DataFrame(
        {"a": y + rng.normal(0, 0.7, 120), "w": rng.choice(["x", "y"], 120), "b": rng.random(120)}
    )
    X.loc[::9, "a"] = np.nan
    X.loc[::11, "w"] = None
    pool = make_pool(X[:80], y[:80], n_classifiers=5, random_state=0)
    fitted = ExactPruner(pool, **(WHOLE | BALLOTS[ballot])).fit(X[80:], y[80:])
    return SavedModel(fitted, tuple(X.columns), "y"), X


@pytest.mark.parametrize("ballot", BALLOTS)
@pytest.mark.filterwarnings("ignore::shortlist.errors.UnknownWordWarning")
def test_classifiers_answer_no_row_without_a_value_and_take_an_unknown_word_as_missing(ballot: str) -> None:
    saved, X = of_classifiers(ballot)
    rows = pd.DataFrame(
        [[np.nan, None, np.nan], [np.nan, "odd", np.nan], [np.nan, "x", np.nan], [0.3, "y", 0.5],
         [0.3, "Error 429", 0.5], [0.3, None, 0.5]],
        columns=list(X.columns),
    )  # fmt: skip
    policy = policy_of(saved)
    assert check_policy(policy, saved, rows) == len(rows)
    found = saved.estimator.predict(rows)
    assert (found[:2] == -1).all()
    assert (found[2:] >= 0).all()
    assert (saved.estimator.predict_proba(rows)[4] == saved.estimator.predict_proba(rows)[5]).all()
    assert (saved.estimator.predict_early(rows).labels == found).all()
    told = unanswered_rows(saved.estimator.committee, rows)
    with pytest.warns(UnknownWordWarning) as warned:
        saved.estimator.predict(rows)
    assert [str(one.message) for one in warned] == [
        "2 cells with words that no fitted row had count as missing: 'odd' of 'w' and 'Error 429' of 'w'."
    ]
    assert told.silent.tolist() == [True, True, False, False, False, False]
    assert reader.answer(policy, {"a": 0.3, "b": 0.5})["needs"] == ["w"]
    assert reader.answer(policy, {})["answered"] is False
    answer = reader.answer(policy, {"a": 0.3, "w": "Error 429", "b": 0.5})
    assert (answer["label"], answer["unknown"]) == (found[4], {"w": "Error 429"})
    selective = SelectiveClassifier(saved.estimator, answer_accuracy=0.5, confidence_level=0.5)
    selective.calibrate(
        X[80:], saved.estimator.predict(X[80:]), chose=(X[80:], saved.estimator.predict(X[80:]))
    )
    assert (selective.predict(rows)[:2] == -1).all()
    assert not selective.answers(rows)[:2].any()
    onnx_says_so(policy, saved, rows)


def onnx_says_so(policy: dict[str, Any], saved: SavedModel, rows: pd.DataFrame) -> None:
    """The graph of a policy answers rows as the model does."""
    pytest.importorskip("onnxruntime")
    from shortlist.export.onnx_graph import check_onnx, onnx_of

    assert check_onnx(onnx_of(policy), saved, rows, policy) == len(rows)


@functools.cache
def of_stages() -> tuple[SavedModel, pd.DataFrame]:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame({
        "quick": np.where(rng.random(300) < 0.8, y, 1 - y).astype(object),
        "panel": y + rng.normal(0, 0.8, 300),
        "late": y + rng.normal(0, 0.5, 300),
    })  # fmt: skip
    X["quick"] = np.where(X["quick"] == 1, "high", "low")
    X = X.mask(rng.random(X.shape) < 0.15)
    fitted = MultiStageClassifier(
        feature_costs={"quick": 1, "panel": 5, "late": 20}, max_stages=3, confidence=0.8, random_state=0,
        method="enumerate",
    ).fit(X, y)  # fmt: skip
    fitted.use(fitted.front_.decisions.tolist().index([0, 1, 2]))
    return SavedModel(fitted, tuple(X.columns), "y"), X


@pytest.mark.filterwarnings("ignore::shortlist.errors.UnknownWordWarning")
def test_stages_ask_for_what_was_not_bought_and_pay_for_what_was() -> None:
    saved, X = of_stages()
    policy, nan = policy_of(saved), math.nan
    assert [stage["buys"] for stage in policy["stages"]] == [[0], [1], [2]]
    rows = pd.DataFrame(
        [
            [NOT_ASKED, NOT_ASKED, NOT_ASKED],
            [None, NOT_ASKED, NOT_ASKED],
            [None, nan, nan],
            ["Error 429", nan, 3.0],
            [None, nan, 3.0],
        ],
        columns=list(X.columns), dtype=object,
    )  # fmt: skip
    report = saved.estimator.decision_report(rows)
    assert report["needs"].tolist() == ["quick", "panel", "", "", ""]
    assert report["cost"].tolist() == [0, 1, 26, 26, 26]
    assert report["stage"].tolist() == [0, 1, 3, 3, 3]
    assert report["unknown"].tolist() == [""] * 5  # the feature may be missing
    assert report["label"].tolist() == [-1, -1, -1, 1, 1]
    assert report["rejected"].tolist()[:3] == [False, False, True]
    for place, row in enumerate(rows.to_dict("records")):
        told = reader.answer(policy, {name: cell for name, cell in row.items() if cell is not NOT_ASKED})
        assert [told["label"], ", ".join(told["needs"]), told["cost"], told["stage"]] == [
            report[name][place] for name in ("label", "needs", "cost", "stage")
        ]
        assert bool(told["unknown"]) == bool(report["unknown"][place])
    onnx_says_so(policy, saved, rows[2:])


def test_the_figures_of_a_front_count_rows_without_a_value_as_not_answered() -> None:
    saved, X = of_stages()
    classifier = copy.copy(saved.estimator)
    rows = X.mask(np.repeat(np.arange(len(X))[:, None] % 3 == 0, 3, axis=1))
    y = (X["late"].fillna(0) > 0.5).to_numpy().astype(int)
    fitted = MultiStageClassifier(max_stages=2, random_state=0, method="enumerate").fit(
        X, y, validation=(rows, y)
    )
    for point, (coverage, *_) in enumerate(fitted.front_.values):
        report = fitted.use(point).decision_report(rows)
        assert (~report["rejected"]).mean() == pytest.approx(coverage)
    assert max(fitted.front_.values[:, 0]) <= 2 / 3
    assert classifier.reject_label_ == -1


@pytest.mark.parametrize(("marker", "cell"), [(None, ""), ("", ""), ("?", "?"), ("-99", "-99")])
def test_a_file_buys_stage_by_stage(marker: str | None, cell: str, tmp_path: Path) -> None:
    saved, X = of_stages()
    save_model(saved, tmp_path / "m.joblib")
    write_policy(policy_of(saved), tmp_path / "p.json")
    option = [] if marker is None else ["--not-asked", marker]
    goes_far = X[X.notna().all(axis=1).to_numpy() & (saved.estimator.decision_report(X)["stage"] == 3)]
    values, row = goes_far.iloc[0].to_dict(), dict.fromkeys(saved.features, cell)
    wanted = []
    for _ in range(4):
        pd.DataFrame([row]).to_csv(tmp_path / "r.csv", index=False)
        ran = shortlist("predict", "m.joblib", "r.csv", "--explain", *option, "--out", "a.csv", cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        told = pd.read_csv(tmp_path / "a.csv", keep_default_na=False).iloc[0]
        lines = list(
            reader.table_rows(reader.load(str(tmp_path / "p.json")), str(tmp_path / "r.csv"), marker)
        )
        assert reader.answer(policy_of(saved), lines[0])["needs"] == (
            [told["needs"]] if told["needs"] else []
        )
        wanted.append((told["needs"], told["cost"]))
        if not told["needs"]:
            break
        row[told["needs"]] = values[told["needs"]]
    assert wanted == [("quick", 0), ("panel", 1), ("late", 6), ("", 26)]


def test_an_empty_cell_among_values_of_its_stage_is_paid_and_said_so(tmp_path: Path) -> None:
    saved, _ = of_stages()
    save_model(saved, tmp_path / "m.joblib")
    (tmp_path / "r.csv").write_text("quick,panel,late\nlow,?,?\n,,\nError 429,1,2\n", encoding="utf-8")
    ran = shortlist("predict", "m.joblib", "r.csv", "--explain", "--not-asked", "?", cwd=tmp_path)
    assert ran.returncode == 0
    said = "1 cell with words that no fitted row had count as missing: 'Error 429' of 'quick'."
    assert ran.stderr.count(said) == 1


def test_booleans_are_read_from_a_file_as_from_the_model(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = pd.DataFrame({"yes": (y == 1) ^ (rng.random(80) < 0.2), "a": y + rng.normal(0, 1, 80)})
    stages = MultiStageClassifier(max_stages=2, random_state=0).fit(X, y)
    pool = make_pool(X, y, n_classifiers=4, random_state=0)
    X.to_csv(tmp_path / "rows.csv", index=False)
    for estimator in (stages, ExactPruner(pool, random_state=0, node_limit=10).fit(X, y)):
        saved = SavedModel(estimator, tuple(X.columns), "y")
        policy = policy_of(saved)
        assert check_policy(policy, saved, X) == len(X)
        rows = reader.table_rows(json.loads(json.dumps(policy)), str(tmp_path / "rows.csv"))
        assert [reader.answer(policy, row)["label"] for row in rows] == estimator.predict(X).tolist()
