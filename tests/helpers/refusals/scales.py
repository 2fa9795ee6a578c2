"""Rating scales and personas: options, keys, scales, and tables of personas."""

from __future__ import annotations

from helpers.commands import ROOT
from helpers.refusals import Case

MODEL = str(ROOT / "inference" / "demo" / "models" / "waver-demo-mini")
FIVE = "Strongly disagree; Disagree; Neither; Agree; Strongly agree"
ITEMS = "item,text,scale,key\na,I like trains.,E,1\nb,I avoid trains.,E,-1\n"
ANSWERS = "item,text,answer,scale,key\na,One.,1,E,1\n"
PERSONAS = "name,text\nnurse,You are a nurse.\n"


def asked(
    name: str, words: tuple[str, ...], *more: str, options: str | None = FIVE, status: int = 2, **files: str
) -> Case:
    """A call about two items, with other options or files, and how it ends."""
    given = () if options is None else ("--options", options)
    call = ("inference", "run", "scale", "--items", "i.csv", "--model", MODEL, "--out", "run", *given, *more)
    content = {name.replace("_", "."): text for name, text in files.items()}
    return Case(name, call, words, {"i.csv": ITEMS, "p.csv": PERSONAS, **content}, status)


def imported(
    name: str, words: tuple[str, ...], *more: str, table: str = "item,text,answer,scale,key\na,One.,1,E,1\n"
) -> Case:
    """A table of answers by codes that is refused."""
    call = ("inference", "import", "table", "t.csv", "--item-column", "item", "--text-column", "text", "--out", "run")
    return Case(name, (*call, *more), words, {"t.csv": table})


CODES = ("--answer-column", "answer", "--options", "No=1;Maybe=2;Yes=3")
CASES = [
    asked("no options at all", ("i.csv", "item 'a'", "--options", "column 'options'"), options=None),
    asked("one option", ("--options", "'Agree' is one option", "semicolon"), options="Agree"),
    asked("options parted by commas", ("--options", "is one option", "semicolon"), options="Disagree, Agree"),
    asked("two digits in a mask", ("fills a mask", "two digits", "--labels letters"), "--model",
          MODEL.replace("mini", "bert"), options="0;5;10", status=1),
    asked("an empty option", ("--options", "empty option"), options="Disagree;;Agree"),
    asked("two options that are alike", ("--options", "'Agree' and 'agree'", "alike"), options="Agree; Neither; agree"),
    asked("two options that a text cannot tell apart", ("--options", "non smoker", "choose other words"),
          options="Non-smoker; non smoker; smoker"),
    asked("options of an item that are alike", ("i.csv", "item 'a'", "alike"),
          i_csv="item,text,options\na,One.,No;no\n"),
    asked("wordings with unequally many options", ("i.csv", "item 'a'", "2 and 3 options", "equally many"),
          i_csv="item,text,options\na,One.,No;Yes\na,The first.,No;Maybe;Yes\n"),
    asked("a key of 2", ("i.csv", "item 'a'", "key must be 1, or -1", "'2'"), i_csv=ITEMS.replace(",1\n", ",2\n")),
    asked("a key that is a word", ("i.csv", "item 'b'", "key", "'reversed'"), i_csv=ITEMS.replace("-1", "reversed")),
    asked("a scale with one item", ("i.csv", "item 'a'", "scale 'E'", "no other item"),
          i_csv=ITEMS.replace("trains.,E,-1", "trains.,F,-1")),
    asked("an item of two scales", ("i.csv", "item 'a'", "'E' and 'F'", "has one"),
          i_csv="item,text,scale\na,One.,E\na,The first.,F\nb,Two.,E\n"),
    asked("an item with a right answer", ("i.csv", "item 'a'", "no right answer", "gold"),
          i_csv="item,text,gold\na,One.,Agree\n"),
    asked("no middle to leave out", ("--without-middle", "even number"), "--without-middle", options="No; Yes"),
    asked("more options than letters", ("--labels letters", "30 options", "26 letters", "--labels numbers"),
          "--labels", "letters", options=";".join(f"about {n}" for n in range(30))),
    asked("numbers of two digits from a server", ("every number", "--labels letters"), "--engine", "openai",
          "--base-url", "http://127.0.0.1:9/v1", options="0;1;2;3;4;5;6;7;8;9;10"),
    asked("labels that are none", ("--labels", "roman", "numbers"), "--labels", "roman"),
    asked("an order that is none", ("--option-order", "yes-no", "up"), "--option-order", "yes-no"),
    asked("prompts of one's own without options", ("own.yaml", "options"), "--prompt", "own.yaml",
          own_yaml="plain:\n  template: '{{ text }}'\n"),
    asked("prompts that hide the persona", ("own.yaml", "never shows {{ persona }}"), "--prompt", "own.yaml",
          own_yaml="plain:\n  template: '{{ text }}{{ options }}{% if persona %}!{% endif %}'\n"),
    asked("no file of personas", ("nobody.csv", "no such file"), "--personas", "nobody.csv"),
    asked("a persona without a text", ("p.csv", "row 3", "'clerk'", "needs a text"), "--personas", "p.csv",
          p_csv=f"{PERSONAS}clerk,\n"),
    asked("a persona without a name", ("p.csv", "row 3", "needs a name"), "--personas", "p.csv",
          p_csv=f"{PERSONAS},You work.\n"),
    asked("two personas of one name", ("p.csv", "row 3", "'Nurse' is already in row 2"), "--personas", "p.csv",
          p_csv=f"{PERSONAS}Nurse,You work.\n"),
    asked("a persona's name with a slash", ("p.csv", "row 2", "'a/b'", "holds no /"), "--personas", "p.csv",
          p_csv="name,text\na/b,You work.\n"),
    asked("personas without the column text", ("p.csv", "column 'text'", "name, story"), "--personas", "p.csv",
          p_csv="name,story\nnurse,You work.\n"),
    asked("personas with a further column, told", ("p.csv", "columns not read: age"), "--personas", "p.csv", status=0,
          p_csv="name,text,age\nnurse,You work.,40\n"),
    *(
        Case(f"a persona without a text, {protocol}",
             ("inference", "run", protocol, "--items", "demo", "--personas", "p.csv", "--model", MODEL, "--out", "run"),
             ("p.csv", "row 2", "needs a text"), {"p.csv": "name,text\nnurse, \n"})
        for protocol in ("agreement", "choice")
    ),
    imported("three options without --ordered", ("--options", "expected two", "--ordered"), *CODES),
    imported("ordered: one option", ("--options", "two or more"), "--answer-column", "answer", "--options", "No=1",
             "--ordered"),
    imported("ordered: two options of one name", ("--options", "different"), "--answer-column", "answer", "--options",
             "No=1;no=2", "--ordered"),
    imported("ordered: a right answer", ("--gold-column", "--ordered"), *CODES, "--ordered", "--gold-column", "key"),
    imported("ordered: a score", ("--score-column", "--ordered"), "--score-column", "answer", "--ordered"),
    imported("a scale without --ordered", ("--scale-column", "--ordered"), "--answer-column", "answer", "--options",
             "No=1;Yes=2", "--scale-column", "scale"),
    imported("ordered: a key of 0", ("t.csv", "row 2", "key", "'0'"), *CODES, "--ordered", "--key-column", "key",
             table="item,text,answer,scale,key\na,One.,1,E,0\n"),
    imported("ordered: a scale with one item", ("t.csv", "item 'a'", "scale 'E'", "no other item"), *CODES, "--ordered",
             "--scale-column", "scale"),
    imported("ordered: an item of two keys", ("t.csv", "row 3", "the key of item 'a'", "row 2"), *CODES, "--ordered",
             "--key-column", "key", "--condition-column", "scale",
             table="item,text,answer,scale,key\na,One.,1,E,1\na,One.,2,F,-1\n"),
]  # fmt: skip
