"""The library finds the package of the papers, and says what is missing where it is not installed."""

import subprocess
import sys

import pytest

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.papers import MISSING, papers_part, refuse_opponent

WITHOUT = "import sys; sys.modules['shortlist_papers'] = None; sys.argv = ['shortlist', *{words}]; from shortlist.cli.main import run_command; run_command()"


def test_an_entry_point_leads_to_what_it_names() -> None:
    import shortlist_papers

    assert papers_part("names") is shortlist_papers
    with pytest.raises(MissingDependencyError, match="needs the package shortlist_papers"):
        papers_part("nothing")


@pytest.mark.parametrize("words", [["compare", "t.csv", "--methods", "pruning"], ["reproduce", "pruning"]])
def test_without_the_package_a_command_says_how_to_get_it(words: list[str]) -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(words=words)], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (2, "", f"shortlist: {MISSING}\n")


def test_a_method_that_is_an_opponent_is_refused_with_who_asks_it() -> None:
    refuse_opponent("exact", "method", ["ibea"])
    with pytest.raises(BadInputError, match=r"got 'ibea'. It is an opponent in shortlist_papers: shortlist"):
        refuse_opponent("ibea", "method", ["ibea"])
