"""Colours of models: one where their names stand beside the marks, one each where a legend tells them apart."""

from __future__ import annotations

from analysis.reporting.drawing import plotting

MANY = [f"m{number:02d}" for number in range(20)]
LOOKS = plotting.assign_look_to_each_model(MANY)


def test_models_whose_names_stand_beside_their_marks_look_alike():
    assert {(look.colour, look.marker) for look in plotting.assign_one_look_to_all_models(LOOKS).values()} == {
        ("#0072B2", "o")
    }
    assert list(plotting.assign_one_look_to_all_models(LOOKS)) == MANY


def test_models_in_a_legend_keep_their_looks_while_their_colours_differ():
    assert plotting.assign_looks_of_distinct_colours(LOOKS, MANY[3:9]) == {name: LOOKS[name] for name in MANY[3:9]}


def test_a_model_has_one_look_on_all_figures_of_a_page():
    """Where two models of a figure shared a colour, all got other colours than on the next figure."""
    for drawn in (MANY[:9], [MANY[0], MANY[7], MANY[14], MANY[1]]):
        looks = plotting.assign_looks_of_distinct_colours(LOOKS, drawn)
        assert looks == {name: LOOKS[name] for name in drawn}
        assert len({(look.colour, look.marker) for look in looks.values()}) == len(drawn)


def test_up_to_seven_models_of_a_page_have_a_colour_each_also_in_a_larger_report():
    of_page = [MANY[0], MANY[7], MANY[14], MANY[1]]
    looks = plotting.assign_look_to_each_model(MANY, of_page)
    assert len({looks[name].colour for name in of_page}) == 4 and {looks[name].marker for name in of_page} == {"o"}
    assert {name: look.number for name, look in looks.items()} == {name: LOOKS[name].number for name in MANY}
    assert len({(look.colour, look.marker) for look in looks.values()}) == len(MANY)
    assert plotting.assign_look_to_each_model(MANY[:7], MANY[3:5]) == {name: LOOKS[name] for name in MANY[:7]}


def test_one_model_under_several_prompts_keeps_its_colour_and_gets_a_marker_each():
    by_label = {"a · x": LOOKS["m01"], "a · y": LOOKS["m01"], "a · z": LOOKS["m01"], "b": LOOKS["m02"]}
    looks = plotting.assign_looks_of_distinct_colours(by_label, by_label)
    assert [(look.colour, look.marker) for look in looks.values()] == [
        ("#D55E00", "o"), ("#D55E00", "s"), ("#D55E00", "D"), ("#009E73", "o")
    ]  # fmt: skip


def test_no_two_of_a_legend_share_colour_and_marker():
    many = [f"m{number:03d}" for number in range(100)]
    looks = plotting.assign_look_to_each_model(many)
    drawn = plotting.assign_looks_of_distinct_colours(looks, [*many[:8], *many[84:90]])
    assert len({(look.colour, look.marker) for look in drawn.values()}) == 14
    assert drawn[many[88]].number == 89  # its class in the page, by which a reader hides it
