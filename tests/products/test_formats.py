"""Readers and writers, on models of our own."""

import gzip
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given

from shortlist.errors import BadFileError, BadInputError
from shortlist.files import Source
from shortlist.products import FeatureModel, read_model, write_model
from shortlist.products.clauses import to_clauses
from shortlist.products.formats import written_model
from shortlist.products.formats.dimacs import read_dimacs
from shortlist.products.formats.uvl import read_uvl
from shortlist.products.formats.uvl_writer import write_configuration
from shortlist.products.model import Constraint, make_group, make_model
from shortlist.products.rules import are_valid
from tests.examples import examples
from tests.products import oracles, strategies

MODELS = Path(__file__).parent / "models"
PHONES = ["phone.sxfm.xml", "phone.uvl", "phone.featureide.xml", "phone.dimacs"]


def _written(folder: Path, text: str, name: str = "model") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", PHONES)
def test_the_same_model_in_four_formats_has_the_same_products(name: str) -> None:
    model = read_model(MODELS / name)
    assert model.names[0] == "Phone"
    products = oracles.named_products(model)
    # Five screens with or without GPS (no basic one with it), times no media or MP3; cameras need high resolution,
    # which leaves two of the five with two sets of media more.
    assert len(products) == 5 * 2 + 2 * 2
    assert products == oracles.named_products(read_model(MODELS / PHONES[0]))


@pytest.mark.parametrize("name", PHONES)
def test_the_content_decides_not_the_ending_and_gzip_is_undone(name: str, tmp_path: Path) -> None:
    packed = tmp_path / "model.txt"
    packed.write_bytes(gzip.compress((MODELS / name).read_bytes().replace(b"\n", b"\r\n")))
    assert read_model(packed).names == read_model(MODELS / name).names


@pytest.mark.parametrize("cardinality", ["[1]", "[1..1]", "[ 1 .. 1 ]"])
def test_a_uvl_feature_of_cardinality_one_does_not_repeat(cardinality: str) -> None:
    text = "features\n\tA\n\t\toptional\n\t\t\tB{} {{cost 3}}\n"
    alike = [read_uvl(Source("m", text.format(one))) for one in (f" cardinality {cardinality}", "")]
    assert oracles.products(alike[0]) == oracles.products(alike[1])
    assert alike[0].names == alike[1].names


def test_uvl_keeps_attributes_and_abstract_features() -> None:
    model = read_model(MODELS / "phone.uvl")
    assert model.name == "phone"
    assert {model.names[i] for i in model.abstract} == {"Phone", "Media"}
    assert model.attributes["cost"][1] == Decimal("2.5")
    assert model.attributes["note"] == {model.names.index("High resolution"): "new"}


@pytest.mark.parametrize("kind", ["uvl", "dimacs"])
@given(model=strategies.models(max_features=6))
@examples(40)
def test_what_is_written_reads_back_with_the_same_products(kind: str, model: FeatureModel) -> None:
    source = Source("model", written_model(model, kind).text)
    again = read_uvl(source) if kind == "uvl" else read_dimacs(source)
    names = set(model.labels)
    assert names <= set(again.labels)
    if again.n_features > 14:
        return  # too many auxiliary variables to try everything
    found = [frozenset(product & names) for product in oracles.named_products(again)]
    assert len(set(found)) == len(found)
    assert set(found) == oracles.named_products(model)


@pytest.mark.parametrize("ending", [".uvl", ".dimacs", ".cnf"])
def test_models_are_written_by_ending(ending: str, tmp_path: Path) -> None:
    model = read_model(MODELS / "phone.sxfm.xml")
    path = tmp_path / f"out{ending}"
    write_model(path, model)
    assert oracles.named_products(read_model(path)) == oracles.named_products(model)


def test_uvl_attributes_survive_writing(tmp_path: Path) -> None:
    model = read_model(MODELS / "phone.uvl")
    write_model(tmp_path / "out.uvl", model)
    again = read_model(tmp_path / "out.uvl")
    assert again.attributes == model.attributes
    assert again.abstract == model.abstract
    assert again.groups == model.groups


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    model = read_model(MODELS / "phone.uvl")
    with pytest.raises(BadInputError, match=r"ending in \.uvl, \.xml, \.sxfm, \.splx, \.dimacs, \.cnf"):
        write_model(tmp_path / "out.txt", model)
    with pytest.raises(BadInputError, match=r"ending in \.uvl, \.csv or \.config"):
        write_configuration(tmp_path / "out.xml", model, [1] * model.n_features)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", PHONES)
def test_a_product_written_as_uvl_has_exactly_that_product(name: str, tmp_path: Path) -> None:
    model = read_model(MODELS / name)
    for selected in oracles.products(model)[::3]:
        write_configuration(tmp_path / "product.uvl", model, selected)
        names = {name for name, s in zip(model.names, selected, strict=True) if s}
        (product,) = oracles.named_products(read_model(tmp_path / "product.uvl"))
        assert product - {"every_product"} == names


def test_a_product_written_as_table_or_for_featureide_looks_so(tmp_path: Path) -> None:
    model = make_model(["A", "B, or C"], root=0, groups=[make_group(0, [1], "optional")])
    write_configuration(tmp_path / "p.csv", model, [1, 0])
    assert (tmp_path / "p.csv").read_text() == 'feature,selected\nA,1\n"B, or C",0\n'
    write_configuration(tmp_path / "p.config", model, [1, 0])
    assert (tmp_path / "p.config").read_text() == (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<configuration>\n'
        '    <feature manual="selected" name="A"/>\n    <feature manual="unselected" name="B, or C"/>\n</configuration>\n'
    )
    with pytest.raises(BadInputError, match=re.escape("shape (2,), got (1,)")):
        write_configuration(tmp_path / "p.csv", model, [1])


UVL_CONSTRAINTS = [
    "A => B", "A & B | C", "!A & (B | C)", "A <=> B <=> C", "A => B => C", "!!A & !(!B)", '"A" & B',
    "A.cost + B.cost <= 5", "sum(cost) < 6", "sum(cost) == 5.5", "sum(cost) != 3",
    "2 * A.cost - 1 > (B.cost + 3) / 1", "-A.cost >= -2.5 & C", "1.5 <= C.cost", "C | A.cost * 2 == 5",
]  # fmt: skip


@pytest.mark.parametrize("constraint", UVL_CONSTRAINTS)
def test_constraints_of_uvl_mean_what_python_says(constraint: str) -> None:
    text = "features\n\tR\n\t\toptional\n\t\t\tA {cost 2.5}\n\t\t\tB {cost 3}\n\t\t\tC {cost 3, kind 'x'}\n"
    model = read_uvl(Source("m", f"{text}constraints\n\t{constraint}\n"))
    found = {"".join(sorted(product - {"R"})) for product in oracles.named_products(model)}
    assert found == {s for s in ("", "A", "B", "C", "AB", "AC", "BC", "ABC") if _python_truth(constraint, s)}


def _python_truth(constraint: str, selected: str) -> bool:
    """Evaluate a constraint with Python's own operators, after translating the signs."""
    costs = {"A": Decimal("2.5"), "B": Decimal(3), "C": Decimal(3)}
    text = constraint.replace('"', "")
    text = re.sub(r"sum\(cost\)", str(sum((costs[f] for f in selected), Decimal(0))), text)
    text = re.sub(r"\b([ABC])\.cost", lambda f: str(costs[f[1]] if f[1] in selected else 0), text)
    text = re.sub(r"(\d+(?:\.\d+)?)", r"Decimal('\1')", text)
    text = re.sub(r"\b[ABC]\b", lambda f: str(f[0] in selected), text)
    for sign in ("<=>", "=>"):
        parts = text.split(f" {sign} ")
        if len(parts) > 1:
            truths = [bool(eval(_plain(part), {"Decimal": Decimal})) for part in parts]
            value = truths[0]
            for truth in truths[1:]:
                value = value == truth if sign == "<=>" else (not value or truth)
            return value
    return bool(eval(_plain(text), {"Decimal": Decimal}))


def _plain(text: str) -> str:
    return re.sub(r"!(?!=)", " not ", text).replace("&", " and ").replace("|", " or ").strip()


@pytest.mark.parametrize(
    ("body", "n_products"),
    [
        pytest.param("[2..3]\n\t\t\tA\n\t\t\tB\n\t\t\tC", 4, id="two to three"),
        pytest.param("[2]\n\t\t\tA\n\t\t\tB\n\t\t\tC", 3, id="exactly two"),
        pytest.param("[1..*]\n\t\t\tA\n\t\t\tB", 3, id="one or more"),
        pytest.param("[*]\n\t\t\tA\n\t\t\tB", 4, id="any number"),
        pytest.param("[3..3]\n\t\t\tA\n\t\t\tB", 0, id="more than there are"),
        pytest.param('optional\n\t\t\t"or"\n\t\t\tBoolean B {abstract false}', 4, id="quoted keyword, type"),
        pytest.param("optional // why\n\t\t\tA /* not\nB */\n", 2, id="comments"),
        pytest.param(
            'optional\n\t\t\tA {\n\tcost 3,\n\tnote "a, {b}"\n\t}\n\t\t\tB', 4, id="attributes over lines"
        ),
        pytest.param(
            "optional\n\t\t\tA {constraint !A | B}\n\t\t\tB {constraints [A | B, B]}",
            2,
            id="constraints inside",
        ),
        pytest.param("optional\n            A\n            B", 4, id="spaces"),
    ],
)
def test_groups_and_attributes_of_uvl(body: str, n_products: int) -> None:
    text = f"features\n\tR\n\t\t{body}\n" if "  " not in body else f"features\n    R\n        {body}\n"
    assert len(oracles.products(read_uvl(Source("m", text)))) == n_products


BAD_FILES = {
    "empty": ("", "is empty"),
    "only spaces": (" \n\t\n", "is empty"),
    "something else": ("hello world\n", ":1: the model must be SXFM, UVL, FeatureIDE XML or DIMACS"),
    "other XML": ("<html></html>", "got <html>"),
    "a program": ("objectives ==\na\n[1]\n", "an integer program"),
    "broken XML": ("<feature_model>\n<feature_tree>\n</feature_model>", ":3:3: the XML must be well-formed"),
    "an entity bomb": (
        '<!DOCTYPE b [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><feature_model>&b;</feature_model>',
        "must not declare entities",
    ),
    "an outside entity": (
        '<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/hostname">]><featureModel>&a;</featureModel>',
        "must not declare entities",
    ),
    "sxfm without tree": ("<feature_model></feature_model>", "must have a <feature_tree>"),
    "sxfm bad line": (
        "<feature_model><feature_tree>\n:r A(a)\n\tB\n</feature_tree></feature_model>",
        ":3:2: a line of",
    ),
    "sxfm defined twice": (
        "<feature_model><feature_tree>\n:r A(a)\n\t:o B(b)\n\t:m C(b)\n</feature_tree></feature_model>",
        ":4: feature 'b' is defined twice, first in line 3",
    ),
    "sxfm below itself": (
        "<feature_model><feature_tree>\n:r A(a)\n\t:o B(b)\n\t\t:o B(b)\n</feature_tree></feature_model>",
        ":4: feature 'b' is defined twice",
    ),
    "sxfm unknown": (
        "<feature_model><feature_tree>\n:r A(a)\n</feature_tree><constraints>\nc:~a or zz\n</constraints></feature_model>",
        ":4:9: the constraint names 'zz'",
    ),
    "sxfm two roots": (
        "<feature_model><feature_tree>\n:r A(a)\n:r B(b)\n</feature_tree></feature_model>",
        ":3:1: there must be one root",
    ),
    "sxfm empty group": (
        "<feature_model><feature_tree>\n:r A(a)\n\t:g [1,1]\n</feature_tree></feature_model>",
        ":3: a group must hold features",
    ),
    "sxfm no bounds": (
        "<feature_model><feature_tree>\n:r A(a)\n\t:g (x)\n\t\t: B(b)\n</feature_tree></feature_model>",
        ":3: a group must end in bounds",
    ),
    "featureide twice": (
        '<featureModel><struct><and name="A">\n<feature name="A"/></and></struct></featureModel>',
        ":2:1: feature 'A' is defined twice, first in line 1",
    ),
    "featureide unknown": (
        '<featureModel><struct><feature name="A"/></struct>\n<constraints><rule><var>B</var></rule></constraints></featureModel>',
        ":2:20: the rule names 'B'",
    ),
    "featureide odd rule": (
        '<featureModel><struct><feature name="A"/></struct><constraints><rule>\n<xor/></rule></constraints></featureModel>',
        ":2:1: a rule must be made of",
    ),
    "featureide imp of one": (
        '<featureModel><struct><feature name="A"/></struct><constraints><rule>\n<imp><var>A</var></imp></rule></constraints></featureModel>',
        "<imp> cannot have 1 parts",
    ),
    "featureide nameless": ("<featureModel><struct><feature/></struct></featureModel>", "must have a name"),
    "uvl twice": (
        "features\n\tA\n\t\toptional\n\t\t\tB\n\t\t\tB\n",
        ":5:4: feature 'B' is defined twice; first in line 4",
    ),
    "uvl cycle": (
        "features\n\tA\n\t\toptional\n\t\t\tB\n\t\t\t\toptional\n\t\t\t\t\tA\n",
        "'A' is defined below itself, a cycle",
    ),
    "uvl unknown": ("features\n\tA\nconstraints\n\tA => B\n", ":4:4: the constraint names 'B'"),
    "uvl bad group": ("features\n\tA\n\t\tsome\n\t\t\tB\n", ":3:3: below a feature there must be one of or"),
    "uvl two roots": ("features\n\tA\n\tB\n", ":3: there must be one root"),
    "uvl indentation": (
        "features\n\t\tA\n\t\t\t\toptional\n\t\t\tB\n",
        ":4:4: the indentation fits no line above",
    ),
    "uvl no features": ("namespace x\n", "must have a section 'features'"),
    "uvl imports": ("imports\n\tother\nfeatures\n\tA\n", ":2: imports are not supported"),
    "uvl typed": ("features\n\tInteger A\n", "only Boolean features are supported"),
    "uvl cardinality": ("features\n\tA cardinality [1..2]\n", "features that repeat are not supported"),
    "uvl falling bounds": ("features\n\tA\n\t\t[2..1]\n\t\t\tB\n", ":3: a group's bounds must rise"),
    "uvl open brace": ("features\n\tA {cost 3\n", "'{' is never closed"),
    "uvl attribute value": ("features\n\tA {cost three}\n", ":2: attributes of 'A': the value of 'cost'"),
    "uvl decimal comma": (
        "features\n\tA {abstract, price 1.202,34}\n",
        ":2: attributes of 'A': a number must have a decimal point, got '1.202,34': write 1202.34.",
    ),
    "uvl small decimal comma": ("features\n\tA {price -1,5, cost 2}\n", "got '-1,5': write -1.5."),
    "uvl comma between thousands": ("features\n\tA {price 1,202.34}\n", "got '1,202.34': write 1202.34."),
    "uvl comma in a list in a list": ("features\n\tA {more {price 0,50}}\n", "write 0.50."),
    "uvl comma and dash": (
        "features\n\tA {price 5,-}\n",
        "an attribute's name must begin with a letter, got '-'",
    ),
    "uvl open bracket": ("features\n\tA\nconstraints\n\t(A\n", "is never closed"),
    "uvl stray bracket": ("features\n\tA\nconstraints\n\tA)\n", ":4:3: the bracket was never opened"),
    "uvl two names": ("features\n\tA\nconstraints\n\tA A\n", ":4:4: an operator must stand before 'A'"),
    "uvl ends early": ("features\n\tA\nconstraints\n\tA &\n", ":4:5: the constraint ends where"),
    "uvl sign": ("features\n\tA\nconstraints\n\tA ^ A\n", ":4:4: a constraint cannot hold '^'"),
    "uvl no attribute": ("features\n\tA\nconstraints\n\tA.cost < 3\n", "'A' has no attribute 'cost'"),
    "uvl not linear": ("features\n\tA {c 2}\nconstraints\n\tA.c * A.c < 3\n", "are not linear"),
    "uvl function": ("features\n\tA {c 2}\nconstraints\n\tavg(c) < 3\n", "only sum(attribute) is supported"),
    "uvl number": ("features\n\tA\nconstraints\n\tA & 3\n", "cannot stand for true or false"),
    "uvl text": ("features\n\tA {c 'x'}\nconstraints\n\tA.c == 'x'\n", "comparing texts is not supported"),
    "uvl section": ("features\n\tA\nrules\n\tA\n", ":3:1: a section must be one of"),
    "dimacs cut off": (
        "p cnf 2 3\n1 0\n-1 2 0\n",
        ":1: the header says 3 clauses, the file has 2. It was cut off",
    ),
    "dimacs too long": ("p cnf 2 1\n1 0\n-1 2 0\n", "the file has 2. Correct the header"),
    "dimacs variable": ("p cnf 2 1\n1\n 3 0\n", ":3:2: a literal must be a number from -2 to 2, got '3'"),
    "dimacs word": ("p cnf 2 1\n1 x 0\n", ":2:3: a literal must be"),
    "dimacs headers": ("p cnf 2 1\np cnf 3 1\n1 0\n", ":2: there must be one header"),
    "dimacs odd header": ("p sat 2\n1 0\n", ":1: the header must read"),
    "dimacs huge header": ("p cnf 2000000000 1\n1 0\n", "which the file is too small for"),
    "dimacs two names": ("c 1 A\nc 1 B\np cnf 1 1\n1 0\n", ":2: variable 1 is called 'A' and 'B'"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_gets_one_sentence_with_the_place(case: str, tmp_path: Path) -> None:
    text, message = BAD_FILES[case]
    path = _written(tmp_path, text)
    with pytest.raises(BadFileError) as caught:
        read_model(path)
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert message in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"\x89PNG\0\0\0", "binary data", id="binary"),
        pytest.param("features\n\tM\u00fcll\n".encode("latin-1"), "must be text in utf-8", id="another encoding"),
        pytest.param(gzip.compress(b"features\n\tA\n" * 9)[:-9], "ends early", id="cut-off gzip"),
        pytest.param(b"\x1f\x8b no gzip", "damaged", id="damaged gzip"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_text_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(BadFileError, match=message):
        read_model(tmp_path / "model")


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="cannot be read: No such file"):
        read_model(tmp_path / "none")


def test_xml_in_a_declared_encoding_is_read(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<featureModel><struct><feature name="M\u00fcll"/></struct></featureModel>'
    (tmp_path / "model").write_bytes(text.encode("latin-1"))
    assert read_model(tmp_path / "model").names == ("M\u00fcll",)


def test_what_splots_editor_gets_wrong_is_mended_and_noted(tmp_path: Path) -> None:
    tree = ":r A(a)\n\t:m R & D(b)\n\t\t:o C(c)\n\t:m R & D(b)\n\t\t:o C(c)\n"
    text = f'<feature_model name="x"><feature_tree>\n{tree}</feature_tree><constraints>\n</constraints></feature_model>'
    model = read_model(_written(tmp_path, text))
    assert model.names == ("A", "R & D", "C")
    assert len(model.notes) == 2
    assert "R & D stood twice (line 5)" in model.notes


def test_features_without_identifiers_are_told_apart(tmp_path: Path) -> None:
    text = "<feature_model><feature_tree>\n:r A\n\t:o B\n\t\t:o B\n</feature_tree></feature_model>"
    model = read_model(_written(tmp_path, text))
    assert (model.names, model.ids) == (("A", "B", "B"), ("A", "B", "B_1"))


def test_attributes_beside_a_dimacs_model_are_found(tmp_path: Path) -> None:
    path = _written(tmp_path, "c 1 A\nc 2$ _X1\np cnf 2 1\n1 2 0\n", "m.dimacs")
    _written(tmp_path, "#FEATURE_INDEX COST USED_BEFORE DEFECTS\n1 2.5 0 3\n2 7 1 0\n", "m.dimacs.augment")
    model = read_model(path)
    assert model.generated == {1}
    assert model.attributes["cost"] == {0: Decimal("2.5"), 1: Decimal(7)}
    assert model.attributes["not_used_before"] == {0: Decimal(1), 1: Decimal(0)}
    assert len(oracles.products(model)) == 3
    assert read_model(_written(tmp_path, path.read_text(), "other.dimacs")).attributes == {}


def test_a_comment_that_only_looks_like_a_name_is_none(tmp_path: Path) -> None:
    path = _written(tmp_path, "c 2024 was the year\nc\np cnf 1 1\nc in between\n1 0\n%\n0\n")
    assert read_model(path).names == ("1",)


def test_names_that_uvl_cannot_hold_are_an_error_only_when_they_meet() -> None:
    assert '"a_b"' in written_model(make_model(["a.b", "c"]), "uvl").text
    with pytest.raises(BadInputError, match="two become"):
        written_model(make_model(["a.b", 'a"b']), "uvl")


def test_rules_keep_their_names_and_lines() -> None:
    model = read_model(MODELS / "phone.sxfm.xml")
    assert [(c.name, c.line) for c in model.constraints] == [("c1", 19), ("c2", 20)]
    assert isinstance(model.constraints[0], Constraint)


def test_hostile_nesting_is_read_without_recursion(tmp_path: Path) -> None:
    depth = 20_000
    text = f"features\n\tA\nconstraints\n\t{'!(' * depth}A{')' * depth}\n"
    model = read_model(_written(tmp_path, text))
    assert are_valid(model, [[1], [0]]).tolist() == [True, False]
    assert list(to_clauses(model)) == [(1,), (1,)]


def test_reading_imports_no_solver_and_no_matrices() -> None:
    code = (
        "import sys; from shortlist.products import read_model; import shortlist.products.rules\n"
        "from shortlist.products.clauses import to_clauses\n"
        "for path in sys.argv[1:]: to_clauses(read_model(path))\n"
        "print([m for m in ('scipy', 'highspy', 'ortools', 'pandas', 'numba', 'lark') if m in sys.modules])"
    )
    paths = [str(MODELS / name) for name in PHONES]
    run = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
