// The explorer of fronts: pictures that brush each other, a form with the same limits, one point, and the table.
class Explorer {
  constructor(root, data) {
    this.view = new View(data);
    this.root = root;
    this.refresh = this.refresh.bind(this);
    const { view } = this;
    this.tip = el("div", { class: "tip", hidden: true });
    this.said = el("p", { class: "soft", "aria-live": "polite" });
    const planeBox = el("div", { class: "drawn" });
    const lineBox = el("div", { class: "drawn wide" });
    this.planes = new Planes(view, planeBox);
    this.parallel = new Parallel(view, lineBox);
    this.point = new PointBox(view, this.refresh);
    this.table = new PointTable(view, this.refresh);
    const many = view.n > MOST_LINES ? ` ${shown(view.n)} lines are counted into ${BANDS} bands per axis; the stronger a band, the more points.` : "";
    const pictures = el("div", {}, this.legend(), this.said,
      el("h3", {}, "Planes"), planeBox,
      el("h3", {}, "Parallel coordinates"), lineBox,
      el("p", { class: "note" }, "Drag in a plane or along an axis to keep the points there; click to select a point; Escape keeps all. " +
        "With the keyboard: arrow keys go from point to point, and the table of limits does what dragging does. The same points are in the table below." + many));
    const below = el("div", { class: "below" }, this.form(), this.table.node);
    root.append(el("div", { class: "sides" }, pictures, this.point.node, below), this.tip);
    for (const chart of [this.planes, this.parallel]) this.listen(chart);
    new ResizeObserver(() => this.layout()).observe(planeBox);
    this.layout();
  }

  form() {
    const { view } = this;
    this.inputs = [];
    const rows = view.objectives.map((one, o) => {
      const tick = el("input", { type: "checkbox", "aria-label": `Show the axis ${one.name}`, onchange: () => {
        view.axes = view.objectives.map((_, i) => i).filter((i) => (i === o ? tick.checked : view.axes.includes(i)));
        this.layout();
      } });
      tick.checked = view.axes.includes(o);
      const ends = ["at least", "at most"].map((word, side) => el("input", { type: "number", step: "any", "aria-label": `${one.name} ${word}`, placeholder: short(side ? view.highs[o] : view.lows[o]), onchange: () => {
        const [low, high] = this.inputs[o].map((input) => (input.value === "" ? null : Number(input.value)));
        if (low === null && high === null) view.ranges.delete(o);
        else view.setRange(o, low ?? view.lows[o], high ?? view.highs[o]);
        this.refilter();
      } }));
      this.inputs.push(ends);
      return el("tr", {}, el("th", { scope: "row" }, one.label), el("td", { class: "text better" }, `${one.better} is better`), el("td", {}, tick), ends.map((input) => el("td", {}, input)));
    });
    const turned = el("input", { type: "checkbox", id: "turned", onchange: () => {
      view.turned = turned.checked;
      view.turn();
      this.layout();
    } });
    turned.checked = view.turned;
    const clear = el("button", { type: "button", onclick: () => this.clear() }, "Keep all points");
    return el("div", {}, el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Axes and limits" },
      el("table", {}, el("caption", {}, "Axes and limits"),
        el("thead", {}, el("tr", {}, ["objective", "better", "axis", "at least", "at most"].map((text, i) => el("th", { scope: "col", class: i === 1 ? "text better" : null }, text)))),
        el("tbody", {}, rows))),
    el("div", { class: "controls" }, el("span", {}, turned, " ", el("label", { for: "turned" }, "Turn every axis so that better is up and to the right")), clear));
  }

  legend() {
    const { view } = this;
    if (view.groups.length < 2) return null;
    this.swatches = [];
    const entries = view.groups.map((one, group) => {
      const swatch = el("canvas", { "aria-hidden": "true" });
      this.swatches.push(swatch);
      const tick = el("input", { type: "checkbox", id: `group-${group}`, onchange: () => {
        if (tick.checked) view.hidden.delete(group);
        else view.hidden.add(group);
        this.layout();
      } });
      tick.checked = true;
      return el("li", {}, tick, " ", el("label", { for: `group-${group}` }, swatch, " ", `${one.name}: ${counted(one.n, "point")}`));
    });
    const shared = view.data.shared ? el("p", { class: "note" }, view.data.shared) : null;
    return el("div", {}, el("ul", { class: "legend", "aria-label": "Methods" }, entries), shared);
  }

  paintLegend() {
    (this.swatches || []).forEach((swatch, group) => {
      const { context } = fitted(swatch, 20, 20);
      context.fillStyle = groupColour(group);
      context.strokeStyle = groupColour(group);
      mark(context, group, this.view.groups.length, 10, 10, true);
    });
  }

  listen(chart) {
    const { view } = this;
    const { canvas } = chart;
    let from = null;
    let moved = false;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      moved = false;
      from = event.pointerType === "touch" ? null : at(event);
      if (from) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const now = at(event);
      if (from && (moved || Math.abs(now.x - from.x) + Math.abs(now.y - from.y) > 4)) {
        moved = true;
        this.hideTip();
        this.brushing = true;
        if (chart.brush(from, now)) this.refilter();
      } else {
        this.show(chart.nearest(now.x, now.y), event);
      }
    });
    canvas.addEventListener("pointerleave", () => this.show(null));
    canvas.addEventListener("click", (event) => {
      from = null;
      this.brushing = false;
      if (moved) {
        this.fillForm();
        return;
      }
      const now = at(event);
      const point = chart.nearest(now.x, now.y);
      if (point !== null) {
        view.point = point;
        this.refresh();
      } else {
        this.clear();
      }
    });
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.clear();
      const order = view.order();
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      const here = order.indexOf(view.point);
      let next = null;
      if (event.key in steps) next = Math.min(order.length - 1, Math.max(0, here < 0 ? 0 : here + steps[event.key]));
      else if (event.key === "Home") next = 0;
      else if (event.key === "End") next = order.length - 1;
      if (next === null || !order.length) return;
      event.preventDefault();
      view.point = order[next];
      this.refresh();
    });
  }

  show(point, event) {
    const { view } = this;
    if (point === null) this.hideTip();
    if (point !== null) {
      const pick = view.picks.find((one) => one.at === point);
      this.tip.textContent = [view.name(point) + (pick ? `, the pick by ${pick.rule}` : ""), ...view.valueWords(point)].join("\n");
      this.tip.hidden = false;
      const room = document.documentElement.clientWidth;
      this.tip.style.left = `${Math.max(4, Math.min(event.pageX + 14, window.scrollX + room - this.tip.offsetWidth - 8))}px`;
      this.tip.style.top = `${event.pageY + 14}px`;
      view.choices.then((look) => this.tellChoices(look, point));
    }
    if (point !== view.hover) {
      view.hover = point;
      this.soon();
    }
  }

  tellChoices(look, point) {
    const { choices } = this.view.data;
    if (!look || this.view.hover !== point || this.tip.dataset.point === String(point)) return;
    this.tip.dataset.point = String(point);
    const text = choiceText(choices, look(point));
    this.tip.textContent += `\n${choices.kind === "bits" ? "chosen" : "stages"}: ${text.length > 200 ? `${text.slice(0, 200)}…` : text || "nothing"}`;
  }

  hideTip() {
    this.tip.hidden = true;
    delete this.tip.dataset.point;
  }

  clear() {
    this.view.ranges.clear();
    this.refilter();
    this.fillForm();
  }

  fillForm() {
    this.inputs.forEach((ends, objective) => {
      const range = this.view.ranges.get(objective);
      ends.forEach((input, side) => {
        input.value = range ? String(Number(range[side].toPrecision(6))) : "";
      });
    });
  }

  refilter() {
    this.view.narrow();
    this.table.rows = null;
    this.soon();
  }

  refresh() {
    this.soon();
  }

  layout() {
    this.view.filter();
    this.planes.layout();
    this.parallel.layout();
    this.table.rows = null;
    this.paint();
  }

  // The table of very many points waits until the brush rests.
  later() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.table.draw(), 200);
  }

  soon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  paint() {
    const { view } = this;
    this.paintLegend();
    this.planes.draw();
    this.parallel.draw();
    this.point.draw();
    if (this.brushing && view.n > MANY) this.later();
    else this.table.draw();
    const text = `${shown(view.nKept)} of ${counted(view.n, "point")} kept.` + (view.axes.length < 2 && view.objectives.length > 1 ? " Choose two axes or more to see pictures." : "");
    if (this.said.textContent !== text) this.said.textContent = text;
    const names = view.axes.map((objective) => view.objectives[objective].name).join(", ");
    this.planes.canvas.setAttribute("aria-label", `${counted(view.n, "point")} in planes of ${names}. Arrow keys go from point to point.`);
    this.parallel.canvas.setAttribute("aria-label", `${counted(view.n, "line")} over the axes ${names}. Arrow keys go from point to point.`);
    document.documentElement.dataset.painted = String(Number(document.documentElement.dataset.painted || 0) + 1);
  }
}
