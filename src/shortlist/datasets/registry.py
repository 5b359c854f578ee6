"""Public sets from `sets.toml`, and tables that scikit-learn ships or that are generated here."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist._words import any_of, did_you_mean
from shortlist.errors import BadInputError

if TYPE_CHECKING:
    import pandas as pd

TARGET = "target"
"""Name of the last column of every set."""

IDENTIFIER = "id_"
"""Prefix of the names of columns with names or row numbers; such columns are no features."""


@dataclass(frozen=True)
class SetSource:
    """Source of a set: the address of its file, and the notation of its rows."""

    url: str
    """Address of the download."""
    sha256: str
    """SHA-256 of the data file, in hexadecimal."""
    size: int
    """Size of the data file, in bytes."""
    separator: str = ","
    """Separator of the cells in a row."""
    header: bool = False
    """Whether the first line names the columns."""
    missing: str = ""
    """Text of an unknown value; empty: an empty cell."""
    order: tuple[str, ...] = ()
    """Names of the first columns of the file; all other columns follow in the order of the set."""
    classes: Mapping[str, str] = field(default_factory=dict)
    """Class of the set for each word of the file; a word without an entry is the class."""
    members: tuple[str, ...] = ()
    """Names of nested archive members: the first member is in the download, each further member in the member
    before.
    """
    most_bytes: int = 0
    """Largest size of the download, in bytes."""

    @property
    def file(self) -> str:
        """Name of the downloaded file."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class DataSet:
    """One public set."""

    name: str
    """Name of the set for users."""
    title: str
    page: str
    """Address of the set's explanation."""
    licence: str
    rows: int
    columns: tuple[str, ...]
    """Names of the columns; the last column is ``target``."""
    note: str = ""
    """Note to read before use."""
    classes: Mapping[str, int] = field(default_factory=dict)
    """Number of rows of each class; empty if the target is a number."""
    source: SetSource | None = None
    """Source of the set; None if no hash of the original is known, so that the set is only read from a
    folder.
    """

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns to learn from."""
        return tuple(name for name in self.columns[:-1] if not name.startswith(IDENTIFIER))

    @property
    def stem(self) -> str:
        """Name of the set's file in a folder, without the ending."""
        return self.name.replace("-", "_")


@functools.cache
def public_sets() -> Mapping[str, DataSet]:
    """Return every public set by its name."""
    entries = tomllib.loads(files("shortlist.datasets").joinpath("sets.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: _data_set(name, entry) for name, entry in entries.items()})


def public_set(name: str) -> DataSet:
    """Return a public set; its name may have underscores for hyphens.

    Raises BadInputError for other names.
    """
    sets = public_sets()
    wanted = name.replace("_", "-")
    if wanted not in sets:
        raise BadInputError(
            f"a public data set must be one of {any_of(sets)}, got {name!r}.{did_you_mean(wanted, sets)}"
        )
    return sets[wanted]


def _data_set(name: str, entry: Mapping[str, Any]) -> DataSet:
    source = entry.get("source")
    return DataSet(name, **{**_frozen(entry), "source": SetSource(**_frozen(source)) if source else None})


def _frozen(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


N_MESSAGES = 600
MESSAGES_SEED = 1


class JudgeKind(NamedTuple):
    """Judges of one kind, with their price and skill."""

    name: str
    """Name of the judges of the kind; each judge's number is added to the name."""
    number: int
    """Number of judges of the kind."""
    cost: float
    """Price of the first judge, in cents; every next judge costs a fifth more."""
    skill: float
    """Skill in recognising harm; a larger skill means smaller errors."""
    shared: float
    """Share of the variance of errors that is common to all judges of the kind."""
    asked: float
    """Share of the messages about which each judge was asked."""


JUDGE_KINDS = (
    JudgeKind("words", 4, 0.01, 0.8, 0.2, 1.0),
    JudgeKind("small-model", 9, 0.05, 1.5, 0.2, 1.0),
    JudgeKind("large-model", 9, 0.8, 3.0, 0.2, 1.0),
    JudgeKind("crowd", 6, 4.0, 2.5, 0.05, 0.6),
    JudgeKind("expert", 2, 60.0, 6.0, 0.2, 0.4),
)
"""Kinds of judges: lists of words, prompts of small and of large models, workers of a crowd, and experts."""


def judged_messages() -> "pd.DataFrame":
    """Return a table with a column of answers for each judge, with empty cells, and the truth as ``target``.

    A message has a hidden score, and is harmful if the score is above a bound; 30 % of the messages are. A
    judge sees the score with an error. A part of the error is common to all judges of a kind. The judge
    answers harmful if the score that it sees is above the judge's own bound.
    """
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(MESSAGES_SEED)
    scores = rng.normal(size=N_MESSAGES)
    table: dict[str, object] = {}
    for kind in JUDGE_KINDS:
        common = rng.normal(size=N_MESSAGES)
        for name in _names(kind):
            error = np.sqrt(kind.shared) * common + np.sqrt(1 - kind.shared) * rng.normal(size=N_MESSAGES)
            bound = BOUND + 0.2 * rng.normal()
            said = np.where(scores + error / kind.skill > bound, HARMFUL, FINE).astype(object)
            said[rng.random(N_MESSAGES) >= kind.asked] = None
            table[name] = said
    return pd.DataFrame(table).assign(target=np.where(scores > BOUND, HARMFUL, FINE))


def prices_of_judges() -> "pd.DataFrame":
    """Return the price of asking each judge once, in cents: the columns ``name`` and ``cost``."""
    import pandas as pd

    prices = [
        (name, round(kind.cost * 1.2**place, 4))
        for kind in JUDGE_KINDS
        for place, name in enumerate(_names(kind))
    ]
    return pd.DataFrame(prices, columns=["name", "cost"])


THINGS = {"redaction": 2.0, "context": 10.0}
"""Prices, in cents, of the steps that some judges need before they see a message."""
NEEDS = {"large-model": "redaction", "crowd": "redaction", "expert": "context"}
"""Step that each kind of judge needs: removal of personal data, or reading of the earlier messages."""


def needs_of_judges() -> "pd.DataFrame":
    """Return the prices of the judges and of their needs, with the column ``needs``."""
    import pandas as pd

    prices = prices_of_judges()
    prices["needs"] = [NEEDS.get(name.rpartition("-")[0], "") for name in prices["name"]]
    things = pd.DataFrame([(name, cost, "") for name, cost in THINGS.items()], columns=list(prices.columns))
    return pd.concat([prices, things], ignore_index=True)


FINE, HARMFUL = "fine", "harmful"
BOUND = 0.524
"""Score above which a message is harmful; 30 % of the messages are."""


def _names(kind: JudgeKind) -> list[str]:
    return [f"{kind.name}-{number}" for number in range(1, kind.number + 1)]


SHIPPED = {
    "breast-cancer": "Breast cancer Wisconsin (diagnostic): malignant or benign",
    "digits": "Written digits, 8 x 8 points each",
    "iris": "Three kinds of iris, by their leaves",
    "wine": "Three growers of wine, by what is in it",
    "synthetic30": "Thirty features and three classes, made as for EMSCO",
    "judges": "Answers of thirty judges on 600 messages, made",
}
"""Names in ``example:NAME``, and the title of each table."""

PRICES = {"judges-prices": "judges", "judges-needs": "judges"}
"""Tables of prices in ``example:NAME`` by name, each with the name of the table of its judges."""


def shipped_table(name: str) -> "pd.DataFrame":
    """Load a table of scikit-learn, or generate one, with names of classes in its last column, ``target``.

    A table of prices has the columns ``name`` and ``cost``, and ``needs`` if judges have needs. Raises
    BadInputError for other names.
    """
    import sklearn.datasets

    if name in PRICES:
        return prices_of_judges() if name == "judges-prices" else needs_of_judges()
    if name == "judges":
        return judged_messages()
    if name == "synthetic30":
        return synthetic30()
    if name not in SHIPPED:
        raise BadInputError(
            f"a shipped table must be one of {any_of(SHIPPED)}, got {name!r}.{did_you_mean(name, SHIPPED)}"
        )
    bunch = getattr(sklearn.datasets, f"load_{name.replace('-', '_')}")(as_frame=True)
    return bunch.data.assign(target=bunch.target_names[bunch.target])


def synthetic30(seed: int = 0) -> "pd.DataFrame":
    """Generate Synthetic30, 30 features of which 25 are informative (Sec. 4.1.3 of :cite:t:`Hamilton2022`).

    The paper does not give the seed.

    `table`, which it returns: 1,000 rows, with the columns ``f0`` to ``f29`` and ``target``, which has three
    equally frequent labels.
    """
    import pandas as pd
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_samples=1000, n_features=30, n_informative=25, n_redundant=0, n_classes=3, random_state=seed
    )
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(30)]).assign(target=y)
