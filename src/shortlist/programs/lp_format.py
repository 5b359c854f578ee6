"""Reader of CPLEX's LP format, with several objectives."""

import math
from fractions import Fraction

from shortlist._words import all_of
from shortlist.files import Source
from shortlist.programs.lp_sections import LISTS, Section, Token, doubt, is_heading, is_objective, sections_of
from shortlist.programs.named_program import Collected, Goal, NamedProgram, NamedRow, Number, Terms, opposite
from shortlist.results.objective import Sense

_ATTRIBUTES = {"priority", "weight", "abstol", "reltol"}
_INFINITE = {"inf", "infinity"}


def read_lp(source: Source) -> NamedProgram:
    """Read a program in the LP format.

    Several objectives form a section ``minimize multi-objectives``, or are rows without limits. Such rows
    have the sense of the file, with a note if it maximises. Other solvers order or blend objectives by
    priorities and tolerances; here these are left out, with a note. An objective of negative weight is
    optimised the other way. If rows without limits are objectives, an empty objective is a placeholder. A
    column that occurs only in bounds or lists of columns is read, with a note.

    Raises BadFileError if a line cannot be read, or a section is not part of a linear program; the message
    names the line.
    """
    reading = _Reading(source)
    for section in sections_of(source):
        reading.read(section)
    return reading.finished()


class _Reading:
    """Reader of tokens, section by section."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.parts = Collected(source)
        self._tokens: list[Token] = []
        self._place = 0
        self._line = 1
        self._binary: list[int] = []
        self._doubtful: list[Section] = []

    def finished(self) -> NamedProgram:
        """Return the program; binary columns are within 0 to 1, even if their bounds come first."""
        self._check_headings()
        names, lower, upper = list(self.parts.columns), self.parts.lower, self.parts.upper
        wider = [
            names[one] for one in dict.fromkeys(self._binary) if lower[one] < 0 or 1 < upper[one] < math.inf
        ]
        if wider:
            self.parts.notes.append(
                f"Binary columns stay within 0 to 1, whatever their bounds: {all_of(wider)}."
            )
        for column in self._binary:
            self.parts.lower[column] = max(Fraction(0), self.parts.lower[column])
            self.parts.upper[column] = min(Fraction(1), self.parts.upper[column])
        return self.parts.finished()

    def read(self, section: Section) -> None:
        if section.doubtful:
            self._doubtful.append(section)
        self._check_headings()
        kind = section.kind
        self._tokens, self._place, self._line = section.tokens, 0, section.line
        if kind.startswith(("min", "max")):
            self.parts.sense = Sense(kind[:3])
            self._read_goals() if kind.endswith("several") else self._read_goal()
        elif kind in LISTS:
            self._read_names(binary=kind == "binary")
        else:
            while self._peek() is not None:
                self._read_row() if kind == "rows" else self._read_bound()

    def _check_headings(self) -> None:
        """Refuse a heading that may be a column, if there is a column of its name."""
        for section in self._doubtful:
            if section.doubtful in self.parts.columns:
                raise self._source.error(doubt(section.doubtful), line=section.line)

    def _peek(self, ahead: int = 0) -> Token | None:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def _is(self, kind: str, ahead: int = 0) -> bool:
        token = self._peek(ahead)
        return token is not None and token.kind == kind

    def _next(self, wanted: str, *kinds: str) -> Token:
        """Return the next token, which must be of a wanted kind."""
        token = self._peek()
        if token is None or token.kind not in kinds:
            got = "the end of the section" if token is None else repr(token.text[:40])
            line = self._last_line() if token is None else token.line
            raise self._source.error(f"{wanted}, got {got}.", line=line)
        self._place += 1
        return token

    def _last_line(self) -> int:
        return self._tokens[-1].line if self._tokens else self._line

    def _label(self) -> str:
        """Read a name and a colon, if they come next."""
        if not (self._is("name") and self._is("colon", 1)):
            return ""
        self._place += 2
        return self._tokens[self._place - 2].text

    def _read_goal(self) -> None:
        label = self._label()
        goal = Goal(label or "obj", self.parts.sense)
        goal.terms, goal.offset = self._expression()
        if self._peek() is not None:
            self._next("an objective must be a sum of terms such as '3 x - 2 y'", "nothing")
        self.parts.add_goal(goal, self._line, named=bool(label))

    def _read_goals(self) -> None:
        while self._peek() is not None:
            line = self._peek_line()
            goal = Goal(self._label(), self.parts.sense)
            if not goal.name:
                self._next("an objective must begin with its name and a colon", "nothing")
            goal.sense = self._attributes(goal.sense)
            goal.terms, goal.offset = self._expression()
            self.parts.add_goal(goal, line)

    def _peek_line(self) -> int:
        token = self._peek()
        return self._line if token is None else token.line

    def _attributes(self, sense: Sense) -> Sense:
        """Skip the attributes of an objective; return its sense."""
        while self._is("name") and self._is("compare", 1):
            name = self._next("", "name")
            if name.text.lower() not in _ATTRIBUTES:
                raise self._source.error(
                    f"an objective has Priority, Weight, AbsTol and RelTol, got {name.text[:40]!r}.",
                    line=name.line,
                )
            self._next("", "compare")
            value = self._signed("the attribute of an objective must be a number")
            if name.text.lower() == "weight" and value < 0:
                sense = opposite(sense)
            self.parts.notes.append(
                "Priorities, weights and tolerances of objectives are left out: a front needs none."
            )
        return sense

    def _expression(self) -> tuple[Terms, Fraction]:
        """Read a sum of terms and constants, up to the last sign."""
        terms: Terms = {}
        constant = Fraction(0)
        first = True
        while first or self._is("sign"):
            sign = self._signs()
            if first and not (self._is("number") or self._is("name")):
                break
            first = False
            factor, line = Fraction(1), self._peek_line()
            numbered = self._is("number")
            if numbered:
                factor = self.parts.number(self._next("", "number").text, line)
            if self._is("name") and not self._is("colon", 1) and not self._ends_here(numbered):
                column = self.parts.column(self._next("", "name").text)
                terms[column] = terms.get(column, Fraction(0)) + sign * factor
            elif numbered:
                constant += sign * factor
            else:
                self._next("a term must be a number, a name, or both", "nothing")
        return terms, constant

    def _ends_here(self, numbered: bool) -> bool:
        """Whether a name after a number is the next attribute, or infinity, and not the number's column."""
        token = self._peek()
        return numbered and token is not None and self._is("compare", 1) and token.text.lower() in _ATTRIBUTES

    def _signs(self) -> int:
        sign = 1
        while self._is("sign"):
            sign *= -1 if self._next("", "sign").text == "-" else 1
        return sign

    def _signed(self, wanted: str) -> Number:
        sign = self._signs()
        token = self._next(wanted, "number", "name")
        if token.kind == "name" and token.text.lower() not in _INFINITE:
            raise self._source.error(f"{wanted}, got {token.text[:40]!r}.", line=token.line)
        return sign * self.parts.limit(token.text, token.line)

    def _starts_with_number(self) -> bool:
        """Whether a number, perhaps infinite, and a comparison follow.

        Before a comparison with a number, a word for infinity is a name.
        """
        ahead = 0
        while self._is("sign", ahead):
            ahead += 1
        token = self._peek(ahead)
        if token is None or not self._is("compare", ahead + 1):
            return False
        compared = ahead + 2
        while self._is("sign", compared):
            compared += 1
        other = self._peek(compared)
        named = other is not None and other.kind == "name" and other.text.lower() not in _INFINITE
        return token.kind == "number" or (token.text.lower() in _INFINITE and named)

    def _read_sides(self, row: NamedRow, wanted: str) -> None:
        """Read ``[number <=] terms [<= number]`` of a row; its constant is moved to its limits."""
        lower: Number = -math.inf
        upper: Number = math.inf
        known = self._starts_with_number()
        if known:
            number = self._signed(wanted)
            lower, upper = _limited(lower, upper, self._next("", "compare").text, number, left=True)
        row.terms, row.constant = self._expression()
        if not known or self._is("compare"):
            compare = self._next(wanted, "compare").text
            number = self._signed("the right-hand side must be one number")
            lower, upper = _limited(lower, upper, compare, number, left=False)
        row.lower, row.upper = lower - row.constant, upper - row.constant

    def _read_row(self) -> None:
        line = self._peek_line()
        label = self._label()
        name = label or f"R{len(self.parts.rows) + 1}"
        row = NamedRow(name)
        wanted = f"row {name!r} must read like '3 x + 2 y <= 4', with numbers on one side"
        self._read_sides(row, wanted)
        if not label and not row.terms:  # the rest of another row
            raise self._source.error(f"{wanted}, got numbers on both.", line=line)
        self.parts.add_row(row, line, named=bool(label))

    def _read_bound(self) -> None:
        wanted = "a bound must read like '0 <= x <= 4' or 'x free'"
        number: Number = 0.0
        compare = ""
        if self._starts_with_number():
            number, compare = self._signed(wanted), self._next("", "compare").text
        name = self._next(wanted, "name")
        column = self._named_column(name)
        if compare:
            self._bound(column, compare, number, left=True)
            if not self._is("compare"):
                return
        elif self._is("name") and self._peek_text() == "free":
            self._place += 1
            self.parts.lower[column], self.parts.upper[column] = -math.inf, math.inf
            return
        compare = self._next(wanted, "compare").text
        self._bound(column, compare, self._signed(wanted), left=False)

    def _bound(self, column: int, compare: str, number: Number, *, left: bool) -> None:
        if compare == "=":
            self.parts.lower[column] = self.parts.upper[column] = number
        elif ("<" in compare) == left:
            self.parts.lower[column] = number
        else:
            self.parts.upper[column] = number

    def _peek_text(self) -> str:
        token = self._peek()
        return "" if token is None else token.text.lower()

    def _read_names(self, *, binary: bool) -> None:
        while self._peek() is not None:
            token = self._next("a list of columns must hold names", "name")
            other_file = is_objective(token.text) and token.text not in self.parts.columns
            if other_file or is_heading(token.text):
                raise self._source.error(
                    f"{doubt(token.text)[:-1]}, or begin the section on a line of its own.", line=token.line
                )
            column = self._named_column(token)
            self.parts.integer[column] = True
            if binary:
                self._binary.append(column)

    def _named_column(self, name: Token) -> int:
        if name.text not in self.parts.columns:
            self.parts.notes.append(f"Column {name.text!r} is in no row and no objective.")
        return self.parts.column(name.text)


def _limited(
    lower: Number, upper: Number, compare: str, number: Number, *, left: bool
) -> tuple[Number, Number]:
    """Return the limits after one more comparison with a number, left or right of the terms."""
    least = ("<" in compare) == left
    if compare == "=":
        return number, number
    return (max(lower, number), upper) if least else (lower, min(upper, number))
