"""`waver import table`: what comes out of every kind of table, and what is refused."""

from __future__ import annotations

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.answer_tables import ANSWERS, COUNTS, IDS, NUMBERS, OPTIONS, PROBABILITIES, TEXTS, write
from inference.__main__ import main
from inference.asking import text_answers
from inference.importers.tables import long
from inference.stimuli.reading import records

pytestmark = pytest.mark.slow


def run(out, *arguments):
    """Import, expecting success, and return (run.json, stimuli, responses)."""
    assert main(["import", "table", *map(str, arguments), "--out", str(out)]) == 0
    return read(out)


def read(out):
    parts = sorted((out / "responses").glob("*.parquet"))
    responses = [row for part in parts for row in pq.read_table(part).to_pylist()]
    info = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return info, pq.read_table(out / "stimuli.parquet").to_pylist(), responses


def test_completions_are_parsed(tmp_path, capsys):
    info, stimuli, responses = run(tmp_path / "run", write(tmp_path / "answers.csv", ANSWERS), *TEXTS)
    assert info["study"]["canonical"] == ["agree", "disagree"]
    assert info["study"]["name"] == "run"
    assert {name: about["engine"] for name, about in info["models"].items()} == {"m1": "import", "m2": "import"}
    assert info["conditions"] == {"import": {"form": "import", "text_rule": text_answers.VERSION}}
    assert [(s["item"], s["variant"], s["pattern"], s["text"]) for s in stimuli] == [
        ("1", "original", "original", "Tea is hot."),
        ("1", "a", "paraphrase", "Hot is what tea is."),
        ("1", "b", "paraphrase", "Tea: hot!"),
    ]
    assert stimuli[0]["options"] == stimuli[0]["canonical"] == ["agree", "disagree"]
    assert [(r["model"], r["variant"], r["answer"], r["output"]) for r in responses] == [
        ("m1", "original", "agree", ["Agree."]),
        ("m1", "a", "disagree", ["I strongly disagree, sorry."]),
        ("m1", "b", None, ["I would rather not say."]),
        ("m2", "a", "agree", ["agree"]),
    ]
    assert all(r["count"] is r["invalid"] is r["probability"] is r["error"] is None for r in responses)
    assert [r["sample_answer"] for r in responses] == [["agree"], ["disagree"], [None], ["agree"]]
    assert [r["sample_answer_otherwise"] for r in responses] == [["agree"], [None], [None], ["agree"]]
    *lines, last = capsys.readouterr().out.splitlines()
    assert lines == [
        "run: 1 item, 3 variants",
        "m1 import: 3 of 3 variants, 1 of 3 answers invalid",
        "m2 import: 1 of 3 variants, 0 of 1 answer invalid",
    ]
    assert "/run: done; next: waver report " in last


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet"])
def test_every_format_gives_the_same_run(tmp_path, name):
    rows = [{**row, "item": 7} for row in ANSWERS]
    delimiter = "\t" if name == "t.tsv" else ","
    info, stimuli, responses = run(tmp_path / "run", write(tmp_path / name, rows, delimiter), *TEXTS)
    reference = write(tmp_path / "reference.csv", [{**row, "item": "7"} for row in ANSWERS], ";")
    expected = run(tmp_path / "expected", reference, *TEXTS, "--name", "run")
    assert info["study"]["hash"] == expected[0]["study"]["hash"]
    assert (stimuli, responses) == expected[1:]


def test_numeric_ids_are_text_whatever_their_type(tmp_path):
    file = write(tmp_path / "m.parquet", [{"q": 1.0, "order": n, "reply": r} for n, r in enumerate(["agree", "no"])])
    _, stimuli, responses = run(
        tmp_path / "run",
        file,
        "--item-column",
        "q",
        "--variant-column",
        "order",
        "--completion-column",
        "reply",
        *OPTIONS,
    )
    assert [(s["item"], s["variant"], s["text"]) for s in stimuli] == [("1", "0", "1"), ("1", "1", "1")]
    assert [r["model"] for r in responses] == ["m", "m"]


def test_repeated_rows_are_samples_where_the_user_says_so(tmp_path):
    row = {"model": "m", "item": "1", "text": "Tea is hot."}
    replies = {"a": ["agree", "disagree", "agree", "hm", ""], "b": ["hm"], "c": ["Disagree", "disagree"]}
    rows = [{**row, "variant": v, "reply": reply} for v, given in replies.items() for reply in given]
    rows = [*rows[5:], *rows[:5]]  # the samples of a response need not be together, nor in order
    file = write(tmp_path / "t.csv", [rows[-1], *rows[:-1]])
    *_, responses = run(tmp_path / "run", file, *TEXTS, "--repeated", "samples")
    found = {r["variant"]: (r["answer"], r["count"], r["invalid"], sorted(r["output"])) for r in responses}
    assert all(r["sample_answer"] == r["sample_answer_otherwise"] for r in responses)  # "agree" and "disagree" alone
    assert [r["sample_answer"] for r in responses if r["variant"] == "c"] == [["disagree", "disagree"]]
    assert found == {
        "a": (None, [2, 1], 2, ["", "agree", "agree", "disagree", "hm"]),
        "b": (None, None, None, ["hm"]),
        "c": (None, [0, 2], 0, ["Disagree", "disagree"]),
    }


def test_responses_are_made_some_at_a_time(tmp_path, monkeypatch):
    row = {"model": "m", "item": "1", "text": "Tea is hot."}
    replies = [*"abcdefg", *"gab"]  # variants; the last three are second samples of earlier ones
    rows = [{**row, "variant": name, "reply": ("agree", "no idea", None)[n % 3]} for n, name in enumerate(replies)]
    file = write(tmp_path / "t.jsonl", rows)
    expected = run(tmp_path / "at once", file, *TEXTS, "--repeated", "samples", "--name", "s")
    monkeypatch.setattr(long, "TOGETHER", 2)
    found = run(tmp_path / "by twos", file, *TEXTS, "--repeated", "samples", "--name", "s")
    monkeypatch.setattr(long, "LARGEST", 1)
    alone = run(tmp_path / "one by one", file, *TEXTS, "--repeated", "samples", "--name", "s")
    assert found[1:] == alone[1:] == expected[1:]
    assert [(r["variant"], r["answer"], r["count"], r["invalid"], r["output"]) for r in found[2]] == [
        ("a", "agree", None, None, ["agree"]),
        ("b", None, [1, 0], 1, ["no idea", "agree"]),
        ("c", None, None, None, None),
        ("d", "agree", None, None, ["agree"]),
        ("e", None, None, None, ["no idea"]),
        ("f", None, None, None, None),
        ("g", None, [1, 0], 1, ["agree", "no idea"]),
    ]


def test_given_answers_match_exactly_or_not_at_all(tmp_path):
    replies = [" AGREE ", "strongly disagree", "I agree", "", "Strongly Agree"]
    rows = [{**ANSWERS[0], "variant": str(i), "reply": reply} for i, reply in enumerate(replies)]
    *_, responses = run(tmp_path / "run", write(tmp_path / "t.csv", rows), *IDS, *OPTIONS, "--answer-column", "reply")
    assert [r["answer"] for r in responses] == ["agree", "disagree", None, None, "agree"]


def test_the_first_label_comes_first(tmp_path):
    arguments = (*IDS, "--answer-column", "reply", "--options", "no=disagree;yes=agree", "--repeated", "samples")
    info, stimuli, responses = run(tmp_path / "run", write(tmp_path / "t.csv", [ANSWERS[3]] * 2), *arguments)
    assert info["study"]["canonical"] == stimuli[0]["options"] == ["no", "yes"]
    assert responses[0]["count"] == [0, 2]


def test_probabilities(tmp_path, capsys):
    rows = [*NUMBERS, {**NUMBERS[0], "variant": "c", "yes": "", "no": ""}]
    *_, responses = run(tmp_path / "run", write(tmp_path / "t.csv", rows), *PROBABILITIES)
    assert responses[0]["probability"] == [0.25, 0.5]
    assert responses[0]["logprob"] == [math.log(0.25), math.log(0.5)]
    assert responses[0]["mass"] == 0.75
    assert responses[0]["answer"] is responses[0]["count"] is responses[0]["error"] is None
    assert responses[1]["logprob"] == [math.log(1e-3), -math.inf]
    assert responses[2]["probability"] is responses[2]["mass"] is responses[2]["logprob"] is None
    assert responses[2]["error"] == "no value in column yes, no"
    assert "3 of 3 variants, 1 without a response, mean mass 0.376" in capsys.readouterr().out


def test_counts(tmp_path):
    rows = [
        {**row, "yes": y, "no": n, "bad": b} for row, y, n, b in zip(NUMBERS, "30", "12", ["0", "4.0"], strict=True)
    ]
    file = write(tmp_path / "t.csv", rows)
    *_, responses = run(tmp_path / "run", file, *COUNTS, "--invalid-column", "bad")
    assert [(r["count"], r["invalid"], r["answer"]) for r in responses] == [([3, 1], 0, None), ([0, 2], 4, None)]
    *_, responses = run(tmp_path / "without", file, *COUNTS)
    assert [r["invalid"] for r in responses] == [0, 0]


def test_a_response_whose_counts_are_all_zero_has_no_sample(tmp_path):
    """Of a filtered table; a run folder with a count of nothing could not be opened."""
    rows = [{**row, "yes": y, "no": "0"} for row, y in zip(NUMBERS, "30", strict=True)]
    *_, responses = run(tmp_path / "run", write(tmp_path / "t.csv", rows), *COUNTS)
    assert [(r["count"], r["error"]) for r in responses] == [([3, 0], None), (None, "no sample in column yes, no")]


def test_of_a_table_without_any_answer_no_share_of_answers_is_told(tmp_path, capsys):
    run(tmp_path / "run", write(tmp_path / "t.csv", [{**row, "yes": "0", "no": "0"} for row in NUMBERS]), *COUNTS)
    said = capsys.readouterr().out
    assert "2 variants, 2 without a response\n" in said and "of 0 answers" not in said


def test_a_null_completion_is_no_response_and_an_empty_one_is_invalid(tmp_path):
    rows = [{**ANSWERS[0], "reply": None}, {**ANSWERS[1], "reply": ""}, {**ANSWERS[2], "reply": "agree"}]
    *_, responses = run(tmp_path / "run", write(tmp_path / "t.jsonl", rows), *TEXTS)
    assert [(r["error"], r["answer"], r["output"]) for r in responses] == [
        ("no value in column reply", None, None),
        (None, None, [""]),
        (None, "agree", ["agree"]),
    ]


def test_without_a_variant_column_texts_are_numbered(tmp_path):
    rows = [{"m": m, "q": "1", "t": t, "p": p, "y": ".5", "n": ".5"} for m in "xy" for t, p in
            (("B", "paraphrase"), ("A", "original"), ("C", "paraphrase"), ("D", "antonym"))]  # fmt: skip
    columns = ("--model-column", "m", "--item-column", "q", "--text-column", "t", "--probability-columns", "a=y,d=n")
    file = write(tmp_path / "t.csv", rows)
    _, stimuli, responses = run(tmp_path / "run", file, *columns, "--pattern-column", "p")
    assert [(s["variant"], s["pattern"], s["text"]) for s in stimuli] == [
        ("paraphrase-001", "paraphrase", "B"),
        ("original", "original", "A"),
        ("paraphrase-002", "paraphrase", "C"),
        ("antonym-001", "antonym", "D"),
    ]
    assert len(responses) == 8
    _, stimuli, _ = run(tmp_path / "plain", file, *columns)
    assert [s["variant"] for s in stimuli] == [f"paraphrase-00{n}" for n in (1, 2, 3, 4)]


@pytest.mark.parametrize("columns", [("--variant-column", "v"), ("--variant-column", "n", "--pattern-column", "v")])
def test_an_original_is_one_however_it_is_capitalised(tmp_path, columns):
    rows = [{"q": "1", "v": v, "n": n, "y": ".5"} for n, v in (("1", "Original"), ("2", "Paraphrase"))]
    file = write(tmp_path / "t.csv", rows)
    _, stimuli, _ = run(tmp_path / "run", file, "--item-column", "q", "--score-column", "y", *columns)
    assert [row["pattern"] for row in stimuli] == ["original", "paraphrase"]


@pytest.mark.parametrize("pattern", ["paraphrase_1", "formal paraphrase", "synonym"])
def test_kinds_of_paraphrases_are_patterns_of_their_own(tmp_path, pattern):
    file = write(tmp_path / "t.csv", [{"q": "1", "v": "a", "kind": pattern, "y": ".5"}])
    columns = ("--item-column", "q", "--variant-column", "v", "--pattern-column", "kind", "--score-column", "y")
    _, stimuli, _ = run(tmp_path / "run", file, *columns)
    assert [row["pattern"] for row in stimuli] == [pattern]


def test_files_may_be_one_model_each(tmp_path):
    rows = [{name: cell for name, cell in row.items() if name != "model"} for row in NUMBERS]
    write(tmp_path / "one.csv", rows), write(tmp_path / "two.csv", rows)
    columns = ("--item-column", "item", "--variant-column", "variant", *PROBABILITIES[-2:])
    info, _, responses = run(tmp_path / "run", tmp_path / "one.csv", f"second={tmp_path}/two.csv", *columns)
    assert list(info["models"]) == ["one", "second"]
    assert [r["model"] for r in responses] == ["one", "one", "second", "second"]


COLUMNS = ("--item-column", "item", "--variant-column", "variant", *PROBABILITIES[-2:])
ROWS = [{name: cell for name, cell in row.items() if name != "model"} for row in NUMBERS]


@pytest.mark.parametrize(
    ("files", "models", "told"),
    [
        # nine folders that each hold a file of the same name, as most harnesses write them
        ([f"m{n}/responses.csv" for n in range(1, 10)], [f"m{n}" for n in range(1, 10)], 9),
        (["a/run/out.csv", "b/run/out.csv"], ["a/run", "b/run"], 2),
        (["a/x.csv", "b/x.csv", "a/y.csv", "b/y.csv"], ["a/x", "b/x", "a/y", "b/y"], 4),
        (["a/x.csv", "b/x.csv", "y.csv"], ["a", "b", "y"], 2),
        (["a/x.csv", "b/x.tsv"], ["a", "b"], 2),
        (["a/x.csv", "other=b/x.csv"], ["x", "other"], 0),
    ],
)
def test_files_of_one_name_are_models_of_their_own(tmp_path, capsys, monkeypatch, files, models, told):
    monkeypatch.chdir(tmp_path)
    for file in files:
        path = tmp_path / file.rpartition("=")[2]
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, ROWS, "\t" if path.suffix == ".tsv" else ",")
    info, _, responses = run(tmp_path / "run", *files, *COLUMNS)
    assert list(info["models"]) == models
    assert [r["model"] for r in responses] == [model for model in models for _ in ROWS]
    line = capsys.readouterr().err
    assert sum(f"{model} ({file})" in line for model, file in zip(models, files, strict=True)) == told
    assert ("their folders name the models" in line) == bool(told)
    run(tmp_path / "run", *files, *COLUMNS)
    assert capsys.readouterr().out.count("is here already, nothing to do") == len(models)


def test_a_column_that_nobody_asked_for_may_be_there_twice(tmp_path):
    names = [*NUMBERS[0], "note", "note"]
    table = pa.table([pa.array([row[name] for row in NUMBERS]) for name in names[:-2]] + [pa.array([1, 2])] * 2, names)
    pq.write_table(table, tmp_path / "t.parquet")
    expected = run(tmp_path / "expected", write(tmp_path / "t.csv", NUMBERS), *PROBABILITIES, "--name", "run")
    assert run(tmp_path / "run", tmp_path / "t.parquet", *PROBABILITIES)[1:] == expected[1:]
    (tmp_path / "set.parquet").mkdir()  # a folder of parts, as other tools write it
    write(tmp_path / "set.parquet" / "0.parquet", NUMBERS)
    assert [row["yes"] for _, row in records.read_records(tmp_path / "set.parquet", ["yes"])] == ["0.25", "1e-3"]


def test_conditions_gold_and_language(tmp_path):
    rows = [{**row, "style": style, "heat": "0.7", "right": "AGREE"} for style in ("short", "long") for row in NUMBERS]
    info, stimuli, responses = run(
        tmp_path / "run", write(tmp_path / "t.csv", rows), *PROBABILITIES, "--condition-column", "style",
        "--condition-column", "heat", "--gold-column", "right", "--language", "en", "--name", "tea",
    )  # fmt: skip
    assert info["conditions"] == {
        "short/0.7": {"form": "import", "style": "short", "heat": "0.7"},
        "long/0.7": {"form": "import", "style": "long", "heat": "0.7"},
    }
    assert {(s["gold"], s["language"], s["study"]) for s in stimuli} == {("agree", "en", "tea")}
    assert [r["condition"] for r in responses] == ["short/0.7"] * 2 + ["long/0.7"] * 2


def test_models_and_conditions_are_added_and_the_same_files_not_twice(tmp_path, capsys):
    first, second = (
        write(tmp_path / "1.csv", NUMBERS),
        write(tmp_path / "2.csv", [{**r, "model": "m2"} for r in NUMBERS]),
    )
    (tmp_path / "models.yaml").write_text("m1: {series: tea, stage: base}\n", encoding="utf-8")
    run(tmp_path / "run", first, *PROBABILITIES, "--models", tmp_path / "models.yaml")
    run(tmp_path / "run", first, *PROBABILITIES)
    assert "m1 import: is here already, nothing to do" in capsys.readouterr().out
    run(tmp_path / "run", first, *PROBABILITIES, "--quiet")  # how much is printed is no part of the import
    run(tmp_path / "run", second, *PROBABILITIES)
    info, _, responses = run(tmp_path / "run", first, *PROBABILITIES, "--condition", "again")
    assert info["models"]["m1"]["stage"] == "base"
    assert sorted((r["model"], r["condition"]) for r in responses) == (
        [("m1", "again")] * 2 + [("m1", "import")] * 2 + [("m2", "import")] * 2
    )
    capsys.readouterr()
    write(first, [{**row, "no": "0.125"} for row in NUMBERS])
    assert main(["import", "table", str(first), *PROBABILITIES, "--out", str(tmp_path / "run")]) == 2
    assert "model 'm1' already has responses under condition 'import'" in capsys.readouterr().err
    assert read(tmp_path / "run")[2] == responses


def test_texts_read_by_two_rules_do_not_meet_in_one_folder(tmp_path, capsys, monkeypatch):
    first = write(tmp_path / "1.csv", ANSWERS[:3])
    second = write(tmp_path / "2.csv", [{**row, "model": "m2"} for row in ANSWERS[:3]])
    monkeypatch.setattr(text_answers, "VERSION", text_answers.VERSION - 1)
    *_, responses = run(tmp_path / "run", first, *TEXTS)
    monkeypatch.undo()
    for file in (first, second):  # the same file again, and another one
        assert main(["import", "table", str(file), *TEXTS, "--out", str(tmp_path / "run")]) == 2
        assert (
            "condition 'import' is already here with other settings (text_rule was 3, now 4)" in capsys.readouterr().err
        )
    assert read(tmp_path / "run")[2] == responses
    given = (*IDS, *OPTIONS, "--answer-column", "reply", "--condition", "given")
    info, *_ = run(tmp_path / "run", first, *given, "--name", "run")
    assert info["conditions"]["given"] == {"form": "import"}  # nothing was parsed


def test_csv_of_spreadsheets_and_long_cells(tmp_path):
    long = "agree. " + "x" * 200_000
    content = f'﻿model;item;variant;text;reply\nm;1;a;"Tea;\nhot";{long}\n\nm;1;b;Tea "hot";disagree\n'
    (tmp_path / "t.csv").write_text(content.replace("\n\n", "\n"), encoding="utf-8")
    _, stimuli, responses = run(tmp_path / "run", tmp_path / "t.csv", *TEXTS)
    assert [s["text"] for s in stimuli] == ["Tea;\nhot", 'Tea "hot"']
    assert [r["answer"] for r in responses] == ["agree", "disagree"]


def test_political_compass_completions_of_three_models(tmp_path, shared):
    names = ("Llama-2-7b-chat-hf", "Mistral-7B-Instruct-v0.1", "gpt-3.5-turbo-1106")
    files = [shared / "llm-values-pct" / "explicit-paraphrase" / f"{name}.csv" for name in names]
    if not files[0].exists():
        pytest.skip("needs llm-values-pct in shared/data")
    info, stimuli, responses = run(
        tmp_path / "run", *files, "--model-column", "model", "--item-column", "pct_id", "--variant-column", "templ_id",
        "--text-column", "full_prompt", "--completion-column", "completion", *OPTIONS, "--language", "en",
    )  # fmt: skip
    assert (len(info["models"]), len(stimuli), len(responses)) == (3, 620, 1860)
    assert {s["pattern"] for s in stimuli} == {"paraphrase"}
    invalid = {m: sum(r["answer"] is None for r in responses if r["model"] == m) / 620 for m in info["models"]}
    # A chat model that declines often, and two that hardly ever do.
    assert all(invalid[model] > 0.45 for model in invalid if "Llama" in model)
    assert all(invalid[model] < 0.1 for model in invalid if "gpt" in model or model.endswith("v0.1"))


def test_moralchoice_option_orders_agree_as_its_description_says(tmp_path, shared):
    folder = shared / "moralchoice" / "responses-high"
    files = [*sorted(folder.glob("langchain_*.csv")), *sorted(folder.glob("together_*.csv"))]
    if not files:
        pytest.skip("needs moralchoice in shared/data")
    info, stimuli, responses = run(
        tmp_path / "run", *files, "--model-column", "model_id", "--item-column", "scenario_id", "--variant-column",
        "question_ordering", "--text-column", "question_text", "--answer-column", "decision",
        "--options", "action1=action1;action2=action2",
    )  # fmt: skip
    assert info["study"]["canonical"] == ["action1", "action2"]
    assert (len(info["models"]), len(stimuli), len(responses)) == (5, 1360, 6800)
    for model in info["models"]:
        answers = {(r["item"], r["variant"]): r["answer"] for r in responses if r["model"] == model}
        items = {item for item, _ in answers}
        agreeing = sum(answers[item, "0"] == answers[item, "1"] for item in items) / len(items)
        assert 0.83 <= round(agreeing, 2) <= 0.93


def test_wordings_without_attributes_share_an_empty_one(tmp_path, monkeypatch):
    """An import of a million wordings would else hold a million empty dictionaries."""
    studies = []

    def keep_study(out, study, *arguments, **options):
        studies.append(study)
        return []

    monkeypatch.setattr("inference.importers.shared.saving.save_imported_study_and_responses", keep_study)
    table = write(tmp_path / "answers.csv", ANSWERS)
    assert main(["import", "table", str(table), *TEXTS, "--out", str(tmp_path / "run")]) == 0
    (study,) = studies
    assert {variant.variant: variant.attributes for variant in study.variants} == {"original": {}, "a": {}, "b": {}}
    assert len({id(variant.attributes) for variant in study.variants}) == 1
