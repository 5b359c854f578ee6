"""What `shortlist prune` tells of its answer, as JSON and for people."""

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist._words import counted
from shortlist.cli.text.measured_table import OnRowsThatChose, measured_facts, print_measured
from shortlist.cli.text.output import finite
from shortlist.results.picking import can_be_promised
from shortlist.results.proof_words import stopped_by

if TYPE_CHECKING:
    from shortlist.cli.options.prune_options import MethodOptions
    from shortlist.ensembles.estimators.exact_pruner import ExactPruner
    from shortlist.ensembles.pruning.objective_choice import Choice
    from shortlist.ensembles.studies.holdout import PrunedTable
    from shortlist.ensembles.studies.reached import OtherDiversity, Reached


def pruned_facts(
    pruned: "PrunedTable", how: "MethodOptions", solver: str, saved: Path | None
) -> dict[str, Any]:
    """Return the contract of every command, and what only pruning has."""
    from shortlist.ensembles.estimators.exact_pruner import ExactPruner

    exact = isinstance(pruned.pruner, ExactPruner)
    own = _exact_facts(pruned.pruner, solver) if exact else _rule_facts(pruned, how.method)
    return {"command": "prune"} | own | _shared_facts(pruned, saved)


def _exact_facts(pruner: "ExactPruner", solver: str) -> dict[str, Any]:
    """Return what exact pruning found and proved."""
    from shortlist.ensembles.estimators.exact_pruner import HELD_OUT, OUT_OF_FOLD
    from shortlist.ensembles.pruning.evidence import evidence_of, selections_meant

    result = pruner.result_
    return {
        "method": f"exact-{solver}",
        "status": str(result.status),
        "seconds": result.seconds,
        "objective": result.objective.name,
        "value": finite(result.value),
        "bound": finite(result.bound),
        "gap": finite(result.gap),
        "certified_bound": getattr(result, "certified_bound", None),
        "proof": None
        if result.reason
        else evidence_of(result, solver, selections_meant(pruner), pruner.counted_on).as_dict(),
        "limit": result.proof.limit,
        "reason": result.reason,
        "history": [[seconds, value, bound] for seconds, value, bound in result.history],
        "choice": None if pruner.choice_ is None else _choice_facts(pruner.choice_),
        "positive": None if pruner.positive_ is None else str(pruner.positive_),
        "voting": pruner.voting_,
        "threshold": pruner.threshold_,
        "pruning_rows": HELD_OUT if pruner.cross_fitted_ is None else OUT_OF_FOLD,
        "refit": pruner.pool_ is not pruner.chosen_pool_,
    }


def _choice_facts(choice: "Choice") -> dict[str, Any]:
    """Return what an objective was chosen by."""
    return {
        "setting": dataclasses.asdict(choice.setting),
        "reason": choice.reason,
        "tried": [
            dataclasses.asdict(one.setting) | {"score": one.score, "error": finite(one.error)}
            for one in choice.tried
        ],
    }


def _rule_facts(pruned: "PrunedTable", method: str) -> dict[str, Any]:
    """Return what a rule found; it proves nothing."""
    from shortlist.ensembles.committees.evidence import evidence_of_rule
    from shortlist.ensembles.pools.judges import votes_may_be_missing

    pruner: Any = pruned.pruner
    # of two classes too the one with most votes wins where votes may be missing
    binary = len(pruner.classes_) == 2 and not votes_may_be_missing(pruner.pool_.classifiers)
    counted_from = "probabilities" if pruner.averages else "votes"
    return {
        "method": method,
        "status": "feasible",
        "seconds": pruned.seconds,
        "objective": "accuracy",
        "value": pruner.accuracy_,
        "bound": None,
        "gap": None,
        "certified_bound": None,
        "proof": evidence_of_rule(pruner.accuracy_, counted_from=counted_from).as_dict(),
        "limit": "",
        "reason": "",
        "positive": str(pruner.classes_[1]) if binary else None,
        "voting": pruner.voting_,
        "threshold": len(pruner.members_) // 2 if binary and not pruner.averages else None,
    }


def _shared_facts(pruned: "PrunedTable", saved: Path | None) -> dict[str, Any]:
    """Return what every method of pruning reports."""
    from shortlist.ensembles.pools.judges import columns_asked
    from shortlist.ensembles.pools.pool import asking_cost

    members = [
        name for name, chosen in zip(pruned.pool.names, pruned.pruner.selection_, strict=True) if chosen
    ]
    columns = columns_asked(pruned.pruner.pool_.classifiers)
    return {
        "selection": members,
        "n_classifiers": len(pruned.pool),
        **({"ask": {"columns": list(columns), "cost": asking_cost(pruned.pruner.pool_)}} if columns else {}),
        "size": len(members),
        "probabilities": pruned.pruner.probabilities_,
        "probability_losses": {
            name: finite(loss) for name, loss in pruned.pruner.probability_losses_.items()
        },
        "copies": [int(n) for n in getattr(pruned.pruner, "copies_", pruned.pruner.selection_) if n],
        "rows": pruned.n_rows,
        "only_answer": {
            "validation": pruned.only_answer,
            "test": pruned.test["pruned"].only_answer if pruned.test else None,
        },
        **(pruned.reached.as_dict(tuple(members)) if pruned.reached else {"cost": None, "diversity": None}),
        "early_exit": _exit_facts(pruned),
        "test": measured_facts(pruned.test),
        "validation": rows_that_chose(pruned).as_dict() if pruned.test else {},
        "best_single": pruned.best_single or None,
        "guarantee": _guarantee_facts(pruned),
        "model": None if saved is None else str(saved),
    }


def rows_that_chose(pruned: "PrunedTable") -> OnRowsThatChose:
    """Return what is told of the rows that chose beside the test rows."""
    return OnRowsThatChose(
        pruned.right_where_chosen, pruned.n_rows["validation"], "folds" in pruned.n_rows, pruned.best_single
    )


def _exit_facts(pruned: "PrunedTable") -> dict[str, Any] | None:
    """Return in which order members are asked, when that stops, and what it takes; None if unknown.

    Where nothing is promised nobody is asked.
    """
    from shortlist.ensembles.committees.savings import exit_report, stopping_rule

    least = None if pruned.selective is None else pruned.selective.guarantee_.threshold
    saves = exit_report(pruned.pruner, least=least) if pruned.test and least != math.inf else None
    if saves is None:
        return None
    test, early = None, pruned.early
    if early is not None:
        test = {
            "n_rows": len(early.calls),
            "mean_calls": float(early.calls.mean()),
            "mean_cost": None if early.costs is None else float(early.costs.mean()),
        }
    rule = stopping_rule(promises=least is not None)
    return dataclasses.asdict(saves) | {"rule": rule, "test": test}


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
    """Print what is promised, what that rests on, and how the test rows fare."""
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


def _choice_text(choice: dict[str, Any]) -> str:
    """Say what objective was chosen, and why."""
    setting = choice["setting"]
    most = setting["max_size"]
    least = "" if setting["min_size"] == most else "at most "
    sizes = f"{least}{counted(most, 'member')}"
    what = f"objective {setting['second'] or 'alone'}, {sizes}"
    if not choice["tried"]:
        return f"Taken without a comparison: {what}; {choice['reason']}."
    best = choice["tried"][0]["score"]
    own = next(one["score"] for one in choice["tried"] if _same(one, setting))
    return (
        f"Chosen by cross-validation among {len(choice['tried'])} settings: {what} ({own:.4f}; best "
        f"{best:.4f})."
    )


def _same(tried: dict[str, Any], setting: dict[str, Any]) -> bool:
    return all(tried[name] == value for name, value in setting.items())


def rows_in_words(rows: Mapping[str, int]) -> str:
    """Say which rows did what.

    Examples
    --------
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
    from shortlist.ensembles.estimators.base import mean_rule

    rows = pruned.n_rows
    several = "the mean decides" if pruned.pruner.averages else "plurality decides"
    about = several if facts["positive"] is None else f"positive class {facts['positive']}"
    print(f"{rows_in_words(rows)}; {about}.")
    if not pruned.test:
        print(f"Status {facts['status']}: {facts['reason']}. No model was written.")
        return
    decision = (
        "the class with most votes wins"
        if facts["threshold"] is None
        else f"positive when more than {facts['threshold']} of them vote so"
    )
    if pruned.pruner.averages:
        decision = mean_rule(pruned.pruner.decision_gains, pruned.pruner.classes_)
    who = "judges" if "ask" in facts else "classifiers"
    copies = len(pruned.pruner.pool_) - facts["size"]
    more = f", with {len(pruned.pruner.pool_)} copies in all" if copies else ""
    print(f"Chosen: {facts['size']} of {len(pruned.pool)} {who}{more}; {decision}.")
    if choice := facts.get("choice"):
        print(_choice_text(choice))
    limit = f", {stopped_by(facts['limit'])}" if facts["limit"] else ""
    if facts["voting"] == "averaged" and "history" in facts:
        print(
            "They were chosen by their votes, of which the next sentence is; the tests below are of the mean."
        )
    print(f"{facts['proof']['sentence']} ({facts['seconds']:.2f} s{limit}).")
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
    """Say how many calls a row takes, and what they cost."""
    cost = "" if paid["mean_cost"] is None else f" for {paid['mean_cost']:.4g}"
    return f"{paid['mean_calls']:.2f} calls{cost}"


def _asking_text(ask: dict[str, Any]) -> str:
    """Say what a new row takes to be answered."""
    cost = "" if ask["cost"] is None else f"; asking all of them costs {ask['cost']:g} a row"
    return f"Ask them for: {', '.join(ask['columns'])}{cost}."


def _print_reached(reached: "Reached") -> None:
    """Print what the members cost, and how differently they fail."""
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
    """Print how diverse the members are by another measure than PFC."""
    from shortlist.ensembles.goals.pair_measures import MEASURES

    measure = MEASURES[other.measure]
    wanted, extreme, name = ("at least", min, "lowest") if measure.is_least else ("at most", max, "highest")
    print(
        f"Limits are on {measure.title}: mean {other.each.mean():.4f} "
        f"({wanted} {other.wanted_mean:.4f} wanted), "
        f"{name} of a member {extreme(other.each):.4f} ({wanted} {other.wanted_each:.4f} wanted)."
    )
