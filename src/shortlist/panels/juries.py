"""Juries of models as configurations of evaluation tools: all are asked, and a strict majority decides."""

import json
from collections.abc import Sequence

from shortlist._words import counted
from shortlist.errors import BadInputError


def inspect_jury(judges: Sequence[str]) -> str:
    """Return Python for inspect-ai: a scorer with which each of several models grades an answer.

    The grade is the one that more than half of the models give; without one, the sample is not scored. It
    takes the reducer ``majority`` of inspect-ai.

    Raises BadInputError if there is no model, or one comes twice.

    `judges`: names of models as inspect-ai has them, such as ``openai/gpt-4o``.

    >>> print(inspect_jury(["openai/gpt-4o", "google/gemini-2.5-pro", "mistral/large"]), end="")
    from inspect_ai.scorer import model_graded_qa
    <BLANKLINE>
    jury = model_graded_qa(
        model=[
            "openai/gpt-4o",
            "google/gemini-2.5-pro",
            "mistral/large",
        ],
        reducer="majority",
    )
    """
    models = "".join(f"        {json.dumps(judge)},\n" for judge in _checked(judges))
    return (
        "from inspect_ai.scorer import model_graded_qa\n\n"
        f'jury = model_graded_qa(\n    model=[\n{models}    ],\n    reducer="majority",\n)\n'
    )


def promptfoo_jury(judges: Sequence[str], question: str) -> str:
    """Return JSON for promptfoo, which is YAML too: a test whose answer must satisfy most of several models.

    The set of assertions passes where the mean of the models' scores is above a half. The models are told to
    score 0 or 1, so that this is the strict majority of all of them.

    Raises BadInputError if there is no model, one comes twice, or there is no question.

    `judges`: names of providers as promptfoo has them, such as ``openai:gpt-4o``. `question`: what the models
    have to decide about an answer, such as ``The answer is polite.``.

    >>> jury = json.loads(promptfoo_jury(["a:x", "b:y", "c:z"], "The answer is polite."))
    >>> jury["defaultTest"]["assert"][0]["threshold"]
    0.666666
    """
    names = _checked(judges)
    if not question.strip():
        raise BadInputError("question", "must say what the models decide", "an empty text")
    wording = f"{question.strip()} Score 1 and pass if this holds; score 0 and fail if it does not."
    graders = [{"type": "llm-rubric", "provider": name, "value": wording} for name in names]
    needed = len(names) // 2 + 1
    # rounded down, as a sum of scores over their number may be off in the last digit
    threshold = (needed * 10**6 // len(names)) / 10**6
    jury = {"type": "assert-set", "threshold": threshold, "assert": graders}
    return json.dumps({"defaultTest": {"assert": [jury]}}, indent=2) + "\n"


def _checked(judges: Sequence[str]) -> list[str]:
    names = list(judges)
    if isinstance(judges, str) or not names or not all(isinstance(name, str) and name for name in names):
        raise BadInputError("judges", "must be names of models", repr(judges)[:80])
    if len(set(names)) < len(names):
        repeats = len(names) - len(set(names))
        raise BadInputError("judges", "must come once each", counted(repeats, "repeat"), "Drop them.")
    return names
