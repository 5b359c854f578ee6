"""Genetic programs: arithmetic expressions over the columns, evolved as trees."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.evolution.spaces.scores import highest_class, n_scores
from shortlist.ensembles.votes.class_votes import ClassCodes
from shortlist.pickles import saved_from

Column = NDArray[np.float64]
Programs = NDArray[np.void]
"""Structured array, ``(n_individuals, n_scores)``: per expression its `symbols` in prefix order, and their
`constants`.
"""


def protected_quotient(a: Column, b: Column) -> Column:
    """Return a / b, and 1 where b is nearly 0 (:cite:t:`Koza1992`)."""
    small = np.abs(b) < 1e-6
    return np.where(small, 1.0, a / np.where(small, 1.0, b))


FUNCTIONS: tuple[tuple[str, Callable[[Column, Column], Column]], ...] = (
    ("+", np.add),
    ("-", np.subtract),
    ("*", np.multiply),
    ("/", protected_quotient),
    ("min", np.minimum),
    ("max", np.maximum),
)
"""Symbols 0, 1, ...: all take two arguments. Then come the constant and the columns."""

CONSTANT = len(FUNCTIONS)
END = -1


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class GeneticPrograms:
    """Expressions of columns and constants.

    With two classes there is one, whose sign decides. With more there is one score per class.

    Parameters
    ----------
    n_features, n_classes : int
        Columns of the rows, and classes.
    max_length : int, default=31
        Most symbols in an expression; children that would be longer stay as they were.
    depth : int, default=3
        Depth of random expressions.
    """

    n_features: int
    n_classes: int
    max_length: int = 31
    depth: int = 3

    @property
    def genome(self) -> np.dtype[np.void]:
        """The type of an expression; symbols after its end are `END`."""
        return np.dtype(
            [("symbols", np.int32, (self.max_length,)), ("constants", np.float64, (self.max_length,))]
        )

    def sample(self, size: int, rng: np.random.Generator) -> Programs:
        """Return random expressions, half of them full trees ("ramped half-and-half" with one depth)."""
        programs = self._empty((size, n_scores(self.n_classes)))
        for index in np.ndindex(programs.shape):
            self._write(programs, index, self._grown(rng, self.depth, full=bool(rng.integers(2))))
        return programs

    def mutate(self, population: Programs, rng: np.random.Generator) -> Programs:
        """Replace a random subtree of one expression by a random one, or move its constants."""
        mutants = population.copy()
        for individual in range(len(mutants)):
            index = (individual, int(rng.integers(mutants.shape[1])))
            symbols, constants = self.read(mutants, index)
            if rng.random() < 0.5:
                start = int(rng.integers(len(symbols)))
                fresh = self._grown(rng, 2, full=False)
                self._graft(mutants, index, (symbols, constants), start, fresh)
            else:
                mutants["constants"][index] += 0.3 * rng.standard_normal(self.max_length)
        return mutants

    def recombine(self, first: Programs, second: Programs, rng: np.random.Generator) -> Programs:
        """Replace a random subtree of each expression of the first parent by one of the second's."""
        children = first.copy()
        for index in np.ndindex(children.shape):
            receiver, (symbols, constants) = self.read(children, index), self.read(second, index)
            start = int(rng.integers(len(symbols)))
            end = subtree_end(symbols, start)
            branch = symbols[start:end], constants[start:end]
            self._graft(children, index, receiver, int(rng.integers(len(receiver[0]))), branch)
        return children

    def predict(self, population: Programs, X: NDArray[np.float64]) -> ClassCodes:
        """Return the class with the largest score, the lowest of equals; scores that overflow count as 0."""
        columns = np.ascontiguousarray(X.T)
        scores = np.empty((*population.shape, len(X)))
        with np.errstate(all="ignore"):  # overflow is the program's own affair, and is dealt with below
            for index in np.ndindex(population.shape):
                scores[index] = self._value(*self.read(population, index), columns)
        scores[~np.isfinite(scores)] = 0.0
        return highest_class(np.moveaxis(scores, 2, 0))

    def shown(self, program: Programs) -> list[str]:
        """Return one individual's expressions as text, ``x0`` being the first column.

        Examples
        --------
        >>> space = GeneticPrograms(3, 2, depth=1)
        >>> space.shown(space.sample(1, np.random.default_rng(3))[0])
        ['(x0 + x0)']
        """
        return [self._text(*self.read(program, (index,))) for index in range(len(program))]

    def _value(self, symbols: list[int], constants: list[float], columns: NDArray[np.float64]) -> Column:
        """Evaluate from the last symbol to the first, with a stack."""
        stack: list[Column] = []
        for symbol, constant in zip(reversed(symbols), reversed(constants), strict=True):
            if symbol < CONSTANT:
                stack.append(FUNCTIONS[symbol][1](stack.pop(), stack.pop()))
            elif symbol == CONSTANT:
                stack.append(np.full(columns.shape[1], constant))
            else:
                stack.append(columns[symbol - CONSTANT - 1])
        return stack.pop()

    def _text(self, symbols: list[int], constants: list[float]) -> str:
        stack: list[str] = []
        for symbol, constant in zip(reversed(symbols), reversed(constants), strict=True):
            if symbol < CONSTANT:
                stack.append(f"({stack.pop()} {FUNCTIONS[symbol][0]} {stack.pop()})")
            else:
                stack.append(f"{constant:.3g}" if symbol == CONSTANT else f"x{symbol - CONSTANT - 1}")
        return stack.pop()

    def _grown(self, rng: np.random.Generator, depth: int, *, full: bool) -> tuple[list[int], list[float]]:
        """Grow a random tree; unless `full`, branches may end early."""
        if depth == 0 or (not full and rng.random() < 0.3):
            is_constant = rng.random() < 0.2
            symbol = CONSTANT if is_constant else CONSTANT + 1 + int(rng.integers(self.n_features))
            return [symbol], [float(rng.standard_normal())]
        left = self._grown(rng, depth - 1, full=full)
        right = self._grown(rng, depth - 1, full=full)
        return [int(rng.integers(CONSTANT)), *left[0], *right[0]], [0.0, *left[1], *right[1]]

    def _graft(
        self,
        programs: Programs,
        index: tuple[int, ...],
        tree: tuple[list[int], list[float]],
        start: int,
        branch: tuple[list[int], list[float]],
    ) -> None:
        """Write `tree` with the subtree at `start` replaced, if that is not too long."""
        symbols, constants = tree
        end = subtree_end(symbols, start)
        new = [*symbols[:start], *branch[0], *symbols[end:]]
        if len(new) <= self.max_length:
            self._write(programs, index, (new, [*constants[:start], *branch[1], *constants[end:]]))

    def _empty(self, shape: tuple[int, ...]) -> Programs:
        programs = np.zeros(shape, dtype=self.genome)
        programs["symbols"] = END
        return programs

    def _write(self, programs: Programs, index: tuple[int, ...], tree: tuple[list[int], list[float]]) -> None:
        programs["symbols"][index] = END
        programs["symbols"][index][: len(tree[0])] = tree[0]
        programs["constants"][index][: len(tree[1])] = tree[1]

    def read(self, programs: Programs, index: tuple[int, ...]) -> tuple[list[int], list[float]]:
        """Return the symbols of one expression in prefix order, and their constants."""
        symbols = programs["symbols"][index].tolist()
        length = symbols.index(END) if END in symbols else len(symbols)
        return symbols[:length], programs["constants"][index][:length].tolist()


def subtree_end(symbols: list[int], start: int) -> int:
    """Return where the subtree that starts at `start` ends, in prefix order.

    Examples
    --------
    >>> subtree_end([0, 1, 7, 8, 9], 1)
    4
    """
    missing, place = 1, start
    while missing:
        missing += 1 if symbols[place] < CONSTANT else -1
        place += 1
    return place
