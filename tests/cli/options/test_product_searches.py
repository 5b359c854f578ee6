"""How the front of a product line is looked for."""

import pytest

from shortlist.cli.options.product_searches import DiagramOptions, ProductSearchOptions
from shortlist.errors import BadInputError
from shortlist.products.configuration.search_options import search_options


def test_options_have_the_names_of_the_library() -> None:
    given = ProductSearchOptions(points=5, rule="adaptive", solver="cpsat").arguments()
    assert search_options("solrep", **given).n_points == 5
    diagram = DiagramOptions(tolerance="cost=5", max_nodes=100, max_memory=0.5).arguments()
    assert diagram == {"tolerance": {"cost": 5.0}, "max_nodes": 100, "max_bytes": 500_000_000}


def test_what_is_not_given_is_left_to_the_method() -> None:
    everything = ProductSearchOptions().arguments() | DiagramOptions().arguments()
    assert set(everything.values()) == {None}


@pytest.mark.parametrize("memory", [0.0, -1.0, float("inf"), float("nan")])
def test_memory_is_finite_and_above_nothing(memory: float) -> None:
    with pytest.raises(BadInputError, match="--max-memory must be gigabytes above 0"):
        DiagramOptions(max_memory=memory).arguments()
