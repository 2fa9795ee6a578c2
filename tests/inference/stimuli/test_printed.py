"""Filled into a template that only prints them, texts make the prompts that the template makes of them."""

from __future__ import annotations

import random

import pytest

from inference.stimuli.templates import printed_texts
from inference.stimuli.templates.printed_texts import PrintedTexts, find_only_printed
from inference.stimuli.templates.sandbox import TooMuch, build_sandbox, compile_template

NAMES = {"text", "other", "flag"}
TEMPLATES = {
    "Say {{ text }}.": {"text"},
    "{{ text }} {{ text }}{{ other }}": {"text", "other"},
    "{% if flag %}{{ text }}{% else %}{{ other }}{% endif %}": {"text", "other"},
    "{% for x in [1, 2] %}{{ x }}{{ text }}{% endfor %}": {"text"},
    "{{ text|upper }}": set(),
    "{{ text }}{{ text|trim }}": set(),
    "{{ text ~ '!' }}": set(),
    "{% if text %}{{ text }}{% endif %}": set(),
    "{% set y = text %}{{ y }}{{ text }}": set(),
    "{% set text = 'a' %}{{ text }}": set(),
    "{% for text in [1, 2] %}{{ text }}{% endfor %}{{ other }}": {"other"},
    "{% filter upper %}{{ text }}{% endfilter %}": set(),
    "{% set y %}{{ text }}{% endset %}{{ y|length }}": set(),
    "{% macro m() %}{{ text }}{% endmacro %}{{ m()|upper }}": set(),
    "{% macro m(text) %}{{ text }}{% endmacro %}{{ m('a') }}{{ other }}": {"other"},
    "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ text }}{% endcall %}": set(),
    "{% for x in [[1, [2]]] recursive %}{{ text }}{{ x[0] }}{% endfor %}": set(),
    "{% with text = other %}{{ text }}{% endwith %}": set(),
    "{{ text }}{{ [text] }}": set(),
    "{{ text[:1] }}": set(),
    "{{ text if flag else other }}": set(),
    "\ue0000\ue001{{ text }}": {"text"},
    "\ue0020\ue001{{ text }}": {"text"},
}
TEXTS = ["a", "A b.", " two  blanks ", "\n", "", "{{ other }}", "\ue0000\ue001", "<&>", "\\1", "ü" * 50, "%s {0}"]


@pytest.mark.parametrize("source", TEMPLATES)
def test_a_text_is_only_printed_where_nothing_is_made_of_it(source: str) -> None:
    assert find_only_printed([build_sandbox().parse(source)], NAMES) == TEMPLATES[source]


@pytest.mark.parametrize("source", TEMPLATES)
def test_filled_prompts_are_those_of_the_template(source: str) -> None:
    template = compile_template("here", source)
    asked = 0

    def render(values):
        nonlocal asked
        asked += 1
        return [("user", template.render(values)), (None, f"{len(values)}")]

    names = tuple(sorted(find_only_printed([build_sandbox().parse(source)], NAMES)))
    filler = PrintedTexts(names)
    draw = random.Random(0)
    every = [{"text": draw.choice(TEXTS), "other": draw.choice(TEXTS), "flag": draw.random() < 0.5} for _ in range(300)]
    for values in every:
        expected = [("user", template.render(values)), (None, "3")]
        assert filler.render(values, "same", render) == expected
    if "flag" in source or not names:
        return
    # Two values of `flag`, and what else decides: each is rendered once as it is and twice with marks.
    others = {(values["flag"], *(values[name] for name in sorted({"text", "other"} - {*names}))) for values in every}
    if "\ue000" not in source and "\ue002" not in source:
        assert asked <= 3 * len(others)


def test_what_is_no_text_is_rendered() -> None:
    filler = PrintedTexts(("text",))
    for value in (None, 5, 1.0, True, ["a"], "b"):
        for _ in range(3):
            shown = filler.render({"text": value}, (), lambda values: [(None, repr(values["text"]))])
            assert shown == [(None, repr(value))] or type(value) is str


def test_values_that_are_equal_but_written_differently_are_not_mixed_up() -> None:
    filler = PrintedTexts(("text",))
    for value in (1, 1.0, True) * 3:
        values = {"text": "a", "other": value}
        assert filler.render(values, (), lambda v: [(None, f"{v['text']}{v['other']}")]) == [(None, f"a{value}")]


def test_long_texts_and_many_settings_are_rendered(monkeypatch) -> None:
    monkeypatch.setattr(printed_texts, "LONGEST", 4)
    monkeypatch.setattr(printed_texts, "REMEMBERED", 2)
    filler = PrintedTexts(("text",))
    seen = []

    def render(values):
        seen.append(values["text"])
        return [(None, values["text"])]

    for text in ("long", "long", "long", "abc", "abc"):
        assert filler.render({"text": text}, 1, render) == [(None, text)]
    assert seen[:4] == ["long"] * 3 + ["abc"]
    for number in range(9):
        assert filler.render({"text": "abc"}, number, render) == [(None, "abc")]
    assert len(filler._forms) + len(filler._once) <= 2


def test_a_prompt_that_is_longer_than_a_rendering_may_be_is_refused_as_ever() -> None:
    template = compile_template("here", "{% for x in range(200) %}{{ text }}{% endfor %}")
    filler = PrintedTexts(("text",))
    for length, allowed in ((1, True), (1, True), (1, True), (40_000, False)):
        text = "a" * length
        if allowed:
            assert filler.render({"text": text}, (), lambda v: [(None, template.render(v))]) == [(None, text * 200)]
        else:
            with pytest.raises(TooMuch):
                filler.render({"text": text}, (), lambda v: [(None, template.render(v))])
