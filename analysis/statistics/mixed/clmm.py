"""Fit an ordered logit with a random intercept with R's package ordinal (clmm): the engine "ordinal".

The likelihood is integrated over the intercepts by adaptive Gauss-Hermite quadrature with `NODES` nodes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.statistics.mixed.design import FitInput
from analysis.statistics.mixed.fits import Fit
from analysis.statistics.mixed.lme4 import clean_r_message, collect_r_messages, convert_to_r_frame, start_r
from analysis.statistics.mixed.ordered import build_ordered_design, build_ordered_fit
from ground.errors import InputError

NODES = 10


def fit_with_clmm(fit_input: FitInput) -> Fit:
    """Fit an ordered logit with a random intercept to the rows of one part of a family.

    Raises
    ------
    InputError
        As `build_ordered_design`; if R or its package ordinal is missing, or R refuses the data, with R's own message.
    """
    design = build_ordered_design(fit_input)
    fit_in_r = load_clmm_function_from_r()
    frame = pd.DataFrame({
        "y": pd.Categorical(design.ranks), "group": pd.Categorical(design.codes), "weight": design.weights,
        **{f"x{place}": column for place, column in enumerate(design.x.T)},
    })  # fmt: skip
    r = start_r()
    with collect_r_messages(r) as console_lines:
        try:
            results = fit_in_r(convert_to_r_frame(frame), NODES)
        except r.error as error:
            raise InputError(
                f"R's clmm cannot fit '{fit_input.formula}'{fit_input.label}: {clean_r_message(str(error))}"
            ) from error
    value = {name: np.array(results.rx2(name)) for name in results.names}
    messages = dict.fromkeys(map(clean_r_message, console_lines))
    return build_ordered_fit(
        fit_input, design, engine="ordinal", coefficients=value["beta"], se=value["se"], df=np.inf,
        thresholds=value["alpha"], log_likelihood=float(value["log_likelihood"][0]),
        converged=bool(value["code"][0] == 0) and bool(np.isfinite(value["se"]).all()), message="; ".join(messages),
        intercepts=(float(value["sd"][0]), value["modes"], np.sqrt(value["mode_variances"])),
    )  # fmt: skip


@cache
def load_clmm_function_from_r() -> Any:
    """Start R, once, and return its function `waver_clmm`.

    Raises
    ------
    InputError
        One line that says what is missing, and which engine does without.
    """
    without = "engine 'ordered_model' needs neither"
    try:
        r = start_r()
    except InputError as error:
        raise InputError(
            f"engine 'ordinal' needs R with its package ordinal, and the Python package pymer4; {without} "
            f"({error.__cause__})"
        ) from error
    import rpy2.robjects

    source = Path(__file__).with_name("r") / "clmm.R"
    rpy2.robjects.r(source.read_text(encoding="utf-8"))
    try:
        with collect_r_messages(r):
            rpy2.robjects.r("loadNamespace('ordinal')")
    except r.error as error:
        raise InputError(
            f"engine 'ordinal' needs R's package ordinal, in R: install.packages('ordinal'); {without}"
        ) from error
    return rpy2.robjects.globalenv["waver_clmm"]
