"""Pairs of sentences with negations, their sheets and their statistics."""

from __future__ import annotations

from helpers.refusals import Case

HEAD = "item,pattern,premise,hypothesis,label\n"
ORIGINAL = "a,original,It rains.,It is wet.,entailment\n"
RUN = "inference run negation --items pairs.csv --model demo --out run"
NEGATIONS = '{"source": "It rains.", "text": "It does not rain."}\n'


def asked(name: str, row: str, words: tuple[str, ...], call: str = RUN) -> Case:
    """A row of pairs that is refused."""
    return Case(name, call, ("pairs.csv", *words), {"pairs.csv": HEAD + ORIGINAL + row})


CASES = [
    asked("a label that is none", "a,p_neg,It does not rain.,It is wet.,perhaps\n", ("row 3", "label", "perhaps")),
    asked("a pattern that is none", "a,negated,It does not rain.,It is wet.,neutral\n", ("row 3", "pattern", "p_neg")),
    asked("a negation that is none", "a,p_neg,It rains.,It is wet.,neutral\n", ("row 3", "same two sentences")),
    asked("a premise that changed, too", "a,h_neg,It snows.,It is not wet.,neutral\n", ("row 3", "premise", "row 2")),
    asked("two originals", "a,original,It snows.,It is wet.,neutral\n", ("row 3", "original", "row 2")),
    Case("too few originals for exemplars", f"{RUN} --shots 3", ("few-shot", "contradiction"),
         {"pairs.csv": HEAD + ORIGINAL}),
    Case("a negation without its original", RUN, ("pairs.csv", "row 2", "original"),
         {"pairs.csv": f"{HEAD}a,p_neg,It does not rain.,It is wet.,neutral\n"}),
    asked("statistics of a label that is none", "a,p_neg,It does not rain.,It is wet.,-\n", ("line 3", "label"),
          "analysis negation pairs.csv"),
    Case("annotations that are not there", "analysis negation pairs.csv --annotations nowhere", ("nowhere", "no such"),
         {"pairs.csv": HEAD + ORIGINAL}),
    Case("statistics of no JSON", "analysis negation pairs.jsonl", ("pairs.jsonl", "line 1", "JSON"),
         {"pairs.jsonl": "{premise}"}),
    Case("a sheet without negations", "inference pairs sheet pairs.csv --negations n.jsonl --out sheet.csv",
         ("nothing to label",), {"pairs.csv": HEAD + ORIGINAL, "n.jsonl": NEGATIONS}),
    Case("a sheet of another set", "inference pairs label sheet.csv --originals pairs.csv --out items.jsonl",
         ("sheet.csv", "row 2", "item", "'b'"),
         {"pairs.csv": HEAD + ORIGINAL,
          "sheet.csv": "item,pattern,premise,hypothesis,annotator_1\nb,p_neg,No.,It is wet.,neutral\n"}),
    Case("a sheet without annotators", "inference pairs label sheet.csv --originals pairs.csv --out items.jsonl",
         ("sheet.csv", "annotator_1"),
         {"pairs.csv": HEAD + ORIGINAL, "sheet.csv": "item,pattern,premise,hypothesis\na,p_neg,No.,It is wet.\n"}),
]  # fmt: skip
