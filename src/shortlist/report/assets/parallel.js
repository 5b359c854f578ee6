// Parallel coordinates: an axis per objective, a line per point. Lines of several groups lie a little apart, so that
// equal ones are seen beside each other. Many lines are counted into bands instead.
const MOST_LINES = 1500;
const BANDS = 48;

class Parallel {
  constructor(view, box) {
    this.view = view;
    this.box = box;
    this.canvas = el("canvas", { tabindex: 0, role: "application", "aria-roledescription": "parallel coordinates" });
    box.append(this.canvas);
  }

  layout() {
    const n = this.view.axes.length;
    this.width = Math.max(this.box.clientWidth, n * 84);
    this.height = n < 2 ? 0 : 380;
    const { context, scale } = fitted(this.canvas, this.width, Math.max(1, this.height));
    this.context = context;
    this.scale = scale;
    const side = Math.min(90, this.width / (2 * n));
    const step = n > 1 ? (this.width - 2 * side) / (n - 1) : 0;
    this.xs = this.view.axes.map((_, i) => side + i * step);
    this.top = 72;
    this.room = Math.min(step || this.width, 2 * side) - 8;
    this.bottom = this.height - 14;
    this.base = null;
    this.places = new Map();
  }

  y(share) {
    return this.bottom - share * (this.bottom - this.top);
  }

  // Strokes every line of a mask: one by one, or as bands whose strength grows with the number of lines.
  lines(context, mask, inks, alpha) {
    const { view } = this;
    context.globalAlpha = alpha;
    context.lineWidth = 1;
    if (view.n <= MOST_LINES) {
      for (let i = 0; i < view.n; i += 1) {
        if (!mask[i]) continue;
        const group = view.group[i];
        context.strokeStyle = inks[group];
        context.setLineDash(view.groups.length > 1 && group % 2 ? [6, 3] : []);
        context.beginPath();
        const apart = (group - (view.groups.length - 1) / 2) * 2.5;
        view.axes.forEach((objective, a) => context.lineTo(this.xs[a], this.y(view.place(objective, i)) + apart));
        context.stroke();
      }
      context.setLineDash([]);
    } else {
      for (let a = 0; a + 1 < view.axes.length; a += 1) this.bands(context, mask, inks, a);
    }
    context.globalAlpha = 1;
  }

  // The band of every point on an axis, kept until the layout changes.
  bandsOf(objective) {
    if (!this.places.has(objective)) {
      this.places.set(objective, Uint8Array.from(this.view.place_[objective], (place) => Math.min(BANDS - 1, Math.floor(place * BANDS))));
    }
    return this.places.get(objective);
  }

  bands(context, mask, inks, a) {
    const { view } = this;
    const [left, right] = [view.axes[a], view.axes[a + 1]];
    const counts = view.groups.map(() => new Uint32Array(BANDS * BANDS));
    const [from, to] = [this.bandsOf(left), this.bandsOf(right)];
    for (let i = 0; i < view.n; i += 1) if (mask[i]) counts[view.group[i]][from[i] * BANDS + to[i]] += 1;
    const strengths = [0.1, 0.2, 0.4, 0.7, 1];
    counts.forEach((count, group) => {
      let largest = 1;
      for (const each of count) largest = Math.max(largest, each);
      const paths = strengths.map(() => new Path2D());
      for (let at = 0; at < BANDS * BANDS; at += 1) {
        if (!count[at]) continue;
        const level = Math.min(4, Math.floor(4.999 * Math.sqrt(count[at] / largest)));
        paths[level].moveTo(this.xs[a], this.y((Math.floor(at / BANDS) + 0.5) / BANDS));
        paths[level].lineTo(this.xs[a + 1], this.y(((at % BANDS) + 0.5) / BANDS));
      }
      context.strokeStyle = inks[group];
      const before = context.globalAlpha;
      paths.forEach((path, level) => {
        context.globalAlpha = before * strengths[level];
        context.stroke(path);
      });
      context.globalAlpha = before;
    });
  }

  draw() {
    const { view, context, canvas } = this;
    if (!this.height) return;
    if (!this.base) {
      this.base = document.createElement("canvas");
      const under = fitted(this.base, this.width, this.height).context;
      under.fillStyle = colour("paper");
      under.fillRect(0, 0, this.width, this.height);
      this.lines(under, view.visible, view.groups.map(() => colour("faint")), 0.8);
    }
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.base, 0, 0, canvas.width, canvas.height);
    context.restore();
    this.lines(context, view.kept, view.groups.map((_, group) => groupColour(group)), view.n > 200 ? 0.6 : 0.85);
    for (const pick of view.picks) this.one(context, pick.at, colour("mark"), 2.5);
    if (view.point !== null) this.one(context, view.point, colour("ink"), 3);
    if (view.hover !== null) this.one(context, view.hover, colour("ink"), 1.5);
    this.axes(context);
  }

  one(context, point, ink, width) {
    context.strokeStyle = ink;
    context.lineWidth = width;
    context.beginPath();
    this.view.axes.forEach((objective, a) => context.lineTo(this.xs[a], this.y(this.view.place(objective, point))));
    context.stroke();
  }

  axes(context) {
    const { view } = this;
    const { room } = this;
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    const names = view.axes.map((objective) => inTwo(context, view.objectives[objective].label, room));
    view.axes.forEach((objective, a) => {
      const x = this.xs[a];
      context.fillStyle = colour("ink");
      context.fillRect(x - 0.5, this.top, 1.5, this.bottom - this.top);
      context.textAlign = "center";
      context.textBaseline = "top";
      names[a].forEach((line, row) => context.fillText(line, x, 4 + 14 * (row + 2 - names[a].length)));
      context.fillStyle = colour("soft");
      const better = view.betterWords(objective);
      const fits = context.measureText(better).width <= room;
      context.fillText(fits ? better : `better ${better.slice(-1)}`, x, 34);
      context.textAlign = "left";
      context.textBaseline = "middle";
      for (const [share, text] of view.ticksOf(objective, 5)) {
        const y = this.y(share);
        const words = clipped(context, text, room - 10);
        context.fillStyle = colour("paper");
        context.globalAlpha = 0.75;
        context.fillRect(x + 4, y - 7, context.measureText(words).width + 4, 14);
        context.globalAlpha = 1;
        context.fillStyle = colour("ink");
        context.fillRect(x - 3, y, 6, 1);
        context.fillText(words, x + 6, y);
      }
      const range = view.ranges.get(objective);
      if (range) {
        const [low, high] = range.map((value) => this.y(view.share(objective, value)));
        context.strokeStyle = colour("accent");
        context.lineWidth = 2;
        context.strokeRect(x - 7, Math.min(low, high) - 2, 14, Math.abs(low - high) + 4);
      }
    });
  }

  axisAt(x) {
    let best = 0;
    this.xs.forEach((each, a) => {
      if (Math.abs(each - x) < Math.abs(this.xs[best] - x)) best = a;
    });
    return Math.abs(this.xs[best] - x) <= 24 ? this.view.axes[best] : null;
  }

  nearest(x, y) {
    const { view, xs } = this;
    const a = xs.findIndex((each, i) => i + 1 < xs.length && x >= each && x <= xs[i + 1]);
    if (a < 0 || y < this.top - 8) return null;
    const along = (x - xs[a]) / (xs[a + 1] - xs[a]);
    let best = 10;
    let found = null;
    for (let i = 0; i < view.n; i += 1) {
      if (!view.kept[i]) continue;
      const at = this.y(view.place(view.axes[a], i) * (1 - along) + view.place(view.axes[a + 1], i) * along);
      if (Math.abs(at - y) < best) {
        best = Math.abs(at - y);
        found = i;
      }
    }
    return found;
  }

  brush(from, to) {
    const objective = this.axisAt(from.x);
    if (objective === null) return false;
    const share = (y) => Math.min(1, Math.max(0, (this.bottom - y) / (this.bottom - this.top)));
    const ends = [from.y, to.y].map((y) => this.view.valueAt(objective, share(y)));
    this.view.setRange(objective, Math.min(...ends), Math.max(...ends));
    return true;
  }
}
