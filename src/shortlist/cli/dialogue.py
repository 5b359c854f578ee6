"""Dialogue of `shortlist configure --interactive`, from the first line to the last."""

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.deciding_lines import (
    Deciding,
    act,
    last_words,
    refusal_lines,
    state_facts,
    value_lines,
    what_follows,
    what_is_left,
)
from shortlist.cli.signals import NothingKeptError
from shortlist.cli.text.output import as_typed, deliver_now, written_out
from shortlist.errors import BadInputError, ContradictionError, ShortlistError
from shortlist.products.choices import values_left
from shortlist.products.decisions import USUAL_SECONDS, Decision, decide_all, start
from shortlist.products.model import feature_names

if TYPE_CHECKING:
    from shortlist.cli.options.product_questions import AskedQuestion, QuestionOptions

LONGEST_LINE = 10_000
"""Largest length of a line in bytes; a longer line is refused."""

PROMPT = "> "


def typed_lines() -> Iterator[str | BadInputError]:
    """Yield the typed lines, each without its end, until the input ends.

    In place of a line that is too long, or is no text in UTF-8, an error is yielded. The prompt goes to
    stderr, and only if the input is a terminal. Raises BadInputError if standard input is closed.
    """
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise BadInputError(
            "a dialogue reads standard input, which is closed. Open it, or pipe lines into it."
        )
    asks = sys.stdin.isatty()
    while True:
        if asks:
            print(PROMPT, end="", file=sys.stderr, flush=True)
        content = stream.readline(LONGEST_LINE)
        if not content:
            return
        if len(content) == LONGEST_LINE and not content.endswith(b"\n"):
            while (rest := stream.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
            yield BadInputError(f"a line must have less than {LONGEST_LINE:,} bytes. Type a shorter one.")
            continue
        try:
            yield content.decode("utf-8").strip()
        except UnicodeDecodeError:
            yield BadInputError("a line must be text in UTF-8, but is not. Type it again.")


def decide_in_lines(
    model: Path,
    question: "QuestionOptions",
    asked: "AskedQuestion",
    *,
    max_nodes: int | None,
    time_limit_s: float | None,
    json: bool,
) -> dict[str, Any]:
    """Hold a dialogue about a product line, and return facts for JSON.

    Answers go to stdout line by line. If JSON is requested, answers go to stderr and are part of the JSON.
    The end of the input and Ctrl-C end the dialogue as ``quit`` does: unsaved decisions are printed. After an
    unforeseen error, unsaved decisions are printed on stderr.

    Raises ContradictionError if there is no product at the beginning. Raises NothingKeptError after Ctrl-C if
    nothing was decided.
    """
    told: list[dict[str, Any]] = []
    deciding = _begun(model, question, asked, max_nodes=max_nodes, time_limit_s=time_limit_s)
    _say(_opening(deciding), json=json)
    try:
        for line in typed_lines():
            deciding, answer = _answered(deciding, line)
            _say(answer, json=json)
            told.append({"line": line if isinstance(line, str) else "", "answer": answer.splitlines()})
            if deciding.ended:
                break
    except KeyboardInterrupt:
        if not deciding.state.decisions:
            raise NothingKeptError("interrupted; nothing was decided.") from None
    except BaseException:
        _say(last_words(deciding), json=True)  # stderr takes every character
        raise
    _say(last_words(deciding), json=json)
    return {
        "method": "interactive",
        "status": "feasible",
        **(asked.facts | state_facts(deciding.state)),
        "saved": not deciding.unsaved,
        "dialogue": told,
    }


def _begun(
    model: Path,
    question: "QuestionOptions",
    asked: "AskedQuestion",
    *,
    max_nodes: int | None,
    time_limit_s: float | None,
) -> Deciding:
    """Return the dialogue at its beginning, with the decisions of the command line."""
    state = start(
        asked.line,
        asked.objectives,
        attributes=asked.attributes,
        limits=asked.limits,
        max_nodes=max_nodes,
        time_limit_s=USUAL_SECONDS if time_limit_s is None else time_limit_s,
    )
    staged = {decision.literal for decision in asked.stages}
    typed = [
        Decision(abs(literal) - 1, literal > 0)
        for literal in asked.requirements.literals
        if literal not in staged
    ]
    state = decide_all(state, [*asked.stages, *typed])
    saved = state.decisions if not typed else ()
    return Deciding(state, feature_names(asked.line), asked.attributes, question.inputs(model), saved=saved)


def _opening(deciding: Deciding) -> str:
    state = deciding.state
    lines = [what_follows(state)] if state.decisions else []
    lines.append(what_is_left(state))
    if state.problem.diagram is not None:
        lines += value_lines(values_left(state) or ())
    lines.append("Type help for what can be typed.")
    return "".join(f"{line}\n" for line in filter(None, lines))


def _answered(deciding: Deciding, line: str | BadInputError) -> tuple[Deciding, str]:
    answer = io.StringIO()
    with contextlib.redirect_stdout(answer):
        try:
            if isinstance(line, BadInputError):
                raise line
            deciding = act(deciding, line)
        except ContradictionError as error:
            for sentence in refusal_lines(error):
                print(sentence)
        except ShortlistError as error:
            print(as_typed(error))
        except OSError as error:
            print(f"{error.filename or 'a file'} cannot be read or written: {error.strerror or error}.")
    return deciding, answer.getvalue()


def _say(text: str, *, json: bool) -> None:
    if json:
        print(written_out(text), end="", file=sys.stderr, flush=True)
    else:
        print(text, end="")
        deliver_now()
