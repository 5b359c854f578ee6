"""Figures of the committee and of what it is compared with."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rows import pruning_rows_of
from shortlist.ensembles.pools.fitting import cross_fit, make_pool
from shortlist.ensembles.repeated_pruning import pool_answers
from shortlist.ensembles.rule_figures import (
    BEST_SINGLE,
    COMMITTEE,
    PruningQuestion,
    decided_where_chosen,
    right_where_chosen,
)
from shortlist.results.measuring import TableRows
from shortlist.runs import Work

X, Y = make_classification(120, 4, n_informative=3, n_redundant=0, random_state=2)


@pytest.mark.parametrize("is_refitted", [True, False])
def test_selection_rows_are_decided_by_the_answers_that_chose(*, is_refitted: bool) -> None:
    """The slow twin: the mean of the members' probabilities out of fold, row by row."""
    crossed = cross_fit(make_pool(X, Y, n_classifiers=5, plain=()), X, Y, folds=3)
    pruner = ExactPruner(
        crossed, objective="log-loss", probabilities="mean", refit=is_refitted, random_state=0
    ).fit(X, Y)
    rows = pruning_rows_of(crossed, X, Y)
    answers = pool_answers(pruner.chosen_, rows)
    question = PruningQuestion(
        pruner, None, rows, answers, Work(), 0, TableRows(X, Y) if is_refitted else None, crossed.encoded
    )
    assert answers.shares is not None
    members = np.flatnonzero(pruner.selection_)
    plainly = answers.shares[:, members].astype(int).sum(axis=1).argmax(axis=1)
    right = right_where_chosen(question, [COMMITTEE, BEST_SINGLE])
    assert right[COMMITTEE] == np.count_nonzero(plainly == Y)
    assert right[BEST_SINGLE] == answers.right.sum(axis=0).max()
    own = plainly if is_refitted else pruner.chosen_.committee.decided(X)
    assert decided_where_chosen(question).tolist() == own.tolist()
