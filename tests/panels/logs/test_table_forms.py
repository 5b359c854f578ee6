"""Form of a table of answers: found by structure, named first, or refused with the columns to name."""

import json
from pathlib import Path

import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from tests.stored import Stored


def rows_of(case: str, judge: str, answer: str, n_cases: int = 12) -> str:
    header = f"{case},{judge},{answer},usd\n"
    lines = []
    for number in range(n_cases):
        for place, name in enumerate(("gpt-x", "mini", "nano")):
            word = "yes" if (number * (place + 2)) % 3 else "no"
            lines.append(f"q{number},{name},{word},{0.1 * (place + 1)}\n")
    return header + "".join(lines)


@pytest.mark.parametrize(
    ("case", "judge", "answer"),
    [
        ("question_id", "model", "label"),
        ("ticket", "model", "reply"),
        ("QuestionID", "model_name", "prediction"),
        ("doc", "LLM", "said"),
        ("example_number", "annotator", "choice"),
        ("id", "worker_id", "answer"),
    ],
)
def test_a_row_for_each_answer_is_told_by_repeating_cases_and_few_judges(
    case: str, judge: str, answer: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(rows_of(case, judge, answer))
    log = read_log(path)
    assert log.judges == ("gpt-x", "mini", "nano")
    assert len(log.cases) == 12
    assert log.classes == ("no", "yes")
    assert log.prices[0].tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert f"case = {case!r}, judge = {judge!r}, answer = {answer!r}" in log.notes[0]


def test_what_may_be_read_in_two_ways_is_refused_with_the_columns_to_name(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    text = rows_of("ticket", "model", "first").splitlines()
    path.write_text("\n".join([f"{text[0]},second", *(f"{line},{line.split(',')[2]}" for line in text[1:])]))
    with pytest.raises(BadFileError, match=r"\(case = 'ticket', judge = 'model'\).*'first' or 'second'"):
        read_log(path)
    assert read_log(path, columns=LogColumns(answer="second")).judges == ("gpt-x", "mini", "nano")


def test_columns_of_one_row_a_case_may_be_called_like_roles(tmp_path: Path, stored: Stored) -> None:
    rows = [f"c{number},{'yn'[number % 2]},{'yn'[number % 3 > 0]},{'yn'[number % 2]}" for number in range(30)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(["case,model,rater,label", *rows]))
    log = read_log(path)
    assert log.judges == ("model", "rater")
    stored(*log.notes)


def test_the_shared_tables_of_crowd_platforms_are_read_as_what_they_are(data_folder: Path) -> None:
    folder = data_folder / "judges" / "cases"
    toloka = read_log(folder / "toloka.tsv")
    assert len(toloka.judges) == 3
    assert len(toloka.cases) == 40
    assert toloka.classes == ("bad", "good")
    assert (toloka.truth >= 0).all()
    studio = read_log(folder / "label-studio.csv", columns=LogColumns())
    assert studio.judges == ("p0@example.org", "p1@example.org", "p2@example.org")
    assert len(studio.cases) == 40
    assert "case = 'id', judge = 'annotator', answer = 'sentiment'" in studio.notes[0]
    turk = read_log(folder / "mturk.csv")
    assert turk.judges == ("w0", "w1", "w2")
    assert set(turk.prices.ravel().tolist()) == {0.05}
    assert (turk.truth >= 0).all()


def test_words_are_no_gaps_in_the_shared_cases(data_folder: Path) -> None:
    folder = data_folder / "judges" / "cases"
    for name in ("label-none.csv", "label-none.json"):
        log = read_log(folder / name)
        assert len(log.cases) == 60
        assert log.classes == ("None", "fine", "spam")
        assert (log.answers >= 0).all()


def test_several_columns_of_answers_of_a_platform_are_named(tmp_path: Path) -> None:
    path = tmp_path / "toloka.tsv"
    path.write_text(
        "INPUT:text\tOUTPUT:a\tOUTPUT:b\tGOLDEN:b\tASSIGNMENT:task_id\tASSIGNMENT:worker_id\n"
        "t\tx\ty\ty\tt0\tw0\nt\ty\ty\ty\tt0\tw1\n"
    )
    with pytest.raises(BadFileError, match=r"got 'OUTPUT:a' and 'OUTPUT:b'\..*`answer=NAME`"):
        read_log(path)
    log = read_log(path, columns=LogColumns(answer="OUTPUT:b"))
    assert log.truth.tolist() == [log.classes.index("y")]


def test_label_studios_short_json_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "min.json"
    rows = [
        {"id": case, "text": f"t{case}", "sentiment": word, "annotator": judge, "annotation_id": case * 2 + judge,
         "created_at": "2026", "updated_at": "2026", "lead_time": 1.5}
        for case in range(3) for judge, word in enumerate(("good", "bad"))
    ]  # fmt: skip
    path.write_text(json.dumps(rows))
    log = read_log(path)
    assert log.judges == ("0", "1")
    assert log.answers.tolist() == [[1, 0]] * 3
    assert log.latency is not None


def battles() -> str:
    rows = [f"q{n},{'xyz'[n % 3]},{'uv'[n % 2]},{('model_a', 'tie')[n % 2]},1,1.0" for n in range(60)]
    return "\n".join(["question_id,model_a,model_b,winner,turn,tstamp", *rows])


def measured() -> str:
    rows = [f"q{n},resp {n},ref {n},{n / 97:.3f},{n / 89:.3f}" for n in range(40)]
    return "\n".join(["user_input,response,reference,faithfulness,relevancy", *rows])


def traced() -> str:
    rows = [f"u{n},q{n},{'ab'[n % 2]},{'ab'[n % 3 > 0]},0.5," for n in range(40)]
    return "\n".join(["id,inputs,outputs,reference_outputs,seconds,error", *rows])


def rated() -> str:
    rows = [
        f"t{n},id{n},{who},{int((n + who) % 3 == 0)},{(n + who) % 2}" for n in range(30) for who in range(3)
    ]
    return "\n".join(["text,id,rater_id,joy,anger", *rows])


def judged() -> str:
    rows = [f"{n},{m},text {n},{n % 10 + 1}" for n in range(30) for m in "ab"]
    return "\n".join(["question_id,model,judgment_text,score", *rows])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(battles(), "'winner', 'turn' and 'tstamp', none of which ever agrees", id="battles of an arena"),
        pytest.param(measured(), "got none of them in 'user_input', 'response', 'faithfulness'", id="metrics of answers"),
        pytest.param(traced(), "got 'outputs' and 'reference_outputs', which may be it", id="traces"),
        pytest.param(rated(), "whose answers are in 'joy' or 'anger'", id="several questions a rater"),
        pytest.param(judged(), "must have scores from 0 to 1", id="marks from 1 to 10"),
    ],
)  # fmt: skip
def test_tables_of_other_tools_are_refused_with_what_to_name(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(BadFileError, match=message):
        read_log(path)


def test_a_column_beside_the_annotator_that_says_the_same_does_not_hide_the_form(tmp_path: Path) -> None:
    rows = [
        {"text": f"t{n}", "_task_hash": n, "answer": ["accept", "reject"][(n + len(who)) % 2],
         "_session_id": f"ds-{who}", "_annotator_id": f"ds-{who}", "_view_id": "classification"}
        for n in range(20) for who in ("ann", "bo")
    ]  # fmt: skip
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    log = read_log(path)
    assert log.judges == ("ds-ann", "ds-bo")
    assert log.classes == ("accept", "reject")


@pytest.mark.parametrize("last", [("1", "0.5"), ("0", "1")], ids=["fractions", "never right"])
def test_counts_of_votes_are_no_answers_and_their_share_no_truth(
    last: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "counts.csv"
    rows = [f"t{n},{('1', '0')[n % 2]},{('3', '2')[n % 2]},{last[n % 2]}" for n in range(30)]
    path.write_text("track_id,no,yes,rate\n" + "\n".join(rows) + "\n")
    with pytest.raises(BadFileError, match="'no', 'yes' and 'rate', none of which ever agrees with another"):
        read_log(path)
    assert read_log(path, columns=LogColumns(target="rate")).judges == (
        "no",
    )  # no word of it is in the other


@pytest.mark.parametrize("form", ["long", "wide"])
def test_a_column_is_not_dropped_and_read_by_a_router(form: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    long, wide = "case,judge,answer,topic,target\n1,a,x,t,x\n", "case,a,b,topic,target\n1,x,y,t,x\n"
    path.write_text(long if form == "long" else wide)
    with pytest.raises(BadInputError, match="column 'topic' cannot be dropped and read by the router"):
        read_log(path, columns=LogColumns(features=("topic",), drop=("topic",)))
