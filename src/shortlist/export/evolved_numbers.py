"""Evolved ensembles as plain numbers: the genomes of each search space, and the votes of their members."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.evolution.scored_spaces import (
    CONSTANT,
    FUNCTIONS,
    GeneticPrograms,
    LinearClassifiers,
    NeuralNetworks,
)
from shortlist.ensembles.evolution.spaces import RuleSystems
from shortlist.errors import BadInputError
from shortlist.export.table_numbers import pool_numbers


def evolved_numbers(ensemble: EvolutionaryEnsembleClassifier, names: Sequence[str]) -> dict[str, Any]:
    """Return the members of an evolved ensemble, and how they vote.

    Raises
    ------
    BadInputError
        If they are of a search space of the user's own.
    """
    features, columns = pool_numbers(ensemble.encoder_, names)
    classes = list(range(len(ensemble.classes_)))
    seen = list(range(len(columns)))
    return {
        "kind": "committee",
        "classes": ensemble.classes_.tolist(),
        "features": features,
        "columns": columns,
        "members": [
            {"name": f"member-{number}", "columns": seen, "classes": classes, "model": model}
            for number, model in enumerate(_models(ensemble.space_, ensemble.members_), start=1)
        ],
        "decision": {"rule": "plurality"},
        "probabilities": "votes",
        "answer_from": 0.0,
    }


def _models(space: Any, members: Any) -> list[dict[str, Any]]:
    if isinstance(space, LinearClassifiers):
        return [_highest(_linear(one), single=True) for one in members]
    if isinstance(space, NeuralNetworks):
        hidden, output = space.layers(members)
        return [_highest(_network(*layers), single=True) for layers in zip(hidden, output, strict=True)]
    if isinstance(space, RuleSystems):
        return [_rules(one, space.n_classes) for one in members]
    if isinstance(space, GeneticPrograms):
        return [_highest(_programs(space, one), single=False) for one in members]
    raise BadInputError(
        f"a policy is made of members of the spaces that ship, got those of {type(space).__name__}. Use the "
        "model file."
    )


def _highest(model: dict[str, Any], *, single: bool) -> dict[str, Any]:
    """Say that the highest score decides, perhaps of columns that are rounded to single precision first."""
    return {"kind": "highest", "single": single, "of": model}


def _linear(weights: NDArray[np.float32]) -> dict[str, Any]:
    return {"kind": "linear", "weights": weights[:, :-1].tolist(), "intercepts": weights[:, -1].tolist()}


def _network(hidden: NDArray[np.float32], output: NDArray[np.float32]) -> dict[str, Any]:
    layers = (hidden, output)
    return {
        "kind": "network",
        "activation": "tanh",
        "weights": [layer[:, :-1].tolist() for layer in layers],
        "intercepts": [layer[:, -1].tolist() for layer in layers],
    }


def _rules(system: Any, n_classes: int) -> dict[str, Any]:
    """Return the rules in order, without the conditions that are switched off."""
    *verdicts, otherwise = system["verdict"].tolist()
    rules = []
    for place, verdict in enumerate(verdicts):
        parts = (system[name][place].tolist() for name in ("column", "number", "sense"))
        conditions = [
            {"column": column, "number": number, "above": sense == 1}
            for column, number, sense in zip(*parts, strict=True)
            if sense
        ]
        rules.append({"conditions": conditions, "class": verdict})
    return {"kind": "rules", "rules": rules, "otherwise": otherwise, "n_classes": n_classes}


def _programs(space: GeneticPrograms, member: Any) -> dict[str, Any]:
    """Return expressions in prefix order: signs, numbers, and columns by place."""
    programs = []
    for index in range(len(member)):
        program: list[Any] = []
        for symbol, constant in zip(*space.read(member, (index,)), strict=True):
            if symbol < CONSTANT:
                program.append(FUNCTIONS[symbol][0])
            else:
                program.append(constant if symbol == CONSTANT else {"column": symbol - CONSTANT - 1})
        programs.append(program)
    return {"kind": "programs", "programs": programs}
