"""`waver import haller`: the published response format, there and back."""

from __future__ import annotations

import copy
import json
import math

import pyarrow.parquet as pq
import pytest

from inference.__main__ import main
from inference.protocols import agreement
from inference.stimuli import items

PUBLISHED = [
    {
        "id": 1,
        "original_statement": {
            "statement": "Tea is best when it is hot.",
            "response": {"agree": 0.5, "disagree": 0.25},
            "statement_log_prob": -31.5,
        },
        "alternative_statements": [
            {
                "statement": "Hot is how tea should be.",
                "response": {"agree": 0.125, "disagree": 0.75},
                "statement_log_prob": None,
            },
            {"statement": "Only hot tea is good tea.", "response": {"agree": 0.0, "disagree": 0.0}},
            {"statement": "Good tea is hot.", "response": None, "statement_log_prob": -12.25},
        ],
    },
    {
        "id": 2,
        "original_statement": {"statement": "Cats sleep a lot.", "response": {"agree": 1.0, "disagree": 5e-7}},
        "alternative_statements": [],
    },
]
NAME = "responses_{}_paraphrases_made-up_temp1.jsonl"


def write(folder, model, content=PUBLISHED):
    path = folder / NAME.format(model)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def run(*arguments):
    return main(["import", "haller", *map(str, arguments)])


def read(out):
    info = json.loads((out / "run.json").read_text(encoding="utf-8"))
    responses = [
        row for part in sorted((out / "responses").glob("*.parquet")) for row in pq.read_table(part).to_pylist()
    ]
    return info, pq.read_table(out / "stimuli.parquet").to_pylist(), responses


def published(stimuli, responses):
    """A run folder's rows as the published format has them."""
    entries = {}
    for stimulus, row in zip(stimuli, responses, strict=True):
        assert (stimulus["item"], stimulus["variant"]) == (row["item"], row["variant"])
        entry = entries.setdefault(row["item"], {"id": int(row["item"]), "alternative_statements": []})
        statement = {"statement": stimulus["text"], "response": None, "statement_log_prob": row["text_logprob"]}
        if row["error"] is None:
            statement["response"] = dict(zip(stimulus["canonical"], row["probability"], strict=True))
        if stimulus["pattern"] == "original":
            entry["original_statement"] = statement
        else:
            entry["alternative_statements"].append(statement)
    return list(entries.values())


def test_round_trip(tmp_path):
    assert run(write(tmp_path, "falcon-7b"), "--out", tmp_path / "run", "--language", "en") == 0
    info, stimuli, responses = read(tmp_path / "run")
    expected = copy.deepcopy(PUBLISHED)
    for entry in expected:
        for statement in [entry["original_statement"], *entry["alternative_statements"]]:
            statement.setdefault("statement_log_prob", None)
    assert published(stimuli, responses) == expected
    assert list(info["models"]) == ["falcon-7b"]
    assert info["models"]["falcon-7b"]["engine"] == "import"
    assert info["conditions"] == {"import": {"form": "import"}}


def test_the_derived_columns(tmp_path, capsys):
    assert run(write(tmp_path, "m"), "--out", tmp_path / "run") == 0
    _, _, responses = read(tmp_path / "run")
    assert [r["mass"] for r in responses] == [0.75, 0.875, 0.0, None, 1.0 + 5e-7]
    assert responses[0]["logprob"] == [math.log(0.5), math.log(0.25)]
    assert responses[2]["logprob"] == [-math.inf, -math.inf]
    assert responses[3]["probability"] is responses[3]["logprob"] is None
    assert [r["error"] for r in responses] == [None] * 3 + ["the published file has no response here", None]
    assert all(r["answer"] is r["count"] is r["output"] is None for r in responses)
    assert "m import: 5 of 5 variants, 1 without a response, mean mass 0.656" in capsys.readouterr().out


def test_it_is_the_study_that_the_items_alone_would_be(tmp_path):
    assert run(write(tmp_path, "m"), "--out", tmp_path / "run") == 0
    statements = [
        {
            "id": entry["id"],
            "original_statement": entry["original_statement"]["statement"],
            "alternative_statements": [a["statement"] for a in entry["alternative_statements"]],
        }
        for entry in PUBLISHED
    ]
    (tmp_path / "items.json").write_text(json.dumps(statements), encoding="utf-8")
    study = agreement.build_agreement_study(items.read_and_check_items(str(tmp_path / "items.json")), "run")
    assert read(tmp_path / "run")[0]["study"]["hash"] == study.hash


def test_several_models_from_a_folder_with_metadata(tmp_path):
    folder = tmp_path / "published"
    folder.mkdir()
    write(folder, "bert_base"), write(folder, "gpt-3.5")
    (folder / "notes.json").write_text("[]", encoding="utf-8")
    (tmp_path / "models.yaml").write_text("bert_base: {series: BERT, family: masked}\n", encoding="utf-8")
    assert (
        run(folder, f"mine={write(tmp_path, 'x')}", "--out", tmp_path / "run", "--models", tmp_path / "models.yaml")
        == 0
    )
    info, stimuli, responses = read(tmp_path / "run")
    assert list(info["models"]) == ["bert_base", "gpt-3.5", "mine"]
    assert (info["models"]["bert_base"]["series"], info["models"]["bert_base"]["family"]) == ("BERT", "masked")
    assert (len(stimuli), len(responses)) == (5, 15)


@pytest.mark.slow
def test_another_model_is_added_to_the_folder(tmp_path):
    assert run(write(tmp_path, "a"), "--out", tmp_path / "run") == 0
    assert run(write(tmp_path, "b"), "--out", tmp_path / "run") == 0
    assert run(write(tmp_path, "b"), "--out", tmp_path / "run", "--condition", "no-yes") == 0
    info, _, responses = read(tmp_path / "run")
    assert list(info["conditions"]) == ["import", "no-yes"]
    assert len(responses) == 15


def test_different_paraphrases_need_two_runs(tmp_path, capsys):
    other = copy.deepcopy(PUBLISHED)
    other[0]["alternative_statements"][1]["statement"] = "Cold tea is no tea."
    first, second = write(tmp_path, "a"), write(tmp_path, "b", other)
    assert run(first, second, "--out", tmp_path / "run") == 2
    line = capsys.readouterr().err.strip()
    assert f"{second}: not the statements of {first}, from item '1', paraphrase-002 on" in line
    assert "two run folders" in line
    assert run(first, write(tmp_path, "c", PUBLISHED[:1]), "--out", tmp_path / "run") == 2
    assert "from item '2', original on" in capsys.readouterr().err


def change(where, value):
    """The published entries with one field set; a path of keys leads to it."""
    content = copy.deepcopy(PUBLISHED)
    target = content
    for key in where[:-1]:
        target = target[key]
    target[where[-1]] = value
    return content


STATEMENT = [0, "alternative_statements", 0]
AGREE = [*STATEMENT, "response", "agree"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "there are no rows in it"),
        ([{"id": 1}], "entry 1: alternative_statements must be a list"),
        (["text"], "entry 1: expected fields with names"),
        (change([0, "id"], None), "entry 1: id must be text or a whole number"),
        (change([1, "id"], 1), "entry 2: item '1' is already in entry 1"),
        (change([0, "original_statement"], "Tea."), "entry 1, original_statement: expected statement and response"),
        (change([0, "original_statement", "statement"], " "), "entry 1, original_statement: the statement is empty"),
        (change([0, "original_statement", "response"], {"agree": 1}), "expected the probabilities agree and disagree"),
        (change(AGREE, -0.1), "entry 1, alternative statement 1, response: -0.1"),
        (change(AGREE, 0.9), "are not two probabilities of one distribution"),
        (change(AGREE, "0.9"), "agree: expected a number, not '0.9'"),
        (change(AGREE, None), "agree: expected a number, not nothing"),
        (change([*STATEMENT, "statement_log_prob"], "low"), "statement_log_prob: expected a number"),
    ],
)  # fmt: skip
def test_wrong_files_are_named_with_the_entry(tmp_path, capsys, content, message):
    path = write(tmp_path, "m", content)
    assert run(path, "--out", tmp_path / "run") == 2
    line = capsys.readouterr().err.strip()
    assert "\n" not in line
    assert str(path) in line
    assert message in line


@pytest.mark.slow
def test_names_of_models_must_be_clear(tmp_path, capsys):
    path = write(tmp_path, "m")
    plain = tmp_path / "answers.json"
    plain.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "empty").mkdir()
    for arguments, message in (
        ((plain,), "the name does not tell the model; give it as NAME="),
        ((path, f"m={plain}"), "model 'm' is already in"),
        ((tmp_path / "empty",), "the folder holds no file responses_MODEL_paraphrases_*.jsonl"),
        ((f"m={tmp_path}",), "a name goes with one file, not with a folder"),
        ((tmp_path / "none.json",), "the name does not tell the model"),
        ((f"m={tmp_path}/none.json",), "cannot be read"),
    ):
        assert run(*arguments, "--out", tmp_path / "run") == 2
        assert message in capsys.readouterr().err
