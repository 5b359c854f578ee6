"""Every claim of :cite:t:`Hamilton2022`, in the paper's order."""

from functools import partial

from shortlist_papers.claims import Claim, unmeasured
from shortlist_papers.emsco_judges import (
    ALL,
    BUDGETED,
    EMSCO_NAME,
    METHODS,
    SINGLE,
    association,
    comparable,
    excused,
    first_in,
    keeps,
    mean_of_sets,
    nondominated,
    several_optima,
    share,
    sizes,
    sparse,
    speed,
    strong_sums,
    threshold,
    volatile,
)

CLAIMS = (
    Claim(
        "Elites never lose a globally non-dominated chromosome",
        "Property 1, 4.2",
        "all curves are monotonic",
        keeps,
    ),
    Claim("EMSCO finds global optima in various spaces", "abstract, 4.2, 5", "in all nine", several_optima),
    Claim(
        "EMSCO holds 80 % of Heart's front, k = 4", "4.2", "80 %", partial(share, name="heart", least=75.0)
    ),
    Claim(
        "EMSCO holds over 20 % of Credit's front, k = 4",
        "4.2",
        "over 20 %",
        partial(share, name="credit", least=20.0),
    ),
    Claim("The complete fronts have these sizes", "Table 6", "18 to 171", sizes),
    Claim("Fronts are small beside the spaces", "4.2", "171 of 250 million", sparse),
    Claim(
        "500 generations take 30 to 45 minutes of processor time",
        "4.2",
        "30 to 45 min",
        unmeasured,
        "Rows hold no seconds of these runs.",
    ),
    Claim("One step in a chromosome may change much", "3.4, Figure 6", "", volatile),
    Claim("EMSCO is non-dominated in all experiments", "4.3.2", "4 of 4", nondominated),
    Claim(
        "EMSCO has the lowest cost on Pima and Credit",
        "4.3.2",
        "2 of 4 sets",
        partial(first_in, measure="cost", among=METHODS, sign=-1, wanted=("pima", "credit")),
    ),
    Claim("Who is cheaper covers markedly less, or is too inaccurate", "4.3.2", "", excused),
    Claim(
        "EMSCO has the highest coverage of the budgeted methods",
        "4.3.2, 5",
        "4 of 4",
        partial(first_in, measure="coverage", among=(EMSCO_NAME, *BUDGETED), sign=1, wanted=ALL),
    ),
    Claim("EMSCO's accuracy exceeds the threshold", "4.3.2", "4 of 4", threshold),
    Claim(
        "EMSCO answers 93.4 % of the rows",
        "4.3.2",
        "93.4 %",
        partial(
            mean_of_sets,
            value=lambda m: float(m.loc[EMSCO_NAME, "coverage"]),
            printed=93.4,
            spread=2,
            unit="%",
        ),
    ),
    Claim(
        "EMSCO is 2.72 % less accurate than Single-Stage",
        "4.3.2",
        "2.72 %",
        partial(
            mean_of_sets,
            value=lambda m: float(m.loc[SINGLE, "accuracy"] - m.loc[EMSCO_NAME, "accuracy"]),
            printed=2.72,
            spread=1.5,
            unit="points",
        ),
    ),
    Claim("EMSCO is comparable in accuracy to Single-Stage in all experiments", "4.3.2", "", comparable),
    Claim(
        "EMSCO speeds classification up by 475 %",
        "4.3.2",
        "475 %; its costs allow 341 %",
        partial(mean_of_sets, value=speed, printed=475, spread=75, unit="% more"),
    ),
    Claim(
        "GM* loses 45.2 % of the answers",
        "4.3.2",
        "45.2 %",
        partial(
            mean_of_sets,
            value=lambda m: 100 - float(m.loc["GM*", "coverage"]),
            printed=45.2,
            spread=5,
            unit="%",
        ),
    ),
    Claim(
        "CSTC* loses 36.4 % of the answers",
        "4.3.2",
        "36.4 %",
        partial(
            mean_of_sets,
            value=lambda m: 100 - float(m.loc["CSTC*", "coverage"]),
            printed=36.4,
            spread=5,
            unit="%",
        ),
    ),
    Claim("EMSCO has a strong sum", "4.3.2, Figure 12", "", strong_sums),
    Claim("Cost class and stage are poorly associated", "4.3.3, Figure 13", "", association),
)
"""The claims about all sets."""
