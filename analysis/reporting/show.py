"""Print single wordings: the prompt that the models read, their probabilities, and what they wrote."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from analysis.reporting.catalogue import nearest
from analysis.reporting.words import count, listing
from analysis.runs import asked
from ground.errors import InputError, short

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

WIDTH = 80
FEW_WORDINGS, WORDINGS, MODELS, TEXTS = 3, 20, 10, 3  # shown: of the first item, of a named one; per prompt; per model
LONGEST = 300  # characters of a text that a model wrote
MOST = 6_000  # characters of a prompt
PROMPTS, MARKED = 12, 2  # per wording; with the marks of a chat template


def show(runs: Runs, item: str = "", model: str = "", condition: str = "") -> Iterator[str]:
    """Write the lines about some wordings.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
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
    conditions = dict.fromkeys(name for known in runs.info["conditions"].values() for name in known)
    for what, name, known in (
        ("item", item, items), ("model", model, runs.info["models"]), ("condition", condition, conditions),
    ):  # fmt: skip
        if name and name not in known:
            raise InputError(f"these runs have no {what} {short(repr(name))}{nearest(name, known)}")
    shown = False
    for study in runs.info["studies"]:
        lines = list(_study(runs, study, item, model, condition))
        if lines:
            yield from [""] * shown + lines
            shown = True
    if not shown:
        options = {"--item": item, "--model": model, "--condition": condition}
        chosen = " ".join(f"{option} {short(name)}" for option, name in options.items() if name)
        raise InputError(f"the run holds no answer for {chosen}: this was not asked; waver status counts what was")


def _study(runs: Runs, study: str, item: str, model: str, condition: str) -> Iterator[str]:
    query = "SELECT item FROM stimuli WHERE study = ? GROUP BY item ORDER BY min(position)"
    items = [row[0] for row in runs.execute(query, [study]).fetchall()]
    if item and item not in items:
        return
    chosen = item or items[0]
    wordings = asked.wordings(runs, study, chosen)
    some = wordings[: WORDINGS if item else FEW_WORDINGS]
    answers = asked.answers(runs, _keys(study, some))
    for column, name in (("model", model), ("condition", condition)):
        answers = answers[answers[column] == name] if name else answers
    if answers.empty:
        return
    about = runs.info["studies"][study]
    yield f"study {study} ({about['protocol']}): {count(len(items), 'item')}"
    yield f"item {chosen}: {count(len(wordings), 'wording')}"
    for wording in some:
        rows = answers[answers["variant"] == wording["variant"]]
        if len(rows):
            yield from ("", *_wrapped(f"wording {wording['variant']} ({wording['pattern']}): {wording['text']}", ""))
            yield from _prompts(runs, study, wording, rows)
    yield from _marked(runs, study, answers)
    yield from _left(chosen, len(items), len(some), len(wordings), bool(item))


def _keys(study: str, wordings: Sequence[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {"study": study, "item": [w["item"] for w in wordings], "variant": [w["variant"] for w in wordings]}
    )


def _prompts(runs: Runs, study: str, wording: dict[str, Any], rows: pd.DataFrame) -> Iterator[str]:
    """Write every prompt of a wording once, with the answers of all models that read it."""
    groups: dict[tuple[str, asked.Asked], list[dict[str, Any]]] = {}
    for row in rows.to_dict("records"):
        prompt = asked.prompt(asked.entry(runs, study, row["model"], row["condition"]), wording)
        groups.setdefault((row["condition"], prompt), []).append(row)
    for (condition, prompt), answers in list(groups.items())[:PROMPTS]:
        yield from ("", *_wrapped(f"condition {condition}", "  "), *_prompt(prompt))
        for row in answers[:MODELS]:
            yield from _wrapped(f"{row['model']}: {row['said']}", "  ")
            yield from _texts(row["output"] or ())
        if len(answers) > MODELS:
            yield f"  and {count(len(answers) - MODELS, 'more model')}: choose one with --model"
    if len(groups) > PROMPTS:
        yield from ("", f"  and {count(len(groups) - PROMPTS, 'more prompt')}: choose one with --condition")


def _prompt(prompt: asked.Asked) -> Iterator[str]:
    if prompt.why:
        yield from _wrapped(f"prompt not known: {prompt.why}", "  ")
    else:
        yield from _quoted(prompt.text)


def _quoted(text: str) -> Iterator[str]:
    """Write a prompt: every line of it begins with |, and goes on after : where it is too long for one line."""
    for line in text[:MOST].split("\n"):
        yield from textwrap.wrap(
            _printable(line), WIDTH, initial_indent="  | ", subsequent_indent="  : ", drop_whitespace=False,
            replace_whitespace=False, expand_tabs=False,
        ) or ["  |"]  # fmt: skip
    if len(text) > MOST:
        yield f"  and {len(text) - MOST:,} more characters"


def _texts(texts: Sequence[str]) -> Iterator[str]:
    for text in texts[:TEXTS]:
        yield from _wrapped(f"wrote: “{short(text, LONGEST)}”", "    ")
    if len(texts) > TEXTS:
        yield f"    and {count(len(texts) - TEXTS, 'more text')}"


def _marked(runs: Runs, study: str, answers: pd.DataFrame) -> Iterator[str]:
    """Write one prompt with the marks of each chat template: above, messages stand without them."""
    entries = [asked.entry(runs, study, *unit) for unit in answers[["model", "condition"]].itertuples(index=False)]
    chats: dict[str, Any] = {}
    for entry in entries:
        if entry is not None and any(message["role"] is not None for message in entry["wordings"] or ()):
            chats.setdefault(entry["prompt"], entry)
    for entry in list(chats.values())[:MARKED]:
        yield ""
        yield from _wrapped(
            "Messages stand above with their role in square brackets, without the marks that a chat template puts "
            "around them. As "
            f"{listing(entry['models'][:MODELS])} got it (item {entry['item']}, wording {entry['variant']}):", "",
            "",
        )  # fmt: skip
        yield from _quoted(entry["prompt"])
    if len(chats) > MARKED:
        yield from ("", f"and {count(len(chats) - MARKED, 'more such prompt')}: choose with --condition or --model")


def _left(item: str, items: int, wordings: int, of: int, named: bool) -> Iterator[str]:
    """Say what was not shown."""
    if wordings < of or (not named and items > 1):
        yield ""
    if wordings < of:
        yield from _wrapped(
            f"Shown: {wordings} of {of:,} wordings of this item"
            + ("." if named else f"; --item {item} shows up to {WORDINGS}."), "")  # fmt: skip
    if not named and items > 1:
        yield from _wrapped(f"{count(items - 1, 'more item')}: choose one with --item.", "")


def _wrapped(text: str, indent: str, further: str | None = None) -> list[str]:
    """Break a text into lines of at most `WIDTH` characters; a word that is longer is cut."""
    later = f"{indent}  " if further is None else further
    return textwrap.wrap(
        _printable(text), WIDTH, initial_indent=indent, subsequent_indent=later, 
    )  # fmt: skip


def _printable(text: str) -> str:
    """Write what would move the cursor or colour the terminal as an escape: the text comes from a model or a file."""
    return "".join(char if char.isprintable() or char in "\n\t" else f"\\x{ord(char):02x}" for char in text)
