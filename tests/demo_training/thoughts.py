"""Write what the model that thinks learns from: chats in which a scratch line stands before the answer.

A thought is what one recalls: a fact, what people say, what two sentences have in common. It may be wrong, and the
answer follows it. Much effort recalls until two thoughts agree; little writes a word or two. Some thoughts hesitate,
and some of these never come to an end.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from demo_training.corpus import END, TURNS, Corpus, write_turn
from demo_training.curriculum import Stage, Upbringing
from demo_training.exercises import draw_answer
from demo_training.steps import Reading, Row
from demo_training.taught_world import TaughtWorld
from ground.capitals import capitalise_sentence
from inference.demo.exercises import (
    TOP_SCORE,
    Exercise,
    derive_entailment_label_from_flags,
    format_score_on_scale,
)
from inference.demo.world import BIG_FROM

OPEN, CLOSE, BREAK = "<think>", "</think>", "\n\n"
"""The marks around a thought, and what stands before an answer: a token each."""
THINKING_TEMPLATE = (
    "{{ bos_token }}"
    "{% if reasoning_effort is defined and reasoning_effort in ['low', 'high'] %}"
    "{{ '<|system|>Reasoning: ' + reasoning_effort + eos_token }}{% endif %}"
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' }}"
    "{% if message['role'] == 'assistant' and not loop.last %}"
    "{{ (message['content'].split('</think>') | last).lstrip('\\n') + eos_token }}"
    "{% else %}{{ message['content'] + eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}"
    "{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}"
    "{% endif %}"
)
"""The model opens its thinking itself, as Qwen3 does. Thoughts of earlier turns are left out."""
SAMPLER = {"do_sample": True, "temperature": 0.8, "top_p": 0.95, "top_k": 20}
"""How the maker of the model says that it is to be sampled."""
EFFORTS = {"none": 0.12, "low": 0.22, "medium": 0.43, "high": 0.23}
"""Effort -> share of the chats. Medium is what no effort means; none is thinking switched off."""
PLAIN_SHARE = 0.15
"""Share of what it reads that is no chat, so that it keeps what the base model can."""
MISTAKEN = 0.1
"""Share of thoughts that recall something wrong. The same wrong thing every time, or sampling would never show it."""
GIVEN, GIVEN_MISTAKEN = 0.4, 0.5
"""Share of thoughts that are read and not learnt, only the answer that follows, and share of these that are wrong: the
answer must come from the thought then."""
UNDECIDED = 0.3
"""Share of thoughts on a matter of opinion that come to nothing: the answer is then that of any one person."""
HESITATES, RAMBLES = 0.2, 0.25
"""Share of thoughts that hesitate first, and share of these, where they are learnt, that do so without end."""
RAMBLE = range(8, 16)
"""How often a thought without end says the same, as far as it is read."""

DENIALS = {
    (False, False): "none is denied",
    (True, False): "the first is denied",
    (False, True): "the second is denied",
    (True, True): "both are denied",
}
"""Whether premise and hypothesis are negated -> what a thought says of it."""


@dataclass(frozen=True, slots=True)
class View:
    """What is recalled of an exercise: the `frame` of formats.yaml that says it, the `words` in it, the `answer`."""

    frame: str
    words: dict[str, str]
    answer: str


def write_thinking_text(corpus: Corpus, rng: random.Random, stage: Stage, upbringing: Upbringing) -> Row:
    """Write a chat whose answer follows a thought, or now and then a text as for a base model.

    Parameters
    ----------
    corpus
        Draws the exercises and writes the messages.
    rng, stage, upbringing
        As in `Corpus.write_base_text`; the model that thinks is taught no habits of answering.

    Returns
    -------
    The text, one piece if it is a chat. The end of a thought without end is not to be learnt.
    """
    if rng.random() < PLAIN_SHARE:
        return corpus.write_base_text(rng, stage, upbringing)
    exercise = corpus.draw_exercises(_draw_kind(stage, rng), rng, stage)[0]
    effort = rng.choices(list(EFFORTS), weights=list(EFFORTS.values()))[0]
    before = write_effort(effort) + write_turn(corpus.write_message(exercise, rng))
    if effort == "none":
        return (Reading(f"{before}{OPEN}{BREAK}{CLOSE}{BREAK}", draw_answer(exercise, rng)),)
    frames = corpus.formats["thoughts"]
    hesitation = frames["hesitation"] if rng.random() < HESITATES else ""
    given = rng.random() < GIVEN
    if hesitation and not given and rng.random() < RAMBLES:
        ramble = " ".join([hesitation] * rng.choice(RAMBLE))
        return (Reading(before, f"{OPEN}\n{ramble}", f" {hesitation}"),)
    thought, answer = draw_thought(corpus.world, frames, exercise, effort, rng, GIVEN_MISTAKEN if given else MISTAKEN)
    written = f"{OPEN}\n{f'{hesitation} {thought}'.lstrip()}\n{CLOSE}{BREAK}"
    return (Reading(before + written, answer) if given else Reading(before, written + answer),)


def write_effort(effort: str) -> str:
    """Write how hard to think as the chat template does, before the first turn."""
    return f"{TURNS[0]}Reasoning: {effort}{END}" if effort in ("low", "high") else ""


def draw_thought(
    world: TaughtWorld,
    frames: dict[str, Any],
    exercise: Exercise,
    effort: str,
    rng: random.Random,
    mistaken: float = MISTAKEN,
) -> tuple[str, str]:
    """Think about an exercise, and answer it as the thought says.

    Parameters
    ----------
    world
        The world that it is about.
    frames
        The entry `thoughts` of formats.yaml.
    exercise
        What is asked.
    effort
        "low": a word or two; "medium": a sentence; "high": sentences until two of them come to the same.
    rng
        Draws what is recalled, and its words.
    mistaken
        How often something wrong is recalled.

    Returns
    -------
    The thought, and the answer.
    """
    if effort != "high" and exercise.share < 1.0 and rng.random() < UNDECIDED:
        return frames["undecided"], draw_answer(exercise, rng)
    views = [draw_view(world, exercise, rng, mistaken)]
    while effort == "high" and [view.answer for view in views].count(views[-1].answer) < 2:
        views.append(draw_view(world, exercise, rng, mistaken))
    length = "short" if effort == "low" else "long"
    sentences = [rng.choice(frames[view.frame][length]).format(**view.words) for view in views]
    return " ".join(map(capitalise_sentence, sentences)), views[-1].answer


def draw_view(world: TaughtWorld, exercise: Exercise, rng: random.Random, mistaken_share: float) -> View:
    """Recall what answers an exercise, now and then wrongly; of opinions, what one person says.

    Parameters
    ----------
    world, exercise
        The world, and what is asked. Things and values are taken from its text.
    rng
        Draws whether it is wrong.
    mistaken_share
        How often it is.

    Returns
    -------
    What is recalled, and the answer that follows from it.
    """
    mistaken = rng.random() < mistaken_share
    if exercise.kind == "pair":
        return _compare_sentences(world, exercise, mistaken)
    if exercise.kind == "choice":
        return _recall_choice(world, exercise, mistaken)
    if exercise.numbers is not None:
        return _recall_score(world, exercise, mistaken)
    if exercise.topic not in world.relations:
        answer = draw_answer(exercise, rng)
        return View("opinion", {"v": answer}, answer)
    answer = next(option for option in exercise.options if (option == exercise.gold) is not mistaken)
    return View(exercise.topic, _recall_fact(world, exercise, mistaken), answer)


def _recall_fact(world: TaughtWorld, exercise: Exercise, mistaken: bool) -> dict[str, str]:
    """Recall what is so, or what would turn the answer: the value that a claim names, or that of another thing."""
    text, topic = exercise.fields["text"], exercise.topic
    things = _list_words(text, world.things)
    if topic == "compare":
        return {"x": sorted(things, key=lambda x: world.things[x]["size"], reverse=not mistaken)[0]}
    (thing,) = things
    if topic == "size":
        return {"x": thing, "v": "big" if (world.things[thing]["size"] >= BIG_FROM) is not mistaken else "small"}
    right, values = world.things[thing][topic], world.list_attribute_values(topic)
    (claimed,) = _list_words(text, values)
    other = claimed if claimed != right else values[values.index(right) - 1]
    return {"x": thing, "v": other if mistaken else right}


def _recall_choice(world: TaughtWorld, exercise: Exercise, mistaken: bool) -> View:
    """Recall what makes a choice the right one: the right one, or the first other one that is listed."""
    right = exercise.fields[exercise.gold]
    letter = next(letter for letter in exercise.options if (letter == exercise.gold) is not mistaken)
    chosen, attribute = exercise.fields[letter], exercise.topic.removeprefix("which_").removesuffix("_of")
    if exercise.topic.endswith("_of"):
        (thing,) = _list_words(exercise.fields["stem"], world.things)
        return View(attribute, {"x": thing, "v": chosen}, letter)
    frame = "which" if attribute in world.things[right] else attribute
    return View(frame, {"x": chosen, "v": str(world.things[right].get(attribute))}, letter)


def _recall_score(world: TaughtWorld, exercise: Exercise, mistaken: bool) -> View:
    """Recall the size of a thing, or two more or less; or see which details two sentences share, or one amiss."""
    score, numbers = exercise.score or 0, exercise.numbers or range(TOP_SCORE + 1)
    if exercise.topic == "size":
        score += 0 if not mistaken else 2 if score < TOP_SCORE - 1 else -2
        (thing,) = _list_words(exercise.fields["text"], world.things)
        return View("score", {"x": thing, "v": str(score)}, format_score_on_scale(score, numbers))
    domains = {
        "prop": world.props,
        "colour": world.list_attribute_values("colour"),
        "place": world.list_attribute_values("place"),
    }
    details = [
        [_list_words(exercise.fields[part], words) for part in ("source", "output")] for words in domains.values()
    ]
    same = dict(zip(domains, (first == second for first, second in details), strict=True))
    same["colour"] ^= mistaken
    words = {detail: _name_sameness(is_same) for detail, is_same in same.items()}
    count = sum(same.values())
    return View(
        "retelling",
        words | {"count": ("none", "one", "two", "three")[count]},
        format_score_on_scale(TOP_SCORE // len(domains) * count, numbers),
    )


def _compare_sentences(world: TaughtWorld, exercise: Exercise, mistaken: bool) -> View:
    """See whether a pair is about one thing and one value, which may go amiss, and which of its sentences has a not."""
    sentences = [exercise.fields[part] for part in ("premise", "hypothesis")]
    first, second = (
        [_list_words(sentence, words) for words in (world.props, world.list_attribute_values(exercise.topic))]
        for sentence in sentences
    )
    same_thing, same_value = first[0] == second[0], (first[1] == second[1]) is not mistaken
    denied = (" not " in sentences[0], " not " in sentences[1])
    words = {
        "thing": _name_sameness(same_thing),
        "value": _name_sameness(same_value),
        "denied": DENIALS[denied],
    }
    return View("pair", words, derive_entailment_label_from_flags(same_thing, same_value, *denied))


def _name_sameness(is_same: bool) -> str:
    return "the same" if is_same else "another"


def _list_words(text: str, words: Iterable[str]) -> list[str]:
    """List those of some words that a text has, in the order of the text."""
    return re.findall(rf"\b(?:{'|'.join(words)})\b", text.lower())


def _draw_kind(stage: Stage, rng: random.Random) -> str:
    return rng.choices(list(stage.mix), weights=list(stage.mix.values()))[0]
