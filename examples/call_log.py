"""Find out from a log of calls which models to ask, in which order, and ask them about a new message."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from shortlist.panels import load_panel


def shortlist(*words: str, folder: str) -> str:
    """Return what the command says in this folder."""
    ran = subprocess.run(
        [sys.executable, "-m", "shortlist", *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return ran.stdout


with TemporaryDirectory() as folder:
    shortlist("example", "spam", folder=folder)  # answers.csv: a row a message, a column a model; prices.csv
    words = ("--costs", "prices.csv", "--set", "max-stages=2", "--limit", "price<=3", "--out", "panel.json")
    print(shortlist("panel", "answers.csv", *words, folder=folder))
    panel = load_panel(Path(folder) / "panel.json")

# what a program does for each message: ask whom the panel names, until it decides
answers = {}
while (step := panel.next(answers))["decision"] is None:
    print(f"asking {', '.join(step['ask'])}")
    answers |= {judge: {"label": "spam", "confidence": 0.9} for judge in step["ask"]}  # call your model here
print(f"decided: {step['decision']['label']}")
