"""Random LP and MPS files: read as they are meant, alike in both formats, and as other solvers read them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.errors import BadFileError
from shortlist.files import Source
from shortlist.programs.lp_format import read_lp
from shortlist.programs.mps_format import read_mps, read_program
from shortlist.programs.named_program import NamedProgram
from tests.programs.other_readers import INSTALLED, READERS, our_reading, read_alike, reading, readings_of
from tests.programs.written_programs import Stated, lp_text, mps_text, stated_program

GOLDEN = Path(__file__).parents[1] / "golden" / "programs_read_alike.json"
SEEDS = st.integers(0, 2**32 - 1)
MANY = settings(max_examples=200)
WRITERS = {".lp": lp_text, ".mps": mps_text}


def _written(seed: int, ending: str) -> tuple[Stated, str]:
    rng = np.random.default_rng(seed)
    program = stated_program(rng)
    return program, WRITERS[ending](program, rng)


def _read(text: str, ending: str) -> NamedProgram | None:
    """Return the program, or nothing where a name that may begin a section is refused."""
    try:
        return (read_lp if ending == ".lp" else read_mps)(Source(f"p{ending}", text))
    except BadFileError as error:
        if "ename the column" not in str(error):
            raise
        return None


def _objectives(program: Stated) -> list[tuple[str, str, dict[str, float], float]]:
    free = [(name, terms) for name, low, high, terms in program.rows if low == -high == -np.inf]
    own = (program.name, program.sense, program.terms, program.offset)
    told = [] if free and not program.terms and not program.offset else [own]
    return told + [(name, program.sense, terms, 0.0) for name, terms in free]


def _read_objectives(named: NamedProgram) -> list[tuple[str, str, dict[str, float], float]]:
    return [
        (
            one.objective.name,
            str(one.objective.sense),
            {name: cost for name, cost in zip(named.columns, one.costs.tolist(), strict=True) if cost},
            one.offset,
        )
        for one in named.program.objectives
    ]


@pytest.mark.parametrize("ending", WRITERS)
@MANY
@given(seed=SEEDS)
def test_a_file_is_read_as_it_is_meant(ending: str, seed: int) -> None:
    program, text = _written(seed, ending)
    named = _read(text, ending)
    if named is None:
        return
    meant = reading(
        program.sense,
        [(program.terms, program.offset)],
        {name: (low, high, kind != "C") for name, (low, high, kind) in program.columns.items()},
        [(low, high, terms) for _, low, high, terms in program.rows],
    )
    assert our_reading(named) == meant, text
    if f"{program.name}:" in text:
        assert _read_objectives(named)[0][0] == program.name


@MANY
@given(seed=SEEDS)
def test_twins_in_both_formats_are_one_program(seed: int) -> None:
    """The objectives, too, are the same: rows without limits count in both, with the sense of the file."""
    rng = np.random.default_rng(seed)
    program = stated_program(rng, n_free=int(rng.integers(1, 4)))
    lp, mps = (_read(WRITERS[ending](program, rng, labels=True), ending) for ending in WRITERS)
    assert mps is not None
    assert _read_objectives(mps) == _objectives(program)
    if lp is not None:
        assert _read_objectives(lp) == _objectives(program)
        assert our_reading(lp) == our_reading(mps)
        assert lp.rows == mps.rows


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(
            ".lp",
            marks=pytest.mark.skipif(
                not {"gurobi", "cplex", "scip"} & set(INSTALLED),
                reason="one of gurobipy, cplex and pyscipopt must be there, which read LP files beside HiGHS",
            ),
        ),
        ".mps",
    ],
)
@MANY
@given(seed=SEEDS)
def test_no_two_other_readers_agree_against_ours(
    ending: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _, text = _written(seed, ending)
    named = _read(text, ending)
    if named is None:
        return
    path = tmp_path_factory.getbasetemp() / f"p{ending}"
    path.write_text(text, encoding="utf-8")
    for names, other in read_alike(readings_of(path)):
        assert our_reading(named, free_rows=ending == ".lp") == other, f"{names}: {text}"


def test_what_three_other_readers_read_alike_is_read_so(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """These files and readings are kept, as few machines have all these readers."""
    if request.config.getoption("--bless"):
        GOLDEN.write_text(json.dumps(_read_by_three(tmp_path), indent=0) + "\n", encoding="utf-8")
    kept = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert len(kept) == 80
    for one in kept:
        path = tmp_path / f"p{one['ending']}"
        path.write_text(one["text"], encoding="utf-8")
        ours = our_reading(read_program(path), free_rows=one["ending"] == ".lp")
        assert json.loads(json.dumps(vars(ours))) == one["reading"], one["text"]


def _read_by_three(folder: Path) -> list[dict[str, Any]]:
    assert set(INSTALLED) == set(READERS), "blessing needs all readers"
    kept: list[dict[str, Any]] = []
    for ending in WRITERS:
        path, found, seed = folder / f"p{ending}", 0, 0
        while found < 40:
            seed += 1
            path.write_text(_written(seed, ending)[1], encoding="utf-8")
            alike = [group for group in read_alike(readings_of(path)) if len(group[0]) > 2]
            for names, one in alike:
                text = path.read_text(encoding="utf-8")
                kept.append({"ending": ending, "by": names, "text": text, "reading": vars(one)})
                found += 1
    return kept
