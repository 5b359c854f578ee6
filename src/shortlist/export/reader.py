"""Answers by a policy file of Shortlist: plain Python, nothing to install. Copy this file where it is needed.

The format is described field by field in Shortlist's documentation ("How to put a model into production").

    python reader.py policy.json rows.csv [--not-asked MARKER]
"""

import bisect
import csv
import gzip
import hashlib
import io
import itertools
import json
import math
import os
import re
import struct
import sys
import zlib
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

Opinion = list[float] | None
"""Class probabilities of a member or judge; None for an abstention."""

LARGEST = sys.float_info.max
MOST_CLASSES, DEEPEST = 256, 200
PANEL_VERSION = 2
"""Version of policies of panels; in version 1, stages had a threshold for each class."""
EQUAL = 1e-9
"""Largest difference up to which probabilities of panels are equal."""


class ReaderError(ValueError):
    """Error for an unusable policy or row; its sentence gives the reason."""


def load(path: str) -> dict[str, Any]:
    """Return the policy in a file.

    Raises ReaderError if the file is damaged or no policy, or has numbers outside JSON.
    """

    def refuse(word: str) -> None:
        raise ReaderError(f"{path} must hold finite numbers, got {word}.")

    with open(path, encoding="utf-8") as file:
        try:
            policy = json.load(file, parse_constant=refuse)
        except ReaderError:
            raise
        except (ValueError, RecursionError):
            # no JSON, no UTF-8, thousands of digits, or thousands of brackets
            policy = None
    if not isinstance(policy, dict) or policy.get("format") != "shortlist-policy":
        raise ReaderError(f"{path} must be a policy of Shortlist, version 1.")
    wanted = PANEL_VERSION if policy.get("kind") == "panel" else 1
    if policy.get("version") != wanted:
        older = " It is of another version of Shortlist: make it anew by shortlist panel."
        raise ReaderError(
            f"{path} must be a policy of Shortlist, version {wanted}.{older if wanted > 1 else ''}"
        )
    check(policy)
    return policy


def digest(policy: dict[str, Any]) -> str:
    """Return the SHA-256 of all fields but the digest, as JSON with sorted names and without blanks."""
    others = {name: value for name, value in policy.items() if name != "digest"}
    text = json.dumps(others, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def next_step(
    policy: dict[str, Any], answers: dict[str, Any], failed: Collection[str] = ()
) -> dict[str, Any]:
    """Return the next step for one case with some known `answers`: judges to ask, or the decision.

    The result has ``ask``, the names of judges or features to ask side by side, and ``decision``, which is
    None while there are names to ask, and otherwise the result of `answer`. `failed`: names that failed or
    timed out; a dict gives reasons. Failed names count as silent, and the decision lists them.
    """
    told = answer(policy, answers, failed)
    return {"ask": told["needs"], "decision": None if told["needs"] else told}


def answer(policy: dict[str, Any], row: dict[str, Any], failed: Collection[str] = ()) -> dict[str, Any]:
    """Return the decision about one row: label, probabilities, confidence, price and more.

    The row is a dict of values by name.

    A name that is not in the row was not asked yet; None, NaN and an empty text are silence. An unknown word
    counts as silence of a feature, and as no answer of a judge. If a missing value matters, the row is not
    answered: `needs` has the names to ask, and `unknown` the unknown words. `failed`: features and judges
    that failed; all others decide without the failed ones. Raises ReaderError if the policy is damaged, or a
    value cannot be used.
    """
    about: dict[str, Any] = {}
    try:
        if policy["kind"] == "panel" and isinstance(row, dict):
            row = _unfolded(row)
        _check_row(row)
        steps = {"committee": _of_committee, "judges": _judged, "stages": _staged, "panel": _of_panel}
        told = _followed(policy, steps[policy["kind"]](policy, row, failed, about), about)
        columns, reasons = _columns_of(policy), failed if isinstance(failed, dict) else {}
        asked = [name for name in told.get("asked", columns) if name in columns]
        given = {name: [row[one] for one in columns[name] if one in row] for name in asked}
    except ReaderError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        check(policy)  # which says what is wrong, if it has not been loaded
        raise ReaderError("the numbers of the policy and of the row cannot be reckoned with.") from None
    had = [name for name in asked if name not in failed]
    told["silent"] = [name for name in had if given[name] and all(map(_is_gap, given[name]))]
    return told | {"failed": {name: reasons.get(name, "failed") for name in asked if name in failed}}


class Ask(NamedTuple):
    """Needs of a step in a row: missing names, and unknown words.

    `waits`: whether an unknown word ends the row, as a missing name does.
    """

    names: list[str]
    unknown: dict[str, Any]
    waits: bool = False


class Decide(NamedTuple):
    """Decision of a step: a class, the probability of each, its confidence, and whether it ends the row."""

    answer: Any
    shares: list[float]
    sure: float | None
    ends: bool


Steps = Iterator[Ask | Decide]
"""Sequence of a policy's requests and decisions about a row; prices and calls are reported separately."""


def _followed(policy: Any, steps: Steps, about: dict[str, Any]) -> dict[str, Any]:
    """Return the result of the steps of any policy, up to one that lacks a value or ends the row.

    `about`: further results of the steps, such as the price so far.
    """
    said, needs, unknown = Decide(None, [], None, ends=False), list[str](), dict[str, Any]()
    for step in steps:
        if isinstance(step, Decide):
            said = step
            if said.ends:
                break
        else:
            needs, unknown = step.names, unknown | step.unknown
            if needs or step.waits:
                break
    answered = said.ends and said.answer is not None
    told = {"label": said.answer if answered else policy["reject_label"], "answered": answered}
    told |= {"probabilities": said.shares, "confidence": said.sure}
    return told | {"needs": needs, "unknown": unknown, "handed_over": False} | about


def _of_committee(policy: Any, row: dict[str, Any], failed: Collection[str], about: dict[str, Any]) -> Steps:
    """Yield requests for the features of one member after the other, until no answer can change the outcome.

    A row with all features is decided by all members; so is any row if the policy has no order.
    """
    states = [_state(feature, row, failed) for feature in policy["features"]]
    if "order" not in policy or "not asked" not in states:
        yield _asked(policy, row, states, range(len(states)))
        columns = _columns(policy, row, set(range(len(states))), failed)
        answers: list[Opinion] = [_member(policy, member, columns) for member in policy["members"]]
        label, shares = _decided(policy, _summed(policy, answers), len(answers))
        shares, sure = _calibrated(policy.get("calibration"), shares), None
        if label is not None and "answered" in states:
            sure = shares[label]
        confident = label is not None and sure is not None and sure >= policy["answer_from"]
        if "order" in policy:
            about["members"] = _asked_until_settled(policy, answers, states)
        yield Decide(policy["classes"][label] if confident else None, shares, sure, ends=True)
        return
    asked: dict[int, Opinion] = {}
    about["members"], sums, seen, n = [], _summed(policy, []), set[int](), len(policy["order"])
    for place in policy["order"]:
        if _is_settled(policy, asked, sums, states, seen):
            break
        of_member = features_of(policy, place)
        yield _asked(policy, row, states, of_member)
        seen |= {*of_member}
        columns = _columns(policy, row, {*of_member}, failed)
        asked[place] = _member(policy, policy["members"][place], columns)
        sums = _counted(policy, sums, asked[place])
        about["members"].append(policy["members"][place]["name"])
    outcome = _outcomes(policy, asked, sums).pop()
    if outcome is not None and not any(states[place] == "answered" for place in seen):
        yield _asked(policy, row, states, range(len(states)))  # whether there is any value
        outcome = outcome if "answered" in states else None
    if not asked:  # nothing is ever answered
        yield Decide(None, [], None, ends=True)
        return
    _, shares = _decided(policy, _summed(policy, [asked[place] for place in sorted(asked)]), n)
    if policy["probabilities"] == "mean":
        shares = [one * n / len(asked) for one in shares]
    shares = _calibrated(policy.get("calibration"), shares)
    sure = None if outcome is None else shares[outcome]
    yield Decide(None if outcome is None else policy["classes"][outcome], shares, sure, ends=True)


def features_of(policy: dict[str, Any], place: int) -> list[int]:
    """Return the indices of the features that a member of a committee reads."""
    return sorted({policy["columns"][column]["feature"] for column in policy["members"][place]["columns"]})


def _asked(policy: Any, row: dict[str, Any], states: list[str], places: Collection[int]) -> Ask:
    """Return the missing names among some features, and their unknown words."""
    names = [policy["features"][place]["name"] for place in places]
    found = [(name, states[place]) for name, place in zip(names, places, strict=True)]
    needs = [name for name, state in found if state == "not asked"]
    return Ask(needs, {name: row[name] for name, state in found if state == "unknown"})


def _is_settled(
    policy: Any, asked: dict[int, Opinion], sums: list[list[float]], states: list[str], seen: set[int]
) -> bool:
    """Return whether further answers cannot change the outcome.

    If the outcome is a class, at least one feature must also have a value.
    """
    outcomes = _outcomes(policy, asked, sums)
    return outcomes == {None} or (len(outcomes) == 1 and any(states[place] == "answered" for place in seen))


def _asked_until_settled(policy: Any, answers: list[Opinion], states: list[str]) -> list[str]:
    """Return the members whose answers settle a row with all features, in the order of asking."""
    asked: dict[int, Opinion] = {}
    sums, seen = _summed(policy, []), set[int]()
    for place in policy["order"]:
        if _is_settled(policy, asked, sums, states, seen):
            break
        seen |= {*features_of(policy, place)}
        asked[place] = answers[place]
        sums = _counted(policy, sums, answers[place])
    return [policy["members"][place]["name"] for place in asked]


def _judged(policy: Any, row: dict[str, Any], failed: Collection[str], about: dict[str, Any]) -> Steps:
    """Yield requests for judges one by one, until no answer can change the outcome."""
    judges = policy["judges"]
    answers = [_judge(policy, judge, row, failed)[0] for judge in judges]
    label, shares = _decided(policy, _summed(policy, answers), len(answers))
    shares = _calibrated(policy.get("calibration"), shares)
    about |= {"asked": []} | ({} if any(judge["price"] is None for judge in judges) else {"cost": 0.0})
    yield Decide(None, shares, None, ends=False)
    asked: dict[int, Opinion] = {}
    last, known, sums = None, None, _summed(policy, [])
    for place in policy["order"]:
        judge = judges[place]
        if last is None or judge["columns"] != last["columns"]:  # otherwise a copy, who has answered
            outcomes = _outcomes(policy, asked, sums)
            if len(outcomes) == 1:
                break
            last, (known, word), column = judge, _judge(policy, judge, row, failed), judge["columns"][0]
            lacks = not word and column not in row and judge["name"] not in failed
            yield Ask([judge["name"]] * lacks, {column: word} if word else {}, waits=bool(word))
            about["asked"].append(judge["name"])
        asked[place] = known
        sums = _counted(policy, sums, known)
        if "cost" in about:
            about["cost"] += judge["price"]
    else:
        outcomes = _outcomes(policy, asked, sums)
    outcome = outcomes.pop()
    sure = None if label is None else shares[label]
    yield Decide(None if outcome is None else policy["classes"][outcome], shares, sure, ends=True)


def _judge(policy: Any, judge: Any, row: dict[str, Any], failed: Collection[str]) -> tuple[Opinion, str]:
    """Return a judge's answer (None without one), and the judge's word if the word is no class."""
    if judge["name"] in failed:
        return None, ""
    given: list[Any] = [row.get(column) for column in judge["columns"]]
    values = [value for value in given if not _is_gap(value)]
    gaps = len(given) - len(values)
    if gaps and (values or (judge["columns"][0] in row and not judge["may_abstain"])):
        raise ReaderError(f"judge {judge['name']!r} must answer every row, got an empty cell.")
    if gaps:
        return None, ""
    if len(values) == 1:
        labels = [_text(label) for label in policy["classes"]]
        if _text(values[0]) not in labels:
            return None, str(values[0])
        return [float(label == _text(values[0])) for label in labels], ""
    shares = [
        _as_number(f"column {column!r}", value)
        for column, value in zip(judge["columns"], values, strict=True)
    ]
    total = _total(shares)
    if not all(0 <= share <= 1 for share in shares) or abs(total - 1) > 0.02:
        raise ReaderError(f"judge {judge['name']!r} must give probabilities that add up to 1, got {shares}.")
    return [share / total for share in shares], ""


def _text(label: Any) -> str:
    if isinstance(label, bool):
        return str(label)
    if isinstance(label, str) and label in {"true", "TRUE", "false", "FALSE"}:
        return label.capitalize()
    try:
        number = float(label)
    except ValueError:
        return str(label)
    return str(int(number)) if number.is_integer() else str(label)


def _outcomes(policy: Any, asked: dict[int, Opinion], sums: list[list[float]]) -> set[int | None]:
    """Return the outcomes if all remaining answers are certain of one class, for each class.

    With a single outcome the row is settled.

    Certain answers for a class help it most, and certain answers for another class hurt it most. So less
    certain answers cannot change a settled outcome either. With a power below 1 the worst case is that all
    other classes are equal. Near the least probability, rounding may decide calibrated means; other means are
    added up there in their final order. Without an answer no row is settled. `sums`: sums of the counted
    answers, in any order.
    """
    n, classes = len(policy["order"]), range(len(policy["classes"]))
    outcomes: set[int | None] = set() if sums[3][0] else {None}
    fitted, least = policy.get("calibration"), policy["answer_from"]
    for k in sorted(classes, key=lambda k: -sums[1][k]):  # the first two mostly tell
        sure = [float(place == k) for place in classes]
        label, shares = _decided(policy, _counted(policy, sums, sure, n - len(asked)), n)
        if label is None:
            outcomes.add(None)
            continue
        if fitted and fitted["power"] < 1 and label != k and len(asked) < n:
            other = (1 - shares[label]) / (len(classes) - 1)
            shares = [shares[label] if place == label else other for place in classes]
        probability = _calibrated(fitted, shares)[label]
        if policy["probabilities"] == "mean" and least > 0 and abs(probability - least) <= 1e-9:
            if fitted and len(asked) < n:
                return {*classes}
            in_turn = _summed(policy, [asked.get(place, sure) for place in range(n)])
            probability = _calibrated(fitted, _decided(policy, in_turn, n)[1])[label]
        outcomes.add(label if probability >= least else None)
        if len(outcomes) > 1:
            break
    return outcomes


def _staged(policy: Any, row: dict[str, Any], failed: Collection[str], about: dict[str, Any]) -> Steps:
    """Yield requests and decisions stage by stage, until a stage has enough confidence."""
    about |= {"stage": 0, "cost": 0.0, "asked": []}
    if "taken" in policy["stages"][0]:
        about["taken"] = dict.fromkeys(policy["stages"][0]["taken"], 0.0)
    for stage in policy["stages"]:
        bought = [policy["features"][place] for place in stage["buys"]]
        states = [(one["name"], _state(one, row, failed), one["may_be_missing"]) for one in bought]
        needs = [
            name for name, state, may in states if state == "not asked" or (state == "silent" and not may)
        ]
        unknown = {name: row[name] for name, state, may in states if state == "unknown" and not may}
        yield Ask(needs, unknown, waits=bool(unknown))
        columns = _columns(policy, row, set(stage["known"]), failed)
        about |= {"stage": stage["number"], "cost": stage["cost"]}
        about |= {"taken": stage["taken"]} if "taken" in stage else {}
        about["asked"] += [one["name"] for one in bought]
        shares = _score(stage["model"], [columns[i] for i in stage["columns"]])
        label = max(range(len(shares)), key=lambda k: (shares[k], -k))
        known = (policy["features"][place] for place in stage["known"])
        has_value = any(_state(feature, row, failed) == "answered" for feature in known)
        least = LARGEST if stage["least"] is None else stage["least"]
        ends = has_value and shares[label] >= max(policy["thresholds"][label], least)
        yield Decide(policy["classes"][label], shares, shares[label], ends=ends)


def _of_panel(policy: Any, row: dict[str, Any], failed: Collection[str], about: dict[str, Any]) -> Steps:
    """Yield requests and decisions of a panel stage by stage.

    Silence, failures and unknown words are no votes.
    """
    final, is_open = policy["final"], not policy["classes"]
    fold = _comparison(policy)
    labels: list[str | None] = [fold(_word(label)) for label in policy["classes"]]
    if is_open:  # then its classes are what was said, and two answers that were not given
        spelled = _open_answers(policy, row, failed)
        labels = [*spelled, None, None]
        policy = policy | {"classes": [*spelled.values(), None, None]}
    heard: dict[int, int | None] = {}
    stages, way = _way_of(policy, row)
    about |= {"handed_over": False, "stage": 0, "cost": 0.0} | way | {"asked": []}
    yield Decide(None, [], 0.0, ends=False)
    for stage in stages:
        asks = [(place, policy["judges"][place]) for place in stage["asks"]]
        words = {place: _said(judge, row, failed) for place, judge in asks}
        heard |= {place: labels.index(fold(word)) if word is not None and fold(word) in labels else None
                  for place, word in words.items()}  # fmt: skip
        had = [(place, judge) for place, judge in asks if words[place] is not None]
        about["asked"] += [judge["name"] for _, judge in had]
        for _, judge in had:
            about["cost"] += judge["price"]
        yield Ask(
            [judge["name"] for place, judge in asks if words[place] is None],
            {judge["name"]: words[place] for place, judge in had if words[place] and heard[place] is None},
        )
        about["stage"] += 1
        kind = "votes" if "votes" in stage["decision"] else stage["decision"]["rule"]
        decides: Any = {"votes": _voted, "alone": _alone, "confidence": _latest}.get(kind, _scored)
        best = decides(policy, stage, heard, row)
        ends = _ends(stage, best, always=about["stage"] == len(stages) and final["kind"] == "answer")
        shares = best.shares[:-2] if is_open else best.shares
        yield Decide(policy["classes"][best.label] if ends else None, shares, best.sure, ends=ends)
    about["cost"] += final["price"]
    about["handed_over"] = final["kind"] == "hand-over"


def _open_answers(policy: Any, row: dict[str, Any], failed: Collection[str]) -> dict[str, str]:
    """Return the different answers to a case in the form for comparisons, each with its first spelling."""
    fold = _comparison(policy)
    spelled: dict[str, str] = {}
    for judge in policy["judges"]:
        if word := _said(judge, row, failed):
            spelled.setdefault(fold(word), word)
    return spelled


def _comparison(policy: Any) -> Callable[[str], str]:
    """Return a function from labels to texts; labels that count as equal have the same text."""

    def fold(text: str) -> str:
        text = without_punctuation(text) if policy.get("fold_punctuation") else text
        return text.casefold() if policy.get("fold_case") else text

    return fold if policy["classes"] else lambda text: number_text(fold(text))


PUNCTUATION = " \t\r\n.,;:!?\"'`*_()[]{}\u00b4\u00ab\u00bb\u2018\u2019\u201a\u201c\u201d\u201e\u2026"
"""Characters around a label that are removed if punctuation is ignored."""


def without_punctuation(text: str) -> str:
    """Return a label without the punctuation, quotes and blanks around it, and with single blanks inside.

    >>> without_punctuation(' "Refund  now." '), without_punctuation("?")
    ('Refund now', '?')
    """
    return " ".join(text.strip(PUNCTUATION).split()) or text.strip()


def number_text(text: str) -> str:
    """Return a number in a single notation, as a double; other texts stay unchanged.

    >>> number_text("12.50"), number_text("007"), number_text("1e3"), number_text("12a")
    ('12.5', '7', '1000', '12a')
    """
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", text, re.IGNORECASE):
        return text
    number = float(text)
    if math.isinf(number):
        return text
    return str(int(number)) if number.is_integer() else repr(number)


def _way_of(policy: Any, row: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the stages of a case's branch in a panel, and the facts about the router.

    If a column has no value, or a value unknown to the router, the stages are those for cases without a
    branch.
    """
    node = policy.get("router")
    if node is None:
        return policy["stages"], {}
    while "branch" not in node:
        value = row.get(node["column"])
        says = fork_says(node, value)
        if says is None:
            told = {node["column"]: None if _is_gap(value) else str(value)}
            return policy["stages"], {"branch": 0, "unrouted": told}
        node = node["yes" if says else "no"]
    return policy["branches"][node["branch"] - 1], {"branch": node["branch"], "unrouted": {}}


def routed_by(policy: Any) -> list[str]:
    """Return the columns that the router of a policy reads, each once; perhaps none."""
    nodes = [policy["router"]] if "router" in policy else []
    found: dict[str, None] = {}
    while nodes:
        node = nodes.pop()
        if "branch" not in node:
            found[node["column"]] = None
            nodes += [node["no"], node["yes"]]
    return list(found)


def fork_says(fork: Any, value: Any) -> bool | None:
    """Return the answer of a router's question about a value; None if the value is missing or unknown."""
    if "at_most" not in fork:
        word = _word(value)
        return word in fork["words"] if word in fork["known"] else None
    try:
        return None if _is_gap(value) else _as_number("", value) <= fork["at_most"]
    except (ReaderError, OverflowError, TypeError):
        return None


def _ends(stage: Any, best: "StageDecision", *, always: bool) -> bool:
    """Return whether a stage of a panel ends a case; with `always` it ends every case that it can answer."""
    if always or best.label is None:
        return best.label is not None
    return stage["answer_from"] is not None and best.sure >= stage["answer_from"]


def _unfolded(row: dict[str, Any]) -> dict[str, Any]:
    """Return answers with separate columns for label and confidence; blanks become None."""
    columns: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict) and "label" not in value:
            raise ReaderError(f"{name!r} must have a label, got a dict without.")
        parts = ("label", "confidence") if isinstance(value, dict) else ()
        columns |= {f"{name}.{part}": value.get(part) for part in parts} or {name: value}
    return {name: None if isinstance(one, str) and one.isspace() else one for name, one in columns.items()}


def _said(judge: Any, row: dict[str, Any], failed: Collection[str]) -> str | None:
    """Return the word of a panel's judge, "" for silence, and None if the judge was not asked."""
    columns = [one for one in (judge["name"], f"{judge['name']}.label") if one in row]
    if judge["name"] in failed:
        return ""
    return _word(row[columns[0]]) if columns else None


def _word(label: Any) -> str:
    """Return a label in the form for comparisons in panels: 1.0 is 1, and truth values have one spelling."""
    if _is_gap(label):
        return ""
    is_whole = isinstance(label, float) and label.is_integer()
    text = str(int(label) if is_whole else label).strip()
    if text.casefold() in {"true", "false"}:
        return text.capitalize()
    whole, point, zeros = text.partition(".")
    has_zeros = point and zeros and not zeros.strip("0")
    return whole if has_zeros and whole.removeprefix("-").isdecimal() else text


class StageDecision(NamedTuple):
    """Decision of a stage of a panel: a class, the share of each, and its confidence."""

    label: int | None
    shares: list[float]
    sure: float


def _voted(policy: Any, stage: Any, heard: dict[int, int | None], _row: Any) -> StageDecision:
    votes, knows = stage["decision"]["votes"], stage["knows"]
    tally = [0] * len(policy["classes"])
    for place, number in zip(knows, votes, strict=True):
        if (label := heard[place]) is not None:
            tally[label] += number
    ties = stage["decision"].get("ties", "unanswered")
    whole = sum(votes) if stage["decision"]["missing"] == "counted" else sum(tally)
    least = stage["decision"]["rule"] == "majority"
    *_, second, most = sorted(tally)
    equal = [label for label, number in enumerate(tally) if number == most]
    said = [heard[place] for place in knows if heard[place] in equal]
    winner = said[-1] if ties == "latest" and said else equal[0]
    wins = most > (second if ties == "unanswered" else 0) and (not least or 2 * most > whole)
    shares = [one / max(1, whole) for one in tally]
    label = winner if wins else None
    return StageDecision(label, shares, max(shares) if wins else 0.0)


def _alone(_policy: Any, stage: Any, _heard: Any, _row: Any) -> StageDecision:
    """Return the constant decision of a branch, without asking a judge."""
    label, shares = stage["decision"]["label"], stage["decision"]["shares"]
    known = label >= 0
    return StageDecision(label if known else None, shares, shares[label] if known else 0.0)


def _latest(policy: Any, stage: Any, heard: dict[int, int | None], row: dict[str, Any]) -> StageDecision:
    """Return the latest answer, and the confidence of the judge asked last, or 0 if it did not answer."""
    last = stage["knows"][-1]
    said = [heard[place] for place in stage["knows"] if heard[place] is not None]
    sure = 0.0 if heard[last] is None else _scaled(policy["judges"][last], row)
    label = said[-1] if said else None
    return StageDecision(label, [sure * (place == label) for place in range(len(policy["classes"]))], sure)


def _scored(policy: Any, stage: Any, heard: dict[int, int | None], row: dict[str, Any]) -> StageDecision:
    decision, scores = stage["decision"], stage["decision"]["bias"]
    for place, labels, slopes in zip(stage["knows"], decision["labels"], decision["slopes"], strict=True):
        label = heard[place]
        scores = [a + b for a, b in zip(scores, labels[-1 if label is None else label], strict=True)]
        if label is not None:
            sure = _scaled(policy["judges"][place], row)
            scores = [a + sure * b for a, b in zip(scores, slopes[label], strict=True)]
    shares = _linked(scores)
    *_, second, most = sorted(shares)
    if not sum(shares) > 0:  # nor NaN
        raise ReaderError("the scores of the panel are too large for this row.")
    wins = most - second > EQUAL and any(heard[place] is not None for place in stage["knows"])
    return StageDecision(shares.index(most) if wins else None, shares, most if wins else 0.0)


def _scaled(judge: Any, row: dict[str, Any]) -> float:
    """Return a judge's confidence on the common scale: straight lines between knots.

    0 if the judge never gives a confidence.
    """
    column, scale = f"{judge['name']}.confidence", judge["confidence"]
    if scale is None or _is_gap(row.get(column)):
        return 0.0 if scale is None else float(scale["usual"])
    sure, knots, values = _as_number(repr(column), row[column]), scale["knots"], scale["values"]
    if not knots[0] < sure < knots[-1]:
        return float(values[0] if sure <= knots[0] else values[-1])
    after = bisect.bisect_right(knots, sure)
    share = (sure - knots[after - 1]) / (knots[after] - knots[after - 1])
    return float(values[after - 1] + share * (values[after] - values[after - 1]))


def _state(feature: Any, row: dict[str, Any], failed: Collection[str] = ()) -> str:
    """Return the state of a feature of a row: answered, silent, not asked, unknown or failed."""
    name = feature["name"]
    if name in failed or name not in row:
        return "failed" if name in failed else "not asked"
    if _is_gap(row[name]):
        return "silent"
    return "answered" if feature.get("known") is None or _known(feature, row[name]) else "unknown"


def _known(feature: Any, value: Any) -> list[Any]:
    """Return the known values that equal a word, exactly or as text; empty if there is none."""
    same = [one for one in feature["known"] if one == value]
    return same or [one for one in feature["known"] if _text(one) == _text(value)]


def _columns(policy: Any, row: dict[str, Any], known: set[int], failed: Collection[str] = ()) -> list[float]:
    values = {}
    for place in known:
        feature = policy["features"][place]
        name = feature["name"]
        values[place] = None if name in failed else _value(feature, row.get(name))
    return [
        _column(one, values[one["feature"]]) if one["feature"] in known else 0.0 for one in policy["columns"]
    ]


def _value(feature: Any, value: Any) -> Any:
    gap = _is_gap(value)
    if gap and not feature["may_be_missing"]:
        raise ReaderError(f"feature {feature['name']!r} must have a value, got none.")
    if gap:
        return None
    if feature["kind"] == "number":
        return _as_number(f"feature {feature['name']!r}", value)
    if feature.get("known") is not None:
        return next(iter(_known(feature, value)), None)
    return str(value) if feature["kind"] == "words" else value


def _as_number(what: str, value: Any) -> float:
    """Return a number, also from the text of a cell; true is 1 and false 0."""
    truth = {"True": 1.0, "False": 0.0}.get(_text(value))
    try:
        number = float(value) if truth is None else truth
    except ValueError:
        raise ReaderError(f"{what} must be a number, got {value!r}.") from None
    if not math.isfinite(number):
        raise ReaderError(f"{what} must be finite, got {value}.")
    return number


def _check_row(row: Any) -> None:
    """Raise ReaderError if a row is no dict, or a value is neither a number nor a text nor None."""
    if not isinstance(row, dict):
        raise ReaderError(f"a row must be a dict of values by name, got a {type(row).__name__}.")
    for name, value in row.items():
        if not (value is None or isinstance(value, bool | int | float | str)):
            raise ReaderError(f"{name!r} must hold a number, text or nothing, got a {type(value).__name__}.")
        if isinstance(value, int) and abs(value) > LARGEST:
            raise ReaderError(f"{name!r} must be finite, got a number of {value.bit_length()} bits.")


def _is_gap(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _column(one: Any, value: Any) -> float:
    if one["kind"] == "cell":
        number = _cell(one["steps"], value)
    elif one["kind"] == "missing":
        number = float(value is None)
    elif one["kind"] == "number":
        number = one["fill"] if value is None else value
    else:
        word = one.get("missing_word") if value is None else value
        inside = word is not None and word in one["values"]
        number = float(inside if one["kind"] == "one_of" else word is not None and not inside)
    for divide, subtract in one["scaling"]:
        number = number / divide - subtract
    return max(-one["clip"], min(one["clip"], number)) if one["clip"] else number


def _cell(steps: Any, value: Any) -> float:
    """Return the number after the steps of a value; NaN for a gap."""
    for step in steps:
        kind = step["step"]
        if kind == "fill":
            value = step["with"] if value is None else value
        elif kind == "is gap":
            value = float(value is None)
        elif kind == "lookup":
            value = _looked_up(step, value)
        elif value is not None:
            value = _stepped(step, float(value))
    return math.nan if value is None else float(value)


def _looked_up(step: Any, value: Any) -> Any:
    if value is None or value in step["values"]:
        return step["gap"] if value is None else step["numbers"][step["values"].index(value)]
    if "otherwise" not in step:
        raise ReaderError(f"a value must be one of {step['values']}, got {value!r}.")
    return step["otherwise"]


def _stepped(step: Any, x: float) -> float:
    """Return a number after one step."""
    kind = step["step"]
    if kind in {"add", "subtract"}:
        return float(x + step["by"] if kind == "add" else x - step["by"])
    if kind in {"multiply", "divide"}:
        return float(x * step["by"] if kind == "multiply" else x / step["by"])
    if kind == "clip":
        return float(max(step["least"], min(step["most"], x)))
    if kind == "bins":
        return float(bisect.bisect_right(step["edges"], x))
    if kind == "interpolate":
        knots, values = step["knots"], step["values"]
        backwards = [-one for one in reversed(knots)], [-one for one in reversed(values)]
        return (_between(x, knots, values) - _between(-x, *backwards)) / 2
    if kind == "function":
        return FUNCTIONS[step["name"]](x)
    power = step["power"]
    if kind == "box-cox":
        return float((x**power - 1) / power) if power else math.log(x)
    if x < 0:
        return float(-((1 - x) ** (2 - power) - 1) / (2 - power)) if power != 2 else -math.log1p(-x)
    return float(((x + 1) ** power - 1) / power) if power else math.log1p(x)


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "log1p": math.log1p, "log": math.log, "log2": math.log2, "log10": math.log10, "sqrt": math.sqrt,
    "exp": math.exp, "expm1": math.expm1, "abs": abs, "square": lambda x: x * x, "negative": lambda x: -x,
}  # fmt: skip
"""Functions of one number, by name."""


def _between(x: float, knots: list[float], values: list[float]) -> float:
    """Return a value on the straight lines between knots; outside the knots the lines are constant."""
    if not knots[0] < x < knots[-1]:
        return float(values[0] if x <= knots[0] and knots[0] < knots[-1] else values[-1])
    after = bisect.bisect_right(knots, x)
    share = (x - knots[after - 1]) / (knots[after] - knots[after - 1])
    return float(values[after - 1] + share * (values[after] - values[after - 1]))


def _member(policy: Any, member: Any, columns: list[float]) -> list[float]:
    found = _score(member["model"], [columns[i] for i in member["columns"]])
    probabilities = [0.0] * len(policy["classes"])
    for place, probability in zip(member["classes"], found, strict=True):
        probabilities[place] = min(1.0, max(0.0, probability))
    total = _total(probabilities)
    if not total > 0:  # nor NaN
        raise ReaderError(f"the numbers of member {member['name']!r} are too large for this row.")
    return [one / total for one in probabilities]


def _summed(policy: Any, answers: list[Opinion]) -> list[list[float]]:
    """Return sums over answers by class, and the number of answers.

    The sums are of votes, of deciding scores and of probabilities.
    """
    sums = [*[[0.0] * len(policy["classes"])] * 3, [0.0]]
    for one in answers:
        sums = _counted(policy, sums, one)
    return sums


def _counted(policy: Any, sums: list[list[float]], one: Opinion, times: int = 1) -> list[list[float]]:
    """Return sums such as :func:`_summed` gives, plus one answer, counted `times` times."""
    rule, n_classes = policy["decision"]["rule"], len(policy["classes"])
    shares = [1 / n_classes] * n_classes if one is None else one
    votes = [0] * n_classes
    if one is not None and rule == "threshold":
        votes = [int(share > 0.5) for share in one]
    elif one is not None:
        votes[int(one[1] > 0.5) if n_classes == 2 else one.index(max(one))] = 1
    parts = _parts(policy["decision"], shares) if rule == "mean" else votes
    added: Any = (votes, parts, shares, [int(one is not None)])
    return [[a + times * b for a, b in zip(x, y, strict=True)] for x, y in zip(sums, added, strict=True)]


def _decided(policy: Any, sums: list[list[float]], n: int) -> tuple[int | None, list[float]]:
    """Return the winning class, and the scores for its probability, from the sums of `n` answers.

    The class is None without any answer. It is also None if the votes of silent members could cross a
    threshold.
    """
    decision, (votes, scores, probabilities, (heard,)) = policy["decision"], sums
    classes, n_votes, open_ = range(len(policy["classes"])), heard, not heard
    if decision["rule"] == "threshold":
        k, n_votes = decision["positive"], n
        least, most = (_stretched(votes[k] + more, decision["threshold"], n) for more in (0, n - heard))
        share = max(least, min(0.5, most))
        open_ = share == 0.5
        scores = shares = [share if place == k else 1 - share for place in classes]
    else:
        shares = [one / max(1, heard) for one in votes]
    label = max(classes, key=lambda k: (scores[k], -k))
    if policy["probabilities"] == "mean":
        shares = [one / n for one in probabilities]
    elif policy["probabilities"] == "shares":
        shares = [(share * n_votes + 1) / (n_votes + len(classes)) for share in shares]
    return None if open_ else label, shares


def _stretched(votes: float, threshold: int, n: int) -> float:
    """Return votes as a share, stretched so that the threshold plus half a vote becomes one half."""
    middle = threshold + 0.5
    return votes / (2 * middle) if votes < middle else 0.5 + (votes - middle) / (2 * max(0.5, n - middle))


def _calibrated(fitted: Any, shares: list[float]) -> list[float]:
    """Return a power of each share times the factor of its class, normalised to sum 1."""
    if fitted is None:
        return shares
    power, pairs = fitted["power"], zip(shares, fitted["factors"], strict=True)
    raised = [share**power * factor for share, factor in pairs]
    total = _total(raised)
    return [one / total for one in raised]


def _parts(decision: Any, shares: list[float]) -> list[int]:
    whole, gains = decision["whole"], decision["gains"]
    parts = [round(share * whole) for share in shares]
    if len(gains) == 2:
        second = parts[1] - (shares[1] == 0.5)  # a half leans to the first class
        parts = [whole - second, second]
    most = max(gains)
    return [round(one * (gain / most)) for one, gain in zip(parts, gains, strict=True)]


def _score(model: Any, x: list[float]) -> list[float]:
    model, x = _prepared(model, x)
    kind = model["kind"]
    if kind == "highest":
        return _highest(_raw(model["of"], _in_single(x) if model["single"] else x))
    if kind == "rules":
        return _ruled(model, x)
    if kind in {"linear", "network"}:
        return _linked(_raw(model, x))
    if kind == "constant":
        return list(model["probabilities"])
    if kind == "given":
        return x
    if kind == "largest":
        return _highest(_score(model["of"], x))
    if kind == "pairs":
        return _won_pairs(model, x)
    if kind == "calibrated":
        return _by_sigmoids(model, x)
    if kind == "mean":
        return _mean_of_parts(model, x)
    if kind == "normal":
        return _linked([_normal(one, x) for one in model["classes"]])
    if kind == "forest":
        leaves = [_leaf(tree, x, single=True) for tree in model["trees"]]
        return [sum(leaf[k] for leaf in leaves) / len(leaves) for k in range(len(leaves[0]))]
    return _linked(_boosted(model, x)) if kind == "boosting" else _neighbours(model, x)


def _boosted(model: Any, x: list[float]) -> list[float]:
    raw, is_single = list(model["start"]), model.get("sums") == "single"
    for trees in model["rounds"]:
        for k, tree in enumerate(trees):
            raw[k] += _leaf(tree, x, single=model.get("single", False))
            if is_single:
                raw[k] = _in_single([raw[k]])[0]
    return raw


def _prepared(model: Any, x: list[float]) -> tuple[Any, list[float]]:
    """Return the last model behind steps such as scalers and kernels, and the row after these steps."""
    while model["kind"] in STEPS:
        if model["kind"] == "extended":
            x = [*x, *STEPS[model["by"]["kind"]](model["by"], [x[i] for i in model["columns"]])]
        else:
            x = STEPS[model["kind"]](model, x)
        model = model["then"]
    return model, x


def _kernel(model: Any, x: list[float]) -> list[float]:
    """Return weighted sums of the similarities of a row to the rows of a model."""
    gamma, kind = model["gamma"], model.get("function", "rbf")
    if kind == "rbf":
        near = [
            math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, row, strict=True))) for row in model["rows"]
        ]
    else:
        near = [_dot(x, row) for row in model["rows"]]
        if kind != "linear":
            near = [gamma * one + model["shift"] for one in near]
            near = [one ** model["power"] if kind == "poly" else math.tanh(one) for one in near]
    return [_dot(row, near) for row in model["mixing"]]


def _normalised(model: Any, x: list[float]) -> list[float]:
    norm, sizes = model["norm"], [abs(one) for one in x]
    size = max(sizes) if norm == "max" else _total(sizes) if norm == "l1" else math.sqrt(_dot(x, x))
    return [one / size for one in x] if size else x


def _turned(model: Any, x: list[float]) -> list[float]:
    away = [a - b for a, b in zip(x, model["mean"], strict=True)]
    return [_dot(axis, away) for axis in model["axes"]]


def _stacked(model: Any, x: list[float]) -> list[float]:
    """Return the answers of other models, perhaps with unchanged columns."""
    found = list[float]()
    for part in model["parts"]:
        seen = [x[i] for i in part["columns"]]
        told = _raw(part["model"], seen) if part["raw"] else _score(part["model"], seen)
        found += [told[i] for i in part["keep"]]
    return found + [x[i] for i in model["passed"]]


STEPS: dict[str, Callable[[Any, list[float]], list[float]]] = {
    "scaled": lambda model, x: [
        (a - b) / c for a, b, c in zip(x, model["mean"], model["scale"], strict=True)
    ],
    "kernel": _kernel,
    "normalised": _normalised,
    "turned": _turned,
    "stacked": _stacked,
    "picked": lambda model, x: [x[i] for i in model["columns"]],
    "products": lambda model, x: [
        math.prod(a**n for a, n in zip(x, powers, strict=True) if n) for powers in model["powers"]
    ],
    "each": lambda model, x: [
        _cell(steps, None if math.isnan(one) else one) for steps, one in zip(model["steps"], x, strict=True)
    ],
    "extended": lambda _model, x: x,
}
"""Functions of steps from a row to another row, before the model in `then`.

The step ``extended`` appends the result of another step.
"""


def _won_pairs(model: Any, x: list[float]) -> list[float]:
    """Return for each class its share of won pairs; in a pair the first class wins if the score exceeds 0."""
    n, won = model["n_classes"], [0.0] * model["n_classes"]
    scores = zip(itertools.combinations(range(n), 2), x, model["intercepts"], strict=True)
    for (first, second), score, shift in scores:
        won[first if score + shift > 0 else second] += 1
    return [one / len(x) for one in won]


def _mean_of_parts(model: Any, x: list[float]) -> list[float]:
    """Return the weighted mean of parts or of their votes; if the model has a sharpness, its softmax."""
    found = [0.0] * model["n_classes"]
    for part in model["parts"]:
        shares = _score(part["model"], [x[i] for i in part["columns"]])
        for place, share in zip(part["classes"], _highest(shares) if model["votes"] else shares, strict=True):
            found[place] += part["weight"] * share
    total = _total([part["weight"] for part in model["parts"]])
    means = [one / total for one in found]
    return _linked([model["sharpness"] * one for one in means]) if model["sharpness"] else means


def _by_sigmoids(model: Any, x: list[float]) -> list[float]:
    """Return a sigmoid or a curve of each score or probability of another model, normalised to sum 1."""
    is_raw = model.get("raw", model["of"]["kind"] == "linear")
    scores = _raw(model["of"], x) if is_raw else _score(model["of"], x)
    scores = scores[-1:] if len(model.get("curves", model.get("slopes"))) == 1 else scores
    if "curves" in model:
        curves = zip(model["curves"], scores, strict=True)
        found = [_between(one, curve["knots"], curve["values"]) for curve, one in curves]
    else:
        found = [
            _linked([-(slope * one + shift)])[1]
            for slope, shift, one in zip(model["slopes"], model["shifts"], scores, strict=True)
        ]
    if len(found) == 1:
        return [1 - found[0], found[0]]
    total = _total(found)
    return [one / total if total else 1 / len(found) for one in found]


def _raw(model: Any, x: list[float]) -> list[float]:
    model, x = _prepared(model, x)
    if model["kind"] == "programs":
        found = [_value_of(iter(program), x) for program in model["programs"]]
        return [one if math.isfinite(one) else 0.0 for one in found]
    if model["kind"] == "boosting":
        return _boosted(model, x)
    if model["kind"] == "linear":
        return [_dot(row, x, shift) for row, shift in zip(model["weights"], model["intercepts"], strict=True)]
    for weights, shifts in zip(model["weights"], model["intercepts"], strict=True):
        x = [_dot(row, x, shift) for row, shift in zip(weights, shifts, strict=True)]
        if weights is not model["weights"][-1]:
            x = [math.tanh(one) if model["activation"] == "tanh" else max(0.0, one) for one in x]
    return x


def _highest(scores: list[float]) -> list[float]:
    """Return 1 for the class with the largest score, or the first of equals, and 0 for all other classes.

    A single score is the score of the second of two classes.
    """
    scores = [0.0, *scores] if len(scores) == 1 else scores
    return [float(place == scores.index(max(scores))) for place in range(len(scores))]


def _total(values: list[float]) -> float:
    """Return the sum in order from the first to the last; sum() of Python 3.12 rounds differently."""
    return _dot(values, [1.0] * len(values))


def _dot(row: list[float], x: list[float], start: float = 0.0) -> float:
    for a, b in zip(row, x, strict=True):
        start += a * b
    return start


def _linked(scores: list[float]) -> list[float]:
    if len(scores) == 1:
        likelier = 1 / (1 + math.exp(-abs(scores[0])))
        return [1 - likelier, likelier] if scores[0] > 0 else [likelier, 1 - likelier]
    powers = [math.exp(one - max(scores)) for one in scores]
    total = _total(powers)
    return [one / total for one in powers]


def _normal(one: Any, x: list[float]) -> float:
    away = [a - b for a, b in zip(x, one["mean"], strict=True)]
    turned = [_dot(axis, away) for axis in one["axes"]] if "axes" in one else away
    return float(one["constant"]) - 0.5 * _dot(one["weights"], [t * t for t in turned])


def _in_single(x: list[float]) -> list[float]:
    return [struct.unpack("f", struct.pack("f", one))[0] for one in x]


def _ruled(model: Any, x: list[float]) -> list[float]:
    """Return 1 for the class of the first rule whose conditions all hold, and 0 for all other classes."""
    held = (
        rule["class"]
        for rule in model["rules"]
        if all((x[one["column"]] > one["number"]) == one["above"] for one in rule["conditions"])
    )
    verdict = next(held, model["otherwise"])
    return [float(place == verdict) for place in range(model["n_classes"])]


def _value_of(symbols: Iterator[Any], x: list[float]) -> float:
    symbol = next(symbols)
    if isinstance(symbol, dict):
        return x[symbol["column"]]
    if not isinstance(symbol, str):
        return float(symbol)
    a, b = _value_of(symbols, x), _value_of(symbols, x)
    if symbol in {"+", "-"}:
        return a + b if symbol == "+" else a - b
    if symbol in {"*", "/"}:
        return a * b if symbol == "*" else 1.0 if abs(b) < 1e-6 else a / b
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return min(a, b) if symbol == "min" else max(a, b)


def _leaf(tree: Any, x: list[float], *, single: bool) -> Any:
    x = _in_single(x) if single else x
    node = 0
    for _ in tree["left"]:  # so that a damaged one ends
        if tree["left"][node] < 0:
            break
        number, known = x[tree["feature"][node]], tree["sets"][node] if "sets" in tree else None
        goes_left = number <= tree["threshold"][node] if known is None else number in known
        if math.isnan(number):
            goes_left = "gaps" in tree and tree["gaps"][node] > 0
        node = tree["left"][node] if goes_left else tree["right"][node]
    return tree["value"][node]


def _neighbours(model: Any, x: list[float]) -> list[float]:
    power = model["power"]
    sums = [_powers([a - b for a, b in zip(x, row, strict=True)], power) for row in model["rows"]]
    nearest = sorted(range(len(sums)), key=lambda i: (sums[i], i))[: model["n"]]
    weights = [1.0] * len(nearest)
    if model["by_distance"]:
        away = [math.sqrt(sums[i]) if power == 2 else sums[i] ** (1 / power) for i in nearest]
        weights = [float(one == 0) if away[0] == 0 else away[0] / one for one in away]
    found = [0.0] * model["n_classes"]
    for i, weight in zip(nearest, weights, strict=True):
        found[model["labels"][i]] += weight
    total = _total(found)
    return [one / total for one in found]


def _powers(away: list[float], power: float) -> float:
    return _dot(away, away) if power == 2 else _total([abs(one) ** power for one in away])


def check(policy: Any) -> None:
    """Raise ReaderError for a damaged policy: a field of another kind, an index out of range, a wrong size.

    If the policy has a `digest`, any other change is an error too.
    """
    try:
        if "digest" in policy:
            _need(policy["digest"] == digest(policy), "a digest that is not that of its content")
        names = policy["classes"]
        most = MOST_CLASSES if policy["kind"] != "panel" else LARGEST  # open answers are of many classes
        is_open = policy["kind"] == "panel" and names == []
        _need(_is_list(names) and (is_open or 2 <= len(names) <= most), "classes")
        _need(all(isinstance(one, bool | int | float | str) for one in names), "classes")
        _need(isinstance(policy["reject_label"], bool | int | float | str | None), "reject_label")
        kinds = {"committee": _check_committee, "judges": _check_judges}
        (kinds | {"stages": _check_stages, "panel": _check_panel})[policy["kind"]](policy)
    except (AttributeError, LookupError, RecursionError, TypeError) as error:
        missing = f"has no {error.args[0]!r}" if type(error) is KeyError else "has parts of another kind"
        raise ReaderError(
            f"the policy is damaged: it {missing} where it is needed. Export it again."
        ) from None


def _check_committee(policy: Any) -> None:
    _check_columns(policy)
    _check_decision(policy, len(policy["members"]))
    for member in policy["members"]:
        _need(
            _is_list(member["classes"]) and len(set(member["classes"])) == len(member["classes"]), "classes"
        )
        _need(_are_places(member["classes"], len(policy["classes"])), "classes of a member")
        _need(_are_places(member["columns"], len(policy["columns"])), "columns of a member")
        _check_model(member["model"], len(member["columns"]), len(member["classes"]))
    if "order" in policy:
        n = len(policy["members"])
        _need(_are_places(policy["order"], n) and len({*policy["order"]}) == n, "order")
        _need(len(policy["order"]) == n, "order")


def _check_judges(policy: Any) -> None:
    n_classes, judges = len(policy["classes"]), policy["judges"]
    _check_decision(policy, len(judges))
    for judge in judges:
        columns = judge["columns"]
        _need(isinstance(judge["name"], str) and isinstance(judge["may_abstain"], bool), "judges")
        _need(_is_list(columns) and len(columns) in {1, n_classes}, "columns of a judge")
        _need(all(isinstance(column, str) for column in columns), "columns of a judge")
        _need(judge["price"] is None or _is_number(judge["price"]), "price of a judge")
    _need(_are_places(policy["order"], len(judges)) and len(set(policy["order"])) == len(judges), "order")


def _check_panel(policy: Any) -> None:
    judges, final = policy["judges"], policy["final"]
    n_classes = len(policy["classes"]) or 1  # open answers are checked as of one class
    for name in ("fold_case", "fold_punctuation"):
        _need(isinstance(policy.get(name, False), bool), name)
    for judge in judges:
        scale = judge["confidence"]
        _need(isinstance(judge["name"], str), "name of a judge")
        _need(_is_amount(judge["price"]), "price of a judge")
        _need(judge["latency"] is None or _is_amount(judge["latency"]), "latency of a judge")
        if scale is not None:
            knots, values = scale["knots"], scale["values"]
            _need(_is_list(knots) and _is_list(values) and len(knots) == len(values) > 0, "confidence")
            _need(_are_numbers([*knots, *values, scale["usual"]]), "confidence of a judge")
            _need(all(a < b for a, b in itertools.pairwise(knots)), "confidence of a judge")
            _need(knots[-1] - knots[0] <= LARGEST, "confidence of a judge")
    columns = [column for each in _columns_of(policy).values() for column in each]
    _need(len(set(columns)) == 2 * len(judges), "judges")
    branches = policy["branches"] if "router" in policy else []
    _need(_is_list(branches) and (len(branches) > 0) == ("router" in policy), "branches")
    for stages in (policy["stages"], *branches):
        _check_panel_stages(stages, len(judges), n_classes)
    if branches:
        _need("branch" not in policy["router"], "router")
        _check_fork(policy["router"], len(branches), {*columns})
    _need(final["kind"] in {"answer", "hand-over", "reject"} and _is_amount(final["price"]), "final")
    _need(final["kind"] == "hand-over" or final["price"] == 0, "price of final")
    _need(isinstance(policy["promise"], str), "promise")
    if "question" in policy:
        _check_question(policy["question"], n_classes)


def _check_question(question: Any, n_classes: int) -> None:
    """Check the question in a panel's policy; no answer depends on the question."""
    objectives, costs = question["objectives"], question["error_costs"]
    _need(_is_list(objectives) and all(isinstance(one, str) for one in objectives), "objectives")
    _need(_is_list(costs) and len(costs) in {0, n_classes + 1}, "error_costs")
    _need(all(_are_places(row, 2**31) and len(row) == n_classes for row in costs), "error_costs")
    _need(isinstance(question["positive"], str | None), "positive")
    demand = question.get("promise")
    _need(demand is None or _are_numbers(demand, 2), "promise of the question")


def _check_panel_stages(stages: Any, n_judges: int, n_classes: int) -> None:
    asked = list[int]()
    _need(_is_list(stages) and len(stages) > 0, "stages")
    for stage in stages:
        _need(_are_places(stage["asks"], n_judges) and _are_places(stage["knows"], n_judges), "asks")
        asked += stage["asks"]
        _need(len(set(asked)) == len(asked), "asks of a stage")
        _need(len(set(stage["knows"])) == len(stage["knows"]) and {*stage["knows"]} <= {*asked}, "knows")
        _need(stage["answer_from"] is None or _is_number(stage["answer_from"]), "answer_from")
        _check_panel_decision(stage, n_classes)


def _check_fork(node: Any, n_branches: int, columns: set[str]) -> None:
    """Check a question of a router, and all questions after it."""
    if "branch" in node:
        _need(_are_places([node["branch"] - 1], n_branches), "branch of a router")
        return
    _need(isinstance(node["column"], str) and node["column"] not in columns, "column of a router")
    if "at_most" in node:
        _need(_is_number(node["at_most"]), "at_most of a router")
    else:
        _need(all(isinstance(one, str) for one in (*node["known"], *node["words"])), "words of a router")
        _need(_is_list(node["words"]) and {*node["words"]} <= {*node["known"]}, "words of a router")
    for way in (node["yes"], node["no"]):
        _check_fork(way, n_branches, columns)


def _check_panel_decision(stage: Any, n_classes: int) -> None:
    decision, n_judges = stage["decision"], len(stage["knows"])
    if n_classes == 1:
        _need(decision["rule"] in {"plurality", "majority", "confidence"}, "rule of a decision")
        _need(decision.get("ties") != "first", "ties of a decision")
    if decision["rule"] == "alone":
        _need(_are_numbers(decision["shares"], n_classes) and n_judges == 0, "shares of a decision")
        _need(decision["label"] == -1 or _are_places([decision["label"]], n_classes), "label of a decision")
        _need("votes" not in decision, "rule of a decision")
        return
    if decision["rule"] == "confidence":
        _need(n_judges > 0 and "votes" not in decision, "rule of a decision")
        return
    if decision["rule"] in {"plurality", "majority"}:
        _need(_are_places(decision["votes"], 2**31) and len(decision["votes"]) == n_judges, "votes")
        _need(decision["missing"] in {"ignored", "counted"}, "missing of a decision")
        _need(decision.get("ties", "unanswered") in {"unanswered", "first", "latest"}, "ties of a decision")
        return
    _need(isinstance(decision["rule"], str), "rule of a decision")
    _need(_are_numbers(decision["bias"], n_classes) and "votes" not in decision, "bias of a decision")
    for name, n_words in (("labels", n_classes + 1), ("slopes", n_classes)):
        _need(_is_list(decision[name]) and len(decision[name]) == n_judges, f"{name} of a decision")
        for words in decision[name]:
            _need(len(words) == n_words, f"{name} of a decision")
            _check_matrix(words, n_classes)


def _check_stages(policy: Any) -> None:
    n_classes, n_features = len(policy["classes"]), len(policy["features"])
    _check_columns(policy)
    _need(_are_numbers(policy["thresholds"], n_classes), "thresholds")
    _need(_is_list(policy["stages"]) and len(policy["stages"]) > 0, "stages")
    for stage in policy["stages"]:
        _need(isinstance(stage["number"], int) and _is_number(stage["cost"]), "number and cost of a stage")
        _need(
            _are_places(stage["buys"], n_features) and _are_places(stage["known"], n_features), "buys, known"
        )
        _need(stage["least"] is None or _is_number(stage["least"]), "least of a stage")
        taken = stage.get("taken", {})
        _need(isinstance(taken, dict) and _are_numbers(list(taken.values())), "taken of a stage")
        _need(_are_places(stage["columns"], len(policy["columns"])), "columns of a stage")
        _check_model(stage["model"], len(stage["columns"]), n_classes)


def _check_columns(policy: Any) -> None:
    for feature in policy["features"]:
        _need(isinstance(feature["name"], str) and isinstance(feature["may_be_missing"], bool), "features")
        _need(feature["kind"] in {"number", "words", "values"}, "kind of a feature")
        _need(_is_list(feature.get("known") or []), "known of a feature")
    for one in policy["columns"]:
        kind = one["kind"]
        _need(_are_places([one["feature"]], len(policy["features"])), "feature of a column")
        _need(kind in {"number", "missing", "one_of", "none_of", "cell"}, "kind of a column")
        if kind == "cell":
            _check_cell(one["steps"], policy["features"][one["feature"]]["kind"])
        _need(kind != "number" or policy["features"][one["feature"]]["kind"] == "number", "kind of a column")
        _need(kind != "number" or _is_number(one["fill"]), "fill of a column")
        _need(kind in {"number", "missing", "cell"} or _is_list(one["values"]), "values of a column")
        _need(one["clip"] is None or (_is_number(one["clip"]) and one["clip"] >= 0), "clip of a column")
        _need(_is_list(one["scaling"]), "scaling of a column")
        _need(all(_are_numbers(pair, 2) and pair[0] != 0 for pair in one["scaling"]), "scaling of a column")


def _check_decision(policy: Any, n_members: int) -> None:
    n_classes, decision, fitted = len(policy["classes"]), policy["decision"], policy.get("calibration")
    _need(n_members > 0, "members")
    _need(_is_number(policy["answer_from"]), "answer_from")
    _need(policy["probabilities"] in {"mean", "shares", "votes"}, "probabilities")
    _need(decision["rule"] in {"mean", "plurality", "threshold"}, "rule of the decision")
    if decision["rule"] == "threshold":
        _need(n_classes == 2 and _are_places([decision["positive"]], 2), "positive of the decision")
        _need(_are_places([decision["threshold"]], n_members + 1), "threshold of the decision")
    if decision["rule"] == "mean":
        _need(_is_number(decision["whole"]), "whole of the decision")
        _need(_are_numbers(decision["gains"], n_classes) and max(decision["gains"]) > 0, "gains")
    if fitted is not None:
        _need(_is_number(fitted["power"]) and fitted["power"] >= 0, "power of the calibration")
        _need(_are_numbers(fitted["factors"], n_classes) and min(fitted["factors"]) >= 0, "factors")


def _check_model(model: Any, width: int, n_classes: int, deep: int = 0) -> None:
    """Raise ReaderError if a model has another number of columns or of classes, or is damaged."""
    model, width = _check_steps(model, width, deep)
    kind = model["kind"]
    checks = {
        "constant": _check_constant, "linear": _check_scores, "network": _check_scores, "rules": _check_rules,
        "normal": _check_normal, "forest": _check_forest, "boosting": _check_boosting,
        "neighbours": _check_neighbours, "given": _check_given, "pairs": _check_pairs,
    }  # fmt: skip
    if kind == "highest":
        of, width = _check_steps(model["of"], width, deep)
        _need(of["kind"] in {"linear", "network", "programs"}, "kind of a model")
        _check_scores(of, width, n_classes)
    elif kind == "calibrated":
        n_scores = len(model["curves"] if "curves" in model else model["slopes"])
        _need(_tells(n_scores, n_classes) and deep < DEEPEST, "slopes of a model")
        if "curves" in model:
            for curve in model["curves"]:
                _check_curve(curve)
        else:
            _need(_are_numbers(model["slopes"]), "slopes of a model")
            _need(_are_numbers(model["shifts"], n_scores), "shifts of a model")
        is_raw = model.get("raw", model["of"]["kind"] == "linear")
        _need(not is_raw or _kind_behind(model["of"]) in {"linear", "boosting"}, "raw of a model")
        _check_model(model["of"], width, n_classes, deep + 1)
    elif kind == "largest":
        _need(deep < DEEPEST, "of a model")
        _check_model(model["of"], width, n_classes, deep + 1)
    elif kind == "mean":
        _need(model["n_classes"] == n_classes and len(model["parts"]) > 0 and deep < DEEPEST, "parts")
        _need(isinstance(model["votes"], bool) and _is_amount(model["sharpness"]), "votes of a model")
        for part in model["parts"]:
            _need(_are_places(part["columns"], width) and _are_places(part["classes"], n_classes), "part")
            _need(_is_amount(part["weight"]) and part["weight"] > 0, "weight of a part")
            _check_model(part["model"], len(part["columns"]), len(part["classes"]), deep + 1)
    else:
        _need(kind in checks, "kind of a model")
        checks[kind](model, width, n_classes)


def _check_cell(steps: Any, kind: str = "number") -> None:
    """Raise ReaderError for steps that are unknown, or that expect a number where the value is a word."""
    is_number = kind != "words"
    for step in steps:
        how = step["step"]
        if how == "fill":
            _need(
                _is_number(step["with"]) if is_number else isinstance(step["with"], str), "fill of a column"
            )
        elif how == "lookup":
            _need(_is_list(step["values"]) and _is_list(step["numbers"]), "lookup of a column")
            _need(len(step["values"]) == len(step["numbers"]), "lookup of a column")
            given = [*step["numbers"], step["gap"], step.get("otherwise", 0.0)]
            _need(all(one is None or _is_number(one) for one in given), "lookup of a column")
        elif how != "is gap":
            _need(is_number, "steps of a column")
            _check_number_step(step)
        is_number = is_number or how in {"lookup", "is gap"}
    _need(is_number, "steps of a column")


def _check_number_step(step: Any) -> None:
    how = step["step"]
    if how in {"add", "subtract", "multiply", "divide"}:
        _need(_is_number(step["by"]) and (how != "divide" or step["by"] != 0), "steps of a column")
    elif how == "clip":
        _need(_are_numbers([step["least"], step["most"]]), "steps of a column")
    elif how == "bins":
        _need(_are_numbers(step["edges"]), "steps of a column")
    elif how == "interpolate":
        _check_curve(step)
    elif how == "function":
        _need(step["name"] in FUNCTIONS, "function of a column")
    else:
        _need(how in {"box-cox", "yeo-johnson"} and _is_number(step["power"]), "steps of a column")


def _check_curve(curve: Any) -> None:
    _need(_are_numbers(curve["knots"]) and len(curve["knots"]) > 0, "knots")
    _need(_are_numbers(curve["values"], len(curve["knots"])), "values of a curve")
    _need(curve["knots"] == sorted(curve["knots"]), "knots")


def _check_steps(model: Any, width: int, deep: int = 0) -> tuple[Any, int]:
    """Check steps such as scalers and kernels; return the model behind them, and its number of columns."""
    while model["kind"] in STEPS:
        if model["kind"] == "extended":
            _need(_are_places(model["columns"], width), "columns of a step")
            width += _width_after(model["by"], len(model["columns"]), deep)
        else:
            width = _width_after(model, width, deep)
        model = model["then"]
    return model, width


def _width_after(model: Any, width: int, deep: int) -> int:
    """Check one step; return the number of columns after it."""
    kind = model["kind"]
    _need(kind in STEPS and kind != "extended", "kind of a step")
    if kind == "scaled":
        _need(_are_numbers(model["mean"], width) and _are_numbers(model["scale"], width), "scale of a model")
        _need(all(model["scale"]), "scale of a model")
        return width
    if kind == "kernel":
        _need(model.get("function", "rbf") in {"rbf", "linear", "poly", "sigmoid"}, "function of a kernel")
        _need(_is_number(model["gamma"]) and model["gamma"] >= 0, "gamma of a model")
        _need("function" not in model or _are_numbers([model["shift"], model["power"]]), "shift of a kernel")
        _check_matrix(model["rows"], width)
        _check_matrix(model["mixing"], len(model["rows"]))
        return len(model["mixing"])
    if kind == "turned":
        _need(_are_numbers(model["mean"], width), "mean of a step")
        _check_matrix(model["axes"], width)
        return len(model["axes"])
    if kind == "stacked":
        return _width_of_answers(model, width, deep)
    if kind == "picked":
        _need(_are_places(model["columns"], width), "columns of a step")
        return len(model["columns"])
    if kind == "products":
        _need(_is_list(model["powers"]), "powers of a step")
        _need(all(_are_places(row, 100) and len(row) == width for row in model["powers"]), "powers of a step")
        return len(model["powers"])
    if kind == "each":
        _need(_is_list(model["steps"]) and len(model["steps"]) == width, "steps")
        for steps in model["steps"]:
            _check_cell(steps)
        return width
    _need(model["norm"] in {"l1", "l2", "max"}, "norm of a step")
    return width


def _width_of_answers(model: Any, width: int, deep: int) -> int:
    _need(_are_places(model["passed"], width) and deep < DEEPEST, "columns of a step")
    for part in model["parts"]:
        _need(_are_places(part["columns"], width) and isinstance(part["raw"], bool), "part")
        n_classes = part["n_classes"]
        _need(_are_places([n_classes], MOST_CLASSES + 1) and _are_places(part["keep"], n_classes), "part")
        _need(not part["raw"] or n_classes > 2 or part["keep"] == [0], "part")
        _check_model(part["model"], len(part["columns"]), n_classes, deep + 1)
        _need(not part["raw"] or _kind_behind(part["model"]) in {"linear", "boosting"}, "part")
    return sum(len(part["keep"]) for part in model["parts"]) + len(model["passed"])


def _kind_behind(model: Any) -> Any:
    while model["kind"] in STEPS:
        model = model["then"]
    return model["kind"]


def _check_given(_model: Any, width: int, n_classes: int) -> None:
    _need(width == n_classes, "width of a model")


def _check_pairs(model: Any, width: int, n_classes: int) -> None:
    _need(model["n_classes"] == n_classes and width == n_classes * (n_classes - 1) // 2, "pairs of a model")
    _need(_are_numbers(model["intercepts"], width), "intercepts of a model")


def _check_constant(model: Any, _width: int, n_classes: int) -> None:
    _need(_are_numbers(model["probabilities"], n_classes), "probabilities of a model")


def _check_rules(model: Any, width: int, n_classes: int) -> None:
    _need(model["n_classes"] == n_classes and _are_places([model["otherwise"]], n_classes), "rules")
    for rule in model["rules"]:
        _need(_are_places([rule["class"]], n_classes), "class of a rule")
        for one in rule["conditions"]:
            _need(_are_places([one["column"]], width) and _is_number(one["number"]), "condition of a rule")
            _need(isinstance(one["above"], bool), "condition of a rule")


def _check_normal(model: Any, width: int, n_classes: int) -> None:
    _need(len(model["classes"]) == n_classes, "classes of a model")
    for one in model["classes"]:
        _need(_is_number(one["constant"]) and _are_numbers(one["mean"], width), "mean of a class")
        _check_matrix(one.get("axes", []), width)
        _need(_are_numbers(one["weights"], len(one["axes"]) if "axes" in one else width), "weights")


def _check_forest(model: Any, width: int, n_classes: int) -> None:
    _need(_is_list(model["trees"]) and len(model["trees"]) > 0, "trees")
    for tree in model["trees"]:
        _check_tree(tree, width)
        _need(all(_are_numbers(leaf, n_classes) for leaf in tree["value"]), "value of a tree")


def _check_boosting(model: Any, width: int, n_classes: int) -> None:
    _need(_are_numbers(model["start"]) and _tells(len(model["start"]), n_classes), "start of a model")
    for trees in model["rounds"]:
        _need(_is_list(trees) and len(trees) == len(model["start"]), "rounds of a model")
        for tree in trees:
            _check_tree(tree, width)
            _need(_are_numbers(tree["value"]), "value of a tree")


def _check_neighbours(model: Any, width: int, n_classes: int) -> None:
    _check_matrix(model["rows"], width)
    n_rows = len(model["rows"])
    _need(_are_places([model["n"]], n_rows + 1) and model["n"] > 0, "n of a model")
    _need(model["n_classes"] == n_classes and isinstance(model["by_distance"], bool), "n_classes of a model")
    _need(_is_number(model["power"]) and model["power"] > 0, "power of a model")
    _need(_are_places(model["labels"], n_classes) and len(model["labels"]) == n_rows, "labels of a model")


def _check_scores(model: Any, width: int, n_classes: int) -> None:
    if model["kind"] == "programs":
        _need(_tells(len(model["programs"]), n_classes), "programs")
        for program in model["programs"]:
            _check_program(program, width)
        return
    layers = [(model["weights"], model["intercepts"])]
    if model["kind"] == "network":
        _need(model["activation"] in {"relu", "tanh"} and len(model["weights"]) > 0, "activation")
        layers = list(zip(model["weights"], model["intercepts"], strict=True))
    for weights, intercepts in layers:
        _check_matrix(weights, width)
        width = len(weights)
        _need(_are_numbers(intercepts, width), "intercepts of a model")
    _need(_tells(width, n_classes), "weights of a model")


def _check_program(program: Any, width: int) -> None:
    """Raise ReaderError for a program that is no expression in prefix order, or is nested too deeply."""
    open_: list[int] = [1]  # how many parts each expression that has begun still needs
    for symbol in program:
        _need(0 < len(open_) <= DEEPEST, "length of a program")
        open_[-1] -= 1
        if isinstance(symbol, str):
            _need(symbol in {"+", "-", "*", "/", "min", "max"}, "sign of a program")
            open_.append(2)
        elif isinstance(symbol, dict):
            _need(_are_places([symbol["column"]], width), "column of a program")
        else:
            _need(_is_number(symbol), "number of a program")
        while open_ and not open_[-1]:
            open_.pop()
    _need(not open_, "length of a program")


def _check_tree(tree: Any, width: int) -> None:
    n = len(tree["left"])
    for node, (left, right) in enumerate(zip(tree["left"], tree["right"], strict=True)):
        is_leaf = _is_number(left) and left < 0
        _need(is_leaf or (_are_places([left, right], n) and min(left, right) > node), "nodes of a tree")
        _need(is_leaf or _are_places([tree["feature"][node]], width), "feature of a tree")
    _need(n > 0 and len(tree["value"]) == n and _are_numbers(tree["threshold"], n), "threshold of a tree")
    _need("gaps" not in tree or (_are_places(tree["gaps"], 2) and len(tree["gaps"]) == n), "gaps of a tree")
    sets = tree.get("sets", [None] * n)
    _need(_is_list(sets) and len(sets) == n, "sets of a tree")
    _need(all(one is None or _are_numbers(one) for one in sets), "sets of a tree")


def _check_matrix(rows: Any, width: int) -> None:
    _need(_is_list(rows) and all(_are_numbers(row, width) for row in rows), "a matrix of numbers")


def _tells(n_scores: int, n_classes: int) -> bool:
    return n_scores == n_classes or (n_scores == 1 and n_classes == 2)


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise ReaderError(f"the policy is damaged: {what} cannot be used. Export it again.")


def _is_list(values: Any) -> bool:
    return isinstance(values, list)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _is_amount(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _are_numbers(values: Any, size: int | None = None) -> bool:
    return (
        _is_list(values)
        and len(values) == (len(values) if size is None else size)
        and all(map(_is_number, values))
    )


def _are_places(values: Any, n: int) -> bool:
    return _is_list(values) and all(_is_number(one) and one == int(one) and 0 <= one < n for one in values)


GAPS = {
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
}  # fmt: skip
"""Texts that mean an empty cell of a table."""

ABSENT = "\0"
"""Mark of a cell that is missing in a short line of a table."""


def table_rows(policy: dict[str, Any], path: str, not_asked: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a CSV file, which may be packed by gzip; - is standard input.

    Cells with the text `not_asked` were not asked yet, and are not in the row. Without `not_asked`, a stage
    whose features are all empty was not bought.
    """
    if path == "-":
        content = sys.stdin.buffer.read()
    else:
        with open(path, "rb") as file:
            content = file.read()
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    if content[:4] in {b"PAR1", b"PK\x03\x04"}:
        raise ReaderError(
            f"{path} must be a CSV file, got Parquet, a workbook or zip. Turn it into CSV first."
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReaderError(f"{path} must be text in UTF-8, got other bytes: {error.reason}.") from None
    for row in text_rows(policy, path, text, not_asked):
        yield row if not_asked is not None else _without_empty_stages(policy, row)


def _without_empty_stages(policy: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without the features of stages that have no value at all; these stages were not bought."""
    columns = _columns_of(policy)
    for stage in _way_of(policy, row)[0] if policy["kind"] == "panel" else policy.get("stages", ()):
        bought = [policy["features"][place] for place in stage.get("buys", ())]
        bought += [policy["judges"][place] for place in stage.get("asks", ())]
        names = [column for one in bought for column in columns.get(one["name"], ())]
        if all(_is_gap(row.get(name)) for name in names):
            row = {name: value for name, value in row.items() if name not in names}
    return row


def text_rows(
    policy: dict[str, Any], path: str, text: str, not_asked: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in a text; `path` names it in messages."""
    header = text.split("\n", 1)[0]
    separator = max(",;\t", key=header.count)
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, restval=ABSENT)
    wanted = [column for columns in _columns_of(policy).values() for column in columns]
    missing = [name for name in wanted if name not in (table.fieldnames or [])]
    if missing and (policy["kind"] == "committee" or len(missing) == len(wanted)):
        raise ReaderError(f"{path} must have the columns of the policy; missing: {missing}.")
    for row in table:
        if None in row or ABSENT in row.values():
            got = "more" if None in row else "fewer"
            raise ReaderError(
                f"{path}, line {table.line_num}, must have as many cells as the header, got {got}."
            )
        cells = ((name, value) for name, value in row.items() if value != not_asked)
        yield {name: None if value in GAPS else value for name, value in cells}


def _columns_of(policy: Any) -> dict[str, list[str]]:
    """Return the possible columns of each feature or judge, by name."""
    if policy["kind"] == "judges":
        return {judge["name"]: judge["columns"] for judge in policy["judges"]}
    if policy["kind"] == "panel":
        return {judge["name"]: [judge["name"], f"{judge['name']}.label"] for judge in policy["judges"]}
    names = [feature["name"] for feature in policy["features"]]
    if policy["kind"] == "stages":
        known = {one for stage in policy["stages"] for one in stage["known"]}
        names = [names[place] for place in sorted(known)]
    return {name: [name] for name in names}


def main(arguments: list[str]) -> int:
    """Print an answer in JSON for every row of a table; return 2 after a sentence about an error."""
    if len(arguments) not in {2, 4} or (len(arguments) == 4 and arguments[2] != "--not-asked"):
        usage = "python reader.py policy.json rows.csv [--not-asked MARKER]"
        print(f"reader: name a policy and a table: {usage}", file=sys.stderr)
        return 2
    try:
        policy = load(arguments[0])
        for row in table_rows(policy, arguments[1], arguments[3] if len(arguments) == 4 else None):
            print(json.dumps(answer(policy, row)))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, EOFError, csv.Error, zlib.error) as error:
        named = isinstance(error, OSError) and error.filename
        unread = f"{error.filename} cannot be read: {error.strerror}." if isinstance(error, OSError) else ""
        print(f"reader: {unread if named else error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
