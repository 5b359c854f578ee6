"""Every claim of :cite:t:`Xue2018`, in the paper's order."""

from functools import partial

from shortlist_papers.claims import unmeasured
from shortlist_papers.product_judges import (
    SPLOT,
    abstract,
    at_most,
    claim,
    complete_fronts,
    coverage,
    dominated,
    faster,
    fifty,
    found_of,
    grows,
    kept,
    less_time,
    linear,
    linux,
    nearer,
    richer,
    spreads,
    volumes,
)
from shortlist_papers.product_runs import LINUX, PAPER_SECONDS

CLAIMS = (
    claim(
        "SolRep finds significantly more non-dominated solutions in similar or less time",
        "abstract, 6, 8",
        "most cases",
        abstract,
    ),
    claim(
        "ε-constraint and CWMOIP find all non-dominated solutions on small systems",
        "RQ1, Table 3",
        "8 of 8 sets",
        complete_fronts,
    ),
    claim(
        "IBED finds about 70 % of the front of JCS",
        "RQ1, Table 4",
        "70 %",
        partial(coverage, name="jcs", printed=70),
    ),
    claim(
        "IBED finds about 20 % of the front of Web Portal",
        "RQ1, Table 4",
        "20 %",
        partial(coverage, name="web-portal", printed=20),
    ),
    claim(
        "CWMOIP is faster than ε-constraint, as printed",
        "RQ2",
        "JCS 5 s; Web Portal 613 and 218 s",
        partial(faster, kind="printed"),
    ),
    claim(
        "CWMOIP is faster than ε-constraint, our methods",
        "RQ2",
        "JCS 5 s; Web Portal 613 and 218 s",
        partial(faster, kind="complete"),
    ),
    claim(
        "From 12 to 43 features time increases a hundredfold, as printed",
        "RQ2",
        "at least 100 times",
        partial(grows, kind="printed"),
    ),
    claim(
        "From 12 to 43 features time increases a hundredfold, our methods",
        "RQ2",
        "at least 100 times",
        partial(grows, kind="complete"),
    ),
    claim(
        "CWMOIP does not end on E-Shop within hours", "RQ2", "no end", unmeasured, "No unit runs it there."
    ),
    claim(
        "SolRep finds more unique non-dominated points than IBED",
        "RQ3, Table 5",
        "all but JCS 2 and E-Shop",
        richer,
    ),
    claim("SolRep finds more than IBEA on eCos", "RQ3, Table 6", "2 of 2", partial(richer, method="ibea")),
    claim("No point of SolRep is dominated by IBED's", "RQ3", "all rows", kept),
    claim("Most points of IBED on Linux are dominated by SolRep's", "RQ3", "2 of 2 sets", dominated),
    claim(
        "E-Shop 2: 1,000 reference points find 742, fewer than IBED",
        "RQ3",
        "742 of 1,000",
        partial(found_of, n_points=1000, printed=742),
    ),
    claim(
        "E-Shop 2: 1,500 reference points find 1,099, more than IBED",
        "RQ3",
        "1,099 of 1,500 in 123 s",
        partial(found_of, n_points=1500, printed=1099),
    ),
    claim("SolRep's hypervolume is larger than IBED's", "RQ4, Table 5", "most cases", volumes),
    claim("SolRep's spread is larger than IBED's", "RQ4, Table 5", "most cases; not on Linux", spreads),
    claim(
        "SPLOT with 1,000 reference points takes at most 72 s",
        "RQ5",
        "72 s",
        partial(at_most, names=SPLOT, n_points=1000, seconds=72),
    ),
    claim(
        "uClinux with 1,500 reference points takes at most 131 s",
        "RQ5",
        "131 s",
        partial(at_most, names=("uclinux",), n_points=1500, seconds=131),
    ),
    claim(
        "eCos with 1,500 reference points takes at most 310 s",
        "RQ5",
        "310 s",
        partial(at_most, names=("ecos",), n_points=1500, seconds=310),
    ),
    claim("SolRep takes less time than thirty runs of IBED", "RQ5", "most cases", less_time),
    claim(
        "Time is linear in the reference points", "RQ5, Figure 4", "Linux", partial(linear, column="seconds")
    ),
    claim(
        "The number of points is linear in the reference points",
        "RQ5, Figure 4",
        "Linux",
        partial(linear, column="points"),
    ),
    claim(
        "50 reference points find more than the median run of IBED in similar or less time",
        "RQ5",
        "3 of 3 systems",
        fifty,
    ),
    claim(
        "Linux with 50 reference points takes 2,150 s",
        "RQ5",
        "2,150 s",
        partial(linux, n_points=50, most_s=PAPER_SECONDS[LINUX, 50]),
    ),
    claim(
        "SolRep scales to Linux with 1,500 reference points",
        "RQ5, Figure 4",
        "50,414 s",
        partial(linux, n_points=1500, most_s=PAPER_SECONDS[LINUX, 1500]),
        "Only the scale paper measures it.",
    ),
    claim("SolRep's points represent the front: ours beside the authors' own", "5, 8", "", nearer),
)
"""The claims of the abstract, the research questions, the captions and the conclusion."""
