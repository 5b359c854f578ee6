"""Rows of EMSCO and its opponents by set, method and split, and intervals over splits that share rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from shortlist._words import counted
from shortlist_papers.claims import PaperRows, Part, above, below, figure, once
from shortlist_papers.stage_opponents import BY_OTHER, FIGURES, OPPONENTS, OVERLAP, TUNING, by_split

if TYPE_CHECKING:
    import pandas as pd

EMSCO_NAME, SINGLE = "EMSCO", "Single-Stage"
BUDGETED = ("GM*", "CSTC*", "CO-T", "CaCT LASSO")
"""Names of the opponents that pay for features; all have a terminal reject option."""
METHODS = (EMSCO_NAME, *BUDGETED, SINGLE)
ALL = tuple(FIGURES)
OBJECTIVES = ("accuracy", "coverage", "cost")

LEAST_SPLITS = 10
"""Least number of splits of a set for a finding on differences between methods."""

ONE_SPLIT = 1.0
"""Overlap for the interval of one further split, as the paper's figures are of one split each."""

Measured: TypeAlias = "Mapping[str, Mapping[str, pd.DataFrame]]"
"""Accuracy, coverage and cost in per cent, and their sum: one row per split, by set and method."""


class EmscoRows(PaperRows):
    """Rows by kind, and the measures on new rows by set, method and split; each result is computed once."""

    @once
    def measured(self) -> Measured:
        """Return the sets on which all methods of the paper were measured on the same, enough splits."""
        part = self.of_kind("opponents")
        found: dict[str, dict[str, pd.DataFrame]] = {}
        for name in ALL if len(part) else ():
            methods = {
                str(method): by_split(of_method)
                for method, of_method in part[part["set"] == name].groupby("method")
            }
            if not set(METHODS) <= set(methods):
                continue
            splits = set.intersection(*(set(methods[method].index) for method in METHODS))
            if len(splits) >= LEAST_SPLITS:
                found[name] = {
                    method: values.loc[values.index.isin(splits)] for method, values in methods.items()
                }
        return found

    @once
    def stages(self) -> "dict[str, pd.DataFrame]":
        """Return the mean stage and the cost class of every feature on every split, by set."""
        part = self.of_kind("feature")
        return {
            str(name): of_set.groupby(["class", "feature", "split"])["stage"].mean().reset_index()
            for name, of_set in (part.groupby("set", sort=False) if len(part) else ())
        }


def by_the_other_rule(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return rows in which each opponent has the settings chosen by the rule that is not its own."""
    names = {
        BY_OTHER.format(OPPONENTS[name], tuning.other): OPPONENTS[name]
        for name, tuning in TUNING.items()
        if tuning.other is not None
    }
    kept = rows[~rows["method"].isin(names.values())]
    return kept.assign(method=kept["method"].replace(names))


def evidence_of(found: Measured) -> str:
    """Return the numbers of sets and splits behind a finding, in words."""
    n = [len(methods[EMSCO_NAME]) for methods in found.values()]
    splits = f"{min(n)} to {max(n)} plain splits" if min(n) < max(n) else counted(max(n), "plain split")
    return splits if len(n) == 1 else f"{counted(len(n), 'set')}, {splits} of each"


def mean(methods: "Mapping[str, pd.DataFrame]", method: str, measure: str) -> float:
    """Return the mean of a measure over the splits that have it, rounded so that equal means are equal.

    Accuracy is missing if no row is answered; on no split at all it is 0, as in Eq. 4.
    """
    values = methods[method][measure].dropna()
    return round(float(values.mean()), 9) if len(values) else 0.0


def silent_splits(values: "pd.DataFrame") -> int:
    """Return the number of splits on which a method answers no row."""
    return int((values["coverage"] == 0).sum())


def less(methods: "Mapping[str, pd.DataFrame]", one: str, other: str, measure: str) -> "pd.Series[float]":
    """Return the measure of one method minus the measure of another method, on each split."""
    return methods[one][measure] - methods[other][measure]


def over(values: "pd.Series[float]", limit: float = 0.0) -> Part:
    """Judge whether a mean over splits is above a limit; splits without the measure are left out."""
    there = values.dropna()
    return above(there, limit, OVERLAP) if len(there) else Part(False, False)


def under(values: "pd.Series[float]", limit: float = 0.0) -> Part:
    """Judge whether a mean over splits is below a limit; splits without the measure are left out."""
    there = values.dropna()
    return below(there, limit, OVERLAP) if len(there) else Part(False, False)


def printed_figure(values: "pd.Series[float]", printed: float, nothing: float) -> Part:
    """Judge a figure that the paper prints for one split, by the interval of one split."""
    there = values.dropna()
    return figure(there, printed, nothing, ONE_SPLIT) if len(there) else Part(False, False)
