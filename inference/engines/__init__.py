"""Engines ask a model: prompts in, exact option probabilities out.

This file holds the contract and the registry; every engine lives in a file of its own. Nothing heavy is
imported before `load` is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from inference.errors import InputError

if TYPE_CHECKING:
    from inference.prompts import Prompt

ENGINES = ("causal", "masked")


@dataclass(frozen=True, slots=True)
class Score:
    """What a model answered to one prompt.

    Attributes
    ----------
    probability
        Per option, in the order of the stimuli, its exact mass under the full-vocabulary softmax (0-1): the
        sum over its distinct surface-form token sequences. Not renormalised.
    logprob
        Natural logarithm of the same.
    mass
        Sum of `probability`: the share of the model's belief that lies on any option at all.
    answer
        Index of the option that owns the most probable next token of the whole vocabulary. None: that token
        begins no option, so the model would have said something else.
    error
        Why there is no response. The other fields are empty then.
    """

    probability: tuple[float, ...] = ()
    logprob: tuple[float, ...] = ()
    mass: float | None = None
    answer: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """How an engine reads one prompt, for `preview`.

    Attributes
    ----------
    text
        The rendered prompt as the tokenizer gets it.
    n_tokens
        Its length in tokens, special tokens included.
    options
        Per option the surface forms that count, each with its token ids in this context. Forms that come to
        the same ids are all listed; their mass is counted once.
    dropped
        (option index, form, reason) of every form that cannot count here.
    score
        The model's response.
    """

    text: str
    n_tokens: int
    options: tuple[tuple[tuple[str, tuple[int, ...]], ...], ...]
    dropped: tuple[tuple[int, str, str], ...]
    score: Score


class Engine(Protocol):
    """One loaded model, ready to be asked."""

    info: dict[str, Any]  # what run.json records of the model: engine, revision, dtype, device, parameters, ...
    mask_token: str | None  # what a cloze prompt must contain once; None where the model has none

    def form(self, requested: str) -> str:
        """Prompt form to use: "plain", "chat" or "cloze"; "auto" is resolved.

        Raises
        ------
        InputError
            The model cannot be asked in the requested form.
        """

    def lengths(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens of every prompt, special tokens included."""

    def batches(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Partition all prompts of one model and condition into forward batches (indices into `prompts`).

        Deterministic, and always to be called with the whole list before the first `score`, also where a part
        of it is answered already: then a resumed run computes its remaining batches bit by bit as an
        undisturbed one would.
        """

    def score(self, prompts: Sequence[Prompt]) -> list[Score]:
        """Ask one batch. It is halved as often as memory demands."""

    def explain(self, prompt: Prompt) -> Explanation:
        """Show how one prompt is rendered, tokenised and answered."""


def load(
    model: str,
    *,
    engine: str = "auto",
    dtype: str = "auto",
    device: str = "auto",
    revision: str | None = None,
    seed: int = 0,
    batch_size: int | None = None,
) -> Engine:
    """Load a model and the engine that can ask it.

    Parameters
    ----------
    model
        Folder of a transformers checkpoint with safetensors weights, or a hub id.
    engine
        "causal", "masked", or "auto": what the checkpoint's architecture says.
    dtype
        "float32", "bfloat16", "float16", or "auto": float32 on a CPU; on an accelerator float32 for a float32
        checkpoint, bfloat16 for any other.
    device
        "cpu", "cuda", "cuda:1", "mps", ..., or "auto": a CUDA device where there is one, else the CPU.
    revision
        Branch, tag or commit of a hub model.
    seed
        Seed of torch's generators. Scoring draws no random number; sampling engines do.
    batch_size
        Prompts per forward pass; None chooses by prompt length and device.

    Raises
    ------
    InputError
        Unknown setting, no model there, weights that are missing, incomplete or pickled, or an architecture no
        engine can ask.
    """
    if engine != "auto" and engine not in ENGINES:
        raise InputError(f"unknown engine '{engine}': choose auto, {' or '.join(ENGINES)}")
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch size {batch_size}: give a number of prompts, 1 or more")

    from inference.engines.loading import load_checkpoint  # torch and transformers take seconds to import

    loaded = load_checkpoint(model, engine=engine, dtype=dtype, device=device, revision=revision, seed=seed)
    if loaded.info["engine"] == "causal":
        from inference.engines.causal import CausalEngine

        return CausalEngine(loaded, batch_size)
    from inference.engines.masked import MaskedEngine

    return MaskedEngine(loaded, batch_size)


__all__ = ["ENGINES", "Engine", "Explanation", "Score", "load"]
