"""Model files of the command line: an estimator, and facts about its table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shortlist
from shortlist.errors import BadFileError
from shortlist.files import dump_object, load_object
from shortlist.pickles import saved_from

if TYPE_CHECKING:
    from shortlist.results.measured_again import Figure


@saved_from("shortlist")
@dataclass(frozen=True, eq=False)
class SavedModel:
    """Estimator that answers rows, the columns it was fitted on, and the column it predicts.

    The `estimator` of ``shortlist prune`` is the selected committee, without the pruner.

    The columns in `ids` name rows; they are written with the answers of a table that has these columns. The
    column `group`, "" for none, has the case of each row; rows of a case were never separated. `reported`:
    figures at the time of saving, each with its interval; only new rows can check them.
    """

    estimator: Any
    features: tuple[str, ...]
    target: str
    version: str = shortlist.__version__
    ids: tuple[str, ...] = ()
    group: str = ""
    reported: "Mapping[str, Figure]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Replace a fitted pruner by its choice, without the search."""
        chosen = getattr(self.estimator, "chosen_", None)
        if hasattr(chosen, "predict"):  # estimators of others may use the name for something else
            object.__setattr__(self, "estimator", chosen)


def save_model(model: SavedModel, path: str | Path) -> None:
    """Write a model file with joblib, whole or not at all."""
    dump_object(model, path)


def load_model(path: str | Path, *, trust: bool = False) -> SavedModel:
    """Read a model file; a file of another user needs `trust`, since reading it runs code.

    Raises UntrustedFileError if the file is not the user's own and `trust` is False. Raises BadFileError if
    it is not a model file.
    """
    model = load_object(path, trust=trust)
    if not isinstance(model, SavedModel):
        raise BadFileError(
            f"{path} must be a model file written by shortlist, got a {type(model).__name__}. "
            "A pool of classifiers goes to shortlist prune."
        )
    return model


def made_by(estimator: Any) -> str:
    """Return the command that makes such a model; the class's name if no command does.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> made_by(DecisionTreeClassifier())
    'DecisionTreeClassifier'
    """
    known = {
        "decision_report": "shortlist stage",
        "committee": "shortlist prune",
        "members_": "shortlist evolve",
    }
    return next(
        (command for has, command in known.items() if hasattr(estimator, has)), type(estimator).__name__
    )
