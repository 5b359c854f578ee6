"""Files that were cut off, and the study's lists of fixed features."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadFileError
from shortlist.products import read_model, read_requirements

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
