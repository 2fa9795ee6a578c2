"""Find the choice that a generated text makes, by one of two readings; `--reading` says which.

`strict` is as strict as Choi (section 3.3, Figures 5, 6, 8, 9):

1.  The answer is the first line that begins with `Answer: `: this word, its capital, a colon and one space. Nothing
    stands before it in its line, no white space and no mark of emphasis either.
2.  After the space comes a capital letter, one of those that stood before the choices of this very question.
3.  After the letter comes a full stop, or the line ends (white space aside). What follows the full stop, the words of
    the choice as a rule, is not read: the letter decides.
4.  Everything else is no answer: a later line does not mend the first one, and a text without such a line has chosen
    nothing. It counts as wrong, and as `invalid`.
5.  Where the prompt itself ends in `Answer:`, the text goes on from there: the white space with which it begins stands
    for the one space.

`letter` reads all of that alike, and of other texts the letter that a person would read:

1.  The answer is the first line that begins with `Answer:` in whatever case and emphasis, or the line after it where
    nothing else stands there. Without one, it is the first line of the text, or a line that begins with “Final
    answer:”, “The correct answer is” or the like, also in other languages (“答えは”); such lines with different letters
    are no answer. Where the prompt ends in another open line (`Paraphrase:`), the text begins in the middle of that, so
    that the first line does not count.
2.  In it stands one of the letters alone, in emphasis or brackets or not, perhaps after “Option” or before “です”, or
    with words behind these: any after a full stop, a bracket or a colon, else only those of its own choice. Wide
    characters (“（Ｂ）”) count as the others.
3.  It is no answer where those words, or the whole line, are those of another choice (“E. coli”), where they name
    another letter (“A. or B.”, “A. red or B. green”), or where a first line without `Answer:` begins a list of several
    letters. Of choices of which one begins with another, the longest counts; scripts without blanks need none
    (“A. 青です” is no A where 青 is B).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from inference.asking.mentions import CHARACTER
from inference.asking.reading.said_answers import COPULA, JOINER, LABEL_NOUN, SAID_ANSWER

# Of these rules, recorded with what they read (`reply_rule`); 1 had `strict` only, unchanged since. In 2, words of
# another choice did not count in scripts without blanks, nor where they begin with those of the letter's own. In 3,
# “The answer is B.” was no answer, nor was “B。”.
VERSION = 4
LETTER, STRICT = READINGS = ("letter", "strict")
PREFIX = "Answer: "
_STRICT = re.compile(r"([A-Z])(?:\.|\s*\Z)")
_ANSWER = re.compile(r"[\s*_#>`-]*answer[\s*_`]*:[\s*_`]*(.*)", re.IGNORECASE)
_SAID_ANSWER = re.compile(rf"[\s*_#>`-]*{SAID_ANSWER}(.*)", re.IGNORECASE)
_CLOSING = r"[\s*_`\"'”)\].:。」』】]*"
_LETTER = re.compile(
    rf"[\s*_`\"'“(\[「『【]*(?:(?i:{LABEL_NOUN})[(\[*]*)?([A-Z])(?!{CHARACTER}|_\w|['’]\w)"
    rf"({_CLOSING}(?:{COPULA}(?=[.。]){_CLOSING})?)(.*)"
)
_ANOTHER = re.compile(rf"(?:\bor\b|\band\b|または|[/,&、・])[\s*_(]*([A-Z])(?!{CHARACTER})")
_JOINED = re.compile(  # but “A. red, e.g. a rose” names no E
    rf"[\s*_)\]]*{JOINER}[\s*_(\[]*(?!(?:e\.\s?g|i\.\s?e)\.)([A-Za-z])[\s*_]*(?:[.):。\]]|\Z)"
)
_LISTED = re.compile(r"[\s*_(]*([A-Z])[.):。]")
_MARKS = " \t*_`\"'“”.()[]。「」『』【】"


def find_chosen_letter(text: str, choices: Mapping[str, str], prompt: str = "", reading: str = LETTER) -> str | None:
    r"""Find the letter that a text chooses (the rules: see the module).

    Parameters
    ----------
    text
        What the model wrote.
    choices
        Letter as shown -> the words behind it.
    prompt
        What stood before the text, where the model continues it; empty for the reply to a message.
    reading
        One of `READINGS`.

    Returns
    -------
    A letter as shown; None if the text is no answer.

    Examples
    --------
    >>> colours = {"A": "red", "B": "green", "C": "blue"}
    >>> find_chosen_letter("Reasoning: Grass is green.\nAnswer: B. green", colours, reading="strict")
    'B'
    >>> find_chosen_letter(" B. green\nReasoning: Grass is.", colours, "Question: ...\nAnswer:", "strict")
    'B'
    >>> find_chosen_letter("**B**", colours), find_chosen_letter("**B**", colours, reading="strict")
    ('B', None)
    >>> find_chosen_letter("A dog is never green.", colours) is None
    True
    """
    begun = prompt.rstrip().endswith(PREFIX.rstrip())
    written = f"{PREFIX}{text.lstrip()}" if begun else text
    letter = _find_letter_after_prefix(written, choices)
    if letter is not None or reading == STRICT:
        return letter
    return _find_letter_leniently(written, choices, continues_prompt=prompt.rstrip().endswith(":") and not begun)


def prefix_reply_without_answer_line(text: str) -> str:
    """Put `Answer: ` before a text that has no line of its own for its answer.

    >>> prefix_reply_without_answer_line("D. yellow"), prefix_reply_without_answer_line("Reasoning: It is.\\nAnswer: D")
    ('Answer: D. yellow', 'Reasoning: It is.\\nAnswer: D')
    """
    return text if any(_ANSWER.fullmatch(line) for line in text.splitlines()) else f"{PREFIX}{text}"


def _find_letter_after_prefix(text: str, choices: Mapping[str, str]) -> str | None:
    """Find the letter directly after `Answer: ` in the first line that begins so; None where there is none."""
    line = next((line for line in text.splitlines() if line.startswith(PREFIX)), "")
    match = _STRICT.match(line, len(PREFIX))
    return match[1] if match and match[1] in choices else None


def _find_letter_leniently(text: str, choices: Mapping[str, str], *, continues_prompt: bool) -> str | None:
    """Read the line that holds the answer; `continues_prompt`: the text goes on with a line of its prompt."""
    lines = [line for line in unicodedata.normalize("NFKC", text).splitlines() if line.strip()]
    if answers := _list_answers_behind(_ANSWER, lines, continues_prompt):
        return _read_letter_of_answer_line(answers[0], choices)
    letters = {
        _read_letter_of_answer_line(answer, choices)
        for answer in _list_answers_behind(_SAID_ANSWER, lines, continues_prompt)
    }
    if lines and not continues_prompt:
        letter = _read_letter_of_answer_line(lines[0], choices)
        listed = {match[1] for line in lines[1:] if (match := _LISTED.match(line))}
        letters.add(None if listed & (choices.keys() - {letter}) else letter)
    letters.discard(None)
    return letters.pop() if len(letters) == 1 else None


def _list_answers_behind(pattern: re.Pattern[str], lines: Sequence[str], continues_prompt: bool) -> list[str]:
    """List what stands behind the words of a pattern that begin a line, or in the next line if nothing stands there."""
    numbers_and_matches = [
        (number, match)
        for number, line in enumerate(lines)
        if (number or not continues_prompt) and (match := pattern.fullmatch(line))
    ]
    return [
        next((answer for answer in (match[1], *lines[number + 1 :]) if answer.strip(_MARKS)), "")
        for number, match in numbers_and_matches
    ]


def _read_letter_of_answer_line(line: str, choices: Mapping[str, str]) -> str | None:
    """Find the letter of a line that holds nothing else, or words that do not speak against it."""
    match = _LETTER.fullmatch(line)
    if match is None or match[1] not in choices:
        return None
    letter, marks, words = match[1], match[2], _normalise_reply_for_comparison(match[3])
    choice_words = _normalise_reply_for_comparison(choices[letter])
    other_choices = [
        folded for name, text in choices.items() if name != letter and (folded := _normalise_reply_for_comparison(text))
    ]
    if _normalise_reply_for_comparison(line) in other_choices:
        return None
    if not words or re.fullmatch(COPULA, words) or (choice_words and words == choice_words):
        return letter
    if not re.search(r"[.)\]:。]", marks):
        return None
    begun_choices = [
        choice for choice in (choice_words, *other_choices) if choice and _starts_with_choice(words, choice)
    ]
    if begun_choices:
        joined = _JOINED.match(words, len(choice_words))
        is_joined = joined is not None and joined[1].upper() in choices.keys() - {letter}
        return letter if max(begun_choices, key=len) == choice_words and not is_joined else None
    other_letters = {mention[1] for mention in (*_ANOTHER.finditer(match[3]), *_LISTED.finditer(match[3][:4]))} - {
        letter
    }
    return None if other_letters & choices.keys() else letter


def _starts_with_choice(words: str, choice: str) -> bool:
    """Tell whether words begin with those of a choice, whole words only where a script has blanks between words."""
    return re.match(rf"{re.escape(choice)}(?!{CHARACTER})", words) is not None


def _normalise_reply_for_comparison(text: str) -> str:
    """Remove case, width, surrounding marks and repeated white space from a text, so that equal words compare equal."""
    return " ".join(unicodedata.normalize("NFKC", text).split()).strip(_MARKS).casefold()
