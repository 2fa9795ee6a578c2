"""The wording protocol: a run's stimuli and conditions, Japanese options as token ids, real tiny models to the end."""

from __future__ import annotations

import json
from argparse import Namespace

import pyarrow.parquet as pq
import pytest

from ground.errors import InputError
from ground.languages import NAME_BY_LANGUAGE
from helpers.commands import ROOT
from inference.__main__ import main
from inference.protocols import wording
from inference.protocols.wording import exemplars, templates
from inference.protocols.wording.templates import MANIPULATED
from inference.protocols.wording.texts import Text
from inference.stimuli.study import Option, Variant
from inference.stimuli.templates.prompt_forms import Shot
from inference.stimuli.templates.prompts import PromptBook, build_template_values_of_options

pytestmark = pytest.mark.slow

TEXTS = tuple(Text(f"t{n}", f"Remark number {n}.", "yes" if n % 2 else "no") for n in range(12))
BANK = templates.read_template_bank("sentiment", "en")
YES_NO = (Option("yes", "yes"), Option("no", "no"))


def book(language: str) -> PromptBook:
    return wording.read_yes_no_prompt_file(language)


def variant(text: str = "Is rain wet?", language: str = "en") -> Variant:
    return Variant("1", "original", "original", text, YES_NO, language=language)


def options(*arguments: str) -> Namespace:
    """What the command line makes of arguments of `run wording`."""
    from inference.__main__ import build_parser_importing_only_called_command

    given = ["run", "wording", "--model", "demo", "--out", "/nowhere", *arguments]
    return build_parser_importing_only_called_command(given).parse_args(given)


class TestStudy:
    """Stimuli, as analysis relies on them."""

    def test_one_wording_per_pattern(self):
        study = wording.build_wording_study(TEXTS, BANK, "remarks", seed=1)
        assert (study.protocol, study.canonical) == ("wording", ("yes", "no"))
        for item, text in zip(study.items, TEXTS, strict=True):
            assert [each.variant for each in item.variants] == ["original", *MANIPULATED]
            for each in item.variants:
                row = each.row()
                assert row["pattern"] == row["variant"] and row["language"] == "en" and row["gold"] == text.gold
                assert row["options"] == ["yes", "no"]
                assert row["canonical"] == (["no", "yes"] if row["pattern"] == "antonym" else ["yes", "no"])
                attributes = dict(row["attributes"])
                assert attributes["task"] == "sentiment" and attributes["template"].startswith(row["pattern"])
                assert text.text in row["text"]

    def test_templates_stay_when_items_are_added_or_reordered(self):
        def drawn(texts, seed=0):
            study = wording.build_wording_study(texts, BANK, "remarks", seed=seed)
            return {each.key: each.text for each in study.variants}

        assert drawn(TEXTS[::-1]) == drawn(TEXTS)
        assert drawn(TEXTS[:5]).items() <= drawn(TEXTS).items()
        assert drawn(TEXTS, seed=1) != drawn(TEXTS)

    def test_all_templates(self):
        study = wording.build_wording_study(TEXTS[:1], BANK, "remarks", all_templates=True)
        names = [each.variant for each in study.variants]
        assert names[:2] == ["original", "synonym-01"]
        assert len(names) == sum(map(len, BANK.templates.values()))
        assert [each.pattern for each in study.variants].count("antonym") == len(BANK.templates["antonym"])


class TestPrompts:
    """Zero- and few-shot, chat and plain, in all languages."""

    shots = (Shot("Is ice hot?", "no"), Shot("Is ice cold?", "yes"))

    @pytest.mark.parametrize("language", NAME_BY_LANGUAGE)
    def test_plain_text_shows_exemplars_before_the_question_and_ends_where_the_answer_begins(self, language):
        zero = book(language).render("plain", build_template_values_of_options(variant())).text
        few = book(language).render("plain", build_template_values_of_options(variant()), shots=self.shots)
        yes, no = (words[0] for words in few.answers)
        asked = few.text.index("Is rain wet?")
        assert few.text.index("Is ice hot?") < few.text.index("Is ice cold?") < asked
        assert few.text[few.text.index("Is ice hot?") : asked].count(no) == 1
        assert few.text[few.text.index("Is ice cold?") : asked].count(yes) == 1
        assert few.text[asked:] == zero[zero.index("Is rain wet?") :]
        assert few.text[-1] in ":：" and "\n\n\n" not in few.text

    @pytest.mark.parametrize("language", NAME_BY_LANGUAGE)
    def test_chat_shows_exemplars_as_turns(self, language):
        zero = book(language).render("chat", build_template_values_of_options(variant())).messages
        few = book(language).render("chat", build_template_values_of_options(variant()), shots=self.shots)
        assert [message["role"] for message in few.messages] == ["user", "assistant"] * 2 + ["user"]
        assert [message["content"] for message in few.messages[1::2]] == [few.answers[1][0], few.answers[0][0]]
        assert few.messages[-1:] == zero
        assert few.messages[0]["content"] == zero[0]["content"].replace("Is rain wet?", "Is ice hot?")

    def test_every_surface_form_of_both_answers(self):
        english, japanese = (
            book(language).render("plain", build_template_values_of_options(variant())) for language in ("en", "ja")
        )
        assert english.answers == (("Yes", "yes", "YES"), ("No", "no", "NO"))
        assert japanese.answers == (("はい", "ハイ"), ("いいえ", "イイエ"))

    def test_prompts_of_ones_own_may_place_exemplars_in_chat_and_must_in_plain(self, tmp_path):
        answers = {"yes": ["aye"], "no": ["nay"]}
        content = "{% for s in shots %}{{ s.question }} {{ s.answer }}; {% endfor %}{{ text }}"
        forms = {
            "plain": {"template": "{{ text }}", "answers": answers},
            "chat": {"messages": [{"role": "user", "content": content}], "answers": answers},
        }
        (tmp_path / "own.yaml").write_text(json.dumps(forms))
        own = wording.read_yes_no_prompt_file("en", tmp_path / "own.yaml")
        (message,) = own.render("chat", build_template_values_of_options(variant()), shots=self.shots).messages
        assert message["content"] == "Is ice hot? nay; Is ice cold? aye; Is rain wet?"
        assert own.render("plain", build_template_values_of_options(variant())).text == "Is rain wet?"
        with pytest.raises(InputError, match=r"own.yaml, form plain: the template never uses {{ shots }}"):
            own.render("plain", build_template_values_of_options(variant()), shots=self.shots)


class TestCommandLine:
    """What `prepare` makes of a call."""

    def test_conditions_record_form_shots_prompts_and_exemplars(self):
        study, questions = wording.prepare_study(options("--items", "sentiment-ja", "--shots", "0,4", "--seed", "3"))
        assert study.name == "sentiment-ja"
        rounds = questions.rounds("plain")
        zero, few = (each.conditions[0] for each in rounds)
        assert (zero.name, few.name) == ("plain/0-shot", "plain/4-shot")
        assert zero.fields["exemplars_hash"] is None and len(few.fields["exemplars_hash"]) == 64
        assert [each["pattern"] for each in few.fields["exemplars"]] == list(MANIPULATED)
        assert json.loads(json.dumps(few.fields)) == few.fields  # as a resumed run compares them
        asked = {each.text for each in study.variants}
        assert len(study.items) == 60
        for exemplar in questions.exemplars:
            assert not any(exemplar.text.text in text for text in asked)
            assert exemplar.shot.question in rounds[1].render(next(study.variants), None).text

    def test_few_shot_does_not_change_which_items_are_sampled(self):
        drawn = [
            wording.prepare_study(options("--items", "demo", "--sample", "40", "--balanced", *shots))[0].hash
            for shots in ((), ("--shots", "4"))
        ]
        assert drawn[0] == drawn[1]

    def test_a_region_is_asked_as_its_language_is(self):
        (english, asked), (region, regional) = (
            wording.prepare_study(options("--items", "demo", *more)) for more in ((), ("--language", "en-US"))
        )
        assert region.hash == english.hash
        assert [each.conditions for each in regional.rounds("chat")] == [
            each.conditions for each in asked.rounds("chat")
        ]

    def test_texts_of_an_exemplar_file_are_not_asked(self, tmp_path):
        rows = [{"text": each.text, "gold": each.gold} for each in TEXTS]
        (tmp_path / "items.json").write_text(json.dumps(rows))
        chosen = [{**rows[n], "pattern": pattern} for n, pattern in zip((0, 2, 4, 1), MANIPULATED, strict=True)]
        (tmp_path / "exemplars.json").write_text(json.dumps(chosen))
        call = ("--items", f"{tmp_path}/items.json", "--text-column", "text", "--gold-column", "gold",
                "--templates", "sentiment", "--language", "en",
                "--exemplars", f"{tmp_path}/exemplars.json")  # fmt: skip
        study, questions = wording.prepare_study(options(*call, "--shots", "4"))
        assert study.name == "items-sentiment" and len(study.items) == 8
        assert [each.shot.label for each in questions.exemplars] == ["no", "yes", "no", "yes"]
        with pytest.raises(InputError, match="--exemplars is for few-shot conditions"):
            wording.prepare_study(options(*call))

    def test_a_run_is_gone_on_with_under_its_own_seed(self, tmp_path):
        about = json.loads((ROOT / "tests/fixtures/run-of-f7ec5ae/wording/run.json").read_text(encoding="utf-8"))
        (tmp_path / "run.json").write_text(json.dumps({**about, "seed": 9}), encoding="utf-8")
        given = options("--items", "demo", "--sample", "10")
        given.out = str(tmp_path)
        resumed = wording.prepare_study(given)[0].hash
        assert resumed == wording.prepare_study(options("--items", "demo", "--sample", "10", "--seed", "9"))[0].hash
        assert resumed != wording.prepare_study(options("--items", "demo", "--sample", "10"))[0].hash

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--items", "x.csv"], "--items x.csv: --text-column is needed for a file"),
            (["--items", "x.csv", "--text-column", "t"], "--language is needed for a file"),
            (
                ["--items", "demo", "--gold-column", "g"],
                "--gold-column is for a file; the texts of --items demo need none",
            ),
            (["--items", "sentiment-ja", "--language", "en"], "is in 'ja', not in 'en'"),
            (["--items", "demo", "--templates", "morality:health"], "no task 'health', only morality"),
            (["--items", "demo", "--sample", "400"], "--sample 400: there is no more to ask than 192 items"),
        ],
    )
    def test_calls_that_do_not_fit(self, arguments, message):
        with pytest.raises(InputError, match=message):
            wording.prepare_study(options(*arguments))

    @pytest.mark.parametrize("shots", ["3", "0,2", "", "four"])
    def test_there_are_no_or_four_exemplars(self, shots, capsys):
        with pytest.raises(SystemExit):
            options("--items", "demo", "--shots", shots)
        assert "four exemplars, one per pattern" in capsys.readouterr().err

    def test_demo_stands_for_the_models_that_can_be_asked(self):
        from inference.asking.models import find_requested_models

        assert [
            model.id
            for model in find_requested_models(["demo"])
            if model not in find_requested_models(["demo"], wording.KINDS)
        ] == ["waver-demo-bert"]


def test_the_digest_of_exemplars_follows_what_is_shown():
    drawn = exemplars.draw_wording_exemplars(TEXTS, BANK, 0)
    assert exemplars.compute_wording_exemplars_hash(drawn) == exemplars.compute_wording_exemplars_hash(
        exemplars.draw_wording_exemplars(TEXTS, BANK, 0)
    )
    assert exemplars.compute_wording_exemplars_hash(drawn) != exemplars.compute_wording_exemplars_hash(
        exemplars.draw_wording_exemplars(TEXTS, BANK, 1)
    )


@pytest.fixture(scope="module")
def tiny():
    pytest.importorskip("torch")
    return pytest.importorskip("helpers.tiny_models")


class TestRealModels:
    """Tiny models with random weights."""

    @pytest.mark.parametrize("kind", ["byte", "metaspace"])
    def test_japanese_options_are_told_apart_behind_the_bytes_they_share(self, tiny, tmp_path, kind):
        """Reference: the product of next-token probabilities along the bytes of each form, one pass per prefix."""
        import torch

        from inference.engines import load_engine
        from inference.engines.exact.answer_words import tokenize_answers_into_options

        tokenizer = tiny.byte_tokenizer() if kind == "byte" else tiny.metaspace_tokenizer()
        engine = load_engine(tiny.checkpoint(tmp_path / "model", "llama", tokenizer, max_position_embeddings=1024))
        prompt = book("ja").render("plain", build_template_values_of_options(variant("雨はぬれますか？", "ja")))
        found = tokenize_answers_into_options(prompt.text, prompt.answers, engine.tokens.bare)
        yes, no = (dict(forms) for forms in found.forms)
        assert yes["はい"][:2] == no["いいえ"][:2] and yes["はい"][2] != no["いいえ"][2]
        start = engine.tokenizer(prompt.text)["input_ids"]

        def along(ids) -> float:
            logits = engine.model(torch.tensor([[*start, *ids]])).logits[0].float().log_softmax(-1)
            return float(sum(logits[len(start) + place - 1, token] for place, token in enumerate(ids)))

        (score,) = engine.score([prompt])[0]
        with torch.inference_mode():
            expected = [
                float(torch.tensor([along(ids) for ids in sequences]).logsumexp(0)) for sequences in found.sequences
            ]
        assert score.logprob == pytest.approx(expected, abs=1e-4)
        assert abs(score.logprob[0] - score.logprob[1]) > 0.01

    def test_a_base_and_a_chat_model_from_the_command_line(self, tiny, tmp_path, capsys):
        room = {"max_position_embeddings": 2048}
        models = [
            tiny.checkpoint(tmp_path / "base", "llama", **room),
            tiny.checkpoint(tmp_path / "chat", "llama", tiny.byte_tokenizer(chat=True), **room),
        ]
        call = ["run", "wording", "--items", "sentiment-en", "--shots", "0,4", "--sample", "6", "--balanced",
                "--model", *models, "--out", str(tmp_path / "run"), "--device", "cpu"]  # fmt: skip
        assert main(call) == 0
        said = capsys.readouterr().err
        assert "64 rows: 64 items (32 yes, 32 no); 4 are exemplars; asked: 6 items (3 yes, 3 no)" in said
        assert "gold is the right answer to: Somebody wrote:" in said
        record = json.loads((tmp_path / "run" / "run.json").read_text())
        assert set(record["conditions"]) == {f"{form}/{shots}-shot" for form in ("plain", "chat") for shots in (0, 4)}
        rows = pq.ParquetDataset(tmp_path / "run" / "responses").read().to_pylist()
        assert len(rows) == 2 * 2 * 6 * 5
        assert all(row["error"] is None and 0 < row["mass"] <= 1 for row in rows)
        stimuli = pq.read_table(tmp_path / "run" / "stimuli.parquet").to_pylist()
        assert {tuple(row["canonical"]) for row in stimuli if row["pattern"] == "antonym"} == {("no", "yes")}
        assert main(call) == 0  # nothing left to ask
        assert main([*call, "--seed", "1"]) == 2
        assert "the study has changed since this run was begun" in capsys.readouterr().err
