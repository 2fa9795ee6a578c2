"""The ten planted false paraphrases of `--items demo-meaning` are found, and few true ones are lost."""

from __future__ import annotations

from collections import Counter

import pytest

from demo_training.entailment_pairs import PairWriter
from demo_training.taught_world import TaughtWorld
from demo_training.templates import fold_sentence
from ground.meaning.verdicts import ANOTHER, SAME
from inference.__main__ import main
from inference.demo import DEMO, ENTAILERS, MODELS
from inference.stimuli.items import DEMO_MEANING, read_and_check_items
from inference.stimuli.study import Variant

pytestmark = pytest.mark.slow
pytest.importorskip("torch")
pytest.importorskip("transformers")

(MODEL,) = ENTAILERS
SHEETS = [f"{name}={DEMO / f'sheet-{name}.csv'}" for name in ("careful", "careless")]


def list_verdicts(folder, *arguments) -> list[tuple[Variant, str]]:
    """Check the items as `make report` checks the run: every paraphrase and its verdict."""
    checks = ["--check", "words", f"entailment={ENTAILERS[MODEL].path}"]
    decoys = ["--decoys-file", str(DEMO / "decoys.csv")]
    assert main(["meaning", DEMO_MEANING, *checks, *decoys, *arguments, "--out", str(folder)]) == 0
    checked_items = read_and_check_items(str(folder / "items.jsonl"))
    return [(each, each.attributes["meaning"]) for item in checked_items for each in item.paraphrases]


def count_verdicts(verdicts) -> dict[bool, Counter]:
    """Count verdicts: whether planted -> how often each."""
    return {
        is_planted: Counter(verdict for each, verdict in verdicts if ("planted" in each.attributes) == is_planted)
        for is_planted in (False, True)
    }


def test_the_check_alone_finds_them(tmp_path, capsys):
    by_paraphrase = list_verdicts(tmp_path / "out")
    verdicts = count_verdicts(by_paraphrase)
    assert (verdicts[True].total(), verdicts[False].total()) == (10, 680)
    assert verdicts[True][ANOTHER] >= 8
    assert verdicts[False][ANOTHER] <= 0.05 * 680
    assert verdicts[True][SAME] == 0
    assert verdicts[False][SAME] >= 0.8 * 680
    lines = capsys.readouterr().out.splitlines()
    words, entailment = (next(line for line in lines if line.startswith(name)) for name in ("words: ", "entailment:"))
    assert "not used" in words  # the baseline: true paraphrases share fewer words with the original than decoys do
    assert MODEL in entailment and "used, the best" in entailment
    # The card says how many are in frames that the model has not read, and how it fares there.
    heldout = {fold_sentence(text) for texts in PairWriter(TaughtWorld()).heldout.values() for text in texts}
    passes = {True: [], False: []}
    for paraphrase, verdict in by_paraphrase:
        if "planted" not in paraphrase.attributes:
            passes[fold_sentence(paraphrase.text) in heldout].append(verdict == SAME)
    shares = {is_heldout: f"{100 * sum(same) / len(same):.0f} %" for is_heldout, same in passes.items()}
    card = (MODELS / "README.md").read_text(encoding="utf-8")
    assert f"`--items demo-meaning`, {len(passes[True])} are in held-out frames" in card
    assert f"{shares[False]} of those in frames that were read count as the same, and {shares[True]} of" in card


def test_with_the_sheets_of_two_annotators_too(tmp_path, capsys):
    verdicts = count_verdicts(list_verdicts(tmp_path / "out", "--sheet", *SHEETS))
    assert verdicts[True][ANOTHER] >= 8
    assert verdicts[False][ANOTHER] <= 0.05 * 680
    assert "(people) against" in capsys.readouterr().out
