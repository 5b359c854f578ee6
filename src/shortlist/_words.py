"""Text for people: lists and numbers in messages, and small HTML tables for notebooks."""

import difflib
from collections.abc import Iterable, Sequence
from html import escape

MOST_IN_MESSAGE = 20
"""Most things that a message lists before it counts the rest."""


def any_of(things: Iterable[object], *, most: int = MOST_IN_MESSAGE) -> str:
    """List things for people, as alternatives.

    `things`: objects to list, in this order, each by its ``str``. `most`: number listed before the rest is
    counted, at least 1.

    The form is ``"a, b or c"``; ``"nothing"`` for an empty list.

    >>> any_of(["a"]), any_of(["a", "b"]), any_of(["a", "b", "c"]), any_of([])
    ('a', 'a or b', 'a, b or c', 'nothing')
    >>> any_of(range(2000), most=2)
    '0, 1 or 1,998 more'
    """
    return _listed(things, "or", most)


def all_of(things: Iterable[object], *, most: int = MOST_IN_MESSAGE) -> str:
    """List things for people, joined by "and".

    >>> all_of(["a", "b", "c"]), all_of("abcdef", most=3)
    ('a, b and c', 'a, b, c and 3 more')
    """
    return _listed(things, "and", most)


def counted(count: int, thing: str) -> str:
    """Return a number and its noun, which is in the plural unless the number is 1.

    >>> counted(1, "point"), counted(2000, "point"), counted(2, "policy"), counted(2, "day")
    ('1 point', '2,000 points', '2 policies', '2 days')
    """
    if count == 1:
        return f"{count:,} {thing}"
    ends_in_y = thing.endswith("y") and thing[-2:-1] not in "aeiou"
    return f"{count:,} {f'{thing[:-1]}ies' if ends_in_y else f'{thing}s'}"


def number_text(value: float, digits: int = 10, *, grouped: bool = False) -> str:
    """Return a number for people: integers in full, other numbers with `digits` significant digits.

    `grouped`: whether integers have commas between thousands.

    >>> number_text(123456789012.0), number_text(0.1 + 0.2), number_text(-2500.0, grouped=True)
    ('123456789012', '0.3', '-2,500')
    """
    if abs(value) < 2**53 and value == int(value):
        return f"{int(value):,}" if grouped else str(int(value))
    return f"{value:.{digits}g}"


def did_you_mean(word: str, known: Iterable[object]) -> str:
    """Return a sentence with the known word most similar to an unknown one, or "".

    A word that is far longer or shorter is not offered, even if its letters are similar. The sentence
    begins with a space, so that it can follow another one.

    >>> did_you_mean("costt", ["cost", "defects"]), did_you_mean("Ood", ["odd"])
    (" Did you mean 'cost'?", " Did you mean 'odd'?")
    >>> did_you_mean("xyz", ["cost"]), did_you_mean("age", ["target"])
    ('', '')
    """
    typed = str(word).casefold()
    by_folded = {str(one).casefold(): str(one) for one in known}
    near = [
        one
        for one in difflib.get_close_matches(typed, by_folded, n=3)
        if abs(len(one) - len(typed)) <= max(2, min(len(one), len(typed)) // 2)
    ]
    return f" Did you mean {by_folded[near[0]]!r}?" if near else ""


def _listed(things: Iterable[object], word: str, most: int) -> str:
    """List the first things and count the rest, with a word before the last one."""
    names = [str(thing) for thing in things]
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most:,} more"]
    if len(names) < 2:
        return names[0] if names else "nothing"
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def count_text(count: str) -> str:
    """Return a number, given by its digits, for people; it may have thousands of digits.

    >>> count_text("123456"), count_text("9" * 100)
    ('123,456', '9.999e99')
    """
    if len(count) <= 15:
        return f"{int(count):,}"
    short = f"{count[0]}.{count[1:4]}e{len(count) - 1}"
    return f"{short} ({count})" if len(count) <= 60 else short


MOST_ROWS = 10
"""Most rows that a notebook shows before it counts the rest."""


def html_table(
    caption: str, header: Sequence[object], rows: Iterable[Sequence[object]], *, n_rows: int
) -> str:
    """Return an HTML table of the first rows, with all text escaped.

    `caption`: text above the table. `header`: one entry per column; empty for a table without a header.
    `rows`: cells, written by ``str``; floats with six digits. Only the first :data:`MOST_ROWS` are taken.
    `n_rows`: number of rows in all.

    >>> html_table("a < b", [], [["size", 3]], n_rows=1)
    '<table><caption>a &lt; b</caption><tr><td>size</td><td>3</td></tr></table>'
    """
    head = f"<tr>{''.join(f'<th>{escape(str(name))}</th>' for name in header)}</tr>" if header else ""
    shown = [row for row, _ in zip(rows, range(MOST_ROWS), strict=False)]
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in shown)
    more = f"<p>and {n_rows - len(shown):,} more</p>" if n_rows > len(shown) else ""
    return f"<table><caption>{escape(caption)}</caption>{head}{body}</table>{more}"


def _cell(value: object) -> str:
    return escape(f"{value:.6g}" if isinstance(value, float) else str(value))
