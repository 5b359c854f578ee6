"""Options that a command would ignore are refused: one table per command says when each option is used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer


@dataclass(frozen=True)
class Use:
    """When options are used.

    Attributes
    ----------
    options : tuple of str
        Names of parameters of the command's function, such as ``("folds", "max_size")``.
    when : callable
        Takes the values of all parameters by name, and says whether the options are used.
    belongs_to : str
        What they belong to, as the user types it, such as ``"--methods"``.
    instead : str
        What to do for them to be used, such as ``"add --methods all"``; empty where there is nothing.
    """

    options: tuple[str, ...]
    when: Callable[[Mapping[str, Any]], bool]
    belongs_to: str
    instead: str = ""


def refuse_unused(context: typer.Context, uses: Sequence[Use]) -> None:
    """Refuse options that the user gave and the command would not use, also where the value is the default.

    Parameters
    ----------
    context : typer.Context
        Of the running command, with the values of its parameters and where each came from.
    uses : sequence of Use
        The table of the command; options that it does not name are always used.

    Raises
    ------
    BadInputError
        For the first entry of the table with an option that was given in vain; the sentence names all of that
        entry.
    """
    from shortlist._words import all_of
    from shortlist.errors import BadInputError

    for use in uses:
        if use.when(context.params):
            continue
        given = [typed_name(context, option) for option in use.options if is_given(context, option)]
        if given:
            several = len(given) > 1
            way_out = f", or {use.instead}" if use.instead else ""
            raise BadInputError(
                f"{all_of(given)} {'belong' if several else 'belongs'} to {use.belongs_to}. "
                f"Leave {'them' if several else 'it'} out{way_out}."
            )


def is_given(context: typer.Context, option: str) -> bool:
    """Whether the user gave a parameter, be it with the value that is the default."""
    from shortlist.cli.options.settings import GIVEN

    if option in context.meta.get(GIVEN, ()):
        return True
    source = context.get_parameter_source(option)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def typed_name(context: typer.Context, option: str) -> str:
    """Return what a parameter is called on the command line, such as ``--max-size``."""
    from shortlist.cli.options.settings import options_of

    typed = [each.opts for each in context.command.params if each.name == option]
    return max(typed[0], key=len) if typed else options_of(context.command).get(option, option)
