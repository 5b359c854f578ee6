"""The page in a browser: it asks for nothing, sends nothing, offers to send nothing, and runs without an error."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.report.page import front_page
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-background-networking",
    "--disable-component-update", "--no-first-run", "--virtual-time-budget=20000", "--window-size=1200,1400",
)  # fmt: skip

WATCH = """<script>
window.seen = {errors: [], opened: [], tried: []};
addEventListener("error", (event) => seen.errors.push(String(event.message)), true);
addEventListener("unhandledrejection", (event) => seen.errors.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => seen.tried.push(event.blockedURI));
console.error = (...words) => seen.errors.push(words.join(" "));
window.open = (address) => { seen.opened.push(String(address)); return null; };
</script>"""

TELL = """<script>
setTimeout(async () => {
  const buttons = [...document.querySelectorAll(".modebar-btn")];
  seen.buttons = buttons.map((button) => button.getAttribute("data-title"));
  buttons.forEach((button) => button.dispatchEvent(new MouseEvent("click", {bubbles: true})));
  seen.charts = document.querySelectorAll(".plotly-graph-div").length;
  seen.forms = document.querySelectorAll("form, .plotly-cloud-dialog-box").length;
  seen.loaded = performance.getEntriesByType("resource").map((each) => each.name).filter((each) => /^(http|ws|ftp)/.test(each));
  const refusal = new Promise((done) => addEventListener("securitypolicyviolation", (event) => done(event.blockedURI)));
  seen.sent = await fetch("http://127.0.0.1:9/").then(() => true, () => false);
  seen.refusal = await refusal;
  const told = document.createElement("pre");
  told.id = "told";
  told.textContent = JSON.stringify(seen);
  document.body.append(told);
}, 5000);
</script>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed: apt-get install chromium")
def test_the_page_asks_for_nothing_and_has_no_button_that_sends_its_points_anywhere(tmp_path: Path) -> None:
    goals = (Objective("cost"), Objective("worth", Sense.MAX), Objective("size"))
    values = np.random.default_rng(1).random((40, 3))
    front = Front.from_values(goals, values, np.zeros((40, 0), int), (), Proof(ProofKind.APPROXIMATE))
    page = front_page("Fronts", {"one": front, "other": front})
    page = page.replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{TELL}</body>", 1)

    seen = _in_browser(page, tmp_path)

    assert seen["charts"] == 2
    assert len(seen["buttons"]) > 5
    assert not [
        title for title in seen["buttons"] if re.search("share|cloud|edit|plotly", title, re.IGNORECASE)
    ]
    assert (seen["errors"], seen["opened"], seen["loaded"], seen["forms"]) == ([], [], [], 0)
    assert seen["tried"] in ([], [seen["refusal"]])  # the page itself does not even try
    assert (seen["sent"], seen["refusal"]) == (False, "http://127.0.0.1:9/")  # whoever tries is refused


def _in_browser(page: str, folder: Path) -> dict[str, Any]:
    """Open a page and return what it wrote into the element ``told``."""
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    assert BROWSER is not None
    command = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    told = re.search(r'<pre id="told">(.*?)</pre>', run.stdout, re.DOTALL)
    assert told is not None, run.stderr[-2000:]
    facts: dict[str, Any] = json.loads(unescape(told[1]))
    return facts
