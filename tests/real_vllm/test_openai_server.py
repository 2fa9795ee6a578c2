"""Engine `openai` against vLLM's own server on a CPU: the same numbers as engine `causal` in float32, to 1e-5.

The server takes a minute or two to start.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ground.errors import InputError
from inference import engines
from inference.demo import FAMILY
from inference.engines.contract import Sampling
from inference.engines.openai.engine import OpenAIEngine
from inference.engines.openai.settings import ApiSettings
from inference.protocols import agreement
from inference.stimuli.templates.prompts import build_option_values

pytestmark = pytest.mark.slow

MODEL = "waver-demo-large-tuned"
TOLERANCE = 1e-5
START = 300  # seconds


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server of the demo model, started for these tests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    command = [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(FAMILY[MODEL].path),
        "--served-model-name", MODEL, "--dtype", "float32", "--enforce-eager", "--block-size", "32",
        "--host", "127.0.0.1", "--port", str(port),
    ]  # fmt: skip
    given = {"TORCH_COMPILE_DISABLE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    with log.open("wb") as written:
        server = subprocess.Popen(
            command, stdout=written, stderr=written, env={**os.environ, **given}, start_new_session=True
        )
    try:
        _wait(server, f"http://127.0.0.1:{port}/health", log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)


def _wait(server: subprocess.Popen, url: str, log: Path) -> None:
    for _ in range(START):
        assert server.poll() is None, log.read_text(errors="replace")[-3000:]
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(1)
    raise AssertionError(f"no server after {START} s: {log.read_text(errors='replace')[-3000:]}")


def _prompts(form: str) -> list:
    from inference.stimuli import items

    study = agreement.build_agreement_study(items.read_items("demo"), "demo")
    return [
        agreement.read_agreement_prompts().render(form, build_option_values(variant))
        for variant in list(study.variants)[::20]
    ]


@pytest.fixture(scope="module")
def causal():
    return engines.load_engine(str(FAMILY[MODEL].path), engine="causal", dtype="float32", device="cpu")


@pytest.fixture
def asked(address):
    engine = OpenAIEngine(MODEL, ApiSettings(base_url=address, concurrency=8))
    yield engine
    engine.close()


@pytest.mark.parametrize("form", ["chat", "plain"])
def test_the_same_numbers_as_causal(asked, causal, form):
    assert asked.form(form) == form
    prompts = _prompts(form)
    found, expected = asked.score(prompts)[0], causal.score(prompts)[0]
    assert [score.error for score in found] == [None] * len(prompts)
    np.testing.assert_allclose(
        [score.probability for score in found], [score.probability for score in expected], atol=TOLERANCE, rtol=0
    )
    assert {score.mass_upper for score in found} == {None}
    assert [score.answer for score in found] == [score.answer for score in expected]


@pytest.mark.parametrize("form", ["chat", "plain"])
@pytest.mark.parametrize("ids", [True, False], ids=["token ids", "texts"])
def test_the_most_probable_tokens_bound_the_numbers_of_causal(asked, causal, form, ids):
    """As with a server that shows no tokens but the most probable ones, by id or by text."""
    asked.form(form)
    for api, probe in asked._probes.items():
        asked._probes[api] = replace(probe, shape=replace(probe.shape, named=False, ids=ids))
    prompts = _prompts(form)
    for found, expected in zip(asked.score(prompts)[0], causal.score(prompts)[0], strict=True):
        assert found.error is None
        upper = found.mass if found.mass_upper is None else found.mass_upper
        assert found.mass - TOLERANCE <= expected.mass <= upper + TOLERANCE
        for low, value in zip(found.probability, expected.probability, strict=True):
            assert low <= value + TOLERANCE


def test_texts_are_reproducible_and_do_not_depend_on_the_batch(asked):
    asked.form("chat")
    prompts = _prompts("chat")[:12]
    sampling = Sampling(samples=3, temperature=1.0, max_tokens=4)
    together = asked.generate(prompts, [sampling])[0]
    alone = [asked.generate([prompt], [sampling])[0][0] for prompt in prompts]
    assert together == alone
    assert all(len(generation.texts) == 3 for generation in together)
    assert any(len(set(generation.texts)) > 1 for generation in together)


def test_a_model_that_is_not_there(address):
    with pytest.raises(InputError, match="cannot be asked for model 'another': HTTP 404"):
        OpenAIEngine("another", ApiSettings(base_url=address))
