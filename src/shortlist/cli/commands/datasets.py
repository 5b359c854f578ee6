"""`shortlist datasets`: tables that are always there, and public sets to fetch."""

from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.shared import Data, Json
from shortlist.cli.text.output import WIDTH, print_json, print_lines, run_facts
from shortlist.datasets.registry import SHIPPED, DataSet, public_set, public_sets

if TYPE_CHECKING:
    from pathlib import Path

Name = Annotated[str, typer.Argument(help="Name of the set, as shortlist datasets list prints it.")]


def list_sets(context: typer.Context, *, json: Json = False) -> None:
    """Print every data set, and where it is."""
    facts = {
        "command": "datasets list",
        "shipped": [{"name": name, "title": title} for name, title in SHIPPED.items()],
        "public": [_facts(one) for one in public_sets().values()],
        **run_facts(context),
    }
    if json:
        print_json(facts)
        return
    width = max(map(len, [*SHIPPED, *public_sets()]))
    sets = [(name, "always there", title) for name, title in SHIPPED.items()]
    sets += [(fact["name"], _where_text(fact), fact["title"]) for fact in facts["public"]]
    for name, where, title in sets:
        line = f"{name:<{width}}  {where:<18}  "
        print(line + shorten(title.partition(":")[0], WIDTH - len(line), placeholder="..."))
    print("Next: shortlist datasets show NAME, or shortlist prune example:NAME")


def fetch(context: typer.Context, name: Name, *, data: Data = None, json: Json = False) -> None:
    """Download a public set into the cache.

    With --data the file is taken from a folder. Either way its SHA-256 is checked.
    """
    from shortlist.cli.files import check_folder
    from shortlist.datasets.store import fetch as fetch_set

    folder = check_folder(data, "--data")
    if _is_shipped(context, name, json=json):
        return
    data_set = public_set(name)
    path = _fetched(data_set, folder, fetch_set)
    facts = {"command": "datasets fetch", **_facts(data_set), **run_facts(context)}
    if json:
        print_json(facts)
    else:
        next_step = f"Next: shortlist prune example:{data_set.name}"
        print_lines([f"{data_set.name} is in {path}", next_step])


def show(context: typer.Context, name: Name, *, json: Json = False) -> None:
    """Print what a public set is, and where it comes from.

    The licence says who may use it.
    """
    if _is_shipped(context, name, json=json):
        return
    data_set = public_set(name)
    fact = _facts(data_set)
    if json:
        print_json({"command": "datasets show", **fact, **run_facts(context)})
        return
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
        lines.append("file      none whose SHA-256 is known: it is read from a folder only")
    else:
        lines += [f"file      {source.url}", f"SHA-256   {source.sha256}"]
    lines.append(f"where     {_where_text(fact)}")
    if data_set.note:
        lines.append(f"note      {data_set.note}")
    if fact["fetched"]:
        lines.append(f"Next: shortlist prune example:{name}")
    elif source is not None:
        lines.append(f"Next: shortlist datasets fetch {name}")
    print_lines(lines)


def _is_shipped(context: typer.Context, name: str, *, json: bool) -> bool:
    """Print the facts on a set that needs no fetching, and return whether it is one."""
    title = SHIPPED.get(name)
    if title is None:
        return False
    if json:
        facts = {"command": context.command_path.partition(" ")[2], "name": name, "title": title}
        print_json(facts | {"fetched": True} | run_facts(context))
    else:
        print_lines([title, f"{name} comes with shortlist.", f"Next: shortlist prune example:{name}"])
    return True


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
