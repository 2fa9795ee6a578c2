"""Wider heads change what a model computes by no more than float32 rounding, and what is shipped has them."""

from __future__ import annotations

import pytest

from inference.demo import FAMILY

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from inference.demo.widen import WIDTH, widened  # noqa: E402


@pytest.mark.parametrize(("heads", "width"), [(4, 32), (2, 24)])
def test_wider_heads_give_the_same_probabilities_at_every_position(heads, width):
    torch.manual_seed(1)
    narrow = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=heads,
            max_position_embeddings=256, initializer_range=0.3,
        )
    ).eval()  # fmt: skip
    wide = widened(narrow, width)
    assert wide.config.head_dim == width > narrow.config.head_dim
    ids = torch.randint(300, (3, 200))
    with torch.inference_mode():
        expected, found = (model(ids).logits.softmax(-1) for model in (narrow, wide))
    # Far from uniform, so that attention counts; phases of late positions carry some 1e-5 of rounding.
    assert expected.max() > 0.5
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_every_causal_model_that_is_shipped_has_heads_that_vllm_runs_on_a_cpu():
    for about in FAMILY.values():
        if about.family == "causal":
            assert transformers.AutoConfig.from_pretrained(about.path).head_dim == WIDTH
