"""Options as annotated fields: their checks, the methods that have them, and plain signatures."""

import dataclasses
import inspect
from typing import Annotated, Any, get_args

import numpy as np
import pytest

from shortlist._options import Needs, Of, at_least_0, check_fields, count, one_of, plain_signature, share
from shortlist.cli.options.settings import options_of_methods, refuse_unmet, setting_fields
from shortlist.errors import BadInputError

OLD = Needs("`kind='old'`", lambda given: given["kind"] == "old")


@plain_signature
@dataclasses.dataclass(kw_only=True)
class Tuned:
    """An estimator's options."""

    kind: Annotated[str, "Old or new.", one_of("old", "new")] = "new"
    rounds: Annotated[int | None, "Rounds.", Of("long"), count(at_most=9)] = None
    weight: Annotated[float, "Weight.", "heft", OLD, at_least_0] = 1.0
    part: Annotated[float, "Part.", share] = 0.5
    seed: int = 0


def test_a_signature_shows_types_and_defaults_and_fields_keep_their_marks() -> None:
    parameters = inspect.signature(Tuned).parameters
    assert [(one.name, one.annotation, one.default) for one in parameters.values()] == [
        ("kind", str, "new"), ("rounds", int | None, None), ("weight", float, 1.0), ("part", float, 0.5),
        ("seed", int, 0),
    ]  # fmt: skip
    assert [len(get_args(one.type)) for one in dataclasses.fields(Tuned)] == [3, 4, 5, 3, 0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "odd"}, "kind must be one of new or old"),
        ({"rounds": 10}, "rounds must be at least 1 and at most 9, got 10"),
        ({"rounds": 1.5}, "rounds must be a whole number"),
        ({"weight": -1}, "weight must be a number of at least 0"),
        ({"weight": True}, "weight must be a number of at least 0"),
        ({"weight": float("inf")}, "weight must be a number of at least 0"),
        ({"part": 1.1}, "part must be between 0 and 1"),
        ({"part": "half"}, "part must be between 0 and 1"),
        ({"part": float("nan")}, "part must be between 0 and 1"),
    ],
)
def test_a_bad_value_is_refused_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        check_fields(Tuned(**given))


@pytest.mark.parametrize(
    "given", [{}, {"weight": np.float32(2), "part": np.int64(1)}, {"rounds": np.int8(9), "kind": "old"}]
)
def test_good_values_pass_numbers_of_numpy_among_them(given: dict[str, Any]) -> None:
    check_fields(Tuned(**given))


def test_a_method_has_the_options_that_are_told_and_not_of_others() -> None:
    methods = options_of_methods(Tuned, ["long", "short"])
    names = {method: [one.name for one in setting_fields(kind).values()] for method, kind in methods.items()}
    assert names == {"long": ["kind", "rounds", "heft", "part"], "short": ["kind", "heft", "part"]}
    assert vars(methods["short"]()) == {"kind": "new", "weight": 1.0, "part": 0.5}


def test_an_option_that_another_makes_useless_is_refused_also_with_its_default() -> None:
    kind = options_of_methods(Tuned, ["short"])["short"]
    refuse_unmet(kind, {"part": 0.5}, vars(kind()))
    refuse_unmet(kind, {"weight": 1.0}, vars(kind(kind="old")))
    with pytest.raises(BadInputError, match="`weight` belongs to `kind='old'`"):
        refuse_unmet(kind, {"weight": 1.0}, vars(kind()))
