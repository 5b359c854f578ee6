"""`shortlist model sample`: a few products of a feature model."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import SPREADSHEET_FILE, check_files
from shortlist.cli.options.settings import grouped
from shortlist.cli.options.shared import NODES, SEED, FeatureModelFile, ModelSeconds, check_shared, output
from shortlist.cli.text.output import print_notes, save

if TYPE_CHECKING:
    from shortlist.arrays import Mask
    from shortlist.products.model import FeatureModel
    from shortlist.runs.budget import Budget

MOST_DRAWN = 1000
"""Number of uniform products from which diverse products are chosen."""

MOST_SHOWN = 10
"""Largest number of products that are printed."""

KINDS_OF_SAMPLES = ("uniform", "diverse")


@dataclass(frozen=True)
class SampleOptions:
    """Options of the products to draw."""

    kind: Annotated[
        str,
        typer.Option(
            help="Which products are drawn: uniform (all with the same probability), or diverse (far apart)."
        ),
    ] = "uniform"
    n: Annotated[int, typer.Option(help="Number of products.")] = 10
    front: Annotated[
        Path | None,
        typer.Option(help="Front of configure, as .parquet, from which diverse products are chosen."),
    ] = None

    def check(self, max_nodes: int | None) -> None:
        """Refuse options out of range, and options without an effect on the requested kind."""
        from shortlist._validation import as_choice, as_count
        from shortlist.errors import BadInputError

        as_choice(self.kind, "--kind", KINDS_OF_SAMPLES)
        if self.front is not None and self.kind != "diverse":
            raise BadInputError(f"--front goes with --kind diverse, got --kind {self.kind}. Leave it out.")
        as_count(self.n, "--n")
        if max_nodes is not None:
            as_count(max_nodes, "--max-nodes", at_least=16)


@grouped
@answers
def sample(
    context: typer.Context,
    model: FeatureModelFile,
    *,
    wanted: SampleOptions,
    max_nodes: Annotated[int | None, typer.Option(help=f"{NODES}.")] = None,
    time_limit: ModelSeconds = 60.0,
    seed: Annotated[int, typer.Option(help=SEED)] = 0,
    out: Annotated[
        Path | None,
        output("the products, as .csv or .xlsx, with a row per product and a column per feature."),
    ] = None,
) -> CommandAnswer:
    """Draw products of a feature model: at random, or far apart.

    Diverse products are chosen from those of a --front, or from a thousand uniform ones.
    """
    check_files(
        inputs={"MODEL": model, "--front": wanted.front},
        outputs={"--out": out},
        endings={"--out": SPREADSHEET_FILE},
    )
    from shortlist.cli.work import last_resort, long_work
    from shortlist.products.formats import read_model
    from shortlist.runs.budget import Budget, seconds_now
    from shortlist.tables.spreadsheets import save_rows

    check_shared(context.params)
    wanted.check(max_nodes)
    kind, front = wanted.kind, wanted.front
    n = wanted.n
    started = seconds_now()
    line = read_model(model)
    print_notes(line.notes)
    with long_work() as (cancellation, tell), last_resort(time_limit):
        budget = Budget(time_limit, cancellation=cancellation, report=tell)
        size = n if kind == "uniform" else max(n, MOST_DRAWN)
        drawn = _drawn(line, size, max_nodes, seed, budget) if front is None else _products_of(front, line)
        facts = {"products": drawn} if kind == "uniform" else _far_apart(drawn, n)
        products = facts.pop("products")
        cells = products.astype(int).tolist()  # 1 where a feature is selected
        out = save(out, lambda path: save_rows(path, line.labels, cells))
    facts = {
        "method": kind,
        "status": "feasible",
        "n_products": len(products),
        **facts,
        "limit": budget.limit_text,
        "seconds": seconds_now() - started,
        "out": out,
    }
    chosen = [[line.labels[i] for i in row.nonzero()[0]] for row in products]
    return CommandAnswer(
        facts | {"products": chosen},
        partial(_print, facts, chosen),
        last=[] if out is None else [f"Saved to {out}."],
    )


def _drawn(line: "FeatureModel", n: int, max_nodes: int | None, seed: int, budget: "Budget") -> "Mask":
    import numpy as np

    from shortlist.products.analysis import DRAWN_NODES, uniform_sample

    rng = np.random.default_rng(seed)
    return uniform_sample(line, n, rng=rng, max_nodes=max_nodes or DRAWN_NODES, budget=budget)


def _far_apart(products: "Mask", n: int) -> dict[str, Any]:
    from shortlist.products.analysis import diverse_products, smallest_distance

    chosen = products[diverse_products(products, n)]
    return {"products": chosen, "distance": smallest_distance(chosen)}


def _products_of(front: Path, line: "FeatureModel") -> "Mask":
    from shortlist.errors import BadInputError
    from shortlist.results.front import Front

    loaded = Front.load(front)
    if tuple(loaded.candidates) != tuple(line.labels):
        raise BadInputError(
            f"--front must be a front of this model's products, got other features in {front}. Take the "
            "model that configure was asked about."
        )
    products: Mask = loaded.decisions.astype(bool)
    return products


def _print(facts: dict[str, Any], products: list[list[str]]) -> None:
    from shortlist._words import counted
    from shortlist.cli.text.output import WIDTH

    print(f"{counted(len(products), 'product')}, {facts['method']}.")
    if "distance" in facts:
        print(f"Every two of them differ in {counted(facts['distance'], 'feature')} or more.")
    for number, chosen in enumerate(products[:MOST_SHOWN], start=1):
        print(f"{number:>4}  {shorten(', '.join(chosen), WIDTH - 6, placeholder=' ...')}")
    if len(products) > MOST_SHOWN:
        print(f"      and {len(products) - MOST_SHOWN:,} more")
