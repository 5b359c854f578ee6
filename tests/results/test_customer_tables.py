"""Tables of customers as people keep them."""

from decimal import Decimal
from pathlib import Path

import pytest

from shortlist.errors import BadFileError
from shortlist.results.customer_tables import read_customers
from shortlist.results.customers import Customer, Wish
from shortlist.results.objective import read_limit
from shortlist.tables.spreadsheets import save_rows
from tests.stored import Stored

FEATURES = ["GPS", "MP3", "Web Server"]
QUANTITIES = ["cost", "hours", "weight"]

ANN = Customer("Ann", (1, -2), (read_limit("cost<=95.5"),))
BOB = Customer("Bob", (3,), (read_limit("hours>=19"),))


def read(path: Path, text: str, notes: list[str] | None = None) -> tuple[Customer, ...]:
    file = path / "customers.csv"
    file.write_text(text)
    return read_customers(file, FEATURES, QUANTITIES, notes)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Who,GPS,MP3,web server,most cost,least hours\nAnn,yes,no,,95.5,\nBob,,,yes,,19\n", id="commas"),
        pytest.param("Kunde;gps;mp3;WebServer;cost höchstens;hours mindestens\nAnn;ja;nein;;95,50;\nBob;;egal;x;;19\n", id="semicolons"),
        pytest.param("customer\tGPS\tMP3\tWeb Server\tcost <=\thours >=\nAnn\t1\t0\t\t95.5\t\nBob\t\t\t1\t\t19\n", id="tabs and digits"),
        pytest.param('x,GPS,MP3,Web Server,cost (max),min hours\nAnn,TRUE,FALSE,,"95,5",\nBob,,,True,,19\n', id="a decimal comma in quotes"),
        pytest.param("n,GPS,MP3,Web Server,cost,hours\nAnn,✓,n,,<= 95.5,\nBob,,,j,,at least 19\n", id="signs in cells"),
        pytest.param("n,wanted,unwanted,most,least\nAnn,GPS,MP3,cost 95.5,\nBob,web server,,,hours: 19\n", id="lists"),
        pytest.param("wish,Ann,Bob\nGPS,yes,\nMP3,no,\nWeb Server,,yes\nmost cost,95.5,\nhours at least,,19\n", id="customers in columns"),
        pytest.param("n,GPS,MP3,Web Server,max. cost,min. hours\nAnn,y,n,,95.5 €,\n\nBob,,,y,,19\n", id="currency and an empty line"),
    ],
)  # fmt: skip
def test_the_same_wishes_are_read_however_they_are_written(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == (ANN, BOB)


def test_a_workbook_is_read_as_its_table(tmp_path: Path) -> None:
    file = tmp_path / "customers.xlsx"
    save_rows(
        file, ["Kunde", "GPS", "MP3", "most cost"], [["Ann", "ja", "nein", 95.5], ["Bob", None, None, None]]
    )
    assert read_customers(file, FEATURES, QUANTITIES) == (ANN, Customer("Bob"))


def test_what_was_read_is_told_in_one_line(tmp_path: Path, stored: Stored) -> None:
    notes: list[str] = []
    read(tmp_path, "Kunde,GPS,most cost,weight of cost,Notes\nAnn,yes,9,2,hello\n", notes)
    stored(*notes)


def test_lists_hold_several_wishes_and_weights_their_decimals(tmp_path: Path) -> None:
    text = (
        'n,wanted,most,weight of cost,hours weight\nAnn,"GPS, MP3; Web Server","cost 9,5; hours <= 3",0.25,\n'
    )
    (one,) = read(tmp_path, text.replace("GPS, MP3; Web", "GPS; MP3; Web"))
    assert one == Customer(
        "Ann", (1, 2, 3), (read_limit("cost<=9.5"), read_limit("hours<=3")), {"cost": Decimal("0.25")}
    )


def test_customers_without_a_column_of_names_are_numbered(tmp_path: Path) -> None:
    assert [one.name for one in read(tmp_path, "GPS,MP3\nyes,\n,no\n")] == ["row 2", "row 3"]


def test_a_customer_may_be_called_as_a_feature_is(tmp_path: Path) -> None:
    assert read(tmp_path, "GPS,MP3\nAnn,yes\n") == (Customer("Ann", (2,)),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n,GPS\nAnn,perhaps\n", "customers.csv:2: 'GPS' must be yes where the feature is wanted, no where"),
        ("n,GPS,MP3\nAnn,1,0\nBob,0,1\n", "0 may say that a feature is unwanted, or that it does not matter"),
        ("n,GPS,cost\nAnn,yes,9\n", "Call it 'most cost', 'least cost' or 'weight of cost'"),
        ("n,GPX,MP3\nAnn,yes,\n", "'GPX' says yes and no, but there is no such feature. Did you mean 'GPS'?"),
        ("n,GPS,most cst\nAnn,yes,9\n", "there is no 'cst'. Did you mean 'cost'?"),
        ("n,GPS,most cost\nAnn,yes,cheap\n", "customers.csv:2: 'most cost' must be a number, got 'cheap'"),
        ("n,GPS,gps\nAnn,yes,no\n", "columns 'GPS' and 'gps' say the same thing"),
        ("n,wanted,unwanted\nAnn,GPS,GPS\n", "customers.csv:2 wants 'GPS' and does not"),
        ("n,wanted\nAnn,GPX\n", "must name features, got 'GPX'. Did you mean 'GPS'?"),
        ("n,most\nAnn,cheap\n", "must read like 'cost 100, grams 80', got 'cheap'"),
        ("n,Notes\nAnn,hello\n", "no column of a feature or a limit"),
        ("n,GPS\n", "has no customers"),
        ("", "has no customers"),
        ("\n\n\n", "has no customers"),
        ("Camra,MP3\nja,ja\n", "'Camra' says yes and no, but there is no such feature"),
        ("GPX,MP3\nja,ja\n", "'GPX' says yes and no, but there is no such feature. Did you mean 'GPS'?"),
        ("GPX,MP3\nja,ja\nvielleicht,ja\n", "'GPX' says yes and no"),
        ("n,GPS,cots\nAnn,yes,<= 100\n", "'cots' holds limits, but there is no 'cots'. Did you mean 'cost'?"),
        ("n,MP3,GPX\nAnn,yes,ja\nBob,,vielleicht\n", "'GPX' says yes and no"),
        ("n,GPS,max price\nAnn,yes,cheap\n", "there is no 'price'. Known are cost, hours and weight."),
        ("n,MP3,GPX\nAnn,yes,soon\n", "'GPX' is no feature and no limit. Did you mean 'GPS'?"),
        ("n,GPS,most cost\nAnn,yes,1e30\n", "got '1e30', which is too large"),
        ("n,GPS,cost\nAnn,yes,<= 1e30\n", "got '<= 1e30', which is too large"),
        ("n,GPS,most cost\nAnn,yes,9007199254740992\n", "must be a number below 9,007,199,254,740,992 in size"),
        ("n,most\nAnn,cost -1000000000000000000\n", "must be a number below 9,007,199,254,740,992 in size"),
        ("n,wanted,wanted\nAnn,GPS,MP3\n", "columns 'wanted' and 'wanted' say the same thing"),
        ("n,most,at most\nAnn,cost 1,cost 2\n", "columns 'most' and 'at most' say the same thing"),
        ("n,GPS,weight of cost\nAnn,yes,-1\n", "must be a weight of at least 0"),
        ("n,GPS,weight of cost\nAnn,yes,0\n", "has no weight above 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_or_can_be_read_in_two_ways_is_refused(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(BadFileError) as told:
        read(tmp_path, text)
    assert words in str(told.value)


def test_a_name_of_a_feature_and_of_an_objective_is_told_by_its_cells(tmp_path: Path) -> None:
    file = tmp_path / "customers.csv"
    file.write_text("n,most cost\nAnn,yes\n")
    assert read_customers(file, ["most cost"], ["cost"]) == (Customer("Ann", (1,)),)
    file.write_text("n,most cost\nAnn,9\n")
    assert read_customers(file, ["most cost"], ["cost"]) == (Customer("Ann", (), (read_limit("cost<=9"),)),)
    file.write_text("n,most cost\nAnn,1\n")
    with pytest.raises(BadFileError, match="may say whether a feature is wanted or a limit on an objective"):
        read_customers(file, ["most cost"], ["cost"])


@pytest.mark.parametrize(
    ("cells", "wishes"),
    [
        (["yes", "no"], [(1,), (-1,)]),
        (["<= 9", ""], [(read_limit("GPS<=9"),), ()]),
        (["9", ""], None),
        (["1", ""], None),
        (["perhaps", ""], None),
        (["", ""], [(), ()]),
    ],
)
def test_a_column_of_a_feature_and_an_objective_is_read_or_refused_with_both(
    tmp_path: Path, cells: list[str], wishes: list[tuple[Wish, ...]] | None
) -> None:
    file = tmp_path / "customers.csv"
    file.write_text(f"n,MP3,GPS\nAnn,,{cells[0]}\nBob,,{cells[1]}\n")
    if wishes is None:
        with pytest.raises(BadFileError, match="whether a feature is wanted or a limit on an objective"):
            read_customers(file, FEATURES, ["GPS"])
    else:
        assert [one.wishes for one in read_customers(file, FEATURES, ["GPS"])] == wishes


def test_the_first_column_of_names_names_and_others_are_left_out(tmp_path: Path) -> None:
    notes: list[str] = []
    found = read(tmp_path, "Kunde;Segment;GPS;Budget\nAnn;gold;ja;100\nBob;silber;;90\n", notes)
    assert [one.name for one in found] == ["Ann", "Bob"]
    assert notes[-1].endswith("left out, as no feature or limit: Segment and Budget.")
    assert [one.name for one in read(tmp_path, "#;GPS\n1;ja\n0;\n")] == ["1", "0"]
    assert [one.name for one in read(tmp_path, "Kunde;GPS\nja;ja\n")] == ["ja"]


def test_of_limits_that_are_given_twice_the_tighter_counts(tmp_path: Path) -> None:
    header = "n,most cost,most,cost,least hours,least\n"
    (one,) = read(tmp_path, f'{header}Ann,9,cost 8,< 8,1,"hours 2; cost 1"\n')
    assert one.limits == (read_limit("cost<8"), read_limit("hours>=2"), read_limit("cost>=1"))
    (one,) = read(tmp_path, "n,exactly cost,most cost,cost\nAnn,1,3,< 4\n")
    assert one.limits == (read_limit("cost==1"), read_limit("cost<=3"))


def test_customers_of_one_name_are_noted(tmp_path: Path) -> None:
    notes: list[str] = []
    found = read(tmp_path, "n,GPS\nAnn,yes\nBob,no\nAnn,\n", notes)
    assert len(found) == 3
    assert notes[-1].endswith("several customers are called Ann.")
