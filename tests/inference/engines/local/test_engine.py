"""What all engines share: prompt forms, batches that outgrow memory, and parts that run at one position only."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from torch import nn

from ground.errors import InputError
from helpers import tiny_models
from inference.engines.loading import Checkpoint
from inference.engines.local import batching
from inference.engines.local.causal import CausalEngine
from inference.engines.local.last_position import PARTS, OnePosition
from inference.engines.tokens import build_encoder_without_truncation_or_padding
from inference.stimuli.templates.prompts import Prompt

pytestmark = pytest.mark.slow

ANSWERS = (("yes", "Yes"), ("no", "No"))
PROMPTS = [Prompt(f"Reply yes or no. Statement: {'warm ' * n}bread.\nReply:", None, ANSWERS) for n in range(7)]


def in_memory(tokenizer: Any = None, **settings: Any) -> CausalEngine:
    tokenizer = tokenizer or tiny_models.byte_tokenizer()
    return CausalEngine(Checkpoint("tiny", tiny_models.model("llama", tokenizer, **settings), tokenizer, {}))


def test_thinking_models_and_models_without_template_are_refused_in_chat() -> None:
    plain = in_memory()
    assert plain.choose_prompt_form("auto") == plain.choose_prompt_form("plain") == "plain"
    with pytest.raises(InputError, match="no chat template: ask it with --form plain"):
        plain.choose_prompt_form("chat")
    with pytest.raises(InputError, match="--form plain or chat"):
        plain.choose_prompt_form("cloze")
    chat = in_memory(tiny_models.byte_tokenizer(chat=True))
    assert chat.choose_prompt_form("auto") == chat.choose_prompt_form("chat") == "chat"
    template = tiny_models.CHAT_TEMPLATE + "{% if enable_thinking is not false %}{{ '<think>' }}{% endif %}"
    thinking = in_memory(tiny_models.byte_tokenizer(chat=True, template=template))
    assert thinking.choose_prompt_form("plain") == "plain"
    assert thinking.choose_prompt_form("auto") == "chat"
    assert thinking.info["thinks"]
    assert not chat.info["thinks"]


def test_chat_prompts_are_scored_behind_the_generation_prompt() -> None:
    engine = in_memory(tiny_models.byte_tokenizer(chat=True))
    messages = ({"role": "user", "content": "Reply yes or no. Statement: Bread."},)
    text = "<|endoftext|><|user|>\nReply yes or no. Statement: Bread.\n<|assistant|>\n"
    explained = engine.explain_and_score_prompt(Prompt(None, messages, ANSWERS))
    assert explained.text == text
    assert explained.n_tokens == len(engine.tokenizer(text)["input_ids"])
    assert explained.score.probability == pytest.approx(engine.score([Prompt(text, None, ANSWERS)])[0][0].probability)


class Cramped:
    """A model on a device with room for so many rows."""

    def __init__(self, model: OnePosition, rows: int, error: Exception) -> None:
        self.inner, self.rows, self.error = model, rows, error
        self.sizes: list[int] = []

    def __call__(self, at: Any, rows: Any = None, **inputs: Any) -> Any:
        self.sizes.append(len(at))
        if len(at) > self.rows:
            raise self.error
        return self.inner(at, rows, **inputs)

    @property
    def model(self) -> Any:
        return self.inner.model


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("DefaultCPUAllocator: can't allocate memory")],
)
def test_batches_are_halved_where_memory_ends(error: Exception) -> None:
    engine = in_memory()
    expected = engine.score(PROMPTS)[0]
    engine.run_model = cramped = Cramped(engine.run_model, 2, error)
    for score, whole in zip(engine.score(PROMPTS)[0], expected, strict=True):
        assert score.probability == pytest.approx(whole.probability, abs=5e-6)
    assert cramped.sizes == [7, 3, 1, 1, 1, 1, 1, 1, 1]
    cramped.sizes.clear()
    engine.score(PROMPTS[:3])[0]
    assert cramped.sizes == [1, 1, 1]


def test_a_prompt_that_alone_outgrows_memory_is_an_error_of_its_row() -> None:
    engine = in_memory()
    engine.run_model = Cramped(engine.run_model, 0, torch.OutOfMemoryError("CUDA out of memory"))
    scores = engine.score(PROMPTS[:2])[0]
    assert all("out of memory" in (score.error or "") for score in scores)


def test_other_failures_are_not_taken_for_a_lack_of_memory() -> None:
    engine = in_memory()
    engine.run_model = Cramped(engine.run_model, 0, RuntimeError("shapes do not fit"))
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        engine.score(PROMPTS)[0]


def test_partition_fills_batches_up_to_tokens_and_rows() -> None:
    def cut(*parts: tuple[list[int], int], rows: int, filled: float = 0) -> list[list[int]]:
        room = batching.Room(tokens=10, rows=rows, filled=filled)
        return batching.partition_into_batches([batching.Family(*part) for part in parts], room)

    assert cut(([0], 5), ([1], 9), ([2], 5), ([3], 5), ([4], 1), rows=2) == [[1], [0, 2], [3, 4]]
    assert cut(([2, 0], 5), ([3, 1], 4), ([4], 4), rows=4) == [[2, 0, 3, 1], [4]]
    assert cut(([2, 0], 5), ([3, 1], 4), ([4], 4), rows=2) == [[2, 0], [3, 1], [4]]
    assert cut(([0], 30), ([1], 2), rows=8) == [[0], [1]]
    assert cut(([0], 2), ([1], 3), ([2], 2), ([3], 1), rows=8) == [[1, 0, 2], [3]]
    assert cut(([0], 2), ([1], 3), ([2], 2), ([3], 1), rows=8, filled=0.7) == [[1], [0, 2], [3]]
    assert cut(rows=8) == []


class Mixing(nn.Module):
    """A model that may mix positions behind a block of its last layer: to narrow that block would change the answer."""

    def __init__(self, mixes: str) -> None:
        super().__init__()
        self.config = transformers.LlamaConfig(vocab_size=50, num_hidden_layers=1)
        self.device, self.dtype, self.mixes = torch.device("cpu"), torch.float32, mixes
        self.embed = nn.Embedding(50, 8)
        layer = nn.Module()
        layer.self_attn = nn.Module()
        layer.self_attn.o_proj = nn.Linear(8, 8)
        layer.mlp = nn.Linear(8, 8)
        self.layers = nn.ModuleList([layer])
        self.head = nn.Linear(8, 50)

    @property
    def base_model(self) -> nn.Module:
        return self

    def get_output_embeddings(self) -> nn.Module:
        return self.head

    def forward(self, input_ids: Any) -> Any:
        hidden = self.embed(input_ids)
        for name, block in (("attention", self.layers[-1].self_attn.o_proj), ("feed-forward", self.layers[-1].mlp)):
            hidden = hidden + block(hidden)
            if self.mixes == name:
                hidden = hidden + hidden.mean(1, keepdim=True)
        return transformers.modeling_outputs.CausalLMOutput(logits=self.head(hidden))


@pytest.mark.parametrize(("mixes", "taken"), [("nowhere", 3), ("attention", 2), ("feed-forward", 1)])
def test_shortcuts_that_change_the_answer_are_not_taken(mixes: str, taken: int) -> None:
    torch.manual_seed(0)
    model = Mixing(mixes)
    run = OnePosition(model)
    assert run.shortcuts == PARTS[:taken]
    ids = torch.arange(12).reshape(3, 4)
    at = torch.tensor([0, 3, 2])
    with torch.inference_mode():
        exact = model(ids).logits[torch.arange(3), at].log_softmax(-1)
        assert torch.allclose(run(at, input_ids=ids), exact, atol=1e-6)
        rows, at = torch.tensor([0, 1, 1, 1, 2]), torch.tensor([3, 0, 2, 2, 1])
        assert torch.allclose(run(at, rows, input_ids=ids), model(ids).logits[rows, at].log_softmax(-1), atol=1e-6)


def test_batches_on_an_accelerator_are_sized_by_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_models.model("llama", tiny_models.byte_tokenizer())
    on_gpu = SimpleNamespace(
        device=torch.device("cuda"), dtype=model.dtype, config=model.config, parameters=model.parameters
    )

    def rows(gigabytes: float, longest: int) -> int:
        memory = SimpleNamespace(total_memory=gigabytes * 2**30)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _device: memory)
        return batching.choose_batch_limits(on_gpu, longest)[1]

    assert rows(80, 100) == batching.MAXIMUM_ROWS
    assert rows(0.05, 100) < rows(0.1, 100) < batching.MAXIMUM_ROWS
    assert rows(0.1, 200) < rows(0.1, 100)
    assert rows(0, 100) == 1
    assert batching.choose_batch_limits(model, 100) == (batching.CPU_TOKENS, batching.MAXIMUM_ROWS)


def test_a_slow_tokenizer_encodes_the_same() -> None:
    fast = tiny_models.metaspace_tokenizer()

    class Slow:
        is_fast = False

        def __call__(self, texts: list[str], *, add_special_tokens: bool, verbose: bool) -> Any:
            return fast(texts, add_special_tokens=add_special_tokens, verbose=verbose)

    texts = ["Reply: yes", "はい"]
    for special in (False, True):
        assert build_encoder_without_truncation_or_padding(Slow(), special)(
            texts
        ) == build_encoder_without_truncation_or_padding(fast, special)(texts)
    assert build_encoder_without_truncation_or_padding(Slow())([]) == []


@pytest.mark.parametrize("architecture", [*tiny_models.CAUSAL, *tiny_models.MASKED])
def test_the_last_layer_is_narrowed_wherever_its_blocks_have_known_names(architecture: str) -> None:
    model = tiny_models.model(architecture, tiny_models.default_tokenizer(architecture))
    found = OnePosition(model).shortcuts
    # OPT names no feed-forward block; Mamba and RecurrentGemma need the full shape; ALBERT's layers stand in no list.
    known = {
        "opt": ("head", "last attention output"),
        "mamba": ("head",),
        "recurrent_gemma": ("head",),
        "albert": ("head",),
    }
    assert found == known.get(architecture, PARTS)
