"""Formulas: what is read, what is refused, which engine they choose."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.statistics import mixed
from ground.errors import InputError


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("y~x+(1|item)", "y ~ x + (1 | item)"),
        ("y ~ (1 | item)", "y ~ 1 + (1 | item)"),
        ("y ~ 1 + x + (1 | item)", "y ~ x + (1 | item)"),
        ("y ~ 0 + x + (1 | item)", "y ~ 0 + x + (1 | item)"),
        ("y ~ x - 1 + (1 | item)", "y ~ 0 + x + (1 | item)"),
        ("y ~ a*b + c + (1 | item)", "y ~ a + b + c + a:b + (1 | item)"),
        ("y ~ a*b*c + (1 | item)", "y ~ a + b + c + a:b + a:c + b:c + a:b:c + (1 | item)"),
        ("y ~ a + a + a : b + (1 | item)", "y ~ a + a:b + (1 | item)"),
        ("y ~ x + (1 + x || item)", "y ~ x + (1 + x || item)"),
        ("y ~ log(x + 1) + (1 | item) + (1 | model)", "y ~ log(x + 1) + (1 | item) + (1 | model)"),
    ],
)
def test_formulas_are_written_again(text, again):
    assert str(mixed.parse_formula(text)) == again
    assert mixed.parse_formula(again) == mixed.parse_formula(text)


@pytest.mark.parametrize(
    ("text", "names", "group"),
    [
        ("y ~ a + b:c + (1 | item)", ("y", "a", "b", "c", "item"), "item"),
        ("qlogis(y) ~ poly(x1, 2, raw = TRUE) + I(z == 1) + (1 + w | g/h)", ("y", "x1", "z", "w", "g", "h"), "g"),
        ("y ~ 1e5 + x.2 + (1 | model) + (1 | item)", ("y", "x.2", "model", "item"), "item"),
    ],
)
def test_names_of_columns(text, names, group):
    assert mixed.parse_formula(text).formula_columns == names
    assert mixed.parse_formula(text).grouping_column == group


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("y ~ a + b:c + (1 | item)", "profile"),
        ("y ~ 0 + a*b + (1 | item)", "profile"),
        ("y ~ (1 | item)", "profile"),
        ("y ~ a + (1 | item) + (1 | model)", "pymer4"),
        ("y ~ a + (1 + a | item)", "pymer4"),
        ("y ~ a + (0 + a | item)", "pymer4"),
        ("y ~ a + (1 | item/model)", "pymer4"),
        ("y ~ log(a) + (1 | item)", "pymer4"),
        ("log(y) ~ a + (1 | item)", "pymer4"),
        ("y ~ a^2 + (1 | item)", "pymer4"),
    ],
)
def test_the_formula_alone_chooses_the_engine(text, engine):
    assert mixed.choose_engine_that_fits_formula(mixed.parse_formula(text)) == engine
    assert mixed.choose_engine_that_fits_formula(mixed.parse_formula(text), "pymer4") == "pymer4"
    if engine == "pymer4":
        with pytest.raises(InputError, match="one random intercept"):
            mixed.choose_engine_that_fits_formula(mixed.parse_formula(text), "profile")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs a response, one ~"),
        ("x + (1 | item)", "needs a response, one ~"),
        ("y ~ ", "needs a response, one ~"),
        (None, "None is no text"),
        (b"y ~ x + (1 | item)", "is no text"),
        ("y ~ np.log(x) + (1 | item)", "np.log() cannot stand in a formula"),
        ("y ~ lgo(x) + (1 | item)", "lgo() cannot stand in a formula (the nearest is 'log')"),
        ("y ~ I(system(intToUtf8(c(108, 115)))) + (1 | item)", "system() cannot stand"),
        ("y ~ I(.Internal (quit(1))) + (1 | item)", ".Internal() cannot stand"),
        ("system(intToUtf8(c(108, 115))) ~ x + (1 | item)", "system() cannot stand"),
        ("~ x + (1 | item)", "needs a response, one ~"),
        ("y ~ x ~ z + (1 | item)", "needs a response, one ~"),
        ("y ~ x", "no random effect"),
        ("y ~ x + (1 | item", "parentheses do not match"),
        ("y ~ x + 1 | item)", "parentheses do not match"),
        ("y ~ x + + (1 | item)", "a term is missing before"),
        ("y ~ x + (1 | item) +", "a term is missing before"),
        ("y ~ x z + (1 | item)", "cannot read 'x z'"),
        ("y ~ x; z + (1 | item)", "cannot read"),
        ("y ~ x - z + (1 | item)", "only the intercept"),
        ("a b ~ x + (1 | item)", "cannot read 'a b'"),
        ("`system`('ls') ~ x + (1 | item)", "cannot read"),
        ("log(y ~ x + (1 | item)", "parentheses do not match"),
        ("y + ~ x + (1 | item)", "a term is missing before"),
        ("y ~ x + (1 | )", "cannot read the random effect"),
        ("y ~ x + (1 | item | model)", "cannot read the random effect"),
    ],
)
@pytest.mark.slow
def test_what_is_wrong_is_said_in_one_line(text, said):
    with pytest.raises(InputError) as error:
        mixed.parse_formula(text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_unknown_engine():
    with pytest.raises(InputError, match="no engine 'julia'; there are auto, profile, pymer4"):
        mixed.choose_engine_that_fits_formula(mixed.parse_formula("y ~ x + (1 | item)"), "julia")


def test_default_formula_names_what_it_leaves_out():
    frame = pd.DataFrame({"agreement": [0.1], "item": ["a"], "length": [3], "zipf": [float("nan")]})
    made = mixed.build_default_formula(frame, ["length", "zipf", "dependents"])
    assert made.text == "agreement ~ length + (1 | item)"
    assert made.features == ("length",)
    assert made.dropped == {"zipf": "no value in any row", "dependents": "not computed"}
    with pytest.raises(InputError, match="none of the features"):
        mixed.build_default_formula(frame, ["zipf"])
