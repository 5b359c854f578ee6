"""`shortlist verify`: recheck what a pruned ensemble claims."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli.output import print_json, save

if TYPE_CHECKING:
    from shortlist.ensembles.verification import Verification


def verify(
    model: Annotated[Path, typer.Argument(help="Model file of shortlist prune.")],
    table: Annotated[str, typer.Argument(help="The table that it was made from.")],
    *,
    pool: Annotated[
        Path | None,
        typer.Option(
            help="joblib file with the whole pool: then the votes of all classifiers are recomputed."
        ),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="JSON file to write the certificate to, for other auditors.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Load the files although loading runs the code in them.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Recheck value and bound of a pruned ensemble, independently of what found them.

    Exits with 1 if something is not as the model claims.
    """
    import time

    from shortlist.cli.files import check_files

    check_files(
        inputs={"MODEL": model, "TABLE": table, "--pool": pool},
        outputs={"--certificate": certificate},
        endings={"--certificate": (".json",)},
    )
    from shortlist.datasets.tables import read_table, select_columns
    from shortlist.ensembles.certificate import write_certificate
    from shortlist.ensembles.estimators import ExactPruner
    from shortlist.ensembles.pool import load_pool
    from shortlist.ensembles.verification import verify as recheck
    from shortlist.errors import BadInputError
    from shortlist.saved_models import load_model

    start = time.monotonic()
    saved = load_model(model, trust=trust)
    if not isinstance(saved.estimator, ExactPruner):
        raise BadInputError(
            f"verify needs a model of shortlist prune --method exact, got one of {type(saved.estimator).__name__}: "
            "rules and evolution prove nothing."
        )
    rows = select_columns(read_table(table), [*saved.features, saved.target])
    found = recheck(
        saved.estimator,
        rows[list(saved.features)],
        rows[saved.target].to_numpy(),
        pool=None if pool is None else load_pool(pool, trust=trust),
    )
    if certificate is not None:
        certificate = save(certificate, lambda path: write_certificate(found.certificate, path))
    if json:
        print_json(
            {
                "command": "verify",
                "status": "valid" if found.valid else "invalid",
                "method": "certificate",
                "seconds": time.monotonic() - start,
                "failures": list(found.failures),
                "value": found.value,
                "bound": found.bound,
                "claimed_bound": found.claimed_bound,
                "rows": found.n_rows,
                "n_classifiers": found.n_classifiers,
                "n_cuts" if found.parts == "cuts" else "n_ranges": found.n_parts,
                "all_votes": found.all_votes,
                "certificate": None if certificate is None else str(certificate),
            }
        )
    else:
        _print(found)
    if not found.valid:
        raise typer.Exit(1)


def _print(found: "Verification") -> None:
    """Print what was found for people."""
    whose = "all classifiers" if found.all_votes else "the members"
    print(f"Asked {whose} again on {found.n_rows:,} validation rows; checked {_counted(found)} in integers.")
    for sentence in found.failures:
        print(f"NOT AS CLAIMED: {sentence}.")
    if not found.valid:
        return
    limits = found.certificate["limits"]
    others = [name for field, name in (("budget", "cost"), ("each", "diversity")) if field in limits]
    kept = f", within the limits on {' and '.join(others)}," if others else ""
    print(
        f"Value {found.value:.6g}: as claimed. No selection of {limits['min_size']} to {limits['max_size']} of the "
        f"{found.n_classifiers} classifiers{kept} exceeds {found.bound:.6g}: proved by the {found.parts}."
    )
    if found.bound is not None and found.claimed_bound < found.bound:
        print(
            f"The model's own bound {found.claimed_bound:.6g} is {_whose_word(found)}: nothing here contradicts it, nor proves it."
        )
    if not found.all_votes:
        print(
            "The votes of the classifiers that were left out are taken from the model; --pool recomputes them."
        )


def _counted(found: "Verification") -> str:
    """Say how much proves the bound."""
    return (
        f"{found.n_parts:,} cuts"
        if found.parts == "cuts"
        else f"lines for {found.n_parts:,} ranges of thresholds"
    )


def _whose_word(found: "Verification") -> str:
    """Say who proved more than the certificate."""
    return "a solver's word" if found.parts == "cuts" else "that of its branch and bound"
