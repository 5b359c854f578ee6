"""The page and its charts in a browser: look, brush, click, sort and download, by mouse and by keyboard."""

import csv
import io
from typing import Any

import numpy as np
import pytest

from shortlist.report.fronts import front_page_parts, front_parts
from shortlist.report.held_out import confusion_chart
from shortlist.report.page import Branch, Chart, Facts, Heading, Parts, Table, Text, Tree, page
from shortlist.report.stages import PATHS
from tests.report.browsing import Open, Opened
from tests.report.made import HOSTILE, front_of, sphere

pytestmark = pytest.mark.slow

PLANES = "canvas[aria-roledescription='scatter plots']"
LINES = "canvas[aria-roledescription='parallel coordinates']"


@pytest.fixture(scope="module")
def one_front() -> str:
    return page("A front", front_page_parts(sphere(200)))


@pytest.fixture(scope="module")
def three_fronts() -> str:
    first, second = sphere(60), sphere(40, seed=1, method="solrep")
    both = front_of([*first.values[:30].tolist(), *second.values[:20].tolist()], n_candidates=30)
    return page("Methods", front_parts({"exact": first, "solrep": second, "ibed": both}))


def test_a_wide_window_shows_pictures_beside_tables_and_brief_sections_beside_others(open_page: Open) -> None:
    rows = (("a committee", "0.9 (0.8 to 1)"), ("best alone", "0.8 (0.7 to 0.9)"))
    table = Table("Figures", ("who", "accuracy"), rows)
    picture = confusion_chart("Confusion", np.array([[9, 1, 0], [2, 8, 0]]), np.array(["no", "yes"]))
    facts = Facts((("members", "9"),))
    parts: Parts = [
        Heading("What to do"),
        Text("Use it."),
        table,
        picture,
        Heading("One"),
        facts,
        Heading("Two"),
        facts,
    ]
    html = page("Page", parts)

    def corners(width: int) -> dict[str, tuple[float, float]]:
        window = open_page(html, width=width).page
        found = {}
        for name in ("table >> nth=0", "figure", "h2 >> nth=1", "h2 >> nth=2"):
            box = window.locator(name).bounding_box()
            found[name] = (box["x"], box["y"])
        return found

    wide, narrow = corners(1300), corners(420)
    assert wide["figure"][0] > wide["table >> nth=0"][0] + 200
    assert abs(wide["figure"][1] - wide["table >> nth=0"][1]) < 40
    assert wide["h2 >> nth=1"][1] == wide["h2 >> nth=2"][1]
    assert len({round(x) for x, _ in narrow.values()}) == 1


def kept(opened: Opened) -> str:
    text: str = opened.page.locator(".explorer p[aria-live]", has_text="kept").first.inner_text()
    return text


def drag(opened: Opened, canvas: str, start: tuple[float, float], end: tuple[float, float]) -> None:
    chart = opened.page.locator(canvas)
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    opened.page.mouse.move(box["x"] + start[0], box["y"] + start[1])
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + end[0], box["y"] + end[1], steps=4)
    opened.page.mouse.up()


def test_pictures_are_drawn_and_nothing_is_asked_for(open_page: Open, one_front: str) -> None:
    opened = open_page(one_front)
    assert kept(opened) == "200 of 200 points kept."
    inks = "(canvas) => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"
    for canvas in (PLANES, LINES):
        assert opened.page.locator(canvas).evaluate(inks) > 5
    assert opened.page.locator("svg[role=img]").count() == 1
    assert (opened.complaints, opened.requests) == ([], [])


def test_who_tries_to_send_something_is_refused(open_page: Open, one_front: str) -> None:
    opened = open_page(one_front)
    sent = opened.page.evaluate("fetch('http://127.0.0.1:9/').then(() => true, () => false)")
    assert sent is False
    assert "violates the following Content Security Policy" in " ".join(opened.complaints)
    added = "() => { const own = document.createElement('script'); own.textContent = 'window.ran = true'; document.body.append(own); return window.ran === true; }"
    assert opened.page.evaluate(added) is False


def test_a_brush_along_an_axis_keeps_points_in_the_planes_and_in_the_table(
    open_page: Open, one_front: str
) -> None:
    opened = open_page(one_front)
    side = 90
    drag(opened, LINES, (side, 60), (side, 200))
    text = kept(opened)
    assert text.endswith("of 200 points kept.")
    n_kept = int(text.split()[0])
    assert 0 < n_kept < 200
    assert opened.page.locator("table.points caption").inner_text() == f"{n_kept} of 200 points, as brushed"
    highest = float(opened.page.get_by_label("cost at most").input_value())
    front = sphere(200)
    assert (front.values[:, 0] <= highest * 1.00001).sum() == pytest.approx(n_kept, abs=1)
    opened.page.locator(LINES).press("Escape")
    opened.page.get_by_text("200 of 200 points kept.").first.wait_for()


def test_a_brush_in_a_plane_limits_both_of_its_objectives(open_page: Open, one_front: str) -> None:
    opened = open_page(one_front)
    drag(opened, PLANES, (120, 60), (300, 220))
    assert 0 < int(kept(opened).split()[0]) < 200
    for name in ("cost at least", "cost at most", "quality at least", "quality at most"):
        assert opened.page.get_by_label(name).input_value() != ""
    assert opened.page.get_by_label("defects at least").input_value() == ""


def test_limits_can_be_typed(open_page: Open, one_front: str) -> None:
    opened = open_page(one_front)
    limit = opened.page.get_by_label("cost at most")
    limit.fill("400")
    limit.press("Tab")
    wanted = int((sphere(200).values[:, 0] <= 400).sum())
    opened.page.get_by_text(f"{wanted} of 200 points kept.").first.wait_for()


def test_better_is_marked_on_every_axis_and_axes_can_be_turned(open_page: Open, one_front: str) -> None:
    opened = open_page(one_front)
    told = "(canvas) => { const seen = []; const write = CanvasRenderingContext2D.prototype.fillText; CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { seen.push(text); return write.call(this, text, ...rest); }; return new Promise((done) => { document.getElementById('turned').click(); setTimeout(() => { CanvasRenderingContext2D.prototype.fillText = write; done(seen); }, 200); }); }"
    natural = opened.page.locator(PLANES).evaluate(told)
    assert "cost (EUR): less is better ←" in natural
    assert "defects: less is better ↓" in natural
    assert "less is better ↓" in natural
    turned = opened.page.locator(PLANES).evaluate(told)
    assert "cost (EUR): less is better →" in turned
    assert "quality: more is better ↑" in turned
    assert "less is better ↑" in turned


def test_a_click_selects_a_point_and_tells_what_is_chosen_and_what_a_change_costs(
    open_page: Open, one_front: str
) -> None:
    opened = open_page(one_front)
    front = sphere(200)
    opened.page.get_by_label("Select point 3", exact=True).click()
    box = opened.page.locator(".point")
    box.get_by_text("Point 3: cost").wait_for()
    box.get_by_text("Chosen there").wait_for()
    names = {name for name, bit in zip(front.candidates, front.decisions[3], strict=True) if bit}
    assert set(box.locator(".chosen").inner_text().split(", ")) == names
    assert "Complete: every best trade-off is listed." in box.inner_text()
    rows = box.locator("table").first.locator("tbody tr")
    assert rows.count() == 3
    gained = rows.nth(0).inner_text()
    assert gained.startswith("cost")
    assert "(better)" in gained
    assert "Compared with point" in box.inner_text()


def test_the_pick_and_its_rule_are_shown_first(open_page: Open, one_front: str) -> None:
    opened = open_page(one_front)
    ideal = sphere(200).pick("ideal").index
    box = opened.page.locator(".point").inner_text()
    assert f"Point {ideal}: cost" in box
    assert "The pick by ideal." in box
    opened.page.get_by_role("button", name="Pick: knee").click()
    opened.page.get_by_text(f"Point {sphere(200).pick('knee').index}: cost").wait_for()


def test_a_point_under_the_mouse_is_told(open_page: Open, one_front: str) -> None:
    opened = open_page(one_front)
    chart = opened.page.locator(PLANES)
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    for step in range(12):
        opened.page.mouse.move(box["x"] + 120 + 20 * step, box["y"] + 150)
        if opened.page.locator(".tip").is_visible():
            break
    text = opened.page.locator(".tip").inner_text()
    assert text.startswith("point ")
    assert "cost" in text
    opened.page.locator(".tip", has_text="chosen: feature").wait_for()


def test_arrow_keys_go_from_point_to_point(open_page: Open, one_front: str) -> None:
    opened = open_page(one_front)
    seen: list[str] = []
    opened.page.locator(PLANES).focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "End"):
        opened.page.keyboard.press(key)
        before = seen[-1] if seen else ""
        while opened.page.locator(".point p").first.inner_text() == before:
            opened.page.wait_for_timeout(20)
        seen.append(opened.page.locator(".point p").first.inner_text())
    assert len(set(seen)) == 4
    assert all(text.startswith("Point ") for text in seen)


def test_the_table_sorts_by_every_column(open_page: Open, one_front: str) -> None:
    opened = open_page(one_front)
    head = opened.page.locator("table.points thead th")
    front = sphere(200)
    for column, values in ((1, front.values[:, 0]), (2, front.values[:, 1])):
        head.nth(column).locator("button").click()
        assert head.nth(column).get_attribute("aria-sort") == "ascending"
        assert first_cell(opened, column) == pytest.approx(values.min())
        head.nth(column).locator("button").press("Enter")
        assert head.nth(column).get_attribute("aria-sort") == "descending"
        assert first_cell(opened, column) == pytest.approx(values.max())


def first_cell(opened: Opened, column: int) -> float:
    text = opened.page.locator("table.points tbody tr").first.locator("th, td").nth(column).inner_text()
    return float(text.replace(",", ""))


def test_what_is_brushed_can_be_downloaded_as_a_table(open_page: Open) -> None:
    names = ["=HYPERLINK(1)", 'a "b", c', *[f"x{i}" for i in range(28)]]
    values = sphere(50).values.tolist()
    opened = open_page(page("t", front_page_parts(front_of(values, n_candidates=30, names=names))))
    limit = opened.page.get_by_label("cost at most")
    limit.fill("500")
    limit.press("Tab")
    with opened.page.expect_download() as download:
        opened.page.get_by_role("button", name="Download as CSV").click()
    text = download.value.path().read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    wanted = [row for row in values if row[0] <= 500]
    assert sorted(float(row["cost (EUR)"]) for row in rows) == sorted(row[0] for row in wanted)
    assert not any(row["chosen"].startswith("=") for row in rows)
    assert any("=HYPERLINK(1)" in row["chosen"] and row["chosen"].startswith("'") for row in rows)
    assert opened.complaints == []


def test_two_points_are_compared_in_every_objective_and_downloaded(open_page: Open, one_front: str) -> None:
    opened = open_page(one_front)
    front = sphere(200)
    box = opened.page.locator(".point")
    opened.page.get_by_label("Select point 3", exact=True).click()
    box.get_by_text("Point 3: cost").wait_for()
    box.get_by_role("button", name="Compare others with this point").click()
    box.get_by_role("button", name="Download this point as CSV").wait_for()
    opened.page.get_by_label("Select point 5", exact=True).click()
    box.get_by_text("Compared with point 3: what it costs").wait_for()
    rows = box.locator("table").last.locator("tbody tr")
    assert rows.count() == 3
    for place, (goal, by) in enumerate(zip(front.objectives, front.values[5] - front.values[3], strict=True)):
        word = "better" if by * goal.sign < 0 else "worse"
        assert rows.nth(place).locator("td").last.inner_text().endswith(f"({word})")
    with opened.page.expect_download() as download:
        box.get_by_role("button", name="Download both points as CSV").click()
    table = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert [row["point"] for row in table] == ["3", "5"]
    assert [float(row["cost (EUR)"]) for row in table] == front.values[[3, 5], 0].tolist()
    assert opened.complaints == []


def test_methods_that_coincide_stay_visible_and_can_be_hidden(open_page: Open, three_fronts: str) -> None:
    opened = open_page(three_fronts)
    assert kept(opened) == "150 of 150 points kept."
    assert "at 50 of them several methods coincide" in opened.page.locator(".explorer").inner_text()
    colours = "() => ['c0', 'c1', 'c2'].map((name) => { const probe = document.createElement('canvas').getContext('2d'); probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--' + name); probe.fillRect(0, 0, 1, 1); const ink = new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer)[0]; const canvas = document.querySelector(\"canvas[aria-roledescription='scatter plots']\"); return new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer).filter((each) => each === ink).length; })"
    assert min(opened.page.evaluate(colours)) > 50
    opened.page.get_by_label("ibed: 50 points").uncheck()
    opened.page.get_by_text("100 of 150 points kept.").first.wait_for()
    assert opened.page.evaluate(colours)[2] == 0


@pytest.mark.parametrize("width", [360, 1280, 3840])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_fits_every_screen_in_both_themes_and_nothing_moves(
    open_page: Open, three_fronts: str, width: int, theme: str
) -> None:
    opened = open_page(three_fronts, width=width, theme=theme)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    shift = "new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().reduce((sum, one) => sum + one.value, 0))).observe({type: 'layout-shift', buffered: true}) || setTimeout(() => done(0), 500))"
    assert opened.page.evaluate(shift) < 0.1
    paper = "getComputedStyle(document.body).backgroundColor"
    before = opened.page.evaluate(paper)
    assert (before == "rgb(255, 255, 255)") == (theme == "light")
    opened.page.get_by_role("button", name="Dark or light").click()
    assert opened.page.evaluate(paper) != before
    assert opened.complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_page: Open, three_fronts: str, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    bars = Chart("Bars", "Two bars.", {"kind": "bar", "names": ["a", "b"], "x": {"label": "n"},
        "series": [{"name": "one", "values": [1, 2]}]}, Table("Bars", ("name", "n"), (("a", "1"),)))  # fmt: skip
    for html in (three_fronts, page("Charts", [Heading("Bars"), bars, *front_page_parts(sphere(40))])):
        opened = open_page(html, theme=theme)
        found: Any = axe.run(opened.page).response["violations"]
        assert [(one["id"], one["impact"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_a_thousand_hostile_names_show_as_text(open_page: Open) -> None:
    names = [f"{HOSTILE} {i}" for i in range(1000)]
    front = front_of([[i, i, 1000 - i] for i in range(20)], n_candidates=1000, names=names, method=HOSTILE)
    opened = open_page(page(HOSTILE, front_page_parts(front)))
    opened.page.get_by_label("Select point 3", exact=True).click()
    opened.page.get_by_text("Point 3: cost").wait_for()
    opened.page.locator(".point .chosen").wait_for()
    chosen = opened.page.locator(".point .chosen").inner_text()
    wanted = [name for name, bit in zip(names, front.decisions[3], strict=True) if bit]
    assert sum(name in chosen for name in wanted) == len(wanted)
    assert opened.page.locator("img, script[src]").count() == 0
    assert (opened.complaints, opened.requests) == ([], [])


def test_many_points_are_counted_into_bands_and_the_page_says_so(open_page: Open) -> None:
    opened = open_page(page("Many", front_page_parts(sphere(4000))))
    assert "4,000 lines are counted into 48 bands" in opened.page.locator(".explorer").inner_text()
    drag(opened, LINES, (90, 60), (90, 200))
    assert 0 < int(kept(opened).split()[0].replace(",", "")) < 4000
    opened.page.locator("table.points caption", has_text="as brushed").wait_for()
    assert opened.complaints == []


NAMES = ("exact", "complementariness", "Wwwwwwwwwwww-Mmmmmmmmmmm", "margin-distance", "i")
SERIES = [{"name": name, "points": [[k, k * k + i] for k in range(9)]} for i, name in enumerate(NAMES)]

CHARTS: dict[str, dict[str, Any]] = {
    "lines": {"kind": "line", "x": {"label": "members", "whole": True}, "y": {"label": "accuracy on the selection rows"},
              "series": SERIES, "marks": [{"at": 1, "text": "more than 1"}, {"at": 8, "text": "more than 8"}]},
    "steps": {"kind": "line", "x": {"label": "seconds"}, "y": {"label": "value"},
              "series": [{"name": "value", "step": True, "points": [[0, 0.1], [0.5, 0.3], [1, 0.3]]}]},
    "dots": {"kind": "line", "x": {"label": "seconds, in powers of ten", "log": True}, "y": {"label": "hypervolume"},
             "series": [{"name": "a", "line": False, "points": [[0.2, 1, "a, seed 1"], [9, 2, "a, seed 2"]]}]},
    "panels": {"kind": "line", "x": {"label": "generation"}, "y": {"label": "chromosomes of the front, %"},
               "panels": [{"name": f"Credit, k = {k}", "series": SERIES[:2]} for k in range(4)]},
    "bars": {"kind": "bar", "names": list(NAMES), "x": {"label": "share of the points in %"},
             "series": [{"name": "one", "values": [5, 4, 3, 2, 1]}, {"name": "two", "values": [-1, None, 1e7, 0, 1e-7]}]},
    "boxes": {"kind": "box", "names": list(NAMES), "x": {"label": "Balanced accuracy on the test rows of a fold; more is better"},
              "values": [[1, 2, 3, 9], [2], [], [0.5, 0.5], [3, None, 4]]},
    "counts": {"kind": "counts", "rows": list(NAMES), "columns": list(NAMES), "x": {"label": "% of the rows answered alike"},
               "values": [[i * k for k in range(5)] for i in range(5)]},
    "many counts": {"kind": "counts", "rows": [f"member-{i}" for i in range(24)], "columns": [f"member-{i}" for i in range(24)],
                    "x": {"label": "%"}, "values": [[100] * 24] * 24},
    "ranks": {"kind": "ranks", "names": list(NAMES), "ranks": [1.2, 1.9, 3.0, 4.4, 4.5], "critical": 1.1,
              "groups": [[1.2, 1.9], [4.4, 4.5]]},
    "many ranks": {"kind": "ranks", "names": [f"method-{i}" for i in range(30)], "ranks": [i + 1 for i in range(30)],
                   "critical": None, "groups": []},
}  # fmt: skip
"""Contents of each kind of chart, with names that are long, short and missing values."""

OUTSIDE = """() => [...document.querySelectorAll('figure svg')].flatMap((svg) => {
  const own = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.left < own.left - 1 || box.right > own.right + 1 || box.top < own.top - 1 || box.bottom > own.bottom + 1)
    .map(([words]) => words);
})"""

ON_TOP = """() => [...document.querySelectorAll('figure svg')].flatMap((svg) => {
  const boxes = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
    .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
    .map(([other]) => `${one} / ${other}`));
})"""


def chart_parts() -> Parts:
    charts = [
        Chart(title, f"What {title} show.", data, Table(title, ("name", "n"), (("a", "1"),)))
        for title, data in CHARTS.items()
    ]
    return [Heading("Charts"), *charts, *other_parts("plain")]


def other_parts(name: str) -> Parts:
    tree = Tree(name, (Branch(name, below=(Branch(name), Branch(name, chosen=False))),))
    return [Heading(name), Text(name), Facts(((name, name),)), Table(name, (name, "n"), ((name, "1"),)), tree]


@pytest.mark.parametrize("width", [360, 1280, 3840])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_of_charts_are_inside_and_apart_on_every_screen(
    open_page: Open, width: int, theme: str
) -> None:
    opened = open_page(page("Charts", chart_parts()), width=width, theme=theme)
    drawn = opened.page.locator("figure svg")
    assert drawn.count() == len(CHARTS) + 3, "one has four panels"
    assert opened.page.evaluate(OUTSIDE) == []
    assert opened.page.evaluate(ON_TOP) == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert (opened.complaints, opened.requests) == ([], [])


def test_charts_show_what_they_are_given(open_page: Open) -> None:
    opened = open_page(page("Charts", chart_parts()))

    def drawn(title: str) -> Any:
        return opened.page.locator("figure", has=opened.page.get_by_role("heading", name=title, exact=True))

    assert drawn("lines").locator("path").count() == 5
    assert drawn("panels").locator("svg").count() == 4
    assert drawn("panels").locator("path").count() == 8
    assert drawn("panels").locator("h4").all_text_contents() == [f"Credit, k = {k}" for k in range(4)]
    assert drawn("dots").locator("path").count() == 0
    assert drawn("dots").locator("circle title").all_text_contents() == ["a, seed 1", "a, seed 2"]
    bars = drawn("bars").locator("rect title").all_text_contents()
    assert bars[:3] == ["exact, one: 5", "exact, two: -1", "complementariness, one: 4"]
    assert drawn("boxes").locator("circle").count() == 9
    counts = drawn("counts").locator("rect title").all_text_contents()
    assert counts[8] == "complementariness, margin-distance: 3"
    assert "critical difference 1.1" in drawn("ranks").inner_text()
    assert drawn("ranks").locator("svg").get_attribute("aria-label") == "What ranks show."


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_right_is_blue_and_what_is_wrong_orange(open_page: Open, theme: str) -> None:
    rows = {name: {"name": name, "ink": ink, "values": [1]} for name, ink in PATHS.items()}
    path = {"kind": "bar", "names": ["stage 1"], "x": {"label": "rows"}, "series": list(rows.values())}
    confusion = confusion_chart("Confusion", np.array([[5, 1], [2, 5]]), np.array(["no", "yes"]))
    opened = open_page(page("Colours", [Chart("Path", "A path.", path), confusion]), theme=theme)
    fills = (
        "(svg) => [...svg.querySelectorAll('rect')].map((one) => [one.textContent, one.getAttribute('fill')])"
    )
    bars, cells = (dict(opened.page.locator("figure svg").nth(i).evaluate(fills)) for i in (0, 1))
    right, wrong = bars["stage 1, right: 1"], bars["stage 1, wrong: 1"]
    assert (right, wrong) == {"light": ("#0072b2", "#d55e00"), "dark": ("#56b4e9", "#ff8a4c")}[theme]
    assert cells == {"no, no: 5": right, "no, yes: 1": wrong, "yes, no: 2": wrong, "yes, yes: 5": right}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_chart(open_page: Open, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    opened = open_page(page("Charts", chart_parts()), theme=theme)
    for summary in opened.page.locator("main > details > summary").all():
        summary.click()
    found: Any = axe.run(opened.page).response["violations"]
    assert [(one["id"], one["impact"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_a_thousand_hostile_names_are_text_in_every_chart(open_page: Open) -> None:
    names = [f"{HOSTILE} {i}" for i in range(1000)]
    few = names[:40]
    charts: list[dict[str, Any]] = [
        {"kind": "bar", "names": names, "x": {"label": HOSTILE}, "series": [{"name": HOSTILE, "values": [1] * 1000}]},
        {"kind": "box", "names": names, "x": {"label": HOSTILE}, "values": [[1, 2]] * 1000},
        {"kind": "line", "x": {"label": HOSTILE}, "y": {"label": HOSTILE}, "marks": [{"at": 0, "text": HOSTILE}],
         "series": [{"name": name, "points": [[0, 1, HOSTILE]]} for name in few]},
        {"kind": "counts", "rows": few, "columns": few, "x": {"label": HOSTILE}, "values": [[1] * 40] * 40},
        {"kind": "ranks", "names": names, "ranks": list(range(1, 1001)), "critical": 3, "groups": []},
    ]  # fmt: skip
    shown: list[Any] = [Chart(HOSTILE, HOSTILE, data, notes=(HOSTILE,)) for data in charts]
    trees = [Tree(HOSTILE, tuple(Branch(name, below=(Branch(name),)) for name in names))]
    opened = open_page(page(HOSTILE, [*shown, *other_parts(HOSTILE), *trees]))
    assert opened.page.locator("figure svg").count() == len(charts)
    assert opened.page.locator("main ul.tree li", has_text=names[999]).count() == 2
    titles = opened.page.locator("figure svg title").all_text_contents()
    assert any(names[999] in title for title in titles)
    assert opened.page.locator("img, script[src], main script:not([type])").count() == 0
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert (opened.complaints, opened.requests) == ([], [])
