"""Say what every engine is asked, what it answers, and what it can do."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ground.errors import InputError, format_quantity

if TYPE_CHECKING:
    from inference.stimuli.templates.prompts import Prompt

# More than any study needs, and little enough for a machine: every token of a text takes a random number of 8 bytes.
MOST_SAMPLES, MOST_TOKENS, MOST_WRITTEN, MOST_TEMPERATURE = 10_000, 2**20, 2**24, 1_000.0
# The error of a row whose probabilities are not finite: a model whose numbers are too large for its dtype, say.
NOT_FINITE = "the model's probabilities are not finite numbers; try --dtype float32"
PAST_WINDOW = "exceed the model's context window"  # in the error of a prompt that is too long
LONGEST_THOUGHT = 8_192  # tokens of a thought with its answer, unless the call says otherwise
THOUGHTS = 8  # per prompt, likewise
NO_EFFORT = "none"  # the effort with which a thinking model does not think
NO_SAMPLER = (
    "no sampler of its maker is known (generation_config.json of the model names no temperature): give --temperature, "
    "and --top-p, --top-k, --min-p where its maker advises them"
)
NO_NUMBERS = (
    "a server does not show the probability of every number: sample them, leave --exact out; or, of options on a "
    "scale, ask for --labels letters or words"
)


@dataclass(frozen=True, slots=True)
class Score:
    """The option probabilities that a model gave to one prompt.

    Attributes
    ----------
    probability
        Per option, in the order of the stimuli, its exact probability (0-1) under the softmax over the full
        vocabulary: the sum over all distinct token sequences that spell a surface form of the option. Not
        renormalised. For a prompt that asks for a number: the same per number of the scale.
    logprob
        Natural logarithm of `probability`; empty where `probability` holds bounds.
    mass
        Sum of `probability`: how much of the model's probability lies on any option at all.
    answer
        Index of the option that the most probable next token of the whole vocabulary belongs to. None: that token
        begins no option, so the model would have said something else. For a prompt that asks for a number: index of
        the most probable one; None where bounds leave open which that is.
    error
        Why there is no response. The other fields are empty then.
    mass_upper
        Upper bound of the mass where a server shows only the most probable tokens; `probability` and `mass` are lower
        bounds then. None where the numbers are exact.
    left_out
        Largest share of an option's probability that paths of tokens may have which were not followed, because they
        cannot matter (`exact.followed_paths`); 0: all were followed, or a number is asked for, which has bounds of
        its own (`exact.number_probabilities`).
    """

    probability: tuple[float, ...] = ()
    logprob: tuple[float, ...] = ()
    mass: float | None = None
    answer: int | None = None
    error: str | None = None
    mass_upper: float | None = None
    left_out: float = 0.0


@dataclass(frozen=True, slots=True)
class Sampling:
    """How texts are generated: `samples` texts of at most `max_tokens` tokens each.

    At temperature 0 the most probable token is taken. The random numbers of a prompt depend on the engine's seed, the
    prompt's own text and the temperature, so its samples do not depend on the other prompts of a batch. `effort` says
    how hard a thinking model thinks (`reasoning_effort` of its chat template or server).

    Of the tokens, after the temperature, only these may be written: the `top_k` most probable (0: all); of them the
    fewest whose probabilities, renormalised, sum to `top_p` or more (1: all); of these the ones with at least `min_p`
    times the probability of the most probable (0: all). This order is that of transformers. vLLM restricts by `min_p`
    first, so where both are given its `top_p` is a share of fewer tokens, and may leave out some more.

    Raises
    ------
    InputError
        For no samples or tokens, or too many, an impossible temperature or restriction, or several samples at
        temperature 0.
    """

    samples: int = 1
    temperature: float = 0.0
    max_tokens: int = 32
    effort: str | None = None
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        if self.samples < 1 or self.max_tokens < 1:
            raise InputError(f"{self.samples} samples of {self.max_tokens} tokens: ask for at least one of each")
        if self.samples * self.max_tokens > MOST_WRITTEN:
            raise InputError(
                f"{self.samples:,} samples of {self.max_tokens:,} tokens: ask for fewer or shorter ones, at most "
                f"{MOST_WRITTEN:,} tokens in all"
            )
        if not 0 <= self.temperature <= MOST_TEMPERATURE:
            raise InputError(f"temperature {self.temperature}: give a number from 0 to {MOST_TEMPERATURE:,g}")
        if self.temperature == 0 and self.samples > 1:
            raise InputError(
                f"{self.samples} samples at temperature 0 are {self.samples} times the same text: ask for 1"
            )
        if not 0 < self.top_p <= 1:
            raise InputError(f"top_p {self.top_p}: give a share above 0, at most 1")
        if self.top_k < 0:
            raise InputError(f"top_k {self.top_k}: give a number of tokens, or 0 for all")
        if not 0 <= self.min_p <= 1:
            raise InputError(f"min_p {self.min_p}: give a share from 0 to 1")

    @property
    def draws_from_all_tokens(self) -> bool:
        """Whether every token of the vocabulary may be written."""
        return self.top_p == 1 and self.top_k == 0 and self.min_p == 0


@dataclass(frozen=True, slots=True)
class Thinking:
    """Way of answering: exact option probabilities after each of several thoughts of the model's own.

    Attributes
    ----------
    thoughts
        Thoughts per prompt.
    temperature, top_p, top_k, min_p
        How they are sampled, as in `Sampling`. Temperature None: as the maker of the model says (`info["sampler"]` of
        the engine); the others do not count then.
    max_tokens
        Most tokens of a thought with the answer that follows. None: `LONGEST_THOUGHT`, or what fits the window.
    effort
        As in `Sampling`; `NO_EFFORT`: thinking is off, and the probabilities are those right after the prompt.
    budget
        Tokens after which a thought is closed by force; None: none is.

    Raises
    ------
    InputError
        For an impossible number, or several thoughts at temperature 0.
    """

    thoughts: int = THOUGHTS
    temperature: float | None = None
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    max_tokens: int | None = None
    effort: str | None = None
    budget: int | None = None

    def __post_init__(self) -> None:
        for name, most_tokens in (("budget", self.budget), ("max_tokens", self.max_tokens)):
            if most_tokens is not None and most_tokens < 1:
                raise InputError(f"{name} {most_tokens}: give at least 1 token")
        if self.thoughts < 1:
            raise InputError(f"{self.thoughts} thoughts per prompt: ask for at least 1")
        # Made to check the numbers; where no length is given, the model's window may make the thoughts short enough.
        self.build_sampling_of_thoughts({"temperature": 1.0}, self.budget or self.max_tokens or 1)

    def build_sampling_of_thoughts(self, maker_sampler: Mapping[str, float] | None, room: int) -> Sampling:
        """Build the sampling that writes the thoughts.

        Parameters
        ----------
        maker_sampler
            The fields temperature, top_p, top_k and min_p as the maker of the model gives them; None: it gives none.
        room
            Most tokens that fit the window of the model.

        Returns
        -------
        A sampling with texts of as many tokens as `budget`, else `max_tokens`, else `LONGEST_THOUGHT` says; at most
        `room`, but at least one.

        Raises
        ------
        InputError
            The maker's sampler is wanted, and there is none; or the thoughts have more than `MOST_WRITTEN` tokens.
        """
        fields: Mapping[str, Any] | None = maker_sampler
        if self.temperature is not None:
            fields = {
                "temperature": self.temperature, "top_p": self.top_p, "top_k": self.top_k, "min_p": self.min_p
            }  # fmt: skip
        if fields is None:
            raise InputError(NO_SAMPLER)
        longest = self.budget or self.max_tokens or LONGEST_THOUGHT
        return Sampling(self.thoughts, max_tokens=max(1, min(longest, room)), effort=self.effort, **fields)


@dataclass(frozen=True, slots=True)
class Generation:
    """The texts that a model wrote after one prompt.

    Attributes
    ----------
    texts
        The samples as written, special tokens left out.
    answers
        Per sample the part that counts as the answer: the whole text, or what follows the end of thinking. None: the
        tokens were used up before the thinking ended.
    error
        Why there is no response. The other fields are empty then.
    """

    texts: tuple[str, ...] = ()
    answers: tuple[str | None, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Thoughts:
    """What a model thought after one prompt, several times, and the option probabilities where each thought ended.

    Attributes
    ----------
    thoughts
        Each thought as written, special tokens left out.
    answers
        What the model wrote after each; empty where the thought did not end, or was closed by force.
    tokens
        Tokens of each thought, up to the end of thinking; all that were written where it did not end.
    closed
        Whether each ended by itself, before its tokens were used up.
    scores
        Option probabilities right after each thought and the line breaks that the model wrote there, or, where
        thinking is off, right after the prompt, the only one then and without any thought. None: the tokens
        were used up before its answer could begin, and it was not closed by force.
    error
        Why there is no response. The other fields are empty then.
    """

    thoughts: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    tokens: tuple[int, ...] = ()
    closed: tuple[bool, ...] = ()
    scores: tuple[Score | None, ...] = ()
    error: str | None = None

    @property
    def left_out(self) -> float:
        """The largest `Score.left_out` of its scores."""
        return max((score.left_out for score in self.scores if score is not None), default=0.0)


@dataclass(frozen=True, slots=True)
class Explanation:
    """How an engine reads one prompt, as `preview` shows it.

    Attributes
    ----------
    text
        The rendered prompt as the tokenizer gets it.
    n_tokens
        Its length in tokens, special tokens included.
    options
        Per option (or number) the surface forms that count, each with its token ids in this context. Forms with the
        same ids are all listed; their probability is counted once.
    dropped
        (option index, form, reason) of every form that cannot count here.
    score
        The model's response.
    numbers
        The scale, where the prompt asks for a number.
    is_length_estimated
        Whether nobody has counted the tokens: only a server could, and it did not say.
    """

    text: str
    n_tokens: int
    options: tuple[tuple[tuple[str, tuple[int, ...]], ...], ...]
    dropped: tuple[tuple[int, str, str], ...]
    score: Score
    numbers: range | None = None
    is_length_estimated: bool = False


def build_template_fields_of_thinking_effort(effort: str | None) -> dict[str, Any]:
    """Build the fields of a chat template that say how hard a model thinks; none where the template decides.

    >>> build_template_fields_of_thinking_effort("none")
    {'reasoning_effort': 'none', 'enable_thinking': False}
    """
    return {} if effort is None else {"reasoning_effort": effort, "enable_thinking": effort != NO_EFFORT}


def format_token_count(n_tokens: int, is_estimate: bool = False) -> str:
    """Write a number of tokens for people.

    Parameters
    ----------
    n_tokens
        The number.
    is_estimate
        Whether nobody has counted them.

    Returns
    -------
    The number with its noun, "about" before an estimate.

    >>> format_token_count(1), format_token_count(1, is_estimate=True), format_token_count(1200)
    ('1 token', 'about 1 token', '1,200 tokens')
    """
    return f"{'about ' if is_estimate else ''}{format_quantity(n_tokens, 'token')}"


class Engine(Protocol):
    """One loaded model, ready to be asked."""

    info: dict[str, Any]
    """What run.json records of the model: engine, revision, dtype, device, parameters, thinks ..."""
    mask_token: str | None
    """What a cloze prompt must contain once; None where the model has no mask."""
    independent_of_batch: bool
    """Whether no answer depends on the other prompts of its batch: a resumed run then asks only what is missing."""

    def choose_prompt_form(self, requested: str) -> str:
        """Choose the prompt form, "plain", "chat", "cloze" or "pair"; "auto" lets the model decide.

        Raises
        ------
        InputError
            The model cannot be asked in the requested form.
        """

    def count_prompt_tokens(self, prompts: Sequence[Prompt], effort: str | None = None) -> list[int]:
        """Count the tokens of every prompt, special tokens included.

        Parameters
        ----------
        prompts
            Any prompts.
        effort
            As in `Sampling`.

        Returns
        -------
        A number per prompt.
        """

    def cut_into_batches(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Cut all prompts of one model and condition into batches (indices into `prompts`).

        Always give the whole list, before the first `score`, even if a part is answered already. The same list gives
        the same batches, so a resumed run gets the same numbers, bit by bit, as one that was never interrupted.
        """

    def tokenize_ahead(self, prompts: Sequence[Prompt], efforts: Collection[str | None] = (None,)) -> list[Prompt]:
        """Do what asking a batch needs no model for: rendering and tokenising, perhaps in a thread of its own.

        Parameters
        ----------
        prompts
            One batch.
        efforts
            Those of the ways in which the batch is asked, as in `Sampling`.

        Returns
        -------
        The same prompts, to be given to `score`, `generate` or `think`. These take any other prompts, too.
        """

    def score(self, prompts: Sequence[Prompt], temperatures: Sequence[float] = (1.0,)) -> list[list[Score]]:
        """Compute the option probabilities of one batch, which is halved as often as memory demands.

        Parameters
        ----------
        prompts
            One batch.
        temperatures
            They divide the full-vocabulary logits of every step.

        Returns
        -------
        Per temperature a list with one score per prompt.

        Raises
        ------
        InputError
            The engine sees probabilities at one temperature only, or cannot score the numbers that a prompt asks for.
        """

    def generate(self, prompts: Sequence[Prompt], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """Write texts after the prompts of one batch; every prompt is computed once for all its texts.

        Parameters
        ----------
        prompts
            One batch.
        samplings
            How the texts are written.

        Returns
        -------
        Per sampling a list with one generation per prompt.

        Raises
        ------
        InputError
            The model writes no text.
        """

    def think(self, prompts: Sequence[Prompt], thinking: Thinking) -> list[Thoughts]:
        """Let the model think after the prompts of one batch, several times, and score the options after each thought.

        Parameters
        ----------
        prompts
            One batch.
        thinking
            How it thinks.

        Returns
        -------
        One response per prompt.

        Raises
        ------
        InputError
            The model writes no text, or the engine cannot continue after a text of the model's own, or cannot do the
            budget, the effort or the sampler.
        """

    def render(self, prompt: Prompt, effort: str | None = None) -> str:
        """Write a prompt out as the model gets it: with its chat template, without tokens that the tokenizer adds.

        Parameters
        ----------
        prompt
            Any prompt.
        effort
            As in `Sampling`.

        Returns
        -------
        The text. What a server makes of messages is not known: then every message is a line that begins with its role.

        Raises
        ------
        InputError
            The chat template refuses the messages.
        """

    def explain_and_score_prompt(self, prompt: Prompt, effort: str | None = None) -> Explanation:
        """Show how one prompt is rendered, tokenised and answered.

        Parameters
        ----------
        prompt
            The prompt.
        effort
            Effort of thinking for which it is rendered, as in `render`; engines without thoughts leave it out.

        Returns
        -------
        Explanation
            The text, how many tokens it has, the spellings that count for each option, and the score.
        """

    def describe_cost_of_tokens(self, tokens_in: int, tokens_out: int) -> str | None:
        """Say what it costs to have so many tokens read and written.

        Parameters
        ----------
        tokens_in, tokens_out
            Tokens of the prompts, and the most that may be written.

        Returns
        -------
        A text for people; None where nothing is billed.
        """

    def close(self) -> dict[str, Any]:
        """Release what the engine holds and return what was billed; empty where nothing is."""


@runtime_checkable
class StreamingEngine(Engine, Protocol):
    """An engine that has many prompts under way at once, and hands over each answer when it comes."""

    def ask_prompts_and_yield_arrived_answers(
        self,
        prompts: Iterable[Prompt],
        temperatures: Sequence[float],
        samplings: Sequence[Sampling],
        thinkings: Sequence[Thinking] = (),
    ) -> Generator[list[tuple[int, Prompt, list[Score | Generation | Thoughts]]], None, None]:
        """Ask all prompts in all ways.

        Parameters
        ----------
        prompts
            The prompts, taken one by one as requests become free.
        temperatures
            As in `score`.
        samplings
            As in `generate`.
        thinkings
            Each as `thinking` of `think`.

        Yields
        ------
        From time to time what has come, in any order, perhaps nothing: the place of the prompt, the prompt, and its
        responses, a score per temperature, then a generation per sampling, then thoughts per thinking.
        """
