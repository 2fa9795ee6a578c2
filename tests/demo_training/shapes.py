"""Make the demo models with random weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    ModernBertConfig,
    ModernBertForMaskedLM,
    PreTrainedTokenizerBase,
)

from demo_training.curriculum import ModelShape

HEAD_WIDTH = 32
"""Width of an attention head: the least that vLLM runs on a CPU."""
POSITIONS = {"causal": 1024, "masked": 512}
"""Positions a model may use. Most of what it reads in training is far shorter."""
WEIGHT_SPREAD = 0.05
"""Standard deviation of the first weights: such narrow models learn faster from more than the customary 0.02."""


def build_llama(shape: ModelShape, tokenizer: PreTrainedTokenizerBase) -> LlamaForCausalLM:
    """Make a causal model.

    Parameters
    ----------
    shape
        Its layers and widths.
    tokenizer
        Says how many tokens it knows, and which are special.

    Returns
    -------
    The model, with random weights.
    """
    heads = shape.heads or shape.width // HEAD_WIDTH
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=shape.width,
            intermediate_size=shape.neurons,
            num_hidden_layers=shape.layers,
            num_attention_heads=heads,
            num_key_value_heads=shape.key_heads or heads,
            head_dim=HEAD_WIDTH,
            max_position_embeddings=POSITIONS["causal"],
            initializer_range=WEIGHT_SPREAD,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def cut_model(model: LlamaForCausalLM, kept_layers: Sequence[int], neurons: int) -> LlamaForCausalLM:
    """Make a smaller model of some layers of a larger one, its embeddings and its head.

    Parameters
    ----------
    model
        The larger model.
    kept_layers
        Places of the layers that are taken.
    neurons
        Neurons between the two matrices of a layer that stay: those with the longest weights.

    Returns
    -------
    The smaller model.
    """
    settings = {"num_hidden_layers": len(kept_layers), "intermediate_size": neurons}
    smaller = LlamaForCausalLM(LlamaConfig.from_dict({**model.config.to_dict(), **settings}))
    weights = {name: weight for name, weight in model.state_dict().items() if ".layers." not in name}
    for place, layer in enumerate(kept_layers):
        layer_weights = model.model.layers[layer].state_dict()
        length = layer_weights["mlp.up_proj.weight"].norm(dim=1) * layer_weights["mlp.down_proj.weight"].norm(dim=0)
        # Sorted, so that the neurons that stay keep their order: if 5 is the longest, then 0, then 3, they are 0, 3, 5.
        best = length.topk(neurons).indices.sort().values
        for part in ("gate", "up"):
            layer_weights[f"mlp.{part}_proj.weight"] = layer_weights[f"mlp.{part}_proj.weight"][best]
        layer_weights["mlp.down_proj.weight"] = layer_weights["mlp.down_proj.weight"][:, best]
        weights |= {f"model.layers.{place}.{name}": weight for name, weight in layer_weights.items()}
    smaller.load_state_dict(weights)
    return smaller


def build_modern_bert(shape: ModelShape, tokenizer: PreTrainedTokenizerBase) -> ModernBertForMaskedLM:
    """Make a masked model that computes as the causal ones do, but sees both ways.

    Parameters
    ----------
    shape, tokenizer
        As in `build_llama`.

    Returns
    -------
    The model, with random weights.
    """
    turning = {"rope_type": "default", "rope_theta": 10_000.0}
    return ModernBertForMaskedLM(
        ModernBertConfig(
            vocab_size=len(tokenizer),
            hidden_size=shape.width,
            intermediate_size=shape.neurons,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.width // HEAD_WIDTH,
            max_position_embeddings=POSITIONS["masked"],
            initializer_range=WEIGHT_SPREAD,
            hidden_activation="silu",
            classifier_activation="linear",
            layer_types=["full_attention"] * shape.layers,
            rope_parameters={"full_attention": turning, "sliding_attention": turning},
            pad_token_id=tokenizer.pad_token_id,
            cls_token_id=tokenizer.cls_token_id,
            sep_token_id=tokenizer.sep_token_id,
            bos_token_id=None,
            eos_token_id=None,
        )
    )


@torch.no_grad()
def copy_causal_weights(
    causal: LlamaForCausalLM, masked: ModernBertForMaskedLM, causal_id_by_masked: Mapping[int, int]
) -> None:
    """Let a masked model begin with the weights of a causal one of its shape, as far as the two compute the same.

    Parameters
    ----------
    causal
        The model that gives its weights.
    masked
        The model whose weights are replaced, in place.
    causal_id_by_masked
        Token of the masked model -> token of the causal one, for all that both know.
    """
    weights = masked.state_dict()
    words = causal.get_input_embeddings().weight.detach()
    masked_ids, causal_ids = list(causal_id_by_masked), list(causal_id_by_masked.values())
    weights["model.embeddings.tok_embeddings.weight"][masked_ids] = words[causal_ids]
    # The masked model norms the words themselves, and not again before its first layer.
    length = words.square().mean(dim=1).sqrt().mean()
    weights["model.embeddings.norm.weight"].fill_(length)
    for place, layer in enumerate(causal.model.layers):
        layer_prefix, attention = f"model.layers.{place}.", layer.self_attn
        # ModernBERT has one matrix for queries, keys and values: its first third of rows makes the queries.
        attention_weights = torch.cat([part.weight for part in (attention.q_proj, attention.k_proj, attention.v_proj)])
        if place:
            weights[f"{layer_prefix}attn_norm.weight"].copy_(layer.input_layernorm.weight)
        else:
            attention_weights = attention_weights * layer.input_layernorm.weight / length
        weights[f"{layer_prefix}attn.Wqkv.weight"].copy_(attention_weights)
        weights[f"{layer_prefix}attn.Wo.weight"].copy_(attention.o_proj.weight)
        weights[f"{layer_prefix}mlp_norm.weight"].copy_(layer.post_attention_layernorm.weight)
        weights[f"{layer_prefix}mlp.Wi.weight"].copy_(torch.cat([layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight]))
        weights[f"{layer_prefix}mlp.Wo.weight"].copy_(layer.mlp.down_proj.weight)
    weights["head.dense.weight"].copy_(torch.eye(len(words[0])))
    weights["head.norm.weight"].copy_(causal.model.norm.weight)
