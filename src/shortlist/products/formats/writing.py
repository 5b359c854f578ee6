"""What a writer returns: the text, and where in it each feature is found again."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from shortlist._words import counted
from shortlist.errors import BadInputError

_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class WrittenModel:
    """A feature model in some format."""

    text: str
    """The file."""
    variables: dict[str, int]
    """What each feature of the file stands for, by its identifier there: a variable of the model's clauses
    (:func:`~shortlist.products.encodings.clauses.to_clauses`), 1 to n for its features and above that for
    auxiliary ones; 0 for a root that the format needs.
    """
    notes: tuple[str, ...] = ()
    """What the format cannot say as the model does, a sentence each."""


def xml_text(text: str) -> str:
    """Return a text on one line, without the characters that XML forbids."""
    return _CONTROL.sub("_", " ".join(text.split()))


def xml_names(names: Sequence[str]) -> list[str]:
    """Return names without what XML cannot hold, and without space at either end.

    Raises BadInputError if two of them are the same then, or one is empty.
    """
    fit = list(map(xml_text, names))
    places = {name: i for i, name in reversed(list(enumerate(fit)))}
    for i, name in enumerate(fit):
        if places[name] != i or not name:
            raise BadInputError(
                f"names must differ in XML, but {names[places[name]]!r} and {names[i]!r} become {name!r}. "
                "Rename one: XML does not keep spaces and control characters."
                if name
                else f"a name must have a character that XML can hold, got {names[i]!r}. Rename it."
            )
    return fit


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that is not taken yet, with underscores behind it where it would be."""
    known = set(taken)
    while name in known:
        name += "_"
    return name


def distinct_names(names: Iterable[str], fit: Callable[[str], str]) -> dict[str, str]:
    """Return each name made fit for a format, with underscores behind it where it would repeat another.

    Names that are fit as they are stay.

    >>> distinct_names(["a.b", "a_b"], lambda name: name.replace(".", "_"))
    {'a.b': 'a_b_', 'a_b': 'a_b'}
    """
    made = {name: fit(name) for name in names}
    taken = {name for name, shown in made.items() if name == shown}
    for name, shown in made.items():
        if name != shown:
            made[name] = free_name(shown, taken)
            taken.add(made[name])
    return made


def rewritten(count: int, thing: str, what: str) -> tuple[str, ...]:
    """Return a note that a number of things are written otherwise, or nothing.

    >>> rewritten(2, "group", "became constraints"), rewritten(0, "group", "became constraints")
    (('2 groups became constraints',), ())
    """
    return (f"{counted(count, thing)} {what}",) if count else ()
