"""Wrong calls and inputs of `meaning`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from helpers.refusals import Case
from helpers.refusals.missing import MODEL, RUN

ITEMS = (
    "item,text\n"
    "tea,Hot tea is good.\ntea,A hot tea is good.\ntea,Tea that is hot is good.\n"
    "rain,Rain is wet.\nrain,The rain is wet.\nrain,Wet is the rain.\n"
)
SHEET = "item,paraphrase,match\ntea,A hot tea is good.,yes\nrain,The rain is wet.,no\n"
CALL = "inference meaning items.csv --out out"
WORDS = f"{CALL} --check words"
LABELS = "--labels entailment,neutral,contradiction"


def case(name: str, call: str, words: tuple[str, ...], status: int = 2, **files: str) -> Case:
    """Make a case with items, and other files by their names: `_` stands for the point."""
    content = {"items.csv": ITEMS} | {file.replace("_", "."): text for file, text in files.items()}
    return Case(name, call, words, content, status=status)


def with_copy(source: Path, target: str) -> Callable[[Path], None]:
    """Write items, and a copy of a folder."""

    def write(folder: Path) -> None:
        (folder / "items.csv").write_text(ITEMS, encoding="utf-8")
        shutil.copytree(source, folder / target)

    return write


def numbered_classes(folder: Path) -> None:
    """Write items, and a classifier whose config.json only numbers its classes."""
    with_copy(MODEL.parent / "waver-demo-encoder", "nli")(folder)
    config = json.loads((folder / "nli" / "config.json").read_text(encoding="utf-8"))
    names = {str(place): f"LABEL_{place}" for place in range(3)}
    config |= {"id2label": names, "label2id": {name: int(place) for place, name in names.items()}}
    (folder / "nli" / "config.json").write_text(json.dumps(config), encoding="utf-8")


CASES = [
    case("neither a check nor a sheet", CALL, ("--check", "--sheet")),
    case("a check that there is not", f"{CALL} --check similarty=m", ("'similarty'", "nearest is 'similarity'")),
    case("a check without its model", f"{CALL} --check entailment", ("which model", "entailment=MODEL")),
    case("words with a model", f"{CALL} --check words={MODEL}", ("no model", "--check words")),
    case("a check twice", f"{WORDS} words", ("words", "named twice")),
    case("several models of one check", f"{CALL} --check judge=demo", ("judge=demo", "name one")),
    case("a model that is not there", f"{CALL} --check entailment=./nobody", ("--check entailment ./nobody", "folder")),
    Case("a model that is no classifier, asked as one", f"{CALL} --check entailment={MODEL} --engine classifier",
         (MODEL.name, "no classifier", "waver tune nli"), {"items.csv": ITEMS}),
    Case("a judge that fills a mask", f"{CALL} --check judge={MODEL.parent / 'waver-demo-bert'}",
         ("prompt-en.yaml", "cloze", "--check judge=MODEL"), {"items.csv": ITEMS}),
    Case("classes that are only numbered", f"{CALL} --check entailment=nli",
         ("entailment=nli", "LABEL_0, LABEL_1, LABEL_2", "not entailment", "--labels"), numbered_classes),
    Case("classes named one too few", f"{CALL} --check entailment=nli --labels entailment,neutral",
         ("--labels", "each once"), numbered_classes),
    Case("classes of a model that has none", f"{CALL} --check entailment={MODEL} {LABELS}",
         ("--labels", MODEL.name, "no classifier"), {"items.csv": ITEMS}),
    case("classes without a classifier", f"{WORDS} {LABELS}",
         ("--labels", "--check entailment")),
    case("a model that embeds nothing", f"{CALL} --check similarity={MODEL}",
         ("--check similarity", "not a sentence-transformers model")),
    case("prompts without a judge", f"{WORDS} --prompt p.yaml", ("--prompt", "--check judge"), p_yaml="plain: 1\n"),
    case("a prompt that never shows the wording", f"{CALL} --check judge={MODEL} --prompt p.yaml",
         ("p.yaml", "wording"), p_yaml="plain: {template: '{{ original }}', answers: {same: [a], different: [b]}}\n"),
    case("items without a place for the results", "inference meaning items.csv --check words", ("items.csv", "--out")),
    Case("a run and a place for the results", "inference meaning run --check words --out out", ("--out", "beside it"),
         with_copy(RUN, "run")),
    Case("a run whose wordings are to be dropped", "inference meaning run --check words --drop", ("--drop", "--where"),
         with_copy(RUN, "run")),
    Case("a folder that is no run", "inference meaning folder --check words", ("folder", "no run", "run.json"),
         {"folder/a.txt": "a"}),
    case("results over something else", WORDS.replace("--out out", "--out there"), ("--out there", "something else"),
         **{"there/a_txt": "a"}),
    case("results in a file", WORDS.replace("--out out", "--out a.txt"), ("--out a.txt", "file"), a_txt="a"),
    Case("results in a run", WORDS.replace("--out out", "--out run"), ("--out run", "run folder"),
         with_copy(RUN, "run")),
    case("results beside other files and a folder of that name", WORDS.replace("--out out", "--out ."),
         ("--out .", "something else"), **{"meaning/a_txt": "a", "items_jsonl": "{}"}),
    Case("no item has an original", WORDS, ("items.csv", "nothing to check", "no original", "tea"),
         {"items.csv": "item,text,pattern\ntea,Tea is good.,paraphrase\ntea,Good is tea.,paraphrase\n"}),
    Case("originals only", WORDS, ("items.csv", "nothing to check", "no wording beside their original", "tea, rain"),
         {"items.csv": "item,text\ntea,Tea is good.\nrain,Rain is wet.\n"}),
    Case("some items without an original", WORDS, ("1 of 2 items", "no original", "not checked", "rain"),
         {"items.csv": "item,text,pattern\ntea,Tea is good.,original\ntea,Good is tea.,paraphrase\n"
          "rain,Rain is wet.,paraphrase\nrain,Wet is the rain.,paraphrase\n"}, status=0),
    Case("one paraphrase", WORDS, ("1 wording:", "no verdict", "no check is used"),
         {"items.csv": "item,text\ntea,Tea is good.\ntea,Good is the tea.\n"}, status=0),
    Case("a wording called as decoys are", WORDS, ("'decoy-negated-1'", "name that decoys have"),
         {"items.csv": "item,variant,text\ntea,original,Tea is good.\ntea,decoy-negated-1,Good is the tea.\n"}),
    case("decoys made and given", f"{WORDS} --decoys 2 --decoys-file d.csv", ("either --decoys", "--decoys-file"),
         d_csv="item,decoy,text\n"),
    case("decoys of another study", f"{WORDS} --decoys-file d.csv", ("d.csv", "no item 'sky'"),
         d_csv="item,decoy,text\nsky,negated,The sky is not blue.\n"),
    case("no decoys", f"{WORDS} --decoys 0", ("--decoys", "0")),
    case("a sheet of another study", f"{CALL} --sheet ann=s.csv", ("s.csv", "no item 'sky'"),
         s_csv="item,paraphrase,match\nsky,The sky is blue.,yes\n"),
    case("a sheet with another wording", f"{CALL} --sheet ann=s.csv", ("s.csv", "row 2", "not that of the items"),
         s_csv="item,paraphrase,match\ntea,Coffee is good.,yes\n"),
    case("a sheet with blanks", f"{CALL} --sheet ann=s.csv", ("s.csv", "match is empty", "yes or no", "row out"),
         s_csv="item,paraphrase,match\ntea,A hot tea is good.,\n"),
    case("a sheet that is not there", f"{CALL} --sheet ann=nobody.csv", ("nobody.csv",)),
    case("a table of decoys that is not there", f"{WORDS} --decoys-file nobody.csv", ("nobody.csv",)),
    case("a sheet twice", f"{CALL} --sheet ann=s.csv bob=s.csv", ("s.csv", "given twice"), s_csv=SHEET),
    case("two sheets of one person", f"{CALL} --sheet ann=s.csv ann=t.csv", ("t.csv", "annotator 'ann'"), s_csv=SHEET,
         t_csv=SHEET),
    case("one annotator", f"{CALL} --sheet ann=s.csv", ("one annotator (ann)",), status=0, s_csv=SHEET),
    case("a sheet without decoys", f"{CALL} --sheet ann=s.csv", ("no decoy", "annotators err"), status=0, s_csv=SHEET),
    case("votes all alike", f"{CALL} --sheet ann=s.csv bob=t.csv --check words", ("no decoy", "annotators err"),
         status=0, s_csv=SHEET.replace(",no", ",yes"), t_csv=SHEET.replace(",no", ",yes")),
]  # fmt: skip
