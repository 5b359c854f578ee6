"""The paper on multi-stage classifiers as six units of Synthetic30, which need no data."""

import dataclasses
import functools

from shortlist.multistage.presets import SYNTHETIC30
from shortlist_papers.emsco import EMSCO
from shortlist_papers.paper import PaperPlan
from shortlist_papers.stage_opponents import OpponentsSize, opponent_units


@functools.cache
def _plan() -> PaperPlan:
    units = opponent_units(None, (SYNTHETIC30,), OpponentsSize((SYNTHETIC30,), 3, 0))
    return PaperPlan(tuple(unit for unit in units if unit.key.endswith(("single", "co-t"))), {})


SMALL_EMSCO = dataclasses.replace(EMSCO, plan=lambda _folder, _extent: _plan())
"""The paper on multi-stage classifiers, at its smallest."""
