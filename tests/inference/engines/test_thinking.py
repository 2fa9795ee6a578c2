"""Thinking models: what follows the end of thinking counts. The model is a tiny one, trained here to think."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch

from ground.errors import InputError
from helpers import tiny_models
from inference import engines
from inference.asking.answer_ways import AnswerWays
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Sampling, Thinking
from inference.engines.loading import Checkpoint
from inference.engines.local.causal import CausalEngine
from inference.engines.tokens import Tokens
from inference.protocols import agreement
from inference.stimuli.study import ORIGINAL, Item, Variant
from inference.stimuli.templates.prompts import Prompt, build_template_values_of_options

pytestmark = pytest.mark.slow

TEMPLATE = (
    tiny_models.CHAT_TEMPLATE.replace("{{ bos_token }}", "{{ bos_token }}{{ reasoning_effort|default('') }}")
    + "{% if add_generation_prompt %}{{ '<think>\n' }}"
    "{% if enable_thinking is defined and not enable_thinking %}{{ '\n</think>\n\n' }}{% endif %}{% endif %}"
)
# Statement -> what the model writes behind "<think>\n"; at most 20 tokens of it are asked for.
WRITES = {
    "Bread.": "warm lamp</think>\n\nyes",
    "Small rooms.": "a small room, even a cold one</think>\n\nno",
    "Trains should leave on time, even on Sundays.": "leave</think>no",
    "Snow.": ", ".join(["Sundays"] * 10),
}
TOKENS = 20


def thinking_tokenizer(template: str = TEMPLATE) -> Any:
    tokenizer = tiny_models.byte_tokenizer(chat=True, template=template)
    tokenizer.add_tokens(["<think>", "</think>"])
    return tokenizer


def study_of(statements: list[str]) -> Any:
    items = tuple(
        Item(str(number), (Variant(str(number), ORIGINAL, ORIGINAL, text, ()),))
        for number, text in enumerate(statements)
    )
    return agreement.build_agreement_study(items, "thoughts", "made up")


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A checkpoint that thinks about four statements, about the last one for too long."""
    folder = tmp_path_factory.mktemp("thinker")
    tokenizer = thinking_tokenizer()
    model = tiny_models.model(
        "llama", tokenizer, initializer_range=0.05, hidden_size=64, num_hidden_layers=2, intermediate_size=128
    ).train()
    tokens = Tokens("thinker", tokenizer)
    book, study = agreement.read_agreement_prompts(), study_of(list(WRITES))
    whole, behind = [], []
    for variant in study.variants:
        prompt = tokens.bare([tokens.render(book.render("chat", build_template_values_of_options(variant)))])[0]
        text = tokens.bare([WRITES[variant.text]])[0]
        whole.append(torch.tensor([*prompt, *text, tokenizer.eos_token_id]))
        behind.append(torch.tensor([*[-100] * len(prompt), *text, tokenizer.eos_token_id]))
    ids = torch.nn.utils.rnn.pad_sequence(whole, batch_first=True)
    labels = torch.nn.utils.rnn.pad_sequence(behind, batch_first=True, padding_value=-100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(45):
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def rows_of(out: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Statement and condition -> row."""
    statements = list(WRITES)
    rows = [row for part in sorted((out / "responses").glob("part-*")) for row in pq.read_table(part).to_pylist()]
    return {(statements[int(row["item"])], row["condition"]): row for row in rows}


def ask(model: str, out: Path, answers: AnswerWays, form: str = "auto") -> None:
    questions = agreement.Questions(agreement.read_agreement_prompts(), answers=answers)
    ask_tasks_and_list_tallies(
        [Task(study_of(list(WRITES)), [Model("thinker", model)], questions, Settings(form=form), str(out))]
    )


@torch.inference_mode()
def test_answers_and_probabilities_behind_the_thinking(thinker: str, tmp_path: Path) -> None:
    ways = AnswerWays(False, (Sampling(max_tokens=TOKENS),), (Thinking(1, 0.0, max_tokens=TOKENS),))
    ask(thinker, tmp_path / "run", ways)
    rows = rows_of(tmp_path / "run")
    engine = engines.load_engine(thinker)
    assert isinstance(engine, CausalEngine)
    for number, (statement, writes) in enumerate(WRITES.items()):
        text, thought = rows[statement, "chat/yes-no/text"], rows[statement, "chat/yes-no/thought-t0"]
        thinking, ended, answer = writes.partition("</think>")
        assert text["output"] == [thought["thought"][0] + thought["output"][0]]
        if not ended:
            assert (thought["unclosed"], thought["thought_tokens"]) == (1, [TOKENS])
            assert writes.startswith(text["output"][0])
            assert (text["answer"], text["count"], text["invalid"]) == (None, [0, 0], 1)
            assert thought["probability"] is thought["mass"] is thought["answer"] is thought["error"] is None
            continue
        label = {"yes": "agree", "no": "disagree"}[answer.strip()]
        assert text["output"] == [writes]
        assert (text["answer"], text["invalid"], thought["answer"]) == (label, 0, label)
        # Against one pass over prompt, thinking and the line breaks behind it.
        variant = list(study_of(list(WRITES)).variants)[number]
        prompt = agreement.read_agreement_prompts().render("chat", build_template_values_of_options(variant))
        breaks = answer[: len(answer) - len(answer.lstrip())]
        shown = engine.tokens.render(prompt) + thinking + ended + breaks
        following = engine.model(torch.tensor([engine.tokens.bare([shown])[0]])).logits[0, -1].softmax(-1)
        for option, words in enumerate(prompt.answers):
            forms = {ids[0] for ids in engine.tokens.bare([s + w for w in words for s in ("", " ")]) if len(ids) == 1}
            assert thought["probability"][option] == pytest.approx(float(following[list(forms)].sum()), rel=0.02)
        assert thought["mass"] > 0.5
    conditions = json.loads((tmp_path / "run" / "run.json").read_text())["conditions"]
    assert conditions["chat/yes-no/thought-t0"]["max_tokens"] == TOKENS


def test_first_tokens_of_thinkers_and_thoughts_of_others_are_refused(thinker: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="its first token is no answer: ask it for --answer thought"):
        ask(thinker, tmp_path / "a", AnswerWays())
    ask(thinker, tmp_path / "b", AnswerWays(), form="plain")
    with pytest.raises(InputError, match="in plain form does not think before it answers: ask it for --answer prob"):
        ask(thinker, tmp_path / "c", AnswerWays(False, (), (Thinking(1, 0.0, max_tokens=4),)), form="plain")


def test_effort_reaches_the_chat_template() -> None:
    tokens = Tokens("tiny", thinking_tokenizer())
    prompt = Prompt(None, ({"role": "user", "content": "Bread?"},), ())
    asked = "<|user|>\nBread?\n<|assistant|>\n<think>\n"
    assert tokens.render(prompt) == f"<|endoftext|>{asked}"
    assert tokens.render(prompt, "high") == f"<|endoftext|>high{asked}"
    assert tokens.render(prompt, "none") == f"<|endoftext|>none{asked}\n</think>\n\n"


@pytest.mark.parametrize(
    ("prompt", "written", "thinking"),
    [
        ("<think>\n", "hm</think>\n\nyes", "hm</think>\n\n"),
        ("<think>\n", "hm</think> yes", "hm</think>"),
        ("<think>\n", "hm, hm", None),
        ("", "<think>hm</think>\nno</think>", "<think>hm</think>\n"),
        ("", "<think>hm", None),
        ("", "yes", ""),
        ("<think>\n\n</think>\n\n", "yes", ""),
        ("<think>\n", "</think>\n\nyes", "</think>\n\n"),
        ("", "<think></think>yes", "<think></think>"),
        ("", "<think>a <think>b</think> c</think>\nyes", "<think>a <think>b</think> c</think>\n"),
        ("<think>", "a</think>\n<think>b</think>\n\nno", "a</think>\n<think>b</think>\n\n"),
        ("<think>", "a</think>\n<think>b", None),
        ("", "<think>the mark <think> opens</think>yes", "<think>the mark <think> opens</think>"),
        ("<think>\n", "Answer: A, or not</think>\nB", "Answer: A, or not</think>\n"),
    ],
)
def test_where_thinking_ends(prompt: str, written: str, thinking: str | None) -> None:
    tokens = Tokens("tiny", thinking_tokenizer())
    ids = tokens.bare([written])[0]
    length = tokens.count_thinking_tokens(prompt, ids)
    assert (None if length is None else tokens.decode_one_text_with_special_tokens(ids[:length])) == thinking


def test_markers_that_are_special_tokens_or_no_tokens_at_all() -> None:
    begin, end = "<|channel|>analysis<|message|>", "<|channel|>final<|message|>"
    template = tiny_models.CHAT_TEMPLATE + "{# " + begin + " #}"
    tokenizer = tiny_models.byte_tokenizer(chat=True, template=template)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|channel|>", "<|message|>"]})
    model = tiny_models.model("llama", tokenizer)
    engine = CausalEngine(Checkpoint("tiny", model, tokenizer, {}))
    ids = engine.tokens.bare([f"{begin}warm{end}yes"])[0]
    unended = engine.tokens.bare([f"{begin}warm"])[0]
    engine._generate_token_ids = lambda rows, samplings: [ids, unended]  # type: ignore[method-assign]
    prompt = Prompt(None, ({"role": "user", "content": "Bread?"},), (("yes",), ("no",)))
    ((whole,),) = [engine.generate([prompt], [Sampling(2, 1.0, 9)])[0]]
    assert whole.texts[0] == "analysiswarmfinalyes"
    assert whole.answers == ("yes", None)
    wordy = Tokens("tiny", tiny_models.byte_tokenizer(chat=True, template=TEMPLATE))  # "</think>" in several tokens
    ids = wordy.bare(["hm</think>yes"])[0]
    n_thinking = wordy.count_thinking_tokens("<think>", ids) or 0
    assert wordy.decode_one_text_with_special_tokens(ids[:n_thinking]) == "hm</think>"
