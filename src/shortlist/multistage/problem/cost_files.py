"""Prices of features from a file, with groups, needs, judges, and further columns of numbers."""

import contextlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist._words import all_of, any_of, did_you_mean
from shortlist.errors import BadFileError, BadInputError
from shortlist.multistage.problem.costs import FeatureCosts, check_known, exact_price, feature_costs
from shortlist.tables.learning import read_table

if TYPE_CHECKING:
    import pandas as pd

PRICED_WORDS = tuple(
    form(name) for name in ("group", "feature", "test", "name") for form in (str.lower, str.title, str.upper)
)
"""Columns of a file of prices whose cells are words, even if every cell looks like a number."""

KNOWN_NAMES = ("feature", "test", "name", "cost", "discount_cost", "group", "needs", "dataset")
"""Names of the columns with a meaning in a file of prices, in lower case."""


def known_names(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the table with the names of :data:`KNOWN_NAMES` in lower case and without units.

    If several columns would get the same name, their names stay unchanged.

    >>> import pandas as pd
    >>> list(known_names(pd.DataFrame(columns=["Feature", "Cost (EUR)", "hours"])).columns)
    ['feature', 'cost', 'hours']
    """
    alike = [(re.sub(r"\s*[(\[].*[)\]]$", "", name.strip()).casefold(), name) for name in table.columns]
    called = [small for small, _ in alike]
    return table.rename(
        columns={name: small for small, name in alike if small in KNOWN_NAMES and called.count(small) == 1}
    )


def read_costs(
    path: str | Path,
    names: Sequence[str],
    *,
    dataset: str | None = None,
    dropped: Sequence[str] = (),
    notes: list[str] | None = None,
    wanted: Sequence[str] = (),
) -> FeatureCosts:
    """Read prices from a table: CSV, or another format of :func:`shortlist.tables.files.read_table_file`.

    Parameters
    ----------
    path : path
        Columns ``feature`` (or ``test``) and ``cost``; where tests share a first price also ``discount_cost``
        (the price when another test of the group was already bought) and ``group`` (empty: none). Further
        columns of numbers, such as hours, are attributes. Instead, columns ``name`` and ``cost`` give the
        prices of judges: a judge's price is paid once for all columns ``name:class``, which hold the judge's
        probabilities. A column ``needs`` names other lines of the file that must be bought as well, with
        ``;`` between the names. The named lines may be features or not.
    names : sequence of str
        The features that need a price; any other name in the file must be in `dropped`.
    dataset : str, optional
        Keep only the rows with this name in their column ``dataset``; the file must have such rows.
    dropped : sequence of str, optional
        Columns of the table that are no features; the prices of these columns are ignored.
    notes : list of str, optional
        Gets a sentence about ignored prices, and about how the file was read.
    wanted : sequence of str, optional
        Further columns that are attributes wherever they exist; other columns are attributes if all cells are
        numbers.

    Raises
    ------
    BadFileError
        If the file cannot be read or lacks a column.
    BadInputError
        If a price is missing or unusable, or no row is of `dataset`, or the surcharge of the first purchase
        differs within a group. With different surcharges, the price of a set would depend on the order of
        buying.
    """
    table = known_names(read_table(path, notes, words=PRICED_WORDS))
    if dataset is not None:
        table = _of_dataset(table, dataset, path)
    key = next((one for one in ("feature", "test", "name") if one in table), "feature")
    if key not in table or "cost" not in table:
        raise BadFileError(
            f"{path} must have the columns feature and cost, got {all_of(table.columns)}. Rename them."
        )
    if table[key].duplicated().any():
        twice = table[key][table[key].duplicated()].iloc[0]
        several = "dataset" in table and table["dataset"].nunique() > 1
        way_out = "Say which dataset's rows to use" if several else "Drop one row"
        raise BadInputError(path, "must name each feature once", f"{twice!r} twice", f"{way_out}.")
    table = table.assign(**{key: [_word(name) for name in table[key]]})
    needs = _needs_of(table, key)
    needed = {one for wanted in needs.values() for one in wanted}
    # what somebody needs is paid for, also where it is no feature of its own
    passed_over = table[key].isin([name for name in dropped if name not in needed])
    if notes is not None and passed_over.any():
        notes.append(f"{path} also prices {all_of(table[key][passed_over])}, which are dropped: passed over.")
    table = table[~passed_over]
    attributes = _attributes_of(table, key, wanted)
    full = dict(zip(table[key], table["cost"].tolist(), strict=True))
    with _named(path):
        groups, first = _discounted(table, full, key, path)
        things = _paid_once(full, names, needed, judges=key == "name")
        twice = next((thing for thing in things.values() if thing in first), None)
        if twice is not None:
            raise BadInputError(
                path, "must not have a line with the name of a group", repr(twice), "Rename the group."
            )
        for thing in dict.fromkeys(things.values()):
            first[thing] = exact_price(f"the cost of {thing!r}", full.pop(thing))
            if thing in groups:  # it is paid once itself, and opens its group
                needs[thing] = [*needs.get(thing, []), groups.pop(thing)]
        of_judges = {column: judge for column, judge in things.items() if column != judge}
        full |= dict.fromkeys(of_judges, 0)
        groups |= of_judges
        check_known(path, full, names)
        unpriced = [name for name in names if name not in full]
        if unpriced:
            raise BadInputError(
                path,
                "must price every feature",
                f"none for {all_of(map(repr, unpriced))}",
                "Add each price, or 0.",
            )
        return feature_costs(
            full, names, groups=groups, first_prices={group: float(price) for group, price in first.items()},
            needs={name: needed for name, needed in needs.items() if name in {*full, *first}},
            attributes={name: dict.fromkeys(of_judges, 0) | numbers for name, numbers in attributes.items()},
        )  # fmt: skip


@contextlib.contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """Prepend the name of the file to errors about its cells."""
    try:
        yield
    except BadInputError as error:
        if str(error).startswith(str(path)):
            raise
        raise BadInputError(f"{path}: {error}") from None


def _attributes_of(table: "pd.DataFrame", key: str, wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the numeric columns after the price, and the wanted ones, as numbers by name and line."""
    found: dict[str, dict[str, Any]] = {}
    for name in table.columns:
        if name in KNOWN_NAMES or not str(name).strip() or str(name).startswith("Unnamed:"):
            continue
        numbers = table[name].tolist()
        plain = table[name].dtype.kind in "iuf" and all(0 <= one < math.inf for one in numbers)
        if plain or name in wanted:
            found[str(name)] = dict(zip(table[key], numbers, strict=True))
    return found


def _discounted(
    table: "pd.DataFrame", full: dict[str, Any], key: str, path: str | Path
) -> tuple[dict[str, str], dict[str, Fraction]]:
    """Return the group of each line and the first price of each group.

    `full`: changed in place; a line of a group gets the price of later purchases.
    """
    groups: dict[str, str] = {}
    first: dict[str, Fraction] = {}
    if not {"group", "discount_cost"} <= set(table.columns):
        return groups, first
    grouped = table[table["group"].notna()]
    for name, told, later in zip(grouped[key], grouped["group"], grouped["discount_cost"], strict=True):
        group = _word(told)
        difference = exact_price(f"the cost of {name!r}", full[name]) - exact_price(
            f"the discount cost of {name!r}", later
        )
        others = first.setdefault(group, difference)
        if difference < 0 or others != difference:
            before = "" if others == difference else f", and those before it {float(others):g}"
            raise BadInputError(
                f"{path}: in group {group!r} every test must save the same when it is not the first, "
                f"but {name!r} saves {float(difference):g}{before}. Split the group, or correct its prices."
            )
        groups[name], full[name] = group, later
    return groups, first


def _needs_of(table: "pd.DataFrame", key: str) -> dict[str, list[str]]:
    """Return the needs of each line of a table of prices; empty without a column of needs."""
    if "needs" not in table:
        return {}
    given = table[table["needs"].notna()]
    found: dict[str, list[str]] = {}
    for name, told in zip(given[key], given["needs"], strict=True):
        found[name] = [one.strip() for one in _word(told).split(";") if one.strip()]
    return {name: wanted for name, wanted in found.items() if wanted}


def _word(told: Any) -> str:
    """Return a cell as a name.

    pandas reads a column of whole numbers with gaps as floating-point numbers; a whole number is written
    without ".0".
    """
    return str(int(told)) if isinstance(told, float) and told.is_integer() else str(told)


def _paid_once(
    lines: Iterable[str], names: Sequence[str], needed: set[str], *, judges: bool
) -> dict[str, str]:
    """Return the thing that is paid for each needed line, and for each column of a judge, by name.

    The thing of a needed line is the line itself; a line that is a feature is left out. The thing of a column
    ``name:class`` is the judge's line, paid once.
    """
    others = [one for one in lines if one not in names]
    things = {one: one for one in others if one in needed}
    if judges:
        things |= {name: judge for judge in others for name in names if name.rpartition(":")[0] == judge}
    return things


def _of_dataset(table: "pd.DataFrame", dataset: str, path: str | Path) -> "pd.DataFrame":
    """Return the rows of one dataset; raise BadInputError if there are none."""
    if "dataset" not in table:
        raise BadInputError(
            path,
            f"must have a column dataset to choose {dataset!r} by",
            all_of(table.columns),
            "Name no dataset.",
        )
    chosen = table[table["dataset"].astype(str) == dataset]
    if chosen.empty:
        known = sorted(table["dataset"].dropna().astype(str).unique())
        raise BadInputError(
            "dataset", f"must be {any_of(known)}, as in {path}", repr(dataset), did_you_mean(dataset, known)
        )
    return chosen
