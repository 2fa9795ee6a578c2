"""Execute the tasks of one call: ask every study of every model; a model is loaded once, a study has its own folder."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Self

from ground.errors import InputError, RunFailed, format_part_with_verb, join_first_names
from ground.progress import can_show_progress_bars, print_warning
from inference.asking import failures
from inference.asking.adapters import add_base_series_to_adapter_fields
from inference.asking.cluster import Cluster, RemoteEngine
from inference.asking.failures import NO_FAILURES, AllowedFailures
from inference.asking.models import Model, refuse_folder_of_earlier_demo_models
from inference.asking.one_model import (
    Settings,
    ask_model,
    count_expected_and_saved_rows,
    find_tallies_of_finished_model,
    release_device_memory,
)
from inference.asking.rounds import ClusterEngine, Exact, Questions
from inference.asking.session import CallProgress, Stop, Tally, print_bill, print_that_nothing_is_left_to_ask
from inference.asking.workers import Source
from inference.engines import is_engine_of_server
from inference.engines.contract import NO_NUMBERS, Engine
from inference.runfolder.store import Run
from inference.stimuli.study import Study
from inference.stimuli.templates.prompt_forms import CHAT, CLOZE, PAIR, PLAIN

MOST_LISTED = 100  # items with too few paraphrases that are named one by one


@dataclass(frozen=True, slots=True)
class Task:
    """One study to ask: its models, its questions, the engine settings, and the run folder that takes the rows.

    Attributes
    ----------
    study
        What is asked.
    models
        Asked one after the other; only one is in memory at a time.
    questions, settings
        The protocol's rounds of prompts with their conditions, and the settings of the engine that asks.
    out
        The run folder, new or of the same study; rows are written to it between batches.
    descriptions
        Fields by model id (`models.read_model_fields_from_yaml`), which override what is known about a model.
    allowed
        How many rows may end without a response before the run counts as failed.
    command, folder
        The call, for `run.json`, and the folder that its paths are relative to; None: the working directory.
    limit
        The questions are about so many items, the first ones; None: about all.
    """

    study: Study
    models: Sequence[Model]
    questions: Questions
    settings: Settings
    out: str
    descriptions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    command: Sequence[str] = ()
    folder: str | None = None
    allowed: AllowedFailures = NO_FAILURES
    limit: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Share:
    """One model of one task, and the open run folder of that task."""

    run: Run
    task: Task
    model: Model

    def can_use_same_engine(self, other: _Share) -> bool:
        """Tell whether one engine can serve both: the form is chosen for each share, everything else at loading."""
        mine, theirs = (
            (
                share.model.source,
                share.model.adapter,
                share.model.fields.get("revision"),
                share.run.seed,
                replace(share.task.settings, form="auto", seed=None),
            )
            for share in (self, other)
        )
        return mine == theirs


def ask_tasks_and_list_tallies(
    tasks: Sequence[Task], *, load: Callable[[Model, int], Engine] | None = None, cluster: Cluster | None = None
) -> list[Tally]:
    """Ask every model every variant under every condition, except what the run folders already hold.

    Every folder is opened before the first model is loaded. A model is loaded once for all tasks with the same engine
    settings, and only one is in memory at a time.

    Parameters
    ----------
    tasks
        The studies, each with its own folder.
    load
        Makes an engine from a model and the seed; None: `Settings.load_model_engine`.
    cluster
        The cluster to ask on (`inference.asking.cluster`); None: this process.

    Returns
    -------
    list of Tally
        One per task, model and condition.

    Raises
    ------
    RunFailed
        If stopped by Ctrl-C or SIGTERM (after the current batch), or, in the end, if more rows of a study are without
        a response than its task allows, or some of several models could not be asked.
    InputError
        If a folder holds another study or answers of earlier demo models; if the first prompt of a study cannot be
        made in any form; or if a model, form or setting does not fit, or differs from what the folder records under
        that name, and no model could be asked.
    """
    for task in tasks:
        refuse_folder_of_earlier_demo_models(task.out, task.models)
        print_items_with_too_few_paraphrases(task.study)
        _refuse_unrenderable_first_prompt(task)
    tallies: dict[str, list[Tally]] = {task.out: [] for task in tasks}
    with ExitStack() as folders, Stop() as stop:
        groups = _group_models_by_engine(
            [share for task in tasks for share in _open_folder_and_list_model_shares(task, folders, cluster)]
        )
        last = {share.run.path: share for group in groups for share in group}
        answered = _find_tallies_of_finished_shares(groups)
        unasked = (
            _print_and_collect_errors_of_absent_models(groups, answered)
            if load is None and cluster is None and len(groups) > 1
            else {}
        )
        call_progress = CallProgress(
            [_count_rows_of_each_study_for_progress_bars(group, {*answered, *unasked}) for group in groups]
        )
        for place, group in enumerate(groups):
            with _LazyEngine(load, cluster) as engine, call_progress.show_bar_of_model(place, group[0].model.id):
                for share in group:
                    if share in unasked:
                        continue
                    if stop.requested:
                        raise RunFailed(f"stopped before {share.model.id}; give the same command again to go on")
                    name = f"{share.run.study.name}, {share.model.id}" if len(tasks) > 1 else share.model.id
                    try:
                        if share in answered:
                            print_that_nothing_is_left_to_ask(name)
                        tallies[share.task.out] += answered.get(share) or engine.load_and_ask_model_of_task(
                            share, stop, call_progress, name
                        )
                    except InputError as error:
                        if len(last) == len(groups) == len(group) == 1:
                            raise  # nothing else is asked
                        left_shares = group[group.index(share) :] if engine.fails else [share]
                        unasked |= _print_error_and_map_shares_to_it(
                            [left_share for left_share in left_shares if left_share not in answered], error
                        )
                    if last[share.run.path] is share and not any(
                        unasked_share.run is share.run for unasked_share in unasked
                    ):
                        share.run.finish()
        if len(unasked) == sum(map(len, groups)):
            raise InputError("; ".join(dict.fromkeys(map(str, unasked.values()))))
    failures.refuse_too_many_failures_or_unasked_models(
        {task.out: (task.allowed, tallies[task.out]) for task in tasks},
        {f"{share.model.id} ({share.run.path})": str(error) for share, error in unasked.items()},
    )
    return [tally for task_tallies in tallies.values() for tally in task_tallies]


def _find_tallies_of_finished_shares(groups: Sequence[Sequence[_Share]]) -> dict[_Share, list[Tally]]:
    """Find the shares that have nothing left to ask, by their run folders alone; errors are left to the asking."""
    answered = {}
    for share in chain.from_iterable(groups):
        with suppress(InputError):
            answered[share] = find_tallies_of_finished_model(
                share.run, share.model, share.task.questions, share.task.settings
            )
    return {share: tallies for share, tallies in answered.items() if tallies}


def _count_rows_of_each_study_for_progress_bars(
    group: Sequence[_Share], left_out: Container[_Share]
) -> dict[Path, tuple[int, int]]:
    """Count the rows that a model is to have in every study, and those that are there, where a bar is to show them."""
    return {
        share.run.path: count_expected_and_saved_rows(share.run, share.model, share.task.questions, share.task.settings)
        for share in group
        if can_show_progress_bars() and share not in left_out
    }


def _print_and_collect_errors_of_absent_models(
    groups: Sequence[Sequence[_Share]], finished_shares: Container[_Share]
) -> dict[_Share, InputError]:
    """Look for all models that are to be loaded before the first is; name those that are not there."""
    unasked: dict[_Share, InputError] = {}
    for group in groups:
        unfinished_shares = [share for share in group if share not in finished_shares]
        if not unfinished_shares:
            continue
        try:
            group[0].task.settings.refuse_missing_model(group[0].model)
        except InputError as error:
            unasked |= _print_error_and_map_shares_to_it(unfinished_shares, error)
    return unasked


def _print_error_and_map_shares_to_it(shares: Sequence[_Share], error: InputError) -> dict[_Share, InputError]:
    """Print at once that a model cannot be asked, and give each of its shares the error; the others are asked."""
    print_warning(f"{shares[0].model.id}: not asked: {error}")
    return dict.fromkeys(shares, error)


def _open_folder_and_list_model_shares(task: Task, exit_stack: ExitStack, cluster: Cluster | None) -> list[_Share]:
    """Open the run folder of a task and return its shares, one per model."""
    run = exit_stack.enter_context(
        Run.create_or_open(task.out, task.study, seed=task.settings.seed, command=task.command)
    )
    if task.folder is not None:
        run.record_session_fields(folder=task.folder)
    if cluster is not None:
        run.record_session_fields(ray=cluster.fields_for_session_record)
    models = _add_or_record_user_stated_model_fields(run, task.models, task.descriptions)
    run.record_expected_models_and_drop_unloaded([model.id for model in models])
    return [_Share(run, task, model) for model in models]


def _group_models_by_engine(shares: Sequence[_Share]) -> list[list[_Share]]:
    """Group the shares that one engine serves together, in order of their first appearance."""
    groups: list[list[_Share]] = []
    for share in shares:
        group = next((group for group in groups if group[0].can_use_same_engine(share)), None)
        if group is None:
            groups.append([share])
        else:
            group.append(share)
    return groups


class _LazyEngine:
    """An engine that is loaded when it is first needed, and released at the end of the block."""

    def __init__(self, load: Callable[[Model, int], Engine] | None, cluster: Cluster | None) -> None:
        self._load, self._cluster = load, cluster
        self._engine: Engine | ClusterEngine | None = None
        self.fails = False  # whether it could not be loaded

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None
            release_device_memory()

    def load_and_ask_model_of_task(
        self, share: _Share, stop: Stop, call_progress: CallProgress, name: str
    ) -> list[Tally]:
        """Load the engine if it is not loaded, ask one share, and record the bill; lines about it begin with `name`."""
        if self._engine is None:
            load, seed = self._load or share.task.settings.load_model_engine, share.run.seed
            cluster, self.fails = self._cluster, True
            with stop.end_block_at_first_signal(share.model.id):
                if cluster is None:
                    self._engine = load(share.model, seed)
                else:
                    self._engine = RemoteEngine(cluster, Source(load, share.model, seed))
            self.fails = False
        try:
            task = share.task
            return ask_model(
                share.run, share.model, self._engine, task.questions, task.settings, stop, call_progress, name
            )
        finally:
            if is_engine_of_server(self._engine.info["engine"]):
                # A server's bill is known only when it is closed, and every run folder gets its own bill.
                print_bill(share.model.id, share.run.record_session_bill(share.model.id, self._engine.close()))
                self._engine = None


def _refuse_unrenderable_first_prompt(task: Task) -> None:
    """Render the first prompt in every form that a model may need, and refuse the task if all of them fail.

    Only a loaded model tells which form it needs, and loading takes long: a task that fails in all forms is refused
    before. So is one that wants exact probabilities of numbers from a server, which shows only the top tokens.
    """
    variant = next(task.study.variants)
    problems = []
    for form in (*((PLAIN, CHAT) if task.settings.form == "auto" else (task.settings.form,)), CLOZE, PAIR):
        try:
            for round_ in task.questions.rounds(form):
                prompt = round_.render(variant, "[MASK]")
                if (
                    prompt.numbers
                    and is_engine_of_server(task.settings.engine)
                    and round_.has_condition_answered_in_way(Exact)
                ):
                    raise InputError(NO_NUMBERS)
        except InputError as error:
            problems.append(error)
        else:
            return
    raise problems[0]


def print_items_with_too_few_paraphrases(study: Study) -> None:
    """Print the items that have fewer than two paraphrases to standard error."""
    unstable = study.items_with_too_few_paraphrases
    if unstable:
        print_warning(
            f"{study.name}: {format_part_with_verb(len(unstable), len(study.items), 'item')} fewer than two "
            f"paraphrases: asked, but left out of stability statistics: {join_first_names(unstable, MOST_LISTED)}"
        )


def _add_or_record_user_stated_model_fields(
    run: Run, models: Sequence[Model], stated_fields: Mapping[str, Mapping[str, Any]]
) -> list[Model]:
    """Add to models what the user states about them; for models asked in earlier calls it is recorded at once."""
    model_ids = {model.id for model in models}
    stated_fields = add_base_series_to_adapter_fields(models, stated_fields)
    for name, fields in stated_fields.items():
        if name in run.models and name not in model_ids:
            run.add_model(name, {**run.models[name], **fields})
        elif name not in model_ids:
            raise InputError(f"--models: there is no model '{name}' in this call or run; correct its id or take it out")
    return [replace(model, fields={**model.fields, **stated_fields.get(model.id, {})}) for model in models]
