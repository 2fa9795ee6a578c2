"""A tiny encoder, tuned by the command and asked by `run negation`: the held-out accuracy is what the engine says."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("accelerate")

from safetensors.torch import load_file

from ground import run_json
from helpers import tiny_models
from inference import engines
from inference.__main__ import main
from inference.protocols.negation.tune import nli as tuning
from inference.protocols.negation.tune.training import Encoder
from inference.stimuli import entailment, nli

from .test_tune import ROWS, write

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    tokenizer = tiny_models.wordpiece_tokenizer(segments=True)
    tiny_models.checkpoint(folder / "tiny", "bert", tokenizer, num_hidden_layers=1, initializer_range=0.1)
    write(folder / "rows.jsonl", ROWS * 2)
    call = [
        "tune",
        "nli",
        "--model",
        str(folder / "tiny"),
        "--data",
        str(folder / "rows.jsonl"),
        "--rates",
        "0.01,1e-6",
    ]
    assert main([*call, "--epochs", "6", "--seeds", "2", "--device", "cpu", "--out", str(folder / "t")]) == 0
    return folder


def test_each_seed_learns_and_the_rate_that_teaches_nothing_is_not_chosen(made):
    for seed in range(2):
        records = [json.loads(file.read_text()) for file in (made / "t" / "cells").glob(f"seed-{seed}-*/cell.json")]
        assert {record["rate"] for record in records} == {0.01, 1e-6}
        accuracy = {record["rate"]: record["accuracy"] for record in records}
        assert accuracy[0.01] > 0.9 > accuracy[1e-6]


def test_nothing_but_safetensors_holds_weights(made):
    names = {path.suffix for path in (made / "t").rglob("*") if path.is_file()} - {""}
    assert names == {".json", ".safetensors"}


def test_the_engine_gives_the_held_out_accuracy_that_was_recorded(made):
    rows = tuning.read_tuning_pairs([made / "rows.jsonl"])
    book = entailment.read_entailment_prompts("en")
    for seed in range(2):
        engine = engines.load_engine(str(made / "t" / f"t-{seed}"))
        tuned = engine.info["tuning"]
        assert (tuned["seed"], tuned["rate"], tuned["name"], tuned["files"]) == (seed, 0.01, "t", ["rows.jsonl"])
        _, held_out = tuning.draw_train_and_held_out_row_numbers(len(rows), seed)
        prompts = [
            book.render("pair", {"premise": row.premise, "hypothesis": row.hypothesis, "options": nli.LABELS})
            for row in (rows[place] for place in held_out)
        ]
        found = {}
        for batch in engine.cut_into_batches(prompts):
            (scores,) = engine.score([prompts[place] for place in batch])
            found |= dict(zip(batch, scores, strict=True))
        right = [nli.LABELS[found[place].answer] == rows[row].label for place, row in enumerate(held_out)]
        record = json.loads((made / "t" / "cells" / f"seed-{seed}-rate-0.01-epochs-6" / "cell.json").read_text())
        assert sum(right) / len(right) == pytest.approx(record["accuracy"], abs=1e-12)
        loss = -sum(found[place].logprob[nli.LABELS.index(rows[row].label)] for place, row in enumerate(held_out))
        assert loss / len(held_out) == pytest.approx(record["loss"], abs=1e-5)


def test_the_same_call_makes_the_same_weights(made, tmp_path):
    """A cell that a kill interrupted is trained again from its start: what it becomes follows from its seed."""
    rows = tuning.read_tuning_pairs([made / "rows.jsonl"])
    encoder = Encoder(str(made / "tiny"), "tiny", rows, "cpu")
    cell = tuning.TuningGrid((0.01,), (6,)).list_training_cells_of_seed(1)[0]
    record = {"name": "t", "set": "", "base": "tiny", "files": []}
    encoder.tune_save_and_test_encoder(
        cell, *tuning.draw_train_and_held_out_row_numbers(len(rows), 1), record, tmp_path
    )
    again, first = (load_file(folder / "model.safetensors") for folder in (tmp_path, made / "t" / "t-1"))
    assert again.keys() == first.keys() and all(bool((again[name] == first[name]).all()) for name in first)


def test_the_models_are_asked_like_any_other(made, capsys):
    items = write(
        made / "items.jsonl",
        [{**ROWS[0], "item": "a"}, {**ROWS[0], "item": "a", "pattern": "h_neg", "hypothesis": "They do not."}],
    )
    models = [str(made / "t" / f"t-{seed}") for seed in range(2)]
    call = ["run", "negation", "--items", str(items), "--model", *models, "--out", str(made / "run")]
    assert main(call) == 0
    info = run_json.read_run_json(made / "run")
    assert info["conditions"]["pair/0-shot"]["form"] == "pair"
    assert {fields["engine"] for fields in info["models"].values()} == {"classifier"}
    assert info["models"]["t-1"]["tuning"]["seed"] == 1 and info["models"]["t-1"]["stage"] == "tuned"
    (asked,) = info["asked"]["pair/0-shot"]
    assert asked["prompt"] == f"{ROWS[0]['premise']}\n{ROWS[0]['hypothesis']}"
    assert asked["models"] == ["t-0", "t-1"] and [part["role"] for part in asked["wordings"]] == [
        "premise", "hypothesis"]  # fmt: skip
    assert main(["preview", *call[1:-2], "--limit", "1"]) == 0
    assert "entailment: mass" in capsys.readouterr().out


def test_rows_that_are_cut_are_counted(made):
    rows = tuning.read_tuning_pairs([made / "rows.jsonl"])
    long = nli.Instance("x", "original", "bread " * 200, "They agree.", "neutral")
    assert Encoder(str(made / "tiny"), "tiny", [*rows, long], "cpu").n_cut == 1
