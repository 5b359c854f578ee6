"""Tables of answers, wide and long, in every format, and what is refused."""

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.log_checks import SILENT, UNASKED
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from tests.stored import Stored

LONG = pd.DataFrame(
    {
        "task": ["t1", "t1", "t2", "t2", "t3"],
        "worker": ["a", "b", "a", "b", "b"],
        "label": ["yes", "no", "no", None, "maybe"],
        "usd": [0.1, 0.2, 0.3, 0.4, np.nan],
        "ms": [100, 200, 300, 400, 500],
        "length": [7, 7, 8, 8, 9],
        "truth": ["yes", "yes", "no", "no", None],
    }
)


def _csv(frame: pd.DataFrame) -> bytes:
    return str(frame.to_csv(index=False)).encode()


def _parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


FORMATS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    "CSV": _csv,
    "TSV": lambda frame: frame.to_csv(index=False, sep="\t").encode(),
    "CSV with gzip": lambda frame: gzip.compress(_csv(frame)),
    "Parquet": _parquet,
    "JSON lines": lambda frame: frame.to_json(orient="records", lines=True).encode(),
    "JSON": lambda frame: frame.to_json(orient="records", indent=1).encode(),
}


def _read(folder: Path, content: bytes | str | pd.DataFrame, **options: Any) -> AnswerLog:
    file = folder / "log.of_any_ending"
    if isinstance(content, pd.DataFrame):
        content = _csv(content)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_log(file, **options)


@pytest.mark.parametrize("written", FORMATS.values(), ids=FORMATS)
def test_a_long_log_reads_the_same_in_every_format(
    tmp_path: Path, written: Callable[[pd.DataFrame], bytes], stored: Stored
) -> None:
    log = _read(tmp_path, written(LONG), columns=LogColumns(features=["length"]))

    assert log.judges == ("a", "b")
    assert log.cases.tolist() == ["t1", "t2", "t3"]
    assert log.classes == ("no", "yes")
    assert log.answers.tolist() == [[1, 0], [0, SILENT], [UNASKED, SILENT]]
    assert log.truth.tolist() == [1, 0, SILENT]
    # the mean price of the judge stands for what is not told, and for the call that was not made
    assert log.prices == pytest.approx(np.array([[0.1, 0.2], [0.3, 0.4], [0.2, 0.3]]))
    assert log.latency is not None
    assert log.latency[:2].tolist() == [[0.1, 0.2], [0.3, 0.4]]
    assert log.features["length"].tolist() == [7, 8, 9]
    assert dict(log.unknown_words) == {"maybe": 1}
    assert log.groups is None
    stored(*log.notes)


WIDE = pd.DataFrame(
    {
        "id": [5, 6, 7],
        "size": [1, 2, 3],
        "a": ["x", "y", None],
        "b": ["x", "x", "z"],
        "target": ["x", "y", "y"],
    }
)


@pytest.mark.parametrize("written", FORMATS.values(), ids=FORMATS)
def test_a_wide_log_reads_the_same_in_every_format(
    tmp_path: Path, written: Callable[[pd.DataFrame], bytes]
) -> None:
    log = _read(tmp_path, written(WIDE), columns=LogColumns(features=["size"]), costs={"a": 1, "b": 2.5})

    assert log.judges == ("a", "b")
    assert log.cases.tolist() == ["5", "6", "7"]
    assert log.answers.tolist() == [[0, 0], [1, 0], [SILENT, SILENT]]
    assert log.truth.tolist() == [0, 1, 1]
    assert log.prices.tolist() == [[1.0, 2.5]] * 3
    assert log.features["size"].tolist() == [1, 2, 3]
    assert dict(log.unknown_words) == {"z": 1}


PAIRS = pd.DataFrame(
    {
        "g.label": [1, 2], "g.confidence": [0.5, 0.75], "h.label": [2, 10], "h.confidence": [0.1, np.nan],
        "topic": ["a", "b"], "other": [0, 0], "target": [1, 2],
    }
)  # fmt: skip


def test_labels_with_confidences_are_priced_by_the_judges_name(tmp_path: Path, stored: Stored) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("name,cost\ng,10\nh,0.5\ncarol,3\n")
    log = _read(tmp_path, PAIRS, columns=LogColumns(features=["topic"]), costs=prices)

    assert log.judges == ("g", "h")
    assert log.answers.tolist() == [[0, 1], [1, SILENT]]
    assert log.confidence is not None
    assert log.confidence.tolist()[0] == [0.5, 0.1]
    assert log.confidence[1, 0] == 0.75
    assert np.isnan(log.confidence[1, 1])
    assert log.prices.tolist() == [[10.0, 0.5]] * 2
    assert dict(log.unknown_words) == {"10": 1}
    stored(*log.notes)


def test_probabilities_of_every_class_are_one_judge(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "m:no": [0.9, 0.5, 0.2],
            "m:yes": [0.1, 0.5, 0.8],
            "w": ["no", "no", "yes"],
            "target": ["no", "yes", "yes"],
        }
    )
    log = _read(tmp_path, table)

    assert log.judges == ("w", "m")
    assert log.answers.tolist() == [[0, 0], [0, SILENT], [1, 1]]
    assert log.probabilities is not None
    assert log.probabilities[:, 1].tolist() == [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]
    assert np.isnan(log.probabilities[:, 0]).all()


def test_truth_may_come_from_a_file_of_its_own(tmp_path: Path, stored: Stored) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("task,truth\nt1,yes\nt3,no\nt9,no\n")
    log = _read(tmp_path, LONG.drop(columns="truth"), truth=truth, columns=LogColumns(features=["length"]))

    assert log.truth.tolist() == [1, SILENT, 0]
    stored(*log.notes)


def test_the_truth_of_another_file_is_in_its_other_column_or_in_the_one_that_is_named(tmp_path: Path) -> None:
    truth, log = tmp_path / "truth.csv", LONG.drop(columns="truth")
    truth.write_text("task,queue\nt1,yes\nt3,no\n")
    assert _read(tmp_path, log, truth=truth).truth.tolist() == [1, SILENT, 0]
    truth.write_text("task,queue,team\nt1,yes,a\nt3,no,b\n")
    named = LogColumns(target="queue")
    assert _read(tmp_path, log, truth=truth, columns=named).truth.tolist() == [1, SILENT, 0]
    for target in (None, "label"):
        with pytest.raises(BadInputError, match="Name them by `case='NAME'` and `target='NAME'`"):
            _read(tmp_path, log, truth=truth, columns=LogColumns(target=target))


@pytest.mark.parametrize("case", ["ticket", "task"])
def test_a_log_and_its_truth_may_call_their_cases_differently(tmp_path: Path, case: str) -> None:
    truth, log = tmp_path / "truth.csv", LONG.drop(columns="truth")
    truth.write_text("ticket,truth,team\nt1,yes,a\nt3,no,b\n")
    read = _read(tmp_path, log, truth=truth, columns=LogColumns(case=case))
    assert read.truth.tolist() == [1, SILENT, 0]
    assert f"{truth}: read as the truth 'truth' of each case by 'ticket'." in read.notes
    with pytest.raises(BadInputError, match="must have the column 'tocket'"):
        _read(tmp_path, log, truth=truth, columns=LogColumns(case="tocket"))


def test_the_truth_of_a_table_with_workers_is_what_most_of_them_say(tmp_path: Path, stored: Stored) -> None:
    truth, log = tmp_path / "truth.csv", LONG.drop(columns="truth")
    said = {"t1": "yes yes no", "t2": "no yes", "t3": "no no yes"}
    answers = [
        (task, place, one) for task, all_of in said.items() for place, one in enumerate(all_of.split())
    ]
    truth.write_text(
        "task,annotator,label\n" + "".join(f"{task},a{who},{one}\n" for task, who, one in answers)
    )
    found = _read(tmp_path, log, truth=truth)
    assert found.truth.tolist() == [1, SILENT, 0]
    stored(*found.notes)
    named = _read(tmp_path, log, truth=truth, columns=LogColumns(judge="worker"))
    assert named.truth.tolist() == [1, SILENT, 0]
    toloka = "ASSIGNMENT:task_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\tOUTPUT:result\n"
    states = ("Approved", "Approved", "Rejected")
    toloka += "".join(f"{task}\ta{who}\t{states[who]}\t{one}\n" for task, who, one in answers)
    (tmp_path / "truth.tsv").write_text(toloka)
    assert _read(tmp_path, log, truth=tmp_path / "truth.tsv").truth.tolist() == [1, SILENT, 0]


def test_one_worker_for_each_case_is_the_truth(tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("task,annotator,label\nt1,a,yes\nt3,b,no\n")
    assert _read(tmp_path, LONG.drop(columns="truth"), truth=truth).truth.tolist() == [1, SILENT, 0]


def test_a_copy_of_the_truth_is_no_judge(tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("id,truth\n5,x\n6,y\n7,y\n")
    logs = [
        _read(tmp_path, WIDE.assign(gold=WIDE["target"]), columns=LogColumns(drop=["size"])),
        _read(tmp_path, WIDE, truth=truth, columns=LogColumns(drop=["size"])),
    ]
    for log in logs:
        assert log.judges == ("a", "b")
        assert log.truth.tolist() == [0, 1, 1]
        assert any("not taken for answers of a judge" in note for note in log.notes)


def test_several_logs_of_the_same_cases_are_put_together(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,a,target\n1,x,x\n2,y,y\n")
    (tmp_path / "b.jsonl").write_text(
        '{"id": 2, "b": "y", "target": "y"}\n{"id": 3, "b": "x", "target": "y"}\n'
    )
    log = read_log([tmp_path / "a.csv", tmp_path / "b.jsonl"])

    assert log.judges == ("a", "b")
    assert log.answers.tolist() == [[0, UNASKED], [1, 1], [UNASKED, 0]]
    assert log.truth.tolist() == [0, 1, 1]


def test_epochs_and_equal_contents_are_one_group(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "case": [1, 1, 2, 3, 3], "epoch": [1, 2, 1, 1, 2], "judge": "a", "answer": ["x", "y", "x", "y", "y"],
            "target": ["x", "x", "x", "y", "y"], "text": ["p", "p", "p", "q", "q"],
        }
    )  # fmt: skip
    log = _read(tmp_path, table, columns=LogColumns(content="text"))

    assert log.cases.tolist() == ["1", "1", "2", "3", "3"]
    assert log.groups is not None
    assert log.groups.tolist() == [0, 0, 0, 1, 1]


def test_a_wide_row_with_the_name_of_another_is_the_same_case(tmp_path: Path) -> None:
    log = _read(tmp_path, "id,a,target\n1,x,x\n2,y,y\n1,y,x\n")

    assert log.groups is not None
    assert log.groups.tolist() == [0, 1, 0]


def test_capital_letters_count_unless_folding_is_asked_for(tmp_path: Path, stored: Stored) -> None:
    text = "a,b,target\nYes,yes,yes\nNO,no ,no\n"

    strict = _read(tmp_path, text)
    assert dict(strict.unknown_words) == {"Yes": 1, "NO": 1}
    stored(*strict.notes)
    log = _read(tmp_path, text, columns=LogColumns(fold=("case",)))
    assert log.classes == ("no", "yes")
    assert log.answers.tolist() == [[1, 1], [0, 0]]


def test_tokens_of_a_long_log_are_priced_by_model(tmp_path: Path) -> None:
    prices = tmp_path / "tokens.csv"
    prices.write_text("model,input_cost_per_token,output_cost_per_token\nopenai/gpt,0.001,0.002\n")
    table = pd.DataFrame(
        {"case": [1, 2], "model": "gpt", "answer": ["x", "y"], "target": ["x", "x"], "prompt_tokens": [10, 20],
         "completion_tokens": [1, 2]}
    )  # fmt: skip
    log = _read(tmp_path, table, token_prices=prices)

    assert log.prices[:, 0].tolist() == pytest.approx([0.012, 0.024])


def test_judges_and_columns_can_be_left_out(tmp_path: Path) -> None:
    assert _read(tmp_path, WIDE, columns=LogColumns(drop=["size", "b"])).judges == ("a",)
    assert _read(tmp_path, LONG, columns=LogColumns(drop=["a"])).judges == ("b",)
    with pytest.raises(BadInputError, match="drop must name columns or judges of the log, got 'c'"):
        _read(tmp_path, LONG, columns=LogColumns(drop=["c"]))


def test_a_long_log_says_the_same_row_by_row_as_the_answers_that_made_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "case": rng.integers(0, 30, 400), "judge": rng.integers(0, 12, 400),
            "answer": rng.choice(["x", "y", "z", ""], 400), "price": rng.integers(0, 9, 400) / 4,
        }
    ).drop_duplicates(["case", "judge"])  # fmt: skip
    table["target"] = np.array(["x", "y", "z"])[table["case"] % 3]
    log = _read(tmp_path, table)

    told = {(str(row.case), str(row.judge)): row for row in table.itertuples()}
    for row, case in enumerate(log.cases.tolist()):
        assert log.classes[log.truth[row]] == "xyz"[int(case) % 3]
        for column, judge in enumerate(log.judges):
            code = log.answers[row, column]
            record = told.pop((case, judge), None)
            if record is None:
                assert code == UNASKED
                continue
            assert (log.classes[code] if code >= 0 else "") == record.answer
            assert code != UNASKED
            assert log.prices[row, column] == record.price
    assert not told


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        pytest.param("", {}, "is empty", id="empty"),
        pytest.param("case,judge,answer\n", {}, "has a header and no rows", id="no rows"),
        pytest.param("[]", {}, "got JSON that is an empty list", id="empty list"),
        pytest.param('{"a": 1}', {}, "got JSON that is an object with the fields 'a'", id="other JSON"),
        pytest.param('{"a": 1}\n[2]\n', {}, "JSON", id="a line that is a list"),
        pytest.param('{"a": 1}\n{"a"\n', {}, "line 2 must be JSON", id="a line that is cut"),
        pytest.param("[" * 10**5, {}, "nested too deeply", id="nested"),
        pytest.param('[{"case": ' + "9" * 10**6 + "}]", {}, "got case. Write", id="digits in JSON"),
        pytest.param(
            "case,judge,answer,target\n1,a,x,x\n1,a,y,x\n",
            {},
            "must have one answer of each judge on each case, got 1 more answer, first of judge 'a' on case '1'",
            id="an answer twice",
        ),
        pytest.param("case,judge,answer,target\n1,a,x,x\n1,b,y,y\n", {}, "must have one truth in all records", id="truths"),
        pytest.param(
            "case,judge,answer,price,target\n1,a,x,-1,x\n",
            {},
            "finite numbers of at least 0 as price, got -1 in record 1",
            id="negative price",
        ),
        pytest.param("case,judge,answer,price,target\n1,a,x,inf,x\n", {}, "got inf in record 1", id="infinite"),
        pytest.param("case,judge,answer,price,target\n1,a,x,cheap,x\n", {}, "got 'cheap'", id="price is a word"),
        pytest.param(
            'case,judge,answer,price,target\n1,a,x,"0,001 €",x\n2,a,x,gratis,x\n3,a,x,"0,002 €",x\n',
            {},
            "got 'gratis' in record 2, where others are written like '0,001 €'. Write all in one way",
            id="price is a word among prices",
        ),
        pytest.param(
            "case,judge,answer,price,target\n1,a,x,€ 5,x\n2,a,x,€ 6,x\n3,a,x,$ 7,x\n",
            {},
            "got '\\$ 7' in record 3, where others are written like '€ 5'",
            id="two currencies",
        ),
        pytest.param(
            "case,judge,answer,price,target\n1,a,x,1,x\n2,a,x," + "9" * 400 + ",x\n",
            {},
            "got (an integer of more than 20 digits|'9+\\.{3}) in record 2",  # text with an older PyArrow
            id="price of 400 digits",
        ),
        pytest.param("case,judge,answer,price,target\n1,a,x,1,x\n1,b,x,,x\n", {}, "got none for 'b'", id="no price of one"),
        pytest.param("case,judge,answer,target\n1,,x,x\n", {}, "must name the judge of every record", id="nobody"),
        pytest.param("a.label,a.confidence\n1,0.5\n", {}, "must have a column of the truth", id="pairs without truth"),
        pytest.param("id,target\n1,x\n", {}, "must have a column of answers for each judge", id="no judge"),
        pytest.param(WIDE, {"columns": LogColumns(target="trgt")}, "must have the column 'trgt'.*'target'", id="target"),
        pytest.param(LONG, {"form": "tall"}, "form must be", id="form"),
        pytest.param(WIDE, {"form": "long"}, "must have a column of the judge", id="not long"),
        pytest.param(WIDE, {"costs": {"a": 1}}, "costs must price every judge, got none for", id="no cost"),
        pytest.param(WIDE, {"costs": {"a": -1}}, "costs must have finite numbers", id="negative cost"),
        pytest.param("m:x,m:y,target\n0.9,0.9,x\n0.1,0.9,y\n", {}, "must add up to 1", id="probabilities"),
        pytest.param(WIDE, {"classes": ["x"]}, "classes must hold every label", id="classes"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_a_sentence(
    tmp_path: Path, content: str | pd.DataFrame, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        _read(tmp_path, content, **options)


def test_wide_logs_whose_cases_have_no_name_cannot_be_put_together(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,target\nx,x\ny,y\n")
    (tmp_path / "b.csv").write_text("b,target\nx,x\ny,y\n")
    with pytest.raises(BadInputError, match="must have a column that names the case"):
        read_log([tmp_path / "a.csv", tmp_path / "b.csv"])


@pytest.mark.parametrize("case", ["case", "Question", "item", "task", "id", "doc_id"])
def test_a_wide_table_may_call_its_cases_as_a_long_one_does(tmp_path: Path, case: str) -> None:
    log = _read(tmp_path, pd.DataFrame({case: ["p", "q"], "small": ["a", "b"], "target": ["a", "b"]}))
    assert log.judges == ("small",)
    assert log.cases.tolist() == ["p", "q"]
    assert f"case = {case!r}" in log.notes[0]


def test_a_bare_name_may_have_a_price_a_confidence_and_a_latency_beside_it(tmp_path: Path) -> None:
    told = {
        "id": ["p", "q"], "small": ["a", "b"], "small.price": [0.1, 0.2], "small.confidence": [0.9, 0.8],
        "large": ["a", "a"], "large.price": [2, 3], "large.latency": [1.5, 2],
        "target": ["a", "b"],
    }  # fmt: skip
    log = _read(tmp_path, pd.DataFrame(told))
    assert log.judges == ("small", "large")
    assert log.prices.tolist() == [[0.1, 2.0], [0.2, 3.0]]
    assert log.confidence is not None
    assert log.confidence[:, 0].tolist() == [0.9, 0.8]
    assert np.isnan(log.confidence[:, 1]).all()
    assert log.latency is not None
    assert log.latency[:, 1].tolist() == [1.5, 2.0]
