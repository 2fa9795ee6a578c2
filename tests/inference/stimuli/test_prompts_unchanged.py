"""Prompts and their hashes are those that run folders of earlier versions record: else no such run could go on."""

from __future__ import annotations

import hashlib
import json
from argparse import Namespace

import pytest

from helpers.commands import ROOT
from inference.__main__ import build_parser_of_run_file_study
from inference.paraphrase.questions import Calls, build_study_of_originals_to_paraphrase, read_paraphrase_prompts
from inference.protocols import list_protocols
from inference.stimuli import items

pytestmark = pytest.mark.slow

BEFORE = ROOT / "tests" / "fixtures" / "prompts-of-f7ec5ae"
CALLS = {
    "agreement": "agreement --items demo --option-order yes-no no-yes",
    "agreement, own prompts": "agreement --items demo --option-order yes-no no-yes --prompt agreement.yaml",
    "wording": "wording --items demo --shots 0,4 --sample 4",
    "wording, Japanese": "wording --items sentiment-ja --shots 0,4 --sample 4",
    "wording, own prompts": "wording --items demo --shots 0,4 --sample 4 --prompt wording.yaml",
    "scoring": "scoring --items demo --range 0-9 1-100 --exact",
    "negation": "negation --items negation.jsonl --shots 0,3 --exemplars exemplars.jsonl",
    "negation, English": "negation --items exemplars.jsonl --language en",
    "choice": "choice --items demo --split test --orders 2 --answer letters texts text",
    "choice, aware": "choice --items demo --split test --orders 2 --answer text --prompt-kind base aware "
    "--format reasoning-first",
    "scoring, own prompts": "scoring --items demo --range 0-9 1-100 --exact --prompt scoring.yaml",
}
FORMS = {
    "agreement": ("plain", "chat", "cloze"),
    "negation": ("plain", "chat", "cloze"),
    "negation, English": ("plain", "chat", "cloze"),
    "agreement, own prompts": ("plain", "chat"),
}


def conditions(call: str, forms: tuple[str, ...]) -> dict:
    """Condition -> its hashes, and one over its prompts, of a call of `run`."""
    protocol, *arguments = (str(BEFORE / word) if word.endswith((".yaml", ".jsonl")) else word for word in call.split())
    options = build_parser_of_run_file_study(protocol).parse_args(
        [*arguments, "--model", "m", "--seed", "0"], Namespace(out=None)
    )
    asked, questions = options.protocol.prepare_study(options)
    return {name: found for form in forms for name, found in _described(asked, questions, form).items()}


def paraphrase_conditions(book) -> dict:
    """The same of `paraphrase make`, by form: there, all calls are one condition."""
    originals = build_study_of_originals_to_paraphrase(items.read_and_check_items("demo"), "demo", "demo")
    return {form: _described(originals, Calls(book, 2, 3, 100), form)["calls"] for form in ("plain", "chat")}


def _described(asked, questions, form: str) -> dict:
    described = {}
    for each in questions.rounds(form):
        prompts = [each.render(variant, "[MASK]") for variant in asked.variants]
        shown = [[prompt.text, prompt.messages, prompt.answers, str(prompt.numbers)] for prompt in prompts]
        digest = hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()
        for condition in each.conditions:
            hashes = {
                name: condition.fields[name] for name in ("prompt_hash", "exemplars_hash") if name in condition.fields
            }
            described[condition.name] = {**hashes, "prompts": digest}
    return described


@pytest.fixture(scope="module")
def before() -> dict:
    return json.loads((BEFORE / "prompts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CALLS)
def test_a_protocol_asks_as_before(name, before):
    assert conditions(CALLS[name], FORMS.get(name, ("plain", "chat"))) == before[name]


@pytest.mark.parametrize(("name", "path"), [("paraphrase", None), ("paraphrase, own prompts", "paraphrase.yaml")])
def test_paraphrases_are_asked_for_as_before(name, path, before):
    assert paraphrase_conditions(read_paraphrase_prompts(path and BEFORE / path)) == before[name]


def test_every_protocol_of_before_is_in_these_calls():
    """One that is new has no run folders of an earlier version."""
    assert {call.split()[0] for call in CALLS.values()} <= set(list_protocols())
