"""What decides results, as a study is bound to it."""

import json
from dataclasses import dataclass

import numpy as np

from shortlist.runs.studies.settings import as_settings, digest_of_arrays


@dataclass
class Prices:
    values: np.ndarray
    scale: int = 10


class Foreign:
    def __repr__(self) -> str:
        return "Foreign()"


def test_parameters_of_any_type_become_what_json_holds() -> None:
    given = {
        "costs": Prices(np.array([1, 2])), "weights": {np.int64(0): 1.5, "b": None}, "limits": (1, [True]),
        "model": Foreign(), "seed": np.int64(3),
    }  # fmt: skip
    found = as_settings(given)
    assert found == {
        "costs": [["values", [1, 2]], ["scale", 10]], "weights": [[0, 1.5], ["b", None]],
        "limits": [1, [True]], "model": "Foreign()", "seed": 3,
    }  # fmt: skip
    assert json.loads(json.dumps(found)) == found


def test_digests_tell_values_shapes_and_types_apart_and_not_the_layout() -> None:
    rows = np.arange(6).reshape(2, 3)
    same = digest_of_arrays([rows])
    assert digest_of_arrays([np.asfortranarray(rows)]) == same
    others = [rows.T, rows.reshape(3, 2), rows.astype(float), rows + 1]
    assert len({same, *(digest_of_arrays([other]) for other in others)}) == 5
