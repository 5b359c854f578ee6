"""Files with numbers on features: tables by feature name, and the ``.augment`` files of the LVAT models."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from shortlist._words import all_of, counted
from shortlist.errors import BadFileError
from shortlist.exact import as_decimal
from shortlist.files import MOST_DIGITS, Source, unpacked
from shortlist.products.attributes import BUILT_IN, AttributeTable
from shortlist.products.model import FeatureModel, FeatureNames, Value, feature_names
from shortlist.tables.spreadsheets import Cell, save_rows, unguarded
from shortlist.tables.text import decoded

GZIP = b"\x1f\x8b"


def read_attributes(
    path: str | Path,
    model: FeatureModel,
    *,
    renames: Mapping[str, str] | None = None,
    ignore_unknown: bool = False,
    notes: list[str] | None = None,
) -> AttributeTable:
    """Read the attributes of a model's features from a file, or from standard input for ``-``.

    Parameters
    ----------
    path : str or Path
        A table in a format of :func:`shortlist.tables.files.read_table_file`, such as CSV, TSV or Parquet,
        with a column ``feature`` (in upper or lower case) and one column per attribute; cells are taken as
        written. Or an ``.augment`` file (header ``#FEATURE_INDEX COST USED_BEFORE DEFECTS``, features by
        variable number). A column ``id`` of the CSV tells features apart where names repeat, if it holds the
        model's identifiers. A file with ``used_before`` alone also gives its complement ``not_used_before``.
    model : FeatureModel
        The model that the features belong to. Names are compared as written first, then without case, spaces
        and signs.
    renames : mapping of str to str, optional
        Name in the model of each name in the file.
    ignore_unknown : bool, default=False
        Whether rows of unknown features are passed over, and counted in a note.
    notes : list of str, optional
        Receives sentences about a separator other than the comma, decimal commas, and unknown features.

    Raises
    ------
    BadFileError
        If the file is no such table, names no feature of the model, or names a feature twice. Also if the
        file names an unknown feature, unless `ignore_unknown` is set. The message names the line. Missing and
        non-numeric values are errors only when the attribute is used.
    """
    from shortlist.tables.files import cells_of, read_content

    name, content = read_content(path)
    if content.startswith(GZIP):
        content = unpacked(content, name)
    if not content.strip():
        raise BadFileError(f"{name} is empty. Is it the right file?")
    if content.lstrip().startswith(b"#"):
        return _augment(Source(name, decoded(name, content)), model)
    notes = [] if notes is None else notes
    rows = cells_of(name, content, notes)
    return _table(Source(name, ""), rows, model, renames or {}, notes if ignore_unknown else None)


def attributes_beside(model_path: str | Path) -> Path | None:
    """Return the ``.augment`` file beside a model, as the LVAT models have it; None if there is none.

    For ``m.dimacs`` this is ``m.dimacs.augment``. For ``m.dimacs.gz`` the file of the unpacked name counts
    too. The ``.augment`` file may be compressed.
    """
    path = Path(model_path)
    names = [path.name] + ([path.stem] if path.suffix == ".gz" else [])
    places = [path.with_name(f"{name}.augment{packed}") for name in names for packed in ("", ".gz")]
    return next((place for place in places if place.is_file()), None)


def _table(
    source: Source,
    rows: list[tuple[int, list[str]]],
    model: FeatureModel,
    renames: Mapping[str, str],
    passed_over: list[str] | None,
) -> AttributeTable:
    """Take the attributes from the rows of a table, the header first.

    `passed_over` receives a sentence about rows of unknown features; if it is None, such a row is an error.
    """
    header = _header(source, rows[0][1])
    attributes = [name for name in header if name not in {"feature", "id", ""}]
    columns: dict[str, dict[int, Value]] = {name: {} for name in attributes}
    lines: dict[int, int] = {}
    unknown: list[str] = []
    names, where = feature_names(model), {name: i for i, name in enumerate(header)}
    for line, row in _full_rows(source, rows[1:], len(header)):
        identifier = row[where["id"]] if "id" in where else ""
        name = row[where["feature"]]
        name = name if name in names.exact else unguarded(name)
        feature = _feature(names, renames.get(name, name), identifier)
        if feature is None:
            if passed_over is None:
                raise _no_such_feature(source, line, names, renames.get(name, name))
            unknown.append(name)
            continue
        if feature in lines:
            raise source.error(
                f"feature {name!r} has a second row, after line {lines[feature]}. "
                "Keep one, or tell them apart by 'id'.",
                line=line,
            )
        lines[feature] = line
        for name in attributes:
            if row[where[name]]:
                columns[name][feature] = unguarded(row[where[name]])
    if unknown and passed_over is not None:
        passed_over.append(_passed_over(source, unknown, others=len(lines)))
    return AttributeTable(source.path, _with_reuse(columns), lines)


def _passed_over(source: Source, unknown: list[str], *, others: int) -> str:
    """Return the note on rows of unknown features; raise an error if the file has no other rows."""
    some = all_of(unknown, most=3)
    if not others:
        raise source.error(f"no row is of a feature of the model, got {some}. Is it the right file?")
    count = counted(len(unknown), "row")
    return f"{source.path}: passed over {count} of features that the model does not have: {some}."


def _full_rows(
    source: Source, rows: list[tuple[int, list[str]]], width: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the stripped cells of each row that is not empty."""
    for line, row in rows:
        if not row:
            raise source.error("a quote that opened before is not closed.", line=line)
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(row) != width:
            raise source.error(f"the row must have {width} columns, got {len(row)}.", line=line)
        yield line, cells


def _header(source: Source, cells: list[str]) -> list[str]:
    header = [unguarded(cell.strip()) for cell in cells]
    for name in ("feature", "id"):
        alike = [place for place, cell in enumerate(header) if cell.casefold() == name]
        if name not in header and len(alike) == 1:
            header[alike[0]] = name
    if "feature" not in header:
        raise source.error(f"the header must have a column 'feature', got {','.join(header)!r}.", line=1)
    for name in header:
        if header.count(name) > 1:
            raise source.error(f"the header names the column {name!r} twice. Rename one.", line=1)
        if name in BUILT_IN:
            raise source.error(f"the column {name!r} would hide the built-in objective. Rename it.", line=1)
    return header


def _feature(names: FeatureNames, name: str, identifier: str) -> int | None:
    """Return the feature of a row; None if the model has no feature of that name."""
    if name in names.repeated and identifier in names.exact:
        return names.exact[identifier]
    return names.find(name, repeats=True)


def _no_such_feature(source: Source, line: int, names: FeatureNames, name: str) -> BadFileError:
    return source.error(
        f"the model has no feature {name!r}. {names.close_to(name)} Correct the name, or pass "
        "`ignore_unknown=True` to pass over such rows.",
        line=line,
    )


def _augment(source: Source, model: FeatureModel) -> AttributeTable:
    rows = source.text.splitlines()
    first = next(i for i, row in enumerate(rows) if row.strip())
    header = [name.lower() for name in rows[first].strip().lstrip("#").split()]
    if not header or header[0] != "feature_index":
        raise source.error(f"the header must start with #FEATURE_INDEX, got {rows[first]!r}.", line=first + 1)
    columns: dict[str, dict[int, Value]] = {name: {} for name in header[1:]}
    lines: dict[int, int] = {}
    for line, row in enumerate(rows[first + 1 :], start=first + 2):
        cells = row.split()
        if not cells:
            continue
        if len(cells) != len(header):
            raise source.error(f"the row must have {len(header)} numbers, got {len(cells)}.", line=line)
        number = int(cells[0]) if cells[0].isdecimal() and len(cells[0]) <= MOST_DIGITS else 0
        if not 1 <= number <= model.n_features:
            raise source.error(
                f"the feature number must be 1 to {model.n_features}, got {cells[0][:40]!r}. Is it the right "
                "model?",
                line=line,
            )
        feature = number - 1
        if feature in lines:
            raise source.error(
                f"feature {cells[0]} has a second row, after line {lines[feature]}.", line=line
            )
        lines[feature] = line
        for name, cell in zip(header[1:], cells[1:], strict=True):
            columns[name][feature] = cell
    return AttributeTable(source.path, _with_reuse(columns), lines)


def _with_reuse(columns: Mapping[str, dict[int, Value]]) -> Mapping[str, Mapping[int, Value]]:
    """Add ``not_used_before``, the complement of ``used_before``, if it is missing.

    Values other than 0 and 1 have no complement.
    """
    if "used_before" not in columns or "not_used_before" in columns:
        return columns
    numbers = {i: as_decimal(str(value)) for i, value in columns["used_before"].items()}
    if any(number not in {Decimal(0), Decimal(1)} for number in numbers.values()):
        return columns
    return {**columns, "not_used_before": {i: Decimal(not number) for i, number in numbers.items()}}


def save_attributes(path: str | Path, model: FeatureModel) -> None:
    """Write the attributes of a model's features as CSV, or as a workbook for ``.xlsx``.

    The table has a row for every feature, a column ``feature`` with its name and one column per attribute;
    :func:`~shortlist.products.read_attributes` reads it again.

    Parameters
    ----------
    path : str or Path
        File to write, whole or not at all; it ends in ``.csv`` or ``.xlsx``.
    model : FeatureModel
        The model that the attributes belong to.

    Raises
    ------
    BadInputError
        If the ending is another one, or the table is larger than a sheet of Excel.
    """
    save_rows(path, ["feature", *model.attributes], _rows(model))


def _rows(model: FeatureModel) -> Iterator[list[Cell]]:
    for feature, label in enumerate(model.labels):
        yield [label, *(column.get(feature) for column in model.attributes.values())]
