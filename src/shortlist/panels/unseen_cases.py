"""Cases of another log, to measure panels on cases that did not choose them."""

from dataclasses import replace
from typing import Any

from shortlist._words import all_of, any_of
from shortlist.errors import BadInputError
from shortlist.panels.answer_log import AnswerLog, by_agreement
from shortlist.panels.panel_options import fully_asked


def unseen_cases(test: AnswerLog, log: AnswerLog) -> AnswerLog:
    """Return the cases of known truth of a test log, with the judges of `log` in the order of `log`.

    If there are cases about which every judge was asked, only these cases are returned.

    Raises
    ------
    BadInputError
        If a judge is missing, no truth is known, or the classes differ.
    """
    missing = [name for name in log.judges if name not in test.judges]
    if missing:
        raise BadInputError("test", "must have every judge of the log", f"no {all_of(missing, most=5)}")
    if not (test.truth >= 0).any():
        raise BadInputError("test", "must have cases of known truth", "none")
    if test.is_open != log.is_open or (not log.is_open and test.classes != log.classes):
        others = [label for label in test.classes if label not in log.classes]
        got = all_of(map(repr, others), most=5) if others else "free text"
        wanted = "free text" if log.is_open else any_of(map(repr, log.classes))
        raise BadInputError("test", f"must have truths as the log has them, {wanted}", got, "Correct them.")
    places = [test.judges.index(name) for name in log.judges]
    columns = ("answers", "prices", "confidence", "probabilities", "latency", "right")
    own: dict[str, Any] = {
        name: values[:, places] for name in columns if (values := getattr(test, name)) is not None
    }
    known, _ = fully_asked(replace(test, judges=log.judges, **own).at(test.truth >= 0))
    return by_agreement(known) if known.is_open else known
