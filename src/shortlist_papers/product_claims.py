"""Claims of :cite:t:`Xue2018`, in the paper's order."""

from functools import partial

from shortlist_papers import product_judges as judges
from shortlist_papers import product_times as times
from shortlist_papers.claims import Need, PaperClaim
from shortlist_papers.product_judges import SMALL
from shortlist_papers.product_rows import LVAT, SPLOT, ProductRows
from shortlist_papers.product_runs import BY_TEXT, CWMOIP, EPSILON, LINUX, NAMES, PAPER_SECONDS, PLANE_SECONDS

claim = partial(PaperClaim, read=ProductRows.of)

EVOLVED = {"kind": "evolved", "method": "ibed"}
SMALL_RUNS = (Need(30, "runs of IBED on each small system", "seed", EVOLVED | {"system": SMALL}, "system"),)
LARGE = ("e-shop", "ecos", "uclinux")
LARGE_RUNS = Need(30, "runs of IBED on each larger system", "seed", EVOLVED | {"system": LARGE}, "system")
LINUX_RUNS = Need(3, "runs of IBED on Linux", "seed", EVOLVED | {"system": LINUX})
IBEA_RUNS = (
    Need(30, "runs of IBEA on eCos", "seed", {"kind": "evolved", "method": "ibea", "system": "ecos"}),
)
SPLOT_POINTS = Need(
    1000, "reference points on each system of SPLOT", "reference_points",
    {"kind": "solrep", "system": SPLOT}, "system", largest=True,
)  # fmt: skip
LVAT_POINTS = Need(
    1500, "reference points on eCos and uClinux", "reference_points",
    {"kind": "solrep", "system": ("ecos", "uclinux")}, "system", largest=True,
)  # fmt: skip
LINUX_POINTS = Need(
    50, "reference points on Linux", "reference_points", {"kind": "solrep", "system": LINUX}, largest=True
)
MOST_ROWS = (*SMALL_RUNS, LARGE_RUNS, SPLOT_POINTS, LVAT_POINTS)
"""Extent of Table 5 without Linux; only rows with the paper's 1,500 points count for claims about most
rows.
"""
ALL_ROWS = (*MOST_ROWS, LINUX_RUNS, LINUX_POINTS)
"""Extent of Table 5; parts with fewer reference points than the paper's are not sure."""
LARGE_ROWS = (LARGE_RUNS, SPLOT_POINTS, LVAT_POINTS)
ON_LINUX = (LINUX_RUNS, LINUX_POINTS)
COMPLETE = tuple(
    Need(
        4,
        f"sets of attributes of {NAMES[name]}",
        "number",
        {"kind": "complete", "method": CWMOIP, "system": name},
    )
    for name in SMALL
)
PRINTED = (
    Need(
        4, "sets of attributes of JCS", "number",
        {"kind": "printed", "objectives": 4, "method": EPSILON, "system": "jcs"},
    ),
)  # fmt: skip

_BOTH = "JCS 5 s; Web Portal 613 and 218 s"

CLAIMS = (
    claim("On larger systems SolRep finds significantly more non-dominated solutions in similar or less time",
          "abstract, 6, 8", "most cases", partial(judges.cheap, names=("e-shop", *LVAT), rich=True),
          needs=LARGE_ROWS),
    claim("A product is a non-empty set of features", "Definition 1", "all", times.not_empty),
    claim("The inequalities of each relation have the products of its formula", "3.2, Lemmas", "six lemmas",
          times.lemmas),
    claim("JCS deselects 2 to 10 features, so that CWMOIP has 9 outermost loops for 13", "4.2",
          "[2, 10], 9 for 13", times.bounds),
    claim("Each point of SolRep is a true optimum", "1, 5, 7", "guaranteed", judges.true_optima,
          needs=(SPLOT_POINTS,)),
    claim("ε-constraint and CWMOIP find all non-dominated solutions on small systems", "RQ1, Table 3",
              "8 of 8 sets",
          times.complete_fronts,
          needs=COMPLETE),
    claim("Thirty runs of IBED miss points of each complete front but that of JCS 2", "RQ1, Table 4",
              "all but JCS 2",
          judges.whole,
          needs=SMALL_RUNS),
    claim("IBED finds about 70 % of the front of JCS", "RQ1, Table 4", "70 %",
          partial(judges.coverage, name=SMALL[0], printed=70),
          needs=SMALL_RUNS),
    claim("IBED finds about 20 % of the front of Web Portal", "RQ1, Table 4", "20 %",
          partial(judges.coverage, name=SMALL[1], printed=20),
          needs=SMALL_RUNS),
    claim("Runs of IBED share solutions on Web Portal", "RQ2", "one run 35, thirty 232",
          partial(judges.shared, name="web-portal"),
          needs=SMALL_RUNS),
    claim("On JCS thirty runs of IBED bring only several more solutions than one", "RQ2", "several",
          partial(judges.shared, name="jcs", most_times=2),
          needs=SMALL_RUNS),
    claim("CWMOIP is faster than ε-constraint, as printed, the cost outermost", "RQ2", _BOTH,
          partial(times.faster, kind="printed", order=BY_TEXT),
          needs=PRINTED),
    claim("CWMOIP is faster than ε-constraint, as printed, the widest range minimised", "RQ2", _BOTH,
          partial(times.faster, kind="printed"),
          needs=PRINTED),
    claim("CWMOIP is faster than ε-constraint, our methods", "RQ2", _BOTH, partial(times.faster,
              kind="complete"),
          needs=COMPLETE),
    claim("From 12 to 43 features time increases a hundredfold, as printed, the cost outermost", "RQ2",
          "at least 100 times", partial(times.grows, kind="printed", order=BY_TEXT),
          needs=PRINTED),
    claim("From 12 to 43 features time increases a hundredfold, as printed, the widest range minimised",
          "RQ2", "at least 100 times", partial(times.grows, kind="printed"),
          needs=PRINTED),
    claim("From 12 to 43 features time increases a hundredfold, our methods", "RQ2", "at least 100 times",
          partial(times.grows, kind="complete"),
          needs=COMPLETE),
    claim("CWMOIP does not end on E-Shop within hours", "RQ2, 8", "no end",
          partial(times.unfinished, name="e-shop", method=CWMOIP)),
    claim("SolRep finds more unique non-dominated points than IBED", "RQ3, Table 5",
              "all but JCS 2 and E-Shop",
          partial(judges.in_rows, what="richer"),
          needs=MOST_ROWS),
    claim("IBED finds all of JCS 2, SolRep does not", "RQ3, Table 5", "9 points", judges.small_front,
          needs=(*SMALL_RUNS, SPLOT_POINTS)),
    claim("SolRep finds more than IBEA on eCos", "RQ3, Table 6", "2 of 2", partial(judges.in_rows,
              what="richer", method="ibea", in_most=False, names=("ecos",)),
          needs=(*IBEA_RUNS, LVAT_POINTS)),
    claim("IBEA performs better than IBED on eCos, and worse on other systems", "6.1, Table 6", "",
          judges.beside_ibea,
          needs=(*IBEA_RUNS, LARGE_RUNS)),
    claim("No point of SolRep is dominated by IBED's", "RQ3", "all rows", partial(judges.in_rows,
              what="kept", in_most=False),
          needs=ALL_ROWS),
    claim("Most points of IBED are dominated by SolRep's", "RQ3", "|B| ≫ |A ∩ B| + N_U(B)",
          partial(judges.in_rows,
              what="dominates"),
          needs=MOST_ROWS),
    claim("Most points of IBED on Linux are dominated by SolRep's", "1, RQ3, RQ4", "2 of 2 sets",
              judges.dominated,
          needs=ON_LINUX),
    claim("E-Shop 2: 1,000 reference points find 742, fewer than IBED", "RQ3", "742 of 1,000",
          partial(judges.found_of, n_points=1000, printed=742),
          needs=(LARGE_RUNS,)),
    claim("E-Shop 2: 1,500 reference points find 1,099, more than IBED", "RQ3", "1,099 of 1,500 in 123 s",
          partial(judges.found_of, n_points=1500, printed=1099),
          needs=(LARGE_RUNS,)),
    claim("SolRep's hypervolume is larger than IBED's", "RQ4, Table 5", "most cases",
              partial(judges.in_rows, what="volume"),
          needs=MOST_ROWS),
    claim("SolRep's spread is larger than IBED's", "RQ4, Table 5", "most cases; not on Linux",
              partial(judges.in_rows, what="spread"),
          needs=MOST_ROWS),
    claim("On the small systems SolRep's spread is larger than IBED's", "RQ4", "all rows",
          partial(judges.in_rows, what="spread", in_most=False, names=SMALL),
          needs=(*SMALL_RUNS, SPLOT_POINTS)),
    claim("On E-Shop, eCos and uClinux hypervolume, spread and unique points are all larger", "RQ4",
          "all rows",
          partial(judges.in_rows, what="better", in_most=False, names=("e-shop", "ecos", "uclinux")),
          needs=LARGE_ROWS),
    claim("On Linux SolRep has the larger hypervolume, and IBED the larger spread", "RQ4", "2 of 2 sets",
          partial(judges.in_rows, what="wider", in_most=False, names=(LINUX,)),
          needs=ON_LINUX),
    claim("Nowhere are SolRep's many points gathered in a small part", "RQ4, 7", "no case",
              partial(judges.in_rows, what="spread out", in_most=False),
          needs=ALL_ROWS),
    claim("From E-Shop on SolRep and IBED have no point in common", "RQ4", "all rows",
              partial(judges.in_rows, what="disjoint", in_most=False, names=("e-shop", *LVAT)),
          needs=LARGE_ROWS),
    claim("SPLOT with 1,000 reference points takes at most 72 s", "RQ5", "72 s",
          partial(times.at_most, names=SPLOT, n_points=1000, seconds=72),
          needs=(SPLOT_POINTS,)),
    claim("uClinux with 1,500 reference points takes at most 131 s", "RQ5", "131 s",
          partial(times.at_most, names=("uclinux",), n_points=1500, seconds=131),
          needs=(LVAT_POINTS,)),
    claim("eCos with 1,500 reference points takes at most 310 s", "RQ5", "310 s",
          partial(times.at_most, names=("ecos",), n_points=1500, seconds=310),
          needs=(LVAT_POINTS,)),
    claim("eCos takes longer than uClinux", "RQ5", "310 and 131 s", times.slower,
          needs=(LVAT_POINTS,)),
    claim("SolRep takes less time than thirty runs of IBED", "RQ5, Table 5", "most cases", judges.cheap,
          needs=MOST_ROWS),
    claim("Time is linear in the reference points", "RQ5, Figure 4", "Linux", partial(times.linear,
              column="seconds"),
          needs=(LVAT_POINTS,)),
    claim("The number of points is linear in the reference points", "RQ5, Figure 4", "Linux",
          partial(times.linear, column="points"),
          needs=(LVAT_POINTS,)),
    claim("50 reference points find more than the median run of IBED in similar or less time", "RQ5",
          "3 of 3 systems", judges.fifty,
          needs=(LARGE_RUNS,)),
    claim("Linux with 50 reference points takes at most 2,150 s", "RQ5", "2,150 s",
          partial(times.linux, n_points=50, most_s=PAPER_SECONDS[LINUX, 50]),
          needs=(LINUX_POINTS,)),
    claim("The utopia plane of Linux takes 550 s", "RQ5", "550 s",
          partial(times.plane, most_s=PLANE_SECONDS),
          needs=(LINUX_POINTS,)),
    claim("SolRep scales to Linux with 1,500 reference points", "RQ5, Figure 4", "50,414 s",
          partial(times.linux, n_points=1500, most_s=PAPER_SECONDS[LINUX, 1500]),
          "Only the scale paper measures it; a part of such a run is told below.", scale="paper"),
    claim("On all sets of attributes of a system the same method finds more", "7", "", judges.alike,
          needs=ALL_ROWS),
)  # fmt: skip
"""Claims of the abstract, the research questions, the captions and the conclusion."""
