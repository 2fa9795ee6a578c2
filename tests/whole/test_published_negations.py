"""JNLI-Neg as it is published, asked of encoders tuned on a part of it: the page's numbers are those of plain loops."""

from __future__ import annotations

import pytest

pytest.importorskip("accelerate")

from analysis import runs
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.published_numbers import OURS
from helpers import tiny_models
from helpers.negation_runs import differences, published, said_in
from inference.__main__ import main

pytestmark = pytest.mark.slow

SEEDS = 2


def test_the_page_on_the_whole_validation_set_is_that_of_plain_loops(shared, tmp_path):
    folder = shared / "jnli-neg-v1.1"
    file, part = folder / "jnli-neg-valid-v1.1.jsonl", tmp_path / "part.jsonl"
    lines = (folder / "jnli-neg-train-v1.1.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    part.write_text("".join(lines[:150]), encoding="utf-8")
    room = {"max_position_embeddings": 512, "num_hidden_layers": 1}
    encoder = tiny_models.checkpoint(tmp_path / "tiny", "bert", tiny_models.roberta_tokenizer(), **room)
    tune = ["tune", "nli", "--model", encoder, "--data", str(part), "--rates", "0.003", "--epochs", "2"]
    assert main([*tune, "--seeds", str(SEEDS), "--device", "cpu", "--out", str(tmp_path / "part")]) == 0
    models = [str(tmp_path / "part" / f"part-{seed}") for seed in range(SEEDS)]
    run = tmp_path / "run"
    assert (
        main(["run", "negation", "--items", str(file), "--model", *models, "--device", "cpu", "--out", str(run)]) == 0
    )

    said = said_in(run)
    slow = [published(file, labels) for labels in said.values()]
    assert len(slow) == SEEDS and all(len(set(labels.values())) > 1 for labels in said.values())
    assert [slow[0][name]["n"] for name in ("original", "negated", "important", "unimportant")] == [186, 1177, 787, 935]
    assert differences(run, file) == []
    table = tables.build_table("negation_printed", runs.open_runs(run))
    (ours,) = table[table["source"] == OURS].to_dict("records")
    assert (ours["setting"], ours["seeds"]) == ("tuned on part.jsonl", SEEDS)
    for column, name, figure in (
        ("accuracy_original", "original", "accuracy"),
        ("accuracy_negated", "negated", "accuracy"),
        ("acc_change_important", "important", "acc_change"),
        ("acc_negated_unimportant", "unimportant", "acc_negated"),
    ):
        assert ours[column] == pytest.approx(sum(each[name][figure] for each in slow) / SEEDS, abs=1e-12)
