// Elements, numbers and colours: what every other part of the page uses. Names become text nodes, never HTML.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
// A name whose lines may end after an underscore or a slash, and the letters of its longest word.
const parted = (text) => text.split(/(?<=[_/])/).flatMap((piece, i) => (i ? [el("wbr"), piece] : [piece]));
const longestWord = (text) => Math.max(...text.split(/[\s_/-]/).map((word) => word.length));
const svgEl = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function shown(number) {
  if (number === null || number === undefined || Number.isNaN(number)) return "unknown";
  if (!Number.isFinite(number)) return number > 0 ? "infinite" : "minus infinite";
  if (Number.isInteger(number) && Math.abs(number) < 1e15) return grouped(String(number));
  const size = Math.abs(number);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return number.toExponential(3);
  return grouped(String(Number(number.toPrecision(6))));
}

function grouped(text) {
  const [whole, rest] = text.split(".");
  const parted = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return rest === undefined ? parted : `${parted}.${rest}`;
}

function short(number) {
  const size = Math.abs(number);
  if (size >= 1e6 || (size !== 0 && size < 1e-3)) return number.toExponential(1).replace("e+", "e");
  return String(Number(number.toPrecision(4)));
}

function ticks(low, high, most) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) found.push(at * step);
  return found.length < 2 && most < 32 ? ticks(low, high, 2 * most) : found;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function groupColour(group) {
  return colour(`c${group % 8}`);
}

function clipped(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let end = Math.min(text.length, Math.ceil(width / 2));
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end)}…`;
}

// A text on one line where it fits, else on two that break at a space or an underscore.
function inTwo(context, text, width) {
  if (context.measureText(text).width <= width) return [text];
  const ends = [...text.matchAll(/[ _]/g)].map((found) => found.index + 1);
  const end = ends.findLast((each) => context.measureText(text.slice(0, each).trim()).width <= width);
  if (!end) return [clipped(context, text, width)];
  return [text.slice(0, end).trim(), clipped(context, text.slice(end), width)];
}

function counted(number, noun) {
  return `${shown(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function fitted(canvas, width, height, isRead) {
  const scale = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d", { willReadFrequently: Boolean(isRead) });
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return { context, scale };
}
