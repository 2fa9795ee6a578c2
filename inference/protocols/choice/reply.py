"""Find the choice that a generated text makes, by a rule as strict as that of Choi (section 3.3, Figures 5, 6, 8, 9).

1.  The answer is the first line that begins with `Answer: `: this word, its capital, a colon and one space. Nothing
    stands before it in its line, no white space and no mark of emphasis either.
2.  After the space comes a capital letter, one of those that stood before the choices of this very question.
3.  After the letter comes a full stop, or the line ends (white space aside). What follows the full stop, the words of
    the choice as a rule, is not read: the letter decides.
4.  Everything else is no answer: a later line does not mend the first one, and a text without such a line has chosen
    nothing. It counts as wrong, and as `invalid`.
5.  Where the prompt itself ends in `Answer:`, the text goes on from there: the white space with which it begins stands
    for the one space.
"""

from __future__ import annotations

import re
from collections.abc import Collection

VERSION = 1  # of this rule, recorded with what it read (`reply_rule`)
PREFIX = "Answer: "
_CHOSEN = re.compile(r"([A-Z])(?:\.|\s*\Z)")


def chosen(text: str, letters: Collection[str], prompt: str = "") -> str | None:
    r"""Find the letter that a text chooses; None if it is no answer (the rule: see the module).

    Parameters
    ----------
    text
        What the model wrote.
    letters
        Those that stood before the choices.
    prompt
        What stood before the text, where the model continues it; empty for the reply to a message.

    Examples
    --------
    >>> chosen("Reasoning: Grass is green.\nAnswer: B. green", "ABCD")
    'B'
    >>> chosen(" B. green\nReasoning: Grass is.", "ABCD", "Question: ...\nAnswer:")
    'B'
    >>> chosen("The answer is B.", "ABCD") is None
    True
    """
    begun = prompt.rstrip().endswith(PREFIX.rstrip())
    written = f"{PREFIX}{text.lstrip()}" if begun else text
    line = next((line for line in written.splitlines() if line.startswith(PREFIX)), "")
    found = _CHOSEN.match(line, len(PREFIX))
    return found[1] if found and found[1] in letters else None
