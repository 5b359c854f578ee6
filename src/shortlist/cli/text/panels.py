"""Output of commands about panels."""

import shlex
from collections.abc import Mapping, Sequence
from textwrap import fill, shorten
from typing import Any

from shortlist._words import all_of, counted
from shortlist.cli.options.panel_options import in_four_digits, in_senses
from shortlist.cli.options.shared import PromiseOptions
from shortlist.cli.text.output import WIDTH, print_fitted, print_lines
from shortlist.panels.answer_log import cases_in_words
from shortlist.panels.log_checks import CASE, PUNCTUATION
from shortlist.panels.objectives import ACCURACY, ERROR_COST, PRICE, RECALL, in_text
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.policy import HAND_OVER, REJECT, Panel
from shortlist.panels.router import columns_of
from shortlist.panels.standing import NEW, SINGLE, Kept, Standing
from shortlist.panels.verdict import NESTED, is_share
from shortlist.panels.words import budget_table, measured_in_words
from shortlist.results.objective import Limit, read_limit
from shortlist.results.proof import ProofKind, stopped_by
from shortlist.results.verdicts import RuleVerdict, Word, margin_in_words, sentence

LIMIT_BROKEN, JUDGE_ALONE = "The limit ", "The best is a single judge: "
"""Beginnings of sentences that other functions recognise."""
MOST_LETTERS = 100
"""Largest number of letters for the names of judges asked within a budget; the page has all names."""


def print_panel(facts: Mapping[str, Any], written: Sequence[str] = (), *, details: bool = False) -> None:
    """Print the judges to ask with the panel's figures; with details print all facts.

    `facts`: facts of a panel, with the facts of its front. `written`: lines on written files, printed last.
    """
    head = [facts["advice"]] if facts["advice"] else []
    point = (
        "" if facts["point"] is None else f"point {facts['point']} of {len(facts['front']):,} on the front"
    )
    asks, said = facts["in_words"], facts["verdict"] if details else _first_sentences(facts)
    is_judge = facts["point"] is None or facts["kind"] == Word.ALONE
    if is_judge and not facts["held_out"]["of_answers"]:
        begin = "The judge is" if head else "Ask"
        one = f"{begin} {facts['single']['name']} alone, a single judge of {facts['n_judges']:,}"
        asks = asks if len(asks) > 1 or facts["stages"][0]["answered"] < 1 else []
        head.append(f"{one}{f', {point}' if point else ''}{':' if asks else '.'}")
        said = [sentence for sentence in said if not sentence.startswith(JUDGE_ALONE)]
    else:
        head.append(f"Use this panel, {point}:" if not head else f"The panel, {point}:")
        said = [sentence for sentence in said if sentence != facts["advice"]]
    rest = ["", *_measured_lines(facts), *filter(None, (facts["unknown"],)), "", *said]
    rest += [] if details else [_proof_line(facts)]
    shown = [f"  {one if details else shorten(one, 2 * WIDTH - 20, placeholder=' ...')}" for one in asks]
    print_fitted(head, shown, rest, follow=len(written), details=details)
    if details:
        _print_budgets(facts)
        print("\nWhat was searched:")
        print_lines([f"  {claim}" for claim in facts["claims"]])
    for line in written:  # whose paths and commands are not broken
        print(line)


def _measured_lines(facts: Mapping[str, Any]) -> list[str]:
    rechosen, single = facts["single_rechosen"], facts["single"]
    lines = [f"On {facts['measured_on']}: {measured_in_words(facts['held_out'])}."]
    on_what = "" if rechosen is None else ", on its training cases, which is optimistic"
    if facts["n_parts"] and facts["kind"] == Word.ALONE and single["value"] != facts["held_out"]["value"]:
        on_what = on_what or ", its own on all cases; above, panels chosen anew without each part of them"
    alone = measured_in_words(single)
    is_told = facts["point"] is None or (facts["kind"] == Word.ALONE and alone in lines[0] and not on_what)
    if not is_told or rechosen is not None:
        lines.append(f"The {single['title']}, {single['name']}: {alone}{on_what}.")
    if rechosen is not None:
        what = f"{NESTED[0].upper()}{NESTED[1:]}, by nested cross-validation"
        lines.append(f"{what}: {measured_in_words(rechosen)}.")
    one = facts["one_answer"]
    if one is not None and any(stage["asks"] for stage in facts["stages"]):
        what = in_text(facts["objective"])
        lines.append(
            f"The answer {one['answer']!r} to every case, without asking: {what} {one['value']:.4g}."
        )
    return lines


def _first_sentences(facts: Mapping[str, Any]) -> list[str]:
    promise = "" if facts["guarantee"] is None else facts["guarantee"]["sentence"]
    own = {facts["instead"], facts["sentence"], promise}
    sentences = [one for one in facts["verdict"] if one in own or one.startswith(LIMIT_BROKEN)]
    sentences += filter(None, [facts["router_refused"]])
    return [shorten(one, 3 * WIDTH - 20, placeholder=" ...") for one in sentences]


def _proof_line(facts: Mapping[str, Any]) -> str:
    if facts["proof"] == ProofKind.COMPLETE:
        told = "Search: complete, every best trade-off is listed"
    else:
        limit = f", {stopped_by(facts['limit'])}" if facts["limit"] else ""
        told = f"Search: not every panel of the {counted(facts['n_judges'], 'judge')} was tried{limit}"
    return f"{told}. Budgets, chance and what was searched: --details."


def _print_budgets(facts: Mapping[str, Any]) -> None:
    title, rows = budget_table(facts)
    if len(rows) == 1:
        return
    print(f"\n{title}, by out-of-fold answers on the training cases:")
    rows = [(*row[:-1], shorten(row[-1], MOST_LETTERS, placeholder=" ...")) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for row in rows:
        cells = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=False))
        indent = " " * (len(cells) + 4)
        print(fill(row[-1], WIDTH, initial_indent=f"  {cells}  ", subsequent_indent=indent))


def new_options(choice: PanelChoice, old: Panel, limits: Sequence[Limit], seed: int = 0) -> str:
    """Return the options of the search for the new panel, without those for the log's price and files."""
    names, final, told = choice.front.names, choice.cases.final, list[str]()
    for limit in limits:
        told += ["--limit", _in_four_digits(limit)]
    if tuple(names) != (ACCURACY, PRICE):
        told += ["--objectives", in_senses(names)]
    if ERROR_COST in names:
        told += ["--set", "error-costs=FILE"]
    if RECALL in names:
        told += ["--set", f"positive={choice.chosen.classes[choice.cases.positive]}"]
    if choice.guarantees:
        accuracy, level = choice.guarantees[0].demand
        told += ["--answer-accuracy", f"{accuracy:g}"]
        told += [] if level == USUAL_LEVEL else ["--set", f"confidence-level={level:g}"]
    if final.kind == HAND_OVER:
        told += ["--final", f"{HAND_OVER}={final.price:g}"]
    elif final.kind == REJECT and not choice.guarantees:
        told += ["--final", REJECT]
    if old.router is not None:
        told += ["--router", ",".join(columns_of(old.router))]
    folds = {CASE: choice.chosen.folds_case, PUNCTUATION: choice.chosen.folds_punctuation}
    if any(folds.values()):
        told += ["--set", f"fold={','.join(way for way, is_on in folds.items() if is_on)}"]
    return shlex.join([*told, *(["--seed", str(seed)] if seed else [])])


def _in_four_digits(limit: Limit) -> str:
    """Return a limit as a user types it, in four digits and no stricter than before."""
    if not limit.sign:
        return str(limit)
    return f"{limit.name}{limit.operator}{in_four_digits(float(limit.value), limit.sign):.4g}"


USUAL_LEVEL = PromiseOptions().confidence_level
"""Default confidence level of a promise, which options need not give."""
KEPT_WORDS = {
    Kept.KEPT: "The saved panel keeps its promise on these cases",
    Kept.MISSED: "The saved panel has fewer right answers than promised, which may be chance",
    Kept.BROKEN: "The saved panel breaks its promise, beyond chance",
}

PROMISED_WORDS = {
    Standing.BETTER: "Keep the saved panel: it answers more cases, and the new one is not cheaper.",
    Standing.AS_GOOD: "Keep the saved panel: the new one neither answers more cases nor is cheaper.",
    Standing.BEATEN: "Take the new panel: it makes the same promise, is cheaper, and answers no fewer cases.",
    Standing.OPEN: (
        "Keep the saved panel where every answer counts: the new one is cheaper, but answers fewer cases, "
        "beyond chance."
    ),
}
"""Advice on a saved and a new panel with the same promise."""


def _found_again(facts: Mapping[str, Any]) -> str:
    """Return a sentence if the new search has found the saved panel; empty if it has found another panel."""
    if facts["standing"] != Standing.AS_GOOD or facts["new"]["promised"] is False:
        return ""
    if facts["same"]:
        return "Keep the saved panel: the new search found the same panel."
    return (
        "Keep the saved panel: the new one asks the same judges and decides all these cases alike."
        if facts["alike"]
        else ""
    )


def _standing_words(facts: Mapping[str, Any]) -> str:
    found = Standing(facts["standing"])
    if facts["new"]["promised"] is False:
        if facts["promise"]["kept"] == Kept.KEPT and facts["saved_on_all"]["answered"]:
            return "Keep the saved panel: no new one can make its promise on these cases."
        return (
            "No new panel can make the promise of the saved one on these cases. Choose a panel anew with a "
            "lower --answer-accuracy, or add cases."
        )
    if facts["difference_of"] != "answered":
        return _rule_words(facts)
    if found is Standing.BEATEN and facts["promise"]["kept"] == Kept.BROKEN:
        return "Take the new panel: it makes the promise that the saved one breaks."
    if found is Standing.OPEN and not facts["cheaper"]:
        return (
            "Take the new panel where every answer counts: it answers more cases, beyond chance, but is not "
            "cheaper."
        )
    return PROMISED_WORDS[found]


def _rule_words(facts: Mapping[str, Any]) -> str:
    """Return advice on which to use: the saved panel, the new panel, or the single judge."""
    rival = "the new panel" if facts["against"] == NEW else f"{facts['single']['name']} alone"
    names, told = (rival, "the saved panel"), facts["first_in_words"]
    rule = RuleVerdict(Word(facts["verdict"]), facts["take"] != "saved", facts["because"] or "")
    return sentence(
        rule,
        names,
        told,
        verb="Take" if rule.takes_first else "Keep",
        margin=margin_in_words(facts["margin"], of_shares=is_share(facts["difference_of"])),
        costs=f", which is {'cheaper' if facts['cheaper'] else 'not cheaper'}",
    )


def _cases(figures: Mapping[str, Any], kind: str = "") -> str:
    return cases_in_words(figures["n_cases"], figures["n_different"], kind)


def print_compared(facts: dict[str, Any], *, details: bool = False) -> None:
    """Print whether a saved panel is still the best, and whether it keeps its promise."""
    found_again = _found_again(facts)
    lines = [found_again or _standing_words(facts)]
    promise, every = facts["promise"], facts["saved_on_all"]
    if promise is not None and not every["answered"]:
        lines.append("The saved panel answers no case, so these cases do not test its promise.")
    elif promise is not None:
        share = f"{100 * promise['accuracy']:g} % of its answers right"
        lines.append(f"{KEPT_WORDS[Kept(promise['kept'])]}: {share}.")
    lines += ["", f"Saved panel, on all {_cases(every)}: {measured_in_words(every)}."]
    others = [_in_four_digits(read_limit(text)) for text in facts["limits"]]
    within = " within these limits" if others else " within that price"
    judge = "Best single judge" + ("" if facts["single"]["is_best"] else within)
    which = "calibration " if promise is not None else "" if facts["n_parts"] else "hold-out "
    again = ", the new one by repeated choice" if facts["n_parts"] else ""
    lines.append(f"On the {_cases(facts['new'], which)}{again}:")
    for name, title in (("saved", "Saved panel"), ("new", "New panel"), ("single", judge)):
        if name == "new" and found_again:
            continue
        one = facts[name]
        who = one.get("asks") or one["name"]
        who = who if details else shorten(who, MOST_LETTERS, placeholder=" ...")
        lines.append(f"  {title} ({who}): {measured_in_words(one)}.")
    if facts["new"]["promised"] is not False and not found_again:
        p = "" if "p = " in facts["difference_in_words"] else f", p = {facts['p_value']:.2g}"
        what = "New" if facts["against"] == NEW else f"{facts['single']['name']} alone"
        lines.append(f"{what} minus saved: {facts['difference_in_words']}{p}.")
    if facts["against"] != NEW:
        lines.append(f"Beside the best single judge: {facts['new_beside_single']}")
    if facts["prices_changed"]:
        changes = [f"{name} {old:.4g} to {new:.4g}" for name, (old, new) in facts["prices_changed"].items()]
        lines.append(f"Prices of the saved panel that changed: {all_of(changes, most=6)}.")
    lines.append("If the saved panel was chosen on some of these cases, it looks better here than it is.")
    if facts["at_most"] and facts["new"]["promised"] is not False:
        rest = f", with {all_of(others)}" if others else ""
        lines.append(f"The new panel is the best found for at most {facts['at_most']:.4g} a case{rest}.")
    if facts["at_most"] and facts["standing"] in {Standing.BEATEN, Standing.OPEN}:
        most = shlex.join(["--limit", f"{PRICE}<={in_four_digits(facts['at_most']):.4g}"])
        single = "" if facts["against"] == NEW else f" --pick {SINGLE}"
        options = f"{most} {facts['new_options']}".rstrip() + single
        what = "the new panel" if facts["against"] == NEW else f"{facts['single']['name']} alone"
        lines.append(f"To write {what}: shortlist panel LOGS {options} --out NEW.json.")
    print_lines(lines)
