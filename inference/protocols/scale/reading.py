"""Turn responses into rows: probabilities of the options shown, and options read out of texts.

A text that was asked for in words is read as in all studies (`inference.asking.text_answers`). One that was asked for
by numbers or letters is read so:

1.  It begins with a number or letter shown, perhaps after "Answer:", "My answer is" or the like ("答えは"), after
    "Option", and after marks and brackets. A letter ends there: a mark or the end of the line follows, so "A good idea"
    is no A. So does a number: "4.5" and "1 to 5" are no answers. A "です" or "입니다" may follow ("3です"). Where
    the words of another option follow at once ("4. Strongly disagree"), or another number or letter ("B/C", "2, 3";
    not "4/5", which is four of at most five), or a list of options begins, the text contradicts itself, and is
    invalid; in scripts without blanks, no blank need follow these words.
2.  Else it is read for the words of the options.
3.  Else it is invalid. Options that are whole numbers have no other words: of these the first number that rule 1 takes
    counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from inference.asking.mentions import CHARACTER
from inference.asking.reading.read_texts import build_lenient_and_strict_answer_columns
from inference.asking.reading.said_answers import COPULA, JOINER, JOINING_WORDS, LABEL_NOUN, SAID_ANSWER
from inference.asking.rounds import Response, build_columns_of_response
from inference.asking.text_answers import parse_answer
from inference.asking.thoughts import find_most_frequent_answer
from inference.engines.contract import Generation, Score, Thoughts
from inference.protocols.scale.shown import (
    LETTERS,
    WORDS,
    Showing,
    ShownOptions,
    are_options_whole_numbers,
    choose_shown_options,
)
from inference.stimuli.study import Variant
from inference.stimuli.templates.prompt_forms import list_spellings_in_all_cases
from inference.stimuli.templates.prompts import Prompt

# Of the rule above, recorded with what it read (`label_rule`); 1 saw words of another option only before a blank; by 2,
# "3です" and "Option 3" were no answers.
VERSION = 3
_LEAD = rf"(?:{SAID_ANSWER}|(?:my |the |final )*(?:answer|reply|response|choice|rating|score)\s*)"
_NO_OTHER_NUMBER = (  # behind a number: "1 to 5", "3번 또는 4번"
    rf"(?!번?\s*(?:[-\u2013~\u301c]|{JOINING_WORDS})\s*[0-9])"
)
_MARKS = r"[\s\"'*_`(\[\u201c\u2018\u300c\u300e\u3010#]*"


def are_numbers_or_letters_asked_for(showing: Showing, options: Sequence[str]) -> bool:
    """Tell whether something else than the words of the options is asked for: numbers, or letters."""
    return showing.labels != WORDS or are_options_whole_numbers(tuple(options))


def list_words_of_shown_options(showing: Showing, variant: Variant) -> list[str]:
    """List the words of the options of a variant that are shown, from the lowest to the highest."""
    return list(choose_shown_options(tuple(option.label for option in variant.options), showing).options)


def build_columns_of_scale_response(
    showing: Showing, variant: Variant, prompt: Prompt, response: Response
) -> dict[str, Any]:
    """Turn a response into the columns of a response row.

    Parameters
    ----------
    showing
        How the options were shown.
    variant, prompt
        What was asked.
    response
        What the engine returned, without an error.

    Returns
    -------
    Column -> value. Lists go from the lowest to the highest of the options shown; `answer` is the words of an option.
    """
    options = tuple(option.label for option in variant.options)
    shown = choose_shown_options(options, showing)
    if len(shown.options) < len(options):
        kept = tuple(option for option in variant.options if option.label in shown.options)
        variant = replace(variant, options=kept)
    if isinstance(response, Generation) and are_numbers_or_letters_asked_for(showing, options):
        return _build_columns_of_scale_texts(showing, shown, response)
    if shown.numbers is not None and isinstance(response, Score):
        response = _restrict_score_to_option_numbers(response, shown.places)
    elif shown.numbers is not None and isinstance(response, Thoughts):
        scores = tuple(
            None if score is None else _restrict_score_to_option_numbers(score, shown.places)
            for score in response.scores
        )
        response = replace(response, scores=scores)
    return build_columns_of_response(variant, prompt, response)


def find_option_words_by_number_or_letter(text: str, shown: ShownOptions, labels: str) -> str | None:
    """Read a number or letter out of a text (the rule: see the module).

    Parameters
    ----------
    text
        What the model wrote.
    shown
        The options and what stands for them.
    labels
        What was asked for, numbers or letters.

    Returns
    -------
    The words of the option; None if the text is no valid answer.

    Examples
    --------
    >>> shown = choose_shown_options(("Disagree", "Neither", "Agree"), Showing("numbers", "up"))
    >>> (find_option_words_by_number_or_letter("**3** - Agree", shown, "numbers"),
    ...  find_option_words_by_number_or_letter("I agree.", shown, "numbers"))
    ('Agree', 'Agree')
    >>> (find_option_words_by_number_or_letter("3. Disagree", shown, "numbers"),
    ...  find_option_words_by_number_or_letter("2.5", shown, "numbers"))
    (None, None)
    """
    folded = unicodedata.normalize("NFKC", text)
    pattern, another, option_by_answer, wordings = _build_label_patterns_options_and_wordings(shown, labels)
    match = pattern.match(folded)
    if match is None:
        return parse_answer(text, wordings) if wordings else None
    option = option_by_answer[match["label"]]
    also_named = another.match(folded, match.end())
    if also_named and option_by_answer[also_named["label"]] != option:
        return None
    other_lines = "|".join(
        rf"{re.escape(answer)}\W+{re.escape(other)}" for answer, other in option_by_answer.items() if other != option
    )
    begun_list = rf"[\W_]*{re.escape(option)}[^\w\n]*\n[\W_]*(?:{other_lines})(?!{CHARACTER})"
    if wordings and re.match(begun_list, folded[match.end() :], re.IGNORECASE):
        return None
    behind = re.sub(rf"^[番点점]?{COPULA}", "", folded[match.end() :])
    rest = behind.lstrip(" \t\"'*_`)]\u201d\u2019.:,-\u2013\u2014(\u300d\u300f\u3011\u3002").casefold()
    named = [other for other in wordings if re.match(rf"{re.escape(other.casefold())}(?!{CHARACTER})", rest)]
    return option if not named or max(named, key=len) == option else None


@lru_cache(maxsize=256)
def _build_label_patterns_options_and_wordings(
    shown: ShownOptions, labels: str
) -> tuple[re.Pattern[str], re.Pattern[str], dict[str, str], dict[str, tuple[str, ...]]]:
    """Build the patterns of a label that begins a text and of a second one, answer -> option, and options' wordings."""
    longest_first = sorted(shown.answers, key=len, reverse=True)
    label = "|".join(map(re.escape, longest_first))
    if labels == LETTERS:
        end = rf"(?:(?=[\s]*(?:$|[^\w\s'\u2019]))(?![\u2019']\w)|(?={COPULA}))"
    else:
        end = rf"(?:(?![\w%])(?!\.[0-9]|,[0-9])|(?=[番点점]?{COPULA})){_NO_OTHER_NUMBER}"
    # The words before a label in any case, the label itself as it was shown.
    before = rf"{_MARKS}(?:(?i:{_LEAD}){_MARKS})?(?:(?i:{LABEL_NOUN}){_MARKS})?"
    pattern = re.compile(rf"{before}(?P<label>{label}){end}", re.MULTILINE)
    has_words = not are_options_whole_numbers(shown.options)
    wordings = {option: list_spellings_in_all_cases((option,)) for option in shown.options} if has_words else {}
    words = "|".join(re.escape(option) for option in sorted(shown.options, key=len, reverse=True))
    of_most = "" if labels == LETTERS else rf"(?!/\s*{re.escape(max(shown.answers, key=int))}(?!\d))"
    marks = r"[ \t\"'*_`)\].:\u201d\u2019\u3002\u300d\u300f\u3011]*"
    noun = rf"(?:(?i:{LABEL_NOUN}){_MARKS})?"
    another = re.compile(
        rf"{marks}(?:\(?(?i:{words}){marks}|{of_most})\(?{JOINER}(?!\s*\n){_MARKS}{noun}(?P<label>{label})"
        r"(?=\s*(?:$|[^\w\s'\u2019]))(?![.,][0-9])",
        re.MULTILINE,
    )
    return pattern, another, dict(zip(shown.answers, shown.options, strict=True)), wordings


def _build_columns_of_scale_texts(showing: Showing, shown: ShownOptions, generation: Generation) -> dict[str, Any]:
    """Read every text for an option; the answer is the option that most texts choose, none if two are equal."""
    chosen = [
        None if text is None else find_option_words_by_number_or_letter(text, shown, showing.labels)
        for text in generation.answers
    ]
    wordings = {
        option: dict.fromkeys((answer, option)) for option, answer in zip(shown.options, shown.answers, strict=True)
    }
    return {
        "output": list(generation.texts),
        "count": [chosen.count(option) for option in shown.options],
        "invalid": chosen.count(None),
        "answer": find_most_frequent_answer(chosen, shown.options),
        **build_lenient_and_strict_answer_columns(
            generation.answers, {k: tuple(v) for k, v in wordings.items()}, chosen
        ),
    }


def _restrict_score_to_option_numbers(score: Score, places: Sequence[int]) -> Score:
    """Take the options out of the scores of all numbers of a range; the answer is the likeliest of them.

    Where the numbers are lower bounds, another one may be the likeliest: there is an answer only if it leads by more
    than what a server left out of all numbers.
    """
    probability = tuple(score.probability[place] for place in places)
    if not probability or score.error is not None:
        return score
    mass = min(1.0, sum(probability))
    first, second = [*sorted(probability, reverse=True), 0.0][:2]
    hidden = 0.0 if score.mass_upper is None else score.mass_upper - (score.mass or 0.0)
    return replace(
        score,
        probability=probability,
        logprob=tuple(score.logprob[place] for place in places) if score.logprob else (),
        mass=mass,
        mass_upper=None if score.mass_upper is None else max(mass, score.mass_upper),
        answer=probability.index(first) if score.mass_upper is None or first - second > hidden else None,
    )
