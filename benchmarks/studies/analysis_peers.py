"""Analyses of feature models, by Shortlist and by flamapy's solvers, in a Python that has it.

    FLAMAPY_PYTHON=path/to/python python -m benchmarks analysis-peers --data FOLDER

That Python needs ``pip install flamapy==2.6.0 flamapy-z3==2.6.0`` (GPL-3: an opponent here, no dependency). Times are
of the processor, after the imports: for reading the file, its encoding and all questions, and for the questions alone. Shortlist answers all
questions at once, with sets of features that are always together and constraints that follow from others besides.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shortlist.files import read_source
from shortlist.products import FeatureModel, analyse, read_model
from shortlist.products.analysis import Analysis
from shortlist.products.model import GroupKind

LIMIT_S = 60
FILES = (
    "attributed-uvl/jcs-attr1.uvl", "attributed-uvl/web-portal-attr1.uvl", "berkeleydb.uvl", "uclinux-base.uvl.gz",
    "busybox-1.18.0.uvl", "automotive01.uvl.gz",
)  # fmt: skip
QUESTIONS = {
    "sat": {"void": "PySATSatisfiable", "core": "PySATCoreFeatures", "dead": "PySATDeadFeatures",
            "false_optional": "PySATFalseOptionalFeatures"},
    "bdd": {"void": "BDDSatisfiable", "core": "BDDCoreFeatures", "dead": "BDDDeadFeatures",
            "false_optional": "BDDFalseOptionalFeatures", "n_products": "BDDConfigurationsNumber"},
    "z3": {"void": "Z3Satisfiable", "core": "Z3CoreFeatures", "dead": "Z3DeadFeatures",
           "false_optional": "Z3FalseOptionalFeatures"},
}  # fmt: skip
"""Backends of flamapy, and the operation that answers each question."""

SCRIPT = """
import importlib, json, sys, time
path, backend, questions = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
names = {"sat": "pysat_metamodel", "bdd": "bdd_metamodel", "z3": "z3_metamodel"}
package = "flamapy.metamodels." + names[backend]
to = {"sat": "FmToPysat", "bdd": "FmToBDD", "z3": "FmToZ3"}[backend]
transformation = getattr(importlib.import_module(package + ".transformations"), to)
operations = importlib.import_module(package + ".operations")
from flamapy.metamodels.fm_metamodel.transformations import UVLReader
from flamapy.metamodels.fm_metamodel.operations import FMAtomicSets
plain = lambda one: getattr(one, "name", one)
start = time.process_time()
def say(question, answer):
    print(json.dumps([question, answer, time.process_time() - start]), flush=True)
model = UVLReader(path).transform()
say("atomic_sets", [[plain(f) for f in each] for each in FMAtomicSets().execute(model).get_result()])
encoded = transformation(model).transform()
say("encoded", True)
for question, operation in questions.items():
    answer = getattr(operations, operation)().execute(encoded).get_result()
    if question == "void":
        answer = not answer
    elif question == "n_products":
        answer = str(answer)
    else:
        answer = sorted(plain(one) for one in answer)
    say(question, answer)
"""


def analysis_peers(folder: Path) -> Iterator[dict[str, Any]]:
    """Ask both the same of real models; every answer is compared."""
    python = os.environ.get("FLAMAPY_PYTHON")
    if python is None:
        print("analysis-peers left out: set FLAMAPY_PYTHON to a Python that has flamapy and flamapy-z3")
        return
    for name in FILES:
        path = folder / "feature-models" / "formats" / name
        analyse(read_model(path))  # compile outside the clock
        times = []
        for _ in range(3):
            start = time.process_time()
            model = read_model(path)
            read = time.process_time()
            found = analyse(model, n_explained=0)
            times.append((time.process_time() - start, time.process_time() - read))
        seconds, asking = sorted(times)[1]
        for backend, questions in QUESTIONS.items():
            answers, theirs_s, encoding_s = _flamapy(python, path, backend)
            row: dict[str, Any] = {
                "case": "analysis-peers", "data": path.name.split(".uvl")[0], "size": model.n_features, "method": f"flamapy {backend}",
                "seconds": seconds, "seconds_questions": asking, "flamapy": theirs_s, "answered": " ".join(q for q in questions if q in answers),
            }  # fmt: skip
            compared = {
                q: _same(q, answers[q], found, model) for q in (*questions, "atomic_sets") if q in answers
            }
            row["same"] = " ".join(q for q, same in compared.items() if same)
            row["different"] = " ".join(q for q, same in compared.items() if not same)
            done = all(question in answers for question in questions)
            row["ratio" if done else "ratio_at_least"] = theirs_s / seconds
            if done:
                row["flamapy_questions"] = theirs_s - encoding_s
                row["ratio_questions"] = row["flamapy_questions"] / asking
            print(row, flush=True)
            yield row


def _same(question: str, theirs: Any, found: Analysis, model: FeatureModel) -> bool:
    """Whether an answer of flamapy is the one of Shortlist, after what the two call differently is set right."""
    fixed = {finding.feature for kind in (found.core, found.dead) for finding in kind}
    numbers = {label: i for i, label in enumerate(model.labels)}
    if question == "void":
        return bool(theirs) == (found.void is not None)
    if question == "n_products":
        return found.n_products is not None and int(theirs) == found.n_products
    if question == "atomic_sets":  # flamapy joins mandatory children to their parents, and asks no solver
        ours = [set(each) for each in found.atomic_sets]
        sets = [{numbers[_bare(name)] for name in each} - fixed for each in theirs]
        return all(any(each <= mine for mine in ours) for each in sets if len(each) > 1)
    named = {numbers[_bare(name)] for name in theirs}
    if question == "false_optional":  # flamapy's are members of groups too, and core features
        single = {c for g in model.groups if g.kind is GroupKind.OPTIONAL for c in g.children}
        return named & single - fixed == {finding.feature for finding in found.false_optional}
    return named == {finding.feature for finding in getattr(found, question)}


def _bare(name: str) -> str:
    """Return a name as Shortlist reads it, without flamapy's quotes around it."""
    return name[1:-1] if name.startswith('"') else name


def _flamapy(python: str, path: Path, backend: str) -> tuple[dict[str, Any], float, float]:
    """Return the answers within the limit, the seconds until the last or the limit, and those until the first."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, "model.uvl")
        plain.write_text(read_source(path).text, encoding="utf-8")
        words = [python, "-c", SCRIPT, str(plain), backend, json.dumps(QUESTIONS[backend])]
        try:
            printed = subprocess.run(
                words, capture_output=True, text=True, check=False, timeout=LIMIT_S
            ).stdout
            stopped = False
        except subprocess.TimeoutExpired as late:
            printed = (late.stdout or b"").decode()
            stopped = True
    told = [json.loads(line) for line in printed.splitlines() if line.startswith("[")]
    answers = {question: answer for question, answer, _ in told}
    times = {question: seconds for question, _, seconds in told}
    return answers, LIMIT_S if stopped else max(times.values(), default=0.0), times.get("encoded", 0.0)
