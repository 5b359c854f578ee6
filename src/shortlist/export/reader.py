"""Answers by a policy file of Shortlist: plain Python, nothing to install. Copy this file where it is needed.

The format is described field by field in Shortlist's documentation ("How to put a model into production").

    python reader.py policy.json rows.csv
"""

import csv
import gzip
import io
import json
import math
import os
import struct
import sys
import zlib
from collections.abc import Collection, Iterator
from typing import Any

Opinion = list[float] | None
"""The probabilities of the classes; None for an abstention."""


def load(path: str) -> dict[str, Any]:
    """Read a policy file; refuse what is none, and numbers that JSON does not have."""

    def refuse(word: str) -> None:
        raise ValueError(f"{path} must hold finite numbers, got {word}.")

    with open(path, encoding="utf-8") as file:
        try:
            policy = json.load(file, parse_constant=refuse)
        except (json.JSONDecodeError, UnicodeDecodeError):
            policy = None
    wanted = ("shortlist-policy", 1)
    if not isinstance(policy, dict) or (policy.get("format"), policy.get("version")) != wanted:
        raise ValueError(f"{path} must be a policy of Shortlist, version 1.")
    return policy


def answer(policy: dict[str, Any], row: dict[str, Any], failed: Collection[str] = ()) -> dict[str, Any]:
    """Decide one row, a dict of values by feature: label, probabilities, confidence, and what was paid.

    Stages also say what the row needs next, where it has not all that its next stage buys. `failed` names
    features that could not be had: stages go on with what stands for a gap.
    """
    if policy["kind"] == "stages":
        return _staged(policy, row, failed)
    if policy["kind"] == "judges":
        return _judged(policy, row)
    columns = _columns(policy, row, set(range(len(policy["features"]))))
    return _voted(policy, [_member(policy, member, columns) for member in policy["members"]])


def next_judge(policy: dict[str, Any], row: dict[str, Any]) -> str | None:
    """Name the judge to ask next, where the row has the columns of those asked already; None: nobody."""
    asked, settled = _asked(policy, row)
    return None if settled else policy["judges"][policy["order"][len(asked)]]["name"]


def _judged(policy: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    asked, settled = _asked(policy, row)
    answers: list[Opinion] = []
    for place, judge in enumerate(policy["judges"]):
        spared = settled and place not in asked and judge["columns"][0] not in row
        answers.append(None if spared else _judge(policy, judge, row))
    names = dict.fromkeys(policy["judges"][place]["name"] for place in asked)  # copies are asked once
    told = _voted(policy, answers) | {"asked": list(names)}
    prices = [judge["price"] for judge in policy["judges"]]
    return told if None in prices else told | {"cost": _total([prices[place] for place in asked])}


def _asked(policy: dict[str, Any], row: dict[str, Any]) -> tuple[dict[int, Opinion], bool]:
    """Return what those answer who are asked, by place, in that order; and whether that settles the row."""
    asked: dict[int, Opinion] = {}
    last, known, sums = None, None, _summed(policy, [])
    for place in policy["order"]:
        judge = policy["judges"][place]
        if last is None or judge["columns"] != last["columns"]:  # otherwise a copy, who has answered
            settled = _settled(policy, asked, sums)
            if settled or judge["columns"][0] not in row:
                return asked, settled
            last, known = judge, _judge(policy, judge, row)
        asked[place] = known
        sums = _counted(policy, sums, known)
    return asked, True


def _judge(policy: dict[str, Any], judge: Any, row: dict[str, Any]) -> Opinion:
    given: list[Any] = [row.get(column) for column in judge["columns"]]
    values = [value for value in given if not _is_gap(value)]
    gaps = len(given) - len(values)
    if gaps and (values or not judge["may_abstain"]):
        raise ValueError(f"judge {judge['name']!r} must answer every row, got an empty cell.")
    if gaps:
        return None
    if len(values) == 1:
        labels = [_text(label) for label in policy["classes"]]
        if _text(values[0]) not in labels:
            raise ValueError(f"judge {judge['name']!r} must answer one of {labels}, got {values[0]!r}.")
        return [float(label == _text(values[0])) for label in labels]
    shares = [float(value) for value in values]
    total = _total(shares)
    if not all(0 <= share <= 1 for share in shares) or abs(total - 1) > 0.02:
        raise ValueError(f"judge {judge['name']!r} must give probabilities that add up to 1, got {shares}.")
    return [share / total for share in shares]


def _text(label: Any) -> str:
    if isinstance(label, bool):
        return str(label)
    try:
        number = float(label)
    except ValueError:
        return str(label)
    return str(int(number)) if number.is_integer() else str(label)


def _settled(policy: Any, asked: dict[int, Opinion], sums: list[list[float]]) -> bool:
    """Whether the outcome is the same for each class of which all who are left may be sure.

    Nothing makes a class win, and probable, more than that, and nothing makes it less probable than that of
    another one: so no other answers change the outcome either. With a power below 1 nothing is worse than
    that all other classes are equal. Of calibrated means next to the least probability rounding may decide;
    other means are added up there as they will be. `sums` are of what has been counted, in any order.
    """
    n, classes, outcomes = len(policy["judges"]), range(len(policy["classes"])), set()
    fitted, least = policy.get("calibration"), policy["answer_from"]
    for k in sorted(classes, key=lambda k: -sums[1][k]):  # the first two mostly tell
        sure = [float(place == k) for place in classes]
        label, shares = _decided(policy, _counted(policy, sums, sure, n - len(asked)), n)
        if fitted and fitted["power"] < 1 and label != k:
            other = (1 - shares[label]) / (len(classes) - 1)
            shares = [shares[label] if place == label else other for place in classes]
        probability = _calibrated(fitted, shares)[label]
        if policy["probabilities"] == "mean" and least > 0 and abs(probability - least) <= 1e-9:
            if fitted:
                return False
            in_turn = _summed(policy, [asked.get(place, sure) for place in range(n)])
            probability = _decided(policy, in_turn, n)[1][label]
        outcomes.add(label if probability >= least else None)
        if len(outcomes) > 1:
            return False
    return True


def _voted(policy: dict[str, Any], answers: list[Opinion]) -> dict[str, Any]:
    label, shares = _decided(policy, _summed(policy, answers), len(answers))
    probabilities = _calibrated(policy.get("calibration"), shares)
    confident = probabilities[label] >= policy["answer_from"]
    return _told(policy, label if confident else None, probabilities, probabilities[label])


def _staged(policy: dict[str, Any], row: dict[str, Any], failed: Collection[str]) -> dict[str, Any]:
    probabilities: list[float] = []
    best, last = None, {"number": 0, "cost": 0.0}
    for stage in policy["stages"]:
        needs = [name for place in stage["buys"] if (name := _needed(policy["features"][place], row, failed))]
        if needs:
            return _told(policy, None, probabilities, best, last) | {"needs": needs}
        columns, last = _columns(policy, row, set(stage["known"]), failed), stage
        probabilities = _score(stage["model"], [columns[i] for i in stage["columns"]])
        label = max(range(len(probabilities)), key=lambda k: (probabilities[k], -k))
        best = probabilities[label]
        if best >= policy["thresholds"][label] and (stage["least"] is not None and best >= stage["least"]):
            return _told(policy, label, probabilities, best, stage)
    return _told(policy, None, probabilities, best, stage)


def _needed(feature: Any, row: dict[str, Any], failed: Collection[str]) -> str:
    """Name a feature that is not there yet; a gap is a value where the model has learned from gaps."""
    name = feature["name"]
    there = name in row and (feature["may_be_missing"] or not _is_gap(row[name]))
    return "" if there or name in failed else str(name)


def _told(
    policy: Any, label: int | None, probabilities: list[float], confidence: float | None, stage: Any = None
) -> dict[str, Any]:
    answered = label is not None
    told = {"label": policy["classes"][label] if answered else policy["reject_label"], "answered": answered}
    told |= {"probabilities": probabilities, "confidence": confidence}
    if stage is None:
        return told
    return told | {"stage": stage["number"], "cost": stage["cost"], "needs": []}


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
        raise ValueError(f"feature {feature['name']!r} must have a value, got none.")
    if gap:
        return None
    if feature["kind"] == "number":
        value = float(value)
        if not math.isfinite(value):
            raise ValueError(f"feature {feature['name']!r} must be finite, got {value}.")
    elif feature["kind"] == "words":
        value = str(value)
    return value


def _is_gap(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _column(one: Any, value: Any) -> float:
    if one["kind"] == "missing":
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


def _member(policy: Any, member: Any, columns: list[float]) -> list[float]:
    found = _score(member["model"], [columns[i] for i in member["columns"]])
    probabilities = [0.0] * len(policy["classes"])
    for place, probability in zip(member["classes"], found, strict=True):
        probabilities[place] = min(1.0, max(0.0, probability))
    total = _total(probabilities)
    return [one / total for one in probabilities]


def _summed(policy: Any, answers: list[Opinion]) -> list[list[float]]:
    """Return by class the votes, the parts that decide, and the probabilities, in the order of answers."""
    sums = [[0.0] * len(policy["classes"])] * 3
    for one in answers:
        sums = _counted(policy, sums, one)
    return sums


def _counted(policy: Any, sums: list[list[float]], one: Opinion, times: int = 1) -> list[list[float]]:
    """Return such sums with what one answer adds, as often as `times`."""
    rule, n_classes = policy["decision"]["rule"], len(policy["classes"])
    shares = [1 / n_classes] * n_classes if one is None else one
    votes = [0] * n_classes
    if one is not None and rule == "threshold":
        votes = [int(share > 0.5) for share in one]
    elif one is not None:
        votes[int(one[1] > 0.5) if n_classes == 2 else one.index(max(one))] = 1
    added: Any = (votes, _parts(policy["decision"], shares) if rule == "mean" else votes, shares)
    return [[a + times * b for a, b in zip(x, y, strict=True)] for x, y in zip(sums, added, strict=True)]


def _decided(policy: Any, sums: list[list[float]], n: int) -> tuple[int, list[float]]:
    """Return the class that wins, and what makes it probable, by the sums of what `n` answers add."""
    decision, (votes, scores, probabilities) = policy["decision"], sums
    classes = range(len(policy["classes"]))
    if decision["rule"] == "threshold":
        k, middle = decision["positive"], decision["threshold"] + 0.5
        above = 0.5 + (votes[k] - middle) / (2 * max(0.5, n - middle))
        share = votes[k] / (2 * middle) if votes[k] < middle else above
        scores = shares = [share if place == k else 1 - share for place in classes]
    else:
        cast = sum(votes)  # where all abstain the first class wins
        shares = [one / cast for one in votes] if cast else [1.0, *votes[1:]]
    label = max(classes, key=lambda k: (scores[k], -k))
    if policy["probabilities"] == "mean":
        shares = [one / n for one in probabilities]
    elif policy["probabilities"] == "shares":
        shares = [(share * n + 1) / (n + len(classes)) for share in shares]
    return label, shares


def _calibrated(fitted: Any, shares: list[float]) -> list[float]:
    """Return a power of each share, times the factor of its class, in all 1."""
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
    """Return the class probabilities that one model gives one row of columns."""
    kind = model["kind"]
    if kind == "highest":
        return _highest(_raw(model["of"], _in_single(x) if model["single"] else x))
    if kind == "rules":
        return _ruled(model, x)
    if kind in {"linear", "network"}:
        return _linked(_raw(model, x))
    if kind == "constant":
        return list(model["probabilities"])
    if kind == "kernel":
        near = [
            math.exp(-model["gamma"] * sum((a - b) ** 2 for a, b in zip(x, row, strict=True)))
            for row in model["rows"]
        ]
        return _score(model["then"], [_dot(row, near) for row in model["mixing"]])
    if kind == "normal":
        return _linked([_normal(one, x) for one in model["classes"]])
    if kind == "forest":
        leaves = [_leaf(tree, x, single=True) for tree in model["trees"]]
        return [sum(leaf[k] for leaf in leaves) / len(leaves) for k in range(len(leaves[0]))]
    if kind == "boosting":
        raw = list(model["start"])
        for trees in model["rounds"]:
            for k, tree in enumerate(trees):
                raw[k] += _leaf(tree, x, single=False)
        return _linked(raw)
    return _neighbours(model, x)


def _raw(model: Any, x: list[float]) -> list[float]:
    """Return scores: one for two classes, or one for each class."""
    if model["kind"] == "programs":
        found = [_value_of(iter(program), x) for program in model["programs"]]
        return [one if math.isfinite(one) else 0.0 for one in found]
    if model["kind"] == "linear":
        return [_dot(row, x, shift) for row, shift in zip(model["weights"], model["intercepts"], strict=True)]
    for weights, shifts in zip(model["weights"], model["intercepts"], strict=True):
        x = [_dot(row, x, shift) for row, shift in zip(weights, shifts, strict=True)]
        if weights is not model["weights"][-1]:
            x = [math.tanh(one) if model["activation"] == "tanh" else max(0.0, one) for one in x]
    return x


def _highest(scores: list[float]) -> list[float]:
    """Return 1 for the class with the largest score, the first of equals; one score is the second's."""
    scores = [0.0, *scores] if len(scores) == 1 else scores
    return [float(place == scores.index(max(scores))) for place in range(len(scores))]


def _total(values: list[float]) -> float:
    """Add up from the first to the last: sum() of Python 3.12 rounds otherwise."""
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
    """Return 1 for the class of the first rule whose conditions all hold."""
    held = (
        rule["class"]
        for rule in model["rules"]
        if all((x[one["column"]] > one["number"]) == one["above"] for one in rule["conditions"])
    )
    verdict = next(held, model["otherwise"])
    return [float(place == verdict) for place in range(model["n_classes"])]


def _value_of(symbols: Iterator[Any], x: list[float]) -> float:
    """Return the value of an expression in prefix order."""
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
    while tree["left"][node] >= 0:
        below = x[tree["feature"][node]] <= tree["threshold"][node]
        node = tree["left"][node] if below else tree["right"][node]
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


GAPS = {
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
}  # fmt: skip
"""What stands for an empty cell of a table."""


def table_rows(policy: dict[str, Any], path: str) -> Iterator[dict[str, Any]]:
    """Read the rows of a CSV file, which may be packed by gzip; - is standard input."""
    if path == "-":
        content = sys.stdin.buffer.read()
    else:
        with open(path, "rb") as file:
            content = file.read()
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    if content[:4] in {b"PAR1", b"PK\x03\x04"}:
        raise ValueError(
            f"{path} must be a CSV file, got Parquet, a workbook or zip. Turn it into CSV first."
        )
    text = content.decode("utf-8-sig")
    header = text.split("\n", 1)[0]
    separator = max(",;\t", key=header.count)
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    missing = [name for name in _names(policy) if name not in (table.fieldnames or [])]
    if missing and (policy["kind"] != "stages" or len(missing) == len(_names(policy))):
        raise ValueError(f"{path} must have the columns of the policy; missing: {missing}.")
    for row in table:
        if None in row:
            raise ValueError(
                f"{path}, line {table.line_num}, must have as many cells as the header, got more."
            )
        yield {name: None if value in GAPS else value for name, value in row.items()}


def _names(policy: Any) -> list[str]:
    if policy["kind"] == "judges":
        return [column for judge in policy["judges"] for column in judge["columns"]]
    names = [feature["name"] for feature in policy["features"]]
    if policy["kind"] == "stages":
        known = {one for stage in policy["stages"] for one in stage["known"]}
        names = [names[place] for place in sorted(known)]
    return names


def main(arguments: list[str]) -> int:
    """Print an answer in JSON for every row of a table; return 2 after a sentence on what is wrong."""
    if len(arguments) != 2:
        print("reader: name a policy and a table: python reader.py policy.json rows.csv", file=sys.stderr)
        return 2
    try:
        policy = load(arguments[0])
        for row in table_rows(policy, arguments[1]):
            print(json.dumps(answer(policy, row)))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, EOFError, zlib.error) as error:
        named = isinstance(error, OSError) and error.filename
        unread = f"{error.filename} cannot be read: {error.strerror}." if isinstance(error, OSError) else ""
        print(f"reader: {unread if named else error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
