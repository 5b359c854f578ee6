"""Committees chosen by what errors cost, against every selection and threshold, counted by hand."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.refusals import refusals
from tests.cli.running import done, facts_of

PRUNE = ["prune", "judges.csv", "--target", "status", "--answers", "--workers", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("costs")
    rng = np.random.default_rng(0)
    ill = rng.random(200) < 0.2
    answers = {
        f"j{k}": np.where(rng.random(200) < 0.62 + 0.06 * k, ill, rng.random(200) < 0.5) for k in range(5)
    }
    table = pd.DataFrame(answers).replace({True: "ill", False: "healthy"})
    table.assign(status=np.where(ill, "ill", "healthy")).to_csv(folder / "judges.csv", index=False)
    (folder / "pairs.csv").write_text("said,truth,cost\nhealthy,ill,10\nill,healthy,1\n")
    return folder


def cost(votes: np.ndarray, ill: np.ndarray, threshold: int) -> int:
    said = votes.sum(axis=1) > threshold
    return int(10 * (ill & ~said).sum() + (~ill & said).sum())


def test_no_selection_and_threshold_costs_less(folder: Path) -> None:
    table = pd.read_csv(folder / "judges.csv")
    ill, votes = (table["status"] == "ill").to_numpy(), table.drop(columns="status").eq("ill")
    least = min(
        cost(votes[list(some)].to_numpy(), ill, threshold)
        for size in range(1, 6)
        for some in itertools.combinations(votes.columns, size)
        for threshold in range(size + 1)
    )
    found = facts_of(*PRUNE, "--error-costs", "ill=10", cwd=folder)
    chosen = cost(votes[found["selection"]].to_numpy(), ill, found["threshold"])
    assert (chosen, found["status"]) == (least, "optimal")
    again = facts_of(*PRUNE, "--error-costs", "pairs.csv", cwd=folder)
    assert (again["selection"], again["threshold"]) == (found["selection"], found["threshold"])

    told = found["test"]
    for one in told.values():
        counts = one["confusion"]
        by_hand = (10 * counts["false_negative"] + counts["false_positive"]) / 200
        assert one["error_cost"] == pytest.approx(by_hand, abs=0.03)  # counts are rounded means
        assert one["error_cost_interval"][0] < one["error_cost"] < one["error_cost_interval"][1]
    gap = told["best_single"]["error_cost"] - told["pruned"]["error_cost"]
    assert found["advice"]["difference"] == pytest.approx(gap)

    screen = done(
        *PRUNE, "--error-costs", "ill=10", "--pick", "committee", "--out", "c.joblib", cwd=folder
    ).stdout
    assert "cost of errors" in screen
    assert done("verify", "c.joblib", "judges.csv", cwd=folder).returncode == 0


@pytest.mark.parametrize(
    "words",
    ["prune patients.csv --pick committee", "prune patients.csv --pick best-single",
     "evolve patients.csv --pick ensemble", "evolve patients.csv --pick best-single"],
)  # fmt: skip
def test_a_saved_model_knows_its_costs_and_whom_it_misses(folder: Path, words: str) -> None:
    rng = np.random.default_rng(1)
    ill = rng.random(240) < 0.2
    tests = (rng.normal(size=(240, 3)) + 1.5 * ill[:, None]).round(2)
    table = pd.DataFrame(tests, columns=list("abc")).assign(status=np.where(ill, "ill", "healthy"))
    table.to_csv(folder / "patients.csv", index=False)
    few = "--set generations=3 --set population=20" if words.startswith("evolve") else "--classifiers 4"
    run = done(
        *words.split(), "--target", "status", "--error-costs", "ill=10", *few.split(), "--workers", "1", "--out", "m.joblib",
        cwd=folder,
    )  # fmt: skip
    screen = run.stdout
    assert len(screen.splitlines()) <= 24
    for told in ("cost of errors", "recall of ill", "specificity (healthy)", "healthy 1, ill 10"):
        assert told in screen
    assert done("verify", "m.joblib", "patients.csv", cwd=folder).returncode == 0
    measured = facts_of("measure", "m.joblib", "patients.csv", cwd=folder)["figures"]
    predicted = done("predict", "m.joblib", "patients.csv", "--out", "answers.csv", cwd=folder)
    assert predicted.returncode == 0
    answers = pd.read_csv(folder / "answers.csv")
    said = answers["prediction"].to_numpy()
    by_hand = np.where(table["status"] == said, 0, np.where(ill, 10, 1)).mean()
    assert measured["cost of errors a row"]["value"] == pytest.approx(by_hand)
    assert measured["cost of errors a row"]["reported"] is not None
    assert measured["recall of ill"]["reported"] is not None


@refusals("prune-error-costs")
def test_what_says_two_things_is_refused(folder: Path, refused: Callable[[Path], None]) -> None:
    refused(folder)
