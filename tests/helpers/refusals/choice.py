"""Multiple-choice questions: their choices, orders, splits, prompts and ways of answering."""

from __future__ import annotations

import json

from helpers.commands import ROOT
from helpers.refusals import Case

QUESTION = {"question": "What colour is grass?", "choices": ["red", "green", "blue", "grey"], "answer": "B"}
RUN = "inference run choice --items mcq.jsonl --model demo --out run"
MODELS = ROOT / "inference" / "demo" / "models"
BUILT = "step,source,count,reason\n"


def lines(*changes: dict) -> str:
    """Write the question once per change."""
    return "".join(f"{json.dumps({**QUESTION, **each})}\n" for each in changes)


def asked(name: str, words: tuple[str, ...], change: dict | None = None, more: str = "", **files: str) -> Case:
    """A file of one question, or the call about it, that is refused."""
    return Case(name, f"{RUN} {more}".rstrip(), words, {"mcq.jsonl": lines(change or {}), **files})


CASES = [
    asked("a paraphrase that is the question", ("mcq-1", "paraphrase-1", "same as original"),
          {"paraphrases": ["what  colour is grass?"]}),
    asked("a paraphrase that is there twice", ("mcq-1", "paraphrase-2", "same as paraphrase-1"),
          {"paraphrases": ["Grass?", "Grass?"]}),
    Case("questions with unequally many paraphrases", RUN, ("'mcq-2' has 0 paraphrases", "'mcq-1' has 1", "equally"),
         {"mcq.jsonl": lines({"paraphrases": ["Grass?"]}, {})}),
    Case("questions that bring unequally many orders", RUN, ("'mcq-2' brings 1 order", "'mcq-1' 2", "--orders"),
         {"mcq.jsonl": lines({"orders": [[0, 1, 2, 3], [3, 2, 1, 0]]}, {"orders": [[0, 1, 2, 3]]})}),
    asked("two choices that look equal", ("line 1", "equal"),
          {"choices": ["caf\u00e9", "cafe\u0301", "red", "blue"]}),
    asked("an answer that is not among the choices", ("mcq.jsonl", "line 1", "answer", "choices"), {"answer": "E"}),
    asked("two equal choices", ("mcq.jsonl", "line 1", "equal", "red"), {"choices": ["red", "green", "red ", "grey"]}),
    asked("one choice", ("mcq.jsonl", "line 1", "2 to 26"), {"choices": ["red"], "answer": "A"}),
    asked("thirty choices", ("mcq.jsonl", "line 1", "2 to 26", "30"), {"choices": list(map(str, range(30)))}),
    asked("three choices in eight orders", ("--orders 8", "mcq-1", "3 choices", "--orders 6"),
          {"choices": ["red", "green", "blue"]}),
    asked("more orders than there are", ("--orders 25", "24 orders"), more="--orders 25"),
    asked("more orders than the file has", ("--orders 3", "mcq-1", "1 order of its"), {"orders": [[3, 2, 1, 0]]},
          "--orders 3"),
    asked("a question about a passage", ("mcq-1", "passage"), {"passage": "Once upon a time."}),
    asked("a split without questions", ("--split test", "mcq.jsonl", "train"), {"split": "train"}, "--split test"),
    asked("a paraphrase-aware prompt for letters", ("--prompt-kind aware", "--answer text"),
          more="--prompt-kind aware"),
    asked("a format of no text", ("--format", "--answer text"), more="--format reasoning-first"),
    asked("a reading of no text", ("--reading", "--answer text"), more="--reading strict"),
    asked("a reading that is none", ("--reading", "letter", "strict"), more="--answer text --reading lenient"),
    asked("samples at temperature 0", ("--samples", "--temperature"), more="--answer text --samples 3"),
    asked("a way of answering that is none", ("--answer", "probability", "letters"), more="--answer probability"),
    asked("prompts of one's own without choices", ("own.yaml", "choices"), more="--prompt own.yaml",
          **{"own.yaml": "plain:\n  template: '{{ question }}'\n"}),
    asked("prompts of one's own that are never aware", ("own", "aware", "the same"),
          more="--prompt own.yaml --answer text --prompt-kind aware",
          **{"own.yaml": "plain:\n  template: '{{ question }} {{ choices }}'\n"}),
    asked("numbers of the building that are none", ("mcq.building.csv", "row 2", "count", "many"),
          **{"mcq.building.csv": f"{BUILT}sourced,ARC,many,\n"}),
    asked("numbers of the building without a column", ("mcq.building.csv", "reason"),
          **{"mcq.building.csv": "step,source,count\nsourced,ARC,1\n"}),
    Case("questions without paraphrases, told", RUN.replace("demo", str(MODELS / "waver-demo-mini")),
         ("mcq.jsonl", "no paraphrases", "one wording only"), {"mcq.jsonl": lines({})}, status=0),
    *(
        Case(f"a model that {does}", RUN.replace("demo", str(MODELS / model)), (form, "plain, chat", "--model"),
             {"mcq.jsonl": lines({})})
        for model, does, form in (("waver-demo-bert", "fills a mask", "cloze"),
                                  ("waver-demo-encoder", "classifies", "pair"))
    ),
]  # fmt: skip
