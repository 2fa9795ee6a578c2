"""Remember the token ids of prompts: they are measured before any is asked, and then asked, perhaps in several ways.

A token takes four bytes here, not a Python object, and there is a bound: what does not fit is tokenised again. What is
remembered stays as long as there is room, so that the first prompts of a study of any size are tokenised once. The ids
are `bytes`, and texts stand apart from them: Python's garbage collector need not look at either, and counts neither.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inference.stimuli.templates.prompts import Prompt

ROOM = 2**26  # bytes
ENTRY = 200  # bytes of an entry, beside its text and its ids


class PromptMemory:
    """Prompts as the model gets them, as (text, token ids), found again by a fingerprint of what they are made of."""

    def __init__(self) -> None:
        self._ids: dict[Hashable, bytes] = {}
        self._texts: dict[Hashable, str] = {}  # those that a chat template has made
        self._bytes = 0

    def clear_if_half_full(self) -> None:
        """Forget everything where many prompts are about to come, and little more would fit."""
        if self._bytes > ROOM // 2:
            self._ids.clear()
            self._texts.clear()
            self._bytes = 0

    def get(self, key: Hashable, prompt: Prompt) -> tuple[str, list[int]] | None:
        """Return what is remembered of a prompt.

        Parameters
        ----------
        key
            Its `compute_prompt_fingerprint`.
        prompt
            The prompt itself: its own text is not stored a second time.

        Returns
        -------
        The text and its token ids; None for an unknown prompt.
        """
        ids = self._ids.get(key)
        if ids is None:
            return None
        return self._texts.get(key, prompt.text or ""), array("i", ids).tolist()

    def add(self, key: Hashable, prompt: Prompt, text: str, ids: Sequence[int]) -> None:
        """Remember a prompt, if there is room.

        Parameters
        ----------
        key
            Its `compute_prompt_fingerprint`.
        prompt
            The prompt.
        text
            What is tokenised of it; stored only where a chat template has made it.
        ids
            Its token ids.
        """
        stored_text = None if prompt.messages is None else text
        size = ENTRY + 4 * len(ids) + (4 * len(stored_text) if stored_text is not None else 0)
        if self._bytes + size <= ROOM:
            self._ids[key] = array("i", ids).tobytes()
            if stored_text is not None:
                self._texts[key] = stored_text
            self._bytes += size


def compute_prompt_fingerprint(prompt: Prompt, effort: str | None = None) -> bytes:
    """Hash what decides how a prompt is rendered.

    Parameters
    ----------
    prompt
        Its text and messages count, not its answers.
    effort
        As in `Sampling`.

    Returns
    -------
    16 bytes: enough that two prompts do not share them by chance.
    """
    messages = None if prompt.messages is None else [list(message.items()) for message in prompt.messages]
    content = prompt.text or "" if messages is None and effort is None else repr((prompt.text, messages, effort))
    kind = b"text" if messages is None and effort is None else b"other"
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16, person=kind).digest()
