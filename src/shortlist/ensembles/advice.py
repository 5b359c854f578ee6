"""What to do by the test rows: take the committee, the best single classifier, or all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shortlist.arrays import Floats
from shortlist.ensembles.measured import Measured
from shortlist.results.told import Difference, Kind, difference_of

TEST_SHARE = 0.10
"""Share of all rows that is held out for the test (Section 5.1 of the paper)."""


@dataclass(frozen=True)
class Advice:
    """Which rule to take by the test rows: the cheapest that no dearer one beats beyond chance.

    `take`: its name among the rules. `kind`, `difference`: of the first rule beside the best single one, in
    the `objective`. `sentence`: what to do, and why. `names`: what the rules are called.
    """

    take: str
    kind: Kind
    difference: Difference
    objective: str
    sentence: str
    names: Mapping[str, str]

    def compared(self) -> str:
        """Say the difference with its interval, and how many more rows would tell; nothing of one member."""
        if self.kind is Kind.JUDGE:
            return ""
        what = self.objective.replace("-", " ")
        told = (
            self.difference.in_points(what)
            if what != "weighted"
            else self.difference.in_words("of the objective")
        )
        first = next(iter(self.names))
        said = f"{_capital(self.names[first])} minus {self.names['best_single']}: {told}."
        low, high = self.difference.interval
        if self.difference.n_more is None or low > 0 or high < 0:
            return said
        rows = f"{round(self.difference.n_more / TEST_SHARE, -1):,.0f}"
        return f"{said} About {rows} more rows would decide, if the difference stays."

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "take": self.take,
            "sentence": self.sentence,
            "compared": self.compared(),
            "names": dict(self.names),
            "kind": self.kind.value,
            "objective": self.objective,
            "difference": self.difference.gain,
            "difference_interval": list(self.difference.interval),
            "p_value": self.difference.p_value,
            "n_more_rows": self.difference.n_more,
        }


def advise(
    test: Mapping[str, Measured],
    names: Mapping[str, str],
    *,
    objective: str = "accuracy",
    worth: Floats | None = None,
    spent: float | None = None,
    most: float | None = None,
    verb: str = "Use",
) -> Advice:
    """Return which rule to take: the first, the best single one, or all members.

    `test`: what each does on the test rows: the first rule, ``best_single``, and perhaps ``full``. `names`:
    what they are called in a sentence. `objective`, `worth`: what is compared, as
    :func:`shortlist.ensembles.goals.weights.worth_of_right` returns it. `spent`: what a row costs by the
    first rule with early exit, where that is known. `most`: what members may cost together.
    """
    first = next(iter(test))
    one, single = test[first], test["best_single"]
    told, alone = names[first], names["best_single"]
    difference = difference_of(one.right, single.right, worth)
    cost, price = (one.price if spent is None else spent), single.price
    cheaper = one.size < single.size if cost is None or price is None else cost < price
    is_same = one.size == 1 and not difference.only_first and not difference.only_second
    kind = Kind.JUDGE if is_same else difference.kind(cheaper=cheaper)
    if not _keeps(single, most):
        kind = Kind.UNRIVALLED
    is_cheaper = kind is Kind.CHEAPER and difference.gain >= 0
    take, beside = (first, told) if kind.recommended or is_cheaper else ("best_single", alone)
    sentence = {
        Kind.UNRIVALLED: f"{verb} {told}: no single one keeps the limit on cost.",
        Kind.JUDGE: f"{verb} {alone}: no other member was chosen.",
        Kind.BETTER: f"{verb} {told}: it is better than {alone}, beyond chance.",
        Kind.WORSE: f"{verb} {alone}: {told} is worse, beyond chance.",
        Kind.AS_GOOD: f"{verb} {told}: it is as good as {alone} within a point, and cheaper.",
        Kind.CHEAPER: f"{verb} {alone} where accuracy counts most: {told} is cheaper, and may be worse.",
        Kind.UNDECIDED: f"{verb} {alone}: {told} is not better beyond chance.",
        Kind.NO_BETTER: f"{verb} {alone}: {told} is not better.",
    }[kind]
    if not one.size and take == first:
        sentence = f"{verb} {told}: {alone} is not better than the same answer to every row."
    elif is_cheaper:
        sentence = f"{verb} {told}: it is cheaper than {alone}, and not worse on the test rows."
    if "full" in test and test["full"].size > test[take].size and _keeps(test["full"], most):
        more = difference_of(test["full"].right, test[take].right, worth)
        if more.kind(cheaper=False) is Kind.BETTER:
            take, sentence = "full", f"{verb} {names['full']}: better than {beside}, beyond chance."
    return Advice(take, kind, difference, objective, sentence, names)


def _keeps(rule: Measured, most: float | None) -> bool:
    return most is None or rule.price is None or rule.price <= most


def _capital(text: str) -> str:
    return f"T{text[1:]}" if text.startswith("the ") else text
