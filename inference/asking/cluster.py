"""Ask on a Ray cluster: Ray Data sends batches to engines, one per GPU or CPU slot, and returns their answers.

Only asking is distributed. The calling process cuts the batches from the full list, as it does for an engine of its
own, and writes the rows as they arrive. So the run folder is the same, and a run can be resumed in the same way.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import shutil
import sys
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from ground.errors import InputError, UserError
from ground.extras import convert_import_errors_to_install_advice
from ground.shipped import find_shipped_folder
from inference.asking.rounds import AnsweredBatch, PendingRound, Response, Way
from inference.asking.workers import (
    Asker,
    Key,
    PackedPrompts,
    Scout,
    Source,
    compress_value_to_bytes,
    decompress_value_from_bytes,
)
from inference.engines.contract import Generation, Sampling, Score, Thinking, Thoughts
from inference.stimuli.templates.prompts import Prompt

LOCAL = "local"
# A task holds enough prompts to keep a small model busy for much longer than Ray needs to send it, but not many more:
# if a worker dies, its current task is asked again.
TASK_PROMPTS = 256
TASKS_PER_WORKER = 8  # at least, so that at the end no worker waits long for another
RETRIES = 2  # of a task whose worker died; after that each of its batches is tried in a task of its own


class Cluster:
    """A Ray cluster for the length of a `with` block.

    Parameters
    ----------
    address
        As `ray.init` takes it; `local` starts a cluster on this machine and ends it with the block.
    workers
        Number of engines; None: one per GPU, without GPUs one per CPU.

    Raises
    ------
    InputError
        Ray is not installed, the cluster cannot be reached, or it has fewer slots than workers.
    """

    def __init__(self, address: str, workers: int | None = None) -> None:
        with convert_import_errors_to_install_advice("asking on a Ray cluster"):
            import ray
            import ray.data
        self._ray = ray
        self._wanted = workers
        self.address = address
        self.workers = 0
        self.resources: dict[str, float] = {}  # of one worker

    def __enter__(self) -> Self:
        ray = self._ray
        # Ray sends no usage statistics, and the messages of its C++ core go only to its log files.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        package = Path(__file__).resolve().parents[2]
        # Other machines get a copy of the caller's code; processes on this machine import it from where it is.
        local_environment: dict[str, Any] = {
            "env_vars": {"PYTHONPATH": os.pathsep.join([str(package), *filter(None, sys.path)])}
        }
        try:
            with TemporaryDirectory() as scratch:  # sent before `ray.init` returns
                remote_environment = {"py_modules": prepare_code_folders_for_workers(package, Path(scratch))}
                ray.init(
                    address=self.address,
                    runtime_env=local_environment if self.address == LOCAL else remote_environment,
                    include_dashboard=False if self.address == LOCAL else None,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            reason = str(error).strip().splitlines()[0]
            raise InputError(
                f"--ray {self.address}: no cluster there ({reason}); give its address or `local`"
            ) from None
        try:
            self._set_workers_and_resources()
        except BaseException:
            ray.shutdown()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        # If another thread frees a reference to an object while Ray shuts down, Ray ends this process at once, with
        # exit code 1 and no message. No thread of Ray Data lives now; garbage that holds references goes here.
        gc.collect()
        self._ray.shutdown()

    @property
    def fields_for_session_record(self) -> dict[str, Any]:
        """The part of a session that `run.json` records."""
        return {"address": self.address, "workers": self.workers}

    def _set_workers_and_resources(self) -> None:
        """Set the number of workers and what each takes of the cluster; refuse more workers than slots."""
        total = self._ray.cluster_resources()
        kind = "GPU" if total.get("GPU") else "CPU"
        slots = int(total.get(kind, 0))
        if (self._wanted or 1) > slots:
            raise InputError(
                f"--ray-workers {self._wanted or 1}: the cluster has {slots} {kind}s, one for each; ask for fewer"
            )
        self.workers = self._wanted or slots
        # Ray gives a process as many threads as CPUs.
        self.resources = {"num_gpus": 1} if kind == "GPU" else {"num_cpus": slots // self.workers}


class RemoteEngine:
    """An engine whose work is done in other processes, many batches at the same time (`rounds.ClusterEngine`).

    In addition to the workers there is a scout: one process with an engine of its own, which describes the model and
    cuts the batches. It releases its GPU before the workers start.
    """

    def __init__(self, cluster: Cluster, source: Source) -> None:
        self._cluster, self._source = cluster, source
        self._scout: Any = None
        self._packed: Any = None
        self.info: dict[str, Any]
        self.info, self.mask_token, self.independent_of_batch = self._call_scout_method(
            "get_info_mask_token_and_independence"
        )

    def choose_prompt_form(self, requested: str) -> str:
        """Choose the prompt form, as the scout's engine does."""
        form: str = self._call_scout_method("choose_prompt_form", requested)
        return form

    def cut_into_batches(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Cut the prompts into batches, as the scout's engine does."""
        self._packed = self._cluster._ray.put(PackedPrompts(prompts))
        batches: list[list[int]] = self._call_scout_method("cut_into_batches", self._packed)
        return batches

    def render(self, prompt: Prompt, effort: str | None = None) -> str:
        """Write a prompt out as the model gets it, as the scout's engine does.

        Parameters
        ----------
        prompt, effort
            As in `Engine.render`.

        Returns
        -------
        The text.
        """
        text: str = self._call_scout_method("render", prompt, effort)
        return text

    def ask_rounds_and_yield_batches(self, rounds: Sequence[PendingRound]) -> Iterator[AnsweredBatch]:
        """Ask all rounds and yield every batch with its prompts and responses, in the order of the answers.

        The workers start once for all rounds. If a worker dies, its task is asked again, and in the end each of its
        batches alone. A batch whose worker dies every time gets errors as responses.
        """
        left: dict[Key, list[int]] = {}
        packed = []
        for place, round_ in enumerate(rounds):
            left |= {
                (place, number): batch for number, batch in enumerate(round_.list_unfinished_batches(self)) if batch
            }
            packed.append(self._packed)
        if "num_gpus" in self._cluster.resources:
            self._end_scout()
        for batch_by_batch in (False, True):
            for key, columns in self._stream_answered_batches(dict(left), rounds, packed, batch_by_batch):
                batch = left.pop(key)
                yield key[0], batch, [rounds[key[0]].prompts[index] for index in batch], columns
            if not left:
                return
        message = f"the worker that asked this batch died every time ({RETRIES + 1} times and again by itself)"
        for (place, _), batch in left.items():
            lost: list[Sequence[Response]] = [
                [_build_response_of_dead_worker(way, message)] * len(batch) for way in rounds[place].ways
            ]
            yield place, batch, [rounds[place].prompts[index] for index in batch], lost

    def close(self) -> dict[str, Any]:
        """End the scout; the workers have ended already."""
        self._end_scout()
        return {}

    def _end_scout(self) -> None:
        """End the scout's process, which releases its GPU."""
        if self._scout is not None:
            self._cluster._ray.kill(self._scout)
            self._scout = None

    def _choose_min_prompts_per_task(self, batches: Mapping[Key, Sequence[int]]) -> int:
        """Choose how many prompts a task has at least."""
        count = sum(map(len, batches.values()))
        return max(1, min(TASK_PROMPTS, count // (TASKS_PER_WORKER * self._cluster.workers)))

    def _stream_answered_batches(
        self,
        batches: Mapping[Key, Sequence[int]],
        rounds: Sequence[PendingRound],
        packed_prompts: Sequence[Any],
        batch_by_batch: bool,
    ) -> Iterator[tuple[Key, list[Sequence[Response]]]]:
        """Yield batches with their responses; those whose worker died too often are missing."""
        import pyarrow as pa
        from ray.data import ActorPoolStrategy, DataContext, from_arrow

        context = DataContext.get_current()
        context.enable_progress_bars = False
        context.max_errored_blocks = -1  # a task whose retries are used up is left out; the caller asks it again
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        tasks = group_batches_into_tasks(batches, 1 if batch_by_batch else self._choose_min_prompts_per_task(batches))

        def list_batch_prompts(key: Key) -> list[Prompt]:
            return [rounds[key[0]].prompts[index] for index in batches[key]]

        worker_names: list[str] = []

        def build_options_of_next_worker() -> dict[str, Any]:
            worker_names.append(f"waver-worker-{uuid.uuid4().hex}")
            return {"name": worker_names[-1], "max_task_retries": RETRIES}  # and as many restarts as it takes

        blocks = [
            pa.table({"task": [compress_value_to_bytes([(key, list_batch_prompts(key)) for key in task])]})
            for task in tasks
        ]
        with warnings.catch_warnings():
            # Retries can only be set in a way that Ray 2.64 will remove; pyproject.toml keeps Ray below that.
            warnings.simplefilter("ignore")
            answered = from_arrow(blocks).map_batches(
                Asker,
                batch_size=None,
                batch_format="pyarrow",
                # With two tasks a worker never waits. When batches are tried alone, a worker has one: if it dies, no
                # other batch is lost with it.
                compute=ActorPoolStrategy(
                    size=min(self._cluster.workers, len(tasks)),
                    max_tasks_in_flight_per_actor=1 if batch_by_batch else 2,
                ),
                fn_constructor_args=(self._source, list(packed_prompts), [tuple(round_.ways) for round_ in rounds]),
                ray_remote_args_fn=build_options_of_next_worker,
                **self._cluster.resources,
            )
        # Not `iter_batches`: it starts threads that nothing ends when a run is stopped (`Cluster.__exit__`).
        for bundle in answered.iter_internal_ref_bundles():
            for table in self._cluster._ray.get(bundle.block_refs):
                for data in table["answers"].to_pylist():
                    batch_answers, failure = decompress_value_from_bytes(data)
                    yield from batch_answers
                    if failure is not None:
                        raise failure
        # Ray ends workers to which nothing refers. After one has died it now and then keeps them, with their slots, and
        # the workers of the next stream would wait for these slots forever.
        for name in worker_names:
            with contextlib.suppress(ValueError):  # it has ended
                self._cluster._ray.kill(self._cluster._ray.get_actor(name))

    def _call_scout_method(self, method: str, *arguments: Any) -> Any:
        """Call a method of the scout, which is started where there is none, and return the result."""
        ray = self._cluster._ray
        if self._scout is None:
            resources = self._cluster.resources if "num_gpus" in self._cluster.resources else {"num_cpus": 0}
            self._scout = ray.remote(Scout).options(**resources).remote(self._source)
        try:
            return ray.get(getattr(self._scout, method).remote(*arguments))
        except ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, UserError) else error from None


def prepare_code_folders_for_workers(package: Path, scratch: Path) -> list[str]:
    """List the folders of code that a worker imports, each complete where it stands alone.

    Parameters
    ----------
    package
        The folder that holds `inference` and `ground`.
    scratch
        Takes a copy of `ground` with the schema that stands beside it in a checkout; a wheel has it inside.

    Returns
    -------
    Their paths.
    """
    ground = package / "ground"
    if not (ground / "results").is_dir():
        ground = Path(shutil.copytree(ground, scratch / "ground"))
        (ground / "results").mkdir()
        shutil.copy(find_shipped_folder("results") / "schema.json", ground / "results")
    return [str(package / "inference"), str(ground)]


def group_batches_into_tasks(batches: Mapping[Key, Sequence[int]], min_prompts: int) -> list[list[Key]]:
    """Group consecutive batches into tasks.

    Parameters
    ----------
    batches
        Key of a batch -> its prompts, as indices.
    min_prompts
        Prompts that a task has at least; the last one may have fewer.

    Returns
    -------
    Keys of the batches of each task, at least one.

    Examples
    --------
    >>> group_batches_into_tasks({(0, 0): [1, 2], (0, 1): [3, 4], (1, 0): [5]}, min_prompts=3)
    [[(0, 0), (0, 1)], [(1, 0)]]
    """
    tasks: list[list[Key]] = []
    size = min_prompts
    for key, batch in batches.items():
        if size >= min_prompts:
            tasks.append([])
            size = 0
        tasks[-1].append(key)
        size += len(batch)
    return tasks


def _build_response_of_dead_worker(way: Way, message: str) -> Response:
    """Build the response to a prompt whose worker died."""
    if isinstance(way, Sampling):
        return Generation(error=message)
    return Thoughts(error=message) if isinstance(way, Thinking) else Score(error=message)
