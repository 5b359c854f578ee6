"""Every advice that a refusal of a tool's log prints is followed, and leads to an answer."""

import ast
import copy
import io
import json
import struct
import traceback
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from shortlist.errors import BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs import reading
from shortlist.panels.logs.json_content import refusing_depth
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from shortlist.panels.logs.tool_forms import LONG, OTHERS, SCORED
from tests.panels.logs.advice import advised, followed, refusal
from tests.panels.logs.mutated import KINDS

EVALS = Path(__file__).parent / "samples" / "mini.eval"
Files = dict[str, Any]
"""Contents of each file: bytes, text, or a value to be written as JSON; the logs are those called ``log``."""


class Refused(NamedTuple):
    """Files that are refused, and what the advice makes of them.

    `files`, `options`: what is read. `message`: part of the sentence. `mended`: the files after the advice was
    followed; those that are not there stay. None: the advice names options, and all of them are tried.
    `instead`: options that the advice names in words.
    """

    files: Files
    message: str
    mended: Files | None = None
    options: Mapping[str, Any] = MappingProxyType({})
    instead: Mapping[str, Any] = MappingProxyType({})


def with_change(name: str, *place: Any, value: Any) -> Any:
    """Return a document of a tool in which one value is another."""
    document = copy.deepcopy(KINDS[name].document)
    owner = document
    for key in place[:-1]:
        owner = owner[key]
    if value is GONE:
        del owner[place[-1]]
    else:
        owner[place[-1]] = value
    return document


GONE = object()


def right(name: str) -> Any:
    return KINDS[name].document


def lines(value: Any) -> str:
    return "\n".join(map(json.dumps, value))


def archive(members: dict[str, Any], **options: Any) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as packed:
        for name, value in members.items():
            packed.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return file.getvalue()


def damaged(content: bytes, at: int, value: bytes) -> bytes:
    return content[:at] + value + content[at + len(value) :]


ARCHIVE = EVALS.read_bytes()
ENTRY = ARCHIVE.rindex(b"PK\x01\x02")
(MEMBER,) = struct.unpack_from("<L", ARCHIVE, ENTRY + 42)
"""Offset of the last member's entry in the directory of the archive, and of the member itself."""
HEADER = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
LONG_TABLE = "case,judge,answer,price,target\n" + "".join(
    f"c{case},{judge},{'xy'[case % 2]},1,{'xy'[case % 2]}\n" for case in range(4) for judge in "ab"
)
SCORED_TABLE = "case,judge,score\n" + "".join(f"c{case},{judge},0.5\n" for case in range(4) for judge in "ab")
TOKENS = LONG_TABLE.replace("price", "n_input_tokens").replace("target", "n_output_tokens,target")
TOKENS = TOKENS.replace(",1,", ",1,2,")
PER_TOKEN = "model,input_cost_per_token,output_cost_per_token\na,1,2\nb,1,2\n"
RATED = "case,judge,answer,target{score}\n" + "".join(
    f"c{case},{judge},{case + 1 + at},{case}{{{at}}}\n" for case in range(40) for at, judge in enumerate("ab")
)
CALLS = "case,judge,answer\nc1,a,x\nc2,a,y\n"
TWO_ANSWERS = "ticket,model,first,second,kind\n" + "".join(
    f"{case},{model},{said},{said},{'yn'[case % 2]}\n"
    for case in range(12)
    for model, said in (("gpt-x", "yn"[case % 2]), ("mini", "y"), ("nano", "n"))
)
BINARY = with_change("prodigy binary", 0, "answer", value="accept")

REFUSED: dict[str, Refused] = {
    # exports of annotation tools
    "Label Studio: two answers of one annotation": Refused(
        {"log": with_change("label-studio", 0, "annotations", 0, "result", value=[
            {"from_name": "q", "type": "choices", "value": {"choices": [one]}} for one in "xy"])},
        "must have one answer of each annotation", {"log": right("label-studio")},
    ),
    "Label Studio: two ground truths": Refused(
        {"log": with_change("label-studio", 0, "annotations", value=[
            {"completed_by": at, "ground_truth": True,
             "result": [{"from_name": "q", "type": "choices", "value": {"choices": [one]}}]}
            for at, one in enumerate("xy")])},
        "must have one ground truth", {"log": with_change("label-studio", 0, "annotations", 0, "ground_truth", value=True)},
    ),
    "Label Studio: two questions": Refused(
        {"log": with_change("label-studio", 0, "annotations", 0, "result", 0, "from_name", value="other")},
        "answers to one question",
    ),
    "Label Studio: a question that is not there": Refused(
        {"log": right("label-studio")}, "answers to one question", options={"columns": LogColumns(answer="label")},
    ),
    "Label Studio: boxes": Refused(
        {"log": [{"id": 1, "data": {}, "annotations": [{"result": [
            {"from_name": "q", "type": "rectanglelabels", "value": {"x": 1, "rectanglelabels": ["car"]}}]}]}]},
        "only mark places", {"log": right("label-studio")},
    ),
    "Argilla: responses without users": Refused(
        {"log": lines(with_change("argilla flat", 0, "q.responses.users", value=["u0"]))},
        "a user and a state for each", {"log": lines(right("argilla flat"))},
    ),
    "Prodigy: places": Refused(
        {"log": lines([{"_input_hash": 1, "_task_hash": 1, "_view_id": "ner_manual", "answer": "accept"}])},
        "that mark places", {"log": lines(right("prodigy"))},
    ),
    "Prodigy: a field that is not there": Refused(
        {"log": lines(right("prodigy"))}, "must have the field 'annotator'",
        options={"columns": LogColumns(judge="annotator")},
        instead={"columns": LogColumns(judge="_annotator_id")}, mended={},
    ),
    "Prodigy: another decision": Refused(
        {"log": lines(with_change("prodigy binary", 0, "answer", value="yes"))}, "must have one of accept",
        {"log": lines(BINARY)},
    ),
    # logs of evaluation tools
    "lm-eval: a filter that is not there": Refused(
        {"log": lines(right("lm-eval texts"))}, "must have the filter 'strict', got 'none'",
        options={"columns": LogColumns(answer="strict")},
    ),
    "lm-eval: no name": Refused(
        {"log": lines([one | {"doc_hash": None, "doc_id": None} for one in right("lm-eval texts")])},
        "must have a text as 'doc_hash'",
        {"log": lines(right("lm-eval texts"))},
    ),
    "lm-eval: no likelihoods": Refused(
        {"log": lines(with_change("lm-eval choices", 0, "filtered_resps", 0, 0, value="x"))},
        "must have log likelihoods", {"log": lines(right("lm-eval choices"))},
    ),
    "alpaca_eval: a preference": Refused(
        {"log": with_change("alpaca-eval", 0, "preference", value=3)}, "a preference from 1 to 2",
        {"log": right("alpaca-eval")},
    ),
    "alpaca_eval: no annotator": Refused(
        {"log": with_change("alpaca-eval", 0, "annotator", value=None)}, "a name as 'annotator'",
        {"log": right("alpaca-eval")},
    ),
    "OpenAI evals: no completion function": Refused(
        {"log": lines(with_change("openai-evals", 0, "spec", "completion_fns", value=[]))},
        "names as 'completion_fns'", {"log": lines(right("openai-evals"))},
    ),
    "OpenAI evals: no sample": Refused(
        {"log": lines([right("openai-evals")[0], right("openai-evals")[-1]])}, "must hold events of samples",
        {"log": lines(right("openai-evals"))},
    ),
    "promptfoo: no provider": Refused(
        {"log": with_change("promptfoo", "results", "results", 0, "provider", value={})}, "must name its provider",
        {"log": right("promptfoo")},
    ),
    "promptfoo: no variable": Refused(
        {"log": [{"provider": "p", "vars": {}, "response": {"output": "x"}}]}, "variables or a number as 'testIdx'",
        {"log": right("promptfoo")},
    ),
    "promptfoo: a field of the output that is not there": Refused(
        {"log": [{"provider": "p", "vars": {"a": at}, "response": {"output": {"label": "x"}}} for at in range(2)]},
        "must have the field 'kind' in its output", options={"columns": LogColumns(answer="kind")},
    ),
    "promptfoo: an output without fields": Refused(
        {"log": [{"provider": "p", "vars": {"a": at}, "response": {"output": [1]}} for at in range(2)]},
        "must have the field 'kind' in its output", {}, options={"columns": LogColumns(answer="kind")},
        instead={"columns": LogColumns()},
    ),
    "promptfoo: a table that is cut": Refused(
        {"log": "text,[p] q,Status,Grader Reason\nt,x\n"}, "must have 4 cells",
        {"log": "text,[p] q,Status,Grader Reason\nt,x,PASS,\n"},
    ),
    "promptfoo: a table without a verdict": Refused(
        {"log": "text,[p] q,Status,Grader Reason\nt,x,,\n"}, "must say PASS, FAIL or ERROR",
        {"log": "text,[p] q,Status,Grader Reason\nt,x,PASS,\n"},
    ),
    # inspect-ai
    "an archive that is cut": Refused({"log": ARCHIVE[:-10]}, "its end is missing", {"log": ARCHIVE}),
    "an archive that is damaged": Refused(
        {"log": damaged(ARCHIVE, 1500, bytes(100))}, "is a damaged archive", {"log": ARCHIVE}
    ),
    "an archive with a wrong check sum": Refused(
        {"log": damaged(ARCHIVE, ENTRY + 16, b"\xff\xff")}, "its check sum is wrong", {"log": ARCHIVE}
    ),
    "an archive whose member ends early": Refused(
        {"log": damaged(ARCHIVE, MEMBER, b"XX")}, "it ends early", {"log": ARCHIVE}
    ),
    "an archive with a password": Refused(
        {"log": damaged(ARCHIVE, ENTRY + 8, b"\x01")}, "is encrypted", {"log": ARCHIVE}
    ),
    "inspect-ai: no object": Refused(
        {"log": archive({"header.json": [1]})}, "must begin with an object", {"log": ARCHIVE}
    ),
    "inspect-ai: a setting that is not there": Refused(
        {"log": right("inspect-ai")}, "must have the setting 'style'", options={"columns": LogColumns(judge="style")},
    ),
    "inspect-ai: a sample without a name": Refused(
        {"log": with_change("inspect-ai", "samples", 0, "id", value=None)}, "must have a name or number as 'id'",
        {"log": right("inspect-ai")},
    ),
    "inspect-ai: a scorer that is not there": Refused(
        {"log": right("inspect-ai")}, "must have a score of 'exact'", options={"columns": LogColumns(answer="exact")},
    ),
    # JSON
    "JSON that is cut": Refused(
        {"log": json.dumps(right("label-studio"))[:-9]}, "must be JSON", {"log": right("label-studio")}
    ),
    "a list in place of an object": Refused(
        {"log": with_change("label-studio", 0, "annotations", value={"a": 1})}, "must have a list as 'annotations'",
        {"log": right("label-studio")},
    ),
    "a number in place of a record": Refused(
        {"log": [*right("label-studio"), 7]}, "must be an object", {"log": right("label-studio")}
    ),
    "a list in place of a name": Refused(
        {"log": with_change("label-studio", 0, "id", value=[1])}, "must have a name or number as 'id'",
        {"log": right("label-studio")},
    ),
    "a truth that is not there": Refused(
        {"log": right("label-studio")}, "must have the field 'label', got none in its data; it has 'text'",
        options={"columns": LogColumns(target="label")},
    ),
    "a truth where there is no field": Refused(
        {"log": with_change("label-studio", 0, "data", value={})}, "got none in its data", {},
        options={"columns": LogColumns(target="label")}, instead={"columns": LogColumns()},
    ),
    "no answer": Refused(
        {"log": [one | {"annotations": [], "predictions": []} for one in right("label-studio")]},
        "no answer", {"log": right("label-studio")},
    ),
    "a log without a sample": Refused(
        {"log": archive({"header.json": HEADER})}, "must hold answers", {"log": ARCHIVE}
    ),
    "a feature that is not there": Refused(
        {"log": right("label-studio")}, "must have the feature 'size'", {},
        options={"columns": LogColumns(features=("size",))}, instead={"columns": LogColumns(features=("text",))},
    ),
    "JSON that is nested as deeply as can be read": Refused(
        {"log": "[" * 200_000}, "nested too deeply", {"log": right("label-studio")}
    ),
    # prices and numbers
    "a number that may be read in two ways": Refused(
        {"log": 'case,judge,answer,target\n1,a,"1,200",1200\n2,a,none of them,7\n'}, "which is 1200 or 1"
    ),
    "a judge that is priced twice": Refused(
        {"log": LONG_TABLE, "costs": "name,cost\na,1\na,1\nb,1\n"}, "must price each judge once",
        {"costs": "name,cost\na,1\nb,1\n"},
    ),
    "a price that is empty": Refused(
        {"log": LONG_TABLE, "costs": "name,cost\na,1\nb,\n"}, "must have a price in every line",
        {"costs": "name,cost\na,1\nb,0\n"},
    ),
    "prices of other names": Refused(
        {"log": LONG_TABLE, "costs": "who,cost\na,1\nb,1\n"}, "must have the columns name and cost",
        {"costs": "name,cost\na,1\nb,1\n"},
    ),
    "a judge without a price": Refused(
        {"log": LONG_TABLE.replace(",1,", ",,"), "costs": "name,cost\na,1\n"}, "must price every judge",
        {"costs": "name,cost\na,1\nb,1\n"},
    ),
    "prices per token of other names": Refused(
        {"log": TOKENS, "token_prices": "model,in,out\na,1,2\n"}, "must have input_cost_per_token",
        {"token_prices": PER_TOKEN},
    ),
    "prices per token that are empty": Refused(
        {"log": TOKENS, "token_prices": PER_TOKEN.replace("1,2", ",")}, "must price at least one model",
        {"token_prices": PER_TOKEN},
    ),
    "prices per token of other models": Refused(
        {"log": TOKENS, "token_prices": "model,input_cost_per_token,output_cost_per_token\nc,1,2\n"},
        "prices per token of the log's models", {"token_prices": PER_TOKEN},
    ),
    "no numbers of tokens": Refused(
        {"log": LONG_TABLE.replace("price", "size"), "token_prices": PER_TOKEN}, "numbers of tokens", {},
        instead={"columns": LogColumns(input_tokens="size", output_tokens="size")},
    ),
    "no numbers of tokens, and prices by name instead": Refused(
        {"log": lines(right("prodigy")), "token_prices": PER_TOKEN}, "Give the price of a call of each judge",
        {}, instead={"token_prices": None, "costs": {"u0": 1.0, "u1": 2.0}},
    ),
    "ratings": Refused(
        {"log": RATED.format("", "", score="")}, "these look like ratings",
        {"log": RATED.format(",0", ",1", score=",correct")},
        instead={"columns": LogColumns(score="correct")},
    ),
    # files and the truth in another one
    "no log": Refused({}, "must name at least one log", {"log": LONG_TABLE}),
    "a log that is named twice": Refused(
        {"log": LONG_TABLE, "log2": LONG_TABLE}, "must differ from the other logs", {"log2": GONE},
    ),
    "rows without the name of a case": Refused(
        {"log": "a,b,target\nx,x,x\ny,x,y\n", "log2": "c,target\nx,x\ny,y\n"}, "a column that names the case",
        {"log": "id,a,b,target\n1,x,x,x\n2,y,x,y\n", "log2": "id,c,target\n1,x,x\n2,y,y\n"},
    ),
    "another form": Refused(
        {"log": right("label-studio")}, "must be a log of the form promptfoo", {}, options={"form": "promptfoo"},
        instead={"form": None},
    ),
    "other JSON": Refused({"log": {"a": 1}}, "JSON that is an object with the fields 'a'", {"log": LONG_TABLE}),
    "HTML": Refused({"log": "<html><body>x</body></html>"}, "a page of HTML or XML", {"log": right("promptfoo")}),
    "YAML": Refused({"log": "evalId: e\nresults:\n  version: 3\n"}, "YAML", {"log": right("promptfoo")}),
    "a truth without names": Refused(
        {"log": CALLS, "truth": "what,size,said\nc1,1,x\nc2,2,y\n"}, "a column of cases and one of truths", {},
        instead={"columns": LogColumns(case="what", target="said")},
    ),
    "a truth of other cases": Refused(
        {"log": CALLS, "truth": "case,truth\n1,x\n2,y\n"}, "must name cases of the log",
        {"truth": "case,truth\nc1,x\nc2,y\n"},
    ),
    "a truth of other cases in its first column": Refused(
        {"log": CALLS, "truth": "case,name,truth\n1,c1,x\n2,c2,y\n"}, "must name cases of the log", {},
        instead={"columns": LogColumns(case="name")},
    ),
    "two truths of a case": Refused(
        {"log": CALLS, "truth": "case,truth\nc1,x\nc1,x\nc2,y\n"}, "must name each case once",
        {"truth": "case,truth\nc1,x\nc2,y\n"},
    ),
    # tables, and what all files together say
    "two truths of a case in two logs": Refused(
        {"log": LONG_TABLE, "log2": LONG_TABLE.replace("c0,a,x,1,x", "c0,c,x,1,y")[: -len("c3,b,y,1,y\n")]},
        "must have one truth in all records",
        {"log2": LONG_TABLE.replace(",a,", ",c,").replace(",b,", ",d,")},
    ),
    "a judge without a price beside others": Refused(
        {"log": LONG_TABLE.replace(",b,x,1", ",b,x,").replace(",b,y,1", ",b,y,")}, "must be known for every judge",
        {"costs": "name,cost\nb,1\n"},
    ),
    "a judge without a price that is left out": Refused(
        {"log": LONG_TABLE.replace(",b,x,1", ",b,x,").replace(",b,y,1", ",b,y,")}, "must be known for every judge",
        {}, instead={"columns": LogColumns(drop=("b",))},
    ),
    **{
        f"several answers to a case, of which {way} counts": Refused(
            {"log": LONG_TABLE.replace("x", "1").replace("y", "2") + "c0,a,2,1,1\n"},
            f"`repeats={way!r}`",
            {},
            instead={"columns": LogColumns(repeats=way)},
        )
        for way in ("first", "majority", "mean")
    },
    "several answers to a case, told apart": Refused(
        {"log": "case,judge,answer,target,run\nc1,a,x,x,1\nc1,a,y,x,2\nc2,a,x,x,1\n"},
        "tells repeats apart by `epoch='NAME'`", {}, instead={"columns": LogColumns(epoch="run")},
    ),
    "a judge to leave out that is not there": Refused(
        {"log": LONG_TABLE}, "must name columns or judges", {}, options={"columns": LogColumns(drop=("nobody",))},
        instead={"columns": LogColumns(drop=("a",))},
    ),
    "all judges left out": Refused(
        {"log": LONG_TABLE}, "must leave a judge", {}, options={"columns": LogColumns(drop=("a", "b"))},
        instead={"columns": LogColumns(drop=("a",))},
    ),
    "a price that is a word": Refused(
        {"log": LONG_TABLE.replace("c0,a,x,1", "c0,a,x,free")}, "must have finite numbers of at least 0 as price",
        {"log": LONG_TABLE.replace("c0,a,x,1", "c0,a,x,")},
    ),
    "a column that is no score": Refused(
        {"log": LONG_TABLE.replace("price", "stars").replace(",1,", ",4,")}, "must have scores from 0 to 1",
        {"log": LONG_TABLE.replace("price", "stars").replace(",1,", ",4,").replace("target", "target,ok")
                .replace(",x\n", ",x,1\n").replace(",y\n", ",y,0\n")},
        options={"columns": LogColumns(score="stars")}, instead={"columns": LogColumns(score="ok")},
    ),
    "the mean of words": Refused(
        {"log": LONG_TABLE + "c0,a,y,1,x\n"}, "must hold numbers where repeated answers are averaged",
        options={"columns": LogColumns(repeats="mean")},
    ),
    "the mean of answers with scores": Refused(
        {"log": "case,judge,answer,score\nc1,a,1,1\nc1,a,2,0\nc2,a,1,1\n"}, "must have no scores where the mean",
        options={"columns": LogColumns(repeats="mean")},
    ),
    "an answer of an unnamed judge": Refused(
        {"log": LONG_TABLE.replace("c0,a,", "c0,,")}, "must name the judge of every record", {"log": LONG_TABLE}
    ),
    "a table of Toloka with two columns of answers": Refused(
        {"log": "INPUT:url,OUTPUT:a,OUTPUT:b,ASSIGNMENT:worker_id\nu1,x,y,w1\nu1,y,x,w2\nu2,x,y,w1\nu2,x,x,w2\n"},
        "must have one column of answers, as a table of Toloka",
    ),
    "a table of Label Studio of one annotator": Refused(
        {"log": "annotation_id,annotator,id,lead_time,sentiment\n1,1,7,2.0,good\n2,1,8,2.0,bad\n"},
        "none in which answers to a task differ",
    ),
    "a table of Toloka without its workers": Refused(
        {"log": "INPUT:url,OUTPUT:a,GOLDEN:a\nu1,x,x\nu2,y,y\n"}, "must name who answered",
        {"log": "INPUT:url,OUTPUT:a,GOLDEN:a,ASSIGNMENT:worker_id\nu1,x,x,w1\nu2,y,y,w1\n"},
    ),
    "a batch of rejected answers": Refused(
        {"log": "HITId,WorkerId,AssignmentStatus,Answer.label,gold\nh1,w1,Rejected,yes,yes\nh2,w1,Rejected,no,no\n"},
        "must hold answers that were accepted",
    ),
    "a column that is dropped and read": Refused(
        {"log": LONG_TABLE}, "cannot be dropped and read by the router", {},
        options={"columns": LogColumns(drop=("price",), features=("price",))},
        instead={"columns": LogColumns(features=("price",))},
    ),
    "a column that is not there": Refused(
        {"log": LONG_TABLE}, "must have the column 'targt'", {}, options={"columns": LogColumns(target="targt")},
        instead={"columns": LogColumns(target="target")},
    ),
    "a long table without a judge": Refused(
        {"log": "case,who,answer,target\nc1,a,x,x\nc1,b,y,x\nc2,a,x,x\nc2,b,x,x\n"}, "must have a column of the judge",
        {}, options={"form": "long"}, instead={"columns": LogColumns(judge="who")},
    ),
    **{
        f"two columns that may be answers, {what}": Refused(
            {"log": TWO_ANSWERS}, "must tell its form", {}, instead=instead
        )
        for what, instead in (
            ("one is named", {"columns": LogColumns(answer="first", target="kind")}),
            ("each is a judge", {"form": "wide", "columns": LogColumns(target="kind")}),
        )
    },
    "samples of two models in one folder": Refused(
        {"run/samples_t_2026-01-01T00-00-00.0.jsonl": lines(right("lm-eval texts")),
         "run/samples_t_2026-01-02T00-00-00.0.jsonl": lines(right("lm-eval texts")) + "\n"},
        "must name the judge of its answers",
    ),
}  # fmt: skip

ADVICE_OF_OTHERS: dict[str, Any] = {
    LONG: LONG_TABLE,
    SCORED: SCORED_TABLE,
    "Export the annotations by `prodigy db-out`.": lines(right("prodigy")),
    "Export the project again with a later version.": right("label-studio"),
    "Export the project as JSON.": right("label-studio"),
    "Run the evaluation again, and write its results by --output results.json.": right("promptfoo"),
}
MAYBE_LONG = "id,model,answer,checked,label\n" + "".join(
    f"c{n},{'ab'[n % 2]},{'xy'[n % 3 % 2]},{'xy'[n % 2]},{'xy'[n % 5 % 2]}\n" for n in range(40)
)
NAMELESS = "question,model,answer,label\n" + "".join(
    f"q{n // 2},{'ab'[n % 2]},{'xy'[n % 3 % 2]},{'xy'[n // 2 % 2]}\n" for n in range(60)
)
MOST_WIDE = "".join(
    f"{','.join(f'{cell}{judge}' for judge in range(4_001))},{truth}\n"
    for cell, truth in (("j", "target"), ("x", "x1"), ("y", "y2"))
)
REFUSED |= {
    "more columns than are read": Refused(
        {"log.csv": MOST_WIDE}, "must have at most 4,000 columns",
        {"log.csv": "case,judge,answer,target\n1,a,x,x\n1,b,y,x\n2,a,y,y\n2,b,y,y\n"},
    ),
    "a table of one row a case that may be an answer of a judge": Refused(
        {"log.csv": MAYBE_LONG}, "may have a row for each answer, of the judge",
        {"log.csv": MAYBE_LONG},
        instead={"form": "long", "columns": LogColumns(answer="answer", target="label")},
    ),
    "a long table whose cases have no name": Refused(
        {"log.csv": NAMELESS.replace("question", "text")}, "must have a column that names the case",
        {"log.csv": NAMELESS.replace("question", "text")}, instead={"columns": LogColumns(case="text")},
    ),
}  # fmt: skip
REFUSED |= {
    f"{other.name}, by {min(other.needs)}": Refused(
        {"log": dict.fromkeys(other.needs, "x")}, other.name, {"log": ADVICE_OF_OTHERS[other.advice]}
    )
    for other in OTHERS
}


def written(folder: Path, files: Files) -> None:
    for name, value in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if value is GONE:
            path.unlink()
        elif isinstance(value, bytes):
            path.write_bytes(value)
        else:
            path.write_text(value if isinstance(value, str) else json.dumps(value))


def asked(folder: Path, options: Mapping[str, Any]) -> tuple[list[Path], dict[str, Any]]:
    """Return the logs of a folder, and options with its other files."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    others = {path.name: path for path in files if path.name in {"costs", "token_prices", "truth"}}
    return [path for path in files if path.name not in others], {**others, **options}


@pytest.mark.parametrize("name", REFUSED)
def test_an_advice_that_is_followed_leads_to_an_answer(name: str, tmp_path: Path) -> None:
    one = REFUSED[name]
    written(tmp_path, one.files)
    paths, options = asked(tmp_path, one.options)
    error = refusal(paths, **options)
    assert one.message in str(error)
    assert str(error)[-1] in ".?"
    if one.mended is None:
        logs = [log for _, log in followed(paths, error, **options)]
        assert len(logs) == len(advised(error)) > 0
    else:
        written(tmp_path, one.mended)
        paths, options = asked(tmp_path, {**one.options, **one.instead})
        logs = [read_log(paths, **options)]
    assert all(has_answers(log) for log in logs)


def has_answers(log: AnswerLog) -> bool:
    return bool(((log.answers >= 0).any() or log.unknown_words) and len(log.notes))


def test_every_refusal_of_the_readers_has_an_advice_that_is_followed(tmp_path: Path) -> None:
    hit = set()
    for number, one in enumerate(REFUSED.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        written(folder, one.files)
        paths, options = asked(folder, one.options)
        try:
            read_log(paths, **options)
        except BadInputError as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            hit.add((Path(frame.filename).name, frame.lineno))
    left = [
        f"{name}:{first}"
        for name, first, last in _raises()
        if not any((name, line) in hit for line in range(first, last + 1))
    ]
    assert left == []


WITH_TESTS_OF_THEIR_OWN = ("long_roles", "several_files", "wide_layout", "wide_parts", "wide_tables")
"""Modules on what the columns of tables hold, whose advice their own tests follow."""

DEPTH = "nested too deeply. Write"
"""Values that can be read and not written: how deep these are nested differs by Python."""


def test_values_that_can_be_read_and_not_written_are_refused() -> None:
    with pytest.raises(BadInputError, match=DEPTH), refusing_depth("log"):
        raise RecursionError


def _raises() -> Iterator[tuple[str, int, int]]:
    """Yield where the readers refuse a log: the module, and the first and the last line."""
    for path in sorted(Path(str(reading.__file__)).parent.glob("*.py")):
        if path.stem in WITH_TESTS_OF_THEIR_OWN:
            continue
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and node.exc is not None and DEPTH not in ast.unparse(node):
                yield path.name, node.lineno, node.end_lineno or node.lineno
