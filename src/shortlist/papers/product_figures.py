"""What :cite:t:`Xue2018` reports, by table and system, as far as its digits are known."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from shortlist.papers.product_runs import System

NAMES = {
    "jcs": "JCS", "web-portal": "Web Portal", "e-shop": "E-Shop", "ecos": "eCos", "uclinux": "uClinux",
    "compact-linux": "Linux X86",
}  # fmt: skip
PAPER_SIZES: dict[str, tuple[int, int | None]] = {
    "jcs": (12, None), "web-portal": (43, None), "e-shop": (290, None), "ecos": (1244, 3146),
    "uclinux": (1850, 2468), "compact-linux": (6888, 343_944),
}  # fmt: skip
"""Table 2: features, and constraints where their digits are known."""


def _equal_sets(n: int, seconds: tuple[float, float], indicators: tuple[float, float]) -> dict[str, Any]:
    """Return a row of Table 3: both methods find the same."""
    volume, unevenness = indicators
    return {
        "A corr %": 100.0, "B corr %": 100.0, "A s": seconds[0], "B s": seconds[1], "A HV": volume,
        "B HV": volume, "A SP": unevenness, "B SP": unevenness, "|A|": n, "|B|": n, "|A ∩ B|": n,
        "|N_A ∪ N_B|": n, "N_U(A)": 0, "N_U(B)": 0,
    }  # fmt: skip


def _partly_found(n: int, seconds: tuple[float, float], found: tuple[Any, ...]) -> dict[str, Any]:
    """Return a row of Table 4: a complete front beside 30 runs of IBED."""
    correct, volume, unevenness, n_found, n_common = found
    return {
        "A corr %": 100.0, "B corr %": correct, "A s": seconds[0], "B s": 30 * seconds[1], "B HV": volume,
        "B SP": unevenness, "|A|": n, "|B|": n_found, "|A ∩ B|": n_common, "|N_A ∪ N_B|": n,
        "N_U(A)": n - n_common, "N_U(B)": 0, "share %": 100 * n_common / n,
    }  # fmt: skip


INDICATORS: dict[System, tuple[float, float]] = {
    ("jcs", 0): (0.288548753, 0.691011983),
    ("jcs", 1): (0.271350908, 0.391230072),
    ("web-portal", 0): (0.339694844, 0.865438498),
    ("web-portal", 1): (0.308935982, 0.984833093),
}
"""Hypervolume and spread of complete fronts, in the authors' stored tables."""

Published: TypeAlias = Mapping[System, Mapping[str, Any]]
"""Rows of a table as published, by system; only columns whose digits are known."""

PAPER_3: Published = {
    ("jcs", 0): _equal_sets(39, (5.291, 5.738), INDICATORS["jcs", 0]),
    ("jcs", 1): _equal_sets(9, (7.463, 0.727), INDICATORS["jcs", 1]),
    ("jcs", 2): {"|A|": 22, "|B|": 22},
    ("jcs", 3): {"|A|": 31, "|B|": 31},
    ("web-portal", 0): _equal_sets(451, (586.173, 219.551), INDICATORS["web-portal", 0]),
    ("web-portal", 1): _equal_sets(768, (703.007, 260.088), INDICATORS["web-portal", 1]),
    ("web-portal", 2): {"|A|": 859, "|B|": 859},
    ("web-portal", 3): {"|A|": 713, "|B|": 713},
}
PAPER_4: Published = {
    ("jcs", 0): _partly_found(39, (5.738, 5.0219), (92.367, 0.301288, 1.591045, 19, 19)),
    ("jcs", 1): _partly_found(9, (0.727, 4.3729), (91.719, 0.259050, 1.779910, 9, 9)),
    ("web-portal", 0): _partly_found(451, (219.551, 5.4266), (98.0, 0.308676, 1.214039, 232, 97)),
    ("web-portal", 1): _partly_found(768, (260.088, 5.5555), (98.733, 0.280737, 1.258185, 277, 116)),
}
PAPER_5: Mapping[tuple[System, int], Mapping[str, Any]] = {
    (("e-shop", 0), 1000): {"B corr %": 99.061, "B s": 30 * 6.7747, "|B|": 1491},
    (("e-shop", 1), 1000): {"|A|": 742, "|A ∩ B|": 0, "N_U(A)": 742},
    (("e-shop", 1), 1500): {"A s": 123, "B s": 201, "|A|": 1099, "|A ∩ B|": 0, "N_U(A)": 1099},
    (("ecos", 1), 1500): {"B corr %": 88.785, "B s": 30 * 47.8795, "|B|": 1337},
}
"""Figures of the text, and those of IBED in the authors' stored tables."""
PAPER_RQ_2 = {
    ("jcs", "epsilon-constraint"): 5.0, ("web-portal", "epsilon-constraint"): 613.0,
    ("web-portal", "cwmoip"): 218.0,
}  # fmt: skip
"""Mean seconds over four sets of attributes, where the text has kept their digits."""
PAPER_RQ_5: Published = {
    ("ecos", 0): {"A s": 11, "B s": 48, "|A|": 48, "|N_B|": 42},
    ("uclinux", 0): {"A s": 6, "B s": 43},
    ("compact-linux", 0): {"A s": 2150, "B s": 2534},
}
PAPER_SECONDS: Mapping[tuple[str, int], float] = {
    ("e-shop", 1000): 72, ("e-shop", 1500): 123, ("uclinux", 1500): 131, ("ecos", 1500): 310,
    ("compact-linux", 1500): 550 + 49_864, ("ecos", 50): 11, ("uclinux", 50): 6, ("compact-linux", 50): 2150,
}  # fmt: skip
"""Seconds of SolRep by system and reference points, the longest of the sets; Linux with its anchors."""
