"""Wrong calls and inputs of `choice build` and `select`: files of multiple-choice questions, and lists of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from helpers.refusals import Case
from helpers.refusals.missing import MODEL, RUN

CALL = "inference choice build q.jsonl --out s.jsonl"
TWO = f"{CALL} --paraphrase-model {MODEL} --paraphrase-model other={MODEL}"
TEA: dict[str, Any] = {
    "item": "tea",
    "question": "Which of these four things do people pour into cups?",
    "paraphrases": ["Into cups, which of these do people pour?", "What is it that people pour into cups?"],
    "choices": ["sand", "tea", "wood", "stone"],
    "answer": "B",
}
BARE = {name: value for name, value in TEA.items() if name != "paraphrases"}
ARC = {"id": "x", "question": {"stem": "Why?", "choices": [{"label": "A", "text": "a"}, {"label": "B", "text": "b"}]}}
MATH = {"Problem": "How much is it?", "options": "a ) 38 , b ) 27.675", "correct": "a"}
CLASS = "inconsistent confidence"


def lines(*rows: dict[str, Any], name: str = "q.jsonl") -> dict[str, str]:
    """A file of JSON lines."""
    return {name: "\n".join(json.dumps(row) for row in rows)}


def listed(*rows: dict[str, Any]) -> dict[str, str]:
    """Questions with paraphrases, and a list of selected ones."""
    return lines(TEA) | lines(*rows, name="list.jsonl")


def wrong(name: str, words: tuple[str, ...], **change: Any) -> Case:
    """A question that cannot be asked, in the second line."""
    return Case(name, CALL, ("q.jsonl, line 2", *words), lines(TEA, TEA | {"item": "other"} | change))


def beside(folder: Path) -> None:
    """A file where the folder of the first model's answers belongs."""
    (folder / "q.jsonl").write_text(json.dumps(BARE), encoding="utf-8")
    (folder / "s.paraphrase-1").write_text("", encoding="utf-8")


CASES = [
    wrong("an answer that is not among the choices", ("answer 'E'", "not among the choices", "A to D"), answer="E"),
    wrong("an answer that no choice says", ("answer 'coffee'", "not among the choices"), answer="coffee"),
    wrong("an index beyond the choices", ("answer 4", "index from 0 to 3"), answer=4),
    wrong("an answer that is two choices", ("answer '2'", "write its letter"), choices=["1", "2", "3", "4"],
          answer="2"),
    wrong("one choice", ("2 to 26 choices", "this has 1"), choices=["tea"], answer="A"),
    wrong("thirty choices", ("2 to 26 choices", "this has 30"), choices=[f"c{n}" for n in range(30)], answer="A"),
    wrong("choices that are no list", ("choices must be a list",), choices="sand, tea"),
    wrong("an empty choice", ("choices must be texts",), choices=["tea", " "]),
    wrong("no question", ("there is no question",), question=""),
    wrong("an unknown split", ("split must be train, validation or test", "'dev'"), split="dev"),
    wrong("orders without a choice", ("orders must be lists such as [0, 1, 2, 3]",), orders=[[0, 1, 2]]),
    wrong("an order that is there twice", ("order", "twice"), orders=[[0, 1, 2, 3], [0, 1, 2, 3]]),
    Case("two equal choices, asked", "inference run choice --items q.jsonl --model demo --out run",
         ("q.jsonl, line 1", "choices A and C are equal"), lines(TEA | {"choices": ["tea", "sand", "tea", "oil"]})),
    Case("two equal choices, the only question", CALL, ("no question is left", "1 two equal choices"),
         lines(TEA | {"choices": ["tea", "sand", "tea", "oil"]})),
    Case("an item of questions that is there twice", CALL, ("q.jsonl, line 2", "'tea'", "twice", "line 1"),
         lines(TEA, TEA)),
    Case("an item in two files", "inference choice build q.jsonl r.jsonl --out s.jsonl",
         ("r.jsonl", "'tea'", "q.jsonl"), lines(TEA) | lines(TEA, name="r.jsonl")),
    Case("a cut line of questions", CALL, ("q.jsonl, line 2", "malformed JSON"),
         {"q.jsonl": f"{json.dumps(TEA)}\n{json.dumps(TEA)[:50]}"}),
    Case("no file of questions", CALL, ("q.jsonl", "no such file")),
    Case("an empty file of questions", CALL, ("q.jsonl", "no rows"), {"q.jsonl": ""}),
    Case("an answer key that no choice has", CALL, ("q.jsonl, line 1", "answerKey 'C'", "A, B"),
         lines(ARC | {"answerKey": "C"})),
    Case("options that are not MathQA's", CALL, ("q.jsonl, line 1", "options must be"),
         lines(MATH | {"options": "38, 27"})),
    Case("an answer of MathQA that is no option", CALL, ("q.jsonl, line 1", "correct 'c'"),
         lines(MATH | {"correct": "c"})),
    Case("a row of MMLU that is too short", "inference choice build m.csv --out s.jsonl", ("m.csv, row 2", "4 cells"),
         {"m.csv": "Why?,a,b,c,d,A\nWhy?,a,b,B\n"}),
    Case("a file of MMLU that is not UTF-8", "inference choice build m.csv --out s.jsonl",
         ("m.csv, line 2", "not UTF-8"), {"m.csv": b"Why?,a,b,c,d,A\nCaf\xe9?,a,b,c,d,B\n"}),
    Case("questions that are all too short", CALL, ("no question is left", "1 fewer than 10 words"),
         lines(TEA | {"question": "What is tea?"})),
    Case("questions without paraphrases, and no model", CALL,
         ("q.jsonl", "no paraphrases", "--paraphrase-model", "filters: 1 "), lines(BARE)),
    Case("questions with one paraphrase", CALL, ("no question is left", "1 not 2 paraphrases"),
         lines(TEA | {"paraphrases": TEA["paraphrases"][:1]})),
    Case("questions with paraphrases, and models", TWO, ("--paraphrase-model", "'tea'", "already"), lines(TEA)),
    Case("one model for paraphrases", f"{CALL} --paraphrase-model {MODEL}", ("--paraphrase-model", "twice", "once"),
         lines(BARE)),
    Case("the same model for paraphrases twice", f"{CALL} --paraphrase-model {MODEL} --paraphrase-model {MODEL}",
         ("--paraphrase-model", "twice"), lines(BARE)),
    Case("all demo models for paraphrases", f"{CALL} --paraphrase-model demo --paraphrase-model x={MODEL}",
         ("--paraphrase-model demo", "name one"), lines(BARE)),
    Case("a judge that is not there", f"{CALL} --judge-model no/such/model/here",
         ("--judge-model", "no/such/model/here"), lines(TEA)),
    Case("a prompt for paraphrases without a model", f"{CALL} --paraphrase-prompt p.yaml",
         ("--paraphrase-prompt", "--paraphrase-model"), lines(TEA)),
    Case("a prompt for paraphrases without the choices", f"{TWO} --paraphrase-prompt p.yaml",
         ("p.yaml", "choices"), lines(BARE) | {"p.yaml": 'plain:\n  template: "{{ question }} {{ answer }}"\n'}),
    Case("a study that is no JSON lines", CALL.replace("s.jsonl", "s.csv"), ("--out", "s.csv", ".jsonl"), lines(TEA)),
    Case("a study in its own file of questions", CALL.replace("s.jsonl", "q.jsonl"), ("--out", "q.jsonl", "reads"),
         lines(TEA)),
    Case("too many orders", f"{CALL} --orders 25", ("--orders", "24"), lines(TEA)),
    Case("a list of selected questions that is not there", f"{CALL} --selected list.jsonl",
         ("list.jsonl", "no such file"), lines(TEA)),
    Case("a list of other questions", f"{CALL} --selected list.jsonl", ("list.jsonl", "not in it", "'tea'"),
         listed({"item": "milk", "class": CLASS})),
    Case("a list with another class", f"{CALL} --selected list.jsonl", ("list.jsonl, line 1", "class", "'good'"),
         listed({"item": "tea", "class": "good"})),
    Case("a list that selects nothing", f"{CALL} --selected list.jsonl", ("list.jsonl", "no question has"),
         listed({"item": "tea", "class": "consistently confident"})),
    Case("a file where the answers of a model belong", TWO, ("s.paraphrase-1",), beside),
    Case("a selection from a run of another protocol", ("analysis", "select", str(RUN), "--out", "list.jsonl"),
         ("choice",)),
    Case("a selection from no run", "analysis select run --out list.jsonl", ("run", "no such run folder")),
    Case("a selection in a file of questions", ("analysis", "select", str(RUN), "--out", "q.jsonl"),
         ("--out q.jsonl", "no list of selected questions", "another name"), lines(TEA)),
    Case("a selection that is no JSON lines", "analysis select run --out list.csv", ("--out", "list.csv", ".jsonl")),
]  # fmt: skip
