"""Names in documents exist: files, the functions in them, and pages that link to each other."""

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    *sorted((ROOT / "docs" / "explanation").glob("*.md")),
    *sorted((ROOT / "docs" / "results").glob("*.md")),
]
FILES = [
    path
    for room in ("src", "tests", "benchmarks", "examples")
    for path in (ROOT / room).rglob("*")
    if path.is_file()
]
FILE = r"`(?P<file>(?:[\w-]+/)*[\w-]+\.pyi?)(?:: (?P<name>[\w.]+))?`"
FOLDER = r"`(?P<folder>(?:[\w-]+/)+)`"
ROOMS = re.compile(
    r"^(?:src/shortlist|cli|ensembles|multistage|products|methods|milp|tests|benchmarks|docs)/"
)


def _of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _files_called(path: str) -> list[Path]:
    return [file for file in FILES if file.as_posix().endswith("/" + path)]


def _names_of(file: Path) -> set[str]:
    names = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            names |= {
                f"{node.name}.{part.name}" for part in ast.walk(node) if isinstance(part, ast.FunctionDef)
            }
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


@pytest.mark.parametrize("page", PAGES, ids=_of)
def test_every_file_and_function_that_a_page_names_exists(page: Path) -> None:
    missing = []
    for match in re.finditer(FILE, page.read_text()):
        files = _files_called(match["file"])
        if "/" not in match["file"] and match["name"] is None and not files:
            continue  # a user's own file, as in `mine.py`
        if not any(match["name"] is None or match["name"] in _names_of(file) for file in files):
            missing.append(match[0])
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=_of)
def test_every_folder_of_the_house_that_a_page_names_exists(page: Path) -> None:
    folders = {"/" + path.parent.as_posix().strip("/") + "/" for path in FILES} | {
        "/" + path.parent.as_posix().strip("/") + "/" for path in (ROOT / "docs").rglob("*.md")
    }
    named = [folder for folder in re.findall(FOLDER, page.read_text()) if ROOMS.match(folder)]
    assert [folder for folder in named if not any("/" + folder in known for known in folders)] == []


@pytest.mark.parametrize("page", PAGES, ids=_of)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


UNCLEAR = re.compile(
    r"\bnobody\b|\bso many\b|\b(?:by|on) the word of\b|\b(?:rows|cases|half|mean) that chose\b|\bthat chose (?:it|them)\b"
    r"|\b(?:come|comes|came) to\b|\"\"\"Whose\b|\bwhose an? \w+ is\b",
    flags=re.IGNORECASE,
)
"""Words of our own; say n, "no judge" or "missing answer", "claimed by", "selection rows", or the result."""

WRITTEN = [
    *PAGES, *sorted((ROOT / "docs" / "tutorials").glob("*.md")), *sorted((ROOT / "docs" / "reference").glob("*.md")),
    *(file for file in FILES if ROOT / "src" in file.parents and file.suffix in {".py", ".pyi", ".js", ".html"}),
]  # fmt: skip


def test_what_is_read_is_in_words_of_the_trade() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in WRITTEN
        for match in UNCLEAR.finditer(" ".join(path.read_text(encoding="utf-8").split()))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("paper", "names"),
    [
        ("Pruning", ["Equation 3", "Equation 10", "Equation 13", "Equation 19", "θ", "Theorem 1", "HC-CON", "HC-UWA"]),
        ("Evolution", ["Equation 3", "Equation 4", "Equation 5", "Figure 1"]),
        ("Stages", ["Equation 3", "Equation 4", "Equation 5", "Equation 10", "Property 1", "Property 3", "Algorithm 2"]),
        ("Product lines", ["Lemma 3.1", "Lemma 3.4", "Algorithm 2", "RandPoint", "RandDirect", "LinPro", "UnifRnd"]),
    ],
)  # fmt: skip
def test_an_equation_is_found_by_searching_for_its_name(paper: str, names: list[str]) -> None:
    text = (ROOT / "docs" / "explanation" / "equations.md").read_text(encoding="utf-8")
    section = text.split(f"## {paper}")[1].split("\n## ")[0]
    assert [name for name in names if not re.search(rf"{re.escape(name)}(?!\d)", section)] == []


def test_the_picture_of_rooms_shows_the_imports_of_today() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "_ext" / "rooms.py"))
    assert drawn["PICTURE"].read_text(encoding="utf-8") == drawn["picture"](), "run python docs/_ext/rooms.py"


def test_decisions_have_at_most_forty_lines() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    assert [_of(page) for page in pages if len(page.read_text(encoding="utf-8").splitlines()) > 40] == []
