"""Text that people read: words that messages share, and small tables of HTML for notebooks."""

import difflib
from collections.abc import Iterable, Sequence
from html import escape

MOST_IN_MESSAGE = 20
"""Number of things that a message names before it counts the rest."""


def any_of(things: Iterable[object], *, most: int = MOST_IN_MESSAGE) -> str:
    """List things for people, as alternatives.

    `things`: what to list, in this order; each is written as ``str`` writes it. `most`: how many are named
    before the rest is counted, at least 1.

    ``"a, b or c"``; ``"nothing"`` if there is nothing to list.

    >>> any_of(["a"]), any_of(["a", "b"]), any_of(["a", "b", "c"]), any_of([])
    ('a', 'a or b', 'a, b or c', 'nothing')
    >>> any_of(range(2000), most=2)
    '0, 1 or 1,998 more'
    """
    return _listed(things, "or", most)


def all_of(things: Iterable[object], *, most: int = MOST_IN_MESSAGE) -> str:
    """List things for people that are all meant.

    >>> all_of(["a", "b", "c"]), all_of("abcdef", most=3)
    ('a, b and c', 'a, b, c and 3 more')
    """
    return _listed(things, "and", most)


def counted(count: int, thing: str) -> str:
    """Return a number of things whose plural ends in s.

    >>> counted(1, "point"), counted(2000, "point"), counted(2, "policy"), counted(2, "day")
    ('1 point', '2,000 points', '2 policies', '2 days')
    """
    if count == 1:
        return f"{count:,} {thing}"
    ends_in_y = thing.endswith("y") and thing[-2:-1] not in "aeiou"
    return f"{count:,} {f'{thing[:-1]}ies' if ends_in_y else f'{thing}s'}"


def number_text(value: float, digits: int = 10, *, grouped: bool = False) -> str:
    """Return a number as people read it: whole numbers in full, others with `digits` significant digits.

    `grouped`: whether commas stand between the thousands of whole numbers.

    >>> number_text(123456789012.0), number_text(0.1 + 0.2), number_text(-2500.0, grouped=True)
    ('123456789012', '0.3', '-2,500')
    """
    if abs(value) < 2**53 and value == int(value):
        return f"{int(value):,}" if grouped else str(int(value))
    return f"{value:.{digits}g}"


def did_you_mean(word: str, known: Iterable[object]) -> str:
    """Return a sentence that offers the known word most like one that is not known, or "".

    A word that is far longer or shorter is not offered, though the letters may be alike. The sentence begins
    with a space, so that it can be put behind another one.

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
    """List the first things and count the rest, with a word before the last."""
    names = [str(thing) for thing in things]
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most:,} more"]
    if len(names) < 2:
        return names[0] if names else "nothing"
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def count_text(count: str) -> str:
    """Show a number, given by its digits, of which there may be thousands.

    >>> count_text("123456"), count_text("9" * 100)
    ('123,456', '9.999e99')
    """
    if len(count) <= 15:
        return f"{int(count):,}"
    short = f"{count[0]}.{count[1:4]}e{len(count) - 1}"
    return f"{short} ({count})" if len(count) <= 60 else short


MOST_ROWS = 10
"""Number of rows that a notebook shows before the rest is counted."""


def html_table(
    caption: str, header: Sequence[object], rows: Iterable[Sequence[object]], *, n_rows: int
) -> str:
    """Return a table of the first rows, with every text escaped.

    `caption`: what stands above the table. `header`: one entry per column; empty for a table without a
    header. `rows`: cells as ``str`` writes them; floats with six digits. Only the first :data:`MOST_ROWS` are
    taken. `n_rows`: how many rows there are in all.

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
