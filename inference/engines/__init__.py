"""Engines ask a model: prompts in, exact option probabilities out.

This file holds the contract and the registry; every engine lives in a file of its own. Nothing heavy is
imported before `load` is called.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from inference.errors import InputError

if TYPE_CHECKING:
    from inference.engines.openai.settings import ApiSettings
    from inference.stimuli.prompts import Prompt

ENGINES = {"causal": "causal", "masked": "masked", "vllm": "causal", "openai": "causal"}
"""Every engine, and the family of models that it asks."""
NO_NUMBERS = "engine openai cannot see the probability of every number: sample them, leave --exact out"


@dataclass(frozen=True, slots=True)
class Score:
    """What a model answered to one prompt.

    Attributes
    ----------
    probability
        Per option, in the order of the stimuli, its exact mass under the full-vocabulary softmax (0-1): the
        sum over its distinct surface-form token sequences. Not renormalised. Of a prompt that asks for a number: the
        same per number of the scale.
    logprob
        Natural logarithm of the same; empty where `probability` holds bounds.
    mass
        Sum of `probability`: the share of the model's belief that lies on any option at all.
    answer
        Index of the option that owns the most probable next token of the whole vocabulary. None: that token
        begins no option, so the model would have said something else. Of a prompt that asks for a number: index of
        the likeliest one.
    error
        Why there is no response. The other fields are empty then.
    mass_upper
        Upper bound of the mass where a server shows only the most probable tokens; `probability`, `logprob` and
        `mass` are lower bounds then. None where the numbers are exact.
    """

    probability: tuple[float, ...] = ()
    logprob: tuple[float, ...] = ()
    mass: float | None = None
    answer: int | None = None
    error: str | None = None
    mass_upper: float | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """How texts are generated: `samples` of at most `max_tokens` tokens; temperature 0 takes the likeliest token.

    The random numbers of a prompt follow from the engine's seed and its own text, so its samples do not depend on
    which other prompts it is asked with. `effort` says how hard a thinking model is to think (`reasoning_effort` of
    its chat template or server).

    Raises
    ------
    InputError
        For no samples, a negative temperature, several samples at temperature 0, or no tokens.
    """

    samples: int = 1
    temperature: float = 0.0
    max_tokens: int = 32
    effort: str | None = None

    def __post_init__(self) -> None:
        if self.samples < 1 or self.max_tokens < 1:
            raise InputError(f"{self.samples} samples of {self.max_tokens} tokens: ask for at least one of each")
        if not 0 <= self.temperature < math.inf:
            raise InputError(f"temperature {self.temperature}: give a number, 0 or more")
        if self.temperature == 0 and self.samples > 1:
            raise InputError(
                f"{self.samples} samples at temperature 0 are {self.samples} times the same text: ask for 1"
            )


@dataclass(frozen=True, slots=True)
class Generation:
    """What a model wrote behind one prompt.

    Attributes
    ----------
    texts
        The samples as written, special tokens left out.
    answers
        Per sample the part that counts as the answer: the whole text, or what follows the end of thinking (None: the
        tokens ran out before the thinking ended).
    error
        Why there is no response. The other fields are empty then.
    """

    texts: tuple[str, ...] = ()
    answers: tuple[str | None, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Thought:
    """What a model thought behind one prompt, and its option probabilities behind the end of that.

    Attributes
    ----------
    text
        What it wrote, special tokens left out: the thinking, and the answer that it went on to.
    score
        Option probabilities where the thinking ended, behind the line breaks that the model wrote there. None: the
        tokens ran out before.
    error
        Why there is no response. The other fields are empty then.
    """

    text: str = ""
    score: Score | None = None
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
        Per option (or number) the surface forms that count, each with its token ids in this context. Forms that come
        to the same ids are all listed; their mass is counted once.
    dropped
        (option index, form, reason) of every form that cannot count here.
    score
        The model's response.
    numbers
        The scale, where the prompt asks for a number.
    """

    text: str
    n_tokens: int
    options: tuple[tuple[tuple[str, tuple[int, ...]], ...], ...]
    dropped: tuple[tuple[int, str, str], ...]
    score: Score
    numbers: range | None = None


@dataclass(frozen=True, slots=True)
class VllmSettings:
    """What only the engine `vllm` takes.

    Attributes
    ----------
    lora
        Folder of a LoRA adapter, as peft writes it.
    tensor_parallel_size
        GPUs over which the weights are spread.
    quantization
        vLLM's name of a method; None: what the checkpoint says.
    gpu_memory_utilization
        Share of a GPU's memory that vLLM may take.
    """

    lora: str | None = None
    tensor_parallel_size: int = 1
    quantization: str | None = None
    gpu_memory_utilization: float = 0.9


class Engine(Protocol):
    """One loaded model, ready to be asked."""

    info: dict[str, Any]  # what run.json records of the model: engine, revision, dtype, device, parameters, thinks ...
    mask_token: str | None  # what a cloze prompt must contain once; None where the model has none
    alone: bool  # whether no prompt's answer depends on its batch: a resumed run then asks only what is missing

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

    def score(self, prompts: Sequence[Prompt], temperatures: Sequence[float] = (1.0,)) -> list[list[Score]]:
        """Option probabilities of one batch: per temperature a list with one score per prompt.

        A temperature divides the full-vocabulary logits of every step. The batch is halved as often as memory demands.

        Raises
        ------
        InputError
            The engine sees probabilities at one temperature only, or cannot score the numbers that a prompt asks for.
        """

    def generate(self, prompts: Sequence[Prompt], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """Texts behind one batch: per sampling a list with one generation per prompt; the prompts are computed once.

        Raises
        ------
        InputError
            The model writes no text.
        """

    def think(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Thought]:
        """Let the model think behind one batch, at most `max_tokens`, and score the options where its thinking ends.

        Raises
        ------
        InputError
            The model writes no text, or the engine cannot go on from a text of the model's own.
        """

    def explain(self, prompt: Prompt) -> Explanation:
        """Show how one prompt is rendered, tokenised and answered."""

    def bill(self, tokens_in: int, tokens_out: int) -> str | None:
        """What so many tokens read and at most so many written will cost, in words; None where nothing is billed."""

    def close(self) -> dict[str, Any]:
        """Give back what the engine holds; what it was billed for, empty where nothing is."""


def load(
    model: str,
    *,
    engine: str = "auto",
    dtype: str = "auto",
    device: str = "auto",
    revision: str | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    vllm: VllmSettings | None = None,
    api: ApiSettings | None = None,
) -> Engine:
    """Load a model and the engine that can ask it.

    Parameters
    ----------
    model
        Folder of a transformers checkpoint with safetensors weights, or a hub id; for "openai" the model's name on
        the server.
    engine
        "causal", "masked", "vllm", "openai", or "auto": causal or masked, as the checkpoint's architecture says.
    dtype
        "float32", "bfloat16", "float16", or "auto": float32 on a CPU; on an accelerator float32 for a float32
        checkpoint, bfloat16 for any other.
    device
        "cpu", "cuda", "cuda:1", "mps", ..., or "auto": a CUDA device where there is one, else the CPU.
    revision
        Branch, tag or commit of a hub model.
    seed
        Seed of generated texts. Scoring draws no random number.
    batch_size
        Prompts per forward pass, or per call of vLLM; None chooses by prompt length and device.
    vllm
        Settings of the engine `vllm`.
    api
        Where the server of "openai" is and what may be asked of it.

    Raises
    ------
    InputError
        Unknown setting, no model there, weights that are missing, incomplete or pickled, an architecture no
        engine can ask, or a vLLM that is not there, too old or too new.
    """
    if engine != "auto" and engine not in ENGINES:
        raise InputError(f"unknown engine '{engine}': choose auto, {', '.join(ENGINES)}")
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch size {batch_size}: give a number of prompts, 1 or more")

    if vllm is not None and engine != "vllm":
        raise InputError(f"settings of vLLM with --engine {engine}: say --engine vllm, or leave them out")
    if engine == "vllm":
        from inference.engines.vllm.engine import VllmEngine

        return VllmEngine(
            model, dtype=dtype, device=device, revision=revision, seed=seed, batch_size=batch_size, settings=vllm
        )
    if engine == "openai":
        from inference.engines.openai.engine import OpenAIEngine
        from inference.engines.openai.settings import ApiSettings

        for name, value in (("dtype", dtype), ("device", device), ("revision", revision)):
            if value not in ("auto", None):
                raise InputError(f"--{name} {value}: with --engine openai the server decides that; leave it out")
        return OpenAIEngine(model, api or ApiSettings(), seed=seed, batch_size=batch_size)

    from inference.engines.loading import load_checkpoint  # torch and transformers take seconds to import

    loaded = load_checkpoint(model, engine=engine, dtype=dtype, device=device, revision=revision, seed=seed)
    if loaded.info["engine"] == "causal":
        from inference.engines.local.causal import CausalEngine

        return CausalEngine(loaded, batch_size)
    from inference.engines.local.masked import MaskedEngine

    return MaskedEngine(loaded, batch_size)


__all__ = ["ENGINES", "Engine", "Explanation", "Generation", "Sampling", "Score", "Thought", "VllmSettings", "load"]
