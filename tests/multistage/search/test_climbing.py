import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.multistage.search.stage_objectives import worths
from shortlist.multistage.search.window import single_moves
from shortlist.multistage.search.window_search import WindowClimber, WindowOptions
from shortlist.runs import Budget
from tests.examples import examples
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"width": 1}, "width must be"),
        ({"width": 13}, "width must be"),
        ({"n_new": 8}, "n_new must be below width, 8, got 8"),
        ({"n_weightings": 0}, "n_weightings must be"),
        ({"tries": 0}, "tries must be"),
        ({"kicks": -1}, "kicks must be"),
        ({"changed": 0}, "changed must be"),
    ],
)
def test_options_out_of_range_are_refused(wrong: dict[str, int], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        WindowOptions(**wrong)


@examples(15)
@given(known=facts(max_features=4), k=st.integers(2, 4), removal=st.booleans())
def test_no_move_of_one_feature_betters_where_a_climb_ends(
    known: oracles.Facts, k: int, removal: bool
) -> None:
    problem = problem_of(known, min(k, known.n_features), removal=removal)
    climber = WindowClimber(problem, WindowOptions(width=2, n_new=1, tries=1), Budget())
    climber.measure(np.zeros((1, known.n_features), dtype=np.int8))
    weights = np.array([1.0, 2.0, 3.0])

    climber.climb(weights)
    gained_again = climber.climb(weights)

    worth, place = climber.archive.best(weights)
    moves, _ = single_moves(climber.archive.assignments[place], problem.max_stages, removal=removal)
    if len(moves):
        assert (worths(problem, problem.measures(moves), weights)).max() <= worth
    assert not gained_again


def test_a_window_is_looked_through_once() -> None:
    answers = {frozenset(s): ((True, True), (False, False)) for s in ((0,), (1,), (0, 1))}
    problem = problem_of(oracles.Facts(2, (1, 0), answers, (1, 2)), 2)
    climber = WindowClimber(problem, WindowOptions(), Budget())
    for items in (np.eye(2, dtype=bool), np.eye(2, dtype=bool)[::-1]):
        climber.look_through(items)

    assert climber.n_windows == 1
