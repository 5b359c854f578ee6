// One point in words, the table of points, and its download.
const PAGE_ROWS = 25;
// Letters of a word that always has room in a table.
const WORD = 12;

class PointBox {
  constructor(view, refresh) {
    this.view = view;
    this.refresh = refresh;
    this.status = el("p", { "aria-live": "polite" });
    this.body = el("div", {});
    const step = (by) => () => {
      const order = view.order();
      if (!order.length) return;
      const at = order.indexOf(view.point);
      view.point = order[(Math.max(at, by > 0 ? -1 : 0) + by + order.length) % order.length];
      refresh();
    };
    const buttons = el("div", { class: "buttons" },
      el("button", { type: "button", onclick: step(-1) }, "Previous point"),
      el("button", { type: "button", onclick: step(1) }, "Next point"),
      view.picks.map((pick) => el("button", { type: "button", onclick: () => {
        view.point = pick.at;
        refresh();
      } }, `Pick: ${pick.rule}`)));
    this.node = el("section", { class: "point", "aria-label": "The current point" }, buttons, this.status, this.body);
  }

  async draw() {
    const { view } = this;
    const { point, pinned } = view;
    if (this.drawn === `${point} ${pinned}`) return;
    this.drawn = `${point} ${pinned}`;
    this.body.replaceChildren();
    if (point === null) {
      this.status.textContent = "Select a point in a picture or in the table to see what is chosen there.";
      return;
    }
    const name = view.name(point);
    this.status.textContent = `${name[0].toUpperCase()}${name.slice(1)}: ${view.valueWords(point).join(", ")}.`;
    const picked = view.picks.filter((pick) => pick.at === point);
    const parts = picked.map((pick) => el("p", {}, el("strong", {}, `The pick by ${pick.rule}. `), pick.why));
    parts.push(el("p", { class: "soft" }, view.groups[view.group[point]].proof));
    parts.push(this.trades(point));
    const isBeside = pinned !== null && pinned !== point;
    const rows = isBeside ? [pinned, point] : [point];
    parts.push(el("div", { class: "buttons" },
      pinned === point ? null : el("button", { type: "button", onclick: () => {
        view.pinned = point;
        this.refresh();
      } }, "Compare others with this point"),
      el("button", { type: "button", onclick: () => savePoints(view, rows) }, isBeside ? "Download both points as CSV" : "Download this point as CSV")));
    if (isBeside) parts.push(this.beside(point, pinned));
    this.body.append(...parts);
    const look = await view.choices;
    if (view.point === point && this.drawn === `${point} ${pinned}`) this.body.append(...this.chosen(look, point, pinned));
  }

  trades(point) {
    const { view } = this;
    const head = el("tr", {}, ["to gain in", "take", "changes"].map((text, i) => el("th", { scope: "col", class: i ? "text" : null }, text)));
    const rows = view.neighbours(point).map((at, objective) => {
      const { name } = view.objectives[objective];
      const first = el("th", { scope: "row", class: longestWord(name) <= WORD ? "words" : null }, parted(name));
      if (at === null) return el("tr", {}, first, el("td", { class: "text", colspan: 2 }, "nothing here is better"));
      const go = el("button", { type: "button", "aria-label": `Go to ${view.name(at)}`, onclick: () => {
        view.point = at;
        this.refresh();
      } }, shown(view.number[at]));
      return el("tr", {}, first, el("td", { class: "text" }, go), el("td", { class: "text" }, this.changes(point, at)));
    });
    return el("table", {}, el("caption", {}, "What it costs to change one's mind: the nearest point that is better in each"),
      el("thead", {}, head), el("tbody", {}, rows));
  }

  // What each objective gains or loses beside the point that others are compared with.
  beside(point, pinned) {
    const { view } = this;
    const head = ["objective", view.name(pinned), view.name(point), "change"].map((text, i) => el("th", { scope: "col", class: i === 3 ? "text" : null }, text));
    const rows = view.objectives.map((one, o) => el("tr", {}, el("th", { scope: "row" }, one.label),
      [pinned, point].map((at) => el("td", {}, shown(view.values[o][at]))), el("td", { class: "text" }, this.change(o, pinned, point))));
    return el("table", {}, el("caption", {}, `Compared with ${view.name(pinned)}: what it costs`), el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows));
  }

  change(objective, point, at) {
    const [before, now] = [point, at].map((each) => this.view.values[objective][each]);
    if (before === now) return "the same";
    if (before === null || now === null) return "unknown";
    const word = (now > before) === (this.view.objectives[objective].better === "more") ? "better" : "worse";
    return `${now > before ? "+" : "−"}${shown(Math.abs(now - before))} (${word})`;
  }

  changes(point, at) {
    return this.view.objectives.map((one, o) => `${one.name} ${this.change(o, point, at)}`).join(", ");
  }

  chosen(look, point, pinned) {
    const { choices } = this.view.data;
    if (!choices) return [];
    if (!look) return choices.why ? [el("p", { class: "soft" }, choices.why)] : [];
    const row = look(point);
    const list = (names, label) => el("div", { class: "chosen", tabindex: 0, role: "region", "aria-label": label }, names.length ? names.join(", ") : "none");
    const parts = [el("h3", {}, "Chosen there")];
    if (choices.kind === "bits") {
      const own = choices.names.filter((_, i) => row[i]);
      parts.push(list([...choices.always, ...own], "Chosen there"));
      if (choices.never) parts.push(el("p", { class: "soft" }, `${counted(choices.never, "more candidate")} at no point.`));
    } else {
      const stages = [...new Set(row)].filter((stage) => stage >= 0).sort((a, b) => a - b);
      for (const stage of stages) parts.push(el("p", {}, el("strong", {}, `Stage ${stage + 1}: `), choices.names.filter((_, i) => row[i] === stage).join(", ")));
      const never = choices.names.filter((_, i) => row[i] < 0);
      if (never.length) parts.push(el("p", {}, el("strong", {}, "Never bought: "), never.join(", ")));
    }
    if (pinned !== null && pinned !== point) {
      const other = look(pinned);
      const differ = choices.names.map((name, i) => [name, other[i], row[i]]).filter(([, a, b]) => a !== b);
      parts.push(el("h3", {}, `Chosen otherwise than at ${this.view.name(pinned)}`));
      if (choices.kind === "bits") {
        parts.push(el("p", {}, el("strong", {}, "More: "), differ.filter(([, , now]) => now).map(([name]) => name).join(", ") || "nothing"));
        parts.push(el("p", {}, el("strong", {}, "Less: "), differ.filter(([, , now]) => !now).map(([name]) => name).join(", ") || "nothing"));
      } else {
        const word = (stage) => (stage < 0 ? "never" : `stage ${stage + 1}`);
        parts.push(el("p", {}, differ.map(([name, before, now]) => `${name}: ${word(before)}, now ${word(now)}`).join("; ") || "The same."));
      }
    }
    return parts;
  }
}

class PointTable {
  constructor(view, refresh) {
    this.view = view;
    this.refresh = refresh;
    this.by = { column: "number", down: false };
    this.first = 0;
    this.caption = el("caption", {});
    this.head = el("tr", {});
    this.body = el("tbody", {});
    this.where = el("span", { "aria-live": "polite" });
    const turn = (by) => () => {
      this.first = Math.max(0, this.first + by * PAGE_ROWS);
      this.draw();
    };
    this.before = el("button", { type: "button", onclick: turn(-1) }, "Rows before");
    this.after = el("button", { type: "button", onclick: turn(1) }, "Rows after");
    this.save = el("button", { type: "button", onclick: () => savePoints(view, this.sorted()) }, "Download as CSV");
    this.node = el("section", { "aria-label": "Table of points" },
      el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Points, a table that scrolls" },
        el("table", { class: "points" }, this.caption, el("thead", {}, this.head), this.body)),
      el("div", { class: "buttons" }, this.before, this.after, this.where, this.save));
    this.columns = pointColumns(view);
    const isWhole = this.columns.reduce((sum, [, text]) => sum + longestWord(text), 0) <= 4 * WORD;
    for (const [column, text] of this.columns) {
      const button = el("button", { type: "button", class: isWhole ? "words" : null, onclick: () => this.sort(column) }, parted(text));
      this.head.append(el("th", { scope: "col", class: column === "group" ? "text" : null, "aria-sort": "none", "data-column": column }, button));
    }
  }

  sort(column) {
    this.by = { column, down: this.by.column === column && !this.by.down };
    this.first = 0;
    this.rows = null;
    this.draw();
  }

  key(column) {
    const { view } = this;
    if (column === "number") return (i) => view.number[i];
    if (column === "group") return (i) => view.group[i];
    return (i) => view.values[column][i];
  }

  sorted() {
    const { view } = this;
    const rows = [];
    const shownHere = view.ranges.size || view.hidden.size ? view.kept : null;
    for (let i = 0; i < view.n; i += 1) if (!shownHere || shownHere[i]) rows.push(i);
    const key = this.key(this.by.column);
    const sign = this.by.down ? -1 : 1;
    return rows.sort((a, b) => sign * (key(a) - key(b)) || a - b);
  }

  draw() {
    const { view } = this;
    this.rows = this.rows || this.sorted();
    if (this.first >= this.rows.length) this.first = 0;
    const now = this.rows.slice(this.first, this.first + PAGE_ROWS);
    this.caption.textContent = this.rows.length === view.n ? `All ${counted(view.n, "point")}` : `${shown(this.rows.length)} of ${counted(view.n, "point")}, as brushed`;
    for (const cell of this.head.children) {
      const own = cell.dataset.column === String(this.by.column);
      cell.setAttribute("aria-sort", own ? (this.by.down ? "descending" : "ascending") : "none");
      const arrow = own ? (this.by.down ? " ↓" : " ↑") : "";
      const [, text] = this.columns.find(([column]) => String(column) === cell.dataset.column);
      cell.firstChild.replaceChildren(...parted(text + arrow));
    }
    this.body.replaceChildren(...now.map((i) => {
      const go = el("button", { type: "button", "aria-label": `Select ${view.name(i)}`, onclick: () => {
        view.point = i;
        this.refresh();
      } }, String(view.number[i]));
      const cells = this.columns.slice(1).map(([column]) => column === "group" ? el("td", { class: "text" }, view.groups[view.group[i]].name)
        : el("td", {}, shown(view.values[column][i])));
      return el("tr", { class: i === view.point ? "current" : null }, el("th", { scope: "row" }, go), cells);
    }));
    const last = Math.min(this.first + PAGE_ROWS, this.rows.length);
    this.where.textContent = this.rows.length ? `rows ${shown(this.first + 1)} to ${shown(last)} of ${shown(this.rows.length)}` : "no rows";
    this.before.disabled = this.first === 0;
    this.after.disabled = last >= this.rows.length;
  }
}

const pointColumns = (view) => [["number", "point"], ...(view.groups.length > 1 ? [["group", "method"]] : []),
  ...view.objectives.map((one, o) => [o, one.label])];

// Write points as CSV, with what is chosen there; the file is made here, and nothing is sent.
async function savePoints(view, rows) {
  const look = await view.choices;
  const { choices } = view.data;
  const columns = pointColumns(view);
  const head = [...columns.map(([, text]) => text), ...(look ? [choices.kind === "bits" ? "chosen" : "stages"] : [])];
  const lines = [head.map(cellText).join(",")];
  for (const i of rows) {
    const cells = columns.map(([column]) => column === "group" ? cellText(view.groups[view.group[i]].name)
      : String(column === "number" ? view.number[i] : view.values[column][i] ?? ""));
    if (look) cells.push(cellText(choiceText(choices, look(i))));
    lines.push(cells.join(","));
  }
  const address = URL.createObjectURL(new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" }));
  el("a", { href: address, download: "points.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

function choiceText(choices, row) {
  if (choices.kind === "bits") return [...choices.always, ...choices.names.filter((_, i) => row[i])].join("; ");
  return choices.names.map((name, i) => `${name}: ${row[i] < 0 ? "never" : row[i] + 1}`).join("; ");
}

// A spreadsheet reads a cell that begins like a formula as one, so such a text gets an apostrophe before it.
function cellText(text) {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
