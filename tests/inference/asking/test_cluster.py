"""A run on a Ray cluster of two workers equals the one made here, row for row, whatever happens to the workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ground.errors import InputError, RunFailed
from helpers.trivial_engine import TrivialEngine, shown, small_study
from inference.asking.adapters import add_adapter_models
from inference.asking.answer_ways import AnswerWays
from inference.asking.cluster import Cluster, group_batches_into_tasks, prepare_code_folders_for_workers
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.models import Model, find_requested_models
from inference.asking.one_model import Settings
from inference.asking.rounds import Exact
from inference.asking.workers import (
    Asker,
    PackedPrompts,
    Source,
    compress_value_to_bytes,
    decompress_value_from_bytes,
)
from inference.engines.contract import Sampling
from inference.protocols.agreement import Questions, read_agreement_prompts
from inference.runfolder.parquet import KEY
from inference.stimuli.templates.prompts import build_template_values_of_options

STUDY = small_study(items=6, paraphrases=9)
SETTINGS = Settings(batch_size=4, device="cpu")


def test_without_ray_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"a Ray cluster needs the package ray: pip install .*\[ray\]'"):
        Cluster("local")


@pytest.mark.slow
def test_packed_prompts_are_the_same_prompts(monkeypatch):
    monkeypatch.setattr("inference.asking.workers.CHUNK", 7)
    prompts = [
        read_agreement_prompts().render("chat", build_template_values_of_options(variant)) for variant in STUDY.variants
    ]
    packed = PackedPrompts(prompts)
    assert list(packed) == prompts
    assert [packed[59], packed[0], packed[30]] == [prompts[59], prompts[0], prompts[30]]
    assert packed[5:9] == prompts[5:9]


def test_tasks_are_consecutive_batches_of_about_the_wished_size():
    batches = {(0, 0): range(3), (0, 2): range(3), (0, 5): range(9), (1, 0): range(1), (1, 1): range(1)}
    assert group_batches_into_tasks(batches, 5) == [[(0, 0), (0, 2)], [(0, 5)], [(1, 0), (1, 1)]]
    assert group_batches_into_tasks(batches, 1) == [[key] for key in batches]


@pytest.mark.slow
def test_the_code_that_other_machines_get_needs_nothing_beside_it(tmp_path):
    """Ray unpacks every folder of code in a folder of its own."""
    folders = prepare_code_folders_for_workers(Path(__file__).parents[3], tmp_path)
    for number, folder in enumerate(map(Path, folders)):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / folder.name).symlink_to(folder)
    roots = [str(tmp_path / str(number)) for number in range(len(folders))]
    code = f"import sys; sys.path[:0] = {roots}; import ground, inference.asking.one_model; print(ground.__file__)"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, env={})
    assert run.stdout.startswith(str(tmp_path))


def test_a_worker_hands_over_the_batches_that_were_answered_before_it_was_stopped():
    def stop_at_second_batch(number: int) -> None:
        if number == 1:
            raise RunFailed("m: HTTP 402: no money; check the account, then give the same command again to go on")

    asker = Asker(
        Source(lambda model, seed: TrivialEngine(before_batch=stop_at_second_batch), Model("m", "m"), 0),
        [],
        [(Exact(),)],
    )
    asker._round = 0  # the engine has its batches
    prompts = [
        read_agreement_prompts().render("chat", build_template_values_of_options(variant)) for variant in STUDY.variants
    ]
    task_of_two = compress_value_to_bytes([((0, 0), prompts[:4]), ((0, 1), prompts[4:8])])
    (data,) = asker(pa.table({"task": [task_of_two]}))["answers"].to_pylist()
    answers, failure = decompress_value_from_bytes(data)
    assert [(key, len(columns[0])) for key, columns in answers] == [((0, 0), 4)]
    assert isinstance(failure, RunFailed) and str(failure).startswith("m: HTTP 402: no money")


@pytest.fixture(scope="module")
def cluster():
    """Processes that start take most of a minute of a processor, so the suite leaves it to `make test-ray`."""
    pytest.importorskip("ray")
    if not os.environ.get("WAVER_TEST_RAY"):
        pytest.skip("starts a Ray cluster: make test-ray")
    with Cluster("local", 2) as cluster:
        yield cluster


class Dying:
    """Makes engines whose process dies in the middle of a batch: once (`flag` remembers), or with a text in it."""

    def __init__(self, flag: Path | None = None, text: str | None = None, real: bool = False) -> None:
        self.flag, self.text, self.real = flag, text, real

    def __call__(self, model: Model, seed: int):
        engine = SETTINGS.load_model_engine(model, seed) if self.real else TrivialEngine()
        score = engine.score
        batches = 0

        def dying(prompts, temperatures=(1.0,)):
            nonlocal batches
            batches += 1
            once = self.flag is not None and batches == 3 and not self.flag.exists()
            if once or (self.text and any(self.text in shown(prompt) for prompt in prompts)):
                if once:
                    self.flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return score(prompts, temperatures)

        engine.score = dying
        return engine


def task(out: Path, model: str = "m") -> Task:
    return Task(STUDY, [Model("m", model)], Questions(read_agreement_prompts()), SETTINGS, str(out))


def table_of(out: Path) -> pa.Table:
    tables = [pq.read_table(file, partitioning=None) for file in sorted((out / "responses").glob("part-*.parquet"))]
    return pa.concat_tables(tables).sort_by([(name, "ascending") for name in KEY]).combine_chunks()


def content(out: Path) -> dict:
    return json.loads((out / "run.json").read_text(encoding="utf-8"))


def test_a_killed_worker_costs_its_batch_and_every_row_equals_the_local_run(tmp_path, cluster):
    tiny_models = pytest.importorskip("helpers.tiny_models")
    model = tiny_models.checkpoint(tmp_path / "model", "llama", max_position_embeddings=512)
    ask_tasks_and_list_tallies([task(tmp_path / "here", model)])
    (tally,) = ask_tasks_and_list_tallies(
        [task(tmp_path / "there", model)], load=Dying(flag=tmp_path / "died", real=True), cluster=cluster
    )
    assert (tmp_path / "died").exists()
    assert (tally.asked_count, tally.failed) == (60, 0)
    assert table_of(tmp_path / "there").equals(table_of(tmp_path / "here"))
    here, there = content(tmp_path / "here"), content(tmp_path / "there")
    assert there["sessions"][0].pop("ray") == {"address": "local", "workers": 2}
    assert all(here[part] == there[part] for part in here if part != "sessions")
    assert here["sessions"][0].keys() == there["sessions"][0].keys()


def test_the_workers_add_an_adapter_as_this_process_does(tmp_path, cluster):
    tiny_models = pytest.importorskip("helpers.tiny_models")
    from safetensors.torch import save_file
    from torch import ones

    model = tiny_models.checkpoint(tmp_path / "model", "llama", max_position_embeddings=512)
    (tmp_path / "fine").mkdir()
    layer = "base_model.model.model.layers.0.self_attn.q_proj"
    save_file({f"{layer}.lora_A.weight": ones(2, 32), f"{layer}.lora_B.weight": ones(32, 2)},
              tmp_path / "fine" / "adapter_model.safetensors")  # fmt: skip
    config = {"r": 2, "lora_alpha": 2, "base_model_name_or_path": "model"}
    (tmp_path / "fine" / "adapter_config.json").write_text(json.dumps(config))
    models = add_adapter_models(find_requested_models([model]), [str(tmp_path / "fine")])
    for out, where in (("here", None), ("there", cluster)):
        ask_tasks_and_list_tallies([replace(task(tmp_path / out), models=models)], cluster=where)
    assert table_of(tmp_path / "there").equals(table_of(tmp_path / "here"))
    rows = {name: [row["mass"] for row in table_of(tmp_path / "there").to_pylist() if row["model"] == name]
            for name in ("model", "fine")}  # fmt: skip
    assert len(rows["fine"]) == 60 and rows["fine"] != rows["model"]


class Counting:
    """Makes engines and leaves a file for every one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, model: Model, seed: int):
        (self.folder / uuid4().hex).touch()
        return SETTINGS.load_model_engine(model, seed)


def test_the_workers_start_once_for_all_conditions_and_every_row_equals_the_local_run(tmp_path, cluster):
    tiny_models = pytest.importorskip("helpers.tiny_models")
    model = tiny_models.checkpoint(tmp_path / "model", "llama", max_position_embeddings=512)
    ways = AnswerWays(texts=(Sampling(2, temperature=0.7, max_tokens=3),))
    orders = Questions(read_agreement_prompts(), ("yes-no", "no-yes"), ways)
    (tmp_path / "loads").mkdir()
    for out, load, where in (("here", None, None), ("there", Counting(tmp_path / "loads"), cluster)):
        asked = replace(task(tmp_path / out, model), questions=orders)
        assert (
            sum(tally.asked_count for tally in ask_tasks_and_list_tallies([asked], load=load, cluster=where)) == 4 * 60
        )
    assert table_of(tmp_path / "there").equals(table_of(tmp_path / "here"))
    assert len(list((tmp_path / "loads").iterdir())) == 3  # the workers, and the one that cuts the batches


def test_a_batch_that_kills_every_worker_gets_errors_and_is_asked_again_elsewhere(tmp_path, cluster, monkeypatch):
    """Ray is made to keep the workers of a stream, as it does now and then: the next ones get their slots."""
    pools = pytest.importorskip("ray.data._internal.execution.operators.actor_pool_map_operator")
    release, workers = pools._ActorPool._release_running_actor, []
    monkeypatch.setattr(
        pools._ActorPool, "_release_running_actor", lambda pool, worker: (workers.append(worker), release(pool, worker))
    )
    monkeypatch.setattr("inference.asking.cluster.RETRIES", 0)
    with pytest.raises(RunFailed, match="4 of 60 rows have no response"):
        ask_tasks_and_list_tallies(
            [task(tmp_path / "run")], load=Dying(text="Thing 2 is good, said 0."), cluster=cluster
        )
    failed = [row for row in table_of(tmp_path / "run").to_pylist() if row["error"]]
    assert {row["error"] for row in failed} == {
        "the worker that asked this batch died every time (1 times and again by itself)"
    }
    assert ("2", "original") in {(row["item"], row["variant"]) for row in failed}
    engine = TrivialEngine()
    ask_tasks_and_list_tallies([task(tmp_path / "run")], load=lambda model, seed: engine)
    assert engine.batches_scored == 1  # the batches are those of the cluster
    ask_tasks_and_list_tallies([task(tmp_path / "here")], load=lambda model, seed: TrivialEngine())
    assert table_of(tmp_path / "run").equals(table_of(tmp_path / "here"))


def test_what_a_worker_says_about_an_input_is_one_line_here(tmp_path, cluster):
    def load(model, seed):
        raise InputError(f"model {model.id}: there is no such thing")

    with pytest.raises(InputError, match=r"^model m: there is no such thing$"):
        ask_tasks_and_list_tallies([task(tmp_path / "run")], load=load, cluster=cluster)


def test_a_bug_in_a_worker_stops_the_run_with_its_traceback_and_leaves_no_thread(tmp_path, cluster):
    # A thread that is left may free a reference while Ray shuts down, and then Ray ends the process with exit code 1.
    threads = set(threading.enumerate())

    def load(model, seed):
        def broken(batch: int) -> None:
            raise ZeroDivisionError("a bug")

        return TrivialEngine(before_batch=broken)

    with pytest.raises(RuntimeError, match=r"(?s)in a worker: .*ZeroDivisionError: a bug"):
        ask_tasks_and_list_tallies([task(tmp_path / "run")], load=load, cluster=cluster)
    assert not {thread.name for thread in threading.enumerate() if thread not in threads}


def test_more_workers_than_slots_are_refused(cluster):
    with pytest.raises(InputError, match=r"--ray-workers 999: the cluster has \d+ CPUs, one for each; ask for fewer"):
        Cluster("local", 999)._set_workers_and_resources()
