"""The ten planted false paraphrases of `--items demo-meaning` are found, and few true ones are lost."""

from __future__ import annotations

from collections import Counter

import pytest

from ground.meaning.verdicts import ANOTHER, SAME
from inference.__main__ import main
from inference.demo import DEMO, ENTAILERS
from inference.stimuli.items import DEMO_MEANING, read_items

pytestmark = pytest.mark.slow
pytest.importorskip("torch")
pytest.importorskip("transformers")

(MODEL,) = ENTAILERS
SHEETS = [f"{name}={DEMO / f'sheet-{name}.csv'}" for name in ("careful", "careless")]


def count_verdicts(folder, *arguments) -> dict[bool, Counter]:
    """Check the items as `make report` checks the run: whether planted -> how often each verdict."""
    checks = ["--check", "words", f"entailment={ENTAILERS[MODEL].path}"]
    decoys = ["--decoys-file", str(DEMO / "decoys.csv")]
    assert main(["meaning", DEMO_MEANING, *checks, *decoys, *arguments, "--out", str(folder)]) == 0
    verdicts = {False: Counter(), True: Counter()}
    for item in read_items(str(folder / "items.jsonl")):
        for paraphrase in item.paraphrases:
            verdicts["planted" in paraphrase.attributes][paraphrase.attributes["meaning"]] += 1
    return verdicts


def test_the_check_alone_finds_them(tmp_path, capsys):
    verdicts = count_verdicts(tmp_path / "out")
    assert (verdicts[True].total(), verdicts[False].total()) == (10, 680)
    assert verdicts[True][ANOTHER] >= 8
    assert verdicts[False][ANOTHER] <= 0.05 * 680
    assert verdicts[True][SAME] == 0
    assert verdicts[False][SAME] >= 0.8 * 680
    lines = capsys.readouterr().out.splitlines()
    words, entailment = (next(line for line in lines if line.startswith(name)) for name in ("words: ", "entailment:"))
    assert "not used" in words  # the baseline: true paraphrases share fewer words with the original than decoys do
    assert MODEL in entailment and "used, the best" in entailment


def test_with_the_sheets_of_two_annotators_too(tmp_path, capsys):
    verdicts = count_verdicts(tmp_path / "out", "--sheet", *SHEETS)
    assert verdicts[True][ANOTHER] >= 8
    assert verdicts[False][ANOTHER] <= 0.05 * 680
    assert "(people) against" in capsys.readouterr().out
