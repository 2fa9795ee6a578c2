"""What run.json says was asked is what the engine got, prompt by prompt; what it cannot say, it does not say."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.trivial_engine import TrivialEngine, small_study
from inference.asking import recorded_prompts
from inference.asking.answer_ways import AnswerWays
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.limit import limit_questions_to_first_items
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.demo.entailments import make_entailment_pairs
from inference.demo.world import World
from inference.engines.contract import Sampling
from inference.protocols import agreement, negation, scoring, wording
from inference.protocols.wording.exemplars import draw_wording_exemplars
from inference.protocols.wording.templates import read_template_bank
from inference.protocols.wording.texts import Text
from inference.stimuli import entailment, nli
from inference.stimuli.study import Study
from inference.stimuli.templates.prompts import PromptBook

pytestmark = pytest.mark.slow

ANSWERS = "answers: {agree: ['yes'], disagree: ['no']}"


class Watched(TrivialEngine):
    """Notes every prompt that it is asked, with its variant's place in the order of asking."""

    def __init__(self, seen: list, **settings) -> None:
        super().__init__(**settings)
        self._seen = seen

    def score(self, prompts, temperatures=(1.0,)):
        self._seen += prompts
        return super().score(prompts, temperatures)


def ask(out: Path, study: Study, questions, *, form="plain", models=("a",)) -> tuple[dict, list]:
    seen: list = []
    task = Task(study, [Model(name, f"some/{name}") for name in models], questions, Settings(form=form), str(out))
    ask_tasks_and_list_tallies([task], load=lambda model, seed: Watched(seen, form=form))
    return json.loads((out / "run.json").read_text(encoding="utf-8")), seen


def own(tmp_path: Path, template: str, form: str = "plain") -> agreement.Questions:
    """Questions of a prompt file with this template."""
    body = f"template: {json.dumps(template)}"
    if form == "chat":
        body = f"messages: [{{role: user, content: {json.dumps(template)}}}]"
    (tmp_path / "own.yaml").write_text(f"{form}:\n  {body}\n  {ANSWERS}\n", encoding="utf-8")
    return agreement.Questions(agreement.read_agreement_prompts(tmp_path / "own.yaml"))


def questions_of(protocol: str) -> tuple[Study, object]:
    if protocol == "agreement":
        return small_study(), agreement.Questions(agreement.read_agreement_prompts(), ("yes-no", "no-yes"))
    if protocol == "scoring":
        from inference.protocols.scoring import items

        study = Study("scoring", "s", items.build_demo_scoring_items()[:4], items.CANONICAL, paraphrased=False)
        return study, scoring.Questions(scoring.read_scoring_prompts(), samples=0, exact=True, ranges=(range(10),))
    if protocol == "negation":
        pairs = make_entailment_pairs(World())[:8]
        return negation.build_negation_study(nli.group_pairs_by_original(pairs), "n"), negation.Questions(
            entailment.read_entailment_prompts("en"), "en", (0, 3), tuple(pairs[-3:])
        )
    bank = read_template_bank("facts", "en")
    texts = [Text(str(n), f"the thing {n} is a thing", gold) for n, gold in enumerate(["yes", "no"] * 4)]
    shown = draw_wording_exemplars(texts, bank, 0)
    return wording.build_wording_study(texts[:3], bank, "w"), wording.Questions(
        wording.read_yes_no_prompt_file("en"), (0, 4), shown
    )


@pytest.mark.parametrize("form", ["plain", "chat", "cloze"])
@pytest.mark.parametrize("protocol", ["agreement", "wording", "scoring", "negation"])
def test_every_prompt_can_be_written_again_from_run_json(protocol, form, tmp_path):
    if form == "cloze" and protocol in ("wording", "scoring"):
        pytest.skip("this protocol asks no masked models")
    study, questions = questions_of(protocol)
    if protocol == "scoring":
        questions = scoring.Questions(questions.book, samples=2, ranges=(range(10),))
    content, _ = ask(tmp_path / "run", study, questions, form=form)
    for each in questions.rounds(form):
        for condition in each.conditions:
            (entry,) = content["asked"][condition.name]
            for variant in study.variants:
                prompt = each.render(variant, "[MASK]" if form == "cloze" else None)
                assert recorded_prompts.fill_prompt_form_with_variant(
                    entry["wordings"], variant
                ) == recorded_prompts.list_prompt_messages(prompt)
            first = next(study.variants)
            assert (entry["item"], entry["variant"]) == first.key
            assert entry["characters"] == len(entry["prompt"])
            assert all(line in entry["prompt"] for line in first.text.splitlines())


def test_what_the_engine_scored_is_what_is_recorded(tmp_path):
    study = small_study()
    content, seen = ask(tmp_path / "run", study, agreement.Questions(agreement.read_agreement_prompts()))
    (entry,) = content["asked"]["plain/yes-no"]
    written = {
        recorded_prompts.fill_prompt_form_with_variant(entry["wordings"], variant)[0][1] for variant in study.variants
    }
    assert written == {prompt.text for prompt in seen}
    assert entry["prompt"] in written


@pytest.mark.parametrize("form", ["plain", "chat"])
def test_what_is_one_form_is_rendered_once_and_asked_the_same(form, tmp_path, monkeypatch):
    study = small_study()
    questions = agreement.Questions(agreement.read_agreement_prompts())
    (each,) = questions.rounds(form)
    expected = [each.render(variant, None) for variant in study.variants]
    render, rendered = PromptBook.render, []
    monkeypatch.setattr(PromptBook, "render", lambda *given, **more: rendered.append(1) or render(*given, **more))
    _, seen = ask(tmp_path / "run", study, questions, form=form)
    assert len(rendered) <= len(expected) + 3  # the form itself, and single prompts that are looked at
    assert sorted(map(repr, seen)) == sorted(map(repr, expected))


def test_prompts_with_answers_of_their_own_are_rendered(tmp_path):
    """Two options of some wordings mean the opposite: same form, other answers."""
    study = small_study()
    turned = [replace(variant, options=variant.options[::-1]) for variant in study.items[0].variants]
    study = replace(study, items=(replace(study.items[0], variants=tuple(turned)), *study.items[1:]))
    questions = own(tmp_path, "{{ text }}")
    content, seen = ask(tmp_path / "run", study, questions)
    assert content["asked"]["own/plain/yes-no"][0]["wordings"]
    (each,) = questions.rounds("plain")
    expected = [each.render(variant, None) for variant in study.variants]
    assert len({prompt.answers for prompt in expected}) == 2
    assert sorted(map(repr, seen)) == sorted(map(repr, expected))


def test_the_prompt_file_stands_under_its_own_hash(tmp_path):
    content, _ = ask(tmp_path / "run", small_study(), agreement.Questions(agreement.read_agreement_prompts()))
    ((key, source),) = content["prompts"].items()
    assert key == content["conditions"]["plain/yes-no"]["prompt_hash"]
    assert key == hashlib.sha256(json.dumps(source, sort_keys=True).encode()).hexdigest()
    assert source["answers"] == {"agree": ["yes"], "disagree": ["no"]}


@pytest.mark.parametrize(
    "template",
    [
        "Say {{ text | upper }} yes or no:",
        "{% if 'very' in text %}Do you agree? {% endif %}{{ text }}",
        "{{ text }}{% if text | length > 40 %} Answer shortly.{% endif %}",
        "{{ text | replace('good', 'bad') }}",
        "{{ text[:12] }}: yes or no?",
    ],
)
def test_a_template_that_changes_the_wording_gives_no_form_but_one_true_prompt(template, tmp_path):
    study, questions = small_study(), own(tmp_path, template)
    content, seen = ask(tmp_path / "run", study, questions)
    (entry,) = content["asked"]["own/plain/yes-no"]
    assert entry["wordings"] is None
    assert "template" in entry["inexact"]
    (each,) = questions.rounds("plain")
    assert entry["prompt"] == each.render(next(study.variants), None).text
    assert entry["prompt"] in {prompt.text for prompt in seen}


def test_a_wording_that_stands_twice_or_next_to_marks_is_written_again(tmp_path):
    study = small_study()
    questions = own(tmp_path, "\ue0000\ue001 {{ text }} {{ text }} {column}")
    content, _ = ask(tmp_path / "run", study, questions)
    (entry,) = content["asked"]["own/plain/yes-no"]
    assert entry["wordings"] is None  # the file itself holds what marks a place: nothing is claimed
    questions = own(tmp_path, "{{ text }}{{ text }} {column} [text]")
    content, _ = ask(tmp_path / "other", study, questions)
    (entry,) = content["asked"]["own/plain/yes-no"]
    variant = next(study.variants)
    assert recorded_prompts.fill_prompt_form_with_variant(entry["wordings"], variant) == [
        (None, f"{variant.text * 2} {{column}} [text]")
    ]


def test_models_with_the_same_prompt_share_an_entry_and_effort_is_part_of_it(tmp_path):
    ways = AnswerWays(True, (Sampling(effort="low"),))
    questions = agreement.Questions(agreement.read_agreement_prompts(), answers=ways)
    content, _ = ask(tmp_path / "run", small_study(), questions, models=("a", "b"))
    assert [entry["models"] for entry in content["asked"]["plain/yes-no"]] == [["a", "b"]]
    (entry,) = content["asked"]["plain/yes-no/text-low"]
    assert entry["prompt"].endswith("[low]")


def test_a_repeated_call_changes_nothing_and_a_new_model_joins(tmp_path):
    study, questions = small_study(), agreement.Questions(agreement.read_agreement_prompts())
    before, _ = ask(tmp_path / "run", study, questions)
    again, _ = ask(tmp_path / "run", study, questions)
    assert (again["prompts"], again["asked"]) == (before["prompts"], before["asked"])
    joined, _ = ask(tmp_path / "run", study, questions, models=("a", "b"))
    together, _ = ask(tmp_path / "other", study, questions, models=("a", "b"))
    assert joined["asked"] == together["asked"]


def test_a_run_of_an_earlier_version_gets_its_prompts_when_it_goes_on(tmp_path):
    study, questions = small_study(), agreement.Questions(agreement.read_agreement_prompts())
    whole, _ = ask(tmp_path / "run", study, questions)
    file = tmp_path / "run" / "run.json"
    older = {name: value for name, value in whole.items() if name not in ("prompts", "asked")}
    file.write_text(json.dumps(older), encoding="utf-8")
    after, seen = ask(tmp_path / "run", study, questions)
    assert not seen  # nothing was left to ask
    assert (after["prompts"], after["asked"]) == (whole["prompts"], whole["asked"])
    assert after["conditions"] == whole["conditions"]


def test_with_a_limit_the_form_is_compared_with_the_wordings_that_are_asked_later(tmp_path):
    study = small_study(items=3)
    questions = own(tmp_path, "{% if 'Thing 2' in text %}Once more: {% endif %}{{ text }}")
    ask(tmp_path / "run", study, limit_questions_to_first_items(study, questions, 1))
    content, _ = ask(tmp_path / "run", study, questions)
    (entry,) = content["asked"]["own/plain/yes-no"]
    assert entry["wordings"] is None


def test_what_is_too_long_is_cut_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded_prompts, "LONGEST", 60)
    content, _ = ask(tmp_path / "run", small_study(), agreement.Questions(agreement.read_agreement_prompts()))
    (entry,) = content["asked"]["plain/yes-no"]
    assert len(entry["prompt"]) == 60 < entry["characters"]
    assert entry["wordings"] is None
    assert "too long" in entry["inexact"]
    assert content["prompts"] == {}
