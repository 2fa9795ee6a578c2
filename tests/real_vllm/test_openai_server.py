"""Engine `openai` against vLLM's own server on a CPU: the same numbers as engine `causal` in float32, to 1e-5.

The server takes a minute or two to start.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ground.errors import InputError
from inference import engines
from inference.demo import FAMILY
from inference.engines.contract import Sampling, Thinking
from inference.engines.openai.engine import OpenAIEngine
from inference.engines.openai.settings import ApiSettings
from inference.engines.openai.thoughts.message_route import MessageRoute
from inference.engines.openai.thoughts.template_route import TemplateRoute
from inference.protocols import agreement
from inference.stimuli.templates.prompts import build_template_values_of_options

pytestmark = pytest.mark.slow

MODEL = "waver-demo-large-tuned"
TOLERANCE = 1e-5
START = 300  # seconds


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server of the demo model, started for these tests."""
    with _serve(FAMILY[MODEL].path, tmp_path_factory.mktemp("server") / "log") as url:
        yield url


@contextmanager
def _serve(model, log):
    """A server of the model in a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model),
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

    study = agreement.build_agreement_study(items.read_and_check_items("demo"), "demo")
    return [
        agreement.read_agreement_prompts().render(form, build_template_values_of_options(variant))
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
    assert asked.choose_prompt_form(form) == form
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
    asked.choose_prompt_form(form)
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
    asked.choose_prompt_form("chat")
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


@pytest.fixture(scope="module")
def thinker(tmp_path_factory):
    """The demo model with a chat template that opens a thought: it never ends one, so that is closed by force."""
    folder = tmp_path_factory.mktemp("thinker") / "model"
    shutil.copytree(FAMILY[MODEL].path, folder)
    template = folder / "chat_template.jinja"
    opened = "<|assistant|><think>\\n{% if enable_thinking is defined and not enable_thinking %}</think>{% endif %}"
    plain = "{{ '<|assistant|>' }}{% endif %}"
    text = template.read_text("utf-8")
    assert text.endswith(plain)
    shown = opened.replace("\\n", "\n")
    template.write_text(f"{text.removesuffix(plain)}{shown}{{% endif %}}", "utf-8")
    return folder


@pytest.fixture(scope="module")
def thinking_address(thinker, tmp_path_factory):
    with _serve(thinker, tmp_path_factory.mktemp("server") / "log") as url:
        yield url


@pytest.fixture
def thinking(thinking_address):
    engine = OpenAIEngine(MODEL, ApiSettings(base_url=thinking_address, concurrency=8))
    assert engine.choose_prompt_form("chat") == "chat" and engine.info["thinks"]
    yield engine
    engine.close()


@pytest.mark.parametrize("way", [Thinking(1, 0.0, budget=12), Thinking(1, 0.0, effort="none")], ids=["budget", "off"])
def test_the_same_thoughts_and_numbers_as_causal(thinking, thinker, way):
    local = engines.load_engine(str(thinker), engine="causal", dtype="float32", device="cpu")
    prompts = _prompts("chat")[:20]
    answered, expected = thinking.think(prompts, way), local.think(prompts, way)
    assert isinstance(thinking._route, TemplateRoute)
    same = [(a, e) for a, e in zip(answered, expected, strict=True) if a.thoughts == e.thoughts]
    assert len(same) >= len(prompts) - 1  # two tokens may be equally likely, but for rounding
    for a, e in same:
        assert (a.error, a.tokens, a.closed) == (None, e.tokens, e.closed)
        np.testing.assert_allclose(a.scores[0].probability, e.scores[0].probability, atol=TOLERANCE, rtol=0)
        assert a.scores[0].mass_upper is None


def test_sampled_thoughts_are_several_and_reproducible(thinking):
    prompts = _prompts("chat")[:6]
    way = Thinking(3, 1.0, 0.95, top_k=20, budget=8)
    answered = thinking.think(prompts, way)
    assert answered == thinking.think(prompts, way)
    assert all(response.error is None and len(response.scores) == 3 for response in answered)
    assert any(len(set(response.thoughts)) > 1 for response in answered)
    assert {tokens for response in answered for tokens in response.tokens} <= set(range(9))


def test_a_chat_that_is_continued_bounds_the_numbers_of_completions(thinking):
    """Where the route of messages is open: the demo tokenizer may write its marks otherwise behind other text."""
    prompts, way = _prompts("chat")[:6], Thinking(1, 0.0, budget=8)
    by_completions = thinking.think(prompts, way)
    chat = thinking._probes["chat"]
    chat = replace(chat, written="<think>")
    thinking._route = thinking._runner.run(
        MessageRoute.probe_server_and_build_route(thinking._server, thinking._words, thinking._samples, chat)
    )
    for a, b in zip(thinking.think(prompts, way), by_completions, strict=True):
        assert a.error is None and a.thoughts == b.thoughts
        upper = a.scores[0].mass if a.scores[0].mass_upper is None else a.scores[0].mass_upper
        assert a.scores[0].mass - 1e-3 <= b.scores[0].mass <= upper + 1e-3
