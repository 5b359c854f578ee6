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
from tests.stored import Stored

ANN, BOB = Customer("Ann", (1, 2)), Customer("Bob", (1,))


def front_of(kind: ProofKind = ProofKind.COMPLETE, method: str = "diagram") -> Front:
    goals = [Objective("cost"), Objective("hours")]
    points = np.array([[1, 9], [4, 2], [5, 1]])
    return Front.from_points(goals, points, np.eye(3, dtype=int), list("ABC"), Proof(kind), method=method)


@pytest.mark.parametrize("n_points", [None, 1])
def test_a_proof_on_a_front_names_its_products_and_where_others_are(
    n_points: int | None, stored: Stored
) -> None:
    front = front_of()
    stored(*service_sentences(serve(front, [ANN, BOB], n_points), front))
    within = serve(front, [ANN], n_points, limits=[read_limit("cost<=4")])
    stored(*service_sentences(within, front))


@pytest.mark.parametrize(
    "front", [front_of(ProofKind.NONDOMINATED), front_of(method=COMMITTEES)], ids=["incomplete", "no model"]
)
def test_a_front_that_is_not_complete_is_named_so_and_no_model_is_named_where_there_is_none(
    front: Front, stored: Stored
) -> None:
    stored(*service_sentences(serve(front, [ANN]), front))


@pytest.mark.parametrize("customers", [[BOB], [ANN], [BOB, BOB]], ids=["one finds", "none", "two"])
def test_who_finds_all_wishes_hears_of_no_other_products_and_one_finds(
    customers: list[Customer], stored: Stored
) -> None:
    stored(*service_sentences(serve(front_of(), customers), front_of()))


def test_time_is_named_only_where_it_ended_the_search(stored: Stored) -> None:
    service = serve(front_of(), [BOB, BOB, BOB])
    late, lost = (
        dataclasses.replace(service.served[0], product=-1, limit=word) for word in ("seconds", "size")
    )
    stored(*service_sentences(dataclasses.replace(service, served=(service.served[0], late, lost))))
