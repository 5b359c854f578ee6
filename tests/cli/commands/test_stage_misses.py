"""Rows that stages miss: on the screen, the page and the protocol, and compared with new rows."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.multistage.holdout import reported_figures
from shortlist.saved_models import load_model
from tests.cli.running import done, facts_of

STAGE = ["stage", "ill.csv", "--target", "status", "--workers", "1", "--set", "max-stages=2"]


def patients(n: int, seed: int) -> pd.DataFrame:
    """Return patients of whom 14 % are ill."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.14
    tests = {
        name: rng.normal(size=n) + shift * ill for name, shift in zip("abc", (0.8, 1.2, 1.8), strict=True)
    }
    return pd.DataFrame(tests).round(2).assign(status=np.where(ill, "ill", "healthy"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("misses")
    patients(300, 0).to_csv(folder / "ill.csv", index=False)
    patients(400, 1).to_csv(folder / "new.csv", index=False)
    return folder


@pytest.mark.parametrize("held_out", [False, True])
def test_every_output_says_how_many_of_the_ill_are_missed(folder: Path, held_out: bool) -> None:
    tested = ["--test", "new.csv"] if held_out else []
    outs = [word for out in ("s.joblib", "s.html") for word in ("--out", out)]
    screen = done(*STAGE, *tested, *outs, cwd=folder).stdout
    facts = facts_of(*STAGE, *tested, cwd=folder)
    staged, classes = facts["test"]["multi_stage"], facts["test"]["classes"]
    (right, wrong, none), (missed, found, silent) = staged["confusion"]
    assert (sum(map(sum, staged["confusion"])), right + found) == pytest.approx(
        (staged["n_rows"], staged["n_right"])
    )
    assert none + silent == pytest.approx(staged["n_rows"] - staged["n_answered"])
    n_ill = missed + found + silent
    assert [one["label"] for one in classes] == ["healthy", "ill"]
    assert classes[1]["wrong"] == pytest.approx(missed / n_ill)
    assert re.search(r"recall of ill +specificity \(healthy\) +ill answered healthy\n", screen)
    shown = rf"these stages  {found / n_ill:.4f} \(.*\)  {right / (right + wrong + none):.4f} \(.*\)  {missed / n_ill:.4f} \("
    assert re.search(shown, screen)
    assert len(screen.splitlines()) <= 24

    done("report", "s.joblib", "--out", "again.html", cwd=folder)
    done("report", "s.joblib", "--protocol", "--out", "s.md", cwd=folder)
    done("report", "s.joblib", "--protocol", "--out", "s.svg", cwd=folder)
    for page in ("s.html", "again.html"):
        text = (folder / page).read_text(encoding="utf-8")
        assert "Confusion on the test rows" in text if held_out else "Confusion by repeated choice" in text
        assert "ill, recall" in text
    said = f"Of those that are ill: answered ill {100 * found / n_ill:.1f} % ("
    assert said in (folder / "s.md").read_text(encoding="utf-8").replace("\\", "")
    assert "answered" in (folder / "s.svg").read_text(encoding="utf-8")
    told = done("measure", "s.joblib", "new.csv", cwd=folder).stdout
    assert re.search(r"recall of ill +0\.\d{4} \(.*\) +0\.\d{4} \(.*\)", told)


def test_another_point_has_no_figures_of_the_first_one(folder: Path) -> None:
    done(*STAGE, "--out", "p.joblib", cwd=folder)
    first = load_model(folder / "p.joblib")
    assert first.reported == reported_figures(first.estimator)
    other = 0 if first.estimator.point_ else 1
    done("stage", "use", "p.joblib", "--pick", str(other), "--out", "q.joblib", cwd=folder)
    assert load_model(folder / "q.joblib").reported == {}
    done(*STAGE, "--test", "new.csv", "--out", "p.joblib", cwd=folder)
    done("stage", "use", "p.joblib", "--pick", str(other), "--out", "q.joblib", cwd=folder)
    changed = load_model(folder / "q.joblib")
    held = changed.estimator.front_.extras["held_out"][other]
    assert changed.reported["cost a row"][0] == held["cost"]
    told = done("stage", "use", "q.joblib", "--pick", str(other), cwd=folder).stdout
    assert "recall of ill" in told


def test_equal_classes_are_told_by_right_answers_unless_one_is_named(folder: Path) -> None:
    table = patients(900, 2)
    ill = table["status"] == "ill"
    even = pd.concat([table[ill], table[~ill].head(int(ill.sum()))])
    even.to_csv(folder / "even.csv", index=False)
    words = ["stage", "even.csv", *STAGE[2:]]
    assert "recall of" not in done(*words, cwd=folder).stdout
    named = done(*words, "--set", "positive=healthy", cwd=folder).stdout
    assert re.search(r"recall of healthy +specificity \(ill\) +healthy answered ill\n", named)
