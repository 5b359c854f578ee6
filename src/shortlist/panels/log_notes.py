"""Sentences on what a log of answers lacks, each with its count."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted

FEWEST_COPIED = 20
"""With fewer cases of known truth than this, a judge may well be right on all of them."""


def log_notes(
    judges: tuple[str, ...],
    classes: tuple[str, ...],
    *,
    answers: NDArray[np.int64],
    truth: NDArray[np.int64],
    unknown: Counter[str],
    n_unasked: int,
) -> list[str]:
    """Return sentences on truths, calls and answers that are missing, and on words that are no class.

    Codes of answers and truths below 0 are no classes.
    """
    silent = int((answers < 0).sum()) - n_unasked - unknown.total()
    pairs = f"{counted(answers.size, 'pair')} of case and judge"
    notes = []
    if (truth < 0).any():
        notes.append(
            f"The truth of {int((truth < 0).sum()):,} of {counted(len(truth), 'case')} is not known."
        )
    if n_unasked:
        notes.append(f"{n_unasked:,} of {pairs} are not in the log: not asked.")
    if silent:
        notes.append(f"{silent:,} of {pairs} were asked without an answer.")
    return notes + _of_words(classes, unknown) + _of_judges(judges, answers, truth)


def _of_words(classes: tuple[str, ...], unknown: Counter[str]) -> list[str]:
    if not unknown:
        return []
    often = all_of(f"{word[:40]!r} ({counted(times, 'time')})" for word, times in unknown.most_common(3))
    total = unknown.total()
    what = "answer is no class and counts" if total == 1 else "answers are no class and count"
    notes = [f"{total:,} {what} as none; the most frequent: {often}."]
    by_folded = {label.casefold(): label for label in classes}
    near = next((word for word in unknown if word.casefold() in by_folded), None)
    if near is not None:
        label = by_folded[near.casefold()]
        notes.append(
            f"{near!r} differs from the class {label!r} in capital letters alone; they can be folded."
        )
    return notes


def _of_judges(judges: tuple[str, ...], answers: NDArray[np.int64], truth: NDArray[np.int64]) -> list[str]:
    known = truth >= 0
    wins = answers[known] == truth[known, None]
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
