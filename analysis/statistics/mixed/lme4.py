"""Fit any formula with R's lme4 and lmerTest, through the Python package pymer4: the engine "pymer4".

R runs inside this process. The first fit starts it (about 10 s); an import never does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analysis.statistics.mixed.design import (
    INTERCEPT,
    FitInput,
    list_levels_of_column,
    refuse_too_few_rows_for_coefficients,
)
from analysis.statistics.mixed.fits import Fit, RandomEffect, Variance, summarize_fitted_rows_and_keep_them
from ground.errors import InputError
from ground.extras import build_install_command

if TYPE_CHECKING:
    import pandas as pd

INSTALL = "see 'Mixed models' in docs/agreement.md; formulas with one (1 | item) need neither: engine 'profile'"


class R(NamedTuple):
    """Hold the functions of R that a fit calls."""

    lmer: Any  # pymer4's
    control: Any  # when to stop
    extract: Any  # results of a fit, in base types
    factor: Any
    data_frame: Any
    callbacks: Any  # rpy2's hooks to R's console
    error: type[Exception]


def fit_with_lme4(fit_input: FitInput) -> Fit:
    """Fit any formula of lme4 to the rows of one part of a family.

    Raises
    ------
    InputError
        If R or pymer4 is missing, if R refuses the formula or the data, with R's own message, or if the rows do not
        determine the variances.
    """
    r = start_r()
    with collect_r_messages(r) as console_lines:
        try:
            model = r.lmer(str(fit_input.formula), data=convert_to_r_frame(fit_input.frame), control=r.control)
            results = r.extract(model)
        except r.error as error:
            raise InputError(
                f"R cannot fit '{fit_input.formula}'{fit_input.label}: {clean_r_message(str(error))}"
            ) from error
    value = {name: results.rx2(name) for name in results.names}
    messages = [*map(str, value["message"]), *console_lines]
    terms = tuple(map(str, value["terms"]))
    refuse_too_few_rows_for_coefficients(len(value["y"]), len(terms), fit_input.label)
    if (np.array(value["df"]) <= 0).any():
        raise InputError(
            f"{len(value['y'])} rows and {len(terms)} coefficients{fit_input.label} do not determine the variances: "
            "a degree of freedom is negative; use fewer predictors"
        )
    return Fit(
        engine="pymer4",
        terms=terms,
        estimate=np.array(value["estimate"]),
        se=np.array(value["se"]),
        df=np.array(value["df"]),
        sd=np.where(np.array(terms) == INTERCEPT, np.nan, np.array(value["sd"])),
        triangle=np.array(value["triangle"]),
        reml=value["reml"][0],
        sigma=value["sigma"][0],
        variances=tuple(
            map(Variance, value["variance_group"], value["variance_term"], map(float, value["variance_sd"]))
        ),
        variance_fixed=value["variance_fixed"][0],
        variance_random=value["variance_random"][0],
        converged=all(code == 0 for code in value["code"]),
        singular=bool(value["singular"][0]),
        message="; ".join(dict.fromkeys(map(clean_r_message, messages))),
        dropped={str(name): _explain_dropped_column(fit_input.frame, str(name)) for name in value["dropped"]},
        n_levels=dict(zip(value["level_group"], map(int, value["level_count"]), strict=True)),
        rows=summarize_fitted_rows_and_keep_them(
            np.array(value["y"]), np.array(value["fitted"]), fit_input.frame.index
        ),
        random=_split_random_effects_by_term(
            {name: value[f"effect_{name}"] for name in ("group", "term", "level", "estimate", "se")}
        ),
    )


@cache
def start_r() -> R:
    """Start R, once.

    Raises
    ------
    InputError
        One line that says what is missing and where its installation is described.
    """
    paths = os.environ.get("LD_LIBRARY_PATH")
    try:
        import rpy2.robjects
        from pymer4.tidystats import lmer
        from rpy2.rinterface_lib import callbacks
        from rpy2.rinterface_lib.embedded import RRuntimeError
    except Exception as error:  # an incomplete R may fail with any error; the message shows it
        raise InputError(
            f"engine 'pymer4' needs R with lme4 and lmerTest, and the Python package pymer4 "
            f"({type(error).__name__}: {clean_r_message(str(error))}): {build_install_command('statistics')}; "
            f"{INSTALL}"
        ) from error
    finally:
        # R adds its library folders; a Python started from here would then load the libraries of another Python.
        if paths is None:
            os.environ.pop("LD_LIBRARY_PATH", None)
        else:
            os.environ["LD_LIBRARY_PATH"] = paths
    source = Path(__file__).with_name("r") / "lme4.R"
    rpy2.robjects.r(source.read_text(encoding="utf-8"))
    ours = rpy2.robjects.globalenv
    return R(
        lmer=lmer, control=ours["waver_control"](), extract=ours["waver_extract"], factor=ours["waver_factor"],
        data_frame=ours["waver_data_frame"], callbacks=callbacks, error=RRuntimeError,
    )  # fmt: skip


def convert_to_r_frame(frame: pd.DataFrame) -> Any:
    """Convert `frame` to R's data frame: numbers to doubles, all else to factors with the levels of the other engine.

    Every column is handed over as one block of memory. rpy2's own conversion makes an R object of every string, and
    releases each by a search in one long list: with 300,000 strings a process takes minutes to end.
    """
    import pandas as pd
    from rpy2.rinterface import FloatSexpVector, IntSexpVector, ListSexpVector, StrSexpVector

    columns = []
    for _, values in frame.items():
        if pd.api.types.is_numeric_dtype(values):
            columns.append(FloatSexpVector(np.ascontiguousarray(values, dtype=np.float64)))
        else:
            levels = list_levels_of_column(values)
            codes = pd.Categorical(values, categories=levels).codes.astype(np.int32) + 1
            columns.append(start_r().factor(IntSexpVector(codes), StrSexpVector(list(map(str, levels)))))
    return start_r().data_frame(ListSexpVector(columns), StrSexpVector(list(map(str, frame.columns))))


def _split_random_effects_by_term(columns: dict[str, Any]) -> tuple[RandomEffect, ...]:
    """Cut R's long table of conditional modes into one entry per group and term."""
    import pandas as pd

    table = pd.DataFrame({name: np.array(values) for name, values in columns.items()})
    return tuple(
        RandomEffect(str(group), str(term), tuple(rows["level"]), rows["estimate"].to_numpy(), rows["se"].to_numpy())
        for (group, term), rows in table.groupby(["group", "term"], sort=False)
    )


def _explain_dropped_column(frame: pd.DataFrame, name: str) -> str:
    """Say why R left a column out."""
    constant = name in frame.columns and frame[name].nunique() == 1
    return "constant" if constant else "collinear with predictors before it"


@contextmanager
def collect_r_messages(r: R) -> Iterator[list[str]]:
    """Collect R's messages and warnings, one entry each, instead of printing them; `r` is from `start_r`."""
    console_lines: list[str] = []
    original_hook = r.callbacks.consolewrite_warnerror
    r.callbacks.consolewrite_warnerror = lambda text: console_lines.append(text) if text.strip() else None
    try:
        yield console_lines
    finally:
        r.callbacks.consolewrite_warnerror = original_hook


def clean_r_message(text: str) -> str:
    """Return R's message in one line and without its 'Error in ...:'."""
    flat = " ".join(text.split())
    return re.sub(r"^(R\[write to console\]: )?(Error|Warning message|Warning) ?(in [^:]*(?<!:):(?!:))?:? ?", "", flat)
