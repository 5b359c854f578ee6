"""How cuts are looked for: every number that was chosen by measurement, with what it is for."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CutSettings:
    """How cuts are looked for; decision 8 has the measurements.

    A round solves the master program, whose solution t says how much of every row the cuts so far allow,
    and looks for cuts that t violates. The search by price comes first, and the search row by row where the
    first one finds hardly anything.

    Parameters
    ----------
    least_violation : float
        A cut is taken up only if t violates it by more than this; rows that t calls right cost as much in
        the search by price.
    few : int
        With fewer new cuts than this by price, the round goes on row by row, or ends where only quick
        rounds are wanted.
    idle_rounds : int
        Rounds in a row without a new cut after which there is nothing more to look for.
    row_round_cost : int
        How many further rounds a search row by row counts as, where rounds are limited.
    most_recalled : int
        How many known cuts and conflicts a round takes up at most, the most violated first.
    slack : float
        A cut is slack in a round if t stays below it by more than this.
    patience : int
        Rounds in which a cut may be slack before the master program does without it.
    unlikely : float
        Rows of which t allows no more than this are left out where rows have to be drawn: they make no
        violated cuts.
    price_starts : int
        From how many vectors of costs the search by price begins in every round.
    price_reweightings : int
        How often each of these searches goes on with costs divided by the multipliers just found.
    price_floor : float
        What is added to multipliers, in parts of their mean, before costs are divided by them, so that 0
        divides nothing.
    price_spread : float
        Standard deviation of the logarithm of the factors by which costs are multiplied at random.
    price_avoidance : float
        What a row costs more for every search of the round that used it.
    priced_rows, priced_votes : int
        Most forms in the search by price, and most votes in these: beyond, rows are drawn.
    asked_votes : int
        Most votes in the search row by row: beyond, rows are drawn.
    asked_tries : int
        How often a search row by row begins anew; each try takes about ten linear programs.
    asked_sure : float
        Rows of which t allows at least this count as right at no cost.
    asked_least_excess : float
        What rows that are asked for must lack together, less than 1 by this, so that t violates the cut
        clearly.
    asked_shortfall : float
        A row is missed if it lacks more votes than this; shortfalls are in single precision.
    asked_at_once : int
        How many missed rows that count as right are asked for at once.
    asked_noise : float
        Standard deviation of the logarithm of the factors by which prices of rows are multiplied at random.
    asked_floor : float
        What is added to shortfalls before prices are divided by them, so that tiny ones do not decide.
    """

    least_violation: float = 1e-3
    few: int = 3
    idle_rounds: int = 10
    row_round_cost: int = 5
    most_recalled: int = 500
    slack: float = 0.05
    patience: int = 12
    unlikely: float = 0.2
    price_starts: int = 4
    price_reweightings: int = 3
    price_floor: float = 0.03
    price_spread: float = 0.5
    price_avoidance: float = 0.2
    priced_rows: int = 500
    priced_votes: int = 200_000
    asked_votes: int = 2_000_000
    asked_tries: int = 40
    asked_sure: float = 1 - 1e-6
    asked_least_excess: float = 1e-3
    asked_shortfall: float = 1e-4
    asked_at_once: int = 30
    asked_noise: float = 0.7
    asked_floor: float = 0.3
