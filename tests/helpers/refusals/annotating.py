"""Sheets for people with decoys, and tables of decoys: what does not fit the items, and what is not filled."""

from __future__ import annotations

from helpers.refusals import Case

ITEMS = '[{"item": "tea", "text": "Tea is good.", "paraphrases": ["Tea is fine.", "Tea is nice."]}]'
SHEET = "item,original,paraphrase,match\ntea,Tea is good.,Tea is fine.,yes\n"
DECOYS = "item,variant,decoy,text,source\ntea,decoy-negated-1,negated,Tea is not good.,not\n"
CHECKED = "inference paraphrase checked {} --items i.json --out o.jsonl"
WRITE = "inference paraphrase sheet --items i.json --out s.csv"
MAKE = "inference paraphrase decoys --items i.json --out d.csv"


def sheet(name: str, content: str, words: tuple[str, ...], sheets: str = "s.csv", **files: str) -> Case:
    """A filled sheet that is refused."""
    named = {key.replace("_", "."): text for key, text in files.items()}
    return Case(name, CHECKED.format(sheets), words, {"i.json": ITEMS, "s.csv": content, **named})


def table(name: str, content: str, words: tuple[str, ...]) -> Case:
    """A table of decoys that is refused."""
    return Case(name, f"{WRITE} --decoys d.csv", ("d.csv", *words), {"i.json": ITEMS, "d.csv": content})


def antonyms(name: str, content: str, words: tuple[str, ...]) -> Case:
    """A table of antonyms that is refused."""
    return Case(name, f"{MAKE} --antonyms a.yaml", ("a.yaml", *words), {"i.json": ITEMS, "a.yaml": content})


CASES = [
    sheet("a sheet of another item", SHEET.replace("tea,T", "tee,T"), ("s.csv", "row 2", "no item 'tee'", "'tea'")),
    sheet("a sheet with another wording", SHEET.replace("fine", "bad"), ("s.csv", "row 2", "not that of the items")),
    sheet("a sheet with decoys, without their table", SHEET + "tea,Tea is good.,Tea is not good.,no\n",
          ("s.csv", "row 3", "no decoy", "table of decoys")),
    sheet("a sheet with blanks", SHEET + "tea,Tea is good.,Tea is nice.,\n", ("s.csv", "row 3", "match is empty")),
    sheet("a sheet that nobody filled", SHEET.replace("yes", ""), ("s.csv", "row 2", "match is empty")),
    sheet("a match that is neither yes nor no", SHEET.replace("yes", "so so"), ("s.csv", "row 2", "'so so'", "yes or")),
    sheet("a row twice", SHEET + "tea,Tea is good.,tea is fine,no\n", ("s.csv", "row 3", "there twice")),
    sheet("a sheet without the column", SHEET.replace("paraphrase", "text"), ("s.csv", "'paraphrase'", "not there")),
    sheet("two sheets of one annotator", SHEET, ("t.csv", "annotator 'Ana'", "NAME="), "ana=s.csv Ana=t.csv",
          t_csv=SHEET),
    sheet("one sheet of two annotators", SHEET, ("s.csv", "given twice"), "s.csv ana=s.csv"),
    sheet("a sheet and another table of decoys", SHEET + "tea,Tea is good.,Tea is no drink.,no\n",
          ("s.csv", "row 3", "no decoy", "another table of decoys"), "s.csv --decoys d.csv", d_csv=DECOYS),
    table("decoys of another item", DECOYS.replace("tea,d", "sky,d"), ("row 2", "no item 'sky'")),
    table("a kind of decoys that there is not", DECOYS.replace(",negated", ",denied"), ("row 2", "'denied'", "one of")),
    table("a decoy that is a wording", DECOYS.replace("not good", "FINE"), ("row 2", "'paraphrase-001'", "else")),
    table("a decoy without text", DECOYS.replace("Tea is not good.", ""), ("row 2", "text is empty")),
    table("a decoy that is there twice", DECOYS + "tea,,negated,tea is not good,\n", ("row 3", "the decoy in row 2")),
    table("two decoys of one name", DECOYS + "tea,decoy-negated-1,negated,No tea.,\n", ("row 3", "is there twice")),
    table("a decoy with the name of a wording", DECOYS.replace("decoy-negated-1", "p1"), ("row 2", "'p1'", "decoy-")),
    table("decoys without their kind", "item,text\ntea,Tea is bad.\n", ("'decoy'", "not there")),
    table("decoys that are not there", "", ("no rows",)),
    Case("two annotators of one name", f"{WRITE} --annotators ana Ana", ("'Ana'", "there twice"), {"i.json": ITEMS}),
    Case("an annotator who is called all", f"{WRITE} --annotators ana All", ("'All'", "all annotators", "another name"),
         {"i.json": ITEMS}),
    sheet("a sheet of one who is called all", SHEET, ("s.csv", "'all'", "another name"), "all=s.csv"),
    Case("an annotator with a path", f"{WRITE} --annotators a/b", ("'a/b'", "file's name"), {"i.json": ITEMS}),
    Case("a sheet that is filled", f"{WRITE} --annotators ana", ("s-ana.csv", "there already"),
         {"i.json": ITEMS, "s-ana.csv": SHEET}),
    Case("decoys each, without decoys", f"{WRITE} --decoys-each 2", ("--decoys-each", "--decoys"), {"i.json": ITEMS}),
    Case("a wording with the name of a decoy", MAKE, ("'tea'", "'decoy-1'", "name that decoys have"),
         {"i.json": '[{"item": "tea", "variant": "original", "pattern": "original", "text": "Tea."}, '
                    '{"item": "tea", "variant": "decoy-1", "pattern": "paraphrase", "text": "Drink."}]'}),
    Case("decoys of items without originals", MAKE, ("i.json", "no decoy can be made", "no original"),
         {"i.json": '[{"item": "tea", "variant": "p", "pattern": "paraphrase", "text": "Tea is good."}]'}),
    Case("decoys that may be edited", MAKE, ("d.csv", "there already"), {"i.json": ITEMS, "d.csv": DECOYS}),
    Case("decoys that are no .csv", MAKE.replace("d.csv", "d.xlsx"), ("d.xlsx", ".csv"), {"i.json": ITEMS}),
    Case("a pipeline that is not there", f"{MAKE} --pipeline nowhere", ("--pipeline nowhere",), {"i.json": ITEMS}),
    Case("Japanese decoys without its packages", MAKE, ("japanese",),
         {"i.json": '[{"item": "茶", "text": "お茶は良い。", "paraphrases": ["お茶がよい。"]}]'}, without=("fugashi",)),
    antonyms("antonyms of a group that there is not", "adjektives: [[hot, cold]]\n", ("'adjektives'", "'adjectives'")),
    antonyms("antonyms that are no pair", "adjectives: [[hot, cold], [hot]]\n", ("adjectives, pair 2", "[hot, cold]")),
    antonyms("antonyms that are no groups", "- [hot, cold]\n", ("groups of pairs",)),
    antonyms("a verb without its forms", "verb forms: {buy: bought}\n", ("buy", "four forms")),
    antonyms("words with tags that are no list", "only with tags: light\n", ("only with tags", "list of words")),
]  # fmt: skip
