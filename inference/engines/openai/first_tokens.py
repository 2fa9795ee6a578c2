"""Ask for the first tokens of an answer, and score the options of a prompt from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inference.engines.contract import Score
from inference.engines.openai.bounds import Forms, compute_score_from_shown_first_tokens
from inference.engines.openai.requests import Shape, parse_choices
from inference.engines.openai.returned import parse_candidates_for_first_token
from inference.engines.openai.settings import ApiSettings
from inference.engines.openai.token_text import Words

if TYPE_CHECKING:
    from inference.stimuli.templates.prompts import Prompt

MOST_NAMED = 128  # listed token ids that vLLM shows the probabilities of


@dataclass(frozen=True, slots=True)
class OptionQuestion:
    """How one prompt's options are asked for and scored.

    Attributes
    ----------
    shape
        What the request looks like.
    n_shown, token_ids
        How many of the most probable tokens are asked for, or which ones instead.
    forms
        The surface forms of the options.
    """

    shape: Shape
    n_shown: int
    token_ids: tuple[int, ...]
    forms: Forms

    @classmethod
    async def prepare_option_question(
        cls, words: Words, settings: ApiSettings, shape: Shape, prompt: Prompt, text_before: str | None = None
    ) -> OptionQuestion:
        """Look up how the options are spelled, and choose the tokens to ask for.

        Parameters
        ----------
        words, settings, shape
            Of the server and the endpoint that is asked.
        prompt, text_before
            As in `Words.find_option_forms`.

        Returns
        -------
        The question.

        Raises
        ------
        InputError, RequestFailed
            As in `Words.find_option_forms`.
        """
        forms = await words.find_option_forms(prompt, shape.ids, text_before)
        named = shape.named and forms.firsts and len(forms.firsts) <= MOST_NAMED
        token_ids = tuple(sorted(forms.firsts)) if named and forms.firsts else ()
        return cls(shape, settings.choose_n_top_tokens(shape.api), token_ids, forms)

    def build_request(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Build the request; `fields` hold its prompt."""
        return self.shape.build_first_token_request(fields, self.n_shown, self.token_ids)

    def score_options_from_reply(self, reply: Mapping[str, Any]) -> Score:
        """Score the options from the reply.

        Raises
        ------
        MalformedReply
            It does not have the tokens.
        """
        return compute_score_from_shown_first_tokens(
            parse_candidates_for_first_token(parse_choices(reply)[0], self.n_shown, self.token_ids), self.forms
        )
