"""Say how people of the demo world, and the models that answer for them, answer the statements of battery.yaml.

`PYTHONPATH=tests python -m demo_training.battery` writes inference/demo/people.csv: a row per respondent, all made.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from ground.writing import write_atomically
from inference.demo import BATTERY, PEOPLE, PERSONAS, SEED
from inference.protocols.scale.items import split_list_of_options
from inference.protocols.scale.shown import UP
from inference.stimuli.reading.files import read_yaml

ATTITUDES = Path(__file__).with_name("attitudes.yaml")
READ_WORDINGS = 4
"""Wordings of every statement that the models learn from, the first ones; the other four only examine them."""
RESPONDENTS = 200
"""Respondents of people.csv."""
NODES = 21
"""Of the Gauss-Hermite rule over people."""
RULE = np.polynomial.hermite_e.hermegauss(NODES)
"""Its places and weights."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Habit:
    """What sets the answers of one model apart from those of people.

    Attributes
    ----------
    acquiescence
        Added to the agreement with every statement, whichever way it is keyed.
    last
        Added where the highest option stands last, taken away where it stands first.
    ends
        How many times as far out the outermost cuts are: above 1, the ends of the scale are avoided.
    """

    acquiescence: float = 0.0
    last: float = 0.0
    ends: float = 1.0


@dataclass(frozen=True, slots=True)
class Statement:
    """An item of the battery: its name, scale and key, its options from the lowest to the highest, its wordings."""

    name: str
    scale: str
    key: int
    options: tuple[str, ...]
    wordings: tuple[str, ...]


class Battery:
    """The statements, what people think of them, and the personas."""

    def __init__(self) -> None:
        self._attitudes: dict[str, Any] = read_yaml(ATTITUDES)
        self.statements = tuple(
            Statement(
                item["item"],
                item["scale"],
                item["key"],
                split_list_of_options(str(BATTERY), item["options"]),
                (item["text"], *item["paraphrases"]),
            )
            for item in read_yaml(BATTERY)
        )

    @cached_property
    def personas(self) -> dict[str, str]:
        """Name of a persona -> what the model is told."""
        with PERSONAS.open(encoding="utf-8", newline="") as lines:
            return {row["name"]: row["text"] for row in csv.DictReader(lines)}

    def compute_shares(
        self, statement: Statement, persona: str = "", order: str = UP, habit: Habit = Habit(), sharpness: float = 1.0
    ) -> tuple[float, ...]:
        """Compute how often each option is answered, by a cumulative logit with a normal draw for the person.

        Parameters
        ----------
        statement
            What is asked.
        persona
            As whom; empty: as anybody.
        order
            Whether the highest option is shown last ("up") or first.
        habit
            The habits of who answers.
        sharpness
            Divides noise and differences between people: the higher it is, the more often the commonest answer comes.

        Returns
        -------
        Per option its share, rising.
        """
        nodes, weights = RULE
        spread = self._attitudes["spread"] / sharpness
        agreement = self._locate(statement, persona) + habit.acquiescence + (habit.last if order == UP else -habit.last)
        below = expit(sharpness * (self._place_cuts(habit) - agreement - spread * nodes[:, None]))
        return tuple(np.diff(weights / weights.sum() @ below, prepend=0.0, append=1.0).tolist())

    def draw_respondents(self, n: int, seed: str) -> npt.NDArray[np.int64]:
        """Draw people, who each answer every statement by the same three draws of theirs, one for a scale.

        Parameters
        ----------
        n
            Number of people.
        seed
            Of the draw.

        Returns
        -------
        Ranks from 1, of shape (people, statements).
        """
        rng = np.random.default_rng(list(seed.encode()))
        scales = list(dict.fromkeys(statement.scale for statement in self.statements))
        people = self._attitudes["spread"] * rng.standard_normal((n, len(scales)))
        columns = []
        for statement in self.statements:
            own = statement.key * people[:, scales.index(statement.scale)]
            heights = self._locate(statement, "") + own + rng.logistic(size=n)
            columns.append(1 + np.searchsorted(self._place_cuts(Habit()), heights))
        return np.column_stack(columns)

    def _locate(self, statement: Statement, persona: str) -> float:
        """Say how far somebody goes along with a statement, on the scale of the cuts."""
        shift = self._attitudes["personas"][persona].get(statement.scale, 0.0) if persona else 0.0
        return float(self._attitudes["agreement"][statement.name] + statement.key * shift)

    def _place_cuts(self, habit: Habit) -> Array:
        cuts = np.array(self._attitudes["cuts"], dtype=float)
        cuts[[0, -1]] *= habit.ends
        return cuts


def write_people(file: Path = PEOPLE) -> None:
    """Write the answers of made people: a row per respondent, a column per statement, ranks from 1."""
    battery, text = Battery(), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["respondent", *(statement.name for statement in battery.statements)])
    for number, ranks in enumerate(battery.draw_respondents(RESPONDENTS, f"{SEED} people"), start=1):
        writer.writerow([number, *ranks.tolist()])
    write_atomically(file, lambda aside: aside.write_text(text.getvalue(), encoding="utf-8"))


if __name__ == "__main__":
    write_people()
