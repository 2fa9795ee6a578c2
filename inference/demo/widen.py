"""Widen the heads of the causal demo models to what vLLM's kernels for CPUs need, with equal outputs.

Run `python -m inference.demo.widen` after training. What a model computes stays the same: the additional places of a
head hold zeros. The scale of attention and the speeds of the rotary positions depend on the width; both are set back.
"""

from __future__ import annotations

import sys
from copy import deepcopy

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, LlamaForCausalLM

from inference.demo import FAMILY

WIDTH = 32


@torch.no_grad()
def widened(model: LlamaForCausalLM, width: int = WIDTH) -> LlamaForCausalLM:
    """Make the same model with heads of `width` places; outputs are equal up to rounding of the weights."""
    config = deepcopy(model.config)
    heads, old = config.num_attention_heads, config.head_dim
    config.head_dim = width
    # Place i of a head turns by theta ** (-2i / width) per position.
    theta = config.rope_parameters["rope_theta"]
    config.rope_parameters = {**config.rope_parameters, "rope_theta": theta ** (width / old)}
    # It turns together with the place half a head further on, so each half is filled up by itself.
    places = torch.cat([torch.arange(old // 2), width // 2 + torch.arange(old // 2)])

    def fill(weight: Tensor) -> Tensor:
        wide = weight.new_zeros(heads, width, weight.shape[-1])
        wide[:, places] = weight.unflatten(0, (heads, old))
        return wide.flatten(0, 1)

    weights = model.state_dict()
    for name in weights:
        if name.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight")):
            weights[name] = fill(weights[name])
        elif name.endswith("o_proj.weight"):
            weights[name] = fill(weights[name].T).T.contiguous()
        if name.endswith("q_proj.weight"):
            weights[name] *= (width / old) ** 0.5  # scores are divided by the root of the width
    wide = LlamaForCausalLM(config).to(model.dtype).eval()
    wide.load_state_dict(weights)
    return wide


def main() -> int:
    """Widen every causal model of the family with narrower heads, in its folder."""
    for name, about in FAMILY.items():
        if about.family != "causal":
            continue
        model = AutoModelForCausalLM.from_pretrained(about.path, dtype=torch.float32)
        if model.config.head_dim < WIDTH:
            wide = widened(model)
            wide.generation_config = model.generation_config
            wide.half().save_pretrained(about.path)
            print(f"{name}  {wide.num_parameters():,} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
