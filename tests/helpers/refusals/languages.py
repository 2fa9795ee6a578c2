"""Languages: codes that are none, prompts and templates that are not there, and texts that look otherwise."""

from __future__ import annotations

from helpers.commands import ROOT
from helpers.refusals import Case

MODEL = str(ROOT / "inference" / "demo" / "models" / "waver-demo-mini")
GERMAN = (
    "item,text\na,Tee ist besser als Kaffee und auch nicht so teuer.\na,Kaffee ist nicht so gut wie Tee.\n"
    "b,Hunde sind niemals bessere Haustiere als Katzen.\nb,Ein Hund ist nicht so ein gutes Haustier wie eine Katze.\n"
)
PAIRS = (
    "premise,hypothesis,label\nDer Hund ist nicht im Haus und auch nicht im Garten.,Der Hund ist da.,contradiction\n"
)
PLAN = """out = "results"

[[study]]
protocol = "agreement"
items = "i.csv"
model = ["demo"]
language = "germ"
"""


def asked(name: str, words: tuple[str, ...], protocol: str, *more: str, status: int = 2, table: str = GERMAN) -> Case:
    """A call about German texts, and how it ends."""
    call = ("inference", "run", protocol, "--items", "i.csv", "--model", MODEL, "--out", "run", *more)
    return Case(name, call, words, {"i.csv": table, "plan.toml": PLAN}, status)


CASES = [
    asked("a language by its name", ("--language", "'german'", "ISO 639-1", "nearest is 'de'"), "agreement",
          "--language", "german"),
    asked("a language that is none, of a scale", ("--language", "'xx'", "ISO 639-1"), "scale", "--options", "No;Yes",
          "--language", "xx"),
    asked("a language in the table that is none", ("i.csv", "row 3", "language", "'Deutsch'", "nearest is 'de'"),
          "agreement", table="item,text,language\na,One.,DE\na,Zwei.,Deutsch\n"),
    asked("a language without prompts", ("--language pt", "no prompts", "--prompt FILE"), "agreement",
          "--language", "pt"),
    asked("pairs in a language without prompts", ("--language de", "no prompts", "en, ja", "--prompt FILE"), "negation",
          "--language", "de", table=PAIRS),
    asked("a bank without the language", ("sentiment.yaml", "no templates in 'de'", "--templates FILE"), "wording",
          "--text-column", "text", "--templates", "sentiment", "--language", "de"),
    asked("German texts that name no language, told", ("i.csv", "look German", "--language de"), "agreement", status=0),
    asked("German pairs that name no language, told", ("i.csv", "look German", "--language de"), "negation", status=0,
          table=PAIRS),
    asked("German texts called English, told", ("i.csv", "look German", "'en'", "--language"), "agreement",
          "--language", "en", status=0),
    asked("German texts in an English bank, told", ("i.csv", "look German", "'en'"), "wording", "--text-column", "text",
          "--templates", "sentiment", "--language", "en", status=0),
    asked("German texts on a scale with English prompts, told", ("i.csv", "German", "prompts in English"), "scale",
          "--options", "Nein;Ja", "--language", "de", status=0),
    Case("a run file with a language that is none", "inference run plan.toml",
         ("plan.toml", "[[study]] 1", "language", "'germ'"), {"i.csv": GERMAN, "plan.toml": PLAN}),
    Case("an import with a language that is none",
         ("inference", "import", "table", "t.csv", "--item-column", "item", "--text-column", "text", "--answer-column",
          "answer", "--options", "agree=1;disagree=0", "--out", "run", "--language", "englisch"),
         ("--language", "'englisch'", "ISO 639-1"), {"t.csv": "item,text,answer\na,One.,1\n"}),
]  # fmt: skip
