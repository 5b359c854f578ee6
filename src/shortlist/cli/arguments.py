"""What the library's arguments are called on the command line."""

import re

OPTIONS = {
    "checkpoint": "--study",
    "first_seed": "--seed",
    "max_bytes": "--max-memory",
    "max_cost": "--max-cost",
    "max_nodes": "--max-nodes",
    "max_size": "--max-size",
    "member_costs": "--member-costs",
    "min_size": "--min-size",
    "n_classifiers": "--classifiers",
    "n_evaluations": "--evaluations",
    "n_jobs": "--jobs",
    "n_points": "--points",
    "n_seeds": "--seeds",
    "n_starts": "--starts",
    "solve_limit_s": "--solve-limit",
    "time_limit_s": "--time-limit",
}
"""What the library's arguments are called here."""


def in_options(sentence: str) -> str:
    """Call arguments by the names of the command's options, and leave out values that cannot be typed."""
    for argument, option in OPTIONS.items():
        sentence = re.sub(rf"(?<![\w'-]){re.escape(argument)}(?![\w'])", option, sentence)
    return sentence.replace(" or None,", ",")
