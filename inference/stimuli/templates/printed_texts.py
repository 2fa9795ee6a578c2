"""Render a template once for all texts that it only prints: each text is then put where the template prints it.

A text that a template prints as it is, without a filter, a condition or a loop over it, decides nothing about the rest.
Example: of `Reply {{ options[0] }}. Statement: {{ text }}`, two texts differ in the last place only. It is rendered for
`text` as a mark, and the mark shows where the texts come.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from jinja2 import nodes

Rendered = list[tuple[str | None, str]]
Form = list[tuple[str | None, list[str], list[tuple[int, int]]]]
"""Of every part: its role, its pieces, and which pieces are which texts, as (place, number of the text)."""

# Characters of the texts, and of what stands around them; places of the texts. What may be longer than a rendering may
# be is rendered, and then refused.
LONGEST, MOST = 50_000, 32
REMEMBERED = 64  # forms
PRINTS = (nodes.Template, nodes.If, nodes.For)
"""What may stand around a printed text; anything else may change what is printed inside it."""
STRINGS = frozenset({str})
SIMPLE = frozenset({str, int, float, bool, type(None)})
MARKS = "\ue000", "\ue002"  # characters that no alphabet has


def find_only_printed(templates: Sequence[nodes.Template], names: Set[str]) -> frozenset[str]:
    """Find which variables all templates only print, as they are.

    Parameters
    ----------
    templates
        Parsed templates.
    names
        Names of variables.

    Returns
    -------
    Those that some template prints and none uses otherwise.

    Examples
    --------
    >>> from inference.stimuli.templates.sandbox import build_sandbox
    >>> source = "{{ a }}{{ b|upper }}{% if c %}{{ d }}{{ c }}{% endif %}{% set e = a %}{{ f ~ 1 }}"
    >>> sorted(find_only_printed([build_sandbox().parse(source)], {"a", "b", "c", "d", "f"}))
    ['d']
    """
    every = Counter(node.name for template in templates for node in template.find_all(nodes.Name))
    printed = Counter(
        name for template in templates for node in _find_outputs(template) for name in _list_variable_names(node)
    )
    return frozenset(name for name in names if printed[name] and printed[name] == every[name])


def _find_outputs(node: nodes.Node) -> list[nodes.Output]:
    """Find the places that print, and whose text becomes part of the rendered text unchanged."""
    if isinstance(node, nodes.Output):
        return [node]
    if not isinstance(node, PRINTS) or (isinstance(node, nodes.For) and node.recursive):
        return []
    return [output for child in node.iter_child_nodes() for output in _find_outputs(child)]


def _list_variable_names(node: nodes.Output) -> list[str]:
    return [child.name for child in node.nodes if isinstance(child, nodes.Name) and child.ctx == "load"]


@dataclass(frozen=True, slots=True)
class PrintedTexts:
    """The texts that the parts of a prompt only print, and the prompts that were rendered, with marks in their place.

    What was asked once may never come again, so a form is made when the same values but for the texts come again.
    """

    names: tuple[str, ...]
    _forms: dict[Hashable, Form | None] = field(default_factory=dict)  # None: there is none
    _once: set[Hashable] = field(default_factory=set)

    def render(
        self, values: Mapping[str, Any], settings: Hashable, render: Callable[[Mapping[str, Any]], Rendered]
    ) -> Rendered:
        """Render a prompt, or put it together where only printed texts differ from those of an earlier one.

        Parameters
        ----------
        values
            Variable -> value.
        settings
            What the prompt depends on besides.
        render
            Renders the values.

        Returns
        -------
        What `render` makes of the values, as (role, text).
        """
        texts = [values.get(name) for name in self.names]
        key = self._build_key(values, settings)
        if key is None or not texts or sum(len(text) if type(text) is str else LONGEST for text in texts) >= LONGEST:
            return render(values)
        if key not in self._forms:
            if len(self._once) + len(self._forms) >= REMEMBERED:
                self._once.clear()
                self._forms.clear()
            if key not in self._once:
                self._once.add(key)
                return render(values)
            self._forms[key] = self._build_marked_form(values, render)
        form = self._forms[key]
        return (
            render(values) if form is None else [(role, _fill_pieces(pieces, at, texts)) for role, pieces, at in form]
        )

    def _build_key(self, values: Mapping[str, Any], settings: Hashable) -> Hashable | None:
        """Join all that decides what is rendered, but for the texts; None where it may change behind our back."""
        key: list[Any] = [settings]
        for name, value in values.items():
            if name not in self.names:
                kind = type(value)
                if kind is list and {*map(type, value)} <= STRINGS:
                    value = tuple(value)
                elif kind not in SIMPLE:
                    return None
                key += [name, kind, value]
        try:
            hash(joined_key := tuple(key))
        except TypeError:  # settings with a mapping in them
            return None
        return joined_key

    def _build_marked_form(
        self, values: Mapping[str, Any], render: Callable[[Mapping[str, Any]], Rendered]
    ) -> Form | None:
        """Render with marks in the place of the texts, and find them again; None where the marks are there already."""
        forms: list[Form] = []
        for mark in MARKS:
            marks = {name: f"{mark}{number}\ue001" for number, name in enumerate(self.names)}
            form: Form = []
            for role, content in render({**values, **marks}):
                pieces = re.split(f"{mark}([0-9]+)\ue001", content)
                form.append((role, pieces, [(at, int(pieces[at])) for at in range(1, len(pieces), 2)]))
            forms.append(form)
        short = sum(len(piece) for _, pieces, _ in forms[0] for piece in pieces) <= LONGEST
        few = sum(len(at) for _, _, at in forms[0]) <= MOST
        return forms[0] if forms[0] == forms[1] and short and few else None


def _fill_pieces(pieces: list[str], at: Sequence[tuple[int, int]], texts: Sequence[Any]) -> str:
    filled_pieces = pieces.copy()
    for place, number in at:
        filled_pieces[place] = texts[number]
    return "".join(filled_pieces)
