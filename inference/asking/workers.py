"""Answer tasks in the processes of a Ray cluster, and pack what is sent to and from them."""

from __future__ import annotations

import pickle
import sys
import traceback
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ground.errors import UserError
from inference.asking.models import Model
from inference.asking.prefetch import map_ahead_in_thread
from inference.asking.rounds import Way, ask_batch_in_each_way, get_thinking_effort
from inference.engines.contract import Engine
from inference.stimuli.templates.prompts import Prompt

Load = Callable[[Model, int], Engine]
Key = tuple[int, int]  # the place of a round, and of a batch in it
CHUNK = 4096  # prompts packed together


@dataclass(frozen=True, slots=True)
class Source:
    """What a worker needs to make its engine."""

    load: Load
    model: Model
    seed: int

    def load_new_engine(self) -> Engine:
        """Make the engine."""
        return self.load(self.model, self.seed)


class PackedPrompts(Sequence[Prompt]):
    """Prompts as compressed pickles, a few per cent of their size: every worker gets the full list."""

    def __init__(self, prompts: Sequence[Prompt]) -> None:
        self._length = len(prompts)
        self._chunks = [
            compress_value_to_bytes([prompts[number] for number in range(start, min(start + CHUNK, len(prompts)))])
            for start in range(0, len(prompts), CHUNK)
        ]
        self._open: tuple[int, list[Prompt]] = (-1, [])

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self._length))]
        if not 0 <= index < self._length:
            raise IndexError(index)
        chunk, place = divmod(index, CHUNK)  # prompt 5000 is number 904 of chunk 1
        if self._open[0] != chunk:
            self._open = (chunk, decompress_value_from_bytes(self._chunks[chunk]))
        return self._open[1][place]


def compress_value_to_bytes(value: Any) -> bytes:
    """Turn a value into compressed bytes, which are only sent between the processes of one call and never stored."""
    return zlib.compress(pickle.dumps(value), level=1)


def decompress_value_from_bytes(data: bytes) -> Any:
    """Turn the bytes of `compress_value_to_bytes` back into the value."""
    return pickle.loads(zlib.decompress(data))


class Scout:
    """An engine in a process of its own that describes the model and cuts the batches."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._engine: Engine | None = None

    def get_info_mask_token_and_independence(self) -> tuple[dict[str, Any], str | None, bool]:
        """Return `info`, `mask_token` and `independent_of_batch` of the engine."""
        engine = self._load_engine()
        return engine.info, engine.mask_token, engine.independent_of_batch

    def choose_prompt_form(self, requested: str) -> str:
        """Choose the prompt form, as the engine does."""
        return self._load_engine().choose_prompt_form(requested)

    def cut_into_batches(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Cut the prompts into batches, as the engine does."""
        return self._load_engine().cut_into_batches(prompts)

    def render(self, prompt: Prompt, effort: str | None) -> str:
        """Write a prompt out as the model gets it, as the engine does.

        Parameters
        ----------
        prompt, effort
            As in `Engine.render`.

        Returns
        -------
        The text.
        """
        return self._load_engine().render(prompt, effort)

    def _load_engine(self) -> Engine:
        """Return the engine, loaded with the first call."""
        # Not in `__init__`: Ray does not pass on the message of an error that is raised there.
        self._engine = self._engine or self._source.load_new_engine()
        return self._engine


class Asker:
    """A worker of Ray Data: one engine that answers task after task, one round after the other.

    It returns exceptions instead of raising them: Ray Data retries a raised one as a machine failure.
    """

    def __init__(self, source: Source, packed: Sequence[Any], ways: Sequence[Sequence[Way]]) -> None:
        self._packed, self._ways = packed, ways
        self._round: int | None = None
        self._failure: Exception | None = None
        try:
            self._engine = source.load_new_engine()
        except Exception as error:
            self._failure = _make_exception_picklable(error)
        torch = sys.modules.get("torch")
        self._threads = torch.get_num_threads() if torch else None

    def __call__(self, tasks: Any) -> Any:
        """Answer the tasks of a table: for each a list of (key of a batch, responses per way), and what ended it."""
        import pyarrow as pa

        if self._threads is not None:
            # Set again: the number belongs to one thread, and Ray calls this from another one than `__init__`.
            sys.modules["torch"].set_num_threads(self._threads)
        answers = [
            compress_value_to_bytes(
                ([], self._failure)
                if self._failure
                else self._answer_task_and_return_error(decompress_value_from_bytes(data))
            )
            for data in tasks["task"].to_pylist()
        ]
        return pa.table({"answers": pa.array(answers, pa.large_binary())})

    def _answer_task_and_return_error(
        self, task: Sequence[tuple[Key, list[Prompt]]]
    ) -> tuple[list[tuple[Key, list[Any]]], Any]:
        """Answer the batches of a task; return those before an exception, which is returned, too, not raised."""
        answers: list[tuple[Key, list[Any]]] = []
        try:
            with closing(map_ahead_in_thread(self._tokenize_keyed_batch, task)) as batches:
                for key, prompts in batches:
                    answers.append((key, self._ask_batch_in_each_way_of_round(key[0], prompts)))
        except Exception as error:
            return answers, _make_exception_picklable(error)
        return answers, None

    def _tokenize_keyed_batch(self, key_and_prompts: tuple[Key, list[Prompt]]) -> tuple[Key, list[Prompt]]:
        """Tokenise a batch before it is asked."""
        key, prompts = key_and_prompts
        return key, self._engine.tokenize_ahead(prompts, {*map(get_thinking_effort, self._ways[key[0]])})

    def _ask_batch_in_each_way_of_round(self, round_place: int, prompts: list[Prompt]) -> list[Any]:
        """Ask a batch of the round at this place: its responses per way."""
        if round_place != self._round:
            import ray

            # With the full list, so that this engine asks every batch exactly as a single engine would.
            self._engine.cut_into_batches(ray.get(self._packed[round_place]))
            self._round = round_place
        return ask_batch_in_each_way(self._engine, prompts, self._ways[round_place])


def _make_exception_picklable(error: Exception) -> Exception:
    """Make an exception that can be sent to the caller, with the traceback in its message if it is a bug."""
    return error if isinstance(error, UserError) else RuntimeError(f"in a worker: {traceback.format_exc()}")
