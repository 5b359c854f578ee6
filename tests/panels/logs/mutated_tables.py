"""Tables of answers made at random, as people write them, damaged at random, and read by a slow twin."""

import csv
import gzip
import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.records import KNOWN_COLUMNS, MAYBE_TRUTHS

WORDS = (
    ("ham", "spam"), ("yes", "no"), ("0", "1"), ("True", "False"), tuple("ABCD"), ("1", "2", "3"),
    ("positive", "negative", "neutral"),
    ("Rome", "Oslo", "Bern", "Ulm", "Bonn", "Graz", "Linz", "Wien", "Basel", "Genf"),
)  # fmt: skip
JUDGES = ("gpt-4o", "claude", "small", "big", "lab/mini", "mistral_7b", "Ann", "bob")
ODD_TRUTHS = ("annotated", "oracle", "majority", "gold2024", "Annotation_A", "is_ok", "verdict_final", "y")
ODD_NAMES = ("foo", "value", "column 1", "x,y", "it's", 'q"q', "col.sub", "näme", "", " ")
ODD_CELLS = (
    "Error 429", "<b>", "1e308", "9" * 400, "[1, 2]", '{"a": 1}', "inf", "-1", "1,234", "$5", "=SUM(A1)", "\x07",
    "x" * 5000, "NA", "nan", "None", "?", "-",
)  # fmt: skip


@dataclass
class Sheet:
    """A table as text, and what its columns hold.

    `cells`: the cells of each column. `roles`: the column of case, judge, answer, target and score, where
    there is one. `judges`: of a wide table the column of each judge. `scored`: of these the column of scores.
    """

    cells: dict[str, list[str]]
    roles: dict[str, str] = field(default_factory=dict)
    judges: dict[str, str] = field(default_factory=dict)
    scored: dict[str, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.cells.values()), []))

    def column(self, role: str) -> list[str] | None:
        """Return the cells of a role, as labels."""
        name = self.roles.get(role)
        return None if name not in self.cells else [label(cell) for cell in self.cells[name]]


def label(cell: str) -> str:
    return label_of(cell.strip())


class Maker:
    """Makes tables by one generator of random numbers."""

    def __init__(self, seed: object) -> None:
        self.rng = random.Random(str(seed))
        rng = self.rng
        words, self.n_cases = rng.choice(WORDS), rng.choice((6, 20, 25, 40, 60))
        self.judges = rng.sample(JUDGES, rng.choice((2, 2, 3, 4)))
        self.truth = [rng.choice(words) for _ in range(self.n_cases)]
        self.said = {
            judge: [true if rng.random() < share else rng.choice(words) for true in self.truth]
            for judge in self.judges
            for share in [rng.uniform(0.4, 0.95)]
        }

    def spelled(self, *names: str) -> str:
        """Return one of some names as somebody may write it."""
        name = self.rng.choice(names)
        ways: list[Callable[[str], str]] = [
            str, str, str, str.upper, lambda one: one.replace("_", " ").title(),
            lambda one: "".join(part.title() for part in one.split("_")), lambda one: one.replace("_", "-"),
        ]  # fmt: skip
        return self.rng.choice(ways)(name)

    def truth_name(self) -> str:
        """Return a name of the truth: mostly a usual one."""
        share = self.rng.random()
        names = KNOWN_COLUMNS["target"] if share < 0.5 else MAYBE_TRUTHS if share < 0.9 else ODD_TRUTHS
        return self.spelled(*names)

    def extra(self, n_rows: int) -> tuple[str, list[str]]:
        """Return a column that nobody asked for."""
        rng = self.rng
        kinds: dict[str, tuple[str, Callable[[int], str]]] = {
            "index row id idx": ("each", str), "text prompt comment input explanation": ("each", lambda n: f"text {n}"),
            "category topic subject split": ("any", lambda _: rng.choice(("math", "code", "law"))),
            "n_turns level attempt": ("any", lambda _: str(rng.randint(0, 5))),
            "temperature similarity bleu rouge": ("any", lambda _: f"{rng.random():.4f}"),
            "is_hard flagged cached": ("any", lambda _: rng.choice(("True", "False"))),
            "version dataset run": ("same", lambda _: "v1"), "notes error": ("none", lambda _: ""),
            "created_at date": ("any", lambda _: f"2026-01-{rng.randint(1, 28):02}"),
            "annotator worker model provider": ("any", lambda _: rng.choice(("x1", "x2", "x3"))),
        }  # fmt: skip
        names, (_, cell) = rng.choice([*kinds.items()])
        return rng.choice(names.split()), [cell(row) for row in range(n_rows)]

    def measured(self, sheet: Sheet, stem: str, right: list[bool], *, priced: bool) -> None:
        """Add columns of what is known of a judge's answers to a wide table."""
        rng = self.rng
        if rng.random() < 0.25:
            sheet.cells[f"{stem}{rng.choice(('.', '_'))}confidence"] = [f"{rng.random():.3f}" for _ in right]
        if priced:
            sheet.cells[f"{stem}{rng.choice(('.price', '_cost', '|total_cost'))}"] = ["0.1" for _ in right]
        if rng.random() < 0.2:
            name = f"{stem}{rng.choice(('_correct', '.score', '_score'))}"
            sheet.cells[name] = [str(one) if rng.random() < 2 else "" for one in right]
            if rng.random() < 0.5:
                sheet.cells[name] = [str(int(one)) for one in right]
            sheet.scored[stem] = name

    def long(self) -> dict[str, Sheet]:
        """Return a row for each answer."""
        rng = self.rng
        rows = [(case, judge) for case in range(self.n_cases) for judge in self.judges]
        said = [self.said[judge][case] for case, judge in rows]
        truth = [self.truth[case] for case, _ in rows]
        names = {
            "case": self.spelled("case", "task", "item", "question_id", "id", "ticket", "prompt_id", "uid", "conversation"),
            "judge": self.spelled("judge", "model", "worker", "annotator", "rater", "model_name", "llm", "who", "engine"),
            "answer": self.spelled("answer", "label", "prediction", "response", "vote", "pred", "said", "choice", "model_answer"),
            "target": self.truth_name(),
        }  # fmt: skip
        if len({name.casefold() for name in names.values()}) < len(names):
            return self.long()
        cells = [[f"c{case}" for case, _ in rows], [judge for _, judge in rows], said, truth]
        sheet = Sheet(dict(zip(names.values(), cells, strict=True)), names)
        if rng.random() < 0.5:
            prices = {judge: rng.choice(("0.1", "2", "3.25")) for judge in self.judges}
            sheet.cells[self.spelled("price", "cost", "usd", "cost_usd")] = [
                prices[judge] for _, judge in rows
            ]
        if rng.random() < 0.3:
            sheet.cells[self.spelled("confidence")] = [f"{rng.random():.3f}" for _ in rows]
        right = [one == other for one, other in zip(said, truth, strict=True)]
        name = self.spelled("correct", "score", "is_correct", "success", "passed")
        if rng.random() < 0.3 and name.casefold() not in {one.casefold() for one in sheet.cells}:
            sheet.cells[name] = (
                [str(one) for one in right] if rng.random() < 0.5 else [str(int(one)) for one in right]
            )
            sheet.roles["score"] = name
        return {"log": sheet}

    def truth_apart(self) -> dict[str, Sheet]:
        """Return a row for each answer, and the truth in a file of its own."""
        sheet = self.long()["log"]
        if (name := sheet.roles.pop("score", "")) in sheet.cells:
            del sheet.cells[name]
        del sheet.cells[sheet.roles.pop("target")]
        case = self.rng.choice(("case", "task", "id", sheet.roles["case"]))
        target = self.spelled("truth", "target", "gold", "label", "human", "answer")
        truth = {case: [f"c{number}" for number in range(self.n_cases)], target: self.truth}
        return {"log": sheet, "truth": Sheet(truth, {"case": case, "target": target})}

    def wide(self) -> dict[str, Sheet]:
        """Return a row for each case."""
        rng, sheet = self.rng, Sheet({})
        if rng.random() < 0.8:
            name = self.spelled("id", "case", "question_id", "item", "doc_id", "uid")
            sheet.cells[name] = [f"c{case}" for case in range(self.n_cases)]
        form, priced = rng.choice(("{}", "{}.label", "{}_pred", "{}_label")), rng.random() < 0.3
        for judge in self.judges:
            name = sheet.judges[judge if form.endswith(".label") else form.format(judge)] = form.format(judge)
            sheet.cells[name] = self.said[judge]
            right = [one == other for one, other in zip(self.said[judge], self.truth, strict=True)]
            self.measured(sheet, judge, right, priced=priced)
            if judge in sheet.scored:
                sheet.scored[next(reversed(sheet.judges))] = sheet.scored.pop(judge)
        sheet.roles["target"] = self.truth_name()
        if sheet.roles["target"] in sheet.cells:
            return self.wide()
        sheet.cells[sheet.roles["target"]] = self.truth
        return {"log": sheet}

    def rights(self) -> dict[str, Sheet]:
        """Return a row for each case, with columns of right and wrong."""
        rng, sheet = self.rng, Sheet({})
        if rng.random() < 0.6:
            sheet.cells[rng.choice(("sample_id", "id", "prompt"))] = [
                f"c{case}" for case in range(self.n_cases)
            ]
        kind, end, priced = (
            rng.choice(("truths", "numbers", "shares")),
            rng.choice(("", "", "_correct")),
            rng.random() < 0.5,
        )
        for judge in self.judges:
            right = [one == other for one, other in zip(self.said[judge], self.truth, strict=True)]
            forms: dict[str, Callable[[bool], str]] = {
                "truths": str,
                "numbers": lambda one: str(int(one)),
                "shares": lambda one: str(0.25 + 0.5 * one),
            }
            sheet.cells[f"{judge}{end}"] = [forms[kind](one) for one in right]
            sheet.scored[judge] = f"{judge}{end}"
            if priced:
                sheet.cells[f"{judge}|total_cost"] = ["0.1"] * self.n_cases
        if rng.random() < 0.3 and (name := self.truth_name()) not in sheet.cells:
            sheet.cells[name] = self.truth
        return {"log": sheet}

    def files(self) -> dict[str, Sheet]:
        """Return a table for each judge."""
        answer = self.spelled("prediction", "answer", "label", "output", "pred", "response")
        target, case = self.truth_name(), self.rng.choice(("id", "case", "question_id"))
        if answer.casefold() == target.casefold():
            return self.files()
        extras = [self.extra(self.n_cases) for _ in range(self.rng.choice((0, 0, 1, 2)))]
        sheets = {}
        for judge in self.judges[:2]:
            cells = {
                case: [f"c{number}" for number in range(self.n_cases)],
                answer: self.said[judge],
                target: self.truth,
            }
            roles = {"case": case, "answer": answer, "target": target}
            sheets[judge.replace("/", "-")] = Sheet({**dict(extras), **cells}, roles)
        return sheets

    def toloka(self) -> dict[str, Sheet]:
        """Return a table as Toloka writes it."""
        return self._platform(
            {"case": "ASSIGNMENT:task_id", "judge": "ASSIGNMENT:worker_id", "answer": "OUTPUT:result", "target": "GOLDEN:result"},
            {"INPUT:text": "t", "ASSIGNMENT:status": "APPROVED"},
        )  # fmt: skip

    def turk(self) -> dict[str, Sheet]:
        """Return a table as Mechanical Turk writes it."""
        return self._platform(
            {"case": "HITId", "judge": "WorkerId", "answer": "Answer.label", "target": "gold"},
            {"Reward": "$0.05", "AssignmentStatus": "Approved", "Input.text": "t"},
        )

    def studio(self) -> dict[str, Sheet]:
        """Return a table as Label Studio writes it."""
        roles = {"case": "id", "judge": "annotator", "answer": "sentiment", "target": "gold"}
        return self._platform(
            roles, {"annotation_id": "7", "lead_time": "1.5", "created_at": "2026", "updated_at": "2026"}
        )

    def _platform(self, roles: dict[str, str], others: dict[str, str]) -> dict[str, Sheet]:
        sheet = self.long()["log"]
        cells = {name: sheet.cells[sheet.roles[role]] for role, name in roles.items()}
        more = {name: [cell] * sheet.n_rows for name, cell in others.items()}
        items = [*cells.items(), *more.items()]
        self.rng.shuffle(items)
        return {"log": Sheet(dict(items), roles)}

    def mutated(self, sheet: Sheet) -> Sheet:
        """Return a table with a few changes."""
        rng = self.rng
        cells = {name: [*column] for name, column in sheet.cells.items()}
        made = Sheet(cells, dict(sheet.roles), dict(sheet.judges), dict(sheet.scored))
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            n_rows, name = made.n_rows, rng.choice([*made.cells])
            if not n_rows:
                break
            kind = rng.choice(("columns", "rows", "extra", "extra", "blank", "twice", "fewer", "flip", "space", "capitals", "odd", "odd", "drop", "rename"))  # fmt: skip
            column = made.cells[name]
            if kind == "columns":
                made.cells = dict(rng.sample([*made.cells.items()], len(made.cells)))
            elif kind in {"rows", "fewer", "twice"}:
                order = rng.sample(range(n_rows), n_rows if kind == "rows" else max(1, int(0.85 * n_rows)))
                order = [*range(n_rows), rng.randrange(n_rows)] if kind == "twice" else order
                made.cells = {one: [old[row] for row in order] for one, old in made.cells.items()}
            elif kind == "extra":
                new, more = self.extra(n_rows)
                if new not in made.cells:
                    items = [*made.cells.items()]
                    items.insert(rng.randint(0, len(items)), (new, more))
                    made.cells = dict(items)
            elif kind == "drop" and len(made.cells) > 2:
                del made.cells[name]
            elif kind == "rename":
                self._rename(made, name, rng.choice(ODD_NAMES))
            elif kind == "space":
                made.cells[name] = [f" {cell} " if rng.random() < 0.3 else cell for cell in column]
            else:
                row, of_kind = (
                    rng.randrange(n_rows),
                    {"blank": "", "flip": rng.choice(column), "odd": rng.choice(ODD_CELLS)},
                )
                column[row] = of_kind.get(kind, column[row].upper())
        return made

    @staticmethod
    def _rename(sheet: Sheet, old: str, new: str) -> None:
        if new in sheet.cells:
            return
        sheet.cells = {new if name == old else name: column for name, column in sheet.cells.items()}
        sheet.roles = {role: new if name == old else name for role, name in sheet.roles.items()}
        sheet.scored = {judge: new if name == old else name for judge, name in sheet.scored.items()}
        sheet.judges = {
            new if name == old else judge: new if name == old else name
            for judge, name in sheet.judges.items()
        }

    def write(self, sheet: Sheet, path: Path) -> str:
        """Write a table in some format, and return which."""
        form = self.rng.choice(("csv",) * 5 + ("semicolons", "tabs", "lines", "list", "parquet", "gzip", "utf16", "crlf", "mark"))  # fmt: skip
        rows = [dict(zip(sheet.cells, row, strict=True)) for row in zip(*sheet.cells.values(), strict=True)]
        if form in {"lines", "list"}:
            told = [{name: _typed(cell) for name, cell in row.items()} for row in rows]
            text = "\n".join(map(json.dumps, told)) if form == "lines" else json.dumps(told, indent=1)
            path.write_text(text, encoding="utf-8")
            return form
        separator = {"semicolons": ";", "tabs": "\t"}.get(form, ",")
        file = io.StringIO()
        writer = csv.writer(file, delimiter=separator, lineterminator="\r\n" if form == "crlf" else "\n")
        writer.writerows([[*sheet.cells], *([*row.values()] for row in rows)])
        text = file.getvalue()
        if form == "parquet" and {*sheet.cells}.isdisjoint({"", " "}) and rows:
            pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""]).to_parquet(path)
            return form
        content = (
            text.encode("utf-16")
            if form == "utf16"
            else text.encode("utf-8-sig" if form == "mark" else "utf-8")
        )
        path.write_bytes(gzip.compress(content) if form == "gzip" else content)
        return form

    def damage(self, path: Path) -> None:
        """Change, remove or add some bytes of a file, or cut it."""
        rng, content = self.rng, bytearray(path.read_bytes())
        for _ in range(rng.choice((1, 1, 2, 5))):
            if not content:
                break
            at, kind = rng.randrange(len(content)), rng.random()
            if kind < 0.4:
                content[at] = rng.randrange(32, 127) if rng.random() < 0.8 else rng.randrange(256)
            elif kind < 0.6:
                del content[at : at + rng.choice((1, 2, 10, 100))]
            elif kind < 0.8:
                content[at:at] = rng.choice(
                    [b'"', b",", b"\n", b"\x00", b";", b"{", b"}", b"[", b"\\", b"\xff", b"0", b"e"]
                )
            else:
                del content[at:]
        path.write_bytes(bytes(content))


def _typed(cell: str) -> Any:
    """Return a cell as JSON has it."""
    if cell in {"", "True", "False"}:
        return {"": None, "True": True, "False": False}[cell]
    for kind in (int, float):
        try:
            number = kind(cell)
        except ValueError:
            continue
        return number if str(number) == cell and number not in (float("inf"), float("-inf")) else cell
    return cell


Rights = dict[str, int]
"""Number of right answers of each judge."""


def rights_by_text(sheets: dict[str, Sheet]) -> Rights | None:
    """Return how often each judge's answer is the truth; None where a column that tells it is gone."""
    truth_of: dict[str, str] = {}
    for sheet in sheets.values():
        pairs = zip(sheet.column("case") or (), sheet.column("target") or (), strict=False)
        for case, true in pairs:
            if true:
                truth_of.setdefault(case, true)
    found: Rights = {}
    for name, sheet in sheets.items():
        if not (sheet.judges or sheet.scored or "answer" in sheet.roles):
            continue  # the truth
        own = _of_columns(sheet) if sheet.judges or sheet.scored else _of_rows(sheet, name, truth_of)
        if own is None:
            return None
        found |= own
    return found


def _of_columns(sheet: Sheet) -> Rights | None:
    truths = sheet.column("target")
    if truths is None:
        return None
    there = {judge: sheet.cells[column] for judge, column in sheet.judges.items() if column in sheet.cells}
    said = {judge: map(label, column) for judge, column in there.items()}
    return {
        judge: sum(bool(one) and one == true for one, true in zip(cells, truths, strict=True))
        for judge, cells in said.items()
    }


def _of_rows(sheet: Sheet, name: str, truth_of: dict[str, str]) -> Rights | None:
    said, cases, judges = map(sheet.column, ("answer", "case", "judge"))
    if said is None or cases is None or (judges is None and "judge" in sheet.roles):
        return None
    found: Rights = {}
    for place, (case, one) in enumerate(zip(cases, said, strict=True)):
        judge = name if judges is None else judges[place]
        found[judge] = found.get(judge, 0) + (bool(one) and one == truth_of.get(case))
    return found


def rights_by_score(sheets: dict[str, Sheet], by_text: Rights) -> Rights:
    """Return how often each judge is right by the scores, where there are any, and by the text elsewhere."""
    found, sheet = dict(by_text), sheets.get("log", Sheet({}))
    if (scores := sheet.column("score")) is not None:
        said, judges = sheet.column("answer"), sheet.column("judge")
        if judges is not None:
            for judge in {*judges}:
                found[judge] = sum(
                    one in {"True", "1"} and (said is None or bool(said[at]))
                    for at, one in enumerate(scores) if judges[at] == judge
                )  # fmt: skip
    for judge, column in sheet.scored.items():
        if column in sheet.cells:
            cells = [label(cell) for cell in sheet.cells[column]]
            said = [label(cell) for cell in sheet.cells.get(sheet.judges.get(judge, ""), cells)]
            found[judge] = sum(bool(one) and _is_right(cell) for one, cell in zip(said, cells, strict=True))
    return found


def _is_right(cell: str) -> bool:
    return cell == "True" or (cell.replace(".", "", 1).isdigit() and 0.5 < float(cell) <= 1)
