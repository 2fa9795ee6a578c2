"""Let a judge read replies, and keep what it said: every reply is asked once, whatever call or kill came before.

What a call has to ask is a run folder of its own below `judged` in the run that the texts are from, so the parts are
written, stopped and continued as those of any run. Replies are found again by their keys in all of these folders.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from ground import run_json
from ground.errors import InputError, RunFailed
from inference.asking.execute import Task, execute_tasks
from inference.asking.failures import NO_FAILURES, AllowedFailures
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Engine
from inference.judge.questions import ORDERS, Questions, build_judge_study
from inference.judge.texts import Reply
from inference.runfolder.parquet import read_parquet
from inference.runfolder.store import IDENTITY
from inference.runfolder.stored_study import read_stored_study
from inference.stimuli.study import Study
from inference.stimuli.templates.prompt_forms import CHAT

FOLDER = "judged"
LoadEngine = Callable[[Model, int], Engine]


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


class _Part(NamedTuple):
    """A folder in which a judge was asked: its run.json, the form and prompt, and the conditions, one per order."""

    folder: Path
    info: dict[str, Any]
    form: str
    prompt_hash: str
    conditions: list[str]


class Judge:
    """A model that reads the replies of one run folder.

    Parameters
    ----------
    folder
        The run folder that the texts are from.
    model, settings, questions
        Who reads, how the model is run, and its prompts.
    load
        Makes the engine, as in `inference.asking.execute.execute_tasks`; None: as the settings say.
    """

    def __init__(
        self, folder: Path, model: Model, settings: Settings, questions: Questions, load: LoadEngine | None = None
    ) -> None:
        self.model = model
        self._root, self._settings, self._questions = folder / FOLDER, settings, questions
        self._load = load or settings.load_model_engine

    def read_replies(
        self,
        replies: Mapping[str, Reply],
        command: Sequence[str],
        allowed: AllowedFailures = NO_FAILURES,
    ) -> RunFailed | None:
        """Ask the judge about the replies that it has not read yet.

        Parameters
        ----------
        replies
            Key -> reply.
        command
            The call, for run.json.
        allowed
            How many of the questions may fail.

        Returns
        -------
        Why some are not read; None: all are.

        Raises
        ------
        InputError
            The model cannot judge, or is another one than the judge of this name was.
        """
        failure = self._finish_stopped_part(command, allowed)
        if failure is not None:
            return failure
        readings = self.find_readings()
        unread = [reply for key, reply in replies.items() if key not in readings.judgement_by_key]
        told = f"{len(replies):,} different texts, {len(replies) - len(unread):,} of them read before"
        print(f"{self.model.id}: {told}", file=sys.stderr)
        if not unread:
            return None
        folders = [*self._list_folders()]
        out = self._root / f"part-{int(folders[-1].name.rpartition('-')[2]) + 1 if folders else 0:06d}"
        return self._ask_study(build_judge_study(unread), out, command, allowed)

    def _finish_stopped_part(self, command: Sequence[str], allowed: AllowedFailures) -> RunFailed | None:
        """Ask what a call that was stopped or killed has left: what it asked in one order only is not asked again."""
        parts = list(self._list_own_parts())
        if not parts or parts[-1].info["sessions"][-1]["finished"]:
            return None
        folder = parts[-1].folder
        print(f"{self.model.id}: {folder.name} was stopped and goes on", file=sys.stderr)
        return self._ask_study(read_stored_study(folder), folder, command, allowed)

    def _ask_study(self, study: Study, out: Path, command: Sequence[str], allowed: AllowedFailures) -> RunFailed | None:
        """Ask the judge about the replies of a study; return why some have no response."""
        task = Task(
            study, [self.model], self._questions, self._settings, str(out), command=command, allowed=allowed
        )  # fmt: skip
        try:
            execute_tasks([task], load=self._load_judge)
        except RunFailed as failure:
            return failure
        return None

    def find_readings(self) -> JudgeReadings:
        """Find what this judge, asked with this prompt in this form, has read in all calls so far."""
        about: dict[str, Any] = {}
        judgement_by_key: dict[str, Judgement] = {}
        for part in self._list_own_parts():
            about = {**part.info["models"][self.model.id], "form": part.form, "prompt_hash": part.prompt_hash}
            judgement_by_key |= _read_judgements(part.folder, self.model.id, part.conditions)
        return JudgeReadings(about, judgement_by_key)

    def _list_own_parts(self) -> Iterator[_Part]:
        """List the folders in which this judge was asked with this prompt in this form, the oldest first."""
        for folder in self._list_folders():
            info = run_json.read_run_json(folder)
            form = info["models"].get(self.model.id, {}).get("forms", {}).get(self._settings.form)
            if form is None or form not in self._questions.book.forms:
                continue
            prompt_hash = self._questions.book.hash(form)
            names = [name for name, fields in info["conditions"].items() if fields["prompt_hash"] == prompt_hash]
            if len(names) == len(ORDERS):
                yield _Part(folder, info, form, prompt_hash, names)

    def _list_folders(self) -> Iterator[Path]:
        """List the folders of earlier calls, the oldest first."""
        return (path.parent for path in sorted(self._root.glob("part-*/run.json")))

    def _load_judge(self, model: Model, seed: int) -> Engine:
        """Load the judge; refuse one that shows no probabilities, thinks first, or is another model than before."""
        engine = self._load(model, seed)
        try:
            self._refuse_unfit(engine)
        except InputError:
            engine.close()
            raise
        return engine

    def _refuse_unfit(self, engine: Engine) -> None:
        """Refuse an engine whose probabilities are not what the judge means, or that is not the judge of before."""
        name, form = self.model.id, engine.form(self._settings.form)  # a server is tried here
        if engine.info.get("unshown"):
            raise InputError(f"--model {name}: a judge needs probabilities of options, and {engine.info['unshown']}")
        if engine.info.get("thinks") and form == CHAT:
            raise InputError(
                f"--model {name}: it thinks before it answers, so its first token says nothing about the option; name "
                "another judge, or ask it with --form plain"
            )
        recorded = self.find_readings().about
        for field in IDENTITY if recorded else ():
            if recorded.get(field) != engine.info.get(field):
                raise InputError(
                    f"--model {name}: a judge of this name has read texts of this run with {field} "
                    f"{recorded.get(field)}, not {engine.info.get(field)}; give this one another name (NAME=MODEL)"
                )


def _read_judgements(folder: Path, judge: str, conditions: Sequence[str]) -> dict[str, Judgement]:
    """Read what a judge said under both orders; key -> mean, for replies that have both."""
    answered = pc.field("error").is_null() & (pc.field("model") == judge) & pc.field("condition").isin(conditions)
    rows_by_key: dict[str, list[dict[str, Any]]] = {}
    for part in sorted((folder / "responses").glob("part-*.parquet")):
        for row in read_parquet(part, ["item", "probability", "mass_upper"], filters=answered).to_pylist():
            rows_by_key.setdefault(row["item"], []).append(row)
    return {key: _average_orders(rows) for key, rows in rows_by_key.items() if len(rows) == len(ORDERS)}


def _average_orders(rows: Sequence[Mapping[str, Any]]) -> Judgement:
    """Average the probabilities of the options over both orders; "none of these", the last one, is left out."""
    probability = np.mean([row["probability"][:-1] for row in rows], axis=0)
    uppers = [sum(row["probability"]) if row["mass_upper"] is None else row["mass_upper"] for row in rows]
    is_bounded = any(row["mass_upper"] is not None for row in rows)
    nones = [row["probability"][-1] for row in rows]
    upper = float(np.mean([upper - none for upper, none in zip(uppers, nones, strict=True)])) if is_bounded else None
    return Judgement(tuple(map(float, probability)), upper)
