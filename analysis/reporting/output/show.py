"""Print single wordings: the prompt that the models read, their probabilities, and what they wrote."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from analysis.reporting.words import format_quantity, join_names
from analysis.runs import model_prompts
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

WIDTH = 80
FEW_WORDINGS, WORDINGS, MODELS, TEXTS = 3, 20, 10, 3  # shown: of the first item, of a named one; per prompt; per model
LONGEST_TEXT = 300  # characters of a text that a model wrote
MOST_CHARACTERS = 6_000  # characters of a prompt
PROMPTS, MARKED_PROMPTS = 12, 2  # per wording; with the marks of a chat template


def iterate_prompt_and_answer_lines(runs: Runs, item: str = "", model: str = "", condition: str = "") -> Iterator[str]:
    """Write the lines about some wordings.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    item, model, condition
        Show only these; empty: the first item of every study, the first models, all conditions.

    Yields
    ------
    Lines; the last ones of a study count what is not shown.

    Raises
    ------
    InputError
        For a name that these runs do not have, with the nearest one that they have; for a model that was not asked
        about the item under the condition.
    """
    items = dict.fromkeys(row[0] for row in runs.execute("SELECT item FROM stimuli ORDER BY position").fetchall())
    conditions = dict.fromkeys(name for names in runs.info["conditions"].values() for name in names)
    for kind, name, names in (
        ("item", item, items), ("model", model, runs.info["models"]), ("condition", condition, conditions),
    ):  # fmt: skip
        if name and name not in names:
            raise InputError(
                f"these runs have no {kind} {shorten_to_one_line(repr(name))}{format_nearest_name_hint(name, names)}"
            )
    has_lines = False
    for study in runs.info["studies"]:
        lines = list(_iterate_lines_about_first_asked_item(runs, study, item, model, condition))
        if lines:
            yield from [""] * has_lines + lines
            has_lines = True
    if not has_lines:
        options = {"--item": item, "--model": model, "--condition": condition}
        chosen = " ".join(f"{option} {shorten_to_one_line(name)}" for option, name in options.items() if name)
        named = f" for {chosen}" if chosen else ""
        raise InputError(f"the run holds no answer{named}: this was not asked; waver status counts what was")


def _iterate_lines_about_first_asked_item(
    runs: Runs, study: str, item: str, model: str, condition: str
) -> Iterator[str]:
    """Yield the lines about one item of a study: its wordings, prompts and answers."""
    ((n_items,),) = runs.execute("SELECT count(DISTINCT item) FROM stimuli WHERE study = ?", [study]).fetchall()
    chosen_item, asked_variants = _find_first_asked_item_and_variants(runs, study, item, model, condition)
    if not asked_variants:
        return
    wordings = model_prompts.list_wordings_of_item(runs, study, chosen_item)
    asked_wordings = [wording for wording in wordings if wording["variant"] in asked_variants]
    shown_wordings = asked_wordings[: WORDINGS if item else FEW_WORDINGS]
    answers = model_prompts.read_answers_to_wordings(runs, _build_wording_key_frame(study, shown_wordings))
    for column, name in (("model", model), ("condition", condition)):
        answers = answers[answers[column] == name] if name else answers
    about = runs.info["studies"][study]
    yield f"study {study} ({about['protocol']}): {format_quantity(n_items, 'item')}"
    yield f"item {chosen_item}: {format_quantity(len(wordings), 'wording')}"
    for wording in shown_wordings:
        rows = answers[answers["variant"] == wording["variant"]]
        if len(rows):
            yield from ("", *_wrap_text(f"wording {wording['variant']} ({wording['pattern']}): {wording['text']}", ""))
            yield from _describe_prompts_and_answers_of_wording(runs, study, wording, rows)
    yield from _quote_chat_template_prompts(runs, study, answers)
    yield from _describe_unshown_wordings_and_items(
        chosen_item, n_items, len(shown_wordings), len(wordings), bool(item)
    )


def _find_first_asked_item_and_variants(
    runs: Runs, study: str, item: str, model: str, condition: str
) -> tuple[str, set[str]]:
    """Find the first item, of those that were chosen, that was asked, and its variants that were.

    A run may have ended before other items and wordings, and by --text-share, a part of them is asked.
    """
    rows = "SELECT study, item, variant, model, condition FROM"
    asked = runs.execute(
        f"""
        WITH asked AS (
            SELECT item, variant, position FROM ({rows} responses UNION ALL {rows} errors)
            JOIN stimuli USING (study, item, variant)
            WHERE study = $study AND $item IN ('', item) AND $model IN ('', model) AND $condition IN ('', condition))
        SELECT DISTINCT item, variant FROM asked WHERE item = (SELECT arg_min(item, position) FROM asked)""",
        {"study": study, "item": item, "model": model, "condition": condition},
    ).fetchall()
    return (asked[0][0] if asked else item), {variant for _, variant in asked}


def _build_wording_key_frame(study: str, wordings: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return study, item and variant of some wordings as a table."""
    import pandas as pd

    return pd.DataFrame(
        {"study": study, "item": [w["item"] for w in wordings], "variant": [w["variant"] for w in wordings]}
    )


def _describe_prompts_and_answers_of_wording(
    runs: Runs, study: str, wording: dict[str, Any], answer_rows: pd.DataFrame
) -> Iterator[str]:
    """Write every prompt of a wording once, with the answers of all models that read it."""
    groups: dict[tuple[str, model_prompts.Prompt], list[dict[str, Any]]] = {}
    for row in answer_rows.to_dict("records"):
        prompt = model_prompts.recover_prompt_of_wording(
            model_prompts.find_prompts_entry_of_condition(runs, study, row["model"], row["condition"]), wording
        )
        groups.setdefault((row["condition"], prompt), []).append(row)
    for (condition, prompt), answers in list(groups.items())[:PROMPTS]:
        yield from ("", *_wrap_text(f"condition {condition}", "  "))
        if prompt.why:
            yield from _wrap_text(f"rest of the prompt, if any, not known: {prompt.why}", "  ")
        else:
            yield from _quote_prompt_lines(prompt.text)
        for row in answers[:MODELS]:
            yield from _wrap_text(f"{row['model']}: {row['said']}", "  ")
            yield from _quote_first_texts(row["output"] or (), row["thought"] or (), row["thought_tokens"] or ())
        if len(answers) > MODELS:
            yield f"  and {format_quantity(len(answers) - MODELS, 'more model')}: choose one with --model"
    if len(groups) > PROMPTS:
        yield from ("", f"  and {format_quantity(len(groups) - PROMPTS, 'more prompt')}: choose one with --condition")


def _quote_prompt_lines(text: str) -> Iterator[str]:
    """Write a prompt: every line of it begins with |, and goes on after : where it is too long for one line."""
    for line in text[:MOST_CHARACTERS].split("\n"):
        yield from textwrap.wrap(
            _escape_unprintable(line), WIDTH, initial_indent="  | ", subsequent_indent="  : ", drop_whitespace=False,
            replace_whitespace=False, expand_tabs=False,
        ) or ["  |"]  # fmt: skip
    if len(text) > MOST_CHARACTERS:
        yield f"  and {len(text) - MOST_CHARACTERS:,} more characters"


def _quote_first_texts(texts: Sequence[str], thoughts: Sequence[str], tokens: Sequence[int]) -> Iterator[str]:
    """Yield the first texts that a model wrote, each after its thought if there is one, and how many more there are."""
    for place, text in enumerate(texts[:TEXTS]):
        if thoughts:
            length = f" ({format_quantity(tokens[place], 'token')})" if tokens else ""
            yield from _wrap_text(f"thought{length}: “{shorten_to_one_line(thoughts[place], LONGEST_TEXT)}”", "    ")
        if text or not thoughts:
            yield from _wrap_text(f"wrote: “{shorten_to_one_line(text, LONGEST_TEXT)}”", "    ")
    if len(texts) > TEXTS:
        yield f"    and {format_quantity(len(texts) - TEXTS, 'more thought' if thoughts else 'more text')}"


def _quote_chat_template_prompts(runs: Runs, study: str, answers: pd.DataFrame) -> Iterator[str]:
    """Write one prompt with the marks of each chat template: above, messages stand without them."""
    entries = [
        model_prompts.find_prompts_entry_of_condition(runs, study, *unit)
        for unit in answers[["model", "condition"]].itertuples(index=False)
    ]
    chats: dict[str, Any] = {}
    for entry in entries:
        if entry is not None and any(message["role"] is not None for message in entry["wordings"] or ()):
            chats.setdefault(entry["prompt"], entry)
    for entry in list(chats.values())[:MARKED_PROMPTS]:
        yield ""
        yield from _wrap_text(
            "Messages stand above with their role in square brackets, without the marks that a chat template puts "
            "around them. As "
            f"{join_names(entry['models'][:MODELS])} got it (item {entry['item']}, wording {entry['variant']}):", "",
            "",
        )  # fmt: skip
        yield from _quote_prompt_lines(entry["prompt"])
    if len(chats) > MARKED_PROMPTS:
        yield from (
            "",
            f"and {format_quantity(len(chats) - MARKED_PROMPTS, 'more such prompt')}: choose with --condition or "
            "--model",
        )


def _describe_unshown_wordings_and_items(
    item: str, n_items: int, n_shown_wordings: int, n_wordings: int, is_item_chosen: bool
) -> Iterator[str]:
    """Say what was not shown."""
    if n_shown_wordings < n_wordings or (not is_item_chosen and n_items > 1):
        yield ""
    if n_shown_wordings < n_wordings:
        yield from _wrap_text(
            f"Shown: {n_shown_wordings} of {n_wordings:,} wordings of this item"
            + ("." if is_item_chosen else f"; --item {item} shows up to {WORDINGS}."), "")  # fmt: skip
    if not is_item_chosen and n_items > 1:
        yield from _wrap_text(f"{format_quantity(n_items - 1, 'more item')}: choose one with --item.", "")


def _wrap_text(text: str, indent: str, further_indent: str | None = None) -> list[str]:
    """Break a text into lines of at most `WIDTH` characters; a word that is longer is cut."""
    later = f"{indent}  " if further_indent is None else further_indent
    return textwrap.wrap(_escape_unprintable(text), WIDTH, initial_indent=indent, subsequent_indent=later)


def _escape_unprintable(text: str) -> str:
    """Write what would move the cursor or colour the terminal as an escape: the text comes from a model or a file."""
    return "".join(char if char.isprintable() or char in "\n\t" else f"\\x{ord(char):02x}" for char in text)
