"""`shortlist example`: write the files that a guide begins with."""

from typing import Annotated

import typer

from shortlist.cli.options.shared import Json
from shortlist.cli.text.output import print_json, print_lines, run_facts

Name = Annotated[
    str, typer.Argument(help="Name of the set: clinic, spam, phone, machines, or a table such as wine.")
]


def example(context: typer.Context, name: Name, *, json: Json = False) -> None:
    """Write the files of an example into this folder.

    Guides begin with one. A file of the same name and other content is never overwritten.
    """
    from shortlist.datasets.examples import MADE, write_example
    from shortlist.datasets.registry import SHIPPED

    paths = [str(path) for path in write_example(name)]
    title = (MADE | SHIPPED)[name]
    if json:
        print_json({"command": "example", "name": name, "title": title, "files": paths, **run_facts(context)})
    else:
        print_lines([title, f"Wrote {', '.join(paths)}"])
