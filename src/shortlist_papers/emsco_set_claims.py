"""What Section 4.3.2 of :cite:t:`Hamilton2022` says about each set (Figures 8 to 11)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from shortlist._words import all_of
from shortlist.multistage.presets import SYNTHETIC30
from shortlist_papers.claims import Claim, Finding
from shortlist_papers.emsco_judges import (
    BUDGETED,
    EMSCO_NAME,
    METHODS,
    SINGLE,
    dominating,
    evidence_of,
    is_near,
    means_of_sets,
    three_figures,
)

if TYPE_CHECKING:
    import pandas as pd


def _compare(
    rows: "pd.DataFrame",
    name: str,
    judge: Callable[["pd.DataFrame"], tuple[str, tuple[bool, ...]]],
) -> Finding | None:
    """Judge what the paper says about one set."""
    found = means_of_sets(rows)
    if name not in found:
        return None
    here, parts = judge(found[name])
    return Finding(
        here, tuple(map(bool, parts)), evidence_of(rows, [name]), "" if all(parts) else _free(found[name])
    )


def _free(means: "pd.DataFrame") -> str:
    free = [one for one in BUDGETED if means.loc[one, "cost"] == 0]
    return (
        f"{all_of(free)} buy nothing: the larger class alone is confident, and the sum by which they choose "
        "their settings values that." if free else ""
    )  # fmt: skip


def _shown(means: "pd.DataFrame", measure: str, *methods: str) -> str:
    return ", ".join(f"{one} {means.loc[one, measure]:.1f}" for one in methods)


def _figure(name: str, measure: str, method: str, printed: float, spread: float = 5.0) -> Any:
    """Judge a printed figure in per cent: it holds within so many points."""

    def judge(means: "pd.DataFrame") -> tuple[str, tuple[bool, ...]]:
        value = float(means.loc[method, measure])
        return f"{value:.1f} %", (is_near(value, printed, spread),)

    return partial(_compare, name=name, judge=judge)


def _order(name: str, measure: str, larger: Sequence[str], smaller: Sequence[str]) -> Any:
    """Judge whether methods have larger means than others, of all methods that the claim names."""

    def judge(means: "pd.DataFrame") -> tuple[str, tuple[bool, ...]]:
        values = means[measure]
        parts = tuple(bool(values[one] > values[list(smaller)].max()) for one in larger)
        return f"{_shown(means, measure, *larger, *smaller)} %", parts

    return partial(_compare, name=name, judge=judge)


def _text(name: str, judge: Callable[["pd.DataFrame"], tuple[str, tuple[bool, ...]]]) -> Any:
    return partial(_compare, name=name, judge=judge)


def _times(means: "pd.DataFrame") -> float:
    """Return how many times as much as EMSCO CO-T costs."""
    cost = float(means.loc[EMSCO_NAME, "cost"])
    return float(means.loc["CO-T", "cost"]) / cost if cost else float("inf")


SET_CLAIMS = (
    Claim(
        "Pima: EMSCO costs 80 % less than Single-Stage",
        "4.3.2, Figure 8",
        "20 %",
        _figure("pima", "cost", EMSCO_NAME, 20.0),
    ),
    Claim(
        "Pima: EMSCO's accuracy is 70.1 %",
        "4.3.2, Figure 8",
        "70.1 %",
        _figure("pima", "accuracy", EMSCO_NAME, 70.1, 2.0),
    ),
    Claim(
        "Pima: CSTC* and GM* are more accurate, at lower coverage and higher cost",
        "4.3.2, Figure 8",
        "",
        _text(
            "pima",
            lambda m: (
                f"{_shown(m, 'accuracy', 'CSTC*', 'GM*', EMSCO_NAME)} %",
                tuple(
                    bool(
                        m.loc[one, "accuracy"] > m.loc[EMSCO_NAME, "accuracy"]
                        and m.loc[one, "coverage"] < m.loc[EMSCO_NAME, "coverage"]
                        and m.loc[one, "cost"] > m.loc[EMSCO_NAME, "cost"]
                    )
                    for one in ("CSTC*", "GM*")
                ),
            ),
        ),
    ),
    Claim(
        "Pima: CO-T costs twice as much, covers less and is less than 2 % more accurate",
        "4.3.2, Figure 8",
        "",
        _text(
            "pima",
            lambda m: (
                (
                    f"{_times(m):.1f} times, "
                    f"{m.loc['CO-T', 'coverage'] - m.loc[EMSCO_NAME, 'coverage']:.1f} "
                    f"and {m.loc['CO-T', 'accuracy'] - m.loc[EMSCO_NAME, 'accuracy']:.1f} points"
                ),
                (
                    1.5 <= _times(m) <= 2.5,
                    m.loc["CO-T", "coverage"] < m.loc[EMSCO_NAME, "coverage"],
                    0 < m.loc["CO-T", "accuracy"] - m.loc[EMSCO_NAME, "accuracy"] < 2,
                ),
            ),
        ),
    ),
    Claim(
        "Pima: CaCT LASSO does not reduce cost beside other budgeted methods",
        "4.3.2, Figure 8",
        "",
        _order("pima", "cost", ("CaCT LASSO",), (EMSCO_NAME, "GM*", "CSTC*", "CO-T")),
    ),
    Claim(
        "Credit: EMSCO costs 79 % less than Single-Stage",
        "4.3.2, Figure 9",
        "21 %",
        _figure("credit", "cost", EMSCO_NAME, 21.0),
    ),
    Claim(
        "Credit: EMSCO's accuracy is 82 %",
        "4.3.2, Figure 9",
        "82 %",
        _figure("credit", "accuracy", EMSCO_NAME, 82.0, 2.0),
    ),
    Claim(
        "Credit: GM* has a low coverage and a highly inflated cost",
        "4.3.2, Figure 9",
        "",
        _text(
            "credit",
            lambda m: (
                f"coverage {m.loc['GM*', 'coverage']:.1f}, cost {m.loc['GM*', 'cost']:.1f} %",
                (m.loc["GM*", "coverage"] < 80, m.loc["GM*", "cost"] > m.loc[EMSCO_NAME, "cost"]),
            ),
        ),
    ),
    Claim(
        "Credit: CSTC* has the highest accuracy, and a low coverage",
        "4.3.2, Figure 9",
        "",
        _text(
            "credit",
            lambda m: (
                (
                    f"accuracy {_shown(m, 'accuracy', 'CSTC*')}, best "
                    f"{m.loc[list(METHODS), 'accuracy'].max():.1f}; coverage "
                    f"{m.loc['CSTC*', 'coverage']:.1f} %"
                ),
                (
                    m.loc["CSTC*", "accuracy"] >= m.loc[list(METHODS), "accuracy"].max(),
                    m.loc["CSTC*", "coverage"] < 80,
                ),
            ),
        ),
    ),
    Claim(
        "Credit: CO-T is accurate and covers much, at a high cost",
        "4.3.2, Figure 9",
        "",
        _text(
            "credit",
            lambda m: (
                f"{three_figures(m, 'CO-T')} %",
                (
                    m.loc["CO-T", "accuracy"] > m.loc[EMSCO_NAME, "accuracy"],
                    m.loc["CO-T", "coverage"] > 90,
                    m.loc["CO-T", "cost"] > m.loc[EMSCO_NAME, "cost"],
                ),
            ),
        ),
    ),
    Claim(
        "Heart: GM* has the least cost",
        "4.3.2, Figure 10",
        "19 %, 65 % less than CSTC*",
        _text(
            "heart",
            lambda m: (
                f"{_shown(m, 'cost', 'GM*', 'CSTC*')}, least {m.loc[list(METHODS), 'cost'].min():.1f} %",
                (
                    m.loc["GM*", "cost"] <= m.loc[list(METHODS), "cost"].min(),
                    m.loc["GM*", "cost"] < m.loc["CSTC*", "cost"],
                ),
            ),
        ),
    ),
    Claim(
        "Heart: GM* covers more than CSTC* only",
        "4.3.2, Figure 10",
        "",
        _text(
            "heart",
            lambda m: (
                _shown(m, "coverage", "GM*", "CSTC*", "CaCT LASSO", "CO-T", EMSCO_NAME) + " %",
                (
                    m.loc["GM*", "coverage"] > m.loc["CSTC*", "coverage"],
                    m.loc["GM*", "coverage"] < m.loc[["CaCT LASSO", "CO-T", EMSCO_NAME], "coverage"].min(),
                ),
            ),
        ),
    ),
    Claim(
        "Heart: CSTC* answers about half of the rows",
        "4.3.2, Figure 10",
        "about half",
        _figure("heart", "coverage", "CSTC*", 50.0, 10.0),
    ),
    Claim(
        "Heart: EMSCO's accuracy is 85.1 %",
        "4.3.2, Figure 10",
        "85.1 %",
        _figure("heart", "accuracy", EMSCO_NAME, 85.1, 2.0),
    ),
    Claim(
        "Heart: EMSCO costs less than CO-T and Single-Stage",
        "4.3.2, Figure 10",
        "",
        _order("heart", "cost", ("CO-T", SINGLE), (EMSCO_NAME,)),
    ),
    Claim(
        "Synthetic30: EMSCO costs 62 % less than Single-Stage",
        "4.3.2, Figure 11",
        "38 %",
        _figure(SYNTHETIC30, "cost", EMSCO_NAME, 38.0),
    ),
    Claim(
        "Synthetic30: EMSCO dominates CSTC*",
        "4.3.2, Figure 11",
        "",
        _text(
            SYNTHETIC30,
            lambda m: (
                f"{three_figures(m, EMSCO_NAME)} against {three_figures(m, 'CSTC*')} %",
                (EMSCO_NAME in dominating(m, "CSTC*"),),
            ),
        ),
    ),
    Claim(
        "Synthetic30: GM* is cheap and covers much, at 44.2 % accuracy",
        "4.3.2, Figure 11",
        "44.2 %",
        _text(
            SYNTHETIC30,
            lambda m: (
                f"{three_figures(m, 'GM*')} %",
                (
                    m.loc["GM*", "cost"] <= m.loc[list(METHODS), "cost"].min(),
                    m.loc["GM*", "coverage"] > 80,
                    m.loc["GM*", "accuracy"] < 65,
                ),
            ),
        ),
    ),
    Claim(
        "Synthetic30: CaCT LASSO has the second lowest cost, the highest accuracy and rejects 35 %",
        "4.3.2, Figure 11",
        "65 % answered",
        _text(
            SYNTHETIC30,
            lambda m: (
                f"{three_figures(m, 'CaCT LASSO')} %",
                (
                    (m.loc[list(METHODS), "cost"] < m.loc["CaCT LASSO", "cost"]).sum() == 1,
                    m.loc["CaCT LASSO", "accuracy"] >= m.loc[list(METHODS), "accuracy"].max(),
                    is_near(m.loc["CaCT LASSO", "coverage"], 65, 10),
                ),
            ),
        ),
    ),
    Claim(
        "Synthetic30: CO-T does not reduce cost beside Single-Stage",
        "4.3.2, Figure 11",
        "",
        _figure(SYNTHETIC30, "cost", "CO-T", 100.0, 15.0),
    ),
)
"""What Section 4.3.2 says set by set."""
