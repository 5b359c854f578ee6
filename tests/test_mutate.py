"""Mutations change one place each, and the sources stay Python."""

import ast
from pathlib import Path

from tests.mutate import ROOT, mutations_of, steps_of

SOURCE = '''
LIMIT = 3

def f(x: int = 2, y: int = 1) -> bool:
    """One sentence with 1 number."""
    é = x + 1 if x < y and y != 0 else -y  # 5 < 6
    return é >= 2 or False
'''


def test_each_mutation_changes_one_place_of_a_body(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(SOURCE, encoding="utf-8")
    source = file.read_bytes()
    made = set()
    for mutation in mutations_of(file):
        changed = source[: mutation.start] + mutation.new.encode() + source[mutation.end :]
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
        assert source.splitlines()[mutation.line - 1] != changed.splitlines()[mutation.line - 1]
        made.add((mutation.old.strip(), mutation.new.strip()))
    assert made == {
        ("+", "-"), ("1", "2"), ("<", "<="), ("and", "or"), ("!=", "=="), ("0", "1"), (">=", ">"), ("2", "3"),
        ("or", "and"), ("False", "True"),
    }  # fmt: skip


def test_a_module_is_tested_by_its_own_tests_first() -> None:
    steps = steps_of(ROOT / "src" / "shortlist" / "results" / "intervals.py")
    assert steps[0] == [str(ROOT / "tests" / "results" / "test_intervals.py")]
    assert steps[1] == [str(ROOT / "tests" / "results")]
