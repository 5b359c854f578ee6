"""Saved committee, or saved stages, as a policy: plain numbers that any language reads."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from shortlist._words import all_of
from shortlist.ensembles.committees.chosen import Chosen
from shortlist.ensembles.committees.committee import MEAN, SHARES, Committee
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.pools.encoder import TableEncoder
from shortlist.ensembles.pools.members import Member, counted_names
from shortlist.ensembles.pools.pool import Pool
from shortlist.errors import BadInputError
from shortlist.export import reader
from shortlist.export.member_numbers import column_key, laid_out, numbers_of, written_by
from shortlist.export.plain_numbers import evolved_numbers, pool_numbers, read_features, stage_numbers
from shortlist.export.preparation import CannotWriteError, Cell, ReadRows, prepared
from shortlist.files import whole_file
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.predict.prediction import stage_amounts
from shortlist.multistage.subclassifiers.logistic_fits import LogisticModel
from shortlist.saved_models import SavedModel, made_by

if TYPE_CHECKING:
    import pandas as pd


def judge_numbers(committee: Committee) -> dict[str, Any]:
    """Return the judges of a committee, and their indices in the order of asking.

    A judge that the committee contains several times is listed as often, one copy after the other, under one
    name.
    """
    prices, each = committee.prices, _copies_of(committee)
    judges = [
        {
            "name": judge.name,
            "columns": list(judge.columns),
            "may_abstain": judge.may_abstain,
            "price": None if prices is None else float(prices[member]) * (place == places[0]),
        }
        for member, places in enumerate(each)
        for place, judge in ((place, committee.members.classifiers[place]) for place in places)
    ]
    return {"judges": judges, "order": asking_order(committee)}


def asking_order(committee: Committee) -> list[int]:
    """Return the indices of members in the order of asking, copies one after the other."""
    each = _copies_of(committee)
    return [int(place) for member in committee.order.members for place in each[member]]


def _copies_of(committee: Committee) -> list[Any]:
    """Return for each member the indices of its copies."""
    return np.split(np.arange(len(committee.members)), np.cumsum(committee.weights)[:-1])


FORMAT, VERSION = "shortlist-policy", 1
ALIKE = 1e-6
"""Largest difference between the reader's and the model's probabilities: sums have another order, and
distances are roots of small differences.
"""


def policy_of(saved: SavedModel) -> dict[str, Any]:
    """Return a saved model as a policy for :mod:`shortlist.export.reader`.

    Raises BadInputError if the model is of another kind, or a member cannot be written as plain numbers; the
    message names the member.
    """
    estimator = saved.estimator
    policy: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"shortlist {saved.version}",
        "target": saved.target,
        "reject_label": None,
        "guarantee": None,
    }
    if isinstance(estimator, MultiStageClassifier):
        return policy | _stages(estimator)
    if isinstance(estimator, EvolutionaryEnsembleClassifier):
        policy["reject_label"] = _plain(estimator.reject_label_)
        return policy | evolved_numbers(estimator, saved.features)
    if not isinstance(estimator, Chosen):
        raise BadInputError(
            f"a policy is made of a model of prune, evolve or stage, got one of {made_by(estimator)}."
        )
    committee = estimator.committee
    policy["reject_label"] = _plain(committee.reject_label_)
    found = committee.promise
    promised: dict[str, Any] = {}
    if found is not None:
        # more than any probability: nothing is answered
        threshold = found.threshold if found.promised else 2.0
        promised = {"answer_from": threshold, "guarantee": found.as_dict()}
    return policy | _committee(committee, saved.features) | promised


def write_policy(policy: dict[str, Any], path: str | Path) -> None:
    """Write a policy as JSON, completely or not at all."""
    with whole_file(path) as temporary:
        whole = policy | {"digest": reader.digest(policy)}
        temporary.write_text(json.dumps(whole, allow_nan=False) + "\n", encoding="utf-8")


def write_reader(path: str | Path) -> None:
    """Write the reader of policies as a file of its own, completely or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(Path(reader.__file__).read_text(encoding="utf-8"), encoding="utf-8")


def asked_columns(saved: SavedModel) -> tuple[str, ...]:
    """Return the columns that a model reads: the columns of a committee's judges, or all fitted ones."""
    chosen = saved.estimator
    return (chosen.committee.judged_columns if isinstance(chosen, Chosen) else ()) or saved.features


def readable(policy: dict[str, Any], table: str) -> bool:
    """Return whether the reader can answer the first row of a file."""
    if table == "-":  # which has been read
        return False
    try:
        return bool(reader.answer(policy, next(reader.table_rows(policy, table))))
    except (OSError, ValueError, EOFError, StopIteration):
        return False


def keeps_rows(policy: dict[str, Any]) -> str:
    """Return the names of members that compare with their fitted rows; the policy contains these rows."""
    names = [member["name"] for member in policy.get("members", ()) if "rows" in member["model"]]
    return all_of(counted_names(names)) if names else ""


def check_policy(policy: dict[str, Any], saved: SavedModel, rows: "pd.DataFrame") -> int:
    """Compare the reader's answers with the model's, row by row; return the number of rows.

    Raises BadInputError if there is no row, or an answer differs: then the policy must not be used.
    """
    if not len(rows):
        raise BadInputError("a policy is checked on rows, got none. Name a table with rows.")
    policy = json.loads(json.dumps(policy, allow_nan=False))  # as it will be read
    reader.check(policy)
    wanted, probabilities = model_answers(saved.estimator, rows)
    calls = saved.estimator.predict_early(rows).calls if policy["kind"] == "judges" else None
    table = [
        {name: None if is_gap(value) else _plain(value) for name, value in row.items()}
        for row in rows.astype(object).to_dict("records")
    ]
    written = _as_a_file(policy, table)
    for place, given in enumerate(table):
        told = reader.answer(policy, given)
        if reader.answer(policy, next(written)) != told:
            raise BadInputError(
                f"row {place + 1} of the table must be answered alike from a file and as values, got two "
                "answers. The policy is not written; use the model file."
            )
        found = told["probabilities"] or [np.nan] * len(policy["classes"])
        asked = zip(found, probabilities[place], strict=True)
        off = max(0.0 if np.isnan(a) and np.isnan(b) else abs(a - b) for a, b in asked)
        early = _told_early(policy, given, told) if "members" in told else told
        if early["label"] != told["label"]:
            raise BadInputError(
                f"row {place + 1} of the table must be answered alike by all members and by those that "
                f"settle it, got {told['label']!r} and {early['label']!r}. The policy is not written; use "
                "the model file."
            )
        if calls is not None and len(told["asked"]) != calls[place]:
            raise BadInputError(
                f"row {place + 1} of the table must ask as many judges by the policy as by the model, "
                f"{calls[place]}, got {len(told['asked'])}. The policy is not written; use the model file."
            )
        if told["label"] != _plain(wanted[place]) or not off <= ALIKE:
            raise BadInputError(
                f"row {place + 1} of the table must be answered by the policy as by the model, got "
                f"{what_differs(told['label'], wanted[place], off)}. "
                f"The policy is not written; use the model file.{open_ties(saved)}"
            )
    return len(rows)


def _told_early(policy: dict[str, Any], given: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return the answer by the members that settle a row, from the features of these members alone.

    A service requests features in this way.
    """
    of_name = {member["name"]: place for place, member in enumerate(policy["members"])}
    read = {one for name in told["members"] for one in reader.features_of(policy, of_name[name])}
    names = [policy["features"][place]["name"] for place in sorted(read)]
    early = reader.answer(policy, {name: given[name] for name in names})
    return told if early["needs"] else early  # without any value it matters whether others have one


def _as_a_file(policy: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return reader.text_rows(policy, "the table", text.getvalue())


def open_ties(saved: SavedModel) -> str:
    """Return a sentence on members for which it is open which of several equally near rows count.

    Empty without such members.
    """
    if not isinstance(saved.estimator, Chosen):
        return ""
    pool = saved.estimator.committee.members
    names = [
        name
        for name, member in zip(pool.names, pool.classifiers, strict=True)
        if type(getattr(member, "estimator", member)).__name__ == "KNeighborsClassifier"
    ]
    if not names:
        return ""
    named = all_of(counted_names(names))
    return (
        f" Scikit-learn leaves open which of several equally near rows count; members that ask it: "
        f"{named}. Those of a pool fitted by this version of Shortlist settle it: prune again."
    )


def what_differs(told: Any, wanted: Any, off: float) -> str:
    """Return the difference between an answer and the model's answer in words; unequal labels are named."""
    apart = f"probabilities {off:.2g} apart"
    if str(told) == str(wanted):
        return apart
    return f"{_plain(told)!r} in place of {_plain(wanted)!r}, with {apart}"


def model_answers(estimator: Any, rows: "pd.DataFrame") -> tuple[Any, Any]:
    """Return the answers of the model, and the probability of each class."""
    labels = estimator.predict(rows)
    if isinstance(estimator, MultiStageClassifier):
        return labels, estimator.stage_probabilities(rows)
    return labels, estimator.predict_proba(rows)


def not_exportable(pool: Pool) -> dict[int, str]:
    """Return the name and kind of each classifier that cannot be written as plain numbers, by its index."""
    return _PoolNumbers(pool, pool.feature_names_in).foreign


class _PoolNumbers:
    """Members of a pool as plain numbers, with the columns that they read."""

    def __init__(self, pool: Pool, names: Sequence[str] | None) -> None:
        self.rows = ReadRows(names)
        self.columns: list[Cell] = []
        self.members: list[dict[str, Any]] = []
        self.foreign: dict[int, str] = {}
        self.encoded = type(pool.preprocessor) is TableEncoder
        self._place_of: dict[str, int] = {}
        cells: list[Cell] | None = None
        for place, classifier in enumerate(pool.classifiers):
            try:
                if cells is None and not self.encoded:
                    cells = self._prepared(pool, names, classifier)
                self.members.append(self._member(pool, place, cells or []))
            except CannotWriteError as error:
                kind = pool.families[place]
                part = "" if str(error) in kind else f": its {error}"
                self.foreign[place] = f"{pool.names[place]} ({kind}{part})"
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                # another version of a package may lack what only its own code should read
                kind, what = pool.families[place], type(error).__name__
                self.foreign[place] = f"{pool.names[place]} ({kind}: {what} when reading its numbers)"

    def _prepared(self, pool: Pool, names: Sequence[str] | None, first: Any) -> list[Cell]:
        n = len(names) if names is not None else pool.n_features_in
        n = getattr(first, "n_features_in_", None) if n is None else n
        return prepared(pool.preprocessor, [Cell(place) for place in range(n or 0)], self.rows)

    def _member(self, pool: Pool, place: int, cells: list[Cell]) -> dict[str, Any]:
        classifier = pool.classifiers[place]
        own = isinstance(classifier, Member)
        estimator = classifier.estimator if own else classifier
        known = estimator.classes_ if own else np.searchsorted(pool.classes, classifier.classes_)
        seen = classifier.columns if own else None
        if self.encoded:
            model = numbers_of(estimator)
            if model is None:
                raise CannotWriteError(type(estimator).__name__)
            columns = None if seen is None else seen.tolist()
        else:
            given = cells if seen is None else [cells[column] for column in seen]
            read, model = laid_out(written_by(estimator, given, self.rows), self.rows)
            columns = [self._column(cell) for cell in read]
        return {
            "name": pool.names[place],
            "columns": columns,
            "classes": np.asarray(known, dtype=int).tolist(),
            "model": model,
        }

    def _column(self, cell: Cell) -> int:
        key = column_key(cell)
        if key not in self._place_of:
            self._place_of[key] = len(self.columns)
            self.columns.append(cell)
        return self._place_of[key]


def _committee(committee: Committee, names: tuple[str, ...]) -> dict[str, Any]:
    found = committee.calibration
    decides = {
        "decision": committee.ballot.plain(),
        "probabilities": MEAN if committee.gives_means else SHARES,
        "calibration": None if found is None else {"power": found.power, "factors": list(found.factors)},
        "answer_from": 0.0,
    }
    pool = committee.members
    if committee.judged_columns:
        return {"kind": "judges", "classes": committee.classes.tolist()} | judge_numbers(committee) | decides
    written = _PoolNumbers(pool, pool.feature_names_in or names)
    if written.foreign or not len(pool):
        same = {id(pool.classifiers[place]): told for place, told in reversed(written.foreign.items())}
        named = all_of(list(reversed(same.values()))) if same else "no member"  # copies are named once
        advice = "Use the model file: shortlist predict."
        if 0 < len(written.foreign) < len(pool):
            advice = f"Prune again with the setting exportable=yes, which leaves them out. {advice}"
        raise BadInputError(f"a policy is made of members that are plain numbers, got {named}. {advice}")
    if written.encoded:
        features, columns = pool_numbers(cast("TableEncoder", pool.preprocessor), names)
    else:
        features, columns = read_features(written.rows, written.columns)
    everything = [*range(len(columns))]
    members = [one | {"columns": everything} if one["columns"] is None else one for one in written.members]
    return {
        "kind": "committee",
        "classes": committee.classes.tolist(),
        "features": features,
        "columns": columns,
        "members": members,
        "order": asking_order(committee),
    } | decides


def _stages(classifier: MultiStageClassifier) -> dict[str, Any]:
    model = classifier.model_
    features, columns = stage_numbers(model.encoding)
    stages: list[dict[str, Any]] = []
    taken: dict[str, float] = {}
    for number, (stage, amounts) in enumerate(zip(model.stages, stage_amounts(model), strict=True), start=1):
        taken = {name: taken.get(name, 0.0) + amount for name, amount in amounts.items()}
        numbers: Any = (
            {"kind": "linear", "weights": stage.model.coefficients[:, stage.model.columns].tolist(),
             "intercepts": stage.model.coefficients[:, -1].tolist()}
            if isinstance(stage.model, LogisticModel)
            else _foreign(stage.model, number, len(classifier.classes_))
        )  # fmt: skip
        stages.append(
            {
                "number": number,
                "buys": stage.bought.tolist(),
                "known": np.flatnonzero(stage.subset).tolist(),
                "cost": stage.price / model.costs.scale,
                "columns": np.asarray(stage.model.columns).tolist(),
                "least": float(stage.least) if np.isfinite(stage.least) else None,
                "model": numbers,
            }
            | ({"taken": taken} if taken else {})
        )
    found = classifier.guarantee_
    return {
        "kind": "stages",
        "classes": classifier.classes_.tolist(),
        "reject_label": _plain(classifier.reject_label_),
        "guarantee": None if found is None else found.as_dict(),
        "features": features,
        "columns": columns,
        "stages": stages,
        "thresholds": list(model.rule.thresholds),
    }


def _foreign(model: Any, number: int, n_classes: int) -> dict[str, Any]:
    numbers = numbers_of(model.estimator)
    if numbers is None or len(model.estimator.classes_) != n_classes:
        raise BadInputError(
            f"a policy is made of classifiers that are plain numbers and know every class, got a "
            f"{type(model.estimator).__name__} at stage {number}. Fit the stages with another one, "
            "such as a forest."
        )
    return numbers


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def is_gap(value: Any) -> bool:
    """Return whether a cell is missing."""
    import pandas as pd

    return bool(pd.isna(value))
