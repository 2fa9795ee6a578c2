"""Test the keys and values that a pass keeps, against plain passes over every prompt alone."""

from __future__ import annotations

import pytest
import torch
from transformers.cache_utils import DynamicLayer

from helpers import tiny_models
from inference.engines.local.continuations import Continuations, NonStoringCacheLayer, Prefix
from inference.engines.local.last_position import OnePosition

PROMPTS = [[5, 6, 7, 8], [5, 6, 9], [5, 6, 10, 11, 12, 13]]


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "falcon_alibi", "gemma3"])
@torch.inference_mode()
def test_a_pass_that_nothing_follows_keeps_nothing(architecture: str) -> None:
    run_model = OnePosition(tiny_models.model(architecture, tiny_models.byte_tokenizer()))
    prefix = Prefix(PROMPTS[0][:2])
    for _ in range(2):  # the second batch finds the shared start as the first one left it
        asked = Continuations(run_model, PROMPTS, prefix, cached=True, forced=False)
        for path in ((), (20,)):
            found = asked.compute_next_logprobs(path)
            for prompt, row in zip(PROMPTS, found, strict=True):
                expected = run_model.model(torch.tensor([[*prompt, *path]])).logits[0, -1].log_softmax(-1)
                torch.testing.assert_close(row, expected, rtol=0, atol=2e-5)
        assert asked.cache is None
        assert {
            layer.keys.shape[-2] for layer in prefix.build_batch_cache(run_model.model, 1, DynamicLayer).layers
        } == {2}


def test_a_passing_layer_shows_what_a_growing_one_shows_and_stays_as_it_is() -> None:
    before, more = torch.rand(2, 1, 3, 5, 4), torch.rand(2, 1, 3, 2, 4)
    layers = []
    for kind in (DynamicLayer, NonStoringCacheLayer):
        layer = kind()
        layer.lazy_initialization(*before)
        layer.keys, layer.values = before
        layers.append(layer)
    growing, passing = layers
    for expected, found in zip(growing.update(*more), passing.update(*more), strict=True):
        assert torch.equal(expected, found)
    assert growing.get_seq_length() == 7 and passing.get_seq_length() == 5
    assert torch.equal(passing.keys, before[0]) and torch.equal(passing.values, before[1])
