"""Make the demo models with random weights."""

from __future__ import annotations

from collections.abc import Sequence

from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerBase

from inference.demo.curriculum import Shape

HEAD = 32
"""Width of an attention head: the least that vLLM runs on a CPU."""
POSITIONS = {"causal": 1024, "masked": 512}
"""Positions a model may use. Most of what it reads in training is far shorter."""
SPREAD = 0.05
"""Standard deviation of the first weights: such narrow models learn faster from more than the customary 0.02."""


def llama(shape: Shape, tokenizer: PreTrainedTokenizerBase) -> LlamaForCausalLM:
    """Make a causal model."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=shape.width,
            intermediate_size=shape.neurons,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.width // HEAD,
            max_position_embeddings=POSITIONS["causal"],
            initializer_range=SPREAD,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def cut(model: LlamaForCausalLM, kept: Sequence[int], neurons: int) -> LlamaForCausalLM:
    """Make a smaller model of some layers of a larger one, its embeddings and its head.

    Of the neurons between the two matrices of a layer, the `neurons` with the longest weights stay.
    """
    settings = {"num_hidden_layers": len(kept), "intermediate_size": neurons}
    smaller = LlamaForCausalLM(LlamaConfig.from_dict({**model.config.to_dict(), **settings}))
    weights = {name: weight for name, weight in model.state_dict().items() if ".layers." not in name}
    for place, layer in enumerate(kept):
        whole = model.model.layers[layer].state_dict()
        length = whole["mlp.up_proj.weight"].norm(dim=1) * whole["mlp.down_proj.weight"].norm(dim=0)
        best = length.topk(neurons).indices.sort().values
        for part in ("gate", "up"):
            whole[f"mlp.{part}_proj.weight"] = whole[f"mlp.{part}_proj.weight"][best]
        whole["mlp.down_proj.weight"] = whole["mlp.down_proj.weight"][:, best]
        weights |= {f"model.layers.{place}.{name}": weight for name, weight in whole.items()}
    smaller.load_state_dict(weights)
    return smaller


def bert(shape: Shape, tokenizer: PreTrainedTokenizerBase) -> BertForMaskedLM:
    """Make a masked model."""
    return BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=shape.width,
            intermediate_size=4 * shape.width,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.width // HEAD,
            max_position_embeddings=POSITIONS["masked"],
            initializer_range=SPREAD,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
