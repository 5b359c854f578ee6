"""How an answer reaches the user."""

import io
import os
import shutil

import pytest

from shortlist.cli.text.delivery import Held, complain, deliver_now, wrapped


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda **_: os.terminal_size((40, 20)))


SENTENCE = "Chosen by cross-validation among 12 settings: the objective recall+margin, at most 7 members.\n"
TABLE = "method                  rank  accuracy       ±  balanced  size\n"
JSON = '  "reason": "every program was solved, and none of them was left without an answer.",\n'


def test_sentences_wrap_at_words_in_a_terminal_and_tables_and_json_do_not() -> None:
    text = wrapped(SENTENCE + TABLE + JSON + "\n", _Terminal())
    assert text.endswith(TABLE + JSON + "\n")
    lines = text.removesuffix(TABLE + JSON + "\n").splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(lines) == SENTENCE.strip()


def test_elsewhere_nothing_is_wrapped() -> None:
    assert wrapped(SENTENCE, io.StringIO()) == SENTENCE


def test_sentences_on_stderr_wrap_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal := _Terminal())
    complain(SENTENCE.strip())
    assert terminal.getvalue().count("\n") == 3
    assert terminal.getvalue().startswith("shortlist: Chosen by")


def test_indented_sentences_stay_indented_and_long_words_whole() -> None:
    text = wrapped(f"    a rule that is broken, and {'x' * 60}.\n", _Terminal())
    assert text == f"    a rule that is broken, and\n    {'x' * 60}.\n"


def test_what_a_dialogue_has_printed_is_delivered_at_once_and_only_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = io.StringIO()
    held = Held(seen)
    monkeypatch.setattr("sys.stdout", held)
    print("first")
    assert seen.getvalue() == ""
    deliver_now()
    print("second")
    assert (seen.getvalue(), held.getvalue()) == ("first\n", "second\n")
    monkeypatch.setattr("sys.stdout", seen)
    deliver_now()
    assert seen.getvalue() == "first\n"
