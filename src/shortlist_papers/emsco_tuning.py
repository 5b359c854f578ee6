"""Verdicts on :cite:t:`Hamilton2022` under each rule that may choose the settings of its opponents."""

from typing import TYPE_CHECKING

from shortlist_papers.claims import FAILS, HOLDS, IN_PART, UNMEASURED
from shortlist_papers.emsco_claims import CLAIMS
from shortlist_papers.emsco_rows import EmscoRows, by_the_other_rule
from shortlist_papers.paper import ResultTable, Rows, claims_table
from shortlist_papers.stage_opponents import OPPONENTS, TUNING

if TYPE_CHECKING:
    import pandas as pd


def tuning_tables(rows: "pd.DataFrame") -> list[ResultTable]:
    """Return the rule of each opponent, and the verdicts under the other rule if that was measured."""
    made: Rows = [
        {
            "opponent": OPPONENTS[name], "settings are chosen by": tuning.rule, "reason": tuning.reason,
            "measured beside it": tuning.other,
        }
        for name, tuning in TUNING.items()
    ]  # fmt: skip
    tables = [
        ResultTable(
            "tuning", "Rules of tuning", made,
            "accuracy: the share of all validation rows whose most probable class is "
            "right, without a reject. "
            "sum: coverage + conclusive accuracy + 1 - cost / price of all features "
            "on the validation rows. Of "
            "equal settings the dearer price on features, and then the fewer trees, is kept.",
        )
    ]  # fmt: skip
    if "method" in rows and EmscoRows.of(by_the_other_rule(rows)).measured():
        tables.append(verdicts_by_rule(rows))
    return tables


def verdicts_by_rule(rows: "pd.DataFrame") -> ResultTable:
    """Return the number of verdicts under each rule, and the claims whose verdict depends on it."""
    ours, others = (claims_table(CLAIMS, one).rows for one in (rows, by_the_other_rule(rows)))
    found: Rows = [
        {
            "claim": f"{sum(row['verdict'] == verdict for row in ours)} and "
            f"{sum(row['verdict'] == verdict for row in others)} claims",
            "by accuracy": verdict, "by the sum": verdict,
        }
        for verdict in (HOLDS, IN_PART, FAILS, UNMEASURED)
    ]  # fmt: skip
    found += [
        {"claim": own["claim"], "by accuracy": own["verdict"], "by the sum": other["verdict"]}
        for own, other in zip(ours, others, strict=True)
        if own["verdict"] != other["verdict"]
    ]
    return ResultTable(
        "verdicts-by-rule", "Verdicts that depend on the rule by which GM* and CSTC* are tuned", found,
        "The first lines count the claims with each verdict by accuracy, and by the sum.",
    )  # fmt: skip
