"""Names that become parts of paths, and folders that a refused call must not leave."""

from __future__ import annotations

from helpers.refusals import Case

ITEMS = "item,text\na,One.\na,The first.\na,Number one.\n"
LONG = "x" * 300
RUN = "inference run agreement --items items.csv --model demo --engine causal"
COLUMNS = "--item-column item --text-column text --answer-column answer --options yes=yes;no=no"
TABLE = "model,item,variant,text,answer\nm,a,original,One.,yes\n"


def _plan(folder: str) -> str:
    return (
        f'out = "root"\n[[study]]\nprotocol = "agreement"\nitems = "items.csv"\nmodel = ["demo"]\nfolder = {folder}\n'
    )


PLANS = {
    "leaves the root": '"../outside"',
    "is absolute": '"/tmp/outside"',
    "is the root's own": '"."',
    "is the folder above": '".."',
    "holds NUL": '"a\\u0000b"',
    "is empty": '""',
    "has a folder in it": '"a/b"',
    "is hidden": '".a"',
    "is too long": f'"{LONG}"',
}
CASES = [
    *(Case(f"nothing after {option}", f"{RUN} --out new {option}=", (f"{option}: is empty",),
           {"items.csv": ITEMS}) for option in ("--items", "--prompt", "--personas", "--lora", "--models")),
    Case("a sheet with decoys of no name", "inference paraphrase sheet --items items.csv --out s.csv --decoys=",
         ("--decoys: is empty",), {"items.csv": ITEMS}),
    Case("a check against no name", "analysis check run --rules rules.toml --against=", ("--against: is empty",)),
    Case("a split of no data set", "inference run agreement --items #train --model demo --out new",
         ("#train: there is no name before",)),
    Case("a run in the place of items", "inference run agreement --items old --model demo --out new",
         ("old: this is a run folder",), {"old/run.json": "{}", "old/a.csv": ITEMS}),
    Case("combining a name without a file", "inference paraphrase combine a= --out new.jsonl", ("'a='", "is empty")),
    Case("an import into an empty name", f"inference import table t.csv {COLUMNS} --out=", ("--out: is empty",)),
    Case("runs of HELM of no name", ("inference", "import", "helm", "", "--out", "new"), ("FOLDER: is empty",)),
    Case("logs of Inspect of no name", ("inference", "import", "inspect", "", "--out", "new"), ("LOG: is empty",)),
    Case("questions of no name", ("inference", "choice", "build", "", "--out", "new.jsonl"), ("FILE: is empty",)),
    Case("no wordings", ("inference", "meaning", "", "--check", "words", "--out", "new"), ("SOURCE: is empty",)),
    Case("a judge of an empty name", ("inference", "judge", "", "--model", "demo"), ("RUN: is empty",)),
    Case("a preview with models described nowhere",
         "inference preview agreement --items items.csv --model demo --models no.yaml", ("no.yaml",),
         {"items.csv": ITEMS}),
    Case("no such model", "inference run agreement --items items.csv --model not/a-model/at-all --out new",
         ("not/a-model",), {"items.csv": ITEMS}),
    Case("a folder that is no model", "inference run agreement --items items.csv --model here --out new",
         ("here",), {"items.csv": ITEMS, "here/readme.txt": "x"}),
    Case("a folder that is no model, for a new folder in new folders",
         "inference run agreement --items items.csv --model here --out new/and/deep",
         ("here",), {"items.csv": ITEMS, "here/readme.txt": "x"}),
    Case("a name that no file system takes", f"{RUN} --out {LONG}", ("file name too long",), {"items.csv": ITEMS}),
    Case("a name that no file system takes, in a new folder", f"{RUN} --out new/{LONG}", ("file name too long",),
         {"items.csv": ITEMS}),
    Case("a run below a file", f"{RUN} --out items.csv/run", ("items.csv", "not a directory"), {"items.csv": ITEMS}),
    Case("a run that is a file", f"{RUN} --out items.csv", ("items.csv",), {"items.csv": ITEMS}),
    Case("status of a name that is too long", f"inference status {LONG}", ("xxx",)),
    Case("table of a name that is too long", f"analysis table {LONG} stability", ("xxx",)),
    Case("report of a name that is too long", f"analysis report {LONG} --out new", ("xxx",)),
    Case("features of a name that is too long", f"analysis features {LONG}", ("xxx",)),
    Case("items with a name that is too long", f"inference run agreement --items {LONG}.csv --model demo --out new",
         ("xxx",)),
    Case("import of a name that is too long", f"inference import table {LONG}.csv {COLUMNS} --out new", ("xxx",)),
    Case("combining into a name that is too long", f"inference paraphrase combine a=items.csv --out new/{LONG}.jsonl",
         ("file name too long",), {"items.csv": ITEMS}),
    Case("combining into one of the files", "inference paraphrase combine a=items.csv b=own.jsonl --out ./own.jsonl",
         ("--out ./own.jsonl", "one of the files to combine"), {"items.csv": ITEMS, "own.jsonl": "{}\n"}),
    Case("combining below a file", "inference paraphrase combine a=items.csv --out items.csv/new.jsonl",
         ("items.csv", "file exists"), {"items.csv": ITEMS}),
    Case("a sheet with a name that is too long",
         f"inference paraphrase sheet --items items.csv --out {LONG}.csv", ("file name too long",),
         {"items.csv": ITEMS}),
    Case("a sheet in a folder that is not there", "inference paraphrase sheet --items items.csv --out new/s.csv",
         ("new/s.csv", "no such file"), {"items.csv": ITEMS}),
    Case("import into a name that is too long",
         f"inference import table t.csv {COLUMNS} --out new/{LONG} --name s", ("file name too long",),
         {"t.csv": TABLE}),
    *(Case(f"a study's folder {what}", "inference run plan.toml", ("plan.toml" if what != "is too long" else "xxx",),
           {"items.csv": ITEMS, "plan.toml": _plan(folder)}) for what, folder in PLANS.items()),
    Case("a run file whose model is none", "inference run plan.toml", ("here",),
         {"items.csv": ITEMS, "here/readme.txt": "x", "plan.toml": _plan('"s"').replace("demo", "here")}),
]  # fmt: skip
