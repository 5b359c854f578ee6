"""Size of pages, the time until one can use them, and the smoothness of brushes, in headless Chromium.

    python -m benchmarks.studies.pages [--runs 5]

Writes ``benchmarks/results/pages.csv``: a row per number of points, with medians and best of the runs. A frame is the time from
one move of the brush to the end of the drawing that follows it, all pictures together. Timings are of one machine.
"""

import argparse
import csv
import os
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.report.fronts import front_page_parts
from shortlist.report.page import page
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind

SIZES = (1_000, 50_000)
FEATURES = 300
FRAMES = 30
RESULTS = Path(__file__).parent.parent / "results" / "pages.csv"

BRUSH = """async ([x, y, frames]) => {
  const canvas = document.querySelector("canvas[aria-roledescription='parallel coordinates']");
  const took = [];
  for (let i = 0; i < frames; i += 1) {
    const start = performance.now();
    const where = { clientX: x, clientY: y + 10 + i * 6, pointerId: 1, bubbles: true };
    canvas.dispatchEvent(new PointerEvent("pointermove", where));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    took.push(performance.now() - start);
  }
  return took;
}"""


def drawn_front(n_points: int) -> Front:
    """Return points on a sphere in four objectives, which do not dominate each other."""
    rng = np.random.default_rng(0)
    points = rng.random((n_points, 4))
    values = np.round(100_000 * points / np.linalg.norm(points, axis=1)[:, None])
    values[:, 1] = 100_000 - values[:, 1]
    goals = [
        Objective("cost", unit="EUR"),
        Objective("quality", Sense.MAX),
        Objective("defects"),
        Objective("weight"),
    ]
    chosen = (rng.random((n_points, FEATURES)) < rng.random(FEATURES)).astype(int)
    names = [f"feature-{i}" for i in range(FEATURES)]
    return Front.from_values(goals, values, chosen, names, Proof(ProofKind.COMPLETE), method="drawn")


def measure(chromium: Any, file: Path) -> tuple[float, list[float]]:
    """Return the milliseconds until a page can be used, and those of every frame while it is brushed."""
    window = chromium.new_page(viewport={"width": 1280, "height": 900})
    window.goto(file.as_uri())
    window.wait_for_selector("html[data-ready]")
    ready = window.evaluate("performance.getEntriesByName('ready')[0].startTime")
    canvas = window.locator("canvas[aria-roledescription='parallel coordinates']")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + 90, box["y"] + 70
    window.mouse.move(x, y)
    window.mouse.down()
    frames = window.evaluate(BRUSH, [x, y, FRAMES])
    window.mouse.up()
    window.close()
    return ready, frames


def main() -> None:
    """Measure, and write the table."""
    from playwright.sync_api import sync_playwright

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=5)
    runs = options.parse_args().runs
    rows = []
    with sync_playwright() as tools, tempfile.TemporaryDirectory() as folder:
        chromium = tools.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for n_points in SIZES:
            file = Path(folder) / "page.html"
            file.write_text(page("Points", front_page_parts(drawn_front(n_points))), encoding="utf-8")
            measured = [measure(chromium, file) for _ in range(runs)]
            ready = [each for each, _ in measured]
            frames = [each for _, some in measured for each in some]
            rows.append(
                {
                    "points": n_points,
                    "bytes": file.stat().st_size,
                    "bytes_without_data": len(page("Points", []).encode()),
                    "ready_ms_median": round(statistics.median(ready)),
                    "ready_ms_best": round(min(ready)),
                    "frame_ms_median": round(statistics.median(frames), 1),
                    "frame_ms_best": round(min(frames), 1),
                    "runs": runs,
                    "chromium": chromium.version,
                    "cores": os.cpu_count(),
                    "load": round(os.getloadavg()[0], 1),
                }
            )
            print(rows[-1])
        chromium.close()
    with RESULTS.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
