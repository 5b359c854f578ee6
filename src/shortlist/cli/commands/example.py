"""`shortlist example`: write the files that a guide begins with."""

from typing import Annotated

import typer

from shortlist.cli.answers import CommandAnswer, answers

Name = Annotated[
    str, typer.Argument(help="Name of the set: clinic, spam, phone, machines, or a table such as wine.")
]


@answers
def example(name: Name) -> CommandAnswer:
    """Write the files of an example into this folder.

    Guides begin with one. A file of the same name and other content is never overwritten.
    """
    from shortlist.datasets.examples import MADE, write_example
    from shortlist.datasets.registry import SHIPPED

    paths = [str(path) for path in write_example(name)]
    title = (MADE | SHIPPED)[name]
    return CommandAnswer({"name": name, "title": title, "files": paths}, [title, f"Wrote {', '.join(paths)}"])
