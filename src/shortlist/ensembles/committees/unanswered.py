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
    """On which nobody has answered, or there is no value, ``(n_rows,)``; on which too few have answered for a
    threshold; and which have a word that is no class, or was not fitted on.
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
        return unanswered_words(heard.rows, committee.unknown_words(heard.rows))
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


def unanswered_words(table: Any, odd: Mask) -> Unanswered:
    """Return the rows of features that cannot be answered: without a value, or with an unknown word.

    `table`, ``(n_rows, n_features)``. `odd`: the cells with a word that was not fitted on, ``(n_rows,
    n_features)``.
    """
    words, names = _words_of(table, odd), _names_of(table)
    said = words_in([names[place] for _, place in words], [word for word, _ in words])
    silent, unknown = empty_rows(table), odd.any(axis=1)
    nobody = np.zeros(len(silent), dtype=bool)
    return Unanswered(silent | unknown, silent, nobody, np.asarray(unknown), ("",) * len(silent), said)


def _names_of(table: Any) -> list[str]:
    return [str(name) for name in getattr(table, "columns", range(np.shape(table)[1]))]


def _words_of(table: Any, odd: Mask) -> list[tuple[Any, int]]:
    """Return the different words in marked cells, each with its column."""
    cells = [(row, place) for row, place in np.argwhere(odd).tolist()]
    values = [table.iat[cell] if hasattr(table, "iat") else np.asarray(table)[cell] for cell in cells]
    return list(dict.fromkeys((word, place) for word, (_, place) in zip(values, cells, strict=True)))
