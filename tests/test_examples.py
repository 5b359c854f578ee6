"""The examples run, and the commands and the Python of the README do."""

import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

from tests.cli.running import shortlist

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run_and_say_something(
    script: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.slow
def test_the_readme_runs() -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL))
    X, y = make_classification(300, 6, random_state=0)
    names = {
        "X_train": X[:100],
        "y_train": y[:100],
        "X_val": X[100:200],
        "y_val": y[100:200],
        "X_test": X[200:],
    }
    exec(code.replace("n_classifiers=100", "n_classifiers=10"), names)
    assert len(np.asarray(names["pruned"].predict(X[200:]))) == 100


@pytest.mark.slow
def test_the_commands_of_the_readme_run_and_say_what_it_shows(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    (tmp_path / "phone.uvl").write_text("".join(re.findall(r"```uvl\n(.*?)```", text, flags=re.DOTALL)))
    said = ""
    for line in "".join(re.findall(r"```shell\n(.*?)```", text, flags=re.DOTALL)).splitlines():
        command, *words = shlex.split(line)
        assert command == "shortlist"
        if "--classifiers" in words:
            words[words.index("--classifiers") + 1] = "10"
        ran = shortlist(*words, cwd=tmp_path)
        assert ran.returncode == 0, f"{line}\n{ran.stdout}\n{ran.stderr}"
        said += ran.stdout
        assert len(ran.stdout.splitlines()) <= 24
        assert max(map(len, ran.stdout.splitlines())) <= 100
    for shown in (
        "37 points, complete: every best trade-off is listed",
        "Take point 16 of 37, the knee: ",
        "  max appeal         5                   0    13      0",
        "Point 7 of 37, by lexicographic:",
        "6 of 12 features: Phone, Screen, Basic, Battery, Large, SolarBack",
        "Undecided: use all features at once, which the estimate favours, ",
        "stage 1, cost 2: hue, proline",
        "As claimed",
    ):
        assert shown in said, shown
    assert (tmp_path / "committee.html").stat().st_size < 1_500_000
