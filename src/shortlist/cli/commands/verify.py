"""`shortlist verify`: recheck the claims of a pruned ensemble or a front."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import check_files
from shortlist.cli.options.settings import grouped, refuse_unused
from shortlist.cli.options.shared import check_shared
from shortlist.cli.options.verify_options import KINDS, EnsembleCheck, FrontRecheck
from shortlist.cli.text.front_checks import EXIT_CODES, failure_lines, verify_front, verify_stages
from shortlist.cli.text.output import save
from shortlist.errors import BadInputError

if TYPE_CHECKING:
    from shortlist.ensembles.verification.recheck_model import Verification

NO_MODELS = {
    ".csv": "a front as .parquet, since a .csv holds no proof, or a model as .joblib",
    **dict.fromkeys(
        (".lp", ".mps", ".gz", ".uvl", ".xml", ".xlsx"), "a front as .parquet or a model as .joblib"
    ),
}
"""Endings of files that are no models, and the file that is needed instead."""


@grouped
@answers
def verify(
    context: typer.Context,
    model: Annotated[
        Path,
        typer.Argument(
            help="Model file of shortlist prune, evolve or stage, or front of shortlist solve, configure or "
            "prune."
        ),
    ],
    table: Annotated[
        str,
        typer.Argument(
            help="CSV, Parquet or Excel file, - for standard input, or a set such as example:digits; for "
            "a front of a program or product line the program or feature model."
        ),
    ],
    *,
    ensemble: EnsembleCheck,
    front: FrontRecheck,
) -> CommandAnswer:
    """Recheck what a saved model or a front claims.

    A pruned ensemble is rechecked on its table, a front on its program or feature model. Where an ensemble
    has no certificate, as after a named solver, a rule or evolution, its value alone is counted again. Every
    point of a front is counted again, and a solver that did not find the front looks for missing points;
    fronts of committees need --pruned. Stages are fitted and searched again, and their points counted row by
    row. The exit code is 1 if something is not as claimed, and 3 if a claim is left without a proof.
    """
    is_front = model.suffix.casefold() == ".parquet"
    check_files(
        inputs={
            "MODEL": model,
            "TABLE": table,
            "--pool": ensemble.pool,
            "--pruned": front.pruned,
            "--attributes": front.attributes,
        },
        outputs={"--certificate": ensemble.certificate},
        endings={"--certificate": (".json",)},
    )
    if model.suffix.casefold() in NO_MODELS:
        raise BadInputError(
            "MODEL", f"must be {NO_MODELS[model.suffix.casefold()]}", f"{model.name}",
            "The table, program or feature model comes second.",
        )  # fmt: skip
    check_shared(context.params)
    refuse_unused(context, KINDS, "a front" if is_front else "a model")
    with _undamaged(model.name):
        if is_front:
            return verify_front(model, table, front)
        return _verify_model(model, table, ensemble)


@contextlib.contextmanager
def _undamaged(name: str) -> Iterator[None]:
    """Raise an error of one sentence if a part of a file has an unexpected type."""
    from shortlist.errors import BadFileError, ShortlistError

    try:
        yield
    except (ShortlistError, OSError, MemoryError):
        raise
    except Exception as error:  # parts of other kinds make nearly anything raise nearly anything
        said = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
        raise BadFileError(
            f"{name} must hold what Shortlist writes, and a part of it cannot be checked ({said}). It is "
            "damaged or of another version: make it again. If it is neither, --debug shows where it fails."
        ) from error


def _verify_model(model: Path, table: str, given: EnsembleCheck) -> CommandAnswer:
    pool, certificate, trust = given.pool, given.certificate, given.trust
    from shortlist.cli.work import working
    from shortlist.ensembles.committees.chosen import Chosen
    from shortlist.ensembles.pools.fitting import load_pool
    from shortlist.ensembles.pools.pool import Pool
    from shortlist.ensembles.proofs.certificate import write_certificate
    from shortlist.ensembles.verification.recheck_model import verify as recheck
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.runs.budget import seconds_now
    from shortlist.saved_models import load_model, made_by
    from shortlist.tables.learning import read_table, select_columns

    start = seconds_now()
    saved = load_model(model, trust=trust)
    estimator = saved.estimator
    if isinstance(estimator, MultiStageClassifier):
        if pool or certificate:
            option = "--pool" if pool else "--certificate"
            raise BadInputError(f"{option} belongs to pruned ensembles. Leave it out.")
        return verify_stages(saved, table)
    if not (isinstance(estimator, Chosen) or hasattr(estimator, "training_")):
        raise BadInputError(
            f"verify needs a model of shortlist prune, evolve or stage, got one of {made_by(estimator)}."
        )
    notes: list[str] = []
    rows = select_columns(read_table(table, notes), [*saved.features, saved.target])
    whole = None if pool is None else load_pool(pool, trust=trust)
    X, y = rows[list(saved.features)], rows[saved.target].to_numpy()
    if whole is None and isinstance(estimator, Chosen) and estimator.committee.judged_columns:
        whole = Pool.of_judges_again(X, estimator.classes_, estimator.names)  # whose answers the table holds
    with working("checking"):
        found = recheck(estimator, X, y, pool=whole)
    kept = found.certificate
    notes += found.notes
    if certificate is not None and kept is None:
        notes.append("there is no certificate to write")
    certificate = None if kept is None else save(certificate, lambda path: write_certificate(kept, path))
    facts = {
        "status": found.status,
        "method": "certificate" if found.parts else "count",
        "seconds": seconds_now() - start,
        "failures": list(found.failures),
        "doubts": list(found.doubts),
        "value": found.value,
        "bound": found.bound,
        "claimed_bound": found.claimed_bound,
        "proof": None if found.evidence is None else found.evidence.as_dict(),
        "rows": found.n_rows,
        "n_classifiers": found.n_classifiers,
        {"tangents": "n_ranges", "selections": "n_selections"}.get(found.parts, "n_cuts"): found.n_parts,
        "all_votes": found.all_votes,
        "out_of_fold": found.out_of_fold,
        "certificate": certificate,
    }
    return CommandAnswer(facts, _lines(found), notes, exit_code=EXIT_CODES.get(found.status, 0))


def _lines(found: "Verification") -> list[str]:
    lines = failure_lines(found.failures)
    if found.evidence is None:
        return lines
    whose = "all classifiers" if found.all_votes else "the members"
    how = "" if found.parts == "tangents" else " in integers"
    checked = f"; checked {_counted(found)}{how}" if found.parts else ""
    claimed = "As claimed, as far as it can be rechecked" if found.status == "partly" else "As claimed"
    if found.other_table:
        claimed = f"The table is not the one on record: {found.other_table}. {claimed}"
    lines.append(f"{claimed}. Asked {whose} again on {found.n_rows:,} rows{checked}.")
    lines.append(f"{found.evidence.sentence()}.")
    if found.certificate is not None:
        limits = found.certificate["limits"]
        others = [name for field, name in (("budget", "cost"), ("each", "diversity")) if field in limits]
        kept = f", within the limits on {' and '.join(others)}" if others else ""
        least, most = limits["min_size"], limits["max_size"]
        sizes = f"exactly {most}" if least == most else f"{least} to {most}"
        lines.append(f"A selection has {sizes} of the {found.n_classifiers} classifiers{kept}.")
    if found.claimed_bound is not None and not found.all_votes:
        again = "nothing recomputes them" if found.out_of_fold else "--pool recomputes them"
        lines.append(f"The votes of the classifiers that were left out are taken from the model; {again}.")
    lines += [f"{sentence} (exit code 3)." for sentence in found.doubts]
    if found.status == "counted" and not found.doubts:
        lines.append("The value was counted again; the bound has no proof (exit code 3).")
    return lines


def _counted(found: "Verification") -> str:
    from shortlist._words import counted

    return {
        "cuts": counted(found.n_parts, "cut"),
        "rows": "how many rows can be right",
        "tangents": f"the tangents that prove the bound for {counted(found.n_parts, 'range')} of sizes",
        "selections": f"all {counted(found.n_parts, 'selection')}",
    }[found.parts]
