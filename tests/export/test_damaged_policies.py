"""Policies that are damaged: the same answers as before, or a sentence; never a traceback, and never no end."""

import functools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from shortlist import EvolutionaryEnsembleClassifier, ExactPruner
from shortlist.ensembles import make_pool
from shortlist.ensembles.pools.members import as_pool
from shortlist.export import reader
from shortlist.export.policies import policy_of, write_policy
from shortlist.panels.policy import Final
from shortlist.saved_models import SavedModel
from shortlist_papers import OrderedPruner
from tests.export.test_no_answer import of_judges, of_stages
from tests.panels.made import behind_a_router, log_of, panel_of_kind

N_MUTATIONS = 500
ODD: list[Any] = [
    None, True, "", "Error 429", -1, 0, 1, 2, 10**9, 10**400, 1e308, -1e308, 0.5, [], {}, [[]], [None], {"kind": "x"},
    -0.0, "number", 1e-320,
]  # fmt: skip
"""Odd values to put in the place of any other."""


@functools.cache
def table() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 40)
    X = pd.DataFrame({"a": y + rng.normal(0, 1, 40), "w": rng.choice(list("xyz"), 40), "b": rng.random(40)})
    return X.mask(rng.random(X.shape) < 0.1), y


@functools.cache
def of_members() -> SavedModel:
    X, y = table()
    pool = make_pool(X, y, n_classifiers=12, random_state=0)
    return SavedModel(OrderedPruner(pool, rule="full", voting="averaged").fit(X, y), tuple(X.columns), "y")


def evolved() -> SavedModel:
    X, y = table()
    fitted = EvolutionaryEnsembleClassifier(
        space="genetic-programs", n_generations=2, population_size=10, random_state=0
    )
    return SavedModel(fitted.fit(X, y), tuple(X.columns), "y")


def of_others() -> SavedModel:
    X, y = table()[0][["a", "b"]].fillna(0), table()[1]
    fitted = [RidgeClassifier().fit(X, y), KNeighborsClassifier(3, weights="distance").fit(X, y)]
    return SavedModel(
        ExactPruner(as_pool(fitted), min_size=2, node_limit=10, random_state=0).fit(X, y), ("a", "b"), "y"
    )


def of_panel(kind: str, *, routed: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    log = log_of(rng, n_judges=4)
    panel = panel_of_kind(rng, log, kind, 2, Final("hand-over", 3.0))
    plain = (behind_a_router(panel) if routed else panel).plain()
    return {name: value for name, value in plain.items() if name != "digest"}


SOURCES: dict[str, Callable[[], Any]] = {
    "members": of_members,
    "others": of_others,
    "evolved": evolved,
    "judges": lambda: of_judges("plurality", promised=True),
    "threshold": lambda: of_judges("threshold", promised=False),
    "means": lambda: of_judges("calibrated mean", promised=False),
    "stages": lambda: of_stages()[0],
    "panel by scores": lambda: of_panel("scores"),
    "panel by votes": lambda: of_panel("majority counted equal"),
    "panel behind a router": lambda: of_panel("majority counted equal", routed=True),
}
"""One policy of every kind, with most kinds of members."""


@functools.cache
def example(source: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A policy, and rows for it: with everything, with gaps, and with nothing."""
    made = SOURCES[source]()
    policy = json.loads(json.dumps(made if isinstance(made, dict) else policy_of(made)))
    rows: list[dict[str, Any]] = [{}]
    if policy["kind"] == "panel":
        names = [judge["name"] for judge in policy["judges"]]
        for word in [*policy["classes"], None, "Error 429"]:
            rows.append({names[0]: word} | {f"{name}.label": word for name in names[1:]})
            rows.append({f"{name}.confidence": "0.9" for name in names} | dict.fromkeys(names, word))
        if "router" in policy:
            ways: list[dict[str, Any]] = [{"topic": "poem"}, {"topic": "code", "length": "7"}, {"topic": 3}]
            rows += [row | way for row in rows[1:] for way in ways]
    elif policy["kind"] == "judges":
        said = [policy["classes"], policy["classes"][::-1], [None] * 2]
        for labels in said:
            row: dict[str, Any] = {}
            for judge in policy["judges"]:
                if len(judge["columns"]) == 1:
                    row[judge["columns"][0]] = labels[0]
                else:
                    row |= dict(zip(judge["columns"], [0.75, 0.25] if labels[0] else [None] * 2, strict=True))
            rows.append(row)
    else:
        for word, number in (("x", 0.3), ("low", "1.5"), (None, 0.1), ("z", None)):
            rows.append(
                {one["name"]: number if one["kind"] == "number" else word for one in policy["features"]}
            )
    return policy, rows


def mutated(policy: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A copy of a policy with one part changed, left out, put twice, or nested deep."""
    policy = json.loads(json.dumps(policy))
    place: Any = policy
    while True:
        key = rng.choice(list(place)) if isinstance(place, dict) else rng.randrange(len(place))
        if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.85:
            place = place[key]
            continue
        how = rng.random()
        if how < 0.15:
            del place[key]
        elif how < 0.25 and isinstance(place, list):
            place.append(place[key])
        elif how < 0.3:
            deep: Any = place[key]
            for _ in range(rng.choice([50, 700])):
                deep = {"kind": "highest", "single": False, "of": deep}
            place[key] = deep
        else:
            place[key] = rng.choice(ODD)
        return policy


def told(policy: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    """Output of the reader for each row, as text: an answer, or a sentence."""
    said = []
    for row in rows:
        try:
            said.append(json.dumps(reader.answer(policy, row)))
        except reader.ReaderError as error:
            said.append(str(error))
    return said


@pytest.mark.parametrize("source", SOURCES)
def test_a_mutated_policy_is_refused_in_a_sentence_and_decides_nothing_in_a_traceback(
    source: str, tmp_path: Path
) -> None:
    policy, rows = example(source)
    rng, n_refused, file = random.Random(source), 0, tmp_path / "p.json"
    for _ in range(N_MUTATIONS // len(SOURCES) + 1):
        damaged = mutated(policy, rng)
        told(damaged, rows)  # whoever did not load it gets answers or sentences too
        try:
            reader.check(damaged)
        except reader.ReaderError as error:
            n_refused += 1
            assert "Export it again" in str(error) or "too large" in str(error)  # noqa: PT017
        else:
            assert len(told(damaged, rows)) == len(rows)
        file.write_text(json.dumps(damaged | {"digest": reader.digest(policy)}), encoding="utf-8")
        if json.dumps(damaged, sort_keys=True) == json.dumps(policy, sort_keys=True):
            assert told(reader.load(str(file)), rows) == told(policy, rows)
        else:
            with pytest.raises(reader.ReaderError, match=r"is damaged|must be a policy"):
                reader.load(str(file))
    assert n_refused > N_MUTATIONS // len(SOURCES) // 4


@pytest.mark.parametrize("source", SOURCES)
def test_damaged_bytes_are_refused_in_a_sentence(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy, _ = example(source)
    write_policy(policy, tmp_path / "p.json")
    (tmp_path / "rows.csv").write_text("a\n1\n", encoding="utf-8")
    whole, rng = (tmp_path / "p.json").read_bytes(), random.Random(source)
    for n in range(40):
        content = bytearray(whole)
        place = rng.randrange(len(content))
        if n % 2:
            content[place] = rng.randrange(256)
        else:
            del content[place : place + rng.randrange(1, 40)]
        (tmp_path / "p.json").write_bytes(bytes(content))
        same = bytes(content) == whole
        assert reader.main([str(tmp_path / "p.json"), str(tmp_path / "rows.csv")]) == 2 or same
        said = capsys.readouterr().err
        assert said.startswith("reader: ")
        assert "Traceback" not in said
        assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '{"format":"shortlist-policy","version":1,"classes":' + "[" * 5_000 + "]" * 5_000 + "}",
        '{"format":"shortlist-policy","version":1,"kind":"stages","n":' + "9" * 5_000 + "}",
        "\x00",
        "",
        "[]",
        "7",
        '{"format":"shortlist-policy","version":1}',
    ],
    ids=["brackets", "deep", "digits", "zero", "empty", "list", "number", "nothing else"],
)
def test_what_is_no_policy_is_refused_in_a_sentence(content: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(content, encoding="utf-8")
    with pytest.raises(reader.ReaderError, match=r"must be a policy of Shortlist|is damaged"):
        reader.load(str(tmp_path / "p.json"))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("value", [10**400, -(10**400), [1], {"a": 1}, (1, 2), b"1", {1}, 1j, object()])
def test_a_value_that_is_none_is_refused_by_name(source: str, value: Any) -> None:
    policy, rows = example(source)
    name = next(iter(rows[2]))
    with pytest.raises(reader.ReaderError, match=f"'{name}' must"):
        reader.answer(policy, rows[2] | {name: value})


@pytest.mark.parametrize("row", [None, [], "a", 7])
def test_a_row_that_is_no_dict_is_refused(row: Any) -> None:
    with pytest.raises(reader.ReaderError, match="a row must be a dict"):
        reader.answer(example("members")[0], row)


def test_a_policy_that_was_changed_by_hand_is_told_by_its_digest(tmp_path: Path) -> None:
    policy, rows = example("judges")
    write_policy(policy, tmp_path / "p.json")
    written = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert told(reader.load(str(tmp_path / "p.json")), rows) == told(policy, rows)
    written["answer_from"] = 0.0
    (tmp_path / "p.json").write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(reader.ReaderError, match="a digest that is not that of its content"):
        reader.load(str(tmp_path / "p.json"))
    del written["digest"]  # who means it leaves the digest out
    (tmp_path / "p.json").write_text(json.dumps(written), encoding="utf-8")
    assert reader.load(str(tmp_path / "p.json"))["answer_from"] == 0


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"j0,j1\nfine,fine,fine\n", "got more"),
        (b"j0,j1\nfine\n", "got fewer"),
        (b"j0,j1\n\xff,fine\n", "text in UTF-8"),
        (b"x\nfine\n", "must have the columns"),
        (b'j0,j1\n"' + b"x" * 200_000 + b'",fine\n', "field larger"),
        (b"\x1f\x8bnothing packed", "reader: "),
        (b"PK\x03\x04", "must be a CSV file"),
    ],
)
def test_damaged_tables_are_refused_in_a_sentence(
    content: bytes, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_policy(policy_of(of_judges("plurality", promised=False)), tmp_path / "p.json")
    (tmp_path / "rows.csv").write_bytes(content)
    assert reader.main([str(tmp_path / "p.json"), str(tmp_path / "rows.csv")]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
