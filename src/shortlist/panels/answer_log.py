"""Log of answers, the input of a panel: judges' answers to cases, the truths, and the prices of calls."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._words import all_of, counted
from shortlist.errors import BadInputError
from shortlist.export.reader import number_text
from shortlist.guarantees.cells import NOT_ASKED, label_text
from shortlist.panels.log_checks import (
    RIGHT_ABOVE,
    SILENT,
    UNASKED,
    Scored,
    answers_right,
    by_scores,
    checked_cases,
    checked_features,
    checked_groups,
    checked_judges,
    checked_numbers,
    checked_prices,
    checked_probabilities,
    log_notes,
    scored_codes,
    spelling_notes,
)

if TYPE_CHECKING:
    import pandas as pd

FEWEST_OPEN = 10
"""Least number of cases of known truth for open answers; with fewer cases, answers count as classes."""
ONCE = 0.1
"""Share of cases whose truth occurs only once; above this share answers are open."""


@dataclass(frozen=True, eq=False)
class Measures:
    """Numbers beside the answers, each of shape (n_cases, n_judges), or None if they are not known.

    Attributes
    ----------
    confidence : array of float, optional
        Confidence of the judge, on any scale; NaN where none is given.
    probabilities : array of float of shape (n_cases, n_judges, n_classes), optional
        Probability of each class, in the order of the sorted classes; NaN where unknown.
    prices : array of float, optional
        Price of each call; of shape (n_judges,) where all of a judge's calls cost the same.
    latency : array of float, optional
        Seconds until the answer; NaN where unknown.
    scores : array of float, optional
        Score of each answer by the log itself, from 0 (wrong) to 1 (right); NaN where there is no score. See
        :func:`shortlist.panels.log_checks.by_scores`.
    right_above : float, default=0.5
        Score above which an answer is right.
    """

    confidence: ArrayLike | None = None
    probabilities: ArrayLike | None = None
    prices: ArrayLike | None = None
    latency: ArrayLike | None = None
    scores: ArrayLike | None = None
    right_above: float = RIGHT_ABOVE


class Coded(NamedTuple):
    """Answers as indices of labels, ``(n_cases, n_judges)``.

    -1 where a judge was asked and gave no answer.
    """

    codes: NDArray[np.int64]
    labels: list[str]


@dataclass(frozen=True, eq=False)
class AnswerLog:
    """Answers of judges on cases; build one with :func:`make_log`.

    Attributes
    ----------
    judges : tuple of str
    cases : ndarray of str, shape (n_cases,)
        Name of each case; a repeated name is a case that was asked again.
    answers : ndarray of int, shape (n_cases, n_judges)
        Indices in `classes`; -1 where the judge was asked and gave no class, -2 where it was not asked.
    classes : tuple of str
        The labels, sorted: as numbers if all labels are numbers, or else as text.
    truth : ndarray of int, shape (n_cases,)
        Indices in `classes`; -1 where the truth is not known.
    prices : ndarray of float, shape (n_cases, n_judges)
        Price of each call, also of calls that were not made; never NaN.
    confidence, latency : ndarray of float, shape (n_cases, n_judges), or None
        As in :class:`Measures`; the latency is in seconds.
    probabilities : ndarray of float, shape (n_cases, n_judges, n_classes), or None
    features : DataFrame of n_cases rows
        Free columns of the cases, perhaps none.
    groups : ndarray of int, shape (n_cases,), or None
        Equal numbers mark rows of the same case, which stay together in every split; None if all cases
        differ.
    notes : tuple of str
        A sentence for each kind of missing or ignored values, with their count.
    unknown_words : mapping of str to int
        Count of each answer that is no class; its code in `answers` is -1.
    is_open : bool
        Whether new cases are likely to have answers outside `classes`; see :func:`make_log`.
    folds_case, folds_punctuation : bool
        Whether labels that differ only in capital letters, or in punctuation, count as the same.
    right : ndarray of bool, shape (n_cases, n_judges), or None
        Whether each answer is right by the log's own scores; equal answers to a case are right together. None
        if an answer is right when it is the truth. :meth:`scored` and :meth:`is_right` work in both cases.
    """

    judges: tuple[str, ...]
    cases: NDArray[Any]
    answers: NDArray[np.int64]
    classes: tuple[str, ...]
    truth: NDArray[np.int64]
    prices: NDArray[np.float64]
    features: "pd.DataFrame"
    confidence: NDArray[np.float64] | None = None
    probabilities: NDArray[np.float64] | None = None
    latency: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()
    unknown_words: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    is_open: bool = False
    folds_case: bool = False
    folds_punctuation: bool = False
    right: NDArray[np.bool_] | None = None

    @property
    def is_right(self) -> NDArray[np.bool_]:
        """Mask of the right answers, ``(n_cases, n_judges)``."""
        return answers_right(self.answers, self.truth, self.right)

    def scored(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the scored class of each decision, ``(n_cases,)``; see :func:`scored_codes`."""
        return scored_codes(codes, self.answers, self.truth, self.right)

    @property
    def paid(self) -> NDArray[np.float64]:
        """Price paid for each call, ``(n_cases, n_judges)``; 0 where a judge was not asked."""
        return np.where(self.answers == UNASKED, 0.0, self.prices)

    def at(self, rows: Any) -> "AnswerLog":
        """Return the log of some cases, given as a mask or as indices; judges and classes stay."""
        changed = {one.name: getattr(self, one.name) for one in fields(self)}
        for name in ("cases", "answers", "truth", "prices", *_OPTIONAL):
            if changed[name] is not None:
                changed[name] = changed[name][rows]
        changed["features"] = self.features.iloc[np.arange(len(self.cases))[rows]].reset_index(drop=True)
        return AnswerLog(**changed)


def n_different(log: AnswerLog) -> int:
    """Return the number of different cases of a log; a case that was asked several times counts once."""
    return len(log.truth) if log.groups is None else len(np.unique(log.groups))


def cases_in_words(n_rows: int, n_cases: int, kind: str = "") -> str:
    """Return the number of different cases in some rows, in words.

    >>> cases_in_words(800, 200, "hold-out "), cases_in_words(200, 200)
    ('200 hold-out cases in 800 rows', '200 cases')
    """
    rows = f" in {n_rows:,} rows" if n_rows != n_cases else ""
    return f"{n_cases:,} {kind}cases{rows}"


def by_agreement(log: AnswerLog) -> AnswerLog:
    """Return a log in which each answer is the index of the first judge with the same answer to the case.

    Only the equality of answers then counts, since the answers to new cases are not known beforehand. The
    last class stands for a truth that no judge gave. In a log with its own scores, the truth is the answer of
    the first judge that is right. A log that was converted before stays unchanged.

    >>> said = [["Rome", "Oslo", "Oslo"], ["Bern", "", "Ulm"]]
    >>> log = by_agreement(make_log(["a", "b", "c"], [1, 2], said, classes=["Rome", "Oslo", "Bern", "Ulm"]))
    >>> log.answers.tolist()
    [[0, 1, 1], [0, -1, 2]]
    """
    answers, truth = log.answers.copy(), np.where(log.truth >= 0, len(log.judges), log.truth)
    for judge in reversed(range(len(log.judges))):
        said = log.answers[:, judge]
        answers[(log.answers == said[:, None]) & (said >= 0)[:, None]] = judge
        truth[log.is_right[:, judge] & (said >= 0)] = judge
    classes = (*(f"what {name} says" for name in log.judges), "another answer")
    return replace(log, answers=answers, truth=truth, classes=classes, probabilities=None)


def can_agree(log: AnswerLog) -> bool:
    """Return whether any two judges give the same answer to a case; false for a log of scores alone."""
    answers = by_agreement(log).answers
    return bool(((answers >= 0) & (answers != np.arange(len(log.judges)))).any())


_OPTIONAL = ("confidence", "probabilities", "latency", "groups", "right")


def make_log(
    judges: Sequence[str],
    cases: ArrayLike,
    said: Any,
    truth: Any = None,
    *,
    measures: Measures | None = None,
    features: "pd.DataFrame | None" = None,
    groups: ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
    notes: Sequence[str] = (),
) -> AnswerLog:
    """Check the answers of judges to cases, and return a log of them.

    Labels are compared as text without white space around it; whole numbers count as integers (1.0 is 1) and
    truth values as ``True`` and ``False``, in any letters. Otherwise capital and small letters differ.

    Parameters
    ----------
    judges : sequence of str, of length n_judges
        Names of the judges, each once.
    cases : array-like of shape (n_cases,)
        Names of the cases. Cases of one name are the same case, asked again.
    said : array-like of shape (n_cases, n_judges)
        Labels, or coded ones. None, NaN or an empty text where the judge was asked and gave no answer, and
        :data:`shortlist.guarantees.cells.NOT_ASKED` where it was not asked.
    truth : array-like of shape (n_cases,), optional
        The right labels; None, NaN or an empty text where the truth is not known.
    measures : Measures, optional
        Prices, confidences, latencies and probabilities.
    features : DataFrame of n_cases rows, optional
    groups : array-like of shape (n_cases,), optional
        Rows with equal entries are the same case; by default rows with the same name.
    classes : sequence, optional
        The possible answers; empty if answers are free text. By default the labels of the truth. If no truth
        is known or the answers are open, the labels of the answers are added. Answers are open if there are
        ten or more cases of known truth, and either more different truths than half of these cases, or ten or
        more truths that occur once and are more than a tenth of these cases. An answer that is no class is an
        unknown word: it is counted, and treated as silence.
    notes : sequence of str, optional
        Sentences about how the log was read; further ones are added to them.

    Raises
    ------
    BadInputError
        If shapes do not fit, there is no case or no judge, a judge comes twice, a label is no plain value, a
        price is negative or not a number, or probabilities do not add up to 1.

    Examples
    --------
    >>> log = make_log(["a", "b"], [7, 8], [["yes", "no"], ["yes", "Error 429"]], ["yes", "no"])
    >>> log.classes, log.answers.tolist(), log.truth.tolist(), dict(log.unknown_words)
    (('no', 'yes'), [[1, 0], [1, -1]], [1, 0], {'Error 429': 1})
    """
    names = checked_judges(judges)
    ids = checked_cases(cases)
    shape = (len(ids), len(names))
    codes, labels = _labels_of(said, shape, "answers")
    true_codes, true_labels = _labels_of([None] * len(ids) if truth is None else truth, shape[:1], "truth")
    of_case = checked_groups(groups, ids)
    given = measures or Measures()
    texts = _Texts(codes, labels, true_codes, true_labels)
    scored = _scored(given, texts, of_case)
    is_open = _is_open(texts.true_codes if scored is None else scored.truth, of_case)
    is_open = is_open if classes is None else not len(classes)
    if is_open:
        texts = _Texts(*_numbers_alike(codes, labels), *_numbers_alike(true_codes, true_labels))
        scored = _scored(given, texts, of_case)
    if scored is not None:
        texts = texts._replace(true_codes=scored.truth, true_labels=scored.labels)
        true_labels = [
            one for one in scored.classes if is_open or classes is None or one in map(label_of, classes)
        ]
    known = _classes(None if is_open else classes, true_labels, texts.labels, is_open=is_open)
    answers, unknown = _coded(texts.codes, texts.labels, known)
    told = list(notes) if scored is None else [*notes, *scored.notes]
    right, _ = _coded(texts.true_codes, texts.true_labels, known)
    wins = answers_right(answers, right, None if scored is None else scored.right & (answers >= 0))
    said = np.bincount(texts.codes[texts.codes >= 0], minlength=len(texts.labels)).tolist()
    spelt, odd = spelling_notes(dict(zip(texts.labels, said, strict=True)), () if is_open else known)
    told += log_notes(
        names, answers=answers, truth=right, wins=wins, unknown=unknown,
        n_unasked=int((answers == UNASKED).sum()), told_apart=odd,
    )  # fmt: skip
    told += spelt
    confidence = checked_numbers(given.confidence, shape, "confidence")
    latency = checked_numbers(given.latency, shape, "latency", at_least=0.0)
    for what, numbers in (("confidence", confidence), ("latency", latency)):
        asked = answers != UNASKED
        if numbers is not None and (n_untold := int(np.isnan(numbers[asked]).sum())):
            told.append(f"The {what} of {n_untold:,} of {counted(int(asked.sum()), 'call')} is not known.")
    if given.prices is None:
        told.append("No prices were given, so every answer is taken to cost nothing.")
    return AnswerLog(
        judges=names, cases=ids, answers=answers, classes=known, truth=right,
        prices=checked_prices(given.prices, names, shape),
        features=checked_features(features, len(ids)),
        confidence=confidence,
        probabilities=checked_probabilities(given.probabilities, (*shape, len(known))),
        latency=latency,
        groups=of_case, notes=tuple(told), unknown_words=MappingProxyType(dict(unknown)),
        is_open=is_open, right=None if scored is None else wins,
    )  # fmt: skip


class _Texts(NamedTuple):
    """Answers and truths as indices of labels; answers and truths have separate lists of labels."""

    codes: NDArray[np.int64]
    labels: list[str]
    true_codes: NDArray[np.int64]
    true_labels: list[str]


def _scored(given: Measures, texts: _Texts, groups: NDArray[np.int64] | None) -> Scored | None:
    """Return the truth by the log's scores; None if scores and target labels agree on the right answers."""
    scores = checked_numbers(given.scores, texts.codes.shape, "scores", at_least=0.0)
    if scores is None:
        return None
    if (scores > 1).any():
        raise BadInputError(
            "scores", "must be from 0 to 1", f"{scores[scores > 1][0]:g}", "Name another column."
        )
    places = {label: place for place, label in enumerate(texts.labels)}
    of_true = [places.setdefault(label, len(places)) for label in texts.true_labels]
    target = np.array([*of_true, SILENT], dtype=np.int64)[np.maximum(texts.true_codes, SILENT)]
    cases = np.arange(len(target)) if groups is None else groups
    return by_scores(scores, texts.codes, list(places), target, cases, above=given.right_above)


def label_of(value: Any) -> str:
    """Return a label as text for comparisons; "" without a label.

    >>> label_of(1.0), label_of(" yes "), label_of("1.0"), label_of("TRUE"), label_of(float("nan"))
    ('1', 'yes', '1', 'True', '')
    """
    if value is None or value is NOT_ASKED or (isinstance(value, float | np.floating) and math.isnan(value)):
        return ""
    text = label_text(value).strip()
    if text.casefold() in {"true", "false"}:
        return text.capitalize()
    whole, point, zeros = text.partition(".")
    is_whole = point and zeros and not zeros.strip("0") and whole.removeprefix("-").isdecimal()
    return whole if is_whole else text


def sorted_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Sort labels as numbers where all are numbers, and as text otherwise.

    >>> sorted_labels(["10", "9"]), sorted_labels(["b", "10", "9"])
    (('9', '10'), ('10', '9', 'b'))
    """
    try:
        numbers = [float(label) for label in labels]
    except ValueError:
        return tuple(sorted(labels))
    if not all(map(math.isfinite, numbers)):
        return tuple(sorted(labels))
    return tuple(label for _, label in sorted(zip(numbers, labels, strict=True)))


def _labels_of(given: Any, shape: tuple[int, ...], what: str) -> tuple[NDArray[np.int64], list[str]]:
    """Return the index of each label, -1 where empty and -2 for a judge not asked, and the list of labels."""
    import pandas as pd

    if isinstance(given, Coded):
        return given.codes, given.labels
    values = np.asarray(given, dtype=object)
    if values.shape != shape:
        raise BadInputError(
            what, f"must have shape {shape}, one entry for each case and judge", f"{values.shape}"
        )
    flat = values.ravel().tolist()
    if any(isinstance(value, bool | np.bool_) for value in flat):  # True and 1 would be one value
        flat = [str(value) if isinstance(value, bool | np.bool_) else value for value in flat]
    try:
        codes, uniques = pd.factorize(pd.Series(flat, dtype=object))
    except TypeError:
        raise BadInputError(what, "must be labels, such as text or numbers", "lists or mappings") from None
    places: dict[str, int] = {"": SILENT}
    of_unique = np.empty(len(uniques) + 1, dtype=np.int64)
    of_unique[-1] = SILENT
    for number, value in enumerate(uniques.tolist()):
        label = label_of(value)
        of_unique[number] = UNASKED if value is NOT_ASKED else places.setdefault(label, len(places) - 1)
    return of_unique[codes].reshape(shape), list(places)[1:]


def _is_open(truth: NDArray[np.int64], groups: NDArray[np.int64] | None) -> bool:
    """Return whether new cases are likely to have truths that are not known yet, as many truths occur once.

    A case that was asked several times counts once.
    """
    known = np.flatnonzero(truth >= 0)
    if groups is not None:
        known = known[np.unique(groups[known], return_index=True)[1]]
    times = np.bincount(truth[known])
    times = times[times > 0]
    n_known, n_once = int(times.sum()), int((times == 1).sum())
    is_rare = n_once >= FEWEST_OPEN and n_once > ONCE * n_known
    return n_known >= FEWEST_OPEN and (2 * len(times) > n_known or is_rare)


def _numbers_alike(codes: NDArray[np.int64], labels: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Return codes and labels after merging labels that are the same number into one label."""
    places: dict[str, int] = {}
    of_label = [places.setdefault(number_text(label), len(places)) for label in labels]
    return np.array([*of_label, UNASKED, SILENT], dtype=np.int64)[codes], list(places)


def _classes(
    given: Sequence[Any] | None, true_labels: list[str], labels: list[str], *, is_open: bool
) -> tuple[str, ...]:
    """Return the possible answers, sorted; see :func:`make_log`."""
    if given is not None:
        named = list(dict.fromkeys(map(label_of, given)))
        others = [label for label in true_labels if label not in named]
        if others or "" in named:
            raise BadInputError(
                "classes",
                "must hold every label of the truth",
                f"none of {all_of(map(repr, others), most=5)}",
            )
        return sorted_labels(named)
    found = dict.fromkeys([*true_labels, *labels]) if is_open or not true_labels else true_labels
    if not found:
        raise BadInputError(
            "answers",
            "must hold at least one label",
            "none",
            "Name the column of answers, or make the calls again if all of them failed.",
        )
    return sorted_labels(list(found))


def _coded(
    codes: NDArray[np.int64], labels: list[str], classes: tuple[str, ...]
) -> tuple[NDArray[np.int64], Counter[str]]:
    """Return answers as indices in `classes`, and the count of each label that is no class."""
    place = {label: number for number, label in enumerate(classes)}
    of_label = np.array([*(place.get(label, SILENT) for label in labels), UNASKED, SILENT], dtype=np.int64)
    times = np.bincount(codes[codes >= 0], minlength=len(labels)).tolist()
    unknown = Counter(
        {label: count for label, count in zip(labels, times, strict=True) if label not in place}
    )
    return of_label[codes], unknown
