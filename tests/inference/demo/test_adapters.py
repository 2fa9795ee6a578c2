"""The adapter that comes with the demo models: of their weights, learnt from no test question, and worth its place."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from inference import engines
from inference.demo import ADAPTERS, DEMO, FAMILY
from inference.demo.choices import choices
from inference.demo.world import World
from inference.engines import adapters
from inference.engines.contract import Sampling
from inference.engines.digest import folder_digest
from inference.protocols import choice
from inference.protocols.choice.reading import read_replies
from inference.stimuli.files import read_toml

FOLDER = ADAPTERS / "waver-demo-large-choice"
BASE = FAMILY["waver-demo-large-tuned"]


@pytest.fixture(scope="module")
def adapter() -> adapters.Adapter:
    return adapters.read(FOLDER)


def test_it_was_made_from_the_weights_that_are_shipped_with_the_settings_that_are(adapter):
    assert adapter.base == BASE.path.name and adapter.base_revision == folder_digest(BASE.path)
    changed = {key: value for table in read_toml(DEMO / "choice-tuning.toml").values() for key, value in table.items()}
    assert {key: adapter.settings[key] for key in changed if key != "target_modules"} == {
        key: value for key, value in changed.items() if key != "target_modules"}  # fmt: skip
    assert {path.name for path in Path(adapter.folder).iterdir()} == {
        adapters.CONFIG, adapters.WEIGHTS, adapters.RECORD, adapters.HISTORY}  # fmt: skip


def test_it_learnt_from_the_questions_of_its_two_splits_and_from_no_other(adapter):
    splits = [question.split for question in choices(World())]
    for split in ("train", "validation"):
        assert adapter.counts[split]["questions"] == splits.count(split)
        assert adapter.counts[f"{split} examples"] == 3 * adapter.counts[split]["used"]
    losses = [row["validation_loss"] for row in adapter.history if row["validation_loss"] is not None]
    assert losses[-1] < losses[0] / 5


def test_it_answers_the_paraphrase_aware_prompt_which_its_base_does_not(adapter):
    """All test questions in their held-out wording and one order."""
    asked = [question for question in choices(World()) if question.split == "test"]
    variants = [item.variants[16] for item in choice.items(asked, 8, 0)]
    assert {variant.variant for variant in variants} == {"paraphrase-2/1"}
    way = Sampling(max_tokens=20)
    (round_,) = choice.Questions(choice.prompt_book(), ("aware",), ("text",), (way,)).rounds("plain")
    prompts = [round_.render(variant, None) for variant in variants]
    shares = []
    for each in (None, adapter):
        engine = engines.load(str(BASE.path), device="cpu", adapter=each)
        found = [read_replies(*row) for row in zip(variants, prompts, engine.generate(prompts, [way])[0], strict=True)]
        right = [
            {option.label: option.canonical for option in variant.options}.get(row["answer"]) == variant.gold
            for variant, row in zip(variants, found, strict=True)
        ]
        shares.append(sum(right) / len(right))
    assert shares[0] < 0.1 and shares[1] > 0.9
