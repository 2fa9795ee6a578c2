"""Record how many rows a model is to have under every condition, and of how many wordings of an item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from inference.asking.rounds import Round
from inference.runfolder.store import Run
from inference.stimuli.study import Variant


def record_conditions_and_expected_rows(run: Run, model: str, rounds: Sequence[Round]) -> None:
    """Record the conditions of some rounds, their rows, and the draws of wordings.

    Rows that were asked before stay, also those that this call would not ask: with a smaller `--limit` or `--wordings`.

    Parameters
    ----------
    run, model
        The run folder, and the id of the model in it.
    rounds
        The rounds that the model is asked.

    Raises
    ------
    InputError
        If a condition differs from what the folder records under that name.
    """
    variants = list(run.study.variants)
    rows: dict[str, int] = {}
    drawn = dict(run.drawn_wording_counts.get(model, {}))
    with run.write_run_json_after_block():
        for round_ in rounds:
            chosen = bytes(map(round_.chosen, variants))
            for condition in round_.conditions:
                name = condition.name
                run.add_condition(name, condition.fields)
                # Example: an earlier call asked 100 items, this one asks the first 50. All 50 have rows already, so the
                # rows to be had stay 100; where it asks 50 others, they become 150.
                before = run.expected_row_counts.get(model, {}).get(name, 0)
                rows[name] = max(
                    before, _count_expected_rows(run, model, name, variants, chosen) if before else sum(chosen)
                )
                # Without a draw, all wordings of the chosen items are asked: no row is of another item that was drawn.
                if rows[name] == (sum(chosen) if round_.draw is None else len(variants)):
                    drawn.pop(name, None)
                elif round_.draw is not None and rows[name] > before:
                    draw = {field: value for field, value in asdict(round_.draw).items() if value is not False}
                    drawn[name] = draw | {"wordings": max(draw["wordings"], drawn.get(name, draw)["wordings"])}
        run.record_row_and_drawn_wording_counts(model, rows, drawn)


def _count_expected_rows(
    run: Run, model: str, condition: str, variants: Sequence[Variant], is_chosen_bytes: bytes
) -> int:
    """Count the variants that are chosen or have a row already."""
    if sum(is_chosen_bytes) == len(variants):
        return len(variants)
    missing = run.responses.flag_variants_without_response(model, condition, variants)
    return sum(is_chosen or not is_missing for is_chosen, is_missing in zip(is_chosen_bytes, missing, strict=True))
