"""The picture of rooms in the architecture page, drawn from the imports: python docs/_ext/rooms.py."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
PICTURE = ROOT / "docs" / "pictures" / "rooms.svg"
ROW, BOX, GAP, WIDTH, LETTER = (
    66,
    30,
    26,
    900,
    8.2,
)  # pixels: of a layer, a box, between boxes, of all, a letter
GROUND = 6
"""Number of lowest layers that everything uses: they are named on one line, without arrows."""

STYLE = """
  text { font: 13px ui-monospace, monospace; fill: #1f2933; }
  rect { fill: #eef3f8; stroke: #7b8794; }
  rect.ground { fill: none; stroke-dasharray: 4 3; }
  path { fill: none; stroke: #627d98; stroke-width: 1.2; }
  path.head { fill: #627d98; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb; } rect { fill: #243b53; stroke: #9fb3c8; } path { stroke: #9fb3c8; }
    path.head { fill: #9fb3c8; }
  }
"""

Arrow = tuple[str, str]


class Spot(NamedTuple):
    """Place of a box: its left edge, its upper edge and its width, in pixels."""

    x: float
    y: float
    width: float


def layers() -> list[list[str]]:
    """Return the rooms by layer, the highest first, as the contract of imports lists them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(
        each for each in settings["tool"]["importlinter"]["contracts"] if each["type"] == "layers"
    )
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def arrows() -> set[Arrow]:
    """Return the imports between rooms without those that follow from others."""
    import grimp  # comes with import-linter

    rooms = {room for layer in layers() for room in layer}
    graph = grimp.build_graph("shortlist", "shortlist_papers")
    found = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = _room(module, rooms), _room(imported, rooms)
            if None not in pair and pair[0] != pair[1]:
                found.add(pair)
    return _reduced(found)


def _room(module: str, rooms: Iterable[str]) -> str | None:
    return next((room for room in rooms if module == room or module.startswith(f"{room}.")), None)


def _reduced(pairs: set[Arrow]) -> set[Arrow]:
    """Return the pairs without those that a longer way of other pairs connects."""
    return {
        (a, b)
        for a, b in pairs
        if not any(_leads(c, b, pairs) for first, c in pairs if first == a and c != b)
    }


def _leads(a: str, b: str, pairs: set[Arrow]) -> bool:
    return (a, b) in pairs or any(_leads(c, b, pairs) for first, c in pairs if first == a)


def picture() -> str:
    """Return the drawing as SVG: a row a layer, an arrow an import."""
    upper, ground = layers()[:-GROUND], [room for layer in layers()[-GROUND:] for room in layer]
    spots = {room: spot for row, layer in enumerate(upper) for room, spot in _row(layer, row).items()}
    lines = [_arrow(spots[a], spots[b]) for a, b in sorted(arrows()) if a in spots and b in spots]
    lines += [_box(_short(room), spot) for room, spot in spots.items()]
    height = len(upper) * ROW + 10
    lines += [_box("", Spot(10, height, WIDTH - 20), "ground")]
    lines += [f'  <text x="22" y="{height + 20}">{", ".join(map(_short, ground))}</text>']
    size = f'viewBox="0 0 {WIDTH} {height + BOX + 10}" width="{WIDTH}"'
    title = "Rooms of the library, by layer; arrows are imports, without those that follow from others"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    return "\n".join([head, f"  <title>{title}</title>", f"  <style>{STYLE}  </style>", *lines, "</svg>", ""])


def _short(room: str) -> str:
    return room.removeprefix("shortlist.")


def _row(layer: list[str], row: int) -> dict[str, Spot]:
    widths = [len(_short(room)) * LETTER + 20 for room in layer]
    x = (WIDTH - sum(widths) - GAP * 3 * (len(layer) - 1)) / 2 + (30 if row % 2 else -30)
    found = {}
    for room, width in zip(layer, widths, strict=True):
        found[room] = Spot(round(x, 1), 10 + row * ROW, round(width, 1))
        x += width + GAP * 3
    return found


def _box(text: str, spot: Spot, kind: str = "room") -> str:
    rect = f'  <rect class="{kind}" x="{spot.x}" y="{spot.y}" width="{spot.width}" height="{BOX}" rx="4"/>'
    middle = f'x="{spot.x + spot.width / 2:.1f}" y="{spot.y + 20}" text-anchor="middle"'
    return f"{rect}<text {middle}>{text}</text>" if text else rect


def _arrow(above: Spot, below: Spot) -> str:
    x, y = above.x + above.width / 2, above.y + BOX
    to_x, to_y = below.x + below.width / 2, below.y
    bend = (to_y - y) / 2
    line = f"M {x:.1f} {y} C {x:.1f} {y + bend:.1f}, {to_x:.1f} {to_y - bend:.1f}, {to_x:.1f} {to_y - 6}"
    head = f"M {to_x:.1f} {to_y} l -4 -7 h 8 z"
    return f'  <path d="{line}"/><path class="head" d="{head}"/>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
