"""Personas: where their text stands, what their conditions are called, and what they cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers import tiny_models
from helpers.commands import ROOT
from inference.__main__ import main
from inference.asking.answer_ways import AnswerWays
from inference.asking.personas.questions import PersonaQuestions
from inference.engines.contract import Sampling
from inference.engines.tokens import Tokens
from inference.protocols import agreement, choice, scale
from inference.protocols.choice.wordings import build_question_items
from inference.protocols.scale.items import build_scale_study
from inference.stimuli.personas import Persona, read_personas
from inference.stimuli.questions import Question
from inference.stimuli.study import ORIGINAL, Item, Option, Variant

MODELS = ROOT / "inference" / "demo" / "models"
NURSE, CLERK = Persona("nurse", "You are a nurse."), Persona("clerk 2", "You work in an office.")
VARIANT = Variant("tea", ORIGINAL, ORIGINAL, "Tea is good.", (Option("agree", "agree"), Option("disagree", "disagree")))
(SCALE_ITEM,) = build_scale_study([Item("tea", (VARIANT,))], "s", ("Disagree", "Neither", "Agree")).items
(QUESTION_ITEM,) = build_question_items(
    [Question("fox", "What is like the fox?", ("red", "blue"), 0, orders=((0, 1),))]
)
STUDIES: dict[str, tuple[Any, Variant]] = {
    "scale": (scale.Questions(scale.read_scale_prompts()), SCALE_ITEM.variants[0]),
    "agreement": (agreement.Questions(agreement.read_agreement_prompts()), VARIANT),
    "choice": (choice.Questions(choice.read_choice_prompts()), QUESTION_ITEM.variants[0]),
}
NAMES = {"scale": "plain/numbers-up", "agreement": "plain/yes-no", "choice": "plain/base/letters"}


@pytest.mark.parametrize("protocol", STUDIES)
def test_every_persona_is_a_condition_with_its_text_in_front(protocol):
    questions, variant = STUDIES[protocol]
    alone = {form: questions.rounds(form)[0].render(variant, None) for form in ("plain", "chat")}
    asked = PersonaQuestions(questions, (NURSE, CLERK))
    assert [c.name for round_ in asked.rounds("plain") for c in round_.conditions] == [
        f"{NAMES[protocol]}/persona-nurse", f"{NAMES[protocol]}/persona-clerk 2"]  # fmt: skip
    for persona, plain, chat in zip((NURSE, CLERK), asked.rounds("plain"), asked.rounds("chat"), strict=True):
        ((condition,), (other,)) = plain.conditions, questions.rounds("plain")[0].conditions
        assert condition.fields == {**other.fields, "persona": persona.name, "persona_text": persona.text}
        assert plain.render(variant, None).text == f"{persona.text}\n\n{alone['plain'].text}"
        system = {"role": "system", "content": persona.text}
        assert chat.render(variant, None).messages == (system, *alone["chat"].messages)
        assert chat.render(variant, None).answers == alone["chat"].answers


def test_ways_of_answering_come_after_the_persona():
    ways = AnswerWays(True, (Sampling(3, 0.7),))
    asked = PersonaQuestions(scale.Questions(scale.read_scale_prompts(), answers=ways), (NURSE,))
    names = [c.name for round_ in asked.rounds("chat") for c in round_.conditions]
    assert names == ["chat/numbers-up/persona-nurse", "chat/numbers-up/persona-nurse/text-t0.7"]


def test_a_template_may_place_the_persona_itself(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(
        "plain:\n  template: '{{ text }} {% if persona %}Say as {{ persona }}{% endif %}{% for o in options %} "
        "{{ o.answer }}{% endfor %}'\nchat:\n  messages:\n  - {role: system, content: Be brief.}\n"
        "  - {role: user, content: '{{ text }}{{ options | length }}'}\n",
        encoding="utf-8",
    )
    questions = scale.Questions(scale.read_scale_prompts(file))
    variant = SCALE_ITEM.variants[0]
    assert questions.rounds("plain")[0].render(variant, None).text == "Tea is good.  1 2 3"
    asked = PersonaQuestions(questions, (NURSE,))
    assert asked.rounds("plain")[0].render(variant, None).text == "Tea is good. Say as You are a nurse. 1 2 3"
    (system, _) = asked.rounds("chat")[0].render(variant, None).messages
    assert system == {"role": "system", "content": "You are a nurse.\n\nBe brief."}


@pytest.mark.parametrize(
    "template",
    [
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}",
        "{% for m in messages if m['role'] != 'system' %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}",
    ],
    ids=["refused", "left out"],
)
def test_where_a_chat_template_takes_no_system_message_the_persona_begins_the_question(template):
    tokens = Tokens("tiny", tiny_models.byte_tokenizer(chat=True, template=template))
    asked = PersonaQuestions(STUDIES["agreement"][0], (NURSE,)).rounds("chat")[0].render(VARIANT, None)
    assert tokens.render(asked).startswith("[user]You are a nurse.\n\nDo you agree")


def write(folder: Path, name: str, content: str) -> str:
    (folder / name).write_text(content, encoding="utf-8")
    return str(folder / name)


def test_personas_are_read_from_any_table(tmp_path, capsys):
    expected = (NURSE, CLERK)
    csv = write(tmp_path, "p.csv", "Name,text,age\nnurse,You are a nurse.,40\nclerk 2, You work in an office. ,50\n")
    assert read_personas(csv) == expected
    assert "columns not read: age" in capsys.readouterr().err
    rows = [{"name": persona.name, "text": persona.text} for persona in expected]
    assert read_personas(write(tmp_path, "p.json", json.dumps(rows))) == expected
    yaml = write(
        tmp_path, "p.yaml", "- {name: nurse, text: You are a nurse.}\n- {name: clerk 2, text: You work in an office.}\n"
    )
    assert read_personas(yaml) == expected


@pytest.mark.slow
def test_many_personas_are_one_run(tmp_path):
    personas = write(tmp_path, "p.csv", "name,text\n" + "".join(f"p{n},You are person {n}.\n" for n in range(13)))
    items = write(tmp_path, "i.csv", "item,text\na,Tea is good.\n")
    out = tmp_path / "run"
    call = ["run", "scale", "--items", items, "--options", "no;maybe;yes", "--personas", personas,
            "--model", str(MODELS / "waver-demo-mini"), "--out", str(out)]  # fmt: skip
    assert main(call) == 0
    content = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert len(content["conditions"]) == 13
    assert content["conditions"]["plain/numbers-up/persona-p7"]["persona_text"] == "You are person 7."
    assert content["asked"]["plain/numbers-up/persona-p7"][0]["prompt"].startswith("You are person 7.\n\nWhich")


@pytest.mark.slow
def test_a_preview_shows_the_first_of_many_personas(tmp_path, capsys):
    personas = write(tmp_path, "p.csv", "name,text\n" + "".join(f"p{n},You are person {n}.\n" for n in range(14)))
    items = write(tmp_path, "i.csv", "item,text\na,Tea is good.\n")
    call = ["preview", "scale", "--items", items, "--options", "no;maybe;yes", "--personas", personas]
    assert main([*call, "--model", str(MODELS / "waver-demo-mini")]) == 0
    shown = capsys.readouterr().out
    assert shown.count("  | You are person") == 12
    assert "and 2 more conditions, plain/numbers-up/persona-p12 to plain/numbers-up/persona-p13: 2 prompts" in shown
    assert "in all: 14 prompts" in shown
