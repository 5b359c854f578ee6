"""Options shared by several commands: each has one flag, one type, one help and one meaning.

If a command needs more words for an option, its help begins with the help here; a test compares both.
"""

import contextlib
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import typer

from shortlist._words import counted
from shortlist.cli.options.settings import Fills, needs, read_names
from shortlist.cli.text.output import complain
from shortlist.guarantees.settings import PromiseSettings

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from shortlist.runs import Study
    from shortlist.tables.learning import LearningTable
    from shortlist.tables.numbers import CellRules

SEED = "Seed of all randomness."
WORKERS = "Number of workers or threads; -1 uses every core; or the address of a Dask scheduler."
SECONDS_HELP = "Time limit in seconds"
POOL = "joblib file with fitted classifiers"
WHAT_MATTERS = "Objectives"
POINT = "Point of the front"
PROTOCOL = "Division of the rows for fitting, selecting and measuring"
MARGIN_HELP = "Largest loss, in the objective, that still counts as no worse"
NODES = "Largest number of nodes of the diagram that counts products"
JOBS = Fills("n_jobs")


def read_workers(given: int | str) -> int | str:
    """Return a number of workers; return other text unchanged, for the check in :func:`check_shared`."""
    try:
        return int(given)
    except ValueError:
        return given


TableFile: TypeAlias = Annotated[
    str,
    typer.Argument(help="CSV, Parquet or Excel file, - for standard input, or a set such as example:digits."),
]
FeatureModelFile: TypeAlias = Annotated[
    Path, typer.Argument(help="Feature model: SXFM, UVL, FeatureIDE XML or DIMACS.")
]
ProgramFile: TypeAlias = Annotated[
    Path, typer.Argument(help="Integer program: LP or MPS, also compressed by gzip.")
]
SavedModelFile: TypeAlias = Annotated[
    Path, typer.Argument(help="Model file of shortlist prune, evolve or stage.")
]
FrontFile: TypeAlias = Annotated[Path, typer.Argument(help="Front written with --out.")]

Target: TypeAlias = Annotated[str, typer.Option(help="Column that holds the class.")]
Drop: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Column to leave out, such as an id; may be repeated.")
]
Group: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column that names the case of each row: all rows of a case stay on one side of "
        "every split, and the column is not used as a feature."
    ),
]
LimitTexts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Limit that an answer has to keep, such as 'cost<=120', with <=, <, >=, > or ==; may be "
        "repeated."
    ),
    Fills("limits"),
]
Trust: TypeAlias = Annotated[
    bool, typer.Option("--trust", help="Load joblib files of others, although loading runs their code.")
]
ModelSeconds: TypeAlias = Annotated[float, typer.Option(help=f"{SECONDS_HELP}.")]
Seed: TypeAlias = Annotated[int, typer.Option(help=SEED), Fills("random_state")]
WorkersOrAddress: TypeAlias = Annotated[
    Any,  # a number or an address; typer knows no unions
    typer.Option(parser=read_workers, metavar="N|ADDRESS", help=WORKERS),
    JOBS,
]
MethodSeed: TypeAlias = Annotated[
    int | None, typer.Option(show_default="0", help=SEED), Fills("random_state")
]
"""Seed of a method; by default the method's own."""
MethodWorkers: TypeAlias = Annotated[
    Any, typer.Option(parser=read_workers, metavar="N|ADDRESS", show_default="1", help=WORKERS), JOBS
]
"""Number of workers of a method; by default the method's own."""
Data: TypeAlias = Annotated[
    str | None, typer.Option(help="Folder with data sets that is searched first."), Fills("folder")
]
Details: TypeAlias = Annotated[
    bool, typer.Option("--details", help="Print all that is known, not just the answer and how good it is.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


def own_or_address(workers: int | str | None) -> int | str:
    """Return a number of threads, or a scheduler's address; by default one thread per core."""
    return -1 if workers is None else workers


def output(what: str) -> Any:
    """Return the option of a file to write; `what`: the content of the file, for the help."""
    return typer.Option(help=f"File to write: {what}")


ModelOut: TypeAlias = Annotated[Path | None, output("the model, ending in .joblib.")]
FrontAndPageOut: TypeAlias = Annotated[
    list[Path] | None,
    output(
        "the front, as .parquet, or .csv or .xlsx as a table, or a page with pictures, as .html; may be "
        "repeated."
    ),
]
ModelAndPageOut: TypeAlias = Annotated[
    list[Path] | None,
    output("the model, as .joblib, or a page with pictures, as .html; may be repeated."),
]


Gaps: TypeAlias = Annotated[
    str | None,
    "Words that count as empty cells, such as NA,?; by default NA, None and the like, in columns of numbers.",
]
Decimals: TypeAlias = Annotated[
    str | None, "Decimal sign of columns where numbers such as 1,234 leave it open: point or comma."
]


def cell_rules(gaps: str | None, decimal: str | None) -> "CellRules":
    """Read the rules for cells of a table."""
    from shortlist._validation import as_choice
    from shortlist.tables.numbers import DECIMALS, CellRules

    if decimal is not None:
        as_choice(decimal, "decimal", DECIMALS)
    return CellRules(None if gaps is None else tuple(read_names(gaps) if gaps else ()), decimal)


@dataclass(frozen=True)
class TableOptions:
    """Reading of the table."""

    target: Target = "target"
    drop: Drop = None
    keep: Annotated[
        str | None, "Features to keep although they look like row identifiers, such as id,zip."
    ] = None
    group: Group = None
    gaps: Gaps = None
    decimal: Decimals = None

    def read(self, table: str, notes: list[str]) -> "LearningTable":
        """Return features and classes; `notes` receives facts about the table that a user should know."""
        from shortlist.tables.learning import read_table, split_target

        return split_target(
            read_table(table, notes, rules=cell_rules(self.gaps, self.decimal)),
            self.target,
            drop=self.drop or (),
            keep=() if self.keep is None else read_names(self.keep),
            group=self.group,
            notes=notes,
        )


@dataclass(frozen=True)
class MeasureOptions:
    """Rows that measure, and how much worse is still as good."""

    test: Annotated[
        Path | None,
        typer.Option(
            help="Table of other rows, with their classes, to measure the result; all rows of TABLE then "
            "fit and select."
        ),
    ] = None
    margin: Annotated[float, typer.Option(help=f"{MARGIN_HELP}: 0.01 is one point of accuracy.")] = 0.01

    def test_rows(
        self, rows: TableOptions, learning: "LearningTable", notes: list[str]
    ) -> "tuple[pd.DataFrame, NDArray[Any]] | None":
        """Return the rows of ``--test`` and their classes; None without the option."""
        import numpy as np

        from shortlist.errors import BadInputError
        from shortlist.tables.learning import labelled_rows, read_table

        if not 0 <= self.margin < math.inf:
            raise BadInputError("margin", "must be a finite number of at least 0", f"{self.margin!r}")
        if self.test is None:
            return None
        table = read_table(str(self.test), notes, rules=cell_rules(rows.gaps, rows.decimal))
        features = [str(name) for name in learning.X.columns]
        return labelled_rows(table, features, rows.target, np.unique(learning.y.to_numpy()))


@dataclass(frozen=True)
class RunOptions:
    """Options of every command that learns from a table.

    Without `workers`, threads use every core, and comparisons run in this process, as starting other
    processes takes longer than a small comparison.
    """

    seed: Seed = 0
    workers: Annotated[
        Any,
        typer.Option(parser=read_workers, metavar="N|ADDRESS", show_default="every core", help=WORKERS),
        JOBS,
    ] = None


@dataclass(frozen=True)
class StudyOptions:
    """The study of a command."""

    study: Annotated[
        Path | None,
        typer.Option(
            help="File ending in .db that keeps what is finished, so that a stopped or killed run can resume."
        ),
    ] = None

    @contextlib.contextmanager
    def opened(self, context: typer.Context) -> Iterator["Study"]:
        """Yield the study; note the command line, and say which results the study already has.

        Without a file the study stores nothing.
        """
        from shortlist.runs import NO_STUDY, open_study

        if self.study is None:
            yield NO_STUDY
            return
        with open_study(self.study, say=complain) as study:
            if study.noted("begun") is not None and time_limit_in(context.params) is not None:
                complain("note: the time limit starts again.")
            study.ask(context.command_path.partition(" ")[2], sys.argv[1:])
            known = study.n_finished
            yield study
            if known:
                units = counted(known, "finished unit")
                complain(
                    f"note: {units} came from {self.study}; what a study does not keep was computed again."
                )
            elif study.is_empty:
                complain(f"note: nothing is kept in {self.study}: this method answers anew every time.")


OF_A_PROMISE = needs("answer_accuracy", "NUMBER")


@dataclass(kw_only=True)
class PromiseOptions(PromiseSettings):
    """Promises about answers to new rows."""

    MARKS: ClassVar = {"confidence_level": (OF_A_PROMISE,)}

    anyway: Annotated[
        bool,
        "Whether to write the model even if nothing can be promised; it then answers no row.",
        OF_A_PROMISE,
    ] = False

    def selective(self, classifier: Any, seed: int, y: "pd.Series[Any]") -> Any:
        """Return an unfitted classifier, with a promise if one was requested."""
        if self.answer_accuracy is None:
            return classifier
        from shortlist.guarantees.selective_classifier import SelectiveClassifier

        return SelectiveClassifier(
            classifier,
            answer_accuracy=self.answer_accuracy,
            confidence_level=self.confidence_level,
            reject_label=no_class(y),
            random_state=seed,
        )


def no_class(y: Any) -> str | None:
    """Return the label of rows without an answer; None if classes are words, for the library's default."""
    return None if y.dtype.kind == "O" else "REJECT"


def time_limit_in(given: Mapping[str, Any]) -> float | None:
    """Return the time limit among the values of a command's parameters."""
    limit: float | None = given.get("time_limit_s", given.get("time_limit"))
    return limit


def check_shared(given: Mapping[str, Any]) -> None:
    """Refuse shared options that are out of range for any content of the files.

    `given`: the values of the command's parameters; a parameter that is missing or None is not checked.
    """
    from shortlist._validation import as_count, as_positive_seconds, as_seed
    from shortlist.runs.workers import as_where

    if given.get("seed") is not None:
        as_seed(given["seed"], "--seed")
    if given.get("workers") is not None:
        as_where(given["workers"], "--workers")
    as_positive_seconds(time_limit_in(given), "--time-limit")
    if given.get("answer_accuracy") is not None:
        from shortlist.guarantees.guarantee import as_demand

        as_demand(given["answer_accuracy"], given["confidence_level"])
    if given.get("rows") is not None:
        as_count(given["rows"], "--rows", at_least=0)
