"""The sandbox: templates give what plain Jinja gives, and one that would not end or fill the memory is stopped."""

from __future__ import annotations

import time
import tracemalloc

import jinja2.sandbox
import pytest

from ground.errors import InputError
from inference.stimuli.templates import sandbox
from inference.stimuli.templates.sandbox import (
    SOURCE,
    Sandbox,
    build_sandbox,
    check_and_list_template_variables,
    compile_template,
)

pytestmark = pytest.mark.slow

PLAIN = jinja2.sandbox.ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
VALUES = {
    "text": "  Tea is\n\tgood.  ",
    "options": [{"label": "yes", "answer": "Yes"}, {"label": "no", "answer": "No"}],
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is tea good?"}],
    "tree": [{"n": 1, "below": [{"n": 2, "below": []}]}, {"n": 3, "below": []}],
    "nothing": None,
    "long": "x" * 99_000,
}
USUAL = {
    "output": "{{ text }} {{ options }} {{ nothing }} {{ 1.5 }} {{ true }}",
    "operators": "{{ 'a' + 'b' ~ 3 ~ [1] }} {{ 2 + 3 * 4 ** 2 % 7 }} {{ 7 // 2 }} {{ 7 / 2 }} {{ 'ab' * 3 }} "
    "{{ [1] + [2] }}",
    "comparisons": "{{ 'a' in 'abc' and 1 < 2 != 3 or not text }}",
    "loop": "{% for o in options %}{{ loop.index }}/{{ loop.length }}{{ ', ' if not loop.last }}{{ o.answer }}"
    "{% endfor %}",
    "tested loop": "{% for o in options if o.label != 'yes' %}{{ loop.first }}{{ o.label }}{% else %}none{% endfor %}",
    "empty loop": "{% for o in [] %}x{% else %}none{% endfor %}",
    "mapping loop": "{% for k, v in options[0].items() %}{{ k }}={{ v }};{% endfor %}",
    "recursive loop": "{% for b in tree recursive %}{{ b.n }}({{ loop(b.below) }}){% endfor %}",
    "cycle": "{% for i in range(4) %}{{ loop.cycle('a', 'b') }}{% if loop.changed(i // 2) %}!{% endif %}{% endfor %}",
    "namespace": "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}",
    "set block": "{% set x %}{{ text }}!{% endset %}{{ x|trim }}",
    "set block with filter": "{% set x | upper %}{{ text }}{% endset %}{{ x }}",
    "macro": "{% macro m(a, b='c') %}<{{ a }}{{ b }}{{ varargs }}>{% endmacro %}{{ m(1) }}{{ m(1, 2, 3) }}{{ m(a=5) }}",
    "caller": "{% macro m() %}<{{ caller('x') }}>{% endmacro %}{% call(y) m() %}{{ y }}!{% endcall %}",
    "filter block": "{% filter upper|trim %}  {{ text }} {% endfilter %}",
    "with": "{% with a = 1, b = text|length %}{{ a + b }}{% endwith %}",
    "slices": "{{ text[2:5] }}{{ messages[1:] }}{{ text[::-1] }}{{ messages[-1].role }}{{ options[0]['label'] }}",
    "text filters": "{{ text|trim|upper|lower|title|capitalize|replace('Tea', 'Milk')|indent(2, true) }}"
    "{{ 'a'|center(9) }}",
    "list filters": "{{ options|map(attribute='answer')|join(' or ') }}{{ [3,1]|sort|first }}{{ [1,2]|sum }}"
    "{{ [1,1]|unique|list }}",
    "select filters": "{{ messages|selectattr('role', 'equalto', 'user')|list|length }}{{ [1,2]|reject('odd')|list }}",
    "grouped": "{% for role, group in messages|groupby('role') %}{{ role }}{{ group|length }}{% endfor %}",
    "in rows": "{{ [1,2,3]|batch(2, 0)|list }}{{ [1,2,3]|slice(2)|list }}{{ {'b': 1, 'a': 2}|dictsort }}",
    "numbers": "{{ 2.567|round(1) }}{{ '7'|int + '1.5'|float }}{{ -3|abs }}{{ [4, 2]|max }}",
    "defaults": "{{ missing|default('d') }}{{ nothing|default('e', true) }}{{ missing is defined }}"
    "{{ text is string }}",
    "formats": "{{ '%s: %05.1f'|format('a', 2) }}{{ '%d%%' % 5 }}{{ '{:>5}|{0}'.replace('{:>5}', '') }}"
    "{{ '{:>5}'.format(1) }}",
    "methods": "{{ text.strip().split(' ') }}{{ ', '.join(['a', 'b']) }}{{ text.startswith('  T') }}"
    "{{ 'a'.ljust(3) }}|",
    "json": "{{ messages|tojson }}{{ messages|tojson(indent=2) }}",
    "conditional": "{{ 'a' if text else 'b' }}{% if messages[0].role == 'system' %}s{% elif true %}t{% endif %}",
    "helpers": "{% set c = cycler(1, 2) %}{{ c.next() }}{{ c.next() }}{% set j = joiner() %}{{ j() }}a{{ j() }}b"
    "{{ dict(a=1) }}",
    "blocks": "{% block a %}x{% endblock %}{{ self.a() }}",
    "raw": "{% raw %}{{ x }}{% endraw %}\n",
}
NS = "{% set ns = namespace(x=START) %}{% for i in range(99) %}{% set ns.x = STEP %}{% endfor %}{{ ns.x|length }}"
ENDLESS = {
    "long text": "{{ 'x' * 10**9 }}",
    "long text, number first": "{{ 10**9 * 'x' }}",
    "long list": "{{ ([1] * 10**9)|length }}",
    "large number": "{{ 10**(10**8) }}",
    "large product": NS.replace("START", "9").replace("STEP", "ns.x * ns.x"),
    "lorem ipsum": "{{ lipsum(10**6) }}",
    "range": "{{ range(10**9)|length }}",
    "nested loops": "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
    "tested loops": "{% for a in range(100000) %}{% for b in range(100000) if b < 0 %}{% endfor %}{% endfor %}",
    "counted loops": "{% for a in range(100000) %}{% for b in range(999) %}{{ loop.length }}{% endfor %}{% endfor %}",
    "recursive loop": "{% for x in range(9) recursive %}{% if loop.depth < 40 %}{{ loop(range(9)) }}{% endif %}"
    "{% endfor %}",
    "macro without end": "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "macro that doubles": "{% macro m(n) %}{% if n < 60 %}{{ m(n+1) }}{{ m(n+1) }}{% endif %}{% endmacro %}{{ m(0) }}",
    "block in itself": "{% block a %}{{ self.a() }}{{ self.a() }}{% endblock %}",
    "doubled by +": NS.replace("START", "'x'").replace("STEP", "ns.x + ns.x"),
    "doubled by ~": NS.replace("START", "'x'").replace("STEP", "ns.x ~ ns.x"),
    "doubled by %": NS.replace("START", "'x'").replace("STEP", "'%s%s' % (ns.x, ns.x)"),
    "doubled by format": NS.replace("START", "'x'").replace("STEP", "'{0}{0}'.format(ns.x)"),
    "doubled by replace": NS.replace("START", "'x'").replace("STEP", "ns.x.replace('x', 'xx')"),
    "doubled by join": NS.replace("START", "'x'").replace("STEP", "[ns.x, ns.x]|join"),
    "doubled list": NS.replace("START", "[]").replace("STEP", "[ns.x, ns.x]").replace("ns.x|length", "ns.x"),
    "repeated set block": "{% set y %}{% for a in range(100000) %}{{ 'x' * 1000 }}{% endfor %}{% endset %}"
    "{{ y|length }}",
    "repeated data": "{% set y %}{% for a in range(100000) %}" + "z" * 9999 + "{% endfor %}{% endset %}{{ y|length }}",
    "repeated filter block": "{% filter upper %}{% for a in range(100000) %}{{ 'x' * 1000 }}{% endfor %}"
    "{% endfilter %}",
    "repeated caller": "{% macro m() %}{% for i in range(100000) %}{{ caller() }}{% endfor %}{% endmacro %}"
    "{% call m() %}{{ 'x' * 1000 }}{% endcall %}",
    "center": "{{ text|center(10**9) }}",
    "ljust": "{{ text.ljust(10**9) }}",
    "zfill": "{{ text.zfill(10**9) }}",
    "tabs": "{{ text.expandtabs(10**9) }}",
    "bytes of a number": "{{ 1.to_bytes(10**9, 'big') }}",
    "indent": "{{ text|indent(10**9) }}",
    "indent with text": "{{ ('\n' * 99999)|indent('x' * 99999, true, true) }}",
    "replace": "{{ ('x' * 99999)|replace('x', 'y' * 99999) }}",
    "replace nothing": "{{ ('x' * 99999).replace('', 'y' * 99999) }}",
    "replace by name": "{{ ('x' * 99999)|replace(new='y' * 99999, old='x') }}",
    "translate": "{{ ('x' * 99999).translate({120: 'y' * 99999}) }}",
    "join": "{{ (['x'] * 99999)|join('y' * 99999) }}",
    "join the same": "{{ (['x' * 99999] * 99999)|join }}",
    "join method": "{{ ('y' * 99999).join(range(99999)|map('string')) }}",
    "join a generator": "{{ range(99999)|select|join('y' * 99999) }}",
    "list of the same": "{{ ['x' * 99999] * 99999 }}",
    "batch": "{{ [1]|batch(10**9, 1)|list }}",
    "slice": "{{ [1]|slice(10**9)|list }}",
    "round": "{{ 1.5|round(10**9, 'ceil') }}",
    "json": "{{ [[[1]]]|tojson(indent=10**9) }}",
    "sum": "{{ ([range(1000)|list] * 9999)|sum(start=[]) }}",
    "map": "{{ range(99999)|map('center', 99999)|list }}",
    "width by filter": "{{ '%1000000000d'|format(1) }}",
    "width by operator": "{{ '%1000000000d' % 1 }}",
    "width by star": "{{ '%*d' % (10**9, 1) }}",
    "width by method": "{{ '{:1000000000}'.format(1) }}",
    "width by argument": "{{ '{:{}}'.format(1, 10**9) }}",
    "width by mapping": "{{ '{a:{b}}'.format_map({'a': 1, 'b': 10**9}) }}",
    "kept slices": "{% set ns = namespace(x=[]) %}"
    "{% for i in range(9999) %}{% set ns.x = ns.x + [long[1:]] %}{% endfor %}",
    "searches": "{% for i in range(9999) %}{% if 'xb' in long %}{% endif %}{% endfor %}",
    "sorting": "{% for i in range(99999) %}{{ range(999)|sort|length }}{% endfor %}",
    "chance": "{{ [1, 2]|random }}",
    "number of 5,000 digits": "{{ " + "9" * 5000 + " }}",
    "brackets": "{{ " + "(" * 20000 + "1" + ")" * 20000 + " }}",
    "many conditions": "{% if 1 %}" * 300 + "{% endif %}" * 300,
    "many loops": "{% for a in [1] %}" * 30 + "{% endfor %}" * 30,
    "long source": "x" * (SOURCE + 1),
}


@pytest.mark.parametrize("source", USUAL.values(), ids=USUAL)
def test_usual_templates_give_what_plain_jinja_gives(source):
    assert compile_template("here", source).render(VALUES) == PLAIN.from_string(source).render(VALUES)


@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS)
def test_a_template_without_end_is_stopped_before_it_takes_memory(source, monkeypatch):
    monkeypatch.setattr(sandbox, "SECONDS", 0.02)
    monkeypatch.setattr(sandbox, "LARGEST", 100_000)
    tracemalloc.start()
    begun = time.thread_time()
    try:
        with pytest.raises((InputError, jinja2.TemplateError, RecursionError, OverflowError)) as caught:
            compile_template("here", source).render(VALUES)
        assert "has no attribute" not in str(caught.value)  # stopped, not misspelt
        assert tracemalloc.get_traced_memory()[1] < 8e6  # of which the numbers of a long range are 4
        assert time.thread_time() - begun < 10  # of 0.02 s, on a machine that does much else
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("name", "reason"), [("kept slices", "more than 100,000"), ("searches", "more than 0.02 s")])
def test_slices_are_stopped_by_their_sum_and_searches_by_the_clock(name, reason, monkeypatch):
    """Both were refused for a text that `*` makes, before the first slice or search."""
    monkeypatch.setattr(sandbox, "SECONDS", 0.02)
    monkeypatch.setattr(sandbox, "LARGEST", 100_000)
    with pytest.raises(sandbox.TooMuch, match=reason):
        compile_template("here", ENDLESS[name]).render(VALUES)


def test_nothing_large_is_computed_while_a_template_is_checked():
    tracemalloc.start()
    assert check_and_list_template_variables(
        "here", "{{ text }}{{ '%99999999d'|format(1) }}{{ 'x'|center(99999999) }}", set(), {"text"}
    )
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_what_cannot_be_compiled_is_one_line_that_names_its_place():
    for name in ("number of 5,000 digits", "brackets", "many conditions", "many loops", "long source"):
        with pytest.raises(InputError, match=r"^here: template syntax[^\n]*$"):
            compile_template("here", ENDLESS[name])


def test_a_template_is_compiled_once_and_each_place_has_its_own_message():
    assert compile_template("a.yaml: plain", "Tea: {{ text }}") is compile_template("b.yaml: chat", "Tea: {{ text }}")
    for where in ("a.yaml: plain", "b.yaml: chat"):
        with pytest.raises(InputError, match=f"^{where}: unknown variable 'text'; there are item$"):
            check_and_list_template_variables(where, "Tea: {{ text }}", set(), {"item"})
        with pytest.raises(InputError, match=f"^{where}: template syntax, line 1"):
            compile_template(where, "Tea: {{ text")


def test_what_was_refused_once_leaves_the_next_rendering_alone():
    template = compile_template("here", "{% for i in range(n) %}{{ text }}{% endfor %}")
    for _ in range(2):
        with pytest.raises(sandbox.TooMuch, match="more than 4,000,000"):
            template.render(text="x" * 99_999, n=99)
        assert len(template.render(text="x" * 99_999, n=9)) == 899_991


def test_numbers_and_braces_in_a_text_are_no_widths():
    usual = (
        """{{ '{"id": 123456, "of": {"n": "%s"}}'|format(20260726) }}""",
        "{{ '**%s** 100%%' % 1700000000 }}",
        "{{ '{} or {}'.format(1700000000, 5) }}",
        "{{ 1700000000|tojson }}",
        "{{ text.find('T', 6000) }}",
    )
    for source in usual:
        assert compile_template("here", source).render(VALUES) == PLAIN.from_string(source).render(VALUES)


def test_a_long_text_is_shown():
    text = "Tea is good. " * 100_000
    assert compile_template("here", "{{ text }}\n{{ text|trim }}").render(text=text) == f"{text}\n{text.strip()}"


def test_it_takes_the_place_of_jinjas_own_with_other_settings():
    environment = Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    source = "{% for i in range(9) %}\n  {% if i == 2 %}{% break %}{% endif %}\n{{ i }}{{ missing }}\n{% endfor %}"
    assert environment.from_string(source).render() == "0\n1\n"
    environment.filters["tojson"] = lambda value, indent=None: f"<{value}>"
    assert environment.from_string("{{ 1|tojson }}").render() == "<1>"


def test_what_is_private_stays_out_of_reach():
    for source in ("{{ text.__class__ }}", "{{ ''.format.__globals__ }}", "{{ '{0.__class__}'.format(text) }}"):
        with pytest.raises(jinja2.exceptions.SecurityError):
            build_sandbox().from_string(source).render(VALUES)
