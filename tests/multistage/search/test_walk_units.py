"""A walk in units that need nothing of each other."""

import functools
import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.multistage.search import enumeration
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.search.walk_units import walk_task, walk_units
from shortlist.multistage.search.walkers import FoundAssignments, Walker, make_walker
from shortlist.runs import NO_STUDY
from shortlist.runs.budget import Budget
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of


def fresh_walker(problem: StageProblem, k: int, table_rows: int) -> Walker:
    space, nothing = enumeration._space(problem), np.zeros((0, 7), dtype=np.int64)
    return make_walker(problem, space, k, nothing, bounds=True, table_rows=table_rows)


def tied(problem: StageProblem, found: FoundAssignments) -> list[tuple[list[int], int]]:
    return sorted(zip(problem.vectors(found.measures).tolist(), found.ties.tolist(), strict=True))


@given(known=facts(), k=st.integers(1, 4), table_rows=st.sampled_from([0, 2000]))
def test_units_find_the_front_and_the_ties_of_one_walk(known: oracles.Facts, k: int, table_rows: int) -> None:
    k = min(k, known.n_features)
    problem, join = problem_of(known, k), enumeration._nondominated
    expected = enumerate_front(problem, table_rows=table_rows)
    make = functools.partial(fresh_walker, problem, k, table_rows)
    tasks = [np.array([mask]) for mask in range(1, 1 << known.n_features)]
    walk = walk_units(make, tasks, join, Budget(), workers=1, study=NO_STUDY)

    assert walk.done == len(tasks) <= walk.looked
    assert tied(problem, walk.found) == tied(
        problem, FoundAssignments(expected.measures, expected.n_tied, walk.found.chains)
    )


@given(known=facts(), k=st.integers(1, 3))
def test_a_task_that_was_sent_elsewhere_finds_the_same(known: oracles.Facts, k: int) -> None:
    k = min(k, known.n_features)
    make = functools.partial(fresh_walker, problem_of(known, k), k, 2000)
    arguments = (make, enumeration._nondominated, np.arange(1, 1 << known.n_features))
    assert walk_task(*pickle.loads(pickle.dumps(arguments))) == walk_task(*arguments)
