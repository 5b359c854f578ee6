"""Sentences on customers: the products that a proof is about, and where others may be."""

import dataclasses

import numpy as np
import pytest

from shortlist.methods.customers import serve
from shortlist.report.customers import service_sentences
from shortlist.results.customers import Customer
from shortlist.results.front import COMMITTEES, Front
from shortlist.results.objective import Objective, read_limit
from shortlist.results.proof import Proof, ProofKind

ANN, BOB = Customer("Ann", (1, 2)), Customer("Bob", (1,))


def front_of(kind: ProofKind = ProofKind.COMPLETE, method: str = "diagram") -> Front:
    goals = [Objective("cost"), Objective("hours")]
    points = np.array([[1, 9], [4, 2], [5, 1]])
    return Front.from_points(goals, points, np.eye(3, dtype=int), list("ABC"), Proof(kind), method=method)


@pytest.mark.parametrize("n_points", [None, 1])
def test_a_proof_on_a_front_names_its_products_and_where_others_are(n_points: int | None) -> None:
    front = front_of()
    told = service_sentences(serve(front, [ANN, BOB], n_points), front)
    assert any("of these 3 products" in sentence for sentence in told)
    assert told[-1].startswith("A product that is not on the front")
    assert "`configure` with these customers" in told[-1]
    within = serve(front, [ANN], n_points, limits=[read_limit("cost<=4")])
    assert any("of these 2 products" in sentence for sentence in service_sentences(within, front))


def test_a_front_that_is_not_complete_is_named_so_and_no_model_is_named_where_there_is_none() -> None:
    front = front_of(ProofKind.NONDOMINATED)
    assert service_sentences(serve(front, [ANN]), front)[-1].startswith("The front is not complete")
    members = front_of(method=COMMITTEES)
    assert "configure" not in service_sentences(serve(members, [ANN]), members)[-1]


def test_who_finds_all_wishes_hears_of_no_other_products_and_one_finds() -> None:
    front = front_of()
    assert service_sentences(serve(front, [BOB]), front) == [
        "1 of 1 customer finds all their wishes, with 1 product of 3."
    ]
    assert service_sentences(serve(front, [ANN]), front)[0].startswith("0 of 1 customer finds ")
    assert service_sentences(serve(front, [BOB, BOB]), front)[0].startswith("2 of 2 customers find ")


def test_time_is_named_only_where_it_ended_the_search() -> None:
    service = serve(front_of(), [BOB, BOB, BOB])
    late, lost = (
        dataclasses.replace(service.served[0], product=-1, limit=word) for word in ("seconds", "size")
    )
    told = service_sentences(dataclasses.replace(service, served=(service.served[0], late, lost)))
    assert [sentence for sentence in told if "no product was found" in sentence] == [
        "For 1 customer no product was found, as the solver gave up.",
        "For 1 customer no product was found in time.",
    ]
