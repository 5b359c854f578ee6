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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_flow_is_legible_on_a_telephone_in_both_themes(open_page: Open, theme: str) -> None:
    opened = open_page(page("Panel", panel_parts(made("hand-over")[1])), width=390, theme=theme)
    flow = ".wide > svg"
    seen = opened.page.evaluate(
        """(flow) => {
          const texts = [...document.querySelectorAll(`${flow} text`)];
          const lightness = (one) => getComputedStyle(one).fill.match(/[0-9]+/g).slice(0, 3).map(Number)
            .reduce((a, b) => a + b) / 765;
          const paper = lightness(document.querySelector(`${flow} rect`));
          return { heights: texts.map((one) => one.getBoundingClientRect().height),
            contrasts: texts.map((one) => Math.abs(lightness(one) - paper)),
            width: document.documentElement.scrollWidth };
        }""",
        flow,
    )
    assert min(seen["heights"]) > 10
    assert min(seen["contrasts"]) > 0.7
    assert seen["width"] == 390
