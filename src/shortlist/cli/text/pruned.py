"""Answer of `shortlist prune` as JSON and for people."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from shortlist._validation import AUTO
from shortlist._words import counted
from shortlist.cli.text.measured_table import OnSelectionRows, print_measured
from shortlist.cli.text.output import listed, print_lines, shortened
from shortlist.guarantees.guarantee import answered_in_words
from shortlist.results.picking import can_be_promised
from shortlist.results.proof import stopped_by
from shortlist.results.verdicts import Word
from shortlist.solvers import TITLES

if TYPE_CHECKING:
    from shortlist.ensembles.committees.chosen import Chosen
    from shortlist.ensembles.estimators.front_pruner import FrontPruner
    from shortlist.ensembles.pruned_table import PrunedTable
    from shortlist.results.front import Front


class WrittenFiles(NamedTuple):
    """Files that a command wrote; None for a kind of file that was not written."""

    front: Path | None = None
    model: Path | None = None
    report: Path | None = None
    rule: str = "auto"
    """Name of the rule whose model was requested."""


def pruned_facts(pruned: "PrunedTable", method: str, solver: str, saved: Path | None) -> dict[str, Any]:
    """Return the facts that every command has, and the facts of pruning."""
    from shortlist.ensembles.committees.facts import chosen_facts, result_facts
    from shortlist.ensembles.measured import measured_facts

    chosen = pruned.chosen
    told = result_facts(pruned.pruner.result_) if chosen is None else chosen_facts(chosen, pruned.early)
    exact = chosen is None or chosen.result is not None
    return {
        "method": f"exact-{solver}" if exact else method,
        "seconds": pruned.seconds,
        "proof": None,
        "positive": None,
        "threshold": None,
        "selection": [],
        "size": 0,
        "early_exit": None,
        **told,
        "rows": pruned.n_rows,
        "only_answer": {
            "validation": pruned.only_answer,
            "test": pruned.test["pruned"].only_answer if pruned.test else None,
        },
        **pruned.reached,
        "test": measured_facts(pruned.test),
        "shown_class": pruned.test["pruned"].shown_class(_named(pruned)) if pruned.test else None,
        "error_costs": _error_costs(chosen),
        "validation": on_selection_rows(pruned).as_dict() if pruned.test else {},
        "best_single": pruned.best_single or None,
        "advice": None if pruned.advice is None else pruned.advice.as_dict(),
        "guarantee": _guarantee_facts(pruned),
        "model": None if saved is None else str(saved),
    }


def _named(pruned: "PrunedTable") -> Any:
    """Return the class that the user named as positive; None if the user named none."""
    return getattr(pruned.pruner, "positive", None)


def _error_costs(chosen: "Chosen | None") -> dict[str, Any] | None:
    """Return costs of wrong answers by class, and the cost per selection row; None if errors are counted."""
    if chosen is None or chosen.error_costs_ is None:
        return None
    by_class = dict(zip(map(str, chosen.classes_), chosen.error_costs_, strict=True))
    return {"by_class": by_class, "mean": chosen.error_cost_}


def on_selection_rows(pruned: "PrunedTable") -> OnSelectionRows:
    """Return the number of selection rows that each rule answers right."""
    return OnSelectionRows(
        pruned.right_where_chosen, pruned.n_rows["validation"], "folds" in pruned.n_rows, pruned.best_single
    )


def _guarantee_facts(pruned: "PrunedTable") -> dict[str, Any] | None:
    """Return facts on the promise about new rows, with figures on the test rows; None without a promise."""
    if pruned.selective is None or pruned.answered is None:
        return None
    answered, right = pruned.answered
    test = {"n_rows": pruned.n_rows["test"], "n_answered": answered, "n_right": right}
    found = pruned.selective.guarantee_.as_dict() | {"test": test}
    if found["promised"]:
        return found
    instead = pruned.selective.promised_instead_
    return found | {"instead": can_be_promised(None if instead is None else instead.as_dict())}


def rows_in_words(rows: Mapping[str, int]) -> str:
    """Return the numbers of rows by their use in this run, in words.

    >>> rows_in_words({"train": 0, "validation": 54, "test": 6})
    '54 rows to prune, 6 to test'
    >>> rows_in_words({"train": 0, "validation": 52, "empty": 2, "test": 6})
    '52 rows to prune, 2 without any value left out, 6 to test'
    >>> rows_in_words({"train": 60, "validation": 60, "folds": 5, "parts": 2, "partitions": 9, "test": 60})
    '60 rows in 5 folds to fit and to prune, and in halves, dealt 9 times, to measure'
    """
    parts = f"{rows['train']} rows to fit, {rows['validation']} to prune"
    if "folds" in rows:
        parts = f"{rows['validation']} rows in {rows['folds']} folds to fit and to prune"
    elif not rows["train"]:
        parts = f"{rows['validation']} rows to prune"
    if "empty" in rows:
        parts = f"{parts}, {rows['empty']} without any value left out"
    apart = f"{rows['calibration']} to calibrate, " if "calibration" in rows else ""
    if "parts" in rows:
        return f"{parts}, and in halves, dealt {counted(rows['partitions'], 'time')}, to measure"
    return f"{parts}, {apart}{rows['test']} to test"


MOST_MEMBER_LINES = 4
"""Largest number of lines on the members on the first screen."""


def print_pruned(
    pruned: "PrunedTable", facts: dict[str, Any], written: WrittenFiles, *, details: bool = False
) -> None:
    """Print advice with its evidence: the choice, its quality and proof, the files, the next step."""
    if not pruned.test:
        print_lines(
            [
                f"Status {facts['status']}: {facts['reason']}. No model was written.",
                "Next: relax the limits, or give the search more time.",
            ]
        )
        return
    lines = [*_what_to_do(facts, pruned.n_rows["test"]), "", *_table(facts)]
    if facts["advice"]["verdict"] == Word.UNDECIDED:
        lines.append(facts["advice"]["compared"])
    lines += ["", *_members(facts, details=details), "", *_proof(pruned, facts, details=details)]
    print_lines([*lines, *_written(facts, written), *_next(facts, written, details=details)])
    if details:
        print()
        _print_details(pruned, facts)


def _what_to_do(facts: dict[str, Any], n_rows: int) -> list[str]:
    """Return the recommendation; with a promise, the promise."""
    promised = facts["guarantee"]
    if promised is None:
        return [facts["advice"]["sentence"]]
    if not promised["promised"]:
        return [promised["sentence"], promised["instead"]]
    test = promised["test"]
    told = answered_in_words(n_rows, test["n_answered"], test["n_right"])
    return [f"Use {facts['advice']['names']['pruned']} where it is sure enough. {promised['sentence']}", told]


def _table(facts: dict[str, Any]) -> list[str]:
    """Return the results of committee, best single classifier and all classifiers on the test rows."""
    from shortlist.report.held_out import class_table, error_costs_in_words, held_out_table

    test = facts["test"]
    if facts["advice"]["names"]["pruned"] == facts["advice"]["names"]["best_single"]:
        test = {name: one for name, one in test.items() if name != "best_single"}
    names = {name: shortened(called) for name, called in facts["advice"]["names"].items()}
    rows, rules = facts["rows"], {name: one for name, one in test.items() if name in _compared(facts)}
    classes = class_table(rules, names, facts["shown_class"])
    if classes is not None:
        test = {name: one for name, one in test.items() if name != "backfitting" or name in rules}
    lines = held_out_table(test, names, rows, facts["early_exit"]).lines()
    lines += [] if classes is None else classes.lines()
    lines += [error_costs_in_words(facts["error_costs"]["by_class"])] if facts["error_costs"] else []
    if "parts" in rows:
        lines.append(MEASURED_BY_CHOICE)
    if "raced" in rows:
        lines.append(f"The pool was filled by a race of {rows['raced']} classifiers on some of the rows.")
    return lines


def _compared(facts: dict[str, Any]) -> set[str]:
    """Return the names of the rules whose misses are printed on the first screen."""
    return {"pruned", "best_single", facts["advice"]["take"]}


def _members(facts: dict[str, Any], *, details: bool) -> list[str]:
    """Return lines on the members, in the order to ask them, each with its price."""
    exits = facts["early_exit"]
    times = dict(zip(facts["selection"], facts["copies"], strict=True))
    order = facts["selection"] if exits is None else exits["order"]
    told = [name if times[name] == 1 else f"{name} ({times[name]} times)" for name in order]
    if exits is not None and exits["prices"] is not None:
        told = [f"{name} for {price:g}" for name, price in zip(told, exits["prices"], strict=True)]
    head = "Members, in the order to ask them" if exits is not None and len(told) > 1 else "Members"
    if not told:
        return ["No member: every row gets the same answer."]
    most = MOST_MEMBER_LINES - 2 * (facts["shown_class"] is not None)
    lines = [listed(f"{head}: ", told, most_lines=most, details=details)]
    votes, more_than = sum(facts["copies"]), facts["threshold"]
    if more_than is not None and more_than != votes // 2:
        lines.append(
            f"A row is {facts['positive']} when at least {more_than + 1} of {votes} vote {facts['positive']}."
        )
    return lines


def _proof(pruned: "PrunedTable", facts: dict[str, Any], *, details: bool) -> list[str]:
    """Return the proof in one sentence; with details, a front has its proof further below."""
    if hasattr(pruned.pruner, "front_"):
        from shortlist.cli.text.front_text import headline

        return [] if details else [f"Front: {headline(_front_of(pruned), details=False)}"]
    if _is_best(facts["proof"]):
        return [_best_line(facts, len(pruned.pool))]
    return [proof_line(facts["proof"], f", {stopped_by(facts['limit'])}" if facts["limit"] else "")]


def _is_best(proof: Mapping[str, Any]) -> bool:
    """Return whether it is proved that no other selection is better."""
    value, bound = proof["value"], proof["bound"] if proof["bound"] is not None else proof["certified_bound"]
    if bound is None:
        return False
    return bool(proof["within_tolerance"] or (value >= bound if proof["sense"] == "max" else value <= bound))


def _best_line(facts: Mapping[str, Any], n_pool: int) -> str:
    """Return a sentence on selections that are not better, rows, and the certificate's share of the proof."""
    proof, sizes = facts["proof"], facts.get("sizes", {"reason": ""})
    others = f"selection {proof['among']}".strip() + " has"
    if sizes["reason"] and sizes["min"] == sizes["max"] and facts["n_copies"] == facts["size"]:
        others = f"{sizes['max']} of the {n_pool} have"
    more = "larger" if proof["sense"] == "max" else "smaller"
    value = f"{proof['value']:.4g}"
    if facts["error_costs"]:
        more, value = "smaller", f"{facts['error_costs']['mean']:.4g} a row"
    name = "weighted sum" if proof["objective"] == "weighted" else proof["objective"].replace("-", " ")
    rows = f"the {proof['rows']}"
    if "folds" in facts["rows"]:
        rows = f"{facts['rows']['validation']:,} rows answered by models not fitted on them"
    claim, _, certified = proof["claim"].partition("); ")
    last = f" {certified[0].upper()}{certified[1:]}." if certified else ""
    claimant = claim.rpartition("(")[2].rstrip(")")
    by = ""
    if proof["certified_bound"] is None:
        by = f" by {claimant} alone"
    elif certified and any(title in claimant for title in TITLES.values()):
        by = f" by {claimant}"
    name = "cost of errors" if facts["error_costs"] else name
    return f"Proof{by}: no other {others} a {more} {name} ({value}, on {rows}).{last}"


def proof_line(proof: Mapping[str, Any], limit: str = "", among: str = "") -> str:
    """Return the proof in words, from the keys of :meth:`Evidence.as_dict`.

    `among`: a range that is put first.
    """
    value = f"{proof['objective']} {proof['value']:.4g} on the {proof['rows']}"
    if proof["bound"] is None and proof["certified_bound"] is None:
        return f"Proof: none, because {proof['no_certificate']}; {value}."
    return f"Proof: {among}{value}, {proof['claim']}{limit}."


def _rule_written(facts: dict[str, Any], written: WrittenFiles) -> str:
    """Return the rule of the model in the written file, or in the file that would be written."""
    if facts["guarantee"] is not None:
        return "pruned"
    take: str = facts["advice"]["take"] if written.rule == AUTO else written.rule
    return take


def _written(facts: dict[str, Any], written: WrittenFiles) -> list[str]:
    return saved_lines(facts["advice"]["names"], _rule_written(facts, written), written)


def saved_lines(names: Mapping[str, str], rule: str, written: WrittenFiles) -> list[str]:
    """Return lines on the written files; `names`: titles of rules; `rule`: the rule with the saved model."""
    lines = [] if written.front is None else [f"Front saved to {written.front}."]
    lines += [] if written.model is None else [f"Saved {names[rule]} to {written.model}."]
    return lines + ([] if written.report is None else [f"Report in {written.report}."])


def _next(facts: dict[str, Any], written: WrittenFiles, *, details: bool) -> list[str]:
    names, promised = facts["advice"]["names"], facts["guarantee"]
    rule = _rule_written(facts, written)
    is_kept = promised is None or promised["promised"]
    lines = use_lines(written, details=details) if written.model is not None or is_kept else []
    if promised is None and "points" not in facts:
        lines += other_lines(names, rule, OTHER_PICKS)
    if written.front is not None and written.front.suffix == ".parquet":
        lines.append(f"Other points: shortlist front show {written.front}")
    return lines


def use_lines(written: WrittenFiles, *, details: bool) -> list[str]:
    """Return lines on the use of the written model, or on how to write one."""
    if written.model is not None:
        return [f"Use the file with: shortlist predict {written.model} NEW.csv --out ANSWERS.csv"]
    return [f"Keep it with --out FILE.joblib{'' if details else '; --details shows how it was found'}."]


def other_lines(names: Mapping[str, str], rule: str, picks: Mapping[str, str]) -> list[str]:
    """Return lines on how to write the model of the other rule.

    `picks`: the word for ``--pick`` of each rule, the chosen rule first.
    """
    other = "best_single" if rule != "best_single" else next(iter(picks))
    if names[other] == names[rule]:
        return []
    return [f"For {names[other]}: the same command with --pick {picks[other]}."]


OTHER_PICKS = {"pruned": "committee", "best_single": "best-single"}


def _print_details(pruned: "PrunedTable", facts: dict[str, Any]) -> None:
    """Print the search for the committee, its diversity, and all figures of the test."""
    rows = pruned.n_rows
    by_mean = facts.get("voting", "hard") != "hard"
    several = "the mean decides" if by_mean else "plurality decides"
    about = several if facts["positive"] is None else f"positive class {facts['positive']}"
    lines = [f"{rows_in_words(rows)}; {about}."]
    who = "judges" if "ask" in facts else "classifiers"
    more = f", with {facts['n_copies']} copies in all" if facts["n_copies"] > facts["size"] else ""
    raced = f" that lead a race of {rows['raced']}" if "raced" in rows else ""
    lines.append(f"Chosen: {facts['size']} of {len(pruned.pool)} {who}{raced}{more}; {facts['decision']}.")
    if sizes := facts.get("sizes", {}).get("reason"):
        least, most = facts["sizes"]["min"], facts["sizes"]["max"]
        few = counted(most, "member") if least == most else f"at most {counted(most, 'member')}"
        lines.append(f"Objective {facts['objective']} and {few} by default: {sizes}.")
    if facts["voting"] == "averaged" and facts.get("found_by"):
        lines.append("The proof is of their votes; the test is of the mean of their probabilities.")
    if pruned.chosen is not None:
        lines.append(f"{pruned.chosen.evidence.sentence()} ({facts['seconds']:.2f} s).")
    if facts.get("found_by"):
        lines.append(engine_line(facts))
    if facts.get("refit"):
        n_fitted = rows["train"] + (0 if "folds" in rows else rows["validation"])
        measures = "" if "parts" in rows else "; the test rows measure these"
        lines.append(f"The members were then fitted again on {n_fitted} rows{measures}.")
    lines += _reached(facts)
    print_lines(lines)
    if hasattr(pruned.pruner, "front_"):
        _print_front(_front_of(pruned), pruned.pruner)
    print()
    print_measured(pruned.test, on_selection_rows(pruned))
    print()
    if facts["guarantee"] and facts["guarantee"]["promised"]:
        print_lines([facts["guarantee"]["assumption"]])
    print_lines(_asking(facts))


def _asking(facts: dict[str, Any]) -> list[str]:
    """Return lines on when asking stops, and on the number of members asked for a new row."""
    exits, n_rows = facts["early_exit"], facts["rows"]["validation"]
    lines = [_asking_text(facts["ask"])] if "ask" in facts else []
    if exits is None or len(exits["order"]) == 1:
        return lines
    parts = [f"{_paid_text(exits)} on the {n_rows:,} selection rows"]
    if exits["test"] is not None:
        parts.append(f"{_paid_text(exits['test'])} on the {exits['test']['n_rows']:,} test rows")
    cost = "" if exits["cost"] is None else f" for {exits['cost']:.4g}"
    return [
        *lines,
        (
            f"{exits['rule']} So a row takes {', and '.join(parts)}; asking all members takes "
            f"{len(exits['order'])} calls{cost}."
        ),
    ]


def engine_line(facts: Mapping[str, Any]) -> str:
    """Return a sentence on the finder of the members, the engine of the last bound, and the reason.

    >>> engine_line({"found_by": "tabu search", "proved_by": "CP-SAT", "why": "the gap is small"})
    'Engine: the members were found by tabu search; CP-SAT gave the last bound, because the gap is small.'
    """
    bounded = f"; {facts['proved_by']} gave the last bound, because {facts['why']}" if facts["why"] else ""
    return f"Engine: the members were found by {facts['found_by']}{bounded}."


def _paid_text(paid: dict[str, Any]) -> str:
    cost = "" if paid["mean_cost"] is None else f" for {paid['mean_cost']:.4g}"
    return f"{paid['mean_calls']:.2f} calls{cost}"


def _asking_text(ask: dict[str, Any]) -> str:
    cost = "" if ask["cost"] is None else f"; asking all of them costs {ask['cost']:g} a row"
    return f"Ask them for: {', '.join(ask['columns'])}{cost}."


def _reached(facts: Mapping[str, Any]) -> list[str]:
    from shortlist.ensembles.goals.diversity import MEASURES, PFC

    lines, cost, diversity = [], facts["cost"], facts["diversity"]
    if cost is not None:
        budget = "" if cost["max"] is None else f", of at most {cost['max']:g}"
        lines.append(f"The members cost {cost['total']:g} together{budget}.")
    if diversity is None:
        return lines
    mean, each = (
        "" if diversity[name] is None else f" (at least {diversity[name]:.4f} wanted)"
        for name in ("wanted_mean", "wanted_each")
    )
    lines.append(
        f"Diversity (failure credit, PFC): mean {diversity['mean_pfc']:.4f}{mean}, "
        f"lowest member {diversity['least_pfc']:.4f}{each}."
    )
    for measure, told in (
        (MEASURES[name], told) for name, told in diversity.items() if name in {*MEASURES} - {PFC}
    ):
        wanted, extreme, name = (
            ("at least", min, "lowest") if measure.is_least else ("at most", max, "highest")
        )
        lines.append(
            f"Diversity ({measure.title}, with limits): mean {told['mean']:.4f} "
            f"({wanted} {told['wanted_mean']:.4f} wanted), {name} member "
            f"{extreme(told['members'].values()):.4f} ({wanted} {told['wanted_each']:.4f} wanted)."
        )
    return lines


MEASURED_BY_CHOICE = "Each row is measured by choices made without it (repeated choice)."

MOST_POINTS = 20
"""Largest number of points that are printed."""


def _front_of(pruned: "PrunedTable") -> "Front":
    pruner: Any = pruned.pruner
    return cast("Front", pruner.front_)


def committee_facts(pruner: "FrontPruner", saved: Path | None) -> dict[str, Any]:
    """Return the facts of a front of committees, in place of the facts of one selection."""
    from shortlist.cli.text.front_text import front_facts, front_status

    front = pruner.front_
    return {
        "method": front.method,
        "status": front_status(front),
        "seconds": front.seconds,
        **front_facts(front),
        "points": front.values.tolist(),
        "proved": front.extras["proved"],
        "final_to": front.extras["final_to"],
        "bounds": front.extras["bounds"],
        "calls": front.extras["calls"],
        "price_paid": front.extras["price_paid"],
        "prices": {name: list(map(float, prices)) for name, prices in pruner.prices_.items()},
        "pick": {
            "rule": str(pruner.pick),
            "index": pruner.point_,
            "values": dict(zip(front.names, front.values[pruner.point_].tolist(), strict=True)),
        },
        "out": None if saved is None else str(saved),
    }


def _print_front(front: "Front", pruner: Any) -> None:
    """Print the proof of a front, and its first points."""
    from shortlist.cli.text.front_text import headline, print_frame, range_lines
    from shortlist.ensembles.fronts.front_claims import paid_columns

    proved = sum(front.extras["proved"])
    lines = [headline(front)]
    if 0 < proved < len(front):
        lines.append(f"Of these points {proved:,} are proved non-dominated.")
    print_lines(lines)
    print("\n".join(range_lines(front, front.point(pruner.point_, str(pruner.pick)))))
    frame = front.to_frame().round(4)
    for name, paid in paid_columns(front).items():
        frame[name] = [round(value, 4) for value in paid]
    if front.extras["thresholds"] is not None:
        frame["votes above"] = front.extras["thresholds"]
    if 0 < proved < len(front):
        frame["proved"] = front.extras["proved"]
    print()
    print_frame(frame, MOST_POINTS)
