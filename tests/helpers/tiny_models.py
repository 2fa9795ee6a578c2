"""Random models of a few thousand weights and tokenizers trained on a page of text, for tests.

`checkpoint(folder, "llama")` writes a whole checkpoint that `inference.engines.load_engine` opens. Weights are drawn
wide, so that answers differ clearly between prompts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

SENTENCES = (
    "Statement: A warm lamp makes a small room friendlier.",
    "Statement: Bread tastes better on the day it is baked.",
    "Statement: Trains should leave on time, even on Sundays.",
    "Do you agree with the statement below? Reply yes or no.",
    "Reply: yes", "Reply: no", "Reply: Yes", "Reply: No", "Reply: YES", "Reply: NO",
    "Some people agree and others disagree with this: I agree with it. I disagree with it.",
    "We accept, support and believe it; they reject, oppose and refuse it.",
    "yes", "no", "Yes", "No", "YES", "NO",
    "0 1 2 3 4 5 6 7 8 9 10 11 12 20 100",
)  # fmt: skip

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)

_SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
_SMALL = {**_SIZES, "max_position_embeddings": 256}

# Architecture -> configuration class and what it needs apart from the vocabulary.
CAUSAL: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", {**_SMALL, "num_key_value_heads": 2}),
    "gpt2": ("GPT2Config", {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 256}),
    "gpt_neox": ("GPTNeoXConfig", {**_SMALL, "use_parallel_residual": True}),
    "gpt_neo": (
        "GPTNeoConfig",
        {"hidden_size": 32, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]],
         "window_size": 64, "max_position_embeddings": 256},
    ),
    "qwen2": ("Qwen2Config", {**_SMALL, "num_key_value_heads": 2}),
    "qwen3": ("Qwen3Config", {**_SMALL, "num_key_value_heads": 2, "head_dim": 8}),
    "mistral": ("MistralConfig", {**_SMALL, "num_key_value_heads": 2, "sliding_window": 64}),
    "gemma3": (
        "Gemma3TextConfig",
        {**_SMALL, "num_key_value_heads": 2, "head_dim": 8, "sliding_window": 64,
         "layer_types": ["sliding_attention", "full_attention"]},
    ),
    "falcon": ("FalconConfig", {**_SIZES, "ffn_hidden_size": 64, "parallel_attn": True, "bias": False}),
    "falcon_alibi": ("FalconConfig", {**_SIZES, "ffn_hidden_size": 64, "alibi": True, "parallel_attn": False}),
    "recurrent_gemma": (
        "RecurrentGemmaConfig",
        {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96, "lru_width": 32,
         "attention_window_size": 64, "block_types": ["recurrent", "attention"]},
    ),
    "opt": (
        "OPTConfig",
        {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 64,
         "word_embed_proj_dim": 32, "max_position_embeddings": 256},
    ),
    "bloom": ("BloomConfig", {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "mixtral": ("MixtralConfig", {**_SMALL, "num_key_value_heads": 2, "num_local_experts": 4}),
    "gpt_oss": (
        "GptOssConfig",
        {**_SMALL, "num_key_value_heads": 2, "head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2,
         "sliding_window": 64, "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0}},
    ),
    "mamba": ("MambaConfig", {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}),
}  # fmt: skip
MASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("BertConfig", _SMALL),
    "roberta": ("RobertaConfig", {**_SMALL, "max_position_embeddings": 130, "type_vocab_size": 1}),
    "distilbert": ("DistilBertConfig", {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}),
    "electra": ("ElectraConfig", {**_SMALL, "embedding_size": 16}),
    "albert": ("AlbertConfig", {**_SMALL, "embedding_size": 16}),
    "modernbert": ("ModernBertConfig", {**_SMALL, "local_attention": 16}),
}


def checkpoint(folder: Path, architecture: str, tokenizer: Any = None, *, seed: int = 0, **settings: Any) -> str:
    """Write a random model with its tokenizer; returns the folder as `load` takes it.

    Parameters
    ----------
    architecture
        A key of `CAUSAL` or `MASKED`.
    tokenizer
        By default the kind that the architecture usually comes with.
    settings
        Fields of the configuration to set otherwise.
    """
    tokenizer = tokenizer or default_tokenizer(architecture)
    model(architecture, tokenizer, seed=seed, **settings).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def model(architecture: str, tokenizer: Any, *, seed: int = 0, auto: Any = None, **settings: Any) -> Any:
    """Random model in eval mode for a tokenizer's vocabulary; `auto` gives another head than the usual one."""
    name, fields = (CAUSAL | MASKED)[architecture]
    special = {
        f"{role}_token_id": getattr(tokenizer, f"{role}_token_id")
        for role in ("pad", "bos", "eos")
        if getattr(tokenizer, f"{role}_token_id") is not None
    }
    spread = {"init_std": 0.3} if architecture == "opt" else {"initializer_range": 0.3}
    config = getattr(transformers, name)(**{"vocab_size": len(tokenizer), **spread, **special, **fields, **settings})
    torch.manual_seed(seed)
    auto = auto or (transformers.AutoModelForCausalLM if architecture in CAUSAL else transformers.AutoModelForMaskedLM)
    return auto.from_config(config).eval()


def default_tokenizer(architecture: str) -> Any:
    """The kind of tokenizer that an architecture usually comes with."""
    if architecture == "roberta":
        return roberta_tokenizer()
    return wordpiece_tokenizer() if architecture in MASKED else byte_tokenizer()


def byte_tokenizer(*, chat: bool = False, template: str = CHAT_TEMPLATE, vocab_size: int = 420) -> Any:
    """Byte-level BPE as of GPT-2: no BOS of its own, every byte can be written."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    _train(tokenizer, trainers.BpeTrainer(vocab_size=vocab_size, special_tokens=special, initial_alphabet=alphabet))
    end = "<|endoftext|>"
    return _wrapped(tokenizer, template if chat else None, bos_token=end, eos_token=end, pad_token=end)


def metaspace_tokenizer(*, chat: bool = False, template: str = CHAT_TEMPLATE, eos: bool = False) -> Any:
    """SentencePiece-like BPE as of Llama 2: spaces as a sign of their own, byte fallback, BOS (and EOS) added."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    _train(tokenizer, trainers.BpeTrainer(vocab_size=520, special_tokens=special))
    ids = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>" if eos else "<s> $A", special_tokens=ids
    )
    tokens = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "</s>"}
    return _wrapped(tokenizer, template if chat else None, **tokens)


def wordpiece_tokenizer(*, lowercase: bool = True, segments: bool = False) -> Any:
    """WordPiece as of BERT; with `segments` it tells the model of which sentence each token is, as BERT's own does."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    _train(tokenizer, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special))
    ids = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids
    )
    roles = ("pad", "unk", "cls", "sep", "mask")
    tokens: dict[str, Any] = {f"{role}_token": token for role, token in zip(roles, special, strict=True)}
    if segments:
        tokens["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    return _wrapped(tokenizer, None, **tokens)


def roberta_tokenizer() -> Any:
    """Byte-level BPE as of RoBERTa: the mask takes the space before it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True)]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    _train(tokenizer, trainers.BpeTrainer(vocab_size=520, special_tokens=special, initial_alphabet=alphabet))
    ids = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ids)
    tokens = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return _wrapped(tokenizer, None, mask_token=AddedToken("<mask>", lstrip=True), **tokens)


def number_tokenizer() -> Any:
    """Digits one by one, as newer models read numbers: "10" begins with the "1" that is an answer of its own."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(r"\d"), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    _train(
        tokenizer,
        trainers.BpeTrainer(vocab_size=400, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet),
    )
    return _wrapped(tokenizer, None, eos_token="<|endoftext|>", pad_token="<|endoftext|>")


def _train(tokenizer: Any, trainer: Any) -> None:
    trainer.show_progress = False
    tokenizer.train_from_iterator(SENTENCES * 3, trainer=trainer)


def _wrapped(tokenizer: Any, chat_template: str | None, **special: Any) -> Any:
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    wrapped.chat_template = chat_template
    return wrapped
