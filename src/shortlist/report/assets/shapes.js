// Marks of points. Each group has a shape, and its marks are larger than those of the groups after it, so that
// points of several groups at one place are rings around each other and none hides another.
const SHAPES = ["circle", "square", "diamond", "triangle", "down", "plus", "cross", "hexagon"];

function outline(context, shape, x, y, r) {
  const corners = { square: [4, Math.PI / 4], diamond: [4, 0], triangle: [3, -Math.PI / 2], down: [3, Math.PI / 2], hexagon: [6, 0] };
  context.beginPath();
  if (shape === "circle") {
    context.arc(x, y, r, 0, 2 * Math.PI);
  } else if (shape === "plus" || shape === "cross") {
    const d = shape === "plus" ? 0 : r * 0.75;
    const e = shape === "plus" ? r : r * 0.75;
    context.moveTo(x - e, y - d);
    context.lineTo(x + e, y + d);
    context.moveTo(x + d, y - e);
    context.lineTo(x - d, y + e);
  } else {
    const [n, turn] = corners[shape];
    for (let i = 0; i < n; i += 1) {
      const angle = turn + (2 * Math.PI * i) / n;
      context.lineTo(x + r * 1.2 * Math.cos(angle), y + r * 1.2 * Math.sin(angle));
    }
    context.closePath();
  }
}

function mark(context, group, nGroups, x, y, small) {
  const shape = SHAPES[group % SHAPES.length];
  const ring = nGroups - 1 - group;
  const radius = (small ? 1.3 : 3.2) + Math.min(ring, 5) * (small ? 1.2 : 2);
  context.lineWidth = small ? 1.1 : 1.7;
  outline(context, shape, x, y, radius);
  if (ring === 0 && shape !== "plus" && shape !== "cross") context.fill();
  else context.stroke();
  return radius;
}

// A mark as the pixels that it covers, so that a hundred thousand of them can be put into an image one by one.
function sprite(group, nGroups, small, scale) {
  const half = Math.ceil((small ? 10 : 18) * scale);
  const size = 2 * half + 1;
  const canvas = document.createElement("canvas");
  canvas.width = size;
  canvas.height = size;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.setTransform(scale, 0, 0, scale, half + 0.5, half + 0.5);
  context.fillStyle = "#000";
  context.strokeStyle = "#000";
  mark(context, group, nGroups, 0, 0, small);
  const pixels = context.getImageData(0, 0, size, size).data;
  const found = { dx: [], dy: [], alpha: [] };
  for (let i = 0; i < size * size; i += 1) {
    const alpha = pixels[4 * i + 3];
    if (alpha < 24) continue;
    found.dx.push((i % size) - half);
    found.dy.push(Math.floor(i / size) - half);
    found.alpha.push(alpha);
  }
  return found;
}

function rgb(text) {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  context.fillStyle = text;
  const hex = context.fillStyle;
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

// A color as a 32-bit pixel of an image.
function packed(text) {
  const [red, green, blue] = rgb(text);
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

// Put a sprite into an image of 32-bit pixels, mixed with what is there.
function stamp(image, width, x, y, one, ink) {
  const [red, green, blue] = [ink & 255, (ink >> 8) & 255, (ink >> 16) & 255];
  for (let i = 0; i < one.dx.length; i += 1) {
    const at = (y + one.dy[i]) * width + x + one.dx[i];
    const under = image[at];
    const a = one.alpha[i] / 255;
    const b = 1 - a;
    image[at] =
      0xff000000 |
      ((((under >> 16) & 255) * b + blue * a) << 16) |
      ((((under >> 8) & 255) * b + green * a) << 8) |
      ((under & 255) * b + red * a);
  }
}

// The same for very many points at once: pixels are covered or not, and nothing is mixed.
function press(image, width, mask, { px, py }, groups, offsets, inks) {
  for (let i = 0; i < mask.length; i += 1) {
    if (mask[i] === 0) continue;
    const at = py[i] * width + px[i];
    const own = offsets[groups[i]];
    const ink = inks[groups[i]];
    for (let k = 0; k < own.length; k += 1) image[at + own[k]] = ink;
  }
}

function covered(one, width) {
  const found = [];
  one.alpha.forEach((alpha, i) => {
    if (alpha >= 110) found.push(one.dy[i] * width + one.dx[i]);
  });
  return Int32Array.from(found);
}
