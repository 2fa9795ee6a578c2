"""Inputs that were taken as if they were right."""

from __future__ import annotations

import json

from helpers.refusals import Case
from helpers.refusals.reading import AGREEMENT, BANK, MODELS, PLAN, PROMPT, bank, items, models, plan, prompt

SCORING = "inference run scoring --model demo --out run --items texts.csv --output-column text "
WORDING = (
    "inference run wording --model demo --out run --items texts.csv --language en --templates sentiment "
    "--text-column text --gold-column gold "
)
TABLE = "inference import table answers.csv --out run --item-column item --text-column text "
ANSWERS = "item,text,yes,no\na,Tea.,3,1\na,Tea!,2,2\n"
NO_ID = ("inf", "-inf", "Infinity", "nan", "NaN")


def scores(name: str, score: str, *words: str) -> Case:
    """Make a case of a human score."""
    return Case(
        f"human score, {name}",
        f"{SCORING}--gold-column gold",
        ("texts.csv", "row 2", *words),
        {"texts.csv": f"text,gold\nTea.,{score}\nMilk.,50\n"},
    )


CASES = [
    *(items(f"id that is {value}", "x.csv", f"item,text\n{value},Tea.\n", "row 2", "id") for value in NO_ID),
    *(
        items(f"variant that is {value}", "x.csv", f"item,variant,text\na,{value},Tea.\n", "row 2", "variant")
        for value in NO_ID[:3]
    ),
    items("id that is infinite in JSON", "x.json", '[{"item": Infinity, "text": "Tea."}]', "entry 1", "id"),
    items("id that is not a number in JSON", "x.json", '[{"item": NaN, "text": "Tea."}]', "entry 1", "id"),
    items("id that is infinite in YAML", "x.yaml", "- item: .inf\n  text: Tea.\n", "entry 1", "id"),
    items("id that is blank", "x.csv", "item,text\n ,Tea.\n", "row 2", "id"),
    items("key twice in JSON", "x.json", '[{"item": "a", "text": "Tea.", "text": "Milk."}]', "'text'", "twice"),
    items(
        "key twice in a line", "x.jsonl", '{"item": "a", "text": "b"}\n{"item": "c", "item": "d"}', "line 2", "twice"
    ),
    items(
        "key twice in nested JSON", "x.json", '[{"item": "a", "text": "b", "attributes": {"x": 1, "x": 2}}]', "twice"
    ),
    items("key twice in YAML", "x.yaml", "- item: a\n  text: Tea.\n  text: Milk.\n", "line 3", "'text'", "twice"),
    items("header twice in CSV", "x.csv", "item,text\na,Tea.\nitem,text\nb,Milk.\n", "row 3", "header again"),
    items("column twice in CSV", "x.csv", "item,text,text\na,Tea.,Milk.\n", "'text'", "twice"),
    items(
        "attribute twice",
        "x.json",
        '[{"item": "a", "text": "b", "attributes": {"x": 1}, "attributes.x": 2}]',
        "entry 1",
        "twice",
    ),
    items("number with underscores in YAML", "x.yaml", "- item: 1_000\n  text: Tea.\n", "line 1", "1_000"),
    items("octal number in YAML", "x.yaml", "- item: 010\n  text: Tea.\n", "line 1", "010"),
    items("number to the base of 60 in YAML", "x.yaml", "- item: 1:30\n  text: Tea.\n", "line 1", "1:30"),
    items("decimal with underscores in YAML", "x.yaml", "- item: a\n  gold_score: 1_0.5\n", "line 2", "1_0.5"),
    *(
        items(
            f"gold score {value!r}",
            "x.json",
            json.dumps([{"item": "a", "text": "b", "gold_score": value}], ensure_ascii=False),
            "entry 1",
            "gold_score",
        )
        for value in ("1_000", "\uff15", "\u0665", "inf", "nan", "1e999", float("inf"), 10**400)
    ),
    scores("with an underscore", "5_0", "number"),
    scores("in full-width digits", "\uff15\uff10", "number"),
    scores("in Arabic digits", "\u0665\u0660", "number"),
    scores("infinite", "inf", "number"),
    scores("not a number", "nan", "number"),
    scores("too large for a computer", "1e999", "number"),
    Case(
        "scale in full-width digits",
        f"{SCORING}--gold-column gold --gold-range \uff10-\uff19",
        ("--gold-range",),
        {"texts.csv": "text,gold\nTea.,5\n"},
    ),
    Case(
        "scale asked for in full-width digits",
        f"{SCORING}--range \uff10-\uff19",
        ("--range",),
        {"texts.csv": "text\nTea.\n"},
    ),
    Case("scale of 10 digits", f"{SCORING}--range 0-9999999999", ("--range",), {"texts.csv": "text\nTea.\n"}),
    Case(
        "comparison with an underscore",
        (*WORDING.split(), "--yes-if", ">=1_0", "--no-if", "<0"),
        ("--yes-if",),
        {"texts.csv": "text,gold\nA,1\nB,0\n"},
    ),
    Case(
        "comparison in full-width digits",
        (*WORDING.split(), "--yes-if", ">=\uff11", "--no-if", "<0"),
        ("--yes-if",),
        {"texts.csv": "text,gold\nA,1\nB,0\n"},
    ),
    Case(
        "text column as the gold column",
        WORDING.replace("--gold-column gold", "--gold-column text"),
        ("--gold-column", "--text-column"),
        {"texts.csv": "text,gold\nyes,yes\nno,no\n"},
    ),
    Case(
        "text column as the item column",
        f"{WORDING}--item-column text",
        ("--item-column", "--text-column"),
        {"texts.csv": "text,gold\nA,yes\nB,no\n"},
    ),
    Case(
        "item that is infinite",
        f"{WORDING}--item-column id",
        ("texts.csv", "row 2", "inf"),
        {"texts.csv": "id,text,gold\ninf,A,yes\nb,B,no\n"},
    ),
    Case(
        "text column as the source column",
        f"{SCORING}--source-column text",
        ("--source-column", "--output-column"),
        {"texts.csv": "text\nTea.\n"},
    ),
    Case(
        "text column as the score column",
        f"{SCORING}--gold-column text",
        ("--gold-column", "--output-column"),
        {"texts.csv": "text\n5\n"},
    ),
    Case(
        "one column for two roles of a table",
        f"{TABLE}--variant-column item --count-columns agree=yes,disagree=no",
        ("--variant-column", "--item-column"),
        {"answers.csv": ANSWERS},
    ),
    Case(
        "item of a table that is infinite",
        f"{TABLE}--count-columns agree=yes,disagree=no",
        ("answers.csv", "row 2", "inf"),
        {"answers.csv": ANSWERS.replace("\na,Tea.", "\ninf,Tea.")},
    ),
    Case(
        "id of a table that is infinite in JSON",
        TABLE.replace("answers.csv", "answers.json") + "--count-columns agree=yes,disagree=no",
        ("answers.json", "entry 1", "inf"),
        {"answers.json": '[{"item": Infinity, "text": "Tea.", "yes": 1, "no": 2}]'},
    ),
    Case(
        "id of a table beyond what is exact",
        TABLE.replace("answers.csv", "answers.json") + "--count-columns agree=yes,disagree=no",
        ("answers.json", "entry 1", "exact"),
        {"answers.json": '[{"item": 1e300, "text": "Tea.", "yes": 1, "no": 2}]'},
    ),
    Case("empty study name", (*AGREEMENT.split(), "demo", "--name", ""), ("--name", "empty")),
    Case("blank study name", (*AGREEMENT.split(), "demo", "--name", " "), ("--name", "empty")),
    plan("empty study name", PLAN.replace("opinions", ""), "name", "empty"),
    plan("key twice", PLAN + 'name = "other"\n', "TOML"),
    models("key twice", MODELS + "  series: other\n", "line 3", "twice"),
    models("model twice", MODELS + MODELS, "line 3", "twice"),
    models("parameters beyond what is exact", "demo: {parameters: 9007199254740993}\n", "parameters"),
    models("parameters that are infinite", "demo: {parameters: .inf}\n", "parameters"),
    models("parameters with underscores", "demo: {parameters: 1_000}\n", "1_000"),
    prompt("form twice", PROMPT + PROMPT, "line 6", "twice"),
    prompt("answer twice", PROMPT.replace("disagree:", "agree:"), "line 5", "twice"),
    prompt(
        "text never shown", PROMPT.replace("{{ text }}", "{% if false %}{{ text }}{% endif %}"), "plain", "never shows"
    ),
    prompt("text only counted", PROMPT.replace("{{ text }}", "{{ text|length }}"), "plain", "never shows"),
    prompt("text only set", PROMPT.replace("{{ text }}", "{% set x = text %}"), "plain", "never shows"),
    prompt("prompt drawn by chance", PROMPT.replace("'Is it so? ", "'{{ [1, 2]|random }}{{ text }}"), "random"),
    bank(
        "text never shown", BANK.replace("'Is it bad? {{ text }}'", "'{% if 0 %}{{ text }}{% endif %}'"), "never shows"
    ),
    bank("task twice", BANK + BANK, "already there"),
    bank("pattern twice", BANK + "    original: ['Is it? {{ text }}']\n", "twice"),
]
