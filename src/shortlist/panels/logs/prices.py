"""Prices of calls in logs: by the judge's name, by tokens, or by the log of each call."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted, did_you_mean
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.json_content import is_json, listed, parsed_json
from shortlist.panels.logs.records import Records, numbers_of
from shortlist.tables.files import read_content, unpacked
from shortlist.tables.learning import read_table

INPUT_PRICE, OUTPUT_PRICE = "input_cost_per_token", "output_cost_per_token"
CACHED_PRICE, WRITTEN_PRICE = "cache_read_input_token_cost", "cache_creation_input_token_cost"
"""Names of LiteLLM's fields for the price of a token read from the cache, and of a token written to it."""


@dataclass(frozen=True)
class TokenPrices:
    """Prices of one token of a model; if `cached` or `to_cache` is None, the price `read` replaces it."""

    read: float
    write: float
    cached: float | None = None
    to_cache: float | None = None


def read_prices(costs: str | Path | Mapping[str, float], notes: list[str]) -> dict[str, float]:
    """Return prices by the judge's name, from a mapping or from a table with the columns name and cost."""
    if isinstance(costs, Mapping):
        names, prices, source = list(costs), list(costs.values()), "costs"
    else:
        table, source = read_table(costs, notes, words=("name", "judge")), str(costs)
        table.columns = [str(name).strip().casefold() for name in table.columns]
        key = "name" if "name" in table else "judge"
        if key not in table or "cost" not in table:
            raise BadFileError(
                source, "must have the columns name and cost", all_of(table.columns, most=8), "Rename them."
            )
        names, prices = table[key].tolist(), table["cost"].tolist()
    labels = [label_of(name) for name in names]
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise BadFileError(source, "must price each judge once", f"{twice[0]!r} twice", "Drop one line.")
    numbers = numbers_of(source, "price", prices)
    if np.isnan(numbers).any():
        without = labels[int(np.flatnonzero(np.isnan(numbers))[0])]
        raise BadFileError(
            source, "must have a price in every line", f"none for {without!r}", "Add it, or 0."
        )
    return dict(zip(labels, numbers.tolist(), strict=True))


def prices_by_name(
    judges: Sequence[str], told: NDArray[np.float64] | None, prices: dict[str, float], notes: list[str]
) -> NDArray[np.float64]:
    """Return the prices of judges by name, or otherwise the prices in the log, ``(n_rows, n_judges)``.

    Notes report prices that belong to no judge, and the number of prices in the log that are replaced.

    Raises BadInputError if a judge has no price by name and no price in the log.
    """
    by_name = np.array([prices.get(judge, np.nan) for judge in judges])
    known = np.zeros(len(judges), dtype=np.int64) if told is None else np.isfinite(told).sum(axis=0)
    missing = [judges[place] for place in np.flatnonzero(np.isnan(by_name) & (known == 0)).tolist()]
    if missing:
        raise BadInputError(
            "costs",
            "must price every judge",
            f"none for {listed(missing, most=8)}",
            did_you_mean(missing[0], prices) or "Add a price for each.",
        )
    others = [name for name in prices if name not in judges]
    if others:
        notes.append(f"The log has no judge for the prices of {listed(others, most=8)}.")
    if n_replaced := int(known[np.isfinite(by_name)].sum()):
        notes.append(f"The prices of {counted(n_replaced, 'call')} in the log are replaced by those given.")
    return by_name if told is None else np.where(np.isnan(by_name), told, by_name)


def read_token_prices(source: str | Path) -> dict[str, TokenPrices]:
    """Return prices per token by model, from LiteLLM's JSON or from a table of the same columns.

    Models without prices of tokens, such as models of images, are left out.

    Raises BadFileError if the file has another form, or a price is no number of at least 0.
    """
    import pandas as pd

    name, content = read_content(source)
    content = unpacked(name, content)
    if is_json(content):
        models = parsed_json(name, content, Counter())
        if not isinstance(models, dict):
            models = {}
        rows = [{"model": key, **one} for key, one in models.items() if isinstance(one, dict)]
        table = pd.DataFrame(rows, columns=["model", INPUT_PRICE, OUTPUT_PRICE, CACHED_PRICE, WRITTEN_PRICE])
        # one entry of LiteLLM's file describes its fields in words
        table = table[table["model"] != "sample_spec"]
    else:
        table = read_table(source, words=("model", "name")).rename(columns={"name": "model"})
    if not {"model", INPUT_PRICE, OUTPUT_PRICE} <= set(table.columns) or table.empty:
        raise BadFileError(
            name,
            f"must have {INPUT_PRICE} and {OUTPUT_PRICE} of each model",
            all_of(table.columns, most=8) if not is_json(content) else "other JSON",
            "Use LiteLLM's table of prices, or a table with the columns model and these two.",
        )
    columns = [
        numbers_of(name, "price", table[one]) if one in table else np.full(len(table), np.nan)
        for one in (INPUT_PRICE, OUTPUT_PRICE, CACHED_PRICE, WRITTEN_PRICE)
    ]
    told = zip(table["model"].astype(str), *(column.tolist() for column in columns), strict=True)
    found = {
        model: TokenPrices(read, write, *(None if math.isnan(one) else one for one in of_cache))
        for model, read, write, *of_cache in told
        if not math.isnan(read) and not math.isnan(write)
    }
    if not found:
        raise BadFileError(name, "must price at least one model", "none", "Fill in the prices.")
    return found


def token_prices_of(model: str, prices: Mapping[str, TokenPrices]) -> TokenPrices | None:
    """Return the token prices of a model; its name may begin with a provider, as in ``openai/gpt-4o``.

    If only names in the table begin with a provider, exactly one name in the table must end with the model.
    """
    places = [0, *(at + 1 for at, sign in enumerate(model) if sign in "/:")]
    for place in places:
        if model[place:] in prices:
            return prices[model[place:]]
    ends = [name for name in prices if name.endswith(f"/{model}")]
    return prices[ends[0]] if len(ends) == 1 else None


def priced_by_tokens(
    records: Records, token_prices: str | Path, notes: list[str], *, has_costs: bool = False
) -> Records:
    """Set the prices of records from their numbers of tokens and a table of prices per model.

    Notes name models without prices, and count calls without numbers of tokens.

    Raises BadFileError if the table cannot be used. Raises BadInputError if the table prices no call, and the
    calls have no other price.

    `has_costs`: whether judges have prices by name too.
    """
    frame, prices, source = records.frame, read_token_prices(token_prices), str(token_prices)
    models = frame["model"].where(frame["model"].notna(), frame["judge"])
    found = {model: token_prices_of(str(model), prices) for model in models.unique().tolist()}
    rates = np.array(
        [
            (one.read, one.write, _or(one.cached, one.read), _or(one.to_cache, one.read))
            if one is not None
            else (np.nan,) * 4
            for one in map(found.get, models.tolist())
        ]
    )
    tokens = frame[["input_tokens", "output_tokens", "cached_tokens", "written_tokens"]].to_numpy(
        float, copy=True
    )
    tokens[:, 2:] = np.nan_to_num(tokens[:, 2:])
    by_tokens = (rates * tokens).sum(axis=1)
    unknown = [str(model) for model, one in found.items() if one is None]
    untold = np.isnan(tokens[:, :2]).any(axis=1)
    price = np.where(np.isnan(by_tokens), frame["price"].to_numpy(float), by_tokens)
    if np.isnan(price).all() and not has_costs:
        if untold.all():
            raise _without_tokens(records)
        raise BadInputError(
            source,
            "must have prices per token of the log's models",
            f"none of {listed(unknown, most=8)}",
            did_you_mean(unknown[0], prices) or "Add them.",
        )
    if unknown:
        notes.append(f"{source} has no prices per token of {listed(unknown, most=8)}.")
    if n_untold := int(untold.sum()):
        notes.append(f"{counted(n_untold, 'call')} of the log have no numbers of tokens.")
    return replace(records, frame=frame.assign(price=price))


def _without_tokens(records: Records) -> BadInputError:
    told = [name for name in records.columns if "token" in name.casefold()]
    places = f"; its columns are {listed(told or records.columns)}"
    return BadInputError(
        records.source,
        "must have the numbers of tokens that each call read and wrote, as prices per token are given",
        f"no such numbers{places if records.columns else ''}",
        (
            "Name columns of a table with a row for each answer by `input_tokens='NAME'` and "
            "`output_tokens='NAME'`, or give the price of a call of each judge by `costs`."
        )
        if records.columns
        else "Give the price of a call of each judge by `costs` instead.",
    )


def _or(price: float | None, other: float) -> float:
    return other if price is None else price
