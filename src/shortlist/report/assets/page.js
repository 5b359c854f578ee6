// Draws every part of the page, and again when the theme or the width changes.
const drawn = [];

function begin() {
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const again = () => drawn.forEach((one) => one.layout());
  button.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    again();
  });
  dark.addEventListener("change", again);
  button.hidden = false;
  for (const root of document.querySelectorAll("[data-part]")) {
    const data = JSON.parse(document.getElementById(root.dataset.part).textContent);
    const part = root.classList.contains("explorer") ? new Explorer(root, data) : new Chart(root, data);
    drawn.push(part);
  }
  performance.mark("ready");
  document.documentElement.dataset.ready = "yes";
}

begin();
