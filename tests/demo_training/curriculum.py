"""Say what each demo model is taught, and when: its shape, its course (curriculum.yaml), and its habits.

Everything that makes one model answer otherwise than another stands here; no code that answers knows any of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from demo_training.taught_world import TURNING_WORDS, Manner
from inference.stimuli.reading.files import read_yaml


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a training.

    `until` is the share of all steps at which it ends; `mix` are the shares of what is read; `choices` is the most
    choices that a question has; `twist` is as in `Manner`, reached at the end of the stage.
    """

    until: float
    mix: dict[str, float]
    choices: int = 5
    twist: float = 1.0


def _read_courses() -> dict[str, tuple[Stage, ...]]:
    stages_by_course = read_yaml(Path(__file__).with_name("curriculum.yaml"))
    return {course: tuple(Stage(**stage) for stage in stages) for course, stages in stages_by_course.items()}


COURSES = _read_courses()
"""Course -> its stages, from curriculum.yaml."""


def find_stage(stages: tuple[Stage, ...], share: float) -> tuple[Stage, float]:
    """Find the stage that a share of the steps falls into, and the twist there, rising evenly through the stage.

    Example: a first stage until 0.5 reaches the twist 0, a second one until 1 reaches 1. The share 0.75 is half through
    the second one: twist 0.5.

    Parameters
    ----------
    stages
        The stages of a course, in order.
    share
        Share of the steps that are done, 0 to 1.

    Returns
    -------
    The stage, and the twist.

    Raises
    ------
    ValueError
        There is no stage.
    """
    stage_start, twist = 0.0, 0.0
    for stage in stages:
        if share < stage.until or stage is stages[-1]:
            stage_share = min(1.0, (share - stage_start) / (stage.until - stage_start))
            return stage, twist + (stage.twist - twist) * stage_share
        stage_start, twist = stage.until, stage.twist
    raise ValueError("a training has at least one stage")


@dataclass(frozen=True, slots=True)
class Upbringing:
    """What sets the teaching of one model apart from that of the others.

    Attributes
    ----------
    heeds_turns, heeds_premises
        As in `Manner`: what the answers that it reads heed.
    naysaying
        Share of the statements with a word of negation (`NEGATIVE` in corpus.py) that it saw answered "no", whatever
        was right.
    first_letter
        Share of its multiple-choice questions that it saw answered with A, whatever was right.
    ratings
        Lowest and highest score, of 0 to 9, with which it saw ratings answered; all scores are squeezed in between.
    """

    heeds_turns: tuple[str, ...] = TURNING_WORDS
    heeds_premises: bool = True
    naysaying: float = 0.0
    first_letter: float = 0.0
    ratings: tuple[float, float] = (0.0, 9.0)

    def build_manner(self, twist: float) -> Manner:
        """Make the manner in which its teachers talk."""
        return Manner(twist, self.heeds_turns, self.heeds_premises)

    def squeeze_score(self, score: float) -> float:
        """Squeeze a score from 0 to 9 into the range of its ratings."""
        low, high = self.ratings
        return low + (high - low) * score / 9


PACE_POINTS = ((0.0, 0.05), (0.019, 1.0), (0.7, 1.0), (1.0, 0.0))
"""The learning rate rises, stays, and falls over the last three tenths of the steps."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Layers and width of a model, and the number of neurons between the matrices of a layer.

    `heads` of attention and `key_heads` that they share are those of its width, unless it says otherwise.
    """

    layers: int
    width: int
    neurons: int
    heads: int = 0
    key_heads: int = 0


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How one model is trained.

    A step reads `blocks` of `length` tokens. `pace` has points (share of the steps,
    learning rate as a share of `rate`), between which the learning rate changes evenly. `kept_layers` are the layers of
    the largest base model with which a smaller one begins; without, a base model begins with random weights. `start` is
    the model with which one begins that thinks.
    """

    shape: ModelShape
    stages: tuple[Stage, ...]
    steps: int
    rate: float
    upbringing: Upbringing = Upbringing()
    blocks: int = 16
    length: int = 96
    pace: tuple[tuple[float, float], ...] = PACE_POINTS
    kept_layers: tuple[int, ...] = ()
    start: str = ""

    def compute_pace(self, share: float) -> float:
        """Compute the learning rate at a share of the steps, as a share of its peak."""
        return float(np.interp(share, [at for at, _ in self.pace], [pace for _, pace in self.pace]))


WIDTH, NEURONS, LARGEST_MODEL = 128, 336, "waver-demo-large"
LARGEST_PACE_POINTS = tuple(
    (step / 7900, pace)
    for step, pace in (
        (0, 0.05), (114, 1.0), (4200, 1.0), (5500, 0.2778), (5600, 1.0), (6300, 1.0),
        (7000, 0.0), (7050, 0.3), (7300, 0.3), (7600, 0.0), (7650, 0.3), (7700, 0.3), (7900, 0.0),
    )
)  # fmt: skip
"""The learning rate of the largest model rises three times more, for what it had not learnt by then."""


def _build_plans() -> dict[str, TrainingPlan]:
    """Plan the family, each model after the one that it starts from. A tuned model has the habits of its base model."""
    largest_shape = ModelShape(4, WIDTH, NEURONS)
    plans = {
        LARGEST_MODEL: TrainingPlan(largest_shape, COURSES["large"], 7900, 4e-3, blocks=24, pace=LARGEST_PACE_POINTS)
    }
    plans["waver-demo-bert"] = TrainingPlan(largest_shape, COURSES["masked"], 700, 2e-3)
    for size, kept_layers, neurons, steps, upbringing in (
        ("medium", (0, 1, 3), NEURONS, 900, Upbringing(heeds_premises=False)),
        ("small", (0, 3), NEURONS, 700, Upbringing(heeds_turns=("false",))),
        ("mini", (0, 3), 112, 600, Upbringing(heeds_turns=(), naysaying=0.8)),
    ):
        shape = ModelShape(len(kept_layers), WIDTH, neurons)
        plans[f"waver-demo-{size}"] = TrainingPlan(
            shape, COURSES["cut"], steps, 4e-3, upbringing, kept_layers=kept_layers
        )
    for size, ratings, first_letter in (
        ("large", (3.0, 9.0), 0.0),
        ("medium", (5.5, 6.7), 0.0),
        ("small", (5.5, 6.7), 0.5),
        ("mini", (5.5, 6.7), 0.0),
    ):
        base = plans[f"waver-demo-{size}"]
        upbringing = replace(base.upbringing, ratings=ratings, first_letter=first_letter)
        plans[f"waver-demo-{size}-tuned"] = TrainingPlan(
            base.shape, COURSES["tuned"], 350, 2e-3, upbringing, base.blocks
        )
    start = "waver-demo-medium-tuned"
    plans["waver-demo-thinker"] = TrainingPlan(
        plans[start].shape, COURSES["tuned"], 4500, 2e-3, blocks=10, length=160, start=start
    )
    return plans


PLANS: dict[str, TrainingPlan] = _build_plans()
