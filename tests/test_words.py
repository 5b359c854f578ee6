"""Representations of answers in notebooks and prompts: short, and harmless."""

from typing import Any

import numpy as np
import pytest

from shortlist.ensembles.committees.evidence import ClassSelection, EnsembleSelection
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.votes.hard_votes import Confusion
from shortlist.products.model import FeatureModel, make_group, make_model
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind, Selection, Status

EVIL = "<b>&amp"
PROOF = Proof(ProofKind.APPROXIMATE, limit="60 s")
CHOICE: dict[str, Any] = {
    "mask": np.arange(1000) < 7,
    "objective": Objective(EVIL, Sense.MAX, scale=None),
    "value": 0.95,
    "bound": 0.97,
    "status": Status.FEASIBLE,
    "proof": PROOF,
    "seconds": 1.5,
}


def a_front(n_points: int) -> Front:
    values = np.column_stack([np.arange(n_points), -np.arange(n_points)]).astype(float)
    objectives = [Objective("cost"), Objective(EVIL, Sense.MIN)]
    return Front.from_values(objectives, values, np.zeros((n_points, 500), int), ["f"] * 500, PROOF)


def a_model() -> FeatureModel:
    names = [EVIL, *(f"feature {i}" for i in range(999))]
    return make_model(names, root=0, groups=[make_group(0, range(1, 1000), "optional")], name=EVIL)


SHOWN: dict[str, tuple[Any, str]] = {
    "a front": (a_front(300), "Front(300 points; min cost, min <b>&amp; approximate, limit 60 s)"),
    "a selection": (
        Selection(**CHOICE),
        "Selection(7 of 1,000 candidates; <b>&amp 0.95, bound 0.97; feasible)",
    ),
    "an ensemble": (
        EnsembleSelection(**CHOICE, threshold=3, confusion=Confusion(1, 2, 3, 4)),
        "EnsembleSelection(7 of 1,000 candidates; <b>&amp 0.95, bound 0.97; feasible)",
    ),
    "an ensemble for several classes": (
        ClassSelection(**CHOICE, decisions=np.eye(3, dtype=np.int64)),
        "ClassSelection(7 of 1,000 candidates; <b>&amp 0.95, bound 0.97; feasible)",
    ),
    "a pool": (
        Pool((None,) * 200, np.array([0, 1]), tuple(map(str, range(200))), (EVIL,) * 200),
        "Pool(200 classifiers of 1 kind; classes 0 and 1)",
    ),
    "a feature model": (a_model(), "FeatureModel('<b>&amp': 1,000 features, 1 group)"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_repr_is_one_short_line(name: str) -> None:
    thing, expected = SHOWN[name]
    assert repr(thing) == expected


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_gets_a_short_table_in_which_names_are_text(name: str) -> None:
    thing, _ = SHOWN[name]
    page = thing._repr_html_()
    assert page.startswith("<table>")
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;amp" in page
    assert len(page) < 2000


def test_a_long_front_says_how_many_points_are_not_shown() -> None:
    assert a_front(300)._repr_html_().endswith("<p>and 290 more</p>")
    assert a_front(10)._repr_html_().endswith("</table>")
    assert repr(a_front(1)).startswith("Front(1 point; ")
