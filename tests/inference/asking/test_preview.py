"""The preview says what will be asked, in which tokens, how much of it and how long it takes; it writes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from ground.errors import InputError
from helpers.trivial_engine import TrivialEngine, loader, small_study
from inference.asking import preview
from inference.asking.answer_ways import AnswerWays
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.asking.preview import (
    estimate_seconds_of_asking_prompts,
    load_models_and_yield_previews,
    shorten_thoughts_and_compute_time_factor,
)
from inference.asking.preview import text as as_text
from inference.asking.preview.records import render_preview_json_and_list_errors
from inference.asking.preview.text import describe_preview, format_duration
from inference.asking.rounds import Exact, list_option_labels
from inference.engines.contract import Explanation, Sampling, Score, Thinking, Thoughts
from inference.protocols.agreement import Questions, read_agreement_prompts
from inference.stimuli.study import Item, Study
from inference.stimuli.templates.prompts import build_template_values_of_options

pytestmark = pytest.mark.slow

STUDY = small_study(items=5, paraphrases=5)
MODELS = (Model("a", "x"), Model("b", "y"))


def lines(models=MODELS, load=None, orders=("yes-no",), **settings) -> list[str]:
    return list(describe_preview(STUDY, previews(models, load, orders, **settings)))


def previews(models=MODELS, load=None, orders=("yes-no",), **settings):
    questions = Questions(read_agreement_prompts(), orders)
    return load_models_and_yield_previews(STUDY, models, questions, Settings(**settings), load or loader())


def test_one_prompt_its_options_and_what_is_to_come():
    text = "\n".join(lines())
    assert "study small (agreement): 5 items, 30 variants" in text
    assert "model a: causal, 10 parameters, float32 on cpu" in text
    assert "  | Statement: Thing 0 is good, said 0." in text
    assert "  item 0, variant original, 21 tokens:" in text
    assert "'yes' = 3+121; 'Yes' = 3+89;" in text
    assert "not counted (no such token): 'YES' 'NO'" in text
    assert text.count("to come: 30 prompts, 680 tokens, about 1 s or less") == 2
    assert lines()[-1] == "in all: 60 prompts, about 1 s or less (loading the models aside)"


def test_one_prompt_of_one_item_is_counted_as_one():
    first_item = Study(STUDY.protocol, "one", (Item("0", STUDY.items[0].variants[:1]),), STUDY.canonical)
    questions = Questions(read_agreement_prompts())
    text = list(
        describe_preview(
            first_item, load_models_and_yield_previews(first_item, MODELS[:1], questions, Settings(), loader())
        )
    )
    assert text[0] == "study one (agreement): 1 item, 1 variant" and text[-1].startswith("in all: 1 prompt, ")


def test_an_error_names_the_model_that_it_is_about():
    def load(model, seed):
        engine = loader()(model, seed)

        def explain_and_score_prompt(prompt, effort):
            raise InputError("none of the answers can be scored")

        engine.explain_and_score_prompt = (
            explain_and_score_prompt if model.id == "b" else engine.explain_and_score_prompt
        )
        return engine

    with pytest.raises(InputError, match=r"^b: none of the answers can be scored"):
        lines(load=load)


@pytest.mark.parametrize("bill", [None, {"cost": 2.0}, {"shown": "2 replies"}])
def test_an_engine_of_another_package_may_have_a_bill_without_words_or_none(bill, capsys):
    def load(model, seed):
        engine = loader()(model, seed)
        engine.close = lambda: bill
        return engine

    assert lines(load=load)[-1].startswith("in all: 60 prompts")
    assert capsys.readouterr().err.count(": 2 replies") == (2 if bill and "shown" in bill else 0)


def test_forms_of_the_same_tokens_stand_together_and_words_that_never_count_stand_once():
    variant, forms = next(STUDY.variants), (("agree", (7,)), ("Agree", (7,)), (" I do", (8, 9)))
    dropped = ((0, "AGREE", "long"), (1, "never", "long"), (1, "Never", "long"), (1, "NEVER", "long"))
    explanation = Explanation("text\n", 2, (forms, (("no", (1,)),)), dropped, Score((0.25, 0.5), (-1.0, -1.0), 0.75))
    assert list(as_text._describe_prompt_and_option_masses(explanation, variant, list_option_labels(variant))) == [
        "  item 0, variant original, 2 tokens:",
        "  | text",
        "  | ",
        "  agree: mass 0.25; counted (token ids): 'agree' 'Agree' = 7; ' I do' = 8+9;",
        "  disagree: mass 0.5; counted (token ids): 'no' = 1;",
        "  all options together: mass 0.75; the most probable answer belongs to: none of them",
        "  not counted, however capitalised (long): 'never'",
        "  not counted (long): 'AGREE'",
    ]


def test_one_token_is_one_and_what_nobody_counted_is_called_an_estimate():
    variant, options = next(STUDY.variants), ((("agree", ()),), (("no", ()),))

    def describe(**more):
        explanation = Explanation("text", 1, options, (), Score((0.25, 0.5), (-1.0, -1.0), 0.75), **more)
        return next(as_text._describe_prompt_and_option_masses(explanation, variant, list_option_labels(variant)))

    assert describe() == "  item 0, variant original, 1 token:"
    assert describe(is_length_estimated=True) == (
        "  item 0, variant original, about 1 token (an estimate: the server counted none):"
    )


def test_of_many_spellings_the_first_are_shown():
    variant = next(STUDY.variants)
    forms = tuple((f"word{number}", (number,)) for number in range(50))
    dropped = tuple((0, f"other{number}", "long") for number in range(13))
    explanation = Explanation("text", 2, (forms, forms[:12]), dropped, Score((0.25, 0.5), (-1.0, -1.0), 0.75))
    text = " ".join(
        " ".join(as_text._describe_prompt_and_option_masses(explanation, variant, list_option_labels(variant))).split()
    )
    assert "'word11' = 11; and 38 more disagree: " in text
    assert "'word11' = 11; all options" in text
    assert "'other11' and 1 more" in text and "other12" not in text


def test_the_masses_are_those_of_the_run():
    study_prompt = read_agreement_prompts().render("plain", build_template_values_of_options(next(STUDY.variants)))
    (score,) = TrivialEngine().score([study_prompt])[0]
    text = "\n".join(lines(MODELS[:1]))
    for label, probability in zip(("agree", "disagree"), score.probability, strict=True):
        assert f"  {label}: mass {probability:.3g}; counted" in text
    assert f"all options together: mass {score.mass:.3g}; the most probable answer belongs to: " in text


def test_every_form_and_order_is_shown():
    text = "\n".join(lines(MODELS[:1], load=loader(form="chat"), orders=("yes-no", "no-yes")))
    assert text.index("condition chat/yes-no") < text.index("yes or no") < text.index("condition chat/no-yes")
    assert "no or yes" in text


def test_a_prompt_without_a_response_says_why():
    assert "  no response: too long" in lines(load=loader(fails=lambda text: True))


def test_the_time_is_estimated_from_a_sample_and_the_rest(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(preview.time, "perf_counter", lambda: now[0])

    class Clock(TrivialEngine):
        """A tenth of a second per token."""

        def score(self, prompts, temperatures=(1.0,)):
            now[0] += sum(self.count_prompt_tokens(prompts)) / 10
            return super().score(prompts, temperatures)

    book = read_agreement_prompts()
    prompts = [
        book.render("plain", build_template_values_of_options(variant)) for variant in small_study(40, 9).variants
    ]
    engine = Clock()
    tokens = sum(engine.count_prompt_tokens(prompts))
    assert estimate_seconds_of_asking_prompts(engine, prompts, [Exact()]) == pytest.approx(tokens / 10)
    assert now[0] < 0.1 * tokens / 10
    assert estimate_seconds_of_asking_prompts(engine, prompts[:1], [Exact()]) == pytest.approx(
        engine.count_prompt_tokens(prompts[:1])[0] / 10
    )


def test_thoughts_are_timed_short_and_said_to_take_longer_the_longer_they_are():
    answers = AnswerWays(False, (), (Thinking(2, 0.5, max_tokens=640), Thinking(1, 0.0, effort="none")))
    questions = Questions(read_agreement_prompts(), answers=answers)
    load = loader(info={"thinks": True}, form="chat", seconds=0.02)
    text = "\n".join(
        describe_preview(STUDY, load_models_and_yield_previews(STUDY, MODELS[:1], questions, Settings(), load))
    )
    assert "condition chat/yes-no/thought-t0.5\n" in text
    assert "these are the probabilities without a thought; the run asks for them after each thought" in text
    assert re.search(r"30 prompts, 710 tokens, about (1 s or less|\d+ s) to \d+ s, by how long the thoughts are", text)
    assert re.search(r"in all: 30 prompts, about (1 s or less|\d+ s) to \d+ s \(", text)
    ways, factor = shorten_thoughts_and_compute_time_factor([way.way for way in questions.rounds("chat")[0].conditions])
    assert (ways[0], ways[1].effort, factor) == (Thinking(2, 0.5, max_tokens=64), "none", 10)


def test_where_thinking_is_off_the_prompt_and_its_probabilities_are_those_of_the_run():
    def load(model, seed):
        engine = loader(info={"thinks": True}, form="chat")(model, seed)
        engine.think = lambda prompts, thinking: (
            [Thoughts(scores=(Score((0.25, 0.5), (-1.0, -1.0), 0.75),))] * len(prompts)
        )
        return engine

    answers = AnswerWays(False, (), (Thinking(1, 0.0, effort="none"),))
    questions = Questions(read_agreement_prompts(), answers=answers)
    text = "\n".join(
        describe_preview(STUDY, load_models_and_yield_previews(STUDY, MODELS[:1], questions, Settings(), load))
    )
    assert "[none]" in text and "all options together: mass 0.75;" in text
    assert "after each thought" not in text


@pytest.mark.parametrize(
    "answers",
    [
        AnswerWays(False, (Sampling(effort="low"),)),
        AnswerWays(False, (), (Thinking(2, 0.5, effort="low"),)),
    ],
)
def test_the_prompt_is_shown_with_the_effort_that_it_is_asked_with(answers):
    load = loader(info={"thinks": True}, form="chat")
    questions = Questions(read_agreement_prompts(), answers=answers)
    previews = load_models_and_yield_previews(STUDY, MODELS[:1], questions, Settings(), load)
    text = "\n".join(describe_preview(STUDY, previews))
    assert "[low]" in text
    assert "30 prompts, 710 tokens" in text  # 680 without the effort, which is one more in each


def test_of_several_efforts_the_longest_prompts_are_counted():
    answers = AnswerWays(False, (), (Thinking(2, 0.5), Thinking(2, 0.5, effort="low")))
    questions = Questions(read_agreement_prompts(), answers=answers)
    load = loader(info={"thinks": True}, form="chat")
    text = "\n".join(
        describe_preview(STUDY, load_models_and_yield_previews(STUDY, MODELS[:1], questions, Settings(), load))
    )
    assert "30 prompts, 710 tokens" in text


def test_what_is_billed_after_thoughts_is_at_most_a_request_per_beginning_of_a_number():
    ways = [Thinking(thoughts=8, budget=512)]
    assert preview._count_tokens_read_and_written(100, 1, ways, None) == (9 * 100 + 8 * 512, 8 * (512 + 1))
    requests = 1 + 9 + 9 + 1  # none, "1" to "9", " ", and " 1" to " 9"
    assert preview._count_tokens_read_and_written(100, 1, ways, range(1, 10)) == (
        100 + 8 * (requests + 1) * (100 + 512),  # one more counts tokens
        8 * (512 + requests + 16),
    )


def test_what_is_billed_where_thinking_is_off_has_no_thoughts():
    ways = [Thinking(thoughts=1, temperature=0.0, effort="none")]
    assert preview._count_tokens_read_and_written(100, 1, ways, None) == (100, 1)
    assert preview._count_tokens_read_and_written(100, 1, ways, range(1, 10)) == (100 * (20 + 1), 20 + 16)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s or less"), (42.4, "42 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (9000, "2 h 30 min")],
)
def test_duration(seconds, said):
    assert format_duration(seconds) == said


class TestJson:
    """The same as JSON, which keeps its schema."""

    SCHEMA = json.loads((Path(preview.__file__).parent / "schema.json").read_text("utf-8"))

    def read(self, models=MODELS, *args, **settings) -> dict:
        by_model = {model.id: previews([model], *args, **settings) for model in models}
        text, errors = render_preview_json_and_list_errors(STUDY, by_model)
        content = json.loads(text)
        assert errors == [failure["error"] for failure in content["failed"]]
        jsonschema.Draft202012Validator.check_schema(self.SCHEMA)
        jsonschema.Draft202012Validator(self.SCHEMA).validate(content)
        return content

    def test_a_model_that_fails_is_named_and_the_others_are_there(self):
        def load(model, seed):
            if model.id == "a":
                raise InputError("a: there is no such model")
            return loader()(model, seed)

        content = self.read(MODELS, load)
        assert [model["model"] for model in content["models"]] == ["b"]
        assert content["failed"] == [{"model": "a", "error": "a: there is no such model"}]
        assert content["n_prompts"] == 30

    def test_the_engine_of_a_model_that_fails_is_closed_before_the_next_is_loaded(self):
        calls = []

        def load(model, seed):
            calls.append(f"load {model.id}")
            engine = loader()(model, seed)
            engine.close = lambda: calls.append(f"close {model.id}")
            if model.id == "a":
                engine.explain_and_score_prompt = raise_input_error
            return engine

        def raise_input_error(prompt, effort):
            raise InputError("none of the answers can be scored")

        self.read(MODELS, load)
        assert calls == ["load a", "close a", "load b", "close b"]

    def test_it_has_the_numbers_of_the_text(self):
        content = self.read(orders=("yes-no", "no-yes"))
        assert (content["n_items"], content["n_variants"], content["n_prompts"]) == (5, 30, 120)
        assert [model["model"] for model in content["models"]] == ["a", "b"]
        (first, second) = content["models"][0]["rounds"]
        assert (first["conditions"], second["conditions"]) == (["plain/yes-no"], ["plain/no-yes"])
        assert (first["n_prompts"], first["n_tokens"], first["is_at_most"]) == (30, 680, False)
        example = first["example"]
        assert (example["item"], example["variant"], example["n_tokens"]) == ("0", "original", 21)
        assert [option["option"] for option in example["options"]] == ["agree", "disagree"]
        assert example["mass"] == pytest.approx(sum(option["probability"] for option in example["options"]))
        assert {"form": "yes", "tokens": [3, 121]} in example["options"][0]["counted"]
        assert {"form": "YES", "reason": "no such token"} in example["options"][0]["not_counted"]

    def test_a_prompt_without_a_response_has_its_error(self):
        example = self.read(MODELS[:1], loader(fails=lambda text: True))["models"][0]["rounds"][0]["example"]
        assert (example["error"], example["mass"], example["answer"]) == ("too long", None, None)
        assert example["options"][0]["probability"] is None

    def test_the_rounds_that_are_not_shown_are_summed(self, monkeypatch):
        monkeypatch.setattr(preview, "SHOWN_ROUNDS", 1)
        (model,) = self.read(MODELS[:1], orders=("yes-no", "no-yes"))["models"]
        assert model["rounds"][1] == {
            "conditions": ["plain/no-yes"], "n_prompts": 30, "n_tokens": None, "bill": None, "example": None,
            "is_at_most": False, "seconds": pytest.approx(model["rounds"][0]["seconds"]),
        }  # fmt: skip
        assert model["n_prompts"] == 60
