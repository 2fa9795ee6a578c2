"""Files that cannot be read: one reader for every format refuses them, with file and row."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from helpers.refusals import Case

AGREEMENT = "inference run agreement --model demo --out run --items "
ITEMS = "item,text\na,Tea is good.\na,Tea is fine.\na,Tea is nice.\n"
PROMPT = "plain:\n  template: 'Is it so? {{ text }}'\n  answers:\n    agree: ['yes']\n    disagree: ['no']\n"
BANK = """- task: mood
  language: en
  patterns:
    original: ['Is it good? {{ text }}']
    synonym: ['Is it fine? {{ text }}']
    antonym: ['Is it bad? {{ text }}']
    agreement: ['It is good, is it? {{ text }}']
    strong_agreement: ['It is surely good, is it? {{ text }}']
"""
MODELS = "demo:\n  series: tiny\n"
PLAN = """out = "results"

[[study]]
protocol = "agreement"
name = "opinions"
items = "items.csv"
model = ["demo"]
"""
EXEMPLARS = "pattern,text,gold\nsynonym,A,yes\nantonym,B,yes\nagreement,C,yes\nstrong_agreement,D,no\n"
DEEP = 30_000
LONG = "9" * 5000
HALF = r"\ud83d"


def items(name: str, file: str, content: str | bytes, *words: str) -> Case:
    """Make a case of an items file."""
    return Case(f"items, {name}", AGREEMENT + file, (file, *words), {file: content})


def prompt(name: str, content: str | bytes, *words: str) -> Case:
    """Make a case of a prompt file."""
    call = f"{AGREEMENT}items.csv --prompt mine.yaml"
    return Case(f"prompt, {name}", call, ("mine.yaml", *words), {"items.csv": ITEMS, "mine.yaml": content})


def bank(name: str, content: str | bytes, *words: str) -> Case:
    """Make a case of a template bank."""
    call = (
        "inference run wording --model demo --out run --items texts.csv --text-column text --gold-column gold "
        "--language en --templates bank.yaml"
    )
    texts = "text,gold\nA,yes\nB,no\n"
    return Case(f"bank, {name}", call, ("bank.yaml", *words), {"texts.csv": texts, "bank.yaml": content})


def exemplars(name: str, file: str, content: str | bytes, *words: str) -> Case:
    """Make a case of an exemplars file."""
    call = (
        "inference run wording --model demo --out run --items texts.csv --text-column text --gold-column gold "
        f"--language en --templates sentiment --shots 4 --exemplars {file}"
    )
    texts = "text,gold\nA fine film.,yes\nA bad film.,no\n"
    return Case(f"exemplars, {name}", call, (file, *words), {"texts.csv": texts, file: content})


def models(name: str, content: str | bytes, *words: str) -> Case:
    """Make a case of a file that describes models."""
    call = f"{AGREEMENT}items.csv --models models.yaml"
    return Case(f"models, {name}", call, ("models.yaml", *words), {"items.csv": ITEMS, "models.yaml": content})


def plan(name: str, content: str | bytes, *words: str) -> Case:
    """Make a case of a run file."""
    return Case(
        f"plan, {name}", "inference run plan.toml", ("plan.toml", *words), {"items.csv": ITEMS, "plan.toml": content}
    )


def parquet(name: str, columns: Callable[[], Mapping[str, object]], *words: str) -> Case:
    """Make a case of items in Parquet."""

    def write(folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table(dict(columns())), folder / "items.parquet")

    return Case(f"items, parquet: {name}", f"{AGREEMENT}items.parquet", ("items.parquet", *words), write)


def _out_of_range() -> Mapping[str, object]:
    import pyarrow as pa

    return {"item": ["a", "b"], "text": pa.array([0, 2**62], pa.timestamp("us"))}


def _not_utf8() -> Mapping[str, object]:
    import pyarrow as pa

    wrong = pa.array([b"Tea.", b"\xff\xfe"], pa.binary())
    return {"item": ["a", "b"], "text": pa.Array.from_buffers(pa.string(), 2, wrong.buffers())}


def one(text: str) -> str:
    """Write one item as JSON, with a text as JSON has it."""
    return f'[{{"item": "a", "text": "{text}"}}]'


CASES = [
    # YAML
    items("date that does not exist", "x.yaml", "- item: a\n  text: 2020-13-45\n", "line 2"),
    items("date as a text", "x.yaml", "- item: a\n  text: 2020-12-24\n", "entry 1", "must be text"),
    items("time beyond a day", "x.yaml", "- item: a\n  text: 2020-12-24T99:00:00Z\n", "line 2"),
    items("text tagged as a number", "x.yaml", "- item: !!int many\n  text: Tea.\n", "line 1", "many"),
    items(
        "text tagged as a decimal", "x.yaml", "- item: a\n  gold_score: !!float much\n  text: T.\n", "line 2", "much"
    ),
    items("text tagged as a truth", "x.yaml", "- item: !!bool perhaps\n  text: Tea.\n", "line 1", "perhaps"),
    items("text tagged as a date", "x.yaml", "- item: !!timestamp soon\n  text: Tea.\n", "line 1", "soon"),
    items("list tagged as a number", "x.yaml", "- item: !!int [1]\n  text: Tea.\n", "line 1"),
    items("list tagged as a mapping", "x.yaml", "- !!map [1]\n", "line 1"),
    items("text tagged as binary", "x.yaml", "- item: !!binary '?'\n  text: Tea.\n", "entry 1", "id"),
    items("unknown tag", "x.yaml", "- !thing {item: a}\n", "line 1", "!thing"),
    items("tag that runs code", "x.yaml", "- !!python/object/apply:os.getcwd []\n", "line 1", "python"),
    items("nested YAML", "x.yaml", "[" * DEEP + "]" * DEEP, "nested too deeply"),
    items("nested YAML mappings", "x.yaml", "{a: " * DEEP + "1" + "}" * DEEP, "nested too deeply"),
    items("number of 5,000 digits in YAML", "x.yaml", f"- item: {LONG}\n  text: Tea.\n", "line 1"),
    items("hexadecimal number in YAML", "x.yaml", "- item: 0xff\n  text: Tea.\n", "line 1", "0xff"),
    items("half a character in YAML", "x.yaml", f'- item: a\n  text: "{HALF}"\n', "line 2", "surrogate"),
    items("half a character in the id", "x.yaml", f'- item: "{HALF}"\n  text: Tea.\n', "surrogate"),
    items("NUL in YAML", "x.yaml", '- item: a\n  text: "Tea\\0"\n', "entry 1", "NUL"),
    items("raw NUL in YAML", "x.yaml", b"- item: a\n  text: Tea\0\n"),
    items("two documents", "x.yaml", "- item: a\n---\n- item: b\n", "another document"),
    items("tab in YAML", "x.yaml", "- item: a\n\ttext: b\n", "line 2"),
    items("only a comment", "x.yaml", "# nothing\n"),
    items("mapping in YAML", "x.yaml", "item: a\n", "list of items"),
    items("list of lists", "x.yaml", "- [a, b]\n", "entry 1"),
    items("key that is a number", "x.yaml", "- 1: a\n", "entry 1"),
    items("key that is a list", "x.yaml", "- ? [a]\n  : b\n", "line 1"),
    items("alias without anchor", "x.yaml", "- item: *nobody\n", "line 1"),
    items("Latin-1 text", "x.yaml", b"- item: a\n  text: caf\xe9\n", "line 2", "UTF-8"),
    items("UTF-16 text", "x.yaml", "- item: a\n".encode("utf-16"), "UTF-16"),
    # JSON
    items("nested JSON", "x.json", "[" * DEEP + "]" * DEEP, "nested too deeply"),
    items("nested JSON in a line", "x.jsonl", '{"a":' * DEEP + "1" + "}" * DEEP, "line 1", "nested too deeply"),
    items("number of 5,000 digits in JSON", "x.json", f'[{{"item": {LONG}, "text": "Tea."}}]'),
    items("half a character in JSON", "x.json", one(HALF), "entry 1", "surrogate"),
    items(
        "half a character in a name", "x.json", f'[{{"item": "a", "text": "b", "attributes.{HALF}": "c"}}]', "surrogate"
    ),
    items("half a character in a line", "x.jsonl", f'{{"item": "a", "text": "b"}}\n{{"item": "{HALF}"}}', "line 2"),
    items("half a character in a paraphrase", "x.json", f'[{{"item": 1, "text": "b", "paraphrases": ["{HALF}"]}}]'),
    items("NUL in JSON", "x.json", one(r"Tea\u0000"), "entry 1", "NUL"),
    items("raw NUL in JSON", "x.jsonl", b'{"item": "a", "text": "Tea\0"}', "line 1"),
    items("JSON cut short", "x.json", '[{"item": "a", "te', "malformed JSON"),
    items("JSON line cut short", "x.jsonl", '{"item": "a", "text": "b"}\n{"item"', "line 2", "malformed JSON"),
    items("JSON of a number", "x.json", "7", "line 1"),
    items("JSON of nothing", "x.json", "null", "line 1"),
    items("empty JSON list", "x.json", "[]", "no rows"),
    items(
        "alternative statements as a number",
        "x.json",
        '[{"id": 1, "statement": "a", "alternative_statements": 5}]',
        "entry 1",
        "list of texts",
    ),
    items(
        "alternative statements as a text",
        "x.json",
        '[{"id": 1, "statement": "a", "alternative_statements": "b"}]',
        "entry 1",
        "list of texts",
    ),
    items(
        "alternative statements as a mapping",
        "x.json",
        '[{"id": 1, "statement": "a", "alternative_statements": {"b": 1}}]',
        "entry 1",
        "list of texts",
    ),
    items(
        "alternative statements of numbers",
        "x.json",
        '[{"id": 1, "statement": "a", "alternative_statements": [5]}]',
        "entry 1",
        "must be text",
    ),
    items("statement as a list", "x.json", '[{"id": 1, "statement": ["a"], "alternative_statements": []}]', "entry 1"),
    *(
        items(f"{field} as {kind}", "x.json", json.dumps([{"item": "a", "text": "Tea.", field: value}]), "entry 1")
        for field in ("item", "text", "variant", "pattern", "language", "gold")
        for kind, value in {"a list": ["b"], "a mapping": {"b": 1}, "a truth": True, "a decimal": 1.5}.items()
    ),
    *(
        items(f"{field} as {kind}", "x.json", json.dumps([{"item": "a", "text": "Tea.", field: value}]), "entry 1")
        for field, kind, value in (
            ("gold_score", "a list", [1]),
            ("gold_score", "a mapping", {"a": 1}),
            ("gold_score", "a text", "high"),
            ("gold_score", "a truth", True),
            ("attributes", "a text", "b"),
            ("attributes", "a number", 5),
            ("attributes", "a list", ["b"]),
            ("attributes.x", "a list", ["b"]),
            ("attributes", "nested", {"a": {"b": 1}}),
            ("paraphrases", "a text", "b"),
            ("paraphrases", "a number", 5),
            ("paraphrases", "lists", [["b"]]),
            ("paraphrases", "nothing", [None]),
            ("paraphrases", "a mapping", {"b": "c"}),
        )
    ),
    # CSV and Parquet
    items("NUL in CSV", "x.csv", b"item,text\na,Te\0a\n", "line 2", "NUL"),
    items("CSV that is binary", "x.csv", bytes(range(256)) * 9),
    items("CSV that is Latin-1", "x.csv", b"item,text\na,caf\xe9\n", "line 2", "UTF-8"),
    items("quote without end", "x.csv", 'item,text\na,"Tea\n', "malformed CSV", "every quote needs its end"),
    items("row with too many cells", "x.csv", "item,text\na,b,c\n", "row 2"),
    items("no Parquet", "x.parquet", "PAR1 and more", "Parquet"),
    items("empty Parquet", "x.parquet", b"", "Parquet"),
    parquet("time out of range", _out_of_range, "row 2", "out of range"),
    parquet("text that is not UTF-8", _not_utf8, "row 2", "UTF-8"),
    parquet("NUL", lambda: {"item": ["a"], "text": ["Te\0a"]}, "row 1", "NUL"),
    parquet(
        "text that is a date", lambda: {"item": ["a"], "text": [datetime.date(2020, 1, 1)]}, "row 1", "must be text"
    ),
    parquet("text that is bytes", lambda: {"item": ["a"], "text": [b"Tea."]}, "row 1", "must be text"),
    # names of files
    Case("name longer than a file system takes", f"{AGREEMENT}{'x' * 300}.csv", ("xxx", "long")),
    Case("path longer than a file system takes", f"{AGREEMENT}{'x/' * 3000}.csv", ("x/x",)),
    Case("prompt with a long name", f"{AGREEMENT}demo --prompt {'x' * 300}.yaml", ("xxx", "long")),
    Case("models file with a long name", f"{AGREEMENT}demo --models {'x' * 300}.yaml", ("xxx", "long")),
    Case(
        "model with a long name", f"inference run agreement --items demo --out run --model {'x' * 300}", ("xxx", "long")
    ),
    Case(
        "bank with a long name",
        f"inference run wording --model demo --out run --items demo --templates {'x' * 300}.yaml",
        ("xxx", "long"),
    ),
    Case("items in the home of nobody", f"{AGREEMENT}~nobodyatall/x.csv", ("nobodyatall",)),
    Case("plan with a long name", f"inference run {'x' * 300}.toml", ("xxx", "long")),
    Case("long study name", f"{AGREEMENT}demo --name {'x' * 300}", ("name", "too long")),
    Case("study name with half a character", f"{AGREEMENT}demo --name \udcff", ("name", "surrogate")),
    Case(
        "model name with half a character",
        "inference run agreement --items demo --out run --model \udcff=demo",
        ("--model", "not a name"),
    ),
    # prompts
    prompt("half a character", PROMPT.replace("'yes'", f'"{HALF}"'), "surrogate"),
    prompt("NUL", PROMPT.replace("'yes'", '"y\\0"'), "NUL"),
    prompt("nested", "plain: " + "[" * DEEP, "nested too deeply"),
    prompt("tagged number", PROMPT.replace("['no']", "!!int no"), "line 5"),
    prompt("list", "- plain\n", "forms"),
    prompt("text", "plain\n", "forms"),
    prompt("form as a list", "plain: [a]\n", "template", "answers"),
    prompt("form that is a list", "? [plain]\n: b\n"),
    prompt("template as a number", PROMPT.replace("'Is it so? {{ text }}'", "5"), "template must be text"),
    prompt("template as a list", PROMPT.replace("'Is it so? {{ text }}'", "[a]"), "template must be text"),
    prompt("answers as a list", "plain:\n  template: '{{ text }}'\n  answers: [yes, no]\n", "answers"),
    prompt("answers as a number", "plain:\n  template: '{{ text }}'\n  answers: 5\n", "answers"),
    prompt("answer as a text", PROMPT.replace("['yes']", "'yes'"), "answers.agree"),
    prompt("answer as a mapping", PROMPT.replace("['yes']", "[{a: b}]"), "answers.agree"),
    prompt(
        "messages as a text", "chat:\n  messages: '{{ text }}'\n  answers: {agree: [a], disagree: [b]}\n", "messages"
    ),
    prompt(
        "role as a list",
        "chat:\n  messages: [{role: [user], content: a}]\n  answers: {agree: [a], disagree: [b]}\n",
        "message 1",
        "role",
    ),
    prompt(
        "content as a number",
        "chat:\n  messages: [{role: user, content: 5}]\n  answers: {agree: [a], disagree: [b]}\n",
        "message 1",
        "content",
    ),
    # banks
    bank("half a character", BANK.replace("mood", f'"{HALF}"'), "surrogate"),
    bank("mapping", "task: a\n", "list of entries"),
    bank("entry as a text", "- mood\n", "entry 1"),
    bank("task as a list", BANK.replace("mood", "[a]"), "entry 1", "task"),
    bank("language as a list", BANK.replace("language: en", "language: [en]"), "language"),
    bank("patterns as a list", "- {task: a, language: en, patterns: [b]}\n", "patterns"),
    bank("pattern as a text", BANK.replace("['Is it bad? {{ text }}']", "'bad {{ text }}'"), "antonym", "list"),
    bank("template as a number", BANK.replace("'Is it bad? {{ text }}'", "5"), "antonym", "must be text"),
    bank("nested", "[" * DEEP, "nested too deeply"),
    # exemplars
    exemplars(
        "half a character", "e.json", f'[{{"pattern": "synonym", "text": "{HALF}", "gold": "yes"}}]', "surrogate"
    ),
    exemplars("text as a number", "e.json", '[{"pattern": "synonym", "text": 5, "gold": "yes"}]', "entry 1", "text"),
    exemplars("text as a list", "e.json", '[{"pattern": "synonym", "text": ["a"], "gold": "yes"}]', "entry 1", "text"),
    exemplars("pattern as a list", "e.json", '[{"pattern": ["synonym"], "text": "a", "gold": "yes"}]', "entry 1"),
    exemplars("gold as a mapping", "e.json", '[{"pattern": "synonym", "text": "a", "gold": {}}]', "entry 1", "gold"),
    exemplars("nested", "e.yaml", "[" * DEEP, "nested too deeply"),
    # models
    models("list", "- demo\n", "model ids"),
    models("model as a number", "5: {series: a}\n", "model id"),
    models("model as a date", "2020-01-01: {series: a}\n", "model id"),
    models("fields as a text", "demo: tiny\n", "fields"),
    models("field as a list", MODELS.replace("tiny", "[a]"), "series"),
    models("stage as a list", "demo: {stage: [base]}\n", "stage"),
    models("family as a mapping", "demo: {family: {a: b}}\n", "family"),
    models("parameters as a text", "demo: {parameters: many}\n", "parameters"),
    models("unknown field that is a date", "demo: {2020-01-01: a}\n", "unknown field"),
    models("half a character", f'demo: {{series: "{HALF}"}}\n', "surrogate"),
    models("nested", "{a: " * DEEP, "nested too deeply"),
    # plans
    plan("nested", "a = " + "[" * DEEP + "]" * DEEP, "nested too deeply"),
    plan("number of 5,000 digits", f"ray-workers = {LONG}\n"),
    plan("hexadecimal number of 5,000 digits", f"ray-workers = 0x{LONG}\n", "digits"),
    plan("NUL", PLAN.replace("opinions", r"opin\u0000ions"), "NUL"),
    plan("date", PLAN.replace('"opinions"', "2020-12-24"), "study", "name"),
    plan("date that does not exist", PLAN.replace('"opinions"', "2020-13-45"), "TOML"),
    plan("raw NUL", PLAN.encode().replace(b"opinions", b"opin\0ions"), "TOML"),
    plan("protocol as a list", PLAN.replace('"agreement"', '["agreement"]'), "protocol"),
    plan("name as a table", PLAN.replace('"opinions"', "{a = 1}"), "name"),
    plan("items as a truth", PLAN.replace('"items.csv"', "true"), "items"),
    plan("out as a number", PLAN.replace('"results"', "5"), "out"),
    plan("study as a table", 'out = "results"\n[study]\nprotocol = "agreement"\n', "study"),
    plan("folder longer than a file system takes", PLAN + f'folder = "{"x" * 300}"\n', "folder", "too long"),
    plan("name longer than a file system takes", PLAN.replace("opinions", "x" * 300), "name", "too long"),
    plan("Latin-1", PLAN.encode().replace(b"opinions", b"caf\xe9"), "UTF-8"),
]
