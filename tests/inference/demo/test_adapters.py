"""The adapter that comes with the demo models: a tuning on paraphrases that worked, learnt from no test question."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from inference import engines
from inference.demo import ADAPTERS, DEMO, FAMILY
from inference.demo.reworded import make_reworded_questions
from inference.demo.world import World
from inference.engines import adapters
from inference.engines.contract import Sampling
from inference.engines.digest import compute_sampled_checkpoint_digest
from inference.protocols import choice
from inference.protocols.choice.reading import build_columns_of_majority_choice
from inference.stimuli.reading.files import read_toml

pytestmark = pytest.mark.slow

FOLDER = ADAPTERS / "waver-demo-large-choice"
BASE = FAMILY["waver-demo-large"]


@pytest.fixture(scope="module")
def adapter() -> adapters.Adapter:
    return adapters.read_adapter_and_check_shapes(FOLDER)


def test_it_was_made_from_the_weights_that_are_shipped_with_the_settings_that_are(adapter):
    assert adapter.base == BASE.path.name and adapter.base_revision == compute_sampled_checkpoint_digest(BASE.path)
    changed = {key: value for table in read_toml(DEMO / "choice-tuning.toml").values() for key, value in table.items()}
    assert {key: adapter.settings[key] for key in changed if key != "target_modules"} == {
        key: value for key, value in changed.items() if key != "target_modules"}  # fmt: skip
    assert {path.name for path in Path(adapter.folder).iterdir()} == {
        adapters.CONFIG, adapters.WEIGHTS, adapters.RECORD, adapters.HISTORY}  # fmt: skip


def test_it_learnt_from_the_questions_of_its_two_splits_and_from_no_other(adapter):
    splits = [question.split for question in make_reworded_questions(World())]
    for split in ("train", "validation"):
        assert adapter.counts[split]["questions"] == splits.count(split)
        assert adapter.counts[f"{split} examples"] == 3 * adapter.counts[split]["used"]
    losses = [row["validation_loss"] for row in adapter.history if row["validation_loss"] is not None]
    assert losses[-1] < losses[0] / 4


def test_it_made_right_answers_hang_less_on_the_wording():
    """The positive control on every sixth test question in two orders; `bench_tune_choice.py` is the whole proof."""
    asked = [question for question in make_reworded_questions(World()) if question.split == "test"][::6]
    variants = [variant for item in choice.build_question_items(asked, 2, 0) for variant in item.variants]
    way = Sampling(max_tokens=20)
    accuracies = {}
    for kind, tuned in (
        ("base", None),
        ("base", adapters.read_adapter_and_check_shapes(FOLDER)),
        ("aware", adapters.read_adapter_and_check_shapes(FOLDER)),
    ):
        (round_,) = choice.Questions(choice.read_choice_prompts(), (kind,), ("text",), (way,)).rounds("plain")
        prompts = [round_.render(variant, None) for variant in variants]
        generated = engines.load_engine(str(BASE.path), device="cpu", adapter=tuned).generate(prompts, [way])[0]
        rows = [build_columns_of_majority_choice(*row) for row in zip(variants, prompts, generated, strict=True)]
        right = [
            {option.label: option.canonical for option in variant.options}.get(row["answer"]) == variant.gold
            for variant, row in zip(variants, rows, strict=True)
        ]
        accuracies[kind, tuned is not None] = np.reshape(right, (len(asked), 3, 2)).mean(axis=2)
    before = accuracies.pop(("base", False))
    assert before[:, 0].mean() > 0.97 and max(before[:, 1:].mean(axis=0)) < 0.75
    for after in accuracies.values():
        # -log2 of the mean standard deviation over wordings is XParaCon; the paired t of the deviations is above 2.
        change = before.std(axis=1) - after.std(axis=1)
        assert change.mean() / (change.std(ddof=1) / len(change) ** 0.5) > 2
        assert after.mean() > before.mean() - 0.02
