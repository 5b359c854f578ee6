// Small charts of lines, bars, boxes, counts and ranks, as SVG that is drawn anew for every width.
class Chart {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    new ResizeObserver(() => this.layout()).observe(root);
    this.layout();
  }

  layout() {
    if (!this.root.clientWidth) return;
    const draw = { line: lineChart, bar: barChart, box: boxChart, counts: countChart, ranks: rankChart }[this.data.kind];
    const panels = (this.data.panels || [{}]).map((panel) => [panel, el("div")]);
    this.root.replaceChildren(...panels.map(([, place]) => place));
    for (const [{ name, ...own }, place] of panels) {
      const width = Math.max(260, place.clientWidth);
      const { height, parts } = draw({ ...this.data, ...own }, width);
      const label = name ? `${name}. ${this.data.text}` : this.data.text;
      place.append(...(name ? [el("h4", {}, name)] : []),
        svgEl("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, parts));
    }
  }
}

const LETTERS = "12px system-ui, 'DejaVu Sans', sans-serif";
const pen = document.createElement("canvas").getContext("2d");

function inked(text) {
  pen.font = LETTERS;
  return pen.measureText(text).width;
}

function widest(names) {
  return names.reduce((most, name) => Math.max(most, inked(name.slice(0, 60))), 0);
}

function svgText(x, y, text, attributes, room) {
  pen.font = LETTERS;
  const cut = room ? clipped(pen, text, room) : text;
  const node = svgEl("text", { x, y, "font-size": 12, ...attributes }, cut);
  if (cut !== text) node.append(svgEl("title", {}, text));
  return node;
}

// What is right or wrong has an ink of its own; other series take the colours in turn.
function inkOf(one, i) {
  return one.ink ? colour(one.ink) : groupColour(i);
}

function keys(series, width, at) {
  const parts = [];
  let x = 8;
  let y = at;
  series.forEach((one, i) => {
    const { name } = one;
    const wide = Math.min(inked(name.slice(0, 200)) + 40, width - 16);
    if (x + wide > width) {
      x = 8;
      y += 18;
    }
    parts.push(svgEl("rect", { x, y: y - 9, width: 12, height: 10, fill: inkOf(one, i) }), svgText(x + 18, y, name, {}, wide - 20));
    x += wide;
  });
  return { parts, height: y + 12 };
}

function axisFrame(data, width, height, top, x, y) {
  const left = 58;
  const right = width - 12;
  const bottom = height - 44;
  const log = data.x.log;
  const across = (value) => left + ((log ? Math.log10(value / x[0]) / Math.log10(x[1] / x[0]) : (value - x[0]) / (x[1] - x[0])) || 0) * (right - left);
  const up = (value) => bottom - ((value - y[0]) / (y[1] - y[0] || 1)) * (bottom - top);
  const parts = [];
  for (const value of ticks(y[0], y[1], Math.max(2, Math.floor((bottom - top) / 48)))) {
    parts.push(svgEl("line", { x1: left, x2: right, y1: up(value), y2: up(value), stroke: colour("line") }),
      svgText(left - 6, up(value) + 4, short(value), { "text-anchor": "end" }));
  }
  const marks = log ? powers(x[0], x[1]) : ticks(x[0], x[1], Math.max(2, Math.floor((right - left) / 80)));
  for (const value of data.x.whole ? marks.filter(Number.isInteger) : marks) {
    parts.push(svgEl("line", { x1: across(value), x2: across(value), y1: bottom, y2: bottom + 4, stroke: colour("soft") }),
      svgText(across(value), bottom + 17, short(value), { "text-anchor": "middle" }));
  }
  parts.push(svgEl("line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: colour("soft") }),
    svgText(right, bottom + 34, data.x.label, { "text-anchor": "end", class: "soft" }, right - left),
    svgText(4, top - 8, data.y.label, { class: "soft" }, width - 8));
  return { left, right, bottom, across, up, parts };
}

// Powers of ten, and where there are few of them also what is twice and five times as much.
function powers(low, high) {
  const steps = high / low < 1000 ? [1, 2, 5] : [1];
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high * 1.0001; power += 1) {
    for (const step of steps) {
      const at = Number((step * 10 ** power).toPrecision(3));
      if (at >= low * 0.9999 && at <= high * 1.0001) found.push(at);
    }
  }
  return found.length ? found : [low, high];
}

function ends(values, pad) {
  const finite = values.filter((value) => value !== null && Number.isFinite(value));
  if (!finite.length) return [0, 1];
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  const more = (high - low || Math.abs(high) || 1) * pad;
  return [low - more, high + more];
}

function lineChart(data, width) {
  const legend = keys(data.series, width, 14);
  const top = legend.height + 22;
  const height = top + Math.min(300, Math.max(180, width * 0.45)) + 44;
  const points = data.series.flatMap((one) => one.points);
  const x = ends(points.map(([at]) => at).filter((at) => !data.x.log || at > 0), 0);
  if (x[0] === x[1]) x[1] = x[0] + 1;
  const y = data.y.range || ends([...points.map(([, value]) => value), ...data.series.flatMap((one) => (one.band || []).flat())], 0.05);
  const { parts, across, up } = axisFrame(data, width, height, top, x, y);
  data.series.forEach((one, i) => {
    if (one.band) {
      const edge = (side) => one.points.map(([at], k) => `${across(at).toFixed(1)},${up(one.band[k][side]).toFixed(1)}`);
      parts.push(svgEl("polygon", { points: [...edge(0), ...edge(1).reverse()].join(" "), fill: inkOf(one, i), "fill-opacity": 0.18 }));
    }
    const kept = one.points.filter(([at, value]) => value !== null && (!data.x.log || at > 0));
    let path = "";
    kept.forEach(([at, value], k) => {
      const [px, py] = [across(at).toFixed(1), up(value).toFixed(1)];
      if (!k) path = `M${px} ${py}`;
      else path += one.step ? `H${px}V${py}` : `L${px} ${py}`;
    });
    if (one.line !== false) parts.push(svgEl("path", { d: path, fill: "none", stroke: inkOf(one, i), "stroke-width": 2, "stroke-dasharray": i % 2 ? "7 3" : null }));
    if (kept.length <= 60 || one.line === false) {
      for (const [at, value, words] of kept) {
        parts.push(svgEl("circle", { cx: across(at), cy: up(value), r: one.line === false ? 4 : 2.5, fill: inkOf(one, i) },
          svgEl("title", {}, words || `${one.name}: ${shown(at)}, ${shown(value)}`)));
      }
    }
  });
  for (const { at, text } of data.marks || []) {
    const onLeft = across(at) > width * 0.7;
    parts.push(svgEl("line", { x1: across(at), x2: across(at), y1: top, y2: height - 44, stroke: colour("mark"), "stroke-width": 2, "stroke-dasharray": "4 3" }),
      svgText(across(at) + (onLeft ? -6 : 6), top + 12, text, { "text-anchor": onLeft ? "end" : "start", class: "over" }));
  }
  return { height, parts: [...legend.parts, ...parts] };
}

// Bars lie, so that long names have room; several series of one name lie under each other.
function barChart(data, width) {
  const several = data.series.length > 1;
  const legend = several ? keys(data.series, width, 14) : { parts: [], height: 4 };
  const thick = several ? 11 : 16;
  const step = data.series.length * thick + 8;
  const left = Math.min(width * 0.4, Math.max(60, widest(data.names) + 12));
  const [, most] = data.x.range || ends([0, ...data.series.flatMap((one) => one.values)], 0);
  const [least] = ends([0, ...data.series.flatMap((one) => one.values)], 0);
  const across = (value) => left + ((value - least) / (most - least || 1)) * (width - left - 64);
  const parts = [];
  data.names.forEach((name, row) => {
    const top = legend.height + 8 + row * step;
    parts.push(svgText(left - 8, top + (data.series.length * thick) / 2 + 4, name, { "text-anchor": "end" }, left - 8));
    data.series.forEach((one, i) => {
      const value = one.values[row];
      if (value === null) return;
      const [from, to] = [across(Math.min(0, value)), across(Math.max(0, value))];
      parts.push(svgEl("rect", { x: from, y: top + i * thick, width: Math.max(1, to - from), height: thick - 2, fill: inkOf(one, i) }, svgEl("title", {}, `${name}, ${one.name}: ${shown(value)}`)),
        svgText(to + 4, top + i * thick + thick - 4, short(value), { "font-size": 11 }));
    });
  });
  const height = legend.height + 8 + data.names.length * step + 22;
  parts.push(svgText(width - 8, height - 6, data.x.label, { "text-anchor": "end", class: "soft" }, width - 16));
  return { height, parts: [...legend.parts, ...parts] };
}

function quantile(sorted, share) {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

// A box from quartile to quartile with the median, whiskers to the ends, and every run as a dot.
function boxChart(data, width) {
  const left = Math.min(width * 0.38, Math.max(60, widest(data.names) + 12));
  const [low, high] = ends(data.values.flat(), 0.03);
  const across = (value) => left + ((value - low) / (high - low || 1)) * (width - left - 16);
  const step = 36;
  const bottom = 12 + data.names.length * step;
  const parts = [];
  for (const value of ticks(low, high, Math.max(2, Math.floor((width - left) / 80)))) {
    parts.push(svgEl("line", { x1: across(value), x2: across(value), y1: 6, y2: bottom, stroke: colour("line") }), svgText(across(value), bottom + 16, short(value), { "text-anchor": "middle" }));
  }
  data.names.forEach((name, row) => {
    const middle = 12 + row * step + step / 2;
    const sorted = data.values[row].filter((value) => value !== null).sort((a, b) => a - b);
    parts.push(svgText(left - 8, middle + 4, name, { "text-anchor": "end" }, left - 8));
    if (!sorted.length) return;
    const [q1, q2, q3] = [0.25, 0.5, 0.75].map((share) => across(quantile(sorted, share)));
    const ink = groupColour(row);
    parts.push(svgEl("line", { x1: across(sorted[0]), x2: across(sorted[sorted.length - 1]), y1: middle, y2: middle, stroke: ink }),
      svgEl("rect", { x: q1, y: middle - 9, width: Math.max(1, q3 - q1), height: 18, fill: colour("paper"), stroke: ink, "stroke-width": 2 }),
      svgEl("line", { x1: q2, x2: q2, y1: middle - 9, y2: middle + 9, stroke: ink, "stroke-width": 3 }));
    for (const value of sorted) parts.push(svgEl("circle", { cx: across(value), cy: middle, r: 2.5, fill: ink, "fill-opacity": 0.7 }, svgEl("title", {}, `${name}: ${shown(value)}`)));
  });
  parts.push(svgText(width - 8, bottom + 34, data.x.label, { "text-anchor": "end", class: "soft" }, width - 16));
  return { height: bottom + 44, parts };
}

// Numbers in cells, the larger the stronger: confusion of classes, whose diagonal is right, and agreement of members.
function countChart(data, width) {
  const names = data.rows;
  const side = data.y ? [data.y.label] : [];
  const left = Math.min(width * 0.35, Math.max(50, widest([...names, ...side]) + 10));
  const cell = Math.min(72, (width - left - 8) / data.columns.length);
  const tall = Math.min(cell, 44);
  const top = 52;
  const most = data.most || ends(data.values.flat(), 0)[1] || 1;
  const parts = [svgText(left, 16, data.x.label, { class: "soft" }, width - left - 8)];
  side.forEach((label) => parts.push(svgText(left - 6, top - 8, label, { class: "soft", "text-anchor": "end" }, left - 6)));
  const fits = cell >= 34;
  data.columns.forEach((name, i) => {
    if (fits || i % Math.ceil(30 / cell) === 0) parts.push(svgText(left + (i + 0.5) * cell, top - 8, fits ? name : String(i + 1), { "text-anchor": "middle" }, fits ? cell : 0));
  });
  names.forEach((name, row) => {
    const y = top + row * tall;
    if (tall >= 13 || row % Math.ceil(14 / tall) === 0) parts.push(svgText(left - 6, y + tall / 2 + 4, name, { "text-anchor": "end" }, left - 6));
    data.values[row].forEach((value, column) => {
      const strong = value === null ? 0 : Math.max(0, value) / most;
      const words = `${name}, ${data.columns[column]}: ${shown(value)}`;
      parts.push(svgEl("rect", { x: left + column * cell, y, width: cell - 1, height: tall - 1, fill: data.diagonal && row !== column ? colour("wrong") : colour("right"), "fill-opacity": 0.06 + 0.5 * strong }, svgEl("title", {}, words)));
      if (fits) parts.push(svgText(left + (column + 0.5) * cell, y + tall / 2 + 4, short(value), { "text-anchor": "middle" }));
    });
  });
  return { height: top + names.length * tall + 10, parts };
}

// Mean ranks on a line, best to the left; a bar joins methods that the test does not tell apart.
function rankChart(data, width) {
  const n = data.names.length;
  const [left, right] = [24, width - 24];
  const across = (rank) => left + ((rank - 1) / Math.max(1, n - 1)) * (right - left);
  // Names on the right of their lines go upwards from the best, those on the left downwards to the last: so no
  // line crosses a name on its own side.
  const sorted = data.names.map((_, i) => i).sort((a, b) => data.ranks[a] - data.ranks[b]);
  const isLeft = (method) => across(data.ranks[method]) < width / 2;
  const order = [...sorted.filter(isLeft).reverse(), ...sorted.filter((method) => !isLeft(method))];
  const base = 60;
  const parts = [svgEl("line", { x1: left, x2: right, y1: base, y2: base, stroke: colour("ink") })];
  const every = Math.ceil((20 * n) / (right - left));
  for (let rank = 1; rank <= n; rank += every) {
    parts.push(svgEl("line", { x1: across(rank), x2: across(rank), y1: base - 5, y2: base, stroke: colour("ink") }), svgText(across(rank), base - 10, String(rank), { "text-anchor": "middle" }));
  }
  if (data.critical) {
    parts.push(svgEl("line", { x1: left, x2: Math.min(right, across(1 + data.critical)), y1: 22, y2: 22, stroke: colour("mark"), "stroke-width": 3 }),
      svgText(left, 14, `critical difference ${short(data.critical)}`, { class: "soft" }));
  }
  let y = base + 8;
  for (const [from, to] of data.groups) {
    parts.push(svgEl("line", { x1: across(from) - 3, x2: across(to) + 3, y1: y, y2: y, stroke: colour("mark"), "stroke-width": 4 }));
    y += 8;
  }
  y += 10;
  const first = y;
  order.forEach((method, k) => {
    const x = across(data.ranks[method]);
    const row = first + k * 18;
    const onLeft = isLeft(method);
    parts.push(svgEl("line", { x1: x, x2: x, y1: base, y2: row, stroke: colour("soft") }),
      svgText(onLeft ? x + 6 : x - 6, row + 4, `${data.names[method]} ${data.ranks[method].toFixed(2)}`, { "text-anchor": onLeft ? "start" : "end", class: "over" }, onLeft ? width - x - 12 : x - 12));
  });
  return { height: first + n * 18 + 12, parts };
}
