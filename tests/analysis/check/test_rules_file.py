"""Files of rules: what each sentence means, defaults, and what is refused by name; helpers.refusals has the calls."""

from __future__ import annotations

import math
import re
import textwrap
import tomllib
from pathlib import Path

import pytest

from analysis.check.forms.explain import explain_rules
from analysis.check.grammar import find_range_of_rule_number, is_numeric_column, parse_rule_sentence_into_fields
from analysis.check.rules import Rule, Rules
from analysis.check.rules_file import RULE_KEYS, read_rules_file
from analysis.reporting.catalogue import list_tables, look_up_column
from ground.errors import InputError

EXAMPLE = """
cannot_tell = "fail"
wordings = "like these"
looks = 50

[[rule]]
require = "stability.flip_10 <= 0.20"
cannot_tell = "pass"
parameters = { resamples = 500, thresholds = [0.05, 0.1] }

[[rule]]
name = "as right as before"
require = "not worse by 0.02 in accuracy"
models = ["gpt2", "opt"]
conditions = ["plain"]
study = "questions"
wordings = "these"

[[rule]]
require = "same answers as before on 95 % of items"

[[rule]]
require = "ranking  as before"
"""


def read(tmp_path: Path, text: str) -> Rules:
    file = tmp_path / "rules.toml"
    file.write_text(text, encoding="utf-8")
    return read_rules_file(file)


def test_an_example_is_read_to_the_last_field(tmp_path):
    rules = read(tmp_path, EXAMPLE)
    like, fail = {"wordings": "like these"}, {"cannot_tell": "fail"}
    flips, worse, same, ranking = (rule["require"] for rule in tomllib.loads(EXAMPLE)["rule"])
    expected = (
        Rule(flips, flips, "number", "stability.flip_10", at_most=0.2, **like,
             parameters={"resamples": 500, "thresholds": (0.05, 0.1)}),
        Rule(worse, "as right as before", "not worse", "accuracy", margin=0.02, **fail, models=("gpt2", "opt"),
             conditions=("plain",), study="questions"),
        Rule(same, same, "same answers", at_least=0.95, **like, **fail),
        Rule(ranking, ranking, "ranking", **like, **fail),
    )  # fmt: skip
    assert repr(rules.rules) == repr(expected)  # NaN is not equal to itself
    assert (rules.looks, rules.path) == (50, tmp_path / "rules.toml")


def test_defaults(tmp_path):
    (rule,) = read(tmp_path, '[[rule]]\nrequire = "not worse in F1"').rules
    assert (rule.wordings, rule.cannot_tell, rule.models, dict(rule.parameters)) == ("these", "pass", (), {})
    assert math.isnan(rule.margin) and rule.target == "F1"


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    assert len(read(tmp_path, '\ufeff[[rule]]\nrequire = "ranking as before"').rules) == 1


@pytest.mark.parametrize(
    ("sentence", "fields"),
    [
        ("choice.accuracy >= 0.70", {"target": "choice.accuracy", "at_least": 0.7}),
        ("choice.accuracy>=70%", {"target": "choice.accuracy", "at_least": 0.7}),
        ("stability.flip_07 <= .2", {"target": "stability.flip_07", "at_most": 0.2}),
        ("stability.range_mean_upper <= 0.5", {"target": "stability.range_mean_upper", "at_most": 0.5}),
        ("stability.n_items >= 30", {"target": "stability.n_items", "at_least": 30}),
        ("latency ms <= 1e3", {"target": "latency ms", "at_most": 1000}),
        ("exact_match,strict >= -1", {"target": "exact_match,strict", "at_least": -1}),
    ],
)
def test_limits(sentence, fields):
    assert parse_rule_sentence_into_fields(sentence) == {"kind": "number", **fields}


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("choice.acuracy >= 0.7", ("table choice", "nearest is 'accuracy'")),
        ("choise.accuracy >= 0.7", ("unknown table 'choise'", "nearest is 'choice'")),
        ("choice >= 0.7", ("choice is a table", "such as choice.")),
        ("overview.validity >= 0.7", ("'overview' is a figure",)),
        ("stability.flip_1x <= 0.2", ("no column 'flip_1x'", "flip_*")),
        ("stability.mark <= 0.2", ("stability.mark is a text",)),
        ("stability.low_mass <= 0.2", ("a yes or no",)),
        ("stability.flip_10 <= a fifth", ("'a fifth' is no number",)),
        ("stability.flip_10 <= nan", ("'nan' is no number",)),
        ("stability.flip_10 <= 1_0", ("'1_0' is no number",)),
        ("stability.flip_10 <= 20", ("from 0 to 1", "write 20 % or 0.2")),
        ("stability.flip_10 <= 1", ("holds whatever it is",)),
        ("accuracy >= -0.1", ("from 0 to 1", "no limit of it")),
        ("stability.flip_10 < 0.2", ("neither <= nor >=",)),
        ("<= 0.2", ("names nothing before <=",)),
        ("not worse by 0.02", ("of no measure",)),
        ("not worse by 2 % in accuracy", ("write a difference",)),
        ("not worse by 0 in accuracy", ("not above 0",)),
        ("not worse by 1 in accuracy", ("no margin",)),
        ("same answers as before", ("of no share", "95 %")),
        ("same answers as before on 95 of items", ("write 95 %",)),
        ("same answers as before on 0 % of items", ("not above 0",)),
        ("same answers as before on 195 % of items", ("195 %", "write one such as 95 %")),
        ("rankings as before", ("nearest is 'ranking as before'", "the forms are")),
        ("be good", ("the forms are",)),
    ],
)
def test_wrong_sentences_say_what_to_write(sentence, words):
    with pytest.raises(InputError) as refused:
        parse_rule_sentence_into_fields(sentence)
    assert all(word in str(refused.value) for word in words), str(refused.value)


def test_every_column_of_every_table_has_a_limit_or_is_refused_as_text():
    for name, table in list_tables().items():
        for column in (column for column in table.columns if column != "intervals" and "*" not in column):
            if is_numeric_column(look_up_column(name, column)):
                find_range_of_rule_number(f"{name}.{column}")
            else:
                with pytest.raises(InputError, match="no number that has a limit"):
                    find_range_of_rule_number(f"{name}.{column}")


def test_each_rule_is_explained_in_words_without_a_run(tmp_path):
    text = "\n".join(explain_rules(read(tmp_path, EXAMPLE)))
    for words in (
        "column flip_10 of table stability, made with resamples = 500, thresholds = (0.05, 0.1), is at most 0.2: share",
        "accuracy is worse than in the baseline, on the same items, by more than 0.02 (of its range, where it has",
        "It is about model gpt2 and opt under condition plain of study questions; each of them is a number of its own.",
        "beyond what rewording moves: 1 less half the squared distance is at least 0.95. It is no share of items",
        "for every pair of models whose order the baseline finds",
        "the check fails (exit status 4)",
        "Of a measure without a range, rare items far out that the run does not hold are not allowed for.",
        "below .025 / 50, as this check is made 50 times, after Holm",
    ):
        assert words in text, words


def test_a_share_of_answers_is_explained_as_it_is_tested(tmp_path):
    """It was rounded: 97.5 % was explained as 98 %."""
    text = "\n".join(explain_rules(read(tmp_path, '[[rule]]\nrequire = "same answers as before on 97.5 % of items"\n')))
    assert "at least 97.5 % of the answers" in text


def test_the_rules_that_the_docs_show_are_read(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "check.md").read_text(encoding="utf-8")
    shown = re.search(r"`rules.toml`:\n\n((?:    .*\n|\n(?=    ))+)", page)
    rules = read(tmp_path, textwrap.dedent(shown[1])).rules
    assert [rule.kind for rule in rules] == ["number", "not worse", "same answers", "ranking"]
    keys = re.findall(r"^\| `(\w+)`", page.partition("| key |")[2].partition("\n\n")[0], flags=re.M)
    assert {*keys, "models", "conditions", "study"} == set(RULE_KEYS) - {"require"}
