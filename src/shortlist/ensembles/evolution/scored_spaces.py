"""Genetic programs: arithmetic expressions over the columns, evolved as trees."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Floats
from shortlist.ensembles.votes.hard_votes import ClassCodes
from shortlist.pickles import saved_from


def n_scores(n_classes: int) -> int:
    """Return the number of scores of a classifier: one for two classes, otherwise one per class."""
    return 1 if n_classes == 2 else n_classes


@kernel("void(float64[:, ::1], float64[:, ::1], float64[:, ::1])")
def add_products(rows: Floats, factors: Floats, sums: Floats) -> None:
    """Add to `sums` the values of each row times the `factors` of its columns, column by column.

    `rows`, ``(n_rows, n_columns)``; `factors`, ``(n_columns, n_functions)``; `sums`, ``(n_rows,
    n_functions)``, changed in place.
    """
    for row in range(len(rows)):
        for column in range(rows.shape[1]):
            value = rows[row, column]
            for place in range(sums.shape[1]):
                sums[row, place] += value * factors[column, place]


def weighted_sums(X: NDArray[np.float64], weights: NDArray[np.float32]) -> Floats:
    """Return the values of linear functions on every row, ``(n_rows, n_functions)``.

    Values are rounded to single precision; products are added up in double precision, the intercept first,
    then column by column. So the class of a row depends neither on other rows nor on the processor, and an
    exported policy has the same sums.

    `X`, ``(n_rows, n_columns)``. `weights`, ``(n_functions, n_columns + 1)``, the intercept last.
    """
    rows = np.array(X, dtype=np.float32, order="C").astype(np.float64)
    factors = np.array(weights.T, dtype=np.float64, order="C")
    sums = np.tile(factors[-1], (len(rows), 1))
    add_products(rows, factors, sums)
    return sums


def highest_class(scores: NDArray[np.floating]) -> ClassCodes:
    """Return the index of the largest score on the last axis.

    A single score gives class 1 where it is above 0, otherwise class 0.
    """
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0).astype(np.uint8)
    return np.asarray(scores.argmax(axis=-1), dtype=np.uint8)


Column = NDArray[np.float64]
Programs = NDArray[np.void]
"""Structured array of expressions, ``(n_individuals, n_scores)``: `symbols` in prefix order, and
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
"""Functions of two arguments, coded as the symbols 0, 1, ...; the next symbols are the constant and the
columns.
"""

CONSTANT = len(FUNCTIONS)
END = -1


@dataclass(frozen=True)
class SpaceSize:
    """Numbers of columns and classes of the rows that a search space is for."""

    n_features: int
    n_classes: int
    """Number of columns of the rows, and of classes."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class GeneticPrograms(SpaceSize):
    """Search space of expressions over columns and constants.

    Two classes need one expression, whose sign decides; otherwise each class has one score.
    """

    max_length: int = 31
    """Largest number of symbols in an expression; a child that would be longer is a copy of its parent."""
    depth: int = 3
    """Depth of random expressions."""

    @property
    def genome(self) -> np.dtype[np.void]:
        """Data type of an expression; symbols after its end are `END`."""
        return np.dtype(
            [("symbols", np.int32, (self.max_length,)), ("constants", np.float64, (self.max_length,))]
        )

    def sample(self, size: int, rng: np.random.Generator) -> Programs:
        """Return random expressions, ``(size, n_scores)``.

        Half of them are full trees ("ramped half-and-half" with one depth).
        """
        programs = self._empty((size, n_scores(self.n_classes)))
        for index in np.ndindex(programs.shape):
            self._write(programs, index, self._grown(rng, self.depth, full=bool(rng.integers(2))))
        return programs

    def mutate(self, population: Programs, rng: np.random.Generator) -> Programs:
        """Return copies, each with one random change of an expression.

        Either a random subtree is replaced by a new random subtree, or the constants are moved.
        """
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
        """Return copies of the first parents, in which one subtree per expression comes from the second."""
        children = first.copy()
        for index in np.ndindex(children.shape):
            receiver, (symbols, constants) = self.read(children, index), self.read(second, index)
            start = int(rng.integers(len(symbols)))
            end = subtree_end(symbols, start)
            branch = symbols[start:end], constants[start:end]
            self._graft(children, index, receiver, int(rng.integers(len(receiver[0]))), branch)
        return children

    def predict(self, population: Programs, X: NDArray[np.float64]) -> ClassCodes:
        """Return the class with the largest score, the lowest of equals, ``(n_rows, n_individuals)``.

        A score that overflows counts as 0.
        """
        columns = np.ascontiguousarray(X.T)
        scores = np.empty((*population.shape, len(X)))
        with np.errstate(all="ignore"):  # overflow is the program's own affair, and is dealt with below
            for index in np.ndindex(population.shape):
                scores[index] = self._value(*self.read(population, index), columns)
        scores[~np.isfinite(scores)] = 0.0
        return highest_class(np.moveaxis(scores, 2, 0))

    def shown(self, program: Programs) -> list[str]:
        """Return one individual's expressions as text; ``x0`` is the first column.

        >>> space = GeneticPrograms(3, 2, depth=1)
        >>> space.shown(space.sample(1, np.random.default_rng(3))[0])
        ['(x0 + x0)']
        """
        return [self._text(*self.read(program, (index,))) for index in range(len(program))]

    def _value(self, symbols: list[int], constants: list[float], columns: NDArray[np.float64]) -> Column:
        """Return the value of an expression on every row.

        The expression is evaluated from the last symbol to the first, with a stack.
        """
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
    """Return the index after the last symbol of the subtree that starts at `start`, in prefix order.

    >>> subtree_end([0, 1, 7, 8, 9], 1)
    4
    """
    missing, place = 1, start
    while missing:
        missing += 1 if symbols[place] < CONSTANT else -1
        place += 1
    return place


LinearWeights = NDArray[np.float32]
"""Weights of linear classifiers, ``(n_individuals, n_outputs, n_features + 1)``; the last one is the
intercept.
"""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class LinearClassifiers(SpaceSize):
    """Search space of linear discriminants: one hyperplane for two classes, otherwise one score per class."""

    step: float = 0.3
    """Standard deviation of the noise of a mutation; the first weights have standard deviation 1."""
    rate: float = 0.1
    """Share of the weights that a mutation changes, from 0 to 1; on average at least one weight changes."""
    blend: float = 0.5
    """α of the BLX-α crossover (:cite:t:`Eshelman1993`): largest distance of a child's weight from the
    interval between the parents' weights, as a share of its length.
    """

    def sample(self, size: int, rng: np.random.Generator) -> LinearWeights:
        """Return weights from the standard normal distribution, ``(size, n_outputs, n_features + 1)``."""
        shape = (size, n_scores(self.n_classes), self.n_features + 1)
        return rng.standard_normal(shape, dtype=np.float32)

    def mutate(self, population: LinearWeights, rng: np.random.Generator) -> LinearWeights:
        """Return copies with normal noise on some of the weights."""
        rate = max(self.rate, 1 / population[0].size)
        changed = rng.random(population.shape, dtype=np.float32) < rate
        noise = rng.standard_normal(population.shape, dtype=np.float32)
        return np.asarray(population + np.float32(self.step) * noise * changed)

    def recombine(
        self, first: LinearWeights, second: LinearWeights, rng: np.random.Generator
    ) -> LinearWeights:
        """Return children with weights drawn from the interval between the parents' weights, widened.

        The interval is widened by α times its length on each side.
        """
        place = (1 + 2 * self.blend) * rng.random(first.shape, dtype=np.float32) - self.blend
        return np.asarray(first + place.astype(np.float32) * (second - first))

    def predict(self, population: LinearWeights, X: NDArray[np.float64]) -> ClassCodes:
        """Return the class with the largest score, the lowest of equals, ``(n_rows, n_individuals)``."""
        size, outputs, _ = population.shape
        flat = population.reshape(size * outputs, -1)
        return highest_class(weighted_sums(X, flat).reshape(len(X), size, outputs))


NetworkWeights = NDArray[np.float32]
"""Weights of networks, ``(n_individuals, n_weights)``: those of the hidden layer, then those of the output
layer, each with the intercepts last.
"""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class NeuralNetworks(SpaceSize):
    """Search space of networks whose scores are weighted sums of a few tanh units."""

    n_hidden: int = 5
    """Number of units in the hidden layer."""
    step: float = 0.3
    """Standard deviation of the noise of a mutation."""
    rate: float = 0.1
    """Share of the weights that a mutation changes, from 0 to 1; on average at least one weight changes."""

    @property
    def n_weights(self) -> int:
        """Number of weights of one individual."""
        return self.n_hidden * (self.n_features + 1) + n_scores(self.n_classes) * (self.n_hidden + 1)

    def sample(self, size: int, rng: np.random.Generator) -> NetworkWeights:
        """Return normal weights, ``(size, n_weights)``.

        The weights of the hidden layer are scaled so that its sums have variance about 1.
        """
        weights = rng.standard_normal((size, self.n_weights), dtype=np.float32)
        weights[:, : self.n_hidden * (self.n_features + 1)] /= np.float32(np.sqrt(self.n_features + 1))
        return weights

    def mutate(self, population: NetworkWeights, rng: np.random.Generator) -> NetworkWeights:
        """Return copies with normal noise on some of the weights."""
        changed = rng.random(population.shape, dtype=np.float32) < max(self.rate, 1 / self.n_weights)
        noise = rng.standard_normal(population.shape, dtype=np.float32)
        return np.asarray(population + np.float32(self.step) * noise * changed)

    def recombine(
        self, first: NetworkWeights, second: NetworkWeights, rng: np.random.Generator
    ) -> NetworkWeights:
        """Return children that take each hidden unit, with all its weights, from one of the parents.

        Weights that belong to one unit are useful only together; the output's intercepts come from the first
        parent.
        """
        from_first = rng.random((len(first), self.n_hidden)) < 0.5
        child = first.copy()
        hidden, output = self.layers(child)
        other_hidden, other_output = self.layers(second)
        hidden[...] = np.where(from_first[:, :, None], hidden, other_hidden)
        output[:, :, :-1] = np.where(from_first[:, None, :], output[:, :, :-1], other_output[:, :, :-1])
        return child

    def predict(self, population: NetworkWeights, X: NDArray[np.float64]) -> ClassCodes:
        """Return the class with the largest score, the lowest of equals, ``(n_rows, n_individuals)``."""
        hidden, output = self.layers(population)
        flat = hidden.reshape(-1, self.n_features + 1)
        codes = np.empty((len(X), len(population)), dtype=np.uint8)
        for start in range(0, len(X), 1024):  # by blocks, so that the hidden layer of everyone stays small
            sums = weighted_sums(X[start : start + 1024], flat).astype(np.float32)
            units = np.tanh(sums).reshape(len(sums), len(population), -1)
            scores = np.repeat(output[None, :, :, -1].astype(np.float64), len(sums), axis=0)
            for unit in range(self.n_hidden):  # one after the other, as in weighted_sums
                scores += units[:, :, None, unit] * output[:, :, unit].astype(np.float64)
            codes[start : start + 1024] = highest_class(scores)
        return codes

    def layers(self, population: NetworkWeights) -> tuple[NetworkWeights, NetworkWeights]:
        """Return views of the weights of the hidden layer, and of the output layer.

        The weights of the hidden layer have the shape ``(n, n_hidden, n_features + 1)``.
        """
        split = self.n_hidden * (self.n_features + 1)
        hidden = population[:, :split].reshape(len(population), self.n_hidden, self.n_features + 1)
        output = population[:, split:].reshape(len(population), n_scores(self.n_classes), self.n_hidden + 1)
        return hidden, output
