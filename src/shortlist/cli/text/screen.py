"""One screen of text, which every command prints unless --details asks for more."""

import contextlib
import io
from collections.abc import Iterator, Sequence
from textwrap import TextWrapper, fill

WIDTH, LINES = 100, 24
"""Columns and lines of a screen."""

MOST_LETTERS = 40
"""Letters of one name in a list; files and --json have all."""


def print_lines(lines: Sequence[str]) -> None:
    """Print sentences in lines of at most :data:`WIDTH` columns."""
    for line in _parted(lines):
        print(line)


def print_fitted(
    first: Sequence[str],
    rest: Sequence[str],
    last: Sequence[str],
    *,
    most: int = LINES,
    details: bool = False,
) -> None:
    """Print sentences, and between them as many lines as the screen has room for; with details all, unbroken.

    `most`: lines between them that are printed at most without details.
    """
    before, after = _parted(first), _parted(last)
    room = min(most, LINES - len(before) - len(after))
    between = rest if details else cut(_parted(rest), room, "--details has all")
    print("\n".join([*before, *between, *after]))


def _parted(lines: Sequence[str]) -> list[str]:
    parts = [(_filled(line) if len(line) > WIDTH else line).splitlines() or [""] for line in lines]
    return [part for lines in parts for part in lines]


def _filled(line: str) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


@contextlib.contextmanager
def first_screen(*, details: bool) -> Iterator[None]:
    """Break what is printed within at :data:`WIDTH` columns; without details keep :data:`LINES` lines."""
    with contextlib.redirect_stdout(io.StringIO()) as held:
        yield
    lines = _parted(held.getvalue().splitlines())
    print("\n".join(lines if details else cut(lines, LINES, "--details has all")))


def shortened(name: str) -> str:
    """Return a name of at most :data:`MOST_LETTERS` letters."""
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 3]}..."


def listed(head: str, names: Sequence[str], *, most_lines: int = 3, details: bool = False) -> str:
    """Return names behind a heading, as many as fit in some lines of the screen; with details all of them.

    >>> listed("2 of 3: ", ["GPS", "Camera"])
    '2 of 3: GPS, Camera'
    >>> listed("In it: ", [f"feature-{i}" for i in range(40)], most_lines=1)[-45:]
    'ture-3, feature-4, and 35 more with --details'
    """
    if details:
        return head + ", ".join(names)
    short = [shortened(name) for name in names]
    wrapper = TextWrapper(WIDTH - 2, subsequent_indent="    ", break_long_words=False)
    for kept in range(len(short), 0, -1):
        left = len(short) - kept
        more = f", and {left:,} more with --details" if left else ""
        line = f"{head}{', '.join(short[:kept])}{more}"
        if len(line) <= most_lines * WIDTH and len(wrapper.wrap(line)) <= most_lines:
            return line
    return f"{head}{len(short):,} with --details" if short else head


def cut(lines: Sequence[str], most: int, more: str) -> list[str]:
    """Return the first lines, with a line on how many are left where not all fit.

    >>> cut(["a", "b", "c"], 2, "--details has all")
    ['a', '... and 2 more; --details has all']
    """
    if len(lines) <= most:
        return list(lines)
    kept = max(0, most - 1)
    return [*lines[:kept], f"... and {len(lines) - kept:,} more; {more}"]
