"""The options --pick, --limit and --out, the same in every command."""

import pytest

from shortlist.cli.options.points import read_limits, read_pick
from shortlist.errors import BadInputError


def test_a_name_is_found_as_written_or_without_case_and_signs() -> None:
    found = read_limits(["Conclusive-Accuracy>.9", "cost<3"], ["conclusive_accuracy", "cost"])

    assert [str(limit) for limit in found] == ["conclusive_accuracy>0.9", "cost<3"]


def test_a_beginning_or_a_word_of_one_name_only_will_do() -> None:
    names = ["coverage", "conclusive_accuracy", "acquisition_cost"]

    assert [limit.name for limit in read_limits(["cost<=120", "cov>0", "accuracy>=.9"], names)] == [
        "acquisition_cost", "coverage", "conclusive_accuracy",
    ]  # fmt: skip
    with pytest.raises(BadInputError, match=r"must name coverage, .*, got 'co'"):
        read_limits(["co>0"], names)


def test_an_unknown_name_is_told_with_what_it_may_have_meant() -> None:
    with pytest.raises(BadInputError, match=r"--limit must name cost or.*got 'coast'. Did you mean 'cost'?"):
        read_limits(["coast<=1"], ["cost", "defects"])
    with pytest.raises(BadInputError, match=r"must name cost, defects or time"):
        read_limits(["xyz<=1"], ["cost", "defects", "time"])
    with pytest.raises(BadInputError, match=r"^limit must read like"):
        read_limits(["cost"], ["cost"])


def test_a_point_is_picked_by_its_number_or_by_a_rule() -> None:
    assert read_pick("0", ["ideal", "knee"]) == 0
    assert read_pick("knee", ["ideal", "knee"]) == "knee"
    for wrong in ("kneee", "-1", "1.5", "²", "9" * 5000):
        with pytest.raises(BadInputError, match=f"^--pick must be the number of a point.*got '{wrong}'"):
            read_pick(wrong, ["ideal", "knee"])
    with pytest.raises(BadInputError, match="Did you mean 'knee'"):
        read_pick("kneee", ["ideal", "knee"])
