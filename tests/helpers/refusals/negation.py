"""Pairs of sentences with negations, their sheets and their statistics."""

from __future__ import annotations

from helpers.refusals import Case

HEAD = "item,pattern,premise,hypothesis,label\n"
ORIGINAL = "a,original,It rains.,It is wet.,entailment\n"
RUN = "inference run negation --items pairs.csv --model demo --out run"
NEGATIONS = '{"source": "It rains.", "text": "It does not rain."}\n'
STATISTICS = "analysis negation pairs.csv"
SHEET = "item,pattern,premise,hypothesis,premise_position,annotator_1,annotator_2\n"
FILLED = "premise,hypothesis,annotator_1\nIt does not rain.,It is wet.,neutral\n"


def asked(name: str, row: str, words: tuple[str, ...], call: str = RUN) -> Case:
    """A row of pairs that is refused."""
    return Case(name, call, ("pairs.csv", *words), {"pairs.csv": HEAD + ORIGINAL + row})


def labelled(name: str, rows: str, words: tuple[str, ...]) -> Case:
    """A filled sheet that is refused."""
    return Case(name, "inference pairs label sheet.csv --originals pairs.csv --out items.jsonl", words,
                {"pairs.csv": HEAD + ORIGINAL, "sheet.csv": SHEET + rows})  # fmt: skip


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
    asked("statistics of a row twice", "a,p_neg,It does not rain.,It is wet.,neutral\n" * 2,
          ("line 4", "same two sentences", "line 3"), STATISTICS),
    asked("statistics of a premise that changed, too", "a,h_neg,It snows.,It is not wet.,neutral\n",
          ("line 3", "h_neg", "premise", "line 2"), STATISTICS),
    asked("statistics of a negation that is none", "a,p_neg,It rains!,It is wet.,neutral\n",
          ("line 3", "p_neg", "premise"), STATISTICS),
    asked("statistics of one file twice", "", ("pairs.csv", "twice"), f"{STATISTICS} ./pairs.csv"),
    Case("statistics of no rows", STATISTICS, ("pairs.csv", "no pairs"), {"pairs.csv": HEAD}),
    Case("statistics without a column", STATISTICS, ("pairs.csv", "line 2", "no hypothesis", "premise"),
         {"pairs.csv": "premise,label\nIt rains.,neutral\n"}),
    Case("a key twice in statistics", "analysis negation pairs.jsonl", ("line 1", "key", "twice"),
         {"pairs.jsonl": '{"premise": "a", "hypothesis": "b", "label": "neutral", "label": "entailment"}'}),
    Case("a sheet for each annotator", f"{STATISTICS} --annotations sheets", ("b.csv", "a.csv", "one row"),
         {"pairs.csv": HEAD + ORIGINAL, "sheets/a.csv": FILLED,
          "sheets/b.csv": FILLED.replace("_1", "_2")}),
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
    labelled("a sheet without labels", "a,p_neg,No.,It is wet.,end,,\n", ("no pair", "two at least")),
    labelled("a sheet with a label that is none", "a,p_neg,No.,It is wet.,end,neutral,nan\n",
             ("row 2", "annotator_2", "nan")),
    labelled("a sheet with a place that is none", "a,p_neg,No.,It is wet.,start,neutral,neutral\n",
             ("row 2", "premise_position", "start")),
    labelled("a sheet without a sentence", "a,p_neg,,It is wet.,end,neutral,neutral\n", ("row 2", "premise", "empty")),
    labelled("a row of a sheet twice", "a,p_neg,No.,It is wet.,end,neutral,neutral\n" * 2, ("row 3", "row 2")),
    Case("items in the file of originals", "inference pairs label sheet.csv --originals p.jsonl --out p.jsonl",
         ("--out", "p.jsonl", "reads"),
         {"p.jsonl": '{"premise": "It rains.", "hypothesis": "It is wet.", "label": "neutral"}\n',
          "sheet.csv": FILLED}),
    Case("a sheet without annotators", "inference pairs label sheet.csv --originals pairs.csv --out items.jsonl",
         ("sheet.csv", "annotator_1"),
         {"pairs.csv": HEAD + ORIGINAL, "sheet.csv": "item,pattern,premise,hypothesis\na,p_neg,No.,It is wet.\n"}),
]  # fmt: skip
