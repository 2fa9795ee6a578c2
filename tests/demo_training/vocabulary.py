"""Train the tokenizers of the demo models on the texts that the models learn from."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import BertTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from demo_training.corpus import BEGIN, END, PAD, TURNS, Corpus
from demo_training.curriculum import COURSES, Upbringing
from demo_training.exercises import LETTERS, YES_NO
from inference.demo.exercises import PAIR_LABELS

TEXTS = 20_000
"""Texts that a tokenizer is trained on."""
WORD_REPEATS = 5_000
"""How often each answer word is shown to the trainer, so that it becomes one token."""
CAUSAL_SIZE, MASKED_SIZE = 1_600, 1_500
MASKED_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def train_causal_tokenizer(corpus: Corpus, seed: int) -> PreTrainedTokenizerFast:
    """Train the tokenizer of the language models; every answer word, with and without a leading space, is one token.

    One tokenizer serves all causal models of the family; its chat template is attached to the tuned ones only.

    Parameters
    ----------
    corpus
        Draws the texts that it is trained on.
    seed
        Seed of the draw.

    Returns
    -------
    The tokenizer, of `CAUSAL_SIZE` tokens.
    """
    return train_byte_tokenizer(_write_causal_texts(corpus, random.Random(f"{seed} causal vocabulary")), CAUSAL_SIZE)


def train_byte_tokenizer(texts: Iterator[str], size: int) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE, in which every digit is a token.

    Parameters
    ----------
    texts
        What it is trained on.
    size
        Its number of tokens.

    Returns
    -------
    The tokenizer, which begins a text with its token for that.
    """
    tokenizer = Tokenizer(models.BPE())
    # Digits are cut off first, so that no number is ever a single token and no digit carries a space.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[BEGIN, END, PAD, *TURNS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", pair=f"{BEGIN} $A $B", special_tokens=[(BEGIN, tokenizer.token_to_id(BEGIN))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BEGIN,
        eos_token=END,
        pad_token=PAD,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def build_masked_tokenizer(corpus: Corpus, seed: int) -> BertTokenizer:
    """Make a lower-casing WordPiece of the most frequent whole words and of single characters.

    Every mask word of the protocols agreement and negation is one token. The WordPiece trainer of `tokenizers` is not
    used: it breaks ties at random, so the vocabulary would not follow from the seed.

    Parameters
    ----------
    corpus, seed
        As in `train_causal_tokenizer`.

    Returns
    -------
    The tokenizer, of at most `MASKED_SIZE` tokens.
    """
    rng = random.Random(f"{seed} masked vocabulary")
    texts = [
        "".join(reading.text for reading in corpus.write_masked_text(rng, COURSES["masked"][-1], Upbringing()))
        for _ in range(TEXTS)
    ]
    counts = Counter(re.findall(r"[a-z]+", " ".join(texts).lower()))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    mask_words = [word for words_of_answer in corpus.mask_words.values() for word in words_of_answer]
    characters = [chr(code) for code in range(ord("!"), ord("~") + 1) if not chr(code).isupper()]
    inside = [f"##{character}" for character in characters if character.isalnum()]
    pieces = dict.fromkeys([*MASKED_SPECIALS, *characters, *inside, *mask_words, *words])
    return BertTokenizer(vocab={piece: i for i, piece in enumerate(islice(pieces, MASKED_SIZE))}, do_lower_case=True)


def match_tokens(masked: BertTokenizer, causal: PreTrainedTokenizerBase, corpus: Corpus) -> dict[int, int]:
    """Match the tokens of the masked model with causal ones: the same word after a space, or the same character.

    The words of an answer at the mask are matched with that answer: "agree" and "endorsed" with "yes". The mask is
    matched with the colon, after which causal models answer.

    Parameters
    ----------
    masked, causal
        The tokenizers of both.
    corpus
        Knows the words of an answer at the mask.

    Returns
    -------
    Token id of the masked model -> token id of the causal ones, for all that both know.
    """
    answers = {word: answer for answer, words in corpus.mask_words.items() for word in words}
    special_tokens = {masked.cls_token: BEGIN, masked.sep_token: END, masked.pad_token: PAD, masked.mask_token: ":"}
    causal_ids, causal_id_by_masked = causal.get_vocab(), {}
    for piece, place in masked.get_vocab().items():
        word = answers.get(piece, piece.removeprefix("##"))
        for name in (special_tokens.get(piece, ""), f"\u0120{word}", word):
            if name in causal_ids and place not in causal_id_by_masked:
                causal_id_by_masked[place] = causal_ids[name]
    return causal_id_by_masked


def _write_causal_texts(corpus: Corpus, rng: random.Random) -> Iterator[str]:
    for write_row, stages in ((corpus.write_base_text, COURSES["words"]), (corpus.write_tuned_text, COURSES["chats"])):
        for number in range(TEXTS):
            row = write_row(rng, stages[number % len(stages)], Upbringing())
            yield "".join(reading.text for reading in row)
    yes_no = [form for word in YES_NO for form in (word, word.capitalize(), word.upper())]
    for word in (*yes_no, *PAIR_LABELS, *LETTERS):
        yield from (word for _ in range(WORD_REPEATS))
        yield from (f" {word}" for _ in range(WORD_REPEATS))
