"""Text of `shortlist configure` on its work."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from shortlist.cli.text.configured import advice_lines, next_lines, print_found, work_lines
from shortlist.products.attributes import Attribute, chosen_attributes, model_attributes
from shortlist.products.configuration.product_front import configure
from shortlist.products.configuration.requirements import from_literals, make_requirements
from shortlist.products.formats import read_model
from shortlist.products.formats.uvl_writer import uvl_model
from shortlist.products.model import FeatureModel
from shortlist.report.fronts import front_parts
from shortlist.report.page import Table
from shortlist.results.front import PROGRAM, Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind, Status
from tests.products.configuration.test_relaxations import Asked, contradictions
from tests.stored import Stored


def test_reference_points_that_time_left_without_an_answer_are_counted(stored: Stored) -> None:
    front = Front.from_points(
        [Objective("cost")], np.array([[3]]), np.array([[1]]), ["phone"],
        Proof(ProofKind.NONDOMINATED, n_unresolved=4, limit="1 s"),
        extras={"n_reference_points": 6, "n_infeasible": 1, "n_without_program": 0, "n_unproved": 0},
    )  # fmt: skip
    of_program = replace(front, extras={**front.extras, PROGRAM: {"columns": 1}})
    stored(*work_lines(front), *work_lines(of_program))


@pytest.mark.parametrize(
    ("n", "n_infeasible", "repeated", "unproved"), [(5, 0, 1, 0), (1, 0, 0, 2), (3, 3, 2, 0), (0, 0, 0, 1)]
)
def test_what_is_known_below_the_reference_points_is_one_sentence(
    n: int, n_infeasible: int, repeated: int, unproved: int, stored: Stored
) -> None:
    extras: dict[str, object] = {
        "n_reference_points": n, "n_infeasible": n_infeasible, "n_without_program": repeated, "n_unproved": unproved,
        "n_checked": n,
    }  # fmt: skip
    stored(*work_lines(cut(extras)))


def cut(extras: dict[str, object], method: str = "exact") -> Front:
    proof = Proof(ProofKind.NONDOMINATED, limit="1 s")
    front = Front.from_points(
        [Objective("cost"), Objective("value", sense=Sense.MAX)], np.array([[3, -4]]), np.array([[1]]), ["phone"], proof,
        extras=extras,
    )  # fmt: skip
    return replace(front, method=method)


def test_a_front_that_was_cut_short_says_what_to_do_next_and_at_what_pace(stored: Stored) -> None:
    fronts = [replace(cut({"n_programs": 10}), seconds=2.0), cut({}, "auto"), cut({PROGRAM: {"columns": 1}})]
    stored(*(line for front in fronts for line in next_lines(front)))
    assert next_lines(cut({"n_reference_points": 6})) == []


def test_a_front_of_one_point_says_how_to_keep_it_and_how_to_write_what_it_chooses(
    capsys: pytest.CaptureFixture[str], stored: Stored
) -> None:
    for saved in (None, Path("f.parquet")):
        print_found(cut({}), [], [], saved, None)
    stored(capsys.readouterr().out)


def test_the_page_has_the_bounds_of_a_front_that_was_cut_short() -> None:
    table = next(
        part for part in front_parts({"front": cut({"ideal": [3.0, 7.5]})}) if isinstance(part, Table)
    )
    assert [row[-1] for row in table.rows] == ["the same", "7.5"]
    table = next(part for part in front_parts({"front": cut({})}) if isinstance(part, Table))
    assert table.columns[-1] == "worst here"


def read_again(asked: Asked, folder: Path) -> tuple[FeatureModel, dict[str, Attribute]]:
    """Return a random model as its UVL file gives it, with the attributes in that file."""
    told = {
        name: {i: str(Decimal(int(value)) / one.scale) for i, value in enumerate(one.values)}
        for name, one in asked.attributes.items()
    }
    (folder / "m.uvl").write_text(uvl_model(replace(asked.model, attributes=told)).text)
    model = read_model(folder / "m.uvl")
    return model, chosen_attributes(["cost", "worth"], [model_attributes(model)], model)


def followed(line: str, limits: list[str], select: list[str], deselect: list[str]) -> None:
    """Change a question as a printed line says, by its words alone."""
    line = line.strip()
    if " in place of " in line:
        new, old = line.removeprefix("limit ").split(" in place of ")
        limits[limits.index(old)] = new
    elif line.startswith("without limit "):
        limits.remove(line.removeprefix("without limit "))
    elif line.endswith(" is no longer required to be left out"):
        deselect.remove(line.removesuffix(" is no longer required to be left out"))
    else:
        assert line.endswith(" is no longer required"), line
        select.remove(line.removesuffix(" is no longer required"))


def test_every_printed_advice_on_200_contradictions_works_when_it_is_followed(tmp_path: Path) -> None:
    n_alone = n_together = n_useless = 0
    for asked in contradictions(seed=23, count=200):
        model, attributes = read_again(asked, tmp_path)
        goals = "min cost, max worth"
        wishes = from_literals(asked.model, asked.literals)
        question = (
            list(asked.limits), [f"F{i}" for i in wishes.select], [f"F{i}" for i in wishes.deselect],
        )  # fmt: skip

        def status(limits: list[str], select: list[str], deselect: list[str]) -> tuple[Status, list[str]]:
            required = make_requirements(model, select=select, deselect=deselect)  # noqa: B023  # called within
            answer = configure(model, goals, limits=limits, requirements=required, attributes=attributes)  # noqa: B023
            return answer.status, advice_lines(answer.relaxations, details=True)

        found, lines = status(*question)
        assert found is Status.INFEASIBLE
        head, *rest = lines
        useless = [line for line in rest if line.startswith("Not enough alone: ")]
        changes = [line for line in rest if line not in useless]
        if head.startswith("Next: correct the model"):
            assert not asked.without(range(len(asked.limits) + len(asked.literals)))
            continue
        together = "together" in head
        for tried in [changes] if together else [[line] for line in changes]:
            own = tuple(list(part) for part in question)
            for line in tried:
                followed(line, *own)
            assert status(*own)[0] is Status.OPTIMAL, (head, tried)
        for line in useless[0].removeprefix("Not enough alone: ").split(", ") if useless else ():
            own = tuple(list(part) for part in question)
            followed(line, *own)
            assert status(*own)[0] is Status.INFEASIBLE, line
        n_alone, n_together = n_alone + (not together), n_together + together
        n_useless += bool(useless)
    assert min(n_alone, n_together, n_useless) > 5
