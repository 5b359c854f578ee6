"""Files of tools that are no answers of judges as they are: named, and said what to do with them."""

from collections.abc import Iterable
from typing import NamedTuple

from shortlist.errors import BadFileError


class _Other(NamedTuple):
    """A form of files: fields that its records have, what it is, and what to do."""

    needs: frozenset[str]
    name: str
    advice: str


LONG = "Write a table with the columns case, judge, answer and target."
SCORED = "Write a table with the columns case, judge and score, from 0 to 1."

OTHERS = (
    _Other(
        frozenset({"question_id", "model", "judge", "user_prompt", "judgment", "turn"}),
        "judgments of MT-bench, with scores from 1 to 10",
        SCORED,
    ),
    _Other(
        frozenset({"question_id", "model_1", "model_2", "g1_winner"}),
        "judgments of MT-bench on pairs of models",
        LONG,
    ),
    _Other(
        frozenset({"conversation_a", "conversation_b", "winner"}),
        "votes of Chatbot Arena on pairs of models, each by one person",
        LONG,
    ),
    _Other(
        frozenset({"_input_hash", "_task_hash"}),
        "annotations of Prodigy",
        "Pass `case='_task_hash'`, `judge='_annotator_id'`, `answer='answer'`, and the truth by `target`.",
    ),
    _Other(frozenset({"text", "annotations", "annotation_approver"}), "an export of doccano", LONG),
    _Other(frozenset({"user_input", "response", "retrieved_contexts"}), "results of ragas", SCORED),
    _Other(frozenset({"question", "answer", "contexts", "ground_truth"}), "results of ragas", SCORED),
    _Other(frozenset({"testCases", "metricsScores"}), "a test run of DeepEval", SCORED),
    _Other(frozenset({"testRunData"}), "a test run of DeepEval", SCORED),
    _Other(frozenset({"testRunLink"}), "the address of a test run of DeepEval", SCORED),
    _Other(frozenset({"test_cases_lookup_map"}), "the cache of DeepEval", SCORED),
    _Other(frozenset({"adapter_spec", "request_states"}), "a scenario of HELM", LONG),
    _Other(frozenset({"instance_id", "predicted_text", "stats"}), "predictions of HELM", SCORED),
    _Other(
        frozenset({"id", "completions"}),
        "an export of Label Studio before version 1.0",
        "Export the project again with a later version.",
    ),
    _Other(
        frozenset({"evalId", "results", "config"}),
        "a file of promptfoo without the result of any test",
        "Run the evaluation again, and write its results by --output results.json.",
    ),
    _Other(
        frozenset({"result", "completed_by", "task", "was_cancelled"}),
        "one annotation of Label Studio, as it stores them",
        "Export the project as JSON.",
    ),
)
"""Forms in the order in which a file is compared with them."""


def refuse_others(source: str, fields: Iterable[str]) -> None:
    """Raise BadFileError if these are the fields of a tool's file that holds no answers as they are."""
    found = set(fields)
    for other in OTHERS:
        if other.needs <= found:
            raise BadFileError(source, "must hold the answers of judges to cases", other.name, other.advice)
