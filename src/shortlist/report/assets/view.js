// What is shown of one or several fronts: which points, which axes, which limits; pictures and tables read it.
class View {
  constructor(data) {
    this.data = data;
    this.groups = data.groups;
    this.objectives = data.objectives.map((one) => ({ ...one, label: one.unit ? `${one.name} (${one.unit})` : one.name }));
    this.values = data.values;
    this.n = data.groups.reduce((sum, one) => sum + one.n, 0);
    this.group = new Uint16Array(this.n);
    this.number = new Uint32Array(this.n);
    this.starts = [];
    let at = 0;
    data.groups.forEach((one, group) => {
      this.starts.push(at);
      for (let i = 0; i < one.n; i += 1, at += 1) {
        this.group[at] = group;
        this.number[at] = i;
      }
    });
    this.lows = this.values.map((column) => column.reduce((a, b) => (b !== null && b < a ? b : a), Infinity));
    this.highs = this.values.map((column) => column.reduce((a, b) => (b !== null && b > a ? b : a), -Infinity));
    this.axes = this.objectives.map((_, i) => i).slice(0, 4);
    this.hidden = new Set();
    this.ranges = new Map();
    this.turned = true;
    this.hover = null;
    this.picks = data.picks.map((pick) => ({ ...pick, at: this.starts[pick.group] + pick.index }));
    this.point = this.picks.length ? this.picks[0].at : null;
    this.pinned = this.point;
    this.numbers = this.values.map((column) => Float64Array.from(column, (value) => value ?? NaN));
    this.incomplete = this.values.filter((column) => column.includes(null));
    this.turn();
    this.filter();
    this.choices = unpack(data.choices, this.n);
  }

  turn() {
    this.place_ = this.objectives.map((_, objective) => Float32Array.from(this.values[objective], (value) => this.share(objective, value)));
  }

  flipped(objective) {
    return this.turned && this.objectives[objective].better === "less";
  }

  place(objective, point) {
    return this.place_[objective][point];
  }

  share(objective, value) {
    const low = this.lows[objective];
    const wide = this.highs[objective] - low;
    const share = wide > 0 ? (value - low) / wide : 0.5;
    return this.flipped(objective) ? 1 - share : share;
  }

  valueAt(objective, share) {
    const low = this.lows[objective];
    return low + (this.flipped(objective) ? 1 - share : share) * (this.highs[objective] - low);
  }

  ticksOf(objective, most) {
    const found = ticks(this.lows[objective], this.highs[objective], most);
    const fit = this.objectives[objective].whole ? found.filter(Number.isInteger) : found;
    return fit.map((value) => [this.share(objective, value), short(value)]).sort((a, b) => a[0] - b[0]);
  }

  isBetterHigh(objective) {
    return (this.objectives[objective].better === "more") !== this.flipped(objective);
  }

  betterWords(objective) {
    if (this.flipped(objective)) return "less is better ↑";
    return this.objectives[objective].better === "more" ? "more is better ↑" : "less is better ↓";
  }

  // The name of an axis and which way is better: where that has no room, the name and its arrow.
  axisLabel(context, objective, way, room) {
    const { label, better } = this.objectives[objective];
    const high = this.isBetterHigh(objective);
    const arrow = way === "across" ? (high ? "→" : "←") : high ? "↑" : "↓";
    const whole = `${label}: ${better} is better ${arrow}`;
    if (context.measureText(whole).width <= room) return whole;
    return `${clipped(context, label, room - context.measureText(` ${arrow}`).width)} ${arrow}`;
  }

  setRange(objective, low, high) {
    this.ranges.set(objective, [low, high]);
  }

  filter() {
    this.visible = Uint8Array.from(this.group, (group) => (this.hidden.has(group) ? 0 : 1));
    for (const column of this.incomplete) column.forEach((value, i) => {
      if (value === null) this.visible[i] = 0;
    });
    this.narrow();
  }

  // Keep what is visible and within every range.
  narrow() {
    const kept = Uint8Array.from(this.visible);
    for (const [objective, [low, high]] of this.ranges) {
      const column = this.numbers[objective];
      for (let i = 0; i < kept.length; i += 1) if (column[i] < low || column[i] > high) kept[i] = 0;
    }
    this.nKept = kept.reduce((a, b) => a + b, 0);
    this.kept = kept;
  }

  name(point) {
    const number = `point ${this.number[point]}`;
    return this.groups.length > 1 ? `${number} of ${this.groups[this.group[point]].name}` : number;
  }

  valueWords(point) {
    return this.objectives.map((one, o) => `${one.name} ${shown(this.values[o][point])}${one.unit ? ` ${one.unit}` : ""}`);
  }

  order() {
    const [first, second] = [this.axes[0] ?? 0, this.axes[1] ?? 0];
    const places = [...this.kept.keys()].filter((i) => this.kept[i]);
    return places.sort((a, b) => this.place(first, a) - this.place(first, b) || this.place(second, a) - this.place(second, b) || a - b);
  }

  // For each objective the nearest point of the same front that is better in it, in units of the front's ranges.
  neighbours(point) {
    const gains = this.objectives.map((one) => (one.better === "more" ? 1 : -1));
    const width = this.objectives.map((_, o) => this.highs[o] - this.lows[o] || 1);
    const found = this.objectives.map(() => ({ far: Infinity, at: null }));
    const start = this.starts[this.group[point]];
    const end = start + this.groups[this.group[point]].n;
    for (let i = start; i < end; i += 1) {
      let far = 0;
      for (let o = 0; o < width.length; o += 1) far += ((this.values[o][i] - this.values[o][point]) / width[o]) ** 2;
      for (let o = 0; o < width.length; o += 1) {
        if ((this.values[o][i] - this.values[o][point]) * gains[o] > 0 && far < found[o].far) found[o] = { far, at: i };
      }
    }
    return found.map((one) => one.at);
  }
}

// What is chosen at each point: bits, or a small number per candidate, deflated and written as base 64.
async function unpack(choices, n) {
  if (!choices || !choices.packed) return null;
  const bytes = Uint8Array.from(atob(choices.packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const plain = new Uint8Array(await new Response(stream).arrayBuffer());
  const wide = choices.names.length;
  const stride = choices.kind === "bits" ? Math.ceil(wide / 8) : wide;
  return (point) => {
    const row = plain.subarray(point * stride, (point + 1) * stride);
    if (choices.kind !== "bits") return Array.from(row, (value) => (value > 127 ? value - 256 : value));
    return Array.from({ length: wide }, (_, i) => (row[i >> 3] >> (7 - (i & 7))) & 1);
  };
}
