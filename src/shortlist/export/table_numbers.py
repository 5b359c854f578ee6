"""How rows become columns of numbers, as plain numbers: the encoder of pools and that of stages."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.ensembles.pools.encoder import FARTHEST, MISSING, TableEncoder
from shortlist.multistage.subclassifiers.encoding import Encoding


def pool_numbers(
    encoder: TableEncoder, names: Sequence[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the features and the columns that :class:`TableEncoder` makes, in its order."""
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


def plain_numbers(names: Sequence[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return features that are columns as they are, of a pool without an encoder."""
    features = [{"name": name, "kind": "number", "may_be_missing": False, "known": None} for name in names]
    columns: list[dict[str, Any]] = [
        {"feature": place, "kind": "number", "fill": 0.0, "scaling": [], "clip": None}
        for place in range(len(names))
    ]
    return features, columns


def stage_numbers(encoding: Encoding) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the features and the columns that :class:`Encoding` makes, in its order."""
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
