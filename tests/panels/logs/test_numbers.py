"""Numbers in logs: labels that are compared as numbers, and prices by name and by token."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.candidates import FALLBACKS, SINGLE, shape_of
from shortlist.panels.choice import choose_panels
from shortlist.panels.logs.prices import TokenPrices, token_prices_of
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from shortlist.tables.numbers import CellRules
from tests.stored import Stored


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(text)
    return path


def test_one_word_among_numbers_of_a_judge_leaves_the_others_numbers(tmp_path: Path, stored: Stored) -> None:
    rows = "".join(f'c{at},"{said}","1,200.0","{truth}"\n' for at, said, truth in LABELS)
    log = read_log(written(tmp_path, f"case,best,other,target\n{rows}"))
    assert log.is_right.sum(axis=0).tolist() == [2, 1]
    assert not any("taken for words" in note for note in log.notes)
    stored(*log.notes)


LABELS = [(1, "1,200", "1,200"), (2, "unknown", "2,500.5"), (3, "2,500.50", "2,500.5")]


def test_a_word_in_the_truth_changes_nothing_either(tmp_path: Path) -> None:
    rows = "case,judge,answer,target\n1,a,$5,$5\n2,a,$10,$10\n3,a,$5,unknown\n"
    assert read_log(written(tmp_path, rows)).is_right[:, 0].tolist() == [True, True, False]


def test_words_with_few_numbers_stay_as_they_are(tmp_path: Path) -> None:
    rows = "case,judge,answer,target\n1,a,007,007\n2,a,x,y\n3,a,y,x\n4,a,z,z\n"
    assert "007" in read_log(written(tmp_path, rows)).classes


def test_a_number_among_words_that_may_be_either_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, 'case,judge,answer,target\n1,a,"1,200",1200\n2,a,none of them,7\n')
    with pytest.raises(BadFileError, match=r"'1,200' in column 'answer', which is 1200 or 1\.200"):
        read_log(path)


def test_numbers_of_a_truth_in_another_file_are_compared_as_numbers(tmp_path: Path) -> None:
    log = written(tmp_path, 'case,judge,answer\n1,a,"1,200.0"\n2,a,two\n3,a,three\n4,a,four\n')
    truth = tmp_path / "truth.csv"
    truth.write_text("case,truth\n1,1200\n2,7\n3,8\n")
    assert read_log(log, truth=truth).is_right[:, 0].tolist() == [True, False, False, False]
    log.write_text("case,judge,answer\n1,a,1200\n2,a,7\n3,a,8\n4,a,unknown\n")
    truth.write_text('case,truth\n1,"1,200.0"\n2,seven\n3,eight\n4,none\n')
    assert read_log(log, truth=truth).is_right[:, 0].tolist() == [True, False, False, False]


def test_decimal_commas_tell_the_notation_in_json_too(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    rows = [("1.200", "1.200", "1,50 €"), ("1.300,50", "1.300,50", "2,25 €"), ("error", "7", "$3")]
    told = [
        {"case": at, "judge": "a", "answer": said, "target": truth, "price": price.replace("$3", "3 €")}
        for at, (said, truth, price) in enumerate(rows)
    ]
    path.write_text(json.dumps(told))
    log = read_log(path)
    assert log.classes == ("7", "1200", "1300.5")
    assert log.is_right[:, 0].tolist() == [True, True, False]
    assert log.prices[:, 0].tolist() == [1.5, 2.25, 3.0]


def test_a_decimal_that_is_named_holds_for_json(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    rows = [{"case": at, "judge": "a", "answer": "x", "price": "1,234"} for at in range(2)]
    path.write_text(json.dumps(rows))
    for decimal, price in (("point", 1234.0), ("comma", 1.234)):
        assert read_log(path, rules=CellRules(decimal=decimal)).prices[0].tolist() == [price]


def test_a_price_is_told_by_a_word_of_its_name_if_it_differs_within_a_case(
    tmp_path: Path, stored: Stored
) -> None:
    head = "Question ID,Model,Output,Expected,Our cost,shop price\n"
    rows = "".join(
        f"q{at},{judge},{'yn'[at % 2]},y,${price},{at}\n"
        for at in range(12)
        for judge, price in (("a", 0.01), ("b", 0.02))
    )
    log = read_log(written(tmp_path, head.replace("shop price", "size") + rows))
    np.testing.assert_allclose(log.prices[0], [0.01, 0.02])
    log = read_log(written(tmp_path, head + rows))
    stored(*log.notes)
    assert not any("A router may use" in note for note in log.notes)


def test_a_table_of_answers_with_unusual_names_is_told_which_to_name(tmp_path: Path) -> None:
    rows = "".join(f"n{at},{who},{'xy'[at % 2]},x\n" for at in range(60) for who in ("gpt", "claude"))
    path = written(tmp_path, f"conversation,who,verdict,gold\n{rows}")
    with pytest.raises(BadFileError, match="`case='conversation'`, `judge='who'` and `answer='verdict'`"):
        read_log(path)
    named = LogColumns(case="conversation", judge="who", answer="verdict")
    assert read_log(path, columns=named).judges == ("gpt", "claude")


def test_a_column_with_the_words_of_the_answers_may_be_the_truth(tmp_path: Path) -> None:
    rows = "".join(f"{at},{judge},{'xy'[at % 2]},{'xy'[at % 2]}\n" for at in range(30) for judge in "ab")
    log = read_log(written(tmp_path, f"case,judge,answer,label\n{rows}"))
    with pytest.raises(BadInputError, match="If it is the truth, pass `target='label'`"):
        choose_panels(log)


def test_of_scores_alone_with_equal_confidences_only_single_judges_are_searched(
    tmp_path: Path, stored: Stored
) -> None:
    rows = "".join(
        f"{at},{judge},{int(at % (place + 2) > 0)},0.5\n"
        for at in range(60)
        for place, judge in enumerate("abc")
    )
    log = read_log(written(tmp_path, f"case,judge,score,confidence\n{rows}"))
    stored(*log.notes)
    assert shape_of(choose_panels(log).cases).families == (SINGLE, FALLBACKS)


def test_by_majority_scores_and_confidences_are_those_of_the_answer(tmp_path: Path) -> None:
    head = "case,judge,answer,score,confidence,target\n"
    rows = "c,x,A,1,0.9,A\nc,x,A,1,0.7,A\nc,x,B,0,0.1,A\nc,x,C,0,0.1,A\nc,x,D,0,0.1,A\n"
    path = written(tmp_path, head + rows)
    log = read_log(path, columns=LogColumns(repeats="majority"))
    assert log.is_right.tolist() == [[True]]
    assert log.confidence is not None
    assert log.confidence.tolist() == [[pytest.approx(0.8)]]
    numbers = rows.replace("A", "1").replace("B", "2").replace("C", "3").replace("D", "4")
    path.write_text(head + numbers)
    with pytest.raises(BadFileError, match=r"must have no scores.*Pass `repeats='majority'`"):
        read_log(path, columns=LogColumns(repeats="mean"))


SAMPLES = Path(__file__).parent / "samples"
EVALS = [SAMPLES / "mini.eval", SAMPLES / "large.eval"]


def _read(folder: Path, **options: Any) -> AnswerLog:
    (folder / "log.csv").write_text("a,b,target\nx,x,x\ny,x,y\n")
    return read_log(folder / "log.csv", **options)


def _prices_per_token(tmp_path: Path, prices: dict[str, Any]) -> Path:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"sample_spec": {"input_cost_per_token": "a number"}, **prices}))
    return file


def test_tokens_are_priced_by_the_model_with_or_without_its_provider(tmp_path: Path) -> None:
    prices = _prices_per_token(
        tmp_path,
        {
            "mockllm/mini": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5},
            "large": {"input_cost_per_token": 3e-6, "output_cost_per_token": 2e-5, "mode": "chat"},
            "painter": {"input_cost_per_image": 0.1},
        },
    )
    log = read_log(EVALS, token_prices=prices)

    assert log.prices == pytest.approx(np.tile([100e-6 + 10e-5, 300e-6 + 20e-5], (10, 1)))


def test_models_without_a_price_per_token_are_named(tmp_path: Path, stored: Stored) -> None:
    prices = _prices_per_token(
        tmp_path, {"mini": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5}}
    )
    with pytest.raises(BadInputError, match="prices must be known for every judge, or for none, got none"):
        read_log(EVALS, token_prices=prices)

    log = read_log(EVALS, token_prices=prices, costs={"mockllm/large": 0.5})
    assert log.prices[0].tolist() == pytest.approx([2e-4, 0.5])
    stored(*log.notes)


@pytest.mark.parametrize(
    ("kind", "prices", "message"),
    [
        ("costs", "name,cost\na,1\na,2\nb,1\n", "must price each judge once, got 'a' twice"),
        ("costs", "name,cost\na,\nb,1\n", "must have a price in every line, got none for 'a'"),
        ("costs", "who,cost\na,1\n", "must have the columns name and cost"),
        ("costs", "name,cost\na,x\n", "finite numbers of at least 0 as price"),
        ("token_prices", "{}", "must have input_cost_per_token"),
        ("token_prices", "[1]", "must have input_cost_per_token"),
        ("token_prices", json.dumps({"m": {"input_cost_per_token": -1, "output_cost_per_token": 1}}), "at least 0"),
        ("token_prices", json.dumps({"m": {"mode": "image"}}), "must price at least one model"),
    ],
)  # fmt: skip
def test_tables_of_prices_that_cannot_be_used_are_refused(
    tmp_path: Path, kind: str, prices: str, message: str
) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(prices)
    with pytest.raises(BadFileError, match=message):
        _read(tmp_path, **{kind: file})


@pytest.mark.parametrize(
    ("model", "price"),
    [
        pytest.param("gpt", 1.0, id="as it is called"),
        pytest.param("azure/gpt", 4.0, id="with its provider in the table"),
        pytest.param("proxy/azure/gpt", 4.0, id="behind another provider"),
        pytest.param("openai:gpt", 1.0, id="with a provider that the table does not name"),
        pytest.param("claude", 2.0, id="with a provider in the table alone"),
        pytest.param("llama", None, id="of two providers"),
        pytest.param("gp", None, id="a part of a name"),
    ],
)
def test_a_model_is_found_with_and_without_its_provider(model: str, price: float | None) -> None:
    reads = {"gpt": 1.0, "anthropic/claude": 2.0, "a/llama": 3.0, "b/llama": 3.0, "azure/gpt": 4.0}
    table = {name: TokenPrices(read, 0.0) for name, read in reads.items()}
    found = token_prices_of(model, table)

    assert (found and found.read) == price


WRITTEN = {
    "people": ("tokens_in", "tokens_out"),
    "LiteLLM": ("prompt_tokens", "completion_tokens"),
    "OpenAI": ("input_tokens", "output_tokens"),
    "OpenAI's usage": ("usage.prompt_tokens", "usage.completion_tokens"),
    "Langfuse": ("promptTokens", "completionTokens"),
    "Langfuse's usage": ("usageDetails.input", "usageDetails.output"),
    "OpenTelemetry": ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    "OpenTelemetry before": ("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"),
    "promptfoo": ("tokenUsage.prompt", "tokenUsage.completion"),
    "OpenInference": ("llm.token_count.prompt", "llm.token_count.completion"),
}
"""Columns of numbers of tokens, by the tool that writes them."""
PER_TOKEN = {one: {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5} for one in "ab"}


def _with_tokens(names: tuple[str, ...]) -> str:
    rows = [f"{case},{judge},x,x,{100 + case},{7 - case}\n" for case in range(3) for judge in "ab"]
    return f"case,judge,answer,target,{','.join(names)}\n{''.join(rows)}"


@pytest.mark.parametrize("names", WRITTEN.values(), ids=WRITTEN)
def test_numbers_of_tokens_are_found_as_tools_call_them(tmp_path: Path, names: tuple[str, str]) -> None:
    log = read_log(
        written(tmp_path, _with_tokens(names)), token_prices=_prices_per_token(tmp_path, PER_TOKEN)
    )
    assert log.prices[:, 0] == pytest.approx([100e-6 + 7e-5, 101e-6 + 6e-5, 102e-6 + 5e-5])


def test_prices_per_token_without_numbers_of_tokens_are_refused(tmp_path: Path) -> None:
    log, prices = written(tmp_path, _with_tokens(("size", "more"))), _prices_per_token(tmp_path, PER_TOKEN)
    with pytest.raises(BadInputError, match="must have the numbers of tokens that each call read and wrote"):
        read_log(log, token_prices=prices)
    columns = LogColumns(input_tokens="size", output_tokens="more")
    named = read_log(log, token_prices=prices, columns=columns)
    assert named.prices[0, 0] == pytest.approx(100e-6 + 7e-5)
    by_name = read_log(log, token_prices=prices, costs={"a": 1.0, "b": 2.0})
    assert by_name.prices[0].tolist() == [1.0, 2.0]


def test_prices_per_token_of_other_models_are_refused(tmp_path: Path) -> None:
    prices = _prices_per_token(tmp_path, {"aa": PER_TOKEN["a"]})
    with pytest.raises(BadInputError, match="prices per token of the log's models, got none of 'a' and 'b'"):
        read_log(written(tmp_path, _with_tokens(WRITTEN["people"])), token_prices=prices)


def test_the_shared_table_of_tokens_is_priced(data_folder: Path) -> None:
    folder = data_folder / "judges" / "cases"
    log = read_log(folder / "token-columns.csv", token_prices=folder / "token-prices.csv")
    row, column = log.cases.tolist().index("T00049"), log.judges.index("coder")
    assert log.prices[row, column] == pytest.approx(719 * 7.2e-6 + 8 * 3.6e-5)
    assert (log.prices > 0).all()


def _rated(rng: np.random.Generator, n_cases: int, spread: float, most: int) -> str:
    truths = rng.integers(0, most, n_cases)
    rows = [
        f"{case},{judge},{round(truth + rng.normal(0, spread))},{truth}\n"
        for case, truth in enumerate(truths)
        for judge in "ab"
    ]
    return f"case,judge,answer,target\n{''.join(rows)}"


def test_ratings_are_refused_and_other_numbers_are_answers(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for spread in (2.0, 5.0, 10.0):
        with pytest.raises(BadInputError, match="these look like ratings"):
            read_log(written(tmp_path, _rated(rng, 100, spread, 100)))
    assert read_log(written(tmp_path, _rated(rng, 100, 0.3, 100))).is_right.mean() > 0.8
    assert len(read_log(written(tmp_path, _rated(rng, 100, 2.0, 10))).cases) == 100  # few classes
    # problems of mathematics: whatever is wrong is far away, or the numbers are on no scale
    problems = [(case, truth, truth if rng.random() < 0.3 else rng.integers(0, 100))
                for case, truth in enumerate(rng.integers(0, 100, 100))]  # fmt: skip
    rows = "".join(f"{case},a,{said},{truth}\n" for case, truth, said in problems)
    assert read_log(written(tmp_path, f"case,judge,answer,target\n{rows}")).is_open
    assert read_log(written(tmp_path, _rated(rng, 100, 20.0, 1000))).is_open


def test_ratings_of_which_the_log_says_what_is_right_are_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    header, *rows = _rated(rng, 100, 5.0, 100).splitlines()
    scored = "".join(f"{row},{int(at % 3 > 0)}\n" for at, row in enumerate(rows))
    log = read_log(written(tmp_path, f"{header},score\n{scored}"))
    assert 0.5 < log.is_right.mean() < 0.8


def test_the_shared_ratings_are_refused(data_folder: Path) -> None:
    with pytest.raises(BadInputError, match="49 different numbers in 80 cases"):
        read_log(data_folder / "judges" / "cases" / "ratings-0-100" / "ratings.csv")
