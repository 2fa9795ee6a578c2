"""In which language texts are: codes, a line where texts look otherwise, and prompts in the language of the texts."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from ground.errors import InputError
from ground.languages import NAME_BY_LANGUAGE, detect_language_of_texts
from helpers.commands import ROOT, waver
from inference.__main__ import build_argument_parser_for_python_calls
from inference.asking.text_answers import parse_answer
from inference.protocols import agreement, list_protocols, wording
from inference.stimuli import languages
from inference.stimuli.study import Item, Option, Variant
from inference.stimuli.templates.prompt_forms import CLOZE, FORMS
from inference.stimuli.templates.prompts import build_template_values_of_options

MODEL = str(ROOT / "inference" / "demo" / "models" / "waver-demo-mini")
GERMAN = ("Tee ist besser als Kaffee und auch nicht so teuer.", "Ich trinke lieber Tee als Kaffee.",
          "Kaffee ist nicht so gut wie Tee.", "Hunde sind niemals bessere Haustiere als Katzen.")  # fmt: skip
ENGLISH = ("Tea is better than coffee and not as expensive.", "I would rather drink tea than coffee.",
           "Coffee is not as good as tea.", "Dogs are never better pets than cats.")  # fmt: skip
YES = {
    "agreement": {"en": "yes", "ja": "はい", "de": "ja", "fr": "oui", "es": "sí", "it": "sì", "nl": "ja", "zh": "同意"},
    "wording": {"en": "yes", "ja": "はい", "de": "ja", "fr": "oui", "es": "sí", "it": "sì", "nl": "ja", "zh": "是"},
}  # fmt: skip
NO = {
    "agreement": {"en": "no", "ja": "いいえ", "de": "nein", "fr": "non", "es": "no", "it": "no", "nl": "nee",
                  "zh": "不同意"},
    "wording": {"en": "no", "ja": "いいえ", "de": "nein", "fr": "non", "es": "no", "it": "no", "nl": "nee", "zh": "否"},
}  # fmt: skip
READ = {"agreement": agreement.read_agreement_prompts, "wording": wording.read_yes_no_prompt_file}
CELLS = [(protocol, language) for protocol in READ for language in NAME_BY_LANGUAGE]


def items(texts: tuple[str, ...], language: str | None = None, wordings: int = 2) -> tuple[Item, ...]:
    """Items of two wordings each."""
    parts = [texts[start : start + wordings] for start in range(0, len(texts), wordings)]
    return tuple(
        Item(f"item-{n}", tuple(Variant(f"item-{n}", f"v-{k}", "paraphrase", text, (), language=language)
                                for k, text in enumerate(part)))
        for n, part in enumerate(parts)
    )  # fmt: skip


def read(protocol: str, language: str):
    return READ[protocol](language=language)


class TestCodes:
    """ISO 639-1, with a region or without."""

    @pytest.mark.parametrize("code", [*NAME_BY_LANGUAGE, "pt", "sv", "de-AT", "zh-Hant"])
    def test_a_code_is_taken(self, code):
        assert languages.explain_invalid_language_code(code) == ""

    @pytest.mark.parametrize(
        ("code", "nearest"),
        [("german", "de"), ("Deutsch", "de"), ("deu", "de"), ("español", "es"), ("English", "en"), ("de_DE", "de")],
    )
    def test_the_nearest_code_is_named(self, code, nearest):
        assert f"(the nearest is '{nearest}')" in languages.explain_invalid_language_code(code)

    def test_what_is_like_no_code_gets_no_hint(self):
        assert languages.explain_invalid_language_code("xx").endswith("such as en, ja or de")
        assert languages.explain_invalid_language_code("")

    @pytest.mark.parametrize("protocol", list_protocols())
    def test_every_protocol_has_the_option(self, protocol):
        words = ["--items", "x", "--model", "m", "--out", "o", "--language"]
        parser = build_argument_parser_for_python_calls(protocol)
        assert parser.parse_args([*words, "de"]).language == "de"
        assert parser.parse_args([*words, "DE"]).language == "de"
        assert parser.parse_args([*words, "De-AT"]).language == "de-AT"
        with pytest.raises(InputError, match=r"--language: 'deutsch' is no code .* \(the nearest is 'de'\)"):
            parser.parse_args([*words, "deutsch"])


class TestAssigning:
    """Texts that name no language get the one that was given; what looks otherwise is said and not changed."""

    def told(self, capsys, study_items, language=None, in_english=False):
        assigned = languages.assign_language_to_texts(study_items, language, "x.csv", in_english=in_english)
        return {v.language for item in assigned for v in item.variants}, capsys.readouterr().err

    def test_english_texts_are_not_talked_about(self, capsys):
        assert self.told(capsys, items(ENGLISH)) == ({None}, "")
        assert self.told(capsys, items(ENGLISH), "en", True) == ({"en"}, "")

    def test_german_texts_that_name_no_language_are_noticed_and_left(self, capsys):
        line = (
            "x.csv: the texts look German, but no language is named: they are taken for English; give --language de\n"
        )
        assert self.told(capsys, items(GERMAN)) == ({None}, line)

    def test_a_language_that_is_given_silences_the_line(self, capsys):
        assert self.told(capsys, items(GERMAN), "de") == ({"de"}, "")
        assert self.told(capsys, items(GERMAN), "de-AT") == ({"de-AT"}, "")

    def test_a_text_keeps_the_language_that_it_names(self, capsys):
        assert self.told(capsys, (*items(GERMAN, "de"),), "en") == ({"de"}, "")

    def test_a_wrong_language_is_noticed(self, capsys):
        _, line = self.told(capsys, items(ENGLISH, "de"))
        assert "the texts look English, but the language named is 'de'" in line and line.count("\n") == 1

    def test_a_few_items_in_another_language_are_counted(self, capsys):
        _, line = self.told(capsys, items((*ENGLISH * 4, *GERMAN[:2])))
        assert line.startswith("x.csv: 1 of 9 items (such as item-8) looks German, but") and line.count("\n") == 1

    def test_where_there_are_english_prompts_only_it_is_said(self, capsys):
        line = "x.csv: the texts are in German, the prompts in English; --prompt FILE takes your own\n"
        assert self.told(capsys, items(GERMAN), "de", True) == ({"de"}, line)

    def test_the_language_that_all_texts_share(self):
        assert languages.find_shared_language(items(GERMAN, "de-AT")) == "de"
        assert languages.find_shared_language((*items(GERMAN, "de"), *items(ENGLISH, "en"))) is None
        assert languages.find_shared_language(items(GERMAN)) is None


@pytest.mark.parametrize(("protocol", "language"), CELLS)
class TestPrompts:
    """Waver's own prompts in eight languages."""

    def test_they_ask_in_their_language_for_their_words_in_all_spellings(self, protocol, language):
        book = read(protocol, language)
        labels = ("agree", "disagree") if protocol == "agreement" else ("yes", "no")
        variant = Variant("1", "original", "original", "TEXT", tuple(Option(x, x) for x in labels), language=language)
        for form in book.forms:
            prompt = book.render(form, build_template_values_of_options(variant, "[MASK]"))
            if form == CLOZE:
                assert prompt.text.count("[MASK]") == 1
                continue
            asked = prompt.text or prompt.messages[-1]["content"]
            yes, no = YES[protocol][language], NO[protocol][language]
            assert {yes, yes.capitalize(), yes.upper()} <= set(prompt.answers[0])
            assert {no, no.capitalize(), no.upper()} <= set(prompt.answers[1])
            assert not set(prompt.answers[0]) & set(prompt.answers[1])
            assert asked.count("TEXT") == 1
            folded = asked.casefold()
            assert folded.index(yes) < folded.rindex(no)
            assert detect_language_of_texts([asked.replace("TEXT", "")] * 3) in (language, None)

    def test_forms_and_words_are_those_of_the_english_prompts(self, protocol, language):
        book, english = read(protocol, language), read(protocol, "en")
        assert book.forms == english.forms
        assert protocol == "wording" or book.forms == FORMS
        for form in book.forms:
            assert list(book.get_answer_words_of_form(form)) == list(english.get_answer_words_of_form(form))

    def test_the_options_can_be_shown_in_the_opposite_order(self, protocol, language):
        book = read(protocol, language)
        labels = ("agree", "disagree") if protocol == "agreement" else ("yes", "no")
        values = {"text": "TEXT", "options": list(labels), "mask": "[MASK]"}
        for form in book.forms:
            assert book.render(form, values) != book.render(form, values, option_order="no-yes")


def test_a_language_without_prompts_is_one_line_that_names_the_option(tmp_path):
    with pytest.raises(InputError, match=r"^--language pt: there are no prompts .* --prompt FILE$"):
        languages.find_prompt_file(agreement.FOLDER, "pt")


def conditions_of(folder) -> dict:
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))["conditions"]


@pytest.mark.slow
def test_a_german_sheet_is_asked_in_german_and_says_so(tmp_path):
    rows = "".join(f"i{n // 2},{text}\n" for n, text in enumerate(GERMAN))
    (tmp_path / "fragen.csv").write_text(f"item,text\n{rows}", encoding="utf-8")
    call = ("inference", "run", "agreement", "--items", "fragen.csv", "--model", MODEL)
    assert "look German" not in waver(*call, "--language", "de", "--out", "run", cwd=tmp_path).stderr
    (name, fields), *others = conditions_of(tmp_path / "run").items()
    assert (name, fields["language"], others) == ("plain/yes-no", "de", [])
    assert fields["prompt_hash"] == agreement.read_agreement_prompts(language="de").compute_hash_of_prompt_form("plain")
    stimuli = pq.read_table(tmp_path / "run" / "stimuli.parquet")
    assert set(stimuli["language"].to_pylist()) == {"de"}


@pytest.mark.slow
def test_a_column_chooses_the_prompts_and_the_option_may_ask_in_english(tmp_path):
    rows = "".join(f"i{n // 2},{text},de\n" for n, text in enumerate(GERMAN))
    (tmp_path / "fragen.csv").write_text(f"item,text,language\n{rows}", encoding="utf-8")
    call = ("inference", "run", "agreement", "--items", "fragen.csv", "--model", MODEL, "--out", "run")
    waver(*call, cwd=tmp_path)
    waver(*call, "--language", "en", cwd=tmp_path)  # into the same folder: another condition of the same study
    languages_by_condition = {name: fields["language"] for name, fields in conditions_of(tmp_path / "run").items()}
    assert languages_by_condition == {"plain/yes-no": "de", "plain/yes-no/en": "en"}


@pytest.mark.parametrize(
    ("language", "text", "label"),
    [
        ("de", "**Nein**, das stimmt nicht.", "disagree"),
        ("fr", "Oui, je suis d'accord.", "agree"),
        ("es", "No, no estoy de acuerdo.", "disagree"),
        ("es", "Sí.", "agree"),
        ("it", "No, non sono d'accordo.", "disagree"),
        ("nl", "Nee, daar ben ik het niet mee eens.", "disagree"),
        ("zh", "我不同意这个说法。", "disagree"),
        ("ja", "はい、同意します。", "agree"),
    ],
)
def test_written_answers_are_read_by_the_words_of_the_prompt(language, text, label):
    words = agreement.read_agreement_prompts(language=language).get_answer_words_of_form("chat")
    assert parse_answer(text, words) == label


@pytest.mark.slow
@pytest.mark.parametrize("by_file", [False, True])
def test_a_folder_that_was_asked_in_english_goes_on_in_english(tmp_path, by_file):
    """Before there were German prompts, a column language chose none: such a folder could not be continued."""
    sheet, out = tmp_path / "items.csv", tmp_path / "runs" / "old"
    rows = [f'q{n},v{n},"{text}",de' for n, text in enumerate(GERMAN)]
    sheet.write_text("\n".join(["item,variant,text,language", *rows]) + "\n", encoding="utf-8")
    call = ("agreement", "--items", str(sheet), "--model", MODEL)
    waver("inference", "run", *call, "--out", str(out))
    run = json.loads((out / "run.json").read_text(encoding="utf-8"))
    english = agreement.read_agreement_prompts().compute_hash_of_prompt_form("plain")
    fields = run["conditions"]["plain/yes-no"]
    del fields["language"]
    fields["prompt_hash"] = english
    (out / "run.json").write_text(json.dumps(run), encoding="utf-8")
    if by_file:
        file = tmp_path / "study.toml"
        file.write_text(
            f'out = "runs"\n[[study]]\nprotocol = "agreement"\nfolder = "old"\nitems = "{sheet}"\nmodel = "{MODEL}"\n',
            encoding="utf-8",
        )
        again = waver("inference", "run", str(file), cwd=tmp_path)
    else:
        again = waver("inference", "run", *call, "--out", str(out))
    assert "nothing left to ask" in again.stderr
    assert "the texts are in German, the prompts in English" in again.stderr
