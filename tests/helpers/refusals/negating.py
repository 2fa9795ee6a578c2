"""Wrong calls and inputs of `negate`."""

from __future__ import annotations

from helpers.refusals import Case
from helpers.refusals.missing import MODEL

CALL = "inference negate sentences.txt --language ja --out n.jsonl"
FILES = {"sentences.txt": "犬が走る。\n"}
BLANK = {"sentences.txt": "\n \n"}
JUDGED = {**FILES, "people.csv": "source,text,acceptable\n犬が走る。,犬が走らない。,perhaps\n"}
OTHER_PROMPT = {**FILES, "prompt.yaml": 'plain:\n  template: "{{ text }}"\n'}
OTHER_ANSWERS = {
    **FILES,
    "prompt.yaml": 'plain:\n  template: "{% for shot in shots %}{{ shot.question }}{% endfor %}{{ text }}"\n'
    "  answers: {acceptable: [good], wrong: [bad]}\n",
}
FILTERED = f"{CALL} --filter-model {MODEL}"

CASES = [
    Case("no file of sentences", CALL, ("sentences.txt", "no such file")),
    Case("a file of blank lines", CALL, ("sentences.txt", "there are no sentences in it"), BLANK),
    Case("sentences that are not UTF-8", CALL, ("sentences.txt", "line 2", "not UTF-8"),
         {"sentences.txt": "犬\n".encode() + "犬".encode("shift_jis")}),
    Case("a table of sentences without text", CALL.replace(".txt", ".csv"), ("sentences.csv", "column 'text'"),
         {"sentences.csv": "sentence\n犬が走る。\n"}),
    Case("an unknown language", CALL.replace("ja", "fr"), ("--language", "'fr'", "ja, en"), FILES),
    Case("negations that are no JSON lines", CALL.replace("n.jsonl", "n.csv"), ("--out", "n.csv", ".jsonl"), FILES),
    Case("negations in the file of sentences", "inference negate n.jsonl --language ja --out n.jsonl",
         ("--out", "n.jsonl", "reads"), {"n.jsonl": '{"text": "犬が走る。"}\n'}),
    Case("negations in the file of sentences, the skipped ones",
         "inference negate n-skipped.jsonl --language ja --out n.jsonl", ("--out", "n-skipped.jsonl", "reads"),
         {"n-skipped.jsonl": '{"text": "犬が走る。"}\n'}),
    Case("negations in the file of judgements", f"{FILTERED} --judgements n.jsonl", ("--out", "n.jsonl", "reads"),
         {**FILES, "n.jsonl": '{"source": "犬が走る。", "text": "犬が走らない。", "acceptable": "yes"}\n'}),
    Case("negations in a folder's name", CALL, ("--out n.jsonl", "folder"), {**FILES, "n.jsonl/x": ""}),
    Case("sentences in a workbook", CALL.replace("s.txt", "s.xlsx"), ("sentences.xlsx", "workbook"),
         {"sentences.xlsx": "PK"}),
    Case("sentences with a NUL", CALL, ("sentences.txt", "line 2", "NUL"),
         {"sentences.txt": "犬が走る。\n犬が\0走る。\n"}),
    Case("sentences in UTF-16", CALL, ("sentences.txt", "UTF-16"), {"sentences.txt": "犬が走る。\n".encode("utf-16")}),
    Case("English without a pipeline", CALL.replace("ja", "en"), ("--language en", "--pipeline"), FILES),
    Case("a pipeline for Japanese", f"{CALL} --pipeline p", ("--pipeline", "--language en"), FILES),
    Case("a pipeline that is not there", f"{CALL.replace('ja', 'en')} --pipeline nowhere",
         ("--pipeline nowhere", "no spaCy pipeline"), FILES),
    Case("judgements without a filter", f"{CALL} --judgements people.csv", ("--judgements", "--filter-model"), JUDGED),
    Case("a prompt without a filter", f"{CALL} --filter-prompt p.yaml", ("--filter-prompt", "--filter-model"), FILES),
    Case("several models that judge", f"{CALL} --filter-model demo", ("--filter-model demo", "name one"), FILES),
    Case("a judge that is not there", f"{CALL} --filter-model ./nobody", ("--filter-model ./nobody", "no such folder"),
         FILES),
    Case("a prompt without answers for a filter", f"{FILTERED} --filter-prompt prompt.yaml",
         ("prompt.yaml", "form plain", "answers"), OTHER_PROMPT),
    Case("a prompt with other answers for a filter", f"{FILTERED} --filter-prompt prompt.yaml",
         ("prompt.yaml", "no option 'unacceptable'"), OTHER_ANSWERS),
    Case("a judgement that is neither", f"{FILTERED} --judgements people.csv",
         ("people.csv", "row 2", "perhaps", "yes or no"), JUDGED),
    Case("judgements without a column", f"{FILTERED} --judgements people.csv",
         ("people.csv", "column 'acceptable'"), {**FILES, "people.csv": "source,text\na,b\n"}),
]  # fmt: skip
