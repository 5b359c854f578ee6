"""Files of the guides' examples, which ``shortlist example`` writes into a folder."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist._words import any_of, did_you_mean
from shortlist.datasets.registry import SHIPPED, needs_of_judges, prices_of_judges, shipped_table
from shortlist.errors import BadInputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

SEED = 7
MADE = {
    "clinic": "Patients, ill or healthy, with prices and hours of seven tests, made",
    "spam": "Answers of four judges on 400 messages with their prices, made",
    "phone": "A feature model of a phone with attributes",
    "machines": "An integer program with two objectives: which machines to buy",
}
"""Examples with several files, with their titles; the tables of ``example:NAME`` are not among them."""

SHIPPED_FILES = {
    "clinic": ["costs.csv"],
    "phone": ["phone.uvl"],
    "machines": ["machines.lp"],
}


def example_files(name: str) -> dict[str, str]:
    """Return the files of an example, text by file name.

    `name`: a name in :data:`MADE`, or a table of ``example:NAME``; a table has one file, ``NAME.csv``. Raises
    BadInputError for other names.

    >>> sorted(example_files("clinic"))
    ['costs.csv', 'later.csv', 'new.csv', 'patients.csv']
    """
    known = [*MADE, *SHIPPED]
    if name not in known:
        raise BadInputError(
            "example", f"must be one of {any_of(known)}", repr(name), did_you_mean(name, known)
        )
    folder = files("shortlist.datasets") / "example_files"
    found = {file: (folder / file).read_text(encoding="utf-8") for file in SHIPPED_FILES.get(name, ())}
    tables = MADE_TABLES[name]() if name in MADE_TABLES else {}
    if name in SHIPPED:
        tables = {f"{name}.csv": shipped_table(name)}
    if name == "judges":
        tables |= {"prices.csv": prices_of_judges(), "needs.csv": needs_of_judges()}
    return found | {file: table.to_csv(index=False, lineterminator="\n") for file, table in tables.items()}


def write_example(name: str, folder: str | Path = ".") -> list[Path]:
    """Write the files of an example into a folder, and return their paths.

    An existing file with the same content stays. Raises BadInputError, before any file is written, if a file
    exists with other content.
    """
    from shortlist.files import read_bytes, write_text

    texts = {Path(folder) / file: text for file, text in example_files(name).items()}
    for path, text in texts.items():
        if path.exists() and (not path.is_file() or read_bytes(path) != text.encode()):
            raise BadInputError(
                f"{path} must be free for the example {name!r}, got another file of that name. "
                "Run this in an empty folder."
            )
    for path, text in texts.items():
        if not path.exists():
            write_text(path, text)
    return list(texts)


def _clinic() -> "dict[str, pd.DataFrame]":
    """Generate 300 known patients, 40 new patients without outcome, and 200 later patients with outcome."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(SEED)
    n = 540
    ill = rng.random(n) < 0.3
    age = np.rint(rng.normal(52, 12, n) + 7 * ill).clip(18, 95).astype(int)
    sex = np.where(rng.random(n) < 0.5 + 0.15 * ill, "male", "female")
    pressure = np.rint(rng.normal(124, 13, n) + 14 * ill).astype(int)
    patients = pd.DataFrame(
        {
            "patient": np.arange(1, n + 1),
            "age": age,
            "sex": sex,
            "pressure": pressure,
            "sugar": (rng.normal(5.2, 0.7, n) + 0.8 * ill).round(1),
            "fat": (rng.normal(2.0, 0.6, n) + 0.3 * ill).round(1),
            "xray": (rng.normal(30, 9, n) + 12 * ill).round(1),
            "mri": (rng.normal(10, 3, n) + 6 * ill).round(1),
            "outcome": np.where(ill, "ill", "healthy"),
        }
    )
    return {
        "patients.csv": patients[:300],
        "new.csv": patients[300:340].drop(columns="outcome"),
        "later.csv": patients[340:],
    }


def _spam() -> "dict[str, pd.DataFrame]":
    """Generate a log of 400 messages with their length and topic, a log of 150 other messages, and prices.

    Small judges err more on long messages.
    """
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(SEED)
    n = 550
    spam = rng.random(n) < 0.4
    length = np.rint(rng.gamma(3, 120, n)).astype(int) + 10
    log = {
        "case": np.arange(1, n + 1),
        "length": length,
        "topic": rng.choice(["invoice", "meeting", "offer"], n),
        "target": _said(spam),
    }
    hard = (length > 400).astype(float)
    for judge, sure, loss in (
        ("small", 1.8, 1.4),
        ("medium", 2.2, 0.8),
        ("large", 2.5, 0.2),
        ("person", 3.0, 0.3),
    ):
        signal = rng.normal(sure - loss * hard, 1.6, n)
        log[judge] = _said(np.where(signal > 0, spam, ~spam))
        if judge != "person":
            log[f"{judge}.confidence"] = (1 / (1 + np.exp(-np.abs(signal)))).round(3)
    messages = pd.DataFrame(log)
    prices = pd.DataFrame({"name": ["small", "medium", "large", "person"], "cost": [0.1, 0.4, 2, 40]})
    answers = messages.drop(columns=["length", "topic"])
    return {
        "answers.csv": answers[:400],
        "answers-later.csv": answers[400:],
        "messages.csv": messages[:400],
        "prices.csv": prices,
    }


def _said(spam: "np.ndarray") -> "np.ndarray":
    import numpy as np

    return np.where(spam, "spam", "ham")


MADE_TABLES: "dict[str, Callable[[], dict[str, pd.DataFrame]]]" = {"clinic": _clinic, "spam": _spam}
