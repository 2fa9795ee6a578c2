"""Chat templates of checkpoints: the same text as from transformers, and none that loops, fills memory or is mute."""

from __future__ import annotations

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment
from transformers.utils import chat_template_utils

from ground.errors import InputError
from helpers import tiny_models
from inference.engines.tokens import CHAT_DATE, Tokens
from inference.stimuli.templates import sandbox
from inference.stimuli.templates.prompts import Prompt
from inference.stimuli.templates.sandbox import Sandbox

MESSAGES = (
    {"role": "system", "content": "Be brief. "},
    {"role": "user", "content": "Is <bread> \"good\" & 'warm'?\n{{ 7 }} 日本 🍞"},
    {"role": "assistant", "content": "Yes"},
    {"role": "user", "content": "  And lamps?  "},
)
TEMPLATES = {
    "as of tests": tiny_models.CHAT_TEMPLATE,
    "ChatML with trimmed blocks": (
        "{%- for message in messages %}\n    {%- if loop.first and message.role != 'system' %}\n"
        "        {{- '<|system|>You help.\n' }}\n    {%- endif %}\n"
        "    {{- '<|' + message['role'] + '|>\n' + message['content'] | trim + '<|end|>' + '\n' }}\n{%- endfor %}\n"
        "{%- if add_generation_prompt %}\n    {{- '<|assistant|>\n' }}\n{%- endif %}\n"
    ),
    "Llama 2: namespaces, slices, raise_exception": (
        "{% set ns = namespace(system='') %}{% if messages[0]['role'] == 'system' %}"
        "{% set ns.system = '<<SYS>>\n' + messages[0]['content'] + '\n<</SYS>>\n\n' %}"
        "{% set loop_messages = messages[1:] %}{% else %}{% set loop_messages = messages %}{% endif %}"
        "{% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Roles must alternate') }}{% endif %}{% set content = message['content'] %}"
        "{% if loop.index0 == 0 %}{% set content = ns.system ~ content %}{% endif %}"
        "{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}"
        "{% else %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
    ),
    "macros, filters, tojson, break, generation": (
        "{% macro shown(message) %}{{ message.role | upper | center(12) }}: {{ message | tojson }}"
        "{% for word in message.content.split() | reverse %}{% if loop.index > 2 %}{% break %}{% endif %}"
        "[{{ word | replace('a', 'A') }}]{% endfor %}{% endmacro %}"
        "{% for message in messages | selectattr('role', 'ne', 'system') %}{% generation %}{{ shown(message) }}"
        "{% endgeneration %}{{ '%s-%03d' % (loop.index, 7 * loop.index) }}{{ (['a'] * 3) | join(',') | length }}"
        "{% endfor %}{{ messages | map(attribute='content') | join('|') }}{{ date_string is defined }}"
    ),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_ordinary_templates_give_what_transformers_gives(name, monkeypatch):
    tokenizer = tiny_models.byte_tokenizer(chat=True, template=TEMPLATES[name])
    compiled = chat_template_utils._compile_jinja_template
    with monkeypatch.context() as patch:
        patch.setattr(chat_template_utils, "ImmutableSandboxedEnvironment", ImmutableSandboxedEnvironment)
        compiled.cache_clear()
        expected = tokenizer.apply_chat_template(
            list(MESSAGES), tokenize=False, add_generation_prompt=True, date_string=CHAT_DATE
        )
        assert type(compiled(TEMPLATES[name]).environment) is ImmutableSandboxedEnvironment
    compiled.cache_clear()
    assert Tokens("tiny", tokenizer).render(Prompt(None, MESSAGES, ())) == expected
    assert type(compiled(TEMPLATES[name]).environment) is Sandbox
    assert "lamps" in expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ 'x' * 10**9 }}{{ messages }}", "characters"),
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "its chat template refuses"),
        ("{{ messages }}{{ lipsum(10**6) }}", "its chat template refuses"),
        ("{{ messages[0].nothing.there }}", "its chat template refuses"),
    ],
)
def test_templates_that_take_too_much_are_refused(template, says, monkeypatch):
    monkeypatch.setattr(sandbox, "SECONDS", 0.05)
    tokenizer = tiny_models.byte_tokenizer(chat=True, template=template)
    with pytest.raises(InputError, match="model tiny: its chat template") as error:
        Tokens("tiny", tokenizer).render(Prompt(None, MESSAGES, ()))
    assert says in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("template", "mute"),
    [
        ("Well?", True),
        ("{% for message in messages %}{{ message.role }}{% endfor %}", True),
        ("{{ messages[-1].content }}", False),
        # Wants a system message, which the prompts may have.
        ("{% if messages[0].role != 'system' %}{{ raise_exception('no') }}{% endif %}{{ messages[1].content }}", False),
    ],
)
def test_a_template_that_never_shows_the_text_is_refused(template, mute):
    tokens = Tokens("tiny", tiny_models.byte_tokenizer(chat=True, template=template))
    if not mute:
        tokens.refuse_template_hiding_messages()
        return
    with pytest.raises(InputError, match="never shows the text of a message; correct it"):
        tokens.refuse_template_hiding_messages()
