"""Template banks: ours are whole, a broken one is refused in one line, and draws do not depend on anything else."""

from __future__ import annotations

import copy
import re

import pytest
import yaml

from ground.errors import InputError
from inference.protocols.wording import templates
from inference.protocols.wording.templates import MANIPULATED, PATTERNS

BANKS = [("morality", "en"), ("morality", "ja"), ("sentiment", "en"), ("sentiment", "ja"), ("facts", "en")]
ENTRY = {
    "task": "size",
    "language": "en",
    "patterns": {
        "original": ["Is {{ text }} big?"],
        "synonym": ["Is {{ text }} large?", "Is {{ text }} huge?"],
        "antonym": ["Is {{ text }} small?"],
        "agreement": ["{{ text }} is big, isn't it?"],
        "strong_agreement": ["{{ text }} is surely big, isn't it?"],
    },
}


def bank_file(tmp_path, content) -> str:
    path = tmp_path / "mine.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
    return str(path)


def changed(**fields) -> list[dict]:
    return [{**copy.deepcopy(ENTRY), **fields}]


def with_pattern(pattern: str, value) -> list[dict]:
    entry = copy.deepcopy(ENTRY)
    entry["patterns"][pattern] = value
    return [entry]


def without_pattern(pattern: str) -> list[dict]:
    entry = copy.deepcopy(ENTRY)
    del entry["patterns"][pattern]
    return [entry]


@pytest.mark.parametrize(("name", "language"), BANKS)
def test_our_banks_have_one_original_and_four_or_five_of_each_pattern(name, language):
    bank = templates.read_template_bank(name, language)
    assert tuple(bank.templates) == PATTERNS
    assert len(bank.templates["original"]) == 1
    assert all(len(bank.templates[pattern]) in (4, 5) for pattern in MANIPULATED)
    questions = [template.render_question("TEXT") for several in bank.templates.values() for template in several]
    assert len(set(questions)) == len(questions)
    assert all("TEXT" in question and question.endswith(("?", "？")) for question in questions)
    if language == "ja":
        assert not any(re.search("[a-z]", question.replace("TEXT", "")) for question in questions)


def test_every_bank_of_ours_is_known_to_these_tests():
    assert sorted({name for name, _ in BANKS}) == list(templates.list_template_banks())
    assert {language for _, language in BANKS} == {"en", "ja"}


def test_antonyms_alone_turn_the_answer_round():
    bank = templates.read_template_bank("sentiment", "en")
    for pattern, several in bank.templates.items():
        for template in several:
            assert [option.label for option in template.options] == ["yes", "no"]
            meant = [option.canonical for option in template.options]
            assert meant == (["no", "yes"] if pattern == "antonym" else ["yes", "no"])
            assert template.swap_answer_if_antonym("yes") == ("no" if pattern == "antonym" else "yes")


def test_a_bank_of_ones_own(tmp_path):
    path = bank_file(tmp_path, [*changed(), *changed(task="weight", note="other fields are notes")])
    bank = templates.read_template_bank(f"{path}:weight", "en")
    assert (bank.name, bank.task, bank.language) == ("mine", "weight", "en")
    assert bank.templates["synonym"][1].name == "synonym-02"
    assert bank.original.render_question("The {{ sea }}") == "Is The {{ sea }} big?"  # a text is no template
    with pytest.raises(InputError, match=r"has the tasks size, weight; choose one as --templates .*:size$"):
        templates.read_template_bank(path, "en")
    with pytest.raises(InputError, match="no task 'price', only size, weight"):
        templates.read_template_bank(f"{path}:price", "en")
    with pytest.raises(InputError, match="task size: there are no templates in 'ja', only in en"):
        templates.read_template_bank(f"{path}:size", "ja")


def test_a_region_has_its_own_templates_or_those_of_its_language(tmp_path):
    path = bank_file(tmp_path, [*changed(), *changed(language="en-GB")])
    languages = [templates.read_template_bank(path, code).language for code in ("en", "en-GB", "en-US")]
    assert languages == ["en", "en-GB", "en"]
    with pytest.raises(InputError, match="there are no templates in 'de-AT', only in en, en-GB"):
        templates.read_template_bank(path, "de-AT")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (without_pattern("antonym"), "task size, language en: the pattern antonym is missing"),
        (with_pattern("antonyms", ["x {{ text }}"]), "task size, .*: unknown pattern 'antonyms'; there are original,"),
        (with_pattern("synonym", ["Is it big?"]), r"pattern synonym, template 1: the template never uses {{ text }}"),
        (with_pattern("synonym", ["Is {{ texts }} big?"]), "template 1: unknown variable 'texts'; there are text"),
        (with_pattern("synonym", ["Is {{ text big?"]), "pattern synonym, template 1: template syntax, line 1"),
        (with_pattern("synonym", ["{{ text.__class__.__mro__ }}"]), "template 1: the template fails: SecurityError"),
        (with_pattern("synonym", ["{{ text }} {{ 1 / 0 }}"]), "template 1: the template fails: ZeroDivisionError"),
        (with_pattern("synonym", ["Is {{ text }} big?"]), "pattern synonym: synonym-01 is the same as original-01"),
        (with_pattern("synonym", []), "pattern synonym: expected a list of templates"),
        (with_pattern("synonym", [3]), "pattern synonym, template 1: must be text, not 3"),
        (with_pattern("original", ["{{ text }}?", "{{ text }}??"]), "there is one original question, not 2"),
        (changed(language="german"), "task size, language: 'german' is no code of .*the nearest is 'de'"),
        (changed(patterns=["a"]), "patterns must name original, synonym"),
        (changed(task=3), "entry 1: task must be text, not 3"),
        ([*changed(), *changed()], "entry 2: task size is already there in 'en'"),
        ([{"task": "size", "language": "en"}], "entry 1: expected task, language and patterns"),
        ({"task": "size"}, "expected a list of entries"),
        ("- task: [", "line .*: malformed YAML"),
    ],
)
def test_one_line_with_file_task_and_pattern(tmp_path, content, message):
    path = bank_file(tmp_path, content)
    with pytest.raises(InputError, match=message) as raised:
        templates.read_template_bank(path, "en")
    assert str(raised.value).startswith(path) and "\n" not in str(raised.value)


def test_an_unknown_bank_names_ours():
    with pytest.raises(InputError, match=r"--templates moral: no such file, .*\(facts, morality, sentiment\)"):
        templates.read_template_bank("moral", "en")


def test_a_draw_depends_on_seed_item_and_pattern_only():
    bank = templates.read_template_bank("morality", "en")
    items = [f"i{number}" for number in range(400)]
    drawn = {item: bank.draw_template("agreement", item, 0).name for item in items}
    assert {
        item: bank.draw_template("agreement", item, 0).name for item in reversed(items[:7])
    }.items() <= drawn.items()
    counts = [list(drawn.values()).count(template.name) for template in bank.templates["agreement"]]
    assert all(50 < count < 110 for count in counts)  # 80 each are expected; a standard deviation is 8
    assert {item: bank.draw_template("agreement", item, 1).name for item in items} != drawn


def test_a_new_template_moves_only_the_items_that_draw_it(tmp_path):
    small = templates.read_template_bank(bank_file(tmp_path, changed()), "en")
    added = with_pattern("synonym", ["Is {{ text }} tall?", "Is {{ text }} huge?", "Is {{ text }} large?"])
    large = templates.read_template_bank(bank_file(tmp_path, added), "en")
    for item in map(str, range(100)):
        before, after = (bank.draw_template("synonym", item, 0).source for bank in (small, large))
        assert after in (before, "Is {{ text }} tall?")


def test_the_banks_of_the_paper_load_as_they_are(shared):
    for task in ("morality", "sentiment"):
        for language in ("en", "ja"):
            bank = templates.read_template_bank(f"{shared / 'takayama-templates.yaml'}:{task}", language)
            assert [len(bank.templates[pattern]) for pattern in ("original", "synonym", "antonym")] == [1, 4, 4]


@pytest.mark.slow
def test_our_templates_are_none_of_the_papers(shared):
    def sources(bank):
        return {re.sub(r"\W", "", template.source) for several in bank.templates.values() for template in several}

    for name, language in BANKS[:4]:
        theirs = templates.read_template_bank(f"{shared / 'takayama-templates.yaml'}:{name}", language)
        assert not sources(templates.read_template_bank(name, language)) & sources(theirs)
