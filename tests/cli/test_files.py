"""One look at the files of a command before its work begins."""

import os
from pathlib import Path

import pytest

from shortlist.cli.files import FRONT_FILE, MODEL_FILE, PAGE_FILE, check_files, files_by_kind
from shortlist.errors import BadFileError, BadInputError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "t.csv").write_text("a\n1\n")
    (tmp_path / "linked.csv").symlink_to("t.csv")
    os.link(tmp_path / "t.csv", tmp_path / "hard.csv")
    (tmp_path / "dangling.csv").symlink_to("new.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["t.csv", "./t.csv", "sub/../t.csv", "linked.csv", "hard.csv", "ABSOLUTE"])
def test_an_output_that_is_an_input_is_refused_whatever_it_is_called(folder: Path, name: str) -> None:
    out = str(folder / "t.csv") if name == "ABSOLUTE" else name
    with pytest.raises(BadInputError, match=r"^--out .* is the same file as TABLE.* Name another file\.$"):
        check_files(inputs={"TABLE": "t.csv"}, outputs={"--out": out})
    with pytest.raises(BadInputError, match="the same file as --fixed"):
        check_files(inputs={"--fixed": [Path("sub/none"), Path(out)]}, outputs={"--out": Path("t.csv")})


@pytest.mark.parametrize(("one", "other"), [("new.csv", "sub/../new.csv"), ("dangling.csv", "new.csv")])
def test_two_outputs_of_one_name_are_refused_before_they_exist(folder: Path, one: str, other: str) -> None:
    with pytest.raises(BadInputError, match=r"--study .* is the same file as --out"):
        check_files(inputs={}, outputs={"--out": one, "--study": other})
    assert not (folder / "new.csv").exists()


@pytest.mark.usefixtures("folder")
def test_what_can_be_read_and_written_passes() -> None:
    check_files(
        inputs={"TABLE": "t.csv", "--costs": None, "--fixed": [], "MODEL": "example:breast-cancer", "X": "-"},
        outputs={"--out": "new.parquet", "--study": "sub/s.jsonl"},
        endings={"--out": (".parquet",), "--study": (".jsonl",)},
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ({"TABLE": "no.csv"}, {}, "no.csv cannot be read: No such file or directory"),
        ({"TABLE": "sub"}, {}, "TABLE sub must be a file, got a folder"),
        ({"TABLE": "t.csv/x"}, {}, "t.csv/x cannot be read: Not a directory"),
        ({}, {"--out": "sub"}, "--out must be a file, got the folder"),
        ({}, {"--out": "no/x.csv"}, "its folder does not exist"),
        ({}, {"--out": "/dev/null"}, "--out must be an ordinary file"),
        ({}, {"--out": "-"}, "--out must be a file, got '-'"),
        ({}, {"--out": "x.pdf"}, "--out must end in .csv or .parquet, got 'x.pdf'"),
    ],
)
def test_what_cannot_be_read_or_written_is_one_sentence(
    inputs: dict[str, str], outputs: dict[str, str], message: str
) -> None:
    with pytest.raises((BadFileError, BadInputError)) as caught:
        check_files(inputs=inputs, outputs=outputs, endings={"--out": (".csv", ".parquet")})
    assert message in str(caught.value)


def test_a_protected_file_is_not_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = os.access
    monkeypatch.setattr(
        os,
        "access",
        lambda path, mode: (
            Path(path).name != "t.csv" and allowed(path, mode)
        ),  # root may write it all the same
    )
    for key in ("--out", "--study"):
        with pytest.raises(BadFileError, match="it is protected"):
            check_files(inputs={}, outputs={key: folder / "t.csv"})


def test_the_ending_of_out_says_what_is_written() -> None:
    kinds = {"front": FRONT_FILE, "model": MODEL_FILE, "page": PAGE_FILE}
    files = [Path("m.JOBLIB"), Path("p.htm"), Path("f.csv")]
    assert files_by_kind(files, **kinds) == (Path("f.csv"), Path("m.JOBLIB"), Path("p.htm"))
    assert files_by_kind(None, **kinds) == (None, None, None)
    with pytest.raises(BadInputError, match="--out must name one front, one model and one page at most, got"):
        files_by_kind([Path("p.html"), Path("q.htm")], **kinds)
