"""The page that a command writes beside its answer."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shortlist.report.parts import Parts


def save_page(path: Path | None, title: str, parts: "Callable[[], Parts]") -> Path | None:
    """Write a page where one was asked for, and return where it is."""
    if path is None:
        return None
    from shortlist.cli.text.delivery import save
    from shortlist.report.page import page, write_page

    text = page(title, parts())
    return save(path, lambda place: write_page(place, text))


def tell_page(path: Path | None) -> None:
    """Say where the page is, if there is one."""
    if path is not None:
        print(f"Report in {path}.")


def page_path(path: Path | None) -> dict[str, str | None]:
    """Return what a command's JSON says of its page."""
    return {"report": None if path is None else str(path)}
