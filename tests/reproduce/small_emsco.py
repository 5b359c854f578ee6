"""The paper on multi-stage classifiers as six units of Synthetic30, which need no data."""

import dataclasses

from shortlist.reproduce.emsco import EMSCO, EmscoSize, plan_emsco
from shortlist.reproduce.stage_opponents import SYNTHETIC30, OpponentsSize

SIZE = EmscoSize(
    (), (), 0, 0, 0, 0, (), 0, 0, OpponentsSize((SYNTHETIC30,), ("single", "co-t", "astc"), 2)
)  # fmt: skip
SMALL_EMSCO = dataclasses.replace(EMSCO, plan=lambda folder, _extent: plan_emsco(folder, SIZE))
