"""Pages on a telephone: nothing is wider than the window, and the answer and its picture begin on the first screen."""

from pathlib import Path

import pytest

from shortlist.products import chosen_attributes, configure, model_attributes, read_model
from shortlist.report.page import page
from shortlist.report.parts import Parts
from shortlist.report.products import product_parts
from tests.report.browsing import Open, Opened

pytestmark = pytest.mark.slow

WIDTH, HEIGHT = 420, 900

PHONES = """\
features
    Phone
        mandatory
            Screen {cost 40}
                alternative
                    Basic {cost 10, grams 20}
                    Sharp {cost 35, grams 30, appeal 3}
                    Foldable {cost 120, grams 70, appeal 8}
            Battery
                alternative
                    Small {cost 12, grams 30, hours 10}
                    Large {cost 25, grams 55, hours 19}
        optional
            Camera {cost 18, grams 9, appeal 2}
            Stylus {cost 9, grams 7, appeal 1}
            SolarBackWithAnExceedinglyLongNameOfItsOwn {cost 22, grams 15, hours 3}
"""

WIDER = """(width) => [...document.querySelectorAll('body *')].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width > 1 && (box.left < -1 || box.right > width + 1);
}).map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 60)}`)"""


def narrow(open_page: Open, parts: Parts) -> Opened:
    """Open a page with everything unfolded, and look at the place of each element."""
    opened = open_page(page("Result", parts), width=WIDTH, height=HEIGHT)
    opened.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert opened.page.evaluate(WIDER, WIDTH) == []
    return opened


def top(opened: Opened, selector: str) -> float:
    box = opened.page.locator(selector).first.bounding_box()
    return float(box["y"])


def test_a_page_of_products_begins_with_the_pick_its_price_by_feature_and_the_picture(
    open_page: Open, tmp_path: Path
) -> None:
    (tmp_path / "phone.uvl").write_text(PHONES)
    model = read_model(tmp_path / "phone.uvl")
    names = ("cost", "grams", "hours", "appeal")
    attributes = chosen_attributes(names, [model_attributes(model)], model, defaults=dict.fromkeys(names, 0))
    answer = configure(model, "min cost, min grams, max hours, max appeal", attributes=attributes)
    opened = narrow(open_page, product_parts(answer.front, model, attributes))
    assert 0 < top(opened, "h2") < top(opened, "table") < top(opened, "canvas") < HEIGHT
    assert opened.page.locator("h2").first.inner_text() == "The pick"
