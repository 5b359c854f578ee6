"""The paper on multi-stage classifiers as six units of Synthetic30, which need no data."""

import dataclasses

from shortlist.multistage.presets import SYNTHETIC30
from shortlist.papers.emsco import EMSCO
from shortlist.papers.paper import Plan
from shortlist.papers.stage_opponents import OpponentsSize, opponent_units

UNITS = opponent_units(None, (SYNTHETIC30,), OpponentsSize((SYNTHETIC30,), 3, 0))
SMALL_EMSCO = dataclasses.replace(
    EMSCO,
    plan=lambda _folder, _extent: Plan(
        tuple(unit for unit in UNITS if unit.key.endswith(("single", "co-t"))), {}
    ),
)
"""The paper on multi-stage classifiers, at its smallest."""
