"""Smoke test of a fresh installation, without the tests' own tools: ``make dist`` runs it."""

import shlex
import subprocess
import sysconfig
import tempfile
from pathlib import Path

COMMANDS = (
    "--version",
    "prune example:breast-cancer --classifiers 10 --out committee.joblib",
    "verify committee.joblib example:breast-cancer",
    "report committee.joblib --out committee.html",
    "model info phone.uvl",
    "configure phone.uvl --set default=cost=0 --objectives 'min deselected, min cost' --out phones.parquet",
    "front show phones.parquet --pick knee",
    "compare example:iris --methods full,best-single --set folds=2 --set classifiers=4",
)
PHONE = """\
features
    Phone
        optional
            Camera {cost 18}
            Stylus {cost 9}
constraints
    Stylus => Camera
"""


def main() -> None:
    """Run every command as a user would, in an empty folder, and stop at the first that fails."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "phone.uvl").write_text(PHONE)
        for command in COMMANDS:
            print(f"$ shortlist {command}", flush=True)
            words = [str(Path(sysconfig.get_path("scripts")) / "shortlist"), *shlex.split(command)]
            subprocess.run(words, cwd=folder, check=True)


if __name__ == "__main__":
    main()
