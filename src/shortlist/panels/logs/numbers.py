"""Numbers in logs: answers and truths that are compared as numbers, and what calls cost.

Prices are told by the judge's name, by tokens, or by the log of each call.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted, did_you_mean
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import AnswerLog, label_of
from shortlist.panels.logs.json_content import is_json, listed, parsed_json
from shortlist.panels.logs.records import Records, numbers_of
from shortlist.tables.files import read_content, unpacked
from shortlist.tables.learning import MOST_NUMBERS, ROWS_PER_NUMBER, read_table
from shortlist.tables.numbers import (
    AGREED,
    COMMA,
    DECIMALS,
    POINT,
    CellRules,
    agreed_notation,
    as_plain,
    told_numbers,
)

if TYPE_CHECKING:
    import pandas as pd


BESIDE_NUMBERS = "beside numbers"
"""Attribute of a table: whether another file tells its truths or answers, and these are numbers."""


def with_plain_cells(name: str, table: "pd.DataFrame", notes: list[str], rules: CellRules) -> "pd.DataFrame":
    """Return a table of JSON or Parquet in which columns of numbers as people write them are plain numbers.

    Texts that are plain numbers already stay texts, as they may be names. Raises BadFileError if a column may
    be read in two ways.
    """
    texts = {str(column): _texts(table[column]) for column in table if table[column].dtype.kind in "OTU"}
    texts = {column: cells for column, cells in texts.items() if cells}
    found = told_numbers(name, texts, notes, rules=rules, separator=" ")
    agreed = agreed_notation(texts, rules=rules, separator=" ")
    for column, plain in found.items():
        if any(number != text.strip() for text, number in plain.items()):
            numbers = {text: _value(number) if number else None for text, number in plain.items()}
            table = table.assign(**{column: _replaced(table[column], numbers)})
    table.attrs[AGREED] = agreed
    return table


def _texts(column: "pd.Series[Any]") -> list[str]:
    """Return the different texts of a column that has no truth values, lists or objects."""
    cells = column.dropna().tolist()
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in cells):
        return []
    return [*dict.fromkeys(one for one in cells if isinstance(one, str))]


def holds_numbers(table: "pd.DataFrame", names: Sequence[str]) -> bool:
    """Whether at least half of the different labels of one of some columns are numbers."""
    for name in names:
        told = table[name].dropna()
        different, numbers = _different(told)
        is_number = told.dtype.kind in "iuf" and not told.empty
        if is_number or (numbers and 2 * len(numbers) >= len(different)):
            return True
    return False


def _different(told: "pd.Series[Any]") -> tuple[list[str], list[str]]:
    """Return the different texts of a column, and those that are numbers."""
    if told.dtype.kind in "iuf":
        return [], []
    different = [*dict.fromkeys(one for one in told.tolist() if isinstance(one, str) and one.strip())]
    return different, [one for one in different if any(as_plain(one, each) for each in DECIMALS)]


def with_number_labels(
    source: str, table: "pd.DataFrame", names: Sequence[str], notes: list[str]
) -> "pd.DataFrame":
    """Return a table in which every number among answers and truths is a number.

    Columns of numbers alone were read as such before. Without this, one word among the answers of a judge
    would leave ``"1,200"`` a word that no truth of 1200 equals. Nothing is changed unless at least half of
    the different labels of one of the columns are numbers, or labels of another file are.

    Raises BadFileError if a cell may be read in two ways.
    """
    if not table.attrs.get(BESIDE_NUMBERS) and not holds_numbers(table, names):
        return table
    mixed = {name: _different(table[name].dropna())[1] for name in dict.fromkeys(names)}
    agreed = table.attrs.get(AGREED) or _told_by_cells(mixed)
    changed: dict[str, dict[str, Any]] = {}
    for name, numbers in mixed.items():
        plain = {one: _number(source, name, one, agreed) for one in numbers}
        changed[name] = {one: number for one, number in plain.items() if number is not None}
    changed = {name: cells for name, cells in changed.items() if cells}
    if not changed:
        return table
    for name in changed:
        notes[:] = [one for one in notes if not ("is taken for words" in one and f"column {name!r}" in one)]
    notes.append(f"{source}: numbers among the words of {listed(changed, most=8)} are compared as numbers.")
    return table.assign(**{name: _replaced(table[name], cells) for name, cells in changed.items()})


def _told_by_cells(mixed: Mapping[str, Sequence[str]]) -> str | None:
    """Return the notation that cells with both marks tell, such as ``1.300,50``; None if none or both are."""
    told = {
        notation
        for numbers in mixed.values()
        for one in numbers
        for notation in DECIMALS
        if "." in one and "," in one and as_plain(one, notation)
    }
    return told.pop() if len(told) == 1 else None


def _replaced(column: "pd.Series[Any]", cells: dict[str, Any]) -> "pd.Series[Any]":
    return column.astype(object).map(lambda one: cells.get(one, one) if isinstance(one, str) else one)


def _number(source: str, name: str, cell: str, agreed: str | None) -> int | float | None:
    """Return the number of a cell in the notation of its table; None if it is none in that."""
    by_point, by_comma = as_plain(cell, POINT), as_plain(cell, COMMA)
    if agreed is None and by_point and by_comma and by_point[0] not in {by_comma[0], cell.strip()}:
        raise BadFileError(
            f"{source} has numbers such as {cell!r} in column {name!r}, which is {by_point[0]} or "
            f"{by_comma[0]}. Say which by `decimal='point'` or `decimal='comma'`, or write numbers without "
            "marks between thousands."
        )
    is_plain = by_point is not None and by_point[0] == cell.strip()
    found = by_comma or (by_point if is_plain else None) if agreed == COMMA else by_point
    return None if found is None or len(found[0]) > MOST_DIGITS else _value(found[0])


MOST_DIGITS = 300
"""Longer numbers among labels stay texts."""


def _value(plain: str) -> int | float:
    is_whole = plain.lstrip("-").isdecimal() and len(plain) <= MOST_DIGITS
    return int(plain) if is_whole else float(plain)


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
    """Return the prices of judges by name, or else those that a log tells, ``(n_rows, n_judges)``.

    Prices that are of no judge, and calls whose price in the log they replace, are noted.

    Raises BadInputError if a judge has neither.
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
        notes.append(f"The prices of {listed(others, most=8)} are of no judge in the log.")
    if n_replaced := int(known[np.isfinite(by_name)].sum()):
        notes.append(f"The prices of {counted(n_replaced, 'call')} in the log are replaced by those given.")
    return by_name if told is None else np.where(np.isnan(by_name), told, by_name)


def read_token_prices(source: str | Path) -> dict[str, TokenPrices]:
    """Return prices per token by model, from LiteLLM's JSON or from a table of the same columns.

    Models without a price of what they read and write, such as those of images, are left out.

    Raises BadFileError if the file is neither, or a price is no number of at least 0.
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


def priced_by_tokens(
    records: Records, token_prices: str | Path, notes: list[str], *, has_costs: bool = False
) -> Records:
    """Price the records that tell the tokens of a model in a table of prices; count the others.

    Raises BadFileError if the table cannot be used. Raises BadInputError if it prices none of the calls, and
    nothing else does.

    `has_costs`: whether prices are given by the judge's name too.
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
        notes.append(f"{counted(n_untold, 'call')} of the log tell no numbers of tokens.")
    return replace(records, frame=frame.assign(price=price))


def _without_tokens(records: Records) -> BadInputError:
    told = [name for name in records.columns if "token" in name.casefold()]
    places = f"; its columns are {listed(told or records.columns)}"
    return BadInputError(
        records.source,
        "must tell how many tokens each call read and wrote, as prices per token are given",
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


FARTHEST = 100
"""Ratings lie from -100 to 100."""
FEWEST_MISSES = 10
NEAR = 0.5
"""Answers that are wrong come near the truth if half of them miss it by less than this share of the distance
between the truths of two cases."""


def refuse_ratings(source: str, log: AnswerLog) -> None:
    """Refuse a log whose truths are numbers to rate: many on a scale, which answers come near and rarely hit.

    Raises BadInputError for as many different numbers as `prune` refuses; those that answers mostly meet, as
    in problems of mathematics, are classes or free text.
    """
    if log.right is not None:
        return  # the log says itself what is right
    values = np.array([_as_float(label) for label in log.classes])
    known = log.truth >= 0
    truths = values[log.truth[known]]
    n_cases = len(truths)
    if not n_cases or not np.isfinite(truths).all() or np.abs(truths).max() > FARTHEST:
        return
    different, are_whole = len(np.unique(truths)), bool((truths % 1 == 0).all())
    if different <= MOST_NUMBERS or (n_cases >= ROWS_PER_NUMBER * different and are_whole):
        return
    some = truths[:: -(-n_cases // MOST_PAIRED)]
    apart = np.median(np.abs(some[:, None] - some)[np.triu_indices(len(some), 1)])
    answers = np.where(log.answers[known] >= 0, values[log.answers[known]], np.nan)
    misses = np.abs(answers - truths[:, None])
    if not any(_comes_near(one[~np.isnan(one)], NEAR * apart) for one in misses.T):
        return
    raise BadInputError(
        source,
        "must have classes as truths",
        f"{different:,} different numbers in {n_cases:,} cases, which answers come near and rarely meet: "
        "these look like numbers to rate",
        "Write them as few classes, such as low and high, or name a column of a table that says whether each "
        "answer is right by `score='NAME'`.",
    )


MOST_PAIRED = 500


def _comes_near(misses: NDArray[np.float64], near: float) -> bool:
    """Whether a judge is mostly wrong, by less than `near`."""
    wrong = misses[misses > 0]
    return 2 * len(wrong) > len(misses) and len(wrong) >= FEWEST_MISSES and bool(np.median(wrong) < near)


def _as_float(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return math.nan
