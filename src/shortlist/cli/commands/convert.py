"""`shortlist model convert` and `model slice`: a feature model in another format, or of fewer features."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import SPREADSHEET_FILE, check_files, files_by_kind
from shortlist.cli.options.settings import grouped
from shortlist.cli.options.shared import FeatureModelFile, ModelSeconds, check_shared, output
from shortlist.cli.text.output import print_notes, save

if TYPE_CHECKING:
    from shortlist.products.conversion import Conversion
    from shortlist.products.model import FeatureModel


@answers
def convert(
    context: typer.Context,
    model: FeatureModelFile,
    *,
    out: Annotated[
        list[Path],
        output(
            "the model, in the format of its ending, and the attributes too, as .csv or .xlsx, if it is "
            "given twice."
        ),
    ],
    time_limit: ModelSeconds = 60.0,
) -> CommandAnswer:
    """Write a feature model in another format, with proof.

    The output names what the format expresses differently or not at all. The file is read back, and every
    rule of one is proved to follow from the other. Ctrl-C ends the proof, and the file is written without
    one.
    """
    from shortlist.products.formats import MODEL_ENDINGS, format_of, read_model

    check_files(
        inputs={"MODEL": model},
        outputs={"--out": out},
        endings={"--out": (*MODEL_ENDINGS, *SPREADSHEET_FILE)},
    )
    from shortlist.cli.work import last_resort, long_work
    from shortlist.errors import BadInputError
    from shortlist.files import write_text
    from shortlist.products.attribute_files import save_attributes
    from shortlist.products.conversion import convert_model
    from shortlist.runs.budget import Budget, seconds_now

    check_shared(context.params)
    attributes_file, model_file = files_by_kind(out, table=SPREADSHEET_FILE, model=tuple(MODEL_ENDINGS))
    if model_file is None:
        raise BadInputError("--out", "must name a file for the model", str(attributes_file))
    kind = format_of(model_file)
    started = seconds_now()
    line = read_model(model)
    print_notes(line.notes)
    with long_work() as (cancellation, tell), last_resort(time_limit):
        budget = Budget(time_limit, cancellation=cancellation, report=tell)
        made = convert_model(line, kind, budget=budget)
        saved = save(model_file, lambda path: write_text(path, made.text))
        table = save(attributes_file, lambda path: save_attributes(path, line))
    facts = _facts(made, line, saved) | {
        "attributes_out": table,
        "limit": budget.limit_text,
        "seconds": seconds_now() - started,
    }
    return CommandAnswer(facts, partial(_print, facts))


@dataclass(frozen=True)
class KeptOptions:
    """Features to keep."""

    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Features to keep, with commas between them, or a file with a name per line; may be "
            "repeated."
        ),
    ] = None

    @property
    def files(self) -> list[Path]:
        """Values of ``--keep`` that are files."""
        return [Path(text) for text in self.keep or () if Path(text).is_file()]

    def features(self, line: "FeatureModel") -> list[int]:
        """Return the features, counted from 0."""
        from shortlist.errors import BadInputError
        from shortlist.files import read_source
        from shortlist.products.model import feature_names

        names = feature_names(line)
        found: list[int] = []
        for text in self.keep or ():
            whole = names.find(text)
            if whole is None and Path(text) in self.files:
                lines = [row.strip() for row in read_source(text).text.split("\n")]
                found += names.find_all([row for row in lines if row], text)
                continue
            parts = (
                [text] if whole is not None else [part.strip() for part in text.split(",") if part.strip()]
            )
            found += names.find_all(parts, "--keep")
        if not found:
            raise BadInputError("--keep must name a feature at least, got none. Add --keep NAME.")
        return found


@grouped
@answers
def slice_(
    context: typer.Context,
    model: FeatureModelFile,
    *,
    out: Annotated[Path, output("the model, in the format of its ending.")],
    kept: KeptOptions,
    time_limit: ModelSeconds = 60.0,
) -> CommandAnswer:
    """Reduce a feature model to some of its features.

    The products of the slice are exactly the products of the model without the other features. Keep the root
    to keep a tree.
    """
    from shortlist.products.formats import MODEL_ENDINGS, format_of, read_model

    check_files(
        inputs={"MODEL": model, "--keep": kept.files},
        outputs={"--out": out},
        endings={"--out": tuple(MODEL_ENDINGS)},
    )
    from shortlist.cli.work import last_resort, long_work
    from shortlist.files import write_text
    from shortlist.products.conversion import convert_model
    from shortlist.products.slicing import slice_model
    from shortlist.runs.budget import Budget, seconds_now

    check_shared(context.params)
    kind = format_of(out)
    started = seconds_now()
    line = read_model(model)
    print_notes(line.notes)
    features = kept.features(line)
    with long_work() as (cancellation, tell), last_resort(time_limit):
        budget = Budget(time_limit, cancellation=cancellation, report=tell)
        cut = slice_model(line, features, budget=budget)
        made = convert_model(cut.model, kind, budget=budget)
        saved = save(out, lambda path: write_text(path, made.text))
    facts = _facts(made, cut.model, saved) | {
        "method": cut.method,
        "n_kept_rules": cut.n_kept_rules,
        "n_new_clauses": cut.n_new_clauses,
        "limit": budget.limit_text,
        "seconds": seconds_now() - started,
    }
    return CommandAnswer(facts, partial(_print, facts, "the slice's"))


def _facts(made: "Conversion", model: "FeatureModel", saved: Path) -> dict[str, Any]:
    return {
        "method": "satisfiability",
        "status": "optimal" if made.proved else "feasible",
        "format": made.kind,
        "n_features": model.n_features,
        "proved": made.proved,
        "changes": list(made.notes),
        "out": saved,
    }


def _print(facts: dict[str, Any], whose: str = "the same") -> None:
    """Print the written file of a model, the changes, and the proof about the products."""
    from shortlist._words import counted

    if "n_kept_rules" in facts:
        print(
            f"{counted(facts['n_kept_rules'], 'rule')} kept, and "
            f"{counted(facts['n_new_clauses'], 'new clause')} in place of the other rules, by "
            f"{facts['method']}."
        )
    print(f"{counted(facts['n_features'], 'feature')} written to {facts['out']} as {facts['format']}.")
    for change in facts["changes"]:
        print(f"  {change}")
    if facts["proved"]:
        print(f"Proved: the file has {whose} products.")
    else:
        print(f"Not proved ({facts['limit']}): whether the file has {whose} products.")
    if facts.get("attributes_out"):
        print(f"Attributes saved to {facts['attributes_out']}.")
