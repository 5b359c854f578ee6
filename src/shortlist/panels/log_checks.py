"""Checks of a log of answers: errors, notes, and the mask of its right answers.

An answer is right by the log's own scores if there are any, and otherwise if it is the truth. Spelling may be
ignored on request.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._words import all_of, counted
from shortlist.errors import BadInputError
from shortlist.export.reader import without_punctuation

if TYPE_CHECKING:
    import pandas as pd


SILENT, UNASKED = -1, -2
"""Codes of a missing answer, and of a judge that was not asked."""


def answers_right(
    answers: NDArray[np.int64], truth: NDArray[np.int64], right: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """Return the mask of right answers: by the log's scores if given, or else by equality with the truth."""
    return np.asarray((answers == truth[:, None]) & (answers >= 0)) if right is None else right


def scored_codes(
    codes: NDArray[np.int64],
    answers: NDArray[np.int64],
    truth: NDArray[np.int64],
    right: NDArray[np.bool_] | None,
) -> NDArray[np.int64]:
    """Return the truth where a decided class is right by the log's scores, and otherwise another code.

    A decision that is the truth but scored wrong counts as no answer. Only a learned decision can take a
    class that no judge answered. This class has no score, and is right if it is the truth.

    `codes`: class index decided for each case, ``(n_cases,)``; below 0 without a decision. `answers`,
    `right`: of shape ``(n_cases, n_judges)``. If `right` is None, the codes stay unchanged.

    >>> codes, answers = np.array([0, 1, 1]), np.array([[0, 1], [0, 1], [0, 0]])
    >>> scored_codes(codes, answers, np.array([1, 1, 1]), np.array([[True, False]] * 3)).tolist()
    [1, -1, 1]
    """
    if right is None:
        return codes
    same = (answers == codes[:, None]) & (codes >= 0)[:, None]
    is_scored, is_right = same.any(axis=1), (same & right).any(axis=1)
    codes = np.where(is_scored & ~is_right & (codes == truth), SILENT, codes)
    return np.where(is_right, truth, codes)


NO_RIGHT_ANSWER = "another answer"
"""Label of the truth of a case if no answer is right by the scores and no judge ever gives the target."""

RIGHT_ABOVE = 0.5
"""Score, from 0 to 1, above which an answer is right."""


class Scored(NamedTuple):
    """Truth by the log's own scores.

    `labels`: labels of the answers, and perhaps more. `truth`: indices of labels, ``(n_cases,)``; -1 where
    the truth is not known. `right`: mask of the right answers, ``(n_cases, n_judges)``. `classes`: labels
    that are right in some case. `notes`: sentences on differences between scores and texts.
    """

    labels: list[str]
    truth: NDArray[np.int64]
    right: NDArray[np.bool_]
    classes: list[str]
    notes: list[str]


def by_scores(
    scores: NDArray[np.float64],
    codes: NDArray[np.int64],
    labels: list[str],
    target: NDArray[np.int64],
    cases: NDArray[np.int64],
    *,
    above: float = RIGHT_ABOVE,
) -> Scored | None:
    """Return the truth by the log's own scores; None if scores and targets agree on the right answers.

    Equal answers to one case are right together; if their scores differ, the majority counts. An answer
    without a score is right if it is the target. The truth of a case is its target if any judge gives this
    answer in any case. Otherwise the truth is the answer of the first right judge.

    `scores`: from 0 to 1, NaN without a score, ``(n_cases, n_judges)``. `codes`: indices of the answers in
    `labels`; below 0 without an answer. `target`: index of the target, ``(n_cases,)``; -1 where unknown.
    `cases`: number of the case of each row. `above`: score above which an answer is right.
    """
    is_text = (codes >= 0) & (codes == target[:, None])
    told = ~np.isnan(scores) & (codes >= 0)
    right, n_split = _alike(np.where(told, scores > above, is_text) & (codes >= 0), told, codes, cases)
    n_known = int((told & (target >= 0)[:, None]).sum())
    differ = told & (right != is_text) & (target >= 0)[:, None]
    needs_truth = told.any(axis=1) & (target < 0)
    n_silent = int((~np.isnan(scores) & (codes < 0) & (scores > above)).sum())
    if not differ.any() and not needs_truth.any():
        return None
    notes = ["The log's own scores decide which answers are right."]
    if n_known:
        by_score, by_text = int((differ & right).sum()), int((differ & ~right).sum())
        notes = [
            (
                f"The log's own scores decide which answers are right. They differ from the comparison "
                f"with the target "
                f"in {by_score + by_text:,} of {counted(n_known, 'answer')}: {by_score:,} right by the "
                f"score alone, "
                f"{by_text:,} by the text alone."
            )
        ]
    if n_split:
        notes.append(
            f"Equal answers were scored differently in {counted(n_split, 'case')}; the "
            "majority of their scores decides, and a tie counts as wrong."
        )
    if n_silent:
        notes.append(
            f"{counted(n_silent, 'call')} without an answer were scored right; they count as no answer."
        )
    said = np.unique(codes[codes >= 0])
    first = right.argmax(axis=1)
    of_right = np.where(right.any(axis=1), codes[np.arange(len(codes)), first], SILENT)
    truth = np.where((target >= 0) & np.isin(target, said), target, of_right)
    nowhere = (truth < 0) & ((target >= 0) | told.any(axis=1))
    labels = [*labels, NO_RIGHT_ANSWER] if nowhere.any() and NO_RIGHT_ANSWER not in labels else labels
    if nowhere.any():
        truth = np.where(nowhere, labels.index(NO_RIGHT_ANSWER), truth)
    classes = [labels[code] for code in np.unique([*codes[right], *truth[truth >= 0]]).tolist()]
    return Scored(labels, truth, right, classes, notes)


def _alike(
    right: NDArray[np.bool_], told: NDArray[np.bool_], codes: NDArray[np.int64], cases: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], int]:
    """Return the mask of right answers, after equal answers to a case were made right or wrong together.

    Also return the number of cases in which equal answers differed.
    """
    rows, _ = np.nonzero(told)
    pairs = np.column_stack([cases[rows], codes[told]])
    found, place = np.unique(pairs, axis=0, return_inverse=True)
    n_right = np.bincount(place.ravel(), weights=right[told], minlength=len(found))
    times = np.bincount(place.ravel(), minlength=len(found))
    most = right.copy()
    most[told] = (2 * n_right > times)[place.ravel()]
    split = (n_right > 0) & (n_right < times)
    return most, len(np.unique(found[split, 0]))


SUM_TOLERANCE = 0.02
"""Largest difference from 1 of a sum of probabilities, as after rounding to two digits."""


def checked_judges(judges: Sequence[str]) -> tuple[str, ...]:
    """Return the names of judges; raise BadInputError if one is empty or comes twice."""
    names = tuple(judges)
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise BadInputError("judges", "must be at least one name", repr(names)[:80])
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise BadInputError("judges", "must come once each", f"{twice[0]!r} twice", "Rename one of them.")
    return names


def checked_cases(cases: ArrayLike) -> NDArray[Any]:
    """Return the names of cases; raise BadInputError if there is none."""
    ids = np.asarray(cases)
    if ids.ndim != 1 or not len(ids):
        raise BadInputError("cases", "must name at least one case", f"shape {ids.shape}")
    return ids


def checked_numbers(
    given: ArrayLike | None, shape: tuple[int, ...], what: str, *, at_least: float = -math.inf
) -> NDArray[np.float64] | None:
    """Return an array of numbers, NaN where a number is missing; None if all numbers are missing.

    Raises BadInputError if the shape is wrong, or a number is infinite or below `at_least`.
    """
    if given is None:
        return None
    numbers = np.array(given, dtype=np.float64)
    if numbers.shape != shape:
        raise BadInputError(what, f"must have shape {shape}", f"{numbers.shape}")
    wrong = np.isinf(numbers) | (numbers < at_least)
    if wrong.any():
        least = "" if at_least == -math.inf else f" of at least {at_least:g}"
        raise BadInputError(what, f"must be numbers{least}", f"{numbers[wrong][0]:g}", "Mend or empty it.")
    return None if np.isnan(numbers).all() else numbers


def checked_prices(
    given: ArrayLike | None, judges: tuple[str, ...], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return the price of each case and judge, at least 0; raise BadInputError otherwise."""
    prices = np.zeros(shape) if given is None else np.array(given, dtype=np.float64)
    if prices.shape not in {shape, shape[1:]}:
        raise BadInputError("prices", f"must have shape {shape} or {shape[1:]}", f"{prices.shape}")
    prices = np.broadcast_to(prices, shape).copy()
    wrong = ~(np.isfinite(prices) & (prices >= 0))
    if wrong.any():
        row, judge = (int(place) for place in np.argwhere(wrong)[0])
        got = f"{prices[row, judge]:g} for {judges[judge]!r}"
        raise BadInputError("prices", "must be numbers of at least 0", got, "Mend that price.")
    return prices


def checked_probabilities(given: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
    """Return an array of probabilities that add up to 1, NaN where missing; None if all are missing.

    Raises BadInputError if a sum is not 1, or a probability is negative.
    """
    shares = checked_numbers(given, shape, "probabilities", at_least=0.0)
    if shares is None:
        return None
    sums = shares.sum(axis=2)
    wrong = np.abs(sums - 1) > SUM_TOLERANCE
    if wrong.any():
        got = f"a sum of {sums[wrong][0]:g}"
        raise BadInputError("probabilities", "must add up to 1 for each answer", got, "Mend that row.")
    return shares


def checked_features(given: "pd.DataFrame | None", n_cases: int) -> "pd.DataFrame":
    """Return columns of the cases, with a row for each case."""
    import pandas as pd

    features = pd.DataFrame(index=range(n_cases)) if given is None else given.reset_index(drop=True)
    if len(features) != n_cases:
        raise BadInputError("features", f"must have a row for each of {n_cases} cases", len(features))
    return features


def checked_groups(given: ArrayLike | None, cases: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return the number of each case's group, from 0 on; None where no case repeats."""
    import pandas as pd

    groups, found = pd.factorize(cases if given is None else np.asarray(given), use_na_sentinel=False)
    if len(groups) != len(cases):
        raise BadInputError("groups", f"must have an entry for each of {len(cases)} cases", len(groups))
    if given is not None:
        apart = pd.Series(groups).groupby(pd.factorize(cases)[0]).nunique().max() > 1
        if apart:
            raise BadInputError(
                "groups", "must be equal for cases of one name", "several", "Rename the cases."
            )
    return None if len(found) == len(cases) else groups.astype(np.int64)


FEWEST_COPIED = 20
"""Least number of cases of known truth for a note on judges that are always right; with fewer cases, a judge
may well be right on all.
"""


def log_notes(
    judges: tuple[str, ...],
    *,
    answers: NDArray[np.int64],
    truth: NDArray[np.int64],
    wins: NDArray[np.bool_],
    unknown: Counter[str],
    n_unasked: int,
    told_apart: Collection[str] = (),
) -> list[str]:
    """Return sentences on missing truths, calls and answers, and on answers that are no class.

    Codes of answers and truths below 0 are no classes. `wins`: mask of the right answers. `told_apart`:
    answers that another note reports.
    """
    silent = int((answers < 0).sum()) - n_unasked - unknown.total()
    every = f"{counted(answers.size, 'answer')}"
    notes = []
    if (truth < 0).any():
        notes.append(
            f"The truth of {int((truth < 0).sum()):,} of {counted(len(truth), 'case')} is not known."
        )
    if n_unasked:
        notes.append(f"{n_unasked:,} of {every} are not in the log: the judge was not asked.")
    if silent:
        notes.append(f"{silent:,} of {every} are missing: the judge was asked and gave none.")
    others = Counter({word: times for word, times in unknown.items() if word not in told_apart})
    return notes + words_note(others) + _of_judges(judges, answers, truth, wins)


def words_note(unknown: Mapping[str, int]) -> list[str]:
    """Return a sentence on answers that are no class, the most frequent first; empty without any."""
    if not unknown:
        return []
    common = Counter(unknown).most_common(3)
    often = all_of(f"{word[:40]!r} ({counted(times, 'time')})" for word, times in common)
    total = sum(unknown.values())
    what = "answer is no class and counts" if total == 1 else "answers are no class and count"
    return [f"{total:,} {what} as missing; the most frequent: {often}."]


def _of_judges(
    judges: tuple[str, ...], answers: NDArray[np.int64], truth: NDArray[np.int64], wins: NDArray[np.bool_]
) -> list[str]:
    known = truth >= 0
    wins = wins[known]
    right = wins.all(axis=0) & (known.sum() >= FEWEST_COPIED)
    notes = []
    if known.sum() >= FEWEST_COPIED and (answers[known] >= 0).any() and not wins.any():
        notes.append("No judge is ever right. Check which column holds the truth.")
    if right.any():
        names = all_of((repr(judges[place]) for place in np.flatnonzero(right)), most=8)
        notes.append(f"Always right, as a copy of the truth would be: {names}.")
    mute = [judge for judge, column in zip(judges, answers.T, strict=True) if not (column >= 0).any()]
    if mute:
        notes.append(f"Without any answer that is a class: {all_of(map(repr, mute), most=8)}.")
    return notes


CASE, PUNCTUATION = "case", "punctuation"
FOLDS = (PUNCTUATION, CASE)
"""Names of the differences between labels that may be ignored."""


def folded(label: str, ways: Sequence[str]) -> str:
    """Return the text that represents a label and all labels that differ from it only in these ways.

    >>> folded('"Refund."', ["case", "punctuation"]), folded("  a  B ", ["punctuation"])
    ('refund', 'a B')
    """
    label = without_punctuation(label) if PUNCTUATION in ways else label
    return label.casefold() if CASE in ways else label


def spelling_notes(times: Mapping[str, int], classes: Sequence[str]) -> tuple[list[str], set[str]]:
    """Return sentences on labels that differ only in spelling, and the set of these labels.

    The sentences have counts, and the option that ignores the difference.

    `times`: number of answers with each label. `classes`: labels to compare others with; if empty, the most
    frequent label of each spelling.
    """
    by_folded: dict[str, Counter[str]] = {}
    for label, count in times.items():
        by_folded.setdefault(folded(label, FOLDS), Counter())[label] += count
    others: list[tuple[str, int, str]] = []
    for alike in by_folded.values():
        if len(alike) > 1:
            usual = next((one for one in classes if one in alike), alike.most_common(1)[0][0])
            others += [(label, count, usual) for label, count in alike.items() if label != usual]
    if not others:
        return [], set()
    others.sort(key=lambda one: (-one[1], one[0]))
    ways = [way for way in FOLDS if any(_differ_by(way, label, usual) for label, _, usual in others)]
    told = all_of(
        f"{label[:40]!r} ({counted(count, 'time')}, like {usual[:40]!r})"
        for label, count, usual in others[:3]
    )
    total = sum(count for _, count, _ in others)
    note = (
        f"{counted(total, 'answer')} differ from others in spelling alone: {told}"
        f"{f' and {len(others) - 3:,} more' if len(others) > 3 else ''}. Pass `fold={','.join(ways)!r}` to "
        f"take them as the same{'; until then those that are no class count as missing' * bool(classes)}."
    )
    return [note], {label for label, _, _ in others}


def _differ_by(way: str, one: str, other: str) -> bool:
    """Return whether two labels differ in `way`: ignoring all other ways does not make them equal."""
    rest = [each for each in FOLDS if each != way]
    return folded(one, rest) != folded(other, rest)
