import itertools
from pathlib import Path

import numpy as np
import pytest

from shortlist.datasets.registry import judged_messages, prices_of_judges
from shortlist.errors import BadFileError, BadInputError
from shortlist.multistage.problem.cost_files import read_costs
from shortlist.multistage.problem.costs import feature_costs

NAMES = ["a", "b", "c"]


def test_a_file_with_group_discounts_gives_the_shared_first_price(tmp_path: Path) -> None:
    file = tmp_path / "costs.csv"
    file.write_text("test,cost,discount_cost,group\na,7.27,5.17,A\nb,5.20,3.10,A\nc,15.5,15.5,\n")
    costs = read_costs(file, NAMES)

    assert int(costs.price(np.array([True, False, False]))) / costs.scale == 7.27
    assert int(costs.price(np.array([True, True, False]))) / costs.scale == pytest.approx(10.37)
    assert costs.total / costs.scale == pytest.approx(25.87)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name,price\na,1\n", "must have the columns feature and cost"),
        ("feature,cost\na,1\na,2\nb,1\nc,1\n", "must name each feature once, got 'a' twice"),
        ("feature,cost\na,1\nb,1\n", "got none for 'c'"),
        (
            "feature,cost,discount_cost,group\na,3,1,A\nb,3,2,A\nc,1,1,\n",
            "every test must save the same when .*, but 'b' saves 1, and those before it 2\\. Split",
        ),
        ("", "is empty"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "costs.csv"
    file.write_text(text)
    with pytest.raises(BadInputError, match=sentence):
        read_costs(file, NAMES)


def test_the_dataset_must_be_one_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "costs.csv"
    file.write_text("dataset,test,cost\nx,a,1\nx,b,2\nx,c,3\ny,a,9\n")

    assert read_costs(file, NAMES, dataset="x").prices.tolist() == [1, 2, 3]
    with pytest.raises(BadInputError, match=r"dataset must be x or y.*got 'z'"):
        read_costs(file, NAMES, dataset="z")
    with pytest.raises(BadInputError, match=r"got 'a' twice\. Say which dataset's rows to use"):
        read_costs(file, NAMES)
    file.write_text("test,cost\na,1\nb,2\nc,3\n")
    with pytest.raises(BadInputError, match="must have a column dataset to choose 'x' by"):
        read_costs(file, NAMES, dataset="x")


def test_prices_of_judges_are_paid_once_for_all_their_columns(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("name,cost\nann,2\nbob,0.5\n")
    columns = ["ann:no", "bob", "ann:yes"]
    costs = read_costs(file, columns)

    prices = {
        frozenset(chosen): sum(
            {"ann": 2, "bob": 0.5}[name] for name in {one.partition(":")[0] for one in chosen}
        )
        for size in range(4)
        for chosen in itertools.combinations(columns, size)
    }
    for chosen, price in prices.items():
        mask = np.array([name in chosen for name in columns])
        assert int(costs.price(mask)) / costs.scale == price
    with pytest.raises(BadInputError, match="bob"):
        read_costs(file, columns[::2])


def test_prices_of_an_example_are_read() -> None:
    names = judged_messages().columns[:-1].tolist()
    costs = read_costs("example:judges-prices", names)
    assert (costs.prices / costs.scale).tolist() == prices_of_judges()["cost"].tolist()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="cannot be read"):
        read_costs(tmp_path / "none.csv", NAMES)


def test_turneys_heart_costs_are_read(data_folder: Path) -> None:
    names = ["age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal"]  # fmt: skip
    costs = read_costs(data_folder / "costs" / "turney_costs.csv", names, dataset="heart-disease")
    blood = np.isin(names, ["chol", "fbs"])

    assert int(costs.price(blood)) / costs.scale == pytest.approx(10.37)
    assert len(costs.first_prices) == 3


def test_lines_that_others_need_are_no_features_and_dropped_columns_are_paid_where_needed(
    tmp_path: Path,
) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("name,cost,needs\nann,2,text;b\nbob,0.5,text\ntext,10,scan\nscan,1,\nb,4,\nc,9,\n")
    columns = ["ann:no", "bob", "ann:yes"]
    notes: list[str] = []
    costs = read_costs(file, columns, dropped=["b", "c"], notes=notes)

    masks = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1]], dtype=bool)
    assert (costs.price(masks) / costs.scale).tolist() == [17, 17, 11.5, 17.5]
    assert notes == [f"{file} also prices c, which are dropped: passed over."]
    file.write_text("name,cost,needs\nann,2,words\nbob,0.5,\n")
    with pytest.raises(BadInputError, match="got 'words'"):
        read_costs(file, columns)


def test_needs_of_an_example_are_read() -> None:
    costs = read_costs("example:judges-needs", judged_messages().columns[:-1].tolist())
    alone = np.eye(len(costs.names), dtype=bool)
    first, second = costs.names.index("large-model-1"), costs.names.index("large-model-2")
    assert costs.price(alone[first]) / costs.scale == pytest.approx(2.8)
    assert costs.price(alone[first] | alone[second]) / costs.scale == pytest.approx(2 + 0.8 + 0.96)


@pytest.mark.parametrize(
    ("lines", "columns", "dropped", "prices"),
    [
        (
            ("feature,cost,discount_cost,group,needs\nx0,5,1,blood,\nx1,6,2,blood,\nx2,4,,,photo\n"
            "photo,7,3,blood,\n"),
            ["x0", "x1", "x2"], ["photo"],
            [0, 5, 6, 7, 11, 12, 13, 14],
        ),  # x2 is 4, with 7 for a photo; whoever has opened the group pays 3 for that
        (
            "name,cost,discount_cost,group,needs\nann,5,1,panel,text\nbob,6,2,panel,\ntext,3,,,\n",
            ["ann:no", "ann:yes", "bob"], [],
            [0, 8, 8, 8, 6, 10, 10, 10],
        ),
        (
            "feature,cost,needs\n1,5,12345678\n2,6,\n12345678,7,\n3,1,12345678\n",
            ["1", "2", "3"], [],
            [0, 12, 6, 18, 8, 13, 14, 19],
        ),
    ],
    ids=["a thing", "a judge", "numbers as names"],
)  # fmt: skip
def test_what_is_needed_may_have_a_group(
    tmp_path: Path, lines: str, columns: list[str], dropped: list[str], prices: list[int]
) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(lines)
    costs = read_costs(file, columns, dropped=dropped)
    assert costs.table().tolist() == [price * costs.scale for price in prices]


def test_a_group_that_is_called_like_what_is_needed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("feature,cost,discount_cost,group,needs\na,5,1,photo,\nb,4,,,photo\nphoto,7,,,\n")
    with pytest.raises(BadInputError, match="a line with the name of a group, got 'photo'"):
        read_costs(file, ["a", "b"])


HOURS = """feature,cost,hours,laboratory,discount_cost,group
age,1,0,none,1,
sugar,5,2.5,north,3,blood
fat,6,24,north,4,blood
"""


def test_further_columns_of_numbers_are_attributes(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text(HOURS, encoding="utf-8")
    costs = read_costs(tmp_path / "prices.csv", ["fat", "age", "sugar"])

    (hours,) = costs.attributes  # neither the text nor the columns that prices are made of
    assert hours.name == "hours"
    assert (hours.values / hours.scale).tolist() == [24, 0, 2.5, 0]
    again = feature_costs(costs, ["age", "sugar", "fat"])
    assert (again.attributes[0].values / hours.scale).tolist() == [0, 2.5, 24, 0]


def test_what_prices_are_made_of_is_no_attribute_even_if_asked_for(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text(HOURS, encoding="utf-8")
    wanted = ["cost", "discount_cost", "hours"]
    costs = read_costs(tmp_path / "prices.csv", ["fat", "age", "sugar"], wanted=wanted)

    assert [one.name for one in costs.attributes] == ["hours"]


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("-1", r"hours of 'sugar' must be a number of at least 0, got -1\. Mend or drop the entry\."),
        ("soon", r"hours of 'sugar' must be a number of at least 0, got 'soon'\. Mend or drop the entry\."),
        ("", r"hours of 'sugar' must be a number of at least 0, got NaN, as of an empty cell\. Mend or drop the entry\."),
    ],
)  # fmt: skip
def test_an_attribute_that_is_asked_for_must_be_numbers(tmp_path: Path, cell: str, sentence: str) -> None:
    (tmp_path / "prices.csv").write_text(HOURS.replace("2.5", cell), encoding="utf-8")
    names = ["age", "sugar", "fat"]

    assert read_costs(tmp_path / "prices.csv", names).attributes == ()
    with pytest.raises(BadInputError, match=sentence):
        read_costs(tmp_path / "prices.csv", names, wanted=["hours"])


def test_hours_of_a_judge_are_taken_once_for_all_his_columns(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("name,cost,hours\nann,2,3\nbob,1,5\n", encoding="utf-8")
    costs = read_costs(tmp_path / "prices.csv", ["ann:ham", "ann:spam", "bob"])

    chain = np.array([[True, False, False], [True, True, False], [True, True, True]])
    assert costs.taken(chain, costs.attributes)[:, 0].tolist() == [3, 0, 5]


def test_columns_of_prices_are_known_however_their_letters_are_written(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("Feature,COST,Discount_Cost, Group\na,5,2,lab\nb,4,1,lab\n")
    costs = read_costs(path, ["a", "b"])
    assert costs.price(np.array([[True, True]])).tolist() == [6 * costs.scale]
    path.write_text("feature,Cost,COST\na,5,2\n")
    with pytest.raises(BadFileError, match="must have the columns feature and cost"):
        read_costs(path, ["a"])
