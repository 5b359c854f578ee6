from pathlib import Path

import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.products import read_model, read_requirements
from shortlist.products.configuration.requirements import from_literals, make_requirements
from shortlist.products.formats.uvl_writer import write_configuration
from shortlist.products.model import make_model

MODEL = make_model(["Shop", "Web Server", "-dash", "Pop-ups"])


def _file(folder: Path, text: str, name: str = "wishes.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "literals"),
    [
        pytest.param("a.csv", "feature,selected\nShop,1\nPop-ups,false\n", (1, -4), id="table"),
        pytest.param("a.txt", "Shop\n# why not\n-Pop-ups\n-dash\n", (1, 3, -4), id="names"),
        pytest.param("a.txt", "Shop -> true\nWeb Server -> false\n", (1, -2), id="arrows"),
        pytest.param("Yes_a.txt", "1   Shop\n2   Web_Server\n\n148ms", (1, 2), id="yes list"),
        pytest.param("No_a.txt", "4   Popups\n", (-4,), id="no list"),
        pytest.param("No_a.txt", "\n", (), id="empty list"),
        pytest.param("a.config", "c 1 Shop\nv 1 -2 3 -4 0\n", (1, 3, -2, -4), id="solver's literals"),
        pytest.param("a.richseed", "1 -2\n4", (1, 4, -2), id="bare literals"),
        pytest.param("a.config", 'Shop\n"Web Server"\n', (1, 2), id="FeatureIDE's plain list"),
        pytest.param(
            "a.config",
            '<?xml version="1.0" encoding="UTF-8"?>\n<configuration>\n<feature automatic="selected" name="Shop"/>\n'
            '<feature automatic="undefined" manual="unselected" name="Web Server"/>\n<feature name="Pop-ups"/>\n'
            '<feature automatic="selected" manual="selected" name="-dash"/></configuration>',
            (1, 3, -2),
            id="FeatureIDE's XML",
        ),
    ],
)
def test_every_form_of_a_partial_configuration_is_read(
    name: str, text: str, literals: tuple[int, ...], tmp_path: Path
) -> None:
    assert read_requirements(_file(tmp_path, text, name), MODEL).literals == literals


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        pytest.param("a.csv", "feature,selected\nShop,2\n", r":2: selected must be 1, 0", id="truth"),
        pytest.param("a.csv", "feature,selected\nShop\n", r":2: the row must have 2 columns", id="columns"),
        pytest.param("a.txt", "Shop\nWebb Server\n", r":2: .*'Webb Server'. Did you mean 'Web Server'", id="unknown"),
        pytest.param("a.txt", "Shop\n-Shop\n", r":2: feature 'Shop' is selected and deselected, see line 1", id="both"),
        pytest.param("Yes_a.txt", "2   Shop\n", r":1: variable 2 is 'Web Server' in the model, got 'Shop'", id="name"),
        pytest.param("Yes_a.txt", "9   Shop\n", r":1: the line must start with a variable 1 to 4", id="number"),
        pytest.param("Yes_a.txt", "9" * 5000 + " Shop\n", r":1: the line must start with a variable 1 to 4", id="number of 5,000 digits"),
        pytest.param("a.txt", "1   Shop\n", r"must be called Yes_... or No_", id="unnamed list"),
        pytest.param("a.config", "<x/>", r":1: the XML must be a <configuration>", id="other XML"),
        pytest.param("a.config", "<configuration><x/></configuration>", r":1: .*got <x>", id="other element"),
        pytest.param("a.config", '<configuration>\n<feature name="Sop"/></configuration>', r":2: .*Did you mean 'Shop'", id="XML name"),
        pytest.param("a.config", '<configuration><feature manual="yes" name="Shop"/></configuration>', r"got 'yes'", id="state"),
        pytest.param("a.txt", "5 0\n", r":1: a literal must name a variable 1 to 4, got 5", id="literal"),
    ],
)  # fmt: skip
def test_a_bad_file_gets_a_sentence_with_the_line(name: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match=message):
        read_requirements(_file(tmp_path, text, name), MODEL)


def test_names_and_files_are_joined_and_contradictions_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "-Pop-ups\n")
    joined = make_requirements(MODEL, select=["shop"], deselect=["Web Server"], fixed=[path])
    assert (joined.select, joined.deselect) == ((0,), (1, 3))
    with pytest.raises(BadInputError, match="'Pop-ups' is required to be selected and deselected at once"):
        make_requirements(MODEL, select=["popups"], fixed=[path])
    with pytest.raises(BadInputError, match=r"deselect names no feature: 'Sop'\. Did you mean 'Shop'"):
        make_requirements(MODEL, deselect=["Sop"])
    with pytest.raises(BadFileError, match="cannot be read"):
        make_requirements(MODEL, fixed=[tmp_path / "none"])
    with pytest.raises(BadInputError, match="variables 1 to 4, got 5"):
        from_literals(MODEL, [5])


@pytest.mark.parametrize("ending", [".csv", ".config"])
def test_a_written_product_reads_back_as_requirements(ending: str, tmp_path: Path) -> None:
    model = read_model(Path(__file__).parents[1] / "models" / "phone.uvl")
    selection = [1, 1, 1, 0, 1, 0, 0, 1, 0, 1]
    path = tmp_path / f"product{ending}"
    write_configuration(path, model, selection)
    wanted = read_requirements(path, model)
    assert [int(i in wanted.select) for i in range(model.n_features)] == selection
    assert len(wanted.literals) == model.n_features


def test_a_name_that_a_spreadsheet_would_run_is_guarded_and_read_back(tmp_path: Path) -> None:
    model = make_model(["=cmd()", "-Xmx", "'=quoted", "plain"])
    write_configuration(tmp_path / "p.csv", model, [1, 0, 1, 0])

    assert (tmp_path / "p.csv").read_text() == "feature,selected\n'=cmd(),1\n'-Xmx,0\n''=quoted,1\nplain,0\n"
    assert read_requirements(tmp_path / "p.csv", model).literals == (1, 3, -2, -4)


def test_a_name_that_ends_in_a_blank_is_another_name(tmp_path: Path) -> None:
    (tmp_path / "model.uvl").write_text('features\n\tRoot\n\t\toptional\n\t\t\t"A "\n\t\t\tA\n')
    model = read_model(tmp_path / "model.uvl")
    (tmp_path / "chosen.csv").write_text('feature,selected\n"A ",1\n')

    assert read_requirements(tmp_path / "chosen.csv", model).literals == (model.labels.index("A ") + 1,)
