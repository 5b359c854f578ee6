"""Run benchmarks: ``python -m benchmarks [speed moip pruning-proofs regret ...] [--data FOLDER]``.

Cases, in `cases/`, are timed in a minute. Studies, in `studies/`, take minutes to hours, most on real tables and models
that `data/` reads. What they measure goes to `results/`.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.registry import load_cases
from benchmarks.regret.anytime import LIMITS_S, anytime
from benchmarks.regret.run import KINDS, LIMIT_S, regret
from benchmarks.rows import write_rows
from benchmarks.studies import (
    analysis_peers,
    answers,
    as_good,
    assortments,
    committee_answers,
    committee_fronts,
    cost_curves,
    emsco_opponents,
    ensembles,
    evolved_verdicts,
    front_promises,
    fronts,
    guarantees,
    hospital,
    kills,
    large_products,
    large_tables,
    multistage,
    panel_families,
    panel_promises,
    panel_rivals,
    panel_verdicts,
    panels,
    peers,
    pool_workers,
    program_engines,
    programs,
    pruning,
    pruning_overfit,
    pruning_time,
    stage_folds,
    stage_picks,
    stage_scale,
    start,
    study_store,
    verdicts,
    voting,
    workers,
)

STUDIES: dict[str, Callable[..., Iterable[Mapping[str, Any]]]] = {
    "analysis-peers": analysis_peers.analysis_peers,
    "answers": answers.answers,
    "as-good": as_good.as_good,
    "assortments": assortments.assortments,
    "anytime": anytime,
    "committee-answers": committee_answers.committee_answers,
    "committee-fronts": committee_fronts.committee_fronts,
    "cost-curves": cost_curves.cost_curves,
    "emsco-opponents": emsco_opponents.emsco_opponents,
    "ensembles": ensembles.ensembles,
    "evolved-verdicts": evolved_verdicts.evolved_verdicts,
    "front-promises": front_promises.front_promises,
    "front-promises-answered": front_promises.front_promises_answered,
    "guarantees": guarantees.guarantees,
    "hospital": hospital.hospital,
    "kills": kills.kills,
    "large-tables": large_tables.large_tables,
    "moip": fronts.moip,
    "moip-long": fronts.moip_long,
    "multistage": multistage.multistage,
    "multistage-recall": multistage.recalls,
    "study-million": study_store.million,
    "study-overhead": study_store.overhead,
    "opponents": large_products.opponents,
    "panel-families": panel_families.panel_families,
    "panel-settings": panel_families.panel_settings,
    "panel-promises": panel_promises.panel_promises,
    "panel-rivals": panel_rivals.panel_rivals,
    "panel-verdicts": panel_verdicts.panel_verdicts,
    "panels": panels.panels,
    "peers": peers.peers,
    "pool-workers": pool_workers.pool_workers,
    "cwmoip": program_engines.sweeps,
    "knapsacks": program_engines.knapsacks,
    "program-engines": program_engines.program_engines,
    "program-times": program_engines.program_times,
    "programs": programs.programs,
    "programs-assignment": programs.assignments,
    "programs-random": programs.random_programs,
    "pruning-engine": pruning.engine,
    "pruning-gaps": pruning.gaps,
    "pruning-large": pruning.large,
    "pruning-pairs": pruning.pairs,
    "pruning-proofs": pruning.proofs,
    "pruning-turns": pruning.turns,
    "pruning-overfit": pruning_overfit.overfit,
    "pruning-anytime": pruning_time.anytime,
    "pruning-few": pruning_time.few,
    "reading": fronts.reading,
    "regret": regret,
    "solrep": large_products.solrep_times,
    "solrep-adaptive": large_products.adaptive,
    "solrep-linux": large_products.linux,
    "solrep-quality": large_products.quality,
    "stage-folds": stage_folds.stage_folds,
    "stage-picks": stage_picks.stage_picks,
    "stage-scale": stage_scale.stage_scale,
    "start": start.starts,
    "verdicts": verdicts.verdicts,
    "voting": voting.voting,
    "workers": workers.workers,
}
"""Studies, each with a file of its name in results/."""
WITHOUT_DATA = (
    "answers",
    "as-good",
    "assortments",
    "front-promises",
    "hospital",
    "kills",
    "pool-workers",
    "pruning-large",
    "stage-scale",
    "start",
    "study-million",
    "study-overhead",
)
"""Studies that need no real data."""
SEEDED = (
    "committee-answers",
    "cost-curves",
    "emsco-opponents",
    "evolved-verdicts",
    "front-promises-answered",
    "guarantees",
    "multistage-recall",
    "panels",
    "stage-folds",
    "stage-picks",
    "verdicts",
    "voting",
    "workers",
)
"""Studies that run once per seed."""


def speed() -> None:
    """Time the registered cases: median of seven runs after one warm-up."""
    rows: list[dict[str, Any]] = []
    for case in load_cases().values():
        for size in case.sizes:
            call = case.build(size)
            call()
            times = []
            for _ in range(7):
                start = time.perf_counter()
                call()
                times.append(time.perf_counter() - start)
            median = sorted(times)[len(times) // 2]
            rows.append(
                {
                    "case": case.name,
                    "size": size,
                    "median_s": median,
                    "min_s": min(times),
                    "max_s": max(times),
                }
            )
            print(rows[-1], flush=True)
    write_rows("speed", rows)


def main() -> None:
    """Parse the command line and run what is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", default=["speed"], choices=["speed", *STUDIES])
    parser.add_argument("--data", type=Path, default=os.environ.get("SHORTLIST_DATA") or None)
    parser.add_argument("--seeds", type=int, default=10, help=f"runs of each case, for {', '.join(SEEDED)}")
    parser.add_argument(
        "--kinds", default="", help="kinds of questions of regret, with ; between; by default all"
    )
    parser.add_argument("--seconds", type=float, help="what an engine of regret, or anytime, may take")
    options = parser.parse_args()
    for name in options.names:
        if name == "speed":
            speed()
        elif name in WITHOUT_DATA:
            write_rows(name, STUDIES[name]())
        elif options.data is None:
            print(f"{name} left out: it needs real data. Pass --data FOLDER.")
        elif name == "anytime":
            anytime(Path(options.data), limit_s=options.seconds or LIMITS_S[-1])
        elif name == "regret":
            asked = options.kinds.split(";")
            kinds = [kind for kind in KINDS if options.kinds == "" or kind.name in asked]
            regret(Path(options.data), kinds=kinds, limit_s=options.seconds or LIMIT_S)
        else:
            more = {"seeds": options.seeds} if name in SEEDED else {}
            write_rows(name, STUDIES[name](Path(options.data), **more))


if __name__ == "__main__":
    main()
