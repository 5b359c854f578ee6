"""Real models: every file is read, and the same model in different formats says the same."""

import io
import tarfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from shortlist.files import Source
from shortlist.logic.sat import SatSolver, backbone
from shortlist.products import (
    FeatureModel,
    chosen_attributes,
    model_attributes,
    read_attributes,
    read_model,
    read_requirements,
)
from shortlist.products.attributes import exact_attribute
from shortlist.products.clauses import to_clauses
from shortlist.products.configuration.question import parse_objectives
from shortlist.products.configuration.requirements import make_requirements
from shortlist.products.formats.sxfm import read_sxfm
from shortlist.products.inequalities import to_program
from shortlist.products.model import feature_names
from shortlist.products.rules import are_valid, evaluate
from tests.products import oracles
from tests.products.program_files import read_program

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def models_folder(data_folder: Path) -> Path:
    return data_folder / "feature-models"


@cache
def _read(path: Path) -> FeatureModel:
    return read_model(path)


def _product_samples(model: FeatureModel, n: int) -> NDArray[np.bool_]:
    """Return up to `n` products, each found from the model's clauses under random wishes."""
    solver, rng = SatSolver(to_clauses(model)), np.random.default_rng(0)
    found = []
    for _ in range(n):
        wishes: list[int] = []
        for feature in rng.permutation(model.n_features)[:20].tolist():
            literal = (feature + 1) * (1 if rng.random() < 0.5 else -1)
            answer = solver.solve([*wishes, literal])
            if answer.model is not None:
                wishes.append(literal)
                product = answer.model[: model.n_features]
        found.append(product)
    return np.array(found)


def test_all_919_splot_models_are_read(models_folder: Path) -> None:
    sizes, notes, n_constraints = [], 0, 0
    with tarfile.open(models_folder / "splot" / "splot-models.tar.gz") as archive:
        for member in archive:
            if not member.isfile():
                continue
            content = archive.extractfile(member)
            assert content is not None
            text = content.read().decode("utf-8-sig").replace("\r\n", "\n")
            model = read_sxfm(Source(member.name, text))
            sizes.append(model.n_features)
            notes += bool(model.notes)
            n_constraints += bool(model.constraints)
            assert to_clauses(model).n_variables == model.n_features
    assert len(sizes) == 919
    assert (min(sizes), max(sizes), int(np.median(sizes))) == (10, 451, 20)
    assert n_constraints == 529
    assert notes == 7  # four with signs that XML forbids, three with a repeated feature


@pytest.mark.parametrize("size", ["500-50", "1000-100", "5000-500", "10000-1000"])
def test_generated_models_have_products(size: str, models_folder: Path) -> None:
    path = models_folder / "splot" / "generated" / f"splot-3cnf-fm-{size}-sat.zip"
    with zipfile.ZipFile(path) as archive:
        name = min(archive.namelist())
        model = read_sxfm(Source(name, io.TextIOWrapper(archive.open(name), "utf-8-sig").read()))
    assert model.n_features == int(size.split("-", maxsplit=1)[0])
    answer = SatSolver(to_clauses(model)).solve()
    assert answer.model is not None
    assert evaluate(model, answer.model) == []


FORMATS = {
    "berkeleydb": ("berkeleydb.sxfm.xml", "berkeleydb.uvl", "berkeleydb.dimacs"),
    "uclinux-base": ("uclinux-base.featureide.xml.gz", "uclinux-base.uvl.gz", "uclinux-base.dimacs"),
    "busybox-1.18.0": ("busybox-1.18.0.featureide.xml", "busybox-1.18.0.uvl", "busybox-1.18.0.dimacs"),
    "automotive01": ("automotive01.featureide.xml.gz", "automotive01.uvl.gz", "automotive01.dimacs.gz"),
    "linux-2.6.33.3": (
        "linux-2.6.33.3.featureide.xml.gz",
        "linux-2.6.33.3.uvl.gz",
        "linux-2.6.33.3.dimacs.gz",
    ),
}
SIZES = {
    "berkeleydb": 117,
    "uclinux-base": 380,
    "busybox-1.18.0": 854,
    "automotive01": 2513,
    "linux-2.6.33.3": 6467,
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats_agree_on_features_and_products(name: str, models_folder: Path) -> None:
    models = [_read(models_folder / "formats" / file) for file in FORMATS[name]]
    first = models[0]
    assert first.n_features == SIZES[name]
    for other in models[1:]:
        assert set(other.names) == set(first.names)
    for model in models:
        products = _product_samples(model, 3)
        for other in models:
            places = {label: i for i, label in enumerate(model.names)}
            order = [places[label] for label in other.names]
            assert are_valid(other, products[:, order]).all()
            flipped = products[:, order].copy()
            flipped[np.arange(len(flipped)), np.arange(len(flipped)) * 7 % flipped.shape[1]] ^= True
            own = flipped[:, np.argsort(order)]
            np.testing.assert_array_equal(are_valid(other, flipped), are_valid(model, own))


@pytest.mark.parametrize("name", ["berkeleydb", "uclinux-base", "busybox-1.18.0", "automotive01"])
def test_formats_agree_on_core_and_dead_features(name: str, models_folder: Path) -> None:
    answers = []
    for file in FORMATS[name]:
        model = _read(models_folder / "formats" / file)
        fixed = backbone(to_clauses(model))
        assert fixed is not None
        literals = [v for v in fixed if abs(v) <= model.n_features]
        answers.append({(model.names[abs(v) - 1], v > 0) for v in literals})
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]


def test_linux_and_automotive_in_uvl_are_read(models_folder: Path) -> None:
    for file in ("linux-2.6.33.3.uvl.gz", "automotive01.uvl.gz"):
        assert read_model(models_folder / "formats" / file).n_features > 2000


@pytest.mark.parametrize(
    ("file", "beside", "n_features"),
    [
        ("ecos-icse11.dimacs", "ecos-icse11.dimacs", 1244),
        ("uClinux.dimacs", "uClinux.dimacs", 1850),
        ("fiasco.dimacs", "fiasco.dimacs", 1638),
        ("freebsd-icse11.dimacs.gz", "freebsd-icse11.dimacs", 1396),
        ("2.6.28.6-compact.dimacs.gz", "2.6.28.6-icse11.dimacs", 6888),
    ],
)
def test_lvat_models_agree_with_the_files_beside_them(
    file: str, beside: str, n_features: int, models_folder: Path
) -> None:
    folder = models_folder / "lvat"
    model = read_model(folder / file)
    assert model.n_features == n_features
    solver = SatSolver(to_clauses(model))
    shared = [int(number) for number in (folder / f"{beside}.mandatory").read_text().split()]
    shared += [-int(number) for number in (folder / f"{beside}.dead").read_text().split()]
    assert solver.solve(shared).satisfiable
    assert not any(solver.solve([-literal]).satisfiable for literal in shared)
    seed = read_requirements(folder / f"{beside}.richseed", model)
    assert solver.solve(seed.literals).satisfiable
    cost = exact_attribute(
        read_attributes(min(folder.glob(f"{beside}.augment*")), model),
        "cost",
        model,
        decimals=2,
    )
    assert cost.values.min() >= 500
    assert cost.values.max() <= 1500


def test_the_chat_system_has_96_products_and_the_published_program(models_folder: Path) -> None:
    model = read_model(models_folder / "splot" / "jcs.sxfm.xml")
    products = np.array(oracles.products(model))
    assert len(products) == 96
    published = read_program(models_folder / "paper-instances" / "moip" / "parameter_js2.txt")
    names = feature_names(model)
    columns = names.find_all([{"Enrcyption": "Encryption"}.get(n, n) for n in published.names], "names")
    points = np.array(oracles.configurations(12))[:, columns].astype(np.float64)
    program = published.program
    activity = points @ program.rows.toarray().T
    inside = (activity >= program.row_lower).all(axis=1) & (activity <= program.row_upper).all(axis=1)
    np.testing.assert_array_equal(inside, are_valid(model, oracles.configurations(12)))
    assert [o.objective.name for o in program.objectives] == ["variety", "costs", "defects", "notUsedBefore"]
    assert [o.objective.scale for o in program.objectives] == [1, 100, 1, 1]


@pytest.mark.parametrize(
    ("system", "file", "attributes", "program"),
    [
        ("splot/web-portal.sxfm.xml", "WebPortal_RAND1", "WebPortal_RAND1.csv", "parameter_wp1.txt"),
        ("splot/e-shop-paper-2013.sxfm.xml", "EShop_RAND1", "EShop_RAND1.csv", "parameter_eshop1.txt"),
        ("lvat/ecos-icse11.dimacs", "ECos_RAND1", "ECos_RAND1.csv", "parameter_ecos1.txt.gz"),
    ],
)
def test_attributes_and_programs_of_the_study_agree_with_ours(
    system: str, file: str, attributes: str, program: str, models_folder: Path
) -> None:
    study = models_folder / "paper-instances"
    model = read_model(models_folder / system)
    table = read_attributes(study / "attributes" / attributes, model)
    chosen = chosen_attributes(["cost", "defects", "not_used_before"], [table], model)
    objectives = parse_objectives("max selected, min cost, min defects, min not_used_before", model, chosen)
    ours = to_program(model, objectives=[o.linear() for o in objectives])
    published = read_program(study / "moip" / program)
    names = feature_names(model)
    columns = [names.find(name, repeats=True) for name in published.names]
    assert sorted(c for c in columns if c is not None) == list(range(model.n_features)), file
    theirs = published.program
    order = np.array(columns, dtype=np.int64)
    signs = [-1, 1, 1, 1]
    for own, other, sign in zip(ours.objectives, theirs.objectives, signs, strict=True):
        np.testing.assert_allclose(sign * own.costs[order], other.costs, atol=1e-9)
    prefix = file.split("_", maxsplit=1)[0]
    fixed = [study / "fixed-features" / f"{side}_{prefix}.txt" for side in ("Yes", "No")]
    wishes = make_requirements(model, fixed=fixed).literals
    solver = SatSolver(to_clauses(model))
    rng = np.random.default_rng(1)
    for _ in range(5):
        more = [
            int(v) * int(s)
            for v, s in zip(rng.permutation(model.n_features)[:3] + 1, rng.choice([-1, 1], 3), strict=True)
        ]
        answer = solver.solve([*wishes, *more])
        if answer.model is None:
            continue
        product = answer.model[: model.n_features]
        assert evaluate(model, product) == []
        point = product[order].astype(np.float64)
        activity = theirs.rows @ point
        assert (activity >= theirs.row_lower).all()
        assert (activity <= theirs.row_upper).all()
    assert solver.solve(wishes).satisfiable


def test_attributed_uvl_holds_the_numbers_of_the_study(models_folder: Path) -> None:
    model = read_model(models_folder / "formats" / "attributed-uvl" / "web-portal-attr2.uvl")
    own = chosen_attributes(["cost", "defects"], [model_attributes(model)], model)
    table = read_attributes(models_folder / "paper-instances" / "attributes" / "WebPortal_RAND2.csv", model)
    study = chosen_attributes(["cost", "defects"], [table], model)
    for name in ("cost", "defects"):
        assert own[name].scale == study[name].scale
        np.testing.assert_array_equal(own[name].values, study[name].values)
