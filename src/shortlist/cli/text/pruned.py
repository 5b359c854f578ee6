"""What `shortlist prune` and `shortlist evolve` tell of their answers, as JSON and for people."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist._words import counted
from shortlist.cli.text.front_text import (
    front_facts,
    front_status,
    headline,
    look_at,
    print_frame,
    print_pick,
    range_lines,
)
from shortlist.cli.text.measured_table import (
    OnRowsThatChose,
    measured_facts,
    one_answer_notes,
    print_measured,
)
from shortlist.results.picking import can_be_promised
from shortlist.results.proof import stopped_by

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.front_pruner import FrontPruner
    from shortlist.ensembles.holdout import EvolvedTable, PrunedTable
    from shortlist.ensembles.measured import OtherDiversity, Reached


def pruned_facts(pruned: "PrunedTable", method: str, solver: str, saved: Path | None) -> dict[str, Any]:
    """Return the contract of every command, and what only pruning has."""
    from shortlist.ensembles.committees.facts import chosen_facts, result_facts

    chosen = pruned.chosen
    told = result_facts(pruned.pruner.result_) if chosen is None else chosen_facts(chosen)
    exact = chosen is None or chosen.result is not None
    return {
        "command": "prune",
        "method": f"exact-{solver}" if exact else method,
        "seconds": pruned.seconds,
        "proof": None,
        "positive": None,
        "threshold": None,
        "selection": [],
        "size": 0,
        **told,
        "rows": pruned.n_rows,
        "only_answer": {
            "validation": pruned.only_answer,
            "test": pruned.test["pruned"].only_answer if pruned.test else None,
        },
        **_reached_facts(pruned),
        "early_exit": _exit_facts(pruned, told.get("early_exit")),
        "test": measured_facts(pruned.test),
        "validation": rows_that_chose(pruned).as_dict() if pruned.test else {},
        "best_single": pruned.best_single or None,
        "guarantee": _guarantee_facts(pruned),
        "model": None if saved is None else str(saved),
    }


def _reached_facts(pruned: "PrunedTable") -> dict[str, Any]:
    if pruned.reached is None or pruned.chosen is None:
        return {"cost": None, "diversity": None}
    chosen = pruned.chosen
    names = [name for name, n in zip(chosen.names, chosen.copies, strict=True) if n]
    return pruned.reached.as_dict(tuple(names))


def rows_that_chose(pruned: "PrunedTable") -> OnRowsThatChose:
    """Return what is told of the validation rows in addition to the test rows."""
    return OnRowsThatChose(
        pruned.right_where_chosen, pruned.n_rows["validation"], "folds" in pruned.n_rows, pruned.best_single
    )


def _exit_facts(pruned: "PrunedTable", saves: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the same of early exits, and what they take on the test rows; None if unknown."""
    if saves is None:
        return None
    test, early = None, pruned.early
    if early is not None:
        test = {
            "n_rows": len(early.calls),
            "mean_calls": float(early.calls.mean()),
            "mean_cost": None if early.costs is None else float(early.costs.mean()),
        }
    return saves | {"test": test}


def _guarantee_facts(pruned: "PrunedTable") -> dict[str, Any] | None:
    """Return what is promised about answers to new rows, and how the test rows fare; None without promise."""
    if pruned.selective is None or pruned.answered is None:
        return None
    answered, right = pruned.answered
    test = {"n_rows": pruned.n_rows["test"], "n_answered": answered, "n_right": right}
    found = pruned.selective.guarantee_.as_dict() | {"test": test}
    if found["promised"]:
        return found
    instead = pruned.selective.promised_instead_
    return found | {"instead": can_be_promised(None if instead is None else instead.as_dict())}


def _print_promise(promised: dict[str, Any]) -> None:
    print(promised["sentence"])
    if promised["promised"]:
        test = promised["test"]
        print(promised["assumption"])
        print(
            f"Of {test['n_rows']} test rows {test['n_answered']} are answered, {test['n_right']} of them "
            "rightly."
        )
    else:
        print(promised["instead"])


def rows_in_words(rows: Mapping[str, int]) -> str:
    """Say which rows did what.

    >>> rows_in_words({"train": 0, "validation": 54, "test": 6})
    '54 rows to prune, 6 to test'
    """
    parts = f"{rows['train']} rows to fit, {rows['validation']} to prune"
    if "folds" in rows:
        parts = f"{rows['validation']} rows in {rows['folds']} folds to fit and to prune"
    elif not rows["train"]:
        parts = f"{rows['validation']} rows to prune"
    apart = f"{rows['calibration']} to calibrate, " if "calibration" in rows else ""
    return f"{parts}, {apart}{rows['test']} to test"


def print_pruned(pruned: "PrunedTable", facts: dict[str, Any], saved: Path | None) -> None:
    """Print the answer for people."""
    rows = pruned.n_rows
    by_mean = facts.get("voting", "hard") != "hard"
    several = "the mean decides" if by_mean else "plurality decides"
    about = several if facts["positive"] is None else f"positive class {facts['positive']}"
    print(f"{rows_in_words(rows)}; {about}.")
    if not pruned.test:
        print(f"Status {facts['status']}: {facts['reason']}. No model was written.")
        return
    decision = facts["decision"]
    if facts["threshold"] is not None:
        decision = f"positive when more than {facts['threshold']} of them vote so"
    who = "judges" if "ask" in facts else "classifiers"
    more = f", with {facts['n_copies']} copies in all" if facts["n_copies"] > facts["size"] else ""
    print(f"Chosen: {facts['size']} of {len(pruned.pool)} {who}{more}; {decision}.")
    if sizes := facts.get("sizes", {}).get("reason"):
        least, most = facts["sizes"]["min"], facts["sizes"]["max"]
        few = counted(most, "member") if least == most else f"at most {counted(most, 'member')}"
        print(f"Taken without a comparison: objective {facts['objective']}, {few}; {sizes}.")
    limit = f", {stopped_by(facts['limit'])}" if facts["limit"] else ""
    if facts["voting"] == "averaged" and "history" in facts:
        print(
            "They were chosen by their votes, of which the next sentence is; the tests below are of the mean."
        )
    print(f"{facts['proof']['sentence']} ({facts['seconds']:.2f} s{limit}).")
    if facts.get("found_by"):
        print(engine_line(facts))
    if facts.get("refit"):
        n_fitted = rows["train"] + (0 if "folds" in rows else rows["validation"])
        print(f"The members were then fitted again on {n_fitted} rows; the tests below are of those.")
    if pruned.reached is not None:
        _print_reached(pruned.reached)
    print()
    print_measured(pruned.test, rows_that_chose(pruned))
    print()
    if facts["guarantee"]:
        _print_promise(facts["guarantee"])
        print()
    print_asking(facts)
    if saved is not None:
        print(f"Saved to {saved}; use it with: shortlist predict {saved} NEW.csv --out ANSWERS.csv")


def engine_line(facts: Mapping[str, Any]) -> str:
    """Say what found the members, what bounded them last, and why that was asked.

    >>> engine_line({"found_by": "tabu search", "proved_by": "CP-SAT", "why": "the gap is small"})
    'Engine: the members were found by tabu search; CP-SAT bounded last, because the gap is small.'
    """
    bounded = f"; {facts['proved_by']} bounded last, because {facts['why']}" if facts["why"] else ""
    return f"Engine: the members were found by {facts['found_by']}{bounded}."


def print_asking(facts: dict[str, Any]) -> None:
    """Print whom to ask in which order, when that stops, and what a new row takes to be answered."""
    exits, n_rows = facts["early_exit"], facts["rows"]["validation"]
    times = dict(zip(facts["selection"], facts["copies"], strict=True))
    order = facts["selection"] if exits is None else exits["order"]
    told = [name if times[name] == 1 else f"{name} ({times[name]} times)" for name in order]
    if exits is not None and exits["prices"] is not None:
        told = [f"{name} for {price:g}" for name, price in zip(told, exits["prices"], strict=True)]
    in_order = "Members" if exits is None or len(told) == 1 else "Asked in this order"
    print(f"{in_order}: {', '.join(told)}")
    if "ask" in facts:
        print(_asking_text(facts["ask"]))
    if exits is None or len(told) == 1:
        return
    parts = [f"{_paid_text(exits)} on the {n_rows:,} rows that chose"]
    if exits["test"] is not None:
        parts.append(f"{_paid_text(exits['test'])} on the {exits['test']['n_rows']:,} test rows")
    everybody = "" if exits["cost"] is None else f" for {exits['cost']:.4g}"
    print(
        f"{exits['rule']} So a row takes {', and '.join(parts)}; asking all members takes {len(told)} "
        f"calls{everybody}. {exits['least_mean_calls']:.2f} is the fewest on the rows that chose for any "
        "lossless early exit in this order."
    )


def _paid_text(paid: dict[str, Any]) -> str:
    cost = "" if paid["mean_cost"] is None else f" for {paid['mean_cost']:.4g}"
    return f"{paid['mean_calls']:.2f} calls{cost}"


def _asking_text(ask: dict[str, Any]) -> str:
    cost = "" if ask["cost"] is None else f"; asking all of them costs {ask['cost']:g} a row"
    return f"Ask them for: {', '.join(ask['columns'])}{cost}."


def _print_reached(reached: "Reached") -> None:
    if reached.cost is not None:
        budget = "" if reached.max_cost is None else f", of at most {reached.max_cost:g}"
        print(f"The members cost {reached.cost:g} together{budget}.")
    if reached.mean_pfc is not None:
        mean, each = (
            "" if least is None else f" (at least {least:.4f} wanted)"
            for least in (reached.least_mean, reached.least_each)
        )
        lowest = float(reached.each_pfc.min())
        print(f"Diversity: mean PFC {reached.mean_pfc:.4f}{mean}, lowest of a member {lowest:.4f}{each}.")
        if reached.other is not None:
            _print_other(reached.other)


def _print_other(other: "OtherDiversity") -> None:
    from shortlist.ensembles.goals.diversity import MEASURES

    measure = MEASURES[other.measure]
    wanted, extreme, name = ("at least", min, "lowest") if measure.is_least else ("at most", max, "highest")
    print(
        f"Limits are on {measure.title}: mean {other.each.mean():.4f} "
        f"({wanted} {other.wanted_mean:.4f} wanted), "
        f"{name} of a member {extreme(other.each):.4f} ({wanted} {other.wanted_each:.4f} wanted)."
    )


MOST_POINTS = 20
"""Largest number of points printed."""

MEASURED = "Time was measured on the pruning rows, and depends on this machine and on what else it does."


def committee_facts(pruner: "FrontPruner", saved: Path | None) -> dict[str, Any]:
    """Return what only a front of committees has; it stands in the place of what one selection says."""
    from shortlist.ensembles.fronts.front_claims import looked_at

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
        "looked_at": looked_at(front),
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


def print_committees(
    pruned: "PrunedTable", facts: dict[str, Any], front_file: Path | None, saved: Path | None
) -> None:
    """Print the answer for people."""
    from shortlist.ensembles.fronts.front_claims import looked_at, paid_columns

    pruner: Any = pruned.pruner
    front = pruner.front_
    print(f"{rows_in_words(pruned.n_rows)}.")
    print(headline(front))
    if limited := looked_at(front):
        print(limited)
    proved = sum(front.extras["proved"])
    if 0 < proved < len(front):
        print(f"Of these points {proved:,} are proved: nothing beats them.")
    print("\n".join(range_lines(front)))
    if "time" in front.names:
        print(MEASURED)
    frame = front.to_frame().round(4)
    for name, paid in paid_columns(front).items():
        frame[name] = [round(value, 4) for value in paid]
    if front.extras["thresholds"] is not None:
        frame["votes above"] = front.extras["thresholds"]
    if 0 < proved < len(front):
        frame["proved"] = front.extras["proved"]
    print()
    print_frame(frame, MOST_POINTS)
    print_pick(front, front.point(pruner.point_, str(pruner.pick)))
    print()
    if pruned.test:
        print_measured(pruned.test, rows_that_chose(pruned))
        print()
        print_asking(facts)
    print()
    if front_file is not None:
        print(f"Saved the front to {front_file}{look_at(front_file)}")
    if saved is not None:
        print(f"Saved to {saved}; use it with: shortlist predict {saved} NEW.csv --out ANSWERS.csv")


BOUNDED = "Among the choices from the candidates of the last step"
"""Range of what an exact step proves; nothing is known of other candidates."""

MANY_MEMBERS = 100
"""From here on the number of members is worth a note."""


def evolved_notes(evolved: "EvolvedTable") -> list[str]:
    """Return notes on the ensemble besides its accuracy."""
    notes = one_answer_notes(
        evolved.only_answer, evolved.test["evolved"].only_answer, who="the ensemble", rows="training"
    )
    size = len(evolved.classifier.members_)
    if size >= MANY_MEMBERS:
        notes.append(
            f"the ensemble has {size:,} members, and each is asked about every row. --set max-members=N "
            "keeps fewer."
        )
    return notes


def evolved_facts(evolved: "EvolvedTable", saved: Path | None) -> dict[str, Any]:
    """Return the contract of every command, and what only evolution has."""
    from shortlist.report.evolved import evolution_facts

    return {
        "command": "evolve",
        "seconds": evolved.seconds,
        **evolution_facts(evolved.classifier),
        "rows": evolved.n_rows,
        "only_answer": {"train": evolved.only_answer, "test": evolved.test["evolved"].only_answer},
        "test": {
            name: facts | {"error": 1 - facts["accuracy"]}
            for name, facts in measured_facts(evolved.test).items()
        },
        "model": None if saved is None else str(saved),
    }


def print_evolved(evolved: "EvolvedTable", saved: Path | None) -> None:
    """Print the answer for people."""
    from shortlist.report.evolved import evolution_facts

    classifier, result, rows = evolved.classifier, evolved.classifier.result_, evolved.n_rows
    print(f"{rows['train']} rows to evolve on, {rows['test']} to test; {len(classifier.classes_)} classes.")
    stopped = f", stopped: {result.stopped}" if result.stopped else ""
    print(
        f"{classifier.mode}, {classifier.space}: {len(result.history)} of {classifier.n_generations} "
        f"generations of {classifier.population_size} ({evolved.seconds:.1f} s{stopped})."
    )
    print(
        f"The ensemble has {len(result.members)} members; error {result.error:.4f} on the rows it was "
        f"evolved on, {1 - evolved.test['evolved'].accuracy:.4f} on the test rows."
    )
    if result.error_bound is not None:
        print(f"{BOUNDED}: {evolution_facts(classifier)['proof']['sentence']}.")
    print()
    print_measured(evolved.test)
    if saved is not None:
        print()
        print(f"Saved to {saved}; use it with: shortlist predict {saved} NEW.csv --out ANSWERS.csv")
