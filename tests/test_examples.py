"""The examples run, and the README's Python does."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run_and_say_something(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
