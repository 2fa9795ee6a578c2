"""The protocol `choice`: its study, its prompts, its command line, and the rows of a run."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from string import ascii_uppercase

import pytest

from analysis import runs
from helpers.commands import ROOT
from helpers.trivial_engine import shown
from inference.__main__ import main, table_parser
from inference.engines.contract import Generation, Sampling, Score
from inference.errors import InputError
from inference.protocols import choice
from inference.protocols.choice.reading import read_replies, read_texts
from inference.protocols.choice.wordings import items
from inference.stimuli.prompts import Prompt
from inference.stimuli.questions import MATH, Question, draw_orders
from inference.stimuli.study import Option, Variant

SMALL = str(ROOT / "inference" / "demo" / "models" / "waver-demo-small")
GRASS = Question(
    "grass", "What colour is grass?", ("red", "green", "blue", "grey"), 1,
    ("Which colour has grass?", "Grass is what?"), "general knowledge", "CommonsenseQA", "test",
    ((2, 0, 1, 3), (3, 2, 1, 0)),
)  # fmt: skip
SUM = Question("sum", "What is 1 + 1?", ("1", "2", "3", "4", "5"), 1, ("How much is 1 + 1?",), MATH)


def options(*arguments):
    return table_parser("choice").parse_args(["--model", "m", *arguments], Namespace(out=None))


def write(folder: Path, *rows: dict, name: str = "mcq.jsonl") -> str:
    file = folder / name
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(file)


def row(**changes) -> dict:
    return {"question": "What colour is grass?", "choices": ["red", "green", "blue", "grey"], "answer": "B"} | changes


class TestStudy:
    """What is asked: every wording with every order of the choices."""

    def test_a_variant_is_a_wording_with_an_order(self):
        (item,) = choice.study(items([GRASS]), "colours").items
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
        assert choice.study(items([GRASS, SUM]), "both").canonical == tuple("ABCDE")
        many = Question("many", "Which?", tuple(f"thing {number}" for number in range(26)), 25)
        assert choice.study(items([many]), "many").canonical == tuple(ascii_uppercase)

    def test_orders_are_those_of_the_file_or_drawn(self):
        def orders(question, *given):
            (item,) = items([question], *given)
            return [each.attributes["order"] for each in item.variants if each.pattern == "original"]

        assert orders(GRASS) == orders(GRASS, 2, 5) == ["CABD", "DCBA"]
        assert orders(GRASS, 1) == ["CABD"]
        drawn = [
            ["".join(ascii_uppercase[at] for at in each) for each in draw_orders("sum", 5, 8, seed)] for seed in (0, 1)
        ]
        assert [orders(SUM), orders(SUM, 8, 1)] == drawn and drawn[0] != drawn[1]
        assert orders(SUM, 3) == drawn[0][:3] and len(set(orders(SUM, 120))) == 120

    @pytest.mark.parametrize(
        ("question", "given", "words"),
        [
            (Question("three", "Which?", ("a", "b", "c"), 0), None, "--orders 8: item 'three' has 3 choices, which have 6 orders"),
            (GRASS, 3, "--orders 3: item 'grass' brings 2 orders"),
            (Question("read", "Who?", ("a", "b", "c", "d"), 0, passage="Once ..."), None, "item 'read'.*passage"),
        ],
    )  # fmt: skip
    def test_orders_that_do_not_exist_and_passages_are_refused(self, question, given, words):
        with pytest.raises(InputError, match=words):
            items([question], given)

    def test_three_choices_can_be_asked_in_their_six_orders(self):
        (item,) = items([Question("three", "Which?", ("a", "b", "c"), 0)], 6)
        assert len({each.attributes["order"] for each in item.variants}) == 6

    def test_a_choice_takes_one_line_and_marks_of_html_stay(self):
        odd = Question(
            "odd", "Which?", ("two\nB. lines", "<b>bold</b>", "{{ question }}", "  x  y "), 0, orders=((3, 2, 1, 0),)
        )
        study = choice.study(items([odd]), "odd")
        text = choice.Questions(choice.prompt_book()).rounds("plain")[0].render(next(study.variants), None).text
        assert text == "Question: Which?\nA. x y\nB. {{ question }}\nC. <b>bold</b>\nD. two B. lines\nAnswer:"


class TestPrompts:
    """What is shown in each form, kind and way."""

    @staticmethod
    def prompts(form, question=GRASS, **settings):
        variant = items([question], 2)[0].variants[0]
        asked = choice.Questions(choice.prompt_book(), **settings)
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
            "effort": None, "reply_rule": 1,
        }  # fmt: skip
        for settings, name in (
            ({"format": "answer first"}, "chat/base/text-answer-first"),
            ({"format": "reasoning first", "kinds": ("aware",)}, "chat/aware/text-reasoning-first"),
        ):
            (((condition,), _),) = self.prompts("chat", ways=("text",), texts=texts[:1], **settings)
            assert (condition.name, condition.fields["format"]) == (name, settings["format"])

    def test_letters_count_as_capitals_only_and_texts_as_they_are(self):
        (_, letters), (_, texts) = self.prompts("plain", ways=("letters", "texts"))
        assert letters.answers == (("A",), ("B",), ("C",), ("D",))
        assert texts.answers == (("blue",), ("red",), ("green",), ("grey",))

    def test_math_is_reasoned_first_by_subset(self, tmp_path):
        file = write(tmp_path, row(item="a"), row(item="b", subset=MATH))
        for name, reasoned in (("by-subset", {"b"}), ("answer-first", set()), ("reasoning-first", {"a", "b"})):
            _, asked = choice.prepare(options("--items", file, "--answer", "text", "--format", name))
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
            choice.prepare(options(*call))[1].rounds("plain")

    def test_prompts_of_ones_own_are_a_condition_of_their_own(self, tmp_path):
        own = tmp_path / "own.yaml"
        own.write_text(json.dumps({"plain": {"template": "{{ question }}\n{{ choices }}\nLetter:"}}), encoding="utf-8")
        study, asked = choice.prepare(options("--items", write(tmp_path, row()), "--prompt", str(own)))
        (each,) = asked.rounds("plain")
        assert each.conditions[0].name == "own/plain/base/letters"
        assert each.render(next(study.variants), None).text.endswith("\nLetter:")
        with pytest.raises(InputError, match="no form 'chat'"):
            asked.rounds("chat")


class TestAnswers:
    """From responses to columns."""

    variant = Variant("q", "original/1", "original", "Which?", tuple(map(Option, "ABC", "CAB")))

    def test_texts_answer_with_the_likeliest_choice_not_with_the_likeliest_token(self):
        columns = read_texts(self.variant, Prompt("", None, ()), Score((0.1, 0.3, 0.2), (-2.3, -1.2, -1.6), 0.6, None))
        assert (columns["answer"], columns["probability"]) == ("B", (0.1, 0.3, 0.2))
        bounds = read_texts(self.variant, Prompt("", None, ()), Score((0.1, 0.0, 0.2), (), 0.3, 0, mass_upper=0.9))
        assert (bounds["answer"], bounds["logprob"], bounds["mass_upper"]) == ("C", None, 0.9)

    def test_several_texts_vote_and_what_is_not_parsed_is_counted(self):
        def answer(*texts):
            return read_replies(self.variant, Prompt("Answer:", None, ()), Generation(texts, texts))

        assert answer(" B. x", " B", " A", None, "?") | {"output": 0} == {
            "output": 0, "count": [1, 2, 0], "invalid": 2, "answer": "B",
        }  # fmt: skip
        assert answer(" B", " A")["answer"] is None  # two are equal
        assert answer("none") | {"output": 0} == {"output": 0, "count": [0, 0, 0], "invalid": 1, "answer": None}


class TestCommandLine:
    """What `prepare` makes of a call, and what `run choice` writes."""

    def test_questions_without_paraphrases_are_asked_and_told_in_one_line(self, tmp_path, capsys):
        file = write(tmp_path, row(), row(item="with", paraphrases=["Which colour has grass?"]))
        study, asked = choice.prepare(options("--items", file, "--orders", "3"))
        (told,) = capsys.readouterr().err.splitlines()
        assert "2 questions, 9 prompts" in told and "1 have no paraphrase: asked in one wording only" in told
        assert (study.name, study.protocol, asked.ways, study.building) == ("mcq", "choice", ("letters",), ())

    def test_a_split_is_asked_alone(self, tmp_path):
        file = write(tmp_path, *(row(item=name, split=name) for name in ("train", "validation", "test")))
        for given in (("test",), ("train", "validation")):
            study, _ = choice.prepare(options("--items", file, "--split", *given))
            assert [item.item for item in study.items] == list(given)
        with pytest.raises(InputError, match=r"--split test: no question of .* is in this split; it has none at all"):
            choice.prepare(options("--items", write(tmp_path, row()), "--split", "test"))

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (("--prompt-kind", "aware"), "--prompt-kind aware: .* --answer text"),
            (("--prompt-kind", "base", "aware", "--answer", "text", "letters"), "--prompt-kind aware"),
            (("--temperature", "1"), "--temperature is about generated texts"),
            (("--format", "answer-first"), "--format is about generated texts"),
            (("--max-tokens", "9", "--answer", "texts"), "--max-tokens is about generated texts"),
            (("--answer", "text", "--samples", "3"), "--samples is for temperatures above 0"),
        ],
    )  # fmt: skip
    def test_wrong_calls_are_refused(self, given, words):
        with pytest.raises(InputError, match=words):
            choice.prepare(options("--items", "demo", *given))

    def test_the_numbers_of_the_building_stand_in_the_run(self, tmp_path):
        file = write(tmp_path, row(item="a"))
        (tmp_path / "mcq.building.csv").write_text(
            "step,source,count,reason\nread,ARC,20,\nfilter,ARC,3,no question mark\n"
        )
        main(["run", "choice", "--items", file, "--model", SMALL, "--out", str(tmp_path / "run"), "--orders", "2"])
        assert json.loads((tmp_path / "run" / "run.json").read_text())["study"]["building"] == [
            {"step": "read", "source": "ARC", "count": 20, "reason": None},
            {"step": "filter", "source": "ARC", "count": 3, "reason": "no question mark"},
        ]

    @pytest.mark.parametrize(
        ("text", "words"),
        [("step,source,count,reason\nread,ARC,many,\n", "row 2: count must be"), ("step,count\nread,1\n", "column"),
         ("step,source,count,reason\nread,ARC,-1,\n", "row 2: count must be"),
         ("step,source,count,reason\n,ARC,1,\n", "row 2: there is no step")],
    )  # fmt: skip
    def test_damaged_numbers_of_the_building_are_refused(self, tmp_path, text, words):
        (tmp_path / "mcq.building.csv").write_text(text)
        with pytest.raises(InputError, match=f"mcq.building.csv.*{words}"):
            choice.prepare(options("--items", write(tmp_path, row())))

    def test_a_run_of_all_ways_has_a_row_for_every_prompt(self, tmp_path):
        file = write(tmp_path, row(item="a", paraphrases=["Grass is what?"]), row(item="b", answer="A"))
        call = ["run", "choice", "--items", file, "--model", SMALL, "--out", str(tmp_path / "run"), "--max-tokens", "4"]
        assert main([*call, "--answer", "letters", "texts", "text"]) == 0
        opened = runs.open(tmp_path / "run")
        found = opened.sql("SELECT * FROM responses")
        assert found.groupby("condition").size().to_dict() == dict.fromkeys(
            ("plain/base/letters", "plain/base/texts", "plain/base/text"), 3 * 8
        )
        assert found.error.isna().all()
        recorded = json.loads((tmp_path / "run" / "run.json").read_text())["asked"]
        for condition, end in (("letters", "\nAnswer:"), ("texts", "\nAnswer in words:"), ("text", "\nAnswer:")):
            (entry,) = recorded[f"plain/base/{condition}"]
            assert entry["wordings"][0]["content"] == [
                "Question: ", {"column": "text"}, "\n", {"column": "attributes.choices"}, end,
            ]  # fmt: skip
