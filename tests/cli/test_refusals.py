"""Refusals of prune and evolve before any classifier is fitted or asked: every option with a wrong value."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from shortlist.cli.options.settings import setting_forms
from shortlist.ensembles.estimators import evolved_ensemble, rule_pruners
from shortlist.ensembles.estimators import exact_pruner as estimators
from shortlist.ensembles.pools import fitting
from shortlist.ensembles.pools.members import as_pool
from shortlist.ensembles.pools.pool import Pool
from shortlist.files import dump_object
from shortlist_papers import pruning_comparison as comparison
from tests.cli.command_lines import commands
from tests.cli.refusals import refuse

COMMANDS = commands()

PRUNE: dict[str, list[tuple[list[str], str]]] = {
    "TABLE": [
        (["no.csv"], "no.csv cannot be read"),
        (["example:irises"], "example must be one of"),
        (["."], "must be a file"),
        (["infinite.csv"], "contains infinity or a value too large for dtype('float64'). In column 'a'."),
        (["one_class.csv"], "the target 'target' of one_class.csv must hold two classes or more, got one class only: 'ill'"),
        (["gaps.csv"], "known in every row, got 1 gap."),
        (["bare.csv"], "a column besides the target"),
        (["broken.parquet"], "must be UTF-8 text, Parquet or"),
        (["binary.csv"], "must be UTF-8 text, Parquet or"),
    ],
    "--error-costs": [
        (["--error-costs", "nobody=10"], "--error-costs must name classes"),
        (["--error-costs", "no.csv"], "no.csv cannot be read"),
    ],
    "--target": [(["--target", "died"], "a column 'died'"), (["--target", "a"], "this looks like a number to predict")],
    "--method": [(["--method", "exakt"], "--method must be one of backfitting, best-single,")],
    "--answer-accuracy": [
        (["--answer-accuracy", "1"], "--answer-accuracy must be above 0 and below 1, got 1.0"),
    ],
    "--set confidence-level": [
        (["--answer-accuracy", "0.9", "--set", "confidence-level=0"], "--set confidence-level must be above 0 and below 1"),
    ],
    "--set voting": [
        (["--set", "voting=softly"], "--set voting must be one of auto, averaged, hard or soft, got 'softly'"),
        (["--set", "voting=soft", "--method", "backfitting"], "needs the method exact or greedy-means, got backfitting"),
        (["--set", "voting=hard", "--method", "greedy-means"], "--set voting must be auto or soft with the method"),
    ],
    "--set probabilities": [
        (["--set", "probabilities=x"], "--set probabilities must be one of auto, mean or shares"),
        (["--set", "probabilities=cross-validated"], "--set probabilities=cross-validated has left. Leave it out: auto calibrates"),
    ],
    "--objective": [
        (["--objective", "log-loss", "--set", "voting=hard"], "--objective must count votes with --set voting=hard, got 'log-loss'"),
        (["--objective", "brier", "--set", "voting=averaged"], "which needs mean probabilities. Pass --set voting=soft."),
        (["--objective", "acuracy"], "Did you mean 'accuracy'?"),
        (["--objective", "accuracy+slope-8"], "must be auto, accuracy"),
        (["--objective", "accuracy", "--set", "voting=soft"], "must be auto, log-loss, brier or METRIC+auto with soft voting"),
        (["--objective", "tp=1,tq=2"], "must be named tp, fn, tn, fp, ill or well, got 'tq'"),
        (["--objective", "tp=x"], "NAME=NUMBER"),
        (["--objective", "tp=1,tp=2"], "twice"),
        (["three.csv", "--objective", "recall"], "accuracy or balanced-accuracy with 3 classes"),
    ],
    "--objectives": [
        (["--objectives", "max accuracy"], "a front needs at least two objectives, got accuracy"),
        (["--objectives", "accuracy, min size"], "must begin with max or min"),
        (["--objectives", "max acuracy, min size"], "Did you mean 'max accuracy'?"),
        (["--objectives", "min log-loss, max recall"], "and recall counts votes"),
        (["--objectives", "max log-loss, min size"], "Write 'min log-loss'"),
        (["--objectives", "max accuracy, min cost"], "Pass --costs too"),
        (["three.csv", "--objectives", "max true-positives, min size"], "needs a positive class, but there are 3"),
        (["--objectives", "max recall:sick, min size"], "one of the classes ill or well, got 'sick'"),
        (["--objectives", "max accuracy, min size", "--set", "min-size=0"], "--set min-size must be at least 1 for a front"),
        (
            ["--pool", "pool.joblib", "--objectives", "max accuracy, min size", "--costs", "few.csv"],
            "no cost for DecisionTreeClassifier-2",
        ),
    ],
    "--pick": [
        (["--objectives", "max accuracy, min size", "--pick", "nearest"], "--pick must be the number of a point"),
    ],
    "--set positive": [
        (["--set", "positive=il"], "ill or well, got 'il'. Did you mean 'ill'?"),
        (["three.csv", "--set", "positive=1"], "must be left out with 3 classes"),
    ],
    "--pool": [
        (["--pool", "no.joblib"], "no.joblib cannot be read"),
        (["--pool", "numbers.joblib"], "numbers.joblib does not hold a pool"),
        (["--pool", "other.joblib"], "the pool tells no and yes apart, but the target holds ill and well"),
    ],
    "--trust": [(["--trust"], "--trust belongs to --pool")],
    "--classifiers": [
        (["--classifiers", "0"], "--classifiers must be at least 1"),
        (["--method", "uwa"], "got 'uwa'. It is an opponent in shortlist_papers: shortlist compare"),
    ],
    "--set protocol": [(["--set", "protocol=folds"], "--set protocol must be one of")],
    "--margin": [
        (["--margin", "-1"], "--margin must be a finite number of at least 0"),
        (["--margin", "nan"], "--margin must be a finite number of at least 0"),
    ],
    "--test": [
        (["--test", "no.csv"], "no.csv cannot be read"),
        (["--test", "three.csv"], "three.csv must hold ill or well"),
    ],
    "--set diversity": [
        (["--set", "diversity=averge"], "Did you mean 'average'?"),
        (["--set", "diversity=each=2"], "between 0 and 1, got 2.0"),
        (["--set", "diversity=ech=0.2"], "got 'ech'"),
    ],
    "--set min-size": [
        (["--set", "min-size=-1"], "--set min-size must be at least 0"),
        (["--set", "min-size=5", "--set", "max-size=3"], "at least 5 members must vote"),
        (["--set", "min-size=200"], "no selection can keep the limits: at least 200 members must vote"),
        (["--pool", "pool.joblib", "--set", "min-size=9"], "at least 9 members must vote"),
    ],
    "--set max-size": [
        (["--set", "max-size=0"], "but --set max-size and the pool allow 0"),
        (["--set", "max-copies=2"], "--set max-copies has left. Write --method greedy-means"),
    ],
    "--answers": [
        (["--answers"], "judge 'a' must answer ill or well, got"),
        (["judged.csv", "--answers", "--drop", "ann", "--drop", "bob"], "a column besides the target"),
        (["judged.csv", "--answers", "--pool", "pool.joblib"], "--pool cannot be used with --answers"),
        (["judged.csv", "--answers", "--set", "voting=soft"], "every judge gives them, in columns judge:class, got classes alone of ann and bob."),
        (["judged.csv", "--answers", "--objective", "brier"], "or pass --set voting=hard and an objective of votes, such as --objective accuracy."),
        (["judged.csv", "--answers", "--objectives", "min log-loss, min size"], "Leave these judges out of the table, or leave log-loss out of the objectives."),
        (["judged.csv", "--answers", "--set", "voting=hard", "--set", "probabilities=mean", "--objective", "accuracy"], "Leave these judges out of the table, or pass --set probabilities=auto."),
        (["judged.csv", "--answers", "--set", "voting=averaged", "--set", "probabilities=mean"], "or pass --set voting=hard and --set probabilities=auto."),
        (["judged.csv", "--answers", "--method", "greedy-means", "--set", "probabilities=mean"], "or take a rule that goes by votes."),
        (["judged.csv", "--answers", "--set", "max-cost=3"], "or add --costs FILE with --answers, or a pool with prices."),
        (["judged.csv", "--answers", "--objectives", "max accuracy, min time"], "--objectives min time has left. Write min size, or min cost"),
        (["judged.csv", "--answers", "--objectives", "min bytes, max accuracy"], "--objectives min bytes has left. Write min size, or min cost"),
        (["judged.csv", "--answers", "--objectives", "max accuracy, min cost"], "Price the judges: pass --costs PRICES with their answers."),
        (["judged.csv", "--answers", "--set", "positive=ill"], "--set positive must be left out where"),
    ],
    "--costs": [
        (["--pool", "pool.joblib", "--set", "max-cost=3", "--costs", "no.csv"], "no.csv cannot be read"),
        (["--pool", "pool.joblib", "--set", "max-cost=3", "--costs", "text.csv"], "text.csv, line 3, column cost"),
        (["--pool", "pool.joblib", "--set", "max-cost=3", "--costs", "minus.csv"], "minus.csv, line 2, column cost"),
        (["--pool", "pool.joblib", "--set", "max-cost=3", "--costs", "gap.csv"], "gap.csv, line 2, column cost"),
        (["--pool", "pool.joblib", "--set", "max-cost=3", "--costs", "twice.csv"], "twice.csv, line 4: 'DecisionTreeClassifier-1' has"),
        (["--pool", "pool.joblib", "--set", "max-cost=3", "--costs", "few.csv"], "no cost for DecisionTreeClassifier-2"),
        (["--pool", "pool.joblib", "--set", "max-cost=3", "--costs", "people.csv"], "must have the columns name and cost"),
        (["judged.csv", "--answers", "--costs", "text.csv"], "text.csv, line 3, column cost"),
        (["judged.csv", "--answers", "--costs", "few.csv"], "--costs must price every judge, got none for 'ann' and 'bob'"),
        (["judged.csv", "--answers", "--costs", "more.csv", "--drop", "bob"], "--costs must be of judges of the table, got 'cleo'"),
        (["judged.csv", "--answers", "--costs", "huge.csv", "--set", "max-cost=5"], "shortlist: --costs must have fewer digits to stay exact"),
        (["judged.csv", "--answers", "--costs", "ann.csv", "--set", "max-cost=0.5"], "the cheapest member costs more than"),
    ],
    "--set abstentions": [
        (["judged.csv", "--answers", "--set", "abstentions=no"], "judge 'bob' must answer every row where abstentions are not"),
    ],
    "--set max-cost": [
        (["--pool", "priced.joblib", "--set", "max-cost=-1"], "--set max-cost must be finite and at least 0, got -1.0"),
        (["--pool", "pool.joblib", "--set", "max-cost=5"], "needs the cost of every member"),
        (["--pool", "priced.joblib", "--set", "max-cost=0.5"], "the cheapest member costs more than --set max-cost"),
        (["--pool", "priced.joblib", "--set", "max-cost=3.5", "--set", "min-size=3"], "the cheapest 3 members cost more"),
    ],
    "--drop": [
        (["--drop", "x"], "a column 'x'"),
        (["--drop", "target"], "--drop target is the target"),
        (["--drop", "a", "--drop", "b"], "a column besides the target"),
    ],
    "--set keep": [
        (["--set", "keep=x"], "a column 'x'"),
        (["--set", "keep=a", "--drop", "a"], "--set keep=a must be a feature, got a column that is dropped as well."),
    ],
    "--group": [
        (["--group", "x"], "a column 'x'"),
        (["--group", "target"], "--group target is the target"),
    ],
    "--time-limit": [
        (["--time-limit", "0"], "seconds above 0"),
    ],
    "--set solver": [
        (["--set", "solver=higs"], "Did you mean 'highs'?"),
    ],
    "--seed": [(["--seed", "-1"], "--seed must be at least 0")],
    "--workers": [(["--workers", "0"], "--workers must be")],
    "--study": [
        (["--study", "no/x.db"], "folder does not exist"),
        (["--study", "text.db"], "text.db"),
    ],
    "--out": [
        (
            ["--objectives", "max accuracy, min size", "--out", "m.joblib", "--out", "n.joblib"],
            "--out must name one front, one model and one page at most, got m.joblib and n.joblib",
        ),
        (["--out", "no/x.joblib"], "folder does not exist"),
        (["--out", "model.csv"], "--out must end in .joblib, .html or .htm"),
        (["--out", "rows.csv"], "the same file as TABLE"),
    ],
}  # fmt: skip
"""Wrong values of each option of prune, and part of the sentence."""

EVOLVE: dict[str, list[tuple[list[str], str]]] = {
    "TABLE": [(["infinite.csv"], "In column 'a'.")],
    "--method": [(["--method", "onlin"], "Did you mean 'online'?")],
    "--set": [
        (["--set", "wings=2"], "--set must name one of"),
        (["--set", "space=foo"], "space must be one of genetic-programs, linear, networks or rules"),
        (["--set", "population=0"], "--set population must be at least 1"),
        (["--set", "generations=0"], "--set generations must be at least 1"),
        (["--set", "gamma=-1"], "gamma must be"),
        (["--set", "tournament=100000000000"], "at most 1000"),
        (["--set", "crossover=1.5"], "--set crossover must be"),
        (["--set", "survivors=foo"], "survivors must be one of best or children"),
        (["--set", "elites=501"], "at most 500"),
        (["--set", "criterion=foo"], "criterion must be one of histogram or minimum"),
        (["--set", "selection=exact"], "--set selection has left. Leave it out: margins choose"),
        (["--set", "exact-every=3"], "--set exact-every has left. Leave it out: margins choose"),
    ],
    "--out": [(["--out", "m.csv"], "--out must end in .joblib, .html or .htm")],
}  # fmt: skip
"""Refusals of evolve alone; the options that it shares with prune are read by the same lines."""

COMPARE: list[tuple[list[str], str]] = [
    (["parts.csv", "--methods", "pruning"], "this looks like a number to predict"),
    (["--methods", "uwa,kapa"], "got 'kapa'. Did you mean 'kappa'?"),
    (["--methods", ","], "--methods must be one of"),
    (["--methods", "pruning,uwa"], "--methods must be pruning, stages, or names of methods"),
    (["--methods", "exact,uwa", "--set", "objective=acuracy"], "Did you mean 'accuracy'?"),
    (["three.csv", "--methods", "pruning", "--set", "objective=recall"], "balanced-accuracy with 3 classes"),
    (["--methods", "exact,uwa", "--set", "positive=sick"], "got 'sick'"),
    (["--methods", "pruning", "--set", "min-size=5", "--set", "max-size=3"], "at least 5 members must vote"),
    (["--methods", "uwa", "--set", "folds=1"], "--set folds must be at least 2"),
    (["--methods", "uwa", "--set", "folds=31"], "at least 31 rows each, one per fold, got 30 of 'ill'"),
    (["--methods", "uwa", "--set", "repeats=0"], "--set repeats must be at least 1"),
    (["--methods", "uwa", "--study", "text.db"], "text.db"),
    ([], "--methods must say what is compared on a table: pruning, stages, or names"),
    (["--methods", "uwa,emsco"], "--methods must be pruning, stages, or names of methods of one of the two, got uwa,emsco."),
    (["--methods", "uwa,uwa"], "--methods must name each method once"),
    (["--methods", "pruning", "--set", "probabilities=mean"], "--set must name one of"),
    (["--methods", "pruning", "--set", "seeds=3"], "--set seeds belongs to methods with stages"),
    (["--methods", "pruning", "--objectives", "coverage"], "--objectives belongs to methods with stages"),
    (["--methods", "stages", "--out", "page.html"], "a page belongs to pruning methods. Leave out --out page.html."),
    (["--methods", "uwa", "--set", "solver=highs"], "--set solver belongs to exact. Leave it out, or compare one"),
    (["--methods", "co-t,single", "--set", "population=9"], "--set population belongs to emsco."),
    (["--methods", "co-t", "--set", "penalty=ill=1"], "--set penalty belongs to emsco, enumerate or windows."),
    (["--methods", "uwa", "--set", "abstentions=no"], "--set abstentions belongs to --set answers. Leave it out, or add --set answers=yes."),
    (["--methods", "exact", "--set", "max-cost=3"], "--set max-cost belongs to members that have prices."),
    (["--methods", "emsco", "--set", "call-cost=3"], "--set call-cost belongs to the objective evaluation_cost. Leave it out, or name it in --objectives."),
    (["--methods", "emsco", "--set", "scaling=10T"], "--set scaling belongs to --set preset."),
    (["--methods", "stages", "--set", "seeds=0"], "--set seeds must be at least 1"),
    (["--methods", "stages", "--set", "folds=3"], "--set folds is an option of none of the methods compared"),
    (["--methods", "pruning", "--select", "A"], "--select belongs to a feature model"),
    (["--methods", "pruning", "--out", "x.csv"], "--out must end in .parquet"),
]  # fmt: skip
"""Refusals of compare on a table."""

UNUSED = [
    (["prune", "--method", "backfitting", "--time-limit", "60"], "--time-limit belongs to the method exact and --objectives."),
    (["prune", "--method", "backfitting", "--set", "solver=auto"], "--set solver belongs to the method exact."),
    (["prune", "--method", "backfitting", "--objective", "recall", "--set", "max-cost=3"], "--objective and --set max-cost belong to the method exact"),
    (["prune", "--method", "backfitting", "--set", "positive=ill"], "--set positive belongs to the method exact"),
    (["prune", "--set", "confidence-level=0.9"], "--set confidence-level belongs to --answer-accuracy."),
    (["prune", "--objectives", "max accuracy, min size", "--method", "exact"], "--method cannot be used with --objectives."),
    (["prune", "--objectives", "max accuracy, min size", "--answer-accuracy", "0.9"], "--answer-accuracy belongs to the method exact and rules."),
    (["prune", "--set", "max-cost=3"], "--set max-cost belongs to members that have prices."),
    (["prune", "--costs", "few.csv"], "--costs belongs to --pool or --answers."),
    (["prune", "--set", "abstentions=no"], "--set abstentions belongs to --answers."),
    (["prune", "--objectives", "max accuracy, min size", "--set", "probabilities=mean"], "--set probabilities belongs to the method exact and rules."),
    (["prune", "--answers", "--classifiers", "100"], "--classifiers belongs to a pool that is fitted here."),
    (["prune", "--pool", "pool.joblib", "--costs", "few.csv"], "--costs belongs to --set max-cost."),
    (["prune", "--pick", "ideal"], "--pick must be one of"),
    (
        ["prune", "--objectives", "max accuracy, min size", "--set", "solver=highs"],
        "--set solver belongs to the method exact.",
    ),
    (["prune", "--pool", "pool.joblib", "--classifiers", "100"], "--classifiers belongs to a pool that is fitted"),
    (["evolve", "--method", "single", "--set", "gamma=1"], "--set gamma is no option of --method single, which has --set space, "),
    (["evolve", "--set", "survivors=best", "--set", "elites=1"], "--set elites belongs to --set survivors=children."),
    (["evolve", "--set", "generations=1", "--set", "patience=3"], "--set patience belongs to evolution of more than one"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables of two and of three classes, pools, and files with costs of their members."""
    folder = tmp_path_factory.mktemp("refusals")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=60).round(3) + np.arange(60), "b": rng.integers(9, size=60)})
    table["target"] = np.where(np.arange(60) % 2 == 0, "ill", "well")
    table.to_csv(folder / "rows.csv", index=False)
    table.assign(target=np.arange(60) % 3).to_csv(folder / "three.csv", index=False)
    table.assign(target=np.arange(60) % 2 + 0.5).to_csv(folder / "parts.csv", index=False)
    table.assign(a=np.inf).to_csv(folder / "infinite.csv", index=False)
    _write_bad_tables(table, folder)
    said = table["target"].where(np.arange(60) % 7 > 0, "ill")
    judged = pd.DataFrame({"ann": said, "bob": said.where(np.arange(60) % 5 > 0), "target": table["target"]})
    judged.to_csv(folder / "judged.csv", index=False)
    (folder / "ann.csv").write_text("name,cost\nann,1\nbob,2\n")
    (folder / "more.csv").write_text("name,cost\nann,1\nbob,2\ncleo,3\n")
    (folder / "huge.csv").write_text("name,cost\nann,1e300\nbob,2\n")
    X = table[["a", "b"]]
    trees = [DecisionTreeClassifier(max_depth=d).fit(X, table["target"]) for d in (1, 2, 3)]
    fitted = as_pool(trees)
    dump_object(trees, folder / "pool.joblib")
    dump_object(
        Pool(fitted.classifiers, fitted.classes, fitted.names, fitted.families, costs=np.array([1.0, 2, 3])),
        folder / "priced.joblib",
    )
    dump_object([DecisionTreeClassifier().fit(X, np.where(X["b"] > 4, "yes", "no"))], folder / "other.joblib")
    dump_object([1, 2], folder / "numbers.joblib")
    names = fitted.names
    for file, rows in {
        "text": [(names[0], "1"), (names[1], "dear"), (names[2], "1")],
        "minus": [(names[0], "-1"), (names[1], "1"), (names[2], "1")],
        "gap": [(names[0], ""), (names[1], "1"), (names[2], "1")],
        "twice": [(names[0], "1"), (names[1], "1"), (names[0], "2"), (names[2], "2")],
        "few": [(names[0], "1"), (names[2], "1")],
    }.items():
        (folder / f"{file}.csv").write_text("name,cost\n" + "".join(f"{a},{b}\n" for a, b in rows))
    (folder / "people.csv").write_text("name,price\nx,1\n")
    (folder / "text.db").write_text("no json\n")
    return folder


def _write_bad_tables(table: pd.DataFrame, folder: Path) -> None:
    table.assign(target="ill").to_csv(folder / "one_class.csv", index=False)
    table.assign(target=table["target"].mask(table.index == 3)).to_csv(folder / "gaps.csv", index=False)
    table[["target"]].to_csv(folder / "bare.csv", index=False)
    for name, content in {
        "broken.parquet": b"\x00\x01",
        "binary.csv": bytes(range(256)) * 10,
    }.items():
        (folder / name).write_bytes(content)


@pytest.fixture(autouse=True)
def no_work() -> Iterator[None]:
    """Let every place where classifiers are fitted, bred or chosen fail."""

    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("the work began")

    with pytest.MonkeyPatch.context() as patch:
        for module, names in (
            (fitting, ["run_units"]),
            (comparison, ["run_units"]),
            (estimators, ["prune_for"]),
            (rule_pruners, ["merge_class_rows"]),
            (evolved_ensemble, ["evolve"]),
        ):
            for name in names:
                patch.setattr(module, name, work)
        yield


def _cases(command: str, cases: dict[str, list[tuple[list[str], str]]]) -> list[Any]:
    return [
        pytest.param(command, arguments, message, id=f"{command} {' '.join(arguments)}")
        for several in cases.values()
        for arguments, message in several
    ]


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [*_cases("prune", PRUNE), *_cases("evolve", EVOLVE), *_cases("compare", {"": COMPARE})],
)
def test_a_value_that_cannot_be_is_refused_before_the_work(
    folder: Path, command: str, arguments: list[str], message: str
) -> None:
    table = ["rows.csv"] if not arguments or arguments[0].startswith("--") else []
    refuse(command, *table, *arguments, message=message, cwd=folder)


@pytest.mark.parametrize(("command", "tried"), [("prune", {*PRUNE}), ("evolve", {*PRUNE, *EVOLVE})])
def test_every_option_has_a_value_that_is_refused(command: str, tried: set[str]) -> None:
    known = COMMANDS[command]
    options = {max(each.opts, key=len) for each in known.params} - {"--help", "--trust", "--set"}
    settings = {f"--set {name}" for name in setting_forms(known)}
    assert {"TABLE" if name == "table" else name for name in options} <= tried
    if command == "prune":
        assert tried <= options | settings | {"TABLE", "--answers", "--trust"}


@pytest.mark.parametrize(("arguments", "message"), UNUSED, ids=str)
def test_options_that_nothing_uses_are_refused_also_with_their_default(
    folder: Path, arguments: list[str], message: str
) -> None:
    refuse(arguments[0], "rows.csv", *arguments[1:], message=message, cwd=folder)


@pytest.mark.parametrize("command", [["prune"], ["compare", "--methods", "pruning"]])
def test_a_solver_that_is_not_installed_is_said_before_the_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    monkeypatch.delitem(sys.modules, "shortlist.milp.backends.gurobi", raising=False)
    refuse(
        *command, "rows.csv", "--set", "solver=gurobi", message="pip install 'shortlist[gurobi]'", cwd=folder
    )
