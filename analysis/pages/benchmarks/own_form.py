"""Take conditions together in which every model was asked in its own form: plain for one, chat for another.

A correlation is over models, and the form of a prompt follows from the model: a base model continues a text, a tuned
one answers in a chat, a masked one fills a gap. So what differs in the form alone was asked in the same way; and what
differs in a seed, or in having one, of a model that shares none with the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from analysis.runs import Runs
from analysis.runs.conditions import MAY_DIFFER_BETWEEN_MODELS

Unit: TypeAlias = tuple[str, str, str]  # study, model, condition

OWN = "own form"
FORM = frozenset({"form", "prompt_hash"})  # fields of a condition that follow from the form of its prompts
SEEDS = frozenset(MAY_DIFFER_BETWEEN_MODELS) - FORM
OF_STAGE = {"base": "plain", "tuned": "chat", "instruct": "chat"}


@dataclass(frozen=True, slots=True)
class UnitForm:
    """Say how a unit was asked.

    Attributes
    ----------
    condition
        Name of its condition, with "own form" in place of the form where the models compared were asked in several.
    form
        Its own form; empty: not said.
    forms
        Number of forms that its model was asked in, all else equal.
    """

    condition: str
    form: str
    forms: int


def find_prompt_forms_of_units(runs: Runs) -> dict[Unit, UnitForm]:
    """Say how every unit was asked: units of one study and `UnitForm.condition` are compared.

    A model that was asked in several forms counts once, in that of its stage: plain for a base model, chat for a tuned
    one; in the first one where its stage is not known, or that form was not asked. Its others are not in the result.
    """
    unit_forms: dict[Unit, UnitForm] = {}
    used_names: set[tuple[str, str]] = set()
    for name, units in _group_units_across_forms(runs):
        form_counts = {
            _choose_unit_in_form_of_stage(runs, model, model_units): len(model_units)
            for model, model_units in units.items()
        }
        study, conditions = next(iter(form_counts))[0], sorted({condition for *_, condition in form_counts})
        # Of two groups with one name, which differ in more than the form, the second is named by its conditions.
        group_name = name if name and (study, name) not in used_names else ", ".join(conditions)
        used_names.add((study, name))
        for unit, forms in form_counts.items():
            form = _get_condition_fields_of_unit(runs, unit).get("form")
            unit_forms[unit] = UnitForm(group_name if len(conditions) > 1 else unit[2], str(form or ""), forms)
    return unit_forms


def find_form_of_unit_joining_conditions(
    runs: Runs, unit_forms: Mapping[Unit, UnitForm], unit: Unit
) -> UnitForm | None:
    """Say how a unit was asked that stands for several conditions: `plain` for `plain/up` and `plain/down`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    unit_forms
        From `find_prompt_forms_of_units`.
    unit
        Study, model, and the name of the conditions together.

    Returns
    -------
    UnitForm or None
        Of a single condition, its entry in `unit_forms`. None where the form is not the model's own.
    """
    study, model, condition = unit
    if condition in runs.info["conditions"][study]:
        return unit_forms.get(unit)
    of_model = [about for (name, unit_model, _), about in unit_forms.items() if (name, unit_model) == (study, model)]
    all_forms = {str(fields.get("form") or "") for fields in runs.info["conditions"][study].values()}
    form = next((part for part in condition.split("/") if part in all_forms), "")
    if not of_model or (form and form not in {about.form for about in of_model}):
        return None
    is_several = len({about.form for (name, *_), about in unit_forms.items() if name == study}) > 1
    named = _replace_form_in_condition_name_by_own_form(condition, form) if is_several else condition
    return UnitForm(named, form, max(about.forms for about in of_model))


def _group_units_across_forms(runs: Runs) -> list[tuple[str, dict[str, list[Unit]]]]:
    """Return the groups of units that differ in the form, or a seed, alone: their name, and by model its units.

    Of groups that differ in seeds alone, the one with most models, the first of several, takes in models that it lacks,
    and has no name then.
    """
    groups: dict[tuple[str, str, str, str], dict[str, list[Unit]]] = {}
    for unit in runs.execute("SELECT study, model, condition FROM units ORDER BY position").fetchall():
        study, model, condition = unit
        fields = _get_condition_fields_of_unit(runs, unit)
        same, seeds = (
            repr(sorted((name, repr(fields[name])) for name in fields.keys() - FORM if (name in SEEDS) == is_seed))
            for is_seed in (False, True)
        )
        key = study, _replace_form_in_condition_name_by_own_form(condition, fields.get("form")), same, seeds
        groups.setdefault(key, {}).setdefault(model, []).append(unit)
    names = {key: key[1] for key in groups}
    keys_by_asking: dict[tuple[str, str], list[tuple[str, str, str, str]]] = {}
    for key in groups:
        keys_by_asking.setdefault((key[0], key[2]), []).append(key)
    for keys in keys_by_asking.values():
        largest = max(keys, key=lambda key: len(groups[key]))
        for key in (key for key in keys if key[3] != largest[3]):  # of equal seeds, the names tell the groups apart
            for model in [model for model in groups[key] if model not in groups[largest]]:
                groups[largest][model], names[largest] = groups[key].pop(model), ""
    return [(names[key], units) for key, units in groups.items() if units]


def _get_condition_fields_of_unit(runs: Runs, unit: Unit) -> Mapping[str, Any]:
    """Return the fields of a unit's condition, as run.json has them."""
    study, _, condition = unit
    fields: Mapping[str, Any] = runs.info["conditions"][study][condition]
    return fields


def _replace_form_in_condition_name_by_own_form(condition: str, form: object) -> str:
    """Put "own form" in place of the form into the name of a condition.

    >>> _replace_form_in_condition_name_by_own_form("chat/4-shot", "chat")
    'own form/4-shot'
    """
    return "/".join(OWN if part == form else part for part in condition.split("/"))


def _choose_unit_in_form_of_stage(runs: Runs, model: str, model_units: Sequence[Unit]) -> Unit:
    """Choose the unit of a model that is in the form of its stage; else its first."""
    form = OF_STAGE.get(str(runs.info["models"][model].get("stage")))
    in_form = (unit for unit in model_units if _get_condition_fields_of_unit(runs, unit).get("form") == form)
    return next(in_form, model_units[0])
