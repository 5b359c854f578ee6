"""The lines of a dialogue: read one by one, from a terminal or a pipe."""

import sys
from collections.abc import Iterator

from shortlist.errors import BadInputError

LONGEST_LINE = 10_000
"""Bytes of a line; a longer one is refused."""

PROMPT = "> "


def typed_lines() -> Iterator[str | BadInputError]:
    """Yield what is typed, line by line without the end of the line, until the input ends.

    A line that is too long or no text in UTF-8 comes as the error that says so. The prompt goes to stderr,
    and only where the input is a terminal.

    Raises
    ------
    BadInputError
        If standard input is closed.
    """
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise BadInputError(
            "a dialogue reads standard input, which is closed. Open it, or pipe lines into it."
        )
    asks = sys.stdin.isatty()
    while True:
        if asks:
            print(PROMPT, end="", file=sys.stderr, flush=True)
        content = stream.readline(LONGEST_LINE)
        if not content:
            return
        if len(content) == LONGEST_LINE and not content.endswith(b"\n"):
            while (rest := stream.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
            yield BadInputError(f"a line must have less than {LONGEST_LINE:,} bytes. Type a shorter one.")
            continue
        try:
            yield content.decode("utf-8").strip()
        except UnicodeDecodeError:
            yield BadInputError("a line must be text in UTF-8, but is not. Type it again.")
