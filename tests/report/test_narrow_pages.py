"""Pages and pictures in a browser, also on a telephone: nothing is cut off, and the answer is on the first screen."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, make_classification

from shortlist.ensembles import ExactPruner
from shortlist.ensembles.pruned_table import prune_table
from shortlist.export.protocol_text import page as protocol_page
from shortlist.export.protocol_text import picture
from shortlist.export.protocols import protocol_of
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.holdout import stage_table
from shortlist.panels.protocol import panel_protocol
from shortlist.products import chosen_attributes, configure, model_attributes, read_model
from shortlist.report.ensembles import pruned_parts
from shortlist.report.fronts import front_parts
from shortlist.report.page import Parts, Picture, Table, page
from shortlist.report.panels import panel_parts
from shortlist.report.products import product_parts
from shortlist.report.stages import staged_parts
from shortlist.results.objective import Objective
from shortlist.saved_models import SavedModel
from tests.panels.test_facts import made
from tests.report.browsing import Open, Opened
from tests.report.made import front_of

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
  return box.width > 1 && !one.closest('details:not([open])') && (box.left < -1 || box.right > width + 1);
}).map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 60)}`)"""


def narrow(open_page: Open, parts: Parts) -> Opened:
    """Open a page, and look at the place of each element that is not folded away."""
    opened = open_page(page("Result", parts), width=WIDTH, height=HEIGHT)
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
    assert opened.page.locator("h2").first.inner_text() == "What to do"


def test_a_page_of_stages_begins_with_the_steps_and_what_held_out_rows_say(open_page: Open) -> None:
    table = load_breast_cancer(as_frame=True)
    X = table.data[["mean radius", "mean texture", "mean smoothness", "mean concavity", "worst area"]]
    costs = dict(zip(X.columns, (1, 2, 5, 8, 10), strict=True))
    classifier = MultiStageClassifier(
        feature_costs=costs, confidence=0.9, max_stages=3, answer_accuracy=0.9, random_state=0
    )
    staged = stage_table(X, np.array(["malignant", "benign"])[table.target], classifier)
    opened = narrow(open_page, staged_parts(staged.classifier, staged))
    assert opened.page.locator("h2").first.inner_text() == "What to do"
    tables = opened.page.locator("table")
    assert "Ask a person" in tables.nth(0).inner_text()
    assert "all at once" in tables.nth(1).inner_text()
    assert tables.nth(1).bounding_box()["y"] < HEIGHT


@pytest.mark.parametrize("promise", [False, True])
def test_a_page_of_a_panel_begins_with_whom_to_ask_and_cuts_nothing_off(
    open_page: Open, *, promise: bool
) -> None:
    opened = narrow(open_page, panel_parts(made("hand-over", promise=promise)[1]))
    assert opened.page.locator("h2").first.inner_text() == "What to do"
    assert top(opened, ".wide > svg") < HEIGHT


BROKEN = """() => [...document.querySelectorAll("th.words, thead button.words")]
  .filter((one) => !one.closest("details:not([open])"))
  .flatMap((one) => {
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      for (const word of walker.currentNode.data.matchAll(/[^\\s\\-]+/g)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, word.index);
        range.setEnd(walker.currentNode, word.index + word[0].length);
        if (range.getClientRects().length > 1) found.push(word[0]);
      }
    }
    return found;
  })"""
"""Words of a table's first column and of its headings that stand on two lines."""

BRANCHES = " | ".join(f"judge_{letter}, then another_judge" for letter in "abcdefg")


def test_no_short_word_of_a_table_is_broken(open_page: Open) -> None:
    names = ("coverage", "conclusive_accuracy", "acquisition_cost", "mean_price")
    front = front_of([[1, 4, 2, 3], [2, 3, 1, 4]], goals=[Objective(name) for name in names])
    rows = (("backfitting", *["0.8284 (0.77 to 0.89)"] * 5), ("GitHub_DeepSpeech", *["0.8"] * 5))
    table = Table("Means", ("method", "rank", "accuracy", "balanced accuracy", "size", "seconds"), rows)
    opened = narrow(open_page, [table, *front_parts({"found": front})])
    assert opened.page.locator("th.words").count() > 2
    assert opened.page.locator("thead button.words").count() == 5
    assert opened.page.evaluate(BROKEN) == []


def test_an_axis_without_room_for_its_label_keeps_the_arrow(open_page: Open) -> None:
    names = ("an objective with a name of many words", "seconds", "price")
    front = front_of([[1, 4, 2], [2, 3, 1], [3, 1, 5]], goals=[Objective(name) for name in names])
    opened = narrow(open_page, front_parts({"found": front}))
    opened.page.evaluate(
        """() => {
          window.written = [];
          const { fillText } = CanvasRenderingContext2D.prototype;
          CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
            window.written.push(text);
            return fillText.call(this, text, ...rest);
          };
        }"""
    )
    opened.page.set_viewport_size({"width": WIDTH - 10, "height": HEIGHT})
    opened.page.evaluate(
        """() => new Promise((done) => {
          const look = () => (window.written.some((one) => /^an .*→$/.test(one)) ? done() : setTimeout(look, 20));
          look();
        })"""
    )
    assert "seconds: less is better ↑" in opened.page.evaluate("window.written")


def test_texts_with_a_number_in_front_are_aligned_to_the_left(open_page: Open) -> None:
    rows = (("0.5", "0.9244", f"45: {BRANCHES}"), ("1", "0.9", "4: Amazon"))
    opened = narrow(open_page, [Table("Budgets", ("at most", "accuracy", "panel"), rows)])
    cells = opened.page.evaluate(
        "() => [...document.querySelectorAll('tbody tr:last-child td')].map((one) => getComputedStyle(one).textAlign)"
    )
    assert cells == ["right", "left"]


def test_a_long_drawing_is_folded_and_opens(open_page: Open) -> None:
    drawn = panel_parts(made("hand-over")[1])
    long = [replace(one, folded="7 branches") if isinstance(one, Picture) else one for one in drawn]
    opened = narrow(open_page, long)
    flow = opened.page.locator(".wide > svg").first
    assert not flow.is_visible()
    opened.page.locator("summary", has_text="7 branches").click()
    assert flow.is_visible()
    assert opened.page.evaluate(WIDER, WIDTH) == []


def test_a_ruler_in_a_box_touches_no_text(open_page: Open) -> None:
    opened = open_page(page("Panel", panel_parts(made("hand-over")[1])), width=WIDTH, height=HEIGHT)
    touched = opened.page.evaluate(
        """() => [...document.querySelectorAll('.wide > svg path[stroke="#bbb"]')].flatMap((ruler) => {
          const y = ruler.getBBox().y;
          return [...ruler.ownerSVGElement.querySelectorAll("text")]
            .filter((text) => { const box = text.getBBox(); return box.y < y && y < box.y + box.height; })
            .map((text) => text.textContent);
        })"""
    )
    assert opened.page.locator('.wide > svg path[stroke="#bbb"]').count() > 0
    assert touched == []


def test_a_protocol_of_a_panel_cuts_nothing_off(open_page: Open) -> None:
    html = protocol_page(panel_protocol(made("hand-over")[1].panel))
    opened = open_page(html.replace("<html", "<html data-ready", 1), width=WIDTH, height=HEIGHT)
    assert opened.page.evaluate(WIDER, WIDTH) == []


def test_a_page_of_an_ensemble_begins_with_whom_to_ask_and_how_often_that_is_right(open_page: Open) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pruner = ExactPruner(objective="accuracy", n_classifiers=8, random_state=0, node_limit=50)
    found = prune_table(X, y, pruner, n_classifiers=8)
    opened = narrow(open_page, pruned_parts(found.pruner.chosen_, found.test, advice=found.advice))
    assert opened.page.locator("h2").first.inner_text() == "What to do"
    rows = opened.page.locator("table").first
    assert f"{found.best_single} alone" in rows.inner_text()
    assert rows.bounding_box()["y"] < HEIGHT


OUTSIDE_THEIR_BOX = """(drawing) => {
  const boxes = [...drawing.querySelectorAll("rect")].slice(1).map((one) => one.getBBox());
  const whole = drawing.viewBox.baseVal;
  return [...drawing.querySelectorAll("text")].filter((text) => {
    const own = text.getBBox();
    const box = boxes.find((one) => own.x >= one.x && own.x < one.x + one.width
      && own.y >= one.y - 1 && own.y < one.y + one.height) || whole;
    return own.x + own.width > box.x + box.width || own.y + own.height > box.y + box.height;
  }).map((text) => text.textContent);
}"""
"""Texts of a drawing that are larger than the box that they begin in."""


def test_a_panel_is_drawn_without_a_complaint_and_no_text_leaves_its_box(open_page: Open) -> None:
    opened = open_page(page("Panel", panel_parts(made("hand-over")[1])))
    assert opened.page.locator("figure svg").count() == 2
    assert opened.page.locator(".drawing.line circle").count() > 3
    flow = opened.page.locator("figure svg", has=opened.page.locator("title")).first
    assert flow.evaluate(OUTSIDE_THEIR_BOX) == []
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


NAMES = [
    "a measurement with a name of so many words that no line of any box has room for all of them",
    "Pneumonoultramicroscopicsilicovolcanoconiosis" * 3,
    "W" * 80,
    "温度" * 30,
    "e",
]


def test_every_text_of_the_chart_is_inside_its_box(open_page: Open) -> None:
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    rows = pd.DataFrame(X, columns=NAMES)
    wards = np.array(["M" * 70, "some class " * 9, "top"])[y]
    model = MultiStageClassifier(max_stages=3, confidence=0.45, random_state=0).fit(rows, wards)
    chart = picture(protocol_of(SavedModel(model, tuple(rows), "state"), rows))
    shown = open_page(f"<!DOCTYPE html><html data-ready><body>{chart}</body></html>", width=900)

    assert shown.page.locator("svg").first.evaluate(OUTSIDE_THEIR_BOX) == []
    assert "…" in chart
    assert "are shortened or left out" in chart
    assert not shown.requests
