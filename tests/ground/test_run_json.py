"""run.json is checked as results/schema.json says whenever a wing opens a run folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ground import run_json
from ground.errors import InputError
from helpers.commands import ROOT
from helpers.run_json import CONTENT, spoiled

BEFORE = ROOT / "tests" / "fixtures" / "run-of-f7ec5ae"
VALID = {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in BEFORE.glob("*/run.json")}
ASKED = {
    **VALID["agreement"],
    "prompts": {"h": {"messages": [{"role": "user", "content": "{{ text }}"}], "answers": {"agree": ["yes"]}}},
    "asked": {
        "plain/yes-no": [
            {"models": ["m"], "item": "i", "variant": "v", "prompt": "A?", "characters": 2, "inexact": "so",
             "wordings": [{"role": None, "content": [{"column": "text"}, "?"]}]},
        ]
    },
}  # fmt: skip
"""A run that holds its prompts, as older ones do not."""
WORDS = {"type", "required", "properties", "additionalProperties", "items", "minimum", "description"}


def rules(rule: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield rule
    inner = [*rule.get("properties", {}).values(), rule.get("additionalProperties"), rule.get("items")]
    for each in filter(None, inner):
        yield from rules(each)


def test_the_schema_uses_only_words_that_are_checked():
    for rule in rules(CONTENT):
        assert rule.keys() <= WORDS
        assert "type" in rule
        assert ("items" in rule) == ("array" in rule["type"])


@pytest.mark.parametrize("protocol", VALID)
def test_a_run_of_an_earlier_version_is_read(protocol):
    assert run_json.read_run_json(BEFORE / protocol) == VALID[protocol]


def test_every_field_missing_or_of_another_type_is_named_in_one_line(tmp_path):
    prompts = [each for each in spoiled(ASKED) if each[1] and each[1][0] in ("prompts", "asked")]
    variants = [*spoiled(VALID["agreement"]), *prompts]
    assert len(variants) > 100 and len(prompts) > 30
    for name, place, content in variants:
        (tmp_path / "run.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            run_json.read_run_json(tmp_path)
        line = str(caught.value)
        assert line.startswith(f"{tmp_path}: run.json: "), name
        assert "\n" not in line
        assert str(next(step for step in reversed(place) if isinstance(step, str))) in line, name


@pytest.mark.slow
def test_the_checks_agree_with_a_library_for_json_schema():
    """The one place where they differ on purpose: 1.0 is a whole number to JSON Schema."""
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(CONTENT)
    whole = [*VALID.values(), {**VALID["agreement"], "expected": {"m": {"c": -1}}}, {**VALID["wording"], "seed": True}]
    assert not list(validator.iter_errors(ASKED))
    for content in [*whole, *(content for valid in (*VALID.values(), ASKED) for _, _, content in spoiled(valid))]:
        problems = list(run_json.iterate_schema_problems(content, CONTENT, "run.json"))
        assert len(problems) == len(list(validator.iter_errors(content)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format": NaN}', "NaN is no number"),
        ('{"format": 1, "study": "\\ud800"}', "surrogates not allowed"),
        ("[" * 100_000, "recursion"),
        ("1" * 5_000, "4300"),
    ],
)
def test_what_json_cannot_hold_is_refused(text, said, tmp_path):
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"run.json is not valid JSON .*{said}"):
        run_json.read_run_json(tmp_path)
