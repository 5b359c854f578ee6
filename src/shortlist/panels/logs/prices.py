"""What calls cost: by the judge's name, by tokens, or as the log tells it of each call."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted, did_you_mean
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.json_content import is_json, parsed_json
from shortlist.panels.logs.records import Records, numbers_of
from shortlist.tables.files import read_content, unpacked
from shortlist.tables.learning import read_table

if TYPE_CHECKING:
    import pandas as pd

INPUT_PRICE, OUTPUT_PRICE = "input_cost_per_token", "output_cost_per_token"
CACHED_PRICE, WRITTEN_PRICE = "cache_read_input_token_cost", "cache_creation_input_token_cost"
"""Fields of a table of prices per token, as LiteLLM calls them; the latter two are those of the cache."""


@dataclass(frozen=True)
class TokenPrices:
    """Prices of one token of a model; None of `cached` and `to_cache`: the price of reading."""

    read: float
    write: float
    cached: float | None = None
    to_cache: float | None = None


def priced(
    records: Records,
    notes: list[str],
    *,
    costs: str | Path | Mapping[str, float] | None = None,
    token_prices: str | Path | None = None,
) -> Records:
    """Return records with prices: of `costs`, or else by their tokens, or else as the log tells them.

    Raises BadInputError if there are costs but none for some judge without other prices, or a table cannot be
    read.
    """
    frame = records.frame
    if token_prices is not None:
        frame = _priced_by_tokens(frame, read_token_prices(token_prices), str(token_prices), notes)
    if costs is not None:
        frame = _priced_by_name(frame, read_prices(costs, notes), notes)
    return replace(records, frame=frame)


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


def _priced_by_name(frame: "pd.DataFrame", prices: dict[str, float], notes: list[str]) -> "pd.DataFrame":
    by_name = frame["judge"].map(prices)
    told = set(frame["judge"][frame["price"].notna()])
    n_replaced = int((by_name.notna() & frame["price"].notna()).sum())
    _check_priced(frame["judge"].unique().tolist(), told, prices, n_replaced, notes)
    return frame.assign(price=by_name.fillna(frame["price"]))


def prices_by_name(
    judges: Sequence[str],
    told: NDArray[np.float64] | None,
    prices: dict[str, float],
    notes: list[str],
) -> NDArray[np.float64]:
    """Return the prices of judges by name, or else those that a log tells, ``(n_rows, n_judges)``.

    Raises BadInputError if a judge has neither.
    """
    by_name = np.array([prices.get(judge, np.nan) for judge in judges])
    known = np.zeros(len(judges), dtype=np.int64) if told is None else np.isfinite(told).sum(axis=0)
    with_own = {judge for judge, count in zip(judges, known.tolist(), strict=True) if count}
    _check_priced(judges, with_own, prices, int(known[np.isfinite(by_name)].sum()), notes)
    return by_name if told is None else np.where(np.isnan(by_name), told, by_name)


def _check_priced(
    judges: Sequence[str], told: set[str], prices: dict[str, float], n_replaced: int, notes: list[str]
) -> None:
    """Refuse prices by name that leave a judge without any, and note those that are of none."""
    missing = [judge for judge in judges if judge not in prices and judge not in told]
    if missing:
        raise BadInputError(
            "costs",
            "must price every judge",
            f"none for {all_of(map(repr, missing), most=8)}",
            did_you_mean(missing[0], prices) or "Add a price for each.",
        )
    others = [name for name in prices if name not in judges]
    if others:
        notes.append(f"The prices of {all_of(map(repr, others), most=8)} are of no judge in the log.")
    if n_replaced:
        notes.append(f"The prices of {counted(n_replaced, 'call')} in the log are replaced by those given.")


def read_token_prices(source: str | Path) -> dict[str, TokenPrices]:
    """Return prices per token by model, from LiteLLM's JSON or from a table of the same columns.

    Models without a price of what they read and write, such as those of images, are left out.

    Raises BadFileError if the file is neither, or a price is no number of at least 0.
    """
    import pandas as pd

    name, content = read_content(source)
    content = unpacked(name, content)
    if is_json(content):
        models = parsed_json(name, content)
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
            f"must tell {INPUT_PRICE} and {OUTPUT_PRICE} of each model",
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
    """Return the prices of a model; its name may begin with its provider, as in ``openai/gpt-4o``.

    Where the table has only such names, the model must be that of one alone.
    """
    places = [0, *(at + 1 for at, sign in enumerate(model) if sign in "/:")]
    for place in places:
        if model[place:] in prices:
            return prices[model[place:]]
    ends = [name for name in prices if name.endswith(f"/{model}")]
    return prices[ends[0]] if len(ends) == 1 else None


def _priced_by_tokens(
    frame: "pd.DataFrame", prices: Mapping[str, TokenPrices], source: str, notes: list[str]
) -> "pd.DataFrame":
    """Price the records that tell the tokens of a model in the table; count the others."""
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
    if unknown:
        notes.append(f"{source} has no prices per token of {all_of(map(repr, unknown), most=8)}.")
    n_untold = int(np.isnan(tokens[:, :2]).any(axis=1).sum())
    if n_untold:
        notes.append(f"{counted(n_untold, 'call')} of the log tell no numbers of tokens.")
    return frame.assign(price=np.where(np.isnan(by_tokens), frame["price"].to_numpy(float), by_tokens))


def _or(price: float | None, other: float) -> float:
    return other if price is None else price
