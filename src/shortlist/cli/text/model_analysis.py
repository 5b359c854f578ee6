"""Output of `shortlist model analyse`, `model diff` and `model check`, and the files of `model check`."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import all_of, any_of, count_text, counted
from shortlist.arrays import Mask
from shortlist.cli.text.front_text import some
from shortlist.cli.text.output import as_typed
from shortlist.exact import digits_of
from shortlist.products.analysis import Analysis, Finding
from shortlist.products.configuration.explanation import Explanation
from shortlist.products.conversion import Edit, ModelDifference
from shortlist.products.model import FeatureModel
from shortlist.products.rules import rule_text
from shortlist.tables.spreadsheets import save_rows

if TYPE_CHECKING:
    from shortlist.cli.options.product_questions import AskedQuestion
    from shortlist.products.product_tables import ProductCheck


_MOST_LINES = 12
"""Largest number of lines of a list that may be long."""

_MEANING = {
    Edit.REFACTORING: "both models have the same products",
    Edit.SPECIALISATION: "products were lost, and none was gained",
    Edit.GENERALISATION: "products were gained, and none was lost",
    Edit.ARBITRARY: "products were lost, and others were gained",
}


_DEAD = (
    "No feature is dead.",
    "no dead feature was found",
    "1 dead feature, which no product has",
    "dead features, which no product has",
)
_FALSE_OPTIONAL = (
    "No feature marked optional is in every product with its parent.",
    "no feature marked optional was found in every product with its parent",
    "1 feature marked optional is in every product with its parent",
    "features marked optional are in every product with their parent",
)
_SUPERFLUOUS = (
    "No rule is superfluous.",
    "no superfluous rule was found",
    "1 superfluous rule, which the others imply",
    "superfluous rules, each of which all others imply",
)
_TOGETHER = (
    "No two features are always selected together, apart from core features.",
    "no two features were found that are always selected together",
    "1 set of features that are always selected together",
    "sets of features that are always selected together",
)
"""Headings for no finding, no finding so far, one finding, and several findings."""


def analysis_facts(model: FeatureModel, found: Analysis) -> dict[str, Any]:
    """Return the facts for JSON on an analysis."""
    facts: dict[str, Any] = {
        "method": "satisfiability",
        "status": _status(found),
        "complete": found.complete,
        "unanswered": list(found.unanswered),
        "n_features": model.n_features,
        "void": None if found.void is None else _why(model, found.void),
    }
    for kind in ("core", "dead", "false_optional"):
        facts[kind] = [_finding(model, one) for one in getattr(found, kind)]
    return facts | {
        "redundant": [rule_text(model, rule) for rule in found.redundant],
        "atomic_sets": [[model.labels[f] for f in each] for each in found.atomic_sets],
        "n_products": None if found.n_products is None else digits_of(found.n_products),
        "products_with": {
            label: digits_of(n) for label, n in zip(model.labels, found.products_with, strict=False)
        },
        "uncounted": as_typed(found.uncounted),
        "notes": list(model.notes),
    }


def _status(found: Analysis) -> str:
    if found.void:
        return "infeasible"
    if "void" in found.unanswered:
        return "unknown"
    return "optimal" if found.complete else "feasible"


def _finding(model: FeatureModel, finding: Finding) -> dict[str, Any]:
    why = None if finding.why is None else _why(model, finding.why)
    return {"feature": model.labels[finding.feature], "why": why}


def _why(model: FeatureModel, why: Explanation) -> dict[str, Any]:
    return {"rules": [rule_text(model, rule) for rule in why.rules], "smallest": why.smallest}


def print_analysis(facts: dict[str, Any]) -> None:
    """Print an analysis for people."""
    if facts["void"]:
        print("The model has no product. These rules contradict each other" + _proved(facts["void"]))
        _print_rules(facts["void"])
        return
    limit, unanswered = facts["limit"], facts["unanswered"]
    if "void" in unanswered:
        print(f"Stopped ({limit}) before it was known whether the model has a product.")
        return
    _print_findings(facts["dead"], _DEAD, complete="dead" not in unanswered)
    _print_findings(facts["false_optional"], _FALSE_OPTIONAL, complete="false_optional" not in unanswered)
    core = [finding["feature"] for finding in facts["core"]]
    names = f": {_listed(core)}" if core else ""
    print(f"{counted(len(core), 'core feature')}, which every product has{names}")
    for kind, words in (("redundant", _SUPERFLUOUS), ("atomic_sets", _TOGETHER)):
        lines = facts[kind] if kind == "redundant" else [_listed(each) for each in facts[kind]]
        print(_title(len(lines), words, complete=kind not in unanswered))
        _print_lines(lines)
    if facts["n_products"] is None:
        reason = facts["uncounted"]
        print(f"products were not counted: {reason}" if reason else "products were not counted")
    else:
        _print_rarest(facts["n_products"], facts["products_with"])
    if unanswered:
        print(f"stopped ({limit}): what is listed is proved; where it says so far, there may be more")


def _title(n_found: int, words: tuple[str, str, str, str], *, complete: bool) -> str:
    """Return the heading of some findings; that there are none is stated only for a complete analysis."""
    none, none_yet, one, many = words
    found = one if n_found == 1 else f"{n_found:,} {many}" if n_found else none if complete else none_yet
    return found if complete else f"So far: {found}"


def _print_findings(
    findings: list[dict[str, Any]], words: tuple[str, str, str, str], *, complete: bool
) -> None:
    print(_title(len(findings), words, complete=complete))
    for finding in findings:
        if finding["why"]:
            print(f"  {finding['feature']}, because of{_proved(finding['why'])}")
            _print_rules(finding["why"], indent=4)
    rest = [finding["feature"] for finding in findings if not finding["why"]]
    if rest:
        print(f"  not explained: {_listed(rest)}")


def _print_lines(lines: Sequence[str], indent: int = 2) -> None:
    for line in lines[:_MOST_LINES]:
        print(" " * indent + line)
    if len(lines) > _MOST_LINES:
        print(" " * indent + f"and {len(lines) - _MOST_LINES} more; --json has all")


def _print_rarest(n_products: str, products_with: dict[str, str]) -> None:
    print(f"{count_text(n_products)} products; the features that fewest of them have:")
    every = int(Decimal(n_products))
    numbers = [(int(Decimal(digits)), label) for label, digits in products_with.items() if digits != "0"]
    for n, label in sorted(numbers, key=lambda one: one[0])[:5]:
        share = 100 * (n * 10**6 // every) / 10**6
        print(f"  {share:7.3f} %  {label}")


def _listed(names: Sequence[str]) -> str:
    return some(names, range(len(names)))


def _proved(why: dict[str, Any]) -> str:
    n_rules = len(why["rules"])
    return f" ({counted(n_rules, 'rule')}, {'the fewest' if why['smallest'] else 'perhaps not the fewest'}):"


def _print_rules(why: dict[str, Any], *, indent: int = 2) -> None:
    _print_lines(why["rules"], indent)


def difference_facts(found: ModelDifference) -> dict[str, Any]:
    """Return the facts for JSON on the difference of two models."""
    return {
        "method": "satisfiability",
        "status": "optimal" if found.edit else "feasible",
        "edit": None if found.edit is None else str(found.edit),
        "possible_edits": [str(edit) for edit in found.edits],
        "added": list(found.added),
        "removed": list(found.removed),
        "lost": _product(found, found.lost),
        "gained": _product(found, found.gained),
        "unsure": list(found.unsure),
    }


def _product(found: ModelDifference, selected: Mask | None) -> list[str] | None:
    return None if selected is None else [found.names[i] for i in np.flatnonzero(selected).tolist()]


def print_difference(facts: dict[str, Any], first: Path, second: Path) -> None:
    """Print the difference of two models for people."""
    if facts["edit"]:
        print(f"{facts['edit'].capitalize()}: {_MEANING[Edit(facts['edit'])]}.")
    else:
        unsure = all_of(f"whether products were {kind}" for kind in facts["unsure"])
        print(f"Stopped ({facts['limit']}) before it was known {unsure}: {any_of(facts['possible_edits'])}.")
    for kind in ("added", "removed"):
        if facts[kind]:
            print(f"{kind} features  {_listed(facts[kind])}")
    for kind, path in (("lost", first), ("gained", second)):
        if facts[kind] is not None:
            print(f"{kind}: only {path} has the product {_listed(facts[kind]) or 'without any feature'}")


_MOST_ROWS = 10
_MOST_RULES = 3


def check_facts(checks: "Sequence[ProductCheck]", asked: "AskedQuestion") -> dict[str, Any]:
    """Return the facts for JSON on every checked row."""
    n_wrong = sum(not check.is_right for check in checks)
    return {
        "status": "invalid" if n_wrong else "valid",
        "n_rows": len(checks),
        "n_products": sum(not check.broken for check in checks),
        "n_wrong": n_wrong,
        "attributes": asked.sources,
        "rows": [
            {
                "row": check.line,
                "valid": not check.broken,
                "broken": list(check.broken),
                "values": {name: float(value) for name, value in check.values.items()},
                "wrong": {name: float(value) for name, value in check.wrong.items()},
            }
            for check in checks
        ],
    }


def print_checks(facts: dict[str, Any]) -> None:
    """Print the number of right rows, and the errors of the first wrong rows."""
    print(f"{counted(facts['n_rows'], 'row')}, {facts['n_products']:,} of them products.")
    wrong = [row for row in facts["rows"] if row["broken"] or row["wrong"]]
    for row in wrong[:_MOST_ROWS]:
        if row["broken"]:
            print(f"row {row['row']} breaks {all_of(map(repr, row['broken']), most=_MOST_RULES)}")
        for name, value in row["wrong"].items():
            print(f"row {row['row']} has {name} {value:g}, but the model gives {row['values'][name]:g}")
    if len(wrong) > _MOST_ROWS:
        print(f"and {counted(len(wrong) - _MOST_ROWS, 'row')} more; --json and --out have all")
    if facts["out"] is not None:
        print(f"Saved to {facts['out']}.")


def save_checks(path: str | Path, checks: "Sequence[ProductCheck]") -> None:
    """Write a row for each checked row: its place, the verdict, the broken rules, and the objectives."""
    names = list(checks[0].values)
    header = ["row", "valid", "broken rules", *(f"objective: {name}" for name in names), "wrong values"]
    save_rows(
        path,
        header,
        (
            [
                check.line,
                not check.broken,
                "; ".join(check.broken),
                *(check.values[name] for name in names),
                ", ".join(check.wrong),
            ]
            for check in checks
        ),
    )
