"""Let a judge read replies, and keep what it said: every reply is asked once, whatever call or kill came before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.judge.parts import LoadEngine, PartAsker
from inference.judge.questions import ORDERS, Questions

FOLDER = "judged"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge made of a reply, the mean over both orders of the options.

    Attributes
    ----------
    probability
        Of each option of the reply, without "none of these"; lower bounds where the judge's server shows some tokens.
    mass_upper
        Upper bound of their sum; None where they are exact.
    """

    probability: tuple[float, ...]
    mass_upper: float | None


@dataclass(frozen=True, slots=True)
class JudgeReadings:
    """What a judge made of replies, and who it is: fields of run.json; `judgement_by_key` names them by their keys."""

    about: Mapping[str, Any]
    judgement_by_key: Mapping[str, Judgement]


class Judge(PartAsker):
    """A model that reads the replies of one run folder.

    Parameters
    ----------
    folder
        The run folder that the texts are from; the judge is asked in folders below its `judged`.
    model, settings, questions
        Who reads, how the model is run, and its prompts.
    load
        Makes the engine, as in `inference.asking.execute.ask_tasks_and_list_tallies`; None: as the settings say.
    """

    def __init__(
        self, folder: Path, model: Model, settings: Settings, questions: Questions, load: LoadEngine | None = None
    ) -> None:
        super().__init__(folder / FOLDER, model, settings, questions, n_conditions=len(ORDERS), load=load)

    def collect_readings_of_judge(self) -> JudgeReadings:
        """Find what this judge, asked with this prompt in this form, has read in all calls so far."""
        rows_by_key = self.read_answer_rows_by_unit_key()
        return JudgeReadings(
            self.read_recorded_fields_of_model(),
            {key: _average_judgement_over_orders(rows) for key, rows in rows_by_key.items()},
        )


def _average_judgement_over_orders(rows: Sequence[Mapping[str, Any]]) -> Judgement:
    """Average the probabilities of the options over both orders; "none of these", the last one, is left out."""
    probability = np.mean([row["probability"][:-1] for row in rows], axis=0)
    uppers = [sum(row["probability"]) if row["mass_upper"] is None else row["mass_upper"] for row in rows]
    is_bounded = any(row["mass_upper"] is not None for row in rows)
    nones = [row["probability"][-1] for row in rows]
    upper = float(np.mean([upper - none for upper, none in zip(uppers, nones, strict=True)])) if is_bounded else None
    return Judgement(tuple(map(float, probability)), upper)
