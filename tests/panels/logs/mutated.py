"""Logs of tools with something wrong in them: what reading them does, and whether it says so.

As a script it reads so many of each reader, and prints those that end in an error of the program or are read
otherwise without a note: ``python -m tests.panels.logs.mutated 5000``.
"""

import copy
import csv
import io
import json
import math
import random
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.errors import ShortlistError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns

LABELS = "xyz"
N_CASES = 8


def _said(case: int, judge: int) -> str:
    return LABELS[(case * (judge + 2) + judge) % 3]


def _truth(case: int) -> str:
    return LABELS[case % 3]


def _inspect() -> Any:
    samples = [
        {
            "id": f"s{case}", "epoch": 1 + epoch, "input": f"text {case}", "target": _truth(case),
            "scores": {"match": {"value": "CI"[_said(case, epoch) != _truth(case)], "answer": _said(case, epoch)}},
            "output": {"completion": f"It is {_said(case, epoch)}."}, "metadata": {"length": case},
            "model_usage": {"m/large": {"input_tokens": 10, "output_tokens": 5, "total_cost": 0.25 + case}},
            "total_time": 1.5 + case,
        }
        for case in range(N_CASES)
        for epoch in range(2)
    ]  # fmt: skip
    about = {"task": "t", "model": "m/large", "task_args": {"prompt": "a"}}
    return {"version": 2, "status": "success", "eval": about, "samples": samples}


def _harness(case: int) -> dict[str, Any]:
    return {
        "doc_id": case, "doc": {"text": f"text {case}", "gold": case % 3}, "target": str(case % 3),
        "filter": "none", "metrics": ["acc"], "doc_hash": f"{case:x}" * 64,
    }  # fmt: skip


def _choices() -> Any:
    samples = []
    for case in range(N_CASES):
        logs = [-0.5 - (at != LABELS.index(_said(case, 0))) for at in range(3)]
        given = {f"gen_args_{at}": {"arg_0": "q", "arg_1": f" {one}"} for at, one in enumerate(LABELS)}
        said = [[one, at == 0] for at, one in enumerate(logs)]
        is_right = float(_said(case, 0) == _truth(case))
        samples.append(_harness(case) | {"arguments": given, "filtered_resps": said, "acc": is_right})
    return samples


def _texts() -> Any:
    return [
        _harness(case)
        | {
            "target": _truth(case),
            "filtered_resps": [_said(case, 0)],
            "exact_match": float(_said(case, 0) == _truth(case)),
            "metrics": ["exact_match"],
        }
        for case in range(N_CASES)
    ]


def _promptfoo() -> Any:
    results = []
    for case in range(N_CASES):
        for judge in range(2):
            known = {"text": f"text {case}", "gold": _truth(case)}
            passed = _said(case, judge) == _truth(case)
            results.append({
                "provider": {"id": f"p{judge}", "label": f"judge {judge}"}, "promptIdx": 0, "testIdx": case,
                "prompt": {"raw": "q", "label": "q"}, "vars": known, "success": passed, "cost": 0.5 + case,
                "latencyMs": 1500 + case, "gradingResult": {"pass": passed},
                "response": {"output": _said(case, judge), "tokenUsage": {"prompt": 9, "completion": 3}},
                "testCase": {"vars": known, "assert": [{"type": "equals", "value": "{{gold}}"}], "metadata": {}},
            })  # fmt: skip
    return {"evalId": "e", "results": {"version": 3, "results": results}, "config": {}}


def _alpaca() -> Any:
    return [
        {
            "instruction": f"text {case}", "output_1": f"a {case}", "output_2": f"b {case}", "annotator": f"j{judge}",
            "preference": [1.0, 2.0, 1.25, 1.5][(case + judge) % 4], "preference_price_per_example": 0.5 + case,
            "preference_time_per_example": 1.5 + case, "gold": 1 + case % 2,
        }
        for case in range(N_CASES)
        for judge in range(2)
    ]  # fmt: skip


def _evals() -> Any:
    events: list[dict[str, Any]] = [{"spec": {"completion_fns": ["m"], "eval_name": "e"}}]
    for case in range(N_CASES):
        said, base = _said(case, 0), {"run_id": "r", "sample_id": f"e.{case}"}
        told = {
            "correct": said == _truth(case),
            "expected": _truth(case),
            "picked": said,
            "sampled": f"{said}.",
        }
        events.append(base | {"type": "sampling", "data": {"prompt": f"text {case}", "sampled": f"{said}."}})
        events.append(base | {"type": "match", "data": told})
    return [*events, {"final_report": {"accuracy": 0.5}}]


def _platform() -> Any:
    return [
        {
            "data_source_idx": case, "item": {"text": f"text {case}", "gold": _truth(case)},
            "sample": {"outputs": [{"role": "assistant", "content": _said(case, 0)}], "sampled_model_name": "m",
                       "token_usage": {"prompt_tokens": 9, "completion_tokens": 3}},
            "grades": {"check": 1.0}, "passes": {"check": _said(case, 0) == _truth(case)},
        }
        for case in range(N_CASES)
    ]  # fmt: skip


def _studio() -> Any:
    def result(label: str) -> list[dict[str, Any]]:
        return [{"from_name": "q", "to_name": "t", "type": "choices", "value": {"choices": [label]}}]

    return [
        {
            "id": case, "data": {"text": f"text {case}", "gold": _truth(case)},
            "annotations": [
                {"completed_by": who, "lead_time": 1.5 + case, "ground_truth": False, "was_cancelled": False,
                 "result": result(_said(case, who))}
                for who in range(2)
            ],
            "predictions": [{"model_version": "m", "score": 0.5, "result": result(_said(case, 2))}],
        }
        for case in range(N_CASES)
    ]  # fmt: skip


def _argilla_2() -> Any:
    return [
        {
            "id": f"r{case}", "fields": {"text": f"text {case}"}, "metadata": {"gold": _truth(case)},
            "responses": {"q": [{"user_id": f"u{who}", "value": _said(case, who)} for who in range(2)]},
            "suggestions": {"q": {"agent": "m", "value": _said(case, 2), "score": 0.5}},
        }
        for case in range(N_CASES)
    ]  # fmt: skip


def _argilla_1() -> Any:
    return [
        {
            "id": f"r{case}", "fields": {"text": f"text {case}"}, "metadata": {"gold": _truth(case)},
            "responses": [
                {"user_id": f"u{who}", "status": "submitted", "values": {"q": {"value": _said(case, who)}}}
                for who in range(2)
            ],
            "suggestions": [{"question_name": "q", "agent": "m", "value": _said(case, 2), "score": 0.5}],
        }
        for case in range(N_CASES)
    ]  # fmt: skip


def _argilla_flat() -> Any:
    return [
        {
            "id": f"r{case}", "status": "pending", "text": f"text {case}", "gold": _truth(case),
            "q.responses": [_said(case, who) for who in range(2)], "q.responses.users": ["u0", "u1"],
            "q.responses.status": ["submitted", "submitted"], "q.suggestion": _said(case, 2),
            "q.suggestion.agent": "m", "q.suggestion.score": 0.5,
        }
        for case in range(N_CASES)
    ]  # fmt: skip


def _prodigy() -> Any:
    return [
        {
            "text": f"text {case}", "options": [{"id": one, "text": one} for one in LABELS], "_view_id": "choice",
            "_input_hash": 900 + case, "_task_hash": 500 + case, "accept": [_said(case, who)], "answer": "accept",
            "_annotator_id": f"u{who}", "_session_id": f"u{who}", "gold": _truth(case),
        }
        for case in range(N_CASES)
        for who in range(2)
    ]  # fmt: skip


def _prodigy_binary() -> Any:
    return [
        {
            "text": f"text {case}", "label": "BAD", "_view_id": "classification", "_input_hash": 900 + case,
            "_task_hash": 500 + case, "answer": ("accept", "reject", "ignore")[(case + who) % 3],
            "_annotator_id": f"u{who}", "_session_id": f"u{who}", "gold": ("accept", "reject")[case % 2],
        }
        for case in range(N_CASES)
        for who in range(2)
    ]  # fmt: skip


def _table(age: str) -> list[list[str]]:
    after = {
        "new": ["Status", "Score", "Grader Reason"],
        "older": ["Grader Reason", "Latency (ms)"],
        "old": [],
    }
    rows = [["text", "gold", *(cell for judge in range(2) for cell in (f"[p{judge}] q", *after[age]))]]
    for case in range(N_CASES):
        row = [f"text {case}", _truth(case)]
        for judge in range(2):
            said = _said(case, judge)
            status = "PASS" if said == _truth(case) else "FAIL"
            row += [said if age == "new" else f"[{status}] {said}"]
            row += {"new": [status, "1.00", "why"], "older": ["why", str(1500 + case)], "old": []}[age]
        rows.append(row)
    return rows


def _as_lines(value: Any) -> bytes:
    return "\n".join(map(json.dumps, value)).encode()


def _as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _as_csv(value: Any) -> bytes:
    file = io.StringIO()
    rows = value if isinstance(value, list) else [value]
    csv.writer(file).writerows(row if isinstance(row, list) else [row] for row in rows)
    return file.getvalue().encode(errors="replace")


def _as_archive(value: Any) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        header = (
            {name: one for name, one in value.items() if name != "samples"}
            if isinstance(value, dict)
            else value
        )
        archive.writestr("header.json", json.dumps(header))
        samples = value.get("samples") if isinstance(value, dict) else None
        for number, sample in enumerate(samples if isinstance(samples, list) else []):
            archive.writestr(f"samples/{number}.json", json.dumps(sample))
    return file.getvalue()


class Kind(NamedTuple):
    """Logs of one reader: a document, how it is written, and the field of the truth, if it is to be named."""

    document: Any
    write: Callable[[Any], bytes]
    target: str | None = None
    by_row: bool = False


KINDS = {
    "inspect-ai": Kind(_inspect(), _as_json),
    "inspect-ai archive": Kind(_inspect(), _as_archive),
    "lm-eval choices": Kind(_choices(), _as_lines),
    "lm-eval texts": Kind(_texts(), _as_lines),
    "promptfoo": Kind(_promptfoo(), _as_json),
    "promptfoo lines": Kind(_promptfoo()["results"]["results"], _as_lines),
    "promptfoo table": Kind(_table("new"), _as_csv, "gold", by_row=True),
    "promptfoo older table": Kind(_table("older"), _as_csv, "gold", by_row=True),
    "promptfoo old table": Kind(_table("old"), _as_csv, "gold", by_row=True),
    "alpaca-eval": Kind(_alpaca(), _as_json, "gold"),
    "openai-evals": Kind(_evals(), _as_lines),
    "openai-evals platform": Kind(_platform(), _as_lines, "gold"),
    "label-studio": Kind(_studio(), _as_json, "gold"),
    "argilla 2": Kind(_argilla_2(), _as_lines, "gold"),
    "argilla 1": Kind(_argilla_1(), _as_json, "gold"),
    "argilla flat": Kind(_argilla_flat(), _as_lines, "gold"),
    "prodigy": Kind(_prodigy(), _as_lines, "gold"),
    "prodigy binary": Kind(_prodigy_binary(), _as_lines, "gold"),
}

ODD_VALUES: tuple[Any, ...] = (
    None, [], {}, "", 0, -1, 1, 1e308, float("nan"), float("inf"), 10**400, True, False, "x", "nan", "1,5", "\ud83d",
    ["x"], [["x"], ["y"]], {"a": {"b": [1]}}, "\x00", 1.5, -(10**21), "9" * 5000, "true", "2026-01-01",
)  # fmt: skip


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where each value of a document stands."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*place, key)
        yield from places(one, (*place, key))


class Mutation(NamedTuple):
    """Change of a document.

    `way`, `place`: how, and where. `content`: the bytes that are to be read. `is_edit`: whether a value has
    become another one of its kind, which nobody can tell from the value that was meant. `is_cut`: whether
    what is gone leaves no trace, as a record of a list.
    """

    way: str
    place: tuple[Any, ...]
    content: bytes
    is_edit: bool = False
    is_cut: bool = False


WAYS = (
    "delete", "duplicate", "rename", "retype", "odd", "null", "nest", "shorten", "swap", "cut", "bytes", "lines",
)  # fmt: skip


def mutated(kind: Kind, rng: random.Random) -> Mutation:
    """Return a document with one thing wrong."""
    document, way = copy.deepcopy(kind.document), rng.choice(WAYS)
    if way in {"cut", "bytes", "lines"}:
        content = kind.write(document)
        odd = _with_odd_bytes(content, way, rng)
        is_edit = way != "lines" and kind.write is not _as_archive and _is_edited(content, odd)
        return Mutation(way, (), odd, is_edit, is_cut=way != "bytes")
    *owners, last = place = rng.choice(list(places(document)))
    owner: Any = document
    for key in owners:
        owner = owner[key]
    old = owner[last]
    _change(owner, last, way, rng)
    there = last < len(owner) if isinstance(owner, list) else last in owner
    is_cell = (
        kind.write is _as_csv and there and len(place) == 2 and str(owner[last]).strip() not in {"", "None"}
    )
    is_edit = there and (way == "swap" or is_cell or _same_kind(old, owner[last]))
    is_row = kind.write is _as_csv and len(place) == 1
    return Mutation(
        f"{way} {old!r:.30}", tuple(place), kind.write(document), is_edit,
        is_cut=is_row or _is_cut(way, owner if way == "delete" else old, owner[last] if there else None),
    )  # fmt: skip


def _is_cut(way: str, old: Any, new: Any) -> bool:
    """Whether records of a list are gone, and nothing else has changed."""
    return isinstance(old, list) and (way in {"delete", "shorten"} or (way == "retype" and new == old[:1]))


def _is_edited(content: bytes, odd: bytes) -> bool:
    """Whether bytes have changed one value into another of its kind, in a cell or in JSON."""
    try:
        old, new = (_leaves(one.decode("utf-8-sig")) for one in (content, odd))
    except (ValueError, csv.Error, RecursionError):
        return False
    changed = [place for place in new if old.get(place) != new[place]]
    return len(changed) == 1 and _same_kind(old.get(changed[0]), new[changed[0]])


def _leaves(text: str) -> dict[tuple[Any, ...], Any]:
    if text[:1] in "[{":
        try:
            value = json.loads(text)
        except ValueError:
            value = [json.loads(line) for line in text.split("\n") if line.strip()]
    else:
        value = [row for row in csv.reader(text.splitlines()) if row]
    leaves = {}
    for place in places(value):
        one = value
        for key in place:
            one = one[key]
        if not isinstance(one, dict | list):
            leaves[place] = one
    return leaves


def _same_kind(old: Any, new: Any) -> bool:
    """Whether a value is another one of the kind of an old one, so that a log says what it says."""
    old, new = (one[0] if isinstance(one, list) and len(one) == 1 else one for one in (old, new))
    old = next(iter(old.values())) if isinstance(old, dict) and len(old) == 1 else old
    if isinstance(old, bool) or isinstance(new, bool):
        return isinstance(new, bool) and isinstance(old, bool | str)
    if not isinstance(old, str | int | float) or not isinstance(new, str | int | float):
        return False
    if isinstance(old, str):
        return new not in {"", math.nan} and str(new).strip() != ""
    try:
        number = float(str(new).replace(",", "."))
    except ValueError:
        return str(new).strip() != ""
    return number != old and not math.isnan(number)


def _change(owner: Any, last: Any, way: str, rng: random.Random) -> None:
    value = owner[last]
    if way == "delete":
        del owner[last]
    elif way == "duplicate" and isinstance(owner, list):
        owner.insert(rng.randrange(len(owner) + 1), copy.deepcopy(value))
    elif way == "duplicate":
        owner[f"{last}{rng.choice(['_2', '.copy', ' '])}"] = copy.deepcopy(value)
    elif way == "rename" and isinstance(owner, dict):
        del owner[last]
        owner[rng.choice([str(last).upper(), f"{last}s", f"_{last}", "other"])] = value
    elif way == "swap" and isinstance(owner, list):
        other = rng.randrange(len(owner))
        owner[last], owner[other] = owner[other], value
    else:
        owner[last] = _another(value, way, rng)


def _another(value: Any, way: str, rng: random.Random) -> Any:
    if way == "retype":
        return _retyped(value, rng)
    if way == "null":
        return None
    if way == "nest":
        for _ in range(rng.choice([1, 2, 3, 60])):
            value = rng.choice([[value], {"value": value}])
        return value
    if way == "shorten" and isinstance(value, str | list):
        return value[: len(value) // 2]
    return rng.choice(ODD_VALUES)


def _retyped(value: Any, rng: random.Random) -> Any:
    if isinstance(value, bool):
        return rng.choice([str(value), int(value), str(value).lower(), "yes" if value else "no"])
    if isinstance(value, int | float):
        return rng.choice([str(value), [value], bool(value), f" {value} ", -value, value * 1000])
    if isinstance(value, str):
        return rng.choice([[value], {"value": value}, len(value), value.upper(), f" {value}\n", list(value)])
    if isinstance(value, list):
        return rng.choice([dict(enumerate(value)), json.dumps(value), len(value), value[:1]])
    return rng.choice([[value], [*value.values()] if value else [], json.dumps(value), str(value)])


def _with_odd_bytes(content: bytes, way: str, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    if way == "cut":
        return content[:at]
    if way == "bytes":
        odd = rng.choice(
            [
                b"\x00",
                b"\xff",
                b"\xef\xbb\xbf",
                b"\\ud83d",
                b'"',
                b"\r",
                b"\xc3",
                b"NaN",
                b"{",
                b",,",
                b"[" * 5000,
            ]
        )
        return content[:at] + odd + content[at + rng.choice([0, 0, 1]) :]
    lines = content.split(b"\n")
    one = rng.randrange(len(lines))
    kind = rng.choice(["twice", "gone", "blank", "crlf", "moved"])
    if kind == "crlf":
        return content.replace(b"\n", b"\r\n")
    line = lines.pop(one)
    new = {"twice": [line, line], "gone": [], "blank": [line, b"  "], "moved": []}[kind]
    lines[one:one] = new
    return b"\n".join([*lines, line] if kind == "moved" else lines)


class Told(NamedTuple):
    """Contents of a log by case and judge, and by case, and its notes."""

    cells: dict[tuple[str, str, int], tuple[Any, ...]]
    truths: dict[tuple[str, int], Any]
    notes: tuple[str, ...]


def told(log: AnswerLog, *, by_row: bool) -> Told:
    """Return the cells of a log; `by_row`: cases are called by their rows."""
    cells: dict[tuple[str, str, int], tuple[Any, ...]] = {}
    truths: dict[tuple[str, int], Any] = {}
    seen = Counter[str]()
    for row, name in enumerate(log.cases.tolist()):
        case = str(row) if by_row else name
        again = seen[case]
        seen[case] += 1
        truth = log.truth[row]
        truths[case, again] = log.classes[truth] if truth >= 0 else None
        for column, judge in enumerate(log.judges):
            code = log.answers[row, column]
            if code == -2:
                continue
            said = log.classes[code] if code >= 0 else None
            latency = None if log.latency is None else float(log.latency[row, column])
            cells[case, judge, again] = (
                said,
                bool(log.is_right[row, column]),
                float(log.prices[row, column]),
                latency,
            )
    return Told(cells, truths, log.notes)


def read(content: bytes, folder: Path, kind: Kind) -> AnswerLog:
    """Read a document from a file."""
    path = folder / "judge" / "samples_task_2026-01-01T00-00-00.0.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return read_log(path, columns=LogColumns(target=kind.target))


def differences(before: Told, after: Told) -> list[str]:
    """Return what is read otherwise."""
    found = []
    for key in {**before.cells, **after.cells}:
        old, new = before.cells.get(key), after.cells.get(key)
        if not _alike(old, new):
            found.append(f"{key}: {old} -> {new}")
    for case in {**before.truths, **after.truths}:
        one, other = before.truths.get(case), after.truths.get(case)
        if one != other:
            found.append(f"truth of {case}: {one} -> {other}")
    return found


def _alike(old: Any, new: Any) -> bool:
    if old is None or new is None:
        return old is new
    return str(old) == str(new)


def run(name: str, n_logs: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Read `n_logs` mutated logs of a reader; return how they ended, and those to look at."""
    kind, rng = KINDS[name], random.Random(seed)
    base = read(kind.write(kind.document), folder, kind)
    ends, odd = Counter[str](), []
    for _ in range(n_logs):
        mutation = mutated(kind, rng)
        at = f"{name}: {mutation.way} {mutation.place}"
        try:
            log = read(mutation.content, folder, kind)
            names = [sorted(one.cases.tolist()) for one in (base, log)]
            by_row = kind.by_row and names[0] != names[1] and len(names[0]) == len(names[1])
            before, after = told(base, by_row=by_row), told(log, by_row=by_row)
        except ShortlistError as error:
            ends["refused"] += 1
            if len(str(error)) > 800:
                odd.append(f"{at}: a sentence of {len(str(error))} letters")
        except Exception as error:  # noqa: BLE001  # whatever it is, the program is wrong
            ends["error"] += 1
            odd.append(f"{at}: {type(error).__name__}: {error}"[:300])
        else:
            changed = differences(before, after)
            is_noted = bool(set(after.notes) - set(before.notes))
            gone = [one.endswith("-> None") for one in changed]
            is_smaller = mutation.is_cut and sum(gone) + mutation.is_edit >= len(gone)
            is_plain = mutation.is_edit or is_smaller
            end = "same" if not changed else "noted" if is_noted else "plain" if is_plain else "silent"
            ends[end] += 1
            if end == "silent":
                odd.append(f"{at}: {len(changed)} changed: {changed[0]}"[:300])
    return ends, odd


def main() -> None:
    """Read mutated logs of every reader."""
    n_logs = int(sys.argv[1])
    names = sys.argv[2:] or list(KINDS)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            ends, odd = run(name, n_logs, 0, Path(folder))
            print(name, dict(ends))
            for one in odd:
                print("   ", one)


if __name__ == "__main__":
    main()
