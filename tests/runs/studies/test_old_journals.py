"""Files that Shortlist 0.1 kept before there were studies; those in ``old`` were made by it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from shortlist.ensembles.studies import method_comparison
from shortlist.ensembles.studies.method_comparison import compare_methods
from shortlist.errors import BadFileError, BadInputError
from shortlist.methods.solrep.solrep import SolRepSettings, solrep
from shortlist.products.comparison import product_comparison
from shortlist.runs import Study, Work, open_study
from shortlist.runs.studies.old_journals import is_old_journal, take_over
from tests.ensembles.studies.test_method_comparison import METHODS, TABLES
from tests.methods.solrep.test_solrep import knapsack
from tests.products.comparison.test_product_comparison import compared

OLD = Path(__file__).parent / "old"


def _taken(name: str, study: Study) -> int:
    assert is_old_journal(OLD / name)
    return take_over(OLD / name, study)


def test_programs_of_solrep_are_taken_over_and_those_of_another_walk_do_not_fit(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db") as study:
        assert _taken("programs.jsonl", study) == 11
        assert len(study.results()) == 11
        with pytest.raises(BadInputError, match="thinning was 10 there and is 1 now"):
            solrep(knapsack(), SolRepSettings(5), study=study)


def test_runs_of_a_comparison_are_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    methods: list[str] = ["ibea", "ibed"]
    with open_study(tmp_path / "s.db") as study:
        assert _taken("runs.jsonl", study) == 2
        monkeypatch.setattr(product_comparison, "find_front", None)
        again = compared(methods, seeds=[0], work=Work(study=study))
    assert [(run.method, run.seed) for run in again.runs] == [("ibea", 0), ("ibed", 0)]
    assert all(len(run.front) for run in again.runs)


def test_programs_that_a_comparison_kept_beside_are_taken_over(tmp_path: Path) -> None:
    methods: dict[str, Any] = {"methods": ["solrep", "ibea"], "seeds": [0], "n_points": 5}
    with open_study(tmp_path / "s.db") as study:
        assert _taken("half.jsonl", study) == 0
        before = study.part("solrep 0").results()
        assert len(before) == 9
        with pytest.raises(BadInputError, match="thinning was 10 there and is 1 now"):
            compared(**methods, work=Work(study=study))


def test_folds_of_pruning_methods_are_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"n_folds": 2, "n_classifiers": 4, "random_state": 3}
    methods = {name: METHODS[name] for name in ("uwa", "guess")}
    fresh = compare_methods({"made": TABLES["made"]}, methods, **asked)
    with open_study(tmp_path / "s.db") as study:
        assert _taken("folds.jsonl", study) == 4
        monkeypatch.setattr(method_comparison, "measure_fold", None)
        again = compare_methods({"made": TABLES["made"]}, methods, **asked, work=Work(study=study))
    pd.testing.assert_frame_equal(again.drop(columns="seconds"), fresh.drop(columns="seconds"))


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    shutil.copy(OLD / "programs.jsonl", path)
    path.write_bytes(path.read_bytes()[:-20])
    with open_study(tmp_path / "s.db") as study:
        assert take_over(path, study) == 10


@pytest.mark.parametrize("text", ["my only line", '{"mine": 1}', "", json.dumps(["unit"])])
def test_other_files_are_no_old_journals(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(text)
    assert not is_old_journal(path)
    with open_study(tmp_path / "s.db") as study, pytest.raises(BadFileError, match="got something else"):
        take_over(path, study)
