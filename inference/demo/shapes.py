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

from inference.demo.curriculum import Shape

HEAD = 32
"""Width of an attention head: the least that vLLM runs on a CPU."""
POSITIONS = {"causal": 1024, "masked": 512}
"""Positions a model may use. Most of what it reads in training is far shorter."""
SPREAD = 0.05
"""Standard deviation of the first weights: such narrow models learn faster from more than the customary 0.02."""


def llama(shape: Shape, tokenizer: PreTrainedTokenizerBase) -> LlamaForCausalLM:
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

    Parameters
    ----------
    model
        The larger model.
    kept
        Places of the layers that are taken.
    neurons
        Neurons between the two matrices of a layer that stay: those with the longest weights.

    Returns
    -------
    The smaller model.
    """
    settings = {"num_hidden_layers": len(kept), "intermediate_size": neurons}
    smaller = LlamaForCausalLM(LlamaConfig.from_dict({**model.config.to_dict(), **settings}))
    weights = {name: weight for name, weight in model.state_dict().items() if ".layers." not in name}
    for place, layer in enumerate(kept):
        whole = model.model.layers[layer].state_dict()
        length = whole["mlp.up_proj.weight"].norm(dim=1) * whole["mlp.down_proj.weight"].norm(dim=0)
        # Sorted, so that the neurons that stay keep their order: if 5 is the longest, then 0, then 3, they are 0, 3, 5.
        best = length.topk(neurons).indices.sort().values
        for part in ("gate", "up"):
            whole[f"mlp.{part}_proj.weight"] = whole[f"mlp.{part}_proj.weight"][best]
        whole["mlp.down_proj.weight"] = whole["mlp.down_proj.weight"][:, best]
        weights |= {f"model.layers.{place}.{name}": weight for name, weight in whole.items()}
    smaller.load_state_dict(weights)
    return smaller


def modern_bert(shape: Shape, tokenizer: PreTrainedTokenizerBase) -> ModernBertForMaskedLM:
    """Make a masked model that computes as the causal ones do, but sees both ways.

    Parameters
    ----------
    shape, tokenizer
        As in `llama`.

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
            num_attention_heads=shape.width // HEAD,
            max_position_embeddings=POSITIONS["masked"],
            initializer_range=SPREAD,
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
def see_both_ways(causal: LlamaForCausalLM, masked: ModernBertForMaskedLM, same: Mapping[int, int]) -> None:
    """Let a masked model begin with the weights of a causal one of its shape, as far as the two compute the same.

    Parameters
    ----------
    causal
        The model that gives its weights.
    masked
        The model whose weights are replaced, in place.
    same
        Token of the masked model -> token of the causal one, for all that both know.
    """
    weights = masked.state_dict()
    words = causal.get_input_embeddings().weight.detach()
    ours, theirs = list(same), list(same.values())
    weights["model.embeddings.tok_embeddings.weight"][ours] = words[theirs]
    # The masked model norms the words themselves, and not again before its first layer.
    length = words.square().mean(dim=1).sqrt().mean()
    weights["model.embeddings.norm.weight"].fill_(length)
    for place, layer in enumerate(causal.model.layers):
        own, attention = f"model.layers.{place}.", layer.self_attn
        # ModernBERT has one matrix for queries, keys and values: its first third of rows makes the queries.
        three = torch.cat([part.weight for part in (attention.q_proj, attention.k_proj, attention.v_proj)])
        if place:
            weights[f"{own}attn_norm.weight"].copy_(layer.input_layernorm.weight)
        else:
            three = three * layer.input_layernorm.weight / length
        weights[f"{own}attn.Wqkv.weight"].copy_(three)
        weights[f"{own}attn.Wo.weight"].copy_(attention.o_proj.weight)
        weights[f"{own}mlp_norm.weight"].copy_(layer.post_attention_layernorm.weight)
        weights[f"{own}mlp.Wi.weight"].copy_(torch.cat([layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight]))
        weights[f"{own}mlp.Wo.weight"].copy_(layer.mlp.down_proj.weight)
    weights["head.dense.weight"].copy_(torch.eye(len(words[0])))
    weights["head.norm.weight"].copy_(causal.model.norm.weight)
