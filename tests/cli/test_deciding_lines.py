"""The lines of a dialogue."""

import io

import pytest

from shortlist.cli.dialogue import LONGEST_LINE, typed_lines
from shortlist.errors import BadInputError


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_lines_come_without_their_ends_and_bad_ones_as_errors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = b"x" * (3 * LONGEST_LINE) + b"\n"
    typed = b"select GPS\r\n\n" + long + b"why \xff\n  open \nquit"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed)))
    found = [line if isinstance(line, str) else str(line) for line in typed_lines()]
    assert found == [
        "select GPS",
        "",
        "a line must have less than 10,000 bytes. Type a shorter one.",
        "a line must be text in UTF-8, but is not. Type it again.",
        "open",
        "quit",
    ]
    assert capsys.readouterr() == ("", "")


def test_a_terminal_is_asked_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", _Terminal(io.BytesIO(b"open\n")))
    assert list(typed_lines()) == ["open"]
    assert capsys.readouterr() == ("", "> > ")


def test_a_closed_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(BadInputError, match="a dialogue reads standard input, which is closed"):
        next(typed_lines())
