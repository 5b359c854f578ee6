"""The solvers that tests run on: those that can be loaded here."""

from collections.abc import Iterator

from shortlist.errors import MissingDependencyError
from shortlist.milp.backends import SOLVERS, open_solver


def installed_solvers() -> Iterator[str]:
    for name in SOLVERS:
        try:
            open_solver(name)
        except MissingDependencyError:
            continue
        yield name
