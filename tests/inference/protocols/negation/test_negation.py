"""The protocol `negation`: its study, its prompts in both languages, its exemplars and its command line."""

from __future__ import annotations

import json
from argparse import Namespace

import pyarrow.parquet as pq
import pytest

from ground.errors import InputError
from helpers.trivial_engine import TrivialEngine
from inference.__main__ import build_parser_of_run_file_study
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Score
from inference.protocols import negation
from inference.protocols.negation import exemplars
from inference.stimuli import entailment, nli
from inference.stimuli.nli import LABELS, Instance, Negation


def options(*arguments):
    call = ["--items", "demo", "--model", "m", *arguments]
    return build_parser_of_run_file_study("negation").parse_args(call, Namespace(out=None))


def group(item: str, label: str = "entailment", end: str = "wet"):
    p, h = f"It rains on {item}.", f"{item} is {end}."
    n, m = f"It does not rain on {item}.", f"{item} is not {end}."
    return [
        Instance(item, "original", p, h, label),
        Instance(item, "p_neg", n, h, "neutral", Negation("end", "verb")),
        Instance(item, "h_neg", p, m, "contradiction", None, Negation("mid")),
        Instance(item, "p_neg_h_neg", n, m, "neutral", Negation("end", "verb"), Negation("mid")),
    ]


GROUPS = {f"town {number}": group(f"town {number}", LABELS[number % 3]) for number in range(9)}
INSTANCES = [each for instances in GROUPS.values() for each in instances]


class TestStudy:
    """What is asked: variants, their parents and attributes."""

    def test_parents_say_which_variants_make_a_minimal_pair(self):
        study = negation.build_negation_study(GROUPS, "towns", "en")
        variants = {each.variant: each for each in study.items[0].variants}
        assert {name: each.parents for name, each in variants.items()} == {
            "original": (), "p_neg-1": ("original",), "h_neg-1": ("original",),
            "p_neg_h_neg-1": ("p_neg-1", "h_neg-1"),
        }  # fmt: skip
        both = variants["p_neg_h_neg-1"]
        assert (both.gold, both.language, both.text) == ("neutral", "en", f"{INSTANCES[3].text}")
        assert both.attributes == {
            "premise": INSTANCES[3].premise, "hypothesis": INSTANCES[3].hypothesis, "premise_position": "end",
            "premise_target": "verb", "hypothesis_position": "mid",
        }  # fmt: skip
        assert [option.label for option in both.options] == list(LABELS) == list(study.canonical)

    def test_an_original_without_negations_is_asked_alone(self):
        study = negation.build_negation_study({"a": group("a")[:1]}, "one")
        assert [each.variant for each in study.variants] == ["original"]


class TestPrompts:
    """Zero- and few-shot, in all forms and both languages."""

    @pytest.mark.parametrize("language", ["en", "ja"])
    @pytest.mark.parametrize("form", ["plain", "chat", "cloze"])
    def test_a_prompt_shows_both_sentences_and_few_shot_the_exemplars_before_them(self, language, form):
        variant = next(negation.build_negation_study(GROUPS, "towns").variants)
        questions = negation.Questions(
            entailment.read_entailment_prompts(language),
            language,
            (0, 3),
            exemplars.draw_negation_exemplars(INSTANCES[4:], 3, 0),
        )
        zero, few = (each.render(variant, "[MASK]") for each in questions.rounds(form))
        text, more = (
            prompt.text or "\n".join(message["content"] for message in prompt.messages) for prompt in (zero, few)
        )
        premise, hypothesis = (variant.attributes[name] for name in ("premise", "hypothesis"))
        assert text.count(premise) == text.count(hypothesis) == 1
        assert ("[MASK]" in text) == (form == "cloze")
        for exemplar in questions.exemplars:
            assert more.index(exemplar.premise) < more.index(exemplar.hypothesis) < more.rindex(hypothesis)
        assert [len(words) > 0 for words in zero.answers] == [True] * 3
        assert "\n\n\n" not in more

    def test_conditions_record_their_exemplars(self):
        questions = negation.prepare_study(options("--shots", "0,3", "--seed", "1"))[1]
        (zero,), (few,) = (each.conditions for each in questions.rounds("plain"))
        assert (zero.name, few.name) == ("plain/0-shot", "plain/3-shot")
        assert (zero.fields["exemplars"], zero.fields["exemplars_hash"]) == ([], None)
        assert [each["answer"] for each in few.fields["exemplars"]] == list(LABELS)
        assert json.loads(json.dumps(few.fields)) == few.fields  # as a resumed run compares them


class TestExemplars:
    """Their labels, their originals, and what they depend on."""

    def test_labels_take_turns_and_originals_differ(self):
        drawn = exemplars.draw_negation_exemplars(INSTANCES, 6, 0)
        assert [each.label for each in drawn] == [*LABELS, *LABELS]
        assert len({each.item for each in drawn}) == 6
        assert exemplars.draw_negation_exemplars(INSTANCES[::-1], 3, 0) == drawn[:3]
        assert exemplars.draw_negation_exemplars(INSTANCES, 6, 1) != drawn

    def test_the_originals_of_exemplars_are_not_asked(self):
        drawn = exemplars.draw_negation_exemplars(INSTANCES, 3, 0)
        left = exemplars.drop_groups_containing_exemplars(nli.group_pairs_by_original(INSTANCES), drawn)
        assert set(left) == set(GROUPS) - {each.item for each in drawn}

    def test_too_few_originals_are_refused(self):
        with pytest.raises(InputError, match="none left with the label entailment"):
            exemplars.draw_negation_exemplars(group("a", "neutral"), 3, 0)


class TestCommandLine:
    """What `prepare` makes of a call."""

    def test_the_demo_is_asked_in_english_with_three_negations_of_every_original(self, capsys):
        study, questions = negation.prepare_study(options())
        assert study.name == "negation-demo" and questions.shots == (0,)
        assert [len(item.variants) for item in study.items] == [4] * 90
        told = "90 original, 90 p_neg, 90 h_neg, 90 p_neg_h_neg; 360 minimal pairs; asked in en"
        assert told in capsys.readouterr().err

    def test_japanese_sentences_get_japanese_prompts_and_what_is_lonely_is_told(self, tmp_path, capsys):
        row = {"premise": "雨が降る。", "hypothesis": "道が濡れる。", "label": "neutral", "item": "a"}
        path = tmp_path / "雨.jsonl"
        path.write_text(json.dumps(row), encoding="utf-8")
        study, questions = negation.prepare_study(options("--items", str(path)))
        assert "前提：雨が降る。" in questions.rounds("plain")[0].render(next(study.variants), None).text
        assert "1 original; 1 original has no negation; 0 minimal pairs; asked in ja" in capsys.readouterr().err

    def test_odd_sentences_are_asked_to_the_letter(self, tmp_path):
        odd = ["東京都庁舎前広場", "１２３４。", '「はい」と"言う"。', "長" * 300, "No Japanese.", "{{ premise }}"]
        rows = [{"premise": text, "hypothesis": "道が濡れる。", "label": "neutral"} for text in odd]
        path = tmp_path / "odd.jsonl"
        path.write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        study, questions = negation.prepare_study(options("--items", str(path)))
        (asked,) = questions.rounds("plain")
        for text, variant in zip(odd, study.variants, strict=True):
            assert f"前提：{text}\n" in asked.render(variant, None).text

    @pytest.mark.parametrize(("language", "name"), [("en", "plain/0-shot"), ("ja", "plain/0-shot/ja")])
    def test_a_region_of_a_language_is_that_language(self, language, name):
        conditions = [
            negation.prepare_study(options("--language", code))[1].rounds("plain")[0].conditions[0]
            for code in (language, f"{language}-XX")
        ]
        assert conditions[0].name == conditions[1].name == name
        assert conditions[0].fields["language"] == conditions[1].fields["language"] == language

    def test_prompts_in_another_language_are_a_condition_of_the_same_study(self):
        (own, questions), (same, foreign) = (
            negation.prepare_study(options(*more)) for more in ((), ("--language", "ja"))
        )
        assert own.hash == same.hash
        names = [each.rounds("plain")[0].conditions[0] for each in (questions, foreign)]
        assert [(each.name, each.fields["language"]) for each in names] == [
            ("plain/0-shot", "en"), ("plain/0-shot/ja", "ja"),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (("--shots", "2"), "'2': give 0, 3, 6"),
            (("--exemplars", "x.jsonl"), "--exemplars is for few-shot"),
            (("--items", "missing.jsonl"), "missing.jsonl: cannot be read"),
        ],
    )  # fmt: skip
    def test_wrong_calls_are_refused(self, given, words):
        with pytest.raises(InputError, match=words):
            negation.prepare_study(options(*given))

    @pytest.mark.slow
    def test_a_run_holds_three_probabilities_per_pair(self, tmp_path):
        class Three(TrivialEngine):
            def _score(self, text, batch):
                return Score((0.5, 0.3, 0.1), (-0.7, -1.2, -2.3), 0.9, 0)

        study = negation.build_negation_study({"town 0": GROUPS["town 0"]}, "towns")
        questions = negation.Questions(entailment.read_entailment_prompts("en"), "en")
        task = Task(study, (Model("m", "m"),), questions, Settings(), str(tmp_path / "run"), {}, ())
        ask_tasks_and_list_tallies([task], load=lambda model, seed: Three())
        (part,) = sorted((tmp_path / "run" / "responses").glob("*.parquet"))
        rows = pq.read_table(part).to_pylist()
        assert {tuple(row["probability"]) for row in rows} == {(0.5, 0.3, 0.1)}
        assert {row["answer"] for row in rows} == {"entailment"} and len(rows) == 4
