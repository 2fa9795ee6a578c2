"""Ask a model about many small units in run folders that can be stopped and gone on with: every unit is asked once.

What a call has to ask is a run folder of its own below one root, so the parts are written, stopped and continued as
those of any run. Units are found again by their keys, which are the items of these folders, in all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow.compute as pc

from ground import run_json
from ground.errors import InputError, RunFailed
from ground.locking import lock_if_abandoned
from ground.progress import print_progress
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.failures import NO_FAILURES, AllowedFailures
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.asking.rounds import Questions
from inference.engines.contract import Engine
from inference.runfolder.locking import remove_run_of_refused_call
from inference.runfolder.parquet import read_parquet
from inference.runfolder.store import IDENTITY
from inference.runfolder.stored_study import read_stored_study
from inference.stimuli.study import Study
from inference.stimuli.templates.prompt_forms import CHAT

LoadEngine = Callable[[Model, int], Engine]
Unit = TypeVar("Unit")
COLUMNS = ["item", "condition", "probability", "mass_upper"]


class Part(NamedTuple):
    """A folder in which a model was asked: its run.json, the form and prompt, and the conditions."""

    folder: Path
    info: dict[str, Any]
    form: str
    prompt_hash: str
    conditions: list[str]


class PartAsker:
    """A model that is asked about units, under every condition of its questions.

    Parameters
    ----------
    root
        The folder of the parts.
    model, settings, questions
        Who is asked, how the model is run, and its prompts.
    n_conditions
        How many conditions a unit is asked under.
    option
        The option that names the model, for messages.
    load
        Makes the engine, as in `inference.asking.execute.ask_tasks_and_list_tallies`; None: as the settings say.
    """

    def __init__(
        self,
        root: Path,
        model: Model,
        settings: Settings,
        questions: Questions,
        *,
        n_conditions: int,
        option: str = "--model",
        load: LoadEngine | None = None,
    ) -> None:
        self.model = model
        self._root, self._settings, self._questions = root, settings, questions
        self._n_conditions, self._option = n_conditions, option
        self._load = load or settings.load_model_engine

    def ask_about_units_and_return_failure(
        self,
        units: Mapping[str, Unit],
        build_study: Callable[[Sequence[Unit]], Study],
        command: Sequence[str],
        allowed: AllowedFailures = NO_FAILURES,
        noun: str = "texts",
    ) -> RunFailed | None:
        """Ask about the units that the model has not been asked about yet.

        Parameters
        ----------
        units
            Key -> unit.
        build_study
            Makes the study of some units, whose items are their keys.
        command
            The call, for run.json.
        allowed
            How many of the questions may fail.
        noun
            What the units are, for the line that counts them.

        Returns
        -------
        Why some are not asked; None: all are.

        Raises
        ------
        InputError
            The model cannot be asked this, or another model was asked under this name before.
        """
        self._remove_folders_without_responses()
        failure = self._finish_stopped_call_and_return_failure(command, allowed)
        if failure is not None:
            return failure
        keys = self.read_answer_rows_by_unit_key().keys()
        unread = [unit for key, unit in units.items() if key not in keys]
        told = f"{len(units):,} different {noun}, {len(units) - len(unread):,} of them read before"
        print_progress(f"{self.model.id}: {told}")
        if not unread:
            return None
        folders = [*self._iterate_folders_of_earlier_calls()]
        out = self._root / f"part-{int(folders[-1].name.rpartition('-')[2]) + 1 if folders else 0:06d}"
        return self._ask_study_of_units_and_return_failure(build_study(unread), out, command, allowed)

    def _remove_folders_without_responses(self) -> None:
        """Remove what calls have left that were killed before their first response, such as while the model loaded."""
        for folder in [*self._iterate_folders_of_earlier_calls()]:
            if any((folder / "responses").glob("part-*.parquet")):
                continue
            lock = lock_if_abandoned(folder / ".lock")
            if lock is not None:  # else another call is at work in it
                remove_run_of_refused_call(folder, [folder])
                os.close(lock)

    def _finish_stopped_call_and_return_failure(
        self, command: Sequence[str], allowed: AllowedFailures
    ) -> RunFailed | None:
        """Ask what a call that was stopped or killed has left: what it asked in one order only is not asked again."""
        parts = list(self._iterate_parts_asked_of_this_model())
        if not parts or parts[-1].info["sessions"][-1]["finished"]:
            return None
        folder = parts[-1].folder
        print_progress(f"{self.model.id}: {folder.name} was stopped and goes on")
        return self._ask_study_of_units_and_return_failure(read_stored_study(folder), folder, command, allowed)

    def _ask_study_of_units_and_return_failure(
        self, study: Study, out: Path, command: Sequence[str], allowed: AllowedFailures
    ) -> RunFailed | None:
        """Ask the model about the units of a study; return why some have no response."""
        task = Task(
            study, [self.model], self._questions, self._settings, str(out), command=command, allowed=allowed
        )  # fmt: skip
        try:
            ask_tasks_and_list_tallies([task], load=self._load_judge_engine_or_refuse_unfit)
        except RunFailed as failure:
            return failure
        return None

    def read_recorded_fields_of_model(self) -> dict[str, Any]:
        """Find who the model is, and how it was asked last: fields of run.json; empty where it was not.

        Without `shortcuts`: a killed session does not count the paths that it left out, and what others keep of these
        fields must not tell whether one was killed.
        """
        about: dict[str, Any] = {}
        for part in self._iterate_parts_asked_of_this_model():
            about = {**part.info["models"][self.model.id], "form": part.form, "prompt_hash": part.prompt_hash}
        about.pop("shortcuts", None)
        return about

    def read_answer_rows_by_unit_key(self) -> dict[str, list[dict[str, Any]]]:
        """Read what the model answered in all calls so far: key -> its rows, for units with all conditions."""
        rows_by_key: dict[str, list[dict[str, Any]]] = {}
        for part in self._iterate_parts_asked_of_this_model():
            rows_by_part: dict[str, list[dict[str, Any]]] = {}
            answered = (
                pc.field("error").is_null()
                & (pc.field("model") == self.model.id)
                & pc.field("condition").isin(part.conditions)
            )
            for file in sorted((part.folder / "responses").glob("part-*.parquet")):
                for row in read_parquet(file, COLUMNS, filters=answered).to_pylist():
                    rows_by_part.setdefault(row["item"], []).append(row)
            rows_by_key |= {key: rows for key, rows in rows_by_part.items() if len(rows) == self._n_conditions}
        return rows_by_key

    def may_reuse_answers_of_recorded_model(self, recorded_fields: Mapping[str, Any]) -> bool:
        """Tell whether a model of this name in run.json is this one; another one's answers do not count."""
        return True

    def _iterate_parts_asked_of_this_model(self) -> Iterator[Part]:
        """Yield the folders in which this model was asked with this prompt in this form, the oldest first."""
        for folder in self._iterate_folders_of_earlier_calls():
            info = run_json.read_run_json(folder)
            fields = info["models"].get(self.model.id, {})
            form = fields.get("forms", {}).get(self._settings.form)
            if form is None or form not in self._questions.book.forms:
                continue
            if not self.may_reuse_answers_of_recorded_model(fields):
                continue
            prompt_hash = self._questions.book.compute_hash_of_prompt_form(form)
            names = [name for name, fields in info["conditions"].items() if fields["prompt_hash"] == prompt_hash]
            if len(names) == self._n_conditions:
                yield Part(folder, info, form, prompt_hash, names)

    def _iterate_folders_of_earlier_calls(self) -> Iterator[Path]:
        """Yield the folders of earlier calls, the oldest first."""
        return (path.parent for path in sorted(self._root.glob("part-*/run.json")))

    def _load_judge_engine_or_refuse_unfit(self, model: Model, seed: int) -> Engine:
        """Load the model; refuse one that shows no probabilities, thinks first, or is another model than before."""
        engine = self._load(model, seed)
        try:
            self.refuse_unfit_engine(engine)
        except InputError:
            engine.close()
            raise
        return engine

    def refuse_unfit_engine(self, engine: Engine) -> None:
        """Refuse an engine whose probabilities are not what a judge means, or that is not the model of before.

        Raises
        ------
        InputError
            Naming the model and what is wrong with it.
        """
        name, form = self.model.id, engine.choose_prompt_form(self._settings.form)  # a server is tried here
        if engine.info.get("unshown"):
            raise InputError(
                f"{self._option} {name}: a judge needs probabilities of options, and {engine.info['unshown']}"
            )
        if engine.info.get("thinks") and form == CHAT:
            raise InputError(
                f"{self._option} {name}: it thinks before it answers, so its first token says nothing about the "
                "option; name another judge, or ask it with --form plain"
            )
        recorded = self.read_recorded_fields_of_model()
        for field in IDENTITY if recorded else ():
            if recorded.get(field) != engine.info.get(field):
                raise InputError(
                    f"{self._option} {name}: a judge of this name has read texts of this run with {field} "
                    f"{recorded.get(field)}, not {engine.info.get(field)}; give this one another name (NAME=MODEL)"
                )
