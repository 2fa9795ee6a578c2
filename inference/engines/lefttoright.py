"""Render prompts, find the tokens of their answers and read texts: what all engines of next-token models share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

from ground.errors import InputError
from inference.engines.contract import (
    NOT_FINITE,
    PAST_WINDOW,
    Explanation,
    Generation,
    Sampling,
    Score,
)
from inference.engines.exact.answer_words import (
    Answers,
    extract_prompt_end_affecting_tokens,
    list_forms_with_and_without_space,
    tokenize_answers_into_options,
)
from inference.engines.exact.lattice import Lattice
from inference.engines.exact.targets import Target, Targets
from inference.engines.rows import ReadPrompts, Row, RowEngine
from inference.engines.tokens import Tokens
from inference.stimuli.templates.prompts import Prompt


class LeftToRight(RowEngine):
    """An engine whose model reads from left to right; options and numbers are continuations of the prompt.

    Parameters
    ----------
    name, tokenizer
        The model's.
    window
        Longest sequence in tokens, answer included; None where there is no limit.
    """

    def __init__(self, name: str, tokenizer: Any, window: int | None) -> None:
        self.name = name
        self.tokens = Tokens(name, tokenizer)
        self.window = window
        self._targets = Targets()
        self._answer_tokens: dict[Answers, int] = {}
        self._lattices: dict[range, Lattice] = {}

    def choose_prompt_form(self, requested: str) -> str:
        """Choose the prompt form; "auto" is chat if the tokenizer has a chat template, else plain.

        Raises
        ------
        InputError
            Cloze; or chat without a template, or with one that never shows what a user says.
        """
        chats = self.tokens.chat_template is not None
        form = ("chat" if chats else "plain") if requested == "auto" else requested
        if form == "cloze":
            raise InputError(f"model {self.name} predicts the next word, not a mask: ask it with --form plain or chat")
        if form == "chat" and not chats:
            raise InputError(f"model {self.name} has no chat template: ask it with --form plain")
        if form == "chat":
            self.tokens.refuse_template_hiding_messages()
        return form

    def render(self, prompt: Prompt, effort: str | None = None) -> str:
        """Write a prompt out as the model gets it, with its chat template.

        Parameters
        ----------
        prompt, effort
            As in `Engine.render`.

        Returns
        -------
        The text that is tokenised.

        Raises
        ------
        InputError
            The chat template refuses the messages.
        """
        return self.tokens.render(prompt, effort)

    def explain_and_score_prompt(self, prompt: Prompt, effort: str | None = None) -> Explanation:
        """Show how one prompt is rendered with an effort, tokenised and answered.

        Parameters
        ----------
        prompt, effort
            As in `contract.Engine`.

        Returns
        -------
        Explanation
        """
        (row,) = rows = self._get_or_tokenize_rows([prompt], effort)
        score = self.score(ReadPrompts([prompt], {None: rows}))[0][0]
        if row.numbers:
            forms = self.get_number_lattice(row.numbers).list_number_spellings()
            return Explanation(row.text, len(row.ids), forms, (), score, row.numbers)
        # What cannot be asked may be megabytes long, and every form would be tokenised behind all of it.
        context = extract_prompt_end_affecting_tokens(row.text) if score.error else row.text
        options = tokenize_answers_into_options(context, row.answers, self.tokens.bare)
        return Explanation(row.text, len(row.ids), options.forms, options.dropped, score)

    def generate(self, prompts: Sequence[Prompt], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """Write texts after the prompts of one batch.

        Parameters
        ----------
        prompts, samplings
            As in `Engine.generate`.

        Returns
        -------
        Per sampling a list with one generation per prompt; a prompt that is too long gets an error.
        """
        generations: dict[Sampling, list[Generation]] = {}
        for effort, length in dict.fromkeys((sampling.effort, sampling.max_tokens) for sampling in samplings):
            same_samplings = [s for s in dict.fromkeys(samplings) if (s.effort, s.max_tokens) == (effort, length)]
            generations.update(
                zip(
                    same_samplings,
                    map(list, zip(*self._generate_with_same_effort_and_length(prompts, same_samplings), strict=True)),
                    strict=True,
                )
            )
        return [generations[sampling] for sampling in samplings]

    def _generate_with_same_effort_and_length(
        self, prompts: Sequence[Prompt], samplings: Sequence[Sampling]
    ) -> list[list[Generation]]:
        """Write texts for samplings of one effort and one `max_tokens`: per prompt a generation for every sampling."""
        rows = self._get_or_tokenize_rows(prompts, samplings[0].effort)
        return self._ask_rows_without_problem(
            partial(self._generate_after_rows, samplings=samplings),
            rows,
            [self._explain_row_problem_with_answer_length(row, samplings[0].max_tokens) for row in rows],
            lambda problem: [Generation(error=problem)] * len(samplings),
        )

    @abstractmethod
    def _generate_token_ids(
        self, rows: Sequence[Row], samplings_by_row: Sequence[Sequence[Sampling]]
    ) -> Sequence[list[int] | None]:
        """Write all texts as token ids, without the token that ended each; None where a probability is not finite.

        Order: by prompt, then by sampling, then by sample. All texts fit into the context window.
        """

    @abstractmethod
    def _score_options(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        """Score rows on their options: per row a score for every temperature."""

    @abstractmethod
    def _score_numbers(self, rows: Sequence[Row], numbers: range, temperatures: Sequence[float]) -> list[list[Score]]:
        """Score rows on all numbers of a range: per row a score for every temperature."""

    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        """Score rows on their options or their numbers: per row a score for every temperature."""
        scores_by_place: dict[int, list[Score]] = {}
        for numbers in dict.fromkeys(row.numbers for row in rows):
            places = [place for place, row in enumerate(rows) if row.numbers == numbers]
            same_rows = [rows[place] for place in places]
            scores = (
                self._score_numbers(same_rows, numbers, temperatures)
                if numbers
                else self._score_options(same_rows, temperatures)
            )
            scores_by_place.update(zip(places, scores, strict=True))
        return [scores_by_place[place] for place in range(len(rows))]

    def _generate_after_rows(self, rows: Sequence[Row], samplings: Sequence[Sampling]) -> list[list[Generation]]:
        """Generate texts after rows: per row a generation for every sampling."""
        written = iter(self._generate_token_ids(rows, [samplings] * len(rows)))
        return [
            [
                self._decode_samples_into_texts_and_answers(row, [next(written) for _ in range(sampling.samples)])
                for sampling in samplings
            ]
            for row in rows
        ]

    def _decode_samples_into_texts_and_answers(self, row: Row, sample_ids: Sequence[list[int] | None]) -> Generation:
        """Decode the samples of one row, and cut off the thinking before each answer."""
        written = [ids for ids in sample_ids if ids is not None]
        if len(written) < len(sample_ids):
            return Generation(error=NOT_FINITE)
        texts = tuple(self.tokens.decode(written))
        if not self.tokens.thinks:
            return Generation(texts, texts)
        lengths = [self.tokens.count_thinking_tokens(row.text, ids) for ids in written]
        behind = iter(self.tokens.decode([ids[n:] for ids, n in zip(written, lengths, strict=True) if n is not None]))
        return Generation(texts, tuple(None if length is None else next(behind) for length in lengths))

    def _tokenize_prompts_to_rows(self, prompts: Sequence[Prompt], effort: str | None) -> list[Row]:
        """Render and tokenise prompts; return a row of each, kept from an earlier call where there is one."""
        return self._recall_or_tokenize_rows(
            prompts, lambda new: self._render_and_tokenize_prompts(new, effort), effort
        )

    def _render_and_tokenize_prompts(
        self, prompts: Sequence[Prompt], effort: str | None
    ) -> list[tuple[str, list[int]]]:
        """Render and tokenise prompts."""
        texts = [self.tokens.render(prompt, effort) for prompt in prompts]
        encoded = self.tokens.encode(texts, [prompt.messages is not None for prompt in prompts])
        return list(zip(texts, encoded, strict=True))

    def _explain_why_row_cannot_be_asked(self, row: Row) -> str | None:
        """Say why a prompt cannot be asked for its longest answer; None if it can."""
        return self._explain_row_problem_with_answer_length(row, self._count_longest_answer_tokens(row))

    def _explain_row_problem_with_answer_length(self, row: Row, n_answer_tokens: int) -> str | None:
        """Say why a prompt cannot be asked for an answer of so many tokens; None if it can."""
        if not row.ids:
            return "the prompt is empty"
        if self.window is not None and len(row.ids) + n_answer_tokens > self.window:
            return f"{len(row.ids)} tokens and {n_answer_tokens} for the answer {PAST_WINDOW} of {self.window}"
        return self._describe_unknown_token_of_row(row)

    def _count_longest_answer_tokens(self, row: Row) -> int:
        """Count the tokens that the longest answer needs after a prompt."""
        if row.numbers:
            return self.get_number_lattice(row.numbers).depth
        answers = row.answers
        if answers not in self._answer_tokens:
            forms = [form for words in answers for word in words for form in list_forms_with_and_without_space(word)]
            self._answer_tokens[answers] = max(map(len, self.tokens.bare(forms)), default=0)
        return self._answer_tokens[answers]

    def get_number_lattice(self, numbers: range) -> Lattice:
        """Return the token paths that spell the numbers of a range."""
        if numbers not in self._lattices:
            self._lattices[numbers] = Lattice(numbers, self._token_texts)
        return self._lattices[numbers]

    @cached_property
    def _token_texts(self) -> list[str]:
        """What each token of the vocabulary writes after other text."""
        return self.tokens.list_vocabulary_token_texts()

    def _find_or_tokenize_target_of_row(self, row: Row) -> Target:
        """Return the options of a row as token ids, tokenised once per context."""
        context = (row.answers, extract_prompt_end_affecting_tokens(row.text))
        return self._targets.find_or_build_target(
            context, lambda: tokenize_answers_into_options(row.text, row.answers, self.tokens.bare)
        )
