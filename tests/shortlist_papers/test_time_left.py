"""The time left of a reproduction, by the seconds that its units took once: no clock is read here."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from shortlist.runs import Unit
from shortlist.runs.units import _TimeLeft
from shortlist_papers.paper import Extent, check_extent, scale_seconds
from shortlist_papers.papers import PAPERS

RECORDED = Path(__file__).parent / "unit_seconds.csv"
"""Runs of one worker: of the scale small seconds of the processor, with compiled kernels, of the others by
the clock of a machine that was busy in part, where seconds of like units differ up to threefold.

Left out are units that a plan no longer has, and the first front of EMSCO, which compiled the kernels.
"""

SEEDS = {"emsco": 50}
"""Runs of each method, where the recorded ones are more than those of the scale."""

FACTOR = 2.0

SMALL_MOST_S = 360
"""Most seconds of the scale small of a paper."""


def _scales() -> list[tuple[str, str]]:
    with RECORDED.open() as file:
        return list(dict.fromkeys((row["paper"], row["scale"]) for row in csv.DictReader(file)))


def _recorded(paper: str, scale: str) -> tuple[Extent, dict[str, float]]:
    with RECORDED.open() as file:
        rows = [row for row in csv.DictReader(file) if (row["paper"], row["scale"]) == (paper, scale)]
    tables = tuple(rows[0]["tables"].split(",")) if rows[0]["tables"] else ()
    return Extent(rows[0]["scale"], tables, seeds=SEEDS.get(paper)), {
        row["key"]: float(row["seconds"]) for row in rows
    }


def _in_order(units: list[Unit]) -> list[Unit]:
    """The first of each kind, and then the others, as they are run."""
    first = {unit.kind: unit for unit in reversed(units)}
    early = [unit for unit in units if first[unit.kind] is unit]
    return early + [unit for unit in units if first[unit.kind] is not unit]


def _estimates(units: list[Unit], seconds: dict[str, float]) -> Iterator[tuple[float, float, float]]:
    """After each unit: what share of the work is done, the seconds that are left, and the estimate of them."""
    total = sum(seconds[unit.key] for unit in units)
    left, done = _TimeLeft(units), 0.0
    for unit in units[:-1]:
        left.ended(unit, seconds[unit.key])
        done += seconds[unit.key]
        told = left.seconds(1)
        if told is not None and total > done:
            yield done / total, total - done, told


@pytest.mark.parametrize(("paper", "scale"), _scales())
def test_after_a_tenth_of_the_work_the_time_left_is_never_off_by_more_than_a_factor_of_two(
    paper: str, scale: str, data_folder: Path
) -> None:
    extent, seconds = _recorded(paper, scale)
    plan = PAPERS[paper].plan(data_folder, check_extent(PAPERS[paper], extent))
    units = [unit for unit in plan.units if unit.key in seconds]
    assert len(units) == len(seconds)
    late = [one for one in _estimates(_in_order(units), seconds) if one[0] >= 0.1]
    assert len(late) > 30
    assert [one for one in late if not 1 / FACTOR <= one[2] / one[1] <= FACTOR] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_a_scale_has_a_time_only_where_all_its_units_were_recorded(paper: str, data_folder: Path) -> None:
    sums = {}
    for scale in [scale for name, scale in _scales() if name == paper]:
        extent, seconds = _recorded(paper, scale)
        units = PAPERS[paper].plan(data_folder, check_extent(PAPERS[paper], Extent(extent.scale))).units
        if {unit.key for unit in units} == set(seconds):
            sums[scale] = round(sum(seconds.values()))
    assert scale_seconds(paper) == sums
    assert sums.get("small", 0) <= SMALL_MOST_S
