"""JSON from strangers that is not quite as it should be is read, with a note."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadFileError
from shortlist.panels.logs.json_content import oddity_notes, parsed_json
from shortlist.panels.logs.reading import read_log
from tests.stored import Stored

TEXTS = st.text(st.sampled_from('a\\"\U0001f600\ud83d\ude00\ud800\udfff'), max_size=8)


@given(st.recursive(TEXTS, lambda one: st.lists(one, max_size=3) | st.dictionaries(TEXTS, one, max_size=3)))
def test_halves_of_surrogate_pairs_alone_are_replaced(value: Any) -> None:
    text = json.dumps(value)
    odd, usual = Counter[str](), json.loads(text)
    n_halves = sum("\ud800" <= one <= "\udfff" for one in json.dumps(usual, ensure_ascii=False))
    read = parsed_json("log", text, odd)
    assert odd["halves"] == n_halves
    told = json.dumps(read, ensure_ascii=False)
    told.encode()  # which half a pair would not let
    if not odd["names"]:
        same = json.dumps(usual, ensure_ascii=False).translate(dict.fromkeys(range(0xD800, 0xE000), 0xFFFD))
        assert told == same


def test_half_a_pair_among_others_is_one_character() -> None:
    odd = Counter[str]()
    text = r'["\ud83d\ude00", "\ud83d\ud83d\ude00", "\\ud83d", "\\\ud83d", "\uDE00x"]'
    read = parsed_json("log", text, odd)
    assert read == ["\U0001f600", "\ufffd\U0001f600", r"\ud83d", "\\\ufffd", "\ufffdx"]
    (note,) = oddity_notes("log", odd)
    assert note.startswith("log: in 3 places there is half a character")


def test_an_output_that_was_cut_within_an_emoji_is_read(tmp_path: Path) -> None:
    rows = [
        {"case": f"c{at}", "judge": who, "answer": "good \ud83d" if at else "bad", "target": "bad"}
        for at in range(3)
        for who in "ab"
    ]
    for text in (json.dumps(rows), "\n".join(map(json.dumps, rows))):
        (tmp_path / "log.json").write_text(text)
        log = read_log(tmp_path / "log.json")
        assert log.unknown_words == {"good \ufffd": 4}
        assert any("in 4 places there is half a character" in note for note in log.notes)


@pytest.mark.parametrize("digits", [5000, 10**5])
def test_numbers_of_thousands_of_digits_are_texts(digits: int, tmp_path: Path) -> None:
    long = "9" * digits
    rows = [{"case": at, "judge": "a", "answer": "x", "target": "x" if at else long} for at in range(3)]
    for text in (json.dumps(rows), json.dumps(rows).replace(f'"{long}"', long)):
        (tmp_path / "log.json").write_text(text)
        log = read_log(tmp_path / "log.json")
        assert log.is_right[:, 0].tolist() == [False, True, True]
        assert long in log.classes
        told = any("in 1 place there is a number of thousands of digits" in note for note in log.notes)
        assert told == (f'"{long}"' not in text)


def test_a_truth_of_thousands_of_digits_is_no_number_of_a_choice(tmp_path: Path) -> None:
    def choices(number: int, target: str) -> dict[str, Any]:
        names = ("no", "yes")
        return {
            "doc_id": number, "doc": {}, "target": target, "filter": "none",
            "arguments": {f"gen_args_{at}": {"arg_0": "q", "arg_1": one} for at, one in enumerate(names)},
            "filtered_resps": [[-0.1, True], [-2.0, False]],
        }  # fmt: skip

    (tmp_path / "samples.jsonl").write_text(
        "\n".join(json.dumps(choices(at, one)) for at, one in enumerate(["0", "1", "9" * 5000]))
    )
    log = read_log(tmp_path / "samples.jsonl")
    assert [log.classes[code] for code in log.truth[:2]] == ["no", "yes"]


def test_a_name_twice_in_one_object_is_noted(tmp_path: Path, stored: Stored) -> None:
    line = '{"case": %d, "judge": "a", "answer": "x", "answer": "y", "target": "y"}'
    (tmp_path / "log.jsonl").write_text("\n".join(line % at for at in range(3)))
    log = read_log(tmp_path / "log.jsonl")
    assert log.is_right.all()
    stored(*log.notes)


def test_the_shared_cases_are_read_or_refused(data_folder: Path) -> None:
    folder = data_folder / "judges" / "cases"
    assert len(read_log(folder / "lm-eval-long-number.json").cases) == 4
    with pytest.raises(BadFileError, match="record 2 must have a name or number as 'id', got True"):
        read_log(folder / "half-surrogate.json")
