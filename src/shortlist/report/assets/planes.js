// Points in planes of two objectives: one large plane, a triangle of planes for all pairs, or on a narrow screen
// the same planes in a row. All planes are parts of one canvas.
const MANY = 3000;
const PAD = { left: 64, right: 14, top: 26, bottom: 44, between: 24 };

class Planes {
  constructor(view, box) {
    this.view = view;
    this.canvas = el("canvas", { tabindex: 0, role: "application", "aria-roledescription": "scatter plots" });
    this.box = box;
    box.append(this.canvas);
    this.sprites = new Map();
  }

  layout() {
    const { axes } = this.view;
    const width = Math.max(240, this.box.clientWidth);
    const pairs = [];
    for (let row = 1; row < axes.length; row += 1) {
      for (let column = 0; column < row; column += 1) pairs.push([axes[column], axes[row], column, row - 1]);
    }
    const across = Math.max(1, axes.length - 1);
    this.panels = [];
    if (axes.length < 2) {
      this.height = 0;
    } else if (axes.length === 2 || width / across >= 190) {
      const inner = (width - PAD.left - PAD.right) / across;
      const tall = axes.length === 2 ? Math.min(520, Math.max(240, inner * 0.6)) : Math.min(inner, 300);
      for (const [x, y, column, row] of pairs) {
        const gap = axes.length === 2 ? 0 : 12;
        this.panels.push({ x, y, left: PAD.left + column * inner, top: PAD.top + row * (tall + PAD.between), width: inner - gap,
          height: tall, xLabel: row === across - 1, yLabel: column === 0 });
      }
      this.height = PAD.top + across * (tall + PAD.between) + PAD.bottom;
    } else {
      const columns = Math.max(1, Math.floor(width / 330));
      const cell = width / columns;
      const tall = Math.min(260, cell * 0.7);
      pairs.forEach(([x, y], i) => {
        const row = Math.floor(i / columns);
        this.panels.push({ x, y, left: (i % columns) * cell + PAD.left, top: PAD.top + row * (tall + PAD.top + PAD.bottom),
          width: cell - PAD.left - PAD.right, height: tall, xLabel: true, yLabel: true });
      });
      this.height = Math.ceil(pairs.length / columns) * (tall + PAD.top + PAD.bottom);
    }
    this.width = width;
    const { context, scale } = fitted(this.canvas, width, Math.max(1, this.height), true);
    this.context = context;
    this.scale = scale;
    this.sprites.clear();
    this.base = null;
  }

  spriteOf(group) {
    if (!this.sprites.has(group)) {
      this.sprites.set(group, sprite(group, this.view.groups.length, this.view.n > MANY, this.scale));
    }
    return this.sprites.get(group);
  }

  // Pixel positions of every point in a panel, kept until the layout or an axis changes.
  places(panel) {
    if (panel.px) return panel;
    const { view, scale } = this;
    panel.px = new Int32Array(view.n);
    panel.py = new Int32Array(view.n);
    const inset = 6;
    for (let i = 0; i < view.n; i += 1) {
      panel.px[i] = Math.round((panel.left + inset + view.place(panel.x, i) * (panel.width - 2 * inset)) * scale);
      panel.py[i] = Math.round((panel.top + panel.height - inset - view.place(panel.y, i) * (panel.height - 2 * inset)) * scale);
    }
    return panel;
  }

  put(image, mask, isFaint) {
    const { view } = this;
    const wide = this.canvas.width;
    const inks = view.groups.map((_, group) => packed(isFaint ? colour("faint") : groupColour(group)));
    const sprites = view.groups.map((_, group) => this.spriteOf(group));
    const offsets = view.n > MANY ? sprites.map((one) => covered(one, wide)) : null;
    for (const panel of this.panels) {
      const { px, py } = this.places(panel);
      if (offsets) {
        press(image, wide, mask, panel, view.group, offsets, inks);
        continue;
      }
      for (let i = 0; i < view.n; i += 1) {
        if (mask[i]) stamp(image, wide, px[i], py[i], sprites[view.group[i]], inks[view.group[i]]);
      }
    }
  }

  draw() {
    const { view, canvas } = this;
    if (!this.panels.length) return;
    const context = this.context;
    if (!this.base) {
      this.frame(context);
      const frame = context.getImageData(0, 0, canvas.width, canvas.height);
      this.put(new Uint32Array(frame.data.buffer), view.visible, true);
      this.base = frame;
    }
    const image = new ImageData(new Uint8ClampedArray(this.base.data), canvas.width, canvas.height);
    this.put(new Uint32Array(image.data.buffer), view.kept, false);
    context.putImageData(image, 0, 0);
    for (const panel of this.panels) this.marks(context, panel);
  }

  frame(context) {
    context.fillStyle = colour("paper");
    context.fillRect(0, 0, this.width, this.height);
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    for (const panel of this.panels) {
      context.strokeStyle = colour("line");
      context.lineWidth = 1;
      context.strokeRect(panel.left + 0.5, panel.top + 0.5, panel.width - 1, panel.height - 1);
      context.fillStyle = colour("ink");
      const bottom = panel.top + panel.height;
      if (panel.xLabel) {
        context.textBaseline = "top";
        let end = -Infinity;
        const marks = this.view.ticksOf(panel.x, Math.max(2, Math.floor(panel.width / 60)));
        for (const [share, text] of marks) {
          const x = panel.left + 6 + share * (panel.width - 12);
          const half = context.measureText(text).width / 2;
          const at = Math.min(Math.max(x, panel.left + half - 4), panel.left + panel.width - half + 4);
          context.fillRect(x, bottom, 1, 4);
          if (at - half < end + 6) continue;
          context.textAlign = "center";
          context.fillText(text, at, bottom + 6);
          end = at + half;
        }
        context.textAlign = "right";
        context.fillText(this.view.axisLabel(context, panel.x, "across", panel.width), panel.left + panel.width, bottom + 22);
      }
      if (panel.yLabel) {
        context.textAlign = "right";
        context.textBaseline = "middle";
        for (const [share, text] of this.view.ticksOf(panel.y, Math.max(2, Math.floor(panel.height / 40)))) {
          const y = bottom - 6 - share * (panel.height - 12);
          context.fillRect(panel.left - 4, y, 4, 1);
          context.fillText(clipped(context, text, PAD.left - 8), panel.left - 7, y);
        }
      }
      if (panel.yLabel) {
        context.textAlign = "left";
        context.textBaseline = "bottom";
        const from = panel.left - PAD.left + 4;
        const room = panel.width + PAD.left - 8;
        context.fillText(this.view.axisLabel(context, panel.y, "up", room), from, panel.top - 2);
      }
    }
  }

  marks(context, panel) {
    const { view, scale } = this;
    const { lows, highs } = view;
    const x = view.ranges.get(panel.x);
    const y = view.ranges.get(panel.y);
    if (x || y) {
      const at = (objective, value) => view.share(objective, value);
      const [x0, x1] = (x || [lows[panel.x], highs[panel.x]]).map((value) => at(panel.x, value)).sort((a, b) => a - b);
      const [y0, y1] = (y || [lows[panel.y], highs[panel.y]]).map((value) => at(panel.y, value)).sort((a, b) => a - b);
      const left = panel.left + 6 + x0 * (panel.width - 12);
      const top = panel.top + panel.height - 6 - y1 * (panel.height - 12);
      context.strokeStyle = colour("accent");
      context.lineWidth = 1.5;
      context.strokeRect(left - 3, top - 3, (x1 - x0) * (panel.width - 12) + 6, (y1 - y0) * (panel.height - 12) + 6);
    }
    const ring = (point, radius, ink, width) => {
      context.strokeStyle = ink;
      context.lineWidth = width;
      context.beginPath();
      context.arc(panel.px[point] / scale, panel.py[point] / scale, radius, 0, 2 * Math.PI);
      context.stroke();
    };
    for (const pick of view.picks) ring(pick.at, 9, colour("mark"), 2);
    if (view.point !== null) ring(view.point, 12, colour("ink"), 2);
    if (view.hover !== null) ring(view.hover, 8, colour("ink"), 1.5);
  }

  panelAt(x, y) {
    return this.panels.find((p) => x >= p.left - 8 && x <= p.left + p.width + 8 && y >= p.top - 8 && y <= p.top + p.height + 8) || null;
  }

  nearest(x, y) {
    const panel = this.panelAt(x, y);
    if (!panel || !panel.px) return null;
    let best = (20 * this.scale) ** 2;
    let found = null;
    for (let i = 0; i < this.view.n; i += 1) {
      if (!this.view.visible[i]) continue;
      const far = (panel.px[i] - x * this.scale) ** 2 + (panel.py[i] - y * this.scale) ** 2;
      if (far < best || (far === best && this.view.kept[i])) {
        best = far;
        found = i;
      }
    }
    return found;
  }

  brush(from, to) {
    const panel = this.panelAt(from.x, from.y);
    if (!panel) return false;
    const value = (objective, share) => this.view.valueAt(objective, Math.min(1, Math.max(0, share)));
    const across = [from.x, to.x].map((x) => value(panel.x, (x - panel.left - 6) / (panel.width - 12)));
    const up = [from.y, to.y].map((y) => value(panel.y, (panel.top + panel.height - 6 - y) / (panel.height - 12)));
    this.view.setRange(panel.x, Math.min(...across), Math.max(...across));
    this.view.setRange(panel.y, Math.min(...up), Math.max(...up));
    return true;
  }
}
