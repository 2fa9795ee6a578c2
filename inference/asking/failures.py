"""Fail a call with more rows without a response than the user allows; name models that hardly say an option."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ground.errors import RunFailed, format_part_with_verb, format_quantity

if TYPE_CHECKING:
    from inference.asking.session import Tally

AGAIN = "give the same command again, which asks only for these"
ALLOW = "or say with --allow-failed how many may fail"
TOO_LONG = (
    "asking again cannot help with prompts beyond the context window: shorten their texts, give fewer examples, ask "
    "for shorter answers (--max-tokens, --budget), or take a model with a longer window"
)
MOST_LOW = 20  # models and conditions of low mass that are named one by one
ROUNDING = 1e-9  # 29 % of 100 rows are 29, which the product of the two in floating point is not


@dataclass(frozen=True, slots=True)
class AllowedFailures:
    """How many rows of a study may be without a response: a number, or a share (0-1) of the rows of the call's models.

    Examples
    --------
    >>> AllowedFailures(share=0.29).count_allowed_failures(100), AllowedFailures(rows=3).count_allowed_failures(100)
    (29, 3)
    """

    rows: int = 0
    share: float = 0.0

    def count_allowed_failures(self, n_rows: int) -> int:
        """Return the number that is allowed among so many rows."""
        return max(self.rows, int(self.share * n_rows + ROUNDING))


NO_FAILURES = AllowedFailures()


def describe_remedy_for_failed_rows(tallies: Sequence[Tally]) -> str:
    """Say what helps rows without a response: asking again, but not where prompts are too long for the model."""
    too_long = any(tally.too_long for tally in tallies)
    others_failed = any(tally.failed > tally.too_long for tally in tallies)
    return "; ".join([TOO_LONG] * too_long + [AGAIN] * others_failed)


def refuse_too_many_failures_or_unasked_models(
    outcomes_by_folder: Mapping[str, tuple[AllowedFailures, Sequence[Tally]]], reason_by_unasked: Mapping[str, str]
) -> None:
    """Fail a call if more rows of a study are without a response than allowed, or a model could not be asked.

    Parameters
    ----------
    outcomes_by_folder
        Run folder -> what is allowed, and the tallies of the call.
    reason_by_unasked
        Model and run folder -> why it could not be asked.

    Raises
    ------
    RunFailed
        With the counts and the first error of every such study, and the reason of every such model.
    """
    failed_studies, some_saved = [], False
    failing: list[Tally] = []
    for folder, (allowed, tallies) in outcomes_by_folder.items():
        failed, rows = (sum(getattr(tally, count) for tally in tallies) for count in ("failed", "rows"))
        if failed > allowed.count_allowed_failures(rows):
            first = next(tally for tally in tallies if tally.failed)
            failed_studies.append(
                f"{folder}: {format_part_with_verb(failed, rows, 'row')} no response "
                f"(first {first.model} {first.condition}, {first.first_error})"
            )
            some_saved = some_saved or failed < rows
            failing += tallies
    lines = []
    if failed_studies:
        saved = "; all others are saved" if some_saved else ""
        lines.append(f"{'; '.join(failed_studies)}{saved}: {describe_remedy_for_failed_rows(failing)}; {ALLOW}")
    if reason_by_unasked:
        named = "; ".join(f"{model}: {reason}" for model, reason in reason_by_unasked.items())
        lines.append(
            f"not asked: {named}. What the others answered is saved; correct these names or leave them out, then "
            "repeat the command"
        )
    if lines:
        raise RunFailed(". ".join(lines))


def describe_conditions_of_low_option_mass(tallies: Iterable[Tally], *, with_study: bool = False) -> Iterator[str]:
    """Say of which models and conditions most responses have less than half of their probability on the options.

    Parameters
    ----------
    tallies
        Of the models and conditions of a call. Counted are the responses that came in it; where a server shows only
        the most probable tokens, the upper bound of the probability must be below one half, too.
    with_study
        Whether a line names the study, too.

    Yields
    ------
    A line per model and condition, for the first `MOST_LOW` of them; the last line counts the others.

    Examples
    --------
    >>> from inference.asking.session import Tally
    >>> silent = Tally("m", "plain/yes-no", asked_count=96, low_mass=96, largest_low_mass=0.052)
    >>> tallies = [silent, Tally("m", "chat/yes-no", asked_count=96, low_mass=48)]
    >>> print(*describe_conditions_of_low_option_mass(tallies), sep="\\n")
    m, plain/yes-no: at most 6 % of the probability is on the options in 96 of 96 responses; look at `waver preview`, \
and try another --form or model
    """
    low = [tally for tally in tallies if 2 * tally.low_mass > tally.asked_count - tally.failed]
    for tally in low[:MOST_LOW]:
        most = max(1, math.ceil(round(100 * tally.largest_low_mass, 6)))  # 100 * 0.07 is more than 7 in floating point
        names = [*([tally.study] if with_study else []), tally.model, tally.condition]
        yield (
            f"{', '.join(names)}: at most {most} % of the probability is on the "
            f"options in {tally.low_mass:,} of {tally.asked_count - tally.failed:,} responses; look at "
            "`waver preview`, and try another --form or model"
        )
    if len(low) > MOST_LOW:
        more = format_quantity(len(low) - MOST_LOW, "more model and condition", "more models and conditions")
        yield f"the same holds of most responses of {more}"
