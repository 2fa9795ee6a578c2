"""Say how conditions that pages call otherwise are called in files and calls."""

from __future__ import annotations

from collections.abc import Collection

from analysis.measures.ratings_rows import SHOWN, name_settings_without_personas
from analysis.reporting.catalogue.orders import Conditions, replace_order_by_both_orders
from analysis.reporting.words import join_names
from analysis.reporting.words.labels import phrase_condition_name

RENAMED_NOTE = " What conditions are called in the file stands at the foot of the page."


def list_renamed_condition_lines(conditions: Conditions, shows_joined_orders: bool) -> list[str]:
    """List the conditions that a page names in other words than run.json, each with its names there.

    These are names of imported conditions that hold a bare number (`labels.phrase_condition_name`), and rows for both
    orders of the options (`orders`).

    Parameters
    ----------
    conditions
        Study -> condition -> its settings, as in run.json.
    shows_joined_orders
        Whether the page shows rows for both orders.

    Returns
    -------
    list of str
        A line per name on the page, with the names that CSV files, `--where` and `waver table` take; empty where all
        conditions are called as in run.json.

    Examples
    --------
    >>> imported = {"0/bits": {"form": "import", "temperature": "0"}}
    >>> asked = {f"chat/{order}": {"form": "chat", "option_order": order} for order in ("yes-no", "no-yes")}
    >>> list_renamed_condition_lines({"a": imported, "b": asked}, shows_joined_orders=True)
    ['temperature 0/bits: 0/bits', 'chat/both orders: chat/yes-no and chat/no-yes']
    """
    lines = []
    for study, settings_by_name in conditions.items():
        names_by_joined_name: dict[str, list[str]] = {}
        for name, settings in settings_by_name.items():
            shown_name = phrase_condition_name(name, settings)
            if shown_name != name:
                lines.append(f"{shown_name}: {name}")
            joined_name = phrase_condition_name(replace_order_by_both_orders(conditions, study, name), settings)
            names_by_joined_name.setdefault(joined_name, []).append(name)
        if shows_joined_orders:
            lines += [
                f"{joined_name}: {join_names(names, len(names))}"
                for joined_name, names in names_by_joined_name.items()
                if len(names) > 1
            ]
    return list(dict.fromkeys(lines))


def list_joined_condition_lines(conditions: Conditions, shown_names: Collection[tuple[str, str]]) -> list[str]:
    """List the settings that tables name in place of the conditions that they join, each with these.

    Settings join conditions that differ in the persona, or in how options are shown, alone. Files name them, too. No
    row of a run does: `--where` takes the names of the conditions.

    Parameters
    ----------
    conditions
        Study -> condition -> its settings, as in run.json.
    shown_names
        Study and condition of the rows of tables (`Frames.list_conditions_in_computed_tables`).

    Returns
    -------
    list of str
        A line per setting with its conditions, the first three by name; empty where tables name conditions alone.

    Examples
    --------
    >>> asked = {f"chat/persona-{name}": {"form": "chat", "persona": name} for name in "abcde"}
    >>> list_joined_condition_lines({"s": asked}, [("s", "chat/personas"), ("s", "chat/persona-a")])
    ['chat/personas: chat/persona-a, chat/persona-b, chat/persona-c and 2 others']
    """
    lines = []
    for study, settings_by_name in conditions.items():
        for ignored in (SHOWN, ()):
            names_by_setting: dict[str, list[str]] = {}
            for name, setting in name_settings_without_personas(settings_by_name, ignored).items():
                names_by_setting.setdefault(setting, []).append(name)
            lines += [
                f"{setting}: {join_names(names)}"
                for setting, names in names_by_setting.items()
                if (study, setting) in shown_names and setting not in settings_by_name
            ]
    return list(dict.fromkeys(lines))
