"""The shipped demo models: small, safe, loadable, with the tokenizers that the protocols need."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from inference.demo import ADAPTERS, ALL, ENTAILERS, FAMILY, MODELS, THINKERS

pytestmark = pytest.mark.slow

CAUSAL = [*(name for name in FAMILY if not name.endswith("bert")), *THINKERS]
TUNED = [name for name in FAMILY if name.endswith("tuned")]
BERT = "waver-demo-bert"


def test_the_family_is_complete_and_ordered() -> None:
    assert list(FAMILY) == [
        "waver-demo-mini", "waver-demo-mini-tuned", "waver-demo-small", "waver-demo-small-tuned",
        "waver-demo-medium", "waver-demo-medium-tuned", "waver-demo-large", "waver-demo-large-tuned", BERT,
    ]  # fmt: skip
    for name, model in FAMILY.items():
        assert model.stage == ("tuned" if name in TUNED else "base")
        assert model.series == name.removesuffix("-tuned")


def test_naming_the_family_loads_no_torch() -> None:
    code = "import sys, inference.demo; sys.exit(bool({'torch', 'transformers', 'yaml'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_all_of_it_is_small_and_safetensors_only() -> None:
    files = [path for folder in (MODELS, ADAPTERS) for path in folder.rglob("*") if path.is_file()]
    # 17 MB, and 350 kB for the encoder that says whether one wording follows from another.
    assert sum(path.stat().st_size for path in files) <= 17_350_000
    assert sum(path.stat().st_size for model in ENTAILERS.values() for path in model.path.iterdir()) <= 350_000
    assert {path.suffix for path in files} <= {".safetensors", ".json", ".jinja", ".md"}
    assert all((model.path / "model.safetensors").is_file() for model in ALL.values())


def test_no_file_tells_where_it_was_made() -> None:
    for path in (*MODELS.rglob("*.json"), *ADAPTERS.rglob("*.json")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'"(/|[A-Z]:)\w', text), f"{path} holds an absolute path"


@pytest.mark.parametrize("name", [*FAMILY, *THINKERS])
def test_models_load_as_float32_with_the_stated_size_and_a_long_context(name: str) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    architecture = transformers.AutoModelForMaskedLM if name == BERT else transformers.AutoModelForCausalLM
    model = architecture.from_pretrained(ALL[name].path, dtype=torch.float32)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert model.num_parameters() == ALL[name].parameters
    assert model.config.max_position_embeddings >= 512
    # The least width of a head that vLLM runs on a CPU.
    assert model.config.hidden_size // model.config.num_attention_heads == 32
    with torch.inference_mode():
        logits = model(input_ids=torch.full((1, 512), 7)).logits
    assert logits.shape == (1, 512, model.config.vocab_size)
    assert bool(torch.isfinite(logits).all())


@pytest.mark.parametrize("name", CAUSAL)
def test_answer_words_are_single_tokens_and_numbers_are_digits(name: str) -> None:
    tokenizer = _tokenizer(name)
    words = ["yes", "Yes", "YES", "no", "No", "NO", *"ABCDE", "entailment", "contradiction", "neutral"]
    for text in [form for word in words for form in (word, f" {word}")] + list("0123456789"):
        assert len(tokenizer(text, add_special_tokens=False)["input_ids"]) == 1, text
    assert not [token for token in tokenizer.get_vocab() if re.search(r"\d\D*\d|\D\d|\d\D", token)]


def test_mask_words_are_single_tokens() -> None:
    from inference.protocols import agreement
    from inference.stimuli import entailment
    from inference.stimuli.templates.prompt_forms import CLOZE

    tokenizer = _tokenizer(BERT)
    for book in (agreement.read_agreement_prompts(), entailment.read_entailment_prompts("en")):
        for words in book.get_answer_words_of_form(CLOZE).values():
            ids = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in words]
            assert all(len(found) == 1 and found[0] != tokenizer.unk_token_id for found in ids)


@pytest.mark.parametrize("name", CAUSAL)
def test_text_survives_the_tokenizer_and_begins_with_one_bos(name: str) -> None:
    tokenizer = _tokenizer(name)
    text = "Größe 10 – 27 °C: “naïve” 日本語\nYes."
    ids = tokenizer(text)["input_ids"]
    assert ids.count(tokenizer.bos_token_id) == 1
    assert ids[0] == tokenizer.bos_token_id
    assert tokenizer.decode(ids, skip_special_tokens=True) == text


@pytest.mark.parametrize("name", TUNED)
def test_the_chat_template_ends_where_the_assistant_answers(name: str) -> None:
    tokenizer = _tokenizer(name)
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is the ant black?"}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert text == "<s><|system|>Be brief.</s><|user|>Is the ant black?</s><|assistant|>"
    assert tokenizer(text, add_special_tokens=False)["input_ids"].count(tokenizer.bos_token_id) == 1


@pytest.mark.parametrize("name", list(THINKERS))
def test_the_template_of_one_that_thinks_lets_it_begin_and_closes_thinking_that_is_switched_off(name: str) -> None:
    tokenizer = _tokenizer(name)
    turn = "<|user|>Is the ant black?</s>"
    messages = [{"role": "user", "content": "Is the ant black?"}]
    thought = "<think>\nThe ant is black.\n</think>\n\n"

    def render(messages: list[dict[str, str]], **settings: object) -> str:
        return tokenizer.apply_chat_template(messages, tokenize=False, **settings)

    assert render(messages, add_generation_prompt=True) == f"<s>{turn}<|assistant|>"
    off = render(messages, add_generation_prompt=True, enable_thinking=False, reasoning_effort="none")
    assert off == f"<s>{turn}<|assistant|><think>\n\n</think>\n\n"
    for effort, system in (
        ("low", "<|system|>Reasoning: low</s>"),
        ("medium", ""),
        ("high", "<|system|>Reasoning: high</s>"),
    ):
        text = render(messages, add_generation_prompt=True, enable_thinking=True, reasoning_effort=effort)
        assert text == f"<s>{system}{turn}<|assistant|>"
    answered = [*messages, {"role": "assistant", "content": f"{thought}yes"}]
    assert render([*answered, *messages]) == f"<s>{turn}<|assistant|>yes</s>{turn}"
    assert render(answered, continue_final_message=True) == f"<s>{turn}<|assistant|>{thought}yes"


@pytest.mark.parametrize("name", list(THINKERS))
def test_the_marks_of_thinking_are_tokens_that_are_written_and_the_maker_says_how_to_sample(name: str) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = _tokenizer(name)
    ids = tokenizer("<think>\nyes\n</think>", add_special_tokens=False)["input_ids"]
    assert [ids[0], ids[-1]] == [tokenizer.get_added_vocab()[mark] for mark in ("<think>", "</think>")]
    assert tokenizer.decode(ids, skip_special_tokens=True) == "<think>\nyes\n</think>"
    said = transformers.GenerationConfig.from_pretrained(ALL[name].path)
    assert (said.do_sample, said.temperature, said.top_p, said.top_k) == (True, 0.8, 0.95, 20)


@pytest.mark.parametrize("name", [name for name in CAUSAL if name in FAMILY and name not in TUNED])
def test_base_models_have_no_chat_template(name: str) -> None:
    assert _tokenizer(name).chat_template is None


def test_the_card_states_every_model() -> None:
    card = (MODELS / "README.md").read_text(encoding="utf-8")
    assert all(f"| {name} |" in card for name in ALL)


def _tokenizer(name: str):
    transformers = pytest.importorskip("transformers")
    path: Path = ALL[name].path
    return transformers.AutoTokenizer.from_pretrained(path)
