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


def test_models_of_one_colour_get_colours_of_their_own():
    drawn = [MANY[0], MANY[7], MANY[14], MANY[1]]
    assert len({LOOKS[name].colour for name in drawn}) == 2
    own = plotting.assign_looks_of_distinct_colours(LOOKS, drawn)
    assert list(own) == drawn and len({look.colour for look in own.values()}) == 4


def test_more_models_than_colours_keep_their_looks():
    assert plotting.assign_looks_of_distinct_colours(LOOKS, MANY[:9]) == {name: LOOKS[name] for name in MANY[:9]}


def test_no_two_of_a_legend_share_colour_and_marker():
    many = [f"m{number:03d}" for number in range(70)]
    looks = plotting.assign_look_to_each_model(many)
    drawn = plotting.assign_looks_of_distinct_colours(looks, [*many[:8], *many[56:62]])
    assert len({(look.colour, look.marker) for look in drawn.values()}) == 14
    assert drawn[many[60]].number == 61  # its class in the page, by which a reader hides it
