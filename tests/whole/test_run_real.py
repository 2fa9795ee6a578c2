"""Real, tiny models from the command line: asked, killed and gone on with to the same bits, previewed."""

from __future__ import annotations

import json
import math
import signal
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers import apart
from inference.__main__ import main
from inference.runfolder.parquet import KEY

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tiny_models = pytest.importorskip("helpers.tiny_models")


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """A base and a chat Llama and a BERT with random weights."""
    folder = tmp_path_factory.mktemp("models")
    room = {"max_position_embeddings": 512}
    tiny_models.checkpoint(folder / "base", "llama", **room)
    tiny_models.checkpoint(folder / "chat", "llama", tiny_models.byte_tokenizer(chat=True), seed=1, **room)
    tiny_models.checkpoint(folder / "masked", "bert", **room)
    return folder


@pytest.fixture(scope="module")
def items(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("items") / "items.json"
    entries = [
        {
            "item": number,
            "text": f"Thing {number} is good.",
            "paraphrases": [f"It is {'very ' * n}true that thing {number} is good." for n in range(15)],
        }
        for number in range(10)
    ]
    file.write_text(json.dumps(entries), encoding="utf-8")
    return file


def arguments(items: Path, models: Path, out: Path) -> list[str]:
    names = [str(models / name) for name in ("base", "chat", "masked")]
    return ["run", "agreement", "--items", str(items), "--model", *names, "--out", str(out), "--device", "cpu",
            "--option-order", "yes-no", "no-yes"]  # fmt: skip


def table_of(out: Path) -> pa.Table:
    files = sorted((out / "responses").glob("part-*.parquet"))
    table = pa.concat_tables([pq.read_table(file, partitioning=None) for file in files])
    return table.sort_by([(name, "ascending") for name in KEY]).combine_chunks()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, items, models) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    assert main(arguments(items, models, out)) == 0
    return out


def test_every_prompt_of_three_models_has_an_exact_response(undisturbed):
    rows = table_of(undisturbed).to_pylist()
    assert len(rows) == 3 * 2 * 160
    assert {(r["model"], r["condition"].partition("/")[0]) for r in rows} == {
        ("base", "plain"), ("chat", "chat"), ("masked", "cloze"),
    }  # fmt: skip
    for row in rows:
        assert row["error"] is None
        assert all(0 < p < 1 for p in row["probability"])
        assert row["mass"] == pytest.approx(sum(row["probability"]))
        assert row["logprob"] == pytest.approx([math.log(p) for p in row["probability"]])
        assert row["answer"] in ("agree", "disagree", None)


def test_run_json_records_what_was_chosen(undisturbed):
    about = json.loads((undisturbed / "run.json").read_text(encoding="utf-8"))
    for name, engine in (("base", "causal"), ("chat", "causal"), ("masked", "masked")):
        recorded = about["models"][name]
        assert (recorded["engine"], recorded["dtype"], recorded["device"]) == (engine, "float32", "cpu")
        assert recorded["revision"].startswith("sha256:")
        assert recorded["parameters"] > 1000
    assert about["sessions"][0]["versions"]["torch"] == torch.__version__


def rows_in(out: Path) -> int:
    return sum(pq.read_metadata(part).num_rows for part in (out / "responses").glob("part-*.parquet"))


def test_killed_and_gone_on_with_to_the_same_bits(tmp_path, items, models, undisturbed):
    out = tmp_path / "run"
    asked = 0
    for _ in range(2):
        process = apart.forked(main, arguments(items, models, out))
        process.start()
        while process.is_alive() and rows_in(out) == asked:
            time.sleep(0.01)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert asked < rows_in(out) < 3 * 2 * 160
        asked = rows_in(out)
    assert main(arguments(items, models, out)) == 0
    assert table_of(out).equals(table_of(undisturbed))


def test_preview_shows_real_tokens(items, models, capsys):
    names = [str(models / "chat"), str(models / "masked")]
    assert main(["preview", "agreement", "--items", str(items), "--device", "cpu", "--model", *names]) == 0
    shown = capsys.readouterr().out
    assert "<|user|>" in shown
    assert "I [MASK] with it." in shown
    assert shown.count("to come: 160 prompts, ") == 2
