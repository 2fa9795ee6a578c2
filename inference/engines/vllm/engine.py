"""Engine `vllm`: read next-token probabilities of a model that vLLM runs, with adapters and on several GPUs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ground.errors import InputError, RunFailed
from inference.engines.adapters import Adapter
from inference.engines.contract import Sampling, Score
from inference.engines.exact.answer_words import TokenIds
from inference.engines.exact.followed_paths import Logs
from inference.engines.exact.lattice import Lattice
from inference.engines.exact.number_probabilities import build_number_scores_per_row, compute_number_logprobs
from inference.engines.exact.targets import score_batch
from inference.engines.rows import PromptMeasures, Row
from inference.engines.thought_writing import ThoughtWriter
from inference.engines.vllm.requested_tokens import (
    Question,
    Reply,
    RequestedPaths,
    RequestedTokens,
    describe_missing_logprobs,
    read_logprobs_of_tokens_per_output,
)
from inference.engines.vllm.settings import VllmSettings
from inference.engines.vllm.start import MOST_TOKENS, start_vllm

COLDEST = 0.01  # vLLM raises lower temperatures to this one, with a warning
# Large enough that the scheduler is full most of the time (it is half empty at the start and end of every batch), and
# small enough that rows are saved often.
BATCH_ROWS, BATCH_TOKENS = 4096, 500_000
# Requests of one call while numbers are scored, one per prompt and path.
NUMBER_REQUESTS = 4 * BATCH_ROWS


class VllmEngine(ThoughtWriter):
    """An engine that asks vLLM for the log-probabilities of the options' token ids; the probabilities are exact.

    See `inference.engines.load_engine` for the parameters and errors. Options of several tokens are scored by forcing
    their tokens one by one, the numbers of a scale by all their spellings; the prefix cache makes that cheap. Thoughts
    are written in one call and their answers scored in a second one, which computes again only what the cache lost.
    """

    # Most thoughts are far shorter than they may be, and of a token only its id is kept: so many keep vLLM busy.
    most_thought_tokens = 2**25

    def __init__(
        self,
        name: str,
        *,
        dtype: str = "auto",
        device: str = "auto",
        revision: str | None = None,
        seed: int = 0,
        batch_size: int | None = None,
        settings: VllmSettings | None = None,
        adapter: Adapter | None = None,
    ) -> None:
        started = start_vllm(name, dtype, device, revision, seed, settings or VllmSettings(), adapter)
        super().__init__(name, started.tokenizer, started.window)
        self.info = started.info | self.build_record_of_thinking_ability(started.generation_config)
        self._llm, self._adapter, self._stop = started.llm, started.adapter, started.stop
        self._seed, self._batch_size = seed, batch_size
        self._parameters: dict[tuple[TokenIds, float], Any] = {}
        self._reduced: dict[range, tuple[Lattice, list[int]]] = {}
        self._try_model_on_one_token()

    def close(self) -> dict[str, Any]:
        """End vLLM's processes; nothing is billed."""
        self._stop()
        return {}

    def _split_prompts_into_batches(self, measured: PromptMeasures) -> list[list[int]]:
        """Cut prompts in alphabetical order of their tokens: what begins alike comes while the prefix cache has it.

        Nothing is padded, so that lengths need not be similar.
        """
        batches: list[list[int]] = []
        rows, most = (self._batch_size, math.inf) if self._batch_size else (BATCH_ROWS, BATCH_TOKENS)
        tokens = 0
        for place in measured.order:
            tokens += measured.lengths[place]
            if not batches or len(batches[-1]) == rows or tokens > most:
                batches.append([])
                tokens = measured.lengths[place]
            batches[-1].append(place)
        return batches

    def _score_options(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        """Ask for the option tokens of rows: per row a score for every temperature."""
        self._refuse_low_temperatures(temperatures)
        targets = [self._find_or_tokenize_target_of_row(row) for row in rows]
        following = RequestedTokens(self._ask_vllm_for_logprobs, rows, targets, temperatures)
        scores = score_batch(targets, following, temperatures)
        return self._replace_problem_row_scores_by_errors(following.problems, scores)

    def _score_numbers(self, rows: Sequence[Row], numbers: range, temperatures: Sequence[float]) -> list[list[Score]]:
        """Ask for the number tokens of rows: per row a score for every temperature."""
        self._refuse_low_temperatures(temperatures)
        lattice, tokens = self._shrink_lattice_and_list_its_tokens(self.get_number_lattice(numbers))
        at_once = max(1, NUMBER_REQUESTS // len(rows))
        paths_by_temperature = [
            RequestedPaths(self._ask_logprobs_of_tokens, rows, lattice.paths, tokens, temperature)
            for temperature in temperatures
        ]
        # Temperature 1 here: vLLM has divided the logits already.
        logprobs = [compute_number_logprobs(lattice, following, [1.0], at_once) for following in paths_by_temperature]
        problems = {row: problem for following in paths_by_temperature for row, problem in following.problems.items()}
        return self._replace_problem_row_scores_by_errors(
            problems, build_number_scores_per_row(np.concatenate(logprobs))
        )

    def _shrink_lattice_and_list_its_tokens(self, full_lattice: Lattice) -> tuple[Lattice, list[int]]:
        """Build the same paths over a small vocabulary: the tokens of numbers, and one more for all other tokens.

        Returns
        -------
        The lattice over that vocabulary, and the ids of its tokens without the last one. Example: if only the ids 40
        ("1") and 52 ("0") belong to numbers, they become the tokens 0 and 1 of the small vocabulary, and token 2 stands
        for all others.
        """
        if full_lattice.numbers not in self._reduced:
            tokens = sorted({*full_lattice.steps.tolist(), *full_lattice.continuing})
            texts = [self._token_texts[token] for token in tokens]
            self._reduced[full_lattice.numbers] = Lattice(full_lattice.numbers, [*texts, ""]), tokens
        return self._reduced[full_lattice.numbers]

    @staticmethod
    def _replace_problem_row_scores_by_errors(
        problems: Mapping[int, str], scores: list[list[Score]]
    ) -> list[list[Score]]:
        """Replace the scores of rows with a problem by an error."""
        return [
            [Score(error=problems[row])] * len(row_scores) if row in problems else row_scores
            for row, row_scores in enumerate(scores)
        ]

    def _ask_vllm_for_logprobs(self, questions: list[Question]) -> list[Reply]:
        """Ask vLLM all questions at once; one about more tokens than a request may list becomes several requests."""
        # Example: a question about 300 tokens becomes requests about 128, 128 and 44, whose outputs make one reply.
        parts = [(question, part) for question in questions for part in _split_tokens_by_request_limit(question.tokens)]
        parameters = [self._build_scoring_parameters(tokens, question.temperature) for question, tokens in parts]
        outputs = iter(self._run_requests([question.ids for question, _ in parts], parameters))
        return [
            self._join_outputs_into_reply(
                question.tokens, [(part, next(outputs)) for part in _split_tokens_by_request_limit(question.tokens)]
            )
            for question in questions
        ]

    def _ask_logprobs_of_tokens(self, prompts: list[list[int]], tokens: TokenIds, temperature: float) -> Logs:
        """Ask vLLM for the same tokens behind many lists of ids: log-probabilities [lists, tokens]."""
        parts = _split_tokens_by_request_limit(tokens)
        parameters = [self._build_scoring_parameters(part, temperature) for part in parts]
        outputs = self._run_requests([ids for ids in prompts for _ in parts], parameters * len(prompts))
        # With two requests per list, those of its first part are the outputs 0, 2, 4 ...
        return np.hstack(
            [read_logprobs_of_tokens_per_output(outputs[place :: len(parts)], part) for place, part in enumerate(parts)]
        )

    def _build_scoring_parameters(self, tokens: TokenIds, temperature: float) -> Any:
        """Make the parameters of a request for log-probabilities; at temperature 1 it writes the top token."""
        from vllm import SamplingParams

        key = (tokens, temperature)
        if key not in self._parameters:
            self._parameters[key] = SamplingParams(
                max_tokens=1,
                temperature=0.0 if temperature == 1 else temperature,
                logprob_token_ids=list(tokens),
                flat_logprobs=True,
                detokenize=False,
            )
        return self._parameters[key]

    def _generate_token_ids(
        self, rows: Sequence[Row], samplings_by_row: Sequence[Sequence[Sampling]]
    ) -> list[list[int]]:
        """Write all samples in one call; the prefix cache computes a prompt once."""
        requests = [
            (row, sampling) for row, samplings in zip(rows, samplings_by_row, strict=True) for sampling in samplings
        ]
        self._refuse_low_temperatures([sampling.temperature for _, sampling in requests if sampling.temperature])
        parameters = [self._build_sampling_parameters(row, sampling) for row, sampling in requests]
        outputs = self._run_requests([row.ids for row, _ in requests], parameters)
        return [
            self._drop_end_token(sample)
            for output in outputs
            for sample in sorted(output.outputs, key=lambda sample: sample.index)
        ]

    def _build_sampling_parameters(self, row: Row, sampling: Sampling) -> Any:
        """Make the parameters of a request for texts; its seed depends on the engine's seed and the prompt's text.

        All are given, so that vLLM takes none from generation_config.json but the ids that end a text.
        """
        from vllm import SamplingParams

        digest = hashlib.sha256(f"{self._seed}/{sampling.temperature}/{row.text}".encode()).digest()
        return SamplingParams(
            n=sampling.samples,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            min_p=sampling.min_p,
            max_tokens=sampling.max_tokens,
            seed=int.from_bytes(digest[:4]),  # vLLM adds 0, 1, 2 ... for the samples of one prompt
            stop_token_ids=sorted(self.tokens.ends),
            detokenize=False,
        )

    @staticmethod
    def _drop_end_token(sample: Any) -> list[int]:
        """Return the token ids of a sample without the token that ended it."""
        ids = list(sample.token_ids)
        return ids[:-1] if sample.finish_reason == "stop" else ids  # a text that ended holds the token that ended it

    def _join_outputs_into_reply(self, tokens: TokenIds, outputs: Sequence[tuple[TokenIds, Any]]) -> Reply:
        """Join the outputs of the requests of one question, each with the tokens asked for, into a reply."""
        logprobs = [
            logprob
            for part, output in outputs
            for logprob in read_logprobs_of_tokens_per_output([output], part)[0].tolist()
        ]
        problem = describe_missing_logprobs(tokens, logprobs)
        return Reply(problem=problem) if problem else Reply(logprobs, outputs[0][1].outputs[0].token_ids[0])

    def _run_requests(self, prompts: Sequence[list[int]], parameters: Sequence[Any]) -> list[Any]:
        """Let vLLM answer requests, one output per prompt."""
        from vllm.v1.engine.exceptions import EngineDeadError

        if not prompts:
            return []
        try:
            outputs: list[Any] = self._llm.generate(
                # Bare lists: a `TokensPrompt` around each would be twice as many objects to collect.
                list(prompts),
                list(parameters),
                use_tqdm=False,
                lora_request=self._adapter,
            )
        except EngineDeadError as error:
            raise RunFailed(
                f"model {self.name}: vLLM has stopped, its own messages above say why; what was saved stays: give the "
                "same command again to go on"
            ) from error
        return outputs

    def _try_model_on_one_token(self) -> None:
        """Ask for one token, so that a model that vLLM cannot run is refused before the run."""
        ids = self.tokens.bare(["a"])[0]
        try:
            (reply,) = self._ask_vllm_for_logprobs([Question(ids, (ids[-1],))])
        except RunFailed as error:
            raise InputError(
                f"model {self.name}: vLLM cannot run it here, its own messages above say why; try --engine causal"
            ) from error
        if reply.problem:
            raise InputError(f"model {self.name}: {reply.problem}; update vLLM, or try --engine causal")

    def _refuse_low_temperatures(self, temperatures: Sequence[float]) -> None:
        """Refuse temperatures below the lowest that vLLM computes with."""
        cold = [temperature for temperature in temperatures if temperature < COLDEST]
        if cold:
            raise InputError(f"model {self.name}: temperature {cold[0]}: vLLM computes with none below {COLDEST}")


def _split_tokens_by_request_limit(tokens: TokenIds) -> list[TokenIds]:
    """Cut tokens into as many as one request may list."""
    return [tokens[start : start + MOST_TOKENS] for start in range(0, len(tokens), MOST_TOKENS)]
