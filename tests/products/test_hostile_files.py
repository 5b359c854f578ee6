"""Files that are made to hang or break a reader: each is read, or refused with one sentence, in linear time.

Two things are counted, neither of them seconds. Lines of Python that run: twice as large a file may take
little more than twice as many. And what runs inside the interpreter's own functions, such as a regular
expression that tries everything again: all files are read by one process whose processor time is limited far
above what they need, and far below what a quadratic reader would take.
"""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadFileError, BadInputError, ShortlistError
from shortlist.products import read_model, read_requirements
from shortlist.products.clauses import to_clauses
from shortlist.products.formats import written_model
from shortlist.products.model import make_group, make_model

LIMIT_S = 50
"""Processor time for all files at the size `LARGE`; they take some 5 s."""

SMALL, LARGE = 1_000, 10_000


def _uvl(constraint: str) -> str:
    return f"features\n\tA {{c 3}}\nconstraints\n\t{constraint}\n"


def _alternatives(n: int) -> list[str]:
    return [f"F{i}" for i in range(n)]


def _xml(inside: str = "", behind: str = "", before: str = "") -> str:
    model = f"<featureModel><struct><and name='R'>{inside}</and></struct>{behind}</featureModel>"
    return f"<?xml version='1.0'?>\n{before}{model}"


def _rule(formula: str) -> str:
    return f"<constraints><rule>{formula}</rule></constraints>"


def _sxfm(tree: str, constraints: str = "") -> str:
    return (
        f"<feature_model name='a'><feature_tree>\n{tree}</feature_tree>"
        f"<constraints>\n{constraints}</constraints></feature_model>"
    )


CASES: dict[str, Callable[[int], str]] = {
    "uvl: attributes in attributes": lambda n: "features\n\tA " + "{a " * n + "}" * n + "\n",
    "uvl: many attributes": lambda n: (
        "features\n\tA {\n" + "".join(f"\tb{i} 1,\n" for i in range(n)) + "c 1}\n"
    ),
    "uvl: braces never closed": lambda n: "features\n" + "\tA {\n" * n,
    "uvl: brackets never closed": lambda n: "features\n\tA\nconstraints\n" + "\t(\n" * n,
    "uvl: list never closed": lambda n: "features\n\tA {\n" + "\tb 1,\n" * n,
    "uvl: factors": lambda n: _uvl("A.c" + " * 99999999" * n + " <= 5"),
    "uvl: comments never closed": lambda n: "features\n\tA " + "/* " * n,
    "uvl: comments never closed at the start": lambda n: "/* " * n + "features\n",
    "uvl: space in a feature": lambda n: "features\n\tA" + " " * n + "x\n",
    "uvl: space around a cardinality": lambda n: "features\n\tA" + " " * n + "cardinality" + " " * n + "x\n",
    "uvl: space in bounds": lambda n: "features\n\tR\n\t\t[" + " " * n + "x\n",
    "uvl: quotes": lambda n: "features\n\t" + "\"'" * n + "\n",
    "uvl: space in a constraint": lambda n: _uvl("A" + " " * n + "?"),
    "uvl: calls in calls": lambda n: _uvl("sum(" * n),
    "uvl: space in a call": lambda n: _uvl("sum(" + " " * n + ") <= 1"),
    "uvl: brackets in brackets": lambda n: _uvl("(" * n + "A" + ")" * n),
    "uvl: nots of conjunctions": lambda n: _uvl("!(A & " * n + "A" + ")" * n),
    "uvl: implications in implications": lambda n: _uvl("A => (" * n + "A" + ")" * n),
    "uvl: equivalences": lambda n: _uvl(" <=> ".join("A" * n)),
    "uvl: dotted name": lambda n: _uvl("A" + ".a" * n + " <= 3"),
    "uvl: a long sum": lambda n: _uvl(" + ".join(["A.c"] * n) + " <= 3"),
    "uvl: factors behind a zero": lambda n: (
        "features\n\tA {c 0}\n\t\toptional\n\t\t\tB {c 3}\nconstraints\n\tsum(c)"
        + " * 99999999" * n
        + " <= 5\n"
    ),
    "uvl: denominators": lambda n: _uvl(
        "A.c" + "".join(f" + A.c / {1000003 + i}" for i in range(n)) + " <= 5"
    ),
    "uvl: a denominator for every feature": lambda n: (
        "features\n\tA\n\t\toptional\n"
        + "".join(f"\t\t\t{f} {{c 1}}\n" for f in _alternatives(n))
        + "constraints\n\t"
        + " + ".join(f"{f}.c / {1000003 + i}" for i, f in enumerate(_alternatives(n)))
        + " <= 5\n"
    ),
    "uvl: alternatives": lambda n: (
        "features\n\tR\n\t\talternative\n\t\t\t" + "\n\t\t\t".join(_alternatives(n))
    ),
    "uvl: cardinality": lambda n: "features\n\tR\n\t\t[2..3]\n\t\t\t" + "\n\t\t\t".join(_alternatives(n)),
    "dimacs: line ends": lambda n: "c a\n" + "\n" * n + "q",
    "dimacs: line ends before the header": lambda n: "c a\n" + "\n" * n + "p cnf 1 1\n1 0\n",
    "dimacs: empty comments": lambda n: "c\n" * n + "q",
    "dimacs: comments of space": lambda n: ("c" + " " * 50 + "\n") * (n // 10) + "q",
    "dimacs: space": lambda n: "c a\n" + " " * n + "q",
    "dimacs: space in a name": lambda n: "c 1 a" + " " * n + "b\np cnf 1 1\n1 0\n",
    "dimacs: space behind a number": lambda n: "c 1" + " " * n + "\np cnf 1 1\n1 0\n",
    "dimacs: space in the header": lambda n: "p cnf" + " " * n + "q\n",
    "dimacs: one clause": lambda n: f"p cnf {n} 1\n" + " ".join(map(str, range(1, n + 1))) + " 0\n",
    "xml: long comment": lambda n: _xml(before="<!--" + "a\n" * 20 * n + "-->"),
    "xml: long comment inside": lambda n: _xml("<!--" + "a\n" * 20 * n + "-->"),
    "xml: comments": lambda n: _xml(before="<!-- a -->\n" * n),
    "xml: comments never closed": lambda n: "<!--" * n,
    "xml: long instruction": lambda n: _xml(before="<?a " + "b " * 20 * n + "?>"),
    "xml: instructions never closed": lambda n: "<?" * n,
    "xml: long declaration": lambda n: _xml(before="<!DOCTYPE a [" + " " * 20 * n + "]>"),
    "xml: declarations": lambda n: _xml(before="<!DOCTYPE a [" + "<!ELEMENT a ANY>" * n + "]>"),
    "xml: declarations never closed": lambda n: "<!" * n,
    "xml: features in features": lambda n: _xml(
        "".join(f"<and name='F{i}'>" for i in range(n)) + "</and>" * n
    ),
    "xml: atmost1": lambda n: _xml(
        "".join(f"<feature name='{f}'/>" for f in _alternatives(n)),
        _rule("<atmost1>" + "".join(f"<var>{f}</var>" for f in _alternatives(n)) + "</atmost1>"),
    ),
    "xml: nots of nots": lambda n: _xml("", _rule("<not>" * n + "<var>R</var>" + "</not>" * n)),
    "xml: a name in pieces": lambda n: _xml("", _rule("<var>" + "&amp;" * n + "</var>")),
    "sxfm: space in a line": lambda n: _sxfm(":r R(r)" + " " * n + "x\n"),
    "sxfm: space before a line": lambda n: _sxfm(" " * n + "x\n"),
    "sxfm: space in bounds": lambda n: _sxfm(":r R(r)\n\t:g (g) [1" + " " * n + "\n\t\t: F(f)\n"),
    "sxfm: brackets": lambda n: _sxfm(":r R(r)\n\t:g (g) " + "[ 1" * n + "\n\t\t: F(f)\n"),
    "sxfm: repeated features": lambda n: _sxfm(":r R(r)\n" + "\t:o A(a)\n" * n),
    "sxfm: repeated names": lambda n: _sxfm(":r R(r)\n" + "\t:o A\n" * n),
    "sxfm: a clause": lambda n: _sxfm(":r R(r)\n", "c: " + " or ".join(["r"] * n) + "\n"),
    "sxfm: space in a clause": lambda n: _sxfm(":r R(r)\n", "c: r" + " " * n + "r\n"),
    "sxfm: ampersands": lambda n: _sxfm(":r R(r) " + "&#1" * n + "\n"),
}
"""Text by size."""

NUMBERS = {
    "a large exponent of an attribute": "features\n\tA {c 1e400000000}\nconstraints\n\tA.c <= 5\n",
    "a small exponent of an attribute": "features\n\tA {c 1e-400000000}\nconstraints\n\tA.c <= 5\n",
    "an exponent beyond decimals": _uvl("A.c <= 1e" + "9" * 30),
    "a large exponent": _uvl("1e400000000 <= A.c"),
    "a small exponent": _uvl("1e-99999999 <= A.c"),
    "5,000 digits": _uvl("9" * 5000 + " <= A.c"),
    "5,000 digits in bounds": "features\n\tR\n\t\t[" + "9" * 5000 + "]\n\t\t\tA\n",
    "integers too large for a method": _uvl("9007199254740993 * A.c <= 5"),
    "5,000 digits in a header": "p cnf " + "9" * 5000 + " 1\n1 0\n",
    "5,000 digits in a literal": "p cnf 1 1\n" + "9" * 5000 + " 0\n",
    "nineteen digits in a literal": "p cnf 1 1\n" + "9" * 19 + " 0\n",
    "5,000 digits in a group": _sxfm(":r R(r)\n\t:g (g) [" + "9" * 5000 + ",*]\n\t\t: F(f)\n"),
    "half of a character": "<?xml version='1.0' encoding='unicode_escape'?>"
    "<featureModel><struct><and name='a\\ud800'/></struct></featureModel>",
    "half of a character by number": _xml("<feature name='a&#xD800;'/>"),
}


def _use(path: Path) -> None:
    """Read a model, encode and write it."""
    try:
        model = read_model(path)
        to_clauses(model)
        written_model(model, "uvl")
    except ShortlistError as error:  # a sentence is an answer
        n_lines = len(str(error).splitlines())
        assert n_lines == 1, error  # noqa: PT017  # not every file is refused


def _n_lines(path: Path) -> int:
    """Count the lines of Python that run while a file is used."""
    count = 0

    def tracer(_frame: object, event: str, _argument: object) -> object:
        nonlocal count
        count += event == "line"
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)  # type: ignore[arg-type]  # returns itself
    try:
        _use(path)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_twice_the_file_takes_little_more_than_twice_the_steps(name: str, tmp_path: Path) -> None:
    counts = []
    for n in (SMALL, 2 * SMALL):
        (tmp_path / f"{n}").write_text(CASES[name](n), encoding="utf-8")
        _use(tmp_path / f"{n}")  # once before counting, for what is imported and kept
        counts.append(_n_lines(tmp_path / f"{n}"))
    assert counts[1] <= 2.2 * counts[0] + 1_000


@pytest.mark.slow
def test_no_file_holds_a_reader_up(tmp_path: Path) -> None:
    for number, text in enumerate(CASES.values()):
        (tmp_path / f"{number}").write_text(text(LARGE), encoding="utf-8")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))

    program = (
        "import sys, pathlib, test_hostile_files as t\n"
        "for p in sys.argv[1:]: t._use(pathlib.Path(p)); print(p)"
    )
    paths = [str(tmp_path / f"{number}") for number in range(len(CASES))]
    run = subprocess.run(
        [sys.executable, "-c", program, *paths], cwd=Path(__file__).parent, capture_output=True, text=True,
        preexec_fn=limit, check=False,
    )  # fmt: skip
    read = len(run.stdout.splitlines())
    assert run.returncode == 0, f"{[*CASES, 'none'][read]}: {run.stderr[-500:]}"
    assert read == len(CASES)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_beyond_all_use_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "model").write_text(NUMBERS[name], encoding="utf-8")
    with pytest.raises(BadInputError) as refused:
        read_model(tmp_path / "model")
    assert len(str(refused.value)) < 300 + len(str(tmp_path))


def test_a_large_alternative_is_still_encoded() -> None:
    n = 3_000
    model = make_model(
        ["R", *_alternatives(n)], root=0, groups=[make_group(0, range(1, n + 1), "alternative")]
    )
    clauses = to_clauses(model)
    assert clauses.n_clauses < 20 * n
    assert clauses.n_variables > model.n_features


def test_a_tree_too_deep_for_indentation_is_not_written_as_uvl() -> None:
    n = 1_500
    groups = [make_group(i, [i + 1], "optional") for i in range(n - 1)]
    model = make_model(_alternatives(n), root=0, groups=groups)
    with pytest.raises(BadInputError, match="Write it as DIMACS"):
        written_model(model, "uvl")
    assert written_model(model, "dimacs").text.startswith("c 1 F0\n")


WHOLE = "c 1 a\nc 2 b\nc 3 c\np cnf 3 3\n1 -2 0\n-1 3 0\n2 -13 0\n".replace("-13", "-3")


@given(length=st.integers(WHOLE.index("1 -2 0"), len(WHOLE.rstrip()) - 1))
def test_a_dimacs_file_cut_anywhere_in_its_clauses_is_refused(
    tmp_path_factory: pytest.TempPathFactory, length: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "model.dimacs"
    path.write_text(WHOLE[:length])
    with pytest.raises(BadFileError):
        read_model(path)


@pytest.mark.parametrize("tail", ["2", "2 -3", "2 -"])
def test_a_last_clause_without_its_zero_is_said_to_be_cut_off(tmp_path: Path, tail: str) -> None:
    (tmp_path / "model.dimacs").write_text(WHOLE.replace("2 -3 0\n", tail))
    message = "cut off" if tail != "2 -" else "literal|-"
    with pytest.raises(BadFileError, match=message):
        read_model(tmp_path / "model.dimacs")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "system", "sizes"),
    [
        ("splot/jcs.sxfm.xml", "ChatSystem", (2, 0)),
        ("splot/web-portal.sxfm.xml", "WebPortal", (4, 0)),
        ("splot/e-shop-paper-2013.sxfm.xml", "EShop", (28, 0)),
        ("lvat/ecos-icse11.dimacs", "ECos", (29, 35)),
        ("lvat/fiasco.dimacs", "Fiasco", (49, 964)),
        ("lvat/freebsd-icse11.dimacs.gz", "FreeBSD", (3, 38)),
        ("lvat/2.6.28.6-compact.dimacs.gz", "LinuxX86", (58, 98)),
        ("lvat/uClinux.dimacs", "uCLinux", (7, 1237)),
    ],
)
def test_the_studys_lists_have_the_published_sizes(
    data_folder: Path, model: str, system: str, sizes: tuple[int, int]
) -> None:
    place = data_folder / "feature-models"
    read = read_model(place / model)
    lists = [
        read_requirements(place / "paper-instances" / "fixed-features" / f"{side}_{system}.txt", read)
        for side in ("Yes", "No")
    ]
    assert (len(lists[0].select), len(lists[1].deselect)) == sizes
    assert not lists[0].deselect
    assert not lists[1].select
