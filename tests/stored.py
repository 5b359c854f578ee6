"""Texts for people, stored in ``tests/screens`` and written anew by ``make screens``."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

SCREENS = Path(__file__).parent / "screens"

Stored: TypeAlias = Callable[..., None]
"""The fixture `stored`: it compares texts and what commands print with the stored text of its test."""


@dataclass(frozen=True)
class Refusal:
    """A command line of a table of refusals, the section it stands in, and the lines of stderr below it."""

    table: str
    section: str
    line: str
    answer: str = ""

    @property
    def words(self) -> list[str]:
        """Words after the program's name."""
        return shlex.split(self.line)

    def fits(self, said: str) -> bool:
        """Compare with the stored answer, where ``…`` stands for words that differ between machines.

        >>> Refusal("prune", "", "prune t.csv", "shortlist: t.csv is no …").fits("shortlist: t.csv is no file.")
        True
        """
        return re.fullmatch(".*".join(map(re.escape, self.answer.split("…"))), said) is not None


def table_of_refusals(table: str) -> list[Refusal]:
    """Read command lines after ``$``, each with its answer below it, in sections that begin with ``#``."""
    section, refusals = "", list[Refusal]()
    for row in _path(table).read_text(encoding="utf-8").splitlines():
        if row.startswith("# "):
            section = row[2:]
        elif row.startswith("$ shortlist "):
            refusals.append(Refusal(table, section, row.removeprefix("$ shortlist ")))
        else:
            refusals[-1] = replace(refusals[-1], answer=f"{refusals[-1].answer}\n{row}".strip())
    return refusals


def store(changed: Refusal) -> None:
    """Write the answer of a refusal into its table."""
    section, rows = "", list[str]()
    for refusal in table_of_refusals(changed.table):
        if refusal.section != section:
            section = refusal.section
            rows.append(f"# {section}")
        rows += [
            f"$ shortlist {refusal.line}",
            (changed if changed.line == refusal.line else refusal).answer,
        ]
    _path(changed.table).write_text("\n".join(rows) + "\n", encoding="utf-8")


def texts_in(path: Path) -> dict[str, str]:
    """Read the stored texts of a module's tests, each below a line ``== test``."""
    if not path.exists():
        return {}
    parts = re.split(r"^== (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.removesuffix("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def check_text(path: Path, name: str, text: str, *, bless: bool) -> None:
    """Compare a text, without spaces at the ends of lines, with the stored one, or store it."""
    text = re.sub(r"[ \t]+$", "", text.strip("\n"), flags=re.MULTILINE)
    texts = texts_in(path)
    if bless and texts.get(name) != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        texts[name] = text
        path.write_text("".join(f"== {key}\n{texts[key]}\n" for key in sorted(texts)), encoding="utf-8")
    elif not bless:
        assert text == texts.get(name, ""), f"{name} in {path}: read the difference, then make screens"


def _path(table: str) -> Path:
    return SCREENS / "refusals" / f"{table}.txt"
