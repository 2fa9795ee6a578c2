"""Requests per second of engine `openai` and of a bare client loop: `python tests/benchmarks/bench_openai.py`.

The engine must reach 90 % of what `AsyncOpenAI` gets from the same server with as many requests at once. Without
--base-url the server is `tests/helpers/faulty_server.py` without faults, in a process of its own: it answers in well
under a millisecond, so the client's own work decides. Rounds are paired; medians are shown, and the client's CPU time
as well, since the clock also measures who else uses the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from openai import AsyncOpenAI

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from helpers.faulty_server import MODEL  # noqa: E402
from helpers.trivial_engine import small_study  # noqa: E402
from inference.engines.openai.engine import OpenAIEngine  # noqa: E402
from inference.engines.openai.settings import ApiSettings  # noqa: E402
from inference.protocols.agreement import read_agreement_prompts  # noqa: E402
from inference.stimuli.templates.prompts import Prompt, build_template_values_of_options  # noqa: E402

LIMIT = 0.9


def bare(address: str, model: str, prompts: list[Prompt], concurrency: int) -> None:
    """What one would write without Waver: all requests at once, a semaphore, replies as the client makes them."""

    async def run() -> None:
        gate = asyncio.Semaphore(concurrency)
        async with AsyncOpenAI(api_key="none", base_url=address, max_retries=0) as client:

            async def ask(prompt: Prompt) -> float:
                async with gate:
                    reply = await client.chat.completions.create(
                        model=model, messages=list(prompt.messages or ()), max_tokens=1, temperature=0,
                        logprobs=True, top_logprobs=20,
                    )  # fmt: skip
                return reply.choices[0].logprobs.content[0].top_logprobs[0].logprob

            await asyncio.gather(*map(ask, prompts))

    asyncio.run(run())


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds on the clock and of this process's CPU."""
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - cpu


def serve() -> tuple[subprocess.Popen[bytes], str]:
    """The local server on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "helpers.faulty_server", str(port)], cwd=ROOT / "tests")
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.05)
    return server, f"http://127.0.0.1:{port}/v1"


def main() -> None:
    """Print both rates, and leave with status 1 below the limit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base-url", help="a server of yours")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    server, address = (None, given.base_url) if given.base_url else serve()
    try:
        book = read_agreement_prompts()
        variants = list(small_study(items=given.prompts // 4 + 1, paraphrases=3).variants)[: given.prompts]
        prompts = [book.render("chat", build_template_values_of_options(variant)) for variant in variants]
        engine = OpenAIEngine(given.model, ApiSettings(base_url=address, api="chat", concurrency=given.concurrency))

        def ours() -> None:
            for batch in engine.cut_into_batches(prompts):
                scores = engine.score([prompts[number] for number in batch])[0]
                assert not any(score.error for score in scores)

        def theirs() -> None:
            bare(address, given.model, prompts, given.concurrency)

        ours()
        theirs()
        rounds = [(timed(ours), timed(theirs)) for _ in range(given.rounds)]
        engine.close()
    finally:
        if server is not None:
            server.terminate()
            server.wait()
    for name, place in (("engine", 0), ("bare loop", 1)):
        clock, cpu = (statistics.median(times[place][kind] for times in rounds) for kind in (0, 1))
        print(f"{name:10} {given.prompts / clock:8.0f} requests/s, {1000 * cpu / given.prompts:.2f} ms CPU per request")
    ratio = statistics.median(theirs[0] / ours[0] for ours, theirs in rounds)
    print(f"engine / bare loop: {ratio:.2f} (median of {given.rounds} paired rounds; at least {LIMIT})")
    sys.exit(ratio < LIMIT)


if __name__ == "__main__":
    main()
