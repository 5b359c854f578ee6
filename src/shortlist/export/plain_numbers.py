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
from shortlist.ensembles.pools.encoder import FARTHEST, MISSING, TableEncoder
from shortlist.errors import BadInputError
from shortlist.export.preparation import Cell, ReadRows
from shortlist.multistage.subclassifiers.encoding import Encoding


def evolved_numbers(ensemble: EvolutionaryEnsembleClassifier, names: Sequence[str]) -> dict[str, Any]:
    """Return the members of an evolved ensemble, and their voting rule, as plain numbers.

    Raises BadInputError if the search space is the user's own.
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
        f"a policy holds members of Shortlist's own search spaces, got some of {type(space).__name__}. Use "
        "the model file."
    )


def _highest(model: dict[str, Any], *, single: bool) -> dict[str, Any]:
    """Return a model in which the highest score decides.

    `single`: whether columns are first rounded to single precision.
    """
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


def pool_numbers(
    encoder: TableEncoder, names: Sequence[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the features and the columns of a :class:`TableEncoder`, in the encoder's order."""
    features = [
        {
            "name": name,
            "kind": "words" if words else "number",
            "may_be_missing": True,
            "known": None if known is None else sorted(known),
        }
        for name, words, known in zip(names, encoder.words.tolist(), encoder.known_words, strict=True)
    ]
    columns: list[dict[str, Any]] = []
    if encoder.numbers is not None:
        steps = encoder.numbers.named_steps
        places = np.flatnonzero(~encoder.words).tolist()
        fills = steps["impute"].statistics_.tolist()
        found: list[dict[str, Any]] = [
            {"feature": place, "kind": "number", "fill": 0.0 if np.isnan(fill) else fill}
            for place, fill in zip(places, fills, strict=True)
        ]
        found += [
            {"feature": places[i], "kind": "missing"} for i in steps["impute"].indicator_.features_.tolist()
        ]
        scaler = steps["standardise"]
        for one, shrink, mean, spread in zip(
            found, steps["shrink"].scale_.tolist(), scaler.mean_.tolist(), scaler.scale_.tolist(), strict=True
        ):
            columns.append(one | {"scaling": [[shrink, mean], [spread, 0.0]], "clip": FARTHEST})
    if encoder.categories is not None:
        places = np.flatnonzero(encoder.words).tolist()
        rare = encoder.categories.infrequent_categories_
        for place, values, few in zip(places, encoder.categories.categories_, rare, strict=True):
            seldom = [] if few is None else few.tolist()
            common = [word for word in values.tolist() if word not in seldom]
            plain = {"feature": place, "missing_word": MISSING, "scaling": [], "clip": None}
            columns += [plain | {"kind": "one_of", "values": [word]} for word in common]
            if seldom:
                columns.append(plain | {"kind": "none_of", "values": common})
    return features, columns


def read_features(rows: ReadRows, cells: Sequence[Cell]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the features that members of a user's own pool read, and the columns made of them.

    Raises BadInputError if a feature is read both as numbers and as words.
    """
    assert rows.names is not None, "saved models know the names of their columns"
    read = sorted({int(cell.source) for cell in cells if isinstance(cell.source, int)})
    if twice := [rows.names[place] for place in read if place in rows.words & rows.numbers]:
        raise BadInputError(
            f"a policy is made of columns of words or of numbers, got members that read {twice[0]!r} as "
            "both. Encode it in all of them, or turn it into text in the table."
        )
    features = [
        {
            "name": rows.names[place],
            "kind": "words" if place in rows.words else "number",
            "may_be_missing": place not in rows.needed,
            "known": rows.known.get(place),
        }
        for place in read
    ]
    columns: list[dict[str, Any]] = []
    for cell in cells:
        feature = read.index(int(cell.source))  # type: ignore[arg-type]  # all are of one feature
        column = {"feature": feature, "scaling": [], "clip": None}
        if not cell.steps and not features[feature]["may_be_missing"]:
            columns.append(column | {"kind": "number", "fill": 0.0})
        else:
            columns.append(column | {"kind": "cell", "steps": list(cell.steps)})
    return features, columns


def stage_numbers(encoding: Encoding) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the features and the columns of an :class:`Encoding`, in the order of the encoding."""
    features: list[dict[str, Any]] = []
    columns: list[dict[str, Any]] = []
    for place, code in enumerate(encoding.codes):
        words = code.categories is not None and all(isinstance(value, str) for value in code.categories)
        kind = "number" if code.categories is None else "words" if words else "values"
        known = None if code.words is None else [_plain(value) for value in code.words]
        features.append(
            {"name": code.name, "kind": kind, "may_be_missing": code.allows_missing, "known": known}
        )
        plain: dict[str, Any] = {"feature": place, "scaling": [], "clip": None}
        if code.categories is None:
            columns.append(plain | {"kind": "number", "fill": code.fill})
        else:
            columns += [plain | {"kind": "one_of", "values": [_plain(value)]} for value in code.categories]
        if code.allows_missing:
            columns.append(plain | {"kind": "missing"})
    return features, columns


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
