"""The chart of a protocol in a browser: its texts fit their boxes, whatever names there are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from shortlist import MultiStageClassifier
from shortlist.export.protocol_text import picture
from shortlist.export.protocols import protocol_of
from shortlist.saved_models import SavedModel
from tests.report.browsing import Open

pytestmark = pytest.mark.slow

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

    outside = shown.page.evaluate(
        """() => {
          const boxes = [...document.querySelectorAll("rect")].slice(1).map((one) => one.getBBox());
          const whole = document.querySelector("svg").viewBox.baseVal;
          return [...document.querySelectorAll("text")].filter((text) => {
            const own = text.getBBox();
            const box = boxes.find((one) => own.x >= one.x && own.x < one.x + one.width
              && own.y >= one.y - 1 && own.y < one.y + one.height) || whole;
            return own.x + own.width > box.x + box.width || own.y + own.height > box.y + box.height;
          }).map((text) => text.textContent);
        }"""
    )
    assert outside == []
    assert "…" in chart
    assert "are shortened or left out" in chart
    assert not shown.requests
