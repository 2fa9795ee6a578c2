"""Prompts: what a model reads, which words count, and one line for every prompt file that cannot be used."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ground.errors import InputError
from inference.protocols import agreement
from inference.stimuli.study import Option, Variant
from inference.stimuli.templates.prompt_forms import FORMS, OPTION_ORDERS, list_spellings_in_all_cases
from inference.stimuli.templates.prompts import PromptBook, build_template_values_of_options

ANSWERS = {"agree": ["yes"], "disagree": ["no"]}


def statement(text: str = "Rain is wet.", mask: str | None = None) -> dict:
    """The values of a statement's prompt."""
    return build_template_values_of_options(Variant("1", "original", "original", text, agreement.OPTIONS), mask)


def book(tmp_path, content) -> PromptBook:
    path = tmp_path / "mine.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
    return agreement.read_agreement_prompts(path)


class TestOurOwn:
    """The prompts that come with Waver."""

    ours = agreement.read_agreement_prompts()

    def test_there_is_one_per_form(self):
        assert self.ours.forms == FORMS
        assert self.ours.name_condition("plain", "no-yes") == "plain/no-yes"

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("order", OPTION_ORDERS)
    def test_the_statement_and_both_answers_are_shown_in_the_order_asked_for(self, form, order):
        prompt = self.ours.render(form, statement(mask="<mask>"), option_order=order)
        shown = prompt.text if form != "chat" else prompt.messages[-1]["content"]
        words = ("agree", "disagree") if form == "cloze" else ("yes", "no")
        first, second = (re.search(rf"\b{word}\b", shown.partition("with it?")[2] or shown).start() for word in words)
        assert "Rain is wet." in shown
        if form != "chat":
            assert (first < second) == (order == "yes-no")
        assert (prompt.text is None) == (form == "chat") == (prompt.messages is not None)

    def test_chat_names_both_words_in_order(self):
        first, second = (
            self.ours.render("chat", statement(), option_order=order).messages[0]["content"] for order in OPTION_ORDERS
        )
        assert "yes or no" in first
        assert "no or yes" in second

    @pytest.mark.parametrize("form", FORMS)
    def test_the_options_keep_their_order_whatever_is_shown_first(self, form):
        one, other = (
            self.ours.render(form, statement(mask="[MASK]"), option_order=order).answers for order in OPTION_ORDERS
        )
        assert one == other
        assert one[0][0] in ("yes", "agree")

    def test_cloze_holds_the_mask_of_the_engine_once(self):
        assert self.ours.render("cloze", statement(mask="<mask>")).text.count("<mask>") == 1
        with pytest.raises(InputError, match="no mask token"):
            self.ours.render("cloze", statement())

    def test_every_form_has_its_hash(self):
        assert len({self.ours.compute_hash_of_prompt_form(form) for form in FORMS}) == 3


def test_case_variants():
    assert list_spellings_in_all_cases(("yes",)) == ("yes", "Yes", "YES")
    assert list_spellings_in_all_cases(("Oui", "oui")) == ("Oui", "oui", "OUI")
    assert list_spellings_in_all_cases(("はい",)) == ("はい",)
    assert list_spellings_in_all_cases(("very good",)) == ("very good", "Very good", "VERY GOOD")


def test_a_file_of_ones_own_gives_its_name_to_the_condition(tmp_path):
    mine = book(tmp_path, {"plain": {"template": "{{ text }} {{ options[0].label }}\n", "answers": ANSWERS}})
    assert mine.forms == ("plain",)
    assert mine.name_condition("plain", "yes-no") == "mine/plain/yes-no"
    assert (
        mine.render("plain", statement(), option_order="no-yes").text == "Rain is wet. disagree\n"
    )  # newline kept, to the letter
    with pytest.raises(InputError, match=r"mine\.yaml: there is no form 'chat', only plain"):
        mine.render("chat", statement())


def test_roles_are_kept_in_chat(tmp_path):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{ text }}"}]
    prompt = book(tmp_path, {"chat": {"messages": messages, "answers": ANSWERS}}).render("chat", statement())
    assert prompt.messages == ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Rain is wet."})


def test_the_hash_follows_the_template_and_the_words(tmp_path):
    def hash_of(template: str = "{{ text }}", answers=ANSWERS) -> str:
        return book(tmp_path, {"plain": {"template": template, "answers": answers}}).compute_hash_of_prompt_form(
            "plain"
        )

    assert hash_of() == hash_of()
    assert len({hash_of(), hash_of("{{ text }}\n"), hash_of(answers={"agree": ["yes"], "disagree": ["never"]})}) == 3


def test_a_label_without_words_is_refused(tmp_path):
    mine = book(tmp_path, {"plain": {"template": "{{ text }}", "answers": ANSWERS}})
    other = build_template_values_of_options(
        Variant("1", "original", "original", "x", (Option("agree", "agree"), Option("neutral", "x")))
    )
    with pytest.raises(InputError, match="form plain: answers has no option 'neutral'"):
        mine.render("plain", other)


def test_an_unknown_order_is_refused():
    with pytest.raises(InputError, match="option order 'sideways' is unknown; there are yes-no, no-yes"):
        agreement.read_agreement_prompts().render("plain", statement(), option_order="sideways")


@pytest.fixture(scope="module")
def ours():
    return agreement.read_agreement_prompts()


@pytest.mark.slow
@settings(max_examples=40)
@given(text=st.text(min_size=1))
def test_a_statement_is_shown_to_the_letter_and_never_run(ours, text):
    for hostile in (text, "{{ options }} {% for x in y %}" + text, "<b>&amp;" + text):
        assert f"Statement: {hostile}\n" in ours.render("plain", statement(hostile)).text


def form(template: str = "{{ text }}", **answers) -> dict:
    return {"plain": {"template": template, "answers": answers or ANSWERS}}


WRONG = [
    ("", "expected the forms plain, chat, cloze"),
    ("plain: [", "line 1: malformed YAML"),
    ({"simple": {}}, "expected the forms"),
    ({"plain": {"template": "{{ text }}"}}, "form plain: expected template and answers, and nothing else"),
    ({"plain": {"template": 5, "answers": ANSWERS}}, "form plain: template must be text"),
    (form("{{ text }"), "form plain: template syntax, line 1"),
    (form("{{ statement }}"), "unknown variable 'statement'; there are options, persona, shots, text"),
    (form("{{ text }} {{ mask }}"), "unknown variable 'mask'"),
    (form("Do you agree?"), "the template never uses {{ text }}"),
    (form("{{ text }} {{ options[2].answer }}"), "the template fails: UndefinedError"),
    (form("{{ text }} {{ text.__class__.__mro__ }}"), "the template fails: SecurityError"),
    (form("{{ text }} {{ 1 / 0 }}"), "the template fails: ZeroDivisionError"),
    (form("{% include 'x' %}{{ text }}"), "the template fails"),
    (form(agree=["yes"]), "answers needs at least two options"),
    (form(agree=["yes"], disagree=[]), "answers.disagree must be a list of words"),
    (form(agree=["yes"], disagree=[False]), "answers.disagree holds False, which is not a word"),
    (form(agree=["yes"], disagree=["no", "Yes"]), "the word 'Yes' belongs to two options, agree and disagree"),
    ({"cloze": {"template": "{{ text }}", "answers": ANSWERS}}, "the template never uses {{ mask }}"),
    ({"chat": {"messages": [], "answers": ANSWERS}}, "messages must be a list"),
    ({"chat": {"messages": [{"role": "robot", "content": ""}], "answers": ANSWERS}}, "message 1: expected role"),
    ({"chat": {"messages": [{"role": "user", "content": 1}], "answers": ANSWERS}}, "message 1: content must be text"),
]


@pytest.mark.parametrize(("content", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_one_line_with_file_and_field(tmp_path, content, message):
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        book(tmp_path, content)
    assert "mine.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_not_utf8(tmp_path):
    with pytest.raises(InputError, match=r"missing\.yaml: cannot be read"):
        agreement.read_agreement_prompts(tmp_path / "missing.yaml")
    (tmp_path / "latin.yaml").write_bytes("plain: Ü".encode("latin-1"))
    with pytest.raises(InputError, match=r"line 1: not UTF-8 \(byte 7\)"):
        agreement.read_agreement_prompts(tmp_path / "latin.yaml")
