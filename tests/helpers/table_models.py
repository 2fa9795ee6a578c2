"""Models that answer at once from a table, below every engine, and a tokenizer as large as those of real models.

What is left of a run when its model costs nothing is the host's work: rendering, tokenising, batches, requests, rows.
"""

from __future__ import annotations

import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx2 as httpx  # which the client is built on
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import nn
from transformers import LlamaConfig, PreTrainedTokenizerFast
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast

VOCABULARY = 128_000
READ = 1024
"""Tokens that the table has scores for; all answers are among them. A softmax over all 128,000 is the model's work."""
END = "<|end|>"
# How Llama 3 cuts a text into words.
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
STARTS = [
    "b",
    "c",
    "d",
    "f",
    "g",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "w",
    "z",
    "st",
    "tr",
    "pl",
    "ch",
]
VOWELS = ["a", "e", "i", "o", "u", "ea", "ou"]
ENDS = ("", "n", "r", "s", "t", "l")


def words(count: int, seed: int = 0) -> list[str]:
    """Made-up words of one to four syllables, all different."""
    draw = random.Random(seed)
    syllables = [start + vowel + end for start in STARTS for vowel in VOWELS for end in ENDS]
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(draw.choices(syllables, k=draw.choice((1, 2, 2, 3, 3, 4))))] = None
    return list(found)


def tokenizer(folder: Path | None = None) -> PreTrainedTokenizerFast:
    """Byte-level BPE of 128,000 tokens, trained on made-up words; kept in a folder, as the training takes seconds."""
    file = (folder or Path(tempfile.gettempdir())) / f"waver-bpe-{VOCABULARY}.json"
    if not file.exists():
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(WORDS), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
        )
        made.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=VOCABULARY, show_progress=False, special_tokens=[END], initial_alphabet=alphabet
        )
        made.train_from_iterator(_texts(), trainer)
        assert made.get_vocab_size() == VOCABULARY
        made.save(str(file))
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_file(str(file)), eos_token=END, pad_token=END)


def _texts() -> Iterator[str]:
    known = words(240_000)
    for start in range(0, len(known), 20):
        line = " ".join(known[start : start + 20])
        yield f"{line} {line.title()}"
    for between in " ", "\n":  # so often that the answers' tokens come first, with and without a blank before them
        yield between.join(
            ["yes", "no", "Yes", "No", "YES", "NO", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"] * 50_000
        )


class Clock:
    """What a stand-in takes: CPU seconds, and how long it sleeps as the host of a GPU that answers at some pace does.

    Attributes
    ----------
    prompts
        Per second; None: it does not sleep.
    """

    prompts: float | None = None

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Forget what was before."""
        self.cpu = self.asleep = 0.0
        self._began: float | None = None
        self._ended = 0.0

    def sleep(self, prompts: int) -> None:
        """Be at work on so many prompts."""
        if self.prompts is None:
            return
        began = time.perf_counter()
        time.sleep(prompts / self.prompts)
        self._ended = time.perf_counter()
        self._began = began if self._began is None else self._began
        self.asleep += self._ended - began

    @property
    def busy(self) -> float:
        """Share of the time between its first and its last prompt that it was at work."""
        return math.nan if self._began is None else self.asleep / (self._ended - self._began)


class Body(nn.Module):
    """A network without layers: what a token is followed by depends on the token itself."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()

    def forward(self, input_ids: Any, past_key_values: Any = None, **_: Any) -> Any:
        began = time.process_time()
        hidden = (input_ids % READ).unsqueeze(-1).float()
        self.clock.cpu += time.process_time() - began
        self.clock.sleep(len(input_ids))
        return BaseModelOutputWithPast(last_hidden_state=hidden, past_key_values=past_key_values)


class Head(nn.Module):
    """The table: a line of scores per token."""

    def __init__(self, end: int) -> None:
        super().__init__()
        table = torch.randn(READ, READ, generator=torch.Generator().manual_seed(0))
        table[:, end] = table[:, end + 1 :].amax(-1) + torch.randn(READ, generator=torch.Generator().manual_seed(1))
        self.register_buffer("table", table)

    def forward(self, hidden: Any) -> Any:
        return self.table[hidden[..., 0].long()]


class TableModel(nn.Module):
    """A causal model of transformers, as far as the engine `causal` sees one."""

    dtype, device = torch.float32, torch.device("cpu")

    def __init__(self, end: int) -> None:
        super().__init__()
        self.config = LlamaConfig(vocab_size=READ, hidden_size=4096, num_hidden_layers=0, max_position_embeddings=8192)
        self.base_model, self.head = Body(), Head(end)
        self.generation_config = SimpleNamespace(eos_token_id=end)
        self._embeddings = SimpleNamespace(weight=torch.empty(1, 1).expand(VOCABULARY, 1))

    @property
    def clock(self) -> Clock:
        return self.base_model.clock

    def get_input_embeddings(self) -> Any:
        return self._embeddings

    def get_output_embeddings(self) -> nn.Module:
        return self.head

    def forward(
        self,
        input_ids: Any,
        past_key_values: Any = None,
        position_ids: Any = None,
        use_cache: bool = False,
        **more: Any,
    ) -> Any:
        body = self.base_model(input_ids=input_ids, past_key_values=past_key_values)
        return CausalLMOutputWithPast(logits=self.head(body.last_hidden_state), past_key_values=past_key_values)


class TableLLM:
    """What the engine `vllm` sees of vLLM."""

    def __init__(self, model: str, **settings: Any) -> None:
        core = SimpleNamespace(shutdown=lambda: None)
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=8192), engine_core=core)
        self.clock = Clock()
        self._scored: dict[tuple[int, ...], Any] = {}
        self._text = SimpleNamespace(outputs=[SimpleNamespace(index=0, token_ids=[300, 0], finish_reason="stop")])
        TableLLM.last = self

    def generate(self, prompts: Sequence[Any], parameters: Sequence[Any], **options: Any) -> list[Any]:
        began = time.process_time()
        found = [self._answer(getattr(parameter, "logprob_token_ids", None)) for parameter in parameters]
        self.clock.cpu += time.process_time() - began
        self.clock.sleep(len(prompts))
        return found

    def _answer(self, tokens: list[int] | None) -> Any:
        if tokens is None:
            return self._text
        if (key := tuple(tokens)) not in self._scored:
            ids = [299, *tokens]  # the written token first, as vLLM has it
            flat = SimpleNamespace(token_ids=ids, logprobs=[-1.0 - 0.5 * place for place in range(len(ids))])
            self._scored[key] = SimpleNamespace(outputs=[SimpleNamespace(index=0, token_ids=[299], logprobs=flat)])
        return self._scored[key]


def install_vllm() -> None:
    """Put modules in the place of vLLM's, whose model is `TableLLM`."""
    names = ("vllm", "vllm.platforms", "vllm.v1", "vllm.v1.engine", "vllm.v1.engine.exceptions")
    sys.modules.update({name: ModuleType(name) for name in names})
    sys.modules["vllm"].__dict__.update(__version__="0.32.0", LLM=TableLLM, SamplingParams=SimpleNamespace)
    sys.modules["vllm.platforms"].__dict__.update(current_platform=SimpleNamespace(device_type="cpu"))
    sys.modules["vllm.v1.engine.exceptions"].__dict__.update(EngineDeadError=KeyError)


class TableTransport(httpx.AsyncBaseTransport):
    """A server of OpenAI's chat endpoint that answers before anything is sent."""

    def __init__(self) -> None:
        shown = [{"token": word, "logprob": -0.5 - place, "bytes": list(word.encode())}
                 for place, word in enumerate(("yes", "no", "Yes", "No", *words(16)))]  # fmt: skip
        choice = {
            "message": {"role": "assistant", "content": "yes"},
            "finish_reason": "stop",
            "logprobs": {"content": [{**shown[0], "top_logprobs": shown}]},
        }
        usage = {"prompt_tokens": 91, "completion_tokens": 1, "total_tokens": 92}
        self._reply = json.dumps({"model": "table", "choices": [choice], "usage": usage}).encode()

    async def handle_async_request(self, request: Any) -> Any:
        if not request.url.path.endswith("/completions"):
            return httpx.Response(404, stream=httpx.ByteStream(b'{"error": {"message": "there is no such endpoint"}}'))
        return httpx.Response(200, stream=httpx.ByteStream(self._reply), headers={"content-type": "application/json"})
