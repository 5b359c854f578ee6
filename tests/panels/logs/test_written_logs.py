"""Small logs, written as people and tools write them, say what a slow reader of their calls says."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.panels.answer_log import AnswerLog, label_of
from shortlist.panels.log_checks import folded
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from shortlist.tables.numbers import CellRules

WORDS = st.sampled_from(["yes", "no", "Yes.", '"no"', " NO ", "", "error", "NA", "1", "1.0", "true"])
CALLS = st.tuples(
    st.integers(0, 5), st.integers(0, 2), WORDS, st.none() | st.sampled_from([1.5, 1234.25, 2000]),
    st.none() | st.integers(0, 4), st.none() | st.integers(0, 1),
)  # fmt: skip
TRUTHS = st.lists(st.sampled_from(["yes", "no", "Yes.", "NA", ""]), min_size=6, max_size=6)
NOTATIONS: dict[str, Callable[[float], str]] = {
    "plain": str,
    "dollars": lambda number: f"${number:,.2f}",
    "euros": lambda number: f"{number:,.2f} €".translate(str.maketrans(",.", ".,")),
}


class Call(NamedTuple):
    """One answer; the confidence in quarters."""

    case: int
    judge: int
    answer: str
    price: float | None
    quarters: int | None
    score: int | None


class Written(NamedTuple):
    """A log and how it is written and read; `separator` None: as lines of JSON."""

    calls: list[Call]
    truths: list[str]
    notation: str
    separator: str | None
    repeats: str
    ways: tuple[str, ...]
    gaps: tuple[str, ...]
    scored: bool

    @property
    def has_prices(self) -> bool:
        """Whether every judge has a price among the calls that count."""
        firsts = {(call.case, call.judge): call for call in reversed(self.calls)}
        counted = [*firsts.values()] if self.repeats == "first" else self.calls
        return {call.judge for call in counted if call.price} == {call.judge for call in self.calls}

    @property
    def empty(self) -> tuple[str, ...]:
        """Words for no answer: NA too in a column of numbers or truth values, which JSON has none of here."""
        words = {label_of(call.answer) for call in self.calls if call.answer} - {"NA", *self.gaps}
        return (*self.gaps, "NA") if self.separator and words in ({"1"}, {"True"}) else self.gaps

    def write(self, path: Path) -> None:
        """Write a row for each answer."""
        rows = [self.row(call) for call in self.calls]
        if self.separator is None:
            lines = [json.dumps({name: cell or None for name, cell in row.items()}) for row in rows]
        else:
            cells = [[*rows[0]], *([*row.values()] for row in rows)]
            quoted = [['"' + one.replace('"', '""') + '"' for one in row] for row in cells]
            lines = [self.separator.join(row) for row in quoted]
        path.write_text("\n".join([*lines, ""]))

    def row(self, call: Call) -> dict[str, str]:
        quarters = "" if call.quarters is None else f"{call.quarters / 4:g}"
        told = {
            "case": f"c{call.case}", "judge": f"j{call.judge}", "answer": call.answer,
            "price": NOTATIONS[self.notation](call.price) if call.price and self.has_prices else "",
            "confidence": quarters.replace(".", ",") if self.notation == "euros" else quarters,
            "target": self.truths[call.case],
        }  # fmt: skip
        return told | ({"score": "" if call.score is None else str(call.score)} if self.scored else {})


LOGS = st.builds(
    Written, st.lists(CALLS.map(lambda one: Call(*one)), min_size=2, max_size=20), TRUTHS,
    st.sampled_from([*NOTATIONS]), st.sampled_from([",", ";", "\t", None]),
    st.sampled_from(["first", "majority"]), st.sampled_from([(), ("case",), ("punctuation", "case")]),
    st.sampled_from([(), ("NA", "error")]), st.booleans(),
)  # fmt: skip


def slowly(
    calls: list[Call], repeats: str, ways: tuple[str, ...], gaps: tuple[str, ...]
) -> dict[tuple[int, int], tuple[str, float | None, float | None, float | None]]:
    """Return label, price, confidence and score of each case and judge."""
    told: dict[tuple[int, int], list[Call]] = defaultdict(list)
    for call in calls:
        told[call.case, call.judge].append(call)
    found = {}
    for key, group in told.items():
        said = ["" if call.answer.strip() in gaps else label_of(call.answer) for call in group]
        times = Counter(one for one in said if one).most_common(2)
        kept, counts = group[:1], group[:1]
        label = said[0]
        if repeats == "majority" and len(group) > 1:
            label = times[0][0] if times and (len(times) == 1 or times[0][1] > times[1][1]) else ""
            kept, counts = group, [call for call, one in zip(group, said, strict=True) if one == label]
        quarters = mean_of([call.quarters for call in counts])
        found[key] = (
            folded(label, ways),
            mean_of([call.price for call in kept]),
            None if quarters is None else quarters / 4,
            mean_of([call.score for call in counts]),
        )
    return found


def mean_of(numbers: list[Any]) -> float | None:
    known = [one for one in numbers if one is not None]
    return math.fsum(known) / len(known) if known else None


@settings(max_examples=40)
@given(LOGS)
def test_a_log_says_what_its_calls_say(folder: Path, written: Written) -> None:
    ways, gaps = written.ways, written.gaps
    expected = slowly(written.calls, written.repeats, ways, written.empty)
    if not any(label for label, _, _, _ in expected.values()):
        return  # a log of scores alone, or of nothing
    written.write(folder / "log.txt")
    # a column of scores that are the same for all answers to a case is read only where it is named
    columns = LogColumns(repeats=written.repeats, fold=ways, score="score" if written.scored else None)
    log = read_log(folder / "log.txt", columns=columns, rules=CellRules(gaps=gaps or None), form="long")
    right = rights(expected, written)
    for row, case in enumerate(log.cases):
        for column, judge in enumerate(log.judges):
            key = int(case[1:]), int(judge[1:])
            if key not in expected:
                assert log.answers[row, column] == -2
                continue
            label, price, confidence, _ = expected[key]
            assert answer_of(log, row, column) == (label if label in log.classes else "")
            assert log.is_right[row, column] == (right[key] and label in log.classes)
            if price is not None and written.has_prices:
                assert log.prices[row, column] == pytest.approx(price)
            if log.confidence is not None:
                assert log.confidence[row, column] == pytest.approx(
                    math.nan if confidence is None else confidence, nan_ok=True
                )
    assert {(int(case[1:]), int(judge[1:])) for case in log.cases for judge in log.judges} >= {*expected}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


def rights(
    expected: dict[tuple[int, int], tuple[str, float | None, float | None, float | None]], written: Written
) -> dict[tuple[int, int], bool]:
    """Return which answers are right: by most scores of equal ones, or else by the truth."""
    scores: dict[tuple[int, str], list[bool]] = defaultdict(list)
    for (case, _), (label, _, _, score) in expected.items():
        if written.scored and label and score is not None:
            scores[case, label].append(score > 0.5)
    found = {}
    for (case, judge), (label, _, _, score) in expected.items():
        truth = "" if written.truths[case] in written.gaps else label_of(written.truths[case])
        truth = folded(truth, written.ways)
        votes = scores[case, label] if score is not None else []
        found[case, judge] = 2 * sum(votes) > len(votes) if votes else bool(label) and label == truth
    return found


def answer_of(log: AnswerLog, row: int, column: int) -> str:
    code = log.answers[row, column]
    return log.classes[code] if code >= 0 else ""
