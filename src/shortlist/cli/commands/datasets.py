"""`shortlist datasets`: tables that are always available, and public sets to download."""

from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.options.shared import Data
from shortlist.cli.text.output import WIDTH
from shortlist.datasets.registry import SHIPPED, DataSet, public_set, public_sets

if TYPE_CHECKING:
    from pathlib import Path

Name = Annotated[str, typer.Argument(help="Name of the set, as shortlist datasets list prints it.")]


@answers
def list_sets() -> CommandAnswer:
    """Print every data set, and where it is."""
    facts = {
        "shipped": [{"name": name, "title": title} for name, title in SHIPPED.items()],
        "public": [_facts(one) for one in public_sets().values()],
    }
    width = max(map(len, [*SHIPPED, *public_sets()]))
    sets = [(name, "always there", title) for name, title in SHIPPED.items()]
    sets += [(fact["name"], _where_text(fact), fact["title"]) for fact in facts["public"]]
    begun = [(f"{name:<{width}}  {where:<18}  ", title.partition(":")[0]) for name, where, title in sets]
    lines = [line + shorten(title, WIDTH - len(line), placeholder="...") for line, title in begun]
    return CommandAnswer(
        facts, [*lines, "Next: shortlist datasets show NAME, or shortlist prune example:NAME"]
    )


@answers
def fetch(name: Name, *, data: Data = None) -> CommandAnswer:
    """Download a public set into the cache.

    With --data the file is taken from a folder. Either way its SHA-256 is checked.
    """
    from shortlist.cli.files import check_folder
    from shortlist.datasets.store import fetch as fetch_set

    folder = check_folder(data, "--data")
    if name in SHIPPED:
        return _shipped(name)
    data_set = public_set(name)
    path = _fetched(data_set, folder, fetch_set)
    return CommandAnswer(
        _facts(data_set),
        [f"{data_set.name} is in {path}", f"Next: shortlist prune example:{data_set.name}"],
    )


@answers
def show(name: Name) -> CommandAnswer:
    """Print what a public set is, and where it comes from.

    The licence says who may use it.
    """
    if name in SHIPPED:
        return _shipped(name)
    data_set = public_set(name)
    fact = _facts(data_set)
    source, name = data_set.source, data_set.name
    words = ", ".join(f"{word}: {rows:,}" for word, rows in data_set.classes.items())
    lines = [
        data_set.title,
        f"rows      {data_set.rows:,}",
        f"features  {len(data_set.features):,}",
        *([f"classes   {words}"] if words else []),
        f"licence   {data_set.licence}",
        f"page      {data_set.page}",
    ]
    if source is None:
        lines.append("file      none with a known SHA-256: it is read from a folder only")
    else:
        lines += [f"file      {source.url}", f"SHA-256   {source.sha256}"]
    lines.append(f"where     {_where_text(fact)}")
    if data_set.note:
        lines.append(f"note      {data_set.note}")
    if fact["fetched"]:
        lines.append(f"Next: shortlist prune example:{name}")
    elif source is not None:
        lines.append(f"Next: shortlist datasets fetch {name}")
    return CommandAnswer(fact, lines)


def _shipped(name: str) -> CommandAnswer:
    """Return the answer on a set that needs no download."""
    title = SHIPPED[name]
    lines = [title, f"{name} comes with shortlist.", f"Next: shortlist prune example:{name}"]
    return CommandAnswer({"name": name, "title": title, "fetched": True}, lines)


def _fetched(data_set: DataSet, folder: str | None, fetch_set: Any) -> "Path":
    from shortlist.cli.work import shown_progress
    from shortlist.runs import Progress

    with shown_progress(announce=False) as display:

        def tell(done: int, total: int | None) -> None:
            display.report(Progress(f"fetching {data_set.name}, bytes", done, total))

        path: Path = fetch_set(data_set, folder, tell=tell)
    return path


def _facts(data_set: DataSet) -> dict[str, Any]:
    from shortlist.datasets.store import is_cached, table_file

    file = table_file(data_set)
    source = data_set.source
    return {
        "name": data_set.name,
        "title": data_set.title,
        "rows": data_set.rows,
        "features": len(data_set.features),
        "classes": dict(data_set.classes),
        "licence": data_set.licence,
        "page": data_set.page,
        "note": data_set.note,
        "url": source.url if source else None,
        "sha256": source.sha256 if source else None,
        "fetched": is_cached(data_set),
        "file": None if file is None else str(file),
    }


def _where_text(fact: dict[str, Any]) -> str:
    if fact["fetched"]:
        return "fetched"
    return "to fetch" if fact["url"] else "from a folder only"
