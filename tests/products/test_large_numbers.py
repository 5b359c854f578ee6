"""No method with any solver claims something false about limits, objectives and attributes of up to thirteen digits."""

import pytest

from shortlist.results.proof import ProofKind
from tests.products.large_numbers import asked, falsehood, random_question, true_points


@pytest.mark.parametrize("seed", [595, 935, 2446, 20716])
@pytest.mark.parametrize("method", ["exact", "cwmoip", "epsilon-constraint", "solrep"])
def test_fronts_once_called_empty_are_found_whole(method: str, seed: int) -> None:
    """With HiGHS alone, its tolerance at 1e-9, some methods called three of these infeasible.

    In the last, CP-SAT's bound as a double was 7 below its bound as an integer.
    """
    question = random_question(seed)
    truth = true_points(question)
    answer = question.answer(method, "highs")

    assert truth
    assert {tuple(point) for point in answer.front.points.tolist()} == truth
    assert answer.front.proof.kind is ProofKind.COMPLETE


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_no_answer_is_false(block: int) -> None:
    for seed in range(10 * block, 10 * (block + 1)):
        question = random_question(seed)
        truth = true_points(question)
        for method, solver in asked(seed, 3):
            answer = question.answer(method, solver)
            assert not falsehood(answer, truth), (seed, method, solver)
