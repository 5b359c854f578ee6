"""Reader of the MPS format, with a free row per objective, and choice of the reader by content."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from shortlist.files import Source, read_source
from shortlist.programs.lp_format import read_lp
from shortlist.programs.named_program import Collected, Goal, NamedProgram, NamedRow, Number, Terms, opposite
from shortlist.results.objective import Sense

_NO_VALUE = {"FR", "MI", "PL", "BV"}
_WITH_VALUE = {"LO", "UP", "FX", "LI", "UI"}
_SENSES = {"MAX": Sense.MAX, "MAXIMIZE": Sense.MAX, "MIN": Sense.MIN, "MINIMIZE": Sense.MIN}
_PULP_MAXIMISES = re.compile(r"\*SENSE:Maximize\s*$", re.MULTILINE)
"""Pattern of the comment with the sense of PuLP's files, whose coefficients are those to maximise."""

_SECTIONS = ("NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA")


def read_mps(source: Source) -> NamedProgram:
    """Read a program in the MPS format; every row without limits is an objective, as in an LP file.

    A first line ``*SENSE:Maximize``, by which PuLP states the sense, counts as OBJSENSE, with a note. Fields
    are separated by spaces, so names contain none. A field that begins with ``$`` and is no name begins a
    comment, and exponents may follow Fortran's D. Where dialects differ, the file is read as HiGHS reads it.
    Integer columns between markers that have no bound are within 0 to 1, with a note. A value in the
    right-hand side of an objective is subtracted.

    Raises BadFileError if a line cannot be read, or a section is not part of a linear program; the message
    names the line.
    """
    reading = _MpsReading(Collected(source))
    section = ""
    for line, text, heading in _lines(source):
        if section == "ENDATA":
            raise source.error(
                f"nothing may follow ENDATA, got {' '.join(text)[:40]!r}. Leave it out.", line=line
            )
        words = reading.without_comment(text)
        if heading:
            section = words[0].upper()
            reading.begin(section, words, line)
        else:
            reading.read(section, words, line)
    if section == "ENDATA":
        return reading.finished()
    raise source.error("the program must end with ENDATA, and does not: the file was cut off. Get it again.")


def _lines(source: Source) -> Iterator[tuple[int, list[str], bool]]:
    """Yield the number and words of every line that is not empty, and whether it is a heading."""
    for line, text in source.lines():
        if not text.startswith("*"):
            yield line, text.split(), not text[0].isspace()


@dataclass(eq=False)
class _MpsReading:
    """State of a reader of MPS: the parts so far, and the current sections."""

    parts: Collected
    in_integers: bool = False
    right_hand_sides: str | None = None

    def __post_init__(self) -> None:
        self._source = self.parts.source
        self._kinds: dict[str, str] = {}
        self._turned: set[str] = set()
        self._ranges: dict[str, Fraction] = {}
        self._bounded: set[int] = set()
        self._seen: list[str] = []
        self._sets: dict[str, str] = {}
        self._readers: dict[str, Callable[[list[str], int], None]] = {
            "OBJSENSE": self._read_sense,
            "ROWS": self._read_row,
            "COLUMNS": self._read_column,
            "RHS": self._read_limit,
            "RANGES": self._read_range,
            "BOUNDS": self._read_bound,
        }

    def without_comment(self, words: list[str]) -> list[str]:
        """Return the words before the first one that begins with ``$`` and is no name of a row or column."""
        for place, word in enumerate(words):
            if place and word[0] == "$" and not self._is_name(word, declares=place == 1):
                return words[:place]
        return words

    def _is_name(self, word: str, *, declares: bool) -> bool:
        parts = self.parts
        in_rows = self._seen[-1:] == ["ROWS"]
        return (declares and in_rows) or word in parts.rows or word in parts.goals or word in parts.columns

    def begin(self, section: str, words: list[str], line: int) -> None:
        if section not in _SECTIONS:
            raise self._source.error(
                "a section must be one of a linear program with integer and continuous columns, "
                f"{', '.join(_SECTIONS)}, got {words[0][:40]!r}. Write it as rows.",
                line=line,
            )
        if section in self._seen:
            raise self._source.error(f"the section {section} comes twice. Join them.", line=line)
        if section in {"COLUMNS", "RHS", "RANGES", "BOUNDS"} and "ROWS" not in self._seen:
            raise self._source.error(f"the section ROWS must come before {section}.", line=line)
        self._seen.append(section)
        if section == "OBJSENSE" and len(words) > 1:
            self._read_sense(words[1:], line)

    def read(self, section: str, words: list[str], line: int) -> None:
        reader = self._readers.get(section)
        if reader is None:
            raise self._source.error(
                f"a program must begin with NAME or ROWS, got {' '.join(words)[:40]!r}.", line=line
            )
        reader(words, line)

    def finished(self) -> NamedProgram:
        """Return the program, with ranges and markers applied."""
        for name, size in self._ranges.items():
            self._widen(self.parts.rows[name], self._kinds[name], size)
        if "OBJSENSE" not in self._seen and _PULP_MAXIMISES.match(self._source.text):
            self.parts.sense = Sense.MAX
            self.parts.notes.append("The file maximises, as PuLP's comment *SENSE:Maximize says.")
        for name, goal in self.parts.goals.items():
            goal.sense = opposite(self.parts.sense) if name in self._turned else self.parts.sense
        whole = [column for column, integer in enumerate(self.parts.integer) if integer]
        open_ = [column for column in whole if column not in self._bounded]
        for column in open_:
            self.parts.upper[column] = Fraction(1)
        if open_:
            self.parts.notes.append(
                f"Integer columns without bounds lie in 0 to 1, as the format has it: {len(open_):,} columns."
            )
        return self.parts.finished()

    def _fail(self, wanted: str, words: list[str], line: int) -> Exception:
        return self._source.error(f"{wanted}, got {' '.join(words)[:60]!r}.", line=line)

    def _read_sense(self, words: list[str], line: int) -> None:
        if len(words) != 1 or words[0].upper() not in _SENSES:
            raise self._fail("OBJSENSE must be MIN or MAX", words, line)
        self.parts.sense = _SENSES[words[0].upper()]

    def _read_row(self, words: list[str], line: int) -> None:
        kind = words[0].upper()
        if kind not in {"N", "L", "G", "E"} or len(words) not in ({2, 6} if kind == "N" else {2}):
            raise self._fail(
                "a row must be N, L, G or E and a name without spaces, an objective with four more numbers "
                "or none",
                words,
                line,
            )
        if kind == "N" and (len(words) == 6 or not self.parts.goals):
            self.parts.add_goal(Goal(words[1]), line)
            if len(words) == 6:
                self._note_attributes(words[1], words[2:], line)
            return
        self._kinds[words[1]] = kind
        zero = Fraction(0)
        limits: dict[str, tuple[Number, Number]] = {
            "L": (-math.inf, zero),
            "G": (zero, math.inf),
            "E": (zero, zero),
            "N": (-math.inf, math.inf),
        }
        self.parts.add_row(NamedRow(words[1], {}, *limits[kind]), line)

    def _note_attributes(self, name: str, words: list[str], line: int) -> None:
        """Skip priority, weight and tolerances of an objective; a negative weight reverses its sense."""
        numbers = [self.parts.number(word, line) for word in words]
        if numbers[1] < 0:
            self._turned.add(name)
        self.parts.notes.append(
            "Priorities, weights and tolerances of objectives are left out: a front needs none."
        )

    def _read_column(self, words: list[str], line: int) -> None:
        if len(words) == 3 and words[1].strip("'").upper() == "MARKER" and not self._is_row(words[1]):
            marker = words[2].strip("'").upper()
            if marker not in {"INTORG", "INTEND"}:
                raise self._fail("a marker must be INTORG or INTEND", words, line)
            self.in_integers = marker == "INTORG"
            return
        if len(words) not in {3, 5}:
            raise self._fail(
                "a column must be a name and one or two pairs of a row and a number", words, line
            )
        fresh = words[0] not in self.parts.columns
        column = self.parts.column(words[0])
        if fresh:
            self.parts.integer[column] = self.in_integers
        elif self.parts.integer[column] != self.in_integers:
            raise self._fail("the entries of a column must stand together", words, line)
        for name, word in zip(words[1::2], words[2::2], strict=True):
            terms = self._terms_of(name, line)
            if column in terms:
                raise self._source.error(
                    f"column {words[0]!r} has two numbers in row {name!r}. Keep one.", line=line
                )
            value = self.parts.number(word, line)
            if value:
                terms[column] = value

    def _is_row(self, name: str) -> bool:
        return name in self.parts.goals or name in self.parts.rows

    def _terms_of(self, name: str, line: int) -> Terms:
        found = self.parts.goals.get(name) or self.parts.rows.get(name)
        if found is None:
            raise self._source.error(f"{name!r} must be a row of the section ROWS. Correct it.", line=line)
        return found.terms

    def _pairs(self, section: str, words: list[str], line: int) -> Iterator[tuple[str, str]]:
        """Yield the names and numbers of a line that may begin with the name of its set."""
        if len(words) % 2:
            self._check_set(section, words[0], line)
            words = words[1:]
        if len(words) not in {2, 4}:
            raise self._fail(
                f"a line of {section} must hold one or two pairs of a row and a number", words, line
            )
        yield from zip(words[::2], words[1::2], strict=True)

    def _check_set(self, section: str, name: str, line: int) -> None:
        if self._sets.setdefault(section, name) != name:
            raise self._source.error(
                f"{section} must hold one set, got {self._sets[section]!r} and {name!r}. Keep one.", line=line
            )

    def _read_limit(self, words: list[str], line: int) -> None:
        for name, word in self._pairs("RHS", words, line):
            if name in self.parts.goals:
                self.parts.goals[name].offset = -self.parts.number(word, line)
                continue
            self._terms_of(name, line)
            row, kind = self.parts.rows[name], self._kinds[name]
            if kind == "N":
                row.constant = -self.parts.number(word, line)
                continue
            value = self.parts.limit(word, line)
            row.lower = value if kind in "GE" else row.lower
            row.upper = value if kind in "LE" else row.upper

    def _read_range(self, words: list[str], line: int) -> None:
        for name, word in self._pairs("RANGES", words, line):
            if name in self.parts.goals or self._kinds.get(name) == "N":
                raise self._source.error(f"objective {name!r} must have no range. Leave it out.", line=line)
            self._terms_of(name, line)
            if name in self._ranges:
                raise self._source.error(f"row {name!r} has two ranges. Keep one.", line=line)
            self._ranges[name] = self.parts.number(word, line)

    @staticmethod
    def _widen(row: NamedRow, kind: str, size: Fraction) -> None:
        """Add the second limit to a row."""
        if kind == "L" or (kind == "E" and size < 0):
            row.lower = row.upper - abs(size)
        else:
            row.upper = row.lower + abs(size)

    def _read_bound(self, words: list[str], line: int) -> None:
        kind = words[0].upper()
        if kind in {"SC", "SI"}:
            raise self._source.error(
                f"a column must be integer or continuous, got the bound {kind} of a semi-continuous one. "
                "Write it as rows.",
                line=line,
            )
        name, word = self._bounded_column(kind, words, line)
        column = self.parts.known_column(name, line)
        self._bounded.add(column)
        lower, upper = self.parts.lower, self.parts.upper
        value = self.parts.limit(word, line) if kind in _WITH_VALUE else Fraction(0)
        if kind in {"UP", "UI"} and value < 0 and lower[column] == 0:
            raise self._source.error(
                f"column {name!r} has an upper bound below 0 and no lower one yet, which solvers read "
                "differently. Give its lower bound first.",
                line=line,
            )
        if kind in {"LO", "LI", "FX"}:
            lower[column] = value
        if kind in {"UP", "UI", "FX"}:
            upper[column] = value
        if kind in {"FR", "MI"}:
            lower[column] = -math.inf
        if kind in {"FR", "PL"}:
            upper[column] = math.inf
        if kind == "BV":
            lower[column], upper[column] = Fraction(0), Fraction(1)
        if kind in {"BV", "LI", "UI"}:
            self.parts.integer[column] = True

    def _bounded_column(self, kind: str, words: list[str], line: int) -> tuple[str, str]:
        rest = words[1:]
        if kind in _NO_VALUE and len(rest) in {1, 2, 3}:
            if len(rest) > 1:
                self._check_set("BOUNDS", rest[0], line)
            return rest[min(1, len(rest) - 1)], "0"
        if kind in _WITH_VALUE and len(rest) in {2, 3}:
            if len(rest) == 3:
                self._check_set("BOUNDS", rest[0], line)
            return rest[-2], rest[-1]
        raise self._fail(
            "a bound must be LO, UP, FX, LI, UI with a column and a number, or FR, MI, PL, BV with a column",
            words,
            line,
        )


def read_program(path: str | Path) -> NamedProgram:
    """Read an integer program in LP or MPS format; gzip is unpacked.

    The content decides the format, not the ending.

    Raises BadFileError if the file cannot be read, is in neither format, or breaks the rules of its format;
    the message names the line.
    """
    source = read_source(path)
    return read_mps(source) if is_mps(source) else read_lp(source)


def is_mps(source: Source) -> bool:
    r"""Return whether a text begins as MPS does, with NAME, OBJSENSE or ROWS.

    >>> is_mps(Source("a", "* a comment\nNAME lamp\nROWS\n")), is_mps(Source("b", "Minimize\n x\n"))
    (True, False)
    """
    return re.match(r"(?:\*[^\n]*+\n|\s++)*+(?:NAME|ROWS|OBJSENSE)\b", source.text, re.IGNORECASE) is not None
