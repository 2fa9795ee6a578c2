"""Say what thoughts of a pilot take: tokens of prompts and of thoughts."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ground.errors import InputError

if TYPE_CHECKING:
    from analysis.measures.reworded import Study
    from analysis.runs import Runs
    from analysis.statistics.reliability.planning import ThoughtTokens

CHARACTERS = 4  # of a token, about; in a language without blanks fewer


def measure_prompt_and_thought_tokens(
    pilot: Runs, study: Study, args: argparse.Namespace, *, is_sampled: bool
) -> ThoughtTokens | None:
    """Measure what a thought and a prompt of the pilot take.

    Parameters
    ----------
    pilot
        The run.
    study
        What is planned.
    args
        Of the command.
    is_sampled
        Whether a design says how many samples are asked for; SDs and flips have none.

    Returns
    -------
    ThoughtTokens or None
        None where its samples are no thoughts, or no number of them is planned.

    Raises
    ------
    InputError
        Where there is nothing to measure, and an option is about it.
    """
    from analysis.measures.reworded import THOUGHTS
    from analysis.measures.thoughts import compute_longest_thought_and_least_answered, list_thought_conditions
    from analysis.statistics.reliability.planning import ThoughtTokens

    units = study.list_first_units_of_answering_models()
    has_thoughts = {study.name_kind_of_unit_samples(unit) for unit in units} == {THOUGHTS}
    if not (has_thoughts and is_sampled):
        if args.cost_token or args.prompt_tokens is not None:
            why = "a plan of this measure chooses no number of them" if has_thoughts else "this pilot does not have any"
            raise InputError(f"--cost-token and --prompt-tokens are about thoughts: {why}")
        return None
    conditions = list_thought_conditions(pilot.info["conditions"][study.name])
    conditions = conditions & {args.condition} or conditions  # settings of scores are no names of conditions
    thought, answered = compute_longest_thought_and_least_answered(pilot, study.name, conditions)
    prompt = _estimate_prompt_tokens(pilot, study.name) if args.prompt_tokens is None else args.prompt_tokens
    return ThoughtTokens(prompt, thought, answered)


def _estimate_prompt_tokens(pilot: Runs, study: str) -> float:
    """Estimate the tokens of a prompt by its characters: of the prompts in run.json, else of the wordings alone."""
    folder = next(folder for folder in pilot.folders if folder.study == study)
    entries = [entry for entries in folder.info.get("asked", {}).values() for entry in entries]
    lengths = [entry["characters"] for entry in entries if entry.get("characters")]
    if not lengths:
        lengths = [pilot.execute("SELECT avg(len(text)) FROM stimuli WHERE study = ?", [study]).fetchall()[0][0]]
    return float(sum(lengths)) / len(lengths) / CHARACTERS


def describe_tokens_per_thought_and_prompt(tokens: ThoughtTokens, args: argparse.Namespace) -> str:
    """Say what the tokens of the designs rest on.

    Parameters
    ----------
    tokens
        From `measure_prompt_and_thought_tokens`.
    args
        Of the command.

    Returns
    -------
    str
        A line.
    """
    from analysis.reporting.words import format_percent

    given = f"taken to be its characters / {CHARACTERS}" if args.prompt_tokens is None else "as given"
    answered = f"; {format_percent(tokens.answered)} of thoughts have an answer" if tokens.answered < 1 else ""
    return (
        f"a thought takes {tokens.thought:.0f} tokens in the pilot{answered}; a prompt counts like {tokens.prompt:.0f} "
        f"({given}) and is read once for all of its thoughts"
    )
