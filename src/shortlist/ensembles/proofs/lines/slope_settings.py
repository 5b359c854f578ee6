"""How slopes are proved: every number that was chosen by measurement, with what it is for."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SlopeSettings:
    """How pruning for a sum of sigmoids shares its time, and how large its proofs may become.

    Parameters
    ----------
    search_share : float
        Part of the time limit after which the search gives way; it usually ends sooner.
    search_steps, class_steps : int
        Moves of the search with two classes; with several, where every move looks at all rows.
    news_seconds : float
        Seconds between two entries of the history where only the bound has changed.
    first_steps, steps : int
        Subgradient steps for the bound of a size, and for that of a node below it.
    batch : int
        Nodes that are opened at once, whatever the number of threads.
    block_votes : int
        Votes read between two looks at the clock, which takes some hundredths of a second.
    most_open : int
        Open nodes at which a proof gives up: these take 0.6 GB, and as many bytes each as there are
        classifiers.
    stored_tilts : int
        Tilts that open nodes keep at most, which take 1 GB in all; beyond, nodes begin with those of their
        size.
    most_lines : int
        Votes under the lines of a cover: with more it would take minutes to recheck, and none is kept.
    most_binaries : int
        Rows times distances beyond which no integer program is built: it would take a gigabyte, and minutes
        to read.
    precision : float
        Solvers' bounds are believed up to this share of what all rows could be worth.
    """

    search_share: float = 0.2
    search_steps: int = 20_000
    class_steps: int = 1_000
    news_seconds: float = 0.1
    first_steps: int = 100
    steps: int = 30
    batch: int = 4
    block_votes: int = 20_000_000
    most_open: int = 1_000_000
    stored_tilts: int = 250_000_000
    most_lines: int = 300_000_000
    most_binaries: int = 2_000_000
    precision: float = 1e-8
