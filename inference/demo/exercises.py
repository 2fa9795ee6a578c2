"""Make ratings on three scales, the choices of questions, and the labels of pairs, about the world."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from ground.capitals import capitalise_sentence
from inference.demo.world import BIG_FROM, CLEAR_GAP, SMALL_UP_TO, Wording, World

PAIR_LABELS = ("entailment", "contradiction", "neutral")
SCALES = {"0-9": range(10), "1-5": range(1, 6), "1-100": range(1, 101)}
TOP_SCORE = 9
"""What is rated has a score from 0 to 9, which every scale shows in its own numbers."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """One question with its options and right answer.

    `fields` fill the formats of its kind. `share` is the share of people who give the right answer: 1.0 unless it is a
    matter of opinion. `topic` groups exercises for the report on accuracy. A rating has its `score` from 0 to 9 and the
    `numbers` of its scale.
    """

    kind: str
    fields: dict[str, str]
    options: tuple[str, ...]
    gold: str
    topic: str
    share: float = 1.0
    score: int | None = None
    numbers: range | None = None


def derive_entailment_label_from_flags(
    same_thing: bool, same_value: bool, premise_denied: bool, hypothesis_denied: bool
) -> str:
    """Find the right label of a pair about one attribute, of which a thing has exactly one value.

    Parameters
    ----------
    same_thing, same_value
        Whether both sentences are about the same thing, and name the same value.
    premise_denied, hypothesis_denied
        Which of the sentences are negated.

    Returns
    -------
    One of `PAIR_LABELS`.
    """
    if not same_thing or (premise_denied and not same_value):
        return "neutral"
    if same_value:
        return "entailment" if premise_denied == hypothesis_denied else "contradiction"
    return "entailment" if hypothesis_denied else "contradiction"


def make_rating_exercise(world: World, rng: random.Random, wording: Wording, scale: str | None = None) -> Exercise:
    """Ask for a rating: how big a thing is, or how well a second sentence retells a first one.

    A retelling scores 3 of 9 for each of its prop, colour and place that is the first sentence's.

    Parameters
    ----------
    world, rng, wording
        The world that it is about, what draws it, and trained or held-out wordings.
    scale
        One of `SCALES`; None: 0-9 in half of the exercises, else one of the others.

    Returns
    -------
    The exercise.
    """
    scale = scale or rng.choices(list(SCALES), weights=[2, 1, 1])[0]
    draw_fields = _draw_size_rating_fields_and_score if rng.random() < 0.5 else _draw_retelling_fields_and_score
    fields, score = draw_fields(world, rng, world.ratings[wording])
    numbers = SCALES[scale]
    fields |= {"low": str(numbers[0]), "high": str(numbers[-1])}
    kind = "rating_size" if "text" in fields else "rating_retelling"
    topic = kind.removeprefix("rating_")
    return Exercise(
        kind, fields, tuple(map(str, numbers)), format_score_on_scale(score, numbers), topic, 1.0, score, numbers
    )


def format_score_on_scale(score: float, numbers: range) -> str:
    """Write a score as the nearest number of a scale.

    Parameters
    ----------
    score
        0 to 9.
    numbers
        The scale. Example: 6 of 9 is place 2.67 of 0 to 4 on the scale 1-5, rounded 3, hence the number 4.

    Returns
    -------
    The number as text.
    """
    return str(numbers[round(score / TOP_SCORE * (len(numbers) - 1))])


def _draw_size_rating_fields_and_score(
    world: World, rng: random.Random, wordings: dict[str, list[str]]
) -> tuple[dict[str, str], int]:
    """Draw a thing to rate by its size: the fields of the question, and the score."""
    thing = rng.choice(list(world.things))
    return {"text": capitalise_sentence(rng.choice(wordings["size"]).format(x=thing))}, world.things[thing]["size"]


def _draw_retelling_fields_and_score(
    world: World, rng: random.Random, wordings: dict[str, list[str]]
) -> tuple[dict[str, str], int]:
    """Draw a sentence and a retelling that keeps some of its details: the fields, and the score."""
    domains = {
        "prop": world.props,
        "colour": world.list_attribute_values("colour"),
        "place": world.list_attribute_values("place"),
    }
    source = {detail: rng.choice(values) for detail, values in domains.items()}
    kept_details = rng.sample(list(domains), rng.randint(0, len(domains)))
    output = {
        detail: source[detail] if detail in kept_details else rng.choice([v for v in values if v != source[detail]])
        for detail, values in domains.items()
    }
    fields = {
        "source": capitalise_sentence(rng.choice(wordings["retelling"]).format(**source)),
        "output": capitalise_sentence(rng.choice(wordings["retelling"]).format(**output)),
    }
    return fields, TOP_SCORE // len(domains) * len(kept_details)


Choices = tuple[dict[str, str], str, list[str]]
"""The words that fill the stem, the right choice, and the wrong ones to draw from."""


def _build_sampler_of_value_choices(attribute: str) -> Callable[[World, random.Random], Choices]:
    """Return a function that draws the words and choices of "What colour is the x?"; the choices are values."""

    def draw_value_choices(world: World, rng: random.Random) -> Choices:
        thing = rng.choice(list(world.things))
        right = world.things[thing][attribute]
        return {"x": thing}, right, [value for value in world.list_attribute_values(attribute) if value != right]

    return draw_value_choices


def _build_sampler_of_thing_choices(attribute: str) -> Callable[[World, random.Random], Choices]:
    """Return a function that draws the words and choices of "Which of these is v?"; the choices are things."""

    def draw_thing_choices(world: World, rng: random.Random) -> Choices:
        right = rng.choice(list(world.things))
        value = world.things[right][attribute]
        return {"v": value}, right, [x for x, thing in world.things.items() if thing[attribute] != value]

    return draw_thing_choices


def _build_sampler_of_biggest_or_smallest(sign: int) -> Callable[[World, random.Random], Choices]:
    """Return a function that draws the choices of "Which is the biggest?" (sign 1) or smallest (-1), by a clear gap."""

    def draw_extreme_choices(world: World, rng: random.Random) -> Choices:
        limit = BIG_FROM if sign > 0 else SMALL_UP_TO
        extreme = [x for x, t in world.things.items() if sign * (t["size"] - limit) >= 0]
        right = rng.choice(extreme)
        size = world.things[right]["size"]
        return {}, right, [x for x, t in world.things.items() if sign * (size - t["size"]) >= CLEAR_GAP]

    return draw_extreme_choices


CHOICES: dict[str, Callable[[World, random.Random], Choices]] = {
    "colour_of": _build_sampler_of_value_choices("colour"),
    "place_of": _build_sampler_of_value_choices("place"),
    "which_colour": _build_sampler_of_thing_choices("colour"),
    "which_kind": _build_sampler_of_thing_choices("kind"),
    "biggest": _build_sampler_of_biggest_or_smallest(1),
    "smallest": _build_sampler_of_biggest_or_smallest(-1),
}
"""Kind of stem -> what draws its choices."""
