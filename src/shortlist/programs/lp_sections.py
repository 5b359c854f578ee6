"""Sections of a file in CPLEX's LP format, as lists of tokens."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shortlist.files import Source

_TOKEN = re.compile(
    r"(?P<number>(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?+\d++)?+)"
    r"|(?P<name>[A-Za-z!\"#$%&(),;?@_'`{}~][^\s+\-*/<>=:^\\\]]*+\]?+)"
    r"|(?P<compare><=|=<|>=|=>|<|>|=)"
    r"|(?P<arrow>->) | (?P<sign>[+-]) | (?P<colon>:) | (?P<other>\S)",
    re.VERBOSE,
)
_OBJECTIVE = re.compile(
    r"(minimi[sz]e|minimum|min|maximi[sz]e|maximum|max)(?!\S)(?!\s*+[:<>=])", re.IGNORECASE
)
_HEADINGS = {
    "refused": (
        r"semi-continuous|semis?|sos[12]?|pwlobj|pwl|user\s++cuts|lazy\s++constraints"
        r"|general\s++constraints|gencons|scenario(?=\s++\S++$)"
    ),
    "rows": r"subject\s++to|such\s++that|s\.t\.|st\.?",
    "bounds": r"bounds?",
    "integer": r"generals?|gen|integers?|int",
    "binary": r"binar(?:y|ies)|bin",
    "end": r"end",
}
_HEADING = re.compile(
    f"(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _HEADINGS.items())})(?!\\S)", re.IGNORECASE
)
"""Pattern of a heading at the beginning of a line, as whole words."""

_SIGNED_LIMIT = re.compile(r"[+-]\s*+(?:inf|infinity|[\d.][^\s<>=]*+)\s*+[<>=]", re.IGNORECASE)
"""Pattern of the beginning of a bound such as ``- 3 <= x``."""

_FREE = re.compile(r"free(?!\S)(?!\s*+[<>=])", re.IGNORECASE)

LISTS = {"integer", "binary"}
"""Sections that list columns."""


@dataclass(frozen=True)
class Token:
    """Token of the file, with its line: a number, name, comparison, sign or colon."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True)
class Section:
    """Section of the file.

    `kind`: a key of the headings, or ``min`` or ``max``, followed by `` several`` for several objectives.
    `line`: line of the heading. `doubtful`: first word of the heading if it could be a column instead, else
    empty.
    """

    kind: str
    tokens: list[Token]
    line: int
    doubtful: str = ""


def is_heading(word: str) -> bool:
    """Whether a word at the beginning of a line begins a section.

    >>> [is_heading(word) for word in ("Gen", "gen_1", "end", "bend")]
    [True, False, True, False]
    """
    return _HEADING.fullmatch(word) is not None


def is_objective(word: str) -> bool:
    """Whether a word can begin the file.

    >>> [is_objective(word) for word in ("Max", "minimize", "max_1")]
    [True, True, False]
    """
    return _OBJECTIVE.fullmatch(word) is not None


def sections_of(source: Source) -> Iterator[Section]:
    """Yield the sections up to ``end``.

    A heading begins a line. In three positions the word of a heading is a name instead: before a colon, a
    comparison or ``free``; before a sign, unless a row or a bound begins there; and after a sign. The word
    ``end`` is a name only before a colon and after a sign.
    """
    section, heading, end = Section("", [], 1), "", ""
    for line, text in source.lines():
        rest = text.partition("\\")[0].strip()
        found, rest = _begun(source, rest, line, section)
        if found is not None:
            if section.kind:
                yield section
            section, heading, end = found, text.strip(), text.split()[0]
        elif rest and not section.kind:
            raise source.error(
                f"a program must begin with 'minimize' or 'maximize', got {rest[:40]!r}.", line=line
            )
        if section.kind == "end" and rest:
            raise source.error(
                f"nothing may follow {end!r}, got {rest[:40]!r}. Leave it out, or rename the column {end!r}.",
                line=line,
            )
        if section.kind == "refused" and rest:  # HiGHS writes the heading even for an empty section
            raise source.error(
                "a program must be linear, with integer and continuous columns, got a section "
                f"{heading[:40]!r}. Write it as rows{_or_rename(section)}.",
                line=section.line,
            )
        section.tokens.extend(_tokens(source, rest, line))
    if section.kind != "end":
        raise source.error(
            "the program must end with 'end', and does not: the file was cut off. Get it again."
        )


def _or_rename(section: Section) -> str:
    return f", or rename the column {section.doubtful!r}" if section.doubtful else ""


def _begun(source: Source, text: str, line: int, now: Section) -> tuple[Section | None, str]:
    """Return the section that a line begins, if any, and the rest of the line."""
    if not now.kind:
        return _objectives(text, line)
    found = _HEADING.match(text)
    if found is None or now.kind == "end":
        return None, text
    kind, rest = str(found.lastgroup), text[found.end() :].strip()
    signed = rest[:1] in {"+", "-"}
    if _is_name(kind, rest, now):
        return None, text
    if signed and kind == now.kind == "rows":
        raise source.error(doubt(found[0]), line=line)
    doubtful = kind != "end" and (signed or now.kind in LISTS or _ends_in_a_constant(now.tokens))
    return Section(kind, [], line, found[0].split()[0] if doubtful else ""), rest


def doubt(word: str) -> str:
    """Return the sentence about a word that may be a column or begin a section."""
    return f"{word[:40]!r} may be a column or begin a section here. Rename the column."


def _objectives(text: str, line: int) -> tuple[Section | None, str]:
    found = _OBJECTIVE.match(text)
    if not found:
        return None, text
    rest = text[found.end() :].strip()
    several = re.match(r"multi-objectives?(?!\S)", rest, re.IGNORECASE)
    kind = found[1].lower()[:3] + (" several" if several else "")
    return Section(kind, [], line), rest[several.end() :] if several else rest


def _is_name(kind: str, rest: str, now: Section) -> bool:
    """Whether the context of a heading's word shows that it is a name."""
    last = now.tokens[-1].kind if now.tokens else ""
    continued = last == "sign" and now.kind not in LISTS
    if kind == "end":  # other readers stop at ``end``
        return rest[:1] == ":" or (continued and rest != "")
    return (
        rest[:1] in {":", "<", ">", "="}
        or continued
        or (last == "colon" and now.kind == "rows")
        or (now.kind == "bounds" and _FREE.match(rest) is not None)
        or (rest[:1] in {"+", "-"} and not _may_begin_with_a_sign(kind, rest))
    )


def _may_begin_with_a_sign(kind: str, rest: str) -> bool:
    return kind == "rows" or (kind == "bounds" and _SIGNED_LIMIT.match(rest) is not None)


def _ends_in_a_constant(tokens: Sequence[Token]) -> bool:
    """Whether the last token is a number that a name could follow, as in ``x + 2``, unlike ``x <= 2``."""
    if not tokens or tokens[-1].kind != "number":
        return False
    before = next((token.kind for token in reversed(tokens[:-1]) if token.kind != "sign"), "")
    return before != "compare"


def _tokens(source: Source, text: str, line: int) -> Iterator[Token]:
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        found = _TOKEN.match(text, place)
        assert found is not None, "every character that is no space is a token"
        if found.lastgroup in {"other", "arrow"}:
            what = {"->": "an indicator", "[": "a quadratic term", "^": "a power", "*": "a product"}.get(
                found[0].strip(), ""
            )
            raise source.error(
                f"a row must be linear, got {what or repr(found[0].strip())}. Write it without.", line=line
            )
        yield Token(str(found.lastgroup), found[0].strip(), line)
        place = found.end()
