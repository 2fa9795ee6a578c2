"""Wrong tables, wrong names of models and repeated rows for `waver import`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from helpers.answer_tables import ANSWERS, COUNTS, IDS, NUMBERS, OPTIONS, PROBABILITIES, TEXTS, write
from helpers.refusals import Case

Rows = list[dict[str, str]]
NO_MODEL = ("--item-column", "item", "--variant-column", "variant", "--text-column", "text")
SHARES = (*NO_MODEL, "--probability-columns", "agree=yes,disagree=no")
STATEMENT = {"statement": "Tea is hot.", "response": {"agree": 0.5, "disagree": 0.25}}
ENTRY = {"id": 1, "original_statement": STATEMENT, "alternative_statements": [STATEMENT]}
PUBLISHED = "responses_m_paraphrases_made-up.jsonl"


def table(*words: str) -> tuple[str, ...]:
    """The call that imports a table into the folder `run`."""
    return ("inference", "import", "table", *words, "--out", "run")


def haller(*words: str) -> tuple[str, ...]:
    """The call that imports published responses into the folder `run`."""
    return ("inference", "import", "haller", *words, "--out", "run")


def tables(**files: Rows) -> Callable[[Path], None]:
    """Write tables: a double underscore stands for a slash, and `_csv` for `.csv`."""

    def into(folder: Path) -> None:
        for name, rows in files.items():
            path = folder / ".".join(name.replace("__", "/").rsplit("_", 1))
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, rows)

    return into


def twice_in_parquet(folder: Path) -> None:
    """Write a Parquet file with two columns `yes`."""
    names = [*NUMBERS[0], "yes"]
    columns = [pa.array([row[name] for row in NUMBERS]) for name in NUMBERS[0]] + [pa.array(["1", "0"])]
    pq.write_table(pa.table(columns, names), folder / "t.parquet")


def published(*paths: str, entries: object = (ENTRY,)) -> dict[str, str]:
    """The same published responses under several paths."""
    return {path: json.dumps(entries) for path in paths}


def changed(**change: object) -> dict[str, str]:
    """One file of published responses with a field changed."""
    return published(PUBLISHED, entries=[{**ENTRY, **change}])


BARE = [{name: cell for name, cell in row.items() if name != "model"} for row in NUMBERS]
SAME = "the same model, condition, item and variant as in"
COUNTED = [{**NUMBERS[0], "yes": "3", "no": "4"}]
CASES = [
    # one model from several files
    Case(
        "nine folders with one file name each are nine models",
        table(*(f"m{n}/responses.csv" for n in range(1, 10)), *SHARES),
        ("their folders name the models", "m1 (m1/responses.csv)", "m9 (m9/responses.csv)"),
        tables(**{f"m{n}__responses_csv": BARE for n in range(1, 10)}),
        status=0,
    ),
    Case(
        "folders of one name, too",
        table("a/run/r.csv", "b/run/r.csv", *SHARES),
        ("their folders name the models", "a/run (a/run/r.csv)"),
        tables(a__run__r_csv=BARE, b__run__r_csv=BARE),
        status=0,
    ),
    Case(
        "a folder is called like another file",
        table("a/r.csv", "b/r.csv", "a.csv", *SHARES),
        ("a.csv", "model 'a' is already a/r.csv", "NAME=FILE"),
        tables(a__r_csv=BARE, b__r_csv=BARE, a_csv=BARE),
    ),
    Case(
        "two formats of one name in one folder",
        table("r.csv", "r.jsonl", *SHARES),
        ("r.jsonl", "r.csv", "NAME=FILE"),
        tables(r_csv=BARE, r_jsonl=BARE),
    ),
    Case(
        "a file twice", table("r.csv", "r.csv", *SHARES), ("r.csv", "given twice"), tables(r_csv=BARE)
    ),
    Case(
        "a file twice by two paths",
        table("a/r.csv", "a/../a/r.csv", *SHARES),
        ("r.csv", "given twice"),
        tables(a__r_csv=BARE),
    ),
    Case(
        "a file twice under two names",
        table("m=r.csv", "n=r.csv", *SHARES),
        ("r.csv", "given twice"),
        tables(r_csv=BARE),
    ),
    Case(
        "one name for two files with the same rows",
        table("m=1.csv", "m=2.csv", *SHARES),
        ("2.csv, row 2", SAME, "1.csv, row 2", "NAME=FILE"),
        tables(**{"1_csv": BARE, "2_csv": BARE}),
    ),
    Case(
        "a name that another file has",
        table("r=1.csv", "r.csv", *SHARES),
        ("r.csv", "model 'r' is already 1.csv"),
        tables(**{"1_csv": BARE, "r_csv": BARE}),
    ),
    Case(
        "the same rows in two files, by a column",
        table("1.csv", "2.csv", *TEXTS),
        ("2.csv, row 2", SAME, "1.csv, row 4", "'m1', 'import', '1', 'b'", "leave one file out"),
        tables(**{"1_csv": ANSWERS, "2_csv": ANSWERS[2:]}),
    ),
    Case(
        "samples of one response in two files",
        table("1.csv", "2.csv", *TEXTS, "--repeated", "samples"),
        ("2.csv, row 2", SAME, "into one file"),
        tables(**{"1_csv": ANSWERS, "2_csv": ANSWERS[:1]}),
    ),
    Case(
        "a name and a column for the model",
        table("m=r.csv", *PROBABILITIES),
        ("--model-column", "one of them"),
        tables(r_csv=NUMBERS),
    ),
    # repeated rows
    Case(
        "repeated texts",
        table("r.csv", *TEXTS),
        ("r.csv, row 6", SAME, "row 2", "--repeated samples"),
        tables(r_csv=[*ANSWERS, ANSWERS[0]]),
    ),
    Case(
        "repeated answers",
        table("r.csv", *IDS, *OPTIONS, "--answer-column", "reply"),
        ("r.csv, row 6", SAME, "row 3", "--repeated samples"),
        tables(r_csv=[*ANSWERS, ANSWERS[1]]),
    ),
    Case(
        "repeated texts without ids of wordings",
        table("r.csv", *IDS[:4], *IDS[6:], *OPTIONS, "--completion-column", "reply"),
        ("r.csv, row 6", SAME, "row 2"),
        tables(r_csv=[*ANSWERS, ANSWERS[0]]),
    ),
    Case(
        "repeated probabilities",
        table("r.csv", *PROBABILITIES),
        ("r.csv, row 4", SAME, "row 2"),
        tables(r_csv=[*NUMBERS, NUMBERS[0]]),
    ),
    Case(
        "repeated counts", table("r.csv", *COUNTS), ("r.csv, row 3", SAME, "row 2"), tables(r_csv=COUNTED * 2)
    ),
    Case(
        "probabilities as samples",
        table("r.csv", *PROBABILITIES, "--repeated", "samples"),
        ("--repeated samples goes with", "--completion-column"),
        tables(r_csv=NUMBERS),
    ),
    Case(
        "an unknown way to repeat",
        table("r.csv", *TEXTS, "--repeated", "mean"),
        ("--repeated", "mean", "samples"),
        tables(r_csv=ANSWERS),
    ),
    # columns
    Case(
        "a Parquet column that is asked for is there twice",
        table("t.parquet", *PROBABILITIES),
        ("t.parquet", "column 'yes' is there twice"),
        twice_in_parquet,
    ),
    Case(
        "one column for both options",
        table("r.csv", *IDS, "--probability-columns", "agree=yes,disagree=yes"),
        ("column 'yes'", "twice"),
        tables(r_csv=NUMBERS),
    ),
    Case(
        "one column for two roles",
        table("r.csv", "--item-column", "item", "--variant-column", "item", *PROBABILITIES[-2:]),
        ("--variant-column", "--item-column"),
        tables(r_csv=BARE),
    ),
    Case(
        "an empty name of an option",
        table("r.csv", *IDS, "--probability-columns", "=yes,disagree=no"),
        ("--probability-columns", "LABEL="),
        tables(r_csv=NUMBERS),
    ),
    Case(
        "a wording of both options",
        table("r.csv", *IDS, "--completion-column", "reply", "--options", "agree=yes;disagree=Yes"),
        ("--options", "two labels"),
        tables(r_csv=ANSWERS),
    ),
    Case(
        "nothing that tells wordings apart",
        table("r.csv", "--item-column", "item", *PROBABILITIES[-2:]),
        ("--variant-column", "--text-column"),
        tables(r_csv=BARE),
    ),
    Case(
        "texts, and the word of the user",
        table("r.csv", *PROBABILITIES, "--wordings", "own"),
        ("--wordings", "without --text-column"),
        tables(r_csv=NUMBERS),
    ),
    Case(
        "two texts of one wording",
        table("r.csv", *PROBABILITIES),
        ("r.csv, row 3", "the text of item '1', variant 'a'", "row 2"),
        tables(r_csv=[NUMBERS[0], {**NUMBERS[1], "variant": "a"}]),
    ),
    Case(
        "a description of a model that is not there",
        table("r.csv", *PROBABILITIES, "--models", "models.yaml"),
        ("models.yaml", "'other'"),
        lambda folder: (write(folder / "r.csv", NUMBERS), (folder / "models.yaml").write_text("other: {series: x}\n")),
    ),
    # published responses
    Case(
        "published responses of one model in two folders",
        haller(f"a/{PUBLISHED}", f"b/{PUBLISHED}"),
        (f"b/{PUBLISHED}", "model 'm' is already in", f"a/{PUBLISHED}", "NAME=FILE"),
        published(f"a/{PUBLISHED}", f"b/{PUBLISHED}"),
    ),
    Case(
        "published responses twice",
        haller(PUBLISHED, PUBLISHED),
        (PUBLISHED, "model 'm' is already in"),
        published(PUBLISHED),
    ),
    Case(
        "a published item twice",
        haller(PUBLISHED),
        (PUBLISHED, "entry 2", "item '1' is already in entry 1"),
        published(PUBLISHED, entries=[ENTRY, ENTRY]),
    ),
    Case(
        "published alternatives that are no list",
        haller(PUBLISHED),
        (PUBLISHED, "entry 1", "alternative_statements"),
        changed(alternative_statements=5),
    ),
    Case(
        "published probabilities above 1",
        haller(PUBLISHED),
        (PUBLISHED, "entry 1", "original_statement", "not two probabilities"),
        changed(original_statement={**STATEMENT, "response": {"agree": 0.9, "disagree": 0.9}}),
    ),
    Case(
        "published ids that are true",
        haller(PUBLISHED),
        (PUBLISHED, "entry 1", "id"),
        changed(id=True),
    ),
    Case(
        "published files without a name for the model",
        haller("answers.jsonl"),
        ("answers.jsonl", "NAME="),
        published("answers.jsonl"),
    ),
]  # fmt: skip
CASES += [
    Case(
        f"a count of {count}",
        "inference import table t.csv --item-column item --variant-column variant --text-column text "
        "--count-columns yes=p,no=q --out run",
        ("t.csv", "row 2", "p, q", "exactly"),
        {"t.csv": f"item,variant,text,p,q\na,original,One.,{count},1\n"},
    )
    for count in (2**53, 2**63, 10**30)
]
CASES += [
    Case(
        "a published log-probability above 0",
        haller(PUBLISHED),
        (PUBLISHED, "entry 1", "statement_log_prob", "above 0"),
        changed(original_statement={**STATEMENT, "statement_log_prob": 5}),
    )
]
