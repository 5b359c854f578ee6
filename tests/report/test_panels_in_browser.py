"""The page of a panel in a browser: it is drawn, loads nothing, and the texts of its flow fit their boxes."""

import pytest

from shortlist.panels.page import panel_parts
from shortlist.report.page import page
from tests.panels.test_facts import made
from tests.report.browsing import Open

pytestmark = pytest.mark.slow


def test_a_panel_is_drawn_without_a_complaint_and_no_text_leaves_its_box(open_page: Open) -> None:
    opened = open_page(page("Panel", panel_parts(made("hand-over")[1])))
    assert opened.page.locator("figure svg").count() == 2
    assert opened.page.locator(".drawing.line circle").count() > 3
    outside = opened.page.evaluate(
        """() => {
          const flow = [...document.querySelectorAll("figure svg")].find((one) => one.querySelector("title"));
          const boxes = [...flow.querySelectorAll("rect")].slice(1).map((one) => one.getBBox());
          const whole = flow.viewBox.baseVal;
          return [...flow.querySelectorAll("text")].filter((text) => {
            const own = text.getBBox();
            const box = boxes.find((one) => own.x >= one.x && own.x < one.x + one.width
              && own.y >= one.y - 1 && own.y < one.y + one.height) || whole;
            return own.x + own.width > box.x + box.width || own.y + own.height > box.y + box.height;
          }).map((text) => text.textContent);
        }"""
    )
    assert outside == []
    assert (opened.complaints, opened.requests) == ([], [])
