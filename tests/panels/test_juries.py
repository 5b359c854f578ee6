"""Juries for evaluation tools; inspect-ai 0.3.285 and promptfoo 0.121.20 ran both kinds."""

import ast
import json

import pytest

from shortlist.errors import BadInputError
from shortlist.panels.juries import inspect_jury, promptfoo_jury

HOSTILE = ['a"]); import os #', "b\\n'''", "c\u2028"]


def test_names_stay_text_in_python_whatever_they_hold() -> None:
    tree = ast.parse(inspect_jury(HOSTILE))

    assert [type(one) for one in tree.body] == [ast.ImportFrom, ast.Assign]
    call = tree.body[1].value  # type: ignore[attr-defined]
    assert {one.arg: ast.literal_eval(one.value) for one in call.keywords} == {
        "model": HOSTILE,
        "reducer": "majority",
    }


@pytest.mark.parametrize("n_judges", range(1, 12))
def test_a_set_passes_if_more_than_half_of_the_graders_score_one(n_judges: int) -> None:
    names = [f"provider:{number}" for number in range(n_judges)]
    [jury] = json.loads(promptfoo_jury(names, "It is polite."))["defaultTest"]["assert"]

    assert [one["provider"] for one in jury["assert"]] == names
    for n_votes in range(n_judges + 1):
        # as promptfoo compares: the mean score with the threshold
        assert (n_votes / n_judges >= jury["threshold"]) == (2 * n_votes > n_judges)


@pytest.mark.parametrize("judges", [[], ["a", "a"], "ab", [""]])
def test_what_is_no_jury_is_refused(judges: list[str]) -> None:
    with pytest.raises(BadInputError, match="judges must"):
        inspect_jury(judges)
    with pytest.raises(BadInputError, match="judges must"):
        promptfoo_jury(judges, "It is polite.")


def test_a_jury_needs_a_question() -> None:
    with pytest.raises(BadInputError, match="question must say what the models decide"):
        promptfoo_jury(["a"], " ")
