"""The protocol `choice`: its study, its prompts, and the columns of its rows."""

from __future__ import annotations

import json
from string import ascii_uppercase

import pytest

from ground.errors import InputError
from helpers.questions import options, row, write
from helpers.trivial_engine import shown
from inference.engines.contract import Generation, Sampling, Score
from inference.protocols import choice
from inference.protocols.choice.reading import build_columns_of_likeliest_words, build_columns_of_majority_choice
from inference.protocols.choice.wordings import build_question_items
from inference.stimuli.questions import MATH, Question, draw_choice_orders
from inference.stimuli.study import Option, Variant
from inference.stimuli.templates.prompts import Prompt

GRASS = Question(
    "grass", "What colour is grass?", ("red", "green", "blue", "grey"), 1,
    ("Which colour has grass?", "Grass is what?"), "general knowledge", "CommonsenseQA", "test",
    ((2, 0, 1, 3), (3, 2, 1, 0)),
)  # fmt: skip
SUM = Question("sum", "What is 1 + 1?", ("1", "2", "3", "4", "5"), 1, ("How much is 1 + 1?",), MATH)


class TestStudy:
    """What is asked: every wording with every order of the choices."""

    def test_a_variant_is_a_wording_with_an_order(self):
        (item,) = choice.build_study_of_choice_questions(build_question_items([GRASS]), "colours").items
        assert [(each.variant, each.pattern, each.text) for each in item.variants] == [
            ("original/1", "original", "What colour is grass?"), ("original/2", "original", "What colour is grass?"),
            ("paraphrase-1/1", "paraphrase_1", "Which colour has grass?"),
            ("paraphrase-1/2", "paraphrase_1", "Which colour has grass?"),
            ("paraphrase-2/1", "paraphrase_2", "Grass is what?"), ("paraphrase-2/2", "paraphrase_2", "Grass is what?"),
        ]  # fmt: skip
        first = item.variants[0]
        assert first.options == (Option("A", "C"), Option("B", "A"), Option("C", "B"), Option("D", "D"))
        assert first.gold == "B"  # green, in the order of the file; it is shown at C
        assert first.attributes == {
            "wording": "original", "order": "CABD", "choices": "A. blue\nB. red\nC. green\nD. grey",
            "choice_A": "red", "choice_B": "green", "choice_C": "blue", "choice_D": "grey",
            "subset": "general knowledge", "source": "CommonsenseQA", "split": "test",
        }  # fmt: skip

    def test_the_canonical_letters_are_all_that_are_used(self):
        assert choice.build_study_of_choice_questions(build_question_items([GRASS, SUM]), "both").canonical == tuple(
            "ABCDE"
        )
        many = Question("many", "Which?", tuple(f"thing {number}" for number in range(26)), 25)
        assert choice.build_study_of_choice_questions(build_question_items([many]), "many").canonical == tuple(
            ascii_uppercase
        )

    def test_orders_are_those_of_the_file_or_drawn(self):
        def orders(question, *given):
            (item,) = build_question_items([question], *given)
            return [each.attributes["order"] for each in item.variants if each.pattern == "original"]

        assert orders(GRASS) == orders(GRASS, 2, 5) == ["CABD", "DCBA"]
        assert orders(GRASS, 1) == ["CABD"]
        drawn = [
            ["".join(ascii_uppercase[at] for at in each) for each in draw_choice_orders("sum", 5, 8, seed)]
            for seed in (0, 1)
        ]
        assert [orders(SUM), orders(SUM, 8, 1)] == drawn and drawn[0] != drawn[1]
        assert orders(SUM, 3) == drawn[0][:3] and len(set(orders(SUM, 120))) == 120

    @pytest.mark.parametrize(
        ("question", "given", "words"),
        [
            (Question("three", "Which?", ("a", "b", "c"), 0), None, "--orders 8: item 'three' has 3 choices, .* 6"),
            (GRASS, 3, "--orders 3: item 'grass' brings 2 orders"),
            (Question("read", "Who?", ("a", "b", "c", "d"), 0, passage="Once ..."), None, "item 'read'.*passage"),
        ],
    )  # fmt: skip
    def test_orders_that_do_not_exist_and_passages_are_refused(self, question, given, words):
        with pytest.raises(InputError, match=words):
            build_question_items([question], given)

    def test_three_choices_can_be_asked_in_their_six_orders(self):
        (item,) = build_question_items([Question("three", "Which?", ("a", "b", "c"), 0)], 6)
        assert len({each.attributes["order"] for each in item.variants}) == 6

    def test_a_choice_takes_one_line_and_marks_of_html_stay(self):
        odd = Question(
            "odd", "Which?", ("two\nB. lines", "<b>bold</b>", "{{ question }}", "  x  y "), 0, orders=((3, 2, 1, 0),)
        )
        study = choice.build_study_of_choice_questions(build_question_items([odd]), "odd")
        text = choice.Questions(choice.read_choice_prompts()).rounds("plain")[0].render(next(study.variants), None).text
        assert text == "Question: Which?\nA. x y\nB. {{ question }}\nC. <b>bold</b>\nD. two B. lines\nAnswer:"


class TestPrompts:
    """What is shown in each form, kind and way."""

    @staticmethod
    def prompts(form, question=GRASS, **settings):
        variant = build_question_items([question], 2)[0].variants[0]
        asked = choice.Questions(choice.read_choice_prompts(), **settings)
        return [(each.conditions, each.render(variant, None)) for each in asked.rounds(form)]

    @pytest.mark.parametrize("form", ["plain", "chat"])
    def test_every_prompt_shows_the_question_and_all_choices(self, form):
        settings = {"kinds": ("base", "aware"), "ways": ("letters", "texts", "text"), "texts": (Sampling(),)}
        found = self.prompts(form, **settings)
        assert len(found) == 6
        for _, prompt in found:
            assert shown(prompt).count("Question: What colour is grass?\nA. blue\nB. red\nC. green\nD. grey") == 1
            assert "\n\n\n" not in shown(prompt) and shown(prompt) == shown(prompt).strip()

    def test_plain_prompts_end_where_the_model_goes_on(self):
        def ends(**settings):
            return [
                prompt.text.rpartition("\n")[2]
                for _, prompt in self.prompts("plain", ways=("text",), texts=(Sampling(),), **settings)
            ]

        assert ends() == ["Answer:"] and ends(reasoned=frozenset({"grass"})) == ["Reasoning:"]
        assert ends(kinds=("aware",)) == ["Paraphrase:"]
        letters, texts = (prompt.text for _, prompt in self.prompts("plain", ways=("letters", "texts")))
        assert letters.endswith("\nAnswer:") and texts.endswith("\nAnswer in words:")

    @pytest.mark.parametrize("kind", ["base", "aware"])
    def test_the_lines_that_a_chat_model_is_to_write_stand_in_their_order(self, kind):
        for reasoned, order in (((), ("Answer", "Reasoning")), (("grass",), ("Reasoning", "Answer"))):
            ((_, prompt),) = self.prompts(
                "chat", kinds=(kind,), ways=("text",), texts=(Sampling(),), reasoned=frozenset(reasoned)
            )
            lines = [line.partition(":")[0] for line in shown(prompt).splitlines()]
            wanted = ["Paraphrase"] * (kind == "aware") + list(order)
            assert [line for line in lines if line in ("Paraphrase", "Answer", "Reasoning")] == wanted

    def test_conditions_are_named_by_form_kind_and_way(self):
        texts = (Sampling(1, 0.0, 64), Sampling(10, 0.7, 64))
        found = [
            each for some, _ in self.prompts("plain", ways=("letters", "texts", "text"), texts=texts) for each in some
        ]
        assert [each.name for each in found] == [
            "plain/base/letters", "plain/base/texts", "plain/base/text", "plain/base/text-t0.7",
        ]  # fmt: skip
        assert found[0].fields.keys() == {"form", "prompt_kind", "way", "prompt", "prompt_hash"}
        assert found[3].fields | {"prompt_hash": ""} == {
            "form": "plain", "prompt_kind": "base", "way": "text", "prompt": None, "prompt_hash": "",
            "format": "by subset", "answer": "text", "temperature": 0.7, "samples": 10, "max_tokens": 64,
            "effort": None, "reply_rule": 4, "reply_reading": "letter",
        }  # fmt: skip
        for settings, name in (
            ({"format": "answer first"}, "chat/base/text-answer-first"),
            ({"format": "reasoning first", "kinds": ("aware",)}, "chat/aware/text-reasoning-first"),
            ({"format": "by subset", "reading": "strict"}, "chat/base/text-strict"),
        ):
            (((condition,), _),) = self.prompts("chat", ways=("text",), texts=texts[:1], **settings)
            assert (condition.name, condition.fields["format"]) == (name, settings["format"])
            assert condition.fields["reply_reading"] == settings.get("reading", "letter")

    def test_letters_count_as_capitals_only_and_texts_as_they_are(self):
        (_, letters), (_, texts) = self.prompts("plain", ways=("letters", "texts"))
        assert letters.answers == (("A",), ("B",), ("C",), ("D",))
        assert texts.answers == (("blue",), ("red",), ("green",), ("grey",))

    def test_math_is_reasoned_first_by_subset(self, tmp_path):
        file = write(tmp_path, row(item="a"), row(item="b", subset=MATH))
        for name, reasoned in (("by-subset", {"b"}), ("answer-first", set()), ("reasoning-first", {"a", "b"})):
            _, asked = choice.prepare_study(options("--items", file, "--answer", "text", "--format", name))
            assert asked.reasoned == reasoned

    @pytest.mark.parametrize(
        ("template", "given", "words"),
        [
            ("{{ question }}", (), r"never uses \{\{ choices \}\}"),
            ("{{ question }} {{ choices }} {{ options }}", (), "options"),
            ("{% if aware %}{{ question }}{% endif %} {{ choices }}", (), r"never shows \{\{ question \}\}"),
            ("{{ question }} {{ choices }}", ("--prompt-kind", "aware"), r"own, form plain: .* \{\{ aware \}\}"),
            ("{{ question }} {{ choices }}", ("--format", "reasoning-first"), r"own.* \{\{ reasoning_first \}\}"),
        ],
    )  # fmt: skip
    def test_prompts_of_ones_own_are_checked(self, tmp_path, template, given, words):
        own = tmp_path / "own.yaml"
        own.write_text(json.dumps({"plain": {"template": template}}), encoding="utf-8")
        call = (
            "--items",
            write(tmp_path, row()),
            "--prompt",
            str(own),
            *(("--answer", "text", *given) if given else ()),
        )
        with pytest.raises(InputError, match=words):
            choice.prepare_study(options(*call))[1].rounds("plain")

    def test_prompts_of_ones_own_are_a_condition_of_their_own(self, tmp_path):
        own = tmp_path / "own.yaml"
        own.write_text(json.dumps({"plain": {"template": "{{ question }}\n{{ choices }}\nLetter:"}}), encoding="utf-8")
        study, asked = choice.prepare_study(options("--items", write(tmp_path, row()), "--prompt", str(own)))
        (each,) = asked.rounds("plain")
        assert each.conditions[0].name == "own/plain/base/letters"
        assert each.render(next(study.variants), None).text.endswith("\nLetter:")
        with pytest.raises(InputError, match="no form 'chat'"):
            asked.rounds("chat")


class TestAnswers:
    """From responses to columns."""

    variant = Variant("q", "original/1", "original", "Which?", tuple(map(Option, "ABC", "CAB")))

    def test_texts_answer_with_the_likeliest_choice_not_with_the_likeliest_token(self):
        columns = build_columns_of_likeliest_words(
            self.variant, Prompt("", None, ()), Score((0.1, 0.3, 0.2), (-2.3, -1.2, -1.6), 0.6, None)
        )
        assert (columns["answer"], columns["probability"]) == ("B", (0.1, 0.3, 0.2))
        bounds = build_columns_of_likeliest_words(
            self.variant, Prompt("", None, ()), Score((0.1, 0.0, 0.2), (), 0.3, 0, mass_upper=0.9)
        )
        assert (bounds["answer"], bounds["logprob"], bounds["mass_upper"]) == ("C", None, 0.9)

    def test_several_texts_vote_and_what_is_not_parsed_is_counted(self):
        def answer(*texts):
            return build_columns_of_majority_choice(self.variant, Prompt("Answer:", None, ()), Generation(texts, texts))

        assert answer(" B. x", " B", " A", None, "?") | {"output": 0} == {
            "output": 0, "count": [1, 2, 0], "invalid": 2, "read_otherwise": 0, "answer": "B",
            "sample_answer": ["B", "B", "A", None, None], "sample_answer_otherwise": ["B", "B", "A", None, None],
        }  # fmt: skip
        assert answer(" B", " A")["answer"] is None  # two are equal
        assert answer("none") | {"output": 0} == {
            "output": 0, "count": [0, 0, 0], "invalid": 1, "read_otherwise": 0, "answer": None,
            "sample_answer": [None], "sample_answer_otherwise": [None],
        }  # fmt: skip

    def test_a_letter_alone_is_read_and_what_the_other_reading_reads_otherwise_is_counted(self):
        texts = ("B", "**B**", "Answer: B. x", "A dog")
        rows = [
            build_columns_of_majority_choice(self.variant, Prompt(None, (), ()), Generation(texts, texts), reading)
            for reading in ("letter", "strict")
        ]
        assert [row["count"] for row in rows] == [[0, 3, 0], [0, 1, 0]]
        assert [(row["invalid"], row["read_otherwise"], row["answer"]) for row in rows] == [(1, 2, "B"), (3, 2, "B")]
