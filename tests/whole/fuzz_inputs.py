"""Change valid inputs at random, and see that every command ends in time, in one line, and leaves nothing behind.

    PYTHONPATH=.:tests .venv/bin/python tests/whole/fuzz_inputs.py --count 2000 --seed 1

Each input is a valid file of one kind that is changed one to three times: bytes, types, places, sizes. What breaks a
rule is listed, with the seed that makes it again (`--count 1 --seed N`). `test_fuzz_inputs.py` runs some in every test.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from helpers import apart
from helpers.eval_logs import (
    as_eval,
    as_json,
    eee_record,
    eee_result,
    eee_row,
    helm,
    perturbed,
    request,
    sample,
)
from helpers.lm_eval_logs import SNOW, TEA, TEXT, written
from helpers.lm_eval_logs import write as write_lm_eval
from helpers.refusals.reading import BANK, EXEMPLARS, ITEMS, MODELS, PLAN, PROMPT
from helpers.synthetic import random_frame, write_run
from helpers.wording_runs import random_rows, write_wording

SECONDS, MEGABYTES = 10, 1000
EMPTY = "nobody"  # a folder without a model in it
ONE = {"item": "a", "text": "Tea is good.", "paraphrases": ["Tea is fine.", "Tea is nice."], "gold_score": 1.5}
TEXTS = "text,gold\nA fine film.,yes\nA bad film.,no\nA dull film.,no\nA great film.,yes\nA film.,yes\n"
ANSWERS = "model,item,variant,text,yes,no\nm,a,original,Tea.,3,1\nm,a,p1,Tea!,2,2\nm,b,original,Milk.,0,4\n"
ORIGINALS = "item,pattern,premise,hypothesis,label\na,original,A dog runs.,It is wet.,entailment\n"
NEGATED_PAIRS = (
    ORIGINALS + "a,p_neg,A dog does not run.,It is wet.,neutral\na,h_neg,A dog runs.,It is not wet.,neutral\n"
)
NEGATIONS = "".join(
    json.dumps({"source": source, "text": text, "position": "mid", "target_pos": "verb"}) + "\n"
    for source, text in (("A dog runs.", "A dog does not run."), ("It is wet.", "It is not wet."))
)
SHEET = (
    "item,pattern,premise,hypothesis,premise_position,annotator_1,annotator_2\n"
    "a,p_neg,A dog does not run.,It is wet.,mid,neutral,neutral\na,h_neg,A dog runs.,It is not wet.,,neutral,\n"
)
SENTENCES = "犬が走る。\n静かな町に住む。\n彼は「行きます」と言った。\n"
CHOICES = [{"label": "A", "text": "hot"}, {"label": "B", "text": "cold"}]
LAYOUTS = {
    "own.jsonl": [
        {"item": "a", "question": "Why?", "choices": ["a", "b", "c", "d"], "answer": "B", "split": "test",
         "paraphrases": ["How so?", "For what?"], "orders": [[3, 1, 0, 2]], "subset": "general knowledge"},
    ],
    "arc.jsonl": [{"id": "a", "question": {"stem": "Is tea hot?", "choices": CHOICES}, "answerKey": "A"}],
    "math.jsonl": [{"Problem": "How much?", "options": "a ) 38 , b ) 27.675", "correct": "a"}],
    "unified.jsonl": [{"question": "Why?", "choices": ["a", "b"], "label": 1, "context": "", "source_dataset": "mmlu"}],
}  # fmt: skip
TABLE = (
    "inference import table {} --out run --model-column model --item-column item --variant-column variant "
    "--text-column text --count-columns agree=yes,disagree=no"
)
# What takes the place of a value or is put beside it.
VALUES = [
    "", " ", "0", "-1", "1e999", "inf", "nan", "NaN", "null", "true", "[]", "{}", "[1]", '{"a": 1}', "1_000",
    "9" * 400, "9" * 5000, "2020-13-45", "!!int x", "*a", "&a [*a]", "'", '"', "\\ud83d", '"\\ud83d"', "\\u0000",
    "\0", "\ufeff", "\u2028", "\u202e", "\uff15", "\u0665", "x" * 5000, "../../x", "/dev/zero", "{{ 'x' * 10**9 }}",
    "{{ text }}", "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}", "<<", "? [a]",
    "\t", "\r", "\n\n", ",", ";", ":", "- ", "#", "|", "%", "\\", "0x1F", ".inf", "1:30", "010", "yes", "~",
    "\u00e9\u0301", "\U0001f600",
]  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of input: the file that is changed, the call that reads it, and the other files of the call."""

    file: str
    content: bytes
    call: str
    others: tuple[tuple[str, bytes], ...] = ()


def kinds() -> Iterator[Kind]:
    """Make a valid input of every kind. The model is an empty folder, so no call asks anything in the end."""
    lines = "".join(json.dumps({"item": "a", "text": text}) + "\n" for text in ("Tea.", "Tea!", "Tea?"))
    items = {
        "items.csv": ITEMS,
        "items.tsv": ITEMS.replace(",", "\t"),
        "items.json": json.dumps([ONE, {**ONE, "item": 2, "attributes": {"x": 1}}]),
        "items.jsonl": lines,
        "items.yaml": "- item: a\n  text: Tea.\n  paraphrases: [Tea!, 'Tea?']\n  gold_score: 1.5\n"
        "- item: 2\n  text: B.\n",
        "published.json": '[{"id": 1, "original_statement": "Tea.", "alternative_statements": ["Tea!", "Tea?"]}]',
    }
    preview = f"inference preview agreement --model {EMPTY} --items "
    for file, content in items.items():
        yield Kind(file, content.encode(), preview + file)
    yield Kind("items.parquet", parquet(), f"{preview}items.parquet")
    beside = (("items.csv", ITEMS.encode()), ("texts.csv", TEXTS.encode()))
    yield Kind("prompt.yaml", PROMPT.encode(), f"{preview}items.csv --prompt prompt.yaml", beside)
    run = f"inference run agreement --model {EMPTY} --out run --items items.csv --models models.yaml"
    yield Kind("models.yaml", MODELS.encode(), run, beside)
    wording = f"inference preview wording --model {EMPTY} --items texts.csv --language en "
    wording += "--text-column text --gold-column gold --templates "
    yield Kind("bank.yaml", BANK.encode(), f"{wording}bank.yaml", beside)
    yield Kind("ex.csv", EXEMPLARS.encode(), f"{wording}sentiment --shots 4 --exemplars ex.csv", beside)
    yield Kind("plan.toml", PLAN.replace('"demo"', f'"{EMPTY}"').encode(), "inference run plan.toml", beside)
    yield Kind("texts.csv", TEXTS.encode(), f"{wording}sentiment")
    yield Kind("answers.csv", ANSWERS.encode(), TABLE.format("answers.csv"))
    rows = [dict(zip(ANSWERS.split("\n")[0].split(","), row.split(","), strict=True)) for row in ANSWERS.split()[1:]]
    yield Kind("answers.json", json.dumps(rows).encode(), TABLE.format("answers.json"))
    yield from of_negation()
    yield from of_choice()
    yield from of_logs()
    yield from of_analysis()


def of_logs() -> Iterator[Kind]:
    """Make the files of other tools: logs of Inspect and lm-eval, the folder of a HELM run, records of scores."""
    samples = [sample(1), sample(1, "I", "B", epoch=2), sample(2, metadata={"style": "plain"})]
    for file, content in (("log.json", as_json(samples)), ("log.eval", as_eval(samples))):
        yield Kind(file, content, f"inference import inspect {file} --out run")
    with tempfile.TemporaryDirectory() as folder:
        requests = [request("id1", "B"), request("id1", "A", perturbed("typos"))]
        files = {f"helm/{path.name}": path.read_bytes() for path in sorted(helm(Path(folder), requests).iterdir())}
    for file, content in files.items():
        yield Kind(file, content, "inference import helm helm --out run", tuple(files.items()))
        yield Kind(file, content, "inference import helm helm --scores --out run", tuple(files.items()))
    graded = [{**sample(number), "scores": {"a": {"value": 0.5}, "b": {"value": {"c": "P"}}}} for number in (1, 2)]
    yield Kind("log.json", as_json(graded), "inference import inspect log.json --scores --score-range 0-1 --out run")
    with tempfile.TemporaryDirectory() as folder:
        eee_record(Path(folder), [eee_result("F1", 0.5)], [eee_row("1", "F1", 0.25), eee_row("2", "F1", 0.75)])
        files = {f"records/{path.name}": path.read_bytes() for path in sorted(Path(folder).iterdir())}
    for file, content in files.items():
        yield Kind(file, content, "inference import eee records --scores --out run", tuple(files.items()))
    with tempfile.TemporaryDirectory() as folder:
        write_lm_eval(Path(folder), {"t": [written(0, TEA, 0.5), written(1, SNOW, 1.0)]}, TEXT)
        files = {f"logs/{path.name}": path.read_bytes() for path in sorted(Path(folder).iterdir())}
    for file, content in files.items():
        yield Kind(file, content, "inference import lm-eval logs --scores --out run", tuple(files.items()))


def of_negation() -> Iterator[Kind]:
    """Make a valid input of every kind that the commands about negation read."""
    pairs, negations, sheet = NEGATED_PAIRS.encode(), NEGATIONS.encode(), SHEET.encode()
    judged = b"source,text,acceptable\nA dog runs.,A dog does not run.,yes\n"
    yield Kind("sentences.txt", SENTENCES.encode(), "inference negate sentences.txt --language ja --out n.jsonl")
    given = (("sentences.txt", SENTENCES.encode()),)
    call = f"inference negate sentences.txt --language ja --filter-model {EMPTY} --judgements judged.csv --out n.jsonl"
    yield Kind("judged.csv", judged, call, given)
    yield Kind("pairs.csv", pairs, f"inference preview negation --model {EMPTY} --items pairs.csv")
    yield Kind("pairs.csv", pairs, "analysis negation pairs.csv")
    beside = (("pairs.csv", ORIGINALS.encode()),)
    call = "inference pairs sheet pairs.csv --negations n.jsonl --out sheet.csv"
    yield Kind("n.jsonl", negations, call, beside)
    yield Kind("sheet.csv", sheet, "inference pairs label sheet.csv --originals pairs.csv --out items.jsonl", beside)
    yield Kind("sheets/sheet.csv", sheet, "analysis negation pairs.csv --annotations sheets", beside)
    labels = b'{"labels": {"one": "neutral", "two": "neutral"}}\n{"labels": {"one": "neutral", "two": "entailment"}}\n'
    yield Kind("sheets/labels.jsonl", labels, "analysis negation pairs.csv --annotations sheets", beside)


def of_choice() -> Iterator[Kind]:
    """Make questions of every layout, a list of selected ones, and what stands beside them where they are asked."""
    call = "inference choice build {} --out s.jsonl --min-words 1"
    given = {name: "".join(json.dumps(row) + "\n" for row in layout) for name, layout in LAYOUTS.items()}
    given["mmlu.csv"] = "Why is tea hot?,a,b,c,d,B\nIs it?,no,yes,so,or,A\n"
    given["own.csv"] = "item,question,A,B,C,D,answer,paraphrase_1,paraphrase_2\na,Why?,a,b,c,d,b,How so?,For what?\n"
    for file, content in given.items():
        yield Kind(file, content.encode(), call.format(file))
    chosen = b'{"item": "a", "class": "inconsistent confidence"}\n'
    beside = (("own.csv", given["own.csv"].encode()),)
    yield Kind("list.jsonl", chosen, f"{call.format('own.csv')} --selected list.jsonl", beside)
    asked = f"inference preview choice --model {EMPTY} --items own.csv"
    for file in ("own.csv", "own.jsonl"):
        yield Kind(file, given[file].encode(), asked.replace("own.csv", file))
    numbers = b"step,source,count,reason\nsourced,ARC,2,\nfilters,ARC,1,no question mark\n"
    yield Kind("own.building.csv", numbers, asked, beside)
    prompts = b"plain:\n  template: |-\n    {{ question }}\n    {{ choices }}\n    {% if aware %}Again{% endif %}:\n"
    aware = f"{asked} --prompt prompts.yaml --answer text --prompt-kind base aware"
    yield Kind("prompts.yaml", prompts, aware, beside)


def of_analysis() -> Iterator[Kind]:
    """Make a valid input of every kind that `analysis` reads: the files of a run, scores of models, their names."""
    opinions, questions = run_folders()
    for call in ("analysis table run stability -p resamples=20", "inference status run"):
        for file, content in opinions:
            yield Kind(file, content, call, tuple(other for other in opinions if other[0] != file))
    table = "analysis table run benchmarks -p score_columns=all -p scores="
    names = ("aliases.yaml", b"m0: [big, huge]\nm1: small\n")
    for file, content in (("scores.csv", b"model,MT,GPQA\nbig,1.5,3\nsmall,2,\n"),
                          ("scores.yaml", b"- model: big\n  MT: 1.5\n- model: small\n  MT: 2\n")):  # fmt: skip
        yield Kind(file, content, f"{table}{file} -p aliases=aliases.yaml", (*questions, names))
        yield Kind(*names, f"{table}{file} -p aliases=aliases.yaml", (*questions, (file, content)))
    rules = 'wordings = "like these"\nlooks = 50\n[[rule]]\nrequire = "stability.flip_10 <= 0.20"\n'
    rules += 'models = ["m0"]\nparameters = { resamples = 500 }\n[[rule]]\nrequire = "not worse by 0.02 in accuracy"\n'
    yield Kind("rules.toml", rules.encode(), "analysis check --rules rules.toml --explain")


@cache
def run_folders() -> tuple[tuple[tuple[str, bytes], ...], ...]:
    """Make a run of `agreement` and one of `wording`: names of their files, below `run/`, and what they hold."""
    with tempfile.TemporaryDirectory(prefix="waver-fuzz-") as folder:
        made = (
            write_run(Path(folder, "opinions"), random_frame(["m0", "m1"], items=3, paraphrases=3)),
            write_wording(Path(folder, "questions"), random_rows(["m0", "m1"], items=4, seed=1)),
        )
        return tuple(
            tuple(
                (f"run/{path.relative_to(run)}", path.read_bytes()) for path in sorted(run.rglob("*")) if path.is_file()
            )
            for run in made
        )


def parquet() -> bytes:
    """Write items as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(pa.table({"item": ["a", "a"], "text": ["Tea.", "Tea!"], "gold_score": [1.5, None]}), out)
    return bytes(out.getvalue())


def _place(draw: random.Random, content: bytes) -> tuple[int, int]:
    """Choose a stretch: a word, or a few bytes."""
    begin = draw.randrange(len(content) + 1)
    return begin, min(len(content), begin + draw.choice([0, 1, 3, 8, 20]))


def _flip(draw: random.Random, content: bytes) -> bytes:
    at = draw.randrange(len(content) or 1)
    return content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]


def _cut(draw: random.Random, content: bytes) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def _drop(draw: random.Random, content: bytes) -> bytes:
    begin, end = _place(draw, content)
    return content[:begin] + content[end:]


def _double(draw: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    at = draw.randrange(len(lines))
    return b"".join([*lines[: at + 1], *lines[at:]])


def _put(draw: random.Random, content: bytes) -> bytes:
    begin, end = _place(draw, content)
    return content[:begin] + draw.choice(VALUES).encode() + content[end:]


def _replace_word(draw: random.Random, content: bytes) -> bytes:
    words = [word for word in content.replace(b",", b" ").replace(b":", b" ").split() if len(word) > 1] or [b" "]
    return content.replace(draw.choice(words).strip(b"'\"[]{}"), draw.choice(VALUES).encode(), draw.choice([1, -1]))


def _nest(draw: random.Random, content: bytes) -> bytes:
    deep = draw.choice([3, 90, 400, 30_000])
    begin, end = _place(draw, content)
    opened, closed = draw.choice([(b"[", b"]"), (b'{"a":', b"}"), (b"{a: ", b"}"), (b"(", b")")])
    return content[:begin] + opened * deep + content[begin:end] + closed * deep + content[end:]


def _repeat(draw: random.Random, content: bytes) -> bytes:
    begin, end = _place(draw, content)
    return content[:begin] + content[begin:end] * draw.choice([2, 50, 5000]) + content[end:]


def _recode(draw: random.Random, content: bytes) -> bytes:
    try:
        return content.decode().encode(draw.choice(["utf-16", "utf-8-sig", "utf-32", "utf-7"]))
    except UnicodeDecodeError:
        return content


def _swap(draw: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    draw.shuffle(lines)
    return b"".join(lines)


CHANGES: list[Callable[[random.Random, bytes], bytes]] = [
    _flip, _cut, _drop, _double, _put, _put, _replace_word, _replace_word, _replace_word, _nest, _repeat, _recode,
    _swap,
]  # fmt: skip


def try_one(seed: int, folder: Path, turns: apart.Turns) -> tuple[str, int, str]:
    """Make the input of a seed in a folder and call its command.

    Returns
    -------
    The kind, the exit status, and what broke a rule ("" if nothing did).
    """
    draw = random.Random(f"fuzz {seed}")
    kind = draw.choice(list(kinds()))
    content = kind.content
    for _ in range(draw.randint(1, 3)):
        content = draw.choice(CHANGES)(draw, content)
    here = folder / "here"
    (here / EMPTY).mkdir(parents=True)
    for name, given in (*kind.others, (kind.file, content)):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_bytes(given)
    before = set(here.rglob("*"))
    ended = turns.call(kind.call.split(), here, folder / "notes", SECONDS)
    lines = [line for line in ended.err.splitlines() if line.startswith("python -m")]
    faults = {
        f"status {ended.status}": ended.status not in (0, 1, 2),
        "traceback": "Traceback" in ended.err,
        f"{len(lines)} lines": ended.status in (1, 2) and len(lines) != 1,
        f"line of {len(lines[-1]) if lines else 0} characters": any(len(line) > 1000 for line in lines),
        f"{ended.seconds:.0f} s": ended.seconds >= SECONDS,
        f"{ended.megabytes:.0f} MB": ended.megabytes > MEGABYTES,
        "left behind": ended.status == 2 and set(here.rglob("*")) != before,
    }
    broken = ", ".join(fault for fault, there in faults.items() if there)
    return kind.file, ended.status, f"{broken}: {ended.err[-600:]}" if broken else ""


def fuzz(seeds: range) -> tuple[Counter[int], dict[int, str]]:
    """Try the inputs of several seeds; return how often each status came, and what broke a rule, by seed."""
    statuses: Counter[int] = Counter()
    faults: dict[int, str] = {}
    turns = apart.Turns()
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix="waver-fuzz-") as folder:
            kind, status, fault = try_one(seed, Path(folder), turns)
        statuses[status] += 1
        if fault:
            faults[seed] = f"{kind}: {fault}"
    turns.close()
    return statuses, faults


def main() -> int:
    """Try as many inputs as asked for, from a seed on, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    statuses, faults = fuzz(range(options.seed, options.seed + options.count))
    for seed, fault in faults.items():
        print(f"seed {seed}, {fault}\n")
    print(f"{options.count} inputs from seed {options.seed}: exit status {dict(statuses)}; {len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
