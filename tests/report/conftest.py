"""A browser for pages: it refuses what leaves the page, and remembers what the page complains about."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.browsing import Open, Opened, watched


@pytest.fixture
def open_page(chromium: Any, tmp_path: Path) -> Iterator[Open]:
    """Return a function that shows HTML in a window of its own."""
    contexts = []

    def show(html: str, *, width: int = 1280, height: int = 900, theme: str = "light") -> Opened:
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, accept_downloads=True
        )
        contexts.append(context)
        opened = watched(context)
        opened.page.goto(file.as_uri())
        opened.page.wait_for_selector("html[data-ready]")
        opened.requests.remove(file.as_uri())
        return opened

    yield show
    for context in contexts:
        context.close()
