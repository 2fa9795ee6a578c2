"""Say which options of an item are shown, in which order, and what stands for each: a number, a letter or its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase

from ground.errors import InputError
from inference.stimuli.scales import drop_middle_option
from inference.stimuli.templates.prompt_forms import OPTION_ORDERS

LABELS = NUMBERS, LETTERS, WORDS = "numbers", "letters", "words"
ORDERS = UP, DOWN = "up", "down"
ORDER_OF_BOOK = dict(zip(ORDERS, OPTION_ORDERS, strict=True))
"""How `PromptBook.render` calls these orders: as the study has the options, or the other way round."""
MOST_OPTIONS = 1_001
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True)
class Showing:
    """How options are shown: the settings of a condition.

    Attributes
    ----------
    labels
        What stands for an option, of `LABELS`.
    order
        Which option is shown first, of `ORDERS`: the lowest, or the highest.
    without_middle
        Whether the middle option is left out, where the number of options is odd.
    """

    labels: str = NUMBERS
    order: str = UP
    without_middle: bool = False

    @property
    def name_part_of_condition(self) -> str:
        """The part of a condition's name that says it: "numbers-up", "words-down/no-middle"."""
        return f"{self.labels}-{self.order}" + ("/no-middle" if self.without_middle else "")

    @property
    def condition_fields(self) -> dict[str, object]:
        """The fields of run.json that say it."""
        middle = {"without_middle": True} if self.without_middle else {}
        return {"labels": self.labels, "option_order": self.order, **middle}


@dataclass(frozen=True, slots=True)
class ShownOptions:
    """The options of an item that are shown, from the lowest to the highest, whatever the order shown.

    Attributes
    ----------
    options
        Their words.
    answers
        What stands for each.
    numbers, places
        Where an answer has two characters or more (10, -1): a range that holds all answers, and the place of each in
        it. An engine then sums over all ways to write such a number in tokens. Else None and empty.
    """

    options: tuple[str, ...]
    answers: tuple[str, ...]
    numbers: range | None = None
    places: tuple[int, ...] = ()


@lru_cache(maxsize=1024)
def choose_shown_options(options: tuple[str, ...], showing: Showing) -> ShownOptions:
    """Choose which options are shown, and what stands for each.

    Numbers and letters belong to the place shown: the first is 1 or A. Options that are all whole numbers themselves
    are the numbers shown, each with its option, and their words, too.

    Parameters
    ----------
    options
        The words of all options of an item, from the lowest to the highest.
    showing
        How they are shown.

    Returns
    -------
    The options shown.

    Raises
    ------
    InputError
        There are more options than letters.

    Examples
    --------
    >>> showing = Showing(LETTERS, DOWN, without_middle=True)
    >>> choose_shown_options(("never", "sometimes", "always"), showing)
    ShownOptions(options=('never', 'always'), answers=('B', 'A'), numbers=None, places=())
    """
    kept = drop_middle_option(options) if showing.without_middle else options
    if showing.labels == WORDS and not are_options_whole_numbers(options):
        return ShownOptions(kept, kept)
    if showing.labels == LETTERS and len(kept) > len(ascii_uppercase):
        raise InputError(
            f"--labels letters: {len(kept)} options, and there are {len(ascii_uppercase)} letters; "
            "give --labels numbers"
        )
    if showing.labels != LETTERS and are_options_whole_numbers(options):
        answers = kept
    else:
        names = ascii_uppercase if showing.labels == LETTERS else tuple(str(n) for n in range(1, len(kept) + 1))
        answers = tuple(names[: len(kept)]) if showing.order == UP else tuple(names[: len(kept)])[::-1]
    # An answer of one character begins no other one. Of 1 and 10 an engine must see where the number ends.
    if all(len(answer) == 1 for answer in answers):
        return ShownOptions(kept, answers)
    stated = tuple(map(int, answers))
    numbers = range(min(stated), max(stated) + 1)
    return ShownOptions(kept, answers, numbers, tuple(number - numbers[0] for number in stated))


def are_options_whole_numbers(options: tuple[str, ...]) -> bool:
    """Tell whether all options are whole numbers, written without leading zeros, and few enough to be asked for.

    >>> are_options_whole_numbers(("0", "5", "10")), are_options_whole_numbers(("0", "5", "10 or more"))
    (True, False)
    """
    if not all(map(_WHOLE.fullmatch, options)):
        return False
    numbers = list(map(int, options))
    return max(numbers) - min(numbers) < MOST_OPTIONS
