"""Mutations of the library that tests have to catch: ``python -m tests.mutate`` or ``make mutate``.

Each mutation changes one place of one function in a copy of the sources: a comparison, a sign, a number, a
logical word or a truth value. The tests of the module run first, then those of its folder, then those that
import it, until one fails; slow tests count in the first step alone. Prints a row for each and ends with the
survivors and with those whose tests did not end in time, which are read by hand: a survivor is a missing
test, or a change that no answer can show.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
LEFT_OUT = ("__init__.py", "__main__.py")
SWAPS: dict[type[ast.AST], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.And: "or",
    ast.Or: "and",
}
SIGNS: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.And: "and",
    ast.Or: "or",
}


NO_END = "NO END IN TIME"
"""Answer about a mutation whose tests took too long: an endless loop, or slow tests."""


class Mutation(NamedTuple):
    """One changed place: file, line from 1, and the source from `start` to `end` with its replacement."""

    file: Path
    line: int
    start: int
    end: int
    old: str
    new: str


def mutations_of(file: Path) -> list[Mutation]:
    """Return every mutation of a file, in the order of its lines."""
    source = file.read_bytes()
    bodies = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    found = {
        mutation
        for function in bodies
        for statement in function.body
        for node in ast.walk(statement)
        for a, b, old, new in _changes(node)
        if (mutation := _replaced(file, _between(source, a, b), old, new))
    }
    return sorted(found)


Change = tuple[ast.expr, ast.expr, str, str]
"""Nodes around the changed place, and its old and new text; one node twice is replaced as a whole."""


def _changes(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield node.left, node.comparators[0], SIGNS[type(node.ops[0])], SWAPS[type(node.ops[0])]
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS and not _is_text(node):
        yield node.left, node.right, SIGNS[type(node.op)], SWAPS[type(node.op)]
    elif isinstance(node, ast.BoolOp):
        yield node.values[0], node.values[1], SIGNS[type(node.op)], SWAPS[type(node.op)]
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        new = not node.value if isinstance(node.value, bool) else node.value + 1
        yield node, node, repr(node.value), repr(new)


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    words = any(isinstance(side, ast.Constant) and isinstance(side.value, str | bytes) for side in sides)
    return words or any(isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) for side in sides)


def _between(source: bytes, a: ast.expr, b: ast.expr) -> tuple[int, int, str]:
    """Return the bytes between two nodes, from and to and as text; those of the node if both are one."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    ends = [starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0) for node in (a, b)]
    start, end = ends[0], starts[b.lineno - 1] + b.col_offset
    if a is b:
        start, end = end, ends[0]
    return start, end, source[start:end].decode()


def _replaced(file: Path, place: tuple[int, int, str], old: str, new: str) -> Mutation | None:
    start, end, text = place
    if text.count(old) != 1 or "#" in text:
        return None
    line = file.read_bytes()[:start].count(b"\n") + 1
    return Mutation(file, line, start, end, text, text.replace(old, new))


def steps_of(file: Path) -> list[list[str]]:
    """Return the tests of a module in the order to run them: its own, its folder's, and the importers."""
    place = file.relative_to(ROOT / "src")
    place = place.relative_to("shortlist") if place.parts[0] == "shortlist" else place
    own = ROOT / "tests" / place.parent / f"test_{place.stem.removeprefix('_')}.py"
    folders = [ROOT / "tests" / parent for parent in place.parents if (ROOT / "tests" / parent).is_dir()][:2]
    module = ".".join(file.relative_to(ROOT / "src").with_suffix("").parts)
    importing = [
        path
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if f"{module} import" in path.read_text(encoding="utf-8")
    ]
    steps = [[own] if own.exists() else [], folders[:1] if len(folders) > 1 else [], importing]
    return [[str(path) for path in step] for step in steps if step]


def caught_by(mutation: Mutation, copy: Path, limit_s: float) -> str:
    """Return the first failing step of tests, empty if all pass."""
    target = copy / mutation.file.relative_to(ROOT / "src")
    source = target.read_bytes()
    target.write_bytes(source[: mutation.start] + mutation.new.encode() + source[mutation.end :])
    environment = os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    try:
        for number, step in enumerate(steps_of(mutation.file)):
            marked = ["-m", "not slow"] if number else []
            run = subprocess.run(
                [*command, *marked, *step],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=limit_s,
                check=False,
            )
            if run.returncode not in {0, 5}:  # 5: the step has no fast test
                said = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return (said or ["an error outside tests"])[0][:120]
    except subprocess.TimeoutExpired:
        return NO_END
    finally:
        target.write_bytes(source)
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description="Change places of the library at random, and run the tests.")
    parser.add_argument("--number", type=int, default=60, help="mutations, 60 by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=600, help="seconds for a step of tests")
    given = parser.parse_args()
    draw = random.Random(given.seed)
    files = [
        path
        for path in sorted((ROOT / "src").rglob("*.py"))
        if path.name not in LEFT_OUT and {"cli", "report"}.isdisjoint(path.parts) and mutations_of(path)
    ]
    drawn = [draw.choice(mutations_of(file)) for file in draw.sample(files, given.number)]
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy)
        for number, mutation in enumerate(drawn, start=1):
            by = caught_by(mutation, copy, given.limit)
            where = f"{mutation.file.relative_to(ROOT)}:{mutation.line}"
            what = f"{mutation.old.strip()} to {mutation.new.strip()}"
            print(f"{number} of {given.number}  {where}  {what}  {by or 'SURVIVED'}", flush=True)
            survivors += [] if by and by != NO_END else [f"{where}  {what}  {by}".rstrip()]
    print(f"{given.number - len(survivors)} of {given.number} caught; read the others:", *survivors, sep="\n")


if __name__ == "__main__":
    main()
