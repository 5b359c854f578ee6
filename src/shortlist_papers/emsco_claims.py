"""Claims of :cite:t:`Hamilton2022`, in the paper's order."""

from functools import partial
from typing import Any

from shortlist.multistage.presets import SYNTHETIC30
from shortlist_papers import emsco_fronts as fronts
from shortlist_papers import emsco_judges as judges
from shortlist_papers import emsco_properties as properties
from shortlist_papers.claims import Need, PaperClaim
from shortlist_papers.emsco_judges import Check
from shortlist_papers.emsco_rows import (
    ALL,
    BUDGETED,
    EMSCO_NAME,
    LEAST_SPLITS,
    METHODS,
    SINGLE,
    EmscoRows,
)
from shortlist_papers.emsco_tables import PAPER_FRONTS, PAPER_SHARES

claim = partial(PaperClaim, read=EmscoRows.of)


def _splits(*names: str) -> tuple[Need, ...]:
    """Return the need of enough plain splits of each set; without names, of all four sets.

    The small scale lacks these splits.
    """
    where = {"kind": "opponents", "set": names or ALL, "method": METHODS}
    return (
        Need(len(names or ALL), "sets", "set", where),
        Need(LEAST_SPLITS, "splits of each set", "split", where, each="set"),
    )


NEED_ALL: dict[str, Any] = {"needs": _splits(), "scale": "medium"}
NEED_MOST: dict[str, Any] = {"needs": _splits("pima", "credit"), "scale": "small"}
_FEATURES = {"kind": "feature", "set": ALL}
NEED_STAGES: dict[str, Any] = {
    "needs": (
        Need(len(ALL), "sets", "set", _FEATURES),
        Need(LEAST_SPLITS, "splits of each set", "split", _FEATURES, each="set"),
    ),
    "scale": "medium",
}
_PANELS = {"kind": "recall", "rules": "paper"}
NEED_RUNS: dict[str, Any] = {
    "needs": (
        Need(len(PAPER_FRONTS) // 3, "sets", "set", _PANELS),
        Need(1, "counts after 500 generations", "c500", _PANELS),
        Need(2, "runs of each k", "seed", _PANELS, each="stages"),
    ),
    "scale": "small",
}
NEED_FRONTS: dict[str, Any] = {
    "needs": (Need(5, "splits of each set", "split", {"kind": "front"}, each="set"),), "scale": "medium",
}  # fmt: skip


def _plain(*names: str) -> dict[str, Any]:
    """Return the need of enough plain splits of each set whose complete front is compared with a run."""
    where = {"kind": "split", "set": names}
    needs = (
        Need(len(names), "sets", "set", where),
        Need(LEAST_SPLITS, "plain splits of each set", "split", where, each="set"),
    )
    return {"needs": needs, "scale": "medium"}


MONTH_MIN = 30 * 24 * 60 * 32
"""Number of minutes of a month on 32 cores."""

LOSS = 2.72
"""Points of accuracy that the paper's EMSCO loses against Single-Stage, on average."""


def _best(measure: str, one: str, sign: str, *others: str) -> Check:
    """Return the comparison of a method with the best of several other methods."""
    return measure, one, sign, tuple(other for other in others if other != one)


def _on(name: str, what: str, where: str, paper: str, *checks: Check) -> PaperClaim:
    title = "Synthetic30" if name == SYNTHETIC30 else name.capitalize()
    return claim(
        f"{title}: {what}", f"4.3.2, Figure {where}", paper, partial(judges.on_set, name=name, checks=checks),
        needs=_splits(name), scale="medium" if name == SYNTHETIC30 else "small",
    )  # fmt: skip


_SETS = (
    _on("pima", "EMSCO costs 80 % less than Single-Stage", "8", "20 %", ("cost", EMSCO_NAME, "=", 20.0)),
    _on("pima", "EMSCO's accuracy is 70.1 %", "8", "70.1 %", ("accuracy", EMSCO_NAME, "=", 70.1)),
    _on("pima", "EMSCO is less accurate than the other budgeted methods", "8", "",
        _best("accuracy", EMSCO_NAME, "<", *BUDGETED)),
    _on("pima", "CSTC* and GM* are more accurate, at lower coverage and higher cost", "8", "",
        *(check for one in ("CSTC*", "GM*") for check in (
            ("accuracy", one, ">", EMSCO_NAME), ("coverage", one, "<", EMSCO_NAME), ("cost", one, ">",
            EMSCO_NAME)))),
    _on("pima", "CSTC* has the highest accuracy", "8, 9", "", _best("accuracy", "CSTC*", ">", *METHODS)),
    _on("pima", "CO-T costs more, covers less and is slightly more accurate", "8",
        "twice, less than 2 % more",
        ("cost", "CO-T", ">", EMSCO_NAME), ("coverage", "CO-T", "<", EMSCO_NAME), ("accuracy", "CO-T",
        ">", EMSCO_NAME)),
    _on("pima", "CaCT LASSO does not reduce cost beside other budgeted methods", "8", "",
        _best("cost", "CaCT LASSO", ">", EMSCO_NAME, "GM*", "CSTC*", "CO-T")),
    _on("credit", "EMSCO costs 79 % less than Single-Stage", "9", "21 %", ("cost", EMSCO_NAME, "=", 21.0)),
    _on("credit", "EMSCO's accuracy is 82 %", "9", "82 %", ("accuracy", EMSCO_NAME, "=", 82.0)),
    _on("credit", "GM* has a low coverage and a highly inflated cost", "9", "",
        ("coverage", "GM*", "<", EMSCO_NAME), ("cost", "GM*", ">", EMSCO_NAME)),
    _on("credit", "CSTC* has the highest accuracy, and a low coverage", "9", "",
        _best("accuracy", "CSTC*", ">", *METHODS), ("coverage", "CSTC*", "<", EMSCO_NAME)),
    _on("credit", "CO-T is accurate and covers much, at a high cost", "9", "",
        ("accuracy", "CO-T", ">", EMSCO_NAME), _best("coverage", "CO-T", ">", "GM*", "CSTC*"),
        ("cost", "CO-T", ">", EMSCO_NAME)),
    _on("credit", "EMSCO covers more than CSTC* and is less accurate", "9", "",
        ("coverage", EMSCO_NAME, ">", "CSTC*"), ("accuracy", EMSCO_NAME, "<", "CSTC*")),
    _on("credit", "EMSCO and CSTC* seem strongest", "9", "",
        *(_best("aggregate", one, ">", *(other for other in METHODS if other not in {EMSCO_NAME, "CSTC*"}))
          for one in (EMSCO_NAME, "CSTC*"))),
    _on("heart", "GM* has the least cost", "10", "", _best("cost", "GM*", "<", *METHODS)),
    _on("heart", "GM* costs 81 % less than Single-Stage and 65 % less than CSTC*", "10", "19 %",
        ("cost", "GM*", "=", 19.0), ("cost", "GM*", "<", "CSTC*")),
    _on("heart", "GM* covers more than CSTC* only", "10", "",
        ("coverage", "GM*", ">", "CSTC*"), _best("coverage", "GM*", "<", "CaCT LASSO", "CO-T", EMSCO_NAME)),
    _on("heart", "CSTC* is the most accurate", "10", "remarkably high", _best("accuracy", "CSTC*", ">",
        *METHODS)),
    _on("heart", "CSTC* answers about half of the rows", "10", "about half", ("coverage", "CSTC*", "=",
        50.0)),
    _on("heart", "EMSCO's accuracy is 85.1 %", "10", "85.1 %", ("accuracy", EMSCO_NAME, "=", 85.1)),
    _on("heart", "EMSCO costs less than CO-T and Single-Stage", "10", "",
        _best("cost", EMSCO_NAME, "<", "CO-T", SINGLE)),
    _on("heart", "CaCT LASSO is cheap and accurate, and covers least but for one", "10", "",
        _best("cost", "CaCT LASSO", "<", "CO-T", SINGLE), ("accuracy", "CaCT LASSO", ">", EMSCO_NAME),
        _best("coverage", "CaCT LASSO", "<", "CO-T", EMSCO_NAME), ("coverage", "CaCT LASSO", ">", "CSTC*")),
    _on(SYNTHETIC30, "EMSCO costs 62 % less than Single-Stage", "11", "38 %", ("cost", EMSCO_NAME, "=",
        38.0)),
    _on(SYNTHETIC30, "EMSCO dominates CSTC*", "11", "", ("", EMSCO_NAME, "dominates", "CSTC*")),
    _on(SYNTHETIC30, "GM* has the least cost, covers much, and is 44.2 % accurate", "11", "44.2 %",
        _best("cost", "GM*", "<", *METHODS), _best("coverage", "GM*", ">", "CSTC*", "CaCT LASSO"),
        ("accuracy", "GM*", "=", 44.2)),
    _on(SYNTHETIC30, "CaCT LASSO has the second lowest cost, the highest accuracy and rejects 35 %", "11",
        "65 % answered", ("cost", "CaCT LASSO", ">", "GM*"),
        _best("cost", "CaCT LASSO", "<", EMSCO_NAME, "CSTC*", "CO-T", SINGLE),
        _best("accuracy", "CaCT LASSO", ">", *METHODS), ("coverage", "CaCT LASSO", "=", 65.0)),
    _on(SYNTHETIC30, "CO-T is accurate and covers much", "11", "", _best("accuracy", "CO-T", ">",
        EMSCO_NAME, "GM*"),
        _best("coverage", "CO-T", ">", "CSTC*", "CaCT LASSO")),
    _on(SYNTHETIC30, "CO-T does not reduce cost beside Single-Stage", "11", "",
        ("cost", "CO-T", ">", 99.0)),
)  # fmt: skip

CLAIMS = (
    claim("A higher threshold means more accuracy, less coverage and more cost", "2, Figure 2", "",
              judges.thresholds),
    claim("Where answers need a probability, at least that share of them is right", "2.2.1, Figure 2", "",
          judges.confident_answers),
    claim("The number of stage assignments approaches k^n", "Theorem 1", "ratio 1", properties.growth),
    claim("Random assignments that answer few rows well are cheaper than those that answer many badly",
              "2.2, Figure 3", "", fronts.landscape),
    claim("Elites never lose a globally non-dominated chromosome", "Property 1, 4.2",
              "all curves are monotonic",
          fronts.keeps, **NEED_RUNS),
    claim("Selection is likelier for a higher rank, and in a rank for a larger norm", "Property 2", "always",
          properties.selection),
    claim("What maximises fitness over all assignments is non-dominated", "Property 3", "always",
          properties.fittest),
    claim("One step in a chromosome may change much", "3.4, Figure 6", "", judges.volatile),
    claim("The complete fronts take a month on 32 cores", "4.2", "a month",
          partial(fronts.minutes, kind="front", low=MONTH_MIN / 2, high=MONTH_MIN),
          "No row has these seconds."),
    claim("EMSCO finds global optima in various spaces", "abstract, 4.2, 5", "in all nine",
              fronts.several_optima, **_plain(*(name for name, _ in PAPER_SHARES))),
    claim("500 generations take 30 to 45 minutes of processor time", "4.2", "30 to 45 min",
          partial(fronts.minutes, kind="recall", low=30, high=45), "No row has these seconds.", **NEED_RUNS),
    claim("EMSCO holds 80 % of Heart's front, k = 4", "4.2", "80 %",
          partial(fronts.share, name="heart", printed=80), **_plain("heart")),
    claim("EMSCO holds over 20 % of Credit's front, k = 4", "4.2", "over 20 %",
          partial(fronts.share, name="credit", printed=20, at_least=True), **_plain("credit")),
    claim("The complete fronts have these sizes", "Table 6", "18 to 171", fronts.sizes, **NEED_FRONTS),
    claim("Fronts are small beside the spaces", "4.2", "171 of 250 million", fronts.sparse, **NEED_FRONTS),
    claim("EMSCO is non-dominated in all experiments", "4.3.2", "4 of 4", judges.nondominated, **NEED_ALL),
    claim("EMSCO has the lowest cost on Pima and Credit", "4.3.2, 5", "2 of 4 sets",
          partial(judges.first_in, measure="cost", among=METHODS, wanted=("pima", "credit")), **NEED_MOST),
    claim("Who is cheaper covers markedly less, or is too inaccurate", "4.3.2", "", judges.excused,
          **NEED_ALL),
    claim("EMSCO has the highest coverage of the budgeted methods", "4.3.2, 5", "4 of 4",
          partial(judges.first_in, measure="coverage", among=(EMSCO_NAME, *BUDGETED), wanted=ALL),
          **NEED_ALL),
    claim("EMSCO's accuracy exceeds the threshold", "4.3.2, 5", "4 of 4", judges.threshold, **NEED_ALL),
    claim("EMSCO answers 93.4 % of the rows", "4.3.2", "93.4 %",
          partial(judges.mean_of_sets, what="coverage", printed=93.4), **NEED_ALL),
    claim("EMSCO is 2.72 % less accurate than Single-Stage", "4.3.2", "2.72 %",
          partial(judges.mean_of_sets, what="accuracy", printed=LOSS), **NEED_ALL),
    claim("EMSCO is comparable in accuracy to Single-Stage in all experiments", "4.3.2", "",
          partial(judges.comparable, most=LOSS), **NEED_ALL),
    claim("EMSCO speeds classification up by 475 %", "4.3.2", "475 %; its costs allow 341 %",
          partial(judges.mean_of_sets, what="speed", printed=475), **NEED_ALL),
    claim("GM* loses 45.2 % of the answers", "4.3.2", "45.2 %",
          partial(judges.mean_of_sets, what="lost", printed=45.2, method="GM*"), **NEED_ALL),
    claim("CSTC* loses 36.4 % of the answers", "4.3.2", "36.4 %",
          partial(judges.mean_of_sets, what="lost", printed=36.4, method="CSTC*"), **NEED_ALL),
    claim("EMSCO has a strong sum", "4.3.2, Figure 12", "", judges.strong_sums,
          **NEED_ALL),
    claim("Cost class and stage are poorly associated", "4.3.3, Figure 13", "", judges.association,
          **NEED_STAGES),
    claim("Features of the greatest cost class are bought early", "4.3.3, Figure 13", "", judges.early,
          **NEED_STAGES),
    claim("Synthetic30: features of the two cheapest classes are bought in the same stages",
               "4.3.3, Figure 13", "", partial(judges.together, name=SYNTHETIC30),
          **NEED_STAGES),
    *_SETS,
)  # fmt: skip
"""Claims of the abstract, the sections, the captions and the conclusion; claims on single sets come last."""
