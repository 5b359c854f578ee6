"""Why a committee does not answer rows, for people."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from shortlist._words import all_of, counted
from shortlist.arrays import Mask
from shortlist.ensembles.committees.committee import Committee
from shortlist.guarantees.cells import ANSWERED, UNKNOWN, empty_rows, words_in


class Unanswered(NamedTuple):
    """Rows to which a committee has no answer, whatever is promised about its answers."""

    rows: Mask
    """All of them, ``(n_rows,)``."""
    silent: Mask
    too_few: Mask
    unknown: Mask
    """Rows without any answer or value, ``(n_rows,)``; with too few answers for a threshold; and with a word
    that is no class.
    """
    needs: tuple[str, ...]
    """Which judge each row waits for; empty where none."""
    words: str
    """The unknown words, and who said them."""

    def sentences(self) -> list[str]:
        """Return what to say about them: how many there are, and why; nothing where there are none."""
        if not self.rows.any():
            return []
        waiting = sum(map(bool, self.needs))
        kinds = [
            (int(self.silent.sum()), "without any answer or value"),
            (int(self.too_few.sum()), "with too few answers for the rule"),
            (waiting, f"waiting for {all_of(sorted({one for one in self.needs if one}), most=5)}"),
            (int(self.unknown.sum()), f"with unknown words, {self.words}"),
        ]
        named = all_of([f"{n:,} {why}" for n, why in kinds if n])
        return [f"{counted(int(self.rows.sum()), 'row')} of {len(self.rows):,} cannot be answered: {named}."]


def unanswered_rows(committee: Committee, X: Any) -> Unanswered:
    """Return the rows that a committee cannot answer, whatever it promises, and why.

    Under a promise a row waits for a judge while it is open whether it is answered, and no longer once it
    cannot be.
    """
    heard = committee.heard(X)
    if heard.states is None:
        return empty_cells(heard.rows, committee.unknown_words(heard.rows))
    free, least = replace(committee, promise=None), committee.least
    rows = free.decided(X) < 0
    early = free.predict_early(X, least=least)
    waits = np.array([bool(one) for one in early.needs])
    if least is not None:  # open until it is known whether they are answered, and no longer
        settled = np.array([not one for one in free.predict_early(X).needs])
        rows = np.asarray((rows & settled) | waits)
    unknown = rows & ~waits & (heard.states == UNKNOWN).any(axis=1)
    silent = rows & ~waits & ~unknown & ~(heard.states == ANSWERED).any(axis=1)
    pairs = {
        (str(X[judge.columns[0]].iloc[row]), judge.name)
        for place, judge in enumerate(committee.members.classifiers)
        for row in np.flatnonzero(unknown & (heard.states[:, place] == UNKNOWN))
    }
    words_said = words_in([name for _, name in sorted(pairs)], [word for word, _ in sorted(pairs)])
    needs = tuple(one if wait else "" for one, wait in zip(early.needs, waits, strict=True))
    return Unanswered(rows, silent, rows & ~waits & ~unknown & ~silent, unknown, needs, words_said)


def empty_cells(table: Any, unknown: Mask) -> Unanswered:
    """Return the rows of features that cannot be answered: those without a single value.

    `table`, ``(n_rows, n_features)``. `unknown`: the cells with a word that no fitted row had, which is no
    value, ``(n_rows, n_features)``.
    """
    silent = empty_rows(table, unknown)
    none = np.zeros(len(silent), dtype=bool)
    return Unanswered(silent, silent, none, none, ("",) * len(silent), "")
