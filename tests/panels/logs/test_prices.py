"""Prices by name and by token."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.prices import TokenPrices, token_prices_of
from shortlist.panels.logs.reading import read_log

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


def test_models_without_a_price_per_token_are_named(tmp_path: Path) -> None:
    prices = _prices_per_token(
        tmp_path, {"mini": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5}}
    )
    with pytest.raises(
        BadInputError, match="prices must be known for every judge, or for none, got none for"
    ):
        read_log(EVALS, token_prices=prices)

    log = read_log(EVALS, token_prices=prices, costs={"mockllm/large": 0.5})
    assert log.prices[0].tolist() == pytest.approx([2e-4, 0.5])
    assert any("has no prices per token of 'mockllm/large'" in note for note in log.notes)


@pytest.mark.parametrize(
    ("kind", "prices", "message"),
    [
        ("costs", "name,cost\na,1\na,2\nb,1\n", "must price each judge once, got 'a' twice"),
        ("costs", "name,cost\na,\nb,1\n", "must have a price in every line, got none for 'a'"),
        ("costs", "who,cost\na,1\n", "must have the columns name and cost"),
        ("costs", "name,cost\na,x\n", "finite numbers of at least 0 as price"),
        ("token_prices", "{}", "must tell input_cost_per_token"),
        ("token_prices", "[1]", "must tell input_cost_per_token"),
        (
            "token_prices",
            json.dumps({"m": {"input_cost_per_token": -1, "output_cost_per_token": 1}}),
            "at least 0",
        ),
        ("token_prices", json.dumps({"m": {"mode": "image"}}), "must price at least one model"),
    ],
)
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
