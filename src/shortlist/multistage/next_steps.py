"""One row in service: what to measure next, or what the answer is, from what is known of it so far.

There is no object that lives between a question and its result. What is known is a mapping of features to
values and what failed is a list of names; both are JSON, and may lie in a file or a database for days.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from shortlist._words import did_you_mean
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import FAILED, NOT_ASKED, UNASKED, labels_of
from shortlist.multistage.predict.prediction import decide_known, stage_probabilities
from shortlist.pickles import saved_from
from shortlist.policies import UNDECIDED

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.multistage.estimators import MultiStageClassifier

ASK, ANSWER, REJECT = "ask", "answer", "reject"


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class NextStep:
    """What comes next for one row."""

    what: str
    """``"ask"``: measure `features`. ``"answer"``: `label` is the class. ``"reject"``: even the last stage is
    not confident, and `label` is the reject label.
    """
    features: tuple[str, ...]
    """What the next stage needs and is not known, to be measured in any order, together or one by one."""
    price: float
    """What this stage costs more than the ones before, in the user's money, in all: features of it that are
    known already count too.
    """
    label: Any
    """The class or the reject label; None while there is something to ask."""
    confidence: float | None
    """The largest class probability at the last stage that was reached; None before the first."""
    stage: int
    """That stage, from 1; 0 before the first."""
    paid: float
    """What the stages up to that one cost."""
    failed: tuple[str, ...]
    """Features that could not be had and that an answer had to do without: the median, or no category, stands
    for them. What the validation rows say of the confidence does not hold for such a row.
    """

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON holds it."""
        label = self.label.item() if isinstance(self.label, np.generic) else self.label
        return asdict(self) | {
            "label": label, "features": list(self.features), "failed": list(self.failed),
        }  # fmt: skip


def without_empty_stages(classifier: "MultiStageClassifier", table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table of a file in which a stage of which a row has no value was not bought.

    An empty cell of a file says that a feature was asked for and is silent, where gaps are values. Where all
    that a stage buys is empty, nothing says that anybody has asked.
    """
    import pandas as pd

    if not hasattr(classifier, "model_"):  # no point was chosen, which whoever asks for answers is told
        return table
    found, names = table.copy(), classifier.costs_.names
    for stage in classifier.model_.stages:
        bought = [names[place] for place in stage.bought if names[place] in table.columns]
        nothing = table[bought].isna().all(axis=1).to_numpy()
        for name in bought if nothing.any() else ():
            cells = table[name].astype(object).to_numpy(copy=True)
            cells[nothing] = NOT_ASKED
            found[name] = pd.Series(cells, index=table.index, dtype=object)
    return found


def next_step(
    classifier: "MultiStageClassifier", known: Mapping[str, Any], failed: Collection[str] = ()
) -> NextStep:
    """Say what comes next for a row of which some features are known.

    Parameters
    ----------
    classifier : MultiStageClassifier
        Fitted, with a point that predicts.
    known : mapping of str to value
        Features that were measured, by name; without names they are called ``x0``, ``x1`` and so on as in the
        costs. None, NaN or an empty text is a gap, as in policy files: a value where the classifier learned
        from gaps, else as if the feature were not there.
    failed : collection of str
        Features that were tried and could not be had: they are not asked again.

    Raises
    ------
    BadInputError
        If a name is no feature, a feature is both known and failed, or a value cannot be used, as a word that
        the classifier does not know.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from shortlist.multistage import MultiStageClassifier
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> clf = MultiStageClassifier(max_stages=2, confidence=0.9, random_state=0).fit(X, y)
    >>> known = {}
    >>> while (step := next_step(clf, known)).what == "ask":
    ...     known |= {name: X[name][0] for name in step.features}
    >>> step.what, int(step.label), len(known) < 4
    ('answer', 0, True)
    """
    import pandas as pd

    check_is_fitted(classifier, "model_")
    model, names = classifier.model_, classifier.costs_.names
    for name in (*known, *failed):
        if name not in names:
            raise BadInputError(
                f"every feature must be one of the model's, got {name!r}.{did_you_mean(name, names)}"
            )
        if name in known and name in failed:
            raise BadInputError(f"a feature is known or failed, got both of {name!r}. Leave it out of one.")
    given = [known.get(name, np.nan) for name in names]
    values = [np.nan if isinstance(value, str) and not value else value for value in given]
    row = pd.DataFrame([values], columns=list(names), dtype=object)
    model.encoding.refuse_unknown(row, range(len(names)))
    rows, found = model.encoding.encode_known(row)
    states = np.zeros((1, len(names)), dtype=np.int8) if found is None else found
    for place, name in enumerate(names):
        states[0, place] = FAILED if name in failed else states[0, place] if name in known else UNASKED
    decisions = decide_known(model, rows, states, guess=classifier.answer_rejected)
    stage = int(decisions.stages[0])
    prices = [0.0, *(one.price / model.costs.scale for one in model.stages)]
    certain = stage_probabilities(model, rows, decisions.stages).max()
    facts: dict[str, Any] = {
        "confidence": None if np.isnan(certain) else float(certain),
        "stage": stage,
        "paid": prices[stage],
        "failed": tuple(
            names[i] for i in np.flatnonzero(model.stages[stage - 1].subset) if names[i] in failed
        )
        if stage
        else (),
    }
    if not decisions.finished[0]:
        bought = model.stages[stage].bought
        wanted = tuple(names[i] for i in bought[model.encoding.lacking(states, bought)[0]])
        return NextStep(ASK, wanted, prices[stage + 1] - prices[stage], None, **facts)
    label = labels_of(decisions.guesses, classifier.classes_, classifier.reject_label_)[0]
    what = REJECT if decisions.labels[0] == UNDECIDED and not classifier.answer_rejected else ANSWER
    return NextStep(what, (), 0.0, label, **facts)
