"""Real, tiny models: classifiers with their classes in odd order, without names, changed; and embeddings."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from ground.errors import InputError
from helpers.meaning_checks import STATEMENTS, call_meaning, rows_of, write_statements

pytestmark = pytest.mark.slow

ODD = ("contradiction", "entailment", "neutral")
TEXTS = STATEMENTS["tea"][:2]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    """A classifier of random weights with three classes."""
    from transformers import AutoModelForSequenceClassification

    from helpers import tiny_models

    folder = tmp_path_factory.mktemp("nli") / "nli"
    tokenizer = tiny_models.wordpiece_tokenizer(segments=True)
    model = tiny_models.model("bert", tokenizer, auto=AutoModelForSequenceClassification, num_labels=3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def name_classes(checkpoint: Path, folder: Path, *names: str) -> Path:
    """Copy the classifier, with classes of these names."""
    shutil.copytree(checkpoint, folder)
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {str(place): name for place, name in enumerate(names)}
    config["label2id"] = {name: place for place, name in enumerate(names)}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def score(tmp_path: Path, model: Path, *words: str) -> float:
    """The score of the first paraphrase about tea."""
    source, out = tmp_path / "items.csv", tmp_path / "out"
    if not source.exists():
        write_statements(source, {"tea": TEXTS})
    call_meaning(source, "--check", f"entailment=m={model}", *words, "--out", out)
    return rows_of(out / "meaning.parquet", "entailment:m")["tea", "paraphrase-001"]["score"]


def slow_score(model: Path, place: int) -> float:
    """Reference: transformers itself, one pair at a time; the smaller probability of the class in this place."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    loaded, tokenizer = AutoModelForSequenceClassification.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    with torch.inference_mode():
        logits = [loaded(**tokenizer(*pair, return_tensors="pt")).logits[0] for pair in (TEXTS, TEXTS[::-1])]
    return min(float(row.double().softmax(-1)[place]) for row in logits)


@pytest.mark.parametrize("names", [ODD, ("Neutral", "CONTRADICTION", "Entailment"), (*ODD[::-1],)])
def test_classes_in_any_order_are_read_by_their_names(checkpoint, tmp_path, names):
    """Tolerance 5e-6: the model computes in float32 and in batches."""
    place = [name.casefold() for name in names].index("entailment")
    model = name_classes(checkpoint, tmp_path / "m", *names)
    assert score(tmp_path, model) == pytest.approx(slow_score(model, place), abs=5e-6)


@pytest.mark.parametrize("names", [("LABEL_0", "LABEL_1", "LABEL_2"), ("e", "c", "n")])
def test_classes_without_names_are_refused_until_the_user_names_them(checkpoint, tmp_path, names):
    model = name_classes(checkpoint, tmp_path / "m", *names)
    with pytest.raises(InputError, match=rf"{', '.join(names)}, which are not entailment.*--labels"):
        score(tmp_path, model)
    assert not (tmp_path / "out").exists()
    first = score(tmp_path, model, "--labels", "entailment,neutral,contradiction")
    assert first == pytest.approx(slow_score(model, 0), abs=5e-6)
    # Other names for them are other answers; nothing of the first call counts.
    second = score(tmp_path, model, "--labels", "neutral, Contradiction,entailment")
    assert second == pytest.approx(slow_score(model, 2), abs=5e-6)
    with pytest.raises(InputError, match="--labels"):
        score(tmp_path, model)


def test_names_of_the_user_never_contradict_those_of_the_model(checkpoint, tmp_path):
    model = name_classes(checkpoint, tmp_path / "m", *ODD)
    with pytest.raises(InputError, match=f"calls its classes {', '.join(ODD)}"):
        score(tmp_path, model, "--labels", "entailment,neutral,contradiction")
    assert score(tmp_path, model, "--labels", ",".join(ODD)) == pytest.approx(slow_score(model, 1), abs=5e-6)


def test_two_classes_do_not_do(checkpoint, tmp_path):
    from transformers import AutoModelForSequenceClassification

    from helpers import tiny_models

    tokenizer = tiny_models.wordpiece_tokenizer(segments=True)
    model = tiny_models.model(
        "bert", tokenizer, auto=AutoModelForSequenceClassification, id2label={0: "entailment", 1: "not_entailment"}
    )
    model.save_pretrained(tmp_path / "two")
    tokenizer.save_pretrained(tmp_path / "two")
    with pytest.raises(InputError, match="entailment, not_entailment, which are not"):
        score(tmp_path, tmp_path / "two")
    with pytest.raises(InputError, match="it has 2 classes"):
        score(tmp_path, tmp_path / "two", "--labels", "entailment,neutral,contradiction")


def test_another_revision_is_asked_again(checkpoint, tmp_path, capsys):
    """A folder with other weights: the digest tells, and nothing of the old ones counts."""
    import safetensors.torch

    model = name_classes(checkpoint, tmp_path / "m", *ODD)
    first = score(tmp_path, model)
    capsys.readouterr()
    assert score(tmp_path, model) == first
    assert re.search(r"m: (\d) different pairs of texts, \1 of them read before", capsys.readouterr().err)
    weights = safetensors.torch.load_file(model / "model.safetensors")
    weights["classifier.weight"] = -weights["classifier.weight"]
    safetensors.torch.save_file(weights, model / "model.safetensors", {"format": "pt"})
    assert score(tmp_path, model) == pytest.approx(slow_score(model, 1), abs=5e-6) != first
    assert "0 of them read before" in capsys.readouterr().err


def test_a_masked_and_a_causal_model_are_asked_by_the_prompts_of_entailment(tmp_path):
    from inference.demo import MODELS

    write_statements(tmp_path / "items.csv", {"tea": TEXTS})
    for name in ("waver-demo-bert", "waver-demo-mini-tuned"):
        value = score(tmp_path, MODELS / name)
        assert 0 < value < 1


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """Random embeddings: the mean over tokens."""
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    from helpers import tiny_models

    folder = tmp_path_factory.mktemp("encoder")
    tiny_models.checkpoint(folder / "bert", "bert")
    SentenceTransformer(modules=[Transformer(str(folder / "bert")), Pooling(32)]).save(str(folder / "st"))
    return folder / "st"


def test_cosines_are_those_of_the_library_and_computed_once(encoder, tmp_path, monkeypatch):
    """Reference: the library's own `encode`, text by text; tolerance 1e-5 (float32, padding)."""
    from sentence_transformers import SentenceTransformer

    from inference.meaning import similarity

    source = write_statements(tmp_path / "items.csv")
    monkeypatch.setattr(similarity, "SAVED_EVERY", 3)
    call_meaning(source, "--check", f"similarity={encoder}", "--out", tmp_path / "out")
    rows = rows_of(tmp_path / "out" / "meaning.parquet", "similarity:st")
    model = SentenceTransformer(str(encoder))
    for item, texts in STATEMENTS.items():
        one, *others = model.encode(list(texts), normalize_embeddings=True, batch_size=1)
        scores = [rows[item, f"paraphrase-{n:03d}"]["score"] for n in range(1, len(texts))]
        np.testing.assert_allclose(scores, [float(one @ other) for other in others], atol=1e-5)
    assert len(list((tmp_path / "out" / "meaning").glob("similarity-*.parquet"))) > 1  # kept as it goes

    def refuse(*_: object) -> None:
        raise AssertionError("nothing is left to compute")

    monkeypatch.setattr(similarity, "Meaning", refuse)
    call_meaning(source, "--check", f"similarity={encoder}", "--out", tmp_path / "out")
    assert rows_of(tmp_path / "out" / "meaning.parquet", "similarity:st") == rows


def test_published_paraphrases_are_parted_from_their_decoys_as_scikit_learn_says(shared, tmp_path, capsys):
    """Reference: `roc_auc_score` on the scores as written; tolerance 1e-12. The model is told what belongs together."""
    import hashlib

    import pandas as pd
    import pyarrow.parquet as pq
    from sklearn.metrics import roc_auc_score

    from helpers.meaning_checks import TellingModel

    file = shared / "political-compass-paraphrases" / "paraphrases_gpt3.5-turbo_temp1.json"
    entries = json.loads(file.read_text(encoding="utf-8"))
    statements = {
        str(e["id"]): (e["original_statement"], *dict.fromkeys(e["alternative_statements"][:4])) for e in entries
    }
    rows = [{"item": item, "text": text, "paraphrases": others} for item, (text, *others) in statements.items()]
    (tmp_path / "items.json").write_text(json.dumps(rows), encoding="utf-8")
    item_by_text = {text: item for item, texts in statements.items() for text in texts}

    def says(first: str, second: str) -> float:
        noise = hashlib.sha256(f"{first}\0{second}".encode()).digest()[0] / 256
        return 0.3 + 0.5 * noise if item_by_text.get(first, 1) == item_by_text.get(second, 2) else 0.5 * noise

    checks = ("--check", "words", "entailment=m=owner/m", "--out", tmp_path / "out")
    call_meaning(tmp_path / "items.json", *checks, load=lambda model, seed: TellingModel(says, size=64))
    table = pd.read_parquet(tmp_path / "out" / "meaning.parquet")
    thresholds = json.loads(pq.read_schema(tmp_path / "out" / "meaning.parquet").metadata[b"waver"])["thresholds"]
    for check, scores in table.groupby("check"):
        assert scores.loc[scores["decoy"].notna(), "item"].nunique() == 62  # decoys for all statements
        expected = roc_auc_score(scores["decoy"].isna(), scores["score"])
        assert thresholds[check]["auc"] == pytest.approx(expected, abs=1e-12)
    assert not thresholds["words"]["used"] and thresholds["entailment:m"]["best"]  # shared words are fooled by a "not"
    decoys = table[table["decoy"].notna() & (table["check"] == "entailment:m")]
    assert (decoys["score"] >= thresholds["entailment:m"]["threshold"]).mean() <= 0.05


def test_the_table_does_not_tell_whether_a_session_was_killed(tmp_path):
    """A killed session does not count the paths that it left out in run.json: the table has no count."""
    from inference.demo import MODELS

    write_statements(tmp_path / "items.csv", {"tea": TEXTS})
    check = f"judge=m={MODELS / 'waver-demo-small-tuned'}"
    call = (tmp_path / "items.csv", "--check", check, "--out", tmp_path / "out")
    call_meaning(*call)
    table = tmp_path / "out" / "meaning.parquet"
    undisturbed = table.read_bytes()
    (run_json,) = tmp_path.rglob("run.json")
    record = json.loads(run_json.read_text())
    *parts, entry = record["models"]["m"]["shortcuts"]
    assert entry["name"] == "paths left out"
    record["models"]["m"]["shortcuts"] = parts
    run_json.write_text(json.dumps(record))
    call_meaning(*call)
    assert table.read_bytes() == undisturbed
