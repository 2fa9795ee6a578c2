"""Rooms of other installed packages that fail or are not whole: one line names the package, and the others stay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from helpers.outside_packages import list_package_files
from helpers.refusals import Case

ITEMS = "item,text\na,Tea is good.\na,I like tea.\na,Tea is nice.\n"
REMOVAL = "pip uninstall waver-toy"
OURS = "inference import table answers.csv --out run --item-column item --text-column text --answer-column answer"
CALL = (*OURS.split(), "--options", "yes=yes;no=no")
ANSWERS = "item,text,answer\na,Tea.,yes\na,Tea!,no\n"
IMPORTER = (
    'COMMAND = "import toy"\nHELP = "import toys"\n\n\ndef add_arguments(parser):\n    parser.add_argument("file")\n'
)
PROTOCOL = (
    '"""Ask toys."""\nNAME = "toy"\nKINDS = ("causal",)\n\n\ndef add_arguments(parser):\n'
    '    parser.add_argument("--items")\n\n\ndef prepare_study(options):\n    return {}["x"]\n'
)

BEGUN = PROTOCOL.replace('    return {}["x"]\n', "")
TOY = Path(__file__).parents[2] / "fixtures" / "toy_page" / "inference" / "protocols" / "toy"


def make_asking(body: str) -> dict[str, str]:
    """Make the protocol of the toy page, in which `rounds` does something else with its own rounds."""
    code = (TOY / "__init__.py").read_text(encoding="utf-8")
    code += (
        f"\n\n_ours = Questions.rounds\n\n\ndef _rounds(self, form):\n    ours = _ours(self, form)\n    {body}\n\n\n"
        "Questions.rounds = _rounds\n"
    )
    prompts = (TOY / "prompts.yaml").read_text(encoding="utf-8")
    return {"waver_toy/toy/__init__.py": code, "waver_toy/toy/prompts.yaml": prompts}


def package(rooms: str, modules: Mapping[str, str]) -> dict[str, str]:
    """Write a package waver-toy 1.0 into `site`, and tables beside it."""
    files = list_package_files("waver-toy", rooms, {"waver_toy/__init__.py": "", **modules})
    return {
        "items.csv": ITEMS,
        "answers.csv": ANSWERS,
        **{f"site/{name}": text for name, text in files.items()},
    }


def told(name: str, rooms: str, modules: Mapping[str, str], *words: str, call: str | tuple[str, ...] = CALL) -> Case:
    """Make a case of a room that is left out, while the call does what it is for."""
    return Case(
        name, call, ("is left out", "waver-toy 1.0", REMOVAL, *words), package(rooms, modules), status=0, site="site"
    )


def refused(
    name: str, call: str | tuple[str, ...], rooms: str, modules: Mapping[str, str], *words: str, status: int = 2
) -> Case:
    """Make a case of a room that a call names and that cannot be used."""
    return Case(name, call, ("waver-toy 1.0", REMOVAL, *words), package(rooms, modules), status=status, site="site")


ROWS_IMPORTER = IMPORTER + (
    "    saving.add_arguments(parser)\n\n\ndef main(options):\n"
    '    rows = Records(Path(options.file), ["model", "item", "text", "stars"])\n'
    '    save_score_rows(options, options.file, rows, ScoreMeasure("stars", (1, 5)), "toy")\n\n\n'
    "from pathlib import Path\n\nfrom inference.importers.shared import saving\n"
    "from inference.importers.shared.score_rows import save_score_rows\n"
    "from inference.importers.shared.scored import ScoreMeasure\n"
    "from inference.stimuli.reading.records import Records\n"
)
STARS = "model,item,text,stars\nm,a,A?,5\n"


def refused_row(name: str, row: str, *words: str) -> Case:
    """Make a case of a wrong row that an outside importer hands to `save_score_rows`."""
    files = {**package("importer toy = waver_toy.toy", {"waver_toy/toy.py": ROWS_IMPORTER}), "s.csv": f"{STARS}{row}\n"}
    return Case(name, "inference import toy s.csv --out run", ("s.csv, row 3", *words), files, site="site")


RUN = "inference run toy --items items.csv --model demo --out run"
MODEL = Path(__file__).parents[3] / "inference" / "demo" / "models" / "waver-demo-small"
AGREEMENT = ("inference", "preview", "agreement", "--items", "items.csv", "--model", str(MODEL))
RUN_ONE = ("inference", "run", "toy", "--items", "items.csv", "--model", str(MODEL), "--out", "run")
NO_PYTHON = {"waver_toy/toy.py": "COMMAND = ("}
OTHER_WORD = {"waver_toy/toy.py": IMPORTER.replace("toy", "x")}
FAILING_IMPORTER = {"waver_toy/toy.py": f"{IMPORTER}\n\nraise ValueError('bad')\n"}
FAILING = {"waver_toy/toy.py": "import nowhere_at_all\n"}
CASES = [
    told("an importer without a file", "importer toy = waver_toy.nowhere", {}, "importer toy", "waver_toy.nowhere"),
    told("an importer that is no Python", "importer toy = waver_toy.toy", NO_PYTHON,
         "importer toy", "is not Python", "SyntaxError"),
    told("an importer of another word", "importer toy = waver_toy.toy", OTHER_WORD,
         "importer toy", 'COMMAND = "import toy"'),
    told("an importer without a help", "importer toy = waver_toy.toy", {"waver_toy/toy.py": 'COMMAND = "import toy"\n'},
         "importer toy", "HELP"),
    told("an importer of our name", "importer table = waver_toy.toy", {"waver_toy/toy.py": IMPORTER},
         "importer table", "Waver's own importer has this name"),
    told("a name with a blank", "importer my toy = waver_toy.toy", {"waver_toy/toy.py": IMPORTER},
         "importer my toy", "small letters"),
    told("a name of a module with a path", "importer toy = ../toy.py", {}, "importer toy", "no name of a module"),
    told("a protocol of our name", "protocol agreement = waver_toy.toy", {"waver_toy/toy.py": PROTOCOL},
         "protocol agreement", "and stays", call=AGREEMENT),
    told("an engine that fails to import", "engine toy = waver_toy.toy", FAILING,
         "engine toy", "No module named 'nowhere_at_all'", "toy.py", call=AGREEMENT),
    told("an engine without an entry", "engine toy = waver_toy.toy", {"waver_toy/toy.py": "ENTRY = 3\n"},
         "engine toy", "ENTRY = Entry(...)", call=AGREEMENT),
    refused("an importer that fails to import", "inference import toy a.csv", "importer toy = waver_toy.toy",
            FAILING_IMPORTER, "importer toy", "ValueError: bad", "line 9"),
    refused("an importer without main", "inference import toy a.csv", "importer toy = waver_toy.toy",
            {"waver_toy/toy.py": IMPORTER}, "importer toy", "no function main"),
    refused("an importer with a fault", "inference import toy a.csv", "importer toy = waver_toy.toy",
            {"waver_toy/toy.py": f"{IMPORTER}\n\ndef main(options):\n    return 1 / 0\n"},
            "importer toy", "failed", "ZeroDivisionError", "line 10", status=1),
    refused("a protocol that fails to import", RUN, "protocol toy = waver_toy.toy",
            FAILING, "protocol toy", "nowhere_at_all"),
    refused("a protocol of another name", RUN, "protocol toy = waver_toy.toy",
            {"waver_toy/toy.py": PROTOCOL.replace('"toy"', '"doll"')}, "protocol toy", 'NAME = "toy"'),
    refused("a protocol with a fault", RUN, "protocol toy = waver_toy.toy", {"waver_toy/toy.py": PROTOCOL},
            "protocol toy", "failed", "KeyError", status=1),
    refused("a protocol whose study is none", RUN, "protocol toy = waver_toy.toy",
            {"waver_toy/toy.py": f"{BEGUN}    return 1, 2\n"},
            "protocol toy", "failed", "prepare_study", "no Study", status=1),
    refused("a protocol with a fault in its rounds", RUN_ONE, "protocol toy = waver_toy.toy",
            make_asking("raise KeyError('wording')"),
            "protocol toy", "failed", "KeyError", "wording", status=1),
    refused("a protocol whose rounds are none", RUN_ONE, "protocol toy = waver_toy.toy",
            make_asking("return [form]"),
            "protocol toy", "failed", "no list of Rounds", status=1),
    refused("a protocol with a fault in its prompts", RUN_ONE, "protocol toy = waver_toy.toy",
            make_asking("return [replace(each, render=lambda *_: 1 / 0) for each in ours]"),
            "protocol toy", "failed", "ZeroDivisionError", status=1),
    refused_row("a score of an outside importer outside its range", "m,a,A!,6", "stars is 6, outside 1-5"),
    refused_row("a text as a score of an outside importer", "m,a,A!,many", "'many'", "a number is needed"),
    refused_row("two scores of one text from an outside importer", "m,a,A?,4", "same model, item and text as in row 2"),
    refused_row("a row of an outside importer without a text", "m,a,,4", "text is ''", "a text is needed"),
    refused_row("a row of an outside importer without a model", ",a,A!,4", "model is ''", "a text is needed"),
]  # fmt: skip
